/*-------------------------------------------------------------------------
 *
 * hg_resident_chain.c
 *	  The chain of snapshots of a database, and the rounds in which its maps are observed.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "utils/timestamp.h"

#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_map.h"
#include "resident/hg_resident_statistics.h"

/* Part of a segment's blocks that may be had again for which it is taken in again at once. */
#define HG_STALE_PART 5

/*
 * Rounds in which no block has come to them after which fewer are enough.  It is vacuums that bring
 * them: this one has gone by.
 */
#define HG_RESTED_ROUNDS 2

/* Blocks that were refused, and tables that failed, are tried again after so long, in ms. */
#define HG_REFUSED_MS (10 * 60 * 1000)

/* A table that there was no memory for is tried again when this part of the area is free again. */
#define HG_MORE_MEMORY_PART 16

struct HgChain
{
	Oid database;				 /* protected by HG_RESIDENT_LOCK_CHAINS; invalid: free */
	pg_atomic_uint64 generation; /* 0: broken */
	/* Rounds go on over breaks; written by the witness whose turn it is */
	pg_atomic_uint64 registered;
	pg_atomic_uint64 finishing;
	pg_atomic_uint64 finished;
};

typedef struct HgChains
{
	pg_atomic_uint64 generations; /* drawn so far */
	int count;
	HgChain chains[FLEXIBLE_ARRAY_MEMBER];
} HgChains;

static HgChains *chains = NULL;

/* As many databases can have two witnesses. */
static int
hg_chain_count(void)
{
	return max_worker_processes / 2 + 1;
}

static Size
hg_chain_size(void)
{
	return add_size(offsetof(HgChains, chains), mul_size(hg_chain_count(), sizeof(HgChain)));
}

void
hg_chain_request(void)
{
	hg_resident_shared_request(hg_chain_size());
}

void
hg_chain_startup(void)
{
	bool is_new;

	chains = hg_resident_shared_startup("hashgraph resident chains", hg_chain_size(), &is_new);
	if (!is_new)
		return;
	pg_atomic_init_u64(&chains->generations, 0);
	chains->count = hg_chain_count();
	for (int i = 0; i < chains->count; i++)
	{
		HgChain *chain = &chains->chains[i];

		chain->database = InvalidOid;
		pg_atomic_init_u64(&chain->generation, 0);
		pg_atomic_init_u64(&chain->registered, 0);
		pg_atomic_init_u64(&chain->finishing, 0);
		pg_atomic_init_u64(&chain->finished, 0);
	}
}

/* The chain of a database, or a free one for InvalidOid; the caller holds the lock. */
static HgChain *
hg_chain_search(Oid database)
{
	for (int i = 0; i < chains->count; i++)
		if (chains->chains[i].database == database)
			return &chains->chains[i];
	return NULL;
}

HgChain *
hg_chain_find(Oid database)
{
	HgChain *chain;

	LWLockAcquire(hg_resident_lock(HG_RESIDENT_LOCK_CHAINS), LW_SHARED);
	chain = hg_chain_search(database);
	LWLockRelease(hg_resident_lock(HG_RESIDENT_LOCK_CHAINS));
	return chain;
}

HgChain *
hg_chain_assign(Oid database)
{
	HgChain *chain;

	LWLockAcquire(hg_resident_lock(HG_RESIDENT_LOCK_CHAINS), LW_EXCLUSIVE);
	chain = hg_chain_search(database);
	if (chain == NULL && (chain = hg_chain_search(InvalidOid)) != NULL)
		chain->database = database;
	LWLockRelease(hg_resident_lock(HG_RESIDENT_LOCK_CHAINS));
	return chain;
}

void
hg_chain_unassign(HgChain *chain)
{
	Assert(hg_chain_generation(chain) == 0);
	LWLockAcquire(hg_resident_lock(HG_RESIDENT_LOCK_CHAINS), LW_EXCLUSIVE);
	chain->database = InvalidOid;
	LWLockRelease(hg_resident_lock(HG_RESIDENT_LOCK_CHAINS));
}

uint64
hg_chain_generation(const HgChain *chain)
{
	return pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, &chain->generation));
}

static uint64
hg_chain_read(const pg_atomic_uint64 *round)
{
	return pg_atomic_read_u64(unconstify(pg_atomic_uint64 *, round));
}

/*
 * Have a round be at least this one.  A witness whose chain was broken may come late, when another
 * generation has gone on: what it writes must take nothing back.
 */
static void
hg_chain_raise(pg_atomic_uint64 *round, uint64 at_least)
{
	uint64 now = pg_atomic_read_u64(round);

	while (now < at_least && !pg_atomic_compare_exchange_u64(round, &now, at_least))
		;
}

