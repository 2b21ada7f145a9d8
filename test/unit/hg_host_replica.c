/*-------------------------------------------------------------------------
 *
 * hg_host_replica.c
 *	  Graph replicas in host memory: an engine on the CPU that has them, for tests.
 *
 * What is not zero in a job tells its kind: a job of the CPU engine, which all calls go to; the
 * shape of a graph or a column that it makes; or sides, one at least a graph replica or pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_replica.h"

#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_replica.h"
#include "../../src/engine/hg_shape.h"
#include "hg_host_computed.h"
#include "hg_host_filter.h"
#include "hg_host_lookup.h"
#include "hg_host_pages.h"
#include "hg_host_pieces.h"
#include "hg_host_reduce.h"

#include <string.h>

/* A graph, or a column: the other one's shape is all zero. */
struct HgReplica
{
	HgReplicaShape shape;
	HgFlatGraph *graph;
	uint32_t numbers; /* what the numbers of its rows in their parts are below */
	HgHostColumn column;
	uint64_t bytes; /* of the owner's memory, this struct among them */
};

typedef enum ReplicaState
{
	REPLICA_FILLING,
	REPLICA_BUILT,
	REPLICA_MATCHING, /* built, and there is a stream */
	REPLICA_FAILED	  /* only close is left */
} ReplicaState;

/* The graph that a job makes, or the column, which is in made from the beginning. */
typedef struct ReplicaMaking
{
	unsigned char *keys; /* [shape.rows] of the shape's key width, as they were put */
	uint32_t *rows;		 /* [shape.rows] */
	uint64_t count;		 /* of which there are so many */
	HgReplica *made;	 /* once a graph is built; until it is a replica */
} ReplicaMaking;

/* One side of a join. */
typedef struct ReplicaSide
{
	const HgReplica *replica; /* NULL: rows are appended */

	HgHostMask mask; /* where there is to be one, or rows may not count for what they find */
	bool masked;	 /* it is for the caller to give */
	HgHostLookups lookups;
	HgHostFilters filters;						 /* of its rows, and of what they look up */
	const HgHostColumn *columns[HG_MAX_COLUMNS]; /* that it has ... */
	uint32_t found_by[HG_MAX_COLUMNS];			 /* ... as of HgReplicaColumnUse.lookup */
	HgHostComputed computed;					 /* in place of those that it has computed */

	HgHostPages pages;
	HgHostPieces pieces; /* rows that it is given, until build; then their graph */
	HgFlatGraph *graph;
} ReplicaSide;

typedef struct ReplicaJob
{
	HgHostReplica *engine;
	HgJob *inside;
	const HgHost *host;
	HgHost counting; /* memory of host, counted */
	HgHost maker;	 /* memory of the owner, counted */
	HgJobSpec spec;	 /* whose pointers are not followed after open */
	ReplicaState state;
	uint64_t held;	  /* of both */
	uint64_t replica; /* of the owner */
	HgJobStats stats;

	HgReplicaShape shape;		 /* of the graph that is made; key_width 0 where none is */
	HgReplicaColumnShape column; /* of the column; width 0 */
	ReplicaMaking making;
	ReplicaSide sides[2];
	bool numbered;		 /* rows came by append_rows */
	HgHostReduce reduce; /* columns of sides, and groups */
	HgFlatJoin *join;
	HgMatchMode mode;
} ReplicaJob;

