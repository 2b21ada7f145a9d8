/*-------------------------------------------------------------------------
 *
 * hg_join_reduce.h
 *	  The join node's columns on a device: they come back with the matches, or as groups.
 *
 * A node above that aggregates describes its groups with an HgReducer, and the join makes an
 * HgJoinReduction of it.  When a device has reduced matches to groups (engine/hg_reduce.h), the
 * join hands them up: it calls the reducer's take() instead of returning rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_REDUCE_H
#define HG_JOIN_REDUCE_H

#include "backend/matcher/hg_matcher.h"
#include "batch/hg_arithmetic.h"
#include "batch/hg_input.h"
#include "executor/join/hg_join_rules.h"

/* A side's columns that can be sent to a device; an HgColumnSet reads them. */
typedef struct HgUploadColumns
{
	const HgInput *input;
	int columns[HG_MAX_COLUMNS]; /* columns of the input's store */
	bool *nulls;				 /* [HG_RUN_ROWS] NULL flags of the values last read; or NULL */
	MemoryContext context;
} HgUploadColumns;

/* The columns that can come with the matches; opaque. */
typedef struct HgJoinGather HgJoinGather;

/* Finds the columns that can come with matches, in CurrentMemoryContext; NULL: none is read. */
extern HgJoinGather *hg_join_gather_create(const HgJoinRules *rules, HgInput *const inputs[2]);

/* Returns a side's columns for the matcher, or NULL if there are none.  gather may be NULL. */
extern const HgColumnSet *hg_join_gathered_columns(const HgJoinGather *gather, HgSide side);

/*
 * Fills a side's columns of batch with values that came with the matcher's current chunk: those of
 * matches first + which[0 .. count - 1], or first .. first + count - 1 if which is NULL.  Returns
 * false, and does nothing, if no values came.
 */
extern bool hg_join_take_gathered(const HgJoinGather *gather, const HgMatcher *matcher, HgSide side,
								  size_t first, const uint16 *which, int count, HgBatch *batch);

/*
 * How a node above aggregates the join's rows, if it accepts groups instead of rows.  spec's
 * columns are those of the node's source.  An item's column c >= ncolumns is expression c -
 * ncolumns over these columns.  spec.max_groups is not used; room() gives it.
 */
typedef struct HgReducer
{
	HgReduceSpec spec;

	/*
	 * Returns how many groups can be handed up now, in one call of take(); 0: rows are needed.
	 * Until that call, each group takes `more` bytes of memory in addition to its record.
	 */
	uint64 (*room)(void *arg, uint64 more);

	/*
	 * columns() returns the columns of the source that an expression uses; the caller frees the
	 * set.  compute() writes the program that computes the expression on a device
	 * (engine/hg_computed.h).  operands[column] says how the device has a column, and *scale
	 * becomes the result's display scale, or -1.  It returns false if no program is possible.
	 */
	uint32 ncolumns;
	Bitmapset *(*columns)(void *arg, int expression);
	bool (*compute)(void *arg, int expression, const HgOperand *operands, HgProgram *program,
					int *scale);

	/* by key and by item: its column is a numeric, reduced as scaled integers */
	bool numeric_keys[HG_MAX_REDUCE_KEYS];
	bool numeric_items[HG_MAX_REDUCE_ITEMS];

	/*
	 * Receives the records of groups (hg_engine.h).  Keys are Datums; sums of numerics are scaled
	 * by the display scales in scales[].
	 */
	void (*take)(void *arg, const uint64 *records, uint64 count,
				 const int scales[HG_MAX_REDUCE_ITEMS]);
	void *arg;
} HgReducer;

/* By HgSide and column: the dictionary codes in a device's replica of the column; NULL: values. */
typedef struct HgJoinCodes
{
	const HgGraphCodes *of[2][HG_MAX_COLUMNS];
	int scales[2][HG_MAX_COLUMNS]; /* scale of scaled integers; -1: no numeric */
} HgJoinCodes;

/*
 * The state of the reduction; opaque.  hg_join_reduces_matches(), hg_join_reduction_is_mixed(),
 * hg_join_planned_reduction(), hg_join_current_reduction(), hg_join_reduce() and
 * hg_join_take_reduced_rows() accept NULL for a join that makes no groups.
 */
