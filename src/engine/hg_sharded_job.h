/*-------------------------------------------------------------------------
 *
 * hg_sharded_job.h
 *	  A sharded job, which runs on several engines: declarations shared by its files.
 *
 *	hg_sharded.c			the calls of hg_engine.h; opening shards, and their shares
 *	hg_sharded_exchange.c	moves rows to the shards that join them
 *	hg_sharded_groups.c		merges groups of several shards
 *	hg_sharded_partitions.c	graph replicas of which each shard has a partition
 *
 * A shard is the part of the job on one engine (hg_sharded.h).  The first file calls the others,
 * which do not call each other.  Functions with an HgError return the statuses of hg_engine.h.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARDED_JOB_H
#define HG_SHARDED_JOB_H

#include "hg_exchange.h"
#include "hg_replica.h"
#include "hg_sharded.h"
#include "hg_wrapped_job.h"

typedef struct HgShard
{
	HgEngine calls; /* the calls of its engine */
	HgJob *job;
} HgShard;

/* The groups of all shards, merged. */
typedef struct HgShardedGroups
{
	HgReduceSpec spec;
	uint32_t words; /* of a record; 0 if no groups were made */
	uint64_t *records;
	uint64_t capacity;
	uint64_t count;
	uint64_t next; /* index of the next group to return */
} HgShardedGroups;

/* Graphs of a side: index 0 is the side itself, n what lookup n - 1 looks up. */
#define HG_SHARDED_TABLES (HG_MAX_LOOKUPS + 1)

/* The partitionings of a job's graph replicas. */
typedef struct HgShardedPartitions
{
	/* by HgSide and graph; NULL: each shard has the whole graph */
	const struct HgPartitioning *partitions[2][HG_SHARDED_TABLES];
	uint32_t parts[2][HG_SHARDED_TABLES]; /* number of parts of the whole graphs */

	/* by shard: masks of partitions; NULL: all rows count */
	uint64_t *masks[2][HG_SHARDED_TABLES][HG_MAX_SHARDS];
} HgShardedPartitions;

/* What replaces the whole graphs in the spec of one shard; in place until the shard is open. */
typedef struct HgShardedPartitionSpec
{
	HgReplicaUse replica[2];
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
} HgShardedPartitionSpec;

/* Maximum sum of the shares of all shards. */
#define HG_SHARDED_SHARES (HG_EXCHANGE_SHARES * HG_MAX_SHARDS)

/* How rows are numbered, which the first append decides. */
typedef enum HgShardedFilled
{
	HG_SHARDED_EMPTY = 0,
	HG_SHARDED_BY_POSITION, /* append */
	HG_SHARDED_BY_NUMBER	/* append_rows */
} HgShardedFilled;

typedef struct HgShardedJob
{
	HgSharded *sharded;
	const HgHost *host;
	HgJobSpec spec; /* as the caller gave it */
	uint32_t shards;
	HgShard shard[HG_MAX_SHARDS]; /* [shards] are open */
	bool is_partitioned;
	HgShardedPartitions partitioned;

	uint32_t shares[HG_MAX_SHARDS];
	uint32_t turns; /* sum of the shares: number of turns after which dealing starts again */
	uint8_t turn[HG_SHARDED_SHARES]; /* [turns] the shard that is dealt rows */
	HgShardedFilled filled;
	uint64_t rows[2]; /* upper bound, exclusive, of the numbers of appended rows */
	uint64_t appended[2];
	uint64_t given[2][HG_MAX_COLUMNS]; /* number of values appended */

	uint64_t moved; /* rows that moved from one shard to another */
	uint64_t sent;	/* rows of moved that one shard sent to another directly */
	bool exchanged;
	HgStatus exchange_status; /* of an exchange in start, which build returns */
	HgError exchange_error;
	HgWrappedState state;

	bool is_ahead; /* shards have started this, and the call for it is still to come */
	HgAhead ahead;
	HgMatchMode ahead_mode;

	bool streaming;
	uint32_t current; /* the shard whose matches next returns */
	HgShardedGroups groups;
} HgShardedJob;

/*
 * hg_sharded_exchange.c
 *
 * Moves the rows of both sides between the shards, so that each shard has all rows of its keys.
 */
extern HgStatus hg_sharded_exchange(HgShardedJob *job, HgError *error);

/*
 * hg_sharded_groups.c
 *
 * Makes the groups of each shard and merges them into job->groups.  *groups becomes their number,
 * or HG_TOO_MANY_GROUPS if any shard has too many groups, or all together have.
 */
extern HgStatus hg_sharded_groups_make(HgShardedJob *job, HgMatchMode mode,
									   const HgReduceSpec *spec, uint64_t *groups, HgError *error);

/* Copies the next records of job->groups, as next_groups does.  Groups have been made. */
extern void hg_sharded_groups_next(HgShardedJob *job, HgGroupRecords *records);

/*
 * hg_sharded_partitions.c
 *
 * Returns true if a spec has partitioned graph replicas.
 */
extern bool hg_sharded_are_partitioned(const HgJobSpec *spec);

/* Checks the partitionings in job->spec and sets up job->partitioned, before shards are opened. */
extern HgStatus hg_sharded_partitions_open(HgShardedJob *job, HgError *error);

/*
 * Replaces graphs by a shard's partitions in *spec, a copy of the job's spec, which then points
 * into *of.
 */
extern void hg_sharded_partitions_shard(const HgShardedJob *job, uint32_t shard,
										HgShardedPartitionSpec *of, HgJobSpec *spec);

/*
 * hg_sharded_partitions_mask is HgMaskCalls.mask for a side or a lookup.  It collects the masks of
 * partitions, which hg_sharded_partitions_send_masks passes to the shards before they build.
 */
extern HgStatus hg_sharded_partitions_mask(HgShardedJob *job, HgSide side, uint32_t lookup,
										   uint64_t first_word, uint64_t count,
										   const uint64_t *words, HgError *error);
extern HgStatus hg_sharded_partitions_send_masks(HgShardedJob *job, HgError *error);

/* Frees the collected masks. */
extern void hg_sharded_partitions_free(HgShardedJob *job);

/* Frees the groups, if there are any. */
extern void hg_sharded_groups_free(HgShardedJob *job);

#endif /* HG_SHARDED_JOB_H */
