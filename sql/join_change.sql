--
-- Rows that are changed or locked through a join.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

create table d_a (id int primary key, k int, v int, note text);
create table d_b (k int, w int);
insert into d_a select i, i % 100, i, 'note ' || i from generate_series(1, 300) i;
insert into d_b select i, i * 10 from generate_series(1, 80) i;
insert into d_b values (null, 0);
analyze d_a, d_b;

select join_check_dml('update d_a set v = w from d_b where d_b.k = d_a.k', 'd_a');
select join_check_dml('update d_a set k = d_a.k + 1, note = note || w from d_b where d_b.k = d_a.k and w > v', 'd_a');
select join_check_dml('update d_a a set v = -1 where exists (select from d_b b where b.k = a.k and b.w > 500)', 'd_a');
select join_check_dml('update d_a a set v = -1 where not exists (select from d_b b where b.k = a.k)', 'd_a');
select join_check_dml('update d_a a set v = coalesce(s.w, -1) from (select x.id, y.w from d_a x left join d_b y using (k)) s where s.id = a.id', 'd_a');
select join_check_dml('delete from d_a using d_b where d_b.k = d_a.k', 'd_a');
select join_check_dml('delete from d_a a where k in (select k from d_b where w % 20 = 0)', 'd_a');
select join_check_dml('delete from d_a a where not exists (select from d_b b where b.k = a.k)', 'd_a');
select join_check_dml('insert into d_b select k, v from d_a join d_b using (k)', 'd_b');
select join_check_dml('insert into d_a select id + 1000, d_b.k, w from d_b left join d_a using (k) where id > 0
                       on conflict do nothing', 'd_a');
select join_check_dml('merge into d_a using d_b on d_a.k = d_b.k
                       when matched and w > 400 then delete
                       when matched then update set v = v + w', 'd_a');
select join_check_dml('merge into d_b using (select k, max(v) as v from d_a group by k) a on a.k = d_b.k
                       when matched then update set w = v
                       when not matched then insert values (k, -v)', 'd_b');
select join_check_dml('with gone as (delete from d_a using d_b where d_b.k = d_a.k returning d_a.*, w)
                       insert into d_b select k, w from gone', 'd_b');
select join_check_dml('create temp table d_new as select * from d_a left join d_b using (k)', 'd_new');

-- RETURNING sees both sides
begin;
set local hashgraph.force = on;
with u as (update d_a set v = 0 from d_b where d_b.k = d_a.k and w = 800 returning d_a.id, d_a.v, w, d_b.ctid)
select * from u order by id;
rollback;

-- row marks: the rows are locked, and those of the nullable side are not there
select join_check('select d_a.*, d_b.* from d_a join d_b using (k) where v < 150 for update');
select join_check('select d_a.* from d_a join d_b using (k) for update of d_a');
select join_check('select d_a.*, w from d_a left join d_b using (k) for share of d_a');
select join_check('select * from d_a a where exists (select from d_b b where b.k = a.k) for no key update');
select join_check('select * from d_a a where not exists (select from d_b b where b.k = a.k) for key share');
select join_check('select * from d_a a join d_b b using (k) where v < 100 for update skip locked');
create table d_lock as select k, v from d_a where v <= 100;
begin;
set local hashgraph.force = on;
select count(*) from (select from d_lock a join d_b b using (k) for update of a) s;
select count(*) filter (where xmax = pg_current_xact_id()::xid) as locked from d_lock;
select count(*) filter (where xmax = pg_current_xact_id()::xid) as not_locked from d_b;
rollback;
drop table d_lock;

-- a trigger that joins
create table d_log (n bigint);
create function d_trigger() returns trigger language plpgsql as $$
begin
  insert into d_log select count(*) from d_a join d_b using (k) where w = new.w;
  return null;
end
$$;
create trigger d_trigger after update on d_b for each row execute function d_trigger();
select join_check_dml('update d_b set w = w + 1 from d_a where d_a.id = d_b.k', 'd_log');

-- tables that are written while they are joined: a statement does not see its own rows
select join_check_dml('insert into d_b select b.k, b.w + 1 from d_b b join d_a a using (k)', 'd_b');

-- a view that can be updated
create view d_view as select id, k, v from d_a where v > 10;
select join_check_dml('update d_view set v = w from d_b where d_b.k = d_view.k', 'd_a');

-- partitions
create table d_part (k int, v int) partition by list (k);
create table d_part_even partition of d_part for values in (2, 4, 6, 8);
create table d_part_odd partition of d_part for values in (1, 3, 5, 7);
insert into d_part select i % 8 + 1, i from generate_series(1, 40) i;
create table d_partb (k int, w int) partition by list (k);
create table d_partb_even partition of d_partb for values in (2, 4, 6, 8);
create table d_partb_odd partition of d_partb for values in (1, 3, 5, 7);
insert into d_partb select k, w from d_b where k < 9;
analyze d_part, d_partb;
-- which row of which partition is changed is for core's joins to carry, but not what joins them
select join_nodes('delete from d_part using d_b where d_b.k = d_part.k');
select join_check_dml('update d_part set v = w from d_b join (select distinct k from d_a) a using (k) where d_b.k = d_part.k', 'd_part');
set enable_partitionwise_join = on;
select join_check_dml('update d_part set v = w from d_partb b where b.k = d_part.k', 'd_part');
select join_check_dml('update d_part set k = d_part.k % 2 + 1 from d_partb b where b.k = d_part.k and w > 30', '(select tableoid::regclass, * from d_part)');
select join_check_dml('delete from d_part using d_partb b where b.k = d_part.k and w < 50', 'd_part');
begin;
set local hashgraph.force = on;
explain (verbose, costs off) update d_part set v = w from d_partb b where b.k = d_part.k;
rollback;
reset enable_partitionwise_join;

drop view d_view;
drop table d_part, d_partb, d_log, d_a, d_b;
drop function d_trigger;
