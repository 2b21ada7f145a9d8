/*-------------------------------------------------------------------------
 *
 * hg_match_sent.h
 *	  Matches from a device job that has got its keys while they were read (hg_match_source.h).
 *
 * What differs from any other job on a device is how it comes to be: it is taken over from the
 * task's sender, whose job must have the columns that are wanted now.  Where that fails no harm is
 * done: all keys are still here, and open opens a job for them, with the same columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_SENT_H
#define HG_MATCH_SENT_H

#include "backend/matcher/hg_match_source.h"

/* As hg_match_device_create(), of a task that has a sender; open is the end of that. */
extern HgMatchSource *hg_match_sent_create(HgMatchTask *task, HgEngine *engine,
										   const HgMatchColumns *columns, bool alone);

#endif /* HG_MATCH_SENT_H */
