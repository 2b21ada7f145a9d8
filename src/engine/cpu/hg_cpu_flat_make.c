/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_make.c
 *	  Makes flat HashGraphs: rows into bins.
 *
 * This is Algorithm 2 of the paper with memory for some bins at a time. All rows are counted by
 * bin first, so that each added row goes to its position in the memory of its bin. When all rows
 * of a bin are there, Algorithm 1 makes the bin of them (hg_cpu_flat.c), in memory of its
 * owner.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_cpu_flat.h"
#include "hg_cpu_flat_filter.h"

struct HgFlatMaker
{
	const HgHost *host;
	HgFlatShape shape;
	uint64_t bytes;	   /* size of this struct and the arrays behind it */
	uint64_t *counts;  /* [bins] counted rows */
	uint64_t *starts;  /* [bins + 1] where the rows of each begun bin start in keys and numbers */
	uint64_t *cursors; /* [bins] where the next row of each goes */
	uint32_t *offsets; /* [vertices + 1] of the bin that is being finished */
	uint64_t bins;

	uint32_t first; /* the begun bins are first .. end - 1 */
	uint32_t end;
	char *keys; /* keys of the rows of the begun bins */
	uint32_t *numbers;
	uint64_t room; /* bytes of keys and numbers */
};

/* Returns the bytes of a collected row. */
static uint64_t
row_bytes(const HgFlatShape *shape)
{
	return shape->key_width + sizeof(uint32_t);
}

static uint64_t
maker_bytes(const HgFlatShape *shape)
{
	return sizeof(HgFlatMaker) + ((UINT64_C(3) << shape->bins_log2) + 1) * sizeof(uint64_t) +
		   ((UINT64_C(1) << shape->vertices_log2) + 1) * sizeof(uint32_t);
}

HgStatus
hg_flat_maker_open(const HgHost *host, const HgFlatShape *shape, HgFlatMaker **maker,
				   HgError *error)
{
	HgFlatMaker *made;
	void *memory;

	*maker = NULL;
	HG_TRY(hg_cpu_flat_check(shape, error));
	HG_TRY(hg_host_memory_alloc(host, maker_bytes(shape), &memory, error));

	made = memory;
	memset(made, 0, sizeof(*made));
	made->host = host;
	made->shape = *shape;
	made->bytes = maker_bytes(shape);
	made->bins = UINT64_C(1) << shape->bins_log2;
	made->counts = (uint64_t *) (made + 1);
	made->starts = made->counts + made->bins;
	made->cursors = made->starts + made->bins + 1;
	made->offsets = (uint32_t *) (made->cursors + made->bins);
	memset(made->counts, 0, made->bins * sizeof(uint64_t));
	*maker = made;
	return HG_OK;
}

/* Frees the memory of begun bins. */
static void
free_begun(HgFlatMaker *maker)
{
	hg_host_memory_free(maker->host, maker->keys, maker->room);
	maker->keys = NULL;
	maker->first = maker->end = 0;
}

void
hg_flat_maker_close(HgFlatMaker *maker)
{
	if (maker == NULL)
		return;
	free_begun(maker);
	hg_host_memory_free(maker->host, maker, maker->bytes);
}

HgStatus
hg_flat_count(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error)
{
	uint32_t width = maker->shape.key_width;
	uint32_t row_bins[HG_CPU_FLAT_PIECE];
	uint32_t n;

	for (uint64_t from = 0; from < rows->count; from += n)
	{
		HG_TRY(hg_cpu_flat_poll_piece(maker->host, from, error));
		n = hg_cpu_flat_piece(from, rows->count);
		hg_cpu_flat_vertices(hg_cpu_flat_key_at(rows->keys, width, from), width, n,
							 maker->shape.bins_log2, row_bins);
		for (uint32_t i = 0; i < n; i++)
			maker->counts[row_bins[i]]++;
	}
	return HG_OK;
}

/* HG_INVALID if rows of a graph can't be kept: their keys have another width. */
static HgStatus
check_graph(const HgFlatMaker *maker, const HgFlatGraph *graph, HgError *error)
{
	if (graph->shape.key_width != maker->shape.key_width)
		return hg_error_set(error, HG_INVALID, NULL, "keys of another width");
	return hg_cpu_flat_check(&graph->shape, error);
}

/*
 * Returns the maker's bin for the kept rows of a graph's bin; UINT64_MAX if they go to several
 * bins, because the graph has fewer.
 */
