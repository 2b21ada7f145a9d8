-- Joins that count their outer rows before they choose between an index and hashing.
set max_parallel_workers_per_gather = 0;
create table d_sales (id int, item int, buyer int, kind int, note text);
insert into d_sales select i, case when i % 50 > 0 then i % 20000 end, i % 400, 1, 'sale ' || i from generate_series(1, 60000) i;
create table d_items (item int primary key, price int, name text);
insert into d_items select i, i % 100, 'item ' || i from generate_series(1, 40000) i;
create table d_visits (item int, buyer int);
insert into d_visits select i % 15000, i from generate_series(1, 60000) i;
create index on d_visits (item);
analyze d_sales, d_items, d_visits;

-- how the joins of a query went about it, and whether its rows are those of PostgreSQL's own plan
create function strategies_of(node json) returns text[] language sql as $$
  select case when node->>'Custom Plan Provider' = 'HashGraphJoin' then array[coalesce(node->>'Strategy', 'not adaptive')] else '{}' end
    || coalesce((select array_agg(s) from json_array_elements(node->'Plans') c, unnest(strategies_of(c)) s), '{}')
$$;
create function strategies(query text) returns text language plpgsql as $$
declare
  plan json;
  rows bigint;
  ours text;
  theirs text;
begin
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  execute format('select count(*), sum(hashtext(r::text)) from (%s) r', query) into rows, ours;
  perform set_config('hashgraph.enabled', 'off', true);
  execute format('select sum(hashtext(r::text)) from (%s) r', query) into theirs;
  perform set_config('hashgraph.enabled', 'on', true);
  return format('%s: %s rows, %s', array_to_string(strategies_of(plan->0->'Plan'), ', '), rows,
    case when ours is not distinct from theirs then 'same' else 'others' end);
end
$$;

explain (costs off) select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0;
-- two rows are expected of the filter: none come, a few, or all
select clause, kind, strategies(format('select s.note, s.id, i.name, i.price from d_sales s %s d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and %s', kind, clause))
  from (values ('s.id % 1000 < 0'), ('s.id % 1000 < 3'), ('s.id % 1000 < 1000')) c (clause), (values ('join'), ('left join')) k (kind) order by 1, 2;
select clause, kind, strategies(format('select s.note, s.id from d_sales s where %s (select from d_visits v where v.item = s.item) and s.kind + 0 = 1 and s.kind - 1 = 0 and %s', kind, clause))
  from (values ('s.id % 1000 < 0'), ('s.id % 1000 < 3'), ('s.id % 1000 < 1000')) c (clause), (values ('exists'), ('not exists')) k (kind) order by 1, 2;
-- a clause that no row decides (a custom join can have it from PostgreSQL 17 on)
select clause, substring(strategies(format('select s.note, s.id, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id %% 1000 < 3 and %s', clause)) from '[0-9]+ rows.*')
  from (values ('pg_backend_pid() > 0'), ('pg_backend_pid() < 0')) c (clause) order by 1;
