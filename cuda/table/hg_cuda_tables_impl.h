/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables_impl.h
 *	  What the files of a device's tables share.
 *
 *	hg_cuda_tables.cu		opening, checks, changes
 *	hg_cuda_tables_read.cu	find, count, match, describe, export
 *	hg_cuda_tables_base.cu	what both are made of
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLES_IMPL_H
#define HG_CUDA_TABLES_IMPL_H

#include "../kernels/hg_cuda_tuning.h"
#include "hg_cuda_table.h"

/*
 * Keys that are looked up at a time, and pairs that are written at a time where one key has not
 * more.
 */
constexpr uint64_t HG_TABLES_KEYS = UINT64_C(1) << 18;
constexpr uint64_t HG_TABLES_PAIRS = UINT64_C(1) << 18;

/*
 * What reading takes of device memory beside the pairs of a key that has very many, at most: of a
 * key itself, its offset, its count and the number that a kind finds its rows by.
 */
constexpr uint64_t HG_TABLES_READ_BYTES =
	HG_TABLES_KEYS * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) +
	HG_TABLES_PAIRS * 2 * sizeof(uint32_t) + (UINT64_C(1) << 16);

/* A table in the hands of a caller. */
struct CallersTable
{
	HgCudaTable *table;
	const HgHost *host;
	bool used;		  /* something was put in, or tried to be */
	bool failed;	  /* only close is left */
	bool marked[2];	  /* a set: the keys of the words that mark empty and deleted slots are in it */
	uint32_t streams; /* open ones */
};

/* The blocks of device memory that a table holds at some time. */
struct HeldBlocks
{
	void *ptrs[HG_WORK_BLOCKS];
	int count;
};

static inline CallersTable *
owner_of(HgTable *handle)
{
	return reinterpret_cast<CallersTable *>(handle);
}

static inline bool
is_set(const HgCudaTable *table)
{
	return table->spec.content == HG_TABLE_SET;
}

/* Rows of the whole table. */
static inline uint64_t
all_rows(const CallersTable *owner)
{
	return owner->table->rows + owner->marked[0] + owner->marked[1];
}

/* The key, widened, whose word marks empty (0) or deleted (1) slots of a set. */
uint64_t hg_tables_marker_key(const HgTableSpec *spec, int which);

/* HG_OK if the table can be used, whose device is then the thread's; or HG_INVALID. */
HgStatus hg_tables_check_usable(const CallersTable *owner, HgError *error);

/* Note what is held, and after a failure give back what was not held then; returns the status. */
void hg_tables_note(const HgCudaWork *work, HeldBlocks *blocks);
HgStatus hg_tables_settle(HgCudaWork *work, const HeldBlocks *before, HgStatus status);

/* Copy bytes of the host to the device, which has them when it returns. */
HgStatus hg_tables_copy_in(HgCudaWork *work, void *to, const void *from, uint64_t bytes,
						   HgError *error);

/* Set the calls that read. */
void hg_tables_set_reading(HgTables *tables);

#endif /* HG_CUDA_TABLES_IMPL_H */
