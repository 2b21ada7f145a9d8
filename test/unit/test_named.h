/*-------------------------------------------------------------------------
 *
 * test_named.h
 *	  The replicas of a device process by name, for tests of engines that return replicas.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef TEST_NAMED_H
#define TEST_NAMED_H

#include "test_replica_side.h"
#include "test_serving.h"

/* The epoch of all names. */
#define TEST_EPOCH UINT64_C(0xE70C)

/*
 * The engine of a connection, with take_replica and release.  Its replicas are names, which the
 * engines of other connections can use, too.  One thread uses all of them.
 */
typedef struct TestNamed
{
	HgEngine engine; /* first: engine calls get its address */
	HgStoreCalls store;
	HgWireClient *client;
} TestNamed;

/* Initializes the engine of a connection. */
extern void test_named_init(TestNamed *named, HgWireClient *client);

/* Opens a job that makes a graph of this name and shape. */
extern HgStatus test_named_open(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
								const HgReplicaShape *shape, HgJob **job, HgError *error);

/* Opens a job whose outer side is the graph of this name and shape, with a mask. */
extern HgStatus test_named_join(HgWireClient *client, const HgHost *host, const HgReplicaName *name,
								const HgReplicaShape *shape, HgJob **job, HgError *error);

/* Puts count edges from first on; row i has key i, of width bytes. */
extern HgStatus test_named_put(HgWireClient *client, HgJob *job, uint32_t width, uint64_t first,
							   uint64_t count, HgError *error);

/* Makes a graph of rows such edges, of one part and with keys of 8 bytes. */
extern HgStatus test_named_make(HgWireClient *client, const HgHost *host, uint64_t serial,
								uint64_t rows, HgError *error);

/* Joins a graph with itself.  Returns HG_INVALID if a row is missing, or why it fails. */
extern HgStatus test_named_ask(HgWireClient *client, uint64_t serial, uint64_t rows);

/* Opens a job that makes a column of this name and shape. */
extern HgStatus test_named_open_column(HgWireClient *client, const HgHost *host,
									   const HgReplicaName *name, const HgReplicaColumnShape *shape,
									   HgJob **job, HgError *error);

/* Puts count values of 4 bytes, from ordinal first on, that follow from the column's number. */
extern HgStatus test_named_put_values(HgWireClient *client, HgJob *job, uint32_t column,
									  uint64_t first, uint64_t count, HgError *error);

/* Makes such a column, of one part with stride ordinals, of the graph with that serial. */
extern HgStatus test_named_make_column(HgWireClient *client, const HgHost *host, uint64_t serial,
									   uint32_t column, uint32_t stride, HgError *error);

/* Makes a graph, and its columns 1 .. ncolumns. */
extern HgStatus test_named_make_all(HgWireClient *client, uint64_t serial, uint64_t rows,
									uint32_t ncolumns, uint32_t stride);

/* Opens a job that joins a graph with itself, with its columns 1 .. ncolumns on both sides. */
extern HgStatus test_named_read(HgWireClient *client, const HgHost *host, uint64_t serial,
								uint64_t rows, uint32_t ncolumns, uint32_t stride, HgJob **job,
								HgError *error);

/* Sums the columns in that job, which is built.  *right becomes whether the sums are right. */
extern HgStatus test_named_sum(HgWireClient *client, HgJob *job, uint64_t rows, uint32_t ncolumns,
							   bool *right, HgError *error);

/* The same; returns HG_INVALID if a sum is wrong. */
extern HgStatus test_named_reduce(HgWireClient *client, HgJob *job, uint64_t rows,
								  uint32_t ncolumns, HgError *error);

/* Opens, builds and sums such a job.  Returns HG_OK, or why it fails. */
extern HgStatus test_named_ask_columns(HgWireClient *client, uint64_t serial, uint64_t rows,
									   uint32_t ncolumns, uint32_t stride);

/* Drop a replica, a graph or a column, by name.  There is no answer. */
extern void test_named_drop(HgWireClient *client, uint64_t serial);
extern void test_named_drop_column(HgWireClient *client, uint64_t serial, uint32_t column);

/* Waits, and returns true once the process has this many replicas of graphs and columns. */
extern bool test_named_graphs_become(TestServer *server, uint64_t graphs);

/*
 * Returns true if, after all jobs have been closed, nothing is reserved or leased, and only this
 * many graphs and columns hold memory.
 */
extern bool test_named_is_at_rest(TestServer *server, uint64_t graphs);

#endif /* TEST_NAMED_H */
