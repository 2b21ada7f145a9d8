/*-------------------------------------------------------------------------
 *
 * hg_partitioning.c
 *	  Partitioned graph replicas: numbers, shapes and masks of their partitions.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_partitioning.h"

static uint32_t
ones(uint64_t word)
{
	return (uint32_t) __builtin_popcountll(word);
}

uint32_t
hg_partition_number(uint32_t count, uint32_t partition)
{
	return count << 16 | partition;
}

uint32_t
hg_copartition_number(uint32_t partitioning, uint32_t count, uint32_t partition)
{
	return partitioning << 24 | hg_partition_number(count, partition);
}

void
hg_partitions_count(const HgPartitioning *partitions, uint64_t *before)
{
	for (uint32_t partition = 0; partition < partitions->count; partition++)
	{
		uint64_t *of_partition = before + (size_t) partition * (partitions->parts + 1);
		uint64_t rows = 0;

		for (uint32_t part = 0; part < partitions->parts; part++)
		{
			const uint64_t *bits = hg_partition_bits(partitions, partition, part);

			of_partition[part] = rows;
			for (uint32_t word = 0; word < partitions->words[part]; word++)
				rows += ones(bits[word]);
		}
		of_partition[partitions->parts] = rows;
	}
}

/* Returns the number of parts of a replica with rows rows, whose numbers are dense. */
static uint32_t
parts_of(uint64_t rows)
{
	return rows > 0 ? (uint32_t) ((rows - 1) >> HG_FLAT_ROW_BITS) + 1 : 1;
}

HgReplicaShape
hg_partition_shape(const HgPartitioning *partitions, uint32_t partition, uint32_t key_width)
{
	const uint64_t rows = hg_partition_rows(partitions, partition);

	return (HgReplicaShape){.key_width = key_width, .parts = parts_of(rows), .rows = rows};
}

HgReplicaShape
hg_copartition_shape(const HgPartitioning *partitions, uint32_t partition, uint32_t key_width,
					 uint64_t rows)
{
	return (HgReplicaShape){.key_width = key_width,
							.parts = parts_of(hg_partition_rows(partitions, partition)),
							.rows = rows};
}

HgReplicaColumnShape
hg_partition_column_shape(const HgPartitioning *partitions, uint32_t partition, uint32_t width)
{
	const uint64_t rows = hg_partition_rows(partitions, partition);
	const uint32_t parts = parts_of(rows);
	const uint64_t stride = parts > 1 ? UINT64_C(1) << HG_FLAT_ROW_BITS : rows;

	/* a row's ordinal is its number */
	return (HgReplicaColumnShape){
		.width = width, .parts = parts, .stride = stride > 0 ? (uint32_t) stride : 1};
}

void
hg_partition_rank_all(const uint64_t *bits, uint32_t words, uint32_t *ranks)
{
	uint32_t rank = 0;

	for (uint32_t word = 0; word < words; word++)
	{
		if (word % HG_PARTITION_RANK_WORDS == 0)
			ranks[word / HG_PARTITION_RANK_WORDS] = rank;
		rank += ones(bits[word]);
	}
}

uint32_t
hg_partition_rank(const uint64_t *bits, const uint32_t *ranks, uint32_t number)
{
	const uint32_t word = number / 64;
	uint32_t first = word / HG_PARTITION_RANK_WORDS * HG_PARTITION_RANK_WORDS;
	uint32_t rank = ranks[word / HG_PARTITION_RANK_WORDS];

	for (; first < word; first++)
		rank += ones(bits[first]);
	return rank + ones(bits[word] & ((UINT64_C(1) << number % 64) - 1));
}

/* Returns the lowest count bits of a word. */
static uint64_t
low_bits(uint64_t word, uint32_t count)
{
	return count < 64 ? word & ((UINT64_C(1) << count) - 1) : word;
}

/* Returns the bits of word at the positions that are set in set, moved together. */
static uint64_t
extract(uint64_t word, uint64_t set)
{
	uint64_t extracted = 0;

	if ((word & set) == 0)
		return 0;
	for (uint64_t bit = 1; set != 0; bit <<= 1, set &= set - 1)
		if ((word & set & -set) != 0)
			extracted |= bit;
	return extracted;
}

/* Writes count bits at bit position at of a mask. */
static void
write_bits(uint64_t *mask, uint64_t at, uint64_t bits, uint32_t count)
{
	const uint32_t shift = (uint32_t) (at % 64);
	uint64_t *word = mask + at / 64;

	word[0] = (word[0] & ~(low_bits(UINT64_MAX, count) << shift)) | bits << shift;
	if (shift + count > 64)
	{
		const uint32_t rest = shift + count - 64;

		word[1] = (word[1] & ~low_bits(UINT64_MAX, rest)) | bits >> (64 - shift);
	}
}

void
hg_partition_mask(const HgPartitioning *partitions, uint32_t partition, uint32_t part,
				  uint32_t first, const uint64_t *words, uint32_t count, uint64_t *mask)
{
	const uint64_t *bits = hg_partition_bits(partitions, partition, part);
	uint64_t at = hg_partition_before(partitions, partition, part);

	/* a part may have numbers beyond those of the graph's rows */
	for (uint32_t word = 0; word < partitions->words[part] && word < first + count; word++)
	{
		const uint32_t rows = ones(bits[word]);
		const uint64_t given = words != NULL && word >= first ? words[word - first] : 0;

		if (rows > 0 && word >= first)
			write_bits(mask, at,
					   given == UINT64_MAX ? low_bits(UINT64_MAX, rows)
										   : extract(given, bits[word]),
					   rows);
		at += rows;
	}
}

uint64_t
hg_partitions_mask_bytes(const HgPartitioning *partitions)
{
	uint64_t words = 0;

	for (uint32_t partition = 0; partition < partitions->count; partition++)
		words += hg_partition_mask_words(partitions, partition);
	return words * sizeof(uint64_t);
}
