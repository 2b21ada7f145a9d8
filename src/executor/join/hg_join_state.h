/*-------------------------------------------------------------------------
 *
 * hg_join_state.h
 *	  The join node's state, shared by the files of this room.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_STATE_H
#define HG_JOIN_STATE_H

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "portability/instr_time.h"

#include "backend/hg_budget.h"
#include "backend/hg_stats.h"
#include "batch/hg_input.h"
#include "batch/hg_row_bits.h"
#include "executor/join/hg_join.h"

/* Where the node stands; hg_join.c tells the way. */
typedef enum HgJoinPhase
{
	HG_JOIN_READ_INNER,
	HG_JOIN_NEXT_PARTITION,
	HG_JOIN_READ_OUTER,
	HG_JOIN_REDUCE,
	HG_JOIN_MATCH,
	HG_JOIN_COUNT,
	HG_JOIN_END_CHUNK,
	HG_JOIN_UNMATCHED,
	HG_JOIN_NULL_KEYS,
	HG_JOIN_END_OUTER,
	HG_JOIN_INNER_UNMATCHED,
	HG_JOIN_INNER_NULL_KEYS,
	HG_JOIN_NEXT_INNER,
	HG_JOIN_DONE
} HgJoinPhase;

/* Spill sets of both sides that are cut alike. */
typedef struct HgPartitions
{
	HgSpill *outer;
	HgSpill *inner;
	int current;			/* the partition that is joined; -1 before the first */
	pg_atomic_uint32 *next; /* where processes share the sets: the next one to be taken */
} HgPartitions;

typedef struct HgJoinShared HgJoinShared; /* hg_join_shared.c */

/*
 * What a node above makes of the join's rows, where it takes groups of them as well as rows.
 * The columns of spec are those of its source; max_groups is told by room.
 */
typedef struct HgReducer
{
	HgReduceSpec spec;

	/* how many groups may come now, all at once; 0: none, there must be rows */
	uint64 (*room)(void *arg);

	/* take the records of groups (hg_engine.h) */
	void (*take)(void *arg, const uint64 *records, uint64 count);
	void *arg;
} HgReducer;

typedef struct HgJoinReduction HgJoinReduction; /* hg_join_reduce.c */

/* A side's columns that may go to a device, which an HgColumnSet reads. */
typedef struct HgSentColumns
{
	const HgInput *input;
	int columns[HG_MAX_COLUMNS]; /* of the input's store */
	bool *nulls;				 /* [HG_RUN_ROWS] of those that were read last; or NULL */
	MemoryContext context;
} HgSentColumns;

typedef struct HgJoinGather HgJoinGather; /* hg_join_gather.c */

