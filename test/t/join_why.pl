# Why joins are PostgreSQL's own: what hashgraph_last_plan() and EXPLAIN (HASHGRAPH) say of each join of three workloads is what
# the planner acts on, and the option's output can be read by programs.
#
# Takes long: it loads three workloads.
# Versions: EXPLAIN (HASHGRAPH) is of PostgreSQL 18 and later.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../bench";
use BenchWorkload qw(load_workload workload_queries);
use HashGraphTest;
use JSON::PP qw(decode_json);
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

# The closed list, of joins and of aggregations.
my %join_reasons = map { $_ => 1 } (
	"costs more than PostgreSQL's plan",
	'fewer input rows than hashgraph.min_rows',
	'no hashable equality clause',
	'lateral reference between the inputs',
	'input column that cannot be returned',
	'clause without columns',
	'hashgraph.enabled is off',
	'enable_hashjoin is off');
my %group_reasons = map { $_ => 1 } (
	"costs more than PostgreSQL's plan",
	'fewer input rows than hashgraph.min_rows',
	'grouping sets',
	'volatile or unhashable group column',
	'unsupported aggregate',
	'hashgraph.enabled is off',
	'enable_hashagg is off');
my $few_rows = 'fewer input rows than hashgraph.min_rows';
my $costs = "costs more than PostgreSQL's plan";
my $no_clause = 'no hashable equality clause';

my $node = new_server('why', conf => "fsync = off\nwork_mem = '64MB'\nhashgraph.min_rows = 1000\n");
my ($version) = $node->safe_psql('postgres', 'show server_version_num') =~ /^(\d+)\d{4}$/;
my $explains = $version >= 18;

