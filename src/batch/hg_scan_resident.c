/*-------------------------------------------------------------------------
 *
 * hg_scan_resident.c
 *	  Table scans of which some blocks are read from cached columns.
 *
 * A run has consecutive valid blocks of one segment, whose rows are consecutive in its arrays.  A
 * block of the version that is not valid ends the run, because its rows are between.
 *
 * The versions are pinned until the scan's memory or the resource owner that was current goes,
 * whichever is first (hg_resident_validity.h).  If the resource owner is, and the scan goes on,
 * blocks are read from the heap, because each block is decided separately.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/parallel.h"

#include "batch/hg_heap_page.h"
#include "batch/hg_scan_resident.h"
#include "hg_guc.h"
#include "resident/hg_resident_auto.h"
#include "resident/hg_resident_statistics.h"
#include "resident/hg_resident_validity.h"

/* Blocks that are searched for the next one to read from the heap. */
#define HG_FOLLOWING_BLOCKS 64

/* Bounds of a parallel scan's runs. */
#define HG_MOST_RUN 1024
#define HG_LEAST_RUN 8

/* Serial of the last dictionary. */
static uint64 last_serial = 0;

/* Segments whose valid blocks are read ahead of all other blocks. */
typedef struct HgResidentLead
{
	uint32 nsegments;
	uint32
		*segments; /* [nsegments] their numbers in the order of reading; NULL if there are none */
	uint32 next;   /* the next one, or the one that is being read, in this scan */
	int block;	   /* of that one: the next block */
	bool *read;	   /* by number of a segment: its valid blocks were read ahead in this scan */
} HgResidentLead;

struct HgResidentScan
{
	HgValidBlocks *valid;
	uint32 nsegments;
	/* [nsegments] by number; NULL if none of its blocks is valid. */
	const HgValidSegment **segments;
	bool *covered; /* [nsegments] skipped segments; NULL if there are none */
	/* [nsegments] changed blocks of covered segments, or NULL; NULL if no segment has any. */
	HgChangedBlocks **older;
	bool older_shared; /* the changed blocks are another process's */
	HgResidentLead lead;
	HgHeapBlocks blocks;
	BlockNumber pending; /* the next block, if it is known; else invalid */

	/* the rest of the current run */
	uint32 first;
	uint32 nrows;
	int taken; /* rows of the next block that were read from the heap */

	/* counted at the end only, because shared counters' cache lines are contended */
	uint64 rows_from_cache;
	uint64 blocks_from_cache;
	uint64 blocks_from_heap;
	MemoryContextCallback at_end;

	int nsources;
	HgResidentSource *sources; /* [nsources] by attribute of the scan */
	uint32 loaded;			   /* the segment whose arrays they have, or PG_UINT32_MAX */
};

/* Counts the blocks that were read from the cache and from the heap. */
static void
hg_resident_scan_count(void *arg)
{
	HgResidentScan *resident = arg;

	hg_resident_count(HG_COUNT_ROWS_FROM_CACHE, resident->rows_from_cache);
	hg_resident_count(HG_COUNT_BLOCKS_FROM_CACHE, resident->blocks_from_cache);
	hg_resident_count(HG_COUNT_BLOCKS_FROM_HEAP, resident->blocks_from_heap);
	resident->rows_from_cache = resident->blocks_from_cache = resident->blocks_from_heap = 0;
}

/* Returns the attributes as cached columns. */
static HgResidentColumn *
hg_resident_scan_columns(Relation rel, int nattnos, const AttrNumber *attnos)
{
	HgResidentColumn *columns = palloc(Max(nattnos, 1) * sizeof(HgResidentColumn));

	for (int i = 0; i < nattnos; i++)
		columns[i] = hg_resident_column(TupleDescAttr(RelationGetDescr(rel), attnos[i] - 1));
	return columns;
}

