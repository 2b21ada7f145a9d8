/*-------------------------------------------------------------------------
 *
 * test_table_suite.h
 *	  The conformity suite of tables: what hg_table.h promises of every kind.
 *
 *	test_table.c		the tables of the CPU, and what is their own promise
 *	test_table_cuda.c	the same of a device
 *	test_table_suite.c	the cases
 *	test_table_run.c	one table beside a naive one, compared in every respect
 *	hg_naive_table.c	the naive one
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_TABLE_SUITE_H
#define TEST_TABLE_SUITE_H

#include "hg_naive_table.h"
#include "test_engine_suite.h"

/* Which keys a table is tried with. */
typedef enum TestPool
{
	TEST_POOL_DENSE,	/* 0, 1, 2 ... */
	TEST_POOL_RANDOM,	/* all over the words of their width */
	TEST_POOL_EXTREMES, /* 0, all ones and their neighbours, and the keys of these words */
	TEST_POOL_ONE_LIST, /* one hash for all of them */
	TEST_POOL_EQUAL,	/* one key */
	TEST_POOL_COUNT		/* number of kinds, not a kind */
} TestPool;

extern const char *test_pool_name(TestPool pool);

/* A table beside what it must hold. */
typedef struct TestTable
{
	HgTables *tables;
	HgTableSpec spec;
	TestHost host;
	HgTable *table;
	HgNaiveTable naive;
	uint64_t *keys; /* [naive.keys] widened, ascending */
	uint32_t *numbers; /* [naive.keys] of a numbering: what each key has, or HG_NO_ROW */
	uint64_t random;   /* the state of its random numbers */
} TestTable;

/*
 * Open a table, and have at most so many keys of a kind for it.  Returns false after explaining by
 * hg_tap_diag; destroy is to be called in any case.
 */
extern bool test_table_create(TestTable *test, HgTables *tables, const HgTableSpec *spec,
							  TestPool pool, size_t keys);

/* Close it; false, explained, where the host has not everything back. */
extern bool test_table_destroy(TestTable *test);

/* The next random number below a limit. */
extern uint32_t test_table_random(TestTable *test, uint32_t limit);

/* A change, of a batch of random keys with random rows below row_limit. */
typedef enum TestChange
{
	TEST_BUILD,
	TEST_INSERT,
	TEST_ERASE_PAIRS,
	TEST_ERASE_KEYS,
	TEST_REPLACE
} TestChange;

typedef struct TestBatch
{
	TestChange kind;
	HgTableBatch in;
	HgTableBatch out;
	uint32_t *key_numbers[2]; /* of out, in */
} TestBatch;

extern void test_batch_create(TestTable *test, TestBatch *batch, TestChange kind, uint32_t rows,
							  uint32_t row_limit);
extern void test_batch_destroy(TestBatch *batch);

/* Have the table do it; *change is what it says of it. */
extern HgStatus test_batch_run(TestTable *test, const TestBatch *batch, HgTableChange *change,
							   HgError *error);

/* Have the naive table do it. */
extern void test_batch_expect(TestTable *test, const TestBatch *batch, HgTableChange *change);

/* All of it: create, run, expect, compare what came of it.  False after explaining. */
extern bool test_table_change(TestTable *test, TestChange kind, uint32_t rows, uint32_t row_limit);

/* Compare everything that can be read of both.  False after explaining. */
extern bool test_table_compare(TestTable *test);

/* Is a kind to be tested?  HG_KIND in the environment names one that is; without, all are. */
extern bool hg_table_suite_wants(HgTableKind kind);

/*
 * Run the suite on all kinds of those tables that are wanted and report each test by hg_tap_ok.
 * HG_SUITE in the environment means what it does for engines; with HG_STRIDE=N (hg_tap_stride)
 * something happens to a table at every N-th moment alone, the first and the last.
 */
extern void hg_table_suite(HgTables *tables);

#endif /* TEST_TABLE_SUITE_H */
