/*-------------------------------------------------------------------------
 *
 * hg_predicate_filter.c
 *	  Compiles predicates into filters of a device (engine/hg_row_filter.h), which has replicas of
 *	  the columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_arithmetic.h"
#include "batch/hg_predicate.h"

/* Codes whose values are compared between two checks for interrupts. */
#define HG_FILTER_POLL_CODES 1024

/* The filter of one lookup that is being compiled. */
typedef struct HgFilterMaker
{
	HgRowFilters *filters;
	HgRowFilter *filter;
	const HgPinnedGraph *graph;
	HgDeviceSet device_set; /* devices that have all columns so far */
	HgFilterStep *at;		/* the next step */
	uint32 sets;			/* number of sets on the stack after the last step */
	const HgGraphCodes *codes[HG_MAX_FILTER_COLUMNS];
} HgFilterMaker;

/* Returns true if a predicate reads a column directly. */
static inline bool
hg_filter_has_column(const HgPredicate *predicate)
{
	return predicate->attno > 0;
}

/* Returns true if a predicate may be a filter, whatever the replicas are. */
static bool
hg_filter_may(const HgPredicate *predicate)
{
	bool may = predicate->order != HG_ORDER_FLOAT;

	for (int a = 0; a < predicate->nargs && may; a++)
		may = hg_filter_may(predicate->args[a]);
	return may;
}

/* ---------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------
 */

/* Adds a column to the filters' unless it is there.  Returns its number, or -1 on failure. */
static int
hg_filter_column(HgFilterMaker *maker, AttrNumber attno)
{
	HgRowFilters *filters = maker->filters;
	HgReplicaColumnUse *use = &filters->columns[filters->ncolumns];
	const HgGraphCodes *codes = NULL;
	HgDeviceSet at;

	for (uint32 i = 0; i < filters->ncolumns; i++)
		if (filters->columns[i].lookup == maker->filter->lookup &&
			filters->columns[i].name.column == (uint32) attno)
			return (int) i;
	if (filters->ncolumns == HG_MAX_FILTER_COLUMNS)
		return -1;
	at = hg_resident_graph_replica_column(maker->graph, attno, use, &codes);
	maker->device_set &= at;
	if (at == 0)
		return -1;
	use->lookup = maker->filter->lookup;
	maker->codes[filters->ncolumns] = codes;
	return (int) filters->ncolumns++;
}

/* Adds all columns of a predicate.  It does not stop at a failure, so that all are demanded. */
static bool
hg_filter_columns(HgFilterMaker *maker, const HgPredicate *predicate)
{
	bool all = true;

	for (int a = 0; a < predicate->nargs; a++)
		all &= hg_filter_columns(maker, predicate->args[a]);
	if (hg_filter_has_column(predicate))
		all &= hg_filter_column(maker, predicate->attno) >= 0;
	if (predicate->other_attno > 0)
		all &= hg_filter_column(maker, predicate->other_attno) >= 0;
	for (int c = 0; predicate->compared != NULL && c < predicate->compared->ncolumns; c++)
		all &= hg_filter_column(maker, (AttrNumber) predicate->compared->attnos[c]) >= 0;
	return all;
}

/* Returns true if the replica has the integers that are compared. */
static bool
hg_filter_is_integer(const HgFilterMaker *maker, int column, HgValueOrder order, int16 attlen)
{
	return maker->codes[column] == NULL &&
		   maker->filters->columns[column].shape.width == (uint32) attlen &&
		   (order == HG_ORDER_SIGNED || (order == HG_ORDER_UNSIGNED && attlen < 8));
}

/* ---------------------------------------------------------------------
 * Steps
 * ---------------------------------------------------------------------
 */

/* Appends a step; false if there is no room. */
static bool
hg_filter_step(HgFilterMaker *maker, HgFilterStep step)
{
	const uint32 takes = hg_filter_takes(&step);

	if (maker->at == maker->filters->steps + HG_MAX_FILTER_STEPS ||
		maker->sets + 1 - takes > HG_MAX_FILTER_SETS)
		return false;
	maker->sets += 1 - takes;
	*maker->at++ = step;
	maker->filter->nsteps++;
	return true;
}

