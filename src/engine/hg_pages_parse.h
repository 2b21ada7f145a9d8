/*-------------------------------------------------------------------------
 *
 * hg_pages_parse.h
 *	  Taking a page of a table apart: the same code on every engine that does, device or not.
 *
 * A page begins with a header, which line pointers follow; rows lie at its end.  By their offsets:
 *
 *	0	what nobody asks for
 *	12	lower, 16 bits: where the line pointers end
 *	14	upper, 16 bits: where rows begin
 *	16	special, 16 bits: where they end
 *	18	16 bits: the page's size + 4, the version
 *	20	what nobody asks for
 *	24	line pointers, 32 bits each
 *
 * A line pointer is, from its lowest bit on, an offset in 15 bits, a state in 2 and a length in 15.
 * A row begins with a header:
 *
 *	0	what nobody asks for
 *	18	infomask2, 16 bits: the lowest 11 are how many attributes it has
 *	20	infomask, 16 bits: the lowest is set where there is a bitmap
 *	22	hoff, 8 bits: where its first attribute begins
 *	23	bitmap, a bit for each attribute: 0 where it is NULL
 *
 * Attributes follow one another, each where its alignment allows it, but those that are NULL.  A
 * varlena says in its first bytes how long it is, itself included: in 7 bits above one that is 1;
 * or in 30 above two that are 00, or 10 where it is compressed.  A byte of 1 alone says that it is
 * elsewhere, and the next one what of it is here.  One of the short kind is not aligned, which is
 * seen from what is where it would begin: padding is 0, and its first byte is not.
 *
 * WHAT IS TRUSTED: nothing.  No byte is read that has not been found to lie in the page, and for a
 * row in its length.  What the page says that can't be is told, and nothing more is known of it.
 * The page must not change meanwhile: who reads what others can write to copies it first.
 *
 * src/batch/hg_page_layout.c holds the numbers to those of PostgreSQL.
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

/* Where things are in a page. */
#define HG_PAGE_LOWER 12
#define HG_PAGE_UPPER 14
#define HG_PAGE_SPECIAL 16
#define HG_PAGE_SIZE_VERSION 18
#define HG_PAGE_VERSION 4

/* States of line pointers; those of the others have no row. */
#define HG_PAGE_LINE_NORMAL 1

/* Where things are in a row, and their bits. */
#define HG_ROW_INFOMASK2 18
#define HG_ROW_NATTS_MASK 0x07FF
#define HG_ROW_INFOMASK 20
#define HG_ROW_HAS_NULL 0x0001
#define HG_ROW_HOFF 22
#define HG_ROW_BITMAP 23

/* What is here of a varlena that is elsewhere, and what says so. */
#define HG_VARLENA_EXTERNAL 0x01
#define HG_VARLENA_ON_DISK 18
#define HG_VARLENA_ON_DISK_BYTES 18
#define HG_VARLENA_HEADER 4
#define HG_VARLENA_COMPRESSED_HEADER 8

/* In place of where an attribute is in its row, which is behind the header. */
#define HG_PAGE_AT_NULL 0
#define HG_PAGE_AT_MISSING 1

/* What came of a line pointer. */
typedef enum HgPageRow
{
	HG_PAGE_ROW_NONE = 0, /* no row, or none that is wanted */
	HG_PAGE_ROW_WANTED,
	HG_PAGE_ROW_NO_KEY, /* it would be, but its key is NULL */
	HG_PAGE_ROW_BAD		/* it makes no sense */
} HgPageRow;

/* What is wanted of a row. */
typedef struct HgPageValues
{
	int64_t key;
	uint64_t columns[HG_MAX_COLUMNS]; /* with zeros before narrow ones; undefined where NULL */
	uint32_t nulls;					  /* bit i is set where column i is NULL */
} HgPageValues;

/* Of an attribute's bytes those of a width: 1, 2, 4 or 8, with zeros before them. */
HG_HOST_DEVICE uint64_t
hg_page_load(const unsigned char *from, uint32_t width)
{
	uint64_t wide = 0;
	uint32_t word;
	uint16_t half;

#ifdef __CUDA_ARCH__
	/* there a load of many bytes is one where it is known to be aligned, which it is but for types
	 * of less alignment than width */
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

HG_HOST_DEVICE uint32_t
hg_page_align(uint32_t at, uint32_t align)
{
	return (at + align - 1) & ~(align - 1);
}

/* Are all bytes of a page 0? */
HG_HOST_DEVICE bool
hg_page_is_new(const HgPageSpec *pages, const unsigned char *page)
{
	for (uint32_t at = 0; at < pages->page_size; at += 8)
		if (hg_page_load(page + at, 8) != 0)
			return false;
	return true;
}

/* Does a page have line pointers?  *lines is their number; false where it makes no sense. */
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
 * The row of a line pointer, from 0, of a page that has as many: WANTED where there is one, which
 * is at *row then, length bytes long.
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
	return HG_PAGE_ROW_WANTED;
}

