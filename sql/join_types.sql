--
-- Join types: the node does all of them where there is a hashable clause.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table t_a as
  select case when i % 10 = 0 then null else i % 37 end as k, i as v from generate_series(1, 400) i;
create table t_b as
  select case when i % 15 = 0 then null else i % 53 end as k, i as w from generate_series(1, 300) i;
create table t_c as select i as k, i * 10 as x from generate_series(20, 60) i;
create table t_empty (k int, e int);
analyze t_a, t_b, t_c, t_empty;

-- inner
select join_check('select a.k, v, w from t_a a join t_b b on a.k = b.k');
select join_check('select * from t_a join t_b using (k)');
select join_check('select * from t_a natural join t_b');
select join_check('select * from t_a a, t_b b where b.k = a.k');
select join_check('select count(*) from t_a a join t_b b using (k)');

-- left, and right, which the planner turns into left; t_c is the smaller side, and the left
-- join of it becomes a right one
select join_check('select a.k, v, w from t_a a left join t_b b on a.k = b.k');
select join_check('select a.k, v, w from t_a a right join t_b b on a.k = b.k');
select join_check('select count(*), count(w) from t_a a left join t_b b using (k)');
select join_check('select count(*) from t_a a left join t_b b using (k)');
select join_check('select c.k, x, v from t_c c left join t_a a on a.k = c.k');
select join_check('select c.k, x, v from t_c c left join t_a a on a.k = c.k and a.v > 200');
select join_check('select c.k, x, v from t_c c left join t_a a on a.k = c.k and c.x > 400 where v is null or v < 300');
select join_check('select count(*), count(x), count(v) from t_c c left join t_a a using (k)');
select join_check('select count(*) from t_c c left join t_a a using (k)');

-- full
select join_check('select a.k, v, w from t_a a full join t_b b on a.k = b.k');
select join_check('select k, v, w from t_a full join t_b using (k) where k > 30 or k is null');
select join_check('select a.k, v, b.k, w from t_a a full join t_b b on a.k = b.k and v > w');
select join_check('select count(*) from t_a a full join t_b b using (k)');
select join_check('select x.v, y.v from t_a x full join t_a y on x.k = y.v');
select join_check('select a.v, d.k from t_a a full join (select distinct k from t_b) d using (k)');

-- semi
select join_check('select * from t_a a where exists (select from t_b b where b.k = a.k)');
select join_check('select * from t_a a where a.k in (select k from t_b)');
select join_check('select * from t_a a where a.k = any (select k from t_b)');
select join_check('select count(*) from t_a a where exists (select from t_b b where b.k = a.k)');

-- anti
select join_check('select * from t_a a where not exists (select from t_b b where b.k = a.k)');
select join_check('select a.* from t_a a left join t_b b on a.k = b.k where b.k is null');
select join_check('select count(*) from t_a a where not exists (select from t_b b where b.k = a.k)');

-- NOT IN is something else where there are NULLs
select join_check('select * from t_c c where c.k not in (select k from t_a where k is not null)');
select join_check('select * from t_c c where c.k not in (select k from t_a)');

-- On the CPU dense keys are the vertices themselves, as all of these are, but where a setting tells how
-- they are to be hashed; those of others are far apart, and are joined in each way all the same.
create function join_build(query text, out backend text, out build text) language plpgsql as $$
declare
  plan jsonb;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (analyze, costs off, format json) ' || query into plan;
  backend := jsonb_path_query_first(plan, '$.**.Backend') #>> '{}';
  build := jsonb_path_query_first(plan, '$.**.Build') #>> '{}';
