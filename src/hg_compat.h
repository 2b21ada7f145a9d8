/*-------------------------------------------------------------------------
 *
 * hg_compat.h
 *	  The only place that tests PG_VERSION_NUM.
 *
 * Where versions of PostgreSQL differ, a wrapper here has the signature of the newest version. A
 * number in a comment below is the version that introduced a change.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COMPAT_H
#define HG_COMPAT_H

#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "commands/explain.h"
#include "lib/dshash.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

/* 17 reads pages through streams. */
#if PG_VERSION_NUM >= 170000
#include "storage/read_stream.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "storage/aio.h"
#include "storage/fd.h"
#endif
#if PG_VERSION_NUM >= 190000
#include "executor/instrument_node.h"
#endif

#if PG_VERSION_NUM < 150000
#error "hashgraph needs PostgreSQL 15 or later"
#endif

/* Values of 8 bytes are treated as pass-by-value, and sums have 128 bits. */
#if SIZEOF_VOID_P < 8
#error "hashgraph needs a PostgreSQL of 64 bits"
#endif

/* 16 moved the variable-length macros from postgres.h to varatt.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 18 moved the formatting of EXPLAIN out of explain.h. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* 19 casts in copyObject() with C23's typeof_unqual, but this is C11. */
#if PG_VERSION_NUM >= 190000 && defined(HAVE_TYPEOF_UNQUAL) && __STDC_VERSION__ < 202311L
#undef typeof_unqual
#define typeof_unqual __typeof_unqual__
#endif

/* 18 puts pg_noreturn before the declaration. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

/* 19 marks a fall-through case with an attribute and warns about a comment. */
#if PG_VERSION_NUM < 190000
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* 19 gives signal handlers a second parameter and names the handler that ignores a signal. */
#if PG_VERSION_NUM < 190000
#define PG_SIG_IGN SIG_IGN
#endif

/* 19 has a separate type for the instrumentation of a plan node. */
#if PG_VERSION_NUM < 190000
typedef struct Instrumentation NodeInstrumentation;
#endif

/* 18 declares an extension library's name and version. */
#if PG_VERSION_NUM >= 180000
#define HG_MODULE_MAGIC(n, v) PG_MODULE_MAGIC_EXT(.name = (n), .version = (v))
#else
#define HG_MODULE_MAGIC(n, v) PG_MODULE_MAGIC
#endif

/*
 * Since 16, a Var or PlaceHolderVar lists the outer joins that may have made it NULL. setrefs.c
 * requires a custom scan's expressions to agree in that with its custom_scan_tlist.
 */
#if PG_VERSION_NUM >= 160000
#define HG_HAVE_NULLINGRELS 1
#define HG_VAR_NULLINGRELS(var) ((var)->varnullingrels)
#define HG_PHV_NULLINGRELS(phv) ((phv)->phnullingrels)
#else
#define HG_HAVE_NULLINGRELS 0
#endif

/*
 * 18 marks Vars above grouping sets as NULL by the grouping, which has a range table entry. Before,
 * such a Var looks as it does below.
 */
#define HG_HAVE_GROUP_RTE (PG_VERSION_NUM >= 180000)

/* Join types that came with 16 and 18. */
#define HG_HAVE_RIGHT_ANTI (PG_VERSION_NUM >= 160000)
#define HG_HAVE_RIGHT_SEMI (PG_VERSION_NUM >= 180000)

/* 18 lets extensions add kinds of cumulative statistics. */
#define HG_HAVE_STAT_KINDS (PG_VERSION_NUM >= 180000)

/* 19 has a 64-bit OID type. */
#define HG_HAVE_OID8 (PG_VERSION_NUM >= 190000)

/*
 * Up to 18, one side of a join may have to be made unique before an inner join replaces a
 * semijoin. 19 passes a relation that is already unique, under the same names.
 */
#define HG_HAVE_JOIN_UNIQUE (PG_VERSION_NUM < 190000)

