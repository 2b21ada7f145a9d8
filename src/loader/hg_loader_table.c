/*-------------------------------------------------------------------------
 *
 * hg_loader_table.c
 *	  Loads a table's segments, each in a transaction of its own.
 *
 * First a PLAN is made in a transaction of its own: may the table be cached, which of the
 * requested columns may, and which segments are to be loaded.  Then each segment has a
 * transaction, with the snapshot that the loader must hold (resident/hg_resident_capture.h) and
 * the table's lock.  The plan is checked again there, as it may be out of date.
 *
 * GIVING WAY.  The lock is taken only if it is available at once.  Every few pages it is released
 * and taken again in the same way.  That fails if somebody waits for a conflicting lock, or has
 * taken it in between.  Then the segment is given up, to start again later.
 * (LockHasWaitersRelation() would tell without releasing, but does not know locks taken by the
 * fast path, like this one.)  VACUUM, which wants to truncate a table's empty end, does not wait:
 * it tries for five seconds, every 50 ms, and gives up (lazy_truncate_heap).  So every two seconds
 * no lock is held for longer than 50 ms.
 *
 * ERRORS.  A page that can't be read would end one loader after the other, and other tables would
 * have none.  So an error ends the table's transaction, and not the loader.  The table is
 * declined, and tried again after a while (hg_resident_chain.c), or when it has another file.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/timestamp.h"

#include "loader/hg_loader_column.h"
#include "loader/hg_loader_table.h"
#include "loader/hg_loader_replica.h"
#include "loader/hg_loader_plan.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_resident_capture.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph_state.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_statistics.h"

/* Number of pages that are read before others may lock the table. */
#define HG_LOADER_LOOK_PAGES 16

/* After HG_LOADER_BUSY_MS no lock is held for HG_LOADER_REST_MS; both in ms. */
#define HG_LOADER_BUSY_MS 2000
#define HG_LOADER_REST_MS 60

/* How often a lock is tried, and the time in between in ms. */
#define HG_LOADER_LOCK_TRIES 50
#define HG_LOADER_LOCK_MS 20

/* A version with a void record is made valid again if it loses at most this part of its blocks. */
#define HG_LOADER_READMIT_PART 5

/* Result of an attempt at a segment. */
typedef enum HgAttempt
{
	HG_ATTEMPT_DONE,
	HG_ATTEMPT_NO_LOCK,	  /* another process has locked the table, or waits for it */
	HG_ATTEMPT_NO_MEMORY, /* the area has no room */
	HG_ATTEMPT_CHANGED	  /* the plan is out of date, or there is no chain */
} HgAttempt;

/*
 * ------------------------------------------------------------------------
 * A segment
 * ------------------------------------------------------------------------
 */

/* Marks a segment of which nothing more can be loaded now, until that changes. */
static void
hg_loader_leave_out(const HgLoaderPlan *plan, uint32 segment)
{
	HgDirectoryEntry *entry = hg_directory_lock(plan->key, true);

	if (entry == NULL)
		return;
	if (hg_resident_file_equal(entry->file, plan->file) && segment < entry->nslots)
		hg_directory_slots(entry)[segment].wanted = false;
	hg_directory_unlock(entry);
}

/*
 * Returns true if a slot's version may be made valid again, with those of its blocks that are
 * unchanged.  Only if its record is void: of a segment in the chain, what is to be loaded is what
 * its version lacks.
 */
static bool
hg_loader_may_readmit(const HgLoaderPlan *plan, const HgDirectoryEntry *entry,
					  const HgSegmentSlot *slot, uint64 generation, const HgBlockBits *visible)
{
	return DsaPointerIsValid(slot->version) && slot->record.position.generation != generation &&
		   hg_loader_has_columns(entry, slot->version, plan) &&
		   hg_block_bits_count(visible, &hg_segment_version(slot->version)->taken) *
				   HG_LOADER_READMIT_PART <
			   hg_block_bits_count(visible, NULL);
}

/* Returns true if all that a capture would load of its segment is valid already. */
static bool
hg_loader_is_complete(const HgLoaderPlan *plan, const HgCapture *capture)
{
	const HgChain *chain = hg_chain_find(plan->key.database);
	HgDirectoryEntry *entry = hg_directory_lock(plan->key, false);
	bool complete = false;

	if (entry == NULL)
		return false;
	if (chain != NULL && hg_resident_file_equal(entry->file, plan->file) &&
		capture->segment < entry->nslots)
	{
		const HgSegmentSlot *slot = &hg_directory_slots(entry)[capture->segment];

		complete = DsaPointerIsValid(slot->version) &&
				   slot->record.position.generation == hg_chain_generation(chain) &&
				   hg_loader_has_columns(entry, slot->version, plan) &&
				   hg_block_bits_count(&capture->wanted, &slot->record.blocks) == 0;
	}
	hg_directory_unlock(entry);
	return complete;
}

