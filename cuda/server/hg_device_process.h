/*-------------------------------------------------------------------------
 *
 * hg_device_process.h
 *	  What every device process does, whatever its device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PROCESS_H
#define HG_DEVICE_PROCESS_H

#include "hg_server.h"

/* The build passes the extension's version; a build by hand has none. */
#ifndef HG_VERSION
#define HG_VERSION "of no release"
#endif

typedef enum HgDeviceCommand
{
	HG_COMMAND_SERVE,
	HG_COMMAND_VERSION,
	HG_COMMAND_PROBE,
	HG_COMMAND_HELP
} HgDeviceCommand;

typedef struct HgDeviceOptions
{
	HgDeviceCommand command;
	int socket;				/* connected, SOCK_SEQPACKET; see hg_server.h */
	int listen;				/* -1 = serve socket alone */
	uint64_t staging_bytes; /* a multiple of the page size */
	uint64_t memory_budget; /* bytes of device memory; 0 = 80 % of the device */
	int64_t replica_bytes;	/* of it for replicas; 0 = half, as it stands, -1 = none */
	int device;				/* ordinal; -1 = any */
	int idle_timeout;		/* seconds; 0 = never */
} HgDeviceOptions;

/* What one kind of device process does its own way. */
typedef struct HgDeviceKind
{
	const char *description; /* for --version: what it was built with */

	/*
	 * Get the device ready and give the engine that uses it, or say why there is none.
	 * Called once.
	 */
	HgStatus (*start)(const HgDeviceOptions *options, HgEngine **engine, HgError *error);

	/*
	 * Register the staging area with the device that was started, so that copies are fast; it
	 * stays mapped for the life of the process.  Where that is refused copies are slower.
	 */
	HgStatus (*pin)(unsigned char *staging, uint64_t bytes, HgError *error);

	/*
	 * Measure what jobs cost on the engine that was started, with keys in staging, and what
	 * they cost on the CPU.
	 */
	HgStatus (*measure)(const HgDeviceOptions *options, unsigned char *staging,
						HgEngineCosts *costs, HgError *error);

	/*
	 * Fill at most capacity of infos and return their number; 0, with *error (if not NULL)
	 * filled, where there is none.  Called before start for --probe.
	 */
	int (*list)(HgDeviceInfo *infos, int capacity, HgError *error);

	/* see hg_server.h */
	int evict_ms;
	uint64_t (*job_bytes)(const HgJobSpec *spec);
	void (*memory_use)(HgMemoryUse *use);
	void (*measure_use)(void);
	void (*rest)(void);
	void (*tidy)(void);
} HgDeviceKind;

/* main() of a device process: returns its exit status. */
extern int hg_device_process_main(int argc, char **argv, const HgDeviceKind *kind);

#endif /* HG_DEVICE_PROCESS_H */
