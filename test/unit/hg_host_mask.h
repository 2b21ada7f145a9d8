/*-------------------------------------------------------------------------
 *
 * hg_host_mask.h
 *	  Which rows of a graph replica count in a job, in host memory.
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

	/* All zero: there is none, and all rows count. */
	typedef struct HgHostMask
	{
		HgReplicaShape shape;  /* of the graph */
		uint64_t *words;	   /* [hg_replica_mask_words] */
		const uint64_t **bits; /* [parts] of these words */
		uint8_t *states;	   /* [parts] */
		HgFlatMask flat;
	} HgHostMask;

	/* Have one by which all rows count.  What there is of it after a failure is to be freed. */
	extern HgStatus hg_host_mask_open(HgHostMask *mask, const HgReplicaShape *shape,
									  const HgHost *host, HgError *error);

	/* As mask of an engine. */
	extern HgStatus hg_host_mask_put(HgHostMask *mask, uint64_t first_word, uint64_t count,
									 const uint64_t *words, HgError *error);

	/* What a join asks of it; NULL where there is none. */
	extern const HgFlatMask *hg_host_mask_flat(const HgHostMask *mask);

	static inline bool
	hg_host_mask_has(const HgHostMask *mask, uint32_t row)
	{
		return mask->words == NULL || (mask->words[row / 64] >> row % 64 & 1) != 0;
	}

	/* The memory that one of a graph of this shape takes. */
	extern uint64_t hg_host_mask_bytes(const HgReplicaShape *shape);

	extern void hg_host_mask_free(HgHostMask *mask, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_MASK_H */
