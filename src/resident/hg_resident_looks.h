/*-------------------------------------------------------------------------
 *
 * hg_resident_looks.h
 *	  What was found in changed blocks of a segment version, for whoever looks next.
 *
 * A block that has changed is not served, but who has something that was made of the version looks
 * which of the version's rows a snapshot still sees, and which others there are in the block
 * (batch/hg_scan_changed.h).  A table of which every fifth block has changed has one row in each of
 * them that is not what it was, and two hundred whose headers are read to find that out.  So what
 * was found is kept beside the version, block by block, with the position in the WAL that the page
 * had, and is found again as long as that stays the same.
 *
 * THE CLAIM.  Where a page has the position that it had when a look was kept, and all ids that the
 * look went by precede the xmin of a snapshot, that snapshot sees what the look's did.
 *
 * Proof.  Relations with residents are logged, and their files were made by transactions that have
 * ended: whatever changes line pointers of a page, the rows under them, or the ids and the bits by
 * which these are told to be there, writes WAL and sets the page's position under its exclusive
 * lock; positions ascend, and do not repeat as long as shared memory is there.  But for hints,
 * which say of an id that stands in the page how its transaction has ended.  A look is kept of a
 * page all of whose ids had such a hint by then, or preceded the xmin of the snapshot that looked,
 * where the commit log says it: what is committed or aborted stays so.  An aborted transaction has
 * done nothing, for every snapshot.  One that was committed, and whose id precedes a snapshot's
 * xmin, is seen by it, and the look's own snapshot is one of those.  Locks delete nothing.  What
 * else an id can be, that of a transaction that runs, of several (a multixact), or of one that
 * moved rows before 9.0, has no look be kept.
 *
 * The ids of a page that has a look are not half of all ids apart: those that grow so old are
 * frozen before, which is a change of the page.  Frozen rows are seen by all, and their ids are not
 * gone by.
 *
 * A look is a cache line, written and read without a lock: who reads one that is being written
 * finds none.  Beside it stands the buffer that had the page, which spares the next one a search
 * for it: whether it has the page still is looked at there.
 *
 * MEMORY.  Looks are had again by looking, so that they have what nothing else wants: none are kept
 * where a sixteenth of the area would not stay free, and they are the first to go where a loader,
 * or who asks for a table, finds no room (hg_resident_eviction.h).
 *
 * test/t/cache_visibility.pl has snapshots look beside each other at blocks that were changed in each way.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_LOOKS_H
#define HG_RESIDENT_LOOKS_H

#include "hg_compat.h"

#include "access/xlogdefs.h"
#include "port/atomics.h"
#include "storage/buf.h"

/* So many rows of a block a look tells of: one that finds more is not kept. */
#define HG_LOOK_ROWS 20

typedef struct HgLook
{
	XLogRecPtr lsn;			   /* of the page */
	TransactionId newest;	   /* of the ids that it went by; invalid: there was none */
	bool gone;				   /* those that are named are not seen; else they alone are */
	uint8 nothers;			   /* rows that are seen, and are not the version's */
	uint16 nrows;			   /* of the version, that are named: their numbers in the block ... */
	uint16 rows[HG_LOOK_ROWS]; /* ... stand here, and behind them line pointers of the others */
} HgLook;

/* The looks of a version's blocks: part of the version, zeroes at first. */
typedef struct HgLooks
{
	pg_atomic_uint64 place; /* a dsa_pointer; invalid until one is kept */
} HgLooks;

extern void hg_looks_init(HgLooks *looks);

/* Their end, when nobody reads the version; how many bytes they were. */
extern Size hg_looks_free(HgLooks *looks);

/*
 * The look at a block, the number of which is that in its segment, whose page has this position
 * now, for a snapshot of this xmin.  False: there is none.
 */
extern bool hg_looks_find(HgLooks *looks, int block, XLogRecPtr lsn, TransactionId xmin,
						  HgLook *look);

/*
 * Keep one that a snapshot of that xmin has taken, where there is room for it, and in which buffer
 * the page was.
 */
extern void hg_looks_keep(HgLooks *looks, int block, TransactionId xmin, const HgLook *look,
						  Buffer buffer);

/*
 * Where a block's page was when it was looked at last, if somebody has told: it may have gone
 * meanwhile.  And tell where it is now.
 */
extern Buffer hg_looks_buffer(HgLooks *looks, int block);
extern void hg_looks_set_buffer(HgLooks *looks, int block, Buffer buffer);

/* The cache line of a block's look is wanted soon. */
extern void hg_looks_prefetch(HgLooks *looks, int block);

#endif /* HG_RESIDENT_LOOKS_H */
