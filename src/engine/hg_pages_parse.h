/*-------------------------------------------------------------------------
 *
 * hg_pages_parse.h
 *	  Parsing a heap page: the same code in every engine, on a device or not.
 *
 * A page begins with a header and line pointers; rows are at its end.  By offset:
 *
 *	0	not used here
 *	12	lower, 16 bits: end of the line pointers
 *	14	upper, 16 bits: begin of the rows
 *	16	special, 16 bits: end of the rows
 *	18	16 bits: page size + 4, the version
 *	20	not used here
 *	24	line pointers, 32 bits each
 *
 * A line pointer is, from its lowest bit on, an offset in 15 bits, a state in 2 and a length in
 * 15.  A row begins with a header:
 *
 *	0	not used here
 *	18	infomask2, 16 bits: the lowest 11 are its number of attributes
 *	20	infomask, 16 bits: the lowest is set if it has a null bitmap
 *	22	hoff, 8 bits: offset of its first attribute
 *	23	bitmap, a bit for each attribute: 0 where it is NULL
 *
 * Attributes that are not NULL follow one another, each aligned.  The first bytes of a varlena
 * hold its length, which includes them: 7 bits above a lowest bit of 1, or 30 bits above two bits
 * that are 00, or 10 if it is compressed.  A first byte of 1 alone means that the value is stored
 * elsewhere; the next byte says what is here.  A varlena of the short kind is not aligned.  Its
 * first byte is not 0, while padding is.
 *
 * NOTHING IS TRUSTED.  No byte is read before it has been found to be in the page and, for a row,
 * in its length.  If the page contradicts itself, parsing stops and reports it.  The page must not
 * change meanwhile: a caller whose page others can write to copies it first.
 *
 * src/batch/hg_page_layout.c holds these numbers to those of PostgreSQL.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PAGES_PARSE_H
#define HG_PAGES_PARSE_H

#include "hg_hash.h"
#include "hg_pages.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "pages of machines of the other byte order have their bits elsewhere"
#endif

/* Offsets in a page header, and the version. */
#define HG_PAGE_LOWER 12
#define HG_PAGE_UPPER 14
#define HG_PAGE_SPECIAL 16
#define HG_PAGE_SIZE_VERSION 18
#define HG_PAGE_VERSION 4

/* State of a line pointer with a row; pointers in other states have none. */
#define HG_PAGE_LINE_NORMAL 1

/* Offsets in a row header, and bits there. */
#define HG_ROW_INFOMASK2 18
#define HG_ROW_NATTS_MASK 0x07FF
#define HG_ROW_INFOMASK 20
#define HG_ROW_HAS_NULL 0x0001
#define HG_ROW_HOFF 22
#define HG_ROW_BITMAP 23

/* A varlena that is stored elsewhere: its first bytes and length; lengths of headers. */
#define HG_VARLENA_EXTERNAL 0x01
#define HG_VARLENA_ON_DISK 18
#define HG_VARLENA_ON_DISK_BYTES 18
#define HG_VARLENA_HEADER 4
#define HG_VARLENA_COMPRESSED_HEADER 8

/* In place of an attribute's offset in its row, which is behind the header and greater. */
#define HG_PAGE_AT_NULL 0
#define HG_PAGE_AT_MISSING 1

/* What a line pointer leads to. */
typedef enum HgPageRow
{
	HG_PAGE_ROW_NONE = 0, /* no row, or one that does not pass the quals */
	HG_PAGE_ROW_SELECTED,
	HG_PAGE_ROW_NO_KEY, /* a row that passes the quals, but whose key is NULL */
	HG_PAGE_ROW_BAD		/* the page is damaged */
} HgPageRow;

/* Values read from a row. */
typedef struct HgPageValues
{
	int64_t key;
	uint64_t columns[HG_MAX_COLUMNS]; /* zero-extended; undefined where NULL */
	uint32_t nulls;					  /* bit i is set where column i is NULL */
} HgPageValues;

/* Returns the first width bytes (1, 2, 4 or 8) of an attribute, zero-extended. */
HG_HOST_DEVICE uint64_t
hg_page_load(const unsigned char *from, uint32_t width)
{
	uint64_t wide = 0;
	uint32_t word;
	uint16_t half;

#ifdef __CUDA_ARCH__
	/* a wide load must be aligned, and some types are aligned to less than their width */
	if (width == 8 && ((uintptr_t) from & 7) == 0)
		return *(const uint64_t *) from;
	if (width == 4 && ((uintptr_t) from & 3) == 0)
		return *(const uint32_t *) from;
#endif
	switch (width)
	{
		case 1:
			return *from;
		case 2:
			memcpy(&half, from, sizeof(half));
			return half;
		case 4:
			memcpy(&word, from, sizeof(word));
			return word;
		default:
			memcpy(&wide, from, sizeof(wide));
			return wide;
	}
}

/* Rounds an offset up to a multiple of align, a power of two. */
HG_HOST_DEVICE uint32_t
hg_page_align(uint32_t at, uint32_t align)
{
	return (at + align - 1) & ~(align - 1);
}

