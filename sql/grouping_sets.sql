--
-- Grouping sets: ROLLUP, CUBE, GROUPING SETS and GROUPING(), combined from the finest groups, with PostgreSQL's own results.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set agg_check :abs_srcdir '/sql/include/agg_check.sql'
\set ECHO none
\i :join_check
\i :agg_check
\set ECHO all

create table s_a as
  select i % 20 as k, i as id, case when i % 7 > 0 then i % 5 end as a, case when i % 9 > 0 then 'text ' || i % 4 end as t,
         case when i % 8 > 0 then date '2000-01-01' + i % 6 end as d, (i % 3)::numeric / 2 as n, ('c' || i % 4)::char(4) as c,
         case when i % 6 > 0 then i - 1000 end as i4, (i - 1000) * 4611686018427387 as i8, (i % 100)::numeric(10, 2) / 4 as nu,
         case when i % 10 = 0 then 1e40 + i else i / 4.0 end as large, i * interval '1 hour' as iv, i / 7.0::float8 as f8, repeat('long ' || i % 9, i % 80) as l
    from generate_series(1, 2000) i;
alter table s_a alter k set not null;
create table s_b (k int primary key, g int not null, h text);
insert into s_b select i, i % 3, case when i % 5 > 0 then 'group ' || i % 4 end from generate_series(0, 17) i;
create table s_empty (k int, e int);
analyze;

-- the plan shows the sets as PostgreSQL's does
set hashgraph.force = on;
explain (costs off) select a, t, g, count(*), grouping(a, g) from s_a join s_b using (k) group by rollup (a, t, g) having grouping(t) = 0;
explain (costs off) select a, t, sum(i4) from s_a join s_b using (k) group by grouping sets (a, t, (a, t), (), (), t);
-- groups of all columns are made, but not returned
explain (costs off) select a, g, sum(i4) from s_a join s_b using (k) group by grouping sets (a, g);
-- so are those with the column whose values are aggregated once
explain (costs off) select a, count(distinct t), count(t) from s_a join s_b using (k) group by rollup (a, g);
explain (costs off) select a, count(distinct t), count(t) from s_a join s_b using (k) group by a;
create function sets_json(query text) returns jsonb language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (costs off, format json) ' || query into plan;
  return (plan->0->'Plan'->'Grouping Sets')::jsonb;
end
$$;
select sets_json('select a, g, count(*) from s_a join s_b using (k) group by rollup (a, g)');
reset hashgraph.force;

-- kinds of sets
select agg_check(format('select %s, count(*), sum(i4), grouping(%1$s) from s_a join s_b using (k) group by %s', columns, sets))
  from (values ('a, t, g', 'rollup (a, t, g)'), ('a, t, g', 'cube (a, t, g)'), ('a, t, g', 'grouping sets ((a, t), (t, g), (g, a))'), ('a, t, g', 'grouping sets (a, t, g, ())'),
    ('a, t, g', 'a, rollup (t, g)'), ('a, t', 'grouping sets ((a), (a), (t), (a, t), (a, t))'), ('a, t, g', 'rollup ((a, t), g)'), ('a, t, g', 'rollup (a, t), cube (t, g)'),
    ('a, t, g', 'distinct rollup (a, t), rollup (a, g)'), ('a', 'rollup (a)'), ('a, t, g, d, c, k', 'rollup (a, t, g, d, c, k)'), ('a, t, g, d, c', 'cube (a, t, g, d, c)'),
    ('n, c, d', 'cube (n, c, d)'), ('h, l', 'rollup (h, l)'), ('id, k', 'grouping sets (rollup (id, k), k)')) v (columns, sets);
select agg_check('select count(*), sum(i4) from s_a join s_b using (k) group by ()');
select agg_check('select count(*), sum(i4) from s_a join s_empty using (k) group by ()');
select agg_check('select count(*), sum(i4) from s_a join s_b using (k) group by grouping sets ((), ())');
select agg_check('select a, t from s_a join s_b using (k) group by cube (a, t)');
-- more sets than a node has
select agg_check('select a, t, g, count(*) from s_a join s_b using (k) group by cube (a, t, g, d, c, n, h)');

-- no rows: the empty set still has a group
select agg_check('select e, count(*), sum(i4), avg(nu), max(d), grouping(e) from s_a join s_empty using (k) group by ' || sets)
  from unnest(array['rollup (e)', 'grouping sets (e)', 'grouping sets (e, (), ())', 'grouping sets ((), (e, k))']) sets;

-- every kind of state is combined, in memory and from files
create function sets_of_states() returns setof text language sql as $$
  select agg_check(format('select a, t, %s from s_a join s_b using (k) group by rollup (id, a, t)', list))
    from (values ('count(*), count(i4), sum(i4), avg(i4)'), ('sum(i8), avg(i8), min(i8), max(i4), min(d), max(d)'), ('sum(nu), avg(nu), sum(large), avg(large)'),
      ('min(nu), max(nu), min(large), max(large), min(nu * 2), max(large + 1)'), ('max(iv), min(iv)'), ('sum(iv), avg(iv), bool_and(i4 > 0), bit_or(i4), bit_xor(i8)'),
      ('variance(i4), stddev(i8), var_pop(nu), stddev_pop(large)'), ('count(*) filter (where i4 > 0), sum(i4) filter (where t is null), sum(i4 + a), sum(nu * i4)')) v (list);