static ReplicaJob *
job_of(HgJob *handle)
{
	return (ReplicaJob *) handle;
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

static void *
counted_alloc(ReplicaJob *job, const HgHost *host, size_t bytes)
{
	void *ptr = NULL;

	if (hg_host_memory_check(job->spec.memory_limit, job->held, bytes, NULL) == HG_OK)
		ptr = host->alloc(host->arg, bytes);
	if (ptr != NULL)
		job->held += bytes;
	if (job->held > job->stats.peak_bytes)
		job->stats.peak_bytes = job->held;
	return ptr;
}

static void *
counting_alloc(void *arg, size_t bytes)
{
	ReplicaJob *job = arg;

	return counted_alloc(job, job->host, bytes);
}

static void
counting_free(void *arg, void *ptr, size_t bytes)
{
	ReplicaJob *job = arg;

	job->held -= bytes;
	job->host->free(job->host->arg, ptr, bytes);
}

static void *
maker_alloc(void *arg, size_t bytes)
{
	ReplicaJob *job = arg;
	void *ptr = counted_alloc(job, job->engine->owner, bytes);

	if (ptr != NULL)
		job->replica += bytes;
	return ptr;
}

static void
maker_free(void *arg, void *ptr, size_t bytes)
{
	ReplicaJob *job = arg;

	job->held -= bytes;
	job->replica -= bytes;
	job->engine->owner->free(job->engine->owner->arg, ptr, bytes);
}

static bool
is_cancelled(void *arg)
{
	const HgHost *host = ((ReplicaJob *) arg)->host;

	return host->cancelled(host->arg);
}

/* Zeroed memory of the job's; NULL, and *status says so, where there is none. */
static void *
alloc_zeroed(ReplicaJob *job, uint64_t bytes, HgStatus *status, HgError *error)
{
	void *ptr = NULL;

	if (*status == HG_OK)
		*status = hg_host_memory_alloc(&job->counting, bytes, &ptr, error);
	if (ptr != NULL)
		memset(ptr, 0, (size_t) bytes);
	return ptr;
}

/*
 * Close a call: one that is forbidden has done nothing, and after any other failure only close is
 * left.
 */
static HgStatus
finish(ReplicaJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		job->state = REPLICA_FAILED;
	return status;
}

static HgStatus
invalid(HgError *error, const char *message)
{
	return hg_error_set(error, HG_INVALID, NULL, "%s", message);
}

/* Does a side come as pages? */
static bool
is_paged(const ReplicaSide *side)
{
	return side->pages.spec.page_size > 0;
}

static bool
is_making(const ReplicaJob *job)
{
	return job->shape.key_width > 0 || job->column.width > 0;
}

/* ------------------------------------------------------------------------
 * Open and close
 * ------------------------------------------------------------------------ */

/* Make an empty replica. */
static HgStatus
make_replica(ReplicaJob *job, HgError *error)
{
	void *memory = NULL;
	HgStatus status = hg_host_memory_alloc(&job->maker, sizeof(HgReplica), &memory, error);

	job->making.made = memory;
	if (status == HG_OK)
		memset(memory, 0, sizeof(HgReplica));
	return status;
}

static HgStatus
open_making(ReplicaJob *job, const HgReplicaShape *shape, HgError *error)
{
	HgStatus status = HG_OK;

	job->shape = *shape;
	job->making.keys = alloc_zeroed(job, shape->rows * shape->key_width + 1, &status, error);
	job->making.rows = alloc_zeroed(job, shape->rows * sizeof(uint32_t) + 1, &status, error);
	return status;
}

static HgStatus
open_column(ReplicaJob *job, const HgReplicaColumnShape *shape, HgError *error)
{
	HgStatus status = make_replica(job, error);

	job->column = *shape;
	if (status == HG_OK)
		status = hg_host_column_open(&job->making.made->column, shape, &job->maker, error);
	return status;
}

/* The column replica of a name; HG_NO_REPLICA where there is none of that shape. */
static HgStatus
find_column(const HgReplicaColumnUse *use, const HgHostColumn **column, HgError *error)
{
	if (use->column == NULL ||
		!hg_replica_column_shape_equal(&use->column->column.shape, &use->shape))
		return hg_error_set(error, HG_NO_REPLICA, NULL, "there is no such column replica");
	*column = &use->column->column;
	return HG_OK;
}

/* Find the columns that a job has of a graph replica, and of what its rows find, and of filters. */
static HgStatus
open_side_columns(ReplicaJob *job, HgSide which, HgError *error)
{
	ReplicaSide *side = &job->sides[which];
	HgRowFilters *filters = &side->filters.filters;
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->spec.sides[which].ncolumns && status == HG_OK; i++)
	{
		const HgReplicaColumnUse *use = &job->spec.sides[which].replica.columns[i];

		side->found_by[i] = use->lookup;
		if (use->program == 0)
			status = find_column(use, &side->columns[i], error);
	}
	if (hg_side_replica(&job->spec, which)->filters != NULL)
		*filters = *hg_side_replica(&job->spec, which)->filters;
	for (uint32_t i = 0; i < filters->ncolumns && status == HG_OK; i++)
		status = find_column(&filters->columns[i], &side->filters.columns[i], error);
	return status == HG_OK
			   ? hg_replica_ordinals_check(&job->spec, which, side->replica->numbers, error)
			   : status;
}

