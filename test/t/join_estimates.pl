# Joins give PostgreSQL's rows where row estimates are wrong: a module of test/estimates makes the estimates of filters a thousand
# times too low, and a thousand times too high.  Where estimates are too low, joins that count their outer rows switch to hashing
# before they have looked up more rows than EXPLAIN says.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use JSON::PP;
use List::Util qw(max min);
use RawSession;
use Test::More;
use WrongEstimates;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

# tables are too small for the default of hashgraph.min_rows; with the default of default_statistics_target, ANALYZE would read half of
# the sales, and may miss that there are rows of kind 77
my $node = estimates_server('estimates', "hashgraph.min_rows = 1000\nshared_buffers = '64MB'\ndefault_statistics_target = 1000\n");
$node->safe_psql('postgres', estimates_tables(60_000));
my $session = RawSession->new($node);

# The plan of a query as a tree, executed if analyze is set.
sub plan_of
{
	my ($query, $analyze) = @_;

	return decode_json($session->run_each('explain (' . ($analyze ? 'analyze, timing off, ' : '') . "format json) $query"))->[0]{Plan};
}

# All nodes of a plan.
sub nodes_of
{
	my ($node) = @_;

	return ($node, map { nodes_of($_) } @{ $node->{Plans} // [] });
}

# the module does what it is for, for tables and for their joins
foreach my $from ((map { "sale where $_" } 'kind = 3', 'kind = 77', 'qty between 11 and 20', 'kind in (1, 2)', 'kind <> 3'),
	'sale join person using (p) where kind = 3')
{
	my ($low, $right, $high) = map { $session->run_each(estimates_factor($_)); plan_of("select from $from")->{'Plan Rows'} } 0.001, 1, 1000;

	ok(abs($low - max(1, $right / 1000)) <= 1 && abs($high / min(60_000, $right * 1000) - 1) <= 0.1,
		"$from: estimates are wrong by the factor")
	  or diag("rows: $low, $right, $high");
}

my $switched = 0;
foreach my $factor (0.001, 1000)
{
	$session->run_each(estimates_factor($factor));
	foreach my $shape (estimates_shapes())
	{
		my $name = "$shape->{name}, estimates times $factor";
		my ($ours, $theirs) = map { session_rows($session, "set hashgraph.enabled = $_; $shape->{query}") } 'on', 'off';

		is($ours, $theirs, "$name: the same rows");
		isnt($ours, '', '... and some');
		$session->run_each('set hashgraph.enabled = on');
		foreach my $join (grep { exists $_->{'Switch At Rows'} } nodes_of(plan_of($shape->{query}, 1)))
		{
			my $hashes = $join->{Plans}[0]{'Actual Rows'} >= $join->{'Switch At Rows'};

			# it may have looked a sample up before
			like($join->{Strategy}, $hashes ? qr/^(?:lookup, )?hash$/ : qr/^lookup$/, "$name: a join switches if it has counted so many rows");
			cmp_ok($join->{Plans}[2]{Plans}[1]{'Actual Loops'}, '<', $join->{'Switch At Rows'}, '... and has looked up fewer rows');
			$switched++ if $hashes && $factor < 1;
		}
	}
}
cmp_ok($switched, '>=', 6, 'joins whose estimates are too low switch to hashing');
$node->stop;

done_testing();
