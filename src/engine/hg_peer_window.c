/*-------------------------------------------------------------------------
 *
 * hg_peer_window.c
 *	  Peer windows: their layout, and checks.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_peer_window.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(sizeof(HgPeerWindowHead) <= HG_PEER_WINDOW_TRAILERS, "the head has its place");
_Static_assert(HG_PEER_WINDOW_TRAILERS + HG_MAX_SHARDS * sizeof(HgPeerWindowTrailer) <=
				   HG_PEER_WINDOW_ROWS,
			   "trailers have theirs");

HgStatus
hg_peer_window_make_token(uint64_t token[HG_PEER_WINDOW_TOKEN], HgError *error)
{
	const size_t bytes = HG_PEER_WINDOW_TOKEN * sizeof(*token);

	if (getrandom(token, bytes, GRND_NONBLOCK) != (ssize_t) bytes)
		return hg_error_set(error, HG_INVALID, strerror(errno), "no token could be made");
	return HG_OK;
}

/* Returns the number of rows that each array has room for. */
static uint64_t
capacity_of(const HgPeerWindowHead *head)
{
	return (head->first[head->shards] + 63) / 64 * 64;
}

/* Returns the bytes of a row in all arrays. */
static uint64_t
row_bytes(const HgPeerWindowHead *head)
{
	uint64_t bytes = head->key_width + sizeof(uint32_t);

	for (uint32_t column = 0; column < head->ncolumns; column++)
		bytes += head->column_width[column] + UINT64_C(1);
	return bytes;
}

/* Fills in the head of a window, except token, bytes and the rows of senders. */
static void
describe(const HgJobSpec *spec, HgSide side, uint32_t self, HgPeerWindowHead *head)
{
	memset(head, 0, sizeof(*head));
	head->side = (uint32_t) side;
	head->self = self;
	head->shards = spec->product.shards;
	head->key_width = spec->key_width;
	head->ncolumns = spec->sides[side].ncolumns;
	memcpy(head->column_width, spec->sides[side].column_width, head->ncolumns);
}

void
hg_peer_window_lay_out(const HgJobSpec *spec, HgSide side, const HgExchange *exchange,
					   HgPeerWindowHead *head)
{
	describe(spec, side, exchange->self, head);
	for (uint32_t shard = 0; shard < head->shards; shard++)
		head->first[shard + 1] =
			head->first[shard] + (shard != exchange->self ? exchange->rows[shard] : 0);
	head->bytes = HG_PEER_WINDOW_ROWS + capacity_of(head) * row_bytes(head);
}

/* Returns true if the senders' rows follow one another, and are not too many. */
static bool
are_in_order(const HgPeerWindowHead *head)
{
	for (uint32_t shard = 0; shard < head->shards; shard++)
		if (head->first[shard] > head->first[shard + 1])
			return false;
	return head->first[0] == 0 && head->first[head->shards] <= HG_MAX_ROWS;
}

HgStatus
hg_peer_window_check(const HgPeerWindowHead *head, const HgPeerWindow *window,
					 const HgJobSpec *spec, HgSide side, uint32_t sender, uint32_t shard,
					 uint64_t rows, HgError *error)
{
	HgPeerWindowHead wanted;

	describe(spec, side, shard, &wanted);
	memcpy(wanted.token, window->token, sizeof(wanted.token));
	wanted.bytes = window->bytes;
	memcpy(wanted.first, head->first, sizeof(wanted.first));
	if (memcmp(head, &wanted, sizeof(wanted)) != 0)
		return hg_error_set(error, HG_INVALID, NULL, "the memory is not what was offered");
	if (!are_in_order(head) ||
		head->bytes != HG_PEER_WINDOW_ROWS + capacity_of(head) * row_bytes(head) ||
		head->first[sender + 1] - head->first[sender] != rows)
		return hg_error_set(error, HG_INVALID, NULL, "what was offered is not for these rows");
	return HG_OK;
}

void
hg_peer_window_rows_at(const HgPeerWindowHead *head, unsigned char *memory, uint64_t row,
					   HgExchangeRows *rows)
{
	const uint64_t capacity = capacity_of(head);
	unsigned char *at = memory + HG_PEER_WINDOW_ROWS;

	memset(rows, 0, sizeof(*rows));
	rows->capacity = (size_t) (head->first[head->shards] - row);
	rows->keys = at + row * head->key_width;
	at += capacity * head->key_width;
	rows->numbers = (uint32_t *) (void *) at + row;
	at += capacity * sizeof(uint32_t);
	for (uint32_t column = 0; column < head->ncolumns; column++)
	{
		rows->values[column] = at + row * head->column_width[column];
		at += capacity * head->column_width[column];
		rows->nulls[column] = at + row;
		at += capacity;
	}
}

uint64_t
hg_peer_window_trailer_at(uint32_t shard)
{
	return HG_PEER_WINDOW_TRAILERS + shard * sizeof(HgPeerWindowTrailer);
}

void
hg_peer_window_make_trailer(const HgPeerWindowHead *head, uint64_t rows, uint64_t nulls,
							HgPeerWindowTrailer *trailer)
{
	memcpy(trailer->token, head->token, sizeof(trailer->token));
	trailer->rows = rows;
	trailer->nulls = nulls;
}

HgStatus
hg_peer_window_read_trailer(const HgPeerWindowHead *head, uint32_t shard,
							const HgPeerWindowTrailer *trailer, uint64_t *rows, HgError *error)
{
	static const HgPeerWindowTrailer none;

	*rows = 0;
	if (memcmp(trailer, &none, sizeof(none)) == 0)
		return HG_OK;
	if (memcmp(trailer->token, head->token, sizeof(trailer->token)) != 0 ||
		trailer->rows != head->first[shard + 1] - head->first[shard] ||
		trailer->nulls >> head->ncolumns != 0)
		return hg_error_set(error, HG_INVALID, NULL, "what was sent has no end that makes sense");
	*rows = trailer->rows;
	return HG_OK;
}
