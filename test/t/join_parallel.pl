# A join that several processes share ends, whatever happens to one of them and whenever: the
# others wait for nobody who is gone, the error is the one that there was, nothing is left, and
# the next join is right.  On disk its memory stays within bounds.
#
# Takes long: it begins before others.
# Devices: the device process takes the place of the shared HashGraph.

use strict;
use warnings;

use File::Find;
use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util qw(max sum0);
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;
use Time::HiRes qw(time);

# Runs of each query for each thing that happens.
my $SAMPLES = $ENV{HG_QUICK} ? 2 : 6;

# Where the processes join: together on the CPU, or together on a device.
my $backend = covers('cpu') ? 'cpu' : 'cuda';

# How long a cancel may take: ten times the promise, and ten times what a busy machine with more processes than
# cores may add.
use constant IN_TIME => 10 * (0.1 + 0.9);

# How long anything else may take.  It tells a process that waits for ever from a slow one.
use constant HANGS => 60;

# shared memory is files of the server's own then, which can be counted
my $node = new_server('parallel', conf => <<'CONF');
dynamic_shared_memory_type = mmap
restart_after_crash = on
shared_buffers = 256MB
work_mem = 64MB
hash_mem_multiplier = 1
max_worker_processes = 16
max_parallel_workers_per_gather = 3
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
log_min_messages = warning
hashgraph.force = on
CONF

$node->safe_psql('postgres', <<'SQL');
create table l as select case when i % 50 = 0 then null else i % 90000 end as k, i as v,
  repeat('l', 50 + i % 30) as pad from generate_series(1, 120000) i;
create table r as select case when i % 60 = 0 then null else i % 80000 end as k, i as w,
  repeat('r', 50 + i % 30) as pad from generate_series(1, 120000) i;
create table few as select case when i % 50 = 0 then null else i % 2500 end as k, i as v from generate_series(1, 3000) i;
vacuum analyze l, r, few;
-- rows like those of r, which only one process can read
create function rows_of(n int, fails_at int default 0) returns table (k int, w int, pad text)
language plpgsql parallel safe rows 120000 as $$
begin
  for i in 1 .. n loop
    k := case when i % 60 = 0 then null else i % 80000 end;
    w := case when i = fails_at then i / 0 else i end;
    pad := repeat('r', 50 + i % 30);
    return next;
  end loop;
end
$$;
-- ... and a few that tell who reads them, and are dear
create function told_rows_of(n int, tag text) returns table (k int, w int)
language plpgsql parallel safe rows 3000 cost 40000000 as $$
begin
  raise notice 'read % by %', tag, pg_backend_pid();
  for i in 1 .. n loop
    k := case when i % 60 = 0 then null else i % 2000 end;
    w := i;
    return next;
  end loop;
end
$$;
SQL

# The shared join, and what is done with its rows: in memory or on disk; to the end.
my $full = 'select count(v), count(w), sum(length(l.pad)), max(l.pad || r.pad) from l full join r using (k)';
my $inner = 'select count(*), sum(v + w), max(l.pad || r.pad) from l join r using (k)';
my %joins = (
	'in memory' => [ $full, 'set work_mem = \'64MB\';' ],
	'on disk' => [ $full, 'set work_mem = \'1MB\';' ],
	'without the leader' => [ $inner, 'set work_mem = \'64MB\'; set parallel_leader_participation = off;' ],
	'on disk without the leader' => [ $inner, 'set work_mem = \'1MB\'; set parallel_leader_participation = off;' ],
	'with a runtime filter' =>
	  [ 'select count(*), sum(v + w), max(l.pad || r.pad) from l join r using (k) where w < 5000', 'set work_mem = \'64MB\';' ],
	'of a function' => [ $full =~ s/join r/join rows_of(120000) r/r, 'set work_mem = \'64MB\';' ],
	'of a function without the leader' => [
		$full =~ s/l full join r/rows_of(120000) r left join l/r, 'set work_mem = \'64MB\'; set parallel_leader_participation = off;' ],
	'of a function on disk' => [ $full =~ s/join r/join rows_of(120000) r/r, 'set work_mem = \'1MB\';' ],
	'sorted' => [ 'select v, w from l full join r using (k) order by v, w offset 100000 limit 1', 'set work_mem = \'64MB\';' ]);
