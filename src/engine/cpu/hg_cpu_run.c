/*-------------------------------------------------------------------------
 *
 * hg_cpu_run.c
 *	  Runs: rows copied in the order of their bins, the first half of Algorithm 2.
 *
 * The keys of a side are divided into runs of about a million, and each run is binned by itself.
 * So no side needs its memory in one piece, participants of a shared job need not wait for each
 * other's counts, and the keys come from the cache when they are read again:
 *
 *	1. count the rows of every bin; a prefix sum gives where each bin starts;
 *	2. move each row, as an edge with its mixed key, to the next free position of its bin.
 *
 * Writing single edges to a thousand positions at once would fetch each line of memory before it
 * is written. So every bin has a line of a few edges in the cache, which goes to memory when it is
 * full, past the cache.
 *
 * Lines are aligned in memory. A bin that starts within a line still writes that line whole, with
 * rubbish before its start. The rubbish falls on the end of earlier bins, whose last lines are not
 * full: these are written last of all.
 *
 * The two steps are kernels, compiled for several instruction sets and chosen at run time. The
 * compiler makes vector instructions of mixing a block of keys; lines are written in stores as
 * wide as the set has. (Measured on 10^7 shuffled keys of 4 bytes in 2^9 bins, one core of a Xeon
 * with AVX-512: step 1 in 5 ms, with plain instructions 10; step 2 in 23 ms, with stores of 16
 * bytes 30, without lines 40.)
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_phases.h"

#include "../hg_features.h"
#include "../hg_hash.h"
#include "hg_cpu_side.h"
#include "hg_cpu_participants.h"

#ifdef HG_CPU_X86
#include <immintrin.h>
#endif

/* Keys that are mixed at a time. */
#define BLOCK 512

/* The edges that move to a bin at once: one line of 64 bytes, and three of them. */
#define LINE_EDGES32 8
#define LINE_EDGES64 16

/* The size of a run with its header: that of a shared job's chunk. */
#define RUN_BYTES HG_SHARED_JOB_CHUNK_BYTES

/* The alignment of edges. */
#define EDGES_ALIGN 64

/* Counts keys: counts[b + 1] grows by those of bin b of 2^log2. */
typedef void (*CountKernel)(const void *keys, uint32_t n, uint32_t log2, uint32_t *counts);

/*
 * Moves keys, whose rows are numbered from row on, to their bins. cursors[b] is the next free
 * position of bin b in edges, and lines has the current line of each bin.
 */
typedef void (*MoveKernel)(const void *keys, uint32_t n, uint32_t row, uint32_t log2,
						   uint32_t *cursors, void *lines, void *edges);

/*
 * stream_line_<isa>: writes one line of 64 bytes to memory without reading it first. Both
 * addresses are aligned to 64.
 */
static inline void
stream_line_portable(void *to, const void *from)
{
#ifdef HG_CPU_X86
	for (int i = 0; i < 64; i += 16)
		_mm_stream_si128((__m128i *) ((char *) to + i),
						 _mm_load_si128((const __m128i *) ((const char *) from + i)));
#else
	memcpy(to, from, 64);
#endif
}

/* Orders streamed stores before all later stores. */
static inline void
stream_end(void)
{
#ifdef HG_CPU_X86
	_mm_sfence();
#endif
}

#define HG_ISA portable
#define HG_TARGET
#define HG_KEY_BITS 32
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
#undef HG_ISA
#undef HG_TARGET

#ifdef HG_CPU_X86
#define HG_ISA avx2
#define HG_TARGET HG_CPU_TARGET_AVX2
HG_TARGET static inline void
stream_line_avx2(void *to, const void *from)
{
	for (int i = 0; i < 64; i += 32)
		_mm256_stream_si256((__m256i *) ((char *) to + i),
							_mm256_load_si256((const __m256i *) ((const char *) from + i)));
}
#define HG_KEY_BITS 32
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
#undef HG_ISA
#undef HG_TARGET

