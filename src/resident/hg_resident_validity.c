/*-------------------------------------------------------------------------
 *
 * hg_resident_validity.c
 *	  Determines which blocks of which segment versions are valid for a snapshot.
 *
 * THE CLAIM.  A block whose rows were loaded at a time c is valid for a snapshot R only if the
 * heap would give R exactly these rows.  This essay proves it, and names what it relies on in
 * PostgreSQL.  It was checked against 15.18, 17.11, 18.6 and 19rc1.  "The bit" is the all-visible
 * bit of the visibility map; PD is PD_ALL_VISIBLE on the page.
 *
 * There are two things to prove.  The first is that R sees every row of an all-visible block and
 * no other row of it.  Index-only scans rely on that too: see "What a set bit says".  The second
 * is that the block's rows are those that were loaded, although the bit may have been cleared and
 * set again since c, over other rows.  The rest proves that.
 *
 * WHAT A SET BIT SAYS
 *
 * R is registered, in a process connected to this database, before the bit is read, at r.  A
 * process sets a bit only if it has found every row of the page to be committed before the oldest
 * xmin that it had to heed (lazy_scan_prune, lazy_vacuum_heap_page by heap_page_is_all_visible,
 * lazy_scan_new_or_empty; since 17 heap_page_prune_and_freeze, which since 19 scans call too).  If
 * that horizon was computed before R was registered, these rows committed before R.  If it was
 * computed after, R's xmin was heeded.  In both cases R sees all of them.  While R is registered,
 * no row that R sees can be pruned.  While there is a row that R does not see, or that R sees and
 * somebody has deleted, the bit cannot be set.  So the rows of the block at r, and at any later
 * time at which the bit is set, are R's rows.  R's own changes clear the bit, which stays clear
 * while the transaction runs.  Its later changes are of a later command, which the heap would hide
 * from R too.
 *
 * SEVERAL PROCESSES.  The argument is about one block.  So the processes of a parallel query, each
 * of which decides when its part of the scan begins, may decide differently: one process reads a
 * block, and gets R's rows from either source.  A worker's snapshot is the leader's.  Its xmin is
 * installed while the leader still holds it (ProcArrayInstallRestoredXmin).  So R is registered
 * before any worker's r, and as long as the worker exists.  A worker's relcache does not know
 * whether this transaction has made the table or its file.  But the worker knows the ids of the
 * transaction, and one of them is then the xmin of the table's row in pg_class: making either
 * writes a new version of this row.
 *
 * On a standby, replay sets bits.  Each such record comes after records whose conflict horizon is
 * not below the rows' xmin (the visible record's own cutoff, or that of the pruning and freezing
 * before it).  Replay waits for snapshots from which these would hide rows, or cancels them
 * (ResolveRecoveryConflictWithSnapshot).
 *
 * WHAT SETS AND CLEARS BITS
 *
 *	(1)	Every change of a block's rows has a transaction id that was assigned before the page was
 *		touched, and clears PD and the bit under the page's exclusive lock: heap_insert,
 *		heap_multi_insert, heap_delete, heap_update, heap_abort_speculative begin with
 *		GetCurrentTransactionId().  A subtransaction's id is above its parent's.  A prepared
 *		transaction keeps its id in the process array without a gap.  Row locks (heap_lock_tuple,
 *		heap_lock_updated_tuple_rec) clear only the all-frozen bit, and change no row.
 *	(2)	VACUUM sets bits, as above.  So does heap_multi_insert for COPY (FREEZE), which requires a
 *		file that its own subtransaction has made; nobody else knows that file's name before the
 *		commit.  Since 19 a scan sets the bit of a page that it prunes, if its query does not
 *		change the table (heap_page_prune_opt; not on a standby).  It does so under the page's
 *		cleanup lock, if that is free, and with VACUUM's tests.  Its horizon is
 *		GlobalVisTestXidConsideredRunning's: (4) holds for such a scan as for a vacuum.
 *	(3)	VACUUM moves and removes rows without a transaction id, but only rows that no snapshot of
 *		the database sees.  Pruning moves rows within the page, under the same line pointers.
 *		Since 19 pruning also clears a bit that contradicts its page, which has no PD, or dead line
 *		pointers.  That has no id and changes no row: the cleared bit costs a load, and whoever
 *		sets it again tests the rows.
 *
 * REPACK, CLUSTER and VACUUM FULL write the table into another file, which replaces the first
 * under an access exclusive lock.  REPACK (CONCURRENTLY) takes that lock only at the end.  Until
 * then changes reach the cached file, by the rules above.
 *
 * Exceptions are contrib/pg_surgery, which changes rows without an id, and anything that writes
 * files behind the server's back: docs/explanation/cached-columns.md names them.
 *
 * RULE W: THE CHAIN OF SNAPSHOTS
 *
 * The witnesses (hg_resident_chain.h) hold registered snapshots S1, S2, ...: S(k+1) is registered
 * at s(k+1).  Then all maps are copied (the observation o(k+1)), the records lose the blocks that
 * have lost their bit, and only then Sk is dropped.  A record is VALID while its generation is the
 * chain's.
 *
 *	If at r the bit was set, and after r the record was valid and had the block, then the
 *	rows of the block at r are those of c.
 *
 * Proof.  Suppose a transaction W changed rows between c and r, with an id by (1), and ended at e.
 * If W had not ended before r, the bit would be clear at r: it is cleared before W ends, and
 * cannot be set over W's changes while W runs.  If W aborted, the rows are as they were: W's new
 * rows were never visible, and what it deleted is not deleted.  So W committed.
 *
 *	(4)	While a snapshot S that was registered at s, before e, is held, W's id is not removable.
 *		A vacuum may compute its horizon (ComputeXidHorizons) before e.  Then W's id was among the
 *		running ones of this database, and the horizon is not above it; ids that are assigned later
 *		are larger.  Or it computes its horizon after e, and so after s.  Then S.xmin is not above
 *		W's id, since W had not ended at s, and S is heeded, because the witness is connected to the
 *		database.  (It is not true in general that a horizon computed before S is below S.xmin:
 *		GetSnapshotData counts the ids of all databases, and horizons of tables those of one.  The
 *		two cases do not need it.)  GlobalVisTestIsRemovableXid has its bounds from there.
 *	(5)	So while S is held, no vacuum sets the bit over W's changes: a row that W inserted is not
 *		committed before the horizon, and a row that W deleted is recently dead.
 *
 * Let Sj be the last snapshot of the chain that was registered before e.  It is held until after
 * o(j+1), whose snapshot was registered after e.  By the order of (1) and e, o(j+1) finds the bit
 * clear, and the record loses the block before Sj is dropped.  A vacuum that does not heed Sj
 * computes its horizon after that, and sets the bit later still.  A process that sees that bit,
 * and then reads the record, does not find the block in it.  QED.
 *
 *	(6)	ComputeXidHorizons reads the processes one after the other.  It may miss both snapshots if
 *		they change hands meanwhile.  If it missed Sj, Sj was dropped before it came by: o(j+1) was
 *		done.
 *	(7)	Processors, too, must order the bit that was seen set before the record without the block.
 *		The record is changed under its entry's lock, which is released before the witness's xmin
 *		goes (a plain store, at the end of a transaction without an id).  A reader takes the lock
 *		after the copy.  Between W's clearing of the bit and a copy by a process that registered a
 *		snapshot after e lies the ProcArrayLock: copies need no lock of the map's page.
 *	(8)	old_snapshot_threshold (15, 16) lets horizons pass held snapshots: nothing is loaded or
 *		valid if it is set.  Horizons also pass processes in a lazy VACUUM or in logical decoding
 *		(PROC_IN_VACUUM, PROC_IN_LOGICAL_DECODING): neither runs joins.
 *
 * THE ORDER OF READING IS LAW: first the copy of the bits, then the record, its version and the
 * chain's generation, under one hold of the entry's lock.  A record that was read first could have
 * lost the block since, and the bit been set again.  A generation needs no lock of its own: a
 * chain is broken before its snapshots are dropped (hg_chain_break), and a vacuum that profits
 * from that sets its bit later.  The version may have been published after the copy, so that c is
 * after r.  Then at c the bit was set under R, and what a set bit says suffices.
 *
 * A missed observation breaks the chain only for the record that it missed: before a round is
 * finished, records that it has not observed are emptied.
 *
 * WHY TWO WITNESSES.  One process could register the next snapshot and drop the older one in one
 * transaction.  But CREATE INDEX CONCURRENTLY and similar commands (WaitForOlderSnapshots), and
 * replay on a standby (ResolveRecoveryConflictWithVirtualXIDs), wait for the end of a transaction
 * whose xmin is in their way, and that one would never end.  Between two transactions of one
 * process nothing is held.  So two processes take turns, and no transaction of theirs is older
 * than two periods.
 *
 * A LOADER'S OWN SNAPSHOT
 *
 * The witnesses observe what is published.  A block is loaded up to seconds before that.  A change
 * that is committed and vacuumed in between would have set the bit again over other rows before
 * anybody looked.  So the loader holds a registered snapshot LS from before it reads the map until
 * its version has joined.  By (5), with LS for S, a bit that is set when it is read again under LS
 * says that the rows are those of c.  To join, the loader reads the position of the chain (the
 * generation, then the newest round k whose snapshot is registered).  Then it copies the bits
 * again, drops the blocks that have lost theirs, and writes the record with round k, if no strike
 * for a later round has passed the entry.  The copy is an observation under Sk, which is held
 * until round k + 1 has observed the record or struck it.  LS covers c to the copy, Sk the rest.
 *
 * LOADING A BLOCK (hg_resident_capture.c).  The page is copied under its share lock.  Under the
 * same hold the map's bit is read once more, and on a primary PD.  That is sound on a standby.
 * Replay of a change clears the map's bit before it takes the page's lock (heap_xlog_insert,
 * heap_xlog_delete, heap_xlog_update; since 17.11 and 18.6 heap_xlog_vm_clear).  Replay of a set
 * bit (heap_xlog_visible, since 19 heap_xlog_prune_freeze) comes when the page is done.  Reading
 * the bit after the lock's release would be wrong: an insert may be replayed in between, abort and
 * be vacuumed.  That leaves the bit set, and in the copy a row that never was.
 *
 * Between two pages the loader may release the table's lock, and with it its pin on the map, if it
 * finds the same file and columns when it comes back: nothing above depends on the lock.  A file
 * that was replaced and is back again (TRUNCATE that was rolled back) has not been touched
 * meanwhile.  One that VACUUM has truncated grows again by insertions, which have transaction ids.
 *
 * RULE L: LSNS, for versions whose record has become void.  Nothing is held then; but
 *
 *	(9)	Whatever sets a bit stamps the map's page with the LSN of its record (visibilitymap_set, by
 *		VACUUM, COPY (FREEZE), scans of 19 and replay), as the tables here are all WAL-logged.  If
 *		the map's page has the LSN V that it had before the first page of the version was read, no
 *		bit of it was set since: a bit that is set now has been set all the time.
 *	(10)	Whatever changes a row stamps the page.  If the page has the LSN H with which it was
 *		loaded, its rows are those that were loaded.  (Setting PD without checksums, and hints with
 *		wal_log_hints, do not change rows; the latter change H, which costs a load.)
 *
 * Bits and LSN are read under one hold of the map page's lock, and LSNs by BufferGetLSNAtomic:
 * hint bits stamp pages under a share lock.  An LSN of 0 was never stamped (written without WAL),
 * and one beyond the end of the WAL is not this server's.  V is read BEFORE the pages: in the
 * other order a change and a vacuum in between would give the older rows the newer V.  Some
 * versions of PostgreSQL also stamp the map's page when they clear a bit.  Then V differs more
 * often, and nothing else.  LSNs are compared only within one epoch (hg_resident_memory.h): after
 * a crash the server may write other records at the same LSNs.
 *
 * For SERIALIZABLE transactions that must watch for conflicts no block is valid
 * (CheckForSerializableConflictOutNeeded): they check each row under its page's lock.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "resident/hg_page_vis.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_validity.h"

HgResidentReason
hg_validity_may_take_in(Relation rel)
{
	if (!hg_snapshots_are_kept())
		return HG_REASON_OLD_SNAPSHOTS;
	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_MATVIEW)
		return HG_REASON_NOT_TABLE;
	if (IsSystemRelation(rel))
		return HG_REASON_NOT_TABLE;
	if (rel->rd_tableam != GetHeapamTableAmRoutine())
		return HG_REASON_NOT_HEAP;
	/* maps of other tables get no LSNs, and neither does a new file under wal_level = minimal */
	if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT || !RelationNeedsWAL(rel))
		return HG_REASON_NOT_PERMANENT;
	return HG_REASON_NONE;
}

