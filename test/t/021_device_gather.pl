# Columns that come from the device with the matches: that they do, and that the rows are right
# whatever becomes of the device meanwhile, or of memory.  (sql/join_gather.sql compares many more
# queries with PostgreSQL's own.)

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
	'keys that are hashed' => [ 2, 'select v, x from l join n on l.k::numeric = n.k' ]);

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
	my $settings = "set hashgraph.backend = $backend;";

	use_program($node, $standin, HG_STANDIN_FAST => 1);
	foreach my $name (sort keys %columns)
	{
		my ($columns, $query) = @{ $columns{$name} };

		is(gathered_of($settings, $query), $columns, "$backend, $name: columns are gathered");
		is(rows_of($node, $settings, $query), $expected{$name}, "$backend, $name: the rows are right");
	}
}
is(gathered_of('set hashgraph.backend = cpu;', $columns{'both sides'}[1]), 0, 'the CPU gathers none');
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
	my $plan = explain_analyze($node, $settings, $query);

	like($plan, qr/Columns Gathered on Device: 2$/m, "$query: columns are gathered ...");
	like($plan, qr/Keys Sent During Scan: [1-9]/, '... by the job that got keys during the scan');
	is(rows_of($node, $settings, $query), rows_of($node, 'set hashgraph.enabled = off;', $query), '... and the rows are right');
}

# partitions of a join that does not fit work memory: each has few values
is(rows_of($node, "set hashgraph.backend = cuda; set work_mem = '256kB';", $columns{$_}[1]), $expected{$_}, "$_, from files: the rows are right")
  foreach 'both sides', 'a semi join', 'a full join', 'a left join with a qual';

# a rescan, a cursor that is left, and a limit
my $lateral = 'select n, v, w from generate_series(1, 3) n, lateral (select v, w from l join r using (k) where v > n * 100 offset 0) j';
is(rows_of($node, 'set hashgraph.backend = cuda;', $lateral), rows_of($node, 'set hashgraph.enabled = off;', $lateral), 'rescans are right');
my $loop = 'set enable_material = off; set enable_hashjoin = off; set enable_mergejoin = off; select count(*), sum(w) from (values (1), (2)) n(i) left join (select v, w from l join r using (k) offset 0) j on j.v > n.i';
is($node->safe_psql('postgres', "set hashgraph.backend = cuda; $loop"), $node->safe_psql('postgres', "set hashgraph.enabled = off; $loop"),
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
foreach my $chunks (0, 1, 2, 3)
{
	foreach my $name ('both sides', 'a full join', 'a qual', 'a semi join', 'an anti join with a qual')
	{
		my $query = $columns{$name}[1];

		use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
		is(rows_of($node, 'set hashgraph.backend = auto;', $query), $expected{$name}, "lost after $chunks chunks, $name: right");
	}
	use_program($node, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_DIE_AFTER_CHUNKS => $chunks);
	like($node->safe_psql('postgres', "set hashgraph.backend = auto; explain (analyze, costs off, timing off) $columns{'both sides'}[1]"),
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

ok(wait_for(sub { ($node->safe_psql('postgres', q{select state || jobs || staging_used from hashgraph_devices()})) eq 'ready00' }, 60),
	'nothing is left on the device');
session_ok($node, 'the server joins on');
$node->stop;
done_testing();
