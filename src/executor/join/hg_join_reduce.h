/*-------------------------------------------------------------------------
 *
 * hg_join_reduce.h
 *	  The join node's matches as groups: columns go to a device, and what it makes of them up.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REDUCE_H
#define HG_JOIN_REDUCE_H

#include "backend/matcher/hg_matcher.h"
#include "batch/hg_arithmetic_program.h"
#include "batch/hg_input.h"
#include "executor/join/hg_join_rules.h"

/*
 * What a node above makes of the join's rows, where it takes groups of them as well as rows.
 * The columns of spec are those of its source, and what items have from ncolumns on are expressions
 * of these, by their numbers; max_groups is told by room.
 */
typedef struct HgReducer
{
	HgReduceSpec spec;

	/*
	 * how many groups may come now, all at once, each of which takes so many bytes more than a
	 * record until it is taken; 0: none, there must be rows
	 */
	uint64 (*room)(void *arg, uint64 more);

	/*
	 * The source's columns that an expression is made of, the caller's; and the program that
	 * computes it for a device (engine/hg_computed.h) which has these columns as operands[column]
	 * tells, with the display scale of what it computes, or -1: false where there is none.
	 */
	uint32 ncolumns;
	Bitmapset *(*columns)(void *arg, int expression);
	bool (*compute)(void *arg, int expression, const HgOperand *operands, HgProgram *program,
					int *scale);

	/* by key and item: it is of a numeric, of which there are units */
	bool numeric_keys[HG_MAX_REDUCE_KEYS];
	bool numeric_items[HG_MAX_REDUCE_ITEMS];

	/*
	 * take the records of groups (hg_engine.h), whose keys are Datums, and items of numerics of
	 * these display scales
	 */
	void (*take)(void *arg, const uint64 *records, uint64 count,
				 const int scales[HG_MAX_REDUCE_ITEMS]);
	void *arg;
} HgReducer;

/* What a device's copies of columns have in place of values, by HgSide and column; NULL: values. */
typedef struct HgJoinCodes
{
	const HgGraphCodes *of[2][HG_MAX_COLUMNS];
	int scales[2][HG_MAX_COLUMNS]; /* of numerics, of which there are units; -1: of none */
} HgJoinCodes;

/* How the join serves it; opaque.  NULL stands for a join that does not, in all that follows. */
typedef struct HgJoinReduction HgJoinReduction;

/*
 * Have rows go up in groups wherever they can, in CurrentMemoryContext: a source's columns are
 * these places in the join's scan slot.  The reducer must stay in place.  NULL: they never can.
 */
extern HgJoinReduction *hg_join_reduction_create(const HgJoinRules *rules, HgInput *const inputs[2],
												 const HgReducer *reducer,
												 const int *column_indexes);

/* May groups of the join's own matches go up? */
extern bool hg_join_reduces_matches(const HgJoinReduction *reduction);

/* May they not because something is computed of columns of both sides? */
extern bool hg_join_reduction_is_mixed(const HgJoinReduction *reduction);

/* What the matches may be reduced to by the plan alone, of rows that are sent; or NULL. */
extern const HgReduction *hg_join_planned_reduction(const HgJoinReduction *reduction);

/* What those of the rows in memory may be reduced to, for the matcher; or NULL. */
extern const HgReduction *hg_join_current_reduction(HgJoinReduction *reduction,
													const HgJoinMatched matched[2]);

/*
 * The columns of a side that are needed for that, as the table numbers them whose rows are
 * covered.
 */
extern void hg_join_reduction_numbers(const HgJoinReduction *reduction, HgSide side,
									  AttrNumber numbers[HG_MAX_COLUMNS]);

/* The columns of a side that are needed for that, those that are computed of others behind these.
 */
extern const HgColumnSet *hg_join_reduction_columns(const HgJoinReduction *reduction, HgSide side);

/*
 * What it wants of all rows, whatever they come from, as many groups as may come now; NULL: none
 * may.
 */
extern const HgReduction *hg_join_wanted_reduction(HgJoinReduction *reduction);

/* A column of that, by its place in the side's batches. */
extern int hg_join_reduction_column(const HgJoinReduction *reduction, HgSide side, uint32 column);

/*
 * The expression that a column of a side is, which is computed and not a replica; -1: it is a
 * replica.
 */
extern int hg_join_reduction_expression(const HgJoinReduction *reduction, HgSide side,
										uint32 column);

/*
 * The columns that it is computed of, as bits by HgSide, all of which come before it: those of its
 * own side, and if it is mixed of the other one too.
 */
extern void hg_join_reduction_operands(const HgJoinReduction *reduction, int expression,
									   uint32 operands[2]);

/*
 * The program of such an expression, for a device that has the columns of the sides as operands
 * tells, by their numbers here; false where there is none.
 */
extern bool hg_join_reduction_program(const HgJoinReduction *reduction, int expression,
									  HgOperand operands[2][HG_MAX_COLUMNS], HgProgram *program,
									  int *scale);

/* The matcher that is to be told which replicas a device has. */
extern HgJoinCodes *hg_join_reduction_codes(HgJoinReduction *reduction);

/* Is a column of a side such as has no values there? */
extern bool hg_join_reduction_is_coded(const HgJoinReduction *reduction, HgSide side,
									   uint32 column);

/*
 * Hand groups up that were made elsewhere, of columns that have other places there than in what is
 * wanted: they are those of spec, and codes tells what they have in place of values.
 */
extern void hg_join_hand_up(HgJoinReduction *reduction, const HgReduceSpec *spec,
							const HgJoinCodes *codes, const HgGroupSet *groups);

/* Hand the matches up in groups; false where some can't be, and are to be streamed. */
extern bool hg_join_reduce(HgJoinReduction *reduction, HgMatcher *matcher);

/* How many rows have gone up in groups since the last call. */
extern uint64 hg_join_take_reduced_rows(HgJoinReduction *reduction);

#endif /* HG_JOIN_REDUCE_H */
