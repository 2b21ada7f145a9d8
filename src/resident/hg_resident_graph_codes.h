/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_codes.h
 *	  Codes that devices have instead of values, if no engine supports their width.
 *
 * A value becomes a number from 0, the same for the same bytes in all rows of a graph version.  A
 * numeric may become an integer scaled by the column's display scale instead.  What a number
 * stands for is stored with the graph version and lives as long.  Two values that differ in a byte
 * have two codes, even if their type calls them equal.
 *
 * Codes follow from the segment versions that the graph lists, which never change.  A process that
 * makes them again, for a device that has lost its replica, makes the same.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_GRAPH_CODES_H
#define HG_RESIDENT_GRAPH_CODES_H

#include "hg_compat.h"

#include "resident/hg_resident_graph_version.h"

/* Bytes of a code, and of a scaled integer, on the device. */
#define HG_GRAPH_CODE_WIDTH sizeof(uint16)
#define HG_GRAPH_SCALED_WIDTH sizeof(int64)

/* Maximum length in bytes of a value that has a code. */
#define HG_GRAPH_CODED_BYTES 128

/* The codes of a column, in shared memory. */
typedef struct HgGraphCodes
{
	dsa_pointer next; /* the next column's; invalid: there are no more */
	Size bytes;		  /* of this chunk */
	AttrNumber number;
	int scale; /* display scale of scaled integers, which have no codes; -1: codes */
	uint32 ncodes;
	uint32 starts[FLEXIBLE_ARRAY_MEMBER]; /* [ncodes] offsets of values from this struct */
} HgGraphCodes;

/* Returns the codes of a column of a pinned graph version, or NULL. */
extern const HgGraphCodes *hg_graph_codes_find(HgResidentGraph *graph, AttrNumber number);

/*
 * hg_graph_codes_allocate allocates room for ncodes codes and nbytes of values; *values becomes
 * the beginning of those.  Returns NULL if there is no memory.  The caller fills in starts and
 * values, and links the codes to the graph before anything can fail.
 */
extern HgGraphCodes *hg_graph_codes_allocate(AttrNumber number, int scale, uint32 ncodes,
											 Size nbytes, dsa_pointer *pointer, char **values);
extern void hg_graph_codes_link(HgResidentGraph *graph, dsa_pointer pointer);

/* Frees all codes of a graph version that is being freed. */
extern void hg_graph_codes_free(HgResidentGraph *graph);

/* Returns the value that a code stands for. */
static inline const char *
hg_graph_code_value(const HgGraphCodes *codes, uint32 code)
{
	return (const char *) codes + codes->starts[code];
}

#endif /* HG_RESIDENT_GRAPH_CODES_H */
