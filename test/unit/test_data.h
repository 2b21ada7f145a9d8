/*-------------------------------------------------------------------------
 *
 * test_data.h
 *	  Keys to join, and the right result of their join.
 *
 * The result comes from sorting both sides and merging them: that shares nothing with the engines.
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

	/* Kinds of keys of a side. */
	typedef enum TestKeys
	{
		TEST_KEYS_UNIQUE,	  /* 0 .. n - 1, shuffled */
		TEST_KEYS_DUPLICATES, /* drawn from n / 4 keys */
		TEST_KEYS_EQUAL,	  /* one key */
		TEST_KEYS_SKEWED,	  /* half of the rows have one key, a quarter another, and so on */
		TEST_KEYS_STRIDE,	  /* 2^16 apart */
		TEST_KEYS_HIGH,		  /* equal high halves */
		TEST_KEYS_ONE_LIST,	  /* distinct keys that share a vertex, some with many rows */
		TEST_KEYS_EXTREMES,	  /* 0, all ones and their neighbours */
		TEST_KEYS_COUNT		  /* number of kinds, not a kind */
	} TestKeys;

	/* Keys of both sides, and the right result. */
	typedef struct TestData
	{
		uint32_t key_width;
		uint64_t rows[2]; /* by HgSide */
		void *keys[2];	  /* [rows] keys */

		uint64_t pairs;		  /* matches of HG_MATCH_ALL */
		uint64_t checksum;	  /* sum of test_pair_checksum() over these */
		uint64_t first;		  /* matches of HG_MATCH_FIRST */
		uint64_t distinct[2]; /* distinct keys of a side */
	} TestData;

	/* Returns the name of a kind, for names of tests. */
	extern const char *test_keys_name(TestKeys kind);

	/*
	 * Makes keys and the result; checksum is 0 if there are more than 2^26 pairs.  Ends the
	 * program if memory is short.
	 */
	extern void test_data_create(TestData *data, TestKeys kind, uint32_t key_width,
								 uint64_t outer_rows, uint64_t inner_rows);

	/* The same with hot[side] rows that have one key; each other row has its own key. */
	extern void test_data_create_hot(TestData *data, uint32_t key_width, const uint64_t rows[2],
									 const uint64_t hot[2]);

	/* An interval of keys, in 2^32 or 2^64 as a circle. */
	typedef struct TestInterval
	{
		uint64_t least;
		uint64_t keys; /* number of keys in it */
		bool repeats;  /* inner keys are drawn from it; else they are unique */
	} TestInterval;

	/*
	 * The same with inner keys in an interval, its ends among them if there are two rows or more.
	 * Some outer keys are outside of it.
	 */
	extern void test_data_create_interval(TestData *data, uint32_t key_width,
										  const uint64_t rows[2], const TestInterval *interval);

	/* Frees the keys. */
	extern void test_data_destroy(TestData *data);

	/* Returns the key of a row, widened. */
	extern uint64_t test_data_key(const TestData *data, HgSide side, uint64_t row);

	/* Returns what a pair adds to the checksum. */
	extern uint64_t test_pair_checksum(uint32_t outer, uint32_t inner);

	/* Returns the hash of a widened key. */
	extern uint32_t test_hash(uint32_t key_width, uint64_t key);

	/* Returns memory of malloc, also for 0 bytes.  Ends the program if there is none. */
	extern void *test_malloc(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* TEST_DATA_H */
