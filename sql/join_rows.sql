--
-- How many rows the planner expects of joins: ranges of keys that a filter chooses, and keys of several columns; and how many groups
-- of them.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

-- the expected rows of a query, and the counted ones
create function expected(query text) returns numeric language sql as $$ select plan_estimate(query, 'Plan Rows') $$;
create function counted(query text) returns numeric language plpgsql as $$
declare n numeric;
begin
  execute format('select count(*) from (%s) q', query) into n;
  return n;
end
$$;
-- right if at most twice or half as many rows are expected as there are
create function tell(query text, out ours text, out without text) language plpgsql as $$
declare n numeric := counted(query);
begin
  set local hashgraph.join_estimates = on;
  ours := case when expected(query) between n / 2 and n * 2 then 'right' when expected(query) < n then 'too few' else 'too many' end;
  set local hashgraph.join_estimates = off;
  without := case when expected(query) between n / 2 and n * 2 then 'right' when expected(query) < n then 'too few' else 'too many' end;
end
$$;

-- a hundred years, with sales in four of them
create table r_day as
  select i as id, date '1951-01-01' + i as day, (i / 365) as year, i % 365 / 31 as month, -i as back from generate_series(0, 36499) i;
create table r_sale as
  select i as id, 25000 + i * 7 % 1460 as day_id, i % 1000 as customer from generate_series(1, 40000) i;
create table r_shuffled as select * from r_day order by hashint4(id);
alter table r_day add primary key (id);
alter table r_shuffled add primary key (id);
vacuum analyze r_day, r_sale, r_shuffled;

