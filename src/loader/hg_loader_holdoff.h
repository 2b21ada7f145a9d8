/*-------------------------------------------------------------------------
 *
 * hg_loader_holdoff.h
 *	  Commands that want a database for themselves send residents' workers away, and keep them away.
 *
 * DROP DATABASE, ALTER DATABASE ...  RENAME and SET TABLESPACE, and CREATE DATABASE of its
 * template, fail where somebody else is connected; for background workers of extensions core waits
 * five seconds, and does not tell them to go.  So they are told before, and none is started until
 * the transaction has ended.  What is resident of a database that is dropped goes with it.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_LOADER_HOLDOFF_H
#define HG_LOADER_HOLDOFF_H

/* Set the hook, while shared_preload_libraries are loaded. */
extern void hg_holdoff_init(void);

#endif /* HG_LOADER_HOLDOFF_H */
