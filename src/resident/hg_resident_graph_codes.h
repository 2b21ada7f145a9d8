/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_codes.h
 *	  Codes of the values that a column of a graph's rows has: what a device is given in their
 *	  place.
 *
 * A value that is not of a width that an engine has goes to a device as a number from 0, which is
 * the same for the same bytes in all rows of a graph version, or, a numeric, as an integer scaled
 * by the column's display scale.  What a number stands for lies beside the version, for whoever
 * gets it back, as long as that is there.  Two values that differ in a byte have two codes,
 * whatever their type calls equal.
 *
 * Codes follow from the segment versions that the graph lists, none of which changes: whoever
 * makes them again, for a device that has lost its copy, makes the same.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_CODES_H
#define HG_RESIDENT_GRAPH_CODES_H

#include "hg_compat.h"

#include "resident/hg_resident_graph_version.h"

/* Bytes of what the device has of a value: a code, or the scaled integer of a numeric. */
#define HG_GRAPH_CODE_WIDTH sizeof(uint16)
#define HG_GRAPH_SCALED_WIDTH sizeof(int64)

/* Bytes of the longest value that has a code. */
#define HG_GRAPH_CODED_BYTES 128

/* The codes of a column, in shared memory. */
typedef struct HgGraphCodes
{
	dsa_pointer next; /* those of another column; invalid: there are no more */
	Size bytes;		  /* of all of it */
	AttrNumber number;
	int scale; /* of numerics, which are scaled integers in place of codes; -1: of none */
	uint32 ncodes;
	uint32 starts[FLEXIBLE_ARRAY_MEMBER]; /* [ncodes] of their values, from the beginning on */
} HgGraphCodes;

/* Those of a column of a pinned version; NULL: there are none. */
extern const HgGraphCodes *hg_graph_codes_find(HgResidentGraph *graph, AttrNumber number);

/*
 * Room for so many, whose values take nbytes behind starts, which *values becomes the beginning of;
 * NULL: there is none.  The caller fills them in, and links them before anything can fail.
 */
extern HgGraphCodes *hg_graph_codes_allocate(AttrNumber number, int scale, uint32 ncodes,
											 Size nbytes, dsa_pointer *pointer, char **values);
extern void hg_graph_codes_link(HgResidentGraph *graph, dsa_pointer pointer);

/* The version is freed. */
extern void hg_graph_codes_free(HgResidentGraph *graph);

/* What a code stands for. */
static inline const char *
hg_graph_code_value(const HgGraphCodes *codes, uint32 code)
{
	return (const char *) codes + codes->starts[code];
}

#endif /* HG_RESIDENT_GRAPH_CODES_H */
