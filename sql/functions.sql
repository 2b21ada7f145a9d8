-- SQL functions: joins and statistics.  Every join is compared with PostgreSQL's own.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA functions;
SET search_path = functions, public;

-- Compare hashgraph_join() over tables with the join that the planner makes of "=":
-- the number of matches, those that are missing and those that are too many.
CREATE FUNCTION compare(left_rel regclass, left_key name, right_rel regclass, right_key name,
						OUT matches bigint, OUT missing bigint, OUT extra bigint)
LANGUAGE plpgsql SET hashgraph.enabled = off AS
$$
BEGIN
	EXECUTE format(
		'WITH ours AS MATERIALIZED (
			SELECT left_ctid, right_ctid FROM hashgraph_join($1, $2, $3, $4)),
		theirs AS MATERIALIZED (
			SELECT l.ctid AS left_ctid, r.ctid AS right_ctid FROM %s l JOIN %s r ON l.%I = r.%I)
		SELECT (SELECT count(*) FROM ours),
			(SELECT count(*) FROM (TABLE theirs EXCEPT ALL TABLE ours) m),
			(SELECT count(*) FROM (TABLE ours EXCEPT ALL TABLE theirs) e)',
		left_rel, right_rel, left_key, right_key)
	INTO matches, missing, extra
	USING left_rel, left_key, right_rel, right_key;
END
$$;

-- The same for arrays.
CREATE FUNCTION compare(left_keys bigint[], right_keys bigint[],
						OUT matches bigint, OUT missing bigint, OUT extra bigint)
LANGUAGE sql SET hashgraph.enabled = off AS
$$
	WITH ours AS MATERIALIZED (
		SELECT left_ord, right_ord FROM hashgraph_join(left_keys, right_keys)),
	theirs AS MATERIALIZED (
		SELECT l.ord, r.ord FROM unnest(left_keys) WITH ORDINALITY AS l (key, ord)
			JOIN unnest(right_keys) WITH ORDINALITY AS r (key, ord) USING (key))
	SELECT (SELECT count(*) FROM ours),
		(SELECT count(*) FROM (TABLE theirs EXCEPT ALL TABLE ours) m),
		(SELECT count(*) FROM (TABLE ours EXCEPT ALL TABLE theirs) e)
$$;

--
-- Arrays
--
SELECT * FROM hashgraph_join(ARRAY[10, 20, NULL, 30, 30], ARRAY[30, NULL, 30, 20, 70])
ORDER BY 1, 2;
SELECT * FROM hashgraph_join(ARRAY[]::bigint[], ARRAY[1, 2]);
SELECT * FROM hashgraph_join(ARRAY[1, 2], ARRAY[]::bigint[]);
SELECT * FROM hashgraph_join(ARRAY[NULL, NULL]::bigint[], ARRAY[NULL]::bigint[]);
SELECT * FROM hashgraph_join(NULL, ARRAY[1]);
-- positions follow the order of storage, whatever the dimensions and bounds
SELECT * FROM hashgraph_join('{{1,2},{3,4}}', '[5:7]={4,NULL,2}') ORDER BY 1, 2;
-- the ends of the range, zero and a sign
SELECT * FROM hashgraph_join(
	ARRAY[-9223372036854775808, -1, 0, 9223372036854775807],
	ARRAY[9223372036854775807, 0, 4294967295, -9223372036854775808]) ORDER BY 1, 2;
-- many, with duplicates on both sides and NULLs on one
SELECT * FROM compare(
	ARRAY(SELECT (g * 7919) % 5003 FROM generate_series(1, 20000) g),
	ARRAY(SELECT nullif((g * 104729) % 7001, 13) FROM generate_series(1, 20000) g));
-- in the target list, and with arguments of a row of another table
SELECT a, hashgraph_join(ARRAY[a, a + 1], ARRAY[2, 3]) FROM generate_series(1, 3) a ORDER BY 1, 2;
SELECT a, j.* FROM generate_series(1, 3) a, hashgraph_join(ARRAY[a], ARRAY[1, 2, a]) j
ORDER BY 1, 2, 3;

