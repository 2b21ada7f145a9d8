/*-------------------------------------------------------------------------
 *
 * hg_resident_columns.c
 *	  Fills columns of batches from the arrays of cached columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_resident_columns.h"

struct HgResidentColumns
{
	int ncolumns;
	const HgResidentSource **sources; /* [ncolumns] NULL for a column that is left alone */
	/* [ncolumns] memory for values that must be decoded; NULL if none is needed. */
	char **rooms;
};

HgResidentColumns *
hg_resident_columns_create(const HgResidentScan *resident, int ncolumns, const AttrNumber *attnos)
{
	HgResidentColumns *columns = palloc0(sizeof(HgResidentColumns));

	columns->ncolumns = ncolumns;
	columns->sources = palloc(Max(ncolumns, 1) * sizeof(HgResidentSource *));
	columns->rooms = palloc0(Max(ncolumns, 1) * sizeof(char *));
	for (int c = 0; c < ncolumns; c++)
	{
		Size room;

		columns->sources[c] = NULL;
		if (attnos[c] == 0)
			continue;
		columns->sources[c] = hg_resident_scan_source(resident, attnos[c]);
		room = hg_resident_values_room(&columns->sources[c]->column);
		if (room > 0)
			columns->rooms[c] = palloc(room);
	}
	return columns;
}

/* Appends NULL flags to those of a batch's column; sets *has_nulls if there may be NULLs. */
static void
hg_resident_add_nulls(const HgSegmentArray *array, uint32 first, const uint16 *which, int n,
					  int start, bool *nulls, bool *has_nulls)
{
	if (array->valid == NULL)
	{
		if (*has_nulls)
			memset(nulls + start, 0, n * sizeof(bool));
		return;
	}
	/* the flags of the rows before have not been set */
	if (!*has_nulls)
		memset(nulls, 0, start * sizeof(bool));
	for (int i = 0; i < n; i++)
	{
		uint32 row = first + (which != NULL ? which[i] : i);

		nulls[start + i] = hg_segment_is_null(array, row);
	}
	*has_nulls = true;
}

bool
hg_resident_columns_join(const HgResidentColumns *columns, const HgBatch *batch)
{
	if (batch->nrows == 0)
		return true;
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgSegmentForm *form = &columns->sources[c]->array.form;
		int scale = form->encoding == HG_ENCODING_SCALED ? form->scale : -1;

		if (batch->takes_scaled[c] && batch->scales[c] != scale)
			return false;
	}
	return true;
}

void
hg_resident_columns_add(HgResidentColumns *columns, uint32 first, const uint16 *which, int n,
						HgBatch *batch)
{
	int start = batch->nrows;

	Assert(start + n <= HG_BATCH_ROWS);
	if (n == 0)
		return;
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source;
		const HgSegmentArray *array;
		Size used;

		if (columns->sources[c] == NULL)
			continue;
		source = columns->sources[c];
		array = &source->array;
		used = hg_resident_values_room(&source->column) / HG_BATCH_ROWS * start;
		hg_resident_add_nulls(array, first, which, n, start, batch->nulls[c], &batch->has_nulls[c]);
		if (batch->takes_scaled[c] && array->form.encoding == HG_ENCODING_SCALED)
		{
			batch->scales[c] = array->form.scale;
			hg_resident_values_scaled(array, first, which, n, batch->values[c] + start);
		}
		else if (batch->takes_codes[c] && array->form.encoding == HG_ENCODING_DICTIONARY)
		{
			Assert(start == 0);
			batch->dictionaries[c] = &source->dictionary;
			hg_resident_values_codes(array, first, which, n, batch->values[c]);
		}
		else
			hg_resident_values_fetch(&source->column, array,
									 columns->rooms[c] != NULL ? columns->rooms[c] + used : NULL,
									 first, which, n, batch->values[c] + start);
	}
	batch->nrows += n;
}

int
hg_resident_columns_fit(const HgResidentColumns *columns, uint32 first, int n, Size *room)
{
	for (;;)
	{
		Size bytes = 0;

		for (int c = 0; c < columns->ncolumns; c++)
		{
			const HgResidentSource *source = columns->sources[c];

			bytes += hg_resident_values_bytes(&source->column, &source->array, first, (uint32) n);
		}
		if (bytes <= *room || n == 1)
		{
			*room -= Min(bytes, *room);
			return n;
		}
		n /= 2;
	}
}

bool
hg_resident_columns_run(const HgResidentColumns *columns, uint32 first, const void **values)
{
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source;

		if (columns->sources[c] == NULL)
			continue;
		source = columns->sources[c];
		if (!source->column.by_value || source->array.valid != NULL)
			return false;
		values[c] = source->array.values + (Size) first * source->array.width;
	}
	return true;
}

void
hg_resident_columns_arrays(const HgResidentColumns *columns, HgPredicateColumn *arrays)
{
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source = columns->sources[c];

		arrays[c] = (HgPredicateColumn){&source->array, &source->dictionary};
	}
}

void
hg_resident_columns_bounds(const HgResidentColumns *columns, HgValueBounds *bounds)
{
	for (int c = 0; c < columns->ncolumns; c++)
	{
		const HgResidentSource *source = columns->sources[c];
		const HgSegmentForm *form = &source->array.form;
		int128 unit = 1;

		if (form->encoding == HG_ENCODING_SCALED)
			for (int i = form->scale; i < HG_PREDICATE_SCALE; i++)
				unit *= 10;
		bounds[c].all_nulls = source->bounds->all_nulls;
		bounds[c].has_nulls = source->array.valid != NULL;
		bounds[c].known = source->bounds->known;
		bounds[c].low = source->bounds->least * unit;
		bounds[c].high = source->bounds->greatest * unit;
	}
}
