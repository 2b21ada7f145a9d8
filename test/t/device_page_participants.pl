# The processes of a parallel query send copies of tables' pages to a device together: each those that it gets of a parallel scan. What is counted and grouped is what PostgreSQL's own joins find; and where
# something goes wrong, for one of them or for all, all pages are handed out once more and read here.
#
# Runs over the stand-in, and what needs no misbehaviour over the real one too, where it finds a device.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use POSIX ();
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();

# Seconds of the random part.
my $SECONDS = $ENV{HG_QUICK} ? 8 : 30;

my $node = new_server('page_teams', init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<"CONF");
hashgraph.backend = cuda
hashgraph.force = on
hashgraph.device_program = '${\($standin // $device)}'
max_parallel_workers_per_gather = 3
max_parallel_workers = 8
max_worker_processes = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hashgraph.gpu_wait_limit = '20s'
autovacuum = off
CONF

$node->safe_psql('postgres', <<'SQL');
create table l (v int4, k int4, t text, s int2, w int8);
create table r (v int4, k int8, s int2, w int8);
insert into l select i, case when i % 11 > 0 then i - 2000 end, repeat('t', i % 60), i % 50, i * 10000000000 from generate_series(1, 120000) i;
insert into r select i, case when i % 7 > 0 then i / 2 end, i % 40, i from generate_series(1, 150000) i;
alter table r set (parallel_workers = 3);
alter table l set (parallel_workers = 3);
create table few (k int4, v int4);
insert into few select i, i % 3 from generate_series(1, 20) i;
create table nothing (k int4);
vacuum analyze;
SQL

my $main = RawSession->new($node);
sub sql { return $main->run_each(shift); }
sub rows { return session_rows($main, shift); }

my $EXPLAIN = 'explain (analyze, costs off, timing off, summary off)';
my $COUNT = 'select count(*) from l join r on l.k = r.k';
my $GROUPS = 'select l.s, count(*), sum(r.w), min(l.v), count(r.v) from l join r on l.k = r.k where l.v > 400 group by l.s';

# How is a join made by several processes: of how many pages, or in vain, or without any?
sub made
{
	my $plan = sql("set hashgraph.enabled = on; $EXPLAIN " . shift);

	return 'not in parallel' if $plan !~ /Workers Launched: [1-9]/ || $plan !~ /Parallel Seq Scan/;
	return "in vain: $1" if $plan =~ /Pages Sent in Vain: (.*)/;
	return $plan =~ /Pages Sent to Device: \d/ ? 'sent' : 'not sent';
}

sub made_like
{
	my ($select, $pattern) = @_;

	return answer_like(sub { made($select) }, $pattern);
}

# Tests: rows are right, and how they were come by.
sub is_right
{
	my ($what, $select, $made) = @_;
	my $core = rows("set hashgraph.enabled = off; $select");

	is(rows("set hashgraph.enabled = on; $select"), $core, $what);
	is(made_like($select, qr/^$made$/), $made, "$what: pages") if defined $made;
	return;
}

sub counted
{
	my ($on, $select) = @_;

	return sql("select pg_stat_force_next_flush(); select pg_stat_reset(); set hashgraph.enabled = $on; $select; select pg_stat_force_next_flush(); "
		. 'select sum(seq_tup_read) from pg_stat_user_tables');
}

my @queries = (
	[ 'sent', 'a count', $COUNT ],
	[ 'sent', 'a filter', "$COUNT where l.v > 500 and r.s <> 7" ],
	[ 'sent', 'NULLs', "$COUNT where l.s is not null and r.k is not null" ],
	[ 'sent', 'a filter that leaves nothing', "$COUNT where l.v < -100" ],
	[ 'sent', 'a semi join', 'select count(*) from l where exists (select from r where l.k = r.k)' ],
	[ 'sent', 'one group', 'select count(*), sum(l.v), min(r.w), max(l.s), count(r.v) from l join r on l.k = r.k' ],
	[ 'sent', 'groups', $GROUPS ],
	[ 'not sent', 'another clause', "$COUNT and l.v <= r.v" ],
	[ 'not sent', 'a filter of text', "$COUNT where l.t <> 'tt'" ]);

