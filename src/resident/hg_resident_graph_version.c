/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_version.c
 *	  Graph versions: HashGraphs of keys of a table, immutable once they are published.
 *
 * A version is a chunk for itself, one for its list of segment versions, one that names its bins,
 * and one for each bin: a graph of 10 million rows has a thousand, of some 100 kB, so that none
 * needs a large piece of the area, and what they round up to is little.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "utils/timestamp.h"

#include "backend/device/hg_device_shared.h"
#include "resident/hg_resident_graph_codes.h"
#include "resident/hg_resident_graph_version.h"

static uint32
hg_graph_version_nbins(const HgResidentGraph *graph)
{
	return (uint32) 1 << graph->shape.bins_log2;
}

dsa_pointer
hg_graph_version_make(HgResidentClaim *claim, const HgGraphKey *key, const HgFlatShape *shape,
					  uint32 nsegments)
{
	Size serials_bytes = Max(nsegments, 1) * sizeof(uint64);
	Size bins_bytes = ((Size) 1 << shape->bins_log2) * sizeof(dsa_pointer);
	dsa_pointer pointer = hg_resident_allocate(claim, sizeof(HgResidentGraph));
	dsa_pointer serials = hg_resident_allocate(claim, serials_bytes);
	dsa_pointer bins = hg_resident_allocate(claim, bins_bytes);
	HgResidentGraph *graph;

	if (!DsaPointerIsValid(pointer) || !DsaPointerIsValid(serials) || !DsaPointerIsValid(bins))
		return InvalidDsaPointer;
	graph = hg_graph_version(pointer);
	memset(graph, 0, sizeof(HgResidentGraph));
	graph->key = *key;
	graph->shape = *shape;
	graph->bytes = sizeof(HgResidentGraph) + serials_bytes + bins_bytes;
	pg_atomic_init_u32(&graph->users, 1);
	pg_atomic_init_u32(&graph->pins, 0);
	pg_atomic_init_u64(&graph->used_at, 0);
	graph->made_at = GetCurrentTimestamp();
	graph->serial = hg_resident_serial();
	pg_atomic_init_u32(&graph->offered, 0);
	pg_atomic_init_u32(&graph->homes, 0);
	pg_atomic_init_u32(&graph->cut, 0);
	pg_atomic_init_u32(&graph->too_large, 0);
	pg_atomic_init_u64(&graph->cut_at, 0);
	pg_atomic_init_u64(&graph->chosen_at, 0);
	pg_atomic_init_u64(&graph->slices, InvalidDsaPointer);
	pg_atomic_init_u64(&graph->all_slices, InvalidDsaPointer);
	hg_device_copies_init(graph->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		pg_atomic_init_u32(&graph->columns[i].number, InvalidAttrNumber);
		pg_atomic_init_u64(&graph->columns[i].used_at, 0);
		hg_device_copies_init(graph->columns[i].copies);
	}
	for (int i = 0; i < HG_GRAPH_ALONGS; i++)
	{
		pg_atomic_init_u32(&graph->along[i].column, InvalidAttrNumber);
		pg_atomic_init_u64(&graph->along[i].used_at, 0);
	}
	hg_graph_wishes_init(&graph->wishes);
	pg_atomic_init_u64(&graph->alongs, InvalidDsaPointer);
	pg_atomic_init_u64(&graph->along_at, 0);
	pg_atomic_init_u64(&graph->codes, InvalidDsaPointer);
	for (int i = 0; i < HG_GRAPH_AMBIGUOUS; i++)
		pg_atomic_init_u64(&graph->ambiguous[i], 0);
	pg_atomic_init_u32(&graph->next_ambiguous, 0);
	pg_atomic_init_u32(&graph->lost, 0);
	graph->nsegments = nsegments;
	graph->serials = serials;
	graph->bins = bins;
	memset(hg_resident_address(serials), 0, serials_bytes);
	for (uint32 i = 0; i < hg_graph_version_nbins(graph); i++)
		((dsa_pointer *) hg_resident_address(bins))[i] = InvalidDsaPointer;
	return pointer;
}

