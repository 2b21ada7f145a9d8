# Several GPUs, with a device process for each: jobs go where there is least to do, and stay there; what becomes of one device
# befalls its own jobs alone, and it comes back by itself; resident HashGraphs are where joins find them.
#
# Runs over the stand-in, which sees as many devices as it is told to.
#
# Takes long: it begins before others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache;
use HashGraphTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cuda' unless covers('cuda');
my $standin = standin_program();
plan skip_all => 'the stand-in was not built: make unit' unless defined $standin;

# Seconds of each load.
my $SECONDS = $ENV{HG_QUICK} ? 4 : 15;

my $join = 'select count(*), sum(v), sum(w) from f join d using (k)';
my $rows = 'select v, w from f join d using (k)';
my $last = q{select string_agg(distinct backend || '|' || coalesce(fallback, ''), ' ') from hashgraph_last_joins()};
my ($node, $expected, $count);

# Starts a server with so many devices, whose stand-ins have these switches.
sub begin
{
	my ($devices, $conf, %switches) = @_;

	$node = restarted_server(<<"CONF", $devices, %switches);
work_mem = '64MB'
max_connections = 60
max_worker_processes = 20
hashgraph.device_program = '$standin'
hashgraph.staging_size = '8MB'
hashgraph.gpu_wait_limit = '5min'
hashgraph.force = on
# the CPU joins no outer rows as they come, which it would do faster than a device
hashgraph.build = v2
$conf
CONF
	if (!defined $expected)
	{
		$node->safe_psql('postgres', <<'SQL');
create table f as select i % 90000 + 1 as k, i as v from generate_series(1, 200000) i;
create table d as select i % 20000 + 1 as k, i as w from generate_series(1, 60000) i;
create table large as select i as id, i % 600000 as k from generate_series(1, 1100000) i;
create table larger as select i as id, (i * 7::int8 % 900000)::int as k from generate_series(1, 1200000) i;
vacuum analyze;
SQL
		$expected = $node->safe_psql('postgres', "set hashgraph.enabled = off; $join");
	}
	($count) = split /\|/, $expected;
	return;
}

sub told { return $node->safe_psql('postgres', 'select ' . (shift) . ' from hashgraph_devices()'); }

# A test: columns of hashgraph_devices(), of all devices, become this.
sub become
{
	my ($columns, $wanted, $name) = @_;
	my $is;

	return ok(wait_for(sub { ($is = told($columns)) eq $wanted }, 30), $name) || diag("$columns: $is");
}

# The processes of the devices, by the numbers of these.
sub processes
{
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	my %processes;

	foreach my $pid (device_children($worker))
	{
		my ($ordinal) = proc_file($pid, 'cmdline') =~ /--device\0(-?\d+)\0/ or next;
		$processes{ $ordinal < 0 ? 0 : $ordinal } = $pid;
	}
	return %processes;
}

# A session that has a job open: its cursor is in the midst of the matches.
sub open_cursor
{
	my ($backend) = @_;
	my $session = RawSession->new($node);

	$session->query("set hashgraph.backend = $backend; begin; declare c cursor for $rows; move 1000 in c");
	return $session;
}

# What is left of its rows, and where its join has run.
sub rest_of
{
	my ($session) = @_;

	$session->query('fetch all in c');
	return $session->{error} if defined $session->{error};
	return 'rows are missing' if @{ $session->{rows} } != $count - 1000;
	$session->query('close c');
	return $session->query($last);
}

