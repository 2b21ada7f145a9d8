/*-------------------------------------------------------------------------
 *
 * test_partitions.c
 *	  Sides of joins that are partitioned, each a side of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_partitions.h"

#include <stdlib.h>
#include <string.h>

static void *
zeroed(size_t bytes)
{
	void *memory = calloc(1, bytes + 1);

	if (memory == NULL)
		abort();
	return memory;
}

/* The partition of row i of the side. */
static uint32_t
partition_of_row(const TestPartitions *partitioning, uint32_t i)
{
	return hg_partition_of(partitioning->partitions.count, test_replica_key(partitioning->side, i));
}

/* Set the bits of all rows. */
static void
mark_rows(TestPartitions *partitioning)
{
	const TestReplicaSide *side = partitioning->side;

	partitioning->words = zeroed(side->spread.parts * sizeof(uint32_t));
	partitioning->bits = zeroed(side->spread.parts * sizeof(uint64_t *));
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		uint32_t *words = &partitioning->words[HG_FLAT_PART(side->rows[i])];
		const uint32_t needed = HG_FLAT_NUMBER(side->rows[i]) / 64 + 1;

		*words = needed > *words ? needed : *words;
	}
	for (uint32_t part = 0; part < side->spread.parts; part++)
		partitioning->bits[part] = zeroed(partitioning->partitions.count *
										  (size_t) partitioning->words[part] * sizeof(uint64_t));
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		const uint32_t part = HG_FLAT_PART(side->rows[i]);
		const uint32_t number = HG_FLAT_NUMBER(side->rows[i]);

		partitioning
			->bits[part][partition_of_row(partitioning, i) * (size_t) partitioning->words[part] +
						 number / 64] |= UINT64_C(1) << number % 64;
	}
}

bool
test_partitions_has(const TestPartitions *partitioning, uint32_t partition, uint32_t row)
{
	const uint32_t part = HG_FLAT_PART(row);
	const uint32_t number = HG_FLAT_NUMBER(row);

	return number / 64 < partitioning->words[part] &&
		   (hg_partition_bits(&partitioning->partitions, partition, part)[number / 64] >>
				number % 64 &
			1) != 0;
}

uint32_t
test_partitions_number(const TestPartitions *partitioning, uint32_t partition, uint32_t row)
{
	const uint32_t part = HG_FLAT_PART(row);
	const uint64_t *bits = hg_partition_bits(&partitioning->partitions, partition, part);
	uint32_t *ranks =
		zeroed(hg_partition_ranks(partitioning->partitions.words[part]) * sizeof(uint32_t));
	uint32_t rank;

	hg_partition_rank_all(bits, partitioning->partitions.words[part], ranks);
	rank = hg_partition_rank(bits, ranks, HG_FLAT_NUMBER(row));
	free(ranks);
	return (uint32_t) hg_partition_before(&partitioning->partitions, partition, part) + rank;
}

/* Copy the rows of a partition, with their columns, into a side. */
static void
fill_partition(TestPartitions *partitioning, uint32_t number)
{
	const TestReplicaSide *side = partitioning->side;
	TestReplicaSide *partition = &partitioning->partition[number];
	const uint32_t width = side->spread.width;
	uint32_t count = 0;

	partition->spread = side->spread;
	partition->spread.parts = hg_partition_shape(&partitioning->partitions, number, width).parts;
	partition->spread.numbers = 0;
	partition->spread.stride =
		hg_partition_column_shape(&partitioning->partitions, number, 8).stride;
	partition->keys = zeroed((size_t) side->spread.count * width);
	partition->rows = zeroed(side->spread.count * sizeof(uint32_t));
	for (uint32_t column = 0; column < side->spread.ncolumns; column++)
	{
		partition->columns[column].values =
			zeroed((size_t) side->spread.count * test_replica_widths[column]);
		if (side->columns[column].nulls != NULL)
			partition->columns[column].nulls = zeroed(side->spread.count);
	}
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		if (partition_of_row(partitioning, i) != number)
			continue;
		memcpy((char *) partition->keys + (size_t) count * width,
			   (const char *) side->keys + (size_t) i * width, width);
		partition->rows[count] = test_partitions_number(partitioning, number, side->rows[i]);
		for (uint32_t column = 0; column < side->spread.ncolumns; column++)
		{
			const uint32_t bytes = test_replica_widths[column];

			memcpy(partition->columns[column].values + (size_t) count * bytes,
				   side->columns[column].values + (size_t) i * bytes, bytes);
			if (side->columns[column].nulls != NULL)
				partition->columns[column].nulls[count] = side->columns[column].nulls[i];
		}
		count++;
	}
	partition->spread.count = count;
}

bool
test_partitions_create(TestPartitions *partitioning, HgEngine *engine, const HgHost *host,
					   const TestReplicaSide *side, uint32_t count)
{
	HgError error;
	bool good = true;

	memset(partitioning, 0, sizeof(*partitioning));
	partitioning->side = side;
	partitioning->partitions.count = count;
	partitioning->partitions.parts = side->spread.parts;
	mark_rows(partitioning);
	partitioning->before = zeroed(count * (size_t) (side->spread.parts + 1) * sizeof(uint64_t));
	partitioning->partitions.words = partitioning->words;
	partitioning->partitions.bits = (const uint64_t *const *) partitioning->bits;
	partitioning->partitions.before = partitioning->before;
	hg_partitions_count(&partitioning->partitions, partitioning->before);
	for (uint32_t i = 0; i < count; i++)
	{
		fill_partition(partitioning, i);
		good = good && partitioning->partition[i].spread.count ==
						   hg_partition_rows(&partitioning->partitions, i);
		for (uint32_t row = 0; row < partitioning->partition[i].spread.count && good; row++)
			good = partitioning->partition[i].rows[row] < partitioning->partition[i].spread.count;
		good =
			good && test_replica_make(engine, host, &partitioning->partition[i], &error) == HG_OK;
	}
	return good;
}

void
test_partitions_destroy(TestPartitions *partitioning, HgEngine *engine)
{
	for (uint32_t i = 0; i < partitioning->partitions.count; i++)
	{
		TestReplicaSide *partition = &partitioning->partition[i];

		test_replica_release(engine, partition);
		for (uint32_t column = 0; column < partition->spread.ncolumns; column++)
		{
			free(partition->columns[column].values);
			free(partition->columns[column].nulls);
		}
		free(partition->keys);
		free(partition->rows);
	}
	for (uint32_t part = 0; part < partitioning->partitions.parts; part++)
		free(partitioning->bits[part]);
	free(partitioning->bits);
	free(partitioning->words);
	free(partitioning->before);
}
