/*-------------------------------------------------------------------------
 *
 * hg_table_measure.h
 *	  Measures a table: times of building it from keys, looking them up and changing it.
 *
 * A table is measured as a caller would use it.  It is built of all keys.  Every key is looked up,
 * in the given order.  Then a sample is erased and inserted again.  For the sample the keys are
 * divided into as many equal parts as there are batches, and the first tenth of each part is a
 * batch.  All batches are erased before the first is inserted again, so that the table ends with
 * the rows that it was built of.  Then describe() returns its statistics, with the counters since
 * it was opened.
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

/* Maximum number of batches of the sample. */
#define HG_TABLE_MAX_BATCHES 10000

	/* What to measure. */
	typedef struct HgTableTrial
	{
		HgTableSpec spec;
		uint32_t batches; /* 0: nothing is erased or inserted.  Ignored if the kind cannot erase. */
	} HgTableTrial;

	/* The results.  Times are totals in nanoseconds. */
	typedef struct HgTableMeasure
	{
		HgTableStats stats;
		double build_ns;
		double find_ns;
		double erase_ns;
		double insert_ns;
		uint64_t sampled;  /* rows of all batches together */
		uint64_t erased;   /* fewer than sampled if batches repeat keys */
		uint64_t inserted; /* as many as erased */
	} HgTableMeasure;

	/* A batch of the sample: keys first .. first + count - 1. */
	typedef struct HgTableSample
	{
		uint64_t first;
		uint64_t count;
	} HgTableSample;

	/*
	 * Checks a trial.  Returns HG_OK, or HG_INVALID with an explanation.  spec.bad_functions must
	 * be 0: it is for tests only.
	 */
	extern HgStatus hg_table_trial_check(const HgTableTrial *trial, HgError *error);

	/*
	 * hg_table_trial_batches returns how many batches are erased and inserted;
	 * hg_table_trial_sample returns which of nkeys keys a batch has.
	 */
	extern uint32_t hg_table_trial_batches(const HgTableTrial *trial);
	extern HgTableSample hg_table_trial_sample(const HgTableTrial *trial, uint64_t nkeys,
											   uint32_t batch);

	/* The memory call of HgTables. */
	typedef HgStatus (*HgTableMemoryCall)(const HgTableSpec *spec, uint64_t rows,
										  HgTableMemory *memory, HgError *error);

	/*
	 * Returns a lower bound of the bytes of a table of nkeys keys.  It assumes lists without
	 * padding.  Returns 0 if memory() fails.
	 */
	extern uint64_t hg_table_trial_bytes(HgTableMemoryCall memory, const HgTableTrial *trial,
										 uint64_t nkeys);

	/* Returns true if the results are plausible for nkeys keys. */
	extern bool hg_table_measure_is_sane(const HgTableTrial *trial, uint64_t nkeys,
										 const HgTableMeasure *measure);

	/*
	 * Builds a table from keys[nkeys] of spec.key_width bytes each, measures it and frees it, also
	 * after a failure.  The caller has checked the trial with hg_table_trial_check.  *measure is
	 * zeroed first.  Returns the first failure; *measure then holds the results so far.
	 */
	extern HgStatus hg_table_measure(HgTables *tables, const HgHost *host,
									 const HgTableTrial *trial, const void *keys, uint64_t nkeys,
									 HgTableMeasure *measure, HgError *error);

	/* The call for a job that measures a table. */
	typedef struct HgMeasureCalls
	{
		/*
		 * In place of build: measures the table over all inner keys.
		 * Times are the engine's own, without those of append.  HG_INVALID is an answer: the table
		 * can not hold these keys.
		 */
		HgStatus (*measure_table)(HgJob *job, struct HgTableMeasure *measure, HgError *error);
	} HgMeasureCalls;

#ifdef __cplusplus
}
#endif

#endif /* HG_TABLE_MEASURE_H */
