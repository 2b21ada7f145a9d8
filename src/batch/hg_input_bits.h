/*-------------------------------------------------------------------------
 *
 * hg_input_bits.h
 *	  An input's keys as a bitmap instead of rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_INPUT_BITS_H
#define HG_INPUT_BITS_H

#include "batch/hg_input.h"

/*
 * Replaces the keys in memory by a bitmap of at most limit bytes.  The input must need no column.
 * repeats says that duplicate keys count once.  Returns false, and changes nothing, if the keys do
 * not fit or if a key is duplicate against repeats.
 */
extern bool hg_input_begin_bits(HgInput *input, bool repeats, uint64 limit);

/*
 * Reads the input into the bitmap, after hg_input_begin_bits(), until the end (at_end is then
 * set).  Returns false if the next key cannot be added.  It is then in words, and the input can be
 * spilled.
 */
extern bool hg_input_fill_bits(HgInput *input);

#endif /* HG_INPUT_BITS_H */
