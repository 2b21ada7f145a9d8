# A session's own device process: joins run there, its trouble is no trouble of the server, and
# nothing of it is left behind.  device_server.pl is about the server's process.
#
# Runs over the stand-in, a device process with the CPU engine in it that can be told
# to misbehave, and what needs no misbehaviour over the real one too, where it finds
# a device.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

my ($standin, $device) = device_programs();

# what is slow here is the machine
my $node = new_server('device', preload => 'session',
	conf => "work_mem = '256MB'\nrestart_after_crash = on\nhashgraph.gpu_wait_limit = '10min'\nhashgraph.send_pages = off\n");

# More rows than backend auto leaves to the CPU, and many chunks of matches, with long
# runs of duplicates among them.
$node->safe_psql('postgres', <<'SQL');
create table f as select case when i % 900 = 0 then 0 when i % 101 = 0 then null else i % 90000 + 1 end as k, i as v
  from generate_series(1, 450000) i;
create table d as select case when i % 120 = 0 then 0 when i % 103 = 0 then null else i % 20000 + 1 end as k, i as w
  from generate_series(1, 80000) i;
create table many1 as select (i * 2654435761 % 1000000 + 1)::int as k, i as v from generate_series(1, 1000000::bigint) i;
create table many2 as select (i * 2654435761 % 500000 + 750001)::int as k, i as w from generate_series(1, 1000000::bigint) i;
create table same as select 1 as k, i as z from generate_series(1, 100000) i;
create table hot1 as select case when i <= 300000 then 0 else i end as k from generate_series(1, 301000) i;
create table hot2 as select case when i <= 300000 then 0 else i + 400 end as k from generate_series(1, 301000) i;
analyze;
SQL

# Joins whose result is a checksum of the multiset of rows.
my $checksum = 'count(*), sum(hashint8extended(coalesce(v, 0) * 1000000::int8 + coalesce(w, 0), 1)::numeric)';
my %joins = (
	inner => "select $checksum from f join d using (k)",
	left => "select $checksum from f left join d using (k)",
	residual => "select $checksum from f left join d on f.k = d.k and (v + w) % 3 > 0",
	semi => "select count(*), sum(v) from f where exists (select from d where d.k = f.k)",
	semi_residual => "select count(*), sum(v) from f where exists (select from d where d.k = f.k and d.w % 7 <> f.v % 7)",
	anti => "select count(*), sum(v) from f where not exists (select from d where d.k = f.k)",
	anti_residual => "select count(*), sum(v) from f where not exists (select from d where d.k = f.k and d.w % 7 = f.v % 7)",
	count => 'select count(*) from f join d using (k)');
my %expected = map { $_ => $node->safe_psql('postgres', "set hashgraph.enabled = off; $joins{$_}") } keys %joins;
my $where = q{select distinct backend, coalesce(device, '') <> '', coalesce(fallback, '') from hashgraph_last_joins()};

# A join of one key with more rows than a device of 128 kB holds.
my $hot = 'select count(*) from hot1 a where not exists (select from hot2 b where b.k = a.k)';
my $expected_hot = $node->safe_psql('postgres', "set hashgraph.enabled = off; $hot");

# A table of all keys of a column, measured, and how many keys there are.
my $measured = q{select backend, coalesce(device, '') <> '', coalesce(fallback, ''), keys, rows, erase_ns > 0 from hashgraph_table_stats};
my $table = "$measured('f', 'k'";
my $keys = $node->safe_psql('postgres', 'select count(k) from f');
my $distinct = $node->safe_psql('postgres', 'select count(distinct k) from f');

# A session that joins on the device under the given backend.
sub session
{
	my ($backend) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	# the device has come up when it is listed; with build v2 the CPU can't join outer rows as they come, which is faster than a device
	$session->query("set hashgraph.force = on; set hashgraph.backend = $backend; set hashgraph.build = v2; select count(*) from hashgraph_devices();");
	return ($session, scalar $session->query('select pg_backend_pid()'));
}

# ------------------------------------------------------------------ over either

