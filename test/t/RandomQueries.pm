# RandomQueries.pm
#
# Random whole queries over the tables of RandomJoins.pm, for join_queries.pl.
#
#	random_query($shape)	a query of that shape: { sql, ordered => it has an ORDER BY that decides the order }
#	query_shapes()			the shapes
#	shape_weight($shape)	how often it is to be drawn
#	query_settings($version, $shape)	SET commands for what may not change the result of a query of that shape
#
# All draw from Perl's generator.
#
# A query has a source: a table, a join of RandomJoins.pm, another query, as a subquery or as a common table
# expression that is used twice, or a join of a table and a query.  Both are hashes:
#
#	source	{ from, where => [ conditions ], columns => [ expressions ], names => [ aliases of tables ] }
#	query	{ sql, shown => [ expressions ], ordered }
#
# An expression is { sql, class, unlike }: a class has the types that can be compared with each other and to which the
# same functions can be applied.  Values that are equal and do not look alike (unlike) are shown as they come, counted
# and compared, but never grouped and then shown.
#
# The rows are the same however a query is executed, and so is an error.  At most one expression of a query raises
# errors, all with one SQLSTATE, and it is evaluated for all rows: there is no LIMIT above it, and no condition.

package RandomQueries;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(shuffle uniq);
use RandomJoins qw(pick chance start_query new_alias random_table random_from random_filter random_settings join_kinds);

our @EXPORT = qw(random_query query_shapes shape_weight query_settings);

my %class_of = (
	(map { $_ => 'int' } qw(n i2 i4 ad dn)), (map { $_ => 'big' } qw(i8 ge)), (map { $_ => 'text' } qw(tx vc lt wide pk dt)),
	nu => 'numeric', f4 => 'float', f8 => 'float', da => 'date', ts => 'ts', tz => 'tz', ti => 'time', iv => 'interval',
	bo => 'bool', oi => 'oid', uu => 'uuid', nm => 'name', ch => 'char', en => 'enum', ls => 'lsn', bp => 'bpchar', by => 'bytes',
	ci => 'nocase', ct => 'citext', tt => 'timetz', ar => 'array', ta => 'words', ro => 'record', rg => 'range', ip => 'inet',
	cd => 'inet', js => 'json', x8 => 'xid');
my %unlike = map { $_ => 1 } qw(nu f4 f8 iv tt ci ct js);
# those that min() and max() take; what they return of others depends on which of equal values comes first
my $ordered_class = qr/^(int|big|text|date|ts|tz|time|oid|enum|bpchar)$/;

# An expression may raise an error, and has not been used; what it makes impossible.
my $raises;
# how many queries are around
my $depth;

