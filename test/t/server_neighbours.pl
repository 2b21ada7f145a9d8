# Beside extensions of others that hook planner and executor, as far as they are installed, in either order of
# loading: the rows are right, and each goes on doing its own work.  pg_hint_plan has a test of its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

chomp(my $libraries = qx{"\${PG_CONFIG:-pg_config}" --pkglibdir});
my ($major) = qx{"\${PG_CONFIG:-pg_config}" --version} =~ /(\d+)/;
my $setup = <<'SQL';
create table l as select i % 5000 as k, i as v from generate_series(1, 20000) i;
create table r as select i % 7000 as k, i as w from generate_series(1, 20000) i;
create table few as select i as k from generate_series(1, 5) i;
create function f() returns bigint language plpgsql as 'begin
  return (select count(*) from l join r on l.k = r.k);
end';
vacuum analyze;
SQL
my $query = 'select count(*), sum(v), sum(w) from l join r on l.k = r.k where v % 3 = 0';

# Tests of one server: the rows of a query are those without the node, which its plan has.
sub joins_right
{
	my ($node, $label, $settings, $select) = @_;

	like($node->safe_psql('postgres', "$settings explain (costs off) $select"), qr/HashGraph/, "$label: the node has the join");
	is(rows_of($node, $settings, $select), rows_of($node, "$settings set hashgraph.enabled = off;", $select), "$label: the right rows");
	return;
}

# What the log says from a position on.
sub log_from
{
	my ($node, $start) = @_;

	return slurp_file($node->logfile, $start);
}

sub pgaudit
{
	my ($node, $label) = @_;

	foreach my $statement ($query, "select count(*) from hashgraph_join('l', 'k', 'r', 'k')")
	{
		my $start = -s $node->logfile;
		$node->safe_psql('postgres', $statement);
		my $log = log_from($node, $start);
		foreach my $table (qw(l r))
		{
			like($log, qr/AUDIT: SESSION,.*,READ,SELECT,TABLE,public\.$table,/, "$label: the log has table $table of $statement");
		}
	}
	return;
}

# The quals of the relations that a query's statistics name.
sub pg_qualstats
{
	my ($node, $label) = @_;
	my $quals = 'select count(*) from pg_qualstats where 16384 <= coalesce(lrelid, 0) and 16384 <= coalesce(rrelid, 0)';

	$node->safe_psql('postgres', "select pg_qualstats_reset(); set hashgraph.enabled = off; $query");
	is($node->safe_psql('postgres', $quals), '1', "$label: it has the join's qual where the join is PostgreSQL's");
	$node->safe_psql('postgres', "select pg_qualstats_reset(); $query");
	is($node->safe_psql('postgres', $quals), '0', "$label: ... and not where it is the node's");

	# nor what stands below it
	my $filtered = 'select count(*) from l join r on l.k = r.k where l.v = 17';
	my $filters = "select count(*) from pg_qualstats where lrelid = 'l'::regclass and rrelid is null";
	$node->safe_psql('postgres', "select pg_qualstats_reset(); set hashgraph.enabled = off; $filtered");
	is($node->safe_psql('postgres', $filters), '1', "$label: it has the qual of a scan below PostgreSQL's join");
	$node->safe_psql('postgres', "select pg_qualstats_reset(); $filtered");
	is($node->safe_psql('postgres', $filters), '0', "$label: ... and not below the node");
	return;
}

sub pg_stat_kcache
{
	my ($node, $label) = @_;

	$node->safe_psql('postgres', "select pg_stat_statements_reset(), pg_stat_kcache_reset(); $query; $query");
	is($node->safe_psql('postgres', q{select s.calls, bool_and(k.exec_user_time + k.exec_system_time > 0) from pg_stat_statements s
		join pg_stat_kcache() k using (queryid, userid, dbid) where s.query like '%join r on%' and k.top group by 1}),
		'2|t', "$label: it counts the processor's time");
	return;
}