# a device takes the place of the engine, and the ways through the barriers are the same
delete @joins{'sorted', 'with a runtime filter', 'on disk without the leader', 'of a function without the leader'} if $ENV{HG_QUICK} && $backend eq 'cuda';
my %expected =
  map { $_ => $node->safe_psql('postgres', "set hashgraph.enabled = off; $joins{$_}[0]") } keys %joins;

# Where processes share the rows of the outer side out as they read them, and each joins its own, none reads far
# ahead of what it returns: what is done with a row above the join may take long, and the others would have to wait.
if ($backend eq 'cpu')
{
	my $own = 'select count(*), sum(v + g) from l left join generate_series(1, 100) g on g = l.k % 100';
	my ($executions) = explain_analyze($node, '', $own) =~ /Executions: (\d+)/;

	# a process with a quarter of the rows has them in some 25 parts, and would have them in one
	cmp_ok($executions, '>', 10, 'rows that each process joins for itself are read a part at a time');
	is($node->safe_psql('postgres', $own), $node->safe_psql('postgres', "set hashgraph.enabled = off; $own"), '... and rightly joined');
}

# Temporary files of the server, and the directories of those that processes share.
sub all_temp_files
{
	my @found;

	find(sub { push @found, $File::Find::name if $_ ne '.' }, $node->data_dir . '/base/pgsql_tmp')
	  if -d $node->data_dir . '/base/pgsql_tmp';
	return @found;
}

# Segments of dynamic shared memory, and their bytes.
sub shared_memory
{
	return map { -s $_ // 0 } glob($node->data_dir . '/pg_dynshmem/*');
}

# The workers of a session.
sub workers_of
{
	my ($pid) = @_;
	my @workers;

	foreach my $file (glob '/proc/[0-9]*/cmdline')
	{
		open my $handle, '<', $file or next;
		my $title = <$handle> // '';
		close $handle;
		push @workers, $1 if $title =~ /parallel worker for PID $pid\b/ && $file =~ m{(\d+)/cmdline};
	}
	return @workers;
}

sub nothing_is_left
{
	my ($memory) = @_;

	return !all_temp_files() && shared_memory() <= $memory;
}

# A session for a join, warmed up.
sub session_for
{
	my ($join) = @_;
	my ($query, $settings) = @{ $joins{$join} };
	my $session = RawSession->new($node);

	$session->query($settings);
	$session->query($query) for 1 .. 2;
	die "$join: $session->{error}" if $session->{error};
	return $session;
}

# ------------------------------------------------------------------------
# What the joins are
# ------------------------------------------------------------------------

foreach my $join (sort keys %joins)
{
	my ($query, $settings) = @{ $joins{$join} };
	my $plan = $node->safe_psql('postgres', "$settings explain (analyze, costs off) $query");

	like($plan, qr/Parallel Custom Scan \(HashGraphJoin\)/, "$join: processes share the join");
	like($plan, $join =~ /leader/ ? qr/Processes: 3/ : qr/Processes: 4/, '... all of them');
	like($plan, $join =~ /disk/ ? qr/Disk Usage/ : qr/Partitions: 1\n/, '... in memory or on disk');
	like($plan, qr/Backend: $backend\n/, '... where it should run');
	if ($join =~ /function/)
	{
		like($plan, qr/Read Once: inner\n/, '... and say that one of them reads a side');
		like($plan, qr/Function Scan .*loops=1\)/, '... which it does');
	}
	is($node->safe_psql('postgres', "$settings $query"), $expected{$join}, '... and it is right');
}

# the statistics count it once, with the rows of all
$node->safe_psql('postgres', "select hashgraph_stat_reset(); set max_parallel_workers_per_gather = 3; $full");
is($node->safe_psql('postgres', 'select joins, outer_rows + inner_rows, spilled_joins from hashgraph_stat'),
	'1|240000|0', 'a join of several processes is one join of the statistics');

my $memory = shared_memory();

# ------------------------------------------------------------------------
# What happens at a random moment of a join: who is hit, what is sent, whether the session
# lives on, and which SQLSTATE it may see.
# ------------------------------------------------------------------------

