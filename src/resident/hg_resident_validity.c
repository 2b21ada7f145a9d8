/*-------------------------------------------------------------------------
 *
 * hg_resident_validity.c
 *	  Which blocks of which segment versions are valid for a snapshot.
 *
 * THE CLAIM.  A block whose rows were taken in at a time c is valid for a snapshot R only if the
 * heap would give R exactly these rows.  This essay shows why, and names what of PostgreSQL it
 * leans on; it was checked against 15.18, 17.11, 18.6 and 19rc1.  "The bit" is the all-visible bit
 * of the visibility map; PD is PD_ALL_VISIBLE on the page.
 *
 * Two things have to be shown.  That a row of an all-visible block is visible to R, and no other
 * row of that block is, is what index-only scans rely on: below, "What a set bit says".  That the
 * rows of the block are those that were taken in, is what the rest is about: the bit may have been
 * cleared and set again since c, over other rows.
 *
 * WHAT A SET BIT SAYS
 *
 * R is registered, in a process connected to this database, before the bit is looked at, at r.
 * Whoever sets a bit has found every row of the page to be committed before the oldest xmin that
 * it had to heed (lazy_scan_prune, lazy_vacuum_heap_page by heap_page_is_all_visible,
 * lazy_scan_new_or_empty; since 17 heap_page_prune_and_freeze, which since 19 scans call too).  If
 * that horizon was computed before R was registered, these rows committed before R; if after, R's
 * xmin was heeded: all of them are visible to R.  As long as R is registered no row that R sees
 * can be pruned, and while a row is there that R does not see, or one that R sees and somebody has
 * deleted, the bit cannot be set.  So the rows of the block at r, and at any later time at which
 * the bit is set, are R's rows.  R's own changes have cleared the bit, which stays clear while the
 * transaction runs; those that come later are of a later command, which the heap would hide from R
 * too.
 *
 * SEVERAL PROCESSES.  What is said above is said of one block.  So the processes of a parallel
 * query, each of which decides when its part of the scan begins, need not come to the same
 * decision: a block is taken by one process, and has R's rows wherever that takes them from.  A
 * worker's snapshot is the leader's, and its xmin is installed while the leader's is still held
 * (ProcArrayInstallRestoredXmin), so that R is registered before any worker's r, and as long as the
 * worker is there.  What a worker can't tell, whether this transaction has made the table or its
 * file, the leader tells all of them before they start.
 *
 * On a standby, bits are set by replay.  Each such record comes after records whose conflict
 * horizon is not below the rows' xmin (the visible record's own cutoff, or that of the pruning and
 * freezing before it), and replay waits for snapshots that these would hide rows from, or cancels
 * them (ResolveRecoveryConflictWithSnapshot).
 *
 * WHO SETS AND CLEARS BITS
 *
 *	(1)	Every change of a block's rows is made under a transaction id that was assigned before the
 *		page was touched, and clears PD and the bit under the page's exclusive lock: heap_insert,
 *		heap_multi_insert, heap_delete, heap_update, heap_abort_speculative begin with
 *		GetCurrentTransactionId().  A subtransaction's id is above its parent's, and a prepared
 *		transaction keeps its id in the array of processes without a gap.  Row locks
 *		(heap_lock_tuple, heap_lock_updated_tuple_rec) clear the all-frozen bit alone, and change
 *		no row.
 *	(2)	Bits are set by VACUUM, as above, and by heap_multi_insert for COPY (FREEZE), which wants a
 *		file that its own subtransaction has made: such a file has another name, which nobody else
 *		knows until it is committed.  Since 19 a scan sets the bit of a page that it prunes, if its
 *		query does not change the table (heap_page_prune_opt; not on a standby): under the page's
 *		cleanup lock, which it takes if it is free, and by the tests of VACUUM.  Its horizon is
 *		GlobalVisTestXidConsideredRunning's: what (4) says of a vacuum holds for such a scan.
 *	(3)	VACUUM moves and removes rows without an id of their transactions, but only such as no
 *		snapshot of the database sees; pruning moves rows within the page, under the same line
 *		pointers.  Since 19 pruning clears a bit, too, that contradicts its page: one whose page has
 *		no PD, or dead line pointers.  That has no id, and changes no row: the bit that is cleared
 *		costs a load, and whoever sets it again tests the rows.
 *
 * REPACK and its like (CLUSTER, VACUUM FULL) write the table into another file, which takes the
 * place of the first under an access exclusive lock.  REPACK (CONCURRENTLY) takes that lock in the
 * end alone; until then changes reach the file that is cached, by the rules above.
 *
 * Not so: contrib/pg_surgery, which changes rows without an id, and what writes files behind the
 * server's back: docs/resident.md names them.
 *
 * RULE W: THE CHAIN OF SNAPSHOTS
 *
 * The witnesses (hg_resident_chain.h) hold registered snapshots S1, S2, ...: S(k+1) is registered
 * at s(k+1), then all maps are copied (the observation o(k+1)), the records lose what has lost its
 * bit, and only then Sk is dropped.  A record is VALID while its generation is the chain's.
 *
 *		If at r the bit was set, and after r the record was valid and had the block, then the
 *		rows of the block at r are those of c.
 *
 * Proof.  Suppose a transaction W changed rows between c and r, with an id by (1), and ended at e.
 * If W had not ended before r the bit would be clear at r: it is cleared before W ends and can't
 * be set over W's changes while W runs.  An aborted W leaves the rows as they were: its new rows
 * were never visible, and what it deleted is not deleted.  So W committed.
 *
 *	(4)	While a snapshot S that was registered before e is held, W's id is not removable.  A vacuum
 *		computes its horizon (ComputeXidHorizons) either before e: then W's id was among the
 *		running ones of this database, and the horizon is not above it; ids that are assigned later
 *		are larger.  Or after e: then after s, and S.xmin is not above W's id, since W had not
 *		ended at s; S is heeded, because the witness is connected to the database.  (It is not true
 *		in general that a horizon computed before S is below S.xmin: GetSnapshotData counts the ids
 *		of all databases, horizons of tables those of one.  The two cases do not need it.)
 *		GlobalVisTestIsRemovableXid has its bounds from there.
 *	(5)	So while S is held, no vacuum sets the bit over W's changes: a row that W inserted is not
 *		committed before the horizon, a row that W deleted is recently dead.
 *
 * Let Sj be the last snapshot of the chain that was registered before e.  It is held until after
 * o(j+1), whose snapshot was registered after e: o(j+1) finds the bit clear, by the order of (1)
 * and e, and the record loses the block before Sj is dropped.  A vacuum that does not heed Sj
 * computes its horizon after that, and sets the bit later still.  Whoever sees that bit, and reads
 * the record then, does not find the block in it.  QED.
 *
 *	(6)	ComputeXidHorizons reads the processes one after the other; it may miss both snapshots when
 *		they change hands meanwhile.  That it missed Sj implies that Sj was dropped before it came
 *		by: o(j+1) was done.
 *	(7)	From a bit that was seen set to the record without the block there must be an order for the
 *		processors too.  The record is changed under its entry's lock, which is released before the
 *		witness's xmin goes (a plain store, at the end of a transaction without an id); a reader
 *		takes the lock after the copy.  From W's clearing of the bit to a copy by who registered a
 *		snapshot after e, the ProcArrayLock is between: copies need no lock of the map's page.
 *	(8)	old_snapshot_threshold (15, 16) lets horizons pass by held snapshots: nothing is taken in
 *		or valid where it is set.  Processes in a lazy VACUUM or in logical decoding are passed by
 *		too (PROC_IN_VACUUM, PROC_IN_LOGICAL_DECODING): neither runs joins.
 *
 * THE ORDER OF READING IS LAW: first the copy of the bits, then the record, its version and the
 * chain's generation, in one hold of the entry's lock.  A record that was read first could have
 * lost the block since, and the bit be set again.  A generation needs no lock of its own: a chain
 * is broken before its snapshots are dropped (hg_chain_break), and a vacuum that profits from that
 * sets its bit later.  The version may be one that was published after the copy, so that c is
 * after r: at c the bit was set under R, and what a set bit says is all that is needed.
 *
 * A missed observation breaks the chain for the record that was missed, and for that alone: before
 * a round is said to be done, records that it has not observed are emptied.
 *
 * WHY TWO WITNESSES.  A process could register the next snapshot and drop the older one in one
 * transaction.  But CREATE INDEX CONCURRENTLY and its like (WaitForOlderSnapshots), and replay on
 * a standby (ResolveRecoveryConflictWithVirtualXIDs), wait for the end of a transaction whose xmin
 * is in their way, and that one would never end.  Between two transactions of one process nothing
 * is held.  So two processes take turns, and no transaction of theirs is older than two periods.
 *
 * A LOADER'S OWN SNAPSHOT
 *
 * The witnesses observe what is published.  A block is taken in up to seconds before: a change
 * that is committed and vacuumed in between would have set the bit again over other rows, before
 * anybody looked.  So the loader holds a registered snapshot LS from before it looks at the map
 * until its version has joined: by (5), with LS for S, a bit that is set at a later look under LS
 * says that the rows are those of c.  When it joins, it asks for the position of the chain (the
 * generation, then the newest round k whose snapshot is registered), then copies the bits again,
 * drops the blocks that have lost theirs, and writes the record with round k, if no strike for a
 * later round has passed the entry.  The copy is an observation under Sk, which is held until
 * round k + 1 has observed the record or struck it: LS covers c to the copy, Sk the rest.
 *
 * TAKING A BLOCK IN (hg_resident_capture.c).  The copy of a page is made under its share lock, and
 * under the same hold the map's bit is looked at once more, and PD on a primary.  That is sound on
 * a standby: replay of a change clears the map's bit before it takes the page's lock
 * (heap_xlog_insert, heap_xlog_delete, heap_xlog_update; since 17.11 and 18.6 heap_xlog_vm_clear),
 * and replay of a set bit (heap_xlog_visible, since 19 heap_xlog_prune_freeze) comes when the page
 * is done.  Looking at the bit
 * after the lock's release would not do: an insert that is replayed in between, aborts and is
 * vacuumed leaves the bit set, and its row, which never was, in the copy.
 *
 * The loader may let go of the table's lock between two pages, and of its pin on the map with it,
 * where it finds the same file and the same columns when it comes back: nothing above speaks of
 * the lock.  A file that was replaced and is back again (TRUNCATE that was rolled back) has not
 * been touched meanwhile; one that VACUUM has cut off grows again by insertions, which have
 * transaction ids.
 *
 * RULE L: POSITIONS IN THE WAL, for versions whose record has become void.  Nothing is held then;
 * but
 *
 *	(9)	Whatever sets a bit stamps the map's page with the position of its record
 *		(visibilitymap_set, by VACUUM, COPY (FREEZE), scans of 19 and replay), as the tables here
 *		are all WAL-logged.  If the map's page has the position V that it had before the first page
 *		of the version was read, no bit of it was set since: one that is set now has been set all
 *		the time.
 *	(10)	Whatever changes a row stamps the page.  If the page has the position H with which it
 *		was taken in, its rows are those that were taken in.  (Setting PD without checksums, and
 *		hints with wal_log_hints, do not change rows; the latter change H, which costs a load.)
 *
 * Bits and position are read in one hold of the map's page lock, and positions by
 * BufferGetLSNAtomic: hint bits stamp pages under a share lock.  A position of 0 was never stamped
 * (written without WAL), and one beyond the end of the WAL is not this server's.  V is read BEFORE
 * the pages: the other way round a change and a vacuum in between would give the older rows the
 * newer V.  Some versions stamp the map's page when they clear a bit too: then V differs more
 * often, and nothing else.  Positions are compared within one epoch only (hg_resident_memory.h):
 * after a crash the server may write other records at the same positions.
 *
 * For SERIALIZABLE transactions that must watch for conflicts no block is valid
 * (CheckForSerializableConflictOutNeeded): they look at each row under its page's lock.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/tableam.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_map.h"
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
	/* the maps of others get no positions, and wal_level = minimal leaves a new file's out too */
	if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT || !RelationNeedsWAL(rel))
		return HG_REASON_NOT_PERMANENT;
	return HG_REASON_NONE;
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
	else if (hg_relation_is_new(rel))
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

