/*-------------------------------------------------------------------------
 *
 * hg_resident_looks.c
 *	  What was found in changed blocks of a segment version, for whoever looks next.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/transam.h"

#include "resident/hg_resident_key.h"
#include "resident/hg_resident_looks.h"
#include "resident/hg_resident_memory.h"

/* This part of the area is left to others. */
#define HG_LOOKS_LEFT_PART 16

/* Bytes of the places of a segment. */
#define HG_LOOKS_BYTES (HG_SEGMENT_BLOCKS * sizeof(HgLookPlace))

/* A place for the look at a block; positions of 0 are no page's. */
typedef struct HgLookPlace
{
	pg_atomic_uint32 turn;	 /* odd while it is written */
	pg_atomic_uint32 buffer; /* that had the page; 0: nobody has told */
	HgLook look;
} HgLookPlace;

StaticAssertDecl(sizeof(HgLookPlace) == 64, "a look is not a cache line");

void
hg_looks_init(HgLooks *looks)
{
	pg_atomic_init_u64(&looks->place, InvalidDsaPointer);
}

/* The places of all blocks of the segment; NULL: there are none. */
static HgLookPlace *
hg_looks_places(HgLooks *looks)
{
	dsa_pointer pointer = pg_atomic_read_u64(&looks->place);

	return DsaPointerIsValid(pointer) ? hg_resident_address(pointer) : NULL;
}

/* The same, and they are made where there are none: NULL where there is no room. */
static HgLookPlace *
hg_looks_make(HgLooks *looks)
{
	Size size = hg_resident_memory_size();
	uint64 none = InvalidDsaPointer;
	dsa_pointer pointer;

	if (hg_looks_places(looks) != NULL)
		return hg_looks_places(looks);
	/* each block comes by here: the area's lock is asked for where there is room alone */
	if (hg_resident_memory_used() + HG_LOOKS_BYTES + size / HG_LOOKS_LEFT_PART > size)
		return NULL;
	pointer = hg_resident_allocate(NULL, HG_LOOKS_BYTES);
	if (!DsaPointerIsValid(pointer))
		return NULL;
	memset(hg_resident_address(pointer), 0, HG_LOOKS_BYTES);
	/* somebody else may have come first */
	if (!pg_atomic_compare_exchange_u64(&looks->place, &none, pointer))
		hg_resident_free(pointer, HG_LOOKS_BYTES);
	return hg_looks_places(looks);
}

Size
hg_looks_free(HgLooks *looks)
{
	dsa_pointer pointer = pg_atomic_read_u64(&looks->place);

	if (!DsaPointerIsValid(pointer))
		return 0;
	hg_looks_init(looks);
	hg_resident_free(pointer, HG_LOOKS_BYTES);
	return HG_LOOKS_BYTES;
}

/* Can a snapshot of this xmin go by a look? */
static bool
hg_look_is_for(const HgLook *look, TransactionId xmin)
{
	return !TransactionIdIsValid(look->newest) || TransactionIdPrecedes(look->newest, xmin);
}

bool
hg_looks_find(HgLooks *looks, int block, XLogRecPtr lsn, TransactionId xmin, HgLook *look)
{
	HgLookPlace *place = hg_looks_places(looks);
	uint32 turn;

	if (place == NULL || XLogRecPtrIsInvalid(lsn))
		return false;
	place += block;
	turn = pg_atomic_read_u32(&place->turn);
	pg_read_barrier();
	*look = place->look;
	pg_read_barrier();
	return turn % 2 == 0 && pg_atomic_read_u32(&place->turn) == turn && look->lsn == lsn &&
		   hg_look_is_for(look, xmin);
}

void
hg_looks_keep(HgLooks *looks, int block, TransactionId xmin, const HgLook *look, Buffer buffer)
{
	HgLookPlace *place;
	uint32 turn;

	Assert(look->nrows + look->nothers <= HG_LOOK_ROWS);
	if (XLogRecPtrIsInvalid(look->lsn) || !hg_look_is_for(look, xmin))
		return;
	place = hg_looks_make(looks);
	if (place == NULL)
		return;
	place += block;
	turn = pg_atomic_read_u32(&place->turn);
	/* who else writes knows as much */
	if (turn % 2 != 0 || !pg_atomic_compare_exchange_u32(&place->turn, &turn, turn + 1))
		return;
	place->look = *look;
	pg_atomic_write_u32(&place->buffer, (uint32) buffer);
	pg_write_barrier();
	pg_atomic_write_u32(&place->turn, turn + 2);
}

Buffer
hg_looks_buffer(HgLooks *looks, int block)
{
	HgLookPlace *places = hg_looks_places(looks);

	return places != NULL ? (Buffer) pg_atomic_read_u32(&places[block].buffer) : InvalidBuffer;
}

void
hg_looks_set_buffer(HgLooks *looks, int block, Buffer buffer)
{
	HgLookPlace *places = hg_looks_places(looks);

	if (places != NULL && pg_atomic_read_u32(&places[block].buffer) != (uint32) buffer)
		pg_atomic_write_u32(&places[block].buffer, (uint32) buffer);
}

void
hg_looks_prefetch(HgLooks *looks, int block)
{
	HgLookPlace *places = hg_looks_places(looks);

	if (places != NULL)
		__builtin_prefetch(&places[block]);
}
