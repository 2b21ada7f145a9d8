/*-------------------------------------------------------------------------
 *
 * hg_input_select.h
 *	  Which of the rows that an input holds are to be joined.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_SELECT_H
#define HG_INPUT_SELECT_H

#include "batch/hg_input.h"

/*
 * Join only those of the rows held that a filter lets through, which may take limit bytes and are
 * in the order of all.  False, and all of them stay, where these are too many.  No row may have a
 * NULL key.  Memory comes from CurrentMemoryContext.
 */
extern bool hg_input_select(HgInput *input, HgFilter *filter, uint64 limit);

/* All of the rows held are to be joined again, if only some were. */
extern void hg_input_unselect(HgInput *input);

#endif /* HG_INPUT_SELECT_H */
