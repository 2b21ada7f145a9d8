-- The functions read as their caller: privileges, row security, schemas, temporary tables.
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
SELECT plan(46);

CREATE ROLE hashgraph_test_alice;
CREATE ROLE hashgraph_test_bob;
CREATE ROLE hashgraph_test_owner;
CREATE SCHEMA vault AUTHORIZATION hashgraph_test_owner;
GRANT USAGE ON SCHEMA vault TO hashgraph_test_alice, hashgraph_test_bob;

SET ROLE hashgraph_test_owner;
CREATE TABLE vault.account (id int, owner name, secret int);
INSERT INTO vault.account
	SELECT g, CASE g % 3 WHEN 0 THEN 'hashgraph_test_alice' WHEN 1 THEN 'hashgraph_test_bob'
		ELSE 'hashgraph_test_owner' END, g * 10
	FROM generate_series(1, 300) g;
CREATE TABLE vault.entry AS SELECT g AS id, g % 400 AS account FROM generate_series(1, 1000) g;
ALTER TABLE vault.account ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON vault.account USING (owner = current_user);
CREATE TABLE vault.plain (id int, secret int);
INSERT INTO vault.plain SELECT g, g FROM generate_series(1, 10) g;
GRANT SELECT ON vault.account, vault.entry TO hashgraph_test_alice;
GRANT SELECT (id) ON vault.plain TO hashgraph_test_alice;
RESET ROLE;

CREATE FUNCTION pg_temp.sqlstate_of(role name, query text) RETURNS text LANGUAGE plpgsql AS
$$
BEGIN
	PERFORM set_config('role', role, true);
	EXECUTE query;
	PERFORM set_config('role', 'none', true);
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;

-- What a role sees through hashgraph_join(), and through a join of its own.
CREATE FUNCTION pg_temp.compared(role name) RETURNS TABLE (ours bigint, theirs bigint, differing bigint)
LANGUAGE plpgsql SET hashgraph.enabled = off AS
$$
BEGIN
	PERFORM set_config('role', role, true);
	RETURN QUERY
		WITH o AS MATERIALIZED (
			SELECT left_ctid, right_ctid
			FROM hashgraph_join('vault.account', 'id', 'vault.entry', 'account')),
		t AS MATERIALIZED (
			SELECT a.ctid, e.ctid FROM vault.account a JOIN vault.entry e ON a.id = e.account)
		SELECT (SELECT count(*) FROM o), (SELECT count(*) FROM t),
			(SELECT count(*) FROM ((TABLE o EXCEPT ALL TABLE t) UNION ALL (TABLE t EXCEPT ALL TABLE o)) d);
	PERFORM set_config('role', 'none', true);
END
$$;

-- Tables
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob',
	$$SELECT hashgraph_join('vault.entry', 'id', 'vault.entry', 'id')$$), '42501',
	'hashgraph_join takes the SELECT privilege');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob',
	$$SELECT hashgraph_build_stats('vault.entry', 'id')$$), '42501',
	'so does hashgraph_build_stats');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob',
	$$SELECT hashgraph_list_lengths('vault.entry', 'id')$$), '42501',
	'and hashgraph_list_lengths');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob',
	$$SELECT hashgraph_probe_stats('vault.entry', 'id', 'vault.entry', 'id')$$), '42501',
	'and hashgraph_probe_stats');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_alice',
	$$SELECT hashgraph_join('vault.entry', 'id', 'vault.entry', 'id')$$), 'no error',
	'with the privilege they work');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_alice',
	$$SELECT hashgraph_join('vault.entry', 'id', 'vault.plain', 'id')$$), '42501',
	'a column without the ctid is not enough');
GRANT SELECT (ctid) ON vault.plain TO hashgraph_test_alice;
SELECT is(pg_temp.sqlstate_of('hashgraph_test_alice',
	$$SELECT hashgraph_join('vault.entry', 'id', 'vault.plain', 'id')$$), 'no error',
	'a column and the ctid are');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_alice',
	$$SELECT hashgraph_join('vault.entry', 'id', 'vault.plain', 'secret')$$), '42501',
	'for that column alone');

-- Schemas
SELECT 'vault.entry'::regclass::oid AS entry \gset
REVOKE USAGE ON SCHEMA vault FROM hashgraph_test_alice;
SELECT is(pg_temp.sqlstate_of('hashgraph_test_alice',
	format('SELECT hashgraph_join(%1$s, %2$L, %1$s, %2$L)', :entry, 'id')), '42501',
	'an OID is no way round the schema''s privilege');
GRANT USAGE ON SCHEMA vault TO hashgraph_test_alice;

-- Row security
SELECT results_eq($$SELECT * FROM pg_temp.compared('hashgraph_test_owner')$$,
	'VALUES (800::bigint, 800::bigint, 0::bigint)', 'the owner sees every row');
SELECT results_eq($$SELECT * FROM pg_temp.compared('hashgraph_test_alice')$$,
	'VALUES (266::bigint, 266::bigint, 0::bigint)', 'another role its own');