end
$$;
select backend <> 'cpu' or build = 'direct' as direct from join_build('select a.k, v, w from t_a a join t_b b on a.k = b.k');
select backend <> 'cpu' or build = 'direct' as direct from join_build('select count(*) from t_a a join t_b b on a.k = b.k');
set hashgraph.build = 'v1';
select build from join_build('select a.k, v, w from t_a a join t_b b on a.k = b.k');
select join_check('select a.k, v, w from t_a a full join t_b b on a.k = b.k');
reset hashgraph.build;
create table t_far_a as select k * 10000019 as k, v from t_a;
create table t_far_b as select k * 10000019 as k, w from t_b;
analyze t_far_a, t_far_b;
select build <> 'direct' as hashed from join_build('select a.k, v, w from t_far_a a join t_far_b b on a.k = b.k');
select join_check('select a.k, v, w from t_far_a a join t_far_b b on a.k = b.k');
select join_check('select a.k, v, w from t_far_a a full join t_far_b b on a.k = b.k');
select join_check('select * from t_far_a a where exists (select from t_far_b b where b.k = a.k)');
select join_check('select * from t_far_a a where not exists (select from t_far_b b where b.k = a.k)');
select join_check('select count(*), count(w) from t_far_a a left join t_far_b b using (k)');
-- bigint, with values of both signs, and where the least and the greatest are at the type's ends
create table t_long_a as select k::bigint - 20 as k, v from t_a;
create table t_long_b as select k::bigint - 30 as k, w from t_b;
create table t_ends_a as select case when k < 18 then 9223372036854775807 - k else -9223372036854775807 - 1 + k end as k, v from t_a;
create table t_ends_b as select case when k < 20 then 9223372036854775807 - k else -9223372036854775807 - 1 + k end as k, w from t_b;
analyze t_long_a, t_long_b, t_ends_a, t_ends_b;
select join_check('select a.k, v, w from t_long_a a full join t_long_b b on a.k = b.k');
select join_check('select a.k, v, w from t_ends_a a full join t_ends_b b on a.k = b.k');
select join_check('select a.k, v from t_ends_a a where not exists (select from t_ends_b b where b.k = a.k)');
drop function join_build;
drop table t_far_a, t_far_b, t_long_a, t_long_b, t_ends_a, t_ends_b;

-- semi and anti joins of the smaller side
select join_check('select * from t_c c where exists (select from t_a a where a.k = c.k)');
select join_check('select * from t_c c where exists (select from t_a a where a.k = c.k and a.v > c.x)');
select join_check('select * from t_c c where not exists (select from t_a a where a.k = c.k)');
select join_check('select * from t_c c where not exists (select from t_a a where a.k = c.k and a.v > c.x)');
select join_check('select count(*) from t_c c where not exists (select from t_a a where a.k = c.k)');

-- a semi join whose inner side is made unique first
select join_check('select * from t_a a, t_b b where a.k = b.k and (a.k, b.w) in (select k, x from t_c)');
select join_check('select count(*) from t_a a, t_b b where a.v = b.w and a.v in (select k from t_c)');

-- joins without a hashable clause are core's
select join_check('select v, w from t_a a join t_b b on a.k < b.k where v < 20');
select join_check('select v, x from t_a a left join t_c c on a.v > c.x');
select join_check('select v, x from t_a a cross join t_c c');

-- empty sides
select join_check('select * from t_a join t_empty using (k)');
select join_check('select * from t_empty join t_a using (k)');
select join_check('select * from t_a left join t_empty using (k)');
select join_check('select * from t_empty left join t_a using (k)');
select join_check('select * from t_a a where exists (select from t_empty e where e.k = a.k)');
select join_check('select * from t_a a where not exists (select from t_empty e where e.k = a.k)');
select join_check('select * from t_empty e where not exists (select from t_a a where e.k = a.k)');
select join_check('select count(*) from t_empty join t_a using (k)');
select join_check('select * from t_a left join (select * from t_b where w < 0) b using (k)');
select join_check('select * from t_a full join t_empty using (k)');
select join_check('select * from t_empty full join t_a using (k)');
select join_check('select * from t_a full join t_b on t_a.k = t_b.k and t_a.v < 0');

-- a table with itself
select join_check('select x.v, y.v from t_a x join t_a y using (k)');
select join_check('select x.v, y.v from t_a x left join t_a y on y.k = x.v');
select join_check('select x.v from t_a x where not exists (select from t_a y where y.k = x.v)');
select join_check('select x.v from t_a x where exists (select from t_a y where y.k = x.k and y.v <> x.v)');

