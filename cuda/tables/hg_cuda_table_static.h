/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static.h
 *	  HashGraphs that are rebuilt for each change: CSR, Ellpack and Sliced Ellpack.
 *
 *	hg_cuda_table_static.cu			the calls of the kind, lookups
 *	hg_cuda_table_static.cu	a new table from the old one and batches
 *	hg_cuda_table_static.cu	the rows that it is built of
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_STATIC_H
#define HG_CUDA_TABLE_STATIC_H

#include "hg_cuda_table.h"

/* How words and rows of slots lie in memory. */
enum HgStaticForm
{
	HG_FORM_SET, /* words alone */
	HG_FORM_AOS, /* pairs of word and row */
	HG_FORM_SOA	 /* an array of words, an array of rows */
};

/*
 * Slots: pairs (HgStaticPair), or words and, for HG_FORM_SOA, rows.  An empty slot has the
 * greatest word and no row.
 */
struct HgStaticSlots
{
	void *words;
	uint32_t *rows;
};

/* log2 of the lists that share a length in a Sliced Ellpack. */
constexpr uint32_t HG_STATIC_SLICE_LOG2 = 5;

/* The lists of a HashGraph: their vertices and slots. */
struct HgStaticLists
{
	uint32_t log2; /* of the vertices */
	uint32_t slice_log2;
	uint32_t *starts; /* csr: [vertices + 1]; sliced: [slices + 1]; ellpack: NULL */
	uint32_t length;  /* ellpack: slots of each list */
	HgStaticSlots slots;
};

/* A HashGraph; zeroed if it has no rows.  Arrays are blocks of the table's work. */
struct HgStaticGraph
{
	HgStaticLists lists;
	uint64_t rows;
	uint64_t slots;
	uint64_t longest; /* Ellpacks: rows of the longest list */
	uint64_t empty;	  /* Ellpacks: lists without a row */
};

/* Word and form of a table's slots, as an argument of function templates. */
template <typename Type, int TABLE_FORM> struct HgStaticTag
{
	typedef Type Word;
	static constexpr int FORM = TABLE_FORM;
};

/* Returns the form of a spec's tables. */
static inline HgStaticForm
hg_static_form(const HgTableSpec *spec)
{
	if (spec->content == HG_TABLE_SET)
		return HG_FORM_SET;
	return spec->layout == HG_TABLE_SOA ? HG_FORM_SOA : HG_FORM_AOS;
}

/* Calls call(HgStaticTag) with the tag of a spec's tables. */
template <typename Call>
static inline HgStatus
hg_static_with_form(const HgTableSpec *spec, const Call &call)
{
	switch (hg_static_form(spec))
	{
		case HG_FORM_SET:
			return spec->key_width == 4 ? call(HgStaticTag<uint32_t, HG_FORM_SET>())
										: call(HgStaticTag<uint64_t, HG_FORM_SET>());
		case HG_FORM_AOS:
			return spec->key_width == 4 ? call(HgStaticTag<uint32_t, HG_FORM_AOS>())
										: call(HgStaticTag<uint64_t, HG_FORM_AOS>());
		default:
			return spec->key_width == 4 ? call(HgStaticTag<uint32_t, HG_FORM_SOA>())
										: call(HgStaticTag<uint64_t, HG_FORM_SOA>());
	}
}

/* The rows that a table is built of. */
struct HgStaticInput
{
	void *keys;		/* [count] */
	bool own;		/* keys and rows are blocks of the work, else the batch's */
	uint32_t *rows; /* [count], or NULL: first_row, first_row + 1 ... */
	uint32_t first_row;
	uint64_t count;
	uint64_t kept; /* of these, rows of the old table */
};

/*
 * Collects all rows of a new table, duplicates among them: the rows of old that out does not
 * erase, and those of in.  erased_bytes returns the memory for the rows that a batch of this size
 * erases.
 */
HgStatus hg_static_concatenate(HgCudaTable *table, const HgStaticGraph *old,
							   const HgCudaTableBatch *out, const HgCudaTableBatch *in,
							   HgStaticInput *all, HgError *error);
uint64_t hg_static_erased_bytes(uint64_t rows);

/* Copies keys, and rows unless NULL, out of a graph, in any order. */
HgStatus hg_static_export(HgCudaTable *table, const HgStaticGraph *graph, void *keys,
						  uint32_t *rows, HgError *error);

#endif /* HG_CUDA_TABLE_STATIC_H */
