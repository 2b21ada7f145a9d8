# How long aggregates of resident columns take whose bound an initial plan computes, beside a constant one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use HashGraphTest;
use List::Util qw(min);
use Measured;
use Test::More;

my $node = new_server('aggregates', conf => "hashgraph.resident_memory = '48MB'\nhashgraph.min_rows = 1000\n");

$node->safe_psql('postgres', 'create table bounded (k int, v int); insert into bounded select i, i % 1000 from generate_series(1, 500000) i; analyze bounded');
become_resident($node, 'bounded');

# The least of some times, in ms.
sub least_ms
{
	my ($query) = @_;

	return min(map { $node->safe_psql('postgres', "set hashgraph.force = on; explain (analyze, timing off) $query") =~ /Execution Time: ([\d.]+)/ } 1 .. 7);
}

measured('aggregates: a bound of an initial plan', least_ms('select count(*) from bounded where v > (select 994)'),
	6 * least_ms('select count(*) from bounded where v > 994') + 1, 'ms');
$node->stop;
done_testing();