/* Returns true if this transaction may have made the relation or its file. */
static bool
hg_validity_is_new(Relation rel)
{
	HeapTuple row;
	bool is_new;

	if (!IsParallelWorker())
		return hg_relation_is_new(rel);
	row = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(rel)));
	is_new = !HeapTupleIsValid(row) ||
			 TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data));
	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	return is_new;
}

bool
hg_validity_may_use(Relation rel, Snapshot snapshot, const char **why_not)
{
	*why_not = NULL;
	if (!hg_resident_memory_exists())
		*why_not = "hashgraph.resident_memory is 0";
	else if (snapshot->snapshot_type != SNAPSHOT_MVCC)
		*why_not = "its snapshot is not an MVCC snapshot";
	else if (hg_validity_may_take_in(rel) != HG_REASON_NONE)
		*why_not = "it is not a table that may be resident";
	else if (hg_validity_is_new(rel))
		*why_not = "this transaction has made the table, or its file";
	else if (CheckForSerializableConflictOutNeeded(rel, snapshot))
		*why_not = "the transaction is serializable";
	return *why_not == NULL;
}

static void
hg_validity_unpin(void *arg)
{
	HgValidBlocks *valid = arg;

	while (valid->nsegments > 0)
	{
		if (valid->nsegments > HG_VERSIONS_AHEAD)
			hg_segment_version_prefetch(
				valid->segments[valid->nsegments - 1 - HG_VERSIONS_AHEAD].pointer);
		hg_segment_version_release(valid->segments[--valid->nsegments].pointer);
	}
}

