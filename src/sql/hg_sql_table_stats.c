/*-------------------------------------------------------------------------
 *
 * hg_sql_table_stats.c
 *	  hashgraph_table_stats(): a hash table of engine/hg_table.h over one key column.
 *
 * A hash table of the given kind and content is measured over all keys
 * (engine/hg_table_measure.h): on a device if a matcher would have its join there, or else here.
 *
 * MEMORY.  Keys lie in one array, because a hash table is built from one batch.  Array and hash
 * table are charged to a budget like that of the other statistics functions; what the keys leave
 * of it is the hash table's limit.  A hash table on a device has the limits of joins there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "backend/hg_host.h"
#include "backend/hg_memory.h"
#include "backend/matcher/hg_matcher.h"
#include "tables/hg_table_cpu.h"
#include "sql/hg_sql_relation.h"
#include "sql/hg_sql_row.h"

/* Number of batches that the sample is divided into. */
#define DEFAULT_BATCHES 10

PG_FUNCTION_INFO_V1(hashgraph_table_stats);

/* Numbers of the arguments. */
typedef enum HgTableStatsArgument
{
	ARGUMENT_RELATION = 0,
	ARGUMENT_KEY,
	ARGUMENT_KIND,
	ARGUMENT_CONTENT,
	ARGUMENT_LAYOUT,
	ARGUMENT_LOAD_FACTOR,
	ARGUMENT_MAX_PADDING,
	ARGUMENT_EMPTY_SLOTS,
	ARGUMENT_FUNCTIONS,
	ARGUMENT_SLOTS_FACTOR,
	ARGUMENT_SUBTABLES,
	ARGUMENT_MIN_FILLED,
	ARGUMENT_MAX_FILLED,
	ARGUMENT_SEED,
	ARGUMENT_BATCHES
} HgTableStatsArgument;

/* Numbers of the result's columns. */
typedef enum HgTableStatsColumn
{
	TABLE_KIND = 0,
	TABLE_CONTENT,
	TABLE_KEYS,
	TABLE_NULL_KEYS,
	TABLE_ROWS,
	TABLE_SLOTS,
	TABLE_FILLED,
	TABLE_LONGEST_LIST,
	TABLE_LONGEST_WALK,
	TABLE_EVICTIONS,
	TABLE_RESTARTS,
	TABLE_REBUILDS,
	TABLE_BYTES,
	TABLE_PEAK_BYTES,
	TABLE_BUILD_NS,
	TABLE_INSERT_NS,
	TABLE_FIND_NS,
	TABLE_ERASE_NS,
	TABLE_BACKEND,
	TABLE_DEVICE,
	TABLE_FALLBACK,
	TABLE_COLUMNS
} HgTableStatsColumn;

/* A host that knows whether it has refused memory. */
typedef struct HgSqlTableHost
{
	HgPgHost pg; /* must be first: callbacks get its address */
	bool refused;
} HgSqlTableHost;

/* A hash table that is measured. */
typedef struct HgSqlTable
{
	HgSqlTableHost host;
	HgBudget budget;
	HgCharge array; /* memory of keys */
	HgTableTrial trial;
	const void *keys;
	uint64 nkeys;
	uint64 null_keys;
	HgTableMeasure measure;
	HgMatcherReport report; /* where it was measured */
} HgSqlTable;

/* Returns the text of an argument, or NULL. */
static const char *
hg_sql_table_name_argument(FunctionCallInfo fcinfo, HgTableStatsArgument argument)
{
	return PG_ARGISNULL(argument) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/* Returns the number of an argument, or 0, which means the default in a spec. */
static double
hg_sql_table_number(FunctionCallInfo fcinfo, HgTableStatsArgument argument, const char *name)
{
	double value = PG_ARGISNULL(argument) ? 0 : PG_GETARG_FLOAT8(argument);

	if (!PG_ARGISNULL(argument) && !(value > 0))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be greater than zero", name),
						errhint("Leave it out, or give NULL, for the default.")));
	return value;
}

/* Returns the whole number of an argument, or 0. */
static uint32
hg_sql_table_count(FunctionCallInfo fcinfo, HgTableStatsArgument argument, const char *name)
{
	int32 value = PG_ARGISNULL(argument) ? 0 : PG_GETARG_INT32(argument);

	if (!PG_ARGISNULL(argument) && value <= 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s must be greater than zero", name),
						errhint("Leave it out, or give NULL, for the default.")));
	return (uint32) value;
}

static const char *
hg_sql_table_kind(int kind)
{
	return hg_table_kind_name((HgTableKind) kind);
}

static const char *
hg_sql_table_content(int content)
{
	return hg_table_content_name((HgTableContent) content);
}

static const char *
hg_sql_table_layout(int layout)
{
	return layout == HG_TABLE_AOS ? "aos" : "soa";
}

