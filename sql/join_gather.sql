--
-- Columns of fixed width by value: where a device joins it may gather their values, so that they
-- come with the matches, and the rows are PostgreSQL's own.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create type jg_color as enum ('red', 'green', 'blue');
create domain jg_number as int check (value > -100000);
create table jg_a as
  select i as id, case when i % 10 = 0 then null else i % 2111 end as k,
         case when i % 7 <> 0 then (i - 4000) * 3 end as i4, (i - 4000)::int2 as i2,
         case when i % 5 <> 0 then (i - 4000) * 1844674407370955::int8 end as i8,
         case when i % 3 <> 0 then i % 4 = 1 end as b, chr(64 + i % 60)::"char" as c,
         case when i % 9 <> 0 then (4294967295 - i % 100)::oid end as o, ('n' || i % 211)::text as name
    from generate_series(1, 8000) i;
create table jg_b as
  select case when i % 15 = 0 then null else i % 3070 end as k, i as w,
         case when i % 11 <> 0 then date '2000-01-01' + (i - 2000) end as d,
         case when i % 11 <> 0 then time '00:00' + i * interval '13 seconds' end as t,
         case when i % 11 <> 0 then timestamptz '1999-01-01 UTC' + i * interval '17 hours' end as tstz,
         case i % 3 when 0 then '-0' when 1 then 'NaN' else i / 3.0 end::float8 as f8, (i / 7.0)::float4 as f4,
         (i % 700 - 350)::money as m, (i - 2000)::jg_number as rn, (array['red', 'green', 'blue']::jg_color[])[i % 4] as e
    from generate_series(1, 9000) i;
create table jg_wide as
  select i as k, i as a1, i + 1 as a2, i + 2 as a3, i + 3 as a4, i + 4 as a5, i + 5 as a6, i + 6 as a7, i + 7 as a8, i + 8 as a9
    from generate_series(1, 4000) i;
create table jg_unique (k int primary key, x int2, y bool);
insert into jg_unique select i, i % 9 - 4, case when i % 5 <> 0 then i % 2 = 0 end from generate_series(1, 3000) i;
create table jg_empty (k int, v int);
analyze jg_a, jg_b, jg_wide, jg_unique, jg_empty;

-- every type and width, with and without NULLs
select join_check('select jg_a.k, id, i4, i2, i8, b, c, o from jg_a join jg_b using (k)');
select join_check('select w, d, t, tstz, f8, f4, m, e from jg_a join jg_b using (k)');
select join_check('select id, i8, w, rn, e, f4 from jg_a join jg_b using (k)');

-- as many columns as may be, and one more
select join_check('select a1, a2, a3, a4, a5, a6, a7, a8, id from jg_wide join jg_a using (k)');
select join_check('select a1, a2, a3, a4, a5, a6, a7, a8, a9, id from jg_wide join jg_a using (k)');

-- one side alone, and none
select join_check('select name, w, d from jg_a join jg_b using (k)');
select join_check('select name, jg_a.name || w from jg_a join jg_b using (k)');
select join_check('select 1 as one from jg_a join jg_b using (k) offset 0');

-- all kinds of joins
select join_check('select id, w, f8 from jg_a left join jg_b using (k)');
select join_check('select id, w, f8 from jg_a right join jg_b using (k)');
select join_check('select id, w, f8 from jg_a full join jg_b using (k)');
select join_check('select id, i2, b from jg_a where exists (select 1 from jg_b where jg_b.k = jg_a.k)');
select join_check('select id, i2, b from jg_a where not exists (select 1 from jg_b where jg_b.k = jg_a.k)');
select join_check('select id, x, y from jg_a join jg_unique using (k)');
select join_check('select id, x, y from jg_a left join jg_unique using (k)');
select join_check('select id, v from jg_a left join jg_empty using (k)');

-- join quals see the values
select join_check('select id, w from jg_a join jg_b on jg_a.k = jg_b.k and i4 < w');
select join_check('select id, w, d from jg_a left join jg_b on jg_a.k = jg_b.k and i4 < w and b');
select join_check('select id, w, d from jg_a full join jg_b on jg_a.k = jg_b.k and i4 < w');
select join_check('select id, i8 from jg_a where exists (select 1 from jg_b where jg_b.k = jg_a.k and w > id)');
select join_check('select id, i8 from jg_a where not exists (select 1 from jg_b where jg_b.k = jg_a.k and w > id)');

