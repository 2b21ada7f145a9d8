/*-------------------------------------------------------------------------
 *
 * hg_scan_tuples.h
 *	  Extracts columns from heap tuples.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SCAN_TUPLES_H
#define HG_SCAN_TUPLES_H

#include "access/htup_details.h"
#include "access/tupdesc.h"

#include "batch/hg_batch.h"

/* An attribute of a table in a tuple. */
typedef struct HgTupleAttribute
{
	int16 attlen;
	bool attbyval;
	uint8 alignby;
	int column;		   /* of the batch, or -1 */
	bool missing_null; /* the value in tuples that are older than the attribute */
	Datum missing_value;
} HgTupleAttribute;

/* Offsets of the needed attributes in a table's tuples. */
typedef struct HgTupleLayout
{
	int natts;	   /* number of the last needed attribute */
	int nfixed;	   /* attributes before the first of variable length, up to natts */
	Size *offsets; /* [nfixed] offsets if no NULL comes before */
	int nfixed_used;
	int *fixed_used;			  /* [nfixed_used] needed attributes among them, from 0 */
	HgTupleAttribute *attributes; /* [natts] */
	bool by_reference;			  /* some needed attribute is by reference */
	/* by-reference bytes in a tuple that is older than all attributes */
	Size missing_bytes;
} HgTupleLayout;

/*
 * Creates the layout for attribute attnos[c] (from 1) of desc as column c of batches, in
 * CurrentMemoryContext.
 */
extern HgTupleLayout *hg_tuple_layout_create(TupleDesc desc, int nattnos, const AttrNumber *attnos);

/* Returns true if no variable-length attribute comes before the last needed one. */
static inline bool
hg_tuple_layout_is_fixed(const HgTupleLayout *layout)
{
	return layout->nfixed == layout->natts;
}

/*
 * Appends the columns of tuples[ntuples] to a batch, which has room for them, and raises nrows.
 * By-reference values point into the tuples, or to defaults of attributes that they lack.
 */
extern void hg_tuple_layout_add(const HgTupleLayout *layout, int ntuples,
								const HeapTupleHeader *tuples, HgBatch *batch);

#endif /* HG_SCAN_TUPLES_H */
