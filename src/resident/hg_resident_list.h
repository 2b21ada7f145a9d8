/*-------------------------------------------------------------------------
 *
 * hg_resident_list.h
 *	  The list file: names of cached tables, columns and keys, which outlives the server.
 *
 * The file lies in the data directory.  A standby has its own.  The first process that needs the
 * directory after the server's start reads it.  From then on the directory is authoritative, and
 * the file is rewritten from it after changes.  A damaged file is reported and ignored: it never
 * keeps the server from working.
 *
 * An entry identifies its table by OID and by name.  After pg_rewind, or in a copy of another
 * history, the OID may be another table's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_LIST_H
#define HG_RESIDENT_LIST_H

#include "hg_compat.h"

/* Requests the shared memory of this file, while the server starts. */
extern void hg_list_request(void);
/* Attaches to that shared memory, and initializes it if it is new. */
extern void hg_list_startup(void);

/*
 * Adds what the file names to the directory, once after the server's start.  Call it before every
 * change of the directory.  Problems with the file raise warnings.
 */
extern void hg_list_load(void);

/*
 * Writes the directory's requests to the file, durably, if they have changed since it was written.
 * With always it writes even without changes, except over a file that names more than memory had
 * room for.  A failed write raises a warning.
 */
extern void hg_list_write(bool always);

#endif /* HG_RESIDENT_LIST_H */
