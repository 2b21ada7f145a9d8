/*-------------------------------------------------------------------------
 *
 * hg_cpu_job.h
 *	  A job of the CPU engine: where its rows and graphs are.
 *
 *	hg_cpu.c			life of a job, the table of calls
 *	hg_cpu_build.c		shape of a job: graphs or keys as vertices, bins or none
 *	hg_cpu_describe.c	describe and export
 *	hg_cpu_direct.c		jobs whose vertices are the keys: their tables, matches and counts
 *	hg_cpu_direct_kernels.c
 *						the inner loops of these jobs
 *	hg_cpu_match.c		units of work; probe intersect and standard, matches and counts
 *	hg_cpu_run.c		runs: rows in the order of their bins
 *	hg_cpu_graph.c		one HashGraph, of a bin or of a whole side
 *	hg_cpu_participants.c
 *						how the participants of a shared job cooperate
 *	hg_cpu_side.c		the runs of a side, of all participants
 *	../hg_host_job.c	memory under the job's limit, cancel, appended keys, checks of calls
 *
 * A file calls only files that stand below it.
 *
 * Loops over rows are written once for both key widths: hg_cpu_*_impl.h has their bodies, and is
 * included with HG_KEY_BITS set to 32 and to 64.
 *
 * An edge carries the mixed key (hg_hash.h). That costs nothing, as mixing can be undone, and
 * saves mixing again: the vertex is a shift away.
 *
 * WHERE THE ROWS ARE. The appended keys stay with the caller, as pieces. With build v1 a graph is
 * made straight from them, once, and the outer rows of a standard probe are read there. With build
 * v2 they are read once, by build, and copied to runs in the order of their bins. The graphs of a
 * bin are made from the runs when its matches are requested, in scratch memory that the next bin
 * reuses. In a shared job the runs lie in memory that all participants see
 * (hg_cpu_participants.c).
 *
 * INVARIANT of a graph, beside the CSR form: a list longer than HG_CPU_SORTED_LIST is sorted by
 * mixed key. So equal keys are neighbours there and found by binary search, and no list makes
 * probing, counting or describing quadratic.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_JOB_H
#define HG_CPU_JOB_H

#include <string.h>

#include "../hg_host_job.h"
#include "../hg_shape.h"
#include "hg_cpu.h"

/*
 * Rows that are processed between two polls of cancelled(). Even if each of them faults in a fresh
 * 4 kB page, that is within 10 ms.
 */
#define HG_CPU_POLL_ROWS 4096

/*
 * The same for rows that go to positions all over a new array: each may touch a new huge page, of
 * which the kernel first clears 2 MB.
 */
#define HG_CPU_POLL_SCATTERED 128

/*
 * Edges that may be read after the last one: probing reads a register full at the start of every
 * list without a check.
 */
#define HG_CPU_EDGE_PADDING 8

/*
 * Lists longer than this are sorted; shorter ones are compared edge by edge. It is well above the
 * mean list of the bigger side (hg_shape.c), as sorting every list of a graph would take longer
 * than everything else.
 */
#define HG_CPU_SORTED_LIST 128

/* The bin of a graph that is not built. */
#define HG_CPU_NO_BIN UINT32_MAX

#if defined(__GNUC__)
#define HG_CPU_PREFETCH(address) __builtin_prefetch(address)
#define HG_CPU_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define HG_CPU_PREFETCH(address) ((void) (address))
#define HG_CPU_UNLIKELY(condition) (condition)
#endif

/* HG_CPU_T(name) is name32 or name64, by the current HG_KEY_BITS. */
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

/* 12 bytes; a uint64_t member would make it 16. */
typedef struct HgCpuEdge64
{
	uint32_t mixed[2]; /* the bytes of a uint64_t */
	uint32_t row;
} HgCpuEdge64;

/* Returns the mixed key of an edge. */
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

/* Sets the mixed key and the row of an edge. */
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

/* The head of a run's memory, which several processes may map at different addresses. */
typedef struct HgCpuRunHeader
{
	uint64_t next;	   /* shared: the handle of the run published before, or 0 */
	uint32_t edges_at; /* byte offset of the edges from here */
	uint32_t rows;
	uint32_t starts[]; /* [bins + 1] edges starts[b] .. starts[b + 1] - 1 are bin b's */
} HgCpuRunHeader;

/* A run, as this process sees it. */
typedef struct HgCpuRun
{
	const uint32_t *starts; /* [bins + 1] */
	const void *edges;		/* [starts[bins]] HgCpuEdge32 or 64 */
	HgCpuRunHeader *header; /* the run's memory */
	uint64_t bytes;			/* 0: the memory is not this job's to free */
} HgCpuRun;

typedef struct HgCpuSide
{
	bool binned; /* the rows are in runs */
	HgCpuRun *runs;
	size_t run_count;
	size_t run_capacity;
} HgCpuSide;

/* One HashGraph: of a bin, or whole. Its memory is reused for each bin. */
typedef struct HgCpuGraph
{
	uint32_t *offsets; /* [vertices + 2]: the last entry is used by build only */
	void *edges;	   /* [capacity + HG_CPU_EDGE_PADDING] HgCpuEdge32 or 64 */
	uint64_t offsets_bytes;
	uint64_t edges_bytes;
	uint32_t bin; /* the bin of the graph, or HG_CPU_NO_BIN */
	uint32_t edges_count;
	uint32_t longest_list;
} HgCpuGraph;

/* What a table holds for each vertex, if the keys are the vertices. */
typedef enum HgCpuTableKind
{
	HG_CPU_TABLE_NONE = 0, /* there is no table */
	HG_CPU_TABLE_BITS,	   /* a bit: the vertex has a row */
	HG_CPU_TABLE_COUNTS,   /* the number of its rows */
	HG_CPU_TABLE_ROWS,	   /* its first row, or HG_CPU_NO_ROW */
	HG_CPU_TABLE_LISTS	   /* the offset of its rows */
} HgCpuTableKind;

#define HG_CPU_NO_ROW UINT32_MAX

/* The least and the greatest of some keys, as signed differences to a given key. */
typedef struct HgCpuBounds
{
	int64_t least;
	int64_t greatest;
} HgCpuBounds;

typedef struct HgCpuDirect
{
	uint64_t least;		 /* the inner key whose vertex is 0, as an unsigned word */
	uint64_t vertices;	 /* 0: the job has HashGraphs */
	uint64_t inner_rows; /* of all participants in a shared job */
	bool repeats;		 /* some inner key occurs twice */
	bool given;			 /* the table is the caller's bits, and the only one */
	HgCpuTableKind kind;
	uint32_t *table;
	uint64_t table_bytes;
	uint32_t *rows; /* kind lists: [inner rows + padding], by vertex */
	uint64_t rows_bytes;
} HgCpuDirect;

struct HgJob
{
	HgHostJob base;						/* first; its sides have the rows as they were appended */
	const HgParticipants *participants; /* NULL unless the job is shared */
	HgShape shape;						/* set by build */
	HgCpuSide sides[2];					/* by HgSide */
	HgCpuGraph graphs[2];				/* by HgSide */
	HgCpuDirect direct;					/* used instead of graphs if it has vertices */
};

/* Returns true if the job's vertices are the keys. */
static inline bool
hg_cpu_is_direct(const HgJob *job)
{
	return job->direct.vertices > 0;
}

/* Returns the bytes of an edge. */
static inline size_t
hg_cpu_edge_size(const HgJob *job)
{
	return job->base.spec.key_width == 4 ? sizeof(HgCpuEdge32) : sizeof(HgCpuEdge64);
}

#endif /* HG_CPU_JOB_H */
