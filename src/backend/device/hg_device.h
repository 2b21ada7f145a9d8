/*-------------------------------------------------------------------------
 *
 * hg_device.h
 *	  The device process that this session's jobs run in.
 *
 * CUDA lives in the program hashgraph_device alone.  Where the library is in
 * shared_preload_libraries, the server has one such process, which a background worker keeps
 * (hg_device_worker.h) and sessions connect to.  Elsewhere a session that first wants a device
 * starts a process of its own, which ends with it.  The session talks to either over
 * one socket (see engine/wire).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_H
#define HG_DEVICE_H

#include "backend/device/hg_device_connection.h"
#include "engine/hg_costs.h"

/* What the device process and the worker say of the process, for a human. */
typedef struct HgDeviceReport
{
	HgDeviceStatus status;
	bool of_server;	   /* it serves all sessions: the rest is known */
	uint64_t restarts; /* processes that were lost and replaced since the server's start */
} HgDeviceReport;

/*
 * How things stand; sees to it that a process is started unless one runs or is known to be of no
 * use.  With wait, STARTING is not returned: the call waits (interruptibly, a minute at most)
 * for the process to make up its mind.  Without, it waits patience_ms at most for the greeting of a
 * process that runs, and for nothing else.  *error says why, unless READY.
 */
extern HgDeviceState hg_device_state(bool wait, long patience_ms, HgError *error);

/*
 * The same without any wait: STARTING where the process has not greeted yet, which may be a matter
 * of microseconds.  The next call, of either function, knows more.
 */
extern HgDeviceState hg_device_glance(HgError *error);

/* The connection to a READY device process; NULL otherwise. */
extern HgWireClient *hg_device_client(void);

/*
 * The engine of a READY device process; NULL otherwise.  A job that does not fit the device
 * runs as several there, two at a time (engine/hg_ranges.h); or, whole, fails.
 */
extern HgEngine *hg_device_engine(bool whole);

/*
 * What jobs cost on the device and on the CPU, as a device process that is READY has measured;
 * false where there is none.  Neither starts a process nor connects to it.
 */
extern bool hg_device_costs(HgEngineCosts *costs);

/*
 * Milliseconds that a job on the device is expected to take, the way there and back included,
 * and one on the CPU.
 */
extern void hg_device_estimate(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
							   uint64_t inner_rows, double pairs, double *device_ms,
							   double *cpu_ms);

/*
 * The same of a job on the device whose matches it reduces to groups, of columns of so many bytes.
 */
extern double hg_device_estimate_reduced(const HgEngineCosts *costs, uint32_t key_width,
										 uint64_t outer_rows, uint64_t inner_rows,
										 double column_bytes, double pairs);

/*
 * Milliseconds that it takes more to have the values of columns of a side come with the pairs:
 * row_bytes a row and a pair, in ncolumns columns.  So many processes share the rows and the pairs.
 */
extern double hg_device_estimate_values(const HgEngineCosts *costs, uint32_t key_width,
										uint32_t ncolumns, double row_bytes, uint64_t rows,
										double pairs, int processes);

/*
 * The name of the device that jobs run on; "" where there is none.  Asks a process
 * of this session's own the first time.
 */
extern const char *hg_device_name(void);

/*
 * The number of the group that this process's jobs belong to (HgJobSpec): the query's, with all
 * its parallel workers.
 */
extern uint64_t hg_device_group(void);

/* Is there a process of the server's, so that a short-lived process has use for it? */
extern bool hg_device_is_shared(void);

/*
 * Fill at most capacity of infos, returning their number, and the report; 0 with *error filled
 * where there is no device.  Waits for a process that is starting.
 */
extern int hg_device_list(HgDeviceInfo *infos, int capacity, HgDeviceReport *report,
						  HgError *error);

/*
 * What the process has answered made no sense all together: give the connection up.  Fills *error
 * and returns its status.
 */
extern HgStatus hg_device_distrust(HgError *error);

/*
 * The process did not answer in time: tell the other sessions, and who looks after it.  Fills
 * *error and returns its status.
 */
extern HgStatus hg_device_complain(HgError *error);

#endif /* HG_DEVICE_H */
