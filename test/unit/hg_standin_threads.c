/*-------------------------------------------------------------------------
 *
 * hg_standin_threads.c
 *	  The threads of a device process without a device, whose start can be held.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* usleep */
#endif

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* What the stand-in is linked with in place of pthread_create. */
extern int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
								 void *(*run)(void *), void *arg);
extern int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
								 void *(*run)(void *), void *arg);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
					  void *arg)
{
	const char *file = getenv("HG_STANDIN_HOLD_WHILE");
	const int failure = __real_pthread_create(thread, attributes, run, arg);

	while (file != NULL && access(file, F_OK) == 0)
		usleep(1000);
	return failure;
}
