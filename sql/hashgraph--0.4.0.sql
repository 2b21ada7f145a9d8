/* sql/hashgraph--0.4.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION hashgraph" to load this file. \quit

-- The library that this session has must know what follows

CREATE FUNCTION hashgraph_check_library(needed text)
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_check_library';

SELECT hashgraph_check_library('0.4.0');

DROP FUNCTION hashgraph_check_library(text);

-- Joins

CREATE FUNCTION hashgraph_join(
	left_rel regclass, left_key name, right_rel regclass, right_key name,
	OUT left_ctid tid, OUT right_ctid tid)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_join_tables';

COMMENT ON FUNCTION hashgraph_join(regclass, name, regclass, name) IS
'ctids of the rows of two tables whose key columns are equal';

CREATE FUNCTION hashgraph_join(
	left_keys bigint[], right_keys bigint[],
	OUT left_ord bigint, OUT right_ord bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_join_arrays';

COMMENT ON FUNCTION hashgraph_join(bigint[], bigint[]) IS
'positions, in storage order from 1, of the elements of two arrays that are equal';

-- Statistics

CREATE FUNCTION hashgraph_build_stats(
	rel regclass, key name,
	OUT rows bigint,
	OUT null_keys bigint,
	OUT vertices bigint,
	OUT edges bigint,
	OUT load_factor double precision,
	OUT empty_vertices bigint,
	OUT longest_list bigint,
	OUT mean_list double precision,
	OUT distinct_keys bigint,
	OUT bins bigint,
	OUT bytes bigint,
	OUT scan_ms double precision,
	OUT transfer_ms double precision,
	OUT bin_ms double precision,
	OUT build_ms double precision,
	OUT algorithm text,
	OUT backend text,
	OUT device text,
	OUT fallback text)
RETURNS record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_build_stats';

COMMENT ON FUNCTION hashgraph_build_stats(regclass, name) IS
'builds the HashGraph of a key column and describes it (distinct_keys counts distinct hashes where keys travel as hashes)';

CREATE FUNCTION hashgraph_list_lengths(
	rel regclass, key name,
	OUT length bigint,
	OUT vertices bigint,
	OUT rows bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_list_lengths';

COMMENT ON FUNCTION hashgraph_list_lengths(regclass, name) IS
'how many vertices of the HashGraph of a key column have lists of each length';

CREATE FUNCTION hashgraph_table_stats(
	rel regclass,
	key name,
	kind text DEFAULT 'csr',
	content text DEFAULT NULL,
	layout text DEFAULT NULL,
	load_factor double precision DEFAULT NULL,
	max_padding double precision DEFAULT NULL,
	empty_slots integer DEFAULT NULL,
	functions integer DEFAULT NULL,
	slots_factor double precision DEFAULT NULL,
	subtables integer DEFAULT NULL,
	min_filled double precision DEFAULT NULL,
	max_filled double precision DEFAULT NULL,
	seed bigint DEFAULT NULL,
	batches integer DEFAULT NULL,
	OUT kind text,
	OUT content text,
	OUT keys bigint,
	OUT null_keys bigint,
	OUT rows bigint,
	OUT slots bigint,
	OUT filled double precision,
	OUT longest_list bigint,
	OUT longest_walk bigint,
	OUT evictions bigint,
	OUT restarts bigint,
	OUT rebuilds bigint,
	OUT bytes bigint,
	OUT peak_bytes bigint,
	OUT build_ns double precision,
	OUT insert_ns double precision,
	OUT find_ns double precision,
	OUT erase_ns double precision,
	OUT backend text,
	OUT device text,
	OUT fallback text)
RETURNS record
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_table_stats';

COMMENT ON FUNCTION hashgraph_table_stats(regclass, name, text, text, text, double precision, double precision,
	integer, integer, double precision, integer, double precision, double precision, bigint, integer) IS
'builds a table of a kind over a key column, measures it, in nanoseconds a row, and describes it';

CREATE FUNCTION hashgraph_probe_stats(
	left_rel regclass, left_key name, right_rel regclass, right_key name,
	OUT left_rows bigint,
	OUT right_rows bigint,
	OUT left_null_keys bigint,
	OUT right_null_keys bigint,
	OUT vertices bigint,
	OUT bins bigint,
	OUT load_factor double precision,
	OUT build text,
	OUT probe text,
	OUT matches bigint,
	OUT candidates bigint,
	OUT comparisons bigint,
	OUT intersections bigint,
	OUT scan_ms double precision,
	OUT transfer_ms double precision,
	OUT bin_ms double precision,
	OUT build_ms double precision,
	OUT match_ms double precision,
	OUT recheck_ms double precision,
	OUT total_ms double precision,
	OUT backend text,
	OUT device text,
	OUT fallback text)
RETURNS record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_probe_stats';

COMMENT ON FUNCTION hashgraph_probe_stats(regclass, name, regclass, name) IS
'counts the matches of two key columns and tells what it took (candidates are matches before keys that travel as hashes are rechecked)';

CREATE FUNCTION hashgraph_last_joins(
	OUT join_number integer,
	OUT node text,
	OUT join_type text,
	OUT backend text,
	OUT device text,
	OUT fallback text,
	OUT build text,
	OUT probe text,
	OUT executions bigint,
	OUT outer_rows bigint,
	OUT inner_rows bigint,
	OUT outer_null_keys bigint,
	OUT inner_null_keys bigint,
	OUT vertices bigint,
	OUT bins bigint,
	OUT matches bigint,
	OUT recheck boolean,
	OUT rows_out bigint,
	OUT comparisons bigint,
	OUT intersections bigint,
	OUT partitions bigint,
	OUT device_ranges bigint,
	OUT memory_bytes bigint,
	OUT engine_bytes bigint,
	OUT spilled_bytes bigint,
	OUT sent_rows bigint,
	OUT start_ms double precision,
	OUT scan_ms double precision,
	OUT transfer_ms double precision,
	OUT bin_ms double precision,
	OUT build_ms double precision,
	OUT match_ms double precision,
	OUT total_ms double precision)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1
AS 'MODULE_PATHNAME', 'hashgraph_last_joins_0_3';

COMMENT ON FUNCTION hashgraph_last_joins() IS
'HashGraph joins of this session''s last statement that had one, at most 1000 of them';

CREATE FUNCTION hashgraph_last_plan(
	OUT step integer,
	OUT operation text,
	OUT node text,
	OUT relations text[],
	OUT chosen boolean,
	OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10
AS 'MODULE_PATHNAME', 'hashgraph_last_plan';

COMMENT ON FUNCTION hashgraph_last_plan() IS
'joins and aggregations of this session''s last plan that has one, and why PostgreSQL''s own nodes do them';

CREATE FUNCTION hashgraph_stat(
	OUT joins bigint,
	OUT cpu_joins bigint,
	OUT cuda_joins bigint,
	OUT fallbacks bigint,
	OUT errors bigint,
	OUT outer_rows bigint,
	OUT inner_rows bigint,
	OUT matches bigint,
	OUT rows_out bigint,
	OUT spilled_joins bigint,
	OUT spilled_bytes bigint,
	OUT scan_ms double precision,
	OUT transfer_ms double precision,
	OUT bin_ms double precision,
	OUT build_ms double precision,
	OUT match_ms double precision,
	OUT total_ms double precision,
	OUT stats_reset timestamptz,
	OUT lookups bigint,
	OUT switches bigint)
RETURNS record
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hashgraph_stat_0_4';

COMMENT ON FUNCTION hashgraph_stat() IS
'counters of this database''s HashGraph joins since the last reset';

CREATE VIEW hashgraph_stat AS
	SELECT * FROM hashgraph_stat();

COMMENT ON VIEW hashgraph_stat IS
'counters of this database''s HashGraph joins since the last reset';

GRANT SELECT ON hashgraph_stat TO PUBLIC;

CREATE FUNCTION hashgraph_stat_reset()
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hashgraph_stat_reset';

COMMENT ON FUNCTION hashgraph_stat_reset() IS
'sets the counters of this database''s HashGraph joins to zero';

REVOKE ALL ON FUNCTION hashgraph_stat_reset() FROM PUBLIC;

-- Joins that run

CREATE FUNCTION hashgraph_progress(
	OUT pid integer,
	OUT leader_pid integer,
	OUT datid oid,
	OUT plan_node_id integer,
	OUT join_type text,
	OUT outer_relations oid[],
	OUT inner_relations oid[],
	OUT phase text,
	OUT backend text,
	OUT executions bigint,
	OUT outer_rows bigint,
	OUT outer_rows_expected bigint,
	OUT inner_rows bigint,
	OUT inner_rows_expected bigint,
	OUT partitions bigint,
	OUT partitions_done bigint,
	OUT matches bigint,
	OUT rows_out bigint,
	OUT memory_bytes bigint,
	OUT spilled_bytes bigint,
	OUT started timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10
AS 'MODULE_PATHNAME', 'hashgraph_progress';

COMMENT ON FUNCTION hashgraph_progress() IS
'HashGraph joins that run on the server, and how far they have come';

CREATE VIEW hashgraph_progress AS
	SELECT p.pid, p.leader_pid, p.datid, d.datname, p.plan_node_id, p.join_type,
		CASE WHEN d.datname = pg_catalog.current_database()
			THEN p.outer_relations::pg_catalog.regclass[] END AS outer_relations,
		CASE WHEN d.datname = pg_catalog.current_database()
			THEN p.inner_relations::pg_catalog.regclass[] END AS inner_relations,
		p.phase, p.backend, p.executions,
		p.outer_rows, p.outer_rows_expected, p.inner_rows, p.inner_rows_expected,
		p.partitions, p.partitions_done, p.matches, p.rows_out, p.memory_bytes, p.spilled_bytes, p.started
	FROM hashgraph_progress() p
		LEFT JOIN pg_catalog.pg_database d ON d.oid = p.datid;

COMMENT ON VIEW hashgraph_progress IS
'HashGraph joins that run on the server, and how far they have come';

GRANT SELECT ON hashgraph_progress TO PUBLIC;

-- Devices and versions

CREATE FUNCTION hashgraph_devices(
	OUT ordinal integer,
	OUT name text,
	OUT compute_capability text,
	OUT memory_total bigint,
	OUT memory_free bigint,
	OUT memory_budget bigint,
	OUT driver text,
	OUT state text,
	OUT jobs bigint,
	OUT queued bigint,
	OUT memory_held bigint,
	OUT staging bigint,
	OUT staging_used bigint,
	OUT restarts bigint,
	OUT uptime interval,
	OUT memory_reserved bigint,
	OUT kept_graphs bigint,
	OUT kept_bytes bigint,
	OUT kept_limit bigint,
	OUT kept_evicted bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1 COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_devices_0_4';

COMMENT ON FUNCTION hashgraph_devices() IS
'GPUs that HashGraph joins can run on, memory in bytes, and what the process does that uses one of them';

CREATE FUNCTION hashgraph_version(
	OUT extension text,
	OUT library text,
	OUT cuda_build text,
	OUT driver text)
RETURNS record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_version';

COMMENT ON FUNCTION hashgraph_version() IS
'versions of the extension, of its library, of the CUDA it was built with and of the driver';

-- Resident columns

CREATE FUNCTION hashgraph_resident(
	OUT database_id oid,
	OUT relation_id oid,
	OUT column_number smallint,
	OUT kind text,
	OUT key_numbers smallint[],
	OUT state text,
	OUT reason text,
	OUT blocks_total bigint,
	OUT blocks_visible bigint,
	OUT blocks_resident bigint,
	OUT blocks_stale bigint,
	OUT host_bytes bigint,
	OUT device_bytes bigint,
	OUT pinned boolean,
	OUT last_used timestamptz,
	OUT last_loaded timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'hashgraph_resident';

COMMENT ON FUNCTION hashgraph_resident() IS
'columns and HashGraphs that are resident, or are to be, of tables whose statistics the user may see';

CREATE VIEW hashgraph_resident AS
	SELECT d.datname AS database,
		CASE WHEN r.database_id = c.oid THEN r.relation_id::pg_catalog.regclass END AS relation,
		a.attname AS "column",
		r.kind,
		(SELECT pg_catalog.array_agg(k.attname ORDER BY n.place)
			FROM pg_catalog.unnest(r.key_numbers) WITH ORDINALITY AS n (number, place)
				JOIN pg_catalog.pg_attribute k ON r.database_id = c.oid
					AND k.attrelid = r.relation_id AND k.attnum = n.number) AS key,
		CASE WHEN r.device_bytes IS NOT NULL THEN 'both' ELSE 'host' END AS location,
		r.database_id, r.relation_id, r.column_number, r.state, r.reason,
		r.blocks_total, r.blocks_visible, r.blocks_resident, r.blocks_stale,
		r.host_bytes, r.device_bytes, r.pinned, r.last_used, r.last_loaded
	FROM hashgraph_resident() r
		JOIN pg_catalog.pg_database c ON c.datname = pg_catalog.current_database()
		LEFT JOIN pg_catalog.pg_database d ON d.oid = r.database_id
		LEFT JOIN pg_catalog.pg_attribute a ON r.database_id = c.oid
			AND a.attrelid = r.relation_id AND a.attnum = r.column_number;

COMMENT ON VIEW hashgraph_resident IS
'columns and HashGraphs that are resident, or are to be, of tables whose statistics the user may see';

GRANT SELECT ON hashgraph_resident TO PUBLIC;

CREATE FUNCTION hashgraph_resident_add(
	rel regclass,
	columns name[] DEFAULT NULL,
	keys name[] DEFAULT NULL,
	pinned boolean DEFAULT false,
	wait boolean DEFAULT false)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_resident_add';

COMMENT ON FUNCTION hashgraph_resident_add(regclass, name[], name[], boolean, boolean) IS
'has columns of a table, by default all that can be, taken into memory and kept there, with HashGraphs of its keys, each a column or, in an array of two dimensions, a row of several';

CREATE FUNCTION hashgraph_resident_drop(
	rel regclass,
	columns name[] DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_resident_drop';

COMMENT ON FUNCTION hashgraph_resident_drop(regclass, name[]) IS
'has columns of a table, by default all of them, not be resident any more';

CREATE FUNCTION hashgraph_resident_refresh(rel regclass)
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_resident_refresh';

COMMENT ON FUNCTION hashgraph_resident_refresh(regclass) IS
'has what is stale of a resident table, or was evicted, be taken in again now';

CREATE FUNCTION hashgraph_resident_advise(
	rel regclass,
	OUT "column" name,
	OUT type regtype,
	OUT reason text,
	OUT host_bytes bigint,
	OUT graph_bytes bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 10
AS 'MODULE_PATHNAME', 'hashgraph_resident_advise';

COMMENT ON FUNCTION hashgraph_resident_advise(regclass) IS
'memory that taking in each column of a table would need, and its HashGraph, or why it cannot be; without a column, the table''s own';

CREATE FUNCTION hashgraph_resident_check(
	rel regclass,
	OUT rows_compared bigint,
	OUT rows_different bigint)
RETURNS record
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_resident_check';

COMMENT ON FUNCTION hashgraph_resident_check(regclass) IS
'compares the rows of resident columns that a query would be served with those of the table';

CREATE FUNCTION hashgraph_stat_resident(
	OUT scans bigint,
	OUT rows_served bigint,
	OUT blocks_served bigint,
	OUT blocks_from_heap bigint,
	OUT chains_broken bigint,
	OUT blocks_readmitted bigint,
	OUT loads bigint,
	OUT evictions bigint,
	OUT graphs_made bigint,
	OUT graphs_merged bigint,
	OUT graphs_kept bigint,
	OUT graphs_missed bigint,
	OUT blocks_looked_at bigint,
	OUT looks_recalled bigint,
	OUT declines bigint,
	OUT declined_for text,
	OUT memory bigint,
	OUT memory_used bigint,
	OUT memory_pinned bigint,
	OUT stats_reset timestamptz)
RETURNS record
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'hashgraph_stat_resident';

COMMENT ON FUNCTION hashgraph_stat_resident() IS
'what the server has done with resident columns, and the memory that they have, in bytes';

CREATE VIEW hashgraph_stat_resident AS
	SELECT * FROM hashgraph_stat_resident();

COMMENT ON VIEW hashgraph_stat_resident IS
'what the server has done with resident columns, and the memory that they have, in bytes';

GRANT SELECT ON hashgraph_stat_resident TO PUBLIC;

-- Say what to run where new sessions would not load the library

CREATE FUNCTION hashgraph_check_preload()
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_check_preload';

SELECT hashgraph_check_preload();

DROP FUNCTION hashgraph_check_preload();
