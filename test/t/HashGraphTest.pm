# HashGraphTest.pm
#
# What the TAP tests share: servers with hashgraph preloaded, the backends that a run
# is to cover, and a look at device processes and temporary files.
#
# Which backends: TEMP_CONFIG, where it is set, says hashgraph.backend and
# hashgraph.device_program, and a run covers that one; else it covers the CPU and,
# where there is a device or the stand-in for one, that.

package HashGraphTest;

use strict;
use warnings;

use Cwd ();
use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep time);

our @EXPORT = qw(
  new_server major_version build_module backends standin_program device_programs covers device_children device_process proc_file process_state environment_of use_program
  ready_devices devices_become rows_of session_rows session_answer without_hashgraph explain_analyze wait_for witness_rounds random_moment answer_like becomes_like log_tells become_resident become_kept keeps_at_most temp_files join_check_sql pairs_rows pairs_filters session_ok accepts);

# A running server with the library preloaded and the extension in database postgres.
# Options: conf => lines for postgresql.conf; preload => shared_preload_libraries, or 'session'
# to have each session load the library, and use a device process of its own; init => options of
# the node's init.
sub new_server
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $preload = $options{preload} // 'hashgraph';

	$node->init(@{ $options{init} // [] });
	$node->append_conf('postgresql.conf', <<CONF);
jit = off
max_parallel_workers_per_gather = 0
autovacuum = off
CONF
	$node->append_conf('postgresql.conf',
		$preload eq 'session' ? "session_preload_libraries = 'hashgraph'\n" : "shared_preload_libraries = '$preload'\n")
	  if $preload ne '';
	$node->append_conf('postgresql.conf', $options{conf}) if defined $options{conf};
	$node->start;
	$node->safe_psql('postgres', 'create extension hashgraph') if $preload ne '';
	return $node;
}

# The major version of a server, pre-releases of it included.
sub major_version
{
	my ($node) = @_;

	return int($node->safe_psql('postgres', 'show server_version_num') / 10000);
}

# Build a module for tests from a C file of the directory test, without installing it; returns the path of the library.
sub build_module
{
	my ($source) = @_;
	my ($name) = $source =~ m{([^/]+)\.c$};
	my $library = PostgreSQL::Test::Utils::tempdir() . "/$name.so";
	my %config = map { /^(\S+) = (.*)/ ? ($1, $2) : () } split /\n/, qx{"\${PG_CONFIG:-pg_config}"};

	system("$config{CC} $config{CFLAGS} $config{CFLAGS_SL} $config{CPPFLAGS} -I'$config{'INCLUDEDIR-SERVER'}' "
		  . "-shared -o '$library' '$FindBin::Bin/../$source'") == 0
	  or die "$source was not built";
	return $library;
}

# Does a server take connections?  psql may be gone before it was given anything to do.
sub accepts
{
	my ($node) = @_;

	return eval { $node->psql('postgres', 'select 1') == 0 };
}

# The stand-in device process, or undef where it was not built.
sub standin_program
{
	my $program = $ENV{HG_STANDIN} // "$FindBin::Bin/../unit/build/hg_device_standin";

	return -x $program ? Cwd::abs_path($program) : undef;
}

# hashgraph_device of this installation, or undef where that was built without CUDA.
sub installed_program
{
	my ($bindir) = PostgreSQL::Test::Utils::run_command([ 'pg_config', '--bindir' ]);
	my ($program) = grep { -x } map { "$_/hashgraph_device" } split(/:/, $ENV{PATH}), $bindir // ();

	return $program;
}

# The same, where it finds a device.
sub device_program
{
	my $program = installed_program();

	return undef unless defined $program;
	return system("'$program' --probe >/dev/null 2>&1") == 0 ? $program : undef;
}

# What TEMP_CONFIG says of a setting.
sub configured
{
	my ($setting) = @_;

	return undef unless defined $ENV{TEMP_CONFIG} && -e $ENV{TEMP_CONFIG};
	return slurp_file($ENV{TEMP_CONFIG}) =~ /^\s*\Q$setting\E\s*=\s*'(.*)'/m ? $1 : undef;
}

# The backends to cover: hashes of label, backend and settings for a session.
sub backends
{
	my $backend = configured('hashgraph.backend');
	my $program = configured('hashgraph.device_program');
	my @found;

	push @found, { label => 'cpu', backend => 'cpu', program => '' }
	  if !defined $backend || $backend eq 'cpu';
	if (!defined $backend || $backend ne 'cpu')
	{
		$program = device_program() // standin_program() unless $program;
		push @found, { label => $program =~ /standin/ ? 'stand-in' : 'cuda',
			backend => 'cuda', program => $program }
		  if defined $program;
	}
	return @found;
}

# Is a test that makes no difference between backends, or is about one, to run now?
sub covers
{
	my ($backend) = @_;
	my $configured = configured('hashgraph.backend');

	return !defined $configured || $configured eq $backend;
}

# The programs that a test of devices may run over: the stand-in and the real one, of which one may be
# undef.  A test for which there is neither, or that is not to run now, is skipped.
sub device_programs
{
	plan skip_all => 'runs with backend cuda' unless covers('cuda');
	my @programs = (standin_program(), device_program());

	plan skip_all => 'neither a device nor the stand-in was built: make unit' unless grep { defined } @programs;
	return @programs;
}

# A file that /proc has of a process, whole; empty where the process is gone, even while it is read.
sub proc_file
{
	my ($pid, $name) = @_;

	open my $file, '<', "/proc/$pid/$name" or return '';
	local $/;
	return <$file> // '';
}

# The state of a process as /proc has it, X where it is gone.
sub process_state
{
	my ($pid) = @_;

	return proc_file($pid, 'stat') =~ /\) (\S) / ? $1 : 'X';
}

