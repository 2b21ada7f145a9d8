-- hashgraph_table_stats(): every kind of table over key columns.  Rows are compared with
-- PostgreSQL's own counts; times are looked at for being there alone.
SET client_min_messages = warning;
SET maintenance_work_mem = '256MB';
CREATE SCHEMA table_stats;
SET search_path = table_stats, public;

CREATE TABLE keys AS
	SELECT g AS int4_key, g * 5000000000 AS int8_key, 'key ' || g AS text_key,
		nullif(g % 100, 0) AS multi_key, NULL::int AS null_key
	FROM generate_series(-9999, 10000) g;
-- words that mark slots, zero, and the ends of the range, twice each
CREATE TABLE odd AS
	SELECT unnest(ARRAY[0, -1, -2, -2147483648, 2147483647, 0, -1, -2, -2147483648, 2147483647, NULL]) AS key;
CREATE TABLE empty (key bigint);
CREATE TABLE same AS SELECT 7::bigint AS key FROM generate_series(1, 300) g;

-- what each kind can hold
CREATE VIEW possible AS
	SELECT kind, content
	FROM unnest(ARRAY['csr', 'ellpack', 'sliced_ellpack', 'dynamic', 'cuckoo', 'dycuckoo'])
			WITH ORDINALITY AS k (kind, k),
		unnest(ARRAY['set', 'map', 'multimap', 'numbering']) WITH ORDINALITY AS c (content, c)
	WHERE (content <> 'numbering' OR kind = 'cuckoo') AND (content <> 'multimap' OR kind <> 'dycuckoo')
	ORDER BY k, c;

-- A table of each kind and content over a column, with how many rows it should have, and what
-- is true of each.
CREATE FUNCTION check_all(rel regclass, key name,
	OUT tables bigint, OUT wrong text, OUT shapes boolean, OUT memory boolean, OUT times boolean)
LANGUAGE plpgsql AS
$$
DECLARE
	present bigint;
	missing bigint;
	different bigint;
BEGIN
	EXECUTE format('SELECT count(%1$I), count(*) - count(%1$I), count(DISTINCT %1$I) FROM %2$s', key, rel)
	INTO present, missing, different;
	SELECT count(*),
		string_agg(format('%s %s: %s of %s rows', t.kind, t.content, t.rows, wanted), ', ')
			FILTER (WHERE t.rows <> wanted OR t.keys <> present OR t.null_keys <> missing
				OR t.kind <> p.kind OR t.content <> p.content
					OR current_setting('hashgraph.backend') NOT IN (t.backend, 'auto')),
		bool_and(slots >= t.rows AND filled IS NOT DISTINCT FROM t.rows / nullif(slots, 0)::float8
			AND (longest_list IS NULL) = (t.kind = 'cuckoo' AND t.content <> 'multimap')
			AND coalesce(longest_list, 1) <= slots
			AND (longest_walk IS NOT NULL) = (t.kind = 'dynamic')
			AND (evictions IS NOT NULL) = (t.kind IN ('cuckoo', 'dycuckoo'))
			AND (restarts IS NOT NULL) = (t.kind IN ('cuckoo', 'dycuckoo'))
			AND (rebuilds IS NULL) = (t.kind = 'dycuckoo')),
		bool_and(bytes >= t.rows * 4 AND peak_bytes >= bytes),
		bool_and((build_ns > 0) IS NOT DISTINCT FROM (CASE WHEN present > 0 THEN true END)
			AND (find_ns > 0) IS NOT DISTINCT FROM (CASE WHEN present > 0 THEN true END)
			AND (insert_ns > 0) IS NOT DISTINCT FROM (CASE WHEN present > 0 AND t.content <> 'numbering' THEN true END)
			AND (erase_ns > 0) IS NOT DISTINCT FROM (CASE WHEN present > 0 AND t.content <> 'numbering' THEN true END))
	INTO tables, wrong, shapes, memory, times
	FROM possible p,
		hashgraph_table_stats(rel, key, p.kind, p.content, max_padding => 100000, batches => 3) t,
		LATERAL (SELECT CASE p.content WHEN 'multimap' THEN present ELSE different END AS wanted) w;
