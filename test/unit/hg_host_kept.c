/*-------------------------------------------------------------------------
 *
 * hg_host_kept.c
 *	  Kept graphs in host memory: an engine on the CPU that has them, for tests.
 *
 * A job is of one of four kinds, and says which by what is not zero in it: it has a job of the CPU
 * engine inside, which all calls go to; or the shape of a graph that it makes, or of a column; or
 * sides, of which one at least is a kept graph or comes as pages.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_kept.h"

#include "../../src/engine/cpu/hg_cpu.h"
#include "../../src/engine/hg_host_memory.h"
#include "../../src/engine/hg_kept_side.h"
#include "../../src/engine/hg_shape.h"
#include "hg_host_computed.h"
#include "hg_host_filter.h"
#include "hg_host_lookup.h"
#include "hg_host_pages.h"
#include "hg_host_pieces.h"
#include "hg_host_reduce.h"

#include <string.h>

/* A graph, or a column: the other one's shape is all zero. */
struct HgKept
{
	HgKeptShape shape;
	HgFlatGraph *graph;
	uint32_t numbers; /* what the numbers of its rows in their parts are below */
	HgHostColumn column;
	uint64_t bytes; /* of the keeper's memory, this struct among them */
};

typedef enum KeptState
{
	KEPT_FILLING,
	KEPT_BUILT,
	KEPT_MATCHING, /* built, and there is a stream */
	KEPT_FAILED	   /* only close is left */
} KeptState;

/* The graph that a job makes, or the column, which is in made from the beginning. */
typedef struct KeptMaking
{
	unsigned char *keys; /* [shape.rows] of the shape's key width, as they were put */
	uint32_t *rows;		 /* [shape.rows] */
	uint64_t count;		 /* of which there are so many */
	HgKept *made;		 /* once a graph is built; until it is kept */
} KeptMaking;

/* One side of a join. */
typedef struct KeptSide
{
	const HgKept *kept; /* NULL: rows are appended */

	HgHostMask mask; /* where there is to be one, or rows may not count for what they find */
	bool masked;	 /* it is for the caller to give */
	HgHostLookups lookups;
	HgHostFilters filters;						 /* of its rows, and of what they look up */
	const HgHostColumn *columns[HG_MAX_COLUMNS]; /* that it has ... */
	uint32_t found_by[HG_MAX_COLUMNS];			 /* ... as of HgKeptColumnUse.lookup */
	HgHostComputed computed;					 /* in place of those that it has computed */

	HgHostPages pages;
	HgHostPieces pieces; /* rows that it is given, until build; then their graph */
	HgFlatGraph *graph;
} KeptSide;

typedef struct KeptJob
{
	HgHostKept *engine;
	HgJob *inside;
	const HgHost *host;
	HgHost counting; /* memory of host, counted */
	HgHost keeping;	 /* memory of the keeper, counted */
	HgJobSpec spec;	 /* whose pointers are not followed after open */
	KeptState state;
	uint64_t held; /* of both */
	uint64_t kept; /* of the keeper */
	HgJobStats stats;

	HgKeptShape shape;		  /* of the graph that is made; key_width 0 where none is */
	HgKeptColumnShape column; /* of the column; width 0 */
	KeptMaking making;
	KeptSide sides[2];
	bool numbered;		 /* rows came by append_rows */
	HgHostReduce reduce; /* columns of sides, and groups */
	HgFlatJoin *join;
	HgMatchMode mode;
} KeptJob;

static KeptJob *
job_of(HgJob *handle)
{
	return (KeptJob *) handle;
}

/* ------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------ */

static void *
counted_alloc(KeptJob *job, const HgHost *host, size_t bytes)
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
	KeptJob *job = arg;

	return counted_alloc(job, job->host, bytes);
}

static void
counting_free(void *arg, void *ptr, size_t bytes)
{
	KeptJob *job = arg;

	job->held -= bytes;
	job->host->free(job->host->arg, ptr, bytes);
}

