/*-------------------------------------------------------------------------
 *
 * hg_resident_version.h
 *	  Segment versions: rows of a segment's blocks as columns, immutable once they are published.
 *
 * A version has the rows of those blocks of a segment that were all-visible when it was taken in,
 * in physical order: row numbers ascend by block, and in a block by line pointer.  It knows
 * nothing of who may use it: a record that lies beside it (hg_resident_validity.h) tells whether a
 * block of it is valid, and that alone changes.
 *
 * USERS.  A version is used by the directory as long as that names it, and by each process that
 * has pinned it; the last one to let go frees it.  A pin is taken where the directory's own use
 * can't end meanwhile, under the lock of its entry, or where the taker knows of another pin.
 *
 * SERIALS.  Each version has a number of its own, as long as the area is there, by which those who
 * keep something that was made of it (hg_resident_graph.h) know it from all others.
 *
 * EVICTION takes the arrays of single columns (hg_resident_eviction.h), under the entry's exclusive
 * lock and of versions that nobody has pinned: whoever has one pinned sees no change of it.
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

/* What is known of the values of a column. */
typedef struct HgSegmentBounds
{
	bool all_nulls;
	bool known;	 /* of those that are not NULL: */
	int64 least; /* the integer that it is compared as (hg_value_order.h), or of UNITS these */
	int64 greatest;
} HgSegmentBounds;

/* A column of a version that is to be made: arrays of the maker's. */
typedef struct HgSegmentColumnData
{
	HgResidentColumn column;
	HgSegmentForm form;
	struct HgSegmentPartData
	{
		const void *array;
		Size bytes; /* 0: there is none */
	} parts[HG_PARTS];
	HgSegmentBounds bounds;
} HgSegmentColumnData;

/* All that a version is made of. */
typedef struct HgSegmentData
{
	BlockNumber first;			 /* block of the segment */
	XLogRecPtr map_lsn;			 /* of the map's page, before the first block was read */
	FullTransactionId horizon;	 /* rows that came to blocks since have no older id */
	HgBlockBits taken;			 /* blocks whose rows are here */
	const uint32 *first_rows;	 /* [HG_SEGMENT_BLOCKS + 1] row number of each block's first row */
	const XLogRecPtr *lsns;		 /* [HG_SEGMENT_BLOCKS] of the blocks' pages */
	const Buffer *buffers;		 /* [HG_SEGMENT_BLOCKS] where those were */
	const OffsetNumber *offsets; /* [rows] line pointers */
	int ncolumns;
	const HgSegmentColumnData *columns; /* [ncolumns] */
} HgSegmentData;

typedef struct HgSegmentColumn
{
	HgResidentColumn column;
	HgSegmentForm form;
	dsa_pointer arrays;		  /* one behind the other, each aligned to 8 bytes; invalid: evicted */
	uint32 bytes[HG_PARTS];	  /* of each; 0: there is none */
	pg_atomic_uint64 used_at; /* when a scan used it last; 0: never */
	HgSegmentBounds bounds;
} HgSegmentColumn;

/*
 * A version, in shared memory.  In a chunk of its own lie, in this order, each aligned to 8 bytes:
 * lsns[HG_SEGMENT_BLOCKS], first_rows[HG_SEGMENT_BLOCKS + 1], buffers[HG_SEGMENT_BLOCKS], and where
 * the line pointers of some block have gaps, offset_starts[HG_SEGMENT_BLOCKS] and the offsets.  So
 * versions are small, and those of a table lie side by side: deciding on a scan looks at each.
 */
typedef struct HgSegmentVersion
{
	HgBlockBits taken;
	dsa_pointer body;
	uint64 serial;			/* which no other version ever has */
	pg_atomic_uint32 users; /* the directory, and each pin */
	pg_atomic_uint32 pins;
	HgPageVisCache page_vis; /* at blocks that have changed since; not among its bytes */
	BlockNumber first;
	uint32 nrows;
	uint32 ncolumns;
	Size body_bytes;	  /* of that chunk */
	Size bytes;			  /* of all of them, and this */
	TimestampTz taken_at; /* when it was made */
	XLogRecPtr map_lsn;
	FullTransactionId horizon; /* rows that came to its blocks since have no older id */
	bool dense;				   /* line pointers of each block are 1, 2, 3, ... */
	HgSegmentColumn columns[FLEXIBLE_ARRAY_MEMBER];
} HgSegmentVersion;