--
-- Tables: types of keys
--
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE l (
	int2_key int2, int4_key int4, int8_key int8, oid_key oid, bool_key bool, char_key "char",
	date_key date, time_key time, timestamp_key timestamp, timestamptz_key timestamptz,
	float4_key float4, float8_key float8, numeric_key numeric, text_key text,
	varchar_key varchar(20), bpchar_key char(8), name_key name, bytea_key bytea, uuid_key uuid,
	interval_key interval, timetz_key timetz, inet_key inet, macaddr_key macaddr,
	jsonb_key jsonb, array_key int[], texts_key text[], range_key int4range, enum_key mood,
	pair_key pair, domain_key positive);
CREATE TABLE r (LIKE l);
-- Equal values that differ in their bytes are on purpose: scale of numerics, zeros,
-- units of intervals, padding, time zones.
CREATE FUNCTION fill(table_name regclass, rows int, step int, variant int) RETURNS void
LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE format($f$
		INSERT INTO %1$s
		SELECT k, k, k, k, k %% 2 = 0, chr(65 + k %% 26)::"char",
			date '2000-01-01' + k, time '00:00' + k * interval '1 second',
			timestamp '2000-01-01' + k * interval '1 hour',
			timestamptz '2000-01-01 00:00+00' + k * interval '1 hour',
			CASE k %% 50 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' ELSE k::float4 END,
			CASE k %% 50 WHEN 0 THEN 'NaN' WHEN 1 THEN '0' WHEN 2 THEN '-0' ELSE k::float8 END,
			CASE %4$s WHEN 0 THEN k::numeric ELSE k + 0.000 END,
			repeat(k::text, 1 + k %% 5), repeat(k::text, 1 + k %% 3), k::text, repeat(k::text, 1 + k %% 2),
			decode(md5(k::text), 'hex'), md5(k::text)::uuid,
			CASE %4$s WHEN 0 THEN k * interval '1 day' ELSE k * interval '24 hours' END,
			timetz '00:00+00' + k * interval '1 minute',
			'10.0.0.0'::inet + k, ('08:00:2b:01:02:' || lpad(to_hex(k %% 256), 2, '0'))::macaddr,
			jsonb_build_object('k', k, 'v', CASE %4$s WHEN 0 THEN 1.0 ELSE 1.00 END),
			ARRAY[k, k %% 3], ARRAY['a', k::text], int4range(k, k + 3),
			(enum_range(NULL::mood))[1 + k %% 3], ROW(k, 'b' || k)::pair, k + 1
		FROM (SELECT (g * %3$s) %% 211 AS k FROM generate_series(1, %2$s) g) s
		UNION ALL SELECT (json_populate_record(NULL::%1$s, '{}')).* FROM generate_series(1, 3)
	$f$, table_name, rows, step, variant);
END
$$;
SELECT fill('l', 300, 17, 0), fill('r', 200, 29, 1);

SELECT column_name, c.*
FROM information_schema.columns, compare('l', column_name::name, 'r', column_name::name) c
WHERE table_schema = 'functions' AND table_name = 'l'
ORDER BY ordinal_position;

-- operators across types
SELECT left_key, right_key, c.*
FROM (VALUES ('int2_key', 'int4_key'), ('int2_key', 'int8_key'), ('int4_key', 'int2_key'),
		('int4_key', 'int8_key'), ('int8_key', 'int2_key'), ('int8_key', 'int4_key'),
		('float4_key', 'float8_key'), ('float8_key', 'float4_key'), ('text_key', 'varchar_key'),
		('varchar_key', 'text_key'), ('name_key', 'text_key'), ('domain_key', 'int4_key'),
		('int8_key', 'domain_key')) AS t (left_key, right_key),
	compare('l', left_key::name, 'r', right_key::name) c;

-- a table with itself
SELECT * FROM compare('l', 'int4_key', 'l', 'int4_key');
SELECT * FROM compare('l', 'text_key', 'l', 'text_key');

-- values that are compressed or out of line
CREATE TABLE toasted (key text);
ALTER TABLE toasted ALTER key SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT repeat(md5(g::text), 200) FROM generate_series(1, 30) g;
CREATE TABLE compressed AS SELECT repeat(md5(g::text), 200) AS key FROM generate_series(20, 50) g;
SELECT * FROM compare('toasted', 'key', 'compressed', 'key');

--
-- Tables: sizes, algorithms
--
CREATE TABLE big_l AS
	SELECT nullif((g::bigint * 7919) % 30011, 4)::int AS key, (g % 40000)::text AS word
	FROM generate_series(1, 60000) g;
