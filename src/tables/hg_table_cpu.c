/*-------------------------------------------------------------------------
 *
 * hg_table_cpu.c
 *	  The calls of hg_table.h for the CPU's tables: the contract, around what each kind does.
 *
 * This file checks calls, turns keys into words (hg_table_base.h) and batches into chunks, and
 * advances streams from key to key. It also handles the two keys of a set whose words mark slots:
 * a kind's answers to them are replaced. All memory, the table itself included, comes from the
 * host and is counted.
 *
 * A table runs in the thread that calls it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table_cpu.h"

#include "hg_table_base.h"

/* A stream of matches; the keys of a chunk are looked up together. */
struct HgTableStream
{
	HgTable *table;
	const void *keys;
	uint64_t count;
	uint64_t from; /* the first key of the chunk */
	uint32_t in_chunk;
	uint32_t at; /* the key of the chunk whose rows come next */
	bool failed;
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t rows[HG_TABLE_CHUNK];		   /* one row for each key */
	HgTableCursor cursors[HG_TABLE_CHUNK]; /* multimaps */
};

/* Returns the calls for a possible kind and content. */
static const HgTableCalls *
calls_of(const HgTableSpec *spec)
{
	switch (spec->kind)
	{
		case HG_TABLE_DYNAMIC:
			return &hg_table_dynamic_calls;
		case HG_TABLE_CUCKOO:
			return spec->content == HG_TABLE_MULTIMAP ? &hg_table_groups_calls
													  : &hg_table_cuckoo_calls;
		case HG_TABLE_DYCUCKOO:
			return &hg_table_dycuckoo_calls;
		default:
			return &hg_table_static_calls;
	}
}

static bool
is_set(const HgTable *table)
{
	return table->spec.content == HG_TABLE_SET;
}

/* Returns true if tables of this content use the rows of a batch. */
static bool
has_own_rows(const HgTable *table)
{
	return table->spec.content == HG_TABLE_MAP || table->spec.content == HG_TABLE_MULTIMAP;
}

/* Returns the rows of the whole table. */
static uint64_t
all_rows(const HgTable *table)
{
	return table->rows + table->marked[0] + table->marked[1];
}

/* HG_INVALID if an earlier change has failed. */
static HgStatus
check_usable(const HgTable *table, HgError *error)
{
	if (table->failed)
		return hg_error_set(error, HG_INVALID, NULL, "a change of the table has failed before");
	return HG_OK;
}

/* HG_INVALID if that is so, or a stream is open. */
static HgStatus
check_changeable(const HgTable *table, HgError *error)
{
	HG_TRY(check_usable(table, error));
	if (table->streams > 0)
		return hg_error_set(error, HG_INVALID, NULL, "matches of the table are being read");
	return HG_OK;
}

/* HG_INVALID if a batch has numbers that rows can't have. */
static HgStatus
check_rows(HgTable *table, const HgTableBatch *batch, HgError *error)
{
	HgStatus status = HG_OK;

	if (!has_own_rows(table) || batch->by_key)
		return HG_OK;
	if (batch->rows == NULL)
	{
		if (batch->count > HG_MAX_ROWS - (uint64_t) batch->first_row ||
			batch->first_row > HG_MAX_ROWS)
			status = hg_error_set(error, HG_INVALID, NULL, "rows beyond the highest number");
		return status;
	}
	for (uint64_t i = 0; i < batch->count && status == HG_OK; i++)
	{
		if (batch->rows[i] >= HG_MAX_ROWS)
			return hg_error_set(error, HG_INVALID, NULL, "not the number of a row: %u",
								(unsigned) batch->rows[i]);
		if (i % HG_TABLE_CHUNK_ITEMS == 0)
			status = hg_table_poll(table, error);
	}
	return status;
}

/* Checks a batch to be inserted or erased. */
static HgStatus
check_batch(HgTable *table, const HgTableBatch *batch, bool insert, HgError *error)
{
	HgTableBatch with_rows = *batch;

	if (!insert && !table->traits.can_erase)
		return hg_error_set(error, HG_INVALID, NULL, "nothing can be erased from a %s",
							hg_table_content_name(table->spec.content));
	if (batch->count >= HG_MAX_ROWS || (insert && all_rows(table) >= HG_MAX_ROWS - batch->count))
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many rows in one table");
	if (insert)
		with_rows.by_key = false;
	return check_rows(table, &with_rows, error);
}

