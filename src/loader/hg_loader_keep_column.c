/*-------------------------------------------------------------------------
 *
 * hg_loader_keep_column.c
 *	  Columns of a graph's rows that a device is given.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "batch/hg_numeric_scaled.h"
#include "loader/hg_loader_keep_column.h"
#include "loader/hg_loader_keep_slices.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_codes.h"

/* Values that are put at a time, with bytes that tell NULL. */
#define HG_KEEP_ROWS 65536

/* ---------------------------------------------------------------------
 * Versions
 * ---------------------------------------------------------------------
 */

/* Let go of the versions. */
static void
hg_keep_cleanup(void *arg)
{
	HgKeepColumn *keep = arg;

	for (uint32 part = 0; part < keep->nparts; part++)
		if (DsaPointerIsValid(keep->versions[part]))
			hg_segment_version_release(keep->versions[part]);
	keep->nparts = 0;
}

void
hg_keep_column_unpin(HgKeepColumn *keep)
{
	hg_keep_cleanup(keep);
}

/* Pin the segment versions that a graph lists; false where one is not there any more. */
static bool
hg_keep_pin_versions(HgKeepColumn *keep, HgResidentRelation key, const HgPinnedGraph *graph,
					 AttrNumber number)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	const HgDirectoryColumn *column;
	const HgSegmentSlot *slots;
	bool all;

	if (entry == NULL)
		return false;
	column = hg_directory_find_column(entry, number);
	slots = hg_directory_slots(entry);
	all = column != NULL && column->planned.number == number;
	for (uint32 part = 0; part < graph->nsegments && all; part++)
	{
		const uint64 serial = graph->serials[part];

		keep->versions[part] = InvalidDsaPointer;
		keep->nparts = part + 1;
		if (serial == 0 || (serial & HG_GRAPH_PASSED) != 0)
			continue;
		all = part < entry->nslots && DsaPointerIsValid(slots[part].version) &&
			  hg_segment_version(slots[part].version)->serial == serial;
		if (!all)
			break;
		hg_segment_version_pin(hg_segment_version(slots[part].version));
		keep->versions[part] = slots[part].version;
	}
	if (all)
		keep->column = column->planned;
	hg_directory_unlock(entry);
	return all;
}

/*
 * The version of a part, and which of its columns it is: -1 where it has not got it.  NULL: the
 * graph has no row of the part.
 */
static const HgSegmentVersion *
hg_keep_version(const HgKeepColumn *keep, uint32 part, int *at)
{
	const HgSegmentVersion *version;

	if (!DsaPointerIsValid(keep->versions[part]))
		return NULL;
	version = hg_segment_version(keep->versions[part]);
	*at = hg_segment_find_column(version, &keep->column);
	return version;
}

/* ---------------------------------------------------------------------
 * Values as they are
 * ---------------------------------------------------------------------
 */

/* Are there engines with columns of the type's width? */
static bool
hg_keep_is_plain(const HgResidentColumn *column)
{
	return column->by_value && (column->length == 1 || column->length == 2 || column->length == 4 ||
								column->length == 8);
}

/* Bytes of what the device has of a value. */
static uint32
hg_keep_width(const HgResidentColumn *column)
{
	if (hg_keep_is_plain(column))
		return (uint32) column->length;
	return column->type == NUMERICOID ? HG_GRAPH_SCALED_WIDTH : HG_GRAPH_CODE_WIDTH;
}

/* Find out the shape of the column; false where a segment has it not, or otherwise. */
static bool
hg_keep_shape(HgKeepColumn *keep)
{
	HgKeptColumnShape *shape = &keep->spec.shape;
	const bool plain = hg_keep_is_plain(&keep->column);

	*shape = (HgKeptColumnShape){
		.width = hg_keep_width(&keep->column), .parts = Max(keep->nparts, 1), .stride = 1};
	for (uint32 part = 0; part < keep->nparts; part++)
	{
		int at;
		const HgSegmentVersion *version = hg_keep_version(keep, part, &at);

		if (version == NULL)
			continue;
		if (at < 0 || (plain && (version->columns[at].form.encoding != HG_ENCODING_FIXED ||
								 version->columns[at].form.width != keep->column.length)))
			return false;
		shape->stride = Max(shape->stride, version->nrows);
	}
	return true;
}