CREATE TABLE big_r AS
	SELECT (g::bigint * 104729 % 60013)::bigint AS key, (g * 3 % 70000)::text AS word
	FROM generate_series(1, 50000) g;
CREATE TABLE empty (key int);
CREATE TABLE skew AS SELECT CASE WHEN g % 3 = 0 THEN 7 ELSE g END AS key FROM generate_series(1, 1500) g;

CREATE FUNCTION compare_all(OUT build text, OUT probe text, OUT bins int, OUT pair text,
							OUT matches bigint, OUT missing bigint, OUT extra bigint)
RETURNS SETOF record LANGUAGE plpgsql AS
$$
BEGIN
	FOR build, probe, bins IN
		SELECT * FROM (VALUES ('auto', 'auto', 0), ('v1', 'standard', 0), ('v1', 'intersect', 0),
							  ('v2', 'standard', 0), ('v2', 'intersect', 0),
							  ('v2', 'standard', 64), ('v2', 'intersect', 64)) AS v
	LOOP
		PERFORM set_config('hashgraph.build', build, true), set_config('hashgraph.probe', probe, true),
			set_config('hashgraph.bins', bins::text, true);
		pair := 'integers';
		SELECT c.* INTO matches, missing, extra FROM compare('big_l', 'key', 'big_r', 'key') c;
		RETURN NEXT;
		pair := 'texts';
		SELECT c.* INTO matches, missing, extra FROM compare('big_l', 'word', 'big_r', 'word') c;
		RETURN NEXT;
		pair := 'skew';
		SELECT c.* INTO matches, missing, extra FROM compare('skew', 'key', 'skew', 'key') c;
		RETURN NEXT;
	END LOOP;
END
$$;
BEGIN;
SELECT * FROM compare_all();
ROLLBACK;
BEGIN;
SET LOCAL hashgraph.load_factor = 16;
SELECT * FROM compare('big_l', 'key', 'big_r', 'key');
SET LOCAL hashgraph.load_factor = 0.25;
SELECT * FROM compare('big_l', 'key', 'big_r', 'key');
ROLLBACK;
SELECT * FROM compare('empty', 'key', 'big_r', 'key');
SELECT * FROM compare('big_l', 'key', 'empty', 'key');
SELECT * FROM compare('empty', 'key', 'empty', 'key');
-- a result that does not fit work_mem, and sides that do not
BEGIN;
SET LOCAL work_mem = '64kB';
SET LOCAL hash_mem_multiplier = 1;
SELECT * FROM compare('skew', 'key', 'skew', 'key');
SELECT * FROM compare('big_l', 'key', 'big_r', 'key');
SELECT node, partitions > 1 AS parted, spilled_bytes > 0 AS spilled, matches, recheck FROM hashgraph_last_joins();
SELECT * FROM compare('big_l', 'word', 'big_r', 'word');
SELECT node, partitions > 1 AS parted, spilled_bytes > 0 AS spilled, matches >= rows_out AS rechecked, recheck
FROM hashgraph_last_joins();
-- arrays go in parts; a frequent element in pieces of its part
SELECT * FROM compare(
	ARRAY(SELECT (g * 7919) % 5003 FROM generate_series(1, 20000) g),
	ARRAY(SELECT nullif((g * 104729) % 7001, 13) FROM generate_series(1, 20000) g));
SELECT node, partitions > 1 AS parted, executions >= partitions AS pieces, outer_rows, inner_rows,
	outer_null_keys, inner_null_keys, matches, memory_bytes <= 64 * 1024 AS bounded
FROM hashgraph_last_joins();
SELECT * FROM compare(
	ARRAY(SELECT CASE WHEN g % 50 = 0 THEN g ELSE 7 END FROM generate_series(1, 20000) g),
	ARRAY(SELECT CASE WHEN g % 50 = 3 THEN 7 WHEN g % 9 > 0 THEN g END FROM generate_series(1, 2000) g));
SELECT partitions > 1 AS parted, executions > partitions AS pieces, memory_bytes <= 64 * 1024 AS bounded
FROM hashgraph_last_joins();
SELECT * FROM compare(ARRAY[]::bigint[], ARRAY(SELECT g FROM generate_series(1, 20000) g));
SELECT * FROM compare(ARRAY(SELECT g FROM generate_series(1, 20000) g), ARRAY[NULL, 7]);
ROLLBACK;

