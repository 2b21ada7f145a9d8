# A join that is too large for one GPU runs on all of them together, and so on as much as they have: where it is too large for
# these, too, in ranges.
#
# Runs over the stand-in, which sees as many devices as it is told to.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cuda' unless covers('cuda');
my $standin = standin_program();
plan skip_all => 'the stand-in was not built: make unit' unless defined $standin;

my $node;
my $count = 'select count(*) from f join d using (k)';
my $sums = 'select count(*), sum(v), sum(w), count(v) from f join d using (k)';
my $groups = 'select v, count(*), sum(w), min(w), max(w), avg(w) from f join d using (k) group by v order by v';
my $rows = 'select md5(string_agg(r::text, null order by r)) from (select v, w from f join d using (k) offset 0) r';
my $semi = 'select count(*), sum(v) from f where exists (select from d where d.k = f.k)';
my $hot = 'select count(*) from f join h using (k)';
my $last = q{select string_agg(distinct backend || '|' || coalesce(device, '') || '|' || coalesce(device_ranges, 1) || '|' ||
	coalesce(fallback, ''), ' ') from hashgraph_last_joins()};
my %expected;

# Do so many devices become ready, within a while?
sub all_are_there
{
	my ($devices) = @_;

	return wait_for(sub { $node->safe_psql('postgres', qq{select bool_and(state = 'ready') and count(*) = $devices from hashgraph_devices()}) eq 't' }, 30);
}

# Starts a server with so many devices of this memory each.
sub begin
{
	my ($devices, $budget, %switches) = @_;

	$node = restarted_server(<<"CONF", $devices, %switches);
work_mem = '64MB'
max_worker_processes = 20
max_parallel_workers_per_gather = 0
hashgraph.device_program = '$standin'
hashgraph.staging_size = '8MB'
hashgraph.gpu_memory_budget = '$budget'
hashgraph.resident_gpu_memory = -1
hashgraph.gpu_wait_limit = '5min'
hashgraph.backend = cuda
hashgraph.send_pages = off
hashgraph.resident = off
hashgraph.force = on
CONF
	$node->safe_psql('postgres', <<'SQL') unless %expected;
create table f as select i % 200000 + 1 as k, nullif(i % 7, 3)::int2 as v from generate_series(1, 300000) i;
create table d as select i % 150000 + 100000 as k, nullif(i % 1000, 10)::int4 as w from generate_series(1, 300000) i;
create table h as select case when i % 10 = 0 then 5 else i end as k from generate_series(1, 300000) i;
analyze;
SQL
	foreach my $query ($count, $sums, $groups, $rows, $semi, $hot)
	{
		$expected{$query} //= $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");
	}
	ok(all_are_there($devices), "$devices devices of $budget: all are there");
	return;
}