/* Returns true for a path that removes duplicates from sorted rows, whose type 19 renames. */
static inline bool
hg_path_is_unique(const Path *path)
{
#if HG_HAVE_JOIN_UNIQUE
	return IsA(path, UpperUniquePath);
#else
	return IsA(path, UniquePath);
#endif
}

/* Returns the join type by which rows are joined: JOIN_INNER for the two JOIN_UNIQUE types. */
static inline JoinType
hg_join_type_of_rows(JoinType join_type)
{
#if !HG_HAVE_JOIN_UNIQUE
	if (join_type == JOIN_UNIQUE_OUTER || join_type == JOIN_UNIQUE_INNER)
		return JOIN_INNER;
#endif
	return join_type;
}

/*
 * Since 17, a custom join path carries its restrict list. Without it a pseudoconstant clause would
 * be lost. The last minor versions before 17 do not call the hook for such a join; in others it
 * must be declined.
 */
#if PG_VERSION_NUM >= 170000
#define HG_HAVE_CUSTOM_RESTRICTINFO 1
#else
#define HG_HAVE_CUSTOM_RESTRICTINFO 0
#endif

/* 17 lets extensions name their wait events; cache keeps the number of the event. */
#if PG_VERSION_NUM >= 170000
#define HG_WAIT_EVENT(cache, name)                                                                 \
	((cache) != 0 ? (cache) : ((cache) = WaitEventExtensionNew(name)))
#else
#define HG_WAIT_EVENT(cache, name) ((void) (cache), (uint32) PG_WAIT_EXTENSION)
#endif

/* Creates a wait event set without a resource owner (a parameter since 17). The caller frees it. */
static inline WaitEventSet *
hg_wait_event_set_create(int nevents)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, nevents);
#else
	return CreateWaitEventSet(CurrentMemoryContext, nevents);
#endif
}

/*
 * 16 added BufFileReadMaybeEOF, which returns 0 at the end of the file if eof_ok, and
 * BufFileReadExact. Both raise an error after a partial read.
 */
#if PG_VERSION_NUM < 160000
static inline size_t
BufFileReadMaybeEOF(BufFile *file, void *ptr, size_t size, bool eof_ok)
{
	size_t nread = BufFileRead(file, ptr, size);

	if (nread != size && !(nread == 0 && eof_ok))
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not read from temporary file: read only %zu of %zu bytes",
							   nread, size)));
	return nread;
}

static inline void
BufFileReadExact(BufFile *file, void *ptr, size_t size)
{
	(void) BufFileReadMaybeEOF(file, ptr, size, false);
}
#endif

/*
 * batch/hg_heap_page.c depends on how core scans heaps, which is tested up to 19. Read core's
 * scans again before raising this number.
 */
#define HG_HAVE_KNOWN_HEAP_SCAN (PG_VERSION_NUM < 200000)

/*
 * Begins the scan of a sequential scan node's table as the node itself does. 19 takes flags that
 * say whether the query only reads the table and whether I/O is counted.
 */
static inline TableScanDesc
hg_seqscan_begin(ScanState *node)
{
	Relation rel = node->ss_currentRelation;
	Snapshot snapshot = node->ps.state->es_snapshot;

#if PG_VERSION_NUM >= 190000
	uint32 flags = SO_NONE;

	if (ScanRelIsReadOnly(node))
		flags |= SO_HINT_REL_READ_ONLY;
	if (node->ps.state->es_instrument & INSTRUMENT_IO)
		flags |= SO_SCAN_INSTRUMENT;
	return table_beginscan(rel, snapshot, 0, NULL, flags);
#else
	return table_beginscan(rel, snapshot, 0, NULL);
#endif
}

/*
 * Since 17, core's heap scans read pages through streams. Up to 16 they read and prepare a block
 * by its number in one function.
 */
#define HG_HAVE_READ_STREAM (PG_VERSION_NUM >= 170000)

#if HG_HAVE_READ_STREAM
/*
 * Returns true if reading scattered blocks with a stream costs less than with posix_fadvise(). 18
 * may use I/O workers, which cost more. With direct I/O, only streams can read ahead.
 */
