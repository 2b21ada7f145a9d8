/*-------------------------------------------------------------------------
 *
 * hg_host_column.h
 *	  Values by ordinal, as column replicas have them, in host memory.
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

	/* Its memory is that of a host, which is told to each function that takes or frees any. */
	typedef struct HgHostColumn
	{
		HgReplicaColumnShape shape; /* width 0: there is none */
		unsigned char *values;		/* [ordinals] of its width */
		uint8_t *nulls;				/* [ordinals] not 0 where NULL; NULL where no put brought any */
	} HgHostColumn;

	/* Have a column in which each ordinal has 0, of a shape that can be. */
	extern HgStatus hg_host_column_open(HgHostColumn *column, const HgReplicaColumnShape *shape,
										const HgHost *host, HgError *error);

	/* As put_values of an engine. */
	extern HgStatus hg_host_column_put(HgHostColumn *column, const HgHost *host, const void *values,
									   const uint8_t *nulls, uint64_t count, uint64_t first_ordinal,
									   HgError *error);

	/*
	 * The value of a row, which has an ordinal, with zeros before it; returns whether it is NULL.
	 */
	extern bool hg_host_column_get(const HgHostColumn *column, uint32_t row, uint64_t *bits);

	/* The same of an ordinal. */
	extern bool hg_host_column_get_at(const HgHostColumn *column, uint64_t ordinal, uint64_t *bits);

	/* The most memory that a column of this shape takes. */
	extern uint64_t hg_host_column_bytes(const HgReplicaColumnShape *shape);

	/* Free what there is of it. */
	extern void hg_host_column_free(HgHostColumn *column, const HgHost *host);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_COLUMN_H */