/*
 * Where a varlena begins that is at *at of a row or behind padding there, and where it ends; false
 * where it does not lie in the row's length bytes.
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

/* The same of a string that ends with a 0. */
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

/* The same of any attribute that is not NULL. */
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
 * Where all attributes that a spec tells of are in a row, or HG_PAGE_AT_NULL or MISSING; false
 * where the row makes no sense.
 */
HG_HOST_DEVICE bool
hg_page_walk(const HgPageSpec *pages, const unsigned char *row, uint32_t length, uint16_t *places)
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

		places[i] = HG_PAGE_AT_NULL;
		if (i >= has)
			places[i] = pages->attributes[i].stored != 0 ? HG_PAGE_AT_MISSING : HG_PAGE_AT_NULL;
		else if (!nulls || (row[HG_ROW_BITMAP + i / 8] >> i % 8 & 1) != 0)
		{
			if (!hg_page_skip(&pages->attributes[i], row, length, &at, &end))
				return false;
			places[i] = (uint16_t) at;
		}
	}
	return true;
}

/* An integer of a row, which is not NULL, in 64 bits. */
HG_HOST_DEVICE uint64_t
hg_page_value(const HgPageSpec *pages, const unsigned char *row, const uint16_t *places,
			  uint32_t attribute, bool is_signed)
{
	const HgPageAttribute *told = &pages->attributes[attribute];
	const uint32_t width = (uint32_t) told->length;
	const uint32_t unused = 64 - 8 * width;
	const uint64_t value = places[attribute] == HG_PAGE_AT_MISSING
							   ? told->missing
							   : hg_page_load(row + places[attribute], width);

	return is_signed ? (uint64_t) ((int64_t) (value << unused) >> unused) : value;
}

/* Does a row pass a qual? */
HG_HOST_DEVICE bool
hg_page_passes(const HgPageSpec *pages, const HgPageQual *qual, const unsigned char *row,
			   const uint16_t *places)
{
	const bool null = places[qual->attribute] == HG_PAGE_AT_NULL;
	uint64_t value;
	bool less;

	if (qual->operation == HG_PAGE_IS_NULL || qual->operation == HG_PAGE_IS_NOT_NULL)
		return null == (qual->operation == HG_PAGE_IS_NULL);
	if (null)
		return false;
	value = hg_page_value(pages, row, places, qual->attribute, qual->is_signed != 0);
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
 * The row of a line pointer, from 0, of a page that hg_page_open has found to have as many, with
 * the values that ncolumns columns get: *values are set where it is WANTED.
 */
HG_HOST_DEVICE HgPageRow
hg_page_take(const HgPageSpec *pages, uint32_t ncolumns, const unsigned char *page, uint32_t line,
			 HgPageValues *values)
{
	uint16_t places[HG_PAGES_MAX_ATTRIBUTES];
	const unsigned char *row;
	uint32_t length;
	const HgPageRow found = hg_page_find_row(pages, page, line, &row, &length);

	if (found != HG_PAGE_ROW_WANTED)
		return found;
	if (!hg_page_walk(pages, row, length, places))
		return HG_PAGE_ROW_BAD;
	for (uint32_t i = 0; i < pages->nquals; i++)
		if (!hg_page_passes(pages, &pages->quals[i], row, places))
			return HG_PAGE_ROW_NONE;
	if (places[pages->key] == HG_PAGE_AT_NULL)
		return HG_PAGE_ROW_NO_KEY;
	values->key = (int64_t) hg_page_value(pages, row, places, pages->key, true);
	values->nulls = 0;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (places[pages->columns[i]] == HG_PAGE_AT_NULL)
			values->nulls |= UINT32_C(1) << i;
		else
			values->columns[i] = hg_page_value(pages, row, places, pages->columns[i], false);
	return HG_PAGE_ROW_WANTED;
}

#endif /* HG_PAGES_PARSE_H */
