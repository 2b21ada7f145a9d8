/*-------------------------------------------------------------------------
 *
 * hg_wire_send.c
 *	  Sends a job of the remote engine what it gets before build: keys, columns, edges and values
 *	  of new replicas, and masks.  hg_wire_pages.c sends pages.
 *
 * hg_wire.h describes messages, sequence numbers and leases of staging, hg_wire_internal.h the
 * invariants.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_wire_internal.h"

#include <string.h>

/* Returns true if the next slot of the lease is known to be free. */
static bool
has_slot(const HgRemoteJob *job)
{
	return job->slot_bytes > 0 && job->client->answered >= job->slot_sequence[job->next_slot];
}

HgStatus
hg_wire_send_begin(HgRemoteJob *job, uint64_t most, uint64_t left, HgWireMessage *message,
				   unsigned char **to, HgError *error)
{
	unsigned taken = job->next_slot;

	HG_TRY(hg_wire_job_wait(job, job->slot_sequence[taken], error));
	job->next_slot = (taken + 1) % HG_WIRE_SLOTS;
	job->slot_sequence[taken] = job->client->sequence + 1;
	memset(message, 0, sizeof(*message));
	message->request.offset = job->lease_offset + taken * job->slot_bytes;
	message->request.count = left < most ? left : most;
	*to = job->client->staging + message->request.offset;
	return HG_OK;
}

void
hg_wire_client_number(HgJob *handle, HgSide side, const HgRowNumbers *numbers)
{
	((HgRemoteJob *) handle)->numbers[side] = numbers;
}

HgStatus
hg_wire_send_check_side(HgRemoteJob *job, HgSide side, HgError *error)
{
	HG_TRY(hg_wire_job_usable(job, error));
	if (side != HG_OUTER && side != HG_INNER)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such side");
	if (job->built)
		return hg_error_set(error, HG_INVALID, NULL, "nothing can be appended after build");
	return HG_OK;
}

/* Checks that rows, or values of their columns, can be appended to a side. */
static HgStatus
check_append(HgRemoteJob *job, HgSide side, uint64_t count, uint64_t first_row, HgError *error)
{
	HG_TRY(hg_wire_send_check_side(job, side, error));
	if (job->spec.sides[side].kind == HG_SOURCE_PAGES)
		return hg_error_set(error, HG_INVALID, NULL, "this side of the join comes as pages");
	if (hg_replica_is_made(&job->spec) || job->spec.sides[side].kind == HG_SOURCE_REPLICA)
		return hg_error_set(error, HG_INVALID, NULL, "keys can not be appended to a graph replica");
	if (job->exchange[side].expects)
		return hg_error_set(error, HG_INVALID, NULL, "rows can not be appended as others come");
	if (first_row > HG_MAX_ROWS || count > HG_MAX_ROWS - first_row)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one side of a join");
	return HG_OK;
}

/* The same for keys; all keys of a job are numbered in the same way. */
static HgStatus
check_keys(HgRemoteJob *job, HgWireType type, HgSide side, uint64_t count, uint64_t first_row,
		   HgError *error)
{
	HG_TRY(check_append(job, side, count, first_row, error));
	if (job->spec.product.kind == HG_PRODUCT_SHARD && type != HG_WIRE_APPEND_ROWS)
		return hg_error_set(error, HG_INVALID, NULL, "rows of a member are numbered by its caller");
	if (job->appended && job->numbered != (type == HG_WIRE_APPEND_ROWS))
		return hg_error_set(error, HG_INVALID, NULL, "rows are numbered in two ways");
	return HG_OK;
}

/*
 * Sends keys, with row numbers from first_row on if the type is APPEND_ROWS.  Sends all keys or,
 * without wait, as many as there is room for now; *taken is their number.
 */
static HgStatus
append_keys(HgRemoteJob *job, HgWireType type, HgSide side, const void *keys, uint64_t count,
			uint64_t first_row, bool wait, uint64_t *taken, HgError *error)
{
	const unsigned char *from = keys;
	HgStatus status = check_keys(job, type, side, count, first_row, error);

	*taken = 0;
	/* its answer names the lease */
	if (status == HG_OK && wait)
		status = hg_wire_open_wait(job, error);
	while (status == HG_OK && *taken < count && (wait || has_slot(job)))
	{
		HgWireMessage message;
		unsigned char *to;
		uint64_t piece;

		status = hg_wire_send_begin(job, job->slot_bytes / job->spec.key_width, count - *taken,
									&message, &to, error);
		if (status != HG_OK)
			break;
		piece = message.request.count;
		message.request.side = (uint32_t) side;
		message.request.first = type == HG_WIRE_APPEND_ROWS ? first_row + *taken : 0;
		memcpy(to, from + *taken * job->spec.key_width, (size_t) (piece * job->spec.key_width));

		/* not waited for: the next piece is copied while this one is under way */
		status = hg_wire_job_send(job, type, &message, error);
		*taken += piece;
		job->rows[side] += piece;
		job->appended = true;
		job->numbered = type == HG_WIRE_APPEND_ROWS;
	}
	return status;
}

