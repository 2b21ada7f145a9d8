/*-------------------------------------------------------------------------
 *
 * hg_table_base.c
 *	  Memory and polls of the CPU's hash tables, from their host.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_base.h"

HgStatus
hg_table_alloc(HgTable *table, uint64_t bytes, void **ptr, HgError *error)
{
	HgStatus status =
		hg_host_memory_check(table->spec.memory_limit, table->held_bytes, bytes, error);

	*ptr = NULL;
	if (status == HG_OK)
		status = hg_host_memory_alloc(table->host, bytes, ptr, error);
	if (status != HG_OK)
		return status;
	table->held_bytes += bytes;
	if (table->held_bytes > table->peak_bytes)
		table->peak_bytes = table->held_bytes;
	return HG_OK;
}

void
hg_table_free(HgTable *table, void *ptr, uint64_t bytes)
{
	hg_host_memory_free(table->host, ptr, bytes);
	if (ptr != NULL)
		table->held_bytes -= bytes;
}

HgStatus
hg_table_poll(HgTable *table, HgError *error)
{
	return hg_host_check_cancel(table->host, error);
}

HgStatus
hg_table_fill(HgTable *table, void *ptr, int byte, uint64_t bytes, HgError *error)
{
	uint64_t step;

	for (uint64_t i = 0; i < bytes; i += step)
	{
		HG_TRY(hg_table_poll(table, error));
		step = bytes - i < HG_TABLE_CHUNK_BYTES ? bytes - i : HG_TABLE_CHUNK_BYTES;
		memset((char *) ptr + i, byte, step);
	}
	return HG_OK;
}

/* ---------------------------------------------------------------------
 * Reads a batch as words and rows, and looks up whether a batch erases a row
 *
 * If all slots of a table are read to erase rows, each row is looked up in the batch. The batch
 * stays in place: the lookup table holds only ordinals of its rows, hashed by key or, if pairs are
 * erased, by key and row, so that many rows of one key do no harm.
 * ---------------------------------------------------------------------
 */

/* Returns the word of a batch's key. */
HG_TABLE_INLINE uint64_t
batch_word(const HgTableBatch *batch, uint64_t i, uint32_t width)
{
	return width == 4 ? hg_table_word(((const uint32_t *) batch->keys)[i], 4)
					  : hg_table_word(((const uint64_t *) batch->keys)[i], 8);
}

static inline uint32_t
batch_row(const HgTableBatch *batch, uint64_t i)
{
	return batch->rows != NULL ? batch->rows[i] : batch->first_row + (uint32_t) i;
}

HgStatus
hg_source_next(HgTable *table, HgTableSource *source, uint64_t *words, uint32_t *rows,
			   uint32_t *count, HgError *error)
{
	const HgTableBatch *batch = source->batch;
	uint32_t width = table->spec.key_width;
	bool is_set = table->spec.content == HG_TABLE_SET;
	bool has_rows = table->spec.content == HG_TABLE_MAP || table->spec.content == HG_TABLE_MULTIMAP;

	*count = 0;
	while (*count == 0 && source->at < batch->count)
	{
		uint64_t left = batch->count - source->at;
		uint32_t step = left < HG_TABLE_CHUNK ? (uint32_t) left : HG_TABLE_CHUNK;

		HG_TRY(hg_table_poll(table, error));
		for (uint32_t i = 0; i < step; i++)
		{
			uint64_t word = batch_word(batch, source->at + i, width);

			if (is_set && HG_TABLE_UNLIKELY(word >= hg_table_marker(1, width)))
			{
				source->marked[word == hg_table_marker(1, width)] = true;
				continue;
			}
			words[*count] = word;
			rows[*count] = has_rows ? batch_row(batch, source->at + i) : 0;
			++*count;
		}
		source->at += step;
	}
	return HG_OK;
}

/* Returns log2 of the slots for so many rows: at least twice as many. */
static uint32_t
slots_log2(uint64_t rows)
{
	uint32_t log2 = 4;

	while ((UINT64_C(1) << log2) < 2 * rows)
		log2++;
	return log2;
}

uint64_t
hg_erased_bytes(uint64_t rows)
{
	return (UINT64_C(1) << slots_log2(rows)) * sizeof(uint32_t);
}

