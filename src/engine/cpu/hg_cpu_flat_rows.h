/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_rows.h
 *	  What making a flat HashGraph does with many rows at once.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_ROWS_H
#define HG_CPU_FLAT_ROWS_H

#include "hg_cpu_flat_filter.h"

/* Rows that are worked on together: so many of them at most, or what is left of count. */
#define HG_CPU_FLAT_PIECE 512

static inline uint32_t
hg_cpu_flat_piece(uint64_t from, uint64_t count)
{
	return count - from < HG_CPU_FLAT_PIECE ? (uint32_t) (count - from) : HG_CPU_FLAT_PIECE;
}

/* Poll, once in HG_CPU_FLAT_POLL_ROWS rows that are worked on in such pieces. */
static inline HgStatus
hg_cpu_flat_poll_piece(const HgHost *host, uint64_t from, HgError *error)
{
	return from % HG_CPU_FLAT_POLL_ROWS == 0 ? hg_host_check_cancel(host, error) : HG_OK;
}

static inline const void *
hg_cpu_flat_key_at(const void *keys, uint32_t width, uint64_t i)
{
	return (const char *) keys + i * width;
}

/* Vertices of n keys among 2^log2 of them; or bins, as log2 has it. */
extern void hg_cpu_flat_vertices(const void *keys, uint32_t width, uint32_t n, uint32_t log2,
								 uint32_t *vertices);

/* How many of n rows count, and copies of those with their keys: room is for all n. */
extern uint32_t hg_cpu_flat_count_rows(const HgCpuFlatFilter *filter, const uint32_t *rows,
									   uint32_t n);
extern uint32_t hg_cpu_flat_copy_rows(const HgCpuFlatFilter *filter, const void *keys,
									  uint32_t width, const uint32_t *rows, uint32_t n,
									  void *to_keys, uint32_t *to_rows);

#endif /* HG_CPU_FLAT_ROWS_H */
