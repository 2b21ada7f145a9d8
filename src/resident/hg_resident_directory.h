/*-------------------------------------------------------------------------
 *
 * hg_resident_directory.h
 *	  The directory: which tables, columns and graphs are or shall be cached, and their segments.
 *
 * A VERSION is an immutable copy in shared memory: of a segment, which is HG_SEGMENT_BLOCKS blocks
 * of a table (hg_resident_version.h), or of a graph, which is a cached HashGraph
 * (hg_resident_graph_version.h).  Each requested table has an ENTRY.  It has the requested columns
 * with their states, the requested graphs, the file that the segments are of, and a SLOT for each
 * segment.  A slot has the segment's version, and the RECORD that says which of its blocks may be
 * valid.
 *
 * A record belongs to one version and to one generation of the database's chain.  Blocks are only
 * removed from a record; a block that was removed is valid again only in a new record.
 * hg_resident_validity.c and hg_resident_chain.h say which processes read and write records, and in
 * which order.
 *
 * LOCKS.  Entries are found with the lock of their partition of the hash table, shared or
 * exclusive.  It protects the entry and its slots, and keeps the versions that they name from
 * being freed.  Functions that change a locked entry need an exclusive lock, unless they say that a
 * shared one is enough.  The lock is an LWLock: while it is held, interrupts are held off, and the
 * process must not wait, read files or access catalogs.  An error releases it.
 *
 * The directory is a cache: what it says of a table may be wrong as soon as the lock is released.
 * Nothing in it is transactional.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_DIRECTORY_H
#define HG_RESIDENT_DIRECTORY_H

#include "hg_compat.h"

#include "datatype/timestamp.h"

#include "resident/hg_resident_graph_key.h"
#include "resident/hg_resident_key.h"
#include "resident/hg_resident_memory.h"
#include "resident/hg_resident_version.h"

typedef enum HgResidentState
{
	HG_RESIDENT_QUEUED = 0, /* requested; nothing is loaded */
	HG_RESIDENT_LOADING,
	HG_RESIDENT_READY,	  /* everything that can be loaded is */
	HG_RESIDENT_DECLINED, /* the reason says why it is not loaded */
	HG_RESIDENT_EVICTED	  /* a column or graph; a scan or join may request it again */
} HgResidentState;

typedef enum HgResidentReason
{
	HG_REASON_NONE = 0,
	HG_REASON_NO_MEMORY,
	HG_REASON_NO_POSITION, /* some blocks have no LSN; the others are loaded */
	HG_REASON_NOT_VISIBLE, /* no block is all-visible, so none is loaded; only in reports */
	HG_REASON_NO_WORKER,   /* no background worker; still queued */
	HG_REASON_FAILED,	   /* an error, which is in the log */
	HG_REASON_NOT_HEAP,
	HG_REASON_NOT_PERMANENT,
	HG_REASON_NOT_TABLE,
	HG_REASON_OLD_SNAPSHOTS,
	HG_REASON_COLUMN_STRING,
	HG_REASON_COLUMN_VIRTUAL,
	HG_REASON_COLUMN_DROPPED,
	/* Reasons for graphs. */
	HG_REASON_GRAPH_TYPE,
	HG_REASON_GRAPH_SEGMENTS,
	HG_REASON_GRAPH_NUMBER, /* too many graphs; the request was refused */
	HG_REASON_GRAPH_BIN,
	HG_REASON_GRAPH_FAILED, /* an error, which is in the log */
	HG_RESIDENT_REASONS		/* number of reasons */
} HgResidentReason;

/* A requested graph. */
typedef struct HgDirectoryGraph
{
	HgKeyNumbers key;	 /* its columns, which are requested too */
	uint8 state;		 /* HgResidentState */
	uint8 reason;		 /* HgResidentReason */
	bool wanted;		 /* a loader shall make it now */
	bool asked;			 /* a join has missed it; set under a shared lock */
	dsa_pointer version; /* see hg_resident_graph_version.h; InvalidDsaPointer: none */
	uint64 made_of;		 /* the entry's replacements when its slots were read to make the version */
	TimestampTz tried_at; /* when a loader tried to make it, or it was evicted */
	Size declined_with;	  /* bytes of the area in use when it was declined for lack of memory */
} HgDirectoryGraph;

