/*-------------------------------------------------------------------------
 *
 * hg_row_filter.h
 *	  Filters of graph replicas' rows: which rows count in a job, by the values of column
 *	  replicas.
 *
 * A job says by a mask which rows of a graph replica count (hg_replica.h), or it states
 * conditions, which the engine evaluates in build before any lookup.  The engine reads the column
 * replicas for that, so the caller need not read the columns itself.  With a mask and a filter, a
 * row counts if both pass it.
 *
 * A side has at most one filter of its own rows, and one for each lookup's rows that are looked
 * up.  A filter is a sequence of STEPS on a stack of sets of rows.  Each step pops the sets that
 * it takes and pushes one.  At the end one set is left: the rows that count.
 *
 *	NOT (a BETWEEN 1 AND 5) OR b IS NULL		IN a [1, 5], NOT, NULL b, OR
 *
 * SETS have two values where SQL has three: a row is in a set or not.  A row whose value is NULL
 * is in no set that compares values, negated or not.
 *
 * VALUES are compared as 64-bit integers.  The ranges of a step are not empty, ascending, and do
 * not overlap.  In place of a column's value a step can use a NUMBER computed from columns of the
 * same rows, by steps as in hg_computed.h; it is NULL if one of them is.  If a number of a row
 * that counts by the mask overflows, build answers HG_OVERFLOW, after which only close is allowed:
 * the row is neither in the set nor outside of it.  An ordinal without a row that the mask does
 * not exclude is treated like a row whose key is NULL: its values, 0 if none were put, must not
 * overflow either.
 *
 * REQUIRED ends the evaluation for a row that is not in the set: it does not count, and later
 * steps are not computed for it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_ROW_FILTER_H
#define HG_ROW_FILTER_H

#include "hg_computed.h"
#include "hg_engine.h"
#include "hg_hash.h"
#include "hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Maximum steps and ranges of all filters of a side; their columns are HG_MAX_FILTER_COLUMNS. */
#define HG_MAX_FILTER_STEPS 64
#define HG_MAX_FILTER_RANGES 128

/* Maximum numbers computed by all filters of a side, and the steps of these. */
#define HG_MAX_FILTER_NUMBERS 8
#define HG_MAX_FILTER_NUMBER_STEPS 32

/* Maximum sets on the stack: a bit each. */
#define HG_MAX_FILTER_SETS 32

/* Maximum filters of a side: its own, and one for each lookup. */
#define HG_MAX_FILTERS (1 + HG_MAX_LOOKUPS)

	typedef enum HgFilterStepKind
	{
		HG_FILTER_NONE = 0, /* no row */
		HG_FILTER_ALL,		/* each row */
		HG_FILTER_IN,	 /* the value is not NULL and in one of the ranges, or, negated, in none */
		HG_FILTER_ORDER, /* the value is less than, equal to or greater than that of another column,
						  * as allowed */
		HG_FILTER_IS_NULL,	/* the value is NULL */
		HG_FILTER_NOT_NULL, /* the value is not NULL */
		HG_FILTER_NOT,		/* not in the set */
		HG_FILTER_REQUIRED, /* in the set; other rows do not count */
		HG_FILTER_AND,		/* in both sets */
		HG_FILTER_OR,		/* in one of the sets */
		HG_FILTER_KINDS		/* number of kinds, not a kind */
	} HgFilterStepKind;

/* Bits of HgFilterStep.allowed: the value is less than, equal to or greater than the other. */
#define HG_FILTER_LESS 1
#define HG_FILTER_EQUAL 2
#define HG_FILTER_GREATER 4

