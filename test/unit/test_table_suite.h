/*-------------------------------------------------------------------------
 *
 * test_table_suite.h
 *	  The conformity suite of tables of every kind (hg_table.h).
 *
 *	test_table.c		the tables of the CPU, and their own contract
 *	test_table_cuda.c	the same for a device
 *	test_table_suite.c	the cases
 *	test_table_run.c	compares one table with a reference in every respect
 *	hg_naive_table.c	the reference
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_TABLE_SUITE_H
#define TEST_TABLE_SUITE_H

#include "hg_naive_table.h"
#include "test_engine_suite.h"

/* The keys that a table is tested with. */
typedef enum TestPool
{
	TEST_POOL_DENSE,	/* 0, 1, 2 ... */
	TEST_POOL_RANDOM,	/* any words of their width */
	TEST_POOL_EXTREMES, /* 0, all ones and their neighbours, and the keys with these mixed words */
	TEST_POOL_ONE_LIST, /* keys with one hash */
	TEST_POOL_EQUAL,	/* one key */
	TEST_POOL_COUNT		/* number of kinds, not a kind */
} TestPool;

/* Returns the name of a pool, for names of tests. */
extern const char *test_pool_name(TestPool pool);

/* A table, and its reference. */
typedef struct TestTable
{
	HgTables *tables;
	HgTableSpec spec;
	TestHost host;
	HgTable *table;
	HgNaiveTable naive;
	uint64_t *keys;	   /* [naive.keys] widened, ascending */
	uint32_t *numbers; /* [naive.keys] in a numbering: the number of each key, or HG_NO_ROW */
	uint64_t random;   /* the state of its random numbers */
} TestTable;

/*
 * Opens a table, and makes at most keys keys of a pool for it.  Returns false after an explanation
 * by hg_tap_diag.  destroy must be called in any case.
 */
extern bool test_table_create(TestTable *test, HgTables *tables, const HgTableSpec *spec,
							  TestPool pool, size_t keys);

/* Closes the table.  Returns false, after an explanation, if memory of the host is left. */
extern bool test_table_destroy(TestTable *test);

/* Returns the next random number below a limit. */
extern uint32_t test_table_random(TestTable *test, uint32_t limit);

/* Kinds of changes. */
typedef enum TestChange
{
	TEST_BUILD,
	TEST_INSERT,
	TEST_ERASE_PAIRS,
	TEST_ERASE_KEYS,
	TEST_REPLACE
} TestChange;

/* A change: batches of random keys, with random rows below row_limit. */
typedef struct TestBatch
{
	TestChange kind;
	HgTableBatch in;
	HgTableBatch out;
	uint32_t *key_numbers[2]; /* indexes of the keys of out and in */
} TestBatch;

/* create draws a change; destroy frees it. */
extern void test_batch_create(TestTable *test, TestBatch *batch, TestChange kind, uint32_t rows,
							  uint32_t row_limit);
extern void test_batch_destroy(TestBatch *batch);

/* Applies a change to the table; *change becomes what the table reports. */
extern HgStatus test_batch_run(TestTable *test, const TestBatch *batch, HgTableChange *change,
							   HgError *error);

/* Applies a change to the reference; *change becomes what the table should report. */
extern void test_batch_expect(TestTable *test, const TestBatch *batch, HgTableChange *change);

/* Creates, runs and expects a change, and compares the reports.  Returns false if they differ. */
extern bool test_table_change(TestTable *test, TestChange kind, uint32_t rows, uint32_t row_limit);

/*
 * Compares everything that can be read of both.  Returns false, after an explanation, on failure.
 */
extern bool test_table_compare(TestTable *test);

/* Returns true if a kind is tested: HG_KIND in the environment names it, or is not set. */
extern bool hg_table_suite_wants(HgTableKind kind);

/*
 * Runs the suite on all tested kinds of tables, and reports each test by hg_tap_ok.  HG_SUITE in
 * the environment applies as for engines.  With HG_STRIDE=N (hg_tap_stride) a failure or
 * cancellation is tried at every N-th moment only, the first and the last.
 */
extern void hg_table_suite(HgTables *tables);

#endif /* TEST_TABLE_SUITE_H */