# A wait within a join belongs to its query.
sub pg_wait_sampling
{
	my ($node, $label) = @_;

	$node->safe_psql('postgres', "select count(*) from l join r on l.k = r.k join (select pg_sleep(0.5)) s on true");
	is($node->safe_psql('postgres', q{select bool_or(p.count > 0) from pg_wait_sampling_profile p join pg_stat_statements s using (queryid)
		where p.event = 'PgSleep' and s.query like '%join r on%'}), 't', "$label: it has the waits of a query with the node");
	return;
}

# A hypothetical index takes a join from the node in a plan that EXPLAIN shows, and in no plan that runs.
sub hypopg
{
	my ($node, $label) = @_;
	my $settings = 'set hashgraph.force = off; set hashgraph.min_rows = 0;';
	my $lookup = 'select count(*) from few join r using (k)';
	my ($index, $plan) = $node->safe_psql('postgres',
		"$settings select indexname from hypopg_create_index('create index on r (k)'); explain (costs off) $lookup;") =~ /(.*?)\n(.*)/s;

	like($plan, qr/\Q$index\E/, "$label: a hypothetical index competes with the node");
	is($node->safe_psql('postgres', "$settings create temp table made as select 1 from hypopg_create_index('create index on r (k)'); $lookup"),
		$node->safe_psql('postgres', "set hashgraph.enabled = off; $lookup"), "$label: ... and is never read");
	unlike($node->safe_psql('postgres', "$settings create temp table made as select 1 from hypopg_create_index('create index on r (k)'); explain (analyze, costs off) $lookup"),
		qr/Index/, "$label: ... nor in a plan that runs");
	unlike($node->safe_psql('postgres', "create temp table made as select 1 from hypopg_create_index('create index on r (k)'); explain (costs off) $lookup"),
		qr/Index/, "$label: ... nor in one that is forced to have the node");
	return;
}

# The scheduler's own processes have the node.
sub pg_cron
{
	my ($node, $label) = @_;

	$node->safe_psql('postgres', 'create table told (n bigint, joins bigint)');
	$node->safe_psql('postgres', q{select cron.schedule('joins', case when (select extversion ~ '^1\\.[0-4]\\M' from pg_extension where extname = 'pg_cron')
		then '* * * * *' else '1 seconds' end, $$ insert into told select f(), (select joins from hashgraph_stat) $$)});
	ok(wait_for(sub { $node->safe_psql('postgres', q{select count(*) from told}) > 0 }, 90), "$label: a job has run");
	is($node->safe_psql('postgres', 'select distinct n from told'), $node->safe_psql('postgres', 'set hashgraph.enabled = off; select f()'),
		"$label: ... and joined right");
	$node->safe_psql('postgres', q{select cron.unschedule('joins')});
	is($node->safe_psql('postgres', q{select distinct status from cron.job_run_details where status not in ('starting', 'running')}), 'succeeded',
		"$label: ... with no error");
	return;
}

# Who one is decides which rows one sees.
sub set_user
{
	my ($node, $label) = @_;
	my $start = -s $node->logfile;

	$node->safe_psql('postgres', <<'SQL');
create role app login;
create role reader;
grant execute on function set_user(text) to app;
grant reader to app;
grant select on l, r to app, reader;
alter table l enable row level security;
create policy reads on l for select to reader using (k < 10);
create policy reads_more on l for select to app using (k < 100);
SQL
	my $both = "$query; select set_user('reader'); $query; select current_user, reset_user(); $query";
	my ($with, $without) =
	  map { $node->safe_psql('postgres', "$_ $both", extra_params => [ '-U', 'app' ]) } '', 'set hashgraph.enabled = off;';
	is($with, $without, "$label: each role's rows");
	like($with, qr/^reader\|OK$/m, "$label: the role was changed");
	like(log_from($node, $start), qr/transitioning to.*reader/i, "$label: the log has the change");
	return;
}

