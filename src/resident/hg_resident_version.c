/*-------------------------------------------------------------------------
 *
 * hg_resident_version.c
 *	  Segment versions: a segment's rows as columns, immutable once they are published.
 *
 * A version has a chunk for itself, one (the body) for its blocks and rows, and one for the arrays
 * of each column.  Blocks whose line pointers have no gaps store none.  That is so after loading a
 * table, and stays so without deletions; such blocks take 16 bytes each.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "resident/hg_resident_version.h"

/* Returns the bytes of a version's own chunk. */
static Size
hg_segment_own_bytes(int ncolumns)
{
	return offsetof(HgSegmentVersion, columns) + ncolumns * sizeof(HgSegmentColumn);
}

/* Offsets in the body. */
typedef struct HgSegmentLayout
{
	Size lsns;
	Size first_rows;
	Size buffers;
	Size offset_starts; /* only if not dense, as offsets */
	Size offsets;
	Size end;
} HgSegmentLayout;

static HgSegmentLayout
hg_segment_layout(bool dense, uint32 noffsets)
{
	HgSegmentLayout layout;

	layout.lsns = 0;
	layout.first_rows = layout.lsns + HG_SEGMENT_BLOCKS * sizeof(XLogRecPtr);
	layout.buffers = layout.first_rows + MAXALIGN((HG_SEGMENT_BLOCKS + 1) * sizeof(uint32));
	layout.offset_starts = layout.buffers + MAXALIGN(HG_SEGMENT_BLOCKS * sizeof(Buffer));
	layout.offsets = layout.offset_starts;
	if (!dense)
		layout.offsets += MAXALIGN(HG_SEGMENT_BLOCKS * sizeof(uint32));
	layout.end = layout.offsets + MAXALIGN(noffsets * sizeof(OffsetNumber));
	return layout;
}

/*
 * Fills in offset_starts[HG_SEGMENT_BLOCKS]: HG_OFFSETS_DENSE, or where the block's line pointers
 * begin among the stored ones.  Returns the number of stored line pointers.
 */
static uint32
hg_segment_find_gaps(const HgSegmentData *data, uint32 *offset_starts)
{
	uint32 stored = 0;

	for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
	{
		uint32 first = data->first_rows[block];
		uint32 n = data->first_rows[block + 1] - first;

		/* they ascend, so the last one suffices */
		if (n == 0 || data->offsets[first + n - 1] == n)
			offset_starts[block] = HG_OFFSETS_DENSE;
		else
		{
			offset_starts[block] = stored;
			stored += n;
		}
	}
	return stored;
}

static void
hg_segment_fill_body(HgSegmentVersion *version, const HgSegmentData *data,
					 const HgSegmentLayout *layout, const uint32 *offset_starts)
{
	char *body = hg_resident_address(version->body);

	memcpy(body + layout->lsns, data->lsns, HG_SEGMENT_BLOCKS * sizeof(XLogRecPtr));
	memcpy(body + layout->first_rows, data->first_rows, (HG_SEGMENT_BLOCKS + 1) * sizeof(uint32));
	memcpy(body + layout->buffers, data->buffers, HG_SEGMENT_BLOCKS * sizeof(Buffer));
	if (version->dense)
		return;
	memcpy(body + layout->offset_starts, offset_starts, HG_SEGMENT_BLOCKS * sizeof(uint32));
	for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
	{
		uint32 first = data->first_rows[block];

		if (offset_starts[block] != HG_OFFSETS_DENSE)
			memcpy(body + layout->offsets + offset_starts[block] * sizeof(OffsetNumber),
				   data->offsets + first,
				   (data->first_rows[block + 1] - first) * sizeof(OffsetNumber));
	}
}

/* Returns where an array begins in a column's chunk; with HG_PARTS, where the last one ends. */
static Size
hg_segment_part_start(const uint32 *bytes, int part)
{
	Size start = 0;

	for (int i = 0; i < part; i++)
		start += MAXALIGN(bytes[i]);
	return start;
}

/* Returns the bytes of a column's chunk, which is never empty. */
static Size
hg_segment_chunk_bytes(const uint32 *bytes)
{
	return Max(hg_segment_part_start(bytes, HG_PARTS), 1);
}

/* Copies a column to shared memory; false if there is no room. */
static bool
hg_segment_make_column(HgResidentClaim *claim, const HgSegmentColumnData *from,
					   HgSegmentColumn *column)
{
	char *chunk;

	column->column = from->column;
	column->form = from->form;
	column->bounds = from->bounds;
	pg_atomic_init_u64(&column->used_at, 0);
	for (int part = 0; part < HG_PARTS; part++)
		column->bytes[part] = (uint32) from->parts[part].bytes;
	column->arrays = hg_resident_allocate(claim, hg_segment_chunk_bytes(column->bytes));
	if (!DsaPointerIsValid(column->arrays))
		return false;
	chunk = hg_resident_address(column->arrays);
	for (int part = 0; part < HG_PARTS; part++)
		if (column->bytes[part] > 0)
			memcpy(chunk + hg_segment_part_start(column->bytes, part), from->parts[part].array,
				   column->bytes[part]);
	return true;
}

Size
hg_segment_version_bytes(const HgSegmentData *data)
{
	uint32 offset_starts[HG_SEGMENT_BLOCKS];
	uint32 noffsets = hg_segment_find_gaps(data, offset_starts);
	Size bytes =
		hg_segment_own_bytes(data->ncolumns) + hg_segment_layout(noffsets == 0, noffsets).end;

	for (int i = 0; i < data->ncolumns; i++)
		for (int part = 0; part < HG_PARTS; part++)
			bytes += MAXALIGN(data->columns[i].parts[part].bytes);
	return bytes;
}

