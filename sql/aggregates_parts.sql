--
-- Aggregates of partitions that are joined and grouped one by one: whole groups where the key of the
-- partitions is among their columns, and partial ones that PostgreSQL combines where it is not.
--

-- Compare with PostgreSQL's own rows, and tell who aggregates what.
create function parts_check(query text) returns text language plpgsql as $$
declare
  collect constant text := 'select array_agg(r::text order by r::text collate "C") from (%s) r';
  line text;
  ours int := 0;
  whole int := 0;
  partial int := 0;
  above text := 'nothing';
  appended text := 'nothing';
  found_rows text[];
  expected text[];
begin
  for line in execute 'explain (costs off) ' || query loop
    ours := ours + (line like '%(HashGraphAggregate)%')::int;
    partial := partial + (line ~ 'Partial .*Aggregate')::int;
    whole := whole + (line ~ '(->|^) *(Hash|Group|)Aggregate')::int;
    above := case when line ~ 'Finalize .*Aggregate' then 'Finalize' else above end;
    appended := coalesce(substring(line from '(Parallel Append|Merge Append|Append)'), appended);
  end loop;
  execute format(collect, query) into found_rows;
  perform set_config('hashgraph.enabled', 'off', true);
  execute format(collect, query) into expected;
  perform set_config('hashgraph.enabled', 'on', true);
  return format('%s, %s rows: %s over %s of %s by HashGraphAggregate, %s partial and %s whole by PostgreSQL',
                case when found_rows is not distinct from expected then 'same' else 'DIFFERENT' end,
                coalesce(cardinality(expected), 0), above, appended, ours, partial, whole);
end
$$;

create table t_a (k int, g int, s text, i4 int, i8 int8, n numeric, b bool) partition by hash (k);
create table t_b (k int, h int, w int, m numeric) partition by hash (k);
select format('create table t_a%s partition of t_a for values with (modulus 5, remainder %1$s)', i),
       format('create table t_b%s partition of t_b for values with (modulus 5, remainder %1$s)', i) from generate_series(0, 4) i \gexec
insert into t_a select i % 400, case when i % 9 > 0 then i % 9 end, 'text ' || i % 13, case when i % 7 > 0 then i * 7919 % 10007 - 5000 end,
  (i - 1000)::int8 << 22, case i % 5 when 0 then i * 0.01 when 1 then i when 2 then i * 1e15 when 3 then 1 / (i + 1.0) end, i % 3 = 0
  from generate_series(1, 2000) i;
insert into t_b select i % 500, case when i % 4 > 0 then i % 4 end, i % 50, i * 0.125 from generate_series(1, 1500) i;
-- a partition of rows without a partner, and one of no rows
delete from t_a2;
delete from t_b3;
analyze t_a, t_b;
set enable_partitionwise_join = on;
set enable_partitionwise_aggregate = on;
set hashgraph.force = on;

explain (costs off) select g, sum(i4) from t_a join t_b using (k) where k < 100 group by g having count(*) > 1;

-- partial groups
select parts_check('select g, sum(i4), count(*), max(w) from t_a join t_b using (k) group by g');
select parts_check('select count(*), count(i4), sum(i4), sum(i8), sum(n), avg(i4), avg(i8), avg(n), avg(m), min(s), max(n), stddev(i4), var_pop(n), bool_and(b), bit_or(w) from t_a join t_b using (k)');
select parts_check('select g, h, s, count(*), sum(i8), sum(n), avg(i4), avg(n), stddev(i8), max(s), bool_or(b) from t_a join t_b using (k) group by g, h, s');
select parts_check('select g % 2, sum(i4 + w) * 2, avg(n * m), count(*) filter (where w > 20), sum(i8) filter (where g is null) from t_a join t_b using (k) group by 1');
select parts_check('select g, sum(w) + 1 from t_a join t_b using (k) group by g having sum(i4) > 0 and max(m) > 3');
select parts_check('select count(*) from t_a join t_b using (k) having max(n) > 1e30');
select parts_check('select g, h from t_a join t_b using (k) group by g, h');
select parts_check('select 1 as one, count(*) from t_a join t_b using (k) group by 1');
select parts_check('select h, count(g), sum(w), avg(n) from t_a left join t_b using (k) group by h');
select parts_check('select g, h, count(*), sum(w), sum(i8) from t_a full join t_b using (k) group by g, h');
select parts_check('select g, count(*), avg(n) from t_a a where exists (select from t_b b where b.k = a.k) group by g');
select parts_check('select g, count(*), sum(n) from t_a a where not exists (select from t_b b where b.k = a.k) group by g');
select parts_check('select g, sum(w) from t_a join t_b using (k) where i4 < -10000 group by g');
select parts_check('select sum(w), avg(n), max(s) from t_a join t_b using (k) where i4 < -10000');
select parts_check('select g, c.h, sum(b.w), sum(c.m) from t_a join t_b b using (k) join t_b c using (k) group by g, c.h');
-- in order
select parts_check('select s, sum(i4) from t_a join t_b using (k) group by s order by s desc limit 4');

