/*-------------------------------------------------------------------------
 *
 * hg_resident_chain.h
 *	  The chain of snapshots of a database, and the rounds in which its maps are observed.
 *
 * Two processes connected to the database, the witnesses, take turns.  The one whose turn it is
 * registers a snapshot in a transaction of its own, copies the bits of every table that has
 * records, takes from the records what has lost its bit, and says that its round is done; only
 * then the other one ends its transaction, and with it gives up the older snapshot.  Why there are
 * two, and what follows from it for rows, is told in hg_resident_validity.c; this is the protocol.
 *
 *		witness of round r				others
 *		-----------------				------
 *		register a snapshot
 *		registered = r					a loader may join at r from here on
 *		for each table: observe			entry: observing = r; records: blocks &= bits; observed = r
 *		finishing = r					a loader may not join at r - 1 any more
 *		strike							records of entries that are not observed are emptied
 *		finished = r
 *										the other witness ends its transaction
 *
 * A CHAIN IS UNBROKEN as long as its generation is the same: a number that no other generation of
 * any database has had since the server started, and 0 while there is none.  Whatever ends a
 * witness breaks it first, while the snapshot is still held: in an error's or a termination's way
 * out that is a before_shmem_exit callback, which was registered after that of the transaction's
 * end and so runs before it (hg_witness_main.c).  A break empties no record: all that name the
 * generation are void.
 *
 * JOINING.  A loader that holds a snapshot of its own asks for the position (the generation, then
 * the newest registered round), copies the bits again, and writes the record under its entry's
 * lock if the round that it was told is still one that neither a strike nor an observation of the
 * entry has passed: hg_chain_may_join().  A strike that comes later finds the record; one that was
 * there before has been seen by then, because it has held the lock in between.
 *
 * OBSERVING.  An entry has the round of the last observation that has begun, and the last one that
 * has seen all of its slots.  A record that was there when observation r began is looked at in it;
 * what joins later joins at r or later, and has been copied under that snapshot.  So once r has
 * seen all slots, no valid record of the entry is older than r, and none needs to say so itself: a
 * table that rests is written nothing but its entry.  What all of a map page's bits are set for
 * loses nothing, and its records are not looked at; such slots count as observed if that would
 * change nothing else of them either (HgSegmentSlot.quiet).
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

/* While shared memory is requested, and made. */
extern void hg_chain_request(void);
extern void hg_chain_startup(void);

/* The chain of a database; NULL: it has none. */
extern HgChain *hg_chain_find(Oid database);
/* The same, where it has none a new one; NULL: there are as many as there may be. */
extern HgChain *hg_chain_assign(Oid database);
/* The chain, which is broken, is free for another database. */
extern void hg_chain_unassign(HgChain *chain);

/* 0: there is none that is unbroken. */
extern uint64 hg_chain_generation(const HgChain *chain);

/* Where a record that is made now would begin. */
extern HgChainPosition hg_chain_position(const HgChain *chain);

/* May a record of that position, whose bits were copied since, be written to a locked entry? */
extern bool hg_chain_may_join(const HgChain *chain, const HgDirectoryEntry *entry,
							  HgChainPosition position);

/* The last round that is done. */
extern uint64 hg_chain_finished(const HgChain *chain);

/*
 * ------------------------------------------------------------------------
 * The witnesses'
 * ------------------------------------------------------------------------
 */

/* The caller's snapshot is the first of a new generation, which it returns, with its round. */
extern uint64 hg_chain_start(HgChain *chain, uint64 *round);

/* The caller's snapshot is that of the next round, which it returns; 0: the chain is broken. */
extern uint64 hg_chain_begin_round(HgChain *chain, uint64 generation);

/*
 * Is a table to be observed?  One that could not be, of which nothing is there, is left alone for a
 * while, unless it has another file.
 */
extern bool hg_chain_may_observe(Relation rel);

/*
 * Observe a table, on which the caller has a lock: take from its records what has lost its bit
 * since.  Tells whether there is something for a loader to do.
 */
extern bool hg_chain_observe(uint64 generation, uint64 round, Relation rel);

/* Empty what was not observed in this round, and say that it is done. */
extern void hg_chain_end_round(HgChain *chain, HgChainPosition position);

/*
 * Nobody may rely on this generation any more.  Comes before its snapshots are given up; may be
 * called at any time, in any process, more than once.
 */
extern void hg_chain_break(HgChain *chain, uint64 generation);

#endif /* HG_RESIDENT_CHAIN_H */
