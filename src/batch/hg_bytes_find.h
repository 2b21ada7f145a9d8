/*-------------------------------------------------------------------------
 *
 * hg_bytes_find.h
 *	  Where bytes are in others.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BYTES_FIND_H
#define HG_BYTES_FIND_H

#include "batch/hg_bytes.h"

/* Where in value part is for the first time, NULL where it is not; part has a byte at least. */
extern const char *hg_bytes_find(HgBytes value, HgBytes part);

#endif /* HG_BYTES_FIND_H */
