/*-------------------------------------------------------------------------
 *
 * hg_device_load.h
 *	  The jobs that all sessions have at each of the server's device processes.
 *
 * Counters in shared memory, a pair for each device: changed where a job is opened, and waits for
 * its turn from then on, and where it is closed.  What a process has open when it ends is taken
 * back then.  They decide where jobs go, and nothing else: that they are read one by one, while
 * others change them, does no harm.
 *
 * The same is counted for each GROUP, which is a query with its parallel workers, by the process
 * that leads it.  WHY: a device process lets no job wait whose group has another one open there,
 * because what it waited for might wait for it (engine/wire/hg_wire.h).  It does not see what the
 * group has open at another process; so a group's jobs go where it has some already.  Jobs whose
 * replicas are only on other devices go there all the same: they wait no longer than the CPU would
 * take (hg_match_replica.c).  And so do those that may not have that device, as it does not answer,
 * or ends, or the session has set another hashgraph.gpu_device meanwhile, and those of a query
 * whose processes together have begun others; and jobs that are spread over several devices, by
 * groups that have no other one (hg_device_shards.h).  Two groups that so wait for each other are
 * told by none but the time: under backend auto that is the timeout of each join, and under backend
 * cuda, whose joins wait for ever otherwise, hg_device_timeout_alone_ms.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_LOAD_H
#define HG_DEVICE_LOAD_H

#include "hg_compat.h"

typedef struct HgDeviceLoad
{
	uint32 jobs;  /* open, or waiting for their turn */
	uint64 bytes; /* of their keys and columns, as expected */
} HgDeviceLoad;

/* Request shared memory; called while shared_preload_libraries are loaded. */
extern void hg_device_load_init(void);

/*
 * So many jobs more, or less, on a device; nothing where the server has no shared memory of ours.
 */
extern void hg_device_load_note(int device_no, int jobs, int64 bytes);

/* What all sessions have on a device. */
extern HgDeviceLoad hg_device_load_read(int device_no);

/* The number of jobs that this process's group has there; has it any anywhere else? */
extern uint32 hg_device_load_of_group(int device_no);
extern bool hg_device_load_is_elsewhere(int device_no);

#endif /* HG_DEVICE_LOAD_H */
