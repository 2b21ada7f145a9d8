/*-------------------------------------------------------------------------
 *
 * test_pages.c
 *	  Pages of PostgreSQL's heap, written for tests, and sides of joins that come as such.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "test_pages.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------
 * Pages
 * ------------------------------------------------------------------------ */

static void
put16(unsigned char *to, uint32_t value)
{
	const uint16_t half = (uint16_t) value;

	memcpy(to, &half, sizeof(half));
}

static uint32_t
get16(const unsigned char *from)
{
	uint16_t half;

	memcpy(&half, from, sizeof(half));
	return half;
}

static void
put32(unsigned char *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

void
test_page_init(unsigned char *page, uint32_t size)
{
	memset(page, 0, size);
	memset(page, 0x77, 12);		/* lsn, checksum, flags */
	put16(page + 12, 24);		/* lower */
	put16(page + 14, size);		/* upper */
	put16(page + 16, size);		/* special */
	put16(page + 18, size | 4); /* size and version */
}

void
test_page_set_line(unsigned char *page, uint32_t line, uint32_t offset, uint32_t state,
				   uint32_t length)
{
	put32(page + 24 + 4 * line, offset | state << 15 | length << 17);
}

/* One more line pointer, and bytes for what it points to. */
static int
add_line(unsigned char *page, uint32_t size, uint32_t state, uint32_t length)
{
	const uint32_t lower = get16(page + 12);
	const uint32_t stored = (length + 7) / 8 * 8;
	const uint32_t upper = get16(page + 14);
	const uint32_t line = (lower - 24) / 4;

	if (lower + 4 + stored > upper || line >= (size - 24) / 28)
		return -1;
	put16(page + 12, lower + 4);
	put16(page + 14, upper - stored);
	test_page_set_line(page, line, state == 1 ? upper - stored : 0, state, length);
	return (int) line;
}

int
test_page_add_line(unsigned char *page, uint32_t size, uint32_t state)
{
	return add_line(page, size, state, 0);
}

/* Store a varlena where a row has come to; returns where it ends. */
static uint32_t
add_varlena(unsigned char *row, uint32_t at, const HgPageAttribute *attribute,
			const TestPageValue *value)
{
	const uint32_t header = value->kind == TEST_VARLENA_COMPRESSED ? 8 : 4;
	uint32_t bytes = value->bytes;

	if (value->kind == TEST_VARLENA_ON_DISK)
	{
		row[at] = 1;
		row[at + 1] = 18;
		memset(row + at + 2, 0xEE, 16);
		return at + 18;
	}
	if (value->kind == TEST_VARLENA_SHORT)
	{
		if (bytes > 126)
			bytes = 126;
		row[at] = (unsigned char) ((bytes + 1) << 1 | 1);
		memset(row + at + 1, 0xA1, bytes);
		return at + 1 + bytes;
	}
	at = (at + attribute->align - 1) / attribute->align * attribute->align;
	put32(row + at, (header + bytes) << 2 | (value->kind == TEST_VARLENA_COMPRESSED ? 2 : 0));
	memset(row + at + 4, 0xB2, header - 4 + bytes);
	return at + header + bytes;
}

static uint32_t
add_value(unsigned char *row, uint32_t at, const HgPageAttribute *attribute,
		  const TestPageValue *value)
{
	const uint32_t length = attribute->length > 0 ? (uint32_t) attribute->length : value->bytes;

	if (attribute->length == HG_PAGES_VARLENA)
		return add_varlena(row, at, attribute, value);
	at = (at + attribute->align - 1) / attribute->align * attribute->align;
	memset(row + at, 0xC3, length);
	if (attribute->length == HG_PAGES_CSTRING)
		return at + length + 1;
	memcpy(row + at, &value->bits, length < 8 ? length : 8);
	return at + length;
}

int
test_page_add_row(unsigned char *page, uint32_t size, const HgPageAttribute *attributes,
				  uint32_t natts, const TestPageValue *values, uint32_t late)
{
	unsigned char row[HG_PAGES_MOST_SIZE] = {0};
	bool nulls = false;
	uint32_t at;
	int line;

	for (uint32_t i = 0; i < natts; i++)
		nulls = nulls || values[i].null;
	at = (23 + (nulls ? (natts + 7) / 8 : 0) + 7) / 8 * 8 + late;
	memset(row, 0x66, 18);					   /* transactions, and where it is */
	put16(row + 18, natts | 0xA000);		   /* infomask2 */
	put16(row + 20, (nulls ? 1 : 0) | 0x0900); /* infomask */
	row[22] = (unsigned char) at;			   /* hoff */
	for (uint32_t i = 0; i < natts; i++)
	{
		if (nulls && !values[i].null)
			row[23 + i / 8] |= (unsigned char) (1 << i % 8);
		if (!values[i].null)
			at = add_value(row, at, &attributes[i], &values[i]);
		if (at > size)
			return -1;
	}
	line = add_line(page, size, 1, at);
	if (line >= 0)
		memcpy(page + get16(page + 14), row, at);
	return line;
}

/* ------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------ */

/* What the attributes of a table are there for, but those of columns: their number. */
#define ROLE_KEY (-1)
#define ROLE_QUAL (-2) /* less the qual's number */
#define ROLE_FILLER (-100)

/* A side's rows on their way into pages. */
typedef struct Writer
{
	TestReplicaSide *side;
	const TestPagesForm *form;
	uint64_t *state;
	HgPageAttribute attributes[TEST_PAGE_ATTRIBUTES];
	int roles[TEST_PAGE_ATTRIBUTES];
	uint32_t natts;	   /* of the table, which may be more than a spec tells */
	uint64_t room;	   /* pages that there is room for */
	unsigned char *at; /* the last page */
} Writer;

static void
add_attribute(Writer *writer, int role, int length, uint32_t align)
{
	writer->roles[writer->natts] = role;
	writer->attributes[writer->natts++] =
		(HgPageAttribute){.length = (int16_t) length, .align = (uint8_t) align};
}

/* Attributes that nobody wants, of all kinds. */
static void
add_fillers(Writer *writer)
{
	add_attribute(writer, ROLE_FILLER, HG_PAGES_VARLENA, 4);
	add_attribute(writer, ROLE_FILLER, HG_PAGES_CSTRING, 1);
	add_attribute(writer, ROLE_FILLER, HG_PAGES_VARLENA, 8);
	add_attribute(writer, ROLE_FILLER, 6, 2);
	add_attribute(writer, ROLE_FILLER, 16, 1);
	add_attribute(writer, ROLE_FILLER, 12, 8);
	add_attribute(writer, ROLE_FILLER, 3, 1);
}

static void
shuffle_attributes(Writer *writer)
{
	for (uint32_t i = writer->natts; i > 1; i--)
	{
		const uint64_t other = test_replica_random(writer->state, i);
		const HgPageAttribute attribute = writer->attributes[other];
		const int role = writer->roles[other];

		writer->attributes[other] = writer->attributes[i - 1];
		writer->roles[other] = writer->roles[i - 1];
		writer->attributes[i - 1] = attribute;
		writer->roles[i - 1] = role;
	}
}

/* A qual of each kind in turn, of integers of each width, and of whether something is NULL. */
static void
draw_qual(Writer *writer, HgPageQual *qual, uint32_t number, uint32_t attribute)
{
	const uint32_t above = 64 - 8 * (uint32_t) writer->attributes[attribute].length;

	qual->attribute = (uint16_t) attribute;
	qual->operation =
		(uint8_t) (test_replica_random(writer->state, 100) + number) % HG_PAGE_OPERATORS;
	qual->is_signed = number % 2;
	/* neither the least nor the greatest, so that rows can pass and can fail */
	qual->constant = UINT64_C(3) << (60 - above);
	if (qual->is_signed && number % 4 == 1)
		qual->constant = (uint64_t) -100;
}

/* Say what of the table is wanted. */
static void
describe_columns(Writer *writer)
{
	HgPageSpec *spec = &writer->side->pages.spec;

	for (uint32_t i = 0; i < writer->natts; i++)
	{
		const int role = writer->roles[i];

		if (role == ROLE_FILLER)
			continue;
		spec->natts = (uint16_t) (i + 1);
		if (role == ROLE_KEY)
			spec->key = (uint16_t) i;
		else if (role >= 0)
			spec->columns[role] = (uint16_t) i;
		else
			draw_qual(writer, &spec->quals[ROLE_QUAL - role], (uint32_t) (ROLE_QUAL - role), i);
	}
	memcpy(spec->attributes, writer->attributes, spec->natts * sizeof(HgPageAttribute));
}

/* Does a value pass a qual?  In numbers wide enough for either kind. */
static bool
passes(const HgPageQual *qual, uint32_t width, const TestPageValue *value)
{
	const uint32_t above = 64 - 8 * width;
	__int128 left = (__int128) (value->bits << above >> above);
	__int128 right = (__int128) qual->constant;

	if (qual->operation == HG_PAGE_IS_NULL || qual->operation == HG_PAGE_IS_NOT_NULL)
		return value->null == (qual->operation == HG_PAGE_IS_NULL);
	if (qual->is_signed)
	{
		left = (__int128) ((int64_t) (value->bits << above) >> above);
		right = (__int128) (int64_t) qual->constant;
	}
	if (value->null)
		return false;
	return (qual->operation == HG_PAGE_LESS && left < right) ||
		   (qual->operation == HG_PAGE_LESS_EQUAL && left <= right) ||
		   (qual->operation == HG_PAGE_EQUAL && left == right) ||
		   (qual->operation == HG_PAGE_NOT_EQUAL && left != right) ||
		   (qual->operation == HG_PAGE_GREATER_EQUAL && left >= right) ||
		   (qual->operation == HG_PAGE_GREATER && left > right);
}

/* A value that passes a qual, or one that does not. */
static void
draw_qualified(Writer *writer, uint32_t attribute, bool wanted, TestPageValue *value)
{
	const HgPageQual *qual = &writer->side->pages.spec.quals[ROLE_QUAL - writer->roles[attribute]];

	do
	{
		const uint64_t bits = hg_mix64(*writer->state += 0x777);

		/* as often as not one that is near the constant */
		value->bits = bits % 2 == 0 ? bits : qual->constant + bits / 2 % 5 - 2;
		value->null = bits / 16 % 4 == 0;
	} while (passes(qual, (uint32_t) writer->attributes[attribute].length, value) != wanted);
}

/* What an attribute that nobody wants has. */
static void
draw_filler(Writer *writer, TestPageValue *value)
{
	value->null = test_replica_random(writer->state, 5) == 0;
	value->bits = hg_mix64(*writer->state += 0x999);
	value->bytes = (uint32_t) test_replica_random(writer->state, 30);
	if (test_replica_random(writer->state, 40) == 0)
		value->bytes = (uint32_t) test_replica_random(writer->state, 200);
	value->kind = (TestVarlena) test_replica_random(writer->state, TEST_VARLENAS);
}

/* Row i of the side, or where it does not count one that has no key or does not pass all quals. */
static void
draw_row(Writer *writer, uint32_t i, bool counts, TestPageValue *values)
{
	const uint32_t nquals = writer->side->pages.spec.nquals;
	const uint64_t reason = counts ? nquals + 1 : test_replica_random(writer->state, nquals + 1);

	for (uint32_t a = 0; a < writer->natts; a++)
	{
		const int role = writer->roles[a];

		memset(&values[a], 0, sizeof(values[a]));
		if (role == ROLE_KEY)
		{
			values[a].bits = (uint64_t) test_replica_key(writer->side, i);
			values[a].null = reason == nquals;
		}
		else if (role >= 0)
			values[a].null =
				test_replica_value(writer->side, (uint32_t) role, i, false, &values[a].bits);
		else if (role == ROLE_FILLER)
			draw_filler(writer, &values[a]);
		else
			draw_qualified(writer, a, reason != (uint64_t) (ROLE_QUAL - role), &values[a]);
	}
}

/*
 * Attributes that a row is stored with: it need not have those at its end which would have what
 * rows without them have.
 */
static uint32_t
stored_attributes(Writer *writer, const TestPageValue *values)
{
	uint32_t natts = writer->natts;

	while (natts > 0 && !writer->form->plain && test_replica_random(writer->state, 8) > 0)
	{
		const HgPageAttribute *attribute = &writer->attributes[natts - 1];
		const TestPageValue *value = &values[natts - 1];
		uint64_t bits = 0;

		if (attribute->length > 0 && attribute->length <= 8)
			memcpy(&bits, &value->bits, (size_t) attribute->length);
		if (writer->roles[natts - 1] != ROLE_FILLER &&
			(value->null == (attribute->stored != 0) ||
			 (!value->null && bits != attribute->missing)))
			break;
		natts--;
	}
	return natts;
}

/* Rows without an attribute have there what one of the rows has, or NULL. */
static void
choose_missing(Writer *writer)
{
	TestPageValue values[TEST_PAGE_ATTRIBUTES];

	if (writer->side->spread.count == 0 || writer->form->plain)
		return;
	draw_row(writer, 0, true, values);
	for (uint32_t i = 0; i < writer->natts; i++)
	{
		HgPageAttribute *attribute = &writer->attributes[i];

		attribute->stored = !values[i].null;
		if (attribute->length > 0 && attribute->length <= 8 && attribute->stored &&
			writer->roles[i] != ROLE_FILLER)
			memcpy(&attribute->missing, &values[i].bits, (size_t) attribute->length);
	}
	memcpy(writer->side->pages.spec.attributes, writer->attributes,
		   writer->side->pages.spec.natts * sizeof(HgPageAttribute));
}

static void
add_page(Writer *writer)
{
	TestReplicaPages *pages = &writer->side->pages;
	const uint32_t size = pages->spec.page_size;

	if (pages->count == writer->room)
	{
		writer->room = writer->room * 2 + 16;
		pages->bytes = realloc(pages->bytes, writer->room * size);
		if (pages->bytes == NULL)
			abort();
	}
	writer->at = pages->bytes + pages->count++ * size;
	/* some pages are new */
	memset(writer->at, 0, size);
	if (!writer->form->plain && pages->count % 7 == 3)
		add_page(writer);
	else
		test_page_init(writer->at, size);
}

/* Store a row, in another page where the last one has no room; returns its number. */
static uint32_t
store_row(Writer *writer, const TestPageValue *values)
{
	const HgPageSpec *spec = &writer->side->pages.spec;
	const uint32_t natts = stored_attributes(writer, values);
	const uint32_t late = writer->form->plain ? 0 : test_replica_random(writer->state, 9) / 8 * 8;
	int line = -1;

	while (line < 0)
	{
		line =
			test_page_add_row(writer->at, spec->page_size, writer->attributes, natts, values, late);
		if (line < 0 || (uint32_t) line >= spec->rows_per_page)
		{
			/* one beyond the stride has no number: it is taken away again */
			if (line >= 0)
				put16(writer->at + 12, 24 + 4 * (uint32_t) line);
			add_page(writer);
			line = -1;
		}
	}
	return (uint32_t) test_pages_ordinal(&writer->side->pages, writer->side->pages.count - 1) *
			   spec->rows_per_page +
		   (uint32_t) line;
}

/* What does not count comes between what does. */
static void
add_noise(Writer *writer, uint32_t i)
{
	static const uint32_t states[] = {0, 2, 3};
	TestPageValue values[TEST_PAGE_ATTRIBUTES];
	HgPageSpec *spec = &writer->side->pages.spec;

	while (test_replica_random(writer->state, 100) < writer->form->noise)
	{
		if (test_replica_random(writer->state, 3) == 0)
			test_page_add_line(writer->at, spec->page_size,
							   states[test_replica_random(writer->state, 3)]);
		else
		{
			draw_row(writer, i, false, values);
			store_row(writer, values);
		}
	}
}

static void
lay_out(Writer *writer)
{
	static const uint8_t qual_bytes[] = {4, 8, 2, 1};
	const TestPagesForm *form = writer->form;
	const TestReplicaSpread *spread = &writer->side->spread;
	HgPageSpec *spec = &writer->side->pages.spec;
	const uint32_t key_bytes = form->key_bytes > 0 ? form->key_bytes : spread->width;

	spec->page_size = form->page_size > 0 ? form->page_size : 8192;
	spec->rows_per_page = form->stride > 0 ? form->stride : (spec->page_size - 24) / 28;
	spec->nquals = (uint16_t) form->nquals;
	writer->side->pages.run = form->run > 0 ? form->run : 4;
	add_attribute(writer, ROLE_KEY, (int) key_bytes, key_bytes);
	for (uint32_t column = 0; column < spread->ncolumns; column++)
		/* that of the last but one is less aligned than wide */
		add_attribute(writer, (int) column, test_replica_widths[column],
					  column == 6 || column == 5 ? 1 : test_replica_widths[column]);
	for (uint32_t i = 0; i < form->nquals; i++)
		add_attribute(writer, ROLE_QUAL - (int) i, qual_bytes[i % 4], qual_bytes[i % 4]);
	if (!form->plain)
		add_fillers(writer);
	shuffle_attributes(writer);
	describe_columns(writer);
	choose_missing(writer);
}

void
test_pages_make(TestReplicaSide *side, const TestPagesForm *form, uint64_t *state)
{
	Writer writer = {.side = side, .form = form, .state = state};
	TestPageValue values[TEST_PAGE_ATTRIBUTES];

	lay_out(&writer);
	add_page(&writer);
	for (uint32_t i = 0; i < side->spread.count; i++)
	{
		add_noise(&writer, i);
		draw_row(&writer, i, true, values);
		side->rows[i] = store_row(&writer, values);
	}
	add_noise(&writer, 0);
}
