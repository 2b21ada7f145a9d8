/*-------------------------------------------------------------------------
 *
 * hg_sender.c
 *	  Asynchronous upload: gives a device the keys of a join while its sides are still being read.
 *
 * States of a sender; each hand-over checks whether it can go on:
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
#include "backend/hg_elapsed.h"
#include "backend/matcher/hg_sender.h"
#include "engine/hg_ranges.h"
#include "hg_guc.h"

/* Below this, the device gets all rows quickly enough after they were read. */
#define HG_SENDER_ROWS 50000

/*
 * How long both sides may take to be read while a device waits, expected and actual; and the
 * assumed time of one unit of planner cost. Measured: 0.0007 ms for pages in memory; disks take
 * longer.
 */
#define HG_SENDER_MS 10000.0
#define HG_SENDER_COST_MS 0.002

/* How far a side has been sent. */
typedef struct HgSent
{
	int piece;
	uint64 at; /* in that piece */
	uint64 rows;
} HgSent;

struct HgSender
{
	MemoryContext context;
	HgCleanup cleanup;
	HgPgHost host; /* the job's host until hg_sender_finish; never cancels */
	HgJobSpec spec;
	const HgReduction *reduction;
	const HgColumnSet *columns[2]; /* by HgSide: to be gathered; or NULL */
	instr_time started;
	HgJob *job;		/* NULL: not yet asked, given up, or taken */
	HgEngine calls; /* copy of the job's engine, which may go with its connection */
	int device_no;	/* of the job, now or later */
	bool asked;
	bool gave_up;
	bool finished;
	HgSent sent[2]; /* by HgSide */
	uint64 sent_rows;
};

bool
hg_sender_is_wanted(const HgSenderSpec *spec, HgJobColumns *columns)
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
	};
	double rows = (double) spec->expected_rows[HG_OUTER] + (double) spec->expected_rows[HG_INNER];
	const HgColumnSet *gathered[2];
	HgEngineCosts costs;
	const HgEngineCosts *known;
	HgMatcherEstimate estimate;

	memset(columns, 0, sizeof(*columns));
	if (hg_backend == HG_BACKEND_CPU || rows < HG_SENDER_ROWS ||
		spec->expected_rows[HG_OUTER] > HG_MAX_ROWS / 2 ||
		spec->expected_rows[HG_INNER] > HG_MAX_ROWS / 2 ||
		spec->scan_cost * HG_SENDER_COST_MS > HG_SENDER_MS)
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
hg_sender_give_up(HgSender *sender)
{
	HgJob *job = sender->job;

	sender->job = NULL;
	sender->gave_up = true;
	sender->finished = false;
	if (job != NULL)
		sender->calls.close(job);
}

static void
hg_sender_release(void *arg)
{
	hg_sender_give_up(arg);
}

/* Asks for the job once there is a connection; returns true if it has a job. */
static bool
hg_sender_ask(HgSender *sender)
{
	HgWireClient *client;
	HgError error;

	if (sender->job != NULL)
		return true;
	if (sender->gave_up)
		return false;
	if (sender->spec.participants_id == 0)
		sender->device_no = hg_device_number(HG_ALL_DEVICES);
	if (hg_device_glance(sender->device_no, &error) != HG_DEVICE_READY)
		return false;
	client = hg_device_client(sender->device_no);
	if (client == NULL)
		return false;
	sender->calls = *hg_wire_client_engine(client);
	sender->asked = true;
	if (hg_wire_client_begin(client, &sender->host.host, &sender->spec, &sender->job, &error) !=
		HG_OK)
	{
		sender->job = NULL;
		hg_sender_give_up(sender);
	}
	return sender->job != NULL;
}

HgSender *
hg_sender_create(const HgSenderSpec *spec)
{
	MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph sender", ALLOCSET_SMALL_SIZES);
	HgSender *sender = MemoryContextAllocZero(context, sizeof(HgSender));

	sender->context = context;
	hg_cleanup_register(&sender->cleanup, context, hg_sender_release, sender);
	hg_host_init(&sender->host, context);
	sender->reduction = spec->reduction;
	hg_matcher_init_spec(&sender->spec, spec->key_width, spec->reduction, true);
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		sender->columns[side] = spec->columns[side];
		if (sender->columns[side] != NULL)
			hg_column_set_fill_spec(sender->columns[side], (HgSide) side, &sender->spec);
	}
	sender->spec.participants_id = spec->participants_id;
	sender->device_no = spec->device_no;
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		sender->spec.expected_rows[side] = spec->expected_rows[side];
	INSTR_TIME_SET_CURRENT(sender->started);
	hg_sender_ask(sender);
	return sender;
}

