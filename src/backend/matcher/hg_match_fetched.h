/*-------------------------------------------------------------------------
 *
 * hg_match_fetched.h
 *	  Matches that this process has fetched of a job that the participants had on a device.
 *
 * hg_device_participants.h tells how the processes have that job, and how they agree on what has
 * become of it: all of that is in build.  What is returned afterwards is in this process's memory
 * or, under backend cuda, fetched as it is returned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_FETCHED_H
#define HG_MATCH_FETCHED_H

#include "backend/matcher/hg_match_source.h"

/*
 * Where it is not alone on a device, the participants share a job on the CPU if the device does not
 * do.
 */
extern HgMatchSource *hg_match_fetched_create(HgMatchTask *task, const HgMatchColumns *columns,
											  bool alone);

#endif /* HG_MATCH_FETCHED_H */
