/*-------------------------------------------------------------------------
 *
 * hg_resident_map.c
 *	  Reads the visibility map, without extending or changing it.
 *
 * The map has two bits for each block; the lower one is the all-visible bit.  A segment's bits
 * begin at any even bit of a byte.  They are extracted 64 blocks at a time from a copy of the
 * page.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/visibilitymap.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"

#include "resident/hg_page_vis.h"

#define HG_MAP_BYTES (BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define HG_MAP_BLOCKS (HG_SEGMENTS_PER_MAP_PAGE * HG_SEGMENT_BLOCKS)

/* The lower bits of 32 pairs. */
#define HG_MAP_ALL_VISIBLE UINT64CONST(0x5555555555555555)

StaticAssertDecl(BITS_PER_HEAPBLOCK == 2 && VISIBILITYMAP_ALL_VISIBLE == 1,
				 "the visibility map is laid out in another way");

/* A page's contents, with padding for reads beyond the end. */
typedef struct HgMapPage
{
	unsigned char bytes[HG_MAP_BYTES + 2 * sizeof(uint64)];
} HgMapPage;

static inline uint64
hg_map_load(const unsigned char *bytes)
{
	uint64 word;

	memcpy(&word, bytes, sizeof(word));
#ifdef WORDS_BIGENDIAN
	word = pg_bswap64(word);
#endif
	return word;
}

/* Returns the lower bits of 32 pairs, side by side. */
static inline uint32
hg_map_all_visible(uint64 pairs)
{
	pairs &= HG_MAP_ALL_VISIBLE;
	pairs = (pairs | pairs >> 1) & UINT64CONST(0x3333333333333333);
	pairs = (pairs | pairs >> 2) & UINT64CONST(0x0f0f0f0f0f0f0f0f);
	pairs = (pairs | pairs >> 4) & UINT64CONST(0x00ff00ff00ff00ff);
	pairs = (pairs | pairs >> 8) & UINT64CONST(0x0000ffff0000ffff);
	return (uint32) (pairs | pairs >> 16);
}

/* Extracts the bits of the i-th segment below a page. */
static void
hg_map_take(const HgMapPage *page, uint32 i, HgBlockBits *bits)
{
	uint32 first = i * HG_SEGMENT_BLOCKS * 2;
	const unsigned char *bytes = page->bytes + first / 8;
	int shift = first % 8;

	for (int word = 0; word < HG_BLOCK_WORDS; word++, bytes += 2 * sizeof(uint64))
	{
		uint64 low = hg_map_load(bytes);
		uint64 high = hg_map_load(bytes + sizeof(uint64));

		if (shift != 0)
		{
			low = low >> shift | high << (64 - shift);
			high = high >> shift | (uint64) bytes[2 * sizeof(uint64)] << (64 - shift);
		}
		/* most are all-visible */
		if ((low & high & HG_MAP_ALL_VISIBLE) == HG_MAP_ALL_VISIBLE)
			bits->words[word] = PG_UINT64_MAX;
		else
			bits->words[word] = hg_map_all_visible(low) | (uint64) hg_map_all_visible(high) << 32;
	}
	/* the last word also has bits of the next segment */
	bits->words[HG_BLOCK_WORDS - 1] &= HG_BLOCK_LAST_WORD;
}

/* Copies a pinned page of the map. */
static void
hg_map_copy_page(Buffer map, HgMapPage *page)
{
	memcpy(page->bytes, PageGetContents(BufferGetPage(map)), HG_MAP_BYTES);
	memset(page->bytes + HG_MAP_BYTES, 0, sizeof(page->bytes) - HG_MAP_BYTES);
}

/* Pins the map's page of a segment in place of *map.  Returns false if there is none. */
static bool
hg_map_pin(Relation rel, uint32 segment, Buffer *map)
{
	/* called only to pin the page, if that exists */
	(void) visibilitymap_get_status(rel, segment * HG_SEGMENT_BLOCKS, map);
	return BufferIsValid(*map);
}

/* Words of a cache line, lines of a page, and lines to prefetch. */
#define HG_MAP_LINE_WORDS 8
#define HG_MAP_LINES (BLCKSZ / (HG_MAP_LINE_WORDS * (int) sizeof(uint64)))
#define HG_MAP_LINES_AHEAD 16

StaticAssertDecl(BLCKSZ - HG_MAP_BYTES < HG_MAP_LINE_WORDS * sizeof(uint64),
				 "a page's header is longer than a cache line");

/* Prefetches the first cache lines of a pinned page. */
static void
hg_map_prefetch(Buffer map)
{
	const uint64 *page = (const uint64 *) BufferGetPage(map);

	for (int line = 0; line < HG_MAP_LINES_AHEAD; line++)
		__builtin_prefetch(page + line * HG_MAP_LINE_WORDS);
}

