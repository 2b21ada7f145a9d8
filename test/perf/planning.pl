# How much longer planning takes with hashgraph, in per cents.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use HashGraphTest;
use Measured;
use PostgreSQL::Test::Utils;
use Test::More;

# Not preloaded: the sessions that are to have the library ask for it.
my $preloading = '-c session_preload_libraries=hashgraph';
# What planning takes is measured where the C library keeps freed memory: by itself it gives it back after each plan, and fetches it page
# by page for the next, or does not, depending on which power of two the plan's memory has just passed, with the library or without it. That
# is half of the time of a plan of 9 MB.
local @ENV{qw(MALLOC_TRIM_THRESHOLD_ MALLOC_MMAP_THRESHOLD_)} = (1 << 29, 1 << 25);
my $node = new_server('planning', preload => '', conf => "work_mem = '256MB'\nfsync = off\n");

$node->safe_psql('postgres', <<'SQL');
create table customers as select i as id, 'customer ' || i as name, i % 50 as region from generate_series(1, 4000) i;
create table orders as select i as id, i % 4000 + 1 as customer, i % 9 as state from generate_series(1, 5000) i;
alter table customers add primary key (id);
alter table orders add primary key (id);
create index on orders (customer);
SQL

# Ten tables of 60,000 rows, so that the node is considered at every join.
$node->safe_psql('postgres', join("\n",
	(map { "create table ten$_ as select i as k, i as l, i % 100 as v from generate_series(1, 60000) i;" } 0 .. 9),
	'analyze;', <<'SQL'));
create function planning_ms(query text, times int) returns float8 language plpgsql as $$
declare
  plan json;
  least float8;
begin
  for i in 1 .. times loop
    execute 'explain (summary, format json) ' || query into plan;
    least := least(least, (plan -> 0 ->> 'Planning Time')::float8);
  end loop;
  return least;
end
$$;
SQL

my %queries = (
	'chain of ten' => 'select count(*) from ten0 ' . join(' ', map { 'join ten' . $_ . ' on ten' . $_ . '.k = ten' . ($_ - 1) . '.l' } 1 .. 9),
	'star of ten' => 'select count(*) from ten0 ' . join(' ', map { "join ten$_ on ten$_.k = ten0.l + $_" } 1 .. 9));
# Of tables without an index there is less to plan, so that the same work weighs more; and in a star it is done for the
# largest number of pairs.
my %bars = (
	'chain of ten, primary keys' => 15, 'star of ten, primary keys' => 22,
	'chain of ten, no index' => 20, 'star of ten, no index' => 28);
# With two workers, as PostgreSQL has them by default, there are joins that processes can share, and those
# above them are looked at with these too.
my %shared_bars = (
	'chain of ten, an index shared' => 18, 'star of ten, an index shared' => 32,
	'chain of ten, tables shared' => 18, 'star of ten, tables shared' => 28);
my %times = ('chain of ten' => 30, 'star of ten' => 12);

sub median { my @sorted = sort { $a <=> $b } @_; return $sorted[ @sorted / 2 ]; }

my $without = $node->background_psql('postgres');
my $with = do { local $ENV{PGOPTIONS} = $preloading; $node->background_psql('postgres') };
$_->query('set join_collapse_limit = 12') foreach $without, $with;

# Have both be on one of the processors: they plan in turn, and of two processors one may have to do with others' work all
# the time. Without taskset they are wherever they are.
my ($list) = qx(taskset -cp $$ 2>&1) =~ /list: ([0-9,-]+)/;
my @processors = map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $list // '';

sub be_on_processor
{
	my ($number) = @_;

	return unless @processors;
	foreach my $session ($without, $with)
	{
		my $pid = $session->query('select pg_backend_pid()');
		my $processor = $processors[ $number % @processors ];

		diag("a session is where it was: $pid") unless qx(taskset -cp $processor $pid 2>&1) =~ /new affinity list: $processor$/m;
	}
	return;
}

my $ROUNDS = $ENV{HG_QUICK} ? 13 : 25;

# How much longer planning takes with hashgraph.  The least of some runs is what it takes when
# nothing else comes between; the median of pairs of that, in turns, so that whatever slows the machine
# down meets both.
sub planning_ratio
{
	my ($what, $call) = @_;
	my (@ratios, %ms);

	for my $round (1 .. $ROUNDS)
	{
		foreach my $session ($round % 2 ? ($without, $with) : ($with, $without))
		{
			push @{ $ms{$session} }, scalar $session->query($call);
		}
		push @ratios, $ms{$with}[-1] / $ms{$without}[-1];
	}
	diag(sprintf('%s: planning takes %.2f ms without hashgraph, %.2f ms with it: %+.1f %% (median of %d pairs)',
			$what, median(@{ $ms{$without} }), median(@{ $ms{$with} }), 100 * (median(@ratios) - 1), scalar @ratios));
	return median(@ratios);
}

