--
-- The join in several processes: both sides read, binned and matched together, or each
-- process with its own part of the outer rows.
-- CPU alone: a device joins the part of each process by itself.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table p_a (k int, v int, t text, wide text);
insert into p_a select case when i % 41 = 0 then null else (i * 7919) % 5000 end, i, 'key ' || i % 900,
  case when i % 500 = 0 then repeat(md5(i::text), 300) else 'a' || i end from generate_series(1, 6000) i;
create table p_b (k int, w int, t text, n numeric);
insert into p_b select case when i % 31 = 0 then null else (i * 104729) % 6000 end, i, 'key ' || i % 1100,
  i / 4.0 from generate_series(1, 7000) i;
-- one key is half of the rows
create table p_skew as select case when i % 2 = 0 then 77 else i end as k, i as z from generate_series(1, 4000) i;
create table p_small as select i * 10 as k, i as x from generate_series(1, 50) i;
create table p_null as select null::int as k, i as y from generate_series(1, 2000) i;
create table p_none (k int, e int);
-- the planner reads it in one process only
alter table p_small set (parallel_workers = 0);
analyze p_a, p_b, p_skew, p_small, p_null, p_none;

-- on a GPU each process joins its own part
set hashgraph.backend = cpu;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
set enable_parallel_append = on;

-- how many nodes of the plan work in several processes, how many of the tables they read, and how many
-- inputs are read by one process for all
create function in_parallel(query text, forced text default 'on') returns text language plpgsql as $$
declare
  line text;
  joins int := 0;
  scans int := 0;
  once int := 0;
begin
  perform set_config('hashgraph.force', forced, true);
  for line in execute 'explain (costs off) ' || query loop
    joins := joins + (line like '%Parallel Custom Scan (HashGraphJoin)%')::int;
    scans := scans + (line like '%Parallel Seq Scan%')::int;
    once := once + (line like '%Read Once: %')::int;
  end loop;
  return format('%s parallel joins, %s parallel scans', joins, scans) ||
         case when once > 0 then format(', %s read once', once) else '' end;
end
$$;

-- A query as the processes come: in memory and on disk, with the leader and without, and with
-- fewer workers than planned or none; each time with the rows of PostgreSQL's own join.
create function all_ways(query text, forced text default 'on') returns table (ways bigint, result text, plan text)
language plpgsql as $$
declare
  collect constant text := 'select array_agg(r::text order by r::text collate "C") from (%s) r';
  settings constant text[] := array['work_mem', 'parallel_leader_participation', 'max_parallel_workers'];
  way text[];
  ours text[];
  theirs text[];
  results text[];
begin
  perform set_config('hashgraph.enabled', 'off', true);
  execute format(collect, query) into theirs;
  perform set_config('hashgraph.enabled', 'on', true), set_config('hashgraph.force', forced, true),
          set_config('hash_mem_multiplier', '1', true);
  foreach way slice 1 in array array[
    ['4MB', 'on', '8'], ['4MB', 'off', '8'], ['4MB', 'on', '1'], ['4MB', 'on', '0'],
    ['64kB', 'on', '8'], ['64kB', 'off', '8'], ['64kB', 'on', '1'], ['64kB', 'off', '0']]
  loop
    for i in 1 .. 3 loop
      perform set_config(settings[i], way[i], true);
    end loop;
    execute format(collect, query) into ours;
    results := results || case when ours is not distinct from theirs
      then format('same, %s rows', coalesce(cardinality(ours), 0))
      else format('DIFFERENT with %s, %s rows instead of %s', way, cardinality(ours), cardinality(theirs)) end;
  end loop;
  perform set_config('work_mem', '4MB', true), set_config('hash_mem_multiplier', '2', true),
          set_config('parallel_leader_participation', 'on', true),
          set_config('max_parallel_workers', '8', true);
  plan := in_parallel(query, forced);
  return query select count(*), r, plan from unnest(results) r group by r order by r;
end
$$;

