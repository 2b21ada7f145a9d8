/*-------------------------------------------------------------------------
 *
 * hg_upload.c
 *	  Asynchronous upload: gives a device the keys of a join while its sides are still being read.
 *
 * States of an upload; each hand-over checks whether it can go on:
 *
 *	no job		The device process is missing or has not greeted this process yet.
 *	asked		The job is in the device's queue.
 *	admitted	Keys are copied into slots of its lease as they become free.
 *	given up	Something has failed or taken too long. All further calls do nothing.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/memutils.h"

#include "backend/device/hg_device.h"
#include "backend/hg_cleanup.h"
#include "backend/matcher/hg_upload.h"
#include "engine/hg_cost_table.h"
#include "engine/hg_passes.h"
#include "hg_guc.h"

/* Below this, the device gets all rows quickly enough after they were read. */
#define HG_UPLOAD_MIN_ROWS 50000

/* How long both sides may take to be read while a device waits, expected and actual. */
#define HG_UPLOAD_MAX_MS 10000.0

/* How far a side has been sent. */
typedef struct HgUploadPosition
{
	int piece;
	uint64 at; /* in that piece */
	uint64 rows;
} HgUploadPosition;

struct HgUpload
{
	MemoryContext context;
	HgCleanup cleanup;
	HgPgHost host; /* the job's host until hg_upload_finish; never cancels */
	HgJobSpec spec;
	const HgReduction *reduction;
	const HgColumnSet *columns[2]; /* by HgSide: to be gathered; or NULL */
	double started;
	HgJob *job;		/* NULL: not yet asked, given up, or taken */
	HgEngine calls; /* copy of the job's engine, which may go with its connection */
	int device_no;	/* of the job, now or later */
	bool asked;
	bool cancelled;
	bool finished;
	HgUploadPosition position[2]; /* by HgSide */
	uint64 uploaded_rows;
};

bool
hg_upload_is_worthwhile(const HgUploadSpec *spec, HgJobColumns *columns)
{
	const HgParticipantsSpec participants = {.processes = spec->processes,
											 .match_bytes = spec->match_bytes};
	const HgMatcherSpec matches = {
		.key_width = spec->key_width,
		.pairs = spec->pairs,
		.streamed_rows = spec->streams ? spec->expected_rows[HG_OUTER] : 0,
		.reduction = spec->reduction,
		.columns = {spec->columns[HG_OUTER], spec->columns[HG_INNER]},
		.participants = &participants,
		.parallel = spec->parallel,
	};
	double rows = (double) spec->expected_rows[HG_OUTER] + (double) spec->expected_rows[HG_INNER];
	const HgColumnSet *gathered[2];
	HgEngineCosts costs;
	const HgEngineCosts *known;
	HgMatcherEstimate estimate;

	memset(columns, 0, sizeof(*columns));
	if (hg_backend == HG_BACKEND_CPU || rows < HG_UPLOAD_MIN_ROWS ||
		spec->expected_rows[HG_OUTER] > HG_MAX_ROWS / 2 ||
		spec->expected_rows[HG_INNER] > HG_MAX_ROWS / 2 ||
		spec->scan_cost * HG_SCAN_UNIT_NS / 1e6 > HG_UPLOAD_MAX_MS)
		return false;
	known = hg_device_costs(&costs) ? &costs : NULL;
	hg_matcher_estimate(known, &matches, spec->expected_rows[HG_OUTER],
						spec->expected_rows[HG_INNER], &estimate);
	columns->reduces = estimate.reduced;
	hg_matcher_choose_columns(known, &matches, spec->expected_rows, gathered);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		columns->gathers[side] = !columns->reduces && gathered[side] != NULL;
	return hg_backend == HG_BACKEND_CUDA || estimate.device_ms < estimate.cpu_ms;
}

void
hg_upload_cancel(HgUpload *upload)
{
	HgJob *job = upload->job;

	upload->job = NULL;
	upload->cancelled = true;
	upload->finished = false;
	if (job != NULL)
		upload->calls.join->close(job);
}

static void
hg_upload_release(void *arg)
{
	hg_upload_cancel(arg);
}

/* Asks for the job once there is a connection; returns true if it has a job. */
static bool
hg_upload_open_job(HgUpload *upload)
{
	HgWireClient *client;
	HgError error;

	if (upload->job != NULL)
		return true;
	if (upload->cancelled)
		return false;
	if (upload->spec.participants_id == 0)
		upload->device_no = hg_device_number(HG_ALL_DEVICES);
	if (hg_device_glance(upload->device_no, &error) != HG_DEVICE_READY)
		return false;
	client = hg_device_client(upload->device_no);
	if (client == NULL)
		return false;
	upload->calls = *hg_wire_client_engine(client);
	upload->asked = true;
	if (hg_wire_client_begin(client, &upload->host.host, &upload->spec, &upload->job, &error) !=
		HG_OK)
	{
		upload->job = NULL;
		hg_upload_cancel(upload);
	}
	return upload->job != NULL;
}

HgUpload *
hg_upload_create(const HgUploadSpec *spec)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph upload", ALLOCSET_SMALL_SIZES);
	HgUpload *upload = MemoryContextAllocZero(context, sizeof(HgUpload));

	upload->context = context;
	hg_cleanup_register(&upload->cleanup, context, hg_upload_release, upload);
	hg_host_init(&upload->host, context);
	upload->reduction = spec->reduction;
	hg_matcher_init_spec(&upload->spec, spec->key_width, spec->reduction, true);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		upload->columns[side] = spec->columns[side];
		if (upload->columns[side] != NULL)
			hg_column_set_fill_spec(upload->columns[side], (HgSide) side, &upload->spec);
	}
	upload->spec.participants_id = spec->participants_id;
	upload->device_no = spec->device_no;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		upload->spec.sides[side].expected_rows = spec->expected_rows[side];
	upload->started = hg_clock_ms();
	hg_upload_open_job(upload);
	return upload;
}

