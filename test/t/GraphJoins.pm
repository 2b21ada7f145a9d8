# GraphJoins.pm
#
# What the tests of joins from resident HashGraphs share: a server with tables that have them, and joins whose rows have to be those of
# PostgreSQL's own, and to come from the HashGraphs that they are said to come from.

package GraphJoins;

use strict;
use warnings;

use Exporter 'import';
use HashGraphTest;
use RawSession;
use Test::More;

our @EXPORT = qw(graph_server sql settle same_is joins @types);

our @types = ('join', 'left join', 'right join', 'full join');

my ($node, $main);

# A server that takes HashGraph joins wherever it can, with lines of its own for postgresql.conf.  Its tables a and b have HashGraphs of
# keys of 2, 4 and 8 bytes, and columns of other types; e is one of twelve segments, and c one of few rows, which have none.
#
# graphs_of(plan): which sides of its joins had covered rows, o and i, behind a p where processes shared the join.  same(query): how many rows
# there are, and from what graphs they came; PostgreSQL's own joins have to return the same.
sub graph_server
{
	my ($name, $conf) = @_;

	$node = new_server($name, init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<"CONF");
hashgraph.resident_auto = off
hashgraph.force = on
autovacuum = off
$conf
CONF
	$node->safe_psql('postgres', <<'SQL');
create function graphs_of(node json) returns text language sql as $$
  select concat(case when coalesce(node->>'Outer HashGraph', node->>'Inner HashGraph') is not null and (node->>'Parallel Aware')::bool then 'p' end,
    case when node->>'Outer HashGraph' is not null then 'o' end, case when node->>'Inner HashGraph' is not null then 'i' end,
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
-- several segments each: rows are wide
create table a (id int, k2 int2, k4 int4, k8 int8, v int, n numeric(10,2), t text, wide text, tk text, nk numeric, bk char(12), fk float8) with (fillfactor = 90);
create table b (id int, k2 int2, k4 int4, k8 int8, w int, m numeric, u text, wide text, tk varchar(2000), nk numeric, bk char(9), fk float8) with (fillfactor = 90);
alter table a alter wide set storage plain;
alter table b alter wide set storage plain;
insert into a select i, case when i % 11 > 0 then i % 400 - 100 end, case when i % 13 > 0 then (i * 7919) % 9000 - 1000 end, case when i % 17 > 0 then (i * 31::int8) % 12000 - 500 end,
  i % 100, case when i % 5 > 0 then i / 4.0 end, case when i % 3 > 0 then 'text ' || i end, repeat('x', 900),
  case when i % 23 = 0 then repeat('long ', 300) || i % 60 when i % 8 > 0 then 'key ' || i % 700 end, case when i % 9 > 0 then (i % 800) / 8.0 end, 'b' || i % 900, case i % 300 when 0 then 'nan' when 1 then '-0' else (i % 300 / 4.0)::float8 end from generate_series(1, 12000) i;
insert into b select i, case when i % 7 > 0 then i % 500 - 150 end, case when i % 19 > 0 then (i * 104729::int8) % 7000 - 900 end, case when i % 5 > 0 then (i * 17::int8) % 9000 - 700 end,
  i % 50, i / 8.0, 'other ' || i % 77, repeat('y', 1500),
  case when i % 29 = 0 then repeat('long ', 300) || i % 60 when i % 10 > 0 then 'key ' || i % 900 end, case when i % 7 > 0 then ((i % 600) / 4.0)::numeric(12,6) end, 'b' || i % 700, case i % 200 when 0 then 'nan' when 1 then '0' else (i % 200 / 4.0)::float8 end from generate_series(1, 6000) i;
-- a row a block
create table e (id int, k2 int2, k4 int4, k8 int8, wide text) with (fillfactor = 30);
alter table e alter wide set storage plain;
insert into e select i, i % 900, i % 5000, case when i % 9 > 0 then i end, repeat('z', 2500) from generate_series(1, 12000) i;
create table c as select i as k, i % 10 as x from generate_series(-20, 300, 3) i;
analyze;
SQL
	sql(q{select hashgraph_resident_add('a', array['id', 'v', 'n', 't'], keys => array['k2', 'k4', 'k8'])});
	sql(q{select hashgraph_resident_add('b', array['id', 'w', 'm', 'u'], keys => array['k2', 'k4', 'k8'])});
	return $node;
}

# Run statements in a session of the server, which must succeed; what the last one returns.
sub sql
{
	$main //= RawSession->new($node);
	return $main->run_each(shift);
}

# A test for each of these tables: all of it is resident, with all of its graphs, three at least, in step.
sub settle
{
	my @tables = @_;

	foreach my $table (@tables)
	{
		ok(wait_for(sub {
			sql("select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) and count(*) filter (where kind = 'graph') >= 3 from hashgraph_resident
				where relation = '$table'::regclass and state <> 'declined'") eq 't' }, 30, every => 0.1, between => sub { sql("vacuum $table; select hashgraph_resident_refresh('$table')") }), "all of $table is resident")
		  or diag(sql("select json_agg(r) from hashgraph_resident r"));
	}
	return;
}

# A test: a query's rows are PostgreSQL's, and come from these graphs: a pattern.  Rows are right
# each time; but that blocks are served waits for witnesses, who are late where much else is going on.
sub same_is
{
	my ($query, $graphs, $name) = @_;
	my $found;

	$query =~ s/'/''/g;
	wait_for(sub { $found = sql("select same('$query')"); $found !~ /^[0-9]+ / or $found =~ /^[0-9]+ $graphs$/ }, 20, every => 0.3);
	return like($found, qr/^[0-9]+ $graphs$/, $name);
}

# Every kind of join, of two tables with graphs, whose rows are covered, and of one of them with a table that has none.
sub joins
{
	my ($both, $one, $when) = @_;

	foreach my $type (@types)
	{
		same_is("select a.id, a.n, a.t, b.id as i, b.m, b.u from a $type b on a.k4 = b.k4", $both, "$when: $type with columns");
		same_is("select from a $type b on a.k8 = b.k8", $both, "$when: $type without columns");
		same_is("select a.id, a.t, b.id as i, b.m from (select * from a where v < 30) a $type (select * from b where w > 5) b on a.k4 = b.k4", $both, "$when: $type with filters");
		same_is("select a.v, b.w from a $type b on a.k8 = b.k8 and a.v < b.w", $both, "$when: $type with another clause");
		same_is("select a.id, c.x from a $type c on a.k4 = c.k", $one, "$when: $type of a table without a graph");
	}
	foreach my $not ('', 'not')
	{
		same_is("select id, n from a where $not exists (select from b where a.k4 = b.k4)", $both, "$when: $not exists");
		same_is("select id, n from a where $not exists (select from b where a.k4 = b.k4 and a.v < b.w)", $both, "$when: $not exists with another clause");
		same_is("select count(*) from b where $not exists (select from a where a.k8 = b.k8)", $both, "$when: $not exists, counted");
	}
	same_is('select count(*), sum(v), sum(n), min(u), max(m) from a join b on a.k8 = b.k8', $both, "$when: aggregates");
	same_is('select count(*) from a join b on a.k2 = b.k8', $both, "$when: a count");
	same_is('select u, count(*), sum(v) from a join b on a.k4 = b.k4 group by u', $both, "$when: groups");
	return;
}

1;
