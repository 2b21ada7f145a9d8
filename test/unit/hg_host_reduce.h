/*-------------------------------------------------------------------------
 *
 * hg_host_reduce.h
 *	  Columns and groups in host memory, by the simplest means: a job's matches, one by one.
 *
 * The stand-in uses it, and the groups of a device are compared with it.
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
		uint64_t bits; /* padded with zeros */
		bool wanted;   /* the row exists */
		bool given;	   /* the value has come */
		bool null;
	} HgHostValue;

	/* The columns of a job, and the groups of its last reduction; all memory is malloc's. */
	typedef struct HgHostReduce
	{
		HgJobSpec job;
		HgHostValue *values[2][HG_MAX_COLUMNS]; /* [capacity] by row number */
		uint64_t capacity[2][HG_MAX_COLUMNS];
		uint64_t rows[2];				   /* rows that exist */
		uint64_t given[2][HG_MAX_COLUMNS]; /* values that have come */

		/* used in place of values unless NULL; at the ordinals in found unless that is NULL */
		const HgHostColumn *replica[2][HG_MAX_COLUMNS];
		const uint32_t *found[2][HG_MAX_COLUMNS]; /* by the ordinals of the side's rows */
		uint32_t stride[2];						  /* of these ordinals */

		HgReduceSpec spec;
		uint32_t words;	   /* of a record; 0 before the first reduction */
		uint64_t *records; /* [room * words] */
		uint64_t room;
		uint64_t groups;
		uint64_t *slots; /* [slot_count] hash table: number of a group + 1, or 0 */
		uint64_t slot_count;
		uint64_t next; /* the next group to be copied out */
	} HgHostReduce;

	/* Initializes columns and groups of a job.  It must be freed. */
	extern void hg_host_reduce_init(HgHostReduce *reduce, const HgJobSpec *job);

	/* Notes that rows were appended, whose values must follow. */
	extern HgStatus hg_host_reduce_add_rows(HgHostReduce *reduce, HgSide side, uint64_t count,
											uint64_t first_row, HgError *error);

	/* Appends values, as append_column of an engine, by row number. */
	extern HgStatus hg_host_reduce_append(HgHostReduce *reduce, HgSide side, uint32_t column,
										  const void *values, const uint8_t *nulls, uint64_t count,
										  uint64_t first_row, HgError *error);

	/*
	 * Uses a column replica for a column of a side, to which no rows are added; each row must have
	 * an ordinal.  If found is not NULL, the column is one of rows that the side's rows have
	 * found: found maps the side's ordinals, by stride, to those of the replica.  Both must stay
	 * while the columns are used.
	 */
	extern void hg_host_reduce_set_external(HgHostReduce *reduce, HgSide side, uint32_t column,
											const HgHostColumn *replica, const uint32_t *found,
											uint32_t stride);

	/* Sets *bits to the value of a row in a column.  Returns true if it is NULL. */
	extern bool hg_host_reduce_value(const HgHostReduce *reduce, uint32_t side, uint32_t column,
									 uint32_t row, uint64_t *bits);

	/* Returns HG_INVALID unless all rows have all their values.  Called before build. */
	extern HgStatus hg_host_reduce_check(const HgHostReduce *reduce, HgError *error);

	/*
	 * Sets matches as next of an engine: the next matches of engine, which has no columns, with
	 * the values of columns whose matches->values is not NULL.
	 */
	extern HgStatus hg_host_reduce_gather(const HgHostReduce *reduce, HgEngine *engine, HgJob *job,
										  HgMatches *matches, HgError *error);

	/*
	 * Groups the matches of engine for its job.  *groups becomes their number, or
	 * HG_TOO_MANY_GROUPS if they exceed spec->max_groups.
	 */
	extern HgStatus hg_host_reduce_run(HgHostReduce *reduce, HgEngine *engine, HgJob *job,
									   HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
									   HgError *error);

	/* Copies the next groups, as next_groups of an engine. */
	extern HgStatus hg_host_reduce_next(HgHostReduce *reduce, HgGroupRecords *records,
										HgError *error);

	/* Frees all memory and zeroes it. */
	extern void hg_host_reduce_free(HgHostReduce *reduce);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_REDUCE_H */
