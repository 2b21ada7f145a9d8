/*-------------------------------------------------------------------------
 *
 * test_cuda_exchange.cu
 *	  Rows that change devices: each comes to the member that has its bin, once, with its number,
 *	  and its word, turned, to the bin that this tells.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_exchange.h"

#include "../../cuda/device/hg_cuda_peers.h"
#include "../../cuda/kernels/hg_cuda_exchange.h"
#include "hg_tap.h"

#include <algorithm>
#include <memory>
#include <vector>

/* How the rows of a case are: whose keys, and who has them at first. */
enum Keys
{
	KEYS_SPREAD,
	KEYS_EQUAL,
	KEYS_HALF_EQUAL,
	KEYS_FEW /* of few bins: some chunks, and members, get none */
};

struct Case
{
	uint32_t members;
	uint32_t width;
	uint64_t rows; /* of all members together */
	Keys keys;
	bool one_has_all;
	uint32_t chunks;
	uint32_t more_log2; /* bins of a partition beyond those of the range */
};

static const char *const keys_names[] = {"spread", "equal", "half equal", "few"};

struct Member
{
	HgCudaDevice device;
	HgCudaWork work;
	cudaStream_t copies;
	HgCudaExchange exchange;
	HgCudaShown shown;
	HgCudaPartition partition;
	uint64_t first; /* of its rows */
	uint64_t count;
	void *keys;
	uint32_t merged_end; /* bins that are merged */
};

/* The key of a row. */
static uint64_t
key_of(const Case *it, uint64_t row)
{
	switch (it->keys)
	{
		case KEYS_EQUAL:
			return 4711;
		case KEYS_HALF_EQUAL:
			return row % 2 == 0 ? 4711 : row;
		case KEYS_FEW:
			return row % 3;
		default:
			return it->width == 4 ? row * 0x9e3779b1u : row * UINT64_C(0x9e3779b97f4a7c15);
	}
}

/* A row's number: some beyond their positions. */
static uint32_t
first_number(const Member *member)
{
	return (uint32_t) (2 * member->first + 7);
}

static HgStatus
open_member(Member *member, const Case *it, uint32_t self, int devices, HgError *error)
{
	std::vector<uint32_t> narrow;
	std::vector<uint64_t> wide;

	HG_TRY(hg_cuda_device_open(&member->device, (int) self % devices, 0, error));
	for (int other = 0; other < devices; other++)
	{
		bool reached;

		HG_TRY(hg_cuda_peers_admit(&member->device, other, &reached, error));
	}
	HG_TRY(hg_cuda_work_open(&member->work, &member->device, nullptr, 0, error));
	HG_CUDA_TRY(cudaStreamCreateWithFlags(&member->copies, cudaStreamNonBlocking), error);
	HG_TRY(hg_cuda_exchange_open(&member->exchange, it->width, it->members, self, member->copies,
								 error));
	for (uint64_t row = member->first; row < member->first + member->count; row++)
	{
		narrow.push_back((uint32_t) key_of(it, row));
		wide.push_back(key_of(it, row));
	}
	HG_TRY(hg_cuda_alloc(&member->work, member->count * it->width, &member->keys, error));
	HG_CUDA_TRY(cudaMemcpyAsync(
					member->keys, it->width == 4 ? static_cast<void *>(narrow.data()) : wide.data(),
					member->count * it->width, cudaMemcpyHostToDevice, member->work.stream),
				error);
	HG_TRY(hg_cuda_exchange_count(&member->work, &member->exchange, member->keys, member->count,
								  error));
	HG_TRY(hg_cuda_exchange_counted(&member->work, &member->exchange, error));
	return hg_cuda_exchange_sort(&member->work, &member->exchange, member->keys, nullptr,
								 first_number(member), member->count, error);
}

static void
close_member(Member *member)
{
	if (member->device.releases == nullptr)
		return;
	cudaSetDevice(member->device.ordinal);
	cudaDeviceSynchronize();
	hg_cuda_exchange_close(&member->exchange);
	if (member->copies != nullptr)
		cudaStreamDestroy(member->copies);
	if (member->work.device != nullptr)
		hg_cuda_work_close(&member->work);
	cudaDeviceSynchronize();
	hg_cuda_device_close(&member->device);
}

