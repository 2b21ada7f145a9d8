/*-------------------------------------------------------------------------
 *
 * hg_input_select.h
 *	  Selection of the rows of an input that are to be joined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_SELECT_H
#define HG_INPUT_SELECT_H

#include "batch/hg_input.h"

/*
 * Selects the rows in memory that a filter lets through, to be joined alone.  They may take limit
 * bytes, and stay in order.  Returns false, and all rows stay, where there are too many.  No row
 * may have a NULL key.  Memory comes from CurrentMemoryContext.
 */
extern bool hg_input_select(HgInput *input, HgFilter *filter, uint64 limit);

/* Makes all of the rows in memory be joined again, if only some were selected. */
extern void hg_input_select_all(HgInput *input);

#endif /* HG_INPUT_SELECT_H */