-- every type of join, both sides together
select * from all_ways('select a.k, v, w from p_a a join p_b b on a.k = b.k');
select * from all_ways('select a.k, v, w from p_a a left join p_b b on a.k = b.k');
select * from all_ways('select a.k, v, w from p_a a right join p_b b on a.k = b.k');
select * from all_ways('select a.k, b.k, v, w from p_a a full join p_b b on a.k = b.k');
select * from all_ways('select * from p_a a where exists (select from p_b b where b.k = a.k)');
select * from all_ways('select * from p_b b where exists (select from p_a a where a.k = b.k)');
select * from all_ways('select * from p_a a where not exists (select from p_b b where b.k = a.k)');
select * from all_ways('select * from p_b b where not exists (select from p_a a where a.k = b.k)');
-- ... with quals in ON, and above
select * from all_ways('select v, w from p_a a join p_b b on a.k = b.k and v < w');
select * from all_ways('select v, w from p_a a left join p_b b on a.k = b.k and v < w where coalesce(w, v) % 2 = 0');
select * from all_ways('select v, w from p_a a full join p_b b on a.k = b.k and v < w');
select * from all_ways('select v from p_a a where exists (select from p_b b where b.k = a.k and v < w)');
select * from all_ways('select w from p_b b where exists (select from p_a a where b.k = a.k and v < w)');
select * from all_ways('select v from p_a a where not exists (select from p_b b where b.k = a.k and v < w)');
select * from all_ways('select w from p_b b where not exists (select from p_a a where b.k = a.k and v < w)');
-- ... of keys that are hashes
select * from all_ways('select a.t, v, w from p_a a join p_b b using (t) where v % 7 = 0 and w % 5 = 0');
select * from all_ways('select a.t, b.t, v, w from p_a a full join p_b b on a.t = b.t and v % 7 = 0 and w % 5 = 0');
select * from all_ways('select v, w from p_a a left join p_b b on a.k = b.k and a.t = b.t');
select * from all_ways('select v, n from p_a a join p_b b on a.v::numeric = b.n');
-- ... of rows that nobody looks at
select * from all_ways('select count(*) from p_a a join p_b b using (k)');
select * from all_ways('select count(*) from p_a a left join p_b b using (k)');
select * from all_ways('select count(*) from p_a a full join p_b b using (k)');
select * from all_ways('select count(*), sum(v), sum(w), count(a.k), count(b.k) from p_a a full join p_b b using (k)');
-- ... of wide rows
select * from all_ways('select wide, n, b.t from p_a a left join p_b b using (k) where v % 500 = 0');

-- one key is half of a side
select * from all_ways('select v, z from p_skew left join p_a using (k)');
select * from all_ways('select v, z from p_skew right join p_a using (k)');
select * from all_ways('select count(*), sum(x.z + y.z) from p_skew x join p_skew y using (k) where x.z < 800');
select * from all_ways('select z from p_skew x where exists (select from p_skew y where y.k = x.k and y.z > x.z)');
select * from all_ways('select z from p_skew x where not exists (select from p_skew y where y.k = x.k and y.z > x.z)');

-- NULL keys alone, and no rows
select * from all_ways('select * from p_null join p_b using (k)');
select * from all_ways('select y, w from p_null n full join p_b b on n.k = b.k');
select * from all_ways('select y, w from p_b b full join p_null n on n.k = b.k and y < w');
select * from all_ways('select y from p_null n where not exists (select from p_b b where b.k = n.k)');
select * from all_ways('select * from p_none join p_b using (k)');
select * from all_ways('select e, w from p_none n full join p_b b on n.k = b.k');
select * from all_ways('select v, w from p_a a full join (select * from p_b where w < 0) b on a.k = b.k');
select * from all_ways('select v, w from (select * from p_a where v < 0) a full join (select * from p_b where w < 0) b on a.k = b.k');

-- each process reads all of the inner side
select * from all_ways('select v, x from p_a join p_small using (k)');
select * from all_ways('select v, x from p_a left join p_small using (k)');
select * from all_ways('select v from p_a a where exists (select from p_small s where s.k = a.k)');
select * from all_ways('select v from p_a a where not exists (select from p_small s where s.k = a.k and x < 30)');

-- one process reads all of a side, for the others: each type of join, and either side
select * from all_ways('select v, g from p_a full join generate_series(1, 7000) g on k = g');
select * from all_ways('select v, x from p_a right join p_small using (k)');
select * from all_ways('select v, x from p_a full join p_small using (k)');
select * from all_ways('select v, x from p_a a full join p_small s on a.k = s.k and v % 3 <> x % 2');
select * from all_ways('select x from p_small s where exists (select from p_a a where a.k = s.k and v % 3 <> x % 2)');
select * from all_ways('select x from p_small s where not exists (select from p_a a where a.k = s.k)');
create function p_rows(n int) returns table (k int, t text) language plpgsql parallel safe rows 4000 cost 40000000
as $$
begin
  for i in 1 .. n loop
    k := case when i % 37 = 0 then null else i * 3 end;
    t := 'key ' || i % 1000;
    return next;
  end loop;