uint64 *
hg_graph_version_serials(const HgResidentGraph *graph)
{
	return hg_resident_address(graph->serials);
}

void *
hg_graph_version_add_bin(HgResidentClaim *claim, HgResidentGraph *graph, uint32 bin, Size bytes,
						 uint64 rows)
{
	dsa_pointer chunk = hg_resident_allocate(claim, bytes);

	if (!DsaPointerIsValid(chunk))
		return NULL;
	((dsa_pointer *) hg_resident_address(graph->bins))[bin] = chunk;
	graph->bytes += bytes;
	graph->rows += rows;
	return hg_resident_address(chunk);
}

void
hg_graph_version_bins(const HgResidentGraph *graph, const HgFlatBin **bins)
{
	const dsa_pointer *chunks = hg_resident_address(graph->bins);

	for (uint32 i = 0; i < hg_graph_version_nbins(graph); i++)
		bins[i] = DsaPointerIsValid(chunks[i]) ? hg_resident_address(chunks[i]) : NULL;
}

/* The last way in which a version was cut along with another one; invalid: there is none. */
static dsa_pointer
hg_graph_version_alongs(HgResidentGraph *graph)
{
	const dsa_pointer alongs = (dsa_pointer) pg_atomic_read_u64(&graph->alongs);

	pg_read_barrier();
	return alongs;
}

void
hg_graph_version_pin(HgResidentGraph *graph)
{
	pg_atomic_fetch_add_u32(&graph->users, 1);
	hg_resident_memory_pin(graph->bytes, pg_atomic_fetch_add_u32(&graph->pins, 1) == 0);
}

void
hg_graph_version_release(dsa_pointer pointer)
{
	HgResidentGraph *graph = hg_graph_version(pointer);

	hg_resident_memory_unpin(graph->bytes, pg_atomic_sub_fetch_u32(&graph->pins, 1) == 0);
	hg_graph_version_retire(pointer);
}

/*
 * Have a device let go of what it has of a version that is freed.  What that is nobody knows for
 * sure: a column may be there that its graph has missed, or that was on its way when the loader
 * left.
 */
static void
hg_graph_version_forget_copies(HgResidentGraph *graph)
{
	HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);

	if (pg_atomic_read_u32(&graph->offered) != 0)
		hg_device_shared_forget(&name);
}

void
hg_graph_version_retire(dsa_pointer pointer)
{
	HgResidentGraph *graph = hg_graph_version(pointer);
	const dsa_pointer *chunks;

	if (pg_atomic_sub_fetch_u32(&graph->users, 1) > 0)
		return;
	hg_graph_version_forget_copies(graph);
	hg_graph_codes_free(graph);
	hg_graph_along_free(hg_graph_version_alongs(graph));
	hg_graph_slices_free((dsa_pointer) pg_atomic_read_u64(&graph->all_slices));
	chunks = hg_resident_address(graph->bins);
	/* the version counts the bytes of all of it */
	for (uint32 i = 0; i < hg_graph_version_nbins(graph); i++)
		if (DsaPointerIsValid(chunks[i]))
			hg_resident_free(chunks[i], 0);
	hg_resident_free(graph->bins, 0);
	hg_resident_free(graph->serials, 0);
	hg_resident_free(pointer, graph->bytes);
}

/* ---------------------------------------------------------------------
 * What devices are to have
 * ---------------------------------------------------------------------
 */

void
hg_graph_version_offer(HgResidentGraph *graph)
{
	pg_atomic_write_u32(&graph->offered, 1);
}

HgDeviceSet
hg_graph_version_cut(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet cut = pg_atomic_read_u32(&graph->cut);

	return (cut & holders->lost) == 0 ? cut : 0;
}

