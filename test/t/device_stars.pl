# A device joins the rows of a tree of joins at once, where it keeps HashGraphs of all of their tables: stars, snowflakes and chains, with filters, NULL keys, rows that find nothing, rows that have changed
# since, and tables whose rows come more than once. What it says is what PostgreSQL's own joins find, in each execution.
#
# Runs over the stand-in, and what needs no misbehaviour over the real one too, where it finds a device.
#
# The random part draws few queries under HG_QUICK, and all of them in the nightly run.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();

my ($node, $main) = cache_server('stars', $standin // $device);

# facts are in several segments, as their rows are wide; customers are of nations, which are of regions
$node->safe_psql('postgres', <<'SQL');
create table sales (id int, customer int4, item int8, day int4, shop int2, amount int, total numeric(12, 2), note text, wide text) with (fillfactor = 90);
create table customers (id int4, nation int4, age int2, name text, wide text);
create table items (id int4, price numeric(8, 2), kind text, weight int8);
create table days (id int8, month int, holiday bool);
create table shops (id int4, region int8, size int);
create table nations (id int4, region int4, name text);
create table regions (id int2, name text);
create table twice (id int4, worth int);
create table ranks (id int4, name text, weight int);
alter table sales alter wide set storage plain;
alter table customers alter wide set storage plain;
insert into sales select i, case when i % 17 > 0 then (i * 7919::int8) % 2200 end, (i * 31::int8) % 320, i % 400, (i * 13) % 50, i % 100, i % 1000 * 0.25, 'note ' || i % 7, repeat('x', 900) from generate_series(1, 20000) i;
insert into customers select i, case when i % 11 > 0 then i % 30 end, i % 90, 'customer ' || i % 40, repeat('y', 2000) from generate_series(1, 2000) i;
insert into items select i, i * 1.25, 'kind ' || i % 9, i * 10000000000 from generate_series(1, 300) i;
insert into days select i, i / 30, i % 7 = 0 from generate_series(0, 365) i;
insert into shops select i, i % 6, i * 3 from generate_series(0, 45) i;
insert into nations select i, i % 5, 'nation ' || i from generate_series(0, 24) i;
insert into regions select i, 'region ' || i from generate_series(0, 4) i;
insert into twice select i / 2, i from generate_series(0, 4000) i;
insert into ranks select i, 'rank ' || i % 20, i % 13 from generate_series(0, 5000) i;
create table plain as select i as id, i as worth from generate_series(0, 2199) i;
analyze;
SQL

my %residents = (
	sales => [ 'id,customer,item,day,shop,amount,total,note', [qw(customer item day shop id amount)] ],
	customers => [ 'id,nation,age,name', [qw(id nation)] ],
	items => [ 'id,price,kind,weight', ['id'] ],
	days => [ 'id,month,holiday', ['id'] ],
	shops => [ 'id,region,size', [ 'id', 'region' ] ],
	nations => [ 'id,region,name', [ 'id', 'region' ] ],
	regions => [ 'id,name', ['id'] ],
	twice => [ 'id,worth', ['id'] ],
	ranks => [ 'id,name,weight', ['id'] ]);
my $graphs = 0;

$graphs += @{ $_->[1] } foreach values %residents;

foreach my $table (sort keys %residents)
{
	my ($columns, $keys) = @{ $residents{$table} };

	sql("select hashgraph_resident_add('$table', '{$columns}', keys => '{" . join(',', @$keys) . '}\')');
}

# Trees that a device can join at once: how many tables there are.
my @stars = (
	[ 3, 'a count', 'select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id' ],
	[ 3, 'a count with filters', 'select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where s.amount < 40 and c.age between 20 and 60 and i.weight > 500000000000' ],
	[ 3, 'a filter that leaves nothing', 'select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where c.age < 0' ],
	[ 5, 'sums over a star', 'select sum(s.amount), sum(c.age), sum(i.price), sum(d.month), sum(h.size), count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id join days d on s.day = d.id join shops h on s.shop = h.id' ],
	[ 5, 'groups of a star', 'select i.kind, d.month, sum(s.amount), avg(h.size), min(c.age), max(i.weight), count(c.nation) from sales s join customers c on s.customer = c.id join items i on s.item = i.id join days d on s.day = d.id join shops h on s.shop = h.id where not d.holiday group by i.kind, d.month' ],
	[ 3, 'a chain', 'select n.name, count(*), sum(s.total) from sales s join customers c on s.customer = c.id join nations n on c.nation = n.id group by n.name' ],
	[ 4, 'a longer chain', 'select r.name, count(*), sum(c.age), avg(s.total) from sales s join customers c on s.customer = c.id join nations n on c.nation = n.id join regions r on n.region = r.id group by r.name' ],
	[ 6, 'a snowflake', 'select r.name, i.kind, sum(s.amount), sum(i.price), count(d.holiday) from sales s join customers c on s.customer = c.id join nations n on c.nation = n.id join regions r on n.region = r.id join items i on s.item = i.id join days d on s.day = d.id where s.amount > 10 and n.region <> 2 group by r.name, i.kind' ],
	[ 3, 'groups by text of the facts', 'select s.note, c.name, count(*) from sales s join customers c on s.customer = c.id join shops h on s.shop = h.id group by s.note, c.name' ],
	[ 4, 'a table twice', 'select count(*), sum(a.age), sum(b.age) from sales s join customers a on s.customer = a.id join customers b on s.day = b.id join items i on s.item = i.id' ],
	[ 3, 'facts that meet other facts', 'select count(*), sum(t.amount) from sales s join sales t on s.id = t.id join items i on s.item = i.id' ],
	[ 3, 'groups of no rows', 'select i.kind, sum(s.total) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where s.amount > 1000 group by i.kind' ],
	[ 3, 'a left join at the end of a chain', 'select count(*), sum(n.region), count(n.id) from sales s join customers c on s.customer = c.id left join nations n on c.nation = n.id' ],
	[ 3, 'a left join counted', 'select count(*) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id' ],
	[ 3, 'groups by what there need not be', 'select c.name, count(*), count(c.id), sum(c.age), sum(s.amount), sum(i.price) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id and c.age < 60 group by c.name' ],
	[ 3, 'a right join', 'select i.kind, count(*), count(c.age) from customers c right join (sales s join items i on s.item = i.id) on s.customer = c.id where s.amount > 5 group by i.kind' ],
	[ 3, 'a left join of what is looked up', 'select count(*), count(n.id), sum(s.amount) from customers c left join nations n on c.nation = n.id join sales s on s.customer = c.id' ],
	[ 4, 'a chain of left joins', 'select n.name, count(*), count(c.id), sum(s.amount), avg(c.age) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id and c.age <> 7 left join nations n on c.nation = n.id group by n.name' ],
	[ 6, 'left joins of what there need not be', 'select r.name, n.name, d.month, count(*), count(c.id), sum(s.amount) from sales s left join customers c on s.customer = c.id and c.age > 10 left join nations n on c.nation = n.id and n.region <> 3 left join regions r on n.region = r.id join items i on s.item = i.id left join days d on s.day = d.id and not d.holiday group by r.name, n.name, d.month' ],
	# each sale has a rank
	[ 2, 'one left join', 'select r.name, count(*), count(r.id), sum(s.total) from sales s left join ranks r on s.amount = r.id group by r.name' ],
	[ 3, 'left joins alone, of which the second finds all', 'select r.name, count(*), sum(s.total), count(c.id), sum(c.age), sum(r.weight) from sales s left join customers c on s.customer = c.id and c.age < 60 left join ranks r on s.amount = r.id group by r.name' ],
	[ 3, 'left joins alone, counted', 'select count(*) from sales s left join items i on s.item = i.id left join ranks r on s.amount = r.id where s.total > 30' ],
	[ 3, 'right joins alone, and expressions', 'select count(*), sum(r.weight * s.amount), sum(i.price * s.amount), min(s.amount - r.weight) from items i right join (ranks r right join sales s on s.amount = r.id) on s.item = i.id where s.amount % 3 < 2' ],
	[ 5, 'left joins alone, one of what another one has found', 'select n.name, r.name, count(*), count(c.id), count(n.id), sum(i.price) from sales s left join ranks r on s.amount = r.id left join customers c on s.customer = c.id left join nations n on c.nation = n.id left join items i on s.item = i.id group by n.name, r.name' ]);

# ... and such as it can't: none of these has less right rows.
my @others = (
	[ 'a table whose rows come twice', 'select count(*), sum(t.worth) from sales s join twice t on s.customer = t.id join twice u on s.item = u.id' ],
	[ 'left joins alone, none of which finds all', 'select count(*), sum(c.age), sum(i.price) from sales s left join customers c on s.customer = c.id left join items i on s.item = i.id' ],
	[ 'left joins alone, of a table whose rows come twice', 'select count(*), sum(t.worth), sum(r.weight) from sales s left join twice t on s.amount = t.id left join ranks r on t.worth = r.id' ],
	[ 'facts that there need not be', 'select i.kind, count(*), count(s.id), sum(c.age) from items i left join sales s on s.item = i.id and s.amount > 90 left join customers c on s.customer = c.id group by i.kind' ],
	[ 'two tables that there need not be', 'select count(*), sum(c.age), count(n.id) from sales s join items i on s.item = i.id left join (customers c join nations n on c.nation = n.id) on s.customer = c.id' ],
	[ 'a full join among them', 'select count(*), sum(i.price), sum(c.age) from sales s join items i on s.item = i.id full join customers c on s.customer = c.id' ],
	[ 'rows without a match alone', 'select count(*), sum(i.price) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id where c.id is null' ],
	[ 'a qual above a left join', 'select count(*), sum(i.price) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id where c.age is null or c.age > 20' ],
	[ 'a qual above that compares columns of what there need not be', 'select count(*), sum(i.price) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id where coalesce(c.age, -1) = coalesce(c.nation, -1)' ],
	[ 'the same of truth values', 'select count(*), sum(i.price) from sales s join items i on s.item = i.id left join customers c on s.customer = c.id where (c.age is null) = (c.nation is null)' ],
	[ 'a left join of rows that come twice', 'select count(*), sum(t.worth), count(t.id) from sales s join items i on s.item = i.id left join twice t on s.customer = t.id' ],
	[ 'a semi join among them', 'select count(*) from sales s join items i on s.item = i.id where exists (select from customers c where s.customer = c.id and c.age > 30)' ],
	[ 'another clause', 'select count(*) from sales s join customers c on s.customer = c.id and s.amount < c.age join items i on s.item = i.id' ],
	[ 'columns beside groups', 'select s.id, i.kind, c.name from sales s join customers c on s.customer = c.id join items i on s.item = i.id where s.id % 1000 = 7' ],
	[ 'an expression of a text', 'select sum(length(c.name)), sum(s.amount * c.age) from sales s join customers c on s.customer = c.id join items i on s.item = i.id' ]);

# Has a device joined all of a star's tables at once, or any number of what is none?
sub is_star
{
	my ($star) = @_;
	my ($tables, undef, $select) = @$star;

	return sql("explain (analyze, costs off, timing off) $select") =~ ($tables ? qr/Tables Joined at Once: $tables\b/ : qr/Tables Joined at Once/);
}

# A test: what is told of why not.
sub why_not_is
{
	my ($name, $select, $why_not) = @_;
	return becomes_like(sub { sql("explain (analyze, costs off, timing off) $select") =~ /Tables Not Joined at Once: (.*)/ ? $1 : '' },
		qr/^\Q$why_not\E$/, "$name: why they are not joined at once");
}

# All of the tables is resident, and a device has all of their graphs.
sub kept { return become_kept($main, $graphs, shift, sort keys %residents); }

# Tests: rows are right, and a device had all of a star's tables at once, or none of the others'. Where is a pattern of what the device can be asked about, or undefined: it may.
sub stars_are_right
{
	my ($when, $where) = @_;

	foreach my $query (@stars, map { [ 0, @$_ ] } @others)
	{
		my ($tables, $what, $select) = @$query;
		my $expected = defined $where && $tables && $what =~ $where ? 'at once' : 'two by two';

		# a graph that has just been made anew is a device's a moment later
		is_right("$when: $what", $select, look => sub { is_star($query) ? 'at once' : 'two by two' }, like => defined $where ? qr/^$expected$/ : undef);
	}
	return;
}

foreach my $program (grep { defined } $standin, $device)
{
	my $label = $program eq ($standin // '') ? 'stand-in' : 'device';

	use_program($node, $program);
	kept("$label: all graphs are kept");
	ask(map { $_->[2] } @stars);
	stars_are_right($label, qr/./);

	# what is wanting where they are not joined at once is told
	my $plain = 'select count(*), sum(p.worth) from sales s join plain p on s.customer = p.id join items i on s.item = i.id';
	why_not_is("$label: a table whose rows come twice", $others[0]->[1], 'a row finds several rows of a table');
	# of queries that take turns each is asked about once: it is remembered that rows find several, so that there is no answer to fall back from
	my @turns = map { "select count(*), sum(t.worth) from sales s join customers c on s.customer = c.id $_ join twice t on s.item = t.id" } '', 'join items i on s.item = i.id';
	foreach my $round (1, 2)
	{
		foreach my $turn (@turns)
		{
			my $core = sql("set hashgraph.enabled = off; $turn");

			is(sql("set hashgraph.enabled = on; $turn"), $core, "$label: a table whose rows come twice, in turn, $round");
			is(sql(q{select coalesce(string_agg(fallback, '|'), '') from hashgraph_last_joins()}), '', '... is not asked about again') if $round > 1;
		}
	}
	why_not_is("$label: left joins alone", $others[1]->[1], 'rows find none in each table that is left joined');
	my $not_covered = 'a table has no HashGraph that serves this query, has changed, or has a condition that is not decided over columns';
	why_not_is("$label: a table that is not resident", $plain, $not_covered);
	why_not_is("$label: ... in the last of several executions", "select sum(n) from generate_series(1, 3) x, lateral (select count(*) n from sales s join plain p on s.customer = p.id join items i on s.item = i.id where s.amount > x offset 0) q", $not_covered);
	why_not_is("$label: a condition that is not decided over columns", 'select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where c.name > \'customer 2\'', $not_covered);
	sql('begin; update customers set age = age + 1 where id % 7 = 3');
	why_not_is("$label: many rows have changed", $stars[0]->[2], 'too many rows have changed');
	sql('rollback');
	kept("$label: they have not");
	why_not_is("$label: at once", $stars[0]->[2], '');

	# joins of facts that have changed are done here, beside those of all others
	sql('update sales set amount = amount + 1000, customer = customer + 1 where id % 900 = 5; delete from sales where id % 1100 = 9; insert into sales select 30000 + i, i, i, i, i % 40, i, i, \'new\', repeat(\'x\', 900) from generate_series(1, 50) i');
	stars_are_right("$label: facts have changed", qr/./);
	becomes_like(sub { sql("explain (analyze, costs off, timing off) $stars[3]->[2]") }, qr/Backend: cuda\n.*Device: /, "$label: where it ran, whatever was joined beside");

	# and those of facts that find what has changed, themselves or by what they find
	sql('update items set price = price + 1 where id = 7; insert into days values (366, 12, true); delete from customers where id = 77; update customers set nation = nation + 1 where id = 34; update customers set age = age + 1 where id = 33; insert into customers values (2100, null, 1, \'x\', repeat(\'y\', 2000)); update customers set id = -id where id = 55');
	stars_are_right("$label: what they look up has changed", qr/./);
	my $kilobytes = 0;
	wait_for(sub { ($kilobytes) = sql("explain (analyze, costs off, timing off) $stars[3]->[2]") =~ /Tables Joined at Once.*?Memory Usage: (\d+) kB/s }, 15);
	cmp_ok($kilobytes, '>=', 11, "$label: what it takes to leave facts out is told");
	# of tables in one page nothing is known then
	sql('update nations set name = \'moved\', region = 3 where id = 4; insert into regions values (5, \'region 5\'); update shops set size = size + 1 where id = 5');
	stars_are_right("$label: all of what some look up has changed");
	unlike(sql("explain (analyze, costs off, timing off) $stars[8]->[2]"), qr/on sales s .*loops=2/, "$label: facts are scanned once all the same");
	kept("$label: graphs are kept in step");
	stars_are_right("$label: in step", qr/./);

	# in this transaction's own sight
	sql('begin; delete from sales where id % 77 = 3; update customers set age = age + 1 where id < 20');
	stars_are_right("$label: of this transaction");
	sql('rollback');

	# executions one after the other, each of which asks again
	kept("$label: after a rollback");
	my $each = 'select sum(n) from generate_series(1, 3) x, lateral (select count(*) + x - x n from sales s join customers c on s.customer = c.id join items i on s.item = i.id offset 0) q';
	my $often = 'select array_agg((select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where x > 0)) from generate_series(-2, 3) x';
	foreach my $select ($each, $often)
	{
		is(rows($select), core_of($select), "$label: $select");
	}

	# ... and of facts that have changed more do not fit into memory
	kept("$label: before facts that don't fit");
	{
		my $select = 'select count(*) from generate_series(1, 3) x, (select from sales s join customers c on s.customer = c.id join items i on s.item = i.id offset 0) q';

		# few of them are expected, so that they are held
		sql("begin; update pg_class set reltuples = 20 where relname = 'sales'; set local enable_material = off; set local work_mem = '64kB'; set local hash_mem_multiplier = 1; insert into sales select i, i % 2200, i % 320, i % 400, i % 50, i, i, 'new', repeat('x', 900) from generate_series(1, 15000) i");
		is(rows($select), core_of($select), "$label: facts that don't fit, several times");
		becomes_like(sub { sql("explain (analyze, costs off, timing off) $select") }, qr/Tables Joined at Once: 3\b.*Disk Usage/s, '... of which a device joined those that have not changed');
		sql('rollback');
	}

	# a cursor sees what its snapshot does, and may be left in the middle
	sql('begin; declare c cursor for ' . $stars[4]->[2]);
	my $before = core_of($stars[4]->[2]);
	$node->safe_psql('postgres', 'delete from sales where id % 50 = 1');
	is(join("\n", sort split /\n/, sql('fetch all from c')), $before, "$label: a cursor has what its snapshot sees");
	sql('commit; begin; declare c cursor for ' . $stars[0]->[2] . '; fetch c; close c; commit');
	kept("$label: rows were deleted");
	stars_are_right("$label: rows were deleted", qr/./);

	# the process dies
	my $pid = device_process($node);

	kill 'KILL', $pid if defined $pid;
	stars_are_right("$label: after the process was killed");
	kept("$label: the next process is given all graphs");
	stars_are_right("$label: of the next process", qr/./);
}

# With settings as they are, and values that are unique by what statistics or indexes tell, the planner chooses such a plan, without workers; and none where values come twice or the device can't make what is wanted.
if (defined $standin)
{
	# without it processes would share the joins
	my $planned = sub {
		my ($by, @chosen) = @_;

		foreach my $star (@chosen)
		{
			my ($tables, $what, $select) = @$star;

			ok(wait_for(sub { is_star($star) or not defined sql('vacuum customers; vacuum items; vacuum nations') }, 40), "planned by $by: $what: all at once");
			is(rows($select), core_of($select), "planned by $by: $what");
			# a device may be about to be given a graph once more
			ok(wait_for(sub { sql("explain $select") !~ /Gather/ }, 20), "planned by $by: $what: in one process");
		}
	};

	use_program($node, $standin);
	sql('set hashgraph.force = off; set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0');
	# a device is asked about no join that has no row, or that is none any more
	my @chosen = grep { $_->[0] > 2 && $_->[1] ne 'a left join counted' && $_->[2] !~ /sales t|age < 0/ } @stars;
	$planned->('statistics', @chosen);
	sql("alter table customers add primary key (id); create unique index on items (id); alter table nations add unique (id); delete from pg_statistic where starelid in ('customers'::regclass, 'items'::regclass, 'nations'::regclass) and staattnum = 1");
	# (a left join of what is unique, and of which nothing is wanted, is none; and few rows are looked up in indexes)
	$planned->('indexes', grep { $_->[2] !~ /days|shops|regions/ && $_->[1] !~ /^(?:left joins alone, counted|groups of no rows)$/ } @chosen);
	sql('analyze');
	foreach my $query ([ 'values that come twice', 'select count(*) from sales s join twice t on s.day = t.id join twice u on s.shop = u.id' ], (grep { $_->[0] =~ m{^an expression$|^a qual above that|^the same of truth} } @others), [ 'a sum of a text\'s length', 'select sum(length(i.kind)) from sales s join customers c on s.customer = c.id join items i on s.item = i.id' ])
	{
		my ($what, $select) = @$query;
		is_right("planned: $what", $select);
		like(sql("explain $select"), qr/Gather/, "planned: $what: in several");
	}
	# left joins by what is no comparison of two columns, or by several
	foreach my $on ('s.customer = c.id or s.day = c.id', '(s.day = 1 or c.age = 2) and s.customer = c.id', 's.customer = c.id and s.shop = c.age', 'not (s.customer = c.id)', 's.customer is null', 's.customer = c.id and s.day = 7', 's.customer + 0 = c.id', 'c.id = 3', 'abs(c.id - s.customer) = 0')
	{
		my $select = "select count(*), count(c.id) from sales s join items i on s.item = i.id left join customers c on $on where s.id <= 300";
		is_right("planned: a left join on $on", $select);
	}
	# what statistics tell may be wrong
	my $repeated = 'select count(*), sum(t.worth) from sales s join items i on s.item = i.id join twice t on s.day = t.id';

	sql('alter table twice alter id set (n_distinct = -1); analyze twice');
	is(rows($repeated), core_of($repeated), 'planned: values that come twice, which statistics do not tell');
	sql('alter table twice alter id reset (n_distinct); analyze twice');
	# rows that are not those of the tables themselves
	sql('set max_parallel_workers_per_gather = 0; create table more_items () inherits (items); insert into more_items select * from items where id % 3 = 0; create table more_sales () inherits (sales)');
	foreach my $tables ([ 'sales', 'items' ], [ 'only sales', 'items' ], [ 'sales', 'only items' ], [ 'only sales', 'only items', 'tablesample bernoulli (10) repeatable (1)' ])
	{
		my ($facts, $found, $sample) = (@$tables, '');
		my $select = "select count(*) from $facts s join customers c $sample on s.customer = c.id join $found i on s.item = i.id";
		is_right("planned: $select", $select);
	}
	sql('drop table more_items, more_sales');
	sql('set hashgraph.force = on; set max_parallel_workers_per_gather = 0; alter table customers drop constraint customers_pkey');
}

if (defined $standin)
{
	# rows that come more than once are told of by the device, and it is not asked again
	my $asked = 'explain (analyze, costs off, timing off) ' . $others[0]->[1];
	sql('insert into twice values (1, 1)');
	ok(wait_for(sub { sql($asked) =~ /Fallback: .*more than one/ or not defined sql('vacuum twice; select hashgraph_resident_refresh(\'twice\')') }, 40), 'a device is asked about rows that come twice');
	unlike(sql($asked), qr/Fallback/, '... and not again');

	# it forgets what it was given
	use_program($node, $standin, HG_STANDIN_FORGETS => 1);
	my $missed = sql('select graphs_missed from hashgraph_stat_resident');
	ok(wait_for(sub { sql($stars[3]->[2]); sql('select graphs_missed from hashgraph_stat_resident') > $missed }, 60), 'a star misses what was forgotten');
	stars_are_right('what was given is forgotten');

	# groups by codes that there are not
	use_program($node, $standin, HG_STANDIN_GROUP_KEY => 65535);
	ok(wait_for(sub { sql('explain (analyze, costs off, timing off) ' . $stars[8]->[2]) =~ /Fallback: .*a code that there is not/ }, 60), 'a code that there is not is seen');
	stars_are_right('groups that there are not');
	use_program($node, $standin);
	kept('a process that tells the truth is given all graphs');

	# writers, vacuums and dying processes beside stars that have to be right, each in one snapshot with PostgreSQL's own
	my $writer = RawSession->new($node);
	my $changes = 0;
	my $write = sub {
		# a while of changes, and then one in which tables become known again
		if (++$changes % 60 == 0)
		{
			wait_for(sub { $writer->run_each('vacuum'); return sql('select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) from hashgraph_resident') eq 't' }, 2);
		}
		$writer->run_each((
			'update sales set amount = amount + 1, item = item + 1 where id % 997 = ' . int(rand 997),
			'update customers set age = age + 1, nation = nation + 1 where id = ' . int(rand 2000),
			'update customers set id = -id where id = ' . int(rand 2000),
			'update items set price = price + 1, kind = \'new\' where id = ' . int(rand 300),
			'delete from sales where id = ' . int(rand 20000),
			'delete from customers where id = ' . int(rand 2000),
			'with gone as (delete from customers where id < 2000 and id % 499 = ' . int(rand 499) . ' returning id) insert into customers select id, 3, 3, \'again\', repeat(\'y\', 2000) from gone',
			'vacuum sales', 'vacuum customers', 'vacuum items', 'vacuum', 'analyze items',
			'insert into sales select 40000, i, i, i, i, i, i, \'n\', repeat(\'x\', 900) from generate_series(1, 5) i',
			# one that sales of a rank find no more, or twice
			'delete from ranks where id = ' . int(rand 120), 'insert into ranks values (' . int(rand 120) . ', \'again\', 1)')[ rand 15 ]);
		if (rand() < 0.01)
		{
			my $pid = device_process($node);

			kill 'KILL', $pid if defined $pid;
		}
		return $stars[ rand @stars ]->[2];
	};

	none_is_wrong('beside writers', $write, look => sub { last_backends() =~ /cuda/ });
}

done_testing();
