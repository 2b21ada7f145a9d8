/*-------------------------------------------------------------------------
 *
 * hg_join_upload.h
 *	  Asynchronous upload: the join node sends keys to a device while it reads its sides.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_JOIN_UPLOAD_H
#define HG_JOIN_UPLOAD_H

#include "backend/matcher/hg_upload.h"
#include "batch/hg_input.h"

typedef struct HgJoinState HgJoinState; /* hg_join_state.h */

/*
 * Returns true if settings allow a device for both sides, and this process, or all participants,
 * read both sides without waiting for anything else.
 */
extern bool hg_join_reads_at_once(const HgJoinState *state);

/* Returns the rows of a side that the planner expects in all, if so many processes share it. */
extern uint64 hg_join_expected_rows(const HgInput *input, int processes);

/*
 * Returns true if the CPU can join outer rows as they come, because they are not needed again.  It
 * does not look at the size of the inner side.
 */
extern bool hg_join_could_stream(const HgJoinState *state);

/*
 * Returns true if both sides are read without waiting and upload is expected to save time.  Sets
 * *columns to the columns that are sent as well.  If processes read the sides together, one of
 * them decides for all.
 */
extern bool hg_join_may_upload(const HgJoinState *state, int processes, HgJobColumns *columns);

/*
 * Starts to send keys, and the columns that hg_join_may_upload() has set, as they are read: in a
 * job of this process if participants_id is 0, else as its part of the shared job with this id.
 * Creates state->upload and sets it in both inputs.
 */
extern void hg_join_begin_upload(HgJoinState *state, int processes, uint64 participants_id,
								 const HgJobColumns *columns);

/* Frees the upload.  Keys that it has sent and that no matcher has taken over are discarded. */
extern void hg_join_end_upload(HgUpload **upload, HgInput *const inputs[2]);

#endif /* HG_JOIN_UPLOAD_H */
