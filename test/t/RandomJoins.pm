# RandomJoins.pm
#
# Random tables and random joins of them, for join_random.pl.
#
#	random_tables($seed)	SQL that creates the tables; the same for the same seed
#	random_join($kind)		a query that has a join of that kind
#	random_aggregation()	a query that aggregates one table
#	random_settings($version)	SET commands for what may not change a result, in that
#							major version of PostgreSQL
#	join_kinds()			the kinds; a hash of what EXPLAIN may call the joins of each
#
# Those that take a kind or a version draw from Perl's generator, which gives the same
# numbers everywhere for what srand() was told.
#
# TABLES.  All have the same columns, one for each type, each a function of a number x
# that repeats as the table's shape wants and of the row's own n.  Columns of two tables
# that have the same x match, so that joins on several columns find rows too, and what
# equality calls equal differs in its bytes where the type allows it: 1.0 and 1.00,
# -0 and 0, '1 day' and '24 hours'.  There are partitioned tables, one with a child, one
# with a dropped column; half of the rows are older than the column ad; wide and pk have
# values that are stored out of line, and compressed.
#
# JOINS.  The kind belongs to the topmost join; its sides are tables and what else can
# stand in FROM (random_source), or joins of any kind themselves, up to four tables.
# Nothing that a query computes may raise an error or depend on the order of rows.

package RandomJoins;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(random_tables random_join random_aggregation random_settings join_kinds);
# for RandomQueries.pm
our @EXPORT_OK = qw(pick chance start_query new_alias random_table random_from random_filter random_settings join_kinds);

my $hour = q{interval '1 hour'};

# name => type: expression
my %columns = (
	i2 => 'int2: x % 30000 - 5',
	i4 => 'int4: case x when 1 then 2147483647 when 2 then -2147483648 else x - 5 end',
	i8 => 'int8: case when x = 3 then -9223372036854775808
			when x % 7 = 0 then (x - 5)::int8 * 4294967296 else x - 5 end',
	oi => 'oid: case x when 1 then 4294967295 else x end',
	bo => 'bool: x % 2 = 0',
	ch => q{"char": chr(x % 100 + 20)::"char"},
	tx => q{text: case x when 1 then '' else 'v' || x end},
	lt => q{text: repeat('long ', x % 9) || x},
	ci => q{text collate hg_ci: case when n % 2 = 0 then 'V' else 'v' end || x},
	vc => q{varchar(20): 'v' || x},
	bp => q{char(8): 'v' || x},
	nm => q{name: 'v' || x},
	nu => q{numeric: case x when 1 then 'NaN' else round(x / 4.0, n % 3 + 2) end},
	f4 => q{float4: case x % 20 when 0 then '-0' when 1 then '0' when 2 then 'NaN' else x::float8 end},
	f8 => q{float8: case x % 20 when 0 then '0' when 1 then '-0' when 2 then 'NaN' else x::float8 end},
	da => q{date: case x when 1 then 'infinity' else date '2000-01-01' + x end},
	ti => qq{time: time '00:00' + x * $hour / 100},
	ts => qq{timestamp: timestamp '2000-01-01' + x * $hour},
	tz => qq{timestamptz: timestamptz '2000-01-01 UTC' + x * $hour},
	iv => qq{interval: case when n % 2 = 0 then x * interval '1 day' else x * 24 * $hour end},
	uu => 'uuid: md5(x::text)::uuid',
	by => q{bytea: decode(md5((x / 2)::text), 'hex')},
	ip => q{inet: case when x % 2 = 0 then '10.0.0.0/8' else '::1' end::inet + x},
	js => q{jsonb: jsonb_build_object('k', round(x, n % 2))},
	en => q{hg_color: (array['red', 'green', 'blue'])[x % 3 + 1]},
	ar => 'int4[]: array[x, null, x % 3]',
	ta => q{text[]: array['v' || x]},
	rg => 'int4range: int4range(x, x + 3)',
	ro => q{hg_pair: row(x, 'v' || x)::hg_pair},
	ma => q{macaddr: ('08:00:2b:00:' || lpad(to_hex(x / 256 % 256), 2, '0') || ':'
			|| lpad(to_hex(x % 256), 2, '0'))::macaddr},
	m8 => q{macaddr8: ('08:00:2b:00:00:00:' || lpad(to_hex(x / 256 % 256), 2, '0') || ':'
			|| lpad(to_hex(x % 256), 2, '0'))::macaddr8},
	tt => qq{timetz: case when x % 2 = 0 then timetz '00:00+00' else timetz '00:00-03' end
			+ x * $hour / 100},
	cd => q{cidr: set_masklen(inet '10.0.0.0' + x * 256, 24)::cidr},
	dn => 'hg_number: x - 5',
	dt => q{hg_word: 'v' || x},
	ct => q{citext: case when n % 3 = 0 then 'V' else 'v' end || x},
	mr => 'int4multirange: int4multirange(int4range(x, x + 1), int4range(x + 1, x + 3))',
	rn => 'numrange: numrange(round(x, n % 3), null)',
	ls => q{pg_lsn: '0/0'::pg_lsn + x},
	x8 => 'xid8: x::text::xid8',
	fa => q{float8[]: array[case x % 9 when 0 then '-0' when 1 then '0' else x end::float8, 'NaN']},
	na => 'numeric[]: array[round(x / 2.0, n % 2 + 1), null]',
	ea => q{hg_color[]: array[(array['red', 'green', 'blue'])[x % 3 + 1], 'red']::hg_color[]},
	pk => q{text: case when n % 25 = 0 then repeat('packed' || x, 700) else 'p' || x end},
	ad => 'int4: x');

