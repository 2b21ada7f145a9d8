/*-------------------------------------------------------------------------
 *
 * hg_join_recheck.c
 *	  Matches whose key values have the same bytes, which need not be asked the operator.
 *
 * The values lie all over memory, in the order of the matches: they are asked for some rows ahead.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/primnodes.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "executor/join/hg_join_recheck.h"

/* Values are asked for so many rows ahead. */
#define HG_RECHECK_AHEAD 16

/* Two columns that are to have the same bytes. */
typedef struct HgSameColumns
{
	int left;
	int right;
	int16 length; /* of their types */
} HgSameColumns;

struct HgJoinRecheck
{
	int ncolumns;
	HgSameColumns columns[FLEXIBLE_ARRAY_MEMBER];
};

/* Are two values equal to an operator's function if their bytes are the same? */
static bool
hg_join_recheck_holds(const OpExpr *op)
{
	switch (op->opfuncid)
	{
		case F_TEXTEQ:
		case F_BPCHAREQ:
			/* without a collation they raise an error */
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

/* The column that an argument is, whatever its type is called; NULL: it is none. */
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
 * True if two values of variable length are in line, not compressed, and have the same bytes behind
 * their headers, which may differ in length: a computed value has a long one.
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
			/* two columns of one side may be NULL: their comparison is no key's */
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
