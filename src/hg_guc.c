/*-------------------------------------------------------------------------
 *
 * hg_guc.c
 *	  The settings of hashgraph, each declared once.
 *
 * Settings that a session may change are PGC_USERSET.  Those that belong to the
 * device process of the whole server are PGC_SIGHUP: the library must load in a
 * session too (session_preload_libraries, LOAD), where a PGC_POSTMASTER setting
 * could not be declared.  The server's device process is replaced when they change,
 * once no job runs; a session's own keeps the values it started with.  What is fixed when
 * the server starts is PGC_POSTMASTER only where the server itself loads the library.
 *
 * GUC_EXPLAIN marks what can change a plan or the shape of its HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <limits.h>

#include "miscadmin.h"
#include "utils/guc.h"

#include "engine/hg_engine.h"
#include "hg_guc.h"

bool hg_enabled = true;
bool hg_force = false;
bool hg_adaptive = true;
bool hg_join_estimates = true;
bool hg_send_pages = true;
int hg_backend = HG_BACKEND_AUTO;
int hg_build = HG_BUILD_AUTO;
int hg_probe = HG_PROBE_AUTO;
int hg_table = HG_TABLE_AUTO;
bool hg_float_sums = false;
double hg_load_factor = 1.0;
int hg_bins = 0;
int hg_min_rows = 10000;
int hg_gpu_memory_limit = 0;
int hg_keep_memory = -1;
int hg_gpu_wait_limit = 0;
int hg_gpu_memory_budget = 0;
int hg_staging_size = 256 * 1024;
int hg_gpu_idle_timeout = 0;
HgGpuDevices hg_gpu_devices;
char *hg_device_program = NULL;
int hg_resident_memory = 0;
bool hg_resident = true;
bool hg_resident_auto = true;
int hg_resident_workers = 1;
int hg_resident_gpu_memory = 0;
bool hg_save_counters = true;
void (*hg_save_counters_assigned)(bool save) = NULL;

/* What hg_gpu_devices is read from. */
static char *hg_gpu_device = NULL;

/* Highest device ordinal that can be asked for. */
#define HG_MAX_DEVICE 1023

static const struct config_enum_entry hg_guc_backend_options[] = {{"auto", HG_BACKEND_AUTO, false},
																  {"cpu", HG_BACKEND_CPU, false},
																  {"cuda", HG_BACKEND_CUDA, false},
																  {NULL, 0, false}};

static const struct config_enum_entry hg_guc_build_options[] = {{"auto", HG_BUILD_AUTO, false},
																{"v1", HG_BUILD_V1, false},
																{"v2", HG_BUILD_V2, false},
																{NULL, 0, false}};

static const struct config_enum_entry hg_guc_probe_options[] = {
	{"auto", HG_PROBE_AUTO, false},
	{"standard", HG_PROBE_STANDARD, false},
	{"intersect", HG_PROBE_INTERSECT, false},
	{NULL, 0, false}};

static const struct config_enum_entry hg_guc_table_options[] = {
	{"auto", HG_TABLE_AUTO, false},
	{"csr", HG_TABLE_CSR, false},
	{"ellpack", HG_TABLE_ELLPACK, false},
	{"sliced_ellpack", HG_TABLE_SLICED_ELLPACK, false},
	{"dynamic", HG_TABLE_DYNAMIC, false},
	{"cuckoo", HG_TABLE_CUCKOO, false},
	{"dycuckoo", HG_TABLE_DYCUCKOO, false},
	{NULL, 0, false}};

/* Read a number of a list, and go on to what follows it; false where there is none. */
static bool
hg_guc_next_number(const char **list, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(*list, &end, 10);
	if (end == *list || errno != 0)
		return false;
	while (isspace((unsigned char) *end))
		end++;
	*list = end;
	return true;
}

/* Read what a setting says of GPUs; false where that makes no sense. */
static bool
hg_guc_parse_devices(const char *list, HgGpuDevices *devices)
{
	long number;

	memset(devices, 0, sizeof(*devices));
	if (!hg_guc_next_number(&list, &number))
		return false;
	if (number == -1)
		return *list == '\0';
	for (;;)
	{
		if (number < 0 || number > HG_MAX_DEVICE || devices->count == HG_GPU_DEVICES ||
			hg_gpu_devices_find(devices, (int) number) >= 0)
			return false;
		devices->ordinals[devices->count++] = (int) number;
		if (*list == '\0')
			return true;
		if (*list++ != ',' || !hg_guc_next_number(&list, &number))
			return false;
	}
}

static bool
hg_guc_check_gpu_device(char **value, void **extra pg_attribute_unused(),
						GucSource source pg_attribute_unused())
{
	HgGpuDevices devices;

	if (hg_guc_parse_devices(*value, &devices))
		return true;
	GUC_check_errdetail("It is -1, or up to %d numbers from 0 to %d, each once, between commas.",
						HG_GPU_DEVICES, HG_MAX_DEVICE);
	return false;
}

