/*-------------------------------------------------------------------------
 *
 * hg_resident_list.c
 *	  The list file: names of cached tables, columns and keys, which outlives the server.
 *
 * The file has a header, and for each table an item followed by its columns:
 *
 *	HgListHeader	identification, length, and a checksum of all that follows
 *	HgListItem, HgListColumn[ncolumns], including those of keys
 *	...
 *
 * It is written to a temporary file and renamed (durable_rename), so that a crash leaves either
 * the old or the new file.  One lock serializes writers and the reader, and is held throughout.  A
 * process that finds that the file was read does not need it.  Warnings are raised after the lock
 * is released: while it is held a cancel has no effect, and a client may not read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"

#include "resident/hg_resident_directory.h"
#include "resident/hg_resident_list.h"

#define HG_LIST_PATH "hashgraph_resident.list"
#define HG_LIST_NEW_PATH HG_LIST_PATH ".new"

#define HG_LIST_MAGIC 0x48475231 /* HGR1 */

/* A longer file was not written here. */
#define HG_LIST_MAX_BYTES (256 * 1024 * 1024)

typedef struct HgListHeader
{
	uint32 magic;
	uint32 items;
	uint32 bytes; /* number of bytes that follow */
	pg_crc32c checksum;
} HgListHeader;

/* Flags of an item. */
#define HG_LIST_PARTITIONED 1
#define HG_LIST_AUTOMATIC 2

typedef struct HgListItem
{
	HgResidentRelation key;
	Oid parent;
	uint16 flags; /* HG_LIST_PARTITIONED, HG_LIST_AUTOMATIC */
	uint16 ncolumns;
	TimestampTz used_at;
	NameData name;
} HgListItem;

/*
 * Flags of a column.  HG_LIST_KEY marks a key of one column.  A key of several columns follows the
 * columns, as columns again: HG_LIST_KEY_FIRST, then HG_LIST_KEY_NEXT.  Lists from before there
 * were graphs have none of these.
 */
#define HG_LIST_PINNED 1
#define HG_LIST_KEY 2
#define HG_LIST_KEY_FIRST 4
#define HG_LIST_KEY_NEXT 8

typedef struct HgListColumn
{
	AttrNumber number;
	uint16 flags; /* HG_LIST_PINNED etc. */
} HgListColumn;

typedef struct HgListShared
{
	pg_atomic_uint32 loaded; /* becomes 1 under HG_RESIDENT_LOCK_LIST, which protects the others */
	bool kept;		/* the file was too long or unreadable; only a changed directory replaces it */
	uint64 written; /* value of hg_directory_changes() that the file contains */
} HgListShared;

/* A problem with the list file. */
typedef enum HgListProblem
{
	HG_LIST_FINE = 0,
	HG_LIST_UNREADABLE, /* errno says why */
	HG_LIST_DAMAGED,
	HG_LIST_TOO_LONG /* for the area */
} HgListProblem;

static HgListShared *shared = NULL;

void
hg_list_request(void)
{
	hg_resident_shared_request(sizeof(HgListShared));
}

void
hg_list_startup(void)
{
	bool is_new;

	shared = hg_resident_shared_startup("hashgraph resident list", sizeof(HgListShared), &is_new);
	if (is_new)
		pg_atomic_init_u32(&shared->loaded, 0);
}

static pg_crc32c
hg_list_checksum(const char *data, Size bytes)
{
	pg_crc32c checksum;

	INIT_CRC32C(checksum);
	COMP_CRC32C(checksum, data, bytes);
	FIN_CRC32C(checksum);
	return checksum;
}

/*
 * ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------
 */

