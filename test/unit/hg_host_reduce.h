/*-------------------------------------------------------------------------
 *
 * hg_host_reduce.h
 *	  Columns and groups in host memory, by the plainest means: a job's matches, one by one.
 *
 * The stand-in answers with it, and what a device makes of its matches is compared with it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_REDUCE_H
#define HG_HOST_REDUCE_H

#include "../../src/engine/hg_reduce.h"
#include "hg_host_column.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* A row's value in a column. */
	typedef struct HgHostValue
	{
		uint64_t bits; /* zeros before those of a narrow value */
		bool wanted;   /* there is such a row */
		bool given;
		bool null;
	} HgHostValue;

	/* The columns of a job, and the groups of its last reduction; all in memory of malloc. */
	typedef struct HgHostReduce
	{
		HgJobSpec job;
		HgHostValue *values[2][HG_MAX_COLUMNS]; /* [capacity] by row number */
		uint64_t capacity[2][HG_MAX_COLUMNS];
		uint64_t rows[2];
		uint64_t given[2][HG_MAX_COLUMNS];
		const HgHostColumn *replica[2][HG_MAX_COLUMNS]; /* NULL, or in place of these values ... */
		const uint32_t *found[2][HG_MAX_COLUMNS];		/* ... by these ordinals, where not NULL, of
														 * those of the side's own rows ... */
		uint32_t stride[2];								/* ... by this stride */

		HgReduceSpec spec;
		uint32_t words;	   /* of a record; 0 before the first reduction */
		uint64_t *records; /* [room * words] */
		uint64_t room;
		uint64_t groups;
		uint64_t *slots; /* [slot_count] number of a group + 1, or 0: found by its hash */
		uint64_t slot_count;
		uint64_t next; /* the group to be delivered next */
	} HgHostReduce;

	extern void hg_host_reduce_init(HgHostReduce *reduce, const HgJobSpec *job);

	/* Rows have been appended, which are to have values now. */
	extern HgStatus hg_host_reduce_add_rows(HgHostReduce *reduce, HgSide side, uint64_t count,
											uint64_t first_row, HgError *error);

	/* As append_column of an engine: rows are known by their numbers. */
	extern HgStatus hg_host_reduce_append(HgHostReduce *reduce, HgSide side, uint32_t column,
										  const void *values, const uint8_t *nulls, uint64_t count,
										  uint64_t first_row, HgError *error);

	/*
	 * Have a column replica beside the rows of a side, none of which are added then, and each of
	 * which has an ordinal.  Or beside the rows that these have found: of each ordinal found says
	 * which ordinal is its, by a stride of the side's.  All stays where it is as long as anything
	 * is asked of the columns.
	 */
	extern void hg_host_reduce_borrow(HgHostReduce *reduce, HgSide side, uint32_t column,
									  const HgHostColumn *replica, const uint32_t *found,
									  uint32_t stride);

	/* The value of a row in a column; returns whether it is NULL. */
	extern bool hg_host_reduce_value(const HgHostReduce *reduce, uint32_t side, uint32_t column,
									 uint32_t row, uint64_t *bits);

	/* Before build: HG_INVALID unless all rows have all their values. */
	extern HgStatus hg_host_reduce_check(const HgHostReduce *reduce, HgError *error);

	/*
	 * As next of an engine: the matches that engine->next, of an engine without columns, gives for
	 * its job, with the values that are wanted.
	 */
	extern HgStatus hg_host_reduce_gather(const HgHostReduce *reduce, HgEngine *engine, HgJob *job,
										  HgMatches *matches, HgError *error);

	/*
	 * Make groups of the matches that engine->match and next give for its job; *groups is
	 * HG_TOO_MANY_GROUPS where they are.
	 */
	extern HgStatus hg_host_reduce_run(HgHostReduce *reduce, HgEngine *engine, HgJob *job,
									   HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
									   HgError *error);

	/* As next_groups of an engine. */
	extern HgStatus hg_host_reduce_next(HgHostReduce *reduce, HgGroupRecords *records,
										HgError *error);

	extern void hg_host_reduce_free(HgHostReduce *reduce);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_REDUCE_H */