my @events = (
	[ 'a cancel', 'leader', 'INT', 1, qr/^57014$/ ],
	[ 'a cancel of a worker', 'worker', 'INT', 1, qr/^57014$/ ],
	[ 'statement_timeout', 'timeout', '', 1, qr/^57014$/ ],
	[ 'a termination', 'leader', 'TERM', 0, qr/^57P01$/ ],
	# the worker's own words, or the leader's about a worker that is gone
	[ 'a termination of a worker', 'worker', 'TERM', 1, qr/^(57P01|08006|55000)$/ ],
	[ 'a client that hangs up', 'client', '', 0, qr/^$/ ]);
my @crashes = (
	[ 'kill -9', 'leader', 'KILL', 0, qr/^$/ ],
	# the device process of the server ends with all others, and the leader may see that first
	[ 'kill -9 of a worker', 'worker', 'KILL', 0, $backend eq 'cuda' ? qr/^(57P02|58000|)$/ : qr/^(57P02|)$/ ]);

# Whether there is another run: there are $samples of them, and more of a query whose workers
# are gone before they are found.
sub goes_on
{
	my ($sample, $samples, $hits) = @_;

	return $sample < $samples || !$hits && $sample < 50 * $samples;
}

# Send a signal to a worker; false where it does not get it.  kill() also succeeds with one that is ending and looks at
# no signal any more: after a SIGKILL the server would not see it off as killed, and go on.  One that stands still lives.
sub hit_worker
{
	my ($pid, $signal) = @_;

	return 0 if !kill 'STOP', $pid;
	wait_for(sub { process_state($pid) =~ /[TZX]/ }, HANGS);
	my $hit = process_state($pid) eq 'T' ? kill($signal, $pid) : 0;
	kill 'CONT', $pid;
	return $hit;
}

sub hit
{
	my ($session, $whom, $signal) = @_;

	if ($whom eq 'leader')
	{
		return kill $signal, $session->pid;
	}
	if ($whom eq 'client')
	{
		return close $session->{socket};
	}
	my @workers = workers_of($session->pid);
	return @workers ? hit_worker($workers[ rand @workers ], $signal) : 0;
}

