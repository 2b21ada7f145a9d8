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

	/* What the columns of a case hold. */
	typedef struct TestSpread
	{
		uint64_t values; /* a column's different values; 0 = any bits */
		int hot;		 /* of a hundred rows so many have the first value */
		int nulls;		 /* of a hundred rows so many have NULL */
	} TestSpread;

	/* A job with columns, and what is asked of it. */
	typedef struct TestCase
	{
		const char *name;
		TestKeys kind;
		uint32_t key_width;
		uint64_t rows[2];
		HgJobSpec spec; /* key_width, expected_rows and columns are filled in */
		TestSpread spread;
		HgMatchMode mode;
		uint64_t
			numbers; /* rows are numbered by the caller in blocks of so many, last first; 0: not */
		uint64_t piece;		 /* rows and values of one append; 0 = all */
		size_t capacity;	 /* of a chunk of records */
		HgReduceSpec reduce; /* or nothing */

		TestData data;
		unsigned char *values[2][HG_MAX_COLUMNS];
		uint8_t *nulls[2][HG_MAX_COLUMNS]; /* NULL where no row has NULL */
	} TestCase;

	/* The widths of the columns of either side. */
	extern const uint8_t test_widths[HG_MAX_COLUMNS];

	/* Make keys and columns: ncolumns of each side, of the first so many widths. */
	extern void test_case_create(TestCase *c, uint32_t ncolumns);
	extern void test_case_destroy(TestCase *c);

	/*
	 * The number of the row at a position, in blocks that come last first, each followed by a gap.
	 */
	extern uint64_t test_case_number(const TestCase *c, HgSide side, uint64_t position);

	/* Append all keys, or all values of a column, of a side. */
	extern HgStatus test_case_append_keys(const TestCase *c, HgEngine *engine, HgJob *job,
										  HgSide side, HgError *error);
	extern HgStatus test_case_append_column(const TestCase *c, HgEngine *engine, HgJob *job,
											HgSide side, uint32_t column, HgError *error);

	/* Open a job, append all that it has, and build.  *job is NULL where it could not be opened. */
	extern HgStatus test_case_build(const TestCase *c, HgEngine *engine, const HgHost *host,
									HgJob **job, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_COLUMNS_H */
