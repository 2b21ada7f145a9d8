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

#include "../../src/engine/hg_host_memory.h"
#include "../../src/engine/hg_pages_parse.h"

/* Pages between two looks whether the job is cancelled. */
#define LOOK_PAGES 64

/* What is being taken: twice, the first time for the number of rows. */
typedef struct Taking
{
	HgHostPages *pages;
	const HgJobSpec *job;
	HgSide side;
	const HgHost *host;
	HgHostReduce *reduce;
	const unsigned char *copy; /* of the pages */
	uint64_t count;			   /* of them */
	uint64_t first_page;
	HgHostPageRows *taken;
} Taking;

void
hg_host_pages_init(HgHostPages *pages, const HgJobSpec *spec, HgSide side)
{
	memset(pages, 0, sizeof(*pages));
	if (spec->pages[side] != NULL)
		pages->spec = *spec->pages[side];
}

/* Have a row with its values, behind those that there are. */
static HgStatus
add_row(Taking *taking, uint32_t row, const HgPageValues *values, HgError *error)
{
	HgHostPageRows *taken = taking->taken;
	HgStatus status = HG_OK;

	if (taking->job->key_width == 4)
		((int32_t *) taken->keys)[taken->count] = (int32_t) values->key;
	else
		((int64_t *) taken->keys)[taken->count] = values->key;
	taken->rows[taken->count] = row;
	if (taking->job->ncolumns[taking->side] > 0)
		status = hg_host_reduce_add_rows(taking->reduce, taking->side, 1, row, error);
	for (uint32_t i = 0; i < taking->job->ncolumns[taking->side] && status == HG_OK; i++)
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
	const unsigned char *from = taking->copy + page * spec->page_size;
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
			hg_page_take(spec, taking->job->ncolumns[taking->side], from, line, &values);

		if (row == HG_PAGE_ROW_BAD)
			taking->pages->bad = true;
		if (row == HG_PAGE_ROW_NO_KEY && counting)
			taking->taken->null_keys++;
		if (row != HG_PAGE_ROW_WANTED)
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
	for (uint64_t page = 0; page < taking->count && status == HG_OK; page++)
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
	HgHostPageRows *taken = taking->taken;
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
	*taken = (HgHostPageRows){0};
	return status;
}

HgStatus
hg_host_pages_take(HgHostPages *pages, const HgJobSpec *spec, HgSide side, const HgHost *host,
				   HgHostReduce *reduce, const void *from, uint64_t count, uint64_t first_page,
				   HgHostPageRows *taken, HgError *error)
{
	const uint64_t bytes = count * pages->spec.page_size;
	void *copy = NULL;
	Taking taking = {.pages = pages,
					 .job = spec,
					 .side = side,
					 .host = host,
					 .reduce = reduce,
					 .count = count,
					 .first_page = first_page,
					 .taken = taken};
	HgStatus status;

	*taken = (HgHostPageRows){0};
	if (count == 0 || pages->bad)
		return HG_OK;
	status = hg_host_memory_alloc(host, bytes, &copy, error);
	if (status != HG_OK)
		return status;
	memcpy(copy, from, (size_t) bytes);
	taking.copy = copy;
	status = take_pages(&taking, error);
	if (status == HG_OK && taken->count > 0 && !pages->bad)
		status = take_counted(&taking, error);
	if (pages->bad)
		taken->count = 0;
	hg_host_memory_free(host, copy, bytes);
	return status;
}
