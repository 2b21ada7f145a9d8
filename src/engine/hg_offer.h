/*-------------------------------------------------------------------------
 *
 * hg_offer.h
 *	  Memory that a shard offers to the others, for the rows that they have for it.
 *
 * The rows of an exchange (hg_exchange.h) need not go through the memory of its caller where the
 * engines of the shards reach each other's: a GPU writes to another one over their link.  Between
 * expect and arrived the caller then asks, a side at a time,
 *
 *	offer		each shard to make room for all that others have for it.  The answer is a
 *				descriptor of that memory, which the caller passes on to those
 *	send_rows	each other shard to write its rows there, in the arrays and from the row on that
 *				the memory itself says, and behind them a trailer that says so
 *	sent		... and waits for that.  Senders work side by side where their engines work by
 *				themselves
 *
 * arrived then takes what has come so as put_rows does.  Each of these calls may be refused with
 * HG_INVALID, which is no failure: an engine has no room to offer, or does not reach what another
 * one has offered.  The rows of that pair of shards go by take_rows and put_rows then, and both
 * ways may serve one shard.
 *
 * THE MEMORY, of HgOffer.bytes: an HgOfferHead, at HG_OFFER_TRAILERS an HgOfferTrailer for each
 * shard, and from HG_OFFER_ROWS on the rows of all senders, as arrays one behind the other: keys,
 * numbers, and for each column its values and then a byte for each of them, not 0 where it is NULL,
 * which is set where the sender's trailer says that the column has any.  Each has room for the same
 * number of rows, a multiple of 64, so that all of them are aligned.
 *
 * WHO MAY WRITE THERE. A descriptor is not to be guessed: who has one was given it by the shard
 * that offers, through callers.  Memory with a descriptor is freed when the last process has closed
 * and unmapped it, and not before: whoever still writes when the shard that offered it is closed,
 * or its process has died, writes to what nobody else has.  A sender believes neither the caller
 * nor the memory.  It checks, in a copy, that the head is of this offer, of this side and shard, of
 * rows as its own and as many as it has, and that all of it lies within the memory that it has
 * mapped; and the token tells that it was an engine that made it for this.  The shard that offered
 * checks what came as it does what put_rows brings: in memory that nobody else can write to, after
 * it was copied there.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_OFFER_H
#define HG_OFFER_H

#include "hg_exchange.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* 64-bit words of a token. */
#define HG_OFFER_TOKEN 2

	/* Where trailers and rows begin. */
#define HG_OFFER_TRAILERS UINT64_C(1024)
#define HG_OFFER_ROWS UINT64_C(4096)

	/* What a shard offers.  It has no holes. */
	typedef struct HgOffer
	{
		uint64_t token[HG_OFFER_TOKEN]; /* random: of this memory and no other */
		uint64_t bytes;
		int32_t memory;	 /* the descriptor, which the caller of offer closes */
		uint32_t unused; /* 0 */
	} HgOffer;

	/* What the memory begins with. */
	typedef struct HgOfferHead
	{
		uint64_t token[HG_OFFER_TOKEN];
		uint64_t bytes;
		uint32_t side; /* HgSide */
		uint32_t self; /* the shard that offers it ... */
		uint32_t shards;
		uint32_t key_width;
		uint32_t ncolumns;
		uint32_t unused;					  /* 0 */
		uint8_t column_width[HG_MAX_COLUMNS]; /* zeros behind the last */
		uint64_t first[HG_MAX_SHARDS + 1];	  /* ... and of each one the first row: as many as
											   * up to the next one's are its own */
	} HgOfferHead;

	/* What a shard says when all of its rows are there. */
	typedef struct HgOfferTrailer
	{
		uint64_t token[HG_OFFER_TOKEN];
		uint64_t rows;
		uint64_t nulls; /* bits of the columns with a NULL */
	} HgOfferTrailer;

	/* Fill in a token. */
	extern HgStatus hg_offer_make_token(uint64_t token[HG_OFFER_TOKEN], HgError *error);

	/* The head of memory for what comes to a job that expects this of a side; its token is zero. */
	extern void hg_offer_lay_out(const HgJobSpec *spec, HgSide side, const HgExchange *exchange,
								 HgOfferHead *head);

	/*
	 * Is this, which was copied, the head of what was offered, for so many rows of shard sender
	 * that are of another one's parts?  HG_OK, or HG_INVALID.
	 */
	extern HgStatus hg_offer_check(const HgOfferHead *head, const HgOffer *offer,
								   const HgJobSpec *spec, HgSide side, uint32_t sender,
								   uint32_t shard, uint64_t rows, HgError *error);

	/*
	 * Where rows stand from one of all on: capacity is as many as there are behind it, and
	 * has_nulls is not set.
	 */
	extern void hg_offer_place(const HgOfferHead *head, unsigned char *memory, uint64_t row,
							   HgExchangeRows *rows);

	/* Where the trailer of a shard stands. */
	extern uint64_t hg_offer_trailer_at(uint32_t shard);

	/* The trailer of so many rows. */
	extern void hg_offer_make_trailer(const HgOfferHead *head, uint64_t rows, uint64_t nulls,
									  HgOfferTrailer *trailer);

	/*
	 * What this trailer of a shard, which was copied, says: *rows are all of its own, or 0 where
	 * nothing was sent.  HG_INVALID where it is neither.
	 */
	extern HgStatus hg_offer_read_trailer(const HgOfferHead *head, uint32_t shard,
										  const HgOfferTrailer *trailer, uint64_t *rows,
										  HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_OFFER_H */
