/*-------------------------------------------------------------------------
 *
 * hg_resident_version.h
 *	  Segment versions: a segment's rows as columns, immutable once they are published.
 *
 * A segment is HG_SEGMENT_BLOCKS consecutive blocks of a table.  A loader makes a version and
 * stores it in the segment's slot of the directory (hg_resident_directory.h).  A scan pins it and
 * reads its columns by hg_segment_find_column and hg_segment_array.
 *
 * A version has the rows of those blocks of a segment that were all-visible when it was loaded, in
 * physical order: row numbers ascend by block, and within a block by line pointer.  A version does
 * not say who may use it.  The record beside it (hg_resident_directory.h) says which of its blocks
 * may be valid, and only that changes.
 *
 * USERS.  A version is used by its maker until it is published, then by the directory as long as a
 * slot names it, and by each process that has pinned it.  The last user to release it frees it.  A
 * process may pin a version under the lock of its entry, or while another process keeps it pinned.
 *
 * SERIALS.  Each version has a number that is unique as long as the area exists.  What is made
 * from versions (hg_resident_graph.h) identifies them by it.
 *
 * EVICTION frees the arrays of single columns (hg_resident_eviction.h), under the entry's
 * exclusive lock and only of versions that no process has pinned.  So a version does not change
 * while a process has it pinned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_VERSION_H
#define HG_RESIDENT_VERSION_H

#include "hg_compat.h"

#include "access/transam.h"
#include "access/xlogdefs.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/buf.h"
#include "storage/off.h"

#include "resident/hg_resident_array.h"
#include "resident/hg_resident_key.h"
#include "resident/hg_page_vis.h"
#include "resident/hg_resident_memory.h"

/* What is known about a column's values in a version. */
typedef struct HgSegmentBounds
{
	bool all_nulls;
	bool known;	 /* least and greatest are known, of values that are not NULL */
	int64 least; /* as compared (hg_value_order.h), or scaled */
	int64 greatest;
} HgSegmentBounds;

/* A column of a version to be made.  The arrays are the maker's, and are copied. */
typedef struct HgSegmentColumnData
{
	HgResidentColumn column;
	HgSegmentForm form;
	struct HgSegmentPartData
	{
		const void *array;
		Size bytes; /* 0: absent */
	} parts[HG_PARTS];
	HgSegmentBounds bounds;
} HgSegmentColumnData;

/* What a version is made of.  The arrays are the maker's, and are copied. */
typedef struct HgSegmentData
{
	BlockNumber first;			 /* first block of the segment */
	XLogRecPtr map_lsn;			 /* of the map's page, before the first block was read */
	FullTransactionId horizon;	 /* of the version to be made */
	HgBlockBits taken;			 /* blocks whose rows the version has */
	const uint32 *first_rows;	 /* [HG_SEGMENT_BLOCKS + 1] row number of each block's first row */
	const XLogRecPtr *lsns;		 /* [HG_SEGMENT_BLOCKS] LSNs of the blocks' pages */
	const Buffer *buffers;		 /* [HG_SEGMENT_BLOCKS] buffers that had them */
	const OffsetNumber *offsets; /* [rows] line pointers */
	int ncolumns;
	const HgSegmentColumnData *columns; /* [ncolumns] */
} HgSegmentData;

typedef struct HgSegmentColumn
{
	HgResidentColumn column;
	HgSegmentForm form;
	dsa_pointer arrays;		/* one chunk of all arrays, each aligned to 8 bytes; invalid: evicted */
	uint32 bytes[HG_PARTS]; /* of each array; 0: absent */
	pg_atomic_uint64 used_at; /* when a scan last used it; 0: never */
	HgSegmentBounds bounds;
} HgSegmentColumn;

/*
 * A version, in shared memory.  Another chunk, the body, has these arrays in this order, each
 * aligned to 8 bytes: lsns[HG_SEGMENT_BLOCKS], first_rows[HG_SEGMENT_BLOCKS + 1],
 * buffers[HG_SEGMENT_BLOCKS].  If the line pointers of some block have gaps,
 * offset_starts[HG_SEGMENT_BLOCKS] and the offsets follow.  So versions are small, and those of a
 * table lie side by side: determining what is valid for a scan reads each of them.
 */
typedef struct HgSegmentVersion
{
	HgBlockBits taken;
	dsa_pointer body;
	uint64 serial;			/* no other version ever has it */
	pg_atomic_uint32 users; /* the directory and each pin */
	pg_atomic_uint32 pins;
	HgPageVisCache page_vis; /* of blocks that have changed; not counted in bytes */
	BlockNumber first;
	uint32 nrows;
	uint32 ncolumns;
	Size body_bytes;	  /* of the body */
	Size bytes;			  /* of the version, its body and its arrays */
	TimestampTz taken_at; /* when it was made */
	XLogRecPtr map_lsn;
	FullTransactionId horizon; /* rows added to its blocks since it was loaded have no older xmin */
	bool dense;				   /* line pointers of each block are 1, 2, 3, ... */
	HgSegmentColumn columns[FLEXIBLE_ARRAY_MEMBER];
} HgSegmentVersion;

