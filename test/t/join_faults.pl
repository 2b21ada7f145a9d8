# Whatever fails once (an allocation, a message, a write, a call to CUDA), a join ends in a
# clean error or falls back to the CPU, the session's next join is right, and nothing leaks.
#
# Needs a server with a build of HG_DEBUG=1 in PATH (./quickstart check provides one) and the
# stand-in of the same build in HG_STANDIN; a normal build is asked whether it knows of none
# of this.  A walk fails the 1st, 2nd, 3rd, ... event of a kind, for each kind and join, until
# there is no such event any more.  Repeated events come by the thousand: after the first
# ones the steps grow, but for HG_FAULTS=all in the environment, which takes every one.
# HG_FAULTS='cuda: .*: send' makes the walks that it matches alone.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $all = ($ENV{HG_FAULTS} // '') eq 'all';
my $only = $ENV{HG_FAULTS} && !$all ? qr/$ENV{HG_FAULTS}/ : qr/./;

# The step's growth after the events that are taken one by one, and which part these are of so many.
my ($GROWTH, $PART) = $ENV{HG_QUICK} ? (4, 0.5) : (0.5, 1);

# Faults between two looks at the processes and the log; and more events than any walk has.
my $BATCH = 60;
my $MOST = 1_000_000_000;

# the stand-in makes groups then, whatever that costs it
$ENV{HG_STANDIN_FAST} = 1;

# little staging memory: a device process starts sooner; what is counted in it is counted in one that
# the session itself has started
my $conf = "work_mem = '1MB'\nhash_mem_multiplier = 1\nhashgraph.staging_size = '2MB'\nhashgraph.gpu_wait_limit = '5min'\n";
my $node = new_server('faults', preload => 'session', conf => $conf);
my (undef, undef, $unknown) = $node->psql('postgres', "set hashgraph.inject_fault = 'alloc:1'");

if (!$ENV{HG_DEBUG_BUILD})
{
	like($unknown, qr/invalid configuration parameter name|unrecognized configuration parameter/,
		'a normal build has no setting that injects faults');
	$node->stop;
	done_testing();
	exit;
}
is($unknown, '', 'a debug build has a setting that injects faults');

# A session looks at interrupts again and again, however large what it works on has become.  This is
# the longest that it computes without, in ms of processor time, until the last row: what it frees then
# is not asked for.  A table of groups that is doubled at once takes ten times as long.
my %grown = (
	'the table of groups is doubled' =>
	  'select count(*) from (select g from generate_series(1, 4400000) g join (values (0), (1)) v (d) on g % 2 = d group by g) s',
	'the NULLs of an array are counted' =>
	  'select count(*) from hashgraph_join(array_fill(null::int8, array[100000000]), array[1::int8])');
foreach my $what (sort keys %grown)
{
	my $longest = $node->safe_psql('postgres', <<"SQL");
set hashgraph.backend = cpu; set hashgraph.force = on; set jit = off; set work_mem = '2GB';
begin;
declare c cursor for $grown{$what};
set hashgraph.watch_interrupts = on;
fetch c \\g /dev/null
show hashgraph.watch_interrupts;
SQL
	cmp_ok($longest, '<', 40, "interrupts are looked at while $what");
}

# Such a build also compares each page of a table that is read with the rows that core brings.
{
	local $ENV{PGOPTIONS} = '-c work_mem=4MB -c hash_mem_multiplier=2';
	my $root = "$FindBin::Bin/../..";
	ok(run_log(
			[ $ENV{PG_REGRESS}, "--inputdir=$root", '--outputdir=' . PostgreSQL::Test::Utils::tempdir,
				'--bindir=', '--host=' . $node->host, '--port=' . $node->port,
				'--load-extension=hashgraph', '--dbname=regress_pages', '--encoding=UTF8', 'page_scan' ]),
		'pages have the rows that PostgreSQL finds there');
}

my $tables = <<'SQL';
create table l as select case when i % 50 = 0 then null else i % 1000 end as k, i as v,
  'key' || i % 1000 as t, repeat('l', 20) as pad from generate_series(1, 3000) i;
create table r as select case when i % 60 = 0 then null else i % 1100 end as k, i as w,
  'key' || i % 1100 as t, repeat('r', 20) as pad from generate_series(1, 2500) i;