# Columns that the table computes: name => type and expression.
my %generated = (ge => 'int8 generated always as (i4::int8 * 2) stored');

# What can be compared with what, by which operator; the more often the family stands
# here, the more often it is drawn.
my @families = (
	(map { [ '=', 'i2', 'i4', 'i8' ] } 1 .. 8),
	[ '=', 'i4', 'i8', 'dn', 'ad', 'ge' ],
	(map { [ '=', 'tx', 'vc', 'nm' ] } 1 .. 3),
	[ '=', 'tx', 'dt', 'vc' ],
	(map { [ '=', 'f4', 'f8' ] } 1 .. 2),
	(map { [ '=', $_ ] } qw(oi tx lt ci bp nu nu da ti ts tz iv iv uu by ip js ar ta rg ro
		ma m8 tt cd ct mr rn ls x8 fa na pk)),
	[ '=', 'lt', 'tx', 'wide', 'pk' ],
	[ '=', 'ip', 'cd' ],
	# unique, but where tables inherit
	(map { [ '=', 'n' ] } 1 .. 2),
	# operators of the test's own: few hash values, and NULL equals NULL
	(map { [ '===', 'i4' ] } 1 .. 2),
	(map { [ '<=>', 'tx' ] } 1 .. 2));
# ... and beside another clause also what has few values, so that rows of one key are many;
# alone it is drawn seldom
my @more_families = (@families, map { [ '=', $_ ] } qw(bo ch en ea));

# What a join of a kind may be in the plan: the same with its sides changed, or what the
# planner has made of it.
my %join_kinds = (
	inner => [ 'Inner' ],
	left => [ 'Left', 'Right' ],
	full => [ 'Full' ],
	semi => [ 'Semi', 'Right Semi', 'Inner' ],
	anti => [ 'Anti', 'Right Anti' ]);

# rows, distinct values, power of the skew, percentage of NULLs
my @tables = (
	[ 0, 1, 1, 0 ], [ 1, 1, 1, 0 ], [ 7, 5, 1, 30 ], [ 60, 40, 1, 10 ], [ 200, 150, 2, 10 ],
	[ 300, 90, 1, 5 ], [ 500, 2000, 1, 0 ], [ 400, 300, 1, 100 ], [ 1000, 700, 1, 15 ],
	[ 2000, 1900, 1, 2 ], [ 2500, 2000, 2, 10 ], [ 3000, 3000, 1, 0 ], [ 6000, 5000, 1.5, 3 ]);
# which of them any side is, which the sides of joins of several tables are, and which
# stand outside a lateral join
my @any_table = (0 .. 12, (8 .. 12) x 6);
my @small_table = (0 .. 7, (2 .. 6) x 7);
my @tiny_table = (1, 2, 2, 2, 2, 3);
# what makes a table something else than a plain one
my %inherited = (5 => 1);
my %partitioned = (6 => 1, 9 => 1);
my %dropped_column = (8 => 1);
# ... and foreign tables that have the same rows, from a file or by way of a server
my %foreign = (3 => 'file', 4 => 'server', 8 => 'server');

my $setup = <<'SQL';
create type hg_color as enum ('red', 'green', 'blue');
create type hg_pair as (number int4, word text);
create domain hg_number as int4 check (value > -1000000);
create domain hg_word as text;
do $$
begin
	create extension citext;
exception when others then
	create domain citext as text;
end
$$;

-- without regard to case, where this server and the database's encoding have ICU
do $$
begin
	create collation hg_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	execute 'select ''a'' < ''b'' collate hg_ci';
exception when others then
	create collation hg_ci from "C";
end
$$;

-- equal but for the sign, with 257 hash values of 32 bits
create function hg_same_size(int4, int4) returns bool language plpgsql immutable strict
	as 'begin return abs($1::int8) = abs($2::int8); end';
create function hg_size_hash(int4) returns int4 language plpgsql immutable strict
	as 'begin return abs($1::int8) % 257; end';
create operator === (leftarg = int4, rightarg = int4, function = hg_same_size,
	commutator = ===, hashes, restrict = eqsel, join = eqjoinsel);
create operator class hg_size_ops for type int4 using hash as
	operator 1 === (int4, int4), function 1 hg_size_hash(int4);

-- not strict
create function hg_same(text, text) returns bool language plpgsql immutable
	as 'begin return $1 is not distinct from $2; end';
create operator <=> (leftarg = text, rightarg = text, function = hg_same,
	commutator = <=>, hashes, restrict = eqsel, join = eqjoinsel);
create operator class hg_same_ops for type text using hash as
	operator 1 <=> (text, text), function 1 hashtext(text);
SQL

my $aliases;
my $tables_left;
# there is a row o outside, which conditions may look at: 'sides', those of one side and keys,
# so that a side is read again for each row outside; 'above', those of both sides alone, so
# that none needs to be; 'none', they look at nothing; '', there is no such row
my $lateral;

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { return rand(100) < $_[0]; }

# ------------------------------------------------------------------ tables

