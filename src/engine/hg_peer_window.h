/*-------------------------------------------------------------------------
 *
 * hg_peer_window.h
 *	  Peer windows: memory of a shard that other shards write their rows to.
 *
 * If the engines of the shards reach each other's memory, the rows of an exchange (hg_exchange.h)
 * need not pass through the memory of the caller: a GPU writes to another one over their link.
 * Between expect and arrived the caller then calls, one side at a time,
 *
 *	window		on each shard: it makes room for all rows that other shards have for it, and
 *				returns a descriptor of that memory, its peer window.  The caller passes the
 *				descriptor to the other shards
 *	send_rows	on each other shard: it writes its rows there, to the arrays and from the row on
 *				that the window's head says, and then a trailer
 *	sent		on the same shard: waits until the rows are there.  Senders work in parallel if
 *				their engines are asynchronous
 *
 * arrived then adds these rows as put_rows does.  Each of these calls may answer HG_INVALID, which
 * is no failure: the engine has no room for a window, or does not reach the window of the other.
 * The rows of that pair of shards then go by take_rows and put_rows, and one shard may use both
 * ways.
 *
 * THE WINDOW, of HgPeerWindow.bytes, has an HgPeerWindowHead, at HG_PEER_WINDOW_TRAILERS an
 * HgPeerWindowTrailer for each shard, and from HG_PEER_WINDOW_ROWS on the rows of all senders, as
 * arrays one behind the other: keys, numbers, and for each column its values and a byte for each
 * value, not 0 where it is NULL. The bytes are valid if the sender's trailer says that the column
 * has NULLs.  All arrays have room for the same number of rows, a multiple of 64, so that they are
 * aligned.
 *
 * SECURITY.  A process has a descriptor only if the shard that offers the window gave it, through
 * callers.  The kernel frees the memory when the last process has closed and unmapped it.  A
 * sender that still writes after the offering shard was closed, or its process died, writes to
 * memory that is not read.  A sender trusts neither the caller nor the window.  In a copy of the
 * head it checks the window's token, which shows that an engine made the window for this exchange.
 * It also checks side, shard and row layout, that the number of rows is its own, and that all of
 * it is in the memory mapped.  The offering shard checks the rows as put_rows does, after copying
 * them to memory of its own.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_PEER_WINDOW_H
#define HG_PEER_WINDOW_H

#include "hg_exchange.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* 64-bit words of a token. */
#define HG_PEER_WINDOW_TOKEN 2

	/* Offsets of the trailers and of the rows in the window, in bytes. */
#define HG_PEER_WINDOW_TRAILERS UINT64_C(1024)
#define HG_PEER_WINDOW_ROWS UINT64_C(4096)

	/* A peer window, as its owner describes it.  The struct has no holes. */
	typedef struct HgPeerWindow
	{
		uint64_t token[HG_PEER_WINDOW_TOKEN]; /* random and unique to this window */
		uint64_t bytes;
		int32_t memory;	 /* its descriptor, which the caller of window() closes */
		uint32_t unused; /* 0 */
	} HgPeerWindow;

	/* Head of the window. */
	typedef struct HgPeerWindowHead
	{
		uint64_t token[HG_PEER_WINDOW_TOKEN];
		uint64_t bytes;
		uint32_t side; /* HgSide */
		uint32_t self; /* the shard that offers it */
		uint32_t shards;
		uint32_t key_width;
		uint32_t ncolumns;
		uint32_t unused;					  /* 0 */
		uint8_t column_width[HG_MAX_COLUMNS]; /* zeros behind the last */
		uint64_t first[HG_MAX_SHARDS + 1]; /* [shards + 1] first row of each sender in the arrays;
											* its rows end where the next one's begin */
	} HgPeerWindowHead;

	/* Trailer, which a sender writes when all of its rows are there. */
	typedef struct HgPeerWindowTrailer
	{
		uint64_t token[HG_PEER_WINDOW_TOKEN];
		uint64_t rows;
		uint64_t nulls; /* bit i is set if column i has a NULL */
	} HgPeerWindowTrailer;

	/* Makes a random token.  HG_INVALID if the system has no random bytes. */
	extern HgStatus hg_peer_window_make_token(uint64_t token[HG_PEER_WINDOW_TOKEN], HgError *error);

	/*
	 * Sets *head to the layout of a window for all rows of a side that come to shard exchange->self
	 * from other shards.  The token is 0; the caller sets it.
	 */
	extern void hg_peer_window_lay_out(const HgJobSpec *spec, HgSide side,
									   const HgExchange *exchange, HgPeerWindowHead *head);

	/*
	 * Checks a copy of a window's head: that it is the head of this window, for exactly rows rows
	 * of shard sender that belong to the parts of shard.  Returns HG_OK or HG_INVALID.
	 */
	extern HgStatus hg_peer_window_check(const HgPeerWindowHead *head, const HgPeerWindow *window,
										 const HgJobSpec *spec, HgSide side, uint32_t sender,
										 uint32_t shard, uint64_t rows, HgError *error);

	/*
	 * Makes the arrays of *rows point into memory, where the window is mapped, from this row on.
	 * capacity is the number of rows from there to the end; has_nulls is false.
	 */
	extern void hg_peer_window_rows_at(const HgPeerWindowHead *head, unsigned char *memory,
									   uint64_t row, HgExchangeRows *rows);

	/* Returns the offset of a shard's trailer in the window, in bytes. */
	extern uint64_t hg_peer_window_trailer_at(uint32_t shard);

	/* Sets *trailer for rows rows that were sent; nulls as in HgPeerWindowTrailer. */
	extern void hg_peer_window_make_trailer(const HgPeerWindowHead *head, uint64_t rows,
											uint64_t nulls, HgPeerWindowTrailer *trailer);

	/*
	 * Reads a copy of a shard's trailer: sets *rows to all rows of the shard, or to 0 if it sent
	 * none.  HG_INVALID if the trailer is not valid.
	 */
	extern HgStatus hg_peer_window_read_trailer(const HgPeerWindowHead *head, uint32_t shard,
												const HgPeerWindowTrailer *trailer, uint64_t *rows,
												HgError *error);

	/* The calls of an engine whose memory other engines reach. */
	typedef struct HgWindowCalls
	{
		/*
		 * For a shard that expects rows of a side: allocates a peer window for all rows that come
		 * from other shards, once, until they have arrived.  HG_INVALID if it has none to offer;
		 * this is no failure, here and in the next two calls.
		 */
		HgStatus (*window)(HgJob *job, HgSide side, struct HgPeerWindow *window, HgError *error);

		/*
		 * Sends the rows of a side that belong to another shard's parts, none of which were taken,
		 * to that shard's peer window.  The descriptor stays the caller's.  An engine that works
		 * asynchronously may return before the rows are there.  Until sent only close may be
		 * called on the job.
		 */
		HgStatus (*send_rows)(HgJob *job, HgSide side, uint32_t shard,
							  const struct HgPeerWindow *window, HgError *error);

		/*
		 * Waits until the rows of the last send_rows are there.  They then count as taken.  With
		 * HG_INVALID none were sent, and none count as taken.
		 */
		HgStatus (*sent)(HgJob *job, HgSide side, HgError *error);
	} HgWindowCalls;

#define HG_WINDOW_CALLS(prefix)                                                                    \
	{                                                                                              \
		.window = prefix##_window, .send_rows = prefix##_send_rows, .sent = prefix##_sent          \
	}

#ifdef __cplusplus
}
#endif

#endif /* HG_PEER_WINDOW_H */
