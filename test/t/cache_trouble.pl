# Whatever fails or is killed while columns are taken in, served, evicted and listed: statements end in an error of the right class
# or go on without, what is served next is right, and no memory is lost.
#
# Every allocation of what serves, asks for, lists and takes in columns fails once, in sessions, in a loader and in witnesses; the
# list's file can't be written; loaders are terminated and killed at each step, their databases dropped, and the server is
# stopped in the middle.
#
# Needs a server with a build of HG_DEBUG=1 in PATH, as cache_faults.pl does.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use FaultPlaces;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'needs a build of HG_DEBUG=1' unless $ENV{HG_DEBUG_BUILD};

my $node = new_server('resident_trouble', conf => <<'CONF');
hashgraph.resident_memory = '8MB'
hashgraph.resident_auto = off
hashgraph.force = on
hashgraph.backend = cpu
wal_level = replica
max_worker_processes = 20
restart_after_crash = on
log_statement = none
CONF
my $main = RawSession->new($node);

# Run statements, each by itself, which must succeed; what the last one returns.
sub sql
{
	return $main->run_each(shift);
}

sub memory_used { return sql('select memory_used from hashgraph_stat_resident'); }

# Tables with a HashGraph, and its key.
my %keys = (a => 'k');

# Have all of some tables be resident, all of their blocks all-visible.
sub take_in
{
	my (@tables) = @_;

	foreach my $table (@tables)
	{
		my $rows = sql("select count(*) from $table");
		my $keys = exists $keys{$table} ? "array['$keys{$table}']" : 'null';
		# again and again: one that a fault was left for has it declined
		wait_for(sub { sql("select * from hashgraph_resident_check('$table')") eq "$rows|0" && sql("select bool_and(state = 'ready' and blocks_resident > 0) from hashgraph_resident where relation = '$table'::regclass and kind = 'graph'") ne 'f' }, 60, every => 0.05, between => sub { sql("vacuum $table; select hashgraph_resident_add('$table', keys => $keys)") })
		  or die "$table is not taken in: " . sql('select json_agg(r) from hashgraph_resident r');
	}
	return;
}

# Drop all from the residents; how much memory is used then.
sub memory_of_nothing
{
	sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident where relation is not null) r');
	# a loader may hold what it was about to publish
	wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph loader'}) eq '0' }, 20);
	return memory_used();
}

sql(<<'SQL');
create table a (k int, v int, w int8);
insert into a select i, i % 7, case when i % 5 > 0 then i end from generate_series(1, 3000) i;
create table b (k int, v int8);
insert into b select i, -i from generate_series(1, 2000) i;
create table q (k int, v int);
insert into q select i, i from generate_series(1, 1000) i;
create table p (k int, v int) partition by range (k);
create table p_1 partition of p for values from (0) to (10);
create table p_2 partition of p for values from (10) to (20);
insert into p select i % 20, i from generate_series(1, 500) i
SQL
take_in('a', 'b');
my $join = 'select count(*), sum(a.v), sum(w), sum(b.v) from a left join b using (k) where a.v <> 3';
my $right = sql("set hashgraph.enabled = off; $join");
sql('set hashgraph.enabled = on');
my $nothing = memory_of_nothing();
take_in('a', 'b');

# ---------------------------------------------------------------- sessions

# What is done with an allocation failing in it, and what it returns.
my @statements = (
	[ 'a scan that is served', $join, $right ],
	[ 'groups of rows that are served', 'select count(*) from (select a.v, sum(b.v) from a join b using (k) group by a.v) s', '7' ],
	[ 'hashgraph_resident_check()', q{select rows_different from hashgraph_resident_check('a')}, '0' ],
	[ 'hashgraph_resident_advise()', q{select count(*) from hashgraph_resident_advise('a')}, undef ],
	[ 'the view', q{select count(*) from hashgraph_resident where relation in ('a'::regclass, 'b'::regclass)}, '6' ],
	[ 'hashgraph_resident_add()', q{select hashgraph_resident_add('q', keys => array['k'])}, '' ],
	[ 'hashgraph_resident_refresh()', q{select hashgraph_resident_refresh('a')}, '' ],
	[ '... of a partitioned table', q{select hashgraph_resident_add('p')}, '' ],
	[ 'hashgraph_resident_drop()', q{select hashgraph_resident_drop('p')}, '' ],
	[ '... of a column', q{select hashgraph_resident_drop('q', array['v'])}, '' ]);