/* Uses of a column are noted no more often, in ms: others' caches hold what is written. */
#define HG_VALIDITY_USE_MS 1000

/* Note that a version's column is used now. */
static void
hg_validity_note_use(HgSegmentVersion *version, int column, TimestampTz now)
{
	if (TimestampDifferenceExceeds(hg_segment_used_at(version, column), now, HG_VALIDITY_USE_MS))
		pg_atomic_write_u64(&version->columns[column].used_at, (uint64) now);
}

/* Has a version all of these columns?  They are used; missed[] tells which are not there. */
static bool
hg_validity_use_columns(HgSegmentVersion *version, const HgResidentColumn *columns, int ncolumns,
						TimestampTz now, bool *missed)
{
	bool all = true;

	for (int i = 0; i < ncolumns; i++)
	{
		int at = hg_segment_find_column(version, &columns[i]);

		if (at >= 0)
			hg_validity_note_use(version, at, now);
		else
			missed[i] = true;
		all &= at >= 0;
	}
	return all;
}

/*
 * Takes what the slots of a locked entry have for these bits, of which the valid blocks are left,
 * and pins it.  Versions that processes have pinned can't be evicted, and stay beside those that
 * have taken their place.  Where cursors that nobody reads from hold more than half of the area,
 * nothing is pinned that was not.
 */
