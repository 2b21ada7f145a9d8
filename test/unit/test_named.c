/*-------------------------------------------------------------------------
 *
 * test_named.c
 *	  The replicas of a device process by their names, for tests that know engines which return
 *	  them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* usleep */

#include "test_named.h"

#include "../../src/engine/hg_reduce.h"
#include "hg_tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct HgReplica
{
	HgReplicaName name;
};

/* The last name that was given: they are given by all connections together. */
static HgReplicaName last = {TEST_EPOCH, UINT64_C(1) << 32, 0, 0};

static HgReplicaName
next_name(uint32_t column)
{
	last.serial++;
	last.column = column;
	return last;
}

/* What rows of a side look up, by names. */
static void
name_lookups(const HgJobSpec *spec, HgSide side, HgReplicaLookup lookups[HG_MAX_LOOKUPS])
{
	for (uint32_t i = 0; i < spec->sides[side].replica.nlookups; i++)
	{
		lookups[i] = spec->sides[side].replica.lookups[i];
		lookups[i].own.name = lookups[i].own.graph->name;
		lookups[i].found.name = lookups[i].found.graph->name;
	}
}

/* The filters of a side, whose columns go by names; one that is none has a name that none has. */
static void
name_filters(const HgJobSpec *spec, HgSide side, HgRowFilters *filters)
{
	*filters = *spec->sides[side].replica.filters;
	for (uint32_t i = 0; i < filters->ncolumns && i < HG_MAX_FILTER_COLUMNS; i++)
	{
		const HgReplica *column = filters->columns[i].column;

		filters->columns[i].name =
			column != NULL ? column->name : (HgReplicaName){TEST_EPOCH, UINT64_MAX, 1, 0};
	}
}

static HgStatus
named_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job, HgError *error)
{
	TestNamed *named = (TestNamed *) engine;
	HgEngine *remote = hg_wire_client_engine(named->client);
	HgJobSpec named_spec = *spec;
	HgReplicaSpec new_replica;
	HgReplicaColumnSpec new_column;
	HgReplicaUse replica[2];
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgReplicaLookup lookups[2][HG_MAX_LOOKUPS];
	HgRowFilters filters[2];

	if (spec->product.kind == HG_PRODUCT_GRAPH)
	{
		new_replica = *spec->product.graph;
		new_replica.name = next_name(0);
		named_spec.product = (HgJobProduct){HG_PRODUCT_GRAPH, .graph = &new_replica};
	}
	if (spec->product.kind == HG_PRODUCT_COLUMN)
	{
		new_column = *spec->product.column;
		new_column.name = next_name(1);
		named_spec.product = (HgJobProduct){HG_PRODUCT_COLUMN, .column = &new_column};
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (spec->sides[side].kind != HG_SOURCE_REPLICA)
			continue;
		replica[side] = *spec->sides[side].replica.use;
		replica[side].name = spec->sides[side].replica.use->graph->name;
		named_spec.sides[side].replica.use = &replica[side];
		for (uint32_t i = 0; i < spec->sides[side].ncolumns; i++)
		{
			columns[side][i] = spec->sides[side].replica.columns[i];
			if (columns[side][i].program == 0)
				columns[side][i].name = columns[side][i].column->name;
		}
		named_spec.sides[side].replica.columns = columns[side];
		name_lookups(spec, (HgSide) side, lookups[side]);
		named_spec.sides[side].replica.lookups = lookups[side];
		if (spec->sides[side].replica.filters == NULL)
			continue;
		name_filters(spec, (HgSide) side, &filters[side]);
		named_spec.sides[side].replica.filters = &filters[side];
	}
	return remote->open(remote, host, &named_spec, job, error);
}

/* As the engine of a connection has it. */
static HgStatus (*take_by_name)(HgJob *job, HgReplica **graph, uint64_t *bytes, HgError *error);

