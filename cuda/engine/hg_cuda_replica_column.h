/*-------------------------------------------------------------------------
 *
 * hg_cuda_replica_column.h
 *	  The values of the rows of graph replicas, by ordinal, in device memory.
 *
 * A column has a block of values, and another of null flags once a put has brought any. Both are
 * zeroed first: an ordinal that was never put must not show what another job has left in that
 * memory.
 *
 * While a column is made, its blocks belong to the job's work; detached, they belong to the
 * replica. A job that reads a column uses the blocks in place (hg_cuda_columns.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_REPLICA_COLUMN_H
#define HG_CUDA_REPLICA_COLUMN_H

#include "../../src/engine/hg_computed.h"
#include "../../src/engine/hg_replica.h"
#include "../../src/engine/hg_row_filter.h"
#include "../device/hg_cuda_work.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_graph.h"

/* All zero: all rows count. */
struct HgCudaReplicaMask
{
	HgReplicaShape shape; /* the graph's shape */
	bool masked;		  /* the caller may give a mask */
	uint64_t *words;	  /* [hg_replica_mask_words] in device memory; NULL: all rows count */
};

/* Initializes *mask from the replica's use in a job spec. */
void hg_cuda_replica_mask_init(HgCudaReplicaMask *mask, const HgReplicaUse *use);

/* Sets count words of the mask from first_word on, and waits; words NULL sets them to 0. */
HgStatus hg_cuda_replica_mask_put(HgCudaWork *work, HgCudaReplicaMask *mask, uint64_t first_word,
								  uint64_t count, const uint64_t *words, HgError *error);

/*
 * Makes the graph of the rows that count, and frees the mask's words. If the mask has no words, or
 * the graph no rows, *graph shares the replica's arrays and *copied is false. Otherwise *graph is a
 * copy in the job's memory and *copied is true. It returns when the work is launched.
 */
HgStatus hg_cuda_replica_mask_filter(HgCudaWork *work, HgCudaReplicaMask *mask,
									 const HgCudaGraph *replica, HgCudaGraph *graph, bool *copied,
									 HgError *error);

struct HgCudaReplicaColumn
{
	HgReplicaColumnShape shape; /* width 0: there is no column */
	unsigned char *values;		/* [ordinals] of that width; NULL before the first put */
	/* [ordinals] not 0 if the value is NULL; NULL if no put brought nulls */
	uint8_t *nulls;
	uint64_t values_bytes; /* bytes of the blocks, once they are detached */
	uint64_t nulls_bytes;
};

/* Puts count values from first_ordinal on, as the engine's put_values does, and waits. */
HgStatus hg_cuda_replica_column_put(HgCudaWork *work, HgCudaReplicaColumn *column,
									const void *values, const uint8_t *nulls, uint64_t count,
									uint64_t first_ordinal, HgError *error);

/* Allocates the column if no value was put, and waits for the stream. */
HgStatus hg_cuda_replica_column_build(HgCudaWork *work, HgCudaReplicaColumn *column,
									  HgError *error);

/* Takes the blocks of a built column out of the work, and returns their bytes. */
uint64_t hg_cuda_replica_column_detach(HgCudaWork *work, HgCudaReplicaColumn *column);

/* Releases the blocks of a detached column, on any thread; does nothing without blocks. */
void hg_cuda_replica_column_release(HgCudaDevice *device, const HgCudaReplicaColumn *column);

/* Returns the upper bound on the column's device memory. */
uint64_t hg_cuda_replica_column_bytes(const HgReplicaColumnShape *shape);

/*
 * Columns of a side that is a graph replica, which are computed from other columns, in device
 * memory.
 *
 * They are computed for all ordinals, after the side's lookups: then all other columns exist.
 * After build they are read like these.
 */

/* The computed columns of a side; all zero if it has none. */
struct HgCudaReplicaComputed
{
	uint32_t count;
	uint32_t stride;   /* ordinals of a part */
	uint64_t ordinals; /* number of ordinals */
	/* [count] index of each computed column in the side, ascending */
	uint32_t columns[HG_MAX_COLUMNS];
	HgProgram programs[HG_MAX_COLUMNS];
	const uint8_t *nulls[HG_MAX_COLUMNS]; /* [count] null flags, once the column is computed */
	/* device memory: 1 if a number overflows, even for an ordinal without a row */
	uint32_t *lost;
};

/* Notes the computed columns of a side, which the spec has been checked for. */
void hg_cuda_replica_computed_init(HgCudaReplicaComputed *computed, const HgJobSpec *spec,
								   HgSide side);