/* Line pointers of a block without gaps. */
#define HG_OFFSETS_DENSE PG_UINT32_MAX

/* Pointers of this process into a version. */
typedef struct HgSegmentRows
{
	const XLogRecPtr *lsns;
	const uint32 *first_rows;
	const Buffer *buffers;
	const uint32
		*offset_starts; /* NULL: all dense; else where a block's begin, or HG_OFFSETS_DENSE */
	const OffsetNumber *offsets;
} HgSegmentRows;

/* Make a version with one user, its maker.  InvalidDsaPointer where there is no room. */
extern dsa_pointer hg_segment_version_make(HgResidentClaim *claim, const HgSegmentData *data);

static inline HgSegmentVersion *
hg_segment_version(dsa_pointer version)
{
	return hg_resident_address(version);
}

/*
 * Ask for the cache lines of what tells of a version's users and its first columns: whoever goes
 * over the versions of a table asks for those that are further on, so as not to wait for memory at
 * each of them.
 */
static inline void
hg_segment_version_prefetch(dsa_pointer version)
{
	const char *start = hg_resident_address(version);

	__builtin_prefetch(start + offsetof(HgSegmentVersion, users));
	__builtin_prefetch(start + offsetof(HgSegmentVersion, columns));
	__builtin_prefetch(start + offsetof(HgSegmentVersion, columns) + sizeof(HgSegmentColumn));
}

/* So many versions further on. */
#define HG_VERSIONS_AHEAD 8

/* What a version of this would take of the area. */
extern Size hg_segment_version_bytes(const HgSegmentData *data);

/* One more process.  The caller knows that there is a user who does not go meanwhile. */
extern void hg_segment_version_pin(HgSegmentVersion *version);

/* It is gone again; the last user frees the version.  Does not fail. */
extern void hg_segment_version_release(dsa_pointer version);

/* The maker's use, or the directory's, which that has become, ends. */
extern void hg_segment_version_retire(dsa_pointer version);

static inline bool
hg_segment_version_is_pinned(HgSegmentVersion *version)
{
	return pg_atomic_read_u32(&version->pins) > 0;
}

/* Give back a column's arrays; how many bytes they were.  The entry is locked, nobody has a pin. */
extern Size hg_segment_evict_column(HgSegmentVersion *version, int column);

extern HgSegmentRows hg_segment_rows(const HgSegmentVersion *version);

/* Where a column is; -1: this version does not have it, or not any more. */
extern int hg_segment_find_column(const HgSegmentVersion *version, const HgResidentColumn *column);

extern HgSegmentArray hg_segment_array(const HgSegmentVersion *version, int column);

/* What is known of a column's values, without a look at them. */
static inline const HgSegmentBounds *
hg_segment_bounds(const HgSegmentVersion *version, int column)
{
	return &version->columns[column].bounds;
}

/* When a scan used a column of it last. */
static inline TimestampTz
hg_segment_used_at(HgSegmentVersion *version, int column)
{
	return (TimestampTz) pg_atomic_read_u64(&version->columns[column].used_at);
}

static inline bool
hg_segment_has_column(const HgSegmentVersion *version, int column)
{
	return DsaPointerIsValid(version->columns[column].arrays);
}

/* Bytes of the arrays of a column that it has. */
extern Size hg_segment_column_bytes(const HgSegmentVersion *version, int column);

/* Are the line pointers of a block's rows 1, 2, 3 ...? */
static inline bool
hg_segment_is_dense(const HgSegmentRows *rows, int block)
{
	return rows->offset_starts == NULL || rows->offset_starts[block] == HG_OFFSETS_DENSE;
}

/* Line pointer of the row that is the i-th of a block. */
static inline OffsetNumber
hg_segment_offset(const HgSegmentRows *rows, int block, int i)
{
	if (hg_segment_is_dense(rows, block))
		return (OffsetNumber) (i + 1);
	return rows->offsets[rows->offset_starts[block] + i];
}

#endif /* HG_RESIDENT_VERSION_H */