/* Returns the whole file in CurrentMemoryContext; NULL if there is none, or it can't be opened. */
static char *
hg_list_read(Size *bytes, HgListProblem *problem)
{
	int file = OpenTransientFile(HG_LIST_PATH, O_RDONLY | PG_BINARY);
	struct stat status;
	char *data = NULL;
	Size have = 0;

	if (file < 0)
	{
		if (errno != ENOENT)
			*problem = HG_LIST_UNREADABLE;
		return NULL;
	}
	if (fstat(file, &status) == 0 && status.st_size <= HG_LIST_MAX_BYTES)
	{
		ssize_t got = 1;

		data = palloc(status.st_size + 1);
		while (have < (Size) status.st_size && got > 0)
		{
			got = read(file, data + have, status.st_size - have);
			have += Max(got, 0);
		}
	}
	CloseTransientFile(file);
	*bytes = have;
	return data != NULL ? data : pstrdup("");
}

/* Reads the item at *at, and moves *at to its columns.  Returns false if it is incomplete. */
static bool
hg_list_next(const char *data, Size bytes, Size *at, HgListItem *item)
{
	if (bytes - *at < sizeof(HgListItem))
		return false;
	memcpy(item, data + *at, sizeof(HgListItem));
	*at += sizeof(HgListItem);
	return item->ncolumns > 0 && (bytes - *at) / sizeof(HgListColumn) >= item->ncolumns &&
		   memchr(NameStr(item->name), '\0', NAMEDATALEN) != NULL;
}

/* Returns true if the list is undamaged. */
static bool
hg_list_is_good(const char *data, Size bytes, HgListHeader *header)
{
	Size at = sizeof(HgListHeader);

	if (bytes < sizeof(HgListHeader))
		return false;
	memcpy(header, data, sizeof(HgListHeader));
	if (header->magic != HG_LIST_MAGIC || header->bytes != bytes - sizeof(HgListHeader) ||
		header->checksum != hg_list_checksum(data + sizeof(HgListHeader), header->bytes))
		return false;
	for (uint32 i = 0; i < header->items; i++)
	{
		HgListItem item;

		if (!hg_list_next(data, bytes, &at, &item))
			return false;
		for (int c = 0; c < item.ncolumns; c++, at += sizeof(HgListColumn))
		{
			HgListColumn column;

			memcpy(&column, data + at, sizeof(HgListColumn));
			if (column.number <= 0)
				return false;
		}
	}
	return at == bytes;
}

/* Returns the i-th of an item's columns. */
static HgListColumn
hg_list_column(const char *columns, int i)
{
	HgListColumn column;

	memcpy(&column, columns + i * sizeof(HgListColumn), sizeof(HgListColumn));
	return column;
}

/* Returns true if the i-th of an item's columns begins a key, and sets *key. */
static bool
hg_list_key(const HgListItem *item, const char *columns, int i, HgKeyNumbers *key)
{
	HgListColumn column = hg_list_column(columns, i);

	*key = (HgKeyNumbers){.n = 1, .numbers = {column.number}};
	if ((column.flags & HG_LIST_KEY_FIRST) == 0)
		return (column.flags & HG_LIST_KEY) != 0;
	while (++i < item->ncolumns && key->n < HG_GRAPH_COLUMNS)
	{
		column = hg_list_column(columns, i);
		if ((column.flags & HG_LIST_KEY_NEXT) == 0)
			break;
		key->numbers[key->n++] = column.number;
	}
	return true;
}

/* Makes an item's entry.  Returns false if there is no memory. */
static bool
hg_list_take(const HgListItem *item, const char *columns)
{
	bool found;
	bool all = true;
	HgDirectoryEntry *entry;

	/* an error of the directory would lose the rest of the list */
	if (!hg_resident_has_room(HG_DIRECTORY_ROOM))
		return false;
	entry = hg_directory_lock_new(item->key, &found);
	if (!found)
	{
		entry->name = item->name;
		entry->parent = item->parent;
		entry->partitioned = (item->flags & HG_LIST_PARTITIONED) != 0;
		entry->automatic = (item->flags & HG_LIST_AUTOMATIC) != 0;
		entry->listed = true;
		entry->state = entry->partitioned ? HG_RESIDENT_READY : HG_RESIDENT_QUEUED;
		entry->wanted = !entry->partitioned;
	}
	for (int i = 0; i < item->ncolumns && all; i++)
	{
		HgListColumn column = hg_list_column(columns, i);
		HgKeyNumbers key;

		if ((column.flags & (HG_LIST_KEY_FIRST | HG_LIST_KEY_NEXT)) == 0)
			all =
				hg_directory_add_column(entry, column.number, (column.flags & HG_LIST_PINNED) != 0);
		if (all && hg_list_key(item, columns, i, &key))
			all = hg_directory_add_key(entry, &key) == HG_REASON_NONE;
	}
	if (entry->ncolumns == 0)
	{
		hg_directory_remove(entry);
		return false;
	}
	hg_directory_set_asked_at(entry, item->used_at);
	hg_directory_unlock(entry);
	return all;
}

