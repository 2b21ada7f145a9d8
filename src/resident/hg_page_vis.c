/*-------------------------------------------------------------------------
 *
 * hg_page_vis.c
 *	  Page visibility cache: which rows of changed blocks of a segment version snapshots see.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/transam.h"

#include "resident/hg_resident_key.h"
#include "resident/hg_page_vis.h"
#include "resident/hg_resident_memory.h"

/* One in this many bytes of the area must stay free. */
#define HG_PAGE_VIS_LEFT_PART 16

/* Bytes of the slots of a segment. */
#define HG_PAGE_VIS_BYTES (HG_SEGMENT_BLOCKS * sizeof(HgPageVisSlot))

/* The slot of a block.  An LSN of 0 means no entry. */
typedef struct HgPageVisSlot
{
	pg_atomic_uint32 turn;	 /* odd during a write */
	pg_atomic_uint32 buffer; /* that had the page last; 0: unknown */
	HgPageVis vis;
} HgPageVisSlot;

StaticAssertDecl(sizeof(HgPageVisSlot) == 64, "a slot is not a cache line");

void
hg_page_vis_init(HgPageVisCache *cache)
{
	pg_atomic_init_u64(&cache->slots, InvalidDsaPointer);
}

/* Returns the slots of the segment's blocks, or NULL. */
static HgPageVisSlot *
hg_page_vis_slots(HgPageVisCache *cache)
{
	dsa_pointer pointer = pg_atomic_read_u64(&cache->slots);

	return DsaPointerIsValid(pointer) ? hg_resident_address(pointer) : NULL;
}

/* Returns the slots, and allocates them if there are none; NULL if there is no room. */
static HgPageVisSlot *
hg_page_vis_make(HgPageVisCache *cache)
{
	Size size = hg_resident_memory_size();
	uint64 none = InvalidDsaPointer;
	dsa_pointer pointer;

	if (hg_page_vis_slots(cache) != NULL)
		return hg_page_vis_slots(cache);
	/* each block comes here: take the area's lock only if there seems to be room */
	if (hg_resident_memory_used() + HG_PAGE_VIS_BYTES + size / HG_PAGE_VIS_LEFT_PART > size)
		return NULL;
	pointer = hg_resident_allocate(NULL, HG_PAGE_VIS_BYTES);
	if (!DsaPointerIsValid(pointer))
		return NULL;
	memset(hg_resident_address(pointer), 0, HG_PAGE_VIS_BYTES);
	/* another process may have been first */
	if (!pg_atomic_compare_exchange_u64(&cache->slots, &none, pointer))
		hg_resident_free(pointer, HG_PAGE_VIS_BYTES);
	return hg_page_vis_slots(cache);
}

Size
hg_page_vis_free(HgPageVisCache *cache)
{
	dsa_pointer pointer = pg_atomic_read_u64(&cache->slots);

	if (!DsaPointerIsValid(pointer))
		return 0;
	hg_page_vis_init(cache);
	hg_resident_free(pointer, HG_PAGE_VIS_BYTES);
	return HG_PAGE_VIS_BYTES;
}

/* Returns true if an entry holds for a snapshot with this xmin. */
static bool
hg_page_vis_is_valid(const HgPageVis *vis, TransactionId xmin)
{
	return !TransactionIdIsValid(vis->newest) || TransactionIdPrecedes(vis->newest, xmin);
}

bool
hg_page_vis_find(HgPageVisCache *cache, int block, XLogRecPtr lsn, TransactionId xmin,
				 HgPageVis *vis)
{
	HgPageVisSlot *slot = hg_page_vis_slots(cache);
	uint32 turn;

	if (slot == NULL || XLogRecPtrIsInvalid(lsn))
		return false;
	slot += block;
	turn = pg_atomic_read_u32(&slot->turn);
	pg_read_barrier();
	*vis = slot->vis;
	pg_read_barrier();
	return turn % 2 == 0 && pg_atomic_read_u32(&slot->turn) == turn && vis->lsn == lsn &&
		   hg_page_vis_is_valid(vis, xmin);
}

void
hg_page_vis_store(HgPageVisCache *cache, int block, TransactionId xmin, const HgPageVis *vis,
				  Buffer buffer)
{
	HgPageVisSlot *slot;
	uint32 turn;

	Assert(vis->nrows + vis->nothers <= HG_PAGE_VIS_ROWS);
	if (XLogRecPtrIsInvalid(vis->lsn) || !hg_page_vis_is_valid(vis, xmin))
		return;
	slot = hg_page_vis_make(cache);
	if (slot == NULL)
		return;
	slot += block;
	turn = pg_atomic_read_u32(&slot->turn);
	/* another process that is writing the slot stores an equivalent entry */
	if (turn % 2 != 0 || !pg_atomic_compare_exchange_u32(&slot->turn, &turn, turn + 1))
		return;
	slot->vis = *vis;
	pg_atomic_write_u32(&slot->buffer, (uint32) buffer);
	pg_write_barrier();
	pg_atomic_write_u32(&slot->turn, turn + 2);
}

Buffer
hg_page_vis_buffer(HgPageVisCache *cache, int block)
{
	HgPageVisSlot *slots = hg_page_vis_slots(cache);

	return slots != NULL ? (Buffer) pg_atomic_read_u32(&slots[block].buffer) : InvalidBuffer;
}

void
hg_page_vis_set_buffer(HgPageVisCache *cache, int block, Buffer buffer)
{
	HgPageVisSlot *slots = hg_page_vis_slots(cache);

	if (slots != NULL && pg_atomic_read_u32(&slots[block].buffer) != (uint32) buffer)
		pg_atomic_write_u32(&slots[block].buffer, (uint32) buffer);
}

void
hg_page_vis_prefetch(HgPageVisCache *cache, int block)
{
	HgPageVisSlot *slots = hg_page_vis_slots(cache);

	if (slots != NULL)
		__builtin_prefetch(&slots[block]);
}