/* Returns the number with this name; raises an error that lists all names if there is none. */
static int
hg_sql_table_choice(const char *name, const char *what, int count, const char *(*name_of)(int) )
{
	StringInfoData all;

	for (int i = 0; i < count; i++)
		if (pg_strcasecmp(name, name_of(i)) == 0)
			return i;
	initStringInfo(&all);
	for (int i = 0; i < count; i++)
		appendStringInfo(&all, "%s%s", i == 0 ? "" : ", ", name_of(i));
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("unknown %s of a table: \"%s\"", what, name),
					errhint("Available values: %s.", all.data)));
}

/* Returns the most general content of a kind: it loses no row of a column with duplicates. */
static HgTableContent
hg_sql_table_default_content(HgTableKind kind)
{
	return hg_table_traits(kind, HG_TABLE_MULTIMAP).possible ? HG_TABLE_MULTIMAP : HG_TABLE_MAP;
}

/* Returns the contents that a kind can have, for a hint. */
static const char *
hg_sql_table_contents_of(HgTableKind kind)
{
	StringInfoData all;

	initStringInfo(&all);
	for (int i = 0; i < HG_TABLE_CONTENTS; i++)
		if (hg_table_traits(kind, (HgTableContent) i).possible)
			appendStringInfo(&all, "%s%s", all.len == 0 ? "" : ", ", hg_sql_table_content(i));
	return all.data;
}

/* Returns the spec of the arguments; raises an error if there is no such hash table. */
static HgTableSpec
hg_sql_table_spec(FunctionCallInfo fcinfo, uint32 key_width)
{
	const char *kind = hg_sql_table_name_argument(fcinfo, ARGUMENT_KIND);
	const char *content = hg_sql_table_name_argument(fcinfo, ARGUMENT_CONTENT);
	const char *layout = hg_sql_table_name_argument(fcinfo, ARGUMENT_LAYOUT);
	HgTableSpec spec = {
		.kind = HG_TABLE_CSR,
		.key_width = key_width,
		.load_factor = hg_sql_table_number(fcinfo, ARGUMENT_LOAD_FACTOR, "load_factor"),
		.max_padding = hg_sql_table_number(fcinfo, ARGUMENT_MAX_PADDING, "max_padding"),
		.empty_slots = hg_sql_table_count(fcinfo, ARGUMENT_EMPTY_SLOTS, "empty_slots"),
		.functions = hg_sql_table_count(fcinfo, ARGUMENT_FUNCTIONS, "functions"),
		.slots_factor = hg_sql_table_number(fcinfo, ARGUMENT_SLOTS_FACTOR, "slots_factor"),
		.subtables = hg_sql_table_count(fcinfo, ARGUMENT_SUBTABLES, "subtables"),
		.min_filled = hg_sql_table_number(fcinfo, ARGUMENT_MIN_FILLED, "min_filled"),
		.max_filled = hg_sql_table_number(fcinfo, ARGUMENT_MAX_FILLED, "max_filled"),
		.seed = PG_ARGISNULL(ARGUMENT_SEED) ? 0 : (uint64) PG_GETARG_INT64(ARGUMENT_SEED),
	};
	HgError error;

	if (kind != NULL)
		spec.kind =
			(HgTableKind) hg_sql_table_choice(kind, "kind", HG_TABLE_KINDS, hg_sql_table_kind);
	spec.content = hg_sql_table_default_content(spec.kind);
	if (content != NULL)
		spec.content = (HgTableContent) hg_sql_table_choice(content, "content", HG_TABLE_CONTENTS,
															hg_sql_table_content);
	if (layout != NULL)
		spec.layout = (HgTableLayout) hg_sql_table_choice(layout, "layout", HG_TABLE_SOA + 1,
														  hg_sql_table_layout);

	if (!hg_table_traits(spec.kind, spec.content).possible)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("a table of kind %s can be no %s", hg_table_kind_name(spec.kind),
							   hg_table_content_name(spec.content)),
						errhint("Available values: %s.", hg_sql_table_contents_of(spec.kind))));
	if (hg_table_check(&spec, &error) != HG_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", error.message),
				 error.detail[0] != '\0' ? errdetail("%s", error.detail) : 0,
				 errhint("Leave the parameter out, or give NULL, for the default of the kind.")));
	return spec;
}

/* Returns the number of batches; 0 if no changes are to be measured. */
static uint32
hg_sql_table_batches(FunctionCallInfo fcinfo)
{
	int32 batches =
		PG_ARGISNULL(ARGUMENT_BATCHES) ? DEFAULT_BATCHES : PG_GETARG_INT32(ARGUMENT_BATCHES);

	if (batches < 0 || batches > HG_TABLE_MAX_BATCHES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batches out of range: %d", batches),
				 errdetail("Valid values are from 0 to %d.", HG_TABLE_MAX_BATCHES),
				 errhint("With 0 the table is not changed, and insert_ns and erase_ns are NULL.")));
	return (uint32) batches;
}

