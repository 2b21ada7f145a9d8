/*-------------------------------------------------------------------------
 *
 * hg_kept.h
 *	  Kept graphs: HashGraphs in the memory of an engine, which outlive the jobs that join them.
 *
 * A job of hg_engine.h builds its graphs of keys that it is given, and they end with it.  A graph
 * can also be made by a job that is there for nothing else, and is then KEPT by whoever has asked
 * for it, until he lets go of it.  Other jobs have it for one of their sides, or for both, as it
 * is: no key of it is sent, binned or moved again.
 *
 * MAKING ONE (HgJobSpec.keep)
 *
 *	open -> put_edges* -> build -> keep -> close
 *
 * JOINING (HgJobSpec.kept)
 *
 *	open -> { append* (a side that has none), mask* (one that has) } -> build -> match ... as ever
 *
 * KEYS are signed integers of 4 or 8 bytes, and are compared as such: a graph of keys of 4 bytes
 * meets one of 8, and appended keys of either width.  ROWS have the numbers that they are put with,
 * each below parts << HG_FLAT_ROW_BITS (hg_flat.h) and HG_MAX_ROWS, and no two the same: that is
 * what matches tell.  build answers HG_INVALID where one is not below.
 *
 * COLUMNS of a graph's rows can be kept beside it, each by itself.  A row has a PLACE in them: its
 * part times a STRIDE, which no part has more rows than, and its number in the part.
 *
 *	open (HgJobSpec.keep_column) -> put_values* -> build -> keep -> close
 *
 * A job that has the graph for a side names those that it reads (HgJobSpec.kept_columns).
 * They are all of one stride, also those that are computed (hg_computed.h).  open answers
 * HG_INVALID where a row of the graph has no place, its number in its part not being below the
 * stride: behind open each row that the graph has can be looked up as it is.
 *
 * MASKS.  Of a kept graph's rows some may not count in a job: a bit for each row number says which
 * do, in 64-bit words, bit r % 64 of word r / 64.  Or what its columns have says so: FILTERS
 * (hg_row_filter.h), which build applies to the masks before anything is looked up.
 *
 * LOOKUPS.  Rows of a side that is a kept graph can look up rows of other kept graphs on the way,
 * by other keys than that of the side, and these look up others: a star or a snowflake of joins is
 * one job then.  An own graph has the rows that look up, by the key which they do it with; a row
 * that it has not, its key being NULL, finds nothing.  Columns of what was found become columns of
 * the side (HgKeptColumnUse.lookup).
 *
 *	open (HgJobSpec.lookups) -> mask* (of the side and of what is looked up) -> build -> ...
 *
 * build does one lookup after the other, for all rows of the side that count: those that the mask
 * says, whether the side's graph has them or not, and that have found a row in each lookup before,
 * but where they need not.  A row that is to look up and was not found itself finds nothing.  Where
 * a row that counts would find two rows that do, build answers HG_NOT_UNIQUE, after which only
 * close is left.  Which rows the side has is told by its mask from then on: what is behind build
 * knows nothing of lookups, but that columns have other places.
 *
 * NAMES.  Between processes a kept graph goes by a name, which no other one ever has in the life of
 * whoever gives names.  It is what a session sends; the device process has the graph of that name
 * or answers HG_NOT_KEPT.  Nothing is ever answered from one of another name.
 *
 * SLICES of a graph that is too large for one device are kept by several, each by a name of its own
 * (hg_slices.h).  They go with the graph where that is dropped by its name.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEPT_H
#define HG_KEPT_H

#include "hg_engine.h"
#include "hg_flat.h"

#ifdef __cplusplus
extern "C"
{
#endif

	typedef struct HgKeptName
	{
		uint64_t epoch;	 /* random, of the memory that the graph was made from */
		uint64_t serial; /* of the graph in it; 0: none */
		uint32_t column; /* 0: the graph itself; else a column of its rows */
		uint32_t slice;	 /* 0: all of it; else one of its slices (hg_slices.h) */
	} HgKeptName;

	/*
	 * Names of what a device has not of what a job names: the first of them.  Behind the last one
	 * is a serial of 0.  Where there are none it may be any of all.
	 */
