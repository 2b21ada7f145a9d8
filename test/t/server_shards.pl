# Tables whose partitions are foreign tables of other servers: joins and aggregates that are pushed down to them run there as
# HashGraph joins, those above foreign scans here, and the rows are those of one server that holds everything, whatever
# becomes of a server, or of a query, in the middle.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless covers('cpu');

# How long an answer may take.  It tells what waits for ever from what is slow.
use constant HANGS => 60;

my $conf = "fsync = off\nwork_mem = 8MB\nhashgraph.min_rows = 1000\nautovacuum = off\n";
my $node = new_server('coordinator', conf => $conf);

plan skip_all => 'postgres_fdw is not installed'
  if $node->safe_psql('postgres', q{select count(*) from pg_available_extensions where name = 'postgres_fdw'}) eq '0';

# what a shard is asked, and how it does it, is in its log
my %shards = map {
	$_ => new_server($_, preload => 'auto_explain, hashgraph', conf => $conf . "auto_explain.log_min_duration = 0\nrestart_after_crash = on\n")
} qw(north south);

# ------------------------------------------------------------------ the tables

# One server has everything in the schema whole.  In the schema shards a table has a partition here and one on each of two
# servers.
my $columns = '(k int, v int, s text)';

$node->safe_psql('postgres', <<SQL);
create extension postgres_fdw;
create schema whole;
create table whole.a $columns;
create table whole.b $columns;
create table whole.c (k int, v int, s text);
insert into whole.a select case when i % 500 = 0 then null else i % 24000 end, i, 'a' || i % 1000 from generate_series(1, 30000) i;
insert into whole.b select case when i % 700 = 0 then null else i % 25000 end, i % 1000, 'b' || i % 1000 from generate_series(1, 30000) i;
insert into whole.c select i, i % 100, 'c' || i from generate_series(1, 26000) i;
analyze;
create schema shards;
create table shards.a $columns partition by hash (k);
create table shards.b $columns partition by hash (k);
create table shards.c $columns partition by hash (k);
SQL
foreach my $shard (values %shards)
{
	$shard->safe_psql('postgres', <<SQL);
create table a $columns;
create table b $columns;
create table c $columns;
create table same as select 1 as k, i as v from generate_series(1, 30000) i;
create table other as select * from same;
create view joins as select node, backend, matches from hashgraph_last_joins();
analyze;
SQL
}

sub make_server
{
	my ($name, $shard, $options) = @_;

	$node->safe_psql('postgres', "create server $name foreign data wrapper postgres_fdw options (host '@{[ $shard->host ]}', port '@{[ $shard->port ]}', "
		  . "dbname 'postgres', use_remote_estimate 'true', batch_size '100', fdw_tuple_cost '0.01'$options); create user mapping for current_user server $name");
	return;
}

# rows that a cursor asks for are all read: only the first server is told
make_server('north', $shards{north}, ", async_capable 'true', options '-c cursor_tuple_fraction=1'");
make_server('south', $shards{south}, ", async_capable 'true'");
foreach my $table (qw(a b c))
{
	$node->safe_psql('postgres', <<SQL);
create table shards.${table}_here partition of shards.$table for values with (modulus 3, remainder 0);
create foreign table shards.${table}_north partition of shards.$table for values with (modulus 3, remainder 1) server north options (schema_name 'public', table_name '$table');
create foreign table shards.${table}_south partition of shards.$table for values with (modulus 3, remainder 2) server south options (schema_name 'public', table_name '$table');
insert into shards.$table select * from whole.$table;
SQL
}
$_->safe_psql('postgres', 'vacuum analyze') foreach values %shards;
$node->safe_psql('postgres', <<'SQL');
analyze;
create foreign table north_joins (node text, backend text, matches bigint) server north options (table_name 'joins');
create foreign table same (k int, v int) server north;
create foreign table other (k int, v int) server north;
create table local as select i % 24000 as k, i as v from generate_series(1, 3000) i;
analyze same, other, local;
SQL

my $partitionwise = 'set enable_partitionwise_join = on; set enable_partitionwise_aggregate = on;';

