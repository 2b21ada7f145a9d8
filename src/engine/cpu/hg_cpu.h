/*-------------------------------------------------------------------------
 *
 * hg_cpu.h
 *	  The CPU engine.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CPU_H
#define HG_CPU_H

#include "../hg_engine.h"

/* The CPU engine: one static object, always there, usable by any thread. */
extern HgEngine *hg_cpu_engine(void);

/*
 * What the engine holds of memory for each row, of either side, with keys of key_width
 * bytes, beside the keys themselves: a figure to plan with, which small jobs pass.
 */
extern double hg_cpu_row_bytes(uint32_t key_width, double load_factor);

/*
 * Does a graph of so many rows that is made as a whole stay in a near cache, so that others can be
 * looked up as they come?
 */
extern bool hg_cpu_graph_is_near(uint32_t key_width, double load_factor, double rows);

/*
 * Free the chunks that the participants of a shared job have published, and set its state to zero:
 * ready for another job.  Every participant's job must be closed.  Not needed where the shared
 * memory goes away as a whole.
 */
extern void hg_participants_release(const HgParticipants *participants);

#endif /* HG_CPU_H */
