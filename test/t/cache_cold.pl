# Blocks that a cached table does not serve are read ahead of the scan: the kernel is told of those that lie apart, no page is read or
# counted twice for it, and none stays pinned, however a scan ends.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $advice = PostgreSQL::Test::Utils::tempdir() . '/advice';
append_to_file($advice, '');
chmod 0666, $advice;
$ENV{HG_ADVICE_FILE} = $advice;
$ENV{LD_PRELOAD} = HashGraphTest::build_module('fault/hg_count_advice.c');

# tables are larger than the server's buffers, and a scan may pin enough of these
my $node = new_server('cold', conf => <<'CONF');
hashgraph.resident_memory = '64MB'
hashgraph.resident_auto = off
hashgraph.force = on
shared_buffers = '16MB'
max_connections = 20
effective_io_concurrency = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
enable_nestloop = off
CONF
my $major = major_version($node);

sub sql { return $node->safe_psql('postgres', shift); }

# 4000 blocks each: every fifth of apart has changed, of straight one fifth in a row, and nothing is not resident
sql(<<'SQL');
create table apart (k int, v int, w text) with (fillfactor = 80);
insert into apart select i, i % 100, repeat('x', 700) from generate_series(1, 32000) i;
create table straight as select * from apart where false;
alter table straight set (fillfactor = 80);
insert into straight select * from apart;
create table nothing as select * from apart;
create table b as select i as k, i % 7 as g from generate_series(1, 32000, 3) i;
SQL
become_resident($node, 'apart', 'straight');
sql(q{update apart set v = v + 1 where ctid = any (array(select format('(%s,1)', i)::tid from generate_series(0, 3999, 5) i))});
sql(q{update straight set v = v + 1 where ctid = any (array(select format('(%s,1)', i)::tid from generate_series(1000, 1799) i))});
# pages are pruned when they are read for the first time
sql("select count(v) from $_; checkpoint") foreach qw(apart straight nothing);

# The joins of a table, what they return without the extension, and how they are read.
sub join_of { my ($table) = @_; return "select count(*), sum(v), sum(g) from $table join b using (k)"; }

# (blocks of the table's scan, times that the kernel was told) of a join
sub counted
{
	my ($settings, $table) = @_;

	# rows that are looked up by their ctid go through all buffers, and these pages push others out
	sql(q{select count(*) from nothing where ctid = any (array(select format('(%s,1)', i)::tid from generate_series(0, 3000) i))});

	my $before = -s $advice;
	my $plan = $node->safe_psql('postgres', "$settings explain (analyze, buffers, costs off, timing off) " . join_of($table));
	my ($blocks) = $plan =~ /Scan on $table .*\n(?:\s+(?:Filter|Rows|Worker).*\n)*\s+Buffers: (shared.*)/;
	my $total = 0;

	diag($plan) unless defined $blocks;
	$total += $1 while $blocks =~ /(?:hit|read)=(\d+)/g;
	return ($total, (-s $advice) - $before, $plan);
}

# Tests: each block that is not served is read once, with a look-ahead and without one, in one process and in several.
sub reads
{
	my ($when, $by_stream) = @_;

	foreach my $workers (0, 2)
	{
		my $set = "set max_parallel_workers_per_gather = $workers; set parallel_leader_participation = on; ";

		foreach my $table (qw(apart straight))
		{
			my ($none) = counted("$set set effective_io_concurrency = 0;", $table);
			my ($read, $told, $plan) = counted($set, $table);
			my $named = "$when, $workers workers: $table";

			like($plan, qr/Outer Heap Blocks: 800\n|Inner Heap Blocks: 800\n/, "$named: 800 blocks are not served");
			# a page whose rows do not all go to one batch is pinned again; so it is more often where processes take turns
			ok($_->[0] >= 800 && $_->[0] <= ($workers ? 1000 : 805), "$named: each of them is read once, $_->[1]") or diag("$_->[0] blocks")
			  foreach [ $none, 'without a look-ahead' ], [ $read, 'with one' ];
			# what a stream makes of blocks in a row is core's affair
			if ($table eq 'straight' && $by_stream) { pass("$named: a stream reads") }
			elsif ($table eq 'straight') { cmp_ok($told, '<', 200, "$named: the kernel is told of few blocks in a row") }
			else { cmp_ok($told, q{>}, $by_stream ? 400 : 700, "$named: the kernel is told of blocks that lie apart") or diag($plan) }
			is(sql($set . join_of($table)), sql('set hashgraph.enabled = off; ' . join_of($table)), "$named: the rows");
		}
	}
	return;
}

# Tests: nothing stays pinned where a scan ends early, is rescanned, cancelled or fails.
sub ends
{
	my ($when) = @_;
	my $from = -s $node->logfile;
	my $session = RawSession->new($node);
	my $query = 'select apart.k, v, w from apart join b using (k)';

	foreach my $workers (0, 2)
	{
		$session->run_each("set max_parallel_workers_per_gather = $workers");
		foreach my $statement ("$query limit 3", "select count(*) from ($query offset 20 limit 500) x",
			"select (select count(*) from (select 1 from apart join b using (k) where v <> x.v limit 20) y) from (values (1), (2), (3)) x (v)")
		{
			isnt($session->run_each($statement), '', "$when, $workers workers: $statement");
		}
		$session->query('select sum(1 / (apart.k - 20002)) from apart join b using (k)');
		like($session->{error}, qr/division by zero/, "$when, $workers workers: a join fails in the middle");
	}
	$session->run_each("set max_parallel_workers_per_gather = 0; begin; declare c cursor for $query");
	isnt($session->run_each('fetch 10 from c'), '', "$when: a cursor");
	$session->run_each('savepoint s; declare d cursor for ' . "$query; fetch 10 from d; rollback to s");
	isnt($session->run_each('fetch 10 from c'), '', "$when: it goes on after another one's subtransaction");
	$session->run_each('commit');
	$session->run_each("begin; declare c scroll cursor with hold for $query; fetch 5 from c; commit; close c");
	$session->run_each("set statement_timeout = '100ms'");
	$session->query('select count(*), max(w) from apart join b using (k) where pg_sleep(0.001 * apart.v) is not null');
	like($session->{error}, qr/statement timeout/, "$when: a join is cancelled");
	$session->end_timeout;
	is(sql(join_of('apart')), sql('set hashgraph.enabled = off; ' . join_of('apart')), "$when: the rows");
	unlike(slurp_file($node->logfile, $from), qr{WARNING|leak|not closed|PANIC}, "$when: nothing stays pinned");
	return;
}

reads("PostgreSQL $major", $major == 17);
ends("PostgreSQL $major");
if ($major >= 18)
{
	# what reads is a stream there
	$node->append_conf('postgresql.conf', "io_method = 'sync'");
	$node->restart;
	ok(wait_for(sub { sql('select coalesce(sum(blocks_resident), 0) from hashgraph_resident') >= 2 * 3 * 3200 }, 30), 'tables are resident again');
	reads('io_method sync', 1);
	ends('io_method sync');
}

session_ok($node, 'the server still joins');
$node->stop;
done_testing();
