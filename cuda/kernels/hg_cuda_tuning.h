/*-------------------------------------------------------------------------
 *
 * hg_cuda_tuning.h
 *	  Sizes of blocks, tiles and pieces, chosen by measurements.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TUNING_H
#define HG_CUDA_TUNING_H

#include <cstddef>
#include <cstdint>

/* Returns the blocks of a kernel that works on n items, per_block items a block. */
constexpr unsigned
hg_blocks_for(uint64_t n, uint64_t per_block)
{
	return (unsigned) ((n + per_block - 1) / per_block);
}

/* Kernels that stream over arrays. */
constexpr int HG_STREAM_THREADS = 256;
constexpr int HG_STREAM_ITEMS = 4;

/*
 * Putting rows into bins.  A tile is HG_PARTITION_THREADS * HG_PARTITION_ITEMS rows, half of
 * that where shared memory is short, or, for more than HG_PARTITION_FEW_LOG2 bits, as many with
 * HG_PARTITION_WIDE_THREADS.  A pass takes as many bits as there are threads for digits.
 * (Measured on an H200, 2^25 keys of 4 bytes: 8 bits 0.17 ms with narrow tiles and 0.19 ms with
 * wide ones; 10 bits 0.27 and 0.21 ms; 13 bits at once 0.62 ms.)
 */
constexpr int HG_PARTITION_THREADS = 512;
constexpr int HG_PARTITION_WIDE_THREADS = 1024;
constexpr int HG_PARTITION_ITEMS = 16;
constexpr uint32_t HG_PARTITION_FEW_LOG2 = 8;
constexpr uint32_t HG_PARTITION_NARROW_LOG2 = 9;
constexpr uint32_t HG_PARTITION_WIDE_LOG2 = 10;
constexpr size_t HG_PARTITION_STATIC_SHARED = 2048; /* upper bound, for prefix sums */
constexpr uint32_t HG_DIGITS_BLOCKS = 1024;			/* most blocks that count digits */

/*
 * Counting the rows of all bins before the first pass: HG_COUNT_BLOCKS blocks, two on each
 * multiprocessor of the biggest device, and HG_COUNT_ROWS rows a launch, as they are only read.
 */
constexpr int HG_COUNT_THREADS = 1024;
constexpr int HG_COUNT_ITEMS = 8;
constexpr uint32_t HG_COUNT_BLOCKS = 264;
constexpr uint64_t HG_COUNT_ROWS = UINT64_C(1) << 28;

/* Returns the blocks that should run on a multiprocessor at a time. */
constexpr int
hg_partition_blocks(size_t word_bytes, int threads)
{
	return threads == HG_PARTITION_THREADS && word_bytes == 4 ? 2 : 1;
}

/*
 * Building a bin: a block holds at most HG_BIN_ROWS rows.  The mean is at most half of that, so
 * that a uniform hash and a few dozen duplicates of a key stay well below it.  hg_bin_blocks() are
 * meant to run on a multiprocessor at a time.
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
constexpr int HG_BIN_VERTICES = 8192; /* most vertices of a bin */

/*
 * Joining a bin: a block holds hg_bins_rows() inner rows, or, with more threads, as many as fit
 * shared memory.  The number of bins makes the mean at most hg_bins_mean_rows(), and the vertices
 * of a bin at most hg_bins_vertices().  The sizes fit the 64 KB of sm_75, and three blocks or more
 * a multiprocessor with 163 KB or 227 KB.  (Measured on an H200, 2^25 unique keys of 4 bytes: bins
 * of 4096 rows 0.33 ms, of 2048 0.34 ms, of 8192 0.42 ms, of 16384 0.45 ms.)
 *
 * A block takes HG_BINS_UNITS units of outer rows of a bin, of HG_BINS_ITEMS rows a thread.
 */
constexpr int HG_BINS_THREADS = 512;
constexpr int HG_BINS_WIDE_THREADS = 1024;
constexpr int HG_BINS_ITEMS = 4;
constexpr int HG_BINS_LOADS = 8; /* inner rows that a thread loads at a time */
constexpr uint32_t HG_BINS_UNITS = 16;
constexpr uint32_t HG_BINS_GROUP = 8; /* threads that walk a list together */
constexpr size_t HG_BINS_STATIC_SHARED = 2048;