sub random_tables
{
	my ($seed) = @_;
	my $sql = $setup;
	my @names = grep { $_ ne 'ad' } sort keys %columns;
	my $definitions = join(', ', map { "$_ " . type_of($_) } @names);
	my $computed = join(', ', map { "$_ $generated{$_}" } sort keys %generated);

	for my $t (0 .. $#tables)
	{
		my ($rows) = @{ $tables[$t] };
		my $half = int($rows / 2);
		my $gone = $dropped_column{$t} ? 'gone text, ' : '';
		my $all = join(', ', 'n', 'wide', sort keys %columns);

		$sql .= "create table t$t (${gone}n int, $definitions, wide text, $computed)"
		  . ($partitioned{$t} ? ' partition by hash (n)' : '') . ";\n";
		$sql .= "alter table t$t drop column gone;\n" if $gone ne '';
		$sql .= "create table t${t}_$_ partition of t$t for values with (modulus 3, remainder $_);\n"
		  for $partitioned{$t} ? (0 .. 2) : ();
		# a child has the parent's columns in another order
		$sql .= "create table t${t}_child (wide text, n int) inherits (t$t);\n" if $inherited{$t};
		$sql .= "alter table t$t alter wide set storage external;\n";
		$sql .= insert_rows($seed, $t, 1, $half, @names);
		$sql .= "alter table t$t add column ad " . type_of('ad') . " default 7;\n";
		$sql .= insert_rows($seed, $t, $half + 1, $rows, sort keys %columns);
		$sql .= "insert into t${t}_child ($all) select "
		  . join(', ', '-n', 'wide', sort keys %columns) . " from t$t where n % 3 = 0;\n"
		  if $inherited{$t};
		$sql .= 'create ' . ($inherited{$t} ? '' : 'unique ') . "index on t$t (n);\nanalyze t$t;\n";
		$sql .= <<"SQL";
create view v$t as select * from t$t;
create view b$t with (security_barrier) as select * from t$t where n % 7 <> 0;
create function rows_of_t$t(lowest int) returns setof t$t stable language plpgsql rows 100
	as 'begin return query select * from t$t where n > lowest; end';
SQL
	}
	return $sql . join('', map { foreign_table($_, $foreign{$_}) } sort keys %foreign);
}

sub type_of
{
	my ($column) = @_;

	return (split /: /, $columns{$column}, 2)[0];
}

# Rows first to last of a table, with these columns besides n and wide.
sub insert_rows
{
	my ($seed, $t, $first, $last, @names) = @_;
	my (undef, $distinct, $skew, $nulls) = @{ $tables[$t] };
	my $random = "(hashint8extended(n, $seed * 100 + $t) & 1048575) / 1048576.0::float8";
	my @values = map {
		my ($type, $value) = split /: /, $columns{$_}, 2;
		my $null = "hashtext('$_' || n) & 1023 < $nulls * 10.24";
		$type =~ s/ collate .*//;
		"(case when $null then null else ($value)::$type end)"
	} @names;

	return "insert into t$t (" . join(', ', 'n', @names, 'wide') . ') select '
	  . join(', ', 'n', @values, <<"SQL");
		case when n % 50 = 0 then repeat(md5(x::text), 100) else 'w' || x end
	from (select n, floor($distinct * power($random, $skew))::int as x
		from generate_series($first, $last) n) s;
SQL
}

# A foreign table over a table, or a view of it where there is no such wrapper.
sub foreign_table
{
	my ($t, $kind) = @_;
	my $columns = 'n int, ' . join(', ', map { "$_ " . type_of($_) } sort keys %columns)
	  . ', wide text, ge int8';
	my $list = join(', ', 'n', (sort keys %columns), 'wide', 'ge');

	return <<"SQL" if $kind eq 'file';
do \$\$
declare
	file text := current_setting('data_directory') || '/t$t.' || current_database();
begin
	create extension if not exists file_fdw;
	create server hg_files foreign data wrapper file_fdw;
	execute format('copy (select $list from t$t) to %L', file);
	execute format('create foreign table f$t ($columns) server hg_files options (filename %L)', file);
exception when others then
	create view f$t as select * from t$t;
end
\$\$;
SQL
	return <<"SQL";
do \$\$
begin
	create extension if not exists postgres_fdw;
	if not exists (select from pg_foreign_server where srvname = 'hg_loop') then
		execute format('create server hg_loop foreign data wrapper postgres_fdw
			options (host %L, port %L, dbname %L)',
			(regexp_split_to_array(current_setting('unix_socket_directories'), ', *'))[1],
			current_setting('port'), current_database());
		create user mapping for current_user server hg_loop;
	end if;
	create foreign table f$t ($columns) server hg_loop options (table_name 't$t');
	perform from f$t limit 1;
	analyze f$t;
exception when others then
	create view f$t as select * from t$t;
end
\$\$;
SQL
}

# ------------------------------------------------------------------ joins

# A side of a join is { from => what to put after FROM, names => its aliases }, an
# alias { name => ..., table => it is one, with ctid and tableoid, tag => it has a column tag }.

sub new_alias { return { name => 'a' . ++$aliases, @_ }; }
sub name_of { return pick(@{ $_[0]{names} })->{name}; }

# A table, or what else has its columns.
sub random_table
{
	my ($small) = @_;
	my $number = pick($small ? @small_table : @any_table);
	my $alias;

	$tables_left--;
	if (chance(70))
	{
		$alias = new_alias(table => 1);
		return { from => "t$number $alias->{name}", names => [$alias] };
	}
	if (chance(15))
	{
		$alias = new_alias();
		return { from => 'f' . pick(sort keys %foreign) . " $alias->{name}", names => [$alias] };
	}
	if (chance(65))
	{
		$alias = new_alias(tag => 1);
		return { from => random_subquery("t$number") . " $alias->{name}", names => [$alias] };
	}
	$alias = new_alias();
	return { from => random_source($number) . " $alias->{name}", names => [$alias] };
}

# A subquery with a table's columns and one more.
sub random_subquery
{
	my ($table) = @_;

	return pick(
		# something that is computed below the join, and NULL above an outer one
		"(select *, coalesce(i4, -1) as tag from $table)",
		"(select *, 7 as tag from $table)",
		# what the planner may not take apart
		"(select *, n % 5 as tag from $table where n % 4 <> 1 offset 0)",
		# ... and what is filtered below it
		"(select f.*, 7 as tag from $table f where " . random_filter('f', 2) . ')',
		"(select distinct on (n) *, n as tag from $table order by n)",
		"(select *, n as tag from $table order by n limit 150)",
		"(select *, (row_number() over (partition by i4 order by n))::int as tag from $table)");
}

# A list of columns, some of which the scan computes; a number chooses which, and how.  A column of
# another type in one branch of a UNION ALL keeps the planner from taking the branches apart.
sub computed_columns
{
	my ($list, $number) = @_;
	my %computed = (
		i2 => [ '7::int2', 'coalesce(i2, 3::int2)' ],
		i4 => [ '20', 'coalesce(i4, -1)', 'n % 40', 'i2' ],
		i8 => [ 'nullif(i8, 7)', 'n + 1::int8', 'i4' ],
		tx => [ q{'v7'}, q{tx || ''}, 'vc::text', 'null' ],
		nu => [ '0::numeric', 'coalesce(nu, 1.50)', '0' ],
		wide => [ 'wide || n', 'coalesce(wide, tx)' ],
		ar => [ 'array[n, i2]', 'ar || 7' ],
		da => [ q{coalesce(da, date '2000-01-07')} ]);

	return join(', ', map {
		my $ways = $computed{$_} // [];
		my $way = $number++ * 5 % (2 * @$ways + 1);

		$way < @$ways ? "$ways->[$way] as $_" : $_
	} split(/, /, $list));
}

# What else can stand in FROM, with a table's columns.
sub random_source
{
	my ($number) = @_;
	my $table = "t$number";
	my $other = 't' . pick(@small_table);
	my $all = join(', ', 'n', 'wide', (sort keys %columns), sort keys %generated);
	my $not = pick('', 'not ');

	return pick(
		"v$number", "b$number",
		"rows_of_$table(" . pick(-10000, 0, 40) . ')',
		"(with c as ${not}materialized (select * from $table where n % 9 <> 0) select * from c)",
		"(with c as ${not}materialized (select $all from $other)
			select * from c union all select * from c where n < 20)",
		'(select ' . computed_columns($all, $aliases * 13 + $number) . " from $table union all select "
		  . computed_columns($all, $aliases * 7) . " from $other)",
		"(select t.* from $table t join (values (1), (2), (7), (20), (20), (null)) v (k) on t.i4 = v.k)",
		"(select t.* from $table t join generate_series(-5, 60) k on t.i8 = k)",
		"(select t.* from $table t, unnest('{v1,v2,v5,v5}'::text[]) k where t.tx = k)",
		"(select * from $table where n in (select max(n) from $other group by bo, en))",
		"(select * from $table where i4 in (select i4 from $other union select i8 % 40 from t3))",
		"(select * from $table where i4 not in (select i4 from $other where i4 is not null))",
		"(select * from $table tablesample bernoulli (40) repeatable (3))");
}

