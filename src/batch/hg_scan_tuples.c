/*-------------------------------------------------------------------------
 *
 * hg_scan_tuples.c
 *	  Extracts columns from heap tuples.
 *
 * Attributes of a tuple are consecutive, without those that are NULL.  If all tuples of a page
 * have no NULL and every needed attribute, an attribute behind only fixed-width ones has the same
 * offset in each of them.  Such columns are filled one at a time, by loops without branches.
 * Attributes behind them are found by walking from the last fixed offset to the last needed
 * attribute.  A tuple with NULLs has fixed offsets up to the first NULL, and is walked from there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/tupmacs.h"

#include "batch/hg_scan_tuples.h"
#include "batch/hg_values.h"

HgTupleLayout *
hg_tuple_layout_create(TupleDesc desc, int nattnos, const AttrNumber *attnos)
{
	HgTupleLayout *layout = palloc0(sizeof(HgTupleLayout));
	Size offset = 0;

	for (int c = 0; c < nattnos; c++)
		layout->natts = Max(layout->natts, attnos[c]);
	layout->attributes = palloc0(Max(layout->natts, 1) * sizeof(HgTupleAttribute));
	layout->offsets = palloc0(Max(layout->natts, 1) * sizeof(Size));
	layout->fixed_used = palloc0(Max(layout->natts, 1) * sizeof(int));
	for (int a = 0; a < layout->natts; a++)
	{
		Form_pg_attribute form = TupleDescAttr(desc, a);
		HgTupleAttribute *att = &layout->attributes[a];

		att->attlen = form->attlen;
		att->attbyval = form->attbyval;
		att->alignby = att_align_nominal(1, form->attalign);
		att->column = -1;
	}
	for (int c = 0; c < nattnos; c++)
	{
		HgTupleAttribute *att = &layout->attributes[attnos[c] - 1];

		Assert(att->column < 0);
		att->column = c;
		att->missing_value = getmissingattr(desc, attnos[c], &att->missing_null);
		if (!att->attbyval)
			layout->by_reference = true;
		if (!att->attbyval && !att->missing_null)
			layout->missing_bytes += att_addlength_datum((Size) 0, att->attlen, att->missing_value);
	}
	while (layout->nfixed < layout->natts && layout->attributes[layout->nfixed].attlen > 0)
	{
		HgTupleAttribute *att = &layout->attributes[layout->nfixed];

		offset = TYPEALIGN(att->alignby, offset);
		layout->offsets[layout->nfixed] = offset;
		offset += att->attlen;
		if (att->column >= 0)
			layout->fixed_used[layout->nfixed_used++] = layout->nfixed;
		layout->nfixed++;
	}
	return layout;
}

/* Returns the end of the first a attributes, all of them fixed-width and not NULL. */
static inline Size
hg_tuple_layout_end(const HgTupleLayout *layout, int a)
{
	return a == 0 ? 0 : layout->offsets[a - 1] + layout->attributes[a - 1].attlen;
}

/* Returns the offset of an attribute whose predecessor ends at offset. */
static inline Size
hg_tuple_align(const HgTupleAttribute *att, const char *data, Size offset)
{
	/* a value with a one-byte header is not aligned: see att_align_pointer() */
	if (att->attlen == -1 && VARATT_NOT_PAD_BYTE(data + offset))
		return offset;
	return TYPEALIGN(att->alignby, offset);
}

static inline Datum
hg_tuple_fetch(const HgTupleAttribute *att, const char *pointer)
{
	return fetch_att(unconstify(char *, pointer), att->attbyval, att->attlen);
}

/* Fills a column of values at one offset in each tuple. */
static inline void
hg_tuple_add_fixed(const HgTupleAttribute *att, Size offset, int ntuples, char *const *data,
				   Datum *values)
{
	if (!att->attbyval)
	{
		for (int i = 0; i < ntuples; i++)
			values[i] = PointerGetDatum(data[i] + offset);
		return;
	}
	hg_values_fetch(att->attlen, data, offset, ntuples, values);
}

