# Random correlated subqueries give the rows that PostgreSQL's own plans give, in their order, and raise the same errors.
#
# Each query runs twice, with lookups by hash wherever they are possible and with hashgraph.enabled off.  What changes
# with the order in which an inner relation is read, as array_agg() and LIMIT, must be the same too; queries that may
# be parallel or have joins have none of it, because their rows come in any order.
#
# HG_SEED chooses the tables and the queries (the same seed means the same ones), HG_QUERIES how many (1000, with
# HG_QUICK 300).  A failure shows the query with its settings.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util qw(min shuffle);
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{HG_SEED} // 20;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 300 : 1000);
# what is shown of failures
my $most_shown = 5;

plan skip_all => 'is to run once' unless covers('cpu');

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { return rand(100) < $_[0]; }

# ------------------------------------------------------------------ tables

# A table whose columns are functions of a number x, a tenth of which is NULL.
sub table
{
	my ($name, $rows, $distinct) = @_;

	return <<"SQL";
create table $name as
  select n as id, n % 17 as v, x as i4, x::int8 * case when x = 7 then 4294967296 else 1 end as i8,
    case when n % 2 = 0 then x::numeric else x::numeric(12, 3) end as nu, x::float8 as f8,
    (case n % 3 when 0 then 'Key ' else 'key ' end || x) as te, ('key ' || x) collate "C" as tc,
    ('KEY ' || x) collate nocase as ti, date '2000-01-01' + x as da
  from (select n, case when n % 10 = 3 then null else (n * 7919 % $distinct) end as x from generate_series(1, $rows) n) s;
SQL
}

my $tables = q{create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);}
  . table('a', 120, 40) . table('b', 1200, 60) . table('c', 400, 25) . table('d', 12, 5) . table('e', 0, 1)
  . 'create table p (like a) partition by list (v); create table p1 partition of p default; insert into p select * from c;'
  # workers that start for each row of a join take minutes
  . 'alter table d set (parallel_workers = 0); analyze;';

# The query may be parallel, and may have joins.
my $any_order;

# Columns that can be compared with each other, and where the comparison needs it a collation.
my @families = ([qw(i4 i8)], [qw(i4 i8)], [qw(nu i4 i8)], ['f8'], ['da'], ['te'], ['tc'], ['ti']);

# ------------------------------------------------------------------ queries

# Relations that the subquery reads, whose columns are those of a table; w is a common table expression.
sub relation
{
	return pick(qw(b b b c c d e p w w)) if chance(70);
	return pick(
		'(select * from b offset 0)', '(select * from c order by v, id limit 300)', '(select distinct on (i4, v) * from b order by i4, v, id)',
		'(select * from c union all select * from d)', '(select * from b where v < 9 order by id desc)',
		q{(values (1, 2, 3, 3::int8, 3.0, 3::float8, 'key 3', 'key 3' collate "C", 'KEY 3' collate nocase, date '2000-01-04'), (2, 5, null, 3, 3.00, null, 'key 5', 'key 5', null, null)) },
		'(select x as id, x % 5 as v, x % 9 as i4, x::int8 as i8, x::numeric as nu, x::float8 as f8, x::text as te, x::text as tc, x::text as ti, null::date as da from generate_series(1, 60) x)');
}

# A comparison of a column of the subquery's relation with one of the outer relation.
sub equality
{
	my ($inner, $outer) = @_;
	my $family = pick(@families);
	my ($left, $right) = ("$inner." . pick(@$family), "$outer." . pick(@$family));

	if ($family->[0] =~ /^[in]/)
	{
		$left = pick("$left + 1", "abs($left)", "$left - $left % 2") if chance(15);
		$right = pick("$right + 1", "$right * 2", "coalesce($right, 3)") if chance(15);
	}
	$left = "lower($left)" if $family->[0] =~ /^t[ec]/ && chance(20);
	return chance(50) ? "$left = $right" : "$right = $left";
}

# Clauses that go with it, of this and of outer rows; some raise errors.
sub other_clause
{
	my ($inner, $outer, $depth) = @_;
	my @clauses = (
		"$inner.v > $outer.v", "$inner.v < 12", "$inner.v between $outer.v and 14", "$inner.nu > 3", "$inner.i4 is not null",
		"$inner.te like '%1%'", "$inner.v in (1, 3, 5, 7, 9)", "$outer.v > 5", "($inner.v < 4 or $inner.i4 = $outer.v)", "$inner.v <> $outer.v",
		"$inner.v::numeric >= $outer.nu", "$inner.id % 3 = $outer.v % 3");

	return pick("1 / ($inner.v - 16) < 5", "1 / ($inner.id - 700) < 5", "10 / ($outer.v - 16) < $inner.v") if !$any_order && chance(15);
	return "exists (select from c z where " . equality('z', pick($inner, $outer)) . " and z.v > $inner.v)" if $depth > 0 && chance(12);
	return "$inner.v > (" . subquery('z', pick($inner, $outer), 'sum(z.v) % 11', 0) . ')' if $depth > 0 && chance(12);
	return pick(@clauses);
}

