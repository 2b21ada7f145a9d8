/*-------------------------------------------------------------------------
 *
 * hg_key_encode.h
 *	  The words of rows' keys, a batch of rows at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_KEY_ENCODE_H
#define HG_KEY_ENCODE_H

#include "batch/hg_key.h"

/*
 * Encode rows first .. first + nrows - 1 of a batch of a side; the values of part i are column
 * at[i].  null_keys[row] tells whether the key is NULL, so that the row matches nothing; else
 * words[row] is the key.  Returns how many rows have one.  temporary is for what hash functions
 * leave behind; it may be reset.
 */
extern int hg_key_encode(HgKeyEncoder *encoder, HgSide side, const HgBatch *batch, const int *at,
						 int first, int nrows, uint64 *words, bool *null_keys,
						 MemoryContext temporary);

/* Have what hashes of bytes (HG_KEY_BYTES) are made with: before the first of them. */
extern void hg_key_init_secrets(void);

#endif /* HG_KEY_ENCODE_H */
