# The specs of test/isolation/resident: two and three sessions that interleave on tables that are resident, among them what changes
# the blocks of a table between their taking in and a scan, and the locks that commands wait for.
#
# Each looks at a table by look(table, blocks): the table is joined with the rest, by HashGraphs and residents, and by PostgreSQL alone
# in the same snapshot. It tells the rows, where both say the same, and how many of the table's blocks were served: it tries again
# until these are so many, for a witness or loader of a slow machine may come late, and does not where they are more.
#
# Takes long: it begins before others.

use strict;
use warnings;

use File::Basename qw(basename dirname);
use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('resident_isolation', conf => <<'CONF');
hashgraph.resident_memory = '32MB'
hashgraph.resident_auto = off
hashgraph.backend = cpu
allow_in_place_tablespaces = on
max_prepared_transactions = 5
wal_level = replica
log_statement = none
CONF
$node->safe_psql('postgres', 'create database isolation');
$node->safe_psql('postgres', q{create tablespace other location ''});
$node->safe_psql('isolation', <<'SQL');
create extension hashgraph;
create table rest as select i as k from generate_series(1, 3) i;
create function look(t regclass, wanted int8, v text default 'v') returns text language plpgsql stable as $$
declare
  query text := format('select count(*) as n, sum(x.k), count(x.v), sum(x.v::int8) from (select k, %s as v from %s) x left join rest r on r.k = x.k', v, t);
  ours record;
  theirs record;
  counter constant text := 'select blocks_served from hashgraph_stat_resident';
  before int8;
  served int8;
  deadline timestamptz := clock_timestamp() + interval '20 s';
begin
  perform set_config('hashgraph.force', 'on', false);
  loop
    execute counter into before;
    execute query into ours;
    execute counter into served;
    served := served - before;
    perform set_config('hashgraph.enabled', 'off', false);
    execute query into theirs;
    perform set_config('hashgraph.enabled', 'on', false);
    if ours is distinct from theirs then
      return format('%s instead of %s', ours, theirs);
    end if;
    exit when served >= wanted or clock_timestamp() > deadline;
    perform pg_sleep(0.02);
  end loop;
  return format('%s, blocks served: %s', theirs, served);
end
$$;
create function rest_of(c refcursor) returns text language plpgsql as $$
declare
  r record;
  n int := 0;
  keys int8 := 0;
  sum int8 := 0;
begin
  loop
    fetch c into r;
    exit when not found;
    n := n + 1;
    keys := keys + r.k;
    sum := sum + r.v;
  end loop;
  return format('%s rows, %s, %s', n, keys, sum);
end
$$;
-- Wait until no snapshot is held that was taken before: a vacuum may set bits again.
create procedure wait_for_witnesses() language plpgsql as $$
declare
  began timestamptz := clock_timestamp();
begin
  loop
    commit;
    exit when (select count(*) > 0 and min(xact_start) > began from pg_stat_activity where backend_type = 'hashgraph witness' and backend_xmin is not null);
    perform pg_sleep(0.02);
  end loop;
end
$$;
SQL

my $input = "$FindBin::Bin/../isolation/resident";
my $out = PostgreSQL::Test::Utils::tempdir();
my @specs = map { basename($_, '.spec') } glob "$input/specs/*.spec";
my $tester = dirname($ENV{PG_REGRESS}) . '/../isolation/pg_isolation_regress';
my @command = ($tester, "--inputdir=$input", "--outputdir=$out", '--bindir=', '--host=' . $node->host, '--port=' . $node->port, '--use-existing', '--dbname=isolation');
foreach my $spec (@specs)
{
	$node->safe_psql('isolation', 'drop table if exists t, p cascade');
	ok(run_log([ @command, $spec ]), $spec) or diag(-e "$out/regression.diffs" ? slurp_file("$out/regression.diffs") : 'it did not run');
}
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|was terminated by signal/, 'no process has failed');
$node->stop;
done_testing();
