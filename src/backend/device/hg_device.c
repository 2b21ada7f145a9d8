/*-------------------------------------------------------------------------
 *
 * hg_device.c
 *	  The device processes that this session's jobs run in.
 *
 * No PostgreSQL process ever loads CUDA: a crash of the driver must not crash a backend, which
 * would restart the whole cluster. The processes are the server's (hg_device_connection.h) or the
 * session's own (hg_device_connection.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/proc.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_connection.h"
#include "backend/hg_host.h"
#include "engine/hg_cost_table.h"
#include "engine/hg_passes.h"
#include "hg_guc.h"

/* How long auto avoids a device that has let this session time out. */
#define HG_DEVICE_LATE_MS (10 * 1000)

/* How long one of several processes may take to report its devices. */
#define HG_DEVICE_LIST_MS 2000

/* How long a READY process may take to greet a session. */
#define HG_DEVICE_GREETING_MS 1000

/* How often a waiting session checks the states, and how many refusals it accepts in a row. */
#define HG_DEVICE_LOOK_MS 100
#define HG_DEVICE_REFUSALS 50

/*
 * How long a session insists on a program that it finds and the server does not. One of them has
 * not read a changed hashgraph.device_program yet: a session reads it between its statements.
 */
#define HG_DEVICE_MISSING_MS 1000

/* How long a session waits for the names of its own process's devices. */
#define HG_DEVICE_NAME_MS 1000

