# PostgreSQL 19's module pg_plan_advice: what it says of plans with a HashGraph join, and that plans follow the advice that it is
# given, as far as it speaks of joins that the node may do.
#
# Versions: advice for the planner, since 19.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('advice');
my ($loaded) = $node->psql('postgres', q{load 'pg_plan_advice'});

plan skip_all => 'there is no pg_plan_advice' if $loaded != 0;
$node->safe_psql('postgres', <<'SQL');
create table a as select i as k, i % 100 as v from generate_series(1, 100000) i;
create table b as select i as k, i % 100 as w from generate_series(1, 100000) i;
create table c as select i as k, i % 100 as x from generate_series(1, 100000) i;
create index on b (k);
vacuum analyze a, b, c;
SQL

my $two = 'select count(*) from a join b using (k)';
my $three = 'select count(*) from a join b using (k) join c using (k)';

# A query's plan under advice, and the advice that is generated for it.
sub advised
{
	my ($query, $advice, $enabled) = @_;
	my $settings = "set pg_plan_advice.advice = '$advice'; set hashgraph.enabled = " . ($enabled // 'on');
	my $said = $node->safe_psql('postgres', "load 'pg_plan_advice'; $settings; explain (costs off, plan_advice) $query");
	my ($generated) = $said =~ /^ *Generated Plan Advice:\n(.*)/ms;
	my $plan = $said =~ s/^ *(?:Supplied|Generated) Plan Advice:.*//msr;

	return ($plan, join(' ', split /\s+/, ($generated // '') =~ s/^\s+//r), $said);
}

# What joins do in a plan, from the top, and the tables in the order in which they are read.
sub shape
{
	my ($plan) = @_;

	return join ' ', $plan =~ /(HashGraphJoin|Hash Join|Merge Join|Nested Loop|(?<=Scan on )\w+|(?<=_idx on )\w+)/g;
}

foreach my $case ([ $two, 'SEQ_SCAN(a b) NO_GATHER(a b)' ], [ $three, 'SEQ_SCAN(a b c) NO_GATHER(a b c)' ])
{
	my ($query, $expected) = @$case;
	my ($plan, $advice) = advised($query, '');

	like($plan, qr/HashGraphJoin/, "$query: the plan has a HashGraph join");
	is($advice, $expected, '... its advice names scans, and no join of the node');
	my ($again, undef, $said) = advised($query, $advice);
	is($again, $plan, '... and keeps the plan');
	unlike($said, qr/failed|not matched/, '... all of it');
}

is(shape((advised($two, 'JOIN_ORDER(b a)'))[0]), 'HashGraphJoin b a', 'an order of two tables is followed');
is(shape((advised($two, 'JOIN_ORDER(a b)'))[0]), 'HashGraphJoin a b', '... and the other one');
like(shape((advised($three, 'JOIN_ORDER(c b a)'))[0]), qr/^\w+ ?\w* (?:HashGraphJoin|Hash Join) c b a$/, '... and that of three tables');
is(shape((advised($two, 'HASH_JOIN(b)'))[0]), 'HashGraphJoin a b', 'a hash join is asked for: the node is one');
is(shape((advised($two, 'MERGE_JOIN_PLAIN(b)'))[0]), 'Merge Join a b', 'a merge join is asked for');
is(shape((advised($two, 'NESTED_LOOP_PLAIN(b)'))[0]), 'Nested Loop a b', 'a nested loop is asked for');

# Advice that is made without the extension names hash joins, which the node may do.
my ($theirs, $advice) = advised($three, '', 'off');
like($advice, qr/JOIN_ORDER\(.*HASH_JOIN\(/, 'advice for a plan of PostgreSQL names an order and hash joins');
my ($ours_order, $their_order) = map { join ' ', grep { /^[abc]$/ } split / /, shape($_) } (advised($three, $advice))[0], $theirs;
is($ours_order, $their_order, '... whose order the plan with the extension has');
my ($rows, $expected) = map { $node->safe_psql('postgres', "load 'pg_plan_advice'; set pg_plan_advice.advice = '$advice'; set hashgraph.enabled = $_; select count(*), sum(v), sum(w), sum(x) from a join b using (k) join c using (k)") } 'on', 'off';
is($rows, $expected, '... with the same rows');
$node->stop;
done_testing();
