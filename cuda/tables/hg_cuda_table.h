/*-------------------------------------------------------------------------
 *
 * hg_cuda_table.h
 *	  A table in device memory: what all kinds share, and what each has to implement.
 *
 *	hg_cuda_tables.cu			the calls of hg_table.h: the contract, batches of the host, marker
 *								words of sets
 *	hg_cuda_tables_read.cu		the same: reading, in pieces, and streams
 *	hg_cuda_tables_base.cu		common functions of these two
 *	hg_cuda_table_static*.cu	HashGraphs that are rebuilt for each change: CSR, the two Ellpacks
 *	hg_cuda_table_dynamic*.cu	the HashGraph with empty slots in its lists
 *	hg_cuda_table_cuckoo.cu		cuckoo tables: maps, sets, numberings
 *	hg_cuda_table_groups.cu		cuckoo tables: multimaps, as a numbering and grouped rows
 *	hg_cuda_tables_base.cu		appends a batch to the rows that a rebuild keeps
 *	hg_cuda_cuckoo*.cu			the slots of cuckoo tables, bin by bin
 *	hg_cuda_table_dycuckoo*.cu	DyCuckoo: subtables of buckets
 *	hg_cuda_table_measure.cu	measures any of them
 *
 * TWO LAYERS.  A kind works on arrays in device memory, in the stream of the table's work, and
 * returns once its kernels are launched, unless it needs their results.  Benchmarks time this
 * layer, and joins on the device would use it.  hg_cuda_tables.cu stands between the kinds and
 * callers with arrays of the host.
 *
 * WORDS.  A kind works with mixed words (kernels/hg_cuda_word.h), not keys, in the key's width:
 * uint32_t or uint64_t.  Mixing is a bijection, so words identify keys, and the top bits of a word
 * are a hash.  A kind mixes the keys of callers' arrays as it reads them.
 *
 * MARKERS.  A slot with a row is empty or deleted if the row is one of two that no row can have
 * (HG_MAX_ROWS exceeds all rows).  A set has no rows: there two words mark slots, and the two keys
 * with these words are recorded beside the table, in marked[].  A kind ignores such a word in a
 * batch, and its answer to one is not used.
 *
 * MEMORY belongs to the table's work, under the table's memory_limit and the device's budget.
 * What a call needs for itself is freed before it returns.  A call that fails need not free
 * anything: hg_cuda_tables.cu frees each block that did not exist before.  So a kind that builds a
 * new table beside the old one changes its struct, and frees the old one's blocks, last.
 *
 * CANCEL: kinds call hg_cuda_pace() between pieces of work of at most 10 ms, and hg_cuda_wait() to
 * wait.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_H
#define HG_CUDA_TABLE_H

#include "../../src/engine/hg_table.h"
#include "../device/hg_cuda_work.h"

/* The rows that mark empty and deleted slots. */
constexpr uint32_t HG_CUDA_EMPTY_ROW = UINT32_MAX;
constexpr uint32_t HG_CUDA_DELETED_ROW = UINT32_MAX - 1;

/* The words that mark empty and deleted slots of sets. */
template <typename Word> constexpr Word HG_CUDA_EMPTY_WORD = static_cast<Word>(-1);
template <typename Word> constexpr Word HG_CUDA_DELETED_WORD = static_cast<Word>(-2);

/* A batch of a change, as HgTableBatch, with arrays in device memory. */
struct HgCudaTableBatch
{
	const void *keys;	  /* [count] of the key width */
	const uint32_t *rows; /* [count], or NULL: first_row, first_row + 1 ... */
	uint64_t count;
	uint32_t first_row;
	bool by_key; /* erase: all rows of a key, and rows are ignored */
};

struct HgCudaTableCalls;

/* A table, the first member of a kind's own struct. */
struct HgCudaTable
{
	const HgCudaTableCalls *calls;
	HgCudaWork work;
	HgTableSpec spec; /* with the defaults */
	HgTableTraits traits;
	uint64_t rows;		 /* rows in the kind's slots; the kind maintains it */
	HgTableStats totals; /* the history of the table: evictions, restarts ... */
};

/*
 * The functions of a kind.  Arrays are in device memory, and stay until the stream has passed the
 * call.  After HG_INVALID, change has changed nothing; after another failure hg_table_traits says
 * what holds.
 */
struct HgCudaTableCalls
{
	size_t bytes; /* size of the kind's own struct, plain data, zeroed before open */

	/* Adds the most device memory of a table with this many rows; spec has the defaults. */
	void (*memory)(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory);

	/* Makes an empty table.  After a failure close is called. */
	HgStatus (*open)(HgCudaTable *table, HgError *error);

	/*
	 * Erases out, then inserts in; either may be NULL.  A table without any insert so far is
	 * built.  *change is set on return.  It may be NULL; then a kind that maintains rows otherwise
	 * need not wait for the device.
	 */
	HgStatus (*change)(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
					   HgTableChange *change, HgError *error);

	/* Sets rows[count] to the row of each key, 0 in a set, or HG_NO_ROW. */
	HgStatus (*find)(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows,
					 HgError *error);

	/* Sets counts[count] to the number of rows of each key. */
	HgStatus (*count)(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts,
					  HgError *error);

	/*
	 * Writes the rows of each key, those of key i from rows[offsets[i] - offsets[0]] on.  offsets
	 * are prefix sums of the counts.  There are fewer than 2^32 rows in all.
	 */
	HgStatus (*match)(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
					  uint32_t *rows, HgError *error);

	/* Copies all keys, and rows unless NULL: by number in a numbering, else in any order. */
	HgStatus (*export_entries)(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error);

	/* Sets what the kind knows; stats has what all kinds share. */
	HgStatus (*describe)(HgCudaTable *table, HgTableStats *stats, HgError *error);

	/* Frees what the kind holds, but not the struct. */
	void (*close)(HgCudaTable *table);
};

/* The kinds.  hg_table_traits() says which contents each supports. */
extern const HgCudaTableCalls hg_cuda_table_static;
extern const HgCudaTableCalls hg_cuda_table_dynamic;
extern const HgCudaTableCalls hg_cuda_table_cuckoo; /* sets, maps, numberings */
extern const HgCudaTableCalls hg_cuda_table_groups; /* cuckoo multimaps */
extern const HgCudaTableCalls hg_cuda_table_dycuckoo;

/* Returns the calls for the kind and content of a spec, which must be possible. */
const HgCudaTableCalls *hg_cuda_table_calls(const HgTableSpec *spec);

/*
 * Makes an empty table on a device, and closes it.  With them and the calls, callers can work on
 * arrays in device memory.  host must outlive the table.
 */
HgStatus hg_cuda_table_open(HgCudaDevice *device, const HgHost *host, const HgTableSpec *spec,
							HgCudaTable **table, HgError *error);
void hg_cuda_table_close(HgCudaTable *table);

/* Sets the statistics of a table.  beside is the number of keys that are recorded beside it. */
HgStatus hg_cuda_table_describe(HgCudaTable *table, uint64_t beside, HgTableStats *stats,
								HgError *error);

#endif /* HG_CUDA_TABLE_H */
