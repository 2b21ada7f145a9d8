/*-------------------------------------------------------------------------
 *
 * hg_loader_column.h
 *	  Makes the arrays of a segment version from copies of the table's pages, column by
 *	  column.
 *
 * A loader calls hg_encoder_begin for a segment (consecutive blocks of a table), then
 * hg_encoder_add_page for each block, hg_encoder_finish, and hg_encoder_end once the version is
 * made.  The encoding of each column (resident/hg_resident_array.h) is chosen when all values are
 * there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_COLUMN_H
#define HG_LOADER_COLUMN_H

#include "hg_compat.h"

#include "resident/hg_resident_array.h"
#include "resident/hg_resident_capture.h"
#include "resident/hg_resident_version.h"

/*
 * Returns the bounds of a column of nrows rows.  Values that neither compare as integers nor are
 * scaled integers have no bounds: the result only says whether all are NULL.
 */
extern HgSegmentBounds hg_bounds_create(const HgSegmentColumnData *column, uint32 nrows);

/*
 * A set of distinct values, with the codes 0, 1, 2, ... in the order in which the values were first
 * added.
 *
 * Values are compared by their stored bytes, not by their type's equality.  One value may have
 * several codes, if it is compressed in one row and not in another.
 */

#define HG_NO_CODE PG_UINT32_MAX

typedef struct HgCodes
{
	int length;	 /* attlen of the type: a width, or -1 */
	int alignby; /* alignment of the type, in bytes */
	uint32 most; /* maximum number of codes */
	uint32 ncodes;
	const char **values; /* [most] the caller's values, which must stay valid as long as the set */
	uint32 *hashes;		 /* [most] */
	uint32 mask;
	uint32 *slots; /* [mask + 1] codes, or HG_NO_CODE */
	Size nbytes;   /* bytes of all values laid out one after the other, alignment included */
} HgCodes;

/* Creates an empty set in CurrentMemoryContext. */
extern HgCodes *hg_codes_create(int length, int alignby, uint32 most);

/* Returns the code of a value, a pointer to its bytes; adds a new one; HG_NO_CODE if full. */
extern uint32 hg_codes_find(HgCodes *codes, const char *value);

/*
 * Copies the values to bytes[codes->nbytes], which must be zeroes, and their offsets there to
 * starts[codes->ncodes].  Returns the bytes of the widest value.
 */
extern uint32 hg_codes_fill(const HgCodes *codes, uint32 *starts, char *bytes);

/* The distinct values of a segment's column; a value's code is its position. */
typedef struct HgLoaderDictionary
{
	uint32 ncodes;
	uint32 widest;	/* bytes of the widest value */
	int width;		/* bytes of a code: 1 or 2 */
	void *codes;	/* [rows x width]; 0 for NULL */
	uint32 *starts; /* [ncodes] offsets in bytes */
	char *bytes;	/* [nbytes] */
	Size nbytes;
} HgLoaderDictionary;

/* A column that is being filled.  All memory is in context. */
typedef struct HgEncodedColumn
{
	MemoryContext context;
	HgResidentColumn column;
	HgSegmentEncoding encoding; /* FIXED or PACKED */
	int alignby;
	uint32 capacity; /* rows that the arrays have room for */
	uint64 *valid;	 /* [capacity] bits */
	uint64 *missing; /* [capacity] bits; NULL: no row is missing yet */
	bool has_nulls;
	char *values;	/* FIXED: [capacity x length] */
	uint32 *starts; /* PACKED: [capacity / HG_GROUP_ROWS + 1] */
	char *bytes;	/* PACKED: [room], of which nbytes are used */
	Size room;
	Size nbytes;
	/* PACKED: the missing rows' default, the caller's; NULL: no row is missing */
	const char *missing_value;
} HgEncodedColumn;

/* Initializes an empty column with the definition of, whose arrays will be in context. */
extern void hg_encoded_column_begin(HgEncodedColumn *column, MemoryContext context,
									HgResidentColumn of);

/* Makes room for capacity rows in all, a multiple of 64. */
extern void hg_encoded_column_reserve(HgEncodedColumn *column, uint32 capacity);

/*
 * Appends the value of the given row, which is the next one, and for which there is room.
 * missing: the row is older than the column, and has its default.  All such rows must have the
 * same value, which must stay in place until the column is finished.
 */
extern void hg_encoded_column_append(HgEncodedColumn *column, uint32 row, Datum value, bool isnull,
									 bool missing);

/* Appends the values of n rows, none of them NULL, to a FIXED column passed by value. */
extern void hg_encoded_column_append_values(HgEncodedColumn *column, uint32 row,
											const Datum *values, int n);

/* Chooses the encoding and sets *data, except bounds, to arrays of nrows rows in the context. */
extern void hg_encoded_column_finish(HgEncodedColumn *column, uint32 nrows,
									 HgSegmentColumnData *data);

/*
 * hg_loader_encode.c: makes the arrays of a segment version from copies of the table's pages
 */

/* Returns HG_REASON_NONE if a column of this definition may be cached, or else why it may not. */
extern HgResidentReason hg_encode_may_take_in(Form_pg_attribute attribute);

typedef struct HgEncoder HgEncoder;

/* Creates an encoder for the rows of a segment, in a memory context below the current one. */
extern HgEncoder *hg_encoder_begin(Relation rel, uint32 segment, const HgResidentColumn *columns,
								   int ncolumns);

/* Adds all rows in the copy of a block; blocks ascend.  A block that is not added has no rows. */
extern void hg_encoder_add_page(HgEncoder *encoder, BlockNumber block, HgCapturedPage *page);

/*
 * Returns the bytes that the columns of fixed width take so far: a lower bound of the finished
 * arrays.
 */
extern Size hg_encoder_fixed_bytes(const HgEncoder *encoder);

/*
 * Returns the data of a new version (hg_segment_version_make).  It lives as long as the encoder. No
 * page can be added afterwards.
 */
extern const HgSegmentData *hg_encoder_finish(HgEncoder *encoder, const HgCapture *capture);

/* Frees the encoder. */
extern void hg_encoder_end(HgEncoder *encoder);

#endif /* HG_LOADER_COLUMN_H */
