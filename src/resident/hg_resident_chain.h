/*-------------------------------------------------------------------------
 *
 * hg_resident_chain.h
 *	  The chain of snapshots of a database, and rounds of observing its visibility maps.
 *
 * Two processes that are connected to the database, the witnesses, take turns.  The one whose turn
 * it is registers a snapshot in a transaction of its own.  It copies the bits of every table that
 * has records, removes from the records the blocks that have lost their bit, and reports that its
 * round is finished.  Only then the other witness ends its transaction, which drops the older
 * snapshot.  hg_resident_validity.c explains why there are two, and what follows from it for rows;
 * this is the protocol:
 *
 *	witness of round r				others
 *	-----------------				------
 *	register a snapshot
 *	registered = r					a loader may join at r from here on
 *	for each table: observe			entry: observing = r; records: blocks &= bits; observed = r
 *	finishing = r					a loader may not join at r - 1 any more
 *	strike							records of entries that are not observed are emptied
 *	finished = r
 *									the other witness ends its transaction
 *
 * A CHAIN IS UNBROKEN as long as its generation is the same.  A generation is a number that no
 * other generation of any database has had since the server started; 0 means broken.  Whatever
 * ends a witness breaks the chain first, while the snapshot is still registered.  On an error or a
 * termination a before_shmem_exit callback does so.  It was registered after the callback that
 * ends the transaction, and so runs before it (hg_witness_main.c).  A break empties no record: all
 * records that name the generation become void.
 *
 * JOINING.  A loader that holds a snapshot of its own reads the position (the generation, then the
 * newest registered round), copies the bits again, and locks the entry.  It writes the record only
 * if neither a strike nor an observation of the entry has begun for a later round than the
 * position's: hg_chain_may_join().  A strike that begins after that finds the record.  The loader
 * sees a strike that began before, because the strike held the entry's lock in between.
 *
 * OBSERVING.  An entry stores the round of the last observation that has begun (observing), and the
 * position of the last one that has seen all of its slots (observed).  The observation of round r
 * looks at all records that exist when it begins.  A record that is written later has round r or a
 * later one, and its bits were copied under that round's snapshot.  So once the observation of
 * round r has seen all slots, each valid record of the entry is as good as one of round r.  No
 * record has to store that: if a table does not change, an observation writes only the entry.  If
 * all bits of a page of the map are set, no record below that page loses a block; an observation
 * skips these slots if it would change nothing else of them either (HgSegmentSlot.quiet).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_CHAIN_H
#define HG_RESIDENT_CHAIN_H

#include "hg_compat.h"

#include "resident/hg_resident_directory.h"

typedef struct HgChain HgChain;

/* Requests shared memory for the chains, while the server starts. */
extern void hg_chain_request(void);
/* Attaches to that shared memory, and initializes it if it is new. */
extern void hg_chain_startup(void);

/* Returns the chain of a database, or NULL if it has none. */
extern HgChain *hg_chain_find(Oid database);
/* Returns the chain of a database, and assigns a free one if it has none; NULL if none is free. */
extern HgChain *hg_chain_assign(Oid database);
/* Makes a chain, which must be broken, free for another database. */
extern void hg_chain_unassign(HgChain *chain);

/* Returns the chain's generation; 0 if it is broken. */
extern uint64 hg_chain_generation(const HgChain *chain);

/*
 * Returns the position for a record that the caller is about to make: generation 0 if the chain is
 * broken.  The caller copies the bits of the visibility map afterwards.
 */
extern HgChainPosition hg_chain_position(const HgChain *chain);

/*
 * Returns true if a record with that position, whose bits were copied after the position was read,
 * may be written to the entry, which the caller has locked exclusively.
 */
extern bool hg_chain_may_join(const HgChain *chain, const HgDirectoryEntry *entry,
							  HgChainPosition position);

/* Returns the number of the last finished round. */
extern uint64 hg_chain_finished(const HgChain *chain);

/*
 * ------------------------------------------------------------------------
 * For witnesses
 * ------------------------------------------------------------------------
 */

/*
 * Starts a new generation, whose first snapshot is the caller's registered one, and returns the
 * generation.  *round becomes its first round, which counts as finished.  The chain must be broken.
 */
extern uint64 hg_chain_start(HgChain *chain, uint64 *round);

/*
 * Begins the next round with the caller's registered snapshot, and returns its number; 0 if the
 * chain is broken or has another generation.
 */
extern uint64 hg_chain_begin_round(HgChain *chain, uint64 generation);

/*
 * Returns true if the table shall be observed.  It must have an entry.  If the entry was declined,
 * it must also have slots, or be of another file than the table's, or the reason may have passed.
 */
extern bool hg_chain_may_observe(Relation rel);

/*
 * Observes a table, which the caller has locked, for a round: removes from its records the blocks
 * that have lost their bit of the visibility map.  Returns true if a loader has something to do.
 */
extern bool hg_chain_observe(uint64 generation, uint64 round, Relation rel);

/* Finishes the round of a position: first empties the database's records not observed in it. */
extern void hg_chain_end_round(HgChain *chain, HgChainPosition position);

/*
 * Breaks the chain if it still has this generation, so that nobody relies on it any more.  Call it
 * before the generation's snapshots are dropped.  Any process may do so, more than once.
 */
extern void hg_chain_break(HgChain *chain, uint64 generation);

#endif /* HG_RESIDENT_CHAIN_H */
