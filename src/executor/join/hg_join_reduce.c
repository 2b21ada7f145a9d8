/*-------------------------------------------------------------------------
 *
 * hg_join_reduce.c
 *	  The join node's columns on a device: they come back with the matches, or as groups.
 *
 * LATE MATERIALISATION.  A joined row gathers its values from the column store of its side, by row
 * number, all over memory.  If the columns of a side are of fixed width and by value, a device can
 * have them beside the keys and gather them in the order of the matches.  The matcher decides
 * whether that takes less time.  The values stay in the store as well, for rows without a match or
 * key, and for matches of the CPU, which may take over at any time.
 *
 * GROUPS.  A node above that aggregates can accept groups of rows instead of rows (HgReducer).  A
 * device makes them from the matches if the matches are the join's rows as they are: exact keys, no
 * other quals, no record of matched rows, and columns of fixed width by value.  This is decided for
 * each chunk of the outer side, before its keys are handed over.  A chunk whose matches are not
 * reduced, for whatever reason, streams them; both add up.
 *
 * The matches of an outer join are not all of its rows, so it makes no groups of its own.  It
 * hands up those of a multi-way join at whose top it is (hg_join_star.c).
 *
 * Columns of other types can be grouped by, and counted, if a device has replicas of their codes
 * beside both sides' graphs (resident/hg_resident_graph_version.h).  Values are handed up in place
 * of codes; they lie beside the graph version, and live as long as the join has it.  Numerics are
 * scaled integers there, which can be summed as well.
 *
 * A device can compute columns from column replicas (engine/hg_computed.h).  An argument that is
 * an expression of one side's columns becomes a column of that side, after its operands, and is
 * never sent.  An expression of both sides' columns can be computed only by a multi-way join whose
 * rows all find each other from one table on; the join's own matches then make no groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "backend/device/hg_device_shards.h"
#include "batch/hg_numeric.h"
#include "batch/hg_values.h"
#include "executor/join/hg_join_reduce.h"

struct HgJoinGather
{
	HgUploadColumns upload[2]; /* by HgSide */
	HgColumnSet sets[2];	   /* without columns if the side's cannot be sent */
};

/* HgColumnSet.read for a column store */
static uint64
hg_join_read_column(void *arg, uint32 column, uint64 row, uint64 rows, const void **values,
					const uint8 **nulls)
{
	HgUploadColumns *upload = arg;
	bool any_null;
	int run;

	if (upload->nulls == NULL)
		upload->nulls = MemoryContextAlloc(upload->context, HG_RUN_ROWS * sizeof(bool));
	run = hg_column_store_run(upload->input->held.rows, upload->columns[column], row, rows, values,
							  upload->nulls, &any_null);
	*nulls = any_null ? (const uint8 *) upload->nulls : NULL;
	return (uint64) run;
}

/*
 * Initializes *upload and *set for an input, without columns.  Both must stay at their addresses.
 */
static void
hg_join_init_upload_columns(const HgInput *input, HgUploadColumns *upload, HgColumnSet *set)
{
	upload->input = input;
	upload->context = CurrentMemoryContext;
	set->read = hg_join_read_column;
	set->arg = upload;
}

/*
 * Adds a column of the store, whose values take width bytes, unless the set has it.  *column
 * becomes its index in the set.  Returns false if the set is full.
 */
static bool
hg_join_add_column(HgUploadColumns *upload, HgColumnSet *set, int stored, uint8 width,
				   uint32 *column)
{
	*column = 0;
	while (*column < set->ncolumns && upload->columns[*column] != stored)
		(*column)++;
	if (*column < set->ncolumns)
		return true;
	if (*column == HG_MAX_COLUMNS)
		return false;
	upload->columns[*column] = stored;
	set->widths[*column] = width;
	set->ncolumns++;
	return true;
}

/* Returns true if the values of a stored column can be sent as they are: they are by value. */
static bool
hg_join_can_upload_values(const HgInput *input, int stored)
{
	return input->held.rows->columns[stored].attbyval;
}