# A filter of one alias, of those that a scan decides over columns, and of some that it does not.  The values are such that tables
# have, or lie between them.
my %constants = (
	i2 => [ qw(-5 0 7 20 150 2000) ], i4 => [ qw(-2147483648 -4 7 20 150 2147483647 1e3::int8) ],
	i8 => [ qw(-9223372036854775808 -4 7 20::int2 150 9223372036854775807) ], oi => [ qw(0 7 40 4294967295) ],
	bo => [ qw(true false) ], ch => [ map { "'$_'::\"char\"" } qw(A z) ],
	tx => [ map { "'$_'" } '', qw(v2 v11 v20 v150) ], vc => [ map { "'$_'" } qw(v1 v2 v20) ], bp => [ map { "'$_'" } 'v2', 'v11  ', 'v20     ' ],
	nu => [ qw('NaN'::numeric 1.25 1.250000 5 37.5 1e-20 100) ],
	f4 => [ qw('-0'::float4 'NaN'::float4 7 150) ], f8 => [ qw('-0'::float8 'NaN'::float8 7 150::float4) ],
	da => [ map { "date '$_'" } qw(infinity 2000-01-03 2000-02-01) ],
	ts => [ qw('2000-01-01'::date), map { "timestamp '$_'" } '-infinity', '2000-01-01 20:00', '2000-01-07' ],
	tz => [ map { "timestamptz '$_'" } 'infinity', '2000-01-01 20:00 UTC', '2000-01-07 UTC' ],
	ti => [ map { "time '$_'" } qw(00:00 00:12 01:00) ], uu => [ map { "md5('$_')::uuid" } 2, 7, 20 ],
	by => [ map { "decode(md5('$_'), 'hex')" } 1, 3, 10 ], ad => [ qw(3 7 20) ], n => [ qw(1 20 100 400) ],
	ci => [ map { "'$_'" } qw(V2 v11) ], wide => [ map { "'$_'" } qw(w2 w20) ], pk => [ map { "'$_'" } qw(p2 p20) ],
	lt => [ "'2'", "'long 10'" ]);

