# Joins from resident HashGraphs in parallel plans give the rows that PostgreSQL's own joins give: of every type, with graphs of both
# sides or of one, rows that have changed, little memory, rescans, without the leader or without workers.
#
# Versions: parallel plans and their shared memory.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use GraphJoins;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = graph_server('parallel_graphs', <<'CONF');
hashgraph.resident_memory = '48MB'
max_parallel_workers_per_gather = 2
max_parallel_workers = 16
max_worker_processes = 40
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
$node->safe_psql('postgres', 'create function slow(int) returns bool language plpgsql stable parallel safe as $$ begin perform pg_sleep(0.001); return true; end $$');
settle('a', 'b');

joins('p(oi|io)', 'p?[oi]?', 'all in step');

# ---------------------------------------------------------------- rows that are in no graph

sql('update b set w = w + 1 where id % 70 = 3; delete from b where id between 2000 and 2100; insert into b select id + 10000, k2, k4, k8, w, m, u, wide from b where id < 60');
joins('p(oi|io)', 'p?[oi]?', 'inner rows have changed');
sql("update a set v = v + 1, k4 = k4 + 1 where id % 90 = 3; delete from a where id between 5000 and 5200; insert into a select id + 20000, k2, k4, k8, v, n, t, wide from a where id < 80");
{
	# The leader finds out which rows of changed blocks are the graphs' still, and all processes read the others alone.
	my $looks = 'select blocks_looked_at + looks_recalled from hashgraph_stat_resident';
	my $before = sql($looks);

	same_is('select count(*), sum(a.v), sum(b.w) from a join b on a.k8 = b.k8', 'p(oi|io)', 'changed blocks of both sides');
	cmp_ok(sql($looks), '>=', $before + 20, '... are looked at');
}
joins('p(oi|io)', 'p?[oi]?', 'rows of both sides have changed');
sql("begin; update a set k8 = k8 + 3 where id % 100 = 0; delete from b where id % 100 = 0");
same_is("select a.id, a.v, b.id as i from a $_ b on a.k8 = b.k8", 'p(oi|io)', "own changes: $_") foreach @types;
sql('rollback');
same_is("select a.id, a.v, b.id as i from a $_ b on a.k8 = b.k8", 'p(oi|io)', "... taken back: $_") foreach @types;

# ---------------------------------------------------------------- processes, memory, rescans

like(sql('explain (costs off) select count(*) from a join b on a.k4 = b.k4') . sql('explain select count(*) from a join b on a.k4 = b.k4'),
	qr/Parallel Custom Scan \(HashGraphJoin\).*Outer HashGraph: resident.*Inner HashGraph: resident.*Parallel Seq Scan/s, 'EXPLAIN tells of a parallel join from HashGraphs');
foreach my $setting ('parallel_leader_participation = off', 'max_parallel_workers = 0', 'max_parallel_workers = 1')
{
	sql("set $setting");
	same_is("select a.id, b.id as i, b.u from a $_ b on a.k4 = b.k4", 'p(oi|io)', "$setting: $_") foreach @types;
	same_is("select id from a where $_ exists (select from b where a.k8 = b.k8)", 'p(oi|io)', "$setting: $_ exists") foreach '', 'not';
	sql('reset parallel_leader_participation; reset max_parallel_workers');
}
# A side that one process reads for all, beside covered rows.
foreach my $setting ('parallel_leader_participation = on', 'parallel_leader_participation = off', 'max_parallel_workers = 0', 'work_mem = \'64kB\'')
{
	sql("set $setting");
	same_is("select a.id, a.t, g from a $_ join generate_series(1, 4000) g on a.k4 = g", 'po', "$setting: $_ join of a function") foreach 'right', 'full';
	same_is("select a.id, g from a $_ join generate_series(1, 4000) g on a.k4 = g and a.v <> g % 30", 'po', "... with another clause") foreach 'right', 'full';
	sql('reset parallel_leader_participation; reset max_parallel_workers; reset work_mem');
}
like(sql('explain (costs off) select a.id, g from a full join generate_series(1, 4000) g on a.k4 = g'), qr/Read Once: inner/, '... which EXPLAIN tells');
# Inner rows of one key that several processes have read, each of which joins its own with covered outer rows.
sql('create table d as select i as id, i % 40 as g, repeat(\'w\', 2000) as p from generate_series(1, 100) i; alter table d alter p set storage plain; insert into d select id, g, p from d; analyze d');
sql('set parallel_leader_participation = off');
same_is("select id, t from a where $_ exists (select from d where a.k2 = d.g and slow(d.id))", 'po', "held inner rows of several processes: $_ exists") foreach '', 'not';
same_is("select id, t from a where $_ exists (select from d where a.k2 = d.g and slow(d.id) and a.v <> d.id)", 'po', "... with another clause: $_ exists") foreach '', 'not';
same_is('select count(*) from a where exists (select from d where a.k2 = d.g and slow(d.id))', 'po', '... counted');
sql('reset parallel_leader_participation');
# more rows have changed than fit: the covered ones are read, too
sql('update a set v = v + 1 where id between 3000 and 9000');
foreach my $limit ('64kB', '256kB')
{
	sql("set work_mem = '$limit'");
	same_is("select a.id, a.t, b.u from a $_ b on a.k4 = b.k4", '(p?(oi|io|o|i))?', "$limit of memory: $_") foreach @types;
	same_is("select id from a where $_ exists (select from b where a.k4 = b.k4)", '(p?(oi|io|o|i))?', "$limit of memory: $_ exists") foreach '', 'not';
}
sql('reset work_mem');
same_is('select c.k, s.n from c, lateral (select count(*) + c.x as n from (select from a join b on a.k4 = b.k4 offset 0) j) s where c.k < 40', '.*', 'rescans');
same_is('select c.k, (select sum(b.w) from a join b on a.k4 = b.k4 and a.k2 < c.x) from c where c.k < 0', '.*', 'rescans with a clause that has a parameter');
is(sql('select count(*) from (select from a left join b on a.k4 = b.k4 limit 10) s'), '10', 'few rows of many');

# An error in the middle of a join leaves nothing behind.
my (undef, undef, $error) = $node->psql('postgres', 'set hashgraph.force = on; select count(1 / (b.w - 33)) from a join b on a.k4 = b.k4');
like($error, qr/division by zero/, 'an error in the middle');
sql('create extension if not exists hashgraph');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|was terminated by signal|leak/, 'nothing has failed or leaked');
$node->stop;
done_testing();
