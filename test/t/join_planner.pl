# The node is taken where it is estimated cheaper, and core's joins are left alone
# where they are better; what planning allocates is bounded, and test/perf measures how long it takes.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

# Not preloaded: the sessions that are to have the library ask for it.
my $preloading = '-c session_preload_libraries=hashgraph';
# In 100 MB of buffers there is room for two of the large tables and an index of one, and not for all of a query of three.
my $node = new_server('planner', preload => '', conf => "work_mem = '256MB'\nshared_buffers = '100MB'\nfsync = off\n");

$node->safe_psql('postgres', <<'SQL');
create table big_a as select (i * 7919::int8 % 1000000)::int as k, i as v, 'a' || i as t from generate_series(1, 1000000) i;
create table big_b as select (i * 104729::int8 % 1000000)::int as k, i as w, 'b' || i as t from generate_series(1, 1000000) i;
create table small_a as select i as k, i as v from generate_series(1, 1000) i;
create table small_b as select i as k, i as w from generate_series(1, 1000) i;
create table sorted_a as select i as k, i as v from generate_series(1, 500000) i;
create table sorted_b as select i as k, i as w from generate_series(1, 500000) i;
create table dimension as select i as k, 'd' || i as name from generate_series(1, 20000) i;
create table labels as select i as k, i % 100 as label from generate_series(1, 200000) i;
create table facts as select i % 1000 as a, i % 10000 as b, i % 100000 as c, i as v from generate_series(1, 1000000) i;
create table fact_a as select i as k, i % 7 as v from generate_series(0, 999) i;
create table fact_b as select i as k, i % 7 as v from generate_series(0, 9999) i;
create table fact_c as select i as k, i % 7 as v from generate_series(0, 99999) i;
alter table fact_a add primary key (k);
alter table fact_b add primary key (k);
alter table fact_c add primary key (k);
create table kinds12 as select i as k, 'kind ' || i as name from generate_series(1, 12) i;
create table kinds20 as select i as k, 'kind ' || i as name from generate_series(1, 20) i;
create index on big_b (k);
create index on sorted_a (k);
create index on sorted_b (k);
vacuum (analyze);
SQL