# Have the N-th event of a kind fail in a statement, for every N; a test.
sub walk
{
	my ($kind, $what, $statement, $expected, $sqlstate, $before, $forbidden) = @_;
	my ($number, $errors, $fired) = (1, 0, 0);
	my @bad;

	$expected //= $main->query($statement);
	for (;;)
	{
		$main->query($_) foreach @{ $before // [] };
		$main->query("set hashgraph.inject_fault = '$kind:$number'");
		my $result = $main->query($statement);
		my ($error, $state) = ($main->{error}, $main->{sqlstate});
		my $seen = $main->query('show hashgraph.inject_fault');
		$main->query(q{set hashgraph.inject_fault = ''});
		if ($seen !~ /fired/)
		{
			push @bad, "without a fault: $error" if defined $error;
			last;
		}
		$fired++;
		$errors++ if defined $error;
		push @bad, "fault $number: $state $error" if defined $error && ($state !~ $sqlstate || ($forbidden && $error =~ $forbidden));
		push @bad, "fault $number: $result" if !defined $error && $result ne $expected;
		$main->query($_) foreach @{ $before // [] };
		$result = $main->query($statement);
		push @bad, "after fault $number: " . ($main->{error} // $result) if defined $main->{error} || $result ne $expected;
		$number++;
	}
	ok(!@bad && $fired > 0, "$what: $kind, $fired faults, $errors errors") or diag(join "\n", @bad);
	return $errors;
}

# what a statement needs to find something to do
my %before = (
	'hashgraph_resident_add()' => [ q{select hashgraph_resident_drop('q')} ],
	'... of a partitioned table' => [ q{select hashgraph_resident_drop('p')} ],
	'hashgraph_resident_drop()' => [ q{select hashgraph_resident_add('p')} ],
	'... of a column' => [ q{select hashgraph_resident_add('q')} ]);
foreach my $statement (@statements)
{
	my ($what, $query, $expected) = @$statement;
	# what advice allocates is PostgreSQL's
	walk('alloc', $what, $query, $expected, qr/^53[02]00$/, $before{$what}) if $what !~ /advise/;
	walk('cancel', $what, $query, $expected, qr/^57014$/, $before{$what});
}
# what a scan asks for without a word fails nobody's query
sql('alter system set hashgraph.resident_auto = on; select pg_reload_conf()');
wait_for(sub { sql('show hashgraph.resident_auto') eq 'on' }, 10);
my $asks = 'select count(*), sum(q.v) from q left join p on p.k = -q.v';
walk('alloc', 'a scan that asks for columns', $asks, '1000|500500', qr/^53[02]00$/, [ q{select hashgraph_resident_drop('q')}, $asks ], qr/shared hash table/);
sql('alter system reset hashgraph.resident_auto; select pg_reload_conf()');
wait_for(sub { sql('show hashgraph.resident_auto') eq 'off' }, 10);
is(sql('select memory_pinned from hashgraph_stat_resident'), '0', 'nothing is pinned any more');
is($main->query($join), $right, 'the join is right');
cmp_ok(memory_of_nothing(), '<=', $nothing + 64 * 1024, '... and no memory is lost');
take_in('a', 'b');

# ---------------------------------------------------------------- a device that keeps copies

# Whatever fails while it is asked, it has no job left, and lets go of what is kept when that is dropped.
if (defined(my $standin = standin_program()))
{
	my %asked = (
		'a count of kept pairs' => 'select count(*) from a x join a y using (k)',
		'a count of a star' => 'select count(*) from a x join a y using (k) join a z using (k)',
		'groups of a star' => 'select count(*), sum(s) from (select x.v, sum(z.w) s from a x join a y using (k) join a z using (k) group by x.v) g',
		'groups of kept pairs' => 'select count(*), sum(s) from (select x.v, sum(y.w) s from a x join a y using (k) group by x.v) g');

	sql("alter system set hashgraph.device_program = '$standin'; alter system set hashgraph.backend = auto; select pg_reload_conf()");
	wait_for(sub { sql('show hashgraph.device_program') eq $standin && sql(q{select state from hashgraph_devices()}) eq 'ready' }, 30);
	sql('set hashgraph.backend = auto; set max_parallel_workers_per_gather = 0');
	foreach my $what (sort keys %asked)
	{
		my $expected = sql("set hashgraph.enabled = off; $asked{$what}");

		sql('set hashgraph.enabled = on');
		ok(wait_for(sub { sql($asked{$what}); sql(q{select backend from hashgraph_last_joins() order by 1 limit 1}) eq 'cuda' }, 30, every => 0.2), "$what: a device is asked");
		walk('cancel', $what, $asked{$what}, $expected, qr/^57014$/);
		walk('alloc', $what, $asked{$what}, $expected, qr/^53[02]00$/);
		ok(wait_for(sub { sql('select sum(jobs) from hashgraph_devices()') eq '0' }, 10), '... and it has no job left');
	}
	sql('alter system reset hashgraph.backend; select pg_reload_conf(); set hashgraph.backend = cpu');
	memory_of_nothing();
	ok(wait_for(sub { ready_devices($node, 'kept_graphs') eq '0' }, 20), 'a device has nothing left of what is dropped');
	take_in('a', 'b');
}

# ---------------------------------------------------------------- loaders

# Have the N-th allocation of a loader fail, as soon as it has connected.
my ($number, $failed, $silent) = (1, 0, 0);
my @bad;
for (;;)
{
	my $offset = -s $node->logfile;

	sql(q{select hashgraph_resident_drop('a')});
	# one that is still there would take it in without a fault
	wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph loader'}) eq '0' }, 10);
	sql("alter database postgres set hashgraph.inject_fault = 'alloc:$number'");
	sql(q{select hashgraph_resident_add('a', keys => array['k'])});
	# one that fails before it has come to a table is started again, with the same fault
	wait_for(sub { sql(q{select bool_and(state in ('ready', 'declined')) from hashgraph_resident where relation = 'a'::regclass}) eq 't' ||
			slurp_file($node->logfile, $offset) =~ /on purpose/ }, 20)
	  or push @bad, "fault $number: it comes to no end";
	sql('alter database postgres reset hashgraph.inject_fault');
	# an allocation that may find no room fails without a word; many of them in a row are none that fail
	$silent = slurp_file($node->logfile, $offset) =~ /on purpose/ ? 0 : $silent + 1;
	last if $silent == 8;
	$failed++ if $silent == 0;
	sql(q{select hashgraph_resident_refresh('a')});
	# again where it was declined by a loader that had the fault still
	wait_for(sub { sql(q{select * from hashgraph_resident_check('a')}) eq '3000|0'
			or sql(q{select bool_or(state = 'declined') from hashgraph_resident where relation = 'a'::regclass}) eq 't' && sql(q{select hashgraph_resident_refresh('a')}) && 0 }, 20) or push @bad, "fault $number: afterwards " . sql(q{select * from hashgraph_resident_check('a')});
	$number++;
}
ok(!@bad && $failed > 30, "a loader: $failed faults") or diag(join "\n", @bad);
is($main->query($join), $right, 'the join is right');
cmp_ok(memory_of_nothing(), '<=', $nothing + 64 * 1024, '... and no memory is lost');
take_in('a', 'b');

# witnesses, which are started again after longer and longer pauses
foreach my $fault (1, 4)
{
	my $offset = -s $node->logfile;

	sql("alter database postgres set hashgraph.inject_fault = 'alloc:$fault'");
	sql(q{select count(pg_terminate_backend(pid)) from pg_stat_activity where backend_type = 'hashgraph witness'});
	ok(wait_for(sub { slurp_file($node->logfile, $offset) =~ /on purpose/ }, 20), "a witness fails at allocation $fault");
	is($main->query($join), $right, '... and the join is right');
	sql('alter database postgres reset hashgraph.inject_fault');
}
take_in('a', 'b');
is($main->query($join), $right, '... also when there are others');

# ---------------------------------------------------------------- the list

my $list = $node->data_dir . '/hashgraph_resident.list';
my $listed = slurp_file($list);
mkdir "$list.new" or die "$list.new: $!";
my (undef, undef, $warning) = $node->psql('postgres', q{select hashgraph_resident_add('q')});
like($warning, qr/WARNING:  could not write file "hashgraph_resident\.list"/, 'a list that cannot be written is warned of');
is(slurp_file($list), $listed, '... and the old one is there');
rmdir "$list.new";
sql(q{select hashgraph_resident_add('q', array['k'])});
ok(wait_for(sub { slurp_file($list) ne $listed }, 10), '... until it can be');

# ---------------------------------------------------------------- loaders that end

sql('create table large as select i as k, i::int8 as v from generate_series(1, 400000) i; create table other as select i as k, i::int8 as v from generate_series(1, 400000) i');
wait_for(sub { sql(q{vacuum large; vacuum other; select bool_and(relallvisible = relpages) from pg_class where relname in ('large', 'other')}) eq 't' }, 20, every => 0.05);
sql('alter system set hashgraph.fault_eviction_rest = 0; select pg_reload_conf()');

# What a loader does when it comes to each place.
my %places = (
	GIVE_WAY, 'lets others at the table',
	JOIN, 'has read a segment',
	RECORD, 'publishes it',
	EVICT, q{evicts another table's HashGraph},
	GRAPH, 'makes a HashGraph');
foreach my $place (sort keys %places)
{
	foreach my $signal (qw(TERM KILL))
	{
		my $offset = -s $node->logfile;

		sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident where relation is not null) r');
		take_in('a');
		sql(q{select hashgraph_resident_add('large', array['k'], keys => array['k'], wait => true)}) if $place == EVICT;
		hold($main, $place);
		sql($place == EVICT ? q{select hashgraph_resident_add('other')} : q{select hashgraph_resident_add('other', array['k'], keys => array['k'])});
		my $loader = wait_at($main, $place);
		is(sql("select backend_xmin is null from pg_stat_activity where pid = $loader"), 't', 'who makes a HashGraph holds no snapshot, which would keep vacuums waiting') if $place == GRAPH;
		kill $signal, $loader;
		if ($signal eq 'KILL')
		{
			ok(wait_for(sub { slurp_file($node->logfile, $offset) =~ /all server processes terminated; reinitializing.*ready to accept connections/s }, 30),
				"a loader that $places{$place} is killed: the server starts again");
			$main = RawSession->new($node);
		}
		else
		{
			ok(wait_for(sub { sql("select count(*) from pg_stat_activity where pid = $loader") eq '0' }, 10), "a loader that $places{$place} is terminated");
			let_go($main, $place);
		}
		ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('other')}) eq '400000|0' && sql(q{select bool_and(state = 'ready') from hashgraph_resident where relation = 'other'::regclass and kind = 'graph'}) ne 'f' }, 20), '... another one takes its place') or diag(sql('select json_agg(r) from hashgraph_resident r'));
		is(sql(q{select sum(rows_different) from (select distinct relation from hashgraph_resident where relation is not null) r, hashgraph_resident_check(relation)}), '0', '... and what is served is right');
		cmp_ok(memory_of_nothing(), '<=', $nothing + 64 * 1024, '... and no memory is lost');
	}
}