/* The graph replica of a name; HG_NO_REPLICA where there is none of that shape. */
static HgStatus
find_replica(const HgReplicaUse *use, HgError *error)
{
	if (use->graph == NULL || !hg_replica_shape_equal(&use->graph->shape, &use->shape))
		return hg_error_set(error, HG_NO_REPLICA, NULL, "there is no such graph replica");
	return HG_OK;
}

/* Find the graphs by which rows of a side look up others. */
static HgStatus
open_side_lookups(ReplicaJob *job, HgSide which, HgError *error)
{
	HgHostLookups *lookups = &job->sides[which].lookups;
	HgStatus status = hg_host_lookups_open(lookups, &job->spec, which, &job->counting, error);

	for (uint32_t i = 0; i < hg_side_replica(&job->spec, which)->nlookups && status == HG_OK; i++)
	{
		const HgReplicaLookup *lookup = &job->spec.sides[which].replica.lookups[i];

		status = find_replica(&lookup->own, error);
		if (status == HG_OK)
			status = find_replica(&lookup->found, error);
		if (status != HG_OK)
			break;
		lookups->lookups[i].own = lookup->own.graph->graph;
		lookups->lookups[i].found = lookup->found.graph->graph;
		status = hg_replica_lookup_ordinals_check(lookup, lookup->own.graph->numbers,
												  lookup->found.graph->numbers, error);
	}
	return status;
}

static HgStatus
open_side(ReplicaJob *job, HgSide which, HgError *error)
{
	const HgReplicaUse *use = hg_side_replica(&job->spec, which)->use;
	ReplicaSide *side = &job->sides[which];
	HgStatus status;

	hg_host_pages_init(&side->pages, &job->spec, which);
	if (use == NULL)
		return HG_OK;
	status = find_replica(use, error);
	if (status != HG_OK)
		return status;
	side->replica = use->graph;
	side->masked = use->masked != 0;
	job->stats.rows[which] = use->shape.rows;
	status = open_side_columns(job, which, error);
	if (status == HG_OK)
		status = hg_host_computed_open(&side->computed, &job->spec, which, &job->counting, error);
	if (status == HG_OK)
		status = open_side_lookups(job, which, error);
	if (status == HG_OK &&
		(hg_replica_is_masked(&job->spec, which, 0) || hg_replica_lookups_drop(&job->spec, which)))
		status = hg_host_mask_open(&side->mask, &use->shape, &job->counting, error);
	return status;
}

static void
close_side(ReplicaJob *job, ReplicaSide *side)
{
	hg_host_pieces_free(&side->pieces, &job->counting, job->spec.key_width);
	hg_flat_destroy(&job->counting, side->graph);
	hg_host_lookups_free(&side->lookups, &job->counting);
	hg_host_computed_free(&side->computed, &job->counting);
	hg_host_mask_free(&side->mask, &job->counting);
}

/* Free what is put until it is built. */
static void
free_edges(ReplicaJob *job)
{
	ReplicaMaking *making = &job->making;

	hg_host_memory_free(&job->counting, making->keys, job->shape.rows * job->shape.key_width + 1);
	hg_host_memory_free(&job->counting, making->rows, job->shape.rows * sizeof(uint32_t) + 1);
	making->keys = NULL;
	making->rows = NULL;
}

