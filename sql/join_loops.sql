-- Nested loops that read all of one side for each row of the other: they are left where a join that hashes costs hardly
-- more, as what comes of CTEs, subqueries and filters is guessed.
set max_parallel_workers_per_gather = 0;
create table l_sales as select i % 400 as county, i / 400 % 4 as q, 1999 + i / 1600 as y, i as price from generate_series(0, 4799) i;
create table l_counties as select i as county, 'county ' || i as name from generate_series(0, 399) i;
analyze l_sales, l_counties;

-- the nested loops of a plan, and whether its rows are those of PostgreSQL's own
create function loops_of(query text) returns text language plpgsql as $$
declare
  line text;
  loops int := 0;
  rows bigint;
  ours text;
  theirs text;
begin
  for line in execute 'explain (costs off) ' || query loop
    loops := loops + (line ~ 'Nested Loop')::int;
  end loop;
  execute format('select count(*), sum(hashtext(r::text)) from (%s) r', query) into rows, ours;
  perform set_config('hashgraph.enabled', 'off', true);
  execute format('select sum(hashtext(r::text)) from (%s) r', query) into theirs;
  perform set_config('hashgraph.enabled', 'on', true);
  return format('%s nested loops: %s rows, %s', loops, rows, case when ours is not distinct from theirs then 'same' else 'others' end);
end
$$;

-- few rows are expected of each CTE, and 400 come
select loops_of('with s as (select county, q, y, sum(price) v from l_sales group by county, q, y)
  select s1.county, s1.v v1, s2.v v2, s3.v v3 from s s1 join s s2 on s1.county = s2.county join s s3 on s1.county = s3.county
  where s1.q = 1 and s1.y = 1999 and s2.q = 2 and s2.y = 2000 and s3.q = 3 and s3.y = 2001');
-- joins of other types, and subqueries
select loops_of(format('with s as (select county, q, y, sum(price) v from l_sales group by county, q, y)
  select s1.county, s1.v from s s1 %s and s1.q = 1 and s1.y = 1999', clause)) from (values
  ('left join s s2 on s1.county = s2.county and s2.q = 2 and s2.y = 2000 where true'),
  ('where exists (select from s s2 where s1.county = s2.county and s2.q = 2 and s2.y = 2000)'),
  ('where not exists (select from s s2 where s1.county = s2.county and s2.q = 2 and s2.y = 2000 and s2.county < 250)')) t (clause);
select loops_of('select c.name, s.v from (select county, sum(price) v from l_sales where q = 1 and y = 1999 and price % 7 < 7 group by county) s
  join l_counties c on s.county = c.county and length(c.name) > 2');
-- filters that are thought to leave few rows of tables without an index
select loops_of('select a.county, a.price, b.price as other from l_sales a join l_sales b on a.county = b.county
  where a.q + 0 = 1 and a.y + 0 = 1999 and b.q + 0 = 2 and b.y + 0 = 2000');
-- the order of a loop is worth no more than a sort, and a LIMIT above a sort wants all rows
select loops_of('with s as (select county, q, y, sum(price) v from l_sales group by county, q, y)
  select s1.county, s1.v v1, s2.v v2 from s s1 join s s2 on s1.county = s2.county
  where s1.q = 1 and s1.y = 1999 and s2.q = 2 and s2.y = 2000 order by s1.county limit 300');
-- ... in whichever order the tables are written, and whichever is read first
create index on l_sales (price);
select loops_of(format('with s as materialized (select i %% 400 as county, i / 400 %% 4 as q, i / 1600 %% 3 + 1999 as y from generate_series(1, 40000) i)
  select a.county, a.price from %s where a.county = s.county and s.q = 1 and s.y = 2000 order by a.price limit 1', tables))
  from (values ('s, l_sales a'), ('l_sales a, s')) t (tables);
drop index l_sales_price_idx;
-- but a loop whose first rows come at once, in an order of which a LIMIT wants few, stays
create index on l_sales (price);
select loops_of('select a.county, a.price from l_sales a where not exists (select from l_counties c where c.county = a.county and c.name = ''county 9'')
  order by a.price limit 3');
select loops_of('select a.price, count(*) from l_sales a where not exists (select from l_counties c where c.county = a.county and c.name = ''county 9'')
  group by a.price order by a.price limit 3');
drop index l_sales_price_idx;
-- tables of ten rows and single rows of a unique index are joined by loops
create table l_few as select i as q, 'quarter ' || i as name from generate_series(0, 3) i;
alter table l_few add primary key (q);
analyze l_few;
select loops_of('select f.name, s.v from (select q, sum(price) v from l_sales where y + 0 = 1999 and county + 0 = 7 group by q) s
  join l_few f on s.q = f.q + 0 and f.q % 4 >= 0');
alter table l_counties add primary key (county);
select loops_of('select c.name, s.v from (select county, sum(price) v from l_sales where y + 0 = 1999 and q + 0 = 1 group by county) s
  join (select county + 7 as county, name from l_counties where county = 2) c on s.county = c.county');
drop table l_few;
-- loops whose first rows are wanted stay, and those without anything to hash
explain (costs off) with s as (select county, q, y, sum(price) v from l_sales group by county, q, y)
  select s1.v from s s1 join s s2 on s1.county = s2.county where s1.q = 1 and s1.y = 1999 and s2.q = 2 and s2.y = 2000 limit 5;
select loops_of('with s as (select county, q, y, sum(price) v from l_sales group by county, q, y)
  select count(*) from s s1 join s s2 on s1.v + 3000000 < s2.v where s1.q = 1 and s1.y = 1999 and s2.q = 2 and s2.y = 2000');
-- settings hold
set enable_hashjoin = off;
set enable_mergejoin = off;
select loops_of('with s as (select county, q, y, sum(price) v from l_sales group by county, q, y)
  select s1.v from s s1 join s s2 on s1.county = s2.county where s1.q = 1 and s1.y = 1999 and s2.q = 2 and s2.y = 2000');
reset enable_mergejoin;
reset enable_hashjoin;
reset max_parallel_workers_per_gather;
drop function loops_of;
drop table l_sales, l_counties;
