# A join is cancelled wherever it stands, soon, and leaves a usable session.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# How long after its statement_timeout a statement may go on, in seconds.  The promise
# is 10 ms; a busy machine with a debug build gets the rest.
use constant GRACE => 2;

my @backends = backends();
my $node = new_server('cancel', conf => "work_mem = '1GB'\n");

$node->safe_psql('postgres', <<'SQL');
create table l as select i % 1000000 as k, i as v from generate_series(1, 1500000) i;
create table r as select i % 1000000 as k, i as w from generate_series(1, 1500000) i;
create table same as select 1 as k, i as z from generate_series(1, 200000) i;
analyze;
SQL

foreach my $backend (@backends)
{
	my $label = $backend->{label};
	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$backend->{program}'");
	$node->reload;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('select pg_backend_pid()');

	$session->query("set hashgraph.force = on; set hashgraph.backend = $backend->{backend};");
	# start the device process where there is one
	is($session->query('select count(*) from l join r using (k) where v < 10 and w < 10'), '9', "$label: a join");

	# cancelled after so many milliseconds, which is: in the scans, in the build, and while
	# matches stream; what is cancelled is a query that takes longer than that by far
	my %queries = (
		'scan of the inner side' => [ 50, 'select count(*) from l join generate_series(1, 30000000) g on g = k' ],
		'scan of the outer side' =>
		  [ 300, 'select count(*) from (select g as k from generate_series(1, 100000000) g) g join r using (k)' ],
		'quals of the matches' =>
		  [ 500, 'select count(*) from same a join same b on a.k = b.k and a.z + b.z < 0' ],
		'rows that are returned' => [ 500, 'select sum(a.z) from same a join same b using (k)' ],
		'unmatched rows' =>
		  [ 500, 'select count(*) from same a left join same b on a.k = b.k and a.z + b.z < 0' ],
		'partitions on disk' =>
		  [ 300, 'select count(*) from (select g as k, repeat(\'x\', 50) as x from generate_series(1, 100000000) g) g
				  join (select * from r) r using (k) where length(x) > w' ]);
	foreach my $where (sort keys %queries)
	{
		my ($timeout, $query) = @{ $queries{$where} };
		my $start = time;
		my $memory = $where =~ /disk/ ? '256kB' : '1GB';

		$session->{stderr} = '';
		$session->query("set work_mem = '$memory'; set statement_timeout = $timeout; $query; reset statement_timeout;");
		my $seconds = time - $start;
		like($session->{stderr}, qr/canceling statement due to statement timeout/, "$label: cancelled in $where");
		cmp_ok($seconds, '<', $timeout / 1000 + GRACE, sprintf('%s: ... after %.2f s', $label, $seconds));
		$session->query('reset statement_timeout');
	}

	# at many places of a join that takes about a second
	$session->query("set work_mem = '1GB'");
	my ($cancelled, $late) = (0, 0);
	for my $timeout (map { 25 * $_ } 1 .. 20)
	{
		my $start = time;

		$session->{stderr} = '';
		$session->query("set statement_timeout = $timeout; select sum(v), sum(w) from l join r using (k)");
		$session->query('reset statement_timeout');
		$cancelled++ if $session->{stderr} =~ /statement timeout/;
		$late++ if time - $start > $timeout / 1000 + GRACE;
	}
	note "$cancelled of 20 were cancelled";
	cmp_ok($cancelled, '>', 5, "$label: cancelled at many places");
	is($late, 0, "$label: ... each in time");
	is($session->query('select sum(v), sum(w) from l join r using (k) where v < 100'), '9900|99009900',
		"$label: and the session goes on");

	# pg_cancel_backend, and a savepoint that survives it
	$session->{stderr} = '';
	$session->{stdin} .= "begin; savepoint s; select count(*) from same a join same b on a.k = b.k and a.z + b.z < 0;\n";
	$session->{run}->pump_nb;
	ok( wait_for(
			sub {
				$node->safe_psql('postgres',
					"select count(*) from pg_stat_activity where pid = $pid and state = 'active' and query like '%a.z + b.z%'") eq '1';
			}),
		"$label: it runs");
	$node->safe_psql('postgres', "select pg_cancel_backend($pid)");
	is($session->query('rollback to s; select count(*) from l join r using (k) where v < 10 and w < 10; commit;'),
		'9', "$label: the transaction goes on after pg_cancel_backend");
	like($session->{stderr}, qr/canceling statement due to user request/, "$label: it was cancelled");

	is(scalar(temp_files($node)), 0, "$label: no temporary files are left");
	is($session->query('select count(*) from hashgraph_last_joins() where join_type = \'Inner\' and matches = 9'), '1',
		"$label: the last join is the last one");
	$session->quit;
	ok(wait_for(sub { !device_children($pid) }, 5), "$label: no device process is left");
}

$node->stop;
done_testing();