# The rows of a query over the shards under settings are those that one server has by PostgreSQL's own joins.
sub as_whole
{
	my ($name, $settings, $query) = @_;

	is(rows_of($node, "set search_path = shards, public; $settings", $query),
		rows_of($node, 'set search_path = whole, public; set hashgraph.enabled = off;', $query), "$name: the right rows");
	return;
}

# What EXPLAIN says of it.
sub plan_of
{
	my ($settings, $query) = @_;

	return $node->safe_psql('postgres', "set search_path = shards, public; $settings explain (verbose, costs off) $query");
}

sub joins_of
{
	my ($shard) = @_;

	return $shard->safe_psql('postgres', q{select joins from hashgraph_stat});
}

# ------------------------------------------------------------------ joins and aggregates of shards run there, side by side

my %pushed = (
	'a join' => 'select a.k, a.v, b.v, b.s from a join b using (k)',
	'a left join' => 'select a.k, a.v, b.v from a left join b on a.k = b.k and b.v < 500',
	'three tables' => 'select a.v, b.v, c.s from a join b using (k) join c using (k)',
	'groups' => 'select k, count(*), sum(a.v + b.v), max(b.s) from a join b using (k) group by k',
	'groups that are few' => 'select k, count(*), avg(a.v) from a join b using (k) where b.v < 20 group by k having count(*) > 1',
	'groups of three tables' => 'select k, sum(b.v), min(c.s) from a left join b using (k) join c using (k) group by k');

foreach my $name (sort keys %pushed)
{
	my $query = $pushed{$name};
	my $plan = plan_of($partitionwise, $query);
	my %before = map { $_ => joins_of($shards{$_}) } keys %shards;

	like($plan, qr/Async Foreign Scan.*Remote SQL: SELECT .* JOIN .*Async Foreign Scan.*Remote SQL: SELECT .* JOIN /s, "$name: is pushed down to both servers at once");
	as_whole($name, $partitionwise, $query);
	# under a cursor of which few rows are expected to be read PostgreSQL may want another join
	foreach my $shard ('north', $name =~ /groups/ ? 'south' : ())
	{
		cmp_ok(joins_of($shards{$shard}), '>', $before{$shard}, "... by a HashGraph join in the $shard");
	}
}

my $from = -s $shards{north}->logfile;
my $group = 'select k, count(*), sum(a.v + b.v) from a join b using (k) group by k';
as_whole('groups again', $partitionwise, $group);
log_tells($shards{north}, $from, qr/DECLARE c\d+ CURSOR.*\n.*Custom Scan \(HashGraphAggregate\).*Custom Scan \(HashGraphJoin\)/s,
	"... a shard's log has the plan");
is($node->safe_psql('postgres', "set search_path = shards, public; $partitionwise select count(*) from ($group) g; "
	  . "select node, backend, matches > 5000 from north_joins"),
	$node->safe_psql('postgres', 'select count(distinct k) from whole.a join whole.b using (k)') . "\nHashGraphJoin|cpu|t",
	'... and the session there tells of its last join, through a foreign table');

# rows in order, some of them, and again
as_whole('in order', $partitionwise, 'select a.k, a.v, b.v from a join b using (k) order by a.k, a.v, b.v limit 100 offset 1000');
as_whole('a semi join', $partitionwise, 'select a.k, a.v from a where exists (select from b where b.k = a.k and b.v > 900)');
as_whole('an anti join', $partitionwise, 'select a.k, a.v from a where not exists (select from b where b.k = a.k)');
as_whole('a full join', $partitionwise, 'select a.k, a.v, b.v from a full join b using (k)');
as_whole('a prepared statement', "$partitionwise set plan_cache_mode = force_generic_plan;",
	"select count(*), sum(x) from (select a.v + b.v as x from a join b using (k) where a.v > (select 100) + b.v) s");

# ------------------------------------------------------------------ the node above foreign scans

