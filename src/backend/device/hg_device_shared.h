/*-------------------------------------------------------------------------
 *
 * hg_device_shared.h
 *	  What all processes of a server know of its device process.
 *
 * Where the library is in shared_preload_libraries, one device process serves all sessions.  A
 * background worker (hg_device_worker.h) starts it, watches it and starts it again; this is
 * what it tells the sessions, in shared memory, and what they tell it.
 *
 * WHO WRITES WHAT.  All of it is protected by one spinlock.  The worker alone writes
 * the state of the process (hg_device_shared_publish).  Sessions write two things: that they
 * want a process (hg_device_shared_ask) and that the process does not answer
 * (hg_device_shared_set_silent); both wake the worker.  The latter holds until the process
 * answers the worker's next question, so that a process that was stopped costs a session its
 * patience once, and the others nothing.
 *
 * WHAT A SESSION DOES that wants the device (hg_device_server.c), by state:
 *
 *	NONE		No worker has come up.  As STARTING while one may be about to; later, where
 *				there was no slot for a background worker, a process of its own.
 *	RESTING		No process runs, because it was idle or nobody has wanted it yet.  Asks for
 *				one, and goes on as with STARTING.
 *	STARTING	backend auto goes to the CPU, backend cuda waits, for a minute at most.
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

#include "datatype/timestamp.h"
#include "pgstat.h"

#include "engine/wire/hg_wire_client.h"

/*
 * Where the device process listens, below the data directory, which every process of the server
 * has for its working directory.  Base backups and pg_rewind, which would fail on a socket, leave
 * out what is in this directory.
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
	TimestampTz since; /* when the shared memory was made */
	bool installed;	   /* the program was there when the worker looked */
	bool silent;	   /* it has not answered in time, and not since */
	pid_t pid;		   /* of the process, 0 where none runs */
	uint64 epoch;	   /* how many processes have become READY */
	uint64 restarts;   /* processes that were lost since then, and replaced */
	HgError reason;	   /* UNAVAILABLE: why */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* READY: of the device that jobs run on */
	HgEngineCosts costs;						   /* READY: what it has measured */
} HgServerDevice;

/* Request shared memory; called while shared_preload_libraries are loaded. */
extern void hg_device_shared_init(void);

/* How things stand; false where the server has no shared memory of ours. */
extern bool hg_device_shared_read(HgServerDevice *device);

/* The epoch of the process that is READY, and answers; 0 where none is. */
extern uint64 hg_device_shared_ready(void);

/* Have the worker start a process, if none runs. */
extern void hg_device_shared_ask(void);

/* Tell all that the process of this epoch does not answer. */
extern void hg_device_shared_set_silent(uint64 epoch);

/*
 * Wait, interruptibly, until the worker publishes something or timeout_ms have passed.
 * What was published since the call before, by the same process, ends the wait at once; after the
 * last call comes hg_device_shared_wait_end.
 */
extern void hg_device_shared_wait(long timeout_ms);
extern void hg_device_shared_wait_end(void);

/* The worker's: from now on this process is the one to wake. */
extern void hg_device_shared_attach(void);

/* The worker's: everything but silent. */
extern void hg_device_shared_publish(const HgServerDevice *device);

/* The worker's: the process has answered. */
extern void hg_device_shared_clear_silent(void);

/* The worker's: did a session ask for a process since the last call? */
extern bool hg_device_shared_was_asked(void);

/*
 * A graph that was kept under a name is nobody's any more, nor are its columns: have the worker
 * tell the process.  Where too many of them wait for that, those of a thousand tables that are
 * dropped at once, the process finds out by itself, when it needs their memory.
 */
extern void hg_device_shared_forget(const HgKeptName *name);

/* The worker's: the next of these names; false where there is none. */
extern bool hg_device_shared_next_forgotten(HgKeptName *name);

/*
 * Say in the server's log that a join fell back to the CPU, once a minute for all sessions; in
 * between at DEBUG1.
 */
extern void hg_device_log_fallback(const HgError *why);

#endif /* HG_DEVICE_SHARED_H */
