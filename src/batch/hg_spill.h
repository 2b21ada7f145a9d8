/*-------------------------------------------------------------------------
 *
 * hg_spill.h
 *	  Rows of one side in temporary files, partitioned by their key words.
 *
 * A spill set has 2^n partitions.  The hash of a row's word selects the partition, which stores
 * the word and the columns.  The same partition of both sides is joined by itself, and reads are
 * sequential.
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

/* Levels of recursive partitioning; each uses other bits of the word's hash. */
#define HG_SPILL_LEVELS 6
#define HG_SPILL_MAX_BITS 10

/* A set that several processes write, in shared memory. */
typedef struct HgSharedSpill
{
	/* By partition; of published files. */
	pg_atomic_uint64 rows[1 << HG_SPILL_MAX_BITS];
} HgSharedSpill;

/* One process's part of a shared set. */
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
	MemoryContext context;		 /* owns the set and its files */
	HgCharge charge;			 /* of the buffers */
	const HgColumnStore *layout; /* of the rows' columns */
	int level;
	int bits;		 /* of 2^bits partitions */
	BufFile **files; /* [2^bits]; NULL for an empty partition */
	int open_files;
	uint64 *rows;	   /* [2^bits] */
	uint64 total_rows; /* written so far */
	uint64 bytes;	   /* written so far */
	char *buffer;	   /* one row to write, or the rows read last */
	Size buffer_size;
	/* Length of the row that begins the next batch; 0 if not read yet. */
	uint32 next_length;
	HgSpillParticipants participants; /* of a shared set */
	int next_process;				  /* shared: whose file is read next */
} HgSpill;

/* The keys of the rows of a batch. */
typedef struct HgSpillKeys
{
	uint64 words[HG_BATCH_ROWS];   /* of a NULL key: any, and selects the partition */
	bool null_keys[HG_BATCH_ROWS]; /* the row matches nothing */
} HgSpillKeys;

/* Memory of the buffer of an open temporary file. */
#define HG_SPILL_FILE_BYTES (BLCKSZ + 512)

/*
 * Creates an empty set of rows with the columns of layout, in CurrentMemoryContext.  level is 0 to
 * HG_SPILL_LEVELS - 1; the set has 2^bits partitions.  Buffers are charged to a budget.
 */
extern HgSpill *hg_spill_create(const HgColumnStore *layout, int level, int bits, HgBudget *budget);

/*
 * Makes an empty set one process's part of a shared one.  Every process writes its rows and then
 * publishes its files.
 */
extern void hg_spill_share(HgSpill *spill, const HgSpillParticipants *participants);

/*
 * Closes this process's files, so that other processes can read them, and adds their numbers of
 * rows to those of the shared set.
 */
extern void hg_spill_publish(HgSpill *spill);

/*
 * Sets rows[] and total_rows to those of the whole shared set, after all processes have published.
 * Each process may then read partitions that no other process reads.
 */
extern void hg_spill_adopt(HgSpill *spill);

/*
 * Writes rows which[nrows] of a batch, or its first nrows rows if which is NULL, to their
 * partitions.  Column i of the layout is column at[i] of the batch.
 */
extern void hg_spill_write(HgSpill *spill, const HgSpillKeys *keys, const HgBatch *batch,
						   const int *at, const uint16 *which, int nrows);

/* Starts reading a partition from its first row. */
extern void hg_spill_rewind(HgSpill *spill, int partition);

/*
 * Reads the next rows of a partition; column i of the layout becomes column i of the batch.
 * By-reference values are valid until the next call.  Returns false at the end.  After a rewind,
 * batches have the same rows again.
 */
extern bool hg_spill_read(HgSpill *spill, int partition, HgBatch *batch, HgSpillKeys *keys);

/* Deletes a partition. */
extern void hg_spill_drop(HgSpill *spill, int partition);

/* Frees the set and deletes its partitions; the files of a shared set stay. */
extern void hg_spill_destroy(HgSpill *spill);

#endif /* HG_SPILL_H */
