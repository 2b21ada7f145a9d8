/*-------------------------------------------------------------------------
 *
 * hg_sharded_groups.c
 *	  Merges the groups of several shards.
 *
 * Records are fetched a buffer at a time.  Each is either added to the group with the same keys,
 * which a hash table of slots finds, or becomes a new group.  There are at most max_groups + 1
 * groups.
 *
 * MEMORY.  Merging takes at most twice the memory of the records.  The array of records doubles
 * when it is full, with old and new array in memory meanwhile.  The slots, at most four per group
 * and no larger than a record, are rebuilt after that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_reduce.h"
#include "hg_sharded_job.h"

#include <string.h>

/* Records that are fetched at a time. */
#define BUFFER_RECORDS 4096

/* A hash table of groups by their keys: a slot has the index of a group + 1, or 0. */
typedef struct Slots
{
	uint32_t *slots;
	uint64_t count; /* a power of two, at least twice the groups */
} Slots;

/* Returns the slot of the group with the keys of this record, or the empty slot for it. */
static uint32_t *
find_slot(const Slots *slots, const HgShardedGroups *groups, const uint64_t *record)
{
	/* the keys, and which of them are NULL */
	const uint32_t words = groups->spec.nkeys + 1;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < words; i++)
		hash = hg_mix64(hash ^ record[i]);
	for (;; hash++)
	{
		uint32_t *slot = &slots->slots[hash & (slots->count - 1)];

		if (*slot == 0 || memcmp(groups->records + (uint64_t) (*slot - 1) * groups->words, record,
								 words * sizeof(uint64_t)) == 0)
			return slot;
	}
}

/* Adds a sum of two words to another. */
static void
add_sum(uint64_t *sum, const uint64_t *other)
{
	const uint64_t low = sum[0] + other[0];

	sum[1] += other[1] + (low < other[0]);
	sum[0] = low;
}

/* Returns true if a < b. */
static bool
is_less(uint64_t a, uint64_t b, bool is_signed)
{
	return is_signed ? (int64_t) a < (int64_t) b : a < b;
}

/* Adds an item of a group to the same item of another; either may have no arguments. */
static void
add_item(const HgReduceItem *item, uint64_t *to, const uint64_t *from)
{
	const bool is_signed = item->argument.is_signed != 0;

	switch ((HgReduceKind) item->kind)
	{
		case HG_REDUCE_COUNT:
			break;
		case HG_REDUCE_SUM:
			add_sum(to + 1, from + 1);
			break;
		case HG_REDUCE_MIN:
			if (from[0] > 0 && (to[0] == 0 || is_less(from[1], to[1], is_signed)))
				to[1] = from[1];
			break;
		case HG_REDUCE_MAX:
			if (from[0] > 0 && (to[0] == 0 || is_less(to[1], from[1], is_signed)))
				to[1] = from[1];
			break;
	}
	to[0] += from[0];
}

/* Adds a record to another with the same keys. */
static void
add_record(const HgReduceSpec *spec, uint64_t *to, const uint64_t *from)
{
	uint32_t at = spec->nkeys + 1;

	to[at] += from[at];
	at++;
	for (uint32_t i = 0; i < spec->nitems; i++)
	{
		add_item(&spec->items[i], to + at, from + at);
		at += hg_reduce_item_words(&spec->items[i]);
	}
}

static void
slots_free(const HgShardedJob *job, Slots *slots)
{
	hg_host_memory_free(job->host, slots->slots, slots->count * sizeof(uint32_t));
	*slots = (Slots){NULL, 0};
}

/* Makes slots for that number of groups, and enters the existing groups. */
static HgStatus
slots_make(HgShardedJob *job, Slots *slots, uint64_t groups, HgError *error)
{
	uint64_t count = 2;
	void *memory;

	while (count < 2 * groups)
		count *= 2;
	HG_TRY(hg_host_memory_alloc(job->host, count * sizeof(uint32_t), &memory, error));
	*slots = (Slots){memory, count};
	memset(slots->slots, 0, (size_t) count * sizeof(uint32_t));
	for (uint64_t i = 0; i < job->groups.count; i++)
		*find_slot(slots, &job->groups, job->groups.records + i * job->groups.words) =
			(uint32_t) (i + 1);
	return HG_OK;
}

/* Makes room for one more group; the array grows up to most groups. */
static HgStatus
reserve_groups(HgShardedJob *job, Slots *slots, uint64_t most, HgError *error)
{
	HgShardedGroups *groups = &job->groups;
	const uint64_t bytes = groups->words * sizeof(uint64_t);
	uint64_t capacity = groups->capacity == 0 ? BUFFER_RECORDS : 2 * groups->capacity;
	void *memory;

	if (groups->count < groups->capacity)
		return HG_OK;
	if (capacity > most)
		capacity = most;
	slots_free(job, slots);
	HG_TRY(hg_host_memory_alloc(job->host, capacity * bytes, &memory, error));
	if (groups->count > 0)
		memcpy(memory, groups->records, (size_t) (groups->count * bytes));
	hg_host_memory_free(job->host, groups->records, groups->capacity * bytes);
	groups->records = memory;
	groups->capacity = capacity;
	return slots_make(job, slots, capacity, error);
}

