-- What the extension installs: names, signatures, result columns, comments.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_ROLLBACK 1
\set ON_ERROR_STOP true
BEGIN;
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS hashgraph;
SELECT plan(82);

-- The names and types of what a function returns, in order.
CREATE FUNCTION pg_temp.result_columns(signature text) RETURNS text LANGUAGE sql AS
$$
	SELECT string_agg(proargnames[i] || ' ' || format_type(proallargtypes[i], NULL), ', ' ORDER BY i)
	FROM pg_proc, generate_subscripts(proallargtypes, 1) i
	WHERE oid = signature::regprocedure AND proargmodes[i] = 'o'
$$;

SELECT has_extension('hashgraph');
SELECT is((SELECT extversion FROM pg_extension WHERE extname = 'hashgraph'),
	(SELECT default_version FROM pg_available_extensions WHERE name = 'hashgraph'),
	'the default version is installed');
SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'hashgraph'), true,
	'the extension is relocatable');
SELECT is((SELECT count(*)::int FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
		WHERE d.deptype = 'e' AND e.extname = 'hashgraph' AND d.refclassid = 'pg_extension'::regclass
			AND d.classid IN ('pg_proc'::regclass, 'pg_class'::regclass)),
	24, 'the extension has no more functions and relations than these');

SELECT has_function('hashgraph_join', ARRAY['regclass', 'name', 'regclass', 'name']);
SELECT has_function('hashgraph_join', ARRAY['bigint[]', 'bigint[]']);
SELECT has_function('hashgraph_build_stats', ARRAY['regclass', 'name']);
SELECT has_function('hashgraph_list_lengths', ARRAY['regclass', 'name']);
SELECT has_function('hashgraph_probe_stats', ARRAY['regclass', 'name', 'regclass', 'name']);
SELECT has_function('hashgraph_table_stats', ARRAY['regclass', 'name', 'text', 'text', 'text', 'double precision',
	'double precision', 'integer', 'integer', 'double precision', 'integer', 'double precision', 'double precision',
	'bigint', 'integer']);
SELECT has_function('hashgraph_last_joins', ARRAY[]::text[]);
SELECT has_function('hashgraph_last_plan', ARRAY[]::text[]);
SELECT has_function('hashgraph_stat', ARRAY[]::text[]);
SELECT has_function('hashgraph_progress', ARRAY[]::text[]);
SELECT has_view('hashgraph_progress');
SELECT has_function('hashgraph_stat_reset', ARRAY[]::text[]);
SELECT has_function('hashgraph_devices', ARRAY[]::text[]);
SELECT has_function('hashgraph_version', ARRAY[]::text[]);
SELECT has_function('hashgraph_resident', ARRAY[]::text[]);
SELECT has_function('hashgraph_resident_add', ARRAY['regclass', 'name[]', 'name[]', 'boolean', 'boolean']);
SELECT has_function('hashgraph_resident_drop', ARRAY['regclass', 'name[]']);
SELECT has_function('hashgraph_resident_check', ARRAY['regclass']);
SELECT has_function('hashgraph_resident_refresh', ARRAY['regclass']);
SELECT has_function('hashgraph_stat_resident', ARRAY[]::text[]);
SELECT has_function('hashgraph_resident_advise', ARRAY['regclass']);
SELECT has_view('hashgraph_resident');
SELECT has_view('hashgraph_stat_resident');
SELECT col_type_is('hashgraph_stat_resident', 'evictions', 'bigint', 'counters of residents are bigints');
SELECT col_type_is('hashgraph_stat_resident', 'stats_reset', 'timestamp with time zone', 'their reset is a time');
SELECT hasnt_function('hashgraph_check_preload');
SELECT has_view('hashgraph_stat');

SELECT is((SELECT array_agg(DISTINCT p.proargnames[i] ORDER BY p.proargnames[i])
		FROM pg_proc p, generate_series(1, p.pronargs) i WHERE p.proname = 'hashgraph_join'),
	ARRAY['left_key', 'left_keys', 'left_rel', 'right_key', 'right_keys', 'right_rel'],
	'arguments of hashgraph_join can be named');
SELECT lives_ok($$
	SELECT * FROM hashgraph_join(left_rel => 'pg_class', left_key => 'oid',
								 right_rel => 'pg_attribute', right_key => 'attrelid')
$$, 'and are');

SELECT is(pg_temp.result_columns('hashgraph_join(regclass, name, regclass, name)'),
	'left_ctid tid, right_ctid tid', 'columns of hashgraph_join over tables');
