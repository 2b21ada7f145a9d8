# Joins that count their outer rows before they choose between an index and hashing give the rows of PostgreSQL's own plans:
# random queries whose filters leave a thousand times more rows than the planner expects, or as few, in little memory and much, in
# one process and several, executed once and again; rows that change while they are being locked; and processes that wait for each other.
#
# HG_SEED chooses the queries, HG_QUERIES how many (400, with HG_QUICK 40).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{HG_SEED} // 38;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 40 : 400);
my $node = new_server('adaptive', conf => "max_parallel_workers_per_gather = 0\nhashgraph.resident_memory = '64MB'\n");

# f is 1 in each row of the outer table, and the planner does not know what it is computed with
$node->safe_psql('postgres', <<'SQL');
create table o (id int, a int4, b int8, t text, x numeric, d date, v int, f int, pad text);
insert into o select i, case when i % 37 > 0 then (i * 7919::int8 % 30000)::int end, case when i % 41 > 0 then i % 5000 end, case when i % 43 > 0 then 'k' || i * 31 % 20000 end,
  case when i % 47 > 0 then (i % 9000) / 10.0 end, date '2000-01-01' + i % 3000, i % 100, 1, repeat('p', i % 50) from generate_series(1, 40000) i;
create table n (id int primary key, a int4, b int8, t text, x numeric, d date, w int, u text);
insert into n select i, case when i % 31 > 0 then i % 25000 end, case when i % 29 > 0 then i * 104729::int8 % 6000 end, case when i % 23 > 0 then 'k' || i * 17 % 24000 end,
  case when i % 19 > 0 then (i % 8000) / 10.00 end, date '2000-01-01' + i % 3500, i % 50, 'u' || i from generate_series(1, 30000) i;
create index on n (a);
create index on n (b, w);
create index on n (t);
create index on n (x);
create index on n (d, w);
vacuum analyze o;
vacuum analyze n;
SQL

srand $seed;
sub one_of { return $_[ rand @_ ]; }

my %results = (
	'join' => [ 'o.id, n.u', 'o.*, n.w', 'count(*)', 'count(*), sum(n.w), max(o.pad), min(n.u)', 'o.v + n.w as s, upper(n.u) as u', 'n.*' ],
	'left join' => [ 'o.id, n.u', 'count(*), count(n.id)', 'o.pad, coalesce(n.w, -1) as w' ]);

sub random_query
{
	my $key = one_of('o.a = n.a', 'o.b = n.b', 'o.t = n.t', 'o.x = n.x', 'o.d = n.d', 'o.b = n.b and o.v = n.w', 'o.d = n.d and o.v = n.w', 'o.a = n.id', 'o.id = n.id', 'o.a + 1 = n.a', 'o.b = n.id', 'lower(o.t) = n.t');
	my $clause = $key . one_of('', '', ' and o.v < n.w', ' and (o.v + n.w) % 3 = 0', ' and n.w > 10');
	my $filter = 'o.f + 0 = 1 and o.f - 1 = 0' . one_of('', ' and o.id % 1000 < 2', ' and o.v < 3', ' and o.id <= 100', ' and o.f = 2', ' and o.a is not null');
	my $inner = one_of('n', 'n', '(select * from n where w < 40) n');
	my $kind = one_of('join', 'join', 'left join', 'exists', 'not exists', 'again', 'two');

	return "select o.id, o.pad from o where $kind (select from $inner where $clause) and $filter" if $kind =~ /exists/;
	return "select z, s.* from (values (0), (3), (100000)) z (z), lateral (select count(*) as c, sum(n.w) as w, max(n.u) as u from o join $inner on $clause where $filter and o.id < z offset 0) s" if $kind eq 'again';
	return "select count(*), sum(n.w), min(m.u), max(o.pad) from o join $inner on $clause left join n m on m.id = n.id + 1 where $filter" if $kind eq 'two';
	return 'select ' . one_of(@{ $results{$kind} }) . " from o $kind $inner on $clause where $filter";
}

