/*-------------------------------------------------------------------------
 *
 * hg_bytes_find.h
 *	  Substring search.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_BYTES_FIND_H
#define HG_BYTES_FIND_H

#include "batch/hg_bytes.h"

/* Returns the first occurrence of part in value, or NULL.  part has at least one byte. */
extern const char *hg_bytes_find(HgBytes value, HgBytes part);

#endif /* HG_BYTES_FIND_H */
