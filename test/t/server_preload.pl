# CREATE EXTENSION where nothing preloads the library warns with the line to run, and
# that line is all it takes.  What else may load the library there changes no plan.
#
# Versions: how libraries are loaded.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('preload', preload => '');
my $database = q{na"me's own};
my ($stdout, $stderr);

$node->safe_psql('postgres', 'create database "na""me\'s own"');

$node->psql($database, 'create extension hashgraph', stderr => \$stderr);
like($stderr, qr/WARNING:/, 'a warning without preload');
my ($line) = $stderr =~ /(ALTER DATABASE .* SET session_preload_libraries = [^;\n]*)/;
ok(defined $line, 'the warning has the line to run') or diag($stderr);
is($line, q{ALTER DATABASE "na""me's own" SET session_preload_libraries = 'hashgraph'},
	'... for this database, quoted');

my $setup = <<'SQL';
create table l as select i as k from generate_series(1, 100000) i;
create table r as select i as k from generate_series(1, 100000) i;
analyze l, r;
SQL
$node->safe_psql($database, $setup);
my $explain = 'explain (costs off) select count(*) from l join r using (k)';
unlike($node->safe_psql($database, $explain), qr/HashGraphJoin/, 'no node before');

# whatever loads the library: functions work, and plans are PostgreSQL's, however much the node is wanted
my $wanted = "set hashgraph.force = on; $explain; explain (costs off) select count(*), k from l group by k";
my $joined = "select count(*) from hashgraph_join('l', 'k', 'r', 'k')";
my $last = 'select node, matches from hashgraph_last_joins()';
my %loads = (
	'LOAD' => "load 'hashgraph'",
	'a function' => 'select count(*) from hashgraph_join(array[1], array[1])',
	'DROP and CREATE EXTENSION' => 'drop extension hashgraph; create extension hashgraph',
	'hashgraph_join() over tables' => $joined);
foreach my $what (sort keys %loads)
{
	unlike($node->safe_psql($database, "set client_min_messages = error; $loads{$what}; $wanted"), qr/HashGraph/,
		"$what changes no plan");
}
is($node->safe_psql($database, "$joined; $last"), "100000\nHashGraphJoin|100000", 'hashgraph_join() is the node all the same');
is($node->safe_psql($database, "$joined; $joined; $last; discard all; $last"), "100000\n100000\nHashGraphJoin|100000",
	'... and statements, and DISCARD ALL, are told apart');
is($node->safe_psql($database, q{select matches from hashgraph_probe_stats('l', 'k', 'r', 'k')}), '100000', '... as statistics are');
# planning that fails leaves nothing behind
$node->safe_psql($database, 'create table e as select 1 as k; alter table e enable row level security; alter table e force row level security;'
	  . 'create function one_of(int) returns int immutable language plpgsql as $$ begin return 1 / $1; end $$;'
	  . 'create policy p on e using (k = one_of(0)); create role reader; grant select on e, l to reader');
$node->psql($database, "set role reader; select hashgraph_join('e', 'k', 'l', 'k'); reset role; $wanted",
	on_error_stop => 0, stdout => \$stdout, stderr => \$stderr);
like($stderr, qr/division by zero/, 'hashgraph_join() whose planning fails');
like($stdout, qr/Hash Join/, '... is followed by plans');
unlike($stdout, qr/HashGraph/, '... of PostgreSQL\'s');
is( $node->safe_psql($database, 'select setting from pg_settings where name = \'session_preload_libraries\''),
	'', 'CREATE EXTENSION changed nothing by itself');

$node->safe_psql($database, $line);
like($node->safe_psql($database, $explain), qr/Custom Scan \(HashGraphJoin\)/,
	'a fresh session has the node');
is($node->safe_psql($database, 'select count(*) from l join r using (k)'), '100000', '... and its rows');
unlike($node->safe_psql('postgres', 'show session_preload_libraries'), qr/hashgraph/,
	'another database is as it was');
is( $node->safe_psql($database, q{select distinct join_type from hashgraph_last_joins()}), '',
	'a fresh session has no last joins');

# what is there already is kept
$node->safe_psql('postgres', 'create database other');
$node->safe_psql('postgres', q{alter database other set session_preload_libraries = 'auto_explain'});
$node->psql('other', 'create extension hashgraph', stderr => \$stderr);
like($stderr, qr/session_preload_libraries = 'auto_explain', 'hashgraph'/, 'the line keeps a setting that is there')
  or diag($stderr);
# ... and where the library is there, nothing is said
$node->safe_psql('postgres', 'create database quiet');
$node->safe_psql('postgres', q{alter database quiet set session_preload_libraries = 'hashgraph'});
$node->psql('quiet', 'create extension hashgraph', stderr => \$stderr);
is($stderr, '', 'no warning with session_preload_libraries');

# counters in shared memory need more
$node->psql($database, 'select * from hashgraph_stat', stderr => \$stderr);
like($stderr, qr/HINT: .*shared_preload_libraries/, 'hashgraph_stat says what it needs');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'hashgraph'\n");
$node->restart;
is($node->safe_psql($database, 'select joins from hashgraph_stat'), '0', 'hashgraph_stat with shared_preload_libraries');
$node->safe_psql('postgres', 'create database shared');
$node->psql('shared', 'create extension hashgraph', stderr => \$stderr);
is($stderr, '', 'no warning with shared_preload_libraries');
$node->safe_psql($database, 'select count(*) from l join r using (k)');
is($node->safe_psql($database, 'select joins, cpu_joins, matches from hashgraph_stat'), '1|1|100000',
	'a join is counted');

# off is off, gone is gone
$node->safe_psql('shared', $setup);
unlike($node->safe_psql('shared', "set hashgraph.enabled = off; $explain"), qr/HashGraphJoin/, 'switched off');
$node->safe_psql('shared', 'drop extension hashgraph');
is($node->safe_psql('shared', 'select count(*) from l join r using (k)'), '100000', 'joins without the extension');

$node->stop;
done_testing();