static inline bool
hg_read_stream_pays(void)
{
#if PG_VERSION_NUM >= 180000
	return io_method != IOMETHOD_WORKER || (io_direct_flags & IO_DIRECT_DATA) != 0;
#else
	return true;
#endif
}

/*
 * Begins a stream, in CurrentMemoryContext, that reads blocks of a scan's table. 18 batches the
 * start of reads, so the callback must not wait. 19 counts the scan's I/O if the scan has
 * instrumentation.
 */
static inline ReadStream *
hg_read_stream_begin(TableScanDesc scan, BufferAccessStrategy strategy,
					 ReadStreamBlockNumberCB callback, void *arg)
{
	ReadStream *stream;
	int flags = READ_STREAM_DEFAULT;

#if PG_VERSION_NUM >= 180000
	flags |= READ_STREAM_USE_BATCHING;
#endif
	stream =
		read_stream_begin_relation(flags, strategy, scan->rs_rd, MAIN_FORKNUM, callback, arg, 0);
#if PG_VERSION_NUM >= 190000
	if (scan->rs_instrument != NULL)
		read_stream_enable_stats(stream, &scan->rs_instrument->io);
#endif
	return stream;
}
#endif

/*
 * Prunes a page if that is due. 19 needs the heap scan's pin on the visibility map, where it sets
 * the page's bit if the scan allows that.
 */
#if PG_VERSION_NUM >= 190000
#define hg_page_prune_opt(heap, buffer)                                                            \
	heap_page_prune_opt((heap)->rs_base.rs_rd, buffer, &(heap)->rs_vmbuffer,                       \
						((heap)->rs_base.rs_flags & SO_HINT_REL_READ_ONLY) != 0)
#else
#define hg_page_prune_opt(heap, buffer) heap_page_prune_opt((heap)->rs_base.rs_rd, buffer)
#endif

/* Sets a process's first block in a parallel scan. 19 can scan block ranges in parallel too. */
static inline void
hg_parallelscan_begin(Relation rel, ParallelBlockTableScanWorker worker,
					  ParallelBlockTableScanDesc shared)
{
#if PG_VERSION_NUM >= 190000
	table_block_parallelscan_startblock_init(rel, worker, shared, InvalidBlockNumber,
											 InvalidBlockNumber);
#else
	table_block_parallelscan_startblock_init(rel, worker, shared);
#endif
}

/* Begins the scan of a TID range. 19 takes flags. */
static inline TableScanDesc
hg_beginscan_tidrange(Relation rel, Snapshot snapshot, ItemPointer first, ItemPointer last)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_tidrange(rel, snapshot, first, last, SO_NONE);
#else
	return table_beginscan_tidrange(rel, snapshot, first, last);
#endif
}

/* 16 removes redundant columns from the lists of columns that plans of groups are made from. */
#if PG_VERSION_NUM >= 160000
#define HG_GROUP_CLAUSE(root) ((root)->processed_groupClause)
#define HG_DISTINCT_CLAUSE(root) ((root)->processed_distinctClause)
#else
#define HG_GROUP_CLAUSE(root) ((root)->parse->groupClause)
#define HG_DISTINCT_CLAUSE(root) ((root)->parse->distinctClause)
#endif

/* Returns the clauses of equivalence classes that join two relations; 16 adds the outer join. */
static inline List *
hg_join_equalities(PlannerInfo *root, RelOptInfo *left, RelOptInfo *right)
{
	Relids both = bms_union(left->relids, right->relids);

#if PG_VERSION_NUM >= 160000
	return generate_join_implied_equalities(root, both, left->relids, right, NULL);
#else
	return generate_join_implied_equalities(root, both, left->relids, right);
#endif
}

/* 16 can sort the input of a node by the values of one DISTINCT aggregate. */
#if PG_VERSION_NUM >= 160000
#define HG_AGGREF_PRESORTED(aggref) ((aggref)->aggpresorted)
#else
#define HG_AGGREF_PRESORTED(aggref) false
#endif

