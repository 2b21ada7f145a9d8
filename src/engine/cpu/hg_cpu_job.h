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
 *						what these do with many rows at once
 *	hg_cpu_match.c		units of work; probe intersect and standard, matches and counts
 *	hg_cpu_run.c		runs: rows in the order of their bins
 *	hg_cpu_graph.c		one HashGraph, of a bin or of a whole side
 *	hg_cpu_participants.c		what participants of a shared job tell each other
 *	hg_cpu_side.c		the runs of a side, whoever made them
 *	../hg_host_job.c	memory under the job's limit, cancel, keys appended, what calls check
 *
 * A file calls those that stand below it, and none above.
 *
 * All that loops over rows is written once for both key widths: the bodies stand in
 * hg_cpu_*_impl.h, which is included with HG_KEY_BITS set to 32 and to 64.
 *
 * An edge carries the mixed key (hg_hash.h), which costs nothing, as mixing can
 * be undone, and spares mixing again: the vertex is a shift away.
 *
 * WHERE THE ROWS ARE. The keys that were appended stay with the caller, as pieces.  With build v1 a
 * graph is made straight from them, once, and the outer rows of a standard probe are read from
 * there.  With build v2 they are read once, by build, and copied in the order of their bins to
 * runs; the graphs of a bin are made from there when its matches are asked for, in scratch memory
 * that the next bin uses again.  In a shared job the runs lie in memory that all participants see
 * (hg_cpu_participants.c).
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
#ifndef HG_CPU_JOB_H
#define HG_CPU_JOB_H

#include <string.h>

#include "../hg_host_job.h"
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
 * Edges that may be read after the last one: probing reads a register full at the
 * start of every list without asking first whether it has as many.
 */
#define HG_CPU_EDGE_PADDING 8

/*
 * Lists longer than this are sorted; shorter ones are compared one by one.  It is
 * well above the mean list of the bigger side (hg_shape.c), as sorting every list
 * of a graph would take longer than all the rest.
 */
#define HG_CPU_SORTED_LIST 128

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

/* What a table holds for each vertex of a job whose vertices are the keys. */
typedef enum HgCpuTableKind
{
	HG_CPU_TABLE_NONE = 0, /* there is no table */
	HG_CPU_TABLE_BITS,	   /* a bit: has it a row? */
	HG_CPU_TABLE_COUNTS,   /* the number of its rows */
	HG_CPU_TABLE_ROWS,	   /* its first row; HG_CPU_NO_ROW where it has none */
	HG_CPU_TABLE_LISTS	   /* the offset of its rows */
} HgCpuTableKind;

#define HG_CPU_NO_ROW UINT32_MAX

/* The least and the greatest key of some, as signed differences to another one. */
typedef struct HgCpuBounds
{
	int64_t least;
	int64_t greatest;
} HgCpuBounds;

typedef struct HgCpuDirect
{
	uint64_t least;		 /* the inner key whose vertex is 0, as an unsigned word */
	uint64_t vertices;	 /* 0: the job has HashGraphs */
	uint64_t inner_rows; /* of all participants where the job is shared */
	bool repeats;		 /* some inner key was met twice */
	bool given;			 /* the table is the caller's, of bits, and the only one that there is */
	HgCpuTableKind kind;
	uint32_t *table;
	uint64_t table_bytes;
	uint32_t *rows; /* of lists: [inner rows + padding], by vertex */
	uint64_t rows_bytes;
} HgCpuDirect;

struct HgJob
{
	HgHostJob base;						/* first; its sides have the rows as they were appended */
	const HgParticipants *participants; /* NULL unless the job is shared */
	HgShape shape;						/* set by build */
	HgCpuSide sides[2];					/* by HgSide */
	HgCpuGraph graphs[2];				/* by HgSide */
	HgCpuDirect direct;					/* instead of graphs, where it has vertices */
};

static inline bool
hg_cpu_is_direct(const HgJob *job)
{
	return job->direct.vertices > 0;
}

static inline size_t
hg_cpu_edge_size(const HgJob *job)
{
	return job->base.spec.key_width == 4 ? sizeof(HgCpuEdge32) : sizeof(HgCpuEdge64);
}

#endif /* HG_CPU_JOB_H */
