/*-------------------------------------------------------------------------
 *
 * hg_resident_version.c
 *	  Segment versions: rows of a segment's blocks as columns, immutable once they are published.
 *
 * A version is a chunk for itself and all that speaks of blocks and rows, and a chunk for each
 * array of a column.  Blocks whose line pointers have no gaps, which is how a table is loaded and
 * how it stays where nobody deletes, need none of them: 16 bytes a block are all that they take.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "resident/hg_resident_version.h"

/* Where the arrays of the body begin, and where it ends. */
typedef struct HgSegmentLayout
{
	Size lsns;
	Size first_rows;
	Size buffers;
	Size offset_starts; /* where not dense: */
	Size offsets;
	Size end;
} HgSegmentLayout;

static HgSegmentLayout
hg_segment_layout(int ncolumns, bool dense, uint32 noffsets)
{
	HgSegmentLayout layout;

	layout.lsns =
		MAXALIGN(offsetof(HgSegmentVersion, columns) + ncolumns * sizeof(HgSegmentColumn));
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
 * offset_starts[block] of all blocks: HG_OFFSETS_DENSE, or where the block's line pointers begin
 * among those that are kept.  Returns the number of these.
 */
static uint32
hg_segment_find_gaps(const HgSegmentData *data, uint32 *offset_starts)
{
	uint32 kept = 0;

	for (int block = 0; block < HG_SEGMENT_BLOCKS; block++)
	{
		uint32 first = data->first_rows[block];
		uint32 n = data->first_rows[block + 1] - first;

		/* they ascend, so that the last one tells of all */
		if (n == 0 || data->offsets[first + n - 1] == n)
			offset_starts[block] = HG_OFFSETS_DENSE;
		else
		{
			offset_starts[block] = kept;
			kept += n;
		}
	}
	return kept;
}

static void
hg_segment_fill_body(HgSegmentVersion *version, const HgSegmentData *data,
					 const HgSegmentLayout *layout, const uint32 *offset_starts)
{
	char *body = (char *) version;

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

/* Copy an array to shared memory; false where there is no room. */
static bool
hg_segment_copy(HgResidentClaim *claim, const void *array, Size bytes, dsa_pointer *chunk)
{
	*chunk = hg_resident_allocate(claim, bytes);
	if (!DsaPointerIsValid(*chunk))
		return false;
	memcpy(hg_resident_address(*chunk), array, bytes);
	return true;
}

static Size
hg_segment_values_bytes(const HgResidentColumn *column, uint32 nrows)
{
	/* no chunk is empty */
	return Max((Size) column->length * nrows, 1);
}

static Size
hg_segment_valid_bytes(uint32 nrows)
{
	return Max(((Size) nrows + 63) / 64 * sizeof(uint64), sizeof(uint64));
}

Size
hg_segment_version_bytes(const HgSegmentData *data)
{
	uint32 nrows = data->first_rows[HG_SEGMENT_BLOCKS];
	uint32 offset_starts[HG_SEGMENT_BLOCKS];
	uint32 noffsets = hg_segment_find_gaps(data, offset_starts);
	Size bytes = hg_segment_layout(data->ncolumns, noffsets == 0, noffsets).end;

	for (int i = 0; i < data->ncolumns; i++)
		bytes += hg_segment_values_bytes(&data->columns[i].column, nrows) +
				 (data->columns[i].valid != NULL ? hg_segment_valid_bytes(nrows) : 0);
	return bytes;
}

dsa_pointer
hg_segment_version_make(HgResidentClaim *claim, const HgSegmentData *data)
{
	uint32 nrows = data->first_rows[HG_SEGMENT_BLOCKS];
	uint32 offset_starts[HG_SEGMENT_BLOCKS];
	uint32 noffsets = hg_segment_find_gaps(data, offset_starts);
	HgSegmentLayout layout = hg_segment_layout(data->ncolumns, noffsets == 0, noffsets);
	dsa_pointer body = hg_resident_allocate(claim, layout.end);
	HgSegmentVersion *version;

	if (!DsaPointerIsValid(body))
		return InvalidDsaPointer;
	version = hg_segment_version(body);
	memset(version, 0, sizeof(HgSegmentVersion));
	pg_atomic_init_u32(&version->users, 1);
	pg_atomic_init_u32(&version->pins, 0);
	version->first = data->first;
	version->nrows = nrows;
	version->ncolumns = data->ncolumns;
	version->body_bytes = version->bytes = layout.end;
	version->taken_at = GetCurrentTimestamp();
	version->map_lsn = data->map_lsn;
	version->taken = data->taken;
	version->dense = noffsets == 0;
	hg_segment_fill_body(version, data, &layout, offset_starts);

	for (int i = 0; i < data->ncolumns; i++)
	{
		const HgSegmentColumnData *from = &data->columns[i];
		HgSegmentColumn *column = &version->columns[i];
		Size bytes = hg_segment_values_bytes(&from->column, nrows);

		column->column = from->column;
		column->bounds = from->bounds;
		column->valid = InvalidDsaPointer;
		pg_atomic_init_u64(&column->used_at, 0);
		if (!hg_segment_copy(claim, from->values, bytes, &column->values))
			return InvalidDsaPointer;
		version->bytes += bytes;
		if (from->valid == NULL)
			continue;
		bytes = hg_segment_valid_bytes(nrows);
		if (!hg_segment_copy(claim, from->valid, bytes, &column->valid))
			return InvalidDsaPointer;
		version->bytes += bytes;
	}
	return body;
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
	/* before it is unpinned, as it may lose columns then */
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
	hg_resident_free(pointer, version->body_bytes);
}

Size
hg_segment_evict_column(HgSegmentVersion *version, int i)
{
	HgSegmentColumn *column = &version->columns[i];
	Size bytes = hg_segment_column_bytes(version, i);

	hg_resident_free(column->values, hg_segment_values_bytes(&column->column, version->nrows));
	if (DsaPointerIsValid(column->valid))
		hg_resident_free(column->valid, hg_segment_valid_bytes(version->nrows));
	column->values = column->valid = InvalidDsaPointer;
	version->bytes -= bytes;
	return bytes;
}

HgSegmentRows
hg_segment_rows(const HgSegmentVersion *version)
{
	/* how many offsets there are matters to the end alone */
	HgSegmentLayout layout = hg_segment_layout(version->ncolumns, version->dense, 0);
	const char *body = (const char *) version;
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

HgSegmentArray
hg_segment_array(const HgSegmentVersion *version, int column)
{
	const HgSegmentColumn *from = &version->columns[column];

	return (HgSegmentArray){
		.width = from->column.length,
		.values = hg_resident_address(from->values),
		.valid = DsaPointerIsValid(from->valid) ? hg_resident_address(from->valid) : NULL,
	};
}

Size
hg_segment_column_bytes(const HgSegmentVersion *version, int column)
{
	const HgSegmentColumn *of = &version->columns[column];

	return hg_segment_values_bytes(&of->column, version->nrows) +
		   (DsaPointerIsValid(of->valid) ? hg_segment_valid_bytes(version->nrows) : 0);
}