# the server stops in the middle
foreach my $place (JOIN, EVICT)
{
	sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident where relation is not null) r');
	sql(q{select hashgraph_resident_add('large', wait => true)});
	hold($main, $place);
	sql(q{select hashgraph_resident_add('other')});
	wait_at($main, $place);
	$node->stop('immediate');
	$node->start;
	$main = RawSession->new($node);
	ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('other')}) eq '400000|0' }, 20), "after a crash while a loader $places{$place} the table is taken in")
	  or diag(sql('select json_agg(r) from hashgraph_resident r'));
	is(sql(q{select sum(rows_different) from (select distinct relation from hashgraph_resident where relation is not null) r, hashgraph_resident_check(relation)}), '0', '... rightly');
	cmp_ok(memory_of_nothing(), '<=', $nothing + 64 * 1024, '... and no memory is lost');
}

# ---------------------------------------------------------------- databases that go

sql('alter system set hashgraph.fault_delay = 300; select pg_reload_conf()');
foreach my $evicting (0, 1)
{
	sql(q{select hashgraph_resident_add('large', wait => true)}) if $evicting;
	foreach my $most (0.2, 0.8, 1.6)
	{
		sql('create database gone template template0');
		$node->safe_psql('gone', 'create extension hashgraph; create table g as select i as k, i::int8 as v from generate_series(1, 400000) i');
		$node->safe_psql('gone', q{vacuum g; select hashgraph_resident_add('g')});
		random_moment($most);
		sql('drop database gone');
		ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where database is distinct from 'postgres'}) eq '0' }, 10), 'a database is dropped while a table of it is taken in' . ($evicting ? ', and another one evicted' : '') . ", within $most s");
	}
}
is(sql(q{select rows_different from hashgraph_resident_check('large')}), '0', 'what is there is right');
cmp_ok(memory_of_nothing(), '<=', $nothing + 64 * 1024, '... and no memory is lost');

