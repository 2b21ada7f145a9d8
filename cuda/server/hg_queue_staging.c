/*-------------------------------------------------------------------------
 *
 * hg_queue_staging.c
 *	  Divides staging into leases and room for results.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_queue_internal.h"

#include "../../src/engine/hg_pages.h"
#include "../../src/engine/wire/hg_wire.h"

/* Bounds of a lease: at most two slots of the largest size, at least so much of large staging. */
#define LEASE_MAX (2 * HG_WIRE_SLOT_MAX)
#define LEASE_MIN (UINT64_C(512) << 10)

/* Largest lease of a participant: it has a part of the rows, and may keep it while it reads. */
#define LEASE_OF_PARTICIPANT (UINT64_C(2) << 20)

/* The same for a participant with pages, which come as fast as they can be copied. */
#define LEASE_OF_PAGES (UINT64_C(8) << 20)

/* Number of leases for which any staging has room. */
#define LEASES 8

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t
whole_pages(uint64_t bytes)
{
	return bytes / HG_WIRE_PAGE * HG_WIRE_PAGE;
}

/*
 * Takes wanted bytes of an area or, if no free piece is as long, the longest one of at least
 * `least` bytes. Both are multiples of the page. Returns false if there is none.
 */
static bool
area_take(HgQueueArea *area, HgQueuePart *part, uint64_t least, uint64_t wanted)
{
	HgQueuePart **link = &area->parts;
	HgQueuePart **best = NULL;
	uint64_t at = area->offset;

	part->bytes = 0;
	for (;;)
	{
		uint64_t end = *link != NULL ? (*link)->offset : area->offset + area->bytes;
		uint64_t gap = less(end - at, wanted);

		if (gap >= least && gap > part->bytes)
		{
			part->offset = at;
			part->bytes = gap;
			best = link;
		}
		if (part->bytes == wanted || *link == NULL)
			break;
		at = (*link)->offset + (*link)->bytes;
		link = &(*link)->next;
	}
	if (best == NULL)
		return false;
	part->next = *best;
	*best = part;
	area->taken += part->bytes;
	return true;
}

static void
area_release(HgQueueArea *area, HgQueuePart *part)
{
	HgQueuePart **link = &area->parts;

	if (part->bytes == 0)
		return;
	while (*link != part)
		link = &(*link)->next;
	*link = part->next;
	area->taken -= part->bytes;
	part->bytes = 0;
}

void
hg_queue_staging_init(HgQueueStaging *staging, uint64_t bytes)
{
	*staging = (HgQueueStaging){.leases.bytes = whole_pages(bytes / 4 * 3)};
	staging->rooms.offset = staging->leases.bytes;
	staging->rooms.bytes = whole_pages(bytes) - staging->rooms.offset;
}

/* Returns the bytes that are sent for a side; UINT64_MAX if unknown. */
static uint64_t
side_bytes(const HgJobSpec *spec, HgSide side)
{
	const HgReplicaUse *use = hg_side_replica(spec, side)->use;
	const uint64_t rows = spec->sides[side].expected_rows;

	if (spec->sides[side].kind == HG_SOURCE_PAGES)
		return UINT64_MAX;
	if (use != NULL)
		return use->masked != 0 ? hg_replica_mask_words(&use->shape) * sizeof(uint64_t) : 0;
	return rows == 0 || rows > HG_MAX_ROWS ? UINT64_MAX : rows * spec->key_width;
}

uint64_t
hg_queue_staging_lease_bytes(const HgQueueStaging *staging, const HgJobSpec *spec)
{
	const uint64_t outer = side_bytes(spec, HG_OUTER);
	const uint64_t inner = side_bytes(spec, HG_INNER);
	const bool pages = spec->sides[HG_OUTER].kind == HG_SOURCE_PAGES ||
					   spec->sides[HG_INNER].kind == HG_SOURCE_PAGES;
	uint64_t most = spec->participants_id == 0 ? LEASE_MAX
					: pages					   ? LEASE_OF_PAGES
											   : LEASE_OF_PARTICIPANT;
	uint64_t bytes = more(outer, inner) == UINT64_MAX ? most : outer + inner;

	if (hg_replica_is_made(spec))
	{
		most = less(most, whole_pages(staging->leases.bytes / LEASES));
		bytes = hg_replica_least_bytes(spec);
	}
	/* at least a page, even if nothing will be sent */
	return more(whole_pages(less(bytes, most) + HG_WIRE_PAGE - 1), HG_WIRE_PAGE);
}

/* Two slots, each with room for a page of any side, or all of the area. */
uint64_t
hg_queue_staging_least_lease_bytes(const HgQueueStaging *staging, const HgJobSpec *spec)
{
	uint64_t bytes = HG_WIRE_PAGE;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind == HG_SOURCE_PAGES)
			bytes = more(bytes, 2 * (uint64_t) spec->sides[side].pages->page_size);
	return less(bytes, staging->leases.bytes);
}

uint64_t
hg_queue_staging_room_bytes(uint64_t wanted)
{
	return whole_pages(less(wanted, HG_WIRE_SLOT_MAX) + HG_WIRE_PAGE - 1);
}

bool
hg_queue_staging_take_lease(HgQueueStaging *staging, HgQueueEntry *job)
{
	HgQueueArea *area = &staging->leases;
	uint64_t least = more(less(LEASE_MIN, whole_pages(area->bytes / LEASES)), job->least);
	uint64_t most = less(LEASE_MAX, whole_pages((area->bytes - area->taken) / 4));

	return area_take(area, &job->part, least, more(less(job->wanted, most), least));
}

bool
hg_queue_staging_take_room(HgQueueStaging *staging, HgQueueEntry *request)
{
	HgQueueArea *area = &staging->rooms;
	uint64_t most = less(HG_WIRE_SLOT_MAX, whole_pages((area->bytes - area->taken) / 2));

	return area_take(area, &request->part, HG_WIRE_PAGE,
					 more(less(request->wanted, most), HG_WIRE_PAGE));
}

void
hg_queue_staging_release_lease(HgQueueStaging *staging, HgQueueEntry *job)
{
	area_release(&staging->leases, &job->part);
}

void
hg_queue_staging_release_room(HgQueueStaging *staging, HgQueueEntry *request)
{
	area_release(&staging->rooms, &request->part);
}
