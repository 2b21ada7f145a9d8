/* sql/hashgraph--0.2.0--0.3.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION hashgraph UPDATE TO '0.3.0'" to load this file. \quit

-- new columns: jobs and what follows
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
	OUT uptime interval)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1 COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_devices_0_3';

COMMENT ON FUNCTION hashgraph_devices() IS
'GPUs that HashGraph joins can run on, memory in bytes, and what the process does that uses one of them';

-- a new column: sent_rows
DROP FUNCTION hashgraph_last_joins();

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