-- ... of the outer side
select substring(strategies('select v.z, s.id, s.name from (values (1), (2)) v(z) left join (select s.id, i.name from
  (select * from d_sales where current_setting(''work_mem'') <> '''' and kind + 0 = 1 and kind - 1 = 0) s join d_items i on s.item = i.item) s on s.id > v.z and s.id < 9') from '[0-9]+ rows.*');
-- several matches of a row, other clauses, aggregates, counts and computed columns
select strategies('select s.id, v.buyer from d_sales s join d_visits v on s.item = v.item and v.buyer > s.buyer where s.kind + 0 = 1 and s.kind - 1 = 0');
select strategies('select s.id, v.buyer from d_sales s join d_visits v on s.item = v.item and v.buyer > s.buyer where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 30');
select strategies('select count(*), sum(i.price), max(s.note) from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 30');
select strategies('select count(*), sum(i.price), max(s.note) from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0');
select strategies('select count(*) from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 30');
select strategies('select count(*) from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0');
select strategies('select s.id + i.price as sum, upper(i.name) as name from d_sales s left join d_items i on s.item = i.item and i.price < 50 where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 30');
-- a join above another, memory for few rows, and executions of which each counts anew
select strategies('select s.id, i.name, v.buyer from d_sales s join d_items i on s.item = i.item join d_visits v on v.item = s.item and v.buyer % 7 = s.id % 7 where s.kind + 0 = 1 and s.kind - 1 = 0');
set work_mem = '64kB';
select strategies('select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0');
select strategies('select s.note, i.name from d_sales s left join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 30');
reset work_mem;
set enable_memoize = off;
select strategies('select x, n from (values (0), (3), (1000), (2), (0), (1000)) t (x), lateral (select count(*), sum(i.price) from d_sales s join d_items i on s.item = i.item
  where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id % 1000 < x offset 0) l (n, p)');
reset enable_memoize;
-- few rows are expected of a CTE that costs more than a short query, of one made unique, and of one without a cost
select strategies(format('with c as materialized (select item, count(*) as n from d_sales where kind + 0 = 1 and kind - 1 = 0 and id %% 100 < %s group by item having count(*) * 0 = 0 and count(*) + 1 > 1)
  select c.n, i.name from c join d_items i using (item)', few)) from (values (1), (100)) f (few);
select strategies('with c as materialized (select item from d_sales where kind + 0 = 1 and kind - 1 = 0 and kind * 2 = 2) select i.name, i.price from d_items i where item in (select item from c)');
select strategies('with c as materialized (select i as item from generate_series(1, 3) i) select i.name from c join d_items i using (item)');
-- lookups in a join of two tables, for rows that came after the statistics
create table d_late as select * from d_sales;
analyze d_late;
insert into d_late select id, item, buyer, 5, note from d_sales where id <= 20000;
select few, strategies(format('select s.id, v.buyer, i.price from d_late s left join (d_visits v join d_items i on i.item = v.item and i.price < 60) on v.item = s.item and v.buyer > s.buyer
  where s.kind = 5 and s.id < %s', few)) from (values (3), (100000)) f (few);
-- ... of which each finds many rows that a clause rejects
create table d_hot as select i % 200 as g, i % 5000 as buyer, i % 3000 as item, repeat('x', 100) as pad from generate_series(1, 40000) i;
create index on d_hot (g);
analyze d_hot;
select few, strategies(format('select s.id, v.buyer, i.price from d_late s left join (d_hot v join d_items i on i.item = v.item and i.price < 60) on v.g = mod(s.item, 200) and v.buyer = s.buyer
  where s.kind = 5 and s.id < %s', few)) from (values (3), (1500)) f (few);
drop table d_late, d_hot;
-- a loop that a subquery runs for each row is left up to ten times the price
create index on d_sales (id);
select strategies('select count(*), sum(i.price) from d_sales s join d_items i on s.item = i.item where s.id < (select 5) and s.kind + 0 = 1 and s.kind - 1 = 0');
create function strategies_of_each() returns text language sql as $$
  select strategies('select x, n, p from (values (0), (3), (5)) t (x), lateral (select count(*), sum(i.price) from d_sales s join d_items i on s.item = i.item
    where s.id < x and s.kind + 0 = 1 and s.kind - 1 = 0) l (n, p)')
$$;
select strategies_of_each();
set seq_page_cost = 40;
select strategies_of_each();
reset seq_page_cost;
drop function strategies_of_each;
drop index d_sales_id_idx;
begin;
declare c cursor for select s.id, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 5 order by s.id;
fetch 2 from c;
fetch all from c;
rollback;
-- where the first rows are wanted they are looked up as they are read, and hashed when there have been too many
create function counted(id int) returns bool language plpgsql as $$ begin perform nextval('d_counted'); return true; end $$;
create sequence d_counted;
begin;
explain (costs off) declare f cursor for select s.id, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and counted(s.id);
declare f cursor for select s.id, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and counted(s.id);
fetch 3 from f;
select last_value < 300 as few from d_counted;
move all from f;
select last_value from d_counted;
rollback;
select strategies(format('select s.id, i.name from d_sales s %s d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id %s limit 1000000', kind, rows))
  from (values ('< 0'), ('< 1000'), ('> 0')) r (rows), (values ('join'), ('left join')) k (kind) order by kind, rows;
select strategies(format('select s.id from d_sales s where %s (select from d_visits v where v.item = s.item) and s.kind + 0 = 1 and s.kind - 1 = 0 limit 1000000', kind))
  from (values ('exists'), ('not exists')) k (kind);
-- a subquery that is run for each row counts nothing
select strategies('select x, n from (values (0), (3), (1000), (2), (0), (1000)) t (x), lateral (select i.name from d_sales s join d_items i on s.item = i.item
  where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id % 1000 < x and s.id < 40000 limit 10000000) l (n)');
set work_mem = '64kB';
select strategies('select s.id, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 limit 1000000');
reset work_mem;
drop function counted;
drop sequence d_counted;
-- settings hold
set hashgraph.adaptive = off;
explain (costs off) select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0;
reset hashgraph.adaptive;
set enable_nestloop = off;
select strategies('select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0');
reset enable_nestloop;
set enable_hashjoin = off;
set enable_mergejoin = off;
explain (costs off) select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0;
reset enable_mergejoin;
reset enable_hashjoin;
-- processes that share the inner side count together, and decide as one
set max_parallel_workers_per_gather = 2;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
explain (costs off) select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0;
select clause, kind, strategies(format('select s.note, s.id, i.name, i.price from d_sales s %s d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and %s', kind, clause))
  from (values ('s.id % 1000 < 30'), ('s.id % 1000 < 1000')) c (clause), (values ('join'), ('left join')) k (kind) order by 1, 2;
select clause, kind, strategies(format('select s.note, s.id from d_sales s where %s (select from d_visits v where v.item = s.item) and s.kind + 0 = 1 and s.kind - 1 = 0 and %s', kind, clause))
  from (values ('s.id % 1000 < 0'), ('s.id % 1000 < 3')) c (clause), (values ('exists'), ('not exists')) k (kind) order by 1, 2;
set work_mem = '64kB';
select strategies('select s.note, i.name from d_sales s left join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0');
reset work_mem;
-- ... in each execution anew, in which 1,800 rows are counted
set enable_material = off;
select strategies('select x, n, p from generate_series(1, 4) x left join (select count(*), sum(i.price) from d_sales s join d_items i on s.item = i.item
  where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id % 1000 < 30 offset 0) l (n, p) on x > n % 2');
select strategies('select x, n, p from generate_series(1, 2) x left join (select count(*), sum(i.price) from d_sales s join d_items i on s.item = i.item
  where s.kind + 0 = 1 and s.kind - 1 = 0 offset 0) l (n, p) on x > n % 2');
reset enable_material;
-- ... and each process for itself where it hashes all of the inner side, or first rows are wanted
set enable_parallel_hash = off;
explain (costs off) select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0;
select substring(strategies('select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0'), ': (.*)');
select strategies('select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 and s.id < 30');
reset enable_parallel_hash;
select substring(strategies('select s.note, i.name from d_sales s join d_items i on s.item = i.item where s.kind + 0 = 1 and s.kind - 1 = 0 limit 1000000'), ': (.*)');
reset min_parallel_table_scan_size;
reset parallel_tuple_cost;
reset parallel_setup_cost;
reset max_parallel_workers_per_gather;
drop function strategies, strategies_of;
drop table d_sales, d_items, d_visits;