static void
free_replica(const HgHost *owner, HgReplica *replica)
{
	hg_flat_destroy(owner, replica->graph);
	hg_host_column_free(&replica->column, owner);
	hg_host_memory_free(owner, replica, sizeof(*replica));
}

static void
replica_close(HgJob *handle)
{
	ReplicaJob *job = job_of(handle);

	if (job->inside != NULL)
		hg_cpu_engine()->join->close(job->inside);
	if (job->join != NULL)
		hg_flat_close(job->join);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		close_side(job, &job->sides[side]);
	free_edges(job);
	if (job->making.made != NULL)
		free_replica(&job->maker, job->making.made);
	hg_host_reduce_free(&job->reduce);
	job->host->free(job->host->arg, job, sizeof(*job));
}

static HgStatus
replica_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **opened,
			 HgError *error)
{
	ReplicaJob *job = NULL;
	void *memory;
	HgStatus status = hg_spec_check(spec, error);

	if (status == HG_OK)
		status = hg_host_memory_alloc(host, sizeof(*job), &memory, error);
	if (status != HG_OK)
		return status;
	job = memory;
	memset(job, 0, sizeof(*job));
	job->engine = (HgHostReplica *) engine;
	job->host = host;
	job->spec = *spec;
	job->counting = (HgHost){
		.alloc = counting_alloc, .free = counting_free, .cancelled = is_cancelled, .arg = job};
	hg_host_reduce_init(&job->reduce, spec);
	job->maker =
		(HgHost){.alloc = maker_alloc, .free = maker_free, .cancelled = is_cancelled, .arg = job};

	if (!hg_replica_is_used(spec) && !hg_pages_are_there(spec))
		status = hg_cpu_engine()->open(hg_cpu_engine(), host, spec, &job->inside, error);
	else if (spec->product.kind == HG_PRODUCT_GRAPH)
		status = open_making(job, &spec->product.graph->shape, error);
	else if (spec->product.kind == HG_PRODUCT_COLUMN)
		status = open_column(job, &spec->product.column->shape, error);
	else
	{
		status = open_side(job, HG_OUTER, error);
		if (status == HG_OK)
			status = open_side(job, HG_INNER, error);
	}
	if (status != HG_OK)
	{
		replica_close((HgJob *) job);
		return status;
	}
	*opened = (HgJob *) job;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Filling
 * ------------------------------------------------------------------------ */

static HgStatus
check_filling(const ReplicaJob *job, HgError *error)
{
	if (job->state != REPLICA_FILLING)
		return invalid(error, "the job is built already, or has failed");
	return HG_OK;
}

/* Have keys, or columns, been appended to a side? */
static bool
is_filled(const ReplicaSide *side)
{
	return !is_paged(side) && side->pieces.count > 0;
}

/* Can keys, or columns, be appended to a side? */
static HgStatus
check_appended(const ReplicaJob *job, HgSide side, HgError *error)
{
	if (is_making(job) || job->sides[side].replica != NULL)
		return invalid(error, "keys and columns can not be appended to a graph replica");
	if (is_paged(&job->sides[side]))
		return invalid(error, "this side of the join comes as pages");
	return check_filling(job, error);
}

static HgStatus
append(ReplicaJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
	   bool numbered, HgError *error)
{
	const bool filled = is_filled(&job->sides[HG_OUTER]) || is_filled(&job->sides[HG_INNER]);
	HgStatus status = check_appended(job, side, error);

	if (status != HG_OK)
		return status;
	if (filled && job->numbered != numbered)
		return invalid(error, "rows are numbered in two ways");
	if (first_row > HG_MAX_ROWS || count > HG_MAX_ROWS - first_row)
		return finish(job, hg_error_set(error, HG_TOO_MANY_ROWS, NULL,
										"too many rows in one side of a join"));
	if (count == 0)
		return HG_OK;
	job->numbered = numbered;
	status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK)
		status = hg_host_pieces_add(&job->sides[side].pieces, &job->counting, job->spec.key_width,
									keys, count, first_row, error);
	if (status == HG_OK)
		job->stats.rows[side] += count;
	if (status == HG_OK)
		status = hg_host_reduce_add_rows(&job->reduce, side, count, first_row, error);
	return finish(job, status);
}

