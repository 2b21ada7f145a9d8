/*-------------------------------------------------------------------------
 *
 * hg_workload.c
 *	  The workloads of the benchmark: keys of two sides and the right answer.
 *
 * Every key is made from a value of a small domain 0 .. D - 1 by an invertible
 * function, so that the right answer can be worked out on the values: rows of A
 * are put in the order of their values by counting (direct addressing, no
 * hashing), and each row of B reads the rows of its value there.
 *
 * A shuffled side is a pseudo-random permutation of its rows, which is computed
 * row by row; draws come from a counter-based generator.  So a workload is the
 * same on every machine.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_workload.h"

#include <stdlib.h>
#include <string.h>

/* How the values of a side are spread over its rows. */
typedef enum Spread
{
	SPREAD_PERMUTED, /* every value of the domain once */
	SPREAD_UNIFORM,	 /* drawn from the domain */
	SPREAD_ZIPF		 /* drawn with a probability proportional to 1 / (1 + value) */
} Spread;

/* How a key is made from a value. */
typedef enum KeyForm
{
	KEY_DENSE, /* the value */
	KEY_MIXED, /* spread over all words by a mixer */
	KEY_STRIDE,
	KEY_HIGH /* equal high halves (64-bit keys) */
} KeyForm;

typedef struct SideRecipe
{
	uint64_t rows;
	uint64_t domain;
	Spread spread;
} SideRecipe;

typedef struct Recipe
{
	const char *name;
	bool is_main;
	uint32_t key_width;
	KeyForm form;
	SideRecipe a;
	SideRecipe b;
} Recipe;

#define M(log2) (UINT64_C(1) << (log2))

