/*-------------------------------------------------------------------------
 *
 * hg_scan_tuples.h
 *	  Heap tuples into columns.
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

/* An attribute of a table, as it lies in a tuple. */
typedef struct HgTupleAttribute
{
	int16 attlen;
	bool attbyval;
	uint8 alignby;
	int column;		   /* of the batch, or -1 */
	bool missing_null; /* what tuples have that are older than the attribute */
	Datum missing_value;
} HgTupleAttribute;

/* Where the wanted attributes of a table's tuples are. */
typedef struct HgTupleLayout
{
	int natts;	   /* the last wanted attribute */
	int nfixed;	   /* attributes ahead of the first of variable length, up to natts */
	Size *offsets; /* [nfixed], of those where no NULL is ahead */
	int nfixed_wanted;
	int *fixed_wanted;			  /* [nfixed_wanted], from 0 */
	HgTupleAttribute *attributes; /* [natts] */
	bool by_reference;			  /* some wanted attribute is */
	Size missing_bytes;			  /* of such values that a tuple older than all of them has */
} HgTupleLayout;

/*
 * The layout for attribute attnos[c] (from 1, each once) of desc as column c, in
 * CurrentMemoryContext.
 */
extern HgTupleLayout *hg_tuple_layout_create(TupleDesc desc, int nattnos, const AttrNumber *attnos);

/* Are all wanted attributes ahead of the first of variable length? */
static inline bool
hg_tuple_layout_is_fixed(const HgTupleLayout *layout)
{
	return layout->nfixed == layout->natts;
}

/*
 * Add the columns of tuples[ntuples] behind the rows of a batch, which has room for them.
 * Values by reference point into the tuples.
 */
extern void hg_tuple_layout_add(const HgTupleLayout *layout, int ntuples,
								const HeapTupleHeader *tuples, HgBatch *batch);

#endif /* HG_SCAN_TUPLES_H */
