--
-- Rescans: a join below a nested loop or in a subplan, run again and again.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table r_a as select case when i % 9 = 0 then null else i % 30 end as k, i as v from generate_series(1, 200) i;
create table r_b as select case when i % 8 = 0 then null else i % 40 end as k, i as w from generate_series(1, 200) i;
create table r_c as select i as x from generate_series(1, 12) i;
create table r_d as select i as k, i * 7 as y from generate_series(1, 40) i;
analyze r_a, r_b, r_c, r_d;
create index r_d_k on r_d (k);

-- nothing changes: with Material above, and without
select join_check('select x, v, w from r_c left join (r_a join r_b using (k)) on v + w > x * 20');
select join_check('select x, v, w from r_c left join (r_a left join r_b using (k)) on v > x * 10');
set enable_material = off;
select join_check('select x, v, w from r_c left join (r_a join r_b using (k)) on v + w > x * 20');
select join_check('select x, v, w from r_c left join (r_a left join r_b using (k)) on v > x * 10');
select join_check('select x, s.* from r_c left join (select a.* from r_a a where exists (select from r_b b where b.k = a.k)) s on v > x * 10');
select join_check('select x, s.* from r_c left join (select a.* from r_a a where not exists (select from r_b b where b.k = a.k)) s on v > x * 10');
select join_check('select x from r_c where x * 30 > all (select v from r_a join r_b using (k) where w < 50)');
-- the inner side is empty, the outer side is empty
select join_check('select x, s.* from r_c left join (r_a left join (select * from r_b where w < 0) b using (k)) s on v > x * 10');
select join_check('select x, s.* from r_c left join (select * from r_a join (select * from r_b where w < 0) b using (k)) s on v > x * 10');
select join_check('select x, s.* from r_c left join (select * from (select * from r_a where v < 0) a left join r_b using (k)) s on v > x * 10');
-- it does not fit work memory
set work_mem = '64kB';
select join_check('select x, count(*) from r_c left join (select a.k, a.v, b.w from r_a a join r_b b using (k)
                     join generate_series(1, 20) g on g <> a.v) s on v + w > x * 20 group by x');
select join_check('select x, count(v), sum(w) from r_c left join (select a.v, b.w from (select r_a.* from r_a, generate_series(1, 20)) a
                     left join (select r_b.* from r_b, generate_series(1, 20)) b using (k)) s on v > x * 16 group by x');
reset work_mem;
reset enable_material;

-- parameters of one side, of the other, of both, of quals only
select join_check('select x, s.* from r_c, lateral (select v, w from r_a join r_b using (k) where v > x * 15 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a join r_b using (k) where w > x * 15 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a left join r_b on r_a.k = r_b.k and w > x * 15 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a join r_b using (k) where v > x * 15 and w < 200 - x offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a left join r_b on r_a.k = r_b.k and v + w > x * 30 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a left join r_b using (k) where coalesce(w, 0) + x > 150 offset 0) s');
select join_check('select x, (select count(*) from r_a join r_b using (k) where v < x * 10) from r_c');
select join_check('select x, (select count(*) from r_a join r_b using (k) where w < x * 10) from r_c');
select join_check('select x, (select count(*) from r_a left join r_b on r_a.k = r_b.k and w < x * 10) from r_c');
select join_check('select x, (select sum(v) from r_a a where not exists (select from r_b b where b.k = a.k and b.w < x * 15)) from r_c');
-- ... and of keys
select join_check('select x, s.* from r_c, lateral (select v, w from r_a join r_b on r_a.k = r_b.k + x offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a left join r_b on r_a.k + x = r_b.k offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a left join r_b on r_a.k + x = r_b.k - x and r_a.v = r_b.w offset 0) s');
select join_check('select x, (select count(*) from r_a join r_b on r_a.k * x = r_b.k) from r_c');
select join_check('select x, s.* from r_c, lateral (select v, w from r_a join r_b on r_a.k = (select y from r_d where r_d.k = r_b.k and y > x) offset 0) s');