my $session = $node->background_psql('postgres', on_error_stop => 0);
my ($adaptive, $together, $shown) = (0, 0, 0);

foreach my $number (1 .. $queries)
{
	my $query = random_query();
	my $settings = join ' ', map { "set $_;" } 'work_mem = ' . one_of(q{'64kB'}, q{'256kB'}, q{'4MB'}), 'enable_memoize = ' . one_of('on', 'off'),
	  one_of('max_parallel_workers_per_gather = 0', 'max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0'),
	  'enable_parallel_hash = ' . one_of('on', 'on', 'off');
	my ($ours, $theirs) = map { scalar $session->query("$settings set hashgraph.enabled = $_; select count(*), sum(hashtextextended(r::text, 0)::numeric) from ($query) r") } 'on', 'off';

	my $plan = $session->query("$settings set hashgraph.enabled = on; explain $query");

	$adaptive++ if $plan =~ /Switch At Rows/;
	$together++ if $plan =~ /Switch At Rows.*Parallel Seq Scan on o\b.*Parallel Seq Scan on n\b/s;
	next if $ours eq $theirs && $ours ne '';
	is($ours, $theirs, "$number: $settings $query") if $shown++ < 5;
}
is($shown, 0, "none of $queries queries has other rows (HG_SEED=$seed)");
cmp_ok($adaptive, '>=', $queries / 2, 'half of them are adaptive at least');
cmp_ok($together, '>=', $queries / 10, '... and processes share one in ten at least');
is($session->{stderr}, '', '... without an error');

# the counters of the database tell of them
$node->safe_psql('postgres', 'select hashgraph_stat_reset()');
my $counted = 'select count(*), sum(n.w) from o join n on o.a = n.id where o.f + 0 = 1 and o.f - 1 = 0 and o.id <= ';
$node->safe_psql('postgres', "$counted $_") foreach 3, 40000, 40000;
is($node->safe_psql('postgres', 'select joins, lookups, switches from hashgraph_stat'), '3|1|2', 'joins by an index, and those that switched, are counted');

# Fewer rows are looked up where the index finds more for each of them than expected: here many times as many, which the
# filter of the inner side hides.
$node->safe_psql('postgres', <<'SQL');
create table popular as select item, item * 7919 % 7 as who, item as w
  from (select 1000 + i % 60000 from generate_series(1, 300000) i union all select i % 200 from generate_series(1, 300000) i) p (item) order by item;
create index on popular (item);
create table asks as select i as id, i % 200 as item, i as who, 1 as f from generate_series(1, 100000) i;
vacuum analyze popular, asks;
SQL
my $asks = 'from asks join popular p on p.item = asks.item and p.who = asks.who where f + 0 = 1 and p.w >= 0 and id <= ';
my ($planned) = $node->safe_psql('postgres', "explain select count(*) $asks 1000") =~ /Switch At Rows: (\d+)/;
my $plan = $node->safe_psql('postgres', "explain (analyze, timing off, summary off) select count(*) $asks 1000");
my ($learnt) = $plan =~ /Switch At Rows: (\d+)/;
cmp_ok($planned, '>', 1000, 'all of some outer rows may be looked up');
cmp_ok($learnt, '<', $planned / 10, '... and fewer when the index has found more rows than expected');
like($plan, qr/Strategy: lookup, hash/, '... for a sample, so that the others are hashed') or diag($plan);
$plan = $node->safe_psql('postgres', "set enable_indexscan = off; set enable_indexonlyscan = off; set random_page_cost = 0.2; explain (analyze, timing off, summary off) select count(*) $asks 1000");
like($plan, qr/Strategy: lookup, hash.*Bitmap Heap Scan on popular/s, '... by a bitmap, too') or diag($plan);
foreach my $query ("select count(*), sum(p.w) $asks 1000", 'select sum(asks.id), count(*) from asks where f + 0 = 1 and id < 1000 and not exists (select from popular p where p.item = asks.item and p.who = asks.who)',
	"select sum(p.w), count(*) from (values (1), (500), (1000)) v (v), lateral (select p.w $asks v offset 0) p")
{
	my ($ours, $theirs) = map { $node->safe_psql('postgres', "set hashgraph.enabled = $_; $query") } 'on', 'off';

	is($ours, $theirs, "... with the rows of PostgreSQL: $query");
}

