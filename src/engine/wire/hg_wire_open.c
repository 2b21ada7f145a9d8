/*-------------------------------------------------------------------------
 *
 * hg_wire_open.c
 *	  Opens a job of the remote engine: checks, copies and sends its spec.
 *
 * hg_wire_send.c and hg_wire_pages.c send what the job gets then.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "../hg_shape.h"
#include "hg_wire_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Copies a side that is a graph replica into the job.  Replicas are left with their names only, as
 * pointers mean nothing in another process.
 */
static void
copy_replica(HgRemoteJob *job, const HgReplicaSource *from, HgSide side)
{
	HgReplicaSource *replica = &job->spec.sides[side].replica;

	job->replica[side] = *from->use;
	job->replica[side].graph = NULL;
	job->rows[side] = from->use->shape.rows;
	for (uint32_t column = 0; column < job->spec.sides[side].ncolumns; column++)
	{
		job->replica_columns[side][column] = from->columns[column];
		job->replica_columns[side][column].column = NULL;
	}
	for (uint32_t i = 0; i < from->nlookups; i++)
	{
		job->lookups[side][i] = from->lookups[i];
		job->lookups[side][i].own.graph = job->lookups[side][i].found.graph = NULL;
	}
	if (from->nprograms > 0)
		memcpy(job->programs[side], from->programs, from->nprograms * sizeof(HgProgram));
	if (from->filters != NULL && from->filters->nfilters > 0)
		job->filters[side] = *from->filters;
	for (uint32_t i = 0; i < job->filters[side].ncolumns; i++)
		job->filters[side].columns[i].column = NULL;
	*replica = (HgReplicaSource){.use = &job->replica[side],
								 .columns = job->replica_columns[side],
								 .nlookups = from->nlookups,
								 .lookups = job->lookups[side],
								 .nprograms = from->nprograms,
								 .programs = job->programs[side]};
	if (job->filters[side].nfilters > 0)
		replica->filters = &job->filters[side];
}

/* Copies the spec and what it points to into the job. */
static void
copy_spec(HgRemoteJob *job, const HgJobSpec *spec)
{
	HgJobProduct *product = &job->spec.product;

	job->spec = *spec;
	if (product->kind == HG_PRODUCT_TABLE)
	{
		job->trial = *product->trial;
		product->trial = &job->trial;
	}
	else if (product->kind == HG_PRODUCT_GRAPH)
	{
		job->new_replica = *product->graph;
		product->graph = &job->new_replica;
	}
	else if (product->kind == HG_PRODUCT_COLUMN)
	{
		job->new_column = *product->column;
		product->column = &job->new_column;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		if (spec->sides[side].kind == HG_SOURCE_REPLICA)
			copy_replica(job, &spec->sides[side].replica, (HgSide) side);
		else if (spec->sides[side].kind == HG_SOURCE_PAGES)
		{
			job->pages[side] = *spec->sides[side].pages;
			job->spec.sides[side].pages = &job->pages[side];
		}
}

/* Returns the bytes of keys and columns that a job is expected to get, or of its replica. */
static uint64_t
expected_bytes(const HgJobSpec *spec)
{
	uint64_t bytes = 0;

	if (hg_replica_is_made(spec))
		return hg_replica_least_bytes(spec);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		uint64_t row = spec->key_width;

		/* the device process refuses a job with too many */
		for (uint32_t column = 0; column < spec->sides[side].ncolumns && column < HG_MAX_COLUMNS;
			 column++)
			row += spec->sides[side].kind == HG_SOURCE_REPLICA
					   ? spec->sides[side].replica.columns[column].shape.width
					   : spec->sides[side].column_width[column];
		bytes += row * (spec->sides[side].kind == HG_SOURCE_REPLICA
							? spec->sides[side].replica.use->shape.rows
							: spec->sides[side].expected_rows);
	}
	return bytes;
}