HgJoinGather *
hg_join_gather_create(const HgJoinRules *rules, HgInput *const inputs[2])
{
	HgJoinGather *gather;

	if (!rules->return_matched && rules->join_qual == NULL)
		return NULL;
	gather = palloc0(sizeof(HgJoinGather));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgColumnSet *set = &gather->sets[side];
		bool possible = true;
		uint32 column;

		hg_join_init_upload_columns(inputs[side], &gather->upload[side], set);
		for (int stored = 0; stored < inputs[side]->held.ncolumns && possible; stored++)
			possible = hg_join_can_upload_values(inputs[side], stored) &&
					   hg_join_add_column(&gather->upload[side], set, stored,
										  (uint8) inputs[side]->held.rows->columns[stored].attlen,
										  &column);
		if (!possible)
			set->ncolumns = 0;
	}
	return gather;
}

const HgColumnSet *
hg_join_gathered_columns(const HgJoinGather *gather, HgSide side)
{
	return gather != NULL && gather->sets[side].ncolumns > 0 ? &gather->sets[side] : NULL;
}

bool
hg_join_take_gathered(const HgJoinGather *gather, const HgMatcher *matcher, HgSide side,
					  size_t first, const uint16 *which, int count, HgBatch *batch)
{
	const HgMatchValues *matched = hg_matcher_values(matcher, side);
	const HgColumnSet *set;

	if (matched == NULL)
		return false;
	/* the set has the store's columns, in its order */
	set = &gather->sets[side];
	for (uint32 column = 0; column < set->ncolumns; column++)
	{
		const char *values = matched->values[column];
		const uint8 *nulls = matched->nulls[column];
		int at = gather->upload[side].input->held.to[column];

		values += first * set->widths[column];
		if (which != NULL)
			hg_values_gather(set->widths[column], values, which, count, batch->values[at]);
		else
			hg_values_load(set->widths[column], values, count, batch->values[at]);
		batch->has_nulls[at] = nulls != NULL;
		for (int i = 0; nulls != NULL && i < count; i++)
			batch->nulls[at][i] = nulls[first + (which != NULL ? which[i] : i)] != 0;
	}
	return true;
}

/* ---------------------------------------------------------------------
 * Groups
 * ---------------------------------------------------------------------
 */

/* Marks a computed column, in place of a column of the side's store. */
#define HG_UPLOAD_COMPUTED (-1)

struct HgJoinReduction
{
	const HgReducer *reducer;
	HgReduction requested; /* the reducer's spec over columns of the two sides */
	HgUploadColumns sides[2];
	bool of_tree;						/* an outer join: only a multi-way join makes groups */
	bool mixed;							/* an expression uses columns of both sides */
	int expressions[2][HG_MAX_COLUMNS]; /* [side][column] the expression of a computed column */
	HgReduceColumn *operands;			/* [reducer->ncolumns] the operand's column here */
	bool replicas_only;					/* some columns cannot be sent, but have replicas */
	HgJoinCodes codes;					/* codes of the replicas */
	uint64 unreported_rows;				/* rows handed up since hg_join_take_reduced_rows() */
};

/*
 * Adds the column at an index in the scan slot to the reduction: sent, or as a replica.  Returns
 * false if that is not possible, or codes would not suffice in place of values.
 */
static bool
hg_join_reduce_column(HgJoinReduction *reduction, int column_index, bool code_suffices,
					  bool numeric, HgReduceColumn *requested)
{
	for (int s = HG_OUTER; s <= HG_INNER; s++)
	{
		HgUploadColumns *side = &reduction->sides[s];
		int stored = 0;
		uint8 width;

		while (stored < side->input->held.ncolumns && side->input->held.to[stored] != column_index)
			stored++;
		if (stored == side->input->held.ncolumns)
			continue;
		requested->side = (uint32) s;
		if (hg_join_can_upload_values(side->input, stored))
			width = (uint8) side->input->held.rows->columns[stored].attlen;
		else if (numeric || code_suffices)
		{
			width = numeric ? HG_GRAPH_SCALED_WIDTH : HG_GRAPH_CODE_WIDTH;
			requested->is_signed = numeric ? 1 : 0;
			reduction->replicas_only = true;
		}
		else
			return false;
		return hg_join_add_column(side, &reduction->requested.columns[s], stored, width,
								  &requested->column);
	}
	return false;
}

