/*-------------------------------------------------------------------------
 *
 * hg_table.h
 *	  Tables of keys and rows that outlive a job and can be changed.
 *
 * A job of hg_engine.h builds its HashGraphs for one join.  A table belongs to its caller for as
 * long as needed, is probed any number of times, and is changed in batches.  It knows keys and row
 * numbers only: neither PostgreSQL nor SQL nor CUDA.  A join can have a table for its own duration
 * (hg_lookup.h).
 *
 * CONTENT OF A TABLE (HgTableContent); a pair is a key and a row:
 *
 *	set			keys alone, each once
 *	map			pairs, no two with the same key
 *	multimap	pairs, any number of which may have the same key, or be equal
 *	numbering	keys alone, each once, each with a number: with K keys in the table the
 *				numbers are 0 .. K - 1, and a key keeps its number while it is in the table
 *
 * Every word of key_width bytes is a valid key, whatever a kind uses to mark empty or deleted
 * slots.  Rows are numbers below HG_MAX_ROWS without further meaning: they need not be dense, and
 * several keys may have the same row.
 *
 * KINDS (HgTableKind) differ in time and memory.  Not every kind has every content:
 *
 *					set	map	multimap	numbering	a change
 *	csr					x	x	x						builds a new table beside
 *	ellpack				x	x	x						the same
 *	sliced ellpack		x	x	x						the same
 *	dynamic				x	x	x						in place
 *	cuckoo				x	x				x			in place
 *	cuckoo						x						builds a new table beside
 *	dycuckoo			x	x							in place
 *
 * LIFE OF A TABLE
 *
 *	open -> [build] -> any number of { insert | erase | replace | find | count | describe |
 *	export_entries | match -> next* -> end } -> close
 *
 * An open table is empty and complete.  build fills a table that nothing was put into so far, and
 * is the fastest way to do that; insert gives an equally good table.  A table belongs to one
 * thread of one process.  Operations do not overlap: each call returns when its batch is done, and
 * while a stream of matches is open (match .. end) changes answer HG_INVALID.
 *
 * INSERT.  In sets, maps and numberings a key that is in the table stays unchanged, with its row
 * or number, and the batch's is skipped.  Of several equal keys in one batch one is inserted:
 * tables of the CPU take the first, others any.  A multimap takes every pair, even one that it has
 * already.
 *
 * ERASE removes by pair or by key.  By pair, a key is removed with the named row: from a map if it
 * has this row, from a multimap all equal pairs.  By key, it is removed with all its rows.  Sets
 * have no pairs: only keys count.  Entries that are not in the table are skipped, and so are
 * repetitions in the batch.  A numbering has no erase, as numbers would be missing: HG_INVALID.
 *
 * REPLACE is an erase followed by an insert, as one change: a kind that builds a new table for
 * each change builds one.  It exchanges rows for their successors.
 *
 * FAILURES.  After HG_INVALID and HG_TOO_MANY_ROWS nothing has changed.  HG_INVALID also means
 * that the lists of an Ellpack kind would exceed max_padding, the only such answer to a batch that
 * keeps this contract.  After any other failure of build, insert, erase or replace, a table that
 * builds a new one beside is unchanged.  For a table changed in place only close is allowed, and
 * all else answers HG_INVALID.  hg_table_traits says which is which.
 *
 * READING (find, count, match, describe, export_entries) changes nothing, even if it fails.  An
 * absent key has no matches, and HG_NO_ROW as its row.
 *
 * NOTHING UNWINDS through these calls.  Each returns a status and, when that is not HG_OK, fills
 * the error, which may be NULL.  Memory comes from the host's callbacks, and its cancelled() is
 * polled between pieces of work of at most 10 ms.  Keys and rows of a batch may be reused when the
 * call returns; those of match when the stream has ended.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_H
#define HG_TABLE_H

#include "hg_engine.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* The row of a key that is not in a table. */
#define HG_NO_ROW UINT32_MAX

	typedef enum HgTableContent
	{
		HG_TABLE_SET = 0,
		HG_TABLE_MAP,
		HG_TABLE_MULTIMAP,
		HG_TABLE_NUMBERING,
		HG_TABLE_CONTENTS /* number of contents, not a content */
	} HgTableContent;

	/* Layout of key and row of a slot in memory, for kinds with a choice: HashGraphs. */
	typedef enum HgTableLayout
	{
		HG_TABLE_AOS = 0, /* array of structures: side by side */
		HG_TABLE_SOA	  /* structure of arrays: an array of keys, an array of rows */
	} HgTableLayout;

