/*-------------------------------------------------------------------------
 *
 * hg_cuda_job.h
 *	  A job of the CUDA engine, for the files that work on it.
 *
 *	hg_cuda_engine.cu		appends columns, makes groups, measures tables
 *	hg_cuda_append.cu		appends keys and pages
 *	hg_cuda_pieces.h		pages on their way to the device
 *	hg_cuda_shards.cu		exchanges rows with other shards of the join
 *	hg_cuda_shards.cu		exchanges rows straight from device to device
 *	hg_cuda_replica.h		replicas of graphs and columns, and the sides of jobs that are replicas
 *	hg_cuda_build.cu		builds graphs or bins
 *	hg_cuda_stream.cu		finds and returns matches
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_CUDA_JOB_H
#define HG_CUDA_JOB_H

#include "../../src/engine/hg_peer_window.h"
#include "../../src/engine/hg_pages.h"
#include "../device/hg_cuda_shared.h"
#include "../kernels/hg_cuda_both.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_reduce.h"
#include "../tables/hg_cuda_table_measure.h"
#include "hg_cuda_replica.h"
#include "hg_cuda_pieces.h"

/* The keys of one side of a job until it is built. */
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

/* A side of a shard while it exchanges rows (hg_cuda_shards.cu). */
struct HgCudaExchanged
{
	HgCudaExchangeStage stage;
	HgExchange exchange;
	uint8_t *owners; /* [HG_EXCHANGE_PARTS] the shard of each part */
	/* positions of the side's rows, in the order of the shards that get them */
	uint32_t *order;
	uint64_t starts[HG_MAX_SHARDS + 1]; /* where each shard's rows begin in order */
	uint64_t taken[HG_MAX_SHARDS];

	/* the rows that the side will have; `rows` of them have arrived */
	void *keys;
	uint32_t *numbers;
	HgCudaColumns values;
	uint64_t rows;

	/* device buffers for outgoing rows */
	void *taken_keys;
	uint32_t *taken_numbers;
	HgCudaColumns taken_values;
	uint64_t taken_room;

	/* the peer window that other shards write to, and its head (hg_cuda_shards.cu) */
	HgCudaShared window;
	HgPeerWindowHead head;
};

/* The number of matches of a mode, once a pass has counted them. */
struct HgCudaCounted
{
	bool known;
	uint64_t matches;
};

struct HgCudaJob
{
	HgJobSpec spec;		 /* without the replicas that it named, which are in making and replica */
	HgTableTrial trial;	 /* if the spec has one: spec.product points here */
	HgCudaMaking making; /* the graph or column replica that the job makes */
	HgCudaReplicaSide replica[2]; /* by HgSide; replicas that are sides of the job */
	/* by HgSide; of sides that come as pages: the spec points here */
	HgPageSpec pages[2];
	bool bad_page; /* an invalid page was appended */
	/* pieces of pages on their way; NULL if no side comes as pages */
	HgCudaPieces *pieces;
	HgCudaPages piece;	  /* for pages that got no piece, until the job is built */
	uint64_t append_peak; /* peak memory while appending, pieces included */
	HgCudaWork work;
	HgCudaExchanged exchanges[2]; /* by HgSide; of a shard */
	HgCudaKeyColumn columns[2];	  /* by HgSide; empty once the side has its graph or bins */
	HgCudaLayout layout;
	HgShape shape;
	bool both;		 /* layout graphs: both sides' graphs are built together, when first needed */
	bool both_built; /* both has been done */
	bool viewed;	 /* both: the edges are available as rows in bins */
	uint64_t common; /* vertices that have edges in both graphs */
	/* by HgSide; offsets NULL: no graph; a replica's arrays are not the work's */
	HgCudaGraph graphs[2];
	HgCudaPartition partitions[2]; /* by HgSide; layout bins, and both graphs */
	HgCudaBins bins;			   /* of the partitions */
	HgCudaColumns values[2];	   /* by HgSide; the columns beside the keys */
	/* by HgSide; without runs if rows are not numbered; with a stride for column replicas */
	HgCudaNumbers numbers[2];
	bool built;

	/* the stream of the last match() */
	HgMatchMode mode;
	bool joined;
	HgCudaJoin join;				/* layout graphs */
	HgCudaBinsMatches bins_matches; /* layout bins, and both graphs */
	uint64_t matches;				/* of the whole stream */
	uint64_t position;				/* index of the next match to emit */
	/* all matches were emitted, and the chunk was freed: match() finds them anew */
	bool spent;
	HgCudaCounted counted[2]; /* by HgMatchMode; from any match() or count() */

	/*
	 * [2 * chunk_capacity]: outer rows, then inner rows; by position in a job with columns, else
	 * by number (hg_cuda_columns.h)
	 */
	uint32_t *chunk;
	uint64_t chunk_capacity;
	uint64_t chunk_first; /* index of the chunk's first match */
	uint64_t chunk_count; /* matches in the chunk */
	HgCudaGather gather;  /* if the job has columns */

	HgCudaReduce reduce; /* the groups of the last reduce() */

	HgJobStats stats;
};

/* Returns true if the job's matches come from rows in bins. */
static inline bool
hg_cuda_job_in_bins(const HgCudaJob *job)
{
	return job->layout == HG_LAYOUT_BINS || job->both;
}

/* Returns true if the job makes a graph replica. */
static inline bool
hg_cuda_job_is_making_graph(const HgCudaJob *job)
{
	return job->making.shape.key_width != 0;
}

/* Returns true if the job makes a column replica. */
static inline bool
hg_cuda_job_is_making_column(const HgCudaJob *job)
{
	return job->making.column.shape.width != 0;
}

/* Returns true if the job makes a replica. */
static inline bool
hg_cuda_job_is_making(const HgCudaJob *job)
{
	return hg_cuda_job_is_making_graph(job) || hg_cuda_job_is_making_column(job);
}

/* Returns true if a side of the job is a graph replica. */
static inline bool
hg_cuda_job_has_replicas(const HgCudaJob *job)
{
	return job->replica[HG_OUTER].replica != nullptr || job->replica[HG_INNER].replica != nullptr;
}

/* Returns true if the job has columns beside its keys. */
static inline bool
hg_cuda_job_has_columns(const HgCudaJob *job)
{
	return job->spec.sides[HG_OUTER].ncolumns + job->spec.sides[HG_INNER].ncolumns > 0;
}

#endif /* HG_CUDA_JOB_H */
