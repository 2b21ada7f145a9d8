/*-------------------------------------------------------------------------
 *
 * hg_replica.h
 *	  Replicas: HashGraphs and columns in an engine's memory that outlive the jobs that use them.
 *
 * A job of hg_engine.h builds its graphs from keys that it is given, and frees them at its end.  A
 * REPLICA is a graph made by a job of its own.  It lives until its owner releases it.  Other jobs
 * use it as one of their sides, or as both, as it is: no key of it is sent, binned or moved again.
 *
 * MAKING ONE (HG_PRODUCT_GRAPH)
 *
 *	open -> put_edges* -> build -> take_replica -> close
 *
 * JOINING (HG_SOURCE_REPLICA)
 *
 *	open -> { append* (a side without replica), mask* (one with) } -> build -> match ... as ever
 *
 * KEYS are signed integers of 4 or 8 bytes, and are compared as such: a graph with keys of 4 bytes
 * joins one with keys of 8, and appended keys of either width.  ROWS have the numbers that they
 * are put with, which matches return.  The numbers are below parts << HG_FLAT_ROW_BITS (hg_flat.h)
 * and HG_MAX_ROWS, and distinct.  build answers HG_INVALID if a number is too large.
 *
 * COLUMNS of a graph's rows are replicas too, each by itself.  A row has an ORDINAL in them: its
 * part times a STRIDE, plus its number in the part.  The stride is at least the number of rows of
 * each part.
 *
 *	open (HG_PRODUCT_COLUMN) -> put_values* -> build -> take_replica -> close
 *
 * A job that has the graph as a side names the columns that it reads (HgReplicaSource.columns).
 * They all have one stride, the computed ones (hg_computed.h) too.  open answers HG_INVALID if a
 * row of the graph has no ordinal because its number in its part is not below the stride.  After
 * open, columns can therefore be read for each row of the graph without a check.
 *
 * MASKS.  Some rows of a graph replica may not count in a job.  A bit for each row number says
 * which do, in 64-bit words: bit r % 64 of word r / 64.  FILTERS over columns (hg_row_filter.h)
 * can also select rows; build applies them to the masks before any lookup.
 *
 * LOOKUPS.  Rows of a side that is a graph replica can look up rows of other replicas, by other
 * keys than the side's.  Rows that were found can look up further rows, so that one job does a
 * star or snowflake of joins.  The lookup's own graph has the rows that look up, by the key that
 * they use for it.  A row that is not in this graph, because its key is NULL, finds nothing.
 * Columns of rows that were found become columns of the side (HgReplicaColumnUse.lookup).
 *
 *	open (HgReplicaSource.lookups) -> mask* (of the side and of what is looked up) -> build -> ...
 *
 * build does one lookup after the other, for all rows of the side that count.  These are the rows
 * of the mask, whether the side's graph has them or not, that have found a row in each lookup
 * before, except in lookups that also keep unmatched rows.  If the row that is to look up was
 * itself not found, it finds nothing.  If a row that counts would find two rows that count, build
 * answers HG_NOT_UNIQUE, after which only close is allowed.  At the end the side's mask says which
 * rows it has.  Phases after build know nothing of lookups, except that columns have other
 * ordinals.
 *
 * NAMES.  Between processes a replica has a name, which is never given twice.  A session sends the
 * name; the device process has a replica of that name or answers HG_NO_REPLICA.
 *
 * PARTITIONS.  If a graph is too large for one device, several devices have a replica of one
 * partition each, with a name of its own (hg_partitioning.h).  Dropping the graph by name drops
 * its partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_REPLICA_H
#define HG_REPLICA_H

#include "hg_engine.h"
#include "hg_flat.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct HgReplicaName
	{
		uint64_t epoch;		/* random; identifies the memory that the graph was made from */
		uint64_t serial;	/* of the graph in that memory; 0: no replica */
		uint32_t column;	/* 0: the graph itself; else a column of its rows */
		uint32_t partition; /* 0: all of it; else one of its partitions (hg_partitioning.h) */
	} HgReplicaName;