static const Recipe recipes[] = {
	{"U25", true, 4, KEY_DENSE, {M(25), M(25), SPREAD_PERMUTED}, {M(25), M(25), SPREAD_PERMUTED}},
	{"M1", true, 4, KEY_MIXED, {M(25), M(25), SPREAD_UNIFORM}, {M(25), M(25), SPREAD_UNIFORM}},
	{"M2", true, 4, KEY_MIXED, {M(25), M(24), SPREAD_UNIFORM}, {M(25), M(24), SPREAD_UNIFORM}},
	{"M8", true, 4, KEY_MIXED, {M(25), M(22), SPREAD_UNIFORM}, {M(25), M(22), SPREAD_UNIFORM}},
	{"FK20", true, 4, KEY_MIXED, {M(20), M(20), SPREAD_PERMUTED}, {M(27), M(20), SPREAD_UNIFORM}},
	{"FK22", true, 4, KEY_MIXED, {M(22), M(22), SPREAD_PERMUTED}, {M(27), M(22), SPREAD_UNIFORM}},
	{"FK10%",
	 true,
	 4,
	 KEY_MIXED,
	 {M(22), M(22), SPREAD_PERMUTED},
	 {M(27), 10 * M(22), SPREAD_UNIFORM}},
	{"Z22", true, 4, KEY_MIXED, {M(22), M(22), SPREAD_PERMUTED}, {M(27), M(22), SPREAD_ZIPF}},
	{"U27", true, 4, KEY_DENSE, {M(27), M(27), SPREAD_PERMUTED}, {M(27), M(27), SPREAD_PERMUTED}},
	{"H22", true, 4, KEY_MIXED, {M(22), M(12), SPREAD_UNIFORM}, {M(16), M(12), SPREAD_UNIFORM}},

	{"S12", false, 4, KEY_MIXED, {M(12), M(12), SPREAD_PERMUTED}, {M(12), M(12), SPREAD_PERMUTED}},
	{"S16", false, 4, KEY_MIXED, {M(16), M(16), SPREAD_PERMUTED}, {M(16), M(16), SPREAD_PERMUTED}},
	{"S20", false, 4, KEY_MIXED, {M(20), M(20), SPREAD_PERMUTED}, {M(20), M(20), SPREAD_PERMUTED}},

	{"U10M",
	 false,
	 4,
	 KEY_DENSE,
	 {10000000, 10000000, SPREAD_PERMUTED},
	 {10000000, 10000000, SPREAD_PERMUTED}},
	{"U10M-64",
	 false,
	 8,
	 KEY_DENSE,
	 {10000000, 10000000, SPREAD_PERMUTED},
	 {10000000, 10000000, SPREAD_PERMUTED}},
	{"D100k",
	 false,
	 4,
	 KEY_DENSE,
	 {100000, 100000, SPREAD_PERMUTED},
	 {10000000, 100000, SPREAD_UNIFORM}},
	{"D1k", false, 4, KEY_DENSE, {1000, 1000, SPREAD_PERMUTED}, {10000000, 1000, SPREAD_UNIFORM}},
	{"D10k",
	 false,
	 4,
	 KEY_DENSE,
	 {10000, 10000, SPREAD_PERMUTED},
	 {10000000, 10000, SPREAD_UNIFORM}},
	{"D300k",
	 false,
	 4,
	 KEY_DENSE,
	 {300000, 300000, SPREAD_PERMUTED},
	 {10000000, 300000, SPREAD_UNIFORM}},
	{"D1M",
	 false,
	 4,
	 KEY_DENSE,
	 {1000000, 1000000, SPREAD_PERMUTED},
	 {10000000, 1000000, SPREAD_UNIFORM}},
	{"D3M",
	 false,
	 4,
	 KEY_DENSE,
	 {3000000, 3000000, SPREAD_PERMUTED},
	 {10000000, 3000000, SPREAD_UNIFORM}},
	{"X32",
	 false,
	 4,
	 KEY_DENSE,
	 {1000000, 1000000, SPREAD_PERMUTED},
	 {10000000, 312500, SPREAD_UNIFORM}},
	{"X32-inner",
	 false,
	 4,
	 KEY_DENSE,
	 {10000000, 312500, SPREAD_UNIFORM},
	 {1000000, 1000000, SPREAD_PERMUTED}},
	{"S100k-inner",
	 false,
	 4,
	 KEY_DENSE,
	 {10000000, 10000000, SPREAD_PERMUTED},
	 {100000, 10000000, SPREAD_UNIFORM}},
	{"U25-stride",
	 false,
	 4,
	 KEY_STRIDE,
	 {M(25), M(25), SPREAD_PERMUTED},
	 {M(25), M(25), SPREAD_PERMUTED}},
	{"U25-stride-64",
	 false,
	 8,
	 KEY_STRIDE,
	 {M(25), M(25), SPREAD_PERMUTED},
	 {M(25), M(25), SPREAD_PERMUTED}},
	{"U25-high-64",
	 false,
	 8,
	 KEY_HIGH,
	 {M(25), M(25), SPREAD_PERMUTED},
	 {M(25), M(25), SPREAD_PERMUTED}},
	{"FK22-stride",
	 false,
	 4,
	 KEY_STRIDE,
	 {M(22), M(22), SPREAD_PERMUTED},
	 {M(27), M(22), SPREAD_UNIFORM}},
	{"FK22-high-64",
	 false,
	 8,
	 KEY_HIGH,
	 {M(22), M(22), SPREAD_PERMUTED},
	 {M(27), M(22), SPREAD_UNIFORM}},
	{"U25-64",
	 false,
	 8,
	 KEY_DENSE,
	 {M(25), M(25), SPREAD_PERMUTED},
	 {M(25), M(25), SPREAD_PERMUTED}},
	{"M1-64", false, 8, KEY_MIXED, {M(25), M(25), SPREAD_UNIFORM}, {M(25), M(25), SPREAD_UNIFORM}},
	{"FK20-64",
	 false,
	 8,
	 KEY_MIXED,
	 {M(20), M(20), SPREAD_PERMUTED},
	 {M(27), M(20), SPREAD_UNIFORM}},
	{"FK22-64",
	 false,
	 8,
	 KEY_MIXED,
	 {M(22), M(22), SPREAD_PERMUTED},
	 {M(27), M(22), SPREAD_UNIFORM}},
	{"U27-64",
	 false,
	 8,
	 KEY_DENSE,
	 {M(27), M(27), SPREAD_PERMUTED},
	 {M(27), M(27), SPREAD_PERMUTED}},
};

int
hg_workload_count(void)
{
	return (int) (sizeof(recipes) / sizeof(recipes[0]));
}