/* Returns the slot of an erased row, or an empty slot if the row is not erased. */
static uint32_t *
erased_slot(const HgTableErased *erased, uint64_t word, uint32_t row)
{
	uint64_t mask = (UINT64_C(1) << erased->log2) - 1;
	uint64_t at = hg_mix64(erased->by_key ? word : word + ((uint64_t) row << 32 | row)) & mask;

	for (;; at = (at + 1) & mask)
	{
		uint32_t number = erased->slots[at];

		if (number == HG_NO_ROW || (batch_word(erased->batch, number, erased->width) == word &&
									(erased->by_key || batch_row(erased->batch, number) == row)))
			return &erased->slots[at];
	}
}

HgStatus
hg_erased_create(HgTable *table, HgTableErased *erased, HgTableSource *source, HgError *error)
{
	const HgTableBatch *batch = source->batch;
	uint64_t count = batch->count - source->at;
	HgStatus status;
	void *memory;

	erased->batch = batch;
	erased->width = table->spec.key_width;
	erased->by_key = batch->by_key || table->spec.content == HG_TABLE_SET;
	erased->log2 = slots_log2(count);
	status = hg_table_alloc(table, hg_erased_bytes(count), &memory, error);
	erased->slots = memory;
	if (status == HG_OK)
		status = hg_table_fill(table, memory, 0xff, hg_erased_bytes(count), error);
	while (status == HG_OK && source->at < batch->count)
	{
		uint64_t word = batch_word(batch, source->at, erased->width);
		uint32_t *slot = erased_slot(erased, word, batch_row(batch, source->at));

		if (*slot == HG_NO_ROW)
			*slot = (uint32_t) source->at;
		if (table->spec.content == HG_TABLE_SET && word >= hg_table_marker(1, erased->width))
			source->marked[word == hg_table_marker(1, erased->width)] = true;
		source->at++;
		status = hg_table_work(table, 1, error);
	}
	if (status != HG_OK)
		hg_erased_free(table, erased);
	return status;
}

void
hg_erased_free(HgTable *table, HgTableErased *erased)
{
	hg_table_free(table, erased->slots, (UINT64_C(1) << erased->log2) * sizeof(uint32_t));
	erased->slots = NULL;
}

bool
hg_erased_has(const HgTableErased *erased, uint64_t word, uint32_t row)
{
	return *erased_slot(erased, word, row) != HG_NO_ROW;
}

/* ---------------------------------------------------------------------
 * The input of a rebuild: the rows of an older table that are not erased, then those of a batch
 *
 * The order decides which of equal keys come first: those of the table, and then the batch's in
 * its order.
 * ---------------------------------------------------------------------
 */

void
hg_feed_init(HgTableFeed *feed, HgTable *old, HgTableErased *erased, HgTableSource *in)
{
	feed->old = old;
	feed->erased = erased;
	feed->in = in;
	feed->batch_from = in != NULL ? in->at : 0;
	hg_feed_rewind(feed);
}

void
hg_feed_rewind(HgTableFeed *feed)
{
	feed->cursor = 0;
	feed->old_ended = feed->old == NULL;
	feed->old_rows = 0;
	feed->erased_rows = 0;
	if (feed->in != NULL)
		feed->in->at = feed->batch_from;
}

uint64_t
hg_feed_most(const HgTableFeed *feed)
{
	return (feed->old != NULL ? feed->old->rows : 0) +
		   (feed->in != NULL ? feed->in->batch->count - feed->batch_from : 0);
}

HgStatus
hg_feed_next(HgTable *table, HgTableFeed *feed, uint64_t *words, uint32_t *rows, uint32_t *count,
			 HgError *error)
{
	*count = 0;
	while (!feed->old_ended && *count == 0)
	{
		uint32_t found;
		uint32_t kept = 0;

		HG_TRY(hg_table_poll(table, error));
		found = feed->old->calls->scan(feed->old, &feed->cursor, words, rows, &feed->old_ended);
		if (feed->erased != NULL)
		{
			for (uint32_t i = 0; i < found; i++)
				if (!hg_erased_has(feed->erased, words[i], rows[i]))
				{
					words[kept] = words[i];
					rows[kept++] = rows[i];
				}
		}
		else
			kept = found;
		feed->old_rows += kept;
		feed->erased_rows += found - kept;
		*count = kept;
	}
	if (*count > 0 || feed->in == NULL)
		return HG_OK;
	return hg_source_next(table, feed->in, words, rows, count, error);
}
