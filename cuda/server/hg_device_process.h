/*-------------------------------------------------------------------------
 *
 * hg_device_process.h
 *	  The parts of a device process that do not depend on the kind of its device.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_DEVICE_PROCESS_H
#define HG_DEVICE_PROCESS_H

#include <stddef.h>

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
	int listen;				/* listening socket; -1: serve only the connected one */
	uint64_t staging_bytes; /* a multiple of the page size */
	uint64_t memory_budget; /* bytes of device memory; 0 = 80 % of the device's */
	/* bytes of the budget for replicas; 0 = half of the current budget, -1 = none */
	int64_t replica_bytes;
	int device;		  /* device number; -1 = any */
	int idle_timeout; /* seconds; 0 = never */
} HgDeviceOptions;

/* The functions that one kind of device process provides. */
typedef struct HgDeviceKind
{
	const char *description; /* what it was built with, for --version */

	/* Starts the engine on a device, or returns why there is none. Called once. */
	HgStatus (*start)(const HgDeviceOptions *options, HgEngine **engine, HgError *error);

	/*
	 * Registers the staging area with the started device, so that copies are fast. The area stays
	 * mapped for the life of the process. After a failure copies are slower.
	 */
	HgStatus (*pin)(unsigned char *staging, uint64_t bytes, HgError *error);

	/*
	 * Measures the costs of jobs on the started engine and on the CPU, and sets connect_ms. staging
	 * is scratch memory for keys.
	 */
	HgStatus (*measure)(const HgDeviceOptions *options, unsigned char *staging,
						HgEngineCosts *costs, HgError *error);

	/*
	 * Fills up to capacity infos and returns their number. If there is none, it returns 0 and
	 * fills *error, which may be NULL. For --probe it is called before start.
	 */
	int (*list)(HgDeviceInfo *infos, int capacity, HgError *error);

	/* see HgServerConfig in hg_server.h */
	int evict_ms;
	uint64_t (*job_bytes)(const HgJobSpec *spec);
	void (*memory_use)(HgMemoryUse *use);
	void (*measure_use)(void);
	void (*rest)(void);
	void (*tidy)(void);
} HgDeviceKind;

/* main() of a device process: returns its exit status. */
extern int hg_device_process_main(int argc, char **argv, const HgDeviceKind *kind);

/* hg_process_memory.c: the device process's own memory, for the engines' hosts */

/* HgHost.alloc, which ignores arg: blocks are aligned to a cache line. NULL when out of memory. */
extern void *hg_process_alloc(void *arg, size_t bytes);

/* HgHost.free, which ignores arg and bytes. */
extern void hg_process_free(void *arg, void *ptr, size_t bytes);

#endif /* HG_DEVICE_PROCESS_H */