/* Appends a range to a step; false if there is no room. */
static bool
hg_filter_range(HgFilterMaker *maker, HgFilterStep *step, int64 low, int64 high)
{
	HgRowFilters *filters = maker->filters;

	if (filters->nranges == HG_MAX_FILTER_RANGES)
		return false;
	filters->ranges[filters->nranges++] = (HgFilterRange){low, high};
	step->count++;
	return true;
}

/* Appends the test for a predicate's prepared set, of a column or a computed number. */
static bool
hg_filter_set(HgFilterMaker *maker, const HgPredicate *predicate, int column)
{
	HgFilterStep step = {.kind = HG_FILTER_IN,
						 .column = (uint8) column,
						 .is_signed = predicate->order != HG_ORDER_UNSIGNED,
						 .negated = predicate->fast_negated,
						 .computed = predicate->compared != NULL ? HG_FILTER_COMPUTED : 0,
						 .first = (uint16) maker->filters->nranges};

	for (int i = 0; i < predicate->nfast; i++)
		if (!hg_filter_range(maker, &step, predicate->fast_lows[i], predicate->fast_highs[i]))
			return false;
	return hg_filter_step(maker, step);
}

static bool
hg_filter_integer(HgFilterMaker *maker, const HgPredicate *predicate, int column)
{
	return hg_filter_is_integer(maker, column, predicate->order, predicate->attlen) &&
		   hg_filter_set(maker, predicate, column);
}

static bool
hg_filter_numeric(HgFilterMaker *maker, HgPredicate *predicate, int column)
{
	const HgGraphCodes *codes = maker->codes[column];

	if (codes == NULL || codes->scale < 0 || codes->scale > HG_PREDICATE_SCALE)
		return false;
	hg_predicate_prepare(predicate, codes->scale);
	return hg_filter_set(maker, predicate, column);
}

/* Returns the allowed orders of a predicate as a mask of HG_FILTER_LESS and its neighbours. */
static uint8
hg_filter_allowed(const HgPredicate *predicate)
{
	uint8 allowed = 0;

	for (int order = -1; order <= 1; order++)
		if (hg_intervals_contain(predicate->set, order))
			allowed |= (uint8) (HG_FILTER_LESS << (order + 1));
	return allowed;
}

static bool
hg_filter_order(HgFilterMaker *maker, const HgPredicate *predicate, int column, int other)
{
	HgFilterStep step = {.kind = HG_FILTER_ORDER,
						 .column = (uint8) column,
						 .other = (uint8) other,
						 .is_signed = predicate->order != HG_ORDER_UNSIGNED,
						 .allowed = hg_filter_allowed(predicate)};

	return hg_filter_is_integer(maker, column, predicate->order, predicate->attlen) &&
		   hg_filter_is_integer(maker, other, predicate->order, predicate->other_attlen) &&
		   hg_filter_step(maker, step);
}

/* ---------------------------------------------------------------------
 * Computed numbers
 * ---------------------------------------------------------------------
 */

/* Compiles an expression; *scale is its display scale, or -1 for integers.  False on failure. */
static bool
hg_filter_program(HgFilterMaker *maker, const HgCompared *compared, int which, HgProgram *program,
				  int *scale)
{
	HgOperand operands[HG_MAX_FILTER_COLUMNS];

	if (compared->ncolumns > HG_MAX_FILTER_COLUMNS)
		return false;
	for (int c = 0; c < compared->ncolumns; c++)
	{
		const int column = hg_filter_column(maker, (AttrNumber) compared->attnos[c]);
		const HgGraphCodes *codes = maker->codes[column];

		/* codes would have to be decoded */
		if (codes != NULL && codes->scale < 0)
			return false;
		operands[c] = (HgOperand){column, codes != NULL ? codes->scale : -1};
	}
	return hg_arithmetic_program(compared->arithmetic, compared->numbers[which], operands, program,
								 scale);
}

