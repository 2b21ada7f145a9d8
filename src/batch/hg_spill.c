/*-------------------------------------------------------------------------
 *
 * hg_spill.c
 *	  Rows of one side in temporary files, partitioned by their key words.
 *
 * Each partition has a page in memory, to which its rows are added.  A full page is appended to
 * the partition's file.  A row that is too large for a page is written at once, as a page of its
 * own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "commands/tablespace.h"

#include "batch/hg_spill.h"

/* Upper bound of a batch that is read, unless one page is larger. */
#define HG_SPILL_BATCH_BYTES ((Size) 16 * 1024)

/* The buffer's first size. */
#define HG_SPILL_FIRST_BUFFER ((Size) 1024)

/* Charges the buffers. */
static void
hg_spill_charge(HgSpill *spill)
{
	hg_charge_set(&spill->charge, (uint64) spill->open_files * HG_SPILL_FILE_BYTES +
									  (uint64) spill->open_pages * spill->page_bytes +
									  spill->buffer_size);
}

/* Sets the memory of a page from the format. */
static void
hg_spill_size_pages(HgSpill *spill)
{
	spill->page_bytes = Max(HG_SPILL_PAGE_BYTES, hg_spill_page_bytes(&spill->format, 0));
}

HgSpill *
hg_spill_create(const HgColumnStore *layout, int level, int bits, bool keeps_words,
				HgBudget *budget)
{
	HgSpill *spill = palloc0(sizeof(HgSpill));

	Assert(bits > 0 && bits <= HG_SPILL_MAX_BITS && level < HG_SPILL_LEVELS);
	/* for BufFileCreateTemp() */
	PrepareTempTablespaces();
	spill->context = CurrentMemoryContext;
	hg_spill_format_init(&spill->format, layout, keeps_words);
	hg_spill_size_pages(spill);
	spill->level = level;
	spill->bits = bits;
	spill->files = palloc0(sizeof(BufFile *) << bits);
	spill->pages = palloc0(sizeof(HgSpillPage) << bits);
	spill->rows = palloc0(sizeof(uint64) << bits);
	spill->next_scales = palloc0(Max(layout->ncolumns, 1) * sizeof(int8));
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
	spill->participants.name = MemoryContextStrdup(spill->context, participants->name);
}

