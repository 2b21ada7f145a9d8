/*-------------------------------------------------------------------------
 *
 * hg_join_gather.h
 *	  Late materialisation on a device: columns are sent there and come back with the matches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_GATHER_H
#define HG_JOIN_GATHER_H

#include "backend/matcher/hg_matcher.h"
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

/* Initializes sent and set, which must stay in place, without columns, for an input. */
extern void hg_join_init_upload_columns(const HgInput *input, HgUploadColumns *upload,
										HgColumnSet *set);

/*
 * Adds a column of the store, whose values take width bytes, unless the set has it.  *column
 * becomes its index in the set.  Returns false if the set is full.
 */
extern bool hg_join_add_column(HgUploadColumns *upload, HgColumnSet *set, int stored, uint8 width,
							   uint32 *column);

/* Returns true if the values of a stored column can be sent as they are: they are by value. */
extern bool hg_join_can_upload_values(const HgInput *input, int stored);

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

#endif /* HG_JOIN_GATHER_H */
