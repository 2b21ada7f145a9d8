/*-------------------------------------------------------------------------
 *
 * hg_pages.c
 *	  Checks of sides that come as pages of a table, common to all engines.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_pages.h"

#include "hg_replica.h"

#include <string.h>

static HgStatus
invalid(HgError *error, const char *message)
{
	return hg_error_set(error, HG_INVALID, NULL, "%s", message);
}

static bool
is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

/* Returns true if an attribute has the width of an integer. */
static bool
is_number(const HgPageAttribute *attribute)
{
	return attribute->length > 0 && attribute->length <= 8 &&
		   is_power_of_two((uint32_t) attribute->length);
}

static HgStatus
check_attribute(const HgPageAttribute *attribute, HgError *error)
{
	const bool varies = attribute->length == HG_PAGES_VARLENA;

	if (attribute->length == 0 || attribute->length < HG_PAGES_CSTRING)
		return invalid(error, "an attribute of pages has no such length");
	if (!is_power_of_two(attribute->align) || attribute->align > 8 ||
		(varies && attribute->align < 4))
		return invalid(error, "an attribute of pages is not aligned so");
	/* the value of a row without the attribute is as wide as the column */
	if (is_number(attribute) && attribute->length < 8 &&
		attribute->missing >> (8 * attribute->length) != 0)
		return invalid(error, "what pages miss of an attribute is wider than that");
	return HG_OK;
}

static HgStatus
check_qual(const HgPageSpec *pages, const HgPageQual *qual, HgError *error)
{
	if (qual->attribute >= pages->natts)
		return invalid(error, "a qual of pages needs an attribute that is not described");
	if (qual->operation >= HG_PAGE_OPERATORS || qual->is_signed > 1)
		return invalid(error, "a qual of pages has an unknown operator");
	if (qual->operation < HG_PAGE_IS_NULL && !is_number(&pages->attributes[qual->attribute]))
		return invalid(error, "a qual of pages compares what is no integer");
	return HG_OK;
}

static HgStatus
check_layout(const HgPageSpec *pages, HgError *error)
{
	if (!is_power_of_two(pages->page_size) || pages->page_size < HG_PAGES_LEAST_SIZE ||
		pages->page_size > HG_PAGES_MOST_SIZE)
		return hg_error_set(error, HG_INVALID, NULL, "pages can not be of %u bytes",
							pages->page_size);
	if (pages->rows_per_page == 0)
		return invalid(error, "pages must have room for a row");
	if (pages->natts == 0 || pages->natts > HG_PAGES_MAX_ATTRIBUTES)
		return hg_error_set(error, HG_INVALID, NULL, "%u attributes of pages cannot be described",
							(unsigned) pages->natts);
	if (pages->nquals > HG_PAGES_MAX_QUALS)
		return hg_error_set(error, HG_INVALID, NULL, "too many quals of pages: %u",
							(unsigned) pages->nquals);
	return HG_OK;
}

/* Checks that key and columns of a side are attributes of suitable width. */
static HgStatus
check_columns(const HgJobSpec *spec, HgSide side, HgError *error)
{
	const HgPageSpec *pages = spec->sides[side].pages;
	const HgPageAttribute *key = &pages->attributes[pages->key % HG_PAGES_MAX_ATTRIBUTES];

	if (pages->key >= pages->natts || !is_number(key) || key->length < 2 ||
		(uint32_t) key->length > spec->key_width)
		return invalid(error, "the key of pages is no attribute that can be one");
	for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
		if (pages->columns[column] >= pages->natts ||
			pages->attributes[pages->columns[column]].length !=
				spec->sides[side].column_width[column])
			return invalid(error, "a column of pages is no attribute of its width");
	return HG_OK;
}

HgStatus
hg_pages_side_check(const HgJobSpec *spec, HgSide side, HgError *error)
{
	const HgPageSpec *pages = spec->sides[side].pages;
	HgStatus status = check_layout(pages, error);

	for (uint32_t i = 0; status == HG_OK && i < pages->natts; i++)
		status = check_attribute(&pages->attributes[i], error);
	for (uint32_t i = 0; status == HG_OK && i < pages->nquals; i++)
		status = check_qual(pages, &pages->quals[i], error);
	return status == HG_OK ? check_columns(spec, side, error) : status;
}

HgStatus
hg_pages_append_check(const HgPageSpec *pages, uint64_t count, uint64_t first_page, HgError *error)
{
	uint64_t most;

	if (pages == NULL)
		return invalid(error, "this side of the join does not come as pages");
	most = HG_MAX_ROWS / pages->rows_per_page;
	if (first_page > most || count > most - first_page)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	return HG_OK;
}

bool
hg_pages_equal(const HgPageSpec *a, const HgPageSpec *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return memcmp(a, b, sizeof(*a)) == 0;
}

HgStatus
hg_pages_bad(HgError *error)
{
	return hg_error_set(error, HG_BAD_PAGE, NULL, "a page of the table makes no sense");
}
