/*-------------------------------------------------------------------------
 *
 * test_engine_computed.h
 *	  The part of the suite of graph replicas (test_engine_replica.h) that is about computed
 *	  columns.
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

	/* The columns that test_program_draw() has; the next one may be computed of them. */
#define TEST_PROGRAM_COLUMNS 4

	/* Draw a program of at most so many steps, of columns that are signed. */
	extern void test_program_draw(HgProgram *program, uint32_t steps, uint64_t *state);

	/*
	 * The number that a program leaves of row i of a side; returns whether it is NULL.  *overflow
	 * becomes true where one does not fit.
	 */
	extern bool test_program_value(const HgProgram *program, const TestReplicaSide *side,
								   uint32_t i, int64_t *value, bool *overflow);

	/* Run it; each test is reported by hg_tap_ok. */
	extern void hg_engine_computed_suite(HgEngine *engine, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* TEST_ENGINE_COMPUTED_H */