# Outer rows that memory does not hold until they are counted are looked up in chunks, up to the same number of them.
$node->safe_psql('postgres', <<'SQL');
create table far as select (i * 7919::int8 % 600011)::int as id, i % 1000 as w from generate_series(1, 600000) i;
create unique index on far (id);
create table wide as select i as id, 1 as f, repeat(i::text, 20) as pad from generate_series(1, 100000) i;
vacuum analyze far, wide;
SQL
my $narrow = "set work_mem = '64kB';";
foreach my $chunks ([ 5000, 'lookup' ], [ 90000, 'lookup, hash' ])
{
	my ($rows, $strategy) = @$chunks;

	foreach my $kind ('join', 'left join')
	{
		my $query = "select count(*), count(far.id), sum(far.w), sum(length(wide.pad)) from wide $kind far on far.id = wide.id * 7 where f + 0 = 1 and f - 1 = 0 and wide.id <= $rows";
		my ($ours, $theirs) = map { $node->safe_psql('postgres', "$narrow set hashgraph.enabled = $_; $query") } 'on', 'off';
		my $explained = $node->safe_psql('postgres', "$narrow explain (analyze, timing off, summary off) $query");

		is($ours, $theirs, "a $kind of $rows wide rows in 64 kB has the rows of PostgreSQL");
		like($explained, qr/Strategy: $strategy$/m, "... and its strategy is $strategy") or diag($explained);
	}
}

# Processes that share a join count together.  One of them is held at the row with id 1, until the others have read
# whatever else there is, and wait: then it goes on, or the query is cancelled.
$node->safe_psql('postgres', <<'SQL');
create table gate ();
create function passes(id int) returns bool language plpgsql parallel safe as $$
begin
  if id = 1 then
    perform from gate;
  end if;
  return true;
end
$$;
SQL
my $workers = 'set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0;';
my $held = 'select count(*), sum(n.w), max(o.pad), min(n.u) from o join n on o.a = n.id where o.f + 0 = 1 and o.f - 1 = 0 and passes(o.id) and ';
my $waiting = q{select count(*) filter (where wait_event_type = 'Lock') || '|' || count(*) filter (where wait_event_type = 'Extension') from pg_stat_activity
  where backend_type in ('client backend', 'parallel worker') and pid <> pg_backend_pid()};
my %held = ('no other rows' => [ 'o.id <= 3', '1|1|0' ], 'few rows' => [ 'o.id % 1000 < 3', '1|1|0' ], 'many rows' => [ 'o.id % 1000 < 1000', '1|0|1' ]);
my $gate = $node->background_psql('postgres');
my $own = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $own->query('select pg_backend_pid()');