static HgStatus
enter(const Member *member, HgError *error)
{
	HG_CUDA_TRY(cudaSetDevice(member->device.ordinal), error);
	return HG_OK;
}

/* All steps, of one member after the other: none waits for what another is still to be told. */
static HgStatus
exchange_rows(const Case *it, std::vector<std::unique_ptr<Member>> &members, HgError *error)
{
	const uint32_t bins = UINT32_C(1) << hg_exchange_ranges_log2(it->members);
	std::vector<uint64_t> rows(bins, 0);
	uint32_t ends[HG_EXCHANGE_MEMBERS];
	const uint32_t *starts[HG_EXCHANGE_MEMBERS];
	HgCudaShown shown[HG_EXCHANGE_MEMBERS];

	for (uint32_t m = 0; m < it->members; m++)
	{
		starts[m] = members[m]->exchange.starts;
		for (uint32_t bin = 0; bin < bins; bin++)
			rows[bin] += starts[m][bin + 1] - starts[m][bin];
	}
	hg_exchange_ranges_choose(rows.data(), bins, it->members, NULL, ends);
	for (uint32_t m = 0; m < it->members; m++)
	{
		HG_TRY(enter(members[m].get(), error));
		HG_TRY(hg_cuda_exchange_expect(&members[m]->work, &members[m]->exchange, starts, ends,
									   hg_cuda_exchange_range_log2(ends, m) + it->more_log2,
									   it->chunks, &members[m]->shown, &members[m]->partition,
									   error));
		shown[m] = members[m]->shown;
	}
	for (uint32_t m = 0; m < it->members; m++)
	{
		HG_TRY(enter(members[m].get(), error));
		HG_TRY(hg_cuda_exchange_send(&members[m]->work, &members[m]->exchange, starts, ends,
									 it->chunks, shown, error));
	}
	for (uint32_t m = 0; m < it->members; m++)
	{
		Member *member = members[m].get();

		HG_TRY(enter(member, error));
		for (uint32_t c = 0; c < member->exchange.chunk_count; c++)
		{
			uint32_t first;
			uint32_t end;

			HG_TRY(hg_cuda_exchange_merge(&member->work, &member->exchange, shown, c,
										  &member->partition, &first, &end, error));
			if (first != member->merged_end)
				return hg_error_set(error, HG_INVALID, nullptr, "chunks do not follow each other");
			member->merged_end = end;
		}
		HG_TRY(hg_cuda_wait(&member->work, error));
	}
	return HG_OK;
}

/* What a member's partition has, in the host's memory. */
struct Found
{
	std::vector<uint32_t> starts;
	std::vector<uint32_t> rows;
	std::vector<uint64_t> words;
};

static HgStatus
read_partition(const Member *member, Found *found, HgError *error)
{
	const HgCudaPartition *partition = &member->partition;
	std::vector<uint32_t> narrow(partition->count);

	found->starts.resize((UINT64_C(1) << partition->bins_log2) + 1);
	found->rows.resize(partition->count);
	found->words.resize(partition->count);
	HG_TRY(enter(member, error));
	HG_CUDA_TRY(cudaMemcpy(found->starts.data(), partition->starts,
						   found->starts.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost),
				error);
	HG_CUDA_TRY(cudaMemcpy(found->rows.data(), partition->rows, partition->count * sizeof(uint32_t),
						   cudaMemcpyDeviceToHost),
				error);
	HG_CUDA_TRY(cudaMemcpy(partition->key_width == 4 ? static_cast<void *>(narrow.data())
													 : found->words.data(),
						   partition->words, partition->count * partition->key_width,
						   cudaMemcpyDeviceToHost),
				error);
	if (partition->key_width == 4)
		std::copy(narrow.begin(), narrow.end(), found->words.begin());
	return HG_OK;
}

/* The mixed word of a key, as a partition of an exchange has it. */
static uint64_t
turned_word(const HgCudaExchange *exchange, uint64_t key)
{
	if (exchange->key_width == 4)
	{
		const HgTurn<uint32_t> turn = hg_cuda_exchange_turn<uint32_t>(exchange);
		const uint32_t word = hg_mix32((uint32_t) key) - turn.base;

		return turn.bits == 0 ? word : (uint32_t) (word << turn.bits | word >> (32 - turn.bits));
	}

	const HgTurn<uint64_t> turn = hg_cuda_exchange_turn<uint64_t>(exchange);
	const uint64_t word = hg_mix64(key) - turn.base;

	return turn.bits == 0 ? word : word << turn.bits | word >> (64 - turn.bits);
}

