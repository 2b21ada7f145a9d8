# Writers of all kinds, vacuums, DDL and the end of workers at random beside sessions that compare what is
# resident with the table, and joins that are served with those that read it, again and again: they find no row that differs.
#
# HG_STRESS_SECONDS says how long (default: 15).  In a build of HG_DEBUG=1 (HG_DEBUG_BUILD) rounds come ten times as often,
# tables evict each other,
# everybody waits for a while at the places of test/fault/hg_fault_resident.c, and rules that are broken on purpose are found to
# be, within a minute each.  Writers are slow: what is changed all the time is never served.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use IPC::Run qw(start finish);
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $seconds = $ENV{HG_STRESS_SECONDS} // 15;
my $node = new_server('resident_stress', conf => "hashgraph.resident_memory = '" . ($ENV{HG_DEBUG_BUILD} ? '3MB' : '32MB') . "'\nmax_connections = 40\nhashgraph.force = on\nparallel_setup_cost = 0\nmin_parallel_table_scan_size = 0\nlog_statement = none\nmax_prepared_transactions = 10\n");

sub sql
{
	return $node->safe_psql('postgres', shift);
}

# A stable function has one snapshot for all of its queries: rows that both ways of reading have found, and those that one has not.
sql(<<'SQL');
create function compare_join(out compared int8, out differing int8) language plpgsql stable as $$
declare
  joins constant text[] := array['select a.k as x, a.v as y, b.v as z from a join b using (k)', 'select a.k as x, a.v as y, b.k as z from a full join b on a.k = b.k and a.v <> 3 where a.v is null or a.v >= 0',
    'select a.v as x, count(*) as y, sum(b.v) as z from a join b using (k) where a.v % 2 = 1 group by a.v', 'select a.k as x, a.w as y, b.v as z from a join b using (k) where b.v > 0',
    'select a.t || a.k as x, a.n as y, b.w || coalesce(md5(b.x), '''') as z from a join b on a.t = b.t and a.k = b.k', 'select b.w as x, sum(a.n) as y, count(b.x) as z from a left join b on a.k = b.k and a.n <> b.n + 1 group by b.w'];
  query text := joins[1 + (random() * 1000)::int % 6];
  ours text[];
  theirs text[];
begin
  perform set_config('hashgraph.resident', 'on', false);
  perform set_config('max_parallel_workers_per_gather', case when random() < 0.2 then '2' else '0' end, false);
  execute format('select array_agg(r::text order by r::text) from (%s) r', query) into ours;
  perform set_config('hashgraph.resident', 'off', false);
  execute format('select array_agg(r::text order by r::text) from (%s) r', query) into theirs;
  compared := cardinality(theirs);
  differing := case when ours is distinct from theirs then
    (select count(*) from ((select unnest(ours) except all select unnest(theirs)) union all (select unnest(theirs) except all select unnest(ours))) d) + 1 else 0 end;
end
$$;
create table a (k int primary key, v int, w text, t text, n numeric(10, 2)) with (fillfactor = 60);
create table b (k int primary key, v int8, w text, t varchar(20), n numeric, x text);
alter table b alter x set storage external;
create table found (rows int8, different int8, joined bool default false);
insert into a select i, i, repeat('a', i % 60), 't' || i % 4000, i / 4.0 from generate_series(1, 8000) i;
insert into b select i, i, repeat('b', i % 200), 't' || i % 4000, (i / 4.0)::numeric(10, 2), case when i % 50 = 0 then repeat(md5(i::text), 100) end from generate_series(1, 8000) i;
select hashgraph_resident_add('a', keys => array['k', 'v']);
select hashgraph_resident_add('a', array['k'], keys => array[array['t', 'k']]);
select hashgraph_resident_add('b', array['k'], keys => array[array['t', 'k'], array['x', null]]);
select hashgraph_resident_add('b', keys => array['k']);
SQL

# A statement that fails, because another one was in its way, is no failure of the test.
my %scripts = (
	update => '\set k random(1, 8000)
\set t random(0, 1)
\if :t
update a set v = v + 1, n = n + 0.25 where k = :k;
\else
update b set v = -v, w = w || \'x\', n = n + 0.25, x = x || \'y\' where k = :k;
\endif
',
	move => '\set k random(1, 8000)
begin;
delete from a where k = :k;
insert into a values (:k, 0, null) on conflict do nothing;
end;
delete from b where k = :k;
insert into b values (:k, 0, null) on conflict (k) do update set v = 7;
',
	abort => '\set k random(1, 8000)
begin;
update a set v = 0, n = 0.5, t = v::text where k between :k and :k + 20;
insert into b select 100000 + i, 0, null from generate_series(1, 20) i;
rollback;
begin;
savepoint s;
delete from a where k = :k;
rollback to s;
update b set v = 1 where k = :k;
end;
',
	lock => '\set k random(1, 8000)
begin;
select count(*) from (select from a where k between :k and :k + 50 for update) s;
select count(*) from (select from b where k = :k for share) s;
end;
',
	vacuum => 'vacuum a;
vacuum b;
vacuum (freeze, truncate off) a;
',
	ddl => '\set n random(1, 40)
\if :n = 1
vacuum full a;
\elif :n = 2
begin;
truncate b;
rollback;
\elif :n = 3
alter table a alter v type int8;
alter table a alter v type int4;
\elif :n = 4
begin;
lock table a in access exclusive mode;
select pg_sleep(0.5);
end;
\elif :n = 5
begin;
create table copied as select * from b;
truncate b;
insert into b select * from copied;
drop table copied;
end;
\else
select pg_sleep(0.4);
\endif
',
	workers => q{\set n random(1, 4)
select pg_sleep(11);
\if :n = 1
select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph witness';
\elif :n = 2
select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph loader';
\elif :n = 3
select hashgraph_resident_drop('b');
\endif
select hashgraph_resident_add('b', keys => array['k']);
},
	check => q{insert into found select rows_compared, rows_different from hashgraph_resident_check('a');
insert into found select rows_compared, rows_different from hashgraph_resident_check('b');
},
	join => q{insert into found select *, true from compare_join();
},
	older => q{begin isolation level repeatable read;
select count(*) from a;
select pg_sleep(0.05);
insert into found select rows_compared, rows_different from hashgraph_resident_check('a');
insert into found select rows_compared, rows_different from hashgraph_resident_check('b');
end;
});
$scripts{repack} = "select pg_sleep(2);\nrepack (concurrently) a;\n" if major_version($node) >= 19;
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/$_.sql", $scripts{$_}) foreach keys %scripts;

# Run these scripts for so many seconds, or until a row that differs is found where that is wanted.  Returns the rows that were
# compared, and those of them that differ.
sub run_for
{
	my ($time, $until_found, @names) = @_;
	my $end = time + $time;
	my @running;

	sql('truncate found');
	until (time > $end)
	{
		my $some = $until_found ? 10 : $time;
		my %said;
		@running = map {
			my $name = $_;
			my $in = '';
			$said{$name} = '';
			start([ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-T', $some, '-f', "$folder/$name.sql",
					'-c', $name =~ /check|join/ && !$until_found ? 3 : 1, '--max-tries=1000', ($name =~ /update|lock/ ? ('-R', 8) : $name =~ /move|abort/ ? ('-R', 2) : $name eq 'vacuum' ? ('-R', 20) : ()), 'postgres' ],
				\$in, '>', \$said{$name}, '2>&1')
		} @names;
		finish($_) foreach @running;
		# a script that ends before its time says why
		diag("$_: $said{$_}") foreach grep { $said{$_} =~ /aborted|error/ } @names;
		last if $until_found && sql('select coalesce(sum(different), 0) from found') > 0;
	}
	return split /\|/, sql('select coalesce(sum(rows), 0), coalesce(sum(different), 0) from found');
}

my @scripts = keys %scripts;
my $offset = -s $node->logfile;
if ($ENV{HG_DEBUG_BUILD})
{
	append_to_file("$folder/evict.sql", join "vacuum c;\nselect pg_sleep(0.2);\n", map { <<"SQL" } qw(a c b c));
do \$\$ begin perform hashgraph_resident_add('$_'); exception when out_of_memory then null; end \$\$;
SQL
	push @scripts, 'evict';
	sql('create table c (k int, v int8, w int8); insert into c select i, i, i from generate_series(1, 125000) i');
	sql('alter system set hashgraph.fault_delay = 1500; alter system set hashgraph.fault_eviction_rest = 0');
	$node->reload;
}
my ($rows, $different) = run_for($seconds, 0, sort @scripts);
is($different, 0, 'no row differs');
cmp_ok(sql('select coalesce(sum(rows), 0) from found where joined'), '>', 1_000 * $seconds, '... of joins');
cmp_ok($rows, '>', ($ENV{HG_DEBUG_BUILD} ? 1_000 : 10_000) * $seconds, '... of many that were compared') && note("$rows rows in $seconds s");
my ($made, $merged) = split /\|/, sql('select graphs_made, graphs_merged from hashgraph_stat_resident');
ok($made > 0 && $merged > 0, "HashGraphs have followed: $made were made, $merged merged");
unlike(slurp_file($node->logfile, $offset), qr/TRAP|PANIC|was terminated by signal/, 'no process has failed');

if ($ENV{HG_DEBUG_BUILD})
{
	cmp_ok(sql('select evictions from hashgraph_stat_resident'), '>', 0, 'tables have evicted each other');
	sql(q{select hashgraph_resident_drop('c')});
	foreach my $fault (qw(loader_snapshot record_first joins_early))
	{
		sql("alter system set hashgraph.plant_fault = '$fault'");
		$node->reload;
		# few snapshots, which keep vacuums from setting bits
		my (undef, $wrong) = run_for(60, 1, qw(join update vacuum));
		cmp_ok($wrong, '>', 0, "rows of joins differ with $fault");
		sql('alter system reset hashgraph.plant_fault');
		$node->reload;
	}
}
$node->stop('fast');

done_testing();