/* Makes the version of a captured segment valid again; false if the segment must be loaded. */
static bool
hg_loader_readmit(const HgLoaderPlan *plan, HgCapture *capture)
{
	const HgChain *chain = hg_chain_find(plan->key.database);
	HgDirectoryEntry *entry = hg_directory_lock(plan->key, false);
	int visible = hg_block_bits_count(&capture->wanted, NULL);
	bool may = false;

	if (entry == NULL)
		return false;
	if (chain != NULL && hg_resident_file_equal(entry->file, plan->file) &&
		capture->segment < entry->nslots)
		may = hg_loader_may_readmit(plan, entry, &hg_directory_slots(entry)[capture->segment],
									hg_chain_generation(chain), &capture->wanted);
	hg_directory_unlock(entry);
	return may && (visible - hg_capture_readmit(capture)) * HG_LOADER_READMIT_PART < visible;
}

/* Lets others lock the table.  HG_ATTEMPT_DONE: it is open again, and unchanged. */
static HgAttempt
hg_loader_give_way(const HgLoaderPlan *plan, HgCapture *capture)
{
	Relation rel = capture->rel;
	bool gone;

	hg_capture_let_go(capture);
	hg_loader_close(rel);
	if (plan->is_left())
		return HG_ATTEMPT_CHANGED;
	rel = hg_loader_open(plan->key.relation, &gone);
	if (rel == NULL)
		return gone ? HG_ATTEMPT_CHANGED : HG_ATTEMPT_NO_LOCK;
	return hg_capture_go_on(capture, rel) && hg_loader_plan_holds(plan, rel) ? HG_ATTEMPT_DONE
																			 : HG_ATTEMPT_CHANGED;
}

/* Reads the pages of a segment. */
static HgAttempt
hg_loader_read(const HgLoaderPlan *plan, HgCapture *capture, HgEncoder *encoder)
{
	HgCapturedPage page;
	HgAttempt attempt = HG_ATTEMPT_DONE;
	int npages = 0;

	for (int i = 0; i < HG_SEGMENT_BLOCKS && attempt == HG_ATTEMPT_DONE; i++)
	{
		BlockNumber block = capture->segment * HG_SEGMENT_BLOCKS + i;

		if (!hg_block_bits_test(&capture->wanted, i))
			continue;
		CHECK_FOR_INTERRUPTS();
		if (hg_capture_page(capture, block, &page))
			hg_encoder_add_page(encoder, block, &page);
		/* a NULL takes little room in a page, and as much as any other value in an array */
		if (hg_encoder_fixed_bytes(encoder) > hg_resident_memory_size())
			return HG_ATTEMPT_NO_MEMORY;
		if (++npages % HG_LOADER_LOOK_PAGES == 0)
			attempt = hg_loader_give_way(plan, capture);
	}
	return attempt;
}

/* Makes a version from what was read, after evictions if needed, and publishes it. */
static HgAttempt
hg_loader_publish(const HgLoaderPlan *plan, HgCapture *capture, HgEncoder *encoder)
{
	const HgSegmentData *data = hg_encoder_finish(encoder, capture);
	HgResidentClaim *claim = palloc(sizeof(HgResidentClaim));
	dsa_pointer version;
	bool more = true;

	hg_resident_claim_open(claim, CurrentMemoryContext);
	version = hg_segment_version_make(claim, data);
	while (!DsaPointerIsValid(version) || !hg_resident_has_room(HG_LOADER_LEFT_ROOM))
	{
		hg_resident_claim_release(claim);
		if (!more)
			return HG_ATTEMPT_NO_MEMORY;
		more = hg_eviction_make_room(plan->key, hg_segment_version_bytes(data), false) > 0;
		version = hg_segment_version_make(claim, data);
	}
	if (!hg_capture_join(capture, version))
	{
		hg_resident_claim_release(claim);
		return HG_ATTEMPT_CHANGED;
	}
	hg_resident_claim_keep(claim);
	return HG_ATTEMPT_DONE;
}

static HgAttempt
hg_loader_load(const HgLoaderPlan *plan, HgCapture *capture)
{
	HgEncoder *encoder =
		hg_encoder_begin(capture->rel, capture->segment, plan->columns, plan->ncolumns);
	HgAttempt attempt = hg_loader_read(plan, capture, encoder);

	if (attempt == HG_ATTEMPT_DONE)
		attempt = hg_loader_publish(plan, capture, encoder);
	hg_encoder_end(encoder);
	return attempt;
}