/* Hands over a piece from where the last call ended. False: no room, or it failed. */
static bool
hg_upload_send_piece(HgUpload *upload, HgSide side, const HgKeyPiece *piece)
{
	HgUploadPosition *position = &upload->position[side];
	HgError error;

	while (position->at < piece->count)
	{
		const char *keys = (const char *) piece->keys + position->at * upload->spec.key_width;
		uint64 taken;

		if (hg_wire_client_try_append(upload->job, side, keys, piece->count - position->at,
									  upload->spec.participants_id != 0,
									  piece->first_row + position->at, &taken, &error) != HG_OK)
		{
			hg_upload_cancel(upload);
			return false;
		}
		position->at += taken;
		position->rows += taken;
		if (taken == 0)
			return false;
	}
	return true;
}

void
hg_upload_send(HgUpload *upload, HgSide side, const HgKeySet *keys)
{
	HgUploadPosition *position = &upload->position[side];

	if (upload->finished || !hg_upload_open_job(upload))
		return;
	if (hg_clock_ms() - upload->started > HG_UPLOAD_MAX_MS)
	{
		hg_upload_cancel(upload);
		return;
	}
	while (position->piece < keys->npieces &&
		   hg_upload_send_piece(upload, side, &keys->pieces[position->piece]) &&
		   position->piece + 1 < keys->npieces)
	{
		position->piece++;
		position->at = 0;
	}
}

bool
hg_upload_is_admitted(const HgUpload *upload)
{
	return upload->job != NULL && hg_wire_client_is_admitted(upload->job);
}

int
hg_upload_device_no(const HgUpload *upload)
{
	return upload->job != NULL ? upload->device_no : -1;
}

bool
hg_upload_reduces(const HgUpload *upload)
{
	return upload->reduction != NULL;
}

const HgColumnSet *
hg_upload_columns(const HgUpload *upload, HgSide side)
{
	return upload->columns[side];
}

/* Appends the remaining keys of a side. */
static HgStatus
hg_upload_append_keys(HgUpload *upload, HgSide side, const HgKeySet *keys, HgError *error)
{
	HgUploadPosition *position = &upload->position[side];
	HgStatus status = HG_OK;

	for (; position->piece < keys->npieces && status == HG_OK; position->piece++, position->at = 0)
	{
		const HgKeyPiece *piece = &keys->pieces[position->piece];
		const char *rest = (const char *) piece->keys + position->at * upload->spec.key_width;
		uint64 count = piece->count - position->at;

		if (count == 0)
			continue;
		if (upload->spec.participants_id != 0)
			status = upload->calls.join->append_rows(upload->job, side, rest, count,
													 piece->first_row + position->at, error);
		else
			status = upload->calls.join->append(upload->job, side, rest, count, error);
	}
	return status;
}

/* Appends the columns of a side, whose keys are all there. */
static HgStatus
hg_upload_append_columns(HgUpload *upload, HgSide side, const HgKeySet *keys, HgError *error)
{
	const HgColumnSet *set =
		upload->reduction != NULL ? &upload->reduction->columns[side] : upload->columns[side];
	HgStatus status = HG_OK;

	for (int i = 0; i < keys->npieces && status == HG_OK; i++)
		status = hg_column_set_append(set, &upload->calls, upload->job, side,
									  keys->pieces[i].first_row, keys->pieces[i].count, error);
	return status;
}

HgStatus
hg_upload_finish(HgUpload *upload, HgPgHost *host, const HgKeySet sides[2], HgError *error)
{
	HgStatus status = HG_OK;

	if (upload->finished)
		return HG_OK;
	upload->uploaded_rows = upload->position[HG_OUTER].rows + upload->position[HG_INNER].rows;
	if (upload->job == NULL)
	{
		upload->cancelled = true;
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "the device was not there in time");
	}
	hg_wire_client_set_host(upload->job, &host->host);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
	{
		status = hg_upload_append_keys(upload, (HgSide) side, &sides[side], error);
		if (status == HG_OK)
			status = hg_upload_append_columns(upload, (HgSide) side, &sides[side], error);
	}
	if (status == HG_OK)
		status = hg_wire_client_end_append(upload->job, error);
	upload->finished = status == HG_OK;
	if (status != HG_OK)
		hg_upload_cancel(upload);
	else
		hg_wire_client_set_host(upload->job, &upload->host.host);
	return status;
}

bool
hg_upload_is_unused(const HgUpload *upload)
{
	return !upload->asked;
}

HgJob *
hg_upload_take_job(HgUpload *upload, const HgHost *host)
{
	HgJob *job = upload->job;

	upload->job = NULL;
	hg_wire_client_set_host(job, host);
	return job;
}

HgStatus
hg_upload_hand_over(HgUpload *upload, HgEngine *passes, const HgHost *host, const HgJobSpec *spec,
					HgJob **job, HgError *error)
{
	HgStatus status = hg_passes_adopt(passes, host, spec, upload->job, job, error);

	if (status == HG_OK)
		hg_upload_take_job(upload, host);
	else
		hg_upload_cancel(upload);
	return status;
}

uint64
hg_upload_rows(const HgUpload *upload)
{
	return upload->uploaded_rows;
}

void
hg_upload_destroy(HgUpload *upload)
{
	/* its cleanup closes the job */
	MemoryContextDelete(upload->context);
}
