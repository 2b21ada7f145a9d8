/*-------------------------------------------------------------------------
 *
 * hg_table_base.h
 *	  The base of the CPU's hash tables: what all kinds share, and the calls that each kind
 *	  implements.
 *
 *	hg_table_cpu.c			the calls of hg_table.h: the contract, streams, sets' marker words
 *	hg_table_static.c		HashGraphs that each change rebuilds: CSR and the two Ellpacks
 *	hg_table_dynamic.c		the HashGraph with empty slots in its lists
 *	hg_table_groups.c		cuckoo tables: multimaps, a numbering and rows in groups
 *	hg_table_cuckoo.c		cuckoo tables: maps, sets, numberings; their slot array, and the rows
 *							of many words looked up at once
 *	hg_table_dycuckoo*.c	DyCuckoo: subtables of buckets (hg_table_dycuckoo.c)
 *	hg_table_lists.c		Algorithm 1 of the HashGraph paper, for static and dynamic tables
 *	hg_table_base.c			batches as words and rows; the rows that a batch erases; the input of a
 *							rebuild; memory under the table's limit, cancel
 *	hg_table_slots.h		slots: words and rows side by side or apart
 *
 * A file calls only files that stand below it.
 *
 * WORDS. A kind sees no keys but their mixed words (hg_hash.h), widened to 64 bits. Mixing is a
 * bijection of the keys of a width, so that a word identifies its key. Every kind derives its hash
 * functions from the word. Words of 4 bytes stay below 2^32.
 *
 * MARKERS. In tables with rows, two row values that no row has (HG_MAX_ROWS and above) mark empty
 * and deleted slots. In sets, two words mark the slots. If the set contains a key with one of
 * these words, marked[] records that. hg_table_cpu.c handles these keys, so that no kind sees
 * them: sources skip them, and a kind's answer to such a word is replaced.
 *
 * KEY WIDTHS. A loop over slots is written once, as an always-inlined function that takes the
 * width. It is called with a constant for each width, so that the compiler makes two versions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_BASE_H
#define HG_TABLE_BASE_H

#include <string.h>

#include "../engine/hg_hash.h"
#include "../engine/hg_table.h"

/*
 * Rows that are processed between two polls of cancelled(), and looked up together. It is small
 * because each row may touch a new huge page, of which the kernel first clears 2 MB.
 */
#define HG_TABLE_CHUNK 128

/*
 * Bytes that are filled between two polls, items of an array that are passed over, and items of
 * which each is moved or compared: so many of these are one unit of hg_table_work().
 */
#define HG_TABLE_CHUNK_BYTES (256 * 1024)
#define HG_TABLE_CHUNK_ITEMS 4096
#define HG_TABLE_UNIT_ITEMS 16

#if defined(__GNUC__)
#define HG_TABLE_INLINE static inline __attribute__((always_inline))
#define HG_TABLE_PREFETCH(address) __builtin_prefetch(address)
#define HG_TABLE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define HG_TABLE_INLINE static inline
#define HG_TABLE_PREFETCH(address) ((void) (address))
#define HG_TABLE_UNLIKELY(condition) (condition)
#endif

typedef struct HgTableSource HgTableSource;
typedef struct HgTableCalls HgTableCalls;

/* Position of a stream in the rows of a key. Only the kind interprets it. */
typedef struct HgTableCursor
{
	uint64_t at;   /* the next slot to read */
	uint64_t left; /* slots from there on, where the kind knows the number */
	uint64_t list; /* dynamic: the list that the slot belongs to */
	uint32_t walk; /* dynamic: number of lists after the key's own list */
} HgTableCursor;

/* A table: the first member of a kind's own struct. */
struct HgTable
{
	const HgTableCalls *calls;
	const HgHost *host;
	HgTableSpec spec; /* with the defaults filled in */
	HgTableTraits traits;
	bool used;	 /* a build, or an insert of rows, has succeeded */
	bool failed; /* only close is allowed */
	/* set only: true if the key of the empty marker, or of the deleted marker, is in the set */
	bool marked[2];
	uint32_t streams;	 /* open streams */
	uint32_t work;		 /* units of work since the last poll */
	uint64_t rows;		 /* rows in the kind's slots, without the keys in marked */
	HgTableStats totals; /* counters of past work, for describe: evictions, restarts and others */
	uint64_t held_bytes;
	uint64_t peak_bytes;
};