/* Checks a spec: an invalid name would end the connection, and page sizes are used here. */
static HgStatus
check_spec(const HgJobSpec *spec, HgError *error)
{
	HgStatus status =
		hg_replica_is_used(spec) || hg_pages_are_there(spec) ? hg_spec_check(spec, error) : HG_OK;
	bool named = true;

	if (status != HG_OK)
		return status;
	if (spec->product.kind == HG_PRODUCT_GRAPH)
		named &= hg_replica_is_graph(&spec->product.graph->name);
	if (spec->product.kind == HG_PRODUCT_COLUMN)
		named &= hg_replica_is_column(&spec->product.column->name);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaSource *replica = &spec->sides[side].replica;

		if (spec->sides[side].kind != HG_SOURCE_REPLICA)
			continue;
		named &= hg_replica_is_graph(&replica->use->name);
		for (uint32_t column = 0; column < spec->sides[side].ncolumns; column++)
		{
			const HgReplicaColumnUse *use = &replica->columns[column];

			named &= use->program > 0 ? use->name.serial == 0 : hg_replica_is_column(&use->name);
		}
		for (uint32_t i = 0; i < replica->nlookups; i++)
			named &= hg_replica_is_graph(&replica->lookups[i].own.name) &&
					 hg_replica_is_graph(&replica->lookups[i].found.name);
		for (uint32_t i = 0; replica->filters != NULL && i < replica->filters->ncolumns; i++)
			named &= hg_replica_is_column(&replica->filters->columns[i].name);
	}
	return named ? HG_OK
				 : hg_error_set(error, HG_INVALID, NULL, "what is kept has no name of its kind");
}

HgStatus
hg_wire_client_begin(HgWireClient *client, const HgHost *host, const HgJobSpec *spec,
					 HgJob **handle, HgError *error)
{
	HgWireMessage message;
	HgRemoteJob *job;
	HgStatus status;

	HG_TRY(hg_wire_client_check(client, error));
	if (client->staging == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "this connection is not for jobs");
	HG_TRY(check_spec(spec, error));

	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	job->client = client;
	job->host = host;
	copy_spec(job, spec);
	job->id = ++client->last_job;
	job->next = client->jobs;
	client->jobs = job;
	job->expected_bytes = (int64_t) expected_bytes(spec);
	hg_wire_client_report_job(client, job, 1);

	memset(&message, 0, sizeof(message));
	message.request.spec = *spec;
	if (spec->product.kind != HG_PRODUCT_SHARD)
		message.request.spec.product = (HgJobProduct){.kind = spec->product.kind};
	message.request.trial = job->trial;
	message.request.new_replica = job->new_replica;
	message.request.new_column = job->new_column;
	memcpy(message.request.replica, job->replica, sizeof(job->replica));
	memcpy(message.request.replica_columns, job->replica_columns, sizeof(job->replica_columns));
	memcpy(message.opening.lookups, job->lookups, sizeof(job->lookups));
	memcpy(message.opening.pages, job->pages, sizeof(job->pages));
	memcpy(message.opening.programs, job->programs, sizeof(job->programs));
	memcpy(message.opening.filters, job->filters, sizeof(job->filters));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		const HgReplicaSource *replica = hg_side_replica(spec, (HgSide) side);

		message.request.spec.sides[side].replica =
			(HgReplicaSource){.nlookups = replica->nlookups, .nprograms = replica->nprograms};
	}
	status = hg_wire_job_send(job, HG_WIRE_OPEN, &message, error);
	if (status != HG_OK)
	{
		hg_wire_remote_close((HgJob *) job);
		return status;
	}
	job->open_sequence = client->sequence;
	/* no slot is free before */
	for (int slot = 0; slot < HG_WIRE_SLOTS; slot++)
		job->slot_sequence[slot] = client->sequence;
	*handle = (HgJob *) job;
	return HG_OK;
}

HgStatus
hg_wire_open_wait(HgRemoteJob *job, HgError *error)
{
	return hg_wire_job_wait(job, job->open_sequence, error);
}

HgStatus
hg_wire_remote_open(HgEngine *engine, const HgHost *host, const HgJobSpec *spec, HgJob **handle,
					HgError *error)
{
	HgJob *begun;
	HgStatus status;

	HG_TRY(hg_wire_client_begin((HgWireClient *) engine, host, spec, &begun, error));
	status = hg_wire_open_wait((HgRemoteJob *) begun, error);
	if (status == HG_OK)
		*handle = begun;
	else
		hg_wire_remote_close(begun);
	return status;
}

bool
hg_wire_client_is_admitted(HgJob *handle)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	return job->client != NULL && hg_wire_client_state(job->client, NULL) == HG_WIRE_READY &&
		   job->client->answered >= job->open_sequence && job->failure.status == HG_OK;
}

void
hg_wire_client_set_host(HgJob *handle, const HgHost *host)
{
	((HgRemoteJob *) handle)->host = host;
}
