/*-------------------------------------------------------------------------
 *
 * hg_elapsed.h
 *	  Elapsed time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ELAPSED_H
#define HG_ELAPSED_H

#include "postgres.h"

#include "portability/instr_time.h"

/* Returns the milliseconds since a moment. */
static inline double
hg_elapsed_ms(instr_time since)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, since);
	return INSTR_TIME_GET_MILLISEC(now);
}

#endif /* HG_ELAPSED_H */
