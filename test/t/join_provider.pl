# Beside an extension that replaces or changes the scans of relations (test/provider): its rows are
# joined and not the heap's, hashgraph_join() refuses tables whose rows have no ctid, and what it has
# removed or estimated is heeded.
#
# Versions: the interfaces of scan providers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $provider = build_module('provider/hg_provider.c');
my $node = new_server('provider', preload => '', conf => "work_mem = '64MB'\nfsync = off\n");

# Half of the heaps' rows are what the provider returns: an empty heap would show too.
$node->safe_psql('postgres', <<'SQL');
create extension hashgraph;
create table elsewhere as select i as k, -i as v from generate_series(1, 500) i;
create table elsewhere_indexed as table elsewhere;
create table beside as select i as k, i as v from generate_series(1, 60000) i;
create table ref as select i as k, i % 7 as w from generate_series(1, 60000) i;
create table indexed as select i as k, i as v from generate_series(1, 200000) i;
create table plain as table indexed;
create index on elsewhere_indexed (k);
create index on indexed (k) include (v);
create index on plain (k) include (v);
create table wanted as select i as k, i as v from generate_series(1, 60000) i;
create table wanted_too as table wanted;
create function many() returns setof int language plpgsql as 'begin return query select generate_series(1, 1000); end';
create table hidden as table indexed;
create role reader;
grant select on hidden, ref to reader;
alter table hidden enable row level security;
create policy nobody on hidden using (false);
vacuum analyze;
SQL

foreach my $order ("hashgraph, $provider", "$provider, hashgraph")
{
	local $ENV{PGOPTIONS} = "-c session_preload_libraries=" . $order =~ s{ }{}gr;
	my $which = $order =~ /^hashgraph/ ? 'hashgraph first' : 'hashgraph last';

	foreach my $force ('off', 'on')
	{
		my $settings = "set hashgraph.force = $force; set hashgraph.min_rows = 0;";

		foreach my $table ('elsewhere', 'elsewhere_indexed')
		{
			is($node->safe_psql('postgres', "$settings select count(*), sum(s) from (select k, sum(v) s from $table group by k) q join ref using (k)"),
				'1000|500500', "$which, force $force: groups of the rows of $table are joined");
			is($node->safe_psql('postgres', "$settings select count(*), sum(v) from $table join ref using (k) where k < 400"),
				'399|79800', "... and its rows");
			is($node->safe_psql('postgres', "$settings select count(v), sum(v) from $table right join ref using (k)"),
				'1000|500500', "... the other way round");
		}
	}

	# what nobody replaces is taken over as ever
	my $grouped = 'explain (costs off) select count(*), sum(s) from (select k, sum(v) s from %s group by k) q join ref using (k)';
	like($node->safe_psql('postgres', 'set max_parallel_workers_per_gather = 0;' . sprintf $grouped, 'plain'),
		qr/HashGraphAggregate.*HashGraphAggregate.*Seq Scan on plain/s, "$which: a plain table's groups are ours");

	# a path that core would have: the range costs an index scan less than a sequential one, but not ours
	my $ranged = 'explain (costs off) select count(*), sum(w) from %s join ref using (k) where k > 40000';
	like($node->safe_psql('postgres', sprintf $ranged, 'plain'), qr/HashGraphJoin.*Seq Scan on plain/s,
		"$which: a sequential scan takes an index scan's place");
	like($node->safe_psql('postgres', sprintf $ranged, 'indexed'), qr/Index Only Scan using indexed/,
		"$which: ... but where somebody has removed it");

	# scans that cost nothing: what the node reads faster is taken off no more than there is
	my $wanted = $node->safe_psql('postgres', 'set min_parallel_table_scan_size = 0; set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0;'
		  . 'explain select count(*), sum(a.v) from wanted a join wanted_too b using (k)');
	like($wanted, qr/HashGraphJoin.*Parallel Seq Scan on wanted.*cost=0\.00\.\.0\.00.*Parallel Seq Scan on wanted/s, "$which: parallel scans that are wanted are joined");
	unlike($wanted, qr/cost=-|\.\.-/, '... and nothing costs less than nothing');

	# what is expected of a path, not of its relation, decides which side is held in memory
	foreach my $force ('off', 'on')
	{
		my $settings = "set hashgraph.force = $force; set hg_provider.rows =";
		my $query = 'explain (costs off) select count(*) from many() many(k) join ref using (k)';

		like($node->safe_psql('postgres', "$settings 1000; $query"), qr/HashGraphJoin.*Seq Scan on ref.*Function Scan/s,
			"$which, force $force: few rows of a function are held");
		like($node->safe_psql('postgres', "$settings 300000; $query"), qr/HashGraphJoin.*Function Scan.*Seq Scan on ref/s,
			"... and many are not");
	}

	# rows without a ctid of the table
	foreach my $pair ([qw(elsewhere ref)], [qw(ref elsewhere_indexed)], [qw(beside ref)])
	{
		my ($rc, $stdout, $stderr) = $node->psql('postgres', "select count(*) from hashgraph_join('$pair->[0]', 'k', '$pair->[1]', 'k')");
		like($stderr, qr/^psql:.*ERROR:  rows of public\.$pair->[0] or public\.$pair->[1] do not come from the table itself\n.*\nHINT/s,
			"$which: hashgraph_join() refuses @$pair");
	}
	is($node->safe_psql('postgres', "select count(*) from hashgraph_join('indexed', 'k', 'ref', 'k')"), '60000',
		"$which: ... and takes tables that are scanned through an index");
	is($node->safe_psql('postgres', "set role reader; select count(*) from hashgraph_join('hidden', 'k', 'ref', 'k')"), '0',
		"$which: ... and those of which no row may be seen");

	like($node->safe_psql('postgres', 'explain (costs off) select count(*), sum(v) from beside join ref using (k)'),
		qr/HashGraphJoin.*Custom Scan \(Elsewhere\)/s, "$which: a cheaper scan beside core's is joined");
}

done_testing();