static void *
keeping_alloc(void *arg, size_t bytes)
{
	KeptJob *job = arg;
	void *ptr = counted_alloc(job, job->engine->keeper, bytes);

	if (ptr != NULL)
		job->kept += bytes;
	return ptr;
}

static void
keeping_free(void *arg, void *ptr, size_t bytes)
{
	KeptJob *job = arg;

	job->held -= bytes;
	job->kept -= bytes;
	job->engine->keeper->free(job->engine->keeper->arg, ptr, bytes);
}

static bool
is_cancelled(void *arg)
{
	const HgHost *host = ((KeptJob *) arg)->host;

	return host->cancelled(host->arg);
}

/* Zeroed memory of the job's; NULL, and *status says so, where there is none. */
static void *
alloc_zeroed(KeptJob *job, uint64_t bytes, HgStatus *status, HgError *error)
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
finish(KeptJob *job, HgStatus status)
{
	if (status != HG_OK && status != HG_INVALID)
		job->state = KEPT_FAILED;
	return status;
}

static HgStatus
invalid(HgError *error, const char *message)
{
	return hg_error_set(error, HG_INVALID, NULL, "%s", message);
}

/* Does a side come as pages? */
static bool
is_paged(const KeptSide *side)
{
	return side->pages.spec.page_size > 0;
}

static bool
is_making(const KeptJob *job)
{
	return job->shape.key_width > 0 || job->column.width > 0;
}

/* ------------------------------------------------------------------------
 * Open and close
 * ------------------------------------------------------------------------ */

/* Have what is to be kept, without anything in it. */
static HgStatus
make_kept(KeptJob *job, HgError *error)
{
	void *memory = NULL;
	HgStatus status = hg_host_memory_alloc(&job->keeping, sizeof(HgKept), &memory, error);

	job->making.made = memory;
	if (status == HG_OK)
		memset(memory, 0, sizeof(HgKept));
	return status;
}

static HgStatus
open_making(KeptJob *job, const HgKeptShape *shape, HgError *error)
{
	HgStatus status = HG_OK;

	job->shape = *shape;
	job->making.keys = alloc_zeroed(job, shape->rows * shape->key_width + 1, &status, error);
	job->making.rows = alloc_zeroed(job, shape->rows * sizeof(uint32_t) + 1, &status, error);
	return status;
}

static HgStatus
open_column(KeptJob *job, const HgKeptColumnShape *shape, HgError *error)
{
	HgStatus status = make_kept(job, error);

	job->column = *shape;
	if (status == HG_OK)
		status = hg_host_column_open(&job->making.made->column, shape, &job->keeping, error);
	return status;
}

/* A kept column that is named; HG_NOT_KEPT where there is none of that shape. */
static HgStatus
find_column(const HgKeptColumnUse *use, const HgHostColumn **column, HgError *error)
{
	if (use->column == NULL || !hg_kept_column_shape_equal(&use->column->column.shape, &use->shape))
		return hg_error_set(error, HG_NOT_KEPT, NULL, "there is no such kept column");
	*column = &use->column->column;
	return HG_OK;
}

/* Find the columns that a job has of a kept graph, and of what its rows find, and of filters. */
static HgStatus
open_side_columns(KeptJob *job, HgSide which, HgError *error)
{
	KeptSide *side = &job->sides[which];
	HgRowFilters *filters = &side->filters.filters;
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->spec.ncolumns[which] && status == HG_OK; i++)
	{
		const HgKeptColumnUse *use = &job->spec.kept_columns[which][i];

		side->found_by[i] = use->lookup;
		if (use->program == 0)
			status = find_column(use, &side->columns[i], error);
	}
	if (job->spec.filters[which] != NULL)
		*filters = *job->spec.filters[which];
	for (uint32_t i = 0; i < filters->ncolumns && status == HG_OK; i++)
		status = find_column(&filters->columns[i], &side->filters.columns[i], error);
	return status == HG_OK ? hg_kept_places_check(&job->spec, which, side->kept->numbers, error)
						   : status;
}

