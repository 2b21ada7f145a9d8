/*-------------------------------------------------------------------------
 *
 * hg_bound_params.h
 *	  Replaces a query's parameters in expressions by their values.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BOUND_PARAMS_H
#define HG_BOUND_PARAMS_H

#include "nodes/execnodes.h"

/* Returns the ids of an expression's parameters of a kind; NULL if it has none. */
extern Bitmapset *hg_find_params(Node *expr, ParamKind kind);

/*
 * Returns the expression with constants in place of the query's parameters (PARAM_EXTERN) whose
 * values are known and do not change while it runs.  If computed is true, parameters that plans
 * have computed (PARAM_EXEC) are replaced too, by their current values.  Returns expr itself if it
 * has no such parameter, and otherwise a copy in CurrentMemoryContext.
 */
extern Node *hg_bind_params(Node *expr, const EState *estate, bool computed);

/*
 * Returns a copy of the expression with NULL constants in place of all parameters.  The copy has
 * the same form as the expression after hg_bind_params.
 */
extern Node *hg_blank_params(Node *expr);

#endif /* HG_BOUND_PARAMS_H */
