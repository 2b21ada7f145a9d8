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
 * Reads on to the end, into a spill set instead of memory; the rows in memory go there first and
 * their memory is freed.
 */
extern void hg_input_spill(HgInput *input, HgSpill *spill);

/* Reads from a partition from now on; the rows in memory are forgotten. */
extern void hg_input_set_source(HgInput *input, HgSpill *source, int partition);

/* All partitions have been read: the rows in memory are forgotten, and there are no more. */
extern void hg_input_end_source(HgInput *input);

#endif /* HG_INPUT_SPILL_H */
