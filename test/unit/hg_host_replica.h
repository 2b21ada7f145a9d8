/*-------------------------------------------------------------------------
 *
 * hg_host_replica.h
 *	  A CPU engine for tests with graph replicas in host memory.
 *
 * The stand-in for the device process uses it, and a device's graph replicas must behave the same.
 * Graphs are flat ones (hg_flat.h), also those of appended rows and of sides that come as pages.
 * Jobs with neither replicas nor pages are the CPU engine's.
 *
 * It copies keys before a call returns, as a device's engine does, to memory of the job's host,
 * under the job's limit.  A replica is in memory of the owner, and is charged to the job's limit
 * until it is complete.  If memory is refused, the status is HG_OUT_OF_MEMORY.  Columns of
 * appended rows, and groups, are in memory of malloc (hg_host_reduce.h), which is not counted.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_REPLICA_H
#define HG_HOST_REPLICA_H

#include "../../src/engine/hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* The engine.  Any thread may use it if any may use its owner's host; a job, one at a time. */
	typedef struct HgHostReplica
	{
		HgEngine engine;	 /* first: engine calls get its address */
		const HgHost *owner; /* its alloc and free are called */
	} HgHostReplica;

	/* Makes an engine.  The owner must outlive it and all of its replicas. */
	extern void hg_host_replica_init(HgHostReplica *replica, const HgHost *owner);

	/*
	 * Returns the most memory of a job with graph replicas or pages, of its host and of the owner
	 * together, for the rows that it expects, without the pages of one call.
	 */
	extern uint64_t hg_host_replica_bytes(const HgJobSpec *spec);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_REPLICA_H */