/* Applies batches to the keys of a set that stand beside its slots. */
static void
change_marked(HgTable *table, const HgTableSource *out, const HgTableSource *in,
			  HgTableChange *change)
{
	for (int which = 0; which < 2; which++)
	{
		if (out != NULL && out->marked[which])
		{
			change->erased += table->marked[which];
			table->marked[which] = false;
		}
		if (in != NULL && in->marked[which])
		{
			change->inserted += !table->marked[which];
			table->marked[which] = true;
		}
	}
}

/* Makes a change of checked batches, which may be NULL or empty. */
static HgStatus
table_change(HgTable *table, const HgTableBatch *out, const HgTableBatch *in, HgTableChange *change,
			 HgError *error)
{
	HgTableSource sources[2] = {{.batch = out}, {.batch = in}};
	HgTableSource *erase = out != NULL && out->count > 0 ? &sources[0] : NULL;
	HgTableSource *insert = in != NULL && in->count > 0 ? &sources[1] : NULL;
	HgTableChange done = {0};
	HgStatus status = HG_OK;

	if (erase != NULL || insert != NULL)
		status = table->calls->change(table, erase, insert, &done, error);
	if (status == HG_OK)
	{
		change_marked(table, erase, insert, &done);
		table->used |= insert != NULL;
		if (change != NULL)
			*change = done;
	}
	return status;
}

/*
 * Finishes a change. A table that is changed in place is unusable after a failure, except those
 * that happen before anything is done.
 */
static HgStatus
change_finish(HgTable *table, HgStatus status)
{
	if (table->traits.in_place && status != HG_OK && status != HG_INVALID &&
		status != HG_TOO_MANY_ROWS)
		table->failed = true;
	return status;
}

static HgStatus
tables_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory, HgError *error)
{
	HgTableSpec full;
	uint64_t own;

	HG_TRY(hg_table_check(spec, error));
	full = hg_table_defaults(spec);
	own = calls_of(&full)->bytes + sizeof(HgTableStream);
	memory->held = memory->build = memory->change = own;
	calls_of(&full)->memory(&full, rows, memory);
	return HG_OK;
}

static void
tables_close(HgTable *table)
{
	HgTable end;

	table->calls->close(table);

	/* the table's own memory is freed last */
	end = *table;
	hg_table_free(&end, table, end.calls->bytes);
}

static HgStatus
tables_open(HgTables *tables, const HgHost *host, const HgTableSpec *spec, HgTable **table,
			HgError *error)
{
	HgTable start;
	HgStatus status = hg_table_check(spec, error);
	void *memory;

	(void) tables;
	if (status != HG_OK)
		return status;

	/* the table accounts for its own memory, too */
	memset(&start, 0, sizeof(start));
	start.host = host;
	start.spec = hg_table_defaults(spec);
	start.calls = calls_of(&start.spec);
	start.traits = hg_table_traits(spec->kind, spec->content);
	HG_TRY(hg_table_alloc(&start, start.calls->bytes, &memory, error));
	memset(memory, 0, start.calls->bytes);
	*(HgTable *) memory = start;
	status = start.calls->open(memory, error);
	if (status == HG_OK)
		*table = memory;
	else
		tables_close(memory);
	return status;
}

static HgStatus
tables_insert(HgTable *table, const HgTableBatch *batch, HgTableChange *change, HgError *error)
{
	HgStatus status = check_changeable(table, error);

	if (status == HG_OK)
		status = check_batch(table, batch, true, error);
	if (status == HG_OK)
		status = table_change(table, NULL, batch, change, error);
	return change_finish(table, status);
}

static HgStatus
tables_build(HgTable *table, const HgTableBatch *batch, HgTableChange *change, HgError *error)
{
	HG_TRY(check_changeable(table, error));
	if (table->used)
		return hg_error_set(error, HG_INVALID, NULL, "the table has been built already");
	HG_TRY(tables_insert(table, batch, change, error));
	table->used = true;
	return HG_OK;
}

static HgStatus
tables_erase(HgTable *table, const HgTableBatch *batch, HgTableChange *change, HgError *error)
{
	HgStatus status = check_changeable(table, error);

	if (status == HG_OK)
		status = check_batch(table, batch, false, error);
	if (status == HG_OK)
		status = table_change(table, batch, NULL, change, error);
	return change_finish(table, status);
}

static HgStatus
tables_replace(HgTable *table, const HgTableBatch *out, const HgTableBatch *in,
			   HgTableChange *change, HgError *error)
{
	HgStatus status = check_changeable(table, error);

	if (status == HG_OK)
		status = check_batch(table, out, false, error);
	if (status == HG_OK)
		status = check_batch(table, in, true, error);
	if (status == HG_OK)
		status = table_change(table, out, in, change, error);
	return change_finish(table, status);
}

