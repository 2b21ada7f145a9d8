/*-------------------------------------------------------------------------
 *
 * hg_graph_key.c
 *	  The keys of cached HashGraphs, and the words of the rows of cached columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "batch/hg_graph_key.h"
#include "batch/hg_key.h"
#include "batch/hg_resident_columns.h"

/*
 * Returns true if a hash function cannot be replaced: it is built in, and not a container's, which
 * calls the functions of element types.
 */
static bool
hg_graph_takes_function(Oid function)
{
	switch (function)
	{
		case F_HASH_ARRAY:
		case F_HASH_RECORD:
		case F_HASH_RANGE:
		case F_HASH_MULTIRANGE:
			return false;
		default:
			return function < FirstGenbkiObjectId;
	}
}

/* Describes one part of an encoder for a side; false if no graph has such a part. */
static bool
hg_graph_part(const HgKeyEncoder *encoder, int i, HgSide side, HgGraphPart *part)
{
	const HgKeyPart *of = &encoder->parts[i];

	*part = (HgGraphPart){.encoding = of->encoding};
	if (!of->strict)
		return false;
	if (of->encoding == HG_KEY_BYTES || hg_key_is_integer(encoder, side))
		return true;
	if (of->encoding == HG_KEY_BITS)
	{
		part->image = of->image[side];
		part->bits = of->bits;
		return true;
	}
	part->function = of->hash[side].fn_oid;
	part->collation = of->collation;
	return hg_graph_takes_function(part->function);
}

bool
hg_graph_parts(const HgKeyEncoder *encoder, HgSide side, HgGraphPart *parts)
{
	if (encoder->nparts > HG_GRAPH_COLUMNS)
		return false;
	for (int i = 0; i < encoder->nparts; i++)
		if (!hg_graph_part(encoder, i, side, &parts[i]))
			return false;
	return true;
}

/* Returns the equality operator of a type's hash family, or InvalidOid. */
static Oid
hg_graph_equality(Oid type)
{
	const TypeCacheEntry *entry = lookup_type_cache(getBaseType(type), TYPECACHE_HASH_OPFAMILY);

	if (!OidIsValid(entry->hash_opf))
		return InvalidOid;
	return get_opfamily_member(entry->hash_opf, entry->hash_opintype, entry->hash_opintype,
							   HTEqualStrategyNumber);
}

HgKeyEncoder *
hg_graph_key_create(int ncolumns, const HgResidentColumn *columns, HgGraphKey *key)
{
	HgKeyClause clauses[HG_GRAPH_COLUMNS];
	HgKeyEncoder *encoder;

	Assert(ncolumns <= HG_GRAPH_COLUMNS);
	for (int i = 0; i < ncolumns; i++)
	{
		clauses[i].operator_oid = hg_graph_equality(columns[i].type);
		clauses[i].collation = columns[i].collation;
		if (!OidIsValid(clauses[i].operator_oid) ||
			!hg_key_operator_usable(clauses[i].operator_oid))
			return NULL;
	}
	encoder = hg_key_encoder_create(ncolumns, clauses);
	key->ncolumns = ncolumns;
	memcpy(key->columns, columns, ncolumns * sizeof(HgResidentColumn));
	return hg_graph_parts(encoder, HG_OUTER, key->parts) ? encoder : NULL;
}

void
hg_graph_order_encoder(HgKeyEncoder *encoder, const int *order)
{
	HgKeyPart before[HG_GRAPH_COLUMNS];
	uint8 shift = 0;

	Assert(encoder->nparts <= HG_GRAPH_COLUMNS);
	memcpy(before, encoder->parts, encoder->nparts * sizeof(HgKeyPart));
	for (int i = 0; i < encoder->nparts; i++)
	{
		encoder->parts[i] = before[order[i]];
		encoder->parts[i].shift = shift;
		shift += encoder->parts[i].bits;
	}
}

/* ---------------------------------------------------------------------
 * Words
 * ---------------------------------------------------------------------
 */

HgGraphWords *
hg_graph_words_create(int ncolumns, const HgResidentColumn *columns)
{
	HgGraphWords *words = palloc0(sizeof(HgGraphWords));

	words->encoder = hg_graph_key_create(ncolumns, columns, &words->key);
	if (words->encoder == NULL)
		return NULL;
	words->batch = hg_batch_create(ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		Size room = hg_resident_values_room(&columns[i]);

		if (room > 0)
			words->rooms[i] = palloc(room);
	}
	words->words = palloc(HG_BATCH_ROWS * sizeof(uint64));
	words->nulls = palloc(HG_BATCH_ROWS * sizeof(bool));
	words->temporary =
		AllocSetContextCreate(CurrentMemoryContext, "HashGraph key values", ALLOCSET_SMALL_SIZES);
	return words;
}

bool
hg_graph_words_begin(HgGraphWords *words, const HgSegmentVersion *version)
{
	for (int i = 0; i < words->key.ncolumns; i++)
	{
		int at = hg_segment_find_column(version, &words->key.columns[i]);

		if (at < 0)
			return false;
		words->arrays[i] = hg_segment_array(version, at);
	}
	words->nrows = version->nrows;
	return true;
}

/* Fetches a column's values of a batch of rows from first on.  Returns their number. */
static int
hg_graph_words_fetch(HgGraphWords *words, int column, uint32 first)
{
	const HgSegmentArray *array = &words->arrays[column];
	HgBatch *batch = words->batch;
	int n = (int) Min(words->nrows - first, HG_BATCH_ROWS);

	hg_resident_values_fetch(&words->key.columns[column], array, words->rooms[column], first, NULL,
							 n, batch->values[column]);
	batch->has_nulls[column] = array->valid != NULL;
	for (int i = 0; i < n && array->valid != NULL; i++)
		batch->nulls[column][i] = hg_segment_is_null(array, first + i);
	return n;
}

bool
hg_graph_words_lie_outside(HgGraphWords *words)
{
	const HgBatch *batch = words->batch;

	for (int c = 0; c < words->key.ncolumns; c++)
	{
		if (words->key.columns[c].length != -1 ||
			words->arrays[c].form.encoding == HG_ENCODING_SCALED)
			continue;
		for (uint32 first = 0; first < words->nrows;)
		{
			int n = hg_graph_words_fetch(words, c, first);

			CHECK_FOR_INTERRUPTS();
			for (int i = 0; i < n; i++)
				if (!hg_batch_is_null(batch, c, i) &&
					VARATT_IS_EXTERNAL(DatumGetPointer(batch->values[c][i])))
					return true;
			first += n;
		}
	}
	return false;
}

int
hg_graph_words_next(HgGraphWords *words, uint32 first)
{
	int columns[HG_GRAPH_COLUMNS];
	int n = 0;

	for (int c = 0; c < words->key.ncolumns; c++)
	{
		columns[c] = c;
		n = hg_graph_words_fetch(words, c, first);
	}
	words->batch->nrows = n;
	MemoryContextReset(words->temporary);
	(void) hg_key_encode(words->encoder, HG_OUTER, words->batch, columns, 0, n, words->words,
						 words->nulls, words->temporary);
	return n;
}