HgStatus
hg_device_distrust(int device_no, HgError *error)
{
	HgWireClient *client = hg_device_connection(device_no)->client;

	if (client == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	return hg_wire_client_distrust(client, error);
}

bool
hg_device_is_shared(void)
{
	HgServerDevice server;

	return hg_device_server_read(0, &server);
}

HgStatus
hg_device_complain(int device_no, HgError *error)
{
	HgDeviceConnection *connection = hg_device_connection(device_no);

	if (connection->pid != 0)
		hg_device_connection_set_late(connection, (uint64) connection->pid);
	else if (connection->client != NULL)
		hg_device_server_set_late(device_no, connection->epoch);
	return hg_error_set(error, HG_UNAVAILABLE, "It is busy with other joins, or hangs.",
						"the device did not answer in time");
}

HgDeviceState
hg_device_state(int device_no, long timeout_ms, HgError *error)
{
	HgServerDevice server;

	return hg_device_server_read(device_no, &server)
			   ? hg_device_server_state(device_no, &server, timeout_ms, error)
			   : hg_device_own_state(false, error);
}

long
hg_device_greeting_ms(void)
{
	return hg_gpu_wait_limit > 0 ? Min(hg_gpu_wait_limit, HG_DEVICE_GREETING_MS)
								 : HG_DEVICE_GREETING_MS;
}

HgDeviceState
hg_device_glance(int device_no, HgError *error)
{
	return hg_device_state(device_no, -1, error);
}

uint64
hg_device_epoch(int device_no)
{
	const HgDeviceConnection *connection = hg_device_connection(device_no);

	return connection->pid == 0 ? connection->epoch : 0;
}

/* Chooses among the devices in their current states. */
static HgDeviceState
hg_device_choose_now(HgDeviceSet among, long greeting_ms, int *device_no, HgError *error)
{
	HgDeviceSet left = among;
	HgDeviceState state = HG_DEVICE_UNAVAILABLE;

	/* a device that this session excludes is not used, even if it has the job's replicas */
	*device_no = hg_device_number(among);
	if (*device_no < 0)
	{
		*device_no = 0;
		hg_error_set(error, HG_UNAVAILABLE, "", "hashgraph.gpu_device excludes the device");
		return HG_DEVICE_UNAVAILABLE;
	}
	for (int next = *device_no; next >= 0; next = hg_device_number_ready(left))
	{
		*device_no = next;
		left &= ~HG_DEVICE_BIT(next);
		state = hg_device_state(next, greeting_ms, error);
		if (state == HG_DEVICE_READY)
			return state;
	}
	return state;
}

/*
 * Chooses repeatedly until one of the devices is READY. The device is not fixed in advance,
 * because the awaited one may hang while another one comes up.
 */
static HgDeviceState
hg_device_choose_in_time(HgDeviceSet among, int *device_no, HgError *error)
{
	TimestampTz start = GetCurrentTimestamp();
	TimestampTz deadline = TimestampTzPlusMilliseconds(start, HG_DEVICE_START_MS);
	HgServerDevice server;
	HgDeviceState state;
	int refusals = 0;

	while ((state = hg_device_choose_now(among, HG_DEVICE_GREETING_MS, device_no, error)) ==
			   HG_DEVICE_STARTING &&
		   hg_device_server_read(*device_no, &server))
	{
		TimestampTz now = GetCurrentTimestamp();
		long left = TimestampDifferenceMilliseconds(now, deadline);
		bool refused = server.state == HG_SERVER_DEVICE_READY && !server.silent;
		bool missing = server.state == HG_SERVER_DEVICE_UNAVAILABLE && !server.installed;

		refusals = refused ? refusals + 1 : 0;
		if (refusals > HG_DEVICE_REFUSALS)
			state = HG_DEVICE_UNAVAILABLE;
		else if (missing && TimestampDifferenceExceeds(start, now, HG_DEVICE_MISSING_MS))
		{
			*error = server.reason;
			state = HG_DEVICE_ABSENT;
		}
		else if (left <= 0)
		{
			state = HG_DEVICE_UNAVAILABLE;
			hg_error_set(error, HG_UNAVAILABLE, "", "the device process did not start in time");
		}
		if (state != HG_DEVICE_STARTING)
			break;
		hg_device_shared_wait(Min(left, HG_DEVICE_LOOK_MS));
	}
	hg_device_shared_wait_end();
	return state == HG_DEVICE_STARTING ? hg_device_own_state(true, error) : state;
}

/* Returns true if the device's current process has let this session time out lately. */
static bool
hg_device_is_late(int device_no)
{
	const HgDeviceConnection *connection = hg_device_connection(device_no);
	HgServerDevice server;
	uint64 process;

	if (connection->late_at == 0 ||
		TimestampDifferenceExceeds(connection->late_at, GetCurrentTimestamp(), HG_DEVICE_LATE_MS))
		return false;
	process = hg_device_server_read(device_no, &server) ? server.epoch : (uint64) connection->pid;
	return connection->late_process == process;
}

/* Returns the devices whose processes are not late. */
static HgDeviceSet
hg_device_in_time(HgDeviceSet among)
{
	HgDeviceSet device_set = among;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (hg_device_is_late(device_no))
			device_set &= ~HG_DEVICE_BIT(device_no);
	return device_set;
}

HgDeviceState
hg_device_choose(HgDeviceSet among, bool wait, int *device_no, HgError *error)
{
	HgDeviceSet in_time;

	if (wait)
		return hg_device_choose_in_time(among, device_no, error);
	in_time = hg_device_in_time(among);
	if (in_time == among || hg_device_number(in_time) >= 0)
		return hg_device_choose_now(in_time, hg_device_greeting_ms(), device_no, error);
	*device_no = Max(hg_device_number(among), 0);
	hg_error_set(error, HG_UNAVAILABLE, "It is left to other sessions for ten seconds.",
				 "the device did not answer an earlier join in time");
	return HG_DEVICE_UNAVAILABLE;
}

HgWireClient *
hg_device_client(int device_no)
{
	HgDeviceConnection *connection = hg_device_connection(device_no);

	if (connection->client == NULL)
		return NULL;
	if (connection->pid != 0)
		return hg_device_own_poll(NULL) == HG_DEVICE_READY ? connection->client : NULL;
	switch (hg_wire_client_state(connection->client, NULL))
	{
		case HG_WIRE_READY:
			return connection->client;
		case HG_WIRE_STARTING:
			break;
		case HG_WIRE_UNAVAILABLE:
		case HG_WIRE_LOST:
			hg_device_connection_close(connection);
			break;
	}
	return NULL;
}

bool
hg_device_ask_status(int device_no, double timeout_ms, HgDeviceStatus *status)
{
	HgWireClient *client = hg_device_client(device_no);
	HgPgHost host;
	HgError error;
	bool answered;

	hg_host_init(&host, CurrentMemoryContext);
	hg_host_set_timeout(&host, timeout_ms);
	answered = client != NULL && hg_wire_client_status(client, &host.host, status, &error) == HG_OK;
	hg_host_rethrow(&host);
	if (hg_host_timed_out(&host))
		(void) hg_device_complain(device_no, &error);
	return answered;
}

/* The engine in the process that runs now, for hg_passes.h. */
static HgEngine *
hg_device_remote(void *arg)
{
	HgWireClient *client = hg_device_client((int) (intptr_t) arg);

	return client != NULL ? hg_wire_client_engine(client) : NULL;
}

HgEngine *
hg_device_engine(int device_no, bool whole)
{
	static HgPasses passes[HG_GPU_DEVICES];
	HgEngine *remote = hg_device_remote((void *) (intptr_t) device_no);

	if (remote == NULL || whole)
		return remote;
	if (passes[device_no].target == NULL)
		hg_passes_init(&passes[device_no], "cuda", hg_device_remote, (void *) (intptr_t) device_no);
	return &passes[device_no].engine;
}

bool
hg_device_costs(HgEngineCosts *costs)
{
	const HgWireClient *client = hg_device_connection(0)->client;
	HgServerDevice server;

	if (hg_device_is_shared())
	{
		for (int device_no = 0; device_no < hg_device_shared_count(); device_no++)
			if (hg_device_server_read(device_no, &server) &&
				server.state == HG_SERVER_DEVICE_READY && !server.silent)
			{
				*costs = server.costs;
				return true;
			}
		return false;
	}
	if (client == NULL ||
		hg_wire_client_state(hg_device_connection(0)->client, NULL) != HG_WIRE_READY)
		return false;
	*costs = *hg_wire_client_costs(client);
	return true;
}

void
hg_device_estimate(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
				   uint64_t inner_rows, double pairs, double *device_ms, double *cpu_ms)
{
	const int width_index = hg_costs_width_index(key_width);
	const double bytes =
		(double) (outer_rows + inner_rows) * key_width + pairs * 2 * sizeof(uint32_t);

	*device_ms = hg_costs_estimate(&costs->device[width_index], outer_rows, inner_rows, pairs) +
				 (HG_JOB_MESSAGES_NS + bytes * HG_BYTE_NS) / 1e6;
	*cpu_ms = hg_costs_estimate(&costs->cpu[width_index], outer_rows, inner_rows, pairs);
}

double
hg_device_estimate_reduced(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
						   uint64_t inner_rows, double column_bytes, double pairs)
{
	const double bytes = (double) (outer_rows + inner_rows) * key_width + column_bytes;

	return hg_costs_estimate_reduced(&costs->device[hg_costs_width_index(key_width)], outer_rows,
									 inner_rows, column_bytes, pairs) +
		   (HG_JOB_MESSAGES_NS + bytes * HG_BYTE_NS) / 1e6;
}

double
hg_device_estimate_values(const HgEngineCosts *costs, uint32_t key_width, uint32_t ncolumns,
						  double row_bytes, uint64_t rows, double pairs, int processes)
{
	const double column_bytes = (double) rows * row_bytes;
	const double value_bytes = pairs * row_bytes;

	return hg_costs_estimate_values(&costs->device[hg_costs_width_index(key_width)], column_bytes,
									value_bytes) +
		   (ncolumns * HG_MESSAGE_NS + (column_bytes + value_bytes) * HG_BYTE_NS / processes) / 1e6;
}

uint64_t
hg_device_group(void)
{
	return MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : MyProcPid;
}

/*
 * Fills infos with the devices that a device's process sees, and *report for its own device.
 * Returns their number, or 0 with *error filled.
 */
static int
hg_device_ask_one(int device_no, HgDeviceInfo *infos, int capacity, HgDeviceReport *report,
				  HgError *error)
{
	HgWireClient *client = hg_device_connection(device_no)->client;
	HgServerDevice server;
	HgPgHost host;
	HgStatus status;
	int count = 0;

	hg_host_init(&host, CurrentMemoryContext);
	/* one that hangs must not keep the others out of the list */
	if (hg_device_shared_count() > 1)
		hg_host_set_timeout(&host, HG_DEVICE_LIST_MS);
	status = hg_wire_client_devices(client, &host.host, infos, capacity, &count, error);
	if (status == HG_OK)
		status = hg_wire_client_status(client, &host.host, &report->status, error);
	hg_host_rethrow(&host);
	report->of_server = hg_device_server_read(device_no, &server);
	report->restarts = report->of_server ? server.restarts : 0;
	return status == HG_OK ? count : 0;
}

/* Returns the report of a GPU ordinal, or a new zeroed one; NULL if there is no room. */
static HgDeviceReport *
hg_device_find_report(HgDeviceReport *reports, int capacity, int *count, int ordinal)
{
	for (int i = 0; i < *count; i++)
		if (reports[i].info.ordinal == ordinal)
			return &reports[i];
	if (*count == capacity)
		return NULL;
	memset(&reports[*count], 0, sizeof(HgDeviceReport));
	return &reports[(*count)++];
}

/* Adds the devices that a process sees to the reports. */
static void
hg_device_add_reports(HgDeviceReport *reports, int capacity, int *count, const HgDeviceInfo *infos,
					  int ninfos, const HgDeviceReport *report)
{
	for (int i = 0; i < ninfos; i++)
	{
		const bool served = strcmp(infos[i].state, "ready") == 0;
		HgDeviceReport *of = hg_device_find_report(reports, capacity, count, infos[i].ordinal);

		if (of == NULL || of->served)
			continue;
		if (served)
			*of = *report;
		of->served = served;
		of->info = infos[i];
	}
}

/* Fills in the published state of a device whose process has not reported itself. */
static void
hg_device_add_state(HgDeviceReport *reports, int count, int device_no)
{
	static const char *const names[] = {[HG_SERVER_DEVICE_NONE] = "starting",
										[HG_SERVER_DEVICE_RESTING] = "resting",
										[HG_SERVER_DEVICE_STARTING] = "starting",
										[HG_SERVER_DEVICE_READY] = "silent",
										[HG_SERVER_DEVICE_UNAVAILABLE] = "unavailable"};
	HgServerDevice server;

	if (!hg_device_server_read(device_no, &server))
		return;
	for (int i = 0; i < count; i++)
		if (reports[i].info.ordinal == server.ordinal && !reports[i].served)
			strlcpy(reports[i].info.state, names[server.state], sizeof(reports[i].info.state));
}

int
hg_device_list(HgDeviceReport *reports, int capacity, HgError *error)
{
	const int ndevices = Max(hg_device_shared_count(), 1);
	HgDeviceInfo infos[HG_WIRE_MAX_DEVICES];
	HgServerDevice server;
	int count = 0;
	int any;

	/* waits for one; the others count as they are, and resting ones are not woken */
	if (hg_device_choose(HG_ALL_DEVICES, true, &any, error) != HG_DEVICE_READY && ndevices == 1)
		return 0;
	for (int device_no = 0; device_no < ndevices; device_no++)
	{
		HgDeviceReport report;
		HgError why = {0};
		int ninfos;

		if (hg_device_server_read(device_no, &server) && server.state == HG_SERVER_DEVICE_RESTING)
			continue;
		if (hg_device_state(device_no, HG_DEVICE_NAME_MS, &why) == HG_DEVICE_READY)
		{
			ninfos = hg_device_ask_one(device_no, infos, lengthof(infos), &report, &why);
			hg_device_add_reports(reports, capacity, &count, infos, ninfos, &report);
		}
	}
	for (int device_no = 0; device_no < ndevices; device_no++)
		hg_device_add_state(reports, count, device_no);
	return count;
}

const char *
hg_device_name(int device_no)
{
	HgDeviceConnection *connection = hg_device_connection(device_no);
	HgDeviceInfo infos[HG_WIRE_MAX_DEVICES];
	HgPgHost host;
	int count = 0;

	if (connection->client == NULL || connection->name[0] != '\0')
		return connection->name;
	hg_host_init(&host, CurrentMemoryContext);
	hg_host_set_timeout(&host, HG_DEVICE_NAME_MS);
	hg_wire_client_devices(connection->client, &host.host, infos, lengthof(infos), &count, NULL);
	hg_host_rethrow(&host);
	for (int i = 0; i < count; i++)
		if (strcmp(infos[i].state, "ready") == 0)
		{
			strlcpy(connection->name, infos[i].name, sizeof(connection->name));
			break;
		}
	return connection->name;
}
