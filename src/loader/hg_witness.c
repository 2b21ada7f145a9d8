/*-------------------------------------------------------------------------
 *
 * hg_witness.c
 *	  The period of the witnesses of a database.
 *
 * A file of its own, so that tests can replace it (test/fault).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "loader/hg_loader_worker.h"

long
hg_witness_period(void)
{
	return 1000;
}