SET ROLE hashgraph_test_alice;
CREATE TEMPORARY TABLE seen AS
	SELECT left_ctid FROM hashgraph_join('vault.account', 'id', 'vault.entry', 'account');
RESET ROLE;
SELECT is((SELECT array_agg(DISTINCT owner) FROM seen JOIN vault.account a ON a.ctid = left_ctid),
	ARRAY['hashgraph_test_alice'::name], 'no ctid of a hidden row comes out');
ALTER TABLE vault.account FORCE ROW LEVEL SECURITY;
SELECT results_eq($$SELECT * FROM pg_temp.compared('hashgraph_test_owner')$$,
	'VALUES (267::bigint, 267::bigint, 0::bigint)', 'forced, the owner sees its own rows only');
SET ROLE hashgraph_test_alice;
SELECT rows AS alice_rows, distinct_keys AS alice_keys FROM hashgraph_build_stats('vault.account', 'id') \gset
SELECT sum(rows) AS alice_listed FROM hashgraph_list_lengths('vault.account', 'id') \gset
SELECT left_rows AS alice_left, matches AS alice_matches
FROM hashgraph_probe_stats('vault.account', 'id', 'vault.entry', 'account') \gset
RESET ROLE;
SELECT is(:alice_rows, 100, 'hashgraph_build_stats counts visible rows');
SELECT is(:alice_keys, 100, 'and their keys');
SELECT is(:alice_listed, 100, 'and so does hashgraph_list_lengths');
SELECT is(:alice_left, 100, 'so does hashgraph_probe_stats');
SELECT is(:alice_matches, 266, 'and their matches');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_alice',
	$$SELECT set_config('row_security', 'off', true), hashgraph_build_stats('vault.account', 'id')$$),
	'42501', 'row_security off is an error, not more rows');


-- A role's own rights are not the caller's
SET ROLE hashgraph_test_owner;
CREATE FUNCTION vault.entries() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
	$$SELECT count(*) FROM hashgraph_join('vault.entry', 'id', 'vault.entry', 'id')$$;
CREATE FUNCTION vault.entries_as_caller() RETURNS bigint LANGUAGE sql SECURITY INVOKER AS
	$$SELECT count(*) FROM hashgraph_join('vault.entry', 'id', 'vault.entry', 'id')$$;
RESET ROLE;
SET ROLE hashgraph_test_bob;
SELECT vault.entries() AS bob_entries \gset
RESET ROLE;
SELECT is(:bob_entries, 1000, 'a SECURITY DEFINER function reads as its owner');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob', 'SELECT vault.entries_as_caller()'), '42501',
	'any other as its caller');

-- Nor are its joins
CREATE FUNCTION pg_temp.joins_seen_by(role name) RETURNS bigint LANGUAGE plpgsql AS
$$
DECLARE
	joins bigint;
BEGIN
	PERFORM set_config('role', role, true);
	SELECT count(*) INTO joins FROM hashgraph_last_joins();
	PERFORM set_config('role', 'none', true);
	RETURN joins;
END
$$;
CREATE FUNCTION pg_temp.plans_seen_by(role name) RETURNS boolean LANGUAGE plpgsql AS
$$
DECLARE
	steps bigint;
BEGIN
	PERFORM set_config('role', role, true);
	SELECT count(*) INTO steps FROM hashgraph_last_plan();
	PERFORM set_config('role', 'none', true);
	RETURN steps > 0;
END
$$;
SET ROLE hashgraph_test_owner;
CREATE FUNCTION vault.counted() RETURNS bigint LANGUAGE sql SECURITY DEFINER
	SET hashgraph.force = on SET hashgraph.enabled = on AS
	$$SELECT count(*) FROM vault.entry a JOIN vault.entry b USING (id)$$;
CREATE FUNCTION vault.reader(reader refcursor) RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER
	SET hashgraph.force = on SET hashgraph.enabled = on AS
$$
BEGIN
	OPEN reader FOR SELECT a.id FROM vault.entry a JOIN vault.entry b USING (id);
	RETURN reader;
END
$$;
CREATE FUNCTION vault.own_joins() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
	'SELECT count(*) FROM hashgraph_last_joins()';
RESET ROLE;
SET ROLE hashgraph_test_owner;
CREATE FUNCTION vault.planned() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS
	$$BEGIN RETURN (SELECT count(*) FROM vault.entry a JOIN vault.entry b USING (id)); END$$;
RESET ROLE;
SET ROLE hashgraph_test_bob;
SELECT vault.planned() AS planned \gset
RESET ROLE;
SELECT pg_temp.plans_seen_by('hashgraph_test_bob') AS bob_sees, pg_temp.plans_seen_by('hashgraph_test_owner') AS owner_sees,
	pg_temp.plans_seen_by('hashgraph_test_alice') AS alice_sees \gset