create table big as select i % 5000 as k, i as v from generate_series(1, 500000) i;
create table wide as select case when i % 10 = 0 then i % 30 else 7 end as k, i as v, repeat('w', 600) as pad
  from generate_series(1, 300) i;
-- its children: a process of another one may end just before, or while, it is read of
create function children() returns int language plpgsql as $$
  declare p text; n int := 0;
  begin
    for p in select d from pg_ls_dir('/proc') d where d ~ '^\d+$' loop
      begin
        if substring(pg_read_file('/proc/' || p || '/stat', 0, 1000, true) from '\) . (\d+)')::int = pg_backend_pid() then
          n := n + 1;
        end if;
      exception when internal_error then null;
      end;
    end loop;
    return n;
  end $$;
-- what is kept for the next join is no leak
alter database postgres set hashgraph.keep_memory = 0;
-- descriptors, temporary files, bytes of memory in use, and contexts of ours
create function held(out fds int, out files int, out bytes int8, out ours int) language sql as $$
  select (select count(*) from pg_ls_dir('/proc/self/fd')), (select count(*) from pg_ls_tmpdir()),
    sum(used_bytes), count(*) filter (where name ~* 'hashgraph' and name !~ 'last joins')
  from pg_backend_memory_contexts
  where name !~ 'Cache|catalog|index info|relation rules|Rendezvous' $$;
vacuum analyze;
SQL

$node->safe_psql('postgres', $tables);

# Processes share a join then.  A fault is counted in each of them by itself, so that the leader
# is alone where the events of one process are to be walked through.
my $shared = 'set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0;'
  . ' set parallel_setup_cost = 0; set parallel_tuple_cost = 0;';
my $alone = "$shared set max_parallel_workers = 0;";

