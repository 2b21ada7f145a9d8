/*-------------------------------------------------------------------------
 *
 * hg_loader_graph_make.c
 *	  Makes a graph version from segment versions, bin by bin.
 *
 * Rows are counted first.  Then they are collected for as many bins at a time as fit in
 * maintenance_work_mem, so that a graph of any size takes no more than this beside the area.  The
 * rows are hashed once for each time.  If a single bin does not fit, because too many rows have
 * one key, there is no graph.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "miscadmin.h"

#include "loader/hg_loader_graph_make.h"
#include "resident/hg_resident_eviction.h"

typedef HgStatus (*HgGraphTaker)(HgFlatMaker *maker, const HgFlatRows *rows, HgError *error);

/* Passes the words of a batch of a segment's rows, from *row on, to a maker.  Advances *row. */
static HgStatus
hg_graph_feed_batch(HgGraphMaking *making, uint32 segment, uint32 *row, HgFlatMaker *maker,
					HgGraphTaker take, HgError *error)
{
	HgGraphWords *words = making->words;
	int n = hg_graph_words_next(words, *row);
	int count = 0;

	/* narrow words overwrite wide ones from the front on, none before it was read */
	for (int i = 0; i < n; i++)
	{
		if (words->nulls[i])
			continue;
		if (words->encoder->width == sizeof(uint64))
			words->words[count] = words->words[i];
		else
			((uint32 *) words->words)[count] = (uint32) words->words[i];
		making->rows[count++] = HG_FLAT_ROW(segment, *row + i);
	}
	*row += n;
	return take(maker,
				&(HgFlatRows){.keys = words->words, .rows = making->rows, .count = (uint64) count},
				error);
}

/* Passes the rows of a new version to a maker. */
static HgStatus
hg_graph_feed_segment(HgGraphMaking *making, uint32 segment, HgFlatMaker *maker, HgGraphTaker take,
					  HgError *error)
{
	HgGraphWords *words = making->words;
	const HgSegmentArray *array = &words->arrays[0];
	HgStatus status = HG_OK;

	(void) hg_graph_words_begin(words, hg_segment_version(making->added[segment]));
	/* if the values are the words, pass them in place */
	if (hg_key_is_value(words->encoder, HG_OUTER) && array->valid == NULL)
		return take(maker,
					&(HgFlatRows){.keys = array->values,
								  .count = words->nrows,
								  .first_row = HG_FLAT_ROW(segment, 0)},
					error);
	for (uint32 row = 0; row < words->nrows && status == HG_OK;)
	{
		if (making->host.host.cancelled(&making->host))
			return HG_CANCELLED;
		status = hg_graph_feed_batch(making, segment, &row, maker, take, error);
	}
	return status;
}

static HgStatus
hg_graph_feed(HgGraphMaking *making, HgFlatMaker *maker, HgGraphTaker take, HgError *error)
{
	HgStatus status = HG_OK;

	for (uint32 i = 0; i < making->nsegments && status == HG_OK; i++)
		if (DsaPointerIsValid(making->added[i]))
			status = hg_graph_feed_segment(making, i, maker, take, error);
	return status;
}

/* Returns the expected number of rows; those of the older graph are an estimate. */
static uint64
hg_graph_rows(const HgGraphMaking *making)
{
	uint64 rows = 0;
	uint32 copied = 0;
	uint32 listed = 0;

	for (uint32 i = 0; i < making->nsegments; i++)
	{
		copied += making->copied[i] == HG_FLAT_ALL;
		if (DsaPointerIsValid(making->added[i]))
			rows += hg_segment_version(making->added[i])->nrows;
	}
	if (!DsaPointerIsValid(making->old))
		return rows;
	for (uint32 i = 0; i < hg_graph_version(making->old)->nsegments; i++)
	{
		uint64 serial = hg_graph_version_serials(hg_graph_version(making->old))[i];

		listed += serial != 0 && (serial & HG_GRAPH_PASSED) == 0;
	}
	return rows + (uint64) ((double) making->flat.rows * copied / Max(listed, 1));
}

/*
 * ------------------------------------------------------------------------
 * A graph
 * ------------------------------------------------------------------------
 */

/* Raises an error of the engine, unless it was cancelled because the loader has to exit. */
static HgGraphOutcome
hg_graph_fail(HgGraphMaking *making, HgStatus status, const HgError *error)
{
	if (status != HG_CANCELLED || making->host.caught != NULL)
		hg_host_throw(&making->host, status, error);
	return HG_GRAPH_LEFT;
}

/* Allocates a bin; NULL if there is no room.  Evictions make room for all missing bytes. */
static void *
hg_graph_add_bin(const HgGraphMaking *making, HgResidentClaim *claim, HgResidentGraph *graph,
				 uint32 bin, uint64 rows, uint64 missing)
{
	Size bytes = hg_flat_bin_bytes(&graph->shape, rows);
	void *memory = hg_graph_version_add_bin(claim, graph, bin, bytes, rows);

	for (bool more = true; memory == NULL && more;)
	{
		more = hg_eviction_make_room(making->key, missing, false) > 0;
		memory = hg_graph_version_add_bin(claim, graph, bin, bytes, rows);
	}
	return memory;
}

