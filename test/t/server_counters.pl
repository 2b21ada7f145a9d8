# The counters of hashgraph_stat: each database has its own, they are exact under concurrent counting, and they can be reset.
# Since PostgreSQL 18 they survive a clean restart as PostgreSQL's own statistics do; before, every restart begins at zero.
#
# Versions: counters are a kind of PostgreSQL's statistics since 18.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $kind = 31;        # HG_STAT_KIND of src/backend/hg_counters.c
my $node = new_server('counters');
my $saved = major_version($node) >= 18;
my $join = 'set hashgraph.force = on; select count(*) from l join r using (k)';
my $tables = 'create table l as select i as k from generate_series(1, 1000) i; create table r as table l; analyze l, r';

# Counters of a database, or some of its columns.
sub counters
{
	my ($database, $columns) = @_;

	return $node->safe_psql($database, 'select ' . ($columns // 'joins, matches') . ' from hashgraph_stat');
}

# Rows that were put into table l, by PostgreSQL's own statistics.
sub inserted
{
	return $node->safe_psql('postgres', q{select n_tup_ins from pg_stat_user_tables where relname = 'l'});
}

sub restart_with
{
	my ($name, $value) = @_;

	$node->append_conf('postgresql.conf', "$name = $value\n");
	$node->restart;
}

$node->safe_psql('postgres', $tables);
$node->safe_psql('postgres', 'create database other');
$node->safe_psql('other', "create extension hashgraph; $tables");

# ---------------------------------------------------------------- counting

is(counters('postgres'), '0|0', 'nothing is counted before the first join');
$node->safe_psql('postgres', $join) foreach 1 .. 3;
is(counters('postgres'), '3|3000', 'joins are counted');
is(counters('other'), '0|0', '... in their own database');
$node->safe_psql('other', $join);
is(counters('other'), '1|1000', '... each');
is($node->safe_psql('postgres', "begin; select joins from hashgraph_stat; $join; select joins from hashgraph_stat; commit"), "3\n1000\n4",
	'... and seen at once, in a transaction that has read them too');

# ---------------------------------------------------------------- restarts

my $all = counters('postgres', '*');
my $rows = inserted();

$node->restart;
if ($saved)
{
	is(counters('postgres', '*'), $all, 'a clean restart keeps all counters');
	is(counters('other'), '1|1000', '... of each database');
}
else
{
	is(counters('postgres'), '0|0', 'a restart begins at zero');
	is(counters('other'), '0|0', '... in each database');
}
is(inserted(), $rows, '... and PostgreSQL keeps its own');
$node->safe_psql('postgres', $join);
is(counters('postgres', 'joins'), $saved ? 5 : 1, 'counting goes on');

my $before = $node->safe_psql('postgres', 'select clock_timestamp()');
$node->stop('immediate');
$node->start;
is(counters('postgres'), '0|0', 'counters are zero after a crash');
is(counters('postgres', "stats_reset >= '$before'"), 't', '... and since then');

# ---------------------------------------------------------------- reset

$node->safe_psql($_, $join) foreach 'postgres', 'other';
$before = $node->safe_psql('postgres', 'select clock_timestamp()');
$node->safe_psql('postgres', 'select hashgraph_stat_reset()');
is(counters('postgres'), '0|0', 'counters are reset');
is(counters('postgres', "stats_reset >= '$before'"), 't', '... at the time that is shown');
is(counters('other'), '1|1000', '... of this database alone');
$node->safe_psql('postgres', $join);
my $shown = counters('postgres', 'stats_reset');
$node->restart;
is(counters('postgres', 'stats_reset') eq $shown ? 'kept' : 'new', $saved ? 'kept' : 'new', 'the time of the reset lives as long as the counters');

# ---------------------------------------------------------------- many sessions

my $script = PostgreSQL::Test::Utils::tempdir() . '/join.sql';
append_to_file($script, $join =~ s/; /;\n/r . ";\n");
$node->safe_psql('postgres', 'select hashgraph_stat_reset()');
$node->command_ok([ 'pgbench', '-n', '-c', 8, '-j', 2, '-t', 50, '-f', $script, 'postgres' ], 'eight sessions join at the same time');
is(counters('postgres', 'joins, cpu_joins, outer_rows, inner_rows, matches, rows_out'), '400|400|400000|400000|400000|400000',
	'... and all of it is counted');

# ---------------------------------------------------------------- as PostgreSQL's own

$node->safe_psql('postgres', 'select pg_stat_reset()');
is(counters('postgres', 'joins'), $saved ? 0 : 400, 'pg_stat_reset() resets what is among PostgreSQL\'s statistics');

unless ($saved)
{
	$node->stop;
	done_testing();
	exit;
}

my $other = $node->safe_psql('postgres', q{select oid from pg_database where datname = 'other'});
$node->safe_psql('other', $join);
is($node->safe_psql('postgres', "select pg_stat_have_stats('hashgraph', $other, 0)"), 't', 'a database has an entry');
$node->safe_psql('postgres', 'drop database other');
is($node->safe_psql('postgres', "select pg_stat_have_stats('hashgraph', $other, 0)"), 'f', '... which goes with it');

# ---------------------------------------------------------------- another layout

# what another version has written: its counters are not taken for this one's, and nothing else is lost
$node->safe_psql('postgres', "insert into l values (-1); $join");
my $database = $node->safe_psql('postgres', q{select oid from pg_database where datname = 'postgres'});
my $file = $node->data_dir . '/pg_stat/pgstat.stat';
$rows = inserted();
$node->stop;
open my $handle, '+<:raw', $file or die "cannot open $file: $!";
my $content = do { local $/; <$handle> };
my $key = pack('LLQ', $kind, $database, 0);
my $at = index($content, $key . pack('Q', 1));
cmp_ok($at, '>', 0, 'the statistics file has the counters, and the number of their layout');
seek $handle, $at + length $key, 0;
print $handle pack('Q', 2);
close $handle;
$node->start;
is(counters('postgres'), '0|0', '... counters of another layout are not read');
is(inserted(), $rows, '... and PostgreSQL\'s statistics are');

# ---------------------------------------------------------------- without the library

$node->safe_psql('postgres', $join);
$node->append_conf('postgresql.conf', "hashgraph.save_counters = off\n");
$node->reload;
restart_with('shared_preload_libraries', q{''});
is(inserted(), $rows, 'a server without the library has its own statistics where the counters were not saved');
restart_with('shared_preload_libraries', q{'hashgraph'});
is(counters('postgres'), '0|0', '... and with it the counters begin at zero');
restart_with('hashgraph.save_counters', 'on');
$node->safe_psql('postgres', $join);
$node->restart;
is(counters('postgres', 'joins'), '1', 'they are saved again');

# ---------------------------------------------------------------- an ID that is not free

my $module = build_module('kind/hg_other_kind.c');
$node->append_conf('postgresql.conf', "hashgraph.save_counters = off\n");
$node->reload;
my $end = -s $node->logfile;
restart_with('shared_preload_libraries', "'$module, hashgraph'");
like(slurp_file($node->logfile, $end), qr/WARNING: .*counters of hashgraph will be lost.*\n.*"other" are registered with ID $kind/,
	'a server whose statistics have the ID already says so');
is(counters('postgres'), '0|0', '... and begins at zero');
$node->safe_psql('postgres', $join);
is(counters('postgres'), '1|1000', '... but counts');
is(inserted(), $rows, '... PostgreSQL has kept its own statistics');
$node->stop;
append_to_file($node->data_dir . '/postgresql.conf', "shared_preload_libraries = 'hashgraph, $module'\n");
$end = -s $node->logfile;
ok(!$node->start(fail_ok => 1), 'loaded after hashgraph, the other extension stops the server');
like(slurp_file($node->logfile, $end), qr/FATAL: .*"other" with ID $kind\n.*"hashgraph" already registered with the same ID/, '... and names both');

done_testing();
