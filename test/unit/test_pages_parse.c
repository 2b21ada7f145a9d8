/*-------------------------------------------------------------------------
 *
 * test_pages_parse.c
 *	  Taking pages apart (hg_pages_parse.h): what is found in good ones, and what is told of others.
 *
 * Pages lie between two that can't be read, so that a byte read before or behind one ends the
 * program.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "../../src/engine/hg_pages_parse.h"
#include "hg_tap.h"
#include "test_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define SIZE 8192

/* ------------------------------------------------------------------------
 * Pages at the borders of memory
 * ------------------------------------------------------------------------ */

/* Memory for a page, at whose end, or beginning, nothing can be read. */
typedef struct Guarded
{
	unsigned char *mapping;
	size_t bytes;
	unsigned char *page;
} Guarded;

static void
guard(Guarded *guarded, uint32_t size, bool at_end)
{
	const size_t unit = (size_t) sysconf(_SC_PAGESIZE);
	const size_t inside = (size + unit - 1) / unit * unit;

	guarded->bytes = inside + 2 * unit;
	guarded->mapping =
		mmap(NULL, guarded->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (guarded->mapping == MAP_FAILED || mprotect(guarded->mapping, unit, PROT_NONE) != 0 ||
		mprotect(guarded->mapping + unit + inside, unit, PROT_NONE) != 0)
		abort();
	guarded->page = guarded->mapping + unit + (at_end ? inside - size : 0);
}

static void
unguard(Guarded *guarded)
{
	munmap(guarded->mapping, guarded->bytes);
}

/* ------------------------------------------------------------------------
 * Good pages
 * ------------------------------------------------------------------------ */

/* Is what a row gives that of row i of a side? */
static bool
is_row(const TestReplicaSide *side, uint32_t i, const HgPageValues *values)
{
	if (values->key != test_replica_key(side, i))
		return false;
	for (uint32_t column = 0; column < side->spread.ncolumns; column++)
	{
		uint64_t bits;
		const bool null = test_replica_value(side, column, i, false, &bits);

		if (null != ((values->nulls >> column & 1) != 0) ||
			(!null && bits != values->columns[column]))
			return false;
	}
	return true;
}

/* Are the rows of a page those that the side has there?  *next is the first that is not before. */
static bool
page_right(const TestReplicaSide *side, uint64_t page, Guarded *guarded, uint32_t *next)
{
	const HgPageSpec *spec = &side->pages.spec;
	const uint32_t first = (uint32_t) test_pages_ordinal(&side->pages, page) * spec->rows_per_page;
	uint32_t lines;

	memcpy(guarded->page, side->pages.bytes + page * spec->page_size, spec->page_size);
	if (!hg_page_open(spec, guarded->page, &lines))
		return false;
	for (uint32_t line = 0; line < lines; line++)
	{
		HgPageValues values;
		const HgPageRow row =
			hg_page_take(spec, side->spread.ncolumns, guarded->page, line, &values);

		if (row == HG_PAGE_ROW_NONE || row == HG_PAGE_ROW_NO_KEY)
			continue;
		if (row == HG_PAGE_ROW_BAD || *next >= side->spread.count ||
			side->rows[*next] != first + line || !is_row(side, *next, &values))
		{
			hg_tap_diag("page %lu, line %u: %d", (unsigned long) page, line, (int) row);
			return false;
		}
		(*next)++;
	}
	return true;
}

static void
test_good(const TestPagesForm *form, uint32_t width, uint32_t ncolumns, uint64_t seed)
{
	const TestReplicaSpread spread = {.way = TEST_REPLICA_PAGES,
									  .width = width,
									  .count = 3000,
									  .keys = form->key_bytes == 2 ? 100 : 1000,
									  .hot = form->key_bytes == 2 ? 3000 : 300,
									  .ncolumns = ncolumns,
									  .values = seed % 2 == 0 ? 3 : 0,
									  .nulls = 30};
	TestReplicaSide side;
	Guarded guarded;
	uint32_t next = 0;
	bool good = true;

	test_replica_side_create(&side, &spread, &seed);
	test_pages_make(&side, form, &seed);
	guard(&guarded, side.pages.spec.page_size, seed % 2 == 0);
	for (uint64_t page = 0; page < side.pages.count && good; page++)
		good = page_right(&side, page, &guarded, &next);
	hg_tap_ok(good && next == side.spread.count,
			  "%u rows in %lu pages of %u bytes, keys of %u, %u columns, %u quals, noise %u", next,
			  (unsigned long) side.pages.count, side.pages.spec.page_size, width, ncolumns,
			  form->nquals, form->noise);
	unguard(&guarded);
	test_replica_side_destroy(&side);
}

static void
test_all_good(void)
{
	static const uint32_t sizes[] = {8192, 1024, 4096, 32768};
	uint64_t seed = 1;

	for (uint32_t width = 4; width <= 8; width += 4)
		for (uint32_t i = 0; i < 30; i++)
		{
			const TestPagesForm form = {.page_size = sizes[i % LENGTH(sizes)],
										.stride = i % 5 == 4 ? 9 : 0,
										.key_bytes = i % 6 == 5 ? 2 : 0,
										.nquals = i % (HG_PAGES_MAX_QUALS + 1),
										.noise = i % 3 * 15,
										.plain = i % 4 == 3};

			test_good(&form, width, i % (HG_MAX_COLUMNS + 1), seed += 1000);
		}
}

/* ------------------------------------------------------------------------
 * One row
 * ------------------------------------------------------------------------ */

/* A table of a varlena, a string, a key of 4 bytes, a column of 8, and what nobody asks for. */
static const HgPageSpec small_spec = {
	.page_size = SIZE,
	.rows_per_page = 291,
	.natts = 4,
	.key = 2,
	.columns = {3},
	.attributes = {{.length = HG_PAGES_VARLENA, .align = 4},
				   {.length = HG_PAGES_CSTRING, .align = 1},
				   {.length = 4, .align = 4},
				   {.length = 8, .align = 8}},
};

/* The page, and where its only row is. */
typedef struct OneRow
{
	Guarded guarded;
	unsigned char *row;
	uint32_t offset;
	uint32_t length;
} OneRow;

static void
store_one(OneRow *one, const TestPageValue *values, uint32_t natts)
{
	uint32_t pointer;

	guard(&one->guarded, SIZE, true);
	test_page_init(one->guarded.page, SIZE);
	if (test_page_add_row(one->guarded.page, SIZE, small_spec.attributes, natts, values, 0) != 0)
		abort();
	memcpy(&pointer, one->guarded.page + 24, sizeof(pointer));
	one->offset = pointer & 0x7FFF;
	one->length = pointer >> 17;
	one->row = one->guarded.page + one->offset;
}

/* A row with a short varlena of 5 bytes, its header among them. */
static void
store_usual(OneRow *one)
{
	static const TestPageValue values[4] = {{.bytes = 4}, {.bytes = 2}, {.bits = 77}, {.bits = 88}};

	store_one(one, values, 4);
}

static void
set16(unsigned char *to, uint32_t value)
{
	const uint16_t half = (uint16_t) value;

	memcpy(to, &half, sizeof(half));
}

/* What comes of the page's first line pointer; of the page where that is bad. */
static HgPageRow
take_one(const HgPageSpec *spec, OneRow *one, HgPageValues *values)
{
	uint32_t lines;

	memset(values, 0, sizeof(*values));
	if (!hg_page_open(spec, one->guarded.page, &lines))
		return HG_PAGE_ROW_BAD;
	return lines == 0 ? HG_PAGE_ROW_NONE : hg_page_take(spec, 1, one->guarded.page, 0, values);
}

static bool
is_bad(OneRow *one)
{
	HgPageValues values;

	return take_one(&small_spec, one, &values) == HG_PAGE_ROW_BAD;
}

static bool
is_fine(OneRow *one)
{
	HgPageValues values;

	return take_one(&small_spec, one, &values) == HG_PAGE_ROW_SELECTED && values.key == 77 &&
		   values.columns[0] == 88 && values.nulls == 0;
}

/* What a header of a page may not say. */
static void
test_headers(void)
{
	static const struct
	{
		const char *name;
		uint32_t at;
		uint32_t value;
	} lies[] = {
		{"line pointers begin in the header", 12, 20},
		{"half a line pointer", 12, 30},
		{"line pointers end behind where rows begin", 12, SIZE - 16},
		{"rows begin behind where they end", 14, SIZE + 8},
		{"nothing begins before a page that is not new", 14, 0},
		{"rows end behind the page", 16, SIZE + 8},
		{"rows end before they begin", 16, 40},
		{"the page is of another size", 18, 16384 | 4},
		{"the page is of another version", 18, SIZE | 3},
	};

	for (size_t i = 0; i < LENGTH(lies); i++)
	{
		OneRow one;
		bool good;

		store_usual(&one);
		good = is_fine(&one);
		set16(one.guarded.page + lies[i].at, lies[i].value);
		hg_tap_ok(good && is_bad(&one), "bad: %s", lies[i].name);
		unguard(&one.guarded);
	}
}

/* More line pointers than a page can have. */
static void
test_lines(void)
{
	const uint32_t most = HG_PAGES_MOST_LINES(SIZE);
	Guarded guarded;
	uint32_t lines;
	bool good;

	guard(&guarded, SIZE, true);
	test_page_init(guarded.page, SIZE);
	set16(guarded.page + 12, 24 + 4 * most);
	good = hg_page_open(&small_spec, guarded.page, &lines) && lines == most;
	set16(guarded.page + 12, 24 + 4 * (most + 1));
	hg_tap_ok(good && !hg_page_open(&small_spec, guarded.page, &lines),
			  "bad: more line pointers than there can be rows");
	memset(guarded.page, 0, SIZE);
	good = hg_page_open(&small_spec, guarded.page, &lines) && lines == 0;
	guarded.page[SIZE - 1] = 1;
	hg_tap_ok(good && !hg_page_open(&small_spec, guarded.page, &lines),
			  "a page of zeros has no rows, and with one byte more makes no sense");
	unguard(&guarded);
}

/* What a line pointer may not say. */
static void
test_line_pointers(void)
{
	static const struct
	{
		const char *name;
		int offset; /* is so much more */
		int length;
	} lies[] = {
		{"a row that is not aligned", -4, 0},
		{"a row before where they begin", -8, 0},
		{"a row that ends behind the page", 0, 8},
		{"a row at the end of the page", 40, 0},
		{"a row that is shorter than its header", 0, -30},
		{"a row without bytes", 0, -1000},
	};
	HgPageSpec narrow = small_spec;
	HgPageValues values;
	OneRow one;
	bool good;

	for (size_t i = 0; i < LENGTH(lies); i++)
	{
		int length;

		store_usual(&one);
		length = (int) one.length + lies[i].length;
		good = is_fine(&one);
		test_page_set_line(one.guarded.page, 0, (uint32_t) ((int) one.offset + lies[i].offset), 1,
						   length < 0 ? 0 : (uint32_t) length);
		hg_tap_ok(good && is_bad(&one), "bad: %s", lies[i].name);
		unguard(&one.guarded);
	}
	for (uint32_t state = 0; state < 4; state++)
	{
		store_usual(&one);
		test_page_set_line(one.guarded.page, 0, state == 1 ? one.offset : 9, state, one.length);
		hg_tap_ok(take_one(&small_spec, &one, &values) ==
					  (state == 1 ? HG_PAGE_ROW_SELECTED : HG_PAGE_ROW_NONE),
				  "state %u of a line pointer, whatever else it says", state);
		unguard(&one.guarded);
	}

	/* the second row of a page that is to have one */
	store_usual(&one);
	narrow.rows_per_page = 1;
	set16(one.guarded.page + 12, 32);
	set16(one.guarded.page + 14, one.offset);
	test_page_set_line(one.guarded.page, 1, one.offset, 1, one.length);
	hg_tap_ok(hg_page_take(&narrow, 1, one.guarded.page, 0, &values) == HG_PAGE_ROW_SELECTED &&
				  hg_page_take(&narrow, 1, one.guarded.page, 1, &values) == HG_PAGE_ROW_BAD &&
				  hg_page_take(&small_spec, 1, one.guarded.page, 1, &values) ==
					  HG_PAGE_ROW_SELECTED,
			  "bad: a row that has no number; line pointers may share what they point to");
	unguard(&one.guarded);
}

/* What a row may not say. */
static void
test_rows(void)
{
	OneRow one;
	bool good;

	store_usual(&one);
	one.row[22] += 4;
	hg_tap_ok(is_bad(&one), "bad: a header whose end is not aligned");
	one.row[22] = 16;
	hg_tap_ok(is_bad(&one), "bad: a header that ends in itself");
	one.row[22] = 248;
	hg_tap_ok(is_bad(&one), "bad: a header that ends behind the row");
	one.row[22] = 24;
	good = is_fine(&one);
	one.row[20] |= 1;
	set16(one.row + 18, 9);
	hg_tap_ok(good && is_bad(&one), "bad: a bitmap that goes beyond the header");
	set16(one.row + 18, 4);
	one.row[20] &= 0xFE;
	good = is_fine(&one);
	set16(one.row + 18, 0x7FF);
	hg_tap_ok(good && is_fine(&one), "more attributes than are told may be there");

	/* the last byte of the last attribute is not the row's */
	test_page_set_line(one.guarded.page, 0, one.offset, 1, one.length - 1);
	hg_tap_ok(is_bad(&one), "bad: an attribute that ends behind the row");
	test_page_set_line(one.guarded.page, 0, one.offset, 1, 24 + 5 + 2);
	hg_tap_ok(is_bad(&one), "bad: a string without an end");
	test_page_set_line(one.guarded.page, 0, one.offset, 1, 24);
	hg_tap_ok(is_bad(&one), "bad: a varlena that would begin behind the row");
	unguard(&one.guarded);
}

/* What a varlena may say; it is the row's first attribute. */
static void
test_varlenas(void)
{
	static const TestPageValue values[4] = {
		{.bytes = 40, .kind = TEST_VARLENA_LONG}, {.bytes = 2}, {.bits = 77}, {.bits = 88}};
	static const uint32_t sizes[] = {0, 3, 4000, 0x3FFFFFFF};
	OneRow one;
	HgPageSpec two = small_spec;
	HgPageValues found;
	uint32_t word;

	for (size_t i = 0; i < LENGTH(sizes); i++)
	{
		store_one(&one, values, 4);
		word = sizes[i] << 2;
		memcpy(one.row + 24, &word, sizeof(word));
		hg_tap_ok(is_bad(&one), "bad: a varlena of %u bytes", sizes[i]);
		unguard(&one.guarded);
	}
	store_one(&one, values, 4);
	word = 7 << 2 | 2;
	memcpy(one.row + 24, &word, sizeof(word));
	hg_tap_ok(is_bad(&one), "bad: a compressed varlena without what it is of");
	one.row[24] = 0xFF;
	hg_tap_ok(is_bad(&one), "bad: a short varlena that is longer than the row");
	for (uint32_t tag = 0; tag < 256; tag++)
	{
		one.row[24] = 1;
		one.row[25] = (unsigned char) tag;
		if (is_bad(&one) != (tag != 18))
			hg_tap_ok(false, "tag %u of a varlena that is elsewhere", tag);
	}
	hg_tap_ok(true, "bad: a varlena that is elsewhere, but not on disk");
	test_page_set_line(one.guarded.page, 0, one.offset, 1, 24 + 17);
	hg_tap_ok(is_bad(&one), "bad: half a pointer");
	test_page_set_line(one.guarded.page, 0, one.offset, 1, 25);
	hg_tap_ok(is_bad(&one), "bad: its first byte");
	unguard(&one.guarded);

	/* a varlena behind another one: not aligned, but for padding */
	two.attributes[1] = two.attributes[0];
	store_usual(&one);
	one.row[29] = 7 << 2; /* 5 bytes come before */
	hg_tap_ok(take_one(&two, &one, &found) == HG_PAGE_ROW_BAD,
			  "bad: a long varlena that is not aligned");
	memset(one.row + 29, 0, 3);
	test_page_set_line(one.guarded.page, 0, one.offset, 1, 30);
	hg_tap_ok(take_one(&two, &one, &found) == HG_PAGE_ROW_BAD, "bad: padding alone");
	unguard(&one.guarded);
}

/* Attributes that rows do not have. */
static void
test_missing(void)
{
	static const TestPageValue values[4] = {{.null = true}, {.bytes = 2}, {.bits = 77}, {0}};
	HgPageSpec spec = small_spec;
	HgPageValues found;
	OneRow one;

	store_one(&one, values, 3);
	hg_tap_ok(take_one(&spec, &one, &found) == HG_PAGE_ROW_SELECTED && found.key == 77 &&
				  found.nulls == 1,
			  "a column that a row does not have is NULL");
	spec.attributes[3].stored = 1;
	spec.attributes[3].missing = 99;
	hg_tap_ok(take_one(&spec, &one, &found) == HG_PAGE_ROW_SELECTED && found.nulls == 0 &&
				  found.columns[0] == 99,
			  "or has what was said");
	unguard(&one.guarded);

	store_one(&one, values, 2);
	hg_tap_ok(take_one(&spec, &one, &found) == HG_PAGE_ROW_NO_KEY, "a row without a key is none");
	spec.attributes[2].stored = 1;
	spec.attributes[2].missing = (uint32_t) -5;
	hg_tap_ok(take_one(&spec, &one, &found) == HG_PAGE_ROW_SELECTED && found.key == -5,
			  "but for a key that was said, with its sign");

	spec.nquals = 1;
	for (uint32_t attribute = 0; attribute < 4; attribute++)
		for (uint32_t operation = HG_PAGE_IS_NULL; operation <= HG_PAGE_IS_NOT_NULL; operation++)
		{
			spec.quals[0] =
				(HgPageQual){.attribute = (uint16_t) attribute, .operation = (uint8_t) operation};
			hg_tap_ok((take_one(&spec, &one, &found) == HG_PAGE_ROW_SELECTED) ==
						  ((operation == HG_PAGE_IS_NULL) == (attribute == 0)),
					  "attribute %u is%s NULL", attribute,
					  operation == HG_PAGE_IS_NULL ? "" : " not");
		}
	unguard(&one.guarded);
}

/* ------------------------------------------------------------------------
 * Any bytes
 * ------------------------------------------------------------------------ */

/* Take all of a page, whatever it is; returns the rows that were found. */
static uint32_t
take_all(const HgPageSpec *spec, uint32_t ncolumns, const unsigned char *page, bool *bad)
{
	HgPageValues values;
	uint32_t rows = 0;
	uint32_t lines;

	*bad = !hg_page_open(spec, page, &lines);
	if (*bad)
		return 0;
	for (uint32_t line = 0; line < lines; line++)
	{
		const HgPageRow row = hg_page_take(spec, ncolumns, page, line, &values);

		*bad = *bad || row == HG_PAGE_ROW_BAD;
		rows += row == HG_PAGE_ROW_SELECTED;
	}
	return rows;
}

/* Change a page somehow. */
static void
damage(unsigned char *page, uint32_t size, uint64_t *state)
{
	const uint64_t kind = test_replica_random(state, 6);
	const uint64_t changes = 1 + test_replica_random(state, 20);
	/* where something is told: the header, line pointers, and some rows' headers */
	const uint64_t reach = kind % 2 == 0 ? size : 200;
	uint64_t at = test_replica_random(state, size - 64);

	for (uint64_t i = 0; i < changes; i++)
		if (kind < 2)
			page[test_replica_random(state, reach)] ^=
				(unsigned char) (1 << test_replica_random(state, 8));
		else if (kind < 4)
			page[test_replica_random(state, reach)] = (unsigned char) hg_mix64(*state += 5);
		else if (kind == 4)
			page[at + i] = (unsigned char) hg_mix64(*state += 7);
		else
			test_page_set_line(page, (uint32_t) test_replica_random(state, 20),
							   (uint32_t) test_replica_random(state, 0x8000), 1,
							   (uint32_t) test_replica_random(state, 0x8000) >>
								   test_replica_random(state, 12));
}

static void
test_damage(uint32_t size, uint64_t seed)
{
	const TestPagesForm form = {.page_size = size, .nquals = 3, .noise = 10};
	const TestReplicaSpread spread = {.way = TEST_REPLICA_PAGES,
									  .width = 8,
									  .count = 500,
									  .keys = 1000,
									  .ncolumns = 8,
									  .nulls = 30};
	const uint32_t rounds = hg_tap_suite() == HG_SUITE_TINY ? 500 : 50000;
	TestReplicaSide side;
	Guarded guarded;
	uint32_t damaged = 0;
	uint32_t unseen = 0;
	bool bounded = true;

	test_replica_side_create(&side, &spread, &seed);
	test_pages_make(&side, &form, &seed);
	for (uint32_t i = 0; i < 2; i++)
	{
		guard(&guarded, size, i == 0);
		for (uint32_t round = 0; round < rounds; round++)
		{
			bool bad;

			memcpy(guarded.page,
				   side.pages.bytes + test_replica_random(&seed, side.pages.count) * size, size);
			damage(guarded.page, size, &seed);
			bounded = bounded && take_all(&side.pages.spec, 8, guarded.page, &bad) <=
									 hg_pages_most_rows(&side.pages.spec);
			damaged += bad;
			unseen += !bad;
		}
		unguard(&guarded);
	}
	hg_tap_ok(bounded && damaged > rounds / 20 && unseen > rounds / 20,
			  "damaged pages of %u bytes: %u of %u make no sense", size, damaged, 2 * rounds);
	test_replica_side_destroy(&side);
}

/* Nothing but rubbish, behind a header that could be one. */
static void
test_rubbish(void)
{
	const uint32_t rounds = hg_tap_suite() == HG_SUITE_TINY ? 200 : 20000;
	Guarded guarded;
	uint64_t state = 5;
	uint32_t damaged = 0;

	guard(&guarded, SIZE, true);
	for (uint32_t round = 0; round < rounds; round++)
	{
		bool bad;

		for (uint32_t at = 0; at < SIZE; at += 8)
		{
			const uint64_t word = hg_mix64(state += 11);

			memcpy(guarded.page + at, &word, sizeof(word));
		}
		if (round % 8 != 0)
		{
			set16(guarded.page + 12, 24 + 4 * (uint32_t) test_replica_random(&state, 292));
			set16(guarded.page + 14, 2000);
			set16(guarded.page + 16, SIZE);
			set16(guarded.page + 18, SIZE | 4);
			for (uint32_t line = 0; line < 291; line++)
				test_page_set_line(guarded.page, line,
								   2000 + 8 * (uint32_t) test_replica_random(&state, 760), 1,
								   (uint32_t) test_replica_random(&state, 100));
		}
		take_all(&small_spec, 1, guarded.page, &bad);
		damaged += bad;
	}
	hg_tap_ok(damaged > rounds / 2, "pages of rubbish: %u of %u make no sense", damaged, rounds);
	unguard(&guarded);
}

int
main(void)
{
	test_all_good();
	test_headers();
	test_lines();
	test_line_pointers();
	test_rows();
	test_varlenas();
	test_missing();
	test_damage(8192, 50);
	test_damage(1024, 51);
	test_damage(32768, 52);
	test_rubbish();
	return hg_tap_done();
}
