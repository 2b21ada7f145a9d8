# Random queries with ORDER BY, and most with LIMIT, over tables, joins and groups give the rows that PostgreSQL's own plans give, in order.
#
# Each query runs twice, with the sort node wherever it is possible and with hashgraph.enabled off.  If the sort keys
# tell all rows apart, whole rows are compared; otherwise the sort keys are, and each row must be one of the query
# without LIMIT.  Errors must be the same.
#
# HG_SEED chooses the tables and the queries (the same seed means the same ones), HG_QUERIES how many (1000, with
# HG_QUICK 300).  A failure shows the query with its settings.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util qw(min shuffle uniq);
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{HG_SEED} // 21;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 300 : 1000);
# what is shown of failures
my $most_shown = 5;

plan skip_all => 'is to run once' unless covers('cpu');

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { return rand(100) < $_[0]; }

# ------------------------------------------------------------------ tables

# A table whose columns are functions of a number x, a tenth of which is NULL.  The columns up and down are in the
# order of the rows, or against it.
sub table
{
	my ($name, $rows, $distinct, $options) = @_;

	$options //= '';
	return <<"SQL";
create table $name $options as
  select n as id, case when n % 1100 < 1000 then n / 50 end as up, (100000 - n) * 0.25 as down, n * 7919 % 104729 as r, n % 17 as v, x as i4, x::int8 * case when x = 7 then 4294967296 else 1 end as i8,
    case when n % 3 = 0 then x::numeric when n % 50 = 1 then 'NaN' else x::numeric(12, 3) / 7 end as nu,
    case when n % 40 = 1 then 'NaN' when n % 40 = 2 then '-infinity' else x::float8 / 3 end as f8,
    (case n % 3 when 0 then 'Key ' else 'key ' end || x) as te, ('key ' || x) collate "C" as tc,
    (case n % 2 when 0 then 'KEY ' else 'key ' end || x) collate nocase as ti, date '2000-01-01' + x as da, x % 2 = 0 as bo,
    (repeat('long ', n % 300) || x) collate "C" as lo, md5(x::text)::uuid as uu, ('key' || x)::name as na, interval '1 hour' * x as iv
  from (select n, case when n % 10 = 3 then null else (n * 7919 % $distinct) end as x from generate_series(1, $rows) n) s;
SQL
}

my $tables = q{create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);}
  . table('s', 4000, 900, 'with (fillfactor = 10)') . table('a', 3000, 700) . table('b', 1200, 500) . table('c', 400, 90) . table('d', 30, 20) . table('e', 0, 1)
  . 'create table p (like a) partition by list (v); create table p1 partition of p for values in (1, 3, 5, 7);'
  . 'create table p2 partition of p default; insert into p select * from b; vacuum analyze;';
my @columns = qw(up up down r v i4 i8 nu f8 te tc ti da bo lo na iv uu tc);

# The query runs once for each row of another table.
my $correlated;

# ------------------------------------------------------------------ queries

sub scanned
{
	return pick('s', 's', 's', 'a', 'p') . ' x' . pick('', '', ' where x.v > 3', ' where x.i4 % 3 = 1', ' where x.te like \'%1%\'');
}

sub joined
{
	my @keys = ([ 'i4', 'i4' ], [ 'i4', 'i8' ], [ 'i8', 'i8' ], [ 'te', 'te' ], [ 'da', 'da' ], [ 'v', 'v' ], [ 'id', 'id' ]);
	my ($left, $right) = @{ pick(@keys) };
	# rows with the same v are many
	my @tables = $left eq 'v' ? qw(b c d e) : qw(s s a a a b b c d e p p);
	my $from = pick(@tables) . ' x ' . pick('', '', '', 'left ', 'right ', 'full ') . 'join ' . pick($left eq 'v' ? qw(c d) : @tables) . " y on x.$left = y.$right";

	$from .= pick(' and x.v < 9', ' and x.id <> y.id', ' and x.nu < y.nu + 3') if chance(20);
	$from .= pick('', ' left') . ' join c z on z.i4 = x.i4' if chance(15) && $left ne 'v';
	return "$from where x.v > outside.v - 5" if $correlated;
	$from .= pick(' where x.v > 3', ' where y.v in (1, 2, 3, 5, 8)', ' where x.id % 3 = 1', ' where y.r > 1000', ' where x.te like \'%1%\'') if chance(30);
	return $from;
}

