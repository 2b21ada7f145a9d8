# How long a cancel of a join takes, at a random moment of it, beside the longest that PostgreSQL's own hash joins take.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use CancelledJoins;
use HashGraphTest;
use List::Util qw(max);
use Measured;
use Test::More;

# In ms: the promise at the 99th percentile, and what the longest may have more.
use constant PROMISE => 100;
use constant HICCUP => 400;

# Samples of each query, ours and core's.
my ($OURS, $CORES) = $ENV{HG_QUICK} ? (5, 2) : (24, 7);
my $node = cancel_server();

# A quantile of sorted numbers.
sub quantile
{
	my ($q, @sorted) = @_;
	my $at = int($q * @sorted);

	return $sorted[$at < @sorted ? $at : -1];
}

foreach my $backend (backends())
{
	my $settings = "set hashgraph.force = on; set hashgraph.backend = $backend->{backend};";
	my (@ours, @cores);

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$backend->{program}'");
	$node->reload;
	foreach my $join (sort keys %joins)
	{
		push @cores, cancel_at_random($node, $CORE, $joins{$join}, $CORES, qw(cancel timeout));
		push @ours, cancel_at_random($node, $settings, $joins{$join}, $OURS, qw(cancel timeout terminate));
	}
	@ours = sort { $a <=> $b } @ours;
	my $core = 1000 * max(@cores);

	measured("cancel: $backend->{label}, 99 % of " . @ours, 1000 * quantile(0.99, @ours), PROMISE + $core, 'ms');
	measured("cancel: $backend->{label}, the longest", 1000 * $ours[-1], PROMISE + HICCUP + $core, 'ms');
}
$node->stop;
done_testing();
