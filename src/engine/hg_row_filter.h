/*-------------------------------------------------------------------------
 *
 * hg_row_filter.h
 *	  Filters of graph replicas' rows: which of them count in a job, by the values of column
 *	  replicas.
 *
 * A job says by a mask which rows of a graph replica count (hg_replica.h), or it says what is to
 * hold for them and the engine decides that in build, before rows look anything up: by its column
 * replicas, so that nobody reads them elsewhere.  Where there is a mask too, a row counts that both
 * let through.
 *
 * A side's filters are its own, and those of what its lookups look up, each at most one: STEPS, one
 * after the other, each of which leaves a set of rows, and takes those that the last steps before
 * it have left and no step has taken yet.  In the end there is one, which are the rows that count.
 *
 *	NOT (a BETWEEN 1 AND 5) OR b IS NULL		IN a [1, 5], NOT, NULL b, OR
 *
 * SETS have two values where SQL has three: a row is in one or not.  One whose value is NULL is in
 * no set of values, negated or not, and in no order.
 *
 * VALUES are compared as integers of 64 bits.  Ranges of a step are not empty, in order, and do not
 * meet.  In place of a column's value there may be a NUMBER that is computed of columns of the same
 * rows, by steps as those of hg_computed.h, and is NULL where one of these is.  Where it does not
 * fit for a row that counts by the mask build answers HG_OVERFLOW, after which only close is left:
 * the row is in no set, and not outside of one either.  An ordinal that no row has, and no mask
 * leaves out, is not told from that of a row whose key is NULL: what lies there, 0 where nothing
 * was put, is to fit, too.
 *
 * REQUIRED ends the steps of a row that is not in a set: it does not count, and what is behind is
 * not computed of it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ROW_FILTER_H
#define HG_ROW_FILTER_H

#include "hg_computed.h"
#include "hg_hash.h"
#include "hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Of all filters of a side together; their columns are HG_MAX_FILTER_COLUMNS. */
#define HG_MAX_FILTER_STEPS 64
#define HG_MAX_FILTER_RANGES 128

/* Numbers that are computed of a row by filters of a side together, and the steps of these. */
#define HG_MAX_FILTER_NUMBERS 8
#define HG_MAX_FILTER_NUMBER_STEPS 32

/* Sets that are left at a time, at most: a bit each, of one row. */
#define HG_MAX_FILTER_SETS 32

/* A side's own filter, and one for each lookup. */
#define HG_MAX_FILTERS (1 + HG_MAX_LOOKUPS)

	typedef enum HgFilterStepKind
	{
		HG_FILTER_NONE = 0, /* no row */
		HG_FILTER_ALL,		/* each row */
		HG_FILTER_IN,	 /* the value is in one of the ranges, or, negated, in none; and not NULL */
		HG_FILTER_ORDER, /* its order to that of another column is one that is allowed */
		HG_FILTER_IS_NULL,	/* it is NULL */
		HG_FILTER_NOT_NULL, /* it is not */
		HG_FILTER_NOT,		/* rows that are not in a set */
		HG_FILTER_REQUIRED, /* a set, which the row is in or does not count */
		HG_FILTER_AND,		/* in both of two */
		HG_FILTER_OR,		/* in one of them */
		HG_FILTER_KINDS		/* number of kinds, not a kind */
	} HgFilterStepKind;

/* What ORDER allows: the value is less than the other one, equal or greater. */
#define HG_FILTER_LESS 1
#define HG_FILTER_EQUAL 2
#define HG_FILTER_GREATER 4

