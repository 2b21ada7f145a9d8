/*-------------------------------------------------------------------------
 *
 * hg_library.h
 *	  Handles different versions of this library in one server.
 *
 * When the library's file is replaced, processes that have loaded it keep the old version, and new
 * ones load the new version.  With shared_preload_libraries all processes have the old version
 * until the server restarts.  Otherwise the parallel workers of an old session have the new
 * version, to which the old version's plans and shared memory mean nothing.  The extension's
 * scripts may also be newer than a session's library.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LIBRARY_H
#define HG_LIBRARY_H

#include "nodes/extensible.h"

/* Returns a new String node with this library's version: the first element of a plan's list. */
extern Node *hg_library_mark(void);

/*
 * Creates the state of a custom scan: size zeroed bytes that begin with a CustomScanState.  Raises
 * an error if the plan was made by another version, before more than the first element of its list
 * is read.
 */
extern Node *hg_library_create_state(const CustomScan *cscan, Size size,
									 const CustomExecMethods *methods);

/*
 * Returns true if this library has this version, such as "0.4.0", or a later one.  Raises an error
 * if version is no such text.
 */
extern bool hg_library_is_at_least(const char *version);

#endif /* HG_LIBRARY_H */
