/*-------------------------------------------------------------------------
 *
 * hg_exchange_ranges.h
 *	  Which rows of a job go where, when several devices have it together.
 *
 * The vertex of a row is made of the first bits of its mixed word (hg_hash.h), and so is any
 * coarser bin.  Each device, a member, gets the rows of consecutive bins, and with them a range of
 * vertices: what is built there of both sides joins by itself.  The ranges differ in width, not in
 * rows, as far as bins can be parted at all: rows of one bin stay together.
 * (A. Tripathy, O. Green, "Scalable Hash Table for NUMA Systems", 2021.)
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_EXCHANGE_RANGES_H
#define HG_EXCHANGE_RANGES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/* Devices that have a job together, at most. */
#define HG_EXCHANGE_MEMBERS 8

/* Bins that ranges are made of, as a power of two, at most; there are more where members are. */
#define HG_EXCHANGE_MAX_LOG2 10

	/* How many bins, as a power of two, ranges of so many members are made of. */
	extern uint32_t hg_exchange_ranges_log2(uint32_t members);

	/*
	 * Part bins, or whatever rows are counted by, into ranges: member m gets ends[m - 1] (0 for
	 * the first) to ends[m] - 1, of as many as rows[bins] tell the rows of both sides of.  Each
	 * member's rows come as near to an equal share as whole bins allow; any of them may get none.
	 */
	extern void hg_exchange_ranges_balance(const uint64_t *rows, uint32_t bins, uint32_t members,
										   uint32_t *ends);

	/*
	 * The same, but that all ranges are as wide where members are a power of two and it leaves
	 * none of them more than an eighth above its share.
	 */
	extern void hg_exchange_ranges_choose(const uint64_t *rows, uint32_t bins, uint32_t members,
										  uint32_t *ends);

#ifdef __cplusplus
}
#endif

#endif /* HG_EXCHANGE_RANGES_H */