static void *
hg_sql_table_alloc(void *arg, size_t bytes)
{
	HgSqlTableHost *host = arg;
	void *block = hg_block_alloc(host->pg.context, bytes);

	host->refused |= block == NULL;
	return block;
}

/* Raises the error that keys and hash table exceed the limit. */
pg_noreturn static void
hg_sql_table_throw_full(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("keys and their table do not fit in memory"),
			 errdetail("The limit is the larger of maintenance_work_mem and work_mem times "
					   "hash_mem_multiplier, %zu kB.",
					   (size_t) (hg_sql_memory_limit() / 1024)),
			 errhint("Increase maintenance_work_mem, or measure no changes (batches => 0): "
					 "kinds that can't be changed in place take up to twice the memory then.")));
}

/* Returns if a hash table was measured, and raises an error otherwise. */
static void
hg_sql_table_check(HgSqlTable *table, HgStatus status, const HgError *error)
{
	if (status == HG_OK)
		return;
	hg_host_rethrow(&table->host.pg);
	if (status == HG_OUT_OF_MEMORY && !table->host.refused)
		hg_sql_table_throw_full();
	/* the only possible error in a batch made here: lists can't be padded so far */
	if (status == HG_INVALID)
		ereport(
			ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s", error->message),
			 error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
			 errhint("Raise max_padding, or take a kind that pads less: sliced_ellpack, or csr, "
					 "which does not.")));
	hg_host_throw(&table->host.pg, status, error);
}

/* Reads the keys of a column into one array. */
static void
hg_sql_table_read(HgSqlTable *table, const HgSqlKey *key, HgKeyEncoder *encoder)
{
	HgSqlSide side;
	HgKeySet set;
	char *keys;
	Size bytes;
	Size at = 0;

	hg_sql_side_read(&side, key, encoder, HG_INNER, false, &table->budget);
	set = hg_key_column_set(side.keys);
	bytes = set.rows * encoder->width;

	/* no HashGraph will be built from them: from here on only the keys count */
	hg_charge_set(&side.keys->charge, hg_key_column_reserved(side.keys));
	table->array.budget = &table->budget;
	hg_charge_set(&table->array, bytes);
	if (hg_budget_is_full(&table->budget))
		hg_sql_table_throw_full();
	keys = hg_block_alloc(CurrentMemoryContext, Max(bytes, 1));
	if (keys == NULL)
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"),
						errdetail("Failed to allocate %zu bytes for keys.", bytes)));
	for (int i = 0; i < set.npieces; i++)
	{
		Size piece = set.pieces[i].count * encoder->width;

		CHECK_FOR_INTERRUPTS();
		memcpy(keys + at, set.pieces[i].keys, piece);
		at += piece;
	}
	hg_key_column_release(side.keys);

	table->keys = keys;
	table->nkeys = set.rows;
	table->null_keys = side.null_keys;
}

/* Measures the hash table on a device; returns false if it is to be measured here. */
static bool
hg_sql_table_measure_there(HgSqlTable *table)
{
	const HgMatcherSpec spec = {
		.key_width = table->trial.spec.key_width, .mode = HG_MATCH_ALL, .trial = &table->trial};
	const HgKeyPiece piece = {.keys = table->keys, .count = table->nkeys};
	const HgKeySet keys = {.pieces = &piece, .npieces = 1, .rows = table->nkeys};
	const HgKeySet none = {0};
	HgMatcher *matcher = hg_matcher_create(&spec, &none, &keys);
	HgStatus status;
	HgError error;
	bool measured = hg_matcher_measured(matcher, &table->measure, &status, &error);

	hg_matcher_report(matcher, &table->report);
	hg_matcher_destroy(matcher);
	if (measured)
		hg_sql_table_check(table, status, &error);
	return measured;
}

/* Measures the hash table in this process. */
static void
hg_sql_table_measure_here(HgSqlTable *table)
{
	HgStatus status;
	HgError error;

	/* 0 would mean no limit */
	table->trial.spec.memory_limit = Max(hg_budget_room(&table->budget), 1);
	status = hg_table_measure(hg_table_cpu(), &table->host.pg.host, &table->trial, table->keys,
							  table->nkeys, &table->measure, &error);
	hg_sql_table_check(table, status, &error);
	if (!hg_table_measure_is_sane(&table->trial, table->nkeys, &table->measure))
		elog(ERROR,
			 "a table of %llu keys, with %llu rows of which %llu were erased and %llu inserted",
			 (unsigned long long) table->nkeys, (unsigned long long) table->measure.stats.rows,
			 (unsigned long long) table->measure.erased,
			 (unsigned long long) table->measure.inserted);
}