# ---------------------------------------------------------------- a HashGraph that is wrong

sql(q{alter system reset hashgraph.fault_delay; alter system set hashgraph.plant_fault = 'graph_key'; select pg_reload_conf()});
wait_for(sub { sql('show hashgraph.plant_fault') eq 'graph_key' }, 10);
witness_rounds($node, 1);
sql(q{select hashgraph_resident_drop('large')});
sql(q{select hashgraph_resident_add('large', array['k'], keys => array['k'], wait => true)});
cmp_ok(sql(q{select rows_different from hashgraph_resident_check('large')}), '>', 0, 'a HashGraph with wrong keys is found out');
sql(q{alter system reset hashgraph.plant_fault; select pg_reload_conf()});
wait_for(sub { sql('show hashgraph.plant_fault') eq 'none' }, 10);
witness_rounds($node, 1);
sql(q{select hashgraph_resident_drop('large')});
sql(q{select hashgraph_resident_add('large', array['k'], keys => array['k'], wait => true)});
is(sql(q{select rows_different from hashgraph_resident_check('large')}), '0', '... and one with the right ones is not');
sql(q{select hashgraph_resident_drop('large')});

# ---------------------------------------------------------------- what does not last

# Processes take parts of two HashGraphs by a counter of all, whose place the function that has built the join knew.
take_in('a');
sql('set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0; set parallel_tuple_cost = 0');
like(sql('explain (analyze, costs off, timing off) select count(*) from a x join a y using (k)'), qr/Parallel Custom Scan \(HashGraphJoin\).*Outer HashGraph: resident.*Inner HashGraph: resident/s, 'processes join from HashGraphs together');
is(sql('select count(*) from a x join a y using (k)'), '3000', '... and find all matches');
sql('reset max_parallel_workers_per_gather; reset min_parallel_table_scan_size; reset parallel_setup_cost; reset parallel_tuple_cost');