/* What IN and ORDER compare are numbers of the filters, not columns: a sum of these. */
#define HG_FILTER_COMPUTED 1	   /* column is one */
#define HG_FILTER_OTHER_COMPUTED 2 /* ORDER: other is one */

	typedef struct HgFilterStep
	{
		uint8_t kind;	   /* HgFilterStepKind */
		uint8_t column;	   /* of those that look at one: its number among the filters' */
		uint8_t other;	   /* ORDER: of the other one */
		uint8_t is_signed; /* IN, ORDER: 1: two's complement, 0: not, of less than 8 bytes */
		uint8_t allowed;   /* ORDER: a sum of the above */
		uint8_t negated;   /* IN: 0 or 1 */
		uint8_t computed;  /* IN, ORDER: a sum of the above */
		uint8_t unused;	   /* 0 */
		uint16_t first;	   /* IN: the first of its ranges ... */
		uint16_t count;	   /* ... and how many they are */
	} HgFilterStep;

	/* Values from low to high, both among them. */
	typedef struct HgFilterRange
	{
		int64_t low;
		int64_t high;
	} HgFilterRange;

	/* A number that is computed: which of the filters' steps of numbers leave it. */
	typedef struct HgFilterNumber
	{
		uint16_t first;
		uint16_t count;
	} HgFilterNumber;

	typedef struct HgRowFilter
	{
		uint32_t lookup; /* 0: of the side's rows; else of those that the lookup of this number,
						  * less 1, looks up */
		uint32_t nsteps;
	} HgRowFilter;

	/* All filters of a side (HgJobSpec.filters); what is not used is 0. */
	typedef struct HgRowFilters
	{
		uint32_t nfilters;
		uint32_t ncolumns;
		uint32_t nranges;
		uint32_t nnumbers;
		HgRowFilter filters[HG_MAX_FILTERS]; /* by lookup, ascending */
		/* all are kept; lookup is that of the filter which looks at it */
		HgReplicaColumnUse columns[HG_MAX_FILTER_COLUMNS];
		HgFilterStep steps[HG_MAX_FILTER_STEPS]; /* those of one filter after those of another */
		HgFilterRange ranges[HG_MAX_FILTER_RANGES];
		HgFilterNumber numbers[HG_MAX_FILTER_NUMBERS];
		HgStep number_steps[HG_MAX_FILTER_NUMBER_STEPS]; /* columns are the filters' */
	} HgRowFilters;

	/* The values of a column by ordinal, wherever they are. */
	typedef struct HgFilterColumn
	{
		const void *values;
		const uint8_t *nulls; /* not 0 where it is NULL; NULL where no row has NULL */
		uint32_t width;
		uint32_t unused; /* 0 */
	} HgFilterColumn;

	/* One filter, ready to be asked. */
	typedef struct HgFilterTest
	{
		uint32_t nsteps;
		uint32_t stride; /* of the ordinals of its columns */
		HgFilterColumn columns[HG_MAX_FILTER_COLUMNS];
		HgFilterStep steps[HG_MAX_FILTER_STEPS];
		HgFilterRange ranges[HG_MAX_FILTER_RANGES];
		HgFilterNumber numbers[HG_MAX_FILTER_NUMBERS];
		HgStep number_steps[HG_MAX_FILTER_NUMBER_STEPS];
	} HgFilterTest;

	/* The sets that a step takes. */
	static inline uint32_t
	hg_filter_takes(const HgFilterStep *step)
	{
		if (step->kind >= HG_FILTER_AND)
			return 2;
		return step->kind >= HG_FILTER_NOT ? 1 : 0;
	}

	/* Does it look at a column? */
	static inline bool
	hg_filter_looks(const HgFilterStep *step)
	{
		return step->kind >= HG_FILTER_IN && step->kind <= HG_FILTER_NOT_NULL;
	}

	/* Does a filter compute numbers, which may not fit? */
	static inline bool
	hg_filter_computes(const HgFilterTest *test)
	{
		bool computes = false;

		for (uint32_t i = 0; i < test->nsteps; i++)
			computes |= test->steps[i].computed != 0;
		return computes;
	}

	/* Does one of a side's filters, which may be NULL? */
	static inline bool
	hg_row_filters_compute(const HgRowFilters *filters)
	{
		return filters != NULL && filters->nfilters > 0 && filters->nnumbers > 0;
	}

	/*
	 * A side's filter of its rows, or of what a lookup looks up; NULL where there is none, as where
	 * the side has none at all: filters are NULL then.
	 */
	static inline const HgRowFilter *
	hg_row_filter_find(const HgRowFilters *filters, uint32_t lookup)
	{
		for (uint32_t i = 0; filters != NULL && i < filters->nfilters; i++)
			if (filters->filters[i].lookup == lookup)
				return &filters->filters[i];
		return NULL;
	}

	/* The stride of the ordinals that it knows rows by; 0 where there is none. */
	static inline uint32_t
	hg_row_filter_stride(const HgRowFilters *filters, uint32_t lookup)
	{
		for (uint32_t i = 0; filters != NULL && i < filters->ncolumns; i++)
			if (filters->columns[i].lookup == lookup)
				return filters->columns[i].shape.stride;
		return 0;
	}

	/*
	 * Have a filter that can be ready to be asked; false where there is none.  The values of its
	 * columns are for the caller to fill in, for each column of the side's filters that has its
	 * lookup.
	 */
	extern bool hg_filter_test_init(HgFilterTest *test, const HgRowFilters *filters,
									uint32_t lookup);

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------------
 * Asking, on the host and in kernels
 * ------------------------------------------------------------------------ */

/* The value of an ordinal in a column, widened. */
HG_HOST_DEVICE int64_t
hg_filter_value(const HgFilterColumn *column, uint8_t is_signed, uint64_t ordinal)
{
	switch (column->width)
	{
		case 1:
			return is_signed ? ((const int8_t *) column->values)[ordinal]
							 : ((const uint8_t *) column->values)[ordinal];
		case 2:
			return is_signed ? ((const int16_t *) column->values)[ordinal]
							 : ((const uint16_t *) column->values)[ordinal];
		case 4:
			return is_signed ? (int64_t) ((const int32_t *) column->values)[ordinal]
							 : (int64_t) ((const uint32_t *) column->values)[ordinal];
		default:
			return ((const int64_t *) column->values)[ordinal];
	}
}

HG_HOST_DEVICE bool
hg_filter_is_null(const HgFilterColumn *column, uint64_t ordinal)
{
	return column->nulls != NULL && column->nulls[ordinal] != 0;
}

