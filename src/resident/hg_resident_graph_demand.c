/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_demand.c
 *	  The device memory that joins need beside a graph version.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "resident/hg_resident_device_copy.h"
#include "resident/hg_resident_graph_demand.h"

void
hg_graph_wishes_init(HgGraphWishes *wishes)
{
	pg_atomic_init_u64(&wishes->partitioning, 0);
	pg_atomic_init_u64(&wishes->whole, 0);
	pg_atomic_init_u64(&wishes->most_weighed, 0);
	pg_atomic_init_u64(&wishes->weighed_at, 0);
	pg_atomic_init_u64(&wishes->whole_at, 0);
}

/* A reader that sees the numbers of two joins mixed soon sees the report of another join. */
void
hg_graph_wishes_store(HgGraphWishes *wishes, const HgGraphDemand *demand)
{
	pg_atomic_write_u64(&wishes->partitioning, demand->partitioning);
	pg_atomic_write_u64(&wishes->whole, demand->whole);
}

HgGraphDemand
hg_graph_wishes_load(HgGraphWishes *wishes)
{
	return (HgGraphDemand){.partitioning = pg_atomic_read_u64(&wishes->partitioning),
						   .whole = pg_atomic_read_u64(&wishes->whole)};
}

/* Returns the bytes that one device would need. */
static uint64
hg_graph_wishes_bytes(HgGraphWishes *wishes)
{
	const HgGraphDemand demand = hg_graph_wishes_load(wishes);

	return hg_graph_demand_each(&demand, 1);
}

bool
hg_graph_wishes_are_due(HgGraphWishes *wishes)
{
	const uint64 bytes = hg_graph_wishes_bytes(wishes);

	return bytes > pg_atomic_read_u64(&wishes->most_weighed) ||
		   (bytes > 0 &&
			TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&wishes->weighed_at),
									   GetCurrentTimestamp(), HG_REPLICA_RETRY_MS));
}

void
hg_graph_wishes_set_weighed(HgGraphWishes *wishes)
{
	const uint64 bytes = hg_graph_wishes_bytes(wishes);

	pg_atomic_write_u64(&wishes->most_weighed,
						Max(bytes, pg_atomic_read_u64(&wishes->most_weighed)));
	pg_atomic_write_u64(&wishes->weighed_at, (uint64) GetCurrentTimestamp());
}
