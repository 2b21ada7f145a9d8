/*-------------------------------------------------------------------------
 *
 * hg_scan_qual.c
 *	  The part of a table scan's qual that is evaluated over columns.
 *
 * Clauses that are predicates (hg_predicate.h) are applied to all rows of a batch, one
 * clause after the other.  A row that a predicate cannot decide gets a recheck by the whole qual,
 * in core's order, unless another predicate rejects it.
 *
 * Order: core evaluates the clauses of a qual in order, and none behind one that does not hold.
 * Predicates are applied ahead of other clauses all the same.  That is invisible for predicates,
 * which raise no error and leak no value.  The other clauses are evaluated for fewer rows, which
 * must be invisible too:
 *
 * - A clause that calls volatile functions is evaluated for the same rows as in core: a predicate
 *   behind it stays there.
 * - A parameter may be the result of a plan that is run when first needed, if ever.  Until then, a
 *   predicate behind it stays there too (in_order).
 * - Of any other clause, only errors are visible, and those of rejected rows do not occur.  Core
 *   has that freedom too: it orders clauses by cost, and lets a cheap leakproof one overtake even
 *   the quals of a security barrier.  Not all operators here are marked leakproof: those of a date
 *   with a timestamp, LIKE and arithmetic are not.  But they are compiled into comparisons of
 *   integers and bytes, which are leakproof.
 *
 * Arithmetic raises no error here: rows whose numbers do not fit get a recheck by the whole qual,
 * which reaches the clause in order.  Predicates that compute nothing go ahead of those that do,
 * as they go ahead of all other clauses.  Those that compute keep core's order among themselves:
 * none rejects a row that one before it could not decide.
 *
 * The regression topic page_scan counts the calls, and scan_filters compares the rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "batch/hg_bound_params.h"
#include "batch/hg_predicate.h"
#include "batch/hg_scan_qual.h"

/* Parts: ahead of a parameter, and behind one; in each, predicates without arithmetic first. */
#define HG_QUAL_PARTS 4

struct HgColumnQual
{
	int nfirst; /* predicates ahead of the first clause with a parameter */
	int npredicates;
	HgPredicate **predicates; /* [npredicates] all of which must hold */
	int nattnos;
	AttrNumber *attnos;	   /* [nattnos] of the columns that are read */
	HgTupleLayout *layout; /* of the columns that are read */
	HgBatch *batch;
};

struct HgQualShares
{
	int npredicates;
	HgPredicateShare shares[FLEXIBLE_ARRAY_MEMBER]; /* [npredicates] */
};