# How equal values of a sort key become the same text.
sub shown
{
	my ($key, $column) = @_;

	return "trim_scale($column)" if $key =~ /\bnu\b/ && $key !~ /count/;
	return $key =~ /\bti\b/ ? "lower($column)" : $column;
}

sub direction { return pick('', '', ' desc', ' desc') . pick('', '', ' nulls first', ' nulls last'); }

# Returns the sort keys of a query over joined rows or over groups, what is selected, and what follows FROM.
sub rows
{
	my @of = !$correlated && chance(25) ? qw(x) : qw(x x y);
	my @keys = map { pick(@of) . '.' . pick(@columns) } 1 .. pick(1, 1, 2, 3);

	return (\@keys, [ (map { "$_.id" } uniq(@of)), map { pick(@of) . '.' . pick(@columns) } 1 .. pick(0, 1, 3) ], @of == 1 ? scanned() : joined());
}

sub groups
{
	my @by = map { pick('x', 'y') . '.' . pick(@columns) } 1 .. pick(1, 2, 2);
	my @aggregates = ('sum(x.v)', 'count(*)', 'count(y.i4)', 'sum(x.nu)', 'sum(y.r * x.nu)', 'avg(x.i8)', 'avg(y.nu)', 'max(x.da)', 'min(y.te)', 'max(x.nu)',
		'sum(x.i8)', 'min(x.i4)', 'max(y.f8)', 'bool_and(x.bo)', 'sum(x.r::int8 * y.r)', 'sum(x.v) filter (where y.v > 4)', 'var_pop(x.v)');
	my @chosen = (shuffle(@aggregates))[ 0 .. pick(0, 1, 2) ];
	my @keys = (shuffle(@by, @chosen))[ 0 .. pick(0, 0, 1) ];

	@keys = (pick(@chosen)) if chance(40);
	return (\@keys, [ @by, @chosen ], joined() . ' group by ' . join(', ', @by) . (chance(15) ? ' having count(*) > 1' : ''));
}

