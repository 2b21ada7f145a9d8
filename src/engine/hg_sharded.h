/*-------------------------------------------------------------------------
 *
 * hg_sharded.h
 *	  An engine whose jobs are sharded: each job runs on several other engines.
 *
 * It wraps the engines of several devices, which have the calls of hg_exchange.h.  A sharded job
 * consists of one job on each of these engines, a shard.  Rows are dealt out to the shards in turns
 * as they are appended, and exchanged before build, so that each shard has all rows of some keys:
 * shards send them to each other (hg_offer.h), and what they can't send passes through the caller's
 * memory, a buffer of HG_SHARDED_ROWS at most.  Then the shards work side by side, where their
 * engines have start().
 *
 * The promises of hg_engine.h hold for such a job, except that export_graph answers HG_INVALID: its
 * graph is in pieces.  It has as many ranges as there are shards.  What describe tells is the sum
 * of theirs, and so are the statistics, but for phases, which are those of the shard that took
 * longest.  Each shard has its share of the job's memory limit, and no keys are vertices
 * (HgJobSpec.direct).  What any shard refuses is refused, and what fails for any has failed.
 *
 * Where both sides are graph replicas, and one at least is partitioned, of which each engine has
 * one (HgJobSpec.partitions), each shard joins its own, and no row is exchanged.
 *
 * SHARES of rows are equal ones where shards have room for about as many, and else in proportion to
 * that room (hg_exchange_ranges_share): a job fits then where all of them together have room for
 * it.
 *
 * With one engine there is one shard, which is a job as it was asked for, and exchanges nothing.
 *
 * Shards are opened in the order of the engines, which is to be the same for all that open any: so
 * no two jobs wait each for one that the other has.
 *
 * HOST MEMORY. Some 100 kB for each shard, the buffer of the exchange while that is used, and the
 * records of all groups, of which there are max_groups at most and one; while these are merged, as
 * much again, and a few thousand records.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SHARDED_H
#define HG_SHARDED_H

#include "hg_exchange.h"

/* Rows of a side that a shard is dealt in turn, as its numbers go. */
#define HG_SHARDED_DEAL_ROWS 16384

/* Rows that are exchanged at a time, at most. */
#define HG_SHARDED_ROWS 65536

typedef struct HgSharded
{
	HgEngine engine; /* first: engine calls get its address */
	uint32_t shards;
	uint32_t deal_rows;
	HgEngine *(*target)(void *arg, uint32_t shard);
	uint64_t (*room)(void *arg, uint32_t shard); /* or NULL: they are alike */
	void *arg;
	uint32_t
		called; /* of a job of partitions: the shard that was called last, or whose call failed */
} HgSharded;

/*
 * Set up *sharded, whose engine then opens jobs of 1 to HG_MAX_SHARDS shards; it must outlive them.
 * target(arg, shard) is called whenever a shard is to be opened, and returns its engine, or NULL
 * where it is gone (HG_CONNECTION_LOST).  Its append_rows must have taken a copy of the keys when
 * it returns.  deal_rows is HG_SHARDED_DEAL_ROWS but in tests.  sharded->room can be set
 * afterwards, to what tells, when a job is to be opened, how many bytes of it a shard has memory
 * for.
 */
extern void hg_sharded_init(HgSharded *sharded, const char *name, uint32_t shards,
							uint32_t deal_rows, HgEngine *(*target)(void *arg, uint32_t shard),
							void *arg);

#endif /* HG_SHARDED_H */
