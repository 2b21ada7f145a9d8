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
 * newest registered round) and copies the bits again.  Then it locks the entry, and writes the
 * record if no strike and no observation of the entry has passed the position's round:
 * hg_chain_may_join().  A strike that comes later finds the record.  The loader sees a strike that
 * came before, because that has held the entry's lock in between.
 *
 * OBSERVING.  An entry has the round of the last observation that has begun, and the position of
 * the last one that has seen all of its slots.  A record that exists when observation r begins is
 * looked at in it.  A record that joins later joins at r or later, and its bits were copied under
 * that snapshot.  So once r has seen all slots, no valid record of the entry is older than r, and
 * no record needs to say so itself: of a table at rest an observation writes only the entry.  If
 * all bits of a map's page are set, no record below it loses a block.  Such slots are not looked
 * at if that would change nothing else of them either (HgSegmentSlot.quiet).
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

/* Reserve and initialize shared memory, while the server starts. */
extern void hg_chain_request(void);
extern void hg_chain_startup(void);

/* Returns the chain of a database, or NULL if it has none. */
extern HgChain *hg_chain_find(Oid database);
/* Returns the chain of a database, and assigns one if it has none; NULL if none is free. */
extern HgChain *hg_chain_assign(Oid database);
/* Frees a chain, which must be broken, for another database. */
extern void hg_chain_unassign(HgChain *chain);

/* Returns the chain's generation; 0 if it is broken. */
extern uint64 hg_chain_generation(const HgChain *chain);

/* Returns the position of a record that is made now.  Bits copied later are newer. */
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
 * Starts a new generation, whose first snapshot is the caller's registered one, and returns it.
 * *round becomes its round, which counts as finished.  The chain must be broken.
 */
extern uint64 hg_chain_start(HgChain *chain, uint64 *round);

/*
 * Begins the next round with the caller's registered snapshot, and returns its number; 0 if the
 * chain is broken or has another generation.
 */
extern uint64 hg_chain_begin_round(HgChain *chain, uint64 generation);

/*
 * Returns true if the table shall be observed: it has an entry, which was not declined, has slots,
 * is of another file, or was declined for a reason that may have passed.
 */
extern bool hg_chain_may_observe(Relation rel);

/*
 * Observes a table, which the caller has locked: removes from its records the blocks that have
 * lost their bit.  Returns true if there is something for a loader to do.
 */
extern bool hg_chain_observe(uint64 generation, uint64 round, Relation rel);

/* Empties the records of the database that were not observed in this round, and finishes it. */
extern void hg_chain_end_round(HgChain *chain, HgChainPosition position);

/*
 * Breaks the chain if it still has this generation, so that nobody relies on it any more.  Call it
 * before the generation's snapshots are dropped.  Any process may do so, more than once.
 */
extern void hg_chain_break(HgChain *chain, uint64 generation);

#endif /* HG_RESIDENT_CHAIN_H */
