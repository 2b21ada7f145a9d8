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
use List::Util qw(min);
use RandomCheck;
use RandomJoins;
use Test::More;

my $seed = $ENV{HG_SEED} // 20;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 250 : 750);
# what is shown of the failures of a kind
my $most_shown = 5;

my %kinds = join_kinds();
my @kinds = sort keys %kinds;

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

my @rounds = random_rounds($seed, $queries);

# The queries of a kind in a round.
sub queries_of
{
	my ($kind, $round, $part) = @_;

	srand($round->{seed} * 1000 + ord($kind));
	return map { { set => random_settings($version), types => $kinds{$kind},
			sql => $kind eq 'aggregation' ? random_aggregation() : random_join($kind) } }
	  1 .. int(($round->{queries} + $#kinds) / @kinds * $part);
}

# Nothing that a query computes may raise an error, or take long.
sub is_right { return $_[0] =~ /^same,(?! error| without an answer)/; }

note "HG_SEED=$seed HG_QUERIES=$queries";
random_databases($node, @rounds);

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
			my @batch = queries_of($kind, $round, 1);
			my @answers = run_random($node, $round->{database}, $backend, @batch);

			$total += @batch;
			push @said, @answers;
			foreach my $n (grep { !is_right($answers[$_]) } 0 .. $#batch)
			{
				diag("seed $round->{seed}, query $n: $batch[$n]{set}\n$batch[$n]{sql}\n--> $answers[$n]")
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
		my @batch = queries_of('aggregation', $round, 0.5);
		my @answers = run_random($node, $round->{database}, $backend, @batch);

		$total += @batch;
		$tables += grep { /, aggregated.*, served/ } @answers;
		push @failed, map { "seed $round->{seed}, aggregation $_: $batch[$_]{set}\n$batch[$_]{sql}\n--> $answers[$_]" } grep { !is_right($answers[$_]) } 0 .. $#batch;
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
