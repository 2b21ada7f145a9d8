/*-------------------------------------------------------------------------
 *
 * hg_device.c
 *	  The device process that this session's jobs run in.
 *
 * No PostgreSQL process ever loads CUDA: a crash of the driver must not be a crash
 * of a backend, which would restart the whole cluster.  There is a process of the server's
 * (hg_device_server.h) or one of the session's own (hg_device_own.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"
#include "storage/proc.h"

#include "backend/device/hg_device.h"
#include "backend/device/hg_device_own.h"
#include "backend/device/hg_device_server.h"
#include "backend/hg_host.h"
#include "engine/hg_ranges.h"

/*
 * What the way to the device process and back adds to what its engine takes there: the messages
 * of a job, 12 us there and back each, and a copy of each key, value and row number in staging.
 */
#define HG_DEVICE_JOB_MS 0.1
#define HG_DEVICE_MESSAGE_MS 0.012
#define HG_DEVICE_BYTE_NS 0.1

/* How long a session of its own process waits to be told of its devices. */
#define HG_DEVICE_NAME_MS 1000

HgStatus
hg_device_distrust(HgError *error)
{
	if (hg_device_connection.client == NULL)
		return hg_error_set(error, HG_CONNECTION_LOST, NULL, "the device process is gone");
	return hg_wire_client_distrust(hg_device_connection.client, error);
}

bool
hg_device_is_shared(void)
{
	HgServerDevice server;

	return hg_device_server_read(&server);
}

HgStatus
hg_device_complain(HgError *error)
{
	if (hg_device_connection.client != NULL && hg_device_connection.pid == 0)
		hg_device_shared_set_silent(hg_device_connection.epoch);
	return hg_error_set(error, HG_UNAVAILABLE, "It is busy with other joins, or hangs.",
						"the device did not answer in time");
}

HgDeviceState
hg_device_state(bool wait, long patience_ms, HgError *error)
{
	HgServerDevice server;
	HgDeviceState state;
	bool kept = hg_device_server_read(&server);

	if (kept)
		state = hg_device_server_state(&server, wait, patience_ms, &kept, error);
	return kept ? state : hg_device_own_state(wait, error);
}

HgDeviceState
hg_device_glance(HgError *error)
{
	return hg_device_state(false, -1, error);
}

HgWireClient *
hg_device_client(void)
{
	if (hg_device_connection.client == NULL || hg_device_own_poll(NULL) != HG_DEVICE_READY)
		return NULL;
	return hg_device_connection.client;
}

/* The engine in the process that runs now, for hg_ranges.h. */
static HgEngine *
hg_device_remote(void *arg pg_attribute_unused())
{
	HgWireClient *client = hg_device_client();

	return client != NULL ? hg_wire_client_engine(client) : NULL;
}

HgEngine *
hg_device_engine(bool whole)
{
	static HgRanges ranges;
	HgEngine *remote = hg_device_remote(NULL);

	if (remote == NULL || whole)
		return remote;
	if (ranges.target == NULL)
		hg_ranges_init(&ranges, "cuda", hg_device_remote, NULL);
	return &ranges.engine;
}

bool
hg_device_costs(HgEngineCosts *costs)
{
	HgServerDevice server;

	if (hg_device_server_read(&server))
	{
		*costs = server.costs;
		return server.state == HG_SERVER_DEVICE_READY && !server.silent;
	}
	if (hg_device_connection.client == NULL ||
		hg_wire_client_state(hg_device_connection.client, NULL) != HG_WIRE_READY)
		return false;
	*costs = *hg_wire_client_costs(hg_device_connection.client);
	return true;
}

void
hg_device_estimate(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
				   uint64_t inner_rows, double pairs, double *device_ms, double *cpu_ms)
{
	const int place = hg_costs_place(key_width);
	const double bytes =
		(double) (outer_rows + inner_rows) * key_width + pairs * 2 * sizeof(uint32_t);

	*device_ms = hg_costs_estimate(&costs->device[place], outer_rows, inner_rows, pairs) +
				 HG_DEVICE_JOB_MS + bytes * HG_DEVICE_BYTE_NS / 1e6;
	*cpu_ms = hg_costs_estimate(&costs->cpu[place], outer_rows, inner_rows, pairs);
}

double
hg_device_estimate_reduced(const HgEngineCosts *costs, uint32_t key_width, uint64_t outer_rows,
						   uint64_t inner_rows, double column_bytes, double pairs)
{
	const double bytes = (double) (outer_rows + inner_rows) * key_width + column_bytes;

	return hg_costs_estimate_reduced(&costs->device[hg_costs_place(key_width)], outer_rows,
									 inner_rows, column_bytes, pairs) +
		   HG_DEVICE_JOB_MS + bytes * HG_DEVICE_BYTE_NS / 1e6;
}

double
hg_device_estimate_values(const HgEngineCosts *costs, uint32_t key_width, uint32_t ncolumns,
						  double row_bytes, uint64_t rows, double pairs, int processes)
{
	const double column_bytes = (double) rows * row_bytes;
	const double value_bytes = pairs * row_bytes;

	return hg_costs_estimate_values(&costs->device[hg_costs_place(key_width)], column_bytes,
									value_bytes) +
		   ncolumns * HG_DEVICE_MESSAGE_MS +
		   (column_bytes + value_bytes) * HG_DEVICE_BYTE_NS / 1e6 / processes;
}

uint64_t
hg_device_group(void)
{
	return MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : MyProcPid;
}

int
hg_device_list(HgDeviceInfo *infos, int capacity, HgDeviceReport *report, HgError *error)
{
	HgServerDevice server;
	HgPgHost host;
	HgStatus status;
	int count = 0;

	if (hg_device_state(true, 0, error) != HG_DEVICE_READY)
		return 0;
	hg_host_init(&host, CurrentMemoryContext);
	status = hg_wire_client_devices(hg_device_connection.client, &host.host, infos, capacity,
									&count, error);
	if (status == HG_OK)
		status =
			hg_wire_client_status(hg_device_connection.client, &host.host, &report->status, error);
	hg_host_rethrow(&host);
	report->of_server = hg_device_server_read(&server);
	report->restarts = report->of_server ? server.restarts : 0;
	return status == HG_OK ? count : 0;
}

const char *
hg_device_name(void)
{
	HgDeviceInfo infos[16];
	HgPgHost host;
	int count = 0;

	if (hg_device_connection.client == NULL || hg_device_connection.name[0] != '\0')
		return hg_device_connection.name;
	hg_host_init(&host, CurrentMemoryContext);
	hg_host_set_patience(&host, HG_DEVICE_NAME_MS);
	hg_wire_client_devices(hg_device_connection.client, &host.host, infos, lengthof(infos), &count,
						   NULL);
	hg_host_rethrow(&host);
	for (int i = 0; i < count; i++)
		if (strcmp(infos[i].state, "ready") == 0)
		{
			strlcpy(hg_device_connection.name, infos[i].name, sizeof(hg_device_connection.name));
			break;
		}
	return hg_device_connection.name;
}
