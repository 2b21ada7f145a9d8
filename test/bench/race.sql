-- race.sql
--     Run a query in several variants in turn, and compare their times and results.
--
-- race(query, variants, runs, at_least_ms): a variant is a list of settings,
-- "name=value;name=value", set for its turns; the others have those settings as the session
-- began with them.  Each of the runs takes every variant once, one after the other, so that
-- whatever disturbs the machine disturbs all of them.  A turn repeats the query until it has
-- lasted at_least_ms, and counts its mean.
--
-- ms[v] is variant v's median time in milliseconds, planning and all; times are all of them, run by
-- run and variant by variant; costs[v] is the planner's cost; nodes[v] says whether the plan has a node of
-- HashGraph; served[v] is what part of the blocks that joins scanned meanwhile, in any session, came from resident
-- columns, NULL where no table was looked for there; result is the rows in order, or their md5 where they are long.
--
-- It is an error when two runs return different rows, when a variant with hashgraph.enabled=off
-- has a HashGraph node in its plan, and when one with hashgraph.force=on has none.
create function race(query text, variants text[], runs int, at_least_ms float8 default 0,
  out ms float8[], out times float8[], out costs float8[], out nodes bool[], out served float8[], out result text)
language plpgsql as $$
declare
  names constant text[] := array(
    select distinct split_part(setting, '=', 1)
    from unnest(variants) variant, string_to_table(variant, ';') setting where setting <> '');
  statement constant text := format(
    'select string_agg(q::text, chr(10) order by q::text collate "C") from (%s) q', query);
  name text;
  setting text;
  variant text;
  plan json;
  uses_node bool;
  started timestamptz;
  elapsed float8;
  repeats int;
  from_residents bigint[] := array_fill(0::bigint, array[cardinality(variants)]);
  from_heap bigint[] := from_residents;
  before record;
  after record;
  answer text;
  first_answer text;
begin
  -- Wait for a GPU that is starting.
  perform from hashgraph_devices();
  times := '{}';
  for run in 0..runs loop
    for v in 1..cardinality(variants) loop
      variant := variants[v];
      foreach name in array names loop
        execute format('reset %s', name);
      end loop;
      foreach setting in array string_to_array(variant, ';') loop
        perform set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), false);
      end loop;

      if run = 0 then
        -- Look at the plan only.
        execute 'explain (format json) ' || statement into plan;
        uses_node := plan::text ~ '"Custom Plan Provider": "HashGraph';
        if uses_node and variant ~ 'hashgraph.enabled=off'
          or not uses_node and variant ~ 'hashgraph.force=on' then
          raise exception 'variant % % a HashGraph node for: %', variant,
            case when uses_node then 'has' else 'does not have' end, query;
        end if;
        nodes := nodes || uses_node;
        costs := costs || (plan -> 0 -> 'Plan' ->> 'Total Cost')::float8;
        continue;
      end if;

      select * into before from hashgraph_stat_resident;
      repeats := 0;
      started := clock_timestamp();
      loop
        execute statement into answer;
        repeats := repeats + 1;
        elapsed := extract(epoch from clock_timestamp() - started) * 1000;
        exit when elapsed >= at_least_ms;
      end loop;
      times := times || elapsed / repeats;
      select * into after from hashgraph_stat_resident;
      from_residents[v] := from_residents[v] + after.blocks_served - before.blocks_served;
      from_heap[v] := from_heap[v] + after.blocks_from_heap - before.blocks_from_heap;

      if cardinality(times) = 1 then
        first_answer := answer;
      elsif answer is distinct from first_answer then
        raise exception 'variant % returns %, not %, for: %', variant, left(answer, 200),
          left(first_answer, 200), query;
      end if;
    end loop;
  end loop;

  foreach name in array names loop
    execute format('reset %s', name);
  end loop;
  ms := array(
    select (select percentile_cont(0.5) within group (order by times[i])
            from generate_series(v, runs * cardinality(variants), cardinality(variants)) i)
    from generate_series(1, cardinality(variants)) v order by v);
  served := array(
    select from_residents[v] / nullif(from_residents[v] + from_heap[v], 0)::float8
    from generate_series(1, cardinality(variants)) v order by v);
  result := case when length(first_answer) > 200 then md5(first_answer) else first_answer end;
end $$;
