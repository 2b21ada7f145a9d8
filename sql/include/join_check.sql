--
-- Functions that run a query twice, through HashGraph joins and through
-- PostgreSQL's own, and compare the two results as multisets of rows.
--
-- Rows are compared by their text: stricter than any operator, since a join must
-- return the very values that it read (1.00, not 1.0).
--

-- How many HashGraph joins the plan of a query has.
create or replace function join_nodes(query text) returns int language plpgsql as $$
declare
  line text;
  nodes int := 0;
begin
  for line in execute 'explain (costs off) ' || query loop
    if line like '%Custom Scan (HashGraphJoin)%' then
      nodes := nodes + 1;
    end if;
  end loop;
  return nodes;
end
$$;

-- An estimate for the topmost node of a query's plan: 'Plan Rows', 'Total Cost', ...
create or replace function plan_estimate(query text, estimate text) returns numeric language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (format json) ' || query into plan;
  return plan->0->'Plan'->>estimate;
end
$$;

-- Compare; returns e.g. 'same, 12 rows, by HashGraphJoin'.
create or replace function join_check(query text) returns text language plpgsql as $$
declare
  collect constant text := 'select array_agg(r::text order by r::text collate "C") from (%s) r';
  ours text[];
  theirs text[];
  nodes int;
  missing text;
  surplus text;
begin
  perform set_config('hashgraph.enabled', 'on', true), set_config('hashgraph.force', 'on', true);
  nodes := join_nodes(query);
  execute format(collect, query) into ours;
  perform set_config('hashgraph.enabled', 'off', true);
  if join_nodes(query) > 0 then
    raise exception 'hashgraph.enabled is off, and the plan has the node';
  end if;
  execute format(collect, query) into theirs;
  perform set_config('hashgraph.enabled', 'on', true);
  if ours is not distinct from theirs then
    return format('same, %s rows, by %s', coalesce(cardinality(ours), 0),
                  case when nodes > 0 then 'HashGraphJoin' else 'core' end);
  end if;
  select string_agg(r, ' ') into missing
    from (select unnest(theirs) r except all select unnest(ours) limit 5) s;
  select string_agg(r, ' ') into surplus
    from (select unnest(ours) r except all select unnest(theirs) limit 5) s;
  return format('DIFFERENT, %s rows instead of %s; missing: %s; surplus: %s',
                coalesce(cardinality(ours), 0), coalesce(cardinality(theirs), 0), missing, surplus);
end
$$;

-- Run a statement that changes a table both ways, undo it each time, and compare what
-- the table held in between.
create or replace function join_check_dml(statement text, changed text) returns text
language plpgsql as $$
declare
  collect constant text := 'select array_agg(r::text order by r::text collate "C") from %s r';
  found_rows text[];
  ours text[];
  nodes int;
begin
  perform set_config('hashgraph.force', 'on', true);
  foreach nodes in array array[1, 0] loop
    perform set_config('hashgraph.enabled', case nodes when 1 then 'on' else 'off' end, true);
    if sign(join_nodes(statement)) <> nodes then
      raise exception 'the plan has % nodes', join_nodes(statement);
    end if;
    begin
      execute statement;
      execute format(collect, changed) into found_rows;
      raise sqlstate 'ZZ001';
    exception when sqlstate 'ZZ001' then
      null;
    end;
    if nodes = 1 then
      ours := found_rows;
    end if;
  end loop;
  perform set_config('hashgraph.enabled', 'on', true);
  if ours is not distinct from found_rows then
    return format('same, %s rows then', coalesce(cardinality(ours), 0));
  end if;
  return format('DIFFERENT: %s instead of %s', ours, found_rows);
end
$$;
