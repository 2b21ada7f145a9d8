# A device computes expressions of columns that it keeps, for sums, averages, extremes and counts of groups: what comes of them is what PostgreSQL's own arithmetic gives, to the digit, and an error is raised
# where PostgreSQL raises one, and for no other row.  So it is with rows that have changed, which are computed here, and for random expressions.
#
# Runs over the stand-in, and over the real one too, where it finds a device.
#
# The random part draws few queries under HG_QUICK, and all of them in the nightly run.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

my ($standin, $device) = device_programs();

my ($node, $main) = cache_server('computed', $standin // $device);

# several segments: rows are wide; one row of d, whose key nobody has, is extreme
$node->safe_psql('postgres', <<'SQL');
create domain small as int2;
create table a (id int4, k int4, s int2, i int4, l int8, m numeric(12, 2), r numeric(6, 4), z small, t text, wide text) with (fillfactor = 90);
create table b (id int4, k int4, s int2, i int4, l int8, m numeric(12, 2), g int4, wide text) with (fillfactor = 90);
create table c (id int4, x int8, g int4);
alter table a alter wide set storage plain;
alter table b alter wide set storage plain;
insert into a select n, case when n % 13 > 0 then (n * 7919) % 3000 end, n % 200 - 100, (n * 104729::int8) % 40000 - 20000, (n * 31::int8) % 3000000 - 1500000, case when n % 9 > 0 then (n % 1000 - 300) * 12.25 end, (n % 101) * 0.01, n % 50, 'text ' || n % 7, repeat('x', 900) from generate_series(1, 9000) n;
insert into b select n, (n * 17) % 3500, case when n % 7 > 0 then n % 90 end, n % 1000 - 500, n * 1000, n * 0.75, n % 6, repeat('y', 1500) from generate_series(1, 3500) n;
insert into c select n, n * 3, n % 4 from generate_series(1, 9000) n;
create table d as select id, k, s, i, l, m, r from a where id <= 3000;
insert into d select 10000, -1, 32767, 2147483647, 9223372036854775807, 9999999999.99, 99.9999;
create table e as select id, g, k * 11 as x from b;
analyze;
SQL

sql("select hashgraph_resident_add('a', '{id,k,s,i,l,m,r,z,t}', keys => '{k,id}'), hashgraph_resident_add('b', '{id,k,s,i,l,m,g}', keys => '{k,id}'), hashgraph_resident_add('e', '{id,g,x}', keys => '{id}'), hashgraph_resident_add('c', '{id,x,g}', keys => '{id}'), hashgraph_resident_add('d', '{id,k,s,i,l,m,r}', keys => '{k,id}')");

# All of the tables is resident, and a device has all of its graphs.
sub kept { return become_kept($main, 8, shift, qw(a b c d e)); }

# Computed by a device.
my @asked = (
	[ 'a product of int4', 'select sum(a.i * 3), count(*) from a join b using (k)' ],
	[ 'products of each width', 'select sum(a.s * a.s), avg(a.i * a.s), min(a.i - a.s), max(a.l * a.s), count(a.l * 2) from a join b using (k)' ],
	[ 'differences and negatives by group', 'select b.g, sum(-a.i), max(-a.s), min(a.l - a.i), avg(a.l + 5) from a join b using (k) group by b.g' ],
	[ 'of both sides, each for itself', 'select b.g, sum(a.i + a.s), sum(b.i * b.i), sum(b.l - b.i), avg(b.s * 2) from a join b using (k) group by b.g' ],
	[ 'numerics of two scales', 'select sum(a.m * (1 - a.r)), avg(a.m * (1 - a.r)), count(a.m * a.r) from a join b using (k)' ],
	[ 'numerics by group', 'select b.g, sum(a.m * (1 - a.r) * (1 + a.r)), sum(a.m + a.r), avg(a.r - a.m) from a join b using (k) group by b.g' ],
	[ 'numerics and integers', 'select b.g, sum(a.m * a.i), sum(a.l - a.r), avg(a.m * 2.5 - a.s) from a join b using (k) group by b.g' ],
	[ 'numerics of the other side', 'select a.z, sum(b.m * 0.5), sum(b.m * b.m) from a join b using (k) group by a.z' ],
	[ 'a constant of its own scale', 'select sum(a.m * 1.00), sum(a.m + 0.0000), sum(a.m - 1e3), avg(-a.m) from a join b using (k)' ],
	[ 'a domain', 'select sum(a.z * a.s), min(a.z - a.i) from a join b using (k)' ],
	[ 'a cast that fits', 'select sum(a.i::int8 * a.l), sum((a.i + 7)::int2), sum(a.l::int4) from a join b using (k)' ],
	[ 'a filter beside it', 'select b.g, sum(a.i * a.s), sum(a.m * a.r) from a join b using (k) where a.i > 100 and b.g < 4 group by b.g' ],
	[ 'a semi join', 'select a.z, sum(a.i * a.s), count(a.l - 1) from a where exists (select from b where a.k = b.k) group by a.z' ],
	[ 'no rows', 'select sum(a.i * 2), count(a.i * 2), min(a.i + 1) from a join b using (k) where a.i > 100000000' ],
	[ 'one argument often', 'select sum(a.i * 2), avg(a.i * 2), min(a.i * 2), max(a.i * 2), count(a.i * 2), sum(a.i * 2 + 1) from a join b using (k)' ],
	[ 'a star', 'select c.g, sum(a.i * a.s), sum(a.m * (1 - a.r)), count(*) from a join b using (k) join c on a.id = c.id group by c.g' ],
	[ 'a star, and what is looked up', 'select b.g, sum(c.x * 2 - c.g), avg(a.l + a.i), sum(b.l * 7) from a join b using (k) join c on a.id = c.id group by b.g' ],
	[ 'across two tables', 'select sum(a.i * b.i), count(*) from a join b using (k)' ],
	[ 'across two tables by group', 'select b.g, sum(a.m * (1 - b.m)), avg(a.i - b.l), sum(a.s), max(b.i) from a join b using (k) group by b.g' ],
	[ 'across two tables by groups of both', 'select b.g, a.z, count(a.l * b.s), min(b.s + a.z), sum(b.s * b.s), sum(b.l) from a join b using (k) group by b.g, a.z' ],
	[ 'across two tables with filters', 'select a.z, sum(a.i * b.i), sum(b.m + a.r) from a join b using (k) where a.i > 100 and b.g < 4 and b.i + 1 > 0 group by a.z' ],
	[ 'across a star', 'select c.g, sum(a.i * b.i), sum(c.x - b.i), max(a.i + b.i + c.x) from a join b using (k) join c on a.id = c.id group by c.g' ],
	[ 'across a star with a left join', 'select b.g, sum(a.s * e.x), count(b.i + e.g), count(*) from a join b using (k) left join e on a.id = e.id group by b.g' ],
	[ 'across a star of rows that look others up', 'select e.g, sum(a.i * e.x), sum(b.i - a.i), sum(e.x + b.l) from a join b using (k) join e on b.id = e.id group by e.g' ]);

# Not by a device, or not in all of these cases.
my @others = (
	[ 'across tables whose rows meet several', 'select sum(a.i * d.s), count(*) from a join d using (k)' ],
	[ 'a quotient', 'select sum(a.i / 3), sum(a.m / 2) from a join b using (k)' ],
	[ 'a FILTER', 'select sum(a.i * 2) filter (where b.g = 1) from a join b using (k)' ],
	[ 'the least numeric', 'select min(a.m * a.r), max(a.m - 1) from a join b using (k)' ],
	[ 'a constant', 'select sum(1 + 1), sum(a.s) from a join b using (k)' ],
	[ 'too many columns', 'select sum(a.s + a.i), sum(a.s - a.i), sum(a.s * a.i), sum(a.l + a.i), sum(a.l - a.i), sum(a.i + 1), sum(a.i + 2) from a join b using (k)' ],
	[ 'many steps', 'select sum(' . join(' + ', map { "a.s * $_" } 1 .. 20) . ') from a join b using (k)' ],
	[ 'deep ones', 'select sum(a.s + (a.i + (a.s + (a.i + (a.s + (a.i + (a.s + (a.i + (a.s + 1))))))))) from a join b using (k)' ],
	[ 'too many decimals', 'select sum(a.r * a.r * a.r * a.r * a.r) from a join b using (k) where a.i < 0' ]);

# Numbers that don't fit: of rows that are joined they are errors, and of others nothing.
my @overflows = (
	[ 'int2', 'select sum(d.s * (d.s + 1000::int2)) from d join b using (k)', 1 ],
	[ 'int2, which fits', 'select sum(d.s * 300::int2) from d join b using (k) where d.s between -100 and 100', 0 ],
	[ 'int4', 'select sum(d.i * 200000) from d join b using (k)', 1 ],
	[ 'int4 in between', 'select sum(d.i * 200000 - d.i * 200000) from d join b using (k)', 1 ],
	[ 'int4 of a row without a partner', 'select sum(d.i + 20000), max(d.i * 2) from d join b using (k)', 0 ],
	[ 'int4 of that row', 'select sum(d.i + 20000) from d join (values (-1)) v(k) using (k)', 1 ],
	[ 'int8', 'select sum(d.l * 10000000000000), count(*) from d join b using (k)', 1 ],
	[ 'int8 of a row without a partner', 'select sum(d.l + 1), min(-d.l - 2) from d join b using (k)', 0 ],
	[ 'int8 beside NULL', 'select sum(d.l * 10000000000000 + b.s) from d join b using (k)', 1 ],
	[ 'int8 beside NULL of a side', 'select sum(b.l * 10000000000000000 + b.s) from d join b using (k)', 1 ],
	[ 'a count', 'select count(d.i * 200000) from d join b using (k)', 1 ],
	[ 'a cast', 'select sum(d.l::int2) from d join b using (k)', 1 ],
	[ 'numerics, which are none', 'select sum(d.m * d.m * d.m * d.m), avg(d.m * d.r * 1000000000000) from d join b using (k)', 0 ],
	[ 'a star', 'select sum(c.x * 1000000000000000000) from d join b using (k) join c on d.id = c.id', 1 ],
	[ 'a star whose rows fit', 'select sum(d.i + 20000) from d join b using (k) join c on d.id = c.id', 0 ]);

sub all_are_right
{
	my ($when, $where) = @_;

	foreach my $workers (0, 2)
	{
		sql("set max_parallel_workers_per_gather = $workers");
		# facts that have changed go through the joins of a star, and below a Gather there is none
		is_right("$when, $workers workers: $_->[0]", $_->[1], like => $_->[0] !~ /semi|star|across/ ? $where : $workers ? undef : qr/cuda/) foreach @asked;
		is_right("$when, $workers workers: $_->[0]", $_->[1]) foreach @others;
	}
	sql('set max_parallel_workers_per_gather = 0');
	return;
}

# Tests: a device that has the columns is asked for a query and has no answer, for a reason.  The session computes PostgreSQL's own rows instead.
sub has_no_answer
{
	my ($select, $reason, $name) = @_;

	return is_right($name, $select, look => sub { sql(q{select coalesce(string_agg(fallback, ' '), '') from hashgraph_last_joins()}) }, like => $reason);
}

# Tests: numbers that don't fit are errors where they are PostgreSQL's.
sub overflows_are_right
{
	my ($when) = @_;

	foreach my $query (@overflows)
	{
		my ($what, $select, $is_error) = @$query;
		my $core = core_of($select);

		is(rows($select), $core, "$when: overflow of $what");
		is($core =~ /out of range/ ? 1 : 0, $is_error, "$when: overflow of $what is " . ($is_error ? 'an error' : 'none'));
	}
	return;
}

# An expression of tables' columns.
sub draw
{
	my ($depth, @tables) = @_;
	my $table = $tables[ rand @tables ];
	my @columns = $table eq 'a' ? qw(s i l m r z) : $table eq 'b' ? qw(s i l m g) : qw(x g);
	my $which = rand;

	return "$table." . $columns[ rand @columns ] if !$depth || $which < 0.2;
	return (1, 2, -3, 7, 100, '0.5', '1.25', '-0.001', 1000000, '10000000000', '3::int2')[ rand 11 ] if $which < 0.35;
	return '(-' . draw($depth - 1, @tables) . ')' if $which < 0.42;
	return '(' . draw($depth - 1, @tables) . ')::' . (qw(int8 int4 numeric int2))[ rand 4 ] if $which < 0.5;
	return '(' . draw($depth - 1, @tables) . ' ' . (qw(+ - *))[ rand 3 ] . ' ' . draw($depth - 1, @tables) . ')';
}

foreach my $program (grep { defined } $standin, $device)
{
	my $label = $program eq ($standin // '') ? 'stand-in' : 'device';

	use_program($node, $program);
	kept("$label: all graphs are kept");
	ask(map { $_->[1] } @asked);
	all_are_right($label, qr/^cuda$/);
	overflows_are_right($label);
	foreach my $star (grep { $_->[0] =~ /star|across/ } @asked)
	{
		my $tables = 1 + (() = $star->[1] =~ / join /g);

		becomes_like(sub { explain_analyze($node, '', $star->[1]) }, qr/Tables Joined at Once: $tables/, "$label: $star->[0] is joined at once");
	}

	# rows that have changed are computed here, and the others there
	sql("update a set i = i + 1, m = m + 0.01, l = -l where id % 700 = 3; delete from b where id % 900 = 5; insert into a select 20000 + n, n, n, n, n, n * 0.5, 0.5, 1, 'new', repeat('x', 900) from generate_series(1, 20) n");
	all_are_right("$label: rows have changed", qr/^cuda$/);
	overflows_are_right("$label: rows have changed");
	# a row that overflows is the reason of an error from when it has a partner on, read or taken in
	my $extreme = 'select sum(d.i + 20000) from d join b using (k)';

	unlike(core_of($extreme), qr/out of range/, "$label: an extreme row without a partner is no reason of an error");
	has_no_answer($extreme, qr/does not fit/, "$label: an extreme row without a partner");
	sql('update d set k = 17 where id = 10000');
	like(rows($extreme), qr/integer out of range/, "$label: one that has changed has a partner");
	kept("$label: graphs are kept in step");
	like(rows($extreme), qr/integer out of range/, "$label: and so it has when it is taken in");
	sql('update d set k = -1 where id = 10000');
	kept("$label: graphs are kept again");
	all_are_right("$label: in step", qr/^cuda$/);

	my $random = sub {
		my $star = rand() < 0.3 && ' join c on a.id = c.id';
		my @tables = (qw(a a b), $star ? 'c' : 'a');
		my @arguments = map { draw(1 + int rand 3, rand() < 0.5 ? @tables : $tables[ rand 4 ]) } 1 .. 1 + int rand 3;
		my $select = 'select ' . join(', ', (rand() < 0.5 ? 'b.g' : 'count(*)'), map { (qw(sum avg count min max))[ rand 5 ] . "($_)" } @arguments) . ' from a join b using (k)' . ($star || '') . (rand() < 0.3 ? ' where a.id < 9000' : '');

		sql('update a set i = i + 1 where id % 997 = ' . int(rand 997)) if rand() < 0.2;
		return $select =~ /^select b\.g/ ? "$select group by b.g" : $select;
	};

	none_is_wrong("$label: expressions", $random, look => sub { last_backends() =~ /cuda/ });
	kept("$label: all is kept after that");
}

# ------------------------------------------------------------------ what it costs

# With settings as they are the price of a sum across tables is that of a device where one is asked for it, which is by one integer; and not where it makes sums of columns of theirs alone.
if (defined $standin)
{
	use_program($node, $standin);
	sql(<<'SQL');
create table pairs (id int, x int, y int, q int);
create table found (id int, x int, y int, p int);
insert into pairs select n, n / 200, n % 200, n % 100 from generate_series(1, 200000) n;
insert into found select n, n / 200, n % 200, n % 1000 from generate_series(1, 200000) n;
create unique index on found (id);
create unique index on found (x, y);
vacuum analyze pairs, found;
select hashgraph_resident_add('pairs', keys => '{{id,NULL},{x,y}}'), hashgraph_resident_add('found', keys => '{{id,NULL},{x,y}}');
SQL
	foreach my $query ([ 'id', 'sum(a.q * b.p)', 1 ], [ 'id', 'sum(a.q), sum(b.p)', 1, 'left join' ], [ 'x, y', 'sum(a.q * 2), sum(b.p)', 1 ], [ 'x, y', 'sum(a.q * b.p)', 0 ])
	{
		my ($by, $what, $asked, $join) = (@$query, 'join');
		my $select = "select $what from pairs a $join found b using ($by)";
		my $core = core_of($select);
		my $cost = sub {
			my ($own, $joins) = sql("set hashgraph.force = off; explain $select") =~ /HashGraphAggregate\)  \(cost=\S+\.\.(\S+).*HashGraphJoin\)  \(cost=\S+\.\.(\S+)/s;

			sql('set hashgraph.force = on');
			return ($own // 'none', $joins // 1);
		};
		my ($own, $joins);

		# devices have what is asked for
		is_right("the price of $what by $by", $select, seconds => 40, like => $asked ? qr/^t cuda$/ : qr/^t cpu$/,
			look => sub { my $ran = last_backends(); sql(q{select count(*) = 4 and bool_and(location = 'both') from hashgraph_resident where kind = 'graph' and relation in ('pairs'::regclass, 'found'::regclass)}) . " $ran" },
			between => 'vacuum pairs; vacuum found; select hashgraph_resident_refresh(\'pairs\'), hashgraph_resident_refresh(\'found\')');
		($own, $joins) = $cost->();
		cmp_ok($own * 10 < $joins ? 1 : 0, '==', $asked, "the price of $what by $by is " . ($asked ? '' : 'not ') . "a device's") or diag("$own of $joins");
	}
}

done_testing();
