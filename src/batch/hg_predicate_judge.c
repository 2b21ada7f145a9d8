/*-------------------------------------------------------------------------
 *
 * hg_predicate_judge.c
 *	  Decides, by bounds of all values, whether a predicate has all, some or none of the rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_predicate_judge.h"

static HgPredicateShare
hg_predicate_judge_args(const HgPredicate *predicate, const HgValueBounds *bounds)
{
	/* one decisive argument decides; otherwise all must have the other share */
	HgPredicateShare decisive = predicate->kind == HG_PREDICATE_AND ? HG_SHARE_NONE : HG_SHARE_ALL;
	HgPredicateShare share = predicate->kind == HG_PREDICATE_AND ? HG_SHARE_ALL : HG_SHARE_NONE;

	for (int a = 0; a < predicate->nargs; a++)
	{
		HgPredicateShare one = hg_predicate_judge(predicate->args[a], bounds);

		if (one == decisive)
			return decisive;
		if (one == HG_SHARE_SOME)
			share = HG_SHARE_SOME;
	}
	return share;
}

HgPredicateShare
hg_predicate_judge(const HgPredicate *predicate, const HgValueBounds *bounds)
{
	const HgValueBounds *column = &bounds[predicate->column];
	HgPredicateShare share;

	/* an error in any row must be raised, whatever the other arguments are */
	if (predicate->nterms > 0)
		return HG_SHARE_SOME;
	switch (predicate->kind)
	{
		case HG_PREDICATE_NONE:
			return HG_SHARE_NONE;
		case HG_PREDICATE_ALL:
			return HG_SHARE_ALL;
		case HG_PREDICATE_AND:
		case HG_PREDICATE_OR:
			return hg_predicate_judge_args(predicate, bounds);
		case HG_PREDICATE_NOT:
			share = hg_predicate_judge(predicate->args[0], bounds);
			return share == HG_SHARE_NONE  ? HG_SHARE_ALL
				   : share == HG_SHARE_ALL ? HG_SHARE_NONE
										   : HG_SHARE_SOME;
		case HG_PREDICATE_IS_NULL:
			return column->all_nulls   ? HG_SHARE_ALL
				   : column->has_nulls ? HG_SHARE_SOME
									   : HG_SHARE_NONE;
		case HG_PREDICATE_NOT_NULL:
			return column->all_nulls   ? HG_SHARE_NONE
				   : column->has_nulls ? HG_SHARE_SOME
									   : HG_SHARE_ALL;
		case HG_PREDICATE_INTEGER:
		case HG_PREDICATE_NUMERIC:
			if (column->all_nulls)
				return HG_SHARE_NONE;
			if (!column->known)
				return HG_SHARE_SOME;
			if (!hg_intervals_meet(predicate->set, column->low, column->high))
				return HG_SHARE_NONE;
			return !column->has_nulls &&
						   hg_intervals_cover(predicate->set, column->low, column->high)
					   ? HG_SHARE_ALL
					   : HG_SHARE_SOME;
		case HG_PREDICATE_ORDER:
			return column->all_nulls || bounds[predicate->other].all_nulls ? HG_SHARE_NONE
																		   : HG_SHARE_SOME;
		case HG_PREDICATE_COMPUTED:
		case HG_PREDICATE_COMPUTED_ORDER:
			return HG_SHARE_SOME;
		case HG_PREDICATE_BYTES:
		case HG_PREDICATE_EQUAL:
		case HG_PREDICATE_LIKE:
			return column->all_nulls ? HG_SHARE_NONE : HG_SHARE_SOME;
	}
	pg_unreachable();
}
