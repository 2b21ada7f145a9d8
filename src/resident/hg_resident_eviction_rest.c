/*-------------------------------------------------------------------------
 *
 * hg_resident_eviction_rest.c
 *	  Times for which new versions are not evicted, and evicted entries are remembered.
 *
 * A file of its own, so that tests can replace it (test/fault).
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

long
hg_eviction_forget_ms(void)
{
	return 60 * 60 * 1000;
}
