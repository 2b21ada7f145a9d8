--
-- Set operations: UNION, INTERSECT and EXCEPT by the aggregate node, with PostgreSQL's own rows.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set agg_check :abs_srcdir '/sql/include/agg_check.sql'
\set ECHO none
\i :join_check
\i :agg_check
\set ECHO all

create collation uni_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create type uni_pair as (i int, t text);
create table uni_a as
  select i as id, i % 20 as k, case when i % 7 > 0 then i % 50 end as a, case when i % 9 > 0 then 'text ' || i % 40 end as t, ('c' || i % 4)::char(4) as c,
         (case when i % 2 = 0 then 'Word ' else 'word ' end || i % 5) collate uni_nocase as w, (i % 30) / 4.0 as n, i % 5 = 0 as o, array[i % 3, null] as r, (i % 6, 'x')::uni_pair as p,
         repeat('long ' || i % 9, i % 80) as l, date '2000-01-01' + i % 6 as d
    from generate_series(1, 2000) i;
create table uni_b (k int primary key, g int not null, h text);
insert into uni_b select i, i % 3, case when i % 5 > 0 then 'text ' || i end from generate_series(0, 30) i;
create table uni_empty (k int, e int);
analyze;

-- the plans: columns are named after the first branch's, and 0 is its number
set hashgraph.force = on;
set max_parallel_workers_per_gather = 0;
-- (19 calls the branches otherwise)
create function set_plan(query text) returns setof text language plpgsql as $$
declare
  line text;
begin
  for line in execute 'explain (costs off) ' || query loop
    return next regexp_replace(line, '"\*SELECT\* \d"|unnamed_subquery(_\d)?', 'branch', 'g');
  end loop;
end
$$;
select set_plan('select a, t from uni_a join uni_b using (k) union select k, h from uni_b');
select set_plan('select a, t from uni_a join uni_b using (k) union select k, h from uni_b order by 2, 1 limit 3');
create function set_nodes(query text) returns text language plpgsql as $$
declare
  line text;
  result text[];
begin
  for line in execute 'explain (costs off, verbose) ' || query loop
    if line ~ '(HashGraph\w+|SetOp|Recursive Union|Group Key|Set Operation)' then
      result := result || regexp_replace(trim(line, ' ->'), '"\*SELECT\* \d"|unnamed_subquery(_\d)?', 'branch', 'g');
    end if;
  end loop;
  return array_to_string(result, '; ');
end
$$;
select set_nodes('select a, t from uni_a join uni_b using (k) ' || operation || ' select k, h from uni_b') from unnest(array['union', 'except', 'intersect', 'union all', 'except all', 'intersect all']) operation;
select set_nodes('select * from uni_b join (select a, t from uni_a except select k, h from uni_b) x (k, t) using (k)');
-- they are listed like other aggregates
select count(*) from (select a, t from uni_a join uni_b using (k) union select k, h from uni_b) x;
select step, operation, node, cardinality(relations), chosen, reason from hashgraph_last_plan();
reset max_parallel_workers_per_gather;
reset hashgraph.force;

-- kinds of operations and columns
select operation, agg_check(format('select %s from uni_a join uni_b using (k) where id %% 3 > 0 %s select %1$s from uni_a where id %% 7 > 2', columns, operation))
  from unnest(array['union', 'intersect', 'except']) operation,
       unnest(array['a', 'a, t', 't, a, c', 'c', 'w', 'n', 'o', 'r', 'p', 'l, d', 'id', 'id, a, t, c, n, o, r, p, l, d', 'a + 1, upper(t)', '1, a', 'null::int', '''constant''']) columns;