# For load_workload().
sub query
{
	my (undef, $sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# The plan of a query, and the steps that are told of it, under settings.
sub explained
{
	my ($sql, @settings) = @_;
	my @statements = grep { /\S/ } split /;\s*$/m, $sql;
	my $last = pop @statements;
	my $said = $node->safe_psql('postgres', join('', map { "$_;\n" } (map { "set $_" } @settings), @statements)
		  . "explain (format json, verbose) $last;\nselect 'STEPS';\nselect coalesce(json_agg(p order by step), '[]') from hashgraph_last_plan() p;");
	my ($plan, $steps) = $said =~ /^(.*)\nSTEPS\n(.*)$/s or die "not understood: $said";

	return (decode_json($plan)->[0]{Plan}, decode_json($steps));
}

# The names of a plan's join nodes, but for the nested loops that adaptive joins have beside them.
sub join_nodes
{
	my ($plan) = @_;
	my @below = @{ $plan->{Plans} // [] };
	my $provider = $plan->{'Custom Plan Provider'} // '';
	my @found;

	push @found, $plan->{'Node Type'} if $plan->{'Node Type'} =~ /^(?:Hash Join|Merge Join|Nested Loop)$/;
	if ($provider eq 'HashGraphJoin')
	{
		push @found, $provider;
		@below = @below[ 0, 1 ];
	}
	return (@found, map { join_nodes($_) } @below);
}

# The aliases of a plan's scans.
sub aliases
{
	my ($plan) = @_;

	return ($plan->{Alias} // (), map { aliases($_) } @{ $plan->{Plans} // [] });
}

# Conditions of a plan's nodes.
sub conditions
{
	my ($plan) = @_;

	return ((map { $plan->{$_} } grep { / Cond$|Filter$/ } keys %$plan), map { conditions($_) } @{ $plan->{Plans} // [] });
}

# The nested loops of a plan whose sides an equality compares, wherever it is tested: by what they join.
sub loops_by_equality
{
	my ($plan) = @_;
	my @below = @{ $plan->{Plans} // [] };
	my @found = map { loops_by_equality($_) } @below;

	if ($plan->{'Node Type'} eq 'Nested Loop')
	{
		my ($outer, $inner) = map { { map { $_ => 1 } aliases($_) } } @below[ 0, 1 ];
		my @pairs = map { [ /(\w+)\.\w+ = (\w+)\.\w+/g ] } map { split / AND /, $_ } $plan->{'Join Filter'} // (), conditions($below[1]);

		push @found, join(', ', sort keys %$outer, keys %$inner)
		  if grep { @$_ && ($outer->{ $_->[0] } && $inner->{ $_->[1] } || $outer->{ $_->[1] } && $inner->{ $_->[0] }) } @pairs;
	}
	return @found;
}

sub relations
{
	my ($step) = @_;

	return join(', ', sort @{ $step->{relations} });
}

# What is wrong with a step of a plan, or nothing, given what is said of the query's joins with min_rows = 0 and with force.
sub step_trouble
{
	my ($step, $plan, $unbounded, $forced) = @_;
	my $reason = $step->{reason} // '';
	my $reasons = $step->{operation} eq 'join' ? \%join_reasons : \%group_reasons;
	my $of = "$step->{node} of " . relations($step);

	return $reason eq '' ? () : "$of is ours, and has a reason" if $step->{chosen};
	return "$of: '$reason' is no reason" unless $reasons->{$reason};
	return () if $step->{operation} ne 'join';
	return "$of: $reason, but it is not of min_rows" if $reason eq $few_rows && grep { ($_->{reason} // '') eq $few_rows } @$unbounded;
	# others may join the same relations, of more than two in another order, or because their order is wanted
	my ($other) = grep { $_->{operation} eq 'join' && relations($_) eq relations($step) } @$forced;
	return "$of: $reason, but force does not have it: $other->{reason}"
	  if $reason eq $costs && $other && !$other->{chosen} && (@{ $step->{relations} } == 2 || $other->{reason} ne $costs);
	return "$of: $reason, but force has it" if $reason eq $no_clause && $other && $other->{chosen} && @{ $step->{relations} } == 2;
	return "$of: $reason, but there is an equality" if $reason eq $no_clause && grep { $_ eq relations($step) } loops_by_equality($plan);
	return ();
}

foreach my $workload ('film', 'tpch', $ENV{HG_QUICK} ? () : 'retail')
{
	my $scale = 0.02;
	my (%reasons, @left);

	load_workload(bless({}, 'main'), $workload, $scale);
	foreach my $query (workload_queries($workload, $scale))
	{
		my @settings = ("search_path = $workload, public");
		my ($plan, $steps) = explained($query->{sql}, @settings);
		my (undef, $unbounded) = explained($query->{sql}, @settings, 'hashgraph.min_rows = 0');
		my (undef, $forced) = explained($query->{sql}, @settings, 'hashgraph.force = on');
		my @joins = grep { $_->{operation} eq 'join' } @$steps;

		is("@{[ sort map { $_->{node} } @joins ]}", "@{[ sort(join_nodes($plan)) ]}", "$query->{name}: each join is told of");
		is(join('; ', map { step_trouble($_, $plan, $unbounded, $forced) } @$steps), '', "$query->{name}: reasons are true");
		$reasons{ $_->{chosen} ? 'chosen' : $_->{reason} }++ foreach @joins;
	}
	diag("$workload: " . join(', ', map { "$reasons{$_} $_" } sort keys %reasons));
	cmp_ok(keys %reasons, '>=', 3, "$workload has joins with several reasons");
}

# ---------------------------------------------------------------- the option of EXPLAIN

$node->safe_psql('postgres', <<'SQL');
create table a as select i as id, i % 100 as v from generate_series(1, 5000) i;
create table "B b" as select * from a;
create table small as select * from a where id <= 10;
create table copies (id int);
create rule also as on insert to copies do also select count(*) from a join "B b" b using (id) where b.v = new.id;
analyze;
create function inner_joins() returns bigint volatile language plpgsql as
$$ begin return (select count(*) from small x join small y using (id)); end $$;
SQL
my $join = 'select count(*) from a join "B b" using (id) left join small s on s.id = "B b".v and a.v < 50';
my $small = 'select s.id from small s join small t using (id)';
my ($stdout, $stderr);

if (!$explains)
{
	$node->psql('postgres', "explain (hashgraph) $join", stderr => \$stderr);
	like($stderr, qr/unrecognized EXPLAIN option "hashgraph"/, 'before PostgreSQL 18 there is no such option');
	$node->stop;
	done_testing();
	exit;
}

# What EXPLAIN (HASHGRAPH) says after its plan: the lines of text, without the indentation.
sub told
{
	my ($sql, $options) = @_;
	my $said = $node->safe_psql('postgres', ($sql =~ s/explain/explain (hashgraph, costs off@{[ $options ? ", $options" : '' ]})/r));

	return $said =~ /^ ?HashGraph:\n((?:.*\n?)*)/m ? $1 =~ s/^ +//mgr : '';
}

is(told("explain $join"), <<'TEXT' =~ s/\n\z//r, 'text');
HashGraphAggregate of a, "B b", s: chosen
HashGraphJoin of a, "B b", s: chosen
HashGraphJoin of a, "B b": chosen
TEXT
is(told("explain $small"), "Hash Join of s, t: not chosen, $few_rows", 'text of a join that is not ours');
unlike($node->safe_psql('postgres', "explain (hashgraph off) $join"), qr/HashGraph:/, 'the option can be off');
unlike($node->safe_psql('postgres', "explain $join"), qr/HashGraph:/, '... and is so');
unlike($node->safe_psql('postgres', 'explain (hashgraph) select 1'), qr/HashGraph:/, 'nothing is said where nothing was considered');
is(told("set hashgraph.enabled = off; explain $small"), 'Hash Join of s, t: not chosen, hashgraph.enabled is off', 'switched off');

# programs read the same as a query
foreach my $sql ($join, $small)
{
	my $plan = decode_json($node->safe_psql('postgres', "explain (hashgraph, format json) $sql"))->[0];
	my (undef, $steps) = explained($sql);
	my @expected = map { {
		Operation => ucfirst $_->{operation}, Node => $_->{node}, Relations => $_->{relations}, Chosen => $_->{chosen},
		defined $_->{reason} ? (Reason => $_->{reason}) : () } } @$steps;

	is_deeply($plan->{HashGraph}, \@expected, 'JSON, and the function says the same');
}
is_deeply(decode_json($node->safe_psql('postgres', 'explain (hashgraph, format json) select 1'))->[0]{HashGraph}, [],
	'JSON of a statement without joins');
like($node->safe_psql('postgres', "explain (hashgraph, format yaml) $small"),
	qr/^\s*HashGraph: *\n\s+- Operation: "Join"\n\s+Node: "Hash Join"\n\s+Relations: *\n\s+- "s"\n\s+- "t"\n\s+Chosen: false\n\s+Reason: "$few_rows"$/m, 'YAML');
my $xml = $node->safe_psql('postgres', "explain (hashgraph, format xml) $small");
like($xml, qr{<HashGraph>\s*<Step>\s*<Operation>Join</Operation>\s*<Node>Hash Join</Node>\s*<Relations>\s*<Item>s</Item>\s*<Item>t</Item>\s*</Relations>\s*<Chosen>false</Chosen>\s*<Reason>$few_rows</Reason>\s*</Step>\s*</HashGraph>},
	'XML');
SKIP:
{
	$node->psql('postgres', "select xml_is_well_formed('<a/>')", stdout => \$stdout) == 0 or skip 'PostgreSQL was built without libxml', 1;
	is($node->safe_psql('postgres', "select xml_is_well_formed_document(\$xml\$$xml\$xml\$)"), 't', '... is well formed');
}

# which plan
my $generic = 'set plan_cache_mode = force_generic_plan; prepare p (int) as select from small s join small t using (id) where s.v = $1;';
is(told("$generic explain execute p(1)"), "Hash Join of s, t: not chosen, $few_rows", 'a plan that is made for EXPLAIN');
is(told("$generic execute p(1); explain execute p(1)"), 'Hash Join of s, t: not chosen, unknown: cached plan', 'a cached one');
is(told("set plan_cache_mode = force_custom_plan; prepare p (int) as select from small s join small t using (id) where s.v = \$1; execute p(1); explain execute p(1)"),
	"Hash Join of s, t: not chosen, $few_rows", 'a plan that is made for each execution');
like(told('explain select inner_joins() from small k join small l using (id)', 'analyze, timing off, summary off'),
	qr/\AHash Join of k, l: not chosen, $few_rows\n?/, 'joins of functions that the statement calls are not its own');
is(() = $node->safe_psql('postgres', 'explain (hashgraph, costs off) insert into copies select s.id from small s join small t using (id)') =~ /HashGraph:/g, 2,
	'each plan of a rule');
unlike($node->safe_psql('postgres', 'explain (hashgraph, costs off) insert into copies select s.id from small s join small t using (id)'), qr/unknown/,
	'... has reasons');
is($node->safe_psql('postgres', <<'PSQL'), "0\n{s,t}|$few_rows\n0\n{s,t}|unknown: cached plan", 'a statement that a client has prepared');
set plan_cache_mode = force_generic_plan;
select count(s.id) filter (where false) from small s join small t using (id) where s.v = $1 \parse prepared
\bind_named prepared 1 \g
select relations, reason from hashgraph_last_plan() where operation = 'join';
\bind_named prepared 1 \g
select relations, reason from hashgraph_last_plan() where operation = 'join';
PSQL
is(told("explain create table made as $small"), "Hash Join of s, t: not chosen, $few_rows", 'CREATE TABLE AS');
is(told("explain declare c cursor for $small") =~ s/^(?:Hash Join|Nested Loop)//r, " of s, t: not chosen, $few_rows", 'DECLARE CURSOR');
$node->safe_psql('postgres', 'create function explained(query text, out line text) returns setof text language plpgsql as '
	  . '$$ begin for line in execute query loop return next; end loop; end $$');
my $within = "explain (hashgraph, costs off) $small";
like($node->safe_psql('postgres', "select explained('$within')"), qr/Hash Join of s, t: not chosen, $few_rows$/, 'EXPLAIN in a function');
like($node->safe_psql('postgres', "select explained('$within') from small x join small y using (id)"), qr/Hash Join of s, t: not chosen, $few_rows$/,
	'... of a statement with joins');
like($node->safe_psql('postgres', "$generic execute p(1); select explained('explain (hashgraph) execute p(1)')"),
	qr/Hash Join of s, t: not chosen, unknown: cached plan$/, '... of a cached plan');
is($node->safe_psql('postgres', "create temp table made as $small; select relations, reason from hashgraph_last_plan()"), "{s,t}|$few_rows", 'CREATE TABLE AS that runs');
is($node->safe_psql('postgres', "begin; declare c cursor for $small; fetch 1 from c; select relations, reason from hashgraph_last_plan()") =~ s/.*\n//r,
	"{s,t}|$few_rows", 'a cursor');
$node->stop;

# where the library is loaded, and plans nothing
my $other = new_server('other', preload => '');
$other->safe_psql('postgres', 'set client_min_messages = error; create extension hashgraph; create table small as select 1 as id; analyze');
like($other->safe_psql('postgres', "load 'hashgraph'; explain (hashgraph, costs off) $small"),
	qr/of s, t: not chosen, library not preloaded$/m, 'a session that does not preload the library');
$other->stop;

done_testing();
