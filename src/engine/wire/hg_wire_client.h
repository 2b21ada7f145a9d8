/*-------------------------------------------------------------------------
 *
 * hg_wire_client.h
 *	  The remote engine: a session's end of the connection to a device process.
 *
 * A client owns one connected Unix socket and the mapping of the staging area
 * that the device process sends over it.  Its engine implements hg_engine.h by
 * forwarding every call.  hg_wire.h describes the messages.
 *
 * The client of a server's control connection has no staging area: its engine's open
 * answers HG_INVALID.
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

/* Devices that one message has room for. */
#define HG_WIRE_MAX_DEVICES 16

/* The state of a device that a process leaves alone: it has no context there, and no memory. */
#define HG_DEVICE_UNUSED "unused"

/* What the device process says of a device that it sees. */
typedef struct HgDeviceInfo
{
	int32_t ordinal;
	char name[96];
	int32_t capability_major;
	int32_t capability_minor;
	uint64_t memory_total;	/* bytes */
	uint64_t memory_free;	/* bytes, when asked */
	uint64_t memory_budget; /* bytes that jobs may hold together */
	int32_t driver_version; /* as cudaDriverGetVersion gives it */
	int32_t runtime_version;
	char state[32]; /* "ready": it is the one that the process uses; HG_DEVICE_UNUSED: it is not,
					 * and nothing is known that speaks against it; or why it can't be */
} HgDeviceInfo;

typedef enum HgWireState
{
	HG_WIRE_STARTING, /* the device process has not said hello yet */
	HG_WIRE_READY,
	HG_WIRE_UNAVAILABLE, /* it said that it has no usable device */
	HG_WIRE_LOST		 /* the connection is gone, or spoke nonsense */
} HgWireState;

/* What the device process says of itself.  Numbers of jobs are since its start. */
typedef struct HgDeviceStatus
{
	uint64_t uptime_ms;
	uint32_t connections; /* of sessions, open now */
	uint32_t jobs_open;
	uint32_t jobs_queued;
	uint32_t unused;		 /* 0 */
	uint64_t jobs_done;		 /* closed, and all went well */
	uint64_t jobs_failed;	 /* closed after a failure of their own */
	uint64_t jobs_cancelled; /* cancelled while they were open or queued, or left behind */
	uint64_t jobs_evicted;	 /* idle, and others waited for their memory */
	uint64_t staging_bytes;
	uint64_t staging_leased;
	uint64_t memory_budget;	   /* bytes of device memory that jobs may hold together */
	uint64_t memory_reserved;  /* what open jobs were admitted for */
	uint64_t memory_held;	   /* what they hold */
	uint64_t memory_peak;	   /* the most that they held */
	uint64_t replica_graphs;   /* graphs and columns that are there ... */
	uint64_t replica_bytes;	   /* ... what they hold of the budget ... */
	uint64_t replica_limit;	   /* ... and may */
	uint64_t replicas_evicted; /* since its start: others, or jobs, wanted their memory */
} HgDeviceStatus;

/*
 * Take over the connected, non-blocking socket fd (closed by destroy; on failure
 * the caller keeps it).  Returns NULL when out of memory (malloc).
 */
extern HgWireClient *hg_wire_client_create(int fd);

/*
 * Take in what has arrived and say how things stand; never waits.  *error (may
 * be NULL) says why, for UNAVAILABLE and LOST.
 */
extern HgWireState hg_wire_client_state(HgWireClient *client, HgError *error);

/* Is there a request that was not answered, as far as is known here? */
extern bool hg_wire_client_awaits(const HgWireClient *client);

/* The socket, for the caller's own waits. */
extern int hg_wire_client_socket(const HgWireClient *client);

/*
 * Ask for the devices as they are now: fills at most capacity of infos and sets
 * *count.  Waits for the answer through host (only wait_readable, cancelled and
 * arg are used).
 */
extern HgStatus hg_wire_client_devices(HgWireClient *client, const HgHost *host,
									   HgDeviceInfo *infos, int capacity, int *count,
									   HgError *error);

/*
 * Ask for the status of the process, which answers at once: a wait that takes long, which
 * host->wait_readable can end by returning false (HG_CANCELLED), means that it hangs,
 * or, but for a control connection, that a job of this connection is at work.
 */
extern HgStatus hg_wire_client_status(HgWireClient *client, const HgHost *host,
									  HgDeviceStatus *status, HgError *error);

