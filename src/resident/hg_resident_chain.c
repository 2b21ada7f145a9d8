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

#include "resident/hg_page_vis.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_statistics.h"

/* A segment is loaded again at once if one in this many all-visible blocks could be added. */
#define HG_STALE_PART 5

/* Rounds without new blocks, which VACUUM brings, after which fewer are enough. */
#define HG_RESTED_ROUNDS 2

/* Refused blocks, and tables that failed, are tried again after this time, in ms. */
#define HG_REFUSED_MS (10 * 60 * 1000)

/* A table that found no memory is tried again when one in this many bytes of the area is free. */
#define HG_MORE_MEMORY_PART 16

struct HgChain
{
	Oid database;				 /* protected by HG_RESIDENT_LOCK_CHAINS; invalid: free */
	pg_atomic_uint64 generation; /* 0: broken */
	/* Rounds continue over breaks.  The witness whose turn it is writes them. */
	pg_atomic_uint64 registered;
	pg_atomic_uint64 finishing;
	pg_atomic_uint64 finished;
};

typedef struct HgChains
{
	pg_atomic_uint64 generations; /* number of generations so far */
	int count;
	HgChain chains[FLEXIBLE_ARRAY_MEMBER];
} HgChains;

static HgChains *chains = NULL;

/* Enough for as many databases as can have two witnesses. */
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

/* Returns the chain of a database, or with InvalidOid a free one.  The lock is held. */
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
 * Raises a round to at least this one.  A witness whose chain was broken may come late, when
 * another generation has gone on; what it writes must not lower the round.
 */
static void
hg_chain_raise(pg_atomic_uint64 *round, uint64 at_least)
{
	uint64 now = pg_atomic_read_u64(round);

	while (now < at_least && !pg_atomic_compare_exchange_u64(round, &now, at_least))
		;
}

/*
 * The generation is read first.  If another one begins in between, a record with the old one is
 * void.  In the other order the round could be the old generation's, whose snapshot is gone.
 */
HgChainPosition
hg_chain_position(const HgChain *chain)
{
	HgChainPosition position = {.generation = hg_chain_generation(chain)};

	pg_read_barrier();
	position.round = hg_chain_read(&chain->registered);
	/* bits that the caller copies are newer than this */
	pg_memory_barrier();
	return position;
}

bool
hg_chain_may_join(const HgChain *chain, const HgDirectoryEntry *entry, HgChainPosition position)
{
	return position.generation != 0 && hg_chain_generation(chain) == position.generation &&
		   hg_chain_read(&chain->finishing) <= position.round && entry->observing <= position.round;
}

uint64
hg_chain_finished(const HgChain *chain)
{
	return hg_chain_read(&chain->finished);
}

/*
 * ------------------------------------------------------------------------
 * For witnesses
 * ------------------------------------------------------------------------
 */

uint64
hg_chain_start(HgChain *chain, uint64 *first)
{
	uint64 generation = pg_atomic_add_fetch_u64(&chains->generations, 1);
	uint64 round = hg_chain_read(&chain->registered) + 1;

	Assert(hg_chain_generation(chain) == 0);
	/* this generation has no records to observe, so the round counts as finished */
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

	/* the exchange fails if another generation has begun a round meanwhile */
	pg_read_barrier();
	if (hg_chain_generation(chain) != generation ||
		!pg_atomic_compare_exchange_u64(&chain->registered, &before, before + 1))
		return 0;
	/* the exchange is a barrier: bits that are copied from now on count for this round */
	return before + 1;
}

/*
 * Queues what scans have missed since: evicted columns, and a table for which there was no memory.
 * Also queues such a table if memory was freed since.  Returns true if it queued anything.
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
	hg_directory_queue_evicted(entry);
	return true;
}

/* Returns true if the reason for which a locked entry was declined may have passed. */
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
 * Lets a locked entry follow its table, which may be cached: drops what is of another file, and
 * queues the table if the reason for which it was declined may have passed.
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
		hg_directory_queue_segments(entry);
}

/* Returns true if a slot has all blocks that the bits allow, now and at the last observation. */
static bool
hg_chain_is_complete(const HgSegmentSlot *slot, const HgBlockBits *bits, bool valid)
{
	return valid && slot->loadable == 0 && slot->refused == 0 && !slot->wanted &&
		   hg_block_bits_equal(&slot->record.blocks, bits);
}

