-- race.sql
--     Run a query in several variants in turn, and compare their times and results.
--
-- race(query, variants, runs): a variant is a list of settings, "name=value;name=value", set
-- for that run.  Each of the runs takes every variant once, one after the other, so that
-- whatever disturbs the machine disturbs all of them.  ms[i] is variant i's median time in
-- milliseconds.  It is an error when two runs return different rows, or when a variant that
-- does not say hashgraph.enabled=off has no HashGraphJoin in its plan, or the other way round.
-- Merge joins and nested loops are switched off: PostgreSQL's hash join is what is compared.
create function race(query text, variants text[], runs int, out ms float8[], out result text)
language plpgsql as $$
declare
  defaults constant text :=
    'enable_mergejoin=off;enable_nestloop=off;hashgraph.enabled=on;hashgraph.backend=auto;'
    'hashgraph.force=off';
  setting text;
  variant text;
  line text;
  uses_node bool;
  started timestamptz;
  answer text;
  times float8[] := '{}';
begin
  -- Wait for a GPU that is starting.
  perform from hashgraph_devices();
  for run in 0..runs loop
    foreach variant in array variants loop
      foreach setting in array string_to_array(defaults || ';' || variant, ';') loop
        perform set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), false);
      end loop;
      if run = 0 then
        -- Look at the plan only.
        uses_node := false;
        for line in execute 'explain (costs off) ' || query loop
          uses_node := uses_node or line ~ 'HashGraphJoin';
        end loop;
        if uses_node = (variant ~ 'hashgraph.enabled=off') then
          raise exception 'variant % % HashGraphJoin for: %', variant,
            case when uses_node then 'has' else 'does not have' end, query;
        end if;
        continue;
      end if;
      started := clock_timestamp();
      execute format('select row(q.*)::text from (%s) q', query) into answer;
      times := times || extract(epoch from clock_timestamp() - started)::float8 * 1000;
      result := coalesce(result, answer);
      if answer is distinct from result then
        raise exception 'variant % returns %, not %, for: %', variant, answer, result, query;
      end if;
    end loop;
  end loop;
  ms := array(
    select (select percentile_disc(0.5) within group (order by times[i])
            from generate_series(v, runs * cardinality(variants), cardinality(variants)) i)
    from generate_series(1, cardinality(variants)) v order by v);
end $$;
