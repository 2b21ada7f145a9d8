/*-------------------------------------------------------------------------
 *
 * hg_shared_covered.c
 *	  Covered rows of a table that the processes of a parallel query scan together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_shared_covered.h"

/* The covered rows of a segment that has valid blocks, if the graph has it. */
typedef struct HgSharedCoveredSegment
{
	dsa_pointer bits;  /* of its rows; invalid if all or none are covered */
	dsa_pointer older; /* HgChangedBlocks, or invalid */
	uint32 count;
} HgSharedCoveredSegment;

void
hg_shared_covered_init(HgSharedCovered *shared)
{
	memset(shared, 0, sizeof(*shared));
	pg_atomic_init_u32(&shared->next_part, 0);
}

/* Allocates memory in the DSA, and counts it. */
static void *
hg_shared_covered_allocate(HgSharedCovered *shared, dsa_area *area, Size bytes,
						   dsa_pointer *pointer)
{
	*pointer = dsa_allocate(area, Max(bytes, 1));
	shared->bytes += bytes;
	return dsa_get_address(area, *pointer);
}

void
hg_shared_covered_publish(HgSharedCovered *shared, dsa_area *area, const HgCovered *covered,
						  const HgResidentScan *scan)
{
	const HgValidBlocks *valid = covered->valid;
	HgValidCopy *copies;
	HgSharedCoveredSegment *segments;

	shared->nparts = covered->nparts;
	shared->nvalid_segments = valid->nsegments;
	shared->graph = covered->graph->pointer;
	copies = hg_shared_covered_allocate(shared, area, valid->nsegments * sizeof(HgValidCopy),
										&shared->valid);
	segments = hg_shared_covered_allocate(
		shared, area, valid->nsegments * sizeof(HgSharedCoveredSegment), &shared->segments);
	for (int i = 0; i < valid->nsegments; i++)
	{
		const HgValidSegment *segment = &valid->segments[i];
		const HgChangedBlocks *older = hg_resident_scan_covered_older(scan, segment);
		uint32 part = segment->version->first / HG_SEGMENT_BLOCKS;

		copies[i] = (HgValidCopy){.version = segment->pointer, .blocks = *segment->blocks};
		segments[i] = (HgSharedCoveredSegment){
			.bits = InvalidDsaPointer, .older = InvalidDsaPointer, .count = covered->counts[part]};
		if (covered->bits[part] != NULL)
		{
			Size bytes = hg_segment_bits_bytes(segment->version->nrows);

			memcpy(hg_shared_covered_allocate(shared, area, bytes, &segments[i].bits),
				   covered->bits[part], bytes);
		}
		if (older != NULL)
			memcpy(hg_shared_covered_allocate(shared, area, hg_changed_bytes(older),
											  &segments[i].older),
				   older, hg_changed_bytes(older));
	}
	shared->covered = true;
}

void
hg_shared_covered_pin_valid(const HgSharedCovered *shared, dsa_area *area, HgSharedPins *pins)
{
	pins->valid = hg_validity_share(dsa_get_address(area, shared->valid), shared->nvalid_segments);
}

void
hg_shared_covered_pin_graph(const HgSharedCovered *shared, HgSharedPins *pins)
{
	pins->graph = hg_resident_graph_pin_too(shared->graph);
}

HgCovered *
hg_shared_covered_attach(const HgSharedCovered *shared, dsa_area *area, Relation rel,
						 const HgGraphKey *key, const HgSharedPins *pins, int ncolumns,
						 const HgResidentColumn *columns, HgResidentScan *scan)
{
	const HgSharedCoveredSegment *segments = dsa_get_address(area, shared->segments);
	const HgValidBlocks *valid = pins->valid;
	HgCovered *covered =
		hg_covered_create(rel, pins->graph, key, valid, shared->nparts, ncolumns, columns);

	for (int i = 0; i < valid->nsegments; i++)
	{
		const HgValidSegment *segment = &valid->segments[i];

		CHECK_FOR_INTERRUPTS();
		if (!hg_covered_has_version(covered, segment->version))
			continue;
		hg_covered_add(covered, segment,
					   DsaPointerIsValid(segments[i].bits) ? dsa_get_address(area, segments[i].bits)
														   : NULL,
					   segments[i].count);
		hg_resident_scan_pass(scan, segment);
		if (DsaPointerIsValid(segments[i].older))
			hg_resident_scan_pass_older(scan, segment, dsa_get_address(area, segments[i].older));
	}
	hg_covered_end(covered);
	return covered;
}