/* Makes the entries of an undamaged list.  Returns the number of items that found no memory. */
static uint32
hg_list_take_all(const char *data, Size bytes, uint32 items)
{
	Size at = sizeof(HgListHeader);

	for (uint32 i = 0; i < items; i++)
	{
		HgListItem item;

		(void) hg_list_next(data, bytes, &at, &item);
		if (!hg_list_take(&item, data + at))
			return items - i;
		at += item.ncolumns * sizeof(HgListColumn);
	}
	return 0;
}

/* Raises the warning for a problem; errno belongs to the problem. */
static void
hg_list_warn(HgListProblem problem, uint32 left, uint32 items)
{
	switch (problem)
	{
		case HG_LIST_FINE:
			break;
		case HG_LIST_UNREADABLE:
			ereport(WARNING, (errcode_for_file_access(),
							  errmsg("could not open file \"%s\": %m", HG_LIST_PATH),
							  errdetail("What was resident is not taken in again.")));
			break;
		case HG_LIST_DAMAGED:
			ereport(WARNING,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("list of resident tables \"%s\" is damaged, and ignored", HG_LIST_PATH),
					 errhint("Name the tables again with hashgraph_resident_add().")));
			break;
		case HG_LIST_TOO_LONG:
			ereport(WARNING, (errcode(ERRCODE_OUT_OF_MEMORY),
							  errmsg("%u of %u tables that were resident are not taken in again",
									 left, items),
							  errdetail("File \"%s\" names them until tables are added or dropped.",
										HG_LIST_PATH),
							  errhint("Increase hashgraph.resident_memory.")));
			break;
	}
}

void
hg_list_load(void)
{
	LWLock *lock = hg_resident_lock(HG_RESIDENT_LOCK_LIST);
	HgListProblem problem = HG_LIST_FINE;
	HgListHeader header = {0};
	uint32 left = 0;
	int error = 0;

	if (pg_atomic_read_u32(&shared->loaded) != 0)
		return;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (pg_atomic_read_u32(&shared->loaded) == 0)
	{
		Size bytes;
		char *data = hg_list_read(&bytes, &problem);

		error = errno;
		if (data != NULL && hg_list_is_good(data, bytes, &header))
			left = hg_list_take_all(data, bytes, header.items);
		else if (data != NULL)
			problem = HG_LIST_DAMAGED;
		if (left > 0)
			problem = HG_LIST_TOO_LONG;
		shared->kept = problem == HG_LIST_TOO_LONG || problem == HG_LIST_UNREADABLE;
		shared->written = hg_directory_changes();
		pg_write_barrier();
		pg_atomic_write_u32(&shared->loaded, 1);
	}
	LWLockRelease(lock);
	errno = error;
	hg_list_warn(problem, left, header.items);
}

/*
 * ------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------
 */

/* Appends a column to the data. */
static void
hg_list_add_column(StringInfo data, HgListItem *item, AttrNumber number, uint16 flags)
{
	HgListColumn column = {.number = number, .flags = flags};

	appendBinaryStringInfo(data, (char *) &column, sizeof(column));
	item->ncolumns++;
}