typedef struct HgJoinState
{
	CustomScanState css; /* must be first */

	/* from the plan */
	JoinType join_type;
	bool single_match;	  /* at most one match of an outer row counts */
	bool single_inner;	  /* at most one match of an inner row counts */
	bool keep[2];		  /* by HgSide: rows without a match are returned */
	bool return_matched;  /* matches are returned */
	bool rows_wanted;	  /* columns or quals are needed: not just their number */
	bool rewind;		  /* rescans without changed parameters of the outer side are expected */
	ExprState *join_qual; /* recheck of hashed keys and the rest of ON, or NULL */
	List *hash_clauses;	  /* for EXPLAIN */
	List *join_filter;	  /* for EXPLAIN */
	Bitmapset *params[2]; /* PARAM_EXECs in the keys, by HgSide */

	/* joined rows on their way out */
	HgBatch *out;			  /* columns by their places in the scan slot */
	int out_next;			  /* the row that is returned next */
	int nout;				  /* columns that are needed ... */
	int *out_columns;		  /* [nout] ... and their places */
	TupleTableSlot *out_slot; /* the slot that rows are returned in: the scan slot, or the result
							   * slot where the projection only picks columns */
	int *out_slot_columns;	  /* [attributes of out_slot] their places, or NULL: same places */

	/* what may be held, and is: by the inputs, each of which has a part of it, and beside them */
	HgBudget budget;  /* of work memory */
	HgBudget files;	  /* the part of a filter, of bits, and of buffers of temporary files */
	HgCharge fetched; /* matches that came from a device to be kept */

	/* what the inputs, the spill sets and the matcher live in */
	MemoryContext context;
	HgInput *inputs[2]; /* by HgSide */
	List *partitions;	/* stack of HgPartitions, innermost first */
	HgSender *sender;	/* of the keys that are being read; or NULL */
	HgMatcher *matcher;
	MemoryContext matcher_context;

	/* below a Gather */
	bool together;		  /* both sides are shared by all processes, if there are any others */
	HgJoinShared *shared; /* in the query's DSM; or NULL */
	dsm_segment *segment; /* in the leader: that shared lies in; or NULL */
	int process;		  /* 0: the leader */
	bool in_team;		  /* the two sides are being joined by the processes together */
	bool attached;		  /* to the others' barrier: they wait for this process */
	bool ends_join;		  /* all others are done: rows without a match are this one's to return */
	HgJoinRecord others;  /* what other processes did, as far as it is known */

	/* where the node stands */
	HgJoinPhase phase;
	instr_time started;	 /* when the first row was asked for; zero before */
	uint64 inner_chunks; /* of the inner input, since it was last read from its start */
	uint64 chunks;		 /* of the outer one */
	bool outer_held;	 /* all of the outer input is in memory, as one chunk */
	bool outer_ready;	 /* the outer input was kept by a rescan and is to be joined again */
	bool inner_kept;	 /* the inner input was kept by a rescan, for other outer rows */
	bool spilled;		 /* rows have gone to disk since the last rescan */

	/* what rescans have shown; hg_join_kept.c */
	bool outer_whole;	 /* all outer rows are wanted again, with other inner rows */
	bool outer_large;	 /* ... but they do not fit in half of the limit */
	bool outer_examined; /* outer_volatile is set: ... */
	bool outer_volatile; /* ... the outer child calls volatile functions */

	const uint32 *match_outer; /* the current chunk of matches */
	const uint32 *match_inner;
	size_t match_count;
	size_t match_next;
	bool skip; /* the other matches of skip_outer do not count */
	uint32 skip_outer;
	uint64 count_left;	   /* HG_JOIN_COUNT: empty rows to return */
	HgRowBits *matched[2]; /* by HgSide: which rows of the chunk have found a match ... */
	bool track[2];		   /* ... if somebody will ask */
	bool settled[2];	   /* and a row that has one takes no more */
	int next_range;		   /* of the rows without a match or a key ... */
	uint64 next_row;	   /* ... and the next row of it */

	/* where the node above takes groups of rows; hg_join_reduce.c */
	HgJoinReduction *reduction; /* or NULL */
	uint64 reduced_rows;		/* that have gone up in groups, and were not yet told to anybody */

	HgJoinGather *gather; /* columns that may come with the matches; or NULL */

	HgJoinRecord record; /* of everything but the live matcher */
} HgJoinState;

/* Milliseconds since a moment. */
static inline double
hg_join_elapsed_ms(instr_time since)
{
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, since);
	return INSTR_TIME_GET_MILLISEC(now);
}

/* hg_join_chunk.c: each phase's work; they return the phase that follows. */
extern HgJoinPhase hg_join_read_inner(HgJoinState *state);
extern HgJoinPhase hg_join_next_partition(HgJoinState *state);
extern HgJoinPhase hg_join_read_outer(HgJoinState *state);
extern HgJoinPhase hg_join_end_chunk(HgJoinState *state);
extern HgJoinPhase hg_join_end_outer(HgJoinState *state);
extern HgJoinPhase hg_join_next_inner(HgJoinState *state);

/*
 * hg_join_shared.c: do what READ_INNER and READ_OUTER do with others; returns the next phase.
 */
extern HgJoinPhase hg_join_read_together(HgJoinState *state);

/* Is this process joining with others, in memory? */
extern bool hg_join_is_together(const HgJoinState *state);

/*
 * Nobody shall wait for this process any more: it has returned its matches (finished), or
 * returns no more of them.
 */
extern void hg_join_leave(HgJoinState *state, bool finished);

extern Size hg_join_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void hg_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate);
extern void hg_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									 void *coordinate);
extern void hg_join_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void hg_join_shutdown(CustomScanState *node);

/* The node ends: what is left of the shared memory may do without it. */
extern void hg_join_end_shared(HgJoinState *state);

/*
 * hg_join_send.c: are both sides read in one go, and is the device expected to be worth sending
 * their keys to meanwhile?  Then *columns tells which of their columns are to follow.  Where
 * several processes read them together, one decides for all.
 */