/*
 * Names of replicas that a job needs and a device does not have: the first few, followed by a
 * name with serial 0.  An empty list means that any replica of the job may be missing.
 */
#define HG_MAX_MISSING_REPLICAS 8

	typedef struct HgMissingReplicas
	{
		HgReplicaName names[HG_MAX_MISSING_REPLICAS];
	} HgMissingReplicas;

	/* Returns true if a replica may be missing; for a partition any partition of it counts. */
	static inline bool
	hg_replica_is_missing(const HgMissingReplicas *missing, const HgReplicaName *name)
	{
		if (missing->names[0].serial == 0)
			return true;
		for (int i = 0; i < HG_MAX_MISSING_REPLICAS && missing->names[i].serial != 0; i++)
		{
			const HgReplicaName *lost = &missing->names[i];

			if (lost->epoch == name->epoch && lost->serial == name->serial &&
				lost->column == name->column && (lost->partition != 0) == (name->partition != 0))
				return true;
		}
		return false;
	}

	typedef struct HgReplicaShape
	{
		uint32_t key_width; /* bytes of a key as it is put: 4 or 8 */
		uint32_t parts;		/* 1 .. HG_FLAT_PARTS */
		uint64_t rows;		/* below HG_MAX_ROWS */
	} HgReplicaShape;

	typedef struct HgReplicaColumnShape
	{
		uint32_t width;	 /* bytes of a value: 1, 2, 4 or 8 */
		uint32_t parts;	 /* 1 .. HG_FLAT_PARTS */
		uint32_t stride; /* 1 .. 1 << HG_FLAT_ROW_BITS */
		uint32_t unused; /* 0 */
	} HgReplicaColumnShape;

	/* A new graph replica (HG_PRODUCT_GRAPH). */
	typedef struct HgReplicaSpec
	{
		HgReplicaName name; /* ignored by engines that hold replicas for others */
		HgReplicaShape shape;
	} HgReplicaSpec;

	/* A replica that a job uses as a side (HG_SOURCE_REPLICA). */
	typedef struct HgReplicaUse
	{
		HgReplicaName name;
		HgReplicaShape shape; /* the replica's shape; one of another shape counts as missing */
		uint32_t masked;	  /* not 0: mask() will be called */
		uint32_t unused;	  /* 0 */
		HgReplica *graph;	  /* the engine's; NULL in a session, which has only the name */
	} HgReplicaUse;

	/* A new column replica (HG_PRODUCT_COLUMN), and one that a job reads. */
	typedef struct HgReplicaColumnSpec
	{
		HgReplicaName name;
		HgReplicaColumnShape shape;
	} HgReplicaColumnSpec;

	typedef struct HgReplicaColumnUse
	{
		HgReplicaName name;
		HgReplicaColumnShape shape; /* the column's shape; one of another shape counts as missing */

		/* 0: of the side's rows; n: of the rows that lookup n - 1 finds, or NULL. */
		uint32_t lookup;

		/* 0: a replica; n: without a name, computed by the side's program n - 1. */
		uint32_t program;
		HgReplica *column; /* the engine's; NULL in a session, and if computed */
	} HgReplicaColumnUse;

	/*
	 * A lookup by rows of a side (HgReplicaSource.lookups).  All columns and lookups of the rows
	 * that look up use the same stride for their ordinals.
	 */
	typedef struct HgReplicaLookup
	{
		/* 0: rows of the side look up; n: rows found by lookup n - 1, an earlier one. */
		uint32_t from;
		uint32_t unmatched;	   /* not 0: a row that finds nothing counts nevertheless */
		uint32_t stride;	   /* of the ordinals of rows that look up */
		uint32_t found_stride; /* of the ordinals of rows that are looked up */
		HgReplicaUse own;	   /* rows that look up, by the key of the lookup; never masked */
		HgReplicaUse found;	   /* rows that are looked up */
	} HgReplicaLookup;

