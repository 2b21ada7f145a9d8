/*-------------------------------------------------------------------------
 *
 * hg_loader_partitions.c
 *	  Entries of partitioned tables, which stand for their present and future partitions.
 *
 * Partitions are looked up without locking them.  If one is dropped meanwhile, or is no table, the
 * loader notices.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "nodes/pg_list.h"
#include "utils/lsyscache.h"

#include "loader/hg_loader_plan.h"

/* What a partitioned table's entry requests. */
typedef struct HgPartitioned
{
	bool pinned;
	int ncolumns;
	AttrNumber *columns; /* [ncolumns], numbers of the partitioned table */
	int nkeys;
	HgKeyNumbers *keys; /* [nkeys] of graphs, with the same numbers */
} HgPartitioned;

/* Reads an entry; returns false if there is none. */
static bool
hg_partitions_read(HgResidentRelation parent, int natts, HgPartitioned *asked)
{
	HgDirectoryEntry *entry;

	asked->ncolumns = 0;
	asked->columns = palloc(Max(natts, 1) * sizeof(AttrNumber));
	asked->nkeys = hg_directory_graph_keys(parent, &asked->keys);
	entry = hg_directory_lock(parent, false);
	if (entry == NULL)
		return false;
	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		const HgDirectoryColumn *column = &hg_directory_columns(entry)[i];

		if (column->number > natts)
			continue;
		asked->pinned = column->pinned;
		asked->columns[asked->ncolumns++] = column->number;
	}
	hg_directory_unlock(entry);
	return true;
}

/* Returns true if a partition has an entry with all of these, whichever table it was made for. */
static bool
hg_partitions_is_there(const HgDirectoryRequest *request)
{
	HgDirectoryEntry *entry = hg_directory_lock(request->key, false);
	bool there = true;

	if (entry == NULL)
		return false;
	for (int i = 0; i < request->ncolumns && there; i++)
		there = hg_directory_find_column(entry, request->columns[i]) != NULL;
	for (int i = 0; i < request->nkeys && there; i++)
		there = hg_directory_find_graph(entry, &request->keys[i]) != NULL;
	hg_directory_unlock(entry);
	return there;
}

/* Returns the number of a table's column in a partition; 0 if it has none. */
static AttrNumber
hg_partitions_number(Relation rel, Oid partition, AttrNumber number)
{
	const FormData_pg_attribute *attribute;
	AttrNumber found;

	if (number > RelationGetNumberOfAttributes(rel))
		return InvalidAttrNumber;
	attribute = TupleDescAttr(RelationGetDescr(rel), number - 1);
	if (attribute->attisdropped)
		return InvalidAttrNumber;
	found = get_attnum(partition, NameStr(attribute->attname));
	return Max(found, InvalidAttrNumber);
}

/* Translates a key to a partition's numbers; false if the partition lacks a column. */
static bool
hg_partitions_key(Relation rel, Oid partition, const HgKeyNumbers *of, HgKeyNumbers *key)
{
	*key = (HgKeyNumbers){.n = of->n};
	for (int i = 0; i < of->n; i++)
	{
		key->numbers[i] = hg_partitions_number(rel, partition, of->numbers[i]);
		if (key->numbers[i] == InvalidAttrNumber)
			return false;
	}
	return true;
}

/* Makes a partition's entry.  Returns false if there is no memory. */
static bool
hg_partitions_ask(Relation rel, const HgPartitioned *asked, Oid partition)
{
	HgResidentRelation parent = hg_resident_relation(rel);
	AttrNumber *columns = palloc(Max(asked->ncolumns, 1) * sizeof(AttrNumber));
	HgKeyNumbers *keys = palloc(Max(asked->nkeys, 1) * sizeof(HgKeyNumbers));
	const char *name = get_rel_name(partition);
	HgDirectoryRequest request = {
		.key = {.database = parent.database, .relation = partition},
		.name = name,
		.parent = parent.relation,
		.pinned = asked->pinned,
		.columns = columns,
		.keys = keys,
	};

	for (int i = 0; i < asked->ncolumns; i++)
	{
		AttrNumber number = hg_partitions_number(rel, partition, asked->columns[i]);

		if (number != InvalidAttrNumber)
			columns[request.ncolumns++] = number;
	}
	for (int i = 0; i < asked->nkeys; i++)
		request.nkeys += hg_partitions_key(rel, partition, &asked->keys[i], &keys[request.nkeys]);
	/* the partition is gone, or all of its columns */
	if (name == NULL || request.ncolumns == 0)
		return true;
	return hg_partitions_is_there(&request) || hg_directory_ask(&request) != HG_REASON_NO_MEMORY;
}

int
hg_partitions_list(HgResidentRelation parent, HgResidentRelation **keys)
{
	int nkeys = hg_directory_list(parent.database, keys);
	int n = 0;

	for (int i = 0; i < nkeys; i++)
	{
		HgDirectoryEntry *entry = hg_directory_lock((*keys)[i], false);

		if (entry == NULL)
			continue;
		if (entry->parent == parent.relation)
			(*keys)[n++] = (*keys)[i];
		hg_directory_unlock(entry);
	}
	return n;
}

bool
hg_partitions_follow(Relation rel)
{
	HgResidentRelation parent = hg_resident_relation(rel);
	HgPartitioned asked = {0};
	HgResidentRelation *keys;
	List *partitions;
	ListCell *cell;
	bool all = true;
	int nkeys;

	if (!hg_partitions_read(parent, RelationGetNumberOfAttributes(rel), &asked))
		return true;
	partitions = find_all_inheritors(parent.relation, NoLock, NULL);
	foreach (cell, partitions)
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_RELATION)
			all &= hg_partitions_ask(rel, &asked, lfirst_oid(cell));
	nkeys = hg_partitions_list(parent, &keys);
	for (int i = 0; i < nkeys; i++)
		if (!list_member_oid(partitions, keys[i].relation))
			(void) hg_directory_forget_relation(keys[i]);
	pfree(keys);
	return all;
}

void
hg_partitions_forget(HgResidentRelation parent, List *columns)
{
	HgResidentRelation *keys;
	int nkeys = hg_partitions_list(parent, &keys);

	for (int i = 0; i < nkeys; i++)
	{
		List *numbers = NIL;
		HgDirectoryEntry *entry;
		ListCell *cell;

		foreach (cell, columns)
			numbers = lappend_int(numbers, get_attnum(keys[i].relation, lfirst(cell)));
		entry = hg_directory_lock(keys[i], true);
		if (entry == NULL)
			continue;
		foreach (cell, numbers)
			(void) hg_directory_remove_column(entry, (AttrNumber) lfirst_int(cell));
		if (columns == NIL || entry->ncolumns == 0)
			hg_directory_remove(entry);
		else
		{
			entry->wanted = true;
			hg_directory_unlock(entry);
		}
	}
	pfree(keys);
}