# A subquery over an alias that returns an expression.
sub subquery
{
	my ($inner, $outer, $returns, $depth) = @_;
	my @clauses = (equality($inner, $outer));
	my $from = relation() . " $inner (id, v, i4, i8, nu, f8, te, tc, ti, da)";

	push @clauses, equality($inner, $outer) if chance(25);
	push @clauses, other_clause($inner, $outer, $depth) while chance(45);
	$from .= pick(' join d on d.i4 = ', ' left join d on d.i4 = ') . "$inner.v" if $any_order && $depth > 0 && chance(30);
	return "select $returns from $from where " . join(' and ', shuffle(@clauses));
}

# An expression over the outer row, of a subquery.
sub expression
{
	my ($outer) = @_;
	my @aggregates = ('sum(s.v)', 'count(*)', 'max(s.te collate "C")', 'array_agg(s.id order by s.id)', 'avg(s.nu)', 'max(s::text)');
	my @ordered = ('array_agg(s.id)', q{string_agg(s.id || s.te, ',')}, 'sum(s.f8)');

	return '(' . subquery('s', $outer, pick(@aggregates, $any_order ? () : @ordered), 1) . ')' if chance(50);
	return '(' . subquery('s', $outer, 's.id', 1) . ' order by s.v desc, s.id limit 1)' if chance(30);
	return condition($outer) if $any_order || chance(30);
	return '(' . subquery('s', $outer, pick('s.id', 's.te', 's.nu'), 1) . ' limit 1)' if chance(50);
	return 'array(' . subquery('s', $outer, 's.id', 1) . ')';
}

sub condition
{
	my ($outer) = @_;
	my $returns = pick('', 's.id');

	return pick('', 'not ') . 'exists (' . subquery('s', $outer, $returns, 1) . ')' if chance(50);
	return "$outer.v in (" . subquery('s', $outer, 's.v', 1) . ')' if chance(40);
	return "$outer.v " . pick('>', '<', '=') . ' (' . subquery('s', $outer, pick('avg(s.v)', 'max(s.v)', 'count(*) % 17'), 1) . ')';
}

sub random_query
{
	my $outer = chance(85) ? 'a' : pick('c', '(select * from a where v > 3 offset 0)');
	my $select = chance(50) ? 'o.id, ' . expression('o') . ' as x' : 'o.id, o.te';
	my $where = $select =~ / as x/ && chance(60) ? 'true' : pick("o.v = 3 or ", "o.v > 5 and ", "o.i4 = 2 or ") . condition('o');
	my $query = "select $select from $outer o where $where";

	# the common table expression may depend on rows around all
	return "with w as materialized (select * from b where v < 13) $query" if chance(70);
	return "select d.id as d, q.* from d, lateral (with w as materialized (select * from b where v < d.v) $query offset 0) q";
}

sub random_setting
{
	my %settings = (
		work_mem => pick('64kB', '64kB', '256kB', '4MB'),
		hash_mem_multiplier => pick(1, 2),
		enable_memoize => pick('on', 'off', 'off'),
		enable_material => pick('on', 'off'),
		enable_indexscan => pick('on', 'off'),
		max_parallel_workers_per_gather => $any_order ? pick(0, 2) : 0,
		'hashgraph.force' => pick('on', 'off', 'off'));

	return join(' ', map { "set $_ = '$settings{$_}';" } sort keys %settings);
}

# ------------------------------------------------------------------ running

my $check = <<'SQL';
-- the rows of a query in an order of their own, or its error
create function answer(query text, out rows text[], out error text) language plpgsql as $$
begin
  execute format('select array_agg(q::text order by q::text collate "C") from (%s) q', query) into rows;
exception when others then
  error := sqlstate || ' ' || sqlerrm;
