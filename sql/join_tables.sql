--
-- hashgraph.table: what holds the inner rows of a join on the CPU whose outer rows are looked up.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

-- keys there once, and there often; of 4 bytes, of 8, and hashes; NULLs; some match nothing
create table ta_f as
  select i as v, case when i % 11 = 0 then null else i * 7919 % 3001 end as k, i % 97 as k2, 't' || i % 1500 as t, repeat('f', i % 30) as pad
  from generate_series(1, 6000) i;
create table ta_d as select i * 7919 % 3001 as k, i as x, i * 7919 % 3001 * 100000000000 as wide, 't' || i as t from generate_series(1, 2000) i;
create table ta_m as select case when i % 13 = 0 then null else i % 90 end as k2, i as y, i * 7919 % 3001 as k from generate_series(1, 900) i;
create table ta_none (k int, n int);
alter table ta_d add primary key (k);
create unique index on ta_d (wide);
analyze ta_f, ta_d, ta_m, ta_none;

-- every query under every value, against core
create function table_check() returns table (kind text, differences text) language plpgsql as $$
declare
  queries constant text[] := array[
    'select v, x, pad from ta_f join ta_d using (k)',
    'select count(*), sum(v), sum(x) from ta_f join ta_d using (k)',
    'select sum(v), count(pad) from ta_f join ta_d using (k)',
    'select count(*) from ta_f join ta_d using (k)',
    'select count(*) from ta_f join ta_m using (k2)',
    'select v, y from ta_f join ta_m using (k2) where v < 500',
    'select sum(v), max(pad) from ta_f join ta_m using (k2)',
    'select v, x from ta_f f join ta_d d on f.k * 100000000000 = d.wide',
    'select v, x from ta_f join ta_d using (t)',
    'select v, x from ta_f f join ta_d d on f.k = d.k and f.v > d.x',
    'select v, y from ta_f f join ta_m m on f.k = m.k and f.k2 = m.k2',
    'select v, x from ta_f f left join ta_d d using (k)',
    'select v, x from ta_f f right join ta_d d using (k)',
    'select v, x from ta_f f full join ta_d d using (k)',
    'select v, y from ta_f f full join ta_m m on f.k = m.y',
    'select v from ta_f f where exists (select from ta_m m where m.k2 = f.k2)',
    'select v from ta_f f where exists (select from ta_d d where d.k = f.k)',
    'select v from ta_f f where exists (select from ta_m m where m.k2 = f.k2 and m.y > f.v)',
    'select v from ta_f f where not exists (select from ta_m m where m.k2 = f.k2)',
    'select y from ta_m m where not exists (select from ta_d d where d.k = m.k)',
    'select v, n from ta_f left join ta_none using (k)',
    'select v, n from ta_f join ta_none using (k)',
    'select v, x, y from ta_f join ta_d using (k) join ta_m using (k2) where v < 700',
    'select i, (select sum(v + x) from ta_f join ta_d using (k) where v % 5 = i) from generate_series(1, 3) i',
    'select i, (select sum(v + x) from ta_f join ta_d using (k) where x % 5 = i) from generate_series(1, 3) i'];
begin
  foreach kind in array array['auto', 'csr', 'ellpack', 'sliced_ellpack', 'dynamic', 'cuckoo', 'dycuckoo'] loop
    perform set_config('hashgraph.table', kind, true);
    select string_agg(query || ': ' || result, e'\n') into differences
      from (select query, join_check(query) as result from unnest(queries) query) c
      where result !~ '^same, \d+ rows, by HashGraphJoin$';
    return next;
  end loop;
end
$$;
select * from table_check();
-- what spills is looked up in tables too
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select * from table_check();
reset work_mem;
reset hash_mem_multiplier;

-- what it was that held the rows: of unique keys, of duplicates that are matched once, and all of them
create function table_used(query text) returns text language plpgsql as $$
declare
  plan jsonb;
begin
  perform set_config('hashgraph.force', 'on', true);
  execute 'explain (analyze, costs off, timing off, format json) ' || query into plan;
  if jsonb_path_query_first(plan, '$.**.Backend') #>> '{}' <> 'cpu' then
    return null;
  end if;
  return concat_ws(' ', jsonb_path_query_first(plan, '$.**.Build') #>> '{}', jsonb_path_query_first(plan, '$.**.Probe') #>> '{}',
                   jsonb_path_query_first(plan, '$.**.Table') #>> '{}');
end
$$;
create function tables_used(query text) returns table (kind text, used text) language plpgsql as $$
begin
  foreach kind in array array['auto', 'csr', 'ellpack', 'sliced_ellpack', 'dynamic', 'cuckoo', 'dycuckoo'] loop
    perform set_config('hashgraph.backend', 'cpu', true), set_config('hashgraph.table', kind, true);
    used := table_used(query);
    return next;
  end loop;
end
$$;
select * from tables_used('select v, x from ta_f join ta_d using (k)');
select * from tables_used('select v from ta_f f where exists (select from ta_m m where m.k2 = f.k2)');
select * from tables_used('select v, y from ta_f join ta_m using (k2)');
-- no table where graphs are asked for; the name of the setting is a key word
set hashgraph.backend = 'cpu';
set hashgraph."table" = 'cuckoo';
set hashgraph.probe = 'intersect';
select table_used('select v, x from ta_f join ta_d using (k)');
reset hashgraph.probe;
set hashgraph.bins = 16;
select table_used('select v, x from ta_f join ta_d using (k)');
reset hashgraph.bins;
set hashgraph.load_factor = 4;
select table_used('select v, x from ta_f join ta_d using (k)');
reset hashgraph.load_factor;
reset hashgraph."table";
reset hashgraph.backend;
set hashgraph."table" = 'quadratic';

drop function table_check, table_used, tables_used;
drop table ta_f, ta_d, ta_m, ta_none;