sub test_event
{
	my ($join, $event, $samples) = @_;
	my ($name, $whom, $signal, $lives, $sqlstate) = @$event;
	my $session = session_for($join);
	my $query = $joins{$join}[0];
	my ($hits, $slowest, @bad) = (0, 0);
	my $start = time;

	$session->query($query);
	my $lasts = time - $start;

	for (my $sample = 0; goes_on($sample, $samples, $hits); $sample++)
	{
		my $after = $lasts * ($sample % $samples + rand) / $samples;
		my $sent;

		if ($whom eq 'timeout')
		{
			$session->query('set statement_timeout = ' . int(1000 * $after + 1));
			$sent = time + int(1000 * $after + 1) / 1000;
			$session->send($query);
		}
		else
		{
			$session->send($query);
			# over before its time
			next if $session->finish($after);
			$sent = time;
			if (!hit($session, $whom, $signal))
			{
				# there is no worker yet, or not any more
				$session->finish;
				next;
			}
		}
		if ($whom eq 'client')
		{
			$hits++;
			push @bad, 'the session does not end'
			  if !wait_for(sub { !-e '/proc/' . $session->pid }, HANGS);
		}
		else
		{
			if (!$session->finish(HANGS))
			{
				push @bad, "no answer in " . HANGS . ' s';
				last;
			}
			my $seen = $session->{sqlstate} // '';
			if ($seen ne '' || $session->{closed})
			{
				$hits++;
				push @bad, "SQLSTATE $seen, $session->{error}" if $seen !~ $sqlstate;
				$slowest = max($slowest, $session->{answered} - $sent) if $seen ne '';
			}
		}
		if ($whom eq 'timeout')
		{
			$session->end_timeout;
		}
		if (!$lives)
		{
			if ($signal eq 'KILL')
			{
				# the server knows once it has seen it off
				push @bad, 'the server does not come up'
				  if !wait_for(sub { !-e '/proc/' . $session->pid && accepts($node) }, HANGS);
			}
			$session = session_for($join);
		}
		# the same session joins on, while workers of the query before may still end
		my $rows = $session->query($query);
		push @bad, "afterwards $rows, " . ($session->{error} // 'no error')
		  if $rows ne $expected{$join};
	}
	ok(!@bad, "$join: $name: $hits times, the join after it is right")
	  or diag(join "\n", @bad);
	cmp_ok($hits, '>', 0, "$join: $name: it hit");
	cmp_ok($slowest, '<', IN_TIME, sprintf '%s: %s: answered in time, the last one after %.0f ms', $join, $name, 1000 * $slowest)
	  if $lives && $signal ne 'TERM';
	close $session->{socket};
	ok(wait_for(sub { nothing_is_left($memory) }, HANGS), "$join: $name: no file and no shared memory is left")
	  or diag(join ' ', all_temp_files(), shared_memory());
	return;
}

foreach my $join (sort keys %joins)
{
	# what is as another one but for its end, or its beginning, is not hit by all
	my @few = $join =~ /sorted|disk without|function on|function without/ ? grep { $_->[0] =~ /^a cancel$|of a worker/ } @events : @events;

	test_event($join, $_, $SAMPLES) foreach @few;
}
foreach my $join ('in memory', 'on disk')
{
	test_event($join, $_, 2) foreach @crashes;
}

# ------------------------------------------------------------------------
# One process is much slower than the others, or begins when they are done
# ------------------------------------------------------------------------

foreach my $join (sort keys %joins)
{
	my $session = session_for($join);
	my $query = $joins{$join}[0];
	my ($stopped, @bad) = (0);

	for (my $sample = 0; goes_on($sample, 2 * $SAMPLES, $stopped); $sample++)
	{
		my @workers;

		$session->send($query);
		# as soon as there is one, or later
		random_moment(0.04) if $sample % 2;
		if (wait_for(sub { @workers = workers_of($session->pid) }, 0.1))
		{
			my @stopped = grep { kill 'STOP', $_ } @workers[ 0 .. rand @workers ];

			random_moment(0.2);
			kill 'CONT', $_ foreach @stopped;
			$stopped += @stopped > 0;
		}
		push @bad, 'no answer' if !$session->finish(HANGS);
		my $rows = join "\n", @{ $session->{rows} };
		push @bad, $session->{error} // $rows if $rows ne $expected{$join};
	}
	ok(!@bad, "$join: right where workers stood still, $stopped times") or diag(join "\n", @bad);
	cmp_ok($stopped, '>', 0, '... which they did');
	close $session->{socket};
}
ok(wait_for(sub { nothing_is_left($memory) }, HANGS), '... no file and no shared memory is left')
  or diag(join ' ', all_temp_files(), shared_memory());

# ------------------------------------------------------------------------
# An error in one process is the query's
# ------------------------------------------------------------------------

# A row somewhere in a table, which one process comes upon.
my %errors = (
	'a key' => 'select count(*), max(l.pad || r.pad) from l full join r on l.k / (l.v - %d) = r.k',
	'a row below the join' => 'select count(*), max(a.v || r.pad) from (select k, 1 / (v - %d) as v from l offset 0) a join r using (k)',
	'a qual of a scan' => 'select count(*), max(l.pad || r.pad) from l full join (select * from r where 1 / (w - %d) = 0) r using (k)',
	'a qual of the join' => 'select count(*), max(l.pad || r.pad) from l left join r on l.k = r.k and 1 / (l.v - %d) = 0',
	'a row that one process reads for all' => 'select count(*), max(l.pad || r.pad) from l full join rows_of(120000, %d) r using (k)',
	'a row of the join' => 'select count(*), max(1 / (v - %d) || l.pad) from l join r using (k)');

foreach my $error (sort keys %errors)
{
	my @bad;

	foreach my $settings ('', 'set work_mem = \'1MB\';', 'set parallel_leader_participation = off;')
	{
		my $session = RawSession->new($node);

		$session->query($settings);
		foreach my $row (1, 60001, 119999)
		{
			$session->send(sprintf $errors{$error}, $row);
			push @bad, "$settings row $row: no answer" if !$session->finish(HANGS);
			push @bad, "$settings row $row: " . ($session->{sqlstate} // 'no error')
			  if ($session->{sqlstate} // '') ne '22012';
			push @bad, "$settings row $row: afterwards " . ($session->{error} // 'wrong rows')
			  if $session->query($inner) ne $expected{'without the leader'};
		}
		close $session->{socket};
	}
	ok(!@bad, "an error in $error ends the query, and the next join is right") or diag(join "\n", @bad);
}
ok(wait_for(sub { nothing_is_left($memory) }, HANGS), '... no file and no shared memory is left')
  or diag(join ' ', all_temp_files(), shared_memory());

# ------------------------------------------------------------------------
# Processes that have begun with different work memories go the same way through the barriers
# ------------------------------------------------------------------------

$node->safe_psql('postgres', <<'SQL');
create function few_rows() returns table (k int, w int) language plpgsql parallel safe rows 100 cost 100000000
as $$ begin return query select i, i from generate_series(1, 100) i; end $$;
SQL
{
	my $settings = 'set hashgraph.force = on';
	my $query = 'select count(*), sum(v), sum(w) from l right join few_rows() using (k)';
	my $session = RawSession->new($node);
	my %filtered = ('64MB' => 0, '64kB' => 1);

	foreach my $began (sort keys %filtered)
	{
		my $plan = $node->safe_psql('postgres', "$settings; set work_mem = '$began'; explain (analyze, costs off) $query");
		my ($then) = grep { $_ ne $began } keys %filtered;

		like($plan, qr/Read Once: inner\n/, "$began: one process reads a side");
		is(scalar($plan =~ /Rows Removed by Runtime Filter/), $filtered{$began} ? 1 : '', '... and others wait for it where that may spare files');
		$session->run_each("begin; $settings; set work_mem = '$began'");
		$session->bind($query);
		$session->run_each("set work_mem = '$then'");
		$session->send_execute;
		ok($session->finish(HANGS), "... with $then of workers all come to an end") or last;
		is(join('|', $session->{error} // '', @{ $session->{rows} }),
			'|' . $node->safe_psql('postgres', "set hashgraph.enabled = off; $query"), '... which is right');
		$session->query('rollback');
	}
}

# ------------------------------------------------------------------------
# What only one process can read is read once, whoever there is to read it
# ------------------------------------------------------------------------

my %types = (
	'inner' => 'select count(*), sum(v + w), sum(r.k) from few join %s r using (k)',
	'left' => 'select count(*), sum(v), sum(w), sum(r.k) from few left join %s r using (k)',
	'right' => 'select count(*), sum(v), sum(w), sum(r.k) from few right join %s r using (k)',
	'full' => 'select count(*), sum(v), sum(w), sum(r.k) from few full join %s r using (k)',
	'full with a condition' => 'select count(*), sum(v), sum(w) from few full join %s r on few.k = r.k and v %% 3 <> w %% 3',
	'semi' => 'select count(*), sum(v) from few where exists (select from %s r where r.k = few.k)',
	'semi of the function' => 'select count(*), sum(w) from %s r where exists (select from few where few.k = r.k)',
	'anti' => 'select count(*), sum(v) from few where not exists (select from %s r where r.k = few.k)',
	'anti of the function' => 'select count(*), sum(w) from %s r where not exists (select from few where few.k = r.k)',
	'of a subquery' => 'select count(*), sum(v), sum(w) from few full join (select k, sum(w) as w from %s r group by k) r using (k)');
# workers planned, workers that there can be, and whether the leader takes part
my @ways = ([ 0, 8, 'on' ], (map { [ $_, 8, 'on' ] } 1 .. 4), [ 2, 8, 'off' ], [ 4, 8, 'off' ], [ 3, 1, 'on' ], [ 3, 0, 'on' ], [ 3, 0, 'off' ]);
my $priced = 'set hashgraph.force = off; set hashgraph.min_rows = 0; set enable_hashjoin = on; ';

foreach my $type (sort keys %types)
{
	my ($sql, $tag, @expect, @bad) = ('', 0);
	my %readers;
	# groups are few, so that PostgreSQL's join costs as much
	my $settings = $type =~ /subquery/ ? '' : $priced;

	my $plan = $node->safe_psql('postgres', "$settings explain (costs off) " . sprintf $types{$type}, "told_rows_of(1, '')");
	like($plan, qr/Parallel Custom Scan \(HashGraphJoin\)\n(?:.*(?:Join|Hash) .*\n)+ +Read Once: (?:inner|outer)\n/, "$type: one process reads a side");

	foreach my $rows (0, 1, 20000)
	{
		my $theirs = $node->safe_psql('postgres',
			"set hashgraph.enabled = off; set client_min_messages = warning; " . sprintf $types{$type}, "told_rows_of($rows, '')");
		foreach my $memory ('64MB', '64kB')
		{
			foreach my $way (@ways)
			{
				$sql .= "set work_mem = '$memory'; set max_parallel_workers_per_gather = $way->[0];"
				  . " set max_parallel_workers = $way->[1]; set parallel_leader_participation = $way->[2];\n"
				  . sprintf("$types{$type};\n", "told_rows_of($rows, 'tag " . ++$tag . "')");
				push @expect, [ "$rows rows, $memory, @$way", $theirs ];
			}
		}
	}
	$node->safe_psql('postgres', 'select hashgraph_stat_reset()');
	$node->psql('postgres', "select pg_backend_pid(); $settings $sql", stdout => \my $stdout, stderr => \my $stderr);
	my ($leader, @ours) = split /\n/, $stdout;
	$readers{$1}{$2}++ while $stderr =~ /read tag (\d+) by (\d+)/g;
	for (my $i = 0; $i < @expect; $i++)
	{
		my ($what, $theirs) = @{ $expect[$i] };
		my %by = %{ $readers{ $i + 1 } // {} };

		push @bad, "$what: " . ($ours[$i] // 'nothing') . " instead of $theirs" if ($ours[$i] // '') ne $theirs;
		push @bad, "$what: read " . sum0(values %by) . ' times' if sum0(values %by) != 1;
		push @bad, "$what: not read by the leader" if $what =~ / 0 off$| 0 on$|, 0 8/ && !$by{$leader};
		push @bad, "$what: read by the leader" if $what =~ / 8 off$/ && $by{$leader};
	}
	is(scalar @ours, scalar @expect, "$type: all were answered") or diag($stderr);
	ok(!@bad, '... rightly, in each way, from one reading') or diag(join "\n", @bad);
	cmp_ok($node->safe_psql('postgres', 'select spilled_joins from hashgraph_stat'), '>=', $type =~ /subquery/ ? 1 : 5,
		'... in memory and on disk');
}
ok(wait_for(sub { nothing_is_left($memory) }, HANGS), '... no file and no shared memory is left')
  or diag(join ' ', all_temp_files(), shared_memory());

# ------------------------------------------------------------------------
# Memory
# ------------------------------------------------------------------------

# Most memory, in kB, of a process beside what it has when it has done nothing, and of
# dynamic shared memory, while a query runs.
sub most_memory
{
	my ($settings) = @_;
	my $session = RawSession->new($node);
	my ($private, $shared) = (0, 0);

	$session->query("$settings select 1");
	$session->send($full);
	until ($session->finish(0.002))
	{
		foreach my $pid ($session->pid, workers_of($session->pid))
		{
			$private = max($private, proc_file($pid, 'status') =~ /^RssAnon:\s+(\d+)/m);
		}
		$shared = max($shared, sum0(shared_memory()) / 1024);
	}
	is(join('', @{ $session->{rows} }), $expected{'in memory'}, "$settings the join is right");
	close $session->{socket};
	return ($private, $shared);
}

my ($private, $shared) = most_memory('set work_mem = \'64MB\';');
my ($private_disk, $shared_disk) = most_memory('set work_mem = \'1MB\';');

note "in memory: $private kB, shared $shared kB; on disk: $private_disk kB, shared $shared_disk kB";
# Both sides have 15 MB of text alone.  On disk four processes may hold 1 MB each, in segments
# that are twice as large as those before.
cmp_ok($shared, '>', 20 * 1024, 'a join in memory is in shared memory');
cmp_ok($shared_disk, '<', 14 * 1024, 'a join on disk keeps to its work memory there');
cmp_ok($private_disk, '<', 10 * 1024, '... and so does each process');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|was terminated by signal (?!9)|AbortTransaction while|leaked/,
	'the server has nothing to complain of');
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