/* Values in place of the ordinal of a row that was found: no row, or more than one. */
#define HG_FOUND_NONE UINT32_MAX
#define HG_FOUND_TWO (UINT32_MAX - 1)

	/* Returns the ordinal of a row in the columns of its graph. */
	static inline uint64_t
	hg_replica_ordinal(uint32_t stride, uint32_t row)
	{
		return (uint64_t) HG_FLAT_PART(row) * stride + HG_FLAT_NUMBER(row);
	}

	/* Returns true if two columns have the same shape. */
	static inline bool
	hg_replica_column_shape_equal(const HgReplicaColumnShape *a, const HgReplicaColumnShape *b)
	{
		return a->width == b->width && a->parts == b->parts && a->stride == b->stride;
	}

	/* Returns true if the job makes a replica. */
	static inline bool
	hg_replica_is_made(const HgJobSpec *spec)
	{
		return spec->product.kind == HG_PRODUCT_GRAPH || spec->product.kind == HG_PRODUCT_COLUMN;
	}

	/* Returns the name of the replica that the job makes. */
	static inline const HgReplicaName *
	hg_replica_made_name(const HgJobSpec *spec)
	{
		return spec->product.kind == HG_PRODUCT_COLUMN ? &spec->product.column->name
													   : &spec->product.graph->name;
	}

	/* Returns the number of ordinals of a column. */
	static inline uint64_t
	hg_replica_ordinals(const HgReplicaColumnShape *shape)
	{
		return (uint64_t) shape->parts * shape->stride;
	}

	/* Returns true if two names are equal. */
	static inline bool
	hg_replica_name_equal(const HgReplicaName *a, const HgReplicaName *b)
	{
		return a->epoch == b->epoch && a->serial == b->serial && a->column == b->column &&
			   a->partition == b->partition;
	}

	/* Return true if the name can be a graph's, or a column's. */
	static inline bool
	hg_replica_is_graph(const HgReplicaName *name)
	{
		return name->serial != 0 && name->column == 0;
	}

	static inline bool
	hg_replica_is_column(const HgReplicaName *name)
	{
		return name->serial != 0 && name->column != 0;
	}

	/* Returns true if two graphs have the same shape. */
	static inline bool
	hg_replica_shape_equal(const HgReplicaShape *a, const HgReplicaShape *b)
	{
		return a->key_width == b->key_width && a->parts == b->parts && a->rows == b->rows;
	}

	/* Returns true if the job makes a replica or has one as a side. */
	static inline bool
	hg_replica_is_used(const HgJobSpec *spec)
	{
		return spec->product.kind == HG_PRODUCT_GRAPH || spec->product.kind == HG_PRODUCT_COLUMN ||
			   spec->sides[HG_OUTER].kind == HG_SOURCE_REPLICA ||
			   spec->sides[HG_INNER].kind == HG_SOURCE_REPLICA;
	}

	/* Returns the upper bound, exclusive, of a graph's row numbers. */
	static inline uint64_t
	hg_replica_rows_end(const HgReplicaShape *shape)
	{
		const uint64_t end = (uint64_t) shape->parts << HG_FLAT_ROW_BITS;

		return end < HG_MAX_ROWS ? end : HG_MAX_ROWS;
	}

	/* Returns the words of a mask over all row numbers that a graph can have. */
	static inline uint64_t
	hg_replica_mask_words(const HgReplicaShape *shape)
	{
		return (uint64_t) shape->parts << (HG_FLAT_ROW_BITS - 6);
	}

	/* Returns the least bytes that the graph or column needs which a job makes. */
	extern uint64_t hg_replica_least_bytes(const HgJobSpec *spec);

	/* Check a shape.  Return HG_OK, HG_INVALID with an explanation, or HG_TOO_MANY_ROWS. */
	extern HgStatus hg_replica_check(const HgReplicaShape *shape, HgError *error);
	extern HgStatus hg_replica_column_check(const HgReplicaColumnShape *shape, HgError *error);

	/* The calls that make replicas. */
	typedef struct HgStoreCalls
	{
		/*
		 * For a job that makes a graph: adds count edges to its graph; keys[i], of the shape's
		 * key width, is the key of row rows[i].  Edges may come in any order; the arrays may be
		 * reused when the call returns.  HG_INVALID if there are more edges than the shape has
		 * rows; build answers it if there are fewer.
		 */
		HgStatus (*put_edges)(HgJob *job, const void *keys, const uint32_t *rows, uint64_t count,
							  HgError *error);

		/*
		 * For a job that makes a column: sets the values of count ordinals from first_ordinal on.
		 * nulls[count] are bytes, not 0 where the value is NULL, and NULL if no value is.
		 * Ordinals without a value are undefined.  HG_INVALID if the ordinals go beyond the
		 * column; nothing is set then.
		 */
		HgStatus (*put_values)(HgJob *job, const void *values, const uint8_t *nulls, uint64_t count,
							   uint64_t first_ordinal, HgError *error);

		/*
		 * Takes the replica out of a built job that makes one, and returns how many bytes it
		 * holds.  The caller owns it until it calls release.  An engine that knows the replica by
		 * its name sets *graph to NULL; there is nothing to release then.
		 */
		HgStatus (*take_replica)(HgJob *job, HgReplica **graph, uint64_t *bytes, HgError *error);

		/* Releases a replica that no job uses.  Never fails or waits long. */
		void (*release)(HgEngine *engine, HgReplica *graph);
	} HgStoreCalls;

