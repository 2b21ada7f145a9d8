/*-------------------------------------------------------------------------
 *
 * hg_host_pages.c
 *	  Rows out of pages of a table, on the host, for an engine of tests that has such sides.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_pages.h"

#include "../../src/engine/hg_pages_parse.h"

/* Pages between two looks whether the job is cancelled. */
#define LOOK_PAGES 64

/* Rows of some pages. */
typedef struct PageRows
{
	void *keys;		/* [count] of the job's width */
	uint32_t *rows; /* [count] their numbers */
	uint64_t count; /* 0: there is no memory either */
	uint64_t null_keys;
} PageRows;

/* What is being taken: twice, the first time for the number of rows. */
typedef struct Taking
{
	HgHostPages *pages;
	const HgJobSpec *job;
	HgSide side;
	const HgHost *host;
	HgHostReduce *reduce;
	const HgBroughtPages *copy;
	uint64_t first_page;
	PageRows *taken;
} Taking;

void
hg_host_pages_init(HgHostPages *pages, const HgJobSpec *spec, HgSide side)
{
	memset(pages, 0, sizeof(*pages));
	if (spec->sides[side].kind == HG_SOURCE_PAGES)
		pages->spec = *spec->sides[side].pages;
}

HgStatus
hg_host_pages_bring(const HgHostPages *pages, const HgHost *host, HgSide side, const void *from,
					uint64_t count, HgBroughtPages **copy, HgError *error)
{
	const HgPageSpec *spec = pages->spec.page_size > 0 ? &pages->spec : NULL;
	HgStatus status = hg_pages_append_check(spec, count, 0, error);
	size_t bytes;

	*copy = NULL;
	if (status == HG_OK)
		status = hg_host_check_cancel(host, error);
	if (status != HG_OK)
		return status;
	bytes = sizeof(**copy) + (size_t) count * spec->page_size;
	*copy = host->alloc(host->arg, bytes);
	if (*copy == NULL)
		return HG_OK;
	(*copy)->host = host;
	(*copy)->bytes = bytes;
	(*copy)->side = side;
	(*copy)->count = count;
	memcpy((*copy)->pages, from, bytes - sizeof(**copy));
	return HG_OK;
}

void
hg_host_pages_drop(HgJob *job, HgBroughtPages *copy)
{
	(void) job;
	copy->host->free(copy->host->arg, copy, copy->bytes);
}

/* Have a row with its values, behind those that there are. */
static HgStatus
add_row(Taking *taking, uint32_t row, const HgPageValues *values, HgError *error)
{
	PageRows *taken = taking->taken;
	HgStatus status = HG_OK;

	if (taking->job->key_width == 4)
		((int32_t *) taken->keys)[taken->count] = (int32_t) values->key;
	else
		((int64_t *) taken->keys)[taken->count] = values->key;
	taken->rows[taken->count] = row;
	if (taking->job->sides[taking->side].ncolumns > 0)
		status = hg_host_reduce_add_rows(taking->reduce, taking->side, 1, row, error);
	for (uint32_t i = 0; i < taking->job->sides[taking->side].ncolumns && status == HG_OK; i++)
	{
		const uint8_t null = (values->nulls >> i & 1) != 0;

		status = hg_host_reduce_append(taking->reduce, taking->side, i, &values->columns[i], &null,
									   1, row, error);
	}
	return status;
}

/* Take one page; without memory for its rows they are counted. */
static HgStatus
take_page(Taking *taking, uint64_t page, HgError *error)
{
	const HgPageSpec *spec = &taking->pages->spec;
	const unsigned char *from = taking->copy->pages + page * spec->page_size;
	const uint64_t first_row = (taking->first_page + page) * spec->rows_per_page;
	const bool counting = taking->taken->rows == NULL;
	HgStatus status = HG_OK;
	uint32_t lines;

	if (!hg_page_open(spec, from, &lines))
		taking->pages->bad = true;
	for (uint32_t line = 0; line < lines && !taking->pages->bad && status == HG_OK; line++)
	{
		HgPageValues values;
		const HgPageRow row =
			hg_page_take(spec, taking->job->sides[taking->side].ncolumns, from, line, &values);

		if (row == HG_PAGE_ROW_BAD)
			taking->pages->bad = true;
		if (row == HG_PAGE_ROW_NO_KEY && counting)
			taking->taken->null_keys++;
		if (row != HG_PAGE_ROW_SELECTED)
			continue;
		if (!counting)
			status = add_row(taking, (uint32_t) (first_row + line), &values, error);
		taking->taken->count++;
	}
	return status;
}

static HgStatus
take_pages(Taking *taking, HgError *error)
{
	HgStatus status = HG_OK;

	taking->taken->count = 0;
	for (uint64_t page = 0; page < taking->copy->count && status == HG_OK; page++)
	{
		if (page % LOOK_PAGES == 0)
			status = hg_host_check_cancel(taking->host, error);
		if (status == HG_OK)
			status = take_page(taking, page, error);
	}
	return status;
}

/* Take what was counted. */
static HgStatus
take_counted(Taking *taking, HgError *error)
{
	PageRows *taken = taking->taken;
	const uint64_t count = taken->count;
	const uint64_t key_bytes = count * taking->job->key_width;
	const uint64_t row_bytes = count * sizeof(uint32_t);
	void *rows = NULL;
	HgStatus status = hg_host_memory_alloc(taking->host, key_bytes, &taken->keys, error);

	if (status == HG_OK)
		status = hg_host_memory_alloc(taking->host, row_bytes, &rows, error);
	taken->rows = rows;
	if (status == HG_OK)
		status = take_pages(taking, error);
	if (status == HG_OK)
		return HG_OK;
	hg_host_memory_free(taking->host, taken->keys, key_bytes);
	hg_host_memory_free(taking->host, rows, row_bytes);
	*taken = (PageRows){0};
	return status;
}

HgStatus
hg_host_pages_take(HgHostPages *pages, const HgJobSpec *spec, const HgHost *host,
				   HgHostReduce *reduce, HgHostPieces *pieces, const HgBroughtPages *copy,
				   uint64_t first_page, HgJobStats *stats, HgError *error)
{
	PageRows taken = {0};
	Taking taking = {.pages = pages,
					 .job = spec,
					 .side = copy->side,
					 .host = host,
					 .reduce = reduce,
					 .copy = copy,
					 .first_page = first_page,
					 .taken = &taken};
	HgStatus status = hg_pages_append_check(&pages->spec, copy->count, first_page, error);

	if (status == HG_OK)
		status = hg_host_pieces_reserve(pieces, host, error);
	if (status == HG_OK && !pages->bad)
		status = take_pages(&taking, error);
	if (status == HG_OK && taken.count > 0 && !pages->bad)
		status = take_counted(&taking, error);
	stats->null_keys[copy->side] += taken.null_keys;
	if (status != HG_OK || taken.count == 0 || pages->bad)
		return status;
	pieces->pieces[pieces->count++] =
		(HgFlatRows){.keys = taken.keys, .rows = taken.rows, .count = taken.count};
	stats->rows[copy->side] += taken.count;
	return HG_OK;
}