typedef struct HgJoinReduction HgJoinReduction;

/*
 * Prepares to hand up groups, in CurrentMemoryContext.  Column c of the reducer's source is column
 * column_indexes[c] of the join's scan slot.  The reducer is not copied.  Returns NULL if the join
 * can never make groups.
 */
extern HgJoinReduction *hg_join_reduction_create(const HgJoinRules *rules, HgInput *const inputs[2],
												 const HgReducer *reducer,
												 const int *column_indexes);

/* Returns true if groups of the join's own matches can be handed up. */
extern bool hg_join_reduces_matches(const HgJoinReduction *reduction);

/* Returns true if an argument is computed from columns of both sides, which the join cannot do. */
extern bool hg_join_reduction_is_mixed(const HgJoinReduction *reduction);

/*
 * Returns the reduction of rows that are sent to a device, without max_groups; NULL if matches are
 * not reduced, or a column cannot be sent.
 */
extern const HgReduction *hg_join_planned_reduction(const HgJoinReduction *reduction);

/* Returns the reduction for the matcher of the rows in memory; NULL if no groups can be made. */
extern const HgReduction *hg_join_current_reduction(HgJoinReduction *reduction,
													const HgJoinMatched matched[2]);

/*
 * Sets numbers[column] to the attribute number, in the table whose rows are covered, of each of a
 * side's columns in the reduction.  Elements of computed columns keep their values.
 */
extern void hg_join_reduction_numbers(const HgJoinReduction *reduction, HgSide side,
									  AttrNumber numbers[HG_MAX_COLUMNS]);

/* Returns the columns of a side in the reduction; computed columns come after their operands. */
extern const HgColumnSet *hg_join_reduction_columns(const HgJoinReduction *reduction, HgSide side);

/*
 * Returns the reduction of all rows, wherever they come from, with max_groups as of now; NULL if
 * no group can be handed up now.
 */
extern const HgReduction *hg_join_requested_reduction(HgJoinReduction *reduction);

/* Returns the index in the side's batches of a column of the reduction. */
extern int hg_join_reduction_column(const HgJoinReduction *reduction, HgSide side, uint32 column);

/* Returns the number of the expression that computes a column of the reduction; -1: none does. */
extern int hg_join_reduction_expression(const HgJoinReduction *reduction, HgSide side,
										uint32 column);

/*
 * Sets operands[] to bit sets, by HgSide, of the reduction's columns that an expression uses.  All
 * of them precede it.  Both sides have some only if the reduction is mixed.
 */
extern void hg_join_reduction_operands(const HgJoinReduction *reduction, int expression,
									   uint32 operands[2]);

/*
 * Sets *program to an expression's program for a device.  operands[side][column] says how the
 * device has the reduction's columns; *scale is set as by HgReducer.compute.  Returns false if
 * there is no program.
 */
extern bool hg_join_reduction_program(const HgJoinReduction *reduction, int expression,
									  HgOperand operands[2][HG_MAX_COLUMNS], HgProgram *program,
									  int *scale);

/*
 * Returns where the reduction keeps the codes that device replicas have instead of values.  The
 * caller fills it in.
 */
extern HgJoinCodes *hg_join_reduction_codes(HgJoinReduction *reduction);

/* Returns true if replicas of a column of the reduction have codes or scaled integers. */
extern bool hg_join_reduction_is_coded(const HgJoinReduction *reduction, HgSide side,
									   uint32 column);

/*
 * Hands up groups that another job, that of a star, made.  spec and codes describe the columns of
 * its records, which differ from those of the join's own reduction.  Replaces codes in the records.
 */
extern void hg_join_hand_up(HgJoinReduction *reduction, const HgReduceSpec *spec,
							const HgJoinCodes *codes, const HgGroupSet *groups);

/* Hands up the matcher's groups, if any.  Returns false if matches must still be streamed. */
extern bool hg_join_reduce(HgJoinReduction *reduction, HgMatcher *matcher);

/* Returns the number of rows handed up in groups since the last call. */
extern uint64 hg_join_take_reduced_rows(HgJoinReduction *reduction);

#endif /* HG_JOIN_REDUCE_H */