-- whole groups
select parts_check('select k, sum(i4), count(*), avg(n) from t_a join t_b using (k) group by k');
select parts_check('select g, k, h, max(s) from t_a join t_b using (k) group by g, k, h having count(*) > 2');
select parts_check('select k, count(*) from t_a left join t_b using (k) group by k');

-- of partitions that are left: by constants, by parameters of a generic plan, and by what an initial plan returns
select parts_check('select g, sum(i4) from t_a join t_b using (k) where k in (3, 4) group by g');
create table t_r (k int, g int, v numeric) partition by range (k);
create table t_q (k int, w int) partition by range (k);
select format('create table t_r%s partition of t_r for values from (%s) to (%s)', i, i * 100, i * 100 + 100),
       format('create table t_q%s partition of t_q for values from (%s) to (%s)', i, i * 100, i * 100 + 100) from generate_series(0, 3) i \gexec
insert into t_r select i * 5 % 400, i % 6, i * 0.5 from generate_series(1, 80) i;
insert into t_q select i, i % 11 from generate_series(0, 399) i where i < 100 or i % 5 = 0;
analyze t_r, t_q;
select parts_check('select g, avg(v), sum(w) from t_r join t_q using (k) where k between 90 and 210 group by g');
select parts_check('select g, avg(v), sum(w) from t_r join t_q using (k) where k > (select 250 + count(*) from t_q where w > 100) group by g');
prepare t_some (int) as select g, avg(v), sum(w), count(*) from t_r join t_q using (k) where k < $1 group by g order by g;
set plan_cache_mode = force_generic_plan;
execute t_some (120);
execute t_some (-1);
set hashgraph.enabled = off;
execute t_some (120);
reset hashgraph.enabled;
deallocate t_some;
reset plan_cache_mode;

-- again, with parameters and without
select parts_check('select x, s.* from (values (0), (30), (60)) v(x), lateral (select g, sum(i4 + x), avg(n), count(*) filter (where w > x) from t_a join t_b using (k) where w > x - 30 group by g) s');
select parts_check('select x, (select sum(n) from t_a join t_b using (k) where w = x) from generate_series(0, 20, 5) x');
select parts_check('select x, s.* from generate_series(1, 3) x left join lateral (select h, count(*) from t_a join t_b using (k) where g = x group by h offset 0) s on s.h < x');
select parts_check('select k, count(distinct w), count(distinct i4), sum(i4) from t_a join t_b using (k) group by k');
begin;
declare c scroll cursor for select g, sum(i4) from t_a join t_b using (k) group by g order by g;
fetch 2 from c;
fetch backward 1 from c;
fetch last from c;
fetch first from c;
commit;

-- left to PostgreSQL
create function t_add(numeric, numeric) returns numeric language sql immutable as 'select coalesce($1, 0) + coalesce($2, 0)';
create aggregate t_sum(numeric) (sfunc = t_add, stype = numeric);
select parts_check('select g, t_sum(n) from t_a join t_b using (k) group by g') ~ '^same.* 0 by HashGraphAggregate';
select parts_check('select g, count(distinct w) from t_a join t_b using (k) group by g') ~ '^same.* 0 by HashGraphAggregate';
select parts_check('select k, count(distinct w), sum(distinct n), sum(i4) from t_a join t_b using (k) group by k') ~ '^same.* 0 by HashGraphAggregate';
select parts_check('select k, string_agg(s, '','' order by s, i4) from t_a join t_b using (k) group by k') ~ '^same.* 0 by HashGraphAggregate';
select parts_check('select g, sum(w + (random() * 0)::int) from t_a join t_b using (k) group by g');
select parts_check('select g, sum((select max(w) from t_q where t_q.k = t_b.w)) from t_a join t_b using (k) group by g');
select parts_check('select g, h, sum(w) from t_a join t_b using (k) group by rollup (g, h)') ~ '^same.* 0 by HashGraphAggregate';
select parts_check('select g, round(sum(w::float8)) from t_a join t_b using (k) group by g');
set enable_partitionwise_aggregate = off;
select parts_check('select g, sum(i4) from t_a join t_b using (k) group by g');
reset enable_partitionwise_aggregate;
set enable_partitionwise_aggregate = on;

