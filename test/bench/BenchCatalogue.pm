# BenchCatalogue.pm
#
# The joins that are measured, and the tables that they need.
#
# Every table is a function of the number of rows alone: keys come from generate_series(), an order far
# from theirs and draws come from PostgreSQL's own hash of the row's number.
#
# table     rows     keys
# a, b      N        1 to N, each once, shuffled: every row has one partner in the other
# h         N        N/2 + 1 to 3/2 N, each once, shuffled: half of a's rows have a partner in it
# f         N        draws from the keys of d
# d         N/100    1 to N/100, each once, shuffled; g is one of 100 groups
# m         N        1 to N/32, 32 times each, shuffled
# o         N/10     1 to N/10, each once, shuffled
# p, q      N        pairs (i / 1000, i % 1000), each once, shuffled
# x, y      N        like a and b, as bigint far beyond the integers
# t, u      N/4      texts of 12 to 20 bytes, each once, shuffled
# s         N        draws from the keys of s1 (N/10), s2 (N/100), s3 (N/100), s4 (N/1000)
#
# fa, fb    N        far apart: multiples of 2^31 / N, each once, shuffled
# fd        N/100    every hundredth key of fb, each once, shuffled
# ga, gb    N        like fa and fb; once they are resident, one row in a hundred, side by side, is changed
# ha, hb    N        like fa and fb; ... one row in ten thousand, far from each other, is changed
# ia, ib    N        like fa and fb; ... one row in a thousand, far from each other, is changed: every fifth block has one
#
# For the plots: size_a and size_b are a and b; many_b is b, and many_a has M rows of each key, each with one
# partner in many_b whatever M is.

package BenchCatalogue;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(queries table_change table_keys table_sql);

# A hash of the number i, not negative, below a bound.
sub draw
{
	my ($seed, $below) = @_;

	return "(hashint8extended(i, $seed) & x'7fffffffffffffff'::bigint) % ($below)";
}

sub shuffled
{
	my ($columns, $rows, $seed) = @_;

	return "select $columns from generate_series(1, ${rows}::bigint) i order by hashint8extended(i, $seed)";
}

my @value = ('v' => 'int');

