--
-- Aggregates over joins: computed without rows, with PostgreSQL's own results and types.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set agg_check :abs_srcdir '/sql/include/agg_check.sql'
\set ECHO none
\i :join_check
\i :agg_check
\set ECHO all

-- The lines of EXPLAIN ANALYZE.
create function agg_explain(query text) returns setof text language plpgsql as $$
begin
  perform set_config('hashgraph.force', 'on', true);
  return query execute 'explain (analyze, costs off, timing off, summary off) ' || query;
end
$$;

create function agg_explain_json(query text) returns json language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (costs off, format json) ' || query into plan;
  return plan;
end
$$;

create table g_a as
  select case when i % 10 = 0 then null else i % 37 end as k, i as id,
         case when i % 7 <> 0 then i - 200 end as i4,
         case when i % 6 <> 0 then (i - 200)::int2 end as i2,
         case when i % 5 <> 0 then (i - 200) * 46116860184273879::int8 end as i8,
         case when i % 8 <> 0 then (i - 200) / (i % 9 + 1)::numeric end as n,
         case when i % 9 <> 0 then (i - 200) / 7.0::float8 end as f8,
         case when i % 9 <> 0 then (i - 200)::float4 / 4 end as f4,
         case when i % 11 <> 0 then date '2000-01-01' + i - 200 end as d,
         case when i % 11 <> 0 then time '00:00' + i * interval '13 minutes' end as t,
         case when i % 11 <> 0 then (time '00:00' + i * interval '13 minutes')::timetz end as tz,
         case when i % 11 <> 0 then timestamp '1999-01-01' + i * interval '1 day 1 second' end as ts,
         case when i % 11 <> 0 then timestamptz '1999-01-01 00:00+01' + i * interval '17 hours' end as tstz,
         case when i % 11 <> 0 then i * interval '1 mon -3 days 5 seconds' end as iv,
         case when i % 3 <> 0 then 'name ' || i % 6 end as s,
         i % 4 = 0 as b, i::oid as o, i::money as m, ('x' || i % 5)::varchar as vc, ('y' || i % 5)::char(5) as bc
    from generate_series(1, 400) i;
create table g_b as
  select case when i % 15 = 0 then null else i % 53 end as k, i as w, i % 4 as g,
         case i % 5 when 0 then null else 'group ' || i % 5 end as h,
         (i % 3)::numeric / case i % 2 when 0 then 1 else 1.00 end as ng
    from generate_series(1, 300) i;
create table g_c (k int primary key, x int, y text);
insert into g_c select i, i * 10, 'y' || i from generate_series(20, 60) i;
create table g_empty (k int, e int, n numeric);
analyze g_a, g_b, g_c, g_empty;

-- every function and type
select agg_check('select count(*), count(1), count(null), count(i4), count(n), count(s), count(a.*) from g_a a join g_b b using (k)');
select agg_check('select sum(i2), sum(i4), sum(i8), sum(n), avg(i2), avg(i4), avg(i8), avg(n) from g_a a join g_b b using (k)');
select agg_check('select min(i2), min(i4), min(i8), min(n), min(d), min(t), min(tz), min(ts), min(tstz), min(iv), min(o), min(m) from g_a a join g_b b using (k)');
select agg_check('select max(i2), max(i4), max(i8), max(n), max(d), max(t), max(tz), max(ts), max(tstz), max(iv), max(o), max(m) from g_a a join g_b b using (k)');
select agg_check('select min(f4), max(f4), min(f8), max(f8), min(s), max(s), min(s collate "C"), min(vc), max(bc) from g_a a join g_b b using (k)');
select agg_check('select sum(iv), avg(iv), sum(m), bool_and(b), bool_or(b), every(i4 > -1000), bit_and(i4), bit_or(i8), bit_xor(i2) from g_a a join g_b b using (k)');
select agg_check('select variance(i2), var_pop(i4), var_samp(i8), stddev(n), stddev_pop(i8), stddev_samp(i4) from g_a a join g_b b using (k)');
select agg_check('select pg_typeof(sum(i2)), pg_typeof(sum(i8)), pg_typeof(avg(i4)), pg_typeof(avg(iv)), pg_typeof(min(vc)), pg_typeof(max(d)) from g_a a join g_b b using (k)');
select agg_check('select g, count(*), count(i4), sum(i2), sum(i4), sum(i8), sum(n), avg(i2), avg(i4), avg(i8), avg(n), min(i4), max(i8), min(n), max(d), min(tz), max(ts), sum(iv), avg(iv), max(s), min(f8), stddev(i4), bool_or(b) from g_a a join g_b b using (k) group by g');
-- by their base types
create domain g_domain as int check (value > -1000);
create table g_typed as select i % 50 as k, (i - 100)::g_domain as gd, 'g_a'::regclass as rc, (i / 3.0)::numeric(10, 4) as nt from generate_series(1, 200) i;
analyze g_typed;
select agg_check('select sum(gd), avg(gd), max(gd), pg_typeof(max(gd)), min(rc), sum(nt), avg(nt), max(nt) from g_typed join g_b using (k)');
select agg_check('select gd, nt, rc, count(*) from g_typed join g_b using (k) group by gd, nt, rc');
-- the same by hand, so that both can't be wrong alike
set hashgraph.force = on;
select sum(i4), avg(i4), sum(i8), avg(i8), min(d), max(i2) from g_a a join g_b b on a.id = b.w where w <= 12;
select k, sum(i8), count(*) from g_a join g_b using (k) where k < 3 group by k order by k;
reset hashgraph.force;

-- expressions, and columns of both sides
select agg_check('select sum(i4::bigint * w), sum(i4 + w), min(w - i4), max(h || s), avg(n * w), sum(abs(i4)) from g_a a join g_b b using (k)');
select agg_check('select g, sum(i4::bigint * w), sum(case when w > 100 then i4 end), max(coalesce(h, s)), count(nullif(g, 2)) from g_a a join g_b b using (k) group by g');
select agg_check('select sum(1), sum(i4) + 1, sum(i4) * count(*), count(*)::text || max(h) from g_a a join g_b b using (k)');
select agg_check('select sum(a.k + b.k), max(a.k) from g_a a join g_b b on a.k + 1 = b.k');

