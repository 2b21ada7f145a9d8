/*-------------------------------------------------------------------------
 *
 * hg_resident_directory_entry.c
 *	  Functions that read a locked entry of the directory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_graph_version.h"

HgSegmentSlot *
hg_directory_slots(const HgDirectoryEntry *entry)
{
	return entry->slots_size > 0 ? hg_resident_address(entry->slots) : NULL;
}

HgDirectoryColumn *
hg_directory_columns(const HgDirectoryEntry *entry)
{
	return entry->columns_size > 0 ? hg_resident_address(entry->columns) : NULL;
}

HgDirectoryGraph *
hg_directory_graphs(const HgDirectoryEntry *entry)
{
	return entry->graphs_size > 0 ? hg_resident_address(entry->graphs) : NULL;
}

HgDirectoryColumn *
hg_directory_find_column(const HgDirectoryEntry *entry, AttrNumber number)
{
	HgDirectoryColumn *columns = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
		if (columns[i].number == number)
			return &columns[i];
	return NULL;
}

HgDirectoryGraph *
hg_directory_find_graph(const HgDirectoryEntry *entry, const HgKeyNumbers *key)
{
	HgDirectoryGraph *graphs = hg_directory_graphs(entry);

	for (uint32 i = 0; i < entry->ngraphs; i++)
		if (hg_key_numbers_equal(&graphs[i].key, key))
			return &graphs[i];
	return NULL;
}

TimestampTz
hg_directory_values_used_at(const HgDirectoryEntry *entry, AttrNumber number)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);
	TimestampTz used_at = 0;

	for (uint32 i = 0; i < entry->nslots; i++)
	{
		HgSegmentVersion *version;

		if (!DsaPointerIsValid(slots[i].version))
			continue;
		version = hg_segment_version(slots[i].version);
		for (uint32 k = 0; k < version->ncolumns; k++)
			if (number == InvalidAttrNumber || version->columns[k].column.number == number)
				used_at = Max(used_at, hg_segment_used_at(version, (int) k));
	}
	return used_at;
}

TimestampTz
hg_directory_used_at(const HgDirectoryEntry *entry)
{
	const HgDirectoryColumn *columns = hg_directory_columns(entry);
	const HgDirectoryGraph *graphs = hg_directory_graphs(entry);
	TimestampTz used_at = hg_directory_values_used_at(entry, InvalidAttrNumber);

	for (uint32 i = 0; i < entry->ncolumns; i++)
		used_at = Max(used_at, columns[i].asked_at);
	for (uint32 i = 0; i < entry->ngraphs; i++)
		if (DsaPointerIsValid(graphs[i].version))
			used_at = Max(used_at, hg_graph_version_used_at(hg_graph_version(graphs[i].version)));
	return used_at;
}

bool
hg_directory_takes_in(const HgDirectoryEntry *entry)
{
	const HgDirectoryColumn *columns = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
		if (!columns[i].evicted)
			return true;
	return false;
}

bool
hg_directory_is_empty(const HgDirectoryEntry *entry)
{
	const HgSegmentSlot *slots = hg_directory_slots(entry);

	for (uint32 i = 0; i < entry->nslots; i++)
		if (DsaPointerIsValid(slots[i].version))
			return false;
	return true;
}