-- several joins
select join_check('select v, w, x from t_a join t_b using (k) join t_c using (k)');
select join_check('select v, w, x from t_a a left join t_b b on a.k = b.k left join t_c c on b.k = c.k');
select join_check('select v, w, x from t_a a left join (t_b b join t_c c on b.k = c.k) on a.k = b.k');
select join_check('select v, w, x from (t_a a left join t_b b on a.k = b.k) join t_c c on a.k = c.k');
select join_check('select v, w, x from t_c c left join (t_a a left join t_b b on a.v = b.w) on a.k = c.k');
select join_check('select v, w, x from t_a a full join t_b b on a.k = b.k join t_c c on c.k = a.k');
select join_check('select v, w from t_a a left join t_b b on a.k = b.k
                   where exists (select from t_c c where c.k = a.k)
                     and not exists (select from t_c c where c.k = b.w)');

-- below and above other nodes
select join_check('select k, count(*), sum(v), min(w) from t_a join t_b using (k) group by k');
select join_check('select distinct k from t_a join t_b using (k)');
select join_check('select k, v from t_a join t_b using (k) union all select k, v from t_a join t_c using (k)');
select join_check('select k, v from t_a join t_b using (k) except select k, v from t_a join t_c using (k)');
select join_check('select s.k, n, x from (select k, count(*) as n from t_a group by k) s left join t_c using (k)');
select join_check('select k, v, w, row_number() over (partition by k order by v, w) from t_a join t_b using (k)');

-- inputs that are no tables
select join_check('with s as materialized (select k, v from t_a where v > 100) select * from s join t_b using (k)');
select join_check('with recursive r (n) as (select 1 union all select n + 1 from r where n < 50)
                   select n, v from r join t_a on k = n');
select join_check('with recursive r (k, n) as (
                     select k, 1 from t_c where k < 30
                     union all
                     select b.k, n + 1 from r join t_b b on b.w = r.k + 3 where n < 5)
                   select * from r');
select join_check($$select * from (values (1, 'one'), (2, 'two'), (null, 'none')) s (k, name) join t_a using (k)$$);
select join_check('select * from generate_series(5, 10) k join t_a using (k)');
select join_check('select * from generate_series(5, 10) with ordinality s (k, n) left join t_a using (k)');
select join_check('select * from unnest(array[1, 2, null, 1]) k left join t_c using (k)');
select join_check($$select * from jsonb_to_recordset('[{"k": 21}, {"k": 22, "y": 1}, {}]') as s (k int, y int) left join t_c using (k)$$);
create view t_view as select k, v, w from t_a join t_b using (k);
select join_check('select * from t_view join t_c using (k)');
create materialized view t_materialized as select * from t_view;
select join_check('select * from t_materialized m left join t_c using (k)');

-- partitions and children
create table t_part (k int, p int) partition by range (k);
create table t_part1 partition of t_part for values from (minvalue) to (20);
create table t_part2 partition of t_part for values from (20) to (40);
create table t_part3 partition of t_part default;
insert into t_part select k, v from t_a;
create table t_part_b (k int, q int) partition by range (k);
create table t_part_b1 partition of t_part_b for values from (minvalue) to (20);
create table t_part_b2 partition of t_part_b for values from (20) to (40);
create table t_part_b3 partition of t_part_b default;
insert into t_part_b select k, w from t_b;
analyze t_part, t_part_b;
select join_check('select * from t_part join t_part_b using (k)');
select join_check('select t_part.tableoid::regclass, * from t_part left join t_b using (k)');
set enable_partitionwise_join = on;
select join_check('select * from t_part join t_part_b using (k)');
select join_check('select * from t_part left join t_part_b using (k)');
select join_check('select * from t_part a where not exists (select from t_part_b b where b.k = a.k)');
select join_nodes('select * from t_part join t_part_b using (k)') > 1 as one_for_each_partition
  from (values (set_config('hashgraph.force', 'on', true))) s (force) where force = 'on';
reset enable_partitionwise_join;
create table t_child (extra int) inherits (t_c);
insert into t_child select i, -i, i from generate_series(30, 80) i;
select join_check('select c.tableoid::regclass, * from t_c c join t_a using (k)');
select join_check('select * from only t_c c join t_a using (k)');

drop materialized view t_materialized;
drop view t_view;
drop table t_a, t_b, t_c, t_empty, t_part, t_part_b, t_child;
