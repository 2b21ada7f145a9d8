# Libraries of several versions meet: a session whose library's file was replaced, SQL objects that a library
# does not know, and those that older versions of the extension have made.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use File::Basename;
use HashGraphTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('versions');
my $version = $node->safe_psql('postgres', 'select library from hashgraph_version()');
# two others, of the same length
my @others = map { my $digit = (substr($version, -1) + $_) % 10; $version =~ s/.$/$digit/r } 1, 9;
my $join = 'select count(*), sum(v), sum(w) from l join r using (k)';

$node->safe_psql('postgres', <<'SQL');
create table l as select i % 70000 as k, i as v from generate_series(1, 200000) i;
create table r as select i as k, i as w from generate_series(1, 60000) i;
analyze l, r;
SQL
my $expected = $node->safe_psql('postgres', "set hashgraph.enabled = off; $join");

# ---------------------------------------------------------------- scripts ask for a library

$node->safe_psql('postgres',
	q{create function needs(text) returns void language c strict as '$libdir/hashgraph', 'hashgraph_check_library'});
is($node->safe_psql('postgres', "select needs('0.0.1'), needs('$version')"), '|', 'a library will do for its own version, and for older ones');
foreach my $newer ('99.0.0', '0.99.0', ($version =~ s/\d+$/999/r))
{
	my (undef, undef, $error) = $node->psql('postgres', "select needs('$newer')");

	like($error, qr/older library of hashgraph than version \Q$newer\E needs.*is of version \Q$version\E.*HINT: .*reconnect.*restart the server/s,
		"... and says what to do where $newer is needed");
}
foreach my $none ('', '0.4', '0.4.0.1', 'x')
{
	my (undef, undef, $error) = $node->psql('postgres', "select needs('$none')");

	like($error, qr/invalid version of hashgraph: "$none"/, "\"$none\" is no version");
}

# ---------------------------------------------------------------- SQL objects of tomorrow

# as a standby has them whose primary has been updated, or a server whose library was taken back
$node->safe_psql('postgres', <<'SQL');
create function of_tomorrow() returns int language c as '$libdir/hashgraph', 'hashgraph_check_preload';
update pg_proc set prosrc = 'hashgraph_of_tomorrow' where proname = 'of_tomorrow';
create view of_tomorrow as select * from of_tomorrow();
SQL
my $session = RawSession->new($node);
foreach my $query ('select of_tomorrow()', 'select * from of_tomorrow')
{
	is($session->query($query), '', "$query gives nothing");
	like($session->{error}, qr/could not find function "hashgraph_of_tomorrow" in file ".*hashgraph/, '... but an error that names the function and the file');
}
is($session->run_each($join), $expected, '... and the session joins');

# ---------------------------------------------------------------- what old versions have made

# A symbol that a released script names has the arguments and the result that the script gives it, in any version.
my %released = map { basename($_) =~ /^hashgraph--([\d.]+)\.sql$/ ? ($1 => 1) : () } glob "$FindBin::Bin/../../sql/hashgraph--*.sql";
my %signature;
cmp_ok(scalar(keys %released), '>=', 4, 'there are released versions');
foreach my $old (sort keys %released)
{
	my $database = "v$old" =~ s/\./_/gr;
	my @other;

	$node->safe_psql('postgres', "create database $database");
	$node->safe_psql($database, "create extension hashgraph version '$old'; create table l as select 1 as k");
	foreach my $line (split /\n/, $node->safe_psql($database, <<'SQL'))
select p.prosrc || ' ' || pg_get_function_arguments(p.oid) || ' ' || pg_get_function_result(p.oid)
from pg_proc p where p.probin = '$libdir/hashgraph'
SQL
	{
		my ($symbol) = split / /, $line;

		$signature{$symbol} //= $line;
		push @other, "$signature{$symbol}\n$line" if $signature{$symbol} ne $line;
	}
	is(join("\n", @other), '', "symbols of $old have the signatures of other versions");

	# each function is called, with the library of today
	my $calls = $node->safe_psql($database, <<'SQL');
select string_agg(format('select count(*) >= 0 from %s(%s)', p.proname, (select string_agg(
		case t.typname when 'regclass' then '''l''' when 'name' then '''k''' when '_int8' then '''{1}''' else 'null' end, ', ' order by a.place)
		from unnest(p.proargtypes::oid[]) with ordinality a (type, place) join pg_type t on t.oid = a.type
		where a.place <= p.pronargs - p.pronargdefaults)), ';' order by p.oid)
from pg_proc p where p.probin = '$libdir/hashgraph' and p.proname !~ '^hashgraph_resident' and p.prorettype <> 'void'::regtype
SQL
	unlike($node->safe_psql($database, $calls), qr/[^t\n]/, "the functions of $old can be called");
}

# ---------------------------------------------------------------- a file that is replaced

# A session loads the library from a place of its own, and has parallel workers.
my $place = PostgreSQL::Test::Utils::tempdir_short();
my ($libraries) = PostgreSQL::Test::Utils::run_command([ 'pg_config', '--pkglibdir' ]);
my $today = slurp_file("$libraries/hashgraph.so");

# Put a library there, which takes itself to be of a version, in the way of installing: a new file with the old one's name.
sub install
{
	my ($as) = @_;

	open my $out, '>:raw', "$place/new" or die $!;
	print $out $today =~ s/(?<=\0)\Q$version\E(?=\0)/$as/gr;
	close $out;
	rename "$place/new", "$place/hashgraph.so" or die $!;
	return;
}

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
$session = undef;
my $preload = "-c session_preload_libraries=$place/hashgraph -c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=0 "
  . '-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c parallel_leader_participation=off -c hashgraph.min_rows=0';
foreach my $other (@others)
{
	local $ENV{PGOPTIONS} = $preload;

	install($version);
	my $old = $node->background_psql('postgres', on_error_stop => 0);
	is($old->query($join), $expected, 'a session joins with workers');
	like($old->query("explain (costs off) $join"), qr/Gather.*HashGraphJoin/s, '... which are planned');
	install($other);
	is($old->query($join), '', "when the file is of $other its workers");
	like($old->{stderr}, qr/plan is of another version of hashgraph.*is of version \Q$version\E, and this process has version \Q$other\E.*HINT: .*Reconnect/s,
		'... say so');
	$old->{stderr} = '';
	is($old->query("set max_parallel_workers_per_gather = 0; $join"), $expected, '... and it joins without them');
	$old->quit;
	is($node->safe_psql('postgres', $join), $expected, 'a new session joins');
}

$node->stop;
done_testing();
