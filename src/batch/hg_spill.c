/*-------------------------------------------------------------------------
 *
 * hg_spill.c
 *	  Rows of one side in temporary files, partitioned by their key words.
 *
 * A row in a file:
 *
 *	uint32	length of all that follows
 *	uint8	1 if the key is NULL
 *	uint64	word
 *	uint8[]	bitmap of the columns that are not NULL
 *	...		their values in turn, each at its type's alignment from the start of the
 *			row: fixed-width ones as they are, others behind a uint32 length
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "commands/tablespace.h"
#include "common/hashfn.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"

#include "batch/hg_spill.h"

/* Offsets of the parts of a row, including the length word. */
#define HG_SPILL_FLAG 4
#define HG_SPILL_WORD 8
#define HG_SPILL_BITMAP 16

/* Upper bound of a batch that is read, unless one row is larger. */
#define HG_SPILL_BATCH_BYTES ((Size) 16 * 1024)

/* The row buffer's first size, and the size up to which it is doubled. */
#define HG_SPILL_FIRST_BUFFER ((Size) 1024)
#define HG_SPILL_DOUBLED_BUFFER ((Size) 256 * 1024)

/*
 * The hash of partitions must be independent of the mixer in hg_hash.h, which selects vertices;
 * otherwise a partition's rows would share few vertices.
 */
#define HG_SPILL_SEED UINT64CONST(0x9e3779b97f4a7c15)

/* Charges the buffers. */
static void
hg_spill_charge(HgSpill *spill)
{
	hg_charge_set(&spill->charge,
				  (uint64) spill->open_files * HG_SPILL_FILE_BYTES + spill->buffer_size);
}

HgSpill *
hg_spill_create(const HgColumnStore *layout, int level, int bits, HgBudget *budget)
{
	HgSpill *spill = palloc0(sizeof(HgSpill));

	Assert(bits > 0 && bits <= HG_SPILL_MAX_BITS && level < HG_SPILL_LEVELS);
	/* for BufFileCreateTemp() */
	PrepareTempTablespaces();
	spill->context = CurrentMemoryContext;
	spill->layout = layout;
	spill->level = level;
	spill->bits = bits;
	spill->files = palloc0(sizeof(BufFile *) << bits);
	spill->rows = palloc0(sizeof(uint64) << bits);
	spill->buffer_size = HG_SPILL_FIRST_BUFFER;
	spill->buffer = palloc(spill->buffer_size);
	spill->charge.budget = budget;
	hg_spill_charge(spill);
	return spill;
}

void
hg_spill_share(HgSpill *spill, const HgSpillParticipants *participants)
{
	spill->participants = *participants;
}

/* Sets the name of a process's file of a partition. */
static void
hg_spill_file_name(const HgSpill *spill, int partition, int process, char *name)
{
	snprintf(name, MAXPGPATH, "%s.%d.of.%d",
			 spill->participants.side == HG_OUTER ? "outer" : "inner", partition, process);
}

/* Closes the file of a partition, which deletes it unless the set is shared. */
static void
hg_spill_close(HgSpill *spill, int partition)
{
	if (spill->files[partition] == NULL)
		return;
	BufFileClose(spill->files[partition]);
	spill->files[partition] = NULL;
	spill->open_files--;
	hg_spill_charge(spill);
}

void
hg_spill_publish(HgSpill *spill)
{
	for (int partition = 0; partition < 1 << spill->bits; partition++)
	{
		if (spill->files[partition] == NULL)
			continue;
		BufFileExportFileSet(spill->files[partition]);
		hg_spill_close(spill, partition);
		pg_atomic_fetch_add_u64(&spill->participants.shared->rows[partition],
								spill->rows[partition]);
	}
}

void
hg_spill_adopt(HgSpill *spill)
{
	spill->total_rows = 0;
	for (int partition = 0; partition < 1 << spill->bits; partition++)
	{
		spill->rows[partition] = pg_atomic_read_u64(&spill->participants.shared->rows[partition]);
		spill->total_rows += spill->rows[partition];
	}
}

/* Opens the next process's file of a shared partition; false if there are no more. */
static bool
hg_spill_next_file(HgSpill *spill, int partition)
{
	char name[MAXPGPATH];

	if (spill->participants.shared == NULL)
		return false;
	hg_spill_close(spill, partition);
	while (spill->files[partition] == NULL && spill->next_process < spill->participants.nprocesses)
	{
		MemoryContext old = MemoryContextSwitchTo(spill->context);

		hg_spill_file_name(spill, partition, spill->next_process++, name);
		spill->files[partition] =
			BufFileOpenFileSet(&spill->participants.files->fs, name, O_RDONLY, true);
		MemoryContextSwitchTo(old);
	}
	if (spill->files[partition] == NULL)
		return false;
	spill->open_files++;
	hg_spill_charge(spill);
	return true;
}

