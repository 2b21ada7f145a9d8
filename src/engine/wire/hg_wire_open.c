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

/* Copies the lookups of a side into the job, without the engine's pointers. */
static void
copy_lookups(HgRemoteJob *job, const HgJobSpec *spec, HgSide side)
{
	for (uint32_t i = 0; i < spec->nlookups[side]; i++)
	{
		HgReplicaLookup *lookup = &job->lookups[side][i];

		*lookup = spec->lookups[side][i];
		lookup->own.graph = lookup->found.graph = NULL;
	}
	if (spec->nlookups[side] > 0)
		job->spec.lookups[side] = job->lookups[side];
}

/* Copies the columns of a side, and the programs that compute some of them, into the job. */
static void
copy_columns(HgRemoteJob *job, const HgJobSpec *spec, HgSide side)
{
	for (uint32_t column = 0; column < spec->ncolumns[side]; column++)
	{
		job->replica_columns[side][column] = spec->replica_columns[side][column];
		job->replica_columns[side][column].column = NULL;
	}
	job->spec.replica_columns[side] = job->replica_columns[side];
	if (spec->nprograms[side] == 0)
		return;
	memcpy(job->programs[side], spec->programs[side], spec->nprograms[side] * sizeof(HgProgram));
	job->spec.programs[side] = job->programs[side];
}

/* Copies the filters of a side, without the engine's pointers, into the job. */
static void
copy_filters(HgRemoteJob *job, const HgJobSpec *spec, HgSide side)
{
	HgRowFilters *filters = &job->filters[side];

	if (spec->filters[side] == NULL || spec->filters[side]->nfilters == 0)
		return;
	*filters = *spec->filters[side];
	for (uint32_t i = 0; i < filters->ncolumns; i++)
		filters->columns[i].column = NULL;
	job->spec.filters[side] = filters;
}

/*
 * Copies the spec and what it points to into the job.  Replicas are left with their names only, as
 * pointers mean nothing in another process.
 */
static void
copy_spec(HgRemoteJob *job, const HgJobSpec *spec)
{
	job->spec = *spec;
	if (spec->trial != NULL)
	{
		job->trial = *spec->trial;
		job->spec.trial = &job->trial;
	}
	if (spec->new_replica != NULL)
	{
		job->new_replica = *spec->new_replica;
		job->spec.new_replica = &job->new_replica;
	}
	if (spec->new_column != NULL)
	{
		job->new_column = *spec->new_column;
		job->spec.new_column = &job->new_column;
	}
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		job->spec.replica_columns[side] = NULL;
		job->spec.lookups[side] = NULL;
		if (spec->pages[side] != NULL)
		{
			job->pages[side] = *spec->pages[side];
			job->spec.pages[side] = &job->pages[side];
		}
		job->spec.programs[side] = NULL;
		job->spec.filters[side] = NULL;
		if (spec->replica[side] == NULL)
			continue;
		job->replica[side] = *spec->replica[side];
		job->replica[side].graph = NULL;
		job->spec.replica[side] = &job->replica[side];
		job->rows[side] = job->replica[side].shape.rows;
		copy_columns(job, spec, (HgSide) side);
		copy_lookups(job, spec, (HgSide) side);
		copy_filters(job, spec, (HgSide) side);
	}
}

/* Returns the bytes of keys and columns that a job is expected to get, or of its replica. */
static uint64_t
expected_bytes(const HgJobSpec *spec)
{
	uint64_t bytes = 0;

	if (spec->new_replica != NULL)
		return spec->new_replica->shape.rows *
			   (spec->new_replica->shape.key_width + sizeof(uint32_t));
	if (spec->new_column != NULL)
		return hg_replica_ordinals(&spec->new_column->shape) * spec->new_column->shape.width;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		uint64_t row = spec->key_width;

		/* the device process refuses a job with too many */
		for (uint32_t column = 0; column < spec->ncolumns[side] && column < HG_MAX_COLUMNS;
			 column++)
			row += spec->replica[side] != NULL ? spec->replica_columns[side][column].shape.width
											   : spec->column_width[side][column];
		bytes += row * (spec->replica[side] != NULL ? spec->replica[side]->shape.rows
													: spec->expected_rows[side]);
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
	if (spec->new_replica != NULL)
		named &= hg_replica_is_graph(&spec->new_replica->name);
	if (spec->new_column != NULL)
		named &= hg_replica_is_column(&spec->new_column->name);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		if (spec->replica[side] == NULL)
			continue;
		named &= hg_replica_is_graph(&spec->replica[side]->name);
		for (uint32_t column = 0; column < spec->ncolumns[side]; column++)
		{
			const HgReplicaColumnUse *use = &spec->replica_columns[side][column];

			named &= use->program > 0 ? use->name.serial == 0 : hg_replica_is_column(&use->name);
		}
		for (uint32_t i = 0; i < spec->nlookups[side]; i++)
			named &= hg_replica_is_graph(&spec->lookups[side][i].own.name) &&
					 hg_replica_is_graph(&spec->lookups[side][i].found.name);
		for (uint32_t i = 0; spec->filters[side] != NULL && i < spec->filters[side]->ncolumns; i++)
			named &= hg_replica_is_column(&spec->filters[side]->columns[i].name);
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

	status = hg_wire_client_check(client, error);
	if (status != HG_OK)
		return status;
	if (client->staging == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "this connection is not for jobs");
	status = check_spec(spec, error);
	if (status != HG_OK)
		return status;

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
	message.request.spec.trial = NULL;
	message.request.spec.new_replica = NULL;
	message.request.spec.new_column = NULL;
	message.request.trial = job->trial;
	message.request.new_replica = job->new_replica;
	message.request.new_column = job->new_column;
	memcpy(message.request.replica_columns, job->replica_columns, sizeof(job->replica_columns));
	memcpy(message.opening.lookups, job->lookups, sizeof(job->lookups));
	memcpy(message.opening.pages, job->pages, sizeof(job->pages));
	memcpy(message.opening.programs, job->programs, sizeof(job->programs));
	memcpy(message.opening.filters, job->filters, sizeof(job->filters));
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		message.request.spec.replica[side] = NULL;
		message.request.spec.replica_columns[side] = NULL;
		message.request.spec.lookups[side] = NULL;
		message.request.spec.pages[side] = NULL;
		message.request.spec.programs[side] = NULL;
		message.request.spec.filters[side] = NULL;
		message.request.replica[side] = job->replica[side];
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
	HgStatus status = hg_wire_client_begin((HgWireClient *) engine, host, spec, &begun, error);

	if (status != HG_OK)
		return status;
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