/* A requested column. */
typedef struct HgDirectoryColumn
{
	AttrNumber number;
	uint8 state;			  /* HgResidentState */
	uint8 reason;			  /* HgResidentReason */
	bool pinned;			  /* never evicted */
	bool evicted;			  /* not loaded again until it is requested */
	bool asked;				  /* a scan has missed it; set under a shared lock */
	TimestampTz asked_at;	  /* when a scan missed it last, or a user requested it */
	HgResidentColumn planned; /* definition that a loader found last; number 0: not to be loaded */
} HgDirectoryColumn;

/* A position in a database's chain of snapshots: see hg_resident_chain.h. */
typedef struct HgChainPosition
{
	uint64 generation; /* 0: none */
	uint64 round;
} HgChainPosition;

/* The blocks of a version that may be valid. */
typedef struct HgSegmentRecord
{
	HgChainPosition position; /* where it joined; the entry has the last observation */
	HgBlockBits blocks;
} HgSegmentRecord;

typedef struct HgSegmentSlot
{
	dsa_pointer version; /* InvalidDsaPointer: none */
	HgSegmentRecord record;
	/* Found by the last observation: */
	uint16 visible;	 /* number of all-visible blocks */
	uint16 loadable; /* number of those that are not in the record */
	uint16 refused;	 /* number of those that had no LSN when they were read */
	uint16 rested;	 /* number of observations since loadable last grew; HG_RESTED_ROUNDS at most */
	bool wanted;	 /* to be loaded (again) */
	bool evicted;	 /* the whole version was evicted */
	/*
	 * Only in the first slot below a page of the map: if all of the page's bits are set again, the
	 * next observation changes none of its slots, unless the entry is disturbed.
	 */
	bool quiet;
} HgSegmentSlot;

typedef struct HgDirectoryEntry
{
	HgResidentRelation key;
	NameData name; /* of the table */
	bool listed; /* read from the list file, and not checked since: the table may be another one */
	bool partitioned; /* a partitioned table; its partitions have entries of their own */
	bool automatic;	  /* requested by scans alone */
	Oid parent;		  /* partitioned table whose request made the entry, or invalid */
	HgResidentFile file;
	BlockNumber nblocks; /* of the table, at the last observation or load */
	uint32 nslots;
	uint32 slots_size; /* number of slots that are allocated */
	uint32 ncolumns;
	uint32 columns_size;
	uint32 ngraphs;
	uint32 graphs_size;
	dsa_pointer slots;	 /* HgSegmentSlot[slots_size]; invalid if that is 0 */
	dsa_pointer columns; /* HgDirectoryColumn[columns_size], by number */
	dsa_pointer graphs;	 /* HgDirectoryGraph[graphs_size] */
	uint8 state;		 /* HgResidentState */
	uint8 reason;		 /* HgResidentReason */
	bool wanted;		 /* there is work for a loader */
	pid_t loader;		 /* pid of the process that loads it, if that still runs; 0: none */
	TimestampTz loaded_at;
	uint64 loads; /* number of segments that were loaded */
	/* Observations (hg_resident_chain.h): */
	uint64 observing;		  /* round of the last one that began */
	HgChainPosition observed; /* position of the last one that saw all slots */
	bool disturbed;			  /* a slot was changed by others since that began */
	/* What graphs are made of: */
	uint64 replacements;	 /* number of versions that slots got or lost */
	TimestampTz replaced_at; /* when a slot got or lost one last */
	Size declined_with;		 /* bytes of the area in use when it was declined for lack of memory */
} HgDirectoryEntry;

/* Maximum number of graphs of an entry. */
#define HG_DIRECTORY_GRAPHS 1024

/* Requests shared memory for the directory, while the server starts. */
extern void hg_directory_request(void);
/* Initializes the reserved memory, after the area (hg_resident_memory.h) was created. */
extern void hg_directory_startup(void);

