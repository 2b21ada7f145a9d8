# A device process that lies: any number that it sends, and any word of the memory that it shares, may
# be nonsense (test/unit/hg_lies.c).  It takes no server down; what can be seen to be nonsense is a
# lost connection, so that under auto all rows are right, and under cuda they are, or there is an error.
#
# HG_LIES_SECONDS says how long each kind of lie goes on at random, at least.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use Test::More;

plan skip_all => 'runs with backend cuda' unless covers('cuda');

my $standin = standin_program();

plan skip_all => 'the stand-in was not built: make unit' unless defined $standin;

my $seconds = $ENV{HG_LIES_SECONDS} // 0;
my $seed = $ENV{HG_LIES_SEED} // 1;

# memory that was freed is of no use to anybody
$ENV{MALLOC_PERTURB_} = 85;

my %nodes = map {
	$_ => new_server("lies_$_", preload => $_ eq 'private' ? 'session' : 'hashgraph', conf => <<'CONF')
work_mem = 16MB
hash_mem_multiplier = 1
hashgraph.force = on
hashgraph.gpu_wait_limit = '2s'
restart_after_crash = off
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
} ('private', 'shared');

foreach my $node (values %nodes)
{
	$node->safe_psql('postgres', <<'SQL');
create table l as select i % 2000 as k, i % 13 as g, i as v, 'l' || i as t from generate_series(1, 8000) i;
create table r as select case when i % 60 > 0 then i % 2500 end as k, i as w, repeat('r', i % 9) as t from generate_series(1, 6000) i;
create table early_l as select i % 2000 as k, i as v, 'e' || i as t from generate_series(1, 60000) i;
create table n as select i::numeric as k, -i as x from generate_series(1, 3000) i;
create table texts as select 'l' || i as t, i as x from generate_series(1, 6000) i;
vacuum analyze;
SQL
}

# Each becomes one line, its name and a digest of its rows, once there is a process: under auto none is
# waited for.
my %queries = (
	'rows' => 'select l.t, r.t from l join r using (k)',
	'values' => 'select v, w from l join r using (k)',
	'a count' => 'select count(*) from l join r using (k)',
	'groups' => 'select g, count(*), count(w), sum(w), min(w), max(v) from l join r using (k) group by g',
	'one group' => 'select count(*), sum(w), max(v) from l join r using (k)',
	'a left join' => 'select l.t, r.t from l left join r using (k)',
	'a full join' => 'select l.t, r.t from l full join r using (k)',
	'a semi join' => 'select l.t from l where exists (select 1 from r where r.k = l.k)',
	'an anti join' => 'select l.t from l where not exists (select 1 from r where r.k = l.k)',
	'hashed keys' => 'select l.t, x from l join n on l.k::numeric = n.k',
	'texts' => 'select l.v, x from l join texts using (t)',
	'many rows' => 'select early_l.t, r.t from early_l join r using (k) where r.w < 100',
	'many matches' => 'select sum((v + w) % 7) from (select v, w from l join r on l.k % 100 = r.k % 100 where w < 3000 offset 0) m',
	'a table' => "select keys, null_keys, rows, kind from hashgraph_table_stats('r', 'k', 'dynamic')",
	'no match' => 'select l.t, r.t from l join r on l.k = r.k + 100000');

my $statements = join '', map {
	"select state from hashgraph_devices();\nselect '$_', count(*), md5(string_agg(q::text, ',' order by q::text)) from ($queries{$_}) q;\n"
} sort keys %queries;
my %expected;