#define HG_KEPT_MISSING 8

	typedef struct HgKeptMissing
	{
		HgKeptName names[HG_KEPT_MISSING];
	} HgKeptMissing;

	/* Is that missing, or a slice of it where the name is a slice's? */
	static inline bool
	hg_kept_is_missing(const HgKeptMissing *missing, const HgKeptName *name)
	{
		if (missing->names[0].serial == 0)
			return true;
		for (int i = 0; i < HG_KEPT_MISSING && missing->names[i].serial != 0; i++)
		{
			const HgKeptName *lost = &missing->names[i];

			if (lost->epoch == name->epoch && lost->serial == name->serial &&
				lost->column == name->column && (lost->slice != 0) == (name->slice != 0))
				return true;
		}
		return false;
	}

	typedef struct HgKeptShape
	{
		uint32_t key_width; /* bytes of a key, as it is put: 4 or 8 */
		uint32_t parts;		/* 1 .. HG_FLAT_PARTS */
		uint64_t rows;		/* below HG_MAX_ROWS */
	} HgKeptShape;

	typedef struct HgKeptColumnShape
	{
		uint32_t width;	 /* bytes of a value: 1, 2, 4 or 8 */
		uint32_t parts;	 /* 1 .. HG_FLAT_PARTS */
		uint32_t stride; /* 1 .. 1 << HG_FLAT_ROW_BITS */
		uint32_t unused; /* 0 */
	} HgKeptColumnShape;

	/* A graph that is to be kept (HgJobSpec.keep). */
	typedef struct HgKeptSpec
	{
		HgKeptName
			name; /* where it has one: engines that keep graphs for others don't look at it */
		HgKeptShape shape;
	} HgKeptSpec;

	/* One that a job has for a side (HgJobSpec.kept). */
	typedef struct HgKeptUse
	{
		HgKeptName name;
		HgKeptShape shape; /* which it has, or else there is none of that name */
		uint32_t masked;   /* not 0: mask() will be called */
		uint32_t unused;   /* 0 */
		HgKept *graph;	   /* the engine's; NULL in a session, which has the name alone */
	} HgKeptUse;

	/* A column that is to be kept (HgJobSpec.keep_column), and one that a job reads. */
	typedef struct HgKeptColumnSpec
	{
		HgKeptName name;
		HgKeptColumnShape shape;
	} HgKeptColumnSpec;

	typedef struct HgKeptColumnUse
	{
		HgKeptName name;
		HgKeptColumnShape shape; /* which it has, or else there is none of that name */
		uint32_t lookup;		 /* 0: of the side's own rows; else of what they have found in the
								  * lookup of this number, less 1, or NULL where that is nothing */
		uint32_t program;		 /* 0: it is kept; else it has no name, and is computed by the
								  * side's program of this number, less 1, for its own rows */
		HgKept *column;			 /* the engine's; NULL in a session, and of a computed one */
	} HgKeptColumnUse;

	/*
	 * What rows of a side look up (HgJobSpec.lookups).  The rows that do have places, of which all
	 * columns and lookups of theirs know by the same stride.
	 */
	typedef struct HgKeptLookup
	{
		uint32_t from;		   /* 0: rows of the side look it up; else those that they have found in
								* the lookup of this number, less 1, which is one before */
		uint32_t unmatched;	   /* not 0: a row that finds nothing counts all the same */
		uint32_t stride;	   /* of the places of the rows that look up */
		uint32_t found_stride; /* and of those that are looked up */
		HgKeptUse own;		   /* the rows that look up, by the key they do it with: never masked */
		HgKeptUse found;	   /* those that are looked up */
	} HgKeptLookup;

	/* In place of the place of a row that was found: none was, or more than one. */
#define HG_FOUND_NONE UINT32_MAX
#define HG_FOUND_TWO (UINT32_MAX - 1)

	/* The place of a row in the columns of its graph. */
	static inline uint64_t
	hg_kept_place(uint32_t stride, uint32_t row)
	{
		return (uint64_t) HG_FLAT_PART(row) * stride + HG_FLAT_NUMBER(row);
	}

	static inline bool
	hg_kept_column_shape_equal(const HgKeptColumnShape *a, const HgKeptColumnShape *b)
	{
		return a->width == b->width && a->parts == b->parts && a->stride == b->stride;
	}

	/* Is a job there to make something that is to be kept? */
	static inline bool
	hg_kept_is_made(const HgJobSpec *spec)
	{
		return spec->keep != NULL || spec->keep_column != NULL;
	}

	/* And what that goes by. */
	static inline const HgKeptName *
	hg_kept_made_name(const HgJobSpec *spec)
	{
		return spec->keep_column != NULL ? &spec->keep_column->name : &spec->keep->name;
	}

	/* Places that a column has. */
	static inline uint64_t
	hg_kept_places(const HgKeptColumnShape *shape)
	{
		return (uint64_t) shape->parts * shape->stride;
	}

	static inline bool
	hg_kept_name_equal(const HgKeptName *a, const HgKeptName *b)
	{
		return a->epoch == b->epoch && a->serial == b->serial && a->column == b->column &&
			   a->slice == b->slice;
	}

	/* Can a graph have that name?  And a column? */
	static inline bool
	hg_kept_is_graph(const HgKeptName *name)
	{
		return name->serial != 0 && name->column == 0;
	}

	static inline bool
	hg_kept_is_column(const HgKeptName *name)
	{
		return name->serial != 0 && name->column != 0;
	}

	static inline bool
	hg_kept_shape_equal(const HgKeptShape *a, const HgKeptShape *b)
	{
		return a->key_width == b->key_width && a->parts == b->parts && a->rows == b->rows;
	}

	/* Is a job about kept graphs, to make one or to have one for a side? */
	static inline bool
	hg_kept_is_named(const HgJobSpec *spec)
	{
		return spec->keep != NULL || spec->keep_column != NULL || spec->kept[HG_OUTER] != NULL ||
			   spec->kept[HG_INNER] != NULL;
	}

	/* What all row numbers of a graph are below. */
	static inline uint64_t
	hg_kept_rows_end(const HgKeptShape *shape)
	{
		const uint64_t end = (uint64_t) shape->parts << HG_FLAT_ROW_BITS;

		return end < HG_MAX_ROWS ? end : HG_MAX_ROWS;
	}

	/* Words of a mask over all row numbers that a graph can have. */
	static inline uint64_t
	hg_kept_mask_words(const HgKeptShape *shape)
	{
		return (uint64_t) shape->parts << (HG_FLAT_ROW_BITS - 6);
	}

	/* What a graph, or a column, that a job is there to make takes at least, in bytes. */
	extern uint64_t hg_kept_least_bytes(const HgJobSpec *spec);

	/* Can there be such a graph?  HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_kept_check(const HgKeptShape *shape, HgError *error);
	extern HgStatus hg_kept_column_check(const HgKeptColumnShape *shape, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_KEPT_H */
