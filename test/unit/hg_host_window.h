/*-------------------------------------------------------------------------
 *
 * hg_host_window.h
 *	  Rows that jobs of hg_host_exchange.h send each other through peer windows in host memory.
 *
 * A peer window is a memfd, sealed so that no process can shrink it while another one has it
 * mapped.  The owner of a job's columns (hg_host_reduce.h) has an HgHostWindow beside it for each
 * side, and calls it in the course of an exchange (src/engine/hg_peer_window.h).
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_HOST_WINDOW_H
#define HG_HOST_WINDOW_H

#include "../../src/engine/hg_peer_window.h"
#include "hg_host_exchange.h"

#ifdef __cplusplus
extern "C"
{
#endif

	/* A fault that a sender is told to commit. */
	typedef enum HgHostSendFault
	{
		HG_SEND_WELL = 0,
		HG_SEND_NOT,	 /* does not reach the window */
		HG_SEND_FAILS,	 /* fails, after half of the rows were written */
		HG_SEND_DIES,	 /* is killed by SIGKILL, after half of the rows were written */
		HG_SEND_ALTERS,	 /* alters all keys in the end */
		HG_SEND_NUMBERS, /* gives one row a number beyond all others */
		HG_SEND_SHORT,	 /* reports one row less */
		HG_SEND_SILENT	 /* reports no rows at all, but success */
	} HgHostSendFault;

	/* Returns the fault of a name ("fails"); HG_SEND_WELL for NULL or an unknown name. */
	extern HgHostSendFault hg_host_send_fault(const char *name);

	/* The peer window of a job's side. */
	typedef struct HgHostWindow
	{
		HgExchange exchange; /* what the side expects; shards is 0 before */
		HgPeerWindowHead head;
		unsigned char *memory; /* mapped, head.bytes; NULL without a window */
	} HgHostWindow;

	/* Notes what a side expects from now on. */
	extern void hg_host_window_expect(HgHostWindow *window, const HgJobSpec *spec, HgSide side,
									  const HgExchange *exchange);

	/*
	 * make makes the window, as offer of an engine, for a side that expects rows.  made->memory is
	 * a descriptor of the caller's.  free unmaps the window.
	 */
	extern HgStatus hg_host_window_make(HgHostWindow *window, HgPeerWindow *made, HgError *error);
	extern void hg_host_window_free(HgHostWindow *window);

	/* Writes rows to another shard's window, as send_rows of an engine; returns once written. */
	extern HgStatus hg_host_window_send(const HgHostWindow *own, HgEngine *engine, HgJob *job,
										const HgHostReduce *reduce, HgSide side, uint32_t shard,
										const HgPeerWindow *window, HgHostSendFault fault,
										HgError *error);

	/*
	 * Takes the rows that others have written, before arrived of an engine.  The window can be
	 * freed afterwards, whatever the status.
	 */
	extern HgStatus hg_host_window_take(HgHostWindow *window, HgEngine *engine, HgJob *job,
										HgHostReduce *reduce, HgSide side, HgError *error);

#ifdef __cplusplus
}
#endif

#endif /* HG_HOST_WINDOW_H */
