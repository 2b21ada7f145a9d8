/*-------------------------------------------------------------------------
 *
 * hg_lookup_build.c
 *	  Builds the table of the inner rows of a job.
 *
 * All rows are one batch, since some kinds build a new table for each batch.  Keys of several
 * arrays are copied into one array meanwhile.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_lookup_job.h"

#include <string.h>

/* Bytes of keys that are copied between two polls of cancelled(). */
#define COPIED_BYTES (256 * 1024)

/* Sets *keys to all keys of a side in one array: its own if it has one, else *copy, of *bytes. */
static HgStatus
side_together(HgLookupJob *job, const HgHostSide *side, const void **keys, void **copy,
			  uint64_t *bytes, HgError *error)
{
	const uint32_t width = job->base.spec.key_width;
	char *to;
	HgStatus status;

	*copy = NULL;
	*bytes = side->rows * width;
	*keys = side->piece_count > 0 ? side->pieces[0].keys : NULL;
	if (side->piece_count <= 1)
		return HG_OK;
	if (*bytes > hg_host_room(&job->base, 0))
		return hg_error_set(error, HG_OUT_OF_MEMORY, NULL, "out of memory");
	status = hg_host_alloc(&job->base, *bytes, copy, error);
	*keys = to = *copy;
	for (size_t i = 0; i < side->piece_count && status == HG_OK; i++)
	{
		const uint64_t of_piece = side->pieces[i].count * width;

		for (uint64_t at = 0; at < of_piece && status == HG_OK; at += COPIED_BYTES)
		{
			memcpy(to + at, (const char *) side->pieces[i].keys + at,
				   of_piece - at < COPIED_BYTES ? of_piece - at : COPIED_BYTES);
			status = hg_host_poll(&job->base, error);
		}
		to += of_piece;
	}
	return status;
}

/* Sets *spec to the parameters of the table; false if its kind can not have the content. */
static bool
choose_spec(HgLookupJob *job, HgTableSpec *spec)
{
	const uint64_t room = hg_host_room(&job->base, 0);

	*spec = (HgTableSpec){.kind = job->base.spec.table,
						  .content = !job->base.spec.first_only	 ? HG_TABLE_MULTIMAP
									 : job->base.spec.outer_only ? HG_TABLE_SET
																 : HG_TABLE_MAP,
						  .key_width = job->base.spec.key_width,
						  .expected_rows = job->base.sides[HG_INNER].rows,
						  .load_factor = job->base.spec.load_factor};
	/* if keys are unique, a map holds them */
	if (!hg_table_traits(spec->kind, spec->content).possible)
		spec->content = HG_TABLE_MAP;
	/* 0 would mean no limit */
	spec->memory_limit = room == UINT64_MAX ? 0 : room > 0 ? room : 1;
	job->content = spec->content;
	return hg_table_traits(spec->kind, spec->content).possible;
}

/* Returns true if the table has every row that the job needs. */
static bool
is_complete(const HgLookupJob *job, const HgTableChange *change)
{
	return job->content == HG_TABLE_MULTIMAP || job->base.spec.first_only ||
		   change->inserted == job->base.sides[HG_INNER].rows;
}

/* Sets the statistics of the job from the table's. */
static HgStatus
table_note(HgLookupJob *job, HgError *error)
{
	HgTableStats stats;
	HgStatus status = job->lookup->tables->describe(job->table, &stats, error);

	if (status != HG_OK)
		return status;
	job->base.stats.vertices = stats.slots > 0 ? stats.slots : 1;
	job->base.stats.bins = 1;
	job->base.stats.passes = 1;
	job->base.stats.build = HG_BUILD_TABLE;
	job->base.stats.probe = HG_PROBE_STANDARD;
	job->base.stats.table = job->base.spec.table;
	hg_host_note_peak(&job->base, job->base.held_bytes + stats.peak_bytes);
	return HG_OK;
}

HgStatus
hg_lookup_build(HgLookupJob *job, HgError *error)
{
	HgTables *tables = job->lookup->tables;
	HgTableBatch batch = {.count = job->base.sides[HG_INNER].rows};
	HgTableChange change = {0};
	HgTableSpec spec;
	uint64_t bytes;
	void *copy;
	HgStatus status;

	/* the copy first: its memory is not available for the table */
	status = side_together(job, &job->base.sides[HG_INNER], &batch.keys, &copy, &bytes, error);
	if (status == HG_OK && !choose_spec(job, &spec))
		status = hg_error_set(error, HG_INVALID, NULL, "no table of this kind for a join");
	if (status == HG_OK)
		status = tables->open(tables, job->base.host, &spec, &job->table, error);
	if (status == HG_OK && batch.count > 0)
		status = tables->build(job->table, &batch, &change, error);
	if (status == HG_OK && !is_complete(job, &change))
		status = hg_error_set(error, HG_INVALID, NULL, "keys are not unique");
	/* a stream of matches must have room beside the table */
	if (status == HG_OK && job->content == HG_TABLE_MULTIMAP)
	{
		HgTableStream *stream = NULL;

		status = tables->match(job->table, NULL, 0, &stream, error);
		if (stream != NULL)
			tables->end(stream);
	}
	if (status == HG_OK)
		status = table_note(job, error);
	hg_host_free(&job->base, copy, bytes);
	return status;
}

void
hg_lookup_close_table(HgLookupJob *job)
{
	if (job->table != NULL)
		job->lookup->tables->close(job->table);
	job->table = NULL;
}