-- a join below a nested loop with an index on the other side, and LIMIT, which stops early
select join_check('select x, s.* from r_c, lateral (select v, w from r_a join r_b using (k) where v > x order by v, w limit 3) s');
select join_check('select x, (select count(*) from (select from r_a join r_b using (k) where v > x limit 5) s) from r_c');
select join_check('select v, w, y from r_a join r_b using (k), lateral (select y from r_d where r_d.k = v + w offset 0) s');
-- ... among the rows of the inner side that have no match, when the outer side is gone
select join_check('select x, (select case when x % 2 = 0 then count(*) else sum(w) end
                     from (select w from (select * from r_a where v < 90) a full join r_b using (k) where coalesce(v, w) + x > 0
                     limit case when x % 2 = 0 then 435 end) s) from r_c');
select join_check('select x from r_c where exists (select from r_a join r_b using (k) where v * 10 = x * 50 and w > x)');
select join_check('select x, s.n from r_c left join lateral (select count(*) as n from r_a join r_b using (k)
                     where v = x) s on true');

-- ... among the inner rows without a match, when the outer ones were let go already.  Which
-- rows come before LIMIT may differ: compare only where there is none.
create table r_few as select i * 4 as k, i as w from generate_series(1, 15) i;
analyze r_few;
select count(*), count(v) from r_a right join r_few using (k);
select join_check('select * from (select x, s.* from r_c, lateral (select v, w, v + w + x as sum from r_a right join r_few using (k)
                     limit case when x % 2 = 1 then 50 end) s offset 0) t where x % 2 = 0');
select count(*), count(v), count(w) from r_a full join r_few using (k);
select join_check('select * from (select x, s.* from r_c, lateral (select v, w, v + w + x as sum from r_a full join r_few using (k)
                     limit case when x % 2 = 1 then 205 end) s offset 0) t where x % 2 = 0');
drop table r_few;

-- correlated, two levels deep
select join_check('select x, (select sum((select count(*) from r_a a join r_b b using (k) where a.v = d.y and b.w > x)) from r_d d where d.k < 10) from r_c');

-- One side depends on the row above, the other one does not and is read once or twice: what is read
-- again is told by the scans of its table, as 'loops x rows'.
create table r_large as select case when i % 50 = 0 then null else i % 2000 end as k, 'key ' || i % 2000 as t, i as v from generate_series(1, 6000) i;
create table r_small as select case when i % 9 = 0 then null else i * 3 end as k, 'key ' || i * 3 as t, i as w from generate_series(1, 400) i;
create index r_small_w on r_small (w);
analyze r_large, r_small;
create function reads(query text, relation text) returns text language plpgsql as $$
declare
  plan jsonb;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (analyze, timing off, summary off, costs off, format json) ' || query into plan;
  return (select string_agg(format('%s x %s', (n->>'Actual Loops')::float, round((n->>'Actual Rows')::numeric)), ', ')
          from jsonb_path_query(plan, 'strict $.**?(@."Node Type" like_regex "Scan" && @."Relation Name" == $r)', jsonb_build_object('r', relation)) n)
    || case when plan::text like '%HashGraphJoin%' then ', by HashGraphJoin' end;
end $$;
-- the outer side is kept, in whole, for other inner rows: it has more rows
select reads('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between x and x + 9 offset 0) s', 'r_large');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between x and x + 9 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w, l.t from r_large l join r_small using (t) where w + 0 between x and x + 9 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w, l.t from r_large l join r_small s on l.t = s.t and l.k = s.k and l.v + x > s.w * 4 where w + 0 between x and x + 9 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w, l.t from r_large l left join (select * from r_small where w + 0 between x and x + 9) s using (k) where v % 40 = 0 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w, l.t from r_large l right join (select * from r_small where w + 0 between x and x + 9) s using (k) offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w, l.t from r_large l full join (select * from r_small where w + 0 between x and x + 9) s using (k) where coalesce(v, 0) % 40 = 0 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, l.t from r_large l where exists (select from r_small s where s.k = l.k and w + 0 between x and x + 9) offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, l.t from r_large l where exists (select from r_small s where s.k = l.k and w + 0 between x and x + 9 and s.w * 5 < l.v) offset 0) s');
select join_check('select x, s.n from r_c, lateral (select count(*) as n from r_large l where not exists (select from r_small s where s.k = l.k and w + 0 between x and x + 9) offset 0) s');
select join_check('select x, (select count(*) from r_large join r_small using (k) where w + 0 between x and x + 9) from r_c');
select join_check('select x, s.* from r_c, lateral (select l.k, sum(v), sum(w) from r_large l join r_small using (k) where w + 0 between x and x + 9 group by l.k offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between x and x + 9 order by v, w limit 3) s');
-- ... where there are none of them at first, where they are many now and then, and where they differ in number
-- (the first execution finds the inner side empty, of which few rows are expected, and reads no outer row)
select reads('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between 1 and x - 5 offset 0) s', 'r_large');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between 1 and x - 5 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w % (x + 1) % 5 = 0 offset 0) s');
-- ... where hardly any of them match, and nothing is left to be joined
create function joined(query text) returns text language plpgsql as $$
declare
  plan jsonb;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (analyze, timing off, summary off, costs off, format json) ' || query into plan;
  return (select string_agg(format('%s of %s', n->>'Executions', (n->>'Actual Loops')::float), ', ')
          from jsonb_path_query(plan, 'strict $.**?(@."Custom Plan Provider" == "HashGraphJoin")') n);
