/*-------------------------------------------------------------------------
 *
 * test_replica_star.h
 *	  Sides of joins whose rows look up others on the way, and what such a side comes to.
 *
 * What it must come to is a side without lookups: the rows that count, with the columns that they
 * have found.  It is found by sorting and bisection, which shares nothing with what is tested.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_REPLICA_STAR_H
#define TEST_REPLICA_STAR_H

#include "test_replica_side.h"

#include "../../src/engine/hg_computed.h"
#include "../../src/engine/hg_row_filter.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Keys that two rows have which are looked up. */
	typedef enum TestStarDoubles
	{
		TEST_DOUBLES_NONE = 0,
		TEST_DOUBLES_MASKED, /* one of the two does not count */
		TEST_DOUBLES_UNSEEN, /* rows look for them that do not count */
		TEST_DOUBLES_SEEN	 /* rows look for them */
	} TestStarDoubles;

	/* What a lookup is drawn from. */
	typedef struct TestLookupSpread
	{
		uint32_t from; /* as of HgReplicaLookup */
		bool unmatched;
		TestReplicaSpread found;
		uint32_t width;	 /* of the keys that are looked for */
		uint32_t nulls;	 /* of a hundred rows so many have none */
		uint32_t misses; /* ... and so many look for one that is not there */
		TestStarDoubles doubles;
		bool
			by_key; /* all rows look for their table's own key, and nothing of the above is drawn */
	} TestLookupSpread;

	/* And a side, whose table and those that are looked up have as many columns as the side. */
	typedef struct TestStarSpread
	{
		TestReplicaSpread side;
		uint32_t nlookups;
		TestLookupSpread lookups[HG_MAX_LOOKUPS];
	} TestStarSpread;

	typedef struct TestStarLookup
	{
		TestLookupSpread spread;
		TestReplicaSide own;
		TestReplicaSide found;
		uint32_t
			*ordinals; /* [rows that look up]: which row of found each finds; or none, or two */
	} TestStarLookup;

	typedef struct TestStar
	{
		TestReplicaSide side;
		uint32_t nlookups;
		TestStarLookup lookups[HG_MAX_LOOKUPS];
		uint32_t sources[HG_MAX_COLUMNS]; /* of each column, as of HgReplicaColumnUse.lookup */
		bool unique;					  /* no row that counts finds two */
		TestReplicaSide flat;			  /* what it comes to; where it has no lookups, nothing */
		uint32_t nprograms;
		HgProgram programs[HG_MAX_PROGRAMS];
		uint32_t computed[HG_MAX_COLUMNS]; /* of each column, as of HgReplicaColumnUse.program */
		HgRowFilters filters;			   /* but for their columns, ... */
		uint32_t filtered[HG_MAX_FILTER_COLUMNS]; /* ... which are those of these numbers */
	} TestStar;

	extern void test_star_create(TestStar *star, const TestStarSpread *spread, uint64_t *state);
	extern void test_star_destroy(TestStar *star); /* but for graphs and columns */

	/* The table whose rows a lookup of its looks up; 0: its own. */
	extern TestReplicaSide *test_star_table(TestStar *star, uint32_t lookup);

	/* Other rows of its tables pass than when it was created: find what it comes to now. */
	extern void test_star_filtered(TestStar *star);

	/* What it comes to. */
	extern const TestReplicaSide *test_star_flat(const TestStar *star);

	/* Make replicas of all its graphs and columns; and release them. */
	extern HgStatus test_star_make(HgEngine *engine, const HgHost *host, TestStar *star,
								   HgError *error);
	extern void test_star_release(HgEngine *engine, TestStar *star);

	/* Have a column, of the width of computed ones, be computed: it is a constant. */
	extern void test_star_compute(TestStar *star, uint32_t column, int64_t constant);

	/* The parts of a job's spec that a star is, in place as long as this is. */
	typedef struct TestStarUse
	{
		HgReplicaUse side;
		HgReplicaColumnUse columns[HG_MAX_COLUMNS];
		HgReplicaLookup lookups[HG_MAX_LOOKUPS];
		HgProgram programs[HG_MAX_PROGRAMS];
		HgRowFilters filters;
	} TestStarUse;

	extern void test_star_use(const TestStar *star, HgSide which, TestStarUse *use,
							  HgJobSpec *spec);

	/*
	 * Open a job that joins two of them, whose graphs are made, give it rows, columns and masks,
	 * and build.  The job is open afterwards unless *job is NULL.
	 */
	extern HgStatus test_star_build(HgEngine *engine, const HgHost *host, const TestStar *outer,
									const TestStar *inner, HgJob **job, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_REPLICA_STAR_H */