/* Returns true if all bytes of a page are 0. */
HG_HOST_DEVICE bool
hg_page_is_new(const HgPageSpec *pages, const unsigned char *page)
{
	for (uint32_t at = 0; at < pages->page_size; at += 8)
		if (hg_page_load(page + at, 8) != 0)
			return false;
	return true;
}

/*
 * Checks the header of a page and sets *lines to its number of line pointers, 0 for a new page.
 * Returns false if the page is damaged.
 */
HG_HOST_DEVICE bool
hg_page_open(const HgPageSpec *pages, const unsigned char *page, uint32_t *lines)
{
	const uint32_t lower = (uint32_t) hg_page_load(page + HG_PAGE_LOWER, 2);
	const uint32_t upper = (uint32_t) hg_page_load(page + HG_PAGE_UPPER, 2);
	const uint32_t special = (uint32_t) hg_page_load(page + HG_PAGE_SPECIAL, 2);

	*lines = 0;
	if (upper == 0)
		return hg_page_is_new(pages, page);
	if (hg_page_load(page + HG_PAGE_SIZE_VERSION, 2) != (pages->page_size | HG_PAGE_VERSION))
		return false;
	if (lower < HG_PAGES_HEADER || lower > upper || upper > special || special > pages->page_size ||
		(lower - HG_PAGES_HEADER) % HG_PAGES_LINE != 0)
		return false;
	*lines = (lower - HG_PAGES_HEADER) / HG_PAGES_LINE;
	return *lines <= HG_PAGES_MOST_LINES(pages->page_size);
}

/*
 * Finds the row of a line pointer, numbered from 0.  For HG_PAGE_ROW_SELECTED, *row points to it
 * and *length is its length in bytes.  It does not look at quals.
 */
HG_HOST_DEVICE HgPageRow
hg_page_find_row(const HgPageSpec *pages, const unsigned char *page, uint32_t line,
				 const unsigned char **row, uint32_t *length)
{
	const uint32_t pointer =
		(uint32_t) hg_page_load(page + HG_PAGES_HEADER + line * HG_PAGES_LINE, 4);
	const uint32_t offset = pointer & 0x7FFF;

	if (((pointer >> 15) & 3) != HG_PAGE_LINE_NORMAL)
		return HG_PAGE_ROW_NONE;
	*length = pointer >> 17;
	*row = page + offset;
	if (line >= pages->rows_per_page || offset % HG_PAGES_ROW_ALIGN != 0 ||
		offset < hg_page_load(page + HG_PAGE_UPPER, 2) ||
		offset + *length > hg_page_load(page + HG_PAGE_SPECIAL, 2) || *length < HG_PAGES_ROW_HEADER)
		return HG_PAGE_ROW_BAD;
	return HG_PAGE_ROW_SELECTED;
}

/*
 * Finds the varlena that begins at *at of a row, or behind padding there.  Moves *at to its begin
 * and sets *end to its end; returns false if it is not within the row's length bytes.
 */
HG_HOST_DEVICE bool
hg_page_skip_varlena(const unsigned char *row, uint32_t length, uint32_t align, uint32_t *at,
					 uint32_t *end)
{
	uint32_t first;
	uint32_t size;

	if (*at >= length)
		return false;
	if (row[*at] == 0)
		*at = hg_page_align(*at, align);
	if (*at >= length)
		return false;
	first = row[*at];
	if (first == HG_VARLENA_EXTERNAL)
	{
		if (length - *at < HG_VARLENA_ON_DISK_BYTES || row[*at + 1] != HG_VARLENA_ON_DISK)
			return false;
		size = HG_VARLENA_ON_DISK_BYTES;
	}
	else if ((first & 1) != 0)
		size = first >> 1;
	else
	{
		if (*at % align != 0 || length - *at < HG_VARLENA_HEADER)
			return false;
		size = (uint32_t) hg_page_load(row + *at, 4) >> 2;
		if (size < ((first & 2) != 0 ? HG_VARLENA_COMPRESSED_HEADER : HG_VARLENA_HEADER))
			return false;
	}
	if (size > length - *at)
		return false;
	*end = *at + size;
	return true;
}

/* The same for a string that ends with a 0. */
HG_HOST_DEVICE bool
hg_page_skip_cstring(const unsigned char *row, uint32_t length, uint32_t align, uint32_t *at,
					 uint32_t *end)
{
	*at = hg_page_align(*at, align);
	for (*end = *at; *end < length; (*end)++)
		if (row[*end] == 0)
		{
			(*end)++;
			return true;
		}
	return false;
}

/* The same for any attribute that is not NULL. */
HG_HOST_DEVICE bool
hg_page_skip(const HgPageAttribute *attribute, const unsigned char *row, uint32_t length,
			 uint32_t *at, uint32_t *end)
{
	if (attribute->length == HG_PAGES_VARLENA)
		return hg_page_skip_varlena(row, length, attribute->align, at, end);
	if (attribute->length == HG_PAGES_CSTRING)
		return hg_page_skip_cstring(row, length, attribute->align, at, end);
	*at = hg_page_align(*at, attribute->align);
	*end = *at + (uint32_t) attribute->length;
	return *end <= length;
}