SELECT is(pg_temp.result_columns('hashgraph_join(bigint[], bigint[])'),
	'left_ord bigint, right_ord bigint', 'columns of hashgraph_join over arrays');
SELECT is(pg_temp.result_columns('hashgraph_build_stats(regclass, name)'),
	'rows bigint, null_keys bigint, vertices bigint, edges bigint, load_factor double precision, '
	'empty_vertices bigint, longest_list bigint, mean_list double precision, distinct_keys bigint, '
	'bins bigint, bytes bigint, scan_ms double precision, transfer_ms double precision, '
	'bin_ms double precision, build_ms double precision, algorithm text, backend text, device text, '
	'fallback text', 'columns of hashgraph_build_stats');
SELECT is(pg_temp.result_columns('hashgraph_list_lengths(regclass, name)'),
	'length bigint, vertices bigint, rows bigint', 'columns of hashgraph_list_lengths');
SELECT is(pg_temp.result_columns('hashgraph_probe_stats(regclass, name, regclass, name)'),
	'left_rows bigint, right_rows bigint, left_null_keys bigint, right_null_keys bigint, '
	'vertices bigint, bins bigint, load_factor double precision, build text, probe text, '
	'matches bigint, candidates bigint, comparisons bigint, intersections bigint, '
	'scan_ms double precision, transfer_ms double precision, bin_ms double precision, '
	'build_ms double precision, match_ms double precision, recheck_ms double precision, '
	'total_ms double precision, backend text, device text, fallback text',
	'columns of hashgraph_probe_stats');
SELECT is(pg_temp.result_columns((SELECT oid FROM pg_proc WHERE proname = 'hashgraph_table_stats')::regprocedure::text),
	'kind text, content text, keys bigint, null_keys bigint, rows bigint, slots bigint, filled double precision, '
	'longest_list bigint, longest_walk bigint, evictions bigint, restarts bigint, rebuilds bigint, bytes bigint, '
	'peak_bytes bigint, build_ns double precision, insert_ns double precision, find_ns double precision, '
	'erase_ns double precision, backend text, device text, fallback text', 'columns of hashgraph_table_stats');
SELECT is(pg_temp.result_columns('hashgraph_last_joins()'),
	'join_number integer, node text, join_type text, backend text, device text, fallback text, '
	'build text, probe text, executions bigint, outer_rows bigint, inner_rows bigint, '
	'outer_null_keys bigint, inner_null_keys bigint, vertices bigint, bins bigint, matches bigint, '
	'recheck boolean, rows_out bigint, comparisons bigint, intersections bigint, partitions bigint, '
	'device_ranges bigint, memory_bytes bigint, engine_bytes bigint, spilled_bytes bigint, sent_rows bigint, start_ms double precision, '
	'scan_ms double precision, transfer_ms double precision, bin_ms double precision, '
	'build_ms double precision, match_ms double precision, total_ms double precision',
	'columns of hashgraph_last_joins');
SELECT is(pg_temp.result_columns('hashgraph_last_plan()'),
	'step integer, operation text, node text, relations text[], chosen boolean, reason text', 'columns of hashgraph_last_plan');
SELECT is(pg_temp.result_columns('hashgraph_progress()'),
	'pid integer, leader_pid integer, datid oid, plan_node_id integer, join_type text, outer_relations oid[], '
	'inner_relations oid[], phase text, backend text, executions bigint, outer_rows bigint, '
	'outer_rows_expected bigint, inner_rows bigint, inner_rows_expected bigint, partitions bigint, '
	'partitions_done bigint, matches bigint, rows_out bigint, memory_bytes bigint, spilled_bytes bigint, '
	'started timestamp with time zone', 'columns of hashgraph_progress');
SELECT columns_are('hashgraph_progress', ARRAY['pid', 'leader_pid', 'datid', 'datname', 'plan_node_id', 'join_type',
	'outer_relations', 'inner_relations', 'phase', 'backend', 'executions', 'outer_rows', 'outer_rows_expected',
	'inner_rows', 'inner_rows_expected', 'partitions', 'partitions_done', 'matches', 'rows_out', 'memory_bytes',
	'spilled_bytes', 'started']);
SELECT is(pg_temp.result_columns('hashgraph_devices()'),
	'ordinal integer, name text, compute_capability text, memory_total bigint, memory_free bigint, '
	'memory_budget bigint, driver text, state text, jobs bigint, queued bigint, memory_held bigint, '
	'staging bigint, staging_used bigint, restarts bigint, uptime interval, memory_reserved bigint, '
	'kept_graphs bigint, kept_bytes bigint, kept_limit bigint, kept_evicted bigint', 'columns of hashgraph_devices');