HgResidentScan *
hg_resident_scan_create(Relation rel, Snapshot snapshot, BlockNumber nblocks, int nattnos,
						const AttrNumber *attnos)
{
	HgResidentColumn *columns;
	HgValidBlocks *valid;
	const char *why_not;

	if (!hg_resident || !hg_validity_may_use(rel, snapshot, &why_not))
		return NULL;
	if (!IsParallelWorker())
		hg_auto_note_scan(rel, attnos, nattnos);
	columns = hg_resident_scan_columns(rel, nattnos, attnos);
	valid = hg_validity_find(rel, snapshot, nblocks, columns, nattnos);
	pfree(columns);
	if (valid == NULL)
		return NULL;
	return hg_resident_scan_open(rel, valid, hg_segment_count(nblocks), nattnos, attnos);
}

HgResidentScan *
hg_resident_scan_open(Relation rel, HgValidBlocks *valid, uint32 nsegments, int nattnos,
					  const AttrNumber *attnos)
{
	HgResidentColumn *columns = hg_resident_scan_columns(rel, nattnos, attnos);
	HgResidentScan *resident = palloc0(sizeof(HgResidentScan));

	hg_resident_count(HG_COUNT_SCANS, 1);
	resident->at_end.func = hg_resident_scan_count;
	resident->at_end.arg = resident;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &resident->at_end);
	resident->valid = valid;
	resident->nsegments = nsegments;
	resident->segments = palloc0(Max(nsegments, 1) * sizeof(HgValidSegment *));
	for (int i = 0; i < valid->nsegments; i++)
		resident->segments[valid->segments[i].version->first / HG_SEGMENT_BLOCKS] =
			&valid->segments[i];
	resident->pending = InvalidBlockNumber;
	resident->loaded = PG_UINT32_MAX;
	resident->nsources = nattnos;
	resident->sources = palloc0(Max(nattnos, 1) * sizeof(HgResidentSource));
	for (int i = 0; i < nattnos; i++)
		resident->sources[i].column = columns[i];
	pfree(columns);
	return resident;
}

/* Returns the segment in which a block is valid, or NULL. */
static inline const HgValidSegment *
hg_resident_scan_segment(const HgResidentScan *resident, BlockNumber block)
{
	const HgValidSegment *segment;

	/* the versions are not pinned any more */
	if (resident->valid->nsegments == 0 || block / HG_SEGMENT_BLOCKS >= resident->nsegments)
		return NULL;
	segment = resident->segments[block / HG_SEGMENT_BLOCKS];
	if (segment == NULL || !hg_block_bits_test(segment->blocks, block % HG_SEGMENT_BLOCKS))
		return NULL;
	return segment;
}

/* Returns true if the valid blocks of a segment are passed over: its rows are covered. */
static inline bool
hg_resident_scan_is_covered(const HgResidentScan *resident, uint32 number)
{
	return resident->covered != NULL && resident->covered[number];
}

/* Returns true if a valid block is passed over: its rows are covered, or were read ahead. */
static inline bool
hg_resident_scan_passes(const HgResidentScan *resident, BlockNumber block)
{
	const uint32 number = block / HG_SEGMENT_BLOCKS;

	return hg_resident_scan_is_covered(resident, number) ||
		   (resident->lead.segments != NULL && resident->lead.read[number]);
}

/* Returns the changed blocks of a segment if the block is one of them, or NULL. */
static inline const HgChangedBlocks *
hg_resident_scan_older(const HgResidentScan *resident, BlockNumber block)
{
	const HgChangedBlocks *older;

	if (resident->older == NULL || block / HG_SEGMENT_BLOCKS >= resident->nsegments)
		return NULL;
	older = resident->older[block / HG_SEGMENT_BLOCKS];
	if (older == NULL || !hg_block_bits_test(&older->blocks, block % HG_SEGMENT_BLOCKS))
		return NULL;
	return older;
}

void
hg_resident_scan_stand(HgResidentScan *resident, const HgValidSegment *segment)
{
	for (int i = 0; i < resident->nsources; i++)
	{
		HgResidentSource *source = &resident->sources[i];
		int column = hg_segment_find_column(segment->version, &source->column);

		Assert(column >= 0);
		source->array = hg_segment_array(segment->version, column);
		source->bounds = hg_segment_bounds(segment->version, column);
		source->dictionary = (HgDictionary){.serial = ++last_serial,
											.ncodes = source->array.form.ncodes,
											.starts = source->array.starts,
											.bytes = source->array.bytes};
	}
	resident->loaded = segment->version->first / HG_SEGMENT_BLOCKS;
}