constexpr uint32_t
hg_bins_mean_rows(size_t word_bytes)
{
	return word_bytes == 4 ? 4096 : 2048;
}

constexpr uint32_t
hg_bins_rows(size_t word_bytes)
{
	return word_bytes == 4 ? 5120 : 3072;
}

constexpr uint32_t
hg_bins_vertices(size_t word_bytes)
{
	return word_bytes == 4 ? 4096 : 2048;
}

/* Returns the blocks that should run on a multiprocessor at a time. */
constexpr int
hg_bins_blocks(size_t word_bytes, int threads)
{
	if (threads != HG_BINS_THREADS)
		return 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
	return word_bytes == 4 ? 2 : 1; /* half as many threads as others */
#else
	return word_bytes == 4 ? 3 : 2;
#endif
}

/*
 * Building the graphs of both sides of a bin: a block holds as many rows as fit HG_BOTH_SHARED
 * bytes of shared memory, or, with more threads, all of it.  The number of bins makes the mean at
 * most hg_both_mean_rows() rows of both sides together, and the vertices of a bin at most
 * hg_both_vertices().  The sizes fit two blocks a multiprocessor with 227 KB, and one with the 99
 * KB of sm_86 and sm_89.  The 64 KB of sm_75 hold two thirds of the biggest mean: longer bins take
 * one more pass there (hg_cuda_both.cu).
 *
 * (Measured on an H200, 2^27 outer and 2^20 inner rows of 4 bytes: bins of 8192 rows, two blocks a
 * multiprocessor, 39.0 G rows/s, build and pairs; with 2^22 inner rows 38.8, and 40.0 where one in
 * ten matches.  Bins of 4096 rows, three blocks, were slower.)
 */
constexpr size_t HG_BOTH_SHARED = 110 * 1024;

constexpr uint32_t
hg_both_mean_rows(size_t word_bytes)
{
	return word_bytes == 4 ? 9216 : 6144;
}

constexpr uint32_t
hg_both_vertices(size_t word_bytes)
{
	return word_bytes == 4 ? 2048 : 1024;
}

/* Returns the blocks that should run on a multiprocessor at a time. */
constexpr int
hg_both_blocks(int threads)
{
	return threads == HG_BINS_THREADS ? 2 : 1;
}

/*
 * Outer rows of the first launch of a pass over the bins.  The next launches take more as long as
 * each ends within HG_BINS_LAUNCH_MS.
 */
constexpr uint64_t HG_BINS_FIRST_ROWS = UINT64_C(1) << 25;
constexpr double HG_BINS_LAUNCH_MS = 2.0;

/*
 * A list of several keys that is longer than this is not sorted by the block or thread that built
 * it, but by a sort of all edges.
 */
constexpr uint32_t HG_LIST_ORDERED = 128;

/* Lists up to this long are sorted without a check whether they have several keys. */
constexpr uint32_t HG_LIST_SHORT = 8;

/* Lists up to this long are searched from the front, longer ones by bisection. */
constexpr uint32_t HG_LIST_WALKED = 16;

/*
 * Matching: a block looks up HG_TILE_ITEMS rows.  A block that writes pairs writes at most
 * HG_UNIT_PAIRS of one tile.
 */
constexpr int HG_TILE_THREADS = 256;
constexpr int HG_TILE_ITEMS_PER_THREAD = 8;
constexpr int HG_TILE_ITEMS = HG_TILE_THREADS * HG_TILE_ITEMS_PER_THREAD;
constexpr uint32_t HG_UNIT_PAIRS = 8192;

/* Counters are spread over this many stripes, so that blocks seldom collide. */
constexpr int HG_COUNTER_STRIPES = 64;

/*
 * Most rows of one launch: some milliseconds on a current device.  The host checks for
 * cancellation while it waits, but a launched kernel runs to its end.
 */
constexpr uint64_t HG_PIECE_ROWS = UINT64_C(1) << 26;

/* The same for kernels that read or write at random for each row. */
constexpr uint64_t HG_FOUND_ROWS = UINT64_C(1) << 24;

/* Rows for which one thread runs a program (hg_cuda_compute.cu). */
constexpr int HG_COMPUTE_ROWS = 4;

/*
 * More rows than this are sorted by one digit at a time, with a check for cancellation between
 * them.  Fewer are sorted at once, which reads the keys less often.
 */
