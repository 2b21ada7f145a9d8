/*-------------------------------------------------------------------------
 *
 * hg_pages.h
 *	  Sides of joins that come as pages of a table, from which the engine takes the rows.
 *
 * The caller need not take the keys of a side out of a table itself.  It can give the engine the
 * table's pages as they are, and say where key and columns are and which rows it needs
 * (HG_SOURCE_PAGES).  Copying a page costs the caller a fraction of parsing it.
 *
 *	open -> { append_pages* (a side that comes as pages), append* (the other) } -> build -> ...
 *
 * PAGES are those of PostgreSQL's heap, in the byte order of this machine, of HgPageSpec.page_size
 * bytes.  Every row in a page counts: the caller gives only pages whose rows are all visible.  A
 * page of zeros has no rows.
 *
 * ROWS.  The caller gives each page an ordinal, once, in any order.  The row of line pointer n,
 * from 1, of a page has the number
 *
 *	ordinal * rows_per_page + n - 1
 *
 * which matches return; it is below HG_MAX_ROWS.  Rows whose key is NULL, and rows that do not
 * pass all quals, are not rows of the job and not in HgJobStats.rows.  Rows that pass the quals
 * but have no key are in HgJobStats.null_keys.  The rows are known once build has returned;
 * numbers in between have no row.
 *
 * VALUES.  Key and columns are attributes of the table that have the same width in all rows.  A
 * row that was stored before an attribute was added has the value that the HgPageAttribute says.
 * The key is a signed integer of 2, 4 or 8 bytes, widened to the job's key width.  Values of
 * columns are those of the attributes, bit for bit, and come with the rows: append_column is not
 * called for this side.
 *
 * QUALS compare an attribute, an integer, with a constant, or test it for NULL.  Attributes that
 * are not integers can only be tested for NULL.  A NULL passes no comparison.
 *
 * DAMAGED PAGES, and data that is no page of such a table, do no harm: nothing beyond the page is
 * read, and build answers HG_BAD_PAGE, after which only close is allowed.  The caller then reads
 * the pages itself.  The engine does not find all damage: it checks what it reads to find key,
 * columns and attributes of quals.
 *
 * PARTICIPANTS can have such sides (HgJobSpec.participants_id): each appends pages with ordinals
 * of its own.  Most of the engine's work is then copying pages, which it can do for several
 * participants at a time:
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

/* Least and greatest page size; sizes are powers of two. */
#define HG_PAGES_LEAST_SIZE 1024
#define HG_PAGES_MOST_SIZE 32768

/* Maximum number of attributes, up to the last one that is read, and of quals. */
#define HG_PAGES_MAX_ATTRIBUTES 64
#define HG_PAGES_MAX_QUALS 8

/* Values of HgPageAttribute.length for a varlena and for a string that ends with a 0. */
#define HG_PAGES_VARLENA (-1)
#define HG_PAGES_CSTRING (-2)

	/* An attribute of a table. */
	typedef struct HgPageAttribute
	{
		int16_t length; /* in bytes, or one of the two values above */
		uint8_t align;	/* 1, 2, 4 or 8; for a varlena 4 or 8 */
		uint8_t stored; /* not 0: a row without it has the value missing; 0: it has NULL */
		uint32_t unused;
		uint64_t missing; /* of 1, 2, 4 or 8 bytes, extended with zeros */
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
		uint16_t attribute; /* index, from 0; of 1, 2, 4 or 8 bytes if it is compared */
		uint8_t operation;	/* HgPageOperator */
		uint8_t is_signed;	/* 1: both operands are two's complement, 0: unsigned */
		uint32_t unused;
		uint64_t constant;
	} HgPageQual;

	/* Layout of pages, and what to read.  Attributes count from 0.  The struct has no holes. */
	typedef struct HgPageSpec
	{
		uint32_t page_size;
		uint32_t rows_per_page; /* stride of row numbers: see above */
		uint16_t natts; /* number of attributes described, up to the last one that is read */
		uint16_t key;	/* an attribute of 2, 4 or 8 bytes, no wider than the job's keys */
		uint16_t nquals;
		uint16_t unused;
		uint16_t columns[HG_MAX_COLUMNS]; /* for each column an attribute of its width */
		HgPageQual quals[HG_PAGES_MAX_QUALS];
		HgPageAttribute attributes[HG_PAGES_MAX_ATTRIBUTES];
	} HgPageSpec;

	/* Bytes of a page header, a line pointer and a row header, and the alignment of rows. */
