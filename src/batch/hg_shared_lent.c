/*-------------------------------------------------------------------------
 *
 * hg_shared_lent.c
 *	  Lent rows of a table that the processes of a parallel query scan together.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "batch/hg_shared_lent.h"

/* What is lent of a segment that is served, if the graph has it. */
typedef struct HgSharedLentSegment
{
	dsa_pointer bits;  /* of its rows; invalid: all or none of them */
	dsa_pointer older; /* HgChangedBlocks; invalid: none */
	uint32 count;
} HgSharedLentSegment;

void
hg_shared_lent_init(HgSharedLent *shared)
{
	memset(shared, 0, sizeof(*shared));
	pg_atomic_init_u32(&shared->next_part, 0);
}

/* Room in the DSA, which is counted. */
static void *
hg_shared_lent_allocate(HgSharedLent *shared, dsa_area *area, Size bytes, dsa_pointer *pointer)
{
	*pointer = dsa_allocate(area, Max(bytes, 1));
	shared->bytes += bytes;
	return dsa_get_address(area, *pointer);
}

void
hg_shared_lent_publish(HgSharedLent *shared, dsa_area *area, const HgLent *lent,
					   const HgResidentScan *scan)
{
	const HgServed *served = lent->served;
	HgServedCopy *copies;
	HgSharedLentSegment *segments;

	shared->nparts = lent->nparts;
	shared->nserved = served->nsegments;
	shared->graph = lent->graph->pointer;
	copies = hg_shared_lent_allocate(shared, area, served->nsegments * sizeof(HgServedCopy),
									 &shared->served);
	segments = hg_shared_lent_allocate(
		shared, area, served->nsegments * sizeof(HgSharedLentSegment), &shared->segments);
	for (int i = 0; i < served->nsegments; i++)
	{
		const HgServedSegment *segment = &served->segments[i];
		const HgChangedBlocks *older = hg_resident_scan_lent_older(scan, segment);
		uint32 part = segment->version->first / HG_SEGMENT_BLOCKS;

		copies[i] = (HgServedCopy){.version = segment->pointer, .blocks = *segment->blocks};
		segments[i] = (HgSharedLentSegment){
			.bits = InvalidDsaPointer, .older = InvalidDsaPointer, .count = lent->counts[part]};
		if (lent->bits[part] != NULL)
		{
			Size bytes = hg_segment_bits_bytes(segment->version->nrows);

			memcpy(hg_shared_lent_allocate(shared, area, bytes, &segments[i].bits),
				   lent->bits[part], bytes);
		}
		if (older != NULL)
			memcpy(
				hg_shared_lent_allocate(shared, area, hg_changed_bytes(older), &segments[i].older),
				older, hg_changed_bytes(older));
	}
	shared->lent = true;
}

void
hg_shared_lent_pin_served(const HgSharedLent *shared, dsa_area *area, HgSharedPins *pins)
{
	pins->served = hg_validity_serve_too(dsa_get_address(area, shared->served), shared->nserved);
}

void
hg_shared_lent_pin_graph(const HgSharedLent *shared, HgSharedPins *pins)
{
	pins->graph = hg_resident_graph_pin_too(shared->graph);
}

HgLent *
hg_shared_lent_attach(const HgSharedLent *shared, dsa_area *area, Relation rel,
					  const HgGraphKey *key, const HgSharedPins *pins, int ncolumns,
					  const HgResidentColumn *columns, HgResidentScan *scan)
{
	const HgSharedLentSegment *segments = dsa_get_address(area, shared->segments);
	const HgServed *served = pins->served;
	HgLent *lent = hg_lent_create(rel, pins->graph, key, served, shared->nparts, ncolumns, columns);

	for (int i = 0; i < served->nsegments; i++)
	{
		const HgServedSegment *segment = &served->segments[i];

		CHECK_FOR_INTERRUPTS();
		if (!hg_lent_has_version(lent, segment->version))
			continue;
		hg_lent_add(lent, segment,
					DsaPointerIsValid(segments[i].bits) ? dsa_get_address(area, segments[i].bits)
														: NULL,
					segments[i].count);
		hg_resident_scan_pass(scan, segment);
		if (DsaPointerIsValid(segments[i].older))
			hg_resident_scan_pass_older(scan, segment, dsa_get_address(area, segments[i].older));
	}
	hg_lent_end(lent);
	return lent;
}
