/*-------------------------------------------------------------------------
 *
 * hg_device_placement.h
 *	  Which of the server's GPUs a job goes to.
 *
 * A job goes, of the places that may have it, whose process is READY and answers, to
 *
 *	1. that where its group has jobs open (hg_device_load.h says why),
 *	2. else the one whose jobs have the fewest bytes, or are the fewest,
 *	3. where several have: the one that this process chose last, or else the first from its own
 *	   number on, so that sessions spread.
 *
 * It stays there until it is closed, unless it is too large for one (hg_device_spread.h).  Which
 * places may have it is for the caller to say, who knows where the graphs are that it names, and
 * for hashgraph.gpu_device as the session has it.  A place that rests is woken where all others
 * have something to do for other groups.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PLACEMENT_H
#define HG_DEVICE_PLACEMENT_H

#include "hg_compat.h"

#include "hg_guc.h"

/* A set of places, a bit for each. */
typedef uint32 HgPlaces;

#define HG_PLACE(place) ((HgPlaces) 1 << (place))
#define HG_PLACES_ALL ((HgPlaces) ((1 << HG_GPU_DEVICES) - 1))

/*
 * The place, of these, for a job; where none is READY, the one that is to be waited for; -1:
 * none of these may have this session's jobs.  Of all places it is 0 then, and where the session
 * has a process of its own.
 */
extern int hg_device_place(HgPlaces among);

/* The same, but only where one is READY; else -1. */
extern int hg_device_place_ready(HgPlaces among);

/*
 * All places that are READY and may have this session's jobs.  Those that rest are told to come up,
 * for whoever asks next.
 */
extern HgPlaces hg_device_places_wanted(void);

/* What a job says of the GPU that it is to run on (HgJobSpec.device); -1: any. */
extern int hg_device_wanted_ordinal(void);

#endif /* HG_DEVICE_PLACEMENT_H */
