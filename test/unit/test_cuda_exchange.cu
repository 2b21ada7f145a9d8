/*-------------------------------------------------------------------------
 *
 * test_cuda_exchange.cu
 *	  Rows that change devices: each comes to the shard that has its bin, once, with its number,
 *	  and its word, turned, to the bin that this tells.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_cuda_exchange.h"

#include "../../cuda/device/hg_cuda_device.h"
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
	KEYS_FEW /* of few bins: some chunks, and shards, get none */
};

struct Case
{
	uint32_t shards;
	uint32_t width;
	uint64_t rows; /* of all shards together */
	Keys keys;
	bool one_has_all;
	uint32_t chunks;
	uint32_t more_log2; /* bins of a partition beyond those of the range */
};

static const char *const keys_names[] = {"spread", "equal", "half equal", "few"};

struct Shard
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
first_number(const Shard *shard)
{
	return (uint32_t) (2 * shard->first + 7);
}

static HgStatus
open_shard(Shard *shard, const Case *it, uint32_t self, int devices, HgError *error)
{
	std::vector<uint32_t> narrow;
	std::vector<uint64_t> wide;

	HG_TRY(hg_cuda_device_open(&shard->device, (int) self % devices, 0, error));
	for (int other = 0; other < devices; other++)
	{
		bool reached;

		HG_TRY(hg_cuda_peers_admit(&shard->device, other, &reached, error));
	}
	HG_TRY(hg_cuda_work_open(&shard->work, &shard->device, nullptr, 0, error));
	HG_CUDA_TRY(cudaStreamCreateWithFlags(&shard->copies, cudaStreamNonBlocking), error);
	HG_TRY(
		hg_cuda_exchange_open(&shard->exchange, it->width, it->shards, self, shard->copies, error));
	for (uint64_t row = shard->first; row < shard->first + shard->count; row++)
	{
		narrow.push_back((uint32_t) key_of(it, row));
		wide.push_back(key_of(it, row));
	}
	HG_TRY(hg_cuda_alloc(&shard->work, shard->count * it->width, &shard->keys, error));
	HG_CUDA_TRY(cudaMemcpyAsync(
					shard->keys, it->width == 4 ? static_cast<void *>(narrow.data()) : wide.data(),
					shard->count * it->width, cudaMemcpyHostToDevice, shard->work.stream),
				error);
	HG_TRY(
		hg_cuda_exchange_count(&shard->work, &shard->exchange, shard->keys, shard->count, error));
	HG_TRY(hg_cuda_exchange_counted(&shard->work, &shard->exchange, error));
	return hg_cuda_exchange_sort(&shard->work, &shard->exchange, shard->keys, nullptr,
								 first_number(shard), shard->count, error);
}

static void
close_shard(Shard *shard)
{
	if (shard->device.releases == nullptr)
		return;
	cudaSetDevice(shard->device.ordinal);
	cudaDeviceSynchronize();
	hg_cuda_exchange_close(&shard->exchange);
	if (shard->copies != nullptr)
		cudaStreamDestroy(shard->copies);
	if (shard->work.device != nullptr)
		hg_cuda_work_close(&shard->work);
	cudaDeviceSynchronize();
	hg_cuda_device_close(&shard->device);
}

static HgStatus
enter(const Shard *shard, HgError *error)
{
	HG_CUDA_TRY(cudaSetDevice(shard->device.ordinal), error);
	return HG_OK;
}

/* All steps, of one shard after the other: none waits for what another is still to be told. */
static HgStatus
exchange_rows(const Case *it, std::vector<std::unique_ptr<Shard>> &shards, HgError *error)
{
	const uint32_t bins = UINT32_C(1) << hg_exchange_ranges_log2(it->shards);
	std::vector<uint64_t> rows(bins, 0);
	uint32_t ends[HG_EXCHANGE_SHARDS];
	const uint32_t *starts[HG_EXCHANGE_SHARDS];
	HgCudaShown shown[HG_EXCHANGE_SHARDS];

	for (uint32_t m = 0; m < it->shards; m++)
	{
		starts[m] = shards[m]->exchange.starts;
		for (uint32_t bin = 0; bin < bins; bin++)
			rows[bin] += starts[m][bin + 1] - starts[m][bin];
	}
	hg_exchange_ranges_choose(rows.data(), bins, it->shards, NULL, ends);
	for (uint32_t m = 0; m < it->shards; m++)
	{
		HG_TRY(enter(shards[m].get(), error));
		HG_TRY(hg_cuda_exchange_expect(&shards[m]->work, &shards[m]->exchange, starts, ends,
									   hg_cuda_exchange_range_log2(ends, m) + it->more_log2,
									   it->chunks, &shards[m]->shown, &shards[m]->partition,
									   error));
		shown[m] = shards[m]->shown;
	}
	for (uint32_t m = 0; m < it->shards; m++)
	{
		HG_TRY(enter(shards[m].get(), error));
		HG_TRY(hg_cuda_exchange_send(&shards[m]->work, &shards[m]->exchange, starts, ends,
									 it->chunks, shown, error));
	}
	for (uint32_t m = 0; m < it->shards; m++)
	{
		Shard *shard = shards[m].get();

		HG_TRY(enter(shard, error));
		for (uint32_t c = 0; c < shard->exchange.chunk_count; c++)
		{
			uint32_t first;
			uint32_t end;

			HG_TRY(hg_cuda_exchange_merge(&shard->work, &shard->exchange, shown, c,
										  &shard->partition, &first, &end, error));
			if (first != shard->merged_end)
				return hg_error_set(error, HG_INVALID, nullptr, "chunks do not follow each other");
			shard->merged_end = end;
		}
		HG_TRY(hg_cuda_wait(&shard->work, error));
	}
	return HG_OK;
}

