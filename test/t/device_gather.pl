# Columns that come from the device with the matches: that they do, and that the rows are right
# whatever becomes of the device meanwhile, or of memory.  (sql/join_gather.sql compares many more
# queries with PostgreSQL's own.)
#
# Under HG_QUICK devices are lost after none and after two chunks of matches only, and fewer joins are stopped on their way.
#
# Takes long: it begins before others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cuda' unless covers('cuda');

my $standin = standin_program();

plan skip_all => 'the stand-in was not built: make unit' unless defined $standin;

# memory that was freed is of no use to anybody
$ENV{MALLOC_PERTURB_} = 85;

my $node = new_server('gather', conf => <<'CONF');
work_mem = 64MB
hash_mem_multiplier = 1
max_parallel_workers_per_gather = 0
hashgraph.force = on
hashgraph.gpu_wait_limit = '5min'
CONF

$node->safe_psql('postgres', <<'SQL');
create table l as select case when i % 50 = 0 then null else i % 3000 end as k, i % 13 as g, i::int2 as small, i % 2 = 0 as even,
  case when i % 7 <> 0 then i - 9000 end as v, case when i % 5 <> 0 then i * 4611686018427::int8 end as big, chr(65 + i % 26)::"char" as c
  from generate_series(1, 12000) i;
create table r as select case when i % 60 = 0 then null else i % 3000 end as k, i as w, repeat('r', i % 9) as t from generate_series(1, 20000) i;
create table n as select i::numeric as k, -i as x from generate_series(1, 6000) i;
create table u as select i as k, i % 10 as x from generate_series(1, 4000) i;
create unique index on u (k);
analyze;
SQL

# queries, and how many columns are gathered: none where few matches are expected
my %columns = (
	'both sides' => [ 6 + 1, 'select l.g, small, even, v, big, c, w from l join r using (k)' ],
	'one side, as the other has a text' => [ 1, 'select v, t from l join r using (k)' ],
	'no side' => [ 0, 'select t from l join r using (k)' ],
	'a left join' => [ 3, 'select l.k, v, w from l left join r using (k)' ],
	'a full join' => [ 4, 'select l.k, r.k, v, w from l full join r using (k)' ],
	'a qual' => [ 2, 'select v, w from l join r on l.k = r.k and v < w' ],
	'a left join with a qual' => [ 2, 'select v, w from l left join r on l.k = r.k and v < w' ],
	'a semi join' => [ 2, 'select v, even from l where exists (select 1 from r where r.k = l.k)' ],
	'a semi join with a qual' => [ 0, 'select v, big from l where exists (select 1 from r where r.k = l.k and w > v)' ],
	'an anti join' => [ 0, 'select v, big from l where not exists (select 1 from r where r.k = l.k)' ],
	'an anti join with a qual' => [ 0, 'select v, big from l where not exists (select 1 from r where r.k = l.k and w > v)' ],
	'a row filter' => [ 2, 'select v, w from l join r using (k) where coalesce(v, 0) + w > 1000' ],
	'unique inner rows' => [ 2, 'select v, x from l join u using (k)' ],
	'a computed key that is no number by value, as it is held with the rows' => [ 0, 'select v, x from l join n on l.k::numeric = n.k' ]);

my %expected = map { $_ => rows_of($node, 'set hashgraph.enabled = off;', $columns{$_}[1]) } keys %columns;

sub gathered_of
{
	my ($settings, $query) = @_;
	my $plan = explain_analyze($node, $settings, $query);

	return $plan =~ /Columns Gathered on Device: (\d+)/ ? $1 : 0;
}

# ------------------------------------------------------------------ where it is done

foreach my $backend ('cuda', 'auto')
{
	# auto would join most of these as they come, on the CPU, if settings let it
	my $settings = "set hashgraph.backend = $backend; set hashgraph.build = v2;";

	use_program($node, $standin, HG_STANDIN_FAST => 1);
	foreach my $name (sort keys %columns)
	{
		my ($columns, $query) = @{ $columns{$name} };

		is(gathered_of($settings, $query), $columns, "$backend, $name: columns are gathered");
		is(rows_of($node, $settings, $query), $expected{$name}, "$backend, $name: the rows are right");
	}
}
is(gathered_of('set hashgraph.backend = cpu;', $columns{'both sides'}[1]), 0, 'the CPU gathers none');
is(gathered_of('set hashgraph.backend = auto;', $columns{$_}[1]), 0, "auto, $_: outer rows are joined as they come, and not sent")
	foreach 'a qual', 'a semi join';
