# A join is cancelled wherever it stands, soon, and leaves a usable session.
#
# Takes long: it begins before others.
# Devices: a cancel reaches the device process over a socket.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use CancelledJoins;
use HashGraphTest;
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use Test::More;

# How long a cancel may take, in seconds: ten times the promise of 0.1 s, and of what a machine that stops for a while adds.
# What it takes beside PostgreSQL's own joins is measured by test/perf.
use constant MOST => 10 * (0.1 + 0.4);

# Samples of each query.
my $SAMPLES = $ENV{HG_QUICK} ? 5 : 24;

my $node = cancel_server();

foreach my $backend (backends())
{
	my $label = $backend->{label};
	my $settings = "set hashgraph.force = on; set hashgraph.backend = $backend->{backend};";

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$backend->{program}'");
	$node->reload;

	foreach my $join (sort keys %joins)
	{
		my @took = cancel_at_random($node, $settings, $joins{$join}, $SAMPLES, qw(cancel timeout terminate));

		cmp_ok(scalar @took, '>=', $SAMPLES / 4, "$label: $join: cancelled at random moments");
		cmp_ok(max(0, @took), '<', MOST, "$label: ... and each time answered");
	}
	is(scalar(temp_files($node)), 0, "$label: no temporary files are left");

	# cancelled after so many milliseconds, which is in the scans and while matches stream; what
	# is cancelled is a query that takes longer than that by far
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('select pg_backend_pid()');
	$session->query($settings);
	is($session->query('select count(*) from l join r using (k) where v < 10 and w < 10'), '9', "$label: a join");
	my %queries = (
		'scan of the inner side' => [ 50, 'select count(*) from l join generate_series(1, 30000000) g on g = k' ],
		'scan of the outer side' =>
		  [ 300, 'select count(*) from (select g as k from generate_series(1, 100000000) g) g join r using (k)' ],
		'quals of the matches' =>
		  [ 250, 'select count(*) from same a join same b on a.k = b.k and a.z + b.z < 0' ],
		'rows that are returned' => [ 250, 'select sum(a.z) from same a join same b using (k)' ],
		'unmatched rows' =>
		  [ 250, 'select count(*) from same a left join same b on a.k = b.k and a.z + b.z < 0' ],
		'partitions on disk' =>
		  [ 300, 'select count(*) from (select g as k, repeat(\'x\', 50) as x from generate_series(1, 100000000) g) g
				  join (select * from r) r using (k) where length(x) > w' ],
		# a batch of these takes a second or more
		'expressions of keys' =>
		  [ 300, q(select count(*) from same a join l on md5(rpad('', 1000000, a.z::text)) = l.k::text) ],
		'expressions of quals' =>
		  [ 300, q(select count(*) from same a join same b on a.k = b.k and md5(rpad('', 1000000, a.z || ' ' || b.z)) = '') ],
		'expressions of arguments' =>
		  [ 300, q(select min(md5(rpad('', 1000000, a.z || ' ' || b.z))) from same a join same b using (k)) ],
		'expressions of filters' =>
		  [ 300, q(select count(*) filter (where md5(rpad('', 1000000, a.z || ' ' || b.z)) = '') from same a join same b using (k)) ]);
	foreach my $where (sort keys %queries)
	{
		my ($timeout, $query) = @{ $queries{$where} };
		my $memory = $where =~ /disk/ ? '256kB' : '1GB';

		$session->{stderr} = '';
		my $start = time;
		$session->query("set work_mem = '$memory'; set statement_timeout = $timeout; $query; reset statement_timeout;");
		my $seconds = time - $start;
		$session->query('reset statement_timeout');
		like($session->{stderr}, qr/canceling statement due to statement timeout/, "$label: cancelled in $where");
		cmp_ok($seconds, '<', $timeout / 1000 + MOST, sprintf('%s: ... after %.2f s', $label, $seconds));
	}

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
	ok( wait_for(sub { $node->safe_psql('postgres', 'select coalesce(sum(jobs + queued), 0) from hashgraph_devices()') eq '0' }, 20),
		"$label: no job is left on the device");
}

$node->stop;
done_testing();