-- partitions of partitions: partial groups below whole ones, and below partial ones
create table t_m (k int, l int, v int, n numeric) partition by list (k);
create table t_m0 partition of t_m for values in (0, 1) partition by hash (l);
create table t_m00 partition of t_m0 for values with (modulus 2, remainder 0);
create table t_m01 partition of t_m0 for values with (modulus 2, remainder 1);
create table t_m1 partition of t_m for values in (2);
create table t_o (like t_m) partition by list (k);
create table t_o0 partition of t_o for values in (0, 1) partition by hash (l);
create table t_o00 partition of t_o0 for values with (modulus 2, remainder 0);
create table t_o01 partition of t_o0 for values with (modulus 2, remainder 1);
create table t_o1 partition of t_o for values in (2);
insert into t_m select i % 3, i % 100, i, i * 0.01 from generate_series(1, 900) i;
insert into t_o select i % 3, i % 60, i % 8, i from generate_series(1, 300) i;
analyze t_m, t_o;
select parts_check('select a.k, sum(a.v), avg(a.n), count(*) from t_m a join t_o b on a.k = b.k and a.l = b.l group by a.k');
select parts_check('select b.v, sum(a.v), avg(a.n), count(*) from t_m a join t_o b on a.k = b.k and a.l = b.l group by b.v');
select parts_check('select a.k, a.l, sum(a.v), avg(a.n) from t_m a join t_o b on a.k = b.k and a.l = b.l group by a.k, a.l');
select parts_check('select sum(a.v), avg(a.n), min(b.n) from t_m a join t_o b on a.k = b.k and a.l = b.l');

-- in several processes
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
explain (costs off) select g, sum(i4) from t_a join t_b using (k) where k < 100 group by g having count(*) > 1;
select parts_check('select g, sum(i4), count(*), max(w) from t_a join t_b using (k) group by g');
select parts_check('select count(*), count(i4), sum(i4), sum(i8), sum(n), avg(i4), avg(i8), avg(n), avg(m), min(s), max(n), stddev(i4), var_pop(n), bool_and(b), bit_or(w) from t_a join t_b using (k)');
select parts_check('select g, h, s, count(*), sum(i8), sum(n), avg(i4), avg(n), stddev(i8), max(s), bool_or(b) from t_a join t_b using (k) group by g, h, s having count(*) > 1') ~ '^same.* 5 by HashGraphAggregate';
select parts_check('select h, count(g), sum(w), avg(n) from t_a left join t_b using (k) group by h');
select parts_check('select g, h, count(*), sum(w), sum(i8) from t_a full join t_b using (k) group by g, h');
select parts_check('select sum(w), avg(n), max(s) from t_a join t_b using (k) where i4 < -10000');
select parts_check('select b.v, sum(a.v), avg(a.n), count(*) from t_m a join t_o b on a.k = b.k and a.l = b.l group by b.v');
select parts_check('select k, sum(i4), count(*), avg(n) from t_a join t_b using (k) group by k') ~ '^same';
select parts_check('select a.k, sum(a.v), avg(a.n), count(*) from t_m a join t_o b on a.k = b.k and a.l = b.l group by a.k') ~ '^same';
select parts_check('select x, (select sum(n) from t_a join t_b using (k) where w = x) from generate_series(0, 20, 5) x') ~ '^same';
set parallel_leader_participation = off;
select parts_check('select g, sum(n), avg(i8), count(*) from t_a join t_b using (k) group by g');
reset parallel_leader_participation;
-- partitions that no two processes share
select format('alter table t_a%s set (parallel_workers = 0)', i), format('alter table t_b%s set (parallel_workers = 0)', i) from generate_series(0, 4) i \gexec
select parts_check('select g, sum(n), avg(i8), count(*) from t_a join t_b using (k) group by g');
select parts_check('select k, sum(n), avg(i8), count(*) from t_a join t_b using (k) group by k');
select format('alter table t_a%s reset (parallel_workers)', i), format('alter table t_b%s reset (parallel_workers)', i) from generate_series(0, 4) i \gexec
reset hashgraph.force;

-- as prices say: the groups of a large partition are ours, and are combined with PostgreSQL's own of small ones
set hashgraph.min_rows = 1000;
insert into t_r select i % 100, i % 6, i * 0.25 from generate_series(1, 20000) i;
analyze t_r;
select parts_check('select g, avg(v), sum(v), stddev(v), sum(w), count(*), max(w), avg(w) from t_r join t_q using (k) group by g');
set max_parallel_workers_per_gather = 0;
select parts_check('select g, avg(v), sum(v), stddev(v), sum(w), count(*), max(w), avg(w) from t_r join t_q using (k) group by g');
select parts_check('select sum(v), avg(w), min(v), count(*) from t_r join t_q using (k) having count(*) > 1');
set enable_hashagg = off;
select parts_check('select g, avg(v), sum(v) from t_r join t_q using (k) group by g') ~ '^same.* 0 by HashGraphAggregate';
reset enable_hashagg;
reset hashgraph.min_rows;
-- small ones are all PostgreSQL's
select parts_check('select g, avg(v), sum(w) from t_r join t_q using (k) where k >= 100 group by g') ~ '^same.* 0 by HashGraphAggregate';

drop table t_a, t_b, t_r, t_q, t_m, t_o;
drop aggregate t_sum(numeric);
drop function t_add, parts_check;