GRANT pg_read_all_stats TO hashgraph_test_alice;
SELECT pg_temp.plans_seen_by('hashgraph_test_alice') AS reader_sees \gset
REVOKE pg_read_all_stats FROM hashgraph_test_alice;
SELECT is(:'bob_sees'::boolean, false, 'who called a SECURITY DEFINER function does not see its plan');
SELECT is(:'owner_sees'::boolean, true, 'its owner does');
SELECT is(:'alice_sees'::boolean, false, 'another role does not');
SELECT is(:'reader_sees'::boolean, true, 'but one that may read all statistics');
SET ROLE hashgraph_test_bob;
SELECT vault.counted() AS counted \gset
RESET ROLE;
SELECT is(:counted, 1000, 'a SECURITY DEFINER function joins as its owner');
SELECT is(pg_temp.joins_seen_by('hashgraph_test_bob'), 0::bigint,
	'who called it does not see the join');
SELECT is(pg_temp.joins_seen_by('hashgraph_test_owner'), 1::bigint, 'its owner does');
SELECT is(pg_temp.joins_seen_by('hashgraph_test_alice'), 0::bigint, 'another role does not');
GRANT pg_read_all_stats TO hashgraph_test_alice;
SELECT is(pg_temp.joins_seen_by('hashgraph_test_alice'), 1::bigint,
	'but one that may read all statistics');
REVOKE pg_read_all_stats FROM hashgraph_test_alice;
SET ROLE hashgraph_test_bob;
SELECT vault.own_joins() AS own_joins \gset
SELECT vault.reader('reader') \gset
MOVE ALL IN reader;
CLOSE reader;
RESET ROLE;
SELECT is(:own_joins, 1, 'a function of the owner''s sees the owner''s joins');
SELECT is(pg_temp.joins_seen_by('hashgraph_test_bob') + 10 * pg_temp.joins_seen_by('hashgraph_test_owner'),
	10::bigint, 'a cursor''s join is of whom it was opened as, whoever closes it');
SET ROLE hashgraph_test_bob;
SELECT count(*) AS mine FROM hashgraph_join(ARRAY[1], ARRAY[1]) \gset
RESET ROLE;
SELECT is(pg_temp.joins_seen_by('hashgraph_test_bob'), 1::bigint, 'one''s own join is seen');
SELECT is(pg_temp.joins_seen_by('hashgraph_test_owner'), 0::bigint, 'and not by those without one''s rights');

-- Temporary tables
SET ROLE hashgraph_test_bob;
CREATE TEMPORARY TABLE mine (id int);
INSERT INTO mine VALUES (1), (2), (2);
SELECT count(*) AS mine FROM hashgraph_join('mine', 'id', 'pg_temp.mine', 'id') \gset
RESET ROLE;
SELECT is(:mine, 5, 'a temporary table can be joined');

-- The catalogs hold what anyone may read, and what not
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob',
	$$SELECT hashgraph_join('pg_class', 'oid', 'pg_attribute', 'attrelid')$$), 'no error',
	'a catalog can be joined');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob',
	$$SELECT hashgraph_join('pg_authid', 'oid', 'pg_authid', 'oid')$$), '42501',
	'unless it is not for everyone');

-- The statistics
SELECT function_privs_are('public', 'hashgraph_stat_reset', ARRAY[]::text[], 'hashgraph_test_bob',
	ARRAY[]::text[], 'not everyone may reset counters');
SELECT function_privs_are('public', 'hashgraph_stat', ARRAY[]::text[], 'hashgraph_test_bob',
	ARRAY['EXECUTE'], 'but read them');
SELECT function_privs_are('public', 'hashgraph_progress', ARRAY[]::text[], 'hashgraph_test_bob',
	ARRAY['EXECUTE'], 'and see that joins run');
SELECT table_privs_are('public', 'hashgraph_progress', 'hashgraph_test_bob', ARRAY['SELECT'],
	'in the view of them');
SELECT table_privs_are('public', 'hashgraph_stat', 'hashgraph_test_bob', ARRAY['SELECT'],
	'and select from the view');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob', 'SELECT hashgraph_stat_reset()'), '42501',
	'resetting without the privilege is an error');
GRANT EXECUTE ON FUNCTION hashgraph_stat_reset() TO hashgraph_test_bob;
SELECT function_privs_are('public', 'hashgraph_stat_reset', ARRAY[]::text[], 'hashgraph_test_bob',
	ARRAY['EXECUTE'], 'the privilege can be granted');
SELECT is((SELECT count(*) FROM (VALUES ('hashgraph.backend'), ('hashgraph.gpu_memory_limit'),
		('hashgraph.gpu_device'), ('hashgraph.enabled')) AS t (name)
	WHERE pg_temp.sqlstate_of('hashgraph_test_bob', format('RESET %s', name)) <> 'no error'), 0::bigint,
	'anyone may set what concerns one join');
SELECT is(pg_temp.sqlstate_of('hashgraph_test_bob', 'SHOW hashgraph.device_program'), '42501',
	'not everyone sees which program is run');

SELECT * FROM finish();
ROLLBACK;
