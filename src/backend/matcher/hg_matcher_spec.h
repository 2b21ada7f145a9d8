/*-------------------------------------------------------------------------
 *
 * hg_matcher_spec.h
 *	  What to match, how, and at which estimated cost: the input of a matcher.
 *
 * Covered rows are rows that a cached index holds. Delta rows are the others, which come as keys.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_MATCHER_SPEC_H
#define HG_MATCHER_SPEC_H

#include "storage/barrier.h"
#include "utils/dsa.h"

#include "backend/device/hg_device_placement.h"
#include "backend/hg_budget.h"
#include "backend/hg_host.h"
#include "backend/hg_progress.h"
#include "backend/matcher/hg_gather.h"
#include "engine/hg_computed.h"
#include "engine/hg_costs.h"
#include "engine/hg_flat.h"
#include "engine/hg_partitioning.h"
#include "engine/hg_replica.h"
#include "engine/hg_row_filter.h"
#include "engine/hg_table_measure.h"
#include "engine/wire/hg_wire_client.h"

/* Implements the engine's participants of a shared job with a barrier and a DSA area. */

typedef struct HgDeviceParticipantsShared HgDeviceParticipantsShared; /* hg_device_participants.h */

/* What the participants of a join have in common. */
typedef struct HgParticipantsSpec
{
	HgParticipantsState *state; /* in shared memory; zeros before the first begins */
	Barrier *barrier;			/* this process is attached to it */
	dsa_area *area;
	uint32 arrived;	 /* the engine's arrives that were over when it attached */
	bool whole_bins; /* all outer rows of an inner row go to one process */
	bool spread;	 /* each process returns its part of the matches, whichever process read the
					  * rows */

	/*
	 * For covered rows (HgMatcherSpec). next_part is the next part of the join of both sides'
	 * covered rows, which one process takes. no_delta: no process has delta keys of one of the
	 * sides, so nothing is built together.
	 */
	pg_atomic_uint32 *next_part;
	bool at_once; /* the first process takes all parts and has a device count the pairs */
	bool no_delta;

	HgDeviceParticipantsShared *device; /* state of the join on a device, which is tried first;
										 * in shared memory */

	/* Returns the numbers of the rows of a side, once all processes' rows are there. */
	const HgRowNumbers *(*numbers)(void *arg, HgSide side);
	void *arg;

	int processes;		/* the most processes there may be, the same for all */
	uint64 match_bytes; /* memory for stored matches, of all processes */
} HgParticipantsSpec;

/* One participant's state. */
typedef struct HgPgParticipants
{
	HgParticipants participants; /* what the engine sees */
	HgParticipantsSpec spec;
	HgPgHost *host; /* keeps errors that must not unwind through the engine */
} HgPgParticipants;

/* Initializes *participants from a copy of *spec; the caller keeps host and what spec names. */
extern void hg_participants_init(HgPgParticipants *participants, const HgParticipantsSpec *spec,
								 HgPgHost *host);

/* Frees the memory in area of a job that all participants have closed, and zeroes *state. */
extern void hg_participants_reset(HgParticipantsState *state, dsa_area *area);

/* What to match, how, and at which estimated cost: the input of a matcher. */

/* Returns the side that is not this one. */
static inline HgSide
hg_other_side(HgSide side)
{
	return side == HG_OUTER ? HG_INNER : HG_OUTER;
}

/* A part of the keys of a side. */
typedef struct HgKeyPiece
{
	const void *keys; /* [count] words of the key width */
	uint64 count;
	/* number of the first row; consecutive over the pieces, unless the job is shared */
	uint64 first_row;
} HgKeyPiece;

typedef struct HgKeySet
{
	const HgKeyPiece *pieces;
	int npieces;
	uint64 rows; /* sum of the counts */
} HgKeySet;

typedef struct HgUpload HgUpload; /* hg_upload.h */

/* An index of covered rows that a side looks up on a device (engine/hg_replica.h). */
typedef struct HgReplicaFound
{
	HgReplicaLookup lookup;
	const HgFlatMask *mask;		  /* covered rows of that index; NULL: all */
	const uint64 *first_ordinals; /* as HgReplicaCovered.first_ordinals */
} HgReplicaFound;

