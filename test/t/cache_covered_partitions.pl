# Rows that are read beside those of resident HashGraphs, and do not fit into work memory, go to disk in partitions, and the HashGraphs
# are joined with each of them: the rows are those of PostgreSQL's own joins, of every type, with keys that many rows have, in serial
# plans and parallel ones, and memory and graphs are used as they should be.
#
# Takes long: it begins before others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use GraphJoins;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = graph_server('covered_partitions', <<'CONF');
hashgraph.resident_memory = '96MB'
max_parallel_workers_per_gather = 0
max_parallel_workers = 16
max_worker_processes = 40
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
hash_mem_multiplier = 1
CONF
$node->safe_psql('postgres', <<'SQL');
-- what same() tells, and how many partitions there were, and the most memory of a join in kB
create function partitions_of(node json) returns int language sql as $$
  select greatest((node->>'Partitions')::int, (select max(partitions_of(child)) from json_array_elements(node->'Plans') child))
$$;
create function memory_of(node json) returns int language sql as $$
  select greatest((node->>'Memory Usage')::int, (select max(memory_of(child)) from json_array_elements(node->'Plans') child))
$$;
create function partitions(query text) returns text language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  return same(query) || ', partitions: ' || case when coalesce(partitions_of(plan->0->'Plan'), 1) > 1 then 'some' else 'none' end;
end
$$;
create function memory(query text) returns int language plpgsql as $$
declare
  plan json;
begin
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  return memory_of(plan->0->'Plan');
end
$$;
-- of two keys some are NULL, and some only one of the tables has; y's key u is unique
create table x (id int, k int4, t text, l int8, v int, pad text) with (fillfactor = 100);
create table y (id int, k int4, t text, l int8, w int, u int) with (fillfactor = 100);
insert into x select i, case when i % 31 > 0 then (i * 7919::int8) % 16000 end, 'key ' || (i * 7919::int8) % 12000, case when i % 29 > 0 then i end, i % 100, repeat('x', 150) from generate_series(1, 24000) i;
insert into y select i, case when i % 37 > 0 then (i * 104729::int8) % 20000 end, 'key ' || (i * 104729::int8) % 18000, case when i % 23 > 0 then i * 2 end, i % 50, i + 1000 from generate_series(1, 24000) i;
create unique index on y (u);
analyze x, y;
SQL
sql(qq{select hashgraph_resident_add('$_', keys => array['k', 't', 'l'])}) foreach 'x', 'y';
sql(q{select hashgraph_resident_add('y', keys => array['u'])});
settle('x', 'y');
# rows of a third of the blocks; and a key that many rows have, of which those that are read do not fit into memory
my $change = 'update x set v = v + 1 where id between 4000 and 9600 and id % 5 > 0; delete from x where id between 9600 and 10400; update y set w = w + 1 where id between 6400 and 13200 and id % 7 > 0';
sql("$change; delete from y where id between 13200 and 13600");
sql("insert into y select id + 100000, 123, t, l, w, u + 100000 from y where id < 1400; insert into x select id + 100000, 123, t, l, v, repeat('p', 1900) from x where id < 30");

# A test: a query's rows are right, they came from these graphs, and others went to disk; '-': some did or did not.
sub partitions_are
{
	my ($query, $graphs, $partitions, $name) = @_;

	$query =~ s/'/''/g;
	return like(sql("select partitions('$query')"), qr/^[0-9]+ $graphs, partitions: $partitions$/, $name);
}