-- types that cannot be hashed
select agg_check('select r, tsvector ''a'' from uni_a union select r, tsvector ''b'' from uni_a');
select agg_check('select r, tsvector ''a'' from uni_a except select r, tsvector ''b'' from uni_a where a > 3');
select agg_check('select a, bit ''1'' from uni_a union select a, bit ''0'' from uni_a');
-- no columns at all
select agg_check('select from uni_a union select from uni_b');
select agg_check('select from uni_a except select from uni_b');
-- ALL: each row as often as both branches have it, or as often as the left one has it more
select agg_check('select a from uni_a join uni_b using (k) ' || operation || ' select k from uni_b') from unnest(array['union all', 'except all', 'intersect all']) operation;
select operation, agg_check(format('select %s from uni_a join uni_b using (k) where id %% 3 > 0 %s all select %1$s from uni_a where id %% 7 > 2', columns, operation))
  from unnest(array['intersect', 'except']) operation,
       unnest(array['a', 'a, t', 't, a, c', 'c', 'n', 'o', 'r', 'p', 'l, d', 'id', 'id, a, t, c, n, o, r, p, l, d', 'a + 1, upper(t)', '1, a', 'null::int', '''constant''']) columns;
-- of equal values that differ PostgreSQL repeats one, and so does the node
select operation, agg_check(format('select count(*), count(distinct w), min(lower(w collate "C")) from (select w from uni_a where id %% 3 > 0 %s all select w from uni_a where id %% 2 = 0) x group by w', operation)) from unnest(array['intersect', 'except']) operation;
-- the left branch has more rows, fewer, or none, and the right one has none
select operation, n, m, agg_check(format('select 1 + 0 * i, null::text from generate_series(1, %s) i %s all select 1, null from generate_series(1, %s)', n, operation, m))
  from unnest(array['intersect', 'except']) operation, (values (5, 3), (3, 5), (4, 4), (0, 3), (3, 0)) v (n, m);
-- a large count
select agg_check(format('select a, count(*), sum(k) from (select a, k from uni_a, generate_series(1, 60) %s all select a, k from uni_a, generate_series(1, 25)) x group by a', operation)) from unnest(array['intersect', 'except']) operation;
-- operations of operations, with and without ALL
select o1, o2, agg_check(format('(select a, k from uni_a %s select k, g from uni_b) %s select k, a from uni_a where id < 900', o1, o2)) as left, agg_check(format('select a, k from uni_a %s (select k, a from uni_a where id < 900 %s select k, g from uni_b)', o1, o2)) as right
  from unnest(array['union', 'union all', 'intersect all', 'except all', 'except']) o1, unnest(array['union', 'union all', 'intersect', 'intersect all', 'except all']) o2;
select agg_check('select a from uni_a except all select k from uni_b except all select k from uni_b where k > 3 except all select a from uni_a where id < 300');
-- a row as often as it is counted comes before the next one
select agg_check('select * from (select a, t from uni_a ' || operation || ' all select a, t from uni_a where id % 4 > 0 order by t desc nulls last, a limit 17 offset 5) x') from unnest(array['intersect', 'except']) operation;
select agg_check('select k, x.* from uni_b, lateral (select a, g from uni_a where uni_a.k = uni_b.k ' || operation || ' all select g, g from uni_b b2 where b2.k > uni_b.k offset 0) x') from unnest(array['intersect', 'except']) operation;
-- types are made the same, in branches and in operations
select agg_check('select a from uni_a ' || operation || ' select a::int8 from uni_a where id < 900') from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('(select a, k from uni_a ' || operation || ' select k, a from uni_a where id < 900) union select a::int8, 0.5 + k from uni_a where id < 50') from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('select c from uni_a ' || operation || ' select t from uni_a') from unnest(array['union', 'intersect', 'except']) operation;

-- equal values that differ: those of the left branch, as far as it has the row
select agg_check('select count(*), min(w collate "C") is not null from (select w from uni_a ' || operation || ' select w from uni_a where id % 2 = 0) x') from unnest(array['union', 'intersect']) operation;
select agg_check('select 1.0 + a from uni_a where a < 3 intersect select 1.0 + a from uni_a');
select agg_check('select n = any (array[0.25, 1.50]) from (select n from uni_a union select n * 1.000 from uni_a) x');

