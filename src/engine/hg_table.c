/*-------------------------------------------------------------------------
 *
 * hg_table.c
 *	  Common parts of all tables: what they can hold, their parameters and names.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_table.h"

#include <stdio.h>

HgTableTraits
hg_table_traits(HgTableKind kind, HgTableContent content)
{
	HgTableTraits traits = {.possible = true, .in_place = true, .can_erase = true};

	switch (kind)
	{
		case HG_TABLE_CSR:
		case HG_TABLE_ELLPACK:
		case HG_TABLE_SLICED_ELLPACK:
			traits.possible = content != HG_TABLE_NUMBERING;
			traits.in_place = false;
			break;
		case HG_TABLE_DYNAMIC:
			traits.possible = content != HG_TABLE_NUMBERING;
			break;
		case HG_TABLE_CUCKOO:
			traits.in_place = content != HG_TABLE_MULTIMAP;
			traits.can_erase = content != HG_TABLE_NUMBERING;
			break;
		case HG_TABLE_DYCUCKOO:
			traits.possible = content == HG_TABLE_SET || content == HG_TABLE_MAP;
			break;
		default:
			traits.possible = false;
			break;
	}
	if ((unsigned) content >= HG_TABLE_CONTENTS)
		traits.possible = false;
	return traits;
}

HgTableSpec
hg_table_defaults(const HgTableSpec *spec)
{
	HgTableSpec full = *spec;

	if (full.load_factor == 0)
		full.load_factor = 1;
	if (full.max_padding == 0)
		full.max_padding = 16;
	if (full.empty_slots == 0)
		full.empty_slots = 1;
	if (full.functions == 0)
		full.functions = 4;
	if (full.slots_factor == 0)
		full.slots_factor = full.functions == 2 ? 2.2 : 1.25;
	if (full.subtables == 0)
		full.subtables = 3;
	if (full.max_filled == 0)
		full.max_filled = 0.9;
	if (full.min_filled == 0)
		full.min_filled = 0.4;
	return full;
}

double
hg_table_least_slots_factor(uint32_t functions)
{
	static const double factors[HG_TABLE_MAX_FUNCTIONS - 1] = {2.1, 1.1, 1.03, 1.02};

	return factors[functions - 2];
}

/* Returns HG_OK if low <= value <= high, or HG_INVALID. */
static HgStatus
check_range(double value, double low, double high, const char *what, HgError *error)
{
	char detail[80];

	if (value >= low && value <= high)
		return HG_OK;
	snprintf(detail, sizeof(detail), "Valid values are from %g to %g.", low, high);
	return hg_error_set(error, HG_INVALID, detail, "%s of a table out of range: %g", what, value);
}

/* Checks the parameters of the spec's kind. */
static HgStatus
check_parameters(const HgTableSpec *full, HgError *error)
{
	double subtables = full->subtables;
	HgStatus status = HG_OK;

	switch (full->kind)
	{
		case HG_TABLE_CSR:
		case HG_TABLE_ELLPACK:
		case HG_TABLE_SLICED_ELLPACK:
		case HG_TABLE_DYNAMIC:
			status = check_range(full->load_factor, 1.0 / 16, 64, "load factor", error);
			if (status == HG_OK)
				status = check_range(full->max_padding, 1, 1e6, "padding", error);
			if (status == HG_OK)
				status = check_range(full->empty_slots, 1, HG_TABLE_MAX_EMPTY_SLOTS,
									 "number of empty slots", error);
			if (status == HG_OK && full->layout != HG_TABLE_AOS && full->layout != HG_TABLE_SOA)
				status = hg_error_set(error, HG_INVALID, NULL, "unknown layout of a table: %d",
									  (int) full->layout);
			break;
		case HG_TABLE_CUCKOO:
			status = check_range(full->functions, 2, HG_TABLE_MAX_FUNCTIONS, "number of functions",
								 error);
			if (status == HG_OK)
				status =
					check_range(full->slots_factor, hg_table_least_slots_factor(full->functions),
								16, "slots factor", error);
			break;
		default:
			status =
				check_range(subtables, 2, HG_TABLE_MAX_SUBTABLES, "number of subtables", error);
			if (status == HG_OK)
				status = check_range(full->max_filled, 0.1, 0.95, "filled factor", error);
			if (status == HG_OK &&
				!(full->min_filled > 0 &&
				  full->min_filled < full->max_filled * subtables / (subtables + 1)))
				status = hg_error_set(error, HG_INVALID,
									  "It must be above 0 and, with d subtables, below d / (d + 1) "
									  "of the greatest one.",
									  "least filled factor of a table out of range: %g",
									  full->min_filled);
			break;
	}
	return status;
}

HgStatus
hg_table_check(const HgTableSpec *spec, HgError *error)
{
	HgTableSpec full = hg_table_defaults(spec);

	if (spec->key_width != 4 && spec->key_width != 8)
		return hg_error_set(error, HG_INVALID, NULL, "unknown key width: %u",
							(unsigned) spec->key_width);
	if (!hg_table_traits(spec->kind, spec->content).possible)
		return hg_error_set(error, HG_INVALID, NULL, "a table of kind %s can be no %s",
							hg_table_kind_name(spec->kind), hg_table_content_name(spec->content));
	return check_parameters(&full, error);
}

const char *
hg_table_kind_name(HgTableKind kind)
{
	static const char *const names[HG_TABLE_KINDS] = {
		"csr", "ellpack", "sliced_ellpack", "dynamic", "cuckoo", "dycuckoo",
	};

	return (unsigned) kind < HG_TABLE_KINDS ? names[kind] : "unknown";
}

const char *
hg_table_content_name(HgTableContent content)
{
	static const char *const names[HG_TABLE_CONTENTS] = {"set", "map", "multimap", "numbering"};

	return (unsigned) content < HG_TABLE_CONTENTS ? names[content] : "unknown";
}