-- FILTER
select agg_check('select count(*) filter (where w > 100), count(i4) filter (where i4 < 0), sum(i4) filter (where w > 100), min(i8) filter (where false), avg(n) filter (where h is null) from g_a a join g_b b using (k)');
select agg_check('select g, count(*) filter (where w > 100), sum(i8) filter (where w > 100), sum(600 / (w - 100)) filter (where w <> 100), max(s) filter (where i4 is not null) from g_a a join g_b b using (k) group by g');

-- HAVING
select agg_check('select g, sum(i4) from g_a a join g_b b using (k) group by g having sum(i4) > 0');
select agg_check('select g, sum(i4) from g_a a join g_b b using (k) group by g having count(*) > (select count(*) from g_c) * 5 and g <> 2');
select agg_check('select count(*) from g_a a join g_b b using (k) having count(*) < 0');
select agg_check('select 1 from g_a a join g_b b using (k) having max(w) > 0');
select agg_check('select g, (select count(*) from g_c c where c.x > sum(a.i4) / 1000), exists (select from g_c c where c.k = g + 20) from g_a a join g_b b using (k) group by g having sum(i4) < (select min(x) from g_c c where c.k > g + 20)');
select agg_check('select count(*) from g_a a join g_b b using (k) having random() > 2');
-- ... of more groups than are decided on at once, by sums of scales that differ, that are large, NULL or NaN, and by group columns
create table g_h as
  select i / 3 as g, case when i / 3 % 5 > 0 then i / 3 % 7 end as h, case when i / 3 % 11 > 0 then 'h ' || i / 3 % 13 end as s, i % 90 as k,
         case when i / 3 % 17 = 0 then null when i / 3 % 19 = 0 then 'nan' when i / 3 % 23 = 0 then 1e30 when i / 3 % 29 = 0 then 1e-20
              when i / 3 % 4 = 0 then i % 100 else round(i % 1000 / 8.0, i / 3 % 3) end as n, case when i / 3 % 6 > 0 then i % 50 end as v
    from generate_series(1, 9000) i;
create table g_hk as select i as k from generate_series(0, 89) i;
analyze g_h, g_hk;
select agg_check(format('select g, h, s, count(*), sum(n) from g_h join g_hk using (k) group by g, h, s having %s', clause)) as result, clause
  from unnest(array['sum(n) > 100', 'sum(n) <= 60.5', 'sum(n) is null', 'sum(n) > 0.00000000000001 and sum(n) < 1', 'sum(n) = ''nan''', 'sum(n) in (3, 150.00)', 'not (sum(n) > 100)',
    'count(*) > 2 and max(v) > 45', 'count(v) < 2 or sum(v) between 30 and 40', 'h > 4 and sum(n) > 150', 's = ''h 3'' and min(v) < 20', 's like ''%1%'' or h is null and count(*) = 2',
    'sum(n) > 100 or avg(n) < 3', 'sum(v::int8) > 100', 'h is null and s is null', 'sum(n) < null', 'false', 'sum(n) > 1e25 and g % 2 = 0']) clause;
-- ... and again for each row, and in partitions
select agg_check('select c.k, s.* from (values (2), (3)) c (k) cross join lateral (select g, sum(n) from g_h join g_hk using (k) where g_h.k > c.k * 10 group by g having sum(n) > 200 and count(*) < 3) s');
select agg_check('select c.k, s.* from (values (2), (3)) c (k) cross join lateral (select g, sum(n) from g_h join g_hk using (k) group by g having sum(n) > 300 and count(*) < 4 offset 0) s where c.k <> s.g');
set work_mem = '64kB';
select agg_check('select g, sum(n), max(v) from g_h join g_hk using (k) group by g having sum(n) > 100 and max(v) > 20');
reset work_mem;
set work_mem = '64kB';
select agg_check('select k, count(distinct g), sum(distinct g) from g_h join g_hk using (k) group by k having count(distinct g) > 3');
select agg_check('select s, count(distinct g) from g_h join g_hk using (k) group by s');
reset work_mem;
-- rows of a group that come together, by one column and by several, with NULLs, and such as come apart again
select agg_check(format('select %1$s, count(*), sum(v), max(n) from (select * from g_h order by g) q join g_hk using (k) group by %1$s', by)) as result, by
  from unnest(array['g', 'h', 's', 'n', 'h, s', 'g, n', 's, v', 'g::text', 'g::numeric, h', 'v']) by;
drop table g_h, g_hk;

-- GROUP BY: columns of either side, of both, and what depends on them
select agg_check('select h, count(*), sum(i4) from g_a a join g_b b using (k) group by h');
select agg_check('select s, sum(w) from g_a a join g_b b using (k) group by s');
select agg_check('select s, g, h, sum(w), count(*) from g_a a join g_b b using (k) group by s, g, h');
select agg_check('select a.k, b.k, count(*) from g_a a full join g_b b on a.k = b.k and w > 100 group by a.k, b.k');
select agg_check('select count(*), sum(i4) from g_a a join g_b b using (k) group by h, g');
select agg_check('select h from g_a a join g_b b using (k) group by h');
select agg_check('select c.k, c.y, c.x + 1, sum(a.i4) from g_c c join g_a a using (k) group by c.k');
select agg_check('select c.y, sum(a.i4) from g_c c join g_a a using (k) group by c.k having c.x > 250');
select agg_check('select b, o, d, ts, t, count(*) from g_a a join g_b b using (k) group by b, o, d, ts, t');
select agg_check('select i2, i8, sum(w) from g_a a join g_b b using (k) group by i2, i8');
select agg_check('select iv, f8, n, sum(w) from g_a a join g_b b using (k) group by iv, f8, n');
select agg_check('select w % 3, sum(i4), w % 3 + 1 from g_a a join g_b b using (k) group by w % 3');
select agg_check('select g, count(*) from g_a a join g_b b using (k) where g = 2 group by g');
select agg_check('select g, count(*) from g_a a join g_b b using (k) where g = 2 and w < 0 group by g');
-- SELECT DISTINCT groups by all columns: also sorted, limited, with NULLs, expressions and constants, of whole rows, below other nodes
select agg_check(format('select distinct %s', rest))
  from unnest(array['h, g from g_a a join g_b b using (k)', 'i2, i8, n, s, vc, bc, d from g_a a join g_b b using (k)', 'i4 from g_a',
    'w % 3, 7 as seven, upper(s) from g_a a join g_b b using (k)', 'g from g_a a left join g_b b using (k) order by g desc nulls last limit 3',
    'b from g_a a join g_b b using (k)', 'g_b from g_a join g_b using (k)', 'k from g_a a join g_empty e using (k)',
    'a.k, b.k from g_a a full join g_b b on a.k = b.k and w > 100', 'g, (select count(*) from g_c where x > g) from g_a join g_b using (k)']) rest;
