# Version 0.1.0 of the extension works with the library of today, and ALTER EXTENSION
# UPDATE makes of it what CREATE EXTENSION would; pg_dump and pg_restore carry it over.
#
# Versions: what pg_dump and ALTER EXTENSION do.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use File::Basename;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('upgrade');
my $version = $node->safe_psql('postgres',
	q{select default_version from pg_available_extensions where name = 'hashgraph'});

# What there is of the extension in a database, without OIDs: one line for each object
# with all that its catalog row says of it, and one for each dependency.
my $describe = <<'SQL';
select string_agg(line, E'\n' order by line collate "C") from (
	select format('%s: %s', o.identity, to_jsonb(p) - 'oid' - 'prorettype' - 'proallargtypes' - 'proargdefaults'
			- 'prosqlbody' || jsonb_build_object('result', pg_get_function_result(p.oid),
				'arguments', pg_get_function_arguments(p.oid), 'acl', p.proacl::text,
				'initial', i.initprivs::text, 'comment', obj_description(p.oid, 'pg_proc'))) as line
	from pg_proc p
		join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
		join pg_extension e on e.oid = d.refobjid and e.extname = 'hashgraph'
		left join pg_init_privs i on i.classoid = d.classid and i.objoid = p.oid,
		pg_identify_object('pg_proc'::regclass, p.oid, 0) o
	union all
	select format('%s: %s', c.relname, jsonb_build_object('definition', pg_get_viewdef(c.oid),
			'acl', c.relacl::text, 'initial', i.initprivs::text, 'comment', obj_description(c.oid, 'pg_class')))
	from pg_class c
		join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
		join pg_extension e on e.oid = d.refobjid and e.extname = 'hashgraph'
		left join pg_init_privs i on i.classoid = d.classid and i.objoid = c.oid
	union all
	select format('%s depends on %s: %s', pg_describe_object(d.classid, d.objid, d.objsubid),
			pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid), d.deptype)
	from pg_depend d
	where pg_describe_object(d.classid, d.objid, d.objsubid) like '%hashgraph%'
) s
SQL

my $tables = <<'SQL';
create table l as select i % 70000 as k, i as v from generate_series(1, 100000) i;
create table r as select i as k, i as w from generate_series(1, 60000) i;
analyze l, r;
SQL
my $join = 'select count(*), sum(v), sum(w) from l join r using (k)';

# A database as somebody has it who started with 0.1.0.
$node->safe_psql('postgres', 'create database old');
$node->safe_psql('old', "create extension hashgraph version '0.1.0'; $tables");
$node->safe_psql('old', <<'SQL');
create role hashgraph_operator;
create view joins_here as select joins, rows_out from hashgraph_stat where joins > 0;
grant execute on function hashgraph_stat_reset() to hashgraph_operator;
grant select on joins_here to hashgraph_operator;
SQL
is($node->safe_psql('old', 'select extension, library from hashgraph_version()'), "0.1.0|$version",
	'0.1.0 is installed, with the library of today');
my $expected = $node->safe_psql('old', "set hashgraph.enabled = off; $join");
is($node->safe_psql('old', "explain (costs off) $join") =~ /HashGraphJoin/ ? 1 : 0, 1, 'a join has the node');
is($node->safe_psql('old', $join), $expected, '... and its rows');

# every function of 0.1.0
sub check_functions
{
	my ($what) = @_;

	is( $node->safe_psql('old', "$join; select count(*), min(matches), min(partitions), bool_and(total_ms > 0) from hashgraph_last_joins()"),
		"$expected\n1|" . (split /\|/, $expected)[0] . '|1|t', "$what: hashgraph_last_joins()");
	is( $node->safe_psql('old', "set work_mem = '64MB'; "
			  . q{select count(*) from hashgraph_join('l', 'k', 'r', 'k'); }
			  . q{select count(*) from hashgraph_join(array[1, 2, null], array[2, 2]); }
			  . q{select rows, distinct_keys from hashgraph_build_stats('l', 'k'); }
			  . q{select matches from hashgraph_probe_stats('l', 'k', 'r', 'k'); }
			  . q{select count(*) >= 0 from hashgraph_devices()}),
		join("\n", (split /\|/, $expected)[0], 2, '100000|70000', (split /\|/, $expected)[0], 't'),
		"$what: the other functions");
	is($node->safe_psql('old', 'set role hashgraph_operator; select joins > 0 from joins_here; select hashgraph_stat_reset(); select count(*) from joins_here'),
		"t\n\n0", "$what: a view over hashgraph_stat, and a privilege on hashgraph_stat_reset()");
	return;
}
check_functions('0.1.0');
is( $node->safe_psql('old', q{select count(*) from pg_attribute where attname = 'device_ranges'; select count(*) from pg_proc where proname = 'hashgraph_last_joins' and 'device_ranges' = any (proargnames)}),
	"0\n0", '0.1.0 has no device_ranges');

# sessions that were open before see the change
my $session = $node->background_psql('old');
$session->query('select count(*) from hashgraph_last_joins()');
$node->safe_psql('old', 'alter extension hashgraph update');
is( $node->safe_psql('old', q{select extversion from pg_extension where extname = 'hashgraph'}),
	$version, 'ALTER EXTENSION UPDATE goes to the default version');
