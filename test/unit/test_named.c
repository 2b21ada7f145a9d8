/*-------------------------------------------------------------------------
 *
 * test_named.c
 *	  Graphs that a device process keeps by their names, for tests that know engines which hand them
 *	  out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* usleep */

#include "test_named.h"

#include "hg_tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct HgKept
{
	HgKeptName name;
};

/* Names are given by all connections together. */
static uint64_t last_serial = UINT64_C(1) << 32;

static HgStatus
named_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **job, HgError *error)
{
	TestNamed *named = (TestNamed *) engine;
	HgEngine *remote = hg_wire_client_engine(named->client);
	HgJobSpec named_spec = *spec;
	HgKeptSpec keep;
	HgKeptUse kept[2];

	if (spec->keep != NULL)
	{
		keep = *spec->keep;
		keep.name = (HgKeptName){TEST_EPOCH, ++last_serial};
		named_spec.keep = &keep;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->kept[side] != NULL)
		{
			kept[side] = *spec->kept[side];
			kept[side].name = spec->kept[side]->graph->name;
			named_spec.kept[side] = &kept[side];
		}
	return remote->open(remote, host, &named_spec, job, error);
}

/* Of the job that was opened last: the process has it already. */
static HgStatus
named_keep(HgJob *job, HgKept **graph, uint64_t *bytes, HgError *error)
{
	(void) job;
	(void) error;
	*graph = test_malloc(sizeof(**graph));
	(*graph)->name = (HgKeptName){TEST_EPOCH, last_serial};
	*bytes = 0;
	return HG_OK;
}

static void
named_release(HgEngine *engine, HgKept *graph)
{
	hg_wire_client_drop(((TestNamed *) engine)->client, &graph->name);
	free(graph);
}

void
test_named_init(TestNamed *named, HgWireClient *client)
{
	named->engine = *hg_wire_client_engine(client);
	named->engine.open = named_open;
	named->engine.keep = named_keep;
	named->engine.release = named_release;
	named->client = client;
}

HgStatus
test_named_open(HgWireClient *client, const HgHost *host, const HgKeptName *name,
				const HgKeptShape *shape, HgJob **job, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgKeptSpec keep = {.name = *name, .shape = *shape};
	const HgJobSpec spec = {.key_width = shape->key_width, .device = -1, .keep = &keep};

	return engine->open(engine, host, &spec, job, error);
}

HgStatus
test_named_join(HgWireClient *client, const HgHost *host, const HgKeptName *name,
				const HgKeptShape *shape, HgJob **job, HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgKeptUse use = {.name = *name, .shape = *shape, .masked = 1};
	const HgJobSpec spec = {
		.key_width = 8, .device = -1, .kept = {&use, NULL}, .expected_rows = {0, 1000}};

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
	status = hg_wire_client_engine(client)->put_edges(job, keys, rows, count, error);
	free(keys);
	free(rows);
	return status;
}

HgStatus
test_named_make(HgWireClient *client, const HgHost *host, uint64_t serial, uint64_t rows,
				HgError *error)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgKeptName name = {TEST_EPOCH, serial};
	const HgKeptShape shape = {8, 1, rows};
	HgJob *job = NULL;
	HgStatus status = test_named_open(client, host, &name, &shape, &job, error);

	if (status == HG_OK)
		status = test_named_put(client, job, 8, 0, rows, error);
	if (status == HG_OK)
		status = engine->build(job, error);
	if (job != NULL)
		engine->close(job);
	return status;
}

HgStatus
test_named_ask(HgWireClient *client, uint64_t serial, uint64_t rows)
{
	HgEngine *engine = hg_wire_client_engine(client);
	const HgKeptUse use = {.name = {TEST_EPOCH, serial}, .shape = {8, 1, rows}};
	const HgJobSpec spec = {.key_width = 8, .device = -1, .kept = {&use, &use}};
	HgError error = {0};
	uint64_t count = 0;
	HgJob *job = NULL;
	HgStatus status = engine->open(engine, test_host_plain(), &spec, &job, &error);

	if (status == HG_OK)
		status = engine->build(job, &error);
	if (status == HG_OK)
		status = engine->count(job, HG_MATCH_ALL, &count, &error);
	if (job != NULL)
		engine->close(job);
	/* each has a key of its own */
	return status == HG_OK && count != rows ? HG_INVALID : status;
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
		   status.kept_graphs == graphs && status.memory_held == status.kept_bytes &&
		   (graphs > 0) == (status.kept_bytes > 0);
	if (!good)
		hg_tap_diag(
			"reserved %llu, leased %llu, held %llu, kept %llu: %llu",
			(unsigned long long) status.memory_reserved, (unsigned long long) status.staging_leased,
			(unsigned long long) status.memory_held, (unsigned long long) status.kept_graphs,
			(unsigned long long) status.kept_bytes);
	return good;
}

bool
test_named_graphs_become(TestServer *server, uint64_t graphs)
{
	const double deadline = test_now_ms() + TEST_PATIENCE_MS;

	while (test_status_of(server).kept_graphs != graphs && test_now_ms() < deadline)
		usleep(1000);
	return test_status_of(server).kept_graphs == graphs;
}

void
test_named_drop(HgWireClient *client, uint64_t serial)
{
	const HgKeptName name = {TEST_EPOCH, serial};

	hg_wire_client_drop(client, &name);
}
