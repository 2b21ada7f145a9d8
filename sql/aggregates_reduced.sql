--
-- Aggregates of integers over plain columns: a device that joins makes the groups itself, and
-- what comes of it is what PostgreSQL's own rows make.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create type dr_color as enum ('red', 'green', 'blue');
create domain dr_number as int check (value > -100000);
create table dr_a as
  select i as id, case when i % 10 = 0 then null else i % 211 end as k,
         case when i % 7 <> 0 then (i - 2000) * 3 end as i4, (i - 2000)::int2 as i2,
         case when i % 5 <> 0 then (i - 2000) * 4611686018427387::int8 end as i8,
         case when i % 9 <> 0 then (4294967295 - i % 100)::oid end as o,
         case when i % 11 <> 0 then date '2000-01-01' + (i - 2000) end as d,
         case when i % 11 <> 0 then time '00:00' + i * interval '13 seconds' end as t,
         case when i % 11 <> 0 then timestamp '1999-01-01' + i * interval '1 day 1 second' end as ts,
         case when i % 11 <> 0 then timestamptz '1999-01-01 UTC' + i * interval '17 hours' end as tstz,
         case when i % 3 <> 0 then (i - 2000)::money end as m, (i - 2000)::dr_number as rn,
         i % 6 as g, case when i % 3 <> 0 then i % 4 = 1 end as b, ('n' || i % 211)::text as name
    from generate_series(1, 4000) i;
create table dr_b as
  select case when i % 15 = 0 then null else i % 307 end as k, i as w, (i % 5 - 2)::int2 as s,
         case i % 4 when 0 then null else (i % 4 - 2) * 4611686018427387904 end as l, chr(64 + i % 3)::"char" as c,
         (array['red', 'green', 'blue']::dr_color[])[i % 4] as e, case i % 3 when 0 then '-0' when 1 then 0 else 1.5 end::float8 as f,
         ('n' || i % 307)::text as name
    from generate_series(1, 900) i;
create table dr_u (k int primary key, x int, y date, z text);
insert into dr_u select i, i % 9 - 4, case when i % 5 <> 0 then date '2020-02-28' + i end, 'z' || i from generate_series(1, 150) i;
create table dr_empty (k int, v int, g int);
analyze dr_a, dr_b, dr_u, dr_empty;

-- every function and type, of both sides
select join_check('select count(*), count(i4), count(id), count(l), sum(i2), sum(i4), sum(i8), sum(s), avg(i2), avg(i4), avg(i8), avg(l) from dr_a join dr_b using (k)');
select join_check('select min(i2), min(i4), min(i8), min(o), max(o), min(d), min(t), min(ts) from dr_a join dr_b using (k)');
select join_check('select max(i2), max(i4), max(i8), max(d), max(t), max(ts), min(tstz), max(tstz) from dr_a join dr_b using (k)');
select join_check('select min(m), max(m), sum(rn), avg(rn), min(rn), max(l), min(l), sum(l) from dr_a join dr_b using (k)');
select join_check('select pg_typeof(sum(i2)), pg_typeof(sum(i8)), pg_typeof(avg(i4)), pg_typeof(max(d)), pg_typeof(min(rn)), pg_typeof(count(b)) from dr_a join dr_b using (k)');
select join_check('select count(b), count(*), count(d), count(c), count(e), count(f) from dr_a join dr_b using (k)');
-- the same by hand, so that both can't be wrong alike
set hashgraph.force = on;
select sum(i4), avg(i4), sum(i8), avg(i8), min(d), max(o), count(i4) from dr_a join dr_b on dr_a.id = dr_b.w where w <= 12;
select s, count(*), sum(i2), avg(i2), min(i4), max(i4) from dr_a join dr_b on dr_a.id = dr_b.w where w <= 12 group by s order by s;
select l, sum(l), avg(l), count(l) from dr_a join dr_b on dr_a.id = dr_b.w where w <= 12 group by l order by l;
reset hashgraph.force;

