/*-------------------------------------------------------------------------
 *
 * hg_cost_table.h
 *	  The table of costs: what the steps of scans, joins and aggregates cost the machine.
 *
 * _NS are nanoseconds of one process for a row, unless the line says for what else, with tables in
 * memory that exceed its CPU caches.  Each line ends with the method and what it measured:
 *
 *	costs	test/bench/costs --rows 2000000
 *	bench	test/bench/build/hg_bench --backend cpu --workload U25 --scale 4 --warm, with --count
 *	flat	test/bench/build/hg_bench_flat --rows 5000000
 *	loop	4 million values by random rows, which are prefetched 512 at a time
 *	hand	a query with and without the step, which no program repeats
 *	est		an estimate; no measurement is recorded
 *
 * The first four are from two shared cores of a Xeon with AVX-512, November 2026, least of five.
 *
 * Nothing here is calibrated, so that plans do not depend on the machine.  Calibrated is only what
 * chooses between a device and the CPU for a job whose rows are sent: each device process measures
 * both engines when it starts (hg_costs.h).  This table has what a session adds to that.
 *
 * Copyright (c) 2026, the hashgraph authors
 *
 *-------------------------------------------------------------------------
 */
#ifndef HG_COST_TABLE_H
#define HG_COST_TABLE_H

/* Joins on the CPU.  A row that fits the CPU's caches takes a quarter of HG_JOIN_ROW_NS. */
#define HG_JOIN_ROW_NS 16.0		/* bin, build and count a row of either side; bench: 16 */
#define HG_MATCH_NS 10.0		/* write a pair; bench: 7 to 10 more than with --count */
#define HG_STREAM_ROW_NS 4.0	/* read an outer row, look it up among few inner ones; hand: 4 */
#define HG_HOLD_ROW_NS 6.0		/* read a row and collect it; est */
#define HG_SPILL_ROW_NS 60.0	/* write a row to disk and read it back; est */
#define HG_KEPT_ROW_NS 7.0		/* keep a row of any plan until it is joined; est */
#define HG_SHARED_ROW_NS 28.0	/* collect and bin a row for several processes; hand: 20 to 40 */
#define HG_CHUNKED_ROW_NS 280.0 /* the same if both sides go to disk; hand: 200 at least */

/* Cached HashGraphs. */
#define HG_EDGE_NS 5.0			 /* intersect an edge of one of two graphs; flat: 1.4 to 3.7 */
#define HG_VISITED_EDGE_NS 0.08	 /* visit blocks of the table and bins, for each edge; est */
#define HG_CHANGED_PAGE_NS 800.0 /* check a changed block, by cached visibility; est */
#define HG_ADDED_EDGE_NS 20.0	 /* add a delta row to a graph; flat: 16 */
#define HG_LOOKUP_NS 30.0		 /* look a row up in a graph; flat: 17 to 31 by its size */
/* An edge that a lookup finds, or in a list that is not compared in registers; hand: 10 to 30. */
#define HG_FOUND_EDGE_NS 12.0
/*
 * Look up or add a delta row if delta rows come in partitions, each of which meets the whole graph.
 * It takes twice as long; but a table that has grown is assumed to have more rows, all of them
 * delta rows; est.
 */
#define HG_APART_ROW_NS 100.0

/* Values of joined rows: fetched only, by the bytes of the column; or aggregated too. */
#define HG_ORDERED_VALUE_NS 0.5	 /* in the order of the rows; loop: 0.5 */
#define HG_NEAR_VALUE_NS 2.0	 /* by row, up to 2 MB; loop: 1.1 to 1.8 */
#define HG_FAR_VALUE_NS 6.0		 /* 4 to 16 MB; loop: 3.8 to 8 */
#define HG_REMOTE_VALUE_NS 16.0	 /* more; loop: 14 to 19 for 64 to 128 MB */
#define HG_REDUCED_VALUE_NS 10.0 /* fetch and aggregate; hand: 10 to 35 with the pair */
#define HG_STREAMED_VALUE_NS 2.5 /* the same for the match of a streamed row; hand */

/* Devices, beside what is calibrated.  A question names replicas: rough upper bounds. */
#define HG_BYTE_NS 0.1				/* write a byte or read it; hand: 0.1, small pages 0.5 */
#define HG_SEND_ROW_NS 2.0			/* collect a row and send it, rather than stream it; hand */
#define HG_JOB_MESSAGES_NS 100000.0 /* all messages of a job; hand */
#define HG_CONNECT_NS 10e6			/* workers connect for a join; hand: 8 to 15 ms a query */
#define HG_MESSAGE_NS 12000.0		/* a further message; hand */
#define HG_QUESTION_NS 100000.0		/* a question; est */
#define HG_QUESTION_EDGE_NS 0.03	/* an edge in it; est */
#define HG_PAGE_COPY_NS 1200.0		/* copy a page to a device; hand: 691 MB in 0.1 s */
#define HG_PAGE_ROW_NS 12.5			/* take a row out of a page here; hand */