-- empty branches, and one row
select agg_check('select k, e from uni_empty ' || operation || ' select a, k from uni_a where id < 500') from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('select a, k from uni_a where id < 500 ' || operation || ' select k, e from uni_empty') from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('select k from uni_empty ' || operation || ' select e from uni_empty') from unnest(array['union', 'intersect', 'except']) operation;
-- from 19 on only one branch is left
select split_part(agg_check('select a from uni_a where false ' || operation || ' select k from uni_b'), ',', 1) from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('select 1 union select a from uni_a union values (2), (null)');

-- operations in operations
select agg_check('select a, k from uni_a ' || one || ' (select k, g from uni_b ' || two || ' select g, k from uni_b) ' || one || ' select k, k from uni_b')
  from unnest(array['union', 'intersect', 'except', 'union all', 'except all']) one, unnest(array['union', 'intersect', 'except', 'union all', 'intersect all']) two;
select agg_check('((select a from uni_a except select k from uni_b) union select g from uni_b) except (select k from uni_b intersect (select a from uni_a union all select 3))');

-- in queries: sorted, limited, joined, in a CTE, in expressions, with volatile and set-returning functions
select agg_check('select a, t from uni_a join uni_b using (k) ' || operation || ' select k, h from uni_b order by 2 desc nulls last, 1 limit 7 offset 2') from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('select * from uni_b join (select a, count(*) from uni_a group by a union select k, g from uni_b) x (k, n) using (k)');
select agg_check('select g, count(*), sum(a) from uni_b join (select a, t from uni_a except select k, h from uni_b where g > 0) x on a = k group by g');
select agg_check('with x as materialized (select a from uni_a intersect select k from uni_b) select count(*) from x x1, x x2');
select agg_check('select (select count(*) from (select a from uni_a union select k from uni_b) x), k in (select k from uni_b except select a from uni_a where id < 9) from uni_b');
select agg_check('select a, random() < 2 from uni_a union select k, random() > 2 from uni_b');
select agg_check('select generate_series(1, k) from uni_b union select a from uni_a');
select agg_check('select a from uni_a union select k from uni_b limit 0');
-- recursive ones are PostgreSQL's
select set_nodes('with recursive n (i) as (select a from uni_a where a < 3 union select i + 1 from n where i < 20) select * from n');
select agg_check('with recursive n (i) as (select a from uni_a where a < 3 union select i + 1 from n where i < 20) select count(*) from n');
select agg_check('with recursive n (i) as ((select a from uni_a where a < 3 except select g from uni_b) union all select i + 1 from n where i < 20) select count(*) from n');
select agg_check('with recursive n (i) as (select 1 union all (select i + 1 from n where i < 40 intersect select k from uni_b)) select count(*), sum(i) from n');

-- run again for each outer row
select agg_check('select k, x.* from uni_b, lateral (select a, t from uni_a where uni_a.k = uni_b.k ' || operation || ' select g, h from uni_b b2 where b2.k > uni_b.k offset 0) x') from unnest(array['union', 'intersect', 'except']) operation;
select agg_check('select k, (select count(*) from (select a from uni_a where a > uni_b.k except select g from uni_b b2) x) from uni_b');
select agg_check('select * from uni_b left join (select a from uni_a union select k from uni_b) x on a < k');

-- little memory
create function set_disk(query text) returns text language plpgsql as $$
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
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select operation, agg_check(format('select id, l, t from uni_a join uni_b using (k) %s select id, l, t from uni_a where id %% 3 > 0', operation)) from unnest(array['union', 'intersect', 'except']) operation;
select operation, agg_check(format('select id %% 700, l, t from uni_a join uni_b using (k) %s all select id %% 900, l, t from uni_a where id %% 3 > 0', operation)) from unnest(array['intersect', 'except']) operation;
select set_disk(format('select id %% 1700, l, t from uni_a %s all select id %% 1900, l, t from uni_a where id %% 3 > 0', operation)) from unnest(array['intersect', 'except']) operation;
select agg_check('select k, x.* from uni_b, lateral (select id, l from uni_a where uni_a.k >= uni_b.k except select id, l from uni_a where id % 5 = uni_b.g) x');
reset work_mem;
reset hash_mem_multiplier;

