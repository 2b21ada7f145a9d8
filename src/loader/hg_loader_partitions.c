/*-------------------------------------------------------------------------
 *
 * hg_loader_partitions.c
 *	  Partitioned tables that are resident stand for their partitions, present and future.
 *
 * Partitions are looked up without a lock of theirs: one that goes meanwhile, or is another thing,
 * the loader finds out.
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

#include "loader/hg_loader_partitions.h"

/* What a partitioned table's entry asks for. */
typedef struct HgPartitioned
{
	bool pinned;
	int ncolumns;
	AttrNumber *columns; /* [ncolumns] of the table's own numbers */
	int nkeys;
	HgKeyNumbers *keys; /* [nkeys] of graphs that are asked for, likewise */
} HgPartitioned;

/* Read it; false: there is no such entry. */
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

/*
 * Has a partition's entry all of these columns and keys, and was it made for this table, or another
 * one?
 */
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

/* The number that a partition has for a column of its table; 0: none. */
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

/* The same of a key; false: it has not all of the columns. */
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

/* Have a partition have an entry.  False: no memory. */
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
	/* it has gone meanwhile, or all columns have */
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
