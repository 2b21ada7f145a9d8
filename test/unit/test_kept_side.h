/*-------------------------------------------------------------------------
 *
 * test_kept_side.h
 *	  Sides of joins with kept graphs, and what the join of two of them must give.
 *
 * The right answer comes from sorting both sides and merging them: it shares nothing with what it
 * tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_KEPT_SIDE_H
#define TEST_KEPT_SIDE_H

#include "test_engine_suite.h"

#include "../../src/engine/hg_kept.h"
#include "../../src/engine/hg_pages.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* How a side comes to a job. */
	typedef enum TestKeptWay
	{
		TEST_KEPT_GRAPH = 0,
		TEST_KEPT_APPENDED,
		TEST_KEPT_NUMBERED, /* by append_rows */
		TEST_KEPT_WAYS,		/* number of the ways above */
		TEST_KEPT_PAGES		/* by append_pages, of engines that take them apart (test_pages.h) */
	} TestKeptWay;

	/* Which rows of a kept graph count. */
	typedef enum TestKeptMask
	{
		TEST_MASK_NONE = 0, /* there is no mask */
		TEST_MASK_NEVER,	/* there is one that is never given */
		TEST_MASK_SOME,		/* given in pieces, some of them twice */
		TEST_MASK_FEW,		/* some words are given, and the other ones never */
		TEST_MASK_ZERO,		/* no row counts */
		TEST_MASKS
	} TestKeptMask;

	/* What the keys and rows of a side are drawn from. */
	typedef struct TestKeptSpread
	{
		TestKeptWay way;
		TestKeptMask mask;
		uint32_t width;
		uint32_t parts; /* of a kept graph */
		uint32_t count;
		uint64_t keys;	  /* different ones, around 0; beside extremes */
		uint32_t hot;	  /* so many rows have one key */
		uint32_t numbers; /* of a kept graph: its rows' numbers in their parts are below this; 0:
						   * are all that there can be */
		uint32_t stride;  /* of its columns; 0: numbers */
		uint32_t ncolumns;
		uint64_t values; /* different ones of a column, around 0; 0: any bits */
		uint32_t nulls;	 /* of a hundred rows so many have NULL, in every other column */
	} TestKeptSpread;

	/* Mask words that one call gives. */
#define TEST_MASK_PIECE 1000

	/* Appended rows of TEST_KEPT_NUMBERED come in blocks of so many, last first, with gaps. */
#define TEST_KEPT_BLOCK 700

	/* Each byte of a column's value where there is no row. */
#define TEST_KEPT_GAP 0x5a

	/* A column of a side, whose width is that of its number. */
	typedef struct TestKeptColumn
	{
		unsigned char *values; /* [count] */
		uint8_t *nulls;		   /* [count] not 0 where NULL; NULL where no row has NULL */
		HgKept *kept;		   /* beside a kept graph, once it is made */
		uint64_t bytes;
	} TestKeptColumn;

	/* The pages of a side that comes so. */
	typedef struct TestKeptPages
	{
		HgPageSpec spec;
		unsigned char *bytes; /* [count] of the spec's size */
		uint64_t count;
		uint64_t run; /* so many follow one another; then ordinals are left out */
	} TestKeptPages;

	/* The ordinal of a page, from 0. */
	static inline uint64_t
	test_pages_ordinal(const TestKeptPages *pages, uint64_t page)
	{
		return page + page / pages->run * 5 + 1;
	}

	extern const uint8_t test_kept_widths[HG_MAX_COLUMNS];

	typedef struct TestKeptSide
	{
		TestKeptSpread spread;
		void *keys;		 /* [count] */
		uint32_t *rows;	 /* [count] in no order, of a kept graph the last possible one among them */
		uint64_t *words; /* [hg_kept_mask_words] which rows count; NULL: all */
		uint8_t *passed; /* [count] not 0: a filter lets the row through; NULL: there is none */
		HgKept *graph;	 /* once it is made */
		uint64_t bytes;
		TestKeptColumn columns[HG_MAX_COLUMNS]; /* [spread.ncolumns] */
		TestKeptPages pages;					/* of TEST_KEPT_PAGES */
	} TestKeptSide;

	/* Pairs, as outer << 32 | inner. */
	typedef struct TestKeptPairs
	{
		uint64_t *pairs;
		size_t count;
		size_t room;
		size_t runs; /* of one outer row, as they came */
	} TestKeptPairs;

	/* The same numbers in each run, below limit. */
	extern uint64_t test_kept_random(uint64_t *state, uint64_t limit);

	extern void test_kept_side_create(TestKeptSide *side, const TestKeptSpread *spread,
									  uint64_t *state);
	extern void test_kept_side_destroy(TestKeptSide *side); /* but for the graph and columns */

	extern int64_t test_kept_key(const TestKeptSide *side, uint32_t i);
	extern HgKeptShape test_kept_shape(const TestKeptSide *side);
	extern HgKeptColumnShape test_kept_column_shape(const TestKeptSide *side, uint32_t column);

	/* The value of row i in a column, widened; returns whether it is NULL. */
	extern bool test_kept_value(const TestKeptSide *side, uint32_t column, uint32_t i,
								bool is_signed, uint64_t *bits);

	/* Does row i of a side count? */
	extern bool test_kept_counts(const TestKeptSide *side, uint32_t i);

	/* Make the graph of a side, and its columns, and keep them. */
	extern HgStatus test_kept_make(HgEngine *engine, const HgHost *host, TestKeptSide *side,
								   HgError *error);

	/* Release what is kept of a side. */
	extern void test_kept_release(HgEngine *engine, TestKeptSide *side);

	/* Open a job that joins two sides, whose graphs are made. */
	extern HgStatus test_kept_open(HgEngine *engine, const HgHost *host, const TestKeptSide *outer,
								   const TestKeptSide *inner, HgJob **job, HgError *error);

	/*
	 * Give a job a side's rows and columns, or its mask, which is that of what a lookup finds where
	 * lookup is not 0.
	 */
	extern HgStatus test_kept_give(HgEngine *engine, HgJob *job, HgSide which, uint32_t lookup,
								   const TestKeptSide *side, HgError *error);

	/*
	 * Open a job that joins two sides, give it all that, and build.  The job is open afterwards
	 * unless *job is NULL.
	 */
	extern HgStatus test_kept_build(HgEngine *engine, const HgHost *host, const TestKeptSide *outer,
									const TestKeptSide *inner, HgJob **job, HgError *error);

	/* All pairs that there should be, sorted. */
	extern void test_kept_naive(const TestKeptSide *outer, const TestKeptSide *inner,
								TestKeptPairs *wanted);

	/* How many of sorted pairs a mode gives. */
	extern uint64_t test_kept_wanted(const TestKeptPairs *wanted, HgMatchMode mode);

	extern void test_kept_add(TestKeptPairs *pairs, uint32_t outer, uint32_t inner);

	/* Take the next pairs of a stream, at most so many chunks of capacity. */
	extern HgStatus test_kept_read(HgEngine *engine, HgJob *job, size_t capacity, uint64_t chunks,
								   TestKeptPairs *pairs, HgError *error);

	/*
	 * Are they the wanted pairs, or, of FIRST, one of them for each outer row that has any, and
	 * those of a row together?  Sorts them.
	 */
	extern bool test_kept_right(TestKeptPairs *pairs, const TestKeptPairs *wanted,
								HgMatchMode mode);

#ifdef __cplusplus
}
#endif

#endif /* TEST_KEPT_SIDE_H */