bool
hg_column_qual_takes(Node *clause)
{
	/* predicates of many constants are large, and this one is not used */
	MemoryContext work =
		AllocSetContextCreate(CurrentMemoryContext, "hashgraph predicate", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	bool takes = hg_predicate_from_clause(hg_blank_params(clause), true) != NULL;

	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return takes;
}

/* Adds predicates, merged by column; a clause may become several. */
static void
hg_column_qual_add(HgColumnQual *qual, int n, HgPredicate **predicates)
{
	HgPredicate *all;
	HgPredicate **args;
	bool parted;
	int nargs;

	if (n == 0)
		return;
	all = hg_predicate_combine(HG_PREDICATE_AND, n, predicates);
	/*
	 * a single clause that computes is not split: where one part is NULL, core evaluates the next,
	 * which may raise an error
	 */
	parted = all->kind == HG_PREDICATE_AND && (n > 1 || all->nterms == 0);
	args = parted ? all->args : &all;
	nargs = parted ? all->nargs : 1;
	qual->predicates =
		repalloc(qual->predicates, (qual->npredicates + nargs) * sizeof(HgPredicate *));
	memcpy(qual->predicates + qual->npredicates, args, nargs * sizeof(HgPredicate *));
	qual->npredicates += nargs;
}

/* Compiles the predicates of a qual, by part, and collects the other clauses. */
static void
hg_column_qual_take(List *qual, HgPredicate **parts[HG_QUAL_PARTS], int n[HG_QUAL_PARTS],
					List **rest)
{
	bool param_ahead = false;
	bool volatile_ahead = false;
	int nterms = 0;
	ListCell *lc;

	foreach (lc, qual)
	{
		HgPredicate *predicate = volatile_ahead ? NULL : hg_predicate_from_clause(lfirst(lc), true);

		/* each term takes memory that no budget counts */
		if (predicate != NULL && nterms + predicate->nterms <= HG_MAX_COMPARED_TERMS)
		{
			int part = param_ahead * 2 + (predicate->nterms > 0);

			parts[part][n[part]++] = predicate;
			nterms += predicate->nterms;
		}
		else
		{
			*rest = lappend(*rest, lfirst(lc));
			param_ahead = param_ahead || hg_find_params(lfirst(lc), PARAM_EXEC) != NULL;
			volatile_ahead = volatile_ahead || contain_volatile_functions(lfirst(lc));
		}
	}
}

HgColumnQual *
hg_column_qual_create(TupleDesc desc, List *qual, List **rest)
{
	HgColumnQual *columns;
	HgPredicate **parts[HG_QUAL_PARTS];
	int n[HG_QUAL_PARTS] = {0};

	*rest = NIL;
	for (int p = 0; p < HG_QUAL_PARTS; p++)
		parts[p] = palloc(Max(list_length(qual), 1) * sizeof(HgPredicate *));
	hg_column_qual_take(qual, parts, n, rest);
	if (n[0] + n[1] + n[2] + n[3] == 0)
		return NULL;
	columns = palloc0(sizeof(HgColumnQual));
	columns->predicates = palloc(sizeof(HgPredicate *));
	hg_column_qual_add(columns, n[0], parts[0]);
	hg_column_qual_add(columns, n[1], parts[1]);
	columns->nfirst = columns->npredicates;
	hg_column_qual_add(columns, n[2], parts[2]);
	hg_column_qual_add(columns, n[3], parts[3]);
	columns->attnos = palloc(Max(desc->natts, 1) * sizeof(AttrNumber));
	for (int i = 0; i < columns->npredicates; i++)
		hg_predicate_bind(columns->predicates[i], desc, columns->attnos, &columns->nattnos);
	columns->layout = hg_tuple_layout_create(desc, columns->nattnos, columns->attnos);
	columns->batch = hg_batch_create(columns->nattnos);
	for (int c = 0; c < columns->nattnos; c++)
		columns->batch->takes_scaled[c] = true;
	for (int i = 0; i < columns->npredicates; i++)
		hg_predicate_mark_codes(columns->predicates[i], columns->batch->takes_codes);
	return columns;
}

bool
hg_column_qual_is_fixed(const HgColumnQual *qual)
{
	return hg_tuple_layout_is_fixed(qual->layout);
}

int
hg_column_qual_attributes(const HgColumnQual *qual, const AttrNumber **attnos)
{
	*attnos = qual->attnos;
	return qual->nattnos;
}

HgBatch *
hg_column_qual_batch(HgColumnQual *qual)
{
	hg_batch_clear(qual->batch);
	return qual->batch;
}

HgQualShares *
hg_column_qual_shares_create(const HgColumnQual *qual)
{
	Size bytes = offsetof(HgQualShares, shares) + qual->npredicates * sizeof(HgPredicateShare);
	HgQualShares *shares = palloc0(bytes);

	shares->npredicates = qual->npredicates;
	return shares;
}

void
hg_column_qual_set_shares(const HgColumnQual *qual, const HgValueBounds *bounds,
						  HgQualShares *shares)
{
	for (int p = 0; p < shares->npredicates; p++)
		shares->shares[p] = hg_predicate_share(qual->predicates[p], bounds);
}

HgPredicateShare
hg_column_qual_share(const HgColumnQual *qual, bool in_order, const HgQualShares *shares)
{
	int npredicates = in_order ? qual->nfirst : shares->npredicates;
	HgPredicateShare share = HG_SHARE_ALL;

	for (int p = 0; p < npredicates; p++)
		share = Min(share, shares->shares[p]);
	return share;
}

HgPredicateShare
hg_column_qual_predicate_share(const HgQualShares *shares, int number)
{
	return shares->shares[number];
}

int
hg_column_qual_count(const HgColumnQual *qual, bool in_order)
{
	return in_order ? qual->nfirst : qual->npredicates;
}

HgPredicate *
hg_column_qual_predicate(const HgColumnQual *qual, int number)
{
	return qual->predicates[number];
}

void
hg_selected_rows_init(HgSelectedRows *left, int n)
{
	left->n = n;
	left->any_recheck = false;
}

/* Finds the selected ones of n rows; returns their number. */
static int
hg_selected_rows_find(const bool *selected, int n, uint16 *which)
{
	const int step = sizeof(uint64);
	int nselected = 0;

	for (int first = 0; first < n; first += step)
	{
		int end = Min(first + step, n);
		uint64 any = 1;

		/* mostly, few rows are selected */
		if (end - first == step)
			memcpy(&any, selected + first, step);
		if (any == 0)
			continue;
		for (int i = first; i < end; i++)
		{
			/* a branch would often be mispredicted */
			which[nselected] = i;
			nselected += selected[i];
		}
	}
	return nselected;
}

void
hg_selected_rows_filter(HgSelectedRows *left, const bool *holds, const bool *recheck)
{
	bool selected[HG_BATCH_ROWS];

	if (recheck != NULL)
	{
		for (int i = 0; i < left->n; i++)
			selected[i] = holds[i] | recheck[i];
		if (!left->any_recheck)
			memset(left->recheck, false, sizeof(left->recheck));
		left->any_recheck = true;
	}
	left->n = hg_selected_rows_find(recheck != NULL ? selected : holds, left->n, left->which);
	for (int k = 0; left->any_recheck && k < left->n; k++)
		left->recheck[k] =
			left->recheck[left->which[k]] | (recheck != NULL && recheck[left->which[k]]);
}

/* Clears selected[i] if the predicate fails for row i; sets unknown[i] if it cannot tell. */
static bool
hg_column_qual_apply(HgPredicate *predicate, const HgBatch *batch, bool *selected, bool *unknown)
{
	bool holds[HG_BATCH_ROWS];
	bool recheck[HG_BATCH_ROWS];
	bool any;

	memset(recheck, false, batch->nrows * sizeof(bool));
	any = hg_predicate_apply(predicate, batch, holds, recheck);
	if (predicate->nterms > 0)
		for (int i = 0; i < batch->nrows; i++)
			holds[i] |= unknown[i];
	for (int i = 0; any && i < batch->nrows; i++)
	{
		holds[i] |= recheck[i];
		unknown[i] |= recheck[i];
	}
	for (int i = 0; i < batch->nrows; i++)
		selected[i] &= holds[i];
	return any;
}

/* Applies the predicates to the rows of the qual's batch. */
static void
hg_column_qual_apply_all(HgColumnQual *qual, bool in_order, HgSelectedRows *left)
{
	int npredicates = hg_column_qual_count(qual, in_order);
	int nrows = qual->batch->nrows;
	bool selected[HG_BATCH_ROWS];
	bool unknown[HG_BATCH_ROWS];
	bool any = false;

	memset(selected, true, nrows * sizeof(bool));
	memset(unknown, false, nrows * sizeof(bool));
	for (int p = 0; p < npredicates; p++)
		any |= hg_column_qual_apply(qual->predicates[p], qual->batch, selected, unknown);
	/* another predicate may have rejected such a row */
	for (int i = 0; any && i < nrows; i++)
		unknown[i] &= selected[i];
	hg_selected_rows_init(left, nrows);
	hg_selected_rows_filter(left, selected, any ? unknown : NULL);
}

void
hg_column_qual_filter(HgColumnQual *qual, bool in_order, int ntuples, const HeapTupleHeader *tuples,
					  HgSelectedRows *left)
{
	hg_tuple_layout_add(qual->layout, ntuples, tuples, hg_column_qual_batch(qual));
	hg_column_qual_apply_all(qual, in_order, left);
}
