/*-------------------------------------------------------------------------
 *
 * hg_resident_key.h
 *	  Identities of tables, files and columns, and bitmaps of a segment's blocks.
 *
 * A SEGMENT is HG_SEGMENT_BLOCKS consecutive blocks of a table.  One page of the visibility map
 * covers 32 whole segments, so that a look at one page of the map covers a segment.
 *
 * A table's rows are identified by its file.  TRUNCATE, CLUSTER, SET TABLESPACE, REFRESH
 * MATERIALIZED VIEW and rewrites make another one.  A column is identified by all that the meaning
 * of its bytes depends on.  ALTER COLUMN TYPE rewrites nothing if the bytes stay the same, so the
 * type, its modifier and the collation may change without a new file.
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

/* Segments covered by one page of the visibility map, which has two bits a block. */
#define HG_SEGMENTS_PER_MAP_PAGE 32

/* Maximum number of rows of a segment: a row number within it has 19 bits. */
#define HG_SEGMENT_ROWS (HG_SEGMENT_BLOCKS * (int) MaxHeapTuplesPerPage)

StaticAssertDecl(
	HG_SEGMENTS_PER_MAP_PAGE *HG_SEGMENT_BLOCKS == (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * 4,
	"segments do not fill pages of the visibility map: hashgraph needs blocks of 8 kB");
StaticAssertDecl(HG_SEGMENT_ROWS < (1 << 19), "row numbers of a segment have more than 19 bits");

/* A table, as the directory identifies it. */
typedef struct HgResidentRelation
{
	Oid database;
	Oid relation;
} HgResidentRelation;

/* The file that has a table's rows. */
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

/* The last word of an HgBlockBits with all blocks set. */
#define HG_BLOCK_LAST_WORD (PG_UINT64_MAX >> (HG_BLOCK_WORDS * 64 - HG_SEGMENT_BLOCKS))

/* A bit for each block of a segment. */
typedef struct HgBlockBits
{
	uint64 words[HG_BLOCK_WORDS];
} HgBlockBits;

/* Returns the identity of a relation of this database. */
static inline HgResidentRelation
hg_resident_relation(Relation rel)
{
	/* a partitioned table has no file that names its database; shared tables are not cached */
	return (HgResidentRelation){.database = MyDatabaseId, .relation = RelationGetRelid(rel)};
}

/* Returns the identity of a relation's current file. */
static inline HgResidentFile
hg_resident_file(Relation rel)
{
	return (HgResidentFile){.tablespace = hg_relation_locator(rel).spcOid,
							.number = hg_relation_locator(rel).relNumber};
}

/* Returns true if two identities are of the same file. */
static inline bool
hg_resident_file_equal(HgResidentFile a, HgResidentFile b)
{
	return a.tablespace == b.tablespace && a.number == b.number;
}

/* Returns the identity of a column, made from its definition. */
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

/* Returns true if two columns have the same number and definition. */
static inline bool
hg_resident_column_equal(const HgResidentColumn *a, const HgResidentColumn *b)
{
	return a->number == b->number && a->type == b->type && a->collation == b->collation &&
		   a->typmod == b->typmod && a->length == b->length && a->align == b->align &&
		   a->by_value == b->by_value;
}

/* Returns the number of segments of a table of nblocks blocks. */
static inline uint32
hg_segment_count(BlockNumber nblocks)
{
	return (nblocks + HG_SEGMENT_BLOCKS - 1) / HG_SEGMENT_BLOCKS;
}

/* Returns true if the bit of a block is set; block is its number within the segment. */
static inline bool
hg_block_bits_test(const HgBlockBits *bits, int block)
{
	return (bits->words[block / 64] & (UINT64CONST(1) << (block % 64))) != 0;
}

/* Sets the bit of a block. */
static inline void
hg_block_bits_set(HgBlockBits *bits, int block)
{
	bits->words[block / 64] |= UINT64CONST(1) << (block % 64);
}

/* Clears the bit of a block. */
static inline void
hg_block_bits_clear(HgBlockBits *bits, int block)
{
	bits->words[block / 64] &= ~(UINT64CONST(1) << (block % 64));
}

/* Returns the first block from the given one on whose bit is clear, or HG_SEGMENT_BLOCKS. */
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

/* Returns a bitmap with the bits of all blocks set. */
static inline HgBlockBits
hg_block_bits_all(void)
{
	HgBlockBits bits;

	memset(&bits, 0xff, sizeof(bits));
	bits.words[HG_BLOCK_WORDS - 1] = HG_BLOCK_LAST_WORD;
	return bits;
}

/* Returns true if two bitmaps are equal. */
static inline bool
hg_block_bits_equal(const HgBlockBits *a, const HgBlockBits *b)
{
	return memcmp(a, b, sizeof(HgBlockBits)) == 0;
}

/* Clears the bits that others do not have. */
static inline void
hg_block_bits_and(HgBlockBits *bits, const HgBlockBits *others)
{
	for (int i = 0; i < HG_BLOCK_WORDS; i++)
		bits->words[i] &= others->words[i];
}

/* Returns the number of bits that are set in a, and clear in b unless that is NULL. */
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