/* Quals of scans, and the check of runtime filters. */
#define HG_COLUMN_QUAL_NS 1.5  /* over cached columns; est */
#define HG_FIXED_QUAL_NS 4.0   /* over columns at fixed offsets of pages; est */
#define HG_WALKED_QUAL_NS 16.0 /* over columns behind variable-length ones; est */
#define HG_ROW_QUAL_NS 50.0	   /* row by row; est */
#define HG_CHECK_NS 8.0		   /* the check; est */

/*
 * Prices of our nodes, which planner/hg_path_cost.h converts to the planner's units.  A row and
 * its keys are charged less than HG_JOIN_ROW_NS: a little less than core charges for a row of a
 * hash join (planner/hg_join_cost.c).
 */
#define HG_TUPLE_NS 28.0				 /* a row of core's scan, cpu_tuple_cost; costs: 26 to 60 */
#define HG_OPERATOR_NS (HG_TUPLE_NS / 4) /* cpu_operator_cost, a quarter of that by default */
#define HG_SCAN_UNIT_NS 2000.0			 /* a unit of a scan with pages; costs: 1,600 to 2,900 */
#define HG_SCAN_SAVED_NS 19.6			 /* of a row read by pages; hand: 9 are left */
#define HG_CACHED_SAVED_NS 2.8			 /* more of a cached row; est */
#define HG_COLUMNS_SAVED_NS 4.48		 /* more if columns are aggregated; hand: 1 is left */
#define HG_COUNTED_SAVED_NS 5.6			 /* more if rows are counted: nothing is left */
#define HG_FORM_CACHED_NS 11.2			 /* form a row of cached columns for a clause; est */
#define HG_FORM_ROW_NS 16.8				 /* form a row of a join's result; hand: 15 to 20 */
#define HG_START_NS 21000.0				 /* start the node; hand: 15,000 more than a hash join */
#define HG_SHARED_START_NS 63000.0		 /* in each of several processes; hand: 35,000 to 50,000 */
#define HG_PRICED_ROW_NS 3.5			 /* a row of either side */
#define HG_PRICED_KEY_NS 1.75			 /* a key of a row */
#define HG_PRICED_HASH_NS 7.0			 /* a key that is hashed */
#define HG_PRICED_COLUMN_NS 1.05		 /* store or gather a column; hand: 0.1 to 2 */
#define HG_THROUGH_SAVED_NS 1.4			 /* of an outer row that goes through */
#define HG_STREAM_SAVED_NS 7.7	 /* of one that is streamed and counted; hand: 1.5 to 3 left */
#define HG_HASH_HIDDEN_NS 75.0	 /* core's hash join beyond its price; hand: 50 to 100 */
#define HG_SETOP_HIDDEN_NS 56.0	 /* core's hashed SetOp beyond its price, a row; hand: 60 to 280 */
#define HG_INDEX_LOOKUP_NS 700.0 /* least of a lookup, half of its way down an index; est */
#define HG_GROUP_KEY_NS 3.5		 /* hash, find and compare a group column; est */
#define HG_AGGREGATE_NS 1.75	 /* an aggregate; est */
#define HG_COMBINE_PACKED_NS 250.0	 /* combine packed states of type internal; hand: 250 */
#define HG_COMBINE_INTERNAL_NS 700.0 /* the same in core's Finalize; hand: 300 to 1000 */
#define HG_FINAL_GROUP_NS 500.0 /* combine a partial group in core's Finalize; hand: 900, 2700 */
#define HG_COMPARE_TEXT_NS 45.0 /* compare texts in core's sort, beyond its price; hand: 32, 70 */
#define HG_SORT_CHECK_NS 5.0	/* compare a row's sort key with the last of the top; hand: 3 */
#define HG_SORT_STORE_NS 30.0	/* store a row that is sorted; est */
#define HG_SORT_COMPARE_NS 5.0	/* compare two rows that are sorted; est */
#define HG_MEMOIZE_NS 1000.0	/* look parameters up in core's Memoize, and store a row; est */
#define HG_MEMOIZED_RUN_NS 10000.0 /* least of a run whose result is stored; est */
#define HG_SORT_BY_HASH_NS 4.0	   /* sort a row for later lookups, the share of one of them; est */

/* Parts of core's prices. */
#define HG_PREFETCH_SAVED 0.15		/* of seq_page_cost; hand: 2 of 3 to 4 us */
#define HG_COLUMN_QUAL_SAVED 0.8	/* of a qual that is evaluated over columns; hand */
#define HG_COLUMN_ARGUMENT_LEFT 0.1 /* of an argument or filter that is computed so; est */
#define HG_CACHED_PAGE 0.25			/* of random_page_cost, in the kernel's cache; bench/regret */
#define HG_BUFFERED_PAGE 0.1		/* of the same, in shared buffers; hand (hg_lookup_cost.c) */
#define HG_GROUPS_PAGE 3.5			/* of seq_page_cost, to write and read rows of groups; hand */
#define HG_GROUPS_FILE 4.0			/* of random_page_cost, a file of such rows; hand */
#define HG_WORKERS_SETUP 2.0		/* of parallel_setup_cost, to start workers beyond it; hand */
#define HG_WORKER_SETUP 0.5			/* of the same, for each; hand (hg_input_cost.c) */

#endif /* HG_COST_TABLE_H */
