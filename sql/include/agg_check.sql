-- Compare, and tell who aggregates.
create or replace function agg_check(query text) returns text language plpgsql as $$
declare
  line text;
  who text := 'core';
begin
  perform set_config('hashgraph.enabled', 'on', true), set_config('hashgraph.force', 'on', true);
  for line in execute 'explain (costs off) ' || query loop
    if line like '%Custom Scan (HashGraphAggregate)%' then
      who := 'HashGraphAggregate';
    end if;
  end loop;
  return format('%s, aggregated by %s', join_check(query), who);
end
$$;
