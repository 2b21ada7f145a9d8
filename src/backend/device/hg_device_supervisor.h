/*-------------------------------------------------------------------------
 *
 * hg_device_supervisor.h
 *	  The background worker that runs the server's device processes, and its supervisor of
 *	  each of them.
 *
 * The worker (hg_device_worker.c) has one supervisor for each device. It calls hg_supervisor_init
 * once, and hg_supervisor_begin when the device gets a GPU. Then it calls hg_supervisor_work when
 * hg_supervisor_next_work says so, its latch is set or the process has sent something, and
 * hg_supervisor_end at last. now is the current time.
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
	bool wanted;		   /* there is a GPU for it; if not, it ends its process */
	HgServerDevice device; /* as last published */
	HgDeviceLaunch launch; /* of the process that runs or ran last */
	HgWireClient *client;  /* NULL if no process runs */
	TimestampTz started_at;
	TimestampTz next_start; /* DT_NOEND: when a session asks */
	TimestampTz next_ping;
	TimestampTz drained_at; /* 0, or the latest time to replace the process */
	long pause_ms;			/* before the next replacement */
	pid_t lingering;		/* PID of a process that did not end even when killed; 0: none */

	/* while a question awaits an answer */
	TimestampTz asked_at;
	bool reported_silent;

	/*
	 * The devices that the process that came up last has seen: its own and others. learn, unless
	 * NULL, is called before the process is published to sessions.
	 */
	int nseen;
	HgDeviceInfo seen[HG_WIRE_MAX_DEVICES];
	void (*learn)(TimestampTz now);
} HgDeviceSupervisor;

/* Initializes the supervisor of a device, which has no process yet. */
extern void hg_supervisor_init(HgDeviceSupervisor *supervisor, int device_no);

/*
 * Makes the supervisor run a process for the GPU with this ordinal, or for any GPU if it is -1.
 * Starts the process at the next hg_supervisor_work, or if rests is true when a session asks. A
 * running process stays; hg_supervisor_reload replaces it if it has another GPU.
 */
extern void hg_supervisor_begin(HgDeviceSupervisor *supervisor, int ordinal, bool rests,
								TimestampTz now);

/*
 * Checks the process against changed settings and a changed wanted. Ends or replaces it if it no
 * longer fits, once its jobs have ended, and ends all pauses between starts.
 */
extern void hg_supervisor_reload(HgDeviceSupervisor *supervisor, TimestampTz now);

/*
 * Does what is due: starts the process, reads its messages, pings, kills or replaces it, and
 * publishes its state. If taken is true, another process still has the GPU, and none is started.
 */
extern void hg_supervisor_work(HgDeviceSupervisor *supervisor, bool taken, TimestampTz now);

/* Returns when hg_supervisor_work has work again; DT_NOEND: not before a session asks. */
extern TimestampTz hg_supervisor_next_work(const HgDeviceSupervisor *supervisor, TimestampTz now);

/* Asks the process, if it runs, to drop the replica of a name. */
extern void hg_supervisor_drop(HgDeviceSupervisor *supervisor, const HgReplicaName *name);

/* Ends the process because the worker ends. The process is reaped by a proc_exit callback. */
extern void hg_supervisor_end(HgDeviceSupervisor *supervisor);

/* hg_device_worker.c: the background worker that runs the server's device processes */

/* Registers the worker and its shared memory if the library is being preloaded. */
extern void hg_device_worker_init(void);

#endif /* HG_DEVICE_SUPERVISOR_H */
