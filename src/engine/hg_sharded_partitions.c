/*-------------------------------------------------------------------------
 *
 * hg_sharded_partitions.c
 *	  Graph replicas of which each shard has a partition.
 *
 * In a shard's spec its partition replaces the graph, under the name and in the shape that follow
 * from the partitioning.  A graph that each device has whole stays as it is.  The own graph of a
 * lookup by rows of a partition is co-partitioned; the graph that is looked up is whole, or
 * partitioned as well.  Masks of a whole graph are passed on.  Masks of a partitioned graph are
 * collected, for each shard by the row numbers of its partition, and passed to it before it
 * builds.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_partitioning.h"
#include "hg_sharded_job.h"

#include <string.h>

/* Words of one part of a whole graph's mask. */
#define PART_WORDS (1 << (HG_FLAT_ROW_BITS - 6))

bool
hg_sharded_are_partitioned(const HgJobSpec *spec)
{
	return hg_side_replica(spec, HG_OUTER)->partitions != NULL ||
		   hg_side_replica(spec, HG_INNER)->partitions != NULL;
}

/* Returns true if a lookup by rows with these partitions is co-partitioned as it must be. */
static bool
is_copartition(const HgPartitioning *partitions, const HgCopartition *copartition,
			   const HgReplicaLookup *lookup)
{
	if (copartition == NULL || copartition->partitioning >= HG_MAX_COPARTITIONS)
		return false;
	if (copartition->partitioning == 0)
		return copartition->found == NULL ||
			   (copartition->found->count == partitions->count &&
				copartition->found->parts == lookup->found.shape.parts);
	if (copartition->rows == NULL || copartition->found != NULL)
		return false;
	for (uint32_t s = 0; s < partitions->count; s++)
		if (copartition->rows[s] > hg_partition_rows(partitions, s))
			return false;
	return true;
}

/* Records the partitionings of graphs that are looked up by partitioned rows. */
static HgStatus
open_lookups(HgShardedJob *job, HgSide side, HgError *error)
{
	const HgReplicaSource *replica = &job->spec.sides[side].replica;
	const HgPartitioning **partitions = job->partitioned.partitions[side];

	for (uint32_t i = 0; i < replica->nlookups; i++)
	{
		const HgReplicaLookup *lookup = &replica->lookups[i];
		const HgCopartition *copartition =
			replica->copartition != NULL ? &replica->copartition[i] : NULL;

		job->partitioned.parts[side][i + 1] = lookup->found.shape.parts;
		if (partitions[lookup->from] == NULL)
			continue;
		if (!is_copartition(partitions[lookup->from], copartition, lookup))
			return hg_error_set(error, HG_INVALID, NULL,
								"partitioned rows look up a graph that is not co-partitioned");
		partitions[i + 1] = copartition->found;
	}
	return HG_OK;
}

/* Checks a side of a partitioned job against its number of shards. */
static HgStatus
check_side(const HgJobSpec *spec, HgSide side, uint32_t shards, HgError *error)
{
	const HgReplicaSource *replica = &spec->sides[side].replica;

	if (spec->sides[side].kind != HG_SOURCE_REPLICA)
		return hg_error_set(error, HG_INVALID, NULL,
							"a partition is joined with replicas of graphs only");
	if (replica->filters != NULL)
		return hg_error_set(error, HG_INVALID, NULL, "this engine has no filters");
	if (replica->partitions == NULL)
		return HG_OK;
	if (replica->partitions->count != shards ||
		replica->partitions->parts != replica->use->shape.parts)
		return hg_error_set(error, HG_INVALID, NULL,
							"a graph does not have as many partitions as the job has shards");
	return HG_OK;
}

HgStatus
hg_sharded_partitions_open(HgShardedJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER && status == HG_OK; side++)
	{
		const HgReplicaSource *replica = &job->spec.sides[side].replica;

		status = check_side(&job->spec, (HgSide) side, job->sharded->shards, error);
		if (status != HG_OK)
			break;
		job->partitioned.partitions[side][0] = replica->partitions;
		job->partitioned.parts[side][0] = replica->use->shape.parts;
		job->appended[side] = replica->use->shape.rows;
		status = open_lookups(job, (HgSide) side, error);
	}
	return status;
}

