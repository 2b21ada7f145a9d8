/*-------------------------------------------------------------------------
 *
 * hg_witness.c
 *	  How often the witnesses of a database take turns.
 *
 * A file of its own, so that tests can stand in front of it (test/fault).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "loader/hg_witness.h"

long
hg_witness_period(void)
{
	return 1000;
}
