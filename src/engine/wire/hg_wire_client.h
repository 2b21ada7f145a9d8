/*-------------------------------------------------------------------------
 *
 * hg_wire_client.h
 *	  The remote engine: a session's end of the connection to a device process.
 *
 * A client owns one connected Unix socket and the mapping of the staging area that the device
 * process sends over it.  Its engine implements hg_engine.h by forwarding every call.  hg_wire.h
 * describes the messages.
 *
 * The client of a server's control connection has no staging area: its engine's open answers
 * HG_INVALID.
 *
 * A caller creates a client, calls hg_wire_client_state until it is no longer HG_WIRE_STARTING,
 * opens jobs with the engine, and destroys the client.  A client belongs to one thread.  Calls with
 * an HgError fill it, unless it is NULL, when they return another status than HG_OK.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_WIRE_CLIENT_H
#define HG_WIRE_CLIENT_H

#include "../hg_costs.h"
#include "../hg_replica.h"

typedef struct HgWireClient HgWireClient;

/* Maximum number of devices in a message. */
#define HG_WIRE_MAX_DEVICES 16

/* State of a device that a process does not use: it has no context there, and no memory. */
#define HG_DEVICE_UNUSED "unused"

/* What the device process reports of a device. */
typedef struct HgDeviceInfo
{
	int32_t ordinal;
	char name[96];
	int32_t capability_major;
	int32_t capability_minor;
	uint64_t memory_total;	/* bytes */
	uint64_t memory_free;	/* bytes, at the time of the answer */
	uint64_t memory_budget; /* bytes that jobs may hold together */
	int32_t driver_version; /* as cudaDriverGetVersion gives it */
	int32_t runtime_version;

	/*
	 * "ready": the process uses it.  HG_DEVICE_UNUSED: not used, and no reason is known why it
	 * could not be.  Otherwise the reason why it can not be used.
	 */
	char state[32];
} HgDeviceInfo;

typedef enum HgWireState
{
	HG_WIRE_STARTING, /* the device process has not sent hello yet */
	HG_WIRE_READY,
	HG_WIRE_UNAVAILABLE, /* it has no usable device */
	HG_WIRE_LOST		 /* the connection is gone, or sent invalid data */
} HgWireState;

/* What the device process reports of itself.  Numbers of jobs are since its start. */
typedef struct HgDeviceStatus
{
	uint64_t uptime_ms;
	uint32_t connections; /* of sessions, open now */
	uint32_t jobs_open;
	uint32_t jobs_queued;
	uint32_t unused;		 /* 0 */
	uint64_t jobs_done;		 /* closed after success */
	uint64_t jobs_failed;	 /* closed after a failure other than a cancel */
	uint64_t jobs_cancelled; /* cancelled, or open when their connection ended */
	uint64_t jobs_evicted;	 /* evicted: idle while others waited for memory */
	uint64_t staging_bytes;
	uint64_t staging_leased;
	uint64_t memory_budget;	   /* bytes of device memory that jobs may hold together */
	uint64_t memory_reserved;  /* reserved for open jobs */
	uint64_t memory_held;	   /* held by open jobs */
	uint64_t memory_peak;	   /* the most that was held */
	uint64_t replica_graphs;   /* number of graphs and columns */
	uint64_t replica_bytes;	   /* budget that they hold */
	uint64_t replica_limit;	   /* budget that they may hold */
	uint64_t replicas_evicted; /* since its start: for other replicas, or jobs */
} HgDeviceStatus;

/*
 * Makes a client of the connected, non-blocking socket fd, which destroy closes; on failure the
 * caller keeps it.  Returns NULL when out of memory (malloc).
 */
extern HgWireClient *hg_wire_client_create(int fd);

/*
 * Reads what has arrived and returns the state of the connection; never waits.  *error (may be
 * NULL) gets the reason for UNAVAILABLE and LOST.
 */
extern HgWireState hg_wire_client_state(HgWireClient *client, HgError *error);

/* Returns true if some request has no answer yet, as far as messages were read. */
extern bool hg_wire_client_awaits(const HgWireClient *client);

/* Returns the socket, for the caller's own waits. */
extern int hg_wire_client_socket(const HgWireClient *client);

/*
 * Requests the current list of devices: fills at most capacity of infos and sets *count, 0 on
 * failure.  Waits for the answer through host (only wait_readable, cancelled and arg are used).
 * HG_UNAVAILABLE, HG_CONNECTION_LOST, or HG_CANCELLED if host ends the wait.
 */
extern HgStatus hg_wire_client_devices(HgWireClient *client, const HgHost *host,
									   HgDeviceInfo *infos, int capacity, int *count,
									   HgError *error);

/*
 * Requests the status of the process, which answers at once.  host->wait_readable can end a long
 * wait by returning false (HG_CANCELLED).  A long wait means that the process hangs, or, except on
 * a control connection, that a job of this connection is at work.
 */
