/*-------------------------------------------------------------------------
 *
 * hg_wide.h
 *	  An engine that spreads each job over several other engines.
 *
 * It wraps the engines of several devices, which have the calls of hg_exchange.h.  A job is a job
 * on each of them, a member.  Rows are dealt out to the members in turns as they are appended, and
 * exchanged before build, so that each member has all rows of some keys: members send them to each
 * other (hg_offer.h), and what they can't send passes through the caller's memory, a buffer of
 * HG_WIDE_ROWS at most.  Then the members work side by side, where their engines have start().
 *
 * The promises of hg_engine.h hold for such a job, except that export_graph answers HG_INVALID: its
 * graph is in pieces.  It has as many ranges as there are members.  What describe tells
 * is the sum of theirs, and so are the statistics, but for phases, which are those of the member
 * that took longest.  Each member has its share of the job's memory limit, and no keys are
 * vertices (HgJobSpec.direct).  What any member refuses is refused, and what fails for any has
 * failed.
 *
 * Where both sides are graph replicas, and one at least is cut into slices, of which each engine
 * has one (HgJobSpec.slices), each member joins its own, and no row is exchanged.
 *
 * SHARES of rows are equal ones where members have room for about as many, and else in proportion
 * to that room (hg_exchange_ranges_share): a job fits then where all of them together have room for
 * it.
 *
 * With one engine there is one member, which is a job as it was asked for, and exchanges nothing.
 *
 * Members are opened in the order of the engines, which is to be the same for all that open any: so
 * no two jobs wait each for one that the other has.
 *
 * HOST MEMORY.  Some 100 kB for each member, the buffer of the exchange while that is used, and the
 * records of all groups, of which there are max_groups at most and one; while these are merged, as
 * much again, and a few thousand records.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIDE_H
#define HG_WIDE_H

#include "hg_exchange.h"

/* Rows of a side that a member is dealt in turn, as its numbers go. */
#define HG_WIDE_DEAL_ROWS 16384

/* Rows that are exchanged at a time, at most. */
#define HG_WIDE_ROWS 65536

typedef struct HgWide
{
	HgEngine engine; /* first: engine calls get its address */
	uint32_t members;
	uint32_t deal_rows;
	HgEngine *(*target)(void *arg, uint32_t member);
	uint64_t (*room)(void *arg, uint32_t member); /* or NULL: they are alike */
	void *arg;
	uint32_t called; /* of a job of slices: the member that was called last, or whose call failed */
} HgWide;

/*
 * Set up *wide, whose engine then opens jobs of 1 to HG_MAX_MEMBERS members; it must outlive them.
 * target(arg, member) is called whenever a member is to be opened, and returns its engine, or NULL
 * where it is gone (HG_CONNECTION_LOST).  Its append_rows must have taken a copy of the keys when
 * it returns.  deal_rows is HG_WIDE_DEAL_ROWS but in tests.  wide->room can be set afterwards, to
 * what tells, when a job is to be opened, how many bytes of it a member has memory for.
 */
extern void hg_wide_init(HgWide *wide, const char *name, uint32_t members, uint32_t deal_rows,
						 HgEngine *(*target)(void *arg, uint32_t member), void *arg);

#endif /* HG_WIDE_H */
