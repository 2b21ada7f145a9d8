/* sql/hashgraph--0.3.0--0.4.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION hashgraph UPDATE TO '0.4.0'" to load this file. \quit

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
	OUT memory_reserved bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1 COST 1000
AS 'MODULE_PATHNAME', 'hashgraph_devices_0_4';

COMMENT ON FUNCTION hashgraph_devices() IS
'GPUs that HashGraph joins can run on, memory in bytes, and what the process does that uses one of them';