select agg_check('select count(*), sum(g) from (select distinct g, h from g_a join g_b using (k)) q');
select agg_check('select g from g_a join g_b using (k) where g in (select distinct x % 7 from g_c join g_a using (k))');
-- ... or is left to core: ON, constants alone, volatile columns, and windows
select agg_check(format('select distinct %s', rest))
  from unnest(array['on (g) g from g_a a join g_b b using (k)', '7 as seven from g_a a join g_b b using (k)', 'g, random() < 2 from g_a a join g_b b using (k)',
    'count(*) from g_a a join g_b b using (k) group by w', 'g, count(*) over (partition by h) from g_a a join g_b b using (k)',
    'g, generate_series(1, 2) from g_a join g_b using (k)']) rest;
-- ... by processes that remove duplicates of their rows, and to disk
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select agg_check('select distinct g, s from g_a join g_b using (k)');
set hashgraph.force = on;
explain (costs off) select distinct g, s from g_a join g_b using (k);
reset hashgraph.force;
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select agg_check('select distinct repeat(id::text, 20), w from g_a join g_b using (k)');
reset work_mem;
reset hash_mem_multiplier;
select agg_check('select g, sum(count(*)) over (order by g), rank() over (order by sum(i4)) from g_a a join g_b b using (k) group by g');
select agg_check('select g, sum(i4), generate_series(1, 2) from g_a a join g_b b using (k) group by g');
-- numbers that are equal and do not look so are one group: which of them is shown is not said
select agg_check('select ng = 1, count(*), sum(i4) from g_a a join g_b b using (k) group by ng');
-- of floats too
select agg_check($$select x = 0, count(*), sum(i4) from (values (1, '-0'::float8), (1, 0), (2, 'NaN'), (3, 'NaN'), (4, null)) v (k, x) join g_a using (k) group by x$$);
-- of other types
select agg_check($$select v.x, count(*) from (values (1, array[1, 2]), (2, array[1, 2]), (3, null)) v (k, x) join g_a using (k) group by v.x$$);
-- collations
create collation g_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table g_text as select i as k, (array['a', 'A', 'b', 'B', null])[i % 5 + 1] as c from generate_series(1, 40) i;
analyze g_text;
select agg_check('select c, count(*) from g_text join g_a using (k) group by c');
select agg_check('select lower(c collate "C"), n from (select c collate g_nocase as c, count(*) as n from g_text join g_a using (k) group by 1) s');
select agg_check('select max(c collate "C"), min(c collate "C") from g_text join g_a using (k)');
-- keys of bytes: short and long, out of line, compressed, and padded
create table g_bytes as
  select i as k, repeat(chr(97 + i % 2), (i / 2) % 20) as x, repeat('long ', (i % 4) * 3000) || i % 3 as l,
         decode(repeat('0' || i % 3, i % 4), 'hex') as by, md5((i % 9)::text)::uuid as u,
         (array['a', 'a  ', 'ab', '', ' a', null])[i % 6 + 1]::char(3) as c3,
         (array['a', 'a  ', 'ab', '', ' a', null])[i % 6 + 1]::varchar as vc, (i % 5)::text::name as nm
    from generate_series(1, 200) i;
alter table g_bytes alter l set storage external;
insert into g_bytes select 200 + k, x, l, by, u, c3 || '', vc, nm from g_bytes;
create table g_wide as select i as k, i % 6 as z, (array['a', 'ab', ' a'])[i % 3 + 1]::char(9) as c9 from generate_series(1, 400) i;
analyze g_bytes, g_wide;
select agg_check('select x, count(*), sum(k) from g_bytes join g_wide using (k) group by x');
select agg_check('select md5(l), count(*), sum(k) from g_bytes join g_wide using (k) group by l');
select agg_check('select by, u, count(*), sum(k) from g_bytes join g_wide using (k) group by by, u');
select agg_check('select c3, vc, count(*), sum(k) from g_bytes join g_wide using (k) group by c3, vc');
select agg_check($$select c3 || '|', c9 || '|', nm, count(*) from g_bytes join g_wide using (k) group by c3, c9, nm$$);
select agg_check('select x collate "C", vc collate g_nocase, c3 collate g_nocase, count(*) from g_bytes join g_wide using (k) group by 1, 2, 3');
select agg_check('select b, count(*) from g_bytes b join g_wide using (k) where k % 10 = 0 group by b');
select agg_check('select w, w.ctid, count(*) from g_bytes b join g_wide w using (k) where k % 10 = 0 group by w, w.ctid');
-- what lies beyond numbers and times
create table g_ends (k int, f float8, r float4, d date, ts timestamp, tz timestamptz);
insert into g_ends values (1, 'NaN', 'NaN', 'infinity', '-infinity', 'infinity'), (1, 'Infinity', '-Infinity', '-infinity', 'infinity', '-infinity'),
  (1, 3, 4, '2020-01-01', '2020-01-01', '2020-01-01 UTC'), (2, '-Infinity', 5, null, null, null), (2, null, null, '4713-01-01 BC', '4714-11-24 BC', null);
analyze g_ends;
select agg_check('select w.z, max(f), min(f), max(r), min(r), max(d), min(d), max(ts), min(ts), max(tz), min(tz) from g_ends join g_wide w using (k) group by w.z');

