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

#include "storage/buffile.h"

#include "batch/hg_column_store.h"

/* Levels of partitioning: each cuts by other bits of the word's hash. */
#define HG_SPILL_LEVELS 6
#define HG_SPILL_MAX_BITS 10

typedef struct HgSpill
{
	MemoryContext context;		 /* the set's and its files' */
	const HgColumnStore *layout; /* of the rows */
	int level;
	int bits;		 /* 2^bits partitions */
	BufFile **files; /* [2^bits]; NULL where a partition is empty */
	int open_files;
	uint64 *rows;	   /* [2^bits] */
	uint64 total_rows; /* written so far */
	uint64 bytes;	   /* written so far */
	char *buffer;	   /* of one row; values that were read point into it */
	Size buffer_size;
	Datum *values; /* [ncolumns] of the row that was read last */
	bool *nulls;
} HgSpill;

/* A row as it lies in a partition. */
typedef struct HgSpillRow
{
	uint64 word;   /* of a row without a key: any, which selects the partition */
	bool null_key; /* the row matches nothing */
} HgSpillRow;

/* Memory of the buffer of an open temporary file. */
#define HG_SPILL_FILE_BYTES (BLCKSZ + 512)

/* Memory that a set takes as long as it has files. */
static inline uint64
hg_spill_memory(const HgSpill *spill)
{
	return (uint64) spill->open_files * HG_SPILL_FILE_BYTES + spill->buffer_size;
}

/* An empty set of rows laid out as in store, in CurrentMemoryContext. */
extern HgSpill *hg_spill_create(const HgColumnStore *layout, int level, int bits);

/* The partition of a word. */
extern int hg_spill_partition(const HgSpill *spill, uint64 word);

/* Write a row to its partition; column i is values[at[i]], nulls[at[i]]. */
extern void hg_spill_write(HgSpill *spill, HgSpillRow row, const Datum *values, const bool *nulls,
						   const int *at);

/* Start reading a partition from its first row. */
extern void hg_spill_rewind(HgSpill *spill, int partition);

/*
 * The next row of a partition, columns in spill->values[i] and spill->nulls[i] until
 * the next call; false at the end.
 */
extern bool hg_spill_read(HgSpill *spill, int partition, HgSpillRow *row);

/* Delete a partition. */
extern void hg_spill_drop(HgSpill *spill, int partition);

/* Delete all partitions and free the set. */
extern void hg_spill_destroy(HgSpill *spill);

#endif /* HG_SPILL_H */
