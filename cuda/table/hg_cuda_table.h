/*-------------------------------------------------------------------------
 *
 * hg_cuda_table.h
 *	  A table in device memory: what all kinds have, and what each has to do.
 *
 *	hg_cuda_tables.cu			the calls of hg_table.h: the contract, batches of the host, sets'
 *								marker words
 *	hg_cuda_tables_read.cu		the same: what reads, in pieces, and streams
 *	hg_cuda_tables_base.cu		what both of these are made of
 *	hg_cuda_table_static*.cu	HashGraphs built anew for each change: CSR and the two Ellpacks
 *	hg_cuda_table_dynamic*.cu	the HashGraph with empty slots in its lists
 *	hg_cuda_table_cuckoo.cu		cuckoo tables: maps, sets, numberings
 *	hg_cuda_table_groups.cu		cuckoo tables: multimaps, a numbering and rows in groups
 *	hg_cuda_table_batch.cu		a batch behind rows that are kept, to build of
 *	hg_cuda_cuckoo*.cu			slots in which each key has several places, bin by bin
 *	hg_cuda_table_dycuckoo*.cu	DyCuckoo: subtables of buckets
 *	hg_cuda_table_measure.cu	any of them, measured
 *
 * TWO LAYERS.  A kind works on arrays in device memory, in the stream of the table's work, and
 * returns when its kernels are launched, unless it needs to know what came of them: that is what
 * benchmarks time, and what joins on the device would use.  hg_cuda_tables.cu is between the kinds
 * and callers with arrays of the host.
 *
 * WORDS.  A kind never sees a key, but its mixed word (kernels/hg_cuda_word.h), in the key's width:
 * uint32_t or uint64_t.  Mixing is a bijection, so words are as good as keys, and the top bits of
 * one are a hash.  Arrays of keys of the callers are mixed where they are read.
 *
 * MARKERS.  A slot with a row is empty or deleted where the row is one of two that no row has
 * (HG_MAX_ROWS is above all of them).  A set has no rows: there two words mark slots, and the two
 * keys which have these words stand beside the table, in marked[].  No kind is asked about them:
 * what a kind does with such a word in a batch is nothing, and what it answers is not looked at.
 *
 * MEMORY is the table's work's, under the table's memory_limit and the device's budget; what a
 * call needs for itself is given back before it returns.  A call that fails need not give back what
 * it took: hg_cuda_tables.cu gives back each block that was not there before.  So a kind that
 * builds a new table beside changes its struct, and gives the old one's blocks back, at last.
 *
 * CANCEL: kinds call hg_cuda_pace() between pieces of work of at most 10 ms, and hg_cuda_wait()
 * where they wait.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_H
#define HG_CUDA_TABLE_H

#include "../../src/engine/hg_table.h"
#include "../device/hg_cuda_work.h"

/* The rows that mark slots: empty, and deleted. */
constexpr uint32_t HG_CUDA_EMPTY_ROW = UINT32_MAX;
constexpr uint32_t HG_CUDA_DELETED_ROW = UINT32_MAX - 1;

/* The words that do in sets. */
template <typename Word> constexpr Word HG_CUDA_EMPTY_WORD = static_cast<Word>(-1);
template <typename Word> constexpr Word HG_CUDA_DELETED_WORD = static_cast<Word>(-2);

/* A batch of a change: HgTableBatch, with arrays of the device. */
struct HgCudaTableBatch
{
	const void *keys;	  /* [count] of the key width */
	const uint32_t *rows; /* [count], or NULL: first_row, first_row + 1 ... */
	uint64_t count;
	uint32_t first_row;
	bool by_key; /* erase: all rows of a key, and rows are not looked at */
};

struct HgCudaTableCalls;

/* A table, the first member of a kind's own struct. */
struct HgCudaTable
{
	const HgCudaTableCalls *calls;
	HgCudaWork work;
	HgTableSpec spec; /* with the defaults */
	HgTableTraits traits;
	uint64_t rows;	   /* in the kind's slots; the kind keeps it */
	HgTableStats told; /* what describe tells of the past: evictions, restarts ... */
};

/*
 * What a kind does.  Arrays are the device's; they are there until the stream has passed the call.
 * After HG_INVALID of change nothing has changed; after another failure what hg_table_traits tells
 * is true.
 */
struct HgCudaTableCalls
{
	size_t bytes; /* of the kind's own struct, plain data: open gets it filled with zeros */

	/* Add what a table of so many rows takes of device memory at most; spec has the defaults. */
	void (*memory)(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory);

	/* Make it an empty table.  After a failure close is called. */
	HgStatus (*open)(HgCudaTable *table, HgError *error);

	/*
	 * Erase, then insert; either is NULL where there is nothing to do.  A table that nothing was
	 * put in so far is built.  *change is set when it returns; NULL where nobody asks, and then a
	 * kind that keeps rows otherwise need not wait for the device.
	 */
	HgStatus (*change)(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
					   HgTableChange *change, HgError *error);

	/* rows[count] of keys, or HG_NO_ROW; of a set 0. */
	HgStatus (*find)(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows,
					 HgError *error);

	/* How many rows have each key: counts[count]. */
	HgStatus (*count)(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts,
					  HgError *error);

	/*
	 * The rows of each key, of which its count was told: those of key i begin at rows[offsets[i] -
	 * offsets[0]]; in a piece of a stream, so that there are fewer than 2^32 of all.
	 */
	HgStatus (*match)(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
					  uint32_t *rows, HgError *error);

	/* All keys, and rows where that is not NULL: by number of a numbering, else in no order. */
	HgStatus (*export_entries)(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error);

	/* Fill in what the kind knows: stats has what all have. */
	HgStatus (*describe)(HgCudaTable *table, HgTableStats *stats, HgError *error);

	/* Give back what the kind holds, but not the struct. */
	void (*close)(HgCudaTable *table);
};

/* The kinds.  Sets, maps, multimaps and numberings as hg_table_traits() says. */
extern const HgCudaTableCalls hg_cuda_table_static;
extern const HgCudaTableCalls hg_cuda_table_dynamic;
extern const HgCudaTableCalls hg_cuda_table_cuckoo; /* sets, maps, numberings */
extern const HgCudaTableCalls hg_cuda_table_groups; /* cuckoo multimaps */
extern const HgCudaTableCalls hg_cuda_table_dycuckoo;

/* The calls for the kind and the content of a spec, which are possible. */
const HgCudaTableCalls *hg_cuda_table_calls(const HgTableSpec *spec);

/*
 * Make an empty table on a device, and close it: with these and calls arrays of the device can be
 * worked on.  host must outlive it.
 */
HgStatus hg_cuda_table_open(HgCudaDevice *device, const HgHost *host, const HgTableSpec *spec,
							HgCudaTable **table, HgError *error);
void hg_cuda_table_close(HgCudaTable *table);

/* Tell of a table as it is, and of what was done with it; so many keys stand beside it. */
HgStatus hg_cuda_table_describe(HgCudaTable *table, uint64_t beside, HgTableStats *stats,
								HgError *error);

#endif /* HG_CUDA_TABLE_H */
