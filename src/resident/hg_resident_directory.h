/*-------------------------------------------------------------------------
 *
 * hg_resident_directory.h
 *	  What is resident, or is to be: tables, their columns, their segments.
 *
 * An ENTRY for each table that somebody asked for.  It has the columns that were asked for, each
 * with its state, and the HashGraphs; the file that its segments are of; and a SLOT for each
 * segment: the version that is there, and beside it the RECORD that says which of its blocks may be
 * served.
 *
 * A record belongs to one version and to one generation of the database's chain.  It only ever
 * loses blocks; what comes back comes back in a new record.  Who may read and write it, in which
 * order, is told in hg_resident_validity.c and hg_resident_chain.h: this file only keeps it.
 *
 * LOCKS.  An entry is found with the lock of its part of the table held, shared or exclusive,
 * which protects all of the entry and its slots, and keeps the versions that it names.  It is an
 * LWLock: no waits, no reads and no catalogs under it, and interrupts are held off.  An error
 * releases it.
 *
 * The directory is a cache: what it says of a table may be wrong as soon as the lock is released,
 * and nothing of it is transactional.
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
	HG_RESIDENT_QUEUED = 0, /* wanted, nothing is there */
	HG_RESIDENT_LOADING,
	HG_RESIDENT_READY,	  /* what could be taken in is there */
	HG_RESIDENT_DECLINED, /* there is a reason why not */
	HG_RESIDENT_EVICTED	  /* of a column: others needed the room, until a scan asks for it */
} HgResidentState;

typedef enum HgResidentReason
{
	HG_REASON_NONE = 0,
	HG_REASON_NO_MEMORY,
	HG_REASON_NO_POSITION, /* of blocks, the rest of which is there */
	HG_REASON_NO_WORKER,   /* it is queued on */
	HG_REASON_FAILED,	   /* an error, which the log has */
	HG_REASON_NOT_HEAP,
	HG_REASON_NOT_PERMANENT,
	HG_REASON_NOT_TABLE,
	HG_REASON_OLD_SNAPSHOTS,
	HG_REASON_COLUMN_STRING,
	HG_REASON_COLUMN_VIRTUAL,
	HG_REASON_COLUMN_DROPPED,
	/* of a graph: */
	HG_REASON_GRAPH_TYPE,
	HG_REASON_GRAPH_SEGMENTS,
	HG_REASON_GRAPH_NUMBER, /* it is not even asked for */
	HG_REASON_GRAPH_BIN,
	HG_REASON_GRAPH_FAILED, /* an error, which the log has */
	HG_RESIDENT_REASONS		/* their number */
} HgResidentReason;

/* A HashGraph that was asked for. */
typedef struct HgDirectoryGraph
{
	HgKeyNumbers key;	 /* columns, which are asked for too */
	uint8 state;		 /* HgResidentState */
	uint8 reason;		 /* HgResidentReason */
	bool wanted;		 /* is to be made, or to be in step, now */
	bool asked;			 /* a join has missed it since; set under a shared lock */
	dsa_pointer version; /* hg_resident_graph_version.h; InvalidDsaPointer: none */
	uint64 made_of;		 /* replacements (below) when the slots were read that it was made of */
	TimestampTz tried_at;
	Size declined_with; /* bytes that were used when it was declined for want of memory */
} HgDirectoryGraph;

/* A column that was asked for. */
typedef struct HgDirectoryColumn
{
	AttrNumber number;
	uint8 state;			  /* HgResidentState */
	uint8 reason;			  /* HgResidentReason */
	bool pinned;			  /* is not evicted */
	bool evicted;			  /* is not taken in (again) until it is asked for */
	bool asked;				  /* a scan has missed it since; set under a shared lock, as below */
	TimestampTz asked_at;	  /* when a scan has missed it last, or a user has asked for it */
	HgResidentColumn planned; /* as a loader has last found it; number 0: as none to be taken in */
} HgDirectoryColumn;

/* A place in a database's chain of snapshots: see hg_resident_chain.h. */
typedef struct HgChainPosition
{
	uint64 generation; /* 0: in none */
	uint64 round;
} HgChainPosition;

/* Which blocks of a version may be valid. */
typedef struct HgSegmentRecord
{
	HgChainPosition position; /* where it has joined; its entry has the last observation */
	HgBlockBits blocks;
} HgSegmentRecord;

typedef struct HgSegmentSlot
{
	dsa_pointer version; /* InvalidDsaPointer: none */
	HgSegmentRecord record;
	/* of the last observation: */
	uint16 visible;	 /* all-visible blocks */
	uint16 loadable; /* of these, such as are not in the record */
	uint16 refused;	 /* of these, such as had no position in the WAL when they were read */
	uint16 rested;	 /* observations since these have become more */
	bool wanted;	 /* is to be taken in (again) */
	bool evicted;	 /* all of its version is gone for want of memory */
	/*
	 * Of the first slot below a page of the map: an observation that finds all of the page's bits
	 * set, as the last one has, changes none of its slots, as long as the entry is not disturbed.
	 */
	bool quiet;
} HgSegmentSlot;

