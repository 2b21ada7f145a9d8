# The node among what else the executor does: each session here runs twice, with HashGraph
# joins wherever they are possible and with hashgraph.enabled off, and must say the same.
#
# Cursors in both directions, prepared statements, subtransactions, transition tables,
# statements of the server's own, JIT, what is below the node (async and parallel append),
# what is above it (Gather), and a standby.
#
# Devices: cursors, locks and rechecks read the matches of a device process.
# Versions: row locks, rechecks and cursors of the server.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($covered) = backends();
plan skip_all => 'there is no backend to cover' unless defined $covered;

my $node = PostgreSQL::Test::Cluster->new('citizen');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', <<CONF);
shared_preload_libraries = 'hashgraph'
hashgraph.force = on
hashgraph.backend = '$covered->{backend}'
hashgraph.device_program = '$covered->{program}'
jit = off
max_parallel_workers_per_gather = 0
autovacuum = off
CONF
$node->start;
my $version = major_version($node);
my $force_gather = $version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';

$node->safe_psql('postgres', <<'SQL');
create extension hashgraph;
create table a as select i as id, case when i % 9 <> 0 then i % 60 end as k, 'a' || i as note from generate_series(1, 900) i;
create table b as select i as id, case when i % 8 <> 0 then i % 70 end as k, repeat('b', i % 300) as wide from generate_series(1, 700) i;
create table c as select i as id, i % 7 as k from generate_series(1, 40) i;
alter table a add primary key (id);
analyze;
SQL

my %joins = (
	inner => 'select x.id, y.id as other, y.wide from a x join b y on x.k = y.k and x.id > y.id',
	left => 'select x.id, y.id as other, y.wide from a x left join b y on x.k = y.k and x.id < y.id',
	right => 'select x.id, y.id as other, y.wide from c x right join b y on x.k = y.k and x.id > y.id',
	full => 'select x.id, y.id as other, y.wide from a x full join b y on x.k = y.k and x.id % 3 = y.id % 2',
	semi => 'select x.id, x.k as other, x.note from a x where exists (select from b y where x.k = y.k and x.id < y.id)',
	anti => 'select x.id, x.k as other, x.note from a x where not exists (select from b y where x.k = y.k and x.id < y.id)');

