/*-------------------------------------------------------------------------
 *
 * hg_input_bits.h
 *	  Keys of an input that are kept as bits, in place of rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_BITS_H
#define HG_INPUT_BITS_H

#include "batch/hg_input.h"

/*
 * Turns the keys in memory into bits, of limit bytes at most, in place of rows, of which no column
 * is needed.  repeats: a key that comes again is one.  Returns false, and all is as it was, where
 * there is no room for that, or some key comes again.
 */
extern bool hg_input_begin_bits(HgInput *input, bool repeats, uint64 limit);

/*
 * Then: read on until the end (at_end is set).  False where the next key can't be a bit: it is
 * among words, and the input can be spilled.
 */
extern bool hg_input_fill_bits(HgInput *input);

#endif /* HG_INPUT_BITS_H */
