/*-------------------------------------------------------------------------
 *
 * hg_device_worker.c
 *	  The background worker that runs the server's device processes.
 *
 * A GPU belongs to a server, not to a session: its context takes half a second and half a
 * gigabyte, and only one process that sees all of its jobs can share its memory among them. For
 * each GPU, this worker starts the program with a socket for sessions and a connection to itself,
 * over which it watches the process (hg_device_supervisor.c). It loads no CUDA, and no key passes
 * through it: sessions talk to the processes directly.
 *
 * WHICH GPUS. If hashgraph.gpu_device lists GPUs, they get device numbers in that order. If it is
 * -1, the process of device 0 uses the first usable GPU and reports the others that it sees, which
 * get the next numbers. A device number keeps its GPU: a replacement process uses the same one.
 * GPUs seen later are appended, and a GPU that disappears is missing only at its own device
 * number. A new list, as far as it has room, also leaves GPUs at their device numbers. No process
 * starts while another one has its GPU.
 *
 * The worker handles one process at a time and waits for it: at most ten seconds for an answer,
 * five for an end. Meanwhile other devices get no new process; sessions whose processes run do not
 * wait for the worker.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "backend/device/hg_device_supervisor.h"
#include "backend/device/hg_device_placement.h"
#include "hg_guc.h"

/* Seconds before the postmaster restarts a failed worker. */
#define HG_WORKER_RESTART_S 5

/* The latch, the postmaster's death, and a socket for each device. */
#define HG_WORKER_EVENTS (2 + HG_GPU_DEVICES)

static struct
{
	int ndevices;
	HgDeviceSupervisor supervisors[HG_GPU_DEVICES]; /* by device number */
} worker;

static uint32 hg_worker_wait_event;

PGDLLEXPORT pg_noreturn void hg_device_worker_main(Datum arg);

void
hg_device_worker_init(void)
{
	BackgroundWorker registered = {0};

	if (!process_shared_preload_libraries_in_progress)
		return;
	hg_device_shared_init();
	hg_device_load_init();
	/* pg_upgrade does not need a GPU */
	if (IsBinaryUpgrade)
		return;

	/* a connection, to no database, makes the worker show in pg_stat_activity */
	registered.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	registered.bgw_start_time = BgWorkerStart_ConsistentState;
	registered.bgw_restart_time = HG_WORKER_RESTART_S;
	strlcpy(registered.bgw_library_name, "hashgraph", sizeof(registered.bgw_library_name));
	strlcpy(registered.bgw_function_name, "hg_device_worker_main",
			sizeof(registered.bgw_function_name));
	strlcpy(registered.bgw_name, "hashgraph device", sizeof(registered.bgw_name));
	strlcpy(registered.bgw_type, "hashgraph device", sizeof(registered.bgw_type));
	RegisterBackgroundWorker(&registered);
}

/* Returns the GPUs that get device numbers: the setting's, or all that device 0 has seen. */
static HgGpuDevices
hg_worker_list(void)
{
	const HgDeviceSupervisor *first = &worker.supervisors[0];
	HgGpuDevices list = hg_gpu_devices;

	if (list.count > 0)
		return list;
	for (int device_no = 0; device_no < Max(worker.ndevices, 1); device_no++)
		list.ordinals[list.count++] = worker.supervisors[device_no].device.ordinal;
	for (int i = 0; i < first->nseen && list.count < HG_GPU_DEVICES; i++)
		if (strcmp(first->seen[i].state, HG_DEVICE_UNUSED) == 0 &&
			hg_gpu_devices_find(&list, first->seen[i].ordinal) < 0)
			list.ordinals[list.count++] = first->seen[i].ordinal;
	return list;
}

/* Moves GPUs that already have device numbers to these numbers, if the list is long enough. */
static void
hg_worker_order(HgGpuDevices *list)
{
	for (int device_no = 0; device_no < Min(list->count, worker.ndevices); device_no++)
	{
		const int ordinal = worker.supervisors[device_no].device.ordinal;
		const int at = hg_gpu_devices_find(list, ordinal);

		if (at >= 0)
		{
			list->ordinals[at] = list->ordinals[device_no];
			list->ordinals[device_no] = ordinal;
		}
	}
}

