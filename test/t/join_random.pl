# Random joins of every kind give the rows that PostgreSQL's own joins give, and random aggregates over one table.
#
# Each query runs twice, through HashGraph joins wherever they are possible and with
# hashgraph.enabled off, and the two results are compared as multisets of rows, by
# their text: what comes out must be the very values that went in.
#
# Every other table is resident, as far as its columns can be; in a build of HG_DEBUG=1 (HG_DEBUG_BUILD)
# each that a query scans is (test/fault/hg_fault_at_once.c).
#
# HG_SEED chooses the tables and the queries (the same seed means the same ones),
# HG_QUERIES how many for each backend (750, with HG_QUICK 250), in rounds of at most 1000 with tables of
# their own.  A failure shows the query with its settings; PG_TEST_NOCLEAN=1 keeps the
# server's files, with the tables in them.
#
# Devices: the device process gives the same rows.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use RandomJoins;
use List::Util qw(min sum0);
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{HG_SEED} // 20;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 250 : 750);
my $round_size = 1000;
# what is shown of the failures of a kind
my $most_shown = 5;

my %kinds = join_kinds();
my @kinds = sort keys %kinds;

# random_check(query, kinds, backend): 'same, without the node' where no plan node is ours, or
# 'same, N rows', with ', by TYPES' where HashGraph joins ran and one of them may have been of these
# kinds, ', aggregated' where the plan has the node that aggregates above one, ', in parallel' where
# it has a join for several processes, ', served' where tables would be served from resident columns, and ', spilled' where a join
# went to disk; 'different, ...' or 'error, ...'.
#
# That joins ran shows in hashgraph_last_joins(), which then is not what it was; those in
# parallel workers do not show there, and the plan stands for them.
my $check = <<'SQL';
create extension if not exists hashgraph;
create function random_check(query text, kinds text[], backend text) returns text
language plpgsql as $$
declare
  -- of half of the queries as rows that are formed, of the others as it comes
  digest constant text := 'select count(*) as n, sum(hashtextextended(r::text, 0)) as h from '
    || case when hashtext(query) % 2 = 0 then '(select * from (%s) q offset 0) r' else '(%s) r' end;
  ours record;
  theirs record;
  line text;
  planned text[] := '{}';
  aggregated bool := false;
  in_parallel bool := false;
  served bool := false;
  in_workers bool := false;
  by_node bool := false;
  before text;
  after text;
  elsewhere text;
  types text[];
  spilled bool;
  missing text;
  surplus text;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  for line in execute 'explain ' || format(digest, query) loop
    planned := planned || substring(line from '^ *Join Type: (.*)$');
    in_workers := in_workers or line ~ 'Gather';
    by_node := by_node or line ~ 'HashGraph(Join|Aggregate)';
    aggregated := aggregated or line ~ 'HashGraphAggregate';
    in_parallel := in_parallel or line ~ 'Parallel Custom Scan .HashGraphJoin';
    served := served or line ~ 'Resident Blocks: [1-9]';
  end loop;
  -- nothing to compare, and core's nested loops may last for ever
  if not by_node then
    return 'same, without the node';
  end if;
  select string_agg(j::text, ' ') into before from hashgraph_last_joins() j;
  execute format(digest, query) into ours;
  select string_agg(j::text, ' '), array_agg(j.join_type),
         -- cached HashGraphs are joined where it is cheaper, under both backends
         string_agg(distinct j.backend, ' ')
           filter (where j.backend <> random_check.backend and j.build is distinct from 'resident'),
         bool_or(j.spilled_bytes > 0)
    into after, types, elsewhere, spilled from hashgraph_last_joins() j;
  if after is not distinct from before then
    types := case when in_workers then planned end;
    spilled := false;
  elsif elsewhere is not null then
    return 'error, it ran on ' || elsewhere;
  end if;
  perform set_config('hashgraph.enabled', 'off', false);
  -- otherwise core may take nested loops that last for ever
  perform set_config('enable_seqscan', 'on', false), set_config('enable_material', 'on', false),
          set_config('max_parallel_workers_per_gather', '0', false);
  execute format(digest, query) into theirs;
  if ours is not distinct from theirs then
    return format('same, %s rows%s%s%s%s%s', ours.n,
                  case when types && kinds then ', by ' || array_to_string(types, '+') end,
                  case when aggregated then ', aggregated' end,
                  case when in_parallel then ', in parallel' end,
                  case when served then ', served' end,
                  case when spilled then ', spilled' end);
  end if;
  execute format('create temp table theirs as select r::text from (%s) r', query);
  perform set_config('hashgraph.enabled', 'on', false);
  execute format('create temp table ours as select r::text from (%s) r', query);
  select string_agg(left(r, 200), ' ') into missing
    from (select r from theirs except all select r from ours limit 3) s;
  select string_agg(left(r, 200), ' ') into surplus
    from (select r from ours except all select r from theirs limit 3) s;
  drop table ours, theirs;
  return format('different, %s rows instead of %s; missing: %s; surplus: %s',
                ours.n, theirs.n, missing, surplus);