/* Have joins asked for it to be cut along with others, and for nothing else since? */
static bool
hg_graph_version_is_along(HgResidentGraph *graph)
{
	const uint64 whole_at = pg_atomic_read_u64(&graph->wishes.whole_at);
	uint64 along_at = 0;

	for (int i = 0; i < HG_GRAPH_ALONGS; i++)
		if (pg_atomic_read_u32(&graph->along[i].column) != InvalidAttrNumber)
			along_at = Max(along_at, pg_atomic_read_u64(&graph->along[i].used_at));
	return along_at > whole_at;
}

void
hg_graph_version_end_whole(HgResidentGraph *graph)
{
	const bool is_cut = pg_atomic_read_u32(&graph->too_large) != 0;

	/* what goes by the version's own name is its slices, too */
	if ((!is_cut && !hg_graph_version_is_along(graph)) ||
		DsaPointerIsValid((dsa_pointer) pg_atomic_read_u64(&graph->all_slices)) ||
		DsaPointerIsValid(hg_graph_version_alongs(graph)))
		return;
	hg_device_copies_forget(graph->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		hg_device_copies_forget(graph->columns[i].copies);
	hg_graph_version_forget_copies(graph);
}

void
hg_graph_version_set_cut(HgResidentGraph *graph, HgDeviceSet device_set, bool too_large)
{
	pg_atomic_write_u64(&graph->chosen_at, (uint64) GetCurrentTimestamp());
	if (too_large && pg_atomic_exchange_u32(&graph->too_large, 1) == 0)
		hg_graph_version_end_whole(graph);
	if (pg_atomic_read_u32(&graph->cut) != device_set)
		pg_atomic_write_u32(&graph->cut, device_set);
}

bool
hg_graph_version_may_widen(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet cut = hg_graph_version_cut(graph, holders);
	HgDeviceSet others = 0;

	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if (holders->epochs[device_no] != 0)
			others |= HG_DEVICE_BIT(device_no) & ~cut;
	return cut != 0 && others != 0 && pg_atomic_read_u32(&graph->too_large) != 0 &&
		   TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&graph->chosen_at),
									  GetCurrentTimestamp(), HG_GRAPH_OFFER_MS);
}

HgGraphSlices *
hg_graph_version_slices(HgResidentGraph *graph)
{
	const dsa_pointer slices = (dsa_pointer) pg_atomic_read_u64(&graph->slices);

	pg_read_barrier();
	return DsaPointerIsValid(slices) ? hg_graph_slices(slices) : NULL;
}

/* The first of all ways in which a version was cut, or invalid. */
static dsa_pointer
hg_graph_version_all_slices(HgResidentGraph *graph)
{
	const dsa_pointer all = (dsa_pointer) pg_atomic_read_u64(&graph->all_slices);

	pg_read_barrier();
	return all;
}

dsa_pointer
hg_graph_version_slices_over(HgResidentGraph *graph, HgDeviceSet device_set)
{
	dsa_pointer pointer = hg_graph_version_all_slices(graph);

	while (DsaPointerIsValid(pointer) && hg_graph_slices(pointer)->device_set != device_set)
		pointer = hg_graph_slices(pointer)->next;
	return pointer;
}

HgGraphSlices *
hg_graph_version_slices_into(HgResidentGraph *graph, uint32 count)
{
	dsa_pointer pointer = hg_graph_version_all_slices(graph);

	while (DsaPointerIsValid(pointer) && hg_graph_slices(pointer)->count != count)
		pointer = hg_graph_slices(pointer)->next;
	return DsaPointerIsValid(pointer) ? hg_graph_slices(pointer) : NULL;
}

/*
 * A version is cut into another number of slices: have devices let go of those that it had.  As
 * many of them, at other places, go by the same names.
 */
static void
hg_graph_version_forget_slices(HgResidentGraph *graph, uint32 count)
{
	HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);
	dsa_pointer pointer = hg_graph_version_all_slices(graph);

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_slices(pointer)->next)
		if (hg_graph_slices(pointer)->count == count)
			hg_graph_slices_forget(hg_graph_slices(pointer));
	for (uint32 slice = 0; slice < count; slice++)
	{
		name.slice = hg_slice_number(count, slice);
		hg_device_shared_forget(&name);
	}
}

