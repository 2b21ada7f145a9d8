/*-------------------------------------------------------------------------
 *
 * hg_loader_column.h
 *	  The values of a segment's column, as rows come, to the arrays that are kept.
 *
 * How they are encoded (resident/hg_resident_array.h) is decided on when all of them have come.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_COLUMN_H
#define HG_LOADER_COLUMN_H

#include "hg_compat.h"

#include "resident/hg_resident_version.h"

/* A column that is being filled.  All memory is of one context. */
typedef struct HgEncodedColumn
{
	MemoryContext context;
	HgResidentColumn column;
	HgSegmentEncoding encoding; /* FIXED or PACKED */
	int alignby;
	uint32 capacity; /* rows */
	uint64 *valid;	 /* [capacity] bits */
	uint64 *missing; /* [capacity] bits; NULL: no row is missing so far */
	bool has_nulls;
	char *values;	/* FIXED: [capacity x length] */
	uint32 *starts; /* PACKED: [capacity / HG_GROUP_ROWS + 1] */
	char *bytes;	/* PACKED: [room] */
	Size room;
	Size nbytes;
	const char
		*missing_value; /* PACKED: of missing rows, of the appender's; NULL: there are none */
} HgEncodedColumn;

extern void hg_encoded_column_begin(HgEncodedColumn *column, MemoryContext context,
									HgResidentColumn of);

/* Have room for so many rows, a multiple of 64. */
extern void hg_encoded_column_reserve(HgEncodedColumn *column, uint32 capacity);

/*
 * Append a value as that of row, the next one, for which there is room.  It is missing where the
 * row is older than the column and has its default, which is the same for all such rows, and stays
 * where it is until the column is finished.
 */
extern void hg_encoded_column_append(HgEncodedColumn *column, uint32 row, Datum value, bool isnull,
									 bool missing);

/* The same for n rows from this one on, none of them NULL, of a FIXED column by value. */
extern void hg_encoded_column_append_values(HgEncodedColumn *column, uint32 row,
											const Datum *values, int n);

/* The arrays of so many rows, as long as the context is there; no value comes after this. */
extern void hg_encoded_column_finish(HgEncodedColumn *column, uint32 nrows,
									 HgSegmentColumnData *data);

#endif /* HG_LOADER_COLUMN_H */