is(gathered_of('set hashgraph.backend = cuda;', 'select v, w from l join r using (k) where l.k = 17 and r.k = 17'),
	0, 'a few values are not worth their messages');
is(gathered_of('set hashgraph.backend = cuda;', 'select sum(v), min(w) from l join r using (k)'), 0, 'groups need none');

# the job that is given keys while the tables are read has the columns too
$node->safe_psql('postgres', <<'SQL');
create table early_l as select n as k, n * 3 as v from generate_series(1, 150000) n;
create table early_r as select n as k, case when n % 9 > 0 then n * 5::bigint end as w from generate_series(1, 200000, 2) n;
vacuum analyze early_l, early_r;
SQL
foreach my $query ('select v, w from early_l join early_r using (k)', 'select v, w from early_l left join early_r using (k)')
{
	my $settings = 'set max_parallel_workers_per_gather = 0; set hashgraph.backend = cuda;';
	my $plan;

	# it gets them where the device answers before the tables are read
	ok( wait_for(
			sub {
				$plan = explain_analyze($node, $settings, $query);
				return $plan =~ /Keys Sent During Scan: [1-9]/;
			},
			60),
		"$query: a job gets keys during the scan ...");
	like($plan, qr/Columns Gathered on Device: 2$/m, '... and gathers columns');
	is(rows_of($node, $settings, $query), rows_of($node, 'set hashgraph.enabled = off;', $query), '... and the rows are right');
}

# partitions of a join that does not fit work memory: each has few values
is(rows_of($node, "set hashgraph.backend = cuda; set work_mem = '256kB';", $columns{$_}[1]), $expected{$_}, "$_, from files: the rows are right")
  foreach 'both sides', 'a semi join', 'a full join', 'a left join with a qual';

# a rescan, a cursor that is left, and a limit
my $lateral = 'select n, v, w from generate_series(1, 3) n, lateral (select v, w from l join r using (k) where v > n * 100 offset 0) j';
is(rows_of($node, 'set hashgraph.backend = cuda;', $lateral), rows_of($node, 'set hashgraph.enabled = off;', $lateral), 'rescans are right');
my $loop = 'select count(*), sum(w) from (values (1), (2)) n(i) left join (select v, w from l join r using (k) offset 0) j on j.v > n.i';
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; set enable_material = off; set enable_hashjoin = off; set enable_mergejoin = off; $loop"), $node->safe_psql('postgres', "set hashgraph.enabled = off; $loop"),
	'rescans of the same rows are right');
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; select count(*), count(v) <= 10 from (select v, w from l join r using (k) limit 10) x"), '10|t', 'a limit');
is($node->safe_psql('postgres', <<'SQL'), "12\n12\nt", 'a cursor');
set hashgraph.backend = cuda;
begin;
declare c cursor for select v, w from l join r using (k);
\o /dev/null
fetch 12 from c;
\o
select count(*) from (select v, w from l join r using (k) limit 12) x;
select count(*) from (select v, w from l join u using (k) join r using (k) limit 12) x;
close c;
select count(*) > 0 from l join r using (k);
commit;
SQL

# ------------------------------------------------------------------ memory and failures

# room for the rows on the device, and not for their columns (of the stand-in: 32 bytes a row)
my $rows_kb = int((11760 + 19667 + 1500) * 32 / 1024);
$node->safe_psql('postgres', "alter system set hashgraph.gpu_memory_limit = '${rows_kb}kB'");
$node->reload;
is(gathered_of('set hashgraph.backend = cuda;', $columns{'both sides'}[1]), 0, 'without room for columns there are none');
is(rows_of($node, 'set hashgraph.backend = cuda;', $columns{'both sides'}[1]), $expected{'both sides'}, '... and the rows are right');
$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_memory_limit');
$node->reload;

use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_FULL_OF_COLUMNS => 1);
my $plan = $node->safe_psql('postgres', "set hashgraph.backend = cuda; explain (analyze, costs off, timing off) $columns{'both sides'}[1]");
like($plan, qr/Backend: cuda/, 'a device that runs out of memory when it has columns joins without');
unlike($plan, qr/Gathered/, '... and gathers none');
is(rows_of($node, 'set hashgraph.backend = cuda;', $columns{'both sides'}[1]), $expected{'both sides'}, '... and the rows are right');

