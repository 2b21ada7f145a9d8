# Joins give the same rows whether they are served from resident columns or read their tables, to the row and the counter: over values,
# filters, rescans, cursors, own changes, parallel queries and whatever ends them in the middle; and are served what may be.
#
# Takes long: it begins before others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('resident_scan', init => [ allows_streaming => 1 ], conf => <<'CONF');
hashgraph.resident_memory = '20MB'
hashgraph.force = on
enable_nestloop = off
enable_mergejoin = off
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF

sub sql
{
	return $node->safe_psql('postgres', shift);
}

# served(query): blocks of the tables of a plan's joins, served and read.  counts(query): what is counted for tables and nodes.
# Blocks without a row are none that a scan of the table comes to.  same(query): the rows, which PostgreSQL's own joins have to return too, all of that with and without residents, and how it differs.  A runtime filter is asked from some batch on,
# and batches are others.
sql(<<'SQL');
create function blocks_of(node json, kind text) returns bigint language sql as $$
  select coalesce((node->>('Outer ' || kind))::bigint, 0) + coalesce((node->>('Inner ' || kind))::bigint, 0) +
    coalesce((select sum(blocks_of(child, kind)) from json_array_elements(node->'Plans') child), 0)::bigint
$$;
create function nodes_of(node json) returns setof text language sql as $$
  select format('%s %s: %s rows, %s removed, %s loops', case node->>'Custom Plan Provider' when 'HashGraphAggregate' then 'Aggregate' else node->>'Node Type' end, node->>'Alias', (node->>'Actual Rows')::numeric * (node->>'Actual Loops')::numeric,
    node->>'Rows Removed by Filter', node->>'Actual Loops')
  union all select nodes_of(child) from json_array_elements(node->'Plans') child
$$;
create function counters() returns jsonb language sql as $$
  select jsonb_object_agg(relname, pg_stat_get_xact_tuples_returned(oid) + 1e9 * pg_stat_get_xact_numscans(oid))
  from pg_class where relkind in ('r', 'm') and relnamespace = 'public'::regnamespace
$$;
create function counted(query text, out served bigint, out heap bigint, out counts text[]) language plpgsql as $$
declare
  before jsonb := counters();
  plan json;
begin
  execute 'explain (analyze, costs off, timing off, summary off, format json) ' || query into plan;
  served := blocks_of(plan->0->'Plan', 'Resident Blocks');
  heap := blocks_of(plan->0->'Plan', 'Heap Blocks');
  counts := array(select format('%s returned %s', key, value::numeric - (before->>key)::numeric) from jsonb_each_text(counters())
                  where value::numeric <> (before->>key)::numeric order by 1) ||
    case when plan::text not like '%by Runtime Filter%' then array(select nodes_of(plan->0->'Plan')) else '{}' end;
end
$$;
create function rows_of(query text) returns text language plpgsql as $$
declare
  result text;
