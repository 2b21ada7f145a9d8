/*-------------------------------------------------------------------------
 *
 * hg_spill.h
 *	  Rows of one side in temporary files, partitioned by their key words.
 *
 * A spill set holds 2^n partitions.  A row goes to the partition that its word
 * selects, together with its word and its columns, so that a partition of both
 * sides can be joined by itself and nothing is ever read at random.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SPILL_H
#define HG_SPILL_H

#include "port/atomics.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"

#include "batch/hg_column_store.h"
#include "engine/hg_engine.h"

/* Levels of partitioning: each cuts by other bits of the word's hash. */
#define HG_SPILL_LEVELS 6
#define HG_SPILL_MAX_BITS 10

/* A set that several processes write together, in shared memory. */
typedef struct HgSharedSpill
{
	pg_atomic_uint64 rows[1 << HG_SPILL_MAX_BITS]; /* by partition, of files that are complete */
} HgSharedSpill;

/* One process's part of it. */
typedef struct HgSpillParticipants
{
	HgSharedSpill *shared;
	SharedFileSet *files;
	HgSide side;
	int process; /* from 0 to nprocesses - 1 */
	int nprocesses;
} HgSpillParticipants;

typedef struct HgSpill
{
	MemoryContext context;		 /* the set's and its files' */
	HgCharge charge;			 /* of the buffers */
	const HgColumnStore *layout; /* of the rows */
	int level;
	int bits;		 /* 2^bits partitions */
	BufFile **files; /* [2^bits]; NULL where a partition is empty */
	int open_files;
	uint64 *rows;	   /* [2^bits] */
	uint64 total_rows; /* written so far */
	uint64 bytes;	   /* written so far */
	char *buffer;	   /* of one row to write, or of the rows read last */
	Size buffer_size;
	uint32 next_length;				  /* of a row that begins the next batch; 0 = not read yet */
	HgSpillParticipants participants; /* where the set is shared */
	int next_process;				  /* shared: whose file of the partition is read next */
} HgSpill;

/* What comes with the columns of the rows of a batch. */
typedef struct HgSpillKeys
{
	uint64 words[HG_BATCH_ROWS];   /* of a row without a key: any, which selects the partition */
	bool null_keys[HG_BATCH_ROWS]; /* the row matches nothing */
} HgSpillKeys;

/* Memory of the buffer of an open temporary file. */
#define HG_SPILL_FILE_BYTES (BLCKSZ + 512)

/*
 * An empty set of rows laid out as in store, in CurrentMemoryContext.  Its buffers are charged to a
 * budget.
 */
extern HgSpill *hg_spill_create(const HgColumnStore *layout, int level, int bits, HgBudget *budget);

/*
 * Make a set that nothing was written to one process's part of a shared one.  All processes
 * write their rows, and then publish them; when all have, each can adopt the whole set and read
 * the partitions that nobody else reads.
 */
extern void hg_spill_share(HgSpill *spill, const HgSpillParticipants *participants);
extern void hg_spill_publish(HgSpill *spill);
extern void hg_spill_adopt(HgSpill *spill);

/*
 * Write rows of a batch to their partitions: those of which[nrows], or its first nrows ones
 * where which is NULL.  Column i of the layout is column at[i] of the batch.
 */
extern void hg_spill_write(HgSpill *spill, const HgSpillKeys *keys, const HgBatch *batch,
						   const int *at, const uint16 *which, int nrows);

/* Start reading a partition from its first row. */
extern void hg_spill_rewind(HgSpill *spill, int partition);

/*
 * The next rows of a partition, column i of the layout in column i of the batch, until the
 * next call; false at the end.  After a rewind the same rows come in the same batches.
 */
extern bool hg_spill_read(HgSpill *spill, int partition, HgBatch *batch, HgSpillKeys *keys);

/* Delete a partition. */
extern void hg_spill_drop(HgSpill *spill, int partition);

/* Delete all partitions and free the set. */
extern void hg_spill_destroy(HgSpill *spill);

#endif /* HG_SPILL_H */
