/*-------------------------------------------------------------------------
 *
 * hg_device_worker.h
 *	  The background worker that runs the server's device processes.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_WORKER_H
#define HG_DEVICE_WORKER_H

/* Registers the worker and its shared memory if the library is being preloaded. */
extern void hg_device_worker_init(void);

#endif /* HG_DEVICE_WORKER_H */
