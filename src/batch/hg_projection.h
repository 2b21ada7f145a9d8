/*-------------------------------------------------------------------------
 *
 * hg_projection.h
 *	  Computes the target list of a scan from the batches of a source below it.
 *
 * hg_scan.c creates a projection, makes a source of hg_projection_inputs(), sets it as the
 * projection's input, and then fills batches.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PROJECTION_H
#define HG_PROJECTION_H

#include "nodes/execnodes.h"

#include "batch/hg_batch.h"

typedef struct HgProjection HgProjection;

/*
 * Returns true if a target list may be computed for fewer rows or columns than PostgreSQL's own
 * plan node would compute it for: it calls no volatile function and has no subplan.
 */
extern bool hg_projection_may_skip(List *targetlist);

/*
 * Creates the projection of a plan to the attributes attnos[nattnos] of its rows, in
 * CurrentMemoryContext.  The plan must be a sequential scan, or a subquery scan without quals.
 * Returns NULL if it is another plan, or if its target list needs PostgreSQL's own rows.
 */
extern HgProjection *hg_projection_create(PlanState *plan, int nattnos, const int *attnos);

/*
 * Sets *attnos to the attributes, from 1 and each once, of the scanned relation or of the subplan
 * that the projection reads: first those that are returned, in the order of the plan's attributes,
 * then others that expressions use.  Returns their number.
 */
extern int hg_projection_inputs(const HgProjection *projection, const int **attnos);

/* Returns true if an attribute must be computed: it is not one of the input's, or repeats one. */
extern bool hg_projection_computes(const HgProjection *projection);

/*
 * Sets the source of the attributes of hg_projection_inputs(), in that order, and allocates in
 * CurrentMemoryContext.
 */
extern void hg_projection_set_input(HgProjection *projection, HgBatchSource *input);

/*
 * Fills an empty batch for a consumer's source.  The input gets that source's check, order,
 * max_rows and half of max_bytes.  Returns false at the end.
 */
extern bool hg_projection_fill(HgProjection *projection, HgBatch *batch,
							   const HgBatchSource *consumer);

/* Restarts the input, after the plan was rescanned or will be because of changed parameters. */
extern void hg_projection_restart(HgProjection *projection);

#endif /* HG_PROJECTION_H */
