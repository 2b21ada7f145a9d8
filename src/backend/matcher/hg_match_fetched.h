/*-------------------------------------------------------------------------
 *
 * hg_match_fetched.h
 *	  Match source: what this process has fetched of a job that the participants had on a device.
 *
 * build does all the work on the device, including the agreement on its outcome
 * (hg_device_participants.h). What next returns is in this process's memory or, under backend
 * cuda, may be fetched as it is returned.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCH_FETCHED_H
#define HG_MATCH_FETCHED_H

#include "backend/matcher/hg_match_source.h"

/*
 * Creates the source. With alone (backend cuda), a failure is an error; otherwise the participants
 * continue with a shared job on the CPU.
 */
extern HgMatchSource *hg_match_fetched_create(HgMatchTask *task, const HgMatchColumns *columns,
											  bool alone);

#endif /* HG_MATCH_FETCHED_H */