sub test_device
{
	my ($label, $program) = @_;

	use_program($node, $program);
	foreach my $backend (qw(cuda auto))
	{
		my ($session, $pid) = session($backend);
		# auto leaves to the CPU what that is expected to do sooner than a real device
		my $chosen = $backend eq 'auto' && $label ne 'stand-in';

		foreach my $join (sort keys %joins)
		{
			is($session->query($joins{$join}), $expected{$join}, "$label, $backend: $join join");
			like($session->query($where), $chosen ? qr/^(cuda\|t|cpu\|f)\|$/ : qr/^cuda\|t\|$/, "$label, $backend: ... on the device");
		}
		like($session->query('explain (analyze, costs off, timing off, summary off) ' . $joins{inner}),
			$chosen ? qr/Backend: c/ : qr/Backend: cuda\n +Device: \S/, "$label, $backend: EXPLAIN says so");
		my @children = device_children($pid);
		is(scalar(@children), 1, "$label, $backend: the session has one device process");
		is($session->query("set hashgraph.backend = cpu; $joins{count}; $where"), "$expected{count}\ncpu|f|",
			"$label, $backend: backend cpu does without it");
		$session->quit;
		ok(wait_for(sub { !-e "/proc/$children[0]" }, 10), "$label, $backend: it ends with the session");
	}

	# a device would get rows that do not fit from files; bits of the inner keys are faster
	if ($label eq 'stand-in')
	{
		my $few = "set hashgraph.build = auto; set work_mem = '2MB'; set hash_mem_multiplier = 1; select count(*) from many2 where k in (select k from many1)";
		my ($session, $pid) = session('auto');
		my $expected = $node->safe_psql('postgres', 'set hashgraph.enabled = off; select count(*) from many2 where k in (select k from many1)');

		is($session->query($few), $expected, "$label, auto: a join of which neither side fits");
		like($session->query($where), qr/^cpu\|f\|$/, "$label, auto: ... is not done from files by the device");
		unlike($session->query('explain (analyze, costs off, timing off, summary off) select count(*) from many2 where k in (select k from many1)'),
			qr/Disk Usage/, "$label, auto: ... nor on the CPU");
		$session->quit;
	}

	# more than the device may hold: it joins range by range (where auto leaves that to it)
	foreach my $backend ('cuda', $label eq 'stand-in' ? 'auto' : ())
	{
		my ($session, $pid) = session($backend);

		$session->query("set hashgraph.gpu_memory_limit = '256kB'");
		foreach my $join (sort keys %joins)
		{
			is($session->query($joins{$join}), $expected{$join}, "$label, $backend, 256 kB: $join join");
			is($session->query($where), 'cuda|t|', "$label, $backend, 256 kB: ... on the device");
		}
		my $plan = $session->query('explain (analyze, costs off, timing off, summary off) ' . $joins{inner});
		my ($kilobytes, $ranges) = $plan =~ /Device Memory Usage: (\d+) kB\n +Device Ranges: (\d+)/;
		cmp_ok($ranges // 0, '>', 1, "$label, $backend, 256 kB: EXPLAIN shows the ranges") or diag($plan);
		cmp_ok($kilobytes // 9999, '<=', 256, "$label, $backend, 256 kB: ... within the limit");
		unlike($session->query("reset hashgraph.gpu_memory_limit; explain (analyze, costs off) $joins{inner}"),
			qr/Device Ranges/, "$label, $backend: ... and none where it fits");

		# as many ranges as 100 million rows by 100 million have in 64 MB (test/core/large), two of them at a time:
		# the keys from 750001 to 1000000 match, each of them two rows
		$session->query("set hashgraph.gpu_memory_limit = '1280kB'");
		is($session->query('select count(*), sum(a.k::int8), sum(a.k - b.k) from many1 a join many2 b using (k)'),
			join('|', 500_000, 2 * 250_000 * (750_001 + 1_000_000) / 2, 0), "$label, $backend, 1280 kB: a million by a million rows");
		like($session->query('select count(*) from many2 where k in (select k from many1)'), qr/^500000$/, "$label, $backend, 1280 kB: ... counted");
		cmp_ok($session->query('select device_ranges from hashgraph_last_joins()'), '>', 30, "$label, $backend, 1280 kB: ... in many ranges");

		# cutting does not part one key
		$session->query("set hashgraph.gpu_memory_limit = '128kB'");
		$session->{stderr} = '';
		if ($backend eq 'cuda')
		{
			$session->query("\\set VERBOSITY verbose\n$hot");
			like($session->{stderr}, qr/ERROR: +53000: /, "$label, cuda: one key that does not fit is an error of class 53");
			like($session->{stderr}, qr/HINT: .*hashgraph\.gpu_memory_limit/, "$label, cuda: ... with a hint");
		}
		else
		{
			is($session->query($hot), $expected_hot, "$label, auto: one key that does not fit goes to the CPU");
			like($session->query($where), qr/^cpu\|f\|./, "$label, auto: ... which hashgraph_last_joins() tells");
			like($session->query("explain (analyze, costs off) $hot"), qr/Backend: cpu\n *Fallback: \S/,
				"$label, auto: ... and EXPLAIN");
		}
		$session->quit;
	}

	# tables are measured there
	foreach my $backend ('cuda', $label eq 'stand-in' ? 'auto' : ())
	{
		my ($session, $pid) = session($backend);

		foreach my $kind ('csr', 'sliced_ellpack', 'dynamic', 'cuckoo', 'dycuckoo')
		{
			is($session->query("$table, '$kind', 'map')"), "cuda|t||$keys|$distinct|t", "$label, $backend: a table of kind $kind");
		}
		is($session->query("set hashgraph.backend = cpu; $table, 'csr')"), "cpu|f||$keys|$keys|t", "$label, $backend: backend cpu measures it here");
		$session->{stderr} = '';
		$session->query("set hashgraph.backend = $backend; set statement_timeout = 500; $table, 'csr', batches => 10000)");
		like($session->{stderr}, qr/canceling statement due to statement timeout/, "$label, $backend: it is cancelled");
		$session->query('reset statement_timeout');
		is($session->query("$table, 'csr')"), "cuda|t||$keys|$keys|t", "$label, $backend: ... and the next one is measured");
		$session->query("set hashgraph.gpu_memory_limit = '1MB'");
		$session->{stderr} = '';
		if ($backend eq 'cuda')
		{
			$session->query("\\set VERBOSITY verbose\n$table, 'cuckoo', 'map')");
			like($session->{stderr}, qr/ERROR: +53000: .*HINT: .*hashgraph\.gpu_memory_limit/s, "$label, cuda: one without room is an error of class 53");
		}
		else
		{
			like($session->query("$table, 'cuckoo', 'map')"), qr/^cpu\|f\|[^|]*memory[^|]*\|$keys\|$distinct\|t$/, "$label, auto: one without room comes to the CPU");
		}
		$session->quit;
	}

	# killed in the middle of a stream of matches
	my ($session, $pid) = session('cuda');
	$session->query('begin; declare c cursor for select v, w from f join d using (k); move 1000 in c;');
	my ($child) = device_children($pid);
	ok(defined $child, "$label: a device process streams matches");
	kill 'KILL', $child;
	$session->{stderr} = '';
	$session->query('move forward all in c');
	like($session->{stderr}, qr/ERROR: .*device process/s, "$label: kill -9 of it is an error under backend cuda");
	like($session->{stderr}, qr/HINT: .*hashgraph\.backend/s, "$label: ... with a hint");
	$session->query('rollback');
	is($session->query($joins{inner}), $expected{inner}, "$label: the next join works");
	is($session->query($where), 'cuda|t|', "$label: ... on a new device process");
	# killed between two joins, whether it has ended by the next one or not
	foreach my $ended (1, 0)
	{
		kill 'KILL', device_children($pid);
		wait_for(sub { !device_children($pid) }) if $ended;
		is($session->query($joins{count}), $expected{count}, "$label: killed between joins, it is replaced");
	}
	is($session->query('select pg_backend_pid()'), $pid, "$label: the session is the same");
	$session->quit;

	($session, $pid) = session('auto');
	$session->query('begin; create temp table got (v int, w int);'
		  . 'declare c cursor for select v, w from f join d using (k); move 1000 in c;');
	kill 'KILL', device_children($pid);
	is($session->query('do $$ declare c refcursor := \'c\'; r record; n int8 := 0; begin loop fetch c into r; exit when not found; n := n + 1; end loop; raise exception \'%\', n; end $$'),
		'', "$label: fetched to the end");
	my $rest = $expected{count} - 1000;
	like($session->{stderr}, qr/ERROR: +$rest$/m,
		"$label: kill -9 of it under backend auto: as many rows as there are");
	$session->query('rollback');
	$session->quit;

	# cancelled, terminated, killed: no process is left
	my $endless = 'select count(*) from same a join same b on a.k = b.k and a.z + b.z < 0';
	foreach my $way ('statement_timeout', 'pg_cancel_backend', 'pg_terminate_backend')
	{
		my ($session, $pid) = session('cuda');
		my $control = $node->background_psql('postgres');
		my @children = device_children($pid);

		if ($way eq 'statement_timeout')
		{
			$session->query("set statement_timeout = '700ms'; $endless;");
			like($session->{stderr}, qr/canceling statement due to statement timeout/, "$label: $way");
			is($session->query("reset statement_timeout; $joins{count}"), $expected{count}, "$label: $way: the session goes on");
			is($session->query($where), 'cuda|t|', "$label: $way: ... on the device");
			$session->quit;
		}
		else
		{
			$session->{stdin} .= "$endless;\n";
			$session->{run}->pump_nb;
			ok(wait_for(sub { $control->query("select count(*) from pg_stat_activity where pid = $pid and query like '%a.z + b.z%' and state = 'active'") eq '1' }),
				"$label: $way: it runs");
			random_moment(0.6);
			is($control->query("select $way($pid)"), 't', "$label: $way");
			if ($way eq 'pg_cancel_backend')
			{
				is($session->query($joins{count}), $expected{count}, "$label: $way: the session goes on");
				$session->quit;
			}
			else
			{
				ok(wait_for(sub { $control->query("select count(*) from pg_stat_activity where pid = $pid") eq '0' }),
					"$label: $way: the session is gone");
				$session->{run}->finish;
			}
		}
		$control->quit;
		is(scalar(@children), 1, "$label: $way: there was a device process");
		ok(wait_for(sub { !grep { -e "/proc/$_" } @children }, 20), "$label: $way: and now there is none");
	}
	($session, $pid) = session('cuda');
	$session->{stdin} .= "$endless;\n";
	$session->{run}->pump_nb;
	my @children;
	ok(wait_for(sub { (@children = device_children($pid)) == 1 && $node->safe_psql('postgres', "select state from pg_stat_activity where pid = $pid") eq 'active' }), "$label: kill -9 of the backend: there was a device process");
	kill 'KILL', $pid;
	# the server knows once it has seen it off
	ok(wait_for(sub { !grep { -e "/proc/$_" } $pid, @children }, 20), "$label: kill -9 of the backend: and now there is none");
	$session->{run}->finish;
	ok( wait_for(sub { accepts($node) }, 60),
		"$label: the server is up again after kill -9 of a backend");
	is(scalar(temp_files($node)), 0, "$label: no temporary files are left");
	return;
}

test_device('cuda', $device) if defined $device;
test_device('stand-in', $standin) if defined $standin;

# ------------------------------------------------------------------ misbehaviour

# A fresh session's join under a backend: error, what is said of it, and result.
sub join_under
{
	my ($backend, $join) = @_;
	my ($session, $pid) = session($backend);

	$session->{stderr} = '';
	my $result = $session->query($join);
	my $stderr = $session->{stderr};
	my $last = $session->query($where);
	$session->quit;
	return ($stderr, $last, $result);
}

if (defined $standin)
{
	# it dies when it is asked for chunk n + 1 of the matches
	foreach my $chunks (0, 1, 2, 3, 5)
	{
		use_program($node, $standin, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
		foreach my $join (qw(inner left residual semi semi_residual anti anti_residual))
		{
			my ($stderr, $last, $result) = join_under('auto', $joins{$join});

			is($result, $expected{$join}, "dies after $chunks chunks, auto: $join join has the right rows")
			  or diag($stderr);
			# with few chunks the stream may be over before
			like($last, $chunks < 2 ? qr/^cpu\|f\|./ : qr/^cuda\|t\|$|^cpu\|f\|./,
				"dies after $chunks chunks, auto: $join join: " . ($last =~ /^cpu/ ? 'fell back' : 'was not asked again'));
		}
		my ($stderr, $last, $result) = join_under('cuda', $joins{inner});
		like($stderr, qr/ERROR: .*device process/s, "dies after $chunks chunks, cuda: an error");
	}

	foreach my $case (
		[ 'no program', qr/without CUDA/ ],
		[ 'HG_STANDIN_UNAVAILABLE', qr/no device/ ],
		[ 'HG_STANDIN_OUT_OF_MEMORY', qr/out of device memory/ ],
		[ 'HG_STANDIN_FAIL', qr/the device failed/ ])
	{
		my ($what, $why) = @$case;

		use_program($node, $what eq 'no program' ? (q{/nonexistent/hashgraph_device}) : ($standin, $what => 1));
		my ($stderr, $last, $result) = join_under('auto', $joins{inner});
		is($result, $expected{inner}, "$what, auto: the right rows");
		like($last, qr/^cpu\|f\|.*$why/, "$what, auto: hashgraph_last_joins() has the reason");
		($stderr, $last, $result) = join_under('auto', "explain (analyze, costs off) $joins{count}");
		like($result, qr/Backend: cpu\n *Fallback: .*$why/, "$what, auto: EXPLAIN has the reason");
		($stderr, $last) = join_under('cuda', $joins{inner});
		like($stderr, qr/ERROR: .*$why/, "$what, cuda: an error");
		like($stderr, qr/HINT: .*hashgraph\.backend/, "$what, cuda: ... with a hint");
		($stderr, $last, $result) = join_under('auto', "$measured('many1', 'k')");
		like($result, qr/^cpu\|f\|[^|]*$why[^|]*\|1000000\|1000000\|t$/, "$what, auto: a table is measured on the CPU");
		($stderr) = join_under('cuda', "$table, 'csr')");
		like($stderr, qr/ERROR: .*$why.*HINT: .*hashgraph\.backend/s, "$what, cuda: a table is an error with a hint");
		unlike($stderr, qr/nonexistent/, "$what, cuda: ... and nothing of a setting that not everyone may see") if $what eq 'no program';
	}

	# it dies between two ranges, with some of them delivered
	foreach my $chunks (3, 20)
	{
		use_program($node, $standin, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
		foreach my $join (qw(inner left semi_residual))
		{
			my ($stderr, $last, $result) = join_under("auto; set hashgraph.gpu_memory_limit = '256kB'", $joins{$join});

			is($result, $expected{$join}, "dies after $chunks chunks of ranges, auto: $join join has the right rows");
			like($last, qr/^cpu\|f\|./, "dies after $chunks chunks of ranges, auto: $join join fell back");
		}
	}

	# what decides is the backend that a join began with, whatever is set while a cursor reads it
	use_program($node, $standin, HG_STANDIN_DIE_AFTER_CHUNKS => 1);
	my ($code, $out, $err) = $node->psql('postgres', "set hashgraph.force = on; set hashgraph.backend = cuda;
		begin; declare c cursor for $joins{inner}; fetch 1 from c;
		set hashgraph.backend = auto; fetch all from c");
	like($err, qr/ERROR: .*device process/, 'begun under cuda: an error, though auto is set by then');

	# slow to start: auto does not wait, cuda does
	use_program($node, $standin, HG_STANDIN_START_DELAY_MS => 3000);
	my $result = $node->safe_psql('postgres', "set hashgraph.backend = auto; set hashgraph.force = on; $joins{count}; $where");
	is($result, "$expected{count}\ncpu|f|the device process is still starting", 'slow to start, auto: the CPU does it');
	$result = $node->safe_psql('postgres', "set hashgraph.backend = cuda; set hashgraph.force = on; $joins{count}; $where");
	is($result, "$expected{count}\ncuda|t|", 'slow to start, cuda: it is waited for');
	my ($rc, $stdout, $stderr) = $node->psql('postgres',
		"set hashgraph.backend = cuda; set hashgraph.force = on; set statement_timeout = 200; $joins{count}");
	like($stderr, qr/statement timeout/, 'slow to start, cuda: the wait can be cancelled');

	# lost while a join whose keys it has not got early waits for its job: another one is started
	my $reckons = PostgreSQL::Test::Utils::tempdir() . '/reckons';
	append_to_file($reckons, '');
	use_program($node, $standin, HG_STANDIN_START_DELAY_MS => 300, HG_STANDIN_RECKON_WHILE => $reckons);
	my $waits = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $waits->query('set hashgraph.force = on; set hashgraph.backend = cuda; select pg_backend_pid()');
	$waits->query_until(qr/begun/, "\\echo begun\n$joins{count}; $where; \\echo joined\n");
	ok(wait_for(sub { -s $reckons }, 20), 'a join waits for its job');
	kill 'KILL', device_children($pid);
	unlink $reckons;
	like($waits->query_until(qr/joined/, ''), qr/^$expected{count}\ncuda\|t\|\njoined/m, '... which is lost, and replaced');
	is($waits->{stderr}, '', '... without an error');
	$waits->quit;

	# small joins are not worth it
	use_program($node, $standin);
	is($node->safe_psql('postgres', "set hashgraph.force = on; set hashgraph.backend = auto; select count(*) from hashgraph_devices(); select count(*) from same a join d on w = z; $where"),
		"1\n80000\ncpu|f|", 'auto leaves small joins to the CPU, and that is no fallback');
}

session_ok($node, 'the server joins on');

$node->stop;
done_testing();
