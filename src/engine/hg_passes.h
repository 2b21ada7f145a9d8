/*-------------------------------------------------------------------------
 *
 * hg_passes.h
 *	  An engine that runs a job which does not fit a device as partition passes.
 *
 * It wraps the engine of a device.  A job that fits passes straight through, at no cost.  If the
 * device has no memory for a job (HG_DEVICE_OUT_OF_MEMORY of open, append, build, match, count or
 * the first next), the job is partitioned by ranges of hash values, which are consecutive ranges
 * of vertices.  The device then runs one job for each range.  If the device engine is
 * asynchronous, two jobs are open at a time: the device works on one while the other is filled.
 * Together they keep to the memory limit of the job.  A range that does not fit is halved, again
 * and again.  Rows of one key can not be separated by their hash: there the outer rows are divided
 * by position.  If not even one outer row fits, the device's status is returned.
 *
 * The promises of hg_engine.h hold for a partitioned job, except that export_graph answers
 * HG_INVALID.  A job with columns is not partitioned: the device's status is returned.  What
 * describe returns, and the vertices in the statistics, are sums over the ranges; each key is in
 * one range.  A count or a describe ends the stream.
 *
 * HOST MEMORY.  A job that runs whole takes the list of its appended arrays.  A partitioned job
 * also holds the mixed keys and row numbers of a quarter of the rows: key width + 4 bytes for
 * each, which is half the size of the keys, or less.  If a range has more outer rows than that
 * because of a frequent key, only that many are in memory at a time; the inner rows of the key are
 * all in memory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PASSES_H
#define HG_PASSES_H

#include "hg_engine.h"

typedef struct HgPasses
{
	HgEngine engine; /* first: engine calls get its address */
	HgEngine *(*target)(void *arg);
	void *arg;
} HgPasses;

/*
 * Sets up *passes, whose engine then opens jobs; *passes must outlive them.  target(arg) is called
 * whenever a job of the wrapped engine is opened, and returns that engine, or NULL if it is gone
 * (HG_CONNECTION_LOST).  The wrapped engine's append must copy the keys before it returns.
 */
extern void hg_passes_init(HgPasses *passes, const char *name, HgEngine *(*target)(void *arg),
						   void *arg);

/*
 * Makes *job, a job of engine (that of an HgPasses), around a job of the wrapped engine: open,
 * which was opened for spec and is not built, and whose rows are numbered by position.  The caller
 * then calls hg_passes_note for all rows that it has appended, a side at a time, in that order.
 * More rows can be appended afterwards.  On failure the open job stays the caller's.
 */
extern HgStatus hg_passes_adopt(HgEngine *engine, const HgHost *host, const HgJobSpec *spec,
								HgJob *open, HgJob **job, HgError *error);

/* Records keys that the adopted job already has; the array stays in place until close. */
extern HgStatus hg_passes_note(HgJob *job, HgSide side, const void *keys, uint64_t count,
							   HgError *error);

#endif /* HG_PASSES_H */