-- the ends of types, those that few use, and values out of line
create type g_mood as enum ('low', 'mid', 'high');
create table g_kinds as
  select i % 10 as k, i % 3 as g, case when i % 7 <> 0 then ('10.' || i % 4 || '.0.' || i % 200)::inet end as ip,
         case when i % 7 <> 0 then ('0/' || to_hex(i * 7919))::pg_lsn end as lsn, case when i % 7 <> 0 then (i * 4294967291)::text::xid8 end as xid,
         case when i % 7 <> 0 then ('(' || i % 13 || ',' || i % 5 + 1 || ')')::tid end as place, case when i % 7 <> 0 then (i * 37 % 256)::bit(8) end as bits,
         case when i % 7 <> 0 then (array['low', 'mid', 'high']::g_mood[])[i % 3 + 1] end as mood, case when i % 7 <> 0 then array[i % 4, i % 5] end as pair,
         case i % 5 when 0 then 'NaN' when 1 then 'Infinity' when 2 then '-Infinity' when 3 then i / 8.0 end::float8 as f8,
         case i % 5 when 0 then 'NaN' when 1 then 'Infinity' when 2 then '-Infinity' when 3 then i / 8.0 end::float4 as f4,
         case i % 4 when 0 then 'infinity' when 1 then '-infinity' when 2 then date '2024-02-29' + i end as d,
         (2147483647 - i) * (1 - i % 2 * 2) as i4, (32767 - i)::int2 as i2, (4294967295 - i)::oid as o, (92233720368547758.07 - i)::numeric::money as m
    from generate_series(1, 300) i;
analyze g_kinds;
select agg_check('select min(ip), max(ip), min(lsn), max(lsn), min(xid), max(xid), min(place), max(place), bit_and(bits), bit_or(bits), bit_xor(bits) from g_kinds join g_wide using (k)');
select agg_check('select g, min(ip), max(ip), min(lsn), max(lsn), min(xid), max(xid), min(place), max(place), bit_and(bits), bit_or(bits), bit_xor(bits) from g_kinds join g_wide using (k) group by g');
select agg_check('select k, min(f8), max(f8), min(f4), max(f4), min(d), max(d), count(f8), min(o), max(o), min(m), max(m), sum(i4), avg(i4), sum(i2), avg(i2) from g_kinds join g_wide using (k) group by k');
select agg_check('select sum(i4) filter (where i4 > 0), avg(i4) filter (where false), avg(i2::numeric) filter (where false), sum(i4::int8) filter (where false), stddev(i4) filter (where g = 1), max(f8) filter (where f8 <> $$NaN$$) from g_kinds join g_wide using (k)');
select agg_check('select c3, min(l), max(l), count(l), max(l || w.z) from g_bytes join g_wide w using (k) group by c3');
set hashgraph.force = on;
select sum(make_interval(months => abs(i4))) from g_kinds join g_wide using (k);
reset hashgraph.force;
-- polymorphic ones, and those of users, are core's
create aggregate g_total (int) (sfunc = int4_sum, stype = int8, combinefunc = int8pl, parallel = safe);
select agg_check('select min(mood), max(mood), min(pair), max(pair) from g_kinds join g_wide using (k)');
select agg_check('select g, g_total(i4), sum(i4) from g_kinds join g_wide using (k) group by g');
drop aggregate g_total (int);

-- no rows
select agg_check('select count(*), sum(i4), avg(i8), min(n), count(i4), sum(n), stddev(i4), bool_and(b), sum(iv) from g_a a join g_b b using (k) where w < 0');
select agg_check('select count(*), sum(e), max(g_empty.n) from g_a join g_empty using (k)');
select agg_check('select g, count(*), sum(i4) from g_a a join g_b b using (k) where w < 0 group by g');
select agg_check('select e, count(*) from g_a join g_empty using (k) group by e');
select agg_check('select count(*), sum(e), count(e), max(g_empty.n) from g_a left join g_empty using (k)');
select agg_check('select e, max(g_empty.n), sum(i4) from g_a left join g_empty using (k) group by e');

-- numerics to the last digit and beyond numbers
create table g_numeric (k int, v numeric);
insert into g_numeric values (1, 1.10), (1, 2.2000), (1, -0.00), (2, 'NaN'), (2, 1), (3, 'Infinity'), (3, 7),
  (4, 'Infinity'), (4, '-Infinity'), (5, 1e-20), (5, 1e20), (5, -1e20), (6, null), (7, 0.000), (7, null),
  (8, 123456789012345678901234567890.123456789), (8, -0.1);
analyze g_numeric;
select agg_check('select v.k, sum(v), avg(v), max(v), min(v), count(v), stddev(v) from g_numeric v join g_c c on c.k = v.k + 30 group by v.k');
select agg_check('select sum(v), avg(v) from g_numeric v join g_c c on c.k = v.k + 30 where v.k not in (2, 3, 4)');
select agg_check('select sum(-v), sum(v * 1.000), min(v - v) from g_numeric v join g_c c on c.k = v.k + 30 where v.k = 1');
-- numerics that are out of line, whose pointers could be taken for numerics by what their sizes are
create table g_out (k int, v numeric, filler char(2500));
alter table g_out alter v set storage external, alter filler set storage plain;
insert into g_out select i % 7, case when i % 2 = 0 then repeat('1234', 124) else repeat('4321', 29) end::numeric, '' from generate_series(1, 100) i;
select pg_relation_size(reltoastrelid) > 0 as "out of line" from pg_class where oid = 'g_out'::regclass;
select agg_check('select v.k, sum(v), avg(v), max(v), min(v), sum(v + 1) from g_out v join g_c c on c.k = v.k + 30 group by v.k');
select agg_check('select v.k, sum(v), avg(v), max(v), min(v), sum(v + 1) from g_out v join g_c c on c.k = v.k + 30 where v < 1e200 group by v.k');

-- sums beyond 64 bits, and averages of them
create table g_big (k int, v int8);
insert into g_big select i % 3, 9223372036854775807 - i from generate_series(1, 40) i;
insert into g_big select 3 + i % 3, -9223372036854775808 + i from generate_series(0, 40) i;
insert into g_big values (6, 9223372036854775807), (6, -9223372036854775808), (7, 9223372036854775807), (7, 1), (8, -9223372036854775808), (8, -1), (9, null);
create table g_ten as select i as k, i as z from generate_series(0, 9) i, generate_series(1, 3);
analyze g_big, g_ten;
select agg_check('select k, sum(v), avg(v), min(v), max(v) from g_big join g_ten using (k) group by k');
select agg_check('select sum(v), avg(v), min(v), max(v) from g_big join g_ten using (k)');
select agg_check('select sum(v), avg(v) from g_big join g_ten using (k) where k < 3');
set hashgraph.force = on;
select sum(v * v) from g_big join g_ten using (k);
select sum(i4 / (w - 7)) from g_a join g_b using (k);
reset hashgraph.force;