/*
 * Sets offsets[i] to the offset of each attribute of the spec in a row, or to HG_PAGE_AT_NULL or
 * HG_PAGE_AT_MISSING.  Returns false if the row is damaged.
 */
HG_HOST_DEVICE bool
hg_page_walk(const HgPageSpec *pages, const unsigned char *row, uint32_t length, uint16_t *offsets)
{
	const uint32_t has = (uint32_t) hg_page_load(row + HG_ROW_INFOMASK2, 2) & HG_ROW_NATTS_MASK;
	const bool nulls = (hg_page_load(row + HG_ROW_INFOMASK, 2) & HG_ROW_HAS_NULL) != 0;
	const uint32_t begin = row[HG_ROW_HOFF];
	uint32_t end = begin;

	if (begin % HG_PAGES_ROW_ALIGN != 0 || begin > length ||
		begin < HG_PAGES_ROW_HEADER + (nulls ? (has + 7) / 8 : 0))
		return false;
	for (uint32_t i = 0; i < pages->natts; i++)
	{
		uint32_t at = end;

		offsets[i] = HG_PAGE_AT_NULL;
		if (i >= has)
			offsets[i] = pages->attributes[i].stored != 0 ? HG_PAGE_AT_MISSING : HG_PAGE_AT_NULL;
		else if (!nulls || (row[HG_ROW_BITMAP + i / 8] >> i % 8 & 1) != 0)
		{
			if (!hg_page_skip(&pages->attributes[i], row, length, &at, &end))
				return false;
			offsets[i] = (uint16_t) at;
		}
	}
	return true;
}

/* Returns an integer attribute of a row, which is not NULL, widened to 64 bits. */
HG_HOST_DEVICE uint64_t
hg_page_value(const HgPageSpec *pages, const unsigned char *row, const uint16_t *offsets,
			  uint32_t attribute, bool is_signed)
{
	const HgPageAttribute *layout = &pages->attributes[attribute];
	const uint32_t width = (uint32_t) layout->length;
	const uint32_t unused = 64 - 8 * width;
	const uint64_t value = offsets[attribute] == HG_PAGE_AT_MISSING
							   ? layout->missing
							   : hg_page_load(row + offsets[attribute], width);

	return is_signed ? (uint64_t) ((int64_t) (value << unused) >> unused) : value;
}

/* Returns true if a row passes a qual. */
HG_HOST_DEVICE bool
hg_page_passes(const HgPageSpec *pages, const HgPageQual *qual, const unsigned char *row,
			   const uint16_t *offsets)
{
	const bool null = offsets[qual->attribute] == HG_PAGE_AT_NULL;
	uint64_t value;
	bool less;

	if (qual->operation == HG_PAGE_IS_NULL || qual->operation == HG_PAGE_IS_NOT_NULL)
		return null == (qual->operation == HG_PAGE_IS_NULL);
	if (null)
		return false;
	value = hg_page_value(pages, row, offsets, qual->attribute, qual->is_signed != 0);
	less =
		qual->is_signed != 0 ? (int64_t) value < (int64_t) qual->constant : value < qual->constant;
	switch (qual->operation)
	{
		case HG_PAGE_LESS:
			return less;
		case HG_PAGE_LESS_EQUAL:
			return less || value == qual->constant;
		case HG_PAGE_EQUAL:
			return value == qual->constant;
		case HG_PAGE_NOT_EQUAL:
			return value != qual->constant;
		case HG_PAGE_GREATER_EQUAL:
			return !less;
		default:
			return !less && value != qual->constant;
	}
}

/*
 * Reads the row of a line pointer, numbered from 0, of a page that hg_page_open has accepted.
 * Applies the quals.  For HG_PAGE_ROW_SELECTED, sets *values to the key and ncolumns columns'
 * values.
 */
HG_HOST_DEVICE HgPageRow
hg_page_take(const HgPageSpec *pages, uint32_t ncolumns, const unsigned char *page, uint32_t line,
			 HgPageValues *values)
{
	uint16_t offsets[HG_PAGES_MAX_ATTRIBUTES];
	const unsigned char *row;
	uint32_t length;
	const HgPageRow found = hg_page_find_row(pages, page, line, &row, &length);

	if (found != HG_PAGE_ROW_SELECTED)
		return found;
	if (!hg_page_walk(pages, row, length, offsets))
		return HG_PAGE_ROW_BAD;
	for (uint32_t i = 0; i < pages->nquals; i++)
		if (!hg_page_passes(pages, &pages->quals[i], row, offsets))
			return HG_PAGE_ROW_NONE;
	if (offsets[pages->key] == HG_PAGE_AT_NULL)
		return HG_PAGE_ROW_NO_KEY;
	values->key = (int64_t) hg_page_value(pages, row, offsets, pages->key, true);
	values->nulls = 0;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (offsets[pages->columns[i]] == HG_PAGE_AT_NULL)
			values->nulls |= UINT32_C(1) << i;
		else
			values->columns[i] = hg_page_value(pages, row, offsets, pages->columns[i], false);
	return HG_PAGE_ROW_SELECTED;
}

#endif /* HG_PAGES_PARSE_H */