# All devices at work at a time, with nothing left behind.
sub test_placement
{
	my ($devices) = @_;
	my @sessions = map { open_cursor('cuda') } 1 .. 2 * $devices;

	become(q{string_agg(jobs::text, ' ' order by ordinal)}, join(' ', (2) x $devices), "$devices devices: each has its part of the jobs");
	is(rest_of($_), 'cuda|', "$devices devices: ... and does it") foreach @sessions;
	become('sum(jobs), sum(queued), sum(staging_used)', '0|0|0', "$devices devices: nothing is left of them");

	# what a session has open stays together, as no device knows what it waits for at another
	my $session = open_cursor('cuda');
	$session->query("declare e cursor for $rows; move 1000 in e");
	become('max(jobs), sum(jobs)', '2|2', "$devices devices: a session's jobs are on one");
	is($session->query('close c; close e; commit') // '', '', "$devices devices: ... and end");
	return;
}

foreach my $devices (1, 2, 3, 8)
{
	begin($devices, '');
	become(q{count(*), bool_and(state = 'ready'), sum(restarts)}, "$devices|t|0", "$devices devices: all are there");
	is(told(q{string_agg(ordinal::text, ' ' order by ordinal)}), join(' ', 0 .. $devices - 1), "$devices devices: ... each once");
	is(scalar(my @pids = processes()) / 2, $devices, "$devices devices: ... with a process");
	is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", "$devices devices: a join");
	test_placement($devices);
}

# ------------------------------------------------------------------ one of several is lost

# Sessions under load, which must not notice: their joins are right, and none fails.
sub under_load
{
	my ($name, $seconds, $trouble) = @_;
	my $script = PostgreSQL::Test::Utils::tempdir() . '/load';
	my ($in, $out, $err) = ('', '', '');
	my $end = time + $seconds - 1;

	append_to_file($script, sprintf("select 1 / (count(*) = %s and sum(v) = %s and sum(w) = %s)::int from f join d using (k);\n", split /\|/, $expected));
	{
		local $ENV{PGOPTIONS} = '-c hashgraph.backend=auto -c hashgraph.min_rows=0';
		local $ENV{PGHOST} = $node->host;
		local $ENV{PGPORT} = $node->port;
		my $run = IPC::Run::start([ 'pgbench', '-n', '-c', 6, '-T', $seconds, '-f', $script, 'postgres' ], '<', \$in, '>', \$out, '2>', \$err);

		$trouble->() while time < $end;
		$run->finish;
		is($run->result(0), 0, "$name: every join is right, and none fails") or diag($err);
	}
	my ($done) = $out =~ /transactions actually processed: (\d+)/;
	cmp_ok($done // 0, '>', 0, '... of which there were ' . ($done // 0));
	return;
}

begin(3, '', HG_STANDIN_FAST => 1);
become(q{count(*), bool_and(state = 'ready')}, '3|t', 'three devices');
foreach my $backend ('auto', 'cuda')
{
	my @sessions = map { open_cursor($backend) } 0 .. 2;
	my %before = processes();

	become(q{string_agg(jobs::text, ' ' order by ordinal)}, '1 1 1', "lost, $backend: each device has a job");
	kill 'KILL', $before{1};
	my @ends = sort map { rest_of($_) } @sessions;
	is(scalar(grep { $_ eq 'cuda|' } @ends), 2, "lost, $backend: the jobs of the others go on") or diag(join "\n", @ends);
	like($ends[ $backend eq 'auto' ? 0 : 2 ], $backend eq 'auto' ? qr/^cpu\|.*lost/ : qr/lost/,
		"lost, $backend: ... and its own " . ($backend eq 'auto' ? 'go on here' : 'fails'));
	undef @sessions;
	become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready ready', "lost, $backend: it comes back");
	my %after = processes();
	is("$after{0} $after{2}", "$before{0} $before{2}", "lost, $backend: ... and the others were never away");
	isnt($after{1}, $before{1}, "lost, $backend: ... in another process");
}
is(told(q{string_agg(restarts::text, ' ' order by ordinal)}), '0 2 0', 'lost: what was restarted is counted where it was');

{
	my ($hits, %before) = (0, processes());

	under_load('killed again and again', $SECONDS, sub {
		my %now = processes();

		random_moment(0.3);
		kill 'KILL', $now{1} if defined $now{1} && ++$hits;
		$node->reload if $hits % 4 == 3; });
	cmp_ok($hits, '>', 1, "... while one of three was killed $hits times");
	$node->reload;
	become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready ready', '... which comes back');
	my %after = processes();
	is("$after{0} $after{2}", "$before{0} $before{2}", '... and the others have not noticed');
	become('sum(jobs), sum(queued), sum(staging_used)', '0|0|0', '... and nothing is left');
}

# one that hangs is left out, and is replaced
{
	my %before = processes();

	kill 'STOP', $before{2};
	ok(wait_for(sub { told(q{string_agg(state, ' ' order by ordinal)}) eq 'ready ready silent' }, 8), 'stopped: that is known');
	is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", 'stopped: joins go to the others') foreach 1 .. 4;
	become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready ready', 'stopped: it is replaced');
	my %after = processes();
	is("$after{0} $after{1}", "$before{0} $before{1}", 'stopped: ... and no other');
}
unlike(slurp_file($node->logfile), qr/server process .* was terminated|PANIC/, 'no process of the server crashed');

# ... and all of them together hold up the end of the server no longer than one does
begin(4, '');
become(q{count(*), bool_and(state = 'ready')}, '4|t', 'four devices');
{
	my %processes = processes();
	my $start = time;

	kill 'STOP', values %processes;
	$node->stop;
	# ten times what one that hangs is given
	cmp_ok(time - $start, '<', 80, 'the server ends within ten times what one that hangs is given');
	is(scalar(grep { kill 0, $_ } values %processes), 0, '... and none of them is left');
}

# ------------------------------------------------------------------ one of several is faulty

{
	my $broken = PostgreSQL::Test::Utils::tempdir() . '/broken';

	begin(3, '', HG_STANDIN_FAST => 1, HG_STANDIN_FAULTY => 1, HG_STANDIN_FAIL_WHILE => $broken);
	become(q{count(*), bool_and(state = 'ready')}, '3|t', 'a faulty device: it is there');
	my %before = processes();
	append_to_file($broken, '');
	under_load('faulty', $SECONDS, sub { random_moment(0.4); $node->reload if rand() < 0.3; });
	my %during = processes();
	is("$during{0} $during{2}", "$before{0} $before{2}", 'faulty: ... and the other devices have not noticed');
	unlink $broken;
	$node->reload;
	become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready ready', 'faulty: it comes back when it is repaired');
	# one that is not there at the moment tells nothing
	cmp_ok(told('sum(restarts) filter (where ordinal = 1)'), '>', 0, 'faulty: ... as often as it has failed');
	my @sessions = map { open_cursor('cuda') } 0 .. 2;
	become(q{string_agg(jobs::text, ' ' order by ordinal)}, '1 1 1', 'faulty: ... and has jobs again');
	is(rest_of($_), 'cuda|', 'faulty: ... which it does') foreach @sessions;
	undef @sessions;
}

begin(3, '', HG_STANDIN_FAULTY => 2, HG_STANDIN_UNAVAILABLE => 1);
become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready unavailable', 'one that can not be used: the others are');
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", '... and join') foreach 1 .. 3;
like(slurp_file($node->logfile), qr/hashgraph does not use GPU 2: no device/, '... which the log tells');

# ------------------------------------------------------------------ the devices that are to be used

begin(4, "hashgraph.gpu_device = '2,0'\n");
become(q{string_agg(ordinal || ' ' || state, ', ' order by ordinal)}, '0 ready, 1 unused, 2 ready, 3 unused', 'a list: those and no others');
is(told('count(memory_free), count(jobs)'), '2|2', '... and of the others no more is told than is known');
is(scalar(my @pids = processes()) / 2, 2, '... nor is there a process');
{
	my @sessions = map { my $session = RawSession->new($node); $session->query("set hashgraph.gpu_device = '2'; set hashgraph.backend = cuda; begin; declare c cursor for $rows; move 1000 in c"); $session } 0 .. 2;

	become(q{string_agg(ordinal || ' ' || jobs, ', ' order by ordinal) filter (where jobs is not null)}, '0 0, 2 3', 'a session that names one has its jobs there');
	is(rest_of($_), 'cuda|', '... which are done') foreach @sessions;
}
my (undef, undef, $stderr) = $node->psql('postgres', "set hashgraph.backend = cuda; set hashgraph.gpu_device = 1; $join");
like($stderr, qr/this process uses device \d, not 1/, 'a session that names another one is refused it');
(undef, undef, $stderr) = $node->psql('postgres', "set hashgraph.backend = cuda; set hashgraph.gpu_device = 1, 3; $join");
like($stderr, qr/this process uses device \d, not 1/, '... or others');
is($node->safe_psql('postgres', "set hashgraph.backend = auto; set hashgraph.gpu_device = 1; $join"), $expected, '... but joins all the same under auto');
foreach my $change ([ '-1', '0 ready, 1 ready, 2 ready, 3 ready' ], [ '3', '0 unused, 1 unused, 2 unused, 3 ready' ], [ '0,1', '0 ready, 1 ready, 2 unused, 3 unused' ])
{
	my ($list, $wanted) = @$change;

	$node->safe_psql('postgres', "alter system set hashgraph.gpu_device = $list") if $list !~ /,/;
	$node->safe_psql('postgres', 'alter system set hashgraph.gpu_device = 0, 1') if $list =~ /,/;
	$node->reload;
	become(q{string_agg(ordinal || ' ' || state, ', ' order by ordinal)}, $wanted, "'$list' from now on");
	is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", '... and joins run on it');
}

# a shorter list, and one in another order, have no two processes on a GPU
begin(3, '');
become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready ready', 'three devices');
{
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	my %before = processes();
	my $session = RawSession->new($node);

	$session->query("set hashgraph.gpu_device = '2'; set hashgraph.backend = cuda; begin; declare c cursor for $rows; move 1000 in c");
	$node->safe_psql('postgres', 'alter system set hashgraph.gpu_device = 2');
	$node->reload;
	ok(wait_for(sub { device_children($worker) == 1 }, 10), 'the last one alone: there is but one process, as long as it has a job');
	is((device_children($worker))[0], $before{2}, '... the one with the job');
	is(rest_of($session), 'cuda|', '... which ends');
	become(q{string_agg(ordinal || ' ' || state, ', ' order by ordinal)}, '0 unused, 1 unused, 2 ready', '... and then it is there');

	%before = processes();
	$node->safe_psql('postgres', 'alter system set hashgraph.gpu_device = 0, 1, 2');
	$node->reload;
	become(q{string_agg(state, ' ' order by ordinal)}, 'ready ready ready', 'a longer list: all of them');
	is({ processes() }->{2}, $before{2}, '... and the one that was there stays in its process');
}

# what the first process sees may change: the others stay where they are
{
	my $hidden = PostgreSQL::Test::Utils::tempdir() . '/hidden';

	append_to_file($hidden, '1');
	begin(3, '', HG_STANDIN_HIDDEN => $hidden);
	become(q{string_agg(ordinal || ' ' || state, ', ' order by ordinal)}, '0 ready, 2 ready', 'one of three is not seen');
	my %before = processes();
	unlink $hidden;
	kill 'KILL', $before{0};
	become(q{string_agg(ordinal || ' ' || state, ', ' order by ordinal)}, '0 ready, 1 ready, 2 ready', '... and is used once it is');
	$node->reload;
	my %after;
	ok(!wait_for(sub { %after = processes(); ($after{2} // '') ne $before{2} }, 0.5), '... while the other one stays where it is');
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	is(scalar(@{ [ device_children($worker) ] }), 3, '... and none has two processes');

	append_to_file($hidden, '1');
	kill 'KILL', $after{0};
	become(q{count(*) filter (where state = 'ready'), sum(restarts)}, '3|2', 'one that is not seen any more, but is there, goes on');
	is({ processes() }->{1}, $after{1}, '... in its process');
}

# those that nobody needs rest, and come back as they are needed
begin(3, "hashgraph.gpu_idle_timeout = '2s'\n");
ok(wait_for(sub { my %left = processes(); keys %left == 0 }, 20), 'idle devices give up their memory');
{
	my @sessions = map { open_cursor('cuda') } 0 .. 2;

	ok(wait_for(sub { push @sessions, open_cursor('cuda'); my %now = processes(); keys %now == 3 }, 20), '... and come back one by one, as there is more to do');
	is(rest_of($_), 'cuda|', '... and do it') foreach @sessions;
}
ok(wait_for(sub { my %left = processes(); keys %left == 0 }, 20), '... and rest again');
$node->reload;
ok(!wait_for(sub { my %now = processes(); keys %now > 1 }, 0.5), 'a reload does not wake all of them');
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", 'a reload: one is there for a join');
ok(!wait_for(sub { my %now = processes(); keys %now != 1 }, 0.5), '... and the others rest');
is(told(q{string_agg(state, ' ' order by state)}), 'ready resting resting', '... as they do when they are looked at');

# ------------------------------------------------------------------ who waits for one

# at the start only the first is known, and which it is turns out when it is there
begin(2, '');
{
	local $ENV{HG_STANDIN_DEVICES} = 2;
	local $ENV{HG_STANDIN_START_DELAY_MS} = 1500;

	$node->restart;
	is($node->safe_psql('postgres', "set hashgraph.backend = cuda; set hashgraph.gpu_device = 1; $join; $last"), "$expected\ncuda|",
		'a session that names the second waits for it');
}

begin(3, "hashgraph.gpu_device = '0, 1, 2'\nhashgraph.gpu_idle_timeout = '1s'\n", HG_STANDIN_FAULTY => 0, HG_STANDIN_START_DELAY_MS => 40_000);
ok(wait_for(sub { my %left = processes(); keys %left == 1 }, 20), 'one hangs when it starts, and the others rest');
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", '... which are woken');
$node->stop('immediate');

# ------------------------------------------------------------------ little memory on each

begin(3, "hashgraph.gpu_memory_budget = '3MB'\n");
become(q{count(*), bool_and(state = 'ready')}, '3|t', 'little memory: three devices');
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $join; $last"), "$expected\ncuda|", 'little memory: a join in ranges');
{
	my @sessions = map { my $session = RawSession->new($node); $session->query('set hashgraph.backend = cuda'); $session } 0 .. 5;

	$_->send($join) foreach @sessions;
	$_->finish foreach @sessions;
	is(join(' ', map { $_->{rows}[0] // '' } @sessions), join(' ', ($expected) x 6), 'little memory: several at once')
	  or diag(join "\n", map { $_->{error} // '' } @sessions);
}
become('sum(jobs), sum(queued), sum(staging_used)', '0|0|0', 'little memory: nothing is left');

# two sessions that wait for each other's GPU, as each has set another one meanwhile, and whose jobs are not taken from them
begin(2, "hashgraph.gpu_memory_budget = '10MB'\nhashgraph.gpu_wait_limit = '2s'\n", HG_STANDIN_EVICT_MS => 600_000);
become(q{count(*), bool_and(state = 'ready')}, '2|t', 'two devices');
{
	my @sessions = map { my $session = RawSession->new($node); $session->query("set hashgraph.backend = cuda; set hashgraph.gpu_device = $_; begin; declare c cursor for $rows; move 1000 in c"); $session } 0 .. 1;

	become(q{string_agg(jobs::text, ' ' order by ordinal)}, '1 1', '... each with a job');
	$sessions[$_]->query('set hashgraph.gpu_device = ' . (1 - $_)) foreach 0 .. 1;
	$_->send($join) foreach @sessions;
	is(scalar(grep { $_->finish(40) } @sessions), 2, 'sessions that wait for each other do not do so for ever');
	my @ends = map { $_->{error} // $_->{rows}[0] // '' } @sessions;
	cmp_ok(scalar(grep { /the device did not answer in time/ } @ends), '>', 0, '... but one is told so');
	is(scalar(grep { !/the device did not answer in time|^\Q$expected\E$/ } @ends), 0, '... and the other one, or goes on') or diag(join "\n", @ends);
}

# ------------------------------------------------------------------ what is resident

# rows that were written without WAL are not served from memory
begin(2, "hashgraph.build = auto\nhashgraph.resident_memory = '512MB'\nhashgraph.resident_auto = off\nhashgraph.gpu_memory_budget = '512MB'\nhashgraph.resident_gpu_memory = '256MB'\n");
$node->safe_psql('postgres', <<'SQL');
select hashgraph_resident_add('f', array['k', 'v'], keys => '{k}'), hashgraph_resident_add('d', array['k', 'w'], keys => '{k}');
SQL

# Wait until tables have graphs, and their devices copies of them.
sub kept
{
	my ($graphs, $copies, $name) = @_;

	return ok(wait_for(sub {
		$node->safe_psql('postgres', q{select count(*) from hashgraph_resident where kind = 'graph' and location = 'both' and state = 'ready'}) eq $graphs
		  && told(q{string_agg(kept_graphs::text, ' ' order by ordinal)}) =~ $copies }, 60, every => 0.2, between => sub { $node->safe_psql('postgres', 'vacuum') }), $name)
	  || diag(told('json_agg(hashgraph_devices)') . $node->safe_psql('postgres', 'select json_agg(r) from hashgraph_resident r'));
}

sub kept_join
{
	my ($query, $name) = @_;
	my $core = $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");
	my $ours;

	ok(wait_for(sub { ($ours = $node->safe_psql('postgres', "set hashgraph.backend = auto; $query; $last")) eq "$core\ncuda|" }, 40), $name) or diag("$ours, not $core");
	return;
}

kept(2, qr/^2 2$/, 'small graphs are on both devices');
kept_join('select count(*) from f join d using (k)', '... and are joined there');
{
	my %processes = processes();

	kill 'KILL', $processes{0};
	kept_join('select count(*) from f join d using (k)', '... by the other one where one is lost');
	kept(2, qr/^2 2$/, '... which has them again when it is back');
}
$node->safe_psql('postgres', q{select hashgraph_resident_drop('f'), hashgraph_resident_drop('d')});
$node->safe_psql('postgres', q{select hashgraph_resident_add('large', array['k'], keys => '{k}'), hashgraph_resident_add('larger', array['k'], keys => '{k}')});
kept(2, qr/^1 1$/, 'large graphs are on one device each');
kept_join('select count(*) from large join larger using (k)', '... and are brought together where a join needs both');
like(told(q{string_agg(kept_graphs::text, ' ' order by ordinal)}), qr/^(1 2|2 1)$/, '... the smaller to the larger');
$node->safe_psql('postgres', q{select hashgraph_resident_drop('large'), hashgraph_resident_drop('larger')});

# the first device has no memory for it, of which it has told nothing
begin(2, "hashgraph.resident_memory = '512MB'\nhashgraph.resident_auto = off\nhashgraph.resident_gpu_memory = '256MB'\n", HG_STANDIN_FAULTY => 0, HG_STANDIN_OUT_OF_MEMORY => 1);
$node->safe_psql('postgres', <<'SQL');
select hashgraph_resident_add('large', array['k'], keys => '{k}');
SQL
kept(1, qr/^0 1$/, 'a large graph that one device refuses is on the other one');
$node->stop;

done_testing();
