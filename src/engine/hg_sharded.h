/*-------------------------------------------------------------------------
 *
 * hg_sharded.h
 *	  An engine whose jobs are sharded: each job runs on several other engines.
 *
 * It wraps the engines of several devices, which have the calls of hg_exchange.h.  A sharded job
 * consists of one job on each of these engines, a shard.  Appended rows are dealt out to the
 * shards in turns.  Before build they are exchanged, so that each shard has all rows of some keys.
 * Shards send rows to each other (hg_peer_window.h).  Rows that they can not send pass through the
 * caller's memory, in a buffer of at most HG_SHARDED_ROWS.  Then the shards work in parallel, if
 * their engines have start().
 *
 * The promises of hg_engine.h hold for such a job, except that export_graph answers HG_INVALID, as
 * the graph is in pieces.  Its statistics count a range for each shard.  describe and statistics
 * are sums over the shards; phases are the longest of any shard.  Each shard has its share of the
 * job's memory limit, and no keys are vertices (HgJobShape.direct).  If a shard refuses a job or
 * fails, so does the whole job.
 *
 * If both sides are graph replicas, and one at least is partitioned over the engines
 * (HgReplicaSource.partitions), each shard joins its partition, and no row is exchanged.
 *
 * SHARES of rows are equal if the shards have room for about as many rows, and in proportion to
 * that room otherwise (hg_exchange_ranges_share).  A job then fits if all shards together have
 * room for it.
 *
 * With one engine there is one shard, which gets the job's spec unchanged and exchanges nothing.
 *
 * Shards are opened in the order of the engines, which must be the same for all users of the
 * engines.  So no two jobs wait for each other.
 *
 * HOST MEMORY.  Some 100 kB for each shard, the buffer of the exchange while it is used, and the
 * records of all groups, at most max_groups + 1.  While groups are merged, as much again, and a
 * few thousand records.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARDED_H
#define HG_SHARDED_H

#include "hg_exchange.h"

/* Rows, by number, of a side that a shard is dealt in one turn. */
#define HG_SHARDED_DEAL_ROWS 16384

/* Maximum number of rows exchanged at a time. */
#define HG_SHARDED_ROWS 65536

typedef struct HgSharded
{
	HgEngine engine; /* first: engine calls get its address */
	uint32_t shards;
	uint32_t deal_rows;
	HgEngine *(*target)(void *arg, uint32_t shard);
	uint64_t (*room)(void *arg, uint32_t shard); /* or NULL: all have the same room */
	void *arg;
	uint32_t called; /* the shard that was called last, or whose call failed */
} HgSharded;

/*
 * Sets up *sharded, whose engine then opens jobs of 1 to HG_MAX_SHARDS shards; it must outlive
 * them.  target(arg, shard) is called whenever a shard is opened, and returns its engine, or NULL
 * if it is gone (HG_CONNECTION_LOST).  The engine's append_rows must copy the keys before it
 * returns.  deal_rows is HG_SHARDED_DEAL_ROWS except in tests.  The caller may then set
 * sharded->room, which returns, when a job is opened, for how many bytes of it a shard has memory.
 */
extern void hg_sharded_init(HgSharded *sharded, const char *name, uint32_t shards,
							uint32_t deal_rows, HgEngine *(*target)(void *arg, uint32_t shard),
							void *arg);

#endif /* HG_SHARDED_H */