/* Of the job that was opened last: the process has it already. */
static HgStatus
named_take_replica(HgJob *job, HgReplica **graph, uint64_t *bytes, HgError *error)
{
	HgStatus status = take_by_name(job, graph, bytes, error);

	if (status != HG_OK)
		return status;
	if (*graph != NULL || *bytes == 0)
		return hg_error_set(error, HG_INVALID, NULL, "what is kept is here, or holds nothing");
	*graph = test_malloc(sizeof(**graph));
	(*graph)->name = last;
	return HG_OK;
}

static void
named_release(HgEngine *engine, HgReplica *graph)
{
	hg_wire_client_drop(((TestNamed *) engine)->client, &graph->name);
	free(graph);
}

void
test_named_init(TestNamed *named, HgWireClient *client)
{
	named->engine = *hg_wire_client_engine(client);
	take_by_name = named->engine.store->take_replica;
	named->store = *named->engine.store;
	named->engine.store = &named->store;
	named->engine.open = named_open;
	named->store.take_replica = named_take_replica;
	named->store.release = named_release;
	named->client = client;
}

HgStatus
test_named_open(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
				const HgReplicaShape *shape, HgJob **job, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaSpec new_replica = {.name = *name, .shape = *shape};
	const HgJobSpec spec = {.key_width = shape->key_width,
							.device = -1,
							.product = {HG_PRODUCT_GRAPH, .graph = &new_replica}};

	return engine->open(engine, host, &spec, job, error);
}

HgStatus
test_named_join(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
				const HgReplicaShape *shape, HgJob **job, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaUse use = {.name = *name, .shape = *shape, .masked = 1};
	const HgJobSpec spec = {
		.key_width = 8,
		.device = -1,
		.sides = {{.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}, {.expected_rows = 1000}}};

	return engine->open(engine, host, &spec, job, error);
}

HgStatus
test_named_put(HgWireClient *client, HgJob *job, uint32_t width, uint64_t first, uint64_t count,
			   HgError *error)
{
	unsigned char *keys = test_malloc(count * width + 1);
	uint32_t *rows = test_malloc(count * sizeof(*rows) + 1);
	HgStatus status;

	for (uint64_t i = 0; i < count; i++)
	{
		const int64_t key = (int64_t) (first + i);

		memcpy(keys + i * width, &key, width);
		rows[i] = (uint32_t) (first + i);
	}
	status = hg_wire_client_engine(client)->store->put_edges(job, keys, rows, count, error);
	free(keys);
	free(rows);
	return status;
}

HgStatus
test_named_make(HgWireClient *client, const HgHost *host, uint64_t serial, uint64_t rows,
				HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaName name = {TEST_EPOCH, serial, 0, 0};
	const HgReplicaShape shape = {8, 1, rows};
	HgJob *job = NULL;
	HgStatus status = test_named_open(client, host, &name, &shape, &job, error);

	if (status == HG_OK)
		status = test_named_put(client, job, 8, 0, rows, error);
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (job != NULL)
		engine->join->close(job);
	return status;
}

HgStatus
test_named_ask(HgWireClient *client, uint64_t serial, uint64_t rows)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaUse use = {.name = {TEST_EPOCH, serial}, .shape = {8, 1, rows}};
	const HgJobSpec spec = {.key_width = 8,
							.device = -1,
							.sides = {{.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}},
									  {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use}}}};
	HgError error = {0};
	uint64_t count = 0;
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, test_host_plain(), &spec, &job, &error);

	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = engine->join->count(job, HG_MATCH_ALL, &count, &error);
	if (job != NULL)
		engine->join->close(job);
	/* each has a key of its own */
	return status == HG_OK && count != rows ? HG_INVALID : status;
}

/* The value of a place in a column, whose width is 4, and whether it is NULL. */
static uint32_t
value_at(uint32_t column, uint64_t ordinal)
{
	return (uint32_t) ordinal * (column + 1);
}

