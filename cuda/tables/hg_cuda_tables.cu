/*-------------------------------------------------------------------------
 *
 * hg_cuda_tables.cu
 *	  The tables of a device: the contract of hg_table.h, around what each kind does.
 *
 * This file checks calls, copies batches to the device, and changes tables.  The batch of a change
 * is on the device as a whole, as its kind processes it at once; keys that are looked up are
 * copied piece by piece (hg_cuda_tables_read.cu).  It also records the two keys of a set whose
 * words mark slots.
 *
 * MEMORY is the device's, except for the structs of tables and streams.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cuda_tables.h"

#include "hg_cuda_tables_impl.h"

#include <cstring>

/* Keys on the host that are examined between two checks for cancellation. */
static constexpr uint64_t CHECKED_KEYS = UINT64_C(1) << 20;

/* Upper bound on rounding, beside a batch. */
static constexpr uint64_t SMALL_BYTES = UINT64_C(1) << 16;

/* A batch on the device, and which marker keys of sets are in it. */
struct DeviceBatch
{
	HgCudaTableBatch batch;
	void *keys;
	uint32_t *rows;
	bool marked[2];
};

/* Returns true if tables of this content store rows. */
static bool
has_own_rows(const HgTableSpec *spec)
{
	return spec->content == HG_TABLE_MAP || spec->content == HG_TABLE_MULTIMAP;
}

/* ------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------ */

const HgCudaTableCalls *
hg_cuda_table_calls(const HgTableSpec *spec)
{
	switch (spec->kind)
	{
		case HG_TABLE_DYNAMIC:
			return &hg_cuda_table_dynamic;
		case HG_TABLE_CUCKOO:
			return spec->content == HG_TABLE_MULTIMAP ? &hg_cuda_table_groups
													  : &hg_cuda_table_cuckoo;
		case HG_TABLE_DYCUCKOO:
			return &hg_cuda_table_dycuckoo;
		default:
			return &hg_cuda_table_static;
	}
}

HgStatus
hg_cuda_table_open(HgCudaDevice *device, const HgHost *host, const HgTableSpec *spec,
				   HgCudaTable **table, HgError *error)
{
	const HgCudaTableCalls *calls;
	HgCudaTable *opened;
	HgStatus status;

	HG_TRY(hg_table_check(spec, error));
	calls = hg_cuda_table_calls(spec);
	HG_TRY(hg_cuda_make_struct(host, calls->bytes, &opened, error));
	opened->calls = calls;
	opened->spec = hg_table_defaults(spec);
	opened->traits = hg_table_traits(spec->kind, spec->content);
	status = hg_cuda_work_open(&opened->work, device, host, spec->memory_limit, error);
	if (status != HG_OK)
	{
		host->free(host->arg, opened, calls->bytes);
		return status;
	}
	status = calls->open(opened, error);
	if (status == HG_OK)
		*table = opened;
	else
		hg_cuda_table_close(opened);
	return status;
}

void
hg_cuda_table_close(HgCudaTable *table)
{
	const HgHost *host = table->work.host;

	cudaSetDevice(table->work.device->ordinal);
	table->calls->close(table);
	hg_cuda_work_close(&table->work);
	host->free(host->arg, table, table->calls->bytes);
}

static HgStatus
tables_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory, HgError *error)
{
	HgTableSpec full;
	uint64_t read;
	uint64_t batch;

	HG_TRY(hg_table_check(spec, error));
	full = hg_table_defaults(spec);
	read = HG_TABLES_READ_BYTES;
	if (full.content == HG_TABLE_MULTIMAP)
		read += rows * 2 * sizeof(uint32_t); /* all rows may have one key */
	batch = rows * (full.key_width + (has_own_rows(&full) ? sizeof(uint32_t) : 0)) + SMALL_BYTES;
	memory->held = read;
	memory->build = memory->change = read + batch;
	hg_cuda_table_calls(&full)->memory(&full, rows, memory);
	return HG_OK;
}

static HgStatus
tables_open(HgTables *tables, const HgHost *host, const HgTableSpec *spec, HgTable **table,
			HgError *error)
{
	HgCudaTables *self = reinterpret_cast<HgCudaTables *>(tables);
	CallersTable *owner;
	HgStatus status;

	HG_TRY(hg_cuda_make_struct(host, sizeof(*owner), &owner, error));
	owner->host = host;
	status = hg_cuda_table_open(self->device, host, spec, &owner->table, error);
	if (status == HG_OK)
		*table = reinterpret_cast<HgTable *>(owner);
	else
		host->free(host->arg, owner, sizeof(*owner));
	return status;
}

