# Nothing is left of a join: of two thousand in one session (a thousand with HG_QUICK) no memory, and of one that ends,
# fails, is cancelled, terminated or killed no file, shared memory, process or descriptor.
#
# Devices: a session has sockets and staging memory there.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

# What the memory of a session may grow by between its hundredth join and its last, in kB:
# the promise is 10 MB, and a kilobyte for each join is not missed.
use constant GROWTH => 2 * 1024;
use constant JOINS => $ENV{HG_QUICK} ? 1000 : 2000;

my $conf = "hash_mem_multiplier = 1\nrestart_after_crash = on\n";
my $node; # the server under test

# A server with the tables of these tests.
sub make_server
{
	my ($name, %options) = @_;

	$node = new_server($name, conf => $conf, %options);
	$node->safe_psql('postgres', <<'SQL');
create table l as select case when i % 40 = 0 then null else i % 700 end as k, i as v, i % 7 as s,
  'key' || i % 700 as t, i % 700 + 0.50 as n, repeat('l', 30) as pad from generate_series(1, 1500) i;
create table r as select case when i % 50 = 0 then null else i % 900 end as k, i as w, i % 5 as s,
  'key' || i % 900 as t, i % 900 + 0.5 as n, repeat('r', 30) as pad from generate_series(1, 1500) i;
create table same as select 1 as k, i as z from generate_series(1, 4000) i;
create table large_l as select i % 60000 as k, i as v, repeat('l', 100) as pad from generate_series(1, 100000) i;
create table large_r as select i % 60000 as k, i as w, repeat('r', 100) as pad from generate_series(1, 100000) i;
create function guarded(int) returns int8 language plpgsql as $$
declare n int8;
begin
  select sum(100 / (v % $1)) into n from l join r using (k);
  return n;
exception when division_by_zero then
  return -1;
end $$;
vacuum analyze;
SQL
	return;
}

# Private memory of a process, in kB.
sub private_memory
{
	my ($pid) = @_;
	return slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m ? $1 : die "no RssAnon";
}

# Process ids of the device processes that a session uses: a process of its own or the server's.
sub devices_of
{
	my ($pid, $device) = @_;

	return $device eq 'own' ? device_children($pid) : $device eq 'server' ? grep { defined } device_process($node) : ();
}

# The same of a session and of the device process that it uses, if any.
sub memory_of_both
{
	my ($pid, $device) = @_;
	return (private_memory($pid), map { private_memory($_) } devices_of($pid, $device));
}

# Nothing of a job is left in the server's device process.
sub device_is_idle
{
	return $node->safe_psql('postgres', q{select count(*) filter (where jobs + queued + staging_used > 0) from hashgraph_devices()}) eq '0';
}

