/*-------------------------------------------------------------------------
 *
 * test_measure.h
 *	  The conformity suite of engines that measure tables.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_MEASURE_H
#define TEST_MEASURE_H

#include "../../src/engine/hg_table_measure.h"
#include "test_data.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Measures a table over the inner keys of data, in a job of its own. */
	extern HgStatus test_measure(HgEngine *engine, const HgHost *host, const TestData *data,
								 const HgTableTrial *trial, HgTableMeasure *measure,
								 HgError *error);

	/* Runs the suite: tables of all kinds, cancellation, and trials that are invalid. */
	extern void test_measure_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_MEASURE_H */