/* Uses of a column are noted at most this often, in ms: a write invalidates other CPUs' caches. */
#define HG_VALIDITY_USE_MS 1000

/* Notes that a version's column is used now. */
static void
hg_validity_note_use(HgSegmentVersion *version, int column, TimestampTz now)
{
	if (TimestampDifferenceExceeds(hg_segment_used_at(version, column), now, HG_VALIDITY_USE_MS))
		pg_atomic_write_u64(&version->columns[column].used_at, (uint64) now);
}

/* Notes the use of columns.  True: the version has all.  Sets missed[] for those it lacks. */
static bool
hg_validity_use_columns(HgSegmentVersion *version, const HgResidentColumn *columns, int ncolumns,
						TimestampTz now, bool *missing)
{
	bool all = true;

	for (int i = 0; i < ncolumns; i++)
	{
		int at = hg_segment_find_column(version, &columns[i]);

		if (at >= 0)
			hg_validity_note_use(version, at, now);
		else
			missing[i] = true;
		all &= at >= 0;
	}
	return all;
}

/*
 * Pins the segments of a locked entry that have valid blocks, and reduces bits to the valid ones.
 * Pinned versions can't be evicted, and remain beside versions that replace them.  If idle cursors
 * pin more than half of the area, only versions that are pinned already are used.
 */