/* Adds a program to the filters' numbers.  Returns its number, or -1 if there is no room. */
static int
hg_filter_number_of(HgFilterMaker *maker, const HgProgram *program)
{
	HgRowFilters *filters = maker->filters;
	uint16 first = 0;

	for (uint32 i = 0; i < filters->nnumbers; i++)
		first += filters->numbers[i].count;
	if (filters->nnumbers == HG_MAX_FILTER_NUMBERS ||
		program->nsteps > HG_MAX_FILTER_NUMBER_STEPS - first)
		return -1;
	memcpy(filters->number_steps + first, program->steps, program->nsteps * sizeof(HgStep));
	filters->numbers[filters->nnumbers] = (HgFilterNumber){first, (uint16) program->nsteps};
	return (int) filters->nnumbers++;
}

static bool
hg_filter_computed(HgFilterMaker *maker, HgPredicate *predicate)
{
	HgProgram program;
	int scale;
	int number;

	if (!hg_filter_program(maker, predicate->compared, 0, &program, &scale) ||
		scale > HG_PREDICATE_SCALE)
		return false;
	if (scale >= 0)
		hg_predicate_prepare(predicate, scale);
	number = hg_filter_number_of(maker, &program);
	return number >= 0 && hg_filter_set(maker, predicate, number);
}

static bool
hg_filter_computed_order(HgFilterMaker *maker, const HgPredicate *predicate)
{
	HgFilterStep step = {.kind = HG_FILTER_ORDER,
						 .is_signed = 1,
						 .computed = HG_FILTER_COMPUTED | HG_FILTER_OTHER_COMPUTED,
						 .allowed = hg_filter_allowed(predicate)};
	HgProgram programs[2];
	int scales[2];
	int numbers[2];

	for (int i = 0; i < 2; i++)
		if (!hg_filter_program(maker, predicate->compared, i, &programs[i], &scales[i]))
			return false;
	for (int i = 0; i < 2; i++)
	{
		/* the side with fewer decimals is scaled up */
		if (!hg_arithmetic_scale_up(&programs[i], Max(scales[0], scales[1]) - scales[i]))
			return false;
		numbers[i] = hg_filter_number_of(maker, &programs[i]);
		if (numbers[i] < 0)
			return false;
	}
	step.column = (uint8) numbers[0];
	step.other = (uint8) numbers[1];
	return hg_filter_step(maker, step);
}

/* Appends the test for the codes for which a predicate over bytes holds. */
static bool
hg_filter_bytes(HgFilterMaker *maker, const HgPredicate *predicate, int column)
{
	const HgGraphCodes *codes = maker->codes[column];
	HgFilterStep step = {
		.kind = HG_FILTER_IN, .column = (uint8) column, .first = (uint16) maker->filters->nranges};
	bool *holds;
	bool possible = true;

	if (codes == NULL || codes->scale >= 0)
		return false;
	holds = palloc(Max(codes->ncodes, 1) * sizeof(bool));
	for (uint32 code = 0; code < codes->ncodes && possible; code++)
	{
		if (code % HG_FILTER_POLL_CODES == 0)
			CHECK_FOR_INTERRUPTS();
		possible = hg_predicate_apply_one(
			predicate, PointerGetDatum(hg_graph_code_value(codes, code)), &holds[code]);
	}
	/* ranges of the codes that hold, or of the others if first and last hold */
	step.negated = codes->ncodes > 0 && possible && holds[0] && holds[codes->ncodes - 1];
	for (uint32 code = 0; code < codes->ncodes && possible;)
	{
		const uint32 first = code;

		while (code < codes->ncodes && holds[code] == holds[first])
			code++;
		if (holds[first] != (step.negated != 0))
			possible = hg_filter_range(maker, &step, first, code - 1);
	}
	pfree(holds);
	return possible && hg_filter_step(maker, step);
}

static bool hg_filter_write(HgFilterMaker *maker, HgPredicate *predicate);

/*
 * Appends the arguments' steps.  Without arguments, AND is all rows and OR is none.  outermost
 * says that they are clauses of a qual, all of which a row must pass.
 */
