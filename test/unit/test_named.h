/*-------------------------------------------------------------------------
 *
 * test_named.h
 *	  The replicas of a device process by their names, for tests that know engines which return
 *	  them.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_NAMED_H
#define TEST_NAMED_H

#include "test_replica_side.h"
#include "test_serving.h"

#define TEST_EPOCH UINT64_C(0xE70C)

/*
 * The engine of a connection, which has take_replica and release: what it hands out are names, and
 * can be given to those of other connections.  One thread uses all of them.
 */
typedef struct TestNamed
{
	HgEngine engine; /* first: engine calls get its address */
	HgWireClient *client;
} TestNamed;

extern void test_named_init(TestNamed *named, HgWireClient *client);

/* Open a job that makes a graph of this name and shape. */
extern HgStatus test_named_open(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
								const HgReplicaShape *shape, HgJob **job, HgError *error);

/* Open a job whose outer side is the graph of that name and shape. */
extern HgStatus test_named_join(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
								const HgReplicaShape *shape, HgJob **job, HgError *error);

/* Put so many edges, from the first one on, of which row i has key i. */
extern HgStatus test_named_put(HgWireClient *client, HgJob *job, uint32_t width, uint64_t first,
							   uint64_t count, HgError *error);

/* Make a graph of so many of these, of one part and keys of 8 bytes. */
extern HgStatus test_named_make(HgWireClient *client, const HgHost *host, uint64_t serial,
								uint64_t rows, HgError *error);

/* Can it be joined, and has all of its rows?  HG_OK, or why it can't be opened. */
extern HgStatus test_named_ask(HgWireClient *client, uint64_t serial, uint64_t rows);

/* Open a job that makes a column of this name and shape. */
extern HgStatus test_named_open_column(HgWireClient *client, const HgHost *host,
									   const HgReplicaName *name, const HgReplicaColumnShape *shape,
									   HgJob **job, HgError *error);

/* Put so many values of 4 bytes, from the first place on, as a column of this number has them. */
extern HgStatus test_named_put_values(HgWireClient *client, HgJob *job, uint32_t column,
									  uint64_t first, uint64_t count, HgError *error);

/* Make a column of these, of one part of stride places, beside the graph of that serial. */
extern HgStatus test_named_make_column(HgWireClient *client, const HgHost *host, uint64_t serial,
									   uint32_t column, uint32_t stride, HgError *error);

/* Make a graph, and its columns 1 .. ncolumns. */
extern HgStatus test_named_make_all(HgWireClient *client, uint64_t serial, uint64_t rows,
									uint32_t ncolumns, uint32_t stride);

/* Open a job that joins a graph with itself, and has its columns 1 .. ncolumns for both sides. */
extern HgStatus test_named_read(HgWireClient *client, const HgHost *host, uint64_t serial,
								uint64_t rows, uint32_t ncolumns, uint32_t stride, HgJob **job,
								HgError *error);

/* Have that job, which is built, sum them up: *right says whether what came, if it did, is so. */
extern HgStatus test_named_sum(HgWireClient *client, HgJob *job, uint64_t rows, uint32_t ncolumns,
							   bool *right, HgError *error);

/* The same: HG_INVALID where a sum is wrong. */
extern HgStatus test_named_reduce(HgWireClient *client, HgJob *job, uint64_t rows,
								  uint32_t ncolumns, HgError *error);

/* Both: HG_OK, or why it can't be opened. */
extern HgStatus test_named_ask_columns(HgWireClient *client, uint64_t serial, uint64_t rows,
									   uint32_t ncolumns, uint32_t stride);

/* Drop one of this name, a graph or a column, without a word of what becomes of it. */
extern void test_named_drop(HgWireClient *client, uint64_t serial);
extern void test_named_drop_column(HgWireClient *client, uint64_t serial, uint32_t column);

/* True if the process comes to have so many replicas of graphs and columns. */
extern bool test_named_graphs_become(TestServer *server, uint64_t graphs);

/*
 * Is nothing reserved, leased and held but by so many graphs and columns, when all jobs have been
 * closed?
 */
extern bool test_named_is_at_rest(TestServer *server, uint64_t graphs);

#endif /* TEST_NAMED_H */
