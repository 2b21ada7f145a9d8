/*-------------------------------------------------------------------------
 *
 * test_engine_computed.h
 *	  The suite of graph replicas (test_engine_replica.h): computed columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_ENGINE_COMPUTED_H
#define TEST_ENGINE_COMPUTED_H

#include "test_replica_star.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* The columns that programs of test_program_draw() use; the next one may be computed. */
#define TEST_PROGRAM_COLUMNS 4

	/* Draws a program of at most steps steps over signed columns. */
	extern void test_program_draw(HgProgram *program, uint32_t steps, uint64_t *state);

	/*
	 * Sets *value to the result of a program for row i of a side.  Returns true if it is NULL.
	 * *overflow becomes true if a number does not fit.
	 */
	extern bool test_program_value(const HgProgram *program, const TestReplicaSide *side,
								   uint32_t i, int64_t *value, bool *overflow);

	/* Runs this part; each test is reported by hg_tap_ok. */
	extern void hg_engine_computed_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_COMPUTED_H */
