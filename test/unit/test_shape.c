/*-------------------------------------------------------------------------
 *
 * test_shape.c
 *	  The shape of HashGraphs: what is chosen, and what is honoured.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_tap.h"

#include "../../src/engine/hg_shape.h"

#include <string.h>

static const HgShapeLimits limits = {
	.bin_bytes = 256 * 1024, .binned_from = 4 * 1024 * 1024, .max_bins_log2 = 12};

static HgShape
shape(HgJobSpec spec, uint64_t outer_rows, uint64_t inner_rows)
{
	spec.key_width = 4;
	return hg_shape_choose(&spec, &limits, outer_rows, inner_rows);
}

static void
test_vertices(void)
{
	HgJobSpec any = {0};
	HgJobSpec intersect = {.shape.probe = HG_PROBE_INTERSECT};
	HgJobSpec standard = {.shape.probe = HG_PROBE_STANDARD};
	HgJobSpec sparse = {.shape.load_factor = 0.25};
	HgJobSpec dense = {.shape.load_factor = 16};

	hg_tap_ok(shape(any, 1000, 1000).vertices_log2 == 10, "V is a power of two near N");
	hg_tap_ok(shape(any, 1024, 1024).vertices_log2 == 10, "V is N where that is a power of two");
	hg_tap_ok(shape(any, 1448, 1448).vertices_log2 == 10 &&
				  shape(any, 1449, 1449).vertices_log2 == 11,
			  "... the nearest one, by its ratio to N");
	hg_tap_ok(shape(sparse, 1024, 1024).vertices_log2 == 12, "load factor 0.25 gives four times V");
	hg_tap_ok(shape(dense, 1024, 1024).vertices_log2 == 6, "load factor 16 gives a 16th of V");
	hg_tap_ok(shape(intersect, 4096, 1024).vertices_log2 == 10 &&
				  shape(intersect, 1024, 4096).vertices_log2 == 10,
			  "V follows the smaller side");
	hg_tap_ok(shape(intersect, 1 << 20, 1).vertices_log2 == 15 &&
				  shape(intersect, 1, 1 << 20).vertices_log2 == 15,
			  "V is at least a 32nd of the bigger side");
	hg_tap_ok(shape(standard, 16, 4096).vertices_log2 == 12 &&
				  shape(standard, 1 << 20, 16).vertices_log2 == 4,
			  "V of a standard probe is that of its only graph");
	hg_tap_ok(shape(any, 0, 1000).vertices_log2 == 10 && shape(any, 1000, 0).vertices_log2 == 10,
			  "an empty side does not count");
	hg_tap_ok(shape(any, 0, 0).vertices_log2 == 0 && shape(any, 1, 1).vertices_log2 == 0,
			  "there is always a vertex");
	hg_tap_ok(shape(sparse, HG_MAX_ROWS, HG_MAX_ROWS).vertices_log2 == HG_MAX_VERTICES_LOG2,
			  "V has a limit");
}

static void
test_algorithms(void)
{
	HgJobSpec any = {0};
	HgJobSpec v1 = {.shape.build = HG_BUILD_V1, .shape.bins = 64};
	HgJobSpec v2 = {.shape.build = HG_BUILD_V2};
	HgJobSpec standard = {.shape.probe = HG_PROBE_STANDARD};
	HgJobSpec intersect = {.shape.probe = HG_PROBE_INTERSECT};
	HgJobSpec one_bin = {.shape.bins = 1};
	HgJobSpec seven_bins = {.shape.bins = 7};
	HgJobSpec many_bins = {.shape.bins = 1 << 20};
	HgShape big;

	hg_tap_ok(shape(any, 1000, 1000).build == HG_BUILD_V1 && shape(any, 1000, 1000).bins_log2 == 0,
			  "a small job is built without bins");
	big = shape(any, 10000000, 10000000);
	hg_tap_ok(big.build == HG_BUILD_V2 && big.bins_log2 == 10,
			  "a big job is built in bins that fit");
	hg_tap_ok(shape(any, 1000000000, 1000000000).bins_log2 == 12, "bins have a limit");
	hg_tap_ok(shape(v1, 10000000, 10000000).build == HG_BUILD_V1 &&
				  shape(v1, 10000000, 10000000).bins_log2 == 0,
			  "v1 is honoured, and has no bins");
	hg_tap_ok(shape(v2, 10, 10).build == HG_BUILD_V2, "v2 is honoured");
	hg_tap_ok(shape(one_bin, 10000000, 10000000).build == HG_BUILD_V1, "one bin means v1");
	hg_tap_ok(shape(seven_bins, 1000, 1000).build == HG_BUILD_V2 &&
				  shape(seven_bins, 1000, 1000).bins_log2 == 3,
			  "seven bins become eight");
	hg_tap_ok(shape(many_bins, 100, 100).bins_log2 == shape(many_bins, 100, 100).vertices_log2,
			  "there are no more bins than vertices");

	hg_tap_ok(shape(any, 10000000, 10000000).probe == HG_PROBE_INTERSECT,
			  "sides of one size are intersected");
	hg_tap_ok(shape(any, 10000000, 10000).probe == HG_PROBE_STANDARD,
			  "a small inner side is looked up");
	hg_tap_ok(shape(any, 100000000, 10000000).probe == HG_PROBE_INTERSECT,
			  "an inner side that fits no cache is intersected");
	hg_tap_ok(shape(any, 10000, 10000000).probe == HG_PROBE_INTERSECT,
			  "a small outer side is intersected");
	hg_tap_ok(shape(standard, 1000, 1000).probe == HG_PROBE_STANDARD &&
				  shape(intersect, 10000000, 10000).probe == HG_PROBE_INTERSECT,
			  "the probe is honoured");
}

/* Where a bin's graph is looked up in the cache, the size of the inner side decides. */
static void
test_bins_in_cache(void)
{
	HgShapeLimits cached = limits;
	HgJobSpec any = {.key_width = 4};
	HgShape small;
	HgShape big;

	cached.bins_in_cache = true;
	small = hg_shape_choose(&any, &cached, 100000000, 100000);
	big = hg_shape_choose(&any, &cached, 10000000, 10000000);
	hg_tap_ok(small.build == HG_BUILD_V1 && small.probe == HG_PROBE_STANDARD,
			  "a big outer side is not binned to be looked up in a small graph");
	hg_tap_ok(big.build == HG_BUILD_V2 && big.probe == HG_PROBE_STANDARD && big.bins_log2 == 9,
			  "bins have room for a graph of the inner side");
}