sub all_joins
{
	my ($when) = @_;

	foreach my $type (@types)
	{
		partitions_are("select x.id, x.pad, x.v, y.id as i, y.w from x $type y on x.k = y.k", '(oi|io)', 'some', "$when: $type with columns");
		partitions_are("select from x $type y on x.l = y.l", '(oi|io)', 'some', "$when: $type without columns");
		partitions_are("select x.id, y.id as i from x $type y on x.k = y.k and x.v < y.w", '(oi|io)', 'some', "$when: $type with another clause");
		partitions_are("select x.id, x.t, y.w from x $type y on x.t = y.t", '(oi|io)', 'some', "$when: $type of texts");
		partitions_are("select x.id, y.w from x $type y on x.k = y.u", '(oi|io)', 'some', "$when: $type of a unique key");
		partitions_are("select x.id, y.w from (select * from x where v < 70) x $type (select * from y where w > 5) y on x.k = y.k", '(oi|io)', 'some', "$when: $type with filters");
	}
	foreach my $not ('', 'not')
	{
		partitions_are("select id, v from x where $not exists (select from y where x.k = y.k)", '(oi|io)', 'some', "$when: $not exists");
		partitions_are("select id, v from x where $not exists (select from y where x.k = y.k and x.v < y.w)", '(oi|io)', 'some', "$when: $not exists with another clause");
		partitions_are("select count(*) from y where $not exists (select from x where x.l = y.l)", '(oi|io)', 'some', "$when: $not exists, counted");
	}
	partitions_are('select count(*), sum(v), sum(w), max(pad) from x join y on x.k = y.k', '(oi|io)', 'some', "$when: aggregates");
	partitions_are('select count(*) from x join y on x.k = y.k', '(oi|io)', 'some', "$when: a count");
	partitions_are('select w, count(*), sum(v) from x join y on x.l = y.l group by w', '(oi|io)', 'some', "$when: groups");
	return;
}

sql("set work_mem = '64kB'");
all_joins('64kB');

# ---------------------------------------------------------------- memory, rescans, cursors, errors

sql("set work_mem = '64kB'");
# what the graphs' rows take, a bit each and some more, is the same with memory for all
my $count = 'select count(*), sum(v) from x join y on x.l = y.l';
my $little = sql("select memory('$count')");
my $most = sql("set work_mem = '64MB'; select memory('$count')");
sql("set work_mem = '64kB'");
partitions_are($count, '(oi|io)', 'some', 'few rows in memory');
cmp_ok($little, '<', $most, '... take less of it');
cmp_ok($little, '<', 700, '... in kB');
is(sql('select bool_and(spilled_bytes > 0) from hashgraph_last_joins()'), 't', '... as the others are on disk');
partitions_are('select c.k, s.n from c, lateral (select count(*) + c.x as n from (select from x join y on x.k = y.k offset 0) j) s where c.k < -13', '(oi|io)', 'some', 'rescans');
partitions_are('select c.k, s.n from c, lateral (select count(*) as n, sum(y.w) as w from x left join y on x.k = y.k where x.v = c.x offset 0) s where c.k < -13', 'o?i?', '(some|none)', 'rescans with a parameter');
is(sql('select count(*) from (select from x left join y on x.k = y.k limit 10) s'), '10', 'few rows of many');
is(sql('begin; declare early cursor for select x.id from x join y on x.k = y.k; fetch 5 from early; update x set k = k + 1 where id % 7 = 0; move all from early; close early; select 1; rollback; select 1'), '1', 'a cursor that is closed in between');
{
	my (undef, undef, $error) = $node->psql('postgres', "set work_mem = '64kB'; set hashgraph.force = on; select count(1 / (y.w - 33)) from x join y on x.k = y.k");

	like($error, qr/division by zero/, 'an error in the middle');
	(undef, undef, $error) = $node->psql('postgres', "set work_mem = '64kB'; set hashgraph.force = on; set statement_timeout = 100; select count(*) from x join y on x.k = y.k and x.v + y.w + length(pg_sleep(0.0001)::text) < 0");
	like($error, qr/statement timeout/, 'a cancel in the middle');
}

# ---------------------------------------------------------------- whose choice it is

# all of a table has changed: no rows are left to be covered, or it does not pay
sql('set hashgraph.force = off; set hashgraph.min_rows = 0');
partitions_are($count, '.*', '(some|none)', 'few enough rows have changed');
sql('update x set v = v + 1 where id % 10 > 0; update y set w = w + 1 where id % 10 > 0');
partitions_are($count, '.*', '(some|none)', 'too many have');
settle('x', 'y');
# of most blocks that have changed most rows have not: they are looked at, in plans of either kind
sql("update $_ set id = id where ctid::text like '%,1)' and ctid::text not like '%0,1)'") foreach 'x', 'y';
partitions_are($count, '(oi|io)', '(some|none)', 'one row in most blocks has');
sql('set max_parallel_workers_per_gather = 2');
partitions_are($count, 'p?(oi|io)', '(some|none)', '... below a Gather, too');
sql('reset hashgraph.force; reset hashgraph.min_rows; reset max_parallel_workers_per_gather');
settle('x', 'y');
partitions_are($count, '(oi|io)', 'none', 'when all is in step nothing goes to disk');