--
-- Tables: kinds, names, visibility
--
CREATE MATERIALIZED VIEW matview AS SELECT key FROM big_r WHERE key < 1000;
SELECT * FROM compare('matview', 'key', 'big_l', 'key');
CREATE TEMPORARY TABLE temp AS SELECT g AS key FROM generate_series(1, 100) g;
SELECT * FROM compare('temp', 'key', 'big_l', 'key');
CREATE TABLE parted (key int, part int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT g, 1 FROM generate_series(1, 100) g;
SELECT * FROM compare('part_1', 'key', 'big_l', 'key');
CREATE SCHEMA "Odd ""schema";
CREATE TABLE "Odd ""schema"."Odd ""table; --" (dropped int, "Odd ""key" int);
ALTER TABLE "Odd ""schema"."Odd ""table; --" DROP dropped;
INSERT INTO "Odd ""schema"."Odd ""table; --" SELECT g FROM generate_series(1, 50) g;
SELECT * FROM compare('"Odd ""schema"."Odd ""table; --"', 'Odd "key', 'big_l', 'key');

-- the operator is the type's own, whatever stands before it in the search path
CREATE SCHEMA trap;
CREATE FUNCTION trap.always(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR trap.= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap.always, HASHES, MERGES);
CREATE TABLE trap.skew (key int);
SET search_path = trap, functions, public, pg_catalog;
SELECT count(*) FROM hashgraph_join('temp', 'key', 'functions.skew', 'key');
SET search_path = functions, public;
SELECT * FROM compare('temp', 'key', 'skew', 'key');

-- nor does a search path that has nothing matter
SET search_path = '';
SELECT count(*) FROM public.hashgraph_join('functions.l', 'domain_key', 'functions.r', 'int8_key');
SELECT count(*) FROM public.hashgraph_join('functions.l', 'varchar_key', 'functions.r', 'name_key');
SET search_path = functions, public;
SELECT count(*) FROM l JOIN r ON l.domain_key = r.int8_key;
SELECT count(*) FROM l JOIN r ON l.varchar_key = r.name_key;

-- the node is what the function is, whatever the settings are; they are left as they were,
-- also for what runs while rows are read
CREATE TABLE watched (key int);
INSERT INTO watched SELECT g FROM generate_series(1, 10) g;
CREATE FUNCTION settings_seen(int) RETURNS bool LANGUAGE plpgsql AS
$$
BEGIN
	IF $1 = 5 THEN
		RAISE WARNING 'enabled %, force %', current_setting('hashgraph.enabled'), current_setting('hashgraph.force');
	END IF;
	RETURN $1 < 9;
END
$$;
ALTER TABLE watched ENABLE ROW LEVEL SECURITY;
CREATE POLICY watched_policy ON watched USING (settings_seen(key));
CREATE ROLE regress_hashgraph_watched;
GRANT USAGE ON SCHEMA functions TO regress_hashgraph_watched;
GRANT SELECT ON watched, skew TO regress_hashgraph_watched;
BEGIN;
SET LOCAL ROLE regress_hashgraph_watched;
SET LOCAL hashgraph.enabled = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL hashgraph.min_rows = 1000000;
SELECT count(*) FROM hashgraph_join('watched', 'key', 'skew', 'key');
SELECT node, rows_out FROM hashgraph_last_joins();
SELECT current_setting('hashgraph.enabled') AS enabled, current_setting('hashgraph.force') AS force;
ROLLBACK;
DROP TABLE watched;
DROP FUNCTION settings_seen;
REVOKE ALL ON skew FROM regress_hashgraph_watched;
REVOKE ALL ON SCHEMA functions FROM regress_hashgraph_watched;
DROP ROLE regress_hashgraph_watched;

-- rows of this transaction, deleted and updated ones, and a savepoint rolled back
BEGIN;
INSERT INTO temp VALUES (1), (2);
DELETE FROM temp WHERE key BETWEEN 10 AND 20;
UPDATE temp SET key = key + 1000 WHERE key > 90;
SAVEPOINT s;
DELETE FROM temp;
SELECT * FROM compare('temp', 'key', 'big_l', 'key');
ROLLBACK TO s;
SELECT * FROM compare('temp', 'key', 'big_l', 'key');
COMMIT;
-- a cursor sees what there was when it was opened
BEGIN;
DECLARE ours CURSOR FOR
	SELECT left_ctid, right_ctid FROM hashgraph_join('temp', 'key', 'temp', 'key') ORDER BY 1, 2 LIMIT 3;
DELETE FROM temp;
FETCH ALL FROM ours;
ROLLBACK;
-- so does a query whose own changes are not to be seen by itself
WITH gone AS (DELETE FROM temp RETURNING key)
SELECT (SELECT count(*) FROM gone) AS deleted,
	(SELECT count(*) FROM hashgraph_join('temp', 'key', 'temp', 'key')) AS matches;

-- the rows behind the ctids
SELECT l.key, r.key
FROM hashgraph_join('matview', 'key', 'part_1', 'key') j
	JOIN matview l ON l.ctid = j.left_ctid
	JOIN part_1 r ON r.ctid = j.right_ctid
ORDER BY 1 LIMIT 3;

--
-- Statistics of a build
--
CREATE TABLE stats_l AS
	SELECT nullif(g % 1000, 0) AS key, (g % 1000)::text AS word FROM generate_series(1, 4000) g;
CREATE TABLE stats_r AS
	SELECT g AS key, g::text AS word FROM generate_series(501, 2500) g;
BEGIN;
SET LOCAL hashgraph.build = 'v2';
SET LOCAL hashgraph.bins = 8;
SELECT rows, null_keys, vertices, edges, round(load_factor::numeric, 4) AS load_factor,
	empty_vertices, longest_list, round(mean_list::numeric, 4) AS mean_list, distinct_keys,
	bins, bytes > 0 AS has_bytes, algorithm
FROM hashgraph_build_stats('stats_l', 'key');
SELECT rows, null_keys, vertices, edges, distinct_keys, bins, algorithm
FROM hashgraph_build_stats('stats_l', 'word');
SET LOCAL hashgraph.build = 'v1';
SET LOCAL hashgraph.bins = 0;
SET LOCAL hashgraph.load_factor = 4;
SELECT rows, null_keys, vertices, edges, distinct_keys, bins, algorithm
FROM hashgraph_build_stats('stats_l', 'key');
ROLLBACK;
SELECT rows, null_keys, edges, longest_list, mean_list, distinct_keys
FROM hashgraph_build_stats('empty', 'key');
SELECT scan_ms >= 0 AS scan, transfer_ms >= 0 AS transfer, bin_ms >= 0 AS bin, build_ms >= 0 AS build,
	backend = current_setting('hashgraph.backend') OR current_setting('hashgraph.backend') = 'auto'
		AS backend_as_set
FROM hashgraph_build_stats('big_l', 'key');

-- how long lists are: as the HashGraph that is built has them
CREATE FUNCTION lengths_are_as_built(rel regclass, key name, factor float8 DEFAULT 1) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hashgraph.load_factor', factor::text, true);
	RETURN (SELECT (sum(l.vertices), sum(l.rows), coalesce(sum(l.vertices) FILTER (WHERE l.length = 0), 0), max(l.length))
				= (b.vertices::numeric, b.edges::numeric, b.empty_vertices::numeric, b.longest_list)
			FROM hashgraph_list_lengths(rel, key) l, hashgraph_build_stats(rel, key) b
			GROUP BY b.vertices, b.edges, b.empty_vertices, b.longest_list);
END
$$;
SELECT lengths_are_as_built(rel, key, factor)
FROM (VALUES ('stats_l', 'key'), ('stats_l', 'word'), ('big_l', 'key'), ('big_l', 'word'), ('empty', 'key')) t (rel, key),
	(VALUES (0.25), (1), (16)) f (factor);
SELECT length, vertices, rows FROM hashgraph_list_lengths('empty', 'key');
CREATE TABLE frequent AS SELECT CASE WHEN g <= 1000 THEN 7 ELSE g END AS key FROM generate_series(1, 3000) g;
SELECT count(*) = 1 AS one_long_list, sum(rows) >= 1000 AS has_the_frequent_key
FROM hashgraph_list_lengths('frequent', 'key') WHERE length > 100;
SELECT count(*) FROM (SELECT hashgraph_list_lengths('frequent', 'key') LIMIT 2) l;
DROP FUNCTION lengths_are_as_built(regclass, name, float8);

--
-- Statistics of a probe
--
BEGIN;
SET LOCAL hashgraph.build = 'v2';
SET LOCAL hashgraph.bins = 8;
SET LOCAL hashgraph.probe = 'intersect';
SELECT left_rows, right_rows, left_null_keys, right_null_keys, vertices, bins,
	round(load_factor::numeric, 4) AS load_factor, build, probe, matches, candidates,
	comparisons >= candidates AS compared, intersections > 0 AS intersected
FROM hashgraph_probe_stats('stats_l', 'key', 'stats_r', 'key');
SET LOCAL hashgraph.probe = 'standard';
SELECT left_rows, right_rows, left_null_keys, right_null_keys, vertices, bins, build, probe, matches,
	candidates, comparisons >= candidates AS compared
FROM hashgraph_probe_stats('stats_l', 'key', 'stats_r', 'key');
-- keys that are hashes: candidates are rechecked
SELECT matches, candidates >= matches AS rechecked
FROM hashgraph_probe_stats('stats_l', 'word', 'stats_r', 'word');
ROLLBACK;
SELECT count(*) FROM stats_l JOIN stats_r USING (key);
SELECT count(*) FROM stats_l JOIN stats_r USING (word);
SELECT matches, candidates, left_rows, right_rows
FROM hashgraph_probe_stats('empty', 'key', 'stats_r', 'key');
SELECT scan_ms >= 0 AS scan, match_ms >= 0 AS match, recheck_ms > 0 AS recheck,
	total_ms >= scan_ms + recheck_ms AS total,
	backend = current_setting('hashgraph.backend') OR current_setting('hashgraph.backend') = 'auto'
		AS backend_as_set
FROM hashgraph_probe_stats('big_l', 'word', 'big_r', 'word');

-- A HashGraph that would pass maintenance_work_mem or work memory is not built
CREATE TABLE wide AS SELECT repeat('x', 200) || g AS word FROM generate_series(1, 6000) g;
CREATE TABLE half AS SELECT g AS key FROM generate_series(1, 50000) g;
CREATE TABLE much AS SELECT g AS key FROM generate_series(1, 100000) g;
CREATE TABLE few AS SELECT word FROM wide LIMIT 3;
BEGIN;
SET LOCAL work_mem = '64kB';
SET LOCAL maintenance_work_mem = '1MB';
SAVEPOINT s;
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT rows FROM hashgraph_build_stats('much', 'key');
ROLLBACK TO s;
\set VERBOSITY sqlstate
SELECT rows FROM hashgraph_build_stats('big_l', 'word');
ROLLBACK TO s;
SELECT matches FROM hashgraph_probe_stats('empty', 'key', 'much', 'key');
ROLLBACK TO s;
SELECT matches FROM hashgraph_probe_stats('big_r', 'word', 'few', 'word');
ROLLBACK TO s;
-- both sides count
SELECT rows FROM hashgraph_build_stats('half', 'key');
SELECT matches FROM hashgraph_probe_stats('half', 'key', 'half', 'key');
ROLLBACK TO s;
-- and so do keys that are kept for the recheck
SELECT rows FROM hashgraph_build_stats('wide', 'word');
SELECT matches FROM hashgraph_probe_stats('wide', 'word', 'few', 'word');
ROLLBACK TO s;
SET LOCAL maintenance_work_mem = '4MB';
SELECT matches FROM hashgraph_probe_stats('wide', 'word', 'few', 'word');
ROLLBACK TO s;
SET LOCAL work_mem = '4MB';
SELECT matches FROM hashgraph_probe_stats('wide', 'word', 'few', 'word');
ROLLBACK;
\set VERBOSITY terse
\set SHOW_CONTEXT errors

--
-- A hash that says nothing: only the recheck tells values apart
--
CREATE TYPE coarse;
CREATE FUNCTION coarse_in(cstring) RETURNS coarse LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION coarse_out(coarse) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE coarse (INPUT = coarse_in, OUTPUT = coarse_out, LIKE = int4);
CREATE FUNCTION coarse_eq(coarse, coarse) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION coarse_hash(coarse) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 42';
CREATE OPERATOR = (LEFTARG = coarse, RIGHTARG = coarse, FUNCTION = coarse_eq,
				   COMMUTATOR = =, HASHES);
CREATE OPERATOR CLASS coarse_ops DEFAULT FOR TYPE coarse USING hash AS
	OPERATOR 1 =, FUNCTION 1 coarse_hash(coarse);
CREATE TABLE coarse_l AS SELECT (g % 20)::text::coarse AS key FROM generate_series(1, 60) g;
CREATE TABLE coarse_r AS SELECT g::text::coarse AS key FROM generate_series(1, 30) g;
SELECT matches, candidates FROM hashgraph_probe_stats('coarse_l', 'key', 'coarse_r', 'key');
SELECT * FROM compare('coarse_l', 'key', 'coarse_r', 'key');
SELECT matches, recheck, rows_out FROM hashgraph_last_joins();
SELECT rows, edges, distinct_keys, longest_list FROM hashgraph_build_stats('coarse_r', 'key');

-- An operator that is not strict: its NULLs are equal, and so they are here
CREATE TYPE loose;
CREATE FUNCTION loose_in(cstring) RETURNS loose LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION loose_out(loose) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE loose (INPUT = loose_in, OUTPUT = loose_out, LIKE = int4);
CREATE FUNCTION loose_eq(loose, loose) RETURNS bool LANGUAGE sql IMMUTABLE AS
	'SELECT $1::text IS NOT DISTINCT FROM $2::text';
CREATE FUNCTION loose_hash(loose) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashint4';
CREATE OPERATOR = (LEFTARG = loose, RIGHTARG = loose, FUNCTION = loose_eq, COMMUTATOR = =, HASHES);
CREATE OPERATOR CLASS loose_ops DEFAULT FOR TYPE loose USING hash AS
	OPERATOR 1 =, FUNCTION 1 loose_hash(loose);
CREATE TABLE loose_l AS SELECT nullif(g % 5, 0)::text::loose AS key FROM generate_series(1, 20) g;
CREATE TABLE loose_r AS SELECT nullif(g % 7, 0)::text::loose AS key FROM generate_series(1, 21) g;
SELECT * FROM compare('loose_l', 'key', 'loose_r', 'key');
SELECT matches, left_null_keys, right_null_keys
FROM hashgraph_probe_stats('loose_l', 'key', 'loose_r', 'key');

--
-- The last statement's joins
--
SET hashgraph.enabled = off;
SELECT count(*) FROM hashgraph_join('stats_l', 'key', 'stats_r', 'key');
SELECT 1 AS no_join;
SELECT join_number, node, join_type, executions, outer_rows, inner_rows, outer_null_keys,
	inner_null_keys, vertices > 0 AS vertices, bins > 0 AS bins, matches, recheck, rows_out,
	CASE build WHEN 'direct' THEN comparisons = 0 ELSE comparisons >= matches END AS comparisons,
	intersections > 0 AS intersections, partitions,
	memory_bytes > 0 AS memory, spilled_bytes,
	backend = current_setting('hashgraph.backend') OR current_setting('hashgraph.backend') = 'auto'
		AS backend_as_set,
	start_ms >= 0 AND scan_ms >= 0 AND transfer_ms >= 0 AND bin_ms >= 0 AND build_ms >= 0
		AND match_ms >= 0 AND total_ms >= scan_ms AS times
FROM hashgraph_last_joins();
-- reading them changes nothing
SELECT count(*) FROM hashgraph_last_joins();
-- joins of one statement belong together, those of functions and blocks as well
SELECT (SELECT count(*) FROM hashgraph_join(ARRAY[1], ARRAY[1])),
	(SELECT count(*) FROM hashgraph_join(ARRAY[1, 2], ARRAY[1]));
SELECT join_number, outer_rows, inner_rows, rows_out FROM hashgraph_last_joins();
DO $$
BEGIN
	FOR i IN 1..3 LOOP
		PERFORM * FROM hashgraph_join(array_fill(1::bigint, ARRAY[i]), ARRAY[1]);
	END LOOP;
END $$;
SELECT join_number, outer_rows, inner_rows, rows_out FROM hashgraph_last_joins();
-- statements sent together are statements all the same
SELECT count(*) FROM hashgraph_join(ARRAY[1], ARRAY[1, 1]) \; SELECT count(*) FROM hashgraph_join(ARRAY[3], ARRAY[3, 3, 3]);
SELECT join_number, outer_rows, inner_rows, rows_out FROM hashgraph_last_joins();
-- so do those of its triggers, and those after an error that it catches
CREATE FUNCTION join_and_fail(times int, fails bool) RETURNS int LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM * FROM hashgraph_join(ARRAY[1], array_fill(1::bigint, ARRAY[times]));
	BEGIN
		PERFORM * FROM hashgraph_join(ARRAY[1], array_fill(1::bigint, ARRAY[times + 1]));
		PERFORM 1 / (CASE WHEN fails THEN 0 ELSE 1 END) FROM generate_series(1, 2);
	EXCEPTION WHEN division_by_zero THEN
		PERFORM * FROM hashgraph_join(ARRAY[1], array_fill(1::bigint, ARRAY[times + 2]));
	END;
	RETURN times;
END
$$;
CREATE FUNCTION join_after() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN PERFORM join_and_fail(NEW.key * 10, true); RETURN NULL; END';
CREATE TEMPORARY TABLE joining (key int);
CREATE TRIGGER joins AFTER INSERT ON joining FOR EACH ROW EXECUTE FUNCTION join_after();
CREATE CONSTRAINT TRIGGER joins_later AFTER UPDATE ON joining DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION join_after();
INSERT INTO joining SELECT join_and_fail(g, g = 1) FROM generate_series(1, 2) g;
SELECT join_number, inner_rows FROM hashgraph_last_joins();
-- and those of a block that ends transactions
DO $$
BEGIN
	PERFORM join_and_fail(1, true);
	COMMIT;
	PERFORM join_and_fail(4, false);
	ROLLBACK;
	PERFORM join_and_fail(6, true);
END $$;
SELECT join_number, inner_rows FROM hashgraph_last_joins();
-- what comes after a statement that failed does not belong to it
SELECT join_and_fail(1, true) / 0;
SELECT join_and_fail(3, false);
SELECT join_and_fail(5, false);
SELECT join_number, inner_rows FROM hashgraph_last_joins();
BEGIN;
SELECT join_and_fail(1, true);
SAVEPOINT s;
SELECT join_and_fail(3, true) / 0;
ROLLBACK TO s;
SELECT join_and_fail(5, false);
SELECT join_and_fail(7, true);
SELECT join_number, inner_rows FROM hashgraph_last_joins();
SAVEPOINT s;
COPY (SELECT join_and_fail(3, true) / 0) TO STDOUT;
ROLLBACK TO s;
SELECT join_and_fail(1, false);
-- a cursor's join belongs to the statement that closes it
SET LOCAL hashgraph.enabled = on;
SET LOCAL hashgraph.force = on;
DECLARE ours CURSOR FOR SELECT FROM stats_l JOIN stats_r USING (key);
FETCH 1 FROM ours;
SELECT join_and_fail(9, false);
COMMIT;
SELECT join_number, node FROM hashgraph_last_joins();
-- each that a COMMIT runs is a statement of its own
UPDATE joining SET key = key + 2;
SELECT join_number, inner_rows FROM hashgraph_last_joins();
-- the list is bounded
DO $$
BEGIN
	FOR i IN 1..1010 LOOP
		PERFORM * FROM hashgraph_join(ARRAY[1], ARRAY[1]);
	END LOOP;
END $$;
SELECT count(*), max(join_number) FROM hashgraph_last_joins();
-- a statement that fails files nothing of what it did not finish
SELECT count(*) FROM hashgraph_join(ARRAY[7], ARRAY[7, 7]);
SELECT 1 / (count(*) - 1) FROM hashgraph_join('nonesuch', 'key', 'stats_r', 'key');
SELECT join_number, inner_rows FROM hashgraph_last_joins();
-- who takes the session over sees nothing of it
RESET hashgraph.enabled;
DISCARD ALL;
SELECT count(*) FROM public.hashgraph_last_joins();
SELECT count(*) FROM public.hashgraph_join(ARRAY[7], ARRAY[7, 7]);
SELECT join_number, inner_rows FROM public.hashgraph_last_joins();

--
-- Versions and devices
--
SELECT extension, extension = library AS same FROM hashgraph_version();
SELECT count(*) FILTER (WHERE memory_free <= memory_total AND memory_budget <= memory_total
						AND compute_capability ~ '^\d+\.\d+$' AND driver ~ '^\d+\.\d+$'
						AND name <> '' AND state <> ''
						AND (state <> 'ready' OR (jobs >= 0 AND queued >= 0 AND memory_held >= 0
							AND staging_used BETWEEN 0 AND staging AND uptime >= interval '0' AND memory_reserved >= 0
							AND coalesce(restarts, 0) >= 0))) = count(*) AS devices_make_sense
FROM hashgraph_devices();

SET client_min_messages = error;
DROP SCHEMA functions, trap, "Odd ""schema" CASCADE;
