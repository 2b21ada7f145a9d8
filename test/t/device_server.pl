# The server's device process: one for all sessions, kept by a background worker.  Whatever
# becomes of it, joins are right, the server stays up, and the next join finds a new process.
#
# Runs over the stand-in, and what needs no misbehaviour over the real one too, where it finds a
# device.
#
# Takes long: it begins before others.

use strict;
use warnings;

use Fcntl qw(F_WRLCK);
use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();

# Seconds of the test that kills the process at random moments.
my $SECONDS = $ENV{HG_QUICK} ? 6 : 15;

# what is slow here is the machine, but where a join's patience is what is tested
my $conf = "work_mem = '64MB'\nhash_mem_multiplier = 1\nrestart_after_crash = on\nhashgraph.staging_size = '8MB'\n"
  . "hashgraph.gpu_wait_limit = '5min'\nhashgraph.send_pages = off\nmax_connections = 40\nwal_log_hints = on\nwal_keep_size = '256MB'\n"
  # the CPU joins no outer rows as they come, which it would do faster than a device
  . "hashgraph.build = v2\n";
my $node = new_server('server', conf => $conf, init => [ allows_streaming => 1 ]);

$node->safe_psql('postgres', 'create database other');
foreach my $database ('postgres', 'other')
{
	$node->safe_psql('other', 'create extension hashgraph') if $database eq 'other';
	$node->safe_psql($database, <<'SQL');
create table f as select case when i % 900 = 0 then 0 else i % 90000 + 1 end as k, i as v from generate_series(1, 420000) i;
create table d as select case when i % 120 = 0 then 0 else i % 20000 + 1 end as k, i as w from generate_series(1, 90000) i;
analyze;
SQL
}
my $join = 'select count(*), sum(v), sum(w) from f join d using (k)';
my $count = 'select count(*) from f join d using (k)';
my $expected = $node->safe_psql('postgres', "set hashgraph.enabled = off; $join");
my ($rows) = split /\|/, $expected;
my $last = q{select string_agg(distinct backend || '|' || coalesce(fallback, ''), ' ') from hashgraph_last_joins()};
my $started_at = $node->safe_psql('postgres', 'select pg_postmaster_start_time()');
my $named_waits = major_version($node) >= 17;

# The settings of a session that joins on the device, or that would like to.
sub under { return "set hashgraph.force = on; set hashgraph.backend = $_[0];"; }

