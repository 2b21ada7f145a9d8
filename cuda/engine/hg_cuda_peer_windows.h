/*-------------------------------------------------------------------------
 *
 * hg_cuda_peer_windows.h
 *	  Sends rows between shards of the CUDA engine from device to device, through peer windows.
 *
 * src/engine/hg_peer_window.h describes the protocol, and src/engine/hg_engine.h the calls.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_PEER_WINDOWS_H
#define HG_CUDA_PEER_WINDOWS_H

#include "hg_cuda_job.h"

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

#endif /* HG_CUDA_PEER_WINDOWS_H */
