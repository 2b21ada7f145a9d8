--
-- Spilling: joins that are larger than their work memory.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table s_a as
  select case when i % 100 = 0 then null else (i * 7919) % 15000 end as k, i as v, 'a' || i as name
  from generate_series(1, 12000) i;
create table s_b as
  select case when i % 90 = 0 then null else (i * 104729) % 16000 end as k, i as w, repeat('b', i % 20) as pad
  from generate_series(1, 12000) i;
analyze s_a, s_b;
-- one value makes half of a side
create table s_skew as select case when i % 2 = 0 then 77 else i end as k, i as z from generate_series(1, 8000) i;
analyze s_skew;

-- how many joins of a query spilled
create function join_spills(query text) returns text language plpgsql as $$
declare
  found record;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'select s from (' || query || ') s';
  select count(*) as joins, count(*) filter (where spilled_bytes > 0 and partitions > 1) as spilled
    into found from hashgraph_last_joins() where node = 'HashGraphJoin';
  return format('%s of %s spilled', found.spilled, found.joins);
end
$$;

set work_mem = '64kB';
set hash_mem_multiplier = 1;
select join_check('select * from s_a join s_b using (k)');
select join_check('select * from s_a left join s_b using (k)');
select join_check('select v, w, pad from (select * from s_a where v < 11000) a left join s_b using (k)');
select join_check('select * from s_a full join s_b using (k)');
select join_check('select v, w, name from s_a full join s_b on s_a.k = s_b.k and v < w');
select join_check('select v, w from s_a full join s_b using (k) where v is null or w is null');
select join_check('select count(*) from s_a full join s_b using (k)');
select join_check('select * from s_a where exists (select from s_b where s_b.k = s_a.k)');
select join_check('select * from s_a where not exists (select from s_b where s_b.k = s_a.k)');
select join_check('select count(*) from s_a join s_b using (k)');
select join_check('select count(*) from s_a left join s_b using (k)');
select join_check('select v, w from s_a join s_b on s_a.k = s_b.k and v < w');
select join_check('select v, w from s_a left join s_b on s_a.k = s_b.k and v < w where coalesce(w, v) % 2 = 0');
select join_check('select v from s_a where not exists (select from s_b where s_b.k = s_a.k and v < w)');
select join_check('select x.name, y.name from s_a x join s_a y on x.name = y.name');
select join_check('select x.v, y.v from s_a x left join s_a y on x.name = y.name and x.k = y.k + 1');
select join_check('select v, w, z from s_a join s_b using (k) join s_skew using (k) where z < 500');

-- rows of one key cannot be parted
select join_check('select v, z from s_skew left join s_a using (k)');
select join_check('select v, z from s_a left join s_skew using (k)');
select join_check('select count(*), sum(x.z + y.z) from s_skew x join s_skew y using (k) where x.z < 400');
select join_check('select z from s_skew x where exists (select from s_skew y where y.k = x.k and y.z > x.z + 100)');
select join_check('select count(*) from (select v * 0 as k, v from s_a) a join (select w * 0 as k, w from s_b where w < 20) b using (k)');
select join_check('select count(*) from (select w * 0 as k, w from s_b where w < 20) b join (select v * 0 as k, v from s_a) a using (k)');
-- ... and are taken a chunk at a time, with every chunk of the other side
create view s_one_a as select v / 1500 as k, v, name from s_a where v < 1800;
create view s_one_b as
  select nullif(w / 1500, 1) as k, w, repeat(pad, 3) || w as pad from s_b where w < 1900 offset 0;
select join_check('select v, w, name, pad from s_one_a a join s_one_b b on a.k = b.k and v - w = 700');
select join_check('select v, w, name, pad from s_one_a a left join s_one_b b on a.k = b.k and v - w = 700');
select join_check('select v, w, name, pad from s_one_a a right join s_one_b b on a.k = b.k and v - w = 700');
select join_check('select v, w, name, pad from s_one_a a full join s_one_b b on a.k = b.k and v - w = 700');
select join_check('select v, w, pad from s_one_a a full join s_one_b b on a.k = b.k and v - w = 700');
select join_check('select count(*), count(w) from s_one_a a full join s_one_b b on a.k = b.k');
select join_check($$select v, name from s_one_a a where exists (
  select from s_one_b b where b.k = a.k and v - w = 700 and pad <> '')$$);
select join_check($$select v, name from s_one_a a where not exists (
  select from s_one_b b where b.k = a.k and v - w = 700 and pad <> '')$$);
select join_check('select v, name from s_one_a a where exists (select from s_b where w / 10000 = a.k)');
select join_check('select v, name from s_one_a a where not exists (select from s_b where w / 10000 = a.k)');
drop view s_one_a, s_one_b;
-- all keys NULL
select join_check('select count(*), count(w) from (select nullif(v, v) as k, v from s_a) a left join s_b using (k)');
select join_check('select count(*), count(w) from s_a left join (select nullif(w, w) as k, w from s_b) b using (k)');
select join_check('select v, w from s_a full join (select nullif(w, w) as k, w from s_b) b using (k)');
select join_check('select v, w from (select nullif(v, v) as k, v from s_a) a full join (select nullif(w, w) as k, w from s_b) b using (k)');

-- they did spill
select join_spills('select * from s_a join s_b using (k)');
select join_spills('select * from s_a left join s_b using (k)');
select join_spills('select * from s_a where exists (select from s_b where s_b.k = s_a.k and s_b.w > s_a.v)');
select join_spills('select * from s_a where not exists (select from s_b where s_b.k = s_a.k)');
reset hash_mem_multiplier;
reset work_mem;
select join_spills('select * from s_a join s_b using (k)');

drop function join_spills;
drop table s_a, s_b, s_skew;