end $$;
select joined('select x, s.* from r_c, lateral (select v, w from r_large l join r_small s on l.k = s.k + case x % 4 when 0 then 0 else 5000 end where w + 0 between x and x + 9 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large l join r_small s on l.k = s.k + case x % 4 when 0 then 0 else 5000 end where w + 0 between x and x + 9 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large l right join (select * from r_small where w + 0 between x and x + 9) s on l.k = s.k + case x % 4 when 0 then 0 else 5000 end offset 0) s');
select joined('select x, s.* from r_c, lateral (select g, v from generate_series(x * 3, x * 3 + 9) g left join (select * from r_large where v % 1 = 0) l on k = g + case x % 4 when 0 then 0 else 5000 end offset 0) s');
select join_check('select x, s.* from r_c, lateral (select g, v from generate_series(x * 3, x * 3 + 9) g left join (select * from r_large where v % 1 = 0) l on k = g + case x % 4 when 0 then 0 else 5000 end offset 0) s');
drop function joined;
-- the inner side is kept, and filters
select reads('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where v + x < 3000 offset 0) s', 'r_small');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where v + x < 3000 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where v + 0 between x and x + 3 offset 0) s');
-- ... and has more rows
select reads('select x, s.* from r_c, lateral (select g, v from generate_series(x * 3, x * 3 + 9) g join (select * from r_large where v % 1 = 0) l on k = g offset 0) s', 'r_large');
select join_check('select x, s.* from r_c, lateral (select g, v, t from generate_series(x * 3, x * 3 + 9) g join (select * from r_large where v % 1 = 0) l on k = g offset 0) s');
select join_check('select x, s.* from r_c, lateral (select g, v, t from generate_series(x * 3, x * 3 + 9) g left join (select * from r_large where v % 1 = 0) l on t = ''key '' || g and v > x * 200 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select w from r_small s where w between x and x + 9 and exists (select from r_large l where l.k = s.k) offset 0) s');
select join_check('select x, s.* from r_c, lateral (select w, t from r_small s where w between x and x + 9 and exists (select from r_large l where l.t = s.t and l.v > s.w * 4) offset 0) s');
select join_check('select x, s.* from r_c, lateral (select w, t from r_small s where w between x and x + 9 and not exists (select from r_large l where l.k = s.k and l.v % 2 = 0) offset 0) s');
-- no rows change, but what is asked of them
select reads('select x, (select count(*) from r_large l left join r_small s on l.k = s.k and v + w < x * 10) from r_c', 'r_large');
select reads('select x, (select count(*) from r_large l left join r_small s on l.k = s.k and v + w < x * 10) from r_c', 'r_small');
select join_check('select x, (select sum(v + coalesce(w, 0)) from r_large l left join r_small s on l.k = s.k and v + w < x * 10) from r_c');
-- each side depends on a row of its own
select join_check('select c.x, d.x, s.* from r_c c, r_c d, lateral (select v, w from r_large join r_small using (k) where v + 0 > c.x * 5 and w + 0 between d.x and d.x + 9 offset 0) s');
-- work memory does not hold it: it is read each time
set work_mem = '64kB';
select reads('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between x and x + 9 offset 0) s', 'r_large');
select join_check('select x, s.* from r_c, lateral (select v, w, l.t from r_large l join r_small using (k) where w + 0 between x and x + 9 offset 0) s');
select join_check('select x, s.* from r_c, lateral (select v, l.t from r_large l where exists (select from r_small s where s.k = l.k and w + 0 between x and x + 9 and s.w * 5 < l.v) offset 0) s');
-- ... it does, but not with the other side, which goes to disk now and then
set work_mem = '256kB';
set hash_mem_multiplier = 1;
select join_check('select x, s.n, s.m from r_c, lateral (select count(*) as n, sum(a.v * b.v % 100) as m from r_large a join (select * from r_large where v < case when x % 3 = 0 then 10000 else x * 20 end) b using (k) offset 0) s');
select join_check('select x, s.n, s.m, s.o from r_c, lateral (select count(*) as n, sum(a.v * b.v % 100) as m, count(b.v) as o from r_large a left join (select * from r_large where v < case when x % 3 = 0 then 10000 else x * 20 end) b using (k) offset 0) s');
reset hash_mem_multiplier;
reset work_mem;
-- in a worker, and above other workers
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set parallel_leader_participation = off;
select join_check('select x, s.* from r_c, lateral (select v, w from r_large join r_small using (k) where w + 0 between x and x + 9 offset 0) s');
create function gathers(query text) returns bool language plpgsql as $$
declare
  plan json;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (format json) ' || query into plan;
  return plan #>> '{0,Plan,Node Type}' = 'Gather' and plan::text like '%HashGraphJoin%';
