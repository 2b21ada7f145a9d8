/*-------------------------------------------------------------------------
 *
 * hg_resident_statistics.c
 *	  Counters of the cache since the server's start or the last reset, in shared memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/atomics.h"
#include "utils/timestamp.h"

#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_statistics.h"

typedef struct HgSharedStatistics
{
	pg_atomic_uint64 counters[HG_RESIDENT_COUNTERS];
	pg_atomic_uint64 declines[HG_RESIDENT_REASONS];
	pg_atomic_uint64 reset_at;
} HgSharedStatistics;

static HgSharedStatistics *statistics = NULL;

void
hg_resident_statistics_request(void)
{
	hg_resident_shared_request(sizeof(HgSharedStatistics));
}

/* Sets all counters to 0. */
static void
hg_resident_statistics_clear(void (*set)(volatile pg_atomic_uint64 *, uint64))
{
	for (int i = 0; i < HG_RESIDENT_COUNTERS; i++)
		set(&statistics->counters[i], 0);
	for (int i = 0; i < HG_RESIDENT_REASONS; i++)
		set(&statistics->declines[i], 0);
}

void
hg_resident_statistics_startup(void)
{
	bool is_new;

	statistics = hg_resident_shared_startup("hashgraph resident statistics",
											sizeof(HgSharedStatistics), &is_new);
	if (!is_new)
		return;
	hg_resident_statistics_clear(pg_atomic_init_u64);
	pg_atomic_init_u64(&statistics->reset_at, 0);
}

void
hg_resident_count(HgResidentCounter counter, uint64 n)
{
	pg_atomic_fetch_add_u64(&statistics->counters[counter], (int64) n);
}

void
hg_resident_count_decline(HgResidentReason reason)
{
	hg_resident_count(HG_COUNT_DECLINES, 1);
	pg_atomic_fetch_add_u64(&statistics->declines[reason], 1);
}

HgResidentStatistics
hg_resident_statistics(void)
{
	HgResidentStatistics result = {0};

	if (statistics == NULL)
		return result;
	for (int i = 0; i < HG_RESIDENT_COUNTERS; i++)
		result.counters[i] = pg_atomic_read_u64(&statistics->counters[i]);
	for (int i = 0; i < HG_RESIDENT_REASONS; i++)
		result.declines[i] = pg_atomic_read_u64(&statistics->declines[i]);
	result.reset_at = (TimestampTz) pg_atomic_read_u64(&statistics->reset_at);
	return result;
}

void
hg_resident_statistics_reset(void)
{
	if (statistics == NULL)
		return;
	hg_resident_statistics_clear(pg_atomic_write_u64);
	pg_atomic_write_u64(&statistics->reset_at, (uint64) GetCurrentTimestamp());
}
