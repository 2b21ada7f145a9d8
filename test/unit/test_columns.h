/*-------------------------------------------------------------------------
 *
 * test_columns.h
 *	  Jobs with columns, for tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_COLUMNS_H
#define TEST_COLUMNS_H

#include "test_engine_suite.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* How the values of a case's columns are drawn. */
	typedef struct TestSpread
	{
		uint64_t values; /* distinct values of a column; 0: any bits */
		int hot;		 /* percentage of rows with one value */
		int nulls;		 /* percentage of rows with NULL, in every other column */
	} TestSpread;

	/* A job with columns, and what it computes. */
	typedef struct TestCase
	{
		const char *name;
		TestKeys kind;
		uint32_t key_width;
		uint64_t rows[2];
		HgJobSpec spec; /* create sets key_width, expected rows and columns */
		TestSpread spread;
		HgMatchMode mode;
		uint64_t numbers; /* rows are numbered in blocks of this size, last block first; 0: not */
		uint64_t piece;	  /* rows and values of one append; 0: all */
		size_t capacity;  /* of a chunk of records */
		HgReduceSpec reduce; /* zeroed without groups */

		TestData data;
		unsigned char *values[2][HG_MAX_COLUMNS];
		uint8_t *nulls[2][HG_MAX_COLUMNS]; /* NULL if no row has NULL */
	} TestCase;

	/* The widths of the columns of either side. */
	extern const uint8_t test_widths[HG_MAX_COLUMNS];

	/* create makes keys, and ncolumns columns of each side; destroy frees them. */
	extern void test_case_create(TestCase *c, uint32_t ncolumns);
	extern void test_case_destroy(TestCase *c);

	/*
	 * Returns the number of the row at a position; see numbers.  Each block is followed by a gap.
	 */
	extern uint64_t test_case_number(const TestCase *c, HgSide side, uint64_t position);

	/* Append all keys, or all values of a column, of a side. */
	extern HgStatus test_case_append_keys(const TestCase *c, HgEngine *engine, HgJob *job,
										  HgSide side, HgError *error);
	extern HgStatus test_case_append_column(const TestCase *c, HgEngine *engine, HgJob *job,
											HgSide side, uint32_t column, HgError *error);

	/* Opens a job, appends its rows, and builds it.  *job is NULL if it could not be opened. */
	extern HgStatus test_case_build(const TestCase *c, HgEngine *engine, const HgHost *host,
									HgJob **job, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_COLUMNS_H */
