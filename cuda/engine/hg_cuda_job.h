/*-------------------------------------------------------------------------
 *
 * hg_cuda_job.h
 *	  A job of the CUDA engine: its state, and its phases.
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

#include "../../src/engine/hg_pages.h"
#include "../../src/engine/hg_peer_window.h"
#include "../device/hg_cuda_shared.h"
#include "../kernels/hg_cuda_columns.h"
#include "../kernels/hg_cuda_join.h"
#include "../tables/hg_cuda_tables.h"
#include "hg_cuda_pieces.h"
#include "hg_cuda_replica.h"

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

/*
 * hg_cuda_append.cu: appends rows to a side of a job of the CUDA engine: as keys, or as pages of
 * a table
 */

/* Copies count keys to a side of a job that is not built, and waits for the copies. */
HgStatus hg_cuda_append_keys(HgCudaJob *job, HgSide side, const void *keys, uint64_t count,
							 HgError *error);

/*
 * Prepares an open job for pages, if a side of it comes as pages. job_bytes is the job's minimum;
 * part of its limit beyond that is reserved for the pieces.
 */
HgStatus hg_cuda_append_open(HgCudaJob *job, uint64_t job_bytes, HgError *error);

/*
 * Copies count pages to a side that comes as pages, of a job that is not built, and extracts their
 * rows. On return the pages are the caller's again; the rows may still be being written. An
 * invalid page sets job->bad_page, and the call succeeds.
 */
HgStatus hg_cuda_append_pages(HgCudaJob *job, HgSide side, const void *pages, uint64_t count,
							  uint64_t first_page, HgError *error);

/*
 * Extracts the rows of a piece of pages that is on the device already, as hg_cuda_append_pages()
 * does. Gives the piece back, also on failure.
 */
HgStatus hg_cuda_append_piece(HgCudaJob *job, HgCudaPiece *piece, uint64_t first_page,
							  HgError *error);

/* Ends the appending of pages: frees the idle pieces, and restores the job's limit. */
void hg_cuda_append_end(HgCudaJob *job);

/* Frees the pieces of a job that is about to be closed. */
void hg_cuda_append_close(HgCudaJob *job);

/* Adds the pieces' time and memory to a job's statistics. */
void hg_cuda_append_stats(HgCudaJob *job, HgJobStats *stats);

/* Returns the memory that a job with pages needs beyond that of the same keys. */
uint64_t hg_cuda_append_pages_bytes(const HgJobSpec *spec);

/* hg_cuda_build.cu: builds a job of the CUDA engine: graphs or bins of its keys, or replicas */

/* Builds a job that has all its keys and columns. The job's device is current. */
HgStatus hg_cuda_build(HgCudaJob *job, HgError *error);

/*
 * The matches of a job: all found at once, written a chunk at a time.
 *
 * A stream is the matches of one mode, numbered from 0 to job->matches - 1; job->position is the
 * index of the next match to emit. The chunk has job->chunk_count matches from number
 * job->chunk_first on, in device memory, until it is filled again.
 *
 * All calls are for jobs that are built; the job's device is current. After a failure a job can
 * only be closed, as hg_engine.h says.
 */

/* Builds the graphs of both sides, if that was put off until matches are found. */
HgStatus hg_cuda_stream_graphs(HgCudaJob *job, HgError *error);

/* Counts the matches of a mode. An existing stream stays as it is. */
HgStatus hg_cuda_stream_count(HgCudaJob *job, HgMatchMode mode, uint64_t *matches, HgError *error);

/*
 * Finds the matches of a mode, and sets the position to 0. An existing stream of another mode
 * ends; one of the same mode starts again.
 */
HgStatus hg_cuda_stream_start(HgCudaJob *job, HgMatchMode mode, HgError *error);

/* Ensures that the match at the position, if there is one, is in the chunk. */
HgStatus hg_cuda_stream_fill(HgCudaJob *job, HgError *error);

/*
 * Copies the next matches to the caller's arrays, with the requested values, and advances the
 * position. At least one match must be left; it returns at least one, and at most those in the
 * chunk. It waits for the copies, even after a failure.
 */
HgStatus hg_cuda_stream_next(HgCudaJob *job, HgMatches *matches, HgError *error);

