/*-------------------------------------------------------------------------
 *
 * hg_cuda_table_static.h
 *	  HashGraphs that are built anew for each change: CSR, Ellpack and Sliced Ellpack.
 *
 *	hg_cuda_table_static.cu			the calls of the kind, what looks up
 *	hg_cuda_table_static_build.cu	a new table from the old one and batches
 *	hg_cuda_table_static_rows.cu	the rows of these
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_TABLE_STATIC_H
#define HG_CUDA_TABLE_STATIC_H

#include "hg_cuda_table.h"

enum HgStaticForm
{
	HG_FORM_SET, /* words alone */
	HG_FORM_AOS, /* pairs of word and row */
	HG_FORM_SOA	 /* an array of words, an array of rows */
};

/*
 * Slots, as pairs of HgStaticPair or as words; rows are those of HG_FORM_SOA.  An empty slot has
 * the word that is above all others, and no row.
 */
struct HgStaticSlots
{
	void *words;
	uint32_t *rows;
};

/* Lists that share a length in a Sliced Ellpack. */
constexpr uint32_t HG_STATIC_SLICE_LOG2 = 5;

/* Where the slots of lists are. */
struct HgStaticLists
{
	uint32_t log2; /* of the vertices */
	uint32_t slice_log2;
	uint32_t *starts; /* csr: [vertices + 1]; sliced: [slices + 1]; ellpack: NULL */
	uint32_t length;  /* ellpack: slots of a list */
	HgStaticSlots slots;
};

/* A HashGraph; all zero without rows. */
struct HgStaticGraph
{
	HgStaticLists lists;
	uint64_t rows;
	uint64_t slots;
	uint64_t longest; /* of the Ellpacks: rows of the longest list ... */
	uint64_t empty;	  /* ... and lists without a row */
};

/* How slots of a table stand in memory, for functions that are templates of it. */
template <typename Type, int TABLE_FORM> struct HgStaticTag
{
	typedef Type Word;
	static constexpr int FORM = TABLE_FORM;
};

static inline HgStaticForm
hg_static_form(const HgTableSpec *spec)
{
	if (spec->content == HG_TABLE_SET)
		return HG_FORM_SET;
	return spec->layout == HG_TABLE_SOA ? HG_FORM_SOA : HG_FORM_AOS;
}

/* call(HgStaticTag) for a table. */
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

/* The rows to be built of. */
struct HgStaticInput
{
	void *keys;		/* [count] */
	bool own;		/* they are a block of the work */
	uint32_t *rows; /* [count], or NULL: first_row, first_row + 1 ... */
	uint32_t first_row;
	uint64_t count;
	uint64_t kept; /* of the old table */
};

/*
 * Have all rows of a new table in arrays, duplicates among them; and the bytes of what is asked for
 * in so large a batch that erases.
 */
HgStatus hg_static_concatenate(HgCudaTable *table, const HgStaticGraph *old,
							   const HgCudaTableBatch *out, const HgCudaTableBatch *in,
							   HgStaticInput *all, HgError *error);
uint64_t hg_static_erased_bytes(uint64_t rows);

/*
 * Build a graph of what is in an old one, less what out erases, and of what in inserts; either may
 * be NULL.  The old one stays as it is.
 */
HgStatus hg_static_build(HgCudaTable *table, const HgStaticGraph *old, const HgCudaTableBatch *out,
						 const HgCudaTableBatch *in, HgStaticGraph *built, HgTableChange *change,
						 HgError *error);

/* Copy keys, and rows where that is not NULL, out of a graph, in any order. */
HgStatus hg_static_export(HgCudaTable *table, const HgStaticGraph *graph, void *keys,
						  uint32_t *rows, HgError *error);

/* What the lists of a graph of csr are like: the longest, and how many are empty. */
HgStatus hg_static_csr_lists(HgCudaWork *work, const HgStaticGraph *graph, uint64_t *longest,
							 uint64_t *empty, HgError *error);

/* Add what a table of so many rows takes at most. */
void hg_static_memory(const HgTableSpec *spec, uint64_t rows, HgTableMemory *memory);

/* Give the arrays back. */
void hg_static_free(HgCudaWork *work, HgStaticGraph *graph);

#endif /* HG_CUDA_TABLE_STATIC_H */
