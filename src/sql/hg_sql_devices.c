/*-------------------------------------------------------------------------
 *
 * hg_sql_devices.c
 *	  hashgraph_devices() and hashgraph_version().
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_extension.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "backend/device/hg_device.h"
#include "sql/hg_sql_row.h"

PG_FUNCTION_INFO_V1(hashgraph_devices);
PG_FUNCTION_INFO_V1(hashgraph_devices_0_3);
PG_FUNCTION_INFO_V1(hashgraph_devices_0_4);
PG_FUNCTION_INFO_V1(hashgraph_version);

/* Maximum number of listed devices. */
#define HG_MAX_LISTED_DEVICES 64

/* Numbers of the columns of hashgraph_devices(). */
typedef enum HgDevicesColumn
{
	DEVICE_ORDINAL = 0,
	DEVICE_NAME,
	DEVICE_COMPUTE_CAPABILITY,
	DEVICE_MEMORY_TOTAL,
	DEVICE_MEMORY_FREE,
	DEVICE_MEMORY_BUDGET,
	DEVICE_DRIVER,
	DEVICE_STATE,
	DEVICE_JOBS, /* this and later columns: since 0.3 */
	DEVICE_QUEUED,
	DEVICE_MEMORY_HELD,
	DEVICE_STAGING,
	DEVICE_STAGING_USED,
	DEVICE_RESTARTS,
	DEVICE_UPTIME,
	DEVICE_MEMORY_RESERVED, /* this and later columns: since 0.4 */
	DEVICE_REPLICA_GRAPHS,
	DEVICE_REPLICA_BYTES,
	DEVICE_REPLICA_LIMIT,
	DEVICE_REPLICAS_EVICTED,
	DEVICE_COLUMNS
} HgDevicesColumn;

/* Numbers of the columns of hashgraph_version(). */
typedef enum HgVersionColumn
{
	VERSION_EXTENSION = 0,
	VERSION_LIBRARY,
	VERSION_CUDA_BUILD,
	VERSION_DRIVER,
	VERSION_COLUMNS
} HgVersionColumn;

/* Returns a version number of CUDA as text: 12040 is 12.4. */
static char *
hg_sql_cuda_version(int32 version)
{
	return psprintf("%d.%d", version / 1000, version % 1000 / 10);
}

/* Returns the number of devices that device processes report.  Says why at DEBUG1 if it is 0. */
static int
hg_sql_list_devices(HgDeviceReport *reports)
{
	HgError error = {0};
	int count = hg_device_list(reports, HG_MAX_LISTED_DEVICES, &error);

	if (count == 0)
		ereport(DEBUG1, (errmsg_internal("no GPU can be used: %s", error.message),
						 error.detail[0] != '\0' ? errdetail_internal("%s", error.detail) : 0));
	return count;
}

/* Fills in what a device process reports about itself. */
static void
hg_sql_set_report(HgSqlRow *row, const HgDeviceReport *report)
{
	const HgDeviceStatus *status = &report->status;
	Interval *uptime = palloc0(sizeof(Interval));

	uptime->time = (TimeOffset) status->uptime_ms * 1000;
	hg_sql_row_set_count(row, DEVICE_JOBS, status->jobs_open);
	hg_sql_row_set_count(row, DEVICE_QUEUED, status->jobs_queued);
	hg_sql_row_set_count(row, DEVICE_MEMORY_HELD, status->memory_held);
	hg_sql_row_set_count(row, DEVICE_STAGING, status->staging_bytes);
	hg_sql_row_set_count(row, DEVICE_STAGING_USED, status->staging_leased);
	if (report->of_server)
		hg_sql_row_set_count(row, DEVICE_RESTARTS, report->restarts);
	hg_sql_row_set(row, DEVICE_UPTIME, IntervalPGetDatum(uptime));
	hg_sql_row_set_count(row, DEVICE_MEMORY_RESERVED, status->memory_reserved);
	hg_sql_row_set_count(row, DEVICE_REPLICA_GRAPHS, status->replica_graphs);
	hg_sql_row_set_count(row, DEVICE_REPLICA_BYTES, status->replica_bytes);
	hg_sql_row_set_count(row, DEVICE_REPLICA_LIMIT, status->replica_limit);
	hg_sql_row_set_count(row, DEVICE_REPLICAS_EVICTED, status->replicas_evicted);
}

