/*-------------------------------------------------------------------------
 *
 * test_flat_side.h
 *	  Sides of joins of flat HashGraphs, and the right result of a join of two of them.
 *
 * The result comes from sorting the inner side: that shares nothing with what it tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_FLAT_SIDE_H
#define TEST_FLAT_SIDE_H

#include "test_engine_suite.h"

#include "../../src/engine/hg_flat.h"

/* Rows of a part, and pieces of a side's rows. */
#define TEST_FLAT_PART_ROWS 700
#define TEST_FLAT_PIECES 3

/* A side of a join: keys, their rows in parts, and a mask of selected rows. */
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
	bool marks;		  /* test_flat_side() passes the set of vertices with unselected rows */
	uint64_t *masked; /* this set */
} TestFlatSide;

/* Pairs, as outer << 32 | inner. */
typedef struct TestPairs
{
	uint64_t *pairs;
	size_t count;
	size_t room;
} TestPairs;

/* Work that allocates and polls.  run frees everything; sides has three elements. */
typedef struct TestFlatStretch
{
	const char *name;
	HgStatus (*run)(const HgHost *host, TestFlatSide *sides, HgError *error);
	uint64_t least_polls; /* that it must do */
} TestFlatStretch;

/*
 * Limits kernels to one of TEST_FLAT_ISAS instruction sets.  Returns its name, or NULL, after
 * reporting a skipped test, if the machine does not have it.
 */
#define TEST_FLAT_ISAS 3
extern const char *test_flat_limit_isa(int isa);

/* Lets each allocation of stretches fail, and cancels each of their polls; reports the results. */
extern void test_flat_failures(const TestFlatStretch *stretches, size_t count);

/* Return the next number of a pseudorandom sequence, and one below limit. */
extern uint64_t test_random_next(uint64_t *state);
extern uint64_t test_random_below(uint64_t *state, uint64_t limit);

/*
 * create makes a side of count rows with keys from -keys / 2 on; the first hot ones have one key.
 * Parts and the mask are random.  With far, some keys of 8 bytes do not fit 4.  destroy frees it.
 */
extern void test_flat_create(TestFlatSide *side, uint64_t *state, uint32_t width, uint32_t count,
							 uint64_t keys, uint32_t hot, bool far);
extern void test_flat_destroy(TestFlatSide *side);

/* Get and set the key of row i. */
extern int64_t test_flat_key(const TestFlatSide *side, uint32_t i);
extern void test_flat_set_key(TestFlatSide *side, uint32_t i, int64_t key);

/* Returns true if the used mask selects row i, or there is none. */
extern bool test_flat_counts(const TestFlatSide *side, uint32_t i);

/* Returns the side as a parameter of a join, with its graph and the used mask. */
extern HgFlatSide test_flat_side(TestFlatSide *side);

/*
 * make makes the graph of a side.  graph_right returns true if a graph has exactly the selected
 * rows, each in its list.
 */
extern bool test_flat_make(TestFlatSide *side);
extern bool test_flat_graph_right(const HgFlatGraph *graph, const TestFlatSide *side);

/* naive sets all pairs of a join, sorted; outer_rows returns the outer rows of sorted pairs. */
extern void test_flat_naive(const TestFlatSide *outer, const TestFlatSide *inner, TestPairs *pairs);
extern size_t test_pairs_outer_rows(const TestPairs *pairs);

/* Appends a pair. */
extern void test_pairs_add(TestPairs *pairs, uint32_t outer, uint32_t inner);

/* Reads all pairs of a join, in chunks of capacity.  Returns false if it fails. */
extern bool test_pairs_read(HgFlatJoin *join, HgMatchMode mode, size_t capacity, bool with_inner,
							TestPairs *pairs);

/*
 * Sorts the pairs.  Returns true if they are the wanted ones, or, with HG_MATCH_FIRST, one for
 * each outer row; the pairs of a row must have come together.
 */
extern bool test_pairs_right(TestPairs *pairs, const TestPairs *wanted, HgMatchMode mode,
							 bool with_inner);

#endif /* TEST_FLAT_SIDE_H */