static inline uint64_t
bin_of_graph(const HgFlatMaker *maker, const HgFlatGraph *graph, uint64_t number)
{
	uint32_t log2 = maker->shape.bins_log2;

	return graph->shape.bins_log2 >= log2 ? number >> (graph->shape.bins_log2 - log2) : UINT64_MAX;
}

HgStatus
hg_flat_count_graph(HgFlatMaker *maker, const HgFlatGraph *graph, const HgFlatMask *mask,
					HgError *error)
{
	HgStatus status = check_graph(maker, graph, error);
	uint64_t bins = UINT64_C(1) << graph->shape.bins_log2;
	uint32_t width = maker->shape.key_width;
	HgCpuFlatFilter filter;
	uint32_t n;

	hg_cpu_flat_filter_init(&filter, mask);
	for (uint64_t b = 0; b < bins && status == HG_OK; b++)
	{
		HgCpuFlatBin bin = hg_cpu_flat_bin(graph, b);
		uint64_t to = bin_of_graph(maker, graph, b);

		for (uint64_t from = 0; from < bin.rows; from += n)
		{
			uint64_t keys[HG_CPU_FLAT_PIECE];
			uint32_t numbers[HG_CPU_FLAT_PIECE];
			uint32_t row_bins[HG_CPU_FLAT_PIECE];
			uint32_t nselected;

			status = hg_cpu_flat_poll_piece(maker->host, from, error);
			if (status != HG_OK)
				break;
			n = hg_cpu_flat_piece(from, bin.rows);
			if (to != UINT64_MAX)
				maker->counts[to] += hg_cpu_flat_count_rows(&filter, bin.numbers + from, n);
			else
			{
				nselected =
					hg_cpu_flat_copy_rows(&filter, hg_cpu_flat_key_at(bin.keys, width, from), width,
										  bin.numbers + from, n, keys, numbers);
				hg_cpu_flat_vertices(keys, width, nselected, maker->shape.bins_log2, row_bins);
				for (uint32_t i = 0; i < nselected; i++)
					maker->counts[row_bins[i]]++;
			}
		}
	}
	return status;
}

uint64_t
hg_flat_counted(const HgFlatMaker *maker, uint32_t bin)
{
	return maker->counts[bin];
}

HgStatus
hg_flat_begin(HgFlatMaker *maker, uint32_t first, uint64_t limit, uint32_t *end, HgError *error)
{
	uint64_t each = row_bytes(&maker->shape);
	uint64_t rows = 0;
	uint64_t bin = first;
	void *memory;

	maker->first = maker->end = 0;
	if (first >= maker->bins)
		return hg_error_set(error, HG_INVALID, NULL, "bin %u is begun of %u", (unsigned) first,
							(unsigned) maker->bins);
	do
	{
		maker->starts[bin] = maker->cursors[bin] = rows;
		rows += maker->counts[bin];
		if (rows > HG_MAX_ROWS)
			return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows for a HashGraph");
		bin++;
	} while (bin < maker->bins && (rows + maker->counts[bin]) * each <= limit);

	/* the memory of earlier bins may be large enough */
	if (maker->keys == NULL || maker->room < rows * each)
	{
		free_begun(maker);
		maker->room = rows * each + 1; /* not 0, even without rows */
		HG_TRY(hg_host_memory_alloc(maker->host, maker->room, &memory, error));
		maker->keys = memory;
	}
	maker->starts[bin] = rows;
	maker->numbers = (uint32_t *) (maker->keys + rows * maker->shape.key_width);
	maker->first = first;
	maker->end = *end = (uint32_t) bin;
	return HG_OK;
}

static HgStatus
not_as_counted(HgError *error)
{
	return hg_error_set(error, HG_INVALID, NULL, "rows added are not those that were counted");
}

/*
 * Collects n rows, at most a piece, and skips rows of bins that were not begun. Returns false if
 * there are more rows than were counted. If rows is NULL, they start with first_row.
 */
static HG_CPU_FLAT_INLINE bool
collect(HgFlatMaker *maker, const void *keys, uint32_t width, const uint32_t *rows,
		uint32_t first_row, uint32_t n)
{
	uint32_t begun = maker->end - maker->first;
	uint32_t row_bins[HG_CPU_FLAT_PIECE];

	hg_cpu_flat_vertices(keys, width, n, maker->shape.bins_log2, row_bins);
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t position;

		if (row_bins[i] - maker->first >= begun)
			continue;
		position = maker->cursors[row_bins[i]]++;
		if (position >= maker->starts[row_bins[i] + 1])
			return false;
		memcpy(maker->keys + position * width, hg_cpu_flat_key_at(keys, width, i), width);
		maker->numbers[position] = rows != NULL ? rows[i] : first_row + i;
	}
	return true;
}