/* Is a value in one of count ranges?  The last one that begins there or ahead of it tells. */
HG_HOST_DEVICE bool
hg_filter_is_in(const HgFilterRange *ranges, uint32_t count, int64_t value)
{
	uint32_t first = 0;

	if (count == 0)
		return false;
	for (uint32_t left = count; left > 1; left -= left / 2)
		first += ranges[first + left / 2].low <= value ? left / 2 : 0;
	return value >= ranges[first].low && value <= ranges[first].high;
}

/*
 * A number that is computed for an ordinal; *null: it is NULL. *lost becomes true where it, or one
 * on the way to it, does not fit.
 */
HG_HOST_DEVICE int64_t
hg_filter_number(const HgFilterTest *test, uint8_t number, uint64_t ordinal, bool *null, bool *lost)
{
	const uint32_t first = test->numbers[number].first;
	const uint32_t end = first + test->numbers[number].count;
	int64_t below[HG_MAX_STEP_NUMBERS];
	int64_t top = 0;	/* the last number, above these */
	uint32_t nulls = 0; /* which of all these are NULL, the last one's bit lowest */
	uint32_t numbers = 0;

	for (uint32_t s = first; s < end; s++)
	{
		const HgStep *step = &test->number_steps[s];
		bool fits = true;

		if (step->kind <= HG_STEP_CONSTANT)
		{
			below[numbers++] = top;
			nulls <<= 1;
			top = step->constant;
			if (step->kind == HG_STEP_COLUMN)
			{
				top = hg_filter_value(&test->columns[step->column], step->is_signed, ordinal);
				nulls |= hg_filter_is_null(&test->columns[step->column], ordinal);
			}
		}
		else if (step->kind >= HG_STEP_ADD)
		{
			top = hg_step_two(step, below[--numbers], top, &fits);
			nulls = nulls >> 1 | (nulls & 1);
		}
		else
			top = hg_step_one(step, top, &fits);
		*lost |= (nulls & 1) == 0 && !(fits && hg_step_fits(top, step->bits));
	}
	*null = (nulls & 1) != 0;
	return top;
}

/* What a step compares: the value of a column, or a number that is computed. */
HG_HOST_DEVICE int64_t
hg_filter_operand(const HgFilterTest *test, bool computed, uint8_t number, uint8_t is_signed,
				  uint64_t ordinal, bool *null, bool *lost)
{
	if (computed)
		return hg_filter_number(test, number, ordinal, null, lost);
	*null = hg_filter_is_null(&test->columns[number], ordinal);
	return *null ? 0 : hg_filter_value(&test->columns[number], is_signed, ordinal);
}

/*
 * Is the row of an ordinal in the set of a step that looks at columns?  computes: some step
 * computes numbers.
 */
HG_HOST_DEVICE bool
hg_filter_look(const HgFilterTest *test, const HgFilterStep *step, bool computes, uint64_t ordinal,
			   bool *lost)
{
	bool null;
	bool other_null;
	int64_t value;
	int64_t than;

	if (step->kind >= HG_FILTER_IS_NULL)
		return hg_filter_is_null(&test->columns[step->column], ordinal) ==
			   (step->kind == HG_FILTER_IS_NULL);
	value = hg_filter_operand(test, computes && (step->computed & HG_FILTER_COMPUTED) != 0,
							  step->column, step->is_signed, ordinal, &null, lost);
	if (step->kind == HG_FILTER_IN)
		return !null && hg_filter_is_in(test->ranges + step->first, step->count, value) !=
							(step->negated != 0);
	than = hg_filter_operand(test, computes && (step->computed & HG_FILTER_OTHER_COMPUTED) != 0,
							 step->other, step->is_signed, ordinal, &other_null, lost);
	return !null && !other_null &&
		   (step->allowed & (value < than	 ? HG_FILTER_LESS
							 : value == than ? HG_FILTER_EQUAL
											 : HG_FILTER_GREATER)) != 0;
}

/*
 * Does the row of an ordinal count, by a filter that can be?  Sets that are left are bits of a
 * word.  computes is hg_filter_computes(); *lost becomes true where a number does not fit, and then
 * it is not known.
 */
HG_HOST_DEVICE bool
hg_filter_holds(const HgFilterTest *test, bool computes, uint64_t ordinal, bool *lost)
{
	uint32_t sets = 0;

	for (uint32_t s = 0; s < test->nsteps; s++)
	{
		const HgFilterStep *step = &test->steps[s];

		if (step->kind == HG_FILTER_NOT)
			sets ^= 1;
		else if (step->kind == HG_FILTER_AND)
			sets = sets >> 1 & (sets | ~UINT32_C(1));
		else if (step->kind == HG_FILTER_OR)
			sets = sets >> 1 | (sets & 1);
		else if (step->kind <= HG_FILTER_ALL)
			sets = sets << 1 | step->kind;
		else if (step->kind != HG_FILTER_REQUIRED)
			sets = sets << 1 | hg_filter_look(test, step, computes, ordinal, lost);
		else if ((sets & 1) == 0)
			return false;
	}
	return (sets & 1) != 0;
}

#endif /* HG_ROW_FILTER_H */
