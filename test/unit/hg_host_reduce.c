/*-------------------------------------------------------------------------
 *
 * hg_host_reduce.c
 *	  Columns and groups in host memory, by the plainest means: a job's matches, one by one.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_reduce.h"

#include "../../src/engine/hg_hash.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of rows with columns are below this, for want of memory. */
#define MOST_ROWS (UINT64_C(1) << 27)

/* Pairs that are asked for at a time. */
#define CHUNK_PAIRS 4096

void
hg_host_reduce_init(HgHostReduce *reduce, const HgJobSpec *job)
{
	memset(reduce, 0, sizeof(*reduce));
	reduce->job = *job;
}

void
hg_host_reduce_free(HgHostReduce *reduce)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (int column = 0; column < HG_MAX_COLUMNS; column++)
			free(reduce->values[side][column]);
	free(reduce->records);
	free(reduce->slots);
	memset(reduce, 0, sizeof(*reduce));
}

static HgStatus
out_of_memory(HgError *error)
{
	return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
}

/* ------------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------------ */

/* Have room for rows 0 .. rows - 1 of a column; new ones have no value. */
static bool
reserve_values(HgHostReduce *reduce, HgSide side, uint32_t column, uint64_t rows)
{
	uint64_t had = reduce->capacity[side][column];
	uint64_t capacity = had == 0 ? 1024 : had;
	HgHostValue *values;

	if (rows <= had)
		return true;
	if (rows > MOST_ROWS)
		return false;
	while (capacity < rows)
		capacity *= 2;
	/* numbers may be far apart: what lies between them is not touched */
	values = calloc((size_t) capacity, sizeof(*values));
	if (values == NULL)
		return false;
	if (had > 0)
		memcpy(values, reduce->values[side][column], (size_t) had * sizeof(*values));
	free(reduce->values[side][column]);
	reduce->values[side][column] = values;
	reduce->capacity[side][column] = capacity;
	return true;
}

HgStatus
hg_host_reduce_add_rows(HgHostReduce *reduce, HgSide side, uint64_t count, uint64_t first_row,
						HgError *error)
{
	for (uint32_t column = 0; column < reduce->job.sides[side].ncolumns; column++)
	{
		if (!reserve_values(reduce, side, column, first_row + count))
			return out_of_memory(error);
		for (uint64_t i = 0; i < count; i++)
			reduce->values[side][column][first_row + i].wanted = true;
	}
	reduce->rows[side] += count;
	return HG_OK;
}

HgStatus
hg_host_reduce_append(HgHostReduce *reduce, HgSide side, uint32_t column, const void *values,
					  const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	uint32_t width;

	if (column >= reduce->job.sides[side].ncolumns)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such column");
	if (first_row > reduce->capacity[side][column] ||
		count > reduce->capacity[side][column] - first_row)
		return hg_error_set(error, HG_INVALID, NULL, "a value is of no row");
	width = reduce->job.sides[side].column_width[column];
	for (uint64_t i = 0; i < count; i++)
	{
		HgHostValue *value = &reduce->values[side][column][first_row + i];

		if (!value->wanted)
			return hg_error_set(error, HG_INVALID, NULL, "a value is of no row");
		if (value->given)
			return hg_error_set(error, HG_INVALID, NULL, "a row has a value twice");
		value->given = true;
		value->null = nulls != NULL && nulls[i] != 0;
		/* the bytes of a little-endian number are its low ones first */
		memcpy(&value->bits, (const unsigned char *) values + i * width, width);
	}
	reduce->given[side][column] += count;
	return HG_OK;
}

void
hg_host_reduce_set_external(HgHostReduce *reduce, HgSide side, uint32_t column,
							const HgHostColumn *replica, const uint32_t *found, uint32_t stride)
{
	reduce->replica[side][column] = replica;
	reduce->found[side][column] = found;
	reduce->stride[side] = stride;
}

HgStatus
hg_host_reduce_check(const HgHostReduce *reduce, HgError *error)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < reduce->job.sides[side].ncolumns; column++)
			if (reduce->given[side][column] != reduce->rows[side])
				return hg_error_set(error, HG_INVALID, NULL, "not all rows have their columns");
	return HG_OK;
}

/* The value in a column replica of what a row has found; returns whether it is NULL. */
static bool
look_up_found(const HgHostColumn *replica, const uint32_t *found, uint64_t ordinal, uint64_t *bits)
{
	*bits = 0;
	if (found[ordinal] >= HG_FOUND_TWO)
		return true;
	return hg_host_column_get_at(replica, found[ordinal], bits);
}

