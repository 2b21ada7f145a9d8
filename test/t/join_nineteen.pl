# What the planner of PostgreSQL 19 does with joins in another way than earlier versions: NOT IN of columns that can't be NULL becomes
# an anti join, the rows of IN are made unique before joins are thought of, and aggregates are computed in part below joins (eager
# aggregation).
#
# Fixed queries show that the node does such joins, and random ones, with HashGraph joins wherever they are possible and by price,
# give the rows that PostgreSQL's own plans give.  HG_SEED chooses them, HG_QUERIES says how many (300, with HG_QUICK 100).
#
# Versions: plans of PostgreSQL 19.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $seed = $ENV{HG_SEED} // 19;
my $queries = $ENV{HG_QUERIES} // ($ENV{HG_QUICK} ? 100 : 300);
my $node = new_server('nineteen', conf => <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
max_worker_processes = 20
hashgraph.min_rows = 0
hashgraph.resident_memory = '16MB'
wal_level = replica
CONF

if (major_version($node) < 19)
{
	$node->stop;
	plan skip_all => 'PostgreSQL 19 has such plans';
}

# Of each table the columns id, m and o can't be NULL; p is partitioned, s is small, and every other table is resident.
$node->safe_psql('postgres', <<'SQL');
create table a (id int not null primary key, m int not null, o text not null, k int, g int, v int, n numeric, t text, b bpchar(6), f float8);
create table p (like a) partition by hash (m);
create table p0 partition of p for values with (modulus 3, remainder 0);
create table p1 partition of p for values with (modulus 3, remainder 1);
create table p2 partition of p for values with (modulus 3, remainder 2);
create table q (like a) partition by hash (m);
create table q0 partition of q for values with (modulus 3, remainder 0);
create table q1 partition of q for values with (modulus 3, remainder 1);
create table q2 partition of q for values with (modulus 3, remainder 2);
create table d (like a including all);
create table s (like a including all);
create table e (like a);

create function draw(name text, most int, n int) returns int language sql immutable as 'select (hashint8extended(n, hashtext(name)) & 1048575)::int % most';
create function rows_of(name text, rows int, most int) returns setof a stable language sql as $$
  select n, draw(name || 'm', most, n), 'o' || draw(name || 'o', most, n),
    nullif(draw(name || 'k', most, n), 3), nullif(draw(name || 'g', 9, n), 0), nullif(draw(name || 'v', 1000, n), 500),
    nullif(draw(name || 'n', 500, n), 9) / 4.0, 't' || nullif(draw(name || 't', most / 2, n), 1),
    'b' || nullif(draw(name || 'b', most, n), 2), nullif(draw(name || 'f', 100, n), 50)
  from generate_series(1, rows) n $$;
insert into a select * from rows_of('a', 1200, 60);
insert into p select * from rows_of('p', 800, 50);
insert into q select * from rows_of('q', 200, 40);
insert into d select * from rows_of('d', 300, 70);
insert into s select * from rows_of('s', 30, 12);
vacuum analyze;
select hashgraph_resident_add('a'), hashgraph_resident_add('p'), hashgraph_resident_add('s');

-- states that are arrays, which are expanded while they grow, and what they come to, in an order that does not depend on the plan
create function sorted_texts(text[]) returns text language sql immutable as 'select string_agg(x, '','' order by x collate "C") from unnest($1) x';
create aggregate texts(text) (sfunc = array_append, stype = text[], combinefunc = array_cat, finalfunc = sorted_texts, parallel = safe);
create function sorted_ints(int[]) returns text language sql immutable as 'select string_agg(x::text, '','' order by x) from unnest($1) x';
create aggregate ints(int) (sfunc = array_append, stype = int[], combinefunc = array_cat, finalfunc = sorted_ints, parallel = safe);

-- 'same, N rows' and the plan, or what differs
create function compare(query text) returns text language plpgsql as $$
declare
  digest text := format('select count(*), sum(hashtextextended(r::text, 0)) from (%s) r', query);
  line text;
  plan text := '';
  ours record;
  theirs record;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  for line in execute 'explain (costs off) ' || query loop
    plan := plan || E'\n' || line;
  end loop;
  execute digest into ours;
  perform set_config('hashgraph.enabled', 'off', false);
  execute digest into theirs;
  if ours is not distinct from theirs then
    return 'same, ' || theirs.count || ' rows' || plan;
  end if;
  return format('different: %s instead of %s%s', ours, theirs, plan);
exception when others then
  return format('error, %s: %s%s', sqlstate, sqlerrm, plan);
end $$;
SQL
wait_for(sub { $node->safe_psql('postgres', q{select bool_and(state = 'ready' or blocks_total = blocks_resident) from hashgraph_resident}) eq 't' },
	30, every => 0.2);

# What compare() says of queries, [ SET commands, query ] each.
sub compared
{
	my (@batch) = @_;
	my $stdout;
	my @lines = map { ("\\echo query $_", "reset all; set statement_timeout = '60s';", $batch[$_][0], "select compare(\$q\$$batch[$_][1]\$q\$);") } 0 .. $#batch;

	$node->psql('postgres', join("\n", @lines), stdout => \$stdout, on_error_stop => 0,
		timeout => $PostgreSQL::Test::Utils::timeout_default + 2 * @batch);
	my %said = $stdout =~ /^query (\d+)\n((?:(?!query \d).*\n?)*)/mg;
	return map { $said{$_} // 'error, no result' } 0 .. $#batch;
}

# Nodes of a plan that have a node of another kind among those above them.
sub below
{
	my ($plan, $upper, $lower) = @_;
	my (@above, $count);

	foreach my $line (split /\n/, $plan)
	{
		next unless $line =~ /^( *)->  (.*)/ || $line =~ /^()(\S.*)/;
		my ($depth, $name) = (length $1, $2);
		pop @above while @above && $above[-1][0] >= $depth;
		$count++ if $name =~ $lower && grep { $_->[1] =~ $upper } @above;
		push @above, [ $depth, $name ];
	}
	return $count // 0;
}

# ---------------------------------------------------------------- NOT IN

my $anti = qr/HashGraphJoin.*\n *Join Type: (?:Right )?Anti/;
my @not_in = (
	# columns that can't be NULL
	[ 1, 'select id, m from a where m not in (select m from q)' ],
	[ 1, 'select id, m from q where m not in (select m from a)' ],
	[ 1, 'select id, o from a where o not in (select o from d where v > 300)' ],
	[ 1, 'select id from a where (m, id) not in (select m, id from d)' ],
	[ 1, 'select id from a where m not in (select m from e)' ],
	[ 1, 'select count(*), sum(v) from a where m not in (select k from q where k is not null)' ],
	[ 1, 'select a.id, d.id from a join d using (k) where a.m not in (select m from s)' ],
	[ 1, 'select id from a where m not in (select q.m from q left join d on d.id = q.id)' ],
	# columns that can, and do not, or do, or are of a side that an outer join extends
	[ 0, 'select id from a where k not in (select m from q)' ],
	[ 0, 'select id from a where m not in (select k from q)' ],
	[ 0, 'select id from a where m not in (select k from e)' ],
	[ 0, 'select id from a where m not in (select d.m from q left join d on d.id = q.id)' ],
	[ 0, 'select a.id from q left join a on a.id = q.id where a.m not in (select m from s)' ],
	[ 0, 'select id from a where (m, k) not in (select m, id from d)' ]);
foreach my $force ('on', 'off')
{
	my @said = compared(map { [ "set hashgraph.force = $force;", $_->[1] ] } @not_in);

	foreach my $i (0 .. $#not_in)
	{
		my ($joined, $query) = @{ $not_in[$i] };

		like($said[$i], qr/^same, /, "force $force: $query gives PostgreSQL's rows");
		if ($force eq 'on' && $joined) { like($said[$i], $anti, '... by an anti join of the node'); }
		elsif (!$joined) { unlike($said[$i], qr/Anti\b/, '... not by an anti join'); }
	}
}

# ---------------------------------------------------------------- IN

# Of two tables the subquery's rows speak, so that they are joined with one and then with the other: each time by the node, above what
# makes them unique.
my $both = 'from a, d where (a.m, d.m) in (select m, k from %s)';
my @in = map { sprintf $_, 's' } "select a.id, d.id $both", "select count(*), sum(a.v), sum(d.v) $both", "select a.id from a, d where (a.m, d.m + 1) in (select m, k + 1 from %s)";
foreach my $set ('set hashgraph.force = on;', 'set hashgraph.force = on; set max_parallel_workers_per_gather = 2;', 'set hashgraph.force = off; set enable_nestloop = off;')
{
	foreach my $said (compared(map { [ $set, $_ ] } @in))
	{
		like($said, qr/^same, [1-9]/, "$set IN of two tables gives PostgreSQL's rows");
		unlike($said, qr/(?:Hash|Merge) (?:\w+ )?Join|Nested Loop/, '... by the node alone') if $set !~ /force = off/;
		like($said, qr/(?:HashAggregate|Unique)\b/, '... above rows that are unique') if $set !~ /workers/;
	}
}

# ---------------------------------------------------------------- eager aggregation

my $join = qr/HashGraphJoin/;
my $partial = qr/Partial (?:Hash|Group)?Aggregate/;
my $eager = 'set min_eager_agg_group_size = 0; set hashgraph.force = on;';
my @eager = (
	[ $eager, 'select d.id, avg(a.f) from d join a on d.k = a.k group by d.id' ],
	[ $eager, 'select d.id, sum(a.n), max(a.t), count(*) filter (where a.v > 500) from d join a on d.k = a.k group by d.id' ],
	[ $eager, 'select d.id, ints(a.v), texts(a.t) from d join a on d.k = a.k group by d.id' ],
	# equal, and not the same to look at: these can't be groups below the join
	[ $eager, 'select d.b, count(*), sum(a.v) from d join a on d.b = a.b group by d.b having count(*) > 3' ],
	[ "$eager set work_mem = '64kB';", 'select d.id, texts(a.o) from d join a on d.m = a.m group by d.id' ],
	[ $eager, 'select a.id, sum(q.v + d.v) from a join q on a.k = q.k join d on q.id = d.id group by a.id' ],
	[ $eager, 'select d.id, sum(a.v), count(*) from a left join d on d.k = a.k group by d.id' ],
	[ "$eager set enable_partitionwise_join = on; set enable_partitionwise_aggregate = on;",
		'select q.g, sum(p.v), count(*) from p join q on p.m = q.m group by q.g' ],
	[ "$eager set max_parallel_workers_per_gather = 2;", 'select d.id, ints(a.v) from d join a on d.k = a.k group by d.id' ]);
my @said = compared(@eager);
foreach my $i (0 .. $#eager)
{
	like($said[$i], qr/^same, [1-9]/, "$eager[$i][1]: PostgreSQL's groups");
}
cmp_ok(scalar(grep { below($_, $join, $partial) } @said), '>=', 5, 'joins of the node have partial groups for rows');
like($node->safe_psql('postgres', 'set min_eager_agg_group_size = 0; set hashgraph.force = off; set hashgraph.enabled = off; explain (hashgraph, costs off) select d.id, sum(a.n) from d join a on d.k = a.k group by d.id'),
	qr/Partial.*HashGraph:\n +(?:Hash|Group)Aggregate of (?:a, d|d, a): not chosen, hashgraph.enabled is off\n/s, 'that groups were joined is told as of other groups');

# ---------------------------------------------------------------- random queries

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { return rand(100) < $_[0]; }

# A table, or the rows of one with a column that is computed, below an outer join too.
sub random_table
{
	my ($name) = @_;
	my $table = pick(qw(a a a p p q d d s e));

	return "$table $name" if chance(85);
	return "(select id, m, o, coalesce(k, 5) as k, g, coalesce(v, 1) as v, n, upper(t) as t, b, f from $table) $name";
}

sub random_equality
{
	my ($left, $right) = @_;

	return "$left.k + 1 = $right.k" if chance(8);
	return join ' and ', map { "$left.$_ = $right.$_" } pick('k', 'k', 'k', 'm', 'm', 'm', 't', 'b', 'o', 'n', 'id'), (chance(12) ? 'g' : ());
}

sub random_aggregate
{
	my (@names) = @_;
	my $x = pick(@names);
	my $y = pick(@names);
	my $filter = chance(15) ? " filter (where $x.v > 300)" : '';

	return pick('count(*)', "count($x.v)", "sum($x.v)", "sum($x.n)", "avg($x.v)", "avg($x.n)", "min($x.t)", "max($x.n)", "max($x.o)", "min($x.b)",
		"bool_or($x.v > 900)", "bit_xor($x.v)", "stddev($x.v)", "sum($x.f)", "avg($x.f)", "ints($x.v)", "texts($x.t)", "texts($x.o)", "var_pop($x.n)",
		"sum(case when $x.g > 4 then $x.v end)", "sum(coalesce($x.v, 7))", "sum($x.v + $y.v)", "max($x.n * $y.v)", (@names > 1 ? "count(distinct $x.g)" : "count($x.t)")) . $filter;
}

sub random_query
{
	my @names = map { "x$_" } 1 .. pick(2, 2, 2, 3, 3);
	my $from = random_table($names[0]);
	my @where;

	foreach my $i (1 .. $#names)
	{
		my $kind = pick('join', 'join', 'join', 'left join', 'right join', 'full join');
		my $on = random_equality(pick(@names[ 0 .. $i - 1 ]), $names[$i]);

		$on .= ' and ' . pick("$names[$i].v > 100", "$names[$i - 1].v <> $names[$i].v", "$names[0].g < 7") if chance(15) && $kind ne 'full join';
		$from .= " $kind " . random_table($names[$i]) . " on $on";
	}
	push @where, pick("$names[0].v < 700", "$names[-1].g is not null", "coalesce($names[-1].g, 2) < 6", "$names[0].id % 3 <> 1") if chance(35);
	if (chance(35))
	{
		my $name = pick(@names);
		my $column = pick(qw(m m m o id k g));
		my $table = pick(qw(a p q d s e));
		my $filter = pick('', '', ' where v > 500', ' where k is not null');

		push @where, pick("$name.$column not in (select $column from $table$filter)", "$name.$column in (select $column from $table$filter)",
			"not exists (select from $table z where z.$column = $name.$column)", "exists (select from $table z where z.$column = $name.$column and z.v > 100)");
	}
	push @where, "($names[0].m, $names[-1].k) in (select m, k from " . pick(qw(a p q d s)) . pick('', ' where v > 500') . ')' if chance(15);
	my $where = @where ? ' where ' . join(' and ', @where) : '';
	return "select $names[0].id, $names[-1].id, $names[-1].t from $from$where" if chance(10);
	my @groups = map { pick(@names) . '.' . pick(qw(id id g k m o t b n)) } 1 .. pick(0, 1, 1, 1, 1, 2);
	push @groups, "coalesce($names[-1].g, 0)" if chance(10);
	# below joins there are groups of what the aggregates are of, mostly of one table
	my @aggregated = chance(60) ? pick(@names) : @names;
	my @shown = map { random_aggregate(@aggregated) } 1 .. pick(1, 1, 2, 3);
	my $having = chance(15) ? ' having ' . pick('count(*) > 2', "max($names[-1].v) > 200") : '';

	return 'select ' . join(', ', @groups, @shown) . " from $from$where" . (@groups ? ' group by ' . join(', ', @groups) : '') . $having;
}

sub random_settings
{
	my %settings = (
		'hashgraph.force' => pick('on', 'on', 'off'),
		min_eager_agg_group_size => pick(0, 0, 0, 1, 8),
		work_mem => pick('64kB', '1MB', '16MB'),
		enable_hashagg => pick('on', 'on', 'on', 'off'),
		enable_nestloop => pick('on', 'on', 'off'),
		enable_mergejoin => pick('on', 'off'),
		enable_partitionwise_join => pick('on', 'off'),
		enable_partitionwise_aggregate => pick('on', 'off'),
		geqo_threshold => pick(2, 12, 12),
		max_parallel_workers_per_gather => pick(0, 0, 2),
		debug_parallel_query => chance(5) ? 'on' : 'off');

	return join ' ', map { "set $_ = '$settings{$_}';" } sort keys %settings;
}

note "HG_SEED=$seed HG_QUERIES=$queries";
srand($seed);
my @batch = map { [ random_settings(), random_query() ] } 1 .. $queries;
@said = compared(@batch);
my @failed = grep { $said[$_] !~ /^same, / } 0 .. $#batch;
diag("query $_: $batch[$_][0]\n$batch[$_][1]\n--> $said[$_]") foreach @failed[ 0 .. (@failed < 5 ? $#failed : 4) ];
is(scalar @failed, 0, "$queries random queries give PostgreSQL's rows");
my $ours = grep { /HashGraph/ } @said;
my $above = grep { below($_, $join, $partial) } @said;
my $within = grep { below($_, $partial, $join) && below($_, qr/Join|Nested Loop/, $partial) } @said;
my $antis = grep { /Anti\b/ } @said;
note "$ours by nodes of the extension, $above with partial groups below a join of the node, $within with partial groups of a join of the node below a join, "
  . "$antis anti joins, " . scalar(grep { /^same, [1-9]/ } @said) . ' with rows';
cmp_ok($ours, '>=', 0.6 * $queries, 'most of them ran the nodes');
cmp_ok($above, '>=', 0.02 * $queries, 'some had partial groups below a join of the node');
$node->stop;
done_testing();
