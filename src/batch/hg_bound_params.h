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

/*
 * The expression with constants in place of the parameters of the query whose values are known and
 * stay as they are for as long as it runs: what is left are such as plans compute.
 */
extern Node *hg_bind_params(Node *expr, const EState *estate);

#endif /* HG_BOUND_PARAMS_H */
