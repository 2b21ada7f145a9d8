/*-------------------------------------------------------------------------
 *
 * test_measure.h
 *	  What an engine that measures tables must do, whichever it is.
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

	/* Measure a table over the inner keys of data, in a job that is closed again. */
	extern HgStatus test_measure(HgEngine *engine, const HgHost *host, const TestData *data,
								 const HgTableTrial *trial, HgTableMeasure *measure,
								 HgError *error);

	/* Measure tables of all kinds over many keys, and what can't be measured. */
	extern void test_measure_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_MEASURE_H */
