/*-------------------------------------------------------------------------
 *
 * hg_replica.c
 *	  Checks of shapes of graph and column replicas, common to all engines.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_computed.h"
#include "hg_replica.h"
#include "hg_row_filter.h"

HgStatus
hg_replica_check(const HgReplicaShape *shape, HgError *error)
{
	if (shape->key_width != 4 && shape->key_width != 8)
		return hg_error_set(error, HG_INVALID, NULL,
							"keys of a graph replica can not be %u bytes wide", shape->key_width);
	if (shape->parts < 1 || shape->parts > HG_FLAT_PARTS)
		return hg_error_set(error, HG_INVALID, NULL, "a graph replica can not have %u parts",
							shape->parts);
	if (shape->rows >= HG_MAX_ROWS || shape->rows > (uint64_t) shape->parts << HG_FLAT_ROW_BITS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in a graph replica");
	return HG_OK;
}

uint64_t
hg_replica_least_bytes(const HgJobSpec *spec)
{
	if (spec->product.kind == HG_PRODUCT_COLUMN)
		return hg_replica_ordinals(&spec->product.column->shape) *
			   spec->product.column->shape.width;
	return spec->product.graph->shape.rows *
		   (spec->product.graph->shape.key_width + sizeof(uint32_t));
}

HgStatus
hg_replica_column_check(const HgReplicaColumnShape *shape, HgError *error)
{
	if (shape->width != 1 && shape->width != 2 && shape->width != 4 && shape->width != 8)
		return hg_error_set(error, HG_INVALID, NULL, "columns can not be %u bytes wide",
							shape->width);
	if (shape->parts < 1 || shape->parts > HG_FLAT_PARTS || shape->stride < 1 ||
		shape->stride > UINT32_C(1) << HG_FLAT_ROW_BITS)
		return hg_error_set(error, HG_INVALID, NULL,
							"a column replica can not be of %u times %u rows", shape->parts,
							shape->stride);
	if (hg_replica_ordinals(shape) >= HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in a column replica");
	return HG_OK;
}

/* ---------------------------------------------------------------------
 * Checks of sides that are graph replicas, common to all engines
 * ---------------------------------------------------------------------
 */

uint32_t
hg_replica_side_stride(const HgJobSpec *spec, HgSide side)
{
	const HgReplicaSource *replica = hg_side_replica(spec, side);

	if (replica->nlookups > 0)
		return replica->lookups[0].stride;
	return spec->sides[side].ncolumns > 0 ? replica->columns[0].shape.stride
										  : hg_row_filter_stride(replica->filters, 0);
}

bool
hg_replica_is_masked(const HgJobSpec *spec, HgSide side, uint32_t lookup)
{
	const HgReplicaSource *replica = hg_side_replica(spec, side);
	const HgReplicaUse *use = lookup == 0 ? replica->use : &replica->lookups[lookup - 1].found;

	return use->masked != 0 || hg_row_filter_find(replica->filters, lookup) != NULL;
}

/* Checks the shape of a graph of a lookup, and that its rows have ordinals with this stride. */
static HgStatus
check_looking(const HgReplicaUse *use, uint32_t stride, HgError *error)
{
	/* ordinals are those of a column of any width */
	const HgReplicaColumnShape ordinals = {.width = 1, .parts = use->shape.parts, .stride = stride};

	HG_TRY(hg_replica_check(&use->shape, error));
	return hg_replica_column_check(&ordinals, error);
}

/* Finds parts and stride of the rows that look up with this HgReplicaLookup.from. */
static void
find_looking(const HgJobSpec *spec, HgSide side, uint32_t from, uint32_t *parts, uint32_t *stride)
{
	const HgReplicaSource *replica = &spec->sides[side].replica;
	const HgReplicaLookup *parent = from > 0 ? &replica->lookups[from - 1] : NULL;

	*parts = parent != NULL ? parent->found.shape.parts : replica->use->shape.parts;
	*stride = parent != NULL ? parent->found_stride : hg_replica_side_stride(spec, side);
}

/* Checks the lookups of a side; each must be by rows of the side or of an earlier lookup. */
static HgStatus
check_lookups(const HgJobSpec *spec, HgSide side, HgError *error)
{
	const HgReplicaSource *replica = &spec->sides[side].replica;

	if (replica->nlookups > HG_MAX_LOOKUPS)
		return hg_error_set(error, HG_INVALID, NULL, "too many lookups: %u", replica->nlookups);
	if (replica->nlookups > 0 && replica->lookups == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "there are no lookups");
	for (uint32_t i = 0; i < replica->nlookups; i++)
	{
		const HgReplicaLookup *lookup = &replica->lookups[i];
		uint32_t parts;
		uint32_t stride;

		HG_TRY(check_looking(&lookup->own, lookup->stride, error));
		HG_TRY(check_looking(&lookup->found, lookup->found_stride, error));
		if (lookup->from > i)
			return hg_error_set(error, HG_INVALID, NULL, "a lookup is from none before it");
		if (lookup->own.masked != 0)
			return hg_error_set(error, HG_INVALID, NULL,
								"the graph that a lookup is made with has no mask");
		find_looking(spec, side, lookup->from, &parts, &stride);
		if (lookup->own.shape.parts != parts || lookup->stride != stride)
			return hg_error_set(error, HG_INVALID, NULL,
								"a lookup is made with a graph of other rows");
	}
	return HG_OK;
}