select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where d.year = 70');
select * from tell('select 1 from r_sale s, r_day d where s.day_id = d.id and d.year between 69 and 70 and d.month = 3');
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where d.day >= date ''2020-01-01'' and d.day < date ''2021-01-01''');
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where 70 = d.year');
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where d.year in (70, 71)');
-- stored in the opposite order
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where d.back between -26000 and -25600');
-- of the key itself, too
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where d.id between 25000 and 25999');
-- semijoins
select * from tell('select 1 from r_sale s where s.day_id in (select id from r_day where year = 70)');
select * from tell('select 1 from r_sale s where exists (select 1 from r_day d where d.id = s.day_id and d.year = 70)');
-- rows in no order do not tell which keys a filter chooses
select * from tell('select 1 from r_sale s join r_shuffled d on s.day_id = d.id where d.year = 70');
-- a year without sales is not expected to have fewer rows than without the extension
select expected('select 1 from r_sale s join r_day d on s.day_id = d.id where d.year = 3') >= 300;
-- nor does a flag that few rows have, although its column seems to be in order
create table r_flag as select id, (hashint4(id) % 250 = 0)::int as holiday, case when id < 32000 then null else year end as late from r_day order by id;
alter table r_flag add primary key (id);
create table r_recent as select i as id, 33000 + i % 3500 as day_id from generate_series(1, 40000) i;
vacuum analyze r_flag, r_recent;
select correlation > 0.99 as in_order from pg_stats where tablename = 'r_flag' and attname = 'holiday';
select * from tell('select 1 from r_recent s join r_flag d on s.day_id = d.id where d.holiday = 1');
-- nor columns with NULLs
select * from tell('select 1 from r_recent s join r_flag d on s.day_id = d.id where d.late = 93');
-- whatever the order of tables is
select * from tell('select 1 from r_shuffled x, r_day d, r_sale s where s.day_id = d.id and d.year = 70 and x.id = s.id');
set geqo_threshold = 2;
select * from tell('select 1 from r_sale s, r_day d where s.day_id = d.id and d.year = 70');
reset geqo_threshold;
-- a semijoin of which the planner expects more rows
create table r_week as select id, year, (id % 7 = 36135 % 7)::int as monday from r_day order by id;
create table r_hundred as select i as id, i % 100 as c from generate_series(0, 999) i;
alter table r_week add primary key (id);
create table r_weekly as select 36135 + i % 50 * 7 as day_id, i % 100 as c from generate_series(1, 40000) i;
vacuum analyze r_week, r_weekly, r_hundred;
\set query 'select 1 from r_weekly s where exists (select from r_week d, r_hundred h where h.c = s.c and d.id = s.day_id and d.year >= 98 and d.monday = 1)'
set hashgraph.join_estimates = off;
select expected(:'query') as without \gset
reset hashgraph.join_estimates;
select expected(:'query') >= :without;
-- a foreign key has the same assumption
alter table r_sale add foreign key (day_id) references r_day;
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id where d.year = 70');
-- three tables
select * from tell('select 1 from r_sale s join r_day d on s.day_id = d.id join r_shuffled x on x.id = d.id where d.year = 70');
-- values that no type with an order of integers has, null constants, long lists and parameters
create table r_name as select (i + 25000)::text as name, i as n from generate_series(1, 5000) i;
alter table r_name add primary key (name);
analyze r_name;
select join_check('select s.id from r_sale s join r_name x on s.day_id::text = x.name where x.n < 100');
select join_check('select s.id from r_sale s join r_day d on s.day_id = d.id where d.year = null');
select join_check('select s.id from r_sale s join r_day d on s.day_id = d.id where d.year in (70, null)');
select join_check('select s.id from r_sale s join r_day d on s.day_id = d.id where d.year = any (array(select 70))');
select join_check('select s.id from r_sale s join r_day d on s.day_id = d.id where d.id = any (array[' || string_agg(i::text, ',') || '])') from generate_series(25000, 25100) i;
prepare p(int) as select count(*) from r_sale s join r_day d on s.day_id = d.id where d.year = $1;
set plan_cache_mode = force_generic_plan;
execute p(70);
reset plan_cache_mode;

-- a key of two columns
create table r_line as select i / 5 as ticket, i % 5 * 1000 + i % 997 as item, i as v from generate_series(1, 40000) i;
create table r_return as select ticket, item, v as w from r_line where v % 10 = 3;
alter table r_line add primary key (ticket, item);
analyze r_line, r_return;
select * from tell('select 1 from r_line l join r_return r on l.ticket = r.ticket and l.item = r.item');
select * from tell('select 1 from r_line l, r_return r where l.ticket = r.ticket and l.item = r.item and l.v <= 20000');
select * from tell('select 1 from r_return r join (select ticket, item from r_line group by 1, 2) l using (ticket, item)');
select * from tell('select 1 from r_return r join (select ticket, item from r_line intersect select ticket, item from r_line) l using (ticket, item)');
-- of which other tables have a column, too
create table r_item as select i as item from generate_series(0, 5000) i;
alter table r_item add primary key (item);
analyze r_item;
select * from tell('select 1 from r_line l join r_return r on l.ticket = r.ticket and l.item = r.item join r_item i on i.item = l.item');
-- a column beside the key is a filter
create table r_order as select i as id, i % 1000 as zip, i as v from generate_series(1, 40000) i;
create table r_shop as select i as order_id, (hashint4(i) & 1023) % 1000 as zip from generate_series(1, 40000) i;
alter table r_order add primary key (id);
analyze r_order, r_shop;
select expected('select 1 from r_order o join r_shop s on o.id = s.order_id and o.zip = s.zip') < 1000;
-- NULLs have no match
create table r_null as select case when i % 20 = 0 then i / 5 end as ticket, case when i % 20 = 0 then i % 5 * 1000 + i % 997 end as item from generate_series(1, 40000) i;
analyze r_null;
select * from tell('select 1 from r_line l join r_null n on l.ticket = n.ticket and l.item = n.item');
-- if both tables have such a key, rows of the larger one have no match
alter table r_return add primary key (ticket, item);
select * from tell('select 1 from r_line l join r_return r on l.ticket = r.ticket and l.item = r.item');
select * from tell('select 1 from r_return r join r_line l using (ticket, item) where r.w <= 20000');
-- keys of different columns: the one whose columns depend on each other counts, and the third column is a filter
create table r_ship as select i / 5 as ticket, i % 5 as no, i * 7919 % 1000 as item from generate_series(0, 39999) i;
create table r_invoice as select * from r_ship where (ticket * 5 + no) % 10 <> 3;
alter table r_ship add primary key (ticket, no);
alter table r_invoice add primary key (ticket, item);
analyze r_ship, r_invoice;
select expected('select 1 from r_ship join r_invoice using (ticket, no, item)') between 5000 and 36000;
drop table r_ship, r_invoice;
-- columns that are no key are taken to be independent
create table r_other as select i % 200 as ticket, i % 77 as item from generate_series(1, 20000) i;
analyze r_other;
select * from tell('select 1 from r_other a join r_other b on a.ticket = b.ticket and a.item = b.item');
select join_check('select l.v, r.w from r_line l join r_return r on l.ticket = r.ticket and l.item = r.item');

-- groups of joined rows: 50 of 20,000 customers, and sales in five of a hundred years
drop table r_sale;
create table r_sale as select 25000 + i * 7 % 1460 as day_id, i * 31 % 977 % 50 * 20 as customer, i % 200 as n from generate_series(1, 40000) i;
create table r_customer as select i as id, 'customer ' || i as name, i % 10 as region from generate_series(0, 19999) i;
alter table r_customer add primary key (id);
analyze r_sale, r_customer;
-- since 19 core may group before it joins
do $$ begin perform set_config('enable_eager_aggregate', 'off', false) from pg_settings where name = 'enable_eager_aggregate'; end $$;
-- by a column that is stored in order, of the days that have sales
select * from tell('select d.year, s.n, count(*) from r_sale s join r_day d on s.day_id = d.id group by 1, 2');
select * from tell('select d.day, d.year, count(*) from r_sale s join r_day d on s.day_id = d.id group by 1, 2');
select * from tell('select d.back, s.customer, s.n, count(*) from r_sale s join r_day d on s.day_id = d.id where d.year = 70 group by 1, 2, 3');
-- by columns of a table of which few rows have a partner
select * from tell('select c.name, s.n, count(*) from r_sale s join r_customer c on c.id = s.customer group by 1, 2');
select * from tell('select c.id, c.name, d.year, max(s.n) from r_sale s join r_customer c on c.id = s.customer join r_day d on s.day_id = d.id group by 1, 2, 3');
select * from tell('select distinct c.name, s.n from r_sale s join r_customer c on c.id = s.customer');
-- not by one that is stored in no order, nor if each key has its partner
select * from tell('select d.day, s.n, count(*) from r_sale s join r_shuffled d on s.day_id = d.id group by 1, 2');
select * from tell('select d.day, o.n, count(*) from r_day d join (select i as id, i as n from generate_series(0, 36499) i offset 0) o on o.id = d.id group by 1, 2');
-- nor where the keys of the other side have no statistics
select * from tell('select c.id, max(s.i) from generate_series(0, 19999) s (i) join r_customer c on c.id = s.i group by 1');
-- nor by clauses of an outer join
select * from tell('select c.name, s.n, count(*) from r_sale s left join r_customer c on c.id = s.customer group by 1, 2');
-- the same groups, whatever is expected
select join_check('select d.year, s.n, count(*), sum(s.customer) from r_sale s join r_day d on s.day_id = d.id group by 1, 2');
select join_check('select c.name, s.n, count(*) from r_sale s join r_customer c on c.id = s.customer group by rollup (1, 2)');

drop table r_sale, r_day, r_shuffled, r_customer, r_name, r_line, r_return, r_item, r_other, r_flag, r_recent, r_week, r_weekly, r_hundred, r_order, r_shop, r_null;
drop function expected, counted, tell;
