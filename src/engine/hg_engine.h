/*-------------------------------------------------------------------------
 *
 * hg_engine.h
 *	  The interface of the engine: HashGraphs of keys and row numbers.
 *
 * The engine knows keys and row numbers only: neither PostgreSQL nor SQL nor
 * CUDA.  Five things implement this interface:
 *
 *	cpu		engine/cpu, in the calling process;
 *	cuda	cuda/, inside the device process hashgraph_device;
 *	remote	engine/wire, which forwards every call to an engine in another
 *			process.  A session reaches the cuda engine through it;
 *	ranges	hg_ranges.h, around the remote engine: where a job does not fit the
 *			device, it runs smaller jobs, two at a time;
 *	wide	hg_sharded.h, around several remote engines: each has a part of a job.
 *
 * A HashGraph (O. Green, "HashGraph - Scalable Hash Tables Using a Sparse Graph
 * Data Structure", ACM TOPC 2021) is a hash table laid out as a sparse graph in
 * CSR form: hash values are the vertices 0..V-1, rows are the edges, and the
 * rows of one vertex are one contiguous adjacency list:
 *
 *	offsets[V + 1]	offsets[v] .. offsets[v + 1] - 1 are the edges of vertex v
 *	edges[N]		(key, row number), here as two arrays
 *
 * LIFE OF A JOB
 *
 *	open -> append* (both sides, any order) -> append_column* -> build -> any number of
 *	{ match -> next* | count | reduce -> next_groups* | describe | export_graph } -> close
 *
 * A job belongs to one thread of one process.  Any call may fail; after a
 * failure other than HG_CANCELLED only close is allowed.  After HG_CANCELLED
 * only close is allowed as well.  close never fails and frees everything.
 *
 * Row numbers are positions in the order of append, from 0, a side at a time,
 * unless the caller gives them with append_rows.  Rows whose key is NULL are never
 * appended.
 *
 * SHARED JOBS
 *
 * Several processes, or threads, can work on one job together, as its participants:
 * hg_shared_job.h.
 *
 * STREAMED JOBS
 *
 * Where the inner graph stays in fast memory, outer rows can come a few at a time after build, and
 * are never all there (HgJobSpec.streamed):
 *
 *	open -> append* (inner side) -> build -> { renew -> { match -> next* | count } }* -> close
 *
 * COLUMNS AND GROUPS
 *
 * A job can carry columns beside its keys: values of 1, 2, 4 or 8 bytes, of which each row has one
 * or NULL.  reduce makes groups of the matches, by the values of some of these columns, and for
 * each group counts, sums, and the least and greatest values of others, so that the pairs need not
 * leave the engine.  All of it is arithmetic with integers that is exact in any order.  Or the
 * values come along with the pairs, and the caller need not look each of them up by its row.
 *
 * TABLES
 *
 * A job can be there for a table (hg_table.h) that is built of its inner keys and measured, in
 * place of a join (HgJobSpec.trial):
 *
 *	open -> append* (inner side) -> measure_table -> close
 *
 * REPLICAS
 *
 * A side can be a graph replica, which an engine has had since a job before, and its rows can look
 * up others on the way (hg_replica.h).  Columns of such a side can be computed of others
 * (hg_computed.h), and which of its rows count can be decided by columns (hg_row_filter.h).
 *
 * PAGES
 *
 * A side can come as pages of a table, out of which the engine takes keys and columns (hg_pages.h).
 *
 * SHARDS
 *
 * Jobs of several engines can be one join, between which rows are exchanged before build
 * (hg_exchange.h).
 *
 * NOTHING UNWINDS through these calls: no longjmp, no C++ exception.  Each
 * returns a status and, when that is not HG_OK, fills *error (which may be
 * NULL).  Memory comes from the caller's no-throw callbacks, and the caller's
 * cancelled() is polled between pieces of work of at most 10 ms.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ENGINE_H
#define HG_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hg_shared_job.h"
#include "hg_status.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* hg_table_measure.h */
	struct HgTableTrial;
	struct HgTableMeasure;

	/* hg_replica.h */
	struct HgReplicaSpec;
	struct HgReplicaUse;
	struct HgReplicaColumnSpec;
	struct HgReplicaColumnUse;
	struct HgReplicaLookup;
	typedef struct HgReplica HgReplica; /* an engine's own; never looked into */

	/* hg_pages.h */
	struct HgPageSpec;
	typedef struct HgBroughtPages HgBroughtPages; /* an engine's own; never looked into */

	/* hg_computed.h */
	struct HgProgram;

	/* hg_row_filter.h */
	struct HgRowFilters;

	/* hg_exchange.h */
	struct HgExchange;
	struct HgExchangeRows;
	struct HgOffer;

