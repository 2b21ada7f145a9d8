/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_stream.h
 *	  A join of flat HashGraphs on the CPU: its state, and the position of its stream of pairs.
 *
 * A join has one of three ways (HgCpuFlatWay).  INTERSECT compares the outer rows of a CELL, which
 * is a vertex of one graph and the run of vertices that face it in the other one, with its inner
 * rows.  LOOK_UP hashes outer keys and compares each with the inner list of its vertex.  SEARCH
 * looks the inner keys up in the outer graph.  A PROBE is an outer row with the inner list that may
 * have its key: each row that is looked up or found, and those of a cell with a long list.
 *
 *	hg_cpu_flat_join.c		life of a join, its ways, the stream of pairs
 *	hg_cpu_flat_find.c		probes: outer rows and the lists of their possible partners
 *	hg_cpu_flat_compare.c	kernels: keys compared with keys
 *
 * The first file calls the other two. hg_cpu_flat_tally.c is a consumer of the stream.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_STREAM_H
#define HG_CPU_FLAT_STREAM_H

#include "hg_cpu_flat_filter.h"

/* The most rows of a list that is compared as if unsorted. */
#define HG_CPU_FLAT_SHORT 64

/* Most outer rows that are compared with a short list at once. */
#define HG_CPU_FLAT_BLOCK 16

/* Upper bound on the pairs of one such comparison, overwritten positions included. */
#define HG_CPU_FLAT_BLOCK_PAIRS (HG_CPU_FLAT_SHORT * HG_CPU_FLAT_BLOCK + HG_CPU_FLAT_BLOCK)

/* Probes that are found together, so that their cache misses overlap. */
#define HG_CPU_FLAT_GROUP 32

/* Number of long lists that are remembered, and rows of each (HgCpuFlatList). */
#define HG_CPU_FLAT_LISTS 256
#define HG_CPU_FLAT_LISTED 32

/*
 * The first rows of a long list that count, if the inner side has a mask: the probes of a frequent
 * key do not check the mask for each of its rows again.
 */
typedef struct HgCpuFlatList
{
	int64_t key;
	bool known;		/* the other fields are valid */
	uint32_t at;	/* edge after those among which rows were found */
	uint32_t end;	/* edge after the key's last one */
	uint32_t count; /* number of rows; there may be more unless at == end */
	uint32_t rows[HG_CPU_FLAT_LISTED];
} HgCpuFlatList;

/* An outer row, and the inner edges that may have its key. */
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
	uint32_t count; /* probes */
	uint32_t keys;	/* keys for which they were found */
	HgCpuFlatProbe probes[HG_CPU_FLAT_GROUP];
} HgCpuFlatGroup;

/* An array of keys that are looked up. */
typedef struct HgCpuFlatKeys
{
	const void *keys;
	uint32_t width;
	const uint32_t *numbers; /* row numbers; NULL: first_row, first_row + 1 and so on */
	uint32_t first_row;
	const HgFlatMask *mask; /* of the rows that are looked up, or NULL */
	uint64_t at;			/* the next key to be hashed */
	uint64_t end;
	uint64_t left; /* keys in groups that were not returned yet */
	bool begun;
	uint32_t hashed; /* keys hashed before at; their vertices, and their bins, which may be NULL */
	uint32_t vertices[HG_CPU_FLAT_GROUP];
	const HgFlatBin *bins[HG_CPU_FLAT_GROUP];
} HgCpuFlatKeys;

/*
 * Cells that face each other in a bin of each side. On each side, cell c is a run of
 * 2^vertices_log2 vertices from first + (c << vertices_log2) on; on one side it is one vertex.
 */
typedef struct HgCpuFlatStretch
{
	HgCpuFlatBin bins[2];	   /* by HgSide */
	uint32_t first[2];		   /* vertex of cell 0 in the bin */
	uint64_t number[2];		   /* number of that vertex in the graph */
	uint32_t vertices_log2[2]; /* log2 of the vertices of a cell */
	uint32_t cells;
	uint32_t cell;	   /* the next cell; those before are finished */
	uint32_t outer_at; /* outer edges before this one are finished */
} HgCpuFlatStretch;

/* Where pairs are written, or their number. */
typedef struct HgCpuFlatPairs
{
	uint32_t *outer; /* NULL: pairs are only counted */
	uint32_t *inner; /* may be NULL */
	size_t count;	 /* pairs written */
	size_t room;
	uint64_t counted;
	const HgMatches *wanted; /* its is_finished() is called; only if pairs are written */
} HgCpuFlatPairs;

