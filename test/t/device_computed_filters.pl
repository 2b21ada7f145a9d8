
# Quals over numbers that are computed of columns are decided over columns: sums, differences, products and remainders of integers and numerics, compared with constants and with each other, over the ends of types, NULL, NaN and
# infinity. What comes of them is what PostgreSQL gives, rows and errors, from resident tables and while rows change. A row that it raises an error for raises it, and one that no snapshot or no barrier lets it come to does not.
#
# The random parts draw few queries under HG_QUICK, and all of them in the nightly run.

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

my ($node, $main) = cache_server('computed_filters', $standin // $device);

# Several segments. Rows whose kind is 'end' have the ends of types, of which sums and products are none; the others have none.
$node->safe_psql('postgres', <<'SQL');
create domain whole as int4;
create table a (id int4, k int4, kind text, s int2, r int2, i int4, j whole, l int8, h int8, m numeric(12, 2), n numeric(9, 4), x numeric, wide text) with (fillfactor = 90);
create table b (k int4, g int4, s int2, i int4, wide text) with (fillfactor = 90);
alter table a alter wide set storage plain;
alter table b alter wide set storage plain;
insert into a select n, case when n % 13 > 0 then (n * 7919) % 3000 end, 'kind ' || n % 4, case when n % 5 > 0 then n % 100 - 50 end, n % 90, (n * 104729::int8) % 4000 - 2000, case when n % 7 > 0 then n % 300 end, (n * 31007::int8) % 3000000 - 1500000, n % 800,
  case when n % 9 > 0 then (n % 1000 - 300) * 12.25 end, (n % 700) * 0.0625, case when n % 1000 = 3 then 'NaN' when n % 1000 = 4 then 'Infinity' when n % 1000 = 5 then '-Infinity' when n % 17 = 0 then null else (n % 50) * 1.5 end, repeat('x', 900) from generate_series(1, 7000) n;
insert into a select 10000 + n, n * 3, 'end', (array[-32768, 32767])[1 + n % 2], (array[-32768, 32767, 1, null])[1 + n % 4], (array[-2147483648, 2147483647])[1 + n % 2], (array[-2147483648, 2147483647, 1, null])[1 + n % 4], (array[-9223372036854775808, 9223372036854775807])[1 + n % 2],
  (array[-9223372036854775808, 9223372036854775807, 1, null])[1 + n % 4], (array[9999999999.99, -9999999999.99])[1 + n % 2], (array[99999.9999, -99999.9999])[1 + n % 2], (array[1e30, -1e30, 1e-30, 'NaN'])[1 + n % 4], repeat('x', 900) from generate_series(1, 90) n;
insert into b select (n * 17) % 3500, n % 6, case when n % 7 > 0 then n % 90 end, n, repeat('y', 1500) from generate_series(1, 3500) n;
create view kept with (security_barrier) as select * from a where kind <> 'end';
create function allowed(text) returns bool language plpgsql stable as $$ begin return $1 <> 'end'; end $$;
create role reader;
grant select on a, b to reader;
create policy of_reader on a to reader using (allowed(kind));
alter table a enable row level security;
create function shown(int4) returns bool language plpgsql cost 0.0001 as $$ begin if $1 > 10000 then raise exception 'shown: %', $1; end if; return true; end $$;
analyze;
SQL

sql("select hashgraph_resident_add('a', '{id,k,kind,s,r,i,j,l,h,m,n,x}', keys => '{k}'), hashgraph_resident_add('b', '{k,g,s,i}', keys => '{k}')");

# All of the tables is resident.
sub resident
{
	my ($name) = @_;

	return ok(wait_for(sub {
		sql("select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) and count(*) filter (where kind = 'graph') = 2 from hashgraph_resident where state <> 'declined'") eq 't'
		  or not defined sql("vacuum a; vacuum b; select hashgraph_resident_refresh('a'), hashgraph_resident_refresh('b')") }, 40), $name)
	  || diag(sql('select json_agg(r) from hashgraph_resident r'));
}

# Conditions that are decided over columns, and raise no error where kind is not 'end'.
my @conditions = (
	[ 'int4 + int4', 'a.i + a.i > 10' ],
	[ 'int2 + int4', 'a.s + a.i > 10' ],
	[ 'int8 - int2', 'a.l - a.s <= 77' ],
	[ 'int2 + int2', 'a.s + a.r >= 40::int2' ],
	[ 'int4 * constant', 'a.i * 2 between 5 and 900' ],
	[ 'int8 * int4', 'a.l * a.i < 0' ],
	[ 'unary minus', '- a.i > 500' ],
	[ 'a constant ahead', '100 < a.i + 1' ],
	[ 'a list', 'a.r + 1 in (3, 7, 9, 50, null)' ],
	[ 'a list that is not', 'a.s * 2 not in (4, 6, 18)' ],
	[ 'remainder', 'a.i % 10 = 3' ],
	[ 'remainders of all signs', 'a.i % (-7) <> -3 and a.l % 1000::int8 > -400 and a.s % 3::int2 = 1' ],
	[ 'remainder by -1', 'a.l % (-1)::int8 = 0' ],
	[ 'two expressions', 'a.i + 1 < a.s * 20' ],
	[ 'expression and column', 'a.h >= a.i + a.s' ],
	[ 'a domain', 'a.j * 3 < a.i' ],
	[ 'casts', 'a.s::int8 + a.r::int4 <> a.h and (a.h::int4)::int2 > 300' ],
	[ 'numeric - numeric', 'a.m - a.n >= 3.5' ],
	[ 'numeric * numeric', 'a.m * a.n > 1000.0625' ],
	[ 'numeric and an integer', 'a.m * a.i > 10000' ],
	[ 'numerics in between', 'a.m * 1.19 between 100 and 2000.005' ],
	[ 'two numerics', 'a.m > a.n' ],
	[ 'numerics of several scales', 'a.m * a.n * 0.001 < a.n - a.i' ],
	[ 'numerics that are no numbers', 'a.x + 1 > 20' ],
	[ 'two of those', 'a.x * 2 <= a.n' ],
	[ 'OR', q{a.i + a.s > 1500 or a.kind = 'kind 1' or a.m - 1 < 0} ],
	[ 'NOT', 'not (a.i + a.s > 10 and a.r * 2 < 50)' ],
	[ 'TRUE or not', '(a.i + a.s > 10) is not true' ],
	[ 'TRUE, where NULL stands ahead of an error', '((a.j % 1000 = a.j and a.j * 2 <> 2 and a.i + a.i > 5) is true)' ],
	[ 'UNKNOWN', '(a.j + a.s > 10) is unknown' ],
	[ 'DISTINCT', 'a.s + 1 is distinct from 4' ],
	[ 'few', 'a.r * 1000 < 5 and a.i % 9 = 4' ]);

# Tests: a query gives PostgreSQL's own rows.  With COVERED its sides come from HashGraphs, so that no row of either table is read.
sub is_covered
{
	my ($what, $select, $covered) = @_;

	return is_right($what, $select, $covered ? (look => sub { sql("explain (analyze, costs off, timing off) $select") }, like => qr/HashGraph: resident.*HashGraph: resident/s) : ());
}

# All of them; where there are HashGraphs of all rows, these are taken.
sub all_are_right
{
	my ($when, $covered) = @_;

	foreach my $condition (@conditions)
	{
		my ($what, $where) = @$condition;

		is_covered("$when: $what", "select count(*), sum(a.id), b.g from a join b using (k) where a.kind <> 'end' and $where group by b.g", $covered);
		is_covered("$when: $what, over the ends of types", "select count(*), sum(a.id) from a join b using (k) where $where", 0);
		is_covered("$when: $what, one table", "select count(*), sum(a.r), sum(a.r) filter (where a.r + 1 < 40) from a where a.id < 10000 and ($where)", 0);
	}
	is_covered("$when: both sides", q{select count(*), sum(a.id) from a join b using (k) where a.kind <> 'end' and a.s + a.i > 3 and b.i * 2 + b.s < 5000}, $covered);
	is_covered("$when: a barrier", 'select count(*), sum(a.id) from kept a join b using (k) where a.i + a.i > 10', 0);
	sql('set role reader');
	is_covered("$when: rows of a policy alone", 'select count(*), sum(a.id) from a join b using (k) where a.i + a.i > 10 and a.s + a.r > 3::int2 and a.m * 2 > a.n', 0);
	unlike(rows('select count(*), sum(a.id) from a join b using (k) where a.i + a.i > 10'), qr/^22/, '... which raise nothing that others would');
	sql('reset role');
	is_covered("$when: a function behind a computed condition", 'select count(*) from a join b using (k) where a.id % 20000 < 5000 and shown(a.id)', 0);
	is_covered("$when: a barrier ahead of a function", 'select count(*) from kept a join b using (k) where a.i + a.s > 10 and shown(a.id)', 0);
	is_covered("$when: errors of rows that are left out", q{select count(*) from a join b using (k) where case when a.kind = 'end' then false else a.i + a.i > 7 end}, 0);
	is_covered("$when: division by 0", 'select count(*) from a join b using (k) where a.i % 0 = 1', 0);
	is_covered("$when: an initial plan", q{select count(*) from a join b using (k) where a.kind <> 'end' and a.i + a.s > (select max(b.g) from b)}, 0);
	return;
}

# Tests: a device decides more than two thirds of the conditions, as soon as it has the columns, where no number is the end of a type.
sub are_filtered
{
	my ($name) = @_;
	my $filtered = 0;

	wait_for(sub {
		$filtered = grep { sql("explain (analyze, costs off, timing off) select count(*), b.g from a join b using (k) where a.kind <> 'end' and $_->[1] group by b.g") =~ /Tables Filtered on Device: 1/ } @conditions;
		$filtered > @conditions * 2 / 3 }, 30);
	return cmp_ok($filtered, '>', @conditions * 2 / 3, $name);
}

# An expression of integers of a type, whose errors are all of this type: its columns, smaller ones, and constants.
my %columns = (2 => [ [ 's', 'r' ], [] ], 4 => [ [ 'i', 'j' ], [ 's', 'r' ] ], 8 => [ [ 'l', 'h' ], [ 's', 'r', 'i', 'j' ] ]);
my %most = (2 => 32767, 4 => 2147483647, 8 => '9223372036854775807');

sub draw_number
{
	my ($type, $depth) = @_;
	my ($own, $smaller) = @{ $columns{$type} };
	my $which = rand;

	if (!$depth || $which < 0.1)
	{
		return "a.$own->[rand @$own]" if rand() < 0.75;
		return (rand() < 0.7 ? int(rand 20) - 10 : (rand() < 0.5 ? $most{$type} : "'-$most{$type}'")) . "::int$type";
	}
	return '(- ' . draw_number($type, $depth - 1) . ')' if $which < 0.2;
	return '(' . draw_number($type, $depth - 1) . ' % (' . (1, -1, 7, -3, 1000)[ rand 5 ] . ")::int$type)" if $which < 0.35;
	return '(' . draw_number($type, $depth - 1) . (' + ', ' - ', ' * ')[ rand 3 ] . "a.$smaller->[rand @$smaller])" if $which < 0.5 && @$smaller;
	return '(' . draw_number($type, $depth - 1) . (' + ', ' - ', ' * ')[ rand 3 ] . draw_number($type, $depth - 1) . ')';
}

sub draw_numeric
{
	my ($depth) = @_;

	return (map({ "a.$_" } 'm', 'n', 'x', 'i', 's'), '0.5', '3', '1000.0001', '12.25')[ rand 9 ] . '::numeric' if !$depth || rand() < 0.1;
	return '(- ' . draw_numeric($depth - 1) . ')' if rand() < 0.15;
	return '(' . draw_numeric($depth - 1) . (' + ', ' - ', ' * ')[ rand 3 ] . draw_numeric($depth - 1) . ')';
}

sub draw_plain
{
	return ('a.s > 3', 'a.k between 100 and 2000', "a.kind <> 'end'", 'a.j is null', "a.kind = 'kind 2'")[ rand 5 ];
}

# A condition on them; all of its errors are the same.  Others, which go ahead of computed ones wherever they stand, are inside of it.
sub draw
{
	my ($depth, $type) = @_;
	my $which = rand;
	my $draw = sub { return '(' . ($type ? draw_number($type, 1) . (' + ', ' - ', ' * ')[ rand 3 ] . draw_number($type, 1) : draw_numeric(1) . (' + ', ' - ', ' * ')[ rand 3 ] . draw_numeric(1)) . ')' };
	my $operator = (' < ', ' <= ', ' = ', ' <> ', ' >= ', ' > ')[ rand 6 ];

	return '(' . draw($depth - 1, $type) . (' and ', ' or ')[ rand 2 ] . draw($depth - 1, $type) . ')' if $depth && $which < 0.5;
	return '(not ' . draw($depth - 1, $type) . ')' if $depth && $which < 0.6;
	return '((' . draw($depth - 1, $type) . ') is ' . ('not true', 'unknown', 'false')[ rand 3 ] . ')' if $depth && $which < 0.65;
	return '((' . draw_plain() . (' or ', ' and ')[ rand 2 ] . draw($depth - 1, $type) . ') is ' . ('not true', 'true')[ rand 2 ] . ')' if $depth && $which < 0.72;
	return $draw->() . $operator . $draw->() if $which < 0.8;
	return $draw->() . ' between ' . int(rand 50) . ' and ' . int(rand 2000) if $which < 0.9;
	return $draw->() . $operator . (int(rand 3000) - 1000);
}

# A condition of theirs; where it is to raise no error mostly, for rows without the ends of types.
sub draw_where
{
	return (rand() < 0.6 ? "a.kind <> 'end' and " : '') . (rand() < 0.3 ? draw_plain() . ' and ' : '') . draw(2, (0, 2, 4, 4, 8)[ rand 5 ]);
}

# Tests: random conditions are right.  Some of them raise errors, and some don't.  WRITE runs ahead of each, and beside half of them.
sub conditions_are_right
{
	my ($name, $write) = @_;
	my $draw = sub {
		my $where = draw_where();

		$write->() if defined $write;
		return "select b.g, count(*), sum(a.id) from a join b using (k) where $where group by b.g" if rand() < 0.3;
		return 'select count(*), sum(a.id) from a ' . (rand() < 0.3 ? '' : 'join b using (k) ') . "where $where";
	};
	my ($drawn, $failed) = none_is_wrong($name, $draw, between => sub { $write->() if defined $write && rand() < 0.5 });

	return cmp_ok(abs($drawn - 2 * $failed), '<', $drawn, "$name: ... some are errors, and some are not");
}

foreach my $backend ('cpu', $standin ? 'auto' : ())
{
	sql("set hashgraph.backend = $backend");
	resident("$backend: all is resident");
	all_are_right($backend, 1);
	are_filtered("$backend: a device decides most of them") if $backend eq 'auto';

	sql(q{update a set s = s + 1 where id % 700 = 3; delete from b where k % 900 = 5; insert into a select 20000 + n, n, 'new', n, n, n, n, n, n, n, n, n, repeat('x', 900) from generate_series(1, 20) n; update a set r = 5 where id % 30 = 10010 % 30 and id > 10000});
	all_are_right("$backend: rows have changed", 0);

	# rows that nobody sees raise nothing
	sql('begin; delete from a where id > 10000 and id < 20000');
	is_covered("$backend: rows that are gone", 'select count(*), sum(a.id) from a join b using (k) where a.i + a.i > 10 and a.s + a.r > 3::int2', 0);
	unlike(core_of('select count(*) from a join b using (k) where a.i + a.i > 10'), qr/^22/, '... which are not errors');
	$main->query('rollback');
	like(core_of('select count(*) from a join b using (k) where a.i + a.i > 10'), qr/^22003 integer out of range/, '... and are, as long as they are there');
	resident("$backend: it is in step");
	all_are_right("$backend: in step", 1);

	# one plan, with other values, NULL among them
	sql('prepare picked(int, numeric) as select count(*), sum(a.id) from a join b using (k) where a.id < 10000 and a.i + $1 > a.s and a.m * $2 < 500 or a.r * 2 = $1; set plan_cache_mode = force_generic_plan');
	foreach my $values ([ -50, 1.5 ], [ 3, 0.001 ], [ 2147483647, 1 ], [ 'null', 2 ], [ 7, 'null' ], [ 7, q{'NaN'} ])
	{
		is_covered("$backend: parameters, @$values", "execute picked($values->[0], $values->[1])", 0);
	}
	sql('deallocate picked; reset plan_cache_mode');

	conditions_are_right($backend);
	sql('set hashgraph.resident = off');
	conditions_are_right("$backend, from the table");
	sql('reset hashgraph.resident');

	# workers share what is decided
	sql('set max_parallel_workers_per_gather = 2');
	conditions_are_right("$backend, with workers");
	sql('set max_parallel_workers_per_gather = 0');

	my $writer = RawSession->new($node);
	my $write = sub {
		$writer->run_each((
			'update a set s = r, r = s where id % 997 = ' . int(rand 997),
			'update a set i = j, j = i where id = ' . (10001 + int rand 90),
			'delete from a where id = ' . int(rand 9000),
			'update b set s = s + 1 where k = ' . int(rand 3500),
			'vacuum a', 'vacuum b')[ rand 6 ]);
		return;
	};

	conditions_are_right("$backend, beside a writer", $write);
	resident("$backend: all is resident after that");
}

done_testing();
