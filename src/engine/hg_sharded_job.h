/*-------------------------------------------------------------------------
 *
 * hg_sharded_job.h
 *	  A sharded job, which runs on several engines, and operations on all of its shards.
 *
 *	hg_sharded.c			the calls of hg_engine.h
 *	hg_sharded_shards.c	what each shard is given
 *	hg_sharded_exchange.c	rows to the shards that join them
 *	hg_sharded_groups.c	groups of several shards become one
 *	hg_sharded_partitions.c	graph replicas of which each shard has a partition
 *
 * The first of these stands above the others, which know nothing of each other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARDED_JOB_H
#define HG_SHARDED_JOB_H

#include "hg_exchange_ranges.h"
#include "hg_replica.h"
#include "hg_sharded.h"
#include "hg_wrapped_job.h"

typedef struct HgShard
{
	HgEngine calls; /* of the engine that it belongs to */
	HgJob *job;
} HgShard;

/* Groups of all shards, merged. */
typedef struct HgShardedGroups
{
	HgReduceSpec spec;
	uint32_t words; /* of a record; 0 where no groups were made */
	uint64_t *records;
	uint64_t capacity;
	uint64_t count;
	uint64_t next; /* the group to be delivered next */
} HgShardedGroups;

/* The rows of a side, and, by the number of a lookup and 1, those that it finds. */
#define HG_SHARDED_TABLES (HG_MAX_LOOKUPS + 1)

/* Graph replicas of which each shard has a partition, in place of rows. */
typedef struct HgShardedPartitions
{
	/* by HgSide; NULL: the shards have them as they are */
	const struct HgPartitioning *partitions[2][HG_SHARDED_TABLES];
	uint32_t parts[2][HG_SHARDED_TABLES]; /* of the whole graphs */

	/* of partitions, for their shards; NULL: all rows count */
	uint64_t *masks[2][HG_SHARDED_TABLES][HG_MAX_SHARDS];
} HgShardedPartitions;

/* What a shard has in place of the whole graphs, in place until it is open. */
typedef struct HgShardedPartitionSpec
{
	HgReplicaUse replica[2];
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
} HgShardedPartitionSpec;

/* The most that shares of shards can be together. */
#define HG_SHARDED_SHARES (HG_EXCHANGE_SHARES * HG_MAX_SHARDS)

/* How rows are numbered: which of the calls has brought any. */
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
	HgJobSpec spec; /* as the job was asked for */
	uint32_t shards;
	HgShard shard[HG_MAX_SHARDS]; /* those that are open */
	bool is_partitioned;
	HgShardedPartitions partitioned;

	uint32_t shares[HG_MAX_SHARDS];
	uint32_t turns;					 /* the sum of these, after which dealing begins anew */
	uint8_t turn[HG_SHARDED_SHARES]; /* [turns] the shard that is dealt rows */
	HgShardedFilled filled;
	uint64_t rows[2]; /* numbers of rows that are appended are below these */
	uint64_t appended[2];
	uint64_t given[2][HG_MAX_COLUMNS]; /* rows that have got their value */

	uint64_t moved; /* rows that went from one shard to another ... */
	uint64_t sent;	/* ... and those of them that one sent to the other */
	bool exchanged;
	HgStatus exchange_status; /* of start, which build tells */
	HgError exchange_error;
	HgWrappedState state;

	bool is_ahead; /* shards have begun with this, and the call for it is still to come */
	HgAhead ahead;
	HgMatchMode ahead_mode;

	bool streaming;
	uint32_t current; /* the shard whose matches are delivered */
	HgShardedGroups groups;
} HgShardedJob;

/* hg_sharded_shards.c: open all of them; what was opened is in the job, whatever comes of it. */
extern HgStatus hg_shards_open(HgShardedJob *job, HgError *error);

/* Have all shards begin with something, where they can. */
extern HgStatus hg_shards_start(HgShardedJob *job, HgAhead ahead, HgMatchMode mode,
								const HgReduceSpec *spec, HgError *error);

/* Close those that are open. */
extern void hg_shards_close(HgShardedJob *job);

/* The shard that is dealt a row, and the first row from there on that another is dealt. */
extern HgShard *hg_shard_of_row(HgShardedJob *job, uint64_t row, uint64_t *end);

/* hg_sharded_exchange.c: exchange the rows of both sides. */
extern HgStatus hg_sharded_exchange(HgShardedJob *job, HgError *error);

/*
 * hg_sharded_groups.c: have each shard make groups, which all have begun with where they can, and
 * merge them: HG_TOO_MANY_GROUPS of any shard, or of all together, is that of the job.
 */
extern HgStatus hg_sharded_groups_make(HgShardedJob *job, HgMatchMode mode,
									   const HgReduceSpec *spec, uint64_t *groups, HgError *error);

/* The next records, which there have to be some of. */
extern void hg_sharded_groups_next(HgShardedJob *job, HgGroupRecords *records);

/* hg_sharded_partitions.c: does a spec ask for partitions of graph replicas? */
extern bool hg_sharded_are_partitioned(const HgJobSpec *spec);

/* Begin a job of them, if it can be so, before its shards are opened. */
extern HgStatus hg_sharded_partitions_open(HgShardedJob *job, HgError *error);

/* Have a shard's spec, which is the job's so far, name its partitions. */
extern void hg_sharded_partitions_shard(const HgShardedJob *job, uint32_t shard,
										HgShardedPartitionSpec *of, HgJobSpec *spec);

/* HgEngine.mask of a side, or of a lookup; and tell the shards, before they build. */
extern HgStatus hg_sharded_partitions_mask(HgShardedJob *job, HgSide side, uint32_t lookup,
										   uint64_t first_word, uint64_t count,
										   const uint64_t *words, HgError *error);
extern HgStatus hg_sharded_partitions_tell(HgShardedJob *job, HgError *error);

/* Free the masks. */
extern void hg_sharded_partitions_free(HgShardedJob *job);

/* Forget the groups, if there are any. */
extern void hg_sharded_groups_free(HgShardedJob *job);

#endif /* HG_SHARDED_JOB_H */
