/*-------------------------------------------------------------------------
 *
 * hg_flat.h
 *	  Flat HashGraphs: position-independent graphs that outlive jobs and that many processes read.
 *
 * A job of hg_engine.h builds its graphs for one join.  A flat graph is built once, has no
 * pointers in its bins, and is in memory that its owner chooses, at another address in each
 * process.  It takes part in any number of joins: two flat graphs are intersected as they are, and
 * keys are looked up in one.  It never changes.  A newer graph, made from it without some of its
 * rows and from other rows, replaces it.
 *
 * KEYS are integers of 4 or 8 bytes.  They are widened to 64 bits with their sign before they are
 * hashed, so that graphs of both widths line up.  The hash of a key is
 * hg_hash_of_mixed64(hg_mix64(key)).  Its top bins_log2 bits are the bin, and the next
 * vertices_log2 bits are the vertex in the bin.  A bin of a graph with fewer bins or vertices
 * corresponds to a run of bins or vertices of a graph with more.
 *
 * ROWS are 32-bit numbers that consist of a part and the number of the row in it:
 *
 *	row = part << HG_FLAT_ROW_BITS | number
 *
 * A mask (HgFlatMask) can exclude whole parts, and rows of a part, independently of other parts.
 *
 * A BIN is one block of memory.  It begins with a HgFlatBin, followed by offsets[V + 1] of
 * offset_width bytes, keys[rows] of key_width bytes, and rows[rows], each aligned to 8 bytes.
 * Edges offsets[v] .. offsets[v + 1] - 1 belong to vertex v.  A bin has some 10 000 rows, so that
 * a CPU's cache holds it together with a bin of another graph; only a frequent key makes it
 * larger.
 *
 * OWNERSHIP.  The owner allocates the bins and keeps them in place while anyone uses them.  These
 * functions take their own memory from the host's callbacks, in an amount that the caller can
 * compute beforehand, and free it.  NOTHING UNWINDS: functions return statuses as those of
 * hg_engine.h do, and poll host->cancelled() between pieces of work of at most 10 ms.
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

/* A part has fewer rows than 1 << HG_FLAT_ROW_BITS, and a graph at most HG_FLAT_PARTS parts. */
#define HG_FLAT_ROW_BITS 19
#define HG_FLAT_PARTS 8192