/* ---------------------------------------------------------------------
 * Numerics
 * ---------------------------------------------------------------------
 */

/* Have a display scale be that of all numerics; false where others have another one. */
static bool
hg_keep_scale(HgKeepColumn *keep, int scale)
{
	if (keep->scale < 0)
		keep->scale = scale;
	return keep->scale == scale;
}

/* Sets the scaled integer of a numeric that is not NULL; false where it is not one that is kept. */
static bool
hg_keep_integer(HgKeepColumn *keep, const HgSegmentArray *array, uint32 row, int64 *integer)
{
	int scale;

	if (array->form.encoding == HG_ENCODING_SCALED)
	{
		*integer = hg_segment_integer(array->width, array->values, row);
		return true;
	}
	return hg_scaled_load(hg_segment_place(array, row), integer, &scale) &&
		   hg_keep_scale(keep, scale);
}

/* Find the display scale of all values; false where they have several, or are not all finite. */
static bool
hg_keep_scale_all(HgKeepColumn *keep)
{
	bool scaled = true;

	keep->put = palloc(HG_KEEP_ROWS * sizeof(int64));
	for (uint32 part = 0; part < keep->nparts && scaled && !keep->is_left(); part++)
	{
		int at;
		const HgSegmentVersion *version = hg_keep_version(keep, part, &at);
		HgSegmentArray array;
		int64 integer;

		CHECK_FOR_INTERRUPTS();
		if (version == NULL)
			continue;
		array = hg_segment_array(version, at);
		if (array.form.encoding == HG_ENCODING_SCALED)
			scaled = hg_keep_scale(keep, array.form.scale);
		else
			for (uint32 row = 0; row < version->nrows && scaled; row++)
				scaled =
					hg_segment_is_null(&array, row) || hg_keep_integer(keep, &array, row, &integer);
	}
	return scaled && !keep->is_left();
}

/* The scaled integers of rows that have some, as hg_keep_scale_all() has found; 0 where NULL. */
static const void *
hg_keep_integers(HgKeepColumn *keep, const HgSegmentArray *array, uint32 first, uint32 count)
{
	int64 *put = keep->put;

	for (uint32 i = 0; i < count; i++)
		if (hg_segment_is_null(array, first + i) ||
			!hg_keep_integer(keep, array, first + i, &put[i]))
			put[i] = 0;
	return put;
}

/* ---------------------------------------------------------------------
 * Codes
 * ---------------------------------------------------------------------
 */

/* Give a value a code; HG_NO_CODE where it is such as has none, or there are too many. */
static uint32
hg_keep_code(HgKeepColumn *keep, const char *value)
{
	/* others are not to be read without the table's TOAST, or more than once */
	if (keep->column.length == -1 && (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value)))
		return HG_NO_CODE;
	if (hg_segment_value_bytes(keep->column.length, value) > HG_GRAPH_CODED_BYTES)
		return HG_NO_CODE;
	return hg_codes_find(keep->codes, value);
}

/* Have the values of a segment's dictionary coded. */
static bool
hg_keep_code_dictionary(HgKeepColumn *keep, uint32 part, const HgSegmentArray *array)
{
	uint16 *codes = palloc(Max(array->form.ncodes, 1) * sizeof(uint16));

	keep->of_parts[part] = codes;
	for (uint32 i = 0; i < array->form.ncodes; i++)
	{
		const uint32 code = hg_keep_code(keep, hg_segment_code_value(array, i));

		if (code == HG_NO_CODE)
			return false;
		codes[i] = (uint16) code;
	}
	return true;
}

