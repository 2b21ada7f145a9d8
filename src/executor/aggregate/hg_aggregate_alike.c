/*-------------------------------------------------------------------------
 *
 * hg_aggregate_alike.c
 *	  Rows of a batch that are alike, where there are few kinds of them.
 *
 * Rows of the same group mostly have the very same Datums: values by value, and those by reference
 * that lie in a dictionary.  Where a batch has few different ones, groups are looked up once for
 * each kind instead of once for each row, and functions take the rows of a kind together, with
 * a state that stays in registers.  Nothing is said about values: two kinds may be of one group.
 *
 * Where there are many kinds that shows within the first rows, and costs no more than these.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "executor/aggregate/hg_aggregate_alike.h"

/* Places in the table of kinds, a power of two, of which a quarter is used at most. */
#define HG_ALIKE_PLACES (4 * HG_ALIKE_KINDS)

/* Odd, with no pattern in its bits; the highest ones of a product are those that count. */
#define HG_ALIKE_MIXER UINT64CONST(0x9e3779b97f4a7c15)
#define HG_ALIKE_SHIFT (64 - 6)

StaticAssertDecl(HG_ALIKE_PLACES == 1 << 6, "a shift leaves a place in the table of kinds");

/* Rows are not told apart by more columns. */
#define HG_ALIKE_COLUMNS 8

/* The columns, with what is looked at for each row where it is near. */
typedef struct HgAlikeColumns
{
	const Datum *values[HG_ALIKE_COLUMNS];
	const bool *nulls[HG_ALIKE_COLUMNS]; /* of such as have some */
} HgAlikeColumns;

/* What tells a row's value in a column from others; NULLs are told by the flags too. */
static pg_attribute_always_inline uint64
hg_alike_bits(const HgAlikeColumns *columns, int i, int row, bool nulls)
{
	return nulls && columns->nulls[i] != NULL && columns->nulls[i][row]
			   ? 0
			   : (uint64) columns->values[i][row];
}

static pg_attribute_always_inline bool
hg_alike_equal(const HgAlikeColumns *columns, int ncolumns, int row, int other, bool nulls)
{
	for (int i = 0; i < ncolumns; i++)
		if (hg_alike_bits(columns, i, row, nulls) != hg_alike_bits(columns, i, other, nulls) ||
			(nulls && columns->nulls[i] != NULL &&
			 columns->nulls[i][row] != columns->nulls[i][other]))
			return false;
	return true;
}

/* Fill in kinds, and first of each kind; ncolumns and nulls are constant. */
static pg_attribute_always_inline bool
hg_alike_number(HgAlike *alike, int nrows, HgAlikeColumns columns, int ncolumns, bool nulls)
{
	uint8 table[HG_ALIKE_PLACES] = {0}; /* kinds from 1; 0: free */
	uint16 first[HG_ALIKE_KINDS];
	int nkinds = 0;

	for (int row = 0; row < nrows; row++)
	{
		uint64 hash = 0;
		uint32 place;
		int kind;

		for (int i = 0; i < ncolumns; i++)
			hash = (hash ^ hg_alike_bits(&columns, i, row, nulls)) * HG_ALIKE_MIXER;
		for (place = (uint32) (hash >> HG_ALIKE_SHIFT);; place = (place + 1) % HG_ALIKE_PLACES)
		{
			kind = (int) table[place] - 1;
			if (kind < 0 || hg_alike_equal(&columns, ncolumns, row, first[kind], nulls))
				break;
		}
		if (kind < 0)
		{
			if (nkinds == HG_ALIKE_KINDS)
				return false;
			kind = nkinds++;
			table[place] = (uint8) (kind + 1);
			first[kind] = (uint16) row;
		}
		alike->kinds[row] = (uint8) kind;
	}
	alike->nkinds = nkinds;
	memcpy(alike->first, first, nkinds * sizeof(uint16));
	return true;
}

/* Choose the loop for so many columns. */
static bool
hg_alike_number_any(HgAlike *alike, const HgBatch *batch, int ncolumns, const int *numbers)
{
	HgAlikeColumns columns;
	bool nulls = false;

	for (int i = 0; i < ncolumns; i++)
	{
		columns.values[i] = batch->values[numbers[i]];
		columns.nulls[i] = batch->has_nulls[numbers[i]] ? batch->nulls[numbers[i]] : NULL;
		nulls |= batch->has_nulls[numbers[i]];
	}
	if (nulls)
		return hg_alike_number(alike, batch->nrows, columns, ncolumns, true);
	if (ncolumns == 1)
		return hg_alike_number(alike, batch->nrows, columns, 1, false);
	if (ncolumns == 2)
		return hg_alike_number(alike, batch->nrows, columns, 2, false);
	return hg_alike_number(alike, batch->nrows, columns, ncolumns, false);
}

bool
hg_alike_find(HgAlike *alike, const HgBatch *batch, int ncolumns, const int *columns)
{
	uint16 *next[HG_ALIKE_KINDS];
	int counts[HG_ALIKE_KINDS] = {0};
	uint16 *end = alike->rows;

	if (ncolumns > HG_ALIKE_COLUMNS || !hg_alike_number_any(alike, batch, ncolumns, columns))
		return false;
	if (alike->nkinds == 1)
	{
		alike->members[0] = NULL;
		alike->counts[0] = batch->nrows;
		return true;
	}
	for (int row = 0; row < batch->nrows; row++)
		counts[alike->kinds[row]]++;
	for (int kind = 0; kind < alike->nkinds; kind++)
	{
		alike->members[kind] = next[kind] = end;
		alike->counts[kind] = counts[kind];
		end += counts[kind];
	}
	for (int row = 0; row < batch->nrows; row++)
		*next[alike->kinds[row]]++ = (uint16) row;
	return true;
}

void
hg_alike_mark_same(const HgBatch *batch, int ncolumns, const int *columns, bool *same)
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