-- every type of join below
select agg_check('select count(*), count(w), sum(w), sum(i4) from g_a a left join g_b b using (k)');
select agg_check('select g, count(*), sum(i4) from g_a a left join g_b b using (k) group by g');
select agg_check('select count(*), count(x), sum(i4) from g_c c left join g_a a using (k)');
select agg_check('select count(*), count(id), count(w), sum(i4), sum(w) from g_a a full join g_b b using (k)');
select agg_check('select g, s, count(*), sum(w) from g_a a full join g_b b using (k) group by g, s');
select agg_check('select count(*), sum(i4) from g_a a where exists (select from g_b b where b.k = a.k)');
select agg_check('select s, count(*), sum(i4) from g_a a where not exists (select from g_b b where b.k = a.k) group by s');
select agg_check('select count(*), sum(x) from g_c c where exists (select from g_a a where a.k = c.k)');
select agg_check('select count(*), sum(x) from g_c c where not exists (select from g_a a where a.k = c.k)');
select agg_check('select g, count(*), sum(i4) from g_a a join g_b b on a.k = b.k and a.i4 > b.w group by g');
select agg_check('select g, count(*), sum(i4) from g_a a left join g_b b on a.k = b.k and a.i4 > b.w where coalesce(b.w, 0) < 100 group by g');
select agg_check('select count(*) from g_a a left join g_b b on a.k = b.k and a.i4 > b.w where coalesce(b.w, 0) < 100');
select agg_check('select g, y, count(*), sum(i4) from g_a a join g_b b using (k) join g_c c using (k) group by g, y');
select agg_check('select count(*), sum(i4) from g_a a join g_b b using (k) join g_c c using (k) left join g_ten t on t.k = b.g');
select agg_check('select s, count(*) from g_a a join g_b b on a.s = b.h or a.k = b.k group by s');
select agg_check('select sum(coalesce(z, 0)), count(z) from g_b b left join (select k, 1 as z from g_a) a using (k)');
select agg_check('select z, count(*) from g_b b left join (select k, coalesce(i4, 7) as z from g_a) a using (k) group by z');

-- aggregates that are core's, over our rows
select agg_check('select count(distinct i4) from g_a join g_b using (k)');
-- aggregates of distinct values: of one column, alone and beside others, in groups and in all, with HAVING, again, and to disk; all else is core's
select agg_check(format('select %s', q)) as result, q
  from unnest(array['g, count(distinct i4) from g_a join g_b using (k) group by g', 'count(distinct s) from g_a join g_b using (k)', 'h, count(distinct n), count(distinct n) + 1 from g_a join g_b using (k) group by h',
    'g, h, sum(distinct i2), avg(distinct i2), min(distinct i2) from g_a join g_b using (k) group by g, h', 'g + 1, count(distinct bc) from g_a join g_b using (k) group by g + 1 having count(distinct bc) > 3',
    'c.k, y, count(distinct i4), x from g_c c join g_a using (k) group by c.k', 'g, count(distinct g) from g_a join g_b using (k) group by g', 'count(distinct s) from g_a join g_empty using (k)',
    'c.x, (select count(distinct a.i4) from g_a a join g_b b using (k) where b.g = c.k % 4) from g_c c', 'g, count(distinct f8) from (select g, -(f8 - f8) * w as f8 from g_a join g_b using (k) offset 0) q group by g',
    'g, count(distinct i4), count(*) from g_a join g_b using (k) group by g', 'g, count(distinct i4), count(distinct i2) from g_a join g_b using (k) group by g', 'g, sum(distinct n) from g_a join g_b using (k) group by g',
    'g, count(distinct i4) filter (where w > 3) from g_a join g_b using (k) group by g', 'g, count(distinct i4 + 1) from g_a join g_b using (k) group by g', 'g, count(distinct (i4, i2)) from g_a join g_b using (k) group by g']) q;
select agg_check('select g, array_agg(id order by id, w) from g_a join g_b using (k) group by g');
select agg_check($$select string_agg(s, ',' order by s) from g_a join g_b using (k)$$);
select agg_check('select percentile_disc(0.5) within group (order by i4) from g_a join g_b using (k)');
select agg_check('select g, h, sum(i4) from g_a join g_b using (k) group by rollup (g, h)');
select agg_check('select g, grouping(g), grouping(h, g), count(*) from g_a join g_b using (k) group by g, h');
select agg_check('select g, h, count(*) from g_a join g_b using (k) group by grouping sets ((g, h), ())');
-- what is volatile is called row by row
create sequence g_sequence;
select agg_check('select count(*) filter (where random() < 2), sum(i4) filter (where random() < 2) from g_a join g_b using (k)');
select agg_check('select sum(i4 + 0 * random()::int) from g_a join g_b using (k)');
set hashgraph.force = on;
select sum(nextval('g_sequence')) - sum(nextval('g_sequence')) + count(*) as in_turn from g_a join g_b using (k);
reset hashgraph.force;
drop sequence g_sequence;
select agg_check('select corr(i4, w) is not null from g_a join g_b using (k)');
select agg_check('select sum(i4), sum((select max(x) from g_c c where c.k = b.k)) from g_a a join g_b b using (k)');
-- sums of floats depend on the order of rows
select agg_check('select sum(f4), avg(f4) from g_a join g_b using (k)');
set hashgraph.float_sums = on;
select agg_check('select sum(f4), avg(f4) from g_a join g_b using (k)');
select agg_check('select g, round(sum(f8)::numeric, 6), round(avg(f8)::numeric, 6), round(stddev(f8)::numeric, 6), count(f8) from g_a join g_b using (k) group by g');
prepare floats as select round(sum(f8)::numeric, 6) from g_a join g_b using (k);
set hashgraph.force = on;
execute floats;
set hashgraph.float_sums = off;
execute floats;
reset hashgraph.force;
reset hashgraph.float_sums;

