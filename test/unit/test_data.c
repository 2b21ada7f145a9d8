/*-------------------------------------------------------------------------
 *
 * test_data.c
 *	  Keys to join, and what the join of them must give.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_data.h"

#include <stdio.h>
#include <stdlib.h>

/* More pairs than this are counted, but not summed up. */
#define MAX_SUMMED_PAIRS (UINT64_C(1) << 26)

typedef struct KeyRow
{
	uint64_t key;
	uint32_t row;
} KeyRow;

void *
test_malloc(size_t bytes)
{
	void *memory = malloc(bytes > 0 ? bytes : 1);

	if (memory == NULL)
	{
		fprintf(stderr, "out of memory: %zu bytes\n", bytes);
		exit(2);
	}
	return memory;
}

const char *
test_keys_name(TestKeys kind)
{
	switch (kind)
	{
		case TEST_KEYS_UNIQUE:
			return "unique";
		case TEST_KEYS_DUPLICATES:
			return "duplicates";
		case TEST_KEYS_EQUAL:
			return "all equal";
		case TEST_KEYS_SKEWED:
			return "skewed";
		case TEST_KEYS_STRIDE:
			return "stride 2^16";
		case TEST_KEYS_HIGH:
			return "equal high halves";
		case TEST_KEYS_ONE_LIST:
			return "many keys in one list";
		case TEST_KEYS_EXTREMES:
			return "0 and all ones";
		case TEST_KEYS_COUNT:
			break;
	}
	return "unknown";
}

uint64_t
test_pair_checksum(uint32_t outer, uint32_t inner)
{
	return hg_mix64(((uint64_t) outer << 32) | inner);
}

uint32_t
test_hash(uint32_t key_width, uint64_t key)
{
	return key_width == 4 ? hg_hash_of_mixed32(hg_mix32((uint32_t) key))
						  : hg_hash_of_mixed64(hg_mix64(key));
}

