/*-------------------------------------------------------------------------
 *
 * hg_wide_groups.c
 *	  Groups of several members become one.
 *
 * All records of all members are fetched into one array, and each is either added to the one with
 * the same keys, which a table of slots finds, or moved up to become a group of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_host_memory.h"
#include "hg_reduce.h"
#include "hg_wide_job.h"

#include <string.h>

/* Records that are merged between two polls of cancelled(). */
#define POLL_RECORDS 4096

/* Where records are found by their keys: a slot has the number of a group + 1, or 0. */
typedef struct Slots
{
	uint32_t *slots;
	uint64_t count; /* a power of two, twice the records or more */
} Slots;

static HgStatus
slots_open(Slots *slots, const HgWideJob *job, uint64_t records, HgError *error)
{
	void *memory;
	HgStatus status;

	slots->count = 2;
	while (slots->count < 2 * records)
		slots->count *= 2;
	status = hg_host_memory_alloc(job->host, slots->count * sizeof(uint32_t), &memory, error);
	slots->slots = memory;
	if (status == HG_OK)
		memset(slots->slots, 0, (size_t) slots->count * sizeof(uint32_t));
	return status;
}

/* Where a group with the keys of this record is, or would be. */
static uint32_t *
find_slot(const Slots *slots, const HgWideGroups *groups, const uint64_t *record)
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

/* Add a sum of two words to another. */
static void
add_sum(uint64_t *sum, const uint64_t *other)
{
	const uint64_t low = sum[0] + other[0];

	sum[1] += other[1] + (low < other[0]);
	sum[0] = low;
}

/* Is a less than b? */
static bool
is_less(uint64_t a, uint64_t b, bool is_signed)
{
	return is_signed ? (int64_t) a < (int64_t) b : a < b;
}

/* Make one item of two, of which each has arguments or not. */
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

/* Add a record to another of the same keys. */
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

/* Of all records, which the groups hold, make one for each group. */
static HgStatus
merge_records(HgWideJob *job, Slots *slots, HgError *error)
{
	HgWideGroups *groups = &job->groups;
	const uint64_t records = groups->count;

	groups->count = 0;
	for (uint64_t i = 0; i < records; i++)
	{
		const uint64_t *record = groups->records + i * groups->words;
		uint32_t *slot = find_slot(slots, groups, record);

		if (*slot != 0)
			add_record(&groups->spec, groups->records + (uint64_t) (*slot - 1) * groups->words,
					   record);
		else
		{
			memmove(groups->records + groups->count * groups->words, record,
					groups->words * sizeof(uint64_t));
			*slot = (uint32_t) ++groups->count;
		}
		if (i % POLL_RECORDS == 0)
		{
			HgStatus status = hg_host_check_cancel(job->host, error);

			if (status != HG_OK)
				return status;
		}
	}
	return HG_OK;
}

/* Fetch the groups that a member has made. */
static HgStatus
fetch_groups(HgWideJob *job, HgWideMember *member, HgError *error)
{
	HgWideGroups *groups = &job->groups;

	while (groups->count < groups->capacity)
	{
		HgGroupRecords records = {.words = groups->records + groups->count * groups->words,
								  .capacity = (size_t) (groups->capacity - groups->count)};
		HgStatus status = member->calls.next_groups(member->job, &records, error);

		if (status != HG_OK || records.count == 0)
			return status;
		groups->count += records.count;
	}
	return HG_OK;
}

/* Fetch the groups of all members, and merge them. */
static HgStatus
merge_members(HgWideJob *job, uint64_t records, HgError *error)
{
	HgWideGroups *groups = &job->groups;
	void *memory;
	Slots slots;
	HgStatus status;

	status = hg_host_memory_alloc(job->host, (records + 1) * groups->words * sizeof(uint64_t),
								  &memory, error);
	if (status != HG_OK)
		return status;
	groups->records = memory;
	groups->capacity = records + 1;
	for (uint32_t member = 0; member < job->members && status == HG_OK; member++)
		status = fetch_groups(job, &job->member[member], error);
	if (status == HG_OK)
		status = slots_open(&slots, job, groups->count, error);
	if (status != HG_OK)
		return status;
	status = merge_records(job, &slots, error);
	hg_host_memory_free(job->host, slots.slots, slots.count * sizeof(uint32_t));
	return status;
}

HgStatus
hg_wide_groups_make(HgWideJob *job, HgMatchMode mode, const HgReduceSpec *spec, uint64_t *groups,
					HgError *error)
{
	uint64_t records = 0;
	HgStatus status;

	hg_wide_groups_free(job);
	for (uint32_t member = 0; member < job->members; member++)
	{
		HgWideMember *one = &job->member[member];
		uint64_t made;

		status = one->calls.reduce(one->job, mode, spec, &made, error);
		if (status != HG_OK)
			return status;
		/* all of them together are numbered in 32 bits */
		if (made >= HG_MAX_ROWS - records)
		{
			*groups = HG_TOO_MANY_GROUPS;
			return HG_OK;
		}
		records += made;
	}

	job->groups.spec = *spec;
	job->groups.words = hg_reduce_words(spec);
	status = merge_members(job, records, error);
	if (status != HG_OK)
		return status;
	*groups = job->groups.count;
	if (*groups > spec->max_groups)
	{
		hg_wide_groups_free(job);
		*groups = HG_TOO_MANY_GROUPS;
	}
	return HG_OK;
}

void
hg_wide_groups_next(HgWideJob *job, HgGroupRecords *records)
{
	HgWideGroups *groups = &job->groups;
	const uint64_t left = groups->count - groups->next;

	records->count = left < records->capacity ? (size_t) left : records->capacity;
	memcpy(records->words, groups->records + groups->next * groups->words,
		   records->count * groups->words * sizeof(uint64_t));
	groups->next += records->count;
}

void
hg_wide_groups_free(HgWideJob *job)
{
	hg_host_memory_free(job->host, job->groups.records,
						job->groups.capacity * job->groups.words * sizeof(uint64_t));
	memset(&job->groups, 0, sizeof(job->groups));
}