/*
 * Returns true if all blocks below a pinned page are all-visible.  Each word is read once, so this
 * is a copy too, of which one bit is kept.
 */
static bool
hg_map_is_full(Buffer map)
{
	const uint64 *page = (const uint64 *) BufferGetPage(map);
	uint64 all = HG_MAP_ALL_VISIBLE;

	for (int k = (BLCKSZ - HG_MAP_BYTES) / sizeof(uint64); k < HG_MAP_LINE_WORDS; k++)
		all &= page[k];
	for (int line = 1; line < HG_MAP_LINES && all == HG_MAP_ALL_VISIBLE; line++)
	{
		const uint64 *words = page + line * HG_MAP_LINE_WORDS;

		__builtin_prefetch(words + HG_MAP_LINES_AHEAD * HG_MAP_LINE_WORDS);
		all &= ((words[0] & words[1]) & (words[2] & words[3])) &
			   ((words[4] & words[5]) & (words[6] & words[7]));
	}
	return all == HG_MAP_ALL_VISIBLE;
}

/*
 * Copies the bits of n segments below a pinned page of the map; clears them if map is invalid.
 * Returns true, and copies nothing, if all bits of the page are set.
 */
static bool
hg_map_copy_below(Buffer map, uint32 first, uint32 n, HgBlockBits *bits)
{
	HgMapPage page;

	if (!BufferIsValid(map))
	{
		memset(bits, 0, n * sizeof(HgBlockBits));
		return false;
	}
	if (hg_map_is_full(map))
		return true;
	hg_map_copy_page(map, &page);
	for (uint32 i = 0; i < n; i++)
		hg_map_take(&page, (first + i) % HG_SEGMENTS_PER_MAP_PAGE, &bits[i]);
	return false;
}

void
hg_map_copy(Relation rel, uint32 first, uint32 n, HgBlockBits *bits)
{
	Buffer map = InvalidBuffer;

	while (n > 0)
	{
		uint32 below = Min(n, HG_SEGMENTS_PER_MAP_PAGE - first % HG_SEGMENTS_PER_MAP_PAGE);

		(void) hg_map_pin(rel, first, &map);
		if (hg_map_copy_below(map, first, below, bits))
			for (uint32 i = 0; i < below; i++)
				bits[i] = hg_block_bits_all();
		first += below;
		bits += below;
		n -= below;
	}
	if (BufferIsValid(map))
		ReleaseBuffer(map);
}

/* Pins a page of the map, and prefetches its first words. */
static Buffer
hg_map_pin_ahead(Relation rel, uint32 page)
{
	Buffer map = InvalidBuffer;

	if (hg_map_pin(rel, page * HG_SEGMENTS_PER_MAP_PAGE, &map))
		hg_map_prefetch(map);
	return map;
}

void
hg_map_survey(Relation rel, uint32 first_page, uint32 npages, bool *full, HgBlockBits *bits)
{
	Buffer next = hg_map_pin_ahead(rel, first_page);

	for (uint32 i = 0; i < npages; i++)
	{
		Buffer map = next;

		next = i + 1 < npages ? hg_map_pin_ahead(rel, first_page + i + 1) : InvalidBuffer;
		full[i] =
			hg_map_copy_below(map, (first_page + i) * HG_SEGMENTS_PER_MAP_PAGE,
							  HG_SEGMENTS_PER_MAP_PAGE, &bits[(Size) i * HG_SEGMENTS_PER_MAP_PAGE]);
		if (BufferIsValid(map))
			ReleaseBuffer(map);
	}
}

bool
hg_map_look(Relation rel, uint32 segment, HgBlockBits *bits, XLogRecPtr *lsn, Buffer *map)
{
	HgMapPage page;

	*map = InvalidBuffer;
	if (!hg_map_pin(rel, segment, map))
		return false;
	LockBuffer(*map, BUFFER_LOCK_SHARE);
	hg_map_copy_page(*map, &page);
	/* hint bits stamp pages under a share lock, and the LSN is written in two halves */
	*lsn = BufferGetLSNAtomic(*map);
	LockBuffer(*map, BUFFER_LOCK_UNLOCK);
	hg_map_take(&page, segment % HG_SEGMENTS_PER_MAP_PAGE, bits);
	return true;
}

bool
hg_map_peek(Buffer map, BlockNumber block)
{
	const volatile unsigned char *bytes =
		(const volatile unsigned char *) PageGetContents(BufferGetPage(map));
	uint32 bit = block % HG_MAP_BLOCKS * 2;

	Assert(BufferGetBlockNumber(map) == block / HG_MAP_BLOCKS);
	return (bytes[bit / 8] >> (bit % 8) & VISIBILITYMAP_ALL_VISIBLE) != 0;
}
