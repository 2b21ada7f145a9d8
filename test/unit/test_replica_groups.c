/*-------------------------------------------------------------------------
 *
 * test_replica_groups.c
 *	  Groups of the matches of sides with columns, and values that come with the matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_replica_groups.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Rows by their numbers
 * ------------------------------------------------------------------------ */

/* A row's number and what is known of it: its place in the arrays of a side. */
typedef struct Known
{
	uint32_t row;
	uint32_t i;
} Known;

static int
compare_known(const void *a, const void *b)
{
	const Known *left = a;
	const Known *right = b;

	return left->row < right->row ? -1 : left->row > right->row;
}

static Known *
sort_known(const TestReplicaSide *side)
{
	Known *known = test_malloc((size_t) side->spread.count * sizeof(Known) + 1);

	for (uint32_t i = 0; i < side->spread.count; i++)
		known[i] = (Known){side->rows[i], i};
	qsort(known, side->spread.count, sizeof(Known), compare_known);
	return known;
}

/* Where the row with a number is in its side; false where there is none. */
static bool
find_known(const TestReplicaSide *side, const Known *known, uint32_t row, uint32_t *i)
{
	const Known wanted = {row, 0};
	const Known *found = bsearch(&wanted, known, side->spread.count, sizeof(Known), compare_known);

	if (found != NULL)
		*i = found->i;
	return found != NULL;
}

/* ------------------------------------------------------------------------
 * What is asked for
 * ------------------------------------------------------------------------ */

static HgReduceColumn
draw_column(const TestReplicaSide *const sides[2], bool outer_alone, uint64_t *state)
{
	const bool inner = sides[HG_OUTER]->spread.ncolumns == 0 ||
					   (!outer_alone && sides[HG_INNER]->spread.ncolumns > 0 &&
						test_replica_random(state, 2) == 1);
	const uint32_t side = inner ? HG_INNER : HG_OUTER;

	return (HgReduceColumn){
		.side = side,
		.column = (uint32_t) test_replica_random(state, sides[side]->spread.ncolumns),
		.is_signed = (uint32_t) test_replica_random(state, 2),
	};
}

void
test_replica_draw_reduce(HgReduceSpec *spec, const TestReplicaSide *outer,
						 const TestReplicaSide *inner, bool outer_alone, uint32_t nkeys,
						 uint64_t *state)
{
	const TestReplicaSide *const sides[2] = {outer, inner};

	memset(spec, 0, sizeof(*spec));
	spec->max_groups = UINT64_C(1) << 40;
	if (outer->spread.ncolumns + inner->spread.ncolumns == 0)
		return;
	spec->nkeys = nkeys;
	for (uint32_t i = 0; i < nkeys; i++)
		spec->keys[i] = draw_column(sides, outer_alone, state);
	/* each kind at least once, and not always as many */
	spec->nitems = 4 + (uint32_t) test_replica_random(state, HG_MAX_REDUCE_ITEMS - 3);
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		spec->items[i].kind = i % 4;
		spec->items[i].argument = draw_column(sides, outer_alone, state);
	}
}

/* ------------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------------ */

static _Thread_local uint32_t compared_words; /* of what compare_heads compares */

