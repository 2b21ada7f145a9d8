/*-------------------------------------------------------------------------
 *
 * hg_cpu.h
 *	  The CPU engine: an HgEngine (hg_engine.h) whose jobs run in the calling thread.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_H
#define HG_CPU_H

#include "../hg_engine.h"

/* Returns the CPU engine: a static object, usable by any thread. */
extern HgEngine *hg_cpu_engine(void);

/*
 * Returns the bytes that the engine holds for each row of either side, beside the keys themselves.
 * This is a figure for planning; small jobs take more.
 */
extern double hg_cpu_row_bytes(uint32_t key_width, double load_factor);

/*
 * Returns the number of rows up to which a graph is built without bins, because it stays in a near
 * cache, so that outer rows can be looked up in any order.  load_factor is as in HgJobShape.
 */
extern double hg_cpu_near_rows(uint32_t key_width, double load_factor);

/*
 * Frees, by participants->free, the shared memory that the participants of a job have published,
 * and zeroes its state for another job. Every participant's job must be closed. Not needed if all
 * shared memory is freed.
 */
extern void hg_participants_release(const HgParticipants *participants);

#endif /* HG_CPU_H */
