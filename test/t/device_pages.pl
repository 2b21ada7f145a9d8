# A device takes rows out of copies of tables' pages: of keys of all widths, with filters, NULLs, columns that were added, dropped or toasted, and pages with rows that not everybody sees. What it counts and makes
# groups of is what PostgreSQL's own joins find, in each execution, and what is told of it beside is true; and where it fails the rows are read here.
#
# Runs over the stand-in, and what needs no misbehaviour over the real one too, where it finds a device.
#
# The random part draws few queries under HG_QUICK, and all of them in the nightly run.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache qw(open_session sql rows none_is_wrong);
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();

my $node = new_server('pages', init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<"CONF");
hashgraph.backend = cuda
hashgraph.force = on
hashgraph.device_program = '${\($standin // $device)}'
max_parallel_workers_per_gather = 0
ignore_checksum_failure = on
autovacuum = off
CONF

# A table a key type, with columns before and behind the key; those of "late" came when there were rows already, and one has gone.
my @types = qw(int2 int4 int8 date timestamp time oid);
my %values = (
	int2 => '(i % 30000)::int2', int4 => 'i - 8000', int8 => 'i::int8 * 300000000', date => "date '2020-01-01' + i % 9000",
	timestamp => "timestamp '2020-01-01' + i * interval '1 hour'", time => "time '00:00' + i * interval '1 second'", oid => 'i::oid');