end
$$;
create function random_check(query text) returns text language plpgsql as $$
declare
  ours record;
  core record;
  line text;
  lookups bigint := 0;
  disk bool := false;
  by_node bool := false;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  for line in execute 'explain ' || query loop
    by_node := by_node or line ~ 'HashGraphLookup';
  end loop;
  if not by_node then
    return 'same, without the node';
  end if;
  ours := answer(query);
  if ours.error is null then
    for line in execute 'explain (analyze, timing off) ' || query loop
      lookups := lookups + coalesce(substring(line from 'Lookups: (\d+)')::bigint, 0);
      disk := disk or line ~ 'Disk Usage';
    end loop;
  end if;
  perform set_config('hashgraph.enabled', 'off', false);
  core := answer(query);
  if ours is distinct from core then
    return format('different: %s instead of %s', left(ours::text, 400), left(core::text, 400));
  end if;
  return format('same, %s%s%s', coalesce('error', core.error, cardinality(core.rows) || ' rows'),
                case when lookups > 0 then ', by lookups' end, case when disk then ', on disk' end);
exception when others then
  return format('error, %s: %s', sqlstate, sqlerrm);
end
$$;
SQL
$check =~ s/coalesce\('error', core\.error/coalesce('error ' || core.error/;

my $node = new_server('subquery', init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF
$node->safe_psql('postgres', $check . $tables);

note "HG_SEED=$seed HG_QUERIES=$queries";
srand($seed);
my @batch;
my @lines = ("set statement_timeout = '60s';");
my ($stdout, $stderr);

foreach (1 .. $queries)
{
	$any_order = chance(40);
	push @batch, [ random_setting(), random_query() ];
}
push @lines, "\\echo query $_", $batch[$_][0], "select random_check(\$q\$$batch[$_][1]\$q\$);" for 0 .. $#batch;
$node->psql('postgres', join("\n", @lines),
	stdout => \$stdout, stderr => \$stderr, on_error_stop => 0,
	timeout => $PostgreSQL::Test::Utils::timeout_default + 2 * @batch);
diag($stderr) if $stderr ne '';

my %said = $stdout =~ /^query (\d+)\n(?!query)(.*)$/mg;
my @said = map { $said{$_} // 'error, no result' } 0 .. $#batch;
my @failed = grep { $said[$_] !~ /^same,/ } 0 .. $#batch;
my %count;

foreach my $n (@failed[ 0 .. min($#failed, $most_shown - 1) ])
{
	diag("seed $seed, query $n: $batch[$n][0]\n$batch[$n][1]\n--> $said[$n]");
}
is(scalar @failed, 0, "$queries random correlated subqueries agree with PostgreSQL's own plans");
foreach my $answer (@said)
{
	$count{$_}++ for grep { $answer =~ /, $_/ } 'without the node', 'error', 'by lookups', 'on disk';
}
note join(', ', map { "$count{$_} $_" } sort keys %count);
cmp_ok($count{'by lookups'} // 0, '>=', 0.4 * $queries, 'many were answered by lookups');
cmp_ok($count{'on disk'} // 0, '>=', 0.05 * $queries, 'some of them went to disk');
cmp_ok($count{'error'} // 0, '>=', 0.01 * $queries, 'some raise errors');

# files of an execution that fails, and of one that a cursor leaves
foreach my $end ('select id, (select max(s.te) from b s where s.i4 = o.i4), 1 / (id - 90) from a o',
	'begin; declare c cursor for select id, (select max(s.te) from b s where s.i4 = o.i4) from a o; fetch 50 from c; rollback')
{
	$node->psql('postgres', "set work_mem = '64kB'; set hash_mem_multiplier = 1; $end");
	is(scalar(temp_files($node)), 0, 'no temporary files are left');
}

# expressions are compiled if the rest of the plan costs enough, not for calls of a subquery whose results are kept
SKIP:
{
	my $query = 'select id, (select avg(s.v) from c s where s.i4 = o.i4) from b o';
	my $cost = sub { return ($node->safe_psql('postgres', "$_[0]; explain $query") =~ /cost=\S+\.\.(\S+)/)[0]; };
	my $compiled = sub { return $node->safe_psql('postgres', "set jit = on; $_[0]; explain $query") =~ /^JIT:/m ? 1 : 0; };
	my $between = $cost->('set enable_memoize = on') / 2;

	skip 'the server has no JIT provider', 3 unless $node->safe_psql('postgres', 'set jit = on; select pg_jit_available()') eq 't';
	is($compiled->("set jit_above_cost = $between; set hashgraph.enabled = off"), 1, 'PostgreSQL compiles a plan with an expensive subquery');
	is($compiled->("set jit_above_cost = $between"), 0, '... but not one whose results are kept');
	is($compiled->('set jit_above_cost = 0'), 1, '... unless the rest is expensive');
}

$node->stop;
done_testing();
