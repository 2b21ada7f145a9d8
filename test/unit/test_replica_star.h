/*-------------------------------------------------------------------------
 *
 * test_replica_star.h
 *	  Sides of joins whose rows look up others, and the equivalent sides without lookups.
 *
 * The equivalent side has the selected rows, with the columns that they have found.  It comes from
 * sorting and bisection, which share nothing with what is tested.
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

	/* Keys that two of the found rows have. */
	typedef enum TestStarDoubles
	{
		TEST_DOUBLES_NONE = 0,
		TEST_DOUBLES_MASKED, /* one of the two is not selected */
		TEST_DOUBLES_UNSEEN, /* only unselected rows look for them */
		TEST_DOUBLES_SEEN	 /* selected rows look for them */
	} TestStarDoubles;

	/* How a lookup is drawn. */
	typedef struct TestLookupSpread
	{
		uint32_t from; /* as in HgReplicaLookup */
		bool unmatched;
		TestReplicaSpread found;
		uint32_t width;	 /* of the keys that are looked up */
		uint32_t nulls;	 /* percentage of rows without a key to look up */
		uint32_t misses; /* percentage of rows that look for a key that is not there */
		TestStarDoubles doubles;
		bool by_key; /* rows look for their relation's own key; width and others do not apply */
	} TestLookupSpread;

	/* How a star is drawn.  All of its relations have as many columns as the side. */
	typedef struct TestStarSpread
	{
		TestReplicaSpread side;
		uint32_t nlookups;
		TestLookupSpread lookups[HG_MAX_LOOKUPS];
	} TestStarSpread;

	/* A lookup of a star. */
	typedef struct TestStarLookup
	{
		TestLookupSpread spread;
		TestReplicaSide own;
		TestReplicaSide found;
		uint32_t *ordinals; /* [rows that look up] index in found, HG_FOUND_NONE or HG_FOUND_TWO */
	} TestStarLookup;

	/* A side whose rows look up others. */
	typedef struct TestStar
	{
		TestReplicaSide side;
		uint32_t nlookups;
		TestStarLookup lookups[HG_MAX_LOOKUPS];
		uint32_t sources[HG_MAX_COLUMNS]; /* of each column, as HgReplicaColumnUse.lookup */
		bool unique;					  /* no selected row finds two */
		TestReplicaSide flat;			  /* the equivalent side; not used without lookups */
		uint32_t nprograms;
		HgProgram programs[HG_MAX_PROGRAMS];
		uint32_t computed[HG_MAX_COLUMNS]; /* of each column, as HgReplicaColumnUse.program */
		HgRowFilters filters;			   /* without their columns */
		uint32_t filtered[HG_MAX_FILTER_COLUMNS]; /* the numbers of these columns */
	} TestStar;

	/* create draws a star; destroy frees it, but not its replicas. */
	extern void test_star_create(TestStar *star, const TestStarSpread *spread, uint64_t *state);
	extern void test_star_destroy(TestStar *star);

	/* Returns the rows that a lookup finds; lookup 0: the side. */
	extern TestReplicaSide *test_star_table(TestStar *star, uint32_t lookup);

	/* Computes the equivalent side again, after filters have changed which rows pass. */
	extern void test_star_filtered(TestStar *star);

	/* Returns the equivalent side. */
	extern const TestReplicaSide *test_star_flat(const TestStar *star);

	/* make makes replicas of all graphs and columns; release releases them. */
	extern HgStatus test_star_make(HgEngine *engine, const HgHost *host, TestStar *star,
								   HgError *error);
	extern void test_star_release(HgEngine *engine, TestStar *star);

	/* Makes a column computed, of the width of computed ones: it is a constant. */
	extern void test_star_compute(TestStar *star, uint32_t column, int64_t constant);

	/* The parts of a job's spec that describe a star.  They must stay while the spec is used. */
	typedef struct TestStarUse
	{
		HgReplicaUse side;
		HgReplicaColumnUse columns[HG_MAX_COLUMNS];
		HgReplicaLookup lookups[HG_MAX_LOOKUPS];
		HgProgram programs[HG_MAX_PROGRAMS];
		HgRowFilters filters;
	} TestStarUse;

	/* Sets *use, and the parts of spec that point to it, for side which. */
	extern void test_star_use(const TestStar *star, HgSide which, TestStarUse *use,
							  HgJobSpec *spec);

	/*
	 * Opens a job that joins two stars, whose replicas are made, passes rows and masks, and
	 * builds.  The caller closes *job unless it is NULL.
	 */
	extern HgStatus test_star_build(HgEngine *engine, const HgHost *host, const TestStar *outer,
									const TestStar *inner, HgJob **job, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* TEST_REPLICA_STAR_H */