sub random_filter
{
	my ($a, $depth) = @_;
	my $column = pick(sort keys %constants);
	my $constant = sub { return pick(@{ $constants{$column} }) };
	my $operator = pick('=', '<>', '<', '<=', '>', '>=', '<>', '>');
	my $not = pick('', 'not ');

	return pick(
		sub { '(' . random_filter($a, $depth - 1) . ' or ' . random_filter($a, $depth - 1) . ')' },
		sub { '(' . random_filter($a, $depth - 1) . ' and ' . random_filter($a, $depth - 1) . ')' },
		sub { 'not (' . random_filter($a, $depth - 1) . ')' },
		sub { '(' . random_filter($a, $depth - 1) . ') is ' . pick('not ', '') . pick('true', 'false', 'unknown') })->()
	  if $depth > 0 && chance(55);
	return "$a.$column ${not}like " . pick("'v%'", "'v1%'", "'long%'", "'w%'", "'p%'", "'v2'", "'%1'", "'v_1'")
	  if $column =~ /^(tx|vc|bp|lt|wide|pk)$/ && chance(40);
	return pick("$a.$column $operator " . $constant->(), $constant->() . " $operator $a.$column",
		"$a.$column ${not}between " . $constant->() . ' and ' . $constant->(),
		"$a.$column ${not}in (" . join(', ', map { $constant->() } 1 .. 3) . pick('', '', ', null') . ')',
		"$a.$column is ${not}null", "$a.$column is ${not}distinct from " . $constant->(),
		pick("$a.bo", "not $a.bo", "$a.bo is not true"), "$a.i2 $operator $a.i8", "$a.f4 $operator $a.f8");
}

# One equality of a column of the left side and one of the right.
sub random_key
{
	my ($left, $right, @from) = @_;
	my $of_row = $lateral eq 'sides' && chance(35);
	my ($operator, @family) = @{ $of_row ? [ '=', 'i4', 'i8' ] : pick(@from) };
	my ($l, $r) = map { name_of($_) . '.' . pick(@family) }
	  chance(50) ? ($left, $right) : ($right, $left);

	return "($l | o.n % 4) = $r" if $of_row;
	if (chance(12) && $family[0] eq 'i2')
	{
		$l = pick("($l | 1)", "$l % 50", "coalesce($l, 3)", "${l}::int8",
			"case when $l > 10 then $l end");
		$r = "$r % 50" if $l =~ /%/;
	}
	elsif (chance(12) && $operator eq '=' && $family[0] eq 'tx')
	{
		$l = pick("$l || ''", "upper($l)", "nullif($l, 'v3')");
		$r = "upper($r)" if $l =~ /upper/;
	}
	return "$l $operator $r";
}

# What else an ON clause may ask, of both sides or of one.
sub random_residual
{
	my ($left, $right) = @_;
	my ($l, $r) = (name_of($left), name_of($right));

	return pick(
		"$l.n < $r.n", "$l.n <> $r.n", "$l.n % 3 = $r.n % 2", "$l.bo = $r.bo", "$l.i4 <> $r.i8",
		"($l.tx is null or $r.n > 10)", "$l.n + $r.n > 100", "$r.n % 2 = 0", "$l.n % 2 = 0",
		"coalesce($l.bo, $r.bo)", "$l.nu is distinct from $r.nu",
		"$r.n <> (select max(n) from t3)", "length($l.wide) <> length($r.wide) + 1");
}

# ... and of both sides and the row outside.
sub random_residual_of_row
{
	my ($left, $right) = @_;
	my ($l, $r) = (name_of($left), name_of($right));

	return pick("($l.n + $r.n) % 5 <> o.n % 5", "$l.n % 7 <> ($r.n + o.n) % 7",
		"$l.n + $r.n > o.n * 100", "($l.tx is null or $r.n % 3 <> o.n % 3)");
}

sub random_condition
{
	my ($left, $right, $exists) = @_;
	my @clauses = random_key($left, $right, $lateral eq '' && chance(12)
		? ([ '=', 'ch' ], $exists ? ([ '=', 'en' ], [ '=', 'bo' ]) : ()) : @families);

	push @clauses, random_key($left, $right, @more_families) for 1 .. pick(0, 0, 0, 1, 1, 2);
	push @clauses, random_residual($left, $right) if chance(35);
	push @clauses, name_of(pick($left, $right)) . '.n ' . pick('>', '<', '<>') . ' o.n'
	  if $lateral eq 'sides' && chance(20);
	push @clauses, random_residual_of_row($left, $right) if $lateral eq 'above' && chance(60);
	@clauses = reverse @clauses if chance(30);
	return join(' and ', @clauses);
}

