-- Bad input gets a clear error and a hint.
SET client_min_messages = warning;
CREATE SCHEMA errors;
SET search_path = errors, public;
CREATE TABLE good (key int, other_key int, dropped int);
ALTER TABLE good DROP dropped;
INSERT INTO good VALUES (1, 1), (2, 2);

--
-- Not a table
--
CREATE VIEW view AS SELECT * FROM good;
CREATE FOREIGN DATA WRAPPER errors_wrapper;
CREATE SERVER errors_server FOREIGN DATA WRAPPER errors_wrapper;
CREATE FOREIGN TABLE foreign_table (key int) SERVER errors_server;
CREATE TABLE partitioned (key int) PARTITION BY RANGE (key);
CREATE TABLE parent (key int);
CREATE TABLE child () INHERITS (parent);
CREATE SEQUENCE sequence;
CREATE INDEX good_index ON good (key);
CREATE TYPE composite AS (key int);
CREATE MATERIALIZED VIEW unpopulated AS SELECT * FROM good WITH NO DATA;

SELECT * FROM hashgraph_join('view', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('good', 'key', 'view', 'key');
SELECT * FROM hashgraph_join('foreign_table', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('partitioned', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('parent', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('sequence', 'last_value', 'good', 'key');
SELECT * FROM hashgraph_join('good_index', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('composite', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('unpopulated', 'key', 'good', 'key');
SELECT * FROM hashgraph_join('nonesuch', 'key', 'good', 'key');
SELECT * FROM hashgraph_join(1::regclass, 'key', 'good', 'key');
SELECT * FROM hashgraph_build_stats('view', 'key');
SELECT * FROM hashgraph_list_lengths('view', 'key');
SELECT * FROM hashgraph_probe_stats('good', 'key', 'partitioned', 'key');
-- no relation has this OID
SELECT * FROM hashgraph_join(0::regclass, 'key', 'good', 'key');
SELECT * FROM hashgraph_build_stats(0::regclass, 'key');
SELECT * FROM hashgraph_list_lengths(0::regclass, 'key');
SELECT * FROM hashgraph_table_stats(0::regclass, 'key');
SELECT * FROM hashgraph_probe_stats('good', 'key', 0::regclass, 'key');
SELECT * FROM hashgraph_resident_advise(0::regclass);
SELECT * FROM hashgraph_resident_advise(1::regclass);
SELECT * FROM hashgraph_resident_advise(4294967295::regclass);
-- advice says why a relation cannot be resident; a partitioned table stands for its partitions
CREATE TABLE part PARTITION OF partitioned FOR VALUES FROM (0) TO (10);
SELECT relation, reason FROM unnest('{view,foreign_table,partitioned,sequence,good_index,composite}'::regclass[]) relation,
	LATERAL hashgraph_resident_advise(relation) a WHERE a."column" IS NULL;
-- a child is a table of its own, and so is a parent once it has none
SELECT * FROM hashgraph_join('child', 'key', 'good', 'key');
DROP TABLE child;
SELECT * FROM hashgraph_join('parent', 'key', 'good', 'key');

--
-- Not a column
--
SELECT * FROM hashgraph_join('good', 'nonesuch', 'good', 'key');
SELECT * FROM hashgraph_join('good', 'key', 'good', 'KEY');
SELECT * FROM hashgraph_join('good', 'key', 'good', '"key"');
SELECT * FROM hashgraph_join('good', 'key, other_key', 'good', 'key');
SELECT * FROM hashgraph_join('good', '', 'good', 'key');
SELECT * FROM hashgraph_join('good', '........pg.dropped.3........', 'good', 'key');
SELECT * FROM hashgraph_join('good', 'ctid', 'good', 'key');
SELECT * FROM hashgraph_join('good', 'tableoid', 'good', 'key');
SELECT * FROM hashgraph_build_stats('good', 'nonesuch');

--
-- Not a key
--
CREATE TYPE with_point AS (a int, p point);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE weather AS ENUM ('rain', 'sun');
CREATE TABLE types (
	int_key int, bigint_key bigint, text_key text, numeric_key numeric, date_key date,
	timestamp_key timestamp, json_key json, point_key point, money_key money,
	points_key point[], with_point_key with_point, ints_key int[], texts_key text[],
	mood_key mood, weather_key weather, c_key text COLLATE "C", posix_key text COLLATE "POSIX");

SELECT * FROM hashgraph_join('types', 'json_key', 'types', 'json_key');
SELECT * FROM hashgraph_join('types', 'point_key', 'types', 'point_key');
SELECT * FROM hashgraph_join('types', 'money_key', 'types', 'money_key');
SELECT * FROM hashgraph_join('types', 'points_key', 'types', 'points_key');
SELECT * FROM hashgraph_join('types', 'with_point_key', 'types', 'with_point_key');
SELECT * FROM hashgraph_join('types', 'int_key', 'types', 'text_key');
SELECT * FROM hashgraph_join('types', 'int_key', 'types', 'numeric_key');
SELECT * FROM hashgraph_join('types', 'date_key', 'types', 'timestamp_key');
SELECT * FROM hashgraph_join('types', 'ints_key', 'types', 'texts_key');
SELECT * FROM hashgraph_join('types', 'mood_key', 'types', 'weather_key');
SELECT * FROM hashgraph_join('types', 'c_key', 'types', 'posix_key');
SELECT * FROM hashgraph_build_stats('types', 'json_key');
SELECT * FROM hashgraph_list_lengths('types', 'json_key');
-- these agree, or one gives way
SELECT * FROM hashgraph_join('types', 'c_key', 'types', 'c_key');
SELECT * FROM hashgraph_join('types', 'text_key', 'types', 'posix_key');

--
-- No privilege
--
CREATE ROLE regress_hashgraph_reader;
GRANT USAGE ON SCHEMA errors TO regress_hashgraph_reader;
SET ROLE regress_hashgraph_reader;
SELECT * FROM hashgraph_join('good', 'key', 'good', 'key');
SELECT * FROM hashgraph_build_stats('good', 'key');
SELECT * FROM hashgraph_probe_stats('good', 'key', 'good', 'key');
SELECT hashgraph_stat_reset();
RESET ROLE;
-- columns alone will do, if the ctid is among them
GRANT SELECT (key) ON good TO regress_hashgraph_reader;
SET ROLE regress_hashgraph_reader;
SELECT * FROM hashgraph_join('good', 'key', 'good', 'key');
RESET ROLE;
GRANT SELECT (ctid) ON good TO regress_hashgraph_reader;
SET ROLE regress_hashgraph_reader;
SELECT * FROM hashgraph_join('good', 'key', 'good', 'key') ORDER BY 1;
SELECT * FROM hashgraph_join('good', 'key', 'good', 'other_key');
RESET ROLE;
-- a table whose schema may not be used
REVOKE USAGE ON SCHEMA errors FROM regress_hashgraph_reader;
SELECT 'good'::regclass::oid AS good \gset
SET ROLE regress_hashgraph_reader;
SELECT * FROM hashgraph_join(:good, 'key', :good, 'key');
RESET ROLE;

--
-- A row security policy that fails while rows are read
--
CREATE TABLE divided (key int);
INSERT INTO divided VALUES (1), (0);
CREATE FUNCTION fails(int) RETURNS bool LANGUAGE plpgsql AS
	'BEGIN RETURN 1 / $1 > 0; END';
ALTER TABLE divided ENABLE ROW LEVEL SECURITY;
ALTER TABLE divided FORCE ROW LEVEL SECURITY;
CREATE POLICY divided_policy ON divided USING (fails(key));
GRANT SELECT ON divided TO regress_hashgraph_reader;
GRANT USAGE ON SCHEMA errors TO regress_hashgraph_reader;
SET ROLE regress_hashgraph_reader;
SELECT * FROM hashgraph_join('divided', 'key', 'divided', 'key');
RESET ROLE;
-- and the session goes on
SELECT * FROM hashgraph_join('good', 'key', 'good', 'key') ORDER BY 1;

SET client_min_messages = error;
DROP SCHEMA errors CASCADE;
DROP FOREIGN DATA WRAPPER errors_wrapper CASCADE;
DROP ROLE regress_hashgraph_reader;
