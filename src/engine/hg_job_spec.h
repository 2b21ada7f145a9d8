/*-------------------------------------------------------------------------
 *
 * hg_job_spec.h
 *	  The description of a job: its sides, the shape of its graphs, its limits and its product.
 *
 * A description is data.  Zero everywhere except key_width is a good default: a join of two sides
 * whose rows are appended.  What a description points to stays in place until open has returned,
 * and what the engine owns (replicas, partitionings) until close.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOB_SPEC_H
#define HG_JOB_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

/* A side holds fewer rows than this: row numbers and offsets are 32-bit. */
#define HG_MAX_ROWS UINT32_C(0xFFFFFFFE)

/* Limits of the number of vertices and bins; both are powers of two. */
#define HG_MAX_VERTICES_LOG2 31
#define HG_MAX_BINS_LOG2 20

/* Maximum number of columns of a side that a job carries beside its keys. */
#define HG_MAX_COLUMNS 8

/* Maximum number of lookups of a side that is a graph replica. */
#define HG_MAX_LOOKUPS 8

/* Maximum number of programs that compute columns of a side that is a graph replica. */
#define HG_MAX_PROGRAMS 8

/* Maximum number of columns that the filters of a side and of its lookups read. */
#define HG_MAX_FILTER_COLUMNS 12

	typedef enum HgSide
	{
		HG_OUTER = 0,
		HG_INNER = 1
	} HgSide;

	typedef enum HgBuildAlgorithm
	{
		HG_BUILD_AUTO = 0,
		HG_BUILD_V1,	   /* Algorithm 1: count, prefix sum, scatter */
		HG_BUILD_V2,	   /* Algorithm 2: into bins, then V1 in each bin */
		HG_BUILD_DIRECT,   /* the keys are the vertices; a result only, never requested: see
							* HgJobShape.direct */
		HG_BUILD_RESIDENT, /* one side at least is a flat graph or a replica, not built; a result
							* only: see hg_flat.h, hg_replica.h */
		HG_BUILD_TABLE	   /* the join uses a table instead of a HashGraph; a result only: see
							* HgJobShape.table */
	} HgBuildAlgorithm;

	typedef enum HgProbeAlgorithm
	{
		HG_PROBE_AUTO = 0,
		HG_PROBE_STANDARD, /* look up every outer row in the inner graph */
		HG_PROBE_INTERSECT /* Algorithm 3: intersect the lists of both graphs */
	} HgProbeAlgorithm;

	/* Kinds of tables for the inner rows; hg_table.h describes each. */
	typedef enum HgTableKind
	{
		HG_TABLE_CSR = 0,		 /* HashGraph: lists one after the other */
		HG_TABLE_ELLPACK,		 /* HashGraph: lists padded to the longest */
		HG_TABLE_SLICED_ELLPACK, /* HashGraph: lists padded to the longest of 32 neighbours */
		HG_TABLE_DYNAMIC,		 /* HashGraph with empty slots in each list */
		HG_TABLE_CUCKOO,		 /* one array, several hash functions */
		HG_TABLE_DYCUCKOO,		 /* subtables of buckets, one resized at a time */
		HG_TABLE_KINDS			 /* number of kinds, not a kind */
	} HgTableKind;

	/* What the rows of a side are. */
	typedef enum HgSourceKind
	{
		HG_SOURCE_ROWS = 0, /* keys that are appended, with or without columns */
		HG_SOURCE_REPLICA,	/* a graph replica (hg_replica.h) */
		HG_SOURCE_PAGES,	/* pages of a table (hg_pages.h) */
		HG_SOURCE_KINDS		/* number of kinds, not a kind */
	} HgSourceKind;

	/* A side that is a graph replica.  Its columns are column replicas, or computed. */
	typedef struct HgReplicaSource
	{
		const struct HgReplicaUse *use;
		const struct HgReplicaColumnUse *columns; /* [ncolumns] */
		uint32_t nlookups;
		uint32_t nprograms;
		const struct HgReplicaLookup *lookups; /* [nlookups] rows of other replicas that it finds */
		const struct HgProgram *programs;	   /* [nprograms] that compute columns */

		/* NULL, or what selects rows of the side and of the graphs that it looks up. */
		const struct HgRowFilters *filters;

		/*
		 * NULL, or the partitioning of the replica, of which several engines have one partition
		 * each (hg_partitioning.h).  The sharded engine opens one shard for each partition.  Both
		 * sides of such a job are replicas, and it returns counts and groups, not pairs.  Other
		 * engines answer HG_INVALID.
		 */
		const struct HgPartitioning *partitions;

		/*
		 * [nlookups], if partitions is not NULL: how each lookup's own graph is co-partitioned
		 * with the side, and how the graph that it looks up is partitioned.
		 */
		const struct HgCopartition *copartition;
	} HgReplicaSource;

	/* One side of a job.  Only the member of its kind is read. */
	typedef struct HgJobSide
	{
		HgSourceKind kind;
		uint32_t ncolumns;					  /* columns beside the key */
		uint8_t column_width[HG_MAX_COLUMNS]; /* bytes: 1, 2, 4 or 8 */
		uint64_t expected_rows; /* a hint, 0 = unknown; open may refuse a job without room */

		union
		{
			HgReplicaSource replica;		/* HG_SOURCE_REPLICA */
			const struct HgPageSpec *pages; /* HG_SOURCE_PAGES: their layout */
		};
	} HgJobSide;

	/* Parameters of the graphs of a join.  Ignored where a side is a graph replica. */
	typedef struct HgJobShape
	{
		HgBuildAlgorithm build;
		HgProbeAlgorithm probe;
		double load_factor; /* target for C = N / V; 0 means 1 */
		uint32_t bins;		/* target number of bins; 0 = automatic */

		/*
		 * Not 0: the keys may be the vertices if build, probe, load_factor and bins are left
		 * automatic and the inner keys are dense.  Such a job has no graph to describe or export.
		 */
		uint32_t direct;

		/*
		 * Limit in bytes for a job whose keys are the vertices, or that has a table.  If either
		 * would exceed it, the job builds a HashGraph instead.  0 = no limit of its own.
		 */
		uint64_t direct_limit;

		/*
		 * Kind of table for the inner rows.  Any kind but CSR takes effect in an engine with
		 * tables (hg_lookup.h), if the kind can hold the rows and neither bins nor another probe
		 * are requested.  Such a job has no graph to describe or export.
		 */
		HgTableKind table;
	} HgJobShape;

	/* What a job makes. */
	typedef enum HgProductKind
	{
		HG_PRODUCT_MATCHES = 0, /* matches of two sides, or their count, or groups of them */
		HG_PRODUCT_GRAPH,		/* a graph replica; the job has no sides */
		HG_PRODUCT_COLUMN,		/* a column replica, likewise */
		HG_PRODUCT_TABLE,		/* a table that is measured over inner rows without columns */
		HG_PRODUCT_SHARD,		/* matches of a join that several jobs do (hg_exchange.h) */
		HG_PRODUCT_KINDS		/* number of kinds, not a kind */
	} HgProductKind;

	typedef struct HgJobProduct
	{
		HgProductKind kind;

		union
		{
			const struct HgReplicaSpec *graph;
			const struct HgReplicaColumnSpec *column;
			const struct HgTableTrial *trial; /* its keys are as wide as the job's */

			/*
			 * Number of shards, 2 or more.  The rows of both sides are appended, and are those of
			 * this shard.
			 */
			uint32_t shards;
		};
	} HgJobProduct;

	/* The whole description. */
	typedef struct HgJobSpec
	{
		uint32_t key_width; /* bytes of a key: 4 or 8 */
		HgJobShape shape;
		HgJobSide sides[2]; /* by HgSide */
		HgJobProduct product;

		/*
		 * Not 0, in an engine with local calls: outer rows come after build, a few at a time.
		 * build makes nothing if the inner graph is so large that bins would pay.
		 */
		uint32_t streamed;

		/* Not 0: the caller ignores the inner rows of matches, which may be left undefined. */
		uint32_t outer_only;
		uint32_t first_only; /* not 0: the caller uses HG_MATCH_FIRST only */
		int32_t device;		 /* device ordinal; -1 = any */

		/* Limit in bytes of device memory, or host memory without a device; 0 = none. */
		uint64_t memory_limit;

		/*
		 * Jobs of one query have the same group; 0 = a group of its own.  Where jobs queue for a
		 * device, none waits while another job of its group is open.
		 */
		uint64_t group;

		/* Not 0: the caller can do without this job for now; refused where other jobs wait. */
		uint32_t ahead;

		/*
		 * Not 0: shared by the jobs of a device process with this number (hg_wire.h).  Their
		 * product is matches, of sides that are no replicas.
		 */
		uint64_t participants_id;
	} HgJobSpec;

	/* Returns what a side is if it is a graph replica, and an empty source of other sides. */
	static inline const HgReplicaSource *
	hg_side_replica(const HgJobSpec *spec, HgSide side)
	{
		static HgReplicaSource none; /* all zero */

		return spec->sides[side].kind == HG_SOURCE_REPLICA ? &spec->sides[side].replica : &none;
	}

	/* Returns the layout of a side that comes as pages, and NULL for other sides. */
	static inline const struct HgPageSpec *
	hg_side_pages(const HgJobSpec *spec, HgSide side)
	{
		return spec->sides[side].kind == HG_SOURCE_PAGES ? spec->sides[side].pages : NULL;
	}

#ifdef __cplusplus
}
#endif

#endif /* HG_JOB_SPEC_H */