/* Tries to load a segment in a transaction, with the table open.  Closes the table. */
static HgAttempt
hg_loader_try(const HgLoaderPlan *plan, Relation rel, uint32 segment)
{
	HgCapture capture;
	HgAttempt attempt = HG_ATTEMPT_DONE;

	if (!hg_loader_plan_holds(plan, rel))
	{
		hg_loader_close(rel);
		return HG_ATTEMPT_CHANGED;
	}
	if (!hg_capture_begin(&capture, rel, segment, GetAccessStrategy(BAS_BULKREAD)) ||
		hg_block_bits_count(&capture.wanted, NULL) == 0 || hg_loader_is_complete(plan, &capture))
		hg_loader_leave_out(plan, segment);
	else if (!hg_loader_readmit(plan, &capture))
		attempt = hg_loader_load(plan, &capture);
	rel = capture.rel;
	hg_capture_let_go(&capture);
	if (rel != NULL)
		hg_loader_close(rel);
	return attempt;
}

/* Tries to load a segment in a transaction of its own. */
static HgAttempt
hg_loader_attempt(const HgLoaderPlan *plan, uint32 segment)
{
	HgAttempt attempt = HG_ATTEMPT_NO_LOCK;
	Relation rel;
	bool gone;

	hg_loader_begin();
	rel = hg_loader_open(plan->key.relation, &gone);
	if (gone)
		attempt = HG_ATTEMPT_CHANGED;
	if (rel != NULL)
		attempt = hg_loader_try(plan, rel, segment);
	hg_loader_end();
	return attempt;
}

/*
 * ------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------
 */

/* Frees a segment's old version, to make room for the new one; false if there is none. */
static bool
hg_loader_vacate(const HgLoaderPlan *plan, uint32 segment)
{
	HgDirectoryEntry *entry = hg_directory_lock(plan->key, true);
	bool vacated = false;

	if (entry == NULL)
		return false;
	if (hg_resident_file_equal(entry->file, plan->file) && segment < entry->nslots)
	{
		vacated = DsaPointerIsValid(hg_directory_slots(entry)[segment].version);
		hg_directory_set_version(entry, segment, InvalidDsaPointer);
	}
	hg_directory_unlock(entry);
	return vacated;
}

/* Declines the table's own graphs, to make room for its columns; false if there are none. */
static bool
hg_loader_decline_graphs(const HgLoaderPlan *plan)
{
	HgDirectoryEntry *entry = hg_directory_lock(plan->key, true);
	HgDirectoryGraph *graphs;
	bool declined = false;

	if (entry == NULL)
		return false;
	graphs = hg_directory_graphs(entry);
	for (uint32 i = 0; i < entry->ngraphs; i++)
		if (DsaPointerIsValid(graphs[i].version))
		{
			hg_graph_decline(&graphs[i], HG_REASON_NO_MEMORY);
			declined = true;
		}
	hg_directory_unlock(entry);
	return declined;
}

/* Sleeps once in a while, with no lock held. */
static void
hg_loader_rest(TimestampTz *busy_since)
{
	if (!TimestampDifferenceExceeds(*busy_since, GetCurrentTimestamp(), HG_LOADER_BUSY_MS))
		return;
	hg_loader_sleep(HG_LOADER_REST_MS);
	*busy_since = GetCurrentTimestamp();
}

/* Loads the segments of a plan. */
static HgAttempt
hg_loader_work_off(const HgLoaderPlan *plan)
{
	TimestampTz busy_since = GetCurrentTimestamp();
	int tries = 0;

	for (int i = 0; i < plan->nsegments;)
	{
		HgAttempt attempt;

		CHECK_FOR_INTERRUPTS();
		if (plan->is_left())
			return HG_ATTEMPT_CHANGED;
		attempt = hg_loader_attempt(plan, plan->segments[i]);
		if (attempt == HG_ATTEMPT_DONE)
		{
			i++;
			tries = 0;
			hg_loader_rest(&busy_since);
		}
		else if (attempt == HG_ATTEMPT_NO_MEMORY &&
				 (hg_loader_vacate(plan, plan->segments[i]) || hg_loader_decline_graphs(plan)))
			continue;
		else if (attempt == HG_ATTEMPT_NO_MEMORY || attempt == HG_ATTEMPT_CHANGED ||
				 ++tries > HG_LOADER_LOCK_TRIES)
			return attempt;
		else
			hg_loader_sleep(HG_LOADER_LOCK_MS);
	}
	return HG_ATTEMPT_DONE;
}

