# Random queries with grouping sets, with DISTINCT aggregates and with set operations give the rows that PostgreSQL's own plans give, and raise the same errors.
#
# Each query runs twice, with the aggregate node wherever it is possible and with hashgraph.enabled off: over tables and joins, cached
# and not, of columns with NULLs of several types, in little memory and in much.
#
# Versions: how the planner marks the columns that a grouping set lacks, and what it hands to the hook of a set operation.
#
# HG_SEED chooses the tables and the queries (the same seed means the same ones), HG_QUERIES how many (1000, with HG_QUICK 300).  A
# failure shows the query with its settings.

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

# A table of columns with few and with many values, some of them NULL; all numerics of a value have one display scale.
sub table
{
	my ($name, $rows, $many) = @_;

	return <<"SQL";
create table $name as
  select n as id, n % 7 as k, case when n % 11 <> 0 then n * 7919 % 5 end as a, n * 31 % 4 as b, case when n % 6 <> 0 then (n * 104729 % $many)::int8 << 33 end as c,
    case when n % 13 <> 0 then (n * 31 % 9)::numeric / 4 end as nu, case when n % 5 <> 0 then 'key ' || n * 7919 % $many end as te, ('k' || n % 3)::char(4) as ch,
    case when n % 9 <> 0 then date '2000-01-01' + n * 17 % 12 end as da, repeat('long ' || n % 3, n % 97) as lo,
    case when n % 8 <> 0 then n * 7919 % 1000 - 500 end as v, (n * 7919 % 1000 - 500) * 10000000000000000 as v8,
    case when n % 10 <> 0 then (n * 7919 % 10000)::numeric(12, 2) / 8 else 123456789012345678901234567890.25 end as vn,
    case when n % 12 <> 0 then n * interval '1 hour' end as vi, n / 7.0::float8 as vf, n % 4 = 0 as vb
  from generate_series(1, $rows) n order by n * 7919 % 100003;
alter table $name alter b set not null;
SQL
}

my $tables = table('few', 150, 11) . table('many', 6000, 3001) . table('more', 20000, 997) . table('none', 0, 1)
  . 'create type pair as (i int, t text); create table dim as select k, k % 3 as g, case when k <> 4 then \'dim \' || k end as label from generate_series(0, 8) k;'
  . 'alter table dim add primary key (k); analyze;';

my @keys = qw(a b c nu te ch da k lo id);
my @expressions = ('a + 1', 'a + b', 'b % 2', 'substr(te, 1, 5)', 'coalesce(a, 0)', 'da + 1', 'nu * 2', q{te || 'x'}, 'extract(month from da)', 'v / 100', 'a is null');
my @aggregates = (
	'count(*)', 'count(v)', 'sum(v)', 'avg(v)', 'sum(v8)', 'avg(v8)', 'sum(vn)', 'avg(vn)', 'min(v)', 'max(da)', 'min(vn)', 'max(nu)', 'max(te collate "C")', 'min(lo)', 'sum(vi)', 'avg(vi)',
	'bool_and(vb)', 'bit_or(v)', 'variance(v)', 'stddev(vn)', 'sum(a)', 'sum(a + 1)', 'count(te)', 'sum(v) filter (where b > 1)', 'count(*) filter (where a is null)', 'sum(nu * v)', 'max(vi)', 'sum(b)',
	'min(b)', 'max(v8)', 'avg(a)', 'sum(length(lo))', 'sum(v * 2 + b)', 'var_pop(v8)', 'min(a + b)', 'max(vf)');

my @distinct_columns = qw(a b c te ch da v id nu);

# Aggregates over the distinct values of a column.
sub distinct_aggregates_of
{
	my ($column) = @_;
	my @all = ("count(distinct $column)");

	push @all, "sum(distinct $column)", "avg(distinct $column)", "variance(distinct $column)", "max(distinct $column)" if $column =~ /^[abcv]$/;
	push @all, "min(distinct $column)" if $column eq 'da';
	@all = (shuffle(@all))[ 0 .. int(rand(min(3, scalar @all))) ];
	return map { $_ . (chance(15) ? ' filter (where ' . pick('v > 0', 'b < 2', 'a is not null', 'id % 3 = 0', 'false', 'length(lo) > 50', '100 / (v - 37) > 1') . ')' : '') } @all;
}