/* Adds an operand of an expression; returns false as above. */
static bool
hg_join_reduce_operand(HgJoinReduction *reduction, int column, int column_index)
{
	reduction->operands[column] = (HgReduceColumn){.is_signed = 1};
	return hg_join_reduce_column(reduction, column_index, false, true,
								 &reduction->operands[column]);
}

/*
 * Adds an expression as a computed column, on the side of its first operand and after its
 * operands.  Returns false if that is not possible.
 */
static bool
hg_join_reduce_expression(HgJoinReduction *reduction, int expression, const int *column_indexes,
						  HgReduceColumn *requested)
{
	Bitmapset *columns = reduction->reducer->columns(reduction->reducer->arg, expression);
	const int first = bms_next_member(columns, -1);
	HgColumnSet *set;
	HgSide side;

	if (first < 0)
		return false;
	for (int column = first; column >= 0; column = bms_next_member(columns, column))
	{
		if (!hg_join_reduce_operand(reduction, column, column_indexes[column]))
			return false;
		reduction->mixed |= reduction->operands[column].side != reduction->operands[first].side;
	}
	bms_free(columns);
	side = (HgSide) reduction->operands[first].side;
	set = &reduction->requested.columns[side];
	requested->side = (uint32) side;
	reduction->replicas_only = true;
	for (requested->column = 0; requested->column < set->ncolumns; requested->column++)
		if (reduction->sides[side].columns[requested->column] == HG_UPLOAD_COMPUTED &&
			reduction->expressions[side][requested->column] == expression)
			return true;
	if (set->ncolumns == HG_MAX_COLUMNS)
		return false;
	reduction->sides[side].columns[set->ncolumns] = HG_UPLOAD_COMPUTED;
	reduction->expressions[side][set->ncolumns] = expression;
	set->widths[set->ncolumns++] = HG_COMPUTED_WIDTH;
	return true;
}

/* Adds all of the reducer's columns; returns false as above. */
static bool
hg_join_reduce_columns(HgJoinReduction *reduction, const int *column_indexes)
{
	const HgReducer *reducer = reduction->reducer;
	HgReduceSpec *spec = &reduction->requested.spec;

	for (uint32 i = 0; i < spec->nkeys; i++)
		if (!hg_join_reduce_column(reduction, column_indexes[spec->keys[i].column], true,
								   reducer->numeric_keys[i], &spec->keys[i]))
			return false;
	for (uint32 i = 0; i < spec->nitems; i++)
	{
		HgReduceColumn *argument = &spec->items[i].argument;

		if (argument->column >= reducer->ncolumns
				? !hg_join_reduce_expression(reduction,
											 (int) (argument->column - reducer->ncolumns),
											 column_indexes, argument)
				: !hg_join_reduce_column(reduction, column_indexes[argument->column],
										 spec->items[i].kind == HG_REDUCE_COUNT,
										 reducer->numeric_items[i], argument))
			return false;
	}
	return true;
}

HgJoinReduction *
hg_join_reduction_create(const HgJoinRules *rules, HgInput *const inputs[2],
						 const HgReducer *reducer, const int *column_indexes)
{
	HgJoinReduction *reduction;
	const bool of_tree = rules->join_type == JOIN_LEFT || rules->join_type == JOIN_RIGHT;

	/* other join types, and quals, need the matches of each row */
	if ((rules->join_type != JOIN_INNER && rules->join_type != JOIN_SEMI && !of_tree) ||
		rules->join_qual != NULL)
		return NULL;
	/* without columns, matches are counted, which needs no groups */
	if (reducer->spec.nkeys + reducer->spec.nitems == 0)
		return NULL;
	reduction = palloc0(sizeof(HgJoinReduction));
	reduction->reducer = reducer;
	reduction->of_tree = of_tree;
	reduction->requested.spec = reducer->spec;
	reduction->operands = palloc0(Max(reducer->ncolumns, 1) * sizeof(HgReduceColumn));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		hg_join_init_upload_columns(inputs[side], &reduction->sides[side],
									&reduction->requested.columns[side]);
	if (hg_join_reduce_columns(reduction, column_indexes))
		return reduction;
	pfree(reduction->operands);
	pfree(reduction);
	return NULL;
}