/*
 * The calls of a kind. An array of words has at most HG_TABLE_CHUNK entries. If change returns
 * HG_INVALID, nothing has changed. After any other failure the table is unchanged or, if
 * HgTableTraits.in_place says so, can only be closed.
 */
struct HgTableCalls
{
	size_t bytes; /* size of the kind's own struct; open receives it zeroed */

	/* Adds the upper bounds for so many rows to *memory. spec has its defaults filled in. */
	void (*memory)(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory);

	/* Makes the struct an empty table. After a failure the caller calls close. */
	HgStatus (*open)(HgTable *table, HgError *error);

	/* Erases out, then inserts in, either of which may be NULL. *change is zero at first. */
	HgStatus (*change)(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
					   HgError *error);

	/* Stores a row of each word, or HG_NO_ROW, in rows[count]; in a set a found word gives 0. */
	HgStatus (*find)(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows,
					 HgError *error);

	/*
	 * For multimaps; NULL in kinds that have none. count stores the number of rows of each word.
	 * locate stores where the rows of each word begin. next returns up to capacity further rows
	 * from there; *found is their number, which is below capacity once there are no more.
	 */
	HgStatus (*count)(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts,
					  HgError *error);
	HgStatus (*locate)(HgTable *table, const uint64_t *words, uint32_t count,
					   HgTableCursor *cursors, HgError *error);
	HgStatus (*next)(HgTable *table, uint64_t word, HgTableCursor *cursor, uint32_t *rows,
					 size_t capacity, size_t *found, HgError *error);

	/*
	 * Returns up to HG_TABLE_CHUNK words and rows, and advances *cursor, which is 0 at first and
	 * only the kind interprets. Sets *end after the last row; before that it may return 0.
	 */
	uint32_t (*scan)(const HgTable *table, uint64_t *cursor, uint64_t *words, uint32_t *rows,
					 bool *end);

	/* Adds the kind's own statistics to stats, whose common fields the caller sets. */
	HgStatus (*describe)(HgTable *table, HgTableStats *stats, HgError *error);

	/* Frees the kind's memory, but not the struct. */
	void (*close)(HgTable *table);
};

/* Allocates memory of the table's host, within the table's limit. On failure *ptr is NULL. */
extern HgStatus hg_table_alloc(HgTable *table, uint64_t bytes, void **ptr, HgError *error);

/* Frees memory of hg_table_alloc, with the same size; NULL is allowed. */
extern void hg_table_free(HgTable *table, void *ptr, uint64_t bytes);

/* Returns HG_CANCELLED if the host has cancelled the work, else HG_OK. */
extern HgStatus hg_table_poll(HgTable *table, HgError *error);

/*
 * Fills memory with a byte, and polls before each HG_TABLE_CHUNK_BYTES. Returns HG_CANCELLED with
 * the rest unfilled.
 */
extern HgStatus hg_table_fill(HgTable *table, void *ptr, int byte, uint64_t bytes, HgError *error);

/* Adds units of work, and polls after HG_TABLE_CHUNK of them. */
static inline HgStatus
hg_table_work(HgTable *table, uint32_t work, HgError *error)
{
	table->work += work;
	if (table->work < HG_TABLE_CHUNK)
		return HG_OK;
	table->work = 0;
	return hg_table_poll(table, error);
}

/* Returns true if the slots have rows: not in sets. */
static inline bool
hg_table_has_rows(const HgTable *table)
{
	return table->spec.content != HG_TABLE_SET;
}

/* hg_table_word returns the word of a key of width bytes (4 or 8), hg_table_key the inverse. */
HG_TABLE_INLINE uint64_t
hg_table_word(uint64_t key, uint32_t width)
{
	return width == 4 ? hg_mix32((uint32_t) key) : hg_mix64(key);
}

HG_TABLE_INLINE uint64_t
hg_table_key(uint64_t word, uint32_t width)
{
	return width == 4 ? hg_unmix32((uint32_t) word) : hg_unmix64(word);
}

