--
-- ORDER BY: the sort node above joins and, with LIMIT, above aggregates.
--
create schema sort_limit;
set search_path = sort_limit;
set hashgraph.min_rows = 0;
set hashgraph.force = on;
set max_parallel_workers_per_gather = 0;

-- Runs a query with the node and without it, and compares the rows in their order, or the errors.
create function answer(query text, out rows text[], out error text) language plpgsql as $$
begin
  execute format('select array_agg(q::text) from (%s) q', query) into rows;
exception when others then
  error := sqlstate || ' ' || sqlerrm;
end
$$;
create function limit_check(query text) returns text language plpgsql as $$
declare
  ours record;
  core record;
  line text;
  nodes int := 0;
begin
  perform set_config('hashgraph.enabled', 'on', true);
  for line in execute 'explain (costs off) ' || query loop
    nodes := nodes + (line like '%(HashGraphSort)%')::int;
  end loop;
  ours := answer(query);
  perform set_config('hashgraph.enabled', 'off', true);
  core := answer(query);
  perform set_config('hashgraph.enabled', 'on', true);
  if ours is distinct from core then
    return format('DIFFERENT: %s instead of %s', left(ours::text, 300), left(core::text, 300));
  end if;
  return format('same %s, %s', coalesce(core.error, cardinality(core.rows) || ' rows'),
                case nodes when 0 then 'without the node' when 1 then 'by the node' else nodes || ' nodes' end);
end
$$;

create table o (k int, g int, v int, n numeric, f float8, s text, c text collate "C");
create table c (k int primary key, w int, label text);
insert into o select i % 1000, i % 50, i * 7919 % 10007, case when i % 11 > 0 then (i % 300) / 8.0 end,
    case i % 90 when 1 then 'NaN' when 2 then 'infinity' else (i % 70)::float8 end, 'Text ' || i % 37, case when i % 5 > 0 then 'c' || i % 23 end
  from generate_series(1, 5000) i;
insert into c select i, i % 91, 'label ' || i from generate_series(0, 899) i;
analyze o, c;

-- what EXPLAIN shows
explain (costs off) select o.v, c.w from o join c using (k) order by o.v desc, c.w limit 10 offset 5;
explain (costs off) select g, s, sum(n) from o join c using (k) group by g, s order by sum(n) desc nulls last, s using ~>~, g nulls first limit 3;
explain (costs off) select o.c, s from o join c using (k) order by o.c nulls first, s desc nulls last, o.v using > limit 3;

-- joins
select limit_check('select o.v, c.w from o join c using (k) order by o.v, c.w limit 10');
select limit_check('select o.v, c.w, label from o join c using (k) order by o.v desc, c.w limit 100 offset 37');
select limit_check('select o.*, c.* from o join c using (k) order by o.n desc, o.f, o.s, o.v, o.k limit 300');
select limit_check('select o.n, o.v, c.k from o left join c using (k) order by c.k nulls first, o.v, o.n limit 200');
select limit_check('select o.v, c.label from o right join c using (k) order by o.c nulls first, o.s desc, label, o.v limit 250');
select limit_check('select o.c, o.s, o.v from o full join c using (k) order by o.c desc nulls last, o.s, o.v limit 50');
select limit_check('select s, v from o where exists (select from c where c.k = o.k) order by s collate "C" desc, v limit 20');
select limit_check('select v from o order by v limit 20');
select limit_check('select o.v, o.n from o join c using (k) order by o.v limit 4000');

-- groups
select limit_check('select g, s, sum(n) x from o join c using (k) group by g, s order by x desc, g, s limit 10');
select limit_check('select g, s, sum(n) x from o join c using (k) group by g, s order by x, g desc, s limit 10 offset 30');
select limit_check('select v, sum(n) x, count(*) from o join c using (k) group by v order by x desc nulls last, v limit 30');
select limit_check('select v, sum(n * w) x from o join c using (k) group by v order by x, v limit 30');
select limit_check('select v, avg(n), max(f) x from o join c using (k) group by v order by x desc, v limit 30');
select limit_check('select v, min(s) x, count(o.c) from o join c using (k) group by v order by x desc, v limit 30');
select limit_check('select o.c, v, max(n) x from o join c using (k) group by o.c, v order by o.c desc nulls last, x desc, v limit 30');
select limit_check('select v, g from o join c using (k) group by v, g order by v desc, g limit 30');
select limit_check('select v % 100, count(*) from o join c using (k) group by v % 100 order by count(*) desc, 1 limit 3');
-- sums of different scales
create table scales (k int, n numeric);
insert into scales select i % 200, case i % 4 when 0 then i::numeric when 1 then i::numeric(10, 3) when 2 then '1e30' else null end from generate_series(1, 700) i;
analyze scales;
select limit_check('select k, sum(n) x from scales join c using (k) group by k order by x desc, k limit 20');
select limit_check('select k, sum(n) x from scales join c using (k) group by k order by x nulls first, k limit 60');

