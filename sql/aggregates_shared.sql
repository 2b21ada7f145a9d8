--
-- Groups that the processes below a Gather share: each finishes and returns some of them.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table sha_fact as
  select i as id, i % 4000 as g, case when i % 11 > 0 then (i * 7919::int8 % 3500)::int end as h, (i % 120)::int2 as i2, case when i % 5 > 0 then i % 1000 end as i4,
         i * 1000000007::int8 as i8, (i % 997) / 8.0 as n, case when i % 3 > 0 then 10.0 ^ (i % 40) end as wide, 'text ' || i % 700 as t,
         repeat('long ' || i % 90, i % 70) as l, date '2000-01-01' + i % 3000 as d, i * interval '1 hour' as iv, i % 7 = 0 as b, i * 1.5::float8 as f8
    from generate_series(1, 30000) i;
create table sha_few (h int primary key, name text, part int);
insert into sha_few select i, 'name ' || i, i % 3 from generate_series(0, 3300) i;
vacuum analyze sha_fact, sha_few;

-- Runs a query both ways, and tells whether the groups were shared.
create function sha_check(query text) returns text language plpgsql as $$
declare
  line text;
  plan text := '';
begin
  perform set_config('hashgraph.enabled', 'on', true), set_config('hashgraph.force', 'on', true);
  for line in execute 'explain (costs off) ' || query loop
    plan := plan || line;
  end loop;
  return format('%s, %s', regexp_replace(join_check(query), ', by .*', ''),
                case when plan !~ 'Parallel Custom Scan \(HashGraphAggregate\)' then 'not by processes'
                     when plan ~ 'Finalize|Partial' then 'finalized by core'
                     else 'shared' end);
end
$$;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 3;

-- the plans: HAVING and the sort are below the Gather
set hashgraph.force = on;
explain (costs off) select h, count(*), sum(n) from sha_fact join sha_few using (h) group by h having count(*) > 5;
explain (costs off) select g, max(i4) from sha_fact group by g order by max(i4) desc, g;
explain (costs off) select distinct h, name from sha_fact join sha_few using (h);
-- few groups, and none, are combined by core
explain (costs off) select part, count(*) from sha_fact join sha_few using (h) group by part;
explain (costs off) select count(*) from sha_fact join sha_few using (h);
reset hashgraph.force;

-- aggregates and columns, in much and in little memory
create function sha_queries() returns setof text language sql as $$
  select format('select %s from sha_fact join sha_few using (h) %s', columns, rest)
    from (values ('h, count(*), count(i4), sum(i2), sum(i4), sum(i8), sum(n), avg(i2), avg(i4), avg(i8), avg(n), min(i4), max(i8), min(n), max(d)', 'group by h'),
                 ('h, g, max(t), min(l), sum(wide), avg(wide), min(wide), max(wide), stddev(i4), var_pop(n), bool_or(b), sum(iv), avg(iv), max(f8)', 'group by h, g'),
                 ('l, t, d, count(*)', 'group by l, t, d'),
                 ('h + 1, lower(name), sum(i4 * n), count(*) filter (where b), sum(i4) filter (where false)', 'group by h + 1, lower(name)'),
                 ('h, name, count(*)', 'group by h, name having sum(i4) % 3 = 1 and count(*) > 1'),
                 ('g, sum(i4 / (h + 1))', 'where i4 > 990 group by g'),
                 ('id / 5, count(*), sum(n), max(t), stddev(i4)', 'group by id / 5'),
                 ('g, count(*)', 'where id < 0 group by g'),
                 ('sum(count), count(*) from (select g, h, count(*) from sha_fact group by g, h) x', '')) queries (columns, rest)
$$;
select replace(replace(query, ' from sha_fact join sha_few using (h) ', ' ... '), '  ', ' ') as query, sha_check(query) from sha_queries() query
  where query !~ 'from \(select';
select sha_check('select sum(count), count(*) from (select g, h, count(*) from sha_fact group by g, h) x');
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select sha_check(query) from sha_queries() query where query !~ 'from \(select';
select sha_check('select distinct l, t, d from sha_fact join sha_few using (h)');
reset work_mem;
reset hash_mem_multiplier;

