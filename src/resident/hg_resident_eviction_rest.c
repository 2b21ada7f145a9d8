/*-------------------------------------------------------------------------
 *
 * hg_resident_eviction_rest.c
 *	  How long nothing is evicted that was taken in.
 *
 * A file of its own, so that tests can stand in front of it (test/fault).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "resident/hg_resident_eviction.h"

long
hg_eviction_rest_ms(void)
{
	return 60 * 1000;
}