$$;
select sets_of_states();
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select sets_of_states();
-- with long values and with many sets
select agg_check('select l, id, count(*), max(iv) from s_a join s_b using (k) group by rollup (l, id)');
select agg_check('select l, id, a, t, d, sum(nu), avg(i8) from s_a join s_b using (k) group by cube (l, id, a, t)  , d');
create function sets_disk(query text) returns text language plpgsql as $$
declare
  line text;
begin
  perform set_config('hashgraph.force', 'on', true);
  for line in execute 'explain (analyze, costs off, timing off, summary off) ' || query loop
    if line ~ '^ *Partitions: ' then
      return 'goes to disk';
    end if;
  end loop;
  return 'in memory';
end
$$;
select sets_disk('select id, l, count(*) from s_a group by rollup (id, l)'), sets_disk('select a, t, count(*) from s_a group by rollup (a, t)');
reset hash_mem_multiplier;
reset work_mem;

-- a column of a set and NULL of another one: in HAVING, above, in aggregates, and non-nullable ones
select agg_check(format('select %s', q)) as result, q
  from unnest(array['a, t, count(*) from s_a join s_b using (k) group by rollup (a, t) having a is null', 'a, t, count(*) from s_a join s_b using (k) group by rollup (a, t) having grouping(a) = 0 and a is null',
    'g, k, count(*), g is null, coalesce(k, -1) from s_a join s_b using (k) group by cube (g, k)', 'a, a + 1, sum(a), sum(a + 1), count(a) from s_a join s_b using (k) group by rollup (a, a + 1)',
    'a + 1, (a + 1) * 2, sum(a + 1), max(a) from s_a join s_b using (k) group by rollup (a + 1, t)', 'coalesce(t, ''none''), t || ''x'', count(*) from s_a join s_b using (k) group by rollup (t, h)',
    'case when grouping(a) = 1 then ''all'' else a::text end, sum(i4) from s_a join s_b using (k) group by cube (a, g) having sum(i4) > 0', 'a, sum(i4) filter (where a > 2), count(*) filter (where a is null) from s_a join s_b using (k) group by rollup (a, g)',
    'grouping(a) + grouping(g) * 10 + count(*), grouping(g, a, g) from s_a join s_b using (k) group by cube (a, g) having grouping(a, g) < 3 and count(*) > 1', 'k, h, count(*) from s_a join s_b using (k) group by rollup (k, h) having h <> ''group 1''',
    'b.k, h, g + 1, count(*) from s_a a join s_b b using (k) group by b.k, rollup (a)', 'a, (select max(h) from s_b x where x.g = y.a), count(*) from s_a y join s_b using (k) group by rollup (a, t)',
    'a, max(count(*)) over (partition by grouping(a)), rank() over (order by count(*), a) from s_a join s_b using (k) group by rollup (a, t)', 'distinct a, grouping(a, t) from s_a join s_b using (k) group by cube (a, t)',
    'x, y, count(*) from (select a as x, coalesce(h, ''no'') as y from s_a left join s_b using (k)) q group by rollup (x, y)', 'a, h, count(*) from s_a left join s_b on s_a.k = s_b.k and g > 0 group by cube (a, h)',
    'a, n, generate_series(1, 2), count(*) from s_a join s_b using (k) group by rollup (a, n)', 'g, count(*) from s_a join s_b using (k) where g = 1 group by rollup (g, a)',
    'o.k, q.* from s_b o, lateral (select a, count(*), sum(i4) from s_a join s_b b using (k) where b.g = o.g group by rollup (a, t) offset 0) q']) q;
-- the order of groups and the first of them
select a, g, count(*), grouping(a, g) from s_a join s_b using (k) group by rollup (a, g) order by a, g, grouping(a, g) limit 8;
select agg_check('select * from (select a, t, sum(i4) from s_a join s_b using (k) group by rollup (a, t) order by 3 desc, 1, 2 limit 5) q');

