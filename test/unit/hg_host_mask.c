/*-------------------------------------------------------------------------
 *
 * hg_host_mask.c
 *	  Which rows of a graph replica count in a job, in host memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_mask.h"

#include <string.h>

/* Zeroed memory; NULL, and *status says so, where there is none. */
static void *
alloc_zeroed(const HgHost *host, uint64_t bytes, HgStatus *status, HgError *error)
{
	void *ptr = NULL;

	if (*status == HG_OK)
		*status = hg_host_memory_alloc(host, bytes, &ptr, error);
	if (ptr != NULL)
		memset(ptr, 0, (size_t) bytes);
	return ptr;
}

HgStatus
hg_host_mask_open(HgHostMask *mask, const HgReplicaShape *shape, const HgHost *host, HgError *error)
{
	const uint64_t words = hg_replica_mask_words(shape);
	HgStatus status = HG_OK;

	mask->shape = *shape;
	mask->words = alloc_zeroed(host, words * sizeof(uint64_t), &status, error);
	mask->bits = alloc_zeroed(host, shape->parts * sizeof(*mask->bits), &status, error);
	mask->states = alloc_zeroed(host, shape->parts, &status, error);
	if (status != HG_OK)
		return status;
	memset(mask->words, 0xff, (size_t) words * sizeof(uint64_t));
	for (uint32_t part = 0; part < shape->parts; part++)
	{
		mask->bits[part] = mask->words + words / shape->parts * part;
		mask->states[part] = HG_FLAT_SOME;
	}
	mask->flat.nparts = shape->parts;
	mask->flat.states = mask->states;
	mask->flat.bits = mask->bits;
	return HG_OK;
}

HgStatus
hg_host_mask_put(HgHostMask *mask, uint64_t first_word, uint64_t count, const uint64_t *words,
				 HgError *error)
{
	uint64_t all;

	if (mask->words == NULL)
		return hg_error_set(error, HG_INVALID, NULL, "this side of the join has no mask");
	all = hg_replica_mask_words(&mask->shape);
	if (first_word > all || count > all - first_word)
		return hg_error_set(error, HG_INVALID, NULL, "a mask goes beyond the rows of its graph");
	if (count == 0)
		return HG_OK;
	if (words != NULL)
		memcpy(mask->words + first_word, words, (size_t) count * sizeof(*words));
	else
		memset(mask->words + first_word, 0, (size_t) count * sizeof(*words));
	return HG_OK;
}

const HgFlatMask *
hg_host_mask_flat(const HgHostMask *mask)
{
	return mask->words != NULL ? &mask->flat : NULL;
}

uint64_t
hg_host_mask_bytes(const HgReplicaShape *shape)
{
	return hg_replica_mask_words(shape) * sizeof(uint64_t) +
		   shape->parts * (sizeof(uint64_t *) + 1);
}

void
hg_host_mask_free(HgHostMask *mask, const HgHost *host)
{
	hg_host_memory_free(host, mask->words, hg_replica_mask_words(&mask->shape) * sizeof(uint64_t));
	hg_host_memory_free(host, mask->bits, mask->shape.parts * sizeof(*mask->bits));
	hg_host_memory_free(host, mask->states, mask->shape.parts);
	memset(mask, 0, sizeof(*mask));
}
