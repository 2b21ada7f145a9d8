/*-------------------------------------------------------------------------
 *
 * hg_resident_key.h
 *	  What names a segment and a column of it: plain words, to be compared and hashed.
 *
 * A SEGMENT is HG_SEGMENT_BLOCKS consecutive blocks of a table. 32 of them lie below one page of
 * the visibility map and none below two, so that one look at one page of the map is a look at a
 * segment.
 *
 * A table's rows are named by its file: a rewrite makes another one, and TRUNCATE, CLUSTER, SET
 * TABLESPACE and REFRESH MATERIALIZED VIEW are rewrites.  A column is named by all that the
 * meaning of its bytes depends on: ALTER COLUMN TYPE rewrites nothing where the bytes stay the
 * same, so that the type, its modifier and the collation may change below an unchanged file.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_KEY_H
#define HG_RESIDENT_KEY_H

#include "hg_compat.h"

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#define HG_SEGMENT_BLOCKS 1021

/* Segments below one page of the visibility map, which has two bits a block. */
#define HG_SEGMENTS_PER_MAP_PAGE 32

/* Most rows of a segment: a row number within it has 19 bits. */
#define HG_SEGMENT_ROWS (HG_SEGMENT_BLOCKS * (int) MaxHeapTuplesPerPage)

StaticAssertDecl(
	HG_SEGMENTS_PER_MAP_PAGE *HG_SEGMENT_BLOCKS == (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4,
	"segments do not fill pages of the visibility map: hashgraph needs blocks of 8 kB");
StaticAssertDecl(HG_SEGMENT_ROWS < (1 << 19), "row numbers of a segment have more than 19 bits");

/* A table as the directory knows it. */
typedef struct HgResidentRelation
{
	Oid database;
	Oid relation;
} HgResidentRelation;

/* Where its rows lie. */
typedef struct HgResidentFile
{
	Oid tablespace;
	RelFileNumber number;
} HgResidentFile;

typedef struct HgResidentColumn
{
	Oid type;
	Oid collation;
	int32 typmod;
	int16 length;
	AttrNumber number;
	char align;
	bool by_value;
} HgResidentColumn;

#define HG_BLOCK_WORDS ((HG_SEGMENT_BLOCKS + 63) / 64)

/* The last of these words, where all blocks are set. */
#define HG_BLOCK_LAST_WORD (PG_UINT64_MAX >> (HG_BLOCK_WORDS * 64 - HG_SEGMENT_BLOCKS))

/* A bit for each block of a segment. */
typedef struct HgBlockBits
{
	uint64 words[HG_BLOCK_WORDS];
} HgBlockBits;

static inline HgResidentRelation
hg_resident_relation(Relation rel)
{
	/*
	 * a partitioned table has no file that would tell the database; shared tables are no residents
	 */
	return (HgResidentRelation){.database = MyDatabaseId, .relation = RelationGetRelid(rel)};
}

static inline HgResidentFile
hg_resident_file(Relation rel)
{
	return (HgResidentFile){.tablespace = hg_relation_locator(rel).spcOid,
							.number = hg_relation_locator(rel).relNumber};
}

static inline bool
hg_resident_file_equal(HgResidentFile a, HgResidentFile b)
{
	return a.tablespace == b.tablespace && a.number == b.number;
}

static inline HgResidentColumn
hg_resident_column(Form_pg_attribute attribute)
{
	return (HgResidentColumn){.type = attribute->atttypid,
							  .collation = attribute->attcollation,
							  .typmod = attribute->atttypmod,
							  .length = attribute->attlen,
							  .number = attribute->attnum,
							  .align = attribute->attalign,
							  .by_value = attribute->attbyval};
}

static inline bool
hg_resident_column_equal(const HgResidentColumn *a, const HgResidentColumn *b)
{
	return a->number == b->number && a->type == b->type && a->collation == b->collation &&
		   a->typmod == b->typmod && a->length == b->length && a->align == b->align &&
		   a->by_value == b->by_value;
}

/* Segments of a table of so many blocks. */
static inline uint32
hg_segment_count(BlockNumber nblocks)
{
	return (nblocks + HG_SEGMENT_BLOCKS - 1) / HG_SEGMENT_BLOCKS;
}

static inline bool
hg_block_bits_test(const HgBlockBits *bits, int block)
{
	return (bits->words[block / 64] & (UINT64CONST(1) << (block % 64))) != 0;
}

static inline void
hg_block_bits_set(HgBlockBits *bits, int block)
{
	bits->words[block / 64] |= UINT64CONST(1) << (block % 64);
}

static inline void
hg_block_bits_clear(HgBlockBits *bits, int block)
{
	bits->words[block / 64] &= ~(UINT64CONST(1) << (block % 64));
}

/* The first block from one on that is not there; HG_SEGMENT_BLOCKS: all are. */
static inline int
hg_block_bits_end(const HgBlockBits *bits, int block)
{
	while (block < HG_SEGMENT_BLOCKS)
	{
		uint64 missing = ~bits->words[block / 64] >> (block % 64);

		if (missing != 0)
			return Min(block + pg_rightmost_one_pos64(missing), HG_SEGMENT_BLOCKS);
		block = (block / 64 + 1) * 64;
	}
	return HG_SEGMENT_BLOCKS;
}

/* All blocks. */
static inline HgBlockBits
hg_block_bits_all(void)
{
	HgBlockBits bits;

	memset(&bits, 0xff, sizeof(bits));
	bits.words[HG_BLOCK_WORDS - 1] = HG_BLOCK_LAST_WORD;
	return bits;
}

static inline bool
hg_block_bits_equal(const HgBlockBits *a, const HgBlockBits *b)
{
	return memcmp(a, b, sizeof(HgBlockBits)) == 0;
}

/* Keep of bits what others have too. */
static inline void
hg_block_bits_and(HgBlockBits *bits, const HgBlockBits *others)
{
	for (int i = 0; i < HG_BLOCK_WORDS; i++)
		bits->words[i] &= others->words[i];
}

/* How many are in a, and not in b (where that is given)? */
static inline int
hg_block_bits_count(const HgBlockBits *a, const HgBlockBits *b)
{
	HgBlockBits rest;

	if (b == NULL)
		return (int) pg_popcount((const char *) a->words, sizeof(a->words));
	for (int i = 0; i < HG_BLOCK_WORDS; i++)
		rest.words[i] = a->words[i] & ~b->words[i];
	return (int) pg_popcount((const char *) rest.words, sizeof(rest.words));
}

#endif /* HG_RESIDENT_KEY_H */
