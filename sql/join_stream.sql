--
-- Streams: outer rows that are joined as they come, where the inner HashGraph is small.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

-- keys that are dense, with gaps, there often, NULL, texts; a key has up to 900 matches
create table st_f as
  select i as v, case when i % 11 = 0 then null else i % 997 end as k1, i % 50 as k2, (i * 7919) % 100003 as k3,
    't' || i % 300 as t, repeat('f', i % 30) as pad, (i % 7)::smallint as s, i % 13 = 0 as b
  from generate_series(1, 20000) i;
create table st_d1 as select i as k1, i * 3 as x, 'd' || i as name from generate_series(0, 1100) i;
create table st_d2 as select i % 40 as k2, i as y, case when i % 3 = 0 then null else i end as z from generate_series(1, 900) i;
create table st_d3 as select (i * 7919) % 100003 as k3, i as w from generate_series(1, 5000) i;
create table st_dt as select 't' || i as t, i as u from generate_series(1, 400) i;
create table st_hot as select case when i < 900 then 5 else i end as k2, i as h from generate_series(1, 1000) i;
create table st_none (k1 int, n int);
analyze st_f, st_d1, st_d2, st_d3, st_dt, st_hot, st_none;

select join_check('select * from st_f join st_d1 using (k1)');
select join_check('select v, y, z from st_f join st_d2 using (k2) where v < 3000');
select join_check('select v, w, pad, s, b from st_f join st_d3 using (k3)');
select join_check('select v, u, t from st_f join st_dt using (t)');
select join_check('select v, h from st_f join st_hot using (k2) where v % 10 = 5 and v < 3000');
select join_check('select v, n from st_f join st_none using (k1)');
-- two keys, expressions, other widths
select join_check('select v, pad from st_f f join st_d1 d on f.k1 = d.k1 and f.k2 = d.x');
select join_check('select v, name from st_f f join st_d1 d on f.k1::bigint * 2 = d.k1');
select join_check('select v, name from st_f f join st_d1 d on f.s = d.k1');
-- quals over both sides, and above
select join_check('select v, name from st_f f join st_d1 d on f.k1 = d.k1 and f.v % 100 > d.x % 100');
select join_check('select v, h, pad from st_f f join st_hot h on f.k2 = h.k2 and f.v % 10 = h.h % 10 where v < 4000');
-- other types of joins
select join_check('select v, pad from st_f f where exists (select from st_d2 d where d.k2 = f.k2)');
select join_check('select v, pad from st_f f where exists (select from st_d2 d where d.k2 = f.k2 and d.y > f.v)');
select join_check('select v, pad from st_f f where not exists (select from st_d2 d where d.k2 = f.k2)');
select join_check('select name, v from st_d1 d left join st_f f on f.k1 = d.k1');
select join_check('select name, v from st_d1 d left join st_f f on f.k1 = d.k1 and f.v > d.x + 9000');
select join_check('select name from st_d1 d where not exists (select from st_f f where f.k1 = d.k1)');
select join_check('select v, name from st_f f left join st_d1 d on f.k1 = d.k1');
select join_check('select v, name from st_f f full join st_d1 d on f.k1 = d.k1');
-- a star, whose batches go through all joins; snowflakes; aggregates above
select join_check('select v, x, w, u, pad, name from st_f join st_d1 using (k1) join st_d3 using (k3) join st_dt using (t)');
select join_check('select v, x, w, y from st_f join st_d1 using (k1) join st_d3 using (k3) join st_d2 using (k2) where v % 5 = 0');
select join_check('select count(*), sum(v), sum(x), sum(u), min(name), max(pad) from st_f join st_d1 using (k1) join st_dt using (t)');
select join_check('select name, count(*), sum(v), max(pad) from st_f join st_d1 using (k1) join st_d2 using (k2) group by name');
select join_check('select t, s, count(z), sum(y) from st_f join st_d2 using (k2) join st_dt using (t) group by t, s');
-- where nobody looks at the inner side, rows come as often as they match
select join_check('select count(*), sum(v), max(pad) from st_f join st_d1 using (k1)');
select join_check('select s, count(*), sum(v), max(pad) from st_f join st_d2 using (k2) group by s');
select join_check('select v, pad from st_f join st_hot using (k2) where v % 10 = 5 and v < 1000');
select join_check('select v, pad from st_f join st_dt using (t)');
select join_check('select d.k1, v from st_d1 d left join st_f f on f.k1 = d.k1');
-- again, with another outer side, and another inner one
select join_check('select i, (select sum(v + x) from st_f join st_d1 using (k1) where v % 50 = i) from generate_series(1, 5) i');
select join_check('select i, (select sum(v + x) from st_f join st_d1 using (k1) where x % 50 = i) from generate_series(1, 5) i');
-- some rows are enough
set hashgraph.force = on;
select count(*) from (select v, name from st_f join st_d1 using (k1) limit 700) s;
reset hashgraph.force;

