--
-- Scans that compute expressions, alone and below UNION ALL: their tables are read by pages, and
-- the expressions are evaluated for the rows that are left.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set agg_check :abs_srcdir '/sql/include/agg_check.sql'
\set ECHO none
\i :join_check
\i :agg_check

-- The scans of a plan, with their row counts, as text.
create function scan_rows(node json) returns setof text language sql as $$
  select format('%s %s: %s rows, %s loops', node->>'Node Type', node->>'Alias',
                ((node->>'Actual Rows')::numeric * (node->>'Actual Loops')::numeric)::bigint, node->>'Actual Loops')
  where node->>'Node Type' in ('Seq Scan', 'Append', 'Subquery Scan')
  union all
  select scan_rows(child) from json_array_elements(node->'Plans') child
$$;

-- join_check(), and do scans return as many rows as PostgreSQL's own join has them return?
create function scan_check(query text) returns text language plpgsql as $$
declare
  result text := join_check(query);
  plan json;
  ours text[];
  theirs text[];
begin
  perform set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true);
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  ours := array(select scan_rows(plan->0->'Plan') order by 1);
  perform set_config('hashgraph.enabled', 'off', true);
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  theirs := array(select scan_rows(plan->0->'Plan') order by 1);
  perform set_config('hashgraph.enabled', 'on', true), set_config('enable_nestloop', 'on', true),
          set_config('enable_mergejoin', 'on', true);
  return result || case when ours = theirs then ', same counts'
                        else format(', DIFFERENT COUNTS: %s instead of %s', ours, theirs) end;
end
$$;

-- The rows that the scan of a table returns to a join of ours.
create function rows_returned(query text, name text) returns bigint language plpgsql as $$
declare
  plan json;
  found bigint;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  select substring(r from ': ([0-9]+) rows')::bigint into found
    from scan_rows(plan->0->'Plan') r where r like 'Seq Scan ' || name || ':%';
  return found;
end
$$;
\set ECHO all

set enable_indexscan = off;
set enable_bitmapscan = off;
create table x_day (id int, d date);
insert into x_day select i, date '2000-01-01' + i from generate_series(1, 600) i;
create table x_sale (gone text, id int, day_id int, amount numeric, note text);
alter table x_sale drop column gone;
alter table x_sale alter note set storage external;
insert into x_sale select i, nullif(i % 601, 0), i / 4.0, case i % 97 when 0 then repeat('long ', 1000) when 1 then null else 'note ' || i end
  from generate_series(1, 6000) i;
alter table x_sale add column late int default 7, add column said text default 'added later';
insert into x_sale select i, i % 601, null, 'late', i, 'said ' || i from generate_series(6001, 6500) i;
create table x_back (id int, day_id int8, amount numeric);
insert into x_back select i, i % 500, -i / 3.0 from generate_series(1, 3000) i;
create table x_part (id int, day_id int, amount numeric) partition by hash (id);
create table x_part_0 partition of x_part for values with (modulus 2, remainder 0);
create table x_part_1 partition of x_part for values with (modulus 2, remainder 1);
insert into x_part select i, i % 550, i from generate_series(1, 2000) i;
analyze x_day, x_sale, x_back, x_part;

-- constants and expressions in branches that the planner flattens
select scan_check($$select s.*, d.d from (select 'a' as c, day_id, amount, 0::numeric as back from x_sale
  union all select 'b', day_id::int, 0::numeric, amount from x_back) s join x_day d on d.id = s.day_id$$);
select scan_check($$select c, sum(amount), sum(back) from (select 'a' as c, day_id, amount, 0::numeric as back from x_sale
  union all select 'b', id, 0::numeric, amount from x_back) s join x_day d on d.id = s.day_id group by c$$);
select scan_check($$select s.c from (select 'a' as c, day_id from x_sale union all select 'b', id from x_back) s
  join x_day d on d.id = s.day_id$$);
