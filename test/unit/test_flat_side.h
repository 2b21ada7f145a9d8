/*-------------------------------------------------------------------------
 *
 * test_flat_side.h
 *	  Sides of joins of flat HashGraphs, and what the join of two of them must give.
 *
 * The right answer comes from sorting the inner side: it shares nothing with what it tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_FLAT_SIDE_H
#define TEST_FLAT_SIDE_H

#include "test_engine_suite.h"

#include "../../src/engine/hg_flat.h"

/* Rows of a part, of sides that have several; and pieces that a side's rows come in. */
#define TEST_FLAT_PART_ROWS 700
#define TEST_FLAT_PIECES 3

/* A side of a join: keys, their rows in parts, and which of them count. */
typedef struct TestFlatSide
{
	uint32_t width;
	uint32_t count;
	uint32_t nparts;
	void *keys;
	uint32_t *rows;
	HgFlatRows pieces[TEST_FLAT_PIECES];
	HgFlatShape shape;
	HgFlatMask mask;
	const HgFlatMask *used_mask; /* &mask, or NULL */
	uint8_t *states;
	uint64_t **bits;
	HgFlatGraph *graph;
	bool marks;		  /* vertices with rows that do not count are told */
	uint64_t *masked; /* their set */
} TestFlatSide;

/* Pairs, as outer << 32 | inner. */
typedef struct TestPairs
{
	uint64_t *pairs;
	size_t count;
	size_t room;
} TestPairs;

/* A stretch of work that allocates and polls: returns its status, and frees everything. */
typedef struct TestFlatStretch
{
	const char *name;
	HgStatus (*run)(const HgHost *host, TestFlatSide *sides, HgError *error); /* three sides */
	uint64_t least_polls;
} TestFlatStretch;

/*
 * Have kernels for one of so many sets of instructions: its name, or NULL where the machine has not
 * got it, which is told as a test that was skipped.
 */
#define TEST_FLAT_ISAS 3
extern const char *test_flat_limit_isa(int isa);

/* Refuse each allocation of stretches, and cancel at each of their polls. */
extern void test_flat_failures(const TestFlatStretch *stretches, size_t count);

/* Numbers that are the same in each run. */
extern uint64_t test_random_next(uint64_t *state);
extern uint64_t test_random_below(uint64_t *state, uint64_t limit);

/*
 * A side of count rows with keys from -keys / 2 on, of which the first hot ones have one key; parts
 * and rows that count are drawn.  With far, some keys of 8 bytes do not fit into 4.
 */
extern void test_flat_create(TestFlatSide *side, uint64_t *state, uint32_t width, uint32_t count,
							 uint64_t keys, uint32_t hot, bool far);
extern void test_flat_destroy(TestFlatSide *side);

extern int64_t test_flat_key(const TestFlatSide *side, uint32_t i);
extern void test_flat_set_key(TestFlatSide *side, uint32_t i, int64_t key);

/* Does row i count, by the mask that is used? */
extern bool test_flat_counts(const TestFlatSide *side, uint32_t i);

/* The side of a join that has its graph and the mask that is used. */
extern HgFlatSide test_flat_side(TestFlatSide *side);

/* Make its graph; and does a graph hold just the rows that count, each where it belongs? */
extern bool test_flat_make(TestFlatSide *side);
extern bool test_flat_graph_right(const HgFlatGraph *graph, const TestFlatSide *side);

/* All pairs that a join should give, sorted; and how many outer rows are in sorted pairs. */
extern void test_flat_naive(const TestFlatSide *outer, const TestFlatSide *inner, TestPairs *pairs);
extern size_t test_pairs_outer_rows(const TestPairs *pairs);

extern void test_pairs_add(TestPairs *pairs, uint32_t outer, uint32_t inner);

/* Take all that a join returns, in chunks of capacity; false where it fails. */
extern bool test_pairs_read(HgFlatJoin *join, HgMatchMode mode, size_t capacity, bool with_inner,
							TestPairs *pairs);

/*
 * Are they the wanted pairs, or, of FIRST, one of them for each outer row, and those of a row
 * together?  Sorts them.
 */
extern bool test_pairs_right(TestPairs *pairs, const TestPairs *wanted, HgMatchMode mode,
							 bool with_inner);

#endif /* TEST_FLAT_SIDE_H */
