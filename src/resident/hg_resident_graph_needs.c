/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_needs.c
 *	  What joins need of devices beside a graph version.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "resident/hg_resident_graph_needs.h"

void
hg_graph_wishes_init(HgGraphWishes *wishes)
{
	pg_atomic_init_u64(&wishes->cut, 0);
	pg_atomic_init_u64(&wishes->whole, 0);
	pg_atomic_init_u64(&wishes->whole_at, 0);
}

/* Whoever reads the numbers of two joins that tell at a time is told of another one, soon. */
void
hg_graph_wishes_tell(HgGraphWishes *wishes, const HgGraphNeeds *needs)
{
	pg_atomic_write_u64(&wishes->cut, needs->cut);
	pg_atomic_write_u64(&wishes->whole, needs->whole);
}

HgGraphNeeds
hg_graph_wishes_told(HgGraphWishes *wishes)
{
	return (HgGraphNeeds){.cut = pg_atomic_read_u64(&wishes->cut),
						  .whole = pg_atomic_read_u64(&wishes->whole)};
}
