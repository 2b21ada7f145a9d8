/*-------------------------------------------------------------------------
 *
 * hg_input_spill.h
 *	  An input on its way to a spill set, and back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_SPILL_H
#define HG_INPUT_SPILL_H

#include "batch/hg_input.h"

/*
 * Read on to the end, into a spill set instead of memory; what is held in memory goes
 * there first and its memory is freed.
 */
extern void hg_input_spill(HgInput *input, HgSpill *spill);

/* Read from a partition from now on; what is held is forgotten. */
extern void hg_input_set_source(HgInput *input, HgSpill *source, int partition);

/* All partitions have been read: what is held is forgotten, and there is no more. */
extern void hg_input_end_source(HgInput *input);

#endif /* HG_INPUT_SPILL_H */