-- several processes
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select operation, agg_check(format('select a, t from uni_a join uni_b using (k) %s select k, h from uni_b', operation)) from unnest(array['union', 'intersect', 'except', 'intersect all', 'except all']) operation;
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;

-- cursors, prepared statements, and a view that hides rows
set hashgraph.force = on;
begin;
declare cu scroll cursor for select a from uni_a where a < 5 union select k from uni_b where k between 3 and 6 order by 1;
fetch 3 from cu;
fetch backward 2 from cu;
fetch last from cu;
close cu;
commit;
prepare uni_query (int) as select count(*) from (select a from uni_a where a < $1 except select k from uni_b where k > $1 - 3) x;
set plan_cache_mode = force_generic_plan;
execute uni_query (10);
execute uni_query (20);
execute uni_query (null);
reset plan_cache_mode;
declare cu scroll cursor with hold for select a from uni_a where a < 5 except all select k from uni_b order by 1;
fetch 3 from cu;
fetch absolute 30 from cu;
fetch backward 2 from cu;
close cu;
create view uni_hidden with (security_barrier) as select a, k from uni_a where id % 2 = 0 union select k, g from uni_b;
select agg_check('select * from uni_hidden where a > 3 and k < 2');
-- an error in a branch is raised
select a from uni_a where a < 3 union select 10 / (k - 3) from uni_b;
select a from uni_a where a < 3 except select 10 / (k - 3) from uni_b;
select a from uni_a where a < 3 except all select 10 / (k - 3) from uni_b;
reset hashgraph.force;

-- short and wide rows in files, where those of the first branch come first
set hashgraph.force = on;
set work_mem = '256kB';
create table uni_wide as select i, case when i % 10 > 0 then 'text ' || i end as t from generate_series(1, 3000) i;
analyze uni_wide;
select agg_check(format('select count(*), count(x), sum(i) from (select i, repeat(t, 300) as x from uni_wide %s select i + 500, repeat(t, 300) from uni_wide where i %% 3 > 0 union all select 1, null) q', operation)) as result, operation
  from unnest(array['intersect', 'except', 'intersect all', 'except all']) operation;
select agg_check('select count(*), count(x), sum(i) from (select i, repeat(t, 300) as x from uni_wide intersect select i, repeat(t, 300) from uni_wide) q');
select agg_check('select count(*), count(x), sum(i) from (select i, repeat(t, 300) as x from uni_wide except select i, repeat(t, 300) from uni_wide where i % 7 > 0) q');
reset hashgraph.force;
-- left to core, as it is not known how wide rows are
select set_nodes('select i, repeat(t, 300) from uni_wide intersect select i, repeat(t, 300) from uni_wide') ~ '^(Hash)?SetOp Intersect$';
reset work_mem;
drop table uni_wide;
-- a user who may not call the function that counts the rows of the branches
create role uni_user;
grant select on uni_a, uni_b to uni_user;
begin;
revoke execute on function sum(int) from public;
set hashgraph.force = on;
set role uni_user;
select count(*) from (select a, k from uni_a intersect select k, g from uni_b) q;
select count(*) from (select a, k from uni_a except select k, g from uni_b) q;
rollback;
set hashgraph.enabled = off;
select count(*) from (select a, k from uni_a intersect select k, g from uni_b) q;
select count(*) from (select a, k from uni_a except select k, g from uni_b) q;
reset hashgraph.enabled;
drop owned by uni_user;
drop role uni_user;

-- hash aggregation disabled: as for groups
set enable_hashagg = off;
set hashgraph.min_rows = 0;
select set_nodes('select a, t from uni_a join uni_b using (k) union select a, t from uni_a');
reset enable_hashagg;
select set_nodes('select a, t from uni_a join uni_b using (k) union select a, t from uni_a');
reset hashgraph.min_rows;
-- few rows
select set_nodes('select a, t from uni_a join uni_b using (k) union select k, h from uni_b');
