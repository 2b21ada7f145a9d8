/*-------------------------------------------------------------------------
 *
 * hg_server_team.h
 *	  Jobs that several connections have together.
 *
 * The members of a team have one job of the engine.  Each of them is a job of another engine, the
 * team engine, which passes on what must be done once (build, count, match, reduce) for the first
 * who asks, and to the others the answer that he got, but for groups, which he has alone; and what
 * each does for himself (append_rows, append_column, append_pages, next) for one after the other,
 * but that pages of several are on their way to the device at a time.
 * hg_wire.h has the rules.
 *
 * Any thread may call any function, each member one at a time.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SERVER_TEAM_H
#define HG_SERVER_TEAM_H

#include "../../src/engine/hg_engine.h"

/* The engine that members are jobs of.  Its open is hg_server_team_join. */
extern HgEngine *hg_server_team_engine(void);

/*
 * Become a member of the team spec->team, whose job is one of engine.  The first is told
 * that he is, and calls hg_server_team_open next, or hg_server_team_give_up; the others wait
 * for that here, and get its failure, or HG_INVALID where their keys or columns are of other
 * widths.  host must outlive the member.
 */
extern HgStatus hg_server_team_join(HgEngine *engine, const HgHost *host, const HgJobSpec *spec,
									HgJob **member, bool *first, HgError *error);

/* The first member's: open the job for all.  Where it can't be opened, he gives up. */
extern HgStatus hg_server_team_open(HgJob *member, const HgJobSpec *spec, HgError *error);

/*
 * A member is about to append count rows to a side, or pages that have room for so many: then all
 * members have announced *wanted of that side, and before they had never announced more than
 * rows[2] of both.  spec is what the first member asked to have admitted, and stays in place as
 * long as the member does.
 */
extern HgStatus hg_server_team_announce(HgJob *member, HgSide side, uint64_t count, HgJobSpec *spec,
										uint64_t rows[2], uint64_t *wanted, HgError *error);

/* There will be no job, or no more of it: why is what all who ask for something get. */
extern void hg_server_team_give_up(HgJob *member, HgStatus status, const HgError *why);

#endif /* HG_SERVER_TEAM_H */
