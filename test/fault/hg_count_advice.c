/*-------------------------------------------------------------------------
 *
 * hg_count_advice.c
 *	  Count how often the kernel is told of pages that will be read, for tests.
 *
 * Preloaded into a server (LD_PRELOAD).  The file that HG_ADVICE_FILE names is one byte longer
 * after each posix_fadvise(POSIX_FADV_WILLNEED) of any of its processes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*Advise)(int fd, off_t offset, off_t bytes, int advice);

int
posix_fadvise(int fd, off_t offset, off_t bytes, int advice)
{
	static Advise advise = NULL;
	static int count = -1;

	if (advise == NULL)
		advise = (Advise) dlsym(RTLD_NEXT, "posix_fadvise");
	if (count < 0 && getenv("HG_ADVICE_FILE") != NULL)
		count = open(getenv("HG_ADVICE_FILE"), O_WRONLY | O_APPEND);
	if (advice == POSIX_FADV_WILLNEED && count >= 0 && write(count, "x", 1) != 1)
		abort();
	return advise(fd, offset, bytes, advice);
}
