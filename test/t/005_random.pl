# Random joins of every kind give the rows that PostgreSQL's own joins give.
#
# Each query runs twice, through HashGraph joins wherever they are possible and with
# hashgraph.enabled off, and the two results are compared as multisets of rows, by
# their text: what comes out must be the very values that went in.
#
# HG_SEED chooses the tables and the queries (the same seed means the same ones),
# HG_QUERIES how many of each kind (100).  A failure shows the query with its settings;
# PG_TEST_NOCLEAN=1 keeps the server's files, with the tables in them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use RandomJoins;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{HG_SEED} // 20;
my $queries = $ENV{HG_QUERIES} // 100;
my @kinds = qw(inner left semi anti);
# what is shown of a failure
my $most_shown = 5;

# random_check(query, kind, backend): 'same, N rows', with ', by node' where the plan had
# a HashGraph join of that kind and ', spilled' where one went to disk; 'different, ...' or
# 'error, ...'.
my $check = <<'SQL';
create function random_check(query text, kind text, backend text) returns text
language plpgsql as $$
declare
  digest constant text := 'select count(*) as n, sum(hashtextextended(r::text, 0)) as h from (%s) r';
  ours record;
  theirs record;
  line text;
  by_node bool := false;
  elsewhere text;
  spilled bool;
  missing text;
  surplus text;
begin
  perform set_config('hashgraph.enabled', 'on', false);
  for line in execute 'explain (costs off) ' || format(digest, query) loop
    by_node := by_node or line ~* ('^ *Join Type: ' || kind || '$');
  end loop;
  execute format(digest, query) into ours;
  select string_agg(distinct j.backend, ' ') filter (where j.backend <> random_check.backend),
         bool_or(j.spilled_bytes > 0)
    into elsewhere, spilled from hashgraph_last_joins() j;
  if elsewhere is not null then
    return 'error, it ran on ' || elsewhere;
  end if;
  perform set_config('hashgraph.enabled', 'off', false);
  execute format(digest, query) into theirs;
  if ours is not distinct from theirs then
    return format('same, %s rows%s%s', ours.n, case when by_node then ', by node' end,
                  case when spilled then ', spilled' end);
  end if;
  execute format('create temp table theirs as select r::text from (%s) r', query);
  perform set_config('hashgraph.enabled', 'on', false);
  execute format('create temp table ours as select r::text from (%s) r', query);
  select string_agg(left(r, 200), ' ') into missing
    from (select r from theirs except all select r from ours limit 3) s;
  select string_agg(left(r, 200), ' ') into surplus
    from (select r from ours except all select r from theirs limit 3) s;
  drop table ours, theirs;
  return format('different, %s rows instead of %s; missing: %s; surplus: %s',
                ours.n, theirs.n, missing, surplus);
exception when others then
  return format('error, %s: %s', sqlstate, sqlerrm);
end
$$;
SQL

# The queries of a kind, each with its settings: [ SET commands, query ].
sub queries_of
{
	my ($kind) = @_;

	srand($seed * 1000 + ord($kind));
	return map { [ random_settings(), random_join($kind) ] } 1 .. $queries;
}

# Run queries in one session; returns what random_check said of each.
sub run_queries
{
	my ($node, $kind, $backend, @batch) = @_;
	my @lines = (
		"set hashgraph.force = on;", "set statement_timeout = '60s';",
		"set hashgraph.backend = $backend;");
	my ($stdout, $stderr);

	push @lines, "\\echo query $_", $batch[$_][0],
	  "select random_check(\$q\$$batch[$_][1]\$q\$, '$kind', '$backend');"
	  for 0 .. $#batch;
	$node->psql('postgres', join("\n", @lines),
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0,
		timeout => $PostgreSQL::Test::Utils::timeout_default + 2 * @batch);
	diag($stderr) if $stderr ne '';

	my %said = $stdout =~ /^query (\d+)\n(?!query)(.*)$/mg;
	return map { $said{$_} // 'error, no result' } 0 .. $#batch;
}

# inputs are read in parallel wherever that is allowed
my $node = new_server('random', conf => <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF

note "HG_SEED=$seed HG_QUERIES=$queries";
$node->safe_psql('postgres', $check . random_tables($seed));

foreach my $covered (backends())
{
	my ($backend, $label) = @$covered{qw(backend label)};

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$covered->{program}'");
	$node->reload;
	foreach my $kind (@kinds)
	{
		my @batch = queries_of($kind);
		my @said = run_queries($node, $kind, $backend, @batch);
		my @failed = grep { $said[$_] !~ /^same,/ } 0 .. $#batch;
		my $by_node = grep { /, by node/ } @said;
		my $with_rows = grep { /^same, [1-9]/ } @said;
		my $spilled = grep { /, spilled$/ } @said;

		is(scalar(@failed), 0, "$label: $queries random $kind joins agree with PostgreSQL's own");
		diag("seed $seed, query $_: $batch[$_][0]\n$batch[$_][1]\n--> $said[$_]")
		  for grep { defined } @failed[ 0 .. $most_shown - 1 ];
		note "$by_node by the node, $with_rows with rows, $spilled went to disk";
		cmp_ok($by_node, '>=', 0.8 * $queries, "$label: most of them were $kind joins of the node");
		cmp_ok($with_rows, '>=', 0.4 * $queries, "$label: many of them had rows");
		cmp_ok($spilled, '>=', 0.03 * $queries, "$label: some of them went to disk");
	}
}

$node->stop;
done_testing();