/* The bin of a word. */
static uint32_t
bin_of(uint64_t word, uint32_t width, uint32_t bins_log2)
{
	return hg_vertex_of_hash(
		width == 4 ? hg_hash_of_mixed32((uint32_t) word) : hg_hash_of_mixed64(word), bins_log2);
}

/* Mark a row as found by its number; returns its key, or false where it is none, or found before.
 */
static bool
find_row(const Case *it, const std::vector<std::unique_ptr<Member>> &members, uint32_t number,
		 std::vector<bool> *seen, uint64_t *key)
{
	for (const std::unique_ptr<Member> &member : members)
	{
		const uint64_t row = member->first + (number - first_number(member.get()));

		if (number < first_number(member.get()) || row >= member->first + member->count)
			continue;
		if ((*seen)[row])
			return false;
		(*seen)[row] = true;
		*key = key_of(it, row);
		return true;
	}
	return false;
}

/* Are all rows where they belong? */
static bool
is_right(const Case *it, const std::vector<std::unique_ptr<Member>> &members, HgError *error)
{
	std::vector<bool> seen(it->rows, false);
	uint64_t all = 0;

	for (const std::unique_ptr<Member> &member : members)
	{
		const uint32_t bins_log2 = member->partition.bins_log2;
		Found found;

		if (read_partition(member.get(), &found, error) != HG_OK)
			return false;
		if (found.starts.front() != 0 || found.starts.back() != member->partition.count)
			return false;
		for (uint32_t bin = 0; bin + 1 < found.starts.size(); bin++)
		{
			if (found.starts[bin] > found.starts[bin + 1])
				return false;
			for (uint32_t i = found.starts[bin]; i < found.starts[bin + 1]; i++)
			{
				uint64_t key;

				if (!find_row(it, members, found.rows[i], &seen, &key) ||
					found.words[i] != turned_word(&member->exchange, key) ||
					bin_of(found.words[i], it->width, bins_log2) != bin)
					return false;
			}
		}
		all += member->partition.count;
	}
	return all == it->rows;
}

static void
test_case(const Case *it, int devices)
{
	std::vector<std::unique_ptr<Member>> members;
	HgStatus status = HG_OK;
	HgError error = {};
	uint64_t first = 0;
	bool right;

	for (uint32_t m = 0; m < it->members; m++)
	{
		members.emplace_back(new Member());
		members[m]->first = first;
		if (it->one_has_all)
			members[m]->count = m == it->members / 2 ? it->rows : 0;
		else
			members[m]->count = it->rows * (m + 1) / it->members - it->rows * m / it->members;
		first += members[m]->count;
	}
	for (uint32_t m = 0; m < it->members && status == HG_OK; m++)
		status = open_member(members[m].get(), it, m, devices, &error);
	if (status == HG_OK)
		status = exchange_rows(it, members, &error);
	right = status == HG_OK && is_right(it, members, &error);
	hg_tap_ok(right,
			  "%u members exchange %llu rows, %u bytes, keys %s%s, %u chunks, 2^%u bins a bin",
			  it->members, (unsigned long long) it->rows, it->width, keys_names[it->keys],
			  it->one_has_all ? ", which one has" : "", it->chunks, it->more_log2);
	if (!right)
		hg_tap_diag("status %d: %s %s", (int) status, error.message, error.detail);
	for (const std::unique_ptr<Member> &member : members)
		close_member(member.get());
}

void
test_cuda_exchange(void)
{
	static const uint64_t rows[] = {0, 1, 1000, 300001};
	int devices = 0;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
		return;
	for (uint32_t members : {1u, 2u, 3u, 8u})
		for (uint32_t width : {4u, 8u})
			for (uint64_t count : rows)
				for (int keys = KEYS_SPREAD; keys <= KEYS_FEW; keys++)
				{
					const Case it = {members,
									 width,
									 count,
									 (Keys) keys,
									 (count + keys) % 2 == 0,
									 1 + (uint32_t) (count + keys) % HG_EXCHANGE_CHUNKS,
									 (uint32_t) (keys * 3 % 11)};

					if (hg_tap_turn())
						test_case(&it, devices);
				}
}
