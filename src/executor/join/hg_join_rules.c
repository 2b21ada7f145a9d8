/*-------------------------------------------------------------------------
 *
 * hg_join_rules.c
 *	  Which pairs and rows a join returns, rechecks of pairs, and the names of join types.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/primnodes.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "executor/join/hg_join_rules.h"

void
hg_join_rules_init(HgJoinRules *rules, JoinType join_type, bool inner_unique)
{
	*rules =
		(HgJoinRules){.join_type = join_type, .single_match = inner_unique, .return_matched = true};
	switch (join_type)
	{
		case JOIN_INNER:
			break;
		case JOIN_LEFT:
			rules->preserved[HG_OUTER] = true;
			break;
		case JOIN_RIGHT:
			rules->preserved[HG_INNER] = true;
			break;
		case JOIN_FULL:
			rules->preserved[HG_OUTER] = rules->preserved[HG_INNER] = true;
			break;
		case JOIN_SEMI:
			rules->single_match = true;
			break;
		case JOIN_ANTI:
			rules->single_match = true;
			rules->preserved[HG_OUTER] = true;
			rules->return_matched = false;
			break;
#if HG_HAVE_RIGHT_ANTI
		case JOIN_RIGHT_ANTI:
			rules->single_inner = true;
			rules->preserved[HG_INNER] = true;
			rules->return_matched = false;
			break;
#endif
#if HG_HAVE_RIGHT_SEMI
		case JOIN_RIGHT_SEMI:
			rules->single_inner = true;
			break;
#endif
		default:
			elog(ERROR, "unexpected join type %d", (int) join_type);
	}
}

const char *
hg_join_type_name(JoinType join_type)
{
	switch (join_type)
	{
		case JOIN_INNER:
			return "Inner";
		case JOIN_LEFT:
			return "Left";
		case JOIN_RIGHT:
			return "Right";
		case JOIN_FULL:
			return "Full";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
#if HG_HAVE_RIGHT_ANTI
		case JOIN_RIGHT_ANTI:
			return "Right Anti";
#endif
#if HG_HAVE_RIGHT_SEMI
		case JOIN_RIGHT_SEMI:
			return "Right Semi";
#endif
		default:
			elog(ERROR, "unexpected join type %d", (int) join_type);
			return NULL;
	}
}

/* ---------------------------------------------------------------------
 * Rechecks
 *
 * The values lie all over memory, in the order of the matches, so they are prefetched.
 * ---------------------------------------------------------------------
 */

/* Number of rows that values are prefetched ahead. */
#define HG_RECHECK_AHEAD 16

/* Two columns whose bytes are compared. */
typedef struct HgSameColumns
{
	int left;
	int right;
	int16 length; /* typlen of their types */
} HgSameColumns;

struct HgJoinRecheck
{
	int ncolumns;
	HgSameColumns columns[FLEXIBLE_ARRAY_MEMBER];
};

/* Returns true if an operator's function holds two values equal whenever their bytes are. */
static bool
hg_join_recheck_holds(const OpExpr *op)
{
	switch (op->opfuncid)
	{
		case F_TEXTEQ:
		case F_BPCHAREQ:
			/* without a collation they raise an error, which must not be skipped */
			return OidIsValid(op->inputcollid);
		case F_BYTEAEQ:
		case F_NUMERIC_EQ:
		case F_UUID_EQ:
		case F_INTERVAL_EQ:
		case F_TIMETZ_EQ:
		case F_NETWORK_EQ:
			return true;
		default:
			return false;
	}
}

/* Returns the column that an argument is, relabeled or not; NULL: it is no column. */
static const Var *
hg_join_recheck_column(Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) ? (const Var *) node : NULL;
}

HgJoinRecheck *
hg_join_recheck_create(List *qual)
{
	HgJoinRecheck *recheck =
		palloc(offsetof(HgJoinRecheck, columns) + list_length(qual) * sizeof(HgSameColumns));
	ListCell *lc;

	recheck->ncolumns = 0;
	foreach (lc, qual)
	{
		const OpExpr *op = lfirst(lc);
		HgSameColumns *columns = &recheck->columns[recheck->ncolumns++];
		const Var *left;
		const Var *right;

		if (!IsA(op, OpExpr) || list_length(op->args) != 2 || !hg_join_recheck_holds(op))
			break;
		left = hg_join_recheck_column(linitial(op->args));
		right = hg_join_recheck_column(lsecond(op->args));
		if (left == NULL || right == NULL ||
			get_typlen(left->vartype) != get_typlen(right->vartype))
			break;
		columns->left = left->varattno - 1;
		columns->right = right->varattno - 1;
		columns->length = get_typlen(left->vartype);
	}
	if (recheck->ncolumns > 0 && lc == NULL)
		return recheck;
	pfree(recheck);
	return NULL;
}

/*
 * Returns true if two varlenas are in line, uncompressed, and have the same bytes behind their
 * headers.  A computed value has a long header, so that the headers may differ.
 */
static inline bool
hg_join_recheck_varlena(const char *left, const char *right)
{
	if (VARATT_IS_SHORT(left) && VARATT_IS_SHORT(right))
		return !VARATT_IS_EXTERNAL(left) && *left == *right &&
			   memcmp(left, right, VARSIZE_SHORT(left)) == 0;
	if (VARATT_IS_EXTERNAL(left) || VARATT_IS_COMPRESSED(left) || VARATT_IS_EXTERNAL(right) ||
		VARATT_IS_COMPRESSED(right))
		return false;
	return VARSIZE_ANY_EXHDR(left) == VARSIZE_ANY_EXHDR(right) &&
		   memcmp(VARDATA_ANY(left), VARDATA_ANY(right), VARSIZE_ANY_EXHDR(left)) == 0;
}

void
hg_join_recheck_rows(const HgJoinRecheck *recheck, const HgBatch *batch, bool *same)
{
	memset(same, true, batch->nrows * sizeof(bool));
	for (int c = 0; c < recheck->ncolumns; c++)
	{
		const HgSameColumns *columns = &recheck->columns[c];
		const Datum *left = batch->values[columns->left];
		const Datum *right = batch->values[columns->right];
		const bool *left_nulls =
			batch->has_nulls[columns->left] ? batch->nulls[columns->left] : NULL;
		const bool *right_nulls =
			batch->has_nulls[columns->right] ? batch->nulls[columns->right] : NULL;

		for (int i = 0; i < batch->nrows; i++)
		{
			int ahead = Min(i + HG_RECHECK_AHEAD, batch->nrows - 1);

			HG_PREFETCH(DatumGetPointer(left[ahead]));
			HG_PREFETCH(DatumGetPointer(right[ahead]));
			/* two columns of one side may be NULL, as their comparison is no key */
			if (!same[i] || (left_nulls != NULL && left_nulls[i]) ||
				(right_nulls != NULL && right_nulls[i]))
			{
				same[i] = false;
				continue;
			}
			same[i] =
				columns->length == -1
					? hg_join_recheck_varlena(DatumGetPointer(left[i]), DatumGetPointer(right[i]))
					: memcmp(DatumGetPointer(left[i]), DatumGetPointer(right[i]),
							 columns->length) == 0;
		}
	}
}