sub plpgsql_check
{
	my ($node, $label) = @_;

	is($node->safe_psql('postgres', q{select * from plpgsql_check_function('f()')}), '', "$label: a right function has no faults");
	$node->safe_psql('postgres', <<'SQL');
set plpgsql_check.mode = 'disabled';
create function wrong() returns bigint language plpgsql as 'begin return (select count(*) from l join r on l.k = r.none); end';
SQL
	like($node->safe_psql('postgres', q{select * from plpgsql_check_function('wrong()')}), qr/column r\.none does not exist/, "$label: a wrong one has");
	joins_right($node, $label, "load 'plpgsql'; set plpgsql_check.mode = 'every_start';", 'select f(), l.k from l join r using (k) where l.v < 3');
	return;
}

sub orafce
{
	my ($node, $label) = @_;

	$node->safe_psql('postgres', <<'SQL');
create table lo as select (i % 100)::text::oracle.varchar2(10) as k, ('2020-01-01'::date + i % 50)::oracle.date as d from generate_series(1, 1000) i;
create table ro as select (i % 70)::text::oracle.varchar2(10) as k, ('2020-01-01'::date + i % 30)::oracle.date as d from generate_series(1, 1000) i;
analyze lo, ro;
SQL
	joins_right($node, $label, '', "select count(*), sum(oracle.nvl(length(lo.k), 0)) from lo join ro on lo.$_ = ro.$_") foreach qw(k d);
	return;
}

sub plprofiler
{
	my ($node, $label) = @_;

	is($node->safe_psql('postgres', q{select pl_profiler_set_enabled_local(true); select f() > 0;
		select max(exec_count) from pl_profiler_linestats_local() where func_oid = 'f'::regproc and line_number = 2}) =~ /(\d+)\Z/ ? $1 : '', '1',
		"$label: it counts the lines of a function that joins");
	return;
}

sub pldebugger
{
	my ($node, $label) = @_;

	is($node->safe_psql('postgres', 'select count(*) from pldbg_get_proxy_info()'), '1', "$label: it answers");
	is($node->safe_psql('postgres', 'select f()'), $node->safe_psql('postgres', 'set hashgraph.enabled = off; select f()'),
		"$label: a function that it could stop in joins right");
	return;
}

sub pg_show_plans
{
	my ($node, $label) = @_;

	like($node->safe_psql('postgres', "select count(*), (select string_agg(plan, '') from pg_show_plans where pid = pg_backend_pid()) from l join r on l.k = r.k"),
		qr/Custom Scan \(HashGraphJoin\)/, "$label: it shows the node in the plan of a query that runs");
	return;
}

# A pattern of a graph is joins.
sub age
{
	my ($node, $label) = @_;
	my $settings = 'set search_path = ag_catalog, public;';

	$node->safe_psql('postgres', <<'SQL');
set search_path = ag_catalog, public;
select create_graph('people');
select * from cypher('people', $$ unwind range(1, 200) as i create (:P {n: i}) $$) as (a agtype);
select * from cypher('people', $$ match (a:P), (b:P) where b.n % 20 = a.n % 20 and a.n < 50 create (a)-[:K {w: b.n}]->(b) $$) as (a agtype);
analyze;
SQL
	joins_right($node, $label, $settings, 'select * from cypher(\'people\', $$ match (a:P)-[e:K]->(b:P)-[:K]->(c:P) return a.n, e.w, c.n $$) as (a agtype, b agtype, c agtype)');
	return;
}

