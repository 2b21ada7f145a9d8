/*-------------------------------------------------------------------------
 *
 * hg_flat.h
 *	  Flat HashGraphs: in memory without pointers, which outlives jobs and is seen by many
 * processes.
 *
 * A job of hg_engine.h builds its graphs for one join.  A flat graph is built once, lies wherever
 * its owner has put it, at another address in each process, and is joined any number of times: two
 * of them are intersected as they are, and keys are looked up in one.  It is never changed; a newer
 * one is made of it, less some rows, and of others, and takes its place.
 *
 * KEYS are integers of 4 or 8 bytes.  They are hashed widened to 64 bits, with their sign, so that
 * graphs of either width line up: the hash of a key is hg_hash_of_mixed64(hg_mix64(key)), its top
 * bins_log2 bits are the bin, and the next vertices_log2 the vertex in that.  A bin of a graph with
 * fewer bins or vertices is a run of those of one that has more.
 *
 * ROWS are 32-bit numbers, made of a part and the number of the row in it:
 *
 *	row = part << HG_FLAT_ROW_BITS | number
 *
 * so that parts can be left out, and rows of them, without a look at others (HgFlatMask).
 *
 * A BIN is one block of memory: a HgFlatBin, and behind it, each aligned to 8 bytes, offsets[V + 1]
 * of offset_width bytes, keys[rows] of key_width bytes, and rows[rows].  Edges offsets[v] ..
 * offsets[v + 1] - 1 are those of vertex v.  A bin has some 10 000 rows, which a processor's cache
 * holds with those of another graph; only a key that is frequent makes it larger.
 *
 * WHO OWNS WHAT.  The owner allocates bins, and keeps them in place while anybody uses them.  What
 * these functions need for themselves comes from the host's callbacks, is told before and given
 * back.  NOTHING UNWINDS: functions return statuses as those of hg_engine.h do, and poll
 * host->cancelled() between pieces of work of at most 10 ms.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_FLAT_H
#define HG_FLAT_H

#include "hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* A part has fewer rows than 1 << HG_FLAT_ROW_BITS, and a graph no more parts than HG_FLAT_PARTS.
 */
#define HG_FLAT_ROW_BITS 19
#define HG_FLAT_PARTS 8192