end
$$;
set hashgraph.min_rows = 0;
select * from all_ways('select v, r.t from p_a a join p_rows(4000) r on a.k = r.k', 'off');
select * from all_ways('select v, r.t from p_a a left join p_rows(4000) r on a.k = r.k and v % 3 = 0', 'off');
select * from all_ways('select v from p_a a where exists (select from p_rows(4000) r where a.k = r.k)', 'off');
select * from all_ways('select v from p_a a where not exists (select from p_rows(4000) r where a.k = r.k)', 'off');
select * from all_ways('select r.k from p_rows(4000) r where exists (select from p_a a where a.k = r.k)', 'off');
select * from all_ways('select count(*), sum(v) from p_a a join p_rows(4000) r on a.k = r.k', 'off');
-- ... of keys that are hashes, of no rows, of groups, of a function of a parameter
select * from all_ways('select v, r.k from p_a a full join p_rows(900) r on a.t = r.t and v % 9 = 0');
select * from all_ways('select v, r.k from p_a a full join p_rows(0) r on a.k = r.k');
select * from all_ways('select v, r.k from p_none n full join p_rows(500) r on n.k = r.k full join p_a a on a.k = r.k');
select * from all_ways('select v, n, s from p_a a full join (select k, count(*) as n, sum(w) as s from p_b group by k) b on a.k = b.k');
select * from all_ways('select v, n, s from p_a a full join (select k, count(distinct w) as n, sum(w) as s from p_b group by k) b on a.k = b.k');
select * from all_ways('select v, g from p_a full join generate_series(1, (select max(x) * 100 from p_small)) g on k = g');
-- ... in several joins, and again and again
select * from all_ways('select v, w, g, r.k from p_a a full join generate_series(1, 900) g on a.k = g
  full join p_b b on b.k = a.k full join p_rows(700) r on r.k = b.k');
set enable_material = off;
select * from all_ways('select x, v, g from p_small left join
  (select v, g from p_a a full join generate_series(1, 500) g on a.k = g offset 0) q on v < x where x < 4');
reset enable_material;
-- ... where that is cheaper: not where few rows are joined with others as these come, or would have those go to disk
select in_parallel('select v, g from p_a join generate_series(1, 30000) g on k = g', 'off');
select in_parallel('select v, g from p_a join generate_series(1, 300) g on k = g', 'off');
set hash_mem_multiplier = 1;
set work_mem = '64kB';
select in_parallel('select w, t, n, g from p_b left join generate_series(1, 30000) g on k = g', 'off');
select in_parallel('select w, t, n, g from p_b left join generate_series(1, 300) g on k = g', 'off');
reset work_mem;
reset hash_mem_multiplier;
-- ... and not what must not run in a worker
create function p_here(n int) returns setof int language sql volatile parallel restricted as 'select generate_series(1, n)';
select in_parallel('select v, g from p_a full join p_here(3000) g on k = g') like '0 parallel joins%' as alone;
select in_parallel('with c as materialized (select k, w from p_b) select v, w from p_a full join c using (k)')
  like '0 parallel joins%' as alone;
explain (costs off) select count(*) from p_a full join generate_series(1, 500) g on k = g;
reset hashgraph.min_rows;
drop function p_rows, p_here;

-- joins of joins
select * from all_ways('select v, w, z from p_a join p_b using (k) join p_skew using (k)');
select * from all_ways('select v, w, z from p_a a left join p_b b on a.k = b.k left join p_skew s on s.k = b.w');
select * from all_ways('select v, w, z, x from p_a a full join p_b b on a.k = b.k full join p_skew s on s.k = a.k left join p_small c on c.k = s.k');
select * from all_ways('select count(*) from (p_a a join p_b b using (k)) join (p_skew s join p_a c using (k)) using (k) where c.v < 3000');

-- above and below other nodes
select * from all_ways('select k, count(*), sum(v), min(w) from p_a join p_b using (k) group by k');
select * from all_ways('select a.k, b.k, count(*) from p_a a full join p_b b using (k) group by 1, 2');
select * from all_ways('select k, v from p_a join p_b using (k) union all select k, z from p_skew join p_a using (k)');
select * from all_ways('select s.k, v from (select k, z from p_skew union all select k, w from p_b) s join p_a using (k)');
select * from all_ways('select s.k, z, v from (select k, z from p_skew union all select k, w from p_b) s full join p_a a on a.k = s.z');
select * from all_ways('select v, w from p_a join p_b using (k) where v < (select max(x) * 50 from p_small)');
select * from all_ways('select v, w from p_a join p_b using (k) order by v, w limit 20');
select * from all_ways('select count(*) from (select v from p_a left join p_b using (k) limit 100) s');
select * from all_ways('select count(*) from (select v, w from p_a a full join p_b b on a.k = b.k limit 11000) s');

-- of what a row has beside its columns, of keys with a parameter, and of a function that joins
select * from all_ways('select a, b.ctid, b.tableoid::regclass from p_a a left join p_b b on a.k = b.k where v < 300');
select * from all_ways('select v, w from p_a a join p_b b on a.k + (select min(x) from p_small) = b.k');
select * from all_ways('select v, w from p_a a full join p_b b on a.k = b.k and w not in (select x from p_small)');
create function joins_too(int) returns bigint language sql stable parallel safe as
  'select count(*) from p_b b join p_skew s using (k) where b.k < $1';
select * from all_ways('select v, w, joins_too(v) from p_a a join p_b b using (k) where v % 500 = 0');

-- partition by partition, several of them at the same time
create table p_parts (k int, u int) partition by hash (k);
create table p_parts0 partition of p_parts for values with (modulus 3, remainder 0);
create table p_parts1 partition of p_parts for values with (modulus 3, remainder 1);
create table p_parts2 partition of p_parts for values with (modulus 3, remainder 2);
insert into p_parts select i % 2000, i from generate_series(1, 5000) i;
analyze p_parts;
select * from all_ways('select p.u, q.u as qu from p_parts p join p_parts q using (k)');
set enable_partitionwise_join = on;
select * from all_ways('select p.u, q.u as qu from p_parts p join p_parts q using (k)');
select * from all_ways('select p.u, q.u as qu from p_parts p full join p_parts q on p.k = q.k and p.u < q.u');
reset enable_partitionwise_join;

-- a table that is made of one
set hashgraph.force = on;
create table p_made as select a.k, v, w from p_a a full join p_b b on a.k = b.k;
select count(*), sum(v), sum(w) from p_made;
set hashgraph.enabled = off;
select count(*), sum(v), sum(w) from (select a.k, v, w from p_a a full join p_b b on a.k = b.k) q;
reset hashgraph.enabled;
reset hashgraph.force;

-- Gather Merge
set hashgraph.force = on;
explain (costs off) select v, w from p_a join p_b using (k) order by v, w;
select * from all_ways('select v, w from p_a join p_b using (k) order by v, w');
select * from all_ways('select v, w from p_a a full join p_b b on a.k = b.k order by v, w');

-- executed again and again: below a nested loop, by a cursor, as a prepared statement
set enable_material = off;
set enable_memoize = off;
select * from all_ways('select x, v, w from p_small join
  (select v, w from p_a a full join p_b b on a.k = b.k offset 0) q on v < x where x < 4');
select * from all_ways('select x, v, w from p_small left join
  (select v, w from p_a join p_b using (k) order by v, w offset 0) q on v < x where x < 4');
select * from all_ways('select x, y.v, z from p_small left join
  (select a.v, s.z from p_a a left join p_small c using (k) left join p_skew s on s.k = a.k offset 0) y
  on v = x * 100 where x < 4');
-- ... and not to the end each time; one process joins for a correlated subquery
select * from all_ways('select x, (select count(*) from (select 1 from p_a join p_b using (k) limit 10 - x) q)
  from p_small where x < 4');
select * from all_ways('select x from p_small where x < 4 and exists
  (select from (select v, w from p_a a full join p_b b on a.k = b.k offset 0) q where v > x * 500)');
reset enable_material;
reset enable_memoize;
begin;
declare c cursor for select count(*) over (), v, w from p_a join p_b using (k) order by v, w;
fetch 2 from c;
move all in c;
close c;
declare c no scroll cursor with hold for select v, w from p_a join p_b using (k) order by v, w;
commit;
fetch 2 from c;
close c;
prepare joined(int) as select count(*), sum(w) from p_a join p_b using (k) where v > $1;
set plan_cache_mode = force_generic_plan;
execute joined(0);
execute joined(3000);
execute joined(100000);
-- planned for workers, and executed where there can be none
set max_parallel_workers = 0;
execute joined(3000);
reset max_parallel_workers;
deallocate joined;
reset plan_cache_mode;

-- an error in one row is the statement's, whichever process reads it
\set SHOW_CONTEXT never
select count(*), sum(w / (v - 3000)) from p_a join p_b using (k);
select count(*) from p_a a join p_b b on a.k / (a.v - 3000) = b.k;
select count(*) from (select k, v / (v - 3000) as v from p_a offset 0) a join p_b using (k);
set work_mem = '64kB';
select count(*) from p_a a join p_b b on a.k / (a.v - 3000) = b.k;
reset work_mem;
-- ... and what comes after an error that was caught is right
do $$
begin
  for i in 1 .. 3 loop
    begin
      perform sum(w / (v - 3000)) from p_a join p_b using (k);
    exception when division_by_zero then
      raise notice 'division by zero';
    end;
  end loop;
end
$$;
select join_check('select v, w from p_a join p_b using (k)');

-- what the processes did is one join, and adds up
create function joined(query text) returns table (processes int, rows_out bigint,
  outer_rows bigint, inner_rows bigint, matches bigint, partitions bool, actual bigint)
language plpgsql as $$
declare
  line text;
begin
  for line in execute 'explain (analyze, costs off, timing off, summary off) ' || query loop
    processes := coalesce(substring(line from 'Processes: (\d+)')::int, processes);
    outer_rows := coalesce(substring(line from 'Outer Rows: (\d+)')::bigint, outer_rows);
    inner_rows := coalesce(substring(line from 'Inner Rows: (\d+)')::bigint, inner_rows);
    matches := coalesce(substring(line from 'Matches: (\d+)')::bigint, matches);
    partitions := coalesce(substring(line from 'Partitions: (\d+)')::bigint > 1, partitions);
    actual := coalesce(substring(line from 'Custom Scan.*rows=(\d+)')::bigint, actual);
  end loop;
  for rows_out in
    select j.rows_out from hashgraph_last_joins() j
  loop
    return next;
  end loop;
end
$$;
select * from joined('select count(*) from p_a join p_b using (k)');
select * from joined('select v, w from p_a a full join p_b b on a.k = b.k');
-- one that finds no outer row left does not read the inner side
select processes, rows_out, outer_rows, inner_rows in (50, 100, 150) as inner_read, matches, partitions, actual
  from joined('select v, x from p_a left join p_small using (k)');
set parallel_leader_participation = off;
select * from joined('select count(*) from p_a join p_b using (k)');
set max_parallel_workers = 0;
select * from joined('select v, w from p_a a full join p_b b on a.k = b.k');
reset parallel_leader_participation;
select * from joined('select v, w from p_a a full join p_b b on a.k = b.k');
reset max_parallel_workers;
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select * from joined('select v, w from p_a a full join p_b b on a.k = b.k');
reset work_mem;
reset hash_mem_multiplier;
-- a limit ends the join early, and what was done is told all the same
select processes > 1 as several, rows_out between 10 and 6620 as some
  from joined('select v, w from p_a join p_b using (k) limit 10');

explain (costs off) select count(*) from p_a a full join p_b b on a.k = b.k;
explain (costs off) select v, x from p_a left join p_small using (k);

reset all;
drop function joined, joins_too, all_ways, in_parallel;
drop table p_a, p_b, p_skew, p_small, p_null, p_none, p_parts, p_made;

-- workers are started where they bring more than starting them takes, which parallel_setup_cost is the measure of
reset all;
set hashgraph.backend = cpu;
set max_parallel_workers_per_gather = 2;
create table p_orders (id int primary key, cust int, d date);
insert into p_orders select g, (1 + g * 7919::bigint % 50000)::int, date '2020-01-01' + g / 250 from generate_series(1, 300000) g;
create table p_cust as select g as id, date '2015-01-01' + g % 3000 as created from generate_series(1, 50000) g;
create index on p_orders (d);
vacuum analyze p_orders, p_cust;
create function planned_workers(query text, setup int) returns text language plpgsql as $$
declare
  line text;
  nodes int := 0;
  workers text := 'no workers';
begin
  perform set_config('parallel_setup_cost', setup::text, true);
  for line in execute 'explain (costs off) ' || query loop
    nodes := nodes + (line like '%HashGraphJoin%')::int;
    if line like '%Workers Planned%' then
      workers := 'workers';
    end if;
  end loop;
  return format('%s joins, %s', nodes, workers);
end
$$;
select setup, planned_workers(query, setup)
from (values ('select g, count(o.id) from generate_series(1, 1000) g left join p_orders o on o.d = date ''2020-12-31'' + g group by 1'),
             ('select count(*) from p_cust c where not exists (select from p_orders o where o.cust = c.id)'),
             ('select count(*) from p_orders o join p_cust c on c.created = o.d'),
             ('select c.created, count(*) from p_orders o join p_cust c on c.id = o.cust group by 1')) queries (query),
     (values (1000), (50)) setups (setup);
reset all;
drop function planned_workers;
drop table p_orders, p_cust;
