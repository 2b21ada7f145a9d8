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
use RawSession;
use Test::More;

our @EXPORT = qw(cache_server restarted_server sliced_server open_session ask sql rows core_of last_backends is_right none_is_wrong);

# How many queries a random test draws: few under HG_QUICK, all in the nightly run.
my $SAMPLES = $ENV{HG_QUICK} ? 40 : 500;

my ($restarted, $main);

# Lines for postgresql.conf: the server caches only the tables that a test names, and forces HashGraph joins under
# backend auto.  Parallel plans cost nothing extra, so that max_parallel_workers_per_gather alone decides about them.
sub cache_conf
{
	my ($program, $memory, $conf) = @_;

	return <<"CONF";
hashgraph.backend = auto
hashgraph.resident_memory = '$memory'
hashgraph.resident_auto = off
hashgraph.force = on
hashgraph.gpu_wait_limit = '5min'
hashgraph.device_program = '$program'
max_worker_processes = 20
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
$conf
CONF
}

my %UTF8 = (init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ]);

# Starts a server whose device program is PROGRAM; CONF holds more lines for postgresql.conf.  Opens a session, and
# returns the server and the session.
sub cache_server
{
	my ($name, $program, $conf) = @_;
	my $node = new_server($name, %UTF8, conf => cache_conf($program, '64MB', $conf // ''));

	return ($node, open_session($node));
}

# Starts the one server of a test, which has so many devices of the stand-in, and returns it.  A server that an earlier call
# has started starts again with its tables: CONF, lines for postgresql.conf, takes the place of earlier lines and of what
# ALTER SYSTEM has set.  SWITCHES are environment variables of the stand-in.
sub restarted_server
{
	my ($conf, $devices, %switches) = @_;

	if (defined $restarted)
	{
		$restarted->stop;
		truncate $restarted->data_dir . "/$_", 0 foreach 'case.conf', 'postgresql.auto.conf';
	}
	else
	{
		# rows that are written without WAL are not served from the cache
		$restarted = new_server('server', %UTF8, conf => "wal_level = replica\nhashgraph.backend = cpu\ninclude_if_exists = 'case.conf'\n");
		$restarted->stop;
	}
	$restarted->append_conf('case.conf', "hashgraph.backend = auto\n$conf");
	local @ENV{ 'HG_STANDIN_DEVICES', keys %switches } = ($devices, values %switches);
	$restarted->start;
	return $restarted;
}

# Starts that server with the tables of the statements SETUP alone.  Cached tables are cut into slices where they are larger
# than the KILOBYTES that each device may keep.  Opens a session, and returns the server and the session.
sub sliced_server
{
	my ($setup, $devices, $kilobytes, %switches) = @_;

	# Witnesses of cached tables have transactions from the start of a server on, which keep a vacuum in SETUP from
	# marking pages all-visible.
	$restarted->safe_psql('postgres', 'drop schema public cascade; create schema public') if defined $restarted;
	my $node = restarted_server(cache_conf(standin_program(), '256MB', <<"CONF"), $devices, %switches);
work_mem = '64MB'
hashgraph.staging_size = '8MB'
hashgraph.resident_gpu_memory = '${kilobytes}kB'
CONF

	$node->safe_psql('postgres', "create extension if not exists hashgraph; $setup");
	return ($node, open_session($node));
}

# Opens a session with a server, which the functions below use from then on.  Returns the session.
sub open_session
{
	my ($node) = @_;

	return $main = RawSession->new($node);
}

# Runs statements, which must succeed.  Returns the rows of the last one.
sub sql { return $main->run_each(shift); }

# Runs queries whose rows don't matter.  A device is given the columns that they all need in one round of the loader.
sub ask { $main->query($_) foreach @_; return; }

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
# DRAW may change tables.  With option "look" a second test says that this function, which is given the query after it
# has run, returned true for at least one.  "between" runs after PostgreSQL's own plan, outside of the session.
# Returns how many queries were drawn, and how many of them were errors.
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