static void
hg_validity_take(HgValidBlocks *valid, HgDirectoryEntry *entry, uint64 generation,
				 HgBlockBits *bits, uint32 nsegments, const HgResidentColumn *columns, int ncolumns,
				 bool *missing)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	bool may_pin = !hg_resident_memory_is_idle();
	TimestampTz now = GetCurrentTimestamp();

	nsegments = Min(nsegments, entry->nslots);
	for (uint32 i = 0; i < nsegments; i++)
	{
		HgValidSegment *segment = &valid->segments[valid->nsegments];
		HgSegmentVersion *version;
		int count;

		hg_directory_prefetch(slots, nsegments, i);
		if (!DsaPointerIsValid(slots[i].version))
		{
			memset(missing, true, ncolumns);
			continue;
		}
		if (slots[i].record.position.generation != generation)
			continue;
		hg_block_bits_and(&bits[i], &slots[i].record.blocks);
		count = hg_block_bits_count(&bits[i], NULL);
		if (count == 0)
			continue;
		version = hg_segment_version(slots[i].version);
		if (!hg_validity_use_columns(version, columns, ncolumns, now, missing) ||
			(!may_pin && !hg_segment_version_is_pinned(version)))
			continue;
		hg_segment_version_pin(version);
		segment->pointer = slots[i].version;
		segment->version = version;
		segment->blocks = &bits[i];
		valid->nblocks += count;
		valid->nsegments++;
	}
	for (int i = 0; i < ncolumns; i++)
		if (missing[i])
			hg_directory_note_missing(entry, columns[i].number, now);
}