-- and so do keys that are hashed, filters and expressions
select join_check('select id, w from jg_a join jg_b on jg_a.k::numeric = jg_b.k::numeric and i2::numeric = i2::numeric');
select join_check('select id + w, coalesce(i4, w) from jg_a join jg_b using (k) where coalesce(i4, 0) + w > 100');
select join_check('select d, count(*), sum(i4), min(f8) from jg_a join jg_b using (k) group by d having count(*) > 1');

-- several joins, rescans, limits
select join_check('select id, w, x, a9 from jg_a join jg_b using (k) join jg_unique using (k) join jg_wide using (k)');
select join_check('select n, j.* from generate_series(1, 3) n, lateral (select id, w from jg_a join jg_b using (k) where i2 > n * 1000 offset 0) j');
select join_check('select count(*), count(i4) > 0 from (select i4, w from jg_a join jg_b using (k) limit 100) s');

-- processes that join together have columns gathered with their parts of the matches
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
create table jg_c as
  select case when i % 70 = 0 then null else i % 1500 end as k, case when i % 7 <> 0 then i % 2 = 0 end as b, (i % 500 - 250)::int2 as s,
         case when i > 5000 then chr(65 + i % 26)::"char" end as c, i as n, (i - 9000) * 368934881474191::int8 as big
    from generate_series(1, 20000) i;
create table jg_d as
  select case when i % 90 = 0 then null else i % 1700 end as k, i % 3 = 0 as b, case when i % 6 <> 0 then (i % 100)::int2 end as s, i as m,
         ('d' || i % 211)::text as t
    from generate_series(1, 12000) i;
create table jg_keys as select i as k, (i % 50)::int2 as s, i % 7 = 0 as b from generate_series(1, 1600) i;
create unique index on jg_keys (k);
analyze jg_c, jg_d, jg_keys;
select join_check('select jg_c.b, jg_c.s, c, jg_d.b as b2, jg_d.s as s2 from jg_c join jg_d using (k)');
select join_check('select jg_c.b, jg_c.s, c, n, big, m from jg_c join jg_d using (k)');
select join_check('select jg_c.b, c, t from jg_c join jg_d using (k)');
select join_check('select jg_c.b, jg_c.s, jg_d.s as s2 from jg_c left join jg_d using (k)');
select join_check('select jg_c.b, jg_c.s, jg_d.s as s2 from jg_c right join jg_d using (k)');
select join_check('select jg_c.b, jg_c.s, jg_d.s as s2 from jg_c full join jg_d using (k)');
select join_check('select b, c from jg_c where exists (select 1 from jg_d where jg_d.k = jg_c.k)');
select join_check('select b, c from jg_c where not exists (select 1 from jg_d where jg_d.k = jg_c.k)');
select join_check('select jg_c.b, c, jg_keys.s from jg_c join jg_keys using (k)');
select join_check('select jg_c.b, c, jg_keys.s from jg_c left join jg_keys on jg_c.k = jg_keys.k and jg_c.s > jg_keys.s');
select join_check('select jg_c.b, jg_c.s, jg_d.s as s2 from jg_c join jg_d on jg_c.k = jg_d.k and jg_c.s < jg_d.s');
select join_check('select jg_c.b, jg_c.s, jg_d.s as s2 from jg_c full join jg_d on jg_c.k = jg_d.k and jg_c.s < jg_d.s');
select join_check('select jg_c.b, jg_c.s, jg_d.s as s2 from jg_c join jg_d on jg_c.k::numeric = jg_d.k::numeric');
select join_check('select count(*) from (select jg_c.b, jg_d.s from jg_c join jg_d using (k) limit 100) s');
drop table jg_c, jg_d, jg_keys;

drop table jg_a, jg_b, jg_wide, jg_unique, jg_empty;
drop type jg_color, jg_number;
