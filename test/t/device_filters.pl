# A device decides the quals of tables whose columns it keeps: integers, dates and times, numerics, what is computed of these, texts by their codes, the order of two columns, NULL, and what AND, OR and NOT make of them. What comes of it
# is what PostgreSQL gives, of two tables and of a star, while rows change, and where a condition is none for a device.
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
use RawSession;
use Test::More;

my ($standin, $device) = device_programs();

my ($node, $main) = cache_server('filters', $standin // $device);

# several segments: rows are wide; values of u do not repeat, and so have no codes that are few
$node->safe_psql('postgres', <<'SQL');
create table a (id int4, k int4, c int4, s int2, i int4, l int8, d date, ts timestamp, m numeric(12, 2), f float8, b bool, o oid, t text, p char(6), u text, wide text) with (fillfactor = 90);
create table b (k int4, g int4, s int2, m numeric(8, 3), t varchar, wide text) with (fillfactor = 90);
create table c (id int4, kind text, weight int8, x int4, wide text);
alter table a alter wide set storage plain;
alter table b alter wide set storage plain;
alter table c alter wide set storage plain;
insert into a select n, case when n % 13 > 0 then (n * 7919) % 3000 end, n % 500, case when n % 5 > 0 then n % 200 - 100 end, (n * 104729::int8) % 40000 - 20000, (n * 31007::int8) % 3000000 - 1500000, date '2020-01-01' + n % 700, timestamp '2021-03-04 05:06:07' + n * interval '1 minute', case when n % 9 > 0 then (n % 1000 - 300) * 12.25 end, n * 0.5, case when n % 4 > 0 then n % 4 = 1 end, n % 300, case when n % 11 > 0 then 'text ' || n % 7 end, 'p' || n % 3, 'unique ' || n || repeat('u', 150), repeat('x', 900) from generate_series(1, 9000) n;
insert into b select (n * 17) % 3500, n % 6, case when n % 7 > 0 then n % 90 end, n * 0.125, 'kind ' || n % 12, repeat('y', 1500) from generate_series(1, 3500) n;
insert into c select n, 'kind ' || n % 9, n * 10000000000, case when n % 8 > 0 then n % 40 end, repeat('z', 1500) from generate_series(0, 480) n;
analyze;
SQL

sql("select hashgraph_resident_add('a', '{id,k,c,s,i,l,d,ts,m,f,b,o,t,p,u}', keys => '{k,c}'), hashgraph_resident_add('b', '{k,g,s,m,t}', keys => '{k}'), hashgraph_resident_add('c', '{id,kind,weight,x}', keys => '{id}')");

# All of the tables is resident, and a device has all of its graphs.
sub kept { return become_kept($main, 4, shift, qw(a b c)); }

# Conditions on a, which a device decides.
my @conditions = (
	[ 'int2', 'a.s > 17' ],
	[ 'int4', 'a.i between -500 and 12000' ],
	[ 'int8', 'a.l < -70000::int8' ],
	[ 'int4 that is not', 'a.i <> 777 and a.i <> -20000' ],
	[ 'a list', 'a.s in (1, 2, 3, 7, 9, 50, 51)' ],
	[ 'a list that is not', 'a.s not in (1, 2, 3, 7, 9, 50, 51)' ],
	[ 'a date', q{a.d >= date '2020-03-01' and a.d < date '2021-01-01'} ],
	[ 'a timestamp', q{a.ts > timestamp '2021-03-05 01:02:03.5'} ],
	[ 'a numeric', 'a.m > 1234.565' ],
	[ 'a numeric that is equal', 'a.m = 2450.00 or a.m = 12.250' ],
	[ 'a numeric in between', 'a.m between -1000.005 and 500' ],
	[ 'a boolean', 'a.b' ],
	[ 'a boolean that is not', 'not a.b' ],
	[ 'a boolean that is not true', 'a.b is not true' ],
	[ 'an oid', 'a.o > 100 and a.o < 250' ],
	[ 'a text', q{a.t = 'text 3'} ],
	[ 'a text that is not', q{a.t <> 'text 3'} ],
	[ 'texts', q{a.t in ('text 1', 'text 5', 'none')} ],
	[ 'a pattern', q{a.t like '%t 4'} ],
	[ 'a pattern that is not', q{a.t not like 'text 2%'} ],
	[ 'order of texts', q{a.t > 'text 2' collate "C"} ],
	[ 'blanks', q{a.p = 'p1'} ],
	[ 'NULL', 'a.s is null' ],
	[ 'not NULL', 'a.t is not null' ],
	[ 'NULL of a numeric', 'a.m is null or a.m < 0' ],
	[ 'two columns', 'a.s < a.i' ],
	[ 'two columns that are not equal', 'a.i <> a.l' ],
	[ 'OR of several columns', q{a.s > 50 or a.i < 0 or a.t = 'text 1'} ],
	[ 'AND and OR', q{(a.s > 0 and a.i > 0) or (a.s < 0 and a.m > 100 and a.t is not null)} ],
	[ 'NOT of OR', 'not (a.s > 0 or a.i > 10000)' ],
	[ 'NOT of AND', q{not (a.s > 0 and a.t = 'text 3')} ],
	[ 'none', 'a.s > 20 and a.i < -19990 and a.l = 1' ],
	[ 'a sum', 'a.s + a.i > 10' ],
	[ 'a product of several widths', 'a.l * a.s < a.i * 2' ],
	[ 'a remainder', 'a.i % 10 = 3 or a.l % (-7)::int8 in (2, 5)' ],
	[ 'a remainder, and less one', 'a.i % 10 = 3 and - a.s + 1 between -60 and 7' ],
	[ 'numerics', 'a.m * 1.19 - a.s >= 3.5' ],
	[ 'numerics of several scales', 'a.m * a.m * 0.001 > a.m * 3' ],
	[ 'a column and a sum', 'a.id >= a.s * 100 + 5' ],
	[ 'a condition ahead of numbers that do not fit', 'a.id > 5 and a.i * 100000 > 7 and a.i between -20000 and 20000 and a.id % 3 = 1' ],
	[ 'computed ones in OR and NOT', q{not (a.s + 1 > 10 or a.t = 'text 3') or a.i * 2 = 4} ],
	[ 'nearly all', 'a.id > 2' ]);

# Not by a device, which joins all the same.
my @others = (
	[ 'a float', 'a.f > 100.5' ],
	[ 'an expression of floats', 'a.f * 2 > 10' ],
	[ 'numbers that do not fit for some rows', 'a.id > 8000 and a.m * 100000000000 * a.l > 5' ],
	[ 'long expressions', join(' or ', map { "a.i + a.s + a.l * $_ + a.id = 7" } 1 .. 9) ],
	[ 'texts without codes', q{a.u > 'unique 4'} ],
	[ 'too many ranges', 'a.i in (' . join(', ', map { $_ * 3 } 1 .. 300) . ')' ]);

# So many tables are filtered by a device in a query, at its last execution.
sub filtered
{
	my ($select) = @_;

	return sql("explain (analyze, costs off, timing off) $select") =~ /Tables Filtered on Device: (\d+)/ ? $1 : 0;
}

# Tests: a query gives PostgreSQL's own rows, and a device filters so many tables, as soon as it has the columns.
sub is_filtered
{
	my ($name, $select, $tables) = @_;

	return is_right($name, $select, look => \&filtered, like => qr/^$tables$/);
}

sub all_are_right
{
	my ($when) = @_;

	foreach my $condition (@conditions)
	{
		my ($what, $where) = @$condition;

		is_filtered("$when: $what", "select count(*), sum(a.i), b.g from a join b using (k) where $where group by b.g", 1);
	}
	is_filtered("$when: $_->[0]", "select count(*), b.g from a join b using (k) where $_->[1] group by b.g", 0) foreach @others;
	is_filtered("$when: both sides", q{select count(*), sum(a.l) from a join b using (k) where a.s > 3 and b.t like 'kind 1%' and b.m > 7.5}, 2);
	is_filtered("$when: the number of rows", 'select count(*) from a join b using (k) where a.s > 3 and b.s < 70', 2);
	is_filtered("$when: one that is for a device, and one that is not", 'select count(*) from a join b using (k) where a.f > 20 and b.s < 70', 1);
	is_filtered("$when: a star's facts", 'select c.kind, sum(a.i), count(*) from a join b using (k) join c on a.c = c.id where a.s > 3 group by c.kind', 1);
	is_filtered("$when: all of a star", q{select b.g, sum(a.i), max(c.weight) from a join b using (k) join c on a.c = c.id where a.s > 3 and b.t <> 'kind 7' and c.x < 30 group by b.g}, 3);
	is_filtered("$when: what a star finds or not", q{select sum(a.i), count(*), count(c.x) from a join b using (k) left join c on a.c = c.id and c.kind in ('kind 1', 'kind 4') where a.d > date '2020-02-02'}, 2);
	is_filtered("$when: a star without groups", 'select count(*) from a join b using (k) join c on a.c = c.id where a.m > 0 and c.x is not null', 2);
	return;
}

# A condition on columns of a table.
sub draw
{
	my ($table, $depth) = @_;
	my %values = (
		a => [ [ 's', -100 .. 100 ], [ 'i', map { $_ * 997 - 20000 } 0 .. 40 ], [ 'l', map { $_ * 99991 - 1500000 } 0 .. 30 ], [ 'm', map { $_ * 122.5 - 3000 } 0 .. 60 ], [ 't', map { "'text $_'" } 0 .. 7 ], [ 'd', map { "date '2020-01-01' + $_ * 10" } 0 .. 70 ], [ 'id', map { $_ * 100 } 0 .. 90 ] ],
		b => [ [ 's', 0 .. 90 ], [ 'g', 0 .. 6 ], [ 'm', map { $_ * 10.125 } 0 .. 40 ], [ 't', map { "'kind $_'" } 0 .. 12 ] ],
		c => [ [ 'x', 0 .. 40 ], [ 'kind', map { "'kind $_'" } 0 .. 9 ], [ 'weight', map { $_ * 100000000000 } 0 .. 48 ] ]);
	my ($column, @of) = @{ $values{$table}[ rand @{ $values{$table} } ] };
	my $which = rand;

	return '(' . draw($table, $depth - 1) . (' and ', ' or ')[ rand 2 ] . draw($table, $depth - 1) . ')' if $depth && $which < 0.6;
	return '(not ' . draw($table, $depth - 1) . ')' if $depth && $which < 0.7;
	return "$table.$column is " . ('', 'not ')[ rand 2 ] . 'null' if $which > 0.93;
	return "$table.$column " . ('', 'not ')[ rand 2 ] . 'in (' . join(', ', map { $of[ rand @of ] } 1 .. 1 + rand 6) . ')' if $which > 0.83;
	return "$table.$column between $of[rand @of] and $of[rand @of]" if $which > 0.75;
	return "$table.$column * $of[rand @of] - $of[rand @of]::int8 < $table.$column % 7::int8 * $of[rand @of]" if $which > 0.68 && $column =~ /^([sigx]|id)$/;
	return "$table.m * $of[rand @of] > $table.m + 7.125" if $which > 0.68 && $column eq 'm';
	return "$table.$column " . ('<', '<=', '=', '<>', '>=', '>')[ rand 6 ] . " $of[rand @of]";
}

foreach my $program (grep { defined } $standin, $device)
{
	my $label = $program eq ($standin // '') ? 'stand-in' : 'device';

	use_program($node, $program);
	kept("$label: all graphs are kept");
	ask(map { "select count(*), sum(a.i), b.g from a join b using (k) where $_->[1] group by b.g" } @conditions);
	all_are_right($label);

	# rows that have changed are decided about here, and the others there
	sql("update a set s = s + 1, t = 'text 3' where id % 700 = 3; delete from b where k % 900 = 5; insert into a select 20000 + n, n, n, n, n, n, date '2020-05-05', timestamp '2022-02-02', n * 0.5, n, true, n, 'new', 'p1', 'u', repeat('x', 900) from generate_series(1, 20) n");
	all_are_right("$label: rows have changed");
	sql("update c set x = x + 1 where id % 100 = 7");
	all_are_right("$label: rows of all tables have changed");
	kept("$label: graphs are kept in step");
	all_are_right("$label: in step");

	# workers share what is decided here
	sql('set max_parallel_workers_per_gather = 2');
	foreach my $condition (@conditions)
	{
		my $select = "select count(*), sum(a.i), b.g from a join b using (k) where $condition->[1] group by b.g";

		is(rows($select), core_of($select), "$label: $condition->[0], with workers");
	}
	sql('set max_parallel_workers_per_gather = 0');

	# one plan, with other values and rescans
	sql('prepare picked(int, text) as select count(*), sum(a.l) from a join b using (k) where a.s > $1 and b.t <> $2');
	foreach my $value (-50, 3, 98)
	{
		is(sql("execute picked($value, 'kind 3')"), core_of("select count(*), sum(a.l) from a join b using (k) where a.s > $value and b.t <> 'kind 3'"), "$label: a parameter, $value");
	}
	my $lateral = 'select v, n from (values (1), (2), (3)) w(v), lateral (select count(*) n from a join b using (k) where a.s > 3 and b.s < 50 and w.v > 0) q';

	is(rows($lateral), core_of($lateral), "$label: a subquery for each row");

	# beside another session that writes, each query in one snapshot with PostgreSQL's own
	my $writer = RawSession->new($node);
	my $write = sub {
		$writer->run_each((
			'update a set s = s + 1, i = -i where id % 997 = ' . int(rand 997),
			'delete from a where id = ' . int(rand 9000),
			'update b set s = s + 1 where k = ' . int(rand 3500),
			'update c set x = x + 1 where id = ' . int(rand 480),
			'vacuum a', 'vacuum b')[ rand 6 ]);
		return 'select count(*), sum(a.i), min(b.g) from a join b using (k)' . (rand() < 0.5 ? ' join c on a.c = c.id' : '') . ' where ' . draw('a', 2) . ' and ' . draw('b', 1);
	};

	none_is_wrong("$label: beside a writer", $write, look => sub { filtered(shift) > 0 },
		between => sub { $writer->run_each('update a set i = i + 1 where id % 991 = ' . int(rand 991)) if rand() < 0.5 });
	kept("$label: graphs are kept after that");

	my $random = sub {
		my $star = rand() < 0.4;
		my @where = map { rand() < 0.7 ? draw($_, int rand 4) : () } 'a', 'b', $star ? 'c' : ();
		my $select = (rand() < 0.5 ? 'select b.g, count(*), sum(a.i), min(a.s)' : 'select count(*)') . ' from a join b using (k)' . ($star ? (rand() < 0.3 ? ' left' : '') . ' join c on a.c = c.id' : '') . (@where ? ' where ' . join ' and ', @where : '');

		sql('update a set s = s + 1 where id % 997 = ' . int(rand 997)) if rand() < 0.2;
		sql('update c set x = x + 1 where id % 97 = ' . int(rand 97)) if rand() < 0.05;
		return $select =~ /^select b\.g/ ? "$select group by b.g" : $select;
	};

	none_is_wrong("$label: conditions", $random, look => sub { filtered(shift) > 0 });
	kept("$label: all is kept after that");
}

done_testing();
