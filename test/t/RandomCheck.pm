# RandomCheck.pm
#
# Random queries through hashgraph and through PostgreSQL's own plans, for join_random.pl and join_queries.pl.
#
#	random_rounds($seed, $queries)		rounds of at most 1000 queries, each with tables of its own
#	random_databases($node, @rounds)	creates the database of each round, with every other table resident
#	run_random($node, $database, $backend, @batch)	runs queries in one session
#
# A round is { seed, database, queries }, a query { set => SET commands, sql, ordered => its order is compared too,
# types => [ the types of joins that EXPLAIN may show for it ] }.  run_random() returns what random_check() says of each.

package RandomCheck;

use strict;
use warnings;

use Exporter 'import';
use HashGraphTest;
use List::Util qw(min);
use PostgreSQL::Test::Utils;
use RandomJoins;
use Test::More;

our @EXPORT = qw(random_rounds random_databases run_random);

my $round_size = 1000;

# random_answer(query, ordered): how many rows a query has and a digest of them, of their order too if that is asked
# for, or its SQLSTATE and message.  A third of the whole queries is formed into rows of another query, another third stands in
# one as it is, and the rest creates a table; joins never do.
#
# random_check(query, ordered, types, backend): 'same, without the node' where no plan node is ours; 'same, N rows' or
# 'same, error SQLSTATE' with some of these, in this order:
#
#	', by TYPES'		HashGraph joins ran, one of them may have been of the types asked for
#	', joined'			the plan has the node that joins
#	', aggregated'		... the one that aggregates
#	', sorted'			... the one that sorts
#	', looked up'		... the one that looks rows up for a subquery
#	', in parallel'		a join for several processes
#	', below Gather'		one of our nodes is below a Gather
#	', served'			tables would be served from resident columns
#	', spilled'			a join went to disk, or another node did (of each fourth query, which EXPLAIN ANALYZE runs too)
#
# 'same, without an answer in time' where a query was cancelled by statement_timeout; otherwise 'different, ...' or 'error, ...'.
#
# That joins ran shows in hashgraph_last_joins(), which then is not what it was; those in
# parallel workers do not show there, and the plan stands for them.
my $check = <<'SQL';
create extension if not exists hashgraph;
create function random_answer(query text, ordered bool, out n bigint, out digest text, out error text, out message text)
language plpgsql as $$
declare
  -- only whole queries give each column a name of its own
  way constant int := case when query ~ ' as c1\M' then abs(hashtext(query) % 3) else 1 + abs(hashtext(query) % 2) end;
  digest_of constant text := 'select count(*), '
    || case when ordered then 'md5(string_agg(hashtextextended(r::text, 0)::text, '' ''))' else 'sum(hashtextextended(r::text, 0))::text' end
    || ' from %s r';
begin
  if way = 0 then
    execute 'create temp table random_rows as ' || query;
    execute format(digest_of, 'random_rows') into n, digest;
    drop table random_rows;
  else
    execute format(digest_of, format(case when way = 1 then '(select * from (%s) q offset 0)' else '(%s)' end, query)) into n, digest;
  end if;
exception when query_canceled or others then
  n := null;
  digest := null;
  error := sqlstate;
  message := sqlerrm;
end
$$;

