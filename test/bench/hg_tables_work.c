/*-------------------------------------------------------------------------
 *
 * hg_tables_work.c
 *	  The workloads of the benchmark of tables: those of the papers which describe them.
 *
 *	unique		N pairs with different keys, which are built at once or inserted in 100
 *				batches, and looked up in another order; of half of the lookups the key is
 *				not there
 *	small		N / 32 pairs, and 4 N lookups
 *	functions	unique, in cuckoo tables with other numbers of functions and slots
 *	duplicates	N pairs, of which 1 to 512 have the same key, and all matches of all keys
 *	draws		N draws from N / 32 keys, or from 1024, which are numbered
 *	batches		so many inserts, as many finds and 0.4 times as many deletes, until N pairs
 *				have been inserted; then inserts and deletes swapped, until hardly any is
 *				left (DyCuckoo)
 *
 * N is a power of two.  A key is made from a number of its own by an invertible function, and all
 * else from that number, so that the right answer to a lookup needs no table: each is compared
 * with it, outside of the time that is measured.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tables_desk.h"

const HgBenchWork hg_bench_works[] = {
	{"unique", "pairs with different keys", HG_TABLE_MAP, true, false, 1, hg_bench_run_unique},
	{"small", "few pairs, looked up often", HG_TABLE_MAP, false, false, 1, hg_bench_run_small},
	{"functions", "unique, with other functions and slots", HG_TABLE_MAP, false, true,
	 HG_BENCH_FUNCTION_VARIANTS, hg_bench_run_functions},
	{"duplicates", "1 to 512 rows of a key", HG_TABLE_MULTIMAP, false, false, 10,
	 hg_bench_run_duplicates},
	{"draws", "draws from few keys", HG_TABLE_NUMBERING, false, false, 2, hg_bench_run_draws},
	{"batches", "inserts, finds and deletes", HG_TABLE_MAP, false, false, 1, hg_bench_run_batches},
};

const int hg_bench_work_count = sizeof(hg_bench_works) / sizeof(hg_bench_works[0]);
