/*-------------------------------------------------------------------------
 *
 * hg_host_mask.h
 *	  The selected rows of a graph replica in a job, in host memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_MASK_H
#define HG_HOST_MASK_H

#include "../../src/engine/hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* A mask.  Zeroed: there is none, and all rows are selected. */
	typedef struct HgHostMask
	{
		HgReplicaShape shape;  /* of the graph */
		uint64_t *words;	   /* [hg_replica_mask_words] */
		const uint64_t **bits; /* [parts] pointers into words */
		uint8_t *states;	   /* [parts] */
		HgFlatMask flat;
	} HgHostMask;

	/* Makes a mask that selects all rows.  The caller frees it, also after a failure. */
	extern HgStatus hg_host_mask_open(HgHostMask *mask, const HgReplicaShape *shape,
									  const HgHost *host, HgError *error);

	/* Sets words of a mask, as mask of an engine: words NULL selects none of their rows. */
	extern HgStatus hg_host_mask_put(HgHostMask *mask, uint64_t first_word, uint64_t count,
									 const uint64_t *words, HgError *error);

	/* Returns the mask for a join of flat graphs; NULL if there is none. */
	extern const HgFlatMask *hg_host_mask_flat(const HgHostMask *mask);

	/* Returns true if a row is selected. */
	static inline bool
	hg_host_mask_has(const HgHostMask *mask, uint32_t row)
	{
		return mask->words == NULL || (mask->words[row / 64] >> row % 64 & 1) != 0;
	}

	/* Returns the memory of a mask for a graph of this shape. */
	extern uint64_t hg_host_mask_bytes(const HgReplicaShape *shape);

	/* Frees a mask and zeroes it. */
	extern void hg_host_mask_free(HgHostMask *mask, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_MASK_H */
