/*-------------------------------------------------------------------------
 *
 * hg_host_column.h
 *	  Values by ordinal, as in column replicas, in host memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_COLUMN_H
#define HG_HOST_COLUMN_H

#include "../../src/engine/hg_replica.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* A column.  Its memory is the host's that each function which allocates or frees gets. */
	typedef struct HgHostColumn
	{
		HgReplicaColumnShape shape; /* width 0: no column */
		unsigned char *values;		/* [ordinals] of its width */
		uint8_t *nulls;				/* [ordinals] not 0 where NULL; NULL if no put had nulls */
	} HgHostColumn;

	/* Makes a column of a valid shape, in which each ordinal has 0. */
	extern HgStatus hg_host_column_open(HgHostColumn *column, const HgReplicaColumnShape *shape,
										const HgHost *host, HgError *error);

	/* Sets values, as put_values of an engine. */
	extern HgStatus hg_host_column_put(HgHostColumn *column, const HgHost *host, const void *values,
									   const uint8_t *nulls, uint64_t count, uint64_t first_ordinal,
									   HgError *error);

	/* Sets *bits to the value of a row, padded with zeros.  Returns true if it is NULL. */
	extern bool hg_host_column_get(const HgHostColumn *column, uint32_t row, uint64_t *bits);

	/* The same for an ordinal. */
	extern bool hg_host_column_get_at(const HgHostColumn *column, uint64_t ordinal, uint64_t *bits);

	/* Returns the most memory of a column of this shape. */
	extern uint64_t hg_host_column_bytes(const HgReplicaColumnShape *shape);

	/* Frees the arrays. */
	extern void hg_host_column_free(HgHostColumn *column, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_COLUMN_H */