/* 16 has one privilege check for all kinds of objects. */
#if PG_VERSION_NUM >= 160000
#define hg_function_aclcheck(oid, role, mode) object_aclcheck(ProcedureRelationId, oid, role, mode)
#else
#define hg_function_aclcheck(oid, role, mode) pg_proc_aclcheck(oid, role, mode)
#endif

/* Returns true if the current user may maintain a table: its owner or, since 17, a grantee. */
static inline bool
hg_may_maintain(Oid relation)
{
#if PG_VERSION_NUM >= 170000
	return object_ownercheck(RelationRelationId, relation, GetUserId()) ||
		   pg_class_aclcheck(relation, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK;
#elif PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation, GetUserId());
#else
	return pg_class_ownercheck(relation, GetUserId());
#endif
}

/*
 * Writes a table's size into the catalog, for test/fault, which includes commands/vacuum.h. 18
 * counts frozen pages too.
 */
#if PG_VERSION_NUM >= 180000
#define hg_set_table_size(rel, form)                                                               \
	vac_update_relstats(rel, (form)->relpages, (form)->reltuples, (form)->relallvisible,           \
						(form)->relallfrozen, (form)->relhasindex, InvalidTransactionId,           \
						InvalidMultiXactId, NULL, NULL, true)
#else
#define hg_set_table_size(rel, form)                                                               \
	vac_update_relstats(rel, (form)->relpages, (form)->reltuples, (form)->relallvisible,           \
						(form)->relhasindex, InvalidTransactionId, InvalidMultiXactId, NULL, NULL, \
						true)
#endif

/* Returns true if the current user owns a database. */
static inline bool
hg_owns_database(Oid database)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(DatabaseRelationId, database, GetUserId());
#else
	return pg_database_ownercheck(database, GetUserId());
#endif
}

/* Creates a hash table in shared memory for nelems entries. 19 has one size instead of two. */
static inline HTAB *
hg_shmem_init_hash(const char *name, int64 nelems, HASHCTL *info, int flags)
{
#if PG_VERSION_NUM >= 190000
	return ShmemInitHash(name, nelems, info, flags);
#else
	return ShmemInitHash(name, nelems, nelems, info, flags);
#endif
}

/* Up to 17, disabled nodes are part of the cost: the count is ignored, and read as 0. */
static inline void
hg_path_set_disabled_nodes(Path *path, int disabled_nodes)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = disabled_nodes;
#else
	(void) path;
	(void) disabled_nodes;
#endif
}

static inline int
hg_path_disabled_nodes(const Path *path)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes;
#else
	(void) path;
	return 0;
#endif
}

/* Returns true if sequential scans are enabled. 19 decides this for each relation. */
static inline bool
hg_seqscan_enabled(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return (rel->pgs_mask & PGS_SEQSCAN) != 0;
#else
	(void) rel;
	return enable_seqscan;
#endif
}

/* Number of the running transaction, unique within its session; 0 if none runs. 17 moved it. */
#if PG_VERSION_NUM >= 170000
#define HG_LOCAL_TRANSACTION_ID (MyProc->vxid.lxid)
#else
#define HG_LOCAL_TRANSACTION_ID (MyProc->lxid)
#endif

/* Parameters of an ExecutorRun hook and their forwarding. 18 removed execute_once. */
#if PG_VERSION_NUM >= 180000
#define HG_EXECUTOR_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define HG_EXECUTOR_RUN_ARGUMENTS query, direction, count
#else
#define HG_EXECUTOR_RUN_PARAMETERS                                                                 \
	QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define HG_EXECUTOR_RUN_ARGUMENTS query, direction, count, execute_once
#endif

/* Parameters of a planner hook and their forwarding. 19 adds the ExplainState. */
#if PG_VERSION_NUM >= 190000
#define HG_PLANNER_PARAMETERS                                                                      \
	Query *parse, const char *query, int cursor_options, ParamListInfo params, ExplainState *es
#define HG_PLANNER_ARGUMENTS parse, query, cursor_options, params, es
#else
#define HG_PLANNER_PARAMETERS                                                                      \
	Query *parse, const char *query, int cursor_options, ParamListInfo params
#define HG_PLANNER_ARGUMENTS parse, query, cursor_options, params
#endif