-- by keys of all widths, of both sides, and NULL
select join_check('select g, count(*), sum(i4), avg(i8), min(w), max(d) from dr_a join dr_b using (k) group by g');
select join_check('select s, count(*), sum(i4), avg(i8), min(w), max(d) from dr_a join dr_b using (k) group by s');
select join_check('select l, count(*), sum(i4), sum(i8) from dr_a join dr_b using (k) group by l');
select join_check('select b, count(*), sum(w) from dr_a join dr_b using (k) group by b');
select join_check('select c, e, count(*), sum(i2) from dr_a join dr_b using (k) group by c, e');
select join_check('select o, d, count(*), min(i4) from dr_a join dr_b using (k) group by o, d');
select join_check('select t, ts, tstz, m, count(*), min(i4) from dr_a join dr_b using (k) group by t, ts, tstz, m');
select join_check('select b, s, l, g, count(*), avg(i4) from dr_a join dr_b using (k) group by b, s, l, g');
select join_check('select b, s, l, g, c, count(*), avg(i4) from dr_a join dr_b using (k) group by b, s, l, g, c');
select join_check('select k, count(*), sum(i4) from dr_a join dr_b using (k) group by k');
select join_check('select rn, count(*), sum(w) from dr_a join dr_b using (k) group by rn');
select join_check('select distinct g, s from dr_a join dr_b using (k)');
-- numbers that are equal and do not look so are one group
select join_check('select f = 0, count(*), sum(i4) from dr_a join dr_b using (k) group by f');
-- what depends on a key, and what is constant
select join_check('select dr_u.k, x, y, count(*), sum(i4) from dr_a join dr_u using (k) group by dr_u.k');
select join_check('select dr_u.k, z, count(*), sum(i4) from dr_a join dr_u using (k) group by dr_u.k');
select join_check('select x, count(*), sum(i4) from dr_a join dr_u using (k) where x = 2 group by x');
select join_check('select x, count(*), sum(i4) from dr_a join dr_u using (k) where x = 200 group by x');
select join_check('select 1 as one, count(*), sum(i4) from dr_a join dr_b using (k) group by one');
-- an aggregate may be there twice, a column in several, a key among arguments
select join_check('select g, sum(g), avg(g), sum(i4), sum(i4) + avg(i4), min(i4), max(i4), count(i4), count(*), count(g) from dr_a join dr_b using (k) group by g');
-- HAVING
select join_check('select g, sum(i4) from dr_a join dr_b using (k) group by g having sum(i4) > 0 and count(*) > 10');
select join_check('select count(*) from dr_a join dr_b using (k) having max(i4) < 0');

-- too many keys, columns or numbers, and others that are not for a device
select join_check('select sum(i4), sum(i2), sum(i8), max(o), max(d), max(t), max(ts), max(tstz), max(m), max(rn) from dr_a join dr_b using (k)');
select join_check('select s, l, w, sum(i4), avg(i4), min(i4), max(i4), sum(i2), avg(i2), min(i2), max(i2), sum(i8), avg(i8), min(i8), max(i8), sum(g), min(g), max(g), min(o), max(o), min(d), max(d), sum(rn) from dr_a join dr_b using (k) group by s, l, w');
select join_check('select g, sum(i4), max(name) from dr_a join dr_b using (k, name) group by g');
select join_check('select g, sum(i4) filter (where w > 100), count(*) from dr_a join dr_b using (k) group by g');
select join_check('select g, sum(i4 + w), sum(i4) from dr_a join dr_b using (k) group by g');
select join_check('select g % 2, sum(i4) from dr_a join dr_b using (k) group by g % 2');
select join_check('select g, sum(i4), sum(i4::numeric) from dr_a join dr_b using (k) group by g');

-- joins of every kind
select join_check('select g, count(*), sum(i4) from dr_a where exists (select from dr_b where dr_b.k = dr_a.k) group by g');
select join_check('select count(*), sum(x), max(y) from dr_u where exists (select from dr_a where dr_a.k = dr_u.k)');
select join_check('select g, count(*), sum(i4) from dr_a where not exists (select from dr_b where dr_b.k = dr_a.k) group by g');
select join_check('select g, count(*), sum(i4), sum(w) from dr_a left join dr_b using (k) group by g');
select join_check('select g, s, count(*), sum(i4), sum(w) from dr_a full join dr_b using (k) group by g, s');
select join_check('select x, count(*), sum(i4) from dr_a join dr_u using (k) group by x');
select join_check('select g, count(*), sum(i4) from dr_a join dr_b on dr_a.k = dr_b.k and i4 < w group by g');
select join_check('select g, count(*), sum(i4) from dr_a join dr_b using (name) group by g');
select join_check('select g, count(*), sum(i4) from dr_a join dr_b on dr_a.k = dr_b.k and dr_a.g = dr_b.s group by g');
select join_check('select g, s, x, count(*), sum(i4), min(w), max(y) from dr_a join dr_b using (k) join dr_u using (k) group by g, s, x');
select join_check('select g, n, count(*), sum(i4) from dr_a join (select k, count(*) as n from dr_a a join dr_b using (k) group by k) q using (k) group by g, n');
select join_check('select x, count(*), sum(g) from dr_u join (select distinct k, g from dr_a) q using (k) group by x');

-- nothing
select join_check('select count(*), count(v), sum(v), avg(v), min(v), max(v), sum(i8), avg(i8) from dr_a join dr_empty using (k)');
select join_check('select count(*), count(i4), sum(i4), avg(i4), min(i4), max(i4), sum(i8), avg(i8) from dr_a join dr_b using (k) where w < 0');
select join_check('select count(*), sum(i4), sum(i8) from dr_a a join dr_b b on a.k = b.k + 1000');
select join_check('select b.s, count(*), sum(i4), sum(i8) from dr_a a join dr_b b on a.k = b.k + 1000 group by b.s');
select join_check('select g, count(*), sum(v) from dr_empty join dr_b using (k) group by g');