static void
tables_close(HgTable *handle)
{
	CallersTable *owner = owner_of(handle);
	const HgHost *host = owner->host;

	hg_cuda_table_close(owner->table);
	host->free(host->arg, owner, sizeof(*owner));
}

/* ------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------ */

/* Returns HG_INVALID if the table can't be changed.  Otherwise makes its device current. */
static HgStatus
check_changeable(const CallersTable *owner, HgError *error)
{
	HG_TRY(hg_tables_check_usable(owner, error));
	if (owner->streams > 0)
		return hg_error_set(error, HG_INVALID, nullptr, "matches of the table are being read");
	return HG_OK;
}

/* Returns HG_INVALID if a row of a batch is not below HG_MAX_ROWS. */
static HgStatus
check_rows(const CallersTable *owner, const HgTableBatch *batch, HgError *error)
{
	if (batch->rows == nullptr)
	{
		if (batch->first_row > HG_MAX_ROWS ||
			batch->count > HG_MAX_ROWS - (uint64_t) batch->first_row)
			return hg_error_set(error, HG_INVALID, nullptr, "rows beyond the highest number");
		return HG_OK;
	}
	for (uint64_t i = 0; i < batch->count; i++)
	{
		if (batch->rows[i] >= HG_MAX_ROWS)
			return hg_error_set(error, HG_INVALID, nullptr, "not the number of a row: %u",
								(unsigned) batch->rows[i]);
		if (i % CHECKED_KEYS == 0)
			HG_TRY(hg_cuda_look(&owner->table->work, error));
	}
	return HG_OK;
}