sub all_are_right
{
	my ($when, $checks) = @_;

	is_right("$when: $_->[1]", $_->[2], $checks ? $_->[0] : undef) foreach @queries;
	is_right("$when: few pages", 'select count(*), sum(few.v) from few join l on few.k = l.k');
	is_right("$when: no pages", 'select count(*) from nothing n join l on n.k = l.k');
	return;
}

sub is_there { return wait_for(sub { ready_devices($node, 'name') }, 20); }

foreach my $program (grep { defined } $standin, $device)
{
	my $label = $program eq ($standin // '') ? 'stand-in' : 'device';

	use_program($node, $program);
	ok(is_there(), "$label: there is one");
	all_are_right($label, 1);

	# what is told of it beside
	is(counted('on', $COUNT), counted('off', $COUNT), "$label: rows that scans have returned");
	{
		my $core = sql("set hashgraph.enabled = off; $COUNT");
		my $read = sql('select count(*) from l') + sql('select count(*) from r');

		is(sql("set hashgraph.enabled = on; $COUNT; select matches, rows_out, backend from hashgraph_last_joins()"), "$core|$core|cuda", "$label: the last join");
		my $plan = answer_like(sub { sql("set hashgraph.enabled = on; $EXPLAIN $COUNT") }, qr/Pages Sent/);
		my $pages = sql(q{select (pg_relation_size('l') + pg_relation_size('r')) / 8192});
		like($plan, qr/Pages Sent to Device: $pages\b/, "$label: each page is sent once");
	}

	# less than all processes
	sql('set parallel_leader_participation = off');
	is_right("$label: without the leader", $COUNT);
	sql('reset parallel_leader_participation; set max_parallel_workers = 1');
	is_right("$label: one worker", $COUNT, 'sent');
	sql('set max_parallel_workers = 0');
	is_right("$label: no worker", $COUNT);
	sql('reset max_parallel_workers');

	# rows that not everybody sees
	my $other = RawSession->new($node);
	sql('begin isolation level repeatable read; select 1');
	$other->run_each('update l set v = v + 1, k = null where v % 500 = 1; delete from r where v % 400 = 2; insert into r select v, k, s, w from l where v % 300 = 4');
	all_are_right("$label: before others have changed rows", 1);
	sql('commit');
	all_are_right("$label: others have changed rows", 1);
	sql('begin; delete from l where v % 5 = 0');
	is_right("$label: this transaction has changed rows", $COUNT, 'sent');
	sql('rollback; begin isolation level serializable');
	is_right("$label: serializable", $COUNT, 'not sent');
	sql('commit; vacuum');

	# again and again
	sql('set enable_material = off; set enable_memoize = off');
	my $again = "select x, (select count(*) from l join r on l.k = r.k where l.v < x * 20000 + 5) from generate_series(0, 3) x";
	is_right("$label: executions with other parameters", $again);
	is_right("$label: executions one after the other", "select count(*) from generate_series(1, 3) x left join ($GROUPS offset 0) q on q.s < x");
	is_right("$label: a limit", "select * from (select count(*) from l join r on l.k = r.k) q limit 1", 'sent');
	is_right("$label: a limit of rows", 'select 1 from l join r on l.k = r.k limit 5');
	sql('prepare p (int) as select count(*), sum(r.v) from l join r on l.k = r.k where l.v < $1; set plan_cache_mode = force_generic_plan');
	foreach my $n (30000, 'null', 0, 200000)
	{
		my $core = sql("set hashgraph.enabled = off; execute p($n)");

		is(sql("set hashgraph.enabled = on; execute p($n)"), $core, "$label: a parameter: $n");
	}
	sql('deallocate p; reset plan_cache_mode');
}

if (defined $standin)
{
	sql('set hashgraph.backend = auto');
	foreach my $case (
		[ 'no memory on the device', qr/in vain: .*memory/, HG_STANDIN_OUT_OF_MEMORY => 1, HG_STANDIN_FAST => 1 ],
		[ 'a broken device', qr/^(in vain: |not sent)/, HG_STANDIN_FAIL => 1, HG_STANDIN_FAST => 1 ],
		[ 'one that dies at its answer', qr/^(in vain: |sent|not sent)/, HG_STANDIN_DIE_AFTER_CHUNKS => 0, HG_STANDIN_FAST => 1 ])
	{
		my ($what, $told, @environment) = @$case;

		use_program($node, $standin, @environment);
		foreach my $query ($COUNT, $GROUPS)
		{
			is_there();
			is_right("$what: $query", $query);
		}
		is_there();
		like(made_like($COUNT, $told), $told, "$what is told of");
	}

	# one that lies
	use_program($node, $standin, HG_STANDIN_LIES => 'any 6 11', HG_STANDIN_FAST => 1);
	sql("set hashgraph.gpu_wait_limit = '300ms'");
	for (1 .. 15) { sql("set hashgraph.enabled = on; $COUNT"); sql($GROUPS); }
	is(sql("set hashgraph.backend = cpu; $COUNT"), sql("set hashgraph.enabled = off; $COUNT"), 'the session goes on after lies');
	sql("set hashgraph.enabled = on; set hashgraph.backend = auto; set hashgraph.gpu_wait_limit = '20s'");

	# a process that dies while it has the pages, and one that takes long and may be left
	use_program($node, $standin, HG_STANDIN_BUILD_MS => 3000, HG_STANDIN_FAST => 1);
	ok(is_there(), 'a slow device');
	my $core = sql("set hashgraph.enabled = off; $COUNT");
	sql('set hashgraph.enabled = on');
	my $pid = device_process($node);
	$main->send($COUNT);
	ok(wait_for(sub { (ready_devices($node, 'jobs') || 0) > 0 }, 20), 'it has a job');
	random_moment(1);
	kill 'KILL', $pid;
	$main->finish;
	is($main->{error} // $main->{rows}[-1], $core, 'a process that was killed while it had the pages');
	ok(is_there(), 'the next one is there');
	ok(!eval { sql("set statement_timeout = 900; $COUNT"); 1 } && $@ =~ /canceling statement due to statement timeout/, 'a cancel while the device works');
	sql('set statement_timeout = 0');
	is(sql("set hashgraph.gpu_wait_limit = '300ms'; $COUNT"), $core, 'a device that is waited for too long');
	like(made_like($COUNT, qr/^in vain: /), qr/^in vain: /, '... which is told of');
	sql("set hashgraph.gpu_wait_limit = '20s'");

	# killed at any moment, beside writers, in one snapshot with PostgreSQL's own
	use_program($node, $standin, HG_STANDIN_FAST => 1);
	my $end = time + $SECONDS;
	my ($checked, $sent, $vain, $wrong) = (0, 0, 0, 0);
	my $writer = RawSession->new($node);

	while (time < $end)
	{
		my $query = $queries[ rand 7 ]->[2];
		my $signal = (qw(KILL KILL STOP none none none))[ rand 6 ];

		is_there();
		my $process = device_process($node);

		$writer->run_each((
			'update l set v = v + 1 where v % 997 = ' . int(rand 997), 'update r set k = null where v = ' . int(rand 30000), 'delete from l where v % 911 = ' . int(rand 911),
			'insert into r select v, k, s, w from l where v % 500 = ' . int(rand 500), 'vacuum l', 'vacuum r')[ rand 6 ]);
		my $killer = fork;

		if ($killer == 0)
		{
			random_moment(0.12);
			kill $signal, $process if $signal ne 'none' && defined $process;
			random_moment(0.4) if $signal eq 'STOP';
			kill 'CONT', $process if $signal eq 'STOP' && defined $process;
			POSIX::_exit(0);
		}
		sql('begin isolation level repeatable read; set local hashgraph.enabled = on');
		my $plan = sql("$EXPLAIN $query");
		my $ours = rows($query);
		my $theirs = rows("set local hashgraph.enabled = off; $query");

		sql('commit');
		waitpid $killer, 0;
		$wrong++ if $ours ne $theirs;
		$sent++ if $plan =~ /Pages Sent to Device/;
		$vain++ if $plan =~ /Pages Sent in Vain/;
		$checked++;
	}
	is($wrong, 0, "no join of $checked was wrong beside writers and killers");
	cmp_ok($sent, '>', 0, 'some were of pages');
	diag("$sent of $checked were of pages, $vain in vain");
}

done_testing();
