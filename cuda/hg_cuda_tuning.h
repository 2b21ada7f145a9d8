/*-------------------------------------------------------------------------
 *
 * hg_cuda_tuning.h
 *	  Numbers that were chosen by measuring: sizes of blocks, tiles and pieces.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TUNING_H
#define HG_CUDA_TUNING_H

#include <cstddef>
#include <cstdint>

/* Kernels that stream over arrays. */
constexpr int HG_STREAM_THREADS = 256;
constexpr int HG_STREAM_ITEMS = 4;

/*
 * Building a bin: a block holds HG_BIN_ROWS rows at most.  The mean is at most half
 * that, so that a uniform hash and a few dozen duplicates a key stay well below it.
 * hg_bin_blocks() are to run on a multiprocessor at a time.
 */
constexpr int HG_BIN_THREADS = 512;
constexpr int HG_BIN_ITEMS = 8;
constexpr int
hg_bin_blocks(size_t word_bytes)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
	return word_bytes == 4 ? 2 : 1; /* half as many threads as others */
#else
	return word_bytes == 4 ? 3 : 2;
#endif
}
constexpr int HG_BIN_ROWS = HG_BIN_THREADS * HG_BIN_ITEMS;
constexpr int HG_BIN_MEAN_ROWS = HG_BIN_ROWS / 2;
constexpr int HG_BIN_VERTICES = 8192; /* per bin, at most */

/*
 * A list of several keys that is longer than this is not put in the order of its keys
 * by the block or thread that built it, but by sorting all edges.
 */
constexpr uint32_t HG_LIST_ORDERED = 128;

/* Lists up to this long are ordered without asking whether they have several keys. */
constexpr uint32_t HG_LIST_SHORT = 8;

/* Lists up to this long are searched from the front, longer ones by bisection. */
constexpr uint32_t HG_LIST_WALKED = 16;

/*
 * Matching: a block looks up HG_TILE_ITEMS rows.  A block that writes pairs writes
 * HG_UNIT_PAIRS of one tile at most.
 */
constexpr int HG_TILE_THREADS = 256;
constexpr int HG_TILE_ITEMS_PER_THREAD = 8;
constexpr int HG_TILE_ITEMS = HG_TILE_THREADS * HG_TILE_ITEMS_PER_THREAD;
constexpr uint32_t HG_UNIT_PAIRS = 8192;

/* Counters are spread over this many places, so that blocks seldom meet. */
constexpr int HG_COUNTER_STRIPES = 64;

/*
 * Rows that one launch works on at most: some milliseconds on a current device.  The
 * host looks at cancellation while it waits, but work that was launched runs on.
 */
constexpr uint64_t HG_PIECE_ROWS = UINT64_C(1) << 26;

/*
 * More rows than this are sorted by one digit at a time, with a look at cancellation between
 * them.  Fewer are sorted at once, which reads the keys less often.
 */
constexpr uint64_t HG_SORT_AT_ONCE = UINT64_C(1) << 27;
constexpr int HG_SORT_DIGIT_BITS = 8;

/* Keys that one append copies at a time, and pairs that one chunk holds at most. */
constexpr uint64_t HG_APPEND_KEYS = UINT64_C(1) << 22;
constexpr uint64_t HG_CHUNK_PAIRS = UINT64_C(1) << 22;

/* Where memory is short a chunk of pairs is smaller, but not smaller than this. */
constexpr uint64_t HG_LEAST_CHUNK_PAIRS = UINT64_C(1) << 10;

/*
 * An inner graph up to this size is probed by outer rows in any order, where these are
 * many more: it stays in the L2 cache.
 */
constexpr uint64_t HG_STANDARD_UP_TO_BYTES = UINT64_C(64) << 20;
constexpr uint64_t HG_STANDARD_MIN_RATIO = 4;

/* Jobs smaller than this stay in the L2 cache anyway: v1 is as good there. */
constexpr uint64_t HG_BINNED_FROM_BYTES = UINT64_C(24) << 20;

#endif /* HG_CUDA_TUNING_H */
