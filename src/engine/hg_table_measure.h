/*-------------------------------------------------------------------------
 *
 * hg_table_measure.h
 *	  What a table takes: built of keys, looked up and changed, with the times of all that.
 *
 * A table is measured as a caller would use it: it is built of all keys, every key is looked up, in
 * the order in which they are, and a sample is erased and inserted again.  The keys are cut into as
 * many equal parts as there are batches, and of each part the first tenth is a batch.  All batches
 * are erased before the first is inserted again, so that the table ends with the rows that it was
 * built of.  It is described after that, with all that was done to it.
 *
 * Row numbers are the positions of keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_MEASURE_H
#define HG_TABLE_MEASURE_H

#include "hg_table.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Batches that a sample is cut into, at most. */
#define HG_TABLE_MAX_BATCHES 10000

	/* What is to be measured. */
	typedef struct HgTableTrial
	{
		HgTableSpec spec;
		uint32_t batches; /* 0: the table is not changed, nor is one that has no erase */
	} HgTableTrial;

	/* What came of it.  Times are nanoseconds in all. */
	typedef struct HgTableMeasure
	{
		HgTableStats stats;
		double build_ns;
		double find_ns;
		double erase_ns;
		double insert_ns;
		uint64_t sampled;  /* rows of all batches together ... */
		uint64_t erased;   /* ... of which a table has no row twice ... */
		uint64_t inserted; /* ... and gets back what it had */
	} HgTableMeasure;

	/* A batch of the sample: keys first .. first + count - 1. */
	typedef struct HgTableSample
	{
		uint64_t first;
		uint64_t count;
	} HgTableSample;

	/*
	 * HG_OK, or HG_INVALID with an explanation: also where functions are to be bad, which is for
	 * tests of tables alone.
	 */
	extern HgStatus hg_table_trial_check(const HgTableTrial *trial, HgError *error);

	/* How many batches of so many keys are erased and inserted again, and which keys a batch has.
	 */
	extern uint32_t hg_table_trial_batches(const HgTableTrial *trial);
	extern HgTableSample hg_table_trial_sample(const HgTableTrial *trial, uint64_t nkeys,
											   uint32_t batch);

	/* The memory call of those who make tables (HgTables). */
	typedef HgStatus (*HgTableMemoryCall)(const HgTableSpec *spec, uint64_t rows,
										  HgTableMemory *memory, HgError *error);

	/*
	 * What a table of so many keys takes at least, of what memory tells: lists that are padded may
	 * take as much as max_padding allows, but need not.  0 where there is no such table.
	 */
	extern uint64_t hg_table_trial_bytes(HgTableMemoryCall memory, const HgTableTrial *trial,
										 uint64_t nkeys);

	/* Can this have been measured, over so many keys? */
	extern bool hg_table_measure_is_sane(const HgTableTrial *trial, uint64_t nkeys,
										 const HgTableMeasure *measure);

	/*
	 * Measure a table of tables over keys[nkeys].  Whatever its calls answer is answered;
	 * nothing of it is left.
	 */
	extern HgStatus hg_table_measure(HgTables *tables, const HgHost *host,
									 const HgTableTrial *trial, const void *keys, uint64_t nkeys,
									 HgTableMeasure *measure, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_TABLE_MEASURE_H */
