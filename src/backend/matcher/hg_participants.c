/*-------------------------------------------------------------------------
 *
 * hg_participants.c
 *	  Implements the engine's participants of a shared job with a barrier and a DSA area.
 *
 * The host keeps an error in a callback and throws it once the engine has returned, as for an
 * interrupt (hg_host.h). From then on this process waits for no other. The others need not learn
 * of the error from the engine: it ends the query, and the leader ends them. But this process must
 * not hold a lock that they wait for.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "backend/matcher/hg_matcher_spec.h"
#include "engine/cpu/hg_cpu.h"

static uint32 hg_participants_wait_event;

/* Keeps an error that was thrown in a callback. */
static void
hg_participants_catch(HgPgParticipants *participants)
{
	/* releases the DSA's locks; no other lock is held where the engine is called */
	LWLockReleaseAll();
	ConditionVariableCancelSleep();
	hg_host_catch(participants->host);
}

static uint64_t
hg_participants_alloc(void *arg, size_t bytes)
{
	HgPgParticipants *participants = arg;
	volatile dsa_pointer pointer = InvalidDsaPointer;

	PG_TRY();
	{
		pointer = dsa_allocate_extended(participants->spec.area, bytes,
										DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	}
	PG_CATCH();
	{
		hg_participants_catch(participants);
	}
	PG_END_TRY();
	return pointer;
}

static void *
hg_participants_address(void *arg, uint64_t handle)
{
	HgPgParticipants *participants = arg;
	void *volatile address = NULL;

	PG_TRY();
	{
		address = dsa_get_address(participants->spec.area, (dsa_pointer) handle);
	}
	PG_CATCH();
	{
		hg_participants_catch(participants);
	}
	PG_END_TRY();
	return address;
}

static void
hg_participants_free(void *arg, uint64_t handle)
{
	HgPgParticipants *participants = arg;

	dsa_free(participants->spec.area, (dsa_pointer) handle);
}

static bool
hg_participants_arrive(void *arg)
{
	HgPgParticipants *participants = arg;
	volatile bool arrived = true;

	/* The barrier may still be in the phase of the interrupted wait: do not arrive twice. */
	if (participants->host->caught != NULL)
		return false;
	PG_TRY();
	{
		BarrierArriveAndWait(participants->spec.barrier,
							 HG_WAIT_EVENT(hg_participants_wait_event, "HashGraphBuild"));
	}
	PG_CATCH();
	{
		hg_participants_catch(participants);
		arrived = false;
	}
	PG_END_TRY();
	return arrived;
}

void
hg_participants_init(HgPgParticipants *participants, const HgParticipantsSpec *spec, HgPgHost *host)
{
	participants->spec = *spec;
	participants->host = host;
	participants->participants.state = spec->state;
	participants->participants.arrived = spec->arrived;
	participants->participants.whole_bins = spec->whole_bins;
	participants->participants.spread = spec->spread ? (uint32_t) spec->processes : 0;
	participants->participants.alloc = hg_participants_alloc;
	participants->participants.address = hg_participants_address;
	participants->participants.free = hg_participants_free;
	participants->participants.arrive = hg_participants_arrive;
	participants->participants.arg = participants;
}

void
hg_participants_reset(HgParticipantsState *state, dsa_area *area)
{
	HgPgParticipants participants;
	HgParticipantsSpec spec = {.state = state, .area = area};

	hg_participants_init(&participants, &spec, NULL);
	hg_participants_release(&participants.participants);
	memset(state, 0, sizeof(*state));
}
