/*-------------------------------------------------------------------------
 *
 * hg_library.c
 *	  Handles different versions of this library in one server.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "nodes/value.h"

#include "backend/hg_library.h"

/* Number of numbers in a version such as 0.4.0. */
#define HG_VERSION_NUMBERS 3

Node *
hg_library_mark(void)
{
	return (Node *) makeString(HG_VERSION);
}

Node *
hg_library_create_state(const CustomScan *cscan, Size size, const CustomExecMethods *methods)
{
	CustomScanState *state = (CustomScanState *) newNode(size, T_CustomScanState);
	Node *mark = cscan->custom_private == NIL ? NULL : linitial(cscan->custom_private);
	/* plans of versions before 0.4.0 have no mark */
	const char *version = mark != NULL && IsA(mark, String) ? strVal(mark) : "0.3.0 or older";

	if (strcmp(version, HG_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("plan is of another version of hashgraph"),
				 errdetail("The plan is of version %s, and this process has version %s.", version,
						   HG_VERSION),
				 errhint("Reconnect: the library was replaced while the session was open.")));
	state->methods = methods;
	return (Node *) state;
}

static void
hg_library_read(const char *version, int *numbers)
{
	char rest;

	if (sscanf(version, "%d.%d.%d%c", &numbers[0], &numbers[1], &numbers[2], &rest) !=
		HG_VERSION_NUMBERS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("invalid version of hashgraph: \"%s\"", version)));
}

bool
hg_library_is_at_least(const char *version)
{
	int wanted[HG_VERSION_NUMBERS];
	int ours[HG_VERSION_NUMBERS];
	int i = 0;

	hg_library_read(version, wanted);
	hg_library_read(HG_VERSION, ours);
	while (i < HG_VERSION_NUMBERS - 1 && ours[i] == wanted[i])
		i++;
	return ours[i] >= wanted[i];
}