/*
 * The generation comes first: if another one begins in between, a record with the old one is void.
 * The other way round the round would be one of the old, whose snapshot has gone.
 */
HgChainPosition
hg_chain_position(const HgChain *chain)
{
	HgChainPosition position = {.generation = hg_chain_generation(chain)};

	pg_read_barrier();
	position.round = hg_chain_read(&chain->registered);
	/* bits that the caller copies are not older than this */
	pg_memory_barrier();
	return position;
}

bool
hg_chain_may_join(const HgChain *chain, HgChainPosition position)
{
	return position.generation != 0 && hg_chain_generation(chain) == position.generation &&
		   hg_chain_read(&chain->finishing) <= position.round;
}

uint64
hg_chain_finished(const HgChain *chain)
{
	return hg_chain_read(&chain->finished);
}

/*
 * ------------------------------------------------------------------------
 * The witnesses'
 * ------------------------------------------------------------------------
 */

uint64
hg_chain_start(HgChain *chain, uint64 *first)
{
	uint64 generation = pg_atomic_add_fetch_u64(&chains->generations, 1);
	uint64 round = hg_chain_read(&chain->registered) + 1;

	Assert(hg_chain_generation(chain) == 0);
	/* there are no records of this generation to be observed: the round is done */
	hg_chain_raise(&chain->registered, round);
	hg_chain_raise(&chain->finishing, round);
	hg_chain_raise(&chain->finished, round);
	pg_memory_barrier();
	pg_atomic_write_u64(&chain->generation, generation);
	*first = round;
	return generation;
}

uint64
hg_chain_begin_round(HgChain *chain, uint64 generation)
{
	uint64 before = hg_chain_read(&chain->registered);

	/* the round of another generation is not taken for one of this: the number has changed then */
	pg_read_barrier();
	if (hg_chain_generation(chain) != generation ||
		!pg_atomic_compare_exchange_u64(&chain->registered, &before, before + 1))
		return 0;
	/* the exchange is a barrier: bits that are copied from now on count for this round */
	return before + 1;
}

/*
 * Have what scans have asked for since be taken in again: columns that were evicted, and a table
 * that there was no memory for.  So is this one where memory has been given back since.
 */
static bool
hg_chain_observe_asked(HgDirectoryEntry *entry)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);
	bool full = entry->state == HG_RESIDENT_DECLINED && entry->reason == HG_REASON_NO_MEMORY;
	Size more = hg_resident_memory_size() / HG_MORE_MEMORY_PART;
	bool asked = full && hg_resident_memory_used() + more <= entry->declined_with;

	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		if (columns[i].asked && (columns[i].evicted || full))
			asked |= TimestampDifferenceExceeds(entry->loaded_at, GetCurrentTimestamp(),
												hg_eviction_rest_ms());
	}
	if (!asked)
		return false;
	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		if (columns[i].asked)
			columns[i].evicted = false;
		columns[i].asked = false;
	}
	if (full)
	{
		entry->state = HG_RESIDENT_QUEUED;
		entry->reason = HG_REASON_NONE;
	}
	hg_directory_want_evicted(entry);
	return true;
}

/* May what a locked entry was declined for be over? */
static bool
hg_chain_is_over(const HgDirectoryEntry *entry)
{
	return entry->reason != HG_REASON_FAILED ||
		   TimestampDifferenceExceeds(entry->loaded_at, GetCurrentTimestamp(), HG_REFUSED_MS);
}

bool
hg_chain_may_observe(Relation rel)
{
	HgDirectoryEntry *entry = hg_directory_lock(hg_resident_relation(rel), false);
	bool may;

	if (entry == NULL)
		return false;
	may = entry->state != HG_RESIDENT_DECLINED || entry->nslots > 0 ||
		  !hg_resident_file_equal(entry->file, hg_resident_file(rel)) || hg_chain_is_over(entry);
	hg_directory_unlock(entry);
	return may;
}

/*
 * Have a locked entry follow its table, which may be resident: what it has of another file goes,
 * and what it was declined for may be over.
 */
static void
hg_chain_observe_file(HgDirectoryEntry *entry, HgResidentFile file)
{
	bool over = hg_chain_is_over(entry);

	if (!hg_resident_file_equal(entry->file, file))
	{
		hg_directory_replace_file(entry, file);
		over = true;
	}
	if (entry->state == HG_RESIDENT_DECLINED && entry->reason != HG_REASON_NO_MEMORY && over)
		hg_directory_want(entry);
}