# The same of one to three columns.
sub distinct_aggregates
{
	my @columns = (shuffle(@distinct_columns))[ 0 .. pick(0, 0, 1, 1, 2) ];

	return map { distinct_aggregates_of($_) } @columns;
}

# ------------------------------------------------------------------ queries

sub sets
{
	my (@columns) = @_;
	my $list = join(', ', @columns);
	my $some = sub { return '(' . join(', ', grep { chance(50) } @columns) . ')'; };

	return "rollup ($list)" if chance(30);
	return "cube ($list)" if @columns <= 4 && chance(25);
	return "rollup (($columns[0], $columns[1])" . join('', map { ", $_" } @columns[ 2 .. $#columns ]) . ')' if @columns > 2 && chance(15);
	return "$columns[0], rollup (" . join(', ', @columns[ 1 .. $#columns ]) . ')' if @columns > 1 && chance(20);
	return 'distinct ' . "rollup ($list), rollup ($list)" if @columns < 4 && chance(10);
	return "grouping sets (rollup ($list), $columns[0], ())" if chance(15);
	return 'grouping sets (' . join(', ', map { $some->() } 1 .. 1 + int(rand(5))) . ", ($list))" if chance(60);
	return 'grouping sets (' . join(', ', map { "($_)" } @columns, grep { chance(20) } @columns) . ')';
}

sub condition
{
	my (@columns) = @_;
	my $column = pick(@columns);

	return pick(
		'count(*) > 3', 'sum(v) > 100', 'avg(vn) < 1000', 'min(v) is not null', 'sum(vn) > 1000.5', "$column is null", "$column is not null", "grouping($column) = 1", "grouping($column) = 0",
		"grouping($column) = 1 or count(*) > 5", "grouping($column) < count(*)", 'max(v8) > 0 and count(v) > 1', "coalesce(($column)::text, 'none') > 'k'", 'count(*) > (select 4)');
}

# A table, or a join of it whose other columns are of dim.
sub relation
{
	my $table = pick('few', 'many', 'many', 'more', 'none', 'cached', 'cached');

	return "(select * from $table offset 0) r" if chance(5);
	return "$table r" if chance(30);
	return "$table r join dim using (k)" if chance(50);
	return "$table r left join dim on dim.k = r.k and g > 0" if chance(50);
	return "$table r join (select k as k2, g, label from dim where g < 2) d on k2 = r.k";
}

# A query without grouping sets.
sub distinct_query
{
	my ($from, $columns, $targets, $asked) = @_;
	my $grouped = chance(70);
	my @targets = $grouped ? @$targets : @$asked;
	my $query = 'select ' . join(', ', map { "$targets[$_] as x$_" } 0 .. $#targets) . " from $from";
	my $lateral = chance(6);

	$query .= $lateral ? ' where r.id % 9 >= o.k' : pick(' where v > 0', ' where b < 3', ' where a is not null', ' where id < 500', ' where a = 2', ' where false')
	  if $lateral || chance(35);
	$query .= ' group by ' . join(', ', @$columns, chance(10) ? q{'constant'::text} : ()) if $grouped;
	$query .= " having $asked->[-1] is not null and count(*) > 2" if chance(20);
	$query .= ' order by ' . join(', ', shuffle(1 .. @targets)) . (chance(60) ? ' limit ' . pick(1, 10, 100) : '') if chance(40);
	return $lateral ? "select o.k, q.* from dim o, lateral ($query offset 0) q" : $query;
}

# Expressions of each type, by which branches of a set operation differ. Numerics that are equal have one display scale.
my %expressions_of = (
	int => [ qw(a a b k v), 'id', 'a + 1', 'b % 2', 'v / 100', 'null::int', '3', 'length(lo)', '100 / (v - 37)' ],
	int8 => [ qw(c v8 a v id), 'v8 + 1', 'null::int8', '5' ],
	text => [ qw(te lo te), q{te || 'x'}, 'substr(te, 1, 5)', q{'key 3'::text}, 'null::text', 'ch::text' ],
	char => [ 'ch', q{('k' || a)::char(4)}, q{'k1'::char(4)} ],
	numeric => [ qw(nu vn), 'nu', 'null::numeric' ],
	date => [ 'da', 'da', 'da + 1', q{date '2000-01-05'} ],
	interval => [ 'vi', q{id % 50 * interval '1 hour'} ],
	bool => [ 'vb', 'a is null', 'true' ],
	float8 => [ 'vf', 'v::float8', 'null::float8' ],
	array => [ 'array[a, b]', 'array[v % 3, null]' ],
	record => [ '(a, te)::pair', '(b, null)::pair' ]);

# A branch of a set operation, which may be one itself.
sub branch
{
	my ($types, $depth) = @_;
	my $query;

	return '(' . set_operation($types, $depth + 1) . ')' if $depth < 2 && chance(15);
	$query = 'select ' . (@$types && chance(8) ? 'distinct ' : '') . join(', ', map { pick(@{ $expressions_of{$_} }) } @$types) . ' from ' . relation();
	$query =~ s/\bk\b(?=.* from .*join dim )/r.k/ if $query !~ / join \(|left join|using/;
	$query =~ s/(?<![.\w])k(?=,| from)/r.k/g;
	$query .= pick(' where v > 0', ' where b < 3', ' where a is not null', ' where id < 500', ' where a = 2', ' where false', ' where id % 10 = 0') if chance(50);
	return $query;
}

sub set_operation
{
	my ($types, $depth) = @_;
	my $query = branch($types, $depth);

	$query .= ' ' . pick('union', 'union', 'union all', 'except', 'except', 'intersect', 'intersect', 'except all', 'except all', 'intersect all', 'intersect all') . ' ' . branch($types, $depth) for 1 .. pick(1, 1, 1, 2, 3);
	return $query;
}

# Columns of a few types, at times none; with an order, in a subquery or a CTE, joined, or run again for each row.
sub set_operation_query
{
	my @types = map { pick(keys_of(\%expressions_of)) } 1 .. (chance(3) ? 0 : pick(1, 1, 2, 2, 3, 4));
	my $query = set_operation(\@types, 0);
	my $all = join(', ', 1 .. @types);

	if (chance(12))
	{
		$query .= ' ' . pick('union', 'except', 'intersect', 'except all', 'intersect all') . ' select ' . join(', ', map { pick(@{ $expressions_of{$_} }) } @types) . ' from ' . pick('few', 'many') . ' r where r.id % 9 >= o.k';
		return "select o.k, q.* from dim o, lateral ($query offset 0) q";
	}
	$query .= " order by $all" . (chance(60) ? ' limit ' . pick(1, 10, 100) : '') if @types && chance(30);
	return "with q as materialized ($query) select * from q" if chance(10);
	return "select count(*) from ($query) q" if chance(15);
	return "select q.*, label from ($query) q (x) join dim on x = k" if @types == 1 && $types[0] eq 'int' && chance(60);
	return $query;
}

sub keys_of { return sort keys %{ $_[0] }; }

sub random_query
{
	return set_operation_query() if chance(30);
	my $from = relation();
	my $joined = $from =~ /dim/;
	my @some = shuffle(@keys, $joined ? qw(g label) : ());
	@some = shuffle(@some, @expressions, q{g || ' of ' || label}) if $joined && chance(50);
	my @columns = @some[ 0 .. int(rand(chance(20) ? 5 : 3)) ];
	my %is;
	@columns = map { $joined && $_ eq 'k' ? 'r.k' : $_ } grep { !$is{$_}++ } @columns;
	my @asked = (shuffle(@aggregates))[ 0 .. int(rand(5)) ];
	my $has_distinct = chance(35);
	# without sets there is one, if it has not all columns
	my $plain = $has_distinct && chance(50);
	@asked = shuffle(@asked[ 0 .. int(rand(@asked)) ], distinct_aggregates()) if $has_distinct;
	my @targets = (grep({ chance(80) } @columns), @asked);
	my ($query, $lateral);

	return distinct_query($from, \@columns, \@targets, \@asked) if $plain;
	push @targets, 'grouping(' . join(', ', grep({ chance(60) } @columns), $columns[0]) . ')' if chance(60);
	push @targets, "grouping($columns[0]) + count(*)" if chance(15);
	push @targets, "coalesce(($columns[-1])::text, 'none')" if chance(20);
	push @targets, "(select max(label) from dim d2 where d2.label < 'dim ' || $columns[0]::text)" if chance(10) && $columns[0] =~ /^[a-z.]+$/;
	push @targets, "case when grouping($columns[0]) = 1 then ($columns[-1])::text else 'other' end" if chance(15);
	push @targets, '100 / ' . pick('(count(*) - 7)', '(sum(b) - 3)') if chance(8);
	$query = 'select ' . join(', ', map { "$targets[$_] as x$_" } 0 .. $#targets) . " from $from";
	$lateral = chance(6);
	$query .= $lateral ? ' where r.id % 9 >= o.k' : pick(' where v > 0', ' where b < 3', ' where a is not null', " where te like '%1%'", ' where id < 500', ' where a = 2', ' where false')
	  if $lateral || chance(35);
	$query .= ' group by ' . sets(@columns);
	$query .= ' having ' . condition(@columns) if chance(40);
	$query .= ' order by ' . join(', ', shuffle(1 .. @targets)) . (chance(40) ? ' limit ' . pick(1, 10, 100) : '') if chance(30);
	# runs again for each row
	return $lateral ? "select o.k, q.* from dim o, lateral ($query offset 0) q" : $query;
}

sub random_setting
{
	my %settings = (
		work_mem => pick('64kB', '64kB', '256kB', '64MB'),
		hash_mem_multiplier => pick(1, 2),
		enable_sort => pick('on', 'off'),
		enable_hashagg => pick('on', 'on', 'off'),
		max_parallel_workers_per_gather => pick(0, 2),
		'hashgraph.float_sums' => pick('on', 'off'),
		'hashgraph.force' => pick('on', 'on', 'off'));

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
  node text;
  by_node bool := false;
  disk bool := false;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  for line in execute 'explain ' || query loop
    by_node := by_node or line ~ 'HashGraphAggregate';
  end loop;
  ours := answer(query);
  if by_node and ours.error is null then
    for line in execute 'explain (analyze, timing off) ' || query loop
      node := case when line ~ 'cost=' then line else node end;
      disk := disk or (node ~ 'HashGraphAggregate' and line ~ 'Partitions: ');
    end loop;
  end if;
  perform set_config('hashgraph.enabled', 'off', false);
  core := answer(query);
  if ours is distinct from core then
    return format('different: %s instead of %s', left(ours::text, 600), left(core::text, 600));
  end if;
  return format('same, %s%s%s', coalesce('error ' || core.error, coalesce(cardinality(core.rows), 0) || ' rows'),
                case when by_node then ', by the node' end, case when disk then ', on disk' end);
exception when others then
  return format('error, %s: %s', sqlstate, sqlerrm);
end
$$;
SQL

my $node = new_server('grouping_sets', init => [ extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<'CONF');
hashgraph.resident_memory = '64MB'
hashgraph.min_rows = 100
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF
$node->safe_psql('postgres', $check . $tables . 'create table cached (like many); insert into cached select * from many; analyze cached;');
become_resident($node, 'cached');

note "HG_SEED=$seed HG_QUERIES=$queries";
srand($seed);
my @batch = map { [ random_setting(), random_query() ] } 1 .. $queries;
my @lines = ("set statement_timeout = '60s';", map { ("\\echo query $_", $batch[$_][0], "select random_check(\$q\$$batch[$_][1]\$q\$);") } 0 .. $#batch);
my ($stdout, $stderr);

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
is(scalar @failed, 0, "$queries random queries with grouping sets, DISTINCT aggregates or set operations agree with PostgreSQL's own plans");
foreach my $answer (@said)
{
	$count{$_}++ for grep { $answer =~ /, $_/ } 'error', 'by the node', 'on disk';
}
note join(', ', map { "$count{$_} $_" } sort keys %count);
cmp_ok($count{'by the node'} // 0, '>=', 0.35 * $queries, 'many were answered by the node');
cmp_ok($count{'on disk'} // 0, '>=', 0.1 * $queries, 'some of them went to disk');
cmp_ok($count{'error'} // 0, '>=', 0.01 * $queries, 'some raise errors');
is(scalar(temp_files($node)), 0, 'no temporary files are left');

$node->stop;
done_testing();