sub answers_of
{
	my ($node, $settings) = @_;
	my ($out, $err);

	$node->psql('postgres', "$settings;\n$statements", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ({ map { /^(.*?)\|(.*)$/ ? ($1, $2) : () } split /\n/, $out }, $err);
}

my %ways = (
	private => 'set max_parallel_workers_per_gather = 0',
	shared => 'set max_parallel_workers_per_gather = 2',
	# processes that join together, and whose memory holds both sides, but not all matches
	'shared, streamed' => "set max_parallel_workers_per_gather = 2; set work_mem = '512kB'",
	'shared, small memory' => 'set max_parallel_workers_per_gather = 0; set work_mem = 256',
	'private, small device' => "set max_parallel_workers_per_gather = 0; set hashgraph.gpu_memory_limit = '256kB'");

foreach my $way (keys %ways)
{
	my ($which) = $way =~ /^(\w+)/;

	($expected{$way}) = answers_of($nodes{$which}, "$ways{$way}; set hashgraph.enabled = off; set hashgraph.backend = cpu");
	is(keys %{ $expected{$way} }, keys %queries, "$way: PostgreSQL's own joins answer");
}

# Run all queries in a way, and compare: returns what is wrong.
sub compare
{
	my ($way, $backend, $believed) = @_;
	my ($which) = $way =~ /^(\w+)/;
	my ($answers, $err) = answers_of($nodes{$which}, "$ways{$way}; set hashgraph.backend = $backend");
	my @wrong;

	foreach my $name (sort keys %queries)
	{
		my $answer = $answers->{$name};

		push @wrong, "$name: " . ($answer // 'no answer') . ", not $expected{$way}{$name}"
		  if defined $answer ? !$believed && $answer ne $expected{$way}{$name} : $backend ne 'cuda' && !$believed;
	}
	# an error is an ordinary one
	push @wrong, $err if $err =~ /server closed the connection|PANIC|FATAL|TRAP/ || (@wrong > 0 && $err ne '');
	return @wrong;
}

sub is_up
{
	my ($which, $name) = @_;
	my $node = $nodes{$which};
	my @died = grep { /was terminated by signal|TRAP:|PANIC:/ && !/device process/ } split /\n/,
	  PostgreSQL::Test::Utils::slurp_file($node->logfile);

	is($node->safe_psql('postgres', 'select 1'), 1, "$name: the server is up ...");
	is("@died", '', '... and no process of it has died');
	return;
}

# ------------------------------------------------------------------ a row that does not exist

foreach my $way (sort keys %ways)
{
	my ($which) = $way =~ /^(\w+)/;

	use_program($nodes{$which}, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_LIES => "'row 1 1'");
	foreach my $backend ('auto', 'cuda')
	{
		my @wrong = compare($way, $backend, 0);

		is(@wrong, 0, "$way, $backend: no row of a number that no row has") or diag(join "\n", @wrong[ 0 .. ($#wrong < 5 ? $#wrong : 5) ]);
	}
	is_up($which, $way);
}

# ------------------------------------------------------------------ a row that comes again

foreach my $way (grep { $_ ne 'shared' && $_ ne 'shared, streamed' } sort keys %ways)
{
	my ($which) = $way =~ /^(\w+)/;

	use_program($nodes{$which}, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_LIES => "'twice 1 1'");

	my @wrong = compare($way, 'auto', 0);

	is(@wrong, 0, "$way: no outer row comes again after another one") or diag(join "\n", @wrong[ 0 .. ($#wrong < 5 ? $#wrong : 5) ]);
}

# ------------------------------------------------------------------ more matches than rows can have, and too few

foreach my $kind ('count', 'fewer')
{
	foreach my $way (sort keys %ways)
	{
		my ($which) = $way =~ /^(\w+)/;

		use_program($nodes{$which}, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_LIES => "'$kind 1 1'");
		foreach my $backend ('auto', 'cuda')
		{
			my @wrong = compare($way, $backend, 0);

			is(@wrong, 0, "$way, $backend: lies of kind $kind: no wrong row") or diag(join "\n", @wrong[ 0 .. ($#wrong < 5 ? $#wrong : 5) ]);
		}
	}
}

# ------------------------------------------------------------------ lies at random

foreach my $kind ('seen', 'memory')
{
	foreach my $way (sort keys %ways)
	{
		my ($which) = $way =~ /^(\w+)/;
		my $end = time + $seconds;
		my @wrong;
		my $rounds = 0;

		do
		{
			my $lies = "'$kind " . ($rounds % 2 ? 3 : 20) . ' ' . ++$seed . "'";

			use_program($nodes{$which}, $standin, HG_STANDIN_FAST => 1, HG_STANDIN_LIES => $lies);
			foreach my $backend ('auto', 'cuda')
			{
				push @wrong, map { "$lies, $backend: $_" } compare($way, $backend, $kind ne 'seen');
			}
			$rounds++;
		} while (time < $end && @wrong == 0);
		is(@wrong, 0, "$way: lies of kind $kind: " . ($kind eq 'seen' ? 'no wrong row' : 'no crash'))
		  or diag(join "\n", @wrong[ 0 .. ($#wrong < 5 ? $#wrong : 5) ]);
		is_up($which, "$way, lies of kind $kind");
	}
}

# a process that lies to its worker ends in good order, but was lost all the same
unlike(PostgreSQL::Test::Utils::slurp_file($nodes{shared}->logfile), qr/has ended: it was idle/, 'no process is taken for one that was idle');

# an honest process is believed again
foreach my $which (sort keys %nodes)
{
	use_program($nodes{$which}, $standin, HG_STANDIN_FAST => 1);
	is(join("\n", compare($which, 'cuda', 0)), '', "$which: an honest process is believed again");
}

done_testing();
