/*-------------------------------------------------------------------------
 *
 * hg_spill.h
 *	  Rows of one side in temporary files, partitioned by their key words.
 *
 * A spill set has 2^n partitions.  The hash of a row's word (hg_key.h) selects the partition, which
 * stores the columns and, for a join, the word.  The same partition of both sides is joined by
 * itself, and reads are sequential: a caller writes all rows with hg_spill_write(), and then, for
 * each partition, calls hg_spill_rewind(), hg_spill_read() until the end, and hg_spill_drop().
 * Rows go to a partition's file by pages (hg_spill_page.h).  Errors of files are raised.
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

#include "batch/hg_spill_page.h"
#include "engine/hg_engine.h"

/* Levels of recursive partitioning; each uses other bits of the word's hash. */
#define HG_SPILL_LEVELS 6
#define HG_SPILL_MAX_BITS 10

/* A set that several processes write, in shared memory. */
typedef struct HgSharedSpill
{
	/* By partition: number of rows in published files. */
	pg_atomic_uint64 rows[1 << HG_SPILL_MAX_BITS];
} HgSharedSpill;

/* One process's part of a shared set. */
typedef struct HgSpillParticipants
{
	HgSharedSpill *shared;
	SharedFileSet *files;
	const char *name; /* of the set among those in files */
	int process;	  /* from 0 to nprocesses - 1 */
	int nprocesses;
} HgSpillParticipants;

typedef struct HgSpill
{
	MemoryContext context; /* owns the set and its files */
	HgCharge charge;	   /* of the buffers */
	HgSpillFormat format;  /* of the page that is being filled or read */
	int level;
	int bits;		 /* of 2^bits partitions */
	BufFile **files; /* [2^bits]; NULL for an empty partition */
	int open_files;
	HgSpillPage *pages; /* [2^bits] that are being filled */
	Size page_bytes;	/* memory of each */
	int open_pages;
	uint64 *rows;		/* [2^bits] */
	uint64 total_rows;	/* written so far */
	uint64 bytes;		/* written so far, pages that are being filled included */
	uint64 other_bytes; /* of these, values outside the rows */
	char *buffer;		/* a page with one large row, or the pages read last */
	Size buffer_size;
	HgSpillHeader next; /* of the page that begins the next batch; no rows: not read yet */
	int8 *next_scales;	/* [ncolumns] of that page */
	HgSpillParticipants participants; /* of a shared set */
	int next_process;				  /* shared: whose file is read next */
} HgSpill;

/* Memory of the buffer of an open temporary file. */
#define HG_SPILL_FILE_BYTES (BLCKSZ + 512)

/* Memory of the buffers of a partition to which rows are written. */
#define HG_SPILL_PARTITION_BYTES (HG_SPILL_FILE_BYTES + HG_SPILL_PAGE_BYTES)

/*
 * Creates an empty set of rows with the columns of layout, in CurrentMemoryContext.  level is 0 to
 * HG_SPILL_LEVELS - 1; the set has 2^bits partitions.  Without keeps_words, words only select
 * partitions and are not read back.  Buffers are charged to a budget.
 */
extern HgSpill *hg_spill_create(const HgColumnStore *layout, int level, int bits, bool keeps_words,
								HgBudget *budget);

/*
 * Makes an empty set this process's part of a shared one.  *participants and its name are copied;
 * what else it points to must outlive the set.  Every process writes its rows and then publishes
 * its files.
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
 * partitions; keys are by row of the batch.  Column i of the layout is column at[i] of the batch.
 * Scaled integers are read back as scaled integers.  The rows of a partition are read in the order
 * in which this process has written them.
 */
extern void hg_spill_write(HgSpill *spill, const HgSpillKeys *keys, const HgBatch *batch,
						   const int *at, const uint16 *which, int nrows);

/* Ends writing, and starts reading a partition from its first row.  Only one is read at a time. */
extern void hg_spill_rewind(HgSpill *spill, int partition);

/*
 * Fills batch with the next rows of the partition that was rewound, and keys by row; column i of
 * the layout becomes column i of the batch.  By-reference values are valid until the next call.
 * Returns false at the end.  After a rewind, batches have the same rows again.
 */
extern bool hg_spill_read(HgSpill *spill, int partition, HgBatch *batch, HgSpillKeys *keys);

/* Deletes a partition's rows; of a shared set, the files of all processes. */
extern void hg_spill_drop(HgSpill *spill, int partition);

/* Frees the set and deletes its partitions; the files of a shared set stay. */
extern void hg_spill_destroy(HgSpill *spill);

#endif /* HG_SPILL_H */