# ---------------------------------------------------------------- a worker that is cancelled

# A worker pins the covered rows, and then finds them, which may take long: it checks for interrupts meanwhile.
take_in('a');
{
	my $parallel = RawSession->new($node);

	$parallel->run_each('set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0; set parallel_tuple_cost = 0');
	hold($main, ATTACH);
	$parallel->send('select count(*) from a x join a y using (k)');
	wait_at($main, ATTACH);
	sql("select pg_cancel_backend($parallel->{pid})");
	my $ended = $parallel->finish(60);
	let_go($main, ATTACH);
	$parallel->finish if !$ended;
	ok($ended, 'a parallel join is cancelled while its workers find the covered rows');
	is($parallel->{sqlstate}, '57014', '... with the error of a cancel');
	is($parallel->query('select count(*) from a x join a y using (k)'), '3000', '... and the next one is right');
}

# ---------------------------------------------------------------- what is registered changes while it is released

{
	my $session = RawSession->new($node);

	sql(q{create function fault_cleanups() returns text language c as '$libdir/hashgraph', 'hg_fault_cleanups'});
	$session->run_each('select fault_cleanups()');
	is($session->query('select fault_cleanups()'), 'forgets forgotten added last', 'objects are registered, and forgotten, while those of a statement are released');
	$session->query('begin; select fault_cleanups(), 1 / (k - k) from a');
	$session->run_each('rollback');
	is($session->query('select fault_cleanups()'), 'forgets forgotten added last', '... where an error ends it, too');
	sql('drop function fault_cleanups()');
}