bool
hg_host_reduce_value(const HgHostReduce *reduce, uint32_t side, uint32_t column, uint32_t row,
					 uint64_t *bits)
{
	const HgHostColumn *replica = reduce->replica[side][column];
	const uint32_t *found = reduce->found[side][column];
	const HgHostValue *value;

	if (found != NULL)
		return look_up_found(replica, found, hg_replica_ordinal(reduce->stride[side], row), bits);
	if (replica != NULL)
		return hg_host_column_get(replica, row, bits);
	value = &reduce->values[side][column][row];
	*bits = value->bits;
	return value->null;
}

/* Fetch a column's values of rows[count]. */
static bool
gather_column(const HgHostReduce *reduce, int side, uint32_t column, const uint32_t *rows,
			  size_t count, unsigned char *values, uint8_t *nulls)
{
	const uint32_t width = reduce->job.sides[side].column_width[column];
	bool has_nulls = false;

	for (size_t i = 0; i < count; i++)
	{
		uint64_t bits;

		nulls[i] = hg_host_reduce_value(reduce, (uint32_t) side, column, rows[i], &bits);
		memcpy(values + i * width, &bits, width);
		has_nulls = has_nulls || nulls[i] != 0;
	}
	return has_nulls;
}

/* Hand matches out, with the values that are wanted. */
static void
give_matches(const HgHostReduce *reduce, const HgMatches *pairs, HgMatches *matches)
{
	matches->count = pairs->count;
	memcpy(matches->outer, pairs->outer, pairs->count * sizeof(uint32_t));
	memcpy(matches->inner, pairs->inner, pairs->count * sizeof(uint32_t));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t column = 0; column < reduce->job.sides[side].ncolumns; column++)
			if (matches->values[side][column] != NULL)
				matches->has_nulls[side][column] = gather_column(
					reduce, side, column, side == HG_OUTER ? pairs->outer : pairs->inner,
					pairs->count, matches->values[side][column], matches->nulls[side][column]);
}

HgStatus
hg_host_reduce_gather(const HgHostReduce *reduce, HgEngine *engine, HgJob *job, HgMatches *matches,
					  HgError *error)
{
	HgMatches pairs = {.capacity = matches->capacity};
	HgStatus status = hg_matches_check(&reduce->job, matches, error);

	matches->count = 0;
	if (status != HG_OK)
		return status;
	/* the caller's memory may be shared: others can write there what is no row */
	pairs.outer = malloc(2 * pairs.capacity * sizeof(uint32_t) + 1);
	if (pairs.outer == NULL)
		return out_of_memory(error);
	pairs.inner = pairs.outer + pairs.capacity;
	status = engine->join->next(job, &pairs, error);
	if (status == HG_OK)
		give_matches(reduce, &pairs, matches);
	free(pairs.outer);
	return status;
}

/* ------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------ */

/* A value in 64 bits; returns whether it is NULL. */
static bool
widen(const HgHostReduce *reduce, const HgReduceColumn *column, const uint32_t rows[2],
	  uint64_t *bits)
{
	const bool null =
		hg_host_reduce_value(reduce, column->side, column->column, rows[column->side], bits);

	if (column->is_signed)
		switch (reduce->job.sides[column->side].column_width[column->column])
		{
			case 1:
				*bits = (uint64_t) (int64_t) (int8_t) *bits;
				break;
			case 2:
				*bits = (uint64_t) (int64_t) (int16_t) *bits;
				break;
			case 4:
				*bits = (uint64_t) (int64_t) (int32_t) *bits;
				break;
		}
	return null;
}

/* Where a group with these first words is, or would be, in the slots. */
static uint64_t *
find_slot(const HgHostReduce *reduce, const uint64_t *head)
{
	const uint32_t words = reduce->spec.nkeys + 1;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < words; i++)
		hash = hg_mix64(hash ^ head[i]);
	for (;; hash++)
	{
		uint64_t *slot = &reduce->slots[hash & (reduce->slot_count - 1)];

		if (*slot == 0 || memcmp(reduce->records + (*slot - 1) * reduce->words, head,
								 words * sizeof(uint64_t)) == 0)
			return slot;
	}
}

/* Have room for one more group, with half of the slots free. */
static bool
reserve_group(HgHostReduce *reduce)
{
	const uint64_t room = reduce->room == 0 ? 64 : 2 * reduce->room;
	uint64_t *records;
	uint64_t *slots;

	if (reduce->groups < reduce->room)
		return true;
	records = realloc(reduce->records, (size_t) room * reduce->words * sizeof(uint64_t));
	if (records == NULL)
		return false;
	reduce->records = records;
	slots = calloc((size_t) room * 2, sizeof(uint64_t));
	if (slots == NULL)
		return false;
	free(reduce->slots);
	reduce->slots = slots;
	reduce->slot_count = room * 2;
	reduce->room = room;
	for (uint64_t group = 0; group < reduce->groups; group++)
		*find_slot(reduce, records + group * reduce->words) = group + 1;
	return true;
}