/* Sets a time for each row; leaves it NULL if there were no rows. */
static void
hg_sql_table_fill_ns(HgSqlRow *row, HgTableStatsColumn column, double ns, uint64 rows)
{
	if (rows > 0)
		hg_sql_row_set_number(row, column, ns / (double) rows);
}

static void
hg_sql_table_fill(HgSqlRow *row, const HgSqlTable *table)
{
	const HgTableSpec *spec = &table->trial.spec;
	const HgTableMeasure *measure = &table->measure;
	const HgTableStats *stats = &measure->stats;
	HgTableKind kind = spec->kind;
	bool evicts = kind == HG_TABLE_CUCKOO || kind == HG_TABLE_DYCUCKOO;

	hg_sql_row_set_text(row, TABLE_KIND, hg_table_kind_name(kind));
	hg_sql_row_set_text(row, TABLE_CONTENT, hg_table_content_name(spec->content));
	hg_sql_row_set_count(row, TABLE_KEYS, table->nkeys);
	hg_sql_row_set_count(row, TABLE_NULL_KEYS, table->null_keys);
	hg_sql_row_set_count(row, TABLE_ROWS, stats->rows);
	hg_sql_row_set_count(row, TABLE_SLOTS, stats->slots);
	hg_sql_row_set_ratio(row, TABLE_FILLED, stats->rows, stats->slots);
	if (kind != HG_TABLE_CUCKOO || spec->content == HG_TABLE_MULTIMAP)
		hg_sql_row_set_count(row, TABLE_LONGEST_LIST, stats->longest_list);
	if (kind == HG_TABLE_DYNAMIC)
		hg_sql_row_set_count(row, TABLE_LONGEST_WALK, stats->longest_walk);
	if (evicts)
	{
		hg_sql_row_set_count(row, TABLE_EVICTIONS, stats->evictions);
		hg_sql_row_set_count(row, TABLE_RESTARTS, stats->restarts);
	}
	if (kind != HG_TABLE_DYCUCKOO)
		hg_sql_row_set_count(row, TABLE_REBUILDS, stats->rebuilds);
	hg_sql_row_set_count(row, TABLE_BYTES, stats->bytes);
	hg_sql_row_set_count(row, TABLE_PEAK_BYTES, stats->peak_bytes);
	hg_sql_table_fill_ns(row, TABLE_BUILD_NS, measure->build_ns, table->nkeys);
	hg_sql_table_fill_ns(row, TABLE_FIND_NS, measure->find_ns, table->nkeys);
	hg_sql_table_fill_ns(row, TABLE_ERASE_NS, measure->erase_ns, measure->sampled);
	hg_sql_table_fill_ns(row, TABLE_INSERT_NS, measure->insert_ns, measure->sampled);
	hg_sql_row_set_text(row, TABLE_BACKEND, table->report.backend);
	hg_sql_row_set_text(row, TABLE_DEVICE, table->report.device);
	hg_sql_row_set_text(row, TABLE_FALLBACK, table->report.fallback);
}

/*
 * hashgraph_table_stats(rel regclass, key name, kind text, content text, parameters ...)
 *
 * A parameter that is NULL has its default; a parameter that the kind does not have is ignored.
 */
Datum
hashgraph_table_stats(PG_FUNCTION_ARGS)
{
	HgSqlRow row = hg_sql_row_start(fcinfo, TABLE_COLUMNS);
	HgSqlTable table = {0};
	MemoryContext context;
	MemoryContext caller;
	HgSqlKey key;
	HgKeyClause clause;
	HgKeyEncoder *encoder;

	if (PG_ARGISNULL(ARGUMENT_RELATION) || PG_ARGISNULL(ARGUMENT_KEY))
		PG_RETURN_NULL();
	context = AllocSetContextCreate(CurrentMemoryContext, "hashgraph_table_stats",
									ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	key =
		hg_sql_key_check(PG_GETARG_OID(ARGUMENT_RELATION), NameStr(*PG_GETARG_NAME(ARGUMENT_KEY)));
	clause = hg_sql_key_clause(&key, &key);
	encoder = hg_key_encoder_create(1, &clause);
	table.trial.spec = hg_sql_table_spec(fcinfo, encoder->width);
	table.trial.batches = hg_sql_table_batches(fcinfo);
	hg_host_init(&table.host.pg, context);
	table.host.pg.host.alloc = hg_sql_table_alloc;
	hg_budget_init(&table.budget, NULL, hg_sql_memory_limit());

	hg_sql_table_read(&table, &key, encoder);
	if (!hg_sql_table_measure_there(&table))
		hg_sql_table_measure_here(&table);
	MemoryContextSwitchTo(caller);

	hg_sql_table_fill(&row, &table);
	MemoryContextDelete(context);
	PG_RETURN_DATUM(hg_sql_row_finish(&row));
}
