# A device that many sessions share and that has trouble: too little memory, too little staging memory, errors that
# stay, a program that is missing.  Under backend auto each join is right all the same; under cuda it is right, or
# fails cleanly where there is no device; the server stays up, and when the trouble is over joins run on the device.
#
# Runs over the real device process, where it finds a device, and over the stand-in.  Errors of CUDA need a build of
# HG_DEBUG=1 (the suite faults of test/run has one).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;
use Time::HiRes qw(time);

my ($standin, $device) = device_programs();

my $SESSIONS = 32;
my $ROUNDS = $ENV{HG_QUICK} ? 1 : 3;
my $MB = 1024 * 1024;

my $node = new_server('trouble',
	conf => "work_mem = '64MB'\nrestart_after_crash = on\nhashgraph.staging_size = '8MB'\n");

# A session joins a part of its own, so that results differ.
$node->safe_psql('postgres', <<'SQL');
create table f as select case when i % 900 = 0 then 0 else i % 90000 + 1 end as k, i as v from generate_series(1, 300000) i;
create table d as select case when i % 120 = 0 then 0 else i % 20000 + 1 end as k, i as w from generate_series(1, 60000) i;
analyze;
SQL
sub join_of { return "select count(*), sum(v), sum(w) from f join d using (k) where w > " . 1000 * $_[0]; }
my %expected = map { $_ => $node->safe_psql('postgres', 'set hashgraph.enabled = off;' . join_of($_)) } 0 .. $SESSIONS;
my $last = q{select string_agg(distinct backend || '|' || coalesce(fallback, ''), ' ') from hashgraph_last_joins()};
my ($single, $single_auto) = map { "set hashgraph.force = on; set hashgraph.backend = $_;" . join_of(0) . "; $last" } qw(cuda auto);
my $born = born();

# What is another when a process of the server has crashed.
sub born
{
	return $node->safe_psql('postgres',
		q{select pid, backend_start, pg_postmaster_start_time() from pg_stat_activity where backend_type = 'checkpointer'});
}

