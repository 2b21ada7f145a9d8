-- hashgraph_join() sees what its caller's snapshot sees, while another session writes.
\unset ECHO
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP true
SET client_min_messages = warning;
SET hashgraph.enabled = off;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION IF NOT EXISTS hashgraph;
SELECT plan(9);

SELECT count(*) > 0 AS has_dblink FROM pg_available_extensions WHERE name = 'dblink' \gset
\if :has_dblink
CREATE EXTENSION IF NOT EXISTS dblink;
CREATE TABLE snapshot_left AS SELECT g AS key FROM generate_series(1, 1000) g;
CREATE TABLE snapshot_right AS SELECT g % 500 AS key FROM generate_series(1, 2000) g;
-- matches by hashgraph_join(), by a join, and the pairs that are in one of them only
CREATE VIEW snapshot_compared AS
	WITH ours AS MATERIALIZED (
		SELECT left_ctid, right_ctid FROM hashgraph_join('snapshot_left', 'key', 'snapshot_right', 'key')),
	theirs AS MATERIALIZED (
		SELECT l.ctid, r.ctid FROM snapshot_left l JOIN snapshot_right r USING (key))
	SELECT (SELECT count(*) FROM ours) AS ours, (SELECT count(*) FROM theirs) AS theirs,
		(SELECT count(*) FROM ((TABLE ours EXCEPT ALL TABLE theirs)
			UNION ALL (TABLE theirs EXCEPT ALL TABLE ours)) d) AS differing;
SELECT dblink_connect('other', format('host=%s port=%s dbname=%s user=%s',
	quote_literal(split_part(current_setting('unix_socket_directories'), ',', 1)),
	current_setting('port'), quote_literal(current_database()), quote_literal(current_user))) \gset

BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT results_eq('TABLE snapshot_compared', 'VALUES (1996::bigint, 1996::bigint, 0::bigint)',
	'what there is at first');
SELECT dblink_exec('other', 'DELETE FROM snapshot_left WHERE key <= 100') AS r1,
	dblink_exec('other', 'UPDATE snapshot_right SET key = key + 500 WHERE key < 250') AS r2,
	dblink_exec('other', 'INSERT INTO snapshot_left SELECT 7 FROM generate_series(1, 50)') AS r3 \gset
SELECT results_eq('TABLE snapshot_compared', 'VALUES (1996::bigint, 1996::bigint, 0::bigint)',
	'REPEATABLE READ sees the same after another session''s changes');
SELECT is((SELECT matches FROM hashgraph_probe_stats('snapshot_left', 'key', 'snapshot_right', 'key')),
	1996::bigint, 'hashgraph_probe_stats as well');
SELECT is((SELECT rows FROM hashgraph_build_stats('snapshot_left', 'key')), 1000::bigint,
	'and hashgraph_build_stats');
COMMIT;
SELECT results_eq('TABLE snapshot_compared', 'VALUES (2000::bigint, 2000::bigint, 0::bigint)',
	'a new transaction sees the changes');

BEGIN;
DECLARE before CURSOR FOR SELECT * FROM snapshot_compared;
SELECT dblink_exec('other', 'DELETE FROM snapshot_left') AS r4 \gset
SELECT results_eq('FETCH before', 'VALUES (2000::bigint, 2000::bigint, 0::bigint)',
	'a cursor sees what there was when it was opened');
SELECT results_eq('TABLE snapshot_compared', 'VALUES (0::bigint, 0::bigint, 0::bigint)',
	'READ COMMITTED sees the changes');
COMMIT;

BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) AS none FROM hashgraph_join('snapshot_left', 'key', 'snapshot_right', 'key') \gset
INSERT INTO snapshot_right VALUES (1);
SELECT dblink_exec('other', 'BEGIN ISOLATION LEVEL SERIALIZABLE') AS r5,
	(SELECT n FROM dblink('other', 'SELECT count(*) FROM snapshot_right') AS t (n bigint)) AS r6,
	dblink_exec('other', 'INSERT INTO snapshot_left VALUES (1)') AS r7,
	dblink_exec('other', 'COMMIT') AS r8 \gset
SELECT throws_ok('SELECT count(*) FROM hashgraph_join(''snapshot_left'', ''key'', ''snapshot_right'', ''key'')',
	'40001', NULL, 'reads count for SERIALIZABLE');
ROLLBACK;
SELECT is((SELECT count(*) FROM snapshot_left), 1::bigint, 'the other transaction was committed');

SELECT dblink_disconnect('other') AS r9 \gset
DROP VIEW snapshot_compared;
DROP TABLE snapshot_left, snapshot_right;
\else
SELECT skip('dblink is not available', 9);
\endif
SELECT * FROM finish();