/* A side holds fewer rows than this: row numbers and offsets are 32-bit. */
#define HG_MAX_ROWS UINT32_C(0xFFFFFFFE)

/* Limits of the number of vertices and bins; both are powers of two. */
#define HG_MAX_VERTICES_LOG2 31
#define HG_MAX_BINS_LOG2 20

/* Columns of a side that a job carries beside its keys, at most. */
#define HG_MAX_COLUMNS 8

/* Lookups of a side that is a graph replica, at most. */
#define HG_MAX_LOOKUPS 8

/* Programs by which columns of a side that is a graph replica are computed, at most. */
#define HG_MAX_PROGRAMS 8

/* Columns that filters of such a side, and of what it looks up, look at, at most. */
#define HG_MAX_FILTER_COLUMNS 12

/* Columns that groups are made by, and numbers that are asked for of each, at most. */
#define HG_MAX_REDUCE_KEYS 4
#define HG_MAX_REDUCE_ITEMS 16

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
		HG_BUILD_DIRECT,   /* the keys are the vertices: never asked for, see HgJobSpec.direct */
		HG_BUILD_RESIDENT, /* nothing is built of a side at least: never asked for, see hg_flat.h,
							* hg_replica.h */
		HG_BUILD_TABLE	   /* no HashGraph of a join's own: never asked for, see HgJobSpec.table */
	} HgBuildAlgorithm;

	typedef enum HgProbeAlgorithm
	{
		HG_PROBE_AUTO = 0,
		HG_PROBE_STANDARD, /* look up every outer row in the inner graph */
		HG_PROBE_INTERSECT /* Algorithm 3: intersect the lists of both graphs */
	} HgProbeAlgorithm;

	/* What inner rows may stand in; hg_table.h tells what each is. */
	typedef enum HgTableKind
	{
		HG_TABLE_CSR = 0,		 /* HashGraph: lists one after the other */
		HG_TABLE_ELLPACK,		 /* HashGraph: lists as long as the longest */
		HG_TABLE_SLICED_ELLPACK, /* HashGraph: as long as the longest of 32 neighbours */
		HG_TABLE_DYNAMIC,		 /* HashGraph with empty slots in each list */
		HG_TABLE_CUCKOO,		 /* one array, several functions */
		HG_TABLE_DYCUCKOO,		 /* subtables of buckets, one resized at a time */
		HG_TABLE_KINDS			 /* number of kinds, not a kind */
	} HgTableKind;

	typedef enum HgMatchMode
	{
		HG_MATCH_ALL = 0, /* every pair of rows with equal keys */
		HG_MATCH_FIRST	  /* at most one inner row for each outer row */
	} HgMatchMode;

	/*
	 * What the caller lends to a job.  All callbacks get arg; none may unwind.
	 */
	typedef struct HgHost
	{
		/* bytes of memory aligned to 64, or NULL.  The contents are undefined. */
		void *(*alloc)(void *arg, size_t bytes);
		void (*free)(void *arg, void *ptr, size_t bytes);

		/* true when the work should stop; cheap, called every few milliseconds */
		bool (*cancelled)(void *arg);

		/*
		 * Wait until fd is readable (returns true), or until cancelled() would be
		 * true (returns false).  Only the remote engine waits; others may have NULL.
		 */
		bool (*wait_readable)(void *arg, int fd);

		void *arg;
	} HgHost;

	/* What is asked of a job.  Zero everywhere but key_width is a good default. */
	typedef struct HgJobSpec
	{
		uint32_t key_width; /* bytes of a key: 4 or 8 */
		HgBuildAlgorithm build;
		HgProbeAlgorithm probe;
		double load_factor;		   /* wanted C = N / V; 0 means 1 */
		uint32_t bins;			   /* wanted number of bins; 0 = automatic */
		uint32_t direct;		   /* not 0: where all of the four above are left open, and the
									* inner keys are dense, the keys may be the vertices: then
									* there is no graph to be described or exported */
		uint64_t direct_limit;	   /* bytes that such a job may hold, or one with a table: where
									* that would take more there is none; 0 = no limit of its own */
		uint32_t streamed;		   /* not 0, in an engine that has renew(): outer rows come after
									* build, a few at a time, if the inner graph is small enough
									* that bins would be a loss; else build makes nothing */
		uint32_t outer_only;	   /* not 0: nobody looks at the inner rows of matches, whose
									* numbers may then be left undefined */
		uint32_t first_only;	   /* not 0: matches are asked for by HG_MATCH_FIRST alone */
		HgTableKind table;		   /* but for CSR: in an engine that has tables (hg_lookup.h) the
									* inner rows are to stand in one of this kind, if it can hold
									* them and neither bins nor another probe are asked for, and
									* then there is no graph to be described or exported */
		uint64_t memory_limit;	   /* bytes the job may hold, on the device where
									* the engine has one; 0 = no limit of its own */
		uint64_t expected_rows[2]; /* by HgSide; hints, 0 = unknown; open may refuse
									* what would have no room for as many */
		int32_t device;			   /* device ordinal; -1 = any */
		uint64_t group;			   /* jobs of one query have the same, 0 = a group of
									* its own: where jobs queue for a device, none waits
									* while another of its group is open */
		uint32_t ahead;			   /* not 0: its caller has another open, and can do
									* without it for now: refused where others wait */
		uint64_t participants_id;  /* not 0: in a device process, one job with all others
									* that are opened with the same number (hg_wire.h) */
		uint32_t shards;		   /* not 0: the job is one of so many that are one join
									* (hg_exchange.h), 2 or more; its expected rows are its own
									* share.  Such a job is not shared, no graph replicas and no pages,
									* and is not streamed; an engine without tally refuses it:
									* HG_INVALID */

		/* columns beside the keys, by HgSide; not every engine has them */
		uint32_t ncolumns[2];
		uint8_t column_width[2][HG_MAX_COLUMNS]; /* bytes: 1, 2, 4 or 8 */

		/*
		 * NULL, or a table that is to be measured, of keys as wide as the job's, which stays in
		 * place until open has returned.  Such a job has inner rows alone, no columns, and is not
		 * shared.
		 */
		const struct HgTableTrial *trial;

		/*
		 * NULL, or a graph replica that the job is to make (hg_replica.h); it stays in place until
		 * open has returned.  Such a job has neither sides nor columns, and is not shared.
		 */
		const struct HgReplicaSpec *new_replica;

		/*
		 * By HgSide: NULL, or a graph replica which is that side; it stays in place until open has
		 * returned, and the graph until close.  Such a job is not shared, and how its graphs are
		 * shaped is not asked for.
		 */
		const struct HgReplicaUse *replica[2];

		/*
		 * By HgSide: NULL, or the side's graph replica is one that several engines have partitions
		 * of (hg_partitioning.h), which stay in place until close.  An engine over these has a
		 * shard for each, whose partition has the shape that follows from it.  Such a job counts
		 * pairs and makes groups of them, and has two graph replicas.  Other engines refuse it:
		 * HG_INVALID.
		 */
		const struct HgPartitioning *partitions[2];

		/*
		 * By HgSide, [nlookups[side]], where the side is partitioned: how the graphs are, along
		 * with it, by which its rows look others up, and what they find (hg_partitioning.h); in
		 * place until open has returned, but for partitions of what is found, which stay until
		 * close.
		 */
		const struct HgCopartition *copartition[2];

		/* NULL, or, in place of a graph replica, a column replica to be made. */
		const struct HgReplicaColumnSpec *new_column;

		/* By HgSide: [ncolumns[side]] of a side that is a graph replica, as that has to stay. */
		const struct HgReplicaColumnUse *replica_columns[2];

		/*
		 * By HgSide: what rows of a side that is a graph replica look up on the way,
		 * [nlookups[side]], in place until open has returned, as all that it names has to be until
		 * close.
		 */
		uint32_t nlookups[2];
		const struct HgReplicaLookup *lookups[2];

		/*
		 * By HgSide: NULL, or how the side comes as pages; in place until open has returned.  Such
		 * a side is no graph replica, and no replica is made of it, and no table measured.
		 */
		const struct HgPageSpec *pages[2];

		/*
		 * By HgSide: by which columns of a side that is a graph replica are computed,
		 * [nprograms[side]], in place until open has returned.
		 */
		uint32_t nprograms[2];
		const struct HgProgram *programs[2];

		/*
		 * By HgSide: NULL, or by what columns which rows of a side that is a graph replica count,
		 * and of what they look up; in place until open has returned, as the columns have to be
		 * until close.  An engine that has no filters refuses it: HG_INVALID.
		 */
		const struct HgRowFilters *filters[2];
	} HgJobSpec;

	/* Distinct keys as bits: bit k of all is set where least + k, modulo the keys' range, is one.
	 */
	typedef struct HgKeyBitmap
	{
		uint64_t least;
		uint64_t size;		  /* in bits, not 0 */
		const uint32_t *bits; /* [size / 32 + 1] of 32 each, the lowest first */
		uint64_t keys;		  /* bits that are set */
	} HgKeyBitmap;

	/* Matches leave in arrays of the caller: outer[i] joins inner[i]. */
	typedef struct HgMatches
	{
		uint32_t *outer; /* [capacity] row numbers of the outer side */
		uint32_t *inner; /* [capacity] row numbers of the inner side */
		size_t capacity; /* at least 1; set by the caller */
		size_t count;	 /* set by next(): 0 means the stream has ended */

		/*
		 * By HgSide and column, NULL where not wanted: the values of the rows of each match in its
		 * width, and bytes that are not 0 where it is NULL, whose value is undefined.  Either both
		 * arrays are there or none.
		 */
		void *values[2][HG_MAX_COLUMNS];   /* [capacity] */
		uint8_t *nulls[2][HG_MAX_COLUMNS]; /* [capacity] */
		bool has_nulls[2][HG_MAX_COLUMNS]; /* set by next(), where wanted: false, and the bytes
											* are not written, where no value is NULL */

		/*
		 * NULL, or set by a caller who may have enough of an outer row's matches before he has all
		 * of them: has he, by what next() returned before?  next() may ask that of a row with many
		 * matches, before the first of them and before each further part, and leaves out those that
		 * it has not found yet where it is so.  It returns early then, with a part of a row's
		 * matches that the caller is to look at.  An engine need not ask.  It may not unwind.
		 */
		bool (*settled)(void *arg, uint32_t outer_row);
		void *settled_arg;
	} HgMatches;

	/* A column of a job, and how its values become 64 bits wide. */
	typedef struct HgReduceColumn
	{
		uint32_t side; /* HgSide */
		uint32_t column;
		uint32_t is_signed; /* 1: two's complement, 0: not */
	} HgReduceColumn;

	typedef enum HgReduceKind
	{
		HG_REDUCE_COUNT = 0, /* nothing more than how many are not NULL */
		HG_REDUCE_SUM,
		HG_REDUCE_MIN,
		HG_REDUCE_MAX
	} HgReduceKind;

	typedef struct HgReduceItem
	{
		uint32_t kind; /* HgReduceKind */
		HgReduceColumn argument;
	} HgReduceItem;

	/*
	 * What is made of the matches.  Two of them are of one group where each key has the same
	 * widened value, or is NULL, in both; without keys all are of one group, which is there without
	 * any.
	 *
	 * A group is told by a record of 64-bit words (hg_reduce.h says how many):
	 *
	 *	keys[nkeys]		widened; 0 where NULL
	 *	nulls			bit k is set where key k is NULL
	 *	pairs			the matches of the group
	 *	for each item	how many of its arguments are not NULL, and, unless it is a
	 *					COUNT:
	 *		SUM			the low word and the high word of their sum, in 128 bits
	 *		MIN, MAX	the least, greatest of them widened, as signed or unsigned numbers;
	 *					undefined where there is none
	 */
	typedef struct HgReduceSpec
	{
		uint32_t nkeys;
		uint32_t nitems;
		HgReduceColumn keys[HG_MAX_REDUCE_KEYS];
		HgReduceItem items[HG_MAX_REDUCE_ITEMS];
		uint64_t expected_groups; /* a hint; 0 = unknown */
		uint64_t max_groups;	  /* at least 1; more are HG_TOO_MANY_GROUPS */
	} HgReduceSpec;

	/* Instead of a number of groups: there were more than may be, or than there is room for. */
