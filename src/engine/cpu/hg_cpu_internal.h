/*-------------------------------------------------------------------------
 *
 * hg_cpu_internal.h
 *	  The job of the CPU engine, and what its files share.
 *
 *	hg_cpu.c			life of a job, memory, the table of calls
 *	hg_cpu_build.c		build v1 and v2
 *	hg_cpu_match.c		probe intersect and standard, matches and counts
 *	hg_cpu_describe.c	describe and export
 *
 * The last three are written once for both key widths: their bodies stand in
 * hg_cpu_*_impl.h, which is included with HG_KEY_BITS set to 32 and to 64.
 *
 * An edge carries the mixed key (hg_hash.h), which costs nothing, as mixing can
 * be undone, and spares mixing again: the vertex is a shift away.
 *
 * WHAT ALWAYS HOLDS of a built graph, beside the CSR form: a list longer than
 * HG_CPU_SORTED_LIST is sorted by mixed key.  So equal keys are found there by
 * binary search and stand together, and no list, however long, makes probing,
 * counting or describing quadratic.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_INTERNAL_H
#define HG_CPU_INTERNAL_H

#include <string.h>

#include "../hg_hash.h"
#include "../hg_shape.h"
#include "hg_cpu.h"

/*
 * Rows worked on between two polls of cancelled().  Where each of them faults in
 * a fresh 4 kB page that is still within 10 ms.
 */
#define HG_CPU_POLL_ROWS 4096

/*
 * The same where rows go to places all over a new array: in huge pages, 2 MB are to be
 * cleared for each place at first.
 */
#define HG_CPU_POLL_PLACES 128

/*
 * Lists longer than this are sorted; shorter ones are compared one by one.  It is
 * well above the mean list of the bigger side (hg_shape.c), as sorting every list
 * of a graph would take longer than all the rest.
 */
#define HG_CPU_SORTED_LIST 128

/* Outer rows looked up together, so that their cache misses overlap. */
#define HG_CPU_GROUP 32

/*
 * Edges that may be read after the last one: probing reads two edges at the
 * start of every list without asking first whether it has them.
 */
#define HG_CPU_EDGE_PADDING 2

#if defined(__GNUC__)
#define HG_CPU_PREFETCH(address) __builtin_prefetch(address)
#define HG_CPU_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define HG_CPU_PREFETCH(address) ((void) (address))
#define HG_CPU_UNLIKELY(condition) (condition)
#endif

/* HG_CPU_T(name) is name32 or name64, by the HG_KEY_BITS of the moment. */
#define HG_CPU_PASTE2(name, bits) name##bits
#define HG_CPU_PASTE(name, bits) HG_CPU_PASTE2(name, bits)
#define HG_CPU_T(name) HG_CPU_PASTE(name, HG_KEY_BITS)

typedef uint32_t HgCpuKey32;
typedef uint64_t HgCpuKey64;

typedef struct HgCpuEdge32
{
	uint32_t mixed;
	uint32_t row;
} HgCpuEdge32;

/* 12 bytes, as a uint64_t member would make it 16. */
typedef struct HgCpuEdge64
{
	uint32_t mixed[2]; /* the bytes of a uint64_t */
	uint32_t row;
} HgCpuEdge64;

static inline uint32_t
hg_cpu_mixed32(const HgCpuEdge32 *edge)
{
	return edge->mixed;
}

static inline uint64_t
hg_cpu_mixed64(const HgCpuEdge64 *edge)
{
	uint64_t mixed;

	memcpy(&mixed, edge->mixed, sizeof(mixed));
	return mixed;
}

static inline void
hg_cpu_edge_set32(HgCpuEdge32 *edge, uint32_t mixed, uint32_t row)
{
	edge->mixed = mixed;
	edge->row = row;
}

static inline void
hg_cpu_edge_set64(HgCpuEdge64 *edge, uint64_t mixed, uint32_t row)
{
	memcpy(edge->mixed, &mixed, sizeof(mixed));
	edge->row = row;
}

/* Keys that one append brought; the memory is the caller's. */
typedef struct HgCpuPiece
{
	const void *keys;
	uint64_t count;
} HgCpuPiece;

typedef struct HgCpuSide
{
	HgCpuPiece *pieces;
	size_t piece_count;
	size_t piece_capacity;
	uint64_t rows;

	/* The graph; NULL where build made none. */
	uint32_t *offsets; /* [V + 2]: the last entry is build's own */
	void *edges;	   /* [rows + HG_CPU_EDGE_PADDING] HgCpuEdge32 or 64 */
	uint64_t offsets_bytes;
	uint64_t edges_bytes;
	uint32_t longest_list;
} HgCpuSide;

