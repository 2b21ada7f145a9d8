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

#include "utils/memutils.h"

#include "backend/hg_memory.h"
#include "batch/hg_key_column.h"

/* Words in the first piece and in the largest ones. */
#define HG_FIRST_PIECE 1024
#define HG_LARGEST_PIECE (1024 * 1024)

HgKeyColumn *
hg_key_column_create(MemoryContext parent, uint32 width)
{
	HgKeyColumn *column = MemoryContextAllocZero(parent, sizeof(HgKeyColumn));

	column->context = AllocSetContextCreate(parent, "HashGraph keys", ALLOCSET_SMALL_SIZES);
	column->width = width;
	return column;
}

/* Make the piece after the current one the current one, allocating it if need be. */
static pg_noinline void
hg_key_column_grow(HgKeyColumn *column)
{
	int i = column->npieces;
	HgKeyPiece *piece;

	if (i > 0)
		column->pieces[i - 1].count = column->capacities[i - 1];
	if (i == column->max_pieces)
	{
		int max_pieces = Max(16, 2 * column->max_pieces);

		if (i == 0)
		{
			column->pieces = MemoryContextAlloc(column->context, max_pieces * sizeof(HgKeyPiece));
			column->capacities = MemoryContextAlloc(column->context, max_pieces * sizeof(uint64));
		}
		else
		{
			column->pieces = repalloc(column->pieces, max_pieces * sizeof(HgKeyPiece));
			column->capacities = repalloc(column->capacities, max_pieces * sizeof(uint64));
		}
		column->max_pieces = max_pieces;
	}
	piece = &column->pieces[i];
	if (i == column->allocated)
	{
		uint64 words =
			i == 0 ? HG_FIRST_PIECE : Min(2 * column->capacities[i - 1], HG_LARGEST_PIECE);
		void *block = hg_block_alloc(column->context, words * column->width);

		if (block == NULL)
			ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
							errdetail("Failed to allocate %zu bytes for the keys of a join.",
									  (size_t) (words * column->width))));
		piece->keys = block;
		column->capacities[i] = words;
		column->allocated++;
	}
	piece->count = 0;
	column->next = unconstify(void *, piece->keys);
	column->end = (char *) column->next + column->capacities[i] * column->width;
	column->npieces++;
}

void
hg_key_column_add(HgKeyColumn *column, const uint64 *words, const uint16 *which, int nwords)
{
	int i = 0;

	while (i < nwords)
	{
		int end;

		if (column->next == column->end)
			hg_key_column_grow(column);
		end = i + (int) Min((size_t) (nwords - i),
							((char *) column->end - (char *) column->next) / column->width);
		if (column->width == 4)
		{
			uint32 *to = column->next;

			for (; i < end; i++)
				*to++ = (uint32) words[which != NULL ? which[i] : i];
			column->next = to;
		}
		else
		{
			uint64 *to = column->next;

			for (; i < end; i++)
				*to++ = words[which != NULL ? which[i] : i];
			column->next = to;
		}
	}
	column->rows += nwords;
}

HgKeySet
hg_key_column_set(HgKeyColumn *column)
{
	HgKeySet set;

	if (column->npieces > 0)
	{
		HgKeyPiece *last = &column->pieces[column->npieces - 1];

		last->count = ((char *) column->next - (const char *) last->keys) / column->width;
	}
	set.pieces = column->pieces;
	set.npieces = column->npieces;
	set.rows = column->rows;
	return set;
}

void
hg_key_column_clear(HgKeyColumn *column)
{
	column->rows = 0;
	column->npieces = 0;
	column->next = column->end = NULL;
}

void
hg_key_column_release(HgKeyColumn *column)
{
	hg_key_column_clear(column);
	MemoryContextReset(column->context);
	column->pieces = NULL;
	column->capacities = NULL;
	column->allocated = column->max_pieces = 0;
}
