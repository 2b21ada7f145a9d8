/*-------------------------------------------------------------------------
 *
 * hg_stats.c
 *	  Statistics of finished joins: this session's last ones, and shared counters.
 *
 * THE SESSION'S LIST has the joins of the last statement that had one.  A statement is what runs
 * at the outermost level of the executor or of utility commands; whatever it runs inside
 * (functions, triggers, EXPLAIN, DO) belongs to it.  Hooks number the statements.  A join that is
 * added under a new number empties the list first.  So statements without a join, such as one that
 * reads the list, leave it as it is.  A join is added when it ends.  That may be after its
 * statement's last row was fetched, but always before the next statement starts.  The joins of a
 * cursor belong to the statement that closed it.  A session may change users: each join stores its
 * user, and DISCARD ALL, with which a pool hands a session on, empties the list.
 *
 * The hooks run in every query of a session with the library, so they do little.  The executor's
 * hooks set no PG_TRY, which would be most of the library's cost in a lookup of one row.  The
 * outermost level is noted when it is entered, with its subtransaction.  An error that leaves it
 * leaves the note behind.  But whoever catches that error has aborted the subtransaction by then,
 * so the note is known to be void.  Utility commands, some of which end the transaction that they
 * began in, are counted with a PG_TRY, except for transaction commands such as BEGIN and COMMIT.
 *
 * THE COUNTERS of a database are shared by all sessions: hg_counters.c.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "storage/proc.h"
#include "tcop/utility.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "backend/hg_memory.h"
#include "backend/hg_stats.h"
#include "hg_compat.h"

/* Maximum number of joins of a statement in the session's list: the first ones. */
#define HG_LAST_JOINS 1000

static struct
{
	MemoryContext context;
	HgJoinRecord *records; /* [allocated] */
	int count;
	int allocated;
	uint64 statement; /* to which the records belong */
} last_joins;

/* Number of the statement that runs or ran last. */
static uint64 statement_number = 0;

/* Depth of running utility commands, without transaction commands. */
static int utility_depth = 0;

/* Number of DISCARD ALLs of this session. */
static uint64 discards = 0;

/* The running utility command will start a plan of its own. */
static bool plan_expected = false;

/* Transaction and subtransaction of the outermost level that is no such command; or invalid. */
static struct
{
	LocalTransactionId transaction;
	SubTransactionId subtransaction;
} outermost;

/* What to call next: the hooks that were there before, or PostgreSQL's functions. */
static ExecutorRun_hook_type next_executor_run;
static ExecutorFinish_hook_type next_executor_finish;
static ProcessUtility_hook_type next_process_utility;

/* The note of the outermost level is void if an error has left it. */
bool
hg_stats_is_running(void)
{
	return utility_depth > 0 || (outermost.subtransaction != InvalidSubTransactionId &&
								 outermost.transaction == HG_LOCAL_TRANSACTION_ID &&
								 SubTransactionIsActive(outermost.subtransaction));
}

uint64
hg_stats_statement(void)
{
	return statement_number + (hg_stats_is_running() ? 0 : 1);
}

uint64
hg_stats_discards(void)
{
	return discards;
}

bool
hg_stats_starts_plan(void)
{
	if (utility_depth == 0)
		return !hg_stats_is_running();
	if (!plan_expected)
		return false;
	plan_expected = false;
	return true;
}

bool
hg_stats_expects_plan(void)
{
	return plan_expected;
}

void
hg_stats_expect_plan(void)
{
	plan_expected = true;
}

/* Returns true if a utility command has one plan of its own. */
static bool
hg_stats_has_plan(const Node *statement)
{
	return IsA(statement, ExecuteStmt) || IsA(statement, ExplainStmt) ||
		   IsA(statement, CreateTableAsStmt) || IsA(statement, DeclareCursorStmt);
}

/* Enters a level that contains no transaction end; true if it is the outermost, to be left. */
static inline bool
hg_stats_enter(void)
{
	if (hg_stats_is_running())
		return false;
	outermost.transaction = HG_LOCAL_TRANSACTION_ID;
	outermost.subtransaction = GetCurrentSubTransactionId();
	return true;
}

