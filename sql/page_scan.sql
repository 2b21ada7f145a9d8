--
-- Tables that are read a page at a time: rows, counters, and what such a scan must not do.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check

-- The scans of a plan, with their true row counts, as text.
create function scan_nodes(node json) returns setof text language sql as $$
  select format('%s %s: %s rows, %s removed, %s loops', node->>'Node Type', node->>'Alias',
                ((node->>'Actual Rows')::numeric * (node->>'Actual Loops')::numeric)::bigint,
                coalesce((node->>'Rows Removed by Filter')::numeric, 0)::bigint, node->>'Actual Loops')
  where node->>'Node Type' in ('Seq Scan', 'Append')
  union all
  select scan_nodes(child) from json_array_elements(node->'Plans') child
$$;

-- Run a query under EXPLAIN ANALYZE; the scans of its plan, and what was counted for tables.
create function scan_counts(query text) returns text[] language plpgsql as $$
declare
  counters constant text := $q$
    select coalesce(jsonb_object_agg(relname, pg_stat_get_xact_tuples_returned(oid) + 1e9 * pg_stat_get_xact_numscans(oid)), '{}')
    from pg_class where relname like 's\_%' and relkind in ('r', 'm')$q$;
  plan json;
  old jsonb;
  new jsonb;
begin
  execute counters into old;
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  execute counters into new;
  return array(select scan_nodes(plan->0->'Plan') order by 1) ||
         array(select format('%s returned %s', key, value::numeric - (old->>key)::numeric)
               from jsonb_each_text(new) where value::numeric <> (old->>key)::numeric order by 1);
end
$$;

-- join_check(), and are the counters the same as well?
create function scan_check(query text) returns text language plpgsql as $$
declare
  result text := join_check(query);
  ours text[];
  theirs text[];
begin
  perform set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
          set_config('enable_sort', 'off', true);
  ours := scan_counts(query);
  perform set_config('hashgraph.enabled', 'off', true);
  theirs := scan_counts(query);
  perform set_config('hashgraph.enabled', 'on', true), set_config('enable_nestloop', 'on', true),
          set_config('enable_mergejoin', 'on', true), set_config('enable_sort', 'on', true);
  return result || case when ours = theirs then ', same counters'
                        else format(', DIFFERENT COUNTERS: %s instead of %s', ours, theirs) end;
end
$$;
\set ECHO all

set temp_buffers = 100;
-- several pages, fewer rows than a batch on the last one
create table s_a as select i % 700 as k, i as v from generate_series(1, 3000) i;
create table s_b as select i as k, -i as w, 'b ' || i as t from generate_series(1, 1000) i;
analyze s_a, s_b;
select scan_check('select count(*) from s_a join s_b using (k)');
select scan_check('select s_a.v, s_b.w from s_a join s_b using (k)');
select scan_check('select * from s_a join s_b using (k)');
select scan_check('select t from s_a join s_b using (k)');
select scan_check('select s_b.*, s_a.* from s_a left join s_b on s_a.v = s_b.k');
select scan_check('select * from s_a full join s_b on s_a.v = s_b.w');
-- empty, and one row
create table s_none (k int, v int);
create table s_one (k int, v int);
insert into s_one values (7, 7);
select join_check('select * from s_none join s_b using (k)');
select join_check('select * from s_b left join s_none using (k)');
select scan_check('select * from s_one join s_b using (k)');

