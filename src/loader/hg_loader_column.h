/*-------------------------------------------------------------------------
 *
 * hg_loader_column.h
 *	  Collects the values of a segment's column, and makes its arrays from them.
 *
 * The encoding (resident/hg_resident_array.h) is chosen when all values are there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_COLUMN_H
#define HG_LOADER_COLUMN_H

#include "hg_compat.h"

#include "resident/hg_resident_version.h"

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

/* Initializes an empty column, whose arrays will be in context. */
extern void hg_encoded_column_begin(HgEncodedColumn *column, MemoryContext context,
									HgResidentColumn of);

/* Makes room for capacity rows, a multiple of 64. */
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

/* Fills in data with the arrays of nrows rows, which live as long as the context. */
extern void hg_encoded_column_finish(HgEncodedColumn *column, uint32 nrows,
									 HgSegmentColumnData *data);

#endif /* HG_LOADER_COLUMN_H */
