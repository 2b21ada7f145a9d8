/*-------------------------------------------------------------------------
 *
 * hg_liar.h
 *	  A device process with one fault, played by the waiting of its client.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LIAR_H
#define HG_LIAR_H

#include "../../src/engine/wire/hg_wire.h"

#define LIAR_STAGING_BYTES 262144

/* Rows of either side of the job, which match one by one, and the value of their column. */
#define LIAR_ROWS 4
#define LIAR_VALUE 7

/* The faults of a device process. */
typedef enum Lie
{
	LIE_NONE,
	LIE_MAGIC,
	LIE_NO_DESCRIPTOR,
	LIE_SMALL_STAGING,
	LIE_UNSEALED,
	LIE_TOO_MANY_DEVICES,
	LIE_COSTS,
	LIE_UNASKED_REPLY,
	LIE_SEQUENCE,
	LIE_KIND_OF_ANSWER,
	LIE_JOB,
	LIE_STATUS,
	LIE_CANCELLED,
	LIE_LOST,
	LIE_FIGURES,
	LIE_ALGORITHM,
	LIE_NO_LEASE,
	LIE_LEASE_BEYOND,
	LIE_LEASE_UNALIGNED,
	LIE_MORE_ROWS,
	LIE_FEWER_ROWS,
	LIE_COUNT_OF_NONE,
	LIE_IMPOSSIBLE_COUNT,
	LIE_IMPOSSIBLE_FIRST,
	LIE_TOO_MANY_PAIRS,
	LIE_SMALL_RESULTS,
	LIE_UNCOUNTED_PAIRS,
	LIE_LOST_PAIRS,
	LIE_OUTER_ROW,
	LIE_INNER_ROW,
	LIE_LAST_ROW,
	LIE_GRAPH,
	LIE_EXPORT,
	LIE_TOO_MANY_GROUPS,
	LIE_GROUPS_OF_NOTHING,
	LIE_NO_MORE_GROUPS,
	LIE_GROUP_PAIRS,
	LIE_IMPOSSIBLE_PAIRS,
	LIE_GROUP_KEY,
	LIE_GROUP_NULLS,
	LIE_GROUP_COUNT,
	LIE_GROUP_SUM,
	LIE_GROUP_EXTREME,
	LIE_TABLE_TIME,
	LIE_TABLE_NO_TIME,
	LIE_TABLE_MORE_ROWS,
	LIE_TABLE_FEWER_ROWS,
	LIE_TABLE_SLOTS,
	LIE_TABLE_FILLED,
	LIE_TABLE_LIST,
	LIE_TABLE_BYTES,
	LIE_TABLE_SAMPLE,
	LIE_TABLE_LOST,
	LIE_RESIDENT,
	LIE_NO_REPLICA,
	LIE_NO_REPLICA_GRAPH,
	LIE_NO_REPLICA_LATE,
	LIE_MISSING,
	LIE_REPLICA_MORE_ROWS,
	LIE_REPLICA_FEWER_ROWS,
	LIE_REPLICA_COUNT,
	LIE_REPLICA_ROW,
	LIE_REPLICA_LAST_ROW,
	LIE_EDGES,
	LIE_NO_REPLICA_COLUMN,
	LIE_VALUES,
	LIE_COLUMN_BUILD,
	LIE_REPLICA_FEW_BYTES,
	LIE_REPLICA_MANY_BYTES,
	LIE_COLUMN_BYTES,
	LIE_COLUMN_GROUPS,
	LIE_COLUMN_KEY,
	LIE_COLUMN_SUM,
	LIE_NOT_UNIQUE,
	LIE_NOT_UNIQUE_EARLY,
	LIE_NOT_UNIQUE_LATE,
	LIE_OVERFLOW,
	LIE_OVERFLOW_EARLY,
	LIE_LOOKUP_COUNT,
	LIE_BAD_PAGE,
	LIE_BAD_PAGE_EARLY,
	LIE_BAD_PAGE_LATE,
	LIE_PAGE_ROWS,
	LIE_PAGE_MORE_ROWS,
	LIE_PAGE_COUNT,
	LIE_PAGE_ROW,
	LIE_TALLY_MORE,
	LIE_TALLY_FEWER,
	LIE_TALLY_WRAPPED,
	LIE_TALLY_PARTS,
	LIE_TALLY_ROOM,
	LIE_TAKEN_MORE,
	LIE_TAKEN_ROOM,
	LIE_TAKEN_ROW,
	LIE_TAKEN_PART,
	LIE_TAKEN_TWICE,
	LIE_TAKEN_NONE,
	LIE_ARRIVED_MORE,
	LIE_ARRIVED_FEWER,
	LIE_ARRIVED_LATE,
	LIE_SHARD_ROW,
	LIE_EXCHANGED,
	LIE_COUNT
} Lie;

/* For each lie, what the client drops the process for. */
extern const char *const lie_names[LIE_COUNT];

/* A device process that the host's wait plays. */
typedef struct Liar
{
	HgHost host;
	int fd;
	Lie lie;
	unsigned char *staging;
	HgJobStats stats;  /* of the job */
	uint64_t made;	   /* bytes of the replica that the job makes */
	bool has_replicas; /* one side of the job is a graph replica */
	bool has_lookups;  /* its rows look up others */
	bool has_computed; /* it has computed columns */
	bool has_pages;	   /* one side comes as pages */
	bool is_shard;	   /* the job is one of several shards */
	bool has_given;	   /* the shard has sent all rows of others */
} Liar;

/* The client waits: answers its request, with the lie.  It is wait_readable of the host. */
extern bool liar_wait(void *arg, int fd);

/* Returns true if a key is of the first part, which the played shard has. */
extern bool liar_key_is_own(uint32_t key);

#endif /* HG_LIAR_H */