-- not by the node: rows whose expressions may raise errors, HAVING, final functions
select limit_check('select o.v, 1 / (o.v - 10000) q from o join c using (k) order by o.v limit 10');
select limit_check('select v, 1 / (sum(g) - 17) from o join c using (k) group by v order by v limit 10');
select limit_check('select v, sum(g) from o join c using (k) group by v having 1 / (sum(g) - 17) < 2 order by v limit 10');
select limit_check('select v, var_pop(w) from o join c using (k) group by v order by v limit 10');
-- what is not constant, ties, locks, sets of rows
select limit_check('select o.v, c.w from o join c using (k) order by o.v, c.w limit (select 10)');
select limit_check('select o.v, c.w from o join c using (k) order by o.v, c.w limit 10 offset (select 10)');
select limit_check('select o.v from o join c using (k) order by o.v fetch first 10 rows with ties');
select limit_check('select o.v, o.n from o join c using (k) order by o.v, o.n limit 10 for update of o');
select limit_check('select o.v, generate_series(1, 2) from o join c using (k) order by o.v, 2 limit 10');
select limit_check('select o.v from o join c using (k) order by o.v limit -1');
select limit_check('select o.v from o join c using (k) order by o.v limit null');
select limit_check('select o.v from o join c using (k) order by o.v limit 0');
select limit_check('select o.v from o join c using (k) order by o.v limit 9223372036854775807 offset 9223372036854775807');

-- expressions that PostgreSQL evaluates above the sort
create sequence calls;
select limit_check($$select o.v, nextval('calls') < 0 as called from o join c using (k) order by o.v, o.k limit 10$$);
select last_value from calls;

-- again, with parameters and without
select limit_check('select c.k, q.* from c, lateral (select o.v, d.w from o join c d using (k) where o.v > c.k order by o.v, d.w limit 3) q where c.k < 20');
select limit_check('select c.k, q.* from c, lateral (select o.g, sum(o.n) x from o join c d using (k) where o.v > c.k group by o.g order by x desc, g limit 3) q where c.k < 20');
select limit_check('select c.k, (select sum(v) from (select o.v from o join c d using (k) order by o.v limit 5) q where q.v > c.k) from c where c.k < 20');
begin;
explain (costs off) declare scrolled scroll cursor for select o.v, c.w from o join c using (k) order by o.v, c.w limit 5;
declare scrolled scroll cursor for select o.v, c.w from o join c using (k) order by o.v, c.w limit 5;
fetch all from scrolled;
fetch backward 2 from scrolled;
fetch absolute 1 from scrolled;
rollback;
prepare limited (int) as select o.v, c.w from o join c using (k) order by o.v, c.w limit $1;
set plan_cache_mode = force_custom_plan;
explain (costs off) execute limited(2);
execute limited(2);
set plan_cache_mode = force_generic_plan;
explain (costs off) execute limited(2);
execute limited(2);