/* Checks a batch that is inserted or erased. */
static HgStatus
check_batch(const CallersTable *owner, const HgTableBatch *batch, bool insert, HgError *error)
{
	const HgCudaTable *table = owner->table;

	if (!insert && !table->traits.can_erase)
		return hg_error_set(error, HG_INVALID, nullptr, "nothing can be erased from a %s",
							hg_table_content_name(table->spec.content));
	if (batch->count >= HG_MAX_ROWS || (insert && all_rows(owner) >= HG_MAX_ROWS - batch->count))
		return hg_error_set(error, HG_TOO_MANY_ROWS, nullptr, "too many rows in one table");
	if (has_own_rows(&table->spec) && (insert || !batch->by_key))
		return check_rows(owner, batch, error);
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Batches on the device
 * ------------------------------------------------------------------------ */

/* Finds which marker keys of a set are in a batch. */
template <typename Word>
static HgStatus
find_marked(const HgCudaTable *table, const HgTableBatch *batch, bool marked[2], HgError *error)
{
	const Word *keys = static_cast<const Word *>(batch->keys);
	const Word empty = static_cast<Word>(hg_tables_marker_key(&table->spec, 0));
	const Word deleted = static_cast<Word>(hg_tables_marker_key(&table->spec, 1));

	for (uint64_t i = 0; i < batch->count; i++)
	{
		marked[0] |= keys[i] == empty;
		marked[1] |= keys[i] == deleted;
		if (i % CHECKED_KEYS == 0)
			HG_TRY(hg_cuda_look(&table->work, error));
	}
	return HG_OK;
}

/* Copies a batch to the device; there is none if it is NULL or empty. */
static HgStatus
batch_open(HgCudaTable *table, const HgTableBatch *batch, bool insert, DeviceBatch *there,
		   HgError *error)
{
	const bool by_key = !insert && batch != nullptr && batch->by_key;
	const uint32_t width = table->spec.key_width;

	memset(there, 0, sizeof(*there));
	if (batch == nullptr || batch->count == 0)
		return HG_OK;
	if (is_set(table))
		HG_TRY(width == 4 ? find_marked<uint32_t>(table, batch, there->marked, error)
						  : find_marked<uint64_t>(table, batch, there->marked, error));
	HG_TRY(hg_cuda_alloc(&table->work, batch->count * width, &there->keys, error));
	HG_TRY(hg_tables_copy_in(&table->work, there->keys, batch->keys, batch->count * width, error));
	if (has_own_rows(&table->spec) && batch->rows != nullptr && !by_key)
	{
		HG_TRY(hg_cuda_alloc_array(&table->work, batch->count, &there->rows, error));
		HG_TRY(hg_tables_copy_in(&table->work, there->rows, batch->rows,
								 batch->count * sizeof(uint32_t), error));
	}
	there->batch.keys = there->keys;
	there->batch.rows = there->rows;
	there->batch.count = batch->count;
	there->batch.first_row = batch->first_row;
	there->batch.by_key = by_key;
	return HG_OK;
}

static void
batch_close(HgCudaTable *table, const DeviceBatch *there)
{
	hg_cuda_free(&table->work, there->keys);
	hg_cuda_free(&table->work, there->rows);
}

/* ------------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------------ */

/* Applies batches to the recorded marker keys of a set. */
static void
change_marked(CallersTable *owner, const DeviceBatch *out, const DeviceBatch *in,
			  HgTableChange *change)
{
	for (int which = 0; which < 2; which++)
	{
		if (out->marked[which])
		{
			change->erased += owner->marked[which];
			owner->marked[which] = false;
		}
		if (in->marked[which])
		{
			change->inserted += !owner->marked[which];
			owner->marked[which] = true;
		}
	}
}

/* Runs a change of checked batches, which may be NULL or empty. */
static HgStatus
run_change(CallersTable *owner, const HgTableBatch *out, const HgTableBatch *in,
		   HgTableChange *change, HgError *error)
{
	HgCudaTable *table = owner->table;
	HgTableChange done = {0, 0};
	DeviceBatch erase;
	DeviceBatch insert;
	HgStatus status;

	HG_TRY(batch_open(table, out, false, &erase, error));
	HG_TRY(batch_open(table, in, true, &insert, error));
	if (erase.batch.count > 0 || insert.batch.count > 0)
	{
		HG_TRY(table->calls->change(table, erase.batch.count > 0 ? &erase.batch : nullptr,
									insert.batch.count > 0 ? &insert.batch : nullptr, &done,
									error));
		/* the change is done: only a device failure can still undo it */
		status = hg_cuda_finish(&table->work, error);
		owner->failed = status != HG_OK;
		HG_TRY(status);
	}
	change_marked(owner, &erase, &insert, &done);
	owner->used |= insert.batch.count > 0;
	batch_close(table, &erase);
	batch_close(table, &insert);
	if (change != nullptr)
		*change = done;
	return HG_OK;
}

/*
 * Checks the batches of a change, and runs it.  After a failure a table that is changed in place
 * only allows close, except after the errors that precede any change.
 */
static HgStatus
change_table(CallersTable *owner, const HgTableBatch *out, const HgTableBatch *in,
			 HgTableChange *change, HgError *error)
{
	HgCudaWork *work = &owner->table->work;
	HgStatus status = HG_OK;
	HeldBlocks before;

	hg_tables_note(work, &before);
	if (out != nullptr)
		status = check_batch(owner, out, false, error);
	if (status == HG_OK && in != nullptr)
		status = check_batch(owner, in, true, error);
	if (status == HG_OK)
		status = run_change(owner, out, in, change, error);
	if (owner->table->traits.in_place && status != HG_OK && status != HG_INVALID &&
		status != HG_TOO_MANY_ROWS)
		owner->failed = true;
	return hg_tables_rollback(work, &before, status);
}

static HgStatus
tables_insert(HgTable *handle, const HgTableBatch *batch, HgTableChange *change, HgError *error)
{
	CallersTable *owner = owner_of(handle);

	HG_TRY(check_changeable(owner, error));
	return change_table(owner, nullptr, batch, change, error);
}

static HgStatus
tables_build(HgTable *handle, const HgTableBatch *batch, HgTableChange *change, HgError *error)
{
	CallersTable *owner = owner_of(handle);

	HG_TRY(check_changeable(owner, error));
	if (owner->used)
		return hg_error_set(error, HG_INVALID, nullptr, "the table has been built already");
	HG_TRY(change_table(owner, nullptr, batch, change, error));
	owner->used = true;
	return HG_OK;
}

static HgStatus
tables_erase(HgTable *handle, const HgTableBatch *batch, HgTableChange *change, HgError *error)
{
	CallersTable *owner = owner_of(handle);

	HG_TRY(check_changeable(owner, error));
	return change_table(owner, batch, nullptr, change, error);
}

static HgStatus
tables_replace(HgTable *handle, const HgTableBatch *out, const HgTableBatch *in,
			   HgTableChange *change, HgError *error)
{
	CallersTable *owner = owner_of(handle);

	HG_TRY(check_changeable(owner, error));
	return change_table(owner, out, in, change, error);
}

void
hg_cuda_tables_init(HgCudaTables *self, HgCudaDevice *device)
{
	HgTables *tables = &self->tables;

	memset(self, 0, sizeof(*self));
	self->device = device;
	tables->name = "cuda";
	tables->on_device = true;
	tables->memory = tables_memory;
	tables->open = tables_open;
	tables->build = tables_build;
	tables->insert = tables_insert;
	tables->erase = tables_erase;
	tables->replace = tables_replace;
	tables->close = tables_close;
	hg_tables_set_reading(tables);
}