/* Locks the entry of a table and returns it, until hg_directory_unlock; NULL if there is none. */
extern HgDirectoryEntry *hg_directory_lock(HgResidentRelation key, bool exclusive);
/*
 * Returns the entry of a table, locked exclusively.  Makes an empty one if there is none, and sets
 * *found to false.  Raises an error if there is no memory.
 */
extern HgDirectoryEntry *hg_directory_lock_new(HgResidentRelation key, bool *found);
/* Unlocks an entry.  The caller must not use it, nor what it has, any more. */
extern void hg_directory_unlock(HgDirectoryEntry *entry);

/* Returns slots[nslots] of a locked entry; NULL if there are none. */
extern HgSegmentSlot *hg_directory_slots(const HgDirectoryEntry *entry);
/* Returns columns[ncolumns] of a locked entry, by number; NULL if there are none. */
extern HgDirectoryColumn *hg_directory_columns(const HgDirectoryEntry *entry);
/* Returns graphs[ngraphs] of a locked entry; NULL if there are none. */
extern HgDirectoryGraph *hg_directory_graphs(const HgDirectoryEntry *entry);

/*
 * Makes a locked entry one of this file with nslots segments.  Frees the versions of another file,
 * and those of segments beyond nslots.  Returns false if there is no memory for slots.
 */
extern bool hg_directory_set_file(HgDirectoryEntry *entry, HgResidentFile file, uint32 nslots);

/*
 * Makes a locked entry one of a file that has replaced its previous file, whose versions are freed.
 * If the previous file was declined for lack of memory or all columns were evicted, marks the
 * columns as missed by a scan, because the new file may be smaller.  A scan could not mark them
 * itself, as the entry has no slots now.
 */
extern void hg_directory_replace_file(HgDirectoryEntry *entry, HgResidentFile file);

/*
 * Removes the slots of a locked entry from number n (from 0) on, with their versions.  If n is 0,
 * also removes the versions of all graphs and queues the graphs.
 */
extern void hg_directory_truncate(HgDirectoryEntry *entry, uint32 n);

/* A request for a table with columns. */
typedef struct HgDirectoryRequest
{
	HgResidentRelation key;
	const char *name;
	bool partitioned;
	Oid parent; /* for a new entry; an existing one keeps its own */
	bool pinned;
	bool automatic; /* by a scan, not by a user */
	int ncolumns;
	const AttrNumber *columns; /* [ncolumns] */
	int nkeys;
	const HgKeyNumbers *keys; /* [nkeys] of graphs, with columns of this or earlier requests */
} HgDirectoryRequest;

/* Prefetches the version of the slot HG_VERSIONS_AHEAD slots after the i-th. */
static inline void
hg_directory_prefetch(const HgSegmentSlot *slots, uint32 nslots, uint32 i)
{
	if (i + HG_VERSIONS_AHEAD < nslots && DsaPointerIsValid(slots[i + HG_VERSIONS_AHEAD].version))
		hg_segment_version_prefetch(slots[i + HG_VERSIONS_AHEAD].version);
}

/* Bytes of the area that a new entry may need, with the growth of the hash table. */
#define HG_DIRECTORY_ROOM (64 * 1024)

/*
 * Moves those of columns[ncolumns] that the table's entry does not have to the front of the array.
 * Returns their number.
 */
extern int hg_directory_unnamed(HgResidentRelation key, AttrNumber *columns, int ncolumns);

/*
 * Adds the columns and graphs of a request to the table's entry, which is made if there is none,
 * and marks the table to be loaded unless it is partitioned.  Returns HG_REASON_NONE, or why some
 * were not added: HG_REASON_NO_MEMORY or HG_REASON_GRAPH_NUMBER.  Raises an error if the hash table
 * cannot grow after all.
 */
extern HgResidentReason hg_directory_ask(const HgDirectoryRequest *request);

/* Sets asked_at of all columns of a locked entry. */
extern void hg_directory_set_asked_at(HgDirectoryEntry *entry, TimestampTz asked_at);

/* Returns a counter that grows whenever the requested tables, columns or graphs change. */
extern uint64 hg_directory_changes(void);