# A query's plan in a session that preloads the library and has these settings.
sub plan_of
{
	my ($query, $settings, $options) = @_;

	local $ENV{PGOPTIONS} = $preloading;
	return $node->safe_psql('postgres', 'set max_parallel_workers_per_gather = 0; '
		  . ($settings // '') . '; explain ' . ($options // '(costs off)') . " $query");
}

# Names of the joins in a query's plan.
sub joins_of
{
	my ($query, $settings) = @_;

	return join(', ', plan_of($query, $settings) =~ /(HashGraphJoin|(?:Hash|Merge) (?:(?:Left|Right|Full|Semi|Anti|Right Semi|Right Anti) )?Join|Nested Loop(?: Left Join| Anti Join)?)/g);
}

is(joins_of('select count(*) from big_a join big_b using (k)'), 'HashGraphJoin', 'two large tables, counted');
is(joins_of('select sum(v), sum(w) from big_a join big_b using (k)'), 'HashGraphJoin', '... with columns of both');
is(joins_of('select v, w from big_a left join big_b using (k)'), 'HashGraphJoin', '... left join');
is(joins_of('select * from big_a a where exists (select from big_b b where b.k = a.k)'), 'HashGraphJoin', '... semi join');
is(joins_of('select * from big_a a where not exists (select from big_b b where b.k = a.k)'), 'HashGraphJoin', '... anti join');
is(joins_of('select count(*) from big_a a join big_b b using (k) join big_a c using (k)'), 'HashGraphJoin, HashGraphJoin', 'three large tables');
# PostgreSQL asks little for a hash join whose inner rows are unique; a star has its outer rows go through all joins
my $star = 'from facts f join fact_a on fact_a.k = f.a join fact_b on fact_b.k = f.b join fact_c on fact_c.k = f.c';
my $ours = 'HashGraphJoin, HashGraphJoin, HashGraphJoin';
is(joins_of("select sum(f.v), sum(fact_a.v), sum(fact_b.v), sum(fact_c.v) $star"), $ours, 'a star of dimensions with primary keys');
is(joins_of("select f.v, f.a, fact_a.v, f.b, fact_b.v, f.c, fact_c.v $star"), $ours, '... whose rows are returned, with columns of facts');
is(joins_of("select sum(f.v) $star where fact_a.v = 3 and fact_b.v = 3"), $ours, '... of which few rows are left');

# a loop that reads one of its sides for each row of the other is bounded by a table of few rows, however many are thought to be left
is(joins_of("select count(*) from small_a a join kinds12 s on s.k = a.v where s.name = 'kind 7' and a.k + 0 < 9 and a.v + 0 > 2 and a.v % 3 = 1"), 'Nested Loop', 'a loop over a table of few rows stays');
is(joins_of("select count(*) from small_a a join kinds20 s on s.k = a.v where s.name = 'kind 7' and a.k + 0 < 9 and a.v + 0 > 2 and a.v % 3 = 1"), 'HashGraphJoin', '... and one over a table of more rows does not');
unlike(joins_of('select * from small_a join small_b using (k)'), qr/HashGraphJoin/, 'two small tables are core\'s');
is(joins_of('select * from small_a join small_b using (k)', 'set hashgraph.min_rows = 0; set enable_mergejoin = off; set enable_nestloop = off'),
	'HashGraphJoin', '... unless asked for');
# rows that are to be looked up in an index are counted first; what follows is about prices alone
my $alone = 'set hashgraph.adaptive = off';
foreach my $few ('a.v = 7', 'a.v < 100')
{
	is(joins_of("select * from big_a a join big_b b using (k) where $few"), 'HashGraphJoin, Nested Loop', "few rows against an index are counted: $few");
}
# lookups are priced for the rows that there are, not for all of the table that they come from; where
# their rows lie beside those that ask for them the price is right as it is
my $lookups = 'from dimension d join %s a on a.v = d.k join %s b on b.k = a.k where d.k <= %d';
is(joins_of('select sum(w) ' . sprintf($lookups, 'big_a', 'big_b', 15000)), 'HashGraphJoin, HashGraphJoin', 'few of many rows are not looked up all over a table');
like(joins_of('select sum(b.v) ' . sprintf($lookups, 'sorted_a', 'sorted_a', 5000), $alone), qr/^Nested Loop, /, '... but where they lie beside each other');
is(joins_of('select sum(b.w) from dimension d join big_b a on a.w = d.k join big_b b on b.k = a.w + 0 join big_a c on c.v = d.k where d.k <= 15000'), $ours,
	'... which a column in order does not make those of another one');
# few rows are looked up in what is in memory at a price that is far too high, whichever table is named first:
# a column that is not in the index, as pages of the table are what is too dear
foreach my $from ('sorted_a a join big_b b', 'big_b b join sorted_a a')
{
	is(joins_of("select sum(b.w) from $from on b.k = a.v * 2 where a.k <= 2000"), 'HashGraphJoin, Nested Loop', "few rows are looked up in a table in memory: $from");
}
is(joins_of('select sum(b.w) from sorted_a a join big_b b on b.k = a.v * 2 where a.k <= 200000'), 'HashGraphJoin', '... but not many');
is(joins_of('select count(*) from big_a a join big_b b on b.k = a.k where a.v <= 2000', $alone), 'HashGraphJoin', '... nor few that are found by reading a large table');
# a loop is cheap, and left alone, in a short transaction; not above a join of ours, whose rows are a guess
my $cheaply = 'set seq_page_cost = 0.01; set random_page_cost = 0.04; set cpu_tuple_cost = 0.0001; set cpu_index_tuple_cost = 0.00005; set cpu_operator_cost = 0.000025';
is(joins_of('select sum(b.w) from facts f join dimension d on f.v = d.k join big_b b on b.k = f.c where d.k % 1000 = 1', $cheaply), 'HashGraphJoin, HashGraphJoin, Nested Loop',
	'lookups are counted above a join, however little all of it seems to cost');
# a table is in memory once, however often the query names it
my ($once, $thrice) = map { plan_of("select sum(b.w) from sorted_a a join big_b b on b.k = a.v $_ where a.v + 0 <= 20 and a.v % 7 = 1") =~ /Switch At Rows: (\d+)(?!.*Switch)/s } '',
	'join sorted_a c on c.v = b.w join sorted_a d on d.v = c.v';
is($thrice, $once, 'lookups cost as much where a table is named thrice');
# each lookup goes to 100 pages in memory, which take as long the second time, though core charges them once
$node->safe_psql('postgres', 'create index on facts (b)');
is(joins_of('select sum(f.v) from sorted_a a join facts f on f.b = a.v where a.k <= 500'), 'HashGraphJoin', 'rows of many pages are not looked up');
is(joins_of('select sum(f.v) from sorted_a a join facts f on f.b = a.v where a.k <= 10'), 'HashGraphJoin, Nested Loop', '... unless there are few');
$node->safe_psql('postgres', 'drop index facts_b_idx');
unlike(joins_of('select * from big_a a join big_b b using (k) limit 5'), qr/HashGraphJoin/, 'LIMIT 5 does not read two large tables');
like(joins_of('select * from sorted_a join sorted_b using (k) order by k', 'set work_mem = \'4MB\''), qr/^Merge Join$/, 'two sorted inputs in order are a merge join');
is(joins_of('select * from sorted_a join sorted_b using (k) order by k'), 'HashGraphJoin', '... unless all rows can be sorted in memory');
like(joins_of('select * from sorted_a join sorted_b using (k) order by k limit 100'), qr/^(?:Merge Join|Nested Loop)$/, '... with LIMIT too');
unlike(joins_of('select count(*) from big_a join big_b using (k)', 'set hashgraph.enabled = off'), qr/HashGraphJoin/, 'off is off');

# enable_hashjoin says of the node what it says of core's hash join, and enable_hashagg of its aggregates
foreach my $settings ('set enable_hashjoin = off', 'set enable_hashjoin = off; set enable_mergejoin = off',
	'set enable_hashjoin = off; set enable_nestloop = off',
	'set enable_hashjoin = off; set enable_mergejoin = off; set enable_nestloop = off')
{
	foreach my $join ('big_a join big_b using (k)', 'big_a left join big_b using (k)', 'big_a full join big_b using (k)',
		'big_a a where not exists (select from big_b b where b.k = a.k)')
	{
		my $query = "select count(*) from $join";

		# where nothing is left but a disabled hash join, it may be the node
		is(joins_of($query, $settings), joins_of($query, "set hashgraph.enabled = off; $settings") =~ s/Hash Full Join/HashGraphJoin/r,
			"$settings: what PostgreSQL takes for $join");
	}
}
is(joins_of('select count(*) from big_a full join big_b on v::text::xid = w::text::xid', 'set enable_hashjoin = off'),
	'HashGraphJoin', '... a full join of keys that can be hashed and not sorted is still one');
is(joins_of('select count(*) from big_a join big_b using (k)', 'set enable_hashjoin = off; set hashgraph.force = on'),
	'HashGraphJoin', '... but for tests');
my $parallel = 'set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0; set max_parallel_workers_per_gather = 2';
my $together = qr/HashGraphJoin.*Parallel Seq Scan.*Parallel Seq Scan/s;
like(plan_of('select count(*) from big_a join big_b using (k)', $parallel), $together, 'processes join both sides together');
unlike(plan_of('select count(*) from big_a join big_b using (k)', "$parallel; set enable_parallel_hash = off"), $together,
	'... unless enable_parallel_hash is off');
my $groups = 'select big_a.v % 100, count(*) from big_a join big_b using (k) group by 1';
like(plan_of($groups), qr/HashGraphAggregate/, 'groups of a join are hashed');
unlike(plan_of($groups, 'set enable_hashagg = off'), qr/HashGraphAggregate|HashAggregate/, '... unless enable_hashagg is off');

# HAVING leaves as many groups as PostgreSQL expects, in one process and in several
foreach my $workers (0, 2)
{
	my $having = 'select label, count(*) from labels join big_a using (k) group by 1 having count(*) > 3';
	my ($ours, $theirs) = map {
		plan_of($having, "set hashgraph.enabled = $_; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;"
			  . "set max_parallel_workers_per_gather = $workers", '')
	} 'on', 'off';

	like($ours, qr/HashGraphAggregate/, "groups with HAVING, $workers workers: the node is taken");
	is(($ours =~ /rows=(\d+)/)[0], ($theirs =~ /rows=(\d+)/)[0], '... and is expected to return as many');
}

# The first row comes when the inner table and what work memory holds of the outer one have been read,
# where outer rows are kept; else at once, as they are joined as they come.  The startup cost knows it,
# and so do cursors, which are planned for a tenth of their rows.
my $streamed = 'select v, name from big_a a join dimension d on d.k = a.k % 20000';
my $first = $streamed =~ s/ join / left join /r;

is(joins_of("declare c cursor for $first", q{set work_mem = '1MB'}), 'HashGraphJoin', 'a cursor of a join that reads its outer table a part at a time');
is(joins_of("declare c cursor for $first"), 'Hash Left Join', '... and of one that would read all of it first');
my ($part, $all) = map { plan_of($first, "set work_mem = '$_'", '') =~ /HashGraphJoin\)  \(cost=([\d.]+)/ } '1MB', '256MB';
my ($rows) = plan_of("$first limit 1", q{set hashgraph.force = on; set work_mem = '1MB'}, '(analyze, timing off)') =~ /on big_a.*actual rows=(\d+)/;
my $read = $rows / 1_000_000;
cmp_ok($part / $all, '>', $read / 2, sprintf 'the startup cost is of the part that is read first (%.3f)', $read);
cmp_ok($part / $all, '<', $read * 2, '... and of no more');
is(joins_of("declare c cursor for $streamed"), 'HashGraphJoin', 'a cursor of a join whose outer rows are joined as they come');
my ($startup, $total) = plan_of($streamed, '', '') =~ /HashGraphJoin\)  \(cost=([\d.]+)\.\.([\d.]+)/;
cmp_ok($startup / $total, '<', 0.05, '... which costs little to start');
($rows) = plan_of("$streamed limit 1", 'set hashgraph.force = on', '(analyze, timing off)') =~ /on big_a.*actual rows=(\d+)/;
cmp_ok($rows, '<', 10_000, '... as few rows are read before the first');

# ------------------------------------------------------------------ groups on disk

$node->safe_psql('postgres', q{create table wide_rows as select i as k, repeat(md5(i::text), 20) as t from generate_series(1, 20000) i; vacuum analyze wide_rows});
my $groups = 'select k, max(t), min(t) from wide_rows group by k';
like(plan_of($groups, q{set work_mem = '4MB'}), qr/HashGraphAggregate/, 'groups that go to disk once are hashed');
unlike(plan_of($groups, q{set work_mem = '64kB'}), qr/HashGraphAggregate/, '... and sorted where they would be partitioned again and again');

# ------------------------------------------------------------------ loops and LIMIT

# The deeds that a filter leaves seem to be few. A LIMIT above a sort wants no row soon, so that a loop's first row does not keep the loop.
$node->safe_psql('postgres', <<'SQL');
create table deeds as select i as id, i % 20000 as d, i * 7919::int8 % 200000 as e, 1 as f from generate_series(1, 200000) i;
create table deed_d (id int primary key, name text);
create table deed_e (id int primary key, kind int);
insert into deed_d select i, 'd' || i from generate_series(0, 19999) i;
insert into deed_e select i, i % 10 from generate_series(0, 199999) i;
vacuum analyze deeds, deed_d, deed_e;
SQL
my $limited = 'select d.name, sum(deeds.id) from deeds join deed_d d on d.id = deeds.d join deed_e e on e.id = deeds.e where deeds.f + 0 = 1 and e.kind = 3 group by rollup (d.name) order by 2, 1 limit 10';
my $unlimited = $limited =~ s/ limit 10//r;
is(joins_of($limited), joins_of($unlimited), 'a LIMIT above groups and a sort changes no join');
unlike(plan_of($limited), qr/Nested Loop(?!.*\n *->  Custom Scan \(HashGraphFeed\))/, '... and leaves no loop that does not count its rows');

# ------------------------------------------------------------------ paths behind a loop that goes

# A loop over an index that seems cheap pushes a better path of another order aside, before a join that counts takes the loop's place:
# that path is there all the same, whichever table is named first.
$node->safe_psql('postgres', 'create table thrice as select i % 1000 as k, i as x from generate_series(1, 2500) i; vacuum analyze thrice');
my %costs;
foreach my $from (
	'dimension d join facts f on f.v = d.k join big_b b on b.k = f.c join thrice t on t.k = f.a',
	'facts f join thrice t on t.k = f.a join big_b b on b.k = f.c join dimension d on f.v = d.k',
	'thrice t join facts f on t.k = f.a join dimension d on f.v = d.k join big_b b on b.k = f.c',
	'big_b b join facts f on b.k = f.c join thrice t on t.k = f.a join dimension d on f.v = d.k')
{
	my ($cost) = plan_of("select f.v, b.t, x from $from where d.k between 500 and 900 and b.w + 0 > 3", undef, '') =~ /^\S.*\.\.([0-9.]+) rows/;
	push @{ $costs{$cost} }, $from;
}
is(scalar(keys %costs), 1, 'the order of a FROM clause does not matter to the price: ' . join(' ', sort keys %costs));

# ------------------------------------------------------------------ partitions, shards and small joins

$node->safe_psql('postgres', <<'SQL');
create table part_a (k int, g int, x int) partition by hash (k);
create table part_b (k int, h int, y int) partition by hash (k);
select format('create table part_a%s partition of part_a for values with (modulus 32, remainder %1$s)', i),
       format('create table part_b%s partition of part_b for values with (modulus 32, remainder %1$s)', i) from generate_series(0, 31) i
\gexec
insert into part_a select i, i % 100, i % 1000 from generate_series(1, 1000000) i;
insert into part_b select 2 * i, i % 50, i % 77 from generate_series(1, 500000) i;
create table customers as select i as id, 'customer ' || i as name, i % 50 as region from generate_series(1, 4000) i;
create table orders as select i as id, i % 4000 + 1 as customer, i % 9 as state from generate_series(1, 5000) i;
create table items as select i as id, i % 5000 + 1 as of_order, i % 700 as amount from generate_series(1, 100000) i;
alter table customers add primary key (id);
alter table orders add primary key (id);
create index on orders (customer);
create index on items (of_order);
vacuum (analyze);
SQL

# A million rows by half a million in 32 partitions, under PostgreSQL's own settings and with as many
# processes as it likes: each is joined by the node, and what makes groups of them is too.
foreach my $processes ('reset max_parallel_workers_per_gather', 'set max_parallel_workers_per_gather = 0')
{
	my $stock = "$processes; set work_mem = '4MB'; set enable_partitionwise_join = on";

	foreach my $select ('count(*)', 'g, sum(x)', 'h, avg(x + y)', 'k, max(y)', 'g, array_agg(h)')
	{
		my ($columns) = $select =~ /^(\w), /;
		my $query = "select $select from part_a join part_b using (k)" . (defined $columns ? " group by $columns" : '');
		my $plan = plan_of($query, "$stock; set enable_partitionwise_aggregate = on");
		my %nodes;

		$nodes{$_}++ foreach $plan =~ /(HashGraphJoin|HashGraphAggregate|Hash Join|Merge Join|Nested Loop)/g;
		is_deeply(\%nodes, { HashGraphJoin => 32, $select =~ /array_agg/ ? () : (HashGraphAggregate => 32) },
			"$processes, partition by partition: $select");
	}
	# as a distributed database asks for it, shard by shard
	is(joins_of('select g, sum(x) from part_a7 join part_b7 using (k) group by g', $processes), 'HashGraphJoin', '... and a partition alone');
}

# Joins of a few rows have the plan that they have without the library, cost for cost.
foreach my $query (
	'select * from orders o join customers c on c.id = o.customer where o.id = 77',
	'select * from orders o join customers c on c.id = o.customer where c.region = 7',
	'select c.name, count(*) from orders o join customers c on c.id = o.customer group by 1',
	'select * from items i join orders o on o.id = i.of_order join customers c on c.id = o.customer where c.id = 5',
	'select sum(amount) from items i join orders o on o.id = i.of_order where o.id between 10 and 20',
	'select * from orders o left join items i on i.of_order = o.id and i.amount > 600 where o.customer = 1234',
	'select * from customers c where region = 3 and exists (select from orders o where o.customer = c.id and o.state = 2)',
	'select * from items i join big_b b on b.k = i.id join customers c on c.id = i.amount where i.of_order = 3')
{
	is(plan_of($query, '', ''), plan_of($query, 'set hashgraph.enabled = off', ''), "as without the library: $query");
}

# the same plan, cost for cost, without the library and with it switched off
sub plans
{
	my ($options, $settings) = @_;
	local $ENV{PGOPTIONS} = $options;
	return $node->safe_psql('postgres', "$settings set max_parallel_workers_per_gather = 0; "
		  . join(' ', map { "explain $_;" } 'select count(*) from big_a join big_b using (k)',
			'select * from big_a left join dimension using (k) order by k',
			'select * from big_a a where not exists (select from big_b b where b.k = a.k) and k in (select k from dimension)'));
}
is(plans($preloading, 'set hashgraph.enabled = off;'), plans('', ''), 'switched off, plans are what they are without the library');

# ------------------------------------------------------------------ planning

# Ten tables of 60,000 rows, so that the node is considered at every join.
$node->safe_psql('postgres', join("\n",
	(map { "create table ten$_ as select i as k, i as l, i % 100 as v from generate_series(1, 60000) i;" } 0 .. 9), 'analyze;'));
my %queries = (
	'chain of ten' => 'select count(*) from ten0 ' . join(' ', map { 'join ten' . $_ . ' on ten' . $_ . '.k = ten' . ($_ - 1) . '.l' } 1 .. 9),
	'star of ten' => 'select count(*) from ten0 ' . join(' ', map { "join ten$_ on ten$_.k = ten0.l + $_" } 1 .. 9));
# How much more memory planning takes, in per cents, with two workers: there are joins that processes can share then, and
# those above them are looked at with these too.
my %bars = (
	'chain of ten, an index shared' => 25, 'star of ten, an index shared' => 75,
	'chain of ten, tables shared' => 25, 'star of ten, tables shared' => 45);

my $without = $node->background_psql('postgres');
my $with = do { local $ENV{PGOPTIONS} = $preloading; $node->background_psql('postgres') };
$_->query('set join_collapse_limit = 12') foreach $without, $with;

# Is the node among what a query is planned with?
sub is_considered
{
	my ($what, $query) = @_;

	return like(scalar $with->query("set enable_mergejoin = off; set enable_nestloop = off; explain (costs off) $query; reset enable_mergejoin; reset enable_nestloop"),
		qr/HashGraphJoin/, "$what: the node is considered");
}

# Does planning a query take no more per cents more memory than it does without the library? PostgreSQL 17 and later tell.
sub memory_holds
{
	my ($what, $query, $bar) = @_;
	my ($less, $more) = map { $_->query("explain (memory, costs off) $query") =~ /Memory: used=(\d+)kB/ ? $1 : 0 } $without, $with;

	diag(sprintf('%s: planning takes %d kB without hashgraph, %d kB with it: %+.1f %%', $what, $less, $more, 100 * ($more / $less - 1)));
	return cmp_ok($more, '<=', $less * (1 + $bar / 100), "$what: planning takes at most $bar % more memory");
}

foreach my $keys ('no index', 'primary keys')
{
	$node->safe_psql('postgres', join('', map { "alter table ten$_ add primary key (k);" } 0 .. 9) . 'analyze;') if $keys ne 'no index';
	is_considered("$_, $keys", $queries{$_}) foreach sort keys %queries;
}
foreach my $shared ('an index shared', 'tables shared')
{
	foreach my $session ($without, $with)
	{
		$session->query('set max_parallel_workers_per_gather = 2');
		$session->query('set min_parallel_table_scan_size = 0') if $shared eq 'tables shared';
	}
	foreach my $name (sort keys %queries)
	{
		is_considered("$name, $shared", $queries{$name});
		memory_holds("$name, $shared", $queries{$name}, $bars{"$name, $shared"}) if major_version($node) >= 17;
	}
}
$without->quit;
$with->quit;
# Groups in the order of an index come at once, and a LIMIT around a subquery may need a few of them.
$node->safe_psql('postgres', 'create table in_order as select i as id, i / 3 as k, i % 100 as m from generate_series(1, 400000) i; create index on in_order (k); analyze in_order');
my $in_order = 'select k, sum(most) from (select k, m, max(r) as most from (select k, m, id + 0 as r from in_order order by k offset 0) s
  group by k, m order by k) y group by k order by k';
unlike(plan_of("$in_order limit 5"), qr/HashGraph/, 'groups in order stay in a subquery below LIMIT');
like(plan_of($in_order), qr/HashGraphAggregate/, '... but not if all are needed');

# Where shared buffers do not hold a table, the kernel does: a lookup that finds one row copies a page, which takes less than
# PostgreSQL charges for it, and one that finds many rows copies as many, again and again.  Beyond the kernel's cache PostgreSQL's price holds.
$node->adjust_conf('postgresql.conf', 'shared_buffers', "'16MB'");
$node->restart;
$node->safe_psql('postgres', 'create index on facts (b)');
is(joins_of('select sum(b.w) from sorted_a a join big_b b on b.k = a.v * 2 where a.k <= 4000'), 'HashGraphJoin, Nested Loop', 'rows of one page each are looked up in what the kernel has cached');
is(joins_of('select sum(f.v) from sorted_a a join facts f on f.b = a.v where a.k <= 1000'), 'HashGraphJoin', '... and rows of many pages are not');
is(joins_of('select sum(b.w) from sorted_a a join big_b b on b.k = a.v * 2 where a.k <= 4000', "set effective_cache_size = '16MB'"), 'HashGraphJoin', '... nor rows in what it can not hold');
$node->stop;

done_testing();
