/*-------------------------------------------------------------------------
 *
 * test_data.h
 *	  Keys to join, and what the join of them must give.
 *
 * The right answer comes from sorting both sides and merging them: it shares
 * nothing with what it tests.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_DATA_H
#define TEST_DATA_H

#include "../../src/engine/hg_engine.h"
#include "../../src/engine/hg_hash.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* How the keys of a side are spread. */
	typedef enum TestKeys
	{
		TEST_KEYS_UNIQUE,	  /* 0 .. n - 1, shuffled */
		TEST_KEYS_DUPLICATES, /* drawn from n / 4 keys */
		TEST_KEYS_EQUAL,	  /* one key */
		TEST_KEYS_SKEWED,	  /* half of the rows have one key, a quarter another ... */
		TEST_KEYS_STRIDE,	  /* 2^16 apart */
		TEST_KEYS_HIGH,		  /* equal high halves */
		TEST_KEYS_ONE_LIST,	  /* different keys that share a vertex, some often */
		TEST_KEYS_EXTREMES,	  /* 0, all ones and their neighbours */
		TEST_KEYS_COUNT		  /* number of kinds, not a kind */
	} TestKeys;

	typedef struct TestData
	{
		uint32_t key_width;
		uint64_t rows[2]; /* by HgSide */
		void *keys[2];	  /* [rows] keys */

		uint64_t pairs;		  /* matches of HG_MATCH_ALL */
		uint64_t checksum;	  /* sum of test_pair_checksum() over them */
		uint64_t first;		  /* matches of HG_MATCH_FIRST */
		uint64_t distinct[2]; /* different keys of a side */
	} TestData;

	extern const char *test_keys_name(TestKeys kind);

	/*
	 * Make keys and the answer.  The answer of more than 2^26 pairs is not computed:
	 * checksum is 0 then.  Ends the program when out of memory.
	 */
	extern void test_data_create(TestData *data, TestKeys kind, uint32_t key_width,
								 uint64_t outer_rows, uint64_t inner_rows);

	/* The same with hot rows of a side that have one key; each other row's key is its own. */
	extern void test_data_create_hot(TestData *data, uint32_t key_width, const uint64_t rows[2],
									 const uint64_t hot[2]);

	/* Keys in an interval, of 2^32 or 2^64 as a circle. */
	typedef struct TestInterval
	{
		uint64_t least;
		uint64_t keys; /* how many there are in it */
		bool repeats;  /* inner keys are drawn from it; else none of them is there twice */
	} TestInterval;

	/*
	 * The same with inner keys that are in an interval, the ends among them if there are two rows
	 * or more, and outer keys of which some are outside.
	 */
	extern void test_data_create_interval(TestData *data, uint32_t key_width,
										  const uint64_t rows[2], const TestInterval *interval);

	extern void test_data_destroy(TestData *data);

	/* Key number row of a side, widened. */
	extern uint64_t test_data_key(const TestData *data, HgSide side, uint64_t row);

	/* What a pair adds to the checksum. */
	extern uint64_t test_pair_checksum(uint32_t outer, uint32_t inner);

	/* The hash of a widened key. */
	extern uint32_t test_hash(uint32_t key_width, uint64_t key);

	/* malloc that ends the program instead of returning NULL; of 0 bytes too. */
	extern void *test_malloc(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* TEST_DATA_H */