-- all rows
explain (costs off) select o.v, c.w, label from o join c using (k) order by o.v desc, label, o.g;
select limit_check('select o.v, c.w, label from o join c using (k) order by o.v, c.w, label, o.g');
select limit_check('select o.*, c.* from o join c using (k) order by o.v desc, o.n desc, o.s, o.k, o.g, o.c');
select limit_check('select o.f, o.n, o.s, o.v, o.k from o join c using (k) order by o.f desc, o.n nulls first, o.s, o.c desc, o.v, o.k');
select limit_check('select o.v, o.n, c.k, c.label from o left join c using (k) order by c.k, o.v, o.n, o.g');
select limit_check('select o.v, o.n, c.k, c.label from o left join c using (k) order by c.k desc nulls last, o.v desc, o.n, o.g offset 100');
select limit_check('select o.v, o.n, c.k, c.label from o full join c using (k) order by c.k nulls first, o.v, o.n, o.g limit all');
select limit_check('select o.g, c.w from o join c using (k) where o.v < 0 order by o.g');
select limit_check($$select o.v, o.k, nextval('calls') > 0 as called from o join c using (k) order by o.v, o.k$$);
-- ... whose first sort key has no abbreviated keys that are integers, of groups, and of expressions
select limit_check('select o.s, o.v, o.k, o.g from o join c using (k) order by o.s, o.v, o.k, o.g');
select limit_check('select o.n, o.v, o.k, o.g from o join c using (k) order by o.n, o.v, o.k, o.g');
select limit_check('select o.v, count(*) from o join c using (k) group by o.v order by o.v');
select limit_check('select o.v + c.w as x from o join c using (k) order by x');
-- ... by abbreviated keys, most of which are equal in the second query
select limit_check('select o.c, o.v, o.k, o.g from o join c using (k) order by o.c desc, o.v, o.k, o.g');
create table alike (k int, s text collate "C", u uuid);
insert into alike select i % 900, 'the same beginning ' || i * 7919 % 1009, md5((i % 500)::text)::uuid from generate_series(1, 4000) i;
analyze alike;
select limit_check('select s, k, u from alike join c using (k) order by s, k, u');
select limit_check('select s, k, u from alike join c using (k) order by u desc, s, k');
-- ... that do not fit into memory
set work_mem = '64kB';
select limit_check('select o.*, c.* from o join c using (k) order by o.v desc, o.n desc, o.s, o.k, o.g, o.c');
select limit_check('select o.v, o.n, c.k, c.label from o full join c using (k) order by c.k nulls first, o.v, o.n, o.g');
reset work_mem;
-- ... again, with parameters and without, and backwards
select limit_check('select c.k, q.* from c, lateral (select o.v, d.w from o join c d using (k) where o.v > c.k * 500 order by o.v, d.w, o.g offset 0) q where c.k < 20');
select limit_check('select c.k, (select sum(q.v) from (select o.v from o join c d using (k) order by o.v offset 0) q where q.v > c.k) from c where c.k < 20');
begin;
declare scrolled scroll cursor for select o.v, c.w from o join c using (k) order by o.v, c.w;
move 4000 in scrolled;
fetch 2 from scrolled;
fetch backward 2 from scrolled;
fetch absolute 1 from scrolled;
fetch last from scrolled;
rollback;

-- sort keys that do not fit into their part of memory
set work_mem = '64kB';
create table long_keys (k int, s text);
alter table long_keys alter s set storage external;
insert into long_keys select i % 900, repeat(chr(97 + i % 26), 5000) || i from generate_series(1, 400) i;
analyze long_keys;
select limit_check('select s, k from long_keys join c using (k) order by s, k limit 100');
select limit_check('select s, count(*) from long_keys join c using (k) group by s order by s desc limit 100');
select limit_check('select o.v, c.w from o join c using (k) order by o.v, c.w limit 1000');
reset work_mem;

-- many groups, made in the order of the sort key, against it, and in neither order
create table many (up int, down int, mixed int, k int, n numeric);
insert into many select i, 100000 - i, i * 7919 % 100019, i % 1000, i / 100.0 from generate_series(1, 100000) i;
analyze many;
select limit_check(format('select %s, sum(n), count(*) from many join c using (k) group by 1 order by 1 %s limit 700', key, direction))
  from unnest(array['up', 'down', 'mixed']) key, unnest(array['asc', 'desc']) direction;
select limit_check('select mixed, sum(n) x from many join c using (k) group by mixed order by x desc, mixed limit 3000');
reset hashgraph.force;
explain (costs off) select mixed, sum(n) from many group by mixed order by mixed limit 5;
-- ... of a table whose rows lie in that order: PostgreSQL sorts them for little, and ends with the first groups
set work_mem = '64kB';
set hash_mem_multiplier = 1;
explain (costs off) select up, sum(n) from many group by up order by up desc limit 5;
explain (costs off) select distinct down, k from many order by down limit 5;
reset work_mem;
reset hash_mem_multiplier;
set hashgraph.force = on;
-- the results of rejected groups raise their errors
insert into many select i, i, i, 500, 9.9e131071 from generate_series(1, 2) i;
select limit_check('select k, sum(n) from many join c using (k) group by k order by count(*), k limit 2');
select limit_check('select k, avg(n) from many join c using (k) group by k order by count(*), k limit 2');
select limit_check('select k, count(n) from many join c using (k) group by k order by count(*), k limit 2');

-- several processes
set max_parallel_workers_per_gather = 2;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select limit_check('select o.v, c.w, label from o join c using (k) order by o.v desc, c.w limit 100 offset 37');
select limit_check('select g, s, sum(n) x from o join c using (k) group by g, s order by x desc, g, s limit 10');
select limit_check('select o.v, c.w, label, o.g from o join c using (k) order by o.v desc, c.w, label, o.g');
set client_min_messages = warning;
drop schema sort_limit cascade;
