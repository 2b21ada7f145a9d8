/*-------------------------------------------------------------------------
 *
 * hg_device_shared.h
 *	  What all processes of a server know of its device processes.
 *
 * If the library is in shared_preload_libraries, device processes serve all sessions, one for each
 * GPU that the server uses.  A background worker (hg_device_supervisor.h) starts, watches and
 * restarts them.  It publishes their state in shared memory, where sessions also report to it.  A
 * GPU keeps its DEVICE NUMBER, counted from 0, as long as the settings do not change.
 *
 * WHY ONE PROCESS FOR EACH GPU. A sticky CUDA error, or a crash in the driver, ends everything
 * that its process has on any GPU; no cleanup inside the process helps. With separate processes, a
 * failure on one GPU cannot affect jobs on the others, and a lost process is replaced the same way
 * whether or not there are others. The price is a staging area and a CUDA runtime for each, and no
 * process sees all queues. The session therefore decides which GPU a job goes to
 * (hg_device_placement.h). The rows of a sharded job pass between processes through the session
 * (hg_device_shards.h), unless the processes copy directly through CUDA IPC handles. Such a job is
 * lost with any of its processes, as it would be in one process.
 *
 * WHO WRITES WHAT. One spinlock protects all of it. Only the worker writes the state of a process
 * (hg_device_shared_publish). Sessions write that they need a process (hg_device_shared_ask) or
 * that it does not answer (hg_device_shared_set_silent); both wake the worker. A process stays
 * silent until it answers the worker's next question, so a stopped process costs one session its
 * timeout, and the others nothing.
 *
 * WHAT A SESSION DOES that needs a device (hg_device_server.c), by state:
 *
 *	NONE		No worker has come up. While one may still come up, as STARTING. Afterwards (there
 *				was no slot for it) the session starts its own process.
 *	RESTING		No process runs: it was idle, or no session has needed it yet. Asks for one and
 *				continues as with STARTING.
 *	STARTING	Backend auto uses the CPU. Backend cuda waits for at most a minute, for whichever
 *				device is READY first.
 *	READY		Connects unless connected to the process of this epoch already.
 *	UNAVAILABLE	Takes the reason. If that is a missing program that is now installed, asks for a
 *				process and continues as with STARTING.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SHARED_H
#define HG_DEVICE_SHARED_H

#include "hg_compat.h"

#include <sys/un.h>

#include "datatype/timestamp.h"
#include "pgstat.h"

#include "engine/wire/hg_wire_client.h"

/*
 * Address of the process of device 0, below the data directory, which is the working directory of
 * every server process. The addresses of other devices append a dot and the device number. Base
 * backups and pg_rewind would fail on a socket, but skip the contents of this directory.
 */
#define HG_DEVICE_ADDRESS PG_STAT_TMP_DIR "/hashgraph_device"

typedef enum HgServerDeviceState
{
	HG_SERVER_DEVICE_NONE = 0, /* zeroed memory */
	HG_SERVER_DEVICE_RESTING,
	HG_SERVER_DEVICE_STARTING,
	HG_SERVER_DEVICE_READY,
	HG_SERVER_DEVICE_UNAVAILABLE
} HgServerDeviceState;

typedef struct HgServerDevice
{
	HgServerDeviceState state;
	TimestampTz since;			/* when the shared memory was created */
	bool installed;				/* the worker found the program when it last looked */
	bool silent;				/* has missed an answer and not answered since */
	pid_t pid;					/* 0 if no process runs */
	TimestampTz starting_since; /* STARTING: since when, across replaced processes */
	int ordinal;				/* of the GPU; -1: the first usable one, not known yet */
	uint64 epoch;				/* of the last READY process, never reused; 0: none */
	uint64 restarts;			/* lost and replaced processes since the server's start */
	HgError reason;				/* UNAVAILABLE: why */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* READY: of the GPU that jobs run on */
	HgEngineCosts costs;						   /* READY: costs that the process has measured */
} HgServerDevice;

/* Sets *address to the socket address on which a device's process accepts sessions. */
extern void hg_device_address(int device_no, struct sockaddr_un *address);

/* Requests shared memory; called while shared_preload_libraries are loaded. */
extern void hg_device_shared_init(void);

/* Returns the number of devices of the server, at least 1; 0 without our shared memory. */
extern int hg_device_shared_count(void);

/* Copies the published state of a device. Returns false without our shared memory. */
extern bool hg_device_shared_read(int device_no, HgServerDevice *device);

/* The part of HgServerDevice that decides whether a device's process may have jobs. */
typedef struct HgDeviceAvailability
{
	HgServerDeviceState state;
	bool silent;
	int ordinal;
	uint64 epoch;
	TimestampTz starting_since;
} HgDeviceAvailability;

/*
 * Fills the first entries of states[HG_GPU_DEVICES], by device number, and returns how many; 0
 * without shared memory.
 */
extern int hg_device_shared_survey(HgDeviceAvailability *states);

/* Asks the worker to start a process on a device, if none runs. Needs shared memory. */
extern void hg_device_shared_ask(int device_no);

/*
 * Reports to all that the process of this epoch does not answer. Does nothing without shared
 * memory.
 */
extern void hg_device_shared_set_silent(int device_no, uint64 epoch);

/*
 * Waits, interruptibly, until the worker publishes something or timeout_ms have passed. A change
 * published since the same process's last call ends the wait at once. The caller must call
 * hg_device_shared_wait_end after the last call.
 */
extern void hg_device_shared_wait(long timeout_ms);
extern void hg_device_shared_wait_end(void);

/* For the worker: registers this process as the one to wake. */
extern void hg_device_shared_attach(void);

/* For the worker: sets the number of devices and wakes the processes in hg_device_shared_wait. */
extern void hg_device_shared_set_count(int ndevices);

/* For the worker: publishes *device, but keeps silent as it is; a new epoch clears it. */
extern void hg_device_shared_publish(int device_no, const HgServerDevice *device);

/* For the worker: returns an epoch for a process that has come up. */
extern uint64 hg_device_shared_next_epoch(void);

/* For the worker: clears silent because the process has answered. */
extern void hg_device_shared_clear_silent(int device_no);

/* For the worker: returns true if a session has asked for a process since the last call. */
extern bool hg_device_shared_was_asked(int device_no);

/*
 * Asks the worker to have the device processes drop a replica that is no longer used, and the
 * replicas of its columns. At most 1024 names wait; further ones are ignored, for example if a
 * thousand tables are dropped at once. A process drops these itself when it needs their memory.
 * Does nothing without shared memory.
 */
extern void hg_device_shared_forget(const HgReplicaName *name);

/* For the worker: removes one of these names and stores it in *name; false if there is none. */
extern bool hg_device_shared_next_forgotten(HgReplicaName *name);

/* Logs that a join fell back to the CPU: at LOG once a minute for the server, else at DEBUG1. */
extern void hg_device_log_fallback(const HgError *why);

#endif /* HG_DEVICE_SHARED_H */