static inline void
hg_stats_leave(void)
{
	outermost.subtransaction = InvalidSubTransactionId;
}

static void
hg_stats_executor_run(HG_EXECUTOR_RUN_PARAMETERS)
{
	if (!hg_stats_enter())
	{
		next_executor_run(HG_EXECUTOR_RUN_ARGUMENTS);
		return;
	}
	statement_number++;
	next_executor_run(HG_EXECUTOR_RUN_ARGUMENTS);
	hg_stats_leave();
}

/* AFTER triggers run here, after the last row: it is still the same statement. */
static void
hg_stats_executor_finish(QueryDesc *query)
{
	if (!hg_stats_enter())
	{
		next_executor_finish(query);
		return;
	}
	next_executor_finish(query);
	hg_stats_leave();
}

static bool
hg_stats_is_discard_all(const Node *statement)
{
	return IsA(statement, DiscardStmt) && ((const DiscardStmt *) statement)->target == DISCARD_ALL;
}

static void
hg_stats_forget_joins(void)
{
	if (last_joins.context != NULL)
		MemoryContextDelete(last_joins.context);
	memset(&last_joins, 0, sizeof(last_joins));
}

static void
hg_stats_process_utility(PlannedStmt *statement, const char *query, bool read_only_tree,
						 ProcessUtilityContext context, ParamListInfo params,
						 QueryEnvironment *environment, DestReceiver *dest,
						 QueryCompletion *completion)
{
	/* read now, as running the statement may free it; volatile because of PG_TRY */
	const volatile bool forgets = hg_stats_is_discard_all(statement->utilityStmt);
	const volatile bool expected_before = plan_expected;

	/* these only note what to do, and return before it is done */
	if (IsA(statement->utilityStmt, TransactionStmt))
	{
		const bool entered = hg_stats_enter();

		if (entered)
			statement_number++;
		next_process_utility(statement, query, read_only_tree, context, params, environment, dest,
							 completion);
		if (entered)
			hg_stats_leave();
		return;
	}

	if (!hg_stats_is_running())
	{
		statement_number++;
		plan_expected = hg_stats_has_plan(statement->utilityStmt);
	}
	else if (IsA(statement->utilityStmt, ExplainStmt))
		plan_expected = true;
	utility_depth++;
	PG_TRY();
	{
		next_process_utility(statement, query, read_only_tree, context, params, environment, dest,
							 completion);
	}
	PG_FINALLY();
	{
		utility_depth--;
		plan_expected = expected_before;
	}
	PG_END_TRY();
	if (forgets)
	{
		hg_stats_forget_joins();
		discards++;
		hg_pool_release();
	}
}

/* These hooks do not change what a statement does, so any session may have them. */
void
hg_stats_init(void)
{
	next_executor_run = ExecutorRun_hook ? ExecutorRun_hook : standard_ExecutorRun;
	ExecutorRun_hook = hg_stats_executor_run;
	next_executor_finish = ExecutorFinish_hook ? ExecutorFinish_hook : standard_ExecutorFinish;
	ExecutorFinish_hook = hg_stats_executor_finish;
	next_process_utility = ProcessUtility_hook ? ProcessUtility_hook : standard_ProcessUtility;
	ProcessUtility_hook = hg_stats_process_utility;
	hg_counters_init();
}

/* Returns true if a device has answered the reported job, or a part of it. */
static bool
hg_stats_is_of_device(const HgMatcherReport *report)
{
	return strcmp(report->backend, "cuda") == 0;
}

/*
 * Merges another report of the same join into a report: the backend is a device's if either has
 * used a device, and the reasons are the other's if the report has none.
 */
static void
hg_stats_merge_report(HgMatcherReport *report, const HgMatcherReport *other)
{
	if (hg_stats_is_of_device(other) && !hg_stats_is_of_device(report))
	{
		strlcpy(report->backend, other->backend, sizeof(report->backend));
		strlcpy(report->device, other->device, sizeof(report->device));
	}
	if (report->fallback[0] == '\0')
		strlcpy(report->fallback, other->fallback, sizeof(report->fallback));
	if (report->left[0] == '\0')
		strlcpy(report->left, other->left, sizeof(report->left));
}