bool
hg_join_reduces_matches(const HgJoinReduction *reduction)
{
	return reduction != NULL && !reduction->of_tree && !reduction->mixed;
}

bool
hg_join_reduction_is_mixed(const HgJoinReduction *reduction)
{
	return reduction != NULL && reduction->mixed;
}

const HgReduction *
hg_join_planned_reduction(const HgJoinReduction *reduction)
{
	return hg_join_reduces_matches(reduction) && !reduction->replicas_only ? &reduction->requested
																		   : NULL;
}

const HgReduction *
hg_join_requested_reduction(HgJoinReduction *reduction)
{
	HgReduceSpec *spec = &reduction->requested.spec;
	uint64 more = 0;

	/* groups of several devices are here once more while they are merged (engine/hg_sharded.h) */
	if (hg_device_shards_is_possible())
		more = hg_reduce_words(spec) * sizeof(uint64);
	spec->max_groups = reduction->reducer->room(reduction->reducer->arg, more);
	return reduction->requested.spec.max_groups > 0 ? &reduction->requested : NULL;
}

const HgReduction *
hg_join_current_reduction(HgJoinReduction *reduction, const HgJoinMatched matched[2])
{
	if (!hg_join_reduces_matches(reduction) || matched[HG_OUTER].tracked ||
		matched[HG_INNER].tracked)
		return NULL;
	/* a device has replicas of covered rows only, and joins only these */
	if (reduction->replicas_only && (reduction->sides[HG_OUTER].input->child.covered == NULL ||
									 reduction->sides[HG_INNER].input->child.covered == NULL))
		return NULL;
	return hg_join_requested_reduction(reduction);
}

const HgColumnSet *
hg_join_reduction_columns(const HgJoinReduction *reduction, HgSide side)
{
	return &reduction->requested.columns[side];
}

int
hg_join_reduction_column(const HgJoinReduction *reduction, HgSide side, uint32 column)
{
	const HgUploadColumns *upload = &reduction->sides[side];

	return upload->input->child.from[upload->columns[column]];
}

void
hg_join_reduction_numbers(const HgJoinReduction *reduction, HgSide side,
						  AttrNumber numbers[HG_MAX_COLUMNS])
{
	const HgCovered *covered = reduction->sides[side].input->child.covered;

	for (uint32 column = 0; column < reduction->requested.columns[side].ncolumns; column++)
		if (reduction->sides[side].columns[column] != HG_UPLOAD_COMPUTED)
			numbers[column] =
				covered->columns[hg_join_reduction_column(reduction, side, column)].column.number;
}

int
hg_join_reduction_expression(const HgJoinReduction *reduction, HgSide side, uint32 column)
{
	return reduction->sides[side].columns[column] == HG_UPLOAD_COMPUTED
			   ? reduction->expressions[side][column]
			   : -1;
}

void
hg_join_reduction_operands(const HgJoinReduction *reduction, int expression, uint32 operands[2])
{
	const HgReducer *reducer = reduction->reducer;
	Bitmapset *columns = reducer->columns(reducer->arg, expression);
	int column = -1;

	operands[HG_OUTER] = operands[HG_INNER] = 0;
	while ((column = bms_next_member(columns, column)) >= 0)
	{
		const HgReduceColumn *operand = &reduction->operands[column];

		operands[operand->side] |= UINT32_C(1) << operand->column;
	}
	bms_free(columns);
}

