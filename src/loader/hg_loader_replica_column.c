/*-------------------------------------------------------------------------
 *
 * hg_loader_replica_column.c
 *	  Sends columns of a graph's rows to a device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "batch/hg_numeric.h"
#include "loader/hg_loader_replica.h"
#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_version.h"

/* Number of values, with NULL flags, that are sent at a time. */
#define HG_REPLICA_ROWS 65536

/* ---------------------------------------------------------------------
 * Versions
 * ---------------------------------------------------------------------
 */

/* Unpins the versions. */
static void
hg_replica_cleanup(void *arg)
{
	HgReplicaColumn *replica = arg;

	for (uint32 part = 0; part < replica->nparts; part++)
		if (DsaPointerIsValid(replica->versions[part]))
			hg_segment_version_release(replica->versions[part]);
	replica->nparts = 0;
}

void
hg_replica_column_unpin(HgReplicaColumn *replica)
{
	hg_replica_cleanup(replica);
}

/* Pins the segment versions that a graph lists; returns false if one was replaced. */
static bool
hg_replica_pin_versions(HgReplicaColumn *replica, HgResidentRelation key,
						const HgPinnedGraph *graph, AttrNumber number)
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

		replica->versions[part] = InvalidDsaPointer;
		replica->nparts = part + 1;
		if (serial == 0 || (serial & HG_GRAPH_PASSED) != 0)
			continue;
		all = part < entry->nslots && DsaPointerIsValid(slots[part].version) &&
			  hg_segment_version(slots[part].version)->serial == serial;
		if (!all)
			break;
		hg_segment_version_pin(hg_segment_version(slots[part].version));
		replica->versions[part] = slots[part].version;
	}
	if (all)
		replica->column = column->planned;
	hg_directory_unlock(entry);
	return all;
}

/*
 * Returns the version of a part, with the column's index in it, or -1 if it lacks that.  Returns
 * NULL if the graph has no rows of the part.
 */
static const HgSegmentVersion *
hg_replica_version(const HgReplicaColumn *replica, uint32 part, int *at)
{
	const HgSegmentVersion *version;

	if (!DsaPointerIsValid(replica->versions[part]))
		return NULL;
	version = hg_segment_version(replica->versions[part]);
	*at = hg_segment_find_column(version, &replica->column);
	return version;
}

/* ---------------------------------------------------------------------
 * Values as they are
 * ---------------------------------------------------------------------
 */

/* Returns true if engines support columns of the type's width. */
static bool
hg_replica_is_plain(const HgResidentColumn *column)
{
	return column->by_value && (column->length == 1 || column->length == 2 || column->length == 4 ||
								column->length == 8);
}

/* Returns the bytes that the device has for each value. */
static uint32
hg_replica_width(const HgResidentColumn *column)
{
	if (hg_replica_is_plain(column))
		return (uint32) column->length;
	return column->type == NUMERICOID ? HG_GRAPH_SCALED_WIDTH : HG_GRAPH_CODE_WIDTH;
}

/* Determines the shape of the column; returns false if a segment lacks it or has another width. */
static bool
hg_replica_shape(HgReplicaColumn *replica)
{
	HgReplicaColumnShape *shape = &replica->spec.shape;
	const bool plain = hg_replica_is_plain(&replica->column);

	*shape = (HgReplicaColumnShape){
		.width = hg_replica_width(&replica->column), .parts = Max(replica->nparts, 1), .stride = 1};
	for (uint32 part = 0; part < replica->nparts; part++)
	{
		int at;
		const HgSegmentVersion *version = hg_replica_version(replica, part, &at);

		if (version == NULL)
			continue;
		if (at < 0 || (plain && (version->columns[at].form.encoding != HG_ENCODING_FIXED ||
								 version->columns[at].form.width != replica->column.length)))
			return false;
		shape->stride = Max(shape->stride, version->nrows);
	}
	return true;
}