# name => [ columns with their types, query by the number of rows, what else there is to know of the table ]: keys, columns
# whose HashGraph is to stay where columns do; changed, one of how many rows is changed then
my %tables;
%tables = (
	a => [ [ k => 'int', @value ], sub { shuffled('i::int, (i % 1000)::int', $_[0], 1) } ],
	b => [ [ k => 'int', @value ], sub { shuffled('i::int, (i % 1000)::int', $_[0], 2) } ],
	h => [ [ k => 'int', @value ],
		sub { shuffled("(i + $_[0] / 2)::int, (i % 1000)::int", $_[0], 3) } ],
	f => [ [ k => 'int', @value ],
		sub { 'select ' . draw(4, least($_[0], 100)) . " + 1, i % 1000 from generate_series(1, $_[0]::bigint) i" } ],
	d => [ [ k => 'int', g => 'int' ], sub { shuffled('i::int, (i % 100)::int', least($_[0], 100), 5) } ],
	m => [ [ k => 'int', @value ],
		sub { shuffled('i % ' . least($_[0], 32) . ' + 1, i % 1000', $_[0], 6) } ],
	o => [ [ k => 'int', @value ], sub { shuffled('i::int, (i % 1000)::int', least($_[0], 10), 7) } ],
	p => [ [ k1 => 'int', k2 => 'int', @value ], sub { shuffled('i / 1000, i % 1000, i % 1000', $_[0], 8) } ],
	q => [ [ k1 => 'int', k2 => 'int', @value ], sub { shuffled('i / 1000, i % 1000, i % 1000', $_[0], 9) } ],
	x => [ [ k => 'bigint', @value ], sub { shuffled('i * 1000000007, i % 1000', $_[0], 10) } ],
	y => [ [ k => 'bigint', @value ], sub { shuffled('i * 1000000007, i % 1000', $_[0], 11) } ],
	t => [ [ k => 'text', @value ], sub { shuffled(text_key() . ', i % 1000', least($_[0], 4), 12) } ],
	u => [ [ k => 'text', @value ], sub { shuffled(text_key() . ', i % 1000', least($_[0], 4), 13) } ],
	s => [ [ k1 => 'int', k2 => 'int', k3 => 'int', k4 => 'int', @value ],
		sub {
			my ($rows) = @_;
			return 'select ' . join(', ', map { draw(13 + $_->[0], least($rows, $_->[1])) . ' + 1' }
				  [ 1, 10 ], [ 2, 100 ], [ 3, 100 ], [ 4, 1000 ]) . ", i % 1000 from generate_series(1, ${rows}::bigint) i";
		} ],
	s1 => [ [ k => 'int', @value ], sub { shuffled('i, i % 1000', least($_[0], 10), 18) } ],
	s2 => [ [ k => 'int', @value ], sub { shuffled('i, i % 1000', least($_[0], 100), 19) } ],
	s3 => [ [ k => 'int', @value ], sub { shuffled('i, i % 1000', least($_[0], 100), 20) } ],
	s4 => [ [ k => 'int', @value ], sub { shuffled('i, i % 1000', least($_[0], 1000), 21) } ],
	fa => [ [ k => 'int', @value ], sub { shuffled(far_key($_[0]) . ', (i % 1000)::int', $_[0], 23) }, { keys => ['k'] } ],
	fb => [ [ k => 'int', @value ], sub { shuffled(far_key($_[0]) . ', (i % 1000)::int', $_[0], 24) }, { keys => ['k'] } ],
	fd => [ [ k => 'int', @value ],
		sub { shuffled(far_key($_[0], 100) . ', (i % 1000)::int', least($_[0], 100), 25) }, { keys => ['k'] } ],
	ga => [ [ k => 'int', @value ], sub { $tables{fa}[1]->(@_) }, { keys => ['k'], changed => 100 } ],
	gb => [ [ k => 'int', @value ], sub { $tables{fb}[1]->(@_) }, { keys => ['k'], changed => 100 } ],
	ha => [ [ k => 'int', @value ], sub { $tables{fa}[1]->(@_) }, { keys => ['k'], changed => 10000, apart => 1 } ],
	hb => [ [ k => 'int', @value ], sub { $tables{fb}[1]->(@_) }, { keys => ['k'], changed => 10000, apart => 1 } ],
	ia => [ [ k => 'int', @value ], sub { $tables{fa}[1]->(@_) }, { keys => ['k'], changed => 1000, apart => 1 } ],
	ib => [ [ k => 'int', @value ], sub { $tables{fb}[1]->(@_) }, { keys => ['k'], changed => 1000, apart => 1 } ],
	ja => [ [ k => 'int', t => 'text', n => 'bigint', @value ],
		sub { shuffled(far_key($_[0]) . ", 'group number ' || i * 7919 % 1000, i * 3, (i % 1000)::int", $_[0], 23) }, { keys => ['k'] } ],
	size_a => [ [ k => 'int', @value ], sub { $tables{a}[1]->(@_) } ],
	size_b => [ [ k => 'int', @value ], sub { $tables{b}[1]->(@_) } ],
	many_a => [ [ k => 'int', @value ],
		sub {
			my ($rows, $multiplicity) = @_;
			return shuffled("i % " . least($rows, $multiplicity) . " * $multiplicity + 1, i % 1000", $rows, 22);
		} ],
	many_b => [ [ k => 'int', @value ], sub { $tables{b}[1]->(@_) } ],);

# A part of the rows, at least one.
sub least
{
	my ($rows, $divisor) = @_;
	my $part = int($rows / $divisor);

	return $part < 1 ? 1 : $part;
}

sub text_key
{
	return q{'k' || lpad(i::text, 11 + (i % 9)::int, '0')};
}

# The number of a row, spread over all positive integers; times a factor.
sub far_key
{
	my ($rows, $factor) = (@_, 1);

	return '(i * ' . $factor * int(2**31 / ($rows + 1)) . ')::int';
}