# A query has the right rows, and its join this to say.
sub runs
{
	my ($query, $said, $name) = @_;
	my $out = $node->safe_psql('postgres', "$query; $last");
	my ($where) = $out =~ /\n([^\n]*)\z/;

	is(substr($out, 0, length($out) - length($where) - 1), $expected{ $query =~ s/^set .*?; //r }, "$name: the rows are right");
	like($where, $said, '... and it ran where it should');
	return;
}

sub nothing_is_left
{
	my ($name) = @_;

	return ok(wait_for(sub { $node->safe_psql('postgres', 'select sum(jobs), sum(queued), sum(staging_used), sum(memory_reserved) from hashgraph_devices()') eq '0|0|0|0' }, 30),
		"$name: nothing is left of it");
}

# ------------------------------------------------------------------ what fits several

foreach my $devices (2, 3)
{
	my $all = qr/^cuda\|\Q$devices x stand-in (CPU)\E\|$devices\|$/;

	begin($devices, '18MB');
	runs($count, $all, "$devices devices, a count");
	runs($sums, $all, "$devices devices, sums");
	runs($groups, $all, "$devices devices, groups, some of whose rows are on each");
	runs($rows, $all, "$devices devices, rows");
	runs($semi, $all, "$devices devices, first matches");
	nothing_is_left("$devices devices");
	like($node->safe_psql('postgres', "explain (analyze, costs off, timing off, summary off) $count"),
		qr/Device: $devices x stand-in \(CPU\).*Device Ranges: $devices/s, "$devices devices: EXPLAIN tells");

	# what fits one is on one
	is($node->safe_psql('postgres', "select count(*) from f join d using (k) where f.v = 1 and d.w < 100; $last"),
		$node->safe_psql('postgres', 'set hashgraph.enabled = off; select count(*) from f join d using (k) where f.v = 1 and d.w < 100')
			. "\ncuda|stand-in (CPU)|1|", "$devices devices: a join that fits one is on one");

	# ... and so is one whose query has a job open, which others may wait for
	my $session = RawSession->new($node);
	$session->query("begin; declare c cursor for select f.v from f join d using (k) where f.v = 1 and d.w < 100; move 10 in c");
	is($session->query($count), $expected{$count}, "$devices devices: a second join of a query is right");
	like($session->query($last), qr/^cuda\|stand-in \(CPU\)\|\d+\|the join was left to one device: its query has another one on a device$/,
		'... and on one device, in ranges, which is told');
	undef $session;

	# ... and so is one that has a limit, or may have no other device
	is($node->safe_psql('postgres', 'select hashgraph_stat_reset()'), '', 'counters begin anew');
	runs("set hashgraph.gpu_memory_limit = '16MB'; $count", qr/^cuda\|stand-in \(CPU\)\|\d+\|the join was left to one device: hashgraph.gpu_memory_limit is set$/,
		"$devices devices, a limit");
	runs("set hashgraph.gpu_device = 1; $count", qr/^cuda\|stand-in \(CPU\)\|\d+\|the join was left to one device: no other device is ready$/,
		"$devices devices, but one");
	like($node->safe_psql('postgres', "set hashgraph.gpu_device = 1; explain (analyze, costs off, timing off, summary off) $count"),
		qr/Device: stand-in \(CPU\)\s+Fallback: the join was left to one device: no other device is ready\s.*Device Ranges: [2-9]/s, '... EXPLAIN tells');
	is($node->safe_psql('postgres', 'select cuda_joins, fallbacks from hashgraph_stat'), '3|0', '... and none counts as a fallback');
}

# ------------------------------------------------------------------ how rows come there

# The rows that a query's join has exchanged, and those of them that devices have sent each other.
sub exchanged
{
	my ($query) = @_;

	return $node->safe_psql('postgres', "explain (analyze, costs off, timing off, summary off) $query") =~ /Rows Exchanged: (\d+)\s+Rows Exchanged Directly: (\d+)/;
}

# Devices do something as they send rows, of which these are left to the session; or, where none are told, the join is lost.
sub sends
{
	my ($devices, $name, $left, %switches) = @_;

	begin($devices, '18MB', %switches);
	if (defined $left)
	{
		runs($_, qr/^cuda\|$devices x stand-in \(CPU\)\|$devices\|$/, "$name: " . ($_ eq $count ? 'a count' : $_ eq $sums ? 'sums' : 'rows')) foreach $count, $sums, $rows;
		my ($all, $directly) = exchanged($sums);

		like($all, qr/^[1-9]\d{5}$/, "$name: $all rows are exchanged");
		if ($left eq 'none') { is($directly, $all, '... all of them directly'); }
		elsif ($left eq 'all') { is($directly, 0, '... none of them directly'); }
		else { ok($directly > 0 && $directly < $all, "... $directly of them directly"); }
	}
	else
	{
		is($node->safe_psql('postgres', "set hashgraph.backend = auto; $sums; $last") =~ s/\|[^|]*\z//r, "$expected{$sums}\ncpu||1", "$name: the CPU has it under auto");
		# without the one that does wrong the others would have the join
		ok(all_are_there($devices), '... and all devices are there again');
		like((psql_error($sums)), qr/device/, '... and under cuda it fails');
		ok(all_are_there($devices), '... and once more they are there again');
	}
	nothing_is_left($name);
	return;
}

sub psql_error
{
	my ($query) = @_;
	my ($code, $out, $error) = $node->psql('postgres', $query);

	return $code == 0 ? 'none' : $error;
}

sends(2, 'two that send all', 'none');
sends(3, 'three that send all', 'none');
sends(3, 'none that offers memory', 'all', HG_STANDIN_NO_OFFER => 1);
sends(2, 'none that reaches another', 'all', HG_STANDIN_SENDS => 'not');
sends(3, 'one that reaches no other', 'some', HG_STANDIN_SENDS => 'not', HG_STANDIN_FAULTY => 1);
sends(3, 'one that fails in the middle', 'some', HG_STANDIN_SENDS => 'fails', HG_STANDIN_FAULTY => 2);
sends(3, 'one that dies in the middle', undef, HG_STANDIN_SENDS => 'dies', HG_STANDIN_FAULTY => 1, HG_STANDIN_FAST => 1);
sends(2, 'one that sends other keys', undef, HG_STANDIN_SENDS => 'alters', HG_STANDIN_FAULTY => 1, HG_STANDIN_FAST => 1);
sends(2, 'one that does not send what it says', undef, HG_STANDIN_SENDS => 'silent', HG_STANDIN_FAULTY => 0, HG_STANDIN_FAST => 1);

# while they send: one is killed, which is sent rows as well, or the query is cancelled
begin(3, '18MB', HG_STANDIN_SEND_MS => 1500, HG_STANDIN_FAST => 1);
{
	my $session = RawSession->new($node);
	my @processes = device_processes();

	$session->send("set hashgraph.backend = auto; $sums");
	ok(wait_for(sub { $node->safe_psql('postgres', 'select sum(jobs) from hashgraph_devices()') eq '3' }, 30), 'killed while rows are sent: each device has a part');
	random_moment(1.4);
	kill 'KILL', $processes[1];
	$session->finish;
	is($session->{error} // join("\n", @{ $session->{rows} }), $expected{$sums}, 'killed while rows are sent: the CPU has it');
	ok(all_are_there(3), '... and the device comes back');
	is(scalar(grep { kill 0, $_ } @processes[ 0, 2 ]), 2, '... the others never went');
	nothing_is_left('killed while rows are sent');
	$session->query("set statement_timeout = '1200ms'");
	$session->query($sums);
	like($session->{error} // 'none', qr/statement timeout/, 'cancelled while rows are sent');
	nothing_is_left('cancelled while rows are sent');
}

# ------------------------------------------------------------------ devices of unequal memory

# Have the second device so many bytes less than the others.
my $neighbours = PostgreSQL::Test::Utils::tempdir() . '/neighbours';

sub neighbours_have
{
	my ($bytes) = @_;

	append_to_file("$neighbours.new", $bytes);
	rename "$neighbours.new", $neighbours or die "$neighbours: $!";
	return;
}

neighbours_have(0);
begin(3, '18MB', HG_STANDIN_FAULTY => 1, HG_STANDIN_NEIGHBOURS => $neighbours);
neighbours_have(14 * 1024 * 1024);
foreach my $case ([ $count, 'a count' ], [ $sums, 'sums' ], [ $rows, 'rows' ])
{
	runs($case->[0], qr/^cuda\|3 x stand-in \(CPU\)\|3\|$/, "18, 4 and 18 MB: $case->[1] has shares of the rows that fit");
}
nothing_is_left('18, 4 and 18 MB');
neighbours_have(18 * 1024 * 1024 - 200_000);
runs($count, qr/^cuda\|2 x stand-in \(CPU\)\|2\|$/, '18, 0.2 and 18 MB: those with memory do without the other');
is($node->safe_psql('postgres', "set hashgraph.gpu_device = '0, 1'; $count; $last") =~ s/stand-in \(CPU\)\|\d+/stand-in/r,
	"$expected{$count}\ncuda|stand-in|the join was left to one device: others have next to no memory beside it", '... and one alone, as is told');
foreach my $time (1 .. 4)
{
	is($node->safe_psql('postgres', "set hashgraph.gpu_device = '0, 1'; select count(*) from f join d using (k) where f.v < 4 and d.w < 500; $last"),
		$node->safe_psql('postgres', 'set hashgraph.enabled = off; select count(*) from f join d using (k) where f.v < 4 and d.w < 500') . "\ncuda|stand-in (CPU)|1|",
		"... which has it, wherever session $time would go");
}
neighbours_have(0);
runs($count, qr/^cuda\|3 x stand-in \(CPU\)\|3\|$/, '18, 18 and 18 MB again: all have a part');
nothing_is_left('18, 18 and 18 MB');

# ------------------------------------------------------------------ what does not

begin(3, '4MB');
runs($count, qr/^cuda\|3 x stand-in \(CPU\)\|([6-9]|\d\d+)\|$/, 'too large for all: a count is cut');
runs($rows, qr/^cuda\|3 x stand-in \(CPU\)\|([6-9]|\d\d+)\|$/, '... rows are');
runs($sums, qr/^cuda\|3 x stand-in \(CPU\)\|([6-9]|\d\d+)\|$/, '... sums are made of rows');
runs($hot, qr/^cuda\|3 x stand-in \(CPU\)\|([6-9]|\d\d+)\|$/, '... many rows of a side have one key');
is($node->safe_psql('postgres', "$count; select bool_and(device_ranges % 3 = 0 and device_ranges >= 6) from hashgraph_last_joins()"),
	"$expected{$count}\nt", '... each range has a piece on each device');
nothing_is_left('too large for all');

# ------------------------------------------------------------------ memory of groups

# The least work_mem, in units of 256 kB, in which groups are made by a device.
sub least_for_groups
{
	my ($devices) = @_;
	my ($too_little, $enough) = (4, 256);

	begin($devices, '64MB');
	while ($enough - $too_little > 1)
	{
		my $units = int(($too_little + $enough) / 2);
		my $plan = $node->safe_psql('postgres', "set hash_mem_multiplier = 1; set work_mem = '" . $units * 256 . "kB'; "
				. 'explain (analyze, costs off, timing off, summary off) select k, count(*), sum(w) from f join d using (k) group by k');

		if ($plan =~ /Rows Reduced on Device: [1-9]/) { $enough = $units; }
		else { $too_little = $units; }
	}
	return $enough;
}

{
	my ($one, $two) = map { least_for_groups($_) } 1, 2;

	cmp_ok($two, '>', $one * 1.1, 'memory: groups that several devices may make are reckoned twice, as their records are merged');
}

# ------------------------------------------------------------------ what goes wrong

sub device_processes
{
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});

	return sort { $a <=> $b } device_children($worker);
}

begin(3, '18MB', HG_STANDIN_FAST => 1);
foreach my $backend ('auto', 'cuda')
{
	my $session = RawSession->new($node);
	my ($all, $left) = split /\|/, $expected{$sums};

	$session->query("set hashgraph.backend = $backend; begin; declare c cursor for select v, w from f join d using (k); move 1000 in c");
	like($session->query("select sum(jobs) from hashgraph_devices()"), qr/^3$/, "lost, $backend: each device has a part of a join");
	kill 'KILL', (device_processes())[1];
	$session->query('fetch all in c');
	if ($backend eq 'auto')
	{
		is($session->{error} // scalar(@{ $session->{rows} }), $all - 1000, 'lost, auto: the CPU goes on with it');
	}
	else { like($session->{error}, qr/lost/, 'lost, cuda: it fails'); }
	undef $session;
	ok(all_are_there(3), "lost, $backend: the device comes back");
	nothing_is_left("lost, $backend");
}

# one that does not answer has no part, or is given up, and nothing is held against the others
{
	my $session = RawSession->new($node);
	my $stopped = (device_processes())[1];

	$session->query("set hashgraph.backend = auto; set hashgraph.gpu_wait_limit = '1s'");
	is($session->query($count), $expected{$count}, 'stopped: a join before');
	kill 'STOP', $stopped;
	is($session->query($count), $expected{$count}, 'stopped: the join is right');
	like($session->query($last), qr/^(cpu\|\|1\|.*did not answer in time|cuda\|2 x stand-in \(CPU\)\|[24]\|)$/,
		'... and the CPU has done it, where it was to be whole on that one, or else the two others');
	is($session->query($count), $expected{$count}, 'stopped: the next join is right');
	like($session->query($last), qr/^cuda\|2 x stand-in \(CPU\)\|[24]\|$/, '... and the two others have done it');
	kill 'CONT', $stopped;
	ok(all_are_there(3), 'stopped: all are there again, as it goes on');
	$session->query('begin; declare c cursor for select v, w from f join d using (k); move 1000 in c');
	kill 'STOP', $stopped;
	$session->query('fetch all in c');
	is($session->{error} // scalar(@{ $session->{rows} }), (split /\|/, $expected{$sums})[0] - 1000, 'stopped in the middle: the rows are right');
	$session->query('commit');
	like($session->query($last), qr/^cpu\|\|1\|.*did not answer in time/, '... and the CPU has gone on with it');
	is($session->query($count), $expected{$count}, 'stopped in the middle: the next join is right');
	like($session->query($last), qr/^cuda\|2 x stand-in \(CPU\)\|[24]\|$/, '... and the two others have done it');
	kill 'CONT', $stopped;
	ok(all_are_there(3), 'stopped in the middle: all are there again, as it goes on');
	undef $session;
	nothing_is_left('stopped');
}

# two of them at a time, in their turn; and cancelled, while the one waits for the other
{
	my @sessions = map { RawSession->new($node) } 1, 2;

	$sessions[0]->query('begin; declare c cursor for select v, w from f join d using (k); move 10 in c');
	$sessions[1]->query("set statement_timeout = '1s'");
	$sessions[1]->query($count);
	like($sessions[1]->{error} // 'none', qr/statement timeout/, 'two at a time: the second waits, and can be cancelled');
	$sessions[0]->query('commit');
	is($sessions[1]->query("set statement_timeout = 0; $count") // $sessions[1]->{error}, $expected{$count}, '... and runs when the first has ended');
	nothing_is_left('two at a time');
}

# a join that is there for GPUs alone waits for those that it has, however long they take
begin(2, '18MB', HG_STANDIN_COUNT_MS => 3000);
is($node->safe_psql('postgres', "set hashgraph.gpu_wait_limit = '1s'; $count; $last"), "$expected{$count}\ncuda|2 x stand-in (CPU)|2|",
	'slow: nothing else is waited for, and so they are not given up');


# those that rest come up for the next join that is too large for one
begin(2, '18MB');
$node->safe_psql('postgres', q{alter system set hashgraph.gpu_idle_timeout = '3s'});
$node->reload;
ok(wait_for(sub { $node->safe_psql('postgres', q{select count(*) from hashgraph_devices() where state = 'resting'}) ne '0' }, 30), 'a device rests');
ok(wait_for(sub { $node->safe_psql('postgres', "$count; $last") eq "$expected{$count}\ncuda|2 x stand-in (CPU)|2|" }, 30),
	'... and has a part in a join soon that asks for it');
$node->stop;

done_testing();