typedef struct HgDirectoryEntry
{
	HgResidentRelation key;
	NameData name; /* of the table */
	bool listed;   /* from the list, and nobody has seen the table since: it may be another one */
	bool partitioned; /* stands for its partitions, which have entries of their own */
	bool automatic;	  /* scans have asked for it, and nobody else */
	Oid parent;		  /* the partitioned table that it was taken in for, or invalid */
	HgResidentFile file;
	BlockNumber nblocks; /* of the table, when it was last looked at */
	uint32 nslots;
	uint32 slots_size; /* room for so many */
	uint32 ncolumns;
	uint32 columns_size;
	uint32 ngraphs;
	uint32 graphs_size;
	dsa_pointer slots;	 /* HgSegmentSlot[slots_size]; invalid where that is 0 */
	dsa_pointer columns; /* HgDirectoryColumn[columns_size], by number */
	dsa_pointer graphs;	 /* HgDirectoryGraph[graphs_size] */
	uint8 state;		 /* HgResidentState */
	uint8 reason;		 /* HgResidentReason */
	bool wanted;		 /* there is something for a loader to do */
	pid_t loader; /* who takes it in, if there is still a process of this number; 0: nobody */
	TimestampTz loaded_at;
	uint64 loads; /* segments that were taken in */
	/* Of observations (hg_resident_chain.h): */
	uint64 observing;		  /* round of the last one that has begun */
	HgChainPosition observed; /* of the last one that has seen all slots */
	bool disturbed;			  /* a slot was changed since one began, other than by it */
	/* What graphs are in step with, or not: */
	uint64 replacements;	 /* versions that came to slots, or went, since the entry was made */
	TimestampTz replaced_at; /* the last time */
	Size declined_with;		 /* bytes that were used when it was declined for want of memory */
} HgDirectoryEntry;

/* Most graphs that an entry asks for. */
#define HG_DIRECTORY_GRAPHS 1024

/* While shared memory is requested, and made, after the area. */
extern void hg_directory_request(void);
extern void hg_directory_startup(void);

/* The entry of a table, locked, or NULL.  hg_directory_unlock follows. */
extern HgDirectoryEntry *hg_directory_lock(HgResidentRelation key, bool exclusive);
/* The same, exclusive, made where there is none; an error where there is no memory at all. */
extern HgDirectoryEntry *hg_directory_lock_new(HgResidentRelation key, bool *found);
extern void hg_directory_unlock(HgDirectoryEntry *entry);

/* Slots, columns and graphs of a locked entry. */
extern HgSegmentSlot *hg_directory_slots(const HgDirectoryEntry *entry);
extern HgDirectoryColumn *hg_directory_columns(const HgDirectoryEntry *entry);
extern HgDirectoryGraph *hg_directory_graphs(const HgDirectoryEntry *entry);

/*
 * Have a locked entry speak of a file with so many segments; what it had of another one goes.
 * False: no memory.
 */
extern bool hg_directory_set_file(HgDirectoryEntry *entry, HgResidentFile file, uint32 nslots);

/*
 * Have a locked entry speak of a file that has taken the place of another one, which nothing is
 * kept of.  Where nothing was to be taken in of that for want of memory, this one counts as missed:
 * it may be smaller, and no scan misses what has no slots.
 */
extern void hg_directory_replace_file(HgDirectoryEntry *entry, HgResidentFile file);

/* Take the slots of a locked entry from the n-th on, with their versions, and with all graphs. */
extern void hg_directory_cut(HgDirectoryEntry *entry, uint32 n);

/* What somebody asks for: a table with columns. */
typedef struct HgDirectoryRequest
{
	HgResidentRelation key;
	const char *name;
	bool partitioned;
	Oid parent; /* of an entry that is there it stays what it was */
	bool pinned;
	bool automatic; /* a scan asks, and not a user */
	int ncolumns;
	const AttrNumber *columns; /* [ncolumns] */
	int nkeys;
	const HgKeyNumbers *keys; /* [nkeys] that are to have graphs, of columns named here or before */
} HgDirectoryRequest;

/* Have what the i-th slot and its followers have in memory be at hand when it is their turn. */
static inline void
hg_directory_prefetch(const HgSegmentSlot *slots, uint32 nslots, uint32 i)
{
	if (i + HG_VERSIONS_AHEAD < nslots && DsaPointerIsValid(slots[i + HG_VERSIONS_AHEAD].version))
		hg_segment_version_prefetch(slots[i + HG_VERSIONS_AHEAD].version);
}