# The queries, in order: name, sql, tables, and where they differ from the others: settings for
# PostgreSQL, workers beside the leader, duckdb => 0 where there is nothing to compare with.
sub queries
{
	return (
		{ name => 'count', tables => [qw(a b)], sql => 'select count(*) from a join b using (k)' },
		{ name => 'sum of products', tables => [qw(a b)], sql => 'select sum(a.v::bigint * b.v) from a join b using (k)' },
		{ name => 'sum', tables => [qw(a b)], sql => 'select sum(a.v) from a join b using (k)' },
		{ name => 'rows, unused', tables => [qw(a b)],
			sql => 'select count(*) from (select a.v, b.v from a join b using (k) offset 0) s' },
		# a Limit reads the rows, which the aggregate node would otherwise take from the join as columns
		{ name => 'rows, two columns', tables => [qw(a b)],
			sql => 'select count(v), count(w) from (select a.v, b.v as w from a join b using (k) offset 1) s' },
		{ name => 'bigint keys', tables => [qw(x y)], sql => 'select count(*), sum(x.v) from x join y using (k)' },
		{ name => 'two-column keys', tables => [qw(p q)], sql => 'select count(*) from p join q using (k1, k2)' },
		{ name => 'text keys', tables => [qw(t u)], sql => 'select count(*) from t join u using (k)' },
		{ name => 'duplicates', tables => [qw(m o)], sql => 'select count(*), sum(o.v) from m join o using (k)' },
		{ name => 'dimension', tables => [qw(f d)], sql => 'select count(*) from f join d using (k)' },
		{ name => 'dimension, group by', tables => [qw(f d)],
			sql => 'select d.g, sum(f.v) from f join d using (k) group by d.g' },
		{ name => 'star', tables => [qw(s s1 s2 s3 s4)],
			sql => 'select count(*), sum(s.v), sum(s1.v), sum(s2.v), sum(s3.v), sum(s4.v) from s join s1 on s1.k = s.k1 '
			  . 'join s2 on s2.k = s.k2 join s3 on s3.k = s.k3 join s4 on s4.k = s.k4' },
		{ name => 'left', tables => [qw(a b)],
			sql => 'select count(*), sum(a.v), sum(b.v) from a left join b on b.k = a.k and b.v < 500' },
		{ name => 'full', tables => [qw(a h)], sql => 'select count(*), sum(a.v), sum(h.v) from a full join h on h.k = a.k' },
		{ name => 'semi', tables => [qw(a h)],
			sql => 'select count(*), sum(a.v) from a where exists (select 1 from h where h.k = a.k)' },
		{ name => 'anti', tables => [qw(a h)],
			sql => 'select count(*), sum(a.v) from a where not exists (select 1 from h where h.k = a.k)' },
		{ name => 'spilling', tables => [qw(a b)], sql => 'select count(*), sum(a.v), sum(b.v) from a join b using (k)',
			settings => { work_mem => '64MB' }, duckdb => 0 },
		{ name => 'far keys, count', tables => [qw(fa fb)], sql => 'select count(*) from fa join fb using (k)' },
		{ name => 'far keys, sum', tables => [qw(fa fb)], sql => 'select sum(fa.v) from fa join fb using (k)' },
		{ name => 'far keys, few', tables => [qw(fd fb)], sql => 'select count(*) from fb join fd using (k)' },
		{ name => 'far keys, worker', tables => [qw(fa fb)], sql => 'select count(*) from fa join fb using (k)', workers => 1 },
		{ name => 'far keys, 1 % new', tables => [qw(ga gb)], sql => 'select count(*) from ga join gb using (k)', duckdb => 0 },
		{ name => 'far keys, 0.01 % new', tables => [qw(ha hb)], sql => 'select count(*) from ha join hb using (k)', duckdb => 0 },
		{ name => 'far keys, 0.1 % new', tables => [qw(ia ib)], sql => 'select count(*) from ia join ib using (k)', duckdb => 0 },
		{ name => 'far keys, groups', tables => [qw(fa fb)],
			sql => 'select fb.v, sum(fa.v), count(*) from fa join fb using (k) group by fb.v' },
		{ name => 'far keys, text', tables => [qw(ja fb)],
			sql => 'select t, sum(ja.v), max(n), count(fb.v) from ja join fb using (k) group by t order by 2 desc, 1 limit 10' },
		{ name => 'one worker', tables => [qw(a b)], sql => 'select count(*) from a join b using (k)', workers => 1 },);
}

# A table's columns: (name, type), ...
sub table_columns
{
	my ($name) = @_;

	return @{ $tables{$name}[0] };
}

# Columns of a table whose HashGraph is to stay where columns do.
sub table_keys
{
	my ($name) = @_;

	return @{ ($tables{$name}[2] // {})->{keys} // [] };
}

# The SQL that changes rows of a table with so many, once it is resident; undef where none are.
sub table_change
{
	my ($name, $rows) = @_;
	my $more = $tables{$name}[2] // {};

	return undef unless $more->{changed};
	# keys are far from each other in the order of their rows
	return "update $name set v = v + 1 where " . ($more->{apart}
		? "k <= " . 2**31 / $more->{changed}
		: "ctid in (select ctid from $name limit " . least($rows, $more->{changed}) . ')');
}

# The SQL that makes a table with so many rows; many_a wants the rows of a key too.
sub table_sql
{
	my ($name, @size) = @_;
	my @columns = table_columns($name);
	my @definitions;

	push @definitions, join(' ', splice @columns, 0, 2) . ' not null' while @columns;
	# what is changed stays so
	my $options = defined table_change(@_) ? ' with (autovacuum_enabled = off)' : '';
	return "create table $name (" . join(', ', @definitions) . ")$options;\n"
	  . "insert into $name " . $tables{$name}[1]->(@size) . ";\nvacuum (analyze) $name;\n";
}

1;
