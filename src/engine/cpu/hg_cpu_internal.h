/*-------------------------------------------------------------------------
 *
 * hg_cpu_internal.h
 *	  The job of the CPU engine, and what its files share.
 *
 *	hg_cpu.c			life of a job, the table of calls
 *	hg_cpu_describe.c	describe and export
 *	hg_cpu_match.c		units of work; probe intersect and standard, matches and counts
 *	hg_cpu_run.c		runs: rows in the order of their bins
 *	hg_cpu_graph.c		one HashGraph, of a bin or of a whole side
 *	hg_cpu_team.c		what participants of a shared job tell each other
 *	hg_cpu_side.c		the runs of a side, whoever made them
 *	hg_cpu_memory.c		memory under the job's limit, cancel
 *
 * A file calls those that stand below it, and none above.
 *
 * All that loops over rows is written once for both key widths: the bodies stand in
 * hg_cpu_*_impl.h, which is included with HG_KEY_BITS set to 32 and to 64.
 *
 * An edge carries the mixed key (hg_hash.h), which costs nothing, as mixing can
 * be undone, and spares mixing again: the vertex is a shift away.
 *
 * WHERE THE ROWS ARE.  The keys that were appended stay with the caller, as pieces.
 * With build v1 a graph is made straight from them, once, and the outer rows of a
 * standard probe are read from there.  With build v2 they are read once, by build,
 * and copied in the order of their bins to runs; the graphs of a bin are made from there
 * when its matches are asked for, in scratch memory that the next bin uses again.  In
 * a shared job the runs lie in memory that all participants see (hg_cpu_team.c).
 *
 * WHAT ALWAYS HOLDS of a graph, beside the CSR form: a list longer than
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
 * Edges that may be read after the last one: probing reads a register full at the
 * start of every list without asking first whether it has as many.
 */
#define HG_CPU_EDGE_PADDING 8

/* No bin: its graph is not there. */
#define HG_CPU_NO_BIN UINT32_MAX

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
	uint32_t first_row; /* the number of the first key's row */
} HgCpuPiece;

/*
 * What a run's memory begins with.  It may be mapped by several processes, at
 * different addresses.
 */
typedef struct HgCpuRunHeader
{
	uint64_t next;	   /* shared: the handle of the run published before, or 0 */
	uint32_t edges_at; /* the edges' place, in bytes from here */
	uint32_t rows;
	uint32_t starts[]; /* [bins + 1] edges starts[b] .. starts[b + 1] - 1 are bin b's */
} HgCpuRunHeader;

/* A run, as this process sees it. */
typedef struct HgCpuRun
{
	const uint32_t *starts; /* [bins + 1] */
	const void *edges;		/* [starts[bins]] HgCpuEdge32 or 64 */
	HgCpuRunHeader *header; /* its memory */
	uint64_t bytes;			/* 0 where it is not this job's to free */
} HgCpuRun;

typedef struct HgCpuSide
{
	HgCpuPiece *pieces;
	size_t piece_count;
	size_t piece_capacity;
	uint64_t rows; /* in pieces */

	bool binned; /* the rows are in runs */
	HgCpuRun *runs;
	size_t run_count;
	size_t run_capacity;
} HgCpuSide;

/* One HashGraph: of a bin, or whole.  Its memory is used again and again. */
typedef struct HgCpuGraph
{
	uint32_t *offsets; /* [vertices + 2]: the last entry is build's own */
	void *edges;	   /* [capacity + HG_CPU_EDGE_PADDING] HgCpuEdge32 or 64 */
	uint64_t offsets_bytes;
	uint64_t edges_bytes;
	uint32_t bin; /* whose graph it is, or HG_CPU_NO_BIN */
	uint32_t edges_count;
	uint32_t longest_list;
} HgCpuGraph;

/* A walk over the keys of a side in the order of append. */
typedef struct HgCpuScan
{
	const HgCpuSide *side;
	size_t piece; /* where the walk stands: a piece ... */
	uint64_t at;  /* ... and a key of it */
} HgCpuScan;

