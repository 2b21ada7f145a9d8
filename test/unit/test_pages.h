/*-------------------------------------------------------------------------
 *
 * test_pages.h
 *	  Pages of PostgreSQL's heap, written for tests, and sides of joins that come as such.
 *
 * What is written shares nothing with what takes it apart but what a table's attributes are
 * (hg_pages.h).
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

/* Attributes that a table of tests has at most. */
#define TEST_PAGE_ATTRIBUTES 80

	/* How a varlena is stored. */
	typedef enum TestVarlena
	{
		TEST_VARLENA_SHORT = 0,
		TEST_VARLENA_LONG,
		TEST_VARLENA_COMPRESSED,
		TEST_VARLENA_ON_DISK, /* a pointer to it */
		TEST_VARLENAS
	} TestVarlena;

	/* What an attribute has in a row. */
	typedef struct TestPageValue
	{
		bool null;
		uint64_t bits;	/* of one of up to 8 bytes; other bytes are anything */
		uint32_t bytes; /* behind the header of a varlena, before the 0 of a string */
		TestVarlena kind;
	} TestPageValue;

	/* A page without rows. */
	extern void test_page_init(unsigned char *page, uint32_t size);

	/*
	 * Store a row with so many attributes, whose header ends so many bytes late; returns its line
	 * pointer, from 0, or -1 where it has no room.
	 */
	extern int test_page_add_row(unsigned char *page, uint32_t size,
								 const HgPageAttribute *attributes, uint32_t natts,
								 const TestPageValue *values, uint32_t late);

	/* A line pointer without a row: 0 unused, 2 redirected, 3 dead.  Returns as the above. */
	extern int test_page_add_line(unsigned char *page, uint32_t size, uint32_t state);

	/* Set a line pointer. */
	extern void test_page_set_line(unsigned char *page, uint32_t line, uint32_t offset,
								   uint32_t state, uint32_t length);

	/* How a side's rows lie in pages. */
	typedef struct TestPagesForm
	{
		uint32_t page_size; /* 0: 8192 */
		uint32_t stride;	/* rows_per_page; 0: what a page can have */
		uint32_t key_bytes; /* 0: the key attribute is as wide as the keys */
		uint32_t nquals;
		uint32_t run; /* pages that one call brings; 0: a few */
		uint32_t
			noise;	/* of a hundred line pointers so many are of rows that do not count, or none */
		bool plain; /* nothing but key and columns, none of which is missing */
	} TestPagesForm;

	/*
	 * Put the rows of a side that is created, of way TEST_REPLICA_PAGES, into pages: from then on
	 * they have the numbers that they have there.
	 */
	extern void test_pages_make(TestReplicaSide *side, const TestPagesForm *form, uint64_t *state);

#ifdef __cplusplus
}
#endif

#endif /* TEST_PAGES_H */
