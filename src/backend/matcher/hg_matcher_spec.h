/*-------------------------------------------------------------------------
 *
 * hg_matcher_spec.h
 *	  What is to be matched, and how, and what that is expected to take: before there is a matcher.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_SPEC_H
#define HG_MATCHER_SPEC_H

#include "backend/device/hg_device_placement.h"
#include "backend/hg_budget.h"
#include "backend/hg_progress.h"
#include "backend/matcher/hg_gather.h"
#include "backend/matcher/hg_participants.h"
#include "engine/hg_computed.h"
#include "engine/hg_costs.h"
#include "engine/hg_flat.h"
#include "engine/hg_replica.h"
#include "engine/hg_row_filter.h"
#include "engine/hg_partitioning.h"
#include "engine/hg_table_measure.h"

/* The side that is not this one. */
static inline HgSide
hg_other_side(HgSide side)
{
	return side == HG_OUTER ? HG_INNER : HG_OUTER;
}

/* The keys of a side, in pieces. */
typedef struct HgKeyPiece
{
	const void *keys; /* [count] words of the key width */
	uint64 count;
	uint64 first_row; /* number of the first one; where no job is shared, numbers are dense */
} HgKeyPiece;

typedef struct HgKeySet
{
	const HgKeyPiece *pieces;
	int npieces;
	uint64 rows; /* sum of the counts */
} HgKeySet;

typedef struct HgSender HgSender; /* hg_sender.h */

/*
 * Covered rows that others look up on a device, which keeps the graphs for it
 * (engine/hg_replica.h).
 */
typedef struct HgReplicaFound
{
	HgReplicaLookup lookup;
	const HgFlatMask *mask; /* the rows of the graph that are covered; NULL: all */
	const uint64 *places;	/* as in HgReplicaCovered */
} HgReplicaFound;

/* The graph of covered rows as a device keeps it. */
typedef struct HgReplicaCovered
{
	HgReplicaUse use;
	const HgPartitioning *partitions; /* how it is partitioned, where devices have a partition each;
										 NULL: it is not */
	HgReplicaColumnUse columns[HG_MAX_COLUMNS]; /* of the reduction, if has_columns */
	bool coded[HG_MAX_COLUMNS];					/* has codes in place of values, ... */
	uint32 ncodes[HG_MAX_COLUMNS];				/* ... which are below that */
	bool has_columns;
	const uint64
		*places; /* [parts + 1] rows ahead of each part of the table whose rows are covered */
	uint32 nlookups;
	HgReplicaFound lookups[HG_MAX_LOOKUPS];	   /* what they look up on the way ... */
	HgCopartition copartition[HG_MAX_LOOKUPS]; /* ... and, of partitions, how that is partitioned */
	uint32 nprograms;
	HgProgram programs[HG_MAX_PROGRAMS]; /* that compute some of the columns */
	HgRowFilters filters; /* by pending predicates: fewer rows count than are covered */
} HgReplicaCovered;