#define HG_FLAT_ROW(part, number) ((uint32_t) (part) << HG_FLAT_ROW_BITS | (uint32_t) (number))
#define HG_FLAT_PART(row) ((uint32_t) (row) >> HG_FLAT_ROW_BITS)
#define HG_FLAT_NUMBER(row) ((uint32_t) (row) & ((UINT32_C(1) << HG_FLAT_ROW_BITS) - 1))

	typedef struct HgFlatBin
	{
		uint32_t rows;
		uint32_t offset_width; /* bytes: 2, or 4 if the bin has more than 65535 rows */
	} HgFlatBin;

	/* Shape that all bins of a graph have in common. */
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
		const HgFlatBin *const *bins; /* [1 << bins_log2]; NULL where a bin has no rows */
	} HgFlatGraph;

	/* Which rows of a part count.  Without a mask (NULL) all rows do. */
	typedef enum HgFlatPartState
	{
		HG_FLAT_NONE = 0, /* no row of the part */
		HG_FLAT_ALL,
		HG_FLAT_SOME /* rows whose bits are set */
	} HgFlatPartState;

	typedef struct HgFlatMask
	{
		uint32_t nparts;			 /* rows of this part and later ones do not count */
		const uint8_t *states;		 /* [nparts] HgFlatPartState */
		const uint64_t *const *bits; /* [nparts] a bit for each row number, if the state is SOME */
	} HgFlatMask;

	/* Returns the bytes of a set of a graph's vertices: a bit each, in 64-bit words. */
	extern uint64_t hg_flat_vertices_bytes(const HgFlatShape *shape);

	/* Adds the vertices of count keys to vertices, a set of hg_flat_vertices_bytes() bytes. */
	extern void hg_flat_mark_vertices(const HgFlatShape *shape, const int64_t *keys, uint32_t count,
									  uint64_t *vertices);

	/* Returns the shape for a graph of rows rows. */
	extern HgFlatShape hg_flat_shape(uint32_t key_width, uint64_t rows);

	/* Returns the bytes of a bin with rows rows. */
	extern uint64_t hg_flat_bin_bytes(const HgFlatShape *shape, uint64_t rows);

	/*
	 * MAKING A GRAPH, bin by bin.  All rows are added in batches, in several passes.  The first
	 * pass counts them.  Each later pass collects the rows of some bins, from which these bins are
	 * made.
	 *
	 *	open -> count* -> { begin -> { keep, add }* -> finish_bin (each of these bins) }* -> close
	 *
	 * A graph of any size can be made in memory for a few bins at a time.  More memory means fewer
	 * passes, and so fewer times that each row is hashed.
	 */
	typedef struct HgFlatMaker HgFlatMaker;

	/* A batch of rows: rows[i] has keys[i]. */
	typedef struct HgFlatRows
	{
		const void *keys;	  /* [count] of the shape's key_width */
		const uint32_t *rows; /* [count], or NULL: first_row, first_row + 1 and so on */
		uint64_t count;
		uint32_t first_row;
	} HgFlatRows;

	/* Opens a maker for a graph of this shape.  *maker is set on HG_OK only. */
	extern HgStatus hg_flat_maker_open(const HgHost *host, const HgFlatShape *shape,
									   HgFlatMaker **maker, HgError *error);

	/*
	 * Count rows to add, and rows of an older graph to keep that count by the mask, here and in
	 * hg_flat_add_graph.  HG_INVALID if the graph has keys of another width.
	 */
	extern HgStatus hg_flat_count(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);
	extern HgStatus hg_flat_count_graph(HgFlatMaker *maker, const HgFlatGraph *graph,
										const HgFlatMask *mask, HgError *error);

	/* Returns how many rows were counted in a bin. */
	extern uint64_t hg_flat_counted(const HgFlatMaker *maker, uint32_t bin);

	/*
	 * Begins to collect the rows of bins first .. *end - 1.  It sets *end so that as many bins as
	 * possible fit limit bytes, but at least one.  add and keep skip rows of other bins.
	 */
	extern HgStatus hg_flat_begin(HgFlatMaker *maker, uint32_t first, uint64_t limit, uint32_t *end,
								  HgError *error);

	/* Add rows of a batch, or rows of an older graph that count by the mask. */
	extern HgStatus hg_flat_add(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);
	extern HgStatus hg_flat_add_graph(HgFlatMaker *maker, const HgFlatGraph *graph,
									  const HgFlatMask *mask, HgError *error);

	/*
	 * Makes one of the bins begun, after all rows were added.  memory has
	 * hg_flat_bin_bytes(counted rows) bytes, and may be NULL if that is 0.  HG_INVALID if the bin's
	 * rows are not as many as were counted.
	 */
	extern HgStatus hg_flat_finish_bin(HgFlatMaker *maker, uint32_t bin, void *memory,
									   HgError *error);

	/* Frees a maker, but not the bins that it has made; NULL does nothing. */
	extern void hg_flat_maker_close(HgFlatMaker *maker);

	/*
	 * hg_flat_make makes a graph of rows that are all in memory, in several pieces, in one block
	 * of the host's memory.  hg_flat_destroy frees it; NULL does nothing.  hg_flat_make_bytes
	 * returns the peak memory of making one, about half of which remains allocated.
	 */
	extern HgStatus hg_flat_make(const HgHost *host, const HgFlatShape *shape,
								 const HgFlatRows *pieces, uint32_t npieces, HgFlatGraph **graph,
								 HgError *error);
	extern void hg_flat_destroy(const HgHost *host, HgFlatGraph *graph);
	extern uint64_t hg_flat_make_bytes(const HgFlatShape *shape, uint64_t rows);

	/*
	 * JOINING.  A stream of the pairs of rows with equal keys.  take() returns the next part of
	 * the work, a number from 0 on, until there are no more.  Processes that share a join must get
	 * each number once, as from a counter in shared memory.  take NULL: one part after the other.
	 */
	typedef struct HgFlatJoin HgFlatJoin;

	typedef struct HgFlatSide
	{
		const HgFlatGraph *graph;
		const HgFlatMask *mask; /* or NULL */

		/*
		 * With a mask: the set of vertices that can have rows which do not count.  Rows of all
		 * other vertices are joined without a look at the mask.  NULL: any vertex.
		 */
		const uint64_t *masked;
	} HgFlatSide;

	typedef struct HgFlatWork
	{
		uint32_t (*take)(void *arg); /* or NULL */
		void *arg;
	} HgFlatWork;

	/*
	 * Opens a join of two graphs.  The graphs and masks stay in place until close.  Matching
	 * allocates nothing.
	 */
	extern HgStatus hg_flat_join_open(const HgHost *host, const HgFlatSide *outer,
									  const HgFlatSide *inner, const HgFlatWork *work,
									  HgFlatJoin **join, HgError *error);

	/*
	 * Opens a join of keys with a graph: rows of the side keys_of are those of the keys, rows of
	 * the other side are the graph's.  The arrays in rows stay in place until close.  If keys_of
	 * is HG_INNER, it makes a graph of the keys first, which takes hg_flat_make_bytes of memory.
	 */
	extern HgStatus hg_flat_lookup_open(const HgHost *host, const HgFlatRows *rows,
										uint32_t key_width, HgSide keys_of, const HgFlatSide *graph,
										HgFlatJoin **join, HgError *error);

	/*
	 * Returns the next pairs, at most matches->capacity; count is 0 at the end.  All pairs of an
	 * outer row follow each other.  With HG_MATCH_FIRST an outer row has at most one.
	 * matches->inner may be NULL if the caller does not need it.
	 */
	extern HgStatus hg_flat_next(HgFlatJoin *join, HgMatchMode mode, HgMatches *matches,
								 HgError *error);

	/*
	 * Sets *pairs to the number of pairs that next would return from the beginning, or for the
	 * parts of the work that take() returns.  The stream is at the beginning afterwards.
	 */
	extern HgStatus hg_flat_join_count(HgFlatJoin *join, HgMatchMode mode, uint64_t *pairs,
									   HgError *error);

	/* Restarts the stream from the beginning; not allowed if take is set. */
	extern void hg_flat_rewind(HgFlatJoin *join);

	/* Frees a join; NULL does nothing. */
	extern void hg_flat_close(HgFlatJoin *join);

	/*
	 * TALLYING.  A stream of the rows of one side of a join's pairs, in order of their numbers,
	 * each as often as it occurs in a pair.  Data in row order is then read in order, while pairs
	 * come in order of vertices.  Each row has a counter, up to HG_FLAT_TALLY_MOST.  When a row
	 * occurs once more than that, next returns these HG_FLAT_TALLY_MOST + 1 occurrences ahead of
	 * the others, and the counter starts again at 0.
	 *
	 * Row numbers are below end.  The caller keeps the join, closes it after the tally, and does
	 * not read its pairs meanwhile.  The tally begins at the current position of the join's
	 * stream.
	 */