-- quals: of columns that are wanted or not, with expressions, parameters and subplans
select scan_check('select w from s_a join s_b using (k) where s_a.v < 100');
select scan_check('select w from s_a join s_b using (k) where s_a.v % 10 = 3 and s_b.t like ''%3''');
select scan_check('select s_a.k from s_a join s_b using (k) where s_a.v between 500 and 900 and s_a.v <> 600 and w is not null');
select scan_check('select count(*) from s_a join s_b using (k) where s_b.t = ''b 17''');
select scan_check('select s_a.k from s_a left join s_b on s_a.k = s_b.k and s_b.w > -10');
select join_check('select s_a.k from s_a join s_b using (k) where s_a.v < -1');
select scan_check('select w from s_a join s_b using (k) where s_a.v > (select max(k) from s_one)');
select scan_check('select w from s_a join s_b using (k) where s_a.v < 50 and (select sum(o.v) from s_one o where o.v < s_a.v) = 7');
select scan_check('select w from s_a join s_b using (k) where s_a.v = any (array[1, 3, 2000]) or s_a.v in (select v from s_one)');
select join_check('select * from s_one o, lateral (select count(*), sum(w) from s_a join s_b using (k) where s_a.v > o.v * 100 and s_b.w > -o.k * 50) s');
set plan_cache_mode = force_generic_plan;
prepare p_scan(int) as select count(*), sum(w) from s_a join s_b using (k) where s_a.v < $1;
set hashgraph.force = on;
execute p_scan(100);
execute p_scan(1000);
set hashgraph.enabled = off;
execute p_scan(100);
execute p_scan(1000);
reset hashgraph.enabled;
reset hashgraph.force;
reset plan_cache_mode;
deallocate p_scan;
-- comparisons with constants, at the ends of types and with NULL in the columns
create table s_cmp (k int, i2 int2, i4 int4, i8 int8, d date, ts timestamp, tz timestamptz, o oid, f float8, n numeric);
insert into s_cmp
  select i, case when i % 7 > 0 then i - 150 end, case when i % 5 > 0 then i * 1000 end, case when i % 3 > 0 then i * 10000000000 end,
         date '2000-01-01' + i, timestamp '2000-01-01' + i * interval '1 hour', timestamptz '2000-01-01 00:00+00' + i * interval '1 hour', i, i / 4.0, i
  from generate_series(1, 300) i;
insert into s_cmp values
  (301, -32768, -2147483648, -9223372036854775808, '-infinity', '-infinity', '-infinity', 0, '-infinity', 'nan'),
  (302, 32767, 2147483647, 9223372036854775807, 'infinity', 'infinity', 'infinity', 4294967295, 'nan', 1),
  (303, 7, 7, 7, '1999-12-31', '1999-12-31 12:00', '1999-12-31 12:00+00', 7, 7, 7),
  (304, 7, 8, 9, '1999-12-30', '1999-12-31', '1999-12-31', 7, 7, 7);
analyze s_cmp;
select regexp_replace(join_check(format('select s_cmp.k, i4 from s_cmp join s_b using (k) where %s %s %s', l, op, r)), '\d+ rows', 'n rows') as result,
       count(*) as quals
from (values ('i2', '17'), ('i2', '-32768'), ('i2', '32767'), ('i2', '2147483647'), ('i2', '-9223372036854775808'), ('17::int2', 'i2'),
             ('i4', '100000'), ('i4', '(-32768)::int2'), ('i4', '-2147483648'), ('i4', '2147483647'), ('i4', '9223372036854775807'), ('200000', 'i4'),
             ('i8', '1000000000000'), ('i8', '-9223372036854775808'), ('i8', '9223372036854775807'), ('0::int2', 'i8'),
             ('d', 'date ''2000-05-05'''), ('d', 'date ''infinity'''), ('date ''-infinity''', 'd'), ('d', 'timestamp ''2000-03-03 12:00'''),
             ('d', 'timestamp ''2000-03-03 00:00'''), ('timestamp ''2000-03-03 00:00:00.000001''', 'd'), ('d', 'timestamp ''1999-12-30 23:59:59.999999'''),
             ('d', 'timestamp ''1999-12-31'''), ('d', 'timestamp ''1999-12-30 12:00'''), ('d', 'timestamp ''infinity'''), ('timestamp ''-infinity''', 'd'),
             ('i2', 'i4'), ('i4', 'i2'), ('i8', 'i4'), ('i2', 'i8'), ('d', 'd'), ('d', 'ts'), ('ts', 'ts'), ('i4', 's_cmp.k'), ('i4', 'o'),
             ('ts', 'timestamp ''2000-01-05 07:00'''), ('ts', 'timestamp ''-infinity'''), ('ts', 'date ''2000-01-07'''),
             ('tz', 'timestamptz ''2000-01-05 07:00+00'''), ('timestamptz ''infinity''', 'tz'), ('tz', 'timestamp ''2000-01-05 07:00'''),
             ('o', 'oid ''2147483648'''), ('f', '50.25'), ('n', '50'), ('i4', 's_cmp.k * 1000')) v (l, r),
     unnest(array['<', '<=', '=', '<>', '>=', '>']) op
