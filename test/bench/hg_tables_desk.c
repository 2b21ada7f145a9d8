/*-------------------------------------------------------------------------
 *
 * hg_tables_desk.c
 *	  What a workload of tables works with: arrays in two places, a table, steps that are timed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tables_desk.h"

#include "hg_bench_host.h"

#include "../../src/engine/hg_hash.h"

#include <stdlib.h>
#include <string.h>

/* What takes longer than this is not run again. */
#define LONG_MS 10000

void
hg_desk_open(HgBenchDesk *desk, HgBenchCourse *course)
{
	*desk =
		(HgBenchDesk){.course = course, .bench = course->bench, .width = course->spec.key_width};
}

void
hg_desk_close_table(HgBenchDesk *desk)
{
	if (desk->table != NULL)
		desk->bench->close(desk->table);
	desk->table = NULL;
}

void
hg_desk_close(HgBenchDesk *desk)
{
	hg_desk_close_table(desk);
	for (int i = 0; i < desk->narrays; i++)
	{
		if (desk->arrays[i].there != NULL)
			desk->bench->drop(desk->arrays[i].there, desk->arrays[i].bytes);
		free(desk->arrays[i].host);
	}
}

HgStatus
hg_desk_make(HgBenchDesk *desk, uint64_t count, size_t width, HgBenchArray **array, HgError *error)
{
	HgBenchArray *made = &desk->arrays[desk->narrays++];

	made->bytes = count * width > 0 ? count * width : 1;
	made->host = malloc(made->bytes);
	if (made->host == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory for a workload");
	*array = made;
	return desk->bench->make(made->bytes, &made->there, error);
}

HgStatus
hg_desk_put(HgBenchDesk *desk, const HgBenchArray *array, HgError *error)
{
	return desk->bench->put(array->there, array->host, array->bytes, error);
}

HgStatus
hg_desk_get_rows(HgBenchDesk *desk, const HgBenchArray *array, uint64_t count,
				 const uint32_t **rows, HgError *error)
{
	*rows = array->host;
	return desk->bench->get(array->there, array->host, count * sizeof(uint32_t), error);
}

void
hg_desk_set_key(const HgBenchDesk *desk, HgBenchArray *keys, uint64_t at, uint64_t number)
{
	if (desk->width == 4)
		((uint32_t *) keys->host)[at] = hg_mix32((uint32_t) number);
	else
		((uint64_t *) keys->host)[at] = hg_mix64(number);
}

uint64_t
hg_desk_get_key(const HgBenchDesk *desk, const HgBenchArray *keys, uint64_t at)
{
	return desk->width == 4 ? ((const uint32_t *) keys->host)[at]
							: ((const uint64_t *) keys->host)[at];
}

const void *
hg_desk_keys(const HgBenchDesk *desk, const HgBenchArray *keys, uint64_t at)
{
	return (const char *) keys->there + at * desk->width;
}

const uint32_t *
hg_desk_rows(const HgBenchArray *rows, uint64_t at)
{
	return (const uint32_t *) rows->there + at;
}

uint64_t
hg_desk_shuffled(uint64_t number, uint64_t count)
{
	return (number * UINT64_C(0x9E3779B97F4A7C15) ^ UINT64_C(0x2AAAAAAA)) & (count - 1);
}

uint64_t
hg_desk_shuffled_again(uint64_t number, uint64_t count)
{
	return (number * UINT64_C(0x85EBCA77C2B2AE3D) ^ UINT64_C(0x15555555)) & (count - 1);
}

uint32_t
hg_desk_row(const HgBenchDesk *desk, uint64_t number, uint64_t rows)
{
	return desk->course->spec.content == HG_TABLE_SET ? 0
													  : (uint32_t) hg_desk_shuffled(number, rows);
}

HgStatus
hg_desk_open_table(HgBenchDesk *desk, uint64_t expected_rows, HgError *error)
{
	HgTableSpec spec = desk->course->spec;

	spec.expected_rows = expected_rows;
	return desk->bench->open(&spec, &desk->table, error);
}

HgStatus
hg_desk_finish_table(HgBenchDesk *desk, HgError *error)
{
	HG_BENCH_TRY(desk->bench->describe(desk->table, &desk->course->stats, error));
	hg_desk_close_table(desk);
	return HG_OK;
}

HgBenchStep *
hg_desk_step(HgBenchCourse *course, const char *name)
{
	for (int i = 0; i < course->nsteps; i++)
		if (strcmp(course->steps[i].name, name) == 0)
			return &course->steps[i];
	course->steps[course->nsteps] = (HgBenchStep){.name = name};
	return &course->steps[course->nsteps++];
}

HgStatus
hg_desk_start(HgBenchDesk *desk, HgError *error)
{
	return desk->bench->start(error);
}

HgStatus
hg_desk_stop(HgBenchDesk *desk, const char *name, uint64_t operations, HgError *error)
{
	HgBenchStep *step = hg_desk_step(desk->course, name);

	step->operations = operations;
	return desk->bench->stop(&step->ms[step->runs++], error);
}

void
hg_desk_expect(HgBenchDesk *desk, bool right)
{
	desk->course->wrong |= !right;
}

bool
hg_desk_want_run(const HgBenchCourse *course, int done, double since)
{
	return done < course->runs && (done == 0 || hg_clock_ms() - since < LONG_MS);
}