foreach my $others (sort keys %held)
{
	my ($clause, $counters) = @{ $held{$others} };
	my $expected = $node->safe_psql('postgres', "set hashgraph.enabled = off; $held $clause");

	foreach my $cancelled (0, 1)
	{
		$node->safe_psql('postgres', 'select hashgraph_stat_reset()');
		$gate->query('begin; lock table gate');
		$own->query_until(qr/begun/, "$workers\n\\echo begun\n$held $clause;\n\\echo done\n");
		ok($node->poll_query_until('postgres', $waiting, '1|2'), "$others: two processes wait for the one that is held");
		$node->safe_psql('postgres', "select pg_cancel_backend($pid)") if $cancelled;
		# what is cancelled ends while the gate is closed
		my $rows = $cancelled ? $own->query_until(qr/done/, '') : '';
		$gate->query('commit');
		$rows = $own->query_until(qr/done/, '') if !$cancelled;
		$rows =~ s/\s*done\s*//;
		is($rows, $cancelled ? '' : $expected, $cancelled ? '... a cancel ends them all' : '... and join the right rows when it goes on');
		is($node->safe_psql('postgres', 'select joins, lookups, switches from hashgraph_stat'), $counters, '... by what they have decided once') if !$cancelled;
		is($own->query("$held $clause"), $expected, '... the next join is right');
	}
}
like($own->{stderr}, qr/canceling statement due to user request/, 'three joins were cancelled');
$gate->quit;
$own->quit;

# Rows that one process has read, here all of the first block, are looked up by the others too, even by those that come when the rows
# have been counted.
$node->safe_psql('postgres', <<'SQL');
create function slow(id int) returns bool language plpgsql cost 1 parallel safe as 'begin perform pg_sleep(0.03); return true; end';
create function process(id int) returns int language plpgsql cost 1 parallel safe as 'begin return pg_backend_pid(); end';
SQL
my $first_block = 'select process(n.id) as process from o join n on o.id = n.id where o.f + 0 = 1 and o.f - 1 = 0 and slow(n.id) and o.id <= 60';
is($node->safe_psql('postgres', q{select count(distinct (ctid::text::point)[0]) from o where id <= 60}), '1', 'all outer rows are in one block');
like($node->safe_psql('postgres', "$workers explain $first_block"), qr/Gather.*Switch At Rows.*Parallel Seq Scan on o\b/s, '... of which a process reads all');
is($node->safe_psql('postgres', "$workers select count(*), count(distinct process) > 1 from ($first_block offset 0) s"), '60|t', '... and several look them up');

# a row that is changed while it is to be locked is joined again
my $changed = 'o join n on o.a = n.id where o.f + 0 = 1 and o.f - 1 = 0 and o.id <= 3 and o.v < 1000';
like($node->safe_psql('postgres', "explain select o.id from $changed for update of o"), qr/LockRows.*Switch At Rows/s, 'rows of an adaptive join are locked');
foreach my $enabled ('off', 'on')
{
	my $writer = $node->background_psql('postgres');

	$writer->query('begin; update o set v = v + 500 where id = 2');
	$session->query_until(qr/begun/, "set hashgraph.enabled = $enabled; begin;\n\\echo begun\nselect o.id, o.v, n.u from $changed order by o.id for update of o;\n\\echo done\n");
	$node->poll_query_until('postgres', q{select exists (select from pg_stat_activity where wait_event_type = 'Lock')}) or die 'nobody waits';
	$writer->query('commit');
	like($session->query_until(qr/done/, ''), qr/^1\|1\|u7919\n2\|502\|u15838\n3\|3\|u23757$/m, "enabled = $enabled: one that has changed meanwhile is returned as it is now");
	$session->query('rollback');
	$writer->query('update o set v = v - 500 where id = 2');
	$writer->quit;
}
$session->quit;

# cached rows of the inner table are not looked for while it is not known whether they are needed
$node->safe_psql('postgres', q{select hashgraph_resident_add('n', keys => '{id}', wait => true)});
foreach my $rows (3, 40000)
{
	my $plan = explain_analyze($node, $workers, "$counted $rows");

	like($plan, $rows == 3 ? qr/Strategy: lookup/ : qr/Strategy: hash/, "$rows rows beside a cached table are counted");
	unlike($plan, qr/HashGraph: resident/, '... and no rows are covered');
	is($node->safe_psql('postgres', "$workers $counted $rows"), $node->safe_psql('postgres', "set hashgraph.enabled = off; $counted $rows"), '... which gives the right rows');
}

$node->stop;
done_testing();