#define HG_ISA avx512
#define HG_TARGET HG_CPU_TARGET_AVX512
HG_TARGET static inline void
stream_line_avx512(void *to, const void *from)
{
	_mm512_stream_si512((void *) to, _mm512_load_si512(from));
}
#define HG_KEY_BITS 32
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
#define HG_KEY_BITS 64
#include "hg_cpu_run_impl.h"
#undef HG_KEY_BITS
#undef HG_ISA
#undef HG_TARGET
#endif

/* The kernels for a key width. */
typedef struct Kernels
{
	CountKernel count;
	MoveKernel move;
	uint32_t line_edges;
} Kernels;

static Kernels
choose_kernels(uint32_t key_width)
{
	static const Kernels kernels[][2] = {
		{{count_keys32_portable, move_keys32_portable, LINE_EDGES32},
		 {count_keys64_portable, move_keys64_portable, LINE_EDGES64}},
#ifdef HG_CPU_X86
		{{count_keys32_avx2, move_keys32_avx2, LINE_EDGES32},
		 {count_keys64_avx2, move_keys64_avx2, LINE_EDGES64}},
		{{count_keys32_avx512, move_keys32_avx512, LINE_EDGES32},
		 {count_keys64_avx512, move_keys64_avx512, LINE_EDGES64}},
#endif
	};

	return kernels[hg_cpu_features()][key_width == 8];
}

/* The state of binning a side. */
typedef struct Binning
{
	HgJob *job;
	HgSide which;
	Kernels kernels;
	uint32_t log2;
	uint64_t bins;
	size_t edge_size;
	uint32_t *cursors; /* [bins] */
	void *lines;	   /* [bins][line_edges] edges */
	uint64_t cursors_bytes;
	uint64_t lines_bytes;
} Binning;

/* Returns the most bytes before a run's edges: its header and the alignment. */
static uint64_t
edges_room(uint64_t bins)
{
	return sizeof(HgCpuRunHeader) + (bins + 1) * sizeof(uint32_t) + EDGES_ALIGN;
}

/* Copies the rows to their bins: see the head of this file. */
static HgStatus
run_fill(const Binning *binning, HgCpuScan *scan, HgCpuRunHeader *header, HgError *error)
{
	const uint32_t width = binning->job->base.spec.key_width;
	const uint32_t line_edges = binning->kernels.line_edges;
	const uint64_t bins = binning->bins;
	uint32_t *starts = header->starts;
	char *edges = (char *) header + header->edges_at;
	HgCpuScan again = *scan;
	const void *keys = NULL;
	uint32_t count;
	uint32_t row = 0;
	uint32_t sum = 0;

	memset(starts, 0, (bins + 1) * sizeof(uint32_t));
	for (uint32_t left = header->rows; left > 0; left -= count)
	{
		HG_TRY(hg_host_poll(&binning->job->base, error));
		count = hg_cpu_scan_next(scan, width, left < HG_CPU_POLL_ROWS ? left : HG_CPU_POLL_ROWS,
								 &keys, &row);
		binning->kernels.count(keys, count, binning->log2, starts);
	}

	for (uint64_t bin = 0; bin < bins; bin++)
	{
		binning->cursors[bin] = sum;
		sum += starts[bin + 1];
		starts[bin + 1] = sum;
	}

	for (uint32_t left = header->rows; left > 0; left -= count)
	{
		HG_TRY(hg_host_poll(&binning->job->base, error));
		count = hg_cpu_scan_next(&again, width, left < HG_CPU_POLL_ROWS ? left : HG_CPU_POLL_ROWS,
								 &keys, &row);
		binning->kernels.move(keys, count, row, binning->log2, binning->cursors, binning->lines,
							  edges);
	}

	/* the incomplete lines, after all lines that are written whole */
	stream_end();
	for (uint64_t bin = 0; bin < bins; bin++)
	{
		uint32_t end = starts[bin + 1];
		uint32_t from = end - end % line_edges;
		const char *line = (const char *) binning->lines + bin * line_edges * binning->edge_size;

		if (bin % HG_CPU_POLL_ROWS == 0)
			HG_TRY(hg_host_poll(&binning->job->base, error));
		if (from < starts[bin])
			from = starts[bin];
		memcpy(edges + from * binning->edge_size, line + from % line_edges * binning->edge_size,
			   (end - from) * binning->edge_size);
	}
	return HG_OK;
}