/* Begins a run at a valid block, with those behind it.  Returns the number of blocks. */
static int
hg_resident_scan_run(HgResidentScan *resident, const HgValidSegment *segment, BlockNumber block)
{
	HgSegmentRows rows = hg_segment_rows(segment->version);
	int first = block % HG_SEGMENT_BLOCKS;
	int end = first + 1;
	BlockNumber next;

	if (resident->loaded != block / HG_SEGMENT_BLOCKS)
		hg_resident_scan_stand(resident, segment);
	end += hg_heap_blocks_skip(&resident->blocks, hg_block_bits_end(segment->blocks, end) - end);
	for (;;)
	{
		next = hg_heap_blocks_next(&resident->blocks);
		if (next != segment->version->first + end || end == HG_SEGMENT_BLOCKS ||
			!hg_block_bits_test(segment->blocks, end))
			break;
		end++;
	}
	resident->pending = next;
	resident->first = rows.first_rows[first];
	resident->nrows = rows.first_rows[end] - rows.first_rows[first];
	resident->blocks_from_cache += end - first;
	resident->rows_from_cache += resident->nrows;
	return end - first;
}

/* Starts reading ahead again. */
static void
hg_resident_scan_begin_lead(HgResidentScan *resident)
{
	HgResidentLead *lead = &resident->lead;

	if (lead->segments == NULL)
		return;
	lead->next = 0;
	lead->block = 0;
	memset(lead->read, false, resident->nsegments * sizeof(bool));
}

/*
 * Begins a run of the segments that are read ahead.  Returns the number of its blocks, or 0 after
 * the last run.
 */
static int
hg_resident_scan_lead_run(HgResidentScan *resident)
{
	HgResidentLead *lead = &resident->lead;

	for (; lead->next < lead->nsegments; lead->next++, lead->block = 0)
	{
		uint32 number = lead->segments[lead->next];
		const HgValidSegment *segment = resident->segments[number];
		int nblocks =
			(int) Min(HG_SEGMENT_BLOCKS, resident->blocks.nblocks - number * HG_SEGMENT_BLOCKS);
		HgSegmentRows rows;
		int first = lead->block;

		/* the versions are not pinned any more, and blocks are read from the heap */
		if (resident->valid->nsegments == 0 && lead->block == 0)
			return 0;
		if (resident->valid->nsegments == 0)
			elog(ERROR, "resident columns have been let go in the middle of a scan");
		if (hg_resident_scan_is_covered(resident, number))
			continue;
		lead->read[number] = true;
		while (first < nblocks && !hg_block_bits_test(segment->blocks, first))
			first++;
		if (first >= nblocks)
			continue;
		if (resident->loaded != number)
			hg_resident_scan_stand(resident, segment);
		lead->block = Min(hg_block_bits_end(segment->blocks, first), nblocks);
		rows = hg_segment_rows(segment->version);
		resident->first = rows.first_rows[first];
		resident->nrows = rows.first_rows[lead->block] - rows.first_rows[first];
		resident->blocks_from_cache += lead->block - first;
		resident->rows_from_cache += resident->nrows;
		return lead->block - first;
	}
	return 0;
}

/* Returns the next block to read from the heap, if it is near. */
static BlockNumber
hg_resident_scan_following(const HgResidentScan *resident, BlockNumber block)
{
	for (BlockNumber i = 1; i <= HG_FOLLOWING_BLOCKS && block + i < resident->blocks.nblocks; i++)
		if (hg_resident_scan_segment(resident, block + i) == NULL)
			return block + i;
	return InvalidBlockNumber;
}

/*
 * HgHeapNextBlock of a scan: blocks that are neither valid nor have covered rows.  The pages of the
 * latter have just been read.
 */