group by 1;
select scan_check('select s_cmp.k, i8, n from s_cmp join s_b using (k) where i2 is not null and i4 > 5000 and i4 <= 250000 and d <> date ''2000-02-02'' and s_cmp.k > 3');
select scan_check('select s_cmp.k from s_cmp join s_b using (k) where i2 is not null and i4 is not null and i8 is not null');
select scan_check('select s_cmp.k from s_cmp join s_b using (k) where i2 is null and i4 > 5000');
select scan_check('select s_cmp.k from s_cmp join s_b using (k) where i2 > 5 and i4 % 3000 = 0');
-- some clauses are, some are not
select scan_check('select s_cmp.k, d from s_cmp join s_b using (k) where n > 20 and s_cmp.k < 200 and d < timestamp ''2000-04-04 04:04'' and s_cmp.k % 7 = 1');
select scan_check('select s_cmp.ctid, s_cmp.k from s_cmp join s_b using (k) where s_cmp.ctid > ''(0,3)'' and i4 < i8 and i2 <> 5');
select scan_check('select s_cmp.k from s_cmp join s_b using (k) where i4 > 7000 and n > (select min(v) from s_one) and s_cmp.k < i4');
-- quals see what is behind a security barrier in their order
create function s_told(int) returns bool language plpgsql cost 0.0001 as $$
begin
  if $1 > 100 then
    raise exception 'told %', $1;
  end if;
  return true;
end
$$;
create view s_barrier with (security_barrier) as select * from s_a where v <= 100;
select scan_check('select * from s_barrier join s_b using (k) where s_told(v)');
select scan_check('select * from s_barrier join s_b using (k) where s_told(v) and v < 50');
-- volatile functions are called as often as PostgreSQL calls them, whatever stands beside them in a qual
create sequence s_calls;
create function s_cheap(v int) returns bool language plpgsql volatile cost 0.0001 as 'begin perform nextval(''s_calls''); return v % 3 = 0; end';
create function s_equal(v int) returns bool language plpgsql volatile cost 1 as 'begin perform nextval(''s_calls''); return v % 3 = 0; end';
create function s_dear(v int) returns bool language plpgsql volatile cost 100 as 'begin perform nextval(''s_calls''); return v % 3 = 0; end';
create function s_value(v int) returns int language plpgsql volatile cost 100 as 'begin perform nextval(''s_calls''); return v; end';
create function s_stable(v int) returns bool language plpgsql stable cost 0.0001 as 'begin return v % 3 < 2; end';
create view s_guarded with (security_barrier) as select * from s_a where s_cheap(v);
create function s_count(query text) returns text language plpgsql as $$
declare
  ours bigint;
  theirs bigint;
begin
  perform setval('s_calls', 1, false), set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
          set_config('hashgraph.force', 'on', true);
  if join_nodes(query) = 0 then
    return 'no node of ours';
  end if;
  execute query;
  ours := nextval('s_calls') - 1;
  perform setval('s_calls', 1, false), set_config('hashgraph.enabled', 'off', true);
  execute query;
  theirs := nextval('s_calls') - 1;
  perform set_config('hashgraph.enabled', 'on', true), set_config('enable_nestloop', 'on', true),
          set_config('enable_mergejoin', 'on', true), set_config('hashgraph.force', 'off', true);
  return case when ours = theirs then format('%s calls', ours) else format('%s CALLS INSTEAD OF %s', ours, theirs) end;
end
$$;
select s_count('select count(*) from s_a join s_b using (k) where s_cheap(v) and v < 100');
select s_count('select count(*) from s_a join s_b using (k) where v < 100 and s_dear(v)');
select s_count('select w from s_a join s_b using (k) where v < 2000 and s_equal(v) and v > 1000');
select s_count('select w from s_a join s_b using (k) where s_stable(v) and v < 2000 and s_equal(v) and v > 1000 and s_dear(v + 1)');
select s_count('select w from s_a join s_b using (k) where s_equal(v) and t like ''%7'' and w < -500');
select s_count('select w from s_a left join s_b on s_a.k = s_b.k and s_cheap(s_b.w) and w < -500');
select s_count('select * from s_guarded join s_b using (k) where v < 100');
select s_count('select g.*, w from (select k, sum(v) from s_a where s_cheap(v) and v < 100 group by k) g join s_b using (k)');
select s_count('select x.k, w from (select k, s_value(v) as v from s_a where v < 500) x join s_b using (k) where v > 10');
-- ... and plans that a qual waits for are run if a row comes to them
select s_count('select w from s_a join s_b using (k) where v > (select s_value(7)) and v < 0');
select s_count('select w from s_a join s_b using (k) where v < 0 and v > (select s_value(7))');
select s_count('select w from s_a join s_b using (k) where v < 900 and v > (select s_value(7)) and s_a.k > 90 and v < 800');
select scan_check('select w from s_a join s_b using (k) where v < 900 and v > (select s_value(7)) and s_a.k > 90 and v < 800');
select s_count('select w from s_a join s_b using (k) where v < 900 and v not in (select s_value(v) from s_one) and s_a.k > 90');
-- ... and again for each parameter of a side
select s_count('select x, s.* from generate_series(1, 3) x, lateral (select count(*) from s_a join s_b using (k) where s_cheap(v) and v < 100 and w % 4 = -x) s');
drop view s_guarded;
drop function s_count(text), s_cheap(int), s_equal(int), s_dear(int), s_value(int), s_stable(int);
drop sequence s_calls;
-- an error in a qual leaves nothing behind
set hashgraph.force = on;
select count(*) from s_a join s_b using (k) where 1 / (s_a.v - 1500) = 0;
select count(*) from s_a join s_b using (k) where s_a.v <> 1500;
reset hashgraph.force;