SELECT is(pg_temp.result_columns('hashgraph_version()'),
	'extension text, library text, cuda_build text, driver text', 'columns of hashgraph_version');
SELECT columns_are('hashgraph_stat', ARRAY['joins', 'cpu_joins', 'cuda_joins', 'fallbacks', 'errors',
	'outer_rows', 'inner_rows', 'matches', 'rows_out', 'spilled_joins', 'spilled_bytes', 'scan_ms',
	'transfer_ms', 'bin_ms', 'build_ms', 'match_ms', 'total_ms', 'stats_reset', 'lookups', 'switches']);
SELECT col_type_is('hashgraph_stat', 'joins', 'bigint', 'counters are bigints');
SELECT col_type_is('hashgraph_stat', 'total_ms', 'double precision', 'times are in milliseconds');
SELECT col_type_is('hashgraph_stat', 'stats_reset', 'timestamp with time zone', 'stats_reset is a time');

SELECT is(pg_temp.result_columns('hashgraph_resident()'),
	'database_id oid, relation_id oid, column_number smallint, kind text, key_numbers smallint[], state text, reason text, blocks_total bigint, '
	'blocks_visible bigint, blocks_resident bigint, blocks_stale bigint, host_bytes bigint, '
	'device_bytes bigint, pinned boolean, last_used timestamp with time zone, last_loaded timestamp with time zone', 'columns of hashgraph_resident');
SELECT is(pg_temp.result_columns('hashgraph_resident_check(regclass)'),
	'rows_compared bigint, rows_different bigint', 'columns of hashgraph_resident_check');
SELECT is(pg_temp.result_columns('hashgraph_resident_advise(regclass)'),
	'column name, type regtype, reason text, host_bytes bigint, graph_bytes bigint', 'columns of hashgraph_resident_advise');
SELECT volatility_is('hashgraph_join', ARRAY['regclass', 'name', 'regclass', 'name'], 'volatile');
SELECT is((SELECT bool_and(proisstrict) FROM pg_proc WHERE proname LIKE 'hashgraph\_%'
		AND pronargdefaults = 0), true, 'no function without optional arguments is called with a NULL');
SELECT is((SELECT bool_or(prosecdef) FROM pg_proc WHERE proname LIKE 'hashgraph\_%'), false,
	'every function runs as its caller');
SELECT is((SELECT string_agg(proname || ' ' || proparallel::text, ', ' ORDER BY proname, pronargs)
		FROM pg_proc WHERE proname LIKE 'hashgraph\_%'),
	'hashgraph_build_stats u, hashgraph_devices r, hashgraph_join u, hashgraph_join u, '
	'hashgraph_last_joins r, hashgraph_last_plan r, hashgraph_list_lengths u, hashgraph_probe_stats u, hashgraph_progress r, hashgraph_resident s, hashgraph_resident_add u, hashgraph_resident_advise s, '
	'hashgraph_resident_check u, hashgraph_resident_drop u, hashgraph_resident_refresh u, hashgraph_stat s, '
	'hashgraph_stat_reset s, hashgraph_stat_resident s, hashgraph_table_stats u, hashgraph_version r', 'where functions may run in a parallel query');
SELECT is((SELECT bool_and(obj_description(oid, 'pg_proc') IS NOT NULL) FROM pg_proc
		WHERE proname LIKE 'hashgraph\_%'), true, 'every function has a comment');
SELECT is(obj_description('hashgraph_stat'::regclass, 'pg_class') IS NOT NULL, true,
	'the view has a comment');

-- SQLSTATEs of bad input
CREATE TABLE good (key int, word text, json_key json, c_key text COLLATE "C",
				   posix_key text COLLATE "POSIX");
CREATE VIEW good_view AS TABLE good;
CREATE TABLE parted (key int) PARTITION BY RANGE (key);
SELECT throws_ok($$SELECT hashgraph_join('good_view', 'key', 'good', 'key')$$, '42809', NULL,
	'a view is a wrong object type');
SELECT throws_ok($$SELECT hashgraph_join('good', 'key', 'parted', 'key')$$, '42809', NULL,
	'a partitioned table is a wrong object type');
SELECT throws_ok($$SELECT hashgraph_build_stats('parted', 'key')$$, '42809', NULL,
	'to hashgraph_build_stats as well');