# Rows of chunks, which its own nodes choose when the plan begins.
sub timescaledb
{
	my ($node, $label) = @_;

	$node->safe_psql('postgres', <<'SQL');
set client_min_messages = warning;
create table h (t timestamptz not null, k int, x int);
select create_hypertable('h', 't', chunk_time_interval => interval '1 day');
insert into h select '2020-01-01'::timestamptz + i * interval '10 minutes', i % 500, i from generate_series(1, 3000) i;
create table early as select '2020-01-05'::timestamptz as t;
vacuum analyze;
SQL
	my $joined = 'select time_bucket(\'1 day\', h.t) as day, count(*), sum(x), sum(w) from h join r on h.k = r.k where h.t < (select t from early) group by 1';
	joins_right($node, $label, '', $joined);
	like($node->safe_psql('postgres', "set timescaledb.enable_chunkwise_aggregation = off; explain (analyze, costs off, timing off) $joined"),
		qr/HashGraphJoin.*Custom Scan \(ChunkAppend\) on h.*never executed|HashGraphJoin.*Custom Scan \(ChunkAppend\) on h.*Chunks excluded during startup: \d+/s,
		"$label: its node below ours leaves chunks out");
	return;
}

# first_until: up to this PostgreSQL it has to stand before others, because it forgets what memory those before it asked for,
# and the server would not start.
my @neighbours = (
	{ name => 'pgaudit', does => \&pgaudit, conf => "pgaudit.log = 'read'\npgaudit.log_relation = on\n" },
	{ name => 'pg_qualstats', does => \&pg_qualstats, conf => "pg_qualstats.sample_rate = 1\n" },
	{ name => 'pg_stat_kcache', does => \&pg_stat_kcache, libraries => [qw(pg_stat_statements pg_stat_kcache)],
		extensions => [qw(pg_stat_statements pg_stat_kcache)] },
	{ name => 'pg_wait_sampling', does => \&pg_wait_sampling, libraries => [qw(pg_stat_statements pg_wait_sampling)],
		extensions => [qw(pg_stat_statements pg_wait_sampling)], conf => "pg_wait_sampling.profile_period = 1\n" },
	{ name => 'hypopg', does => \&hypopg },
	{ name => 'pg_cron', does => \&pg_cron, conf => "cron.use_background_workers = on\nmax_worker_processes = 20\n" },
	{ name => 'set_user', does => \&set_user },
	{ name => 'plpgsql_check', does => \&plpgsql_check },
	{ name => 'orafce', does => \&orafce },
	{ name => 'plprofiler', does => \&plprofiler, first_until => 15 },
	{ name => 'pldebugger', does => \&pldebugger, libraries => ['plugin_debugger'], extensions => ['pldbgapi'] },
	{ name => 'pg_show_plans', does => \&pg_show_plans },
	{ name => 'age', does => \&age },
	{ name => 'timescaledb', does => \&timescaledb, conf => "timescaledb.telemetry_level = off\n" });
foreach my $neighbour (@neighbours)
{
	$neighbour->{libraries} //= [ $neighbour->{name} ];
	$neighbour->{extensions} //= [ $neighbour->{name} ];
}
my @here = grep { my $neighbour = $_; !grep { !-e "$libraries/$_.so" } @{ $neighbour->{libraries} } } @neighbours;
plan skip_all => 'no extension that it could stand beside is installed' unless @here;

foreach my $neighbour (@here)
{
	my $name = $neighbour->{name};
	foreach my $order ([ 'hashgraph', @{ $neighbour->{libraries} } ], [ @{ $neighbour->{libraries} }, 'hashgraph' ])
	{
		next if $order->[0] eq 'hashgraph' && ($neighbour->{first_until} // 0) >= $major;
		my $label = $order->[0] eq 'hashgraph' ? "$name after hashgraph" : "$name before hashgraph";
		my $node = new_server($label =~ s/ /_/gr, preload => join(', ', @$order), conf => "hashgraph.force = on\n" . ($neighbour->{conf} // ''));

		$node->safe_psql('postgres', join '', 'set client_min_messages = warning;', map { "create extension $_ cascade;" } @{ $neighbour->{extensions} });
		$node->safe_psql('postgres', $setup);
		joins_right($node, $label, '', $query);
		$neighbour->{does}->($node, $label);
		unlike(slurp_file($node->logfile), qr/WARNING:  .*(?:\bleak: |resource was not closed)|terminated by signal/, "$label: nothing leaked or died");
		$node->stop;
	}
}

done_testing();
