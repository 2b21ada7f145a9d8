/*-------------------------------------------------------------------------
 *
 * hg_guc.h
 *	  The settings of hashgraph, each declared once in hg_guc.c.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_GUC_H
#define HG_GUC_H

typedef enum HgBackendChoice
{
	HG_BACKEND_AUTO, /* the device if it is ready, else the CPU */
	HG_BACKEND_CPU,
	HG_BACKEND_CUDA /* the device, or an error; cached columns are used as under auto */
} HgBackendChoice;

/* hashgraph.table = auto */
#define HG_TABLE_AUTO (-1)

/* The most GPUs that one server uses. */
#define HG_GPU_DEVICES 8

/* hashgraph.gpu_device: distinct GPU ordinals. */
typedef struct HgGpuDevices
{
	int count; /* 0: all, which the setting writes as -1 */
	int ordinals[HG_GPU_DEVICES];
} HgGpuDevices;

/* Returns the index of a GPU ordinal in a list; -1 if it is not in it. */
static inline int
hg_gpu_devices_find(const HgGpuDevices *devices, int ordinal)
{
	for (int i = 0; i < devices->count; i++)
		if (devices->ordinals[i] == ordinal)
			return i;
	return -1;
}

extern bool hg_enabled;
extern bool hg_force;
extern bool hg_adaptive;
extern bool hg_join_estimates;
extern bool hg_send_pages;
extern int hg_backend; /* HgBackendChoice */
extern int hg_build;   /* HgBuildAlgorithm */
extern int hg_probe;   /* HgProbeAlgorithm */
extern int hg_table;   /* HgTableKind, or HG_TABLE_AUTO */
extern double hg_load_factor;
extern int hg_bins; /* 0 = automatic */
extern int hg_min_rows;
extern bool hg_float_sums;
extern int hg_gpu_memory_limit;	 /* kB; 0 = no limit for one join */
extern int hg_keep_memory;		 /* kB; -1 = as much as hash_mem */
extern int hg_gpu_wait_limit;	 /* ms; 0 = the expected time of the join on the CPU */
extern int hg_gpu_memory_budget; /* kB; 0 = 80 % of the device */
extern int hg_staging_size;		 /* kB */
extern int hg_gpu_idle_timeout;	 /* s; 0 = never */
extern HgGpuDevices hg_gpu_devices;
extern char *hg_device_program; /* "" = beside the server's own programs */
extern int hg_resident_memory;	/* kB; 0 = none */
extern bool hg_resident;		/* scans may read from cached columns */
extern bool hg_resident_auto;
extern int hg_resident_workers;
extern int hg_resident_gpu_memory; /* kB; 0 = half of the budget, -1 = none */
extern bool hg_save_counters;	   /* to PostgreSQL's statistics file, since 18 */

/* Called when hg_save_counters changes, unless NULL. */
extern void (*hg_save_counters_assigned)(bool save);

/* Declares all settings and reserves the prefix hashgraph; called by _PG_init. */
extern void hg_guc_init(void);

#endif /* HG_GUC_H */