/* A walk over edges of a bin, from run to run. */
typedef struct HgCpuWalk
{
	const HgCpuSide *side;
	uint32_t bin;
	size_t run;	   /* where the walk stands: a run ... */
	uint64_t at;   /* ... and an edge of the bin in it */
	uint64_t left; /* edges still to come */
} HgCpuWalk;

/*
 * A place in the stream of matches: a unit of work, a group of outer rows of it that
 * have been looked up, the row of it that is next, and how much of that row's list is
 * done.
 */
typedef struct HgCpuCursor
{
	HgMatchMode mode;
	bool in_unit;		  /* there is a unit, whose rows may not all be done */
	uint64_t next_bin;	  /* the next unit is this bin, unless a team shares them out */
	HgCpuScan scan;		  /* outer rows not yet looked up: in pieces, */
	HgCpuWalk walk;		  /* in runs, */
	uint32_t next_edge;	  /* or in the outer graph */
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
	const HgTeam *team; /* NULL unless the job is shared */
	HgShape shape;		/* set by build */
	HgCpuState state;
	bool numbered;		  /* append_rows was called */
	bool has_arrived;	  /* a shared job's build was called */
	bool shared_out;	  /* a shared job's only stream was begun */
	HgCpuSide sides[2];	  /* by HgSide */
	HgCpuGraph graphs[2]; /* by HgSide */
	HgCpuCursor cursor;
	HgJobStats stats;
	uint64_t held_bytes;
};

/* The instructions that kernels may use, in ascending order. */
typedef enum HgCpuFeatures
{
	HG_CPU_PORTABLE,
	HG_CPU_AVX2,
	HG_CPU_AVX512
} HgCpuFeatures;

/*
 * The best that this machine has, up to a limit that tests may set: kernels for less
 * are to be tested on machines that have more.
 */
extern HgCpuFeatures hg_cpu_features(void);
extern void hg_cpu_limit_features(HgCpuFeatures most);

/*
 * hg_cpu_memory.c: memory of the job's host, counted against the job's limit.  On failure *ptr is
 * NULL.  Freeing NULL does nothing.
 */
extern HgStatus hg_cpu_alloc(HgJob *job, uint64_t bytes, void **ptr, HgError *error);
extern void hg_cpu_free(HgJob *job, void *ptr, uint64_t bytes);

/* HG_OK, or HG_OUT_OF_MEMORY where bytes more would pass the job's limit. */
extern HgStatus hg_cpu_check_limit(HgJob *job, uint64_t bytes, HgError *error);

/* The job holds bytes more. */
extern void hg_cpu_hold(HgJob *job, uint64_t bytes);

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_cpu_poll(HgJob *job, HgError *error);

/* hg_cpu_side.c: note a run of a side.  bytes is 0 where the memory is not the job's to free. */
extern HgStatus hg_cpu_run_add(HgJob *job, HgCpuSide *side, HgCpuRunHeader *header, uint64_t bytes,
							   HgError *error);

/* The edges of a bin in all runs of a side, and the most that any bin has. */
extern uint64_t hg_cpu_bin_rows(const HgCpuSide *side, uint32_t bin);
extern HgStatus hg_cpu_biggest_bin(HgJob *job, const HgCpuSide *side, uint64_t *rows,
								   HgError *error);

/* hg_cpu_run.c: bin all rows that the side's pieces have. */
extern HgStatus hg_cpu_bin_side(HgJob *job, HgSide which, HgError *error);

/* hg_cpu_graph.c: have memory for graphs of up to rows edges. */
extern HgStatus hg_cpu_graph_reserve(HgJob *job, HgSide which, uint64_t rows, HgError *error);

