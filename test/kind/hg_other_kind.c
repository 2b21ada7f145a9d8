/*-------------------------------------------------------------------------
 *
 * hg_other_kind.c
 *	  An extension whose cumulative statistics have the ID that hashgraph's have, for
 *	  test/t/server_counters.pl, which builds and preloads it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/pgstat_internal.h"

PG_MODULE_MAGIC;

void _PG_init(void);

/* src/backend/hg_counters.c has this number */
#define OTHER_KIND 31

typedef struct OtherEntry
{
	PgStatShared_Common header;
	uint64 count;
} OtherEntry;

static const PgStat_KindInfo other_kind = {
	.name = "other",
	.shared_size = sizeof(OtherEntry),
	.shared_data_off = offsetof(OtherEntry, count),
	.shared_data_len = sizeof(uint64),
};

void
_PG_init(void)
{
	pgstat_register_kind(OTHER_KIND, &other_kind);
}