# lost after some chunks: the CPU has the rest, whose values are in memory
foreach my $chunks ($ENV{HG_QUICK} ? (0, 2) : (0 .. 3))
{
	foreach my $name ('both sides', 'a full join', 'a qual', 'a semi join', 'an anti join with a qual')
	{
		my $query = $columns{$name}[1];

		use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
		is(rows_of($node, 'set hashgraph.backend = auto;', $query), $expected{$name}, "lost after $chunks chunks, $name: right");
	}
	use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
	like($node->safe_psql('postgres', "set hashgraph.backend = auto; set hashgraph.build = v2; explain (analyze, costs off, timing off) $columns{'both sides'}[1]"),
		qr/Backend: cpu.*Fallback: /s, "lost after $chunks chunks: the CPU went on");
	use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
	my $session = RawSession->new($node);
	$session->query('set hashgraph.backend = cuda');
	$session->query($columns{'both sides'}[1]);
	is($session->{sqlstate}, '58000', "lost after $chunks chunks, cuda: an error of its class");
	close $session->{socket};
}

# cancelled while rows come
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_BUILD_MS => 60_000);
my $session = RawSession->new($node);
$session->query("set hashgraph.backend = cuda; set statement_timeout = '200ms'");
$session->query($columns{'both sides'}[1]);
is($session->{sqlstate}, '57014', 'a join is cancelled');
close $session->{socket};

# ------------------------------------------------------------------ processes that join together

# Matches are kept by each process until all of them have theirs: only narrow columns, or large
# tables, are worth that.
$node->safe_psql('postgres', <<'SQL');
create table tl as select case when i % 50 = 0 then null else i % 6000 end as k, case when i % 11 > 0 then i % 1000 - 500 end::int2 as small,
  i % 3 = 0 as even, chr(65 + i % 26)::"char" as c, case when i <= 100000 then i end as v, repeat('l', i % 9) as t, i as id,
  case when i % 5000 <> 7 then (i % 900)::int2 end as rare from generate_series(1, 120000) i;
create table tr as select case when i % 60 = 0 then null else i % 6500 end as k, case when i % 13 > 0 then i % 2 = 0 end as b,
  (i % 2000)::int2 as s, i as w from generate_series(1, 22000) i;
create table tu as select i as k, (i % 100)::int2 as s, i % 2 = 0 as b from generate_series(1, 7000) i;
create unique index on tu (k);
-- the planner knows of each key once
create table tm as select i as k, (i % 1000)::int2 as s, i % 2 = 0 as b from generate_series(1, 100000) i;
create function slow(int) returns bool immutable parallel safe language plpgsql as 'begin return true; end';
analyze;
update tm set k = k % 5000;
SQL

my $together = 'set max_parallel_workers_per_gather = 3; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;';
# queries, and how many columns are gathered; unknown where it is not theirs to share matches, or the
# planner has no idea how many there are
my %shared = (
	'both sides' => [ 7, 'select tl.small, even, c, v, b, s, w from tl join tr using (k)' ],
	'one side, as the other has a text' => [ 3, 'select t, b, s, w from tl join tr using (k)' ],
	'no side' => [ 0, 'select t from tl join tr using (k)' ],
	'a left join' => [ 5, 'select tl.small, even, c, b, s from tl left join tr using (k)' ],
	'a full join' => [ 5, 'select tl.small, even, c, b, s from tl full join tr using (k)' ],
	'a qual' => [ 4, 'select tl.small, even, b, s from tl join tr on tl.k = tr.k and small < s' ],
	'a left join with a qual' => [ 4, 'select tl.small, even, b, s from tl left join tr on tl.k = tr.k and small < s' ],
	'a semi join' => [ 2, 'select tl.small, even from tl where exists (select 1 from tr where tr.k = tl.k)' ],
	'a semi join with a qual' => [ undef, 'select tl.small, even from tl where exists (select 1 from tr where tr.k = tl.k and w > id)' ],
	'an anti join' => [ 0, 'select tl.small, even from tl where not exists (select 1 from tr where tr.k = tl.k)' ],
	'a row filter' => [ 4, 'select tl.small, even, b, s from tl join tr using (k) where coalesce(small, 0) + s > 100' ],
	'unique inner rows' => [ 4, 'select tl.small, even, s, b from tl join tu using (k)' ],
	'keys that are hashed' => [ undef, 'select tl.small, even, b, s from tl join tr on tl.k::numeric = tr.k::numeric' ],
	'keys that are not sent early' => [ 4, 'select tl.small, even, b, s from tl join tr using (k) where slow(tr.k)' ]);