/* The same of the values of each row. */
static bool
hg_keep_code_rows(HgKeepColumn *keep, const HgSegmentArray *array, uint32 nrows)
{
	for (uint32 row = 0; row < nrows; row++)
		if (!hg_segment_is_null(array, row) &&
			hg_keep_code(keep, hg_segment_place(array, row)) == HG_NO_CODE)
			return false;
	return true;
}

/* Have all values coded; false where they can't be. */
static bool
hg_keep_code_all(HgKeepColumn *keep)
{
	bool coded = true;

	keep->codes = hg_codes_create(keep->column.length,
								  (int) att_align_nominal(1, keep->column.align), HG_MOST_CODES);
	keep->of_parts = palloc0(Max(keep->nparts, 1) * sizeof(uint16 *));
	keep->put = palloc(HG_KEEP_ROWS * sizeof(uint16));
	for (uint32 part = 0; part < keep->nparts && coded && !keep->is_left(); part++)
	{
		int at;
		const HgSegmentVersion *version = hg_keep_version(keep, part, &at);
		HgSegmentArray array;

		CHECK_FOR_INTERRUPTS();
		if (version == NULL)
			continue;
		array = hg_segment_array(version, at);
		if (array.form.encoding == HG_ENCODING_DICTIONARY)
			coded = hg_keep_code_dictionary(keep, part, &array);
		else
			coded = array.form.encoding != HG_ENCODING_SCALED &&
					hg_keep_code_rows(keep, &array, version->nrows);
	}
	return coded && !keep->is_left();
}

/* The codes of rows whose values have some. */
static const void *
hg_keep_codes(HgKeepColumn *keep, uint32 part, const HgSegmentArray *array, uint32 first,
			  uint32 count)
{
	const uint16 *of_part = keep->of_parts[part];
	uint16 *put = keep->put;

	for (uint32 i = 0; i < count; i++)
	{
		const uint32 row = first + i;

		if (of_part != NULL)
			put[i] = of_part[hg_segment_code(array, row)];
		else if (hg_segment_is_null(array, row))
			put[i] = 0;
		else
			put[i] = (uint16) hg_codes_find(keep->codes, hg_segment_place(array, row));
	}
	return put;
}

/* ---------------------------------------------------------------------
 * The column
 * ---------------------------------------------------------------------
 */

/*
 * Publishes what codes stand for, or the scale of scaled integers, unless it is known already;
 * false: no room.
 */
static bool
hg_keep_publish(const HgKeepColumn *keep, HgResidentGraph *version)
{
	const HgCodes *all = keep->codes;
	const uint32 ncodes = all != NULL ? all->ncodes : 0;
	/* where all are NULL any scale will do */
	const int scale = all != NULL ? -1 : Max(keep->scale, 0);
	HgGraphCodes *codes;
	dsa_pointer pointer;
	char *values;

	if (hg_graph_codes_find(version, keep->column.number) != NULL)
		return true;
	codes = hg_graph_codes_allocate(keep->column.number, scale, ncodes,
									all != NULL ? all->nbytes : 0, &pointer, &values);
	if (codes == NULL)
		return false;
	if (all != NULL)
		(void) hg_codes_fill(all, codes->starts, values);
	for (uint32 code = 0; code < ncodes; code++)
		codes->starts[code] += (uint32) (values - (char *) codes);
	hg_graph_codes_link(version, pointer);
	return true;
}

/* Know all that is to be sent of the column; false as above. */
static bool
hg_keep_prepare(HgKeepColumn *keep, HgResidentGraph *version)
{
	if (!hg_keep_shape(keep))
		return false;
	if (hg_keep_is_plain(&keep->column))
		return true;
	return (keep->column.type == NUMERICOID ? hg_keep_scale_all(keep) : hg_keep_code_all(keep)) &&
		   hg_keep_publish(keep, version);
}