-- more groups than work memory holds
create table g_many as select i as k, i % 7919 as g, 'group number ' || i % 7919 as t, i::numeric as n from generate_series(1, 40000) i;
create table g_other as select i as k, i as w from generate_series(1, 40000) i;
analyze g_many, g_other;
set work_mem = '64kB';
select agg_check('select g, count(*), sum(w), avg(n) from g_many join g_other using (k) group by g');
select agg_check('select t, max(n), sum(w) from g_many join g_other using (k) group by t');
select agg_check('select k, count(*), sum(w) from g_many join g_other using (k) group by k');
select agg_check('select k, n, t, min(t), max(t) from g_many join g_other using (k) group by k, n, t having sum(w) % 3 = 0');
select agg_check('select case when g % 2 = 0 then g end, count(*) filter (where g % 3 = 0) from g_many left join g_other using (k) group by 1');
-- all rows of a group's hash stay together, and there may be no others
select agg_check('select 1 as one, count(*), sum(w) from g_many join g_other using (k) group by g % 1');
select disk_usage > 0 as spilled, groups from (
  select (regexp_match(string_agg(line, ' '), 'Groups: (\d+)'))[1]::int as groups,
         (regexp_match(string_agg(line, ' '), 'Partitions: \d+ +Disk Usage: (\d+)'))[1]::int as disk_usage
    from agg_explain('select k, count(*) from g_many join g_other using (k) group by k') line) s;
reset work_mem;

-- again with parameters, and without
select agg_check('select c.k, s.* from g_c c cross join lateral (select count(*), sum(i4), max(w) from g_a a join g_b b using (k) where b.w > c.x) s');
select agg_check('select c.k, s.* from g_c c cross join lateral (select g, count(*), sum(i4 + c.x) from g_a a join g_b b using (k) group by g) s');
select agg_check('select c.k, s.* from g_c c cross join lateral (select g, count(*) as n, sum(i4) filter (where w > c.x) from g_a a join g_b b using (k) group by g having count(*) > c.k * 5) s');
select agg_check('select c.k, (select sum(i4) + c.x from g_a a join g_b b using (k) where g = c.k % 4) from g_c c');
select agg_check('select x, (select count(*) from g_a a join g_b b using (k) where a.id > c.x) from g_c c');
set work_mem = '64kB';
select agg_check('select c.k, s.* from (select * from g_c limit 3) c cross join lateral (select count(*), sum(n) from (select g, count(*) as n from g_many join g_other using (k) where w > c.x group by g) i) s');
reset work_mem;
prepare agg_prepared (int) as select g, sum(i4 + $1), count(*) filter (where w > $1) from g_a join g_b using (k) group by g having count(*) > $1 order by g;
set hashgraph.force = on;
set plan_cache_mode = force_generic_plan;
execute agg_prepared (3);
execute agg_prepared (500);
reset plan_cache_mode;

-- parts of the input in several processes, combined by core
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
select agg_check('select count(*), count(i4), sum(i2), sum(i4), sum(i8), sum(n), avg(i2), avg(i4), avg(i8), avg(n), min(i4), max(i8), min(n), max(d), min(tz), max(ts), sum(iv), avg(iv), max(s), min(f8), stddev(i4), var_pop(n), bool_or(b), sum(m) from g_a a join g_b b using (k)');
select agg_check('select g, h, count(*), count(i4), sum(i2), sum(i4), sum(i8), sum(n), avg(i2), avg(i4), avg(i8), avg(n), min(i4), max(i8), max(s), stddev(i4), avg(iv) from g_a a join g_b b using (k) group by g, h having count(*) > 3');
select agg_check('select k, min(f8), max(f4), min(d), max(o), min(m), sum(i4), avg(i2), min(ip), max(lsn), bit_xor(bits), max(i4) filter (where false), avg(i4) filter (where g = 1) from g_kinds join g_wide using (k) group by k');
select agg_check('select count(*) from g_a a join g_b b using (k)');
select agg_check('select count(*), sum(i4), avg(i4), avg(i8), sum(n) from g_a a join g_b b using (k) where w < 0');
select agg_check('select g, count(*) from g_a a join g_b b using (k) where w < 0 group by g');
select agg_check('select count(*), count(w), sum(i4::int8 * w) filter (where g > 1) from g_a a left join g_b b using (k)');
select agg_check('select h, count(*), sum(id), sum(w) from g_a a full join g_b b using (k) group by h');
set work_mem = '64kB';
select agg_check('select k, count(*), sum(w) from g_many join g_other using (k) group by k');
reset work_mem;
select regexp_replace(line, ' *\(actual.*', '') as line
  from agg_explain('select g, count(*) from g_a join g_b using (k) group by g having sum(w) > 0') line
  where line ~ 'Aggregate|Group Key|Gather|Planned';
-- what workers did is told
set parallel_leader_participation = off;
select (regexp_match(string_agg(line, ' '), 'Groups: (\d+)'))[1]::int between 4 and 12 as groups_of_workers
  from agg_explain('select g, count(*) from g_a join g_b using (k) group by g') line;
reset parallel_leader_participation;
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
reset max_parallel_workers_per_gather;

-- partition by partition, and inherited; from PostgreSQL 19 on rows may also be grouped before they are joined
do $$ begin
  perform set_config(name, 'off', false) from pg_settings where name = 'enable_eager_aggregate';