/* A kept graph that is named; HG_NOT_KEPT where there is none of that shape. */
static HgStatus
find_kept(const HgKeptUse *use, HgError *error)
{
	if (use->graph == NULL || !hg_kept_shape_equal(&use->graph->shape, &use->shape))
		return hg_error_set(error, HG_NOT_KEPT, NULL, "there is no such kept graph");
	return HG_OK;
}

/* Find the graphs by which rows of a side look up others. */
static HgStatus
open_side_lookups(KeptJob *job, HgSide which, HgError *error)
{
	HgHostLookups *lookups = &job->sides[which].lookups;
	HgStatus status = hg_host_lookups_open(lookups, &job->spec, which, &job->counting, error);

	for (uint32_t i = 0; i < job->spec.nlookups[which] && status == HG_OK; i++)
	{
		const HgKeptLookup *lookup = &job->spec.lookups[which][i];

		status = find_kept(&lookup->own, error);
		if (status == HG_OK)
			status = find_kept(&lookup->found, error);
		if (status != HG_OK)
			break;
		lookups->lookups[i].own = lookup->own.graph->graph;
		lookups->lookups[i].found = lookup->found.graph->graph;
		status = hg_kept_lookup_places_check(lookup, lookup->own.graph->numbers,
											 lookup->found.graph->numbers, error);
	}
	return status;
}

static HgStatus
open_side(KeptJob *job, HgSide which, HgError *error)
{
	const HgKeptUse *use = job->spec.kept[which];
	KeptSide *side = &job->sides[which];
	HgStatus status;

	hg_host_pages_init(&side->pages, &job->spec, which);
	if (use == NULL)
		return HG_OK;
	status = find_kept(use, error);
	if (status != HG_OK)
		return status;
	side->kept = use->graph;
	side->masked = use->masked != 0;
	job->stats.rows[which] = use->shape.rows;
	status = open_side_columns(job, which, error);
	if (status == HG_OK)
		status = hg_host_computed_open(&side->computed, &job->spec, which, &job->counting, error);
	if (status == HG_OK)
		status = open_side_lookups(job, which, error);
	if (status == HG_OK &&
		(hg_kept_is_masked(&job->spec, which, 0) || hg_kept_lookups_drop(&job->spec, which)))
		status = hg_host_mask_open(&side->mask, &use->shape, &job->counting, error);
	return status;
}

static void
close_side(KeptJob *job, KeptSide *side)
{
	hg_host_pieces_free(&side->pieces, &job->counting, job->spec.key_width);
	hg_flat_destroy(&job->counting, side->graph);
	hg_host_lookups_free(&side->lookups, &job->counting);
	hg_host_computed_free(&side->computed, &job->counting);
	hg_host_mask_free(&side->mask, &job->counting);
}

/* Free what is put until it is built. */
static void
free_edges(KeptJob *job)
{
	KeptMaking *making = &job->making;

	hg_host_memory_free(&job->counting, making->keys, job->shape.rows * job->shape.key_width + 1);
	hg_host_memory_free(&job->counting, making->rows, job->shape.rows * sizeof(uint32_t) + 1);
	making->keys = NULL;
	making->rows = NULL;
}

static void
free_kept(const HgHost *keeper, HgKept *kept)
{
	hg_flat_destroy(keeper, kept->graph);
	hg_host_column_free(&kept->column, keeper);
	hg_host_memory_free(keeper, kept, sizeof(*kept));
}

static void
kept_close(HgJob *handle)
{
	KeptJob *job = job_of(handle);

	if (job->inside != NULL)
		hg_cpu_engine()->close(job->inside);
	if (job->join != NULL)
		hg_flat_close(job->join);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		close_side(job, &job->sides[side]);
	free_edges(job);
	if (job->making.made != NULL)
		free_kept(&job->keeping, job->making.made);
	hg_host_reduce_free(&job->reduce);
	job->host->free(job->host->arg, job, sizeof(*job));
}

