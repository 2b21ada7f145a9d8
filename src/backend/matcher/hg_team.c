/*-------------------------------------------------------------------------
 *
 * hg_team.c
 *	  What PostgreSQL lends to the participants of a shared job: a barrier and a DSA.
 *
 * An error in a callback is kept by the host and thrown once the engine has returned, as
 * for an interrupt (hg_host.h).  From then on this process waits for no other: they need not
 * hear of the error from the engine, because it ends the query, and the leader ends them.
 * It must not hold a lock that they wait for, though.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "backend/matcher/hg_team.h"
#include "engine/cpu/hg_cpu.h"

static uint32 hg_team_wait_event;

/* Keep an error that was thrown in a callback. */
static void
hg_team_catch(HgPgTeam *team)
{
	/* the DSA's locks: none is held where the engine is called */
	LWLockReleaseAll();
	ConditionVariableCancelSleep();
	hg_host_catch(team->host);
}

static uint64_t
hg_team_alloc(void *arg, size_t bytes)
{
	HgPgTeam *team = arg;
	volatile dsa_pointer pointer = InvalidDsaPointer;

	PG_TRY();
	{
		pointer = dsa_allocate_extended(team->spec.area, bytes, DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
	}
	PG_CATCH();
	{
		hg_team_catch(team);
	}
	PG_END_TRY();
	return pointer;
}

static void *
hg_team_address(void *arg, uint64_t handle)
{
	HgPgTeam *team = arg;
	void *volatile address = NULL;

	PG_TRY();
	{
		address = dsa_get_address(team->spec.area, (dsa_pointer) handle);
	}
	PG_CATCH();
	{
		hg_team_catch(team);
	}
	PG_END_TRY();
	return address;
}

static void
hg_team_free(void *arg, uint64_t handle)
{
	HgPgTeam *team = arg;

	dsa_free(team->spec.area, (dsa_pointer) handle);
}

static bool
hg_team_arrive(void *arg)
{
	HgPgTeam *team = arg;
	volatile bool arrived = true;

	/*
	 * The barrier may still be in the phase that the interrupted wait arrived in, which must not
	 * be taken for two arrives.
	 */
	if (team->host->caught != NULL)
		return false;
	PG_TRY();
	{
		BarrierArriveAndWait(team->spec.barrier,
							 HG_WAIT_EVENT(hg_team_wait_event, "HashGraphBuild"));
	}
	PG_CATCH();
	{
		hg_team_catch(team);
		arrived = false;
	}
	PG_END_TRY();
	return arrived;
}

void
hg_team_init(HgPgTeam *team, const HgTeamSpec *spec, HgPgHost *host)
{
	team->spec = *spec;
	team->host = host;
	team->team.state = spec->state;
	team->team.arrived = spec->arrived;
	team->team.whole_bins = spec->whole_bins;
	team->team.spread = spec->spread ? (uint32_t) spec->processes : 0;
	team->team.alloc = hg_team_alloc;
	team->team.address = hg_team_address;
	team->team.free = hg_team_free;
	team->team.arrive = hg_team_arrive;
	team->team.arg = team;
}

void
hg_team_reset(HgTeamState *state, dsa_area *area)
{
	HgPgTeam team;
	HgTeamSpec spec = {.state = state, .area = area};

	hg_team_init(&team, &spec, NULL);
	hg_team_release(&team.team);
	memset(state, 0, sizeof(*state));
}