# the number of the rows, and a checksum in no order
sub sum_of
{
	my ($settings, $query) = @_;

	return $node->safe_psql('postgres', "$settings $together select count(*), sum(hashtextextended(x::text, 1)::numeric) from ($query offset 0) x");
}

sub shared_plan
{
	my ($settings, $query) = @_;

	return explain_analyze($node, "$settings $together", $query);
}

my %sums = map { $_ => sum_of('set hashgraph.enabled = off;', $shared{$_}[1]) } keys %shared;

foreach my $backend ('cuda', 'auto')
{
	# auto would join most of these as they come, on the CPU, if settings let it
	my $settings = "set hashgraph.backend = $backend; set hashgraph.build = v2;";

	use_program($node, $standin, HG_STANDIN_FAST => 1);
	foreach my $name (sort keys %shared)
	{
		my ($columns, $query) = @{ $shared{$name} };
		my $plan = shared_plan($settings, $query);

		like($plan, qr/Parallel Custom Scan \(HashGraphJoin\).*Processes: 4/s, "$backend, together, $name: the processes join together");
		is($plan =~ /Columns Gathered on Device: (\d+)/ ? $1 : 0, $columns, "$backend, together, $name: columns are gathered")
		  if defined $columns;
		is(sum_of($settings, $query), $sums{$name}, "$backend, together, $name: the rows are right");
		is(sum_of("$settings set parallel_leader_participation = off;", $query), $sums{$name}, "$backend, together, $name: ... without the leader");
	}
}
ok(wait_for(sub { shared_plan('set hashgraph.backend = cuda;', $shared{'both sides'}[1]) =~ /Gathered on Device: 7\n.*Keys Sent During Scan: [1-9]/s }, 60),
	'together: the job that gets keys during the scans has the columns');
unlike(shared_plan('set hashgraph.backend = cuda;', $shared{'keys that are not sent early'}[1]), qr/Keys Sent During Scan/,
	'together: ... and so has the one that does not');

my $again = 'select g, x.* from generate_series(1, 3) g, lateral (select tl.small, even, b, s from tl join tr using (k) where v > g * 1000 offset 0) x';
is(sum_of('set hashgraph.backend = cuda; set enable_material = off; set enable_memoize = off;', $again), sum_of('set hashgraph.enabled = off;', $again),
	'together: rescans are right');
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $together select count(*) from (select tl.small, even, b, s from tl join tr using (k) limit 10) x"),
	'10', 'together: a limit');

# memory for the matches of all processes, and for their values of one side or none
my $many = 'select a.s, a.b, z.s, z.b from tm a join tm z using (k)';
my $sum = sum_of('set hashgraph.enabled = off;', $many);
foreach my $case ([ '64MB', 4 ], [ '8500kB', 2 ], [ '6500kB', 0 ])
{
	my ($work_mem, $columns) = @$case;
	my $settings = "set hashgraph.backend = cuda; set work_mem = '$work_mem';";
	my $found = shared_plan($settings, $many);

	like($found, qr/Backend: cuda.*Processes: 4/s, "together, $work_mem: the processes join together");
	is($found =~ /Columns Gathered on Device: (\d+)/ ? $1 : 0, $columns, "together, $work_mem: columns are gathered where their values fit");
	is(sum_of($settings, $many), $sum, "together, $work_mem: the rows are right");
}

# where the matches alone are too many they are streamed, without the values of columns that the job
# has, and values are looked up by row
my $streamed = "set hashgraph.backend = cuda; set work_mem = '4MB';";
my $streams = shared_plan($streamed, $many);
like($streams, qr/Backend: cuda.*Processes: 4/s, 'together, streamed: the processes join together');
unlike($streams, qr/Gathered/, 'together, streamed: ... and gather no columns');
foreach my $settings ($streamed, "$streamed set parallel_leader_participation = off;")
{
	is(sum_of($settings, $many), $sum, "together, streamed: the rows are right with $settings");
}
my $filled = 'select a.s, a.b, z.s as s2 from tm a full join tm z on a.k = z.k and a.s < z.s';
is(sum_of($streamed, $filled), sum_of('set hashgraph.enabled = off;', $filled), 'together, streamed: a full join with a qual');
is($node->safe_psql('postgres', "$streamed $together select count(*) from ($many limit 1000) x"), '1000', 'together, streamed: a limit');
like(shared_plan("set hashgraph.backend = auto; set work_mem = '4MB';", $many),
	qr/Backend: cpu.*Fallback: the matches of the join need more than work memory/s, 'together, streamed: auto has the CPU do it');
