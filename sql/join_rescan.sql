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