static void
hg_validity_take(HgValidBlocks *valid, HgDirectoryEntry *entry, uint64 generation,
				 HgBlockBits *bits, uint32 nsegments, const HgResidentColumn *columns, int ncolumns,
				 bool *missed)
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
			memset(missed, true, ncolumns);
			continue;
		}
		if (slots[i].record.position.generation != generation)
			continue;
		hg_block_bits_and(&bits[i], &slots[i].record.blocks);
		count = hg_block_bits_count(&bits[i], NULL);
		if (count == 0)
			continue;
		version = hg_segment_version(slots[i].version);
		if (!hg_validity_use_columns(version, columns, ncolumns, now, missed) ||
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
		if (missed[i])
			hg_directory_note_missed(entry, columns[i].number, now);
}

/*
 * True if blocks of a table's file can be valid.  That is a hint, which spares others the copy of
 * its bits: the caller determines it again after that.
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

/* Creates an empty set of valid blocks, of a table of so many segments. */
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
	bool *missed;
	HgValidBlocks *valid;
	HgDirectoryEntry *entry;
	uint64 generation;

	Assert(snapshot->regd_count > 0 || snapshot->active_count > 0);
	if (chain == NULL || nsegments == 0 || !hg_validity_has_versions(rel, key, chain))
		return NULL;
	valid = hg_validity_create(nsegments);

	/* the bits first, which stay with the valid blocks */
	bits = palloc(nsegments * sizeof(HgBlockBits));
	hg_map_copy(rel, 0, nsegments, bits);
	/* a scan reads no block that was added since it began */
	for (int i = nblocks % HG_SEGMENT_BLOCKS; i > 0 && i < HG_SEGMENT_BLOCKS; i++)
		hg_block_bits_clear(&bits[nsegments - 1], i);

	missed = palloc0(Max(ncolumns, 1) * sizeof(bool));

	/* then the records */
	entry = hg_directory_lock(key, false);
	if (entry != NULL)
	{
		generation = hg_chain_generation(chain);
		if (generation != 0 && hg_resident_file_equal(entry->file, hg_resident_file(rel)))
			hg_validity_take(valid, entry, generation, bits, nsegments, columns, ncolumns, missed);
		hg_directory_unlock(entry);
	}
	pfree(missed);
	/* what is not used stays until the context goes: it is registered there */
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