/* ---------------------------------------------------------------------
 * Numerics
 * ---------------------------------------------------------------------
 */

/* Checks a display scale; returns false if it differs from that of earlier numerics. */
static bool
hg_replica_scale(HgReplicaColumn *replica, int scale)
{
	if (replica->scale < 0)
		replica->scale = scale;
	return replica->scale == scale;
}

/* Computes the scaled integer of a numeric, which is not NULL; returns false if it has none. */
static bool
hg_replica_integer(HgReplicaColumn *replica, const HgSegmentArray *array, uint32 row,
				   int64 *integer)
{
	int scale;

	if (array->form.encoding == HG_ENCODING_SCALED)
	{
		*integer = hg_segment_integer(array->width, array->values, row);
		return true;
	}
	return hg_scaled_load(hg_segment_value(array, row), integer, &scale) &&
		   hg_replica_scale(replica, scale);
}

/* Finds the display scale of all values; false if there are several, or not all are finite. */
static bool
hg_replica_scale_all(HgReplicaColumn *replica)
{
	bool scaled = true;

	replica->put = palloc(HG_REPLICA_ROWS * sizeof(int64));
	for (uint32 part = 0; part < replica->nparts && scaled && !replica->is_left(); part++)
	{
		int at;
		const HgSegmentVersion *version = hg_replica_version(replica, part, &at);
		HgSegmentArray array;
		int64 integer;

		CHECK_FOR_INTERRUPTS();
		if (version == NULL)
			continue;
		array = hg_segment_array(version, at);
		if (array.form.encoding == HG_ENCODING_SCALED)
			scaled = hg_replica_scale(replica, array.form.scale);
		else
			for (uint32 row = 0; row < version->nrows && scaled; row++)
				scaled = hg_segment_is_null(&array, row) ||
						 hg_replica_integer(replica, &array, row, &integer);
	}
	return scaled && !replica->is_left();
}

/* Returns the scaled integers of rows, after hg_replica_scale_all() has succeeded; 0 for NULL. */
static const void *
hg_replica_integers(HgReplicaColumn *replica, const HgSegmentArray *array, uint32 first,
					uint32 count)
{
	int64 *put = replica->put;

	for (uint32 i = 0; i < count; i++)
		if (hg_segment_is_null(array, first + i) ||
			!hg_replica_integer(replica, array, first + i, &put[i]))
			put[i] = 0;
	return put;
}

/* ---------------------------------------------------------------------
 * Codes
 * ---------------------------------------------------------------------
 */

/* Returns the code of a value; HG_NO_CODE if it can have none, or there are too many. */
static uint32
hg_replica_code(HgReplicaColumn *replica, const char *value)
{
	/* such values can't be read without the table's TOAST, or more than once */
	if (replica->column.length == -1 && (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value)))
		return HG_NO_CODE;
	if (hg_segment_value_bytes(replica->column.length, value) > HG_GRAPH_CODED_BYTES)
		return HG_NO_CODE;
	return hg_codes_find(replica->codes, value);
}

/* Codes the values of a segment's dictionary. */
static bool
hg_replica_code_dictionary(HgReplicaColumn *replica, uint32 part, const HgSegmentArray *array)
{
	uint16 *codes = palloc(Max(array->form.ncodes, 1) * sizeof(uint16));

	replica->of_parts[part] = codes;
	for (uint32 i = 0; i < array->form.ncodes; i++)
	{
		const uint32 code = hg_replica_code(replica, hg_segment_code_value(array, i));

		if (code == HG_NO_CODE)
			return false;
		codes[i] = (uint16) code;
	}
	return true;
}

/* Codes the values of each row. */
static bool
hg_replica_code_rows(HgReplicaColumn *replica, const HgSegmentArray *array, uint32 nrows)
{
	for (uint32 row = 0; row < nrows; row++)
		if (!hg_segment_is_null(array, row) &&
			hg_replica_code(replica, hg_segment_value(array, row)) == HG_NO_CODE)
			return false;
	return true;
}