my $force = 'set hashgraph.force = on;';
my %above = (
	'two foreign tables' => 'select a.k, a.v, b.v from a join b using (k)',
	'a foreign table and one of ours' => 'select local.v, a.v, a.s from local join a using (k)',
	'... the other way round' => 'select local.v, a.v, a.s from local left join a on a.k = local.k and a.v % 2 = 0',
	'whole rows' => 'select local, a from local join a using (k) where a.v < 5000',
	'what every row asks again' => 'select g, n, x from generate_series(1, 4) g cross join lateral '
	  . '(select count(*) as n, sum(a.v) as x from local join a using (k) where a.v % 5 = g) s',
	'... of a side that does not change' => 'select g, n, x from generate_series(1, 4) g cross join lateral '
	  . '(select count(*) as n, sum(a.v) as x from local join a using (k) where local.v % 5 = g) s',
	'a correlated subquery' => 'select g, (select sum(a.v) from local join a using (k) where local.v = g * 100) from generate_series(1, 20) g',
	'some of the rows' => 'select count(*) from (select local.v from local join a using (k) limit 50) s');

foreach my $name (sort keys %above)
{
	like(plan_of($force, $above{$name}), qr/Custom Scan \(HashGraphJoin\).*Foreign Scan on shards/s, "$name: joined here");
	as_whole($name, $force, $above{$name});
	as_whole("$name, on disk", "$force set work_mem = '64kB';", $above{$name});
	as_whole("$name, partition by partition", "$force $partitionwise", $above{$name});
}

# one row of an outer table asks a foreign table, which is a side of a join
my $lateral = 'select l.v, s.n from (select * from local where v <= 10) l cross join lateral '
  . '(select count(*) as n from a_north a join b_south b on b.v = a.v % 1000 where a.k = l.k offset 0) s';
like(plan_of($force, $lateral), qr/Custom Scan \(HashGraphJoin\).*Foreign Scan on shards\.a_north.*Remote SQL: [^\n]*\$1::integer/s,
	'a foreign scan with a parameter below a join');
is(rows_of($node, "set search_path = shards, public; $force", $lateral),
	rows_of($node, 'set search_path = shards, public; set hashgraph.enabled = off;', $lateral), '... the right rows');

# a cursor goes on beside another query of its connection
is($node->safe_psql('postgres', <<SQL), "t\nt\nt", 'two joins in turns, over one connection');
set search_path = shards, public;
$force
begin;
declare c cursor for select local.v from local join a_north a using (k) order by local.v;
declare d cursor for select local.v from local join a_north a using (k) order by local.v desc;
create function fetched(name text, n int) returns bigint language plpgsql as 'declare c refcursor := name; r record; x bigint := 0; begin
  for i in 1..n loop fetch c into r; x := x + r.v; end loop; return x; end';
select fetched('c', 200) > 0;
select fetched('d', 200) > 0;
select fetched('c', 200) + fetched('d', 200) > 0;
commit;
SQL

# ------------------------------------------------------------------ changes

# What a statement returns and leaves of a table is what it is without the extension, and, where the table has all shards, what
# it is on one server; it is rolled back.
sub changes
{
	my ($name, $settings, $statement, $table, $like) = @_;
	my $run = "begin; $statement; select * from $table; rollback;";
	my $off = rows_of($node, 'set search_path = shards, public; set hashgraph.enabled = off;', $run);

	like(plan_of($settings, $statement), $like, "$name: its plan");
	is(rows_of($node, "set search_path = shards, public; $settings", $run), $off, '... the right rows');
	is(rows_of($node, 'set search_path = whole, public; set hashgraph.enabled = off;', $run), $off, '... which are those of one server')
	  if $table !~ /_north/;
	return;
}

changes('UPDATE from a local table', $force, 'update a set v = a.v + local.v, s = local.v from local where a.k = local.k returning a.k, a.v, local.v', 'a',
	qr/Update on .*Foreign Update on .*Remote SQL: UPDATE /s);
changes('DELETE using a local table', $force, 'delete from a using local where a.k = local.k and local.v % 3 = 0 returning a.v', 'a',
	qr/Delete on .*Foreign Delete on .*Remote SQL: DELETE FROM /s);