/*
 * Returns false if a locked entry was read from the list file with another name: the table is
 * another one.  Otherwise stores the name, which may have changed.
 */
extern bool hg_directory_check_name(HgDirectoryEntry *entry, const char *name);

/* Adds a column to a locked entry, or requests it again, evicted or not.  False: no memory. */
extern bool hg_directory_add_column(HgDirectoryEntry *entry, AttrNumber number, bool pinned);
/*
 * Requests the graph of a key, if a locked entry has all of its columns.  Returns HG_REASON_NONE,
 * HG_REASON_NO_MEMORY or HG_REASON_GRAPH_NUMBER.
 */
extern HgResidentReason hg_directory_add_key(HgDirectoryEntry *entry, const HgKeyNumbers *key);
/* Removes a column from a locked entry, with its graphs; false if there is no such column. */
extern bool hg_directory_remove_column(HgDirectoryEntry *entry, AttrNumber number);

/* Records that a scan has missed a column, if the entry has it.  A shared lock is enough. */
extern void hg_directory_note_missing(HgDirectoryEntry *entry, AttrNumber number, TimestampTz now);

/* Returns when a scan last used values of a column, or of any with InvalidAttrNumber; 0: never. */
extern TimestampTz hg_directory_values_used_at(const HgDirectoryEntry *entry, AttrNumber number);

/* Returns when a table was last used or requested, as far as its locked entry says. */
extern TimestampTz hg_directory_used_at(const HgDirectoryEntry *entry);

/* Marks the evicted segments of a locked entry, and the table, to be loaded. */
extern void hg_directory_queue_evicted(HgDirectoryEntry *entry);

/* Returns true if some column of a locked entry is not evicted, so that loaders load segments. */
extern bool hg_directory_takes_in(const HgDirectoryEntry *entry);

/* Returns true if no slot of a locked entry has a version. */
extern bool hg_directory_is_empty(const HgDirectoryEntry *entry);

/*
 * Marks all segments of a locked entry, and the table, to be loaded, even if it was declined.  A
 * loader skips segments that need no loading.
 */
extern void hg_directory_queue_segments(HgDirectoryEntry *entry);

/* Requests all columns and graphs of a locked entry again, as if they had not been evicted. */
extern void hg_directory_request_columns(HgDirectoryEntry *entry);

/*
 * Replaces the version of the i-th slot of a locked entry, and empties its record.  The directory's
 * use of the old version ends.  The new version may be InvalidDsaPointer.
 */
extern void hg_directory_set_version(HgDirectoryEntry *entry, uint32 i, dsa_pointer version);

/* Removes a locked entry with its versions, and unlocks it: the caller must not unlock it. */
extern void hg_directory_remove(HgDirectoryEntry *entry);
/* Removes the entry of a table.  Returns the number of entries removed, 0 or 1. */
extern int hg_directory_forget_relation(HgResidentRelation key);
/* Removes all entries of a database.  Returns their number. */
extern int hg_directory_forget_database(Oid database);

/*
 * Sets the reason of all tables of a database that were not declined.  HG_REASON_NONE only replaces
 * HG_REASON_NO_WORKER.
 */
extern void hg_directory_set_waiting(Oid database, HgResidentReason reason);

/* Returns the column with this number of a locked entry, or NULL. */
extern HgDirectoryColumn *hg_directory_find_column(const HgDirectoryEntry *entry,
												   AttrNumber number);

/* Returns the graph of a key in a locked entry, or NULL. */
extern HgDirectoryGraph *hg_directory_find_graph(const HgDirectoryEntry *entry,
												 const HgKeyNumbers *key);

/*
 * Returns the number of graphs that a table's entry requests, 0 if there is no entry.  *keys
 * becomes an array of their keys in CurrentMemoryContext.
 */
extern int hg_directory_graph_keys(HgResidentRelation key, HgKeyNumbers **keys);

/*
 * Returns the number of entries of a database, or of all with InvalidOid.  *keys becomes an array
 * of their tables in CurrentMemoryContext.
 */
extern int hg_directory_list(Oid database, HgResidentRelation **keys);

#endif /* HG_RESIDENT_DIRECTORY_H */
