/*-------------------------------------------------------------------------
 *
 * hg_join.h
 *	  The join node: what the planner hands over, and the node's state.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_H
#define HG_JOIN_H

#include "nodes/extensible.h"
#include "nodes/execnodes.h"
#include "portability/instr_time.h"

#include "backend/hg_stats.h"
#include "batch/hg_input.h"

/*
 * A plan node is a CustomScan with scanrelid 0, two custom_plans (outer, inner), and
 *
 *	custom_scan_tlist	the columns of the outer child, then those of the inner one
 *	custom_exprs		lists of expressions over that list: see HgPlanExprs
 *	custom_private		see HgPlanPrivate
 *	scan.plan.qual		what is asked of a joined row after null extension (WHERE)
 */
typedef enum HgPlanExprs
{
	HG_EXPRS_OUTER_KEYS,   /* for each clause its outer operand */
	HG_EXPRS_INNER_KEYS,   /* ... and its inner one */
	HG_EXPRS_HASH_CLAUSES, /* the clauses themselves, outer operand on the left */
	HG_EXPRS_JOIN_QUAL,	   /* the rest of the ON clause */
	HG_EXPRS_COUNT
} HgPlanExprs;

typedef enum HgPlanPrivate
{
	HG_PRIVATE_JOIN_TYPE,	  /* Integer: JoinType */
	HG_PRIVATE_INNER_UNIQUE,  /* Integer: 1 where an outer row has one match at most */
	HG_PRIVATE_OUTER_COLUMNS, /* Integer: how many of custom_scan_tlist are outer */
	HG_PRIVATE_OPERATORS,	  /* OidList: the clauses' operators */
	HG_PRIVATE_COLLATIONS,	  /* OidList: ... and their input collations */
	HG_PRIVATE_COUNT
} HgPlanPrivate;

/* The methods that a plan node carries; registered by hg_executor_init. */
extern const CustomScanMethods hg_join_scan_methods;

/* Where the node stands; hg_join.c tells the way. */
typedef enum HgJoinPhase
{
	HG_JOIN_READ_INNER,
	HG_JOIN_NEXT_PARTITION,
	HG_JOIN_READ_OUTER,
	HG_JOIN_MATCH,
	HG_JOIN_COUNT,
	HG_JOIN_UNMATCHED,
	HG_JOIN_NULL_KEYS,
	HG_JOIN_DONE
} HgJoinPhase;

/* Spill sets of both sides that are cut alike, and the partition that is next. */
typedef struct HgPartitions
{
	HgSpill *outer;
	HgSpill *inner;
	int next;
} HgPartitions;

typedef struct HgJoinState
{
	CustomScanState css; /* must be first */

	/* from the plan */
	JoinType join_type;
	bool single_match;	  /* at most one match of an outer row counts */
	bool keep_unmatched;  /* outer rows without a match are returned */
	bool return_matched;  /* matches are returned */
	bool rows_wanted;	  /* columns or quals are needed: not just their number */
	bool rewind;		  /* rescans without changed parameters are expected */
	ExprState *join_qual; /* recheck of hashed keys and the rest of ON, or NULL */
	List *hash_clauses;	  /* for EXPLAIN */
	List *join_filter;	  /* for EXPLAIN */
	Bitmapset *params[2]; /* PARAM_EXECs in the keys, by HgSide */

	/* what the inputs, the spill sets and the matcher live in */
	MemoryContext context;
	HgInput *inputs[2]; /* by HgSide */
	List *partitions;	/* stack of HgPartitions, innermost first */
	HgMatcher *matcher;
	MemoryContext matcher_context;

	/* where the node stands */
	HgJoinPhase phase;
	instr_time started;		   /* when the first row was asked for; zero before */
	uint64 chunks;			   /* of the outer input, since it was last read from its start */
	bool outer_ready;		   /* the outer input was kept by a rescan and is to be joined again */
	const uint32 *match_outer; /* the current chunk of matches */
	const uint32 *match_inner;
	size_t match_count;
	size_t match_next;
	bool skip; /* the other matches of skip_outer do not count */
	uint32 skip_outer;
	uint64 count_left;	/* HG_JOIN_COUNT: empty rows to return */
	uint8 *matched;		/* a bit for each outer row of this chunk, or NULL */
	Size matched_bytes; /* allocated */
	uint64 next_row;	/* HG_JOIN_UNMATCHED, HG_JOIN_NULL_KEYS */

	HgJoinRecord record; /* of everything but the live matcher */
} HgJoinState;

/* The record as it stands now, the live matcher included. */
extern void hg_join_current_record(HgJoinState *state, HgJoinRecord *record);

/* hg_join_explain.c */
extern void hg_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

extern const char *hg_join_type_name(JoinType join_type);

extern void hg_executor_init(void);

#endif /* HG_JOIN_H */
