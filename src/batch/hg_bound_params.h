/*-------------------------------------------------------------------------
 *
 * hg_bound_params.h
 *	  Expressions with the values of a query's parameters in them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BOUND_PARAMS_H
#define HG_BOUND_PARAMS_H

#include "nodes/execnodes.h"

/* The numbers of an expression's parameters of a kind; NULL: it has none. */
extern Bitmapset *hg_find_params(Node *expr, ParamKind kind);

/*
 * The expression with constants in place of the parameters of the query whose values are known and
 * stay as they are for as long as it runs; and, where computed is set, of those that plans have
 * computed, as they are now.  It is the same one where there is nothing to replace.
 */
extern Node *hg_bind_params(Node *expr, const EState *estate, bool computed);

/* The expression with NULLs for its parameters: of the form that it has once they are known. */
extern Node *hg_blank_params(Node *expr);

#endif /* HG_BOUND_PARAMS_H */
