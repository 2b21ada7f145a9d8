# hashgraph_progress shows joins while they run: their figures go forward in every phase and end at what was
# expected, everybody sees what his privileges allow, and nothing is left of a join that has ended, however it did.
#
# Devices: matches come from the device process in chunks of its own.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util qw(max sum0);
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my $node = new_server('progress', conf => <<'CONF');
work_mem = 64MB
hash_mem_multiplier = 1
max_worker_processes = 16
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
hashgraph.force = on
hashgraph.resident_memory = 64MB
restart_after_crash = on
CONF

# Rows that a side has.  An outer row matches two inner ones, or those with a k from 50000 on none.
use constant OUTER => 100000;
use constant INNER => 100000;
use constant PAIRS => 100000;

# hold(place, i) waits at the place's lock where i = 0, and so does stand(place, i), in each process of a join;
# slow(i) takes a while now and then.
$node->safe_psql('postgres', <<'SQL');
create table l (k int, v int, pad text);
create table r (k int, w int, pad text);
insert into l select i % 100000, i, repeat('l', 100) from generate_series(1, 100000) i;
insert into r select i % 50000, i, repeat('r', 100) from generate_series(1, 100000) i;
create table dim as select i as k, i % 10 as g from generate_series(1, 1000) i;
create table parted (k int, v int) partition by list (v);
create table parted_1 partition of parted for values in (1);
create table parted_2 partition of parted for values in (2);
insert into parted select i, 1 + i % 2 from generate_series(1, 1000) i;
vacuum analyze;
create function hold(place int, i int) returns boolean language plpgsql volatile parallel restricted as $$
begin
	if i = 0 then
		perform pg_advisory_lock_shared(place);
		perform pg_advisory_unlock_shared(place);
	end if;
	return true;
end $$;
create function stand(place int, i int) returns boolean language plpgsql volatile parallel safe as $$
begin
	if i = 0 then
		perform pg_advisory_lock_shared(place);
		perform pg_advisory_unlock_shared(place);
	end if;
	return true;
end $$;
create function slow(i int) returns boolean language plpgsql volatile parallel safe as $$
begin
	if i % 1000 = 0 then
		perform pg_sleep(0.01);
	end if;
	return true;
end $$;
create function fail(i int) returns boolean language plpgsql volatile as $$
begin
	if i = 0 then
		raise exception 'failed';
	end if;
	return true;
end $$;
SQL

my $watcher = RawSession->new($node);

# it is not to see joins of its own
$watcher->query('set hashgraph.enabled = off');

# What there is to be seen of a process's joins, or of all, one hash a join in the order of slots.
my @columns = qw(pid leader_pid datname plan_node_id join_type outer_relations inner_relations phase backend executions outer_rows
  outer_rows_expected inner_rows inner_rows_expected partitions partitions_done matches rows_out memory_bytes spilled_bytes);

sub joins_of
{
	my ($pid) = @_;
	my $where = defined $pid ? "where $pid in (pid, leader_pid)" : '';
	my $rows = $watcher->query('select ' . join(', ', map { "coalesce($_\::text, '')" } @columns) . " from hashgraph_progress $where");

	die $watcher->{error} if defined $watcher->{error};
	return map { my %join; @join{@columns} = split /\|/, $_, -1; \%join } split /\n/, $rows;
}

# Hold a place, and let go of it.
sub hold { $watcher->query("select pg_advisory_lock($_[0])"); return; }
sub let_go { $watcher->query("select pg_advisory_unlock($_[0])"); return; }

# Wait until a session stands at a place that is held.
sub held_at
{
	my ($session, $place) = @_;

	return wait_for(sub { $watcher->query("select count(*) from pg_locks where locktype = 'advisory' and objid = $place and not granted") > 0
		  or $session->finish(0.005) })
	  && !$session->{error};
}

sub about
{
	my ($got, $wanted, $name) = @_;

	return ok(abs($got - $wanted) <= 0.05 * $wanted, $name) || diag("$got, and not $wanted");
}

