# Aggregates over one table give the same results whether they are computed of resident columns or PostgreSQL aggregates the table's rows,
# to the last digit: over values, groups, filters, partitions, rescans, cursors, own changes and parallel queries; and the node takes
# tables alone of which something is resident, where that is cheaper.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('resident_aggregates', conf => <<'CONF');
hashgraph.resident_memory = '48MB'
hashgraph.min_rows = 1000
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF

sub sql
{
	return $node->safe_psql('postgres', shift);
}

# same(query, forced): the number of rows, who aggregates, and what of the table is served; or how the result, as text, differs from
# that without residents, which PostgreSQL itself computes.
sql(<<'SQL');
create function blocks_of(node json, kind text) returns bigint language sql as $$
  select coalesce((node->>kind)::bigint, 0) + coalesce((select sum(blocks_of(child, kind)) from json_array_elements(node->'Plans') child), 0)::bigint
$$;
create function result_of(query text) returns text language plpgsql as $$
declare
  result text;
begin
  execute format('select count(*) || E'' rows\n'' || coalesce(string_agg(r::text, E''\n'' order by r::text collate "C"), '''') from (%s) r', query) into result;
  return result;
exception when others then
  return format('%s: %s', sqlstate, sqlerrm);
end
$$;
create function same(query text, forced bool default true) returns text language plpgsql as $$
declare
  ours text;
  theirs text;
  plan json;
begin
  perform set_config('hashgraph.force', forced::text, true);
  ours := result_of(query);
  begin
    execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  exception when others then
    execute 'explain (format json) ' || query into plan;
  end;
  perform set_config('hashgraph.enabled', 'off', true);
  theirs := result_of(query);
  perform set_config('hashgraph.enabled', 'on', true);
  if ours <> theirs then
    return format(E'DIFFERENT: %s\ninstead of %s', left(ours, 1000), left(theirs, 1000));
  end if;
  return split_part(ours, E'\n', 1) || case when plan::text not like '%HashGraphAggregate%' then ', by core'
    when blocks_of(plan->0->'Plan', 'Resident Blocks') = 0 then ', none served'
    when blocks_of(plan->0->'Plan', 'Heap Blocks') = 0 then ', all served' else ', some served' end;
end
$$;
SQL

# A test: a query's result is the same, and it is computed so.
sub same_is
{
	my ($query, $expected, $name, $settings) = @_;
	$query =~ s/'/''/g;
	return like(sql(($settings // '') . ";select same('$query')"), qr/^$expected$/, $name // $query);
}

# Have all of these tables resident, with statistics of them.
sub resident
{
	my (@tables) = @_;
	sql('analyze ' . join ', ', @tables);
	return become_resident($node, @tables);
}

# ---------------------------------------------------------------- values

sql(<<'SQL');
create table kinds (k int not null, a int not null, b int2 not null, c int8 not null, d date not null, ts timestamp not null, o oid not null,
  na int, nb int2, nc int8, nd date, e "char" not null, u uuid not null, f float8 not null, gone int8);
alter table kinds drop column gone;
insert into kinds select i, i * 7919 % 100003 - 50000, i % 300 - 150, (i - 20000)::int8 << 47, date '2020-01-01' + i % 1000, timestamp '2020-01-01' + i * interval '1 s', i,
  case when i % 3 > 0 then i * 7919 % 1000 end, case when i % 5 > 0 then i % 7 end, case when i % 4 > 0 then -i::int8 << 30 end,
  case when i % 11 > 0 then date '2020-01-01' - i end, chr(65 + i % 4)::"char", md5((i % 50)::text)::uuid, i / 7.0
  from generate_series(1, 40000) i;
delete from kinds where k % 8 = 1;
create table none_resident as select i as k, i % 10 as v from generate_series(1, 20000) i;
create table empty_table (k int not null, v int8);
SQL
resident('kinds');

same_is('select count(*) from kinds', '1 rows, all served');
same_is('select count(*), count(a), count(7), count(null::int) from kinds', '1 rows, all served');
same_is('select sum(a), sum(b), sum(c), avg(a), avg(b), avg(c) from kinds', '1 rows, all served');
same_is('select min(a), max(a), min(b), max(b), min(c), max(c), min(d), max(d), min(ts), max(ts), min(o), max(o) from kinds', '1 rows, all served');
same_is('select sum(na), avg(na), count(na), min(nb), max(nb), sum(nc), avg(nc), min(nd), max(nd), count(*) from kinds', '1 rows, all served', 'columns with NULLs');
same_is('select sum(a), sum(na), min(k) from kinds', '1 rows, all served', 'columns with and without NULLs');
same_is('select sum(a) filter (where b > 0), count(*) filter (where na is null), max(c) from kinds', '1 rows, all served', 'FILTER');
same_is('select sum(a) + count(*), avg(b) * 2 from kinds having count(*) > 10', '1 rows, all served', 'HAVING');
same_is('select sum(a) from kinds having count(*) < 10', '0 rows, all served', '... that nothing meets');
same_is('select count(*), sum(a), min(b), avg(c) from kinds where false', '1 rows, by core', 'no rows at all');
same_is('select count(*), sum(a), min(b), avg(c) from kinds where k < 0', '1 rows, all served', 'no row that is left');
same_is("select count(*), sum(c), max(d) from kinds where a between -1000 and 1000 and d > '2020-05-05'", '1 rows, all served', 'clauses');
same_is('select count(*), sum(c) from kinds where a % 7 = 3 or b < 0', '1 rows, all served', '... that are evaluated row by row');
same_is('select stddev(a), variance(c), bit_and(a), bit_or(c), bool_and(a > b) from kinds', '1 rows, all served', 'transition functions');
same_is('select sum(f), avg(f) from kinds', '1 rows, by core', 'sums of floats are left to core');
same_is('select count(distinct a), sum(b order by k) from kinds', '1 rows, by core', 'so are DISTINCT and ORDER BY');
same_is('select b, count(*), sum(a), avg(c), min(d) from kinds group by b', '300 rows, all served', 'GROUP BY');
same_is('select na, nb, e, count(*), sum(c) from kinds group by na, nb, e', '[0-9]+ rows, all served', '... with NULLs');
same_is('select u, count(*), max(a) from kinds group by u', '50 rows, all served', '... by reference');
same_is('select k, sum(a) from kinds group by k', '35000 rows, all served', '... of many');
same_is('select k, sum(a) from kinds group by k', '35000 rows, all served', '... to disk', "set work_mem = '64kB'; set hash_mem_multiplier = 1");
same_is('select b from kinds group by b', '300 rows, all served', 'groups alone');
same_is('select distinct b, e from kinds', '[0-9]+ rows, all served', 'SELECT DISTINCT');
same_is('select distinct na, nb, u from kinds', '[0-9]+ rows, all served', '... with NULLs, and by reference');
same_is('select distinct k, a from kinds', '35000 rows, all served', '... of many, to disk', "set work_mem = '64kB'; set hash_mem_multiplier = 1");
same_is('select b, sum(a) from kinds group by b having sum(a) > 0', '[0-9]+ rows, all served', '... with HAVING');
same_is('select b, sum(a) from kinds where k > 5000 group by b order by 2 desc limit 7', '7 rows, all served', '... sorted');
same_is('select e, b, count(*) from kinds group by rollup (e, b)', '305 rows, all served', 'grouping sets');
same_is('select distinct b, e from kinds', '[0-9]+ rows, all served', 'DISTINCT');
same_is('select e, count(distinct b), count(*), sum(a) from kinds group by e', '4 rows, all served', 'DISTINCT aggregates beside others');
same_is('select * from (select b, count(*) as n, sum(a) as s from kinds group by b) g where n > 100', '[0-9]+ rows, all served', 'a subquery');
same_is('with g as materialized (select e, sum(c) as s from kinds group by e) select * from g union all select * from g', '8 rows, all served', 'a WITH query');
same_is('select sum(a), (select count(*) from kinds) from kinds', '1 rows, all served', 'a scalar subquery');
same_is('select v, (select sum(a) from kinds where b = v) from none_resident where k <= 10', '10 rows, all served', 'a correlated one, which is rescanned');
same_is('select v, s from none_resident, lateral (select count(*), max(c) as s from kinds where b > v) x where k <= 12', '12 rows, all served', 'LATERAL');
same_is('select (select count(*) from kinds where k > n) from (values (1), (20000), (50000)) v (n)', '3 rows, all served', 'a parameter outside');
same_is('select count(*), sum(a), min(ctid) from kinds', '1 rows, none served', 'system columns are read from the table');
same_is('select count(k) from kinds group by k % 7', '7 rows, all served', 'groups of expressions');
like(sql('explain (costs off) select count(*), sum(a) from kinds'), qr/Custom Scan \(HashGraphAggregate\)/, 'the node is taken where it is cheaper');
like(sql('explain select count(*), sum(a) from kinds'), qr/Resident Blocks: [1-9][0-9]*\n +Heap Blocks: 0/, '... and EXPLAIN tells what would be served');
like(sql('explain (analyze, costs off, timing off, summary off) select count(*), sum(a) from kinds'), qr/Resident Blocks: [1-9][0-9]*\n +Heap Blocks: 0/, '... and what was');

# ---------------------------------------------------------------- arithmetic, and few groups

# Line items: numerics with two decimals; g with decimals that differ, h with values that 64 bits do not hold, and x with NaN and infinities.
sql(<<'SQL');
create table lines (k int not null, quantity numeric(15, 2) not null, price numeric(15, 2) not null, discount numeric(15, 2), tax numeric(15, 2) not null,
  returned char(1) not null, status char(1), note text not null, shipped date not null, i2 int2 not null, i4 int4 not null, i8 int8 not null, f numeric, g numeric, h numeric, x numeric);
insert into lines select i, 1 + i % 50, (i * 7919 % 10000019) * 0.01, case when i % 17 > 0 then i % 11 * 0.01 end, i % 9 * 0.01, (array['A', 'N', 'R'])[1 + i % 3],
  case when i % 23 > 0 then (array['O', 'F'])[1 + i % 2] end, 'note ' || i % 5, date '1992-01-02' + i % 2520, i % 30000 - 15000, i::int8 * 70001 % 100000007, (i - 10000)::int8 << 20,
  case when i <= 10000 then 1 else 1.00000 end, case i % 3 when 0 then i when 1 then i * 0.1 end, (i - 10000) * 1e15 + 0.25,
  case when i % 4000 = 0 then 'NaN' when i % 3000 = 0 then 'Infinity' else i::numeric end from generate_series(1, 20000) i;
SQL
resident('lines');
same_is("select returned, status, sum(quantity), sum(price), sum(price * (1 - discount)), sum(price * (1 - discount) * (1 + tax)), avg(quantity), avg(price), avg(discount), count(*)
  from lines where shipped <= date '1998-09-02' group by returned, status", '9 rows, all served', 'a pricing summary');
same_is("select sum(price * discount) from lines where shipped >= date '1994-01-01' and shipped < date '1995-01-01' and discount between 0.05 and 0.07 and quantity < 24", '1 rows, all served', 'a sum of products');
same_is('select sum(price), avg(price), sum(-price), sum(price + 1), avg(price - tax), min(price), max(discount), stddev(tax), count(discount) from lines', '1 rows, all served', 'numerics');
same_is('select sum(quantity) filter (where price > 50000.5), sum(price), avg(price) filter (where discount is null), count(*) filter (where tax * 2 > 0.1) from lines', '1 rows, all served', '... and filters by them');
same_is("select sum(price), sum(pg_column_size(price)), sum(price * 2) filter (where pg_column_size(price) = 7) from lines$_", '1 rows, all served', '... which take what they take in the table') foreach '', ' where quantity < 24';
same_is('select k, sum(price), sum(pg_column_size(price)) from lines group by k', '20000 rows, all served', '... in groups, to disk', "set work_mem = '64kB'; set hash_mem_multiplier = 1");
same_is('select status, sum(price / 3), sum(price * 2), max(round(price * discount, 1)), sum(abs(tax)), min(price) from lines group by status', '3 rows, all served', '... and what is computed row by row');
same_is('select sum(g), avg(g), sum(g * 2), sum(g + price), avg(h), sum(h * h), sum(h * h * h * h), sum(x), avg(x * tax) from lines', '1 rows, all served', '... of all kinds');
same_is('select note, status, sum(g), avg(h), sum(h * h * h), sum(x), avg(g * discount), sum(f) from lines group by note, status', '15 rows, all served', '... in groups');
same_is('select sum(f) filter (where k < 10000), avg(f) filter (where k > 15000), sum(f * 2) filter (where k <= 300) from lines', '1 rows, all served', 'decimals that rows have which are left out');
same_is('select k / 10000 as t, sum(f), sum(f + 1) from (select k, f from lines where k between 9000 and 11000 offset 0) q group by k / 10000', '2 rows, all served', '... in a subquery');
same_is('select price, sum(price), sum(price * 2), count(*) from lines group by price having count(*) > 0', '20000 rows, all served', 'groups by what is summed');
same_is('select note, price, sum(price * tax), sum(quantity), avg(g) from lines group by note, price', '20000 rows, all served', '... to disk', "set work_mem = '64kB'; set hash_mem_multiplier = 1");
same_is('select sum(i4 + i2), sum(i4 * 2::int8), avg(i8 + i4), sum(i2 * 3), min(-i4), max(i8 - 1), count(i4 + 1), sum(i4::numeric * price), sum(i2::int4::int8 * i4) from lines', '1 rows, all served', 'integers');
same_is('select status, sum(i4 + i2), avg(i8 + i4), max(i8 - 1) from lines group by status', '3 rows, all served', '... in groups');
same_is("select $_ from lines", '22003: [a-z]+ out of range, all served', "an error: $_") foreach 'sum(i4 * i4)', 'count(i8 * 1000000000)', 'sum(i2 * 3::int2)', 'sum(price * tax), sum(i4::int2)', 'max((i8 + 1)::int4)';
same_is('select sum(i4 + 2147000000) filter (where i4 < 0), sum((i4 + 2147000000)::int8) filter (where i4 < 10), count(*) from lines', '1 rows, all served', 'none for rows that are left out');
same_is('select sum(a), max(b) from (select i4 as a, price as b from lines union all select k, 1.5 from kinds) u', '1 rows, all served', 'UNION ALL');
same_is('select returned, status, sum(price * (1 - discount)), avg(quantity), avg(g), sum(x), sum(h * h), avg(i8) from lines group by returned, status', '9 rows, all served', 'several processes',
	'set max_parallel_workers_per_gather = 2');
same_is('select sum(price * (1 - discount)), avg(quantity), avg(g), sum(x), sum(h * h), avg(i8), sum(i8 + 1) from lines', '1 rows, all served', '... without groups', 'set max_parallel_workers_per_gather = 2');
same_is('select k, sum(price), avg(g), sum(i8) from lines group by k', '20000 rows, all served', '... with many', 'set max_parallel_workers_per_gather = 2');
sql('update lines set price = price + 0.01, f = 0.125 where k % 1000 = 3; delete from lines where k between 5000 and 5100');
same_is($_, '[0-9]+ rows, some served', "rows have changed: $_") foreach
  'select returned, status, sum(quantity), sum(price * (1 - discount)), avg(price), sum(f), avg(h), sum(x), min(price), max(price * 2), max(g), min(h) from lines group by returned, status',
  'select sum(price * discount), avg(price), sum(quantity) filter (where price > 100), sum(f), avg(f), sum(g), sum(i8 * 2) from lines',
  'select i2, sum(price), sum(f), avg(tax) from lines group by i2';
same_is('select k, sum(price), sum(f * tax), avg(h) from lines group by k', '19899 rows, some served', '... to disk', "set work_mem = '64kB'; set hash_mem_multiplier = 1");

# What a scan makes of integers, for what is evaluated row by row, goes with the batch.
my ($of_few, $of_many) = map { sql(<<"SQL") =~ /^(\d+)$/ ? $1 : die } 200, 20000;
set hashgraph.force = on;
select (select sum(total_bytes) from pg_backend_memory_contexts) from (
  select sum(price * 2) + sum(tax * 2) as a, max(abs(price)) as b, count(*) filter (where round(tax, 1) > 0) as c from lines where k <= $_) x where a > b;
SQL
cmp_ok($of_many, '<', $of_few + 64 * 1024, 'numerics that are made for many rows take as much memory as those for few');

# ---------------------------------------------------------------- who is taken

# Plans are PostgreSQL's own where nothing is aggregated, and where a table is too small.
sub plans_alike
{
	my ($query, $setting, $name) = @_;
	my ($with, $without) = map { sql("set hashgraph.force = on; set hashgraph.enabled = $_; $setting; explain $query") } qw(on off);

	return is($with, $without, $name);
}
plans_alike('select k, a from kinds where k < 100', 'select 1', "PostgreSQL's own plan without aggregates");
same_is("select $_->[0]", "$_->[1] rows, none served", "where nothing is resident: $_->[0]")
  foreach [ 'v, count(*) from none_resident group by v', '[0-9]+' ], [ 'count(*) from none_resident', 1 ], [ 'count(*), max(v) from empty_table', 1 ], [ 'sum(length(relname)) from pg_class', 1 ],
  [ 'sum(gone) from (select v as gone from none_resident offset 0) x', 1 ], [ 'count(*) from generate_series(1, 10)', 1 ];
same_is('select count(*), sum(a) from kinds', '1 rows, none served', 'with hashgraph.resident off', 'set hashgraph.resident = off');
same_is('select count(*), sum(a) from kinds', '1 rows, none served', 'in a serializable transaction', 'begin isolation level serializable');
like(sql("set hashgraph.min_rows = 100000; explain (costs off) select count(*) from kinds"), qr/^Aggregate\n/, 'a table of few rows is left to core');

# An index is better for few rows, and a scan that core has dropped is better for many.
sql('create index on kinds (k); vacuum analyze kinds');
resident('kinds');
unlike(sql('explain (costs off) select count(*), sum(a) from kinds where k between 100 and 110'), qr/HashGraph/, 'few rows of an index are left to core');
like(sql("explain (costs off) select max(b) from kinds where k between 100 and 30000"), qr/HashGraphAggregate/, 'many are not');
same_is('select max(b), count(*) from kinds where k between 100 and 10000', '1 rows, all served', 'a scan in place of one by the index');
unlike(sql('explain (costs off) select max(k) from kinds'), qr/HashGraph/, 'the greatest one of an index is left to core');
like(sql('set enable_indexscan = off; explain (costs off) select count(*) from kinds'), qr/HashGraphAggregate/, 'a count is not left to an index-only scan');
is(sql(<<'SQL'), "35000\n35000", 'a plan that was made when something was resident goes on when nothing is served');
set plan_cache_mode = force_generic_plan;
prepare q as select count(*) from kinds;
execute q;
set hashgraph.resident = off;
execute q;
SQL

# Parameters of a generic plan are compared, and computed with, as constants are: fewer rows come to what stands beside them.
sql(<<'SQL');
create function seen(int) returns bool language plpgsql stable cost 0.0001 as $$
begin
  perform set_config('seen.rows', (current_setting('seen.rows')::int + 1)::text, false);
  return true;
end
$$;
SQL
is(sql(<<'SQL'), "86\n86", 'the parameter of a generic plan is compared column by column');
set hashgraph.force = on; set plan_cache_mode = force_generic_plan; set seen.rows = 0;
prepare q(int) as select count(*) from kinds where seen(a) and k < $1;
execute q(100);
select current_setting('seen.rows');
SQL
my ($generic, $theirs) = map { sql(<<"SQL") } qw(on off);
set hashgraph.enabled = $_; set hashgraph.force = on; set plan_cache_mode = force_generic_plan;
prepare q(numeric, int, text, date, int[], int2) as select count(*), sum(price * \$1), sum(i4 + \$2) filter (where note = \$3 or shipped > \$4), max(i2 * \$6::int)
  from lines where k <> all (\$5) and (quantity > \$1 or status is null) and i2 < \$6;
execute q(1.50, 7, 'note 3', '1995-01-01', '{1, 2, 3, null}', 1); execute q(1.50, 7, 'note 3', '1995-01-01', '{1, 2, 3}', 100); execute q(2, -3, null, 'infinity', '{}', 2);
execute q(null, 0, 'x', null, null, null); execute q('NaN', 2000000000, 'note 1', '1996-01-01', '{5}', -14990); prepare r(int) as select sum(i4 * \$1) from lines; execute r(2); execute r(-1);
do \$\$ declare n numeric := 3.25; s text := ''; r record; begin for r in select status, sum(price * n) as v from lines where price > n group by status order by 1 loop n := n + 1; s := s || r.v; end loop; perform set_config('seen.sums', s, false); end \$\$;
select current_setting('seen.sums');
SQL
is($generic, $theirs, '... with the same results');

# ---------------------------------------------------------------- changes

sql('update kinds set a = a + 1 where k % 2000 = 2; insert into kinds (k, a, b, c, d, ts, o, e, u, f) select 50000 + k, a, b, c, d, ts, o, e, u, f from kinds where k < 500; delete from kinds where k between 7000 and 7100');
same_is('select count(*), sum(a), max(k), avg(c) from kinds', '1 rows, some served', 'rows have changed');
same_is('select count(*) from kinds', '1 rows, some served', '... and are counted');
same_is('select b, count(*), sum(na) from kinds group by b', '300 rows, some served', '... and grouped');
is(sql(<<'SQL'), "35348|t\n35348\n35347\n35347", 'own changes count');
begin;
select count(*), sum(a) is not null from kinds;
savepoint s;
delete from kinds where k = 12;
rollback to s;
select count(*) from kinds;
delete from kinds where k = 10;
select count(*) from kinds;
set local hashgraph.resident = off;
select count(*) from kinds;
rollback;
SQL
is(sql(<<'SQL'), "35348\n35348\n0\n35348", 'a cursor that is held open keeps its snapshot');
begin;
declare c scroll cursor for select count(*) from kinds;
fetch c;
delete from kinds;
move absolute 0 in c;
fetch c;
select count(*) from kinds;
move absolute 0 in c;
fetch c;
rollback;
SQL
resident('kinds');
same_is('select count(*), sum(a), max(k), avg(c) from kinds', '1 rows, all served', 'all is served again after a vacuum');
is(sql('begin; create table made as select * from kinds; select count(*), sum(a) from made; rollback'), sql('set hashgraph.enabled = off; select count(*), sum(a) from kinds'), 'a table of this transaction');

# A row that another transaction has changed meanwhile is looked at again, with the subquery that depends on it.
my @sessions = map { $node->background_psql('postgres') } 1, 2;
$_->query_safe('set hashgraph.force = on') foreach @sessions;
$sessions[0]->query_safe('begin; update none_resident set v = 100 where k = 1');
$sessions[1]->query_until(qr/started/, "\\echo started\nupdate none_resident set v = v + (select count(*) from kinds where b < v) where k = 1 and (select count(*) from kinds where b > v) > 0;\n");
ok(wait_for(sub { sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == 1 }, 20), 'an update waits for another one');
$sessions[0]->query_safe('commit');
is($sessions[1]->query_safe('select v from none_resident where k = 1'), sql('set hashgraph.enabled = off; select 100 + count(*) from kinds where b < 100'), '... and counts what is resident again, for the row as it is now');
$_->quit foreach @sessions;

# ---------------------------------------------------------------- several processes

my $parallel = 'set max_parallel_workers_per_gather = 2; set parallel_leader_participation = off';
same_is('select count(*), sum(a), avg(c), min(d), sum(nc) from kinds', '1 rows, all served', 'several processes', $parallel);
same_is('select b, count(*), sum(a), avg(a), avg(c), max(d) from kinds group by b', '300 rows, all served', '... with groups', $parallel);
like(sql("$parallel; set hashgraph.force = on; explain (analyze, costs off, timing off, summary off) select sum(a), count(*) from kinds"),
	qr/Finalize Aggregate.*Gather.*Workers Launched: [12].*HashGraphAggregate.*Resident Blocks: [1-9][0-9]*\n +Heap Blocks: 0\n.*Parallel Seq Scan/s, 'workers are served');
is(sql("$parallel; begin; create table made as select * from kinds; set local hashgraph.force = on; select count(*), sum(a) from made; rollback"),
	sql('set hashgraph.enabled = off; select count(*), sum(a) from kinds'), 'a table of this transaction, below a Gather');

# ---------------------------------------------------------------- partitions

sql(<<'SQL');
create table parts (k int not null, v int not null, w int8) partition by range (k);
create table parts_1 partition of parts for values from (0) to (10000);
create table parts_2 (w int8, k int not null, v int not null);
alter table parts attach partition parts_2 for values from (10000) to (20000);
create table parts_3 partition of parts default;
insert into parts select i, i % 100, case when i % 3 > 0 then i end from generate_series(1, 30000) i;
analyze parts;
SQL
resident('parts_1', 'parts_2');
same_is('select count(*), sum(v), max(w) from parts', '1 rows, some served', 'partitions of which some are resident');
same_is('select v, count(*), sum(w), min(k) from parts group by v', '100 rows, some served', '... with groups');
same_is('select v, count(*), sum(w) from parts where k between 1 and 15000 group by v', '100 rows, all served', '... pruned');
same_is('select v, count(*), sum(w) from parts group by v', '100 rows, some served', '... below a Gather', $parallel);
same_is('select k, count(*), sum(w) from parts group by k', '30000 rows, some served', '... aggregated one by one', 'set enable_partitionwise_aggregate = on');
same_is('select v, count(*), avg(w) from parts group by v having count(*) > 10', '100 rows, (some served|by core)', '... in part', "set enable_partitionwise_aggregate = on; $_") foreach 'set max_parallel_workers_per_gather = 0', $parallel;
same_is('select k, count(*), avg(w) from parts group by k having sum(v) > 50', '[0-9]+ rows, some served', '... one by one below a Gather', "set enable_partitionwise_aggregate = on; $parallel");
same_is('select count(*), s from (select k, sum(v) as s from parts group by k) p join none_resident using (k) group by s', '[0-9]+ rows, (some|all|none) served', '... and joined', 'set enable_partitionwise_aggregate = on');

# ---------------------------------------------------------------- results of initial plans

sql('create table bounded (k int, v int); insert into bounded select i, i % 1000 from generate_series(1, 500000) i');
resident('bounded');
same_is('select count(*), sum(k) from bounded where v > (select max(v) - 5 from bounded)', '1 rows, all served', 'a bound that an initial plan computes');
same_is('select count(*), sum(k) from bounded where v > (select max(v) - 5 from bounded)', '1 rows, all served', '... below a Gather', $parallel);
# what a scan is expected to cost: no more for an initial plan's result than for a constant, and more where rows are formed
my ($constant, $initial, $formed) = map { sql("set max_parallel_workers_per_gather = 0; explain select count(*) from bounded where $_") =~ /Aggregate\)  \(cost=([\d.]+)/ }
  'v = 994', 'v = (select 994)', 'abs(v) = 994';
cmp_ok(abs($initial - $constant), '<', 1, '... and is priced so');
cmp_ok($formed, '>', 8 * $constant, 'a filter that is evaluated row by row is priced as one');
sql('drop table bounded');

# ---------------------------------------------------------------- who may see what

sql(<<'SQL');
create role reader;
grant select (k, b) on kinds to reader;
create table owned as select i as k, i % 5 as owner, i % 13 as v from generate_series(1, 20000) i;
alter table owned enable row level security;
create policy few on owned using (owner = 3);
grant select on owned to reader;
create function leak(int) returns bool language plpgsql cost 0.0001 as $$ begin raise notice 'leak %', $1; return true; end $$;
SQL
resident('owned');
is(sql('set role reader; set hashgraph.force = on; select count(*), sum(v) from owned'), sql('select count(*), sum(v) from owned where owner = 3'), 'row security');
my ($out, $err);
$node->psql('postgres', 'set role reader; set hashgraph.force = on; select count(*) from owned where leak(owner) having count(*) < 0', stderr => \$err);
unlike($err, qr/leak [^3]/, '... holds back functions that leak');
isnt($node->psql('postgres', 'set role reader; set hashgraph.force = on; select sum(a) from kinds', stderr => \$err), 0, 'columns without the privilege');
like($err, qr/permission denied for table kinds/, '... are not read');
is(sql('set role reader; set hashgraph.force = on; select count(*), sum(b) from kinds'), sql('select count(*), sum(b) from kinds'), '... and others are');

$node->stop;
done_testing();