select join_check($$select s.*, d.d from (select 'a' as c, day_id, amount from x_sale union all select 'b', id, amount * 2 from x_back) s
  join x_day d on d.id = s.day_id where d.d < '2000-01-09'$$);
-- a column that repeats, added columns, long values, strings that are made of them
select scan_check($$select s.* from (select day_id, day_id as again, late, said, note, note || late as text from x_sale
  union all select id, id, id, 'x', null, 'y' from x_back) s join x_day d on d.id = s.day_id$$);
select scan_check($$select s.* from (select day_id, repeat(coalesce(note, 'n'), 100) as text from x_sale where id % 20 = 0
  union all select id, repeat('x', id * 10) from x_back) s join x_day d on d.id = s.day_id$$);
select scan_check($$select s.k, s.a from (select day_id as k, array[id, late] || late as a from x_sale
  union all select id, array[id] from x_back) s join x_day d on d.id = s.k$$);
-- quals, of columns and of expressions; an expression is the key
select scan_check($$select s.* from (select day_id, amount + 1 as v from x_sale where late = 7 and length(note) % 3 = 1
  union all select id, amount * 2 from x_back where amount < -100) s join x_day d on d.id = s.day_id$$);
select scan_check($$select s.* from (select day_id as k, amount + 1 as v from x_sale union all select id + 1, 0 from x_sale where id < 900) s
  join x_day d on d.id = s.k where s.v > 100$$);
select join_check($$select s.* from (select day_id + 1 as k, id from x_sale union all select id, 3 from x_back) s
  join x_day d on d.id = s.k where d.d < '2000-01-09'$$);
-- outer joins, semi joins and anti joins
select scan_check($$select s.*, d.d from (select 'a' as c, day_id from x_sale union all select 'b', id from x_back) s
  left join x_day d on d.id = s.day_id and d.d < '2001-01-01'$$);
select scan_check($$select s.*, d.d from x_day d full join (select 'a' as c, day_id from x_sale union all select 'b', id from x_back) s on d.id = s.day_id$$);
select scan_check($$select d.* from x_day d where not exists (select from (select 1 as c, day_id from x_sale where id % 7 = 0
  union all select 2, id * 2 from x_back) s where s.day_id = d.id and s.c < 3)$$);
select scan_check($$select d.*, s.tag from x_day d left join (select id, coalesce(late, 0) + 1 as tag from x_sale) s on s.id = d.id$$);

-- branches of different types become subqueries, also nested ones
select join_check($$select c, sum(amount), sum(back) from (select 'a' as c, day_id, amount, 0 as back from x_sale
  union all select 'b', id, 0, amount from x_back) s join x_day d on d.id = s.day_id group by c$$);
select scan_check($$select s.*, d.d from (select 'a' as c, day_id, amount, 0 as back from x_sale
  union all select 'b', day_id, 0, amount from x_back) s join x_day d on d.id = s.day_id$$);
select scan_check($$select s.* from (select c, k + 1 as k, v || '!' as v from (select 1 as c, day_id as k, note as v from x_sale
  union all select 2.5, id, 'back' from x_back offset 0) s) s join x_day d on d.id = s.k$$);
select scan_check($$select s.* from (select 1 as c, id, day_id from x_part union all select 2.0, id, day_id from x_back
  union all select 3, id, id from x_day) s join x_day d on d.id = s.day_id$$);
select join_check($$select s.* from (select 'a' as c, day_id, amount, 0 as back from x_sale
  union all select 'b', day_id, 0, amount from x_back) s join x_day d on d.id = s.day_id where d.d < '2000-01-09'$$);
-- ... beside what is read by slots
select scan_check($$select s.* from (select 'a' as c, day_id, amount from x_sale union all select 'b', id, 0 from (select distinct id from x_back) b
  union all select 'c', i, i from generate_series(1, 100) i) s join x_day d on d.id = s.day_id$$);