/*
 * Returns a row for each usable GPU, with the first columns of the result type, as many as the
 * installed version of the extension declares.
 */
static void
hg_sql_devices_return(FunctionCallInfo fcinfo, int columns)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HgDeviceReport *reports = palloc(HG_MAX_LISTED_DEVICES * sizeof(HgDeviceReport));
	int count;

	InitMaterializedSRF(fcinfo, 0);
	count = hg_sql_list_devices(reports);
	for (int i = 0; i < count; i++)
	{
		const HgDeviceInfo *info = &reports[i].info;
		HgSqlRow row = hg_sql_row_start(fcinfo, columns);

		hg_sql_row_set(&row, DEVICE_ORDINAL, Int32GetDatum(info->ordinal));
		hg_sql_row_set_text(&row, DEVICE_NAME, info->name);
		hg_sql_row_set_text(&row, DEVICE_COMPUTE_CAPABILITY,
							psprintf("%d.%d", info->capability_major, info->capability_minor));
		hg_sql_row_set_count(&row, DEVICE_MEMORY_TOTAL, info->memory_total);
		/* not known without using the device */
		if (reports[i].served)
			hg_sql_row_set_count(&row, DEVICE_MEMORY_FREE, info->memory_free);
		hg_sql_row_set_count(&row, DEVICE_MEMORY_BUDGET, info->memory_budget);
		hg_sql_row_set_text(&row, DEVICE_DRIVER, hg_sql_cuda_version(info->driver_version));
		hg_sql_row_set_text(&row, DEVICE_STATE, info->state);
		if (columns > DEVICE_JOBS && reports[i].served)
			hg_sql_set_report(&row, &reports[i]);
		tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
	}
}

/* hashgraph_devices() of versions before 0.3. */
Datum
hashgraph_devices(PG_FUNCTION_ARGS)
{
	hg_sql_devices_return(fcinfo, DEVICE_JOBS);
	return (Datum) 0;
}

/* hashgraph_devices() of version 0.3. */
Datum
hashgraph_devices_0_3(PG_FUNCTION_ARGS)
{
	hg_sql_devices_return(fcinfo, DEVICE_MEMORY_RESERVED);
	return (Datum) 0;
}

/* hashgraph_devices() since 0.4. */
Datum
hashgraph_devices_0_4(PG_FUNCTION_ARGS)
{
	hg_sql_devices_return(fcinfo, DEVICE_COLUMNS);
	return (Datum) 0;
}

/* Fills in the version of the extension that is installed in this database. */
static void
hg_sql_set_extension_version(HgSqlRow *row)
{
	Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("hashgraph"));
	scan = systable_beginscan(catalog, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool is_null;
		Datum version =
			heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(catalog), &is_null);

		if (!is_null)
			hg_sql_row_set_text(row, VERSION_EXTENSION, TextDatumGetCString(version));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * hashgraph_version(): versions of the installed extension, of the library, of the CUDA that the
 * device program was built with, and of the driver; the last two are NULL if there is none.
 */
Datum
hashgraph_version(PG_FUNCTION_ARGS)
{
	HgSqlRow row = hg_sql_row_start(fcinfo, VERSION_COLUMNS);
	HgDeviceReport *reports = palloc(HG_MAX_LISTED_DEVICES * sizeof(HgDeviceReport));

	hg_sql_set_extension_version(&row);
	hg_sql_row_set_text(&row, VERSION_LIBRARY, HG_VERSION);
#ifdef HG_CUDA_BUILD
	hg_sql_row_set_text(&row, VERSION_CUDA_BUILD, HG_CUDA_BUILD);
#endif
	if (hg_sql_list_devices(reports) > 0)
	{
#ifndef HG_CUDA_BUILD
		/* a device program that was installed separately reports its own CUDA */
		if (reports[0].info.runtime_version > 0)
			hg_sql_row_set_text(&row, VERSION_CUDA_BUILD,
								hg_sql_cuda_version(reports[0].info.runtime_version));
#endif
		hg_sql_row_set_text(&row, VERSION_DRIVER,
							hg_sql_cuda_version(reports[0].info.driver_version));
	}
	PG_RETURN_DATUM(hg_sql_row_finish(&row));
}