/* Why a kernel returned. */
typedef enum HgCpuFlatEnd
{
	HG_CPU_FLAT_DONE = 0,  /* all cells, or probes, are finished */
	HG_CPU_FLAT_LONG_LIST, /* the next one has a list that is not short */
	HG_CPU_FLAT_NO_ROOM,   /* no room for BLOCK_PAIRS, or for the probe's list and a BLOCK */
	HG_CPU_FLAT_POLL,	   /* it is time to poll cancelled() */
	HG_CPU_FLAT_PART	   /* the caller must check a part of a row's pairs */
} HgCpuFlatEnd;

/* The position of the stream. */
typedef struct HgCpuFlatCursor
{
	uint64_t next_part;
	bool in_part;
	uint32_t part;
	uint64_t part_cell;		  /* the part's first cell after the stretch */
	HgCpuFlatStretch stretch; /* intersect */
	HgCpuFlatBin outer;		  /* intersect: the part's outer bin */
	HgCpuFlatKeys keys;		  /* the keys that are looked up */
	HgCpuFlatGroup groups[2];
	uint32_t current; /* index of the current group; the other one is ahead */

	/*
	 * search: the next inner bin, the arrays of the one before, the finished keys of the current
	 * group, the list of the last key, and the outer edges that may have the key
	 */
	uint64_t inner_number;
	HgCpuFlatBin inner;
	uint32_t searched;
	HgCpuFlatProbe list;
	HgCpuFlatProbe edges;
	HgCpuFlatGroup found; /* probes of these edges */

	uint32_t done;	  /* finished probes of the group that is compared */
	bool begun;		  /* the next probe's list is long, and at and end are narrowed to its key */
	uint32_t written; /* pairs of that probe so far */
	uint32_t listed;  /* rows of its remembered list that were used */
	uint32_t work;	  /* since the last poll */

	uint32_t staged; /* pairs in staging */
	uint32_t taken;	 /* pairs copied from staging */
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
	uint64_t part_cells; /* intersect: cells of a part, or of 2^cell_parts_log2 parts */
	uint32_t cell_parts_log2;
	uint32_t vertices_log2[2]; /* of a cell, by HgSide */
} HgCpuFlatPlan;

struct HgFlatJoin
{
	const HgHost *host;
	HgFlatWork work; /* take may be NULL */
	HgCpuFlatPlan plan;
	HgFlatSide sides[2]; /* by HgSide; the outer one has no graph if keys are looked up */
	HgCpuFlatFilter filters[2];
	HgFlatRows rows; /* the keys that are looked up without a graph */
	uint32_t rows_width;
	HgFlatGraph *made;	  /* the graph made of keys, if any */
	HgCpuFlatList *lists; /* [HG_CPU_FLAT_LISTS] by hash of the key; NULL: no inner mask */
	HgCpuFlatCursor cursor;

	/* pairs found when the caller had no room for all that one comparison may find */
	uint32_t staging[2][HG_CPU_FLAT_BLOCK_PAIRS];
};

/* Adds work, and polls when it is time for that. */
static inline HgStatus
hg_cpu_flat_work_done(HgFlatJoin *join, uint32_t work, HgError *error)
{
	join->cursor.work += work;
	if (join->cursor.work < HG_CPU_FLAT_POLL_ROWS)
		return HG_OK;
	join->cursor.work = 0;
	return hg_host_check_cancel(join->host, error);
}

/* Returns log2 of a graph's vertices. */
static inline uint32_t
hg_cpu_flat_log2(const HgFlatShape *shape)
{
	return shape->bins_log2 + shape->vertices_log2;
}

/* Returns the group of probes that is compared. */
static inline HgCpuFlatGroup *
hg_cpu_flat_group(HgFlatJoin *join)
{
	HgCpuFlatCursor *cursor = &join->cursor;

	return join->plan.way == HG_CPU_FLAT_SEARCH ? &cursor->found : &cursor->groups[cursor->current];
}

/* Intersects the remaining cells of the stretch, adds to *pairs, and returns why it stopped. */
extern HgCpuFlatEnd hg_cpu_flat_intersect(HgFlatJoin *join, HgMatchMode mode,
										  HgCpuFlatPairs *pairs);

/* Compares the remaining probes of the group, adds to *pairs, and returns why it stopped. */
extern HgCpuFlatEnd hg_cpu_flat_compare(HgFlatJoin *join, HgMatchMode mode, HgCpuFlatPairs *pairs);

/*
 * Finds the next group of probes (hg_cpu_flat_group). The group is empty at the end of the stream,
 * or if cells can be intersected. numbered says that the row numbers of matches will be read.
 */
extern HgStatus hg_cpu_flat_find(HgFlatJoin *join, bool numbered, HgError *error);

/* Makes the outer rows of the next cell, which has a long list, probes of hg_cpu_flat_find(). */
extern void hg_cpu_flat_probe_cell(HgFlatJoin *join);

#endif /* HG_CPU_FLAT_STREAM_H */
