/*-------------------------------------------------------------------------
 *
 * hg_sql_compare_graph.h
 *	  Has a resident HashGraph each row that has its key once, and no other?
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_SQL_COMPARE_GRAPH_H
#define HG_SQL_COMPARE_GRAPH_H

#include "hg_compat.h"

#include "resident/hg_resident_validity.h"

/*
 * Compares the graphs of a table's keys with its valid blocks: returns how many rows one of them
 * has not, has more than once, with another key, in another bin, or should not have.
 */
extern uint64 hg_sql_compare_graphs(Relation rel, const HgValidBlocks *valid);

#endif /* HG_SQL_COMPARE_GRAPH_H */
