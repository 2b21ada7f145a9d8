/*-------------------------------------------------------------------------
 *
 * hg_pages.h
 *	  Sides of joins that come as pages of a table, out of which the engine takes the rows.
 *
 * A side need not be keys that its caller has taken out of a table: he can give the table's pages
 * as they are, and say where in them the key and the columns are and which rows he wants
 * (HgJobSpec.pages).  To copy a page costs him a fraction of what it costs to take it apart.
 *
 *	open -> { append_pages* (a side that comes as pages), append* (another one) } -> build -> ...
 *
 * PAGES are those of PostgreSQL's heap, in the byte order of this machine, each of HgPageSpec's
 * size.  Every row that is in one counts: that all of them are to be seen is the caller's business,
 * who gives pages of which he knows it.  A page that is all zeros has no rows.
 *
 * ROWS.  A page has an ordinal, which the caller gives it; each is given once, in any order.  The
 * row of a page's line pointer n, from 1, has the number
 *
 *	ordinal * rows_per_page + n - 1
 *
 * which is what matches tell; it is below HG_MAX_ROWS.  Rows whose key is NULL, and those that do
 * not pass all of the quals, are not among the job's rows, nor counted in HgJobStats.rows; those
 * that pass, but have no key, are in HgJobStats.null_keys.  Which rows there are is known once
 * build has returned; numbers between theirs are nobody's.
 *
 * VALUES.  Key and columns are attributes of the table that have the same width in all rows.  A
 * row may have been stored before the table had as many attributes as it has now: it has of those
 * that came later what their HgPageAttribute says.  The key is a signed integer of 2, 4 or 8
 * bytes, and becomes as wide as the job's keys.  The values of columns are those of the attributes,
 * bit for bit.  They are there when the rows are: append_column is not for this side.
 *
 * QUALS compare an attribute, an integer, with a constant, or ask whether it is NULL, which is all
 * that can be asked of an attribute of another kind.  A NULL passes no comparison.
 *
 * A PAGE THAT MAKES NO SENSE, because it is damaged or no page of such a table, does no harm:
 * nothing beyond it is read, and build answers HG_BAD_PAGE, after which only close is left.  It is
 * for the caller then to read the pages himself.  Not everything that is wrong with a page makes
 * it one of no sense: what it takes to find key, columns and what quals ask for is looked at.
 *
 * PARTICIPANTS can have such sides (HgJobSpec.participants_id): each member appends pages of
 * ordinals of its own.  Most of what that takes an engine is to copy them, which it may do for
 * several at a time:
 *
 *	bring_pages (any thread, at any time) -> { take_pages (in its turn) | drop_pages (at any time) }
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGES_H
#define HG_PAGES_H

#include "hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Sizes that pages can have, of which all powers of two between are some. */
#define HG_PAGES_LEAST_SIZE 1024
#define HG_PAGES_MOST_SIZE 32768

/* Attributes before and up to the last one that is wanted, and quals, at most. */
#define HG_PAGES_MAX_ATTRIBUTES 64
#define HG_PAGES_MAX_QUALS 8

/* Instead of the bytes of an attribute: its values begin with their length, or end with a 0. */
#define HG_PAGES_VARLENA (-1)
#define HG_PAGES_CSTRING (-2)

	/* An attribute of a table. */
	typedef struct HgPageAttribute
	{
		int16_t length; /* in bytes, or one of the two above */
		uint8_t align;	/* 1, 2, 4 or 8; 4 or 8 of a varlena */
		uint8_t stored; /* not 0: a row without it has missing; else it has NULL there */
		uint32_t unused;
		uint64_t missing; /* of 1, 2, 4 or 8 bytes: with zeros before it */
	} HgPageAttribute;

	typedef enum HgPageOperator
	{
		HG_PAGE_LESS = 0,
		HG_PAGE_LESS_EQUAL,
		HG_PAGE_EQUAL,
		HG_PAGE_NOT_EQUAL,
		HG_PAGE_GREATER_EQUAL,
		HG_PAGE_GREATER,
		HG_PAGE_IS_NULL,
		HG_PAGE_IS_NOT_NULL,
		HG_PAGE_OPERATORS /* number of operators, not one */
	} HgPageOperator;

	typedef struct HgPageQual
	{
		uint16_t attribute; /* from 0, of 1, 2, 4 or 8 bytes where it is compared */
		uint8_t operation;	/* HgPageOperator */
		uint8_t is_signed;	/* 1: both sides are in two's complement, 0: they are not */
		uint32_t unused;
		uint64_t constant;
	} HgPageQual;

	/* What pages are, and what is wanted of them; attributes count from 0.  It has no holes. */
	typedef struct HgPageSpec
	{
		uint32_t page_size;
		uint32_t rows_per_page; /* a stride: see above */
		uint16_t natts;			/* attributes that are told, up to the last one that is wanted */
		uint16_t key;			/* an attribute of 2, 4 or 8 bytes, no wider than the job's keys */
		uint16_t nquals;
		uint16_t unused;
		uint16_t columns[HG_MAX_COLUMNS]; /* an attribute of the column's width for each */
		HgPageQual quals[HG_PAGES_MAX_QUALS];
		HgPageAttribute attributes[HG_PAGES_MAX_ATTRIBUTES];
	} HgPageSpec;

	/* What of a page there is before its line pointers, and of a row before its null bitmap. */
#define HG_PAGES_HEADER 24
#define HG_PAGES_LINE 4
#define HG_PAGES_ROW_HEADER 23
#define HG_PAGES_ROW_ALIGN 8

	/* Line pointers that a page can have, and so rows, at most: no row takes less than 24 bytes. */
#define HG_PAGES_MOST_LINES(page_size) (((page_size) -HG_PAGES_HEADER) / (24 + HG_PAGES_LINE))

	/* Rows that a page gives, at most. */
	static inline uint32_t
	hg_pages_most_rows(const HgPageSpec *pages)
	{
		const uint32_t lines = HG_PAGES_MOST_LINES(pages->page_size);

		return lines < pages->rows_per_page ? lines : pages->rows_per_page;
	}

	/* Does a side of a job come as pages, or one at all? */
	static inline bool
	hg_pages_are_there(const HgJobSpec *spec)
	{
		return spec->pages[HG_OUTER] != NULL || spec->pages[HG_INNER] != NULL;
	}

	/* Can a side come as pages?  HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_pages_side_check(const HgJobSpec *spec, HgSide side, HgError *error);

	/*
	 * Can pages of a side be appended, as far as their ordinals go?  HG_INVALID where the side, if
	 * there is such a one, does not come as pages, and HG_TOO_MANY_ROWS where row numbers would
	 * reach HG_MAX_ROWS.
	 */
	extern HgStatus hg_pages_append_check(const HgPageSpec *pages, uint64_t count,
										  uint64_t first_page, HgError *error);

	/* Do two sides come in the same way? */
	extern bool hg_pages_equal(const HgPageSpec *a, const HgPageSpec *b);

	/* What build answers where a page makes no sense. */
	extern HgStatus hg_pages_bad(HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_PAGES_H */
