/*-------------------------------------------------------------------------
 *
 * hg_cpu_flat_rows.h
 *	  Vectorised helpers that make flat HashGraphs.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_FLAT_ROWS_H
#define HG_CPU_FLAT_ROWS_H

#include "hg_cpu_flat_filter.h"

/* Most rows of a piece. */
#define HG_CPU_FLAT_PIECE 512

/* Returns the rows of the piece that starts at `from`, of count rows in all. */
static inline uint32_t
hg_cpu_flat_piece(uint64_t from, uint64_t count)
{
	return count - from < HG_CPU_FLAT_PIECE ? (uint32_t) (count - from) : HG_CPU_FLAT_PIECE;
}

/* Polls once in HG_CPU_FLAT_POLL_ROWS rows that are processed in pieces. */
static inline HgStatus
hg_cpu_flat_poll_piece(const HgHost *host, uint64_t from, HgError *error)
{
	return from % HG_CPU_FLAT_POLL_ROWS == 0 ? hg_host_check_cancel(host, error) : HG_OK;
}

/* Returns the address of key i. */
static inline const void *
hg_cpu_flat_key_at(const void *keys, uint32_t width, uint64_t i)
{
	return (const char *) keys + i * width;
}

/* Stores the vertices of n keys, or their bins, among 2^log2. */
extern void hg_cpu_flat_vertices(const void *keys, uint32_t width, uint32_t n, uint32_t log2,
								 uint32_t *vertices);

/* Returns how many of n rows count. */
extern uint32_t hg_cpu_flat_count_rows(const HgCpuFlatFilter *filter, const uint32_t *rows,
									   uint32_t n);

/* Copies the rows that count, and their keys, to arrays with room for n; returns how many. */
extern uint32_t hg_cpu_flat_copy_rows(const HgCpuFlatFilter *filter, const void *keys,
									  uint32_t width, const uint32_t *rows, uint32_t n,
									  void *to_keys, uint32_t *to_rows);

#endif /* HG_CPU_FLAT_ROWS_H */
