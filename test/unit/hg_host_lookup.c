/*-------------------------------------------------------------------------
 *
 * hg_host_lookup.c
 *	  What rows of a side look up in graph replicas, in host memory, by the plainest means.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_lookup.h"

#include "../../src/engine/hg_replica.h"

#include <string.h>

/* Pairs that are asked for at a time. */
#define CHUNK_PAIRS 1024

static uint64_t
ordinals_of(const HgReplicaShape *shape, uint32_t stride)
{
	return (uint64_t) shape->parts * stride;
}

HgStatus
hg_host_lookups_open(HgHostLookups *lookups, const HgJobSpec *spec, HgSide side, const HgHost *host,
					 HgError *error)
{
	HgStatus status = HG_OK;

	if (hg_side_replica(spec, side)->nlookups == 0)
		return HG_OK;
	lookups->count = spec->sides[side].replica.nlookups;
	lookups->parts = spec->sides[side].replica.use->shape.parts;
	lookups->stride = hg_replica_side_stride(spec, side);
	lookups->ordinals = ordinals_of(&spec->sides[side].replica.use->shape, lookups->stride);
	for (uint32_t i = 0; i < lookups->count && status == HG_OK; i++)
	{
		const HgReplicaLookup *from = &spec->sides[side].replica.lookups[i];
		HgHostLookup *lookup = &lookups->lookups[i];

		lookup->from = from->from;
		lookup->unmatched = from->unmatched != 0;
		lookup->stride = from->stride;
		lookup->found_stride = from->found_stride;
		lookup->own_ordinals = ordinals_of(&from->own.shape, from->stride);
		lookup->masked = from->found.masked != 0;
		if (hg_replica_is_masked(spec, side, i + 1))
			status = hg_host_mask_open(&lookup->mask, &from->found.shape, host, error);
	}
	return status;
}

/* Ordinals of which nothing is known. */
static HgStatus
alloc_ordinals(const HgHost *host, uint64_t ordinals, uint32_t **array, HgError *error)
{
	void *memory = NULL;
	HgStatus status = hg_host_memory_alloc(host, ordinals * sizeof(uint32_t), &memory, error);

	*array = memory;
	if (status == HG_OK)
		memset(memory, 0xff, (size_t) ordinals * sizeof(uint32_t));
	return status;
}

/* What each row that looks up finds, by its place. */
static HgStatus
find(const HgHostLookup *lookup, const HgHost *host, uint32_t *ordinals, HgError *error)
{
	const HgFlatSide own = {.graph = lookup->own};
	const HgFlatSide found = {.graph = lookup->found, .mask = hg_host_mask_flat(&lookup->mask)};
	uint32_t rows[2][CHUNK_PAIRS];
	HgMatches pairs = {.outer = rows[0], .inner = rows[1], .capacity = CHUNK_PAIRS, .count = 1};
	HgFlatJoin *join;
	HgStatus status = hg_flat_join_open(host, &own, &found, NULL, &join, error);

	if (status != HG_OK)
		return status;
	while (status == HG_OK && pairs.count > 0)
	{
		status = hg_flat_next(join, HG_MATCH_ALL, &pairs, error);
		for (size_t i = 0; i < pairs.count && status == HG_OK; i++)
		{
			uint32_t *ordinal = &ordinals[hg_replica_ordinal(lookup->stride, pairs.outer[i])];

			*ordinal = *ordinal == HG_FOUND_NONE
						   ? (uint32_t) hg_replica_ordinal(lookup->found_stride, pairs.inner[i])
						   : HG_FOUND_TWO;
		}
	}
	hg_flat_close(join);
	return status;
}

/* By the ordinals of the side: what the rows find that its rows have found. */
static void
compose(const uint32_t *parent, const uint32_t *found, uint64_t count, uint32_t *ordinals)
{
	for (uint64_t i = 0; i < count; i++)
		if (parent[i] < HG_FOUND_TWO)
			ordinals[i] = found[parent[i]];
}

/* Leave out the rows that have found nothing, where they had to. */
static HgStatus
drop_rows(const HgHostLookups *lookups, const HgHostLookup *lookup, HgHostMask *mask,
		  const HgHost *host, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t part = 0; part < lookups->parts && status == HG_OK; part++)
	{
		for (uint32_t number = 0; number < lookups->stride; number++)
		{
			const uint32_t row = HG_FLAT_ROW(part, number);
			const uint32_t ordinal = lookup->ordinals[hg_replica_ordinal(lookups->stride, row)];

			if (!hg_host_mask_has(mask, row))
				continue;
			if (ordinal == HG_FOUND_TWO)
				return hg_error_set(error, HG_NOT_UNIQUE, NULL,
									"a row finds more than one where it may find one");
			if (ordinal == HG_FOUND_NONE && !lookup->unmatched)
				mask->words[row / 64] &= ~(UINT64_C(1) << row % 64);
		}
		status = hg_host_check_cancel(host, error);
	}
	return status;
}

/* Do one that is of rows which were found. */
static HgStatus
run_from(const HgHostLookups *lookups, HgHostLookup *lookup, const HgHost *host, HgError *error)
{
	uint32_t *found;
	HgStatus status = alloc_ordinals(host, lookup->own_ordinals, &found, error);

	if (status == HG_OK)
		status = find(lookup, host, found, error);
	if (status == HG_OK)
		compose(lookups->lookups[lookup->from - 1].ordinals, found, lookups->ordinals,
				lookup->ordinals);
	hg_host_memory_free(host, found, lookup->own_ordinals * sizeof(uint32_t));
	return status;
}

HgStatus
hg_host_lookups_run(HgHostLookups *lookups, HgHostMask *mask, const HgHost *host, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < lookups->count && status == HG_OK; i++)
	{
		HgHostLookup *lookup = &lookups->lookups[i];

		status = alloc_ordinals(host, lookups->ordinals, &lookup->ordinals, error);
		if (status == HG_OK)
			status = lookup->from > 0 ? run_from(lookups, lookup, host, error)
									  : find(lookup, host, lookup->ordinals, error);
		if (status == HG_OK)
			status = drop_rows(lookups, lookup, mask, host, error);
	}
	return status;
}

uint64_t
hg_host_lookups_bytes(const HgJobSpec *spec, HgSide side)
{
	uint64_t bytes = 0;
	uint64_t most = 0;

	for (uint32_t i = 0; i < hg_side_replica(spec, side)->nlookups; i++)
	{
		const HgReplicaLookup *lookup = &spec->sides[side].replica.lookups[i];
		const uint64_t own = ordinals_of(&lookup->own.shape, lookup->stride) * sizeof(uint32_t);

		bytes +=
			ordinals_of(&spec->sides[side].replica.use->shape, hg_replica_side_stride(spec, side)) *
			sizeof(uint32_t);
		if (hg_replica_is_masked(spec, side, i + 1))
			bytes += hg_host_mask_bytes(&lookup->found.shape);
		most = lookup->from > 0 && own > most ? own : most;
	}
	return bytes + most;
}

void
hg_host_lookups_free(HgHostLookups *lookups, const HgHost *host)
{
	for (uint32_t i = 0; i < lookups->count; i++)
	{
		HgHostLookup *lookup = &lookups->lookups[i];

		hg_host_mask_free(&lookup->mask, host);
		hg_host_memory_free(host, lookup->ordinals, lookups->ordinals * sizeof(uint32_t));
		lookup->ordinals = NULL;
	}
}