dsa_pointer
hg_segment_version_make(HgResidentClaim *claim, const HgSegmentData *data)
{
	uint32 nrows = data->first_rows[HG_SEGMENT_BLOCKS];
	uint32 offset_starts[HG_SEGMENT_BLOCKS];
	uint32 noffsets = hg_segment_find_gaps(data, offset_starts);
	HgSegmentLayout layout = hg_segment_layout(noffsets == 0, noffsets);
	Size own_bytes = hg_segment_own_bytes(data->ncolumns);
	dsa_pointer pointer = hg_resident_allocate(claim, own_bytes);
	dsa_pointer body = hg_resident_allocate(claim, layout.end);
	HgSegmentVersion *version;

	if (!DsaPointerIsValid(pointer) || !DsaPointerIsValid(body))
		return InvalidDsaPointer;
	version = hg_segment_version(pointer);
	memset(version, 0, sizeof(HgSegmentVersion));
	version->body = body;
	version->serial = hg_resident_serial();
	pg_atomic_init_u32(&version->users, 1);
	pg_atomic_init_u32(&version->pins, 0);
	hg_page_vis_init(&version->page_vis);
	version->first = data->first;
	version->nrows = nrows;
	version->ncolumns = data->ncolumns;
	version->body_bytes = layout.end;
	version->bytes = own_bytes + layout.end;
	version->taken_at = GetCurrentTimestamp();
	version->map_lsn = data->map_lsn;
	version->horizon = data->horizon;
	version->taken = data->taken;
	version->dense = noffsets == 0;
	hg_segment_fill_body(version, data, &layout, offset_starts);

	for (int i = 0; i < data->ncolumns; i++)
	{
		if (!hg_segment_make_column(claim, &data->columns[i], &version->columns[i]))
			return InvalidDsaPointer;
		version->bytes += hg_segment_column_bytes(version, i);
	}
	return pointer;
}

void
hg_segment_version_pin(HgSegmentVersion *version)
{
	pg_atomic_fetch_add_u32(&version->users, 1);
	hg_resident_memory_pin(version->bytes, pg_atomic_fetch_add_u32(&version->pins, 1) == 0);
}

void
hg_segment_version_release(dsa_pointer pointer)
{
	HgSegmentVersion *version = hg_segment_version(pointer);
	/* read before unpinning: then columns may be evicted */
	Size bytes = version->bytes;

	hg_resident_memory_unpin(bytes, pg_atomic_sub_fetch_u32(&version->pins, 1) == 0);
	hg_segment_version_retire(pointer);
}

void
hg_segment_version_retire(dsa_pointer pointer)
{
	HgSegmentVersion *version = hg_segment_version(pointer);

	if (pg_atomic_sub_fetch_u32(&version->users, 1) > 0)
		return;
	for (uint32 i = 0; i < version->ncolumns; i++)
		if (hg_segment_has_column(version, (int) i))
			(void) hg_segment_evict_column(version, (int) i);
	(void) hg_page_vis_free(&version->page_vis);
	hg_resident_free(version->body, version->body_bytes);
	hg_resident_free(pointer, hg_segment_own_bytes((int) version->ncolumns));
}

Size
hg_segment_evict_column(HgSegmentVersion *version, int i)
{
	HgSegmentColumn *column = &version->columns[i];
	Size bytes = hg_segment_column_bytes(version, i);

	hg_resident_free(column->arrays, bytes);
	column->arrays = InvalidDsaPointer;
	version->bytes -= bytes;
	return bytes;
}

HgSegmentRows
hg_segment_rows(const HgSegmentVersion *version)
{
	/* the number of offsets affects only the end */
	HgSegmentLayout layout = hg_segment_layout(version->dense, 0);
	const char *body = hg_resident_address(version->body);
	HgSegmentRows rows = {
		.lsns = (const XLogRecPtr *) (body + layout.lsns),
		.first_rows = (const uint32 *) (body + layout.first_rows),
		.buffers = (const Buffer *) (body + layout.buffers),
	};

	if (!version->dense)
	{
		rows.offset_starts = (const uint32 *) (body + layout.offset_starts);
		rows.offsets = (const OffsetNumber *) (body + layout.offsets);
	}
	return rows;
}

int
hg_segment_find_column(const HgSegmentVersion *version, const HgResidentColumn *column)
{
	for (uint32 i = 0; i < version->ncolumns; i++)
		if (hg_segment_has_column(version, (int) i) &&
			hg_resident_column_equal(&version->columns[i].column, column))
			return (int) i;
	return -1;
}

/* Returns an array of a column's chunk, or NULL. */
static const void *
hg_segment_part(const HgSegmentColumn *column, const char *chunk, HgSegmentPart part)
{
	return column->bytes[part] > 0 ? chunk + hg_segment_part_start(column->bytes, part) : NULL;
}

HgSegmentArray
hg_segment_array(const HgSegmentVersion *version, int column)
{
	const HgSegmentColumn *from = &version->columns[column];
	const char *chunk = hg_resident_address(from->arrays);

	return (HgSegmentArray){
		.form = from->form,
		.width = from->form.width,
		.length = from->column.length,
		.alignby = (int) att_align_nominal(1, from->column.align),
		.values = hg_segment_part(from, chunk, HG_PART_VALUES),
		.valid = hg_segment_part(from, chunk, HG_PART_VALID),
		.starts = hg_segment_part(from, chunk, HG_PART_STARTS),
		.missing = hg_segment_part(from, chunk, HG_PART_MISSING),
		.bytes = hg_segment_part(from, chunk, HG_PART_BYTES),
	};
}

Size
hg_segment_column_bytes(const HgSegmentVersion *version, int column)
{
	return hg_segment_chunk_bytes(version->columns[column].bytes);
}
