/*-------------------------------------------------------------------------
 *
 * hg_key_column.c
 *	  The key words of one side, in the order of its rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_key_column.h"
#include "engine/cpu/hg_cpu.h"
#include "hg_guc.h"

/* Words of the first block and of the largest ones. */
#define HG_FIRST_BLOCK 1024
#define HG_LARGEST_BLOCK (1024 * 1024)

uint64
hg_key_column_row_bytes(uint32 width)
{
	return width + (uint64) ceil(hg_cpu_row_bytes(width, hg_load_factor));
}

HgKeyColumn *
hg_key_column_create(MemoryContext parent, uint32 width, HgBudget *budget)
{
	HgKeyColumn *column = MemoryContextAllocZero(parent, sizeof(HgKeyColumn));

	column->context = AllocSetContextCreate(parent, "HashGraph keys", ALLOCSET_SMALL_SIZES);
	column->width = width;
	column->row_bytes = hg_key_column_row_bytes(width);
	column->charge.budget = budget;
	return column;
}

/* Makes room for one more element at the end of an array of the column. */
static void *
hg_key_column_extend(HgKeyColumn *column, void *array, int used, int *allocated, Size size)
{
	if (used < *allocated)
		return array;
	*allocated = Max(16, 2 * *allocated);
	if (array == NULL)
		return MemoryContextAlloc(column->context, *allocated * size);
	return repalloc_huge(array, *allocated * size);
}

/* Moves on to the next block, which may have to be allocated. */
static void
hg_key_column_next_block(HgKeyColumn *column)
{
	int i = column->blocks_used;

	if (i == column->nblocks)
	{
		uint64 capacity =
			i == 0 ? HG_FIRST_BLOCK : Min(2 * column->blocks[i - 1].capacity, HG_LARGEST_BLOCK);
		char *words;

		column->blocks = hg_key_column_extend(column, column->blocks, i, &column->max_blocks,
											  sizeof(HgKeyBlock));
		words = hg_block_alloc(column->context, capacity * column->width);
		if (words == NULL)
			ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
							errdetail("Failed to allocate %zu bytes for the keys of a join.",
									  (size_t) (capacity * column->width))));
		column->blocks[i].words = words;
		column->blocks[i].capacity = capacity;
		column->nblocks++;
	}
	column->next = column->blocks[i].words;
	column->end = column->next + column->blocks[i].capacity * column->width;
	column->blocks_used++;
}

/* Begins a piece with the next word. */
static void
hg_key_column_next_piece(HgKeyColumn *column, const char *words, uint64 first_row)
{
	HgKeyPiece *piece;

	column->pieces = hg_key_column_extend(column, column->pieces, column->npieces,
										  &column->max_pieces, sizeof(HgKeyPiece));
	piece = &column->pieces[column->npieces++];
	piece->keys = words;
	piece->count = 0;
	piece->first_row = first_row;
}

void
hg_key_column_add(HgKeyColumn *column, uint64 first_row, const uint64 *words, const uint16 *which,
				  int nwords)
{
	int i = 0;

	while (i < nwords)
	{
		bool new_block = column->next == column->end;
		int step;

		if (new_block)
			hg_key_column_next_block(column);
		if (new_block || column->external != NULL || first_row + i != column->next_row)
			hg_key_column_next_piece(column, column->next, first_row + i);
		column->external = NULL;
		step = (int) Min((size_t) (nwords - i), (column->end - column->next) / column->width);
		if (column->width == 4)
			for (int k = 0; k < step; k++)
				((uint32 *) column->next)[k] = (uint32) words[which != NULL ? which[i + k] : i + k];
		else
			for (int k = 0; k < step; k++)
				((uint64 *) column->next)[k] = words[which != NULL ? which[i + k] : i + k];
		i += step;
		column->next += (Size) step * column->width;
		column->pieces[column->npieces - 1].count += step;
		column->next_row = first_row + i;
	}
	column->rows += nwords;
	hg_charge_set(&column->charge, column->rows * column->row_bytes);
}

void
hg_key_column_add_external(HgKeyColumn *column, uint64 first_row, const void *words, int nwords)
{
	if (words != column->external || first_row != column->next_row)
		hg_key_column_next_piece(column, words, first_row);
	column->pieces[column->npieces - 1].count += nwords;
	column->external = (const char *) words + (Size) nwords * column->width;
	column->next_row = first_row + nwords;
	column->rows += nwords;
	hg_charge_set(&column->charge, column->rows * column->row_bytes);
}

HgKeySet
hg_key_column_set(const HgKeyColumn *column)
{
	return (HgKeySet){column->pieces, column->npieces, column->rows};
}

void
hg_key_column_clear(HgKeyColumn *column)
{
	column->rows = 0;
	column->npieces = 0;
	column->blocks_used = 0;
	column->next_row = 0;
	column->external = NULL;
	column->next = column->end = NULL;
	hg_charge_set(&column->charge, 0);
}

void
hg_key_column_release(HgKeyColumn *column)
{
	hg_key_column_clear(column);
	MemoryContextReset(column->context);
	column->pieces = NULL;
	column->blocks = NULL;
	column->nblocks = column->max_blocks = column->max_pieces = 0;
}
