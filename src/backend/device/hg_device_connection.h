/*-------------------------------------------------------------------------
 *
 * hg_device_connection.h
 *	  This session's connections to device processes, whoever's those are.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_CONNECTION_H
#define HG_DEVICE_CONNECTION_H

#include "hg_compat.h"

#include "utils/timestamp.h"

#include "engine/wire/hg_wire_client.h"

typedef enum HgDeviceState
{
	HG_DEVICE_STARTING,
	HG_DEVICE_READY,
	HG_DEVICE_UNAVAILABLE, /* no driver, no device, no answer */
	HG_DEVICE_ABSENT	   /* no program */
} HgDeviceState;

typedef struct HgDeviceConnection
{
	HgWireClient *client; /* NULL where there is no connection */
	pid_t pid;			  /* of a process of this session's own, else 0 */
	uint64 epoch;		  /* of the server's process; 0 until it has greeted */
	bool was_ready;		  /* a process of this session's own has come up */
	TimestampTz late_at;  /* when this session last waited for a process in vain; 0: never */
	uint64 late_process;  /* that process: the epoch of the server's, the PID of its own */
	char name[sizeof(((HgDeviceInfo *) 0)->name)]; /* of the device that jobs run on */
} HgDeviceConnection;

/* That to a device's process; device 0 is a process of this session's own, too. */
extern HgDeviceConnection *hg_device_connection(int device_no);

/* Give a connection up, and the process at its other end if it is this session's own. */
extern void hg_device_connection_close(HgDeviceConnection *connection);

/*
 * Give up a process that was lost, so that the next start makes a new one.  One that runs
 * stays: it may have come after the one that a job lost.
 */
extern void hg_device_discard_lost(int device_no);

/* Take a connected socket over; on failure it stays the caller's. */
extern bool hg_device_connection_adopt(HgDeviceConnection *connection, int fd);

/* Remember that a process (HgDeviceConnection.late_process) has kept the session waiting in vain.
 */
extern void hg_device_connection_set_late(HgDeviceConnection *connection, uint64 process);

/* Wait, interruptibly, until the process has said something or the deadline has passed. */
extern HgWireState hg_device_connection_wait(HgDeviceConnection *connection, TimestampTz deadline,
											 HgError *error);

/* How long a process of this session's own may take to go after its socket was closed. */
#define HG_DEVICE_GRACE_MS 500

/* How long a start may take. */
#define HG_DEVICE_START_MS (60 * 1000)

#endif /* HG_DEVICE_CONNECTION_H */