# ---------------------------------------------------------------- workers that are held off

# Whatever fails while a database's workers are held off, they come back.
sql('create database held template template0');
$node->safe_psql('held', q{create extension hashgraph; create table h as select i as k from generate_series(1, 1000) i});
$node->safe_psql('held', q{select hashgraph_resident_add('h', wait => true)});
my ($events, $state) = (0, 'fired');
while ($state =~ /fired$/ && $events++ < 20)
{
	# the first one that a session registers takes memory for itself
	my $session = RawSession->new($node);

	$session->run_each("set hashgraph.inject_fault = 'alloc:$events'");
	$session->query('alter database held rename to held_off');
	$state = $session->query('show hashgraph.inject_fault');
}
cmp_ok($events, '>', 2, 'renaming a database has allocations that fail');
is(sql(q{select string_agg(datname, ',') from pg_database where datname ~ '^held'}), 'held_off', '... and succeeds without');
ok(wait_for(sub { sql(q{select count(*) from pg_stat_activity where datname = 'held_off' and backend_type = 'hashgraph witness'}) eq '2' }, 20), '... and its workers come back');
sql('drop database held_off');

# ---------------------------------------------------------------- a changed block that is pruned

# Which rows a block has is known, and they are to be read, when somebody who has it for himself moves them: with the page's lock, and
# before others have a pin on it.
take_in('a', 'b');
sql('update a set v = v where k = 3000');
{
	my $changed = 'select count(*), sum(a.v) from a join b on a.k = b.k';
	my ($reader, $pruner) = map { RawSession->new($node) } 1 .. 2;

	sql('set hashgraph.enabled = off');
	my $rows = sql($changed);
	sql('reset hashgraph.enabled');
	hold($main, $_) foreach TAKE, ALONE;
	$pruner->run_each('set hashgraph.fault_alone = on');
	$reader->send($changed);
	wait_at($main, TAKE);
	$pruner->send($changed);
	wait_at($main, ALONE);
	let_go($main, TAKE);
	ok(wait_for(sub { sql("select wait_event from pg_stat_activity where pid = $reader->{pid}") eq 'BufferContent' }, 20), 'who reads rows that it knows of waits for who has their block for himself');
	ok(!$reader->finish(0), '... and goes on no further');
	let_go($main, ALONE);
	ok($_->finish(20) && join("\n", @{ $_->{rows} }) eq $rows, '... and has its rows then') foreach $reader, $pruner;
}

# ---------------------------------------------------------------- a table that is broken

sql('create table broken as select * from a; create table broken_too as select * from a');
take_in('a', 'b', 'broken', 'broken_too');
my @files = map { $node->data_dir . '/' . sql("select pg_relation_filepath('$_')") } 'broken', 'broken_too';
$node->stop;
rename $_, "$_.away" or die "$_: $!" foreach @files;
$node->start;
$main = RawSession->new($node);
ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('a')}) eq '3000|0' }, 20), 'tables whose files are missing keep no other from being served');
is(sql(q{select string_agg(distinct state || ': ' || reason, ',') from hashgraph_resident where relation::text ~ 'broken'}), "declined: it could not be read, as the server's log tells", '... and are declined');
# by a loader, and by a witness
witness_rounds($node, 1);
my $witnesses = q{select count(*) || ': ' || string_agg(pid::text, ' ' order by pid) from pg_stat_activity where backend_type = 'hashgraph witness'};
my $told = sql($witnesses);
my $offset = -s $node->logfile;
witness_rounds($node, 2);
unlike(slurp_file($node->logfile, $offset), qr/could not open file/, '... and not tried again and again');
is($main->query($join), $right, '... and the join is right');
like($told, qr/^2: /, 'there are witnesses');
is(sql($witnesses), $told, '... none of which has ended for it');
$node->stop;
rename "$_.away", $_ foreach @files;
$node->start;
$main = RawSession->new($node);
ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('broken')}) eq '3000|0' }, 20), 'with its file a table is resident again');

my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP:|reference leak|resource was not closed|AbortTransaction while/, 'the server has nothing to complain of');
unlike($log, qr/terminated by signal (?!9)/, '... and no process has died of itself');
$node->stop;
done_testing();