END
$$;

SELECT rel, key, c.*
FROM (VALUES ('keys', 'int4_key'), ('keys', 'int8_key'), ('keys', 'text_key'), ('keys', 'multi_key'),
		('keys', 'null_key'), ('odd', 'key'), ('empty', 'key'), ('same', 'key')) AS t (rel, key),
	check_all(rel::regclass, key::name) c;

-- What does not depend on where the keys come to stand
SELECT kind, content, keys, null_keys, rows, slots, filled, longest_list, longest_walk, evictions, restarts, rebuilds
FROM hashgraph_table_stats('same', 'key');
SELECT kind, content, keys, rows, longest_list, rebuilds
FROM hashgraph_table_stats('same', 'key', 'ellpack', batches => 4, max_padding => 1000);
SELECT kind, content, keys, rows, longest_list, evictions, restarts
FROM hashgraph_table_stats('same', 'key', 'cuckoo', batches => 0);
SELECT kind, content, keys, rows FROM hashgraph_table_stats('same', 'key', 'cuckoo', 'numbering');
SELECT kind, content, keys, rows, longest_list FROM hashgraph_table_stats('same', 'key', 'dycuckoo');
SELECT kind, content, rows FROM hashgraph_table_stats('same', 'key', 'CSR', 'Set');
-- by default a table holds every row that it can
SELECT t.kind, t.content, rows
FROM (SELECT DISTINCT kind FROM possible) p, hashgraph_table_stats('keys', 'multi_key', p.kind, max_padding => 1000) t
ORDER BY p.kind;

--
-- Parameters
--
-- changes in place rebuild nothing here, those that build a table beside do it for each batch
SELECT t.kind, rebuilds FROM unnest(ARRAY['csr', 'sliced_ellpack', 'dynamic']) k,
	hashgraph_table_stats('keys', 'int4_key', k, 'map', batches => 7, max_padding => 100) t;
-- without changes there are no times of them
SELECT rebuilds, insert_ns, erase_ns, build_ns > 0 AS build, find_ns > 0 AS find
FROM hashgraph_table_stats('keys', 'int4_key', batches => 0);
-- more batches than rows
SELECT rows, rebuilds FROM hashgraph_table_stats('odd', 'key', batches => 100);
-- longer lists, more empty slots
SELECT a.longest_list < b.longest_list AS longer, a.bytes > b.bytes AS smaller
FROM hashgraph_table_stats('keys', 'int4_key', load_factor => 0.25) a,
	hashgraph_table_stats('keys', 'int4_key', load_factor => 16) b;
SELECT b.slots - a.slots = 3 * 16384 AS empty
FROM hashgraph_table_stats('keys', 'int4_key', 'dynamic', empty_slots => 1, batches => 0) a,
	hashgraph_table_stats('keys', 'int4_key', 'dynamic', empty_slots => 4, batches => 0) b;
-- side by side or apart, keys and rows stand in the same lists
SELECT a.slots = b.slots AS slots, a.longest_list = b.longest_list AS lists
FROM hashgraph_table_stats('keys', 'int8_key', layout => 'aos') a,
	hashgraph_table_stats('keys', 'int8_key', layout => 'soa') b;
-- cuckoo: functions, slots, other random numbers
SELECT functions, round((slots / 20000.0)::numeric, 1) AS factor
FROM (VALUES (2, NULL), (3, NULL), (4, NULL), (5, NULL), (2, 4.0), (4, 16.0)) AS v (functions, factor),
	hashgraph_table_stats('keys', 'int4_key', 'cuckoo', 'map', functions => v.functions, slots_factor => v.factor);
SELECT count(DISTINCT evictions) > 1 AS seeds
FROM generate_series(1, 5) s, hashgraph_table_stats('keys', 'int4_key', 'cuckoo', 'map', seed => s);
-- dycuckoo: what it is filled stays within the limits
SELECT subtables, filled BETWEEN low AND high AS held
FROM (VALUES (2, 0.3, 0.6), (3, 0.4, 0.9), (8, 0.5, 0.95)) AS v (subtables, low, high),
	hashgraph_table_stats('keys', 'int4_key', 'dycuckoo', subtables => v.subtables, min_filled => v.low, max_filled => v.high);