/* The record of the group with these first words, made where it is new; NULL out of memory. */
static uint64_t *
find_group(HgHostReduce *reduce, const uint64_t *head)
{
	uint64_t *record;
	uint64_t *slot;

	if (!reserve_group(reduce))
		return NULL;
	slot = find_slot(reduce, head);
	if (*slot != 0)
		return reduce->records + (*slot - 1) * reduce->words;
	*slot = ++reduce->groups;
	record = reduce->records + (reduce->groups - 1) * reduce->words;
	memset(record, 0, reduce->words * sizeof(uint64_t));
	memcpy(record, head, (reduce->spec.nkeys + 1) * sizeof(uint64_t));
	return record;
}

/* Is a less than b? */
static bool
is_less(uint64_t a, uint64_t b, bool is_signed)
{
	return is_signed ? (int64_t) a < (int64_t) b : a < b;
}

/* Add a value to a sum of two words. */
static void
add_to_sum(uint64_t *sum, uint64_t bits, bool is_signed)
{
	sum[0] += bits;
	sum[1] += sum[0] < bits;
	if (is_signed && (int64_t) bits < 0)
		sum[1] -= 1;
}

/* A pair becomes part of its group; false out of memory. */
static bool
add_pair(HgHostReduce *reduce, uint32_t outer, uint32_t inner)
{
	const HgReduceSpec *spec = &reduce->spec;
	const uint32_t rows[2] = {[HG_OUTER] = outer, [HG_INNER] = inner};
	uint64_t head[HG_MAX_REDUCE_KEYS + 1] = {0};
	uint64_t *record;

	for (uint32_t i = 0; i < spec->nkeys; i++)
		if (widen(reduce, &spec->keys[i], rows, &head[i]))
		{
			head[i] = 0;
			head[spec->nkeys] |= UINT64_C(1) << i;
		}
	record = find_group(reduce, head);
	if (record == NULL)
		return false;
	record += spec->nkeys + 1;
	record[0]++;
	record++;
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		const HgReduceItem *item = &spec->items[i];
		const bool is_signed = item->argument.is_signed != 0;
		uint64_t bits;

		if (!widen(reduce, &item->argument, rows, &bits))
		{
			record[0]++;
			if (item->kind == HG_REDUCE_SUM)
				add_to_sum(record + 1, bits, is_signed);
			else if (item->kind == HG_REDUCE_MIN &&
					 (record[0] == 1 || is_less(bits, record[1], is_signed)))
				record[1] = bits;
			else if (item->kind == HG_REDUCE_MAX &&
					 (record[0] == 1 || is_less(record[1], bits, is_signed)))
				record[1] = bits;
		}
		record += hg_reduce_item_words(item);
	}
	return true;
}

HgStatus
hg_host_reduce_run(HgHostReduce *reduce, HgEngine *engine, HgJob *job, HgMatchMode mode,
				   const HgReduceSpec *spec, uint64_t *groups, HgError *error)
{
	uint64_t none[HG_MAX_REDUCE_KEYS + 1] = {0};
	uint32_t outer[CHUNK_PAIRS];
	uint32_t inner[CHUNK_PAIRS];
	HgMatches matches = {.outer = outer, .inner = inner, .capacity = CHUNK_PAIRS};
	HgStatus status = hg_reduce_check(&reduce->job, spec, error);

	if (status != HG_OK)
		return status;
	free(reduce->records);
	free(reduce->slots);
	reduce->records = reduce->slots = NULL;
	reduce->room = reduce->groups = reduce->slot_count = reduce->next = 0;
	reduce->spec = *spec;
	reduce->words = hg_reduce_words(spec);
	if (spec->nkeys == 0 && find_group(reduce, none) == NULL)
		return out_of_memory(error);

	status = engine->join->match(job, mode, error);
	while (status == HG_OK && reduce->groups <= spec->max_groups)
	{
		status = engine->join->next(job, &matches, error);
		if (status != HG_OK || matches.count == 0)
			break;
		for (size_t i = 0; i < matches.count; i++)
			if (!add_pair(reduce, outer[i], inner[i]))
				return out_of_memory(error);
	}
	if (status != HG_OK)
		return status;
	*groups = reduce->groups <= spec->max_groups ? reduce->groups : HG_TOO_MANY_GROUPS;
	if (*groups == HG_TOO_MANY_GROUPS)
		reduce->groups = 0;
	return HG_OK;
}

HgStatus
hg_host_reduce_next(HgHostReduce *reduce, HgGroupRecords *records, HgError *error)
{
	uint64_t left = reduce->groups - reduce->next;

	records->count = 0;
	if (reduce->words == 0 || records->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "no groups were made, or none has room");
	records->count = left < records->capacity ? (size_t) left : records->capacity;
	if (records->count > 0)
		memcpy(records->words, reduce->records + reduce->next * reduce->words,
			   records->count * reduce->words * sizeof(uint64_t));
	reduce->next += records->count;
	return HG_OK;
}