void
hg_graph_version_link_slices(HgResidentGraph *graph, dsa_pointer pointer)
{
	const HgGraphSlices *older = hg_graph_version_slices(graph);
	HgGraphSlices *slices;

	if (!DsaPointerIsValid(pointer))
	{
		pg_atomic_write_u64(&graph->cut_at, (uint64) GetCurrentTimestamp());
		return;
	}
	slices = hg_graph_slices(pointer);
	if (hg_graph_version_slices_over(graph, slices->device_set) != pointer)
	{
		slices->next = hg_graph_version_all_slices(graph);
		pg_write_barrier();
		pg_atomic_write_u64(&graph->all_slices, (uint64) pointer);
	}
	if (older != NULL && older->count != slices->count)
		hg_graph_version_forget_slices(graph, older->count);
	pg_write_barrier();
	pg_atomic_write_u64(&graph->slices, (uint64) pointer);
}

bool
hg_graph_version_is_to_be_cut(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet cut = hg_graph_version_cut(graph, holders);
	const HgGraphSlices *slices = hg_graph_version_slices(graph);

	if (cut == 0 || (slices != NULL && slices->device_set == cut))
		return false;
	for (int device_no = 0; device_no < HG_GPU_DEVICES; device_no++)
		if ((cut & HG_DEVICE_BIT(device_no)) != 0 && holders->epochs[device_no] == 0)
			return false;
	return TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&graph->cut_at),
									  GetCurrentTimestamp(), HG_GRAPH_OFFER_MS);
}

bool
hg_graph_version_is_in_need(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	return hg_graph_version_cut(graph, holders) == 0 && hg_graph_wishes_are_due(&graph->wishes);
}

HgDeviceSet
hg_graph_version_homes(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	if (pg_atomic_read_u32(&graph->too_large) != 0 && hg_graph_version_cut(graph, holders) != 0)
		return 0;
	if (hg_graph_version_is_along(graph))
		return 0;
	if (graph->rows <= HG_GRAPH_EVERYWHERE_ROWS)
		return HG_ALL_DEVICES;
	return pg_atomic_read_u32(&graph->homes) & ~holders->lost;
}

bool
hg_graph_version_lacks_home(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	/* one that is cut gets none by itself */
	return hg_graph_version_homes(graph, holders) == 0 &&
		   hg_graph_version_cut(graph, holders) == 0 && !hg_graph_version_is_along(graph);
}

void
hg_graph_version_add_homes(HgResidentGraph *graph, HgDeviceSet device_set)
{
	if ((device_set & ~pg_atomic_read_u32(&graph->homes)) != 0)
		pg_atomic_fetch_or_u32(&graph->homes, device_set);
}

void
hg_graph_version_remove_home(HgResidentGraph *graph, int device_no)
{
	pg_atomic_fetch_and_u32(&graph->homes, ~HG_DEVICE_BIT(device_no));
}

HgDeviceCopy *
hg_graph_version_copies(HgResidentGraph *graph, HgGraphSlices *slices)
{
	return slices != NULL ? slices->copies : graph->copies;
}

HgDeviceCopy *
hg_graph_version_column_copies(HgResidentGraph *graph, HgGraphSlices *slices, int column)
{
	return slices != NULL ? slices->columns[column] : graph->columns[column].copies;
}

/*
 * Is a version, or one of its columns, to be given to the device process of this epoch, or its
 * slice of them?  Columns are not without it.
 */
static bool
hg_graph_version_is_due_at(HgResidentGraph *graph, HgGraphSlices *slices, int device_no, uint64 epoch)
{
	HgDeviceCopy *copy = &hg_graph_version_copies(graph, slices)[device_no];
	const bool replica = hg_device_copy_is_present(copy, epoch);
	bool due = hg_device_copy_is_due(copy, epoch);

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS && replica && !due; i++)
		due =
			pg_atomic_read_u32(&graph->columns[i].number) != InvalidAttrNumber &&
			hg_device_copy_is_due(&hg_graph_version_column_copies(graph, slices, i)[device_no], epoch);
	return due;
}