is(sum_of("set hashgraph.backend = auto; set work_mem = '4MB';", $many), $sum, 'together, streamed: ... with the same rows');

# a block of matches is filled by many answers, few of which have a NULL
$node->safe_psql('postgres', "alter system set hashgraph.staging_size = '1MB'");
$node->reload;
use_program($node, $standin, HG_STANDIN_FAST => 1);
my $rare = 'select rare, even, b, s from tl join tr using (k)';
like(shared_plan('set hashgraph.backend = cuda;', $rare), qr/Gathered on Device: 4\n.*Processes: 4/s, 'together, little staging: columns are gathered');
is(sum_of('set hashgraph.backend = cuda;', $rare), sum_of('set hashgraph.enabled = off;', $rare), 'together, little staging: the rows are right');
$node->safe_psql('postgres', 'alter system reset hashgraph.staging_size');
$node->reload;

# a device without room for columns, and for what it takes to gather them
$rows_kb = int((117600 + 21634) * 32 / 1024 + 10);
foreach my $case ([ "set hashgraph.gpu_memory_limit = '${rows_kb}kB';" ], [ '', HG_STANDIN_FULL_OF_COLUMNS => 1 ])
{
	my ($settings, @switches) = @$case;

	use_program($node, $standin, HG_STANDIN_FAST => 1, @switches);
	foreach my $name ('both sides', 'a full join', 'keys that are not sent early')
	{
		my $found = shared_plan("set hashgraph.backend = cuda; $settings", $shared{$name}[1]);

		like($found, qr/Backend: cuda.*Processes: 4/s, "together, no room for columns, $name: the processes join without @switches");
		unlike($found, qr/Gathered/, "together, no room for columns, $name: ... and gather none");
		is(sum_of("set hashgraph.backend = cuda; $settings", $shared{$name}[1]), $sums{$name}, "together, no room for columns, $name: right");
	}
}

# lost before the last value is there: no row has been returned
foreach my $chunks ($ENV{HG_QUICK} ? (0, 2) : (0 .. 2))
{
	foreach my $name ('both sides', 'a full join', 'a qual', 'a semi join')
	{
		use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
		is(sum_of('set hashgraph.backend = auto;', $shared{$name}[1]), $sums{$name}, "together, lost after $chunks chunks, $name: right");
	}
	use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
	my $found = shared_plan('set hashgraph.backend = auto;', $shared{'both sides'}[1]);
	like($found, qr/Backend: cpu.*Fallback: /s, "together, lost after $chunks chunks: all went on with the CPU");
	unlike($found, qr/Gathered/, "together, lost after $chunks chunks: ... which gathers none");
	use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
	my $session = RawSession->new($node);
	$session->query("set hashgraph.backend = cuda; $together");
	$session->query($shared{'both sides'}[1]);
	is($session->{sqlstate}, '58000', "together, lost after $chunks chunks, cuda: an error of its class");
	close $session->{socket};
}

# stopped at any moment
use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_BUILD_MS => 20);
my $stopped = RawSession->new($node);
my @ends = (0, 0);
$stopped->query("set hashgraph.backend = cuda; $together");
for my $round (1 .. ($ENV{HG_QUICK} ? 12 : 40))
{
	$stopped->query('set statement_timeout = ' . (1 + int rand 250));
	$stopped->query("select count(*), sum(hashtextextended(x::text, 1)::numeric) from ($shared{'both sides'}[1] offset 0) x");
	$ends[ defined $stopped->{error} ]++;
	my $rows = join "\n", @{ $stopped->{rows} };
	fail("together, stopped: " . ($stopped->{error} // $rows))
	  if defined $stopped->{error} ? $stopped->{sqlstate} ne '57014' : $rows ne $sums{'both sides'};
}
ok($ends[1] > 0, 'together: some joins are stopped on their way');
close $stopped->{socket};

devices_become($node, 'jobs, staging_used', '0|0', 'nothing is left on the device');
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