/*
 * Returns true if blocks of a table's file can be valid.  This hint spares other tables the copy
 * of their bits; the caller checks again after the copy.
 */
static bool
hg_validity_has_versions(Relation rel, HgResidentRelation key, const HgChain *chain)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	bool found;

	if (entry == NULL)
		return false;
	found = entry->nslots > 0 && hg_chain_generation(chain) != 0 &&
			hg_resident_file_equal(entry->file, hg_resident_file(rel));
	hg_directory_unlock(entry);
	return found;
}

/* Creates an empty set of valid blocks, with room for nsegments. */
static HgValidBlocks *
hg_validity_create(uint32 nsegments)
{
	HgValidBlocks *valid =
		palloc(offsetof(HgValidBlocks, segments) + nsegments * sizeof(HgValidSegment));

	valid->nsegments = 0;
	valid->nblocks = 0;
	hg_cleanup_register(&valid->cleanup, CurrentMemoryContext, hg_validity_unpin, valid);
	return valid;
}

HgValidBlocks *
hg_validity_find(Relation rel, Snapshot snapshot, BlockNumber nblocks,
				 const HgResidentColumn *columns, int ncolumns)
{
	HgResidentRelation key = hg_resident_relation(rel);
	uint32 nsegments = hg_segment_count(nblocks);
	HgChain *chain = hg_chain_find(key.database);
	HgBlockBits *bits;
	bool *missing;
	HgValidBlocks *valid;
	HgDirectoryEntry *entry;
	uint64 generation;

	Assert(snapshot->regd_count > 0 || snapshot->active_count > 0);
	if (chain == NULL || nsegments == 0 || !hg_validity_has_versions(rel, key, chain))
		return NULL;
	valid = hg_validity_create(nsegments);

	/* the bits first; they stay with the valid blocks */
	bits = palloc(nsegments * sizeof(HgBlockBits));
	hg_map_copy(rel, 0, nsegments, bits);
	/* a scan reads no block that was added since it began */
	for (int i = nblocks % HG_SEGMENT_BLOCKS; i > 0 && i < HG_SEGMENT_BLOCKS; i++)
		hg_block_bits_clear(&bits[nsegments - 1], i);

	missing = palloc0(Max(ncolumns, 1) * sizeof(bool));

	/* then the records */
	entry = hg_directory_lock(key, false);
	if (entry != NULL)
	{
		generation = hg_chain_generation(chain);
		if (generation != 0 && hg_resident_file_equal(entry->file, hg_resident_file(rel)))
			hg_validity_take(valid, entry, generation, bits, nsegments, columns, ncolumns, missing);
		hg_directory_unlock(entry);
	}
	pfree(missing);
	/* an unused set stays until the context is reset: it is registered there */
	return valid->nblocks > 0 ? valid : NULL;
}

HgValidBlocks *
hg_validity_share(const HgValidCopy *copies, int ncopies)
{
	HgValidBlocks *valid = hg_validity_create((uint32) ncopies);

	for (int i = 0; i < ncopies; i++)
	{
		const HgValidCopy *copy = &copies[i];
		HgValidSegment *segment = &valid->segments[i];
		HgSegmentVersion *version = hg_segment_version(copy->version);

		hg_segment_version_pin(version);
		*segment =
			(HgValidSegment){.pointer = copy->version, .version = version, .blocks = &copy->blocks};
		valid->nblocks += hg_block_bits_count(&copy->blocks, NULL);
		valid->nsegments++;
	}
	return valid;
}

void
hg_validity_release(HgValidBlocks *valid)
{
	hg_validity_unpin(valid);
}