end $$;
create table g_parts (k int, p int, v int) partition by hash (k);
create table g_parts_0 partition of g_parts for values with (modulus 2, remainder 0);
create table g_parts_1 partition of g_parts for values with (modulus 2, remainder 1);
create table g_other_parts (k int, q int) partition by hash (k);
create table g_other_parts_0 partition of g_other_parts for values with (modulus 2, remainder 0);
create table g_other_parts_1 partition of g_other_parts for values with (modulus 2, remainder 1);
insert into g_parts select i % 100, i % 7, i from generate_series(1, 1000) i;
insert into g_other_parts select i % 80, i % 3 from generate_series(1, 500) i;
analyze g_parts, g_other_parts;
set enable_partitionwise_join = on;
select agg_check('select q, count(*), sum(v) from g_parts join g_other_parts using (k) group by q');
set enable_partitionwise_aggregate = on;
select agg_check('select q, count(*), sum(v) from g_parts join g_other_parts using (k) group by q');
select agg_check('select k, count(*), sum(v) from g_parts join g_other_parts using (k) group by k having sum(v) > 1000');
select agg_check('select count(*), avg(v) from g_parts join g_other_parts using (k)');
select agg_check('select k + 1, count(*), sum(v + k) + 1 from g_parts join g_other_parts using (k) group by k having max(v) > 900');
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
select agg_check('select k, count(*), sum(v + k) + 1 from g_parts join g_other_parts using (k) group by k having sum(v) > 1000');
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
reset max_parallel_workers_per_gather;
reset enable_partitionwise_aggregate;
reset enable_partitionwise_join;
set hashgraph.force = on;
update g_parts t set v = s.n from (select p, count(*) as n from g_parts join g_other_parts using (k) group by p) s where t.p = s.p and t.k < 30;
delete from g_parts where (k, v) in (select k, max(v) from g_parts join g_other_parts using (k) group by k having k < 50);
select count(*), sum(v) from g_parts;
reset hashgraph.force;
drop table g_parts, g_other_parts;

-- cursors
set hashgraph.force = on;
begin;
declare c scroll cursor for select g, sum(i4) from g_a join g_b using (k) group by g order by g;
fetch 2 from c;
fetch backward 1 from c;
fetch all from c;
fetch first from c;
declare d cursor for select g % 2, count(*) from g_a join g_b using (k) group by g;
move 2 from d;
close d;
commit;
select g from (select g, count(*) from g_many join g_other using (k) group by g) s order by g limit 2;

-- EXPLAIN
explain (costs off) select count(*) from g_a join g_b using (k);
explain (costs off, verbose) select g, h, sum(i4) + 1, count(*) filter (where w > 3) from g_a join g_b using (k) group by g, h having max(i4) > 0;
explain (costs off) select c.k, c.y, sum(a.i4) from g_c c left join g_a a using (k) group by c.k;
select agg_explain_json('select h, g, count(*) from g_a join g_b using (k) group by h, g') -> 0 -> 'Plan' -> 'Group Key' as group_key;
-- a count and no more needs no match: nothing is gathered
select regexp_replace(line, ' *\(actual.*', '') as line
  from agg_explain('select count(*) from g_many m join g_other o using (k)') line where line ~ 'HashGraph|Matches';
reset hashgraph.force;

-- rows are dear: aggregated over a join of ours, though core's own would be taken for the rows
create table g_fact as select i % 10 as d, i as v from generate_series(1, 4000) i;
analyze g_fact;
set hashgraph.min_rows = 0;
set cpu_tuple_cost = 10;
explain (costs off) select z, sum(v), count(*) from g_fact join g_ten on k = d group by z having max(v) > 3;
select z, sum(v), count(*) from g_fact join g_ten on k = d group by z having max(v) > 3996 order by z;
reset cpu_tuple_cost;
reset hashgraph.min_rows;

-- who may call what

-- numerics of every size and scale, within 128 bits and beyond
create table g_sums as select i % 40 as g, case i / 40 % 10
    when 0 then round(i / 7.0, i % 18) when 1 then -round(i * 12345.678, i % 5) when 2 then i * 123456789012345.678
    when 3 then i * 1e20 when 4 then 0.0000 when 5 then -(1e-15) * i
    when 6 then 9999999999999999.9999999999999999 * (1 - i % 2 * 2) when 7 then i * 10000 when 8 then null else i / 100.00 end as n
  from generate_series(1, 4000) i;
insert into g_sums select 100 + i % 7, case when i % 13 = 0 then 'NaN' when i % 5 = 0 then 'Infinity' when i % 7 = 1 then '-Infinity' else 1.50 end
  from generate_series(1, 100) i;
insert into g_sums select 200 + i % 3, 9999999999999999.9999999999999999 from generate_series(1, 300) i;
insert into g_sums select 300, 0.00 from generate_series(1, 3) i;
insert into g_sums select 301, null;
create table g_groups as select distinct g from g_sums;
analyze g_sums, g_groups;
select agg_check('select g, sum(n)::text, avg(n)::text, sum(n) filter (where n > 0), count(n) from g_sums join g_groups using (g) group by g');
select agg_check('select sum(n)::text, avg(n)::text from g_sums join g_groups using (g) where g < 100');
select agg_check('select sum(n)::text, avg(n)::text from g_sums join g_groups using (g) where g > 99 and g < 101');
select agg_check('select sum(n)::text, avg(n)::text from g_sums join g_groups using (g) where g > 199 and g < 201');
-- 1.7e38 units and more: some values are not in the sum of 128 bits
select agg_check('select sum(a.n)::text, avg(a.n)::text from g_sums a join g_sums b on a.g = b.g and b.g >= 200 join generate_series(1, 200) c on c <> b.g');

-- groups of a table, joined or alone; those of what is no plain table are core's
set hashgraph.force = on;
explain (costs off) select a.g, s from g_groups a join (select g, sum(n) as s from g_sums where n > 1 group by g having count(*) > 2) x using (g);
reset hashgraph.force;
select agg_check('select a.g, s::text from g_groups a join (select g, sum(n) as s from g_sums where n > 1 group by g having count(*) > 2) x using (g)');
select agg_check('select a.g from g_groups a where g in (select g from g_sums group by g having sum(n) > 1000)');
select agg_check('select a.g, s from g_groups a left join (select g + 1 as g, count(*) as s from g_sums group by g) x using (g)');
select agg_check('select a.g, x.* from g_groups a cross join (select count(*), max(n) from g_sums) x');
select agg_check('select a.g, s from g_groups a cross join lateral (select sum(n + a.g) as s from g_sums offset 0) x where a.g < 5');
select agg_check('select a.g, s from g_groups a join (select g, count(*) as s from g_sums tablesample bernoulli (100) group by g) x using (g)');
select agg_check('select g, sum(n)::text from g_sums group by g');
select agg_check('select * from (select g, sum(n)::text from g_sums group by g offset 0) x');
create table g_child () inherits (g_sums);
insert into g_child select * from g_sums where g < 3;
select agg_check('select a.g, s::text from g_groups a join (select g, sum(n) as s from g_sums group by g) x using (g)');
select agg_check('select a.g, s::text from g_groups a join (select g, sum(n) as s from only g_sums group by g) x using (g)');
set work_mem = '64kB';
select agg_check('select a.v, x.n from g_fact a join (select v, sum(d) as n from g_fact group by v) x using (v)');
reset work_mem;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
select agg_check('select a.g, s::text, c from g_groups a join (select g, sum(n) as s, count(*) as c from only g_sums group by g) x using (g)');
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
reset max_parallel_workers_per_gather;
drop table g_child;