static HgStatus
replica_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	ReplicaJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->join->append(job->inside, side, keys, count, error);
	return append(job, side, keys, count, job->stats.rows[side], false, error);
}

static HgStatus
replica_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count,
					uint64_t first_row, HgError *error)
{
	ReplicaJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->join->append_rows(job->inside, side, keys, count, first_row, error);
	return append(job, side, keys, count, first_row, true, error);
}

static HgStatus
replica_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
					  const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return invalid(error, "the job has no columns");
	status = check_appended(job, side, error);
	if (status == HG_OK)
		status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK)
		status = hg_host_reduce_append(&job->reduce, side, column, values, nulls, count, first_row,
									   error);
	return finish(job, status);
}

/* Nothing of the job is looked at but how the side comes. */
static HgStatus
replica_bring_pages(HgJob *handle, const HgHost *host, HgSide side, const void *pages,
					uint64_t count, HgBroughtPages **brought, HgError *error)
{
	return hg_host_pages_bring(&job_of(handle)->sides[side].pages, host, side, pages, count,
							   brought, error);
}

static HgStatus
replica_take_pages(HgJob *handle, HgBroughtPages *brought, uint64_t first_page, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	ReplicaSide *side = &job->sides[brought->side];
	HgStatus status = check_filling(job, error);

	if (status == HG_OK)
		status = hg_host_pages_take(&side->pages, &job->spec, &job->counting, &job->reduce,
									&side->pieces, brought, first_page, &job->stats, error);
	hg_host_pages_drop(handle, brought);
	return finish(job, status);
}

static HgStatus
replica_append_pages(HgJob *handle, HgSide side, const void *pages, uint64_t count,
					 uint64_t first_page, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgBroughtPages *copy;
	HgStatus status = replica_bring_pages(handle, &job->counting, side, pages, count, &copy, error);

	if (status == HG_OK && copy == NULL)
		status = hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	return status == HG_OK ? replica_take_pages(handle, copy, first_page, error)
						   : finish(job, status);
}

static HgStatus
replica_put_edges(HgJob *handle, const void *keys, const uint32_t *rows, uint64_t count,
				  HgError *error)
{
	ReplicaJob *job = job_of(handle);
	ReplicaMaking *making = &job->making;
	const uint32_t width = job->shape.key_width;
	HgStatus status;

	if (width == 0)
		return invalid(error, "the job makes no graph");
	status = check_filling(job, error);
	if (status == HG_OK && count > job->shape.rows - making->count)
		status = invalid(error, "more edges than the graph is to have");
	if (status == HG_OK)
		status = hg_host_check_cancel(job->host, error);
	if (status != HG_OK || count == 0)
		return finish(job, status);
	memcpy(making->keys + making->count * width, keys, (size_t) (count * width));
	memcpy(making->rows + making->count, rows, (size_t) count * sizeof(*rows));
	making->count += count;
	return HG_OK;
}

static HgStatus
replica_put_values(HgJob *handle, const void *values, const uint8_t *nulls, uint64_t count,
				   uint64_t first_ordinal, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status;

	if (job->column.width == 0)
		return invalid(error, "the job makes no column");
	status = check_filling(job, error);
	if (status == HG_OK)
		status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK)
		status = hg_host_column_put(&job->making.made->column, &job->maker, values, nulls, count,
									first_ordinal, error);
	return finish(job, status);
}

static HgStatus
replica_mask(HgJob *handle, HgSide which, uint32_t lookup, uint64_t first_word, uint64_t count,
			 const uint64_t *words, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	ReplicaSide *side = &job->sides[which];
	HgStatus status = check_filling(job, error);

	if (status != HG_OK)
		return status;
	if (lookup == 0 ? !side->masked
					: lookup > side->lookups.count || !side->lookups.lookups[lookup - 1].masked)
		return invalid(error, "this side of the join has no mask");
	status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK)
		status =
			hg_host_mask_put(lookup == 0 ? &side->mask : &side->lookups.lookups[lookup - 1].mask,
							 first_word, count, words, error);
	return finish(job, status);
}