static HgStatus
kept_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **opened,
		  HgError *error)
{
	KeptJob *job = NULL;
	void *memory;
	HgStatus status = hg_spec_check(spec, error);

	if (status == HG_OK)
		status = hg_host_memory_alloc(host, sizeof(*job), &memory, error);
	if (status != HG_OK)
		return status;
	job = memory;
	memset(job, 0, sizeof(*job));
	job->engine = (HgHostKept *) engine;
	job->host = host;
	job->spec = *spec;
	job->counting = (HgHost){
		.alloc = counting_alloc, .free = counting_free, .cancelled = is_cancelled, .arg = job};
	hg_host_reduce_init(&job->reduce, spec);
	job->keeping = (HgHost){
		.alloc = keeping_alloc, .free = keeping_free, .cancelled = is_cancelled, .arg = job};

	if (!hg_kept_is_named(spec) && !hg_pages_are_there(spec))
		status = hg_cpu_engine()->open(hg_cpu_engine(), host, spec, &job->inside, error);
	else if (spec->keep != NULL)
		status = open_making(job, &spec->keep->shape, error);
	else if (spec->keep_column != NULL)
		status = open_column(job, &spec->keep_column->shape, error);
	else
	{
		status = open_side(job, HG_OUTER, error);
		if (status == HG_OK)
			status = open_side(job, HG_INNER, error);
	}
	if (status != HG_OK)
	{
		kept_close((HgJob *) job);
		return status;
	}
	*opened = (HgJob *) job;
	return HG_OK;
}

/* ------------------------------------------------------------------------
 * Filling
 * ------------------------------------------------------------------------ */

static HgStatus
check_filling(const KeptJob *job, HgError *error)
{
	if (job->state != KEPT_FILLING)
		return invalid(error, "the job is built already, or has failed");
	return HG_OK;
}

/* Have keys, or columns, been appended to a side? */
static bool
is_filled(const KeptSide *side)
{
	return !is_paged(side) && side->pieces.count > 0;
}

/* Can keys, or columns, be appended to a side? */
static HgStatus
check_appended(const KeptJob *job, HgSide side, HgError *error)
{
	if (is_making(job) || job->sides[side].kept != NULL)
		return invalid(error, "keys and columns can not be appended to a kept graph");
	if (is_paged(&job->sides[side]))
		return invalid(error, "this side of the join comes as pages");
	return check_filling(job, error);
}

static HgStatus
append(KeptJob *job, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
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
kept_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	KeptJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->append(job->inside, side, keys, count, error);
	return append(job, side, keys, count, job->stats.rows[side], false, error);
}

static HgStatus
kept_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count, uint64_t first_row,
				 HgError *error)
{
	KeptJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->append_rows(job->inside, side, keys, count, first_row, error);
	return append(job, side, keys, count, first_row, true, error);
}

