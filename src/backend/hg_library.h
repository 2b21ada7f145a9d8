/*-------------------------------------------------------------------------
 *
 * hg_library.h
 *	  Versions of this library, where several of them meet.
 *
 * Where the library's file is replaced, processes that have loaded it keep the old one, and new
 * ones get the new one.  Under shared_preload_libraries all of a server's have the old one until it
 * is restarted.  Where sessions load it, parallel workers of an old session are new processes, and
 * one version's plans and shared memory mean nothing to another.  Scripts of the extension may
 * be newer, too, than the library that a session has.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LIBRARY_H
#define HG_LIBRARY_H

#include "nodes/pg_list.h"

/*
 * What a plan's private list begins with, in every version: hg_library_require_plan, which comes
 * before all else that is read of the list, raises an error where the plan is another version's.
 */
extern Node *hg_library_mark(void);
extern void hg_library_require_plan(const List *custom_private);

/* Is this library of a version, or of a later one?  What is no version is an error. */
extern bool hg_library_is_at_least(const char *version);

#endif /* HG_LIBRARY_H */