-- columns of every width and alignment, NULL in every pattern
create table s_null (b1 bool, i2 int2, i8 int8, c "char", i4 int4, n name, u uuid, t text, j2 int2, m numeric, f8 float8, mac macaddr, k int);
insert into s_null
  select case when i & 1 = 0 then i % 3 = 0 end, case when i & 2 = 0 then i end, case when i & 4 = 0 then i * 10000000000 end,
         case when i & 8 = 0 then 'x' end, case when i & 16 = 0 then -i end, case when i & 32 = 0 then 'name ' || i end,
         case when i & 64 = 0 then md5(i::text)::uuid end, case when i & 128 = 0 then repeat('t', i % 300) end,
         case when i & 256 = 0 then i end, case when i & 512 = 0 then i / 8.0 end, case when i & 1024 = 0 then i / 3.0::float8 end,
         case when i & 2048 = 0 then ('08:00:2b:00:' || to_hex(i / 256) || ':' || to_hex(i % 256))::macaddr end, i
  from generate_series(0, 4095) i;
analyze s_null;
select scan_check('select s_null.* from s_null join s_a on s_null.k = s_a.v');
select scan_check('select b1, i8, j2 from s_null join s_a on s_null.k = s_a.v');
select scan_check('select i2, c, f8 from s_null join s_a on s_null.k = s_a.v where i4 is null');
select scan_check('select mac, t from s_null join s_a on s_null.k = s_a.v where n is not null and m > 100');
select scan_check('select u, x.m, y.i4 from s_null x join s_null y using (u)');
select scan_check('select x.k, y.k from s_null x full join s_null y on x.i4 = y.j2');
select scan_check('select b1 from s_null join s_a on i8 = v::int8 * 10000000000');

-- dropped columns, and columns that came later than rows, with and without a default
create table s_old (x1 int, k int, x2 text, v int8, x3 int2, g int generated always as (k * 3) stored);
insert into s_old (x1, k, x2, v, x3) select i, i, 'dropped ' || i, i * 2, i from generate_series(1, 600) i;
alter table s_old drop column x2;
insert into s_old (x1, k, v, x3) select i, i, i * 2, i from generate_series(601, 900) i;
alter table s_old drop column x1, add column d1 int default 42, add column d2 text default 'added text', add column d3 int;
insert into s_old (k, v, x3, d1, d2, d3) select i, i * 2, i, i, 'set ' || i, i from generate_series(901, 1200) i;
insert into s_old (k, v, x3, d1) values (1201, 1, 1, null), (1202, null, null, 7);
insert into s_old (k, v, x3, d1, d2) values (1203, null, null, null, null);
alter table s_old add column d4 uuid default '00000000-0000-0000-0000-000000000001';
analyze s_old;
select scan_check('select s_old.*, s_a.* from s_old join s_a on s_old.k = s_a.v');
select scan_check('select d2, d3 from s_old join s_a on s_old.k = s_a.v');
select scan_check('select d1, w from s_old left join s_b on s_old.d1 = s_b.k');
select scan_check('select x.k, y.k from s_old x join s_old y on x.d2 = y.d2 where x.k < 10 and x.d1 = 42');
alter table s_old add column d5 int default 5;
select scan_check('select g, d4, d5 from s_old join s_a on s_old.g = s_a.v');