SELECT throws_ok($$SELECT hashgraph_probe_stats('good', 'key', 'good_view', 'key')$$, '42809', NULL,
	'and to hashgraph_probe_stats');
SELECT throws_ok($$SELECT hashgraph_join('nonesuch', 'key', 'good', 'key')$$, '42P01', NULL,
	'a name of no table is an undefined table');
SELECT throws_ok($$SELECT hashgraph_join(1::regclass, 'key', 'good', 'key')$$, '42P01', NULL,
	'so is an OID of none');
SELECT throws_ok($$SELECT hashgraph_join('good', 'nonesuch', 'good', 'key')$$, '42703', NULL,
	'a name of no column is an undefined column');
SELECT throws_ok($$SELECT hashgraph_join('good', 'xmin', 'good', 'key')$$, '0A000', NULL,
	'system columns are not supported');
SELECT throws_ok($$SELECT hashgraph_join('good', 'json_key', 'good', 'json_key')$$, '42883', NULL,
	'a type without equality is an undefined function');
SELECT throws_ok($$SELECT hashgraph_join('good', 'key', 'good', 'word')$$, '42804', NULL,
	'types that nothing compares are a mismatch');
SELECT throws_ok($$SELECT hashgraph_join('good', 'c_key', 'good', 'posix_key')$$, '42P22', NULL,
	'collations that conflict are indeterminate');

-- Counters, where the server loads the library; a clear error where it does not
SELECT current_setting('shared_preload_libraries') LIKE '%hashgraph%' AS counts \gset
SELECT CASE WHEN :'counts' THEN lives_ok('SELECT * FROM hashgraph_stat', 'the view can be read')
	ELSE throws_ok('SELECT * FROM hashgraph_stat', '55000',
		'hashgraph counts joins only if loaded via "shared_preload_libraries"',
		'the view says what is missing') END;
SELECT CASE WHEN :'counts' THEN lives_ok('SELECT hashgraph_stat_reset()', 'counters can be reset')
	ELSE throws_ok('SELECT hashgraph_stat_reset()', '55000', NULL,
		'resetting says what is missing') END;
SELECT CASE WHEN :'counts' THEN lives_ok('SELECT * FROM hashgraph_progress', 'joins that run can be seen')
	ELSE throws_ok('SELECT * FROM hashgraph_progress', '55000', NULL,
		'the view of joins that run says what is missing') END;
SET hashgraph.enabled = off;
SELECT count(*) FROM hashgraph_join(ARRAY[1, 2, NULL], ARRAY[2, 2, 3, 4]) \gset
\if :counts
SELECT results_eq('SELECT joins, outer_rows, inner_rows, matches, rows_out FROM hashgraph_stat',
	'VALUES (1::bigint, 3::bigint, 4::bigint, 2::bigint, 2::bigint)', 'a join is counted');
SELECT is((SELECT cpu_joins + cuda_joins FROM hashgraph_stat), 1::bigint, 'where it ran, too');
SELECT cmp_ok((SELECT stats_reset FROM hashgraph_stat), '<=', clock_timestamp(),
	'the time of the reset is known');
SELECT is((SELECT count(*) FROM hashgraph_join(ARRAY[1], ARRAY[1])) + (SELECT joins FROM hashgraph_stat),
	3::bigint, 'a join is counted when it ends');
SELECT hashgraph_stat_reset() \gset
SELECT results_eq('SELECT joins, rows_out, total_ms FROM hashgraph_stat',
	'VALUES (0::bigint, 0::bigint, 0::double precision)', 'a reset sets counters to zero');
\else
SELECT skip('the server does not load the library', 5);
\endif
SELECT is((SELECT sum(rows_out) FROM hashgraph_last_joins()), CASE WHEN :'counts' THEN 1 ELSE 2 END::numeric,
	'the session knows its last joins either way');

-- The extension moves with its schema
CREATE SCHEMA elsewhere;
SELECT lives_ok('ALTER EXTENSION hashgraph SET SCHEMA elsewhere', 'the extension can be moved');
SELECT is((SELECT count(*) FROM elsewhere.hashgraph_join(ARRAY[1], ARRAY[1])), 1::bigint,
	'and works where it is');
SELECT lives_ok('DROP EXTENSION hashgraph', 'the extension can be dropped');
SELECT is((SELECT count(*)::int FROM pg_proc WHERE proname LIKE 'hashgraph\_%'), 0, 'nothing is left');

SELECT * FROM finish();
ROLLBACK;
