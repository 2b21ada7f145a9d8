/*-------------------------------------------------------------------------
 *
 * hg_bench_json.c
 *	  The JSON of the benchmarks: an object of what was measured, which has a list of courses.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_bench_json.h"

#include <stdlib.h>

void
hg_bench_json_open(HgBenchJson *json, const char *name)
{
	json->file = fopen(name, "w");
	json->first = true;
	if (json->file == NULL)
	{
		perror(name);
		exit(2);
	}
}

void
hg_bench_json_begin(const HgBenchJson *json, const char *benchmark, int runs)
{
	fprintf(json->file, "{\"benchmark\": \"%s\", \"runs\": %d, \"courses\": [", benchmark, runs);
}

void
hg_bench_json_next(HgBenchJson *json)
{
	fputs(json->first ? "\n" : ",\n", json->file);
	json->first = false;
}

void
hg_bench_json_text(const HgBenchJson *json, const char *text)
{
	putc('"', json->file);
	for (; *text != '\0'; text++)
	{
		if (*text == '"' || *text == '\\')
			putc('\\', json->file);
		if ((unsigned char) *text < ' ')
			fprintf(json->file, "\\u%04x", *text);
		else
			putc(*text, json->file);
	}
	putc('"', json->file);
}

bool
hg_bench_json_end(HgBenchJson *json, const char *program)
{
	bool whole;

	fputs("\n]}\n", json->file);
	whole = !ferror(json->file);
	whole &= fclose(json->file) == 0;
	json->file = NULL;
	if (!whole)
		perror(program);
	return whole;
}
