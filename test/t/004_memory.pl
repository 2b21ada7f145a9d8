# Memory and temporary files of a join stay within their bounds, and nothing is left.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_server('memory', conf => "hash_mem_multiplier = 1\n");

$node->safe_psql('postgres', <<'SQL');
create table l as select i % 1000000 as k, i as v, repeat('l', 20) as pad from generate_series(1, 1000000) i;
create table r as select i % 1000000 as k, i as w, repeat('r', 20) as pad from generate_series(1, 1000000) i;
create table skew as select case when i % 10 > 0 then 7 else i end as k, i as z, repeat('s', 20) as pad
  from generate_series(1, 300000) i;
analyze;
SQL

my %joins = (
	inner => 'select count(*), sum(v), sum(w), count(l.pad || r.pad) from l join r using (k)',
	left => 'select count(*), sum(v), sum(w), count(l.pad || r.pad) from l left join r on l.k = r.k + 500000',
	semi => 'select count(*), sum(v), max(pad) from l where exists (select from r where r.k = l.k and r.w % 2 = 0)',
	anti => 'select count(*), sum(v), max(pad) from l where not exists (select from r where r.k = l.k and r.w % 2 = 0)',
	skewed => 'select count(*), sum(z), sum(w), max(skew.pad) from skew left join r using (k)');
my %expected = map { $_ => $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; $joins{$_}") } keys %joins;

# Highest size of a session's process, in kB, and how much it grew over the start.
sub peak
{
	my ($pid) = @_;
	return slurp_file("/proc/$pid/status") =~ /^VmPeak:\s+(\d+) kB/m ? $1 : die "no VmPeak";
}

sub peak_of
{
	my ($backend, $work_mem, $query, $what) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query('select pg_backend_pid()');

	# the tables' pages and the device process's staging area do not count
	$session->query("set hashgraph.backend = $backend; set hashgraph.force = on; set work_mem = '256kB';"
		  . 'select count(v), count(w) from (select * from l limit 1000) l full join (select * from r limit 1000) r using (k);'
		  . 'select count(*) from (select * from l limit 10) l join (select * from r limit 10) r using (k)');
	my $before = peak($pid);
	$session->query("set work_mem = '$work_mem'");
	my $result = $session->query($query);
	my $grown = peak($pid) - $before;
	my $last = $session->query('select count(*) filter (where spilled_bytes > 0), max(partitions) > 1, max(memory_bytes) from hashgraph_last_joins()');
	$session->quit;
	return ($result, $grown, split(/\|/, $last));
}

foreach my $backend (backends())
{
	my $label = $backend->{label};

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$backend->{program}'");
	$node->reload;

	# within 4 MB of work memory: the process grows by no more than four times that
	foreach my $join (sort keys %joins)
	{
		my ($result, $grown, $spilled, $partitioned, $bytes) = peak_of($backend->{backend}, '4MB', $joins{$join});

		is($result, $expected{$join}, "$label: $join join on disk");
		is("$spilled|$partitioned", '1|t', "$label: ... went to disk in partitions");
		cmp_ok($grown, '<', 16 * 1024, "$label: ... the process grew by $grown kB");
		cmp_ok($bytes, '<', 1.5 * 4 * 1024 * 1024, "$label: ... the node says $bytes bytes");
	}
	my ($result, $grown, $spilled) = peak_of($backend->{backend}, '1GB', $joins{inner});
	is($result, $expected{inner}, "$label: the same join in memory");
	is($spilled, '0', "$label: ... did not go to disk");
	cmp_ok($grown, '>', 64 * 1024, "$label: ... the process grew by $grown kB: the measure measures");

	is(scalar(temp_files($node)), 0, "$label: no temporary files are left");

	# one key that no partition can part: in memory at whatever size, and right
	my $query = 'select count(*), sum(a.z) from (select * from skew where z <= 30) b left join skew a using (k)';
	is( $node->safe_psql('postgres', "set hashgraph.force = on; set hashgraph.backend = $backend->{backend}; set work_mem = '256kB'; $query"),
		$node->safe_psql('postgres', "set hashgraph.enabled = off; set work_mem = '64MB'; $query"),
		"$label: one key in most rows");

	# temp_file_limit
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query("set hashgraph.backend = $backend->{backend}; set hashgraph.force = on; set work_mem = '1MB'; set temp_file_limit = '4MB';");
	foreach my $join (sort keys %joins)
	{
		next if $join eq 'skewed';
		$session->{stderr} = '';
		$session->query($joins{$join});
		like($session->{stderr}, qr/ERROR: +temporary file size exceeds "?temp_file_limit"?/, "$label: $join join honours temp_file_limit");
	}
	is(scalar(temp_files($node)), 0, "$label: no temporary files are left after the error");
	is($session->query("set temp_file_limit = -1; $joins{semi}"), $expected{semi}, "$label: the session joins on");

	# in the middle: files while it runs, none after a cursor is closed, a savepoint is
	# rolled back, a statement is cancelled, a session is terminated
	my $cursor = 'declare c cursor for select v, w, l.pad, r.pad from l join r using (k)';
	$session->query("begin; $cursor; move 10 in c;");
	cmp_ok(scalar(temp_files($node)), '>', 0, "$label: a cursor in the middle of a join on disk has files");
	$session->query('close c');
	is(scalar(temp_files($node)), 0, "$label: ... and none when it is closed");
	$session->query("savepoint s; $cursor; move 10 in c; rollback to s;");
	is(scalar(temp_files($node)), 0, "$label: ... and none when its savepoint is rolled back");
	$session->query("savepoint s; $cursor; move 10 in c; release s; move 10 in c; commit;");
	is(scalar(temp_files($node)), 0, "$label: ... and none at commit");
	$session->query("begin; $cursor; move 10 in c; select 1 / 0; rollback;");
	is(scalar(temp_files($node)), 0, "$label: ... and none after an error");
	$session->query("set statement_timeout = 300; $joins{inner};");
	$session->query('reset statement_timeout');
	is(scalar(temp_files($node)), 0, "$label: ... and none after a cancel");
	$session->query("begin; $cursor; move 10 in c");
	cmp_ok(scalar(temp_files($node)), '>', 0, "$label: a session with files");
	my $pid = $session->query('select pg_backend_pid()');
	$node->safe_psql('postgres', "select pg_terminate_backend($pid)");
	ok(wait_for(sub { !temp_files($node) }, 5), "$label: ... has none after pg_terminate_backend");
	$session->{run}->finish;
}

# temporary tablespaces
my $location = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', "create tablespace elsewhere location '$location'");
my $session = $node->background_psql('postgres');
$session->query("set temp_tablespaces = 'elsewhere'; set hashgraph.backend = cpu; set hashgraph.force = on; set work_mem = '1MB';"
	  . 'begin; declare c cursor for select v, w from l join r using (k); move 10 in c;');
my @elsewhere = glob("$location/*/pgsql_tmp/*");
cmp_ok(scalar(@elsewhere), '>', 0, 'files are in temp_tablespaces');
is(scalar(temp_files($node)), 0, '... and nowhere else');
$session->quit;
ok( wait_for(
		sub {
			@elsewhere = glob("$location/*/pgsql_tmp/*");
			return !@elsewhere;
		},
		5),
	'... and gone with the session');
cmp_ok($node->safe_psql('postgres', 'select temp_bytes from pg_stat_database where datname = \'postgres\''), '>', 0,
	'temporary files are counted in pg_stat_database');

session_ok($node, 'the server joins on');
$node->stop;
done_testing();