/* Returns the partition of a word. */
static int
hg_spill_partition(const HgSpill *spill, uint64 word)
{
	uint64 hash = hash_bytes_extended((const unsigned char *) &word, sizeof(word), HG_SPILL_SEED);

	return (int) ((hash >> (HG_SPILL_MAX_BITS * spill->level)) &
				  ((UINT64CONST(1) << spill->bits) - 1));
}

/* Grows the row buffer to at least size bytes, and keeps its contents. */
static inline void
hg_spill_reserve(HgSpill *spill, Size size)
{
	if (size > spill->buffer_size)
	{
		Size more = Min(spill->buffer_size, HG_SPILL_DOUBLED_BUFFER);

		spill->buffer_size = Max(size, spill->buffer_size + more);
		spill->buffer = repalloc_huge(spill->buffer, spill->buffer_size);
		hg_spill_charge(spill);
	}
}

/* Shrinks the row buffer, in case a large row has grown it. */
static void
hg_spill_trim(HgSpill *spill)
{
	if (spill->buffer_size <= HG_SPILL_BATCH_BYTES)
		return;
	pfree(spill->buffer);
	spill->buffer_size = HG_SPILL_FIRST_BUFFER;
	spill->buffer = MemoryContextAlloc(spill->context, spill->buffer_size);
	hg_spill_charge(spill);
}

/* Appends a variable-length value at offset; returns its end. */
static Size
hg_spill_put_varlen(HgSpill *spill, Size offset, const HgColumn *column, Datum value)
{
	bool expanded = column->attlen == -1 && VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value));
	Size size = expanded ? EOH_get_flat_size(DatumGetEOHP(value))
						 : datumGetSize(value, false, column->attlen);

	offset = TYPEALIGN(sizeof(uint32), offset);
	hg_spill_reserve(spill, offset + sizeof(uint32) + MAXIMUM_ALIGNOF + size);
	*(uint32 *) (spill->buffer + offset) = (uint32) size;
	offset = att_align_nominal(offset + sizeof(uint32), column->attalign);
	if (expanded)
		EOH_flatten_into(DatumGetEOHP(value), spill->buffer + offset, size);
	else
		memcpy(spill->buffer + offset, DatumGetPointer(value), size);
	return offset + size;
}

/* Writes one row of a batch. */
static void
hg_spill_write_row(HgSpill *spill, uint64 word, bool null_key, const HgBatch *batch, const int *at,
				   int row)
{
	const HgColumnStore *layout = spill->layout;
	int partition = hg_spill_partition(spill, word);
	Size bitmap_bytes = (layout->ncolumns + 7) / 8;
	Size offset = HG_SPILL_BITMAP + bitmap_bytes;

	hg_spill_reserve(spill, offset);
	spill->buffer[HG_SPILL_FLAG] = null_key;
	*(uint64 *) (spill->buffer + HG_SPILL_WORD) = word;
	memset(spill->buffer + HG_SPILL_BITMAP, 0, bitmap_bytes);
	for (int c = 0; c < layout->ncolumns; c++)
	{
		const HgColumn *column = &layout->columns[c];
		Datum value;

		if (hg_batch_is_null(batch, at[c], row))
			continue;
		value = batch->values[at[c]][row];
		spill->buffer[HG_SPILL_BITMAP + c / 8] |= 1 << (c % 8);
		if (column->attlen < 0)
		{
			offset = hg_spill_put_varlen(spill, offset, column, value);
			continue;
		}
		offset = att_align_nominal(offset, column->attalign);
		hg_spill_reserve(spill, offset + column->attlen);
		if (column->attbyval)
			store_att_byval(spill->buffer + offset, value, column->attlen);
		else
			memcpy(spill->buffer + offset, DatumGetPointer(value), column->attlen);
		offset += column->attlen;
	}
	if (offset > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too wide for a temporary file of a join"),
				 errhint("Raise work_mem, or set hashgraph.enabled to off for this query.")));
	*(uint32 *) spill->buffer = (uint32) (offset - sizeof(uint32));

	if (spill->files[partition] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(spill->context);
		char name[MAXPGPATH];

		if (spill->participants.shared == NULL)
			spill->files[partition] = BufFileCreateTemp(false);
		else
		{
			hg_spill_file_name(spill, partition, spill->participants.process, name);
			spill->files[partition] = BufFileCreateFileSet(&spill->participants.files->fs, name);
		}
		MemoryContextSwitchTo(old);
		spill->open_files++;
		hg_spill_charge(spill);
	}
	BufFileWrite(spill->files[partition], spill->buffer, offset);
	spill->rows[partition]++;
	spill->total_rows++;
	spill->bytes += offset;
}

