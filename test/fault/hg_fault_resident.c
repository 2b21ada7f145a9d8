/*-------------------------------------------------------------------------
 *
 * hg_fault_resident.c
 *	  Places where what keeps tables resident can be held, and ways for it to be wrong.
 *
 * Each POINT is an advisory lock of the database, (HG_FAULT_LOCK_CLASS, point): who comes by there
 * takes it shared, and lets it go; a test that holds it exclusively has it wait, and sees it
 * waiting in pg_locks.
 *
 * With hashgraph.fault_delay it also sleeps for a random time at the first three, where many rounds
 * are to pass meanwhile; behind its second copy of the bits a loader would begin again for each.
 *
 * The setting hashgraph.plant_fault breaks one of the rules that resident/hg_resident_validity.c
 * proves the rows by.  A test shows that rows are wrong then: without it, an interleaving that
 * nothing breaks would prove nothing.
 *
 *	loader_snapshot		the loader lets go of its snapshot before it publishes a version
 *	record_first		a reader takes the records first, and the bits afterwards
 *	late_break			a witness that ends breaks the chain when its snapshot has gone
 *	missed_round		what a round has not observed is served on
 *	no_peek				a loader does not look at the bit under the page's lock
 *	joins_early			a loader does not copy the bits again when it publishes
 *	joins_late			a loader does not look whether a strike has passed since
 *	joins_observed		a loader does not look whether an observation of the table has begun since
 *	full_map			a witness takes each page of a map for one whose bits are all set
 *	graph_key			the first key of each bin of a HashGraph is another one
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#include "hg_compat.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "utils/guc.h"

#include "backend/matcher/hg_matcher.h"
#include "batch/hg_graph_key.h"
#include "batch/hg_heap_page.h"
#include "batch/hg_shared_covered.h"
#include "engine/hg_flat.h"
#include "hg_fault.h"
#include "loader/hg_loader_column.h"
#include "loader/hg_loader_worker.h"
#include "resident/hg_page_vis.h"
#include "resident/hg_resident_auto.h"
#include "resident/hg_resident_capture.h"
#include "resident/hg_resident_chain.h"
#include "resident/hg_resident_eviction.h"
#include "resident/hg_resident_graph.h"
#include "resident/hg_resident_validity.h"

/* The first number of the locks. */
#define HG_FAULT_LOCK_CLASS 26727

typedef enum HgFaultPoint
{
	HG_FAULT_POINT_CAPTURE = 1, /* between the look at the map and the first page */
	HG_FAULT_POINT_JOIN,		/* between the last page and the version's publication */
	HG_FAULT_POINT_SERVE,		/* between the copy of the bits and the look at the records */
	HG_FAULT_POINT_END_ROUND,	/* between the last observation and the round's end */
	HG_FAULT_POINT_GIVE_WAY,	/* where a loader lets others at the table between two pages */
	HG_FAULT_POINT_RECORD,		/* between a loader's second copy of the bits and the record */
	HG_FAULT_POINT_OBSERVE,		/* between a witness's copy of a table's bits and the records */
	HG_FAULT_POINT_EVICT,		/* between the list of what may be evicted and the first of it */
	HG_FAULT_POINT_GRAPH,		/* when a loader has made a bin of a HashGraph */
	HG_FAULT_POINT_TAKE,		/* before a block is read whose older rows were covered */
	HG_FAULT_POINT_ALONE,		/* where who may prune a block has it for itself, and holds it */
	HG_FAULT_POINT_ATTACH		/* where a worker has pinned covered rows, and finds them */
} HgFaultPoint;

typedef enum HgPlanted
{
	HG_PLANTED_NONE = 0,
	HG_PLANTED_LOADER_SNAPSHOT,
	HG_PLANTED_RECORD_FIRST,
	HG_PLANTED_LATE_BREAK,
	HG_PLANTED_MISSED_ROUND,
	HG_PLANTED_NO_PEEK,
	HG_PLANTED_JOINS_EARLY,
	HG_PLANTED_JOINS_LATE,
	HG_PLANTED_JOINS_OBSERVED,
	HG_PLANTED_FULL_MAP,
	HG_PLANTED_GRAPH_KEY
} HgPlanted;

HG_WRAPPED(long, hg_witness_period, (void) );
HG_WRAPPED(long, hg_eviction_rest_ms, (void) );
HG_WRAPPED(long, hg_eviction_forget_ms, (void) );
HG_WRAPPED(bool, hg_capture_begin,
		   (HgCapture * capture, Relation rel, uint32 segment, BufferAccessStrategy strategy));