/* Build the graph of edges from .. from + rows - 1 of a bin, or of a whole side from its pieces. */
extern HgStatus hg_cpu_graph_bin(HgJob *job, HgSide which, uint32_t bin, uint64_t from,
								 uint64_t rows, HgError *error);
extern HgStatus hg_cpu_graph_pieces(HgJob *job, HgSide which, HgError *error);

/* hg_cpu_match.c: a stream of matches, and their number. */
extern void hg_cpu_cursor_init(HgCpuCursor *cursor, HgMatchMode mode);
extern HgStatus hg_cpu_next(HgJob *job, HgCpuCursor *cursor, HgMatches *matches, HgError *error);
extern HgStatus hg_cpu_count(HgJob *job, HgCpuCursor *cursor, uint64_t *matches, HgError *error);

/* hg_cpu_describe.c: what hg_engine.h says of these calls. */
extern HgStatus hg_cpu_describe(HgJob *job, HgSide which, HgGraphStats *stats, HgError *error);
extern HgStatus hg_cpu_export(HgJob *job, HgSide which, uint32_t *offsets, void *edge_keys,
							  uint32_t *edge_rows, HgError *error);

/* hg_cpu_team.c: the two waits of a shared build, and what comes between. */
extern HgStatus hg_cpu_team_count(HgJob *job, HgStatus status, uint64_t rows[2], HgError *error);
extern HgStatus hg_cpu_team_exchange(HgJob *job, HgStatus status, HgError *error);

/* Shared memory for a run, counted against the job's limit, and what is to become of it. */
extern HgStatus hg_cpu_team_alloc(HgJob *job, uint64_t bytes, uint64_t *handle,
								  HgCpuRunHeader **header, HgError *error);
extern void hg_cpu_team_publish(HgJob *job, HgSide which, uint64_t handle, HgCpuRunHeader *header);
extern bool hg_cpu_team_failed(const HgJob *job);

/* Take the next unit of a shared job: edges *from .. *from + *rows - 1 of a bin; false at the end.
 */
extern bool hg_cpu_team_take(HgJob *job, uint32_t *bin, uint64_t *from, uint64_t *rows);

static inline size_t
hg_cpu_edge_size(const HgJob *job)
{
	return job->spec.key_width == 4 ? sizeof(HgCpuEdge32) : sizeof(HgCpuEdge64);
}

static inline void
hg_cpu_scan_init(HgCpuScan *scan, const HgCpuSide *side)
{
	scan->side = side;
	scan->piece = 0;
	scan->at = 0;
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
	*row = piece->first_row + (uint32_t) scan->at;

	scan->at += count;
	if (scan->at == piece->count)
	{
		scan->piece++;
		scan->at = 0;
	}
	return count;
}

/* Walk over edges from .. from + rows - 1 of a bin, which has as many. */
static inline void
hg_cpu_walk_init(HgCpuWalk *walk, const HgCpuSide *side, uint32_t bin, uint64_t from, uint64_t rows)
{
	walk->side = side;
	walk->bin = bin;
	walk->run = 0;
	walk->at = from;
	walk->left = rows;
}

/* The next edges of a walk: returns how many, at most max, and 0 at the end. */
static inline uint32_t
hg_cpu_walk_next(HgCpuWalk *walk, size_t edge_size, uint32_t max, const void **edges)
{
	while (walk->left > 0)
	{
		const HgCpuRun *run = &walk->side->runs[walk->run];
		uint32_t start = run->starts[walk->bin];
		uint64_t in_run = run->starts[walk->bin + 1] - start;
		uint64_t count;

		if (walk->at >= in_run)
		{
			walk->at -= in_run;
			walk->run++;
			continue;
		}
		count = in_run - walk->at;
		count = count < walk->left ? count : walk->left;
		count = count < max ? count : max;
		*edges = (const char *) run->edges + (start + walk->at) * edge_size;
		walk->at += count;
		walk->left -= count;
		return (uint32_t) count;
	}
	return 0;
}

#endif /* HG_CPU_INTERNAL_H */