/* ------------------------------------------------------------------------
 * Build
 * ------------------------------------------------------------------------ */

static HgStatus
build_replica(ReplicaJob *job, HgError *error)
{
	ReplicaMaking *making = &job->making;
	const HgFlatShape shape = hg_flat_shape(job->shape.key_width, job->shape.rows);
	const HgFlatRows edges = {.keys = making->keys, .rows = making->rows, .count = making->count};
	uint32_t numbers = 0;
	HgStatus status =
		hg_host_edges_check(&job->shape, making->rows, making->count, &numbers, error);

	if (status == HG_OK)
		status = make_replica(job, error);
	if (status != HG_OK)
		return status;
	making->made->shape = job->shape;
	making->made->numbers = numbers;
	status = hg_flat_make(&job->maker, &shape, &edges, 1, &making->made->graph, error);
	if (status != HG_OK)
		return status;
	free_edges(job);
	job->stats.vertices = UINT64_C(1) << (shape.bins_log2 + shape.vertices_log2);
	return HG_OK;
}

/* Make the graph of a side that has none. */
static HgStatus
build_side(ReplicaJob *job, HgSide which, HgError *error)
{
	ReplicaSide *side = &job->sides[which];
	const HgFlatShape shape = hg_flat_shape(job->spec.key_width, job->stats.rows[which]);
	HgStatus status = hg_flat_make(&job->counting, &shape, side->pieces.pieces, side->pieces.count,
								   &side->graph, error);

	if (status == HG_OK)
		hg_host_pieces_free(&side->pieces, &job->counting, job->spec.key_width);
	return status;
}

/* Have the rows of a side that is a replica look up others, and all of its columns. */
static HgStatus
build_replica_side(ReplicaJob *job, HgSide which, HgError *error)
{
	ReplicaSide *side = &job->sides[which];
	const HgHostLookups *lookups = &side->lookups;
	HgStatus status =
		hg_host_filters_apply(&side->filters, &side->mask, &side->lookups, &job->counting, error);

	if (status == HG_OK)
		status = hg_host_lookups_run(&side->lookups, &side->mask, &job->counting, error);
	if (status != HG_OK)
		return status;
	for (uint32_t i = 0; i < job->spec.sides[which].ncolumns; i++)
		hg_host_reduce_set_external(
			&job->reduce, which, i, side->columns[i],
			side->found_by[i] == 0 ? NULL : lookups->lookups[side->found_by[i] - 1].ordinals,
			lookups->stride);
	return hg_host_computed_run(&side->computed, which, side->replica->graph, &side->mask,
								&job->reduce, &job->counting, error);
}

static HgStatus
build_join(ReplicaJob *job, HgError *error)
{
	HgFlatSide flat[2] = {0};
	HgStatus status = job->sides[HG_OUTER].pages.bad || job->sides[HG_INNER].pages.bad
						  ? hg_pages_bad(error)
						  : hg_host_reduce_check(&job->reduce, error);

	for (int which = HG_OUTER; which <= HG_INNER && status == HG_OK; which++)
	{
		ReplicaSide *side = &job->sides[which];
		uint64_t vertices;

		status = side->replica == NULL ? build_side(job, (HgSide) which, error)
									   : build_replica_side(job, (HgSide) which, error);
		if (status != HG_OK)
			break;
		flat[which].graph = side->replica != NULL ? side->replica->graph : side->graph;
		flat[which].mask = hg_host_mask_flat(&side->mask);
		vertices = UINT64_C(1) << (flat[which].graph->shape.bins_log2 +
								   flat[which].graph->shape.vertices_log2);
		if (vertices > job->stats.vertices)
			job->stats.vertices = vertices;
	}
	if (status != HG_OK)
		return status;
	return hg_flat_join_open(&job->counting, &flat[HG_OUTER], &flat[HG_INNER], NULL, &job->join,
							 error);
}