/* Fills columns of tuples without NULLs and with all needed attributes. */
static void
hg_tuple_add_regular(const HgTupleLayout *layout, int ntuples, char *const *data, HgBatch *batch)
{
	int start = batch->nrows;
	Size fixed_end;

	for (int k = 0; k < layout->nfixed_used; k++)
	{
		int a = layout->fixed_used[k];
		const HgTupleAttribute *att = &layout->attributes[a];

		hg_tuple_add_fixed(att, layout->offsets[a], ntuples, data,
						   batch->values[att->column] + start);
	}
	if (hg_tuple_layout_is_fixed(layout))
		return;
	fixed_end = hg_tuple_layout_end(layout, layout->nfixed);
	for (int i = 0; i < ntuples; i++)
	{
		Size offset = fixed_end;

		for (int a = layout->nfixed;;)
		{
			const HgTupleAttribute *att = &layout->attributes[a];

			offset = hg_tuple_align(att, data[i], offset);
			if (att->column >= 0)
				batch->values[att->column][start + i] = hg_tuple_fetch(att, data[i] + offset);
			if (++a == layout->natts)
				break;
			offset = att_addlength_pointer(offset, att->attlen, data[i] + offset);
		}
	}
}

/* Returns the number of a tuple's attributes before the first NULL, up to natts. */
static inline int
hg_tuple_first_null(HeapTupleHeader tuple, int natts)
{
	int a = 0;

	if ((tuple->t_infomask & HEAP_HASNULL) == 0)
		return natts;
	while (a + 8 <= natts && tuple->t_bits[a / 8] == 0xff)
		a += 8;
	while (a < natts && !att_isnull(a, tuple->t_bits))
		a++;
	return a;
}

static inline void
hg_tuple_set(HgBatch *batch, int column, int row, Datum value, bool isnull)
{
	batch->values[column][row] = value;
	batch->nulls[column][row] = isnull;
	if (isnull)
		batch->has_nulls[column] = true;
}

/* Fills columns of any tuple, and sets all NULL flags. */
static void
hg_tuple_add_one(const HgTupleLayout *layout, HeapTupleHeader tuple, HgBatch *batch, int row)
{
	char *data = (char *) tuple + tuple->t_hoff;
	int natts = Min(HeapTupleHeaderGetNatts(tuple), layout->natts);
	int first_null = hg_tuple_first_null(tuple, natts);
	int a = Min(first_null, layout->nfixed);
	Size offset = hg_tuple_layout_end(layout, a);

	for (int k = 0; k < layout->nfixed_used && layout->fixed_used[k] < a; k++)
	{
		int f = layout->fixed_used[k];
		const HgTupleAttribute *att = &layout->attributes[f];

		hg_tuple_set(batch, att->column, row, hg_tuple_fetch(att, data + layout->offsets[f]),
					 false);
	}
	for (; a < natts; a++)
	{
		const HgTupleAttribute *att = &layout->attributes[a];

		if (a >= first_null && att_isnull(a, tuple->t_bits))
		{
			if (att->column >= 0)
				hg_tuple_set(batch, att->column, row, (Datum) 0, true);
			continue;
		}
		offset = hg_tuple_align(att, data, offset);
		if (att->column >= 0)
			hg_tuple_set(batch, att->column, row, hg_tuple_fetch(att, data + offset), false);
		offset = att_addlength_pointer(offset, att->attlen, data + offset);
	}
	for (; a < layout->natts; a++)
	{
		const HgTupleAttribute *att = &layout->attributes[a];

		if (att->column >= 0)
			hg_tuple_set(batch, att->column, row, att->missing_value, att->missing_null);
	}
}

void
hg_tuple_layout_add(const HgTupleLayout *layout, int ntuples, const HeapTupleHeader *tuples,
					HgBatch *batch)
{
	char *data[HG_BATCH_ROWS];
	bool regular = true;

	Assert(batch->nrows + ntuples <= HG_BATCH_ROWS);
	if (layout->natts > 0)
		for (int i = 0; i < ntuples; i++)
		{
			HeapTupleHeader tuple = tuples[i];

			data[i] = (char *) tuple + tuple->t_hoff;
			regular &= (tuple->t_infomask & HEAP_HASNULL) == 0 &&
					   HeapTupleHeaderGetNatts(tuple) >= layout->natts;
		}
	for (int c = 0; c < batch->ncolumns; c++)
	{
		/* rows without NULLs have no flags yet */
		if (!regular && !batch->has_nulls[c])
			memset(batch->nulls[c], 0, batch->nrows * sizeof(bool));
		else if (regular && batch->has_nulls[c])
			memset(batch->nulls[c] + batch->nrows, 0, ntuples * sizeof(bool));
	}
	if (regular)
		hg_tuple_add_regular(layout, ntuples, data, batch);
	else
		for (int i = 0; i < ntuples; i++)
			hg_tuple_add_one(layout, tuples[i], batch, batch->nrows + i);
	batch->nrows += ntuples;
}