HG_WRAPPED(void, hg_capture_let_go, (HgCapture * capture));
HG_WRAPPED(Relation, hg_loader_open, (Oid relation, bool *gone));
HG_WRAPPED(bool, hg_capture_join, (HgCapture * capture, dsa_pointer version));
HG_WRAPPED(int, hg_capture_readmit, (HgCapture * capture));
HG_WRAPPED(bool, hg_chain_may_join,
		   (const HgChain *chain, const HgDirectoryEntry *entry, HgChainPosition position));
HG_WRAPPED(Size, hg_eviction_make_room, (HgResidentRelation table, Size wanted, bool now));
HG_WRAPPED(void, pg_qsort,
		   (void *base, size_t n, size_t width, int (*compare)(const void *, const void *)));
HG_WRAPPED(void, hg_map_copy, (Relation rel, uint32 first, uint32 n, HgBlockBits *bits));
HG_WRAPPED(void, hg_map_survey,
		   (Relation rel, uint32 first_page, uint32 npages, bool *full, HgBlockBits *bits));
HG_WRAPPED(bool, hg_map_peek, (Buffer map, BlockNumber block));
HG_WRAPPED(HgStatus, hg_flat_maker_open,
		   (const HgHost *host, const HgFlatShape *shape, HgFlatMaker **maker, HgError *error));
HG_WRAPPED(HgStatus, hg_flat_finish_bin,
		   (HgFlatMaker * maker, uint32_t bin, void *memory, HgError *error));
HG_WRAPPED(HgValidBlocks *, hg_validity_find,
		   (Relation rel, Snapshot snapshot, BlockNumber nblocks, const HgResidentColumn *columns,
			int ncolumns));
HG_WRAPPED(void, hg_heap_page_take,
		   (HgHeapPage * page, TableScanDesc scan, HgRecentBlock target, const OffsetNumber *lines,
			int nlines, TupleTableSlot *slot));
HG_WRAPPED(void, hg_heap_page_prune, (TableScanDesc scan, Buffer buffer));
HG_WRAPPED(HgCovered *, hg_shared_covered_attach,
		   (const HgSharedCovered *shared, dsa_area *area, Relation rel, const HgGraphKey *key,
			const HgSharedPins *pins, int ncolumns, const HgResidentColumn *columns,
			HgResidentScan *scan));
HG_WRAPPED(HgMatcher *, hg_matcher_create,
		   (const HgMatcherSpec *spec, const HgKeySet *outer, const HgKeySet *inner));
HG_WRAPPED(void, hg_chain_end_round, (HgChain * chain, HgChainPosition position));
HG_WRAPPED(void, hg_chain_break, (HgChain * chain, uint64 generation));
HG_WRAPPED(int, hg_directory_list, (Oid database, HgResidentRelation **keys));

static int hg_planted = HG_PLANTED_NONE;
static int hg_fault_delay = 0;				   /* ms at most */
static int hg_fault_eviction_rest = 60 * 1000; /* ms */
static int hg_fault_forget = 60 * 60 * 1000;   /* ms */
static bool hg_fault_note_scan = false;
static bool hg_fault_keep_valid = false;
static bool hg_fault_alone = false;

/* Whose copies of bits these are. */
static bool validating = false;
static bool joining = false;
static bool ending = false;

static bool evicting = false;

static void
hg_fault_come_by(HgFaultPoint point)
{
	LOCKTAG tag;

	Assert(IsTransactionState());
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, HG_FAULT_LOCK_CLASS, (uint32) point, 2);
	(void) LockAcquire(&tag, ShareLock, false, false);
	LockRelease(&tag, ShareLock, false);
	if (hg_fault_delay > 0 && point < HG_FAULT_POINT_END_ROUND)
	{
		int left = (int) (random() % hg_fault_delay);

		for (; left > 0; left -= 10)
		{
			pg_usleep(Min(left, 10) * 1000);
			CHECK_FOR_INTERRUPTS();
		}
	}
}