static bool
is_null_at(uint32_t column, uint64_t ordinal)
{
	return ordinal % 10 == column % 10;
}

HgStatus
test_named_open_column(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
					   const HgReplicaColumnShape *shape, HgJob **job, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaColumnSpec new_replica = {.name = *name, .shape = *shape};
	const HgJobSpec spec = {
		.key_width = 8, .device = -1, .product = {HG_PRODUCT_COLUMN, .column = &new_replica}};

	return engine->open(engine, host, &spec, job, error);
}

HgStatus
test_named_put_values(HgWireClient *client, HgJob *job, uint32_t column, uint64_t first,
					  uint64_t count, HgError *error)
{
	uint32_t *values = test_malloc((size_t) count * sizeof(*values) + 1);
	uint8_t *nulls = test_malloc((size_t) count + 1);
	HgStatus status;

	for (uint64_t i = 0; i < count; i++)
	{
		values[i] = value_at(column, first + i);
		nulls[i] = is_null_at(column, first + i);
	}
	status =
		hg_wire_client_engine(client)->store->put_values(job, values, nulls, count, first, error);
	free(values);
	free(nulls);
	return status;
}

HgStatus
test_named_make_column(HgWireClient *client, const HgHost *host, uint64_t serial, uint32_t column,
					   uint32_t stride, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaName name = {TEST_EPOCH, serial, column, 0};
	const HgReplicaColumnShape shape = {4, 1, stride, 0};
	HgJob *job = NULL;
	HgStatus status = test_named_open_column(client, host, &name, &shape, &job, error);

	/* the last ones first */
	if (status == HG_OK)
		status = test_named_put_values(client, job, column, stride / 3, stride - stride / 3, error);
	if (status == HG_OK)
		status = test_named_put_values(client, job, column, 0, stride / 3, error);
	if (status == HG_OK)
		status = engine->join->build(job, error);
	if (job != NULL)
		engine->join->close(job);
	return status;
}

HgStatus
test_named_make_all(HgWireClient *client, uint64_t serial, uint64_t rows, uint32_t ncolumns,
					uint32_t stride)
{
	HgError error = {0};
	HgStatus status = test_named_make(client, test_host_plain(), serial, rows, &error);

	for (uint32_t column = 1; column <= ncolumns && status == HG_OK; column++)
		status = test_named_make_column(client, test_host_plain(), serial, column, stride, &error);
	if (status != HG_OK)
		hg_tap_diag("status %d: %s", (int) status, error.message);
	return status;
}

HgStatus
test_named_read(HgWireClient *client, const HgHost *host, uint64_t serial, uint64_t rows,
				uint32_t ncolumns, uint32_t stride, HgJob **job, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgReplicaUse use = {.name = {TEST_EPOCH, serial, 0, 0}, .shape = {8, 1, rows}};
	HgReplicaColumnUse columns[2][HG_MAX_COLUMNS];
	HgJobSpec spec = {
		.key_width = 8,
		.device = -1,
		.sides = {{.kind = HG_SOURCE_REPLICA, .replica = {.use = &use, .columns = columns[0]}},
				  {.kind = HG_SOURCE_REPLICA, .replica = {.use = &use, .columns = columns[1]}}}};

	memset(columns, 0, sizeof(columns));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		spec.sides[side].ncolumns = ncolumns;
		for (uint32_t i = 0; i < ncolumns; i++)
		{
			spec.sides[side].column_width[i] = 4;
			columns[side][i].name = (HgReplicaName){TEST_EPOCH, serial, i + 1, 0};
			columns[side][i].shape = (HgReplicaColumnShape){4, 1, stride, 0};
		}
	}
	return engine->open(engine, host, &spec, job, error);
}

