# Processes of a parallel query join on the server's device together, and are of one mind about
# it: where the device fails one of them, or has no room, all join on the CPU, before a
# row was returned, or fail, as hashgraph.backend says.  (join_parallel.pl runs its own joins on a device too.)

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();
my $program = $device // $standin;

my $KILLS = $ENV{HG_QUICK} ? 6 : 40;
use constant HANGS => 60;

# memory that was freed is of no use to anybody
$ENV{MALLOC_PERTURB_} = 85;

my $node = new_server('participants', conf => <<'CONF');
work_mem = 64MB
hash_mem_multiplier = 1
max_worker_processes = 16
max_parallel_workers_per_gather = 3
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hashgraph.force = on
hashgraph.gpu_wait_limit = '5min'
hashgraph.send_pages = off
CONF

$node->safe_psql('postgres', <<'SQL');
create table l as select case when i % 50 = 0 then null else i % 90000 end as k, i as v, repeat('l', i % 30) as t
  from generate_series(1, 250000) i;
create table r as select case when i % 60 = 0 then null else i % 80000 end as k, i as w, i % 7 as small
  from generate_series(1, 200000) i;
create table u as select i as k, i % 10 as w from generate_series(1, 60000) i;
create unique index on u (k);
create table s as select i as k, i as v from generate_series(1, 100000) i;
analyze;
update s set k = k % 1000;
SQL

my %queries = (
	'a count' => 'select count(*) from l join r using (k)',
	'an inner join' => 'select count(*), sum(v), sum(w), max(t) from l join r using (k)',
	'a left join' => 'select count(*), sum(v), sum(w), count(t) from l left join r using (k)',
	'a full join' => 'select count(*), sum(v), sum(w), count(t) from l full join r using (k)',
	'a left join with a qual' => 'select count(*), sum(v), sum(w) from l left join r on l.k = r.k and v % 3 = small',
	'a semi join' => 'select count(*), sum(v) from l where exists (select 1 from r where r.k = l.k)',
	'an anti join' => 'select count(*), sum(v) from l where not exists (select 1 from r where r.k = l.k)',
	'unique inner rows' => 'select count(*), sum(v), sum(w) from l join u using (k)',
	'rows by themselves' => 'select * from (select v, w from l join r using (k)) x order by v, w limit 5');
# who gets which match of a row matters here: its processes do not share it
my %not_shared = (
	'a semi join with a qual' => 'select count(*), sum(v) from l where exists (select 1 from r where r.k = l.k and r.w > l.v)',
	'unique rows with a qual' => 'select count(*), sum(v) from l left join u on l.k = u.k and v % 10 > w');
