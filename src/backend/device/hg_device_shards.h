/*-------------------------------------------------------------------------
 *
 * hg_device_shards.h
 *	  Jobs that are sharded over several of the server's GPUs.
 *
 * A job that is too large for one device is sharded over all READY devices, with one job on each
 * (engine/hg_sharded.h). What is too large for all of them runs in partition passes, each of which
 * is sharded. Each device is first asked for its memory. Where the amounts differ by much, the
 * shards' rows are in proportion to them; a device with less than a sixteenth of the largest is
 * left out.
 *
 * NO DEADLOCK. Shards are opened in the order of device numbers, so the second of two sharded jobs
 * waits without holding anything that the first one needs.  A job is sharded only if its group (a
 * query with its parallel workers) has no other job open (hg_device_placement.h).  So no other job
 * can be waiting for this group.  Participants of one group that open jobs at the same moment are
 * the exception; a timeout ends that (hg_device_timeout_apart_ms).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_SHARDS_H
#define HG_DEVICE_SHARDS_H

#include "backend/device/hg_device_placement.h"
#include "engine/hg_engine.h"

/* Returns true if the server has several devices, whether or not they are READY. */
extern bool hg_device_shards_is_possible(void);

/*
 * Returns the devices that a job of this process can be sharded over, and connects to them.
 * Returns 0 with *why filled if fewer than two are ready or the group has a job open. Returns a
 * set of one with *why filled if no other device has enough memory. Waits up to 200 ms for each
 * greeting and a second for each answer about memory.
 */
extern HgDeviceSet hg_device_shards_devices(HgError *why);

/*
 * Returns the engine whose jobs are sharded over these devices, with partition passes if needed.
 * It lasts as long as the process. NULL means out of memory.
 */
extern HgEngine *hg_device_shards_engine(HgDeviceSet device_set);

/*
 * Returns the engine for jobs on graph replicas that are partitioned over these devices
 * (engine/hg_partitioning.h). This process must be connected to all of them. Lifetime and NULL are
 * as for hg_device_shards_engine.
 */
extern HgEngine *hg_device_shards_partitions(HgDeviceSet device_set);

/* Returns the number of the device that the set's last job called last, whose call failed. */
extern int hg_device_shards_called(HgDeviceSet device_set);

/* Writes the names of the devices for display, for example "2 x NAME", truncated to size bytes. */
extern void hg_device_shards_name(HgDeviceSet device_set, char *name, Size size);

/* Closes the lost connections to devices of the set. */
extern void hg_device_shards_discard_lost(HgDeviceSet device_set);

/*
 * Closes the connections to all devices of the set because an answer made no sense. Fills *error
 * and returns its status.
 */
extern HgStatus hg_device_shards_distrust(HgDeviceSet device_set, HgError *error);

/*
 * Records the processes of the set that did not answer in time; with more than one device, only
 * those that owe an answer. Fills *error and returns its status.
 */
extern HgStatus hg_device_shards_complain(HgDeviceSet device_set, HgError *error);

#endif /* HG_DEVICE_SHARDS_H */