/* Sets a shard's columns of a side: of its partition's rows, and of rows that they look up. */
static void
partition_columns(const HgShardedJob *job, HgSide side, uint32_t shard, HgReplicaColumnUse *columns)
{
	const HgJobSide *whole = &job->spec.sides[side];

	for (uint32_t i = 0; i < whole->ncolumns; i++)
	{
		const HgPartitioning *partitions =
			job->partitioned.partitions[side][whole->replica.columns[i].lookup];

		columns[i] = whole->replica.columns[i];
		if (partitions == NULL)
			continue;
		columns[i].shape = hg_partition_column_shape(partitions, shard, columns[i].shape.width);
		if (columns[i].program == 0)
			columns[i].name.partition = hg_partition_number(partitions->count, shard);
	}
}

/* Replaces a graph by its partition. */
static void
partition_use(const HgPartitioning *partitions, uint32_t shard, HgReplicaUse *use)
{
	use->name.partition = hg_partition_number(partitions->count, shard);
	use->shape = hg_partition_shape(partitions, shard, use->shape.key_width);
}

/* Sets a shard's lookups of a side, whose own graphs are co-partitioned. */
static void
partition_lookups(const HgShardedJob *job, HgSide side, uint32_t shard, HgReplicaLookup *lookups)
{
	const HgReplicaSource *replica = &job->spec.sides[side].replica;

	for (uint32_t i = 0; i < replica->nlookups; i++)
	{
		const HgPartitioning *partitions =
			job->partitioned.partitions[side][replica->lookups[i].from];
		const HgPartitioning *found = job->partitioned.partitions[side][i + 1];
		const HgCopartition *copartition;
		HgReplicaUse *own = &lookups[i].own;

		lookups[i] = replica->lookups[i];
		if (partitions == NULL)
			continue;
		copartition = &replica->copartition[i];
		lookups[i].stride = hg_partition_column_shape(partitions, shard, 1).stride;
		own->name.partition =
			hg_copartition_number(copartition->partitioning, partitions->count, shard);
		own->shape = hg_copartition_shape(partitions, shard, own->shape.key_width,
										  copartition->partitioning > 0
											  ? copartition->rows[shard]
											  : hg_partition_rows(partitions, shard));
		if (found == NULL)
			continue;
		lookups[i].found_stride = hg_partition_column_shape(found, shard, 1).stride;
		partition_use(found, shard, &lookups[i].found);
	}
}

void
hg_sharded_partitions_shard(const HgShardedJob *job, uint32_t shard, HgShardedPartitionSpec *of,
							HgJobSpec *spec)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
	{
		HgReplicaSource *replica = &spec->sides[side].replica;
		const HgPartitioning *partitions = replica->partitions;

		if (partitions == NULL)
			continue;
		of->replica[side] = *replica->use;
		partition_use(partitions, shard, &of->replica[side]);
		partition_columns(job, (HgSide) side, shard, of->columns[side]);
		partition_lookups(job, (HgSide) side, shard, of->lookups[side]);
		replica->use = &of->replica[side];
		replica->columns = of->columns[side];
		replica->lookups = of->lookups[side];
		spec->sides[side].expected_rows = of->replica[side].shape.rows;
		replica->partitions = NULL;
		replica->copartition = NULL;
	}
}

/* Allocates masks for the partitions of a graph, in which all rows count, unless it has them. */
static HgStatus
make_masks(HgShardedJob *job, HgSide side, uint32_t lookup, HgError *error)
{
	const HgPartitioning *partitions = job->partitioned.partitions[side][lookup];
	uint64_t **masks = job->partitioned.masks[side][lookup];
	HgStatus status = HG_OK;

	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		const uint64_t words = hg_partition_mask_words(partitions, i);
		void *memory;

		if (masks[i] != NULL || words == 0)
			continue;
		status = hg_host_memory_alloc(job->host, words * sizeof(uint64_t), &memory, error);
		if (status != HG_OK)
			break;
		masks[i] = memory;
		memset(masks[i], 0xFF, (size_t) (words * sizeof(uint64_t)));
	}
	return status;
}