end $$;
alter table r_large set (parallel_workers = 0);
alter table r_small set (parallel_workers = 0);
create table r_rows as select i as x from generate_series(1, 6000) i;
analyze r_rows;
select gathers('select x, (select count(w) from r_large join r_small using (k) where w + 0 between x % 13 and x % 13 + 9) from r_rows where x % 100 = 0');
select join_check('select x, (select count(w) from r_large join r_small using (k) where w + 0 between x % 13 and x % 13 + 9) from r_rows where x % 100 = 0');
drop table r_rows;
drop function gathers;
reset parallel_leader_participation;
reset min_parallel_table_scan_size;
reset parallel_tuple_cost;
reset parallel_setup_cost;
-- the outer side calls a volatile function: it is read, and that is called, as often as PostgreSQL's own joins do so
create sequence r_calls;
create function r_call(int) returns int volatile language plpgsql as 'begin perform nextval(''r_calls''); return $1; end';
create function calls(query text) returns text language plpgsql as $$
declare
  joins int := join_nodes(query);
begin
  perform setval('r_calls', 1, false);
  execute 'select count(*) from (' || query || ') q';
  return format('%s calls, %s HashGraphJoin', nextval('r_calls') - 1, joins);
end $$;
create procedure calls_both(query text) language plpgsql as $$
begin
  perform set_config('hashgraph.enabled', 'off', true);
  raise notice '%', calls(query);
  perform set_config('hashgraph.enabled', 'on', true), set_config('hashgraph.force', 'on', true);
  raise notice '%', calls(query);
end $$;
set enable_nestloop = off;
set enable_mergejoin = off;
set enable_material = off;
set enable_memoize = off;
call calls_both('select x, v, w from (select * from r_c where x < 4) c left join (select v, w from (select * from r_large where r_call(v) < 3000 offset 0) l join r_small using (k) offset 0) s on v > x * 500');
call calls_both('select x, s.* from (select * from r_c where x < 4) c, lateral (select v, w from (select * from r_large where r_call(v) < 3000) l join (select * from r_small where w + 0 between x and x + 9) s using (k) offset 0) s');
call calls_both('select x, s.* from (select * from r_c where x < 4) c, lateral (select v, w from (select *, r_call(v) as y from r_large where v < 500 offset 0) l left join (select * from r_small where w + 0 between x and x + 9) s on l.k = s.k and y > w offset 0) s');
call calls_both('select x, s.* from (select * from r_c where x < 4) c, lateral (select v, w from (select * from r_large where v = 7 or v <> (select r_call(v + 1) from r_d where r_d.k = v % 40 + 1)) l join (select * from r_small where w + 0 between x and x + 9) s using (k) offset 0) s');
call calls_both('select x, s.* from (select * from r_c where x < 4) c, lateral (select v, w from (select l.* from r_large l join r_large m on m.v = l.v and r_call(l.v + m.v) > 100 offset 0) l join (select * from r_small where w + 0 between x and x + 9) s using (k) offset 0) s');
-- ... the inner side does: it is kept by PostgreSQL's own, too
call calls_both('select x, s.* from (select * from r_c where x < 4) c, lateral (select v, w from r_large l join (select * from r_small where r_call(w) > 0) s using (k) where l.v + x > 0 offset 0) s');
reset enable_nestloop;
reset enable_mergejoin;
reset enable_material;
reset enable_memoize;
drop procedure calls_both;
drop function calls, r_call, reads;
drop sequence r_calls;
drop table r_large, r_small;

