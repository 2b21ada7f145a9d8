/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_slices.c
 *	  How a graph version is cut into slices, which several devices have one each of.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "port/pg_bitutils.h"

#include "resident/hg_resident_graph_slices.h"

uint32
hg_graph_slice_at(const HgGraphSlices *slices, int device_no)
{
	return (uint32) pg_popcount32(slices->device_set & (HG_DEVICE_BIT(device_no) - 1));
}

/* Have blocks for the bits of all parts; false: there is no room. */
static bool
hg_graph_slices_allocate_bits(HgResidentClaim *claim, HgGraphSlices *slices)
{
	const uint32 *words = hg_resident_address(slices->words);
	dsa_pointer *bits = hg_resident_address(slices->bits);

	for (uint32 part = 0; part < slices->parts; part++)
	{
		const Size bytes = (Size) slices->count * words[part] * sizeof(uint64);

		bits[part] = InvalidDsaPointer;
		if (bytes == 0)
			continue;
		bits[part] = hg_resident_allocate(claim, bytes);
		if (!DsaPointerIsValid(bits[part]))
			return false;
		memset(hg_resident_address(bits[part]), 0, bytes);
		slices->bytes += bytes;
	}
	return true;
}

/* One of no arrays and no copies so far. */
static HgGraphSlices *
hg_graph_slices_init(dsa_pointer pointer, HgDeviceSet device_set, uint32 parts)
{
	HgGraphSlices *slices = hg_graph_slices(pointer);

	memset(slices, 0, sizeof(HgGraphSlices));
	slices->next = InvalidDsaPointer;
	slices->device_set = device_set;
	slices->count = (uint32) pg_popcount32(device_set);
	slices->parts = parts;
	slices->bytes = sizeof(HgGraphSlices);
	hg_device_copies_init(slices->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		hg_device_copies_init(slices->columns[i]);
	return slices;
}

dsa_pointer
hg_graph_slices_make(HgResidentClaim *claim, HgDeviceSet device_set, uint32 parts, const uint32 *words)
{
	const Size words_bytes = Max(parts, 1) * sizeof(uint32);
	const Size before_bytes = (Size) pg_popcount32(device_set) * (parts + 1) * sizeof(uint64);
	const Size bits_bytes = Max(parts, 1) * sizeof(dsa_pointer);
	dsa_pointer pointer = hg_resident_allocate(claim, sizeof(HgGraphSlices));
	dsa_pointer of_words = hg_resident_allocate(claim, words_bytes);
	dsa_pointer before = hg_resident_allocate(claim, before_bytes);
	dsa_pointer bits = hg_resident_allocate(claim, bits_bytes);
	HgGraphSlices *slices;

	if (!DsaPointerIsValid(pointer) || !DsaPointerIsValid(of_words) || !DsaPointerIsValid(before) ||
		!DsaPointerIsValid(bits))
		return InvalidDsaPointer;
	slices = hg_graph_slices_init(pointer, device_set, parts);
	slices->bytes += words_bytes + before_bytes + bits_bytes;
	slices->words = of_words;
	slices->before = before;
	slices->bits = bits;
	memcpy(hg_resident_address(of_words), words, parts * sizeof(uint32));
	return hg_graph_slices_allocate_bits(claim, slices) ? pointer : InvalidDsaPointer;
}

dsa_pointer
hg_graph_slices_make_like(HgResidentClaim *claim, HgDeviceSet device_set, const HgGraphSlices *other)
{
	dsa_pointer pointer = hg_resident_allocate(claim, sizeof(HgGraphSlices));
	HgGraphSlices *slices;

	if (!DsaPointerIsValid(pointer))
		return InvalidDsaPointer;
	slices = hg_graph_slices_init(pointer, device_set, other->parts);
	slices->borrows = true;
	slices->words = other->words;
	slices->before = other->before;
	slices->bits = other->bits;
	return pointer;
}

void
hg_graph_slices_view(const HgGraphSlices *slices, MemoryContext context, HgSlices *view)
{
	const dsa_pointer *chunks = hg_resident_address(slices->bits);
	const uint64 **bits = MemoryContextAlloc(context, Max(slices->parts, 1) * sizeof(uint64 *));

	for (uint32 part = 0; part < slices->parts; part++)
		bits[part] = DsaPointerIsValid(chunks[part]) ? hg_resident_address(chunks[part]) : NULL;
	*view = (HgSlices){.count = slices->count,
					   .parts = slices->parts,
					   .words = hg_resident_address(slices->words),
					   .bits = (const uint64_t *const *) bits,
					   .before = hg_resident_address(slices->before)};
}

void
hg_graph_slices_count(const HgGraphSlices *slices, const HgSlices *view)
{
	hg_slices_count(view, hg_resident_address(slices->before));
}

bool
hg_graph_slices_are_replicated(HgGraphSlices *slices, const HgReplicaHolders *holders)
{
	return (hg_device_copies_present(slices->copies, holders) & slices->device_set) == slices->device_set;
}

bool
hg_graph_slices_have_column(HgGraphSlices *slices, int column, const HgReplicaHolders *holders)
{
	return (hg_device_copies_present(slices->columns[column], holders) & slices->device_set) ==
		   slices->device_set;
}

void
hg_graph_slices_forget(HgGraphSlices *slices)
{
	hg_device_copies_forget(slices->copies);
	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		hg_device_copies_forget(slices->columns[i]);
}

Size
hg_graph_slices_replica_bytes(HgGraphSlices *slices, const HgReplicaHolders *holders)
{
	Size bytes = hg_device_copies_bytes(slices->copies, holders);

	for (int i = 0; i < HG_GRAPH_DEVICE_COLUMNS; i++)
		bytes += hg_device_copies_bytes(slices->columns[i], holders);
	return bytes;
}

/* Free the arrays of one; the bytes of all of it are counted by itself. */
static void
hg_graph_slices_free_arrays(const HgGraphSlices *slices)
{
	const dsa_pointer *bits = hg_resident_address(slices->bits);

	for (uint32 part = 0; part < slices->parts; part++)
		if (DsaPointerIsValid(bits[part]))
			hg_resident_free(bits[part], 0);
	hg_resident_free(slices->bits, 0);
	hg_resident_free(slices->before, 0);
	hg_resident_free(slices->words, 0);
}

void
hg_graph_slices_free(dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		const HgGraphSlices *slices = hg_graph_slices(pointer);
		const dsa_pointer next = slices->next;

		if (!slices->borrows)
			hg_graph_slices_free_arrays(slices);
		hg_resident_free(pointer, slices->bytes);
		pointer = next;
	}
}

Size
hg_graph_along_host_bytes(dsa_pointer pointer)
{
	Size bytes = 0;

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_along(pointer)->next)
		bytes += sizeof(HgGraphAlong);
	return bytes;
}

Size
hg_graph_along_replica_bytes(dsa_pointer pointer, const HgReplicaHolders *holders)
{
	Size bytes = 0;

	for (; DsaPointerIsValid(pointer); pointer = hg_graph_along(pointer)->next)
		bytes += hg_device_copies_bytes(hg_graph_along(pointer)->copies, holders);
	return bytes;
}

void
hg_graph_along_free(dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		const dsa_pointer next = hg_graph_along(pointer)->next;

		hg_resident_free(pointer, sizeof(HgGraphAlong));
		pointer = next;
	}
}
