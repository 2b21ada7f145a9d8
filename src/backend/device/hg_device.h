/*-------------------------------------------------------------------------
 *
 * hg_device.h
 *	  The device processes that this session's jobs run in.
 *
 * Only the program hashgraph_device loads CUDA. If the library is in shared_preload_libraries, a
 * background worker runs one such process for each GPU that the server uses
 * (hg_device_supervisor.h), and sessions connect to them.  Each process has a device number, which
 * every call here takes (hg_device_placement.h).  Otherwise a session that first needs a device
 * starts a process of its own as number 0, which ends with it.  The session talks to each over one
 * socket (engine/wire/hg_wire.h).  The first message of a process is its greeting: its device is
 * ready, or the reason why there is none.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_H
#define HG_DEVICE_H

#include "backend/device/hg_device_connection.h"
#include "backend/device/hg_device_placement.h"
#include "engine/hg_costs.h"

/* One row of hashgraph_devices(): what a device process and the worker report of one GPU. */
typedef struct HgDeviceReport
{
	HgDeviceInfo info; /* the GPU, whether or not a process uses it */
	bool served;	   /* a process uses the GPU or will: status is valid */
	HgDeviceStatus status;
	bool of_server;	   /* the process serves all sessions: restarts is valid */
	uint64_t restarts; /* processes lost and replaced since the server's start */
} HgDeviceReport;

/*
 * Returns the state of a device. Starts its process unless one runs or is known to be unusable.
 * Waits at most timeout_ms for the greeting of a running process, and for nothing else; a negative
 * timeout_ms means no wait. Fills *error unless the state is READY.
 */
extern HgDeviceState hg_device_state(int device_no, long timeout_ms, HgError *error);

/*
 * Returns how long a join waits for a greeting, in ms. A process greets before it runs any job.
 * One that is slow to greet therefore hangs or gets no CPU time, however small the join is.
 */
extern long hg_device_greeting_ms(void);

/*
 * Does what hg_device_state does, without any wait. Returns STARTING if the process has not greeted
 * yet, which may take only microseconds; a later call of either function sees the greeting.
 */
extern HgDeviceState hg_device_glance(int device_no, HgError *error);

/*
 * Returns the epoch of the server's process that this session is connected to. 0 means that the
 * process is the session's own or has not greeted.
 */
extern uint64 hg_device_epoch(int device_no);

/*
 * Chooses one of the given devices for a job (hg_device_number), stores it in *device_no and
 * returns its state. If its process turns out to be gone, chooses another one that is READY.
 *
 * With wait, the call never returns STARTING: it waits, interruptibly and for at most a minute,
 * until a device is READY or none can be. Without wait, it waits only for greetings
 * (hg_device_greeting_ms). Devices whose processes let this session time out in the last ten
 * seconds are then UNAVAILABLE. Fills *error unless READY.
 */
extern HgDeviceState hg_device_choose(HgDeviceSet among, bool wait, int *device_no, HgError *error);

/* Returns the connection to a READY device process; NULL otherwise. */
extern HgWireClient *hg_device_client(int device_no);

/*
 * Asks a READY device process for the status of its device and jobs. Returns false if none is
 * ready or it does not answer within timeout_ms; a timeout is reported to the other sessions
 * (hg_device_complain).
 */
extern bool hg_device_ask_status(int device_no, double timeout_ms, HgDeviceStatus *status);

/*
 * Returns the engine of a READY device process; NULL otherwise. A job that does not fit the device
 * runs there in partition passes, two at a time (engine/hg_passes.h). With whole it fails instead.
 */
extern HgEngine *hg_device_engine(int device_no, bool whole);

/*
 * Reads what jobs cost on a device and on the CPU, as measured by the first READY device process.
 * Returns false if no process is READY. Neither starts a process nor connects to one.
 */
extern bool hg_device_costs(HgEngineCosts *costs);

/*
 * Sets *device_ms and *cpu_ms to the estimated milliseconds of a job on a device, transfers
 * included, and in one process on the CPU. pairs is the expected number of matches.
 */
extern void hg_device_estimate(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
							   uint64_t inner_rows, double pairs, double *device_ms,
							   double *cpu_ms);

/*
 * Returns the estimated milliseconds of a job on the device that reduces its matches to groups.
 * column_bytes is the total size of the columns that it reads.
 */
extern double hg_device_estimate_reduced(const HgEngineCosts *costs, uint32_t key_width,
										 uint64_t outer_rows, uint64_t inner_rows,
										 double column_bytes, double pairs);

/*
 * Returns the additional milliseconds if the values of a side's columns come with the pairs. The
 * ncolumns columns take row_bytes for each row and each pair. The given number of processes shares
 * the rows and the pairs.
 */
extern double hg_device_estimate_values(const HgEngineCosts *costs, uint32_t key_width,
										uint32_t ncolumns, double row_bytes, uint64_t rows,
										double pairs, int processes);

/*
 * Returns the name of the GPU of a device; "" without a connection. If the process is this
 * session's own, the first call waits up to a second for it. The connection owns the string.
 */
extern const char *hg_device_name(int device_no);

/*
 * Returns the number of the group of jobs that this process belongs to (HgJobSpec). A group is a
 * query with all its parallel workers.
 */
extern uint64_t hg_device_group(void);

/* Returns true if the server has device processes, which a short-lived process can use too. */
extern bool hg_device_is_shared(void);

/*
 * Fills at most capacity reports, one for each device, and returns their number. Returns 0 with
 * *error filled if there is no device. Waits for processes that are starting.
 */
extern int hg_device_list(HgDeviceReport *reports, int capacity, HgError *error);

/*
 * Marks the connection as lost because the process has sent invalid data. Fills *error and returns
 * its status, HG_CONNECTION_LOST.
 */
extern HgStatus hg_device_distrust(int device_no, HgError *error);

/*
 * Records that the process did not answer in time. This session then avoids it for ten seconds, and
 * others until it has answered the worker. Fills *error and returns its status, HG_UNAVAILABLE.
 */
extern HgStatus hg_device_complain(int device_no, HgError *error);

#endif /* HG_DEVICE_H */