static bool
collect_block(HgFlatMaker *maker, const void *keys, const uint32_t *rows, uint32_t first_row,
			  uint32_t n)
{
	return maker->shape.key_width == 4 ? collect(maker, keys, 4, rows, first_row, n)
									   : collect(maker, keys, 8, rows, first_row, n);
}

HgStatus
hg_flat_add(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error)
{
	uint32_t n;

	for (uint64_t from = 0; from < rows->count; from += n)
	{
		HG_TRY(hg_cpu_flat_poll_piece(maker->host, from, error));
		n = hg_cpu_flat_piece(from, rows->count);
		if (!collect_block(maker, hg_cpu_flat_key_at(rows->keys, maker->shape.key_width, from),
						   rows->rows != NULL ? rows->rows + from : NULL,
						   rows->first_row + (uint32_t) from, n))
			return not_as_counted(error);
	}
	return HG_OK;
}

/* Collects rows of a graph's bin that count, all of which go to one begun bin. */
static bool
copy_to_bin(HgFlatMaker *maker, uint64_t to, const HgCpuFlatBin *bin, uint64_t from, uint32_t n,
			const HgCpuFlatFilter *filter)
{
	uint32_t width = maker->shape.key_width;
	uint64_t position = maker->cursors[to];
	uint32_t nselected;

	if (maker->starts[to + 1] - position < n)
	{
		/* there may be room for those that count */
		nselected = hg_cpu_flat_count_rows(filter, bin->numbers + from, n);
		if (maker->starts[to + 1] - position < nselected)
			return false;
	}
	nselected = hg_cpu_flat_copy_rows(filter, hg_cpu_flat_key_at(bin->keys, width, from), width,
									  bin->numbers + from, n, maker->keys + position * width,
									  maker->numbers + position);
	maker->cursors[to] += nselected;
	return true;
}

/* Collects rows that may go to several bins. */
static bool
copy_to_bins(HgFlatMaker *maker, const HgCpuFlatBin *bin, uint64_t from, uint32_t n,
			 const HgCpuFlatFilter *filter)
{
	uint32_t width = maker->shape.key_width;
	uint64_t keys[HG_CPU_FLAT_PIECE];
	uint32_t numbers[HG_CPU_FLAT_PIECE];
	uint32_t nselected = hg_cpu_flat_copy_rows(filter, hg_cpu_flat_key_at(bin->keys, width, from),
											   width, bin->numbers + from, n, keys, numbers);

	return collect_block(maker, keys, numbers, 0, nselected);
}

HgStatus
hg_flat_add_graph(HgFlatMaker *maker, const HgFlatGraph *graph, const HgFlatMask *mask,
				  HgError *error)
{
	HgStatus status = check_graph(maker, graph, error);
	uint32_t bins_log2 = graph->shape.bins_log2;
	uint32_t wanted_log2 = maker->shape.bins_log2;
	uint64_t b = maker->first;
	uint64_t last = (uint64_t) maker->end - 1;
	HgCpuFlatFilter filter;
	uint32_t n;

	if (maker->first == maker->end)
		return hg_error_set(error, HG_INVALID, NULL, "no bins were begun");

	/* the bins of the graph that contain the begun bins, or that these are made of */
	if (bins_log2 >= wanted_log2)
	{
		b <<= bins_log2 - wanted_log2;
		last = ((last + 1) << (bins_log2 - wanted_log2)) - 1;
	}
	else
	{
		b >>= wanted_log2 - bins_log2;
		last >>= wanted_log2 - bins_log2;
	}
	hg_cpu_flat_filter_init(&filter, mask);
	for (; b <= last && status == HG_OK; b++)
	{
		HgCpuFlatBin bin = hg_cpu_flat_bin(graph, b);
		uint64_t to = bin_of_graph(maker, graph, b);

		for (uint64_t from = 0; from < bin.rows; from += n)
		{
			status = hg_cpu_flat_poll_piece(maker->host, from, error);
			if (status != HG_OK)
				break;
			n = hg_cpu_flat_piece(from, bin.rows);
			if (to != UINT64_MAX ? !copy_to_bin(maker, to, &bin, from, n, &filter)
								 : !copy_to_bins(maker, &bin, from, n, &filter))
				return not_as_counted(error);
		}
	}
	return status;
}