/* Observe a segment's slot.  Is there something to take in? */
static bool
hg_chain_observe_slot(HgSegmentSlot *slot, const HgBlockBits *bits, uint64 generation, uint64 round)
{
	HgSegmentRecord *record = &slot->record;
	bool valid = record->position.generation == generation;
	int visible;
	int loadable;

	if (valid)
	{
		hg_block_bits_and(&record->blocks, bits);
		record->position.round = round;
	}
	visible = hg_block_bits_count(bits, NULL);
	loadable = hg_block_bits_count(bits, valid ? &record->blocks : NULL);
	if (loadable > slot->loadable)
		slot->rested = 0;
	else if (slot->rested < HG_RESTED_ROUNDS)
		slot->rested++;
	slot->visible = visible;
	slot->loadable = loadable;
	/* what was refused would be so again, but after a while */
	slot->refused = Min(slot->refused, loadable);
	if (slot->refused > 0 && DsaPointerIsValid(slot->version) &&
		TimestampDifferenceExceeds(hg_segment_version(slot->version)->taken_at,
								   GetCurrentTimestamp(), HG_REFUSED_MS))
		slot->refused = 0;
	loadable -= slot->refused;
	if (slot->evicted)
		return false;
	if (loadable * HG_STALE_PART >= Max(visible, 1) ||
		(loadable > 0 && slot->rested == HG_RESTED_ROUNDS))
		slot->wanted = true;
	return slot->wanted;
}

/* Has a locked entry been of no use to anybody for long?  Scans may ask for it again. */
static bool
hg_chain_is_forgotten(const HgDirectoryEntry *entry)
{
	return entry->automatic && !hg_directory_takes_in(entry) && hg_directory_is_empty(entry) &&
		   TimestampDifferenceExceeds(hg_directory_used_at(entry), GetCurrentTimestamp(),
									  hg_eviction_forget_ms());
}

bool
hg_chain_observe(uint64 generation, uint64 round, Relation rel)
{
	HgResidentRelation key = hg_resident_relation(rel);
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	uint32 nsegments = hg_segment_count(nblocks);
	HgBlockBits *bits = palloc(Max(nsegments, 1) * sizeof(HgBlockBits));
	HgDirectoryEntry *entry;
	bool wanted = false;

	/* first the bits, then the records */
	hg_map_copy(rel, 0, nsegments, bits);
	entry = hg_directory_lock(key, true);
	if (entry != NULL)
	{
		HgSegmentSlot *slots;

		entry->nblocks = nblocks;
		/* one that is another table's the loader takes out */
		(void) hg_directory_check_name(entry, RelationGetRelationName(rel));
		hg_chain_observe_file(entry, hg_resident_file(rel));
		wanted = hg_chain_observe_asked(entry) || entry->nslots != nsegments;
		if (hg_chain_is_forgotten(entry))
		{
			hg_directory_remove(entry);
			pfree(bits);
			return false;
		}
		/* records of segments that are cut off are left to the strike */
		slots = hg_directory_slots(entry);
		for (uint32 i = 0; i < Min(entry->nslots, nsegments); i++)
			wanted |= hg_chain_observe_slot(&slots[i], &bits[i], generation, round);
		if (entry->state == HG_RESIDENT_DECLINED || !hg_directory_takes_in(entry))
			wanted = false;
		entry->wanted |= wanted;
		wanted = entry->wanted;
		hg_directory_unlock(entry);
	}
	pfree(bits);
	return wanted;
}

/* Empty the records of an entry that this round has not seen. */
static void
hg_chain_strike(HgDirectoryEntry *entry, uint64 round)
{
	HgSegmentSlot *slots = hg_directory_slots(entry);

	for (uint32 i = 0; i < entry->nslots; i++)
		if (slots[i].record.position.round < round)
			memset(&slots[i].record, 0, sizeof(HgSegmentRecord));
}

void
hg_chain_end_round(HgChain *chain, uint64 round)
{
	HgResidentRelation *keys;
	int nkeys;

	hg_chain_raise(&chain->finishing, round);
	pg_memory_barrier();
	/*
	 * who joins behind this list has seen the above: it has held the lock of each part of the
	 * directory
	 */
	nkeys = hg_directory_list(chain->database, &keys);
	for (int i = 0; i < nkeys; i++)
	{
		HgDirectoryEntry *entry = hg_directory_lock(keys[i], true);

		if (entry == NULL)
			continue;
		hg_chain_strike(entry, round);
		hg_directory_unlock(entry);
	}
	pfree(keys);
	hg_chain_raise(&chain->finished, round);
}

void
hg_chain_break(HgChain *chain, uint64 generation)
{
	uint64 expected = generation;

	if (generation != 0 && pg_atomic_compare_exchange_u64(&chain->generation, &expected, 0))
		hg_resident_count(HG_COUNT_CHAINS_BROKEN, 1);
}