#define HG_FLAT_TALLY_MOST 15

	/* Least capacity, in row numbers, of the array that hg_flat_tally_next gets. */
#define HG_FLAT_TALLY_ROOM 256

	typedef struct HgFlatTally HgFlatTally;

	/* Returns the bytes of memory of a tally for row numbers below end. */
	extern uint64_t hg_flat_tally_bytes(uint64_t end);

	/* Opens a tally of the rows of a side of the join's pairs.  *tally is set on HG_OK only. */
	extern HgStatus hg_flat_tally_open(const HgHost *host, HgFlatJoin *join, HgSide side,
									   uint64_t end, HgFlatTally **tally, HgError *error);

	/* Returns the next rows[*count], at most capacity >= HG_FLAT_TALLY_ROOM; 0 at the end. */
	extern HgStatus hg_flat_tally_next(HgFlatTally *tally, HgMatchMode mode, uint32_t *rows,
									   size_t capacity, size_t *count, HgError *error);

	/* Frees a tally, but not its join; NULL does nothing. */
	extern void hg_flat_tally_close(HgFlatTally *tally);

	/* Returns the number of a bin's edges; *keys and *rows point into the graph. */
	extern uint64_t hg_flat_scan(const HgFlatGraph *graph, uint32_t bin, const void **keys,
								 const uint32_t **rows);

#ifdef __cplusplus
}
#endif

#endif /* HG_FLAT_H */
