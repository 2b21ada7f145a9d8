/*-------------------------------------------------------------------------
 *
 * test_replica_side.h
 *	  Sides of joins with graph replicas, and the right result of a join of two of them.
 *
 * The result comes from sorting both sides and merging them: that shares nothing with what it
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
		TEST_REPLICA_PAGES	   /* by append_pages, of engines that parse pages (test_pages.h) */
	} TestReplicaWay;

	/* Masks of a graph replica. */
	typedef enum TestReplicaMask
	{
		TEST_MASK_NONE = 0, /* no mask */
		TEST_MASK_NEVER,	/* a mask that is never set: all rows are selected */
		TEST_MASK_SOME,		/* set in pieces, some of them twice */
		TEST_MASK_FEW,		/* some words are set, the others never */
		TEST_MASK_ZERO,		/* no row is selected */
		TEST_MASKS
	} TestReplicaMask;

	/* How the keys and rows of a side are drawn. */
	typedef struct TestReplicaSpread
	{
		TestReplicaWay way;
		TestReplicaMask mask;
		uint32_t width;
		uint32_t parts; /* of a graph replica */
		uint32_t count;
		uint64_t keys;	  /* distinct keys, around 0, beside extremes */
		uint32_t hot;	  /* rows with one key */
		uint32_t numbers; /* of a graph replica: bound of row numbers in parts; 0: the greatest */
		uint32_t stride;  /* of its columns; 0: numbers */
		uint32_t ncolumns;
		uint64_t values; /* distinct values of a column, around 0; 0: any bits */
		uint32_t nulls;	 /* percentage of rows with NULL, in every other column */
	} TestReplicaSpread;

	/* Mask words of one call. */
#define TEST_MASK_PIECE 1000

	/* Rows of TEST_REPLICA_NUMBERED come in blocks of this size, last block first, with gaps. */
#define TEST_REPLICA_BLOCK 700

	/* Each byte of a column's value at an ordinal without a row. */
#define TEST_REPLICA_GAP 0x5a

	/* A column of a side.  Its number determines the width. */
	typedef struct TestReplicaColumn
	{
		unsigned char *values; /* [count] */
		uint8_t *nulls;		   /* [count] not 0 where NULL; NULL if no row has NULL */
		HgReplica *replica;	   /* of a graph replica, once it is made */
		uint64_t bytes;
	} TestReplicaColumn;

	/* The pages of a side of way TEST_REPLICA_PAGES. */
	typedef struct TestReplicaPages
	{
		HgPageSpec spec;
		unsigned char *bytes; /* [count] pages */
		uint64_t count;
		uint64_t run; /* pages with consecutive ordinals; then ordinals are left out */
	} TestReplicaPages;

	/* Returns the ordinal of page number page. */
	static inline uint64_t
	test_pages_ordinal(const TestReplicaPages *pages, uint64_t page)
	{
		return page + page / pages->run * 5 + 1;
	}

	/* The widths of columns, by number. */
	extern const uint8_t test_replica_widths[HG_MAX_COLUMNS];

	/* A side of a join. */
	typedef struct TestReplicaSide
	{
		TestReplicaSpread spread;
		void *keys;		  /* [count] */
		uint32_t *rows;	  /* [count] in any order; a graph replica has the greatest possible one */
		uint64_t *words;  /* [hg_replica_mask_words] the mask; NULL: all rows are selected */
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
		size_t runs; /* runs of one outer row, in the order of arrival */
	} TestReplicaPairs;

	/* Returns the next number below limit of a pseudorandom sequence. */
	extern uint64_t test_replica_random(uint64_t *state, uint64_t limit);

	/* create draws a side; destroy frees it, but not the replicas of its graph and columns. */
	extern void test_replica_side_create(TestReplicaSide *side, const TestReplicaSpread *spread,
										 uint64_t *state);
	extern void test_replica_side_destroy(TestReplicaSide *side);

	/* Return the key of row i, and the shapes of the replicas of the graph and of a column. */
	extern int64_t test_replica_key(const TestReplicaSide *side, uint32_t i);
	extern HgReplicaShape test_replica_shape(const TestReplicaSide *side);
	extern HgReplicaColumnShape test_replica_column_shape(const TestReplicaSide *side,
														  uint32_t column);

	/* Sets *bits to the value of row i in a column, widened.  Returns true if it is NULL. */
	extern bool test_replica_value(const TestReplicaSide *side, uint32_t column, uint32_t i,
								   bool is_signed, uint64_t *bits);

	/* Returns true if row i of a side is selected, by the mask and a filter if there are any. */
	extern bool test_replica_counts(const TestReplicaSide *side, uint32_t i);

	/* Makes replicas of the graph of a side, and of its columns. */
	extern HgStatus test_replica_make(HgEngine *engine, const HgHost *host, TestReplicaSide *side,
									  HgError *error);

	/* Releases the replicas of a side. */
	extern void test_replica_release(HgEngine *engine, TestReplicaSide *side);

	/* Opens a job that joins two sides, whose replicas are made. */
	extern HgStatus test_replica_open(HgEngine *engine, const HgHost *host,
									  const TestReplicaSide *outer, const TestReplicaSide *inner,
									  HgJob **job, HgError *error);

	/*
	 * Passes a side's rows and columns, or its mask, to a job.  If lookup is not 0, the side is
	 * what that lookup finds.
	 */
	extern HgStatus test_replica_append(HgEngine *engine, HgJob *job, HgSide which, uint32_t lookup,
										const TestReplicaSide *side, HgError *error);

	/*
	 * Opens a job that joins two sides, passes their rows and masks, and builds.  The caller
	 * closes *job unless it is NULL.
	 */
	extern HgStatus test_replica_build(HgEngine *engine, const HgHost *host,
									   const TestReplicaSide *outer, const TestReplicaSide *inner,
									   HgJob **job, HgError *error);

	/* Sets the right pairs of a join, sorted. */
	extern void test_replica_naive(const TestReplicaSide *outer, const TestReplicaSide *inner,
								   TestReplicaPairs *wanted);

	/* Returns how many of the right pairs a mode returns. */
	extern uint64_t test_replica_wanted(const TestReplicaPairs *wanted, HgMatchMode mode);

	/* Appends a pair. */
	extern void test_replica_add(TestReplicaPairs *pairs, uint32_t outer, uint32_t inner);

	/* Reads the next pairs of a stream, at most chunks chunks of capacity. */
	extern HgStatus test_replica_read(HgEngine *engine, HgJob *job, size_t capacity,
									  uint64_t chunks, TestReplicaPairs *pairs, HgError *error);

	/*
	 * Sorts the pairs.  Returns true if they are the wanted ones, or, with HG_MATCH_FIRST, one for
	 * each outer row that has any; the pairs of a row must have come together.
	 */
	extern bool test_replica_right(TestReplicaPairs *pairs, const TestReplicaPairs *wanted,
								   HgMatchMode mode);

#ifdef __cplusplus
}
#endif

#endif /* TEST_REPLICA_SIDE_H */