drop table r_a, r_b, r_c, r_d;

-- A partitionwise join whose children are parameterized by the other side: core copies
-- such paths, and must not be given one of ours.
create table r_p1 (a int, b int) partition by range (a);
create table r_p1_a partition of r_p1 for values from (0) to (250);
create table r_p1_b partition of r_p1 for values from (250) to (600);
create table r_p2 (a int, b int) partition by range (b);
create table r_p2_a partition of r_p2 for values from (0) to (250);
create table r_p2_b partition of r_p2 for values from (250) to (600);
insert into r_p1 select i, i % 25 from generate_series(0, 599, 2) i;
insert into r_p2 select i % 25, i from generate_series(0, 599, 3) i;
create index on r_p1_a (a);
create index on r_p1_b (a);
create index on r_p2_a (b);
create index on r_p2_b (b);
analyze r_p1, r_p2;
set enable_partitionwise_join = on;
select join_check('select * from r_p1 t1 left join lateral
  (select t2.a as x, t3.a as y, t1.a as z, least(t1.a, t2.a, t3.b) from r_p1 t2 join r_p2 t3 on t2.a = t3.b) s
  on t1.a = s.x where t1.b = 0');
reset enable_partitionwise_join;
drop table r_p1, r_p2;

-- a forced plan starts no workers for each row of an outer query, and scans no table again for it
-- that an index has the rows of
create table looked_up as select g as id, g % 1000 as k, g % 100 as h from generate_series(1, 10000) g;
create index on looked_up (k);
vacuum (analyze) looked_up;
create function plan_lines(query text, pattern text) returns int language plpgsql as $$
declare
  line text;
  found_lines int := 0;
begin
  perform set_config('hashgraph.enabled', 'on', true), set_config('hashgraph.force', 'on', true);
  for line in execute 'explain (costs off) ' || query loop
    found_lines := found_lines + (line ~ pattern)::int;
  end loop;
  return found_lines;
end
$$;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select plan_lines(query, 'Parallel Custom Scan') as parallel, plan_lines(query, 'Custom Scan') as nodes, join_check(query)
  from (values
    ('select i, (select 7 + i from looked_up x join looked_up y on x.k = y.k limit 1) from generate_series(1, 5) i'),
    ('select * from generate_series(1, 5) i, lateral (select x.k - y.k + i from looked_up x join looked_up y on x.k = y.k limit 1) j'),
    ('select i, (select count(*) + i from looked_up x join looked_up y on x.k = y.k) from generate_series(1, 5) i'),
    -- an uncorrelated one runs once
    ('select i, (select count(*) from looked_up x join looked_up y on x.k = y.k) from generate_series(1, 5) i')) q (query);
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
set max_parallel_workers_per_gather = 0;
select plan_lines(query, 'Seq Scan on looked_up') as scans, plan_lines(query, 'Custom Scan') as nodes, join_check(query)
  from (values
    ('select * from generate_series(1, 20) i, lateral (select * from (select h, count(*) from looked_up where k = i group by h) x
        full join (select h, count(*) from looked_up where k = i % 5 group by h) y using (h)) j'),
    ('select * from (select h, count(*) from looked_up where k < 2 group by h) x full join (select h from looked_up where k = 3) y using (h)')) q (query);
reset max_parallel_workers_per_gather;
drop function plan_lines;
drop table looked_up;