-- long values: compressed, toasted, with short headers and long ones
create table s_long (k int, t1 text, t2 text, v int);
alter table s_long alter t2 set storage external;
insert into s_long select i, repeat('abc', i * 20), case when i % 3 = 0 then repeat(md5(i::text), i) end, i from generate_series(1, 300) i;
analyze s_long;
select scan_check('select s_long.* from s_long join s_a on s_long.k = s_a.v');
select scan_check('select s_long.v, s_a.v from s_long join s_a on s_long.k = s_a.v');
select scan_check('select x.k, y.k, x.t2 from s_long x join s_long y on x.t2 = y.t2');
-- few rows to a page, and columns by value alone: several pages to a batch
create table s_wide (k int, filler char(900), v int);
alter table s_wide alter filler set storage plain;
insert into s_wide select i % 400, 'x', i from generate_series(1, 2000) i;
analyze s_wide;
select scan_check('select x.v, s_b.w from s_wide x join s_b using (k)');
select scan_check('select x.v, y.v from s_wide x join s_wide y on x.v = y.v where x.v % 5 = 0');

-- dead rows, HOT chains, and rows of the transaction itself
create table s_hot (k int, v int) with (fillfactor = 50);
insert into s_hot select i, 0 from generate_series(1, 500) i;
begin;
update s_hot set v = v + 1 where k % 2 = 0;
update s_hot set v = v + 1 where k % 4 = 0;
delete from s_hot where k % 10 = 5;
insert into s_hot select i, -1 from generate_series(501, 600) i;
savepoint s;
update s_hot set v = 100;
select scan_check('select s_hot.*, w from s_hot join s_b using (k)');
rollback to s;
select scan_check('select s_hot.*, w from s_hot join s_b using (k)');
commit;
select scan_check('select s_hot.*, w from s_hot join s_b using (k)');
vacuum s_hot;
select scan_check('select s_hot.*, w from s_hot join s_b using (k)');
select join_check_dml('update s_hot set v = w from s_b where s_b.k = s_hot.k', 's_hot');
select join_check_dml('insert into s_hot select k, w from s_hot join s_b using (k)', 's_hot');

-- partitions whose columns are in another order, one of them partitioned itself
create table s_part (k int, t text, v int, d int default 3) partition by range (k);
create table s_part1 partition of s_part for values from (0) to (300);
create table s_part2 (v int, gone text, t text, d int, k int);
insert into s_part2 select i, 'gone', 'early ' || i, i, i from generate_series(300, 350) i;
alter table s_part2 drop column gone;
alter table s_part attach partition s_part2 for values from (300) to (600);
create table s_part3 partition of s_part for values from (600) to (2000) partition by list (d);
create table s_part31 partition of s_part3 for values in (3);
create table s_part32 (t text, d int, v int, k int);
alter table s_part3 attach partition s_part32 default;
insert into s_part select i, 'part ' || i, i, case when i % 2 = 0 then 3 else i end from generate_series(1, 1500) i;
analyze s_part;
select scan_check('select s_part.*, s_a.* from s_part join s_a on s_part.k = s_a.v');
select scan_check('select s_part.d, t from s_part join s_a on s_part.k = s_a.v where s_part.v % 7 = 0');
select scan_check('select count(*) from s_part join s_a on s_part.v = s_a.v where s_part.k > 250');
select join_check('select s_part.tableoid::regclass, s_part.v from s_part join s_a on s_part.k = s_a.v');
select join_check('select * from s_one o, lateral (select count(*), sum(s_part.v) from s_part join s_a on s_part.k = s_a.v where s_part.k > o.v * 50) s');
-- pruned when it is known which, and scanned again for each
set enable_nestloop = off;
set plan_cache_mode = force_generic_plan;
prepare p_part(int) as select count(*), sum(s_part.v) from s_part join s_a on s_part.k = s_a.v where s_part.k > $1;
set hashgraph.force = on;
execute p_part(0);
execute p_part(1000);
execute p_part(5000);
deallocate p_part;
reset plan_cache_mode;
reset enable_nestloop;
reset hashgraph.force;
-- inheritance, UNION ALL, and subplans of which only some are tables
create table s_child (extra text) inherits (s_a);
insert into s_child select i, i, 'extra' from generate_series(1, 300) i;
select scan_check('select s_a.v, w from s_a join s_b using (k)');
select join_check('select s_a.tableoid::regclass, w from s_a join s_b using (k)');
select join_check('select u.*, w from (select k, v from s_hot union all select v, k from s_old union all select i, i from generate_series(1, 900) i) u join s_b using (k)');
select join_check('select u.*, w from (select k, v + 1 from s_hot union all select k, v from s_hot where v > 0) u (k, v) join s_b using (k)');
drop table s_child;

