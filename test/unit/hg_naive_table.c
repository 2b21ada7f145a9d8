/*-------------------------------------------------------------------------
 *
 * hg_naive_table.c
 *	  What a table must hold, told by the rows of each key that a test uses.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_naive_table.h"

#include <stdlib.h>
#include <string.h>

#include "test_data.h"

void
hg_naive_create(HgNaiveTable *table, HgTableContent content, size_t keys)
{
	table->content = content;
	table->keys = keys;
	table->rows = test_malloc(keys * sizeof(HgNaiveRows));
	memset(table->rows, 0, keys * sizeof(HgNaiveRows));
	table->count = 0;
}

void
hg_naive_destroy(HgNaiveTable *table)
{
	for (size_t key = 0; key < table->keys; key++)
		free(table->rows[key].rows);
	free(table->rows);
}

uint64_t
hg_naive_insert(HgNaiveTable *table, size_t key, uint32_t row)
{
	HgNaiveRows *rows = &table->rows[key];

	if (table->content != HG_TABLE_MULTIMAP && rows->count > 0)
		return 0;
	if (rows->count == rows->capacity)
	{
		uint32_t *more = test_malloc((2 * rows->capacity + 4) * sizeof(uint32_t));

		if (rows->count > 0)
			memcpy(more, rows->rows, rows->count * sizeof(uint32_t));
		free(rows->rows);
		rows->rows = more;
		rows->capacity = 2 * rows->capacity + 4;
	}
	if (table->content == HG_TABLE_SET || table->content == HG_TABLE_NUMBERING)
		row = 0;
	rows->rows[rows->count++] = row;
	table->count++;
	return 1;
}

uint64_t
hg_naive_erase_pair(HgNaiveTable *table, size_t key, uint32_t row)
{
	HgNaiveRows *rows = &table->rows[key];
	size_t kept = 0;
	uint64_t erased;

	if (table->content == HG_TABLE_SET)
		return hg_naive_erase_key(table, key);
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i] != row)
			rows->rows[kept++] = rows->rows[i];
	erased = rows->count - kept;
	rows->count = kept;
	table->count -= erased;
	return erased;
}

uint64_t
hg_naive_erase_key(HgNaiveTable *table, size_t key)
{
	uint64_t erased = table->rows[key].count;

	table->rows[key].count = 0;
	table->count -= erased;
	return erased;
}