/* Adds a record to its group, or makes it a new group; there are fewer than most groups. */
static HgStatus
merge_record(HgShardedJob *job, Slots *slots, uint64_t most, const uint64_t *record, HgError *error)
{
	HgShardedGroups *groups = &job->groups;
	uint32_t *slot;

	if (groups->capacity > 0 && *(slot = find_slot(slots, groups, record)) != 0)
	{
		add_record(&groups->spec, groups->records + (uint64_t) (*slot - 1) * groups->words, record);
		return HG_OK;
	}
	HG_TRY(reserve_groups(job, slots, most, error));
	memcpy(groups->records + groups->count * groups->words, record,
		   groups->words * sizeof(uint64_t));
	*find_slot(slots, groups, record) = (uint32_t) ++groups->count;
	return HG_OK;
}

/* Fetches and merges the groups of a shard, until there are most groups in all. */
static HgStatus
merge_shard(HgShardedJob *job, HgShard *shard, Slots *slots, uint64_t most, uint64_t *buffer,
			HgError *error)
{
	HgShardedGroups *groups = &job->groups;
	HgStatus status = HG_OK;

	while (status == HG_OK && groups->count < most)
	{
		HgGroupRecords records = {.words = buffer, .capacity = BUFFER_RECORDS};

		status = hg_host_check_cancel(job->host, error);
		if (status == HG_OK)
			status = shard->calls.columns->next_groups(shard->job, &records, error);
		if (status != HG_OK || records.count == 0)
			return status;
		for (size_t i = 0; i < records.count && status == HG_OK && groups->count < most; i++)
			status = merge_record(job, slots, most, buffer + i * groups->words, error);
	}
	return status;
}

/* Merges the groups of all shards, until there are most groups. */
static HgStatus
merge_shards(HgShardedJob *job, uint64_t most, HgError *error)
{
	const uint64_t bytes = BUFFER_RECORDS * job->groups.words * sizeof(uint64_t);
	Slots slots = {NULL, 0};
	void *buffer;
	HgStatus status = hg_host_memory_alloc(job->host, bytes, &buffer, error);

	for (uint32_t shard = 0; shard < job->shards && status == HG_OK; shard++)
		status = merge_shard(job, &job->shard[shard], &slots, most, buffer, error);
	if (buffer != NULL)
		hg_host_memory_free(job->host, buffer, bytes);
	slots_free(job, &slots);
	return status;
}

HgStatus
hg_sharded_groups_make(HgShardedJob *job, HgMatchMode mode, const HgReduceSpec *spec,
					   uint64_t *groups, HgError *error)
{
	/* group indexes have 32 bits */
	const uint64_t most = spec->max_groups < HG_MAX_ROWS - 1 ? spec->max_groups + 1 : HG_MAX_ROWS;
	bool too_many = false;

	hg_sharded_groups_free(job);
	for (uint32_t shard = 0; shard < job->shards; shard++)
	{
		HgShard *one = &job->shard[shard];
		uint64_t made;

		job->sharded->called = shard;
		/* also if one has too many: the other shards have begun */
		HG_TRY(one->calls.columns->reduce(one->job, mode, spec, &made, error));
		too_many = too_many || made == HG_TOO_MANY_GROUPS;
	}
	if (too_many)
	{
		*groups = HG_TOO_MANY_GROUPS;
		return HG_OK;
	}

	job->groups.spec = *spec;
	job->groups.words = hg_reduce_words(spec);
	HG_TRY(merge_shards(job, most, error));
	*groups = job->groups.count;
	if (*groups == most)
	{
		hg_sharded_groups_free(job);
		*groups = HG_TOO_MANY_GROUPS;
	}
	return HG_OK;
}

void
hg_sharded_groups_next(HgShardedJob *job, HgGroupRecords *records)
{
	HgShardedGroups *groups = &job->groups;
	const uint64_t left = groups->count - groups->next;

	records->count = left < records->capacity ? (size_t) left : records->capacity;
	if (records->count > 0)
		memcpy(records->words, groups->records + groups->next * groups->words,
			   records->count * groups->words * sizeof(uint64_t));
	groups->next += records->count;
}

void
hg_sharded_groups_free(HgShardedJob *job)
{
	hg_host_memory_free(job->host, job->groups.records,
						job->groups.capacity * job->groups.words * sizeof(uint64_t));
	memset(&job->groups, 0, sizeof(job->groups));
}