changes('UPDATE of a local table', $force, 'update local set v = local.v + c.v from c where c.k = local.k', 'local',
	qr/Update on .*Custom Scan \(HashGraphJoin\).*Foreign Scan/s);
{
	my $before = joins_of($shards{north});

	changes('UPDATE that is pushed down', '', 'update a_north a set v = c.v from c_north c where a.k = c.k and c.v < 50 returning a.k, c.s', 'a_north',
		qr/Foreign Update\n.*Remote SQL: UPDATE .* FROM /s);
	cmp_ok(joins_of($shards{north}), '>', $before, '... by a HashGraph join there');
}
changes('DELETE that is pushed down', '', 'delete from a_north a using b_north b where a.k = b.k and b.v < 50', 'a_north',
	qr/Foreign Delete\n.*Remote SQL: DELETE FROM .* USING /s);
# rows come through the join with their place on the other server
changes('UPDATE of a foreign table', $force, 'update a_north a set v = a.v + 1, s = l.v from local l where a.k = l.k returning l.v, a.*', 'a_north',
	qr/Custom Scan \(HashGraphJoin\).*Foreign Scan on shards\.a_north/s);
changes('DELETE from a foreign table', $force, 'delete from a_north a using local l where a.k = l.k and l.v % 2 = 0', 'a_north',
	qr/Custom Scan \(HashGraphJoin\).*Foreign Scan on shards\.a_north/s);

# Rows that others have changed meanwhile are looked at again, beside the rows that were read of a foreign table, or of a join that
# was pushed down.
foreach my $case (
	[ 'a foreign table', 'update local l set v = l.v + c.v from c_north c where c.k = l.k and l.v > 2900',
		qr/Custom Scan \(HashGraphJoin\).*Foreign Scan on/s, 'hashgraph.force = on' ],
	[ 'a join that is pushed down',
		'update local l set v = l.v + c.v + d.v + e.v from c_north c, c_north d, c_north e where c.k = l.k and d.k = c.k and e.k = d.k and l.v > 2900',
		qr/Remote SQL: .* JOIN .* JOIN /, 'hashgraph.min_rows = 0' ])
{
	my ($name, $statement, $plan, $on) = @$case;
	my %rows;

	foreach my $way ($on, 'hashgraph.enabled = off')
	{
		my ($first, $second) = map { RawSession->new($node) } 1 .. 2;

		$node->safe_psql('postgres', 'create table saved as select * from local');
		$_->run_each("set search_path = shards, public; set $way") foreach $first, $second;
		like($second->query("explain (verbose, costs off) $statement"), $plan, "$name: its plan") if $way eq $on;
		# some of them will match no more, some will, and some are gone
		$first->run_each('begin; update local set k = k + 1 where v > 2980; update local set v = v + 10000 where v between 2941 and 2980; '
			  . 'delete from local where v between 2931 and 2940');
		$second->send($statement);
		ok(wait_for(sub { $node->safe_psql('postgres', "select count(*) from pg_stat_activity where pid = @{[ $second->pid ]} and wait_event_type = 'Lock'") eq '1' }, HANGS),
			"$name: waits for a row, $way");
		$first->run_each('commit');
		ok($second->finish(HANGS), '... ends') or last;
		is($second->{error}, undef, '... well');
		$rows{$way} = rows_of($node, '', 'select * from local');
		cmp_ok($node->safe_psql('postgres', 'select count(*) from local l join saved s using (k) where l.v > s.v + 10000'), '>', 0, '... rows that match as they are now are changed');
		$node->safe_psql('postgres', 'truncate local; insert into local select * from saved; drop table saved; analyze local');
		close $_->{socket} foreach $first, $second;
	}
	is($rows{$on}, $rows{'hashgraph.enabled = off'}, "$name: the same rows as without the extension");
}

# ------------------------------------------------------------------ what ends in the middle

# A join of 900 million pairs, which a server that is asked for it works on.
my $long = 'select count(*) from same a join other b on a.k = b.k and a.v * b.v < 0';

# Wait until the server in the north is in the middle of it.
sub in_the_middle
{
	return wait_for(sub { $shards{north}->safe_psql('postgres', 'select count(*) from hashgraph_progress where matches > 0') eq '1' }, HANGS);
}