/* Appends a locked entry's columns and keys. */
static void
hg_list_add_columns(StringInfo data, HgListItem *item, const HgDirectoryEntry *entry)
{
	const HgDirectoryColumn *columns = hg_directory_columns(entry);

	for (uint32 i = 0; i < entry->ncolumns; i++)
	{
		HgKeyNumbers key = {.n = 1, .numbers = {columns[i].number}};

		hg_list_add_column(data, item, columns[i].number,
						   (columns[i].pinned ? HG_LIST_PINNED : 0) |
							   (hg_directory_find_graph(entry, &key) != NULL ? HG_LIST_KEY : 0));
	}
	for (uint32 i = 0; i < entry->ngraphs; i++)
	{
		const HgKeyNumbers *key = &hg_directory_graphs(entry)[i].key;

		for (int k = 0; k < key->n && key->n > 1; k++)
			hg_list_add_column(data, item, key->numbers[k],
							   k == 0 ? HG_LIST_KEY_FIRST : HG_LIST_KEY_NEXT);
	}
}

/* Appends a table's item. */
static void
hg_list_add(StringInfo data, HgResidentRelation key, uint32 *items)
{
	HgDirectoryEntry *entry = hg_directory_lock(key, false);
	HgListItem item = {.key = key};
	Size at = data->len;

	if (entry == NULL)
		return;
	if (entry->ncolumns == 0)
	{
		hg_directory_unlock(entry);
		return;
	}
	item.parent = entry->parent;
	item.flags =
		(entry->partitioned ? HG_LIST_PARTITIONED : 0) | (entry->automatic ? HG_LIST_AUTOMATIC : 0);
	item.used_at = hg_directory_used_at(entry);
	item.name = entry->name;
	appendBinaryStringInfo(data, (char *) &item, sizeof(item));
	hg_list_add_columns(data, &item, entry);
	hg_directory_unlock(entry);
	/* now the number of columns is known */
	memcpy(data->data + at, &item, sizeof(item));
	(*items)++;
}

/* Replaces the file.  Returns false, with errno, on failure. */
static bool
hg_list_replace(const char *data, Size bytes)
{
	int file = OpenTransientFile(HG_LIST_NEW_PATH, O_CREAT | O_TRUNC | O_WRONLY | PG_BINARY);
	Size done = 0;

	while (file >= 0 && done < bytes)
	{
		ssize_t written = write(file, data + done, bytes - done);

		if (written <= 0)
		{
			errno = errno != 0 ? errno : ENOSPC;
			break;
		}
		done += written;
	}
	if (file >= 0)
	{
		int error = errno;

		CloseTransientFile(file);
		errno = error;
	}
	return done == bytes && durable_rename(HG_LIST_NEW_PATH, HG_LIST_PATH, LOG) == 0;
}

void
hg_list_write(bool always)
{
	LWLock *lock = hg_resident_lock(HG_RESIDENT_LOCK_LIST);
	HgListHeader header = {.magic = HG_LIST_MAGIC};
	HgResidentRelation *keys;
	StringInfoData data;
	uint64 changes;
	bool done;
	int error;
	int nkeys;

	hg_list_load();
	LWLockAcquire(lock, LW_EXCLUSIVE);
	changes = hg_directory_changes();
	if (shared->written == changes && (!always || shared->kept))
	{
		LWLockRelease(lock);
		return;
	}
	nkeys = hg_directory_list(InvalidOid, &keys);
	initStringInfo(&data);
	appendBinaryStringInfo(&data, (char *) &header, sizeof(header));
	for (int i = 0; i < nkeys; i++)
		hg_list_add(&data, keys[i], &header.items);
	header.bytes = data.len - sizeof(header);
	header.checksum = hg_list_checksum(data.data + sizeof(header), header.bytes);
	memcpy(data.data, &header, sizeof(header));
	done = hg_list_replace(data.data, data.len);
	error = errno;
	if (done)
	{
		shared->written = changes;
		shared->kept = false;
	}
	LWLockRelease(lock);
	errno = error;
	if (!done)
		ereport(WARNING,
				(errcode_for_file_access(), errmsg("could not write file \"%s\": %m", HG_LIST_PATH),
				 errdetail("What is resident now is not the same after a restart.")));
	pfree(data.data);
	pfree(keys);
}