# A join: its query, which returns one column, and settings.
my %joins = (
	'in memory' => [ 'select md5(string_agg(v || \'-\' || w, \',\' order by v, w)) as r from l join r using (k)', '' ],
	'text keys with columns' =>
	  [ 'select md5(string_agg(l.pad || v || r.pad || w, \',\' order by v, w)) as r from l join r using (t)', '' ],
	'outer join on disk' =>
	  [ 'select md5(string_agg(coalesce(v::text, \'\') || coalesce(r.pad || w, \'\'), \',\' order by v, w)) as r from l full join r using (k)', "set work_mem = '64kB';" ],
	'full join of one key on disk' =>
	  [ 'select count(*) || \' \' || sum(a.v - b.v) || max(a.pad || b.pad) as r from wide a full join wide b using (k)', "set work_mem = '64kB';" ],
	'rescans' =>
	  [ 'select md5(string_agg(g || \'-\' || n, \',\' order by g)) as r from generate_series(1, 3) g,
		   lateral (select sum(v + w + g) as n from l join r using (k) where v % 3 <> g) s', '' ],
	'reduced' =>
	  [ 'select md5(string_agg(q::text, \',\' order by k)) as r from (select k, count(*), sum(w), min(v) from l join r using (k) group by k) q', '' ],
	'function' =>
	  [ 'select md5(string_agg(left_ctid::text || right_ctid, \',\' order by left_ctid, right_ctid)) as r from hashgraph_join(\'l\', \'t\', \'r\', \'t\')', '' ],
	'arrays' => [ 'select count(*)::text as r from hashgraph_join(array(select k::int8 from l), array(select k::int8 from r))', '' ],
	'shared' =>
	  [ 'select md5(string_agg(v || coalesce(r.pad || w, \'\'), \',\' order by v, w)) as r from l full join r using (k)', $alone ],
	'shared on disk' =>
	  [ 'select md5(string_agg(v || coalesce(r.pad || w, \'\'), \',\' order by v, w)) as r from l full join r using (t)', "$alone set work_mem = '64kB';" ],
	'shared with a filter' =>
	  [ 'select md5(string_agg(v || r.pad || w, \',\' order by v, w)) as r from l join r using (k) where w < 200', $alone ],
	# a left join, lest a runtime filter leaves too few rows for a device
	'large' => [ 'select count(*) || \' \' || sum(v * w) as r from big left join r on big.k = r.k and w % 2 = 0', "set work_mem = '64MB';" ]);
my %expected = map {
	my ($query, $settings) = @{ $joins{$_} };
	$_ => $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");
} keys %joins;

# The SQLSTATEs that are fit for a fault, where it is an error.
my %class = (
	alloc => qr/^53[02]00$/,
	system => qr/^(55000|58000|53200)$/,
	send => qr/^58000$/,
	hangup => qr/^58000$/,
	receive => qr/^(58000|55000)$/,
	end => qr/^(58000|55000)$/,
	truncate => qr/^(58000|55000)$/,
	write => qr/^53100$/,
	read => qr/^(58030|XX000)$/,
	cancel => qr/^57014$/,
	device_alloc => qr/^(53[02]00|55000)$/,
	device_system => qr/^(55000|58000)$/,
	device_kill => qr/^(58000|55000)$/,
	device_cuda => qr/^(53000|58000|55000)$/,
	device_cuda_stuck => qr/^(53000|58000|55000)$/);
$class{"device_$_"} = qr/^(58000|55000)$/ foreach qw(send hangup receive end truncate);

# The first events of a walk, the next ones, and so on.
sub steps
{
	my ($from, $one_by_one) = @_;
	my @steps;

	while (@steps < $BATCH && $from < $MOST)
	{
		push @steps, $from;
		$from += $all || $from < $PART * $one_by_one ? 1 : 1 + int($from * $GROWTH);
	}
	return ($from, @steps);
}

# What a script does for one fault.  Where the device process's start is what is to fail,
# that is in a new session, which may leave the device alone for a while afterwards: it
# holds no descriptor but its process's then, and the join comes right in the next session.
sub script
{
	my ($query, $settings, $kind, $number, $afresh) = @_;
	my $again = $afresh ? "\\c -\n$settings" : '';
	my $ready = $settings =~ /= auto/ ? 'select count(*) from hashgraph_devices() \g /dev/null' : '';
	# the warm-up says where the join ran
	my $ran = $number < 1e9 ? '' : 'select string_agg(distinct backend || (partitions > 1)::text, \' \') as ran from hashgraph_last_joins() \gset'
	  . "\n\\echo \@ran :ran";
	my $check = $afresh ? 'select fds - children() as started from held() \gset' : '\set started 0';

	return <<SQL;
$again
$ready
\\echo \@step $number
set hashgraph.inject_fault = '$kind:$number';
\\set r none
$query \\gset
\\echo \@first :SQLSTATE :r
$ran
select current_setting('hashgraph.inject_fault') as fault \\gset
\\echo \@fault :fault
set hashgraph.inject_fault = '';
$check
\\echo \@started :started
$again
\\set r none
$query \\gset
\\echo \@second :SQLSTATE :r
select * from held() \\gset
\\echo \@held :fds :files :ours :bytes
SQL
}

# Walk through the events of one kind in one join under a backend; returns their number.
# What the session holds after each is compared with what it held before the first.
sub walk
{
	my ($label, $join, $backend, $kind, $one_by_one, $afresh) = @_;
	my ($query, $settings) = @{ $joins{$join} };
	my $what = "$label: $join: $kind" . ($afresh ? ', at the start' : '');
	my ($fired, $errors, $taken, $next, $done) = (0, 0, 0, 1, 0);
	my $began = time;
	my @bad;

	return if $what !~ $only;

	# the first fault makes the page that counts, and has the device process replaced
	$settings .= " set hashgraph.force = on; set hashgraph.backend = $backend;"
	  . " set hashgraph.inject_fault = 'alloc:1000000000'; set hashgraph.inject_fault = '';";
	while (!$done)
	{
		my ($step, @steps, @before, $started, $first);
		($next, @steps) = steps($next, $one_by_one);

		# warm up: caches and the device process
		my $warm = join '', map { script($query, $settings, 'alloc', 1e9, $afresh) } 1 .. 3;
		my ($code, $out, $err) = $node->psql(
			'postgres',
			"$settings\n$warm"
			  . join('', map { script($query, $settings, $kind, $_, $afresh) } @steps)
			  . "\\echo \@children\nselect children();\n",
			on_error_stop => 0,
			timeout => 300);

		foreach (split /\n/, $out)
		{
			($step, $first) = ($1, '') if /^\@step (\d+)/;
			next if !defined $step || ($done && !/^\d+$/);
			if (/^\@first (\S+) (.*)/)
			{
				$first = $1;
				push @bad, "fault $step: wrong result $2" if $1 eq '00000' && $2 ne $expected{$join};
			}
			elsif (/^\@fault .* (fired|seen \d+)$/)
			{
				next if $step == 1e9;
				if ($1 ne 'fired') { $done = 1; push @bad, "fault $step: $first without a fault" if $first ne '00000'; next; }
				$fired = $step;
				$taken++;
				next if $first eq '00000';
				$errors++;
				push @bad, "fault $step: SQLSTATE $first" if $first !~ $class{$kind};
				push @bad, "fault $step: no fallback, $first" if $backend eq 'auto' && $kind =~ /^device|send|hangup|receive|end|truncate|system/;
			}
			elsif (/^\@ran (.*)/)
			{
				my $ran = $1;
				my $wanted = ($backend eq 'cpu' ? 'cpu' : 'cuda') . ($join =~ /disk/ ? 'true' : 'false');
				push @bad, "it ran on $ran, not on $wanted" if $ran ne $wanted;
			}
			elsif (/^\@started (\S+)/)
			{
				$started //= $1;
				push @bad, "fault $step: $1 descriptors besides the device process's, before: $started"
				  if $1 ne $started;
			}
			elsif (/^\@second (\S+) (.*)/)
			{
				push @bad, "fault $step: afterwards $1 $2" if "$1 $2" ne "00000 $expected{$join}";
			}
			elsif (/^\@held (\d+) (\d+) (\d+) (\d+)/)
			{
				my @held = ($1, $2, $3, $4);
				@before = @held if $step == 1e9;
				push @bad, "fault $step: descriptors, files, contexts, bytes held: @held, before: @before"
				  if "@held[0 .. 2]" ne "@before[0 .. 2]" || $held[3] > $before[3] + 16 * 1024;
			}
		}
		push @bad, "no end: $err" unless $out =~ /^\@children\n(\d+)\n?\z/m;
		push @bad, "$1 children" if ($1 // 0) > 1;
	}
	ok(!@bad && $fired > 0, sprintf('%s: %d of %d events, %d errors (%.1f s)', $what, $taken, $fired, $errors, time - $began))
	  or diag(join("\n", @bad > 10 ? (@bad[0 .. 9], '... ' . @bad . ' in all') : @bad, $fired ? () : 'nothing fired'));
	return $fired;
}

# Let events of one kind fail in whatever process of a shared join comes to them first.
sub walk_in_all
{
	my ($join, $kind) = @_;
	my ($query, $settings) = @{ $joins{$join} };
	my ($what, $errors) = ("workers: $join: $kind", 0);
	my $began = time;
	my @bad;

	return if $what !~ $only;
	$settings .= " $shared reset max_parallel_workers; set hashgraph.force = on; set hashgraph.backend = cpu;";
	my (undef, @steps) = steps(1, 40);
	my $plan = $node->safe_psql('postgres', "$settings explain (costs off) $query");
	push @bad, "it is not shared:\n$plan" if $plan !~ /Parallel Custom Scan \(HashGraphJoin\)/;

	my (undef, $out, $err) = $node->psql(
		'postgres',
		join("\n", $settings, map { script($query, $settings, $kind, $_) } @steps),
		on_error_stop => 0,
		timeout => 300);
	my $step = 0;
	foreach (split /\n/, $out)
	{
		$step = $1 if /^\@step (\d+)/;
		if (/^\@first (\S+) (.*)/)
		{
			$errors++ if $1 ne '00000';
			push @bad, "fault $step: $1 $2"
			  if $1 eq '00000' ? $2 ne $expected{$join} : $1 !~ $class{$kind};
		}
		elsif (/^\@second (\S+) (.*)/)
		{
			push @bad, "fault $step: afterwards $1 $2" if "$1 $2" ne "00000 $expected{$join}";
		}
	}
	push @bad, "no end: $err" if $step != $steps[-1];
	ok(!@bad && $errors > 0, sprintf('%s: %d events, %d errors (%.1f s)', $what, scalar(@steps), $errors, time - $began))
	  or diag(join("\n", @bad > 10 ? @bad[0 .. 9] : @bad));
	return;
}

my $started = time;
foreach my $backend ({ label => 'cpu', backend => 'cpu', program => '' },
	grep { $_->{backend} eq 'cuda' } backends())
{
	my $label = $backend->{label};
	my @small = grep { $_ ne 'large' } sort keys %joins;
	my @wire = map { ($_, "device_$_") } qw(send hangup receive end truncate);

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$backend->{program}'");
	$node->reload;
	like($node->safe_psql('postgres', "set hashgraph.force = on; set hashgraph.backend = cuda; explain (analyze) $joins{reduced}[0]"),
		qr/Rows Reduced on Device/, "$label: groups are made on it") if $label ne 'cpu';
	foreach my $join (@small)
	{
		# processes share joins on the CPU only
		next if $join =~ /shared/ && $label ne 'cpu';
		walk($label, $join, $backend->{backend}, $_, 50) foreach qw(alloc cancel);
		walk($label, $join, $backend->{backend}, 'write', 20) if $join =~ /disk|arrays|shared/;
		walk($label, $join, $backend->{backend}, 'read', 20) if $join =~ /disk/;
		next if $label eq 'cpu';
		# a device takes its time to start: what is not CUDA's is the stand-in's to walk through
		if ($label eq 'cuda')
		{
			walk($label, $join, 'cuda', $_, $join =~ /left|in memory/ ? 25 : 5) foreach qw(device_cuda device_cuda_stuck);
			next if $join !~ /in memory|reduced/;
		}
		walk($label, $join, 'cuda', $_, $label eq 'cuda' ? 3 : 30) foreach qw(device_alloc device_kill);
		next if $join !~ /left|in memory|reduced/ && !$all;
		walk($label, $join, 'cuda', $_, $label eq 'cuda' ? 3 : 20) foreach @wire;
	}
	if ($label eq 'cpu')
	{
		walk_in_all($_, 'alloc'), walk_in_all($_, 'cancel'), walk_in_all($_, 'write') foreach 'shared', 'shared with a filter';
		walk_in_all('shared on disk', $_) foreach qw(alloc cancel write read);
		next;
	}
	walk($label, 'in memory', 'cuda', $_, $_ eq 'alloc' ? 1 : 8, 1)
	  foreach qw(device_system), $label eq 'cuda' ? qw(device_cuda) : (@wire, qw(alloc system device_alloc device_kill));
	# up to the third chunk of matches
	walk("$label, auto", 'large', 'auto', $_, $_ eq 'device_end' && $label ne 'cuda' ? 20 : 5)
	  foreach $all ? @wire : qw(send device_end device_truncate), qw(alloc device_alloc device_kill), $label eq 'cuda' ? qw(device_cuda) : ();
}
is(scalar(temp_files($node)), 0, 'no temporary files are left');
my $logs = slurp_file($node->logfile);
$node->stop;

# a session's end of its connection to the server's process
$node = new_server('faults_server', conf => $conf);
$node->safe_psql('postgres', $tables);
# in place of a process of its own a session has staging memory that is mapped while it is connected
$node->safe_psql('postgres', <<'SQL');
create or replace function children() returns int language sql as $$
  select (pg_read_file('/proc/self/maps', 0, 10000000, true) ~ 'hashgraph staging')::int $$;
SQL
foreach my $backend (grep { $_->{backend} eq 'cuda' } backends())
{
	my $label = "$backend->{label} of the server";

	use_program($node, $backend->{program});
	walk($label, 'in memory', 'cuda', $_, 8) foreach qw(alloc cancel send hangup receive end truncate);
	walk($label, 'in memory', 'cuda', $_, 8, 1) foreach qw(alloc system send hangup receive end truncate);
	walk("$label, auto", 'large', 'auto', $_, 5) foreach qw(alloc send end);
	devices_become($node, 'jobs + queued + staging_used', 0, "$label: nothing is left of the jobs");
}
note sprintf '%.0f s', time - $started;

is(scalar(temp_files($node)), 0, 'no temporary files are left');
unlike($logs . slurp_file($node->logfile), qr/PANIC|TRAP:|was terminated by signal|WARNING|unrecognized node|AbortTransaction while/,
	'the servers have nothing to complain of');
$node->stop;
done_testing();