void
hg_fault_resident_init(void)
{
	static const struct config_enum_entry options[] = {
		{"none", HG_PLANTED_NONE, false},
		{"loader_snapshot", HG_PLANTED_LOADER_SNAPSHOT, false},
		{"record_first", HG_PLANTED_RECORD_FIRST, false},
		{"late_break", HG_PLANTED_LATE_BREAK, false},
		{"missed_round", HG_PLANTED_MISSED_ROUND, false},
		{"no_peek", HG_PLANTED_NO_PEEK, false},
		{"joins_early", HG_PLANTED_JOINS_EARLY, false},
		{"joins_late", HG_PLANTED_JOINS_LATE, false},
		{"joins_observed", HG_PLANTED_JOINS_OBSERVED, false},
		{"full_map", HG_PLANTED_FULL_MAP, false},
		{"graph_key", HG_PLANTED_GRAPH_KEY, false},
		{NULL, 0, false}};

	DefineCustomEnumVariable("hashgraph.plant_fault", "Breaks a rule that resident columns obey.",
							 NULL, &hg_planted, HG_PLANTED_NONE, options, PGC_SIGHUP,
							 GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("hashgraph.fault_delay",
							"Sets the longest time that is slept where processes can be held.",
							NULL, &hg_fault_delay, 0, 0, 60000, PGC_SIGHUP,
							GUC_NOT_IN_SAMPLE | GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomBoolVariable("hashgraph.fault_note_scan",
							 "Has who is served all columns of a table count as a scan of these, "
							 "and as a join from their HashGraphs.",
							 NULL, &hg_fault_note_scan, false, PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL,
							 NULL, NULL);
	DefineCustomBoolVariable(
		"hashgraph.fault_keep_served",
		"Has a transaction keep what it is served to its end, as a cursor does.", NULL,
		&hg_fault_keep_valid, false, PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomBoolVariable(
		"hashgraph.fault_alone", "Has who may prune a block wait with it for itself.", NULL,
		&hg_fault_alone, false, PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("hashgraph.fault_eviction_rest",
							"Sets how long what was taken in is not evicted.", NULL,
							&hg_fault_eviction_rest, 60 * 1000, 0, 60 * 1000, PGC_SIGHUP,
							GUC_NOT_IN_SAMPLE | GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("hashgraph.fault_forget",
							"Sets how long what was evicted is remembered for scans.", NULL,
							&hg_fault_forget, 60 * 60 * 1000, 0, 60 * 60 * 1000, PGC_SIGHUP,
							GUC_NOT_IN_SAMPLE | GUC_UNIT_MS, NULL, NULL, NULL);
}

/* Rounds are made faster, so that tests need not wait for them. */
long
__wrap_hg_witness_period(void)
{
	return __real_hg_witness_period() / 10;
}

long
__wrap_hg_eviction_forget_ms(void)
{
	return hg_fault_forget;
}

long
__wrap_hg_eviction_rest_ms(void)
{
	return hg_fault_eviction_rest;
}

/*
 * ------------------------------------------------------------------------
 * Taking in
 * ------------------------------------------------------------------------
 */

bool
__wrap_hg_capture_begin(HgCapture *capture, Relation rel, uint32 segment,
						BufferAccessStrategy strategy)
{
	bool begun = __real_hg_capture_begin(capture, rel, segment, strategy);

	hg_fault_come_by(HG_FAULT_POINT_CAPTURE);
	return begun;
}

/* From here until the table is opened again the loader holds nothing of it. */
static bool giving_way = false;

void
__wrap_hg_capture_let_go(HgCapture *capture)
{
	__real_hg_capture_let_go(capture);
	giving_way = true;
}

Relation
__wrap_hg_loader_open(Oid relation, bool *gone)
{
	if (giving_way)
		hg_fault_come_by(HG_FAULT_POINT_GIVE_WAY);
	giving_way = false;
	return __real_hg_loader_open(relation, gone);
}

bool
__wrap_hg_capture_join(HgCapture *capture, dsa_pointer version)
{
	bool joined;

	if (hg_planted == HG_PLANTED_LOADER_SNAPSHOT)
	{
		PopActiveSnapshot();
		InvalidateCatalogSnapshot();
	}
	hg_fault_come_by(HG_FAULT_POINT_JOIN);
	if (hg_planted == HG_PLANTED_LOADER_SNAPSHOT)
		PushActiveSnapshot(GetTransactionSnapshot());
	joining = true;
	joined = __real_hg_capture_join(capture, version);
	joining = false;
	return joined;
}

int
__wrap_hg_capture_readmit(HgCapture *capture)
{
	int count;

	joining = true;
	count = __real_hg_capture_readmit(capture);
	joining = false;
	return count;
}

bool
__wrap_hg_chain_may_join(const HgChain *chain, const HgDirectoryEntry *entry,
						 HgChainPosition position)
{
	HgDirectoryEntry unobserved = *entry;

	if (hg_planted == HG_PLANTED_JOINS_LATE && position.generation != 0)
		return true;
	unobserved.observing = 0;
	return __real_hg_chain_may_join(
		chain, hg_planted == HG_PLANTED_JOINS_OBSERVED ? &unobserved : entry, position);
}

Size
__wrap_hg_eviction_make_room(HgResidentRelation table, Size wanted, bool now)
{
	Size freed;

	evicting = true;
	freed = __real_hg_eviction_make_room(table, wanted, now);
	evicting = false;
	return freed;
}

/* What may go is sorted. */
void
__wrap_pg_qsort(void *base, size_t n, size_t width, int (*compare)(const void *, const void *))
{
	__real_pg_qsort(base, n, width, compare);
	if (evicting)
		hg_fault_come_by(HG_FAULT_POINT_EVICT);
}

bool
__wrap_hg_map_peek(Buffer map, BlockNumber block)
{
	return hg_planted == HG_PLANTED_NO_PEEK || __real_hg_map_peek(map, block);
}

/* Of the graph that is made. */
static HgFlatShape made_shape;

HgStatus
__wrap_hg_flat_maker_open(const HgHost *host, const HgFlatShape *shape, HgFlatMaker **maker,
						  HgError *error)
{
	made_shape = *shape;
	return __real_hg_flat_maker_open(host, shape, maker, error);
}

HgStatus
__wrap_hg_flat_finish_bin(HgFlatMaker *maker, uint32_t bin, void *memory, HgError *error)
{
	HgStatus status = __real_hg_flat_finish_bin(maker, bin, memory, error);

	if (hg_planted == HG_PLANTED_GRAPH_KEY && status == HG_OK)
	{
		const HgFlatBin *made = memory;
		HgFlatGraph graph = {.shape = made_shape, .bins = &made};
		const void *keys;
		const uint32 *rows;

		hg_flat_scan(&graph, 0, &keys, &rows);
		*(char *) unconstify(void *, keys) ^= 1;
	}
	hg_fault_come_by(HG_FAULT_POINT_GRAPH);
	return status;
}

/*
 * ------------------------------------------------------------------------ Valid blocks
 * ------------------------------------------------------------------------
 */

void
__wrap_hg_map_copy(Relation rel, uint32 first, uint32 n, HgBlockBits *bits)
{
	__real_hg_map_copy(rel, first, n, bits);
	if ((validating && hg_planted == HG_PLANTED_RECORD_FIRST) ||
		(joining && hg_planted == HG_PLANTED_JOINS_EARLY))
		memset(bits, 0xff, n * sizeof(HgBlockBits));
	else if (validating || joining)
		hg_fault_come_by(validating ? HG_FAULT_POINT_SERVE : HG_FAULT_POINT_RECORD);
}

/* The columns of a table that can be resident, noted as those of a join's scan; their number. */
static int
hg_fault_scan(Relation rel, HgResidentColumn **columns)
{
	TupleDesc desc = RelationGetDescr(rel);
	AttrNumber *numbers = palloc(Max(desc->natts, 1) * sizeof(AttrNumber));
	int n = 0;

	*columns = palloc(Max(desc->natts, 1) * sizeof(HgResidentColumn));
	for (int i = 0; i < desc->natts; i++)
		if (hg_encode_may_take_in(TupleDescAttr(desc, i)) == HG_REASON_NONE)
		{
			numbers[n] = i + 1;
			(*columns)[n++] = hg_resident_column(TupleDescAttr(desc, i));
		}
	hg_auto_note_scan(rel, numbers, n);
	for (int i = 0; i < n; i++)
	{
		HgKeyNumbers numbered = {.n = 1, .numbers = {numbers[i]}};
		HgPinnedGraph *graph;
		HgGraphKey key;

		if (hg_graph_key_create(1, &(*columns)[i], &key) == NULL)
			continue;
		graph = hg_resident_graph_pin(rel, &key);
		hg_auto_note_key(rel, &numbered);
		if (graph != NULL)
			hg_resident_graph_unpin(graph);
	}
	return n;
}

HgValidBlocks *
__wrap_hg_validity_find(Relation rel, Snapshot snapshot, BlockNumber nblocks,
						const HgResidentColumn *columns, int ncolumns)
{
	HgValidBlocks *valid;
	HgResidentColumn *scanned;

	if (hg_fault_note_scan && ncolumns == 0)
	{
		ncolumns = hg_fault_scan(rel, &scanned);
		columns = scanned;
	}

	if (hg_fault_keep_valid)
	{
		ResourceOwner owner = CurrentResourceOwner;
		MemoryContext context = MemoryContextSwitchTo(TopTransactionContext);

		CurrentResourceOwner = TopTransactionResourceOwner;
		(void) __real_hg_validity_find(rel, snapshot, nblocks, columns, ncolumns);
		CurrentResourceOwner = owner;
		MemoryContextSwitchTo(context);
	}
	validating = true;
	valid = __real_hg_validity_find(rel, snapshot, nblocks, columns, ncolumns);
	validating = false;
	if (hg_planted != HG_PLANTED_RECORD_FIRST || valid == NULL)
		return valid;
	hg_fault_come_by(HG_FAULT_POINT_SERVE);
	for (int i = 0; i < valid->nsegments; i++)
	{
		HgValidSegment *segment = &valid->segments[i];
		HgBlockBits bits;

		__real_hg_map_copy(rel, segment->version->first / HG_SEGMENT_BLOCKS, 1, &bits);
		hg_block_bits_and(unconstify(HgBlockBits *, segment->blocks), &bits);
	}
	return valid;
}

/* What processes that join together have in common lasts no longer than the call. */
HgMatcher *
__wrap_hg_matcher_create(const HgMatcherSpec *spec, const HgKeySet *outer, const HgKeySet *inner)
{
	HgMatcherSpec spec_copy = *spec;
	HgParticipantsSpec *participants = palloc0(sizeof(HgParticipantsSpec));
	HgMatcher *matcher;

	if (spec->participants != NULL)
	{
		*participants = *spec->participants;
		spec_copy.participants = participants;
	}
	matcher = __real_hg_matcher_create(&spec_copy, outer, inner);
	memset(participants, 0x7f, sizeof(HgParticipantsSpec));
	pfree(participants);
	return matcher;
}

HgCovered *
__wrap_hg_shared_covered_attach(const HgSharedCovered *shared, dsa_area *area, Relation rel,
								const HgGraphKey *key, const HgSharedPins *pins, int ncolumns,
								const HgResidentColumn *columns, HgResidentScan *scan)
{
	hg_fault_come_by(HG_FAULT_POINT_ATTACH);
	return __real_hg_shared_covered_attach(shared, area, rel, key, pins, ncolumns, columns, scan);
}

void
__wrap_hg_heap_page_take(HgHeapPage *page, TableScanDesc scan, HgRecentBlock target,
						 const OffsetNumber *lines, int nlines, TupleTableSlot *slot)
{
	hg_fault_come_by(HG_FAULT_POINT_TAKE);
	__real_hg_heap_page_take(page, scan, target, lines, nlines, slot);
}

void
__wrap_hg_heap_page_prune(TableScanDesc scan, Buffer buffer)
{
	if (hg_fault_alone)
	{
		LockBufferForCleanup(buffer);
		hg_fault_come_by(HG_FAULT_POINT_ALONE);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	__real_hg_heap_page_prune(scan, buffer);
}

/*
 * ------------------------------------------------------------------------
 * The chain
 * ------------------------------------------------------------------------
 */

void
__wrap_hg_map_survey(Relation rel, uint32 first_page, uint32 npages, bool *full, HgBlockBits *bits)
{
	__real_hg_map_survey(rel, first_page, npages, full, bits);
	if (hg_planted == HG_PLANTED_FULL_MAP)
		memset(full, true, npages * sizeof(bool));
	hg_fault_come_by(HG_FAULT_POINT_OBSERVE);
}

void
__wrap_hg_chain_end_round(HgChain *chain, HgChainPosition position)
{
	hg_fault_come_by(HG_FAULT_POINT_END_ROUND);
	ending = true;
	__real_hg_chain_end_round(chain, position);
	ending = false;
}

/* What a round strikes it finds in the list. */
int
__wrap_hg_directory_list(Oid database, HgResidentRelation **keys)
{
	int n = __real_hg_directory_list(database, keys);

	return ending && hg_planted == HG_PLANTED_MISSED_ROUND ? 0 : n;
}

static HgChain *broken_late;
static uint64 broken_generation;

static void
hg_fault_break_late(int code pg_attribute_unused(), Datum arg pg_attribute_unused())
{
	pg_usleep(2 * 1000 * 1000);
	__real_hg_chain_break(broken_late, broken_generation);
}

void
__wrap_hg_chain_break(HgChain *chain, uint64 generation)
{
	if (hg_planted != HG_PLANTED_LATE_BREAK || !proc_exit_inprogress)
	{
		__real_hg_chain_break(chain, generation);
		return;
	}
	broken_late = chain;
	broken_generation = generation;
	on_shmem_exit(hg_fault_break_late, 0);
}
