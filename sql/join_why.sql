--
-- Why a join or an aggregation is PostgreSQL's own: hashgraph_last_plan()
-- CPU alone: plans are made, and none runs.
--
SET max_parallel_workers_per_gather = 0;
CREATE SCHEMA why;
SET search_path = why, public;

CREATE TABLE a AS SELECT g AS id, g % 100 AS v, (g % 100)::money AS m FROM generate_series(1, 60000) g;
CREATE TABLE b AS SELECT * FROM a;
CREATE TABLE c AS SELECT * FROM a;
CREATE TABLE s AS SELECT * FROM a WHERE id <= 100;
ALTER TABLE b ADD PRIMARY KEY (id);
ALTER TABLE c ADD PRIMARY KEY (id);
VACUUM ANALYZE a, b, c, s;

-- what is said of a query that is planned and not run
CREATE FUNCTION why(query text, OUT operation text, OUT relations text[], OUT chosen boolean, OUT reason text)
RETURNS SETOF record LANGUAGE plpgsql AS
$$
BEGIN
	EXECUTE 'EXPLAIN ' || query;
	RETURN QUERY SELECT p.operation, p.relations, p.chosen, p.reason FROM hashgraph_last_plan() p ORDER BY p.step;
END
$$;

--
-- Every reason
--
SELECT * FROM why('SELECT count(*) FROM a JOIN b USING (id) JOIN s ON s.id = b.v');
SELECT * FROM why('SELECT * FROM b JOIN c USING (id) ORDER BY id LIMIT 5');
SELECT * FROM why('SELECT * FROM s JOIN s t USING (id)');
SELECT * FROM why('SELECT * FROM a JOIN b ON a.id < b.id');
SELECT * FROM why('SELECT * FROM a JOIN b ON a.m = b.m');
SELECT * FROM why('SELECT * FROM a, LATERAL (SELECT b.id, b.v + a.v AS x FROM b OFFSET 0) l WHERE l.id = a.id');
SELECT * FROM why('SELECT r FROM (SELECT id, ROW(id, v) AS r FROM a OFFSET 0) x JOIN b USING (id)');
SELECT operation, relations, chosen OR reason = 'clause without columns' AS chosen_since_17
FROM why('SELECT * FROM a JOIN b USING (id) WHERE now() > ''2000-01-01''');
SELECT * FROM why('SELECT x, count(*) FROM (SELECT 1 AS x, v FROM a) s GROUP BY ROLLUP (x, v)');
SELECT * FROM why('SELECT random() * 0, count(*) FROM a GROUP BY 1');
SELECT * FROM why('SELECT v, array_agg(id ORDER BY id) FROM a GROUP BY v');
SELECT * FROM why('SELECT count(*) FROM s');
SELECT * FROM why('SELECT count(*) FROM s JOIN s t USING (id)');
SELECT * FROM why('SELECT max(id) FROM b');
SET hashgraph.enabled = off;
SELECT * FROM why('SELECT count(*) FROM a JOIN b USING (id)');
RESET hashgraph.enabled;
SET enable_hashjoin = off;
SELECT * FROM why('SELECT * FROM a JOIN b USING (id)');
RESET enable_hashjoin;
SET enable_hashagg = off;
SELECT * FROM why('SELECT v, count(*) FROM a GROUP BY v');
RESET enable_hashagg;

-- sizes decide, and nothing else that these reasons tell
SET hashgraph.min_rows = 0;
SELECT operation, relations, reason IS DISTINCT FROM 'fewer input rows than hashgraph.min_rows' AS other
FROM why('SELECT count(*) FROM s JOIN s t USING (id)');
RESET hashgraph.min_rows;