bool
hg_graph_version_set_gone(HgResidentGraph *graph, bool sliced, int device_no, uint64 epoch,
						  const HgMissingReplicas *missing)
{
	HgGraphSlices *slices = sliced ? hg_graph_version_slices(graph) : NULL;
	HgReplicaName name = hg_graph_version_name(graph, InvalidAttrNumber);
	bool gone;

	if (sliced && slices == NULL)
		return false;
	/* whichever slice it has */
	name.slice = sliced;
	gone = hg_replica_is_missing(missing, &name);
	if (gone)
		hg_device_copy_set_gone(&hg_graph_version_copies(graph, slices)[device_no], epoch);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		name.column = pg_atomic_read_u32(&graph->columns[i].number);
		if (name.column == InvalidAttrNumber || !hg_replica_is_missing(missing, &name))
			continue;
		hg_device_copy_set_gone(&hg_graph_version_column_copies(graph, slices, i)[device_no], epoch);
		gone = true;
	}
	return gone;
}

/* Is it to be cut, or is a slice, or a column of one, to be given to a device process? */
static bool
hg_graph_version_slices_are_due(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet cut = hg_graph_version_cut(graph, holders);
	HgGraphSlices *slices = hg_graph_version_slices(graph);
	bool due =
		hg_graph_version_is_to_be_cut(graph, holders) || hg_graph_version_may_widen(graph, holders);

	if (slices == NULL || slices->device_set != cut)
		return due;
	for (int device_no = 0; device_no < HG_GPU_DEVICES && !due; device_no++)
		due = (cut & HG_DEVICE_BIT(device_no)) != 0 &&
			  hg_graph_version_is_due_at(graph, slices, device_no, holders->epochs[device_no]);
	return due;
}

bool
hg_graph_version_is_due(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	const HgDeviceSet homes = hg_graph_version_homes(graph, holders);
	const bool any = hg_graph_version_lacks_home(graph, holders);
	bool due = hg_graph_version_slices_are_due(graph, holders) ||
			   hg_graph_version_is_in_need(graph, holders);

	for (int device_no = 0; device_no < HG_GPU_DEVICES && !due; device_no++)
		due = (any || (homes & HG_DEVICE_BIT(device_no)) != 0) &&
			  hg_graph_version_is_due_at(graph, NULL, device_no, holders->epochs[device_no]);
	return due && graph->rows > 0;
}

bool
hg_graph_version_is_replicated(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	HgGraphSlices *slices = hg_graph_version_slices(graph);

	return hg_device_copies_present(graph->copies, holders) != 0 ||
		   (slices != NULL && hg_graph_slices_are_replicated(slices, holders));
}

Size
hg_graph_version_host_bytes(HgResidentGraph *graph)
{
	dsa_pointer pointer = hg_graph_version_all_slices(graph);
	Size bytes = graph->bytes + hg_graph_along_host_bytes(hg_graph_version_alongs(graph));

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_slices(pointer)->next)
		bytes += hg_graph_slices(pointer)->bytes;
	return bytes;
}

Size
hg_graph_version_replica_bytes(HgResidentGraph *graph, const HgReplicaHolders *holders)
{
	HgGraphSlices *slices = hg_graph_version_slices(graph);
	Size bytes = hg_device_copies_bytes(graph->copies, holders) +
				 hg_graph_along_replica_bytes(hg_graph_version_alongs(graph), holders);

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		bytes += hg_device_copies_bytes(graph->columns[i].copies, holders);
	return bytes + (slices != NULL ? hg_graph_slices_replica_bytes(slices, holders) : 0);
}

HgReplicaName
hg_graph_version_name(const HgResidentGraph *graph, AttrNumber column)
{
	return (HgReplicaName){
		.epoch = hg_resident_epoch(), .serial = graph->serial, .column = (uint32) column};
}

