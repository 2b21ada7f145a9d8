/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_along.c
 *	  Graph versions that are cut along with another one of their table.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "resident/hg_resident_graph_along.h"

/* Has nobody asked for it in so many ms? */
static bool
hg_along_is_idle(HgGraphAlongAsked *asked, int ms)
{
	return TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&asked->used_at),
									  GetCurrentTimestamp(), ms);
}

void
hg_graph_along_ask(HgResidentGraph *graph, AttrNumber column)
{
	HgGraphAlongAsked *idle = NULL;
	uint32 number;

	for (int i = 0; i < HG_GRAPH_ALONGS; i++)
	{
		HgGraphAlongAsked *asked = &graph->along[i];
		uint32 none = InvalidAttrNumber;

		/* that it is there already is seen here too, as others ask at the same time */
		if (pg_atomic_compare_exchange_u32(&asked->column, &none, (uint32) column) ||
			none == (uint32) column)
		{
			pg_atomic_write_u64(&asked->used_at, (uint64) GetCurrentTimestamp());
			return;
		}
		if (idle == NULL && hg_along_is_idle(asked, HG_GRAPH_COLUMN_IDLE_MS))
			idle = asked;
	}
	if (idle == NULL)
		return;
	number = pg_atomic_read_u32(&idle->column);
	if (pg_atomic_compare_exchange_u32(&idle->column, &number, (uint32) column))
		pg_atomic_write_u64(&idle->used_at, (uint64) GetCurrentTimestamp());
}

int
hg_graph_along_asked(HgResidentGraph *graph, AttrNumber *numbers)
{
	int n = 0;

	for (int i = 0; i < HG_GRAPH_ALONGS; i++)
	{
		const uint32 number = pg_atomic_read_u32(&graph->along[i].column);

		if (number != InvalidAttrNumber &&
			!hg_along_is_idle(&graph->along[i], HG_GRAPH_COLUMN_END_MS))
			numbers[n++] = (AttrNumber) number;
	}
	return n;
}

/* The way in which it was cut along last; invalid: it never was. */
static dsa_pointer
hg_along_first(HgResidentGraph *graph)
{
	const dsa_pointer first = (dsa_pointer) pg_atomic_read_u64(&graph->alongs);

	pg_read_barrier();
	return first;
}

HgGraphAlong *
hg_graph_along_find(HgResidentGraph *graph, const HgResidentGraph *with, HgDeviceSet device_set)
{
	dsa_pointer pointer = hg_along_first(graph);

	while (DsaPointerIsValid(pointer) && (hg_graph_along(pointer)->with != with->serial ||
										  hg_graph_along(pointer)->device_set != device_set))
		pointer = hg_graph_along(pointer)->next;
	return DsaPointerIsValid(pointer) ? hg_graph_along(pointer) : NULL;
}

/* Have devices let go of what they have of it as it was cut along with the graph by a column. */
static void
hg_along_forget(HgResidentGraph *graph, AttrNumber column)
{
	dsa_pointer pointer = hg_along_first(graph);

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_along(pointer)->next)
	{
		HgGraphAlong *along = hg_graph_along(pointer);
		HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);

		if (along->column != column)
			continue;
		hg_device_copies_forget(along->copies);
		for (uint32 slice = 0; slice < along->count; slice++)
		{
			name.slice = hg_slice_number_along(along->cut, along->count, slice);
			hg_device_shared_forget(&name);
		}
	}
}

/* What the next way would have for a number; HG_SLICED_CUTS: none is left. */
static uint32
hg_along_next_cut(HgResidentGraph *graph)
{
	const dsa_pointer first = hg_along_first(graph);

	return DsaPointerIsValid(first) ? hg_graph_along(first)->cut + 1 : 1;
}

HgGraphAlong *
hg_graph_along_add(HgResidentGraph *graph, const HgResidentGraph *with, const HgGraphSlices *cut,
				   const uint64 *rows)
{
	/* nothing fails until it is linked */
	const dsa_pointer pointer = hg_resident_allocate(NULL, sizeof(HgGraphAlong));
	const uint32 number = hg_along_next_cut(graph);
	HgGraphAlong *along;

	if (!DsaPointerIsValid(pointer))
	{
		pg_atomic_write_u64(&graph->along_at, (uint64) GetCurrentTimestamp());
		return NULL;
	}
	Assert(number < HG_SLICED_CUTS);
	along = hg_graph_along(pointer);
	memset(along, 0, sizeof(HgGraphAlong));
	along->next = hg_along_first(graph);
	along->with = with->serial;
	along->column = with->key.columns[0].number;
	along->device_set = cut->device_set;
	along->count = cut->count;
	along->cut = number;
	memcpy(along->rows, rows, cut->count * sizeof(uint64));
	hg_device_copies_init(along->copies);
	hg_along_forget(graph, along->column);
	pg_write_barrier();
	pg_atomic_write_u64(&graph->alongs, (uint64) pointer);
	return along;
}

bool
hg_graph_along_is_replicated(HgGraphAlong *along, const HgReplicaHolders *holders)
{
	return (hg_device_copies_present(along->copies, holders) & along->device_set) == along->device_set;
}

bool
hg_graph_is_replicated_along(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	dsa_pointer pointer = hg_along_first(graph);

	while (DsaPointerIsValid(pointer) && !hg_graph_along_is_replicated(hg_graph_along(pointer), holders))
		pointer = hg_graph_along(pointer)->next;
	return DsaPointerIsValid(pointer);
}

HgGraphSlices *
hg_graph_along_slices(HgResidentGraph *with, const HgReplicaHolders *holders)
{
	const HgDeviceSet cut = hg_graph_version_cut(with, holders);
	HgGraphSlices *slices = hg_graph_version_slices(with);

	return cut != 0 && slices != NULL && slices->device_set == cut ? slices : NULL;
}

bool
hg_graph_along_is_due(HgResidentGraph *graph, HgResidentGraph *with, const HgReplicaHolders *holders)
{
	const HgGraphSlices *slices = hg_graph_along_slices(with, holders);
	HgGraphAlong *along;
	bool due = false;

	if (slices == NULL || graph->rows == 0)
		return false;
	along = hg_graph_along_find(graph, with, slices->device_set);
	if (along == NULL)
		return hg_along_next_cut(graph) < HG_SLICED_CUTS &&
			   TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&graph->along_at),
										  GetCurrentTimestamp(), HG_GRAPH_OFFER_MS);
	for (int device_no = 0; device_no < HG_GPU_DEVICES && !due; device_no++)
		due = (along->device_set & HG_DEVICE_BIT(device_no)) != 0 &&
			  hg_device_copy_is_due(&along->copies[device_no], holders->epochs[device_no]);
	return due;
}