# Run a query, and look at its joins meanwhile: the samples, in their order.
sub sample
{
	my ($session, $query) = @_;
	my @samples;

	$session->send($query);
	until ($session->finish(0.02))
	{
		push @samples, [ joins_of($session->pid) ];
	}
	is($session->{error}, undef, 'the join is done');
	# it may have ended before it was looked at
	pop @samples until !@samples || @{ $samples[-1] };
	return @samples;
}

# Tests: in the samples of a process's join all figures go forward; in each of these phases that lasts, some do.
sub go_forward
{
	my ($name, $samples, @phases) = @_;
	my (%last, %moves, %seen, @back);

	foreach my $sample (@$samples)
	{
		foreach my $join (@$sample)
		{
			my $before = $last{"$join->{pid} $join->{plan_node_id}"};
			my $phase = $join->{phase};

			$seen{$phase}++;
			foreach my $figure (qw(executions outer_rows inner_rows partitions partitions_done matches rows_out spilled_bytes))
			{
				next unless defined $before;
				push @back, "$phase: $figure $before->{$figure} to $join->{$figure}" if $join->{$figure} < $before->{$figure};
				$moves{$phase}++ if $before->{phase} eq $phase && $join->{$figure} > $before->{$figure};
			}
			$last{"$join->{pid} $join->{plan_node_id}"} = $join;
		}
	}
	is_deeply(\@back, [], "$name: nothing goes back");
	cmp_ok($moves{$_} // 0, '>', 0, "$name: $_ goes forward") foreach @phases;
	note "$name: ", join ', ', map { "$_: $seen{$_} samples" } sort keys %seen;
	return;
}

my $session = RawSession->new($node);
my $pid = $session->pid;

$session->query('set hashgraph.backend = cpu');

# A join in memory is held in each of its phases.  One that is to have bins does not stream.
my $three = <<'SQL';
select sum(v + w), hold(14, 0) from (
  select v, w from (select * from l where hold(12, v - 70000)) l
  join (select * from r where hold(11, w - 60000)) r on l.k = r.k and hold(13, w - 80000 + 0 * v) offset 0) s
SQL
$session->query('set hashgraph.build = v2');
hold($_) foreach 11 .. 14;
$session->send($three);
ok(held_at($session, 11), 'an inner row is held');
my @joins = joins_of($pid);
is(scalar @joins, 1, 'there is one join');
is(join('|', @{ $joins[0] }{qw(pid leader_pid datname join_type outer_relations inner_relations phase executions)}),
	"$pid||postgres|Inner|{l}|{r}|scan inner|0", 'which reads its inner side');
about($joins[0]{inner_rows}, 60000, '... as far as that row');
cmp_ok($joins[0]{inner_rows_expected}, '>=', $joins[0]{inner_rows}, '... of those that are expected');
is($joins[0]{outer_rows}, 0, '... and nothing of the other');
cmp_ok($joins[0]{memory_bytes}, '>', 60000 * 8, '... and holds them');
let_go(11);
ok(held_at($session, 12), 'an outer row is held');
@joins = joins_of($pid);
is($joins[0]{phase}, 'scan outer', 'the outer side is read');
is("$joins[0]{inner_rows} $joins[0]{inner_rows_expected}", INNER . ' ' . INNER, '... as the inner one has been');
about($joins[0]{outer_rows}, 70000, '... as far as that row');
let_go(12);
ok(held_at($session, 13), 'a match is held');
@joins = joins_of($pid);
is(join('|', @{ $joins[0] }{qw(phase backend executions outer_rows outer_rows_expected)}), 'match|cpu|1|' . OUTER . '|' . OUTER,
	'matches are found on the CPU');
cmp_ok($joins[0]{matches}, '>', 0, '... one after the other');
let_go(13);
ok(held_at($session, 14), 'the result is held');
@joins = joins_of($pid);
is(join('|', @{ $joins[0] }{qw(phase matches rows_out partitions)}), 'done|' . PAIRS . '|' . PAIRS . '|0', 'all is joined');
let_go(14);
$session->finish;
is($session->{error}, undef, 'the join is done');
is(scalar(joins_of($pid)), 0, 'and is shown no more');
$session->query('reset hashgraph.build');

# One of more rows than a bigint can tell, as the plan has it.
$watcher->query("create function many() returns setof int language plpgsql rows 1e19 as 'begin return next 1; end'");
hold(11);
$session->send('select count(*) from many() m (k) join (select k from l where hold(11, v - 1)) l using (k)');
ok(held_at($session, 11), 'an inner row of a join is held whose outer side is to have 1e19 rows');
@joins = joins_of($pid);
is("$joins[0]{outer_rows} $joins[0]{outer_rows_expected}", '0 1000000000000000000', '... which are told as many, and not as less than none');
let_go(11);
$session->finish;
is(join('|', $session->{error} // '', @{ $session->{rows} }), '|1', '... and the join is done');

# One that goes to disk.
$session->query('set work_mem = \'512kB\'');
my @samples = sample($session, <<'SQL');
select c, hold(21, 1), pg_sleep(0.2) from (
  select sum(length(l.pad || r.pad)) as c from (select * from l where slow(v)) l join (select * from r where slow(w)) r on l.k = r.k and slow(w + 0 * v)) s
SQL
go_forward('on disk', \@samples, 'scan inner', 'scan outer', 'match');
my ($end) = @{ $samples[-1] };
is($end->{phase}, 'done', 'on disk: it is done');
about($end->{outer_rows}, OUTER, '... with the outer rows');
about($end->{inner_rows}, INNER, '... and the inner ones');
about($end->{matches}, PAIRS, '... and their matches');
is("$end->{outer_rows_expected} $end->{inner_rows_expected}", "$end->{outer_rows} $end->{inner_rows}", '... which are those that are expected then');
cmp_ok($end->{partitions}, '>', 1, '... in partitions');
is($end->{partitions_done}, $end->{partitions}, '... all of which are joined');
my @partly = grep { $_->{partitions_done} > 0 && $_->{partitions_done} < $_->{partitions} } map { @$_ } @samples;
cmp_ok(scalar @partly, '>', 0, '... one after the other');
my ($spilled) = $session->query('select spilled_bytes from hashgraph_last_joins()');
is($end->{spilled_bytes}, $spilled, '... after so many bytes were written');
cmp_ok(max(map { $_->{memory_bytes} } map { @$_ } @samples), '<=', 2 * 512 * 1024, '... in little memory');
$session->query('reset work_mem');

# An outer side that streams by.
@samples = sample($session, <<'SQL');
select c, pg_sleep(0.2) from (select sum(v + g) as c from (select * from l where slow(v)) l join dim on dim.k = l.k % 1000 + 1) s
SQL
go_forward('streamed', \@samples, 'scan outer and match');
($end) = @{ $samples[-1] };
is("$end->{phase} $end->{outer_rows} $end->{outer_rows_expected} $end->{matches} $end->{rows_out}", join(' ', 'done', (OUTER) x 4),
	'streamed: all rows have come by');

# Several processes together.  Each is held at a match, so that none of them goes without: one that finds none has no
# rows, and ends, and is shown no more.  Then the leader is held at its first row, when all have joined and wait to be
# asked for theirs, of which there are more than a queue takes.
my $together = <<'SQL';
select count(*) from (
  select v, w from (select * from l where slow(v)) l join (select * from r where slow(w)) r on l.k = r.k and stand(32, (v + 0 * w) % 100) order by v offset 0) s
where hold(31, v - 1)
SQL

# Sample a query's joins until so many processes stand at a place, or they do not come: the samples.
sub sample_until_held
{
	my ($of, $place, $processes) = @_;
	my @seen;

	wait_for(sub { held_at_now($of, $place, $processes) or not push @seen, [ joins_of($of->pid) ] });
	return @seen;
}

foreach my $memory ('64MB', '512kB')
{
	$session->query("set work_mem = '$memory'; set max_parallel_workers_per_gather = 2; set enable_hashagg = off");
	my $plan = $session->query("explain (costs off) $together");
	like($plan, qr/Gather Merge.*HashGraphJoin/s, "below a Gather: with $memory") or diag($plan);
	hold($_) foreach 31, 32;
	$session->send($together);
	@samples = sample_until_held($session, 32, 3);
	@joins = joins_of($pid);
	is(join(' ', map { $_->{phase} } @joins), 'match match match', '... each of three processes stands at a match');
	let_go(32);
	push @samples, sample_until_held($session, 31, 1);
	@joins = joins_of($pid);
	go_forward("below a Gather with $memory", \@samples, 'scan inner', 'scan outer');
	is(scalar @joins, 3, '... there are three processes');
	is(scalar(grep { $_->{leader_pid} eq $pid } @joins), 2, '... two of which have a leader');
	is(scalar(grep { $_->{phase} ne 'done' } @joins), 0, '... all of them are done');
	is(sum0(map { $_->{outer_rows} } @joins), OUTER, '... with the outer rows');
	is(sum0(map { $_->{inner_rows} } @joins), INNER, '... and the inner ones');
	is(sum0(map { $_->{matches} } @joins), PAIRS, '... and all matches');
	is(scalar(grep { $_->{partitions} != $_->{partitions_done} || ($_->{partitions} > 0) != ($memory eq '512kB') } @joins),
		0, '... of all partitions');
	let_go(31);
	$session->finish;
	is($session->{error}, undef, 'the join is done');
	is(scalar(joins_of($pid)), 0, '... and of no process is it shown any more');
}
$session->query('reset work_mem; set max_parallel_workers_per_gather = 0');

sub held_at_now
{
	my ($of, $place, $processes) = @_;

	die 'over: ' . ($of->{error} // 'no error') if $of->finish(0.005);
	return $watcher->query("select count(*) from pg_locks where locktype = 'advisory' and objid = $place and not granted") >= $processes;
}

# Executions add up, and a side that is kept is not read again.
@samples = sample($session, <<'SQL');
set enable_material = off; set enable_memoize = off;
select sum(c), pg_sleep(0.2) from (select g, (select count(*) from (select * from dim a where a.g >= x.g) a join (select * from l where v < 3000 offset 0) b using (k)) as c
  from generate_series(0, 9) x (g) where slow(g * 1000) offset 0) s
SQL
go_forward('executed again', \@samples);
cmp_ok(max(map { $_->{executions} } map { @$_ } @samples), '>', 5, 'executed again: they are counted');

# Outer rows without a match, a join below another, and partitions under their parent's name.
hold(41);
$session->send('select sum(v), hold(41, 0) from (select l.v from l left join r using (k) join parted p on p.k = l.k) s');
ok(held_at($session, 41), 'two joins are held');
@joins = sort { $a->{plan_node_id} <=> $b->{plan_node_id} } joins_of($pid);
is(scalar @joins, 2, 'both are shown');
is(join(' ', sort map { /(\w+)/g } map { $_->{outer_relations}, $_->{inner_relations} } $joins[0]), 'l parted r', 'the upper one reads all relations');
is(scalar(grep { $_->{phase} ne 'done' } @joins), 0, 'and both are done');
let_go(41);
$session->finish;

# More joins than there are slots: those that are done make room.
my $many = join ' ', 'select count(*) from dim', map { "join dim d$_ on d$_.k = dim.k" } 1 .. 12;
hold(42);
$session->query("set join_collapse_limit = 1");
$session->send("select hold(42, 0), c from ($many) s (c)");
ok(held_at($session, 42), 'twelve joins are held');
is(scalar(joins_of($pid)), 8, 'eight are shown');
let_go(42);
$session->finish;
is($session->{error}, undef, '... and all are done');
is(scalar(joins_of($pid)), 0, '... which leaves none');

# Aggregates, by our node and by core's, and joins from resident HashGraphs.
SKIP:
{
	my $counted = "select c, hold(43, 0) from (select count(*) as c from l join r using (k)) s";
	my $grouped = "select max(c), hold(43, 0) from (select l.k, sum(w) as c from l join r using (k) group by 1 offset 0) s";

	become_resident($node, 'l', 'r');
	$node->safe_psql('postgres', q{select hashgraph_resident_add('l', keys => '{k}', wait => true), hashgraph_resident_add('r', keys => '{k}', wait => true)});
	foreach my $resident ('off', 'on')
	{
		foreach my $query ($counted, $grouped)
		{
			hold(43);
			$session->query("set hashgraph.resident = $resident");
			$session->send($query);
			ok(held_at($session, 43), 'an aggregate is held');
			($end) = joins_of($pid);
			is(join('|', @{$end}{qw(phase matches outer_rows outer_rows_expected inner_rows inner_rows_expected)}),
				join('|', 'done', PAIRS, (OUTER) x 2, (INNER) x 2), "its join is done, with residents $resident");
			is($end->{rows_out}, PAIRS, '... and has returned all');
			let_go(43);
			$session->finish;
		}
	}
	$node->safe_psql('postgres', q{select hashgraph_resident_drop('l'), hashgraph_resident_drop('r')});
}

# On a device, or the stand-in for one: pairs, groups, and more than fits there.
SKIP:
{
	my ($device) = grep { $_->{backend} eq 'cuda' } backends();

	skip 'there is no device, nor the stand-in', 1 unless defined $device;
	use_program($node, $device->{program});
	$session->query('set hashgraph.backend = cuda');
	my %queries = (
		'pairs' => 'select max(length(l.pad || r.pad)) as c from (select * from l where slow(v)) l join (select * from r where slow(w)) r on l.k = r.k',
		'groups' => 'select max(s) as c from (select w % 10, sum(v) as s from l join r using (k) group by 1 offset 0) g',
		'a number' => 'select count(*) as c from l join r using (k)');
	foreach my $what (sort keys %queries)
	{
		my $samples = [ sample($session, "select c, pg_sleep(0.2) from ($queries{$what}) s") ];

		go_forward("$what of a device", $samples, $what eq 'pairs' ? ('scan inner', 'scan outer') : ());
		($end) = @{ $samples->[-1] };
		is(join('|', @{$end}{qw(phase backend matches rows_out outer_rows outer_rows_expected inner_rows inner_rows_expected)}),
			join('|', 'done', 'cuda', (PAIRS) x 2, (OUTER) x 2, (INNER) x 2), "$what of a device: all is joined");
	}
	$session->query('set hashgraph.backend = cpu');
}

# Who sees what.
$node->safe_psql('postgres', <<'SQL');
create role alice;
create role bob;
create role carol in role pg_read_all_stats;
create role dave in role alice;
grant select on l, r to alice;
create function of_alice() returns bigint language sql security definer begin atomic
  select count(*) from l join r using (k) where hold(51, v - 50000);
end;
alter function of_alice() owner to alice;
create database other;
SQL
hold(51);
$session->query('set hashgraph.resident = off');
$session->send('select of_alice()');
ok(held_at($session, 51), 'a join of a function is held');
foreach my $seen ([ alice => 't|l,r' ], [ bob => 't|' ], [ carol => 't|l,r' ], [ dave => 't|l,r' ])
{
	my ($role, $sees) = @$seen;

	is( $watcher->query("set role $role; select datname = 'postgres', (select string_agg(x::text, ',' order by x::text) from unnest(outer_relations || inner_relations) x) from hashgraph_progress where pid = $pid"),
		$sees, "$role sees what there is for that role");
	is($watcher->query("select count(*) from hashgraph_progress where phase is not null"), $role eq 'bob' ? 0 : 1, '... and no more');
	$watcher->query('reset role');
}
$node->safe_psql('other', 'create extension hashgraph');
is($node->safe_psql('other', "set hashgraph.enabled = off; select datname, outer_relations, phase ~ 'scan' from hashgraph_progress where pid = $pid"), 'postgres||t',
	'in another database relations have no names');
is($node->safe_psql('other', "select array_length(outer_relations, 1) from hashgraph_progress() where pid = $pid"), 1, '... but numbers');
let_go(51);
$session->finish;
$session->query('set track_activities = off');
hold(52);
$session->send('select sum(v), hold(52, 0) from l join r using (k)');
ok(held_at($session, 52), 'a join is held where activities are not tracked');
is(scalar(joins_of($pid)), 0, '... and is not shown');
let_go(52);
$session->finish;
$session->query('reset track_activities');

# Nothing is left, however a join ends.
my $held = 'select sum(v) from l join r using (k) where hold(61, v - 90000)';

hold(61);
$session->send($held);
ok(held_at($session, 61), 'a join is held');
is(scalar(joins_of($pid)), 1, '... and shown');
kill 'INT', $pid;
$session->finish;
is($session->{sqlstate}, '57014', 'it is cancelled');
is(scalar(joins_of($pid)), 0, '... and nothing is left of it');
$session->query('select sum(v) from l join r using (k) where fail(v - 90000)');
is($session->{error}, 'failed', 'it fails');
is(scalar(joins_of($pid)), 0, '... and nothing is left of it');
$session->query('begin');
$session->query('declare outside cursor for select v, w from l join r using (k)');
$session->query('fetch 10 from outside');
$session->query('savepoint s');
$session->query('declare inside cursor for select v, w from l join r using (k)');
$session->query('fetch 10 from inside');
is(scalar(joins_of($pid)), 2, 'cursors have begun two joins');
$session->query('rollback to s');
is(scalar(joins_of($pid)), 1, '... one of which is given up with a savepoint');
$session->query('fetch 10 from outside');
is($session->{error}, undef, '... and the other goes on');
$session->query('rollback');
is(scalar(joins_of($pid)), 0, '... until the transaction is over');
$session->query(q{do $$ begin perform sum(v) from l join r using (k) where fail(v - 90000); exception when others then null; end $$});
is("$session->{answered}" ne '' && scalar(joins_of($pid)), 0, 'an error that is caught leaves nothing');
$session->query('select v from l join r using (k) limit 5');
is(scalar(joins_of($pid)), 0, 'a limit leaves nothing');
$session->query('set max_parallel_workers_per_gather = 2');
$session->send('select count(*) from l a join r using (k) where slow(v) and slow(w)');
ok(wait_for(sub { joins_of($pid) == 3 or $session->finish(0.005) }), 'a join of three processes runs');
kill 'INT', $pid;
$session->finish;
ok(wait_for(sub { joins_of() == 0 }), '... and is cancelled, which leaves nothing');
$session->query('set max_parallel_workers_per_gather = 0');
$session->send($held);
ok(held_at($session, 61), 'a join is held');
$watcher->query("select pg_terminate_backend($pid)");
$session->finish until $session->{closed};
ok(wait_for(sub { joins_of() == 0 }), 'it is terminated, which leaves nothing');
$session = RawSession->new($node);
$session->send($held);
ok(held_at($session, 61), 'a join is held');
kill 'KILL', $session->pid;
ok(wait_for(sub { $watcher->finish(0.005) if !$watcher->{closed}; accepts($node) && $watcher->{closed} }), 'the server has started again');
is($node->safe_psql('postgres', 'set hashgraph.enabled = off; select count(*) from hashgraph_progress'), 0, '... and shows nothing');
is($node->safe_psql('postgres', 'select count(*) from l join r using (k)'), PAIRS, '... and joins');
$node->stop;

# Without shared memory there is nothing to see, and joins run.
my $plain = new_server('plain', preload => 'session');
my ($status, $stdout, $stderr) = $plain->psql('postgres', 'select * from hashgraph_progress');
like($stderr, qr/only if loaded via "shared_preload_libraries".*HINT:/s, 'the view says what is missing');
is($plain->safe_psql('postgres', 'set hashgraph.force = on; select count(*) from generate_series(1, 1000) a join generate_series(1, 1000) b on a = b'),
	1000, '... and joins run');
$plain->stop;

done_testing();