exception when others then
  return format('error, %s: %s', sqlstate, sqlerrm);
end
$$;
SQL

# inputs are read in parallel wherever that is allowed
my $node = new_server('random', conf => ($ENV{HG_DEBUG_BUILD} ? "hashgraph.fault_resident_at_once = on\n" : '') . <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hashgraph.resident_memory = '64MB'
max_worker_processes = 40
wal_level = replica
CONF
my $version = major_version($node);

# The rounds: [ seed of the tables, database, queries ].
my @rounds = map { [ $seed + $_, "random_$_", min($round_size, $queries - $_ * $round_size) ] }
  0 .. int(($queries - 1) / $round_size);

# The queries of a kind in a round, each with its settings: [ SET commands, query ].
sub queries_of
{
	my ($kind, $round_seed, $count) = @_;

	srand($round_seed * 1000 + ord($kind));
	return map { [ random_settings($version), $kind eq 'aggregation' ? random_aggregation() : random_join($kind) ] } 1 .. $count;
}

# Run queries in one session; returns what random_check said of each.
sub run_queries
{
	my ($database, $kind, $backend, @batch) = @_;
	my $types = join(',', map { "\"$_\"" } @{ $kinds{$kind} // [] });
	my @lines = (
		"set hashgraph.force = on;", "set statement_timeout = '60s';",
		"set hashgraph.backend = $backend;");
	my ($stdout, $stderr);

	push @lines, "\\echo query $_", $batch[$_][0],
	  "select random_check(\$q\$$batch[$_][1]\$q\$, '{$types}', '$backend');"
	  for 0 .. $#batch;
	$node->psql($database, join("\n", @lines),
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0,
		timeout => $PostgreSQL::Test::Utils::timeout_default + 2 * @batch);
	diag($stderr) if $stderr ne '';

	my %said = $stdout =~ /^query (\d+)\n(?!query)(.*)$/mg;
	return map { $said{$_} // 'error, no result' } 0 .. $#batch;
}

note "HG_SEED=$seed HG_QUERIES=$queries";
foreach my $round (@rounds)
{
	my ($round_seed, $database) = @$round;

	$node->safe_psql('postgres', "create database $database");
	$node->safe_psql($database, $check . random_tables($round_seed));
	$node->safe_psql($database, q{select hashgraph_resident_add(oid, keys => (select array_agg("column") from hashgraph_resident_advise(c.oid) where graph_bytes > 0))
		from pg_class c where relkind = 'r' and relname ~ '^t[0-9]*[02468](_|$)'});
	# a vacuum that comes soon after the rows sets no bits
	wait_for(sub {
		$node->safe_psql($database, q{select sum(blocks_resident) > 0.95 * sum(blocks_total) from hashgraph_resident where state <> 'declined'}) eq 't' }, 30, every => 0.5, between => sub { $node->safe_psql($database, 'vacuum') });
}

foreach my $covered (backends())
{
	my ($backend, $label) = @$covered{qw(backend label)};
	my %types;
	my ($asked, $answered_by_node, $aggregated, $parallel, $served) = (0, 0, 0, 0, 0);

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$covered->{program}'");
	$node->reload;
	foreach my $kind (@kinds)
	{
		my ($total, $failed, @said) = (0, 0);

		foreach my $round (@rounds)
		{
			my ($round_seed, $database, $size) = @$round;
			my @batch = queries_of($kind, $round_seed, int(($size + $#kinds) / @kinds));
			my @answers = run_queries($database, $kind, $backend, @batch);

			$total += @batch;
			push @said, @answers;
			foreach my $n (grep { $answers[$_] !~ /^same,/ } 0 .. $#batch)
			{
				diag("seed $round_seed, query $n: $batch[$n][0]\n$batch[$n][1]\n--> $answers[$n]")
				  if $failed++ < $most_shown;
			}
		}

		my $by_node = grep { /, by / } @said;
		my $with_rows = grep { /^same, [1-9]/ } @said;
		my $spilled = grep { /, spilled$/ } @said;

		foreach my $answer (@said)
		{
			$types{$_}++ for $answer =~ /, by ([^,]*)/ ? split(/\+/, $1) : ();
		}
		is($failed, 0, "$label: $total random $kind joins agree with PostgreSQL's own");
		note "$by_node by the node, $with_rows with rows, $spilled went to disk";
		$asked += $total;
		$answered_by_node += $by_node;
		$aggregated += grep { /, aggregated/ } @said;
		$parallel += grep { /, in parallel/ } @said;
		$served += grep { /, served/ } @said;
		cmp_ok($by_node, '>=', 0.7 * $total, "$label: most of them were $kind joins of the node");
		cmp_ok($with_rows, '>=', 0.4 * $total, "$label: many of them had rows");
		cmp_ok($spilled, '>=', 0.03 * $total, "$label: some of them went to disk");
	}

	cmp_ok($answered_by_node, '>=', 0.8 * $asked, "$label: four of five queries ran the node");
	cmp_ok($aggregated, '>=', 0.25 * $asked, "$label: many were aggregated without rows");
	cmp_ok($parallel, '>=', 0.1 * $asked, "$label: many ran in several processes");
	cmp_ok($served, '>=', 0.1 * $asked, "$label: many were served from resident columns");
	# half as many as there are joins of a kind: they are quick, and so are their plans
	my ($total, $tables, @failed) = (0, 0);
	foreach my $round (@rounds)
	{
		my ($round_seed, $database, $size) = @$round;
		my @batch = queries_of('aggregation', $round_seed, int(($size + $#kinds) / @kinds / 2));
		my @answers = run_queries($database, 'aggregation', $backend, @batch);

		$total += @batch;
		$tables += grep { /, aggregated.*, served/ } @answers;
		push @failed, map { "seed $round_seed, aggregation $_: $batch[$_][0]\n$batch[$_][1]\n--> $answers[$_]" } grep { $answers[$_] !~ /^same,/ } 0 .. $#batch;
	}
	is(scalar @failed, 0, "$label: $total random aggregations of one table agree with PostgreSQL's own") or diag(@failed[ 0 .. min($#failed, $most_shown) ]);
	cmp_ok($tables, '>=', 0.25 * $total, "$label: many of them were served from resident columns");
	note "$tables aggregations of $total served";
	note "$aggregated aggregated, $parallel in parallel, $served served; ", join(', ', map { "$types{$_} $_" } sort keys %types);
	cmp_ok($types{$_} // 0, '>=', 0.01 * $queries, "$label: some were $_ joins")
	  for qw(Inner Left Right Full Semi Anti), ($version >= 16 ? 'Right Anti' : ()),
	  ($version >= 18 ? 'Right Semi' : ());
}

$node->stop;
done_testing();