/* Observes a segment's slot.  Returns true if there is something to load. */
static bool
hg_chain_observe_slot(HgSegmentSlot *slot, const HgBlockBits *bits, uint64 generation)
{
	HgSegmentRecord *record = &slot->record;
	bool valid = record->position.generation == generation;
	int visible;
	int loadable;

	if (hg_chain_is_complete(slot, bits, valid))
		return false;
	if (valid)
		hg_block_bits_and(&record->blocks, bits);
	visible = hg_block_bits_count(bits, NULL);
	loadable = hg_block_bits_count(bits, valid ? &record->blocks : NULL);
	if (loadable > slot->loadable)
		slot->rested = 0;
	else if (slot->rested < HG_RESTED_ROUNDS)
		slot->rested++;
	slot->visible = visible;
	slot->loadable = loadable;
	/* what was refused would be refused again, except after a while */
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

/* Returns true if observing the slot again with the same bits would change nothing. */
static bool
hg_chain_is_quiet(const HgSegmentSlot *slot)
{
	return slot->refused == 0 && (slot->evicted || !slot->wanted) &&
		   (slot->loadable == 0 || slot->rested == HG_RESTED_ROUNDS);
}

/* Observes n slots, below one page of the map.  Returns true if there is something to load. */
static bool
hg_chain_observe_slots(HgSegmentSlot *slots, uint32 n, const HgBlockBits *bits, bool full,
					   uint64 generation)
{
	const HgBlockBits all = hg_block_bits_all();
	bool wanted = false;
	bool quiet = full;

	for (uint32 i = 0; i < n; i++)
	{
		wanted |= hg_chain_observe_slot(&slots[i], full ? &all : &bits[i], generation);
		quiet &= hg_chain_is_quiet(&slots[i]);
	}
	slots[0].quiet = quiet;
	return wanted;
}

/* Returns true if a locked entry was of no use for long.  Scans may request it again. */
static bool
hg_chain_is_forgotten(const HgDirectoryEntry *entry)
{
	return entry->automatic && !hg_directory_takes_in(entry) && hg_directory_is_empty(entry) &&
		   TimestampDifferenceExceeds(hg_directory_used_at(entry), GetCurrentTimestamp(),
									  hg_eviction_forget_ms());
}

typedef struct HgObservation
{
	HgResidentRelation key;
	HgResidentFile file;
	HgChainPosition position;
	uint32 nsegments; /* of the file */
	bool steady;	  /* no slot was changed since the last one, in the same generation */
	bool wanted;	  /* there is something to load */
} HgObservation;

/*
 * Begins with a table's entry.  From here on nothing joins at an older round, so every record is
 * observed, or newer.  Returns false if there is nothing to observe.
 */
static bool
hg_chain_begin_observation(HgObservation *observation, Relation rel, BlockNumber nblocks)
{
	HgDirectoryEntry *entry = hg_directory_lock(observation->key, true);

	if (entry == NULL)
		return false;
	/* a witness whose chain was broken comes late; nobody relies on it */
	if (entry->observing >= observation->position.round)
	{
		hg_directory_unlock(entry);
		return false;
	}
	entry->observing = observation->position.round;
	entry->nblocks = nblocks;
	/* a loader removes an entry that names another table */
	(void) hg_directory_check_name(entry, RelationGetRelationName(rel));
	hg_chain_observe_file(entry, observation->file);
	observation->wanted = hg_chain_observe_asked(entry) || entry->nslots != observation->nsegments;
	if (hg_chain_is_forgotten(entry))
	{
		hg_directory_remove(entry);
		return false;
	}
	observation->steady =
		!entry->disturbed && entry->observed.generation == observation->position.generation;
	entry->disturbed = false;
	hg_directory_unlock(entry);
	return true;
}

/* Locks the entry again; NULL if it was removed, or another observation has taken over. */
static HgDirectoryEntry *
hg_chain_lock_observed(const HgObservation *observation)
{
	HgDirectoryEntry *entry = hg_directory_lock(observation->key, true);

	if (entry != NULL && (entry->observing != observation->position.round ||
						  !hg_resident_file_equal(entry->file, observation->file)))
	{
		hg_directory_unlock(entry);
		entry = NULL;
	}
	return entry;
}

/* Pages of the map that are read between two holds of the entry's lock. */
#define HG_OBSERVED_PAGES 16

/* Observes the slots below npages pages of the map.  Returns false if the observation is void. */
static bool
hg_chain_observe_pages(HgObservation *observation, Relation rel, uint32 first_page, uint32 npages,
					   HgBlockBits *bits)
{
	bool full[HG_OBSERVED_PAGES];
	HgDirectoryEntry *entry;
	HgSegmentSlot *slots;
	uint32 nslots;

	/* first the bits, then the records */
	hg_map_survey(rel, first_page, npages, full, bits);
	entry = hg_chain_lock_observed(observation);
	if (entry == NULL)
		return false;
	slots = hg_directory_slots(entry);
	nslots = Min(entry->nslots, observation->nsegments);
	for (uint32 i = 0; i < npages; i++)
	{
		uint32 first = (first_page + i) * HG_SEGMENTS_PER_MAP_PAGE;

		if (first >= nslots || (full[i] && observation->steady && slots[first].quiet))
			continue;
		observation->wanted |= hg_chain_observe_slots(
			&slots[first], Min(nslots - first, HG_SEGMENTS_PER_MAP_PAGE),
			&bits[(Size) i * HG_SEGMENTS_PER_MAP_PAGE], full[i], observation->position.generation);
	}
	hg_directory_unlock(entry);
	return true;
}

/* Ends an observation that has seen all slots, except those of truncated segments. */
static void
hg_chain_end_observation(HgObservation *observation)
{
	HgDirectoryEntry *entry = hg_chain_lock_observed(observation);
	HgSegmentSlot *slots;

	if (entry == NULL)
		return;
	slots = hg_directory_slots(entry);
	for (uint32 i = observation->nsegments; i < entry->nslots; i++)
		memset(&slots[i].record, 0, sizeof(HgSegmentRecord));
	entry->observed = observation->position;
	observation->wanted |= hg_graphs_observe(entry);
	if (entry->state == HG_RESIDENT_DECLINED || !hg_directory_takes_in(entry))
		observation->wanted = false;
	entry->wanted |= observation->wanted;
	observation->wanted = entry->wanted;
	hg_directory_unlock(entry);
}

bool
hg_chain_observe(uint64 generation, uint64 round, Relation rel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	HgObservation observation = {.key = hg_resident_relation(rel),
								 .file = hg_resident_file(rel),
								 .position = {.generation = generation, .round = round},
								 .nsegments = hg_segment_count(nblocks)};
	uint32 npages =
		(observation.nsegments + HG_SEGMENTS_PER_MAP_PAGE - 1) / HG_SEGMENTS_PER_MAP_PAGE;
	HgBlockBits *bits;
	bool all = true;

	if (!hg_chain_begin_observation(&observation, rel, nblocks))
		return false;
	bits = palloc(Max(Min(npages, HG_OBSERVED_PAGES), 1) * HG_SEGMENTS_PER_MAP_PAGE *
				  sizeof(HgBlockBits));
	for (uint32 page = 0; page < npages && all; page += HG_OBSERVED_PAGES)
		all = hg_chain_observe_pages(&observation, rel, page, Min(npages - page, HG_OBSERVED_PAGES),
									 bits);
	pfree(bits);
	if (all)
		hg_chain_end_observation(&observation);
	return all && observation.wanted;
}

/* Returns a record's round: where it joined, or its entry was observed since. */
static uint64
hg_chain_round(const HgDirectoryEntry *entry, const HgSegmentRecord *record)
{
	if (record->position.generation != entry->observed.generation)
		return record->position.round;
	return Max(record->position.round, entry->observed.round);
}

/* Empties the records of an entry that this round has not seen. */
static void
hg_chain_strike(HgDirectoryEntry *entry, uint64 round)
{
	HgSegmentSlot *slots = hg_directory_slots(entry);

	for (uint32 i = 0; i < entry->nslots; i++)
		if (hg_chain_round(entry, &slots[i].record) < round)
			memset(&slots[i].record, 0, sizeof(HgSegmentRecord));
	entry->disturbed = true;
}

void
hg_chain_end_round(HgChain *chain, HgChainPosition position)
{
	HgResidentRelation *keys;
	int nkeys;

	hg_chain_raise(&chain->finishing, position.round);
	pg_memory_barrier();
	/* a loader that joins later has seen finishing: the list takes each partition's lock */
	nkeys = hg_directory_list(chain->database, &keys);
	for (int i = 0; i < nkeys; i++)
	{
		HgDirectoryEntry *entry = hg_directory_lock(keys[i], true);

		if (entry == NULL)
			continue;
		/* an entry that was seen has no older records of this chain, and others are void */
		if (entry->observed.generation != position.generation ||
			entry->observed.round != position.round)
			hg_chain_strike(entry, position.round);
		hg_directory_unlock(entry);
	}
	pfree(keys);
	hg_chain_raise(&chain->finished, position.round);
}

void
hg_chain_break(HgChain *chain, uint64 generation)
{
	uint64 expected = generation;

	if (generation != 0 && pg_atomic_compare_exchange_u64(&chain->generation, &expected, 0))
		hg_resident_count(HG_COUNT_CHAINS_BROKEN, 1);
}