#define HG_TOO_MANY_GROUPS UINT64_MAX

	/* Records leave in an array of the caller. */
	typedef struct HgGroupRecords
	{
		uint64_t *words; /* [capacity * words of a record] */
		size_t capacity; /* in records, at least 1; set by the caller */
		size_t count;	 /* set by next_groups(): 0 means that there are no more */
	} HgGroupRecords;

	/* What a job is to begin with before the calls for it: see start(). */
	typedef enum HgAhead
	{
		HG_AHEAD_BUILD = 0,
		HG_AHEAD_MATCH, /* build, if that was not called yet, and then match */
		HG_AHEAD_COUNT, /* the same with count */
		HG_AHEAD_REDUCE /* ... and with reduce */
	} HgAhead;

	/* Where the time of a job went. */
	typedef enum HgPhase
	{
		HG_PHASE_TRANSFER = 0, /* keys to the device */
		HG_PHASE_BIN,		   /* into bins (build v2) */
		HG_PHASE_BUILD,		   /* count, prefix sum, scatter */
		HG_PHASE_MATCH,		   /* probe or intersect, reduce; pairs or groups to the host */
		HG_PHASE_COUNT		   /* number of phases, not a phase */
	} HgPhase;

	/* What a job did: filled by stats() at any time after open. */
	typedef struct HgJobStats
	{
		uint64_t rows[2];	   /* by HgSide; in a shared job those of this participant, in one with
								* participants_id (HgJobSpec) those	  of all its participants */
		uint64_t null_keys[2]; /* likewise: rows of pages that are not among them for want of a
								* key alone */
		uint64_t vertices;	   /* V, of both graphs; where the keys are the vertices, as
								* many as from the least inner key to the greatest; 0 before
								* build, and after it in a streamed job that can't be one */
		uint64_t bins;		   /* 1 where nothing was binned; 0 before build */
		uint64_t ranges; /* pieces that the job was partitioned into for want of memory, each of
						  * which a device had at a time, of a job over several devices
						  * each shard's; 1 where it ran whole; 0 before build */
		HgBuildAlgorithm build; /* what was chosen; never AUTO after build */
		HgProbeAlgorithm probe;
		HgTableKind table;		/* with HG_BUILD_TABLE; its slots are told as vertices */
		uint64_t matches;		/* pairs delivered by next(), count() or reduce() so far; of
								 * count() on the host also those of a call that goes on */
		uint64_t comparisons;	/* keys compared with keys, so far: none where they are the
								 * vertices, and not known of tables */
		uint64_t intersections; /* intersect: pairs of non-empty lists visited;
								 * standard: probes of a non-empty list, of a table those that
								 * found a row */
		uint64_t exchanged;		/* rows of both sides that went from one shard of a job over
								 * several devices to another ... */
		uint64_t sent;			/* ... and those of them that one sent to the other itself */
		uint64_t peak_bytes;	/* most memory held: device memory for cuda */
		double phase_ms[HG_PHASE_COUNT];
	} HgJobStats;

	/* The shape of one built HashGraph: filled by describe(), which walks it. */
	typedef struct HgGraphStats
	{
		uint64_t vertices;
		uint64_t edges;
		uint64_t empty_vertices;
		uint64_t longest_list;
		uint64_t distinct_keys;
		uint64_t bytes; /* of offsets and edges */
	} HgGraphStats;

	typedef struct HgJob HgJob; /* an engine's own; never looked into */
	typedef struct HgEngine HgEngine;

	/*
	 * An engine: a table of calls, first member of an implementation's own struct.
	 */
	struct HgEngine
	{
		const char *name; /* "cpu" or "cuda" */
		bool filters;	  /* graph replicas can have filters (HgJobSpec.filters) */

		/* Start a job.  host must outlive it.  *job is set on HG_OK only. */
		HgStatus (*open)(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
						 HgError *error);

		/*
		 * Add count keys of spec.key_width bytes each (native byte order) to a side.
		 * They are numbered on from the rows that the side already has.  The array
		 * stays the caller's, who keeps it in place and unchanged until close.
		 * HG_TOO_MANY_ROWS past HG_MAX_ROWS.
		 */
		HgStatus (*append)(HgJob *job, HgSide side, const void *keys, uint64_t count,
						   HgError *error);

		/*
		 * Make ready what the probe needs, the HashGraphs of both sides for intersect, of
		 * the inner side for standard; with bins the graphs themselves may be built as the
		 * matches are asked for.  No append afterwards.  The number of
		 * vertices is the same for both sides (hg_shape.h says how it is chosen).
		 * In a shared job it waits for the other participants.
		 */
		HgStatus (*build)(HgJob *job, HgError *error);

		/*
		 * Start the stream of matches, or start it again from the beginning.  A shared
		 * job has one stream, and match or count can be called once: HG_INVALID after.
		 */
		HgStatus (*match)(HgJob *job, HgMatchMode mode, HgError *error);

		/*
		 * The next matches, at most matches->capacity; count 0 at the end.  All
		 * matches of one outer row follow each other in the stream; apart from
		 * that the order is the engine's.  In a shared job: the matches of the work that
		 * this participant takes, and of an outer row all or none.  HG_INVALID where values are
		 * wanted of a column that the job has not.
		 */
		HgStatus (*next)(HgJob *job, HgMatches *matches, HgError *error);

		/*
		 * The number of matches of a mode; no pair is written.  It ends a stream.  In a
		 * shared job: of the work that this participant takes.
		 */
		HgStatus (*count)(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error);

		/*
		 * Describe the graph of a side; HG_INVALID where build made none, and in a shared
		 * job.  It ends a stream.
		 */
		HgStatus (*describe)(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error);

		/*
		 * Copy the graph of a side out: offsets[vertices + 1], edge_keys[rows] of
		 * key_width bytes each, edge_rows[rows].  HG_INVALID where build made none, and
		 * in a shared job.  It ends a stream.
		 */
		HgStatus (*export_graph)(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
								 uint32_t *edge_rows, HgError *error);

		/* What the job did so far.  Never fails; unknown values are 0. */
		void (*stats)(HgJob *job, HgJobStats *stats);

		/* Free the job, whatever state it is in.  Never fails or waits long. */
		void (*close)(HgJob *job);

		/*
		 * Make the job one participant's part of a shared one: after open, before the
		 * first row.  NULL in an engine that has no shared jobs.
		 */
		HgStatus (*share)(HgJob *job, const HgParticipants *participants_id, HgError *error);

		/*
		 * The same as append, with the number of the first key given.  Numbers need not
		 * be dense or in order, but no two rows of a side may have the same, and none
		 * may reach HG_MAX_ROWS: HG_TOO_MANY_ROWS.  A job is filled by one of the two calls
		 * alone, a shared one by this.  NULL in an engine without.
		 */
		HgStatus (*append_rows)(HgJob *job, HgSide side, const void *keys, uint64_t count,
								uint64_t first_row, HgError *error);

		/*
		 * The values of a column of spec.ncolumns[side], of its width each, for count rows
		 * whose keys have been appended, numbered from first_row on; nulls[count] are
		 * bytes, not 0 where the row has NULL, or the array is NULL and no row has.  A row gets
		 * its value once, in any order of rows and columns, and before build every row needs one
		 * for each column: HG_INVALID.  The arrays are the caller's again when the call returns.
		 * NULL in an engine without columns, whose open refuses a spec with any: HG_INVALID.
		 */
		HgStatus (*append_column)(HgJob *job, HgSide side, uint32_t column, const void *values,
								  const uint8_t *nulls, uint64_t count, uint64_t first_row,
								  HgError *error);

		/*
		 * Make groups of all matches of a mode and set *groups to their number; their records come
		 * from next_groups.  HG_TOO_MANY_GROUPS is an answer, not a failure: the job is then as it
		 * was, and its matches can be asked for.  It ends a stream.  Of a job that
		 * connections have together all groups go to whoever asks first, and the others
		 * get 0.  NULL in an engine without columns.
		 */
		HgStatus (*reduce)(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
						   HgError *error);

		/* The next records, in no order, at most records->capacity; HG_INVALID without reduce. */
		HgStatus (*next_groups)(HgJob *job, HgGroupRecords *records, HgError *error);

		/*
		 * Of a streamed job that is built: the outer rows are these count ones now, numbered from
		 * 0, instead of those before, of which match, count and next know nothing any more.  The
		 * array stays the caller's, who keeps it in place until the next renew or close.  It costs
		 * no more than some hundred instructions: outer rows can come in such numbers as stay in
		 * the nearest cache.  It ends a stream.  HG_INVALID where build made nothing.  NULL in an
		 * engine without.
		 */
		HgStatus (*renew)(HgJob *job, const void *keys, uint64_t count, HgError *error);

		/*
		 * Give a streamed job of outer_only all of its inner keys as bits, before build, in place
		 * of append.  The bits stay the caller's, who keeps them in place until close.  NULL in an
		 * engine without.
		 */
		HgStatus (*append_bits)(HgJob *job, const HgKeyBitmap *bitmap, HgError *error);

		/*
		 * Begin with what the next calls on the job will ask for, and return at once: build,
		 * if it was not called yet, and then match, count or reduce, of mode; spec is that of
		 * reduce, and else not looked at.  These calls must follow, and tell what came of it.  The
		 * caller can do other things meanwhile, also on other jobs of the engine, but what he asks
		 * for there waits behind this.  NULL in an engine that works in its caller's thread.
		 */
		HgStatus (*start)(HgJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
						  HgError *error);

		/*
		 * Of a job with spec.trial, in place of build: measure the table over all inner keys. Times
		 * are the engine's own, without those of append.  HG_INVALID is an answer: the table can't
		 * have these keys.  NULL in an engine without, whose open refuses such a spec: HG_INVALID.
		 */
		HgStatus (*measure_table)(HgJob *job, struct HgTableMeasure *measure, HgError *error);

		/*
		 * Of a job with spec.new_replica: count edges of its graph, keys[i] of the shape's key
		 * width being that of the row numbered rows[i]. They may come in any order; the arrays are
		 * the caller's again when the call returns.  HG_INVALID where there are more than the shape
		 * has rows; build says so where there are fewer.  NULL, as the three that follow, in an
		 * engine that has no replicas, whose open refuses a spec with any: HG_INVALID.
		 */
		HgStatus (*put_edges)(HgJob *job, const void *keys, const uint32_t *rows, uint64_t count,
							  HgError *error);

		/*
		 * Of a job with spec.new_column: the values of count ordinals from first_ordinal on;
		 * nulls[count] are bytes, not 0 where a row has NULL, or the array is NULL and none has.
		 * Ordinals that get none are undefined, as they are where there is no row.  HG_INVALID
		 * where they go beyond the column, of which nothing is put then.
		 */
		HgStatus (*put_values)(HgJob *job, const void *values, const uint8_t *nulls, uint64_t count,
							   uint64_t first_ordinal, HgError *error);

		/*
		 * Of a job with spec.new_replica, or new_column, which is built: take the graph out of it,
		 * with the bytes that it holds from now on.  It is the caller's, until he has it released.
		 * In an engine that knows the replica by its name, once it is built, *graph is NULL, and
		 * nothing is to be released.
		 */
		HgStatus (*take_replica)(HgJob *job, HgReplica **graph, uint64_t *bytes, HgError *error);

		/* Release a replica, which no job uses.  Never fails or waits long. */
		void (*release)(HgEngine *engine, HgReplica *graph);

		/*
		 * Of a side with spec.replica, before build: which of its rows count, by words first_word
		 * .. first_word + count - 1 of its mask; words are NULL where they are all 0.  Rows of
		 * words that were never given count.  The array is the caller's again when the call
		 * returns.  lookup is 0 for the side itself; else the same of the graph that its lookup of
		 * this number, less 1, looks rows up in.
		 */
		HgStatus (*mask)(HgJob *job, HgSide side, uint32_t lookup, uint64_t first_word,
						 uint64_t count, const uint64_t *words, HgError *error);

		/*
		 * Of a side with spec.pages, before build: count whole pages, whose ordinals begin with
		 * first_page.  The array is the caller's again when the call returns.  HG_TOO_MANY_ROWS
		 * where numbers of their rows would reach HG_MAX_ROWS.  NULL in an engine without, whose
		 * open refuses such a spec: HG_INVALID.
		 */
		HgStatus (*append_pages)(HgJob *job, HgSide side, const void *pages, uint64_t count,
								 uint64_t first_page, HgError *error);

		/*
		 * append_pages in two steps, for threads that work on one job in turns: to bring pages is
		 * nobody's turn.  Any number of threads may do it at a time, whatever another has the job
		 * do meanwhile, but open and close it.  Each has a host of its own, whose memory and
		 * cancelled() are used, and which outlives what it has brought.  The array is the
		 * caller's again when the call returns.  HG_OK with *brought NULL says that there is no
		 * room to do it now, and that append_pages is to be called instead.  NULL, as the two that
		 * follow, in an engine without.
		 */
		HgStatus (*bring_pages)(HgJob *job, const HgHost *host, HgSide side, const void *pages,
								uint64_t count, HgBroughtPages **brought, HgError *error);

		/*
		 * What append_pages would have done with pages that were brought, whose ordinals begin with
		 * first_page.  They are gone then, whatever it answers.
		 */
		HgStatus (*take_pages)(HgJob *job, HgBroughtPages *brought, uint64_t first_page,
							   HgError *error);

		/*
		 * Let go of pages that were brought, which needs no turn either.  Before close each is
		 * taken or dropped.
		 */
		void (*drop_pages)(HgJob *job, HgBroughtPages *brought);

		/*
		 * Of a shard, after the last append: how many rows of a side are of each part,
		 * counts[HG_EXCHANGE_PARTS]. NULL, as the four that follow, in an engine that exchanges no
		 * rows.  hg_exchange.h tells what they are for.
		 */
		HgStatus (*tally)(HgJob *job, HgSide side, uint64_t *counts, HgError *error);

		/*
		 * Of a shard whose rows were tallied: it is to have these parts of a side, and so many rows
		 * of them will come.  Nothing is appended to the side any more.
		 */
		HgStatus (*expect)(HgJob *job, HgSide side, const struct HgExchange *exchange,
						   HgError *error);

		/*
		 * The next rows of a side that are of another shard's parts, with their columns, at most
		 * rows->capacity; count 0 when each has been taken.
		 */
		HgStatus (*take_rows)(HgJob *job, HgSide side, uint32_t shard, struct HgExchangeRows *rows,
							  HgError *error);

		/* Rows of a side that were taken of another shard.  The arrays stay the caller's. */
		HgStatus (*put_rows)(HgJob *job, HgSide side, const struct HgExchangeRows *rows,
							 HgError *error);

		/* All have come that were expected: from now on they are the rows of the side. */
		HgStatus (*arrived)(HgJob *job, HgSide side, HgError *error);

		/*
		 * Of a shard that expects rows of a side: memory for all that come from others, once, until
		 * they have arrived.  HG_INVALID where there is none to offer, which is no failure, in this
		 * call and in the two that follow.  NULL, as these, in an engine whose memory others do not
		 * reach.  hg_offer.h tells the whole way.
		 */
		HgStatus (*offer)(HgJob *job, HgSide side, struct HgOffer *offer, HgError *error);

		/*
		 * Send the rows of a side that are of another shard's parts, none of which were taken, to
		 * where that one has offered.  The descriptor stays the caller's.  An engine that works by
		 * itself may return before they are there: until sent nothing else is asked of the job, but
		 * to be closed.
		 */
		HgStatus (*send_rows)(HgJob *job, HgSide side, uint32_t shard, const struct HgOffer *offer,
							  HgError *error);

		/*
		 * Wait until the rows are there that were sent last.  They are taken then; or none of them
		 * are, with HG_INVALID, because they could not be sent so.
		 */
		HgStatus (*sent)(HgJob *job, HgSide side, HgError *error);
	};

	/* Milliseconds of a clock that only goes forward. */
	extern double hg_clock_ms(void);

	/* Names as users write them: "v1", "v2", "auto"; "standard", "intersect", "auto". */
	extern const char *hg_build_name(HgBuildAlgorithm build);
	extern const char *hg_probe_name(HgProbeAlgorithm probe);

#ifdef __cplusplus
}
#endif

#endif /* HG_ENGINE_H */
