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

#include "nodes/pg_list.h"

/* Returns a new String node with this library's version: the first element of a plan's list. */
extern Node *hg_library_mark(void);

/*
 * Raises an error if a plan with this list (CustomScan.custom_private) was made by another version.
 * Call it before anything but the first element of the list is read.
 */
extern void hg_library_require_plan(const List *custom_private);

/*
 * Returns true if this library has this version, such as "0.4.0", or a later one.  Raises an error
 * if version is no such text.
 */
extern bool hg_library_is_at_least(const char *version);

#endif /* HG_LIBRARY_H */