#define HG_FLAT_ROW(part, number) ((uint32_t) (part) << HG_FLAT_ROW_BITS | (uint32_t) (number))
#define HG_FLAT_PART(row) ((uint32_t) (row) >> HG_FLAT_ROW_BITS)
#define HG_FLAT_NUMBER(row) ((uint32_t) (row) & ((UINT32_C(1) << HG_FLAT_ROW_BITS) - 1))

	typedef struct HgFlatBin
	{
		uint32_t rows;
		uint32_t offset_width; /* bytes: 2, or 4 where there are more than 65535 rows */
	} HgFlatBin;

	/* How all bins of a graph are shaped. */
	typedef struct HgFlatShape
	{
		uint32_t key_width; /* bytes: 4 or 8 */
		uint32_t bins_log2;
		uint32_t vertices_log2; /* of a bin */
	} HgFlatShape;

	typedef struct HgFlatGraph
	{
		HgFlatShape shape;
		uint64_t rows;
		const HgFlatBin *const *bins; /* [1 << bins_log2]; NULL: no row is in it */
	} HgFlatGraph;

	/* Which rows count.  Without a mask (NULL) all of them do. */
	typedef enum HgFlatPartState
	{
		HG_FLAT_NONE = 0, /* no row of the part */
		HG_FLAT_ALL,
		HG_FLAT_SOME /* those whose bits are set */
	} HgFlatPartState;

	typedef struct HgFlatMask
	{
		uint32_t nparts;			 /* rows of parts from there on do not count */
		const uint8_t *states;		 /* [nparts] HgFlatPartState */
		const uint64_t *const *bits; /* [nparts] by number, where the state is SOME */
	} HgFlatMask;

	/* Bytes of a set of a graph's vertices: a bit each, in 64-bit words, from bin 0 on. */
	extern uint64_t hg_flat_vertices_bytes(const HgFlatShape *shape);

	/* Put the vertices of keys into such a set. */
	extern void hg_flat_mark_vertices(const HgFlatShape *shape, const int64_t *keys, uint32_t count,
									  uint64_t *vertices);

	/* The shape of a graph that is to have so many rows. */
	extern HgFlatShape hg_flat_shape(uint32_t key_width, uint64_t rows);

	/* Bytes of a bin with so many rows. */
	extern uint64_t hg_flat_bin_bytes(const HgFlatShape *shape, uint64_t rows);

	/*
	 * MAKING ONE, bin by bin: rows are added in batches, twice.  The first time they are counted,
	 * and the second time those of some bins are collected and made bins of.
	 *
	 *	open -> count* -> { begin -> { keep, add }* -> finish_bin (each of these bins) }* -> close
	 *
	 * So a graph of any size is made in memory for a few bins at a time, and the more there is the
	 * fewer times its rows are hashed.
	 */
	typedef struct HgFlatMaker HgFlatMaker;

	/* Rows of a batch: rows[i] has keys[i]. */
	typedef struct HgFlatRows
	{
		const void *keys;	  /* [count] of the shape's key_width */
		const uint32_t *rows; /* [count], or NULL: first_row, first_row + 1 ... */
		uint64_t count;
		uint32_t first_row;
	} HgFlatRows;

	extern HgStatus hg_flat_maker_open(const HgHost *host, const HgFlatShape *shape,
									   HgFlatMaker **maker, HgError *error);

	/* Count rows that are to be added, and those of an older graph's bins that are to be kept. */
	extern HgStatus hg_flat_count(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);
	extern HgStatus hg_flat_count_kept(HgFlatMaker *maker, const HgFlatGraph *graph,
									   const HgFlatMask *mask, HgError *error);

	/* How many were counted in a bin. */
	extern uint64_t hg_flat_counted(const HgFlatMaker *maker, uint32_t bin);

	/*
	 * Collect the rows of bins first .. *end - 1 from now on, of which there are as many as fit
	 * memory of limit bytes, one at least; *end is set.  Collected rows of other bins are passed
	 * over.
	 */
	extern HgStatus hg_flat_begin(HgFlatMaker *maker, uint32_t first, uint64_t limit, uint32_t *end,
								  HgError *error);
	extern HgStatus hg_flat_add(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);
	extern HgStatus hg_flat_keep(HgFlatMaker *maker, const HgFlatGraph *graph,
								 const HgFlatMask *mask, HgError *error);

	/*
	 * Make a bin of those that were begun, all of whose rows have been added, in memory of
	 * hg_flat_bin_bytes(counted rows), which may be 0 for none.
	 */
	extern HgStatus hg_flat_finish_bin(HgFlatMaker *maker, uint32_t bin, void *memory,
									   HgError *error);
	extern void hg_flat_maker_close(HgFlatMaker *maker);

	/*
	 * Make one of rows that are all there, in several pieces, in one block of the host's memory;
	 * destroy gives that back (NULL: nothing).  make_bytes is what it takes at most while it is
	 * made, of which some half stays.
	 */
	extern HgStatus hg_flat_make(const HgHost *host, const HgFlatShape *shape,
								 const HgFlatRows *pieces, uint32_t npieces, HgFlatGraph **graph,
								 HgError *error);
	extern void hg_flat_destroy(const HgHost *host, HgFlatGraph *graph);
	extern uint64_t hg_flat_make_bytes(const HgFlatShape *shape, uint64_t rows);

	/*
	 * JOINING.  A stream of the pairs of rows with equal keys, of a part of the graphs at a time:
	 * take() names the part (from 0, each once over all processes that share a join, as a counter
	 * in memory of all of them does) until there are no more; NULL: one after the other.
	 */
	typedef struct HgFlatJoin HgFlatJoin;

	typedef struct HgFlatSide
	{
		const HgFlatGraph *graph;
		const HgFlatMask *mask; /* or NULL */

		/*
		 * Where there is a mask: the only vertices that have rows which do not count, and maybe
		 * others, so that rows of the rest are joined without asking.  NULL: it may be any.
		 */
		const uint64_t *masked;
	} HgFlatSide;

	typedef struct HgFlatWork
	{
		uint32_t (*take)(void *arg); /* or NULL */
		void *arg;
	} HgFlatWork;

	/*
	 * A join of two graphs, which stay in place until close, as the masks do.  Matching allocates
	 * nothing.
	 */
	extern HgStatus hg_flat_join_open(const HgHost *host, const HgFlatSide *outer,
									  const HgFlatSide *inner, const HgFlatWork *work,
									  HgFlatJoin **join, HgError *error);

	/*
	 * The same of keys that are looked up in a graph: rows of the side `keys_of` are keys', the
	 * others the graph's.  rows are in place until close.  Where keys_of is HG_INNER a graph of the
	 * keys is made first, which takes what hg_flat_make_bytes tells.
	 */
	extern HgStatus hg_flat_lookup_open(const HgHost *host, const HgFlatRows *rows,
										uint32_t key_width, HgSide keys_of, const HgFlatSide *graph,
										HgFlatJoin **join, HgError *error);

	/*
	 * The next pairs, at most matches->capacity, count 0 at the end: all of an outer row follow
	 * each other.  With HG_MATCH_FIRST at most one for each outer row.  matches->inner may be NULL
	 * where nobody looks at it.
	 */
	extern HgStatus hg_flat_next(HgFlatJoin *join, HgMatchMode mode, HgMatches *matches,
								 HgError *error);

	/* How many pairs next would return, from the beginning, or of the parts that take() names. */
	extern HgStatus hg_flat_join_count(HgFlatJoin *join, HgMatchMode mode, uint64_t *pairs,
									   HgError *error);

	/* Begin again: not where work is shared. */
	extern void hg_flat_rewind(HgFlatJoin *join);
	extern void hg_flat_close(HgFlatJoin *join);

	/*
	 * TALLYING.  A stream of the rows of one side of a join's pairs, alone and in order of their
	 * numbers: each as often as it is in a pair.  What lies in order of rows is then read in order,
	 * where pairs come in order of vertices, each from somewhere else.  A row is counted where it
	 * is found, HG_FLAT_TALLY_MOST at most: whenever there is one more, so many and one are
	 * returned ahead of the others.
	 *
	 * rows are below end.  The join is the caller's, who closes it after the tally, and looks at
	 * its pairs no more.  It begins where the join's stream stands.
	 */
#define HG_FLAT_TALLY_MOST 15

	/* Row numbers that next() must have room for. */
#define HG_FLAT_TALLY_ROOM 256

	typedef struct HgFlatTally HgFlatTally;

	/* What it takes for row numbers below end. */
	extern uint64_t hg_flat_tally_bytes(uint64_t end);

	extern HgStatus hg_flat_tally_open(const HgHost *host, HgFlatJoin *join, HgSide side,
									   uint64_t end, HgFlatTally **tally, HgError *error);

	/* The next rows[*count], at most capacity, which is HG_FLAT_TALLY_ROOM at least; 0 at the end.
	 */
	extern HgStatus hg_flat_tally_next(HgFlatTally *tally, HgMatchMode mode, uint32_t *rows,
									   size_t capacity, size_t *count, HgError *error);
	extern void hg_flat_tally_close(HgFlatTally *tally);

	/* The edges of a bin, keys[i] and rows[i]: returns how many. */
	extern uint64_t hg_flat_scan(const HgFlatGraph *graph, uint32_t bin, const void **keys,
								 const uint32_t **rows);

#ifdef __cplusplus
}
#endif

#endif /* HG_FLAT_H */