static BlockNumber
hg_resident_scan_next_heap_block(void *arg, BlockNumber block, BlockNumber end)
{
	const HgResidentScan *resident = arg;

	while (block < end)
	{
		const HgValidSegment *segment = hg_resident_scan_segment(resident, block);

		if (segment != NULL)
			block = segment->version->first +
					hg_block_bits_end(segment->blocks, block % HG_SEGMENT_BLOCKS);
		else if (hg_resident_scan_older(resident, block) != NULL)
			block++;
		else
			return block;
	}
	return end;
}

bool
hg_resident_scan_next(HgResidentScan *resident, TableScanDesc scan, HgResidentRun *run,
					  uint64 *blocks)
{
	/* a rescan starts again */
	if (hg_heap_blocks_unread(scan))
	{
		hg_heap_blocks_begin(&resident->blocks, scan, HG_MOST_RUN, HG_LEAST_RUN);
		hg_heap_blocks_look_ahead(&resident->blocks, hg_resident_scan_next_heap_block, resident);
		resident->pending = hg_heap_blocks_next(&resident->blocks);
		resident->nrows = 0;
		resident->taken = 0;
		hg_resident_scan_begin_lead(resident);
	}
	if (resident->nrows > 0 && resident->valid->nsegments == 0)
		elog(ERROR, "resident columns have been let go in the middle of a scan");
	while (resident->nrows == 0)
	{
		BlockNumber block = resident->pending;
		const HgValidSegment *segment;
		const HgChangedBlocks *older;
		int ahead = hg_resident_scan_lead_run(resident);

		CHECK_FOR_INTERRUPTS();
		*blocks += ahead;
		if (ahead > 0)
			continue;
		if (block == InvalidBlockNumber)
			return false;
		segment = hg_resident_scan_segment(resident, block);
		older = segment == NULL ? hg_resident_scan_older(resident, block) : NULL;
		if ((segment != NULL && hg_resident_scan_passes(resident, block)) ||
			(older != NULL && older->counts[block % HG_SEGMENT_BLOCKS] == 0))
		{
			const int behind = block % HG_SEGMENT_BLOCKS + 1;

			if (segment != NULL)
				(void) hg_heap_blocks_skip(&resident->blocks,
										   hg_block_bits_end(segment->blocks, behind) - behind);
			resident->pending = hg_heap_blocks_next(&resident->blocks);
			continue;
		}
		if (segment == NULL)
		{
			run->nrows = 0;
			run->blocks = &resident->blocks;
			run->block = block;
			run->taken = resident->taken;
			run->lines = NULL;
			if (older != NULL)
			{
				run->lines = older->lines + older->starts[block % HG_SEGMENT_BLOCKS];
				run->nlines = older->counts[block % HG_SEGMENT_BLOCKS];
				run->recent = older->buffers[block % HG_SEGMENT_BLOCKS];
			}
			run->following = hg_resident_scan_following(resident, block);
			return true;
		}
		*blocks += hg_resident_scan_run(resident, segment, block);
	}
	run->nrows = (int) resident->nrows;
	run->first = resident->first;
	run->segment = resident->loaded;
	return true;
}

void
hg_resident_scan_skip(HgResidentScan *resident, int nrows)
{
	Assert(nrows <= (int) resident->nrows);
	resident->first += nrows;
	resident->nrows -= nrows;
}

void
hg_resident_scan_skip_block(HgResidentScan *resident, int nrows, bool all)
{
	Assert(resident->nrows == 0);
	resident->taken += nrows;
	if (!all)
		return;
	resident->taken = 0;
	resident->blocks_from_heap++;
	resident->pending = hg_heap_blocks_next(&resident->blocks);
}

const HgResidentSource *
hg_resident_scan_source(const HgResidentScan *resident, AttrNumber attno)
{
	int i = 0;

	while (resident->sources[i].column.number != attno)
	{
		i++;
		Assert(i < resident->nsources);
	}
	return &resident->sources[i];
}