/* Checks a computed column of a side, as far as it differs from other columns. */
static HgStatus
check_computed(const HgJobSpec *spec, HgSide side, uint32_t column, HgError *error)
{
	const HgReplicaSource *replica = &spec->sides[side].replica;
	const HgReplicaColumnUse *use = &replica->columns[column];

	if (use->program > replica->nprograms)
		return hg_error_set(error, HG_INVALID, NULL, "a column is computed by no program");
	if (use->lookup != 0 || use->shape.width != HG_COMPUTED_WIDTH)
		return hg_error_set(error, HG_INVALID, NULL, "a column is not such as are computed");
	return hg_program_check(&replica->programs[use->program - 1], column, error);
}

/* Checks the columns of a side, of its own rows or of rows that lookups find. */
static HgStatus
check_columns(const HgJobSpec *spec, HgSide side, HgError *error)
{
	const HgReplicaSource *replica = &spec->sides[side].replica;
	const HgReplicaColumnUse *columns = replica->columns;

	if (spec->sides[side].ncolumns > 0 && columns == NULL)
		return hg_error_set(error, HG_INVALID, NULL,
							"columns of a graph replica are kept beside it");
	if (replica->nprograms > HG_MAX_PROGRAMS)
		return hg_error_set(error, HG_INVALID, NULL, "too many programs: %u", replica->nprograms);
	if (replica->nprograms > 0 && replica->programs == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "there are no programs");
	for (uint32_t i = 0; i < spec->sides[side].ncolumns; i++)
	{
		uint32_t parts;
		uint32_t stride;

		HG_TRY(hg_replica_column_check(&columns[i].shape, error));
		if (columns[i].lookup > replica->nlookups)
			return hg_error_set(error, HG_INVALID, NULL, "a column replica is of no lookup");
		find_looking(spec, side, columns[i].lookup, &parts, &stride);
		if (columns[i].shape.width != spec->sides[side].column_width[i] ||
			columns[i].shape.stride != stride || columns[i].shape.parts != parts)
			return hg_error_set(error, HG_INVALID, NULL,
								"a column replica is not of its graph's rows");
		if (columns[i].program > 0)
			HG_TRY(check_computed(spec, side, i, error));
	}
	return HG_OK;
}

/* Checks the filters of a side, if it has any, and that their columns have the rows they filter. */
static HgStatus
check_filters(const HgJobSpec *spec, HgSide side, HgError *error)
{
	const HgReplicaSource *replica = &spec->sides[side].replica;
	const HgRowFilters *filters = replica->filters;

	if (filters == NULL)
		return HG_OK;
	HG_TRY(hg_row_filters_check(filters, replica->nlookups, error));
	for (uint32_t i = 0; i < filters->ncolumns; i++)
	{
		const HgReplicaColumnUse *use = &filters->columns[i];
		uint32_t parts;
		uint32_t stride;

		HG_TRY(hg_replica_column_check(&use->shape, error));
		if (use->lookup > replica->nlookups || use->program != 0)
			return hg_error_set(error, HG_INVALID, NULL, "a filter is of no column replica");
		find_looking(spec, side, use->lookup, &parts, &stride);
		if (use->shape.parts != parts || use->shape.stride != stride)
			return hg_error_set(error, HG_INVALID, NULL, "a filter is not of its graph's rows");
	}
	return HG_OK;
}

HgStatus
hg_replica_side_check(const HgJobSpec *spec, HgSide side, HgError *error)
{
	HG_TRY(hg_replica_check(&spec->sides[side].replica.use->shape, error));
	HG_TRY(check_lookups(spec, side, error));
	HG_TRY(check_columns(spec, side, error));
	return check_filters(spec, side, error);
}

static HgStatus
no_ordinal(HgError *error)
{
	return hg_error_set(error, HG_INVALID, NULL,
						"a row of a graph replica has no place in its columns");
}

HgStatus
hg_replica_ordinals_check(const HgJobSpec *spec, HgSide side, uint32_t numbers, HgError *error)
{
	const uint32_t stride = hg_replica_side_stride(spec, side);

	return stride > 0 && numbers > stride ? no_ordinal(error) : HG_OK;
}

HgStatus
hg_replica_lookup_ordinals_check(const HgReplicaLookup *lookup, uint32_t own_numbers,
								 uint32_t found_numbers, HgError *error)
{
	if (own_numbers > lookup->stride || found_numbers > lookup->found_stride)
		return no_ordinal(error);
	return HG_OK;
}
