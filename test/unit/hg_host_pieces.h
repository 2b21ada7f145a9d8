/*-------------------------------------------------------------------------
 *
 * hg_host_pieces.h
 *	  The appended rows of a side, piece by piece, in host memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_PIECES_H
#define HG_HOST_PIECES_H

#include "../../src/engine/hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* Pieces.  Their memory is the host's that each function which allocates or frees gets. */
	typedef struct HgHostPieces
	{
		HgFlatRows *pieces; /* [capacity] with keys, and maybe numbers */
		uint32_t count;
		uint32_t capacity;
	} HgHostPieces;

	/* Makes room for one more piece. */
	extern HgStatus hg_host_pieces_reserve(HgHostPieces *pieces, const HgHost *host,
										   HgError *error);

	/* Appends a copy of keys, of key_width bytes each, whose rows are numbered from first_row on.
	 */
	extern HgStatus hg_host_pieces_add(HgHostPieces *pieces, const HgHost *host, uint32_t key_width,
									   const void *keys, uint64_t count, uint64_t first_row,
									   HgError *error);

	/* Frees the pieces, with their keys and numbers. */
	extern void hg_host_pieces_free(HgHostPieces *pieces, const HgHost *host, uint32_t key_width);

	/*
	 * Checks that count edges suffice for a new graph replica, and that it can have their rows;
	 * otherwise returns HG_INVALID.  *numbers becomes one more than the largest number of a row
	 * within its part.
	 */
	extern HgStatus hg_host_edges_check(const HgReplicaShape *shape, const uint32_t *rows,
										uint64_t count, uint32_t *numbers, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_PIECES_H */