# What a session says, all of it.
sub session
{
	my ($server, $enabled, $sql, $database) = @_;
	my ($stdout, $stderr);

	$server->psql($database // 'postgres', "set hashgraph.enabled = $enabled;\n$sql",
		stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	# where in its script an error came is the same anyway
	$stderr =~ s/^psql:\S+ //mg;
	return "$stdout\n$stderr";
}

# A session says the same with the node and without.
sub same
{
	my ($name, $sql, $server) = @_;
	my $with = session($server // $node, 'on', $sql);
	my $without = session($server // $node, 'off', $sql);

	is($with, $without, $name);
	return;
}

# A query's plan, with the node, after some settings.
sub plan_of
{
	my ($query, $settings, $server) = @_;

	return ($server // $node)->safe_psql('postgres', ($settings // '') . "; explain (costs off) $query");
}

sub by_node { return qr/Custom Scan \(HashGraphJoin\)/; }

# ------------------------------------------------------------------ cursors

# Rows of a cursor as they come, backwards, and forwards again: one way is the other's reverse.
$node->safe_psql('postgres', <<'SQL');
create function there_and_back(query text) returns text language plpgsql as $$
declare
  c refcursor;
  r record;
  there text[] := '{}';
  back text[] := '{}';
  again text[] := '{}';
begin
  open c scroll for execute query;
  loop
    fetch next from c into r;
    exit when not found;
    there := there || r::text;
  end loop;
  loop
    fetch prior from c into r;
    exit when not found;
    back := r::text || back;
  end loop;
  for n in 1 .. 3 loop
    fetch absolute n * 7 from c into r;
    again := again || r::text;
  end loop;
  if there <> back or again <> array[there[7], there[14], there[21]] then
    return 'differs on the way back';
  end if;
  return (select count(*) || ' rows, ' || sum(hashtextextended(t, 0)) from unnest(there) t);
end
$$;
SQL
foreach my $kind (sort keys %joins)
{
	foreach my $memory ('64kB', '64MB')
	{
		like(plan_of($joins{$kind}), by_node(), "$kind: by the node");
		same("$kind, $memory: a scrolling cursor goes both ways",
			"set work_mem = '$memory'; select there_and_back(\$\$$joins{$kind}\$\$)");
		# what is left of a cursor after errors, savepoints and other joins
		same("$kind, $memory: a cursor survives errors and rollbacks around it", <<"SQL");
set work_mem = '$memory';
create temp table got as select id, other from ($joins{$kind}) s where false;
begin;
declare c cursor for $joins{$kind};
create function take(int) returns int language plpgsql as \$\$
declare
  c refcursor := 'c';
  r record;
begin
  for i in 1 .. \$1 loop
    fetch c into r;
    exit when not found;
    insert into got values (r.id, r.other);
  end loop;
  return (select count(*) from got);
end
\$\$;
select take(3);
savepoint s;
select 1 / (select count(*) from a where id < 0);
rollback to s;
savepoint t;
declare d cursor for $joins{$kind};
move 5 in d;
rollback to t;
savepoint u;
declare e cursor for $joins{$kind};
move 100 in e;
release u;
select count(*) from ($joins{$kind}) s;
select take(1000000);
move all in e;
select count(*), sum(id), sum(other) from got;
drop function take;
commit;
SQL
		same("$kind, $memory: a cursor outlives its transaction", <<"SQL");
set work_mem = '$memory';
begin;
declare c scroll cursor with hold for select md5(s::text) from ($joins{$kind}) s order by 1;
fetch 2 from c;
commit;
fetch 3 from c;
fetch backward 2 from c;
move last in c;
fetch prior from c;
SQL
	}

	# a plan for all parameters, and one for each
	same("$kind: a prepared statement", join("\n",
		"prepare p (int) as select count(*), sum(id), sum(other) from ($joins{$kind}) s where id is null or id > \$1;",
		(map { "set plan_cache_mode = $_; execute p (10); execute p (500); execute p (null); execute p (0);" }
			qw(auto force_generic_plan force_custom_plan)), 'execute p (3);' x 6));
}
like(plan_of('execute p (3)', "prepare p (int) as $joins{full} where coalesce(x.id, 0) > \$1; set plan_cache_mode = force_generic_plan"),
	qr/\$1.*Custom Scan|Custom Scan.*\$1/s, 'the generic plan has the node');

# ------------------------------------------------------------------ triggers and the server's own statements

like(plan_of('select from a join b using (k)'), by_node(), 'a statement that is none of the above');
same('transition tables are joined', <<'SQL');
begin;
create temp table log (old_id int, new_id int, k int, note text);
create function pg_temp.watch() returns trigger language plpgsql as $$
begin
  insert into log select o.id, n.id, n.k, n.note from old_rows o full join new_rows n on o.id = n.id - 1;
  insert into log select n.id, b.id, n.k, b.wide from new_rows n left join b on b.k = n.k and b.id < 20;
  insert into log select n.id, null, n.k from new_rows n where not exists (select from old_rows o where o.k = n.k);
  return null;
end
$$;
create trigger watch after update on a referencing old table as old_rows new table as new_rows
  for each statement execute function pg_temp.watch();
update a set id = id + 1000, k = k + 1 from b where b.id = a.id and a.id <= 200;
select count(*), sum(hashtext(log::text)) from log;
rollback;
SQL

same('a foreign key is checked when it is added', <<'SQL');
begin;
create temp table child as select i % 900 + 1 as id from generate_series(1, 2000) i;
alter table child add foreign key (id) references a;
rollback;
begin;
create temp table child as select i % 950 + 1 as id from generate_series(1, 2000) i;
alter table child add foreign key (id) references a;
rollback;
SQL

same('a materialized view is refreshed while it is read', <<'SQL');
begin;
create materialized view pairs as select x.id * 1000 + y.id as pair, x.note, y.wide from a x join b y using (k) where x.id < 300 and y.id < 300;
create unique index on pairs (pair);
update a set note = note || '!' where id % 50 = 0;
delete from b where id % 20 = 0;
refresh materialized view concurrently pairs;
select count(*), sum(pair), sum(hashtext(note)), sum(length(wide)) from pairs;
rollback;
SQL

SKIP:
{
	skip 'MERGE has no WHEN NOT MATCHED BY SOURCE before 17', 1 if $version < 17;
	same('MERGE acts on the rows of either side that have no match', <<'SQL');
begin;
create temp table target as select id, k, 'old' as state from a where id % 3 <> 0;
merge into target t using (select id, max(k) as k from b group by id) s on t.id = s.id
when matched and s.k > 40 then delete
when matched then update set state = 'new'
when not matched by target then insert values (s.id, s.k, 'inserted')
when not matched by source and t.id % 2 = 0 then delete
when not matched by source then update set state = 'alone';
select state, count(*), sum(id), sum(k) from target group by state order by state;
rollback;
SQL
}

same('system columns and whole rows', <<'SQL');
select count(*), sum(hashtext((x, x.ctid, x.tableoid::regclass, x.xmin, x.cmin, y, y.ctid, y.xmax)::text))
from a x full join b y on x.k = y.k and x.id < y.id;
begin;
select count(*) from (select x from a x join b y on x.k = y.k where y.id < 9 for update of x nowait) s;
select count(*), sum(x.id) from a x where xmax = pg_current_xact_id()::xid;
rollback;
SQL

# ------------------------------------------------------------------ JIT

SKIP:
{
	skip 'there is no JIT compiler', 12 unless $node->safe_psql('postgres', 'select pg_jit_available()') eq 't';
	my $jit = 'set jit = on; set jit_above_cost = 0; set jit_inline_above_cost = 0; set jit_optimize_above_cost = 0';

	like($node->safe_psql('postgres', "$jit; explain (analyze, costs off) $joins{full}"),
		qr/HashGraphJoin.*JIT:\s+Functions: [1-9]/s, 'expressions of the node are compiled');
	same("$_: compiled", "$jit; select count(*), sum(hashtext(s::text)) from ($joins{$_}) s where coalesce(id, other) % 7 <> other % 3")
	  for sort keys %joins;

	# the server forces the node, whose price is then no measure
	my $costly = 'select count(*) from jit_a a join jit_b b on a.k = b.k where a.v % 7 < 5';
	my $plan = sub { return $node->safe_psql('postgres', "set hashgraph.force = off; set hashgraph.min_rows = 0; set jit = on; $_[0]; explain $costly"); };

	$node->safe_psql('postgres', 'create table jit_a as select i as k, i as v from generate_series(1, 50000) i; create table jit_b as select k from jit_a; analyze jit_a, jit_b');
	my ($cost) = $plan->('set jit = off') =~ /cost=\S+\.\.(\S+)/;
	like($plan->('set jit_above_cost = 10'), qr/HashGraphJoin(?!.*JIT:)/s, 'a plan is not compiled for the cost of nodes that evaluate filters over columns');
	like($plan->('set jit_above_cost = 10; set hashgraph.enabled = off'), qr/Hash Join.*JIT:/s, "... as PostgreSQL's own plan is");
	cmp_ok($cost, '>', 10, '... though it costs enough');
	my $subquery = sub {
		my ($filter) = @_;

		return $node->safe_psql('postgres', qq{set hashgraph.force = off; set hashgraph.min_rows = 0; set max_parallel_workers_per_gather = 0;
			set jit = on; set jit_above_cost = 600; explain select count(*)
			from (select k, v % 7 as c from jit_a union all select k, 1 from jit_a offset 0) a join jit_b b on a.k = b.k where $filter});
	};
	like($subquery->('true'), qr/HashGraphJoin.*Subquery Scan(?!.*JIT:)/s, '... nor for that of a subquery that the node reads');
	like($subquery->('(a.c + a.k) % 3 <> 7 and (a.c * a.k) % 5 <> 9'), qr/HashGraphJoin.*Subquery Scan.*JIT:/s, '... but for that of its filter');
}

# ------------------------------------------------------------------ below the node: append

my $appended = <<'SQL';
select count(*), sum(p.v), sum(hashtext(b.wide)), count(b.id), count(distinct p.tableoid)
from p full join b on p.k = b.k
SQL
$node->safe_psql('postgres', <<'SQL');
create table p (k int, v int) partition by range (k);
create table p_1 partition of p for values from (0) to (20);
create table p_2 partition of p for values from (20) to (40);
create table p_3 partition of p for values from (40) to (100);
insert into p select i % 75, i from generate_series(1, 3000) i;
analyze;
SQL
# an append that workers share, below a join that they share, below a Gather
my $parallel = 'set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;'
  . ' set min_parallel_table_scan_size = 0; set enable_partitionwise_join = off';
my $shared = 'select count(*), sum(p.v), sum(c.id) from p left join c on p.k = c.id and p.v > c.k * 100';
like(plan_of($shared, $parallel), qr/Gather.*HashGraphJoin.*Parallel Append/s, 'below a Gather, above a parallel append');
foreach my $leader ('on', 'off')
{
	foreach my $memory ('64kB', '64MB')
	{
		same("... and the right rows, leader $leader, $memory",
			"$parallel; set parallel_leader_participation = $leader; set work_mem = '$memory'; $shared");
	}
}
my $worker = "set $force_gather = on; set max_parallel_workers_per_gather = 2";
like(plan_of("select count(*) from ($joins{full}) s", $worker),
	qr/Gather.*HashGraphJoin/s, 'the whole plan goes to a worker');
same("$_: in a worker", "$worker; set work_mem = '64kB'; select count(*), sum(hashtext(s::text)) from ($joins{$_}) s")
  for sort keys %joins;
like(session($node, 'on', "$parallel; select count(1 / (p.v - 1501 + c.id - c.id)) from p left join c on p.k = c.id; $shared;"),
	qr/^(\d+\|-?\d+\|-?\d+)\n.*division by zero/s, 'an error in a worker is an error, and the next statement has none');
is(scalar(temp_files($node)), 0, 'no temporary file is left');

SKIP:
{
	skip 'postgres_fdw is not installed', 2
	  unless $node->safe_psql('postgres', "select 1 from pg_available_extensions where name = 'postgres_fdw'");
	my ($host, $port) = ($node->host, $node->port);

	$node->safe_psql('postgres', <<"SQL");
create extension postgres_fdw;
create server loop foreign data wrapper postgres_fdw options (host '$host', port '$port', dbname 'postgres', async_capable 'true');
create server loop_2 foreign data wrapper postgres_fdw options (host '$host', port '$port', dbname 'postgres', async_capable 'true');
create user mapping for current_user server loop;
create user mapping for current_user server loop_2;
create table remote_1 (k int, v int);
create table remote_2 (k int, v int);
create foreign table p_4 partition of p for values from (100) to (130) server loop options (table_name 'remote_1');
create foreign table p_5 partition of p for values from (130) to (200) server loop_2 options (table_name 'remote_2');
insert into p select 100 + i % 60, i from generate_series(1, 3000) i;
insert into b select 1000 + i, 100 + i, 'far' from generate_series(1, 70, 3) i;
analyze;
SQL
	like(plan_of($appended), qr/HashGraphJoin.*Async Foreign Scan/s, 'above an asynchronous append');
	same('... and the right rows', "$appended; set work_mem = '64kB'; $appended;");
	# read again for each row outside, and not to its end
	same('... again and again', <<'SQL');
set enable_material = off;
select o.id, (select count(*) from (select from p left join b on p.k = b.k and p.v + b.id > o.id * 20 limit 100 * o.id) s) from c o;
SQL
}

# ------------------------------------------------------------------ a standby

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->safe_psql('postgres', 'insert into a select i, i % 60, null from generate_series(2001, 2100) i');
my $caught_up = $node->safe_psql('postgres', 'select pg_current_wal_lsn()');
ok( $standby->poll_query_until('postgres', "select pg_last_wal_replay_lsn() >= '$caught_up'::pg_lsn"),
	'the standby follows');
like(plan_of($joins{full}, undef, $standby), by_node(), 'the standby has the node too');
foreach my $kind (sort keys %joins)
{
	my $digest = "select count(*), sum(hashtext(s::text)) from ($joins{$kind}) s";

	same("$kind: on a standby, in memory and with files", "$digest; set work_mem = '64kB'; $digest;", $standby);
	is($standby->safe_psql('postgres', $digest), $node->safe_psql('postgres', $digest), '... as on its primary');
}
is($standby->safe_psql('postgres', "select count(*) from hashgraph_join('a', 'k', 'b', 'k')"),
	$node->safe_psql('postgres', 'select count(*) from a join b using (k)'), 'the functions work there');

$standby->stop;
$node->stop;
done_testing();