/* Stores the words of the keys from number `from` on, at most HG_TABLE_CHUNK; returns how many. */
static uint32_t
words_of(const HgTable *table, const void *keys, uint64_t from, uint64_t count, uint64_t *words)
{
	uint32_t n = count - from < HG_TABLE_CHUNK ? (uint32_t) (count - from) : HG_TABLE_CHUNK;

	if (table->spec.key_width == 4)
		for (uint32_t i = 0; i < n; i++)
			words[i] = hg_table_word(((const uint32_t *) keys)[from + i], 4);
	else
		for (uint32_t i = 0; i < n; i++)
			words[i] = hg_table_word(((const uint64_t *) keys)[from + i], 8);
	return n;
}

/* Finds a row of each word, including those beside the slots of a set. */
static HgStatus
find_words(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *rows, HgError *error)
{
	uint64_t marker = hg_table_marker(1, table->spec.key_width);
	HgStatus status = hg_table_work(table, count, error);

	if (status == HG_OK)
		status = table->calls->find(table, words, count, rows, error);
	if (is_set(table))
		for (uint32_t i = 0; i < count; i++)
			if (HG_TABLE_UNLIKELY(words[i] >= marker))
				rows[i] = table->marked[words[i] == marker] ? 0 : HG_NO_ROW;
	return status;
}

static HgStatus
tables_find(HgTable *table, const void *keys, uint64_t count, uint32_t *rows, HgError *error)
{
	HgStatus status = check_usable(table, error);
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t n;

	for (uint64_t i = 0; i < count && status == HG_OK; i += n)
	{
		n = words_of(table, keys, i, count, words);
		status = find_words(table, words, n, rows + i, error);
	}
	return status;
}

/* Counts the rows of each word. */
static HgStatus
count_words(HgTable *table, const uint64_t *words, uint32_t count, uint32_t *counts, HgError *error)
{
	HgStatus status;

	if (table->spec.content == HG_TABLE_MULTIMAP)
	{
		HG_TRY(hg_table_work(table, count, error));
		return table->calls->count(table, words, count, counts, error);
	}
	status = find_words(table, words, count, counts, error);
	for (uint32_t i = 0; i < count && status == HG_OK; i++)
		counts[i] = counts[i] != HG_NO_ROW;
	return status;
}

static HgStatus
tables_count(HgTable *table, const void *keys, uint64_t count, uint32_t *counts, uint64_t *all,
			 HgError *error)
{
	HgStatus status = check_usable(table, error);
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t room[HG_TABLE_CHUNK];
	uint64_t sum = 0;
	uint32_t n;

	for (uint64_t i = 0; i < count && status == HG_OK; i += n)
	{
		n = words_of(table, keys, i, count, words);
		status = count_words(table, words, n, room, error);
		for (uint32_t k = 0; k < n && status == HG_OK; k++)
			sum += room[k];
		if (status == HG_OK && counts != NULL)
			memcpy(counts + i, room, n * sizeof(uint32_t));
	}
	if (status == HG_OK && all != NULL)
		*all = sum;
	return status;
}

static HgStatus
tables_match(HgTable *table, const void *keys, uint64_t count, HgTableStream **stream,
			 HgError *error)
{
	HgTableStream *begun;
	void *memory;

	HG_TRY(check_usable(table, error));
	if (count >= HG_MAX_ROWS)
		return hg_error_set(error, HG_TOO_MANY_ROWS, NULL, "too many keys to be looked up");
	HG_TRY(hg_table_alloc(table, sizeof(HgTableStream), &memory, error));
	begun = memory;
	begun->table = table;
	begun->keys = keys;
	begun->count = count;
	begun->from = 0;
	begun->in_chunk = 0;
	begun->at = 0;
	begun->failed = false;
	table->streams++;
	*stream = begun;
	return HG_OK;
}

/* Looks up the next keys of a stream. */
static HgStatus
stream_advance(HgTableStream *stream, HgError *error)
{
	HgTable *table = stream->table;
	HgStatus status;

	stream->from += stream->in_chunk;
	stream->at = 0;
	stream->in_chunk = words_of(table, stream->keys, stream->from, stream->count, stream->words);
	if (table->spec.content != HG_TABLE_MULTIMAP)
		return find_words(table, stream->words, stream->in_chunk, stream->rows, error);
	status = hg_table_poll(table, error);
	if (status == HG_OK)
		status =
			table->calls->locate(table, stream->words, stream->in_chunk, stream->cursors, error);
	return status;
}

