# Aggregates whose groups the device makes: that it does, and that the result is right whatever
# becomes of the device meanwhile, or of memory on either side.  (sql/aggregates_reduced.sql
# compares many more queries with PostgreSQL's own.)

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();
my $program = $device // $standin;

my $KILLS = $ENV{HG_QUICK} ? 6 : 40;
use constant HANGS => 60;

# memory that was freed is of no use to anybody
$ENV{MALLOC_PERTURB_} = 85;

my $node = new_server('reduce', conf => <<'CONF');
work_mem = 64MB
hash_mem_multiplier = 1
max_worker_processes = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hashgraph.force = on
hashgraph.send_pages = off
hashgraph.gpu_wait_limit = '5min'
# the CPU joins no outer rows as they come, which it would do faster than a device
hashgraph.build = v2
CONF

$node->safe_psql('postgres', <<'SQL');
create table l as select case when i % 50 = 0 then null else i % 30000 end as k, i % 13 as g,
  case when i % 7 <> 0 then i - 50000 end as v, (i - 50000) * 92233720368547::int8 as big, i::int2 as small
  from generate_series(1, 32000) i;
create table r as select case when i % 60 = 0 then null else i % 25000 end as k, i as w, i % 5 as h, repeat('r', i % 9) as t
  from generate_series(1, 60000) i;
create table u as select i as k, i % 10 as x from generate_series(1, 20000) i;
create unique index on u (k);
analyze;
SQL

my %reduced = (
	'no groups' => 'select count(*), count(v), sum(v), avg(v), min(v), max(w) from l join r using (k)',
	'groups of one side' => 'select g, count(*), sum(v), avg(small), min(w) from l join r using (k) group by g',
	'groups of both' => 'select g, h, count(v), max(v), sum(w) from l join r using (k) group by g, h',
	'a semi join' => 'select g, count(*), sum(v) from l where exists (select 1 from r where r.k = l.k) group by g',
	'unique inner rows' => 'select x, count(*), sum(v) from l join u using (k) group by x',
	'three tables' => 'select g, x, count(*), sum(w) from l join r using (k) join u using (k) group by g, x',
	'no rows' => 'select count(*), sum(v), max(w) from l join r on l.k + 100000 = r.k',
	'sums beyond 64 bits' => 'select g, sum(big), avg(big), min(big) from l join r using (k) group by g');
# those whose tables are large enough, and read in one go
my %sent = map { $_ => 1 } 'no groups', 'groups of one side', 'groups of both', 'a semi join', 'sums beyond 64 bits';
my %streamed = (
	'a text' => 'select g, max(t), sum(v) from l join r using (k) group by g',
	'a filter' => 'select g, sum(v) filter (where w > 10) from l join r using (k) group by g',
	'an expression' => 'select g, sum(v + w) from l join r using (k) group by g',
	'a left join' => 'select g, sum(v), sum(w) from l left join r using (k) group by g',
	'a qual' => 'select g, sum(v), sum(w) from l join r on l.k = r.k and v < w group by g');