/* Launches the computation of the columns, and adds them to *columns. */
HgStatus hg_cuda_replica_computed_run(HgCudaWork *work, HgCudaReplicaComputed *computed,
									  HgCudaColumns *columns, HgError *error);

/* Waits; HG_OVERFLOW if a computed number overflows for a row of the graph. Frees the flag. */
HgStatus hg_cuda_replica_computed_check(HgCudaWork *work, HgCudaReplicaComputed *computed,
										const HgCudaGraph *graph, HgError *error);

/* Returns the device memory of a side's computed columns. */
uint64_t hg_cuda_replica_computed_bytes(const HgJobSpec *spec, HgSide side);

/*
 * Lookups of the rows of a side that is a graph replica in other replicas, in device memory.
 *
 * Before the side's graph is made, each lookup is done for all ordinals of the side's rows. An
 * array by these ordinals says which row each one has found; lookups run in order, so that a
 * lookup by found rows can use the array of an earlier one. Then rows that found nothing are
 * removed from the side's mask, columns of the found rows are gathered by the side's ordinals, and
 * the array is freed once no later lookup needs it. After build such columns are read like the
 * side's own, and nothing else is left of lookups.
 */

struct HgCudaReplicaLookup
{
	uint32_t from; /* as in HgReplicaLookup */
	bool unmatched;
	uint32_t stride;
	uint32_t found_stride;
	uint32_t parts;			/* parts of the rows that look up */
	const HgCudaGraph *own; /* the graph of the rows that look up; a graph replica */
	/* the graph that is looked up; a graph replica, to which mask belongs */
	const HgCudaGraph *found;
	HgCudaReplicaMask mask;
	/* [ordinals of the side] the found rows, until no later lookup needs them */
	uint32_t *ordinals;
};

/* The lookups of a side, and its columns of found rows; all zero if it has none. */
struct HgCudaReplicaLookups
{
	uint32_t count;
	uint32_t parts; /* parts of the side */
	uint32_t stride;
	HgCudaReplicaLookup lookups[HG_MAX_LOOKUPS];
	uint32_t ncolumns;
	const HgCudaReplicaColumn *columns[HG_MAX_COLUMNS]; /* [ncolumns] the side's columns */
	/* [ncolumns] as HgReplicaColumnUse.lookup */
	uint32_t found_by[HG_MAX_COLUMNS];
};

/* Notes what a spec says of a side's lookups, except graphs and columns. */
void hg_cuda_replica_lookups_init(HgCudaReplicaLookups *lookups, const HgJobSpec *spec,
								  HgSide side);

/*
 * Runs all lookups: removes rows from the side's mask, and sets its gathered columns.
 * HG_NOT_UNIQUE if a row that counts finds two rows.
 */
HgStatus hg_cuda_replica_lookups_run(HgCudaWork *work, HgCudaReplicaLookups *lookups,
									 HgCudaReplicaMask *mask, HgCudaColumns *columns,
									 HgError *error);

/*
 * Returns the upper bound on the memory while a side's lookups run. *held is the side's memory
 * before that, masks included, and is set to the memory after it, with a mask if there can be one.
 */
uint64_t hg_cuda_replica_lookups_bytes(const HgJobSpec *spec, HgSide side, uint64_t *held);

/* Returns the memory of the masks that callers give for looked-up graphs. */
uint64_t hg_cuda_replica_lookups_mask_bytes(const HgJobSpec *spec, HgSide side);

/*
 * Filters the rows of a graph replica by values of column replicas, in device memory.
 *
 * The result becomes part of the rows' mask before anything is looked up: later steps know nothing
 * of filters.
 */

/* The filters of a side; all zero if it has none. */
struct HgCudaReplicaFilters
{
	HgRowFilters all;
	const HgCudaReplicaColumn *columns[HG_MAX_FILTER_COLUMNS]; /* [all.ncolumns] */
};

/*
 * Clears the mask's bits of rows that do not pass the filter of `lookup` (as in HgRowFilter; 0:
 * the side's), if there is one. It returns when the work is launched. A filter that computes
 * numbers makes it wait, and return HG_OVERFLOW if one does not fit.
 */
HgStatus hg_cuda_replica_filters_apply(HgCudaWork *work, const HgCudaReplicaFilters *filters,
									   uint32_t lookup, HgCudaReplicaMask *mask, HgError *error);

#endif /* HG_CUDA_REPLICA_COLUMN_H */