/*
 * Up to 17 INTERSECT and EXCEPT have one input, which appends the branches, whose rows have the
 * number of the branch as a last column.
 */
#define HG_HAVE_SETOP_INPUTS (PG_VERSION_NUM >= 180000)

/* Returns a path that appends all rows of paths, one after the other. */
static inline Path *
hg_create_append_path(PlannerInfo *root, RelOptInfo *rel, List *paths)
{
#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {.subpaths = paths};
#else
	List *input = paths;
#endif

	return (Path *) create_append_path(root, rel, input,
#if PG_VERSION_NUM < 190000
									   NIL,
#endif
									   NIL, NULL, 0, false, -1);
}

/* Returns the input paths of a set operation. */
static inline List *
hg_setop_inputs(const SetOpPath *path)
{
#if HG_HAVE_SETOP_INPUTS
	return list_make2(path->leftpath, path->rightpath);
#else
	return list_make1(path->subpath);
#endif
}

/* 18 lets extensions add options to EXPLAIN and print more of a plan. */
#define HG_HAVE_EXPLAIN_OPTIONS (PG_VERSION_NUM >= 180000)

/* Adds a boolean EXPLAIN option. 19 takes a function that checks its value. */
#if PG_VERSION_NUM >= 190000
#define hg_register_explain_option(name, handler)                                                  \
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption)
#elif PG_VERSION_NUM >= 180000
#define hg_register_explain_option(name, handler) RegisterExtensionExplainOption(name, handler)
#endif

/* Marks a path as disabled by settings; up to 17 this adds disable_cost to its costs. */
static inline void
hg_path_disable(Path *path)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes++;
#else
	path->startup_cost += disable_cost;
	path->total_cost += disable_cost;
#endif
}

/* Returns a cost without the disable_cost that hg_path_disable adds. */
static inline Cost
hg_cost_unmarked(Cost cost)
{
#if PG_VERSION_NUM >= 180000
	return cost;
#else
	return cost >= disable_cost ? cost - disable_cost : cost;
#endif
}

/* Returns true if hash joins are enabled. 19 decides this for each join. */
static inline bool
hg_hashjoin_enabled(const JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	return (extra->pgs_mask & PGS_HASHJOIN) != 0;
#else
	(void) extra;
	return enable_hashjoin;
#endif
}

/* Returns true if nested loops are enabled. 19 decides this for each join. */
static inline bool
hg_nestloop_enabled(const JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	return (extra->pgs_mask & PGS_NESTLOOP_PLAIN) != 0;
#else
	(void) extra;
	return enable_nestloop;
#endif
}

/* Estimates the least cost of a plain nested loop. 19 takes the kind of loop. */
static inline void
hg_initial_cost_nestloop(PlannerInfo *root, JoinCostWorkspace *workspace, JoinType join_type,
						 Path *outer, Path *inner, JoinPathExtraData *extra)
{
#if PG_VERSION_NUM >= 190000
	uint64 kind = PGS_NESTLOOP_PLAIN;

	if (outer->parallel_workers == 0)
		kind |= PGS_CONSIDER_NONPARTIAL;
	initial_cost_nestloop(root, workspace, join_type, kind, outer, inner, extra);
#else
	initial_cost_nestloop(root, workspace, join_type, outer, inner, extra);
#endif
}

/*
 * Returns true if a unique index and the relation's own clauses limit it to one row. Up to 18 the
 * function takes expressions beside clauses.
 */
static inline bool
hg_rel_has_one_row(PlannerInfo *root, RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return relation_has_unique_index_for(root, rel, NIL, NULL);
#else
	return relation_has_unique_index_for(root, rel, NIL, NIL, NIL);
#endif
}

/* Returns true if a hash join is enabled for this outer path. */
static inline bool
hg_hashjoin_path_enabled(const JoinPathExtraData *extra, const Path *outer)
{
#if PG_VERSION_NUM >= 190000
	if (outer->parallel_workers == 0 && (extra->pgs_mask & PGS_CONSIDER_NONPARTIAL) == 0)
		return false;
#else
	(void) outer;
#endif
	return hg_hashjoin_enabled(extra);
}

