/*-------------------------------------------------------------------------
 *
 * hg_aggregate_small.c
 *	  Small-domain groups: rows of a batch that have few different values.
 *
 * Rows of a group mostly have identical Datums, by value or as pointers into a dictionary.  If a
 * batch has few different ones, groups are looked up once per kind instead of once per row.
 * Functions then process the rows of a kind together, with a state that stays in registers.  Kinds
 * are about Datums and not about values, so two kinds can be of one group.
 *
 * If there are many kinds, the first rows show it, and cost no more than that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate_small.h"

/* Slots in the table of kinds, a power of two; at most a quarter of them is used. */
#define HG_SMALL_SLOTS (4 * HG_SMALL_KINDS)

/* Odd, without a pattern in its bits; the highest bits of the product are the slot. */
#define HG_SMALL_MIXER UINT64CONST(0x9e3779b97f4a7c15)
#define HG_SMALL_SHIFT (64 - 6)

StaticAssertDecl(HG_SMALL_SLOTS == 1 << 6, "a shift leaves a place in the table of kinds");

/* Maximal number of columns to compare. */
#define HG_SMALL_COLUMNS 8

/* The arrays of the columns, copied for fast access. */
typedef struct HgSmallColumns
{
	const Datum *values[HG_SMALL_COLUMNS];
	const bool *nulls[HG_SMALL_COLUMNS]; /* NULL if the column has none */
} HgSmallColumns;

/* Returns a row's Datum in a column, or 0 for a NULL; flags distinguish NULLs. */
static pg_attribute_always_inline uint64
hg_small_bits(const HgSmallColumns *columns, int i, int row, bool nulls)
{
	return nulls && columns->nulls[i] != NULL && columns->nulls[i][row]
			   ? 0
			   : (uint64) columns->values[i][row];
}

static pg_attribute_always_inline bool
hg_small_equal(const HgSmallColumns *columns, int ncolumns, int row, int other, bool nulls)
{
	for (int i = 0; i < ncolumns; i++)
		if (hg_small_bits(columns, i, row, nulls) != hg_small_bits(columns, i, other, nulls) ||
			(nulls && columns->nulls[i] != NULL &&
			 columns->nulls[i][row] != columns->nulls[i][other]))
			return false;
	return true;
}

/* Sets kinds and first; false: too many kinds.  ncolumns and nulls are constants. */
static pg_attribute_always_inline bool
hg_small_number(HgSmallDomain *small, int nrows, HgSmallColumns columns, int ncolumns, bool nulls)
{
	uint8 table[HG_SMALL_SLOTS] = {0}; /* kind + 1; 0: free */
	uint16 first[HG_SMALL_KINDS];
	int nkinds = 0;

	for (int row = 0; row < nrows; row++)
	{
		uint64 hash = 0;
		uint32 slot;
		int kind;

		for (int i = 0; i < ncolumns; i++)
			hash = (hash ^ hg_small_bits(&columns, i, row, nulls)) * HG_SMALL_MIXER;
		for (slot = (uint32) (hash >> HG_SMALL_SHIFT);; slot = (slot + 1) % HG_SMALL_SLOTS)
		{
			kind = (int) table[slot] - 1;
			if (kind < 0 || hg_small_equal(&columns, ncolumns, row, first[kind], nulls))
				break;
		}
		if (kind < 0)
		{
			if (nkinds == HG_SMALL_KINDS)
				return false;
			kind = nkinds++;
			table[slot] = (uint8) (kind + 1);
			first[kind] = (uint16) row;
		}
		small->kinds[row] = (uint8) kind;
	}
	small->nkinds = nkinds;
	memcpy(small->first, first, nkinds * sizeof(uint16));
	return true;
}

/* Chooses the loop for the number of columns. */
static bool
hg_small_number_any(HgSmallDomain *small, const HgBatch *batch, int ncolumns, const int *numbers)
{
	HgSmallColumns columns;
	bool nulls = false;

	for (int i = 0; i < ncolumns; i++)
	{
		columns.values[i] = batch->values[numbers[i]];
		columns.nulls[i] = batch->has_nulls[numbers[i]] ? batch->nulls[numbers[i]] : NULL;
		nulls |= batch->has_nulls[numbers[i]];
	}
	if (nulls)
		return hg_small_number(small, batch->nrows, columns, ncolumns, true);
	if (ncolumns == 1)
		return hg_small_number(small, batch->nrows, columns, 1, false);
	if (ncolumns == 2)
		return hg_small_number(small, batch->nrows, columns, 2, false);
	return hg_small_number(small, batch->nrows, columns, ncolumns, false);
}

bool
hg_small_find(HgSmallDomain *small, const HgBatch *batch, int ncolumns, const int *columns)
{
	uint16 *next[HG_SMALL_KINDS];
	int counts[HG_SMALL_KINDS] = {0};
	uint16 *end = small->rows;

	if (ncolumns > HG_SMALL_COLUMNS || !hg_small_number_any(small, batch, ncolumns, columns))
		return false;
	if (small->nkinds == 1)
	{
		small->members[0] = NULL;
		small->counts[0] = batch->nrows;
		return true;
	}
	for (int row = 0; row < batch->nrows; row++)
		counts[small->kinds[row]]++;
	for (int kind = 0; kind < small->nkinds; kind++)
	{
		small->members[kind] = next[kind] = end;
		small->counts[kind] = counts[kind];
		end += counts[kind];
	}
	for (int row = 0; row < batch->nrows; row++)
		*next[small->kinds[row]]++ = (uint16) row;
	return true;
}

void
hg_small_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same)
{
	if (batch->nrows == 0)
		return;
	memset(same, true, batch->nrows * sizeof(bool));
	same[0] = false;
	for (int c = 0; c < ncolumns; c++)
	{
		const Datum *values = batch->values[columns[c]];
		const bool *nulls = batch->nulls[columns[c]];

		if (!batch->has_nulls[columns[c]])
			for (int i = 1; i < batch->nrows; i++)
				same[i] &= values[i] == values[i - 1];
		else
			for (int i = 1; i < batch->nrows; i++)
				same[i] &= nulls[i] == nulls[i - 1] && (nulls[i] || values[i] == values[i - 1]);
	}
}
