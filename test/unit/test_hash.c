/*-------------------------------------------------------------------------
 *
 * test_hash.c
 *	  The hash function: known values, and that mixing can be undone.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"

#include "../../src/engine/hg_hash.h"

#include <stddef.h>

int
main(void)
{
	/* also the published MurmurHash3_x86_32 of no bytes with these seeds */
	static const uint32_t known32[][2] = {
		{UINT32_C(0), UINT32_C(0)},
		{UINT32_C(1), UINT32_C(0x514e28b7)},
		{UINT32_C(0xffffffff), UINT32_C(0x81f16f39)},
	};
	static const uint64_t known64[][2] = {
		{UINT64_C(0), UINT64_C(0)},
		{UINT64_C(1), UINT64_C(0xb456bcfc34c2cb2c)},
		{UINT64_C(0xffffffffffffffff), UINT64_C(0x64b5720b4b825f21)},
	};
	bool known = true;
	bool undone = true;
	bool ordered = true;
	uint64_t word = 1;

	for (size_t i = 0; i < sizeof(known32) / sizeof(known32[0]); i++)
		known &= hg_mix32(known32[i][0]) == known32[i][1];
	hg_tap_ok(known, "32-bit mixer: known values");

	known = true;
	for (size_t i = 0; i < sizeof(known64) / sizeof(known64[0]); i++)
		known &= hg_mix64(known64[i][0]) == known64[i][1];
	hg_tap_ok(known, "64-bit mixer: known values");

	for (int i = 0; i < 1000000; i++)
	{
		uint32_t low = (uint32_t) word;

		undone &= hg_unmix32(hg_mix32(low)) == low && hg_mix32(hg_unmix32(low)) == low;
		undone &= hg_unmix64(hg_mix64(word)) == word && hg_mix64(hg_unmix64(word)) == word;
		word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	}
	for (int bit = 0; bit < 64; bit++)
	{
		uint64_t power = UINT64_C(1) << bit;

		undone &= hg_unmix64(hg_mix64(power)) == power && hg_unmix64(hg_mix64(~power)) == ~power;
		undone &= hg_unmix32(hg_mix32((uint32_t) power)) == (uint32_t) power;
	}
	hg_tap_ok(undone, "mixing can be undone");

	hg_tap_ok(hg_hash_of_mixed64(UINT64_C(0x123456789abcdef0)) == UINT32_C(0x12345678) &&
				  hg_hash_of_mixed32(UINT32_C(0x12345678)) == UINT32_C(0x12345678),
			  "the hash is the top 32 bits of the mixed word");

	hg_tap_ok(hg_vertex_of_hash(UINT32_C(0xffffffff), 0) == 0 &&
				  hg_vertex_of_hash(UINT32_C(0xffffffff), 1) == 1 &&
				  hg_vertex_of_hash(UINT32_C(0x12345678), 32) == UINT32_C(0x12345678),
			  "a vertex is the top bits of the hash, from none to all");

	/* a bin is a consecutive range of vertices */
	for (uint32_t hash = 0; hash < UINT32_C(0xffff0000); hash += 0xffff)
		ordered &= hg_vertex_of_hash(hash, 10) >> 4 == hg_vertex_of_hash(hash, 6);
	hg_tap_ok(ordered, "the bin of a hash is that of its vertex");
	return hg_tap_done();
}
