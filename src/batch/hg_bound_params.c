/*-------------------------------------------------------------------------
 *
 * hg_bound_params.c
 *	  Expressions with the values of a query's parameters in them.
 *
 * A generic plan has parameters where one for known values has constants.  What is decided and
 * computed over columns is made of constants, and is set up when the plan is begun: the values are
 * known then.  The same are taken as core folds (eval_const_expressions()).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "utils/lsyscache.h"

#include "batch/hg_bound_params.h"

/* The constant that a parameter of a query is; NULL where that can't be told. */
static Node *
hg_param_constant(const Param *param, ParamListInfo params)
{
	ParamExternData room;
	const ParamExternData *value;
	int16 length;
	bool by_value;

	if (param->paramkind != PARAM_EXTERN || param->paramid <= 0 ||
		param->paramid > params->numParams)
		return NULL;
	value = params->paramFetch != NULL ? params->paramFetch(params, param->paramid, true, &room)
									   : &params->params[param->paramid - 1];
	if (value->ptype != param->paramtype || (value->pflags & PARAM_FLAG_CONST) == 0)
		return NULL;
	get_typlenbyval(param->paramtype, &length, &by_value);
	return (Node *) makeConst(param->paramtype, param->paramtypmod, param->paramcollid, length,
							  value->value, value->isnull, by_value);
}

static Node *
hg_bind_params_mutator(Node *node, void *params)
{
	Node *constant;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Param))
		return expression_tree_mutator(node, hg_bind_params_mutator, params);
	constant = hg_param_constant((const Param *) node, (ParamListInfo) params);
	return constant != NULL ? constant : copyObject(node);
}

Node *
hg_bind_params(Node *expr, const EState *estate)
{
	if (estate->es_param_list_info == NULL)
		return expr;
	return hg_bind_params_mutator(expr, estate->es_param_list_info);
}