my %expected = map { $_ => $node->safe_psql('postgres', "set hashgraph.enabled = off; " . ($queries{$_} // $not_shared{$_})) }
  keys %queries, keys %not_shared;

# ------------------------------------------------------------------ together

foreach my $backend ('cuda', defined $standin ? 'auto' : ())
{
	my $settings = "set hashgraph.backend = $backend;";

	# auto wants a device that is cheaper than four processes
	use_program($node, $backend eq 'auto' ? ($standin, HG_STANDIN_FAST => 1) : $program);
	foreach my $name (sort keys %queries)
	{
		my $plan = explain_analyze($node, $settings, $queries{$name});

		like($plan, qr/Parallel Custom Scan \(HashGraphJoin\).*Backend: cuda.*Processes: 4/s, "$backend, $name: the processes join on the device");
		ok(wait_for(sub { explain_analyze($node, $settings, $queries{$name}) =~ /Keys Sent During Scan: [1-9]/ }, HANGS),
			"$backend, $name: ... which gets keys while they read");
		is($node->safe_psql('postgres', "$settings $queries{$name}"), $expected{$name}, "$backend, $name: it is right");
		is($node->safe_psql('postgres', "$settings set parallel_leader_participation = off; $queries{$name}"),
			$expected{$name}, "$backend, $name: ... without the leader");
	}
	foreach my $name (sort keys %not_shared)
	{
		is($node->safe_psql('postgres', "$settings $not_shared{$name}"), $expected{$name}, "$backend, $name: it is right");
	}
	devices_become($node, 'jobs, staging_used, memory_held', '0|0|0', "$backend: nothing is left on the device");

	# the parameter changes, and with it the rows of both sides
	is( $node->safe_psql('postgres', <<"SQL"),
$settings set enable_material = off; set enable_memoize = off;
select sum(n) from generate_series(1, 3) g, lateral (select count(*) + sum(w) as n from l join r using (k) where v > g * 1000 offset 0) x;
SQL
		$node->safe_psql('postgres', 'set hashgraph.enabled = off;'
			  . ' select sum(n) from generate_series(1, 3) g, lateral (select count(*) + sum(w) as n from l join r using (k) where v > g * 1000 offset 0) x'),
		"$backend: rescans");
}

# the statistics count a join once, with the matches of all
$node->safe_psql('postgres', "select hashgraph_stat_reset(); set hashgraph.backend = cuda; $queries{'an inner join'}");
is($node->safe_psql('postgres', 'select joins, cuda_joins, fallbacks, matches from hashgraph_stat'),
	'1|1|0|' . (split /\|/, $expected{'a count'})[0], 'the statistics know the join');

if (!defined $standin)
{
	$node->stop;
	done_testing();
	exit;
}

# Each process takes a part of the matches: a plan above it has as much to do in each of them.
use_program($node, $standin, HG_STANDIN_FAST => 1);
ok( wait_for(
		sub {
			my $plan = $node->safe_psql('postgres', q{set hashgraph.backend = cuda; set parallel_leader_participation = off;}
				  . ' explain (analyze, verbose, costs off, timing off) select sum(v + w) from (select v, w from l join u using (k) offset 0) x');
			my ($join) = $plan =~ /Parallel Custom Scan \(HashGraphJoin\)(.*?)->/s;
			2 <= grep { $_ > 0 } ($join // '') =~ /Worker \d: +actual rows=(\d+)/g;
		},
		HANGS),
	'several processes return matches');

# Workers connect to a device for one query.  Where that takes longer than the join, auto leaves the device alone.
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_CONNECT_MS => 1000);
foreach my $name ('a count', 'unique inner rows')
{
	unlike(explain_analyze($node, 'set hashgraph.backend = auto;', $queries{$name}),
		qr/Backend: cuda|Keys Sent/, "$name: auto does not connect several processes to a device for less than that takes");
	like(explain_analyze($node, 'set hashgraph.backend = auto; set max_parallel_workers_per_gather = 0;', $queries{$name}),
		qr/Backend: cuda/, "$name: ... but the session's own");
}

# ------------------------------------------------------------------ sent in vain

# The processes have sent keys, or wanted to, and begin again, or do without the device.
sub test_sent_in_vain
{
	my ($what, $query, $settings, $plan) = @_;
	my $right = $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");

	like(explain_analyze($node, $settings, $query), $plan, "$what: the plan tells");
	is($node->safe_psql('postgres', "$settings $query"), $right, "$what: it is right");
	devices_become($node, 'jobs, staging_used, memory_held', '0|0|0', "$what: nothing is left on the device");
	return;
}

my $not_sent = qr/^(?!.*Keys Sent During Scan)/s;
use_program($node, $standin, HG_STANDIN_FAST => 1);
$node->safe_psql('postgres', <<'SQL');
create function nothing(int) returns int immutable parallel safe language plpgsql as 'begin return $1; end';
SQL
foreach my $backend ('cuda', 'auto')
{
	my $settings = "set hashgraph.backend = $backend;";

	# a job needs 32 bytes for each row that is expected
	test_sent_in_vain("$backend, more is expected than there is", "$queries{'an inner join'} where v / 125000 <> 1",
		"$settings set hashgraph.gpu_memory_limit = '12MB';", qr/$not_sent.*Backend: cuda/s);
	my $more = "$queries{'an inner join'} where v % 2 < 2 and w % 2 < 2";
	test_sent_in_vain("$backend, more comes than was expected", $more, $settings, qr/Backend: cuda/);
	ok(wait_for(sub { explain_analyze($node, $settings, $more) =~ /Backend: cuda.*Keys Sent During Scan: [1-9]/s }, HANGS),
		"$backend, more comes than was expected: ... and is sent");
	test_sent_in_vain("$backend, a function that may wait", "$queries{'an inner join'} where nothing(v) > 0",
		$settings, qr/$not_sent.*Backend: cuda/s);
	test_sent_in_vain("$backend, too large for work memory", $queries{'an inner join'},
		"$settings set work_mem = '1MB';", qr/$not_sent.*Disk Usage/s);
	test_sent_in_vain("$backend, few rows", "$queries{'an inner join'} where v / 240000 <> 0 and w / 190000 <> 0", $settings,
		$backend eq 'cuda' ? qr/Backend: cuda/ : qr/Backend: (cpu|cuda)/);
}
# each process makes a group of its matches, and none of the columns
my $one_group = 'select x::text, count(*) from (select 1 from l where exists (select 1 from r where r.k = l.k)) x group by 1';
my $grouped = 'set hashgraph.backend = cuda; set enable_sort = off; set enable_seqscan = off; set max_parallel_workers_per_gather = 2;';
use_program($node, $program);
like(explain_analyze($node, $grouped, $one_group), qr/Parallel Custom Scan \(HashGraphAggregate\).*Backend: cuda/s,
	'a group that no column makes: in all processes');
is(rows_of($node, $grouped, $one_group), rows_of($node, 'set hashgraph.enabled = off;', $one_group), 'a group that no column makes: it is right');
# a session that is stopped while its processes read and send
my $sender = RawSession->new($node);
my @stopped;
$sender->query('set hashgraph.backend = cuda');
for my $round (1 .. $KILLS)
{
	$sender->query('set statement_timeout = ' . (1 + int rand 60));
	$sender->query($queries{'an inner join'});
	$stopped[ defined $sender->{error} ] = 1;
	next if !defined $sender->{error} && join("\n", @{ $sender->{rows} }) eq $expected{'an inner join'};
	fail("stopped while it sends: $sender->{sqlstate} $sender->{error}") if ($sender->{sqlstate} // '') ne '57014';
}
ok($stopped[1], 'some joins are stopped while their processes read');
close $sender->{socket};
devices_become($node, 'jobs, staging_used', '0|0', 'stopped while it sends: nothing is left on the device');

# many processes, and staging that has no lease for each of them
$node->safe_psql('postgres', "alter system set hashgraph.staging_size = '1MB'");
$node->reload;
use_program($node, $standin, HG_STANDIN_FAST => 1);
test_sent_in_vain('little staging', $queries{'an inner join'}, 'set hashgraph.backend = cuda;', qr/Backend: cuda.*Processes: 4/s);
$node->safe_psql('postgres', 'alter system reset hashgraph.staging_size');
$node->reload;

# ------------------------------------------------------------------ no room

# What becomes of an inner join under auto and under cuda.
sub test_refusal
{
	my ($what, $fallback, $sqlstate, $query, $settings) = @_;
	my $right = $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");

	my $auto = ($settings // '') . 'set hashgraph.backend = auto; ';

	like(explain_analyze($node, $auto, $query), qr/Backend: cpu.*Fallback: $fallback/s, "$what, auto: the processes go to the CPU");
	is($node->safe_psql('postgres', $auto . $query), $right, "$what, auto: ... and are right");
	my $session = RawSession->new($node);
	$session->query(($settings // '') . 'set hashgraph.backend = cuda');
	$session->query($query);
	is($session->{sqlstate}, $sqlstate, "$what, cuda: an error of its class");
	is(($session->query("set hashgraph.backend = cpu; $query"))[0], $right, "$what: the session goes on");
	close $session->{socket};
	return;
}

use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_OUT_OF_MEMORY => 1);
test_refusal('no memory at build', 'out of device memory', '53000', $queries{'an inner join'});
use_program($node, $standin, HG_STANDIN_FAST => 1);
$node->safe_psql('postgres', "alter system set hashgraph.gpu_memory_limit = '64kB'");
$node->reload;
test_refusal('no memory at open', 'the join is too large', '53000', $queries{'an inner join'});
$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_memory_limit');
$node->reload;
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_FAIL => 1);
test_refusal('a failing device', '.*', '58000', $queries{'an inner join'});

# A query is stopped when one of its processes gives the device up: that one must not go on to wait
# for the others, which are gone.
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_BUILD_MS => 1000);
my $impatient = RawSession->new($node);
my $hung = 0;
$impatient->query(q{set hashgraph.backend = auto; set hashgraph.gpu_wait_limit = '1ms'; set parallel_leader_participation = off;}
	  . ' set max_parallel_workers_per_gather = 2');
for my $round (1 .. $KILLS * 25)
{
	$impatient->query('set statement_timeout = ' . (15 + int rand 60));
	$impatient->send('select count(*), sum(u.w), sum(v.w) from u join u v using (k)');
	next if $impatient->finish(HANGS);
	$hung++;
	last;
}
is($hung, 0, 'stopped as patience ends: no process waits for others that are gone');

# ------------------------------------------------------------------ more matches than work memory

# auto has the CPU stream them, cuda the device, to the processes that still want some.
my %many = (
	'an inner join' => 'select count(*), sum(a.v + b.v) from s a join s b using (k) where a.v % 4 = 0',
	'a full join' => 'select count(*), sum(a.v + b.v), count(a.v) from (select * from s where v % 4 = 0) a full join s b on a.k = b.k',
	'a left join with a qual' =>
	  'select count(*), sum(a.v + b.v), count(a.v) from (select * from s where v % 4 = 0) a left join s b on a.k = b.k and a.v > b.v',
	'some rows' => 'select count(*) from (select a.v + b.v from s a join s b using (k) where a.v % 4 = 0 limit 1000) x',
	'too many groups' =>
	  'select count(*), sum(n) from (select a.v, b.v, count(*) as n from s a join s b using (k) where a.v % 4 = 0 and b.v % 2 = 0'
	  . ' group by 1, 2) x',
	'a rescan' => 'select sum(n) from generate_series(1, 2) g left join'
	  . ' (select count(*) + sum(a.v + b.v) as n from s a join s b using (k) where a.v % 4 = 0 offset 0) x on g > 0');
my $little = q{set work_mem = '4MB'; set enable_material = off; set enable_memoize = off; };

use_program($node, $standin, HG_STANDIN_FAST => 1);
foreach my $name (sort keys %many)
{
	my $right = $node->safe_psql('postgres', "set hashgraph.enabled = off; $many{$name}");

	foreach my $settings ("$little set hashgraph.backend = cuda;",
		"$little set hashgraph.backend = cuda; set parallel_leader_participation = off;",
		"$little set hashgraph.backend = auto;")
	{
		is($node->safe_psql('postgres', "$settings $many{$name}"), $right, "more matches than work memory, $name: right with $settings");
	}
	like(explain_analyze($node, "$little set hashgraph.backend = cuda;", $many{$name}),
		qr/Parallel Custom Scan \(HashGraphJoin\).*Backend: cuda.*Processes: 4/s, "... $name, cuda: the processes join on the device");
}
like(explain_analyze($node, "$little set hashgraph.backend = auto;", $many{'an inner join'}),
	qr/Backend: cpu.*Fallback: the matches of the join need more than work memory/s, '... auto: the CPU does it');
my $streaming = RawSession->new($node);
$streaming->query("$little set hashgraph.backend = cuda");
@stopped = ();
my ($takes_ms) = explain_analyze($node, "$little set hashgraph.backend = cuda;", $many{'an inner join'}) =~ /Execution Time: (\d+)/;
for my $round (1 .. $KILLS)
{
	$streaming->query('set statement_timeout = ' . (1 + int rand $takes_ms));
	$streaming->query($many{'an inner join'});
	$stopped[ defined $streaming->{error} ] = 1;
	fail("stopped while it streams: $streaming->{sqlstate} $streaming->{error}")
	  if defined $streaming->{error} && $streaming->{sqlstate} ne '57014';
}
ok($stopped[1], '... some joins are stopped');
$streaming->end_timeout;
devices_become($node, 'jobs, staging_used, memory_held', '0|0|0', '... and nothing is left on the device');
# two joins in one plan, one of which streams to the other
is( ($streaming->query('select count(*), sum(a.v + b.v + u.w) from s a join s b using (k) join u on a.v = u.k where a.v % 4 = 0'))[0],
	$node->safe_psql('postgres', 'set hashgraph.enabled = off;'
		  . " select count(*) || '|' || sum(a.v + b.v + u.w) from s a join s b using (k) join u on a.v = u.k where a.v % 4 = 0"),
	'... a join above takes the rows');
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => 10);
$streaming->query($many{'an inner join'});
is($streaming->{sqlstate}, '58000', '... a device that ends meanwhile is an error under cuda');
use_program($node, $standin, HG_STANDIN_FAST => 1);
$streaming->query($many{'an inner join'});
is($streaming->{error}, undef, '... and the session goes on');
close $streaming->{socket};

# ------------------------------------------------------------------ replaced while rows are sent to it

# All processes but one have given their rows to a device process that is killed then.  That one, which
# was stopped before there was a device and has found it silent, opens the same job with the
# successor, and is the first to build it.
{
	my $replaced = 'the device process was replaced while rows were sent to it';
	my $session = RawSession->new($node);
	my $members = sub {
		return split /\n/, $node->safe_psql('postgres', 'select pid from pg_stat_activity where '
			  . join(' and ', 'coalesce(leader_pid, pid) = ' . $session->pid, @_) . ' order by leader_pid nulls last');
	};
	my $are_waiting = sub {
		my ($count, @which) = @_;
		my $times = 0;

		return wait_for(sub { $times = $members->(q{wait_event_type = 'Extension'}, @which) == $count ? $times + 1 : 0; $times == 5 }, HANGS);
	};
	my $outcome = '';
	my $begun = time;

	$session->query('set hashgraph.backend = cuda');
	# one must be found and stopped before the device is there, and the others must still read then: both take longer
	# each time, as long as the machine has time for that
	for my $round (1 .. 8)
	{
		last if time > $begun + 60;
		use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_START_DELAY_MS => 500 * $round);
		my $first = device_process($node);
		$session->send("$queries{'a count'} where md5(repeat(t, $round * $round * 400)) is not null");
		wait_for(sub { $members->() == 4 }, HANGS) or last;
		my ($late, @others) = $members->();

		kill 'STOP', $late;
		$are_waiting->(3);
		kill 'STOP', $first;
		kill 'CONT', $late;
		$are_waiting->(4);
		kill 'STOP', @others;
		kill 'KILL', $first;
		wait_for(sub { (ready_devices($node, 'jobs') || 0) > 0 }, HANGS);
		$are_waiting->(1, "pid = $late");
		kill 'CONT', @others;
		$outcome = $session->finish(HANGS) ? $session->{error} // join("\n", @{ $session->{rows} }) : 'no answer';
		last if $outcome eq $replaced;
		last if $outcome ne $expected{'a count'} && ($session->{sqlstate} // '') ne '58000';
	}
	SKIP:
	{
		skip 'no process was found and stopped in time', 1
		  if time > $begun + 60 && ($outcome eq $expected{'a count'} || ($outcome ne $replaced && ($session->{sqlstate} // '') eq '58000'));
		is($outcome, $replaced, 'a device process that is replaced when it has rows: an error, not the join of the rest of them');
	}
	close $session->{socket};
}

# ------------------------------------------------------------------ killed at random moments

foreach my $backend ('auto', 'cuda')
{
	my $session = RawSession->new($node);
	my %seen;
	my @bad;

	$session->query("set hashgraph.backend = $backend; set hashgraph.gpu_wait_limit = '1s'");
	for my $round (1 .. $KILLS)
	{
		my $name = ('a count', 'an inner join', 'a full join')[ rand 3 ];
		my $signal = (qw(KILL SEGV STOP))[ $round % 3 ];

		# another program is started at once, where one that was lost often is after a while
		use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_BUILD_MS => 5);
		my $pid = device_process($node);
		$session->send($queries{$name});
		random_moment(0.12);
		kill $signal, $pid;
		# auto does not wait for one that was stopped, and cuda for as long as it is
		if ($signal eq 'STOP' && $backend eq 'cuda')
		{
			random_moment(0.5);
			kill((rand() < 0.5 ? 'CONT' : 'KILL'), $pid);
		}
		push @bad, "$name, $signal: no answer" if !$session->finish(HANGS);
		kill 'KILL', $pid if $signal eq 'STOP';
		my $rows = join "\n", @{ $session->{rows} };
		if (defined $session->{error})
		{
			$seen{error}++;
			push @bad, "$name, $signal: $session->{sqlstate} $session->{error}"
			  if $backend eq 'auto' || $session->{sqlstate} !~ /^(58000|55000)$/;
		}
		else
		{
			$seen{rows}++;
			push @bad, "$name, $signal: $rows" if $rows ne $expected{$name};
		}
	}
	ok(!@bad, "$backend: killed $KILLS times: " . join(', ', map { "$seen{$_} times $_" } sort keys %seen)) or diag(join "\n", @bad);
	close $session->{socket};
}
devices_become($node, 'jobs, staging_used', '0|0', 'nothing is left on the device');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|server process .* was terminated|other active server processes/,
	'the server has nothing to complain of');
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