# A condition that the right side has a row, or none, that matches a row of the left.
sub random_exists
{
	my ($left, $right, $not) = @_;

	if (!$not && chance(40))
	{
		my ($operator, @family) = @{ pick(grep { $_->[0] eq '=' } @families) };
		my ($l, $r) = map { name_of($_) . '.' . pick(@family) } $left, $right;
		my $where = chance(30) ? ' where ' . pick(name_of($right) . '.n % 3 <> 0', random_filter(name_of($right), 1)) : '';

		if (chance(30))
		{
			# rows of two columns
			my (undef, @more) = @{ pick(grep { $_->[0] eq '=' } @more_families) };

			return "($l, " . name_of($left) . '.' . pick(@more) . ") in (select $r, "
			  . name_of($right) . '.' . pick(@more) . " from $right->{from}$where)";
		}
		return "$l " . pick('in', '= any') . " (select $r from $right->{from}$where)";
	}
	return ($not ? 'not ' : '') . "exists (select from $right->{from} where "
	  . random_condition($left, $right, 1) . ')';
}

# A table, or an inner, left, semi or anti join of some.
sub random_side
{
	my ($small) = @_;

	if ($tables_left >= 3 && chance(25))
	{
		my ($left, $right) = (random_table(1), random_table(1));
		my $alias = new_alias();

		return { from => "(select * from $left->{from} where "
			  . random_exists($left, $right, chance(50)) . ") $alias->{name}",
			names => [$alias] };
	}
	if ($tables_left >= 3 && chance(40))
	{
		my ($left, $right) = (random_side(1), random_table(1));
		my $kind = pick('join', 'join', 'left join', 'left join', 'right join', 'full join');
		my $condition = random_condition($left, $right);

		return { from => "($left->{from} $kind $right->{from} on $condition)",
			names => [ @{ $left->{names} }, @{ $right->{names} } ] };
	}
	return random_table($small);
}

sub random_column
{
	my ($alias) = @_;
	my @names = ('n', 'wide', (sort keys %columns), sort keys %generated);

	push @names, 'tag', 'tag', 'tag' if $alias->{tag};
	return "$alias->{name}.ctid" if $alias->{table} && chance(4);
	return "$alias->{name}.tableoid::regclass" if $alias->{table} && chance(4);
	return "$alias->{name}." . pick(@names);
}

sub random_select_list
{
	my (@names) = @_;
	my $what = int(rand(12));

	return 'count(*)' if $what == 0;
	return 'count(*), sum(' . pick(@names)->{name} . '.n), max(' . pick(@names)->{name} . '.tx)'
	  if $what == 1;
	return join(', ', map { $_->{name} } @names) if $what == 2;
	return '1' if $what == 3;
	return join(', ', map { random_column(pick(@names)) } 1 .. pick(1 .. 6));
}

# Aggregates over the rows of some tables: what is selected, and what follows WHERE.  Values
# that are equal and do not look alike are counted, not shown: it does not matter which is taken.
my @alike = qw(n i2 i4 i8 oi tx vc nm da ts tz ti bo ch en uu ls ad ge);
my @not_alike = qw(nu lt f8 iv tt wide bp ar ro);

sub random_aggregate
{
	my (@names) = @_;
	my $column = sub { return pick(@names)->{name} . '.' . pick(@_) };
	my $number = $column->(qw(n i2 i4 i8 nu ad ge));
	my $what = pick(
		'count(*)', 'count(*)', 'count(' . $column->(@alike, @not_alike) . ')',
		"sum($number)", "avg($number)", "stddev($number)",
		pick('min', 'max') . '(' . $column->(qw(n i2 i4 i8 oi da ts tz ti tx uu::text ad ls)) . ')',
		'sum(' . $column->('i4') . '::int8 * ' . $column->('n') . ')',
		pick('sum', 'avg', 'count') . '(' . pick('', '-') . $column->(qw(nu n i2)) . pick(' * (1 - 0.05 * ', ' - (', ' + 1.250 * (2 + ')
		  . $column->(qw(n i2 i8 dn nu)) . '::numeric))',
		pick('sum', 'min') . '(' . $column->(qw(n i2 ad)) . pick(' + ', ' - ') . $column->(qw(n i2)) . ' * 2::int8)',
		'sum(case when ' . $column->('n') . " > 50 then $number end)",
		'max(length(' . $column->('tx', 'wide') . '))',
		'bool_or(' . $column->('bo') . ')', 'bit_xor(' . $column->('i8') . ')',
		'count(distinct ' . $column->(@alike) . ')');

	return $what if chance(75);
	return "$what filter (where " . $column->('n') . pick(' % 3 = 0', ' > 100', ' is null') . ')';
}

# ... which a device can make of integers, and by what.
my @words = qw(n i2 i4 i8 oi da ts tz ti bo ch en ad ge);

sub random_reduction
{
	my (@names) = @_;
	my $column = sub { return pick(@names)->{name} . '.' . pick(@_) };

	return pick('count(*)', 'count(' . $column->(@words) . ')',
		pick('sum', 'sum', 'avg') . '(' . $column->(qw(n i2 i4 i8 dn ad ge)) . ')',
		pick('min', 'max') . '(' . $column->(qw(n i2 i4 i8 oi da ts tz ti ad ge)) . ')');
}

