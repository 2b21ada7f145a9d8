# The SQL functions keep to work memory: joins by going to disk or in parts, statistics
# by an error.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('functions', conf => "hash_mem_multiplier = 1\nmaintenance_work_mem = 4MB\n");

$node->safe_psql('postgres', <<'SQL');
create table l as select i % 900000 as k, 'key ' || i % 900000 as t from generate_series(1, 1000000) i;
create table r as select i as k, 'key ' || i as t from generate_series(1, 1000000) i;
create table arrays as select array(select i % 1900000 from generate_series(1::bigint, 2000000) i) as a,
	array(select i from generate_series(1::bigint, 2000000) i) as b;
analyze;
SQL

# Result of a query in a session of its own, and by how many kB the session's process grew.
sub run_and_measure
{
	my ($work_mem, $query) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query('select pg_backend_pid()');
	my $peak = sub { slurp_file("/proc/$pid/status") =~ /^VmPeak:\s+(\d+) kB/m ? $1 : die 'no VmPeak' };

	# what any session needs, and the pages of the tables
	$session->query("select count(*) from hashgraph_join('pg_class', 'oid', 'pg_class', 'oid');"
		  . 'select count(*) from hashgraph_join(array[1], array[1]); set work_mem = \'64kB\';'
		  . 'select count(*) from l join r on false; select count(k), count(t) from l');
	$session->query("set work_mem = '$work_mem'");
	my $before = $peak->();
	$session->{stderr} = '';
	my $result = $session->query($query);
	my $grown = $peak->() - $before;
	my $error = $session->{stderr};
	my $last = $session->query('select partitions > 1, memory_bytes from hashgraph_last_joins()');
	$session->quit;
	return ($result, $grown, $error, split(/\|/, $last));
}

# function call, its result, memory that it has whatever work_mem is, in kB
my @joins = (
	[ "hashgraph_join('l', 'k', 'r', 'k')", 'select count(*) from l join r using (k)', 0 ],
	[ "hashgraph_join('l', 't', 'r', 't')", 'select count(*) from l join r using (t)', 0 ],
	[ 'arrays, hashgraph_join(a, b)', 'select count(*) from (select unnest(a) k from arrays) l join (select unnest(b) k from arrays) r using (k)',
		2 * 2000000 * 8 / 1024 ]);
foreach my $join (@joins)
{
	my ($call, $query, $arguments) = @$join;
	my $expected = $node->safe_psql('postgres', "set hashgraph.enabled = off; set work_mem = '1GB'; $query");
	my ($result, $grown, $error, $parted, $bytes) = run_and_measure('4MB', "select count(*) from $call");

	is($result, $expected, "$call with little memory");
	is($parted, 't', '... in parts');
	cmp_ok($bytes, '<', 1.5 * 4 * 1024 * 1024, "... which says that it took $bytes bytes");
	cmp_ok($grown, '<', $arguments + 16 * 1024, "... the process grew by $grown kB, arguments took $arguments");
	($result, $grown, $error, $parted) = run_and_measure('1GB', "select count(*) from $call");
	is("$result|$parted", "$expected|f", "$call with enough");
	cmp_ok($grown, '>', $arguments + 32 * 1024, "... the process grew by $grown kB: the measure measures");
}
is(scalar(temp_files($node)), 0, 'no temporary files are left');

foreach my $call ("hashgraph_build_stats('r', 'k')", "hashgraph_probe_stats('l', 'k', 'r', 'k')",
	"hashgraph_probe_stats('l', 't', 'r', 't')", "hashgraph_table_stats('r', 'k', 'dynamic')",
	"(select sum(rows) from hashgraph_list_lengths('r', 'k')) s")
{
	my ($result, $grown, $error) = run_and_measure('4MB', "select * from $call");

	like($error, qr/ERROR: +keys and HashGraphs do not fit in memory.*HINT: +Increase maintenance_work_mem/s, $call);
	cmp_ok($grown, '<', 16 * 1024, "... the process grew by $grown kB");
	($result, $grown, $error) = run_and_measure('1GB', "select count(*) from $call");
	is("$result$error", '1', "$call with enough");
}

# temp_file_limit
my ($status, $stdout, $stderr) = $node->psql('postgres',
	"set temp_file_limit = '4MB'; set work_mem = '1MB'; select count(*) from hashgraph_join('l', 'k', 'r', 'k')");
like($stderr, qr/temporary file size exceeds "?temp_file_limit"?/, 'hashgraph_join honours temp_file_limit');
is(scalar(temp_files($node)), 0, '... and leaves no files');

# cancelled in the middle
($status, $stdout, $stderr) = $node->psql('postgres', "set work_mem = '1MB'; set statement_timeout = 100; "
	  . "select count(*) from hashgraph_join('l', 'k', 'r', 'k')");
like($stderr, qr/statement timeout/, 'a join of tables is cancelled');
($status, $stdout, $stderr) = $node->psql('postgres', "set work_mem = '64kB'; set statement_timeout = 100; "
	  . 'select count(*) from arrays, hashgraph_join(a, b)');
like($stderr, qr/statement timeout/, 'a join of arrays is cancelled');
is(scalar(temp_files($node)), 0, '... and nothing is left');

# without memory for it nothing is resident
($status, $stdout, $stderr) = $node->psql('postgres', "select hashgraph_resident_add('l')");
like($stderr, qr/the server has no memory for resident columns.*HINT.*hashgraph\.resident_memory/s, 'without memory there are no residents');
is($node->safe_psql('postgres', 'select count(*) from hashgraph_resident'), '0', '... and none to list');
is($node->safe_psql('postgres', "select count(*) from pg_stat_activity where backend_type ~ 'hashgraph (launcher|witness|loader)'"), '0', '... and no workers');

session_ok($node, 'the server joins on');
$node->stop;
done_testing();
