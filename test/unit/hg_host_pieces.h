/*-------------------------------------------------------------------------
 *
 * hg_host_pieces.h
 *	  Rows that a side of a join is given, piece by piece, in host memory.
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

	/* Its memory is that of a host, which is told to each function that takes or frees any. */
	typedef struct HgHostPieces
	{
		HgFlatRows *pieces; /* [capacity] with keys, and perhaps numbers, in memory of the host */
		uint32_t count;
		uint32_t capacity;
	} HgHostPieces;

	/* Have room for one more piece. */
	extern HgStatus hg_host_pieces_reserve(HgHostPieces *pieces, const HgHost *host,
										   HgError *error);

	/* Keep a copy of keys of a width whose rows are numbered from first_row on. */
	extern HgStatus hg_host_pieces_add(HgHostPieces *pieces, const HgHost *host, uint32_t key_width,
									   const void *keys, uint64_t count, uint64_t first_row,
									   HgError *error);

	/* Free the pieces, with their keys and numbers. */
	extern void hg_host_pieces_free(HgHostPieces *pieces, const HgHost *host, uint32_t key_width);

	/*
	 * Is all there that a new graph replica needs, of whose rows there are count? *numbers is what
	 * the numbers of these in their parts are below then.
	 */
	extern HgStatus hg_host_edges_check(const HgReplicaShape *shape, const uint32_t *rows,
										uint64_t count, uint32_t *numbers, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_PIECES_H */