/* Makes a run of the next rows of the scan. */
static HgStatus
run_make(const Binning *binning, HgCpuScan *scan, uint32_t rows, HgError *error)
{
	HgJob *job = binning->job;
	uint64_t bytes = edges_room(binning->bins) + rows * binning->edge_size;
	HgCpuRunHeader *header;
	uint64_t handle = 0;
	uintptr_t edges;
	HgStatus status;

	if (job->participants != NULL)
		status = hg_cpu_participants_alloc(job, bytes, &handle, &header, error);
	else
	{
		void *memory;

		status = hg_host_alloc(&job->base, bytes, &memory, error);
		header = memory;
	}
	if (status != HG_OK)
		return status;

	edges = (uintptr_t) header + sizeof(HgCpuRunHeader) + (binning->bins + 1) * sizeof(uint32_t);
	edges = (edges + EDGES_ALIGN - 1) & ~(uintptr_t) (EDGES_ALIGN - 1);
	header->next = 0;
	header->edges_at = (uint32_t) (edges - (uintptr_t) header);
	header->rows = rows;
	status = run_fill(binning, scan, header, error);

	if (job->participants != NULL)
	{
		/* hg_participants_release frees it, although the others cannot use it */
		if (status != HG_OK)
			memset(header->starts, 0, (binning->bins + 1) * sizeof(uint32_t));
		hg_cpu_participants_publish(job, binning->which, handle, header);
		return status;
	}
	if (status == HG_OK)
		status = hg_cpu_run_add(job, &job->sides[binning->which], header, bytes, error);
	if (status != HG_OK)
		hg_host_free(&job->base, header, bytes);
	return status;
}

HgStatus
hg_cpu_bin_side(HgJob *job, HgSide which, HgError *error)
{
	Binning binning = {.job = job,
					   .which = which,
					   .kernels = choose_kernels(job->base.spec.key_width),
					   .log2 = job->shape.bins_log2,
					   .bins = UINT64_C(1) << job->shape.bins_log2,
					   .edge_size = hg_cpu_edge_size(job)};
	const HgHostSide *side = &job->base.sides[which];
	uint64_t run_rows = (RUN_BYTES - edges_room(binning.bins)) / binning.edge_size;
	uint64_t left = side->rows;
	void *cursors = NULL;
	HgCpuScan scan;
	HgStatus status;

	if (left == 0)
		return HG_OK;
	binning.cursors_bytes = binning.bins * sizeof(uint32_t);
	binning.lines_bytes = binning.bins * binning.kernels.line_edges * binning.edge_size;
	status = hg_host_alloc(&job->base, binning.cursors_bytes, &cursors, error);
	binning.cursors = cursors;
	if (status == HG_OK)
		status = hg_host_alloc(&job->base, binning.lines_bytes, &binning.lines, error);

	hg_cpu_scan_init(&scan, side);
	while (status == HG_OK && left > 0)
	{
		uint32_t rows = (uint32_t) (left < run_rows ? left : run_rows);

		status = run_make(&binning, &scan, rows, error);
		left -= rows;

		/* a participant has failed: no rows are needed any more */
		if (job->participants != NULL && hg_cpu_participants_failed(job))
			break;
	}
	hg_host_free(&job->base, binning.lines, binning.lines_bytes);
	hg_host_free(&job->base, cursors, binning.cursors_bytes);
	return status;
}
