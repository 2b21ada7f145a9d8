/*-------------------------------------------------------------------------
 *
 * hg_loader_codes.c
 *	  A set of distinct values, with a code for each.
 *
 * A hash table with open addressing finds codes by the bytes of values.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "common/hashfn.h"
#include "port/pg_bitutils.h"

#include "loader/hg_loader_codes.h"

HgCodes *
hg_codes_create(int length, int alignby, uint32 most)
{
	HgCodes *codes = palloc(sizeof(HgCodes));
	uint32 nslots = pg_nextpower2_32(2 * most);

	*codes = (HgCodes){.length = length, .alignby = alignby, .most = most, .mask = nslots - 1};
	codes->values = palloc(most * sizeof(char *));
	codes->hashes = palloc(most * sizeof(uint32));
	codes->slots = palloc(nslots * sizeof(uint32));
	memset(codes->slots, 0xff, nslots * sizeof(uint32));
	return codes;
}

/* Returns where a value begins that is laid out after values that end at end. */
static Size
hg_codes_start(const HgCodes *codes, const char *value, Size end)
{
	if (codes->length == -1 && VARATT_IS_SHORT(value))
		return end;
	return TYPEALIGN(codes->alignby, end);
}

uint32
hg_codes_find(HgCodes *codes, const char *value)
{
	Size size = hg_segment_value_bytes(codes->length, value);
	uint32 hash = hash_bytes((const unsigned char *) value, (int) size);
	uint32 slot = hash & codes->mask;
	uint32 code;

	/* a value begins with its length, so comparing lengths reads no byte beyond it */
	for (; (code = codes->slots[slot]) != HG_NO_CODE; slot = (slot + 1) & codes->mask)
		if (codes->hashes[code] == hash &&
			hg_segment_value_bytes(codes->length, codes->values[code]) == size &&
			memcmp(codes->values[code], value, size) == 0)
			return code;
	if (codes->ncodes == codes->most)
		return HG_NO_CODE;
	code = codes->ncodes++;
	codes->values[code] = value;
	codes->hashes[code] = hash;
	codes->slots[slot] = code;
	codes->nbytes = hg_codes_start(codes, value, codes->nbytes) + size;
	return code;
}

uint32
hg_codes_fill(const HgCodes *codes, uint32 *starts, char *bytes)
{
	uint32 widest = 0;
	Size end = 0;

	for (uint32 code = 0; code < codes->ncodes; code++)
	{
		const char *value = codes->values[code];
		Size size = hg_segment_value_bytes(codes->length, value);
		Size start = hg_codes_start(codes, value, end);

		starts[code] = (uint32) start;
		memcpy(bytes + start, value, size);
		widest = Max(widest, (uint32) size);
		end = start + size;
	}
	return widest;
}