-- Rows of many times the memory are written no more than three times, whatever they match.
create table s_long as select i as k, repeat(md5(i::text), 30) as a from generate_series(1, 12000) i;
alter table s_long alter a set storage plain;
create table s_longer as select k, a from s_long;
analyze s_long, s_longer;
create function join_writes(query text, memory text) returns text language plpgsql as $$
declare
  result text;
begin
  perform set_config('hashgraph.force', 'on', true);
  perform set_config('work_mem', memory, true);
  execute 'select max(length(s.a)) from (' || query || ') s (a)';
  select format('spilled: %s, no more than three times: %s', spilled_bytes > 0,
      spilled_bytes <= 3 * (pg_table_size('s_long') + pg_table_size('s_longer')))
    into result from hashgraph_last_joins() where node = 'HashGraphJoin';
  return result;
end
$$;
select memory, kind, join_writes('select x.a || y.a from s_long x ' || kind || ' s_longer y on x.k = y.k + 1', memory)
  from (values ('64kB'), ('256kB'), ('1MB')) m (memory), (values ('join'), ('left join'), ('full join')) k (kind)
  order by 1, 2;
select join_writes('select x.a from s_long x where not exists (select from s_longer y where x.k = y.k + 1 and x.a < y.a)', '64kB');
select join_writes('select x.a || y.a from s_long x join s_longer y on x.k / 3000 = y.k and x.k > 0', '64kB');
-- ... where keys are computed of values that are compressed, too
truncate s_long, s_longer;
alter table s_long alter a set storage main;
insert into s_long select i, repeat(md5(i::text), 300) from generate_series(1, 3000) i;
insert into s_longer select k, a from s_long where k > 1000;
select join_writes('select x.a from s_long x join s_longer y on lower(x.a) = lower(y.a)', '64kB');
drop function join_writes;
drop table s_long, s_longer;

-- A few very wide rows count by their bytes: they go to disk as many narrow ones do.
create table s_wide_keys as select k from generate_series(1, 250) k;
analyze s_wide_keys;
set work_mem = '1MB';
select join_check('select s_wide_keys.k, length(x), md5(x) from s_wide_keys
  join (select k, repeat(''x'', 200000 + k) x from s_wide_keys offset 0) w using (k)');
set hashgraph.force = on;
select count(*), sum(length(x)) from s_wide_keys
  full join (select k, repeat('x', 200000 + k) x from s_wide_keys offset 0) w using (k);
select partitions > 1 or executions > 1 as in_pieces, memory_bytes < 4 * 1024 * 1024 as bounded
  from hashgraph_last_joins();
-- Rows are counted once, whether their key is NULL or not.
reset work_mem;
select count(*) from (values (1), (2), (null)) a (k) join (values (1), (null), (null)) b (k) using (k);
select outer_rows, outer_null_keys, inner_rows, inner_null_keys from hashgraph_last_joins();
reset hashgraph.force;
drop table s_wide_keys;

-- Values of all forms come back from files as they were.
create table s_forms (k int, c "char", external text, compressed text, packed text, b bool, u uuid, i2 int2, span interval,
  n name, numbers int8[], f4 float4, value numeric, f8 float8);
alter table s_forms alter external set storage external;
insert into s_forms select i % 2500, chr(65 + i % 26), case when i % 7 = 0 then repeat(md5(i::text), 80) end,
    case when i % 5 = 0 then repeat('compressed ' || i % 900, 300) end, case when i % 3 > 0 then 'packed ' || i % 800 end, i % 2 = 0,
    case when i % 4 > 0 then md5((i % 700)::text)::uuid end, i % 300, i % 50 * interval '1 day', 'name ' || i % 600,
    case when i % 6 > 0 then array[i, null, i % 10] end, i % 40 / 8.0, case when i % 9 > 0 then i % 1000 / 100.0 end, nullif(i % 80, 3)
  from generate_series(1, 5000) i;
analyze s_forms;
set work_mem = '64kB';
select join_check('select * from s_forms x join s_forms y on x.packed = y.packed and x.k = y.k');
select join_check('select x.*, y.external as e, y.compressed as c2 from s_forms x full join s_forms y on x.k = y.k and x.f4 < y.f4');
select join_check('select external, compressed, u, span, n, c, max(numbers), sum(value), count(f4 + 1), count(*) from s_forms join generate_series(0, 2400) k using (k) group by external, compressed, u, span, n, c');
select join_check('select numbers, value, b, i2, min(external), max(packed), sum(value * i2), bool_or(b), max(s_forms.f8) from s_forms join generate_series(0, 2400) k using (k) group by numbers, value, b, i2');
set hashgraph.force = on;
select count(x.external), count(y.numbers) from s_forms x full join s_forms y on x.k = y.k;
select spilled_bytes > 0 and partitions > 1 as spilled from hashgraph_last_joins();
reset hashgraph.force;
reset work_mem;
drop table s_forms;

-- what a join writes does not depend on filters of its matches
create table s_wide as select i as k, i % 1000 as x, repeat('a', 200) || i as s from generate_series(1, 20000) i;
create table s_narrow as select i as k, i % 1000 as x, repeat('b', 20) || i as s from generate_series(1, 20000) i;
analyze s_wide, s_narrow;
set work_mem = '64kB';
set max_parallel_workers_per_gather = 0;
select plan_estimate('select * from s_wide a join s_narrow b using (k) where a.x + b.x = 998', 'Total Cost')
  > 0.9 * plan_estimate('select * from s_wide a join s_narrow b using (k) where a.x + b.x <> 0', 'Total Cost') as as_expensive;
reset max_parallel_workers_per_gather;
reset work_mem;
drop table s_wide, s_narrow;
