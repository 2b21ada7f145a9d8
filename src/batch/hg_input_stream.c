/*-------------------------------------------------------------------------
 *
 * hg_input_stream.c
 *	  Rows of an input that are joined as they are read, without storing them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "batch/hg_input.h"
#include "batch/hg_values.h"

StaticAssertDecl(HG_RUN_MOST <= PG_UINT16_MAX, "places of a run's rows are 16-bit");

HgInputStream *
hg_input_stream_create(HgInput *input, HgBatch *out)
{
	HgInputStream *stream = palloc(sizeof(HgInputStream));
	int ncolumns = Max(input->held.ncolumns, 1);

	stream->input = input;
	stream->out = out;
	stream->values = palloc(ncolumns * sizeof(Datum *));
	stream->nulls = palloc(ncolumns * sizeof(bool *));
	for (int c = 0; c < input->held.ncolumns; c++)
	{
		stream->values[c] = out->values[input->held.to[c]];
		stream->nulls[c] = out->nulls[input->held.to[c]];
	}
	stream->nrows = 0;
	return stream;
}

/* Moves the words of the rows with a key together. */
static void
hg_input_stream_pack(HgInputStream *stream)
{
	const HgInputRows *rows = &stream->rows;
	const uint64 *words = stream->words.words;

	if (stream->input->held.words->width == sizeof(uint32))
	{
		for (int i = 0; i < rows->nkeys; i++)
			stream->packed.narrow[i] = (uint32) words[rows->which != NULL ? rows->which[i] : i];
		stream->keys = stream->packed.narrow;
		return;
	}
	stream->keys = words;
	if (rows->which == NULL)
		return;
	for (int i = 0; i < rows->nkeys; i++)
		stream->packed.wide[i] = words[rows->which[i]];
	stream->keys = stream->packed.wide;
}

bool
hg_input_stream_next(HgInputStream *stream)
{
	HgInput *input = stream->input;

	stream->nrows = 0;
	while (stream->nrows == 0)
	{
		stream->in_run = hg_input_read_run(input, HG_RUN_MOST, &stream->run);
		if (stream->in_run)
		{
			stream->nrows = stream->run.nrows;
			stream->keys = stream->run.values[input->child.keys.columns[0]];
			continue;
		}
		if (!hg_input_read(input, &stream->rows, &stream->words))
			return false;
		stream->nrows = stream->rows.nkeys;
		hg_input_stream_pack(stream);
	}
	return true;
}

/* Fetches a column of a run: n rows from first on, or those at positions. */
static void
hg_input_stream_get_run(const HgInputStream *stream, int c, int first, const uint16 *positions,
						int n)
{
	const HgInput *input = stream->input;
	int width = input->held.rows->columns[c].attlen;
	const char *array = stream->run.values[input->child.from[c]];

	stream->out->has_nulls[input->held.to[c]] = false;
	if (positions == NULL)
		hg_values_load(width, array + (Size) first * width, n, stream->values[c]);
	else
		hg_values_gather(width, array, positions, n, stream->values[c]);
}

/* Fetches a column of a batch's rows. */
static void
hg_input_stream_get_batch(const HgInputStream *stream, int c, int first, const uint16 *positions,
						  int n, bool in_place)
{
	const HgInputRows *rows = &stream->rows;
	int at = rows->at[c];
	int to = stream->input->held.to[c];
	const Datum *values = rows->batch->values[at];
	const bool *nulls = rows->batch->nulls[at];
	bool has_nulls = rows->batch->has_nulls[at];

	stream->out->has_nulls[to] = has_nulls;
	if (positions == NULL && in_place)
	{
		stream->out->values[to] = rows->batch->values[at] + first;
		stream->out->nulls[to] = rows->batch->nulls[at] + first;
		return;
	}
	for (int i = 0; i < n; i++)
		stream->values[c][i] = values[positions != NULL ? positions[i] : first + i];
	for (int i = 0; has_nulls && i < n; i++)
		stream->nulls[c][i] = nulls[positions != NULL ? positions[i] : first + i];
}

void
hg_input_stream_get(HgInputStream *stream, const uint32 *numbers, int n, bool in_place)
{
	const HgInput *input = stream->input;
	const uint16 *which = stream->in_run ? NULL : stream->rows.which;
	const uint16 *positions = NULL;
	uint16 buffer[HG_BATCH_ROWS];

	if (input->held.ncolumns == 0 || n == 0)
		return;
	if (!hg_numbers_consecutive(numbers, n))
	{
		for (int i = 0; i < n; i++)
			buffer[i] = which != NULL ? which[numbers[i]] : (uint16) numbers[i];
		positions = buffer;
	}
	else if (which != NULL)
		positions = which + numbers[0];
	for (int c = 0; c < input->held.ncolumns; c++)
	{
		stream->out->values[input->held.to[c]] = stream->values[c];
		stream->out->nulls[input->held.to[c]] = stream->nulls[c];
		if (stream->in_run)
			hg_input_stream_get_run(stream, c, (int) numbers[0], positions, n);
		else
			hg_input_stream_get_batch(stream, c, (int) numbers[0], positions, n, in_place);
	}
}

void
hg_input_stream_end(HgInputStream *stream)
{
	const HgInput *input = stream->input;

	stream->nrows = 0;
	for (int c = 0; c < input->held.ncolumns; c++)
	{
		stream->out->values[input->held.to[c]] = stream->values[c];
		stream->out->nulls[input->held.to[c]] = stream->nulls[c];
	}
}
