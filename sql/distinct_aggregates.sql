--
-- Aggregates over the distinct values of several columns, and of rows that pass a FILTER, with PostgreSQL's own results.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set agg_check :abs_srcdir '/sql/include/agg_check.sql'
\set ECHO none
\i :join_check
\i :agg_check
\set ECHO all

create collation da_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table da_a as
  select i % 20 as k, i as id, case when i % 7 > 0 then i % 5 end as a, case when i % 9 > 0 then 'text ' || i % 40 end as t, case when i % 8 > 0 then date '2000-01-01' + i % 60 end as d,
         (i % 3)::numeric / 2 as n, ('c' || i % 4)::char(4) as c, case when i % 6 > 0 then i * 7919 % 1000 end as i4, (i % 500) * 4611686018427387 as i8,
         (case when i % 2 = 0 then 'Word ' else 'word ' end || i % 50) collate da_nocase as w, i / 7.0::float8 as f8, repeat('long ' || i % 9, i % 80) as l, i % 3 = 0 as o
    from generate_series(1, 3000) i;
create table da_b (k int primary key, g int not null, h text);
insert into da_b select i, i % 3, case when i % 5 > 0 then 'group ' || i % 4 end from generate_series(0, 17) i;
create table da_empty (k int, e int, f int);
analyze;

-- the plans
set hashgraph.force = on;
explain (costs off) select a, count(distinct t), count(distinct i4), sum(i4) from da_a join da_b using (k) group by a;
explain (costs off) select count(distinct i4) filter (where o), count(distinct i4), count(distinct d) from da_a;
explain (costs off) select a, g, count(distinct t), count(distinct d) from da_a join da_b using (k) group by rollup (a, g);
reset hashgraph.force;

-- with and without groups, beside other aggregates, and of one column several times
create function da_checks() returns table (result text, query text) language sql as $$
select agg_check(format('select %s', q)), q
  from unnest(array['a, count(distinct t), count(distinct i4), sum(i4) from da_a join da_b using (k) group by a', 'count(distinct t), count(distinct i4), sum(i4), count(*) from da_a join da_b using (k)',
    'count(distinct t), count(distinct i4), count(distinct d), count(distinct n), count(distinct c), count(distinct i8), count(distinct w), count(distinct l), count(distinct o), count(*) from da_a',
    'g, sum(distinct i4), avg(distinct i4), variance(distinct a), max(distinct d), min(distinct i8), count(distinct t), sum(n), avg(i8), max(n) from da_a join da_b using (k) group by g',
    'h, c, count(distinct i4), sum(distinct i8) from da_a join da_b using (k) group by h, c', 'id, count(distinct t), count(distinct d), sum(i4) from da_a group by id',
    'w, count(distinct t), count(distinct i4) from da_a group by w', 'l, count(distinct w), count(distinct id), max(i4) from da_a group by l', 'count(distinct l), count(distinct w), stddev(i4), sum(n * i4) from da_a join da_b using (k)',
    'a, count(distinct t), count(distinct i4) from da_a where k < 0 group by a', 'count(distinct t), count(distinct i4), sum(i4) from da_a where k < 0', 'count(distinct e), sum(distinct f), count(*) from da_a join da_empty using (k)',
    'a, count(distinct t) as x, count(distinct i4) as y from da_a join da_b using (k) group by a having count(distinct t) > 3 and count(distinct i4) < 1000 order by x desc, y, a limit 3',
    's_b.k, h, count(distinct h), count(distinct t), sum(i4) from da_b s_b join da_a using (k) group by s_b.k', 'a + 1, count(distinct t) + count(distinct i4) from da_a group by a + 1',
    'count(distinct t), count(distinct i4) from da_a where a = 1 group by a', 'count(distinct a), sum(distinct a), avg(distinct a), count(distinct d), min(distinct d), max(distinct d) from da_a join da_b using (k)']) q
$$;
select * from da_checks();
-- FILTER: of one column and of several, equal and different ones, that pass no row, and of other aggregates too
create function da_filter_checks() returns table (result text, query text) language sql as $$
select agg_check(format('select %s', q)), q
  from unnest(array['a, count(distinct t) filter (where o), sum(i4) from da_a join da_b using (k) group by a', 'count(distinct t) filter (where o), sum(i4), count(*) from da_a',
    'a, count(distinct t) filter (where o), count(distinct t), sum(distinct i4) filter (where o), sum(distinct i4) filter (where not o), sum(i4) filter (where o) from da_a group by a',
    'count(distinct i4) filter (where i4 > 500), sum(distinct i4) filter (where i4 > 500), avg(distinct i4) filter (where i4 <= 500), count(distinct i4) from da_a join da_b using (k)',
    'g, count(distinct i4) filter (where false), count(distinct d) filter (where i4 < 0), count(*) from da_a join da_b using (k) group by g', 'count(distinct i4) filter (where null), count(distinct d) from da_a',
    'w, count(distinct l) filter (where length(l) > 40), count(*) filter (where length(l) > 40) from da_a group by w', 'a, count(distinct t) filter (where t like ''%1'' or d > ''2000-01-20''), max(d) from da_a group by a',
    's_b.k, h, count(distinct h) filter (where o), count(distinct h), count(distinct t), sum(i4) from da_b s_b join da_a using (k) group by s_b.k',
    'count(distinct t) filter (where i4 > (select min(g) from da_b)), count(distinct d) from da_a join da_b using (k)', 'count(distinct i4) filter (where o) from da_a where k < 0', 'a, count(distinct i4) filter (where o) from da_a where k < 0 group by a']) q