# Measure planning a query, as the call does.
sub ratio_holds
{
	my ($what, $call, $bar) = @_;
	my $median;

	# pairs do not even out all that other work on the machine does: look elsewhere then, and again
	for my $attempt (0 .. 4)
	{
		be_on_processor($attempt);
		$median = planning_ratio($what, $call);
		last if $median <= 1 + $bar / 100;
	}
	return measured("planning: $what", 100 * ($median - 1), $bar, '% more');
}

# The same of a query that the node is considered for.
sub planning_holds
{
	my ($what, $query, $times, $bar) = @_;

	return ratio_holds($what, "select planning_ms(\$q\$$query\$q\$, $times)", $bar);
}

foreach my $keys ('no index', 'primary keys')
{
	$node->safe_psql('postgres', join('', map { "alter table ten$_ add primary key (k);" } 0 .. 9) . 'analyze;') if $keys ne 'no index';
	foreach my $name (sort keys %queries)
	{
		planning_holds("$name, $keys", $queries{$name}, $times{$name}, $bars{"$name, $keys"});
	}
}
foreach my $shared ('an index shared', 'tables shared')
{
	foreach my $session ($without, $with)
	{
		$session->query('set max_parallel_workers_per_gather = 2');
		$session->query('set min_parallel_table_scan_size = 0') if $shared eq 'tables shared';
	}
	foreach my $name (sort keys %queries)
	{
		planning_holds("$name, $shared", $queries{$name}, $times{$name}, $shared_bars{"$name, $shared"});
	}
}
$_->query('reset max_parallel_workers_per_gather; reset min_parallel_table_scan_size') foreach $without, $with;
# Joins of few rows are not looked at.
ratio_holds('a join of small tables', q{select planning_ms('select * from orders o join customers c on c.id = o.customer join orders p on p.customer = c.id where o.id = 77', 200)}, 5);
# Few rows of a table that are looked up in all others: for each pair of paths it matters what lookups take
# beside their price, which is not to be asked for each time.
$node->safe_psql('postgres', 'vacuum (analyze)');
$_->query('set max_parallel_workers_per_gather = 0') foreach $without, $with;
planning_holds('star of few rows', "$queries{'star of ten'} where ten0.v = 7", 12, 28);
# Rows that do not fit may have keys that do, as bits: bounds of their columns are in statistics, which are looked at once for each.
$_->query(q{set work_mem = '256kB'}) foreach $without, $with;
planning_holds('star of tables that do not fit', $queries{'star of ten'}, 12, 25);
$_->query('reset work_mem') foreach $without, $with;
# Clauses with long lists are looked at once, and not for each path; all alternatives of one column are put together at once.
my @far = map { 3 * $_ } 0 .. 499;
my $constants = join(', ', @far);
planning_holds('lists of constants', "$queries{'chain of ten'} where " . join(' and ', map { "ten$_.v in ($constants)" } 0 .. 9), 5, 20);
planning_holds('alternatives', 'select count(*) from ten0 join ten1 on ten1.k = ten0.l where ' . join(' or ', map { "ten0.v = $_" } @far), 10, 10);
$without->quit;
$with->quit;
$node->stop;

# Where the server has resident columns, a query of one table that aggregates nothing does not ask for them, and one that aggregates
# a table without any is told so at once.
my $resident = new_server('planner_resident', conf => "hashgraph.resident_memory = '8MB'\nmax_worker_processes = 16\n");
$resident->safe_psql('postgres', <<'SQL');
create table one as select i as k, i % 100 as v from generate_series(1, 60000) i;
alter table one add primary key (k);
create table other as select * from one;
vacuum (analyze);
select hashgraph_resident_add('other', wait => true);
create function plannings_ms(query text, times int) returns float8 language plpgsql as $$
declare
  start timestamptz := clock_timestamp();
  line text;
begin
  for i in 1 .. times loop
    execute 'explain ' || query into line;
  end loop;
  return extract(epoch from clock_timestamp() - start) * 1000;
end
$$;
SQL
($without, $with) = map { my $session = $resident->background_psql('postgres'); $session->query("set hashgraph.enabled = $_"); $session } qw(off on);
ratio_holds('a lookup in one table', q{select plannings_ms('select v from one where k = 7', 300)}, 5);
ratio_holds('an aggregate of one table', q{select plannings_ms('select count(*), sum(v) from one where k > 7', 300)}, 8);
$without->quit;
$with->quit;
$resident->stop;

done_testing();
