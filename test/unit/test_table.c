/*-------------------------------------------------------------------------
 *
 * test_table.c
 *	  The tables of the CPU: the conformity suite, and what is their own promise.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"
#include "test_table_suite.h"

#include "../../src/engine/table/hg_table_cpu.h"

/* A spec out of its limits is HG_INVALID, to open and to be told the memory of. */
static void
test_specs(void)
{
	static const struct
	{
		const char *what;
		HgTableSpec spec;
	} wrong[] = {
		{"no key width", {.kind = HG_TABLE_CSR}},
		{"keys of 16 bits", {.kind = HG_TABLE_CSR, .key_width = 2}},
		{"a numbering in lists", {.content = HG_TABLE_NUMBERING, .key_width = 4}},
		{"a multimap of subtables",
		 {.kind = HG_TABLE_DYCUCKOO, .content = HG_TABLE_MULTIMAP, .key_width = 4}},
		{"an unknown kind", {.kind = HG_TABLE_KINDS, .key_width = 4}},
		{"an unknown content", {.content = HG_TABLE_CONTENTS, .key_width = 4}},
		{"a load factor of 100", {.load_factor = 100, .key_width = 4}},
		{"padding below one", {.kind = HG_TABLE_ELLPACK, .max_padding = 0.5, .key_width = 4}},
		{"65 empty slots", {.kind = HG_TABLE_DYNAMIC, .empty_slots = 65, .key_width = 4}},
		{"an unknown layout", {.layout = (HgTableLayout) 2, .key_width = 4}},
		{"one function", {.kind = HG_TABLE_CUCKOO, .functions = 1, .key_width = 4}},
		{"two functions for a full table",
		 {.kind = HG_TABLE_CUCKOO, .functions = 2, .slots_factor = 1.25, .key_width = 4}},
		{"nine subtables", {.kind = HG_TABLE_DYCUCKOO, .subtables = 9, .key_width = 4}},
		{"filled factors too close",
		 {.kind = HG_TABLE_DYCUCKOO, .min_filled = 0.7, .max_filled = 0.8, .key_width = 4}},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		HgTable *table = NULL;
		HgTableMemory memory;
		HgError error = {0};
		TestHost host;

		test_host_init(&host, test_host_plain());
		hg_tap_ok(hg_table_cpu()->open(hg_table_cpu(), &host.host, &wrong[i].spec, &table,
									   &error) == HG_INVALID &&
					  table == NULL && host.allocations == 0 && error.message[0] != '\0' &&
					  hg_table_cpu()->memory(&wrong[i].spec, 1, &memory, NULL) == HG_INVALID,
				  "cpu: no table with %s", wrong[i].what);
	}
}

int
main(void)
{
	test_specs();
	hg_table_suite(hg_table_cpu());
	return hg_tap_done();
}
