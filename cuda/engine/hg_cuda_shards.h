/*-------------------------------------------------------------------------
 *
 * hg_cuda_shards.h
 *	  Exchanges rows between a job of the CUDA engine and other shards of its join.
 *
 * src/engine/hg_exchange.h describes the protocol, and src/engine/hg_engine.h the calls. Each side
 * of a job is exchanged by itself. A call in the wrong stage gives HG_INVALID.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_SHARDS_H
#define HG_CUDA_SHARDS_H

#include "hg_cuda_job.h"

/* Counts a side's rows by part, in counts[HG_EXCHANGE_PARTS]. */
HgStatus hg_cuda_shards_tally(HgCudaJob *job, HgSide side, uint64_t *counts, HgError *error);

/* Makes room for the side's future rows, and copies those that stay. */
HgStatus hg_cuda_shards_expect(HgCudaJob *job, HgSide side, const HgExchange *exchange,
							   HgError *error);

/*
 * Copies up to rows->capacity rows for another shard to host arrays; rows->count is 0 at the end.
 */
HgStatus hg_cuda_shards_take(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
							 HgError *error);

/*
 * Appends rows of other shards. They may be in device memory where others can write: the copy is
 * checked.
 */
HgStatus hg_cuda_shards_put(HgCudaJob *job, HgSide side, const HgExchangeRows *rows,
							HgError *error);

/* Replaces the side's old rows by the exchanged ones, all of which must have arrived. */
HgStatus hg_cuda_shards_arrived(HgCudaJob *job, HgSide side, HgError *error);

/* Stores the number of rows of a side that have not been taken for another shard yet. */
HgStatus hg_cuda_shards_left(const HgCudaJob *job, HgSide side, uint32_t shard, uint64_t *rows,
							 HgError *error);

/*
 * Takes the next rows for another shard, in device arrays of the job that the next call reuses;
 * rows->count is 0 once all were taken. Launches the work in the job's stream, and does not wait.
 */
HgStatus hg_cuda_shards_gather(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
							   HgError *error);

/* Makes all rows for another shard available to be taken again. */
void hg_cuda_shards_rewind(HgCudaJob *job, HgSide side, uint32_t shard);

/* HG_INVALID if the rows of a side are exchanged, so that none may be appended. */
HgStatus hg_cuda_shards_check_append(const HgCudaJob *job, HgSide side, HgError *error);

/* HG_INVALID if the exchange of a shard's side is not complete. */
HgStatus hg_cuda_shards_check_build(const HgCudaJob *job, HgError *error);

/*
 * Returns the upper bound on the device memory of a job whose rows arrive by exchange. `joined` is
 * the memory that the same job would need if its rows were local.
 */
uint64_t hg_cuda_shards_bytes(const HgJobSpec *spec, uint64_t joined);

/*
 * Sends rows between shards of the CUDA engine from device to device, through peer windows.
 *
 * src/engine/hg_peer_window.h describes the protocol, and src/engine/hg_engine.h the calls.
 */

/*
 * Makes a peer window for the rows of a side that others have for this job. The caller closes
 * offer->memory, a descriptor. HG_INVALID if it cannot be made.
 */
HgStatus hg_cuda_peer_windows_make(HgCudaJob *job, HgSide side, HgPeerWindow *window,
								   HgError *error);

/*
 * Writes the side's rows for a shard to that shard's window, and waits. HG_INVALID if it is not
 * reached; no row counts as taken then.
 */
HgStatus hg_cuda_peer_windows_send(HgCudaJob *job, HgSide side, uint32_t shard,
								   const HgPeerWindow *window, HgError *error);

/*
 * Takes what other shards have written to the window, and closes it. To be called before
 * hg_cuda_shards_arrived; does nothing without a window.
 */
HgStatus hg_cuda_peer_windows_take(HgCudaJob *job, HgSide side, HgError *error);

/* Closes the windows of both sides. To be called before the job's work is closed. */
void hg_cuda_peer_windows_close(HgCudaJob *job);

#endif /* HG_CUDA_SHARDS_H */