-- grouping sets: each process makes all of them of its own rows, and the groups of each are shared
create function sha_sets() returns setof text language sql as $$
  select format('select %s from sha_fact join sha_few using (h) %s', columns, rest)
    from (values ('part, count(*), sum(n)', 'group by rollup (part)'),
                 ('h, g, sum(n), avg(i4), stddev(i8), max(d), count(*)', 'group by rollup (h, g)'),
                 ('h, part, b, grouping(h, part), sum(i4), avg(n), grouping(b)', 'group by cube (h, part, b)'),
                 ('l, t, part, count(*), sum(i8)', 'group by grouping sets ((l, t), (t, part), (part), (part), ())'),
                 ('h, part, sum(i4)', 'group by grouping sets ((h), (part)) having sum(i4) > 100'),
                 ('part, name, bool_or(b), max(d)', 'group by part, rollup (name)'),
                 ('part, count(*), sum(n), grouping(part)', 'where id < 0 group by rollup (part)'),
                 ('count(*), max(n)', 'where id < 0 group by grouping sets ((), ())'),
                 ('part, count(*)', 'where id < 0 group by grouping sets ((part), (part, name))'),
                 ('h, g, count(*)', 'group by rollup (h, g) order by count(*) desc, h, g limit 20')) queries (columns, rest)
$$;
set hashgraph.force = on;
explain (costs off) select h, part, grouping(part), sum(n) from sha_fact join sha_few using (h) group by rollup (part, h) having sum(n) > 5;
reset hashgraph.force;
select replace(replace(query, ' from sha_fact join sha_few using (h) ', ' ... '), '  ', ' ') as query, sha_check(query) from sha_sets() query;
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select sha_check(query) from sha_sets() query;
reset work_mem;
reset hash_mem_multiplier;
set max_parallel_workers = 0;
select sha_check(query) from sha_sets() query;
reset max_parallel_workers;
set parallel_leader_participation = off;
select sha_check(query) from sha_sets() query;
reset parallel_leader_participation;
-- DISTINCT above the sets takes an expression that they may make NULL, and a column in it that they do not
select sha_check('select distinct h + 1, h from sha_fact join sha_few using (h) group by h, cube (h + 1)');
-- the query needs the first groups only
select count(*) from (select g, h, count(*) from sha_fact group by rollup (g, h) limit 7) x;

-- the leader alone, and workers alone
set max_parallel_workers = 0;
select sha_check('select h, g, count(*), sum(n), max(t) from sha_fact join sha_few using (h) group by h, g');
reset max_parallel_workers;
set parallel_leader_participation = off;
select sha_check('select h, g, count(*), sum(n), max(t) from sha_fact join sha_few using (h) group by h, g');
reset parallel_leader_participation;

-- a Gather that starts again, with and without changed parameters
select sha_check('select o.part, (select count(*) from (select g, h, sum(n) from sha_fact where id % 3 = o.part group by g, h) x) from sha_few o where o.h < 4');
set enable_material = off;
set enable_hashjoin = off;
set enable_mergejoin = off;
select sha_check('select o.h, x.s from sha_few o left join (select g, sum(n) s from sha_fact group by g order by g) x on x.g > 3990 + o.h where o.h < 4');
select sha_check('select o.h, x.s from sha_few o left join (select g, b, sum(n) s from sha_fact group by cube (g, b)) x on x.g > 3990 + o.h where o.h < 4');
reset enable_material;
reset enable_hashjoin;
reset enable_mergejoin;
-- the query needs the first groups only
select count(*) from (select g, h, count(*) from sha_fact group by g, h limit 7) x;
-- below other nodes of a parallel plan
select sha_check('select part, count(*), sum(s) from (select h, sum(i4) s from sha_fact group by h) x join sha_few using (h) group by part');
select sha_check('select * from (select h, sum(i4) s from sha_fact group by h) x join (select g, count(*) from sha_fact group by g) y on x.h = y.g');
select sha_check('select h, count(*) from (select h, g from sha_fact group by h, g) x group by h');
select sha_check('select g, count(*) from sha_fact group by g union all select h, sum(i4) from sha_fact group by h');
-- what is left to core, or to one process
select sha_check('select h, g, array_agg(i4 order by id) from sha_fact join sha_few using (h) group by h, g');
select sha_check('select h, g, count(distinct i4) from sha_fact join sha_few using (h) group by h, g');
select sha_check('select h, count(distinct i4) from sha_fact join sha_few using (h) group by rollup (h)');
select sha_check('select h, max(t) from sha_fact join sha_few using (h) group by rollup (h)');
create function sha_unsafe(n numeric) returns numeric language sql parallel unsafe immutable as 'select n + 1';
select sha_check('select h, g, sha_unsafe(sum(n)) from sha_fact join sha_few using (h) group by h, g');
select sha_check('select h, g, sum(n) from sha_fact join sha_few using (h) group by h, g having sha_unsafe(sum(n)) > 3');

