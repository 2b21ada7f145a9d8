/*-------------------------------------------------------------------------
 *
 * hg_bound_params.c
 *	  Replaces a query's parameters in expressions by their values.
 *
 * A generic plan has parameters where a custom plan has constants.  Predicates and arithmetic over
 * columns need constants, and are set up when the plan begins, when the values are known.  The
 * parameters replaced are those that eval_const_expressions() folds.  Results of plans, including
 * initial plans, are known later and may change; the caller decides when they are replaced.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "batch/hg_bound_params.h"

/* The parameters of a kind that a walk has found. */
typedef struct HgParamSearch
{
	ParamKind kind;
	Bitmapset *found;
} HgParamSearch;

static bool
hg_find_params_walker(Node *node, HgParamSearch *search)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == search->kind &&
		((Param *) node)->paramid >= 0)
		search->found = bms_add_member(search->found, ((Param *) node)->paramid);
	return expression_tree_walker(node, hg_find_params_walker, search);
}

Bitmapset *
hg_find_params(Node *expr, ParamKind kind)
{
	HgParamSearch search = {.kind = kind};

	(void) hg_find_params_walker(expr, &search);
	return search.found;
}

static Node *
hg_param_make_constant(const Param *param, Datum value, bool isnull)
{
	int16 length;
	bool by_value;

	get_typlenbyval(param->paramtype, &length, &by_value);
	return (Node *) makeConst(param->paramtype, param->paramtypmod, param->paramcollid, length,
							  isnull ? (Datum) 0 : datumCopy(value, by_value, length), isnull,
							  by_value);
}

/* Returns the constant for a query's parameter, or NULL if it is not known to be constant. */
static Node *
hg_param_constant(const Param *param, ParamListInfo params)
{
	ParamExternData room;
	const ParamExternData *value;

	if (params == NULL || param->paramid <= 0 || param->paramid > params->numParams)
		return NULL;
	value = params->paramFetch != NULL ? params->paramFetch(params, param->paramid, true, &room)
									   : &params->params[param->paramid - 1];
	if (value->ptype != param->paramtype || (value->pflags & PARAM_FLAG_CONST) == 0)
		return NULL;
	return hg_param_make_constant(param, value->value, value->isnull);
}

/* Returns the constant for a parameter that a plan computes, or NULL if it is not computed yet. */
static Node *
hg_param_computed(const Param *param, const ParamExecData *values)
{
	const ParamExecData *value = &values[param->paramid];

	if (value->execPlan != NULL)
		return NULL;
	return hg_param_make_constant(param, value->value, value->isnull);
}

/* The values of parameters. */
typedef struct HgParamValues
{
	ParamListInfo given;
	const ParamExecData *computed; /* or NULL: PARAM_EXECs are not replaced */
} HgParamValues;

static Node *
hg_bind_params_mutator(Node *node, HgParamValues *values)
{
	const Param *param = (const Param *) node;
	Node *constant = NULL;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Param))
		return expression_tree_mutator(node, hg_bind_params_mutator, values);
	if (param->paramkind == PARAM_EXTERN)
		constant = hg_param_constant(param, values->given);
	else if (param->paramkind == PARAM_EXEC && values->computed != NULL)
		constant = hg_param_computed(param, values->computed);
	return constant != NULL ? constant : copyObject(node);
}

Node *
hg_bind_params(Node *expr, const EState *estate, bool computed)
{
	HgParamValues values = {.given = estate->es_param_list_info,
							.computed = computed ? estate->es_param_exec_vals : NULL};
	Bitmapset *given = values.given != NULL ? hg_find_params(expr, PARAM_EXTERN) : NULL;
	Bitmapset *found = computed ? hg_find_params(expr, PARAM_EXEC) : NULL;

	if (given == NULL && found == NULL)
		return expr;
	bms_free(given);
	bms_free(found);
	return hg_bind_params_mutator(expr, &values);
}

static Node *
hg_blank_params_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Param))
		return hg_param_make_constant((const Param *) node, (Datum) 0, true);
	return expression_tree_mutator(node, hg_blank_params_mutator, context);
}

Node *
hg_blank_params(Node *expr)
{
	return hg_blank_params_mutator(expr, NULL);
}
