/*-------------------------------------------------------------------------
 *
 * test_named.h
 *	  Graphs that a device process keeps by their names, for tests that know engines which hand them
 *	  out.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_NAMED_H
#define TEST_NAMED_H

#include "test_kept_side.h"
#include "test_serving.h"

#define TEST_EPOCH UINT64_C(0xE70C)

/*
 * The engine of a connection, which has keep and release: what it hands out are names, and can be
 * given to those of other connections.  One thread uses all of them.
 */
typedef struct TestNamed
{
	HgEngine engine; /* first: engine calls get its address */
	HgWireClient *client;
} TestNamed;

extern void test_named_init(TestNamed *named, HgWireClient *client);

/* Open a job that makes a graph of this name and shape. */
extern HgStatus test_named_open(HgWireClient *client, const HgHost *host, const HgKeptName *name,
								const HgKeptShape *shape, HgJob **job, HgError *error);

/* Open a job whose outer side is the graph of that name and shape. */
extern HgStatus test_named_join(HgWireClient *client, const HgHost *host, const HgKeptName *name,
								const HgKeptShape *shape, HgJob **job, HgError *error);

/* Put so many edges, from the first one on, of which row i has key i. */
extern HgStatus test_named_put(HgWireClient *client, HgJob *job, uint32_t width, uint64_t first,
							   uint64_t count, HgError *error);

/* Make a graph of so many of these, of one part and keys of 8 bytes. */
extern HgStatus test_named_make(HgWireClient *client, const HgHost *host, uint64_t serial,
								uint64_t rows, HgError *error);

/* Can it be joined, and has all of its rows?  HG_OK, or why it can't be opened. */
extern HgStatus test_named_ask(HgWireClient *client, uint64_t serial, uint64_t rows);

/* Drop one of this name, without a word of what becomes of it. */
extern void test_named_drop(HgWireClient *client, uint64_t serial);

/* Does the process come to keep so many graphs? */
extern bool test_named_graphs_become(TestServer *server, uint64_t graphs);

/* Is nothing reserved, leased and held but by so many graphs, when all jobs have been closed? */
extern bool test_named_is_at_rest(TestServer *server, uint64_t graphs);

#endif /* TEST_NAMED_H */
