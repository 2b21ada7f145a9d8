/*-------------------------------------------------------------------------
 *
 * hg_device_worker.h
 *	  The background worker that keeps the server's device process.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_WORKER_H
#define HG_DEVICE_WORKER_H

/* Register the worker where the library is in shared_preload_libraries. */
extern void hg_device_worker_init(void);

#endif /* HG_DEVICE_WORKER_H */
