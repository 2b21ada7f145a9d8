/*-------------------------------------------------------------------------
 *
 * hg_list_lengths.h
 *	  Lengths of the adjacency lists of a HashGraph, without building it.
 *
 * The lengths show skew.  A good hash over distinct keys gives lists whose lengths have a Poisson
 * distribution, and each frequent key is a list that stands out.  Counting the rows of each vertex
 * is the first phase of Algorithm 1 of the paper, and sufficient.  Vertices and hash are those of
 * the engines, so the lists are those of a HashGraph of this column alone that any engine would
 * build.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LIST_LENGTHS_H
#define HG_LIST_LENGTHS_H

#include "hg_engine.h"

/* vertices is the number of vertices whose list has length rows. */
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
	HgListLength *lengths; /* [count] ascending by length, after hg_list_lengths_make */
	uint64_t count;
	uint64_t lengths_bytes; /* size of lengths */
} HgListLengths;

/* Returns the memory for counting the lists of rows keys, before their lengths are made. */
extern uint64_t hg_list_lengths_bytes(uint64_t rows, double load_factor);

/*
 * Prepares to count the lists of at most rows keys of key_width bytes (4 or 8), at most
 * HG_MAX_ROWS; load_factor is as in HgJobShape.  host must outlive lists.  After a failure of this
 * function there is nothing to close; after a failure of a later one only close is allowed.
 */
extern HgStatus hg_list_lengths_open(HgListLengths *lists, const HgHost *host, uint32_t key_width,
									 double load_factor, uint64_t rows, HgError *error);

/* Counts count keys; the array stays the caller's.  Answers HG_CANCELLED within 10 ms. */
extern HgStatus hg_list_lengths_add(HgListLengths *lists, const void *keys, uint64_t count,
									HgError *error);

/* Makes the lengths, beginning with length 0 if any list is empty. */
extern HgStatus hg_list_lengths_make(HgListLengths *lists, HgError *error);

/* Frees the counts and the lengths. */
extern void hg_list_lengths_close(HgListLengths *lists);

#endif /* HG_LIST_LENGTHS_H */
