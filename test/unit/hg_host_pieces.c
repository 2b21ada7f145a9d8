/*-------------------------------------------------------------------------
 *
 * hg_host_pieces.c
 *	  Rows that a side of a join is given, piece by piece, in host memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_pieces.h"

#include <string.h>

/* Pieces that the first one makes room for. */
#define FIRST_PIECES 16

HgStatus
hg_host_pieces_reserve(HgHostPieces *pieces, const HgHost *host, HgError *error)
{
	const uint32_t capacity = pieces->capacity == 0 ? FIRST_PIECES : 2 * pieces->capacity;
	void *larger = NULL;
	HgStatus status;

	if (pieces->count < pieces->capacity)
		return HG_OK;
	status = hg_host_memory_alloc(host, capacity * sizeof(HgFlatRows), &larger, error);
	if (status != HG_OK)
		return status;
	if (pieces->count > 0)
		memcpy(larger, pieces->pieces, pieces->count * sizeof(HgFlatRows));
	hg_host_memory_free(host, pieces->pieces, pieces->capacity * sizeof(HgFlatRows));
	pieces->pieces = larger;
	pieces->capacity = capacity;
	return HG_OK;
}

HgStatus
hg_host_pieces_add(HgHostPieces *pieces, const HgHost *host, uint32_t key_width, const void *keys,
				   uint64_t count, uint64_t first_row, HgError *error)
{
	void *copy = NULL;
	HgStatus status = hg_host_pieces_reserve(pieces, host, error);

	if (status == HG_OK)
		status = hg_host_memory_alloc(host, count * key_width, &copy, error);
	if (status != HG_OK)
		return status;
	memcpy(copy, keys, (size_t) (count * key_width));
	pieces->pieces[pieces->count++] =
		(HgFlatRows){.keys = copy, .count = count, .first_row = (uint32_t) first_row};
	return HG_OK;
}

void
hg_host_pieces_free(HgHostPieces *pieces, const HgHost *host, uint32_t key_width)
{
	for (uint32_t i = 0; i < pieces->count; i++)
	{
		const HgFlatRows *piece = &pieces->pieces[i];

		hg_host_memory_free(host, (void *) piece->keys, piece->count * key_width);
		hg_host_memory_free(host, (void *) piece->rows, piece->count * sizeof(*piece->rows));
	}
	hg_host_memory_free(host, pieces->pieces, pieces->capacity * sizeof(HgFlatRows));
	*pieces = (HgHostPieces){0};
}

HgStatus
hg_host_edges_check(const HgReplicaShape *shape, const uint32_t *rows, uint64_t count,
					uint32_t *numbers, HgError *error)
{
	const uint64_t end = hg_replica_rows_end(shape);

	if (count < shape->rows)
		return hg_error_set(error, HG_INVALID, NULL, "fewer edges than the graph is to have");
	*numbers = 0;
	for (uint64_t i = 0; i < count; i++)
	{
		if (rows[i] >= end)
			return hg_error_set(error, HG_INVALID, NULL,
								"an edge is of no row that the graph can have");
		if (HG_FLAT_NUMBER(rows[i]) >= *numbers)
			*numbers = HG_FLAT_NUMBER(rows[i]) + 1;
	}
	return HG_OK;
}
