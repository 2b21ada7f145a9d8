/*-------------------------------------------------------------------------
 *
 * test_replica_side.h
 *	  Sides of joins with graph replicas, and what the join of two of them must give.
 *
 * The right answer comes from sorting both sides and merging them: it shares nothing with what it
 * tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_REPLICA_SIDE_H
#define TEST_REPLICA_SIDE_H

#include "test_engine_suite.h"

#include "../../src/engine/hg_replica.h"
#include "../../src/engine/hg_pages.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* How a side comes to a job. */
	typedef enum TestReplicaWay
	{
		TEST_REPLICA_GRAPH = 0,
		TEST_REPLICA_APPENDED,
		TEST_REPLICA_NUMBERED, /* by append_rows */
		TEST_REPLICA_WAYS,	   /* number of the ways above */
		TEST_REPLICA_PAGES	   /* by append_pages, of engines that take them apart (test_pages.h) */
	} TestReplicaWay;

	/* Which rows of a graph replica count. */
	typedef enum TestReplicaMask
	{
		TEST_MASK_NONE = 0, /* there is no mask */
		TEST_MASK_NEVER,	/* there is one that is never given */
		TEST_MASK_SOME,		/* given in pieces, some of them twice */
		TEST_MASK_FEW,		/* some words are given, and the other ones never */
		TEST_MASK_ZERO,		/* no row counts */
		TEST_MASKS
	} TestReplicaMask;

	/* What the keys and rows of a side are drawn from. */
	typedef struct TestReplicaSpread
	{
		TestReplicaWay way;
		TestReplicaMask mask;
		uint32_t width;
		uint32_t parts; /* of a graph replica */
		uint32_t count;
		uint64_t keys;	  /* different ones, around 0; beside extremes */
		uint32_t hot;	  /* so many rows have one key */
		uint32_t numbers; /* of a graph replica: its rows' numbers in their parts are below this; 0:
						   * are all that there can be */
		uint32_t stride;  /* of its columns; 0: numbers */
		uint32_t ncolumns;
		uint64_t values; /* different ones of a column, around 0; 0: any bits */
		uint32_t nulls;	 /* of a hundred rows so many have NULL, in every other column */
	} TestReplicaSpread;

	/* Mask words that one call gives. */
#define TEST_MASK_PIECE 1000

	/* Appended rows of TEST_REPLICA_NUMBERED come in blocks of so many, last first, with gaps. */
#define TEST_REPLICA_BLOCK 700

	/* Each byte of a column's value where there is no row. */
#define TEST_REPLICA_GAP 0x5a

	/* A column of a side, whose width is that of its number. */
	typedef struct TestReplicaColumn
	{
		unsigned char *values; /* [count] */
		uint8_t *nulls;		   /* [count] not 0 where NULL; NULL where no row has NULL */
		HgReplica *replica;	   /* beside a graph replica, once it is made */
		uint64_t bytes;
	} TestReplicaColumn;

	/* The pages of a side that comes so. */
	typedef struct TestReplicaPages
	{
		HgPageSpec spec;
		unsigned char *bytes; /* [count] of the spec's size */
		uint64_t count;
		uint64_t run; /* so many follow one another; then ordinals are left out */
	} TestReplicaPages;

	/* The ordinal of a page, from 0. */
	static inline uint64_t
	test_pages_ordinal(const TestReplicaPages *pages, uint64_t page)
	{
		return page + page / pages->run * 5 + 1;
	}

	extern const uint8_t test_replica_widths[HG_MAX_COLUMNS];

	typedef struct TestReplicaSide
	{
		TestReplicaSpread spread;
		void *keys; /* [count] */
		uint32_t
			*rows; /* [count] in no order, of a graph replica the last possible one among them */
		uint64_t *words;  /* [hg_replica_mask_words] which rows count; NULL: all */
		uint8_t *passed;  /* [count] not 0: a filter lets the row through; NULL: there is none */
		HgReplica *graph; /* once it is made */
		uint64_t bytes;
		TestReplicaColumn columns[HG_MAX_COLUMNS]; /* [spread.ncolumns] */
		TestReplicaPages pages;					   /* of TEST_REPLICA_PAGES */
	} TestReplicaSide;

	/* Pairs, as outer << 32 | inner. */
	typedef struct TestReplicaPairs
	{
		uint64_t *pairs;
		size_t count;
		size_t room;
		size_t runs; /* of one outer row, as they came */
	} TestReplicaPairs;

	/* The same numbers in each run, below limit. */
	extern uint64_t test_replica_random(uint64_t *state, uint64_t limit);

	extern void test_replica_side_create(TestReplicaSide *side, const TestReplicaSpread *spread,
										 uint64_t *state);
	extern void
	test_replica_side_destroy(TestReplicaSide *side); /* but for the graph and columns */

	extern int64_t test_replica_key(const TestReplicaSide *side, uint32_t i);
	extern HgReplicaShape test_replica_shape(const TestReplicaSide *side);
	extern HgReplicaColumnShape test_replica_column_shape(const TestReplicaSide *side,
														  uint32_t column);

	/* The value of row i in a column, widened; returns whether it is NULL. */
	extern bool test_replica_value(const TestReplicaSide *side, uint32_t column, uint32_t i,
								   bool is_signed, uint64_t *bits);

	/* Does row i of a side count? */
	extern bool test_replica_counts(const TestReplicaSide *side, uint32_t i);

	/* Make replicas of the graph of a side, and of its columns. */
	extern HgStatus test_replica_make(HgEngine *engine, const HgHost *host, TestReplicaSide *side,
									  HgError *error);

	/* Release the replicas of a side. */
	extern void test_replica_release(HgEngine *engine, TestReplicaSide *side);

	/* Open a job that joins two sides, whose graphs are made. */
	extern HgStatus test_replica_open(HgEngine *engine, const HgHost *host,
									  const TestReplicaSide *outer, const TestReplicaSide *inner,
									  HgJob **job, HgError *error);

	/*
	 * Give a job a side's rows and columns, or its mask, which is that of what a lookup finds where
	 * lookup is not 0.
	 */
	extern HgStatus test_replica_give(HgEngine *engine, HgJob *job, HgSide which, uint32_t lookup,
									  const TestReplicaSide *side, HgError *error);

	/*
	 * Open a job that joins two sides, give it all that, and build.  The job is open afterwards
	 * unless *job is NULL.
	 */
	extern HgStatus test_replica_build(HgEngine *engine, const HgHost *host,
									   const TestReplicaSide *outer, const TestReplicaSide *inner,
									   HgJob **job, HgError *error);

	/* All pairs that there should be, sorted. */
	extern void test_replica_naive(const TestReplicaSide *outer, const TestReplicaSide *inner,
								   TestReplicaPairs *wanted);

	/* How many of sorted pairs a mode gives. */
	extern uint64_t test_replica_wanted(const TestReplicaPairs *wanted, HgMatchMode mode);

	extern void test_replica_add(TestReplicaPairs *pairs, uint32_t outer, uint32_t inner);

	/* Take the next pairs of a stream, at most so many chunks of capacity. */
	extern HgStatus test_replica_read(HgEngine *engine, HgJob *job, size_t capacity,
									  uint64_t chunks, TestReplicaPairs *pairs, HgError *error);

	/*
	 * Are they the wanted pairs, or, of FIRST, one of them for each outer row that has any, and
	 * those of a row together?  Sorts them.
	 */
	extern bool test_replica_right(TestReplicaPairs *pairs, const TestReplicaPairs *wanted,
								   HgMatchMode mode);

#ifdef __cplusplus
}
#endif

#endif /* TEST_REPLICA_SIDE_H */
