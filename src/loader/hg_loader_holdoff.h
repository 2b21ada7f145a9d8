/*-------------------------------------------------------------------------
 *
 * hg_loader_holdoff.h
 *	  Makes the workers leave a database that a command needs for itself, and keeps them away.
 *
 * DROP DATABASE, ALTER DATABASE RENAME and SET TABLESPACE, and CREATE DATABASE of its template,
 * fail if anyone else is connected.  PostgreSQL waits five seconds for an extension's background
 * workers, and does not ask them to exit.  So this hook asks them first, and none is started until
 * the transaction has ended.  DROP DATABASE also removes the database's entries from the
 * directory.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_HOLDOFF_H
#define HG_LOADER_HOLDOFF_H

/* Installs the hook, while shared_preload_libraries are loaded. */
extern void hg_holdoff_init(void);

#endif /* HG_LOADER_HOLDOFF_H */
