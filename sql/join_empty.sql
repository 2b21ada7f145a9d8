--
-- An empty side that settles the result: the other side is not read.
--
set hashgraph.force = on;
set enable_nestloop = off;
set enable_mergejoin = off;
set max_parallel_workers_per_gather = 0;

create table e_full as select i as k, i as v from generate_series(1, 2000) i;
create table e_large as select i as k, i as v from generate_series(1, 20000) i;
analyze e_full, e_large;
create sequence e_outer_reads;
create sequence e_inner_reads;

-- each side counts the rows that are read of it
create function e_read(side text, k int) returns int language plpgsql stable cost 1 as $$
begin
  if side = 'o' then perform nextval('e_outer_reads'); else perform nextval('e_inner_reads'); end if;
  return k;
end
$$;

-- run a join, and return its number of rows and which sides were read
create function e_run(query text, enabled bool) returns text language plpgsql as $$
declare
  line text;
  nrows bigint;
  reads text := '';
  s text;
begin
  perform set_config('hashgraph.enabled', enabled::text, true);
  perform setval('e_outer_reads', 1, false), setval('e_inner_reads', 1, false);
  for line in execute 'explain (costs off) ' || query loop
    if line ~ 'Join' and (line ~ 'HashGraphJoin') <> enabled then
      raise exception 'unexpected join: %', line;
    end if;
    exit when line ~ 'Join';
  end loop;
  execute format('select count(*) from (%s) q', query) into nrows;
  foreach s in array array['outer', 'inner'] loop
    execute format('select is_called from e_%s_reads', s) into strict line;
    reads := reads || format(', %s %s', s, case when line::bool then 'read' else 'not read' end);
  end loop;
  return format('%s rows%s', nrows, reads);
end
$$;

-- every join type as SQL spells it, with an outer side that is expected to be large or an inner one
-- that is expected to be small empty, through a HashGraph join and through PostgreSQL's hash join
create function e_types(o text, i text)
  returns table (join_type text, hashgraph text, hash text) language plpgsql as $$
declare
  head text := format('from (select e_read(''o'', k) as k, v from %s offset 0) o ', o);
  side text := format('(select e_read(''i'', k) as k, v from %s offset 0) i ', i);
  query text;
begin
  foreach join_type in array array['inner', 'left', 'right', 'full', 'semi', 'anti'] loop
    query := 'select o.v ' || head || case
      when join_type = 'semi' then 'where exists (select from ' || side || 'where o.k = i.k)'
      when join_type = 'anti' then 'where not exists (select from ' || side || 'where o.k = i.k)'
      else join_type || ' join ' || side || 'on o.k = i.k' end;
    hashgraph := e_run(query, true);
    hash := e_run(query, false);
    return next;
  end loop;
end
$$;
select * from e_types('e_large where length(v::text) < 0', 'e_full');
select * from e_types('e_full', 'e_full where v < 0');
select * from e_types('e_large where length(v::text) < 0', 'e_full where v < 0');
select * from e_types('e_full', 'e_full');

-- what is not read is not executed
create function e_executions(query text) returns setof text language plpgsql as $$
declare
  line text;
begin
  for line in execute 'explain (analyze, costs off, timing off, summary off) ' || query loop
    if line ~ 'Scan on' then
      return next substring(line from 'Scan on \w+') ||
        case when line ~ 'never executed' then ', never executed' else ', executed' end;
    end if;
  end loop;
end
$$;
select e_executions('select * from (select k from e_large where length(v::text) < 0 offset 0) o left join (select k from e_full offset 0) i using (k)');
-- ... which of two sides with few expected rows is the dearer one
select e_executions('select o.v from e_large o join e_full i on o.k = i.k and o.v + 0 = 5 and o.v - 1 = 9 and i.v < 0');
select e_executions('select o.v from e_full o join e_large i on o.k = i.k and i.v + 0 = 5 and i.v - 1 = 9 and o.v < 0');

-- the rows fetched early are joined once, with and without a filter, in memory and on disk
select count(*), sum(o.v), sum(i.v)
  from (select * from e_full offset 0) o left join (select * from e_full offset 0) i using (k);
select count(*), sum(o.v), sum(i.v) from e_full o left join e_full i using (k);
set work_mem = '64kB';
select count(*), sum(o.v), sum(i.v)
  from (select * from e_full offset 0) o join (select k, v, repeat('x', 100) from e_full offset 0) i using (k);
reset work_mem;
select o.v from e_full o left join e_full i using (k) limit 3;

-- again and again: the outer side is empty in some executions, and the inner side follows each
select x, n from generate_series(0, 3) x, lateral (
  select count(*) n from (select * from e_full where k % 2 = 0 and x % 2 = 1 offset 0) o
    join (select * from e_full where k > x * 100 offset 0) i using (k)) j order by x;
select x, n from generate_series(0, 3) x, lateral (
  select count(*) n from (select * from e_full where v < 0 offset 0) o
    left join (select * from e_full where k > x offset 0) i using (k)) j order by x;
select x, n from generate_series(0, 3) x, lateral (
  select count(*) n from (select * from e_full where v > 1990 + x offset 0) o
    left join (select * from e_full offset 0) i using (k)) j order by x;

-- an outer side that stays empty is read once
select setval('e_outer_reads', 1, false), setval('e_inner_reads', 1, false);
select sum(n) from generate_series(1, 5) x, lateral (
  select count(*) n from (select * from e_full where e_read('o', v) < 0 offset 0) o
    left join (select e_read('i', k) k from e_full where k > x offset 0) i using (k)) j;
select o.last_value as outer_rows, i.is_called as inner_read from e_outer_reads o, e_inner_reads i;

drop function e_types, e_executions, e_run, e_read;
drop table e_full, e_large;
drop sequence e_outer_reads, e_inner_reads;
