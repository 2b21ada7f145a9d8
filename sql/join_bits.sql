--
-- Bits: inner keys that work memory does not hold, kept as a bit each where nobody looks at their rows.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

-- keys without gaps in no order, from below 0 on; with gaps; far apart from the 4,000th row on; some twice; NULLs
create table bi_f as
  select i as v, ((i * 7919) % 15013 - 5000)::int as k, (i * 7919) % 15013 + 9000000000 as w, (i % 15000)::smallint as s,
    case when i % 7 > 0 then i % 15013 end as n, repeat('f', i % 5) as pad
  from generate_series(1, 15000) i;
create table bi_dense as select ((i * 4241) % 10007 - 5003)::int as k, (i * 4241) % 10007 + 9000001000 as w, i as x from generate_series(1, 10006) i;
create table bi_gaps as select ((i * 4241) % 10007 * 3 - 9000)::int as k from generate_series(1, 10006) i;
create table bi_far as select case when i < 4000 then i else i * 214013 % 2147483647 end::int as k from generate_series(1, 10000) i;
create table bi_twice as select (i % 9000)::int as k, i as x from generate_series(1, 10000) i;
create table bi_late as select case when i < 10000 then i else 10 end::int as k from generate_series(1, 10000) i;
create table bi_null as select case when i % 9 > 0 then i end::int as k, (i % 12000)::smallint as s from generate_series(1, 12000) i;
create table bi_ends as select case when i % 2 = 0 then 2147483647 - i else -2147483648 + i end::int as k from generate_series(1, 10000) i;
analyze bi_f, bi_dense, bi_gaps, bi_far, bi_twice, bi_late, bi_null, bi_ends;

-- what join_check() says of a query, and whether its join kept bits (one partition, keys that are vertices) or went to disk
create function bits_check(query text, out checked text, out kept text) language plpgsql as $$
declare
  line text;
begin
  checked := join_check(query);
  perform set_config('hashgraph.force', 'on', true);
  for line in execute 'explain (analyze, costs off, timing off, summary off) ' || query loop
    if line ~ '^ *(Build|Partitions|Disk Usage):' and line !~ 'Partitions: 1$' then
      kept := concat_ws(' ', kept, regexp_replace(trim(line), ': [0-9]+.*', ''));
    end if;
  end loop;
end
$$;

set hashgraph.backend = cpu;
set max_parallel_workers_per_gather = 0;
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select * from bits_check('select count(*) from bi_f join bi_dense using (k)');
select * from bits_check('select v, pad from bi_f join bi_dense using (k)');
select * from bits_check('select count(*), sum(v) from bi_f join bi_dense using (w)');
select * from bits_check('select sum(v) from bi_f join bi_gaps using (k)');
-- both ends of the integers are neighbours
select * from bits_check('select count(*) from bi_f f join bi_ends e on e.k = case when f.v % 2 = 0 then 2147483647 - f.v else -2147483647 + f.v - 1 end');
-- NULLs have no bit
select * from bits_check('select v, n from bi_f f join bi_null b on b.k = f.n');
select * from bits_check('select v from bi_f f join bi_null b on b.s = f.s');
select * from bits_check('select v from bi_f f join bi_null b on b.s = f.n');
-- a key that comes again, at once or in the end: disk, but where one will do
select * from bits_check('select v from bi_f join bi_twice using (k)');
select * from bits_check('select v from bi_f join bi_late using (k)');
select * from bits_check('select v from bi_f f where exists (select from bi_twice b where b.k = f.k)');
-- keys that turn out to be far apart
select * from bits_check('select v from bi_f join bi_far using (k)');
select * from bits_check('select v from bi_f f where exists (select from bi_far b where b.k = f.k)');
-- an outer row without a match, an inner column, a qual over both: rows are looked at
select * from bits_check('select v from bi_f f where not exists (select from bi_dense b where b.k = f.k)');
select * from bits_check('select v, x from bi_f join bi_dense using (k)');
select * from bits_check('select v from bi_f f join bi_dense d on f.k = d.k and v > x');
-- again and again, with other outer rows each time; with other inner rows, from the start, rows go to disk
select * from bits_check('select c, s from generate_series(1, 3) c, lateral (select sum(v) as s from bi_f join bi_dense using (k) where v % 4 <> c) l');
select * from bits_check('select c, s from generate_series(1, 3) c, lateral (select sum(v) as s from bi_f join bi_dense using (k) where x % 40 <> c) l');
begin;
declare c cursor for select v > 0 as some from bi_f join bi_dense using (k);
move 9000 in c;
fetch 1 in c;
rollback;
-- processes that each have bits of their own
set max_parallel_workers_per_gather = 2;
set min_parallel_table_scan_size = 0;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
select * from bits_check('select count(*), sum(v) from bi_f f join generate_series(-5000, 5000) k on f.k = k.k');
set max_parallel_workers_per_gather = 0;
-- the planner knows what it saves, as far as statistics tell: disk
create function join_cost(query text) returns float8 language plpgsql as $$
begin
  set local hashgraph.force = off;
  set local hashgraph.min_rows = 0;
  set local enable_mergejoin = off;
  return plan_estimate(query, 'Total Cost');
end
$$;
select join_cost('select count(*) from bi_f join bi_dense using (k)') < 0.8 * join_cost('select count(*) from bi_f join bi_twice using (k)') as dense,
  join_cost('select count(*) from bi_f f where exists (select from bi_twice b where b.k = f.k)') < 0.8 * join_cost('select count(*) from bi_f f where exists (select from bi_far b where b.k = f.k)') as near;
-- bits that have no room for a quarter more take all that there is, not a step for each key: upwards, and downwards
create table bi_steps as select (i * 8)::int as k from generate_series(1, 16000) i;
analyze bi_steps;
create function join_vertices(query text) returns int language plpgsql as $$
declare
  plan jsonb;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  return jsonb_path_query_first(plan, '$.**.Vertices');
end
$$;
create view bi_more as select v, k from bi_f union all select v, k from bi_f;
select * from bits_check('select v from bi_more f join bi_steps b on b.k = f.v');
select * from bits_check('select v from bi_more f join bi_steps b on b.k = -f.k');
select join_vertices('select v from bi_more f join bi_steps b on b.k = f.v') > 8 * 16000 + 1000 as up,
  join_vertices('select v from bi_more f join (select -k as k from bi_steps) b on b.k = f.k') > 8 * 16000 + 1000 as down;
drop view bi_more;
reset hash_mem_multiplier;
reset work_mem;
reset max_parallel_workers_per_gather;
drop table bi_f, bi_dense, bi_gaps, bi_far, bi_twice, bi_late, bi_null, bi_ends, bi_steps;
drop function bits_check(text), join_cost(text), join_vertices(text);