/* splitmix64 (Sebastiano Vigna, public domain) */
static uint64_t
random_next(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A key of a kind; i is its row number, n the number of rows. */
static uint64_t
make_key(TestKeys kind, uint32_t key_width, uint64_t i, uint64_t n, uint64_t *random)
{
	uint64_t draw = random_next(random);

	switch (kind)
	{
		case TEST_KEYS_UNIQUE:
			return i; /* shuffled later */
		case TEST_KEYS_DUPLICATES:
			return draw % (n / 4 + 1);
		case TEST_KEYS_EQUAL:
			return UINT64_C(0x5a5a5a5a);
		case TEST_KEYS_SKEWED:
		{
			uint64_t key = 0;

			while ((draw & 1) != 0 && key < 20)
			{
				key++;
				draw >>= 1;
			}
			return key * 1000003;
		}
		case TEST_KEYS_STRIDE:
			if (key_width == 4) /* 2^16 apart as far as that goes, and unique */
				return (uint32_t) (i << 16) | (uint32_t) (i >> 16);
			return i << 16;
		case TEST_KEYS_HIGH:
			if (key_width == 4)
				return UINT64_C(0xabcd0000) | (draw & 0xffff);
			return UINT64_C(0x1234567800000000) | (draw % (2 * n));
		case TEST_KEYS_ONE_LIST:
		{
			/* one row in two has a key of its own, the others one of three */
			uint64_t low = (i & 1) != 0 ? i & 0x3ff : i % 3;

			if (key_width == 4)
				return hg_unmix32(UINT32_C(0x9e377800) | (uint32_t) low);
			return hg_unmix64(UINT64_C(0x9e3779b900000000) | low << 5);
		}
		case TEST_KEYS_EXTREMES:
			return draw % 4 - 2;
		case TEST_KEYS_COUNT:
			break;
	}
	return 0;
}

uint64_t
test_data_key(const TestData *data, HgSide side, uint64_t row)
{
	if (data->key_width == 4)
		return ((const uint32_t *) data->keys[side])[row];
	return ((const uint64_t *) data->keys[side])[row];
}

static void
set_key(TestData *data, HgSide side, uint64_t row, uint64_t key)
{
	if (data->key_width == 4)
		((uint32_t *) data->keys[side])[row] = (uint32_t) key;
	else
		((uint64_t *) data->keys[side])[row] = key;
}

static void
shuffle(TestData *data, HgSide side, uint64_t *random)
{
	for (uint64_t i = data->rows[side]; i > 1; i--)
	{
		uint64_t other = random_next(random) % i;
		uint64_t key = test_data_key(data, side, i - 1);

		set_key(data, side, i - 1, test_data_key(data, side, other));
		set_key(data, side, other, key);
	}
}

static int
compare_keys(const void *a, const void *b)
{
	const KeyRow *left = a;
	const KeyRow *right = b;

	return left->key < right->key ? -1 : left->key > right->key;
}

/* The rows of a side by key. */
static KeyRow *
sorted_rows(const TestData *data, HgSide side)
{
	KeyRow *sorted = test_malloc(data->rows[side] * sizeof(KeyRow));

	for (uint64_t i = 0; i < data->rows[side]; i++)
	{
		sorted[i].key = test_data_key(data, side, i);
		sorted[i].row = (uint32_t) i;
	}
	if (data->rows[side] > 1)
		qsort(sorted, data->rows[side], sizeof(KeyRow), compare_keys);
	return sorted;
}

static uint64_t
count_distinct(const KeyRow *sorted, uint64_t n)
{
	uint64_t distinct = 0;

	for (uint64_t i = 0; i < n; i++)
		distinct += i == 0 || sorted[i].key != sorted[i - 1].key;
	return distinct;
}

/* The end of the run of equal keys that starts at i. */
static uint64_t
run_end(const KeyRow *sorted, uint64_t i, uint64_t n)
{
	uint64_t end = i;

	while (end < n && sorted[end].key == sorted[i].key)
		end++;
	return end;
}

/* Fill in the answer, by a merge join of the sorted sides. */
static void
answer(TestData *data)
{
	KeyRow *outer = sorted_rows(data, HG_OUTER);
	KeyRow *inner = sorted_rows(data, HG_INNER);
	uint64_t outer_rows = data->rows[HG_OUTER];
	uint64_t inner_rows = data->rows[HG_INNER];
	uint64_t o = 0;
	uint64_t i = 0;

	data->distinct[HG_OUTER] = count_distinct(outer, outer_rows);
	data->distinct[HG_INNER] = count_distinct(inner, inner_rows);

	while (o < outer_rows && i < inner_rows)
	{
		if (outer[o].key < inner[i].key)
			o++;
		else if (outer[o].key > inner[i].key)
			i++;
		else
		{
			uint64_t o_end = run_end(outer, o, outer_rows);
			uint64_t i_end = run_end(inner, i, inner_rows);
			uint64_t product = (o_end - o) * (i_end - i);

			data->pairs += product;
			data->first += o_end - o;
			for (uint64_t a = o; a < o_end && product <= MAX_SUMMED_PAIRS; a++)
				for (uint64_t b = i; b < i_end; b++)
					data->checksum += test_pair_checksum(outer[a].row, inner[b].row);
			o = o_end;
			i = i_end;
		}
	}
	if (data->pairs > MAX_SUMMED_PAIRS)
		data->checksum = 0;
	free(outer);
	free(inner);
}

void
test_data_create(TestData *data, TestKeys kind, uint32_t key_width, uint64_t outer_rows,
				 uint64_t inner_rows)
{
	uint64_t random = 42 + (uint64_t) kind;

	*data = (TestData){.key_width = key_width, .rows = {outer_rows, inner_rows}};
	for (int side = 0; side < 2; side++)
	{
		uint64_t rows = data->rows[side];

		data->keys[side] = test_malloc(rows * key_width);
		for (uint64_t i = 0; i < rows; i++)
			set_key(data, side, i, make_key(kind, key_width, i, rows, &random));
		shuffle(data, side, &random);
	}
	answer(data);
}

void
test_data_create_hot(TestData *data, uint32_t key_width, const uint64_t rows[2],
					 const uint64_t hot[2])
{
	uint64_t random = 4711;

	*data = (TestData){.key_width = key_width, .rows = {rows[0], rows[1]}};
	for (int side = 0; side < 2; side++)
	{
		data->keys[side] = test_malloc(rows[side] * key_width);
		for (uint64_t i = 0; i < rows[side]; i++)
			set_key(data, (HgSide) side, i, i < hot[side] ? UINT32_MAX : i);
		shuffle(data, (HgSide) side, &random);
	}
	answer(data);
}

void
test_data_create_interval(TestData *data, uint32_t key_width, const uint64_t rows[2],
						  const TestInterval *interval)
{
	const uint64_t last = interval->keys - 1;
	uint64_t random = 815;

	*data = (TestData){.key_width = key_width, .rows = {rows[0], rows[1]}};
	for (int side = 0; side < 2; side++)
		data->keys[side] = test_malloc(rows[side] * key_width);
	for (uint64_t i = 0; i < rows[HG_OUTER]; i++)
	{
		uint64_t draw = random_next(&random) % (2 * interval->keys + 2);

		set_key(data, HG_OUTER, i, interval->least - interval->keys / 4 - 1 + draw);
	}
	for (uint64_t i = 0; i < rows[HG_INNER]; i++)
	{
		uint64_t at = interval->repeats ? random_next(&random) % interval->keys
										: i * (interval->keys / rows[HG_INNER]);

		if (i == 0 || i == rows[HG_INNER] - 1)
			at = i == 0 ? 0 : last;
		set_key(data, HG_INNER, i, interval->least + at);
	}
	shuffle(data, HG_INNER, &random);
	answer(data);
}

void
test_data_destroy(TestData *data)
{
	free(data->keys[HG_OUTER]);
	free(data->keys[HG_INNER]);
}