static HgStatus
replica_build(HgJob *handle, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->join->build(job->inside, error);
	status = check_filling(job, error);
	if (status == HG_OK)
		status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK && !is_making(job))
		status = build_join(job, error);
	else if (status == HG_OK && job->shape.key_width > 0)
		status = build_replica(job, error);
	if (status != HG_OK)
		return finish(job, status);
	if (is_making(job))
		job->making.made->bytes = job->replica;
	job->state = REPLICA_BUILT;
	job->stats.bins = job->stats.passes = 1;
	job->stats.build = job->sides[HG_OUTER].replica != NULL || job->sides[HG_INNER].replica != NULL
						   ? HG_BUILD_RESIDENT
						   : HG_BUILD_V2;
	job->stats.probe = HG_PROBE_INTERSECT;
	return HG_OK;
}

static HgStatus
replica_take_replica(HgJob *handle, HgReplica **graph, uint64_t *bytes, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	ReplicaMaking *making = &job->making;

	if (job->state != REPLICA_BUILT || making->made == NULL)
		return invalid(error, "the job has nothing to be kept");
	*graph = making->made;
	*bytes = making->made->bytes;
	job->held -= making->made->bytes;
	job->replica -= making->made->bytes;
	making->made = NULL;
	return HG_OK;
}

static void
replica_release(HgEngine *engine, HgReplica *graph)
{
	free_replica(((HgHostReplica *) engine)->owner, graph);
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

/* HG_OK where matches can be asked for; a stream that there was has ended. */
static HgStatus
begin_matches(ReplicaJob *job, HgMatchMode mode, HgError *error)
{
	if (job->join == NULL || (job->state != REPLICA_BUILT && job->state != REPLICA_MATCHING))
		return invalid(error, "the join is not built");
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return invalid(error, "unknown mode of matching");
	job->state = REPLICA_BUILT;
	return HG_OK;
}

static HgStatus
replica_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->join->match(job->inside, mode, error);
	status = begin_matches(job, mode, error);
	if (status != HG_OK)
		return status;
	hg_flat_rewind(job->join);
	job->mode = mode;
	job->state = REPLICA_MATCHING;
	return HG_OK;
}

/* The next pairs, without values. */
static HgStatus
next_pairs(HgJob *handle, HgMatches *pairs, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status = hg_flat_next(job->join, job->mode, pairs, error);

	job->stats.matches += pairs->count;
	return status;
}

/* What columns and groups are made of. */
static const HgJoinCalls pairs_join = {.match = replica_match, .next = next_pairs};
static HgEngine pairs_engine = {.join = &pairs_join};

static bool
has_columns(const ReplicaJob *job)
{
	return job->spec.sides[HG_OUTER].ncolumns + job->spec.sides[HG_INNER].ncolumns > 0;
}

static HgStatus
replica_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->join->next(job->inside, matches, error);
	matches->count = 0;
	if (job->state != REPLICA_MATCHING)
		return invalid(error, "no stream of matches was started");
	if (matches->capacity == 0)
		return invalid(error, "a chunk of matches needs room for one");
	status = hg_matches_check(&job->spec, matches, error);
	if (status == HG_OK)
		status = has_columns(job)
					 ? hg_host_reduce_gather(&job->reduce, &pairs_engine, handle, matches, error)
					 : next_pairs(handle, matches, error);
	return finish(job, status);
}

static HgStatus
replica_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	ReplicaJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->join->count(job->inside, mode, matches, error);
	status = begin_matches(job, mode, error);
	if (status == HG_OK)
		status = hg_flat_join_count(job->join, mode, matches, error);
	if (status == HG_OK)
		job->stats.matches += *matches;
	return finish(job, status);
}