HgStatus
test_named_sum(HgWireClient *client, HgJob *job, uint64_t rows, uint32_t ncolumns, bool *right,
			   HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	HgReduceSpec spec = {.nitems = ncolumns, .max_groups = 1};
	uint64_t words[HG_MAX_REDUCE_WORDS];
	HgGroupRecords records = {words, 1, 0};
	const uint64_t *item = words + 2;
	uint64_t groups = 0;
	HgStatus status;

	*right = true;
	for (uint32_t i = 0; i < ncolumns; i++)
	{
		spec.items[i].kind = HG_REDUCE_SUM;
		spec.items[i].argument = (HgReduceColumn){.side = i % 2, .column = i};
	}
	status = engine->columns->reduce(job, HG_MATCH_ALL, &spec, &groups, error);
	if (status == HG_OK && groups == 1)
		status = engine->columns->next_groups(job, &records, error);
	if (status != HG_OK)
		return status;
	/* each row has a key of its own, and its number is its place */
	*right = records.count == 1 && words[1] == rows;
	for (uint32_t i = 0; i < ncolumns && *right; i++, item += 3)
	{
		uint64_t count = 0;
		uint64_t sum = 0;

		for (uint64_t row = 0; row < rows; row++)
			if (!is_null_at(i + 1, row))
			{
				sum += value_at(i + 1, row);
				count++;
			}
		*right = item[0] == count && item[1] == sum && item[2] == 0;
	}
	return HG_OK;
}

HgStatus
test_named_reduce(HgWireClient *client, HgJob *job, uint64_t rows, uint32_t ncolumns,
				  HgError *error)
{
	bool right;
	HgStatus status = test_named_sum(client, job, rows, ncolumns, &right, error);

	if (status == HG_OK && !right)
		return hg_error_set(error, HG_INVALID, NULL, "not one group of all rows, or a wrong sum");
	return status;
}

HgStatus
test_named_ask_columns(HgWireClient *client, uint64_t serial, uint64_t rows, uint32_t ncolumns,
					   uint32_t stride)
{
	HgEngine *engine = hg_wire_client_engine(client);
	HgError error = {0};
	HgJob *job = NULL;
	HgStatus status =
		test_named_read(client, test_host_plain(), serial, rows, ncolumns, stride, &job, &error);

	if (status == HG_OK)
		status = engine->join->build(job, &error);
	if (status == HG_OK)
		status = test_named_reduce(client, job, rows, ncolumns, &error);
	if (job != NULL)
		engine->join->close(job);
	if (status == HG_INVALID)
		hg_tap_diag("%s", error.message);
	return status;
}

bool
test_named_is_at_rest(TestServer *server, uint64_t graphs)
{
	HgDeviceStatus status;
	bool good;

	/* closing is a note, which nobody waits for */
	good = test_counts_jobs(server, 0);
	status = test_status_of(server);
	good = good && status.memory_reserved == 0 && status.staging_leased == 0 &&
		   status.replica_graphs == graphs && status.memory_held == status.replica_bytes &&
		   (graphs > 0) == (status.replica_bytes > 0);
	if (!good)
		hg_tap_diag(
			"reserved %llu, leased %llu, held %llu, kept %llu: %llu",
			(unsigned long long) status.memory_reserved, (unsigned long long) status.staging_leased,
			(unsigned long long) status.memory_held, (unsigned long long) status.replica_graphs,
			(unsigned long long) status.replica_bytes);
	return good;
}

bool
test_named_graphs_become(TestServer *server, uint64_t graphs)
{
	const double deadline = test_now_ms() + TEST_TIMEOUT_MS;

	while (test_status_of(server).replica_graphs != graphs && test_now_ms() < deadline)
		usleep(1000);
	return test_status_of(server).replica_graphs == graphs;
}

void
test_named_drop(HgWireClient *client, uint64_t serial)
{
	test_named_drop_column(client, serial, 0);
}

void
test_named_drop_column(HgWireClient *client, uint64_t serial, uint32_t column)
{
	const HgReplicaName name = {TEST_EPOCH, serial, column, 0};

	hg_wire_client_drop(client, &name);
}
