/* sql/hashgraph--0.3.0--0.4.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION hashgraph UPDATE TO '0.4.0'" to load this file. \quit

-- The library that this session has must know what follows

CREATE FUNCTION hashgraph_check_library(needed text)
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'hashgraph_check_library';

SELECT hashgraph_check_library('0.4.0');

DROP FUNCTION hashgraph_check_library(text);

-- a new column: memory_reserved
DROP FUNCTION hashgraph_devices();

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

-- new columns: lookups and switches.  Privileges stay as they are, and are not those of a new
-- installation, so that pg_dump writes them.  The new function gets its name last: if something of a
-- user's depends on the old one, the error of DROP FUNCTION tells of hashgraph_stat().
CREATE FUNCTION hashgraph_stat_0_4(
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

COMMENT ON FUNCTION hashgraph_stat_0_4() IS
'counters of this database''s HashGraph joins since the last reset';

CREATE OR REPLACE VIEW hashgraph_stat AS
	SELECT * FROM hashgraph_stat_0_4() hashgraph_stat;

DO $$
DECLARE
	acl aclitem[] := proacl FROM pg_catalog.pg_proc WHERE oid OPERATOR(pg_catalog.=) 'hashgraph_stat()'::pg_catalog.regprocedure;
	item record;
BEGIN
	IF acl IS NOT NULL THEN
		REVOKE ALL ON FUNCTION hashgraph_stat_0_4() FROM PUBLIC;
		FOR item IN SELECT a.grantee, a.is_grantable FROM pg_catalog.aclexplode(acl) a LOOP
			EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION hashgraph_stat_0_4() TO %s%s',
				CASE WHEN item.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC'
				ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(item.grantee)) END,
				CASE WHEN item.is_grantable THEN ' WITH GRANT OPTION' END);
		END LOOP;
		DELETE FROM pg_catalog.pg_init_privs
		WHERE classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
			AND objoid OPERATOR(pg_catalog.=) 'hashgraph_stat_0_4()'::pg_catalog.regprocedure;
	END IF;
END
$$;

DROP FUNCTION hashgraph_stat();

ALTER FUNCTION hashgraph_stat_0_4() RENAME TO hashgraph_stat;

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

-- Why joins are not ours

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