/* Frees what start allocated, except a chunk of up to HG_CHUNK_PAIRS, for the next stream. */
void hg_cuda_stream_end(HgCudaJob *job);

/* Frees everything that start allocated, the chunk included. */
void hg_cuda_stream_close(HgCudaJob *job);

/*
 * Exchanges rows between a job of the CUDA engine and other shards of its join.
 *
 * src/engine/hg_exchange.h describes the protocol, and src/engine/hg_engine.h the calls. Each side
 * of a job is exchanged by itself. A call in the wrong stage gives HG_INVALID.
 */

/* Counts a side's rows by part, in counts[HG_EXCHANGE_PARTS]. */
HgStatus hg_cuda_shards_tally(HgCudaJob *job, HgSide side, uint64_t *counts, HgError *error);

/* Makes room for the side's future rows, and copies those that stay. */
HgStatus hg_cuda_shards_expect(HgCudaJob *job, HgSide side, const HgExchange *exchange,
							   HgError *error);

/*
 * Copies up to rows->capacity rows for another shard to host arrays; rows->count is 0 at the end.
 */
HgStatus hg_cuda_shards_take(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
							 HgError *error);

/*
 * Appends rows of other shards. They may be in device memory where others can write: the copy is
 * checked.
 */
HgStatus hg_cuda_shards_put(HgCudaJob *job, HgSide side, const HgExchangeRows *rows,
							HgError *error);

/* Replaces the side's old rows by the exchanged ones, all of which must have arrived. */
HgStatus hg_cuda_shards_arrived(HgCudaJob *job, HgSide side, HgError *error);

/* Stores the number of rows of a side that have not been taken for another shard yet. */
HgStatus hg_cuda_shards_left(const HgCudaJob *job, HgSide side, uint32_t shard, uint64_t *rows,
							 HgError *error);

/*
 * Takes the next rows for another shard, in device arrays of the job that the next call reuses;
 * rows->count is 0 once all were taken. Launches the work in the job's stream, and does not wait.
 */
HgStatus hg_cuda_shards_gather(HgCudaJob *job, HgSide side, uint32_t shard, HgExchangeRows *rows,
							   HgError *error);

/* Makes all rows for another shard available to be taken again. */
void hg_cuda_shards_rewind(HgCudaJob *job, HgSide side, uint32_t shard);

/* HG_INVALID if the rows of a side are exchanged, so that none may be appended. */
HgStatus hg_cuda_shards_check_append(const HgCudaJob *job, HgSide side, HgError *error);

/* HG_INVALID if the exchange of a shard's side is not complete. */
HgStatus hg_cuda_shards_check_build(const HgCudaJob *job, HgError *error);

/*
 * Returns the upper bound on the device memory of a job whose rows arrive by exchange. `joined` is
 * the memory that the same job would need if its rows were local.
 */
uint64_t hg_cuda_shards_bytes(const HgJobSpec *spec, uint64_t joined);

/*
 * Sends rows between shards of the CUDA engine from device to device, through peer windows.
 *
 * src/engine/hg_peer_window.h describes the protocol, and src/engine/hg_engine.h the calls.
 */

/*
 * Makes a peer window for the rows of a side that others have for this job. The caller closes
 * offer->memory, a descriptor. HG_INVALID if it cannot be made.
 */
HgStatus hg_cuda_peer_windows_make(HgCudaJob *job, HgSide side, HgPeerWindow *window,
								   HgError *error);

/*
 * Writes the side's rows for a shard to that shard's window, and waits. HG_INVALID if it is not
 * reached; no row counts as taken then.
 */
HgStatus hg_cuda_peer_windows_send(HgCudaJob *job, HgSide side, uint32_t shard,
								   const HgPeerWindow *window, HgError *error);

/*
 * Takes what other shards have written to the window, and closes it. To be called before
 * hg_cuda_shards_arrived; does nothing without a window.
 */
HgStatus hg_cuda_peer_windows_take(HgCudaJob *job, HgSide side, HgError *error);

/* Closes the windows of both sides. To be called before the job's work is closed. */
void hg_cuda_peer_windows_close(HgCudaJob *job);

#endif /* HG_CUDA_JOB_H */
