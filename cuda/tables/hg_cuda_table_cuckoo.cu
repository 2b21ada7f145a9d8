/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_cuckoo.cu
 *	  Cuckoo tables on a device: maps, sets and numberings.
 *
 * Three of the tables of "Building an Efficient Hash Table on the GPU" (hg_cuda_cuckoo.cu):
 *
 *	basic		a map: word and row in a slot
 *	set			words alone
 *	compacting	a numbering: a set whose keys have dense numbers
 *
 * A NUMBERING.  The distinct keys of a batch are found bin by bin and moved together.  In an empty
 * table the position of each key there is its number, and the table takes the keys as they are, in
 * bins.  Keys of later batches that the table does not have get the next numbers.
 *
 * An empty map or set makes room for the first batch as a whole, a numbering for its distinct
 * keys.
 *
 * MEMORY: see hg_cuda_cuckoo.cu; a numbering also takes the distinct keys of a batch.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_cuckoo.h"

struct CuckooTable
{
	HgCudaTable table;
	HgCudaCuckoo cuckoo;
};

static HgCudaCuckoo *
cuckoo_of(HgCudaTable *table)
{
	return &reinterpret_cast<CuckooTable *>(table)->cuckoo;
}

static void
cuckoo_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory)
{
	const uint64_t slots = hg_cuda_cuckoo_bytes(spec, rows);
	const uint64_t batch = hg_cuda_cuckoo_insert_bytes(spec, rows);
	const uint64_t distinct = spec->content == HG_TABLE_NUMBERING
								  ? rows * (3 * (uint64_t) spec->key_width + sizeof(uint32_t))
								  : 0;

	memory->held += slots;
	memory->build += slots + batch + distinct;
	memory->change +=
		slots + batch + distinct + rows * (spec->key_width + sizeof(uint32_t)) + batch / 2;
}

static HgStatus
cuckoo_open(HgCudaTable *table, HgError *error)
{
	HG_TRY(hg_cuda_cuckoo_check(&table->spec, table->spec.expected_rows, error));
	return hg_cuda_cuckoo_open(table, cuckoo_of(table), table->spec.expected_rows, error);
}

static void
cuckoo_close(HgCudaTable *table)
{
	hg_cuda_cuckoo_close(table, cuckoo_of(table));
}

/* Numbers the keys of a batch that the table does not have. */
static HgStatus
insert_numbers(HgCudaTable *table, const HgCudaTableBatch *in, HgError *error)
{
	HgCudaCuckoo *cuckoo = cuckoo_of(table);
	HgCuckooDistinct distinct;
	HgCudaTableBatch fresh = {nullptr, nullptr, 0, (uint32_t) hg_cuda_cuckoo_rows(cuckoo), false};
	void *keys = nullptr;

	if (in->count == 0)
		return HG_OK;
	HG_TRY(hg_cuda_cuckoo_distinct(table, cuckoo, in, false, &distinct, error));
	if (fresh.first_row == 0)
		HG_TRY(hg_cuda_cuckoo_insert_distinct(table, cuckoo, &distinct, error));
	else
	{
		HG_TRY(hg_cuda_cuckoo_to_keys(table, &distinct, error));
		HG_TRY(hg_cuda_alloc(&table->work, distinct.count * table->spec.key_width, &keys, error));
		HG_TRY(hg_cuda_cuckoo_absent(table, cuckoo, distinct.words, distinct.count, keys,
									 &fresh.count, error));
		fresh.keys = keys;
		HG_TRY(hg_cuda_cuckoo_insert(table, cuckoo, &fresh, error));
		hg_cuda_free(&table->work, keys);
	}
	hg_cuda_cuckoo_distinct_free(table, &distinct);
	return HG_OK;
}

static HgStatus
cuckoo_change(HgCudaTable *table, const HgCudaTableBatch *out, const HgCudaTableBatch *in,
			  HgTableChange *change, HgError *error)
{
	HgCudaCuckoo *cuckoo = cuckoo_of(table);
	uint64_t before = hg_cuda_cuckoo_rows(cuckoo);
	HgTableChange done = {0, 0};

	/* check that everything fits before anything is changed */
	if (in != nullptr)
		HG_TRY(hg_cuda_cuckoo_check(&table->spec, before + in->count, error));
	if (out != nullptr)
	{
		HG_TRY(hg_cuda_cuckoo_erase(table, cuckoo, out, error));
		table->rows = hg_cuda_cuckoo_rows(cuckoo);
		done.erased = before - table->rows;
		before = table->rows;
	}
	if (in != nullptr)
	{
		if (table->spec.content == HG_TABLE_NUMBERING)
			HG_TRY(insert_numbers(table, in, error));
		else
			HG_TRY(hg_cuda_cuckoo_insert(table, cuckoo, in, error));
		table->rows = hg_cuda_cuckoo_rows(cuckoo);
		done.inserted = table->rows - before;
	}
	if (change != nullptr)
		*change = done;
	return HG_OK;
}

static HgStatus
cuckoo_find(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	return hg_cuda_cuckoo_find(table, cuckoo_of(table), keys, count, false, nullptr, rows, error);
}

static HgStatus
cuckoo_count(HgCudaTable *table, const void *keys, uint64_t count, uint32_t *counts, HgError *error)
{
	return hg_cuda_cuckoo_find(table, cuckoo_of(table), keys, count, true, nullptr, counts, error);
}

static HgStatus
cuckoo_match(HgCudaTable *table, const void *keys, uint64_t count, const uint64_t *offsets,
			 uint32_t *rows, HgError *error)
{
	return hg_cuda_cuckoo_find(table, cuckoo_of(table), keys, count, false, offsets, rows, error);
}

static HgStatus
cuckoo_export(HgCudaTable *table, void *keys, uint32_t *rows, HgError *error)
{
	return hg_cuda_cuckoo_export(table, cuckoo_of(table), table->spec.content == HG_TABLE_NUMBERING,
								 keys, rows, error);
}

static HgStatus
cuckoo_describe(HgCudaTable *table, HgTableStats *stats, HgError *error)
{
	static_cast<void>(error);
	stats->slots = hg_cuda_cuckoo_slots(cuckoo_of(table));
	return HG_OK;
}

const HgCudaTableCalls hg_cuda_table_cuckoo = {
	sizeof(CuckooTable), cuckoo_memory, cuckoo_open,   cuckoo_change,	cuckoo_find,
	cuckoo_count,		 cuckoo_match,	cuckoo_export, cuckoo_describe, cuckoo_close,
};
