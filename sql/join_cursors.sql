--
-- Joins that are fetched piecemeal: cursors, LIMIT, PL/pgSQL, prepared statements.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table c_a as select i % 50 as k, i as v from generate_series(1, 500) i;
create table c_b as select i % 60 as k, i as w from generate_series(1, 500) i;
analyze c_a, c_b;
set hashgraph.force = on;

-- LIMIT and OFFSET: so many rows, each of them right
select count(*), count(*) filter (where a_k = b_k) as right_rows
from (select a.k as a_k, b.k as b_k from c_a a join c_b b on a.k = b.k limit 100 offset 50) s;
select count(*) from (select from c_a join c_b using (k) limit 0) s;
select join_check('select * from c_a join c_b using (k) order by v, w limit 20 offset 3000');
select exists (select from c_a join c_b using (k) where v + w = 900);

-- forwards, in pieces
begin;
declare c cursor for select k, v, w from c_a join c_b using (k);
select join_nodes('select k, v, w from c_a join c_b using (k)');
create function c_fetch(name text, n int) returns int language plpgsql as $$
declare
  c refcursor := name;
  r record;
  fetched int := 0;
begin
  while fetched < n loop
    fetch c into r;
    exit when not found;
    insert into c_got values (r.k, r.v, r.w);
    fetched := fetched + 1;
  end loop;
  return fetched;
end
$$;
create temp table c_got (k int, v int, w int);
select c_fetch('c', 1), c_fetch('c', 1000), c_fetch('c', 1000000) > 1000;
select c_fetch('c', 1);
set local hashgraph.enabled = off;
select count(*) from (select * from c_got except all select k, v, w from c_a join c_b using (k)) s;
select count(*) from (select k, v, w from c_a join c_b using (k) except all select * from c_got) s;
commit;

-- backwards: core puts a Material on top
begin;
declare c scroll cursor for select v, w from c_a join c_b using (k) where v < 10 and w < 100 order by v, w;
fetch 3 from c;
fetch backward 2 from c;
fetch last from c;
fetch absolute 2 from c;
fetch prior from c;
commit;
begin;
declare c scroll cursor for select v, w from c_a join c_b using (k) where v = 3 and w < 100;
move forward all in c;
move backward all in c;
fetch forward all in c;
commit;

-- beyond its transaction
begin;
declare held cursor with hold for select v, w from c_a join c_b using (k) where v < 3 and w < 150 order by v, w;
fetch 1 from held;
commit;
fetch all from held;
close held;

-- closed early, together with others, and left open at the end
begin;
declare c1 cursor for select v from c_a join c_b using (k);
declare c2 cursor for select v from c_a left join c_b using (k);
select count(*) from (select 1) s;
move 5 in c1;
move 700 in c2;
close c1;
move 100 in c2;
declare c1 cursor for select v from c_a a where not exists (select from c_b b where b.k = a.k + 30);
move 10 in c1;
commit;

-- an error and a savepoint in the middle
begin;
declare c cursor for select v, w from c_a join c_b using (k);
move 10 in c;
savepoint s;
move 10 in c;
select 1 / 0;
rollback to s;
move 100 in c;
rollback;
begin;
savepoint s;
declare c cursor for select v, w from c_a join c_b using (k);
move 1000 in c;
rollback to s;
move 1 in c;
rollback;
begin;
declare c cursor for select v, w from c_a join c_b using (k);
move 10 in c;
savepoint s;
select count(*) from c_a join c_b using (k);
rollback to s;
release s;
move forward all in c;
commit;

-- PL/pgSQL: a loop over a join, with a join and an exception in its body
do $$
declare
  r record;
  n int := 0;
  caught int := 0;
  inner_rows bigint;
begin
  for r in select a.v, b.w from c_a a join c_b b using (k) order by v, w loop
    n := n + 1;
    begin
      if n % 1000 = 0 then
        select count(*) into inner_rows from c_a a left join c_b b using (k);
      end if;
      perform 1 / (n % 1000);
    exception when division_by_zero then
      caught := caught + 1;
    end;
    exit when n = 3500;
  end loop;
  raise notice '% rows, % exceptions, % rows within', n, caught, inner_rows;
end
$$;
create function c_fails(int) returns int volatile language plpgsql as $$
begin
  if $1 = 77 then
    raise exception 'seventy-seven';
  end if;
  return $1;
end
$$;
do $$
declare
  n bigint;
begin
  for i in 1 .. 5 loop
    begin
      select count(c_fails(v)) into n from c_a join c_b using (k);
    exception when raise_exception then
      raise notice 'caught: %', sqlerrm;
    end;
  end loop;
  select count(*) into n from c_a join c_b using (k);
  raise notice '%', n;
end
$$;
-- a function that joins, called by a join
create function c_count(int) returns bigint stable language sql as
  'select count(*) from c_a a join c_b b on a.k = b.k where a.k = $1';
select join_check('select sum(c_count(k)) from (select distinct a.k from c_a a join c_b b using (k)) s');
select join_check('select v from c_a a join c_b b on a.v = b.w where c_count(a.k) > 89');

-- prepared statements: custom and generic plans
prepare p (int, int) as select count(*), sum(v), sum(w) from c_a a join c_b b on a.k = b.k + $1 where v < $2;
set plan_cache_mode = force_generic_plan;
explain (costs off) execute p (1, 100);
execute p (0, 100);
execute p (3, 200);
set hashgraph.enabled = off;
set plan_cache_mode = force_custom_plan;
execute p (0, 100);
execute p (3, 200);
reset plan_cache_mode;
set hashgraph.enabled = on;
-- a table that changes underneath
insert into c_b values (1, -1);
execute p (0, 100);
alter table c_b alter column k type int8;
execute p (0, 100);
deallocate p;
delete from c_b where w < 0;

-- a function in SQL and one in PL/pgSQL keep their plans
create function c_plan(int) returns bigint stable language plpgsql as $$
declare
  n bigint;
begin
  select count(*) into n from c_a a left join c_b b on a.k = b.k and b.w > $1;
  return n;
end
$$;
select i, c_plan(i * 10) from generate_series(1, 12, 4) i;
set hashgraph.enabled = off;
discard plans;
select i, c_plan(i * 10) from generate_series(1, 12, 4) i;
reset all;

drop function c_plan, c_count, c_fails, c_fetch;
drop table c_got, c_a, c_b;