my %expected = map { $_ => rows_of($node, "set hashgraph.enabled = off;", $reduced{$_} // $streamed{$_}) }
  keys %reduced, keys %streamed;

# How many rows a plan says the device has reduced, and how many matches there were.
sub reduced_of
{
	my ($plan) = @_;
	my ($reduced) = $plan =~ /Rows Reduced on Device: (\d+)/;
	my ($matches) = $plan =~ /Matches: (\d+)/;

	return ($reduced // 0, $matches // 0);
}

# The job whose matches are reduced is the one that got keys while the tables were read.
sub test_sent
{
	my ($what, $settings, $query) = @_;
	my $plan;

	# on a busy machine they may be read before the device process has answered at all
	ok(wait_for(sub { ($plan = explain_analyze($node, $settings, $query)) =~ /Rows Reduced on Device.*Keys Sent During Scan: [1-9]/s }, HANGS),
		"$what: ... by a job that gets keys while they are read")
	  or diag($plan);
	return;
}

# ------------------------------------------------------------------ where it is done

foreach my $backend ('cuda', defined $standin ? 'auto' : ())
{
	my $settings = "set hashgraph.backend = $backend; set max_parallel_workers_per_gather = 0;";

	use_program($node, $backend eq 'auto' ? ($standin, HG_STANDIN_FAST => 1) : $program);
	foreach my $name (sort keys %reduced)
	{
		my $query = $reduced{$name};
		my $plan = explain_analyze($node, $settings, $query);
		my ($reduced, $matches) = reduced_of($plan);

		like($plan, qr/Backend: cuda/, "$backend, $name: the join is on the device");
		is($reduced, $matches, "$backend, $name: all of its matches are reduced there");
		like($plan, qr/HashGraphJoin\) \(actual rows=$matches(\.00)? /, "$backend, $name: ... and count as rows") if $name ne 'no rows';
		is(rows_of($node, $settings, $query), $expected{$name}, "$backend, $name: it is right");
		test_sent("$backend, $name", $settings, $query) if $sent{$name};
	}
	foreach my $name (sort keys %streamed)
	{
		my $plan = explain_analyze($node, $settings, $streamed{$name});

		like($plan, qr/Backend: cuda/, "$backend, $name: the join is on the device");
		unlike($plan, qr/Rows Reduced/, "$backend, $name: its matches are rows");
		is(rows_of($node, $settings, $streamed{$name}), $expected{$name}, "$backend, $name: it is right");
	}
	unlike(explain_analyze($node, "set hashgraph.backend = cpu; set max_parallel_workers_per_gather = 0;", $reduced{'no groups'}),
		qr/Rows Reduced/, "$backend: a CPU's matches are rows");

	# processes have the job together: one has the groups, and core combines them with none
	$settings = "set hashgraph.backend = $backend; set max_parallel_workers_per_gather = 3;";
	foreach my $name (sort keys %reduced)
	{
		my $plan = explain_analyze($node, $settings, $reduced{$name});
		my ($reduced, $matches) = reduced_of($plan);

		like($plan, qr/Parallel Custom Scan \(HashGraphJoin\)/, "$backend, $name: in parallel");
		is($reduced, $matches, "$backend, $name: all matches are reduced") if $plan =~ /Processes: 4/ && $name ne 'three tables';
		test_sent("$backend, $name, in parallel", $settings, $reduced{$name}) if $sent{$name};
		is(rows_of($node, $settings, $reduced{$name}), $expected{$name}, "$backend, $name: it is right in parallel");
		is(rows_of($node, "$settings set parallel_leader_participation = off;", $reduced{$name}),
			$expected{$name}, "$backend, $name: ... without the leader");
	}
	foreach my $name (sort keys %streamed)
	{
		is(rows_of($node, $settings, $streamed{$name}), $expected{$name}, "$backend, $name: it is right in parallel");
	}
	devices_become($node, 'jobs, staging_used, memory_held', '0|0|0', "$backend: nothing is left on the device");
}

# the statistics count a join once, with the matches of all
$node->safe_psql('postgres', "select hashgraph_stat_reset(); set hashgraph.backend = cuda; $reduced{'groups of both'}");
my $matches = $node->safe_psql('postgres', 'set hashgraph.enabled = off; select count(*) from l join r using (k)');
is($node->safe_psql('postgres', 'select joins, cuda_joins, fallbacks, matches, rows_out from hashgraph_stat'),
	"1|1|0|$matches|$matches", 'the statistics know the join');

# ------------------------------------------------------------------ memory

my $serial_cuda = 'set hashgraph.backend = cuda; set max_parallel_workers_per_gather = 0;';
my $parallel_cuda = 'set hashgraph.backend = cuda; set max_parallel_workers_per_gather = 3;';

# partitions of a join that does not fit work memory
foreach my $settings ($serial_cuda, $parallel_cuda)
{
	my $small = "$settings set work_mem = '256kB';";
	my $plan = explain_analyze($node, $small, $reduced{'groups of both'});
	my ($reduced, $of) = reduced_of($plan);

	like($plan, qr/Disk Usage/, 'the join goes to disk');
	is($reduced, $of, 'its partitions are reduced on the device');
	is(rows_of($node, $small, $reduced{'groups of both'}), $expected{'groups of both'}, '... and add up');
}

# more groups than work memory holds: by estimate, and in truth
my $many = 'select w, count(*), sum(v) from l join r using (k) group by w';
my $right = rows_of($node, 'set hashgraph.enabled = off;', $many);
foreach my $settings ($serial_cuda, $parallel_cuda)
{
	unlike(explain_analyze($node, "$settings set work_mem = '256kB';", $many), qr/Rows Reduced/, 'too many groups are not tried');
	is(rows_of($node, "$settings set work_mem = '256kB';", $many), $right, '... and are right');
}
$node->safe_psql('postgres', 'alter table r alter w set (n_distinct = 2); analyze r');
foreach my $settings ($serial_cuda, $parallel_cuda)
{
	# work memory for the rows of both sides, and not for groups that seemed to be two
	my $plan = explain_analyze($node, "$settings set work_mem = '3MB'; set hash_mem_multiplier = 1;", $many);

	like($plan, qr/Backend: cuda/, 'the matches come from the device');
	unlike($plan, qr/Rows Reduced/, 'groups that turn out to be too many are made of rows');
	is(rows_of($node, "$settings set work_mem = '3MB';", $many), $right, '... and are right');
	like(explain_analyze($node, "$settings set work_mem = '64MB';", $many), qr/Rows Reduced/, 'they are made on the device where there is memory');
}
$node->safe_psql('postgres', 'alter table r alter w reset (n_distinct); analyze r');

# what partial sums of int8 take beside their groups is work memory too
$node->safe_psql('postgres',
	'create table wide as select i as k, i::int8 as a, i * 3::int8 as b, i * 5::int8 as c, i * 7::int8 as d from generate_series(1, 20000) i; analyze wide');
my $wide = 'select sum(a), sum(b), sum(c), sum(d) from (select k, sum(a) as a, sum(b) as b, sum(c) as c, sum(d) as d'
  . ' from wide join u using (k) group by k offset 0) as s';
my $sums = rows_of($node, 'set hashgraph.enabled = off;', $wide);
foreach my $work_mem (5, 64)
{
	my $plan = explain_analyze($node, "$parallel_cuda set work_mem = '${work_mem}MB';", $wide);
	my ($kb) = $plan =~ /HashGraphAggregate.*?Memory Usage: (\d+) kB/s;

	cmp_ok($kb, '<=', $work_mem * 1024 * 1.5, "partial sums with $work_mem MB of work memory keep to it");
	like($plan, qr/Rows Reduced/, '... and are made on the device') if $work_mem == 64;
	is(rows_of($node, "$parallel_cuda set work_mem = '${work_mem}MB';", $wide), $sums, '... and are right');
}

if (!defined $standin)
{
	$node->stop;
	done_testing();
	exit;
}

# memory of the device: for rows, and not for their columns (of the stand-in: 32 bytes a row)
use_program($node, $standin, HG_STANDIN_FAST => 1);
my $rows_kb = int((31360 + 59000 + 2000) * 32 / 1024);
$node->safe_psql('postgres', "alter system set hashgraph.gpu_memory_limit = '${rows_kb}kB'");
$node->reload;
foreach my $settings ($serial_cuda, $parallel_cuda)
{
	my $plan = explain_analyze($node, $settings, $reduced{'groups of both'});

	like($plan, qr/Backend: cuda/, 'a device without room for columns joins all the same');
	unlike($plan, qr/Rows Reduced/, '... and returns matches');
	is(rows_of($node, $settings, $reduced{'groups of both'}), $expected{'groups of both'}, '... and is right');
}
$node->safe_psql('postgres', "alter system set hashgraph.gpu_memory_limit = '64kB'");
$node->reload;
foreach my $parallel (0, 3)
{
	my $settings = "set hashgraph.backend = auto; set max_parallel_workers_per_gather = $parallel;";

	is(rows_of($node, $settings, $reduced{'groups of both'}), $expected{'groups of both'}, 'a device without room for anything does no harm');
}
$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_memory_limit');
$node->reload;

# ... and for what it takes to make groups of them
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_FULL_OF_COLUMNS => 1);
foreach my $backend ('auto', 'cuda')
{
	foreach my $parallel (0, 3)
	{
		my $settings = "set hashgraph.backend = $backend; set max_parallel_workers_per_gather = $parallel;";
		my $plan = explain_analyze($node, $settings, $reduced{'groups of both'});

		like($plan, qr/Backend: cuda/, "no memory to reduce, $backend, $parallel workers: the device joins all the same");
		unlike($plan, qr/Rows Reduced|Fallback/, '... and returns matches');
		is(rows_of($node, $settings, $reduced{'groups of both'}), $expected{'groups of both'}, '... and is right');
	}
}

# ------------------------------------------------------------------ a device that fails

# What becomes of a query under auto, which is right, and under cuda, which is an error.
sub test_failure
{
	my ($what, $sqlstate, %switches) = @_;

	foreach my $parallel (0, 3)
	{
		my $settings = "set max_parallel_workers_per_gather = $parallel;";
		my $query = $reduced{'groups of both'};

		use_program($node, $standin, HG_STANDIN_FAST => 1, %switches);
		like(explain_analyze($node, "set hashgraph.backend = auto; $settings", $query), qr/Backend: cpu.*Fallback: /s,
			"$what, auto, $parallel workers: the CPU joins");
		use_program($node, $standin, HG_STANDIN_FAST => 1, %switches);
		is(rows_of($node, "set hashgraph.backend = auto; $settings", $query), $expected{'groups of both'}, '... and is right');
		use_program($node, $standin, HG_STANDIN_FAST => 1, %switches);
		my $session = RawSession->new($node);
		$session->query("$settings set hashgraph.backend = cuda");
		$session->query($query);
		is($session->{sqlstate}, $sqlstate, "$what, cuda, $parallel workers: an error of its class");
		$session->query("set hashgraph.backend = cpu; $query");
		is(join("\n", sort @{ $session->{rows} }), $expected{'groups of both'}, '... and the session goes on');
		close $session->{socket};
	}
	return;
}

test_failure('lost in the middle', '58000', HG_STANDIN_DIE_AFTER_CHUNKS => 1);
test_failure('broken', '58000', HG_STANDIN_FAIL => 1);

# one that takes too long, and one that is told to stop
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_COUNT_MS => 60_000);
foreach my $parallel (0, 3)
{
	my $settings = "set max_parallel_workers_per_gather = $parallel;";
	my $session = RawSession->new($node);

	is(rows_of($node, "set hashgraph.backend = auto; set hashgraph.gpu_wait_limit = '100ms'; $settings", $reduced{'groups of both'}),
		$expected{'groups of both'}, "$parallel workers: auto does not wait for long");
	use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_COUNT_MS => 60_000);
	$session->query("$settings set hashgraph.backend = cuda; set statement_timeout = '200ms'");
	# well before it were done: what a cancel takes has a bar in test/perf
	$session->send($reduced{'groups of both'});
	ok($session->finish(50), "$parallel workers: a reduction of a minute is given up");
	is($session->{sqlstate}, '57014', '... as it is cancelled');
	close $session->{socket};
}
devices_become($node, 'jobs, staging_used', '0|0', 'nothing is left on the device');