static int
compare_heads(const void *a, const void *b)
{
	const uint64_t *left = a;
	const uint64_t *right = b;

	for (uint32_t i = 0; i < compared_words; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* A pair with its keys. */
typedef struct Keyed
{
	uint64_t head[HG_MAX_REDUCE_KEYS + 1]; /* keys, and their nulls */
	uint32_t i[2];
} Keyed;

static void
set_head(const TestReplicaSide *const sides[2], const HgReduceSpec *spec, Keyed *pair)
{
	memset(pair->head, 0, sizeof(pair->head));
	for (uint32_t k = 0; k < spec->nkeys; k++)
	{
		const HgReduceColumn *key = &spec->keys[k];

		if (test_replica_value(sides[key->side], key->column, pair->i[key->side],
							   key->is_signed != 0, &pair->head[k]))
		{
			pair->head[k] = 0;
			pair->head[spec->nkeys] |= UINT64_C(1) << k;
		}
	}
}

/* Add an argument of some pair to an item, whose words are these. */
static void
add_argument(const TestReplicaSide *const sides[2], const HgReduceItem *item, const uint32_t i[2],
			 uint64_t *words)
{
	const HgReduceColumn *argument = &item->argument;
	const bool is_signed = argument->is_signed != 0;
	uint64_t bits;

	if (test_replica_value(sides[argument->side], argument->column, i[argument->side], is_signed,
						   &bits))
		return;
	words[0]++;
	if (item->kind == HG_REDUCE_SUM)
	{
		unsigned __int128 sum = (unsigned __int128) words[2] << 64 | words[1];

		sum += is_signed ? (unsigned __int128) (__int128) (int64_t) bits : bits;
		words[1] = (uint64_t) sum;
		words[2] = (uint64_t) (sum >> 64);
	}
	else if (item->kind != HG_REDUCE_COUNT)
	{
		const bool less = is_signed ? (int64_t) bits < (int64_t) words[1] : bits < words[1];

		if (words[0] == 1 || (bits != words[1] && less == (item->kind == HG_REDUCE_MIN)))
			words[1] = bits;
	}
}

/* Make groups of pairs that are sorted by their keys. */
static void
fold(const TestReplicaSide *const sides[2], const HgReduceSpec *spec, const Keyed *pairs,
	 size_t count, TestReplicaGroups *groups)
{
	const uint32_t words = hg_reduce_words(spec);
	uint64_t *record = groups->words;

	memset(record, 0, words * sizeof(uint64_t));
	groups->count = spec->nkeys == 0;
	for (size_t p = 0; p < count; p++)
	{
		uint64_t *item;

		if (groups->count == 0 || memcmp(record, pairs[p].head, compared_words * 8) != 0)
		{
			record = groups->words + groups->count++ * words;
			memset(record, 0, words * sizeof(uint64_t));
			memcpy(record, pairs[p].head, compared_words * sizeof(uint64_t));
		}
		item = record + spec->nkeys + 1;
		item[0]++;
		item++;
		for (uint32_t i = 0; i < spec->nitems; i++)
		{
			add_argument(sides, &spec->items[i], pairs[p].i, item);
			item += hg_reduce_item_words(&spec->items[i]);
		}
	}
}

void
test_replica_naive_groups(const TestReplicaSide *outer, const TestReplicaSide *inner,
						  const TestReplicaPairs *pairs, HgMatchMode mode, const HgReduceSpec *spec,
						  TestReplicaGroups *groups)
{
	const TestReplicaSide *const sides[2] = {outer, inner};
	Known *known[2] = {sort_known(outer), sort_known(inner)};
	Keyed *keyed = test_malloc(pairs->count * sizeof(Keyed) + 1);
	size_t count = 0;

	for (size_t p = 0; p < pairs->count; p++)
	{
		const uint64_t pair = pairs->pairs[p];

		if (mode == HG_MATCH_FIRST && p > 0 && pairs->pairs[p - 1] >> 32 == pair >> 32)
			continue;
		if (!find_known(outer, known[HG_OUTER], (uint32_t) (pair >> 32), &keyed[count].i[0]) ||
			!find_known(inner, known[HG_INNER], (uint32_t) pair, &keyed[count].i[1]))
			abort();
		set_head(sides, spec, &keyed[count++]);
	}
	compared_words = spec->nkeys + 1;
	if (count > 0)
		qsort(keyed, count, sizeof(Keyed), compare_heads);
	groups->words = test_malloc((count + 1) * hg_reduce_words(spec) * sizeof(uint64_t));
	fold(sides, spec, keyed, count, groups);
	free(keyed);
	free(known[HG_OUTER]);
	free(known[HG_INNER]);
}

/* Sort records, and set what is undefined in them to 0. */
static void
normalise(TestReplicaGroups *groups, const HgReduceSpec *spec)
{
	const uint32_t words = hg_reduce_words(spec);

	for (uint64_t group = 0; group < groups->count; group++)
	{
		uint64_t *item = groups->words + group * words + spec->nkeys + 2;

		for (uint32_t i = 0; i < spec->nitems; i++)
		{
			if (item[0] == 0 && spec->items[i].kind >= HG_REDUCE_MIN)
				item[1] = 0;
			item += hg_reduce_item_words(&spec->items[i]);
		}
	}
	compared_words = spec->nkeys + 1;
	if (groups->count > 0)
		qsort(groups->words, (size_t) groups->count, words * sizeof(uint64_t), compare_heads);
}

HgStatus
test_replica_fetch_groups(HgEngine *engine, HgJob *job, const HgReduceSpec *spec, uint64_t count,
						  size_t capacity, TestReplicaGroups *groups, HgError *error)
{
	const uint32_t words = hg_reduce_words(spec);
	HgGroupRecords records = {.capacity = capacity, .count = 1};
	HgStatus status = HG_OK;

	groups->count = 0;
	groups->words = test_malloc((size_t) (count + capacity) * words * sizeof(uint64_t));
	while (status == HG_OK && records.count > 0 && groups->count <= count)
	{
		records.words = groups->words + groups->count * words;
		status = engine->columns->next_groups(job, &records, error);
		groups->count += records.count;
	}
	if (status == HG_OK && groups->count != count)
		status = hg_error_set(error, HG_INVALID, NULL, "not as many groups as were promised");
	if (status == HG_OK)
		normalise(groups, spec);
	return status;
}

bool
test_replica_groups_equal(const TestReplicaGroups *groups, const TestReplicaGroups *wanted,
						  const HgReduceSpec *spec)
{
	return groups->count == wanted->count &&
		   memcmp(groups->words, wanted->words,
				  (size_t) groups->count * hg_reduce_words(spec) * sizeof(uint64_t)) == 0;
}

/* ------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------ */

/* Is what came with some matches right in one column? */
static bool
values_right(const TestReplicaSide *side, const Known *known, const HgMatches *matches,
			 HgSide which, uint32_t column)
{
	const uint32_t *rows = which == HG_OUTER ? matches->outer : matches->inner;
	const unsigned char *values = matches->values[which][column];
	const uint32_t width = test_replica_widths[column];

	for (size_t m = 0; m < matches->count; m++)
	{
		uint64_t wanted;
		uint32_t i;
		bool null;

		if (!find_known(side, known, rows[m], &i))
			return false;
		null = test_replica_value(side, column, i, false, &wanted);
		if (null != (matches->has_nulls[which][column] && matches->nulls[which][column][m] != 0) ||
			(!null && memcmp(values + m * width, &wanted, width) != 0))
			return false;
	}
	return true;
}

HgStatus
test_replica_read_values(HgEngine *engine, HgJob *job, const TestReplicaSide *outer,
						 const TestReplicaSide *inner, size_t capacity, uint64_t chunks,
						 uint32_t unwanted, TestReplicaPairs *pairs, HgError *error)
{
	const TestReplicaSide *const sides[2] = {outer, inner};
	Known *known[2] = {sort_known(outer), sort_known(inner)};
	uint32_t *rows = test_malloc(2 * capacity * sizeof(uint32_t));
	unsigned char *room = test_malloc(2 * HG_MAX_COLUMNS * 16 * capacity);
	HgMatches matches = {.outer = rows, .inner = rows + capacity, .capacity = capacity, .count = 1};
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < 2 * HG_MAX_COLUMNS; i++)
		if (i % HG_MAX_COLUMNS < sides[i / HG_MAX_COLUMNS]->spread.ncolumns &&
			(unwanted >> i & 1) == 0)
		{
			matches.values[i / HG_MAX_COLUMNS][i % HG_MAX_COLUMNS] = room + 16 * capacity * i;
			matches.nulls[i / HG_MAX_COLUMNS][i % HG_MAX_COLUMNS] =
				room + 16 * capacity * i + 8 * capacity;
		}
	for (; chunks > 0 && status == HG_OK && matches.count > 0; chunks--)
	{
		status = engine->join->next(job, &matches, error);
		for (uint32_t i = 0; i < 2 * HG_MAX_COLUMNS && status == HG_OK; i++)
			if (matches.values[i / HG_MAX_COLUMNS][i % HG_MAX_COLUMNS] != NULL &&
				!values_right(sides[i / HG_MAX_COLUMNS], known[i / HG_MAX_COLUMNS], &matches,
							  (HgSide) (i / HG_MAX_COLUMNS), i % HG_MAX_COLUMNS))
				status = hg_error_set(error, HG_INVALID, NULL, "a wrong value in column %u of %u",
									  i % HG_MAX_COLUMNS, i / HG_MAX_COLUMNS);
		for (size_t m = 0; m < matches.count && status == HG_OK; m++)
			test_replica_add(pairs, matches.outer[m], matches.inner[m]);
	}
	free(room);
	free(rows);
	free(known[HG_OUTER]);
	free(known[HG_INNER]);
	return status;
}