void
hg_spill_write(HgSpill *spill, const HgSpillKeys *keys, const HgBatch *batch, const int *at,
			   const uint16 *which, int nrows)
{
	for (int i = 0; i < nrows; i++)
	{
		int row = which != NULL ? which[i] : i;

		hg_spill_write_row(spill, keys->words[row], keys->null_keys[row], batch, at, row);
	}
}

void
hg_spill_rewind(HgSpill *spill, int partition)
{
	hg_spill_trim(spill);
	if (spill->participants.shared != NULL)
	{
		/* from the first process's file on */
		hg_spill_close(spill, partition);
		spill->next_process = 0;
	}
	else if (spill->files[partition] != NULL &&
			 BufFileSeek(spill->files[partition], 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not rewind the temporary file of a join")));
	spill->next_length = 0;
}

/* Reads the row in the buffer into row i of a batch. */
static void
hg_spill_take_row(const HgSpill *spill, char *row, int i, HgBatch *batch, HgSpillKeys *keys)
{
	const HgColumnStore *layout = spill->layout;
	const uint8 *bitmap = (const uint8 *) row + HG_SPILL_BITMAP;
	Size offset = HG_SPILL_BITMAP + (layout->ncolumns + 7) / 8;

	keys->null_keys[i] = row[HG_SPILL_FLAG] != 0;
	keys->words[i] = *(uint64 *) (row + HG_SPILL_WORD);
	for (int c = 0; c < layout->ncolumns; c++)
	{
		const HgColumn *column = &layout->columns[c];
		Size size = column->attlen;

		batch->nulls[c][i] = (bitmap[c / 8] & (1 << (c % 8))) == 0;
		if (batch->nulls[c][i])
		{
			batch->has_nulls[c] = true;
			continue;
		}
		if (column->attlen < 0)
		{
			offset = TYPEALIGN(sizeof(uint32), offset);
			size = *(uint32 *) (row + offset);
			offset += sizeof(uint32);
		}
		offset = att_align_nominal(offset, column->attalign);
		batch->values[c][i] = fetch_att(row + offset, column->attbyval, column->attlen);
		offset += size;
	}
}

bool
hg_spill_read(HgSpill *spill, int partition, HgBatch *batch, HgSpillKeys *keys)
{
	Size used = 0;

	batch->nrows = 0;
	memset(batch->has_nulls, false, batch->ncolumns * sizeof(bool));
	if (spill->files[partition] == NULL && !hg_spill_next_file(spill, partition))
		return false;
	while (batch->nrows < HG_BATCH_ROWS)
	{
		uint32 *length = &spill->next_length;
		char *row;

		if (*length == 0 &&
			BufFileReadMaybeEOF(spill->files[partition], length, sizeof(*length), true) == 0)
		{
			if (hg_spill_next_file(spill, partition))
				continue;
			break;
		}
		/* a larger row is a batch of its own, so that the buffer does not move */
		if (used > 0 && used + sizeof(*length) + *length > HG_SPILL_BATCH_BYTES)
			break;
		hg_spill_reserve(spill, Max(used + sizeof(*length) + *length, HG_SPILL_BATCH_BYTES));
		row = spill->buffer + used;
		BufFileReadExact(spill->files[partition], row + sizeof(*length), (Size) *length);
		hg_spill_take_row(spill, row, batch->nrows++, batch, keys);
		used = MAXALIGN(used + sizeof(*length) + *length);
		*length = 0;
	}
	return batch->nrows > 0;
}

void
hg_spill_drop(HgSpill *spill, int partition)
{
	hg_spill_trim(spill);
	hg_spill_close(spill, partition);
	spill->rows[partition] = 0;
	for (int process = 0; process < spill->participants.nprocesses; process++)
	{
		char name[MAXPGPATH];

		hg_spill_file_name(spill, partition, process, name);
		BufFileDeleteFileSet(&spill->participants.files->fs, name, true);
	}
}

void
hg_spill_destroy(HgSpill *spill)
{
	/* of a shared set, other processes own the other files */
	for (int partition = 0; partition < 1 << spill->bits; partition++)
		hg_spill_close(spill, partition);
	hg_charge_set(&spill->charge, 0);
	pfree(spill->files);
	pfree(spill->rows);
	pfree(spill->buffer);
	pfree(spill);
}
