# Joins from resident HashGraphs in parallel plans give the rows that PostgreSQL's own joins give: of every type, with graphs of both
# sides or of one, rows that have changed, little memory, rescans, without the leader or without workers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('parallel_graphs', conf => <<'CONF');
hashgraph.resident_memory = '40MB'
hashgraph.resident_auto = off
hashgraph.force = on
max_parallel_workers_per_gather = 2
max_parallel_workers = 16
max_worker_processes = 40
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
autovacuum = off
CONF
my $main;

sub sql
{
	$main //= RawSession->new($node);
	return $main->run_each(shift);
}

# graphs_of(plan): which sides of its joins had rows lent.  same(query): how many rows there are, and from what graphs they came; PostgreSQL's
# own joins have to return the same.
$node->safe_psql('postgres', <<'SQL');
create function graphs_of(node json) returns text language sql as $$
  select concat(case when node->>'Outer HashGraph' is not null then 'o' end, case when node->>'Inner HashGraph' is not null then 'i' end,
    (select string_agg(graphs_of(child), '') from json_array_elements(node->'Plans') child))
$$;
create function digest(query text) returns text language plpgsql as $$
declare
  result text;
begin
  execute format('select count(*) || '' rows, '' || coalesce(sum(hashtextextended(r::text, 0)), 0) from (%s) r', query) into result;
  return result;
end
$$;
create function same(query text) returns text language plpgsql as $$
declare
  ours text := digest(query);
  core text;
  plan json;
begin
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  perform set_config('hashgraph.enabled', 'off', true);
  core := digest(query);
  perform set_config('hashgraph.enabled', 'on', true);
  if ours <> core then
    return format('DIFFERENT: %s instead of %s by %s', ours, core, plan);
  end if;
  return split_part(ours, ' ', 1) || ' ' || graphs_of(plan->0->'Plan');
end
$$;
create function slow(int) returns bool language plpgsql stable parallel safe as $$ begin perform pg_sleep(0.001); return true; end $$;
-- several segments each: rows are wide
create table a (id int, k2 int2, k4 int4, k8 int8, v int, n numeric(10,2), t text, wide text) with (fillfactor = 90);
create table b (id int, k2 int2, k4 int4, k8 int8, w int, m numeric, u text, wide text) with (fillfactor = 90);
alter table a alter wide set storage plain;
alter table b alter wide set storage plain;
insert into a select i, case when i % 11 > 0 then i % 400 - 100 end, case when i % 13 > 0 then (i * 7919) % 9000 - 1000 end, case when i % 17 > 0 then (i * 31::int8) % 12000 - 500 end,
  i % 100, case when i % 5 > 0 then i / 4.0 end, case when i % 3 > 0 then 'text ' || i end, repeat('x', 900) from generate_series(1, 12000) i;
insert into b select i, case when i % 7 > 0 then i % 500 - 150 end, case when i % 19 > 0 then (i * 104729::int8) % 7000 - 900 end, case when i % 5 > 0 then (i * 17::int8) % 9000 - 700 end,
  i % 50, i / 8.0, 'other ' || i % 77, repeat('y', 1500) from generate_series(1, 6000) i;
-- twelve segments of a row a block
create table e (id int, k2 int2, k4 int4, k8 int8, wide text) with (fillfactor = 30);
alter table e alter wide set storage plain;
insert into e select i, i % 900, i % 5000, case when i % 9 > 0 then i end, repeat('z', 2500) from generate_series(1, 12000) i;
-- one that has no graph, and few rows
create table c as select i as k, i % 10 as x from generate_series(-20, 300, 3) i;
analyze;
SQL

