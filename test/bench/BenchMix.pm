# BenchMix.pm
#
# Joins of which no two are alike: of tables of seven sizes with tables of four, by keys of four types, for counts, sums,
# rows, groups, cursors, by processes together, in ranges, and some that are cancelled.
#
# A large table has row i = 0 .. rows - 1 with key i * odd % keys + 1, where keys is its rows, or a part of them, so that each
# key is there rows / keys times.  A small one has the keys 1 .. rows, once each.  All other columns follow from the key,
# so that what a join finds is known without joining.

package BenchMix;

use strict;
use warnings;

use List::Util qw(min);

# Rows of the tables, in parts of what is asked for, and how often the large ones have each key.
my @LARGE = ([ 0.06, 1 ], [ 0.125, 5 ], [ 0.25, 1 ], [ 0.5, 25 ], [ 1, 1 ], [ 2, 5 ], [ 4, 1 ]);
my @SMALL = (0.001, 0.02, 0.2, 1);

# The moduli of the columns that follow from the key.
my ($V, $W, $G) = (1009, 97, 50);

# A mix of joins of tables with about so many rows; every one of its choices follows from the seed.
sub new
{
	my ($class, $rows, $seed) = @_;
	my $self = bless { rows => $rows, large => [], small => [] }, $class;

	srand $seed;
	foreach my $n (0 .. $#LARGE)
	{
		my ($part, $times) = @{ $LARGE[$n] };
		my $keys = int($rows * $part / $times + 1);
		push @{ $self->{large} }, { name => "mix_a$n", rows => $keys * $times, keys => $keys };
	}
	push @{ $self->{small} }, { name => "mix_b$_", rows => int($rows * $SMALL[$_] + 1) } foreach 0 .. $#SMALL;
	return $self;
}

# What stands in the catalogue with each table.
sub comment
{
	my ($self) = @_;

	return "mix of $self->{rows}";
}

# SQL that makes the tables, a part for each session that is to make some, and what a fetch from a cursor needs.
sub tables_sql
{
	my ($self) = @_;
	my @parts;

	foreach my $table (@{ $self->{large} }, @{ $self->{small} })
	{
		my $keys = $table->{keys} // $table->{rows};
		# odd, and far from a divisor of the number of keys
		my $factor = int($keys * 0.618) | 1;
		$factor++ until common_divisor($factor, $keys) == 1;
		push @parts, "drop table if exists $table->{name};\n"
		  . "create table $table->{name} (k int not null, k8 bigint not null, u uuid not null, t text not null,"
		  . " v int not null, w int not null, g int not null);\n"
		  . "insert into $table->{name} select k, k * 1000003::bigint, lpad(to_hex(k), 32, '0')::uuid, 'key ' || k, k % $V, k % $W, k % $G"
		  . " from (select (i * $factor % $keys + 1)::int as k from generate_series(0::bigint, $table->{rows} - 1) i) s;\n"
		  . "vacuum (analyze) $table->{name};\ncomment on table $table->{name} is '@{[ $self->comment ]}';\n";
	}
	push @parts, <<'SQL';
create or replace function mix_fetch(query text, most int, pause float8) returns text language plpgsql as $$
declare
  c refcursor;
  r record;
  count int := 0;
  wrong int := 0;
begin
  open c for execute query;
  loop
    fetch c into r;
    exit when not found;
    count := count + 1;
    if not r.good then wrong := wrong + 1; end if;
    exit when count = most;
    if count = most / 2 then perform pg_sleep(pause); end if;
  end loop;
  close c;
  return count || ' ' || wrong;
end $$;
SQL
	return @parts;
}

sub common_divisor
{
	my ($a, $b) = @_;

	($a, $b) = ($b, $a % $b) while $b > 0;
	return $a;
}

# The sum of k % m over k = 1 .. n.
sub sum_of
{
	my ($n, $m) = @_;
	my ($q, $r) = (int($n / $m), $n % $m);

	return $q * $m * ($m - 1) / 2 + $r * ($r + 1) / 2;
}

# What is asked of a join, by name: the statement's target list, or all of it, and the result.
my %KINDS = (
	counts => sub {
		my ($j) = @_;
		return ("select count(*)::text as r from $j->{from}", $j->{pairs});
	},
	sums => sub {
		my ($j) = @_;
		return ("select concat_ws(' ', count(*), sum(a.v), sum(b.w), max(a.k8)) as r from $j->{from}",
			join ' ', $j->{pairs}, $j->{times} * sum_of($j->{keys}, $V), $j->{times} * sum_of($j->{keys}, $W), $j->{keys} * 1000003);
	},
	# to a plan above, which the join can't be one with
	rows => sub {
		my ($j) = @_;
		return ("select concat_ws(' ', count(*), sum(x)) as r from (select a.v + b.w as x from $j->{from} offset 0) s",
			join ' ', $j->{pairs}, $j->{times} * (sum_of($j->{keys}, $V) + sum_of($j->{keys}, $W)));
	},
	texts => sub {
		my ($j) = @_;
		return ("select concat_ws(' ', count(*), sum(length(x)) - sum(length(y))) as r from (select a.t as x, b.t as y from $j->{from} offset 0) s",
			"$j->{pairs} 0");
	},
	groups => sub {
		my ($j) = @_;
		return ("select concat_ws(' ', count(*), sum(c), sum(s)) as r from (select b.g, count(*) as c, sum(a.v) as s from $j->{from} group by b.g) s",
			join ' ', min($j->{keys}, $G), $j->{pairs}, $j->{times} * sum_of($j->{keys}, $V));
	},
	outer => sub {
		my ($j) = @_;
		return ("select concat_ws(' ', count(*), count(b.w)) as r from $j->{a} a left join $j->{b} b on $j->{on}", "$j->{rows} $j->{pairs}");
	},
	anti => sub {
		my ($j) = @_;
		return ("select count(*)::text as r from $j->{a} a where not exists (select from $j->{b} b where $j->{on})", $j->{rows} - $j->{pairs});
	},
	semi => sub {
		my ($j) = @_;
		return ("select count(*)::text as r from $j->{b} b where exists (select from $j->{a} a where $j->{on})", $j->{keys});
	},
	cursor => sub {
		my ($j) = @_;
		my ($most, $pause) = (2 + int(rand 3000), rand 0.05);
		return ("select mix_fetch('select a.k = b.k and a.v = b.k % $V and b.w = a.k % $W as good from $j->{from}', $most, $pause) as r",
			min($most, $j->{pairs}) . ' 0');
	},
	cancelled => sub {
		my ($j) = @_;
		return ("select concat_ws(' ', count(*), sum(x)) as r from (select a.v + b.w as x from $j->{from} offset 0) s",
			join(' ', $j->{pairs}, $j->{times} * (sum_of($j->{keys}, $V) + sum_of($j->{keys}, $W))),
			statement_timeout => 1 + int(rand 60));
	},);

# Ways of joining, as settings: most of them plain.
my @WAYS = (
	[], [], [], [],
	[ 'hashgraph.gpu_memory_limit' => '4MB' ],
	[ work_mem => '1MB' ],
	[ 'hashgraph.build' => 'v2', 'hashgraph.probe' => 'intersect' ],
	[ 'hashgraph.build' => 'v1', 'hashgraph.load_factor' => '4' ],
	[ max_parallel_workers_per_gather => 2, parallel_setup_cost => 0, parallel_tuple_cost => 0, min_parallel_table_scan_size => 0 ],
	[ max_parallel_workers_per_gather => 1, parallel_setup_cost => 0, parallel_tuple_cost => 0, min_parallel_table_scan_size => 0 ],);

sub any { return $_[ rand @_ ]; }

# How many tables there are.
sub table_count
{
	return @LARGE + @SMALL;
}

# A join that is always the same, as next_join gives it.
sub plain_join
{
	my ($self) = @_;
	my ($a, $b) = ($self->{large}[3], $self->{small}[2]);

	return {
		sql => "select count(*)::text as r from $a->{name} a join $b->{name} b using (k)",
		expected => min($a->{keys}, $b->{rows}) * $a->{rows} / $a->{keys},
		settings => [], cancelled => 0 };
}

# The next join: a hash of sql, which gives one row with column r; expected, what r is; settings, a list, for it alone;
# cancelled, whether a timeout may end it.
sub next_join
{
	my ($self) = @_;
	my ($large, $small) = (any(@{ $self->{large} }), any(@{ $self->{small} }));
	my $key = any(qw(k k k8 k8 u t));
	my $kind = any(sort keys %KINDS);
	my %join = (a => $large->{name}, b => $small->{name}, on => "a.$key = b.$key", rows => $large->{rows},
		keys => min($large->{keys}, $small->{rows}), times => $large->{rows} / $large->{keys});

	$join{pairs} = $join{keys} * $join{times};
	$join{from} = "$join{a} a join $join{b} b on $join{on}";
	my ($sql, $expected, @settings) = $KINDS{$kind}->(\%join);
	return { sql => $sql, expected => "$expected", settings => [ @settings, @{ any(@WAYS) } ], cancelled => $kind eq 'cancelled' };
}

1;
