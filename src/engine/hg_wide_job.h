/*-------------------------------------------------------------------------
 *
 * hg_wide_job.h
 *	  A job that is spread over several engines, and what is done with all of its members.
 *
 *	hg_wide.c			the calls of hg_engine.h
 *	hg_wide_members.c	what each member is given
 *	hg_wide_exchange.c	rows to the members that join them
 *	hg_wide_groups.c	groups of several members become one
 *	hg_wide_slices.c	graph replicas of which each member has a slice
 *
 * The first of these stands above the others, which know nothing of each other.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIDE_JOB_H
#define HG_WIDE_JOB_H

#include "hg_exchange_ranges.h"
#include "hg_replica.h"
#include "hg_wide.h"
#include "hg_wrapped_job.h"

typedef struct HgWideMember
{
	HgEngine calls; /* of the engine that it belongs to */
	HgJob *job;
} HgWideMember;

/* Groups of all members, merged. */
typedef struct HgWideGroups
{
	HgReduceSpec spec;
	uint32_t words; /* of a record; 0 where no groups were made */
	uint64_t *records;
	uint64_t capacity;
	uint64_t count;
	uint64_t next; /* the group to be delivered next */
} HgWideGroups;

/* The rows of a side, and, by the number of a lookup and 1, those that it finds. */
#define HG_WIDE_TABLES (HG_MAX_LOOKUPS + 1)

/* Graph replicas of which each member has a slice, in place of rows. */
typedef struct HgWideSliced
{
	/* by HgSide; NULL: the members have them as they are */
	const struct HgSlices *slices[2][HG_WIDE_TABLES];
	uint32_t parts[2][HG_WIDE_TABLES]; /* of the whole graphs */

	/* of slices, for their members; NULL: all rows count */
	uint64_t *masks[2][HG_WIDE_TABLES][HG_MAX_MEMBERS];
} HgWideSliced;

/* What a member has in place of the whole graphs, in place until it is open. */
typedef struct HgWideSliceSpec
{
	HgReplicaUse replica[2];
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
} HgWideSliceSpec;

/* The most that shares of members can be together. */
#define HG_WIDE_SHARES (HG_EXCHANGE_SHARES * HG_MAX_MEMBERS)

/* How rows are numbered: which of the calls has brought any. */
typedef enum HgWideFilled
{
	HG_WIDE_EMPTY = 0,
	HG_WIDE_BY_POSITION, /* append */
	HG_WIDE_BY_NUMBER	 /* append_rows */
} HgWideFilled;

typedef struct HgWideJob
{
	HgWide *wide;
	const HgHost *host;
	HgJobSpec spec; /* as the job was asked for */
	uint32_t members;
	HgWideMember member[HG_MAX_MEMBERS]; /* those that are open */
	bool is_sliced;
	HgWideSliced sliced;

	uint32_t shares[HG_MAX_MEMBERS];
	uint32_t turns;				  /* the sum of these, after which dealing begins anew */
	uint8_t turn[HG_WIDE_SHARES]; /* [turns] the member that is dealt rows */
	HgWideFilled filled;
	uint64_t rows[2]; /* numbers of rows that are appended are below these */
	uint64_t appended[2];
	uint64_t given[2][HG_MAX_COLUMNS]; /* rows that have got their value */

	uint64_t moved; /* rows that went from one member to another ... */
	uint64_t sent;	/* ... and those of them that one sent to the other */
	bool exchanged;
	HgStatus exchange_status; /* of start, which build tells */
	HgError exchange_error;
	HgWrappedState state;

	bool is_ahead; /* members have begun with this, and the call for it is still to come */
	HgAhead ahead;
	HgMatchMode ahead_mode;

	bool streaming;
	uint32_t current; /* the member whose matches are delivered */
	HgWideGroups groups;
} HgWideJob;

/* hg_wide_members.c: open all of them; what was opened is in the job, whatever comes of it. */
extern HgStatus hg_wide_members_open(HgWideJob *job, HgError *error);

/* Have all members begin with something, where they can. */
extern HgStatus hg_wide_members_start(HgWideJob *job, HgAhead ahead, HgMatchMode mode,
									  const HgReduceSpec *spec, HgError *error);

/* Close those that are open. */
extern void hg_wide_members_close(HgWideJob *job);

/* The member that is dealt a row, and the first row from there on that another is dealt. */
extern HgWideMember *hg_wide_member_of_row(HgWideJob *job, uint64_t row, uint64_t *end);

/* hg_wide_exchange.c: exchange the rows of both sides. */
extern HgStatus hg_wide_exchange(HgWideJob *job, HgError *error);

/*
 * hg_wide_groups.c: have each member make groups, which all have begun with where they can, and
 * merge them: HG_TOO_MANY_GROUPS of any member, or of all together, is that of the job.
 */
extern HgStatus hg_wide_groups_make(HgWideJob *job, HgMatchMode mode, const HgReduceSpec *spec,
									uint64_t *groups, HgError *error);

/* The next records, which there have to be some of. */
extern void hg_wide_groups_next(HgWideJob *job, HgGroupRecords *records);

/* hg_wide_slices.c: does a spec ask for slices of graph replicas? */
extern bool hg_wide_are_sliced(const HgJobSpec *spec);

/* Begin a job of them, if it can be so, before its members are opened. */
extern HgStatus hg_wide_slices_open(HgWideJob *job, HgError *error);

/* Have a member's spec, which is the job's so far, name its slices. */
extern void hg_wide_slices_member(const HgWideJob *job, uint32_t member, HgWideSliceSpec *of,
								  HgJobSpec *spec);

/* HgEngine.mask of a side, or of a lookup; and tell the members, before they build. */
extern HgStatus hg_wide_slices_mask(HgWideJob *job, HgSide side, uint32_t lookup,
									uint64_t first_word, uint64_t count, const uint64_t *words,
									HgError *error);
extern HgStatus hg_wide_slices_tell(HgWideJob *job, HgError *error);

/* Free the masks. */
extern void hg_wide_slices_free(HgWideJob *job);

/* Forget the groups, if there are any. */
extern void hg_wide_groups_free(HgWideJob *job);

#endif /* HG_WIDE_JOB_H */
