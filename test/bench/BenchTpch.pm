# BenchTpch.pm
#
# Tables and queries like TPC-H's: tpch_load.sql and tpch_queries.sql.

package BenchTpch;

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes ();

use BenchServer qw(directory read_file);

our @EXPORT_OK = qw(load_tpch tpch_queries);

# Have the tables at a scale factor.  Returns the seconds that it took, 0 where they were there.
sub load_tpch
{
	my ($server, $scale) = @_;
	my $started = Time::HiRes::time;

	return 0 if $server->query("select obj_description(to_regnamespace('tpch'))") eq "scale $scale";
	$server->query("\\set scale $scale\n" . read_file(directory() . '/tpch_load.sql'));
	return Time::HiRes::time - $started;
}

# The queries for a scale factor: name and sql, in order.
sub tpch_queries
{
	my ($scale) = @_;
	my @queries;

	foreach my $block (split /^(?=-- Q\d)/m, read_file(directory() . '/tpch_queries.sql'))
	{
		my ($name, $sql) = $block =~ /^-- (Q\d+) [^\n]*\n(.*);/s or next;
		$sql =~ s/:scale\b/$scale/g;
		push @queries, { name => $name, sql => $sql };
	}
	return @queries;
}

1;