HgReplicaShape
hg_graph_version_shape(const HgResidentGraph *graph)
{
	return (HgReplicaShape){.key_width = graph->shape.key_width,
						 .parts = Max(graph->nsegments, 1),
						 .rows = graph->rows};
}

uint64
hg_graph_version_least_bytes(const HgResidentGraph *graph)
{
	const HgReplicaSpec new_replica = {.shape = hg_graph_version_shape(graph)};
	const HgJobSpec spec = {.key_width = new_replica.shape.key_width, .new_replica = &new_replica};

	return hg_replica_least_bytes(&spec);
}

static bool
hg_graph_column_is_idle(HgGraphColumn *column, TimestampTz now, int ms)
{
	return TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(&column->used_at), now, ms);
}

/*
 * Have an idle column's place.  What others who look at it meanwhile take for a copy of the new one
 * is none that the device knows by that name: they miss it.
 */
static bool
hg_graph_column_replace(HgResidentGraph *graph, int place_of, AttrNumber number, TimestampTz now)
{
	HgGraphColumn *column = &graph->columns[place_of];
	HgGraphSlices *slices = hg_graph_version_slices(graph);
	uint32 idle = pg_atomic_read_u32(&column->number);

	if (!pg_atomic_compare_exchange_u32(&column->number, &idle, (uint32) number))
		return false;
	pg_atomic_write_u64(&column->used_at, (uint64) now);
	hg_device_copies_forget(column->copies);
	if (slices != NULL)
		hg_device_copies_forget(slices->columns[place_of]);
	return true;
}

int
hg_graph_version_ask_column(HgResidentGraph *graph, AttrNumber number)
{
	const TimestampTz now = GetCurrentTimestamp();
	int idle = -1;

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		HgGraphColumn *column = &graph->columns[i];
		uint32 none = InvalidAttrNumber;

		/* that it is there already is seen here too, as others ask at the same time */
		if (pg_atomic_compare_exchange_u32(&column->number, &none, (uint32) number) ||
			none == (uint32) number)
		{
			pg_atomic_write_u64(&column->used_at, (uint64) now);
			return i;
		}
		if (hg_graph_column_is_idle(column, now, HG_GRAPH_COLUMN_IDLE_MS) &&
			(idle < 0 || pg_atomic_read_u64(&column->used_at) <
							 pg_atomic_read_u64(&graph->columns[idle].used_at)))
			idle = i;
	}
	return idle >= 0 && hg_graph_column_replace(graph, idle, number, now) ? idle : -1;
}

void
hg_graph_version_ask_same(HgResidentGraph *graph, HgResidentGraph *other)
{
	const HgGraphNeeds needs = hg_graph_wishes_told(&other->wishes);

	hg_graph_wishes_tell(&graph->wishes, &needs);
	pg_atomic_write_u64(&graph->wishes.whole_at, pg_atomic_read_u64(&other->wishes.whole_at));
	hg_graph_version_add_homes(graph, pg_atomic_read_u32(&other->homes));
	/* over which devices one is cut that is too large for any is found out anew */
	if (pg_atomic_read_u32(&other->too_large) == 0)
		hg_graph_version_set_cut(graph, pg_atomic_read_u32(&other->cut), false);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
	{
		HgGraphColumn *column = &other->columns[i];
		uint32 number = pg_atomic_read_u32(&column->number);

		if (number == InvalidAttrNumber ||
			hg_graph_column_is_idle(column, GetCurrentTimestamp(), HG_GRAPH_COLUMN_END_MS))
			continue;
		pg_atomic_write_u32(&graph->columns[i].number, number);
		pg_atomic_write_u64(&graph->columns[i].used_at, pg_atomic_read_u64(&column->used_at));
	}
	for (int i = 0; i < HG_GRAPH_ALONGS; i++)
	{
		pg_atomic_write_u64(&graph->along[i].used_at, pg_atomic_read_u64(&other->along[i].used_at));
		pg_atomic_write_u32(&graph->along[i].column, pg_atomic_read_u32(&other->along[i].column));
	}
}