-- errors are those of PostgreSQL, and so is the number of groups that are told
\set VERBOSITY terse
select h, g, sum(1 / (i4 - 999)) from sha_fact join sha_few using (h) group by h, g;
\set VERBOSITY default
create function sha_told(query text) returns table (line text) language plpgsql as $$
begin
  perform set_config('hashgraph.force', 'on', true);
  return query execute 'explain (analyze, costs off, timing off, summary off) ' || query;
end
$$;
select line from (select regexp_replace(line, ' \(actual.*', '') as line from sha_told('select h, count(*) from sha_fact join sha_few using (h) group by h') line) x
  where line ~ 'Gather|Aggregate|Groups|Planned';

-- core's own groups of sorted texts: several processes sort where one seems to cost less
create table sha_texts as select i % 5000 as k, 'text ' || (hashint4(i) & 65535) as t, i as v from generate_series(1, 60000) i;
analyze sha_texts;
reset hashgraph.force;
set max_parallel_workers_per_gather = 2;
set parallel_setup_cost = 100;
set parallel_tuple_cost = 0.1;
set enable_hashagg = off;
create function sha_merges(query text, out ours bool, out without bool) language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (format json) ' || query into plan;
  ours := plan::text ~ 'Gather Merge';
  perform set_config('hashgraph.enabled', 'off', true);
  execute 'explain (format json) ' || query into plan;
  without := plan::text ~ 'Gather Merge';
  perform set_config('hashgraph.enabled', 'on', true);
end
$$;
select * from sha_merges('select t, k, count(*) from sha_texts group by t, k');
select * from sha_merges('select t, k, count(*) from sha_texts group by rollup (t, k)');
select * from sha_merges('select t, k from sha_texts group by t, k');
-- not of integers
select * from sha_merges('select v, k, count(*) from sha_texts group by v, k');
select join_check('select t, k, count(*) from sha_texts group by rollup (t, k)');
select join_check('select t, k from sha_texts group by t, k having count(*) > 1');
-- not below another Gather
create table sha_other as select i as id, 'text ' || (hashint4(i) & 65535) as t, i % 100 as x from generate_series(1, 200000) i;
analyze sha_other;
\set joined 'select count(*), sum(c), sum(x) from sha_other join (select t, k, count(*) as c from sha_texts group by t, k) s using (t)'
\set hashed 'select count(*), sum(x) from sha_other where t in (select t from sha_texts group by t, k having max(v::text) > \'3\' offset 0) or x < 0'
\set several 'select count(*), sum(length(c)) from sha_other join (select t, string_agg(v::text, \',\' order by v) as c from sha_texts group by t) s using (t)'
:joined;
:hashed;
:several;
set hashgraph.enabled = off;
:joined;
:hashed;
:several;
reset hashgraph.enabled;
reset enable_hashagg;

drop table sha_fact, sha_few, sha_texts, sha_other;
drop function sha_merges, sha_check, sha_queries, sha_unsafe, sha_told, join_check, join_check_dml, join_nodes;
