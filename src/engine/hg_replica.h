/*-------------------------------------------------------------------------
 *
 * hg_replica.h
 *	  Replicas: HashGraphs and columns in the memory of an engine, which outlive the jobs that join
 *	  them.
 *
 * A job of hg_engine.h builds its graphs of keys that it is given, and they end with it.  A REPLICA
 * is a graph that a job of its own has made.  It lives until its owner releases it.  Other jobs use
 * it as one of their sides, or as both, as it is: no key of it is sent, binned or moved again.
 *
 * MAKING ONE (HgJobSpec.new_replica)
 *
 *	open -> put_edges* -> build -> take_replica -> close
 *
 * JOINING (HgJobSpec.replica)
 *
 *	open -> { append* (a side that has none), mask* (one that has) } -> build -> match ... as ever
 *
 * KEYS are signed integers of 4 or 8 bytes, and are compared as such: a graph of keys of 4 bytes
 * meets one of 8, and appended keys of either width.  ROWS have the numbers that they are put with,
 * each below parts << HG_FLAT_ROW_BITS (hg_flat.h) and HG_MAX_ROWS, and no two the same: that is
 * what matches tell.  build answers HG_INVALID where one is not below.
 *
 * COLUMNS of a graph's rows are replicas as well, each by itself.  A row has an ORDINAL in them:
 * its part times a STRIDE, which no part has more rows than, and its number in the part.
 *
 *	open (HgJobSpec.new_column) -> put_values* -> build -> take_replica -> close
 *
 * A job that has the graph for a side names those that it reads (HgJobSpec.replica_columns).  They
 * are all of one stride, also those that are computed (hg_computed.h).  open answers HG_INVALID
 * where a row of the graph has no ordinal, its number in its part not being below the stride:
 * behind open each row that the graph has can be looked up as it is.
 *
 * MASKS. Some rows of a graph replica may not count in a job: a bit for each row number says which
 * do, in 64-bit words, bit r % 64 of word r / 64.  Or what its columns have says so: FILTERS
 * (hg_row_filter.h), which build applies to the masks before anything is looked up.
 *
 * LOOKUPS. Rows of a side that is a graph replica can look up rows of other replicas on the way, by
 * other keys than that of the side.  The rows that were found can look up others: a star or a
 * snowflake of joins is one job then.  An own graph has the rows that look up, by the key which
 * they do it with; a row that it has not, its key being NULL, finds nothing.  Columns of what was
 * found become columns of the side (HgReplicaColumnUse.lookup).
 *
 *	open (HgJobSpec.lookups) -> mask* (of the side and of what is looked up) -> build -> ...
 *
 * build does one lookup after the other, for all rows of the side that count: those that the mask
 * says, whether the side's graph has them or not, and that have found a row in each lookup before,
 * but where they need not.  A row that is to look up and was not found itself finds nothing.  Where
 * a row that counts would find two rows that do, build answers HG_NOT_UNIQUE, after which only
 * close is left.  Which rows the side has is told by its mask from then on: what is behind build
 * knows nothing of lookups, but that columns have other ordinals.
 *
 * NAMES. Between processes a replica has a name.  The process that gives names never gives the same
 * name twice.  It is what a session sends; the device process has the graph of that name or answers
 * HG_NO_REPLICA. Nothing is ever answered from one of another name.
 *
 * Where a graph is too large for one device, several devices have a replica of a PARTITION each,
 * which has a name of its own (hg_partitioning.h).  They go with the graph where that is dropped by
 * its name.
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
		uint64_t epoch;		/* random, of the memory that the graph was made from */
		uint64_t serial;	/* of the graph in it; 0: none */
		uint32_t column;	/* 0: the graph itself; else a column of its rows */
		uint32_t partition; /* 0: all of it; else one of its partitions (hg_partitioning.h) */
	} HgReplicaName;

	/*
	 * Names of what a device has not of what a job names: the first of them.  Behind the last one
	 * is a serial of 0.  Where there are none it may be any of all.
	 */