# Aggregates, and groups mostly: a select list, and what follows WHERE.
sub random_grouping
{
	my (@names) = @_;
	my $words = chance(40);
	my @shown = map { $words ? random_reduction(@names) : random_aggregate(@names) } 1 .. pick(1 .. 4);
	my @keys = map { pick(@names)->{name} . '.' . pick($words ? @words : @alike) } 1 .. pick(0, 1, 1, 1, 2, 3);
	my @hidden = map { pick(@names)->{name} . '.' . pick($words ? qw(f4 f8) : @not_alike) } 1 .. pick(0, 0, 0, 1);

	return (join(', ', @shown), '') if !@keys && !@hidden;
	# groups without aggregates, of values that are alike if they are equal
	return ('distinct ' . join(', ', @keys, "coalesce($keys[0], $keys[0])"), '') if @keys && chance(15);
	return (join(', ', @keys, @shown),
		' group by ' . join(', ', @keys, @hidden)
		  . pick('', '', '', ' having count(*) > 1', " having $shown[0] is not null"));
}

# A join of a kind: what follows FROM, its WHERE conditions, and its aliases.
sub random_from
{
	my ($kind) = @_;
	# what is only read again is better large, and its other side small
	my $again = $lateral eq 'none' || $lateral eq 'above';
	my $many = chance($again ? 15 : 45);
	my (@where, @names, $from);

	$tables_left = $many ? 4 : 2;
	my $left = random_side($many);
	my $right = random_side($many || $again && chance(50));
	my $condition = random_condition($left, $right);

	push @where, name_of($left)
	  . pick('.n % 5 <> 0', '.n < 150', '.tx is not null', '.i4 > 20', '.wide is not null')
	  if $kind ne 'full' && chance(35);
	push @where, random_filter(name_of(pick($left, $kind eq 'inner' ? $right : $left)), 2) if $kind ne 'full' && chance(25);
	push @where, name_of($left) . pick('.i4', '.i8') . ' not in (select i4 from '
	  . pick('t2', 't3 where n < 7', 't3 where i4 is not null', 't4 where false') . ')'
	  if $kind ne 'full' && chance(4);
	@names = @{ $left->{names} };
	$from = $left->{from};
	push @where, name_of($left) . '.n ' . pick('>', '<', '<>') . ' o.n'
	  if $kind ne 'full' && $lateral eq 'sides' && chance(30);
	if ($kind eq 'semi')
	{
		push @where, random_exists($left, $right, 0);
	}
	elsif ($kind eq 'anti' && chance(75))
	{
		push @where, random_exists($left, $right, 1);
	}
	elsif ($kind eq 'anti')
	{
		# the planner finds out that the clause lets no NULL through
		my ($operator, @family) = @{ pick(grep { $_->[0] eq '=' } @families) };
		my $inner = name_of($right) . '.' . pick(@family);

		$from .= " left join $right->{from} on " . name_of($left) . '.' . pick(@family) . " = $inner";
		$from .= ' and ' . random_residual($left, $right) if chance(40);
		push @where, "$inner is null";
	}
	else
	{
		push @names, @{ $right->{names} };
		if ($kind eq 'left')
		{
			$from = chance(70) ? "$from left join $right->{from} on $condition"
			  : "$right->{from} right join $from on $condition";
		}
		elsif ($kind eq 'full')
		{
			$from = "$from full join $right->{from} on $condition";
		}
		elsif (chance(60))
		{
			$from .= " join $right->{from} on $condition";
		}
		else
		{
			$from .= ", $right->{from}";
			push @where, $condition;
		}
		my ($l, $r) = (name_of($left), name_of($right));
		push @where,
		  pick("coalesce($r.n, 0) % 2 = 0", "($r.n is null or $r.n > 20)", "$r.i4 is null",
			"$r.n is distinct from $l.n", "coalesce($l.n, $r.n) % 5 <> 0",
			# these could be hash keys, were they not above the join
			"coalesce($l.i4, -1) = coalesce($r.i4, $l.i4, -1)", "$l.lt <=> $r.tx",
			# ... and these are for the rows of one side
			$kind eq 'full' ? () : ("$l.i4 = coalesce($r.i4, $l.i4)", "$l.i8 = coalesce($r.i4, 20)"))
		  if chance(25);
		# what depends on the row outside, and on no side alone
		push @where, pick("coalesce($r.n, $l.n) % 7 <> o.n % 7", "$l.n is distinct from $r.n + o.n")
		  if $lateral eq 'above' && chance(40);
	}
	# a condition that is the same for all rows
	push @where, pick('current_setting($$work_mem$$) is not null', '(select count(*) from t3) > 5')
	  if chance(2);
	return ($from, \@where, \@names);
}

# What may lie above a join: nothing, mostly.
sub above
{
	my ($query) = @_;
	my $not = pick('', 'not ');

	return $query if chance(75);
	return pick(
		# rows that look alike are alike, so that it does not matter which of them stay
		"select s from ($query) s order by s::text collate \"C\" limit 20",
		"select s from ($query) s order by s::text collate \"C\" desc offset 5",
		"select s::text, count(*) from ($query) s group by s::text",
		"select count(distinct s::text), count(*) from ($query) s",
		"select hashtext(s::text) % 7 as g, count(*) from ($query) s group by g having count(*) > 1",
		"select s::text, count(*) over (partition by length(s::text)) from ($query) s",
		"with q as ${not}materialized ($query) select q::text from q union all select q::text from q",
		"select count(*) from ($query) s union all select count(*) from ($query) s",
		"select s::text from ($query) s intersect all select s::text from ($query) s",
		"select s::text from ($query) s union select s::text from ($query) s");
}