HgKeepColumn *
hg_keep_column_pin(HgResidentRelation key, const HgPinnedGraph *graph, AttrNumber number,
				   bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgKeepColumn *keep = palloc0(sizeof(HgKeepColumn));

	keep->versions = palloc(Max(graph->nsegments, 1) * sizeof(dsa_pointer));
	keep->nulls = palloc(HG_KEEP_ROWS);
	keep->is_left = is_left;
	keep->scale = -1;
	keep->spec.name = hg_graph_version_name(version, number);
	hg_cleanup_register(&keep->cleanup, CurrentMemoryContext, hg_keep_cleanup, keep);
	if (hg_keep_pin_versions(keep, key, graph, number) && hg_keep_prepare(keep, version))
		return keep;
	hg_keep_cleanup(keep);
	return NULL;
}

/* Bytes that tell which of some rows are NULL; NULL: none is. */
static const uint8 *
hg_keep_nulls(const HgKeepColumn *keep, const HgSegmentArray *array, uint32 first, uint32 count)
{
	bool any = false;

	if (array->valid == NULL)
		return NULL;
	for (uint32 i = 0; i < count; i++)
	{
		keep->nulls[i] = !hg_segment_bit(array->valid, first + i);
		any |= keep->nulls[i];
	}
	return any ? keep->nulls : NULL;
}

/* Values of a part's rows, from first on, with bytes that tell NULL, or NULL. */
typedef struct HgKeepValues
{
	uint32 part;
	uint32 first;
	uint32 count;
	const void *values;
	const uint8 *nulls;
} HgKeepValues;

/* Put those that are of a slice's rows. */
static HgStatus
hg_keep_put_selected(HgKeepColumn *keep, HgEngine *engine, HgJob *job, const HgKeepValues *all,
					 const HgSlices *slices, uint32 slice, HgError *error)
{
	uint64 number;
	uint32 count;

	if (keep->selected == NULL)
	{
		keep->selected = palloc((Size) HG_KEEP_ROWS * keep->spec.shape.width);
		keep->selected_nulls = palloc(HG_KEEP_ROWS);
	}
	count = hg_keep_select_slice(slices, slice, all->part, all->first, all->count,
								 keep->spec.shape.width, all->values, all->nulls, keep->selected,
								 keep->selected_nulls, &number);
	if (count == 0)
		return HG_OK;
	return engine->put_values(job, keep->selected, all->nulls != NULL ? keep->selected_nulls : NULL,
							  count, number, error);
}

/* Send the values of a segment. */
static HgStatus
hg_keep_put_segment(HgKeepColumn *keep, HgEngine *engine, HgJob *job, uint32 part,
					const HgSegmentArray *array, uint32 nrows, const HgSlices *slices, uint32 slice,
					HgError *error)
{
	const uint64 place = (uint64) part * keep->spec.shape.stride;
	HgStatus status = HG_OK;

	for (uint32 first = 0; first < nrows && status == HG_OK; first += HG_KEEP_ROWS)
	{
		HgKeepValues all = {part, first, Min(HG_KEEP_ROWS, nrows - first)};

		all.values = array->values + (Size) first * array->width;
		if (keep->codes != NULL)
			all.values = hg_keep_codes(keep, part, array, first, all.count);
		else if (!hg_keep_is_plain(&keep->column))
			all.values = hg_keep_integers(keep, array, first, all.count);
		all.nulls = hg_keep_nulls(keep, array, first, all.count);
		if (slices != NULL)
			status = hg_keep_put_selected(keep, engine, job, &all, slices, slice, error);
		else
			status =
				engine->put_values(job, all.values, all.nulls, all.count, place + first, error);
	}
	return status;
}

HgStatus
hg_keep_column_put(HgKeepColumn *keep, HgEngine *engine, HgJob *job, const HgSlices *slices,
				   uint32 slice, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 part = 0; part < keep->nparts && status == HG_OK; part++)
	{
		int at;
		const HgSegmentVersion *version = hg_keep_version(keep, part, &at);
		HgSegmentArray array;

		if (version == NULL)
			continue;
		array = hg_segment_array(version, at);
		status = hg_keep_put_segment(keep, engine, job, part, &array, version->nrows, slices, slice,
									 error);
	}
	return status;
}