/* Stores the result in the table's entry. */
static void
hg_loader_finish(const HgLoaderPlan *plan, HgAttempt attempt)
{
	HgDirectoryEntry *entry = hg_directory_lock(plan->key, true);
	HgDirectoryColumn *columns;

	if (entry == NULL)
		return;
	entry->loads += plan->nsegments;
	entry->loaded_at = GetCurrentTimestamp();
	/* another file has replaced this one: nothing is known about it */
	if (!hg_resident_file_equal(entry->file, plan->file))
		attempt = HG_ATTEMPT_CHANGED;
	if (attempt == HG_ATTEMPT_DONE)
	{
		entry->state = HG_RESIDENT_READY;
		columns = hg_directory_columns(entry);
		for (uint32 i = 0; i < entry->ncolumns; i++)
			for (int k = 0; k < plan->ncolumns; k++)
				if (columns[i].number == plan->columns[k].number)
					columns[i].state = HG_RESIDENT_READY;
	}
	else if (attempt == HG_ATTEMPT_NO_MEMORY)
		hg_loader_decline(entry, HG_REASON_NO_MEMORY);
	else
		entry->wanted = true;
	hg_directory_unlock(entry);
}

/* Claims a table for this loader.  Returns false if another loader that still runs has it. */
static bool
hg_loader_claim(HgResidentRelation key)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, true);
	bool claimed;

	if (entry == NULL)
		return true;
	claimed = entry->loader == 0 || entry->loader == MyProcPid ||
			  BackendPidGetProc(entry->loader) == NULL;
	if (claimed)
		entry->loader = MyProcPid;
	hg_directory_unlock(entry);
	return claimed;
}

static void
hg_loader_unclaim(HgResidentRelation key)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, true);

	if (entry == NULL)
		return;
	if (entry->loader == MyProcPid)
		entry->loader = 0;
	hg_directory_unlock(entry);
}

/* Makes a plan in a transaction.  NULL: nothing is to be loaded (*nothing), or no lock. */
static HgLoaderPlan *
hg_loader_try_plan(HgResidentRelation key, MemoryContext context, bool *nothing)
{
	HgLoaderPlan *plan = NULL;
	Relation rel;

	hg_loader_begin();
	rel = hg_loader_open(key.relation, nothing);
	if (*nothing)
		hg_directory_forget_relation(key);
	if (rel != NULL)
	{
		plan = hg_loader_make_plan(rel, context);
		*nothing = plan == NULL;
		hg_loader_close(rel);
	}
	hg_loader_end();
	return plan;
}

/* Loads a claimed table; returns what hg_loader_take_in does without graphs. */
static bool
hg_loader_take_in_claimed(HgResidentRelation key, bool (*is_left)(void), MemoryContext context)
{
	bool nothing;
	HgLoaderPlan *plan = hg_loader_try_plan(key, context, &nothing);
	HgAttempt attempt;

	for (int tries = 0; plan == NULL && !nothing && tries < HG_LOADER_LOCK_TRIES && !is_left();
		 tries++)
	{
		hg_loader_sleep(HG_LOADER_LOCK_MS);
		plan = hg_loader_try_plan(key, context, &nothing);
	}
	if (plan == NULL)
		return nothing;
	plan->is_left = is_left;
	attempt = hg_loader_work_off(plan);
	hg_loader_finish(plan, attempt);
	return attempt == HG_ATTEMPT_DONE || attempt == HG_ATTEMPT_NO_MEMORY;
}

/* After an error: aborts the transaction, and stores the result in the table's entry. */
static bool
hg_loader_give_up(HgResidentRelation key, MemoryContext context)
{
	bool again = hg_loader_recover(context);
	HgDirectoryEntry *entry = hg_directory_lock(key, true);

	if (entry == NULL)
		return !again;
	entry->loaded_at = GetCurrentTimestamp();
	if (again)
		entry->wanted = true;
	else
		hg_loader_decline(entry, HG_REASON_FAILED);
	hg_directory_unlock(entry);
	return !again;
}

bool
hg_loader_take_in(HgResidentRelation key, bool (*is_left)(void), MemoryContext context)
{
	volatile bool done = false;

	if (!hg_loader_claim(key))
		return false;
	PG_TRY();
	{
		done = hg_loader_take_in_claimed(key, is_left, context);
	}
	PG_CATCH();
	{
		done = hg_loader_give_up(key, context);
	}
	PG_END_TRY();
	if (done)
	{
		done = hg_loader_make_graphs(key, is_left, context);
		hg_loader_replicate_graphs(key, is_left, context);
	}
	hg_loader_unclaim(key);
	return done;
}
