--
-- Correlated subqueries: scans whose rows are looked up by the values of the outer row.
--
create schema subquery;
set search_path = subquery;
-- each row of an outer query executes its subquery, unless the test says otherwise
set enable_memoize = off;
set max_parallel_workers_per_gather = 0;

-- Returns the rows of a query in their order, or its error.
create function answer(query text, out rows text[], out error text) language plpgsql as $$
begin
  execute format('select array_agg(q::text) from (%s) q', query) into rows;
exception when others then
  error := sqlstate || ' ' || sqlerrm;
end
$$;

-- Returns the lookup nodes in a plan.
create function nodes(plan jsonb) returns setof jsonb language sql as $$
  select jsonb_path_query(plan, 'strict $.** ? (@."Custom Plan Provider" == "HashGraphLookup")')
$$;

-- Returns what the lookup nodes of a query did, or how many it has if it raises an error.
create function lookups(query text) returns text language plpgsql as $$
declare
  plan jsonb;
begin
  execute format('explain (costs off, format json) select * from (%s) q', query) into plan;
  if not exists (select from nodes(plan)) then
    return 'without the node';
  end if;
  begin
    execute format('explain (analyze, costs off, timing off, summary off, format json) select * from (%s) q', query) into plan;
  exception when others then
    return format('%s nodes', (select count(*) from nodes(plan)));
  end;
  return (select string_agg(format('%s lookups%s%s', node->>'Lookups', ' of ' || (node->>'Hashed Rows') || ' rows',
                                   case when node ? 'Disk Usage' then ' on disk' end), ', ' order by node->>'Lookups')
          from nodes(plan) node);
end
$$;

-- Runs a query through the node and without it, and compares rows and errors.
create function subquery_check(query text) returns text language plpgsql as $$
declare
  ours record;
  core record;
  done text;
begin
  perform set_config('hashgraph.enabled', 'on', true);
  ours := answer(query);
  done := lookups(query);
  perform set_config('hashgraph.enabled', 'off', true);
  core := answer(query);
  if lookups(query) <> 'without the node' then
    raise exception 'hashgraph.enabled is off, and the plan has the node';
  end if;
  perform set_config('hashgraph.enabled', 'on', true);
  if ours is distinct from core then
    return format('DIFFERENT: %s instead of %s', left(ours::text, 300), left(core::text, 300));
  end if;
  return format('same, %s, %s', coalesce(core.error, coalesce(cardinality(core.rows), 0) || ' rows'), done);
end
$$;

create table o as select i as id, case when i % 11 = 0 then null else i % 30 end as k, i % 7 as f,
  'key ' || i % 30 as s, (i % 30)::numeric as n, (i % 30)::int8 as b from generate_series(1, 200) i;
create table t as select i as id, case when i % 13 = 0 then null else i % 26 end as k, i % 100 as v,
  'Key ' || i % 26 as s, (i % 26)::numeric(10, 2) as n, (i % 26)::int8 as b from generate_series(1, 2000) i;
create table one as select i as k from generate_series(1, 2) i;
analyze o, t, one;

-- a plan, without what versions of PostgreSQL write in different ways
create function explained(options text, query text) returns setof text language plpgsql as $$
declare
  line text;
begin
  for line in execute 'explain (costs off, ' || options || ') ' || query loop
    continue when line ~ '^ *Buffers:';
    line := regexp_replace(line, '(Memory|Disk) Usage: \d+', '\1 Usage: N');
    line := regexp_replace(line, ' \(actual rows=[0-9.]+ loops=(\d+)\)', ' (loops=\1)');
    return next regexp_replace(line, '(EXISTS)?(\(?)SubPlan \w+', '\2SubPlan');
  end loop;
end
$$;
grant execute on function explained to public;
select explained('verbose off', 'select * from o where f > (select avg(v) / 10 from t where t.k = o.k)');
select explained('verbose', 'select id, exists (select from t where o.k = t.k and t.v > o.f) from o');
select explained('analyze, timing off, summary off', 'select * from o where f > (select avg(v) / 10 from t where t.k = o.k)');