/* Codes all values; returns false if that is not possible. */
static bool
hg_replica_code_all(HgReplicaColumn *replica)
{
	bool coded = true;

	replica->codes = hg_codes_create(
		replica->column.length, (int) att_align_nominal(1, replica->column.align), HG_MOST_CODES);
	replica->of_parts = palloc0(Max(replica->nparts, 1) * sizeof(uint16 *));
	replica->put = palloc(HG_REPLICA_ROWS * sizeof(uint16));
	for (uint32 part = 0; part < replica->nparts && coded && !replica->is_left(); part++)
	{
		int at;
		const HgSegmentVersion *version = hg_replica_version(replica, part, &at);
		HgSegmentArray array;

		CHECK_FOR_INTERRUPTS();
		if (version == NULL)
			continue;
		array = hg_segment_array(version, at);
		if (array.form.encoding == HG_ENCODING_DICTIONARY)
			coded = hg_replica_code_dictionary(replica, part, &array);
		else
			coded = array.form.encoding != HG_ENCODING_SCALED &&
					hg_replica_code_rows(replica, &array, version->nrows);
	}
	return coded && !replica->is_left();
}

/* Returns the codes of rows. */
static const void *
hg_replica_codes(HgReplicaColumn *replica, uint32 part, const HgSegmentArray *array, uint32 first,
				 uint32 count)
{
	const uint16 *of_part = replica->of_parts[part];
	uint16 *put = replica->put;

	for (uint32 i = 0; i < count; i++)
	{
		const uint32 row = first + i;

		if (of_part != NULL)
			put[i] = of_part[hg_segment_code(array, row)];
		else if (hg_segment_is_null(array, row))
			put[i] = 0;
		else
			put[i] = (uint16) hg_codes_find(replica->codes, hg_segment_value(array, row));
	}
	return put;
}

/* ---------------------------------------------------------------------
 * The column
 * ---------------------------------------------------------------------
 */

/*
 * Publishes the values of codes, or the scale of scaled integers, unless they are published
 * already; returns false if there is no room.
 */
