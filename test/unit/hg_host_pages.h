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
#include "hg_host_pieces.h"
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

	/* Pages in memory of a host. */
	struct HgBroughtPages
	{
		const HgHost *host;
		size_t bytes; /* of all of it */
		HgSide side;
		uint64_t count;
		unsigned char pages[];
	};

	extern void hg_host_pages_init(HgHostPages *pages, const HgJobSpec *spec, HgSide side);

	/*
	 * Copy pages, as others may write to them: *copy is NULL where the host has no memory, or they
	 * can't be appended.
	 */
	extern HgStatus hg_host_pages_bring(const HgHostPages *pages, const HgHost *host, HgSide side,
										const void *from, uint64_t count, HgBroughtPages **copy,
										HgError *error);

	/* Let go of them, whichever job they were for. */
	extern void hg_host_pages_drop(HgJob *job, HgBroughtPages *copy);

	/*
	 * Take copied pages apart: their rows become a piece behind the others, with their columns'
	 * values, and are counted in stats.  Those that make no sense are noted, and give no rows.
	 */
	extern HgStatus hg_host_pages_take(HgHostPages *pages, const HgJobSpec *spec,
									   const HgHost *host, HgHostReduce *reduce,
									   HgHostPieces *pieces, const HgBroughtPages *copy,
									   uint64_t first_page, HgJobStats *stats, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_PAGES_H */
