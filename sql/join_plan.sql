--
-- Plans: what EXPLAIN shows, what the node is offered for, and that off means off.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table p_a (k int, v int, t text, o text collate "C");
create table p_b (k int8, w int, t text, o text collate "C");
insert into p_a select i, i, 't' || i from generate_series(1, 500) i;
insert into p_b select i, i, 't' || i from generate_series(1, 500) i;
analyze p_a, p_b;
set hashgraph.force = on;

-- shapes
explain (costs off) select * from p_a join p_b using (k);
explain (costs off) select * from p_a a left join p_b b on a.k = b.k and a.v < b.w where b.w is null or b.w > 3;
explain (costs off) select * from p_a a where exists (select from p_b b where b.k = a.k and b.w > a.v);
explain (costs off) select * from p_a a where not exists (select from p_b b where b.k = a.k);
explain (costs off) select count(*) from p_a a join p_b b on a.k = b.k and a.t = b.t;
explain (costs off, verbose) select a.v from p_a a join p_b b on a.k + 1 = b.k;
explain (costs off, verbose) select a.v from p_a a join p_b b on a.t = b.t;

-- every join type is taken; declined: no hashable clause, clauses of one side
select join_nodes('select * from p_a full join p_b using (k)') as full_join,
       join_nodes('select * from p_a a right join p_b b using (k)') as right_join,
       join_nodes('select * from p_a a join p_b b on a.k < b.k') as inequality,
       join_nodes('select * from p_a a join p_b b on a.k + b.k = 7') as one_sided,
       join_nodes('select * from p_a a left join p_b b on a.v > b.w where a.k = b.k or b.k is null') as where_only,
       join_nodes('select * from p_a a cross join p_b b') as no_clause,
       join_nodes('select * from p_a a, lateral (select * from p_b b where b.k = a.k limit 1) s') as lateral_limit;

-- small joins are left to core, unless forced
reset hashgraph.force;
select join_nodes('select * from p_a join p_b using (k)') as small,
       current_setting('hashgraph.min_rows') as min_rows;

-- off: the very plans, costs included, that PostgreSQL makes
create function p_plan(query text) returns text language plpgsql as $$
declare
  line text;
  plan text := '';
begin
  for line in execute 'explain ' || query loop
    plan := plan || line || E'\n';
  end loop;
  return plan;
end
$$;
set hashgraph.force = on;
set hashgraph.enabled = off;
select p_plan('select * from p_a join p_b using (k)') like '%Custom Scan%' as has_node,
       p_plan('select * from p_a full join p_b using (k)') like 'Hash Full Join%' as core_full_join;
-- considered, and not taken: the plan is the same too
create table p_off as
  select q, p_plan(q) as plan from (values
    ('select * from p_a join p_b using (k)'),
    ('select * from p_a left join p_b using (k) order by k'),
    ('select * from p_a a where exists (select from p_b b where b.k = a.k)'),
    ('select * from p_a a where not exists (select from p_b b where b.t = a.t)')) s (q);
set hashgraph.enabled = on;
set hashgraph.force = off;
select q, p_plan(q) = plan as same from p_off order by q;

-- EXPLAIN ANALYZE: a property for each number
set hashgraph.force = on;
create function p_properties(query text) returns text language plpgsql as $$
declare
  result json;
begin
  execute 'explain (analyze, buffers off, format json) ' || query into result;
  return (select string_agg(key, ', ' order by key)
          from json_object_keys(result -> 0 -> 'Plan') key
          where key not in ('Actual Loops', 'Actual Rows', 'Actual Startup Time', 'Actual Total Time',
                            'Async Capable', 'Parallel Aware', 'Parent Relationship', 'Plan Rows', 'Plan Width',
                            'Plans', 'Startup Cost', 'Total Cost', 'Disabled',
                            -- where a device has a say
                            'Device', 'Device Memory Usage', 'Fallback', 'Device Estimate', 'CPU Estimate',
                            'Transfer Time'));
end
$$;
select p_properties('select * from p_a a left join p_b b on a.k = b.k and a.v < b.w');
create function p_property(query text, variadic keys text[]) returns text language plpgsql as $$
declare
  result json;
begin
  execute 'explain (analyze, buffers off, format json) ' || query into result;
  return (select string_agg(k || '=' || (result -> 0 -> 'Plan' ->> k), ' ') from unnest(keys) k);
end
$$;
select p_property('select * from p_a a left join p_b b on a.k = b.k and a.v < b.w',
                  'Custom Plan Provider', 'Join Type', 'Hash Cond', 'Join Filter', 'Outer Rows', 'Inner Rows',
                  'Null Keys', 'Matches', 'Executions', 'Partitions', 'Rows Removed by Join Filter');
select p_property('select * from (select nullif(k, 7) as k from p_a) a join (select * from p_b where w < 100) b using (k)',
                  'Outer Rows', 'Inner Rows', 'Null Keys', 'Matches');

-- the other ways to build and to probe give the same rows
set hashgraph.build = v1;
select join_check('select * from p_a join p_b using (k)');
set hashgraph.probe = standard;
select join_check('select * from p_a left join p_b using (t)');
set hashgraph.build = v2;
select join_check('select * from p_a join p_b using (k, t)');
set hashgraph.probe = 'intersect';
set hashgraph.bins = 64;
select join_check('select * from p_a left join p_b using (k)');
set hashgraph.load_factor = 16;
select join_check('select * from p_a join p_b using (t)');
set hashgraph.load_factor = 0.25;
set hashgraph.bins = 1048576;
select join_check('select * from p_a join p_b using (k)');
reset all;

-- a window, a sort and a merge above; a parallel plan beside it
set hashgraph.force = on;
select join_check('select k, v, w from p_a join p_b using (k) order by v desc limit 10');
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select join_check('select k, v, w from p_a join p_b using (k)');
reset all;

drop function p_plan, p_properties, p_property;
drop table p_a, p_b, p_off;