/* Value of offset_starts for a block without gaps. */
#define HG_OFFSETS_DENSE PG_UINT32_MAX

/* The arrays of a version's body at addresses of this process. */
typedef struct HgSegmentRows
{
	const XLogRecPtr *lsns;
	const uint32 *first_rows;
	const Buffer *buffers;
	/* by block, first index in offsets, or HG_OFFSETS_DENSE; NULL if all blocks are dense */
	const uint32 *offset_starts;
	const OffsetNumber *offsets;
} HgSegmentRows;

/*
 * Makes a version from copies of the data, with one user, its maker.  Returns InvalidDsaPointer if
 * there is no memory.  In either case the claim owns the chunks that were allocated.
 */
extern dsa_pointer hg_segment_version_make(HgResidentClaim *claim, const HgSegmentData *data);

/* Returns the address of a version. */
static inline HgSegmentVersion *
hg_segment_version(dsa_pointer version)
{
	return hg_resident_address(version);
}

/*
 * Prefetches the users and the first columns of a version.  Loops over the versions of a table
 * call it HG_VERSIONS_AHEAD versions ahead, so as not to wait for memory at each.
 */
static inline void
hg_segment_version_prefetch(dsa_pointer version)
{
	const char *start = hg_resident_address(version);

	__builtin_prefetch(start + offsetof(HgSegmentVersion, users));
	__builtin_prefetch(start + offsetof(HgSegmentVersion, columns));
	__builtin_prefetch(start + offsetof(HgSegmentVersion, columns) + sizeof(HgSegmentColumn));
}

#define HG_VERSIONS_AHEAD 8

/*
 * Returns the bytes that a version made of this data would have (HgSegmentVersion.bytes), without
 * those that dsa adds. Allocates nothing.
 */
extern Size hg_segment_version_bytes(const HgSegmentData *data);

/* Pins a version, under the lock of its entry or while another process keeps it pinned. */
extern void hg_segment_version_pin(HgSegmentVersion *version);

/* Ends a pin.  The last user frees the version.  Does not fail. */
extern void hg_segment_version_release(dsa_pointer version);

/*
 * Ends the directory's use of a version, or its maker's if it was not published; publishing makes
 * the maker's use the directory's.  The last user frees the version.
 */
extern void hg_segment_version_retire(dsa_pointer version);

/* Returns true if any process has pinned the version. */
static inline bool
hg_segment_version_is_pinned(HgSegmentVersion *version)
{
	return pg_atomic_read_u32(&version->pins) > 0;
}

/* Frees the arrays of columns[column] of an unpinned version, and returns their bytes. */
extern Size hg_segment_evict_column(HgSegmentVersion *version, int column);

/* Returns the arrays of a version's body, valid as long as the version is pinned. */
extern HgSegmentRows hg_segment_rows(const HgSegmentVersion *version);

/*
 * Returns the index in version->columns of the column with this definition; -1 if the version has
 * none, or if the column is evicted.
 */
extern int hg_segment_find_column(const HgSegmentVersion *version, const HgResidentColumn *column);

/*
 * Returns the arrays of version->columns[column], at addresses of this process.  They stay valid
 * while the version is pinned.  The column must not be evicted.
 */
extern HgSegmentArray hg_segment_array(const HgSegmentVersion *version, int column);

/* Returns what is known about the values of columns[column]. */
static inline const HgSegmentBounds *
hg_segment_bounds(const HgSegmentVersion *version, int column)
{
	return &version->columns[column].bounds;
}

/* Returns when a scan last used columns[column]; 0: never. */
static inline TimestampTz
hg_segment_used_at(HgSegmentVersion *version, int column)
{
	return (TimestampTz) pg_atomic_read_u64(&version->columns[column].used_at);
}

/* Returns true if columns[column] is not evicted. */
static inline bool
hg_segment_has_column(const HgSegmentVersion *version, int column)
{
	return DsaPointerIsValid(version->columns[column].arrays);
}

/* Returns the bytes of the chunk of columns[column], which must not be evicted. */
extern Size hg_segment_column_bytes(const HgSegmentVersion *version, int column);

/* Returns true if the line pointers of a block's rows are 1, 2, 3, ... */
static inline bool
hg_segment_is_dense(const HgSegmentRows *rows, int block)
{
	return rows->offset_starts == NULL || rows->offset_starts[block] == HG_OFFSETS_DENSE;
}

/* Returns the line pointer of the i-th row of a block, counted from 0. */
static inline OffsetNumber
hg_segment_offset(const HgSegmentRows *rows, int block, int i)
{
	if (hg_segment_is_dense(rows, block))
		return (OffsetNumber) (i + 1);
	return rows->offsets[rows->offset_starts[block] + i];
}

#endif /* HG_RESIDENT_VERSION_H */