/* The device replica of the index that has a side's covered rows. */
typedef struct HgReplicaCovered
{
	HgReplicaUse use;
	const HgPartitioning *partitions; /* how the replica is partitioned over devices; NULL: it
									   * is not */
	HgReplicaColumnUse columns[HG_MAX_COLUMNS]; /* of the reduction, if has_columns */
	bool coded[HG_MAX_COLUMNS];					/* the column has codes instead of values */
	uint32 ncodes[HG_MAX_COLUMNS];				/* codes of the column are below this */
	bool has_columns;
	const uint64 *first_ordinals; /* [parts + 1] rows of the table before each part */
	uint32 nlookups;
	HgReplicaFound lookups[HG_MAX_LOOKUPS];	   /* indexes that the side's rows look up */
	HgCopartition copartition[HG_MAX_LOOKUPS]; /* for partitions: how each of these is
												* partitioned */
	uint32 nprograms;
	HgProgram programs[HG_MAX_PROGRAMS]; /* compute some of the columns */
	HgRowFilters filters;				 /* pending predicates; only rows that pass them count */
} HgReplicaCovered;

typedef struct HgMatcherSpec
{
	uint32 key_width; /* bytes: 4 or 8 */
	HgMatchMode mode; /* all matches, or the first of each outer row */
	bool small;		  /* few rows: use the CPU only */
	bool counted;	  /* only the number of matches is needed */
	/* direct addressing: on the CPU, keys may be vertex numbers, unless a setting forbids it */
	bool direct;
	/* limit in bytes of a job with direct addressing or a table of keys; 0: none */
	uint64 direct_limit;
	double pairs; /* expected number of matches; only for estimates of time */

	/*
	 * NULL, or a function that returns true if the caller needs no more matches of an outer row
	 * (HgMatches.is_finished). It must not ereport.
	 */
	bool (*is_finished)(void *arg, uint32 outer_row);
	void *finished_arg;

	/*
	 * 0, or the expected number of outer rows that come after create, in small batches
	 * (hg_matcher_renew). Only if hg_matcher_may_stream() and later hg_matcher_streams() return
	 * true.
	 */
	uint64 streamed_rows;

	/*
	 * unread, by HgSide: the caller does not read the side's row numbers in matches, which may be
	 * arbitrary. any_order: the caller takes all matches, in any order.
	 */
	bool unread[2];
	bool any_order;

	/* By HgSide: the number of memory locations that the caller reads for each delta row. */
	int accesses[2];

	/*
	 * NULL, or the inner keys, each of them once, which replace those of create. The caller keeps
	 * it until the matcher is destroyed.
	 */
	const HgKeyBitmap *inner_bits;

	/*
	 * NULL, or the reduction that a device may apply to the matches, if that takes less time than
	 * returning them; hg_matcher_reduce() returns which. The caller keeps it until the matcher is
	 * destroyed.
	 */
	const HgReduction *reduction;

	/*
	 * By HgSide: NULL, or columns whose values the caller needs for each match. A device gathers
	 * them if that takes less time than looking each value up by its row; see hg_matcher_values().
	 * The caller keeps them until the matcher is destroyed.
	 */
	const HgColumnSet *columns[2];

	/*
	 * By HgSide: NULL, or the side's covered rows, numbered as in their cached index. They are
	 * joined beside the delta rows of the side's key set. Delta rows are numbered from first_row
	 * on, which is 0 or beyond all numbers of the index. The caller keeps all of it until the
	 * matcher is destroyed.
	 *
	 * One block of matches has either covered rows or delta rows of a side. If the inner rows are
	 * all covered or all delta, the matches of an outer row are contiguous, and HG_MATCH_FIRST
	 * applies to all of them.
	 */
	const HgFlatSide *covered[2];
	uint32 first_row[2];

	/*
	 * NULL if no predicate is pending. apply() applies the pending predicates to all covered rows,
	 * and must run before covered rows of both sides meet. Delta rows do not need that:
	 * apply_some() returns the covered rows of one side that pass the predicates and may match
	 * these keys of the other side, in CurrentMemoryContext. Both may ereport.
	 */
	void (*apply)(void *arg);
	const HgFlatSide *(*apply_some)(void *arg, HgSide side, const HgKeySet *keys);
	void *apply_arg;

	/*
	 * covered_apart: another matcher joins covered rows with covered rows. Otherwise covered_part
	 * may be a shared counter, only without participants. Several processes, each with its own
	 * matcher over the same covered rows, take parts of that work from it. NULL: this matcher does
	 * all of it.
	 */
	bool covered_apart;
	pg_atomic_uint32 *covered_part;

	/*
	 * By HgSide: NULL, or the device replica of the covered rows, as far as this process knows. If
	 * both are set, the pairs are asked from the device, which takes less time.
	 */
	const HgReplicaCovered *replica[2];
	HgDeviceSet replica_at;	  /* devices that have all of it */
	bool replica_partitioned; /* the devices have partitions, and all of them must be asked */

	/* The join is below a Gather, whose workers would connect to a device for this query alone. */
	bool parallel;

	/*
	 * NULL, or what this process shares with others that join the same sides, each with its own
	 * rows. The matches are then those of this process's share of the work.
	 */
	const HgParticipantsSpec *participants;

	/* NULL, or an upload that has uploaded keys. The caller may destroy it after create. */
	HgUpload *upload;

	/*
	 * NULL, or the budget charged while devices are asked about covered rows: for the masks of
	 * partitions. Like progress, the caller keeps it as long as the matcher.
	 */
	HgBudget *budget;

	/* NULL, or notified of progress while the engine works. */
	HgProgress *progress;

	/*
	 * NULL, or a table to measure on a device with the inner keys instead of a join; see
	 * hg_matcher_measured(). There is no outer side then.
	 */
	const HgTableTrial *trial;
} HgMatcherSpec;

