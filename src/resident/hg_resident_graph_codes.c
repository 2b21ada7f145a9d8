/*-------------------------------------------------------------------------
 *
 * hg_resident_graph_codes.c
 *	  Codes that devices have instead of a column's values.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "resident/hg_resident_graph_codes.h"

const HgGraphCodes *
hg_graph_codes_find(HgResidentGraph *graph, AttrNumber number)
{
	dsa_pointer pointer = (dsa_pointer) pg_atomic_read_u64(&graph->codes);

	pg_read_barrier();
	while (DsaPointerIsValid(pointer))
	{
		const HgGraphCodes *codes = hg_resident_address(pointer);

		if (codes->number == number)
			return codes;
		pointer = codes->next;
	}
	return NULL;
}

HgGraphCodes *
hg_graph_codes_allocate(AttrNumber number, int scale, uint32 ncodes, Size nbytes,
						dsa_pointer *pointer, char **values)
{
	const Size header = MAXALIGN(offsetof(HgGraphCodes, starts) + ncodes * sizeof(uint32));
	HgGraphCodes *codes;

	*pointer = hg_resident_allocate(NULL, header + nbytes);
	if (!DsaPointerIsValid(*pointer))
		return NULL;
	codes = hg_resident_address(*pointer);
	codes->next = InvalidDsaPointer;
	codes->bytes = header + nbytes;
	codes->number = number;
	codes->scale = scale;
	codes->ncodes = ncodes;
	*values = (char *) codes + header;
	memset(*values, 0, nbytes);
	return codes;
}

void
hg_graph_codes_link(HgResidentGraph *graph, dsa_pointer pointer)
{
	HgGraphCodes *codes = hg_resident_address(pointer);
	uint64 first = pg_atomic_read_u64(&graph->codes);

	do
		codes->next = (dsa_pointer) first;
	while (!pg_atomic_compare_exchange_u64(&graph->codes, &first, (uint64) pointer));
}

void
hg_graph_codes_free(HgResidentGraph *graph)
{
	dsa_pointer pointer = (dsa_pointer) pg_atomic_read_u64(&graph->codes);

	while (DsaPointerIsValid(pointer))
	{
		const HgGraphCodes *codes = hg_resident_address(pointer);
		const dsa_pointer next = codes->next;

		hg_resident_free(pointer, codes->bytes);
		pointer = next;
	}
}
