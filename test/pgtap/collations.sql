-- Equality is the collation's: strings of different bytes that a collation holds equal match.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
SET client_min_messages = warning;
SET hashgraph.enabled = off;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS hashgraph;
SELECT plan(8);

CREATE FUNCTION pg_temp.make_collation() RETURNS boolean LANGUAGE plpgsql AS
$$
BEGIN
	CREATE COLLATION anycase (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
	RETURN true;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
	RETURN false;
END
$$;
SELECT pg_temp.make_collation() AS has_icu \gset
\if :has_icu
CREATE TABLE folded (id int, plain text, key text COLLATE anycase, short varchar(9) COLLATE anycase,
					 padded char(9) COLLATE anycase, keys text[] COLLATE anycase);
INSERT INTO folded
	SELECT g, w, w, w, w, ARRAY[w, 'z']
	FROM generate_series(1, 120) g,
		LATERAL (SELECT CASE g % 3 WHEN 0 THEN upper(v) WHEN 1 THEN v ELSE initcap(v) END AS w
				 FROM (SELECT 'ab' || chr(97 + g % 20) || CASE WHEN g % 2 = 0 THEN 'é' ELSE '' END) AS t (v)) s;

-- Matches, and pairs that are in hashgraph_join()'s or in SQL's result only.
CREATE FUNCTION pg_temp.compared(left_key name, right_key name, OUT matches bigint, OUT differing bigint)
LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE format(
		'WITH o AS MATERIALIZED (
			SELECT left_ctid, right_ctid FROM hashgraph_join(''folded'', $1, ''folded'', $2)),
		t AS MATERIALIZED (SELECT l.ctid, r.ctid FROM folded l JOIN folded r ON l.%I = r.%I)
		SELECT (SELECT count(*) FROM o), (SELECT count(*) FROM (
			(TABLE o EXCEPT ALL TABLE t) UNION ALL (TABLE t EXCEPT ALL TABLE o)) d)', left_key, right_key)
	INTO matches, differing USING left_key, right_key;
END
$$;
SELECT results_eq($$SELECT * FROM pg_temp.compared('key', 'key')$$, 'VALUES (720::bigint, 0::bigint)',
	'text under a nondeterministic collation');
SELECT results_eq($$SELECT * FROM pg_temp.compared('short', 'key')$$, 'VALUES (720::bigint, 0::bigint)',
	'varchar and text');
SELECT results_eq($$SELECT * FROM pg_temp.compared('padded', 'padded')$$,
	'VALUES (720::bigint, 0::bigint)', 'char(n)');
SELECT results_eq($$SELECT * FROM pg_temp.compared('keys', 'keys')$$, 'VALUES (720::bigint, 0::bigint)',
	'arrays of text');
SELECT results_eq($$SELECT * FROM pg_temp.compared('plain', 'key')$$, 'VALUES (720::bigint, 0::bigint)',
	'the database''s collation gives way to one that is named');
SELECT results_eq($$SELECT * FROM pg_temp.compared('key', 'plain')$$, 'VALUES (720::bigint, 0::bigint)',
	'on either side');
SELECT results_eq($$SELECT * FROM pg_temp.compared('plain', 'plain')$$, 'VALUES (240::bigint, 0::bigint)',
	'and stays where it is alone');
SELECT is((SELECT distinct_keys FROM hashgraph_build_stats('folded', 'key')), 20::bigint,
	'strings that are equal have one hash');
\else
SELECT skip('the server has no ICU collations', 8);
\endif
SELECT * FROM finish();
ROLLBACK;