/* Assigns each GPU its device number. */
static void
hg_worker_assign(bool rests, TimestampTz now)
{
	HgGpuDevices list = hg_worker_list();

	hg_worker_order(&list);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		HgDeviceSupervisor *supervisor = &worker.supervisors[device_no];

		if (device_no >= list.count)
			supervisor->wanted = false;
		else if (!supervisor->wanted || supervisor->device.ordinal != list.ordinals[device_no])
			hg_supervisor_begin(supervisor, list.ordinals[device_no], rests, now);
	}
	if (list.count != worker.ndevices)
		hg_device_shared_set_count(list.count);
	worker.ndevices = list.count;
}

/* Returns true if another device's process still has the GPU of this one. */
static bool
hg_worker_is_taken(const HgDeviceSupervisor *supervisor)
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		const HgDeviceSupervisor *other = &worker.supervisors[device_no];

		if (other != supervisor && other->client != NULL &&
			other->launch.device == supervisor->device.ordinal)
			return true;
	}
	return false;
}

/* Assigns GPUs once device 0 has reported the others. Under backend cpu they rest. */
static void
hg_worker_learn(TimestampTz now)
{
	if (hg_gpu_devices.count == 0)
		hg_worker_assign(hg_backend == HG_BACKEND_CPU, now);
}

/* Returns true if no device has a running or resting process, so that no GPU is known to work. */
static bool
hg_worker_has_none(void)
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (worker.supervisors[device_no].client != NULL ||
			worker.supervisors[device_no].device.state == HG_SERVER_DEVICE_RESTING)
			return false;
	return true;
}

/* Handles a changed configuration: other GPUs, or other settings of their processes. */
static void
hg_worker_reload(TimestampTz now)
{
	const bool rests = worker.supervisors[0].device.state == HG_SERVER_DEVICE_RESTING;

	/* other GPUs may be usable now */
	if (hg_gpu_devices.count == 0 && hg_worker_has_none())
	{
		worker.supervisors[0].device.ordinal = -1;
		worker.supervisors[0].nseen = 0;
		worker.ndevices = 0;
	}
	hg_worker_assign(rests, now);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		hg_supervisor_reload(&worker.supervisors[device_no], now);
}

/* Makes the device processes drop replicas that are no longer used. */
static void
hg_worker_drop_forgotten(void)
{
	HgReplicaName name;

	while (hg_device_shared_next_forgotten(&name))
		for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
			hg_supervisor_drop(&worker.supervisors[device_no], &name);
}

static void
hg_worker_work(TimestampTz now)
{
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		hg_worker_reload(now);
	}
	hg_worker_drop_forgotten();
	for (int device_no = 0; device_no < HG_GPU_DEVICES && !ShutdownRequestPending; device_no++)
		hg_supervisor_work(&worker.supervisors[device_no],
						   hg_worker_is_taken(&worker.supervisors[device_no]), now);
}

/* Waits until something is due or a process has sent something. */
static void
hg_worker_wait(TimestampTz now)
{
	WaitEventSet *set = hg_wait_event_set_create(HG_WORKER_EVENTS);
	TimestampTz next = DT_NOEND;
	WaitEvent event;
	long timeout = -1;

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
	{
		HgDeviceSupervisor *supervisor = &worker.supervisors[device_no];

		next = Min(next, hg_supervisor_next_work(supervisor, now));
		if (supervisor->client != NULL)
			AddWaitEventToSet(set, WL_SOCKET_READABLE, hg_wire_client_socket(supervisor->client),
							  NULL, NULL);
	}
	if (next != DT_NOEND)
		timeout = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), next);
	WaitEventSetWait(set, timeout, &event, 1,
					 HG_WAIT_EVENT(hg_worker_wait_event, "HashGraphDeviceMain"));
	FreeWaitEventSet(set);
}

static void
hg_worker_at_exit(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		hg_supervisor_end(&worker.supervisors[device_no]);
}

void
hg_device_worker_main(Datum arg pg_attribute_unused())
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGINT, PG_SIG_IGN);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	/* a reload before the handler was installed was not signalled to this process */
	ProcessConfigFile(PGC_SIGHUP);

	hg_device_shared_attach();
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		hg_supervisor_init(&worker.supervisors[device_no], device_no);
	before_shmem_exit(hg_worker_at_exit, 0);
	worker.supervisors[0].device.ordinal = -1;
	worker.supervisors[0].learn = hg_worker_learn;
	hg_worker_assign(hg_backend == HG_BACKEND_CPU, GetCurrentTimestamp());

	while (!ShutdownRequestPending)
	{
		TimestampTz now;

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		now = GetCurrentTimestamp();
		hg_worker_work(now);
		if (!ShutdownRequestPending)
			hg_worker_wait(now);
	}
	/* status 0 would tell the postmaster not to restart the worker */
	proc_exit(1);
}
