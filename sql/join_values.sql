--
-- Values: what goes through a join comes out as it went in.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create type v_pair as (a int, b text);
create table v_a (
  k int, gone int, name name, id uuid, span interval, big text, packed bytea, list int[],
  pair v_pair, amount numeric, flag bool, tiny "char", small int2, long int8, real4 float4,
  real8 float8, fixed char(20), at timestamptz);
alter table v_a alter column big set storage external;
insert into v_a
  select i % 60, i, 'name' || i, md5(i::text)::uuid, make_interval(secs => i), repeat(md5(i::text), i % 150),
         convert_to(repeat(i::text, i % 2000), 'UTF8'), array(select generate_series(1, i % 50)),
         row(i, 'b' || i)::v_pair, i * 1.10, i % 2 = 0, chr(65 + i % 26)::"char", i, i * 10000000000, i / 3.0, i / 7.0, i,
         timestamptz '2000-01-01 UTC' + make_interval(hours => i)
  from generate_series(1, 200) i;
insert into v_a (k) select generate_series(1, 60, 7);
insert into v_a values (null, 1, 'null key'), (1000, 1, 'no match');
alter table v_a drop column gone;
alter table v_a add column added text default 'as it was added';
create table v_b as select i % 80 as k, 'w' || i as w, repeat('x', i * 100) as wide from generate_series(1, 120) i;
analyze v_a, v_b;

-- everything, wide and out of line values among it
select join_check('select * from v_a a join v_b b using (k)');
select join_check('select * from v_b b left join v_a a using (k)');
select join_check('select * from v_a a where exists (select from v_b b where b.k = a.k)');
select join_check('select * from v_a a where not exists (select from v_b b where b.k = a.k)');
select join_check('select a.name, a.id, a.span from v_a a join v_b b using (k)');
select join_check('select a.big, a.packed, b.wide from v_a a join v_b b using (k)');
select join_check('select a.tiny, a.flag, a.small, a.real4, a.real8, a.at from v_a a join v_b b using (k)');
select join_check('select a.list, a.pair, (a.pair).b, a.fixed || ''|'', a.added from v_a a join v_b b using (k)');
set work_mem = '64kB';
select join_check('select * from v_a a join v_b b using (k)');
select join_check('select * from v_b b left join v_a a using (k)');
reset work_mem;

-- wide values as keys
select join_check('select x.k, y.k from v_a x join v_a y on x.big = y.big');
select join_check('select x.k, y.k from v_a x join v_a y on x.packed = y.packed and x.name = y.name');
select join_check('select x.k, y.k from v_a x left join v_a y on x.list = y.list and x.id = y.id');
select join_check('select x.k, y.k from v_a x join v_a y on x.pair = y.pair');

-- whole rows and system columns
select join_check('select a, b from v_a a join v_b b using (k)');
select join_check('select b, a from v_b b left join v_a a using (k)');
select join_check('select a.ctid, b.ctid, a.tableoid::regclass from v_a a join v_b b using (k)');
select join_check('select a.ctid, b.ctid, b.tableoid::regclass from v_a a left join v_b b using (k)');
select join_check('select a.xmin = b.xmin, a.name from v_a a join v_b b using (k)');
select join_check('select a.name from v_a a join v_b b using (k) where (a, b) is not null');
select join_check('select x.k, y.k from v_b x join v_b y on x.ctid = y.ctid');
select join_check('select row_to_json(a) ->> ''name'', row_to_json(b) ->> ''w'' from v_a a left join v_b b using (k)');

-- arrays that a PL/pgSQL function leaves expanded
create function v_array(int) returns int[] immutable language plpgsql as $$
declare
  a int[] := '{}';
begin
  for i in 1 .. coalesce($1, 3) % 5 loop
    a := a || i;
  end loop;
  return a;
end
$$;
select join_check('select * from (select k, v_array(k) as list from v_a offset 0) a join v_b b using (k)');
select join_check('select count(*) from (select v_array(k) as list from v_a offset 0) a join (select v_array(k) as list from v_b offset 0) b using (list)');
set work_mem = '64kB';
select join_check('select list, k, w from (select k, v_array(k) as list from v_a offset 0) a join v_b b using (k)');
reset work_mem;

-- 1,600 columns' worth of a row
select 'create table v_wide (' || string_agg('c' || i || ' int', ', ') || ')' from generate_series(1, 800) i \gexec
insert into v_wide (c1, c400, c800) select i, i * 2, i * 3 from generate_series(1, 50) i;
select join_check('select * from v_wide x join v_wide y on x.c1 = y.c400');
select join_check('select y.* from v_wide x left join v_wide y on x.c1 = y.c800');

drop table v_wide, v_a, v_b;
drop type v_pair;
drop function v_array;