-- one that the kind does not have is not looked at
SELECT kind, rows FROM hashgraph_table_stats('keys', 'int4_key', functions => 77, subtables => 99);

--
-- Errors
--
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'robin_hood');
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'csr', 'bag');
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', layout => 'rows');
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'csr', 'numbering');
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'dycuckoo', 'multimap');
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', load_factor => 0);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', load_factor => 'NaN');
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', load_factor => 100);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'ellpack', max_padding => 0.5);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'dynamic', empty_slots => -1);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'cuckoo', functions => 6);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'cuckoo', slots_factor => 1.01);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'dycuckoo', subtables => 1);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'dycuckoo', min_filled => 0.8);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', 'dycuckoo', max_filled => 0.99);
SELECT * FROM hashgraph_table_stats('keys', 'int4_key', batches => -1);
SELECT * FROM hashgraph_table_stats('keys', 'nonesuch');
SELECT * FROM hashgraph_table_stats('possible', 'kind');
-- lists that can't be padded
SELECT * FROM hashgraph_table_stats('keys', 'multi_key', 'ellpack');
SELECT * FROM hashgraph_table_stats('keys', 'multi_key', 'sliced_ellpack', max_padding => 2);
-- a NULL in place of what is to be read
SELECT hashgraph_table_stats(NULL, 'key') IS NULL AS nothing, hashgraph_table_stats('keys', NULL) IS NULL AS nothing;

-- Memory of this process: a table may fit, and the new one that a change builds beside not
SET hashgraph.backend = cpu;
SET work_mem = '64kB';
SET maintenance_work_mem = '1MB';
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key', 'ellpack', batches => 0);
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key', 'sliced_ellpack', batches => 0);
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key', 'sliced_ellpack');
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key', 'dynamic');
\set VERBOSITY sqlstate
CREATE TABLE many AS SELECT g AS key FROM generate_series(1, 100000) g;
SELECT rows FROM hashgraph_table_stats('many', 'key', 'cuckoo', 'set');
SET maintenance_work_mem = '256MB';
RESET hashgraph.backend;
SELECT rows FROM hashgraph_table_stats('many', 'key', 'cuckoo', 'set');

--
-- The caller's privileges and row security
--
CREATE ROLE regress_hashgraph_tables;
GRANT USAGE ON SCHEMA table_stats TO regress_hashgraph_tables;
SET ROLE regress_hashgraph_tables;
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key');
RESET ROLE;
GRANT SELECT (int4_key, ctid) ON keys TO regress_hashgraph_tables;
SET ROLE regress_hashgraph_tables;
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key');
SELECT rows FROM hashgraph_table_stats('keys', 'int8_key');
RESET ROLE;
GRANT SELECT ON keys TO regress_hashgraph_tables;
ALTER TABLE keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY high ON keys USING (int4_key > 9990);
SET ROLE regress_hashgraph_tables;
SELECT keys, rows FROM hashgraph_table_stats('keys', 'int4_key', 'cuckoo');
SET row_security = off;
SELECT rows FROM hashgraph_table_stats('keys', 'int4_key');
RESET row_security;
RESET ROLE;
SELECT keys, rows FROM hashgraph_table_stats('keys', 'int4_key', 'cuckoo');

-- What this transaction sees
BEGIN;
DELETE FROM keys WHERE int4_key < 0;
SELECT keys FROM hashgraph_table_stats('keys', 'int4_key');
ROLLBACK;

-- Cancelled while the table is changed: ten thousand times a new one
SET statement_timeout = 300;
SELECT rows FROM hashgraph_table_stats('many', 'key', 'csr', batches => 10000);
RESET statement_timeout;
SELECT rows FROM hashgraph_table_stats('many', 'key', 'csr', 'set', batches => 1);

DROP OWNED BY regress_hashgraph_tables;
DROP ROLE regress_hashgraph_tables;
DROP SCHEMA table_stats CASCADE;
