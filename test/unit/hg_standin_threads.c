/*-------------------------------------------------------------------------
 *
 * hg_standin_threads.c
 *	  The threads of a device process without a device, whose start can be held.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_standin_wait.h"

#include <pthread.h>
#include <stdlib.h>

/* What the stand-in is linked with in place of pthread_create. */
extern int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
								 void *(*run)(void *), void *arg);
extern int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
								 void *(*run)(void *), void *arg);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
					  void *arg)
{
	const int failure = __real_pthread_create(thread, attributes, run, arg);

	hg_standin_hold(getenv("HG_STANDIN_HOLD_WHILE"));
	return failure;
}
