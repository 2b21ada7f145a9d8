/*-------------------------------------------------------------------------
 *
 * hg_device_shards.h
 *	  Jobs that are sharded over several of the server's GPUs.
 *
 * A job that one device is too small for is sharded over all that are READY, as one job on each
 * (engine/hg_sharded.h); what is too large for these is partitioned into ranges, each of which is
 * sharded.  Each device is asked before what memory it has: their shares of the rows are in
 * proportion to that, where it differs by much, and one that has next to none is left out.
 *
 * NO TWO WAIT FOR EACH OTHER. Shards are opened by the order of device numbers, so that of two such
 * jobs the one that comes second waits without anything that the first one wants.  A job is spread
 * only where its group has no other one open (hg_device_load.h): it waits on a device for others,
 * which wait for none of its group's then, but for those that processes of one group open at the
 * same moment; they are told by the time (hg_device_timeout_apart_ms).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SHARDS_H
#define HG_DEVICE_SHARDS_H

#include "backend/device/hg_device_placement.h"
#include "engine/hg_engine.h"

/* May there be several devices, so that it is worth a look which are READY? */
extern bool hg_device_shards_is_possible(void);

/*
 * The devices that a job of this process can be spread over, to which it is connected now; with
 * *why filled where that is one, since no other has memory to speak of, or 0: there are fewer than
 * two, or its group has a job open.  Waits a moment for each that has not greeted, or does not say
 * what memory it has.
 */
extern HgDeviceSet hg_device_shards_devices(HgError *why);

/*
 * The engine whose jobs are spread over these devices; it lasts as long as the process.  NULL: out
 * of memory.
 */
extern HgEngine *hg_device_shards_engine(HgDeviceSet device_set);

/*
 * The engine for jobs of graph replicas, of which these devices have partitions
 * (engine/hg_partitioning.h), to all of which this process is connected; the same.
 */
extern HgEngine *hg_device_shards_partitions(HgDeviceSet device_set);

/*
 * The device, of these, that a job of partitions was at work with last: where that failed, it has.
 */
extern int hg_device_shards_called(HgDeviceSet device_set);

/* The names of the devices, for a human. */
extern void hg_device_shards_name(HgDeviceSet device_set, char *name, Size size);

/*
 * As hg_device_discard_lost, hg_device_distrust and hg_device_complain, of all of the devices; the
 * last of those whose answers are awaited.
 */
extern void hg_device_shards_discard_lost(HgDeviceSet device_set);
extern HgStatus hg_device_shards_distrust(HgDeviceSet device_set, HgError *error);
extern HgStatus hg_device_shards_complain(HgDeviceSet device_set, HgError *error);

#endif /* HG_DEVICE_SHARDS_H */
