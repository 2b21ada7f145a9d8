# BenchWorkload.pm
#
# Workloads of many queries over tables of a schema of their own: NAME_load.sql makes and fills the tables, and
# NAME_queries.sql, or NAME_queries1.sql and so on, has the queries, each after a line that begins with its number.
# "[whole query]" at the end of that line marks queries that also spend time in other nodes than joins and plain groups.
#
#   tpch    22 queries like TPC-H's
#   film    40 queries of 4 to 12 joins over films, people, companies and what is said of them
#   star    13 queries of 1, 3 or 4 joins of a large table with small ones, like the star schema benchmark's
#   retail  99 queries in the shapes of TPC-DS's over three sales channels

package BenchWorkload;

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes ();

use BenchServer qw(directory read_file);

our @EXPORT_OK = qw(is_workload load_workload workload_queries workload_tables);

my @workloads = ('tpch', 'film', 'star', 'retail');

# What the scripts find: their schema, empty, and draw().  When all went well the schema says what it holds.
my $begin = <<'SQL';
set client_min_messages = warning;
drop schema if exists :workload cascade;
create schema :workload;
set search_path = :workload;
set work_mem = '512MB';
set maintenance_work_mem = '512MB';

-- A draw from 0 to below - 1 for number i; each column has a seed.
create function draw(i bigint, seed int, below bigint) returns bigint language sql immutable
return (hashint8extended(i, seed) & 9223372036854775807) % below;
SQL
my $end = <<'SQL';
select format('comment on schema %I is %L', :'workload', 'scale ' || :'scale') \gexec
SQL

sub is_workload
{
	my ($name) = @_;

	return scalar grep { $_ eq $name } @workloads;
}

# Have the tables of a workload at a scale.  Returns the seconds that it took, 0 where they were there.
sub load_workload
{
	my ($server, $name, $scale) = @_;
	my $started = Time::HiRes::time;

	return 0 if $server->query("select obj_description(to_regnamespace('$name'))") eq "scale $scale";
	$server->query("\\set workload $name\n\\set scale $scale\n$begin" . read_file(directory() . "/${name}_load.sql") . $end);
	return Time::HiRes::time - $started;
}

# The tables of a workload.
sub workload_tables
{
	my ($server, $name) = @_;

	return split /\n/, $server->query("select oid::regclass from pg_class where relnamespace = '$name'::regnamespace and relkind = 'r'");
}

# The queries of a workload for a scale, in order: name, sql, and whether the query is marked "[whole query]".
sub workload_queries
{
	my ($workload, $scale) = @_;
	my @files = grep { -e } map { directory() . "/${workload}_queries$_.sql" } '', 1 .. 9;
	my @queries;

	foreach my $block (map { split /^(?=-- [A-Z]\d+ )/m, read_file($_) } @files)
	{
		my ($name, $title, $sql) = $block =~ /^-- ([A-Z]\d+) ([^\n]*)\n(.*);/s or next;
		$sql =~ s/:scale\b/$scale/g;
		push @queries, { name => $name, sql => $sql, whole => $title =~ /\[whole query\]$/ ? 1 : 0 };
	}
	return @queries;
}

1;