HgStatus
hg_flat_finish_bin(HgFlatMaker *maker, uint32_t bin, void *memory, HgError *error)
{
	HgFlatRows rows = {0};

	if (bin < maker->first || bin >= maker->end)
		return hg_error_set(error, HG_INVALID, NULL, "a bin is finished that was not begun");
	if (maker->cursors[bin] != maker->starts[bin + 1])
		return not_as_counted(error);
	if (maker->counts[bin] == 0)
		return HG_OK;
	rows.keys = hg_cpu_flat_key_at(maker->keys, maker->shape.key_width, maker->starts[bin]);
	rows.rows = maker->numbers + maker->starts[bin];
	rows.count = maker->counts[bin];
	return hg_cpu_flat_bin_make(maker->host, &maker->shape, &rows, maker->offsets, memory, error);
}

/* A graph that was made in one block: the bins follow the array of their addresses. */
typedef struct MadeGraph
{
	HgFlatGraph graph;
	uint64_t bytes;
	const HgFlatBin *bins[];
} MadeGraph;

uint64_t
hg_flat_make_bytes(const HgFlatShape *shape, uint64_t rows)
{
	uint64_t bins = UINT64_C(1) << shape->bins_log2;
	uint64_t offsets_bytes = ((UINT64_C(1) << shape->vertices_log2) + 1) * sizeof(uint32_t);

	/* the alignment of a bin's arrays takes at most 7 bytes each */
	return maker_bytes(shape) + rows * row_bytes(shape) + 1 + sizeof(MadeGraph) +
		   rows * row_bytes(shape) +
		   bins * (sizeof(HgFlatBin *) + sizeof(HgFlatBin) + offsets_bytes + 3 * 7 +
				   HG_CPU_FLAT_PADDING);
}

/* Allocates a block for the graph of what a maker has counted; its bins are not made yet. */
static HgStatus
open_graph(const HgFlatMaker *maker, MadeGraph **graph, HgError *error)
{
	uint64_t bytes = sizeof(MadeGraph) + maker->bins * sizeof(HgFlatBin *);
	char *bin;
	void *memory;

	for (uint64_t b = 0; b < maker->bins; b++)
		bytes += hg_flat_bin_bytes(&maker->shape, maker->counts[b]);
	HG_TRY(hg_host_memory_alloc(maker->host, bytes, &memory, error));

	*graph = memory;
	(*graph)->bytes = bytes;
	(*graph)->graph.shape = maker->shape;
	(*graph)->graph.rows = 0;
	(*graph)->graph.bins = (*graph)->bins;
	bin = (char *) ((*graph)->bins + maker->bins);
	for (uint64_t b = 0; b < maker->bins; b++)
	{
		(*graph)->bins[b] = maker->counts[b] == 0 ? NULL : (const HgFlatBin *) bin;
		(*graph)->graph.rows += maker->counts[b];
		bin += hg_flat_bin_bytes(&maker->shape, maker->counts[b]);
	}
	return HG_OK;
}

HgStatus
hg_flat_make(const HgHost *host, const HgFlatShape *shape, const HgFlatRows *pieces,
			 uint32_t npieces, HgFlatGraph **graph, HgError *error)
{
	MadeGraph *made = NULL;
	HgFlatMaker *maker;
	HgStatus status = HG_OK;
	uint32_t end;

	*graph = NULL;
	HG_TRY(hg_flat_maker_open(host, shape, &maker, error));
	for (uint32_t i = 0; i < npieces && status == HG_OK; i++)
		status = hg_flat_count(maker, &pieces[i], error);
	if (status == HG_OK)
		status = hg_flat_begin(maker, 0, UINT64_MAX, &end, error);
	for (uint32_t i = 0; i < npieces && status == HG_OK; i++)
		status = hg_flat_add(maker, &pieces[i], error);
	if (status == HG_OK)
		status = open_graph(maker, &made, error);
	for (uint64_t b = 0; b < maker->bins && status == HG_OK; b++)
		status = hg_flat_finish_bin(maker, (uint32_t) b, (void *) made->bins[b], error);
	hg_flat_maker_close(maker);
	if (status == HG_OK)
		*graph = &made->graph;
	else if (made != NULL)
		hg_host_memory_free(host, made, made->bytes);
	return status;
}

void
hg_flat_destroy(const HgHost *host, HgFlatGraph *graph)
{
	MadeGraph *made = (MadeGraph *) graph;

	if (made != NULL)
		hg_host_memory_free(host, made, made->bytes);
}
