/*-------------------------------------------------------------------------
 *
 * test_columns.c
 *	  Jobs with columns, for tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_columns.h"

#include "../../src/engine/hg_hash.h"

#include <stdlib.h>
#include <string.h>

const uint8_t test_widths[HG_MAX_COLUMNS] = {8, 4, 2, 1, 8, 4, 2, 1};

static uint64_t
random_next(uint64_t *state)
{
	return hg_mix64(*state += UINT64_C(0x9E3779B97F4A7C15));
}

/* One value as the spread wants it: around 0, so that narrow columns have negative ones too. */
static uint64_t
random_value(const TestSpread *spread, uint64_t *state)
{
	const uint64_t extremes[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t) INT64_MIN};
	uint64_t bits = random_next(state);

	if ((int) (random_next(state) % 100) < spread->hot)
		return 7;
	if (spread->values == 0)
		return bits % 4 == 0 ? extremes[bits / 4 % 5] : bits;
	return bits % spread->values - spread->values / 2;
}

void
test_case_create(TestCase *c, uint32_t ncolumns)
{
	uint64_t state = 42;

	test_data_create(&c->data, c->kind, c->key_width, c->rows[HG_OUTER], c->rows[HG_INNER]);
	c->spec.key_width = c->key_width;
	c->spec.device = -1;
	for (int side = 0; side < 2; side++)
	{
		c->spec.sides[side].ncolumns = ncolumns;
		memcpy(c->spec.sides[side].column_width, test_widths, sizeof(test_widths));
		for (uint32_t column = 0; column < ncolumns; column++)
		{
			unsigned char *values = test_malloc(c->rows[side] * test_widths[column]);
			uint8_t *nulls =
				c->spread.nulls > 0 && column % 2 == 0 ? test_malloc(c->rows[side]) : NULL;

			for (uint64_t row = 0; row < c->rows[side]; row++)
			{
				uint64_t value = random_value(&c->spread, &state);

				memcpy(values + row * test_widths[column], &value, test_widths[column]);
				if (nulls != NULL)
					nulls[row] = (int) (random_next(&state) % 100) < c->spread.nulls ? 0x80 : 0;
			}
			c->values[side][column] = values;
			c->nulls[side][column] = nulls;
		}
	}
}

void
test_case_destroy(TestCase *c)
{
	for (int side = 0; side < 2; side++)
		for (uint32_t column = 0; column < HG_MAX_COLUMNS; column++)
		{
			free(c->values[side][column]);
			free(c->nulls[side][column]);
		}
	test_data_destroy(&c->data);
}

uint64_t
test_case_number(const TestCase *c, HgSide side, uint64_t position)
{
	const uint64_t blocks = (c->rows[side] + c->numbers - 1) / c->numbers;

	return (blocks - 1 - position / c->numbers) * (c->numbers + 3) + position % c->numbers;
}

/* The end of what can be appended with what stands at a position. */
static uint64_t
piece_end(const TestCase *c, HgSide side, uint64_t at)
{
	uint64_t end = c->rows[side];

	if (c->piece > 0 && end - at > c->piece)
		end = at + c->piece;
	if (c->numbers > 0 && end > (at / c->numbers + 1) * c->numbers)
		end = (at / c->numbers + 1) * c->numbers;
	return end;
}

HgStatus
test_case_append_keys(const TestCase *c, HgEngine *engine, HgJob *job, HgSide side, HgError *error)
{
	const unsigned char *keys = c->data.keys[side];
	HgStatus status = HG_OK;

	for (uint64_t at = 0, end; at < c->rows[side] && status == HG_OK; at = end)
	{
		end = piece_end(c, side, at);
		status = c->numbers > 0
					 ? engine->join->append_rows(job, side, keys + at * c->key_width, end - at,
												 test_case_number(c, side, at), error)
					 : engine->join->append(job, side, keys + at * c->key_width, end - at, error);
	}
	return status;
}

HgStatus
test_case_append_column(const TestCase *c, HgEngine *engine, HgJob *job, HgSide side,
						uint32_t column, HgError *error)
{
	const uint8_t *nulls = c->nulls[side][column];
	HgStatus status = HG_OK;

	for (uint64_t at = 0, end; at < c->rows[side] && status == HG_OK; at = end)
	{
		end = piece_end(c, side, at);
		status = engine->columns->append_column(
			job, side, column, c->values[side][column] + at * test_widths[column],
			nulls != NULL ? nulls + at : NULL, end - at,
			c->numbers > 0 ? test_case_number(c, side, at) : at, error);
	}
	return status;
}

HgStatus
test_case_build(const TestCase *c, HgEngine *engine, const HgHost *host, HgJob **job,
				HgError *error)
{
	HgJobSpec spec = c->spec;
	HgStatus status;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		spec.sides[side].expected_rows = c->rows[side];
	*job = NULL;
	status = engine->open(engine, host, &spec, job, error);
	for (int side = 0; side < 2 && status == HG_OK; side++)
		status = test_case_append_keys(c, engine, *job, (HgSide) side, error);
	for (int side = 1; side >= 0 && status == HG_OK; side--)
		for (uint32_t column = 0; column < spec.sides[side].ncolumns && status == HG_OK; column++)
			status = test_case_append_column(c, engine, *job, (HgSide) side, column, error);
	return status == HG_OK ? engine->join->build(*job, error) : status;
}
