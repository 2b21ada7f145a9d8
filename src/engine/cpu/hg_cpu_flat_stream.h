/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_stream.h
 *	  A join of flat HashGraphs on the CPU: what it holds, and where its stream of pairs stands.
 *
 *	hg_cpu_flat_join.c		life of a join, its ways, the stream of pairs
 *	hg_cpu_flat_find.c		probes: outer rows and the lists that they may have partners in
 *	hg_cpu_flat_compare.c	kernels: keys compared with keys
 *
 * The first of them calls the other two.  What a tally makes of the stream is in hg_cpu_flat_tally.c.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_STREAM_H
#define HG_CPU_FLAT_STREAM_H

#include "hg_cpu_flat_filter.h"

/* Lists of at most so many rows are compared without asking whether they are sorted. */
#define HG_CPU_FLAT_SHORT 64

/* Outer rows that are compared with a short list at once, at most. */
#define HG_CPU_FLAT_BLOCK 16

/*
 * Pairs that may be written by one such comparison, beyond which something may be written that is
 * written over later.
 */
#define HG_CPU_FLAT_BLOCK_PAIRS (HG_CPU_FLAT_SHORT * HG_CPU_FLAT_BLOCK + HG_CPU_FLAT_BLOCK)

/* Probes that are found together, so that their cache misses overlap. */
#define HG_CPU_FLAT_GROUP 32

/* Long lists that are remembered, and how many rows of each: see HgCpuFlatList. */
#define HG_CPU_FLAT_LISTS 256
#define HG_CPU_FLAT_LISTED 32

/*
 * The first rows of a long list that count, where the inner side has a mask: the probes of a key
 * that is frequent do not ask the mask about each of its rows again.
 */
typedef struct HgCpuFlatList
{
	int64_t key;
	bool known;		/* the rest is valid */
	uint32_t at;	/* edge behind those that rows were found among */
	uint32_t end;	/* edge behind the last one of the key */
	uint32_t count; /* of rows; where there may be more, at is not end */
	uint32_t rows[HG_CPU_FLAT_LISTED];
} HgCpuFlatList;

/* An outer row, and where edges of the inner side are that may have its key. */
typedef struct HgCpuFlatProbe
{
	int64_t key;
	uint32_t row;
	uint32_t at; /* edges at .. end - 1 */
	uint32_t end;
	const void *keys;
	const uint32_t *numbers;
} HgCpuFlatProbe;

typedef struct HgCpuFlatGroup
{
	uint32_t count; /* of probes */
	uint32_t keys;	/* that they were found for */
	HgCpuFlatProbe probes[HG_CPU_FLAT_GROUP];
} HgCpuFlatGroup;

/* Keys that are looked up, in an array. */
typedef struct HgCpuFlatKeys
{
	const void *keys;
	uint32_t width;
	const uint32_t *numbers; /* of rows, or NULL: first_row, first_row + 1 ... */
	uint32_t first_row;
	const HgFlatMask *mask; /* of rows that are looked up, or NULL */
	uint64_t at;			/* the next one to be hashed */
	uint64_t end;
	uint64_t left; /* keys that are in no group that was returned */
	bool begun;
	uint32_t hashed; /* keys before at: their vertices in their bins, which may be NULL */
	uint32_t vertices[HG_CPU_FLAT_GROUP];
	const HgFlatBin *bins[HG_CPU_FLAT_GROUP];
} HgCpuFlatKeys;

/*
 * Cells that face each other in a bin of each side: cell number c is, on each side, a run of
 * 2^vertices_log2 vertices from first + (c << vertices_log2) on, of one vertex on one of them.
 */
typedef struct HgCpuFlatStretch
{
	HgCpuFlatBin bins[2];	   /* by HgSide */
	uint32_t first[2];		   /* vertex of cell 0 */
	uint64_t number[2];		   /* ... and its number in the graph */
	uint32_t vertices_log2[2]; /* of a cell */
	uint32_t cells;
	uint32_t cell;	   /* the next one; those before are done with */
	uint32_t outer_at; /* and outer edges before this one */
} HgCpuFlatStretch;

/* Where pairs go, or how many they are. */
typedef struct HgCpuFlatPairs
{
	uint32_t *outer; /* NULL: they are counted alone */
	uint32_t *inner; /* or NULL */
	size_t count;	 /* written */
	size_t room;
	uint64_t counted;
	const HgMatches *wanted; /* whose settled() is asked; where pairs are written */
} HgCpuFlatPairs;