void
hg_stats_add_report(HgJoinRecord *record, const HgMatcherReport *report)
{
	HgJobStats *sum = &record->report.job;
	HgJobStats before = *sum;
	uint64 uploaded_rows = record->report.uploaded_rows;
	uint64 uploaded_pages = record->report.uploaded_pages;
	uint32 gathered = record->report.gathered;
	uint32 filters = record->report.filters;
	double start_ms = record->report.start_ms;
	double device_ms = record->report.device_ms;
	double cpu_ms = record->report.cpu_ms;
	HgMatcherReport earlier = record->report;

	record->report = *report;
	hg_stats_merge_report(&record->report, &earlier);
	record->report.uploaded_rows += uploaded_rows;
	record->report.uploaded_pages += uploaded_pages;
	record->report.start_ms += start_ms;
	record->report.device_ms += device_ms;
	record->report.cpu_ms += cpu_ms;
	record->report.gathered = Max(record->report.gathered, gathered);
	record->report.filters = Max(record->report.filters, filters);
	sum->passes = Max(sum->passes, before.passes);
	sum->matches += before.matches;
	sum->comparisons += before.comparisons;
	sum->intersections += before.intersections;
	sum->exchanged += before.exchanged;
	sum->sent += before.sent;
	sum->peak_bytes = Max(sum->peak_bytes, before.peak_bytes);
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		sum->phase_ms[phase] += before.phase_ms[phase];
	record->executions++;
}

void
hg_stats_merge(HgJoinRecord *record, const HgJoinRecord *other)
{
	HgJobStats *sum = &record->report.job;
	const HgJobStats *more = &other->report.job;

	/* a process that had nothing to join does not know these */
	if (record->executions == 0)
	{
		HgJobStats rows = *sum;

		record->report = other->report;
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			sum->rows[side] += rows.rows[side];
	}
	else
	{
		for (int side = HG_OUTER; side <= HG_INNER; side++)
			sum->rows[side] += more->rows[side];
		sum->passes = Max(sum->passes, more->passes);
		sum->vertices = Max(sum->vertices, more->vertices);
		sum->bins = Max(sum->bins, more->bins);
		sum->matches += more->matches;
		sum->comparisons += more->comparisons;
		sum->intersections += more->intersections;
		sum->exchanged += more->exchanged;
		sum->sent += more->sent;
		sum->peak_bytes = Max(sum->peak_bytes, more->peak_bytes);
		for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
			sum->phase_ms[phase] = Max(sum->phase_ms[phase], more->phase_ms[phase]);
		record->report.uploaded_rows += other->report.uploaded_rows;
		record->report.uploaded_pages += other->report.uploaded_pages;
		record->report.start_ms = Max(record->report.start_ms, other->report.start_ms);
		record->report.gathered = Max(record->report.gathered, other->report.gathered);
		record->report.filters = Max(record->report.filters, other->report.filters);
		hg_stats_merge_report(&record->report, &other->report);
	}
	record->executions = Max(record->executions, other->executions);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		record->null_keys[side] += other->null_keys[side];
		record->resident_blocks[side] += other->resident_blocks[side];
		record->heap_blocks[side] += other->heap_blocks[side];
	}
	record->lookups += other->lookups;
	record->switches += other->switches;
	record->filtered_rows += other->filtered_rows;
	record->rows_out += other->rows_out;
	record->partitions = Max(record->partitions, other->partitions);
	record->memory_bytes += other->memory_bytes;
	record->spilled_bytes += other->spilled_bytes;
	record->scan_ms = Max(record->scan_ms, other->scan_ms);
	record->total_ms = Max(record->total_ms, other->total_ms);
	record->processes += other->processes;
}