extern bool hg_join_may_send(HgJoinState *state, int processes, HgJobColumns *columns);

/* Send the keys that are read from now on, and columns, by a job of this process, or of a team. */
extern void hg_join_begin_sending(HgJoinState *state, int processes, uint64 team,
								  const HgJobColumns *columns);

/* Nothing is sent any more; what was has been taken, or is thrown away. */
extern void hg_join_end_sending(HgJoinState *state);

/* Delete all spill sets. */
extern void hg_join_drop_spilled(HgJoinState *state);

/*
 * hg_join_rows.c: fill state->out with the next rows of a phase; false when it has no more.
 */
extern bool hg_join_fill_matches(HgJoinState *state);
extern bool hg_join_fill_unmatched(HgJoinState *state, HgSide side);
extern bool hg_join_fill_null_keys(HgJoinState *state, HgSide side);
extern bool hg_join_fill_empty(HgJoinState *state);

/* Set up how rows leave, now that inputs and projection are known. */
extern void hg_join_begin_rows(HgJoinState *state, const Bitmapset *columns);

/* The next row of state->out that passes plan.qual, projected, or NULL when there are no more. */
extern TupleTableSlot *hg_join_next_row(HgJoinState *state);

/*
 * The methods of the node's state (hg_join.c), which are those of a node whose name is
 * hg_join_name: next_batch fills state->out with the next rows of the join; false at the end.
 */
typedef struct HgJoinMethods
{
	CustomExecMethods base; /* must be first */
	bool (*next_batch)(HgJoinState *state);
} HgJoinMethods;

/*
 * hg_join_source.c: the source of a child plan: a join of our own hands over its batches, any
 * other plan is read by hg_scan.h.
 */
extern const char hg_join_name[];
extern HgBatchSource *hg_join_source_create(PlanState *plan, int nattnos, const int *attnos);

/*
 * The number of rows of a source of no columns, all at once.  False, and nothing is done, where
 * the source is not a join of our own: then batches must be counted.
 */
extern bool hg_join_source_count(HgBatchSource *source, uint64 *rows);

/*
 * Have rows of the source, which is a join of ours, come in groups wherever they can: next() hands
 * them to the reducer, which must stay in place, and returns the other rows.  False, and nothing is
 * done, where they never can.  Columns are of the source's batches.
 */
extern bool hg_join_source_reduce(HgBatchSource *source, const HgReducer *reducer);

/*
 * hg_join_reduce.c: the same for the join itself, whose source's columns are these places in its
 * scan slot.
 */
extern bool hg_join_begin_reduction(HgJoinState *state, const HgReducer *reducer,
									const int *places);

/* What the matches of the rows in memory may be reduced to, for the matcher; or NULL. */
extern const HgReduction *hg_join_current_reduction(HgJoinState *state);

/* What they may be reduced to by the plan alone; or NULL. */
extern const HgReduction *hg_join_planned_reduction(const HgJoinState *state);

/* Hand the matches up in groups; false where that can't be, and they are to be streamed. */
extern bool hg_join_reduce(HgJoinState *state);

/*
 * hg_join_gather.c: columns of a side that go to a device.  send adds one of the store, if it can
 * be sent and is not among them; *column becomes its place in the set.
 */
extern void hg_join_begin_sent(const HgJoinState *state, HgSide side, HgSentColumns *sent,
							   HgColumnSet *set);
extern bool hg_join_send_column(HgSentColumns *sent, HgColumnSet *set, int stored, uint32 *column);

/* Find out what may come with the matches, now that the inputs are known. */
extern void hg_join_begin_gather(HgJoinState *state);

/* The columns of a side that may come with the matches, for the matcher; or NULL. */
extern const HgColumnSet *hg_join_gathered_columns(const HgJoinState *state, HgSide side);

/*
 * Fill the columns of a side with the values that came with matches first + which[count] of the
 * current chunk; false where they did not.
 */
extern bool hg_join_take_gathered(HgJoinState *state, HgSide side, size_t first,
								  const uint16 *which, int count);

/* hg_join_explain.c: the second shows bytes as kilobytes, rounded up */
extern void hg_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);
extern void hg_explain_bytes(const char *label, uint64 bytes, ExplainState *es);

extern const char *hg_join_type_name(JoinType join_type);

#endif /* HG_JOIN_STATE_H */