# A query, with the sort keys as columns k0, k1, ..., and whether they tell all rows apart.
sub random_query
{
	my $grouped = chance(50);
	my ($keys, $select, $from) = $grouped ? groups() : rows();
	my $total = $correlated || chance(40);
	my @order = map { "k$_" . direction() } 0 .. $#$keys;
	my $limit = pick(1, 2, 5, 10, 10, 40, 100, 300);
	my @shown;

	# rows of the whole query are not compared one by one with those of the query without LIMIT
	return random_query() if $correlated && "@$select @$keys" =~ /\bti\b|\bnu\b/;
	$keys = [ map { /\.t[ec]$/ && chance(20) ? qq($_ collate "C") : $_ } @$keys ] unless $grouped;
	push @shown, '1 / (' . pick(@$keys) . '::text <> \'key 77\')::int as quotient' if chance(4);
	push @shown, pick('random() < 2 as late', 'generate_series(1, 2) as many', 'upper(' . pick(@$keys) . '::text) as computed') if chance(12);
	# equal values that differ come from different rows
	push @order, map { "c$_" } 0 .. $#$select if $total;
	$limit = pick("($limit)", "$limit offset 0", "$limit offset 3", "$limit offset 200", "(select $limit)", "$limit + 1", '0', 'all') if chance(20);
	$limit = "limit $limit";
	$limit = 'fetch first 7 rows with ties' if chance(4);
	# all rows, perhaps without the first ones
	$limit = pick('', '', '', 'limit all', 'offset 20') if chance(30);
	return {
		sql => 'select ' . join(', ', (map { "$keys->[$_] as k$_" } 0 .. $#$keys), (map { "$select->[$_] as c$_" } 0 .. $#$select), @shown) . " from $from",
		order => 'order by ' . join(', ', @order),
		limit => $limit,
		keys => join(', ', map { shown($keys->[$_], "k$_") } 0 .. $#$keys),
		# equal values of these may differ
		total => $total && "@$select @$keys" !~ /\bti\b|\bnu\b/ };
}

# A query with its ORDER BY and LIMIT.
sub whole
{
	my ($query) = @_;
	my $whole = "$query->{sql} $query->{order} $query->{limit}";

	return $correlated ? "select q.* from d outside, lateral ($whole) q where outside.id < 5" : $whole;
}

sub random_setting
{
	my %settings = (
		work_mem => pick('64kB', '64kB', '256kB', '4MB', '64MB'),
		hash_mem_multiplier => pick(1, 2),
		enable_hashjoin => pick('on', 'off'),
		enable_mergejoin => 'off',
		enable_incremental_sort => pick('on', 'off'),
		enable_partitionwise_aggregate => pick('on', 'off'),
		max_parallel_workers_per_gather => pick(0, 0, 2),
		'hashgraph.force' => pick('on', 'on', 'on', 'off'),
		'hashgraph.resident' => pick('on', 'on', 'off'),
		'hashgraph.min_rows' => 0);

	return join(' ', map { "set $_ = '$settings{$_}';" } sort keys %settings);
}

# ------------------------------------------------------------------ running

my $check = <<'SQL';
-- the rows of a query in their order, or its error
create function answer(query text, shown text, out rows text[], out error text) language plpgsql as $$
begin
  execute format('select array_agg(%s) from (%s) q', shown, query) into rows;
exception when others then
  error := sqlstate || ' ' || sqlerrm;
end
$$;
create function random_check(query text, unlimited text, keys text, total bool) returns text language plpgsql as $$
declare
  ours record;
  core record;
  line text;
  by_node bool := false;
  parallel bool := false;
  strange bigint := 0;
  shown text := case when total then 'q::text' else format('row(%s)::text', keys) end;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  for line in execute 'explain ' || query loop
    by_node := by_node or line ~ 'HashGraphSort';
    parallel := parallel or line ~ 'Gather';
  end loop;
  if not by_node then
    return 'same, without the node';
  end if;
  ours := answer(query, shown);
  if ours.error is null and not total then
    execute format('select count(*) from (select q::text from (%s) q except select q::text from (%s) q) d', query, unlimited) into strange;
  end if;
  perform set_config('hashgraph.enabled', 'off', false);
  core := answer(query, shown);
  if ours is distinct from core then
    return format('different: %s instead of %s', left(ours::text, 400), left(core::text, 400));
  end if;
  if strange > 0 then
    return format('%s rows that the query without LIMIT does not have', strange);
  end if;
  return format('same, %s%s', coalesce('error', core.error, cardinality(core.rows) || ' rows'), case when parallel then ', parallel' end);
exception when others then
  return format('error, %s: %s', sqlstate, sqlerrm);
end
$$;
SQL
$check =~ s/coalesce\('error', core\.error/coalesce('error ' || core.error/;

my $node = new_server('limits', init => [ allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ] ], conf => <<'CONF');
hashgraph.resident_memory = '64MB'
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF
$node->safe_psql('postgres', $check . $tables);
# s has several segments, of which some pages change
become_resident($node, qw(s a c p1));
$node->safe_psql('postgres', 'update s set v = v where id % 400 = 7; delete from s where id in (1, 2, 3999); insert into s select * from s where id = 50');

note "HG_SEED=$seed HG_QUERIES=$queries";
srand($seed);
my @batch;
my @lines = ("set statement_timeout = '60s';");
my ($stdout, $stderr);

foreach (1 .. $queries)
{
	$correlated = chance(15);
	my $query = random_query();

	push @batch, [ random_setting(), $query, whole($query) ];
}
foreach my $n (0 .. $#batch)
{
	my ($settings, $query, $whole) = @{ $batch[$n] };

	push @lines, "\\echo query $n", $settings,
	  "select random_check(\$q\$$whole\$q\$, \$q\$$query->{sql}\$q\$, \$q\$$query->{keys}\$q\$, " . ($query->{total} ? 'true' : 'false') . ');';
}
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
	diag("seed $seed, query $n: $batch[$n][0]\n$batch[$n][2]\n--> $said[$n]");
}
is(scalar @failed, 0, "$queries random queries with LIMIT agree with PostgreSQL's own plans");
foreach my $answer (@said)
{
	$count{$_}++ for grep { $answer =~ /, $_/ } 'without the node', 'error', 'parallel', '\d+ rows';
}
note join(', ', map { "$count{$_} $_" } sort keys %count);
cmp_ok($count{'\d+ rows'} // 0, '>=', 0.2 * $queries, 'many have the node');
cmp_ok($count{'parallel'} // 0, '>=', 0.02 * $queries, 'some are parallel');

# ------------------------------------------------------------------ rows that scans reject

# How many rows of a scan a query's sort has removed.
sub removed_rows
{
	my ($query) = @_;
	my $plan = explain_analyze($node, "set hashgraph.force = on; set enable_nestloop = off; set enable_mergejoin = off;", $query);

	return $plan =~ /\bLimit: \d+\n *Rows Removed by Runtime Filter: (\d+)/ ? $1 : 0;
}

cmp_ok(removed_rows('select id from s order by up limit 5'), '>', 2000, 'a scan skips segments beyond the first rows');
cmp_ok(removed_rows('select s.id, c.id from s join c using (v) order by s.up, c.id limit 5'), '>', 2000, '... below a join, too');
cmp_ok(removed_rows('select s.id from s join c using (v) join d on d.id = s.v order by s.down desc limit 5'), '>', 2000, '... and below two');
cmp_ok(removed_rows('select b.id, c.id from b join c using (v) order by b.r desc, c.id limit 5'), '>', 500, 'rows of a table that is not cached are removed');
foreach my $order ('up desc', 'up nulls first', 'up desc nulls last', 'down desc', 'down', 'id desc')
{
	my $query = "select id, up, down from s order by $order, id limit 50";
	my $settings = 'set hashgraph.force = on;';

	cmp_ok(removed_rows($query), '>', 500, "$order: rows are removed");
	is($node->safe_psql('postgres', "$settings $query"), $node->safe_psql('postgres', "set hashgraph.enabled = off; $query"), '... and the first ones are right');
}
foreach my $room (1, 64)
{
	my $plan = explain_analyze($node, "set hashgraph.force = on; set work_mem = '${room}MB';", 'select s.id, s.te, s.nu from s join c using (v) order by s.r, s.id');
	my ($memory, $disk) = $plan =~ /^ *Sort Key: .*\n *Memory Usage: (\d+) kB(?:\n *Disk Usage: (\d+) kB)?/m;

	cmp_ok($memory // 1e9, '<', 1024 * $room, "all rows: $room MB of memory are not exceeded");
	is(defined $disk ? 'tapes' : 'memory', $room == 1 ? 'tapes' : 'memory', '... beyond it there are tapes');
}
is(removed_rows('select s.id, c.id from s right join c on c.id = s.id order by s.up limit 5'), 0, 'a join that returns inner rows without a match keeps all outer rows');
is(removed_rows('select s.id from s join c using (v) order by s.te limit 5'), 0, 'texts are not compared in scans');

# ------------------------------------------------------------------ paths that are freed

# core frees a sorted path that several processes make, while the list of inputs still has it
$node->safe_psql('postgres', q{create type color as enum ('red', 'green', 'blue');
	create table q (id int, da date, co color, lo text) partition by hash (id);}
	  . join('', map { "create table q$_ partition of q for values with (modulus 3, remainder $_);" } 0 .. 2)
	  . q{insert into q select n, date '2000-01-01' + n * 7919 % 2000, (array['red', 'green', 'blue'])[n % 3 + 1]::color, repeat('x', 1000) from generate_series(1, 500) n; analyze q;});
become_resident($node, qw(q0 q1 q2));
foreach my $order ('co, da', 'co, da nulls first', 'da, co', 'id')
{
	my $query = "set max_parallel_workers_per_gather = 1; set hashgraph.min_rows = 0; select da, co from q order by $order";

	is($node->safe_psql('postgres', $query), $node->safe_psql('postgres', "set hashgraph.enabled = off; $query"), "$order: partitions are sorted by several processes or one");
}

$node->stop;
done_testing();
