/*-------------------------------------------------------------------------
 *
 * hg_list_lengths.h
 *	  How long the adjacency lists of a HashGraph are, without building it.
 *
 * What skew looks like: the lists of a good hash over different keys have the lengths of a Poisson
 * distribution, and each frequent key is a list that stands out.  Counting the rows of each vertex
 * is the first phase of Algorithm 1 of the paper, and all that is needed; vertices and hash are
 * those of the engines, so that the lists are those of a HashGraph of this column alone that any of
 * them would build.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LIST_LENGTHS_H
#define HG_LIST_LENGTHS_H

#include "hg_engine.h"

/* So many vertices have a list of so many rows. */
typedef struct HgListLength
{
	uint64_t length;
	uint64_t vertices; /* at least 1 */
} HgListLength;

typedef struct HgListLengths
{
	const HgHost *host;
	uint32_t key_width;
	uint32_t vertices_log2;
	uint64_t rows;		   /* counted so far */
	uint32_t *counts;	   /* [vertices] rows of each */
	HgListLength *lengths; /* [count] by length, ascending, once they are made */
	uint64_t count;
	uint64_t lengths_bytes; /* that lengths take */
} HgListLengths;

/* What the lists of rows rows take of memory, before their lengths are made. */
extern uint64_t hg_list_lengths_bytes(uint64_t rows, double load_factor);

/*
 * Have the lists of rows keys of key_width bytes (4 or 8) counted, of which there are at most
 * HG_MAX_ROWS; load_factor as in a job's spec.  host must outlive it.  After a failure here there
 * is nothing to be closed; after one below only that is left.
 */
extern HgStatus hg_list_lengths_open(HgListLengths *lists, const HgHost *host, uint32_t key_width,
									 double load_factor, uint64_t rows, HgError *error);

/* Count the lists of count keys; the array stays the caller's.  HG_CANCELLED within 10 ms. */
extern HgStatus hg_list_lengths_add(HgListLengths *lists, const void *keys, uint64_t count,
									HgError *error);

/* Make the lengths: those of no rows first, if there are any. */
extern HgStatus hg_list_lengths_make(HgListLengths *lists, HgError *error);

extern void hg_list_lengths_close(HgListLengths *lists);

#endif /* HG_LIST_LENGTHS_H */
