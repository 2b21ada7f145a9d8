/*-------------------------------------------------------------------------
 *
 * hg_resident_list.h
 *	  What is to be resident, in a file that outlives the server: names, never data.
 *
 * The file lies in the data directory, of a primary and of a standby, which goes by its own.  It is
 * read once, by whoever needs the directory first after the server's start; then the directory is
 * what is true, and the file is written anew from it when that has changed.  A file that is not as
 * it was written is reported, and read as if there were none: it stands in nobody's way.
 *
 * An entry names its table by number and by name: after pg_rewind, or in a copy of another
 * history, the number may be another table's.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_RESIDENT_LIST_H
#define HG_RESIDENT_LIST_H

#include "hg_compat.h"

/* While shared memory is requested, and made. */
extern void hg_list_request(void);
extern void hg_list_startup(void);

/*
 * Have the directory name what the file does, where that has not been done since the server's
 * start.  Comes before every change of the directory.
 */
extern void hg_list_load(void);

/*
 * Have the file say what the directory has, durably, where that has changed since it was written,
 * or always, but for a file that names more than there was memory for.  What can't be written is
 * warned of.
 */
extern void hg_list_write(bool always);

#endif /* HG_RESIDENT_LIST_H */
