/*-------------------------------------------------------------------------
 *
 * hg_input_spill.h
 *	  Writes an input to a spill set, and reads it back.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_SPILL_H
#define HG_INPUT_SPILL_H

#include "batch/hg_input.h"

/* Moves the rows in memory to a spill set, frees their memory, and reads the rest there. */
extern void hg_input_spill(HgInput *input, HgSpill *spill);

/* Removes the rows in memory, and reads from a partition of source. */
extern void hg_input_set_source(HgInput *input, HgSpill *source, int partition);

/* Removes the rows in memory, and ends the input after all partitions were read. */
extern void hg_input_end_source(HgInput *input);

#endif /* HG_INPUT_SPILL_H */