/* Sets the name of a process's file of a partition. */
static void
hg_spill_file_name(const HgSpill *spill, int partition, int process, char *name)
{
	snprintf(name, MAXPGPATH, "%s.%d.of.%d", spill->participants.name, partition, process);
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

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

/* Appends a page to the file of its partition. */
static void
hg_spill_flush(HgSpill *spill, int partition, HgSpillPage *page)
{
	BufFile *file = spill->files[partition];

	hg_spill_page_finish(page, &spill->format);
	BufFileWrite(file, page->memory,
				 spill->format.header_bytes + page->nrows * spill->format.row_bytes);
	if (page->other_bytes > 0)
		BufFileWrite(file, page->memory + page->others_at, page->other_bytes);
}

/* Frees the page of a partition. */
static void
hg_spill_discard_page(HgSpill *spill, int partition)
{
	HgSpillPage *page = &spill->pages[partition];

	if (page->memory == NULL)
		return;
	pfree(page->memory);
	page->memory = NULL;
	spill->open_pages--;
	hg_spill_charge(spill);
}

/* Writes and frees the page of a partition. */
static void
hg_spill_close_page(HgSpill *spill, int partition)
{
	if (spill->pages[partition].memory != NULL)
		hg_spill_flush(spill, partition, &spill->pages[partition]);
	hg_spill_discard_page(spill, partition);
}

static void
hg_spill_close_pages(HgSpill *spill)
{
	for (int partition = 0; spill->open_pages > 0 && partition < 1 << spill->bits; partition++)
		hg_spill_close_page(spill, partition);
}

/*
 * Returns the partition of a word.  The hash must be independent of the mixers in hg_hash.h, which
 * select vertices; otherwise a partition's rows would share few vertices.
 */
static inline int
hg_spill_partition(const HgSpill *spill, uint64 word)
{
	/* the finalizer of SplitMix64 */
	uint64 hash = word + UINT64CONST(0x9e3779b97f4a7c15);

	hash = (hash ^ (hash >> 30)) * UINT64CONST(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64CONST(0x94d049bb133111eb);
	hash ^= hash >> 31;
	return (int) ((hash >> (HG_SPILL_MAX_BITS * spill->level)) &
				  ((UINT64CONST(1) << spill->bits) - 1));
}

/* Grows the buffer to at least size bytes, and keeps its contents. */
static inline void
hg_spill_reserve(HgSpill *spill, Size size)
{
	if (size > spill->buffer_size)
	{
		spill->buffer_size = size;
		spill->buffer = repalloc_huge(spill->buffer, spill->buffer_size);
		hg_spill_charge(spill);
	}
}

/* Shrinks the buffer, in case a large row has grown it. */
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

/* Opens the file of a partition, to write to it. */
static void
hg_spill_open(HgSpill *spill, int partition)
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

/*
 * Empties the page of a partition, which is full or does not exist yet.  It then has room for a row
 * with other_bytes outside the row.
 */
static void
hg_spill_renew_page(HgSpill *spill, int partition, Size other_bytes)
{
	HgSpillPage *page = &spill->pages[partition];

	if (spill->files[partition] == NULL)
		hg_spill_open(spill, partition);
	if (page->memory == NULL)
	{
		page->memory = MemoryContextAlloc(spill->context, spill->page_bytes);
		page->nrows = 0;
		spill->open_pages++;
		hg_spill_charge(spill);
	}
	if (page->nrows > 0)
		hg_spill_flush(spill, partition, page);
	hg_spill_page_start(page, &spill->format, spill->page_bytes, other_bytes,
						(double) spill->other_bytes / Max(spill->total_rows, 1));
}

/* Writes a row that is too large for a page, with other_bytes outside the row. */
static void
hg_spill_write_large(HgSpill *spill, int partition, const HgSpillKeys *keys, const HgBatch *batch,
					 const int *at, uint16 row, Size other_bytes)
{
	HgSpillPage page = {0};
	char *target;

	if (other_bytes > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too wide for a temporary file of a join or of groups"),
				 errhint("Raise work_mem, or set hashgraph.enabled to off for this query.")));
	if (spill->files[partition] == NULL)
		hg_spill_open(spill, partition);
	/* rows before it */
	hg_spill_close_page(spill, partition);
	hg_spill_reserve(spill, hg_spill_page_bytes(&spill->format, other_bytes));
	page.memory = spill->buffer;
	page.others_at = hg_spill_page_bytes(&spill->format, 0);
	target = hg_spill_page_add(&page, &spill->format, batch, at, row);
	hg_spill_put_rows(&spill->format, keys, batch, at, &row, 1, &target);
	hg_spill_flush(spill, partition, &page);
}

/*
 * Adds the first rows of which[nrows] to pages, up to the first one whose page is full, and writes
 * a large one.  Returns the number of rows that are done.
 */
static int
hg_spill_write_some(HgSpill *spill, const HgSpillKeys *keys, const HgBatch *batch, const int *at,
					const uint16 *which, int nrows)
{
	const HgSpillFormat *format = &spill->format;
	char *targets[HG_BATCH_ROWS];
	int n = 0;

	for (; n < nrows; n++)
	{
		uint16 row = which[n];
		int partition = hg_spill_partition(spill, keys->words[row]);
		HgSpillPage *page = &spill->pages[partition];
		Size other_bytes = format->nothers > 0 ? hg_spill_other_bytes(format, batch, at, row) : 0;
		bool large = hg_spill_page_bytes(format, other_bytes) > spill->page_bytes;

		if (large || page->memory == NULL || !hg_spill_page_has_room(page, other_bytes))
		{
			/* pages of the rows before are incomplete */
			if (n > 0)
				break;
			if (!large)
				hg_spill_renew_page(spill, partition, other_bytes);
		}
		spill->rows[partition]++;
		spill->total_rows++;
		spill->bytes += format->row_bytes + other_bytes;
		spill->other_bytes += large ? 0 : other_bytes;
		if (large)
		{
			hg_spill_write_large(spill, partition, keys, batch, at, row, other_bytes);
			return 1;
		}
		targets[n] = hg_spill_page_add(page, format, batch, at, row);
	}
	hg_spill_put_rows(format, keys, batch, at, which, n, targets);
	return n;
}

/* Lets columns be scaled integers as in a batch.  Pages of another format are written before. */
static void
hg_spill_set_format(HgSpill *spill, const HgBatch *batch, const int *at)
{
	HgSpillFormat *format = &spill->format;
	bool same = true;

	for (int c = 0; c < format->ncolumns; c++)
		same &= format->scales[c] == batch->scales[at[c]];
	if (same)
		return;
	hg_spill_close_pages(spill);
	for (int c = 0; c < format->ncolumns; c++)
		spill->next_scales[c] = (int8) batch->scales[at[c]];
	hg_spill_format_set(format, spill->next_scales);
	hg_spill_size_pages(spill);
}

void
hg_spill_write(HgSpill *spill, const HgSpillKeys *keys, const HgBatch *batch, const int *at,
			   const uint16 *which, int nrows)
{
	uint16 every[HG_BATCH_ROWS];

	for (int i = 0; which == NULL && i < nrows; i++)
		every[i] = (uint16) i;
	if (which == NULL)
		which = every;
	hg_spill_set_format(spill, batch, at);
	for (int done = 0; done < nrows;)
		done += hg_spill_write_some(spill, keys, batch, at, which + done, nrows - done);
}

void
hg_spill_publish(HgSpill *spill)
{
	hg_spill_close_pages(spill);
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

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

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

void
hg_spill_rewind(HgSpill *spill, int partition)
{
	hg_spill_trim(spill);
	hg_spill_close_pages(spill);
	if (spill->participants.shared != NULL)
	{
		/* from the first process's file on */
		hg_spill_close(spill, partition);
		spill->next_process = 0;
	}
	else if (spill->files[partition] != NULL &&
			 BufFileSeek(spill->files[partition], 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not rewind the temporary file of a join or of groups")));
	spill->next.nrows = 0;
}

/* Reads the header of the next page of a partition, unless it was read.  False: the end. */
static bool
hg_spill_read_header(HgSpill *spill, int partition)
{
	int ncolumns = spill->format.ncolumns;

	while (spill->next.nrows == 0)
	{
		if (spill->files[partition] != NULL &&
			BufFileReadMaybeEOF(spill->files[partition], &spill->next, sizeof(spill->next), true) >
				0)
			BufFileReadExact(spill->files[partition], spill->next_scales, ncolumns * sizeof(int8));
		else if (!hg_spill_next_file(spill, partition))
			return false;
	}
	return true;
}

/* Returns true if the next page has the current format. */
static bool
hg_spill_is_format(const HgSpill *spill)
{
	return memcmp(spill->format.scales, spill->next_scales,
				  spill->format.ncolumns * sizeof(int8)) == 0;
}

bool
hg_spill_read(HgSpill *spill, int partition, HgBatch *batch, HgSpillKeys *keys)
{
	HgSpillFormat *format = &spill->format;
	Size used = 0;

	batch->nrows = 0;
	memset(batch->has_nulls, false, batch->ncolumns * sizeof(bool));
	while (hg_spill_read_header(spill, partition))
	{
		HgSpillHeader header = spill->next;
		BufFile *file = spill->files[partition];
		Size others_at;
		Size end;

		if (!hg_spill_is_format(spill))
		{
			if (batch->nrows > 0)
				break;
			hg_spill_format_set(format, spill->next_scales);
		}
		others_at = used + MAXALIGN(header.nrows * format->row_bytes);
		end = others_at + MAXALIGN(header.other_bytes);
		/* a larger page is a batch of its own, so that the buffer does not move */
		if (batch->nrows > 0 &&
			(batch->nrows + header.nrows > HG_BATCH_ROWS || end > HG_SPILL_BATCH_BYTES))
			break;
		hg_spill_reserve(spill, Max(end, HG_SPILL_BATCH_BYTES));
		BufFileReadExact(file, spill->buffer + used, header.nrows * format->row_bytes);
		if (header.other_bytes > 0)
			BufFileReadExact(file, spill->buffer + others_at, header.other_bytes);
		hg_spill_take_rows(format, spill->buffer + used, (int) header.nrows,
						   spill->buffer + others_at, batch, keys);
		spill->next.nrows = 0;
		used = end;
	}
	return batch->nrows > 0;
}

void
hg_spill_drop(HgSpill *spill, int partition)
{
	hg_spill_trim(spill);
	hg_spill_discard_page(spill, partition);
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
	{
		hg_spill_discard_page(spill, partition);
		hg_spill_close(spill, partition);
	}
	hg_charge_set(&spill->charge, 0);
	hg_spill_format_free(&spill->format);
	if (spill->participants.shared != NULL)
		pfree(unconstify(char *, spill->participants.name));
	pfree(spill->files);
	pfree(spill->pages);
	pfree(spill->rows);
	pfree(spill->next_scales);
	pfree(spill->buffer);
	pfree(spill);
}