/* Returns the bytes of all bins of a maker that has counted. */
static uint64
hg_graph_bytes(const HgFlatMaker *maker, const HgFlatShape *shape)
{
	uint64 bytes = 0;

	for (uint32 bin = 0; bin < (uint32) 1 << shape->bins_log2; bin++)
		if (hg_flat_counted(maker, bin) > 0)
			bytes += hg_flat_bin_bytes(shape, hg_flat_counted(maker, bin));
	return bytes;
}

/* Returns true if each bin of a maker that has counted fits in a limit by itself. */
static bool
hg_graph_bins_fit(const HgFlatMaker *maker, const HgFlatShape *shape, uint64 limit)
{
	for (uint32 bin = 0; bin < (uint32) 1 << shape->bins_log2; bin++)
		if (hg_flat_bin_bytes(shape, hg_flat_counted(maker, bin)) > limit)
			return false;
	return true;
}

/* Makes the bins of a graph from counted rows. */
static HgGraphOutcome
hg_graph_make_bins(HgGraphMaking *making, HgFlatMaker *maker, HgResidentClaim *claim,
				   HgResidentGraph *graph)
{
	uint64 missing = hg_graph_bytes(maker, &graph->shape);
	uint64 limit = (uint64) maintenance_work_mem * 1024;
	uint32 nbins = (uint32) 1 << graph->shape.bins_log2;
	HgError error;
	uint32 end;

	if (!hg_graph_bins_fit(maker, &graph->shape, limit))
		return HG_GRAPH_NO_BIN;
	if (missing > hg_resident_memory_size())
		return HG_GRAPH_NO_MEMORY;
	for (uint32 first = 0; first < nbins; first = end)
	{
		HgStatus status = hg_flat_begin(maker, first, limit, &end, &error);

		if (status == HG_OK && DsaPointerIsValid(making->old))
			status = hg_flat_add_graph(maker, &making->flat, &making->mask, &error);
		if (status == HG_OK)
			status = hg_graph_feed(making, maker, hg_flat_add, &error);
		for (uint32 bin = first; bin < end && status == HG_OK; bin++)
		{
			uint64 rows = hg_flat_counted(maker, bin);
			void *memory;

			if (rows == 0)
				continue;
			memory = hg_graph_add_bin(making, claim, graph, bin, rows, missing);
			if (memory == NULL)
				return HG_GRAPH_NO_MEMORY;
			status = hg_flat_finish_bin(maker, bin, memory, &error);
			missing -= hg_flat_bin_bytes(&graph->shape, rows);
		}
		if (status != HG_OK)
			return hg_graph_fail(making, status, &error);
	}
	return HG_GRAPH_DONE;
}

HgGraphOutcome
hg_graph_make(HgGraphMaking *making, HgResidentClaim *claim, dsa_pointer *pointer)
{
	HgFlatMaker *maker;
	HgGraphOutcome outcome;
	HgFlatShape shape;
	HgError error;
	HgStatus status;

	if (DsaPointerIsValid(making->old))
	{
		HgResidentGraph *old = hg_graph_version(making->old);
		const HgFlatBin **bins = MemoryContextAllocHuge(
			CurrentMemoryContext, ((Size) 1 << old->shape.bins_log2) * sizeof(HgFlatBin *));

		hg_graph_version_bins(old, bins);
		making->flat = (HgFlatGraph){.shape = old->shape, .rows = old->rows, .bins = bins};
		making->mask = (HgFlatMask){.nparts = making->nsegments, .states = making->copied};
	}
	shape = hg_flat_shape(making->words->encoder->width, hg_graph_rows(making));
	*pointer = hg_graph_version_make(claim, &making->words->key, &shape, making->nsegments);
	if (!DsaPointerIsValid(*pointer))
		return HG_GRAPH_NO_MEMORY;
	memcpy(hg_graph_version_serials(hg_graph_version(*pointer)), making->serials,
		   making->nsegments * sizeof(uint64));

	status = hg_flat_maker_open(&making->host.host, &shape, &maker, &error);
	if (status == HG_OK && DsaPointerIsValid(making->old))
		status = hg_flat_count_graph(maker, &making->flat, &making->mask, &error);
	if (status == HG_OK)
		status = hg_graph_feed(making, maker, hg_flat_count, &error);
	if (status != HG_OK)
		outcome = hg_graph_fail(making, status, &error);
	else
		outcome = hg_graph_make_bins(making, maker, claim, hg_graph_version(*pointer));
	hg_flat_maker_close(maker);
	return outcome;
}
