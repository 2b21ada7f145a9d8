/*-------------------------------------------------------------------------
 *
 * hg_table_erased.c
 *	  Reads a batch as words and rows, and looks up whether a batch erases a row.
 *
 * If all slots of a table are read to erase rows, each row is looked up in the batch. The batch
 * stays in place: the lookup table holds only ordinals of its rows, hashed by key or, if pairs are
 * erased, by key and row, so that many rows of one key do no harm.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_erased.h"

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
		HgStatus status = hg_table_poll(table, error);

		if (status != HG_OK)
			return status;
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