/*
 * Returns true if a join relation's paths compete by cost with joins of its partitions. Up to 18
 * the planner uses the partitionwise join for the topmost join wherever it can, and removes all
 * other paths.
 */
static inline bool
hg_partitions_compete(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return IS_JOIN_REL(rel) && rel->consider_partitionwise_join;
#else
	(void) rel;
	return false;
#endif
}

/* Sets which join methods are enabled for a join relation; only 19 has that for each join. */
static inline void
hg_join_extra_of(JoinPathExtraData *extra, const RelOptInfo *joinrel)
{
#if PG_VERSION_NUM >= 190000
	extra->pgs_mask = joinrel->pgs_mask;
#else
	(void) extra;
	(void) joinrel;
#endif
}

/* Returns true if a relation's rows are partial groups, which 19 can make before a join. */
static inline bool
hg_rel_has_partial_groups(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return IS_GROUPED_REL(rel);
#else
	(void) rel;
	return false;
#endif
}

/*
 * Returns the clauses that equivalence classes imply for a join of two relations. sjinfo is the
 * outer join, or NULL for an inner join. For an outer join, clauses from above it are included.
 */
static inline List *
hg_implied_equalities(PlannerInfo *root, Relids both, Relids outer, RelOptInfo *inner,
					  SpecialJoinInfo *sjinfo)
{
#if PG_VERSION_NUM >= 160000
	return generate_join_implied_equalities(root, both, outer, inner, sjinfo);
#else
	(void) sjinfo;
	return generate_join_implied_equalities(root, both, outer, inner);
#endif
}

/* Returns the relid of an outer join in the range table; 0 if it has none, as always up to 15. */
static inline Index
hg_outer_join_relid(const SpecialJoinInfo *sjinfo)
{
#if PG_VERSION_NUM >= 160000
	return sjinfo->ojrelid;
#else
	(void) sjinfo;
	return 0;
#endif
}

/*
 * Returns true if a clause applies to a join whose inputs are these relations. If a clause has
 * several versions, for below and above another outer join, only the one for these inputs applies.
 */
static inline bool
hg_clause_is_for(const RestrictInfo *rinfo, Relids inputs)
{
#if PG_VERSION_NUM >= 160000
	if (bms_overlap(rinfo->incompatible_relids, inputs))
		return false;
#endif
	return bms_is_subset(rinfo->required_relids, inputs);
}

/*
 * From 19 on: if core's path was not disabled by itself, marks hash joins as enabled in extra.
 */
static inline void
hg_join_extra_set_enabled(JoinPathExtraData *extra, const JoinPath *core)
{
#if PG_VERSION_NUM >= 190000
	if (core->path.disabled_nodes ==
		core->outerjoinpath->disabled_nodes + core->innerjoinpath->disabled_nodes)
		extra->pgs_mask = PGS_HASHJOIN | PGS_CONSIDER_NONPARTIAL;
#else
	(void) extra;
	(void) core;
#endif
}

/* Returns a new instrument for a plan node that counts its rows, in CurrentMemoryContext. */
static inline NodeInstrumentation *
hg_row_counter(void)
{
#if PG_VERSION_NUM >= 190000
	return InstrAllocNode(INSTRUMENT_ROWS, false);
#else
	return InstrAlloc(1, INSTRUMENT_ROWS, false);
#endif
}

/*
 * Returns true if EXPLAIN prefixes columns with their relation. 18 adds a range table entry to a
 * query with groups and does not count it in rtable_size.
 */
static inline bool
hg_explain_has_prefix(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size > 1 || es->verbose;
#else
	return list_length(es->rtable) > 1 || es->verbose;
#endif
}

/* Returns the cost of sorting rows of this width, without reading them. */
static inline Cost
hg_sort_cost(PlannerInfo *root, List *pathkeys, double rows, int width)
{
	Path sort;

#if PG_VERSION_NUM >= 180000
	cost_sort(&sort, root, pathkeys, 0, 0, rows, width, 0, work_mem, -1);
#else
	cost_sort(&sort, root, pathkeys, 0, rows, width, 0, work_mem, -1);
#endif
	return sort.total_cost;
}

