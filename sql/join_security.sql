--
-- Security: quals of a barrier come first, and nobody sees what is not his.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table e_a (k int, owner text, secret text);
create table e_b (k int, w int);
insert into e_a select i, case when i % 2 = 0 then 'alice' else 'bob' end, 'secret ' || i from generate_series(1, 20) i;
insert into e_b select i, i * 10 from generate_series(1, 20) i;
analyze e_a, e_b;

-- a function that tells what it sees
create function e_leak(text) returns bool language plpgsql cost 0.0000001 as $$
begin
  raise notice 'seen: %', $1;
  return true;
end
$$;
set hashgraph.force = on;

-- a security barrier view: the leak sees the view's rows only
create view e_view with (security_barrier) as select * from e_a where owner = 'alice' and k <= 6;
select join_nodes('select * from e_view v join e_b b using (k) where e_leak(v.secret)');
select v.secret, w from e_view v join e_b b using (k) where e_leak(v.secret) order by 1;
select count(*) from e_b b left join e_view v on v.k = b.k and e_leak(v.secret) where b.k <= 8;
-- ... also where the join is within the view
create view e_join_view with (security_barrier) as
  select a.secret, b.w, a.k from e_a a join e_b b on a.k = b.k where a.owner = 'bob' and b.w < 60 and a.k + b.w < 1000;
select join_nodes('select * from e_join_view where e_leak(secret)');
select * from e_join_view where e_leak(secret) order by k;

-- row security
create role hg_alice;
create role hg_bob;
grant select on e_a, e_b to hg_alice;
grant select on e_b to hg_bob;
alter table e_a enable row level security;
create policy mine on e_a using ('hg_' || owner = current_user and k < 12);
create policy all_of_it on e_b using (true);
set role hg_alice;
select join_nodes('select * from e_a join e_b using (k)');
select k, secret, w from e_a join e_b using (k) order by k;
select secret from e_a join e_b using (k) where e_leak(secret) order by k limit 2;
select join_check('select k, secret, w from e_b left join e_a using (k)');
select join_check('select * from e_b b where not exists (select from e_a a where a.k = b.k)');
-- a plan is not used for another user
prepare mine as select count(*) from e_a join e_b using (k);
set plan_cache_mode = force_generic_plan;
execute mine;
reset role;
execute mine;
reset plan_cache_mode;
deallocate mine;

-- privileges
set role hg_bob;
select count(*) from e_a join e_b using (k);
select join_nodes('select * from e_a join e_b using (k)');
select count(*) from e_b x join e_b y using (k);
reset role;
revoke select on e_b from hg_bob;
grant select (k) on e_b to hg_bob;
set role hg_bob;
select count(*) from e_b x join e_b y using (k);
select sum(x.w) from e_b x join e_b y using (k);
reset role;

-- whoever may not execute an operator's function may not join with it, as in PostgreSQL's own joins
create function e_error(query text, setting text) returns text language plpgsql as $$
begin
  perform set_config('hashgraph.enabled', setting, true);
  execute query;
  return 'no error';
exception when insufficient_privilege then
  return sqlerrm;
end
$$;
create function e_half_eq(int, int) returns bool immutable language plpgsql as 'begin return $1 / 2 = $2 / 2; end';
create function e_half_hash(int) returns int immutable language plpgsql as 'begin return $1 / 2; end';
create operator ==== (leftarg = int, rightarg = int, function = e_half_eq, commutator = ====, hashes);
create operator class e_half_ops for type int using hash as operator 1 ====, function 1 e_half_hash(int);
create table e_queries (query text);
insert into e_queries values
  ('select count(*) from e_b x join e_b y on x.k = y.k'),
  ('select * from e_b x left join e_b y on x.k = y.k and x.w = y.w'),
  ('explain select count(*) from e_b x join e_b y on x.k = y.k'),
  ('select count(*) from e_b x join e_b y on x.k = (select y.k offset 0)'),
  ('select count(*) from e_b x join e_b y on x.k ==== y.k'),
  ('select count(*) from e_b x join e_b y on x.k::int8 = y.k::int8'),
  ('select x.k, count(*) from e_b x join e_b y on x.k::int8 = y.k::int8 group by x.k'),
  ('select sum(x.k) from e_b x join e_b y on x.k::int8 = y.k::int8'),
  ('select max(x.k) from e_b x join e_b y on x.k::int8 = y.k::int8');
grant select on e_queries to hg_alice;
-- the node of each of them is ours
select query, join_nodes(query) from e_queries where query not like 'explain%';
select count(*) filter (where e_error(query, 'on') = 'no error') from e_queries;
begin;
revoke execute on function int4eq, texteq, e_half_eq, e_half_hash, hashint4 from public;
revoke execute on function sum(int) from public;
set local role hg_alice;
select query, e_error(query, 'on') as ours, e_error(query, 'off') as theirs from e_queries;
-- functions that join
select e_error($$ select hashgraph_join('e_b', 'k', 'e_b', 'k') $$, 'on');
select e_error($$ select hashgraph_probe_stats('e_b', 'k', 'e_b', 'k') $$, 'on');
select e_error($$ select hashgraph_probe_stats('e_queries', 'query', 'e_queries', 'query') $$, 'on');
select e_error($$ select hashgraph_build_stats('e_b', 'k') $$, 'on');
rollback;
-- ... and whoever owns an aggregate must be allowed to execute what it consists of
begin;
revoke execute on function int4larger, numeric_stddev_samp from public;
alter aggregate max(int) owner to hg_bob;
alter aggregate stddev(numeric) owner to hg_bob;
select query, e_error(query, 'on') as ours, e_error(query, 'off') as theirs
from (values ('select max(x.k) from e_b x join e_b y using (k)'), ('select stddev(x.k::numeric) from e_b x join e_b y using (k)')) v (query);
rollback;
reset hashgraph.force;

drop table e_queries;
drop operator class e_half_ops using hash;
drop operator family e_half_ops using hash;
drop operator ==== (int, int);
drop function e_error, e_half_eq, e_half_hash;
drop view e_join_view, e_view;
drop table e_a, e_b;
drop function e_leak;
drop role hg_alice, hg_bob;
