# Hints of pg_hint_plan, where it is installed: what they demand of joins, of their order, of scans and of
# parallel ones the node leaves to them, and the rows are the same.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

chomp(my $share = qx{"\${PG_CONFIG:-pg_config}" --sharedir});
plan skip_all => 'pg_hint_plan is not installed' unless -e "$share/extension/pg_hint_plan.control";
# what plans it changes, and how, is its version's affair: these were looked at with that of PostgreSQL 17
plan skip_all => 'pg_hint_plan is that of another PostgreSQL than 17' unless qx{"\${PG_CONFIG:-pg_config}" --version} =~ /^PostgreSQL 17\b/;

my $node = new_server('hints', preload => '', conf => "work_mem = '64MB'\nfsync = off\nstatement_timeout = '20s'\n");

$node->safe_psql('postgres', <<'SQL');
create table a as select (i * 7919::int8 % 100000)::int as k, i as v from generate_series(1, 100000) i;
create table b as select (i * 104729::int8 % 100000)::int as k, i * 31 % 50000 as w from generate_series(1, 120000) i;
create table c as select i * 3 % 50000 as k, i as x from generate_series(1, 50000) i;
create index on a (k);
create index on a (v);
create index on b (k);
create index on b (k, w);
create index on c (k);
create index on c (x);
vacuum analyze;
SQL

my $two = 'select count(*), sum(a.v), sum(b.w) from a join b on a.k = b.k';
my $ranged = "$two where a.v > 20000";
my $three = 'select count(*), sum(a.v), sum(c.x) from a join b on a.k = b.k join c on c.k = b.w';
my $grouped = 'select count(*), sum(s) from (select a.k, sum(a.v) s from a where a.k > 40000 group by a.k) q join b on b.k = q.k';
my $serial = 'set max_parallel_workers_per_gather = 0;';
my $workers = 'set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;';
my $hashed = qr/HashGraphJoin|Hash Join/;
my $scan_a = qr/Seq Scan on a\b/;

# settings, hint, query, what its plan has, what it has not
my @cases = (
	[ $serial, '', $two, qr/HashGraphJoin.*Seq Scan on \w.*Seq Scan on \w/s, qr/Nested Loop|Merge Join|Hash Join/ ],
	[ $serial, '', $ranged, $scan_a, qr/Nested Loop|Merge Join|Hash Join/ ],
	[ $serial, '', $three, qr/HashGraphJoin.*HashGraphJoin/s, qr/Nested Loop|Merge Join|Hash Join/ ],
	[ $serial, '', $grouped, qr/HashGraphAggregate.*$scan_a/s, qr/Nested Loop|Merge Join|Hash Join/ ],
	[ $workers, '', $two, qr/HashGraphJoin.*Parallel Seq Scan.*Parallel Seq Scan/s, qr/Hash Join/ ],

	[ $serial, 'NestLoop(a b)', $two, qr/Nested Loop/, $hashed ],
	[ $serial, 'MergeJoin(a b)', $two, qr/Merge Join/, $hashed ],
	[ $serial, 'HashJoin(a b)', $two, $hashed, qr/Nested Loop|Merge Join/ ],
	[ $serial, 'NoHashJoin(a b)', $two, qr/Nested Loop|Merge Join/, $hashed ],
	[ $workers, 'NoHashJoin(a b)', $two, qr/Nested Loop|Merge Join/, $hashed ],
	[ $serial, 'NestLoop(a b) NoMemoize(a b)', $two, qr/Nested Loop/, qr/Memoize|$hashed/ ],
	[ $serial, 'Set(enable_hashjoin off)', $three, qr/Nested Loop|Merge Join/, $hashed ],
	[ $serial, 'NestLoop(a b c)', $three, qr/Nested Loop.*HashGraphJoin/s, qr/HashGraphJoin.*Nested Loop/s ],

	[ $serial, 'Leading(((a b) c))', $three, qr/on a\b.*on b\b.*on c\b/s, undef ],
	[ $serial, 'Leading((c (b a)))', $three, qr/on c\b.*on b\b.*on a\b/s, undef ],
	[ $serial, 'Leading((a (b c)))', $three, qr/on a\b.*on b\b.*on c\b/s, undef ],
	[ $serial, 'Leading(((c b) a)) HashJoin(c b) HashJoin(a b c)', $three, qr/on c\b.*on b\b.*on a\b/s, qr/Nested Loop|Merge Join/ ],

	[ $serial, 'SeqScan(a)', $ranged, $scan_a, qr/Scan using a_/ ],
	(map { my $query = $_; map { [ $serial, $_, $query, qr/(?:Index (?:Only )?Scan using|Bitmap Heap Scan on) a/, $scan_a ] }
		'NoSeqScan(a)', 'IndexScan(a)', 'IndexOnlyScan(a)', 'Set(enable_seqscan off)', 'IndexScan(a) HashJoin(a b)' } $ranged, $grouped),
	[ $workers, 'IndexScan(a)', $ranged, qr/Index Scan using a_/, $scan_a ],
	[ $serial, 'BitmapScan(a)', $ranged, qr/Bitmap Heap Scan on a\b/, $scan_a ],
	[ $serial, 'NoIndexScan(a) NoBitmapScan(a)', $ranged, $scan_a, qr/Scan using a_/ ],

	[ $workers, 'Parallel(a 0)', $two, qr/\bon a\b/, qr/Parallel Seq Scan on a\b|Parallel Index (?:Only )?Scan using a_/ ],
	[ $serial, 'Parallel(a 2 hard) Parallel(b 2 hard)', $two, qr/Workers Planned: 2.*Parallel.*Parallel/s, qr/\.\.-|=-/ ],
	[ $serial, 'Rows(a b #10)', $three, qr/rows=10 /, qr/\.\.-|=-/ ],
	[ $workers, 'Parallel(b 2 hard)', "$three where c.x < 1500", qr/Parallel/, qr/\.\.-|=-/ ]);

my %rows_of;

foreach my $order ('pg_hint_plan,hashgraph', 'hashgraph,pg_hint_plan')
{
	local $ENV{PGOPTIONS} = "-c session_preload_libraries=$order";

	foreach my $case (@cases)
	{
		my ($settings, $hint, $query, $like, $unlike) = @$case;
		my $hinted = $hint eq '' ? '' : "/*+ $hint */ ";
		my ($plan, $rows) = $node->safe_psql('postgres', "$settings ${hinted}explain $query; $hinted$query") =~ /(.*)\n(.*)/s;

		$rows_of{$query} //= $node->safe_psql('postgres', "set hashgraph.enabled = off; $query");
		like($plan, $like, "$order: $hint: $query");
		unlike($plan, $unlike, '... and nothing else') if defined $unlike;
		is($rows, $rows_of{$query}, '... with the right rows');
	}

	# what is asked of a scan's price again is asked under the settings of the session
	my $lookups = 'explain (costs off) select sum(b.w) from c join a on a.v = c.k join b on b.k = a.k where c.x < 300';
	my $hints = '/*+ IndexScan(a) IndexScan(b) IndexScan(c) */';
	is($node->safe_psql('postgres', "$serial set enable_indexscan = off; $hints $lookups"), $node->safe_psql('postgres', "$serial $hints $lookups"),
		"$order: what hints allow is no dearer where the session does not");
}

$node->stop;
done_testing();