#define HG_STORE_CALLS(prefix)                                                                     \
	{                                                                                              \
		.put_edges = prefix##_put_edges, .put_values = prefix##_put_values,                        \
		.take_replica = prefix##_take_replica, .release = prefix##_release                         \
	}

	/* The call for sides that are graph replicas. */
	typedef struct HgMaskCalls
	{
		/*
		 * For a side that is a graph replica, before build: sets count words of the mask of rows
		 * that count, from first_word on.  words NULL means that all of them are 0.  Rows of
		 * words that were never set count.  The array may be reused when the call returns.  lookup
		 * is 0 for the side itself, or n for the graph that lookup n - 1 of the side looks rows up
		 * in.
		 */
		HgStatus (*mask)(HgJob *job, HgSide side, uint32_t lookup, uint64_t first_word,
						 uint64_t count, const uint64_t *words, HgError *error);
	} HgMaskCalls;

	/*
	 * Sides of jobs that are graph replicas: strides of ordinals, masks, and checks.
	 *
	 * These functions look at all that a job says of a side: its columns, lookups and filters
	 * (hg_row_filter.h).
	 */

	/* Returns the stride of the ordinals of a side's own rows; 0 if the job uses no ordinals. */
	extern uint32_t hg_replica_side_stride(const HgJobSpec *spec, HgSide side);

	/*
	 * Returns true if the job has a mask, given or made by a filter, of the rows of a side (lookup
	 * 0) or of the rows that lookup - 1 looks up.
	 */
	extern bool hg_replica_is_masked(const HgJobSpec *spec, HgSide side, uint32_t lookup);

	/* Returns true if a row of the side that finds nothing in some lookup does not count. */
	static inline bool
	hg_replica_lookups_drop(const HgJobSpec *spec, HgSide side)
	{
		const HgReplicaSource *replica = hg_side_replica(spec, side);

		for (uint32_t i = 0; i < replica->nlookups; i++)
			if (replica->lookups[i].unmatched == 0)
				return true;
		return false;
	}

	/*
	 * Checks that a graph replica can be a side, with its columns, lookups and filters.  Returns
	 * HG_OK, or HG_INVALID with an explanation.
	 */
	extern HgStatus hg_replica_side_check(const HgJobSpec *spec, HgSide side, HgError *error);

	/*
	 * Checks that each row of a side that is a graph replica has an ordinal in its columns and
	 * lookups. numbers is the upper bound, exclusive, of its rows' numbers in their parts.  The
	 * spec has passed hg_spec_check.  Returns HG_OK or HG_INVALID.
	 */
	extern HgStatus hg_replica_ordinals_check(const HgJobSpec *spec, HgSide side, uint32_t numbers,
											  HgError *error);

	/* Checks that the rows of both graphs of a lookup have ordinals in its columns. */
	extern HgStatus hg_replica_lookup_ordinals_check(const HgReplicaLookup *lookup,
													 uint32_t own_numbers, uint32_t found_numbers,
													 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_REPLICA_H */
