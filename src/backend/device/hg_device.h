/*-------------------------------------------------------------------------
 *
 * hg_device.h
 *	  The device processes that this session's jobs run in.
 *
 * CUDA lives in the program hashgraph_device alone.  Where the library is in
 * shared_preload_libraries, the server has such a process for each GPU that it uses, which a
 * background worker supervises (hg_device_worker.h) and sessions connect to.  Each has a number
 * among them, which every call here is told (hg_device_placement.h).  Elsewhere a session that
 * first wants a device starts a process of its own, number 0, which ends with it.  The session
 * talks to each over one socket (see engine/wire).
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

/* What a device process and the worker say of it, for a human. */
typedef struct HgDeviceReport
{
	HgDeviceInfo info; /* of its GPU, or of one that nobody uses */
	bool served;	   /* a process has it, or is to: what follows is known */
	HgDeviceStatus status;
	bool of_server;	   /* it serves all sessions: the rest is known */
	uint64_t restarts; /* processes that were lost and replaced since the server's start */
} HgDeviceReport;

/*
 * How things stand on a device; sees to it that a process is started unless one runs or is known to
 * be of no use.  It waits timeout_ms at most for the greeting of a process that runs, and for
 * nothing else. *error says why, unless READY.
 */
extern HgDeviceState hg_device_state(int device_no, long timeout_ms, HgError *error);

/*
 * How long a join waits for a greeting, in ms.  Greetings come before all jobs, so a process that
 * takes long to greet is one that hangs, or has no processor to run on, however small the join is.
 */
extern long hg_device_greeting_ms(void);

/*
 * The same without any wait: STARTING where the process has not greeted yet, which may be a matter
 * of microseconds.  The next call, of either function, knows more.
 */
extern HgDeviceState hg_device_glance(int device_no, HgError *error);

/*
 * Which of the server's processes that a device has had is at the other end of this session's
 * connection; 0: it is the session's own, or has not greeted.
 */
extern uint64 hg_device_epoch(int device_no);

/*
 * Choose a device, of these, for a job (hg_device_number), and say how things stand there; where it
 * turns out that its process has gone, another one that is READY. With wait, STARTING is not
 * returned: the call waits (interruptibly, a minute at most) until one of the devices is READY, or
 * none of them will be.  Without, it waits for greetings (hg_device_greeting_ms), and devices whose
 * processes have kept this session waiting in vain in the last ten seconds are UNAVAILABLE.
 */
extern HgDeviceState hg_device_choose(HgDeviceSet among, bool wait, int *device_no, HgError *error);

/* The connection to a READY device process; NULL otherwise. */
extern HgWireClient *hg_device_client(int device_no);

/*
 * What a READY device process says of its device and of the jobs there.  False where none is ready,
 * or it does not answer within so many ms, which others are told (hg_device_complain).
 */
extern bool hg_device_ask_status(int device_no, double timeout_ms, HgDeviceStatus *status);

/*
 * The engine of a READY device process; NULL otherwise.  A job that does not fit the device
 * runs as several there, two at a time (engine/hg_ranges.h); or, whole, fails.
 */
extern HgEngine *hg_device_engine(int device_no, bool whole);

/*
 * What jobs cost on a device and on the CPU, as the first device process that is READY has
 * measured; false where there is none.  Neither starts a process nor connects to it.
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
 * The name of a device's device; "" where there is none.  Asks a process of this session's own the
 * first time.
 */
extern const char *hg_device_name(int device_no);

/*
 * The number of the group that this process's jobs belong to (HgJobSpec): the query's, with all
 * its parallel workers.
 */
extern uint64_t hg_device_group(void);

/* Returns true if the server has device processes, which a short-lived process can use too. */
extern bool hg_device_is_shared(void);

/*
 * Fill at most capacity of reports, one for each device, returning their number; 0 with *error
 * filled where there is no device.  Waits for processes that are starting.
 */
extern int hg_device_list(HgDeviceReport *reports, int capacity, HgError *error);

/*
 * What the process has answered made no sense all together: give the connection up.  Fills *error
 * and returns its status.
 */
extern HgStatus hg_device_distrust(int device_no, HgError *error);

/*
 * The process did not answer in time: remember it, and tell the other sessions, and who looks after
 * it.  Fills *error and returns its status.
 */
extern HgStatus hg_device_complain(int device_no, HgError *error);

#endif /* HG_DEVICE_H */