create function random_check(query text, ordered bool, types text[], backend text) returns text
language plpgsql as $$
declare
  ours record;
  theirs record;
  line text;
  planned text[] := '{}';
  nodes text := '';
  below_gather int;
  in_workers bool := false;
  in_parallel bool := false;
  served bool := false;
  before text;
  after text;
  elsewhere text;
  ran text[];
  spilled bool;
  ours_node bool;
  missing text;
  surplus text;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  begin
    for line in execute 'explain ' || query loop
      planned := planned || substring(line from '^ *Join Type: (.*)$');
      if line ~ '->|cost=' then
        below_gather := case when line ~ 'Gather' then least(below_gather, length(substring(line from '^ *')))
                             when length(substring(line from '^ *')) > below_gather then below_gather end;
        nodes := nodes || coalesce(substring(line from 'HashGraph(?:Join|Aggregate|Sort|Lookup)'), '');
        in_workers := in_workers or (below_gather is not null and line ~ 'HashGraph');
      end if;
      in_parallel := in_parallel or line ~ 'Parallel Custom Scan .HashGraphJoin';
      served := served or line ~ 'Resident Blocks: [1-9]';
    end loop;
  exception when others then
    -- expressions over constants are evaluated while the query is planned
    if sqlstate ~ '^(42|57|XX)' then
      return format('error, %s: %s', sqlstate, sqlerrm);
    end if;
    nodes := 'error';
  end;
  -- nothing to compare, and core's nested loops may last for ever
  if nodes = '' then
    return 'same, without the node';
  end if;
  select string_agg(j::text, ' ') into before from hashgraph_last_joins() j;
  ours := random_answer(query, ordered);
  if ours.error = '57014' then
    return 'same, without an answer in time';
  end if;
  select string_agg(j::text, ' '), array_agg(j.join_type),
         -- cached HashGraphs are joined where it is cheaper, under both backends
         string_agg(distinct j.backend, ' ')
           filter (where j.backend <> random_check.backend and j.build is distinct from 'resident'),
         bool_or(j.spilled_bytes > 0)
    into after, ran, elsewhere, spilled from hashgraph_last_joins() j;
  if after is not distinct from before then
    ran := case when planned <> '{}' and in_workers then planned end;
    spilled := false;
  elsif elsewhere is not null then
    return 'error, it ran on ' || elsewhere;
  end if;
  if ours.error is null and nodes ~ 'Aggregate|Sort|Lookup' and hashtext(query) % 4 = 0 then
    for line in execute 'explain (analyze, timing off) ' || query loop
      ours_node := case when line ~ 'cost=' then line ~ 'HashGraph' else ours_node end;
      spilled := spilled or (ours_node and line ~ '^ *(Partitions|Disk Usage): [1-9]');
    end loop;
  end if;
  perform set_config('hashgraph.enabled', 'off', false);
  -- otherwise core may take nested loops that last for ever
  perform set_config('enable_seqscan', 'on', false), set_config('enable_material', 'on', false),
          set_config('max_parallel_workers_per_gather', '0', false);
  theirs := random_answer(query, ordered);
  if theirs.error = '57014' then
    return 'same, without an answer in time';
  elsif (ours.n, ours.digest, ours.error) is not distinct from (theirs.n, theirs.digest, theirs.error) then
    return format('same, %s%s%s%s%s%s%s%s%s%s', coalesce('error ' || ours.error, ours.n || ' rows'),
                  case when ran && types then ', by ' || array_to_string(ran, '+') end,
                  case when nodes ~ 'Join' then ', joined' end,
                  case when nodes ~ 'Aggregate' then ', aggregated' end,
                  case when nodes ~ 'Sort' then ', sorted' end,
                  case when nodes ~ 'Lookup' then ', looked up' end,
                  case when in_parallel then ', in parallel' end,
                  case when in_workers then ', below Gather' end,
                  case when served then ', served' end,
                  case when spilled then ', spilled' end);
  elsif ours.error is not null or theirs.error is not null then
    return format('different, %s instead of %s', coalesce('error ' || ours.error || ' ' || ours.message, ours.n || ' rows'),
                  coalesce('error ' || theirs.error || ' ' || theirs.message, theirs.n || ' rows'));
  end if;
  execute format('create temp table theirs as select r::text from (%s) r', query);
  perform set_config('hashgraph.enabled', 'on', false);
  execute format('create temp table ours as select r::text from (%s) r', query);
  select string_agg(left(r, 200), ' ') into missing
    from (select r from theirs except all select r from ours limit 3) s;
  select string_agg(left(r, 200), ' ') into surplus
    from (select r from ours except all select r from theirs limit 3) s;
  drop table ours, theirs;
  return format('different, %s rows instead of %s%s; missing: %s; surplus: %s',
                ours.n, theirs.n, case when ordered then ', in order' end, missing, surplus);
exception when others then
  return format('error, %s: %s', sqlstate, sqlerrm);
end
$$;
SQL

sub random_rounds
{
	my ($seed, $queries) = @_;

	return map { { seed => $seed + $_, database => "random_$_", queries => min($round_size, $queries - $_ * $round_size) } }
	  0 .. int(($queries - 1) / $round_size);
}

sub random_databases
{
	my ($node, @rounds) = @_;

	foreach my $round (@rounds)
	{
		my $sql = sub { return $node->safe_psql($round->{database}, shift) };

		$node->safe_psql('postgres', "create database $round->{database}");
		$sql->($check . random_tables($round->{seed}));
		$sql->(q{select hashgraph_resident_add(oid, keys => (select array_agg("column") from hashgraph_resident_advise(c.oid) where graph_bytes > 0))
			from pg_class c where relkind = 'r' and relname ~ '^t[0-9]*[02468](_|$)'});
		# a vacuum that comes soon after the rows sets no bits
		wait_for(sub {
			$sql->(q{select sum(blocks_resident) > 0.95 * sum(blocks_total) from hashgraph_resident where state <> 'declined'}) eq 't'
		}, 30, every => 0.5, between => sub { $sql->('vacuum') });
	}
	return;
}

sub run_random
{
	my ($node, $database, $backend, @batch) = @_;
	my @lines = (
		"set hashgraph.force = on;", "set statement_timeout = '60s';",
		"set hashgraph.backend = $backend;");
	my ($stdout, $stderr);

	foreach my $n (0 .. $#batch)
	{
		my ($set, $sql, $ordered, $types) = @{ $batch[$n] }{qw(set sql ordered types)};

		push @lines, "\\echo query $n", $set, sprintf(q{select random_check($q$%s$q$, %s, '{%s}', '%s');},
			$sql, $ordered ? 'true' : 'false', join(',', map { "\"$_\"" } @{ $types // [] }), $backend);
	}
	$node->psql($database, join("\n", @lines),
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0,
		timeout => $PostgreSQL::Test::Utils::timeout_default + 2 * @batch);
	diag($stderr) if $stderr ne '';

	my %said = $stdout =~ /^query (\d+)\n(?!query)(.*)$/mg;
	return map { $said{$_} // 'error, no result' } 0 .. $#batch;
}

1;