extern HgStatus hg_wire_client_status(HgWireClient *client, const HgHost *host,
									  HgDeviceStatus *status, HgError *error);

/*
 * Returns the replicas that were missing when a job was last refused with HG_NO_REPLICA.  All are
 * named by that job.  They belong to the client.
 */
extern const HgMissingReplicas *hg_wire_client_missing(const HgWireClient *client);

/*
 * Returns the costs from the device process's hello, all 0 before that.  They belong to the
 * client.
 */
extern const HgEngineCosts *hg_wire_client_costs(const HgWireClient *client);

/* Returns the engine whose jobs run over this connection; it lives as long as the client. */
extern HgEngine *hg_wire_client_engine(HgWireClient *client);

/*
 * Opens a job as the engine's open does, but does not wait for the answer.
 * hg_wire_client_is_admitted and hg_wire_client_try_append show whether the job is admitted; other
 * calls wait for that.  No other job may be opened on this client while this job is open.
 */
extern HgStatus hg_wire_client_begin(HgWireClient *client, const HgHost *host,
									 const HgJobSpec *spec, HgJob **job, HgError *error);

/*
 * Appends keys as append does (numbered is false; first_row is ignored), or as append_rows does,
 * without waiting.  Sets *taken to the number of keys sent, the first ones of keys[count].  It is
 * less than count if no slot was free.
 */
extern HgStatus hg_wire_client_try_append(HgJob *job, HgSide side, const void *keys, uint64_t count,
										  bool numbered, uint64_t first_row, uint64_t *taken,
										  HgError *error);

/*
 * For a side that comes as pages (hg_pages.h): waits until a slot of the job's lease is free, so
 * that pages can be written there without another copy.  Sets *to to the slot, and *count to the
 * number of pages that fit, at least 1.  The caller may write there until its next call for the
 * job.
 */
extern HgStatus hg_wire_client_page_room(HgJob *job, HgSide side, void **to, uint64_t *count,
										 HgError *error);

/* Sends the first count pages written there; their ordinals are first_page and following. */
extern HgStatus hg_wire_client_send_pages(HgJob *job, HgSide side, uint64_t count,
										  uint64_t first_page, HgError *error);

/* Returns true if OPEN is known to be answered, and neither job nor connection has failed. */
extern bool hg_wire_client_is_admitted(HgJob *job);

/* The numbers that rows of a side can have, in blocks of 2^block_log2 numbers. */
typedef struct HgRowNumbers
{
	uint32_t block_log2;
	uint32_t blocks;
	const uint32_t *rows; /* [blocks]: the first rows[b] numbers of block b are rows */
} HgRowNumbers;

/*
 * Sets which row numbers exist on a side, for the rows of all participants together.  A match with
 * any other number then counts as invalid.  For a graph replica they are all rows of the graph,
 * masked or not.  numbers stays in place until the job is closed.
 *
 * Without this call, numbers are checked only against an upper bound: the replica's shape, the
 * pages sent, the shard's exchange, or the rows appended.  If the caller numbers the rows, or the
 * job is shared, the bound is HG_MAX_ROWS, except for a replica or an exchange that has ended.
 */
extern void hg_wire_client_number(HgJob *job, HgSide side, const HgRowNumbers *numbers);

/*
 * Marks the connection as lost because answers of the process contradicted each other; fills
 * *error and returns its status.
 */
extern HgStatus hg_wire_client_distrust(HgWireClient *client, HgError *error);

/* Returns true if the connection is LOST because the process sent invalid data. */
extern bool hg_wire_client_is_distrusted(const HgWireClient *client);

/*
 * Makes the device process drop a replica once no job uses it.  Dropping a graph also drops its
 * columns, even if the graph is already gone.  The result is not reported.  A job that makes the
 * same replica meanwhile, and is built after this has arrived, still makes it.
 */
extern void hg_wire_client_drop(HgWireClient *client, const HgReplicaName *name);

/*
 * Calls noted(arg, jobs, bytes) whenever a job is opened (jobs 1) or closed (jobs -1) on this
 * client.  bytes is the change of the expected bytes of keys and columns, or of a new replica.
 * Queued jobs count.
 */
extern void hg_wire_client_watch(HgWireClient *client,
								 void (*noted)(void *arg, int jobs, int64_t bytes), void *arg);

/* Makes a job of this engine use another host from now on, which must outlive it. */
extern void hg_wire_client_set_host(HgJob *job, const HgHost *host);

/*
 * Waits until all keys appended to an open job of this engine have arrived, or one of the appends
 * has failed.  No more can be appended.
 */
extern HgStatus hg_wire_client_end_append(HgJob *job, HgError *error);

/*
 * Closes the socket and unmaps the staging area.  Jobs that are still open become orphans: every
 * call on them except close answers HG_CONNECTION_LOST.  Only the engine's calls for orphans may
 * be used, until the last one is closed.
 */
extern void hg_wire_client_destroy(HgWireClient *client);

#endif /* HG_WIRE_CLIENT_H */