static void
hg_guc_assign_gpu_device(const char *value, void *extra pg_attribute_unused())
{
	hg_guc_parse_devices(value, &hg_gpu_devices);
}

static void
hg_guc_assign_save_counters(bool value, void *extra pg_attribute_unused())
{
	if (hg_save_counters_assigned != NULL)
		hg_save_counters_assigned(value);
}

static void
hg_guc_declare_planner(void)
{
	DefineCustomBoolVariable("hashgraph.enabled",
							 "Enables the planner's use of HashGraph join plans.", NULL,
							 &hg_enabled, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomBoolVariable("hashgraph.adaptive",
							 "Enables joins that count rows before they choose between an index "
							 "and hashing.",
							 NULL, &hg_adaptive, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomBoolVariable("hashgraph.join_estimates",
							 "Corrects the planner's estimates of the rows and groups of joins by "
							 "statistics.",
							 NULL, &hg_join_estimates, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL,
							 NULL);

	DefineCustomBoolVariable("hashgraph.force", "Forces the planner's use of HashGraph join plans.",
							 "A HashGraph join is taken wherever it is possible, whatever it is "
							 "estimated to cost. This is meant for testing.",
							 &hg_force, false, PGC_USERSET, GUC_EXPLAIN | GUC_NOT_IN_SAMPLE, NULL,
							 NULL, NULL);

	DefineCustomIntVariable("hashgraph.min_rows",
							"Sets the number of rows from which on a HashGraph join is "
							"considered.",
							"Joins whose two inputs together are estimated to have fewer rows are "
							"left to other join methods.",
							&hg_min_rows, 10000, 0, INT_MAX, PGC_USERSET, GUC_EXPLAIN, NULL, NULL,
							NULL);

	DefineCustomIntVariable("hashgraph.keep_memory",
							"Sets the memory that a session keeps after a join for the next one.",
							"-1 keeps what one join may use: work_mem times "
							"hash_mem_multiplier. 0 keeps none. The operating system can take "
							"kept blocks of 4 MB or more where memory runs short.",
							&hg_keep_memory, -1, -1, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL,
							NULL, NULL);

	DefineCustomBoolVariable("hashgraph.float_sums",
							 "Enables sums of floating-point numbers over HashGraph joins without "
							 "forming rows.",
							 "Their last digits depend on the order of the rows, which is another "
							 "one then. This includes averages, variances and deviations.",
							 &hg_float_sums, false, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}

static void
hg_guc_declare_engine(void)
{
	DefineCustomEnumVariable("hashgraph.backend", "Selects where HashGraphs are built and joined.",
							 "\"auto\" uses a GPU where one is ready and the CPU otherwise; "
							 "\"cuda\" raises an error where no GPU can be used.",
							 &hg_backend, HG_BACKEND_AUTO, hg_guc_backend_options, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomBoolVariable("hashgraph.send_pages",
							 "Enables a GPU to take joined rows out of copies of tables' pages.",
							 "That is done where their number, or groups of them, is all that is "
							 "asked for.",
							 &hg_send_pages, true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomEnumVariable("hashgraph.build", "Selects the algorithm that builds HashGraphs.",
							 "\"v1\" counts and scatters in one go; \"v2\" splits the rows into "
							 "bins that fit fast memory first.",
							 &hg_build, HG_BUILD_AUTO, hg_guc_build_options, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomEnumVariable("hashgraph.probe", "Selects the algorithm that finds matching rows.",
							 "\"standard\" looks every outer row up in the inner side's HashGraph; "
							 "\"intersect\" builds a HashGraph of each side and intersects their "
							 "adjacency lists.",
							 &hg_probe, HG_PROBE_AUTO, hg_guc_probe_options, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomEnumVariable("hashgraph.table",
							 "Selects what holds the inner rows of a join on the CPU whose outer "
							 "rows are looked up.",
							 "\"csr\" is the HashGraph of a join. A kind of table that can not "
							 "hold the rows, or has no memory for them, is replaced by that.",
							 &hg_table, HG_TABLE_AUTO, hg_guc_table_options, PGC_USERSET,
							 GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomRealVariable(
		"hashgraph.load_factor", "Sets the wanted number of rows per vertex of a HashGraph.",
		"The number of vertices is rounded to a power of two.", &hg_load_factor, 1.0, 0.25, 16.0,
		PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);

	DefineCustomIntVariable("hashgraph.bins", "Sets the number of bins that rows are split into.",
							"The number is rounded to a power of two. 0 chooses it by the size of "
							"the fast memory.",
							&hg_bins, 0, 0, 1 << HG_MAX_BINS_LOG2, PGC_USERSET, GUC_EXPLAIN, NULL,
							NULL, NULL);
}

static void
hg_guc_declare_device(void)
{
	DefineCustomIntVariable("hashgraph.gpu_memory_limit",
							"Sets the maximum GPU memory to be used by one join.",
							"0 means no limit of its own.", &hg_gpu_memory_limit, 0, 0,
							MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);

	DefineCustomIntVariable("hashgraph.gpu_wait_limit",
							"Sets the time that a join may wait for a GPU before the CPU takes "
							"over.",
							"It applies to hashgraph.backend \"auto\". 0 means what the CPU is "
							"expected to take for the join, and at least a second once the GPU "
							"works on it.",
							&hg_gpu_wait_limit, 0, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL, NULL,
							NULL);

	DefineCustomIntVariable("hashgraph.gpu_memory_budget",
							"Sets the maximum GPU memory to be used by all joins together.",
							"0 means 80 % of the memory of the device. It takes effect when the "
							"device process starts.",
							&hg_gpu_memory_budget, 0, 0, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_KB,
							NULL, NULL, NULL);

	DefineCustomIntVariable("hashgraph.staging_size",
							"Sets the size of the memory through which keys, columns, matches and "
							"groups travel to and from a GPU.",
							"It takes effect when the device process starts.", &hg_staging_size,
							256 * 1024, 1024, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_KB, NULL, NULL,
							NULL);

	DefineCustomIntVariable("hashgraph.gpu_idle_timeout",
							"Sets the time after which an idle device process gives up its GPU.",
							"0 means never. It takes effect when the device process starts.",
							&hg_gpu_idle_timeout, 0, 0, INT_MAX / 1000, PGC_SIGHUP, GUC_UNIT_S,
							NULL, NULL, NULL);

	DefineCustomStringVariable("hashgraph.gpu_device",
							   "Selects the GPUs to use, by their numbers.",
							   "A list of numbers; -1 means all.", &hg_gpu_device, "-1",
							   PGC_USERSET, GUC_LIST_INPUT, hg_guc_check_gpu_device, hg_guc_assign_gpu_device,
							   NULL);

	DefineCustomStringVariable(
		"hashgraph.device_program", "Sets the path of the program that runs joins on a GPU.",
		"An empty string means hashgraph_device in the directory of the "
		"server's own programs.",
		&hg_device_program, "", PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
}

/* An area below this size would hold no more than what administers it. */
#define HG_MIN_RESIDENT_MEMORY 1024 /* kB */

static bool
hg_guc_check_resident_memory(int *value, void **extra pg_attribute_unused(),
							 GucSource source pg_attribute_unused())
{
	if (*value == 0 || *value >= HG_MIN_RESIDENT_MEMORY)
		return true;
	GUC_check_errdetail("It is 0 or at least %d kB.", HG_MIN_RESIDENT_MEMORY);
	return false;
}

static void
hg_guc_declare_resident(void)
{
	/*
	 * what a session loads for itself can't declare a setting of the server's start, which has no
	 * effect there
	 */
	GucContext server_start =
		process_shared_preload_libraries_in_progress ? PGC_POSTMASTER : PGC_SIGHUP;

	DefineCustomIntVariable("hashgraph.resident_memory",
							"Sets the size of the memory for resident columns.",
							"0 means none. It takes effect where the library is in "
							"shared_preload_libraries.",
							&hg_resident_memory, 0, 0, MAX_KILOBYTES, server_start, GUC_UNIT_KB,
							hg_guc_check_resident_memory, NULL, NULL);
	DefineCustomBoolVariable(
		"hashgraph.resident", "Enables the use of resident columns.",
		"Where it is off, joins and aggregates read all rows from their tables.", &hg_resident,
		true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"hashgraph.resident_auto",
		"Enables taking columns that joins have scanned twice into memory without being asked.",
		NULL, &hg_resident_auto, true, PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("hashgraph.resident_workers",
							"Sets the number of processes that load resident columns at a time.",
							NULL, &hg_resident_workers, 1, 1, 64, server_start, 0, NULL, NULL,
							NULL);
	DefineCustomIntVariable("hashgraph.resident_gpu_memory",
							"Sets the GPU memory in which resident HashGraphs are kept.",
							"0 means up to half of hashgraph.gpu_memory_budget, -1 none. It takes "
							"effect when the device process starts.",
							&hg_resident_gpu_memory, 0, -1, MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_KB,
							NULL, NULL, NULL);
}

static void
hg_guc_declare_counters(void)
{
	DefineCustomBoolVariable(
		"hashgraph.save_counters", "Saves the counters of joins when the server stops.",
		"PostgreSQL 18 and later have them in the file of their own statistics.",
		&hg_save_counters, true, PGC_SIGHUP, 0, NULL, hg_guc_assign_save_counters, NULL);
}

/*
 * Declare every setting and reserve the prefix, so that a misspelt one is an
 * error.  Call once, from _PG_init.
 */
void
hg_guc_init(void)
{
	hg_guc_declare_planner();
	hg_guc_declare_engine();
	hg_guc_declare_device();
	hg_guc_declare_resident();
	hg_guc_declare_counters();
	MarkGUCPrefixReserved("hashgraph");
}
