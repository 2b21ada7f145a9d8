/*-------------------------------------------------------------------------
 *
 * hg_server_participants.h
 *	  Jobs that several connections have together.
 *
 * The participants of a shared job have one job of the engine.  Each of them is a job of another
 * engine, the shared engine, which passes on what must be done once (build, count, match, reduce)
 * for the first who asks, and to the others the answer that he got, but for groups, which he has
 * alone; and what each does for himself (append_rows, append_column, append_pages, next) for one
 * after the other, but that pages of several are on their way to the device at a time.  hg_wire.h
 * has the rules.
 *
 * Any thread may call any function, each participant one at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_PARTICIPANTS_H
#define HG_SERVER_PARTICIPANTS_H

#include "../../src/engine/hg_engine.h"

/* The engine that participants are jobs of.  Its open is hg_server_participants_join. */
extern HgEngine *hg_server_participants_engine(void);

/*
 * Become a participant of the job spec->participants_id, whose job is one of engine.  The first is
 * told that he is, and calls hg_server_participants_open next, or hg_server_participants_give_up;
 * the others wait for that here, and get its failure, or HG_INVALID where their keys or columns are
 * of other widths.  host must outlive the participant.
 */
extern HgStatus hg_server_participants_join(HgEngine *engine, const HgHost *host,
											const HgJobSpec *spec, HgJob **participant, bool *first,
											HgError *error);

/* The first participant's: open the job for all.  Where it can't be opened, he gives up. */
extern HgStatus hg_server_participants_open(HgJob *participant, const HgJobSpec *spec,
											HgError *error);

/*
 * A participant is about to append count rows to a side, or pages that have room for so many: then
 * all participants have announced *wanted of that side, and before they had never announced more
 * than rows[2] of both.  spec is what the first participant asked to have admitted, and stays in
 * place as long as the participant does.
 */
extern HgStatus hg_server_participants_announce(HgJob *participant, HgSide side, uint64_t count,
												HgJobSpec *spec, uint64_t rows[2], uint64_t *wanted,
												HgError *error);

/* There will be no job, or no more of it: why is what all who ask for something get. */
extern void hg_server_participants_give_up(HgJob *participant, HgStatus status, const HgError *why);

#endif /* HG_SERVER_PARTICIPANTS_H */