/* Returns the number of the next row of a side whose rows the job numbers. */
static uint64_t
next_row(const HgRemoteJob *job, HgSide side)
{
	return side == HG_OUTER || side == HG_INNER ? job->rows[side] : 0;
}

HgStatus
hg_wire_client_try_append(HgJob *handle, HgSide side, const void *keys, uint64_t count,
						  bool numbered, uint64_t first_row, uint64_t *taken, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	/* read what has arrived, to see which slots are free again */
	if (job->client != NULL)
		hg_wire_client_state(job->client, NULL);
	return append_keys(job, numbered ? HG_WIRE_APPEND_ROWS : HG_WIRE_APPEND, side, keys, count,
					   numbered ? first_row : next_row(job, side), false, taken, error);
}

HgStatus
hg_wire_remote_append(HgJob *handle, HgSide side, const void *keys, uint64_t count, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	uint64_t taken;

	return append_keys(job, HG_WIRE_APPEND, side, keys, count, next_row(job, side), true, &taken,
					   error);
}

HgStatus
hg_wire_remote_append_rows(HgJob *handle, HgSide side, const void *keys, uint64_t count,
						   uint64_t first_row, HgError *error)
{
	uint64_t taken;

	return append_keys((HgRemoteJob *) handle, HG_WIRE_APPEND_ROWS, side, keys, count, first_row,
					   true, &taken, error);
}

/*
 * Sends values of a width, with NULL bytes unless nulls is NULL, in as many requests as needed, of
 * this type, side and column.  first is the row number or ordinal of the first value.
 */
static HgStatus
send_values(HgRemoteJob *job, HgWireType type, HgSide side, uint32_t column, uint64_t width,
			const void *values, const uint8_t *nulls, uint64_t count, uint64_t first,
			HgError *error)
{
	const unsigned char *from = values;
	/* its answer names the lease */
	HgStatus status = hg_wire_open_wait(job, error);

	while (status == HG_OK && count > 0)
	{
		HgWireMessage message;
		unsigned char *to;
		uint64_t piece;

		status =
			hg_wire_send_begin(job, job->slot_bytes / (width + 1), count, &message, &to, error);
		if (status != HG_OK)
			break;
		piece = message.request.count;
		message.request.side = (uint32_t) side;
		message.request.column = column;
		message.request.nulls = nulls != NULL;
		message.request.first = first;
		memcpy(to, from, (size_t) (piece * width));
		if (nulls != NULL)
		{
			memcpy(to + piece * width, nulls, (size_t) piece);
			nulls += piece;
		}
		status = hg_wire_job_send(job, type, &message, error);
		from += piece * width;
		first += piece;
		count -= piece;
	}
	return status;
}

HgStatus
hg_wire_remote_append_column(HgJob *handle, HgSide side, uint32_t column, const void *values,
							 const uint8_t *nulls, uint64_t count, uint64_t first_row,
							 HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;

	HG_TRY(check_append(job, side, count, first_row, error));
	if (column >= job->spec.sides[side].ncolumns)
		return hg_error_set(error, HG_INVALID, NULL, "there is no such column");
	return send_values(job, HG_WIRE_APPEND_COLUMN, side, column,
					   job->spec.sides[side].column_width[column], values, nulls, count, first_row,
					   error);
}

