/*-------------------------------------------------------------------------
 *
 * hg_host_offer.h
 *	  Rows that jobs of hg_host_exchange.h send each other, through memory of the host.
 *
 * What a job offers is a memfd, sealed so that nobody can take memory away from who has it mapped.
 * Whoever has the columns of a job (hg_host_reduce.h) has one of these beside it, and calls it in
 * the course of an exchange (src/engine/hg_offer.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_OFFER_H
#define HG_HOST_OFFER_H

#include "../../src/engine/hg_offer.h"
#include "hg_host_exchange.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* What a sender is to do wrong. */
	typedef enum HgHostSendFault
	{
		HG_SEND_WELL = 0,
		HG_SEND_NOT,	 /* reaches nothing; or, once half of the rows are there, ... */
		HG_SEND_FAILS,	 /* is refused */
		HG_SEND_DIES,	 /* as of SIGKILL */
		HG_SEND_ALTERS,	 /* has all their keys altered in the end */
		HG_SEND_NUMBERS, /* has one of their numbers beyond all others */
		HG_SEND_SHORT,	 /* says that there was one less */
		HG_SEND_SILENT	 /* says nothing at all, but that it is done */
	} HgHostSendFault;

	/* The fault of that name ("fails"); NULL, or any other one, is none. */
	extern HgHostSendFault hg_host_send_fault(const char *name);

	/* What a job offers for a side. */
	typedef struct HgHostOffer
	{
		HgExchange exchange; /* that it expects; shards is 0 before */
		HgOfferHead head;
		unsigned char *memory; /* mapped, head.bytes of it; NULL where nothing was offered */
	} HgHostOffer;

	/* A side expects this from now on. */
	extern void hg_host_offer_expect(HgHostOffer *offer, const HgJobSpec *spec, HgSide side,
									 const HgExchange *exchange);

	/* offer of an engine, for a side that expects rows: the memory is its own until it is freed. */
	extern HgStatus hg_host_offer_make(HgHostOffer *offer, HgOffer *made, HgError *error);
	extern void hg_host_offer_free(HgHostOffer *offer);

	/* send_rows of an engine, which are there when it returns. */
	extern HgStatus hg_host_offer_send(const HgHostOffer *own, HgEngine *engine, HgJob *job,
									   const HgHostReduce *reduce, HgSide side, uint32_t shard,
									   const HgOffer *offer, HgHostSendFault fault, HgError *error);

	/* What comes before arrived of an engine: take what others have sent.  Whatever it says, the
	 * offer can be freed then. */
	extern HgStatus hg_host_offer_take(HgHostOffer *offer, HgEngine *engine, HgJob *job,
									   HgHostReduce *reduce, HgSide side, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_OFFER_H */
