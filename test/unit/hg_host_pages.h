/*-------------------------------------------------------------------------
 *
 * hg_host_pages.h
 *	  Rows out of pages of a table, on the host, for an engine of tests that has such sides.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_PAGES_H
#define HG_HOST_PAGES_H

#include "../../src/engine/hg_pages.h"
#include "hg_host_reduce.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* How a side comes: page_size 0 where it does not come as pages. */
	typedef struct HgHostPages
	{
		HgPageSpec spec;
		bool bad; /* one of them makes no sense */
	} HgHostPages;

	/* Rows of some pages, in memory of a host: keys and rows end up with whoever had them taken. */
	typedef struct HgHostPageRows
	{
		void *keys;		/* [count] of the job's width */
		uint32_t *rows; /* [count] their numbers */
		uint64_t count; /* 0: there is no memory either */
		uint64_t null_keys;
	} HgHostPageRows;

	extern void hg_host_pages_init(HgHostPages *pages, const HgJobSpec *spec, HgSide side);

	/*
	 * Take pages apart, with their columns' values; those that make no sense are noted, and give no
	 * rows.  They are copied first, as others may write to them meanwhile.
	 */
	extern HgStatus hg_host_pages_take(HgHostPages *pages, const HgJobSpec *spec, HgSide side,
									   const HgHost *host, HgHostReduce *reduce, const void *from,
									   uint64_t count, uint64_t first_page, HgHostPageRows *taken,
									   HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_PAGES_H */