--
-- Parts of a statement
--
-- subqueries, in FROM, in an expression and of a CTE
SELECT * FROM why('SELECT (SELECT count(*) FROM s) FROM (SELECT id, count(*) FROM a GROUP BY id OFFSET 0) x JOIN b USING (id)');
SELECT * FROM why('WITH c AS MATERIALIZED (SELECT count(*) FROM s) SELECT * FROM c, c d');
SELECT * FROM why('SELECT count(*) FROM s UNION ALL SELECT count(*) FROM s t');
SELECT * FROM why('SELECT DISTINCT v FROM s');
SELECT * FROM why('INSERT INTO s SELECT s.* FROM s JOIN s t USING (id)');
-- distinct values are two nodes and one aggregation
SELECT * FROM why('SELECT v, count(DISTINCT id) FROM a GROUP BY v');
-- partitions have names of their own
CREATE TABLE p (id int, v int) PARTITION BY HASH (id);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO p SELECT g, g FROM generate_series(1, 1000) g;
ANALYZE p;
SET enable_partitionwise_join = on;
SELECT * FROM why('SELECT * FROM p JOIN p q USING (id)');
RESET enable_partitionwise_join;

--
-- Which statement
--
SELECT count(*) FROM s JOIN s t USING (id);
SELECT 1 AS no_join;
SELECT step, operation, node, relations, chosen, reason FROM hashgraph_last_plan();
-- asking changes nothing, even with an aggregation
SELECT count(*) FROM hashgraph_last_plan();
SELECT count(*), max(step) FROM hashgraph_last_plan();
-- functions of a statement that has none of its own, but not those of one that has
CREATE FUNCTION joins() RETURNS bigint LANGUAGE plpgsql AS
'BEGIN RETURN (SELECT count(*) FROM s x JOIN s y USING (id)); END';
SELECT joins();
SELECT relations, reason FROM hashgraph_last_plan() WHERE operation = 'join';
SELECT count(*) FROM s k JOIN s l USING (id) WHERE joins() > 0;
SELECT relations, reason FROM hashgraph_last_plan() WHERE operation = 'join';
DO 'BEGIN PERFORM count(*) FROM s; PERFORM FROM s m JOIN s n USING (id); END';
SELECT relations, reason FROM hashgraph_last_plan();
-- a statement that fails while it is planned has no plan
SELECT count(*) FROM s JOIN s t USING (id) WHERE 1 / 0 > 0;
SELECT relations, reason FROM hashgraph_last_plan();
-- one that fails while it runs has one
SELECT 1 / count(*) FROM s JOIN s o USING (id) WHERE s.id < 0;
SELECT relations, reason FROM hashgraph_last_plan() WHERE operation = 'join';

--
-- Cached plans
--
SET plan_cache_mode = force_generic_plan;
PREPARE cached (int) AS SELECT FROM s JOIN s t USING (id) WHERE s.v = $1;
EXECUTE cached(-1);
SELECT relations, chosen, reason FROM hashgraph_last_plan();
EXECUTE cached(-1);
SELECT relations, chosen, reason FROM hashgraph_last_plan();
PREPARE ours AS SELECT FROM a JOIN b USING (id) WHERE a.v = -1;
EXECUTE ours;
SELECT relations, chosen, reason FROM hashgraph_last_plan();
EXECUTE ours;
SELECT relations, chosen, reason FROM hashgraph_last_plan();
-- what invalidates a plan has it made again
ALTER TABLE s SET (fillfactor = 90);
EXECUTE cached(-1);
SELECT relations, chosen, reason FROM hashgraph_last_plan();
SET plan_cache_mode = force_custom_plan;
EXECUTE cached(-1);
EXECUTE cached(-1);
SELECT relations, chosen, reason FROM hashgraph_last_plan();
RESET plan_cache_mode;

--
-- Who may see it
--
CREATE ROLE hashgraph_why;
GRANT USAGE ON SCHEMA why TO hashgraph_why;
CREATE FUNCTION secret() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = why AS
'BEGIN RETURN (SELECT count(*) FROM s secret JOIN s t USING (id)); END';
SET ROLE hashgraph_why;
SELECT secret();
SELECT count(*) FROM hashgraph_last_plan();
RESET ROLE;
SELECT relations, reason FROM hashgraph_last_plan() WHERE operation = 'join';
GRANT pg_read_all_stats TO hashgraph_why;
SET ROLE hashgraph_why;
SELECT relations, reason FROM hashgraph_last_plan() WHERE operation = 'join';
RESET ROLE;
DISCARD ALL;
SELECT count(*) FROM public.hashgraph_last_plan();

SET client_min_messages = warning;
DROP SCHEMA why CASCADE;
DROP ROLE hashgraph_why;
