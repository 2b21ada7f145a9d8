/*-------------------------------------------------------------------------
 *
 * hg_engine.h
 *	  The interface of the engine: HashGraphs of keys and row numbers.
 *
 * The engine knows keys and row numbers only: neither PostgreSQL nor SQL nor CUDA.  Five engines
 * implement this interface:
 *
 *	cpu		engine/cpu, in the calling process;
 *	cuda	cuda/, inside the device process hashgraph_device;
 *	remote	engine/wire, which forwards every call to an engine in another
 *			process.  A session reaches the cuda engine through it;
 *	passes	hg_passes.h, around the remote engine: it runs a job that does not
 *			fit the device as smaller jobs, two at a time;
 *	sharded	hg_sharded.h, around several remote engines: each runs one shard.
 *
 * A HashGraph (O. Green, "HashGraph - Scalable Hash Tables Using a Sparse Graph Data Structure",
 * ACM TOPC 2021) is a hash table laid out as a sparse graph in CSR form.  The hash values are the
 * vertices 0..V-1 and the rows are the edges.  The rows of one vertex are one contiguous adjacency
 * list:
 *
 *	offsets[V + 1]	offsets[v] .. offsets[v + 1] - 1 are the edges of vertex v
 *	edges[N]		(key, row number), here as two arrays
 *
 * LIFE OF A JOB
 *
 *	open -> append* (both sides, any order) -> append_column* -> build -> any number of
 *	{ match -> next* | count | reduce -> next_groups* | describe | export_graph } -> close
 *
 * A job belongs to one thread of one process.  Any call may fail, and after a failure only close
 * is allowed, unless the call's comment says that the status is an answer.  HG_INVALID for a call
 * out of order usually leaves the job as it was.  close never fails and frees everything.
 *
 * A row number is the position of the row in the order of append, from 0, on each side.
 * append_rows lets the caller choose the numbers instead.  Rows whose key is NULL are never
 * appended.
 *
 * OTHER KINDS OF JOBS
 *
 * Shared jobs: several processes or threads work on one job as its participants (hg_shared_job.h).
 *
 * Streamed jobs: the inner graph stays in fast memory, and outer rows come a few at a time after
 * build (HgJobSpec.streamed).  The outer rows are never all in memory:
 *
 *	open -> append* (inner side) -> build -> { renew -> { match -> next* | count } }* -> close
 *
 * Columns and groups: a job can carry columns beside its keys, with values of 1, 2, 4 or 8 bytes
 * or NULL.  next returns values of these columns with the pairs.  reduce groups the matches by
 * some columns, and computes counts, sums, minima and maxima of others for each group.  The pairs
 * then do not leave the engine.  All of this is integer arithmetic, which is exact in any order.
 *
 * Tables: a job can build a table (hg_table.h) of its inner keys and measure it, in place of a
 * join (HG_PRODUCT_TABLE):
 *
 *	open -> append* (inner side) -> measure_table -> close
 *
 * Replicas: a side can be a graph replica that an earlier job made, and its rows can look up rows
 * of other replicas (hg_replica.h).  Columns of such a side can be computed from other columns
 * (hg_computed.h).  Filters over columns can select its rows (hg_row_filter.h).
 *
 * Pages: a side can come as pages of a table, from which the engine takes keys and columns
 * (hg_pages.h).
 *
 * Shards: jobs of several engines can be one join.  The shards exchange rows before build
 * (hg_exchange.h).
 *
 * NOTHING UNWINDS through these calls: no longjmp, no C++ exception.  Each call returns a status
 * and, when that is not HG_OK, fills *error (which may be NULL).  Memory comes from the caller's
 * no-throw callbacks.  The engine polls the caller's cancelled() between pieces of work of at most
 * 10 ms.
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

#include "hg_job_spec.h"
#include "hg_shared_job.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef enum HgStatus
	{
		HG_OK = 0,
		HG_INVALID,				 /* the caller broke the contract or a limit */
		HG_OUT_OF_MEMORY,		 /* host memory refused; without a device also: over memory_limit */
		HG_DEVICE_OUT_OF_MEMORY, /* device memory refused, over the device's budget or over
								  * memory_limit: a smaller job may work */
		HG_TOO_MANY_ROWS,		 /* a side would pass HG_MAX_ROWS */
		HG_CANCELLED,			 /* host->cancelled() returned true */
		HG_UNAVAILABLE,			 /* no device, no driver, not ready yet */
		HG_EVICTED, /* the job was idle and others waited for its device memory: a new job may work
					 */
		HG_NO_REPLICA, /* no replica of that name, or not any more: sending keys may work */
		HG_NOT_UNIQUE, /* a row would find several rows in a lookup that allows one: a plain join
						* may work */
		HG_BAD_PAGE,   /* a page of a table is damaged: the caller may read its rows itself */
		HG_OVERFLOW,   /* a number computed of a row overflows: the caller decides whether that row
						* matters */
		HG_DEVICE_FAILED,  /* a call to the device's driver failed */
		HG_CONNECTION_LOST /* the device process is gone */
	} HgStatus;

	/* An error description for people: message has no newline, detail may be "". */
	typedef struct HgError
	{
		HgStatus status;
		char message[160];
		char detail[240];
	} HgError;

	/* Fills *error (if not NULL) printf-like and returns status; detail may be NULL. */
	extern HgStatus hg_error_set(HgError *error, HgStatus status, const char *detail,
								 const char *format, ...)
