# DeviceCache.pm
#
# What the tests of device copies share: servers whose tables are cached with HashGraphs, comparisons of rows with
# those of PostgreSQL's own plans, and waits until a query runs where it should.
#
# The functions below run their statements in the session that open_session opened last.

package DeviceCache;

use strict;
use warnings;

use Exporter 'import';
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

our @EXPORT = qw(cache_server sliced_server open_session sql rows core_of last_backends is_right none_is_wrong);

# How many queries a random test draws: few under HG_QUICK, all in the nightly run.
my $SAMPLES = $ENV{HG_QUICK} ? 40 : 500;

my ($servers, $main) = (0);

# Starts a server that caches only the tables a test names, and forces HashGraph joins under backend auto.  PROGRAM is
# its device program, CONF holds more lines for postgresql.conf.  Opens a session, and returns the server and the session.
sub cache_server
{
	my ($name, $program, $conf) = @_;

	# Parallel plans cost nothing extra, so that max_parallel_workers_per_gather alone decides about them.
	my $node = new_server($name . '_' . ++$servers, init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<"CONF");
hashgraph.backend = auto
hashgraph.resident_memory = '64MB'
hashgraph.resident_auto = off
hashgraph.force = on
hashgraph.gpu_wait_limit = '5min'
hashgraph.device_program = '$program'
max_worker_processes = 20
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
${\($conf // '')}
CONF
	return ($node, open_session($node));
}

# The same with the stand-in as so many devices.  Each may keep KILOBYTES, so that larger tables are cut into slices.
# SWITCHES are environment variables of the stand-in.
sub sliced_server
{
	my ($name, $devices, $kilobytes, %switches) = @_;

	local @ENV{ 'HG_STANDIN_DEVICES', keys %switches } = ($devices, values %switches);
	return cache_server($name, standin_program(), <<"CONF");
wal_level = replica
work_mem = '64MB'
hashgraph.staging_size = '8MB'
hashgraph.resident_memory = '256MB'
hashgraph.resident_gpu_memory = '${kilobytes}kB'
CONF
}

# Opens a session with a server, which the functions below use from then on.  Returns the session.
sub open_session
{
	my ($node) = @_;

	return $main = RawSession->new($node);
}

# Runs statements, which must succeed.  Returns the rows of the last one.
sub sql { return $main->run_each(shift); }

# The rows of a query, sorted, or its error.
sub rows { return session_answer($main, shift); }

# The same by PostgreSQL's own plan.
sub core_of
{
	my ($select) = @_;

	return without_hashgraph($main, sub { rows($select) });
}

# The backends that the joins of the last query ran on, each once.
sub last_backends { return sql(q{select string_agg(distinct backend, ' ') from hashgraph_last_joins()}); }

# Tests: a query gives the rows, or the error, of PostgreSQL's own plan.  With option "like", a pattern, a second test
# says that what "look" returns for the query matches; "look" is last_backends by default.  Devices get graphs and
# columns in the background, so the query is repeated until that matches, rows differ, or "seconds" (15) have passed.
# Each repetition begins with the statements "between".
sub is_right
{
	my ($name, $select, %options) = @_;
	my $look = $options{look} // \&last_backends;
	my $core = core_of($select);
	my ($ours, $told) = ('', '');

	wait_for(sub {
		$ours = rows($select);
		return 1 if $ours ne $core or !defined $options{like};
		$told = $look->($select);
		return 1 if $told =~ $options{like};
		sql($options{between}) if defined $options{between};
		return 0;
	}, $options{seconds} // 15);
	is($ours, $core, $name);
	return 1 unless defined $options{like};
	return like($told, $options{like}, "$name: where it ran")
	  || diag(sql('select json_agg(r) from hashgraph_resident r') . sql('select json_agg(d) from hashgraph_devices() d'));
}

# Tests: no query that DRAW returns gives other rows, or another error, than PostgreSQL's own plan in the same snapshot.
# DRAW may change tables.  With option "look", at least one query must make that true, which says what NAME's device did.
# "between" runs after PostgreSQL's own plan.  Returns how many queries were drawn, and how many of them were errors.
sub none_is_wrong
{
	my ($name, $draw, %options) = @_;
	my ($wrong, $failed, $seen) = (0, 0, 0);

	foreach (1 .. $SAMPLES)
	{
		my $select = $draw->();

		sql('begin isolation level repeatable read; savepoint before');
		my $core = core_of($select);

		$main->query('rollback to before; set hashgraph.enabled = on');
		$options{between}->() if defined $options{between};
		my $ours = rows($select);
		my $is_error = defined $main->{error};

		$failed++ if $is_error;
		$seen++ if !$is_error && defined $options{look} && $options{look}->($select);
		$main->query('rollback');
		next if $ours eq $core;
		$wrong++;
		diag("$select\nis: $ours\nand not: $core");
	}
	is($wrong, 0, "$name: no random query of $SAMPLES is wrong, $failed of which are errors");
	cmp_ok($seen, '>', 0, "$name: ... and a device had a part in some: $seen") if defined $options{look};
	return ($SAMPLES, $failed);
}

1;