/* Words of one part's mask, from first on; NULL: no row of them counts. */
typedef struct MaskWords
{
	uint32_t part;
	uint32_t first;
	uint32_t count;
	const uint64_t *words;
} MaskWords;

/* Sets words of the shards' masks. */
static HgStatus
mask_part(HgShardedJob *job, HgSide side, uint32_t lookup, const MaskWords *range, HgError *error)
{
	HgStatus status = hg_host_check_cancel(job->host, error);

	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
		if (job->partitioned.masks[side][lookup][i] != NULL)
			hg_partition_mask(job->partitioned.partitions[side][lookup], i, range->part,
							  range->first, range->words, range->count,
							  job->partitioned.masks[side][lookup][i]);
	return status;
}

/* The same for any words of the graph's mask, in several parts. */
static HgStatus
mask_partitions(HgShardedJob *job, HgSide side, uint32_t lookup, uint64_t first_word,
				uint64_t count, const uint64_t *words, HgError *error)
{
	const uint64_t end = (uint64_t) job->partitioned.parts[side][lookup] * PART_WORDS;
	HgStatus status;

	if (first_word > end || count > end - first_word)
		return hg_error_set(error, HG_INVALID, NULL, "a mask goes beyond the rows of its graph");
	status = make_masks(job, side, lookup, error);
	for (uint64_t word = first_word; word < first_word + count && status == HG_OK;)
	{
		const uint64_t left = first_word + count - word;
		MaskWords range = {.part = (uint32_t) (word / PART_WORDS),
						   .first = (uint32_t) (word % PART_WORDS)};

		range.count = left < PART_WORDS - range.first ? (uint32_t) left : PART_WORDS - range.first;
		range.words = words != NULL ? words + (word - first_word) : NULL;
		status = mask_part(job, side, lookup, &range, error);
		word += range.count;
	}
	return status;
}

HgStatus
hg_sharded_partitions_mask(HgShardedJob *job, HgSide side, uint32_t lookup, uint64_t first_word,
						   uint64_t count, const uint64_t *words, HgError *error)
{
	HgStatus status = HG_OK;

	if (job->partitioned.partitions[side][lookup] != NULL)
		return mask_partitions(job, side, lookup, first_word, count, words, error);
	for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
	{
		job->sharded->called = i;
		status = job->shard[i].calls.masks->mask(job->shard[i].job, side, lookup, first_word, count,
												 words, error);
	}
	return status;
}

/* Passes all masks of a side and its lookups to a shard. */
static HgStatus
send_masks(HgShardedJob *job, HgSide side, uint32_t shard, HgError *error)
{
	HgShard *of = &job->shard[shard];
	HgStatus status = HG_OK;

	job->sharded->called = shard;
	for (uint32_t lookup = 0; lookup < HG_SHARDED_TABLES && status == HG_OK; lookup++)
	{
		const uint64_t *mask = job->partitioned.masks[side][lookup][shard];

		if (mask != NULL)
			status = of->calls.masks->mask(
				of->job, side, lookup, 0,
				hg_partition_mask_words(job->partitioned.partitions[side][lookup], shard), mask,
				error);
	}
	return status;
}

HgStatus
hg_sharded_partitions_send_masks(HgShardedJob *job, HgError *error)
{
	HgStatus status = HG_OK;

	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t i = 0; i < job->shards && status == HG_OK; i++)
			status = send_masks(job, (HgSide) side, i, error);
	return status;
}

/* Frees the masks of a graph. */
static void
free_masks(HgShardedJob *job, HgSide side, uint32_t lookup)
{
	const HgPartitioning *partitions = job->partitioned.partitions[side][lookup];
	uint64_t **masks = job->partitioned.masks[side][lookup];

	for (uint32_t i = 0; i < HG_MAX_SHARDS; i++)
		if (masks[i] != NULL)
			hg_host_memory_free(job->host, masks[i],
								hg_partition_mask_words(partitions, i) * sizeof(uint64_t));
}

void
hg_sharded_partitions_free(HgShardedJob *job)
{
	for (int side = HG_OUTER; side <= HG_INNER; side++)
		for (uint32_t lookup = 0; lookup < HG_SHARDED_TABLES; lookup++)
			free_masks(job, (HgSide) side, lookup);
}