# A session's result of a join and where it ran, under a backend.
sub join_under
{
	my ($backend, $settings, $server) = @_;

	return ($server // $node)->safe_psql('postgres', under($backend) . ($settings // '') . " $join; $last");
}

# What a server has logged from a position on.
sub logged
{
	my ($from) = @_;

	return substr(slurp_file($node->logfile), $from);
}

sub log_end { return -s $node->logfile; }

sub gone
{
	my ($pid, $seconds) = @_;

	return wait_for(sub { process_state($pid) =~ /[ZX]/ }, $seconds // 10);
}

# Nothing of what becomes of the device process may be a crash to the server.
sub never_restarted
{
	my ($name) = @_;

	is($node->safe_psql('postgres', 'select pg_postmaster_start_time()'), $started_at, "$name: the server was never restarted");
	unlike(slurp_file($node->logfile), qr/server process .* was terminated|other active server processes|PANIC/,
		"$name: ... and no process of it crashed");
	return;
}

# What a session waits for, if it is anything of ours.
sub wait_event
{
	my ($pid) = @_;

	return $node->safe_psql('postgres', "select wait_event_type || '/' || wait_event from pg_stat_activity where pid = $pid");
}

sub waits_for
{
	my ($pid, $event) = @_;
	my $wanted = 'Extension/' . ($named_waits ? $event : 'Extension');

	return wait_for(sub { wait_event($pid) eq $wanted }, 20);
}

# ------------------------------------------------------------------ one process for all

sub test_sharing
{
	my ($label, $program) = @_;

	use_program($node, $program);
	my $pid = device_process($node);
	is(join_under('cuda'), "$expected\ncuda|", "$label: a join runs on the device");
	is($node->safe_psql('other', under('cuda') . "$join; $last"), "$expected\ncuda|", "$label: ... in another database too");
	devices_become($node, 'ordinal >= 0, jobs, queued, staging, staging_used, restarts, uptime > interval \'0\', memory_held >= 0',
		't|0|0|' . 8 * 1024 * 1024 . '|0|0|t|t', "$label: hashgraph_devices() tells of the process");
	is($node->safe_psql('postgres', q{select count(*) from pg_stat_activity where backend_type = 'hashgraph device'}),
		1, "$label: the worker is in pg_stat_activity");
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	ok(waits_for($worker, 'HashGraphDeviceMain'), "$label: ... and waits");

	my @sessions = map { RawSession->new($node) } 1 .. 5;
	foreach my $session (@sessions)
	{
		$session->query(under('cuda') . 'begin; declare c cursor for select v, w from f join d using (k); move 10 in c');
		is($session->{error}, undef, "$label: a session joins");
	}
	is(ready_devices($node, 'jobs'), 5, "$label: five jobs are open");
	is(scalar(map { device_children($_->pid) } @sessions), 0, "$label: no session has a device process");
	is(device_process($node), $pid, "$label: ... but the server has one");
	my @moved = map { ($_->query('move all in c; select 1'), $_->{error} // '')[1] } @sessions;
	is("@moved", '    ', "$label: they go on side by side");
	$_->query('commit') foreach @sessions;
	devices_become($node, 'jobs, queued, staging_used', '0|0|0', "$label: no job is left");
	# one that hangs up in the midst leaves none either
	$sessions[0]->query('begin; declare c cursor for select v, w from f join d using (k); move 10 in c');
	close $sessions[0]{socket};
	devices_become($node, 'jobs', '0', "$label: none is left of a session that hung up");

	# processes of a parallel query
	my $force = major_version($node) >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
	my $before = $node->safe_psql('postgres', 'select cuda_joins, fallbacks from hashgraph_stat');
	my ($joins, $fallbacks) = split /\|/, $before;
	# auto leaves joins of this size to the CPU, where there is a real device
	foreach my $backend ('cuda', $label eq 'stand-in' ? 'auto' : ())
	{
		my $settings = under($backend) . "set max_parallel_workers_per_gather = 1; set $force = on;";

		like($node->safe_psql('postgres', "$settings explain (costs off) $join"), qr/Gather\b.*HashGraph/s, "$label, $backend: a parallel plan");
		is($node->safe_psql('postgres', "$settings $join"), $expected, "$label, $backend: a worker of a parallel query joins");
		$joins++;
	}
	is($node->safe_psql('postgres', 'select cuda_joins, fallbacks from hashgraph_stat'), "$joins|$fallbacks", "$label: ... on the device");
	is(device_process($node), $pid, "$label: ... in the same process");
	return;
}

test_sharing('cuda', $device) if defined $device;

if (!defined $standin)
{
	$node->stop;
	done_testing();
	exit;
}
test_sharing('stand-in', $standin);

# what EXPLAIN says of auto's choice: the stand-in is worth it from some 300,000 rows on
{
	my $auto = under('auto');

	like($node->safe_psql('postgres', "$auto explain $join"), qr/Expected Backend: cuda\n +Device Estimate: \d+\.\d+ ms\n +CPU Estimate: \d+\.\d+ ms/,
		'auto: the device is expected to be faster');
	like($node->safe_psql('postgres', "$auto explain select count(*) from d a join d b using (k)"), qr/Expected Backend: cpu\n/,
		'auto: ... but not for few rows');
	like($node->safe_psql('postgres', "$auto explain (analyze) $join"), qr/Backend: cuda\n +Device: .*\n +Device Estimate: .* ms\n +CPU Estimate: /,
		'auto: it was, and why is shown');
	like($node->safe_psql('postgres', "$auto explain (analyze) select count(*) from d a join d b using (k)"),
		qr/Backend: cpu\n +Device Estimate: .* ms\n +CPU Estimate: /, 'auto: ... and why not');
	unlike($node->safe_psql('postgres', under('cpu') . "explain $join"), qr/Estimate/, 'cpu: there is no choice');
	$node->safe_psql('postgres', q{create function many() returns setof int language plpgsql rows 1e30 as 'begin return next 1; end'});
	my ($ms) = $node->safe_psql('postgres', "$auto explain select count(*) from many() m (k) join d using (k)") =~ /CPU Estimate: (\d+)\.\d+ ms/;
	cmp_ok($ms // 0, '>', 1000, 'auto: the most rows that there can be are a matter of seconds, also where many more are expected');
}

# ------------------------------------------------------------------ keys that are sent while tables are scanned

# Does a plan tell how many keys were sent, and where it was joined?  Is the result right?
sub test_sending
{
	my ($what, $settings, $query, $sent, $backend) = @_;
	my $right = $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");
	my $plan;

	# on a busy machine the tables may be read before the device process has answered at all
	ok( wait_for(
			sub {
				$plan = $node->safe_psql('postgres', "$settings explain (analyze, costs off, timing off) $query");
				return !$sent == ($plan !~ /Keys Sent During Scan: [1-9]/);
			},
			20),
		"$what: keys were " . ($sent ? '' : 'not ') . 'sent during the scan') or diag($plan);
	like($plan, qr/Backend: $backend/, "$what: $backend joins");
	is($node->safe_psql('postgres', "$settings $query"), $right, "$what: ... and is right");
	devices_become($node, 'jobs, queued, staging_used, memory_held', '0|0|0|0', "$what: ... and nothing is left");
	return;
}

$node->safe_psql('postgres', <<'SQL');
create function nothing(int) returns int immutable language plpgsql as 'begin return $1; end';
create function nothing_hash(int) returns int immutable strict language plpgsql as 'begin return hashint4($1); end';
create function nothing_eq(int, int) returns bool immutable strict language internal as 'int4eq';
create operator === (leftarg = int, rightarg = int, procedure = nothing_eq, commutator = ===, hashes);
create operator class nothing_ops for type int using hash as operator 1 ===, function 1 nothing_hash(int);
create function joins(int) returns bigint stable language sql as 'select count(*) + $1 from d a join d b using (k)';
SQL
foreach my $backend ('cuda', 'auto')
{
	my $settings = under($backend) . 'set enable_material = off;';

	foreach my $query ($join, $count, 'select count(*), sum(v), sum(w) from f left join d using (k)',
		'select count(*), sum(v) from f where exists (select 1 from d where d.k = f.k)',
		'select count(*), sum(v), sum(w) from f full join d using (k)')
	{
		test_sending("$backend, $query", $settings, $query, 1, 'cuda');
	}
	# auto joins outer rows as they come where few are expected, and the device may be faster only for more
	test_sending("$backend, more keys than were expected", "$settings set hashgraph.build = auto;", "$join where v % 2 < 2 and w % 2 < 2", $backend eq 'cuda', $backend eq 'cuda' ? 'cuda' : 'cpu');
	test_sending("$backend, more keys than were expected, of rows that are kept", $settings,
		'select count(*), sum(v), sum(w) from f left join (select * from d where w % 2 < 2) d using (k) where v % 2 < 2', $backend eq 'cuda', 'cuda');
	test_sending("$backend, a join that is cut", "$settings set hashgraph.gpu_memory_limit = '4MB';", $join, 0, 'cuda');
	test_sending("$backend, a function that may wait", $settings, 'select count(*), sum(v), sum(w) from f left join d using (k) where nothing(v) > 0', 0, 'cuda');
	test_sending("$backend, a hash function that may wait", $settings, 'select count(*), sum(v), sum(w) from f join d on f.k === d.k', 0, 'cuda');
	test_sending("$backend, a function that joins", "$settings set hashgraph.min_rows = 0;",
		"$join where w <= (select joins(0)) and v % 100000 = 5 and joins(v) > 0", 0, '(cuda|cpu)');
	test_sending("$backend, a child that is no table", $settings, 'select count(*), sum(v), sum(w) from f join (select * from d offset 0) d using (k)', 0, 'cuda');
	test_sending("$backend, a join on disk", "$settings set work_mem = '1MB';", $join, 0, '.*');
	test_sending("$backend, few keys after all", $settings, "$join where v / 419000 <> 0 and w / 89000 <> 0", 0,
		$backend eq 'cuda' ? 'cuda' : 'cpu');
	test_sending("$backend, two joins", $settings,
		'select count(*), sum(v), sum(w) from (select * from f join d using (k) offset 0) a join (select k, v as v2 from f join d using (k) where v < 900 offset 0) b using (k)',
		1, 'cuda');
	test_sending("$backend, rescans", $settings,
		'select sum(n) from generate_series(1, 3) g, lateral (select count(*) + sum(w) as n from f join d using (k) where v > g * 1000 offset 0) x',
		0, 'cuda');
}
ok(wait_for(sub { $node->safe_psql('postgres', under('cuda') . "$join; select sent_rows > 0 from hashgraph_last_joins()") eq "$expected\nt" }, 20),
	'hashgraph_last_joins() tells of keys that were sent');
{
	# what others hold of the device is waited for after the scan, and no longer than that
	use_program($node, $standin);
	my $holder = RawSession->new($node);
	my $waiting = RawSession->new($node);

	$node->safe_psql('postgres', "alter system set hashgraph.gpu_memory_budget = '24MB'");
	$node->reload;
	# no cursor makes room, as idle as it may be
	use_program($node, $standin, HG_STANDIN_EVICT_MS => 600000);
	$holder->query(under('cuda') . 'begin; declare c cursor for select v, w from f join d using (k); move 10 in c');
	is($holder->{error}, undef, 'a full device: a session has it');
	$waiting->query(under('cuda'));
	$waiting->send($join);
	ok(waits_for($waiting->pid, 'HashGraphDeviceJob'), '... another one has read its tables, and waits');
	devices_become($node, 'queued', 1, '... in the queue');
	$holder->query('rollback');
	ok($waiting->finish(20) && !defined $waiting->{error}, '... until the device is free');
	is(join("\n", @{ $waiting->{rows} }), $expected, '... and is right');
	$holder->query('begin; declare c cursor for select v, w from f join d using (k); move 10 in c');
	is($node->safe_psql('postgres', "set hashgraph.gpu_wait_limit = '50ms';" . under('auto') . "$join; $last"),
		"$expected\ncpu|the device did not answer in time", '... under auto the CPU joins after a while');
	# a limit that is none tells the same of a turn that does not come, once the worker has heard from the process
	ok(wait_for(sub { $node->safe_psql('postgres', 'set hashgraph.gpu_wait_limit = 0;' . under('auto') . "$join; $last") eq "$expected\ncpu|the device did not answer in time" }, 20),
		'... by default, too');
	$holder->query('rollback');
	close $_->{socket} foreach $holder, $waiting;
	$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_memory_budget');
	$node->reload;
}
{
	# a session that is stopped at random moments, most of them while it reads and sends
	use_program($node, $standin);
	my $session = RawSession->new($node);
	my $stopped = 0;

	$session->query(under('cuda'));
	for my $round (1 .. $SECONDS * 4)
	{
		$session->query('set statement_timeout = ' . (1 + int rand 120));
		$session->query($join);
		$stopped++ if defined $session->{error};
		fail("stopped while it sends: $session->{sqlstate} $session->{error}") if defined $session->{error} && $session->{sqlstate} ne '57014';
		fail('stopped while it sends: it is wrong') if !defined $session->{error} && join("\n", @{ $session->{rows} }) ne $expected;
	}
	cmp_ok($stopped, '>', 0, 'stopped while it sends: some joins are');
	devices_become($node, 'jobs, queued, staging_used, memory_held', '0|0|0|0', 'stopped while it sends: nothing is left');
	close $session->{socket};
}

# ------------------------------------------------------------------ starting

{
	use_program($node, $standin, HG_STANDIN_START_DELAY_MS => 8000);
	my $session = RawSession->new($node);

	is(join_under('auto'), "$expected\ncpu|the device process is still starting", 'starting, auto: the CPU joins meanwhile, and nobody waits');
	my (undef, undef, $err) = $node->psql('postgres', under('cuda') . "set statement_timeout = 200; $count");
	like($err, qr/statement timeout/, 'starting, cuda: the wait can be cancelled');
	$session->send(under('cuda') . $count);
	ok(waits_for($session->pid, 'HashGraphDeviceStart'), 'starting, cuda: a session waits for it');
	$session->finish;
	is($session->{error} // $session->{rows}[-1], $rows, 'starting, cuda: ... and joins then');
	is($session->query($last), 'cuda|', 'starting, cuda: ... on the device');
}

# ------------------------------------------------------------------ killed

use_program($node, $standin);
foreach my $signal ('KILL', 'SEGV', 'TERM')
{
	# what is lost again and again is replaced ever later, until the configuration is read again
	$node->reload;
	my $session = RawSession->new($node);
	my $before = ready_devices($node, 'restarts');
	my $pid = device_process($node);

	$session->query(under('cuda') . $count);
	$session->query('begin; declare c cursor for select v, w from f join d using (k); move 1000 in c');
	kill $signal, $pid;
	$session->query('move all in c');
	like($session->{error}, qr/device process/, "$signal, cuda: an error");
	like($session->{sqlstate}, qr/^58000$/, "$signal, cuda: ... of its class");
	$session->query('rollback');
	is($session->query("$count"), $rows, "$signal, cuda: the same session's next join");
	is($session->query($last), 'cuda|', "$signal, cuda: ... is on the device");
	cmp_ok(device_process($node), '!=', $pid, "$signal, cuda: ... which another process has");
	is(ready_devices($node, 'restarts'), $before + 1, "$signal: the restart is counted");
	is(join_under('cuda'), "$expected\ncuda|", "$signal: a new session joins too");

	# in the midst of a stream, under auto
	$session->query('reset all; ' . under('auto') . 'begin; create temp table got (v int, w int);'
		  . ' declare c cursor for select v, w from f join d using (k); move 1000 in c');
	kill $signal, device_process($node);
	is((split /\n/, $session->query(q{do $$ declare c refcursor := 'c'; r record; n int8 := 0; begin loop fetch c into r; exit when not found; n := n + 1; end loop; perform set_config('my.n', n::text, false); end $$; select current_setting('my.n')}))[-1],
		$rows - 1000, "$signal, auto: as many rows as there are") or diag($session->{error});
	$session->query('rollback');
	ok(wait_for(sub { defined device_process($node) && ready_devices($node, 'count(*)') eq '1' }, 20), "$signal: it is back");
}
never_restarted('killed');

# stopped: it costs a session its timeout once, and the others nothing
{
	$node->reload;
	my $impatient = "set hashgraph.gpu_wait_limit = '1s';";
	my $pid = device_process($node);
	my $session = RawSession->new($node);

	# ... unless the machine has too much else to do
	ok(wait_for(sub { join_under('auto', $impatient) eq "$expected\ncuda|" }, 20), 'patience is enough for a join');
	# it is there already: the worker finds out too, in a second
	$session->query(under('auto') . $impatient);
	kill 'STOP', $pid;
	is($session->query($join), $expected, 'stopped, auto: the CPU takes over');
	is($session->query($last), 'cpu|the device did not answer in time', 'stopped, auto: ... after a while');
	# one that had asked and waited would tell that it did not answer in time
	is(join_under('auto'), "$expected\ncpu|the device does not answer", 'stopped, auto: the next session does not ask it, nor waits');
	kill 'CONT', $pid;
	ok(wait_for(sub { join_under('auto') eq "$expected\ncuda|" }, 20), 'it goes on: joins run on it again');
	is(device_process($node), $pid, '... which is the same process');
	# the session that waited in vain does not do so again soon
	is($session->query($join), $expected, '... but the CPU joins in the session that waited');
	is($session->query($last), 'cpu|the device did not answer an earlier join in time', '... which it remembers');
	ok(wait_for(sub { $session->query($join) eq $expected && $session->query($last) eq 'cuda|' }, 60), '... for a while');

	# ... but asks the process that takes the place of the one that it waited for
	kill 'STOP', $pid;
	is($session->query($join), $expected, 'stopped and killed, auto: the CPU takes over');
	is($session->query($last), 'cpu|the device did not answer in time', '... after a while');
	kill 'KILL', $pid;
	is(join_under('cuda'), "$expected\ncuda|", 'stopped and killed, cuda: a join waits for another process');
	is($session->query($join), $expected, '... which joins in the session that waited for the old one, too');
	is($session->query($last), 'cuda|', '... at once');
	$pid = device_process($node);

	kill 'STOP', $pid;
	is(join_under('cuda'), "$expected\ncuda|", 'stopped for good, cuda: a join waits for another process');
	cmp_ok(device_process($node), '!=', $pid, '... which there is');
	ok(gone($pid), '... and the old one is none any more');
	log_tells($node, 0, qr/device process \(PID $pid\) was lost\n.*did not answer, and was killed/, '... which the log tells');
	never_restarted('stopped');
}

# stopped before it has come up, where it has nothing to say for a long time
{
	my $from = log_end();

	use_program($node, $standin, HG_STANDIN_START_DELAY_MS => 3000);
	my $pid = device_process($node);
	kill 'STOP', $pid;
	is(join_under('auto'), "$expected\ncpu|the device process is still starting", 'stopped while it starts, auto: the CPU joins');
	# for less than ten times what a start may take
	is(join_under('cuda', "set statement_timeout = '400s';"), "$expected\ncuda|", 'stopped while it starts, cuda: a join waits for another process');
	ok(gone($pid), '... and the old one is none any more');
	log_tells($node, $from, qr/device process \(PID $pid\) was lost\n.*stopped while it started, and was killed/, '... which the log tells');
	use_program($node, $standin);
	never_restarted('stopped while it starts');
}

# at random moments, under many sessions
{
	$node->safe_psql('postgres', <<"SQL");
create table failures (at timestamptz default now(), sqlstate text, message text);
create function check_join(tolerant bool) returns void language plpgsql as \$\$
declare r text;
begin
  begin
    select count(*) || '|' || sum(v) || '|' || sum(w) into r from f join d using (k);
  exception when system_error or object_not_in_prerequisite_state then
    if not tolerant then raise; end if;
    return;
  end;
  if r <> '$expected' then
    raise exception 'wrong result %', r;
  end if;
end \$\$;
SQL
	my $script = PostgreSQL::Test::Utils::tempdir();
	my %bench;

	foreach my $backend ('auto', 'cuda')
	{
		append_to_file("$script/$backend", 'select check_join(' . ($backend eq 'cuda' ? 'true' : 'false') . ");\n");
		local $ENV{PGOPTIONS} = "-c hashgraph.backend=$backend -c hashgraph.force=on -c hashgraph.gpu_wait_limit=2s";
		local $ENV{PGHOST} = $node->host;
		local $ENV{PGPORT} = $node->port;
		my ($in, $out, $err) = ('', '', '');
		my $run = IPC::Run::start([ 'pgbench', '-n', '-c', 3, '-T', $SECONDS, '-f', "$script/$backend", 'postgres' ],
			'<', \$in, '>', \$bench{$backend}{out}, '2>', \$bench{$backend}{err});
		$bench{$backend}{run} = $run;
	}
	my ($end, $hits) = (time + $SECONDS - 1, 0);
	while (time < $end)
	{
		my $pid = device_process($node);
		my $signal = (qw(KILL SEGV STOP))[ rand 3 ];

		random_moment(0.4);
		next unless defined $pid;
		next unless kill $signal, $pid;
		# a reload forgets how often it was lost: or the pauses became too long for this test
		$node->reload if ++$hits % 4 == 0;
		# nobody waits for ten seconds here: what was stopped goes on, or is killed
		if ($signal eq 'STOP')
		{
			random_moment(1);
			kill((rand() < 0.5 ? 'CONT' : 'KILL'), $pid);
		}
	}
	foreach my $backend (sort keys %bench)
	{
		$bench{$backend}{run}->finish;
		is($bench{$backend}{run}->result(0), 0, "killed at random moments, $backend: every join was right"
			  . ($backend eq 'cuda' ? ', or failed as it should' : ''))
		  or diag($bench{$backend}{err});
		my ($done) = $bench{$backend}{out} =~ /transactions actually processed: (\d+)/;
		cmp_ok($done // 0, '>', 0, "... of which there were " . ($done // 0) . ", with $hits signals");
	}
	never_restarted('killed at random moments');
	ok(wait_for(sub { join_under('cuda') eq "$expected\ncuda|" }, 30), 'joins run on the device afterwards');
	devices_become($node, 'jobs, queued, staging_used', '0|0|0', '... and nothing is left of the others');
}

# ------------------------------------------------------------------ programs that come and go

{
	my $missing = PostgreSQL::Test::Utils::tempdir() . '/later';
	my $pid = device_process($node);

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$missing'");
	$node->reload;
	ok(gone($pid), 'a program that is to be another one: the process ends');
	ok(wait_for(sub { join_under('auto') eq "$expected\ncpu|hashgraph was installed without CUDA" }, 20), 'no program, auto: the CPU joins');
	my $from = log_end();
	join_under('auto');
	unlike(logged($from), qr/fell back/, 'no program, auto: ... which the log does not tell again and again');
	my (undef, undef, $err) = $node->psql('postgres', under('cuda') . $count);
	like($err, qr/ERROR: .*without CUDA/, 'no program, cuda: an error');
	append_to_file($missing, "#!/bin/sh\nexec '$standin' \"\$@\"\n");
	chmod 0755, $missing;
	is(join_under('cuda'), "$expected\ncuda|", 'the program is there: the next join finds it');

	# one that has no device is not tried again and again
	$from = log_end();
	$node->safe_psql('postgres', "alter system set hashgraph.staging_size = '4MB'");
	$node->reload;
	devices_become($node, 'staging', 4 * 1024 * 1024, 'a setting of the process changes: it is replaced');
	log_tells($node, $from, qr/was stopped: .*new settings/, '... which the log tells');
	is(ready_devices($node, 'restarts > 0, uptime < interval \'1 min\''), 't|t', '... and hashgraph_devices() shows');
	$node->safe_psql('postgres', 'alter system reset hashgraph.staging_size');
	$node->reload;
	use_program($node, $standin);
}
{
	my $declining = PostgreSQL::Test::Utils::tempdir() . '/declining';

	append_to_file($declining, "#!/bin/sh\nexport HG_STANDIN_UNAVAILABLE=1\nexec '$standin' \"\$@\"\n");
	chmod 0755, $declining;
	my $from = log_end();
	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$declining'");
	$node->reload;
	ok(wait_for(sub { join_under('auto') eq "$expected\ncpu|no device" }, 20), 'no device, auto: the CPU joins');
	my (undef, undef, $err) = $node->psql('postgres', under('cuda') . $count);
	like($err, qr/ERROR: .*no device/, 'no device, cuda: an error');
	is(scalar(() = logged($from) =~ /uses no GPU: no device/g), 1, 'no device: the log has the reason, once');
}

# A program that takes long to be found, as on a file system that hangs: a lease on it, which its
# opening has to wait for, holds up the new process, and nobody else.
{
	my ($F_SETLEASE, $slow) = (1024, PostgreSQL::Test::Utils::tempdir() . '/slow');
	local $SIG{IO} = 'IGNORE';

	append_to_file($slow, "#!/bin/sh\nexec '$standin' \"\$@\"\n");
	chmod 0755, $slow;
	open my $lease, '<', $slow or die "$slow: $!";
  SKIP: {
		skip "no leases on files of this system: $!", 4 unless fcntl $lease, $F_SETLEASE, F_WRLCK;
		my $pid = device_process($node);
		$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$slow'");
		$node->reload;
		ok(!defined $pid || gone($pid), 'a program that takes long to open: the process before it ends');
		ok(wait_for(sub { join_under('auto') eq "$expected\ncpu|the device process is still starting" }), '... and the CPU joins meanwhile');
		$node->safe_psql('postgres', 'create database passing');
		is($node->psql('postgres', 'set statement_timeout = \'15s\'; drop database passing'), 0, '... who waits for all processes of the server need not wait for it');
		close $lease;
		is(join_under('cuda'), "$expected\ncuda|", '... and once it opens, the next join finds it');
	}
}
{
	my $broken = PostgreSQL::Test::Utils::tempdir() . '/broken';
	my $from = log_end();

	append_to_file($broken, "#!/no/such/interpreter\n");
	chmod 0755, $broken;
	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$broken'");
	$node->reload;
	ok(wait_for(sub { join_under('auto') eq "$expected\ncpu|could not start the device process" }, 20), 'a program that can\'t be run, auto: the CPU joins');
	my (undef, undef, $err) = $node->psql('postgres', under('cuda') . $count);
	like($err, qr/ERROR: .*could not start the device process/, 'a program that can\'t be run, cuda: an error');
	log_tells($node, $from, qr/uses no GPU: could not start the device process\n.*No such file or directory/, '... and the log says why');
	use_program($node, $standin);
}

# ------------------------------------------------------------------ devices that fail

{
	use_program($node, $standin, HG_STANDIN_FAIL => 1);
	my $pid = device_process($node);
	my $from = log_end();

	is(join_under('auto'), "$expected\ncpu|the device failed", 'the device fails, auto: the CPU takes over');
	ok(gone($pid), '... and the process, which is of no more use, ends');
	log_tells($node, $from, qr/device process \(PID $pid\) was lost\n.*It ended with exit code 3/, '... which the log tells');
	my (undef, undef, $err) = $node->psql('postgres', under('cuda') . $count);
	like($err, qr/ERROR: .*the device failed/, 'the device fails, cuda: an error');

	use_program($node, $standin, HG_STANDIN_OUT_OF_MEMORY => 1);
	$pid = device_process($node);
	is(join_under('auto'), "$expected\ncpu|out of device memory", 'the device has no memory, auto: the CPU takes over');
	is(device_process($node), $pid, '... and the process goes on');
	never_restarted('failing devices');
}

# ------------------------------------------------------------------ the queue

{
	# room for one such join, and not for two, and no cursor makes room
	$node->append_conf('postgresql.conf', "hashgraph.gpu_memory_budget = '24MB'\n");
	use_program($node, $standin, HG_STANDIN_EVICT_MS => 600000);
	is(join_under('cuda'), "$expected\ncuda|", 'a join fits the device');

	my ($first, @others) = map { RawSession->new($node) } 1 .. 6;
	my $cursor = 'begin; declare c cursor for select v, w from f join d using (k); move 10 in c';

	$_->query(under('cuda')) foreach $first, @others;
	$first->query($cursor);
	is($first->{error}, undef, 'a job is open');
	for my $i (0 .. 2)
	{
		$others[$i]->send("$count");
		devices_become($node, 'jobs, queued', '1|' . ($i + 1), 'another one queues');
	}
	ok(waits_for($others[0]->pid, 'HashGraphDeviceJob'), 'its session waits for it');

	# whoever gives up leaves the queue at once
	kill 'INT', $others[1]->pid;
	ok($others[1]->finish(50), 'a cancel in the queue is answered');
	is($others[1]{sqlstate}, '57014', '... as one');
	devices_become($node, 'jobs, queued', '1|2', '... and leaves the queue');
	$others[3]->query("set statement_timeout = '200ms'; $count");
	is($others[3]{sqlstate}, '57014', 'statement_timeout in the queue');
	$others[4]->query('reset all;' . under('auto') . "set hashgraph.gpu_wait_limit = '200ms'");
	is($others[4]->query("$count"), $rows, 'backend auto does not wait for long');
	is($others[4]->query($last), 'cpu|the device did not answer in time', '... but goes to the CPU');
	devices_become($node, 'jobs, queued', '1|2', '... which leaves the queue too');
	kill 'TERM', $others[2]->pid;
	devices_become($node, 'jobs, queued', '1|1', 'a session that is terminated leaves the queue');

	# a session with an open job does not wait for itself
	is($first->query("$count"), $rows, 'a second join of the session that has the job');
	$first->query('commit');
	$others[0]->finish;
	is($others[0]{error} // $others[0]{rows}[-1], $rows, 'the first in the queue has its turn');
	is($others[0]->query($last), 'cuda|', '... on the device');
	devices_become($node, 'jobs, queued, staging_used', '0|0|0', 'nobody is left');

	# first come, first served: whoever has a turn keeps it until its cursor is closed
	$first->query($cursor);
	my @order;
	for my $i (0, 1, 3)
	{
		$others[$i]->query("reset all;" . under('cuda'));
		$others[$i]->send($cursor);
		push @order, $others[$i];
		devices_become($node, 'jobs, queued', '1|' . @order, 'another one queues');
	}
	$first->query('commit');
	while (my $next = shift @order)
	{
		my $has_turn = $next->finish(20) && !defined $next->{error};

		ok($has_turn, 'first come, first served');
		last unless $has_turn;
		devices_become($node, 'jobs, queued', '1|' . @order, '... one at a time');
		$next->query('commit');
	}
	close $_->{socket} foreach $first, @others;

	# take(n) fetches so many rows of cursor c into table got; what all of these are
	my $take = <<'SQL';
create temp table got (v int, w int);
create function pg_temp.take(most int) returns text language plpgsql as $$
declare
  c refcursor := 'c';
  r record;
begin
  for i in 1 .. most loop
    fetch c into r;
    exit when not found;
    insert into got values (r.v, r.w);
  end loop;
  return (select count(*) || '|' || sum(v) || '|' || sum(w) from got);
end $$;
SQL

	# cursors that nobody asks for rows make room, and go on when they are asked again
	use_program($node, $standin);
	my %cursor = map { $_ => RawSession->new($node) } 'cuda', 'auto';
	my $hungry = RawSession->new($node);

	$hungry->query(under('cuda'));
	$hungry->query("set statement_timeout = '60s'");
	foreach my $backend ('cuda', 'auto')
	{
		my $session = $cursor{$backend};
		my $rounds = $backend eq 'cuda' ? 2 : 1;
		my $fallbacks = $node->safe_psql('postgres', 'select fallbacks from hashgraph_stat');

		$session->query(under($backend) . $take);
		$session->query('begin; declare c cursor for select v, w from f join d using (k)');
		$session->query('select pg_temp.take(1700)');
		is($session->{error}, undef, "an idle cursor, $backend: has its first rows");
		devices_become($node, 'jobs, memory_reserved > 0', '1|t', "an idle cursor, $backend: ... from the device, whose memory is reserved");
		foreach my $round (1 .. $rounds)
		{
			is($hungry->query($join), $expected, "an idle cursor, $backend: makes room for another session's join")
			  or diag($hungry->{error});
			is($hungry->query($last), 'cuda|', "an idle cursor, $backend: ... which is on the device");
			devices_become($node, 'jobs, memory_reserved > 0', '0|f', "an idle cursor, $backend: ... where it holds nothing any more");
			$session->query('select pg_temp.take(1100)') if $round < $rounds;
		}
		is($session->query('select pg_temp.take(100000000)'), $expected, "an idle cursor, $backend: has all of its rows, each once")
		  or diag($session->{error});
		$session->query('commit');
		is($session->query($last), $backend eq 'cuda' ? 'cuda|' : "cpu|the device gave the join's memory to another join",
			"an idle cursor, $backend: ... and tells where from");
		is($node->safe_psql('postgres', 'select fallbacks from hashgraph_stat') - $fallbacks, $backend eq 'cuda' ? 0 : 1,
			"an idle cursor, $backend: ... and how often that was the CPU");
		close $session->{socket};
	}
	# ... in the midst of a row that has more matches than come at a time, again and again
	use_program($node, $standin, HG_STANDIN_EVICT_MS => 100);
	$node->safe_psql('postgres', <<'SQL');
create table many as select case when i <= 100000 then 7 else i end as k, i as w from generate_series(1, 390000) i;
create table few as select case when i <= 3 then 7 else i * 10 + 300000 end as k, i as v from generate_series(1, 20) i;
analyze many, few;
SQL
	foreach my $query ('select v, w from few join many using (k)', 'select v, w from many join few using (k)')
	{
		my $right = $node->safe_psql('postgres', "set hashgraph.enabled = off; select count(*) || '|' || sum(v) || '|' || sum(w) || '|' || count(distinct (v, w)) from ($query) q");
		my $session = RawSession->new($node);
		my $evicted = 0;

		$session->query(under('cuda') . "set work_mem = '64MB'; $take");
		$session->query("begin; declare c cursor for $query");
		foreach my $most (10, 65530, 10, 40000, 65536)
		{
			$session->query("select pg_temp.take($most)");
			$hungry->query($count);
			$evicted++ if !defined $hungry->{error} && $hungry->query($last) eq 'cuda|';
		}
		is($evicted, 5, "$query: its job is evicted again and again");
		$session->query('select pg_temp.take(100000000)');
		is($session->query(q{select count(*) || '|' || sum(v) || '|' || sum(w) || '|' || count(distinct (v, w)) from got}), $right, "$query: ... and has all of its rows, each once")
		  or diag($session->{error});
		close $session->{socket};
	}
	devices_become($node, 'jobs, queued, staging_used, memory_reserved', '0|0|0|0', 'an idle cursor: nobody is left');
	$node->append_conf('postgresql.conf', "hashgraph.gpu_memory_budget = 0\n");
}

# little staging memory for many sessions: they take turns
{
	$node->append_conf('postgresql.conf', "hashgraph.staging_size = '1MB'\n");
	use_program($node, $standin);
	my @sessions = map { RawSession->new($node) } 1 .. 12;

	$_->query(under('cuda')) foreach @sessions;
	for (1 .. 3)
	{
		$_->send("$join") foreach @sessions;
		$_->finish foreach @sessions;
		is(join(' ', map { $_->{error} // $_->{rows}[-1] } @sessions), join(' ', ($expected) x 12),
			'twelve sessions share 1 MB of staging memory');
	}
	devices_become($node, 'jobs, queued, staging, staging_used', '0|0|1048576|0', '... and leave none of it');
	$node->append_conf('postgresql.conf', "hashgraph.staging_size = '8MB'\n");
}

# ------------------------------------------------------------------ a process that is slow to end

# Those that wait for all processes of the server to take note of something, as DROP DATABASE does, do not wait for it.
foreach my $how ('replaced', 'terminated')
{
	use_program($node, $standin, HG_STANDIN_END_DELAY_MS => 4000);
	my $pid = device_process($node);
	my $socket = $node->data_dir . '/pg_stat_tmp/hashgraph_device';

	# to drop it the server writes all that it has not written yet
	$node->safe_psql('postgres', 'create database dropped');
	$node->safe_psql('postgres', 'checkpoint');
	if ($how eq 'replaced')
	{
		$node->safe_psql('postgres', q{alter system set hashgraph.staging_size = '4MB'});
		$node->reload;
	}
	else
	{
		$node->safe_psql('postgres', q{select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph device'});
	}
	ok(wait_for(sub { !-e $socket }, 20), "$how: the process is on its way out");
	$node->safe_psql('postgres', 'drop database dropped');
	ok(kill(0, $pid), '... and a database is dropped before it is gone');
	ok(gone($pid, 20), '... which it is in the end');
	$node->safe_psql('postgres', 'alter system reset hashgraph.staging_size');
}
use_program($node, $standin);

# ------------------------------------------------------------------ idle

{
	$node->append_conf('postgresql.conf', "hashgraph.gpu_idle_timeout = 3\n");
	# freeing what it has on a device takes a while
	use_program($node, $standin, HG_STANDIN_END_DELAY_MS => 1000);
	my $pid = device_process($node);
	my $from = log_end();

	ok(gone($pid, 20), 'an idle process ends');
	ok(!wait_for(sub { defined device_process($node) }, 1.5), '... and is not replaced for nothing');
	log_tells($node, $from, qr/has ended: it was idle/, '... which is no loss');
	is($node->safe_psql('postgres', under('auto') . "set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0;"
		  . " set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0; $join"), $expected, '... and processes join without it');
	ok(wait_for(sub { defined device_process($node) }, 20), '... and want it for the next time');
	ok(gone(device_process($node) // 0, 20), '... but not for ever');
	is(join_under('cuda'), "$expected\ncuda|", '... but when a join wants it');
	$node->append_conf('postgresql.conf', "hashgraph.gpu_idle_timeout = 0\n");
	use_program($node, $standin);
}

# ------------------------------------------------------------------ backups and standbys

my $socket = $node->data_dir . '/pg_stat_tmp/hashgraph_device';
{
	my $copy = PostgreSQL::Test::Utils::tempdir() . '/copy';

	ok(-S $socket, 'the process listens in the data directory');
	is((stat $socket)[2] & 0777, 0600, '... for the server alone');
	my ($out, $err) = PostgreSQL::Test::Utils::run_command(
		[ 'pg_basebackup', '-D', $copy, '--checkpoint=fast', '--no-sync', '-d', $node->connstr('postgres') ]);
	is($err, '', 'a base backup says nothing');
	ok(!-e "$copy/pg_stat_tmp/hashgraph_device", '... and leaves the socket out');

	$node->backup('for_standby');
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$standby->init_from_backup($node, 'for_standby', has_streaming => 1);
	$standby->start;
	is(join_under('cuda', '', $standby), "$expected\ncuda|", 'a standby joins on the device');
	cmp_ok(device_process($standby), '!=', device_process($node), '... in a process of its own');
	my $pid = device_process($standby);
	$standby->promote;
	is(join_under('cuda', '', $standby), "$expected\ncuda|", '... and when it is promoted');
	is(device_process($standby), $pid, '... in the same one');
	$standby->stop;
	ok(gone($pid), '... which ends with it');
	# without a slot for a background worker each session has a process of its own
	$standby->append_conf('postgresql.conf', "max_worker_processes = 0\nmax_logical_replication_workers = 0\n");
	$standby->start;
	is(join_under('cuda', '', $standby), "$expected\ncuda|", 'no slot for the worker: a session has a process of its own');
	$standby->stop;
	# back to where it came from, which is up and has a socket
	$node->command_ok([ 'pg_rewind', '--no-sync', '-D', $standby->data_dir, '--source-server', $node->connstr('postgres') ],
		'pg_rewind leaves the socket out too');
}

# ------------------------------------------------------------------ the log

{
	my @times = slurp_file($node->logfile) =~ /^\S+ (\d+:\d+:[\d.]+) .* LOG: +HashGraph join .*fell back to the CPU:/mg;
	my @seconds = map { my ($h, $m, $s) = split /:/; $h * 3600 + $m * 60 + $s } @times;
	# who may write has to come to it yet
	my @close = grep { my $apart = $seconds[$_] - $seconds[ $_ - 1 ]; $apart >= 0 && $apart < 58 } 1 .. $#seconds;

	cmp_ok($node->safe_psql('postgres', 'select fallbacks from hashgraph_stat'), '>', @times + 2, 'joins fell back to the CPU');
	cmp_ok(scalar(@times), '>', 0, '... which the log tells');
	is("@times[@close]", '', '... once a minute at most');
}

# ------------------------------------------------------------------ the server's own end

foreach my $way ('fast', 'immediate')
{
	my $pid = device_process($node);

	# where joins stay on the CPU unless a session says otherwise, no process runs for nothing
	$node->append_conf('postgresql.conf', "hashgraph.backend = 'cpu'\n") if $way eq 'immediate';

	$node->stop($way);
	ok(gone($pid), "$way shutdown: the process ends");
	ok(!-e $socket, "$way shutdown: the socket is gone") if $way eq 'fast';
	$node->start;
	is(device_process($node), undef, 'backend cpu: there is no device process') if $way eq 'immediate';
	is(join_under('cuda'), "$expected\ncuda|", "$way shutdown: the server joins on after its start");
}
{
	my $pid = device_process($node);
	my ($backend) = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'checkpointer'});

	kill 'KILL', $backend;
	ok(gone($pid), 'a crash of a server process: the device process ends');
	ok(wait_for(sub { accepts($node) }, 60), '... the server recovers');
	is(join_under('cuda'), "$expected\ncuda|", '... and joins');
	is(ready_devices($node, 'restarts'), 0, '... with its counters at zero');

	$pid = device_process($node);
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	# as if a reload were lost to the next one, which can't hear of it before it has a handler
	$node->safe_psql('postgres', "alter system set hashgraph.gpu_memory_budget = '32MB'");
	is($node->safe_psql('postgres', "select pg_terminate_backend($worker, 60000)"), 't', 'the worker is terminated');
	ok(gone($pid), '... its process with it');
	is(join_under('cuda'), "$expected\ncuda|", '... and both come again');
	is(ready_devices($node, 'memory_budget'), 32 * 1024 * 1024, '... with the configuration as it is by then');
	$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_memory_budget');

	$pid = device_process($node);
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	$node->kill9;
	ok(gone($pid), 'kill -9 of the postmaster: the process ends');
	ok(gone($postmaster), '... as the postmaster has');
	# while the last of its processes is leaving it does not start
	ok(wait_for(sub { return 1 if $node->start(fail_ok => 1); $node->stop('fast', fail_ok => 1); return 0; }, 60), '... and the server starts');
	is(join_under('cuda'), "$expected\ncuda|", '... and joins');
}
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