static HgStatus
kept_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
				   const uint8_t *nulls, uint64_t count, uint64_t first_row, HgError *error)
{
	KeptJob *job = job_of(handle);
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
kept_bring_pages(HgJob *handle, const HgHost *host, HgSide side, const void *pages, uint64_t count,
				 HgBroughtPages **brought, HgError *error)
{
	return hg_host_pages_bring(&job_of(handle)->sides[side].pages, host, side, pages, count,
							   brought, error);
}

static HgStatus
kept_take_pages(HgJob *handle, HgBroughtPages *brought, uint64_t first_page, HgError *error)
{
	KeptJob *job = job_of(handle);
	KeptSide *side = &job->sides[brought->side];
	HgStatus status = check_filling(job, error);

	if (status == HG_OK)
		status = hg_host_pages_take(&side->pages, &job->spec, &job->counting, &job->reduce,
									&side->pieces, brought, first_page, &job->stats, error);
	hg_host_pages_drop(handle, brought);
	return finish(job, status);
}

static HgStatus
kept_append_pages(HgJob *handle, HgSide side, const void *pages, uint64_t count,
				  uint64_t first_page, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgBroughtPages *copy;
	HgStatus status = kept_bring_pages(handle, &job->counting, side, pages, count, &copy, error);

	if (status == HG_OK && copy == NULL)
		status = hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	return status == HG_OK ? kept_take_pages(handle, copy, first_page, error) : finish(job, status);
}

static HgStatus
kept_put_edges(HgJob *handle, const void *keys, const uint32_t *rows, uint64_t count,
			   HgError *error)
{
	KeptJob *job = job_of(handle);
	KeptMaking *making = &job->making;
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
kept_put_values(HgJob *handle, const void *values, const uint8_t *nulls, uint64_t count,
				uint64_t first_place, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgStatus status;

	if (job->column.width == 0)
		return invalid(error, "the job makes no column");
	status = check_filling(job, error);
	if (status == HG_OK)
		status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK)
		status = hg_host_column_put(&job->making.made->column, &job->keeping, values, nulls, count,
									first_place, error);
	return finish(job, status);
}

static HgStatus
kept_mask(HgJob *handle, HgSide which, uint32_t lookup, uint64_t first_word, uint64_t count,
		  const uint64_t *words, HgError *error)
{
	KeptJob *job = job_of(handle);
	KeptSide *side = &job->sides[which];
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
build_kept(KeptJob *job, HgError *error)
{
	KeptMaking *making = &job->making;
	const HgFlatShape shape = hg_flat_shape(job->shape.key_width, job->shape.rows);
	const HgFlatRows edges = {.keys = making->keys, .rows = making->rows, .count = making->count};
	uint32_t numbers = 0;
	HgStatus status =
		hg_host_edges_check(&job->shape, making->rows, making->count, &numbers, error);

	if (status == HG_OK)
		status = make_kept(job, error);
	if (status != HG_OK)
		return status;
	making->made->shape = job->shape;
	making->made->numbers = numbers;
	status = hg_flat_make(&job->keeping, &shape, &edges, 1, &making->made->graph, error);
	if (status != HG_OK)
		return status;
	free_edges(job);
	job->stats.vertices = UINT64_C(1) << (shape.bins_log2 + shape.vertices_log2);
	return HG_OK;
}

/* Make the graph of a side that has none. */
static HgStatus
build_side(KeptJob *job, HgSide which, HgError *error)
{
	KeptSide *side = &job->sides[which];
	const HgFlatShape shape = hg_flat_shape(job->spec.key_width, job->stats.rows[which]);
	HgStatus status = hg_flat_make(&job->counting, &shape, side->pieces.pieces, side->pieces.count,
								   &side->graph, error);

	if (status == HG_OK)
		hg_host_pieces_free(&side->pieces, &job->counting, job->spec.key_width);
	return status;
}

/* Have the rows of a kept side look up others, and all of its columns. */
static HgStatus
build_kept_side(KeptJob *job, HgSide which, HgError *error)
{
	KeptSide *side = &job->sides[which];
	const HgHostLookups *lookups = &side->lookups;
	HgStatus status =
		hg_host_filters_apply(&side->filters, &side->mask, &side->lookups, &job->counting, error);

	if (status == HG_OK)
		status = hg_host_lookups_run(&side->lookups, &side->mask, &job->counting, error);
	if (status != HG_OK)
		return status;
	for (uint32_t i = 0; i < job->spec.ncolumns[which]; i++)
		hg_host_reduce_borrow(
			&job->reduce, which, i, side->columns[i],
			side->found_by[i] == 0 ? NULL : lookups->lookups[side->found_by[i] - 1].places,
			lookups->stride);
	return hg_host_computed_run(&side->computed, which, side->kept->graph, &side->mask,
								&job->reduce, &job->counting, error);
}

static HgStatus
build_join(KeptJob *job, HgError *error)
{
	HgFlatSide flat[2] = {0};
	HgStatus status = job->sides[HG_OUTER].pages.bad || job->sides[HG_INNER].pages.bad
						  ? hg_pages_bad(error)
						  : hg_host_reduce_check(&job->reduce, error);

	for (int which = HG_OUTER; which <= HG_INNER && status == HG_OK; which++)
	{
		KeptSide *side = &job->sides[which];
		uint64_t vertices;

		status = side->kept == NULL ? build_side(job, (HgSide) which, error)
									: build_kept_side(job, (HgSide) which, error);
		if (status != HG_OK)
			break;
		flat[which].graph = side->kept != NULL ? side->kept->graph : side->graph;
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
kept_build(HgJob *handle, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->build(job->inside, error);
	status = check_filling(job, error);
	if (status == HG_OK)
		status = hg_host_check_cancel(job->host, error);
	if (status == HG_OK && !is_making(job))
		status = build_join(job, error);
	else if (status == HG_OK && job->shape.key_width > 0)
		status = build_kept(job, error);
	if (status != HG_OK)
		return finish(job, status);
	if (is_making(job))
		job->making.made->bytes = job->kept;
	job->state = KEPT_BUILT;
	job->stats.bins = job->stats.ranges = 1;
	job->stats.build = job->sides[HG_OUTER].kept != NULL || job->sides[HG_INNER].kept != NULL
						   ? HG_BUILD_RESIDENT
						   : HG_BUILD_V2;
	job->stats.probe = HG_PROBE_INTERSECT;
	return HG_OK;
}

static HgStatus
kept_keep(HgJob *handle, HgKept **graph, uint64_t *bytes, HgError *error)
{
	KeptJob *job = job_of(handle);
	KeptMaking *making = &job->making;

	if (job->state != KEPT_BUILT || making->made == NULL)
		return invalid(error, "the job has nothing to be kept");
	*graph = making->made;
	*bytes = making->made->bytes;
	job->held -= making->made->bytes;
	job->kept -= making->made->bytes;
	making->made = NULL;
	return HG_OK;
}

static void
kept_release(HgEngine *engine, HgKept *graph)
{
	free_kept(((HgHostKept *) engine)->keeper, graph);
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------ */

/* HG_OK where matches can be asked for; a stream that there was has ended. */
static HgStatus
begin_matches(KeptJob *job, HgMatchMode mode, HgError *error)
{
	if (job->join == NULL || (job->state != KEPT_BUILT && job->state != KEPT_MATCHING))
		return invalid(error, "the join is not built");
	if (mode != HG_MATCH_ALL && mode != HG_MATCH_FIRST)
		return invalid(error, "unknown mode of matching");
	job->state = KEPT_BUILT;
	return HG_OK;
}

static HgStatus
kept_match(HgJob *handle, HgMatchMode mode, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->match(job->inside, mode, error);
	status = begin_matches(job, mode, error);
	if (status != HG_OK)
		return status;
	hg_flat_rewind(job->join);
	job->mode = mode;
	job->state = KEPT_MATCHING;
	return HG_OK;
}

/* The next pairs, without values. */
static HgStatus
next_pairs(HgJob *handle, HgMatches *pairs, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgStatus status = hg_flat_next(job->join, job->mode, pairs, error);

	job->stats.matches += pairs->count;
	return status;
}

/* What columns and groups are made of. */
static HgEngine pairs_engine = {.match = kept_match, .next = next_pairs};

static bool
has_columns(const KeptJob *job)
{
	return job->spec.ncolumns[HG_OUTER] + job->spec.ncolumns[HG_INNER] > 0;
}

static HgStatus
kept_next(HgJob *handle, HgMatches *matches, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->next(job->inside, matches, error);
	matches->count = 0;
	if (job->state != KEPT_MATCHING)
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
kept_count(HgJob *handle, HgMatchMode mode, uint64_t *matches, HgError *error)
{
	KeptJob *job = job_of(handle);
	HgStatus status;

	if (job->inside != NULL)
		return hg_cpu_engine()->count(job->inside, mode, matches, error);
	status = begin_matches(job, mode, error);
	if (status == HG_OK)
		status = hg_flat_join_count(job->join, mode, matches, error);
	if (status == HG_OK)
		job->stats.matches += *matches;
	return finish(job, status);
}

static HgStatus
kept_reduce(HgJob *handle, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
			HgError *error)
{
	KeptJob *job = job_of(handle);
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
	job->state = KEPT_BUILT;
	if (status == HG_OK && *groups == HG_TOO_MANY_GROUPS)
		job->stats.matches = before;
	return finish(job, status);
}

static HgStatus
kept_next_groups(HgJob *handle, HgGroupRecords *records, HgError *error)
{
	return hg_host_reduce_next(&job_of(handle)->reduce, records, error);
}

/* ------------------------------------------------------------------------
 * The rest
 * ------------------------------------------------------------------------ */

static HgStatus
kept_describe(HgJob *handle, HgSide side, HgGraphStats *stats, HgError *error)
{
	KeptJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->describe(job->inside, side, stats, error);
	return invalid(error, "kept graphs are not described");
}

static HgStatus
kept_export_graph(HgJob *handle, HgSide side, uint32_t *offsets, void *edge_keys,
				  uint32_t *edge_rows, HgError *error)
{
	KeptJob *job = job_of(handle);

	if (job->inside != NULL)
		return hg_cpu_engine()->export_graph(job->inside, side, offsets, edge_keys, edge_rows,
											 error);
	return invalid(error, "kept graphs are not exported");
}

static void
kept_stats(HgJob *handle, HgJobStats *stats)
{
	KeptJob *job = job_of(handle);

	if (job->inside != NULL)
		hg_cpu_engine()->stats(job->inside, stats);
	else
		*stats = job->stats;
}

void
hg_host_kept_init(HgHostKept *kept, const HgHost *keeper)
{
	static const HgEngine calls = {
		.name = "kept graphs on the cpu",
		.filters = true,
		.open = kept_open,
		.append = kept_append,
		.append_rows = kept_append_rows,
		.append_column = kept_append_column,
		.build = kept_build,
		.match = kept_match,
		.next = kept_next,
		.count = kept_count,
		.reduce = kept_reduce,
		.next_groups = kept_next_groups,
		.describe = kept_describe,
		.export_graph = kept_export_graph,
		.stats = kept_stats,
		.close = kept_close,
		.put_edges = kept_put_edges,
		.put_values = kept_put_values,
		.keep = kept_keep,
		.release = kept_release,
		.mask = kept_mask,
		.append_pages = kept_append_pages,
		.bring_pages = kept_bring_pages,
		.take_pages = kept_take_pages,
		.drop_pages = hg_host_pages_drop,
	};

	kept->engine = calls;
	kept->keeper = keeper;
}

uint64_t
hg_host_kept_bytes(const HgJobSpec *spec)
{
	uint64_t bytes = sizeof(KeptJob);

	if (spec->keep != NULL)
	{
		const HgKeptShape *shape = &spec->keep->shape;
		const HgFlatShape flat = hg_flat_shape(shape->key_width, shape->rows);

		return bytes + sizeof(HgKept) + 2 + shape->rows * (shape->key_width + sizeof(uint32_t)) +
			   hg_flat_make_bytes(&flat, shape->rows);
	}
	if (spec->keep_column != NULL)
		return bytes + sizeof(HgKept) + hg_host_column_bytes(&spec->keep_column->shape);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const uint64_t rows = spec->expected_rows[side];
		const HgFlatShape flat = hg_flat_shape(spec->key_width, rows);

		/* the numbers of their rows are not those of positions */
		if (spec->pages[side] != NULL)
			bytes += rows * sizeof(uint32_t);
		if (spec->kept[side] == NULL)
			bytes += rows * spec->key_width + hg_flat_make_bytes(&flat, rows);
		else if (hg_kept_is_masked(spec, (HgSide) side, 0) ||
				 hg_kept_lookups_drop(spec, (HgSide) side))
			bytes += hg_host_mask_bytes(&spec->kept[side]->shape);
		bytes += hg_host_lookups_bytes(spec, (HgSide) side);
		bytes += hg_host_computed_bytes(spec, (HgSide) side);
	}
	return bytes;
}