bool
hg_join_reduction_program(const HgJoinReduction *reduction, int expression,
						  HgOperand operands[2][HG_MAX_COLUMNS], HgProgram *program, int *scale)
{
	const HgReducer *reducer = reduction->reducer;
	HgOperand *of_source = palloc0(Max(reducer->ncolumns, 1) * sizeof(HgOperand));
	bool written;

	for (uint32 c = 0; c < reducer->ncolumns; c++)
		of_source[c] = operands[reduction->operands[c].side][reduction->operands[c].column];
	written = reducer->compute(reducer->arg, expression, of_source, program, scale);
	pfree(of_source);
	return written;
}

HgJoinCodes *
hg_join_reduction_codes(HgJoinReduction *reduction)
{
	return &reduction->codes;
}

bool
hg_join_reduction_is_coded(const HgJoinReduction *reduction, HgSide side, uint32 column)
{
	const HgUploadColumns *upload = &reduction->sides[side];

	Assert(upload->columns[column] != HG_UPLOAD_COMPUTED);
	return !hg_join_can_upload_values(upload->input, upload->columns[column]);
}

/* Returns the value of a coded key.  A numeric is stored at the given address. */
static Datum
hg_join_decode_key(const HgGraphCodes *codes, const HgScaledFormat *format, uint64 word,
				   char *numeric)
{
	if (codes->scale < 0)
		return PointerGetDatum(hg_graph_code_value(codes, (uint32) word));
	(void) hg_scaled_store(format, (int64) word, numeric);
	return PointerGetDatum(numeric);
}

/* Replaces codes and scaled integers by Datums in records' keys; the matcher has checked them. */
static void
hg_join_decode(const HgReduceSpec *spec, const HgJoinCodes *all, const HgGroupSet *groups)
{
	const uint32 words = hg_reduce_words(spec);

	/* without groups there is nothing to allocate in */
	for (uint32 k = 0; k < spec->nkeys && groups->count > 0; k++)
	{
		const HgReduceColumn *key = &spec->keys[k];
		const HgGraphCodes *codes = all->of[key->side][key->column];
		HgScaledFormat format = {0};
		char *numerics = NULL;

		if (codes == NULL)
			continue;
		if (codes->scale >= 0)
		{
			format = hg_scaled_format(codes->scale);
			numerics = MemoryContextAllocHuge(GetMemoryChunkContext(groups->words),
											  groups->count * HG_SCALED_BYTES);
		}
		for (uint64 i = 0; i < groups->count; i++)
		{
			uint64 *record = groups->words + i * words;

			if ((record[spec->nkeys] >> k & 1) == 0)
				record[k] =
					hg_join_decode_key(codes, &format, record[k], numerics + i * HG_SCALED_BYTES);
		}
	}
}

/* Sets the display scales of items. */
static void
hg_join_scales(const HgReduceSpec *spec, const HgJoinCodes *all, int scales[HG_MAX_REDUCE_ITEMS])
{
	for (uint32 i = 0; i < spec->nitems; i++)
	{
		const HgReduceColumn *argument = &spec->items[i].argument;

		scales[i] = all->scales[argument->side][argument->column];
	}
}

void
hg_join_hand_up(HgJoinReduction *reduction, const HgReduceSpec *spec, const HgJoinCodes *codes,
				const HgGroupSet *groups)
{
	int scales[HG_MAX_REDUCE_ITEMS] = {0};

	if (reduction->replicas_only)
	{
		hg_join_decode(spec, codes, groups);
		hg_join_scales(spec, codes, scales);
	}
	reduction->unreported_rows += groups->pairs;
	reduction->reducer->take(reduction->reducer->arg, groups->words, groups->count, scales);
}

bool
hg_join_reduce(HgJoinReduction *reduction, HgMatcher *matcher)
{
	HgGroupSet groups;

	if (reduction == NULL || !hg_matcher_reduce(matcher, &groups))
		return false;
	hg_join_hand_up(reduction, &reduction->requested.spec, &reduction->codes, &groups);
	return !groups.partial;
}

uint64
hg_join_take_reduced_rows(HgJoinReduction *reduction)
{
	uint64 rows = 0;

	if (reduction != NULL)
	{
		rows = reduction->unreported_rows;
		reduction->unreported_rows = 0;
	}
	return rows;
}
