/*-------------------------------------------------------------------------
 *
 * hg_bench_options.c
 *	  Options of the benchmarks: numbers, names and engines.  What is wrong ends the program.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _DEFAULT_SOURCE /* strsep */

#include "hg_bench_options.h"

#include "../../src/engine/hg_table.h"

#include <stdlib.h>
#include <string.h>

#ifdef HG_WITH_CUDA
#define WITH_CUDA true
#else
#define WITH_CUDA false
#endif

unsigned long
hg_bench_number(const char *program, const char *option, const char *text, unsigned long max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || number > max)
	{
		fprintf(stderr, "%s: --%s takes a number up to %lu, not \"%s\"\n", program, option, max,
				text);
		exit(2);
	}
	return number;
}

int
hg_bench_choice(const char *program, const char *what, const char *text, int count,
				const char *(*name_of)(int) )
{
	for (int i = 0; i < count; i++)
		if (strcmp(name_of(i), text) == 0)
			return i;
	fprintf(stderr, "%s: unknown %s \"%s\"\n", program, what, text);
	exit(2);
}

const char *
hg_bench_kind_name(int kind)
{
	return hg_table_kind_name((HgTableKind) kind);
}

void
hg_bench_check_list(const char *program, const char *what, const char *list, int count,
					const char *(*name_of)(int) )
{
	char *copy = strdup(list);
	char *rest = copy;
	char *name;

	while (copy != NULL && (name = strsep(&rest, ",")) != NULL)
		hg_bench_choice(program, what, name, count, name_of);
	free(copy);
}

bool
hg_bench_is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	if (list == NULL)
		return true;
	for (const char *at = list; at != NULL; at = strchr(at, ','))
	{
		at += *at == ',';
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

static const char *
engine_name(int engine)
{
	static const char *const names[] = {"cpu", "cuda"};

	return names[engine];
}

void
hg_bench_engines(const char *program, const char *what, const char *list, bool *cpu, bool *cuda)
{
	if (list != NULL)
		hg_bench_check_list(program, what, list, 2, engine_name);
	*cpu = hg_bench_is_listed(list, "cpu");
	*cuda = WITH_CUDA && hg_bench_is_listed(list, "cuda");
	if (!*cpu && !*cuda)
	{
		fprintf(stderr, "%s: built without CUDA (make WITH_CUDA=yes)\n", program);
		exit(2);
	}
}

void
hg_bench_help(void (*usage)(FILE *file), bool asked)
{
	usage(asked ? stdout : stderr);
	exit(asked ? 0 : 2);
}