static void
test_direct(void)
{
	HgJobSpec any = {0};
	HgJobSpec direct = {.shape.direct = 1};
	HgJobSpec direct_v1 = {.shape.direct = 1, .shape.build = HG_BUILD_V1};

	hg_tap_ok(hg_shape_direct_vertices(&any, 100, 100) == 0 &&
				  hg_shape_direct_vertices(&direct, 0, 100) == 0 &&
				  hg_shape_direct_vertices(&direct, 100, 0) == 0 &&
				  hg_shape_direct_vertices(&direct_v1, 100, 100) == 0,
			  "keys are no vertices without leave, without rows or beside settings");
	hg_tap_ok(hg_shape_direct_vertices(&direct, 10, 1000000) == 4000000 &&
				  hg_shape_direct_vertices(&direct, 10, 10) == 160 &&
				  hg_shape_direct_vertices(&direct, 10000000, 10) == 131072,
			  "keys may be vertices where they are dense, or few");
	hg_tap_ok(hg_shape_direct_vertices(&direct, 10, HG_MAX_ROWS) == UINT64_C(1)
																		<< HG_MAX_VERTICES_LOG2,
			  "vertices that are keys have a limit");
}

static void
test_names(void)
{
	hg_tap_ok(strcmp(hg_build_name(HG_BUILD_AUTO), "auto") == 0 &&
				  strcmp(hg_build_name(HG_BUILD_V1), "v1") == 0 &&
				  strcmp(hg_build_name(HG_BUILD_V2), "v2") == 0 &&
				  strcmp(hg_build_name(HG_BUILD_DIRECT), "direct") == 0 &&
				  strcmp(hg_build_name(HG_BUILD_RESIDENT), "resident") == 0,
			  "builds have names");
	hg_tap_ok(strcmp(hg_probe_name(HG_PROBE_AUTO), "auto") == 0 &&
				  strcmp(hg_probe_name(HG_PROBE_STANDARD), "standard") == 0 &&
				  strcmp(hg_probe_name(HG_PROBE_INTERSECT), "intersect") == 0,
			  "probes have names");
}

static void
test_errors(void)
{
	HgError error;
	char text[400];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	hg_tap_ok(hg_error_set(&error, HG_CANCELLED, "why", "number %d", 7) == HG_CANCELLED &&
				  error.status == HG_CANCELLED && strcmp(error.message, "number 7") == 0 &&
				  strcmp(error.detail, "why") == 0,
			  "an error is filled in");
	hg_tap_ok(hg_error_set(NULL, HG_INVALID, NULL, "x") == HG_INVALID,
			  "nobody needs to want the error");
	hg_error_set(&error, HG_INVALID, text, "%s", text);
	hg_tap_ok(strlen(error.message) == sizeof(error.message) - 1 &&
				  strlen(error.detail) == sizeof(error.detail) - 1,
			  "long texts are cut");
	hg_error_set(&error, HG_INVALID, NULL, "x");
	hg_tap_ok(error.detail[0] == '\0', "an error may have no detail");
}

int
main(void)
{
	test_vertices();
	test_algorithms();
	test_bins_in_cache();
	test_direct();
	test_names();
	test_errors();
	return hg_tap_done();
}