const char *
hg_workload_name(int index)
{
	return recipes[index].name;
}

bool
hg_workload_is_main(int index)
{
	return recipes[index].is_main;
}

bool
hg_workload_is_small(int index)
{
	return recipes[index].a.rows <= M(20) && recipes[index].b.rows <= M(20);
}

/* Draw number i of stream seed: splitmix64's output function over a counter. */
static uint64_t
draw(uint64_t seed, uint64_t i)
{
	uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * UINT64_C(0xd1342543de82ef95);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/*
 * Number i of a pseudo-random permutation of 0 .. n - 1.  Each step (an odd
 * multiplier, an addition, a right shift xored in) can be undone within the words
 * of some bits, so that they are permuted; where a word is not below n, its
 * successors are taken until one is, which permutes those below n.
 */
static uint64_t
permuted(uint64_t seed, uint64_t i, uint64_t n)
{
	unsigned bits = 1;
	uint64_t mask;

	while (n > UINT64_C(1) << bits)
		bits++;
	mask = (UINT64_C(1) << bits) - 1;
	do
	{
		for (int round = 0; round < 4; round++)
		{
			uint64_t constant = draw(seed, (uint64_t) round);

			i = (i * (constant | 1) + (constant >> 32)) & mask;
			i ^= i >> (bits / 2 + 1);
		}
	} while (i >= n);
	return i;
}

/* A discrete distribution to draw from in constant time (A. J. Walker, 1977). */
typedef struct AliasTable
{
	double *chance;	 /* [n] of keeping the column drawn */
	uint32_t *alias; /* [n] the value to take otherwise */
	uint64_t n;
} AliasTable;

static void
alias_free(AliasTable *table)
{
	free(table->chance);
	free(table->alias);
}

/* The table of probabilities proportional to 1 / (1 + value), by M. D. Vose. */
static bool
alias_create_zipf(AliasTable *table, uint64_t n)
{
	uint32_t *small = malloc(n * sizeof(uint32_t));
	uint32_t *large = malloc(n * sizeof(uint32_t));
	uint64_t smalls = 0;
	uint64_t larges = 0;
	double sum = 0;

	table->n = n;
	table->chance = malloc(n * sizeof(double));
	table->alias = malloc(n * sizeof(uint32_t));
	if (small == NULL || large == NULL || table->chance == NULL || table->alias == NULL)
	{
		free(small);
		free(large);
		alias_free(table);
		return false;
	}

	for (uint64_t i = 0; i < n; i++)
		sum += 1.0 / (double) (i + 1);
	for (uint64_t i = 0; i < n; i++)
	{
		table->chance[i] = (double) n / ((double) (i + 1) * sum);
		table->alias[i] = (uint32_t) i;
		if (table->chance[i] < 1)
			small[smalls++] = (uint32_t) i;
		else
			large[larges++] = (uint32_t) i;
	}

	/* what a small column lacks is taken from a large one */
	while (smalls > 0 && larges > 0)
	{
		uint32_t less = small[--smalls];
		uint32_t more = large[larges - 1];

		table->alias[less] = more;
		table->chance[more] -= 1 - table->chance[less];
		if (table->chance[more] < 1)
		{
			larges--;
			small[smalls++] = more;
		}
	}
	free(small);
	free(large);
	return true;
}

static uint32_t
alias_draw(const AliasTable *table, uint64_t random)
{
	uint64_t column = ((random >> 32) * table->n) >> 32;
	double fraction = (double) (random & UINT32_MAX) / 4294967296.0;

	return fraction < table->chance[column] ? (uint32_t) column : table->alias[column];
}

static void
store_key(void *keys, uint64_t row, const Recipe *recipe, uint64_t value)
{
	if (recipe->key_width == 4)
	{
		uint32_t key = (uint32_t) value;

		if (recipe->form == KEY_MIXED)
			key = hg_mix32(key);
		else if (recipe->form == KEY_STRIDE)
			key = (key << 16) | (key >> 16); /* 2^16 apart, and still all different */
		((uint32_t *) keys)[row] = key;
	}
	else
	{
		uint64_t key = value;

		if (recipe->form == KEY_MIXED)
			key = hg_mix64(key);
		else if (recipe->form == KEY_STRIDE)
			key <<= 16;
		else if (recipe->form == KEY_HIGH)
			key |= UINT64_C(0x1234567800000000);
		((uint64_t *) keys)[row] = key;
	}
}

/* Make the keys of a side, and remember their values. */
static bool
generate_side(const Recipe *recipe, const SideRecipe *side, unsigned scale, uint64_t seed,
			  uint64_t *rows, uint32_t **values, void **keys)
{
	uint64_t domain = side->domain >> scale;
	AliasTable zipf = {NULL, NULL, 0};

	*rows = side->rows >> scale;
	if (domain == 0)
		domain = 1;
	if (*rows == 0)
		*rows = 1;
	*values = malloc(*rows * sizeof(uint32_t));
	*keys = malloc(*rows * recipe->key_width);
	if (*values == NULL || *keys == NULL)
		return false;
	if (side->spread == SPREAD_ZIPF && !alias_create_zipf(&zipf, domain))
		return false;

	for (uint64_t row = 0; row < *rows; row++)
	{
		uint64_t value;

		if (side->spread == SPREAD_PERMUTED)
			value = permuted(seed, row, domain);
		else if (side->spread == SPREAD_UNIFORM)
			value = ((draw(seed, row) >> 32) * domain) >> 32;
		else
			value = alias_draw(&zipf, draw(seed, row));
		(*values)[row] = (uint32_t) value;
		store_key(*keys, row, recipe, value);
	}
	alias_free(&zipf);
	return true;
}

/* Work out the right answer from the values of both sides. */
static bool
answer(HgWorkload *workload, const uint32_t *values_a, const uint32_t *values_b, uint64_t domain)
{
	uint32_t *ends = calloc(domain + 1, sizeof(uint32_t));
	uint32_t *rows = malloc(workload->rows_a * sizeof(uint32_t));

	if (ends == NULL || rows == NULL)
	{
		free(ends);
		free(rows);
		return false;
	}

	/* the rows of A of value v are rows[ends[v] .. ends[v + 1]) in the end */
	for (uint64_t row = 0; row < workload->rows_a; row++)
		ends[values_a[row] + 1]++;
	for (uint64_t value = 0; value < domain; value++)
		ends[value + 1] += ends[value];
	for (uint64_t row = workload->rows_a; row-- > 0;)
		rows[--ends[values_a[row] + 1]] = (uint32_t) row;

	/* each end has moved down to its start, one value below */
	for (uint64_t value = 0; value < domain; value++)
		ends[value] = ends[value + 1];
	ends[domain] = (uint32_t) workload->rows_a;

	workload->pairs = 0;
	workload->checksum = 0;
	for (uint64_t row = 0; row < workload->rows_b; row++)
	{
		uint32_t start = ends[values_b[row]];
		uint32_t end = ends[values_b[row] + 1];

		workload->pairs += end - start;
		for (uint32_t i = start; i < end; i++)
			workload->checksum += hg_workload_pair(rows[i], (uint32_t) row);
	}
	free(ends);
	free(rows);
	return true;
}

bool
hg_workload_generate(int index, unsigned scale, HgWorkload *workload)
{
	const Recipe *recipe = &recipes[index];
	uint64_t domain = recipe->a.domain > recipe->b.domain ? recipe->a.domain : recipe->b.domain;
	uint32_t *values_a = NULL;
	uint32_t *values_b = NULL;
	bool done;

	memset(workload, 0, sizeof(*workload));
	workload->name = recipe->name;
	workload->key_width = recipe->key_width;
	domain >>= scale;

	done = generate_side(recipe, &recipe->a, scale, 1, &workload->rows_a, &values_a,
						 &workload->keys_a) &&
		   generate_side(recipe, &recipe->b, scale, 2, &workload->rows_b, &values_b,
						 &workload->keys_b) &&
		   answer(workload, values_a, values_b, domain == 0 ? 1 : domain);
	free(values_a);
	free(values_b);
	if (!done)
		hg_workload_free(workload);
	return done;
}

void
hg_workload_free(HgWorkload *workload)
{
	free(workload->keys_a);
	free(workload->keys_b);
	workload->keys_a = NULL;
	workload->keys_b = NULL;
}