-- values that are aggregated once: of a column that no set has, in all sets and in one, beside other aggregates, and of two columns
select agg_check(format('select %s', q)) as result, q
  from unnest(array['a, count(distinct t), count(t), max(i4) from s_a join s_b using (k) group by rollup (a, g)', 'a, g, sum(distinct i4), count(*), grouping(a, g) from s_a join s_b using (k) group by cube (a, g), rollup (a)',
    'count(distinct d), min(d), sum(n) from s_a join s_b using (k)', 'count(distinct d), count(*) from s_a join s_b using (k) where s_a.k < 0', 'a, count(distinct d), count(*) from s_a join s_b using (k) where s_a.k < 0 group by a',
    'count(distinct d), count(*) from s_a join s_b using (k) where g = 1 group by g', 'count(distinct d), count(*) from s_a join s_b using (k) where g = 1 and s_a.k < 0 group by g',
    's_b.k, h, count(distinct h), sum(i4) from s_b join s_a using (k) group by s_b.k', 't, count(distinct a) as x, sum(i4) from s_a join s_b using (k) group by t order by x desc, t limit 3',
    'a, count(distinct t), count(distinct d) from s_a join s_b using (k) group by a', 'a, count(distinct a), count(*) from s_a join s_b using (k) group by a', 'a, count(distinct a), max(i4) from s_a join s_b using (k) group by cube (a, g)']) q;

-- columns that are the same expression, which versions tell apart or not, and which sets have one by one
select join_check('select x, y, count(*), grouping(x, y) from (select a as x, a as y from s_a join s_b using (k)) q group by grouping sets (x, y, (x, y))');
select join_check('select a, case when true then a end, count(*) from s_a join s_b using (k) group by cube (a, case when true then a end)');
select join_check('select a, (a + 1)::text, count(*), rank() over (order by count(*), a) from s_a join s_b using (k) group by a, cube (a + 1)');
select join_check('select a, (a + 1)::text, count(*), rank() over (order by count(*), a) from s_a join s_b using (k) group by a + 1, cube (a)');
-- a window function below which an expression's columns are kept beside the expression, which is a group column
select agg_check(format('select %s', q)) as result, q
  from unnest(array['i4 / 7, (i4 / 7)::text || g, rank() over (order by count(*), i4 / 7) from s_a join s_b using (k) group by g, cube (i4 / 7)',
    'i4 / 7, coalesce((i4 / 7)::text, ''none''), sum(i4), count(i4 / 7), lag(sum(i4 + 1)) over (order by count(*), i4 / 7) from s_a join s_b using (k) group by cube (i4 / 7) having grouping(i4 / 7) = 1',
    'x / 7, coalesce((x / 7)::text, ''none''), count(*), rank() over (order by count(*), x / 7) from (select coalesce(g, 3) as x from s_a left join s_b using (k)) q group by rollup (x / 7, x)',
    'a, a + 1, sum(a), count(*) from s_a join s_b using (k) group by a, cube (a + 1)',
    'i4 / 7, (i4 / 7)::text, count(distinct d), rank() over (order by count(*), i4 / 7) from s_a join s_b using (k) group by cube (i4 / 7)']) q;
-- left to core: columns without variables, long values, and what the node does not compute
select agg_check(format('select %s', q)) as result, q
  from unnest(array['a, max(l), count(*) from s_a join s_b using (k) group by rollup (a)', 'x, a, count(*) from (select 1 as x, a from s_a join s_b using (k)) q group by rollup (x, a)',
    'a, array_agg(i4 order by id) from s_a join s_b using (k) group by rollup (a, g)', 'a, round(sum(f8)::numeric, 6) from s_a join s_b using (k) group by rollup (a, g)']) q;
set hashgraph.float_sums = on;
select agg_check('select a, round(sum(f8)::numeric, 6), round(stddev(f8)::numeric, 6) from s_a join s_b using (k) group by rollup (a, g)');
reset hashgraph.float_sums;

-- errors
set hashgraph.enabled = off;
select a, 1 / (count(*) - count(*)) from s_a join s_b using (k) group by rollup (a);
reset hashgraph.enabled;
set hashgraph.force = on;
select a, 1 / (count(*) - count(*)) from s_a join s_b using (k) group by rollup (a);
-- a cursor that stops early, and a plan that runs again
begin;
declare sets cursor for select a, id, count(*) from s_a join s_b using (k) group by rollup (a, id);
move 3 in sets;
close sets;
commit;
prepare sets (int) as select a, count(*) from s_a join s_b using (k) where g < $1 group by rollup (a) order by grouping(a) desc, a limit 1;
set plan_cache_mode = force_generic_plan;
execute sets (1);
execute sets (3);
execute sets (0);
reset plan_cache_mode;
deallocate sets;
reset hashgraph.force;

-- where few rows are expected, PostgreSQL's groups cost as much as the node's within 1 %, and the first ones come sooner
create table s_fact as select i as k, i % 40 as a, i % 30 as b, i as v from generate_series(1, 200000) i;
create table s_key as select i * 7 as k from generate_series(1, 1500) i;
analyze s_fact, s_key;
set max_parallel_workers_per_gather = 0;
explain (costs off) select a, b, sum(v) from s_fact join s_key using (k) group by rollup (a, b);
reset max_parallel_workers_per_gather;
select agg_check('select a, b, sum(v) from s_fact join s_key using (k) group by rollup (a, b)');
drop table s_a, s_b, s_empty, s_fact, s_key;
drop function agg_check, sets_json, sets_of_states, sets_disk;