#if defined(__GNUC__)
		__attribute__((format(printf, 4, 5)))
#endif
		;

/*
 * Evaluates a call that returns HgStatus, and returns it from the calling function unless it is
 * HG_OK.  Not to be used while a lock or memory must be released first.
 */
#define HG_TRY(call)                                                                               \
	do                                                                                             \
	{                                                                                              \
		HgStatus status_ = (call);                                                                 \
		if (status_ != HG_OK)                                                                      \
			return status_;                                                                        \
	} while (0)

	/* hg_engine.c: the interface of the engine: HashGraphs of keys and row numbers */

	/* private to the engine */
	typedef struct HgReplica HgReplica;
	typedef struct HgBroughtPages HgBroughtPages;

/* Maximum number of columns to group by, and of aggregates of each group. */
#define HG_MAX_REDUCE_KEYS 4
#define HG_MAX_REDUCE_ITEMS 16

	typedef enum HgMatchMode
	{
		HG_MATCH_ALL = 0, /* every pair of rows with equal keys */
		HG_MATCH_FIRST	  /* at most one inner row for each outer row */
	} HgMatchMode;

	/* Services that the caller provides to a job.  All callbacks get arg; none may unwind. */
	typedef struct HgHost
	{
		/* Returns bytes of memory aligned to 64, or NULL.  The contents are undefined. */
		void *(*alloc)(void *arg, size_t bytes);

		/* Frees memory of alloc; bytes is its size. */
		void (*free)(void *arg, void *ptr, size_t bytes);

		/* Returns true if the work should stop; cheap, called every few milliseconds. */
		bool (*cancelled)(void *arg);

		/*
		 * Waits until fd is readable, and returns true.  Returns false where cancelled() would
		 * return true.  Only the remote engine waits; other engines accept NULL.
		 */
		bool (*wait_readable)(void *arg, int fd);

		void *arg;
	} HgHost;

	/* Distinct keys as bits: bit k is set if least + k, modulo the type's range, is a key. */
	typedef struct HgKeyBitmap
	{
		uint64_t least;
		uint64_t size;		  /* in bits, not 0 */
		const uint32_t *bits; /* [size / 32 + 1] words of 32 bits, lowest bit first */
		uint64_t keys;		  /* number of bits that are set */
	} HgKeyBitmap;

	/* Matches, in arrays of the caller: outer[i] joins inner[i]. */
	typedef struct HgMatches
	{
		uint32_t *outer; /* [capacity] row numbers of the outer side */
		uint32_t *inner; /* [capacity] row numbers of the inner side */
		size_t capacity; /* at least 1; set by the caller */
		size_t count;	 /* set by next(): 0 at the end of the stream */

		/*
		 * By HgSide and column: room for the values of the rows of each match, in the column's
		 * width, and for bytes that are not 0 where the value is NULL.  Both arrays are NULL if
		 * the caller does not need the column.  The value of a NULL is undefined.
		 */
		void *values[2][HG_MAX_COLUMNS];   /* [capacity] */
		uint8_t *nulls[2][HG_MAX_COLUMNS]; /* [capacity] */

		/* Set by next(), where needed; false: no value is NULL, and nulls is not written. */
		bool has_nulls[2][HG_MAX_COLUMNS];

		/*
		 * NULL, or a callback of a caller that may finish an outer row before it has seen all
		 * matches.  It returns true if the matches that next() returned earlier are enough for the
		 * row.  next() may call it for a row with many matches, before the first of them and
		 * before each further part.  If it returns true, next() leaves out the remaining matches
		 * of the row.  next() then returns early, with a part of a row's matches for the caller to
		 * examine.  An engine need not call it.  It may not unwind.
		 */
		bool (*is_finished)(void *arg, uint32_t outer_row);
		void *finished_arg;
	} HgMatches;

	/* A column of a job, and how its values are widened to 64 bits. */
	typedef struct HgReduceColumn
	{
		uint32_t side; /* HgSide */
		uint32_t column;
		uint32_t is_signed; /* 1: two's complement, 0: unsigned */
	} HgReduceColumn;

	typedef enum HgReduceKind
	{
		HG_REDUCE_COUNT = 0, /* only the number of arguments that are not NULL */
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
	 * Parameters of reduce.  Two matches belong to one group if each key has the same widened
	 * value, or is NULL, in both.  Without keys all matches form one group, which exists even
	 * without a match.
	 *
	 * A group is a record of 64-bit words (hg_reduce_words() in hg_reduce.h returns how many):
	 *
	 *	keys[nkeys]		widened; 0 where NULL
	 *	nulls			bit k is set where key k is NULL
	 *	pairs			number of matches of the group
	 *	for each item	number of its arguments that are not NULL, and, unless it is a
	 *					COUNT:
	 *		SUM			the low word and the high word of their 128-bit sum
	 *		MIN, MAX	the least or greatest of them, widened, compared as signed or
	 *					unsigned numbers; undefined if all are NULL
	 */
	typedef struct HgReduceSpec
	{
		uint32_t nkeys;
		uint32_t nitems;
		HgReduceColumn keys[HG_MAX_REDUCE_KEYS];
		HgReduceItem items[HG_MAX_REDUCE_ITEMS];
		uint64_t expected_groups; /* a hint; 0 = unknown */
		uint64_t max_groups; /* at least 1; with more groups reduce answers HG_TOO_MANY_GROUPS */
	} HgReduceSpec;

/* In place of a number of groups: more than max_groups, or than there is memory for. */
#define HG_TOO_MANY_GROUPS UINT64_MAX

	/* Group records, in an array of the caller. */
	typedef struct HgGroupRecords
	{
		uint64_t *words; /* [capacity * words of a record] */
		size_t capacity; /* in records, at least 1; set by the caller */
		size_t count;	 /* set by next_groups(): 0 at the end */
	} HgGroupRecords;

	/* What start() begins ahead of the calls for it. */
	typedef enum HgAhead
	{
		HG_AHEAD_BUILD = 0,
		HG_AHEAD_MATCH, /* build, unless it was called before, and then match */
		HG_AHEAD_COUNT, /* the same with count */
		HG_AHEAD_REDUCE /* the same with reduce */
	} HgAhead;

	/* Phases that the time of a job is divided into. */
	typedef enum HgPhase
	{
		HG_PHASE_TRANSFER = 0, /* keys to the device */
		HG_PHASE_BIN,		   /* into bins (build v2) */
		HG_PHASE_BUILD,		   /* count, prefix sum, scatter */
		HG_PHASE_MATCH, /* probe or intersect, reduce; transfer of pairs or groups to the host */
		HG_PHASE_COUNT	/* number of phases, not a phase */
	} HgPhase;

	/* Statistics of a job: stats() fills them at any time after open. */
	typedef struct HgJobStats
	{
		/* By HgSide; in a shared job of this participant, with participants_id of all of them. */
		uint64_t rows[2];
		uint64_t null_keys[2]; /* likewise: rows of pages that were left out only because their key
								* is NULL */

		/*
		 * V, of both graphs.  If the keys are the vertices: the size of the range from the least
		 * inner key to the greatest.  0 before build, and after it in a streamed job for which
		 * build made nothing.
		 */
		uint64_t vertices;
		uint64_t bins; /* 1 without bins; 0 before build */

		/*
		 * Number of pieces that the job was divided into because memory did not hold it whole, or
		 * of shards. 1 if it ran whole; 0 before build.
		 */
		uint64_t passes;
		HgBuildAlgorithm build; /* the choice; never AUTO after build */
		HgProbeAlgorithm probe;
		HgTableKind table; /* with HG_BUILD_TABLE: the kind; vertices then counts its slots */

		/*
		 * Pairs that next(), count() or reduce() have returned so far.  An engine on the host also
		 * includes those of a count() in progress.
		 */
		uint64_t matches;

		/* Key comparisons so far; 0 if keys are vertices, and for tables. */
		uint64_t comparisons;

		/*
		 * Intersect: pairs of non-empty lists visited.  Standard: probes of a non-empty list; for
		 * a table, probes that found a row.
		 */
		uint64_t intersections;
		uint64_t exchanged;	 /* rows of both sides that moved from one shard to another */
		uint64_t sent;		 /* rows of exchanged that one shard sent to another directly */
		uint64_t peak_bytes; /* most memory held at a time: device memory for cuda */
		double phase_ms[HG_PHASE_COUNT];
	} HgJobStats;

	/* Statistics of one built HashGraph: describe() walks the graph to fill them. */
	typedef struct HgGraphStats
	{
		uint64_t vertices;
		uint64_t edges;
		uint64_t empty_vertices;
		uint64_t longest_list;
		uint64_t distinct_keys;
		uint64_t bytes; /* of offsets and edges */
	} HgGraphStats;

	typedef struct HgJob HgJob; /* private to the engine */
	typedef struct HgEngine HgEngine;

	/* The calls of every engine on its jobs. */
	typedef struct HgJoinCalls
	{
		/*
		 * Adds count keys of spec.key_width bytes each (native byte order) to a side.  Their row
		 * numbers follow those of the rows that the side already has.  The array belongs to the
		 * caller, which keeps it in place and unchanged until close.  HG_TOO_MANY_ROWS past
		 * HG_MAX_ROWS.
		 */
		HgStatus (*append)(HgJob *job, HgSide side, const void *keys, uint64_t count,
						   HgError *error);

		/*
		 * Appends keys whose row numbers are first_row and following.  Numbers need not be
		 * dense or in order.  No two rows of a side may have the same number, and none may reach
		 * HG_MAX_ROWS: HG_TOO_MANY_ROWS.  A job uses either append or append_rows; a shared job
		 * uses append_rows.  HG_INVALID without HG_CAN_NUMBER.
		 */
		HgStatus (*append_rows)(HgJob *job, HgSide side, const void *keys, uint64_t count,
								uint64_t first_row, HgError *error);

		/*
		 * Prepares what the probe needs: the HashGraphs of both sides for intersect, of the inner
		 * side for standard.  With bins an engine may build the graphs later, while it returns
		 * matches.  No rows can be appended afterwards.  Both sides have the same number of
		 * vertices (hg_shape.h says how it is chosen).  In a shared job it waits for the other
		 * participants.
		 */
		HgStatus (*build)(HgJob *job, HgError *error);

		/*
		 * Starts the stream of matches, or restarts it from the beginning.  A shared job has one
		 * stream, and only one call of match or count: further calls answer HG_INVALID.
		 */
		HgStatus (*match)(HgJob *job, HgMatchMode mode, HgError *error);

		/*
		 * Returns the next matches, at most matches->capacity; count is 0 at the end.  All matches
		 * of one outer row follow each other in the stream; apart from that the order is the
		 * engine's.  In a shared job it returns the matches of the work that this participant
		 * took, and of an outer row all or none.  HG_INVALID if values are requested of a column
		 * that the job does not have.
		 */
		HgStatus (*next)(HgJob *job, HgMatches *matches, HgError *error);

		/*
		 * Sets *matches to the number of matches of a mode; no pair is written.  In a shared job
		 * this is the number for the work that this participant took.  It ends a stream.
		 */
		HgStatus (*count)(HgJob *job, HgMatchMode mode, uint64_t *matches, HgError *error);

		/* Describes a side's graph; ends a stream.  HG_INVALID without a graph or if shared. */
		HgStatus (*describe)(HgJob *job, HgSide side, HgGraphStats *stats, HgError *error);

		/*
		 * Copies the graph of a side out: offsets[vertices + 1], edge_keys[rows] of key_width
		 * bytes each, edge_rows[rows].  HG_INVALID if build made no graph, and in a shared job.
		 * It ends a stream.
		 */
		HgStatus (*export_graph)(HgJob *job, HgSide side, uint32_t *offsets, void *edge_keys,
								 uint32_t *edge_rows, HgError *error);

		/* Returns the statistics of the job so far.  Never fails; unknown values are 0. */
		void (*stats)(HgJob *job, HgJobStats *stats);

		/* Frees the job, whatever state it is in.  Never fails or waits long. */
		void (*close)(HgJob *job);
	} HgJoinCalls;

/* The table of an interface whose functions are named after its calls, with a prefix. */
#define HG_JOIN_CALLS(prefix)                                                                      \
	{                                                                                              \
		.append = prefix##_append, .append_rows = prefix##_append_rows, .build = prefix##_build,   \
		.match = prefix##_match, .next = prefix##_next, .count = prefix##_count,                   \
		.describe = prefix##_describe, .export_graph = prefix##_export_graph,                      \
		.stats = prefix##_stats, .close = prefix##_close                                           \
	}

	/* Columns beside the keys, and groups of the matches. */
	typedef struct HgColumnCalls
	{
		/*
		 * Sets the values of a column of a side for count rows from first_row on, whose keys have
		 * been appended.  Values have the column's width; nulls[count] are bytes, not 0 where the
		 * value is NULL, and NULL if no value is.  Each row gets its value of each column once, in
		 * any order, and all before build: HG_INVALID.  The arrays may be reused when the call
		 * returns.
		 */
		HgStatus (*append_column)(HgJob *job, HgSide side, uint32_t column, const void *values,
								  const uint8_t *nulls, uint64_t count, uint64_t first_row,
								  HgError *error);

		/*
		 * Groups all matches of a mode and sets *groups to the number of groups; next_groups
		 * returns their records.  HG_TOO_MANY_GROUPS is an answer, not a failure: the job is
		 * unchanged, and its matches can still be read.  It ends a stream.  In a shared job of
		 * several connections the first one to call it gets all groups, and the others get 0.
		 */
		HgStatus (*reduce)(HgJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
						   HgError *error);

		/* Returns the next records, at most records->capacity; HG_INVALID without reduce. */
		HgStatus (*next_groups)(HgJob *job, HgGroupRecords *records, HgError *error);
	} HgColumnCalls;

#define HG_COLUMN_CALLS(prefix)                                                                    \
	{                                                                                              \
		.append_column = prefix##_append_column, .reduce = prefix##_reduce,                        \
		.next_groups = prefix##_next_groups                                                        \
	}

	/* An engine that works while its caller does something else. */
	typedef struct HgAheadCalls
	{
		/*
		 * Begins the work of the next calls on the job and returns at once: build, if it was not
		 * called yet, and then match, count or reduce of mode.  spec is the spec of reduce, and
		 * ignored otherwise.  The calls themselves must follow; they return the results. Meanwhile
		 * the caller can work on other jobs of the engine, whose requests queue behind this one.
		 */
		HgStatus (*start)(HgJob *job, HgAhead ahead, HgMatchMode mode, const HgReduceSpec *spec,
						  HgError *error);
	} HgAheadCalls;

	/* An engine that works in its caller's thread: shared jobs (hg_shared_job.h), streamed jobs. */
	typedef struct HgLocalCalls
	{
		/*
		 * Makes the job one participant's part of a shared job, after open and before the first
		 * row.
		 */
		HgStatus (*share)(HgJob *job, const HgParticipants *participants, HgError *error);

		/*
		 * Replaces the outer rows of a streamed job that is built by these count rows, numbered
		 * from 0.  The array belongs to the caller, which keeps it in place until the next renew or
		 * close.  The call costs some hundred instructions at most, so batches can be small enough
		 * for the nearest cache.  It ends a stream.  HG_INVALID if build made nothing.
		 */
		HgStatus (*renew)(HgJob *job, const void *keys, uint64_t count, HgError *error);

		/*
		 * Gives a streamed job with outer_only all of its inner keys as a bitmap, before build and
		 * in place of append.  The bits belong to the caller, which keeps them in place until
		 * close.
		 */
		HgStatus (*append_bits)(HgJob *job, const HgKeyBitmap *bitmap, HgError *error);
	} HgLocalCalls;

#define HG_LOCAL_CALLS(prefix)                                                                     \
	{                                                                                              \
		.share = prefix##_share, .renew = prefix##_renew, .append_bits = prefix##_append_bits      \
	}

	/* What an engine can do beside the interfaces that it has: bits of HgEngine.can. */
	typedef enum HgCapability
	{
		HG_CAN_NUMBER = 1, /* append_rows */
		HG_CAN_FILTER = 2  /* graph replicas can have filters (HgReplicaSource.filters) */
	} HgCapability;

	/*
	 * An engine: its interfaces, first in an implementation's own struct.  NULL is an interface
	 * that it does not have; an interface that is there is complete.  open answers HG_INVALID to a
	 * spec that needs one that is not.
	 */
	struct HgEngine
	{
		const char *name; /* "cpu" or "cuda" */
		uint32_t can;	  /* bits of HgCapability */

		/* Starts a job.  host must outlive it.  *job is set on HG_OK only. */
		HgStatus (*open)(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job,
						 HgError *error);

		const HgJoinCalls *join; /* never NULL */
		const HgColumnCalls *columns;
		const HgAheadCalls *ahead;
		const HgLocalCalls *local;
		const struct HgPageCalls *pages;		/* hg_pages.h: sides that come as pages */
		const struct HgBroughtCalls *brought;	/* hg_pages.h: pages that are copied out of turn */
		const struct HgStoreCalls *store;		/* hg_replica.h: making replicas */
		const struct HgMaskCalls *masks;		/* hg_replica.h: sides that are graph replicas */
		const struct HgExchangeCalls *exchange; /* hg_exchange.h: shards */
		const struct HgWindowCalls *windows;	/* hg_peer_window.h: shards send rows directly */
		const struct HgMeasureCalls *measure;	/* hg_table_measure.h: tables to measure */
	};

	/* Allocates memory of the host.  On failure *ptr is NULL. */
	extern HgStatus hg_host_memory_alloc(const HgHost *host, uint64_t bytes, void **ptr,
										 HgError *error);

	/* Frees memory of the host; NULL is allowed. */
	extern void hg_host_memory_free(const HgHost *host, void *ptr, uint64_t bytes);

	/*
	 * Returns HG_OK, or HG_OUT_OF_MEMORY if bytes in addition to held bytes would exceed limit.  A
	 * limit of 0 is none.
	 */
	extern HgStatus hg_host_memory_check(uint64_t limit, uint64_t held, uint64_t bytes,
										 HgError *error);

	/* Returns HG_OK, or HG_CANCELLED if the host's cancelled() is true. */
	extern HgStatus hg_host_check_cancel(const HgHost *host, HgError *error);

	/* Returns milliseconds of a monotonic clock. */
	extern double hg_clock_ms(void);

	/* Return names as users write them, such as "v1", "auto" and "intersect"; or "unknown". */
	extern const char *hg_build_name(HgBuildAlgorithm build);
	extern const char *hg_probe_name(HgProbeAlgorithm probe);

#ifdef __cplusplus
}
#endif

#endif /* HG_ENGINE_H */