foreach my $type (@types)
{
	foreach my $name ("l_$type", "r_$type")
	{
		my $sign = $name =~ /^l/ ? 'i % 11 > 0' : 'i % 7 > 0';

		$node->safe_psql('postgres', "create table $name (v int4, gone text, t text, k $type, w int8, f bool, s int2);
			insert into $name select i, 'x', repeat('t', i % 9), case when $sign then $values{$type} end, i * 10000000000, case when i % 5 > 0 then i % 3 = 0 end, i % 50 from generate_series(1, 12000) i;
			alter table $name drop column gone, add column late int4 default 77, add column later int2, add column last text default 'old';
			insert into $name select i, repeat('t', i % 200), case when $sign then $values{$type} end, i, i % 2 = 0, i % 40, i, i % 100, 'new' from generate_series(8000, 14000) i;
			vacuum analyze $name");
	}
}

# One of values that are elsewhere ahead of the key, or compressed; two whose column is a key in pages of which some have no row of it; and one of wide rows.
$node->safe_psql('postgres', <<'SQL');
create table toasted (a text, b text, k int4, v int4);
alter table toasted alter a set storage external;
insert into toasted select case i % 40 when 1 then repeat(md5(i::text), 150) when 2 then null else 'a' end, case when i % 50 = 3 then repeat('b', 5000) else left('bbbbbb', i % 7) end, i, i % 10 from generate_series(1, 40000) i;
create table added (v int4);
insert into added select i from generate_series(1, 40000) i;
alter table added add column k int4 default 17, add column n int8;
insert into added select i, i, i from generate_series(1, 20000) i;
create table wide (k int4, w text);
alter table wide alter w set storage plain;
insert into wide select i, repeat('w', 800) from generate_series(1, 60000) i;
create table few (k int4 primary key, v int4);
insert into few select i, i % 10 from generate_series(1, 60000) i;
create table nothing (k int4);
vacuum analyze;
SQL

my $main = open_session($node);

my $EXPLAIN = 'explain (analyze, costs off, timing off, summary off)';

# The plan of a join that was made, which is to be like a pattern.
sub plan_like
{
	my ($select, $pattern) = @_;

	return answer_like(sub { sql("set hashgraph.enabled = on; $EXPLAIN $select") }, $pattern);
}

# Does a device get pages of a join, as it is to, or is not to?
sub pages
{
	my ($select, $sent) = @_;
	my $told = qr/Pages Sent to Device: \d/;

	return plan_like($select, $sent ? $told : qr/./) =~ $told ? 'sent' : 'not sent';
}

# Tests: rows are right, and pages were sent, or were not; or undefined: they may be.
sub is_right
{
	my ($what, $select, $sent) = @_;
	my $core = rows("set hashgraph.enabled = off; $select");

	is(rows("set hashgraph.enabled = on; $select"), $core, $what);
	is(pages($select, $sent), $sent ? 'sent' : 'not sent', "$what: pages") if defined $sent;
	return;
}

# What is counted of scans of tables, and of what else is named, while a join is made; a query's hashgraph.enabled is on or off.
sub counted
{
	my ($on, $select, @what) = @_;

	return sql("select pg_stat_force_next_flush(); select pg_stat_reset(); set hashgraph.enabled = $on; $select; select pg_stat_force_next_flush(); select concat_ws(' ', sum(seq_scan), sum(seq_tup_read)"
		. join('', map { ", sum($_)" } @what) . ") from pg_stat_user_tables join pg_statio_user_tables using (relid)") =~ /^(\d+(?: \d+)+)\z/m ? $1 : 'none';
}

# The pages that the scans of a join have found, or read.
sub buffers
{
	my ($on, $select) = @_;
	my $plan = sql("set hashgraph.enabled = $on; set enable_mergejoin = off; explain (analyze, buffers, costs off, timing off, summary off) $select");
	my %found;

	sql('reset enable_mergejoin');

	while ($plan =~ /Seq Scan on (\w+).*\n(?:(?! *->).*\n)*? *Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/g)
	{
		$found{$1} += ($2 // 0) + ($3 // 0);
	}
	return join ' ', map { "$_ $found{$_}" } sort keys %found;
}

# What of a join a device can do with pages: 1; else 0.
my @queries = (
	[ 1, 'a count', 'select count(*) from l_T l join r_T r on l.k = r.k' ],
	[ 1, 'a filter', 'select count(*) from l_T l join r_T r on l.k = r.k where l.v > 500 and r.s <> 7' ],
	[ 1, 'a constant on the left', 'select count(*) from l_T l join r_T r on l.k = r.k where 500 >= l.v and r.w between -5 and 30000000000' ],
	[ 1, 'booleans', 'select count(*) from l_T l join r_T r on l.k = r.k where l.f and not r.f' ],
	[ 1, 'NULLs', 'select count(*) from l_T l join r_T r on l.k = r.k where l.f is null and r.later is not null' ],
	[ 1, 'columns that were added', 'select count(*) from l_T l join r_T r on l.k = r.k where l.late = 77 and r.later is null' ],
	[ 1, 'a filter that leaves nothing', 'select count(*) from l_T l join r_T r on l.k = r.k where l.v < -100' ],
	# since 18 the planner turns it around
	[ major_version($node) >= 18 ? undef : 1, 'a semi join', 'select count(*) from l_T l where exists (select from r_T r where l.k = r.k)' ],
	[ 1, 'one group', 'select count(*), sum(l.v), min(r.w), max(l.s), count(r.later), sum(l.late) from l_T l join r_T r on l.k = r.k' ],
	[ 1, 'groups', 'select l.s, r.f, count(*), sum(l.w), avg(r.late), max(r.later) from l_T l join r_T r on l.k = r.k where r.v > 300 group by l.s, r.f' ],
	[ 0, 'a left join', 'select count(*) from l_T l left join r_T r on l.k = r.k' ],
	[ 0, 'an anti join', 'select count(*) from l_T l where not exists (select from r_T r where l.k = r.k)' ],
	[ 0, 'another clause', 'select count(*) from l_T l join r_T r on l.k = r.k and l.v <= r.v' ],
	[ 0, 'a filter of text', 'select count(*) from l_T l join r_T r on l.k = r.k where l.t <> \'tt\'' ],
	[ 0, 'rows', 'select l.v, r.w, l.last from l_T l join r_T r on l.k = r.k' ],
	[ 0, 'a sample', 'select count(*) from l_T l join r_T r tablesample system (50) repeatable (3) on l.k = r.k' ]);

my @others = (
	[ 1, 'two widths', 'select count(*), sum(l.v) from l_int4 l join r_int8 r on l.k = r.k' ],
	[ 1, 'the narrowest and the widest', 'select count(*) from l_int2 l join r_int8 r on l.k = r.k' ],
	[ 1, 'values elsewhere ahead of the key', 'select t.v, count(*), sum(f.v) from toasted t join few f on t.k = f.k where t.v < 8 group by t.v' ],
	[ 1, 'a key that rows do not have', 'select count(*), sum(a.v), count(a.n), sum(f.v) from added a join few f on a.k = f.k' ],
	[ 1, 'a table with itself', 'select count(*) from few a join few b on a.k = b.v' ],
	[ 1, 'pages of few rows', 'select count(*) from wide w join few f on w.k = f.k' ],
	[ 1, 'a table without rows', 'select count(*) from nothing n join few f on n.k = f.k' ],
	[ 0, 'an expression', 'select count(*) from few a join few b on a.k + 1 = b.k' ],
	[ 0, 'two keys', 'select count(*) from few a join few b on a.k = b.k and a.v = b.v' ],
	[ 0, 'system columns', 'select count(*) from few a join few b on a.k = b.k where a.ctid > \'(3,1)\'' ]);

sub all_are_right
{
	my ($when, $where, @of) = @_;

	foreach my $type (@of)
	{
		foreach my $query (@queries)
		{
			my ($sent, $what, $select) = @$query;

			$select =~ s/_T\b/_$type/g;
			is_right("$when: $type: $what", $select, $where ? $sent : undef);
		}
	}
	is_right("$when: $_->[1]", $_->[2], $where ? $_->[0] : undef) foreach @others;
	return;
}

foreach my $program (grep { defined } $standin, $device)
{
	my $label = $program eq ($standin // '') ? 'stand-in' : 'device';

	use_program($node, $program);
	sql('select count(*) from few a join few b on a.k = b.k');
	all_are_right($label, 1, @types);

	# what is told of it beside
	foreach my $select ('select count(*) from l_int4 l join r_int4 r on l.k = r.k', 'select count(*) from l_int4 l join r_int4 r on l.k = r.k where l.v > 500 and r.s <> 7', 'select count(*) from few a join few b on a.k = b.v where a.v = 3')
	{
		my $scans = sub { my ($on) = @_; my $plan = sql("set hashgraph.enabled = $on; set enable_mergejoin = off; $EXPLAIN $select"); return join "\n", sort $plan =~ /(Seq Scan on \w+ .*?\(actual rows=\d+(?:\.\d+)? loops=1\)(?:\n +Filter: .*\n +Rows Removed by Filter: \d+)?)/g; };
		my $ours = $scans->('on');
		my $core = $scans->('off');

		s/^ +//gm foreach $ours, $core;
		is($ours, $core, "$label: rows of the scans: $select");
		is(() = $core =~ /Seq Scan/g, 2, '... which are two');
		is(counted('on', $select), counted('off', $select), "$label: rows that scans have returned: $select");
		my $read = 0;
		$read += $_ foreach $core =~ /actual rows=(\d+)/g;
		my $matches = sql("set hashgraph.enabled = off; $select");
		is(sql("set hashgraph.enabled = on; $select; select outer_rows + inner_rows, matches, rows_out, backend from hashgraph_last_joins()"), "$read|$matches|$matches|cuda", "$label: what is told of the last join: $select");
		sql('reset enable_mergejoin');
	}

	# where it is worth it, and not else
	sql('set hashgraph.force = off; set enable_mergejoin = off; set enable_nestloop = off; set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off');
	is_right("$label: not forced: pages of many rows", 'select count(*) from few a join few b on a.k = b.v', 1);
	is_right("$label: not forced: pages of few rows", 'select count(*) from wide w join few f on w.k = f.k', 0);
	is_right("$label: not forced: few rows", 'select count(*) from nothing n join few f on n.k = f.k', 0);
	sql('reset hashgraph.force; reset enable_mergejoin; reset enable_nestloop; reset enable_indexscan; reset enable_indexonlyscan; reset enable_bitmapscan');

	is_right("$label: a setting", 'set hashgraph.send_pages = off; select count(*) from few a join few b on a.k = b.k');
	is(sql("$EXPLAIN select count(*) from few a join few b on a.k = b.k") =~ /Pages Sent/ ? 'sent' : 'not sent', 'not sent', "$label: ... has rows read");
	sql('reset hashgraph.send_pages');

	# rows that not everybody sees: in pages that were all-visible, and behind them
	my $other = RawSession->new($node);
	sql('begin isolation level repeatable read; select 1');
	$other->run_each("update l_$_ set v = v + 1, k = null where v % 500 = 1; delete from r_$_ where v % 400 = 2; insert into r_$_ select * from l_$_ where v % 300 = 4") foreach @types;
	all_are_right("$label: before others have changed rows", 1, qw(int4 time));
	sql('commit');
	all_are_right("$label: others have changed rows", 1, @types);
	foreach my $select ('select count(*) from l_int4 l join r_int8 r on l.k = r.k', 'select count(*), sum(a.v) from few a join l_int4 l on a.k = l.k')
	{
		is(pages($select, 1), 'sent', "$label: pages that not everybody sees are sent: $select");
		my $buffers = buffers('on', $select);

		is($buffers, buffers('off', $select), '... each of which is read once');
		like($buffers, qr/^\w+ [1-9]\d* \w+ [1-9]\d*$/, '... and told of');
		is(counted('on', $select, 'heap_blks_read + heap_blks_hit'), counted('off', $select, 'heap_blks_read + heap_blks_hit'), '... and counted once');
	}
	$other->run_each('begin; delete from l_int4 where v % 3 = 0; update r_int4 set k = k + 1 where v % 4 = 0; select * from r_int4 where v % 7 = 1 for update');
	all_are_right("$label: others have changed rows, and not committed", 1, 'int4');
	$other->run_each('rollback');
	all_are_right("$label: others have rolled back", 1, 'int4');
	sql('begin; delete from l_int4 where v % 5 = 0; savepoint s; insert into r_int4 select * from r_int4 where v % 50 = 0; rollback to s; update r_int4 set k = k + 1 where v % 6 = 0');
	all_are_right("$label: this transaction has changed rows", 1, 'int4');
	sql('rollback');
	sql('begin isolation level serializable');
	is_right("$label: serializable", 'select count(*) from few a join few b on a.k = b.k', 0);
	sql('commit; vacuum');
	all_are_right("$label: after vacuum", 1, 'int4');

	# a cursor sees what its snapshot does
	sql('begin; declare c cursor for select count(*), sum(a.v) from few a join few b on a.k = b.k');
	my $before = sql('set hashgraph.enabled = off; select count(*), sum(a.v) from few a join few b on a.k = b.k');
	sql('set hashgraph.enabled = on');
	$other->run_each('delete from few where k % 50 = 1');
	is(sql('fetch all from c'), $before, "$label: a cursor has what its snapshot sees");
	sql('commit');
	$other->run_each('insert into few select i, 3 from generate_series(1, 60000) i where i % 50 = 1; vacuum few');

	# parameters, and executions one after the other
	sql('prepare p (int) as select count(*), sum(b.v) from few a join few b on a.k = b.k where a.v < $1; set plan_cache_mode = force_generic_plan');
	foreach my $n (3, 9, 'null', 0)
	{
		my $core = sql("set hashgraph.enabled = off; execute p($n)");

		is(sql("set hashgraph.enabled = on; execute p($n)"), $core, "$label: a parameter: $n");
	}
	sql('deallocate p; reset plan_cache_mode');
	is_right("$label: executions one after the other", 'select sum(n) from generate_series(1, 3) x, lateral (select count(*) + x - x n from few a join few b on a.k = b.k offset 0) q');
	is_right("$label: with other parameters each", 'select x, (select count(*) from few a join few b on a.k = b.k where a.v < x) from generate_series(-1, 3) x');
	is_right("$label: read again", 'select count(*) from generate_series(1, 3) x, (select from few a join few b on a.k = b.k offset 0) q');
	is_right("$label: a temporary table", 'select count(*) from few a join few b on a.k = b.k');
	sql('create temp table own as select * from few where k % 3 > 0; vacuum analyze own');
	is_right("$label: a temporary table", 'select count(*) from own a join few b on a.k = b.k', 1);
	sql('drop table own');

	# scans that begin in the middle, where another has got to
	sql('set hashgraph.enabled = on');
	{
		my $small = $node->safe_psql('postgres', 'show shared_buffers');

		$node->append_conf('postgresql.conf', "shared_buffers = '1MB'");
		$node->restart;
		$main = open_session($node);
		$other = RawSession->new($node);
		$other->run_each('begin; declare c cursor for select * from l_int4; fetch 9000 from c');
		all_are_right("$label: from the middle on", undef, 'int4');
		is(pages('select count(*) from l_int4 l join r_int4 r on l.k = r.k', 1), 'sent', "$label: from the middle on: pages");
		$other->run_each('commit');
		$node->append_conf('postgresql.conf', "shared_buffers = '$small'");
		$node->restart;
		$main = open_session($node);
	}
}

# Nobody has been given a row when something goes wrong: all of them are read here then.
if (defined $standin)
{
	my $count = 'select count(*) from l_int4 l join r_int4 r on l.k = r.k';
	my $groups = 'select l.s, count(*), sum(r.w) from l_int4 l join r_int4 r on l.k = r.k where l.v > 400 group by l.s';

	sql("set hashgraph.backend = auto; set hashgraph.gpu_wait_limit = '20s'");
	foreach my $case (
		[ 'no memory on the device', qr/Pages Sent in Vain: .*memory/, HG_STANDIN_OUT_OF_MEMORY => 1 ],
		[ 'a broken device', qr/Pages Sent in Vain: /, HG_STANDIN_FAIL => 1 ])
	{
		my ($what, $told, @environment) = @$case;

		use_program($node, $standin, @environment);
		for (1 .. 2)
		{
			wait_for(sub { ready_devices($node, 'name') }, 20);
			is_right("$what: a count", $count);
			is_right("$what: groups", $groups);
		}
		next unless defined $told;
		wait_for(sub { ready_devices($node, 'name') }, 20);
		my $plan = plan_like($count, $told);
		like($plan, $told, "$what is told of");
		unlike($plan, qr/Seq Scan.*loops=2/, "$what: scans count once");
		is(counted('on', $count), counted('off', $count), "$what: ... for everybody");
	}

	# one that lies: who counts may be told another count, and no more
	use_program($node, $standin, HG_STANDIN_LIES => 'any 6 11');
	sql("set hashgraph.gpu_wait_limit = '300ms'");
	for (1 .. 20) { sql($count); sql($groups); }
	is(sql("set hashgraph.backend = cpu; $count"), sql("set hashgraph.enabled = off; $count"), 'the session goes on after lies');
	sql("set hashgraph.enabled = on; set hashgraph.backend = auto; set hashgraph.gpu_wait_limit = '20s'");

	# a process that dies while it has the pages, and one that takes long and may be left
	use_program($node, $standin, HG_STANDIN_BUILD_MS => 3000);
	ok(wait_for(sub { ready_devices($node, 'name') }, 20), 'a slow device');
	my $core = sql("set hashgraph.enabled = off; $count");
	sql('set hashgraph.enabled = on');
	my $pid = device_process($node);

	$main->send($count);
	ok(wait_for(sub { (ready_devices($node, 'jobs') || 0) > 0 }, 20), 'it has a job');
	random_moment(1);
	kill 'KILL', $pid;
	$main->finish;
	is($main->{error} // $main->{rows}[-1], $core, 'a process that was killed while it had the pages');
	ok(wait_for(sub { ready_devices($node, 'name') }, 20), 'the next one is there');
	ok(!eval { sql("set statement_timeout = 600; $count"); 1 } && $@ =~ /canceling statement due to statement timeout/, 'a cancel while the device works');
	is(sql("set statement_timeout = 0; set hashgraph.gpu_wait_limit = '300ms'; $count"), $core, 'a device that is waited for too long');
	like(plan_like($count, qr/Pages Sent in Vain: /), qr/Pages Sent in Vain: /, '... which is told of');
	sql("set hashgraph.gpu_wait_limit = '20s'");

	# who waits until a device takes more has no page pinned
	SKIP:
	{
		my $looker = RawSession->new($node);
		my $wide = 'select count(*) from wide v join wide w on v.k = w.k';
		my $pins = q{select string_agg(relfilenode::text || ' ' || relblocknumber, ',') from pg_buffercache where pinning_backends > 0 and relfilenode = pg_relation_filenode('wide')};
		my $pinned = '';
		my $waits = 0;

		skip 'pg_buffercache is not there', 2 unless eval { $looker->run_each('create extension pg_buffercache'); 1 };
		use_program($node, $standin);
		ok(wait_for(sub { ready_devices($node, 'name') }, 20), 'a device that can be stopped');
		sql('select count(*) from wide; set hashgraph.backend = cuda; set hashgraph.force = on');
		for (my $round = 0; $round < 60 && $waits < 5; $round++)
		{
			my $pid = device_process($node);

			$main->send($wide);
			random_moment(0.02);
			kill 'STOP', $pid;
			if (wait_for(sub { ($looker->run_each('select wait_event_type from pg_stat_activity where pid = ' . $main->pid) // '') eq 'Extension' }, 0.2))
			{
				$waits++;
				$pinned .= $looker->run_each($pins) // '';
			}
			kill 'CONT', $pid;
			$main->finish(60);
		}
		is($pinned, '', 'no page is pinned while the device is waited for');
		diag("it was waited for $waits times");
		sql('set hashgraph.backend = auto');
	}

	# pages that make no sense to a device, though they do to PostgreSQL
	use_program($node, $standin);
	sql('create table odd as select i as k, i % 9 as v from generate_series(1, 30000) i; create table even as select i as k from generate_series(1, 30000, 2) i; vacuum analyze odd; vacuum analyze even; checkpoint');
	my $file = $node->data_dir . '/' . sql("select pg_relation_filepath('odd')");
	$node->stop;
	open my $pages, '+<:raw', $file or die $!;
	seek $pages, 5 * 8192 + 18, 0;
	print $pages chr(5);
	close $pages;
	$node->start;
	$main = open_session($node);
	ok(wait_for(sub { ready_devices($node, 'name') }, 20), 'a device after the restart');
	my $odd = 'select count(*), sum(o.v) from odd o join even e on o.k = e.k';
	is_right('a page of no sense', $odd, 0);
	my $sense = qr/Pages Sent in Vain: a page of the table makes no sense/;
	like(plan_like($odd, $sense), $sense, '... which is told of');

	# another's job has the device: nobody stands in a queue for pages
	use_program($node, $standin, HG_STANDIN_BUILD_MS => 2500);
	ok(wait_for(sub { ready_devices($node, 'name') }, 20), 'a slow device again');

	# writers, vacuums and dying processes beside joins that have to be right, each in one snapshot with PostgreSQL's own
	use_program($node, $standin);
	sql('set hashgraph.backend = auto');
	my $writer = RawSession->new($node);
	my $write = sub {
		my $type = $types[ rand @types ];

		$writer->run_each((
			"update l_$type set v = v + 1 where v % 997 = " . int(rand 997),
			"update r_$type set k = null where v = " . int(rand 12000),
			"delete from l_$type where v % 911 = " . int(rand 911),
			"insert into r_$type select * from l_$type where v % 500 = " . int(rand 500),
			"begin; update l_$type set s = 0 where v % 300 = 7; delete from r_$type where v % 300 = 8; rollback",
			"vacuum l_$type", "vacuum r_$type", "vacuum (freeze) l_$type")[ rand 8 ]);
		if (rand() < 0.02)
		{
			my $pid = device_process($node);

			kill 'KILL', $pid if defined $pid;
		}
		return $queries[ rand 10 ]->[2] =~ s/_T\b/_$type/gr;
	};

	none_is_wrong('beside writers', $write, look => sub { pages($_[0], 0) eq 'sent' });
}

done_testing();