/* What a shard's partition has, in the host's memory. */
struct Found
{
	std::vector<uint32_t> starts;
	std::vector<uint32_t> rows;
	std::vector<uint64_t> words;
};

static HgStatus
read_partition(const Shard *shard, Found *found, HgError *error)
{
	const HgCudaPartition *partition = &shard->partition;
	std::vector<uint32_t> narrow(partition->count);

	found->starts.resize((UINT64_C(1) << partition->bins_log2) + 1);
	found->rows.resize(partition->count);
	found->words.resize(partition->count);
	HG_TRY(enter(shard, error));
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
find_row(const Case *it, const std::vector<std::unique_ptr<Shard>> &shards, uint32_t number,
		 std::vector<bool> *seen, uint64_t *key)
{
	for (const std::unique_ptr<Shard> &shard : shards)
	{
		const uint64_t row = shard->first + (number - first_number(shard.get()));

		if (number < first_number(shard.get()) || row >= shard->first + shard->count)
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
is_right(const Case *it, const std::vector<std::unique_ptr<Shard>> &shards, HgError *error)
{
	std::vector<bool> seen(it->rows, false);
	uint64_t all = 0;

	for (const std::unique_ptr<Shard> &shard : shards)
	{
		const uint32_t bins_log2 = shard->partition.bins_log2;
		Found found;

		if (read_partition(shard.get(), &found, error) != HG_OK)
			return false;
		if (found.starts.front() != 0 || found.starts.back() != shard->partition.count)
			return false;
		for (uint32_t bin = 0; bin + 1 < found.starts.size(); bin++)
		{
			if (found.starts[bin] > found.starts[bin + 1])
				return false;
			for (uint32_t i = found.starts[bin]; i < found.starts[bin + 1]; i++)
			{
				uint64_t key;

				if (!find_row(it, shards, found.rows[i], &seen, &key) ||
					found.words[i] != turned_word(&shard->exchange, key) ||
					bin_of(found.words[i], it->width, bins_log2) != bin)
					return false;
			}
		}
		all += shard->partition.count;
	}
	return all == it->rows;
}

static void
test_case(const Case *it, int devices)
{
	std::vector<std::unique_ptr<Shard>> shards;
	HgStatus status = HG_OK;
	HgError error = {};
	uint64_t first = 0;
	bool right;

	for (uint32_t m = 0; m < it->shards; m++)
	{
		shards.emplace_back(new Shard());
		shards[m]->first = first;
		if (it->one_has_all)
			shards[m]->count = m == it->shards / 2 ? it->rows : 0;
		else
			shards[m]->count = it->rows * (m + 1) / it->shards - it->rows * m / it->shards;
		first += shards[m]->count;
	}
	for (uint32_t m = 0; m < it->shards && status == HG_OK; m++)
		status = open_shard(shards[m].get(), it, m, devices, &error);
	if (status == HG_OK)
		status = exchange_rows(it, shards, &error);
	right = status == HG_OK && is_right(it, shards, &error);
	hg_tap_ok(right,
			  "%u members exchange %llu rows, %u bytes, keys %s%s, %u chunks, 2^%u bins a bin",
			  it->shards, (unsigned long long) it->rows, it->width, keys_names[it->keys],
			  it->one_has_all ? ", which one has" : "", it->chunks, it->more_log2);
	if (!right)
		hg_tap_diag("status %d: %s %s", (int) status, error.message, error.detail);
	for (const std::unique_ptr<Shard> &shard : shards)
		close_shard(shard.get());
}

void
test_cuda_exchange(void)
{
	static const uint64_t rows[] = {0, 1, 1000, 300001};
	int devices = 0;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
		return;
	for (uint32_t shards : {1u, 2u, 3u, 8u})
		for (uint32_t width : {4u, 8u})
			for (uint64_t count : rows)
				for (int keys = KEYS_SPREAD; keys <= KEYS_FEW; keys++)
				{
					const Case it = {shards,
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
