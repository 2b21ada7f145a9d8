/*-------------------------------------------------------------------------
 *
 * hg_table_base.h
 *	  A table of the CPU: what all kinds have, and what each has to do.
 *
 *	hg_table_cpu.c			the calls of hg_table.h: the contract, streams, sets' marker words
 *	hg_table_static.c		HashGraphs built anew for each change: CSR and the two Ellpacks
 *	hg_table_dynamic.c		the HashGraph with empty slots in its lists
 *	hg_table_cuckoo.c		cuckoo tables: maps, sets, numberings
 *	hg_table_groups.c		cuckoo tables: multimaps, a numbering and rows in groups
 *	hg_table_cuckoo_find.c	rows of words in slots, many at once
 *	hg_table_cuckoo_slots.c	one array in which each key has several places
 *	hg_table_dycuckoo*.c	DyCuckoo: subtables of buckets (hg_table_dycuckoo_base.h)
 *	hg_table_lists.c		Algorithm 1 of the HashGraph paper, for static and dynamic ones
 *	hg_table_feed.c			the rows of a table to be built: an older one's and a batch's
 *	hg_table_erased.c		what a batch erases, to be asked for by row
 *	hg_table_slots.h		slots: words and rows side by side or apart
 *	hg_table_base.c			memory under the table's limit, cancel
 *
 * A file calls those that stand below it, and none above.
 *
 * WORDS.  A kind never sees a key, but its mixed word (hg_hash.h), widened to 64 bits: mixing is a
 * bijection of the keys of a width, so that words are as good as keys, and every kind takes its
 * functions from them.  Words of 4 bytes stay below 2^32.
 *
 * MARKERS.  A slot with a row is empty or deleted where the row is one of two that no row has
 * (HG_MAX_ROWS is above all of them).  A set has no rows: there two words mark slots, and the two
 * keys which have these words stand beside the table, in marked[].  No kind sees them: sources
 * pass over them, and what a kind answers to such a word is not looked at (hg_table_cpu.c).
 *
 * KEY WIDTHS.  What loops over slots is written once, as a function that is always inlined and
 * takes the width, and is called with a constant for each of the two: the compiler makes two of
 * it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_TABLE_BASE_H
#define HG_TABLE_BASE_H

#include <string.h>

#include "../hg_hash.h"
#include "../hg_table.h"

/*
 * Rows worked on between two polls of cancelled(), and looked up together.  They may lie all over
 * an array that is new: in huge pages, 2 MB are to be cleared for each at first.
 */
#define HG_TABLE_CHUNK 128

/* Bytes that are set between two polls. */
#define HG_TABLE_CHUNK_BYTES (256 * 1024)

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

/* Where the rows of a key begin, and how far a stream has come with them.  A kind's own. */
typedef struct HgTablePlace
{
	uint64_t at;   /* the next slot to look at */
	uint64_t left; /* slots from there on, where that is known */
	uint64_t list; /* dynamic: whose slot it is */
	uint32_t walk; /* dynamic: lists behind its own */
} HgTablePlace;

/* A table, the first member of a kind's own struct. */
struct HgTable
{
	const HgTableCalls *calls;
	const HgHost *host;
	HgTableSpec spec; /* with the defaults */
	HgTableTraits traits;
	bool used;		/* something was put in, or tried to be */
	bool failed;	/* only close is left */
	bool marked[2]; /* a set: the keys of the words that mark empty and deleted slots stand in it */
	uint32_t streams;  /* open ones */
	uint32_t work;	   /* since the last poll */
	uint64_t rows;	   /* in the kind's slots: without those in marked */
	HgTableStats told; /* what describe tells of the past: evictions, restarts ... */
	uint64_t held_bytes;
	uint64_t peak_bytes;
};

/*
 * What a kind does.  count words are at most HG_TABLE_CHUNK.  After HG_INVALID of change nothing
 * has changed; after another failure what hg_table_traits tells is true.
 */
struct HgTableCalls
{
	size_t bytes; /* of the kind's own struct, which open gets filled with zeros */

	/* Add what a table of so many rows takes at most; spec has the defaults. */
	void (*memory)(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory);

	/* Make it an empty table.  After a failure close is called. */
	HgStatus (*open)(HgTable *table, HgError *error);

	/* Erase, then insert; either is NULL where there is nothing to do. */
	HgStatus (*change)(HgTable *table, HgTableSource *out, HgTableSource *in, HgTableChange *change,
					   HgError *error);

	/* rows[count] of words, or HG_NO_ROW; of a set 0. */
	HgStatus (*find)(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows,
					 HgError *error);

	/*
	 * Of multimaps: how many rows have each word; where these begin; and the next of them, at most
	 * capacity, *found of them, 0 when there are no more.  NULL in a kind that has no multimaps.
	 */
	HgStatus (*count)(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts,
					  HgError *error);
	HgStatus (*locate)(HgTable *table, const uint64_t *words, uint32_t count, HgTablePlace *places,
					   HgError *error);
	HgStatus (*next)(HgTable *table, uint64_t word, HgTablePlace *place, uint32_t *rows,
					 size_t capacity, size_t *found, HgError *error);

	/*
	 * The next words and rows of the table after *place, which is 0 at first and the kind's own: at
	 * most HG_TABLE_CHUNK.  Returns how many, and sets *end after the last; it may return 0 before.
	 */
	uint32_t (*scan)(const HgTable *table, uint64_t *place, uint64_t *words, uint32_t *rows,
					 bool *end);

	/* Fill in what the kind knows: stats has what all have. */
	HgStatus (*describe)(HgTable *table, HgTableStats *stats, HgError *error);

	/* Free what the kind holds, but not the struct. */
	void (*close)(HgTable *table);
};

/*
 * Memory of the table's host, counted against the table's limit.  On failure *ptr is NULL.  Freeing
 * NULL does nothing.
 */
extern HgStatus hg_table_alloc(HgTable *table, uint64_t bytes, void **ptr, HgError *error);
extern void hg_table_free(HgTable *table, void *ptr, uint64_t bytes);

/* HG_OK, or HG_CANCELLED when the host wants the work to stop. */
extern HgStatus hg_table_poll(HgTable *table, HgError *error);

/* Fill memory with a byte, with polls. */
extern HgStatus hg_table_fill(HgTable *table, void *ptr, int byte, uint64_t bytes, HgError *error);

/* Poll when enough was done since the last time. */
static inline HgStatus
hg_table_work(HgTable *table, uint32_t work, HgError *error)
{
	table->work += work;
	if (table->work < HG_TABLE_CHUNK)
		return HG_OK;
	table->work = 0;
	return hg_table_poll(table, error);
}

static inline bool
hg_table_has_rows(const HgTable *table)
{
	return table->spec.content != HG_TABLE_SET;
}

/* The word of a key, and the key of a word. */
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

/* The 32-bit hash of a word. */
HG_TABLE_INLINE uint32_t
hg_table_hash(uint64_t word, uint32_t width)
{
	return width == 4 ? (uint32_t) word : hg_hash_of_mixed64(word);
}

/* The words that mark slots of a set: empty (0) and deleted (1). */
HG_TABLE_INLINE uint64_t
hg_table_marker(uint32_t which, uint32_t width)
{
	return (width == 4 ? UINT32_MAX : UINT64_MAX) - which;
}

#endif /* HG_TABLE_BASE_H */