-- Outer rows are not held, so that they are never too many: one execution of the join in work memory
-- that a fraction of them would fill.
set work_mem = '256kB';
set hash_mem_multiplier = 1;
set hashgraph.backend = cpu;
set hashgraph.force = on;
select count(*), sum(length(pad)) from (select f.*, name from st_f f join st_d1 using (k1) offset 0) s;
select executions, partitions, memory_bytes < 128 * 1024 as little from hashgraph_last_joins();
-- they are where others than their matches are asked for
select count(*), sum(length(pad)) from (select f.*, name from st_f f left join st_d1 using (k1) offset 0) s;
select executions > 1 or partitions > 1 as in_pieces from hashgraph_last_joins();
-- or where the setting asks for bins
set hashgraph.bins = 8;
select count(*), sum(length(pad)) from (select f.*, name from st_f f join st_d1 using (k1) offset 0) s;
select executions > 1 or partitions > 1 as in_pieces from hashgraph_last_joins();

-- A table of all places from the least key to the greatest is counted too, where outer rows come as
-- in a join of rows that are held, and is not made where there is no room for it.
reset hashgraph.bins;
create table st_far as select i * 650 as k3, i as n from generate_series(0, 199) i;
analyze st_far;
set work_mem = '64kB';
select count(*), sum(n) from (select v, n from st_f join st_far using (k3) offset 0) s;
select build = 'direct' as direct, memory_bytes <= 64 * 1024 as fits from hashgraph_last_joins();
set work_mem = '4MB';
select count(*), sum(n) from (select v, n from st_f join st_far using (k3) offset 0) s;
select build = 'direct' as direct, memory_bytes >= engine_bytes as counted from hashgraph_last_joins();
select count(*), sum(n) from (select v, n from st_f left join st_far using (k3) offset 0) s;
select build = 'direct' as direct, memory_bytes >= engine_bytes as counted from hashgraph_last_joins();

-- Inner rows may take most of the memory, as streamed outer rows take none; more of them go to files, as do those of a join that
-- collects outer rows.
create table st_wide as select i as k3, repeat('wide', 20) || i as w from generate_series(0, 19999) i;
create table st_many as select i * 7 % 20000 as k3, i as v from generate_series(1, 200000) i;
analyze st_wide, st_many;
reset hashgraph.force;
set work_mem = '1MB';
set hash_mem_multiplier = 2;
select count(w), sum(v) from (select * from st_many join (select * from st_wide where k3 < 7000) w using (k3) offset 0) s;
select inner_rows, partitions > 1 as files from hashgraph_last_joins();
select count(w), sum(v) from (select * from st_many join (select * from st_wide where k3 < 12000) w using (k3) offset 0) s;
select inner_rows, partitions > 1 as files from hashgraph_last_joins();
select count(w), sum(v) from (select * from st_many join (select * from st_wide where k3 < 20000) w using (k3) offset 0) s;
select inner_rows, partitions > 1 as files from hashgraph_last_joins();
select count(w), sum(v) from (select * from st_many left join (select * from st_wide where k3 < 7000) w using (k3) offset 0) s;
select inner_rows, partitions > 1 as files from hashgraph_last_joins();
select count(w), sum(v) from (select * from st_many left join (select * from st_wide where k3 < 12000) w using (k3) offset 0) s;
select inner_rows, partitions > 1 as files from hashgraph_last_joins();
select count(w), sum(v) from (select * from st_many left join (select * from st_wide where k3 < 20000) w using (k3) offset 0) s;
select inner_rows, partitions > 1 as files from hashgraph_last_joins();
select join_check(format('select v, w from st_many join (select * from st_wide where k3 < %s) w using (k3)', rows)) from (values (7000), (12000), (20000)) as r (rows);
reset work_mem;
reset hash_mem_multiplier;

drop table st_wide, st_many, st_f, st_d1, st_d2, st_d3, st_dt, st_hot, st_none, st_far;