HgStatus
hg_wire_remote_put_values(HgJob *handle, const void *values, const uint8_t *nulls, uint64_t count,
						  uint64_t first_ordinal, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	uint64_t ordinals;

	HG_TRY(hg_wire_job_usable(job, error));
	/* an error of the device process would come too late */
	if (job->spec.product.kind != HG_PRODUCT_COLUMN || job->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job makes no column, or has made it");
	ordinals = hg_replica_ordinals(&job->new_column.shape);
	if (first_ordinal > ordinals || count > ordinals - first_ordinal)
		return hg_error_set(error, HG_INVALID, NULL, "values go beyond the places of a column");
	return send_values(job, HG_WIRE_PUT_VALUES, HG_OUTER, 0, job->new_column.shape.width, values,
					   nulls, count, first_ordinal, error);
}

HgStatus
hg_wire_remote_put_edges(HgJob *handle, const void *keys, const uint32_t *rows, uint64_t count,
						 HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	const uint64_t width = job->new_replica.shape.key_width;
	const unsigned char *from = keys;
	HgStatus status;

	HG_TRY(hg_wire_job_usable(job, error));
	/* an error of the device process would come too late */
	if (job->spec.product.kind != HG_PRODUCT_GRAPH || job->built)
		return hg_error_set(error, HG_INVALID, NULL, "the job makes no graph, or has made it");
	if (count > job->new_replica.shape.rows - job->edges)
		return hg_error_set(error, HG_INVALID, NULL, "more edges than the graph is to have");

	/* its answer names the lease */
	status = hg_wire_open_wait(job, error);
	while (status == HG_OK && count > 0)
	{
		/* keys are aligned to 8 bytes, which may leave room for one row between rows and keys */
		const uint64_t most = job->slot_bytes / (sizeof(uint32_t) + width) - 1;
		HgWireMessage message;
		unsigned char *to;
		uint64_t piece;

		status = hg_wire_send_begin(job, most, count, &message, &to, error);
		if (status != HG_OK)
			break;
		piece = message.request.count;
		memcpy(to, rows, (size_t) piece * sizeof(uint32_t));
		memcpy(to + hg_wire_edge_keys(piece), from, (size_t) (piece * width));
		status = hg_wire_job_send(job, HG_WIRE_PUT_EDGES, &message, error);
		from += piece * width;
		rows += piece;
		count -= piece;
		job->edges += piece;
	}
	return status;
}

/* Returns the graph that a mask is for; NULL if there is none, or it has no mask. */
static const HgReplicaUse *
find_masked(const HgRemoteJob *job, HgSide side, uint32_t lookup)
{
	const HgReplicaUse *use;

	if ((side != HG_OUTER && side != HG_INNER) || job->spec.sides[side].kind != HG_SOURCE_REPLICA ||
		lookup > hg_side_replica(&job->spec, side)->nlookups)
		return NULL;
	use = lookup == 0 ? &job->replica[side] : &job->lookups[side][lookup - 1].found;
	return use->masked != 0 ? use : NULL;
}

/* Checks that these words of a mask can be set. */
static HgStatus
check_mask(HgRemoteJob *job, HgSide side, uint32_t lookup, uint64_t first_word, uint64_t count,
		   HgError *error)
{
	const HgReplicaUse *use = find_masked(job, side, lookup);
	uint64_t words;

	HG_TRY(hg_wire_job_usable(job, error));
	if (use == NULL || job->built)
		return hg_error_set(error, HG_INVALID, NULL, "this side of the join has no mask");
	words = hg_replica_mask_words(&use->shape);
	if (first_word > words || count > words - first_word)
		return hg_error_set(error, HG_INVALID, NULL, "a mask goes beyond the rows of its graph");
	return HG_OK;
}

/*
 * Sends that words of a mask are all 0.  Such requests use no slot, so HG_WIRE_MASKS limits how
 * many are under way.
 */
static HgStatus
mask_none(HgRemoteJob *job, HgSide side, uint32_t lookup, uint64_t first_word, uint64_t count,
		  HgError *error)
{
	const uint64_t sent = job->client->sequence;
	HgWireMessage message;
	HgStatus status = HG_OK;

	if (sent >= job->open_sequence + HG_WIRE_MASKS)
		status = hg_wire_job_wait(job, sent + 1 - HG_WIRE_MASKS, error);
	if (status != HG_OK)
		return status;
	memset(&message, 0, sizeof(message));
	message.request.side = (uint32_t) side;
	message.request.lookup = lookup;
	message.request.zero = 1;
	message.request.first = first_word;
	message.request.count = count;
	return hg_wire_job_send(job, HG_WIRE_MASK, &message, error);
}

HgStatus
hg_wire_remote_mask(HgJob *handle, HgSide side, uint32_t lookup, uint64_t first_word,
					uint64_t count, const uint64_t *words, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = check_mask(job, side, lookup, first_word, count, error);

	if (status == HG_OK)
		status = hg_wire_open_wait(job, error);
	if (status == HG_OK && words == NULL && count > 0)
		return mask_none(job, side, lookup, first_word, count, error);
	while (status == HG_OK && count > 0)
	{
		HgWireMessage message;
		unsigned char *to;
		uint64_t piece;

		status =
			hg_wire_send_begin(job, job->slot_bytes / sizeof(*words), count, &message, &to, error);
		if (status != HG_OK)
			break;
		piece = message.request.count;
		message.request.side = (uint32_t) side;
		message.request.lookup = lookup;
		message.request.first = first_word;
		memcpy(to, words, (size_t) piece * sizeof(*words));
		status = hg_wire_job_send(job, HG_WIRE_MASK, &message, error);
		words += piece;
		first_word += piece;
		count -= piece;
	}
	return status;
}

HgStatus
hg_wire_client_end_append(HgJob *handle, HgError *error)
{
	HgRemoteJob *job = (HgRemoteJob *) handle;
	HgStatus status = hg_wire_job_usable(job, error);
	HgWireMessage message;

	memset(&message, 0, sizeof(message));
	if (status == HG_OK)
		status = hg_wire_open_wait(job, error);
	if (status == HG_OK)
		status = hg_wire_job_send(job, HG_WIRE_END_APPEND, &message, error);
	/* an append that has failed is the answer to this */
	if (status == HG_OK)
		status = hg_wire_job_wait(job, job->client->sequence, error);
	job->built = job->built || status == HG_OK;
	return status;
}