# All sessions join side by side under a backend, so many times and for so many seconds; meanwhile is called in between.
# A hash: rounds, right, errors (by SQLSTATE), wrong (results), ran (where right ones did), ms (of a round).
sub crowd
{
	my ($backend, $least, $meanwhile, $seconds) = @_;
	my @sessions = map { RawSession->new($node) } 1 .. $SESSIONS;
	my %result = (rounds => 0, right => 0, errors => {}, wrong => [], ran => {});

	$_->query("set hashgraph.force = on; set hashgraph.backend = $backend") foreach @sessions;
	my $start = time;
	while ($result{rounds} < $least || time - $start < ($seconds // 0))
	{
		$result{rounds}++;
		$sessions[ $_ - 1 ]->send(join_of($_)) foreach 1 .. $SESSIONS;
		my @busy = @sessions;
		while (@busy)
		{
			@busy = grep { !$_->finish(0.002) } @busy;
			$meanwhile->() if $meanwhile;
		}
		foreach my $n (1 .. $SESSIONS)
		{
			my $session = $sessions[ $n - 1 ];
			my $answer = $session->{rows}[-1] // '';

			if ($session->{closed}) { $result{errors}{closed}++; }
			elsif (defined $session->{error}) { $result{errors}{ $session->{sqlstate} }++; }
			elsif ($answer ne $expected{$n}) { push @{ $result{wrong} }, "session $n: $answer, not $expected{$n}"; }
			else
			{
				$result{right}++;
				$result{ran}{ $session->query($last) }++;
			}
		}
	}
	$result{ms} = 1000 * (time - $start) / $result{rounds};
	return \%result;
}

# Everything was right.
sub all_right
{
	my ($result, $name) = @_;

	is($result->{right}, $result->{rounds} * $SESSIONS, "$name: $SESSIONS sessions, all results are right")
	  or diag(explain($result));
	note "$name: ", join(', ', map { "$_ $result->{ran}{$_}" } sort keys %{ $result->{ran} });
	return;
}

# Right, or an error that says that the device is not there.
sub right_or_clean
{
	my ($result, $name) = @_;

	is_deeply($result->{wrong}, [], "$name: no result is wrong");
	is_deeply([ grep { !/^5[58]000$/ } keys %{ $result->{errors} } ], [], "$name: errors are clean ones") or diag(explain($result->{errors}));
	note "$name: right $result->{right}, ", join(', ', map { "$_ $result->{errors}{$_}" } sort keys %{ $result->{errors} });
	return;
}

# The device is used again, nothing is held, and no process of the server has crashed.
sub over
{
	my ($name) = @_;

	ok(wait_for(sub { (eval { $node->safe_psql('postgres', $single) } // '') eq "$expected{0}\ncuda|" }, 60), "$name: the next join runs on the device");
	devices_become($node, 'jobs, queued, staging_used', '0|0|0', "$name: nothing is held for the others");
	is(born(), $born, "$name: no process of the server has crashed");
	return;
}

# Time under auto beside the CPU's, to be read.
sub note_times
{
	my ($auto, $cpu, $name) = @_;

	note sprintf '%s, auto: %.0f ms, %.2f times the CPU\'s', $name, $auto->{ms}, $auto->{ms} / $cpu->{ms};
	return;
}

sub test_trouble
{
	my ($label, $program) = @_;
	# auto is to want the stand-in for these few rows
	my %switches = $label eq 'stand-in' ? (HG_STANDIN_FAST => 1) : ();

	use_program($node, $program, %switches);
	my $cpu = crowd('cpu', $ROUNDS);
	all_right($cpu, "$label, cpu");

	# little device memory
	$node->append_conf('postgresql.conf', "hashgraph.gpu_memory_budget = '16MB'\n");
	use_program($node, $program, %switches);
	is(ready_devices($node, 'memory_budget'), 16 * $MB, "$label, 16 MB: that is the budget");
	my ($most, $looked) = (0, 0);
	my $look = sub {
		return if time < $looked + 0.2;
		$looked = time;
		my $held = ready_devices($node, 'memory_held');
		$most = $held if $held > $most;
	};
	my $result = crowd('cuda', $ROUNDS, $look);
	all_right($result, "$label, 16 MB, cuda");
	is_deeply([ keys %{ $result->{ran} } ], ['cuda|'], "$label, 16 MB, cuda: ... on the device");
	cmp_ok($most, '<=', 16 * $MB, "$label, 16 MB: ... which holds no more (most: $most)");
	$result = crowd('auto', $ROUNDS);
	all_right($result, "$label, 16 MB, auto");
	note_times($result, $cpu, "$label, 16 MB");
	over("$label, 16 MB");
	$node->append_conf('postgresql.conf', "hashgraph.gpu_memory_budget = 0\n");

	# the least staging memory
	$node->append_conf('postgresql.conf', "hashgraph.staging_size = '1MB'\n");
	use_program($node, $program, %switches);
	is(ready_devices($node, 'staging'), $MB, "$label, little staging: there is 1 MB");
	$result = crowd('cuda', $ROUNDS);
	all_right($result, "$label, little staging, cuda");
	is_deeply([ keys %{ $result->{ran} } ], ['cuda|'], "$label, little staging, cuda: ... on the device");
	$result = crowd('auto', $ROUNDS);
	all_right($result, "$label, little staging, auto");
	note_times($result, $cpu, "$label, little staging");
	over("$label, little staging");
	$node->append_conf('postgresql.conf', "hashgraph.staging_size = '8MB'\n");

	# a program that goes missing while its process runs, which is then lost
	my $vanishing = PostgreSQL::Test::Utils::tempdir() . '/vanishing';
	append_to_file($vanishing, "#!/bin/sh\nexec '$program' \"\$@\"\n");
	chmod 0755, $vanishing;
	use_program($node, $vanishing, %switches);
	my $path = $node->safe_psql('postgres', 'show hashgraph.device_program');
	is($node->safe_psql('postgres', $single), "$expected{0}\ncuda|", "$label, missing: a join runs on the device before");
	rename $path, "$path.gone" or die "$path: $!";
	my $killed = 0;
	$result = crowd('auto', $ROUNDS, sub { $killed ||= kill 'KILL', device_process($node) // return });
	all_right($result, "$label, missing, auto");
	ok( wait_for(sub { $node->safe_psql('postgres', $single_auto) =~ /^cpu\|(?:hashgraph was installed without CUDA)?$/m }, 20),
		"$label, missing: the server knows");
	$result = crowd('auto', $ROUNDS);
	all_right($result, "$label, missing for good, auto");
	is_deeply([ grep { !/^cpu\|(?:hashgraph was installed without CUDA)?$/ } keys %{ $result->{ran} } ], [], "$label, missing for good, auto: ... on the CPU");
	note_times($result, $cpu, "$label, missing");
	$result = crowd('cuda', 1);
	right_or_clean($result, "$label, missing, cuda");
	is($result->{errors}{55000}, $SESSIONS, "$label, missing, cuda: ... all of them");
	rename "$path.gone", $path or die "$path: $!";
	over("$label, missing");

	test_errors($label, $program, $cpu, %switches) if $label eq 'stand-in' || $ENV{HG_DEBUG_BUILD};
	return;
}

# Errors that stay: every call to the device fails until its process has been replaced.
sub test_errors
{
	my ($label, $program, $cpu, %switches) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/broken';
	# a real device takes its time to start
	my ($seconds, $healthy) = $label eq 'stand-in' ? (2, 0.5) : (15, 4);
	my ($break, $mend);

	if ($label eq 'stand-in')
	{
		$break = sub { append_to_file($file, '') };
		$mend = sub { unlink $file };
		$switches{HG_STANDIN_FAIL_WHILE} = $file;
	}
	else
	{
		# the page of test/fault/hg_fault.h: what fails, in the device process, not yet, the next event
		my ($kinds) = slurp_file("$FindBin::Bin/../fault/hg_fault.h") =~ /typedef enum HgFaultKind\s*\{(.*?)\}/s;
		my %number;
		$number{$_} = keys %number foreach $kinds =~ /^\s*(HG_FAULT_\w+)/mg;
		my $write = sub {
			open my $page, '+<', $file or die "$file: $!";
			syswrite $page, pack('lCCx2QQ', @_);
			close $page;
		};
		append_to_file($file, pack('lCCx2QQ', 0, 1, 0, 0, 0));
		$break = sub { $write->($number{HG_FAULT_CUDA_STUCK}, 1, 0, 1, 0) };
		$mend = sub { $write->(0, 1, 0, 0, 0) };
		$switches{HG_FAULT_PAGE} = $file;
	}

	use_program($node, $program, %switches);
	is($node->safe_psql('postgres', $single), "$expected{0}\ncuda|", "$label, errors: a join runs on the device before");
	my $from = -s $node->logfile;
	foreach my $backend ('auto', 'cuda')
	{
		my ($next, $broken, $breaks) = (time + rand $healthy, 0, 0);
		my $meanwhile = sub {
			return if time < $next;
			$broken = !$broken;
			if ($broken) { $break->(); $breaks++; }
			else { $mend->(); $node->reload; }
			$next = time + rand($broken ? 0.3 : $healthy);
		};
		my $result = crowd($backend, 1, $meanwhile, $seconds);

		$mend->();
		$node->reload;
		note "$label, errors, $backend: broken $breaks times";
		if ($backend eq 'auto')
		{
			all_right($result, "$label, errors, auto");
			note_times($result, $cpu, "$label, errors");
		}
		else { right_or_clean($result, "$label, errors, cuda"); }
		over("$label, errors, $backend");
	}
	# broken for sure, whatever the moments were; but for a call that a resting process makes on its own, after which
	# it has been replaced when the join comes
	my $err = '';
	for (my $try = 0; $err eq '' && $try < 20; $try++)
	{
		$break->();
		(undef, undef, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$single");
	}
	like($err, qr/ERROR:  5[58]000: /, "$label, errors: a join on a broken device fails");
	$mend->();
	$node->reload;
	over("$label, errors, once more");
	log_tells($node, $from, qr/It ended with exit code 3/, "$label, errors: the process ended for it");
	return;
}

test_trouble('cuda', $device) if defined $device;
test_trouble('stand-in', $standin) if defined $standin;
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
