# Beside auto_explain and pg_stat_statements, in either order of loading; and EXPLAIN
# in every format.
#
# Versions: hooks, views and EXPLAIN of the server.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $setup = <<'SQL';
create table l as select i % 5000 as k, i as v from generate_series(1, 20000) i;
create table r as select i % 7000 as k, i as w from generate_series(1, 20000) i;
analyze;
SQL
my $query = 'select count(*) from l left join r on l.k = r.k and v < w';

foreach my $preload ('auto_explain, pg_stat_statements, hashgraph', 'hashgraph, pg_stat_statements, auto_explain')
{
	my $first = $preload =~ /^hashgraph/ ? 'hashgraph first' : 'hashgraph last';
	my $node = new_server($preload =~ /^hashgraph/ ? 'first' : 'last', preload => $preload,
		conf => "hashgraph.force = on\nauto_explain.log_min_duration = 0\nauto_explain.log_analyze = on\n"
		  . "auto_explain.log_nested_statements = on\nauto_explain.log_format = json\n");

	$node->safe_psql('postgres', "create extension pg_stat_statements; $setup");
	my $start = -s $node->logfile;
	my $count = $node->safe_psql('postgres', $query);
	is($count, $node->safe_psql('postgres', "set hashgraph.enabled = off; $query"), "$first: the right rows");
	is($node->safe_psql('postgres', 'select sum(calls), sum(rows) from pg_stat_statements where query like \'%left join r%\''),
		'2|2', "$first: pg_stat_statements counts it");
	my $log = slurp_file($node->logfile, $start);
	like($log, qr/"Custom Plan Provider": "HashGraphJoin"/, "$first: auto_explain logs the node");
	like($log, qr/"Matches": \d+,/, "$first: ... with what it did");
	is($node->safe_psql('postgres', 'select joins from hashgraph_stat'), '1', "$first: hashgraph_stat counts it");

	# in a function, a trigger, and cancelled
	$node->safe_psql('postgres', "create function f() returns bigint language plpgsql as 'begin return ($query); end'; select f(), f()");
	is($node->safe_psql('postgres', 'select joins from hashgraph_stat'), '3', "$first: joins within a function are counted");
	my ($rc, $stdout, $stderr) = $node->psql('postgres', 'set statement_timeout = 50; select count(*) from l a join l b on a.v % 2 = b.v % 2 and a.k + b.k < 0');
	like($stderr, qr/statement timeout/, "$first: cancelled");
	is($node->safe_psql('postgres', "$query; select count(*) from hashgraph_last_joins()"), "$count\n1",
		"$first: the statement after it has one join");
	$node->stop;
}

my $node = new_server('explain', conf => "hashgraph.force = on\n");
$node->safe_psql('postgres', $setup);

# One property for each number, in a type of its own.
$node->safe_psql('postgres', <<'SQL');
create function properties(query text) returns setof text language plpgsql as $$
declare
  plan json;
begin
  execute query into plan;
  return query select key || ' ' || json_typeof(value)
    from json_each(plan -> 0 -> 'Plan' -> 'Plans' -> 0) order by key;
end
$$;
SQL
my $properties = $node->safe_psql('postgres', "select properties('explain (analyze, verbose, format json) $query')");
foreach my $name ('Vertices', 'Bins', 'Outer Rows', 'Inner Rows', 'Null Keys', 'Matches', 'Executions', 'Partitions',
	'Memory Usage', 'Scan Time', 'Bin Time', 'Build Time', 'Match Time', 'Key Width', 'Rows Removed by Join Filter')
{
	like($properties, qr/^$name number$/m, "JSON: $name is a number");
}
foreach my $name ('Backend', 'Build', 'Probe', 'Join Type', 'Hash Cond', 'Join Filter', 'Custom Plan Provider')
{
	like($properties, qr/^$name string$/m, "JSON: $name is a string");
}
is($node->safe_psql('postgres', "select count(*) from properties('explain (analyze, format json, timing off) $query') p where p like '%Time number'"),
	'0', 'no times without TIMING');
is($node->safe_psql('postgres', "select count(*) from properties('explain (format json) $query') p where p ~ '^(Backend|Matches|Vertices|Memory)'"),
	'0', 'nothing of an execution without ANALYZE');
like($node->safe_psql('postgres', "explain (analyze, format yaml) $query"), qr/Custom Plan Provider: "HashGraphJoin".*\n +Matches: \d+\n/s, 'YAML');
my $xml = $node->safe_psql('postgres', "explain (analyze, format xml) $query");
like($xml, qr{<Custom-Plan-Provider>HashGraphJoin</Custom-Plan-Provider>.*<Matches>\d+</Matches>}s, 'XML');
my $text = $node->safe_psql('postgres', "explain (analyze) $query");
like($text, qr/Custom Scan \(HashGraphJoin\).*Hash Cond: \(l\.k = r\.k\)\n +Join Filter: \(l\.v < r\.w\)\n/s, 'text');
like($text, qr/Memory Usage: \d+ kB\n/, 'text has units');
# what EXPLAIN and the functions say is what happened
my ($matches) = $text =~ /Matches: (\d+)/;
is($matches, $node->safe_psql('postgres', 'select count(*) from l join r using (k)'), 'Matches are the pairs with equal keys');
my ($removed) = $text =~ /Rows Removed by Join Filter: (\d+)/;
is($removed, $node->safe_psql('postgres', 'select count(*) from l join r using (k) where not v < w'), 'Rows Removed by Join Filter');
is($node->safe_psql('postgres', "$query; select matches = $matches, outer_rows, inner_rows, rows_out from hashgraph_last_joins()"),
	$node->safe_psql('postgres', "$query; select 't', 20000, 20000, (select count(*) from l left join r on l.k = r.k and v < w)"),
	'hashgraph_last_joins() agrees');

$node->stop;
done_testing();