-- aggregates, EXISTS, and IN below OR; in the target list; one execution; none
select subquery_check('select * from o where f > (select avg(v) / 10 from t where t.k = o.k)');
select subquery_check('select id, (select sum(v) from t where t.k = o.k and t.v > o.f) from o');
select subquery_check('select id, (select array_agg(t.id) from t where o.k = t.k) from o');
select subquery_check('select * from o where f = 3 or exists (select from t where t.k = o.k and v > 96 + f)');
select subquery_check('select * from o where f = 3 or not exists (select from t where t.k = o.k and v > 90 + f)');
select subquery_check('select * from o where f = 3 or id in (select t.id from t where t.k = o.k and v > 50)');
select subquery_check('select id, f = any (select v from t where t.k = o.k) from o');
select subquery_check('select id, (select t.id from t where t.k = o.k limit 1) from o');
select subquery_check('select id, (select v from t where t.k = o.k order by v desc, id limit 1) from o');
select subquery_check('select id, array(select t.id from t where t.k = o.k) from o');
select subquery_check('select k, (select count(*) from t where t.k = one.k) from one where k = 1');
select subquery_check('select k, (select count(*) from t where t.k = one.k) from one where k = 3');

-- the whole row, system columns, no columns
select subquery_check('select id, (select max(t::text) from t where t.k = o.k) from o');
select subquery_check('select id, (select max(ctid::text || tableoid::regclass) from t where t.k = o.k) from o');
select subquery_check('select id, (select count(*) from t where t.k = o.k) from o');

-- xmax may change while a statement is executed
select subquery_check('select id, (select max(xmax::text) from t where t.k = o.k) from o');