/* Limits of parameters. */
#define HG_TABLE_MAX_EMPTY_SLOTS 64
#define HG_TABLE_MAX_FUNCTIONS 5 /* of a cuckoo table; at least 2 */
#define HG_TABLE_MAX_SUBTABLES 8 /* of a DyCuckoo table; at least 2 */

	/*
	 * Parameters of a table.  Zero everywhere except key_width is a good default.  A kind ignores
	 * parameters that it does not have.
	 */
	typedef struct HgTableSpec
	{
		HgTableKind kind;
		HgTableContent content;
		uint32_t key_width;		/* bytes of a key: 4 or 8 */
		uint64_t expected_rows; /* a hint: open makes room for this many; 0 = unknown */
		uint64_t memory_limit;	/* bytes the table may hold, changes included; 0 = no limit */

		/* HashGraphs */
		HgTableLayout layout;
		double load_factor; /* target N / V, from 1/16 to 64; 0 means 1 */

		/*
		 * Ellpack, sliced: maximum slots per row, at least 1; 0 means 16.  Up to 1024 slots are
		 * always allowed.
		 */
		double max_padding;
		uint32_t empty_slots; /* dynamic: empty slots of each list after build; 0 means 1 */

		/* cuckoo */
		uint32_t functions; /* 2 to HG_TABLE_MAX_FUNCTIONS; 0 means 4 */
		/*
		 * Slots per key after build, up to 16.  The minimum is 2.1, 1.1, 1.03 or 1.02 with 2, 3, 4
		 * or 5 functions.  0 means 1.25, with two functions 2.2.
		 */
		double slots_factor;

		/* dycuckoo */
		uint32_t subtables; /* 2 to HG_TABLE_MAX_SUBTABLES; 0 means 3 */
		double min_filled;	/* alpha, below d / (d + 1) of beta for d subtables; 0 means 0.4 */
		double max_filled;	/* beta, up to 0.95; 0 means 0.9 */

		/* Cuckoo, dycuckoo: seed of the random numbers that define the hash functions. */
		uint64_t seed;

		/*
		 * For tests: this many hash functions, from the first on, map all keys to one slot, so
		 * that the handling of bad functions is exercised.
		 */
		uint32_t bad_functions;
	} HgTableSpec;

	/* A batch of keys and their rows. */
	typedef struct HgTableBatch
	{
		const void *keys; /* [count] of the table's key_width, native byte order */

		/* [count], or NULL: first_row, first_row + 1 and so on.  Sets and numberings ignore it. */
		const uint32_t *rows;
		uint64_t count;
		uint32_t first_row;
		bool by_key; /* erase: all rows of a key; rows are ignored */
	} HgTableBatch;

	/* Result of a change. */
	typedef struct HgTableChange
	{
		uint64_t inserted; /* pairs, or keys, that were not skipped */
		uint64_t erased;   /* pairs, or keys, that were removed */
	} HgTableChange;

	/* Upper bounds of a table's bytes, with one stream: see memory(). */
	typedef struct HgTableMemory
	{
		uint64_t held;	 /* after build */
		uint64_t build;	 /* during build */
		uint64_t change; /* during a change, of batches with as many rows together */
	} HgTableMemory;

	/* Matches, in arrays of the caller: key probe[i] of match's array has row[i]. */
	typedef struct HgTableMatches
	{
		uint32_t *probe; /* [capacity] */
		uint32_t *row;	 /* [capacity] rows or numbers, for a set 0; NULL if not needed */
		size_t capacity; /* at least 1; set by the caller */
		size_t count;	 /* set by next(): 0 at the end of the stream */
	} HgTableMatches;

	/* State of a table, and its history since open.  Members that a kind does not have are 0. */
	typedef struct HgTableStats
	{
		uint64_t rows;		 /* number of pairs or keys */
		uint64_t slots;		 /* room for pairs or keys */
		uint64_t deleted;	 /* slots lost to deleted rows until the next rebuild */
		double filled;		 /* rows / slots; 0 without slots */
		uint64_t bytes;		 /* held now */
		uint64_t peak_bytes; /* most held at a time */

		uint64_t lists;		   /* HashGraphs: vertices; cuckoo multimaps: keys; dycuckoo: buckets */
		uint64_t empty_lists;  /* lists without a row */
		uint64_t longest_list; /* most rows of a list; dynamic: most slots */
		uint64_t longest_walk; /* dynamic: most lists between a row and its own list */

		uint64_t evictions;		/* rows moved to make room for another */
		uint64_t longest_chain; /* most evictions of one insert */
		uint64_t restarts;		/* changes of the functions because a chain was too long */
		uint64_t rebuilds;		/* complete rehashes, except in build */
		uint64_t doubled;		/* subtables doubled in size; halved likewise */
		uint64_t halved;
	} HgTableStats;

	/* Properties of all tables of a kind and content. */
	typedef struct HgTableTraits
	{
		bool possible; /* there are such tables */
		bool in_place; /* after a failed change only close is allowed, except HG_INVALID and
						* HG_TOO_MANY_ROWS */
		bool can_erase;
	} HgTableTraits;

	typedef struct HgTable HgTable;				/* private to the engine */
	typedef struct HgTableStream HgTableStream; /* private to the engine */
	typedef struct HgTables HgTables;

	/* A maker of tables: a table of calls, the first member of an implementation's own struct. */
	struct HgTables
	{
		const char *name;		   /* "cpu" */
		bool first_of_batch_stays; /* of equal keys in one batch the first is inserted */

		/*
		 * True: tables are in the memory of a device, which memory_limit, memory() and describe's
		 * bytes refer to.  If it is refused, the status is HG_DEVICE_OUT_OF_MEMORY.
		 */
		bool on_device;

		/*
		 * Returns an upper bound of the bytes of a table of spec with rows rows, without
		 * allocating any.  For padded lists (ellpack, sliced) this follows from max_padding and is
		 * usually far above what is needed.  HG_INVALID if open would answer it.
		 */
		HgStatus (*memory)(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory,
						   HgError *error);

		/* Makes an empty table.  host must outlive it.  *table is set on HG_OK only. */
		HgStatus (*open)(HgTables *tables, const HgHost *host, const HgTableSpec *spec,
						 HgTable **table, HgError *error);

		/*
		 * Puts a batch into a table into which nothing was put so far (else HG_INVALID), by the
		 * rules of insert.  change may be NULL, here and below.  HG_TOO_MANY_ROWS, which changes
		 * nothing, if the rows of table and batch together reach HG_MAX_ROWS, or their slots
		 * exceed 2^32.
		 */
		HgStatus (*build)(HgTable *table, const HgTableBatch *batch, HgTableChange *change,
						  HgError *error);

		/* Inserts or erases a batch by the rules above. */
		HgStatus (*insert)(HgTable *table, const HgTableBatch *batch, HgTableChange *change,
						   HgError *error);
		HgStatus (*erase)(HgTable *table, const HgTableBatch *batch, HgTableChange *change,
						  HgError *error);

		/* Erases out, then inserts in, as one change. */
		HgStatus (*replace)(HgTable *table, const HgTableBatch *out, const HgTableBatch *in,
							HgTableChange *change, HgError *error);

		/*
		 * Sets rows[count]: for each key its row or number, in a multimap one of its rows, in a
		 * set 0; HG_NO_ROW if the key is not in the table.
		 */
		HgStatus (*find)(HgTable *table, const void *keys, uint64_t count, uint32_t *rows,
						 HgError *error);

		/* Counts the rows of each key in counts[count], and of all in *all; either may be NULL. */
		HgStatus (*count)(HgTable *table, const void *keys, uint64_t count, uint32_t *counts,
						  uint64_t *all, HgError *error);

		/*
		 * Starts a stream of all pairs of an index in keys[count], fewer than HG_MAX_ROWS, and a
		 * row that has the key.  *stream is set on HG_OK only; the caller ends it before it closes
		 * the table.
		 */
		HgStatus (*match)(HgTable *table, const void *keys, uint64_t count, HgTableStream **stream,
						  HgError *error);

		/*
		 * Returns the next pairs, at most matches->capacity; count is 0 at the end.  Pairs are in
		 * order of the keys' indexes; the rows of a key are in no order.  After a failure only end
		 * is allowed.
		 */
		HgStatus (*next)(HgTableStream *stream, HgTableMatches *matches, HgError *error);

		/* Frees a stream.  Never fails. */
		void (*end)(HgTableStream *stream);

		/* Describes a table; it may walk all of it. */
		HgStatus (*describe)(HgTable *table, HgTableStats *stats, HgError *error);

		/*
		 * Copies all pairs out, in no order, but keys of a numbering by their numbers.  keys[rows]
		 * have key_width bytes each; rows[rows] may be NULL, and is 0 for a set.  The size of the
		 * arrays is rows of describe.
		 */
		HgStatus (*export_entries)(HgTable *table, void *keys, uint32_t *rows, HgError *error);

		/* Frees the table, whatever state it is in.  Never fails or waits long. */
		void (*close)(HgTable *table);
	};

	/* Returns the properties of all tables of a kind and content. */
	extern HgTableTraits hg_table_traits(HgTableKind kind, HgTableContent content);

	/* Checks a spec.  Returns HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_table_check(const HgTableSpec *spec, HgError *error);

	/* Returns a valid spec with each default in place of the 0 that means it. */
	extern HgTableSpec hg_table_defaults(const HgTableSpec *spec);

	/* Returns the least slots_factor for 2 or more functions (Alcantara and others). */
	extern double hg_table_least_slots_factor(uint32_t functions);

	/* Return names as users write them: "csr", "sliced_ellpack"; "set", "multimap". */
	extern const char *hg_table_kind_name(HgTableKind kind);
	extern const char *hg_table_content_name(HgTableContent content);

#ifdef __cplusplus
}
#endif

#endif /* HG_TABLE_H */