# Descriptors of a process, but those of data files, which PostgreSQL keeps open.
sub descriptors
{
	my ($pid) = @_;
	my @links = map { readlink($_) // () } glob "/proc/$pid/fd/*";

	return scalar(grep { !m{/(base|global|pg_\w+)/} || m{pgsql_tmp} } @links);
}

# Does a process map shared memory of a device process's?
sub maps_staging
{
	my ($pid) = @_;
	return slurp_file("/proc/$pid/maps") =~ /hashgraph staging/ ? 1 : 0;
}

sub shared_files
{
	return join ' ', grep { /hashgraph/ } glob '/dev/shm/*';
}

# Joins of every kind: each a query, or several.  What fails is meant to.
my @kinds = map { [ $_, 0 ] } (
	(map { "select sum(v), sum(w) from l $_ join r using (k)" } qw(inner left right full)),
	(map { "select count(*) from l $_ join r using (k)" } qw(inner left right full)),
	'select sum(v), max(l.pad || r.pad) from l join r using (t)',
	'select l.t, r.n, sum(w), avg(l.n), max(l.pad) from l join r using (k) group by l.t, r.n',
	'set work_mem = \'64kB\'; select l.v, r.n, sum(w), avg(l.n), max(l.pad) from l join r using (k) group by l.v, r.n; reset work_mem',
	'select sum(v), count(r.pad) from l left join r using (n)',
	'select count(*) from l full join r using (k, s, t)',
	'select count(*) from l join r on l.k = r.w and l.v + r.w < 1000',
	'select sum(v) from l where exists (select from r where r.k = l.k and r.w <> l.v)',
	'select sum(v) from l where not exists (select from r where r.t = l.t and r.w <> l.v)',
	'select sum(v) from l where k in (select k from r where s = 2)',
	'set work_mem = \'64kB\'; select sum(v), max(l.pad || r.pad) from l full join r using (k); reset work_mem',
	'set work_mem = \'64kB\'; select count(*) from l left join r using (t) where l.pad <> r.pad; reset work_mem',
	'select sum(n) from generate_series(1, 3) g, lateral (select sum(v + w + g) as n from l join r using (k) where v % 3 <> g) s',
	'begin; declare c cursor for select v, w from l join r using (k); fetch 5 from c; close c; commit',
	'set work_mem = \'64kB\'; begin; declare c cursor for select v, r.t, sum(w) from l join r using (k) group by v, r.t; fetch 5 from c; close c; commit; reset work_mem',
	'begin; declare c cursor for select v, l.pad from l left join r using (t); fetch 5 from c; rollback',
	'begin; declare c cursor with hold for select v, w from l join r using (k) limit 100; fetch 5 from c; commit; close c',
	'select * from l join r using (t) limit 3',
	'select guarded(7), guarded(10000)',
	'begin; savepoint s; select count(*) from l join r using (k); rollback to s; select count(*) from l join r using (t); commit',
	'select count(*) from hashgraph_join(\'l\', \'t\', \'r\', \'t\')',
	'select count(*) from hashgraph_join(array(select k::int8 from l), array(select k::int8 from r))',
	'select vertices from hashgraph_build_stats(\'l\', \'k\')',
	'select sum(rows) from hashgraph_list_lengths(\'l\', \'k\')',
	'select matches from hashgraph_probe_stats(\'l\', \'k\', \'r\', \'k\')',
	'select slots from hashgraph_table_stats(\'l\', \'k\', \'cuckoo\', batches => 1)',
	'explain (analyze, costs off) select count(*) from l join r using (k)',
	'prepare p(int) as select count(*) from l join r using (k) where v < $1; execute p(100); execute p(200); deallocate p',
	'update l set v = l.v from r where l.k = r.k and r.w = 3');
push @kinds, map { [ $_, 1 ] } (
	'select sum(100 / (v - w)) from l join r using (k)',
	'set work_mem = \'64kB\'; select sum(100 / (v - w)), max(l.pad || r.pad) from l left join r using (k)',
	'begin; savepoint s; select sum(100 / (v - w)) from l join r using (t)',
	'set work_mem = \'64kB\'; select l.v, r.t, sum(100 / (v - w)), max(l.pad) from l join r using (s) where v < 300 and w > 0 group by l.v, r.t',
	'set statement_timeout = 4; select sum(a.z) from same a join same b using (k)',
	'set statement_timeout = 2; select count(*) from large_l join large_r using (k) where v + w < 0',
	'set work_mem = \'64kB\'; set statement_timeout = 5; select max(large_l.pad || large_r.pad) from large_l full join large_r using (k)',
	'select slots from hashgraph_table_stats(\'same\', \'k\', \'ellpack\', max_padding => 1)',
	'set statement_timeout = 4; select slots from hashgraph_table_stats(\'large_l\', \'k\', batches => 10000)',
	'select count(*) from hashgraph_join(\'l\', \'k\', \'r\', \'t\')');

sub test_memory
{
	my ($label, $settings, $device) = @_;
	my $session = RawSession->new($node);
	my ($unexpected, $failed, @early, @late) = (0, 0);

	$session->query($settings);
	for my $join (1 .. JOINS)
	{
		my ($query, $fails) = @{ $kinds[ $join % @kinds ] };

		$session->query($query);
		$failed++ if $session->{error};
		if ($session->{error} && !$fails)
		{
			diag("$query: $session->{error}") if $unexpected++ < 5;
		}
		# what ends it may be hit by the timeout too
		while ($fails)
		{
			$session->query('rollback; reset statement_timeout; reset work_mem');
			last unless $session->{error};
		}
		@early = memory_of_both($session->pid, $device) if $join == 100;
	}
	@late = memory_of_both($session->pid, $device);

	is($unexpected, 0, "$label: joins that are to work do");
	cmp_ok($failed, '>', JOINS / 10, "$label: ... and $failed of " . JOINS . ' failed or were cancelled');
	is(scalar(@late), scalar(@early), "$label: ... and the same processes are there at the end");
	for my $process (0 .. $#early)
	{
		# what CUDA keeps for itself in a device process is not ours
		cmp_ok($late[$process] - $early[$process], '<', GROWTH * ($process == 0 ? 1 : 5),
			"$label: " . ('session', 'device process')[$process] . ": $early[$process] kB after 100 joins, $late[$process] kB after " . JOINS);
	}
	is(scalar(temp_files($node)), 0, "$label: no temporary files are left");
	$session->query('set work_mem = \'1GB\'; begin; declare c cursor for select v, large_l.pad, large_r.pad from large_l join large_r using (k); move 10 in c');
	cmp_ok(private_memory($session->pid) - $late[0], '>', 10 * 1024, "$label: a join in memory shows");
	$session->query('commit');
	# blocks of less than 4 MB are kept for the next join
	$session->query('discard all');
	cmp_ok(private_memory($session->pid) - $late[0], '<', GROWTH, "$label: ... and is given back");
	return;
}

# In the middle of a join on disk, whose end is then brought about.
my $middle = 'begin; declare c cursor for select v, w, large_l.pad, large_r.pad from large_l left join large_r using (k); move 10 in c';
my $query = 'select count(v), count(w), max(large_l.pad || large_r.pad) from large_l left join large_r using (k)';

# Begin the query, and wait until it has temporary files beside those of a cursor.
sub in_the_middle
{
	my ($session) = @_;
	my $files = sub { scalar grep { /pgsql_tmp@{[ $session->pid ]}\./ } temp_files($node) };
	my $before = $files->();

	$session->send($query);
	wait_for(sub { $files->() > $before }, 20) or die 'the query writes no temporary files';
	return;
}

# The ways out: what brings them about, and whether the session lives on.
my @ways = (
	[ 'the end of its statement', sub { $_[0]->query('move all in c; commit') }, 1 ],
	[ 'a cursor that is closed', sub { $_[0]->query('close c; commit') }, 1 ],
	[ 'an error', sub { $_[0]->query('select 1 / 0'); $_[0]->query('rollback') }, 1 ],
	[ 'an error of its own', sub { $_[0]->query("rollback; select sum(1 / (v - w)), max(large_l.pad || large_r.pad) from large_l join large_r using (k)") }, 1 ],
	[ 'a cancel', sub { $_[0]->query('rollback'); in_the_middle($_[0]); kill 'INT', $_[0]->pid; $_[0]->finish }, 1 ],
	[ 'the end of its device process',
		sub { $_[0]->query('rollback'); in_the_middle($_[0]); kill 'KILL', devices_of($_[0]->pid, $_[1]); $_[0]->finish; }, 1 ],
	[ 'the end of its session', sub { syswrite($_[0]{socket}, 'X' . pack('N', 4)); close $_[0]{socket} }, 0 ],
	[ 'a client that hangs up', sub { in_the_middle($_[0]); close $_[0]{socket} }, 0 ],
	[ 'a termination', sub { in_the_middle($_[0]); kill 'TERM', $_[0]->pid; }, 0 ],
	[ 'kill -9', sub { in_the_middle($_[0]); kill 'KILL', $_[0]->pid }, 0 ]);

sub test_ways
{
	my ($label, $settings, $device) = @_;
	my $on_device = $device ne '';
	my $shared = shared_files();

	foreach my $way (@ways)
	{
		my ($name, $leave, $lives) = @$way;
		my $session = RawSession->new($node);
		my $pid = $session->pid;
		my ($before, @devices);

		next if $name =~ /device/ && !$on_device;
		# the same once to its end, for what is kept from one join to the next
		$session->query("$settings set work_mem = '1MB'");
		$session->query($query);
		$before = descriptors($pid);
		$session->query($middle);
		@devices = devices_of($pid, $device);
		is($session->{error}, undef, "$label: before $name");
		cmp_ok(scalar(temp_files($node)), '>', 0, "$label: ... there are temporary files");
		is(@devices . maps_staging($pid), $on_device ? '11' : '00', "$label: ... and a device process and its memory");

		$leave->($session, $device);
		if ($lives)
		{
			my ($count) = $session->query($query);

			is($session->{error}, undef, "$label: after $name the session joins on");
			is(descriptors($pid), $before, "$label: ... and has as many descriptors as before");
			is(scalar(temp_files($node)), 0, "$label: ... and no temporary files");
			cmp_ok(scalar(devices_of($pid, $device)), '==', $on_device ? 1 : 0, "$label: ... and no more device processes");
			syswrite($session->{socket}, 'X' . pack('N', 4));
			close $session->{socket};
		}
		ok(wait_for(sub { !-e "/proc/$pid" }, 20), "$label: $name: the session ends");
		ok(wait_for(sub { !grep { -e "/proc/$_" } @devices }, 20), "$label: ... its device process too") if $device eq 'own';
		ok(wait_for(sub { !temp_files($node) }, 30), "$label: ... no temporary files are left") or diag(join "\n", temp_files($node));
		ok(wait_for(sub { accepts($node) }, 60), "$label: ... and the server is up");
		ok(wait_for(\&device_is_idle, 20), "$label: ... and its device process idle") if $device eq 'server';
	}
	is(shared_files(), $shared, "$label: nothing is left in /dev/shm");
	return;
}

foreach my $of_server (1, 0)
{
	make_server($of_server ? ('leaks') : ('leaks_own', preload => 'session'));
	foreach my $backend (backends())
	{
		my $settings = "set hashgraph.force = on; set hashgraph.backend = $backend->{backend};";
		my $device = $backend->{backend} eq 'cpu' ? '' : $of_server ? 'server' : 'own';
		my $label = $device eq 'own' ? "$backend->{label} of a session" : $backend->{label};

		# the CPU is the same either way
		next if !$of_server && $device eq '';
		if ($device ne '') { use_program($node, $backend->{program}); }
		test_memory($label, $settings, $device);
		test_ways($label, $settings, $device);
	}
	session_ok($node, 'the server joins on');
	$node->stop;
}
done_testing();