void
hg_resident_scan_lead(HgResidentScan *resident, uint32 nsegments, const uint32 *segments)
{
	MemoryContext context = GetMemoryChunkContext(resident);
	HgResidentLead *lead = &resident->lead;

	Assert(lead->segments == NULL);
	lead->nsegments = nsegments;
	lead->segments = MemoryContextAlloc(context, Max(nsegments, 1) * sizeof(uint32));
	memcpy(lead->segments, segments, nsegments * sizeof(uint32));
	lead->read = MemoryContextAllocZero(context, Max(resident->nsegments, 1) * sizeof(bool));
}

/* ---------------------------------------------------------------------
 * Covered rows
 * ---------------------------------------------------------------------
 */

const HgValidBlocks *
hg_resident_scan_valid(const HgResidentScan *resident, uint32 *nsegments)
{
	*nsegments = resident->nsegments;
	return resident->valid;
}

void
hg_resident_scan_pass(HgResidentScan *resident, const HgValidSegment *segment)
{
	if (resident->covered == NULL)
		resident->covered = MemoryContextAllocZero(GetMemoryChunkContext(resident),
												   resident->nsegments * sizeof(bool));
	resident->covered[segment->version->first / HG_SEGMENT_BLOCKS] = true;
}

uint32
hg_resident_scan_cover(HgResidentScan *resident, const HgValidSegment *segment, uint64 *blocks)
{
	HgSegmentRows rows = hg_segment_rows(segment->version);
	uint32 nrows = 0;

	hg_resident_scan_pass(resident, segment);
	if (hg_block_bits_equal(segment->blocks, &segment->version->taken))
		nrows = segment->version->nrows;
	else
		for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
			if (hg_block_bits_test(segment->blocks, block))
				nrows += rows.first_rows[block + 1] - rows.first_rows[block];
	resident->blocks_from_cache += hg_block_bits_count(segment->blocks, NULL);
	resident->rows_from_cache += nrows;
	*blocks += hg_block_bits_count(segment->blocks, NULL);
	return nrows;
}

/* Returns where the changed blocks of a segment are stored. */
static HgChangedBlocks **
hg_resident_scan_older_slot(HgResidentScan *resident, const HgValidSegment *segment)
{
	if (resident->older == NULL)
		resident->older = MemoryContextAllocZero(GetMemoryChunkContext(resident),
												 resident->nsegments * sizeof(HgChangedBlocks *));
	return &resident->older[segment->version->first / HG_SEGMENT_BLOCKS];
}

void
hg_resident_scan_cover_older(HgResidentScan *resident, const HgValidSegment *segment, int block,
							 const HgHeapLines *lines)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(resident));
	HgChangedBlocks **slot = hg_resident_scan_older_slot(resident, segment);

	*slot = hg_changed_add(*slot, block, lines);
	resident->blocks_from_heap += lines->nothers == 0;
	MemoryContextSwitchTo(old);
}

const HgChangedBlocks *
hg_resident_scan_covered_older(const HgResidentScan *resident, const HgValidSegment *segment)
{
	if (resident->older == NULL)
		return NULL;
	return resident->older[segment->version->first / HG_SEGMENT_BLOCKS];
}

void
hg_resident_scan_pass_older(HgResidentScan *resident, const HgValidSegment *segment,
							HgChangedBlocks *older)
{
	*hg_resident_scan_older_slot(resident, segment) = older;
	resident->older_shared = true;
}

Size
hg_resident_scan_covered_bytes(const HgResidentScan *resident)
{
	Size bytes = 0;

	for (uint32 i = 0; resident->older != NULL && i < resident->nsegments; i++)
		bytes += hg_changed_bytes(resident->older[i]);
	return bytes;
}

void
hg_resident_scan_uncover(HgResidentScan *resident)
{
	if (resident->covered != NULL)
		pfree(resident->covered);
	resident->covered = NULL;
	for (uint32 i = 0;
		 resident->older != NULL && !resident->older_shared && i < resident->nsegments; i++)
		if (resident->older[i] != NULL)
			pfree(resident->older[i]);
	if (resident->older != NULL)
		pfree(resident->older);
	resident->older = NULL;
	resident->older_shared = false;
}

const HgValidSegment *
hg_resident_scan_stands(const HgResidentScan *resident)
{
	return resident->loaded < resident->nsegments ? resident->segments[resident->loaded] : NULL;
}
