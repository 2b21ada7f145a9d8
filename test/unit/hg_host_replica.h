/*-------------------------------------------------------------------------
 *
 * hg_host_replica.h
 *	  Graph replicas in host memory: an engine on the CPU that has them, for tests.
 *
 * The stand-in for the device process answers with it, and it is what a device's graph replicas
 * must do as well.  Graphs are flat ones (hg_flat.h), also those of rows that are appended.  So are
 * those of sides that come as pages.  Jobs that have neither are the CPU engine's.
 *
 * It copies keys before a call returns, as an engine of a device does, to memory of the job's host,
 * under the job's limit.  A replica is in memory of the owner, also while it is made, and is
 * charged to the job's limit until it is a replica.  Memory that is refused is HG_OUT_OF_MEMORY.
 * Columns of rows that are appended, and groups, are in memory of malloc (hg_host_reduce.h), which
 * is counted nowhere.
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

	/*
	 * Any thread may use the engine, if any may use its owner's host; a job one thread at a time.
	 */
	typedef struct HgHostReplica
	{
		HgEngine engine;	 /* first: engine calls get its address */
		const HgHost *owner; /* of which alloc and free are called */
	} HgHostReplica;

	/* Make an engine, whose owner must outlive it and all of its replicas. */
	extern void hg_host_replica_init(HgHostReplica *replica, const HgHost *owner);

	/*
	 * What a job of graph replicas, or of pages, takes at most, of its host and of the owner
	 * together, for the rows that it expects: beside the pages of one call.
	 */
	extern uint64_t hg_host_replica_bytes(const HgJobSpec *spec);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_REPLICA_H */