-- sums beyond 64 bits, and averages of them
create table dr_big as select i % 3 as g, i % 50 as k, case when i % 3 = 0 then 9223372036854775807 - i when i % 3 = 1 then -9223372036854775808 + i else null end as v
  from generate_series(1, 500) i;
create table dr_ten as select i % 50 as k, i as z from generate_series(1, 200) i;
analyze dr_big, dr_ten;
select join_check('select g, sum(v), avg(v), min(v), max(v), count(v), count(*) from dr_big join dr_ten using (k) group by g');
select join_check('select sum(v), avg(v), min(v), max(v), count(v), count(*) from dr_big join dr_ten using (k)');

-- one key that has most of the rows
create table dr_skew as select case when i % 10 < 9 then 7 else i end as k, i % 3 as g, i as v from generate_series(1, 3000) i;
analyze dr_skew;
select join_check('select a.g, b.g, count(*), sum(a.v), sum(b.v), min(a.v), max(b.v) from dr_skew a join dr_skew b using (k) group by a.g, b.g');

-- more groups than work memory holds, and sides that it does not hold
create table dr_many as select i as k, i % 7919 as g, i % 5 as h, i as v from generate_series(1, 30000) i;
create table dr_other as select i % 30000 as k, i as w from generate_series(1, 40000) i;
analyze dr_many, dr_other;
set work_mem = '64kB';
select join_check('select g, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by g');
select join_check('select h, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by h');
select join_check('select count(*), sum(w), avg(v) from dr_many join dr_other using (k)');
select join_check('select h, count(*), sum(v) from dr_many where exists (select from dr_other where dr_other.k = dr_many.k) group by h');
select join_check('select a.g, b.g, count(*), sum(a.v) from dr_skew a join dr_skew b using (k) group by a.g, b.g');
-- where there seem to be few
alter table dr_many alter g set (n_distinct = 3);
analyze dr_many;
select join_check('select g, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by g');
reset work_mem;
select join_check('select g, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by g');

-- again with parameters, and without
select join_check('select dr_u.k, q.* from dr_u cross join lateral (select count(*), sum(i4), max(w) from dr_a join dr_b using (k) where w > dr_u.x * 100) q where dr_u.k < 12');
select join_check('select dr_u.k, q.* from dr_u cross join lateral (select g, count(*) as n, sum(i4) from dr_a join dr_b using (k) group by g having count(*) > dr_u.k * 40) q');
select join_check('select x, (select sum(i4) from dr_a join dr_b using (k) where g = dr_u.x) from dr_u');
prepare dr_prepared (int) as select g, count(*), sum(i4), sum(i8) from dr_a join dr_b using (k) where w > $1 group by g order by g;
set hashgraph.force = on;
set plan_cache_mode = force_generic_plan;
execute dr_prepared (500);
execute dr_prepared (880);
execute dr_prepared (1000);
reset plan_cache_mode;
begin;
declare c scroll cursor for select g, sum(i4) from dr_a join dr_b using (k) group by g order by g;
fetch 3 from c;
fetch backward 2 from c;
fetch first from c;
savepoint s;
select count(*), sum(i4 / 0) from dr_a join dr_b using (k);
rollback to s;
fetch last from c;
commit;
reset hashgraph.force;

-- parts in several processes, combined by core
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
select join_check('select count(*), count(i4), sum(i2), sum(i4), avg(i2), avg(i4), min(i4), max(i8), min(d), max(o), max(tstz) from dr_a join dr_b using (k)');
select join_check('select g, s, count(*), count(i4), sum(i2), sum(i4), avg(i2), avg(i4), min(i4), max(i8) from dr_a join dr_b using (k) group by g, s having count(*) > 3');
select join_check('select g, sum(i8), avg(i8), sum(l), avg(l), sum(i4) from dr_a join dr_b using (k) group by g');
select join_check('select sum(v), avg(v), min(v), count(v) from dr_big join dr_ten using (k)');
select join_check('select g, count(*), sum(i4) from dr_a where exists (select from dr_b where dr_b.k = dr_a.k) group by g');
select join_check('select count(*), sum(i4), avg(i4) from dr_a join dr_b using (k) where w < 0');
select join_check('select x, count(*), sum(i4) from dr_a join dr_u using (k) group by x');
select join_check('select g, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by g');
select join_check('select h, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by h');
select join_check('select dr_u.k, q.* from dr_u cross join lateral (select g, count(*) as n, sum(i4) from dr_a join dr_b using (k) where w > dr_u.k * 10 group by g) q where dr_u.k < 5');
set work_mem = '64kB';
select join_check('select g, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by g');
select join_check('select h, count(*), sum(w), avg(v) from dr_many join dr_other using (k) group by h');
