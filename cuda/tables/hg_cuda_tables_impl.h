/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables_impl.h
 *	  Definitions that the files of a device's tables share.
 *
 *	hg_cuda_tables.cu		opening, checks, changes
 *	hg_cuda_tables_read.cu	find, count, match, describe, export
 *	hg_cuda_tables_base.cu	common functions of both
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLES_IMPL_H
#define HG_CUDA_TABLES_IMPL_H

#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_table.h"

/* Keys that are looked up at a time; and pairs written at a time, unless one key has more. */
constexpr uint64_t HG_TABLES_KEYS = UINT64_C(1) << 18;
constexpr uint64_t HG_TABLES_PAIRS = UINT64_C(1) << 18;

/*
 * Upper bound on the device memory of reading, beside the pairs of a key with very many: for each
 * key the key, its offset, its count and the number by which a kind finds its rows.
 */
constexpr uint64_t HG_TABLES_READ_BYTES =
	HG_TABLES_KEYS * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) +
	HG_TABLES_PAIRS * 2 * sizeof(uint32_t) + (UINT64_C(1) << 16);

/* A table as callers see it. */
struct CallersTable
{
	HgCudaTable *table;
	const HgHost *host;
	bool used;		  /* something was inserted, or tried to be */
	bool failed;	  /* only close is allowed */
	bool marked[2];	  /* a set: has the keys whose words mark empty and deleted slots */
	uint32_t streams; /* open ones */
};

/* The blocks of device memory that a table had at some time. */
struct HeldBlocks
{
	void *ptrs[HG_WORK_BLOCKS];
	int count;
};

/* Returns the table of a handle. */
static inline CallersTable *
owner_of(HgTable *handle)
{
	return reinterpret_cast<CallersTable *>(handle);
}

/* Returns true if a table is a set. */
static inline bool
is_set(const HgCudaTable *table)
{
	return table->spec.content == HG_TABLE_SET;
}

/* Returns the rows of a table: those in slots, and the keys of a set that marked[] records. */
static inline uint64_t
all_rows(const CallersTable *owner)
{
	return owner->table->rows + owner->marked[0] + owner->marked[1];
}

/* Returns the key, widened, whose word marks empty (0) or deleted (1) slots of a set. */
uint64_t hg_tables_marker_key(const HgTableSpec *spec, int which);

/* Returns HG_INVALID if a change has failed.  Otherwise makes the table's device current. */
HgStatus hg_tables_check_usable(const CallersTable *owner, HgError *error);

/* note records blocks; settle frees blocks added since if status is an error; returns status. */
void hg_tables_note(const HgCudaWork *work, HeldBlocks *blocks);
HgStatus hg_tables_rollback(HgCudaWork *work, const HeldBlocks *before, HgStatus status);

/* Copies bytes from the host to the device, and waits. */
HgStatus hg_tables_copy_in(HgCudaWork *work, void *to, const void *from, uint64_t bytes,
						   HgError *error);

/* Sets the calls of HgTables that read a table: find, count, match and so on. */
void hg_tables_set_reading(HgTables *tables);

/* Copies a batch to keys and rows, from index at on; rows may be NULL.  Returns once launched. */
HgStatus hg_cuda_batch_append(HgCudaTable *table, const HgCudaTableBatch *in, uint64_t at,
							  void *keys, uint32_t *rows, HgError *error);

#endif /* HG_CUDA_TABLES_IMPL_H */