/*
 * add_path_precheck and add_partial_path_precheck; 18 takes the number of disabled nodes. For
 * partial paths, only 19 also takes the startup cost.
 */
static inline bool
hg_add_path_precheck(RelOptInfo *rel, int disabled_nodes, Cost startup_cost, Cost total_cost,
					 List *pathkeys, Relids required_outer)
{
#if PG_VERSION_NUM >= 180000
	return add_path_precheck(rel, disabled_nodes, startup_cost, total_cost, pathkeys,
							 required_outer);
#else
	(void) disabled_nodes;
	return add_path_precheck(rel, startup_cost, total_cost, pathkeys, required_outer);
#endif
}

static inline bool
hg_add_partial_path_precheck(RelOptInfo *rel, int disabled_nodes, Cost startup_cost,
							 Cost total_cost, List *pathkeys)
{
#if PG_VERSION_NUM >= 190000
	return add_partial_path_precheck(rel, disabled_nodes, startup_cost, total_cost, pathkeys);
#elif PG_VERSION_NUM >= 180000
	(void) startup_cost;
	return add_partial_path_precheck(rel, disabled_nodes, total_cost, pathkeys);
#else
	(void) disabled_nodes;
	(void) startup_cost;
	return add_partial_path_precheck(rel, total_cost, pathkeys);
#endif
}

/* 16 renamed RelFileNode and its fields. */
#if PG_VERSION_NUM < 160000
typedef Oid RelFileNumber;

typedef struct RelFileLocator
{
	Oid spcOid;
	Oid dbOid;
	RelFileNumber relNumber;
} RelFileLocator;
#endif

static inline RelFileLocator
hg_relation_locator(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_locator;
#else
	return (RelFileLocator){.spcOid = rel->rd_node.spcNode,
							.dbOid = rel->rd_node.dbNode,
							.relNumber = rel->rd_node.relNode};
#endif
}

/* Pins a block of the main fork if its last known buffer still has it; true if pinned. */
static inline bool
hg_read_recent_buffer(Relation rel, BlockNumber block, Buffer buffer)
{
#if PG_VERSION_NUM >= 160000
	return ReadRecentBuffer(rel->rd_locator, MAIN_FORKNUM, block, buffer);
#else
	return ReadRecentBuffer(rel->rd_node, MAIN_FORKNUM, block, buffer);
#endif
}

/* Returns true if this transaction has created the relation or its current file. */
static inline bool
hg_relation_is_new(Relation rel)
{
#if PG_VERSION_NUM >= 160000
	return rel->rd_createSubid != InvalidSubTransactionId ||
		   rel->rd_newRelfilelocatorSubid != InvalidSubTransactionId ||
		   rel->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
	return rel->rd_createSubid != InvalidSubTransactionId ||
		   rel->rd_newRelfilenodeSubid != InvalidSubTransactionId ||
		   rel->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

/* Returns true unless old_snapshot_threshold lets vacuum remove rows that a snapshot sees. */
static inline bool
hg_snapshots_are_kept(void)
{
#if PG_VERSION_NUM >= 170000
	return true;
#else
	return old_snapshot_threshold < 0;
#endif
}

/* Returns true for a generated column that is not stored, which 18 introduced. */
static inline bool
hg_attribute_is_virtual(Form_pg_attribute attribute)
{
#if PG_VERSION_NUM >= 180000
	return attribute->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
#else
	(void) attribute;
	return false;
#endif
}

/* 17 takes a function that copies the keys of a dshash table. */
#if PG_VERSION_NUM >= 170000
#define HG_DSHASH_MEMORY_KEYS                                                                      \
	.compare_function = dshash_memcmp, .hash_function = dshash_memhash,                            \
	.copy_function = dshash_memcpy
#else
#define HG_DSHASH_MEMORY_KEYS .compare_function = dshash_memcmp, .hash_function = dshash_memhash
#endif

#endif /* HG_COMPAT_H */