static bool
hg_filter_args(HgFilterMaker *maker, const HgPredicate *predicate, bool outermost)
{
	const bool all = predicate->kind == HG_PREDICATE_AND;
	bool written = true;

	if (predicate->nargs == 0)
		return hg_filter_step(maker, (HgFilterStep){.kind = all ? HG_FILTER_ALL : HG_FILTER_NONE});
	for (int a = 0; a < predicate->nargs && written; a++)
	{
		written = hg_filter_write(maker, predicate->args[a]);
		if (written && a > 0)
			written =
				hg_filter_step(maker, (HgFilterStep){.kind = all ? HG_FILTER_AND : HG_FILTER_OR});
		/* nothing is computed for a row that has failed (hg_scan_qual.c) */
		if (written && outermost && a + 1 < predicate->nargs && predicate->args[a + 1]->nterms > 0)
			written = hg_filter_step(maker, (HgFilterStep){.kind = HG_FILTER_REQUIRED});
	}
	return written;
}

/* Appends the steps of a predicate, whose columns have been added. */
static bool
hg_filter_write(HgFilterMaker *maker, HgPredicate *predicate)
{
	const int column =
		hg_filter_has_column(predicate) ? hg_filter_column(maker, predicate->attno) : 0;

	check_stack_depth();
	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
			return hg_filter_step(maker, (HgFilterStep){.kind = HG_FILTER_NONE});
		case HG_PREDICATE_ALL:
			return hg_filter_step(maker, (HgFilterStep){.kind = HG_FILTER_ALL});
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
			return hg_filter_args(maker, predicate, false);
		case HG_PREDICATE_NOT:
			return hg_filter_write(maker, predicate->args[0]) &&
				   hg_filter_step(maker, (HgFilterStep){.kind = HG_FILTER_NOT});
		case HG_PREDICATE_IS_NULL:
			return hg_filter_step(
				maker, (HgFilterStep){.kind = HG_FILTER_IS_NULL, .column = (uint8) column});
		case HG_PREDICATE_NOT_NULL:
			return hg_filter_step(
				maker, (HgFilterStep){.kind = HG_FILTER_NOT_NULL, .column = (uint8) column});
		case HG_PREDICATE_INTEGER:
			return hg_filter_integer(maker, predicate, column);
		case HG_PREDICATE_NUMERIC:
			return hg_filter_numeric(maker, predicate, column);
		case HG_PREDICATE_ORDER:
			return hg_filter_order(maker, predicate, column,
								   hg_filter_column(maker, predicate->other_attno));
		case HG_PREDICATE_COMPUTED:
			return hg_filter_computed(maker, predicate);
		case HG_PREDICATE_COMPUTED_ORDER:
			return hg_filter_computed_order(maker, predicate);
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_LIKE:
			return hg_filter_bytes(maker, predicate, column);
	}
	pg_unreachable();
}

/* Appends the steps of all predicates, which must hold together. */
static bool
hg_filter_write_all(HgFilterMaker *maker, int npredicates, HgPredicate **predicates)
{
	const HgPredicate all = {.kind = HG_PREDICATE_AND, .nargs = npredicates, .args = predicates};
	bool may = true;

	for (int i = 0; i < npredicates; i++)
		may = may && hg_filter_may(predicates[i]);
	if (!may || !hg_filter_columns(maker, &all) || maker->device_set == 0)
		return false;
	/* a filter finds rows by their columns, so that it needs one */
	return hg_row_filter_stride(maker->filters, maker->filter->lookup) > 0 &&
		   hg_filter_args(maker, &all, true);
}

bool
hg_predicate_filter_add(HgRowFilters *filters, uint32 lookup, const HgPinnedGraph *graph,
						int npredicates, HgPredicate **predicates, HgDeviceSet *device_set)
{
	const HgRowFilters before = *filters;
	HgFilterMaker maker = {.filters = filters,
						   .filter = &filters->filters[filters->nfilters],
						   .graph = graph,
						   .device_set = *device_set,
						   .at = filters->steps};

	Assert(filters->nfilters < HG_MAX_FILTERS);
	for (uint32 i = 0; i < filters->nfilters; i++)
		maker.at += filters->filters[i].nsteps;
	maker.filter->lookup = lookup;
	filters->nfilters++;
	if (!hg_filter_write_all(&maker, npredicates, predicates))
	{
		*filters = before;
		return false;
	}
	*device_set = maker.device_set;
	return true;
}