-- what is not a plain scan, or wants more than columns
select join_check('select s_a.ctid, w from s_a join s_b using (k)');
select join_check('select s_a, s_b from s_a join s_b using (k)');
select join_check('select s_a.xmin::text::int8 > 0, s_b.tableoid::regclass from s_a join s_b using (k)');
select join_check('select * from s_a tablesample bernoulli (30) repeatable (1) join s_b using (k)');
select join_check('select * from s_a join s_b using (k) where s_a.ctid in (''(0,1)'', ''(1,5)'')');
select join_check('select * from s_a join s_b using (k) where s_a.ctid < ''(1,5)''');
select join_check('select * from s_a join s_b using (k) where v < 300 for update');
select join_check('select * from s_a join s_b using (k) where v < 300 for share of s_a');
create materialized view s_mat as select * from s_a where v % 2 = 0;
select scan_check('select * from s_mat join s_b using (k)');
create temp table s_temp as select * from s_a;
select scan_check('select * from s_temp join s_b using (k)');
-- more pages than there are buffers for: values stay where they are for a batch
create temp table s_tempwide (k int, v int, w char(5000));
alter table s_tempwide alter w set storage plain;
insert into s_tempwide select k, v, 'w' || v from s_wide;
select scan_check('select left(x.w, 9), x.v, s_b.w from s_tempwide x join s_b using (k)');
create unlogged table s_unlogged as select * from s_a;
select scan_check('select * from s_unlogged join s_b using (k)');
select join_check('select relname, attname from pg_class c join pg_attribute a on a.attrelid = c.oid where relname = ''s_null''');

-- plans that return slots: long values in them are kept for a batch, which then is a short one
select join_check('select * from (select i as k, repeat(md5(i::text), 60) as t from generate_series(1, 1500) i) x join s_b using (k)');
select join_check('select * from (select * from s_long order by v desc offset 0) x join s_a on x.k = s_a.v');
select join_check('select * from (select k % 100 as g, array_agg(v order by v) as vs, max(t1) as t from s_long group by 1) x join s_b on g = s_b.k');
create function s_arrays(n int) returns table (k int, a int[]) language plpgsql as $$
begin
  for i in 1 .. n loop
    k := i;
    a := array_fill(i, array[i % 50 + 1]);
    a[1] := -i;
    return next;
  end loop;
end
$$;
select join_check('select * from s_arrays(700) x join s_b using (k)');

-- cursors, limits, and scans that are left before their end
begin;
set local hashgraph.force = on;
declare c cursor for select v, w from s_a left join s_b using (k);
select join_nodes('select v, w from s_a left join s_b using (k)') as nodes;
move forward 1000 in c;
update s_a set v = -1 where k < 300;
delete from s_b where k > 500;
create table s_got (v int, w int);
create function s_fetch(name text) returns bigint language plpgsql as $$
declare
  c refcursor := name;
  r record;
  fetched bigint := 0;
begin
  loop
    fetch c into r;
    exit when not found;
    insert into s_got values (r.v, r.w);
    fetched := fetched + 1;
  end loop;
  return fetched;
end
$$;
select s_fetch('c');
select count(*), count(*) filter (where v > 0), count(distinct v) from s_got;
rollback;
begin;
set local hashgraph.force = on;
declare c cursor for select v, w from s_wide x join s_b using (k);
fetch 1 from c \g /dev/null
close c;
select count(*) from (select v from s_a join s_b using (k) limit 10) s;
commit;

-- parallel scans: each row once
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
select join_check('select s_a.v, w from s_a join s_b using (k) where s_a.v % 3 > 0');
select join_check('select s_part.*, w from s_part join s_b using (k)');
select join_check('select s_null.*, w from s_null left join s_b using (k)');
set parallel_leader_participation = off;
select join_check('select s_part.v, s_a.v from s_part join s_a on s_part.k = s_a.v where s_part.v % 3 > 0');
reset parallel_leader_participation;
reset max_parallel_workers_per_gather;
reset min_parallel_table_scan_size;
reset parallel_tuple_cost;
reset parallel_setup_cost;

drop view s_barrier;
drop materialized view s_mat;
drop table s_a, s_b, s_cmp, s_tempwide, s_none, s_one, s_null, s_old, s_long, s_wide, s_hot, s_part, s_temp, s_unlogged;
drop function s_told(int), s_arrays(int);
drop function scan_check(text), scan_counts(text), scan_nodes(json);