sub expression
{
	my ($sql, $class, $unlike) = @_;

	return { sql => $sql, class => $class, unlike => $unlike // 0 };
}

# ------------------------------------------------------------------ sources

sub columns_of_table
{
	my ($alias) = @_;

	return ((map { expression("$alias->{name}.$_", $class_of{$_}, $unlike{$_}) } sort keys %class_of),
		$alias->{tag} ? (expression("$alias->{name}.tag", 'int')) x 3 : ());
}

sub source_of_tables
{
	my ($from, $where, @names) = @_;

	return { from => $from, where => $where, names => \@names, columns => [ map { columns_of_table($_) } @names ] };
}

# A query as a source: a subquery, or a common table expression that is used twice.
sub source_of_query
{
	my $alias = new_alias()->{name};
	$depth++;
	my $query = any_query();
	$depth--;
	my $sql = $query->{sql};
	my $not = pick('', 'not ');
	my $first = pick('x.c1', 'x.c' . @{ $query->{shown} });
	(my $second = $first) =~ s/x/y/;

	$sql = pick(
		"with c as ${not}materialized ($sql) select * from c union all select * from c",
		"with c as ${not}materialized ($sql) select x.* from c x where exists (select from c y where $second = $first)",
		"with c as ${not}materialized ($sql) select x.* from c x left join (select $second as k, count(*) as m from c y group by $second) y on k = $first where m is distinct from 1",
		"with c as ${not}materialized ($sql) select * from c where (select count(*) from c) > 5")
	  if chance(30);
	return {
		from => "($sql) $alias", where => [], names => [],
		columns => [ map { expression("$alias.c$_", @{ $query->{shown}[$_ - 1] }{qw(class unlike)}) } 1 .. @{ $query->{shown} } ] };
}

# A join of a table and a query.
sub source_of_join
{
	my $table = chance(60) ? table_source() : small_source();
	my $query = source_of_query();
	my $left = column($query, 'int|big|text|date|ts|uuid|oid') // return $query;
	my $right = column($table, $left->{class} =~ /^(int|big)$/ ? 'int|big' : $left->{class}) // return $query;
	my @sides = shuffle($table, $query);
	my $kind = pick('join', 'join', 'left join', 'left join', 'right join', 'full join');
	my $more = chance(15) && $kind ne 'full join' ? " and $table->{names}[0]{name}.n % 7 <> 3" : '';

	return {
		from => "($sides[0]{from} $kind $sides[1]{from} on $left->{sql} = $right->{sql}$more)", where => $table->{where},
		names => $table->{names}, columns => [ @{ $table->{columns} }, (@{ $query->{columns} }) x 5 ] };
}

sub table_source
{
	my $table = random_table(0);

	return filtered(source_of_tables($table->{from}, [], @{ $table->{names} }));
}

sub source
{
	my $what = rand(100);
	my %kinds = join_kinds();

	return chance(45) ? source_of_join() : source_of_query() if $depth < 2 && $what < 26;
	return filtered(source_of_tables(join_parts(random_from(pick(sort keys %kinds))))) if $what < 55;
	return $what < 65 ? small_source() : table_source();
}

sub join_parts
{
	my ($from, $where, $names) = @_;

	return ($from, $where, @$names);
}

# A source of few rows.
sub small_source
{
	my $table = random_table(1);

	return filtered(source_of_tables($table->{from}, [], @{ $table->{names} }));
}

sub filtered
{
	my ($source) = @_;

	push @{ $source->{where} }, random_filter(pick(@{ $source->{names} })->{name}, 2) if chance(25);
	return $source;
}

# ------------------------------------------------------------------ expressions

# A column of a source, of one of some classes; none where it has no such column.
sub column
{
	my ($source, $classes, $alike) = @_;
	my @found = grep { (!defined $classes || $_->{class} =~ /^($classes)$/) && !($alike && $_->{unlike}) } @{ $source->{columns} };

	return @found ? pick(@found) : undef;
}

# What can be computed of a column without an error.
my %computed = (
	int => [ [ 'COL % 50', 'int' ], [ 'coalesce(COL, 7)', 'int' ], [ 'COL / 3', 'int' ], [ 'COL::int8 * 4', 'big' ], [ 'COL > 20', 'bool' ],
		[ 'case when COL > 30 then 1 when COL > 10 then 2 end', 'int' ], [ 'COL::text', 'text' ], [ '100 / nullif(COL % 7, 0)', 'int' ],
		[ 'case when COL % 5 <> 0 then 100 / (COL % 5) end', 'int' ], [ 'COL::numeric', 'numeric' ], [ 'abs(COL % 9)', 'int' ] ],
	big => [ [ 'COL % 50', 'big' ], [ 'COL / 7', 'big' ], [ 'coalesce(COL, 7)', 'big' ], [ 'COL is null', 'bool' ], [ '(COL % 1000)::int', 'int' ] ],
	text => [ [ q{COL || 'x'}, 'text' ], [ 'substr(COL, 1, 2)', 'text' ], [ 'length(COL)', 'int' ], [ 'upper(COL)', 'text' ], [ q{coalesce(COL, 'none')}, 'text' ],
		[ q{COL like '%1%'}, 'bool' ], [ q{case when COL > 'v2' then COL end}, 'text' ] ],
	numeric => [ [ 'round(COL, 2)', 'numeric' ], [ 'COL > 5', 'bool' ], [ 'COL * 1.5', 'numeric', 1 ] ],
	date => [ [ 'COL + 1', 'date' ], [ q{coalesce(COL, date '2000-02-01')}, 'date' ], [ q{COL > '2000-01-20'}, 'bool' ] ],
	ts => [ [ q{date_trunc('day', COL)}, 'ts' ], [ 'COL::date', 'date' ] ],
	bool => [ [ 'not COL', 'bool' ], [ 'COL::int', 'int' ] ],
	float => [ [ 'COL > 10', 'bool' ] ]);

sub compute
{
	my ($column) = @_;
	my ($sql, $class, $unlike) = @{ pick(@{ $computed{ $column->{class} } // [ [ 'COL is not null', 'bool' ] ] }) };

	$sql =~ s/COL/$column->{sql}/g;
	return expression("($sql)", $class, $unlike);
}

sub random_expression
{
	my ($source, $alike) = @_;
	my $column = column($source, chance(75) ? 'int|big|text|date|ts|tz|bool|numeric|enum' : undef, $alike)
	  // column($source, undef, $alike);

	return expression('7::int', 'int') if !defined $column;
	my $computed = chance(25) ? compute($column) : $column;
	return $alike && $computed->{unlike} ? $column : $computed;
}

# An expression of one of these classes.
sub expression_of
{
	my ($source, $class) = @_;
	my %constants = (int => '20', big => '20::int8', text => q{'v11'::text}, date => q{date '2000-01-20'}, numeric => '2.50',
		bool => 'true', ts => q{timestamp '2000-01-07'}, float => '20::float8', array => 'array[2, null, 2]', record => q{row(2, 'v2')::hg_pair},
		bpchar => q{'v2'::char(8)}, uuid => q{md5('2')::uuid});
	my %alike = (numeric => 'round(COL, 2)', float => 'abs(COL::float8)');
	my $column;

	return expression(chance(50) ? $constants{$class} : "nullif($constants{$class}, $constants{$class})", $class) if chance(4);
	if (defined $alike{$class})
	{
		$column = column($source, "$class|int") // return expression($constants{$class}, $class);
		(my $sql = $alike{$class}) =~ s/COL/$column->{sql}/;
		return expression("($sql)", $class);
	}
	foreach (1 .. 5)
	{
		$column = column($source, undef, 1) // last;
		$column = compute($column) if chance(30);
		return $column if $column->{class} eq $class;
	}
	return column($source, $class, 1) // expression($constants{$class}, $class);
}

# Raises errors, of one SQLSTATE each.
sub raising_expression
{
	my ($source) = @_;
	my $column = column($source, 'int|big|text') // return;
	my %sql = (
		int => [ '1 / (COL % 1000 - 7)', 'COL + 2147483600', 'COL::int2', '10 % (COL % 50)', '(select t2.i4 from t2 where t2.i4 > COL % 9)' ],
		big => [ '1 / (COL % 1000 - 7)', 'COL::int4', 'COL * 9223372036854775' ],
		text => [ 'COL::int', q{length(substr(COL, 1, 1 - length(COL)))}, q{('a' || COL)::numeric}, '(select t3.i4 from t3 where t3.tx > COL)' ]);

	$raises = 0;
	my $sql = pick(@{ $sql{ $column->{class} } });
	$sql =~ s/COL/$column->{sql}/g;
	return expression("($sql)", 'int', 1);
}

# The same, if it is time.
sub perhaps_raising
{
	my ($source) = @_;

	return $raises && $depth == 0 && chance(80) ? raising_expression($source) // () : ();
}

sub some
{
	my ($source, $alike, @counts) = @_;
	my @some = map { random_expression($source, $alike) } 1 .. pick(@counts);
	my %is;

	return grep { !$is{ $_->{sql} }++ } @some;
}

# Plain columns that look alike where they are equal.
sub columns
{
	my ($source, @counts) = @_;
	my %is;

	return grep { !$is{ $_->{sql} }++ } map { column($source, undef, 1) // expression('7::int', 'int') } 1 .. pick(@counts);
}

# ------------------------------------------------------------------ aggregates

sub aggregate
{
	my ($source) = @_;
	my ($raising) = perhaps_raising($source);
	my $number = $raising // column($source, 'int|big|numeric');
	my $integer = column($source, 'int|big');
	my $comparable = column($source, $ordered_class, 1);
	my $text = column($source, 'text', 1);
	my $any = random_expression($source);
	my @choices = ([ 'count(*)', 'big' ], [ 'count(*)', 'big' ], [ "count($any->{sql})", 'big' ]);

	push @choices, ([ "sum($number->{sql})", 'numeric', 1 ], [ "avg($number->{sql})", 'numeric', 1 ],
		[ pick('stddev', 'var_pop', 'variance') . "($number->{sql})", 'numeric', 1 ], [ "sum($number->{sql} * 1.25)", 'numeric', 1 ]) x 2
	  if defined $number;
	@choices = @choices[ 3 .. $#choices ] if defined $raising;
	push @choices, [ "sum(($integer->{sql} % 100)::int)", 'big' ], [ "bit_or($integer->{sql})", $integer->{class} ],
	  [ "percentile_disc(0.5) within group (order by $integer->{sql})", $integer->{class} ],
	  [ "sum(case when $integer->{sql} > 20 then 1 else 0 end)", 'big' ]
	  if defined $integer && !defined $raising;
	push @choices, ([ pick('min', 'max') . "($comparable->{sql})", $comparable->{class} ]) x 4, if defined $comparable && !defined $raising;
	push @choices, [ "max(length($text->{sql}))", 'int' ], [ "max($text->{sql} collate \"C\")FILTER collate \"default\"", 'text' ],
	  [ "left(string_agg($text->{sql}, ',' order by $text->{sql} collate \"C\")FILTER, 90)", 'text' ]
	  if defined $text && !defined $raising;
	my $float = column($source, 'float');
	push @choices, [ pick('min', 'max') . "(abs($float->{sql}))", 'float' ] if defined $float && !defined $raising;
	my $interval = column($source, 'interval');
	push @choices, [ pick('sum', 'avg', 'count') . "($interval->{sql})", 'duration', 1 ] if defined $interval && !defined $raising;
	my $bool = column($source, 'bool');
	push @choices, [ pick('bool_or', 'every') . "($bool->{sql})", 'bool' ] if defined $bool && !defined $raising;
	my ($sql, $class, $unlike) = @{ pick(@choices) };
	# the filter decides for which rows the argument is evaluated, whatever the plan
	return expression(with_filter($source, $sql, 20), $class, $unlike);
}

# An aggregate, which has a filter at times: at its end, or where it says FILTER.
sub with_filter
{
	my ($source, $sql, $percentage) = @_;
	my $filter = chance($percentage) ? ' filter (where ' . condition($source) . ')' : '';

	$sql .= 'FILTER' if $sql !~ /FILTER/;
	$sql =~ s/FILTER/$filter/;
	return "($sql)";
}

# Aggregates over the distinct values of some columns.
sub distinct_aggregates
{
	my ($source) = @_;

	return map {
		my $column = $_;
		my @choices = ([ "count(distinct $column->{sql})", 'big' ]);

		push @choices, [ "sum(distinct $column->{sql})", 'numeric', 1 ], [ "avg(distinct $column->{sql})", 'numeric', 1 ] if $column->{class} =~ /^(int|big)$/;
		push @choices, [ "max(distinct $column->{sql})", $column->{class} ] if $column->{class} =~ $ordered_class;
		push @choices, [ "left(string_agg(distinct $column->{sql}, ',')FILTER, 90)", 'text' ] if $column->{class} eq 'text';
		map {
			my ($sql, $class, $unlike) = @$_;
			expression(with_filter($source, $sql, 15), $class, $unlike)
		} (shuffle(@choices))[ 0 .. int(rand(@choices > 2 ? 2 : @choices)) ]
	} map { column($source, undef, 1) // () } 1 .. pick(1, 1, 2, 3);
}

# A condition over rows of a source that raises no error.
sub condition
{
	my ($source) = @_;

	return random_filter(pick(@{ $source->{names} })->{name}, 1) if @{ $source->{names} } && chance(40);
	my $column = random_expression($source);
	my %conditions = (int => [ 'COL > 7', 'COL % 3 = 0', 'COL < 40' ], big => [ 'COL > 7', 'COL % 3 <> 0' ], text => [ q{COL > 'v2'}, q{COL like '%1%'} ],
		date => [ q{COL < '2000-02-01'} ], bool => [ 'COL', 'not COL' ], numeric => [ 'COL > 2.5' ]);
	my $sql = pick(@{ $conditions{ $column->{class} } // [] }, 'COL is null', 'COL is not null');

	$sql =~ s/COL/$column->{sql}/g;
	return "($sql)";
}

sub having
{
	my ($keys, $aggregates) = @_;
	my @choices = ('count(*) > 1', 'count(*) > (select 4)', 'count(*) between 2 and 40', 'count(*) % 2 = 0');

	push @choices, "$_->{sql} is not null" for @$keys, @$aggregates;
	push @choices, "$_->{sql} > 7" for grep { $_->{class} =~ /^(int|big|numeric)$/ } @$keys, @$aggregates;
	return pick(@choices);
}

# ------------------------------------------------------------------ queries

# A query that shows expressions of a source.
sub show
{
	my ($source, $shown, $rest, $distinct) = @_;
	my @list = map { "$shown->[$_]{sql} as c" . ($_ + 1) } 0 .. $#$shown;

	return {
		shown => $shown, ordered => 0,
		sql => 'select ' . ($distinct // '') . join(', ', @list) . " from $source->{from}"
		  . (@{ $source->{where} } ? ' where ' . join(' and ', @{ $source->{where} }) : '') . ($rest // '') };
}

sub direction { return pick('', '', ' desc', ' desc', ' asc') . pick('', '', ' nulls first', ' nulls last'); }

sub random_limit
{
	my $rows = pick(0, 1, 3, 10, 10, 50, 100, 1000, 100000);

	return '' if defined $raises;
	return pick((" limit $rows") x 5, (" limit $rows offset " . pick(1, 7, 20)) x 2, " limit $rows offset " . pick(0, 1, 7, 100, 5000), ' offset ' . pick(1, 20, 1000),
		" fetch first $rows rows only", ' fetch first ' . ($rows || 1) . ' rows with ties', ' limit all', " limit (select $rows)");
}

# Add an ORDER BY that decides the order of what is shown, and a LIMIT mostly.  Hidden expressions of the source may
# come first.  If expressions of what is shown may not stand in ORDER BY, names is true: all look alike then.
sub sorted
{
	my ($query, $names, @hidden) = @_;
	my @keys = map { $_->{sql} . direction() } @hidden;

	foreach my $n (shuffle(0 .. $#{ $query->{shown} }))
	{
		my $shown = $query->{shown}[$n];
		my $key = 'c' . ($n + 1);

		$key = "($shown->{sql}) collate \"" . pick('C', 'C', 'POSIX') . '"' if !$names && $shown->{class} eq 'text' && chance(25);
		push @keys, $key . direction();
		push @keys, "($shown->{sql})::text collate \"C\"" if $shown->{unlike};
	}
	$query->{sql} .= ' order by ' . join(', ', @keys);
	$query->{sql} .= random_limit() if chance(70);
	$query->{ordered} = 1;
	return $query;
}

sub aggregate_query
{
	my $source = source();
	my @keys = some($source, 1, 0, 1, 1, 1, 2, 3);
	my @hidden = chance(12) ? some($source, 0, 1) : ();
	my @aggregates = map { aggregate($source) } 1 .. pick(1 .. 4);

	return grouped($source, \@keys, [ @keys, @hidden ], @aggregates);
}

# Groups by all of these keys, of which some are shown.
sub grouped
{
	my ($source, $keys, $all, @aggregates) = @_;
	my $rest = @$all ? ' group by ' . join(', ', (map { $_->{sql} } @$all), chance(6) ? q{'constant'::text} : ()) : '';
	my @shown = ((grep { chance(90) } @$keys), @aggregates);

	$rest .= ' having ' . having($all, \@aggregates) if chance(20) && !defined $raises;
	if (defined $raises && $raises && $depth == 0)
	{
		push @shown, expression('(100 / (count(*) - ' . pick(2, 7) . '))', 'big');
		$raises = 0;
		# not for the groups for which it would
		$rest .= " having count(*) > 7" if chance(30);
	}
	my $query = show($source, [ shuffle(@shown) ], $rest);
	return chance(40) ? sorted($query, 0, @$all && chance(15) ? pick(@$all) : ()) : $query;
}

sub distinct_aggregate_query
{
	my $source = source();
	my @keys = some($source, 1, 0, 1, 1, 2);
	my @aggregates = (distinct_aggregates($source), map { aggregate($source) } 1 .. pick(0, 1, 2));

	return grouped($source, \@keys, \@keys, @aggregates) if chance(65) || !@keys;
	my $query = show($source, [ @keys, @aggregates ], ' group by ' . grouping_sets(map { $_->{sql} } @keys));
	return chance(30) ? sorted($query) : $query;
}

sub grouping_sets
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

sub grouping_sets_query
{
	my $source = source();
	my @keys = some($source, 1, 1, 2, 2, 3, 4);
	my @sql = map { $_->{sql} } @keys;
	my @shown = ((grep { chance(85) } @keys), map { aggregate($source) } 1 .. pick(1 .. 4));
	my $first = $keys[0]{sql};
	my $rest = ' group by ' . grouping_sets(@sql);

	push @shown, distinct_aggregates($source) if chance(15);
	push @shown, expression('grouping(' . join(', ', uniq($first, grep { chance(60) } @sql)) . ')', 'int') if chance(60);
	push @shown, expression("(grouping($first) + count(*))", 'big') if chance(15);
	push @shown, expression("coalesce(($keys[-1]{sql})::text, 'none')", 'text') if chance(20);
	push @shown, expression("(case when grouping($first) = 1 then ($keys[-1]{sql})::text else 'other' end)", 'text') if chance(15);
	push @shown, expression("(select max(t2.tx) from t2 where t2.i4 > length(($first)::text))", 'text') if chance(15) && $first =~ /^[a-z0-9.]+$/;
	push @shown, expression("(rank() over (partition by grouping($first) order by count(*)))", 'big') if chance(8);
	$rest .= ' having ' . pick(having(\@keys, []), "grouping($first) = 1", "grouping($first) = 0 or count(*) > 5", "grouping($first) < count(*)") if chance(35);
	my $query = show($source, [ shuffle(@shown) ], $rest);
	return chance(40) ? sorted($query) : $query;
}

sub distinct_query
{
	my $source = source();
	my @shown = some($source, 1, 1, 1, 2, 3);

	push @shown, map { $_->{unlike} = 0; $_ } grep { $_->{class} ne 'numeric' } perhaps_raising($source);
	my $query = show($source, \@shown, '', 'distinct ');
	if (chance(15) && !defined $raises)
	{
		# the first row of a group in an order that tells all of what is shown apart
		my @rest = shuffle(1 .. $#shown);

		$query = show($source, \@shown, ' order by ' . join(', ', 'c1' . direction(), map { 'c' . ($_ + 1) . direction() } @rest), "distinct on ($shown[0]{sql}) ");
		$query->{ordered} = 1;
		return $query;
	}
	return chance(50) ? sorted($query, 1) : $query;
}

# A branch of a set operation, which may be one itself.
sub branch
{
	my ($classes, $level) = @_;

	return '(' . set_operation($classes, $level + 1) . ')' if $level < 2 && chance(15);
	my $source = $level == 0 && chance(40) ? source() : small_source();
	my $query = show($source, [ map { expression_of($source, $_) } @$classes ], '', @$classes && chance(8) ? 'distinct ' : '');
	return @$classes && chance(6) && !defined $raises ? '(' . sorted($query, 1)->{sql} . ')' : $query->{sql};
}

sub set_operation
{
	my ($classes, $level) = @_;
	my @operators = ('union', 'union', 'union all', 'except', 'except', 'intersect', 'intersect', 'except all', 'except all', 'intersect all', 'intersect all');
	my $sql = branch($classes, $level);

	$sql .= ' ' . pick(@operators) . ' ' . branch($classes, $level) for 1 .. pick(1, 1, 1, 2, 3);
	return $sql;
}

sub set_operation_query
{
	my @classes = map { pick(qw(int int int big text text date date numeric bool ts float array record bpchar uuid)) }
	  1 .. ($depth == 0 && chance(2) ? 0 : pick(1, 1, 2, 2, 3, 4));
	my $query = { sql => set_operation(\@classes, 0), shown => [ map { expression(undef, $_) } @classes ], ordered => 0 };

	return @classes && chance(45) ? sorted($query, 1) : $query;
}

sub sorted_query
{
	# a resident table, a join of two tables, or anything
	my $source = pick(sub { my $alias = new_alias(); filtered(source_of_tables('t' . pick(6, 8, 10, 12) . " $alias->{name}", [], $alias)) },
		sub { source_of_tables(join_parts(random_from(pick('inner', 'left')))) }, \&source)->();
	my @shown = (chance(80) ? columns($source, 1 .. 5) : some($source, chance(80), 1 .. 4), perhaps_raising($source));
	my @hidden = chance(30) ? (chance(80) ? columns($source, 1, 1, 2) : some($source, 0, 1, 1, 2)) : ();

	return sorted(show($source, \@shown), 0, @hidden);
}

sub plain_query
{
	my $source = source();

	return show($source, [ some($source, 0, 1 .. 4), perhaps_raising($source) ]);
}

sub window_query
{
	my $source = source();
	my @shown = some($source, 1, 1, 2, 3);
	my $all = join(', ', map { $_->{sql} . direction() } @shown);
	my $partition = chance(60) ? 'partition by ' . random_expression($source)->{sql} . ' ' : '';
	my $order = random_expression($source)->{sql} . direction();
	my $number = column($source, 'int|big');
	# rows that compare equal in all of what is shown beside one of these are the same
	my @of_position = (
		expression("(row_number() over (order by $all))", 'big'),
		expression("(lag($shown[0]{sql}) over (order by $all))", $shown[0]{class}),
		expression("(first_value($shown[-1]{sql}) over (order by $all))", $shown[-1]{class}));
	# and peers have the same of these
	my @windows = (
		expression("(rank() over (${partition}order by $order))", 'big'),
		expression("(dense_rank() over (${partition}order by $order))", 'big'),
		expression("(count(*) over (${partition}))", 'big'),
		expression("(count(*) over (${partition}order by $order))", 'big'),
		defined $number ? (expression("(sum($number->{sql}) over (${partition}order by $order))", 'numeric', 1),
			expression("(max($number->{sql}) over ($partition))", $number->{class})) : ());

	if (chance(25))
	{
		# above groups
		my $keys = join(', ', map { $_->{sql} } @shown);
		my $query = show($source, [ @shown, expression('count(*)', 'big'), expression("(rank() over (partition by $shown[0]{sql} order by count(*)))", 'big'),
				expression('(sum(count(*)) over ())', 'numeric', 1) ], " group by $keys");

		return chance(40) ? sorted($query) : $query;
	}
	my $query = show($source, [ @shown, chance(25) ? pick(@of_position) : (shuffle(@windows))[ 0 .. pick(0, 0, 1) ] ]);
	return chance(40) ? sorted($query) : $query;
}

# ------------------------------------------------------------------ subqueries

# Where the rows of a correlated subquery come from: few, and some of them more than once.
sub outer_source
{
	my $table = 't' . pick(1, 2, 3, 3, 4, 4, 5, 6);
	my $alias = new_alias(table => 1);
	my $twice = new_alias();

	return source_of_tables("(select * from $table union all select * from $table where n % 3 = 0) $twice->{name}", [], $twice) if chance(20);
	return source_of_query() if $depth < 2 && chance(10);
	return source_of_tables(join_parts(random_from(pick('inner', 'left')))) if chance(8);
	return small_source() if chance(25);
	return source_of_tables("$table $alias->{name}", [], $alias);
}

# An inner source whose rows match a row of an outer source: its WHERE says so.
sub matching_source
{
	my ($outer, $level) = @_;
	my $inner = chance(85) ? small_source() : source_of_tables(pick('t8', 't9', 't10') . ' i', [], { name => 'i' });
	my %by = map { my $class = $_; $class => [ grep { $_->{class} eq $class } @{ $inner->{columns} } ] } map { $_->{class} } @{ $inner->{columns} };
	my $other = sub {
		my ($column) = @_;
		my $class = $column->{class} =~ /^(int|big)$/ ? pick('int', 'big') : $column->{class};

		return @{ $by{$class} // [] } ? pick(@{ $by{$class} }) : undef;
	};

	for (1 .. pick(1, 1, 1, 2))
	{
		my $left = column($outer, chance(70) ? 'int|big|text' : undef) // column($outer) // last;
		my $right = $other->($left) // next;
		my ($l, $r) = ($left->{sql}, $right->{sql});

		($l, $r) = @{ pick([ "$l % 50", $r ], [ $l, "$r % 50" ], [ "coalesce($l, 7)", $r ], [ "$l % 9", "$r % 9" ]) }
		  if $left->{class} =~ /^(int|big)$/ && chance(20);
		push @{ $inner->{where} }, chance(50) ? "$l = $r" : "$r = $l";
	}
	if (chance(25))
	{
		my ($l, $r) = (column($outer, 'int|big'), column($inner, 'int|big'));

		push @{ $inner->{where} }, "$l->{sql} " . pick('<', '>', '<>', '>=') . " $r->{sql}" if defined $l && defined $r;
	}
	push @{ $inner->{where} }, exists_condition(pick($outer, $inner), $level + 1) if $level < 2 && chance(10);
	return $inner;
}

# A subquery of one value: an aggregate, or the first row.
sub scalar_subquery
{
	my ($outer, $level) = @_;
	my $inner = matching_source($outer, $level);
	my $value = aggregate($inner);
	my $rest = chance(15) ? ' having ' . having([], [$value]) : '';

	$value = (distinct_aggregates($inner))[0] // $value if chance(8);
	if (chance(12))
	{
		my @shown = some($inner, 1, 1);

		return expression('(' . show($inner, \@shown, ' order by c1' . direction() . ' limit 1')->{sql} . ')', $shown[0]{class});
	}
	return expression('(' . show($inner, [$value], $rest)->{sql} . ')', @$value{qw(class unlike)});
}

sub exists_condition
{
	my ($outer, $level) = @_;
	my $inner = matching_source($outer, $level);
	my $column;

	if (chance(25) && defined($column = column($outer, 'int|big|text|date')))
	{
		my $other = column($inner, $column->{class} =~ /int|big/ ? 'int|big' : $column->{class});

		return "$column->{sql} " . pick('in', 'in', 'not in', '= any', '<> all') . ' (' . show($inner, [$other])->{sql} . ')' if defined $other;
	}
	return pick('', 'not ') . 'exists (' . show($inner, [ expression('1', 'int') ])->{sql} . ')';
}

# A condition on the value of a correlated subquery.
sub subquery_condition
{
	my ($outer, $level) = @_;
	my $value = scalar_subquery($outer, $level);
	my $column = $value->{class} =~ /^(int|big|numeric)$/ ? column($outer, 'int|big|numeric')
	  : column($outer, $value->{class});

	return "$column->{sql} " . pick('<', '>', '=', '<>', '<=') . " $value->{sql}" if defined $column && chance(60);
	return "$value->{sql} " . pick('> 3', '< 20', '= 1', 'is null') if $value->{class} =~ /^(int|big|numeric)$/;
	return "$value->{sql} is " . pick('', 'not ') . 'null';
}

# A condition with subqueries, mostly below OR.
sub condition_with_subqueries
{
	my ($outer) = @_;
	my @parts = map { chance(55) ? subquery_condition($outer, 0) : exists_condition($outer, 0) } 1 .. pick(1, 1, 1, 2);

	push @parts, condition($outer) if chance(70);
	@parts = shuffle(@parts);
	return pick('', '', '', 'not ') . '(' . join(pick(' or ', ' or ', ' and '), @parts) . ')';
}

sub correlated_query
{
	my $outer = outer_source();
	my @shown = some($outer, 0, 1, 2);

	if (chance(65))
	{
		my $value = scalar_subquery($outer, 0);

		$value = expression('(case when ' . condition($outer) . " then $value->{sql} end)", @$value{qw(class unlike)}) if chance(20);
		$value = expression("coalesce($value->{sql}, -1)", @$value{qw(class unlike)}) if $value->{class} =~ /^(int|big|numeric)$/ && chance(15);
		push @shown, $value;
	}
	push @shown, expression('(' . exists_condition($outer, 0) . ')', 'bool') if chance(15);
	push @shown, perhaps_raising($outer);
	push @{ $outer->{where} }, condition_with_subqueries($outer) if (@shown < 2 || chance(35)) && !defined $raises;
	if (chance(10))
	{
		# below an aggregate, with the subquery as its key or its argument
		my @keys = grep { !$_->{unlike} } @shown;

		return show($outer, [ @keys, expression('count(*)', 'big') ], @keys ? ' group by ' . join(', ', 1 .. @keys) : '');
	}
	my $query = show($outer, \@shown);
	# the subquery's value is shown once, as it would be again for a sort key
	return $query if grep { $_->{unlike} } @shown;
	return chance(30) ? sorted($query, 1) : $query;
}

# A query that runs once for each row outside.
sub lateral_query
{
	my $table = 't' . pick(1, 2, 2, 3);

	$depth++;
	my $source = small_source();
	my $name = pick(@{ $source->{names} })->{name};
	push @{ $source->{where} }, pick("$name.n % 9 >= o.n", "$name.i4 = o.i4", "$name.n > o.n * 20");
	my @keys = some($source, 1, 1, 1, 2);
	my $query = pick(
		sub { grouped($source, \@keys, \@keys, aggregate($source)) },
		sub { show($source, [ @keys, aggregate($source) ], ' group by ' . grouping_sets(map { $_->{sql} } @keys)) },
		sub { show($source, \@keys, '', 'distinct ') },
		sub { sorted(show($source, \@keys)) },
		sub {
			my $other = small_source();
			my $of = expression_of($other, 'int');

			return { sql => show($source, [ expression_of($source, 'int') ])->{sql} . ' ' . pick('union', 'except', 'intersect', 'except all', 'intersect all')
				  . ' ' . show($other, [$of])->{sql}, shown => [$of] };
		})->();
	$depth--;
	my $count = @{ $query->{shown} };
	my $shown = [ expression('o.n', 'int'), map { expression("q.c$_", @{ $query->{shown}[$_ - 1] }{qw(class unlike)}) } 1 .. $count ];

	my $from = "lateral (select * from ($query->{sql}) s offset 0) q";

	return show({ from => "$table o " . pick("cross join $from", "left join $from on true"), where => [] }, $shown);
}

# ------------------------------------------------------------------ the whole

my %shapes = (
	aggregates => \&aggregate_query, sets => \&grouping_sets_query, distinct_aggregates => \&distinct_aggregate_query,
	distinct => \&distinct_query, set_operations => \&set_operation_query, sorted => \&sorted_query, plain => \&plain_query,
	windows => \&window_query, correlated => \&correlated_query, lateral => \&lateral_query);
# how often they are drawn
my %weights = (
	aggregates => 3, sets => 3, distinct_aggregates => 2, distinct => 2, set_operations => 3, sorted => 5, plain => 1,
	windows => 2, correlated => 5, lateral => 2);
# which stand below others
my @below = (('aggregates') x 3, 'sets', 'distinct', 'distinct', 'set_operations', 'sorted', 'sorted', 'plain', 'windows', 'correlated');

sub any_query { return $shapes{ pick(@below) }->(); }
sub query_shapes { return sort keys %shapes; }
sub shape_weight { return $weights{ $_[0] }; }

sub random_query
{
	my ($shape) = @_;

	start_query();
	$depth = 0;
	$raises = chance(10) ? 1 : undef;
	my $query = $shapes{$shape}->();
	return { sql => $query->{sql}, ordered => $query->{ordered} };
}

sub query_settings
{
	my ($version, $shape) = @_;
	my %settings = (
		'enable_hashagg' => pick('on', 'on', 'off'),
		'enable_incremental_sort' => pick('on', 'off'),
		'enable_indexscan' => pick('on', 'on', 'off'),
		'hashgraph.float_sums' => pick('on', 'off'),
		'hashgraph.force' => pick('on', 'on', 'on', 'off'));

	# workers that start for each row outside take minutes
	$settings{max_parallel_workers_per_gather} = 0 if $shape eq 'lateral' || $shape eq 'correlated' && chance(85);
	return random_settings($version) . ' ' . join(' ', map { "set $_ = '$settings{$_}';" } sort keys %settings);
}

1;