/* Why a kernel returns. */
typedef enum HgCpuFlatEnd
{
	HG_CPU_FLAT_DONE = 0,  /* with all cells, or probes */
	HG_CPU_FLAT_LONG_LIST, /* the next one has a list that is not short */
	HG_CPU_FLAT_NO_ROOM,   /* for BLOCK_PAIRS, or for the probe's list and a BLOCK */
	HG_CPU_FLAT_POLL,	   /* it is time to look at cancelled() */
	HG_CPU_FLAT_PART	   /* the caller is to look at a part of a row's pairs */
} HgCpuFlatEnd;

/* Where the stream stands. */
typedef struct HgCpuFlatCursor
{
	uint64_t next_part;
	bool in_part;
	uint32_t part;
	uint64_t part_cell;		  /* the first cell of the part that is not in the stretch */
	HgCpuFlatStretch stretch; /* intersect */
	HgCpuFlatBin outer;		  /* intersect: the part's */
	HgCpuFlatKeys keys;		  /* what is looked up */
	HgCpuFlatGroup groups[2];
	uint32_t current; /* one of these; the other one is ahead */

	/*
	 * Search: inner bins up to this one, the last one's arrays, how many keys of the current group
	 * are done with, the list of the last one, and outer edges that may have it.
	 */
	uint64_t inner_number;
	HgCpuFlatBin inner;
	uint32_t searched;
	HgCpuFlatProbe list;
	HgCpuFlatProbe edges;
	HgCpuFlatGroup found; /* probes of these edges */

	uint32_t done;	  /* probes of the group that is compared */
	bool begun;		  /* its next one is long, and at and end are those of its key, ... */
	uint32_t written; /* ... of whose pairs there were so many ... */
	uint32_t listed;  /* ... and of the rows of whose remembered list */
	uint32_t work;	  /* since the last poll */

	uint32_t staged; /* pairs in staging */
	uint32_t taken;	 /* of these */
} HgCpuFlatCursor;

typedef enum HgCpuFlatWay
{
	HG_CPU_FLAT_INTERSECT,
	HG_CPU_FLAT_LOOK_UP,
	HG_CPU_FLAT_SEARCH
} HgCpuFlatWay;

/* How two graphs are joined. */
typedef struct HgCpuFlatPlan
{
	HgCpuFlatWay way;
	uint32_t parts_log2;
	HgSide table;		 /* keys of the other side are looked up in this one */
	uint64_t part_cells; /* intersect: cells of a part, or of 2^cell_parts_log2 of them */
	uint32_t cell_parts_log2;
	uint32_t vertices_log2[2]; /* of a cell, by HgSide */
} HgCpuFlatPlan;

struct HgFlatJoin
{
	const HgHost *host;
	HgFlatWork work; /* take may be NULL */
	HgCpuFlatPlan plan;
	HgFlatSide sides[2]; /* by HgSide; the outer one has no graph where keys are looked up */
	HgCpuFlatFilter filters[2];
	HgFlatRows rows; /* these keys */
	uint32_t rows_width;
	HgFlatGraph *made;	  /* of keys */
	HgCpuFlatList *lists; /* [HG_CPU_FLAT_LISTS] by hash of the key; NULL: no inner mask */
	HgCpuFlatCursor cursor;

	/* pairs that were found where there was no room for all that may be found at once */
	uint32_t staging[2][HG_CPU_FLAT_BLOCK_PAIRS];
};

/* HG_OK, or what a poll says when it is time for one. */
static inline HgStatus
hg_cpu_flat_work_done(HgFlatJoin *join, uint32_t work, HgError *error)
{
	join->cursor.work += work;
	if (join->cursor.work < HG_CPU_FLAT_POLL_ROWS)
		return HG_OK;
	join->cursor.work = 0;
	return hg_host_check_cancel(join->host, error);
}

static inline uint32_t
hg_cpu_flat_log2(const HgFlatShape *shape)
{
	return shape->bins_log2 + shape->vertices_log2;
}

/* The probes that are compared. */
static inline HgCpuFlatGroup *
hg_cpu_flat_group(HgFlatJoin *join)
{
	HgCpuFlatCursor *cursor = &join->cursor;

	return join->plan.way == HG_CPU_FLAT_SEARCH ? &cursor->found : &cursor->groups[cursor->current];
}

#endif /* HG_CPU_FLAT_STREAM_H */