# ------------------------------------------------------------------ killed at random moments

foreach my $backend ('auto', 'cuda')
{
	my $session = RawSession->new($node);
	my %seen;
	my @bad;

	$session->query("set hashgraph.backend = $backend; set hashgraph.gpu_wait_limit = '1s'");
	for my $round (1 .. $KILLS)
	{
		my $name = ('no groups', 'groups of both', 'a semi join')[ rand 3 ];
		my $signal = (qw(KILL SEGV STOP))[ $round % 3 ];

		$session->query('set max_parallel_workers_per_gather = ' . ($round % 2 ? 3 : 0));
		use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_BUILD_MS => 5, HG_STANDIN_COUNT_MS => 5);
		my $pid = device_process($node);
		$session->send($reduced{$name});
		random_moment(0.06);
		kill $signal, $pid;
		if ($signal eq 'STOP' && $backend eq 'cuda')
		{
			random_moment(0.5);
			kill((rand() < 0.5 ? 'CONT' : 'KILL'), $pid);
		}
		push @bad, "$name, $signal: no answer" if !$session->finish(HANGS);
		kill 'KILL', $pid if $signal eq 'STOP';
		if (defined $session->{error})
		{
			$seen{error}++;
			push @bad, "$name, $signal: $session->{sqlstate} $session->{error}"
			  if $backend eq 'auto' || $session->{sqlstate} !~ /^(58000|55000)$/;
		}
		else
		{
			my $rows = join "\n", sort @{ $session->{rows} };

			$seen{rows}++;
			push @bad, "$name, $signal: $rows" if $rows ne $expected{$name};
		}
	}
	ok(!@bad, "$backend: killed $KILLS times: " . join(', ', map { "$seen{$_} times $_" } sort keys %seen)) or diag(join "\n", @bad);
	close $session->{socket};
}
devices_become($node, 'jobs, staging_used', '0|0', 'nothing is left on the device');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|server process .* was terminated|other active server processes/,
	'the server has nothing to complain of');
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
