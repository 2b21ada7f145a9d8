/*-------------------------------------------------------------------------
 *
 * hg_device_supervisor.h
 *	  The supervisor of the device process with one number of the server.
 *
 * The worker has one for each device (hg_device_worker.h), and gives each its turn.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SUPERVISOR_H
#define HG_DEVICE_SUPERVISOR_H

#include "backend/device/hg_device_shared.h"
#include "backend/device/hg_device_spawn.h"

typedef struct HgDeviceSupervisor
{
	int device_no;
	bool wanted;		   /* there is a GPU for it; else it ends what runs */
	HgServerDevice device; /* as it was published last */
	HgDeviceLaunch launch; /* of the process that runs, or ran last */
	HgWireClient *client;  /* NULL where no process runs */
	TimestampTz started_at;
	TimestampTz next_start; /* DT_NOEND: when a session asks */
	TimestampTz next_ping;
	TimestampTz drained_at; /* 0, or when it is replaced at the latest */
	long pause_ms;			/* before the next replacement */
	pid_t lingering;		/* one that would not go, even killed; 0: none */

	/* while a question is under way */
	TimestampTz asked_at;
	bool told_silent;

	/*
	 * What the process that came up last has seen, its own device and others; and who is told of it
	 * before the sessions are let in, or NULL.
	 */
	int nseen;
	HgDeviceInfo seen[HG_WIRE_MAX_DEVICES];
	void (*learn)(TimestampTz now);
} HgDeviceSupervisor;

/* Initializes the supervisor of a device, which has no process yet. */
extern void hg_supervisor_init(HgDeviceSupervisor *supervisor, int device_no);

/*
 * From now on the supervisor runs a process for the GPU of this number, or for any GPU if it is -1.
 * It starts the process now, or when a session asks for it.  A running process stays, and is
 * replaced by hg_supervisor_reload if it has another GPU.
 */
extern void hg_supervisor_begin(HgDeviceSupervisor *supervisor, int ordinal, bool rests,
								TimestampTz now);

/* Settings, or whether it is wanted, may have changed: does the process still do? */
extern void hg_supervisor_reload(HgDeviceSupervisor *supervisor, TimestampTz now);

/*
 * Do what is due, and say when something is again.  Where its GPU is taken by another process it
 * starts none.
 */
extern void hg_supervisor_work(HgDeviceSupervisor *supervisor, bool taken, TimestampTz now);
extern TimestampTz hg_supervisor_next_work(const HgDeviceSupervisor *supervisor, TimestampTz now);

/* Have the process drop the replica of a name, if it runs. */
extern void hg_supervisor_drop(HgDeviceSupervisor *supervisor, const HgReplicaName *name);

/* The worker ends: so does the process. */
extern void hg_supervisor_end(HgDeviceSupervisor *supervisor);

#endif /* HG_DEVICE_SUPERVISOR_H */