-- a filter above a subquery
select scan_check($$select s.* from (select 'a' as c, day_id, amount + 1 as v from x_sale
  union all select 'b', day_id, 0 from x_back offset 0) s join x_day d on d.id = s.day_id where v > 5$$);

-- what stays with PostgreSQL: volatile functions, subplans, whole rows and system columns
create sequence x_seq;
select join_check($$select s.c > 0 as c, s.day_id from (select nextval('x_seq') as c, day_id from x_sale union all select 2, id from x_back) s
  join x_day d on d.id = s.day_id$$);
select last_value, is_called from x_seq;
select join_check($$select s.* from (select (select max(id) from x_back b where b.id < x.late) as c, day_id from x_sale x where id % 10 = 0
  union all select 2, id from x_back) s join x_day d on d.id = s.day_id$$);
select join_check($$select s.* from (select x::text as c, day_id from x_sale x union all select tableoid::regclass::text || ctid, id from x_back) s
  join x_day d on d.id = s.day_id$$);
-- ... row locks
begin;
select join_check($$select s.id from x_day d join lateral (select id, late + 1 as l, day_id from x_sale) s on d.id = s.day_id$$);
select count(*), sum(l) from (select d.id, l from (select id, late + 1 as l, day_id from x_sale) s join x_day d on d.id = s.day_id for update of d) x;
rollback;

-- an expression fails only where PostgreSQL evaluates it, and not for rows that are filtered out
create table x_zero as select i as id, i % 50 as z from generate_series(1, 5000) i;
create table x_few as select i as k from generate_series(1, 20) i;
analyze x_zero, x_few;
select join_check($$select s.* from (select id, 100 / z as q from x_zero where z > 0 union all select id, 1 from x_back) s join x_few f on f.k = s.id$$);
select count(*) from (select id, 100 / z as q from x_zero union all select id, 1 from x_back) s join x_few f on f.k = s.id where q >= 0;
select count(*), sum(q) from (select id, 100 / z as q from x_zero where id < 3000 union all select id, 1 from x_back) s join x_zero f on f.id = s.id;

-- rows that the runtime filter removes are not returned
create table x_many as select i % 20000 as k, i as v, i::numeric as n from generate_series(1, 40000) i;
analyze x_many;
select rows_returned($$select s.* from (select 'a' as c, k, v from x_many union all select 'b', id, 1 from x_back) s join x_few f on f.k = s.k$$, 'x_many') < 25000 as filtered;
select rows_returned($$select s.* from (select 'a' as c, k, n, 0 as v from x_many union all select 'b', id, 1, amount from x_back) s join x_few f on f.k = s.k$$, 'x_many') < 25000 as filtered;
select join_check($$select s.* from (select 'a' as c, k, n, 0 as v from x_many union all select 'b', id, 1, amount from x_back) s join x_few f on f.k = s.k$$);
select join_check($$select s.* from (select 'a' as c, k from x_many union all select 'b', id from x_back) s join x_few f on f.k = s.k$$);
select join_check($$select s.* from (select 'a' as c, k, repeat('x', v) as r from x_many where v < 9000 union all select 'b', id, '' from x_back) s join x_few f on f.k = s.k$$);

-- parameters of generic plans, and rescans by a nested loop
set plan_cache_mode = force_generic_plan;
prepare x_param(int, text) as select count(*), sum(v), max(c) from (select $2 || note as c, day_id, late + $1 as v from x_sale where late > $1
  union all select $2, id, $1 from x_back where id < $1 * 100) s join x_day d on d.id = s.day_id;
set hashgraph.force = on;
execute x_param(3, 'p');
execute x_param(1000, 'q');
set hashgraph.enabled = off;
execute x_param(3, 'p');
execute x_param(1000, 'q');
reset hashgraph.enabled;
reset hashgraph.force;
deallocate x_param;
reset plan_cache_mode;
select join_check($$select f.k, s.* from x_few f, lateral (select count(*), sum(v), min(c) from (select 'a' as c, day_id, f.k + late as v from x_sale where late > f.k
  union all select 'b', id, f.k * 2 from x_back where id % 20 = f.k % 20) s join x_day d on d.id = s.day_id) s$$);