static bool
hg_replica_publish(const HgReplicaColumn *replica, HgResidentGraph *version)
{
	const HgCodes *all = replica->codes;
	const uint32 ncodes = all != NULL ? all->ncodes : 0;
	/* if all values are NULL, any scale will do */
	const int scale = all != NULL ? -1 : Max(replica->scale, 0);
	HgGraphCodes *codes;
	dsa_pointer pointer;
	char *values;

	if (hg_graph_codes_find(version, replica->column.number) != NULL)
		return true;
	codes = hg_graph_codes_allocate(replica->column.number, scale, ncodes,
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

/* Prepares everything that will be sent; returns false if there can be no replica now. */
static bool
hg_replica_prepare(HgReplicaColumn *replica, HgResidentGraph *version)
{
	if (!hg_replica_shape(replica))
		return false;
	if (hg_replica_is_plain(&replica->column))
		return true;
	return (replica->column.type == NUMERICOID ? hg_replica_scale_all(replica)
											   : hg_replica_code_all(replica)) &&
		   hg_replica_publish(replica, version);
}

HgReplicaColumn *
hg_replica_column_pin(HgResidentRelation key, const HgPinnedGraph *graph, AttrNumber number,
					  bool (*is_left)(void))
{
	HgResidentGraph *version = hg_graph_version(graph->pointer);
	HgReplicaColumn *replica = palloc0(sizeof(HgReplicaColumn));

	replica->versions = palloc(Max(graph->nsegments, 1) * sizeof(dsa_pointer));
	replica->nulls = palloc(HG_REPLICA_ROWS);
	replica->is_left = is_left;
	replica->scale = -1;
	replica->spec.name = hg_graph_version_name(version, number);
	hg_cleanup_register(&replica->cleanup, CurrentMemoryContext, hg_replica_cleanup, replica);
	if (hg_replica_pin_versions(replica, key, graph, number) &&
		hg_replica_prepare(replica, version))
		return replica;
	hg_replica_cleanup(replica);
	return NULL;
}

/* Returns the NULL flags of some rows; NULL if none is NULL. */
static const uint8 *
hg_replica_nulls(const HgReplicaColumn *replica, const HgSegmentArray *array, uint32 first,
				 uint32 count)
{
	bool any = false;

	if (array->valid == NULL)
		return NULL;
	for (uint32 i = 0; i < count; i++)
	{
		replica->nulls[i] = !hg_segment_bit(array->valid, first + i);
		any |= replica->nulls[i];
	}
	return any ? replica->nulls : NULL;
}

/* Values of a part's rows from first on, with NULL flags or NULL. */
typedef struct HgReplicaValues
{
	uint32 part;
	uint32 first;
	uint32 count;
	const void *values;
	const uint8 *nulls;
} HgReplicaValues;

/* Sends those values that are of a partition's rows. */
static HgStatus
hg_replica_put_selected(HgReplicaColumn *replica, HgEngine *engine, HgJob *job,
						const HgReplicaValues *all, const HgPartitioning *partitions,
						uint32 partition, HgError *error)
{
	uint64 number;
	uint32 count;

	if (replica->selected == NULL)
	{
		replica->selected = palloc((Size) HG_REPLICA_ROWS * replica->spec.shape.width);
		replica->selected_nulls = palloc(HG_REPLICA_ROWS);
	}
	count = hg_replica_select_partition(partitions, partition, all->part, all->first, all->count,
										replica->spec.shape.width, all->values, all->nulls,
										replica->selected, replica->selected_nulls, &number);
	if (count == 0)
		return HG_OK;
	return engine->store->put_values(job, replica->selected,
									 all->nulls != NULL ? replica->selected_nulls : NULL, count,
									 number, error);
}

/* Sends the values of a segment. */
static HgStatus
hg_replica_put_segment(HgReplicaColumn *replica, HgEngine *engine, HgJob *job, uint32 part,
					   const HgSegmentArray *array, uint32 nrows, const HgPartitioning *partitions,
					   uint32 partition, HgError *error)
{
	const uint64 ordinal = (uint64) part * replica->spec.shape.stride;
	HgStatus status = HG_OK;

	for (uint32 first = 0; first < nrows && status == HG_OK; first += HG_REPLICA_ROWS)
	{
		HgReplicaValues all = {part, first, Min(HG_REPLICA_ROWS, nrows - first)};

		all.values = array->values + (Size) first * array->width;
		if (replica->codes != NULL)
			all.values = hg_replica_codes(replica, part, array, first, all.count);
		else if (!hg_replica_is_plain(&replica->column))
			all.values = hg_replica_integers(replica, array, first, all.count);
		all.nulls = hg_replica_nulls(replica, array, first, all.count);
		if (partitions != NULL)
			status =
				hg_replica_put_selected(replica, engine, job, &all, partitions, partition, error);
		else
			status = engine->store->put_values(job, all.values, all.nulls, all.count,
											   ordinal + first, error);
	}
	return status;
}

HgStatus
hg_replica_column_put(HgReplicaColumn *replica, HgEngine *engine, HgJob *job,
					  const HgPartitioning *partitions, uint32 partition, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 part = 0; part < replica->nparts && status == HG_OK; part++)
	{
		int at;
		const HgSegmentVersion *version = hg_replica_version(replica, part, &at);
		HgSegmentArray array;

		if (version == NULL)
			continue;
		array = hg_segment_array(version, at);
		status = hg_replica_put_segment(replica, engine, job, part, &array, version->nrows,
										partitions, partition, error);
	}
	return status;
}
