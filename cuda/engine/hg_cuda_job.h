/*-------------------------------------------------------------------------
 *
 * hg_cuda_job.h
 *	  A job of the CUDA engine, for the files that work on it.
 *
 *	hg_cuda_engine.cu		columns in, groups, tables
 *	hg_cuda_append.cu		keys and pages in
 *	hg_cuda_pieces.h		pages on their way
 *	hg_cuda_shards.cu		rows that are exchanged with other jobs
 *	hg_cuda_offers.cu		... straight from device to device
 *	hg_cuda_replica.h			replicas of graphs and columns, and the part of a job that belongs
 *								to them
 *	hg_cuda_build.cu		graphs or bins
 *	hg_cuda_stream.cu		matches
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_JOB_H
#define HG_CUDA_JOB_H

#include "../../src/engine/hg_offer.h"
#include "../../src/engine/hg_pages.h"
#include "../device/hg_cuda_shared.h"
#include "../kernels/hg_cuda_both.h"
#include "../kernels/hg_cuda_gather.h"
#include "../kernels/hg_cuda_reduce.h"
#include "../table/hg_cuda_table_measure.h"
#include "hg_cuda_replica.h"
#include "hg_cuda_pieces.h"

/* One side of a job until it is built. */
struct HgCudaKeyColumn
{
	void *keys; /* [capacity] in device memory, or NULL */
	uint64_t rows;
	uint64_t capacity;
};

typedef enum HgCudaExchangeStage
{
	HG_EXCHANGE_APPENDING = 0,
	HG_EXCHANGE_EXPECTING,
	HG_EXCHANGE_ARRIVED
} HgCudaExchangeStage;

/* A side of a job that is a shard, while it exchanges rows (hg_cuda_shards.cu). */
struct HgCudaExchanged
{
	HgCudaExchangeStage stage;
	HgExchange exchange;
	uint8_t *owners;					/* [HG_EXCHANGE_PARTS] by part: the shard that has it */
	uint32_t *order;					/* positions of the side's rows, by shard */
	uint64_t starts[HG_MAX_SHARDS + 1]; /* in order, of each shard's */
	uint64_t taken[HG_MAX_SHARDS];

	/* the rows that the side will have, and how many have come */
	void *keys;
	uint32_t *numbers;
	HgCudaColumns values;
	uint64_t rows;

	/* room for rows on their way out */
	void *taken_keys;
	uint32_t *taken_numbers;
	HgCudaColumns taken_values;
	uint64_t taken_room;

	/* where others send rows to, and what it says (hg_cuda_offers.cu) */
	HgCudaShared offered;
	HgOfferHead head;
};

/* The matches of a mode, once a pass has counted them. */
struct HgCudaCounted
{
	bool known;
	uint64_t matches;
};

struct HgCudaJob
{
	HgJobSpec spec;		 /* without the graphs that it named, which are in making and kept */
	HgTableTrial trial;	 /* where the spec has one: that points here */
	HgCudaMaking making; /* the graph or column that it is there to make */
	HgCudaReplicaSide replica[2]; /* by HgSide; graphs that it has for them */
	HgPageSpec pages[2];		  /* by HgSide; of those that come as pages: the spec points here */
	bool bad_page;				  /* one of them makes no sense */
	HgCudaPieces *pieces;		  /* on their way; NULL where no side comes as pages */
	HgCudaPages piece;			  /* for pages that are none of these, until the job is built */
	uint64_t append_peak;		  /* the most memory that it held until then, and all pieces */
	HgCudaWork work;
	HgCudaExchanged exchanges[2]; /* by HgSide; of a shard */
	HgCudaKeyColumn columns[2];	  /* by HgSide; empty once the side has its graph or bins */
	HgCudaLayout layout;
	HgShape shape;
	bool both;		 /* layout graphs: those of both sides are built at a time, when first needed */
	bool both_built; /* and have been */
	bool viewed;	 /* and their edges are rows in bins */
	uint64_t common; /* vertices that have edges in both graphs */
	HgCudaGraph graphs[2]; /* by HgSide; offsets NULL where none was built; the arrays of a replica
							* are not the work's */
	HgCudaPartition partitions[2]; /* by HgSide; layout bins, and both graphs */
	HgCudaBins bins;			   /* of the partitions */
	HgCudaColumns values[2];	   /* by HgSide; beside the keys */
	HgCudaNumbers numbers[2];	   /* by HgSide; without a run where rows were not numbered, with a
									* stride where they have column replicas */
	bool built;

	/* of the last match() */
	HgMatchMode mode;
	bool joined;
	HgCudaJoin join;				/* other graphs */
	HgCudaBinsMatches bins_matches; /* layout bins, and both graphs */
	uint64_t matches;				/* of the whole stream */
	uint64_t position;				/* the next match to be delivered */
	bool spent;						/* all were, and the chunk is gone: they are to be found anew */
	HgCudaCounted counted[2];		/* by HgMatchMode; of any match() or count() */

	uint32_t *chunk; /* [2 * chunk_capacity]: outer rows, then inner rows; in a job with columns
					  * by position, else by number (hg_cuda_numbers.h) */
	uint64_t chunk_capacity;
	uint64_t chunk_first; /* the number of its first match */
	uint64_t chunk_count; /* matches in it */
	HgCudaGather gather;  /* where the job has columns */

	HgCudaReduce reduce; /* the groups of the last reduce() */

	HgJobStats stats;
};

/* Are its matches those of bins? */
static inline bool
hg_cuda_job_in_bins(const HgCudaJob *job)
{
	return job->layout == HG_LAYOUT_BINS || job->both;
}

/* True if the job makes a graph replica, or a column replica, or either of them. */
static inline bool
hg_cuda_job_is_making_graph(const HgCudaJob *job)
{
	return job->making.shape.key_width != 0;
}

static inline bool
hg_cuda_job_is_making_column(const HgCudaJob *job)
{
	return job->making.column.shape.width != 0;
}

static inline bool
hg_cuda_job_is_making(const HgCudaJob *job)
{
	return hg_cuda_job_is_making_graph(job) || hg_cuda_job_is_making_column(job);
}

/* True if the job has graph replicas. */
static inline bool
hg_cuda_job_has_replicas(const HgCudaJob *job)
{
	return job->replica[HG_OUTER].replica != nullptr || job->replica[HG_INNER].replica != nullptr;
}

/* Does it have columns beside its keys? */
static inline bool
hg_cuda_job_has_columns(const HgCudaJob *job)
{
	return job->spec.ncolumns[HG_OUTER] + job->spec.ncolumns[HG_INNER] > 0;
}

#endif /* HG_CUDA_JOB_H */