# Have all of the tables be resident, with all of their graphs in step.
sub settle
{
	my @tables = @_;

	foreach my $table (@tables)
	{
		ok(wait_for(sub {
			sql("select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) and count(*) filter (where kind = 'graph') = 3 from hashgraph_resident
				where relation = '$table'::regclass and state <> 'declined'") eq 't'
			  or not sql("vacuum $table; select hashgraph_resident_refresh('$table')") and not usleep(100_000) }, 30), "all of $table is resident")
		  or diag(sql("select json_agg(r) from hashgraph_resident r"));
	}
	return;
}
sql(q{select hashgraph_resident_add('a', array['id', 'v', 'n', 't'], keys => array['k2', 'k4', 'k8'])});
sql(q{select hashgraph_resident_add('b', array['id', 'w', 'm', 'u'], keys => array['k2', 'k4', 'k8'])});
settle('a', 'b');

# A test: a query's rows are PostgreSQL's, and come from these graphs: a pattern.  Rows are right
# each time; but that blocks are served waits for witnesses, who are late where much else is going on.
sub same_is
{
	my ($query, $graphs, $name) = @_;
	my $found;

	$query =~ s/'/''/g;
	wait_for(sub { $found = sql("select same('$query')"); $found !~ /^[0-9]+ / or $found =~ /^[0-9]+ $graphs$/ or not usleep(300_000) }, 20);
	return like($found, qr/^[0-9]+ $graphs$/, $name);
}

my @types = ('join', 'left join', 'right join', 'full join');
# Every kind of join, of two tables with graphs.
sub joins
{
	my ($graphs, $when) = @_;

	foreach my $type (@types)
	{
		same_is("select a.id, a.n, a.t, b.id as i, b.m, b.u from a $type b on a.k4 = b.k4", $graphs, "$when: $type with columns");
		same_is("select from a $type b on a.k8 = b.k8", $graphs, "$when: $type without columns");
		same_is("select a.id, a.t, b.id as i, b.m from (select * from a where v < 30) a $type (select * from b where w > 5) b on a.k4 = b.k4", $graphs, "$when: $type with filters");
		same_is("select a.v, b.w from a $type b on a.k8 = b.k8 and a.v < b.w", $graphs, "$when: $type with another clause") unless $type eq 'full join';
	}
	foreach my $not ('', 'not')
	{
		same_is("select id, n from a where $not exists (select from b where a.k4 = b.k4)", $graphs, "$when: $not exists");
		same_is("select id, n from a where $not exists (select from b where a.k4 = b.k4 and a.v < b.w)", $graphs, "$when: $not exists with another clause");
		same_is("select count(*) from b where $not exists (select from a where a.k8 = b.k8)", $graphs, "$when: $not exists, counted");
	}
	same_is('select count(*), sum(v), sum(n), min(u), max(m) from a join b on a.k8 = b.k8', $graphs, "$when: aggregates");
	same_is('select count(*) from a join b on a.k2 = b.k8', $graphs, "$when: a count");
	same_is('select u, count(*), sum(v) from a join b on a.k4 = b.k4 group by u', $graphs, "$when: groups");
	same_is("select a.id, c.x from a $_ c on a.k4 = c.k", '[oi]?', "$when: $_ of a table without a graph") foreach @types;
	return;
}
joins('(oi|io)', 'all in step');

# ---------------------------------------------------------------- rows that are in no graph

sql('update b set w = w + 1 where id % 70 = 3; delete from b where id between 2000 and 2100; insert into b select id + 10000, k2, k4, k8, w, m, u, wide from b where id < 60');
joins('(oi|io)', 'inner rows have changed');
sql("update a set v = v + 1, k4 = k4 + 1 where id % 90 = 3; delete from a where id between 5000 and 5200; insert into a select id + 20000, k2, k4, k8, v, n, t, wide from a where id < 80");
joins('(oi|io)', 'rows of both sides have changed');
sql("begin; update a set k8 = k8 + 3 where id % 100 = 0; delete from b where id % 100 = 0");
same_is("select a.id, a.v, b.id as i from a $_ b on a.k8 = b.k8", '(oi|io)', "own changes: $_") foreach @types;
sql('rollback');
same_is("select a.id, a.v, b.id as i from a $_ b on a.k8 = b.k8", '(oi|io)', "... taken back: $_") foreach @types;

# ---------------------------------------------------------------- processes, memory, rescans

like(sql('explain (costs off) select count(*) from a join b on a.k4 = b.k4') . sql('explain select count(*) from a join b on a.k4 = b.k4'),
	qr/Parallel Custom Scan \(HashGraphJoin\).*Outer HashGraph: resident.*Inner HashGraph: resident.*Parallel Seq Scan/s, 'EXPLAIN tells of a parallel join from HashGraphs');
foreach my $setting ('parallel_leader_participation = off', 'max_parallel_workers = 0', 'max_parallel_workers = 1')
{
	sql("set $setting");
	same_is("select a.id, b.id as i, b.u from a $_ b on a.k4 = b.k4", '(oi|io)', "$setting: $_") foreach @types;
	same_is("select id from a where $_ exists (select from b where a.k8 = b.k8)", '(oi|io)', "$setting: $_ exists") foreach '', 'not';
	sql('reset parallel_leader_participation; reset max_parallel_workers');
}
# Inner rows of one key that several processes have read, each of which joins its own with lent outer rows.
sql('create table d as select i as id, i % 40 as g, repeat(\'w\', 2000) as p from generate_series(1, 100) i; alter table d alter p set storage plain; insert into d select id, g, p from d; analyze d');
sql('set parallel_leader_participation = off');
same_is("select id, t from a where $_ exists (select from d where a.k2 = d.g and slow(d.id))", 'o', "held inner rows of several processes: $_ exists") foreach '', 'not';
same_is("select id, t from a where $_ exists (select from d where a.k2 = d.g and slow(d.id) and a.v <> d.id)", 'o', "... with another clause: $_ exists") foreach '', 'not';
same_is('select count(*) from a where exists (select from d where a.k2 = d.g and slow(d.id))', 'o', '... counted');
sql('reset parallel_leader_participation');
# more rows have changed than fit: the lent ones are read, too
sql('update a set v = v + 1 where id between 3000 and 9000');
foreach my $limit ('64kB', '256kB')
{
	sql("set work_mem = '$limit'");
	same_is("select a.id, a.t, b.u from a $_ b on a.k4 = b.k4", '(oi|io|o|i|)', "$limit of memory: $_") foreach @types;
	same_is("select id from a where $_ exists (select from b where a.k4 = b.k4)", '(oi|io|o|i|)', "$limit of memory: $_ exists") foreach '', 'not';
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
