/* sql/hashgraph--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION hashgraph UPDATE TO '0.2.0'" to load this file. \quit

-- a new column: device_ranges
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
	OUT start_ms double precision,
	OUT scan_ms double precision,
	OUT transfer_ms double precision,
	OUT bin_ms double precision,
	OUT build_ms double precision,
	OUT match_ms double precision,
	OUT total_ms double precision)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1
AS 'MODULE_PATHNAME', 'hashgraph_last_joins_0_2';

COMMENT ON FUNCTION hashgraph_last_joins() IS
'HashGraph joins of this session''s last statement that had one, at most 1000 of them';