begin
  execute format('select count(*) || E'' rows\n'' || coalesce(string_agg(r::text, E''\n'' order by r::text collate "C"), '''') from (%s) r', query) into result;
  return result;
end
$$;
create function same(query text, counts bool default true) returns text language plpgsql as $$
declare
  ours text := rows_of(query);
  our_counts record := counted(query);
  theirs text;
  their_counts record;
  core text;
  hashjoin text := current_setting('enable_hashjoin');
begin
  perform set_config('hashgraph.resident', 'off', true);
  theirs := rows_of(query);
  their_counts := counted(query);
  perform set_config('hashgraph.resident', 'on', true), set_config('hashgraph.enabled', 'off', true), set_config('enable_hashjoin', 'on', true);
  core := rows_of(query);
  perform set_config('hashgraph.enabled', 'on', true), set_config('enable_hashjoin', hashjoin, true);
  if ours <> theirs or ours <> core then
    return format(E'DIFFERENT ROWS: %s\ninstead of %s\nand PostgreSQL''s %s', left(ours, 1000), left(theirs, 1000), left(core, 1000));
  elsif counts and our_counts.counts <> their_counts.counts then
    return format(E'DIFFERENT COUNTS: %s\ninstead of %s', our_counts.counts, their_counts.counts);
  elsif their_counts.served > 0 or (our_counts.served + our_counts.heap < their_counts.heap and counts) then
    return format('DIFFERENT BLOCKS: %s + %s, else %s + %s', our_counts.served, our_counts.heap, their_counts.served, their_counts.heap);
  end if;
  return split_part(ours, E'\n', 1) || case when our_counts.served = 0 then ', none served' when our_counts.heap = 0 then ', all served' else ', some served' end;
end
$$;
SQL

# A test: a query's rows and counters are the same, and it is served so much.
sub same_is
{
	my ($query, $expected, $name) = @_;
	$query =~ s/'/''/g;
	return like(sql("select same('$query')"), qr/^$expected$/, $name);
}

# ---------------------------------------------------------------- values

# PostgreSQL 19rc1 itself reads wrong values behind a string that a zero byte ends
my $string = major_version($node) < 19 ? q{repeat('w', i % 50)::zero} : 'null';
sql(<<'SQL' =~ s/STRING/$string/r);
create type zero;
create function zero_in(cstring) returns zero language internal immutable strict as 'cstring_in';
create function zero_out(zero) returns cstring language internal immutable strict as 'cstring_out';
create type zero (input = zero_in, output = zero_out, like = cstring);
create table kinds (a int, b int2, c int8, d bool, e "char", f float4, g float8, h uuid, i date, j timestamptz, k interval, l oid, gone int8,
  w zero, m macaddr, o timetz, p tid, x text);
alter table kinds drop column gone;
insert into kinds select case when i % 3 > 0 then i end, i % 300, case when i % 5 > 0 then -i::int8 << 20 end, i % 2 = 0, chr(65 + i % 20)::"char",
  i / 7.0, case when i % 11 > 0 then -i / 3.0 end, md5(i::text)::uuid, date '2020-01-01' + i % 1000, timestamptz '2020-01-01' + i * interval '1 s',
  i * interval '1 month 2 s', i, STRING, ('08:00:2b:01:02:' || to_hex(i % 256))::macaddr, case when i % 7 > 0 then '10:00+02'::timetz + i * interval '1 s' end,
  ('(' || i || ',7)')::tid, repeat('w', i % 50)
  from generate_series(1, 30000) i;
alter table kinds add column q int8 default 42;
alter table kinds add column r uuid default 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
insert into kinds (a, l, q) select i, i, case when i % 2 = 0 then i end from generate_series(200001, 203000) i;
delete from kinds where l::int8 % 4 = 1;
create table few as select i as k, i % 7 as v, md5(i::text)::uuid as u, date '2020-01-01' + i as d from generate_series(1, 1000) i;
create table words as select i as k, ('word ' || i)::zero as w from generate_series(1, 300) i;
SQL
become_resident($node, 'kinds', 'few');
sql('vacuum words');
sql(q{select hashgraph_resident_add('words', array['k'], wait => true)});

same_is('select kinds.* from (select a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q from kinds) kinds join few on b = few.k', '[0-9]{5} rows, all served', 'values of every fixed width, NULLs, line pointers with gaps');
same_is("select f.k, x.$_ from (select l, $_ from kinds) x join few f on f.k = x.l::int8", '[0-9]+ rows, all served', "... $_ alone") foreach qw(a c d e f g k m o p q r);
same_is('select x.l from kinds x join few f on h = u', '[0-9]+ rows, all served', 'a key that is hashed, by reference');
same_is('select x.l from kinds x join kinds y on x.m = y.m where y.l::int8 < 300', '[0-9]+ rows, all served', 'a key that is exact, by reference');
same_is('select x.l, y.l from kinds x join kinds y on x.o = y.o and x.a is not distinct from y.a and x.b = y.b', '[0-9]+ rows, all served', 'several keys, with NULLs');
same_is("select x.l, f.v from kinds x $_ join few f on x.a = f.k", '[0-9]+ rows, all served', "$_ join") foreach qw(left right full);
same_is('select x.l from kinds x where not exists (select from few f where f.k = x.b)', '[0-9]+ rows, all served', 'an anti join');
same_is('select count(*) from kinds x join few f on x.a = f.k', '1 rows, all served', 'a count');
same_is('select f.v, count(*), sum(x.a), max(x.c), min(x.h::text) from kinds x join few f on x.b = f.k group by f.v', '7 rows, all served', 'groups');
same_is("select s.*, f.v from (select 'x' as s, b::int as k, a + 1 as a, c, 0 as n from kinds union all select 'y', k, v, null, k from few) s join few f on f.k = s.k", '[0-9]+ rows, all served', 'a scan that computes expressions, below UNION ALL');
same_is("select s.*, f.v from (select 'x' as s, b::int as k, h::text || l as t, 0 as n from kinds where d union all select 'y', k, u::text, k / 2.0 from few) s join few f on f.k = s.k", '[0-9]+ rows, all served', '... below a subquery in it');
my $groups = q{select s, count(*), sum(n), max(a) from (select 'x' as s, a, 0 as n from kinds union all select 'y', v, k / 2.0 from few) s group by s};
like(sql("select same(\$q\$$groups\$q\$, false)"), qr/^2 rows, /, '... with groups');
like(sql("explain (analyze, costs off) $groups"), qr/HashGraphAggregate.*Resident Blocks: [1-9][0-9]*\n *Heap Blocks: 0\n/s, '... which are served');
same_is("select s.*, f.v from (select 'x' as s, b::int as k, w::text || 'x' as w from kinds union all select 'y', k, 'y' from few) s join few f on f.k = s.k", '[0-9]+ rows, some served', '... of a column that can not be resident');
same_is('select x.w, f.v from kinds x join few f on x.b = f.k', '[0-9]+ rows, some served', 'a column that can not be resident has its table read');
same_is('select w, v from words join few using (k)', '300 rows, some served', '... one that is not');
same_is("select count(*) from words join few using (k) where w::text like '%7'", '1 rows, some served', '... and one that is filtered by');
same_is('select count(*) from words join few using (k)', '1 rows, all served', '... if it is asked for');
same_is('select x.ctid, y.xmin from few x join few y using (k)', '1000 rows, none served', 'a system column has its table read');
same_is("select x.v from few x join few y using (k) where x.ctid >= '(0,0)' and y.tableoid > 0", '1000 rows, none served', '... in a filter');
same_is('select x.v from few x join few y using (k) where x is not null and (y.*)::text > \'\'', '1000 rows, none served', '... or a row as a whole');

# ---------------------------------------------------------------- values of any length

# Short headers and long ones, compressed, out of line, wide ones of fixed width, NULLs, defaults of columns that were added later; rows that were inserted, copied and updated.
sql(<<'SQL');
create table strings (k int, t text, v varchar(20), c char(10), b bytea, n numeric, m numeric(12,2), j jsonb, a int8[], s name, gone text, p text, x text, e text);
alter table strings alter x set storage external, alter p set storage plain;
insert into strings select i, case when i % 3 > 0 then repeat('t', i % 200) end, 'v' || i % 7, 'c' || i % 300, decode(md5(i::text), 'hex'), i / 7.0, case when i % 5 > 0 then (i % 500) / 100.0 end,
  jsonb_build_object('a', i, 'b', repeat('x', i % 300)), array[i, i + 1, null], 'name ' || i % 300, 'gone', case when i % 100 = 0 then repeat('p', 3000) else 'p' end,
  case when i % 50 = 0 then repeat(md5(i::text), 200) end, case when i % 40 = 0 then repeat('e' || i, 9000) else '' end from generate_series(1, 4000) i;
alter table strings drop column gone, add column q text default repeat('q', 3000), add column r numeric(8, 3) default 2.500, add column o name default 'o';
insert into strings (k, t, q, o, n, m) select i, i::text, nullif('q' || i % 9, 'q0'), 'o' || i, -i, i from generate_series(4001, 5000) i;
update strings set t = t || 'y', x = 'short', n = null, q = 'changed' where k % 100 = 7;
delete from strings where k % 100 = 8;
create table keys as select distinct on (t) t, v, c, b, n, m, s, k as v1 from strings where k between 1000 and 1400 or k > 4700;
SQL
{
	my $file = $node->basedir . '/strings';
	sql("copy (select k + 10000, t, v, c, b, n, m, j, a, s, p, x, e, q, r, o from strings where k < 300) to '$file'; copy strings from '$file'");
}
become_resident($node, 'strings', 'keys', 'few');
my @strings = qw(t v c b n m j a s p x e q r o);
same_is("select f.v, s.$_, pg_column_size(s.$_) from strings s join few f using (k)", '[0-9]+ rows, all served', "strings.$_, and what it takes") foreach @strings;
same_is('select f.v, md5(s::text) from (select k, ' . join(', ', @strings) . ' from strings offset 0) s join few f using (k)', '[0-9]+ rows, all served', '... and all of them');
same_is("select s.k, y.v1, y.$_ from strings s join keys y on s.$_ = y.$_", '[0-9]+ rows, all served', "key $_") foreach qw(t v c b n m s);
same_is('select s.k, y.v1 from strings s join keys y on s.t = y.v and s.v = y.t::varchar', '[0-9]+ rows, all served', 'keys of several types');
same_is('select s.k, y.v1, y.b from strings s full join keys y on s.t = y.t and s.n is not distinct from y.n', '[0-9]+ rows, all served', 'a full join');
same_is('select y.s, count(*), sum(s.n), avg(s.m), max(s.t), min(s.b::text), count(distinct s.v) from strings s join keys y using (t) group by y.s', '[0-9]+ rows, all served', 'groups and aggregates');
foreach my $filter ("t like 'tt%'", "t = 'ttttt'", "t is null", "c = 'c5'", "v in ('v1', 'v2')", 'n > 100.5 and m < 3', 'm between 1 and 2.5', "j->>'a' like '%7'", 'a @> array[17::int8]', 'length(x) > 100', "b < '\x40'",
	"s > 'name 2' and o = 'o'", "length(e) + length(p) > 40000", 'length(q) < 100', "q is not null and r = 2.5", "v = 'v1' and m < 3 or v in ('v2', 'v3') and n > 100 or t like 'tt%' and v <> 'v4'", "not (v = 'v1' or q is null or c = 'c5' and v > 'v1')", 'k % 3 = 1 and length(t) > 50')
{
	same_is("select s.k, s.t, md5(s.q) as q, s.n, f.v from (select * from strings where $filter) s join few f on f.k = s.k % 1000", '[0-9]+ rows, all served', "filter $filter");
}
sql("update strings set p = p || 'u' where k % 1000 = 9; alter table strings alter v type text");
same_is("select f.v, s.k, s.$_, pg_column_size(s.$_) from strings s join few f using (k)", '[0-9]+ rows, some served', "strings.$_ where blocks have changed") foreach qw(t n m p x o);
same_is('select f.v, s.k, md5(s.q), s.v from strings s join few f using (k)', '[0-9]+ rows, some served', '... and of another type');
# conditions that are decided over arrays: comparisons of columns of one width and of others, with NULLs, and all that can be made of them
sql(q{create table pairs as } . pairs_rows(9001));
sql(q{delete from pairs where k % 10 = 3});
become_resident($node, 'pairs', 'few');
foreach my $filter (pairs_filters())
{
	same_is("select p.k, p.n, p.w, f.v from (select * from pairs where $filter) p join few f on f.k = p.a", '[0-9]+ rows, all served', "filter $filter");
	same_is("select count(*), count(p.n), sum(p.b) from (select * from pairs where $filter) p join few f on f.k = p.a", '1 rows, all served', "aggregates, filter $filter");
}
sql(q{drop table pairs});

# numerics, which are integers where they can be, with another scale in each segment, none in the last, and pages between that have changed
sql(<<'SQL');
create table amounts (k int, n numeric, m numeric(15, 2), p numeric(6, 2), q numeric(20, 10), pad text);
insert into amounts select i, round(case when i % 3 = 0 then -i else i end / 8.0, i / 7000), case when i % 5 > 0 then i * 1000003.25 end, i % 1000 / 4.0, i / 10000000000.0, repeat('x', 1100) from generate_series(1, 21000) i;
insert into amounts select i, i, i, i / 4.0, 'NaN', repeat('x', 1100) from generate_series(21001, 24000) i;
SQL
become_resident($node, 'amounts');
is(sql(q{select * from hashgraph_resident_check('amounts')}), '24000|0', 'numerics');
same_is("select x.$_, pg_column_size(x.$_), y.v from amounts x join few y on y.k = x.k % 3000", '[0-9]+ rows, all served', "amounts.$_") foreach qw(n m p q);
same_is("select x.k, y.k as l from amounts x join amounts y on x.$_ = y.$_ where x.k % 50 = 7 and y.k < 15000", '[0-9]+ rows, all served', "key $_") foreach qw(n m p q);
same_is("select x.k, x.n, x.m from (select * from amounts where $_) x join few y on y.k = x.k % 3000", '[0-9]+ rows, all served', "filter $_") foreach 'n > 100.25 and n < 2000', 'm between 1000 and 5e9', 'p = 12.5', 'q is not null and n < 0 and k % 2 = 1';
my $sums = 'select y.v, count(*), sum(x.n), sum(x.m), avg(x.p), max(x.n), min(x.m), sum(x.q) filter (where x.k <= 21000), sum(x.n * x.p), sum(x.m * (1 - x.p) + x.n) from amounts x join few y on y.k = x.k % 500 group by y.v';
same_is($sums, '7 rows, all served', 'sums');
sql(q{update amounts set p = p + 1 where k % 500 = 3});
same_is($sums, '7 rows, some served', '... and where blocks have changed');
# all rows at once, where nothing says that a batch ends with a segment
like(sql(q{select same('select sum(n), sum(m), avg(p), sum(n * p), sum(m * (1 - p) + n), count(n) from amounts where k <= 21000', false)}), qr/^1 rows, (none|some) served$/, '... of one table');
sql(q{select hashgraph_resident_drop('amounts'); drop table amounts});
# as many different values as a dictionary may have, in a segment, and one more
sql(q{create table many as select i as k, 'value number ' || case when i <= 65536 then i else 1 + i % 100 end as a, 'value number ' || case when i <= 65537 then i else 1 + i % 100 end as b from generate_series(1, 140000) i});
become_resident($node, 'many');
cmp_ok(sql(q{select sum(host_bytes * case "column" when 'a' then 1 when 'b' then -1 else 0 end) from hashgraph_resident where relation = 'many'::regclass}), '<', -300_000, 'a dictionary of 65536 values, and none of more');
is(sql(q{select * from hashgraph_resident_check('many')}), '140000|0', '... with the right rows');
same_is("select x.k, x.$_, y.v from many x join few y on x.k = y.k * 130 and x.k % 7 = 1", '[0-9]+ rows, all served', "... in $_") foreach qw(a b);
sql(q{select hashgraph_resident_drop('many'); drop table many});
# wide values are copied a few at a time, wherever they come from; a batch of a page's rows would be twenty of these
{
	sql('create table wide (k int, p text); alter table wide alter p set storage plain');
	sql(q{insert into wide select i, repeat('p', 7000) from generate_series(1, 300) i; alter table wide add column q text default repeat('q', 50000); insert into wide (k, p, q) select i, 'p', 'q' from generate_series(301, 400) i});
	become_resident($node, 'wide');
	foreach my $column (qw(p q))
	{
		my $plan = sql("set work_mem = '64kB'; set hashgraph.min_rows = 0; explain (analyze, costs off, timing off) select length(w.$column), f.v from wide w join few f using (k)");
		my ($memory) = $plan =~ /Memory Usage: (\d+)/;
		like($plan, qr/(Outer|Inner) Resident Blocks: 30\d\n/, "wide.$column is served");
		cmp_ok($memory, '<', 1500, '... and bounded');
		same_is("select w.k, md5(w.$column), f.v from wide w join few f using (k)", '400 rows, all served', '... with the right rows');
	}
	sql(q{update wide set k = k where k % 100 = 5});
	same_is('select w.k, md5(w.p), md5(w.q), f.v from wide w join few f using (k)', '400 rows, some served', '... and where blocks have changed');
	sql(q{update wide set k = k where k % 20 = 5});
	same_is('select w.k, md5(w.p), md5(w.q), f.v from wide w join few f using (k)', '400 rows, some served', '... more and more');
	# of a page's rows too, where none of them has a large default that all of them have
	sql(q{create table thin as select i as k from generate_series(1, 1500) i; alter table thin add column q text default repeat('q', 40000)});
	become_resident($node, 'thin');
	sql(q{update thin set k = k where k % 500 = 5});
	my $plan = sql("set work_mem = '64kB'; set hashgraph.min_rows = 0; explain (analyze, costs off, timing off) select length(w.q), f.v from thin w left join few f using (k)");
	my ($memory) = $plan =~ /Memory Usage: (\d+)/;
	like($plan, qr/(Outer|Inner) Resident Blocks: [1-9]\d*\n +(Outer|Inner) Heap Blocks: [34]\n/, 'thin.q is served of some blocks');
	cmp_ok($memory, '<', 1500, '... and bounded');
	same_is('select w.k, md5(w.q), f.v from thin w left join few f using (k) where w.k % 3 = 1', '500 rows, some served', '... with the right rows');
	sql('drop table thin; drop table wide; drop table strings; drop table keys');
}

# ---------------------------------------------------------------- more than there is room for

# What is NULL takes a bit of a page, and would take 16 bytes of an array.  A loader has no more for it than all residents may have.
{
	my ($most, $done) = (0, 0);

	sql('create table nulls (k int, ' . join(', ', map { "c$_ uuid" } 1 .. 1000) . ')');
	sql('insert into nulls (k) select i from generate_series(1, 40000) i; vacuum nulls');
	wait_for(sub { sql(q{vacuum nulls; select relallvisible = relpages from pg_class where relname = 'nulls'}) eq 't' }, 20, every => 0.1);
	my $loader = RawSession->new($node);
	$loader->send(q{select hashgraph_resident_add('nulls', wait => true)});
	until ($loader->finish(0.02))
	{
		foreach my $pid (split /\n/, sql(q{select pid from pg_stat_activity where backend_type = 'hashgraph loader'}))
		{
			my ($held) = proc_file($pid, 'status') =~ /^RssAnon:\s+(\d+) kB/m;
			$most = $held if ($held // 0) > $most;
		}
	}
	like($loader->{error} // '', qr/could not be taken in/, 'a table that there is no room for');
	cmp_ok($most, '<', 150_000, '... and a loader that has no more for it');
	sql('drop table nulls');
}

# ---------------------------------------------------------------- plans

# What a plan says of its inner table's blocks, and what it costs, without the setting that has a join cost nothing.
sub planned
{
	my ($resident, $query) = @_;
	my $plan = sql("set hashgraph.force = off; set hashgraph.min_rows = 0; set enable_hashjoin = on; set hashgraph.resident = $resident; explain $query");

	my ($blocks) = $plan =~ /Inner Resident Blocks: (\d+)/;
	my ($cost) = $plan =~ /HashGraphJoin\)  \(cost=\S+\.\.(\S+)/;
	return ($blocks // 0, $cost);
}
{
	my $query = 'select count(*) from kinds x join kinds y on x.l = y.l where y.b < 200';
	my ($served, $cost) = planned('on', $query);
	my ($none, $whole_cost) = planned('off', $query);
	is($served, sql("select pg_relation_size('kinds') / 8192"), 'EXPLAIN tells what would be served');
	is($none, 0, '... and that nothing would be');
	cmp_ok($cost, '<', $whole_cost - 1.6 * $served, '... and pages that are not read cost nothing');
	($served, $cost) = planned('on', 'select x.w from kinds x join kinds y on x.l = y.l');
	is($served, sql("select pg_relation_size('kinds') / 8192"), '... of each side by itself');
	(undef, my $words_cost) = planned('on', "select x.l, y.l from kinds x join kinds y on x.l = y.l where x.w::text <> '' and y.w::text <> ''");
	(undef, $cost) = planned('off', "select x.l, y.l from kinds x join kinds y on x.l = y.l where x.w::text <> '' and y.w::text <> ''");
	is($words_cost, $cost, '... but those of columns that are not resident do');
}

# The costs of the join and of a scan below it, whose filter is this.
sub filter_costs
{
	my ($filter) = @_;
	my $plan = sql("set hashgraph.force = off; set hashgraph.min_rows = 0; set enable_hashjoin = on; explain select x.k, y.v from few x join few y on x.k = y.k where $filter");

	return map { $plan =~ /$_.*\(cost=\S+\.\.(\S+)/ } 'HashGraphJoin\)', 'Seq Scan on few y';
}
{
	sql('analyze few');
	my ($join, $scan) = filter_costs('y.k > -1');
	my ($more_join, $more_scan) = filter_costs('(' . join(' or ', map { "y.k > -$_" } 1 .. 20) . ')');
	cmp_ok($more_scan - $scan, '>', 40, "PostgreSQL's price of a filter goes by its operators");
	cmp_ok(abs($more_join - $join - 0.2 * ($more_scan - $scan)), '<', 0.05, '... and ours is a fifth of that where it is decided over columns');
}

# ---------------------------------------------------------------- filters

sql(<<'SQL');
create sequence calls;
create function counted_call(i int) returns bool volatile language sql as $$ select nextval('calls') > 0 and i > 0 $$;
create function fails(i int) returns bool immutable language plpgsql as $$ begin if i = 14 then raise 'fourteen'; end if; return true; end $$;
SQL
my @filters = (
	'a > 100', 'a between 100 and 20000 and b <> 7', 'a is not null', 'a is null', 'c < 0 and c is not null', 'b = 5 or b = 6', "i >= '2021-01-01' and i < '2022-01-01'",
	"j < '2020-01-02'", 'd', 'not d', 'a % 3 = 1 and b < 100', 'k > interval \'1 year\'', 'a in (1, 2, 3, 10000, 11111)', 'a = b', 'h > \'80000000-0000-0000-0000-000000000000\' and m < \'08:00:2b:01:02:80\'',
	'o is not null and b > 20', 'q = 42', "p > '(500,1)'", 'a::text like \'%7\'', 'b > (select v from few order by v limit (select 1))', 'b in (select v from few where k < 5)',
	'b < 20 and b = any (select v from few where few.k = kinds.b)', '(a > 25000 or c is null) and not d', 'not (a < 100 or b in (1, 2, 300))', 'd is not true or b < 20', '(a < b) is unknown',
	'a not in (5, 7, null) or b = 3', 'b <> all (array[5, 7])', 'f between 3 and 7.5', "g < '-0' or g = 'nan'", 'a is distinct from 100', "e in ('A', 'B') and l < 5000", "h between '10000000-0000-0000-0000-000000000000' and '20000000-0000-0000-0000-000000000000'",
	"i = date 'infinity' or i < date '2020-02-02'", "x like 'ww%' and b < 100", "x = 'www' or a = 7", "q is null and not (a % 2 = 0) or b = 4", "(b < 50 and b > 10 or b = 299) and c::text like '%1%'", 'case when a > 5 then b < 7 else d end', 'b > 290');
foreach my $filter (@filters)
{
	same_is("select x.a, x.b, f.v from (select * from kinds where $filter) x join few f on f.k = x.b", '[0-9]+ rows, (all|some) served', "filter $filter");
}
# Values of variable length: few that come again, many that don't, compressed ones and such as are out of line, numerics of one scale and of several.
sql(<<'SQL');
create table varied (a int, few text, many text collate "C", b char(6), c bytea, long text, away text, n numeric, m numeric(10, 2));
alter table varied alter away set storage external;
insert into varied select i, case when i % 9 > 0 then (array['', ' ', 'a', 'ab', 'abc', 'b', 'ä', 'äb', repeat('ab', 3000)])[i % 8 + 1] end, case when i % 11 > 0 then 'many ' || i end, (array['', 'a', 'ab '])[i % 3 + 1],
  decode(lpad(to_hex(i % 300), 4, '0'), 'hex'), case when i % 50 = 0 then repeat('long ' || i, 900) else 'short ' || i end, case when i % 40 = 0 then repeat(md5(i::text), 100) else md5(i::text) end,
  case i % 10 when 0 then null when 1 then 'nan' when 2 then 1e30 else round(i / 7.0, i % 4) end, i / 100.0 from generate_series(-3000, 3000) i;
SQL
become_resident($node, 'varied');
foreach my $filter ("few = 'ab'", "few <> 'ab'", "few in ('', 'b', 'none')", "few like 'a%'", "few not like 'ä%'", "few like 'ab' or few is null", "few > 'a' and few = 'abc'", "many < 'many 2'", "many >= 'many 1' and many like 'many 1%' and few = 'a'", 'many is null', "many = 'many 700'",
	"b = 'a'", "b like 'ab%'", "b in ('', 'ab')", "c > '\\x0010' and c <= '\\x0100'", "c = '\\x0102'", "long like 'long%'", "long like 'short 1%' or long like 'long -%'", "long <> 'short 17'", "away like 'a%'", "away = repeat(md5('40'), 100)",
	'n > 100.5', 'n between 10 and 20.25', 'n = 1e30', "n = 'nan'", 'n <> 5', 'n in (1, 2.00, 3.5)', 'm < 0.005', 'm = 17.5', 'm > 0.01 and m < 0.021', 'm not in (1, 2)', 'not (m < 10 or few = \'a\')', "(few = 'a' or n > 3) is not true and m >= 29.995",
	"few = 'a' and m = 1.02 or many = 'many 5'", "few like 'ab%' and counted_call(a)")
{
	same_is("select x.a, f.v from (select * from varied where $filter) x right join few f on f.k = abs(x.a)", '[0-9]+ rows, all served', "filter $filter");
}
# Segments are ruled out, or in, by the least and the greatest value of a column: at the edges of what they have, with columns that are all NULL in one.
sql(<<'SQL');
create table spread (a int, b bool, d date, o oid, f float8, n int, c "char", m numeric(10, 2), u numeric, g text, filler char(1900));
alter table spread alter filler set storage plain;
insert into spread select i - 4084, i >= 4084, case when i >= 4084 then date '2000-01-01' + i else '-infinity' end, (i::int8 * 400000)::oid, case when i < 4084 then '-0' when i < 8168 then i / 8 else 'nan'::float8 end,
  case when i >= 4084 and i < 8168 or i = 9000 then i end, chr(1 + i / 100)::"char",
  (i - 4084) / 4.0, case when i = 9000 then 'NaN' when i % 10 > 0 then round(i / 8.0, i / 4084) end, 'g' || i % 3 + i / 4084 * 2, '' from generate_series(0, 10499) i;
SQL
become_resident($node, 'spread');
is(sql('select count(distinct (ctid::text::point)[0]::int / 1021) from spread'), 3, 'a table of three segments, ...');
foreach my $filter ('a < 0', 'a <= 0', 'a > 4083', 'a >= 4083 and a <= 4084', 'a = -4084', 'a = 4083 or a < -4080', 'a between 100 and 4000 or a is null', 'a in (-1, 9000)', 'not (a < 4084)', 'b', 'not b', 'b is not false', "d = '-infinity'", "d < '2011-03-08' and a % 2 = 0",
	"d > '-infinity'", 'o > 3267000000', 'o < 1633600000 or o = 4199600000', 'f = 0', "f < '0' or a = 5", "f = 'nan'", "f >= 1000.0", 'n is null', 'n is not null', 'n < 4090', 'n >= 4084', '(n > 0) is unknown', 'n > 0 or a < -4000', "c > 'B'", "c <= '\001'", 'm < -0.25', 'm <= -1021', 'm >= 0', 'm between -0.001 and 0.001', 'm > 1603.5', 'm = 1020.999', 'm = 1020.75', "m < 'NaN'", 'm in (1, 1.25, 1e30)', 'm > -1e18', 'not (m < 0)', "g = 'g2'", "g like 'g4%' or g = 'g0'", "g <> 'g3' and b",
	'u > 510.5', 'u < 510', 'u is null or u > 1021', 'u >= 511 and u < 1021.125', "u = 'NaN'", 'u <> 0.0',
	'a > (select min(v) from few) + 5000', 'a < 0 and a > (select max(v) from few)', 'a < 0 and fails(a)')
{
	same_is("select x.a, f.v from (select * from spread where $filter) x right join few f on f.k % 500 = x.a % 500", '[0-9]+ rows, all served', "... filter $filter");
}
same_is('select count(*) from (select a from kinds where counted_call(b) and a > 100 offset 0) x join few f on f.k = x.a', '1 rows, all served', 'a volatile filter');
my @calls = map { sql("set hashgraph.resident = $_; select setval('calls', 1); select count(*) from (select b from kinds where counted_call(b) and a > 100) x join few f on f.k = x.b; select last_value from calls") =~ s/.*\n//sr } qw(on off);
is($calls[0], $calls[1], '... is called as often as without residents');
foreach my $resident (qw(on off))
{
	my (undef, undef, $error) = $node->psql('postgres', "set hashgraph.resident = $resident; select count(*) from kinds x join few f on f.k = x.b where fails(x.b)");
	like($error, qr/fourteen/, "an error in a filter, resident $resident");
}

# ---------------------------------------------------------------- rescans and cursors

same_is('select f.k, s.n from few f, lateral (select count(*) as n from kinds x join few g on x.b = g.k where x.l::int8 > f.k * 10 and g.v = f.v offset 0) s where f.k < 8', '7 rows, all served', 'rescans with other parameters');
same_is('select f.k, (select count(*) from kinds x join few g on x.b = g.k where g.v = f.v) from few f where f.k < 12', '11 rows, all served', 'rescans of one side');

my $session = RawSession->new($node);
my $other = RawSession->new($node);
# The result of a statement in a session, which is to have no error.
sub in_session
{
	my ($who, $statement) = @_;
	my $result = $who->query($statement);

	BAIL_OUT("$statement: $who->{error}") if defined $who->{error};
	return $result;
}
in_session($session, "set work_mem = '64kB'; set hashgraph.min_rows = 0");
# The rows of a cursor over two tables, some of which are changed by $between when half of them have been fetched; and what there was to be.
sub cursor_is
{
	my ($how, $name, @between) = @_;
	my $query = 'select x.l, x.a, f.v from kinds x join few f on f.k = x.b';

	in_session($session, 'begin');
	in_session($session, "savepoint outside; declare c $how cursor for $query; create temp table whole on commit drop as $query");
	in_session($session, 'create temp table got (like whole) on commit drop');
	in_session($session, q{do $$ declare r record; c refcursor := 'c'; begin for i in 1 .. 3000 loop fetch c into r; insert into got values (r.l, r.a, r.v); end loop; end $$});
	foreach my $between (@between)
	{
		my ($who, $statement) = @$between;
		in_session($who eq 'own' ? $session : $other, $statement);
	}
	in_session($session, q{do $$ declare r record; c refcursor := 'c'; begin loop fetch c into r; exit when not found; insert into got values (r.l, r.a, r.v); end loop; end $$});
	is(in_session($session, 'select count(*) > 10000, count(*) = (select count(*) from whole), (select count(*) from ((table got except all table whole) union all (table whole except all table got)) s) from got'), 't|t|0', $name);
	in_session($session, 'close c; commit');
	return;
}
cursor_is('', 'a cursor over changes of others', [ 'other', 'update kinds set a = -1 where l::int8 % 100 = 3' ], [ 'other', 'delete from few where k % 10 = 0' ], [ 'other', 'vacuum kinds' ]);
cursor_is('', '... over own changes', [ 'own', 'update kinds set a = -2 where l::int8 % 100 = 7' ], [ 'own', 'insert into few select 5, 5' ]);
cursor_is('', '... over what a subtransaction has changed and taken back', [ 'own', 'savepoint s' ], [ 'own', 'delete from kinds where b < 100' ], [ 'own', 'rollback to s' ]);
cursor_is('', '... over another taking in of the table', [ 'other', q{select hashgraph_resident_drop('kinds')} ], [ 'other', q{select hashgraph_resident_add('kinds')} ]);
cursor_is('insensitive', '... over an ALTER TABLE that waits for nobody', [ 'other', 'alter table few alter v set statistics 10' ], [ 'other', 'analyze few' ]);
in_session($session, 'begin; declare c cursor with hold for select x.l from kinds x join few f on f.k = x.b; fetch 10 from c; commit');
in_session($other, 'truncate few; insert into few select i, i % 7, md5(i::text)::uuid, date \'2020-01-01\' + i from generate_series(1, 1000) i');
is(in_session($session, 'select count(*) > 0 from few'), 't', '... and one that is held');
in_session($session, 'close c');

become_resident($node, 'kinds', 'few');
# in a subtransaction that fails, and after it
sql(<<'SQL');
create function in_subtransaction(query text) returns bigint language plpgsql as $$
declare
  n bigint;
begin
  begin
    execute query into n;
    raise division_by_zero;
  exception when division_by_zero then
  end;
  execute query into n;
  return n;
end
$$;
SQL
is(sql(q{select in_subtransaction('select count(*) from kinds x join few f on f.k = x.b') = count(*) from kinds x join few f on f.k = x.b}), 't', 'in a subtransaction that is rolled back, and after it');

# ---------------------------------------------------------------- own changes, and transactions

# A test in a transaction of its own: statements, then the query.  The witnesses take out what is locked when they come by.
sub in_transaction_is
{
	my ($isolation, $statements, $expected, $name) = @_;
	my $query = 'select x.l, x.a, f.v from kinds x join few f on f.k = x.b';

	in_session($session, "begin isolation level $isolation");
	in_session($session, $_) foreach split /;\s*/, $statements;
	like(in_session($session, "select same('$query')"), qr/^[0-9]+ rows, $expected$/, $name);
	in_session($session, 'rollback');
	return;
}
in_transaction_is('read committed', 'select 1', 'all served', 'a transaction');
in_transaction_is('repeatable read', 'select 1', 'all served', '... with one snapshot');
in_transaction_is('read committed', 'select from kinds where l = 10 for update', 'all served', 'a row that is locked');
in_transaction_is('serializable', 'select 1', 'none served', 'a serializable transaction is not served');
in_transaction_is('serializable read only', 'select 1', 'all served', '... unless it is known to be safe');
in_transaction_is('repeatable read', 'update kinds set a = 5 where l = 10; delete from kinds where l = 20; insert into kinds (b, l) values (5, 5)', 'some served', 'own changes');
in_transaction_is('repeatable read', 'savepoint s; update kinds set a = 5 where l = 1000; release s; savepoint t; delete from few where k = 7', 'some served', '... of subtransactions');
in_transaction_is('read committed', 'truncate few; insert into few select i, i from generate_series(1, 50) i', 'some served', 'a table whose file the transaction has made is not served');
in_transaction_is('read committed', 'alter table few add column z int default 7', '(all|some) served', 'a column that was added');
in_transaction_is('read committed', 'alter table few drop column u', '(all|some) served', '... or dropped');
in_transaction_is('read committed', 'alter table few alter v type int8', 'some served', '... or rewritten');
sql('alter table few add column z int default 7');
same_is('select x.z, y.v from few x join few y using (k)', '1000 rows, (none|some) served', 'a column that nobody has asked for has the table read');
become_resident($node, 'few');
same_is('select x.z, y.v from few x join few y using (k)', '[0-9]+ rows, all served', '... until it is resident');
sql('alter table few drop column d');
same_is('select x.z, y.v from few x join few y using (k)', '[0-9]+ rows, (all|some) served', 'other columns when one was dropped');

# EXPLAIN (ANALYZE) tells why a table with residents is not served, and of others nothing
sub not_cached
{
	my ($statements, $query) = @_;
	in_session($session, $_) foreach 'begin', split /;\s*/, $statements;
	my $plan = in_session($session, "explain (analyze, costs off, timing off) $query");
	in_session($session, 'rollback');
	return join('; ', $plan =~ /(?:Outer|Inner) Not Served: (.*)/g);
}
{
	my $kinds = 'select count(*) from kinds x join words y on x.l = y.k::oid';
	is(not_cached('select 1', $kinds), '', 'EXPLAIN says nothing of what is served');
	is(not_cached('set local hashgraph.resident = off', $kinds), join('; ', ('hashgraph.resident is off') x 2), '... but why a table is not: the setting');
	is(not_cached('set transaction isolation level serializable', $kinds), join('; ', ('the transaction is serializable') x 2), '... the transaction');
	is(not_cached('select 1', "$kinds where y.w::text <> ''"), 'not all columns are resident', '... columns that are not there');
	is(not_cached('select 1', "$kinds where x.tableoid > 0"), 'the filter asks for system columns', '... or never will be');
	is(not_cached('create table nobody as select 1 as k', 'select count(*) from kinds x join nobody y on x.l = y.k::oid'), '', '... and nothing of a table without residents');
	is(not_cached('set local hashgraph.resident = off; set local max_parallel_workers_per_gather = 2', $kinds), join('; ', ('hashgraph.resident is off') x 2), '... the same of several processes');
}

# an older snapshot
in_session($session, 'begin isolation level repeatable read');
my $query = q{select same('select x.l, x.a, f.v from kinds x join few f on f.k = x.b')};
my $before = in_session($session, $query);
in_session($other, 'update kinds set a = a + 1 where l::int8 % 500 = 3; delete from few where k % 100 = 50');
is(in_session($session, $query) =~ s/,.*//r, $before =~ s/,.*//r, 'a snapshot that is older than changes');
in_session($session, 'commit');
like(sql($query), qr/rows, some served/, '... and a newer one');

# rows that are to be locked or changed come from the table
is(sql('begin; update kinds set a = f.v from few f where f.k = kinds.b and kinds.l::int8 < 50; select count(*) from (select x.l from kinds x join few f on f.k = x.b for update of x) s; rollback') =~ /^\d+$/, 1, 'UPDATE ... FROM and FOR UPDATE');

# ---------------------------------------------------------------- interleavings

# A reader has one snapshot, and a cursor of which half is fetched, while a writer changes a table, ends, and the table is vacuumed; after
# each step that reader and another one, with a snapshot of its own, get what the table gives them.
sql(<<'SQL');
create function take(c refcursor, n int) returns numeric language plpgsql as $$
declare
  r record;
  sum numeric := 0;
begin
  for i in 1 .. n loop
    fetch c into r;
    exit when not found;
    sum := sum + hashtextextended(r::text, 0);
  end loop;
  return sum;
end
$$;
create table t (k int primary key, v int) with (fillfactor = 80);
create table u (k int, v int8);
insert into t select i, i from generate_series(1, 8000) i;
insert into u select i, i % 100 from generate_series(1, 8000) i;
SQL
become_resident($node, 't', 'u');
my $third = RawSession->new($node);
my @interleavings = (
	[ 'an update', 'update t set k = k + 100000 where k % 1000 = 1', 'commit' ],
	[ 'a HOT update', 'update t set v = -v where k % 1000 = 2', 'commit' ],
	[ 'a delete', 'delete from t where k % 1000 = 3', 'commit' ],
	[ 'an insert', 'insert into t select i, i from generate_series(20001, 20050) i', 'commit' ],
	[ 'an update that is aborted', 'update t set v = 0 where k % 500 = 4', 'rollback' ],
	[ 'a delete that is aborted', 'delete from t where k % 500 = 5', 'rollback' ],
	[ 'an insert that is aborted', 'insert into t select i, i from generate_series(30001, 30500) i', 'rollback' ],
	[ 'a row lock', 'select from t where k % 100 = 6 for update', 'commit' ],
	[ 'a subtransaction', 'savepoint s; update t set v = 1 where k % 1000 = 7; rollback to s; delete from t where k % 1000 = 8', 'commit' ],
	[ 'a change, and back', 'update t set v = v + 1 where k % 1000 = 9; update t set v = v - 1 where k % 1000 = 9', 'commit' ],
	[ 'both tables', 'delete from u where k % 2000 = 10; update t set v = 3 where k % 2000 = 11', 'commit' ],
	[ 'witnesses that end', q{select count(pg_terminate_backend(pid)) from pg_stat_activity where backend_type = 'hashgraph witness'; update t set v = 12 where k % 2000 = 12}, 'commit' ],
	[ 'another taking in', q{select hashgraph_resident_drop('u'); select hashgraph_resident_add('u'); update u set v = 12 where k % 2000 = 12}, 'commit' ],
	[ 'a table that is dropped from the residents', q{delete from t where k % 2000 = 13; select hashgraph_resident_drop('t')}, 'commit' ]);
my $joined = 'select t.k, t.v, u.v as w from t left join u using (k) where t.v % 7 <> 3';
sub interleaved
{
	my ($step) = @_;

	foreach my $reader ($session, $third)
	{
		my $result = in_session($reader, "select same('$joined')");
		like($result, qr/^[0-9]+ rows/, '... ' . ($reader == $session ? 'the same' : 'another') . " snapshot $step");
		$interleaved::served++ if $result =~ /all|some/;
	}
	return;
}
foreach my $interleaving (@interleavings)
{
	my ($what, $change, $end) = @$interleaving;

	in_session($session, 'begin isolation level repeatable read');
	my $whole = in_session($session, "set local hashgraph.resident = off; select sum(hashtextextended(r::text, 0)) from ($joined) r");
	in_session($session, "set local hashgraph.resident = on; declare c cursor for $joined");
	my $taken = in_session($session, q{select take('c', 3000)});
	in_session($other, 'begin');
	in_session($other, $_) foreach split /; /, $change;
	interleaved('before its end');
	in_session($other, $end);
	interleaved('after it');
	in_session($other, 'vacuum (truncate off) t') for 1 .. 2;
	interleaved('and after vacuums');
	is(in_session($session, "select take('c', 1000000) + $taken = $whole"), 't', "a cursor over $what");
	in_session($session, 'commit');
}
cmp_ok($interleaved::served, '>', 4 * @interleavings, '... most of them served');

# rows that have changed before they could be locked are looked at again, with those that they were joined with
become_resident($node, 't', 'u');
foreach my $resident (qw(on off))
{
	in_session($other, 'begin; update t set v = v + 1000000 where k in (100, 200)');
	in_session($session, "set hashgraph.resident = $resident");
	$session->send('with changed as (update t set v = t.v + u.v from u where u.k = t.k and t.k in (100, 200, 300) and t.v < 500000 returning t.k) select count(*) from changed');
	ok(wait_for(sub { sql("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like 'with changed%'") eq '1' }, 10), "resident $resident: an update waits for another one");
	in_session($other, 'commit');
	$session->finish;
	is($session->{rows}[0], 1, '... and leaves out the rows that do not qualify any more');
	in_session($other, 'update t set v = v - 1000000 where v > 500000');
}
in_session($session, 'set hashgraph.resident = on');

# ---------------------------------------------------------------- partitions, and several processes

sql(<<'SQL');
create table parts (k int, v int) partition by range (k);
create table parts_a partition of parts for values from (0) to (10000);
create table parts_b partition of parts for values from (10000) to (20000);
create table parts_c partition of parts for values from (20000) to (30000);
insert into parts select i, i % 50 from generate_series(0, 29999) i;
SQL
become_resident($node, 'parts_a', 'parts_b', 'kinds', 'few');
same_is('select p.v, f.k from parts p join few f on f.k = p.k', '[0-9]+ rows, some served', 'partitions, of which one is not resident');
become_resident($node, 'parts_c');
same_is('select p.v, x.l from parts p join kinds x on x.a = p.k', '[0-9]+ rows, all served', '... and all are');
in_session($session, 'set max_parallel_workers_per_gather = 2');
foreach my $query ('select p.v, x.l from parts p join kinds x on x.a = p.k', 'select x.l, f.v from kinds x join few f on f.k = x.b where x.a % 2 = 1 and f.v > 1', 'select count(*), sum(x.a) from kinds x join few f on f.k = x.b')
{
	like(in_session($session, "explain $query"), qr/Gather/, "several processes: $query");
	# counters of workers are not the session's
	like(in_session($session, "select same('$query', false)"), qr/^[0-9]+ rows, all served$/, '... have the same rows');
}
in_session($session, 'set enable_nestloop = on; set enable_hashjoin = off; set enable_material = off');
my $again = 'select n.i, s.l, s.v from (values (1), (2), (3)) n(i) left join (select x.l, f.v from kinds x join few f on f.k = x.b offset 0) s on s.l::int8 > n.i * 5000';
like(in_session($session, "explain (analyze) $again"), qr/Gather.*loops=3/, '... again and again');
like(in_session($session, "select same('$again', false)"), qr/^[0-9]+ rows, all served$/, '... with the same rows');
in_session($session, 'reset enable_nestloop; reset enable_hashjoin; reset enable_material');
in_session($other, 'update kinds set a = a + 1 where l::int8 % 500 = 4');
like(in_session($session, "select same('select p.v, x.l from parts p join kinds x on x.a = p.k', false)"), qr/^[0-9]+ rows, some served$/, '... and where blocks have changed');
in_session($session, 'begin; truncate few; insert into few select i, i % 7 from generate_series(1, 500) i');
like(in_session($session, "select same('select x.l, f.v from kinds x join few f on f.k = x.b', false)"), qr/^[0-9]+ rows, some served$/, '... or a table has another file');
in_session($session, 'rollback');
become_resident($node, 'kinds', 'few');

# joins of one process each, which workers take from an Append
my $branches = 'select count(*), sum(v), min(l) from (select x.l, f.v from kinds x join few f on f.k = x.b union all select x.l, f.v from kinds x join few f on f.k = x.a) u';
my $served = 'select blocks_served from hashgraph_stat_resident';

in_session($session, 'alter table kinds set (parallel_workers = 0); alter table few set (parallel_workers = 0); set parallel_leader_participation = off');
become_resident($node, 'kinds', 'few');
like(in_session($session, "explain (costs off) $branches"), qr/Gather.*Parallel Append\n(?:.*\n)*? +->  Custom Scan \(HashGraphJoin\)/s, 'workers do joins of one process');
my $before = in_session($session, $served);
my $rows = in_session($session, $branches);
cmp_ok(in_session($session, $served) - $before, '>=', sql(q{select sum(pg_relation_size(r)) / 8192 from unnest('{kinds, few}'::regclass[]) r}), '... which are served');
is($rows, in_session($session, "set hashgraph.enabled = off; $branches; set hashgraph.enabled = on"), '... with the same rows');
foreach my $made ('truncate few; insert into few select i, i % 7 from generate_series(1, 500) i', 'savepoint s; truncate few; rollback to s', 'alter table few rename to fewer; alter table fewer rename to few')
{
	in_session($session, "begin; $made");
	is(in_session($session, $branches), in_session($session, "set hashgraph.enabled = off; $branches; set hashgraph.enabled = on"), "... after $made");
	in_session($session, 'rollback');
}
in_session($session, 'set max_parallel_workers_per_gather = 0; reset parallel_leader_participation; alter table kinds reset (parallel_workers); alter table few reset (parallel_workers)');
become_resident($node, 'kinds', 'few');

# ---------------------------------------------------------------- ends in the middle

# what a scan holds is let go: else the memory of the table that is dropped would not come back, and there is room for it four times
sql(q{create table large as select i as k, i as v from generate_series(1, 600000) i; create function fails_at_end(i int) returns bool immutable language plpgsql as $$ begin if i > 599000 then raise 'the end'; end if; return true; end $$});
foreach my $round (1 .. 4)
{
	my $gone = RawSession->new($node);

	$gone->query('select 1');
	become_resident($node, 'large');
	like($gone->query(q{explain (analyze, costs off) select count(*) from large x join few f using (k)}), qr/Outer Resident Blocks: 26\d\d\n *Outer Heap Blocks: 0/, "round $round: served");
	(undef, undef, my $error) = $node->psql('postgres', q{select count(*) from large x left join few f on x.k = f.k where fails_at_end(x.v)});
	like($error, qr/the end/, '... an error');
	(undef, undef, $error) = $node->psql('postgres', q{set statement_timeout = 30; select count(*) from large x join large y on x.v % 1000 = y.v % 1000 and x.k + y.k < 0});
	like($error, qr/statement timeout/, '... a cancel');
	$gone->query('begin; declare c cursor for select x.k from large x join large y using (k)');
	$gone->query('fetch 5 from c');
	sql(q{select pg_terminate_backend(} . $gone->pid . ')');
	sql(q{select hashgraph_resident_drop('large')});
}
is(sql(q{select count(*) from hashgraph_resident where relation = 'large'::regclass}), '0', 'what was dropped while it was read has given its memory back');

# ---------------------------------------------------------------- a standby

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('resident_scan_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\n");
$standby->start;

# The rows that it finds, with residents or without.
sub on_standby
{
	my ($resident) = @_;
	return $standby->safe_psql('postgres', "set hashgraph.resident = $resident; select rows_of('$joined')");
}
# Blocks that are served there, of both tables.
sub served_on_standby
{
	return $standby->safe_psql('postgres', "select served from counted('$joined')");
}
$standby->safe_psql('postgres', "select hashgraph_resident_add('t'); select hashgraph_resident_add('u')");
sub standby_serves
{
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	return wait_for(sub { served_on_standby() > 40 }, 20, every => 0.1, between => sub { sql('vacuum t') });
}
ok(standby_serves(), 'a standby serves joins');
is(on_standby('on'), on_standby('off'), '... that are right');
foreach my $change ('update t set v = v + 1 where k % 500 = 17', 'delete from t where k % 500 = 18', "begin; insert into t select i, i from generate_series(40001, 40500) i; rollback", 'update u set v = 5 where k % 1000 = 19')
{
	$node->safe_psql('postgres', join ";\n", split /; /, $change);
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	is(on_standby('on'), on_standby('off'), "... after $change");
	sql('vacuum t');
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	is(on_standby('on'), on_standby('off'), '... and a vacuum');
}
ok(standby_serves(), '... and it goes on');
$standby->promote;
is(on_standby('on'), on_standby('off'), '... when it is promoted');
$standby->stop('fast');

# a column that is dropped is served to nobody, and is none to be compared
sql('create table shed as select i as k, i as v from generate_series(1, 5000) i');
sql('alter table shed add x int default 5');
sql('vacuum shed');
sql(q{select hashgraph_resident_add('shed', wait => true)});
my $shed = q{select * from hashgraph_resident_check('shed')};
ok(wait_for(sub { sql('vacuum shed'); sql($shed) eq '5000|0' }, 20), 'a column with a default that no row has');
sql('alter table shed drop column x');
is(sql($shed), '5000|0', '... which is dropped, is compared with nothing');

# what joins have scanned twice is taken in, and what is served is counted
sql('create table twice_a as select i as k, i as v, i::text as t from generate_series(1, 20000) i; create table twice_b as select i as k, i as w from generate_series(1, 20000) i');
sql('vacuum (analyze) twice_a, twice_b');
my $twice = 'select count(*), sum(v), sum(w), max(t) from twice_a join twice_b using (k)';
my $taken = q{select string_agg(relation::text || '.' || "column", ' ' order by relation::text, "column") from hashgraph_resident where relation::text ~ 'twice' and state = 'ready'};
my $counted = q{select format('%s %s %s', scans, rows_served, blocks_served) from hashgraph_stat_resident};
my $right = sql("set hashgraph.enabled = off; $twice");
sql("set hashgraph.resident = off; $twice; $twice");
is(sql($twice), $right, 'a first join of tables that are not resident');
is(sql(q{select count(*) from hashgraph_resident where relation::text ~ 'twice'}), 0, '... has nothing taken in, nor do those of sessions that use no residents');
is(sql($twice), $right, 'a second one');
ok(wait_for(sub { sql($taken) eq 'twice_a.k twice_a.t twice_a.v twice_b.k twice_b.w' }, 20), '... has what it scans taken in') or diag(sql('select * from hashgraph_resident'));
# no vacuum can do it while a witness may have seen the tables being filled
ok(wait_for(sub { sql('vacuum twice_a, twice_b'); sql("select served from counted('$twice')") > 150 }, 20), '... which serves the next one');
my ($scans, $served_rows, $served_blocks) = split / /, sql($counted);
is(sql("set max_parallel_workers_per_gather = 0; $twice"), $right, '... with the same rows');
is(sql($counted), join(' ', $scans + 2, $served_rows + 40000, $served_blocks + sql("select sum(pg_relation_size(c)) / 8192 from unnest('{twice_a,twice_b}'::regclass[]) c")), '... and is counted');

in_session($session, 'set hashgraph.resident = off');
like(in_session($session, 'explain (analyze, costs off) select count(*) from kinds x join few f on x.b = f.k'), qr/Outer Resident Blocks: 0\n/, 'hashgraph.resident = off: the table is read');
$node->stop('fast');
unlike(slurp_file($node->logfile) . slurp_file($standby->logfile), qr/PANIC|TRAP|was terminated by signal|leak/, 'nothing has failed or leaked');

done_testing();