#define HG_PAGES_HEADER 24
#define HG_PAGES_LINE 4
#define HG_PAGES_ROW_HEADER 23
#define HG_PAGES_ROW_ALIGN 8

	/* Maximum line pointers, and so rows, of a page: no row takes less than 24 bytes. */
#define HG_PAGES_MOST_LINES(page_size) (((page_size) -HG_PAGES_HEADER) / (24 + HG_PAGES_LINE))

	/* Returns the maximum number of rows that a page gives. */
	static inline uint32_t
	hg_pages_most_rows(const HgPageSpec *pages)
	{
		const uint32_t lines = HG_PAGES_MOST_LINES(pages->page_size);

		return lines < pages->rows_per_page ? lines : pages->rows_per_page;
	}

	/* Returns true if a side of the job comes as pages. */
	static inline bool
	hg_pages_are_there(const HgJobSpec *spec)
	{
		return spec->sides[HG_OUTER].kind == HG_SOURCE_PAGES ||
			   spec->sides[HG_INNER].kind == HG_SOURCE_PAGES;
	}

	/* Checks that a side can come as pages.  Returns HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_pages_side_check(const HgJobSpec *spec, HgSide side, HgError *error);

	/*
	 * Checks the ordinals of pages that are appended to a side.  HG_INVALID if the side does not
	 * come as pages (pages is NULL), HG_TOO_MANY_ROWS if row numbers would reach HG_MAX_ROWS.
	 */
	extern HgStatus hg_pages_append_check(const HgPageSpec *pages, uint64_t count,
										  uint64_t first_page, HgError *error);

	/* Returns true if both sides have the same layout, or neither comes as pages (NULL). */
	extern bool hg_pages_equal(const HgPageSpec *a, const HgPageSpec *b);

	/* Sets the error of a damaged page, HG_BAD_PAGE, and returns it. */
	extern HgStatus hg_pages_bad(HgError *error);

	/* The calls for sides that come as pages. */
	typedef struct HgPageCalls
	{
		/*
		 * For a side of pages, before build: adds count whole pages with ordinals from
		 * first_page on.  The array may be reused when the call returns.  HG_TOO_MANY_ROWS if row
		 * numbers would reach HG_MAX_ROWS.
		 */
		HgStatus (*append_pages)(HgJob *job, HgSide side, const void *pages, uint64_t count,
								 uint64_t first_page, HgError *error);
	} HgPageCalls;

	/* append_pages in two steps, for threads that take turns on one job. */
	typedef struct HgBroughtCalls
	{
		/*
		 * First step of an append_pages in two steps, for threads that take turns on one job:
		 * copies pages out of turn.  Any number of threads may call it at the same time, while
		 * another thread makes any call on the job except open and close.  Each thread has its own
		 * host, whose memory and cancelled() are used, and which outlives the pages brought.  The
		 * array may be reused when the call returns.  HG_OK with *brought NULL means that there is
		 * no room now: the caller calls append_pages instead.
		 */
		HgStatus (*bring_pages)(HgJob *job, const HgHost *host, HgSide side, const void *pages,
								uint64_t count, HgBroughtPages **brought, HgError *error);

		/*
		 * Second step: does what append_pages does, with pages that were brought and have ordinals
		 * from first_page on.  The pages are freed, whatever it answers.
		 */
		HgStatus (*take_pages)(HgJob *job, HgBroughtPages *brought, uint64_t first_page,
							   HgError *error);

		/*
		 * Frees pages that were brought, at any time and by any thread.  Before close all pages
		 * brought are either taken or dropped.
		 */
		void (*drop_pages)(HgJob *job, HgBroughtPages *brought);
	} HgBroughtCalls;

#define HG_BROUGHT_CALLS(prefix)                                                                   \
	{                                                                                              \
		.bring_pages = prefix##_bring_pages, .take_pages = prefix##_take_pages,                    \
		.drop_pages = prefix##_drop_pages                                                          \
	}

#ifdef __cplusplus
}
#endif

#endif /* HG_PAGES_H */