constexpr uint64_t HG_SORT_AT_ONCE = UINT64_C(1) << 27;
constexpr int HG_SORT_DIGIT_BITS = 8;

/* Most keys that one append copies at a time. */
constexpr uint64_t HG_APPEND_KEYS = UINT64_C(1) << 22;

/*
 * Bytes of pages that are parsed at a time: a slot of staging, which is enough for a warp or more
 * on each multiprocessor.  HG_PAGES_THREADS are the threads of a block, whose warps have a page
 * each.
 *
 * A job has at most HG_PIECES further pieces beside the one that it was admitted with, and
 * HG_PIECES_BYTES of them: two for each participant of a shared job that copies at the speed of
 * the bus, so that one is filled while rows are written out of the other.  An only process has
 * HG_PIECES_ALONE.
 */
constexpr uint64_t HG_PAGES_PIECE_BYTES = UINT64_C(8) << 20;
constexpr int HG_PAGES_THREADS = 128;
constexpr int HG_PIECES = 32;
constexpr int HG_PIECES_ALONE = 2;
constexpr uint64_t HG_PIECES_BYTES = UINT64_C(128) << 20;

/*
 * A chunk of pairs has room for HG_CHUNK_PAIRS if memory allows, and for up to HG_CHUNK_MOST_PAIRS
 * if they take at most one part in HG_CHUNK_SHARE of the spare memory (hg_cuda_stream.cu says
 * why).  Pairs that do not fit one chunk are matched twice: 2^25 unique keys a side take 0.5 ms
 * more, and each chunk some 0.05 ms for its launches and waits, while the copy of 2^25 pairs takes
 * 5.4 ms at 50 GB/s.  Beyond 2 GB of pairs that gain is not worth more memory.
 */
constexpr uint64_t HG_CHUNK_PAIRS = UINT64_C(1) << 22;
constexpr uint64_t HG_CHUNK_MOST_PAIRS = UINT64_C(1) << 28;
constexpr uint64_t HG_CHUNK_SHARE = 4;

/* If memory is short a chunk of pairs is smaller, but not smaller than this. */
constexpr uint64_t HG_LEAST_CHUNK_PAIRS = UINT64_C(1) << 10;

/* Most matches that leave the device at a time with values of their rows. */
constexpr uint64_t HG_GATHER_PAIRS = UINT64_C(1) << 16;

/*
 * Grouping of matches: a launch takes HG_REDUCE_PAIRS pairs at most, with blocks enough to fill a
 * device.  Each block has entries for some groups in shared memory, and adds them to the records
 * at its end.  At most HG_REDUCE_RECORDS records leave the device at a time.
 */
constexpr int HG_REDUCE_THREADS = 512;
constexpr uint32_t HG_REDUCE_BLOCKS = 512;
constexpr uint64_t HG_REDUCE_PAIRS = UINT64_C(1) << 22;
constexpr size_t HG_REDUCE_SHARED = 24576;
constexpr uint32_t HG_REDUCE_ENTRIES = 256;
constexpr uint64_t HG_REDUCE_RECORDS = UINT64_C(1) << 17;

/*
 * At least this many pairs of one group in a warp are added up before they are added to the group.
 * Of 6, 8 and 16 none is best for all.  With 6 ten groups take up to a sixth longer.  With 16 a
 * sum where every fourth pair is of one group takes a tenth longer, and four equal groups a
 * quarter less.
 */
constexpr int HG_REDUCE_CROWD = 8;

/*
 * An inner graph up to this size is probed by outer rows in any order, if these are at least
 * HG_STANDARD_MIN_RATIO times as many: it stays in the L2 cache.
 *
 * (Measured on an H200, 2^27 outer and 2^20 inner rows of 4 bytes: 2.1 ms, pairs written.  A table
 * of words and rows side by side in its place, probed from a word's slot on, took 2.4 ms for the
 * count alone with a quarter of its slots used, and 3.3 with half of them.)
 */
constexpr uint64_t HG_STANDARD_UP_TO_BYTES = UINT64_C(64) << 20;
constexpr uint64_t HG_STANDARD_MIN_RATIO = 4;

/* Jobs smaller than this stay in the L2 cache, where v1 is as fast. */
constexpr uint64_t HG_BINNED_FROM_BYTES = UINT64_C(24) << 20;

#endif /* HG_CUDA_TUNING_H */
