/*-------------------------------------------------------------------------
 *
 * hg_fault_cleanup.c
 *	  Objects whose release functions change what is registered (backend/hg_cleanup.h).
 *
 * The SQL function hg_fault_cleanups(), which a test creates, registers three objects with the
 * resource owner of its statement, so that they are released when the statement ends: the first one
 * to go resets the context of the second one, whose memory is overwritten, and registers another
 * object.  The function returns which objects have been released since its last call, in order:
 * 'forgets', 'forgotten', 'added', 'last'.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "backend/hg_cleanup.h"

PG_FUNCTION_INFO_V1(hg_fault_cleanups);

/* Objects last longer than the contexts that they are registered with, so that they can be seen. */
static HgCleanup forgets;
static HgCleanup forgotten;
static HgCleanup added;
static HgCleanup last;
static MemoryContext forgotten_context;
static MemoryContext others_context;
static char released[80];

static void
note(void *arg)
{
	strlcat(released, released[0] != '\0' ? " " : "", sizeof(released));
	strlcat(released, arg, sizeof(released));
}

static void
note_and_change(void *arg)
{
	note(arg);
	MemoryContextReset(forgotten_context);
	memset(&forgotten, 0x7f, sizeof(forgotten));
	hg_cleanup_register(&added, others_context, note, "added");
}

Datum
hg_fault_cleanups(PG_FUNCTION_ARGS)
{
	text *before = cstring_to_text(released);

	if (others_context == NULL)
		others_context = AllocSetContextCreate(TopMemoryContext, "HashGraph cleanups of a test",
											   ALLOCSET_SMALL_SIZES);
	MemoryContextReset(others_context);
	forgotten_context =
		AllocSetContextCreate(others_context, "HashGraph forgotten cleanup", ALLOCSET_SMALL_SIZES);
	released[0] = '\0';
	hg_cleanup_register(&last, others_context, note, "last");
	hg_cleanup_register(&forgotten, forgotten_context, note, "forgotten");
	hg_cleanup_register(&forgets, others_context, note_and_change, "forgets");
	PG_RETURN_TEXT_P(before);
}
