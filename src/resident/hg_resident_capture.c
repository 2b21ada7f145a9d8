/*-------------------------------------------------------------------------
 *
 * hg_resident_capture.c
 *	  Loads a segment: from before its first page is read until its version has joined the chain.
 *
 * hg_resident_validity.c proves the conditions of each step.  In short: the map's page is read
 * before any page of the table, with bits and LSN under one lock.  A page is copied under its
 * share lock, under which the map's bit is read once more.  The bits are copied again when the
 * version is published.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/transam.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "resident/hg_page_vis.h"
#include "resident/hg_resident_capture.h"
#include "resident/hg_resident_statistics.h"

/* Returns true if an LSN can be that of a record that this server has written or replayed. */
static bool
hg_capture_is_plausible(XLogRecPtr lsn)
{
	/* pages that were written without WAL, and never vacuumed since, have no LSN */
	if (XLogRecPtrIsInvalid(lsn))
		return false;
	if (RecoveryInProgress())
		return lsn <= GetXLogReplayRecPtr(NULL);
	return lsn <= GetXLogInsertRecPtr();
}

/*
 * Returns the xmin of the capture's snapshot.  A transaction that inserts a row after a block was
 * read was still running when the snapshot was taken, so its id is not older.
 */
static FullTransactionId
hg_capture_horizon(void)
{
	TransactionId xmin = GetActiveSnapshot()->xmin;
	FullTransactionId next = ReadNextFullTransactionId();
	uint32 epoch = EpochFromFullTransactionId(next);

	return FullTransactionIdFromEpochAndXid(
		xmin > XidFromFullTransactionId(next) ? epoch - 1 : epoch, xmin);
}

bool
hg_capture_begin(HgCapture *capture, Relation rel, uint32 segment, BufferAccessStrategy strategy)
{
	Assert(ActiveSnapshotSet());
	memset(capture, 0, sizeof(HgCapture));
	capture->rel = rel;
	capture->segment = segment;
	capture->strategy = strategy;
	capture->horizon = hg_capture_horizon();
	return hg_map_look(rel, segment, &capture->wanted, &capture->map_lsn, &capture->map) &&
		   hg_capture_is_plausible(capture->map_lsn);
}

/*
 * Returns true if a page, whose share lock is held, is all-visible now.  The map's bit must be
 * read under the page's lock, on a primary and on a standby.  A process that changes the page
 * clears the bit before it releases the page's lock, and replay clears it before it takes that
 * lock.  The page's own bit counts only on a primary.  heapgetpage() and heap_prepare_pagescan()
 * do not believe it either if the snapshot was taken during recovery.
 */
static bool
hg_capture_is_visible(const HgCapture *capture, BlockNumber block, Page page)
{
	return hg_map_peek(capture->map, block) && (RecoveryInProgress() || PageIsAllVisible(page));
}

bool
hg_capture_page(HgCapture *capture, BlockNumber block, HgCapturedPage *page)
{
	Buffer buffer =
		ReadBufferExtended(capture->rel, MAIN_FORKNUM, block, RBM_NORMAL, capture->strategy);
	bool visible;

	Assert(hg_block_bits_test(&capture->wanted, block % HG_SEGMENT_BLOCKS));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	visible = hg_capture_is_visible(capture, block, BufferGetPage(buffer));
	if (visible)
	{
		memcpy(page->content.data, BufferGetPage(buffer), BLCKSZ);
		page->lsn = BufferGetLSNAtomic(buffer);
		page->buffer = buffer;
	}
	UnlockReleaseBuffer(buffer);
	if (visible && !hg_capture_is_plausible(page->lsn))
	{
		capture->refused++;
		visible = false;
	}
	return visible;
}

/*
 * Writes the record of a version: the slot's, or with publish a new one that is published with the
 * record.  blocks are the candidates; *count becomes the number of blocks in the record.  Returns
 * false if the version does not join.
 */
static bool
hg_capture_write_record(HgCapture *capture, dsa_pointer version, bool publish,
						const HgBlockBits *blocks, int *count)
{
	HgResidentRelation key = hg_resident_relation(capture->rel);
	HgChain *chain = hg_chain_find(key.database);
	bool joined = false;
	bool again = chain != NULL;

	while (again)
	{
		/* first the position, then the bits, then the record */
		HgChainPosition position = hg_chain_position(chain);
		HgSegmentRecord record = {.position = position};
		HgDirectoryEntry *entry;
		int visible;

		/* not after publication: then the version is not the caller's any more */
		CHECK_FOR_INTERRUPTS();
		hg_map_copy(capture->rel, capture->segment, 1, &record.blocks);
		visible = hg_block_bits_count(&record.blocks, NULL);
		hg_block_bits_and(&record.blocks, blocks);
		entry = hg_directory_lock(key, true);
		if (entry == NULL)
			return false;
		if (hg_resident_file_equal(entry->file, hg_resident_file(capture->rel)) &&
			capture->segment < entry->nslots && hg_chain_generation(chain) != 0)
		{
			HgSegmentSlot *slot = &hg_directory_slots(entry)[capture->segment];
			bool expected = publish || slot->version == version;

			/*
			 * an observation of the entry has begun, or a strike has passed, since the position
			 * was read: repeat under a newer snapshot
			 */
			again = expected && !hg_chain_may_join(chain, entry, position);
			if (expected && !again)
			{
				if (publish)
					hg_directory_set_version(entry, capture->segment, version);
				entry->disturbed = true;
				slot->record = record;
				slot->wanted = false;
				*count = hg_block_bits_count(&record.blocks, NULL);
				slot->visible = visible;
				slot->loadable = visible - *count;
				slot->rested = 0;
				if (publish)
					slot->refused = capture->refused;
				joined = true;
			}
		}
		else
			again = false;
		hg_directory_unlock(entry);
	}
	return joined;
}