# ---------------------------------------------------------------- parallel plans

sql('update x set v = v + 1 where id between 2000 and 14000; update y set w = w + 1 where id between 2000 and 14000');
sql('set max_parallel_workers_per_gather = 2');
foreach my $setting ('parallel_leader_participation = on', 'parallel_leader_participation = off', 'max_parallel_workers = 0', 'max_parallel_workers = 1')
{
	sql("set $setting");
	partitions_are('select x.id, x.pad, y.id as i from x join y on x.k = y.k', 'p(oi|io)', 'some', "$setting: columns");
	partitions_are('select x.id, y.id as i from x join y on x.k = y.k and x.v < y.w', 'p(oi|io)', 'some', "$setting: another clause");
	partitions_are('select x.id, y.w from x join y on x.t = y.t', 'p(oi|io)', 'some', "$setting: texts");
	partitions_are('select x.id, y.w from x join y on x.k = y.u', 'p(oi|io)', 'some', "$setting: a unique key");
	partitions_are('select count(*) from x join y on x.k = y.k', 'p(oi|io)', 'some', "$setting: a count");
	partitions_are($count, 'p(oi|io)', 'some', "$setting: aggregates");
	# who has found a match is known to no process alone
	partitions_are("select x.id, y.id as i from x $_ y on x.k = y.k", '(p?(oi|io))?', 'some', "$setting: $_") foreach 'left join', 'full join';
	partitions_are("select id, v from x where $_ exists (select from y where x.k = y.k)", '(p?(oi|io))?', 'some', "$setting: $_ exists") foreach '', 'not';
	sql('reset parallel_leader_participation; reset max_parallel_workers');
}
partitions_are('select c.k, s.n from c, lateral (select count(*) + c.x as n from (select from x join y on x.k = y.k offset 0) j) s where c.k < -13', '(p?(oi|io))?', 'some', 'rescans of a parallel plan');

# ---------------------------------------------------------------- writers

# Beside whoever changes rows, and takes changes back, each join is right in its snapshot.
{
	my $end = time + ($ENV{HG_QUICK} ? 5 : 20);
	my $writer = RawSession->new($node);
	my ($checked, $wrong) = (0, 0);

	settle('x', 'y');
	while (time < $end)
	{
		my ($type, $key) = ($types[ rand @types ], ('k', 't', 'l')[ rand 3 ]);
		my $query = (
			"select x.id, x.v, y.id as i, y.w from x $type y on x.$key = y.$key",
			"select id from x where exists (select from y where x.$key = y.$key and x.v < y.w)",
			"select count(*) from y where not exists (select from x where x.$key = y.$key)",
			"select count(*) from x left join y on x.$key = y.$key")[ rand 4 ];
		my $from = int rand 20000;

		foreach my $change (1 .. 3)
		{
			$writer->run_each((
				"update x set v = v + 1 where id between $from and $from + 2000", "update y set k = k + 1, w = w + 1 where id between $from and $from + 2000",
				"delete from y where id between $from and $from + 20", "begin; update y set l = l + 1 where id between $from and $from + 2000; rollback",
				"begin; savepoint s; delete from x where id > $from; rollback to s; update x set l = l + 1 where id between $from and $from + 20; commit",
				'vacuum x', q{vacuum y; select hashgraph_resident_refresh('y')})[ rand 7 ]);
		}
		sql('set max_parallel_workers_per_gather = ' . int(rand 3));
		my ($ours, $core) = split /\|/, sql("begin isolation level repeatable read; create temp table ours on commit drop as select digest('$query') as d; set local hashgraph.enabled = off; select (select d from ours), digest('$query')");

		sql('commit');
		diag("$ours instead of $core: $query") if $ours ne $core;
		$wrong += $ours ne $core;
		$checked++;
	}
	is($wrong, 0, "no join of $checked was wrong beside writers");
	cmp_ok($checked, '>', 0, 'and there were some');
}

# ---------------------------------------------------------------- what is left behind

is(sql('select count(*) from pg_ls_tmpdir()'), '0', 'no file');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|was terminated by signal|leak/, 'nothing has failed or leaked');
$node->stop;
done_testing();