/* Returns the 32-bit hash of a word. */
HG_TABLE_INLINE uint32_t
hg_table_hash(uint64_t word, uint32_t width)
{
	return width == 4 ? (uint32_t) word : hg_hash_of_mixed64(word);
}

/* Returns the word that marks the empty (0) or deleted (1) slots of a set. */
HG_TABLE_INLINE uint64_t
hg_table_marker(uint32_t which, uint32_t width)
{
	return (width == 4 ? UINT32_MAX : UINT64_MAX) - which;
}

/* The calls of each kind.  hg_table_static.c: CSR, Ellpack, Sliced Ellpack */
extern const HgTableCalls hg_table_static_calls;

/* hg_table_dynamic.c */
extern const HgTableCalls hg_table_dynamic_calls;

/* hg_table_cuckoo.c, and hg_table_groups.c for multimaps */
extern const HgTableCalls hg_table_cuckoo_calls;
extern const HgTableCalls hg_table_groups_calls;

/* hg_table_dycuckoo.c */
extern const HgTableCalls hg_table_dycuckoo_calls;

/* A scan of a batch. */
struct HgTableSource
{
	const HgTableBatch *batch;
	uint64_t at; /* the next row */
	/* set only: the words of the two markers were among those read (hg_table_base.h) */
	bool marked[2];
};

/*
 * Reads the next words and rows of a batch into arrays of HG_TABLE_CHUNK entries; *count is 0 at
 * the end. Rows are 0 for sets and numberings. It polls.
 */
extern HgStatus hg_source_next(HgTable *table, HgTableSource *source, uint64_t *words,
							   uint32_t *rows, uint32_t *count, HgError *error);

/*
 * The rows that a batch erases: a hash table of positions in the batch, which stays in place.
 */
typedef struct HgTableErased
{
	const HgTableBatch *batch;
	uint32_t width;
	bool by_key;
	uint32_t *slots; /* [1 << log2] position of a row in the batch, or HG_NO_ROW */
	uint32_t log2;
} HgTableErased;

/*
 * Fills *erased from the unread rest of a source, which is then at its end; in a set, notes markers
 * in source->marked. The batch must outlive *erased. Its memory counts toward table's limit until
 * hg_erased_free. On failure no memory stays allocated.
 */
extern HgStatus hg_erased_create(HgTable *table, HgTableErased *erased, HgTableSource *source,
								 HgError *error);

/* Frees the memory of *erased. */
extern void hg_erased_free(HgTable *table, HgTableErased *erased);

/* Returns true if the batch erases a row with this word and row number. */
extern bool hg_erased_has(const HgTableErased *erased, uint64_t word, uint32_t row);

/* Returns the bytes of an HgTableErased for a batch of so many rows. */
extern uint64_t hg_erased_bytes(uint64_t rows);

/*
 * The input of a rebuild: first the older table's rows that are not erased, then the batch's. Each
 * part may be missing.
 */
typedef struct HgTableFeed
{
	HgTable *old;		   /* scanned by its kind's call; NULL: no older table */
	HgTableErased *erased; /* NULL: nothing is erased */
	HgTableSource *in;	   /* read from its current position; NULL: no batch */
	uint64_t batch_from;   /* position of in when the feed was made */
	uint64_t cursor;	   /* position in old */
	bool old_ended;
	/* rows of old since the last rewind that were returned, and that were erased */
	uint64_t old_rows;
	uint64_t erased_rows;
} HgTableFeed;

/* Sets up *feed at its first row. Any of the three may be NULL; they must outlive the feed. */
extern void hg_feed_init(HgTableFeed *feed, HgTable *old, HgTableErased *erased, HgTableSource *in);

/* Makes hg_feed_next() start again at the first row. */
extern void hg_feed_rewind(HgTableFeed *feed);

/* Returns an upper bound on the number of rows of the feed. */
extern uint64_t hg_feed_most(const HgTableFeed *feed);

/* Reads the next rows into arrays of HG_TABLE_CHUNK entries; *count is 0 at the end. It polls. */
extern HgStatus hg_feed_next(HgTable *table, HgTableFeed *feed, uint64_t *words, uint32_t *rows,
							 uint32_t *count, HgError *error);

#endif /* HG_TABLE_BASE_H */