/* Estimated times of a join. */
typedef struct HgMatcherEstimate
{
	double device_ms; /* milliseconds on a device */
	double cpu_ms;	  /* milliseconds on the CPU */
	bool reduced;	  /* the device should reduce the matches */
} HgMatcherEstimate;

/*
 * Estimates the time of a join of the given rows of all participants. With streamed_rows, the
 * estimate assumes that the CPU joins outer rows as they come if the inner side is small. Returns
 * false if costs is NULL: then no times are set, and matches are reduced wherever possible.
 */
extern bool hg_matcher_estimate(const HgEngineCosts *costs, const HgMatcherSpec *spec,
								uint64 outer_rows, uint64 inner_rows, HgMatcherEstimate *estimate);

/*
 * Chooses, of spec.columns, the sides whose values a device gathers in less time than it takes to
 * look them up by row, and for which there is memory. Sets chosen[] to NULL for the others, and
 * for both if costs is NULL.
 */
extern void hg_matcher_choose_columns(const HgEngineCosts *costs, const HgMatcherSpec *spec,
									  const uint64 rows[2], const HgColumnSet *chosen[2]);

/*
 * While no device process is ready, backend auto asks for one only for joins of this many rows:
 * with fewer rows the CPU finishes before a process could start.
 */
#define HG_DEVICE_ROWS 500000

/* What this process knows of the server's devices. All zero: nothing; set on demand. */
typedef struct HgKnownDevice
{
	bool measured; /* a device is ready, and costs is valid */
	HgEngineCosts costs;
	bool sought; /* absent is valid */
	bool absent; /* there is no device and never will be */
} HgKnownDevice;

/* Sets device->costs if a device is READY. Whether one exists is checked later, if needed. */
extern void hg_matcher_ask_device(HgKnownDevice *device);

/* Returns the greatest number of inner rows for which outer rows are looked up in batches. */
extern double hg_matcher_stream_rows(uint32 key_width);

/*
 * Returns true if the outer rows of a join may come in batches and be looked up in one graph of
 * all inner rows. This is so if the join would run on the CPU, by what is known of devices, and no
 * setting requires another algorithm. Rows and pairs are those of one process. parallel: as in
 * HgMatcherSpec. files: a device would get both sides from temporary files,
 * because they do not fit into work memory; to write and read these takes longer than any join.
 */
extern bool hg_matcher_may_stream(HgKnownDevice *device, uint32 key_width, uint64 outer_rows,
								  uint64 inner_rows, double pairs, bool parallel, bool files);

/*
 * Zeroes *spec and fills in the key width, the settings, the requested device and this process's
 * group. Copies the widths of the reduction's columns, unless it is NULL. The job's limit of device
 * memory is set only if on_device. The caller sets the expected rows.
 */
extern void hg_matcher_init_spec(HgJobSpec *spec, uint32 key_width, const HgReduction *reduction,
								 bool on_device);

#endif /* HG_MATCHER_SPEC_H */
