# Random whole queries give the rows that PostgreSQL's own plans give, in their order, and raise the same errors.
#
# Each query of RandomQueries.pm runs twice, with our nodes wherever they are possible and with hashgraph.enabled off: over
# tables, joins and other queries, of tables on the heap and of resident ones, in little memory and in much, in one process
# and in several.
#
# Versions: how the planner marks the columns that a grouping set lacks, and what it hands to the hook of a set operation.
#
# HG_SEED chooses the tables and the queries (the same seed means the same ones), HG_QUERIES how many (1000, with
# HG_QUICK 250), in rounds of at most 1000 with tables of their own.  A failure shows the query with its settings;
# PG_TEST_NOCLEAN=1 keeps the server's files, with the tables in them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util qw(sum);
use RandomCheck;
use RandomQueries;
use Test::More;

my $seed = $ENV{HG_SEED} // 20;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 250 : 1000);
# what is shown of the failures of a shape
my $most_shown = 5;

plan skip_all => 'is to run once' unless covers('cpu');

my $node = new_server('queries', init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<'CONF');
log_statement = none
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hashgraph.min_rows = 0
hashgraph.resident_memory = '64MB'
max_worker_processes = 40
CONF
my $version = major_version($node);
my @shapes = query_shapes();
my $weights = sum(map { shape_weight($_) } @shapes);
my @rounds = random_rounds($seed, $queries);
# by shape
my (%failed, %said);

# The queries of a shape in a round.
sub queries_of
{
	my ($round, $shape) = @_;
	my ($number) = grep { $shapes[$_] eq $shape } 0 .. $#shapes;

	srand($round->{seed} * 1000 + $number);
	return map { { set => query_settings($version, $shape), %{ random_query($shape) } } }
	  1 .. 1 + int($round->{queries} * shape_weight($shape) / $weights);
}

note "HG_SEED=$seed HG_QUERIES=$queries";
foreach my $round (@rounds)
{
	random_databases($node, $round);
	# some pages of resident tables change
	$node->safe_psql($round->{database}, 'update t8 set i4 = i4 where n % 97 = 0; update t6 set tx = tx where n = 40; delete from t12 where n % 211 = 0');
	foreach my $shape (@shapes)
	{
		my @batch = queries_of($round, $shape);
		my @answers = run_random($node, $round->{database}, 'cpu', @batch);

		push @{ $said{$shape} }, @answers;
		foreach my $n (grep { $answers[$_] !~ /^same,/ } 0 .. $#batch)
		{
			diag("seed $round->{seed}, $shape $n: $batch[$n]{set}\n$batch[$n]{sql}\n--> $answers[$n]")
			  if ++$failed{$shape} <= $most_shown;
		}
	}
	note "tables of seed $round->{seed}: ", scalar(map { @$_ } values %said), ' queries so far';
	$node->safe_psql('postgres', "drop database $round->{database}") unless $ENV{PG_TEST_NOCLEAN};
}

my @all = map { @$_ } values %said;
my @compared = grep { /^same, (?:\d+ rows|error)/ } @all;
# how many of the answers say something
my $count = sub { my ($what) = @_; return scalar grep { /, $what/ } @compared; };

foreach my $shape (@shapes)
{
	my @of = @{ $said{$shape} };

	is(scalar(grep { !/^same,/ } @of), 0, scalar(@of) . " random queries, $shape, agree with PostgreSQL's own plans");
	note "$shape: ", join(', ', map { my $what = $_; scalar(grep { /, $what/ } @of) . " $what" }
		  'without', 'error', 'joined', 'aggregated', 'sorted', 'looked up', 'below Gather', 'served', 'spilled', '0 rows');
}
note scalar(@compared), ' compared of ', scalar(@all), ': ', join(', ', map { $count->($_) . " $_" }
	  'error', 'joined', 'aggregated', 'sorted', 'looked up', 'in parallel', 'below Gather', 'served', 'spilled', '0 rows');
cmp_ok(scalar(@compared), '>=', 0.6 * @all, 'most of them have a node of ours');
cmp_ok($count->($_->[0]), '>=', $_->[1] * @all, "... and enough are $_->[0]")
  for [ 'joined', 0.25 ], [ 'aggregated', 0.35 ], [ 'sorted', 0.025 ], [ 'below Gather', 0.08 ], [ 'served', 0.3 ],
  [ 'spilled', 0.03 ], [ 'error', 0.005 ];
# workers that start for each row of a query around them take long
cmp_ok(scalar(grep { /without an answer/ } @all), '<=', 2 + 0.002 * @all, 'few are cancelled');
cmp_ok($count->('[1-9]\d* rows'), '>=', 0.4 * @all, 'many have rows');
is(scalar(temp_files($node)), 0, 'no temporary files are left');

$node->stop;
done_testing();
