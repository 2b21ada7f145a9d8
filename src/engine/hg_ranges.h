/*-------------------------------------------------------------------------
 *
 * hg_ranges.h
 *	  An engine that cuts jobs which do not fit another engine's memory.
 *
 * It wraps the engine of a device.  A job that fits passes straight through, at no
 * cost.  One for which the device has no memory (HG_DEVICE_OUT_OF_MEMORY of open,
 * append, build, match or count, or of the first next) is cut into ranges of hash values,
 * which are consecutive ranges of vertices, and the device runs a job for each range.  It has
 * two of them at a time where it works by itself: one that it works on, and one that
 * is filled meanwhile.  Together they keep to the memory limit of the job.  A range that
 * does not fit is halved, again and again.
 * Rows of one key cannot be parted by their hash: of these the outer ones are cut by their
 * position, and where even one outer row does not fit, the device's status is returned.
 *
 * The promises of hg_engine.h hold for a job that was cut, except that export_graph answers
 * HG_INVALID.  A job with columns is not cut: the device's status is returned.  The graph that
 * describe describes, and its vertices in the statistics, are the sum of those of the ranges; a key
 * is in one of them.  A count or a describe ends the stream.
 *
 * HOST MEMORY.  A job that runs whole takes what the list of the appended arrays takes.
 * A job that was cut holds the mixed keys and row numbers of a quarter of the rows: key
 * width + 4 bytes for each, which is half of what the keys take, or less.
 * Of a range with more outer rows than
 * that, since one key has many of them, only as many are held at a time; inner rows of
 * one key are held all.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RANGES_H
#define HG_RANGES_H

#include "hg_engine.h"

typedef struct HgRanges
{
	HgEngine engine; /* first: engine calls get its address */
	HgEngine *(*target)(void *arg);
	void *arg;
} HgRanges;

/*
 * Set up *ranges, whose engine then opens jobs; it must outlive them.  target(arg) is
 * called whenever a job of the wrapped engine is to be opened, and returns that engine,
 * or NULL where it is gone (HG_CONNECTION_LOST).  Its append must have taken a copy of the
 * keys when it returns.
 */
extern void hg_ranges_init(HgRanges *ranges, const char *name, HgEngine *(*target)(void *arg),
						   void *arg);

/*
 * Make a job of a ranges' engine that has a job of the wrapped one already: opened for spec, not
 * built, whose rows, which are numbered by their positions, are told by hg_ranges_note, a side at
 * a time in that order.  More can be appended afterwards.  Where this fails, open stays the
 * caller's.
 */
extern HgStatus hg_ranges_adopt(HgEngine *engine, const HgHost *host, const HgJobSpec *spec,
								HgJob *open, HgJob **job, HgError *error);

/* Keys that the adopted job has been given; the array stays in place until close. */
extern HgStatus hg_ranges_note(HgJob *job, HgSide side, const void *keys, uint64_t count,
							   HgError *error);

#endif /* HG_RANGES_H */