/* Bits of HgFilterStep.computed: which operands are numbers of the filters, not columns. */
#define HG_FILTER_COMPUTED 1	   /* column is the index of a number */
#define HG_FILTER_OTHER_COMPUTED 2 /* ORDER: other is the index of a number */

	typedef struct HgFilterStep
	{
		uint8_t kind;	   /* HgFilterStepKind */
		uint8_t column;	   /* IN to NOT_NULL: index in the filters' columns */
		uint8_t other;	   /* ORDER: index of the other operand */
		uint8_t is_signed; /* IN, ORDER: 1: two's complement, 0: unsigned, of less than 8 bytes */
		uint8_t allowed;   /* ORDER: the bits above */
		uint8_t negated;   /* IN: 0 or 1 */
		uint8_t computed;  /* IN, ORDER: the bits above */
		uint8_t unused;	   /* 0 */
		uint16_t first;	   /* IN: index of the first of its ranges */
		uint16_t count;	   /* IN: number of its ranges */
	} HgFilterStep;

	/* Values from low to high, inclusive. */
	typedef struct HgFilterRange
	{
		int64_t low;
		int64_t high;
	} HgFilterRange;

	/* A computed number: its steps in the filters' number_steps. */
	typedef struct HgFilterNumber
	{
		uint16_t first;
		uint16_t count;
	} HgFilterNumber;

	typedef struct HgRowFilter
	{
		uint32_t lookup; /* 0: filters rows of the side; n: rows that lookup n - 1 looks up */
		uint32_t nsteps;
	} HgRowFilter;

	/* All filters of a side (HgReplicaSource.filters); unused members are 0. */
	typedef struct HgRowFilters
	{
		uint32_t nfilters;
		uint32_t ncolumns;
		uint32_t nranges;
		uint32_t nnumbers;
		HgRowFilter filters[HG_MAX_FILTERS]; /* ascending by lookup */
		/* column replicas; lookup is that of the filter that reads it */
		HgReplicaColumnUse columns[HG_MAX_FILTER_COLUMNS];
		HgFilterStep steps[HG_MAX_FILTER_STEPS]; /* steps of the first filter, then of the next */
		HgFilterRange ranges[HG_MAX_FILTER_RANGES];
		HgFilterNumber numbers[HG_MAX_FILTER_NUMBERS];
		HgStep number_steps[HG_MAX_FILTER_NUMBER_STEPS]; /* columns are indexes in columns */
	} HgRowFilters;

	/* The values of a column by ordinal. */
	typedef struct HgFilterColumn
	{
		const void *values;
		const uint8_t *nulls; /* not 0 where the value is NULL; NULL if no value is */
		uint32_t width;
		uint32_t unused; /* 0 */
	} HgFilterColumn;

	/* One filter, prepared for evaluation. */
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

	/* Returns how many sets a step pops. */
	static inline uint32_t
	hg_filter_takes(const HgFilterStep *step)
	{
		if (step->kind >= HG_FILTER_AND)
			return 2;
		return step->kind >= HG_FILTER_NOT ? 1 : 0;
	}

	/* Returns true if a step reads columns. */
	static inline bool
	hg_filter_looks(const HgFilterStep *step)
	{
		return step->kind >= HG_FILTER_IN && step->kind <= HG_FILTER_NOT_NULL;
	}

	/* Returns true if a filter computes numbers, which may overflow. */
	static inline bool
	hg_filter_computes(const HgFilterTest *test)
	{
		bool computes = false;

		for (uint32_t i = 0; i < test->nsteps; i++)
			computes |= test->steps[i].computed != 0;
		return computes;
	}

	/* Returns true if some filter of a side computes numbers; filters may be NULL. */
	static inline bool
	hg_row_filters_compute(const HgRowFilters *filters)
	{
		return filters != NULL && filters->nfilters > 0 && filters->nnumbers > 0;
	}

	/*
	 * Returns a side's filter of its rows (lookup 0) or of the rows that lookup - 1 looks up; NULL
	 * if there is none.  filters may be NULL.
	 */
	static inline const HgRowFilter *
	hg_row_filter_find(const HgRowFilters *filters, uint32_t lookup)
	{
		for (uint32_t i = 0; filters != NULL && i < filters->nfilters; i++)
			if (filters->filters[i].lookup == lookup)
				return &filters->filters[i];
		return NULL;
	}

	/* Returns the stride of the ordinals that the filter uses; 0 if there is no filter. */
	static inline uint32_t
	hg_row_filter_stride(const HgRowFilters *filters, uint32_t lookup)
	{
		for (uint32_t i = 0; filters != NULL && i < filters->ncolumns; i++)
			if (filters->columns[i].lookup == lookup)
				return filters->columns[i].shape.stride;
		return 0;
	}

	/*
	 * Prepares a valid filter for evaluation; returns false if there is none.  The caller then
	 * fills in the values of those columns of the side's filters that have this lookup.
	 */
	extern bool hg_filter_test_init(HgFilterTest *test, const HgRowFilters *filters,
									uint32_t lookup);

	/* ------------------------------------------------------------------------
	 * Asking, on the host and in kernels
	 * ------------------------------------------------------------------------ */

	/* Returns the value of a column at an ordinal, widened. */
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

	/* Returns true if the value of an ordinal is NULL. */
	HG_HOST_DEVICE bool
	hg_filter_is_null(const HgFilterColumn *column, uint64_t ordinal)
	{
		return column->nulls != NULL && column->nulls[ordinal] != 0;
	}

	/* Returns true if a value is in one of count ascending ranges; a binary search. */
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
	 * Returns a number computed for an ordinal; *null is true if it is NULL.  Sets *lost to true if
	 * it, or a number on the way to it, overflows.
	 */
	HG_HOST_DEVICE int64_t
	hg_filter_number(const HgFilterTest *test, uint8_t number, uint64_t ordinal, bool *null,
					 bool *lost)
	{
		const uint32_t first = test->numbers[number].first;
		const uint32_t end = first + test->numbers[number].count;
		int64_t below[HG_MAX_STEP_NUMBERS];
		int64_t top = 0;	/* the last number, top of the stack */
		uint32_t nulls = 0; /* a bit for each number on the stack that is NULL, the top's lowest */
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

	/* Returns an operand of a step: the value of a column, or a computed number. */
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
	 * Returns true if the row of an ordinal is in the set of a step that reads columns.  computes:
	 * some step of the filter computes numbers.
	 */
	HG_HOST_DEVICE bool
	hg_filter_look(const HgFilterTest *test, const HgFilterStep *step, bool computes,
				   uint64_t ordinal, bool *lost)
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
	 * Returns true if the row of an ordinal counts, by a filter that has passed
	 * hg_row_filters_check. The stack of sets is the bits of a word.  computes is
	 * hg_filter_computes().  Sets *lost to true if a number overflows; the result is then
	 * undefined.
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

	/*
	 * Checks the steps of the filters of a side with so many lookups; the shapes of their columns
	 * are not checked.  Returns HG_OK, or HG_INVALID with an explanation.
	 */
	extern HgStatus hg_row_filters_check(const HgRowFilters *filters, uint32_t nlookups,
										 HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_ROW_FILTER_H */
