/*-------------------------------------------------------------------------
 *
 * hg_process_memory.c
 *	  The device process's own memory, for the engines' hosts.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_device_process.h"

#include <stdlib.h>

#define LINE_BYTES ((size_t) 64)

void *
hg_process_alloc(void *arg, size_t bytes)
{
	size_t rounded = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;

	(void) arg;
	return rounded < bytes ? NULL : aligned_alloc(LINE_BYTES, rounded > 0 ? rounded : LINE_BYTES);
}

void
hg_process_free(void *arg, void *ptr, size_t bytes)
{
	(void) arg;
	(void) bytes;
	free(ptr);
}
