/*-------------------------------------------------------------------------
 *
 * hg_device_shared.h
 *	  What all processes of a server know of its device processes.
 *
 * Where the library is in shared_preload_libraries, device processes serve all sessions, one for
 * each GPU that the server uses.  A background worker (hg_device_worker.h) starts them, watches
 * them and starts them again; this is what it tells the sessions, in shared memory, and what they
 * tell it.  A GPU has a DEVICE NUMBER, from 0 on, for as long as the settings stay as they are.
 *
 * WHY A PROCESS FOR EACH. An error that CUDA calls sticky, and a crash in the driver, end all that
 * their process has on any GPU; nothing that is torn down inside it makes that good.  So what must
 * not fall with a GPU is no part of its process: the others' jobs are not, by construction, and a
 * lost process is replaced the same way whether there are others or not.  It costs a staging area
 * and a CUDA runtime for each, and no process sees the queues of all: which GPU a job goes to is
 * decided in the session (hg_device_placement.h), from figures in shared memory.  A job that runs
 * on several GPUs at once has its rows pass from process to process through the session
 * (hg_device_shards.h), unless these copy between them by what CUDA has for that (IPC handles), and
 * loses all of it with any of them, as it would in one process.
 *
 * WHO WRITES WHAT. All of it is protected by one spinlock.  The worker alone writes the state of a
 * process (hg_device_shared_publish).  Sessions write two things: that they want a process
 * (hg_device_shared_ask) and that it does not answer (hg_device_shared_set_silent); both wake the
 * worker.  The latter holds until the process answers the worker's next question, so that a process
 * that was stopped costs a session its timeout once, and the others nothing.
 *
 * WHAT A SESSION DOES that wants a device (hg_device_server.c), by state:
 *
 *	NONE		No worker has come up.  As STARTING while one may be about to; later, where
 *				there was no slot for a background worker, a process of its own.
 *	RESTING		No process runs, because it was idle or nobody has wanted it yet.  Asks for
 *				one, and goes on as with STARTING.
 *	STARTING	backend auto goes to the CPU, backend cuda waits, for a minute at most, and for
 *				whichever device is READY first.
 *	READY		Connects unless it is connected to the process of this epoch already.
 *	UNAVAILABLE	Takes the reason.  Where that is a program that was not there, and now
 *				is, asks for it, and goes on as with STARTING.
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
 * Where the device process of device 0 listens, below the data directory, which every process of
 * the server has for its working directory; behind that of another are a dot and its device number.
 * Base backups and pg_rewind, which would fail on a socket, leave out what is in this directory.
 */
#define HG_DEVICE_ADDRESS PG_STAT_TMP_DIR "/hashgraph_device"

typedef enum HgServerDeviceState
{
	HG_SERVER_DEVICE_NONE = 0, /* what zeroed memory says */
	HG_SERVER_DEVICE_RESTING,
	HG_SERVER_DEVICE_STARTING,
	HG_SERVER_DEVICE_READY,
	HG_SERVER_DEVICE_UNAVAILABLE
} HgServerDeviceState;

typedef struct HgServerDevice
{
	HgServerDeviceState state;
	TimestampTz since;			/* when the shared memory was made */
	bool installed;				/* the program was there when the worker looked */
	bool silent;				/* it has not answered in time, and not since */
	pid_t pid;					/* of the process, 0 where none runs */
	TimestampTz starting_since; /* STARTING: since when, whatever becomes of processes meanwhile */
	int ordinal;	 /* of the GPU; -1: the first that can be used, which is not known yet */
	uint64 epoch;	 /* of the process that was READY last, which no other one ever has; 0: none */
	uint64 restarts; /* processes that were lost since then, and replaced */
	HgError reason;	 /* UNAVAILABLE: why */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* READY: of the device that jobs run on */
	HgEngineCosts costs;						   /* READY: what it has measured */
} HgServerDevice;

/* The address of a device's process. */
extern void hg_device_address(int device_no, struct sockaddr_un *address);

/* Request shared memory; called while shared_preload_libraries are loaded. */
extern void hg_device_shared_init(void);

/*
 * The number of devices that the server has, at least 1; 0 where it has no shared memory of ours.
 */
extern int hg_device_shared_count(void);

/* How things stand on a device; false where the server has no shared memory of ours. */
extern bool hg_device_shared_read(int device_no, HgServerDevice *device);

/* What decides whether a device's process may have jobs. */
typedef struct HgDeviceAvailability
{
	HgServerDeviceState state;
	bool silent;
	int ordinal;
	uint64 epoch;
	TimestampTz starting_since;
} HgDeviceAvailability;

/* The same of all devices, in states[HG_GPU_DEVICES]; returns their number. */
extern int hg_device_shared_survey(HgDeviceAvailability *states);

/* Have the worker start a process on a device, if none runs. */
extern void hg_device_shared_ask(int device_no);

/* Tell all that the process of this epoch does not answer. */
extern void hg_device_shared_set_silent(int device_no, uint64 epoch);

/*
 * Wait, interruptibly, until the worker publishes something or timeout_ms have passed.
 * What was published since the call before, by the same process, ends the wait at once; after the
 * last call comes hg_device_shared_wait_end.
 */
extern void hg_device_shared_wait(long timeout_ms);
extern void hg_device_shared_wait_end(void);

/* The worker's: from now on this process is the one to wake. */
extern void hg_device_shared_attach(void);

/* The worker's: there are so many devices. */
extern void hg_device_shared_set_count(int ndevices);

/* The worker's: everything but silent. */
extern void hg_device_shared_publish(int device_no, const HgServerDevice *device);

/* The worker's: an epoch for a process that has come up. */
extern uint64 hg_device_shared_next_epoch(void);

/* The worker's: the process has answered. */
extern void hg_device_shared_clear_silent(int device_no);

/* The worker's: did a session ask for a process on a device since the last call? */
extern bool hg_device_shared_was_asked(int device_no);

/*
 * The replica of a name is not used any more, nor are those of its columns: have the worker tell
 * the processes.  Where too many of them wait for that, those of a thousand tables that are dropped
 * at once, a process finds out by itself, when it needs their memory.
 */
extern void hg_device_shared_forget(const HgReplicaName *name);

/* The worker's: the next of these names; false where there is none. */
extern bool hg_device_shared_next_forgotten(HgReplicaName *name);

/*
 * Say in the server's log that a join fell back to the CPU, once a minute for all sessions; in
 * between at DEBUG1.
 */
extern void hg_device_log_fallback(const HgError *why);

#endif /* HG_DEVICE_SHARED_H */