void
hg_stats_append(HgJoinRecord *record, const HgJoinRecord *later)
{
	HgMatcherReport before = record->report;
	uint64 memory_bytes = record->memory_bytes;
	uint64 executions = record->executions;
	double scan_ms = record->scan_ms;
	double total_ms = record->total_ms;
	int processes = record->processes;

	/* merging also sums what is summed here; the rest is not of the same time */
	hg_stats_merge(record, later);
	record->executions = executions + later->executions;
	record->memory_bytes = Max(memory_bytes, later->memory_bytes);
	record->processes = Max(processes, later->processes);
	record->scan_ms = scan_ms + later->scan_ms;
	record->total_ms = total_ms + later->total_ms;
	record->report.start_ms = before.start_ms + later->report.start_ms;
	for (int phase = 0; phase < HG_PHASE_COUNT; phase++)
		record->report.job.phase_ms[phase] =
			before.job.phase_ms[phase] + later->report.job.phase_ms[phase];
}

static void
hg_stats_count_join(const HgJoinRecord *record)
{
	const HgJobStats *job = &record->report.job;
	bool on_device = hg_stats_is_of_device(&record->report);
	HgStatCounters *counters = hg_counters_lock();

	if (counters == NULL)
		return;
	counters->joins++;
	if (on_device)
		counters->cuda_joins++;
	else
		counters->cpu_joins++;
	if (record->report.fallback[0] != '\0')
		counters->fallbacks++;
	counters->outer_rows += job->rows[HG_OUTER] + record->null_keys[HG_OUTER];
	counters->inner_rows += job->rows[HG_INNER] + record->null_keys[HG_INNER];
	counters->matches += job->matches;
	counters->rows_out += record->rows_out;
	if (record->spilled_bytes > 0)
		counters->spilled_joins++;
	counters->spilled_bytes += record->spilled_bytes;
	counters->scan_ms += record->scan_ms;
	counters->transfer_ms += job->phase_ms[HG_PHASE_TRANSFER];
	counters->bin_ms += job->phase_ms[HG_PHASE_BIN];
	counters->build_ms += job->phase_ms[HG_PHASE_BUILD];
	counters->match_ms += job->phase_ms[HG_PHASE_MATCH];
	counters->total_ms += record->total_ms;
	counters->lookups += record->lookups;
	counters->switches += record->switches;
	hg_counters_unlock();
}

/* Appends to the session's list, which is emptied for each statement. */
static void
hg_stats_remember_join(const HgJoinRecord *record)
{
	if (last_joins.context == NULL)
		last_joins.context =
			AllocSetContextCreate(TopMemoryContext, "hashgraph last joins", ALLOCSET_SMALL_SIZES);

	if (last_joins.statement != statement_number)
	{
		last_joins.statement = statement_number;
		last_joins.count = 0;
	}
	if (last_joins.count >= HG_LAST_JOINS)
		return;
	if (last_joins.count == last_joins.allocated)
	{
		int wanted = last_joins.allocated == 0 ? 4 : Min(2 * last_joins.allocated, HG_LAST_JOINS);

		if (last_joins.records == NULL)
			last_joins.records =
				MemoryContextAlloc(last_joins.context, wanted * sizeof(HgJoinRecord));
		else
			last_joins.records = repalloc(last_joins.records, wanted * sizeof(HgJoinRecord));
		last_joins.allocated = wanted;
	}
	last_joins.records[last_joins.count++] = *record;
}

void
hg_stats_record(const HgJoinRecord *record)
{
	hg_stats_remember_join(record);
	hg_stats_count_join(record);
}

void
hg_stats_count_error(void)
{
	HgStatCounters *counters = hg_counters_lock();

	if (counters == NULL)
		return;
	counters->errors++;
	hg_counters_unlock();
}

const HgJoinRecord *
hg_stats_last_joins(int *count)
{
	*count = last_joins.count;
	return last_joins.records;
}

bool
hg_stats_read(HgStatCounters *result)
{
	const HgStatCounters *counters = hg_counters_lock();

	if (counters == NULL)
		return false;
	*result = *counters;
	hg_counters_unlock();
	return true;
}

bool
hg_stats_reset(void)
{
	TimestampTz now = GetCurrentTimestamp();
	HgStatCounters *counters = hg_counters_lock();

	if (counters == NULL)
		return false;
	hg_counters_clear(counters, now);
	hg_counters_unlock();
	return true;
}