/* Adds rows of the stream's current key to matches; *done is true if it has no more. */
static HgStatus
stream_rows(HgTableStream *stream, HgTableMatches *matches, bool *done, HgError *error)
{
	uint32_t probe = (uint32_t) (stream->from + stream->at);
	uint32_t room[HG_TABLE_CHUNK];
	size_t left = matches->capacity - matches->count;
	size_t most = left < HG_TABLE_CHUNK ? left : HG_TABLE_CHUNK;
	size_t found = 0;
	HgStatus status = HG_OK;

	if (stream->table->spec.content != HG_TABLE_MULTIMAP)
	{
		room[0] = stream->rows[stream->at];
		found = room[0] != HG_NO_ROW;
		*done = true;
	}
	else
	{
		status =
			stream->table->calls->next(stream->table, stream->words[stream->at],
									   &stream->cursors[stream->at], room, most, &found, error);
		if (status == HG_OK)
			status = hg_table_work(stream->table, (uint32_t) found, error);
		*done = found < most;
	}
	if (status != HG_OK)
		return status;
	for (size_t i = 0; i < found; i++)
		matches->probe[matches->count + i] = probe;
	if (matches->row != NULL)
		memcpy(matches->row + matches->count, room, found * sizeof(uint32_t));
	matches->count += found;
	return HG_OK;
}

static HgStatus
tables_next(HgTableStream *stream, HgTableMatches *matches, HgError *error)
{
	HgStatus status = HG_OK;

	matches->count = 0;
	if (stream->failed)
		return hg_error_set(error, HG_INVALID, NULL, "the stream of matches has failed before");
	if (matches->capacity == 0)
		return hg_error_set(error, HG_INVALID, NULL, "there is no room for a match");
	while (matches->count < matches->capacity && status == HG_OK)
	{
		bool done = false;

		if (stream->at == stream->in_chunk)
		{
			if (stream->from + stream->in_chunk == stream->count)
				break;
			status = stream_advance(stream, error);
			continue;
		}
		status = stream_rows(stream, matches, &done, error);
		stream->at += done;
	}
	stream->failed = status != HG_OK;
	return status;
}

static void
tables_end(HgTableStream *stream)
{
	HgTable *table = stream->table;

	table->streams--;
	hg_table_free(table, stream, sizeof(HgTableStream));
}

static HgStatus
tables_describe(HgTable *table, HgTableStats *stats, HgError *error)
{
	HgStatus status;

	HG_TRY(check_usable(table, error));
	HG_TRY(hg_table_poll(table, error));
	*stats = table->totals;
	status = table->calls->describe(table, stats, error);
	stats->rows = all_rows(table);
	stats->slots += all_rows(table) - table->rows;
	stats->filled = stats->slots == 0 ? 0 : (double) stats->rows / (double) stats->slots;
	stats->bytes = table->held_bytes;
	stats->peak_bytes = table->peak_bytes;
	return status;
}

/* Writes one key and its row at an export's position. */
static void
export_one(const HgTable *table, void *keys, uint32_t *rows, uint64_t at, uint64_t word,
		   uint32_t row)
{
	/* the number is the position */
	if (table->spec.content == HG_TABLE_NUMBERING)
		at = row;
	if (table->spec.key_width == 4)
		((uint32_t *) keys)[at] = (uint32_t) hg_table_key(word, 4);
	else
		((uint64_t *) keys)[at] = hg_table_key(word, 8);
	if (rows != NULL)
		rows[at] = row;
}

static HgStatus
tables_export_entries(HgTable *table, void *keys, uint32_t *rows, HgError *error)
{
	HgStatus status = check_usable(table, error);
	uint64_t words[HG_TABLE_CHUNK];
	uint32_t found[HG_TABLE_CHUNK];
	uint64_t cursor = 0;
	uint64_t at = 0;
	bool end = false;

	while (status == HG_OK && !end)
	{
		uint32_t count = table->calls->scan(table, &cursor, words, found, &end);

		for (uint32_t i = 0; i < count; i++)
			export_one(table, keys, rows, at++, words[i], found[i]);
		status = hg_table_poll(table, error);
	}
	for (uint32_t which = 0; which < 2 && status == HG_OK; which++)
		if (table->marked[which])
			export_one(table, keys, rows, at++, hg_table_marker(which, table->spec.key_width), 0);
	return status;
}

HgTables *
hg_table_cpu(void)
{
	static HgTables tables = {
		.name = "cpu",
		.first_of_batch_stays = true,
		.memory = tables_memory,
		.open = tables_open,
		.build = tables_build,
		.insert = tables_insert,
		.erase = tables_erase,
		.replace = tables_replace,
		.find = tables_find,
		.count = tables_count,
		.match = tables_match,
		.next = tables_next,
		.end = tables_end,
		.describe = tables_describe,
		.export_entries = tables_export_entries,
		.close = tables_close,
	};

	return &tables;
}