-- groups of a table alone, of which nothing is resident, at their price
create table g_heap as select i % 500 as g, (i % 7)::text as t, i % 20000 / 4.0 as n, i % 3 as f from generate_series(1, 100000) i;
create table g_names as select i as g, 'name ' || i as name from generate_series(0, 499) i;
create table g_sorts as select i::text as t, i % 2 as kind from generate_series(0, 6) i;
vacuum analyze g_heap, g_names, g_sorts;
explain (costs off) select t, sum(n), count(*) from g_heap where n > 3 group by t having count(*) > 10;
select agg_check('select t, sum(n), count(*) from g_heap where n > 3 group by t having count(*) > 10');
select agg_check('select g, t, max(n), avg(g) from g_heap group by g, t');
select agg_check('select (select avg(n) from g_heap where f < x), (select count(*) from g_heap where f = x) from generate_series(0, 3) x');
select agg_check('select case when (select count(*) from g_heap where f < 2) > 10 then (select sum(n) from g_heap) end');
-- more of them than are expected, at joins of so few rows that nobody looks at these
explain (costs off) select name, kind, sum(n) from g_heap join g_names using (g) join g_sorts using (t) where f + 0 < 3 and f - 1 < 3 and n * 2 > 0 and f / 2 < 9 group by 1, 2;
select agg_check('select name, kind, sum(n) from g_heap join g_names using (g) join g_sorts using (t) where f + 0 < 3 and f - 1 < 3 and n * 2 > 0 and f / 2 < 9 group by 1, 2');
set work_mem = '64kB';
select agg_check('select g, n, count(*) from g_heap group by g, n');
reset work_mem;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select agg_explain_json('select t, sum(n) from g_heap where f = 1 group by t')::text ~ 'Gather.*HashGraphAggregate' as gathers;
select agg_check('select t, sum(n), min(g) from g_heap where f = 1 group by t');
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
drop table g_heap, g_names, g_sorts;

create role g_user;
grant select on g_a, g_b to g_user;
revoke execute on function pg_catalog.bit_or(int4) from public;
set hashgraph.force = on;
set role g_user;
select bit_or(i4) from g_a join g_b using (k);
select count(*) from g_a join g_b using (k);
reset role;
grant execute on function pg_catalog.bit_or(int4) to public;
-- no leaky function in an argument sees what row security hides
alter table g_b enable row level security;
create policy g_policy on g_b using (w > 298);
create function g_leak(i int) returns int language plpgsql cost 0.0001 as $$
begin
  raise notice 'saw %', i;
  return i;
end
$$;
set role g_user;
select sum(g_leak(w)) filter (where g_leak(w) > 290) from g_a join g_b using (k) where id < 60;
reset role;
create view g_view with (security_barrier) as select * from g_b where w > 298;
select sum(g_leak(w)), count(*) from g_a join g_view using (k) where id < 60;
reset hashgraph.force;

-- groups that come again and again, at times among many others, with NULLs, and negative ones of 2 bytes
create table g_near as
  select i % 40 as k, i as v, case when i between 20001 and 35000 then i % 3000 else i % 90 end as g,
    case when i % 4999 <> 0 then (i % 150 - 75)::int2 end as s, case when i < 9000 then i % 70 end as n
  from generate_series(1, 50000) i;
analyze g_near;
select agg_check('select a.g, count(*), sum(v), min(s) from g_near a join g_b b using (k) where w < 60 group by a.g');
select agg_check('select s, count(*), sum(v), max(a.g) from g_near a join g_b b using (k) where w < 60 group by s');
select agg_check('select n, count(*), sum(v) from g_near a join g_b b using (k) where w < 60 group by n');
select agg_check('select a.g, max(v::text), bool_or(v % 3 = 0) from g_near a join g_b b using (k) where w < 60 group by a.g');
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select agg_check('select a.g, count(*), sum(v), min(s) from g_near a join g_b b using (k) where w < 60 group by a.g');
select agg_check('select s, max(repeat(v::text, 20)) from g_near a join g_b b using (k) where w < 60 group by s');
reset work_mem;
reset hash_mem_multiplier;
drop table g_near;

-- group columns that are volatile, and written alike, are columns of their own
set hashgraph.force = on;
select count(*) > 0 as differ
  from (select floor(random() * 3) as x, floor(random() * 3) as y, count(*) from g_a join g_b using (k) group by 1, 2) q
  where x <> y;
reset hashgraph.force;

drop view g_view;
drop function g_leak(int);
drop table g_a, g_b, g_c, g_empty, g_text, g_bytes, g_wide, g_ends, g_kinds, g_typed, g_numeric, g_out, g_big, g_ten, g_fact, g_many, g_other, g_sums, g_groups;
drop domain g_domain;
drop type g_mood;
drop role g_user;
-- two rows are expected of a join that returns them all: they are not sorted to be grouped, though that seems to cost the same
set max_parallel_workers_per_gather = 0;
create table a_orders as select i as k, i % 1000 as customer, i % 7 as v from generate_series(1, 100000) i;
create table a_customers as select i as customer, i % 40 as region from generate_series(0, 999) i;
analyze a_orders, a_customers;
explain (costs off) select region, sum(v) from a_orders join a_customers using (customer) where k % 1 = 0 and v % 1 = 0 group by region;
explain (costs off) select region, sum(v) from a_orders join a_customers using (customer) where k % 1 = 0 and v % 1 = 0 group by region order by region limit 3;
select region, sum(v) from a_orders join a_customers using (customer) where k % 1 = 0 and v % 1 = 0 group by region order by region limit 3;
set hashgraph.enabled = off;
select region, sum(v) from a_orders join a_customers using (customer) where k % 1 = 0 and v % 1 = 0 group by region order by region limit 3;
reset hashgraph.enabled;
drop table a_orders, a_customers;
reset max_parallel_workers_per_gather;