/* A walk over the keys of a side in the order of their rows. */
typedef struct HgCpuScan
{
	const HgCpuSide *side;
	size_t piece;	   /* where the walk stands: a piece ... */
	uint64_t at;	   /* ... and a key of it */
	uint32_t next_row; /* the row number of that key */
} HgCpuScan;

/*
 * A place in the stream of matches: a group of outer rows that have been looked
 * up, the row of it that is next, and how much of that row's list is done.
 */
typedef struct HgCpuCursor
{
	HgMatchMode mode;
	HgCpuScan scan;		  /* standard: outer rows not yet looked up */
	uint32_t next_edge;	  /* intersect: the same, in the outer graph */
	uint32_t count;		  /* rows in the group */
	uint32_t at;		  /* the next one */
	uint32_t list_at;	  /* edges of its list that are done with */
	uint32_t work;		  /* rows since the last poll */
	uint32_t last_low;	  /* start of the last non-empty inner list */
	uint64_t comparisons; /* not yet in the job's statistics */
	uint64_t lists;		  /* pairs of non-empty lists, likewise */
	uint64_t run_mixed;	  /* the last key counted in a sorted list ... */
	uint32_t run_low;	  /* ... which starts here ... */
	uint32_t run_count;	  /* ... and how many edges have it */
	uint32_t rows[HG_CPU_GROUP];
	uint32_t low[HG_CPU_GROUP];	 /* its inner list: edges[low] .. */
	uint32_t high[HG_CPU_GROUP]; /* .. edges[high - 1] */
	union
	{
		HgCpuKey32 mixed32[HG_CPU_GROUP];
		HgCpuKey64 mixed64[HG_CPU_GROUP];
	} u;
} HgCpuCursor;

typedef enum HgCpuState
{
	HG_CPU_APPENDING,
	HG_CPU_BUILT,
	HG_CPU_MATCHING, /* built, and there is a stream */
	HG_CPU_FAILED	 /* only close is left */
} HgCpuState;

struct HgJob
{
	const HgHost *host;
	HgJobSpec spec;
	HgShape shape; /* set by build */
	HgCpuState state;
	HgCpuSide sides[2]; /* by HgSide */
	HgCpuCursor cursor;
	HgJobStats stats;
	uint64_t held_bytes;
};

/*
 * Memory of the job's host, counted against the job's limit.  On failure *ptr is
 * NULL.  Freeing NULL does nothing.
 */
extern HgStatus hg_cpu_alloc(HgJob *job, uint64_t bytes, void **ptr, HgError *error);
extern void hg_cpu_free(HgJob *job, void *ptr, uint64_t bytes);

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_cpu_poll(HgJob *job, HgError *error);

/* Milliseconds of a clock that only goes forward. */
extern double hg_cpu_clock_ms(void);

extern HgStatus hg_cpu_build(HgJob *job, HgError *error);

extern void hg_cpu_cursor_init(HgJob *job, HgCpuCursor *cursor, HgMatchMode mode);
extern HgStatus hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error);
extern HgStatus hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error);

extern HgStatus hg_cpu_describe(HgJob *job, const HgCpuSide *side, HgGraphStats *stats,
								HgError *error);
extern HgStatus hg_cpu_export(HgJob *job, const HgCpuSide *side, uint32_t *offsets, void *edge_keys,
							  uint32_t *edge_rows, HgError *error);

static inline void
hg_cpu_scan_init(HgCpuScan *scan, const HgCpuSide *side)
{
	scan->side = side;
	scan->piece = 0;
	scan->at = 0;
	scan->next_row = 0;
}

/*
 * The next keys of a scan: returns how many, at most max, and 0 at the end; they
 * are neighbours in memory from *keys on, and their rows are numbered from *row.
 */
static inline uint32_t
hg_cpu_scan_next(HgCpuScan *scan, uint32_t key_width, uint32_t max, const void **keys,
				 uint32_t *row)
{
	const HgCpuPiece *piece;
	uint64_t left;
	uint32_t count;

	if (scan->piece == scan->side->piece_count)
		return 0;

	piece = &scan->side->pieces[scan->piece];
	left = piece->count - scan->at;
	count = left < max ? (uint32_t) left : max;
	*keys = (const char *) piece->keys + scan->at * key_width;
	*row = scan->next_row;

	scan->next_row += count;
	scan->at += count;
	if (scan->at == piece->count)
	{
		scan->piece++;
		scan->at = 0;
	}
	return count;
}

#endif /* HG_CPU_INTERNAL_H */
