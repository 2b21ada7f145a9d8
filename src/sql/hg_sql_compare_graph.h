/*-------------------------------------------------------------------------
 *
 * hg_sql_compare_graph.h
 *	  Compares the graphs of a table's keys with its valid blocks.
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
 * Returns the number of wrong rows in the graphs: missing, duplicate or superfluous ones, and rows
 * with another key or in another bin.
 */
extern uint64 hg_sql_compare_graphs(Relation rel, const HgValidBlocks *valid);

#endif /* HG_SQL_COMPARE_GRAPH_H */
