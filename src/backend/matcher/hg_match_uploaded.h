/*-------------------------------------------------------------------------
 *
 * hg_match_uploaded.h
 *	  Match source: a device job whose keys were uploaded while they were read (hg_match_source.h).
 *
 * Only open differs from other device jobs: it takes the job over from the task's upload. That job
 * must have the columns that are needed now. If the takeover fails, all keys are still here, and
 * open opens a new job for them with the same columns.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_UPLOADED_H
#define HG_MATCH_UPLOADED_H

#include "backend/matcher/hg_match_source.h"

/* hg_match_device_create() for a task with an upload, which open ends. */
extern HgMatchSource *hg_match_uploaded_create(HgMatchTask *task, HgEngine *engine,
											   const HgMatchColumns *columns, bool alone);

#endif /* HG_MATCH_UPLOADED_H */
