/*-------------------------------------------------------------------------
 *
 * test_pages.h
 *	  Pages of PostgreSQL's heap, written for tests, and sides of joins that come as pages.
 *
 * The code that writes pages shares nothing with the code that parses them, except the attributes
 * of a relation (hg_pages.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_PAGES_H
#define TEST_PAGES_H

#include "test_replica_side.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Most attributes of a test's relation. */
#define TEST_PAGE_ATTRIBUTES 80

	/* The storage of a varlena. */
	typedef enum TestVarlena
	{
		TEST_VARLENA_SHORT = 0,
		TEST_VARLENA_LONG,
		TEST_VARLENA_COMPRESSED,
		TEST_VARLENA_ON_DISK, /* a TOAST pointer */
		TEST_VARLENAS
	} TestVarlena;

	/* The value of an attribute in a row. */
	typedef struct TestPageValue
	{
		bool null;
		uint64_t bits;	/* value of up to 8 bytes; further bytes are undefined */
		uint32_t bytes; /* behind the header of a varlena, or before the 0 of a string */
		TestVarlena kind;
	} TestPageValue;

	/* Makes a page without rows. */
	extern void test_page_init(unsigned char *page, uint32_t size);

	/*
	 * Adds a row with natts attributes, whose data begin late bytes later than necessary.  Returns
	 * its line pointer, from 0, or -1 if it does not fit.
	 */
	extern int test_page_add_row(unsigned char *page, uint32_t size,
								 const HgPageAttribute *attributes, uint32_t natts,
								 const TestPageValue *values, uint32_t late);

	/* Adds a line pointer without a row: 0 unused, 2 redirected, 3 dead.  Returns as above. */
	extern int test_page_add_line(unsigned char *page, uint32_t size, uint32_t state);

	/* Sets a line pointer. */
	extern void test_page_set_line(unsigned char *page, uint32_t line, uint32_t offset,
								   uint32_t state, uint32_t length);

	/* How a side's rows are stored in pages. */
	typedef struct TestPagesForm
	{
		uint32_t page_size; /* 0: 8192 */
		uint32_t stride;	/* rows_per_page; 0: the most that a page can have */
		uint32_t key_bytes; /* 0: the key attribute is as wide as the keys */
		uint32_t nquals;
		uint32_t run;	/* pages that one call brings; 0: a few */
		uint32_t noise; /* percentage of line pointers without a row of the side */
		bool plain;		/* key and columns only, none of which is missing */
	} TestPagesForm;

	/*
	 * Stores the rows of a side of way TEST_REPLICA_PAGES, which has been created, in pages.  The
	 * numbers of its rows become those of their line pointers.
	 */
	extern void test_pages_make(TestReplicaSide *side, const TestPagesForm *form, uint64_t *state);

#ifdef __cplusplus
}
#endif

#endif /* TEST_PAGES_H */
