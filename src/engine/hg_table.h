/*-------------------------------------------------------------------------
 *
 * hg_table.h
 *	  Tables in memory that outlive a job and can be changed: keys, and the rows that have them.
 *
 * A job of hg_engine.h builds its HashGraphs for one join.  A table is kept by a caller for as
 * long as he likes, looked up any number of times, and changed in batches.  It knows keys and row
 * numbers only: neither PostgreSQL nor SQL nor CUDA.  A join may have one for as long as it runs
 * (hg_lookup.h).
 *
 * WHAT A TABLE HOLDS (HgTableContent); a pair is a key and a row:
 *
 *	set			keys alone, each once
 *	map			pairs, of which no two have the same key
 *	multimap	pairs, of which any number may have the same key, or be the same
 *	numbering	keys alone, each once, and with each a number of its own: with K keys in the table
 *				the numbers are 0 .. K - 1, and a key keeps its number while it stands there
 *
 * Every word of key_width bytes is a key, whatever a kind marks its empty or deleted slots with.
 * Rows are numbers below HG_MAX_ROWS, and nothing is known of them: they need not be dense, and
 * several keys may have the same.
 *
 * THE KINDS (HgTableKind) are ways to hold that, and differ in time and memory alone.  Not each holds
 * everything:
 *
 *						set	map	multimap	numbering	a change
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
 * An open table is empty, and as good as any other.  build fills one that nothing was put in so
 * far, and is the fastest way to do that; insert is as good for the result.  A table belongs to
 * one thread of one process.  One kind of operation runs at a time: each call returns when its
 * batch is done, and while a stream of matches is open (match .. end) nothing is changed:
 * HG_INVALID.
 *
 * INSERT.  In sets, maps and numberings a key that stands in the table stays as it is, with the
 * row or number that it has, and the batch's is passed over.  Of several with the same key in one
 * batch one comes in; the tables of the CPU take the first, others any.  A multimap takes every
 * pair, also where the same one stands there.
 *
 * ERASE takes out by pair or by key.  By pair a key goes with the row that is named: from a map if
 * it has this row, from a multimap every pair that is the same.  By key it goes with all its rows.
 * Sets know no pairs: keys alone count there.  What does not stand in the table is passed over,
 * and so is what the batch has named before.  A numbering has no erase, as numbers would be
 * missing: HG_INVALID.
 *
 * REPLACE is an erase, and an insert after it, as one change: a kind that builds a new table for
 * each change builds one.  So a batch of rows that are gone and one of their successors are
 * exchanged.
 *
 * A CHANGE THAT FAILS.  After HG_INVALID and HG_TOO_MANY_ROWS nothing has changed; HG_INVALID is
 * also the answer where the lists of an Ellpack kind would be padded beyond max_padding, and the
 * only reason to give it to a batch that keeps this contract.  After any other failure of build,
 * insert, erase or replace a table that builds a new one beside is as it was; of one that is
 * changed in place only close is allowed, and everything else is HG_INVALID.  hg_table_traits
 * tells which is which.
 *
 * READING (find, count, match, describe, export_entries) changes nothing, whether or not it fails.
 * An absent key has no matches, and HG_NO_ROW for a row.
 *
 * NOTHING UNWINDS through these calls.  Each returns a status and, when that is not HG_OK, fills
 * the error, which may be NULL.  Memory comes from the host's callbacks, and its cancelled() is
 * polled between pieces of work of at most 10 ms.  Keys and rows of a batch are the caller's again
 * when the call returns; those of match when the stream has ended.
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

/* The row of a key that does not stand in a table. */
#define HG_NO_ROW UINT32_MAX

	typedef enum HgTableContent
	{
		HG_TABLE_SET = 0,
		HG_TABLE_MAP,
		HG_TABLE_MULTIMAP,
		HG_TABLE_NUMBERING,
		HG_TABLE_CONTENTS /* number of contents, not one */
	} HgTableContent;

	/* How key and row of a slot stand in memory, where a kind has the choice: HashGraphs. */
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
	 * What is asked of a table.  Zero everywhere but key_width is a good default.  A parameter that
	 * the kind does not have is not looked at.
	 */
	typedef struct HgTableSpec
	{
		HgTableKind kind;
		HgTableContent content;
		uint32_t key_width;		/* bytes of a key: 4 or 8 */
		uint64_t expected_rows; /* a hint: room is made for as many at once; 0 = unknown */
		uint64_t memory_limit;	/* bytes the table may hold, what changes take included; 0 = none */

		/* HashGraphs */
		HgTableLayout layout;
		double load_factor;	  /* wanted N / V, from 1/16 to 64; 0 means 1 */
		double max_padding;	  /* ellpack, sliced: slots a row at most, from 1 on; 0 means 16.
							   * Up to 1024 slots are allowed in any case */
		uint32_t empty_slots; /* dynamic: of each list when it is built; 0 means 1 */

		/* cuckoo */
		uint32_t functions; /* 2 to HG_TABLE_MAX_FUNCTIONS; 0 means 4 */
		/*
		 * Slots a key when it is built, up to 16, and from 2.1, 1.1, 1.03 or 1.02 on with 2, 3, 4
		 * or 5 functions; 0 means 1.25, with two 2.2.
		 */
		double slots_factor;

		/* dycuckoo */
		uint32_t subtables; /* 2 to HG_TABLE_MAX_SUBTABLES; 0 means 3 */
		double min_filled;	/* alpha, below d / (d + 1) of beta for d subtables; 0 means 0.4 */
		double max_filled;	/* beta, up to 0.95; 0 means 0.9 */

		/* cuckoo, dycuckoo: where the random numbers begin, that functions are made of */
		uint64_t seed;

		/*
		 * For tests: so many functions, from the first one on, have one place for all keys.  What
		 * is to be done about functions that are no good is done then.
		 */
		uint32_t bad_functions;
	} HgTableSpec;

	/* Keys, and their rows. */
	typedef struct HgTableBatch
	{
		const void *keys; /* [count] of the table's key_width, native byte order */

		/*
		 * [count], or NULL: first_row, first_row + 1 ...  Sets and numberings do not look at them.
		 */
		const uint32_t *rows;
		uint64_t count;
		uint32_t first_row;
		bool by_key; /* erase: all rows of a key, and rows are not looked at */
	} HgTableBatch;

	/* What a change has done. */
	typedef struct HgTableChange
	{
		uint64_t inserted; /* pairs, or keys, that were not passed over */
		uint64_t erased;   /* pairs, or keys, that were taken out */
	} HgTableChange;

	/* Bytes that a table takes at most, with one stream: see memory(). */
	typedef struct HgTableMemory
	{
		uint64_t held;	 /* once it is built */
		uint64_t build;	 /* in building it */
		uint64_t change; /* in changing it, where the batches have as many rows together */
	} HgTableMemory;

	/* Matches leave in arrays of the caller: key number probe[i] of match's batch has row[i]. */
	typedef struct HgTableMatches
	{
		uint32_t *probe; /* [capacity] */
		uint32_t *row;	 /* [capacity] rows or numbers, of a set 0; NULL where not wanted */
		size_t capacity; /* at least 1; set by the caller */
		size_t count;	 /* set by next(): 0 means the stream has ended */
	} HgTableMatches;

	/*
	 * A table as it is, and what was done with it since open.  What a kind does not have is 0.
	 */
	typedef struct HgTableStats
	{
		uint64_t rows;		 /* pairs, or keys */
		uint64_t slots;		 /* places for as many */
		uint64_t deleted;	 /* slots that are lost to deleted rows until the next rebuild */
		double filled;		 /* rows / slots; 0 without slots */
		uint64_t bytes;		 /* held */
		uint64_t peak_bytes; /* most held so far */

		uint64_t lists;		   /* HashGraphs: vertices; cuckoo multimaps: keys; dycuckoo: buckets */
		uint64_t empty_lists;  /* of these, without a row */
		uint64_t longest_list; /* most rows in one of them; dynamic: most slots */
		uint64_t longest_walk; /* dynamic: most lists that a row stands behind its own */

		uint64_t evictions;		/* rows that had to make room for another so far */
		uint64_t longest_chain; /* most of them for one insert */
		uint64_t restarts;		/* new functions, because a chain was too long */
		uint64_t rebuilds;		/* everything hashed anew, but for build */
		uint64_t doubled;		/* subtables */
		uint64_t halved;
	} HgTableStats;

	/* What is true of all tables of a kind and content. */
	typedef struct HgTableTraits
	{
		bool possible; /* there are such tables */
		bool in_place; /* a change that fails leaves only close, but after HG_INVALID and
						* HG_TOO_MANY_ROWS */
		bool can_erase;
	} HgTableTraits;

	typedef struct HgTable HgTable;				/* an engine's own; never looked into */
	typedef struct HgTableStream HgTableStream; /* the same */
	typedef struct HgTables HgTables;

	/*
	 * Those who make tables: a table of calls, first member of an implementation's own struct.
	 */
	struct HgTables
	{
		const char *name;		   /* "cpu" */
		bool first_of_batch_stays; /* of equal keys in one batch the first one comes in */

		/*
		 * Tables are in the memory of a device: that is what memory_limit, memory() and describe's
		 * bytes count, and what is refused there is HG_DEVICE_OUT_OF_MEMORY.
		 */
		bool on_device;

		/*
		 * How many bytes a table of spec and so many rows takes at most, before any is taken. Where
		 * lists are padded (ellpack, sliced) this is the limit of max_padding, most often far
		 * more than is needed.  HG_INVALID where open would say so.
		 */
		HgStatus (*memory)(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory,
						   HgError *error);

		/* Make an empty table.  host must outlive it.  *table is set on HG_OK only. */
		HgStatus (*open)(HgTables *tables, const HgHost *host, const HgTableSpec *spec,
						 HgTable **table, HgError *error);

		/*
		 * Put a batch into a table which nothing was put in so far (HG_INVALID), by insert's
		 * rules.  change may be NULL, here and below.  HG_TOO_MANY_ROWS, which changes nothing,
		 * where the table's rows and the batch's are not below HG_MAX_ROWS together, or where their
		 * slots would be more than 2^32.
		 */
		HgStatus (*build)(HgTable *table, const HgTableBatch *batch, HgTableChange *change,
						  HgError *error);

		HgStatus (*insert)(HgTable *table, const HgTableBatch *batch, HgTableChange *change,
						   HgError *error);
		HgStatus (*erase)(HgTable *table, const HgTableBatch *batch, HgTableChange *change,
						  HgError *error);

		/* Erase out, then insert in, as one change. */
		HgStatus (*replace)(HgTable *table, const HgTableBatch *out, const HgTableBatch *in,
							HgTableChange *change, HgError *error);

		/*
		 * rows[count]: of each key its row or number, of a multimap one of its rows, of a set 0;
		 * HG_NO_ROW where the key does not stand in the table.
		 */
		HgStatus (*find)(HgTable *table, const void *keys, uint64_t count, uint32_t *rows,
						 HgError *error);

		/* How many rows have the keys: of each (counts[count], or NULL), and in all (or NULL). */
		HgStatus (*count)(HgTable *table, const void *keys, uint64_t count, uint32_t *counts,
						  uint64_t *all, HgError *error);

		/*
		 * Start a stream of all pairs of a key's number in keys[count], fewer than HG_MAX_ROWS, and
		 * a row that has it.  *stream is set on HG_OK only, and must be ended before the table is
		 * closed.
		 */
		HgStatus (*match)(HgTable *table, const void *keys, uint64_t count, HgTableStream **stream,
						  HgError *error);

		/*
		 * The next pairs, at most matches->capacity; count 0 at the end.  All of one key's number
		 * follow each other, in the order of the numbers; the rows of a key come in no order.
		 * After a failure only end is allowed.
		 */
		HgStatus (*next)(HgTableStream *stream, HgTableMatches *matches, HgError *error);

		/* Give a stream back.  Never fails. */
		void (*end)(HgTableStream *stream);

		/* Look at a table; it may walk all of it. */
		HgStatus (*describe)(HgTable *table, HgTableStats *stats, HgError *error);

		/*
		 * Copy all pairs out, in no order, but keys of a numbering by their numbers: keys[rows] of
		 * key_width bytes, and rows[rows], which may be NULL and of a set are 0; rows is what
		 * describe says.
		 */
		HgStatus (*export_entries)(HgTable *table, void *keys, uint32_t *rows, HgError *error);

		/* Free the table, whatever state it is in.  Never fails or waits long. */
		void (*close)(HgTable *table);
	};

	/* What is true of all tables of a kind and content. */
	extern HgTableTraits hg_table_traits(HgTableKind kind, HgTableContent content);

	/* HG_OK, or HG_INVALID with an explanation. */
	extern HgStatus hg_table_check(const HgTableSpec *spec, HgError *error);

	/* A spec that is valid, with each default in place of the 0 that means it. */
	extern HgTableSpec hg_table_defaults(const HgTableSpec *spec);

	/* Slots a key that 2 to HG_TABLE_MAX_FUNCTIONS functions can do with (Alcantara and others). */
	extern double hg_table_least_slots_factor(uint32_t functions);

	/* Names as users write them: "csr", "sliced_ellpack"; "set", "multimap". */
	extern const char *hg_table_kind_name(HgTableKind kind);
	extern const char *hg_table_content_name(HgTableContent content);

#ifdef __cplusplus
}
#endif

#endif /* HG_TABLE_H */
