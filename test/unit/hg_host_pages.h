/*-------------------------------------------------------------------------
 *
 * hg_host_pages.h
 *	  Rows from pages of a relation, on the host, for a test engine with such sides.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_PAGES_H
#define HG_HOST_PAGES_H

#include "../../src/engine/hg_pages.h"
#include "hg_host_pieces.h"
#include "hg_host_reduce.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* How a side comes: page_size is 0 if it does not come as pages. */
	typedef struct HgHostPages
	{
		HgPageSpec spec;
		bool bad; /* a page is invalid */
	} HgHostPages;

	/* Copied pages, in memory of a host. */
	struct HgBroughtPages
	{
		const HgHost *host;
		size_t bytes; /* of the whole struct */
		HgSide side;
		uint64_t count;
		unsigned char pages[];
	};

	/* Initializes a side by its spec. */
	extern void hg_host_pages_init(HgHostPages *pages, const HgJobSpec *spec, HgSide side);

	/*
	 * Copies pages, since others may write to them.  *copy is NULL if the host has no memory, or
	 * if the pages can't be appended.  The caller drops it.
	 */
	extern HgStatus hg_host_pages_bring(const HgHostPages *pages, const HgHost *host, HgSide side,
										const void *from, uint64_t count, HgBroughtPages **copy,
										HgError *error);

	/* Frees copied pages.  job is not used. */
	extern void hg_host_pages_drop(HgJob *job, HgBroughtPages *copy);

	/*
	 * Parses copied pages.  Their rows are appended to pieces, with the values of their columns,
	 * and are counted in stats.  An invalid page sets pages->bad, and then no rows are appended.
	 */
	extern HgStatus hg_host_pages_take(HgHostPages *pages, const HgJobSpec *spec,
									   const HgHost *host, HgHostReduce *reduce,
									   HgHostPieces *pieces, const HgBroughtPages *copy,
									   uint64_t first_page, HgJobStats *stats, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_PAGES_H */