is($session->query($join), $expected, 'a session that was open before joins on');
is($session->query('select matches, device_ranges is null from hashgraph_last_joins()'),
	(split /\|/, $expected)[0] . '|t', '... and has the new column');
$session->quit;
check_functions($version);
is($node->safe_psql('old', $join), $expected, 'joins return the same rows');

# the same catalog objects as in a database that starts with today's version
$node->safe_psql('postgres', 'create database new');
$node->safe_psql('new', 'create extension hashgraph');
$node->safe_psql('old', 'revoke execute on function hashgraph_stat_reset() from hashgraph_operator; drop view joins_here');
my ($old, $new) = map { $node->safe_psql($_, $describe) } qw(old new);
cmp_ok(scalar(split(/\n/, $new)), '>', 20, 'the extension has objects');
is($old, $new, 'an update leaves the objects that a new installation has');
foreach my $from (sort map { /^hashgraph--([\d.]+)\.sql$/ ? $1 : () } map { basename($_) } glob "$FindBin::Bin/../../sql/hashgraph--*.sql")
{
	next if $from eq $version;
	$node->safe_psql('postgres', 'create database updated');
	$node->safe_psql('updated', "create extension hashgraph version '$from'");
	$node->safe_psql('updated', 'alter extension hashgraph update');
	is($node->safe_psql('updated', $describe), $new, "... and so does one of $from alone");
	$node->safe_psql('postgres', 'drop database updated');
}

# who may see the counters stays as it was, and is dumped
$node->safe_psql('postgres', 'create database updated');
$node->safe_psql('updated', "create extension hashgraph version '0.3.0'; revoke execute on function hashgraph_stat() from public; grant execute on function hashgraph_stat() to hashgraph_operator with grant option");
my $privileges = q{select r, has_function_privilege(r, 'hashgraph_stat()', 'execute'), has_function_privilege(r, 'hashgraph_stat()', 'execute with grant option') from unnest(array['hashgraph_operator', 'pg_monitor']) r};
is($node->safe_psql('updated', "alter extension hashgraph update; $privileges"), "hashgraph_operator|t|t\npg_monitor|f|f", 'an update keeps privileges on hashgraph_stat()');
my ($privileges_dump) = PostgreSQL::Test::Utils::run_command([ 'pg_dump', '--schema-only', $node->connstr('updated') ]);
like($privileges_dump, qr/REVOKE ALL ON FUNCTION public.hashgraph_stat.* FROM PUBLIC;.*GRANT ALL ON FUNCTION public.hashgraph_stat.* TO hashgraph_operator WITH GRANT OPTION;/s, '... and pg_dump writes them');
$node->safe_psql('postgres', 'drop database updated');

# a view of a user's on a function whose result changes is named, as DROP FUNCTION does
$node->safe_psql('postgres', 'create database updated');
foreach my $function (qw(hashgraph_stat hashgraph_devices))
{
	$node->safe_psql('updated', "create extension hashgraph version '0.3.0'; create view mine as select * from $function()");
	my ($failed, undef, $why) = $node->psql('updated', 'alter extension hashgraph update');
	isnt($failed, 0, "an update fails where a view depends on $function()");
	like($why, qr/ERROR:  cannot drop function $function\(\) because other objects depend on it\nDETAIL:  view mine depends on function $function\(\)\n/,
		'... and names both');
	is($node->safe_psql('updated', "drop view mine; alter extension hashgraph update; $describe"), $new,
		'... and succeeds without the view');
	$node->safe_psql('updated', 'drop extension hashgraph');
}
$node->safe_psql('postgres', 'drop database updated');

$node->safe_psql('old', 'create view joins_here as select joins, rows_out from hashgraph_stat; grant execute on function hashgraph_stat_reset() to hashgraph_operator; grant select on joins_here to hashgraph_operator');

# there is no way back, and no harm in trying
my ($status, $stdout, $stderr) = $node->psql('old', q{alter extension hashgraph update to '0.1.0'});
like($stderr, qr/no update path/, 'there is no way back');

# pg_dump and pg_restore: the extension, views over it, privileges
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->safe_psql('postgres', 'create database restored');
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('old') ], 'pg_dump');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $join), $expected, 'a restored database joins');
is( $node->safe_psql('restored', 'set role hashgraph_operator; select hashgraph_stat_reset(); select joins from joins_here'),
	"\n0", '... has the view and the privilege');
is($node->safe_psql('restored', 'set role hashgraph_operator; select count(*) from hashgraph_stat'), 1,
	'... and everybody may read the counters');
my ($out) = PostgreSQL::Test::Utils::run_command([ 'pg_dump', '--schema-only', $node->connstr('old') ]);
unlike($out, qr/CREATE FUNCTION public\.hashgraph/, 'a dump leaves what is in it to the extension');

# gone is gone
$node->safe_psql('restored', 'drop view joins_here; drop extension hashgraph');
is($node->safe_psql('restored', q{select count(*) from pg_proc where proname like 'hashgraph%'}), 0,
	'DROP EXTENSION leaves nothing');

$node->stop;
done_testing();
