# A device keeps copies of resident HashGraphs, and of columns beside them, counts the pairs of two of them, and makes groups of these: what it
# counts is what PostgreSQL's own joins find, with rows that have changed, filters, NULL keys and keys that come again, alone and below a Gather.  Whatever becomes of the device process or of
# its copies, counts are right, and the copies come back by themselves.
#
# Runs over the stand-in, and what needs no misbehaviour over the real one too, where it finds a device.
#
# The random part draws few queries under HG_QUICK, and all of them in the nightly run.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();

my ($node, $main) = cache_server('kept', $standin // $device, "hashgraph.send_pages = off\n");

# several segments: rows are wide
$node->safe_psql('postgres', <<'SQL');
create table a (id int, k int4, k8 int8, t text, v int, l int8, d date, wide text) with (fillfactor = 90);
create table b (id int, k int4, k8 int8, t text, w int, s int2, n int, f bool, wide text) with (fillfactor = 90);
alter table a alter wide set storage plain;
alter table b alter wide set storage plain;
insert into a select i, case when i % 13 > 0 then (i * 7919) % 9000 - 1000 end, (i * 31::int8) % 12000 - 500, 'key ' || i % 700, i % 100, (i % 50 - 20) * 100000000000, date '2026-01-01' + i % 40, repeat('x', 900) from generate_series(1, 12000) i;
insert into b select i, case when i % 19 > 0 then (i * 104729::int8) % 7000 - 900 end, (i * 17::int8) % 9000 - 700, 'key ' || i % 900, i % 50, i % 7 - 3, case when i % 4 > 0 then i % 30 end, i % 3 = 0, repeat('y', 1500) from generate_series(1, 6000) i;
-- rows that are older than columns, values that are equal and differ in their bytes, as they do where spaces are added, and some that no code is for
alter table b add p char(5) default 'abc', add u uuid, add z numeric(6, 4) default 0.25;
alter table a add c text collate "C", add x text, add m numeric(12, 2), add y numeric, add e text;
update b set p = 'p' || repeat(' ', id % 3), u = ('00000000-0000-0000-0000-' || lpad((id % 11)::text, 12, '0'))::uuid, z = (id % 40) * 0.0125 where id % 5 > 0;
update a set m = case when id % 9 > 0 then (id % 1000 - 300) * 12345678.25 end, y = case when id % 2000 = 3 then 'NaN'::numeric else id * 0.5 end;
update a set c = case when id % 6 > 0 then repeat('c', id % 8) end, x = repeat('x', case when id % 3000 = 5 then 200 else id % 4 end);
analyze;
SQL

# Have the tables' columns and HashGraphs be resident.
sub take_in
{
	return sql("select hashgraph_resident_add('a', array['id', 'v', 'l', 'd', 'c', 'x', 'm', 'y', 'e'], keys => '{k,k8,t}'), hashgraph_resident_add('b', array['id', 'w', 's', 'n', 'f', 'p', 'u', 'z'], keys => '{k,k8,t}')");
}
take_in();

# All of the tables is resident, and a device has all of its graphs.
sub kept { return become_kept($main, 6, shift, qw(a b)); }

# The joins: what is counted.
my @counts = (
	[ 'integers', 'select count(*) from a join b using (k)' ],
	[ 'integers of two widths', 'select count(*) from a join b on a.k = b.k8' ],
	[ 'wide integers', 'select count(*) from a join b using (k8)' ],
	[ 'an outer filter', 'select count(*) from a join b using (k) where a.v < 30' ],
	[ 'both filters', 'select count(*) from a join b using (k8) where a.v <> 7 and b.w between 10 and 20' ],
	[ 'filters that leave nothing', 'select count(*) from a join b using (k) where a.v < 0' ],
	[ 'filters that leave segments out', 'select count(*) from a join b using (k) where a.id > 9000 and b.id < 1000' ],
	[ 'a semi join', 'select count(*) from a where exists (select from b where a.k = b.k)' ],
	[ 'a semi join with a filter', 'select count(*) from b where w > 5 and exists (select from a where a.k8 = b.k8 and a.v > 50)' ],
	[ 'an empty side', 'select count(*) from a join (select * from b where w > 1000) b using (k)' ]);

# Groups: what is made of them by columns that the device has, as soon as joins have asked for these.
my @groups = (
	[ 'sums without groups', 'select count(*), sum(v), sum(w), avg(l), min(s), max(n), count(n) from a join b using (k)' ],
	[ 'by an integer', 'select w, sum(v), count(*) from a join b using (k) group by w' ],
	[ 'by a column with NULLs', 'select n, sum(l), count(n), min(v), max(s) from a join b using (k8) group by n' ],
	[ 'by two columns', 'select s, d, sum(w), avg(v) from a join b using (k) group by s, d having count(*) > 3' ],
	[ 'by a date and a truth value', 'select d, f, count(*), max(l) from a join b using (k) where v < 60 and w > 3 group by d, f' ],
	[ 'of a semi join', 'select v, count(*), sum(l) from a where exists (select from b where a.k8 = b.k8) group by v' ],
	[ 'by text', 'select a.t, count(*), sum(w) from a join b using (k) group by a.t' ],
	[ 'by text of both sides', 'select a.c, b.t, min(v), count(b.p) from a join b using (k8) where w < 10 group by a.c, b.t' ],
	[ 'by text with NULLs, and a number', 'select c, count(*), n, count(c) from a join b using (k) group by n, c' ],
	[ 'by text that is padded', 'select p, count(*), sum(l) from a join b using (k8) group by p' ],
	[ 'by identifiers', 'select u, count(*), max(v), count(u) from b join a using (k) group by u having count(*) > 2' ],
	[ 'of numerics', 'select w, sum(m), avg(m), count(m), avg(v) from a join b using (k) group by w' ],
	[ 'by numerics', 'select m, count(*), sum(m) from a join b using (k8) group by m' ],
	[ 'by numerics, of no pairs', 'select m, count(*), sum(m) from a join b using (k) where a.k < 0 and b.k > 100 group by m' ],
	[ 'a sum of numerics', 'select sum(m), count(*) from a join b using (k)' ],
	[ 'counts of text', 'select count(c), count(p), count(u), sum(w) from a join b using (k)' ]);

# Queries that are not counted alone, or not of exact keys, from the same graphs.
my @others = (
	[ 'an outer join', 'select count(*), count(b.id) from a left join b using (k)' ],
	[ 'text keys', 'select count(*) from a join b using (t)' ],
	[ 'another clause', 'select count(*) from a join b using (k) where a.v < b.w' ],
	[ 'groups of long text', 'select a.x, count(*), sum(w) from a join b using (k) group by a.x' ],
	[ 'numerics of a default', 'select sum(z), avg(z) from a join b using (k)' ],
	[ 'numerics that are none', 'select w, sum(y) from a join b using (k) group by w' ],
	[ 'the least numeric', 'select w, min(m), max(z) from a join b using (k) group by w' ],
	[ 'the least text', 'select w, min(a.t), max(c) from a join b using (k) group by w' ]);

# Counts of rows without a match: where all rows are covered, they follow from how many have one, and else they are found row by row.
my $FOUND = qr/each/;
my @unmatched = (
	[ 'an anti join', 'select count(*) from a where not exists (select from b where a.k = b.k)' ],
	[ 'an anti join with filters', 'select count(*) from a where v < 60 and not exists (select from b where a.k8 = b.k8 and b.w < 30)' ],
	[ 'a left join', 'select count(*) from a left join b using (k)' ],
	[ 'a right join', 'select count(*) from b left join (select * from a where v > 20) a using (k8) where b.w > 3' ],
	[ 'a left join that finds nothing', 'select count(*) from a left join (select * from b where w > 1000) b using (k)' ],
	[ 'a full join', 'select count(*) from a full join b using (k)' ],
	[ 'a full join of filtered rows', 'select count(*) from (select * from a where v < 50) a full join (select * from b where w > 9) b using (k8)' ],
	[ 'a right join as it is written', 'select count(*) from b right join a using (k8) where a.v < 90' ],
	[ 'an anti join of few rows', 'select count(*) from b where w < 5 and not exists (select from a where a.k = b.k)' ],
	[ 'an anti join for each of some rows', 'select sum((select count(*) from a where not exists (select from b where a.k = b.k) and x.i > 0)) from generate_series(0, 2) x(i)' ]);

# Tests: they are what PostgreSQL's own joins find, and those of outer rows are a device's.
sub unmatched_are_right
{
	my ($when, $where) = @_;

	foreach my $query (@unmatched)
	{
		my ($what, $select) = @$query;

		is_right("$when: the count of $what", $select, like => $what =~ $FOUND ? undef : $where);
	}
	return;
}

# Tests: each query gives what PostgreSQL's own joins do, and ran where it is said to (a pattern), in one process and in several.
sub counts_are_right
{
	my ($where, $when) = @_;

	foreach my $workers (0, 2)
	{
		sql("set max_parallel_workers_per_gather = $workers");
		foreach my $query (@counts, @groups, @others)
		{
			my ($what, $select) = @$query;
			# where rows of both sides were read, processes have to tell each other which outer rows have matched
			my $counted = (grep { $_ == $query } @counts, @groups) && !($workers && $what =~ /semi/);

			is_right("$when: $what, $workers workers", $select, like => $counted ? $where : undef);
		}
	}
	sql('set max_parallel_workers_per_gather = 0');
	return;
}

foreach my $program (grep { defined } $standin, $device)
{
	my $label = $program eq ($standin // '') ? 'stand-in' : 'device';

	use_program($node, $program);
	kept("$label: all graphs are kept");
	is(ready_devices($node, 'kept_graphs'), 6, "$label: it tells of them") if $program eq ($standin // $device);
	is(sql(q{select sum(device_bytes) from hashgraph_resident}), ready_devices($node, 'kept_bytes'), '... and of what they take, as the view does');
	ask(map { $_->[1] } @counts, @groups, @unmatched);
	counts_are_right(qr/^cuda$/, $label);
	unmatched_are_right($label, qr/^cuda$/);

	# both backends use the cache alike, and what it has on the device
	sql('select hashgraph_stat_reset()');
	my %did;
	my $do = sub {
		my ($backend) = @_;

		sql("set hashgraph.backend = $backend; select hashgraph_stat_reset()");
		my @said = map { my $said = sql("explain (analyze, costs off, timing off, summary off) $_->[1]"); $said =~ s/Memory Usage: \d+//g; $said } @counts, @groups, @others;
		return [ @said, sql('select joins, cpu_joins, cuda_joins, fallbacks, errors, outer_rows, inner_rows, matches, rows_out from hashgraph_stat') ];
	};

	# a device may be about to be given what the first of them asked for
	wait_for(sub { %did = map { $_ => $do->($_) } 'auto', 'cuda'; return join("\n", @{ $did{auto} }) eq join("\n", @{ $did{cuda} }) }, 20);
	sql('reset hashgraph.backend');
	is_deeply($did{cuda}, $did{auto}, "$label: backend cuda does what auto does, and counts the same");
	my $pairs = core_of('select count(*) from a join b using (k)');
	becomes_like(sub { explain_analyze($node, '', 'select count(*) from a left join b using (k)') }, qr/Backend: cuda\n.*Matches: $pairs\n/s, "$label: matches are told once, whatever is counted beside them");

	# rows that have changed are read, and the others are counted by the device still
	sql('update a set k = k + 1, k8 = k8 - 1, c = \'new\', m = id where id % 700 = 3; delete from b where id % 900 = 5; insert into a select 20000 + i, i, i, null, i, i, null, repeat(\'x\', 900), null, \'y\', i, i * 0.125 from generate_series(1, 20) i');
	counts_are_right(qr/^cuda$/, "$label: rows have changed");
	unmatched_are_right("$label: rows have changed", qr/./);
	kept("$label: graphs are kept in step");
	is(wait_for(sub { ready_devices($node, 'kept_bytes') eq sql('select sum(device_bytes) from hashgraph_resident') }, 20), 1, '... and the old ones are not kept any more')
	  or diag(ready_devices($node, 'kept_graphs, kept_bytes'));
	counts_are_right(qr/^cuda$/, "$label: in step");

	# a cursor sees what its snapshot does
	sql('begin; declare c cursor for select count(*) from a join b using (k)');
	my $before = $node->safe_psql('postgres', 'set hashgraph.enabled = off; select count(*) from a join b using (k)');
	$node->safe_psql('postgres', 'delete from a where id % 50 = 1');
	is(sql('fetch c'), $before, "$label: a cursor counts what its snapshot sees");
	sql('commit');
	counts_are_right(qr/^cuda$/, "$label: rows were deleted");

	# the process dies: counts are right at once, and copies come back
	my $pid = device_process($node);

	kill 'KILL', $pid if defined $pid;
	counts_are_right(qr/^cuda$/, "$label: after the process was killed");
	kept("$label: the next process is given all graphs");

	# one that is stopped costs a join its patience, and no more
	sql('set hashgraph.gpu_wait_limit = 500');
	$pid = device_process($node);
	kill 'STOP', $pid if defined $pid;
	counts_are_right(qr/cpu|cuda/, "$label: while the process is stopped");
	kill 'CONT', $pid if defined $pid;
	sql('reset hashgraph.gpu_wait_limit');
	kept("$label: and all is kept after that");
}

# A column that the device lacks: a query asks for it, is joined as if there were no replicas, and does not wait.  The launcher is held, so that no loader brings the column.
if (defined $standin)
{
	use_program($node, $standin);
	$node->safe_psql('postgres', <<'SQL');
create table f (k int4, d int4, v int4, u int4);
create table g (k int4, n int4, m int4);
create table h (k int4, n int4, m int4);
insert into f select i, i % 8000, i % 100, i % 7 from generate_series(1, 200000) i;
insert into g select i * 3, i % 10, i % 9 from generate_series(1, 60000) i;
insert into h select i, i % 10, i % 9 from generate_series(0, 7999) i;
SQL
	sql('vacuum analyze f; vacuum analyze g; vacuum analyze h');
	sql("select hashgraph_resident_add('f', '{k,d,v,u}', keys => '{k,d}'), hashgraph_resident_add('g', '{k,n,m}', keys => '{k}'), hashgraph_resident_add('h', '{k,n,m}', keys => '{k}')");
	become_kept($main, 10, 'tables of many rows are kept', qw(a b f g h));
	sql('set hashgraph.force = off; set max_parallel_workers_per_gather = 0');
	my %asked = (
		'two large tables' => 'select n, sum(v), count(*) from f join g using (k) group by n',
		'a large table and a small one' => 'select m, sum(u), count(*) from f join h on f.d = h.k group by m',
		'three tables' => 'select h.n, sum(v), sum(g.m) from f join g on f.k = g.k join h on f.d = h.k group by h.n');
	my $launcher = sql(q{select pid from pg_stat_activity where backend_type = 'hashgraph launcher'});
	# What the planner takes a query to cost.
	my $cost = sub { my ($total) = sql("explain $asked{$_[0]}") =~ /cost=[\d.]+\.\.([\d.]+)/; return $total; };
	my $analyzed = sub { return sql("explain (analyze, costs off, timing off, summary off) $asked{$_[0]}"); };

	ok(wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph loader'}) eq '0' }, 20), 'no loader is at work');
	kill 'STOP', $launcher;
	foreach my $name (sort keys %asked)
	{
		my $core = without_hashgraph($main, sub { rows($asked{$name}) });

		sql('set hashgraph.backend = cpu');
		my $here = $cost->($name);

		foreach my $backend ('auto', 'cuda')
		{
			sql("set hashgraph.backend = $backend");
			cmp_ok($cost->($name), '>', $here / 2, "$name, $backend: without columns on the device it costs what it does here");
			unlike($analyzed->($name), qr/HashGraph: resident|Tables Joined at Once/, '... and no replica takes part');
			is(rows($asked{$name}), $core, '... and the groups are right');
		}
	}
	kill 'CONT', $launcher;
	foreach my $name (sort keys %asked)
	{
		my $core = without_hashgraph($main, sub { rows($asked{$name}) });

		sql('set hashgraph.backend = cpu');
		my $here = $cost->($name);

		foreach my $backend ('auto', 'cuda')
		{
			sql("set hashgraph.backend = $backend");
			becomes_like(sub { $analyzed->($name) }, qr/Rows Reduced on Device.*(HashGraph: resident|Tables Joined at Once)/s, "$name, $backend: the columns that were asked for come");
			cmp_ok($cost->($name), '<', $here / 2, '... and the planner knows');
			is(rows($asked{$name}), $core, '... and the groups are right');
		}
	}
	sql('reset hashgraph.backend; set hashgraph.force = on');

	# Covered rows are joined on the device with the first chunk of delta rows, and other chunks here: EXPLAIN tells of the device.
	sql("set work_mem = '64kB'; update f set u = u + 1 where k > 100000");
	foreach my $format ('text', 'json')
	{
		my $told = sql("explain (analyze, costs off, timing off, summary off, format $format) $asked{'two large tables'}");

		like($told, qr/Rows Reduced on Device"?: [1-9]/, "$format: groups come from the device");
		like($told, qr/Backend"?: "?cuda/, '... the backend is a device');
		like($told, qr/Device"?: "?stand-in/, '... which has a name');
		like($told, qr/Executions"?: ([2-9]|\d\d)/, '... although other chunks were joined here');
	}
	is(rows($asked{'two large tables'}), without_hashgraph($main, sub { rows($asked{'two large tables'}) }), '... and all groups are right');
	sql('reset work_mem; drop table f, g, h');

	# There is no device: an error under cuda, though the cache has the HashGraphs, and a join here under auto.
	my $core = without_hashgraph($main, sub { sql($counts[0]->[1]) });
	$node->safe_psql('postgres', q{alter system set hashgraph.device_program = '/nowhere'});
	$node->reload;
	sql('set hashgraph.backend = cuda');
	becomes_like(sub { session_answer($main, $counts[0]->[1]) }, qr/^55000 hashgraph was installed without CUDA/, 'without a device backend cuda raises an error');
	sql('set hashgraph.backend = auto');
	is(sql($counts[0]->[1]), $core, '... and auto joins here');

	# A statement that runs while the setting changes has the program of before, which the server does not have any more.
	use_program($node, $standin);
	kept('a process is there again');
	$node->safe_psql('postgres', q{alter system set hashgraph.device_program = '/nowhere'});
	like(session_answer($main, qq{
		set hashgraph.backend = cuda;
		do \$\$
		begin
			perform pg_reload_conf();
			while exists (select from hashgraph_devices() where state = 'ready') loop perform pg_sleep(0.01); end loop;
			perform * from ($counts[0]->[1]) counted;
		end \$\$}), qr/^55000 hashgraph was installed without CUDA/, '... also to a statement that has not read the setting');
	sql('set hashgraph.backend = auto');
	use_program($node, $standin, HG_STANDIN_GROUP_KEY => 65535);
	kept('a process that tells of groups that there are not is given all graphs');
	sql('set hashgraph.backend = cuda; set max_parallel_workers_per_gather = 0');
	becomes_like(sub { session_answer($main, 'select a.t, count(*) from a join b using (k) group by a.t') }, qr/^58000 .*a code that there is not/, '... and one that is wrong is an error, too');
	sql('reset hashgraph.backend');
	use_program($node, $standin);
	kept('a process that tells the truth is given all graphs again');
}

# Less memory than the graphs need: some are kept, and none of what is counted is wrong.
if (defined $standin)
{
	# where one side is read, and the other's rows are covered, no keys go to a device, however fast that is
	use_program($node, $standin, HG_STANDIN_FAST => 1);
	kept('a fast device: all graphs are kept');
	$node->safe_psql('postgres', 'create table c as select i % 9000 k from generate_series(1, 60000) i; analyze c');
	foreach my $query ('select count(*) from a join c using (k)', 'select count(*) from c join a using (k)', 'select count(*) from a where exists (select from c where a.k = c.k)')
	{
		ok(wait_for(sub { explain_analyze($node, 'set max_parallel_workers_per_gather = 0; set hashgraph.force = on; set hashgraph.resident = off;', $query) =~ /Keys Sent During Scan: [1-9]/ }, 20),
			"keys are sent of sides that are read: $query");
		unlike(explain_analyze($node, 'set max_parallel_workers_per_gather = 0; set hashgraph.force = on;', $query), qr/Keys Sent During Scan/, '... but not beside a side that is covered');
		is(rows($query), core_of($query), '... and the count is right');
	}
	$node->safe_psql('postgres', 'drop table c');

	use_program($node, $standin);
	kept('another process is given all graphs');
	my $bytes = ready_devices($node, 'kept_bytes');

	$node->safe_psql('postgres', 'alter system set hashgraph.resident_gpu_memory = ' . "'" . int($bytes / 2 / 1024) . "kB'");
	use_program($node, $standin);
	counts_are_right(qr/cpu|cuda/, 'little memory');
	cmp_ok(ready_devices($node, 'kept_bytes'), '<=', ready_devices($node, 'kept_limit'), 'no more is kept than may be');
	sql("select hashgraph_resident_drop('a'), hashgraph_resident_drop('b')");
	ok(wait_for(sub { ready_devices($node, 'kept_graphs') eq '0' }, 20), 'of what is dropped nothing is left, whatever of it was missed');
	take_in();
	$node->safe_psql('postgres', 'alter system set hashgraph.resident_gpu_memory = -1');
	use_program($node, $standin);
	ok(!wait_for(sub { ready_devices($node, 'kept_graphs, kept_limit') ne '0|0' }, 3, every => 0.2), 'nothing is kept where nothing is to be');
	$node->safe_psql('postgres', 'alter system reset hashgraph.resident_gpu_memory');

	# codes and scaled integers that are none of the column's: the first is seen, and the join done here
	use_program($node, $standin, HG_STANDIN_GROUP_KEY => 65535);
	kept('a process that tells of groups that there are not is given all graphs');
	foreach my $select ('select a.t, count(*) from a join b using (k) group by a.t', 'select a.e, count(*) from a join b using (k) group by a.e')
	{
		is_right("a code that there is not: $select", $select, seconds => 20, like => qr/a code that there is not/,
			look => sub { sql(q{select coalesce(string_agg(fallback, ' '), '') from hashgraph_last_joins()}) });
	}
	use_program($node, $standin);
	kept('a process that tells the truth is given all graphs');

	# a device that is at work on a join is waited for beyond what so few rows take the CPU, alone and beside others' jobs
	use_program($node, $standin, HG_STANDIN_COUNT_MS => 300);
	kept('a process that is slow is given all graphs');
	{
		my ($what, $count) = @{ $counts[0] };
		my $core = sql("set hashgraph.enabled = off; $count");
		my $other = RawSession->new($node);

		$other->run_each('set hashgraph.backend = cuda; set hashgraph.resident = off; begin');
		sql("set hashgraph.enabled = on; set hashgraph.gpu_wait_limit = 0");
		foreach my $beside ('alone', 'beside an open job')
		{
			if ($beside ne 'alone')
			{
				$other->run_each('declare c cursor for select a.id, b.id from a join b using (k); move 1 in c');
				is(ready_devices($node, 'jobs'), '1', 'another session has a job there');
			}
			is(sql($count), $core, "a slow device, $beside: $what");
			is(sql(q{select string_agg(backend || '|' || coalesce(fallback, ''), ' ') from hashgraph_last_joins()}), 'cuda|', '... is counted by the device');
		}
		sql("set hashgraph.gpu_wait_limit = '5min'");
		$other->query('commit');
		close $other->{socket};
	}

	# it forgets what it was given: a session is told, and counts itself
	use_program($node, $standin, HG_STANDIN_FORGETS => 1);
	kept('a process that forgets is given all graphs');
	my $missed = sql('select graphs_missed from hashgraph_stat_resident');
	ok(wait_for(sub { sql($groups[0]->[1]); sql('select graphs_missed from hashgraph_stat_resident') > $missed }, 20), 'a join that makes groups misses them');
	counts_are_right(qr/cpu|cuda/, 'what was given is forgotten');
	cmp_ok(sql('select graphs_missed from hashgraph_stat_resident'), '>', 0, 'and missed');
	use_program($node, $standin);
	kept('a process that does not forget is given all graphs');

	# writers, vacuums and dying processes beside counts that have to be right, each in one snapshot with PostgreSQL's own
	my $writer = RawSession->new($node);
	my $write = sub {
		$writer->run_each((
			'update a set k = k + 1 where id % 997 = ' . int(rand 997),
			'update b set k8 = k8 + 1 where id % 499 = ' . int(rand 499),
			'delete from a where id = ' . int(rand 12000),
			'vacuum a', 'vacuum b', 'analyze b',
			'insert into b select 30000, i, i, null, i, i, null, true, repeat(\'y\', 1500), \'q\', null, 1 from generate_series(1, 5) i')[ rand 7 ]);
		if (rand() < 0.01)
		{
			my $pid = device_process($node);

			kill 'KILL', $pid if defined $pid;
		}
		return (@counts, @groups, @unmatched)[ rand(@counts + @groups + @unmatched) ]->[1];
	};

	none_is_wrong('beside writers', $write);
}

# Places of columns are for those that are asked for: one that nobody has read for a minute gives its place away.
if (defined $standin && !$ENV{HG_QUICK})
{
	my @columns = map { "c$_" } 1 .. 17;
	my $ran_for = sub {
		my ($column) = @_;
		sql("select sum(x.$column) from w x join w y using (k)");
		return last_backends();
	};

	use_program($node, $standin);
	$node->safe_psql('postgres', 'create table w as select i k, ' . join(', ', map { "i $_" } @columns) . ' from generate_series(1, 20000) i; vacuum analyze w');
	sql("select hashgraph_resident_add('w', keys => '{k}')");
	ok(wait_for(sub { sql("select location from hashgraph_resident where relation = 'w'::regclass and kind = 'graph'") eq 'both'
			or not defined sql("vacuum w; select hashgraph_resident_refresh('w')") }, 30), 'a table of many columns is kept');
	$ran_for->($_) foreach @columns[ 0 .. 15 ];
	ok(wait_for(sub { $ran_for->('c16') eq 'cuda' }, 30), 'columns that are asked for are kept');
	isnt($ran_for->('c17'), 'cuda', 'as many as there are places');
	# a minute after those were asked for last
	ok(wait_for(sub { $ran_for->('c17') eq 'cuda' }, 120, every => 1), 'and others later');
	is($ran_for->('c16'), 'cuda', 'in the place of one that was asked for before');
	$node->safe_psql('postgres', 'drop table w');
}

# What is dropped is not kept.
$node->safe_psql('postgres', 'drop table a');
ok(wait_for(sub { ready_devices($node, 'kept_bytes') eq sql('select sum(device_bytes) from hashgraph_resident') }, 20), 'the graphs of a table that was dropped are not kept any more');
$node->safe_psql('postgres', q{select hashgraph_resident_drop('b')});
devices_become($node, 'kept_graphs', 0, 'nor those of one that is not resident any more');
session_ok($node, 'the server still joins');
$node->stop;
done_testing();