# Process ids of the device processes below a session or the worker: its children of that name.
sub device_children
{
	my ($pid) = @_;
	my @children;

	foreach my $stat (glob '/proc/[0-9]*/stat')
	{
		my ($child, $name, $state, $parent) = proc_file($stat =~ /(\d+)/, 'stat') =~ /^(\d+) \((.*)\) (\S) (\d+)/ or next;
		push @children, $child
		  if $parent == $pid && $state ne 'Z' && $name =~ /^(hashgraph_devic|hg_device_stand)/;
	}
	return @children;
}

# Process id of a server's device process, or undef where none runs.
sub device_process
{
	my ($node) = @_;
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});

	return $worker eq '' ? undef : (device_children($worker))[0];
}

# The environment that a process was started with, by name; nothing where it is gone.
sub environment_of
{
	my ($pid) = @_;

	return map { /^([^=]+)=(.*)/s ? ($1, $2) : () } split /\0/, proc_file($pid, 'environ');
}

# Have a server use a device program, with switches of the stand-in, from now on: sessions that start
# afterwards, or the server's process, which is ready when this returns unless it is to start slowly.
sub use_program
{
	my ($node, $program, %switches) = @_;
	my $of_server = $node->safe_psql('postgres', 'show shared_preload_libraries') =~ /hashgraph/;
	my $path = $program;

	# another path makes it another program, which takes the place of the one that runs
	if (%switches || $of_server)
	{
		$path = PostgreSQL::Test::Utils::tempdir() . '/device';
		append_to_file($path,
			join("\n", '#!/bin/sh', ": >$path.started", "export HG_TEST_PROGRAM=$path", (map { "export $_=$switches{$_}" } sort keys %switches), "exec '$program' \"\$@\"", ''));
		chmod 0755, $path;
	}
	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$path'");
	$node->reload;
	wait_for(sub { $node->safe_psql('postgres', "load 'hashgraph'; show hashgraph.device_program") eq $path })
	  or die 'the configuration was not read again';
	if ($of_server)
	{
		my $started = sub { my $pid = device_process($node); defined $pid && ({ environment_of($pid) }->{HG_TEST_PROGRAM} // '') eq $path };

		# one that lies may be seen off by the server's worker at once, each time that it is started
		$started = sub { -e "$path.started" }
		  if $switches{HG_STANDIN_LIES};
		wait_for($started) or die "$path was not started";
		$node->safe_psql('postgres', 'select count(*) from hashgraph_devices()') unless $switches{HG_STANDIN_START_DELAY_MS};
	}
	return;
}

# Columns of hashgraph_devices() for the devices that can be used.
sub ready_devices
{
	my ($node, $columns) = @_;

	return $node->safe_psql('postgres', "select $columns from hashgraph_devices() where state = 'ready'");
}

# The rows of a query under settings, statements that come before it, in an order of their own.
sub rows_of
{
	my ($node, $settings, $query) = @_;

	return join "\n", sort split /\n/, $node->safe_psql('postgres', "$settings $query");
}

# The rows that the last one of statements returns in a RawSession, in an order of their own.  All must succeed.
sub session_rows
{
	my ($session, $statements) = @_;

	return join "\n", sort split /\n/, $session->run_each($statements);
}

# The rows of a query in a RawSession, in an order of their own, or its error, which begins with its SQLSTATE.
sub session_answer
{
	my ($session, $query) = @_;
	my $rows = $session->query($query);

	return defined $session->{error} ? "$session->{sqlstate} $session->{error}" : join "\n", sort split /\n/, $rows;
}

# What a function tells while a RawSession goes without hashgraph.  It may leave a transaction that has failed, and the
# session without, for the caller to roll back.
sub without_hashgraph
{
	my ($session, $tell) = @_;

	$session->run_each('set hashgraph.enabled = off');
	my $told = $tell->();
	$session->query('set hashgraph.enabled = on');
	return $told;
}

# What EXPLAIN says of a query that has run under settings.
sub explain_analyze
{
	my ($node, $settings, $query) = @_;

	return $node->safe_psql('postgres', "$settings explain (analyze, costs off, timing off) $query");
}

# Wait until a condition holds; false after so many seconds.  Options: every => the seconds from one look to the next;
# between => a function that is called after each look in vain, and brings the condition about.
sub wait_for
{
	my ($condition, $seconds, %options) = @_;
	my $end = time + ($seconds // $PostgreSQL::Test::Utils::timeout_default);

	until ($condition->())
	{
		return 0 if time > $end;
		$options{between}->() if defined $options{between};
		usleep(1_000_000 * ($options{every} // 0.02));
	}
	return 1;
}

# Wait until the witnesses of a server have begun so many rounds.  In each round they look at interrupts, which tell them
# of other settings, and at whatever loaders are to be asked for: so this is how a test sees that something is left alone.
# Where nothing is resident there are none of them, nor anything to wait for.
sub witness_rounds
{
	my ($node, $rounds) = @_;
	my $last = '';

	return if $node->safe_psql('postgres', 'select count(*) from hashgraph_resident') == 0;
	for (0 .. $rounds)
	{
		my $now;

		wait_for(sub {
			$now = $node->safe_psql('postgres', q{select max(xact_start) from pg_stat_activity where backend_type = 'hashgraph witness'});
			$now ne '' && $now ne $last }, 60, every => 0.01)
		  or die 'no witness has begun a round';
		$last = $now;
	}
	return;
}

# Let a part of so many seconds pass, at random: what comes then meets another process anywhere in its work.  A test
# that needs it at one place waits for a state instead.
sub random_moment
{
	my ($most) = @_;

	usleep(rand 1_000_000 * $most);
	return;
}

# What a function tells, as soon as that is like a pattern, and after twenty seconds in any case: a device that
# has no processor to run on for a moment is left alone in a join, and not in the next one.
sub answer_like
{
	my ($tell, $pattern) = @_;
	my $told;

	wait_for(sub { ($told = $tell->()) =~ $pattern }, 20);
	return $told;
}

# A test: what a function tells becomes like a pattern, the place where a join runs for one: a loader gives a device the
# graphs and columns that it is to have, once a second or so, and the next version of them after rows have changed.
sub becomes_like
{
	my ($look, $pattern, $name) = @_;
	my $told;

	wait_for(sub { ($told = $look->()) =~ $pattern }, 15, every => 0.2);
	return like($told, $pattern, $name);
}

# A test: the server's log tells something, from a position in it on.  A process can be seen to have gone before
# the one that reaps it has written that down, so that it is waited for.
sub log_tells
{
	my ($node, $from, $pattern, $name) = @_;

	return ok(wait_for(sub { slurp_file($node->logfile, $from) =~ $pattern }, 20), $name)
	  || diag("the log from there on:\n" . slurp_file($node->logfile, $from));
}

# A test: columns of hashgraph_devices() become this.  A session says that it has done with a job, or asks for one, before
# the device process has come to it, and ends before that has noticed, so that it is waited for.
sub devices_become
{
	my ($node, $columns, $wanted, $name) = @_;
	my $told;

	return ok(wait_for(sub { ($told = ready_devices($node, $columns)) eq $wanted }, 20), $name) || diag("$columns: $told");
}

# A test for each of these tables: all of its blocks become resident, and are served.  A vacuum that comes within two
# periods of the witnesses after a change does not help, so that there are more of them.
sub become_resident
{
	my ($node, @tables) = @_;
	my $sql = sub { return $node->safe_psql('postgres', shift); };

	foreach my $table (@tables)
	{
		$sql->("vacuum (index_cleanup on) $table");
		$sql->("select hashgraph_resident_add('$table', wait => true)");
		ok(wait_for(sub {
			$sql->("select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) from hashgraph_resident where relation_id = '$table'::regclass and state <> 'declined'") eq 't'
			  and $sql->("set hashgraph.force = on; explain (analyze, costs off, timing off) select count(*) from $table") =~ /Heap Blocks: 0$/m }, 30, every => 0.2, between => sub { $sql->("vacuum (index_cleanup on) $table") }), "all of $table is resident") or diag($sql->('select * from hashgraph_resident'));
	}
	return;
}

# A test: all of what is resident of these tables, to which a RawSession goes, is in step with them, and a device has all
# of their graphs, which are so many.  hashgraph_resident tells what the witnesses saw last, which may be from before a
# change, so the visibility maps are asked too.
sub become_kept
{
	my ($session, $graphs, $name, @tables) = @_;
	my $sql = sub { return $session->run_each(shift); };
	my $refresh = join('; ', map { "vacuum $_" } @tables) . '; select ' . join(', ', map { "hashgraph_resident_refresh('$_')" } @tables);
	my $visible = join(' and ', map { "not exists (select from pg_visibility_map('$_') where not all_visible)" } @tables);

	$sql->('set client_min_messages = warning; create extension if not exists pg_visibility; reset client_min_messages');
	return ok(wait_for(sub {
		$sql->("select $visible and bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) and count(*) filter (where kind = 'graph' and location = 'both') = $graphs from hashgraph_resident where state <> 'declined'") eq 't' }, 40, every => 0.2, between => sub { $sql->($refresh) }), $name)
	  || diag($sql->('select json_agg(r) from hashgraph_resident r') . $sql->('select json_agg(d) from hashgraph_devices() d'));
}

# A test: no device of a server keeps more than so many kilobytes.
sub keeps_at_most
{
	my ($node, $kilobytes, $name) = @_;

	return is($node->safe_psql('postgres', "select count(*) from hashgraph_devices() where kept_bytes > $kilobytes * 1024"), '0', $name);
}

# The temporary files of a server.
sub temp_files
{
	my ($node) = @_;

	return grep { -f } glob($node->data_dir . '/base/pgsql_tmp/*');
}

# The functions of sql/include/join_check.sql.
sub join_check_sql
{
	return slurp_file("$FindBin::Bin/../../sql/include/join_check.sql");
}

# Rows of pairs of columns of one type, the second of which has NULLs, and texts of which few differ: a query.
sub pairs_rows
{
	my ($rows) = @_;

	return <<"SQL";
select i as k, i % 90 as a, case when i % 7 > 0 then i * 31 % 90 end as b, (i % 50)::int2 as c, case when i % 4 > 0 then (i * 17 % 50)::int2 end as d,
  i * 41::int8 % 99 as e, case when i % 8 > 0 then i * 13::int8 % 99 end as f, date '2020-01-01' + i % 60 as g, case when i % 7 > 0 then date '2020-01-01' + i * 19 % 60 end as h,
  (i % 3000)::numeric(12, 2) / 100 as m, case when i % 6 > 0 then (i * 23 % 3000)::numeric(12, 2) / 100 end as n, 'v ' || i % 40 as v, case when i % 8 > 0 then 'w ' || i % 40 end as w
from generate_series(1, $rows) i
SQL
}

# Conditions on their columns, which are decided over arrays.
sub pairs_filters
{
	return ((map { ("a $_ b", "c $_ d", "f $_ e", "g $_ h", "a $_ c", "n $_ 7.12", "b $_ 44", "d $_ 20") } qw(< <= = <> >= >)),
		'not a < b', '(a < b) is unknown', 'b is null and c < d', 'b is not null or c > d', 'n is null and w is null', 'm between 1.50 and 20 and n > 3 and b < 70',
		"v like '%1%'", "w not like '%1%'", "v in ('v 1', 'v 2') and a < b", "not (w = 'w 3' or n < 3)", q{w > 'w 3' collate "C" or v like 'v%9' and b <> a},
		'a in (1, 5, 9) and a < b', 'a < b and length(v) = 3 and c < d', 'a < b or m <> n');
}

# A server, or a session's server, still answers and joins.
sub session_ok
{
	my ($node, $name) = @_;

	is( $node->safe_psql('postgres', <<'SQL'), '1000', $name);
set hashgraph.force = on;
set hashgraph.backend = cpu;
select count(*) from generate_series(1, 1000) a join generate_series(1, 2000) b on a = b;
SQL
	return;
}

1;