$$;
select * from da_filter_checks();
-- in grouping sets
create function da_sets_checks() returns table (result text, query text) language sql as $$
select agg_check(format('select a, t, g, count(distinct d), count(distinct i4), sum(distinct i8), sum(i4), count(*), grouping(a, t, g) from da_a join da_b using (k) group by %s', sets)), sets
  from unnest(array['rollup (a, t, g)', 'cube (a, t, g)', 'grouping sets ((a, t), (t, g), (g, a), ())', 'grouping sets ((a), (a), (t), (a, t), (a, t), (g), ())', 'rollup (a), rollup (t, g)']) sets
union all select agg_check(format('select a, t, g, count(distinct d) filter (where o), count(distinct i4) filter (where not o), sum(i4), count(*) from da_a join da_b using (k) group by %s', sets)), sets
  from unnest(array['rollup (a, t, g)', 'cube (a, t, g)', 'grouping sets ((a, t), (a, t), (t), (g), (), ())']) sets
union all select agg_check(format('select e, count(distinct f), count(distinct k), count(*) from da_a join da_empty using (k) group by %s', sets)), sets from unnest(array['rollup (e)', 'grouping sets ((e), (), ())', 'e']) sets
$$;
select * from da_sets_checks();
-- little memory
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select * from da_checks();
select * from da_filter_checks();
select * from da_sets_checks();
create function da_disk(query text) returns text language plpgsql as $$
declare
  line text;
begin
  perform set_config('hashgraph.force', 'on', true);
  for line in execute 'explain (analyze, costs off, timing off, summary off) ' || query loop
    if line ~ '^ *Partitions: ' then
      return 'on disk';
    end if;
  end loop;
  return 'in memory';
end
$$;
select da_disk('select count(distinct id), count(distinct i4) from da_a'), da_disk('select count(distinct a), count(distinct id) filter (where id % 10 > 0) from da_a'), da_disk('select count(distinct a), count(distinct k) from da_a');
reset hash_mem_multiplier;
reset work_mem;

-- run again for each outer row, in a prepared statement, in a cursor that stops early, and of partitions
select agg_check('select b.k, q.* from da_b b, lateral (select count(distinct t), count(distinct i4), sum(i4) from da_a where da_a.k >= b.k) q');
select agg_check('select k, (select count(distinct t) * 1000 + count(distinct i4) filter (where a > b.g) from da_a where da_a.k < b.k) from da_b b');
prepare da_query (int) as select count(distinct t), count(distinct i4) filter (where i4 > $1), sum(i4) from da_a where k <= $1;
set plan_cache_mode = force_generic_plan;
set hashgraph.force = on;
execute da_query (10);
execute da_query (null);
execute da_query (400);
set hashgraph.enabled = off;
execute da_query (10);
execute da_query (400);
reset hashgraph.enabled;
reset plan_cache_mode;
deallocate da_query;
begin;
declare da_cursor cursor for select id, count(distinct t), count(distinct d) from da_a group by id;
move 3 in da_cursor;
close da_cursor;
commit;
reset hashgraph.force;
create table da_parts (k int, a int, b int) partition by hash (k);
create table da_parts0 partition of da_parts for values with (modulus 2, remainder 0);
create table da_parts1 partition of da_parts for values with (modulus 2, remainder 1);
insert into da_parts select i % 7, i % 11, i % 13 from generate_series(1, 2000) i;
analyze da_parts;
set enable_partitionwise_aggregate = on;
select agg_check('select k, count(distinct a), count(distinct b), count(*) from da_parts group by k');
reset enable_partitionwise_aggregate;

-- errors of filters are raised
set hashgraph.enabled = off;
select count(distinct t) filter (where 1 / (i4 - 41) > 0), count(distinct d) from da_a;
reset hashgraph.enabled;
set hashgraph.force = on;
select count(distinct t) filter (where 1 / (i4 - 41) > 0), count(distinct d) from da_a;
reset hashgraph.force;

-- left to core: expressions, group columns, floating-point numbers, numerics that are not only counted, filters with subqueries, and too many sets
select agg_check(format('select %s', q)) as result, q
  from unnest(array['count(distinct i4 + 1), count(distinct t) from da_a join da_b using (k)', 'a, count(distinct a), count(distinct t) from da_a join da_b using (k) group by a', 'count(distinct t), round(sum(distinct f8)::numeric, 3) from da_a join da_b using (k)',
    'count(distinct t), sum(distinct n) from da_a join da_b using (k)', 'count(distinct t) filter (where exists (select from da_b x where x.g = i4)), count(distinct d) from da_a join da_b using (k)',
    'a, c, n, o, count(distinct t), count(distinct d), count(distinct i4), count(distinct i8), count(distinct id) from da_a join da_b using (k) group by cube (a, c, n, o)']) q;

drop table da_a, da_b, da_empty, da_parts;
drop function agg_check, da_checks, da_filter_checks, da_sets_checks, da_disk;
drop collation da_nocase;
