/*-------------------------------------------------------------------------
 *
 * hg_join_send.h
 *	  The join node's keys on their way to the device while its sides are read.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_SEND_H
#define HG_JOIN_SEND_H

#include "backend/matcher/hg_sender.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * Returns true if settings let a device have both sides, and this process or all participants read
 * each of them without a pause.
 */
extern bool hg_join_reads_at_once(const HgJoinState *state);

/* The rows of a side that so many processes read together, as the planner expects them. */
extern uint64 hg_join_expected_rows(const HgJoinState *state, HgSide side, int processes);

/*
 * True if nothing keeps the CPU from joining outer rows as they come, unless the inner side is
 * large: nobody wants the rows of the outer side again.
 */
extern bool hg_join_could_stream(const HgJoinState *state);

/*
 * Returns true if both sides are read so, and estimates say that sending their keys to a device
 * meanwhile saves time.  *columns becomes those of their columns that follow.  Where several
 * processes read the sides together, one decides for all.
 */
extern bool hg_join_may_send(const HgJoinState *state, int processes, HgJobColumns *columns);

/*
 * Send the keys that are read from now on, and columns, by a job of this process, or of a shared
 * job: there is a sender, which both inputs know.
 */
extern void hg_join_begin_sending(HgJoinState *state, int processes, uint64 participants_id,
								  const HgJobColumns *columns);

/* Nothing is sent any more, and there is no sender; what was has been taken, or is thrown away. */
extern void hg_join_end_sending(HgJoinState *state);

#endif /* HG_JOIN_SEND_H */