static HgStatus
replica_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			   HgError *error)
{
	ReplicaJob *job = job_of(handle);
	const uint64_t before = job->stats.matches;
	HgStatus status;

	if (job->inside != NULL)
		return invalid(error, "the job has no columns");
	status = hg_reduce_check(&job->spec, spec, error);
	if (status == HG_OK)
		status = begin_matches(job, mode, error);
	if (status != HG_OK)
		return status;
	status = hg_host_reduce_run(&job->reduce, &pairs_engine, handle, mode, spec, groups, error);
	job->state = REPLICA_BUILT;
	if (status == HG_OK && *groups == HG_TOO_MANY_GROUPS)
		job->stats.matches = before;
	return finish(job, status);
}

static HgStatus
replica_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	return hg_host_reduce_next(&job_of(handle)->reduce, records, error);
}

/* ------------------------------------------------------------------------
 * The rest
 * ------------------------------------------------------------------------ */

static HgStatus
replica_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	ReplicaJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->join->describe(job->inside, side, stats, error);
	return invalid(error, "graph replicas are not described");
}

static HgStatus
replica_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
					 uint32_t *edge_rows, HgError *error)
{
	ReplicaJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->join->export_graph(job->inside, side, offsets, edge_keys, edge_rows,
												   error);
	return invalid(error, "graph replicas are not exported");
}

static void
replica_stats(HgJob *handle, HgJobStats *stats)
{
	ReplicaJob *job = job_of(handle);

	if (job->inside != NULL)
		hg_cpu_engine()->join->stats(job->inside, stats);
	else
		*stats = job->stats;
}

static const HgJoinCalls replica_join = HG_JOIN_CALLS(replica);
static const HgColumnCalls replica_columns = HG_COLUMN_CALLS(replica);
static const HgPageCalls replica_pages = {.append_pages = replica_append_pages};
static const HgBroughtCalls replica_brought = {replica_bring_pages, replica_take_pages,
											   hg_host_pages_drop};
static const HgStoreCalls replica_store = HG_STORE_CALLS(replica);
static const HgMaskCalls replica_masks = {.mask = replica_mask};

void
hg_host_replica_init(HgHostReplica *replica, const HgHost *owner)
{
	static const HgEngine calls = {
		.name = "graph replicas on the cpu",
		.can = HG_CAN_NUMBER | HG_CAN_FILTER,
		.open = replica_open,
		.join = &replica_join,
		.columns = &replica_columns,
		.pages = &replica_pages,
		.brought = &replica_brought,
		.store = &replica_store,
		.masks = &replica_masks,
	};

	replica->engine = calls;
	replica->owner = owner;
}

uint64_t
hg_host_replica_bytes(const HgJobSpec *spec)
{
	uint64_t bytes = sizeof(ReplicaJob);

	if (spec->product.kind == HG_PRODUCT_GRAPH)
	{
		const HgReplicaShape *shape = &spec->product.graph->shape;
		const HgFlatShape flat = hg_flat_shape(shape->key_width, shape->rows);

		return bytes + sizeof(HgReplica) + 2 + shape->rows * (shape->key_width + sizeof(uint32_t)) +
			   hg_flat_make_bytes(&flat, shape->rows);
	}
	if (spec->product.kind == HG_PRODUCT_COLUMN)
		return bytes + sizeof(HgReplica) + hg_host_column_bytes(&spec->product.column->shape);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const uint64_t rows = spec->sides[side].expected_rows;
		const HgFlatShape flat = hg_flat_shape(spec->key_width, rows);

		/* the numbers of their rows are not those of positions */
		if (spec->sides[side].kind == HG_SOURCE_PAGES)
			bytes += rows * sizeof(uint32_t);
		if (spec->sides[side].kind != HG_SOURCE_REPLICA)
			bytes += rows * spec->key_width + hg_flat_make_bytes(&flat, rows);
		else if (hg_replica_is_masked(spec, (HgSide) side, 0) ||
				 hg_replica_lookups_drop(spec, (HgSide) side))
			bytes += hg_host_mask_bytes(&spec->sides[side].replica.use->shape);
		bytes += hg_host_lookups_bytes(spec, (HgSide) side);
		bytes += hg_host_computed_bytes(spec, (HgSide) side);
	}
	return bytes;
}