/*
 * What a device process has said to be missing when it refused a job with HG_NO_REPLICA last.  All
 * of it are names of that job.
 */
extern const HgMissingReplicas *hg_wire_client_missing(const HgWireClient *client);

/* What the device process has measured before it was READY. */
extern const HgEngineCosts *hg_wire_client_costs(const HgWireClient *client);

/* The engine whose jobs run over this connection; lives as long as the client. */
extern HgEngine *hg_wire_client_engine(HgWireClient *client);

/*
 * The same as the engine's open, without waiting for the answer: whether the job is admitted
 * shows in hg_wire_client_offer, or in the first call that needs to know, which waits for it.
 * Until then, and as long as the job is open, this is the only job that may be opened here.
 */
extern HgStatus hg_wire_client_begin(HgWireClient *client, const HgHost *host,
									 const HgJobSpec *spec, HgJob **job, HgError *error);

/*
 * The same as append (numbered is false; first_row is not looked at) or append_rows, without
 * waiting: *taken is how many of the keys, from the first one on, there was room for.
 */
extern HgStatus hg_wire_client_offer(HgJob *job, HgSide side, const void *keys, uint64_t count,
									 bool numbered, uint64_t first_row, uint64_t *taken,
									 HgError *error);

/*
 * Wait for room where pages of a side that comes so can be put, to be sent from there without
 * another copy: *count of them, one at least.  It is the caller's until the next call for the job.
 */
extern HgStatus hg_wire_client_page_room(HgJob *job, HgSide side, void **to, uint64_t *count,
										 HgError *error);

/* Send the first count pages that were put there, as append_pages does. */
extern HgStatus hg_wire_client_send_pages(HgJob *job, HgSide side, uint64_t count,
										  uint64_t first_page, HgError *error);

/* Has the job that was begun been admitted, as far as is known here?  It never waits. */
extern bool hg_wire_client_is_admitted(HgJob *job);

/* The numbers that rows of a side can have, in blocks of 2^block_log2 numbers. */
typedef struct HgRowNumbers
{
	uint32_t block_log2;
	uint32_t blocks;
	const uint32_t *rows; /* [blocks] how many of a block's numbers, from its first on, are rows */
} HgRowNumbers;

/*
 * Tell a job whose rows are numbered which numbers there are, of all participants of its job:
 * matches of others are nonsense.  The same of a side that is a graph replica: those that the graph
 * was made of, whatever a mask says.  numbers stays in place until the job is closed.  Without, a
 * row can have any number, of a graph replica any that its shape allows; and where rows are not
 * numbered, those that were appended are known.
 */
extern void hg_wire_client_number(HgJob *job, HgSide side, const HgRowNumbers *numbers);

/*
 * Lose the connection because of what the process has answered, which made no sense all together;
 * fills *error and returns its status.
 */
extern HgStatus hg_wire_client_distrust(HgWireClient *client, HgError *error);

/* Is the connection LOST because the process did not make sense? */
extern bool hg_wire_client_is_distrusted(const HgWireClient *client);

/*
 * Have the device process drop a replica of a graph or a column, once no job uses it; it may have
 * none of that name.  With a graph go its columns, whether it is there itself or not.  Nobody
 * learns what became of it.  A job that makes the same replica meanwhile, and is built after this
 * has arrived, makes it all the same.
 */
extern void hg_wire_client_drop(HgWireClient *client, const HgReplicaName *name);

/*
 * Call noted, from now on, when jobs were opened or, where jobs is negative, closed here: by how
 * many their number has changed, and the bytes of their keys and columns, as far as those were
 * expected.  A job counts while it waits for its turn.
 */
extern void hg_wire_client_watch(HgWireClient *client,
								 void (*noted)(void *arg, int jobs, int64_t bytes), void *arg);

/* From now on a job of this engine has another host. */
extern void hg_wire_client_lend(HgJob *job, const HgHost *host);

/*
 * Wait until all keys that were appended to an open job of this engine have arrived, or one of
 * these appends has failed.  No more can be appended.
 */
extern HgStatus hg_wire_client_end_append(HgJob *job, HgError *error);

/*
 * Close the socket and unmap the staging area.  Jobs that are still open become
 * orphans: every call on them but close answers HG_CONNECTION_LOST.  The engine's calls can be used
 * for them, though no others, until the last one is closed.
 */
extern void hg_wire_client_destroy(HgWireClient *client);

#endif /* HG_WIRE_CLIENT_H */