#define HG_MAX_MISSING_REPLICAS 8

	typedef struct HgMissingReplicas
	{
		HgReplicaName names[HG_MAX_MISSING_REPLICAS];
	} HgMissingReplicas;

	/* Is that missing, or a partition of it where the name is a partition's? */
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
		uint32_t key_width; /* bytes of a key, as it is put: 4 or 8 */
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

	/* A new graph replica (HgJobSpec.new_replica). */
	typedef struct HgReplicaSpec
	{
		HgReplicaName name; /* where it has one: engines that hold replicas for others ignore it */
		HgReplicaShape shape;
	} HgReplicaSpec;

	/* A replica that a job uses as a side (HgJobSpec.replica). */
	typedef struct HgReplicaUse
	{
		HgReplicaName name;
		HgReplicaShape shape; /* which it has, or else there is none of that name */
		uint32_t masked;	  /* not 0: mask() will be called */
		uint32_t unused;	  /* 0 */
		HgReplica *graph;	  /* the engine's; NULL in a session, which has the name alone */
	} HgReplicaUse;

	/* A new column replica (HgJobSpec.new_column), and one that a job reads. */
	typedef struct HgReplicaColumnSpec
	{
		HgReplicaName name;
		HgReplicaColumnShape shape;
	} HgReplicaColumnSpec;

	typedef struct HgReplicaColumnUse
	{
		HgReplicaName name;
		HgReplicaColumnShape shape; /* which it has, or else there is none of that name */
		uint32_t lookup;   /* 0: of the side's own rows; else of what they have found in the
							* lookup of this number, less 1, or NULL where that is nothing */
		uint32_t program;  /* 0: it is a replica; else it has no name, and is computed by the
							* side's program of this number, less 1, for its own rows */
		HgReplica *column; /* the engine's; NULL in a session, and of a computed one */
	} HgReplicaColumnUse;

	/*
	 * What rows of a side look up (HgJobSpec.lookups).  The rows that do have ordinals, of which
	 * all columns and lookups of theirs know by the same stride.
	 */
	typedef struct HgReplicaLookup
	{
		uint32_t from;		   /* 0: rows of the side look it up; else those that they have found in
								* the lookup of this number, less 1, which is one before */
		uint32_t unmatched;	   /* not 0: a row that finds nothing counts all the same */
		uint32_t stride;	   /* of the ordinals of the rows that look up */
		uint32_t found_stride; /* and of those that are looked up */
		HgReplicaUse own;	   /* the rows that look up, by the key they do it with: never masked */
		HgReplicaUse found;	   /* those that are looked up */
	} HgReplicaLookup;

	/* In place of the ordinal of a row that was found: none was, or more than one. */
#define HG_FOUND_NONE UINT32_MAX
#define HG_FOUND_TWO (UINT32_MAX - 1)

	/* The ordinal of a row in the columns of its graph. */
	static inline uint64_t
	hg_replica_ordinal(uint32_t stride, uint32_t row)
	{
		return (uint64_t) HG_FLAT_PART(row) * stride + HG_FLAT_NUMBER(row);
	}

	static inline bool
	hg_replica_column_shape_equal(const HgReplicaColumnShape *a, const HgReplicaColumnShape *b)
	{
		return a->width == b->width && a->parts == b->parts && a->stride == b->stride;
	}

	/* True if the job makes a replica. */
	static inline bool
	hg_replica_is_made(const HgJobSpec *spec)
	{
		return spec->new_replica != NULL || spec->new_column != NULL;
	}

	/* And what that goes by. */
	static inline const HgReplicaName *
	hg_replica_made_name(const HgJobSpec *spec)
	{
		return spec->new_column != NULL ? &spec->new_column->name : &spec->new_replica->name;
	}

	/* Ordinals that a column has. */
	static inline uint64_t
	hg_replica_ordinals(const HgReplicaColumnShape *shape)
	{
		return (uint64_t) shape->parts * shape->stride;
	}

	static inline bool
	hg_replica_name_equal(const HgReplicaName *a, const HgReplicaName *b)
	{
		return a->epoch == b->epoch && a->serial == b->serial && a->column == b->column &&
			   a->partition == b->partition;
	}

	/* Can a graph have that name?  And a column? */
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

	static inline bool
	hg_replica_shape_equal(const HgReplicaShape *a, const HgReplicaShape *b)
	{
		return a->key_width == b->key_width && a->parts == b->parts && a->rows == b->rows;
	}

	/* True if the job makes a replica or has one as a side. */
	static inline bool
	hg_replica_is_used(const HgJobSpec *spec)
	{
		return spec->new_replica != NULL || spec->new_column != NULL ||
			   spec->replica[HG_OUTER] != NULL || spec->replica[HG_INNER] != NULL;
	}

	/* What all row numbers of a graph are below. */
	static inline uint64_t
	hg_replica_rows_end(const HgReplicaShape *shape)
	{
		const uint64_t end = (uint64_t) shape->parts << HG_FLAT_ROW_BITS;

		return end < HG_MAX_ROWS ? end : HG_MAX_ROWS;
	}

	/* Words of a mask over all row numbers that a graph can have. */
	static inline uint64_t
	hg_replica_mask_words(const HgReplicaShape *shape)
	{
		return (uint64_t) shape->parts << (HG_FLAT_ROW_BITS - 6);
	}

	/* What a graph, or a column, that a job is there to make takes at least, in bytes. */
	extern uint64_t hg_replica_least_bytes(const HgJobSpec *spec);

	/* Checks that a shape is valid. Returns HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_replica_check(const HgReplicaShape *shape, HgError *error);
	extern HgStatus hg_replica_column_check(const HgReplicaColumnShape *shape, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_REPLICA_H */