# Nothing that ran is left on any of the servers.
sub nothing_is_left
{
	my ($name) = @_;

	ok(wait_for(sub {
		!grep {
			$_->safe_psql('postgres', q{select (select count(*) from hashgraph_progress)
				+ (select count(*) from pg_stat_activity where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid())}) ne '0'
			  || temp_files($_) } $node, values %shards }, HANGS), "$name: nothing is left");
	return;
}

like($node->safe_psql('postgres', "explain (verbose, costs off) $long"), qr/Remote SQL: SELECT .* JOIN /, 'a long join is pushed down');

my $north = $shards{north};
my $signal = sub {
	my ($server, $function) = @_;

	return $server->safe_psql('postgres',
		"select count($function(pid)) from pg_stat_activity where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()");
};
my $groups = rows_of($node, 'set search_path = whole, public; set hashgraph.enabled = off;', $pushed{groups});

foreach my $case (
	[ 'a cancel here', sub { $signal->($node, 'pg_cancel_backend') }, qr/^57014$/ ],
	[ 'a cancel there', sub { $signal->($north, 'pg_cancel_backend') }, qr/^57014$/ ],
	[ 'a termination there', sub { $signal->($north, 'pg_terminate_backend') }, qr/^(57P01|08006)$/ ],
	[ 'a server that is stopped', sub { $north->stop('fast') }, qr/^(57P01|08006)$/ ],
	[ 'a server that stops at once', sub { $north->stop('immediate') }, qr/^(57P02|08006|57P01)$/ ])
{
	my ($name, $event, $sqlstate) = @$case;
	my $session = RawSession->new($node);

	$session->run_each("set search_path = shards, public; $partitionwise");
	$session->send($long);
	ok(in_the_middle(), "$name: in the middle of a join");
	$event->();
	my $sent = time;
	ok($session->finish(HANGS), '... there is an answer') or diag(sprintf 'none after %.1f s', time - $sent);
	like($session->{sqlstate} // 'none', $sqlstate, '... which is an error') or diag($session->{error} // '');
	if ($name =~ /stop/)
	{
		$session->query($pushed{groups});
		like($session->{sqlstate} // 'none', qr/^08/, '... and another one, as long as the server is not there');
		$north->start;
	}
	is(join("\n", sort split /\n/, $session->query($pushed{groups})), $groups, '... the next join of the session is right')
	  or diag($session->{error} // '');
	close $session->{socket};
	nothing_is_left($name);
}

# statement_timeout, in a subtransaction, whose end the query lives through
{
	my $session = RawSession->new($node);

	$session->run_each("set search_path = shards, public; $partitionwise begin; savepoint s; set local statement_timeout = 1000");
	$session->send($long);
	ok($session->finish(HANGS), 'statement_timeout: there is an answer');
	is($session->{sqlstate}, '57014', '... which is an error');
	$session->run_each('rollback to s');
	is(join("\n", sort split /\n/, $session->query($pushed{groups})), $groups, '... the transaction goes on');
	$session->run_each('commit');
	close $session->{socket};
	nothing_is_left('statement_timeout');
}

# A join here, in the middle of which a foreign table fails: what it has on disk goes.
{
	my $session = RawSession->new($node);

	$session->run_each("set search_path = shards, public; $force set work_mem = '64kB'; begin");
	$session->run_each('declare c cursor for select a.v, b.v from a left join b on a.k = b.k + 0');
	$session->query('fetch 100 from c');
	ok(scalar(temp_files($node)), 'a join above foreign scans is on disk');
	$north->stop('immediate');
	$session->send('fetch all from c');
	ok($session->finish(HANGS), '... there is an answer when a server is gone');
	$session->query('rollback');
	$north->start;
	is(join("\n", sort split /\n/, $session->query($above{'two foreign tables'})),
		rows_of($node, 'set search_path = whole, public; set hashgraph.enabled = off;', $above{'two foreign tables'}), '... the next join is right')
	  or diag($session->{error} // '');
	close $session->{socket};
	nothing_is_left('a foreign table that fails');
}

$_->stop foreach $node, values %shards;
done_testing();
