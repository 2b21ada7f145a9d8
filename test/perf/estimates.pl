# How long queries take whose row estimates are right, 1000 times too low and 1000 times too high: beside PostgreSQL's own plans, which
# are chosen with the same estimates, and beside the same queries with right ones, where a join counts its outer rows.
#
# A row that is above its bar is followed by both plans if HG_PLANS=1.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use HashGraphTest;
use Measured;
use RawSession;
use Test::More;
use WrongEstimates;

# Rows of the largest table, times that each query is measured, and when a plan is given up, in seconds.
use constant { SALES => 600_000, ROUNDS => $ENV{HG_QUICK} ? 1 : 3, PATIENCE => 30 };

# The bars: so many times what PostgreSQL takes, so many times what the query takes with right estimates, and these ms more.
use constant { PART => 1.1, REGRET => 2, SLACK => 3 };

my %wrong = (0.001 => 'too low', 1 => 'right', 1000 => 'too high');

my $node = estimates_server('estimates', "shared_buffers = '256MB'\nmax_wal_size = '4GB'\n");
$node->safe_psql('postgres', estimates_tables(SALES));
$node->safe_psql('postgres', 'create function query_ms(query text) returns float8 language plpgsql as $$
declare
  start timestamptz := clock_timestamp();
begin
  execute query;
  return extract(epoch from clock_timestamp() - start) * 1000;
exception when query_canceled then
  return ' . 1000 * PATIENCE . ';
end
$$');
my $session = RawSession->new($node);
$session->run_each('set statement_timeout = ' . 1000 * PATIENCE);

sub median { my @sorted = sort { $a <=> $b } @_; return $sorted[ @sorted / 2 ]; }

# The times of a query without hashgraph and with it, medians in ms, measured in turn.
sub times_of
{
	my ($query) = @_;
	my %ms;

	for my $round (1 .. ROUNDS)
	{
		foreach my $enabled (qw(off on))
		{
			# a plan that has been given up is not tried again
			next if grep { $_ >= 1000 * PATIENCE } @{ $ms{$enabled} // [] };
			$session->run_each("set hashgraph.enabled = $enabled");
			push @{ $ms{$enabled} }, $session->query("select query_ms(\$q\$$query\$q\$)");
			die $session->{error} if defined $session->{error};
		}
	}
	return map { median(@{ $ms{$_} }) } qw(off on);
}

# What EXPLAIN shows of a query.
sub plan_of
{
	my ($enabled, $query, $options) = @_;

	$session->run_each("set hashgraph.enabled = $enabled");
	return $session->query('explain ' . ($options // '') . " $query") || $session->{error};
}

# Measure a query under a factor, and return the time that it took with hashgraph.
sub measure_shape
{
	my ($shape, $factor, $right) = @_;
	my ($name, $query) = ("estimates: $shape->{name}, $wrong{$factor}", $shape->{query});

	$session->run_each(estimates_factor($factor));
	my ($theirs, $ours) = times_of($query);
	my $plan = plan_of('on', $query);

	# the same plan takes the same time
	if ($plan ne plan_of('off', $query))
	{
		measured($name, $ours, PART * $theirs + SLACK, 'ms');
		diag(map { "$_\n" } '', $name, map { plan_of($_, $query, '(analyze, timing off)') } qw(off on))
		  if $ENV{HG_PLANS} && $ours > PART * $theirs + SLACK;
	}
	measured("$name, beside right", $ours, REGRET * $right + SLACK, 'ms') if defined $right && $plan =~ /Switch At Rows/;
	return $ours;
}

foreach my $shape (estimates_shapes())
{
	my $right = measure_shape($shape, 1);

	measure_shape($shape, $_, $right) foreach 0.001, 1000;
}
$node->stop;

done_testing();
