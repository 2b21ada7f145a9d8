/*-------------------------------------------------------------------------
 *
 * hg_key_encode.h
 *	  Computes the key words of a batch of rows.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_ENCODE_H
#define HG_KEY_ENCODE_H

#include "batch/hg_key.h"

/*
 * Encodes rows first .. first + nrows - 1 of a batch of a side.  Column at[i] has the values of
 * part i.  null_keys[row] becomes true if the key is NULL and the row matches nothing; otherwise
 * words[row] becomes the key.  Returns the number of rows with a key.  Hash functions allocate in
 * temporary, which may be reset.
 */
extern int hg_key_encode(HgKeyEncoder *encoder, HgSide side, const HgBatch *batch, const int *at,
						 int first, int nrows, uint64 *words, bool *null_keys,
						 MemoryContext temporary);

/* Sets up the secrets of HG_KEY_BYTES hashes; called before the first such hash. */
extern void hg_key_init_secrets(void);

#endif /* HG_KEY_ENCODE_H */
