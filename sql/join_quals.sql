--
-- Quals: ON decides what matches, WHERE filters what is returned.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table q_a as
  select case when i % 11 = 0 then null else i % 40 end as k, i as v,
         case when i % 3 > 0 then i % 20 end as m
  from generate_series(1, 300) i;
create table q_b as
  select case when i % 13 = 0 then null else i % 45 end as k, i as w,
         case when i % 4 > 0 then i % 20 end as m
  from generate_series(1, 300) i;
create table q_c as select i as k, 'c' || i as name from generate_series(1, 60, 3) i;
analyze q_a, q_b, q_c;

-- more of ON than the keys
select join_check('select v, w from q_a a join q_b b on a.k = b.k and a.m < b.m');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and a.m < b.m');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and a.v % 2 = 0');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and b.w % 2 = 0');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and (a.m is null or b.m is null or a.m + b.m > 20)');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and false');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and null::bool');
select join_check('select * from q_a a where exists (select from q_b b where a.k = b.k and a.m < b.m)');
select join_check('select * from q_a a where exists (select from q_b b where a.k = b.k and a.v <> b.w and b.m is null)');
select join_check('select * from q_a a where not exists (select from q_b b where a.k = b.k and a.m < b.m)');
select join_check('select * from q_a a where not exists (select from q_b b where a.k = b.k and a.v % 2 = 0)');
select join_check('select count(*) from q_a a join q_b b on a.k = b.k and a.v > b.w');
select join_check('select count(*) from q_a a where exists (select from q_b b where a.k = b.k and a.v > b.w)');
select join_check('select count(*) from q_a a where not exists (select from q_b b where a.k = b.k and a.v > b.w)');

-- WHERE above a left join
select join_check('select v, w from q_a a left join q_b b on a.k = b.k where b.w is null');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k where b.w is null or b.w > 100');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k where coalesce(b.w, 0) % 2 = 0');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k where b.m is distinct from a.m');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and a.m < b.m where b.w is null or a.v > b.w');
select join_check('select count(*) from q_a a left join q_b b on a.k = b.k where coalesce(b.w, a.v) % 3 = 0');
-- an equality in WHERE is no key of an outer join
select join_check('select v, w from q_a a left join q_b b on a.v = b.w where coalesce(b.k, a.k) = a.k');
select join_check('select v, w from q_a a left join q_b b on a.v = b.w where a.k = b.k or b.k is null');

-- keys that an outer join below makes NULL
select join_check('select a.v, b.w, c.name from q_a a left join q_b b on a.k = b.k and b.w < 100 left join q_c c on c.k = b.w');
select join_check('select a.v, b.w, c.name from q_a a left join q_b b on a.k = b.k and b.w < 100 join q_c c on c.k = b.w');
select join_check('select a.v, s.x from q_a a left join (select b.k, coalesce(c.name, ''none'') as x
                     from q_b b left join q_c c on c.k = b.w) s on s.k = a.k and a.v < 100');
select join_check('select c.name, a.v from q_c c left join (select coalesce(b.w, -1) as w, a.v
                     from q_a a left join q_b b on b.k = a.k and b.w > 200) a on a.w = c.k');

-- what a subquery computes, seen through an outer join
select join_check('select a.v, s.one, s.sum from q_a a left join (select k, 1 as one, w + m as sum from q_b) s on s.k = a.k');
select join_check('select a.v, s.one from q_a a left join (select k, 1 as one from q_b where w < 50) s on s.k = a.k where s.one is null');
select join_check('select a.v, s.x, c.name from q_a a left join (select k, coalesce(w, 0) as x from q_b where w < 100) s
                     on s.k = a.k left join q_c c on c.k = s.x');
select regexp_replace(join_check('select c.name, s.x from q_c c left join lateral (select c.name || ''!'' as x, k from q_a where v < 50) s on s.k = c.k'), ', by .*', '');

-- WHERE that no row decides (a custom join can have it from PostgreSQL 17 on)
prepare constant (int) as select count(*) from q_a a join q_b b using (k) where $1 = 1;
set plan_cache_mode = force_generic_plan;
set hashgraph.force = on;
execute constant (1);
execute constant (2);
reset hashgraph.force;
reset plan_cache_mode;
deallocate constant;
select regexp_replace(join_check('select count(*) from q_a a join q_b b using (k) where (select count(*) from q_c) = 20'), ', by .*', '');
select regexp_replace(join_check('select count(*) from q_a a join q_b b using (k) where (select count(*) from q_c) = 21'), ', by .*', '');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and (select max(k) from q_c) = 58');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and current_user = ''nobody''');

-- columns of one side, which are NULL in some rows, compared by what may be said of their bytes
create table q_t as select k, nullif(v % 3, 0)::text as t, nullif(v % 2, 0)::text as u, nullif(v % 3, 0)::numeric as n, nullif(v % 2, 0)::numeric as o from q_a;
analyze q_t;
select condition, join_check('select q_t.*, w from q_t left join q_b b on q_t.k = b.k and ' || condition)
from unnest(array['t = u', 'n = o', 't = u and n = o']) condition;
drop table q_t;

-- volatile expressions: evaluated once a row, and not lost
create sequence q_calls;
create function q_next(int) returns int volatile language plpgsql as
  'begin perform nextval(''q_calls''); return $1; end';
select join_check('select v, w from q_a a join q_b b on a.k = b.k and q_next(a.v) > b.w');
select join_check('select v, w from (select q_next(k) as k, v from q_a offset 0) a join q_b b using (k)');
set hashgraph.force = on;
select join_nodes('select v from q_a a join (select q_next(w) as w from q_b offset 0) b on a.v = b.w');
select setval('q_calls', 1, false);
select count(*) from q_a a join (select q_next(w) as w from q_b offset 0) b on a.v = b.w;
select nextval('q_calls') - 1 as calls;
reset hashgraph.force;

-- subplans in quals and in keys
select join_check('select v, w from q_a a join q_b b on a.k = b.k and a.v > (select avg(k) from q_c c where c.k < b.w)');
select join_check('select v, w from q_a a join q_b b on a.k = b.k and exists (select from q_c c where c.k = a.v + b.w)');
select join_check('select v, w from q_a a left join q_b b on a.k = b.k and b.w not in (select k from q_c)');
select join_check('select v, name from q_a a join q_c c on c.k = (select min(w) from q_b b where b.k = a.k)');
select join_check('select v, name from q_a a left join q_c c on c.k = (select min(w) from q_b b where b.k = a.k)');
select join_check('select v, w from q_a a join q_b b on a.k = b.k and a.v in (select k from q_c c where c.k <> b.w)');

-- errors of an expression come out, and leave a usable session
set hashgraph.force = on;
select count(*) from q_a a join q_b b on a.k = b.k and a.v / (b.w - 100) > 0;
select count(*) from q_a a join q_b b on a.k / (a.v - 7) = b.k;
reset hashgraph.force;
select join_check('select count(*) from q_a a join q_b b using (k)');

drop function q_next;
drop sequence q_calls;
drop table q_a, q_b, q_c;
