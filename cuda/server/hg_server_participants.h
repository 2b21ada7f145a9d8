/*-------------------------------------------------------------------------
 *
 * hg_server_participants.h
 *	  Shared jobs: one job of the engine for several connections.
 *
 * The participants of a shared job have one job of the engine. Each of them is a job of another
 * engine, the shared engine. That one does some calls once (build, count, match, reduce): for the
 * first participant that makes them. The others get the same answer, except that the first one
 * gets all groups. Other calls (append_rows, append_column, append_pages, next) are done for one
 * participant after the other; only the transfer of pages to the device runs for several at a
 * time. hg_wire.h has the rules.
 *
 * Any thread may call any function, for each participant one at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_PARTICIPANTS_H
#define HG_SERVER_PARTICIPANTS_H

#include "../../src/engine/hg_engine.h"

/* Returns the engine of participants; its open is hg_server_participants_join. */
extern HgEngine *hg_server_participants_engine(void);

/*
 * Makes a participant of the shared job spec->participants_id, whose job is one of engine. If
 * *first is set, the caller calls hg_server_participants_open or hg_server_participants_give_up
 * next. The others wait here until then. They get the first one's failure, or HG_INVALID if their
 * keys or columns have other widths. host must outlive the participant.
 */
extern HgStatus hg_server_participants_join(HgEngine *engine, const HgHost *host,
											const HgJobSpec *spec, HgJob **participant, bool *first,
											HgError *error);

/* Opens the job for all; only for the first participant. After a failure it must give up. */
extern HgStatus hg_server_participants_open(HgJob *participant, const HgJobSpec *spec,
											HgError *error);

/*
 * Announces that a participant will append count rows to a side, or pages with room for so many.
 * *wanted is the number of rows that all participants have then announced for the side. rows[2]
 * are the largest numbers announced before, by side. *spec is the first participant's, and stays
 * valid as long as the participant.
 */
extern HgStatus hg_server_participants_announce(HgJob *participant, HgSide side, uint64_t count,
												HgJobSpec *spec, uint64_t rows[2], uint64_t *wanted,
												HgError *error);

/* Makes the job fail: all later calls of any participant return status with *why. */
extern void hg_server_participants_give_up(HgJob *participant, HgStatus status, const HgError *why);

#endif /* HG_SERVER_PARTICIPANTS_H */
