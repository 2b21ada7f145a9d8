/*-------------------------------------------------------------------------
 *
 * hg_input_select.h
 *	  Selects which rows of an input are joined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_SELECT_H
#define HG_INPUT_SELECT_H

#include "batch/hg_input.h"

/*
 * Selects the rows in memory that a filter lets through, in order; only they are joined.  The
 * copies may take limit bytes, from CurrentMemoryContext.  Returns false, and selects all rows, if
 * there are too many.  No row may have a NULL key.
 */
extern bool hg_input_select(HgInput *input, HgFilter *filter, uint64 limit);

/* Ends the selection, so that all rows in memory are joined. */
extern void hg_input_select_all(HgInput *input);

#endif /* HG_INPUT_SELECT_H */