select join_check($$select f.k, s.* from x_few f, lateral (select count(*), sum(v), min(c) from (select 'a' as c, day_id, f.k + amount as v from x_sale where late > f.k
  union all select 'b', id, f.k * 2 from x_back where id % 20 = f.k % 20) s join x_day d on d.id = s.day_id) s$$);
select join_check($$select f.k, (select count(c) from (select 'a' as c, day_id, 0 as v from x_sale union all select 'b', id, amount from x_back) s
  join x_day d on d.id = s.day_id where d.id > f.k * 20) from x_few f$$);
-- an initial plan's result in an expression
select join_check($$select s.* from (select day_id, late + (select max(k) from x_few) as v from x_sale union all select id, 1 from x_back) s join x_day d on d.id = s.day_id$$);

-- limits and cursors that are left before their end
begin;
set local hashgraph.force = on;
select count(*) from (select s.* from (select 'a' || id as c, day_id from x_sale union all select 'b', id from x_back) s join x_day d on d.id = s.day_id limit 10) x;
declare c cursor for select s.*, d.d from (select 'a' || id as c, day_id, 0 as v from x_sale union all select 'b', id, amount from x_back) s join x_day d on d.id = s.day_id;
move forward 700 in c;
close c;
commit;

-- groups of one table whose scan computes expressions
select agg_check($$select late + 1 as l, count(*), sum(amount), max(note) from x_sale group by 1$$);
select agg_check($$select note || 'x' as n, late % 3 as l, count(*), sum(amount), min(said) from x_sale where id % 7 > 1 group by 1, 2$$);
select agg_check($$select distinct late % 10 as l, note is null as n from x_sale$$);

-- row security
create role regress_x_reader;
grant select on x_sale, x_back, x_day to regress_x_reader;
alter table x_sale enable row level security;
create policy x_policy on x_sale using (id % 3 = 0);
set role regress_x_reader;
select join_check($$select s.*, d.d from (select 'a' as c, day_id, id + 1 as i from x_sale union all select 'b', id, 0 from x_back) s join x_day d on d.id = s.day_id$$);
reset role;
drop policy x_policy on x_sale;
alter table x_sale disable row level security;
revoke all on x_sale, x_back, x_day from regress_x_reader;
drop role regress_x_reader;

-- parallel scans: each row once
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
select join_check($$select s.*, d.d from (select 'a' as c, day_id, amount, 0::numeric as back from x_sale
  union all select 'b', id, 0::numeric, amount from x_back) s join x_day d on d.id = s.day_id$$);
select join_check($$select c, sum(amount), sum(back) from (select 'a' as c, day_id, amount, 0 as back from x_sale
  union all select 'b', id, 0, amount from x_back) s join x_day d on d.id = s.day_id group by c$$);
select join_check($$select s.* from (select 1 as c, id, day_id from x_part union all select 2, id, id * 2 from x_back) s join x_day d on d.id = s.day_id$$);
select agg_check($$select late + 1 as l, count(*), sum(amount), max(note) from x_sale group by 1$$);
set parallel_leader_participation = off;
select join_check($$select s.*, d.d from (select 'a' as c, day_id, amount, 0::numeric as back from x_sale
  union all select 'b', id, 0::numeric, amount from x_back) s join x_day d on d.id = s.day_id$$);
reset parallel_leader_participation;
reset max_parallel_workers_per_gather;
reset min_parallel_table_scan_size;
reset parallel_tuple_cost;
reset parallel_setup_cost;

drop table x_day, x_sale, x_back, x_part, x_zero, x_few, x_many;
drop sequence x_seq;
drop function rows_returned(text, text), scan_check(text), scan_rows(json);