# A query begins, which has no row outside.
sub start_query
{
	$aliases = 0;
	$lateral = '';
	$tables_left = 4;
	return;
}

sub random_join
{
	my ($kind) = @_;

	$aliases = 0;
	$lateral = chance(40) ? pick('sides', 'above', 'above', 'none', 'none') : '';
	my ($from, $where, $names) = random_from($kind);
	my $rest = " from $from" . (@$where ? ' where ' . join(' and ', @$where) : '');

	if ($lateral eq '' && chance(25))
	{
		my ($list, $groups) = random_grouping(@$names);

		return above("select $list$rest$groups");
	}
	return above('select ' . random_select_list(@$names) . $rest) if $lateral eq '';

	# once for each row outside
	my $table = 't' . pick(@tiny_table);
	my $rows = 'select ' . pick(@$names)->{name} . '.n as m' . $rest;
	my $limit = pick(1, 1, 'o.n % 5 + 1', 'o.n % 9 * 20 + 30');
	my $query = chance(50) ? $rows
	  : 'select count(*) as c, min(' . pick(@$names)->{name} . '.n) as m' . $rest;
	# ... by a nested loop, or a subplan that is the same each time
	return pick("select o.n, s.m from $table o left join ($query) s on coalesce(s.m, 0) > o.n * 10",
		"select o.n, s.m from $table o left join ($rows) s on coalesce(s.m, 5) % 7 > o.n",
		"select o.n from $table o where exists (select from ($rows offset 0) s where coalesce(s.m, 8) % 9 > o.n)",
		"select o.n from $table o where o.n * 100 > all ($rows)") if $lateral eq 'none';
	return pick("select o.n, o.tx, s.* from $table o, lateral ($query) s",
		"select o.n, s.* from $table o left join lateral ($query) s on true",
		"select o.n, (select count(*) from ($query) s) as c from $table o",
		"select o.n, s.m from $table o left join lateral ($query) s on s.m > o.n * 10",
		"select o.n from $table o where exists (select from ($query offset 0) s where s.m <> o.n * 3)",
		# ... and not to its end, for all of them or for some
		"select o.n, (select count(*) from ($query limit 3) s) as c from $table o",
		"select o.n, exists ($query offset 1) as c from $table o",
		(map {
			"select o.n, (select case when o.n % $_ = 0 then count(*) else sum(m) end
			from ($rows limit case when o.n % $_ = 0 then $limit end) s) as c from $table o"
		} 2, 2, 3, 4));
}

# Aggregates over one table, or what a subquery has of it.
sub random_aggregation
{
	$aliases = 0;
	$lateral = '';
	my $alias = new_alias(table => 1);
	my $table = 't' . pick(@any_table);
	my ($list, $groups) = random_grouping($alias);
	my $where = chance(50) ? ' where ' . random_filter($alias->{name}, 2) : '';

	return above("select $list from $table $alias->{name}$where$groups") if chance(85);
	# once for each row outside
	return pick(
		"select o.n, (select count(*) from (select $list from $table $alias->{name} where $alias->{name}.n % 5 = o.n % 5$groups) s) as c from t2 o",
		"select o.n, s.* from t2 o left join lateral (select $list from $table $alias->{name} where $alias->{name}.n > o.n * 50$groups) s on true");
}

sub random_settings
{
	my ($version) = @_;
	my $parallel = chance(40);
	my $jit = chance(1);
	my %settings = (
		'work_mem' => pick('64kB', '64kB', '64kB', '128kB', '256kB', '1MB', '4MB', '64MB'),
		'hash_mem_multiplier' => pick(1, 1, 2),
		'enable_material' => pick('on', 'off', 'off', 'off'),
		'enable_memoize' => pick('on', 'off'),
		'enable_seqscan' => pick('on', 'on', 'on', 'off'),
		'enable_sort' => pick('on', 'on', 'on', 'off'),
		'hashgraph.build' => pick('auto', 'auto', 'auto', 'v1', 'v2'),
		'hashgraph.probe' => pick('auto', 'auto', 'auto', 'standard', 'intersect'),
		'hashgraph."table"' => pick('auto', 'auto', 'csr', 'ellpack', 'sliced_ellpack', 'dynamic', 'cuckoo', 'dycuckoo'),
		'hashgraph.load_factor' => pick(0.25, 1, 1, 3, 16),
		'hashgraph.bins' => pick(0, 0, 0, 0, 1, 16, 1024),
		'enable_partitionwise_join' => pick('on', 'off'),
		'enable_partitionwise_aggregate' => pick('on', 'off'),
		'jit' => $jit ? 'on' : 'off',
		'jit_above_cost' => $jit ? 0 : 100000,
		'max_parallel_workers_per_gather' => $parallel ? pick(1, 2, 4) : 0,
		# fewer workers than planned, or none
		'max_parallel_workers' => pick(8, 8, 8, 1, 0),
		'parallel_leader_participation' => $parallel ? pick('on', 'off') : 'on',
		# a Gather on top of the whole plan
		($version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') =>
		  $parallel && chance(40) ? 'on' : 'off');

	return join(' ', map { "set $_ = '$settings{$_}';" } sort keys %settings);
}

sub join_kinds { return %join_kinds; }

1;