/* Hands over a piece from where the last call ended. False: no room, or it failed. */
static bool
hg_sender_offer(HgSender *sender, HgSide side, const HgKeyPiece *piece)
{
	HgSent *sent = &sender->sent[side];
	HgError error;

	while (sent->at < piece->count)
	{
		const char *keys = (const char *) piece->keys + sent->at * sender->spec.key_width;
		uint64 taken;

		if (hg_wire_client_offer(sender->job, side, keys, piece->count - sent->at,
								 sender->spec.participants_id != 0, piece->first_row + sent->at,
								 &taken, &error) != HG_OK)
		{
			hg_sender_give_up(sender);
			return false;
		}
		sent->at += taken;
		sent->rows += taken;
		if (taken == 0)
			return false;
	}
	return true;
}

void
hg_sender_send(HgSender *sender, HgSide side, const HgKeySet *keys)
{
	HgSent *sent = &sender->sent[side];

	if (sender->finished || !hg_sender_ask(sender))
		return;
	if (hg_elapsed_ms(sender->started) > HG_SENDER_MS)
	{
		hg_sender_give_up(sender);
		return;
	}
	while (sent->piece < keys->npieces &&
		   hg_sender_offer(sender, side, &keys->pieces[sent->piece]) &&
		   sent->piece + 1 < keys->npieces)
	{
		sent->piece++;
		sent->at = 0;
	}
}

bool
hg_sender_is_admitted(const HgSender *sender)
{
	return sender->job != NULL && hg_wire_client_is_admitted(sender->job);
}

int
hg_sender_device_no(const HgSender *sender)
{
	return sender->job != NULL ? sender->device_no : -1;
}

bool
hg_sender_reduces(const HgSender *sender)
{
	return sender->reduction != NULL;
}

const HgColumnSet *
hg_sender_columns(const HgSender *sender, HgSide side)
{
	return sender->columns[side];
}

/* Appends the remaining keys of a side. */
static HgStatus
hg_sender_append_keys(HgSender *sender, HgSide side, const HgKeySet *keys, HgError *error)
{
	HgSent *sent = &sender->sent[side];
	HgStatus status = HG_OK;

	for (; sent->piece < keys->npieces && status == HG_OK; sent->piece++, sent->at = 0)
	{
		const HgKeyPiece *piece = &keys->pieces[sent->piece];
		const char *rest = (const char *) piece->keys + sent->at * sender->spec.key_width;
		uint64 count = piece->count - sent->at;

		if (count == 0)
			continue;
		if (sender->spec.participants_id != 0)
			status = sender->calls.append_rows(sender->job, side, rest, count,
											   piece->first_row + sent->at, error);
		else
			status = sender->calls.append(sender->job, side, rest, count, error);
	}
	return status;
}

/* Appends the columns of a side, whose keys are all there. */
static HgStatus
hg_sender_append_columns(HgSender *sender, HgSide side, const HgKeySet *keys, HgError *error)
{
	const HgColumnSet *set =
		sender->reduction != NULL ? &sender->reduction->columns[side] : sender->columns[side];
	HgStatus status = HG_OK;

	for (int i = 0; i < keys->npieces && status == HG_OK; i++)
		status = hg_column_set_append(set, &sender->calls, sender->job, side,
									  keys->pieces[i].first_row, keys->pieces[i].count, error);
	return status;
}

HgStatus
hg_sender_finish(HgSender *sender, HgPgHost *host, const HgKeySet sides[2], HgError *error)
{
	HgStatus status = HG_OK;

	if (sender->finished)
		return HG_OK;
	sender->sent_rows = sender->sent[HG_OUTER].rows + sender->sent[HG_INNER].rows;
	if (sender->job == NULL)
	{
		sender->gave_up = true;
		return hg_error_set(error, HG_UNAVAILABLE, NULL, "the device was not there in time");
	}
	hg_wire_client_lend(sender->job, &host->host);
	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
	{
		status = hg_sender_append_keys(sender, (HgSide) side, &sides[side], error);
		if (status == HG_OK)
			status = hg_sender_append_columns(sender, (HgSide) side, &sides[side], error);
	}
	if (status == HG_OK)
		status = hg_wire_client_end_append(sender->job, error);
	sender->finished = status == HG_OK;
	if (status != HG_OK)
		hg_sender_give_up(sender);
	else
		hg_wire_client_lend(sender->job, &sender->host.host);
	return status;
}

bool
hg_sender_is_unused(const HgSender *sender)
{
	return !sender->asked;
}

HgJob *
hg_sender_take(HgSender *sender, const HgHost *host)
{
	HgJob *job = sender->job;

	sender->job = NULL;
	hg_wire_client_lend(job, host);
	return job;
}

HgStatus
hg_sender_hand_over(HgSender *sender, HgEngine *ranges, const HgHost *host, const HgJobSpec *spec,
					HgJob **job, HgError *error)
{
	HgStatus status = hg_ranges_adopt(ranges, host, spec, sender->job, job, error);

	if (status == HG_OK)
		hg_sender_take(sender, host);
	else
		hg_sender_give_up(sender);
	return status;
}

uint64
hg_sender_sent_rows(const HgSender *sender)
{
	return sender->sent_rows;
}

void
hg_sender_destroy(HgSender *sender)
{
	/* its cleanup closes the job */
	MemoryContextDelete(sender->context);
}