/* What a new entry may take of the area, with what its table of entries may have to grow by. */
#define HG_DIRECTORY_ROOM (64 * 1024)

/*
 * Which of these columns nobody has asked for: their number, of which these are moved to the front.
 */
extern int hg_directory_unnamed(HgResidentRelation key, AttrNumber *columns, int ncolumns);

/*
 * Have a table's entry, made where there is none, name these columns and keys, and all of it be
 * wanted.  HG_REASON_NONE; else that for which some of them are not named: HG_REASON_NO_MEMORY, or
 * HG_REASON_GRAPH_NUMBER.
 */
extern HgResidentReason hg_directory_ask(const HgDirectoryRequest *request);

/* Say of all columns of a locked entry when they were asked for. */
extern void hg_directory_set_asked_at(HgDirectoryEntry *entry, TimestampTz asked_at);

/* How often something was asked for, or has gone, since the server started. */
extern uint64 hg_directory_changes(void);

/*
 * Is a locked entry's table the one of that name?  False: it was another one when the list was
 * written.  The name of one that has been seen before is made to be this.
 */
extern bool hg_directory_check_name(HgDirectoryEntry *entry, const char *name);

/* Name a column in a locked entry, as one that is pinned or not; false: no memory. */
extern bool hg_directory_add_column(HgDirectoryEntry *entry, AttrNumber number, bool pinned);
/*
 * Ask for the graph of a key, if a locked entry names all of its columns; returns what
 * hg_directory_ask does.
 */
extern HgResidentReason hg_directory_add_key(HgDirectoryEntry *entry, const HgKeyNumbers *key);
/* Take a column out again, with the graphs that have it; false: it was not there. */
extern bool hg_directory_remove_column(HgDirectoryEntry *entry, AttrNumber number);

/* Note that a scan has missed a column of an entry, which may be locked by others for the same. */
extern void hg_directory_note_missed(HgDirectoryEntry *entry, AttrNumber number, TimestampTz now);

/* When values of a column were used last, of all columns with InvalidAttrNumber; 0: never. */
extern TimestampTz hg_directory_values_used_at(const HgDirectoryEntry *entry, AttrNumber number);

/* When a table was used last, or asked for, as far as its locked entry tells. */
extern TimestampTz hg_directory_used_at(const HgDirectoryEntry *entry);

/* Have what was evicted be taken in again, where its column is not evicted any more. */
extern void hg_directory_want_evicted(HgDirectoryEntry *entry);

/* Is anything of a locked entry to be taken in where it is not there? */
extern bool hg_directory_takes_in(const HgDirectoryEntry *entry);

/* Has a locked entry nothing in memory? */
extern bool hg_directory_is_empty(const HgDirectoryEntry *entry);

/* Have all segments be wanted in a locked entry, as far as they are not there or stale. */
extern void hg_directory_want(HgDirectoryEntry *entry);

/* Have columns and graphs that were evicted from it be there again: all are asked for now. */
extern void hg_directory_want_columns(HgDirectoryEntry *entry);

/* Put a version in place of what the i-th slot has, which loses its user, with an empty record. */
extern void hg_directory_set_version(HgDirectoryEntry *entry, uint32 i, dsa_pointer version);

/* Take out a locked entry, with all that it has.  It is unlocked. */
extern void hg_directory_remove(HgDirectoryEntry *entry);
/* Take out a table, or all tables of a database.  How many entries there were. */
extern int hg_directory_forget_relation(HgResidentRelation key);
extern int hg_directory_forget_database(Oid database);

/*
 * Say of what is queued in a database that there is this reason for it to be waiting, or of what
 * has waited for it that there is none any more (HG_REASON_NONE).
 */
extern void hg_directory_set_waiting(Oid database, HgResidentReason reason);

/* Where a column stands in a locked entry; NULL: it is not asked for. */
extern HgDirectoryColumn *hg_directory_find_column(const HgDirectoryEntry *entry,
												   AttrNumber number);

/* The same of the graph of a key. */
extern HgDirectoryGraph *hg_directory_find_graph(const HgDirectoryEntry *entry,
												 const HgKeyNumbers *key);

/*
 * The keys of the graphs that a table's entry asks for, in CurrentMemoryContext; returns their
 * number, 0 where there is no entry.
 */
extern int hg_directory_graph_keys(HgResidentRelation key, HgKeyNumbers **keys);

/* Keys of all entries, or of those of a database where that is valid.  Returns their number. */
extern int hg_directory_list(Oid database, HgResidentRelation **keys);

#endif /* HG_RESIDENT_DIRECTORY_H */