-- types: across integers, numerics of other scale, text with collations, expressions, several keys
select subquery_check('select id, (select sum(v) from t where t.b = o.k) from o');
select subquery_check('select id, (select sum(v) from t where t.k = o.b) from o');
select subquery_check('select id, (select sum(v) from t where t.n = o.n) from o');
select subquery_check('select id, (select sum(v) from t where lower(t.s) = o.s) from o');
select subquery_check('select id, (select sum(v) from t where t.s collate "C" = initcap(o.s)) from o');
create collation insensitive (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
select subquery_check('select id, (select sum(v) from t where t.s collate insensitive = o.s) from o');
select subquery_check('select id, (select sum(v) from t where t.k + 1 = o.k * 2) from o');
select subquery_check('select id, (select sum(v) from t where t.k = o.k and t.n = o.n and t.v = o.f) from o');
select subquery_check('select id, (select sum(v) from t where (t.k, t.s) = (o.k, initcap(o.s))) from o');
select subquery_check('select id, (select sum(v) from t where array[t.k] = array[o.k]) from o');
select subquery_check('select id, (select sum(v) from t where row(t.k, t.v) = row(o.k, o.f)) from o');
-- no hash clause: it has no columns, no values, both on one side, or its operator is not strict or not hashed
select subquery_check('select id, (select sum(v) from t where t.v > o.f) from o');
select subquery_check('select id, (select sum(v) from t where t.k + o.f = o.k) from o');
select subquery_check('select id, (select sum(v) from t where t.k is not distinct from o.k) from o');
select subquery_check('select id, (select sum(v) from t where o.k = 3) from o');

-- common table expressions, subqueries, VALUES, functions, joins
select subquery_check('with c as materialized (select * from t where v < 50) select id, (select sum(v) from c where c.k = o.k) from o');
select subquery_check('select id, (select sum(v) from (select k, v from t order by v limit 1000) q where q.k = o.k) from o');
select subquery_check('select id, (select v from (select k, v from t order by v, id limit 1000) q where q.k = o.k limit 1) from o');
select subquery_check('select id, (select v from (select id, k, v from t order by v, id limit 1000) q where q.k = o.k order by v limit 1) from o');
select subquery_check('select id, (select sum(v) from (select distinct k, v from t) q where q.k = o.k) from o');
select subquery_check('select id, (select sum(n) from (select k, count(*) as n from t group by k) q where q.k = o.k) from o');
select subquery_check('select id, (select max(x) from (values (1, 2), (2, 3), (null, 4)) q (k, x) where q.k = o.k) from o');
select subquery_check('select id, (select sum(x) from generate_series(1, 100) x where x % 30 = o.k) from o');
select subquery_check('select id, (select sum(t.v) from t join o p on t.id = p.id where t.k = o.k and p.f = 3) from o');
select subquery_check('select id, (select count(*) from t left join one on t.k = one.k where t.k = o.k) from o');
-- two levels, where the inner one depends on either
select subquery_check('select id, (select sum(v) from t where t.k = o.k and t.v > (select avg(p.f) from o p where p.k = t.k)) from o where id < 40');
select subquery_check('select id, (select sum(v) from t where t.k = o.k and t.v > (select avg(p.f) from o p where p.k = o.k)) from o');
select subquery_check('select id, (select count(*) from t where t.k = o.k or exists (select from o p where p.k = t.k and p.f = o.f)) from o where id < 50');
-- parameters of the scan itself change
select subquery_check('select one.k, q.* from one, lateral (select id, (select sum(v) from (select * from t where v > one.k * 30 offset 0) c where c.k = o.k) from o offset 0) q');
select subquery_check('select one.k, q.* from one, lateral (with c as materialized (select * from t where v > one.k * 30) select id, (select sum(v) from c where c.k = o.k) from o offset 0) q');
select subquery_check('select o.id, q.* from o, lateral (select v, count(*) from t where t.k = o.k and t.v % 7 = o.f group by v) q');
-- conditions with values of the outer row ahead of the equality: leakproof, or the node is not used
select subquery_check('select id, (select sum(v) from t where t.v > o.f and t.k = o.k) from o');
select subquery_check('select id, (select sum(v) from t where (t.v > o.f or t.v is null) and t.b = o.k::int8) from o');
select subquery_check('select id, (select sum(v) from t where t.n > o.n - 20 and t.k + 1 + 1 = o.k) from o');

-- errors: the same, or none
select subquery_check('select id, (select sum(1 / (v - 1)) from t where t.k = o.k) from o');
select subquery_check('select id, (select sum(v) from t where t.k = o.k and 1 / (v - 1) < 5) from o where k <> 1');
select subquery_check('select id, (select sum(v) from t where 1 / (v - 1) < 5 and t.k = o.k) from o where k <> 1');
select subquery_check('select id from o where f = 3 or exists (select from t where t.k = o.k and 1 / (t.id - 1999) < 5 - o.f)');
-- ... of rows that an execution that stops early does not reach
select subquery_check('select id from o where k < 26 and k % 13 > 0 and (f = 3 or exists (select from t where 1 / (t.id - 1999) < 5 and t.k + 0 + 0 + 0 = o.k and t.id + 0 + 0 + 0 + 0 > o.f - 1))');
select subquery_check('select id from o where k < 26 and k % 13 > 0 and (f = 3 or exists (select from t where t.k + 1 / (t.id - 1999) = o.k and t.id + 0 + 0 + 0 + 0 > o.f - 9))');
select subquery_check('select id from o where f = 3 or exists (select from t where t.k + 1 / (t.id - 1999) = o.k and t.id + 0 + 0 + 0 + 0 > o.f - 9)');
select subquery_check('select id, (select sum(v) from t where t.k = 10 / (o.k - 5)) from o');
select subquery_check('select id, (select sum(v) from t where t.id < 0 and t.k = 10 / (o.k - 5)) from o');
select subquery_check('select id, (select sum(v) from t where t.v > 10 / (o.k - 5) and t.k = o.k) from o');

-- EXISTS that stops early does not read on, unless it has read as much as the table has
select subquery_check('select id from o where f = 3 or exists (select from t where t.n >= 0 and t.v = o.f and t.id > o.f)');
select subquery_check('select id from o where f = 3 or exists (select from t where t.v >= 0 and t.v = o.f and t.id > o.f)');
select subquery_check('select id from o where f = 3 or exists (select from t where t.v >= 0 and t.id = o.id and t.id > o.f - 9)');

-- volatile functions, samples and locks are executed each time; results of other plans do not count as values
create sequence calls;
select count(x) from (select (select sum(v) from t where t.k = one.k and nextval('calls') > 0) as x from one offset 0) q;
select nextval('calls') - 1 as calls;
select subquery_check('select id, (select count(*) from t tablesample system (100) where t.k = o.k) from o');
select subquery_check('select id, (select v from t where t.k = o.k order by id limit 1 for update) from o');
select subquery_check('select id, (select sum(v) from t where t.k = (select max(k) from one)) from o');

-- rows that exceed work memory, and an index that does
create table wide as select i as id, i % 500 as k, repeat('x', 100) || i as w from generate_series(1, 5000) i;
analyze wide;
set work_mem = '64kB';
select subquery_check('select id, (select max(w) from wide where wide.k = o.id) from o');
select subquery_check('select id, (select count(*) from wide where wide.id = o.id) from o');
set hash_mem_multiplier = 1;
select subquery_check('select id, (select count(*) from wide where wide.id = o.id) from o');
reset hash_mem_multiplier;
reset work_mem;
update wide set w = (select string_agg(md5(i::text), '') from generate_series(1, 200) i) || id where id % 100 = 0;
select subquery_check('select id, (select max(w) from wide where wide.k = o.id) from o');

-- Memoize above the node
set enable_memoize = on;
select subquery_check('select id, (select sum(v) from wide join t using (id) where wide.k = o.k) from o');
set enable_memoize = off;

-- row-level security: a leaky function sees no row that a policy hides
create table secret as select i as id, i % 26 as k, i % 2 = 0 as visible from generate_series(1, 1000) i;
analyze secret;
alter table secret enable row level security;
create policy seen on secret using (visible);
create function leaky(seen bool, k int) returns int language plpgsql cost 0.0001 as $$
begin
  if not seen then
    raise notice 'leaked';
  end if;
  return k;
end
$$;
create role regress_subquery;
grant usage on schema subquery to regress_subquery;
grant select on o, secret to regress_subquery;
set role regress_subquery;
select sum(x) from (select (select count(*) from secret where leaky(visible, secret.k) = o.k) as x from o) q;
select sum(x) from (select (select count(*) from secret where secret.k = o.k) as x from o) q;
select explained('verbose off', 'select (select count(*) from secret where secret.k = o.k) as x from o');
reset role;
alter function leaky immutable;
set role regress_subquery;
select sum(x) from (select (select count(*) from secret where leaky(visible, secret.k) = o.k) as x from o) q;
select explained('verbose off', 'select (select count(*) from secret where leaky(visible, secret.k) = o.k) as x from o');
reset role;

-- cursors, prepared statements, rows that change, errors within a transaction
begin;
declare c cursor for select id, (select max(w) from wide where wide.k = o.id) is null as missing from o;
fetch 3 from c;
savepoint s;
fetch 2 from c;
delete from wide where k = 6;
rollback to s;
fetch 2 from c;
delete from wide where k = 8;
fetch 2 from c;
commit;
-- what may change within a statement runs each time
create sequence counted;
create function seen(int) returns int language plpgsql stable as $$ begin return current_setting('subquery.seen')::int + $1; end $$;
create function add_counted(int, int) returns int language plpgsql volatile as $$ begin perform nextval('counted'); return $1 + $2; end $$;
create aggregate sum_counted(int) (sfunc = add_counted, stype = int, initcond = '0');
select setval('counted', 1);
select sum(v), sum(n) from (select nextval('counted') as n, (select last_value from counted where is_called = (o.id > 0)) as v from o offset 0) q;
select setval('counted', 1);
select count((select sum_counted(t.v) from t where t.k = o.k)) from o;
set hashgraph.enabled = off;
select last_value as by_core from counted \gset
reset hashgraph.enabled;
select setval('counted', 1);
set hashgraph.enabled = off;
select count((select sum_counted(t.v) from t where t.k = o.k)) from o;
reset hashgraph.enabled;
select last_value = :by_core as as_often from counted;
set subquery.seen = '1';
select sum(v) from (select set_config('subquery.seen', (o.id % 7)::text, false), (select count(*) from t where t.v = seen(0) and t.k = o.k) as v from o offset 0) q;
set hashgraph.enabled = off;
set subquery.seen = '1';
select sum(v) from (select set_config('subquery.seen', (o.id % 7)::text, false), (select count(*) from t where t.v = seen(0) and t.k = o.k) as v from o offset 0) q;
reset hashgraph.enabled;
set subquery.seen = '1';
select sum(cardinality(v)) from (select set_config('subquery.seen', (o.id % 4)::text, false), array(select t.v from t where t.k = o.k order by t.v limit seen(0)) as v from o offset 0) q;

create domain checked as int check (add_counted(coalesce(value, 0), 0) is not null);
select subquery_check('select id, (select count(*) from t where t.k::checked = o.k) from o');

-- names and texts of a nondeterministic collation, and collations that can't be determined
create collation no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table names as select i as id, ('K' || i % 40)::name as n from generate_series(1, 200) i;
create table texts as select i as id, 'k' || i % 40 as x, ('k' || i % 40) collate "POSIX" as p from generate_series(1, 100) i;
create table ctexts as select i % 70 as k, ('x' || i) collate "C" as c from generate_series(1, 500) i;
analyze names, texts, ctexts;
select subquery_check('select id, (select count(*) from names where n = texts.x collate no_case) from texts');
select subquery_check('select id, (select count(*) from ctexts where ctexts.k = texts.id + 1000 and ctexts.c = texts.p) from texts');

prepare p (int) as select sum(x) from (select (select sum(v) from t where t.k = o.k and t.v > $1) as x from o) q;
set plan_cache_mode = force_generic_plan;
execute p (10);
execute p (50);
update t set v = v + 1 where (select count(*) from wide where wide.k = t.k) > 10;
delete from o where exists (select from t where t.k = o.k and t.v < o.f) or id > 190;
select count(*), sum(f) from o;

set client_min_messages = warning;
drop schema subquery cascade;
drop role regress_subquery;