typedef struct HgMatcherSpec
{
	uint32 key_width;	 /* bytes: 4 or 8 */
	HgMatchMode mode;	 /* all matches, or the first of each outer row */
	bool small;			 /* a few rows: use the CPU and nothing else */
	bool counted;		 /* no match is asked for, only their number */
	bool direct;		 /* on the CPU keys may be vertices, where no setting says otherwise ... */
	uint64 direct_limit; /* ... and the job holds no more than that with a table of them, or with
						  * what else it can do without; 0: any */
	double pairs;		 /* matches that are expected; only hints at how long they take */

	/*
	 * NULL, or told of an outer row whether the caller wants no more of its matches, by what he has
	 * seen of them (HgMatches.settled).  It may not ereport.
	 */
	bool (*settled)(void *arg, uint32 outer_row);
	void *settled_arg;

	/*
	 * 0, or how many outer rows are expected that come after create, a few at a time, as far as
	 * hg_matcher_may_stream() and hg_matcher_streams() say so: hg_matcher_renew().
	 */
	uint64 streamed_rows;

	/*
	 * By HgSide: the caller does not look at the side's rows of matches, which may be any then.
	 * any_order: he takes all matches, and their order is nothing to him.
	 */
	bool unread[2];
	bool any_order;

	/* By HgSide: at how many places in memory the caller looks for what it needs of a delta row. */
	int accesses[2];

	/*
	 * NULL, or then: keys that are the inner side, each of them once, in place of those of create;
	 * they stay in place until the matcher is destroyed.
	 */
	const HgKeyBitmap *inner_bits;

	/*
	 * NULL, or what the matches may be reduced to, where they come from a device and that takes
	 * less time than returning them: hg_matcher_reduce() tells.  It stays in place until the
	 * matcher is destroyed.
	 */
	const HgReduction *reduction;

	/*
	 * By HgSide: NULL, or columns that are wanted of the rows of each match, which stay in place as
	 * well.  Where the matches come from a device, and it takes less time to gather them there than
	 * to look each value up by its row, they come with the matches: hg_matcher_values() tells.
	 */
	const HgColumnSet *columns[2];

	/*
	 * By HgSide: NULL, or the side's covered rows, under the numbers of their resident HashGraph.
	 * They come beside the delta rows of the side's key set.  Delta rows are numbered from
	 * first_row on, which is 0 or beyond all of the graph's numbers.  All of it stays in place
	 * until the matcher is destroyed.  Matches that are returned together are either of covered
	 * rows of a side or of delta rows.  Where inner rows are all covered or all delta, the matches
	 * of an outer row follow each other, and HG_MATCH_FIRST is of all of them.
	 */
	const HgFlatSide *covered[2];
	uint32 first_row[2];

	/*
	 * NULL if no predicate is pending.  Otherwise apply() applies the pending predicates to all
	 * covered rows; it must be called before covered rows meet here.  Delta rows need not know all
	 * covered rows: for the keys of one side, apply_some() returns those covered rows of the other
	 * side, in CurrentMemoryContext, that may match and pass.  Both may ereport.
	 */
	void (*apply)(void *arg);
	const HgFlatSide *(*apply_some)(void *arg, HgSide side, const HgKeySet *keys);
	void *apply_arg;

	/*
	 * True if another matcher has the pairs of covered rows of both sides.  Otherwise covered_part
	 * is NULL, or without a team a counter of the processes that have a matcher each of the same
	 * covered rows, and take these pairs in parts.
	 */
	bool covered_apart;
	pg_atomic_uint32 *covered_part;

	/*
	 * By HgSide: NULL, or what a device keeps of the covered rows, as far as is known here.  If
	 * both are set, the device is to be asked about the pairs, which takes less time.
	 */
	const HgReplicaCovered *replica[2];
	HgDeviceSet replica_at;	  /* of the devices that have all of it, ... */
	bool replica_partitioned; /* ... together, as graphs are partitioned: all of them are asked */

	/*
	 * NULL, or what this process shares with others that join the same sides, each with rows
	 * of its own: matches are then those of the work that this process takes.
	 */
	const HgParticipantsSpec *participants;

	/*
	 * NULL, or what has sent keys of the two sides to a device already.  It is the caller's, who
	 * may destroy it as soon as the matcher is made.
	 */
	HgSender *sender;

	/*
	 * NULL, or what is charged while devices are asked about covered rows: where devices have a
	 * partition each, what tells them which rows are covered.  It stays as long as the matcher
	 * does, and so does the next.
	 */
	HgBudget *budget;

	/* NULL, or what is to be told while the engine works. */
	HgProgress *progress;

	/*
	 * NULL, or a table that is to be measured over the keys of the inner side, in place of a join,
	 * where that is done on a device: hg_matcher_measured() tells.  There is no outer side then.
	 */
	const HgTableTrial *trial;
} HgMatcherSpec;

/* What a join is expected to take. */
typedef struct HgMatcherEstimate
{
	double device_ms; /* on a device ... */
	double cpu_ms;	  /* ... and on the CPU */
	bool reduced;	  /* the device reduces the matches, if they come from there */
} HgMatcherEstimate;

/*
 * Estimates the time of a join of so many rows, of all participants.  Where the spec has
 * streamed_rows, the CPU joins outer rows as they come if the inner side is small.  Returns false
 * where costs is NULL: no time is known then, and matches are reduced wherever they can be.
 */
extern bool hg_matcher_estimate(const HgEngineCosts *costs, const HgMatcherSpec *spec,
								uint64 outer_rows, uint64 inner_rows, HgMatcherEstimate *estimate);

/*
 * Choose of spec.columns, for so many rows, those that a device gathers in less time than it takes
 * to look each value up by its row, and that there is room for; none where costs is NULL.
 */
extern void hg_matcher_choose_columns(const HgEngineCosts *costs, const HgMatcherSpec *spec,
									  const uint64 rows[2], const HgColumnSet *chosen[2]);

/*
 * While no device process is ready, backend auto asks for one for joins of so many rows: with
 * fewer the CPU is done before that could have started.
 */
#define HG_DEVICE_ROWS 500000

/* What is known of the server's devices. */
typedef struct HgKnownDevice
{
	bool measured; /* one is ready, and has measured: */
	HgEngineCosts costs;
	bool sought; /* else it is known whether there may be one: */
	bool absent; /* there is none, and never will be */
} HgKnownDevice;

/* Ask what is known of devices now, but for what is sought when it matters. */
extern void hg_matcher_ask_device(HgKnownDevice *device);

/*
 * Returns true if the outer rows of a join may come a few at a time, each of them to be looked up
 * in one graph of all inner rows.  They may where the join is to run on the CPU, by what is known
 * of devices, and no setting asks for another way.
 */
extern bool hg_matcher_may_stream(HgKnownDevice *device, uint32 key_width, uint64 outer_rows,
								  uint64 inner_rows, double pairs);

/* What is asked of any job, but for the rows that are expected; reduction may be NULL. */
extern void hg_matcher_init_spec(HgJobSpec *spec, uint32 key_width, const HgReduction *reduction,
								 bool on_device);

#endif /* HG_MATCHER_SPEC_H */