bool
hg_capture_join(HgCapture *capture, dsa_pointer version)
{
	HgBlockBits taken = hg_segment_version(version)->taken;
	int count;

	if (!hg_capture_write_record(capture, version, true, &taken, &count))
		return false;
	hg_resident_count(HG_COUNT_LOADS, 1);
	return true;
}

/* Dropping the table's file waits for pins, without sleeping, so they go with the lock. */
void
hg_capture_let_go(HgCapture *capture)
{
	if (BufferIsValid(capture->map))
		ReleaseBuffer(capture->map);
	capture->map = InvalidBuffer;
	capture->rel = NULL;
}

bool
hg_capture_go_on(HgCapture *capture, Relation rel)
{
	HgBlockBits bits;
	XLogRecPtr lsn;

	capture->rel = rel;
	if (!hg_map_look(rel, capture->segment, &bits, &lsn, &capture->map))
		return false;
	/* what was seen at first still holds, except for truncated blocks */
	hg_block_bits_and(&capture->wanted, &bits);
	return true;
}

/* Rule L for one block: returns true if its page is in memory and unchanged. */
static bool
hg_capture_is_unchanged(HgCapture *capture, BlockNumber block, XLogRecPtr lsn, Buffer buffer)
{
	bool unchanged;

	if (!hg_read_recent_buffer(capture->rel, block, buffer))
		return false;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	unchanged = BufferGetLSNAtomic(buffer) == lsn &&
				hg_capture_is_visible(capture, block, BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return unchanged;
}

/* Pins the version of the segment's slot, whatever its record says; invalid if there is none. */
static dsa_pointer
hg_capture_pin_void(HgCapture *capture)
{
	HgDirectoryEntry *entry = hg_directory_lock(hg_resident_relation(capture->rel), false);
	dsa_pointer version = InvalidDsaPointer;

	if (entry == NULL)
		return InvalidDsaPointer;
	if (hg_resident_file_equal(entry->file, hg_resident_file(capture->rel)) &&
		capture->segment < entry->nslots)
	{
		version = hg_directory_slots(entry)[capture->segment].version;
		if (DsaPointerIsValid(version))
			hg_segment_version_pin(hg_segment_version(version));
	}
	hg_directory_unlock(entry);
	return version;
}

static void
hg_capture_unpin(void *arg)
{
	dsa_pointer *version = arg;

	if (DsaPointerIsValid(*version))
		hg_segment_version_release(*version);
	*version = InvalidDsaPointer;
}

int
hg_capture_readmit(HgCapture *capture)
{
	struct
	{
		HgCleanup cleanup;
		dsa_pointer version;
	} *pinned = palloc0(sizeof(*pinned));
	HgSegmentVersion *version;
	HgSegmentRows rows;
	HgBlockBits blocks;
	int count = 0;

	hg_cleanup_register(&pinned->cleanup, CurrentMemoryContext, hg_capture_unpin, &pinned->version);
	pinned->version = hg_capture_pin_void(capture);
	if (!DsaPointerIsValid(pinned->version))
		return -1;
	version = hg_segment_version(pinned->version);
	rows = hg_segment_rows(version);
	blocks = version->taken;
	hg_block_bits_and(&blocks, &capture->wanted);
	if (version->map_lsn != capture->map_lsn)
		for (int i = 0; i < HG_SEGMENT_BLOCKS; i++)
		{
			if (hg_block_bits_test(&blocks, i) &&
				!hg_capture_is_unchanged(capture, version->first + i, rows.lsns[i],
										 rows.buffers[i]))
				hg_block_bits_clear(&blocks, i);
			CHECK_FOR_INTERRUPTS();
		}
	if (hg_block_bits_count(&blocks, NULL) > 0 &&
		!hg_capture_write_record(capture, pinned->version, false, &blocks, &count))
		count = 0;
	hg_resident_count(HG_COUNT_BLOCKS_READMITTED, count);
	hg_capture_unpin(&pinned->version);
	return count;
}
