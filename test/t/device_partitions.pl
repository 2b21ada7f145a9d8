# Resident tables that are too large for one GPU: HashGraphs and columns are cut into slices, of which each device has one, and
# joined slice by slice, with what PostgreSQL's own join gives, whatever changes, and whichever device fails.
#
# Runs over the stand-in, which sees as many devices as it is told to.
#
# Under HG_QUICK the random part draws few queries, and some queries run with one number of devices only; the nightly run has all.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use DeviceCache;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cuda' unless covers('cuda');
my $standin = standin_program();
plan skip_all => 'the stand-in was not built: make unit' unless defined $standin;

# What a device may keep, in kB: a graph of 100,000 rows takes 1,200, and its columns 800, so that no device keeps all of a join.
my $LIMIT = 2300;

my ($node, $main);

my $SETUP = <<'SQL';
create table a as select i as id, nullif(i % 40000, 7)::int8 as k, (i % 1000)::int2 as v, ((i % 7000) / 100.0)::numeric(10, 2) as m, 'group ' || i % 5 as g from generate_series(1, 100000) i;
create table b as select i as id, (i * 7::int8 % 50000)::int8 as k, (i % 300)::int2 as w, nullif(i % 11, 3)::int2 as h from generate_series(1, 100000) i;
create table c as select i as id, i * 3 as k, i::int2 as x from generate_series(1, 2000) i;
create table one as select i as id, 5::int8 as k, (i % 10)::int2 as v from generate_series(1, 100000) i;
alter table a set (autovacuum_enabled = off); alter table b set (autovacuum_enabled = off); alter table c set (autovacuum_enabled = off);
vacuum analyze;
SQL

# Starts a server with so many devices, and its session.
sub begin
{
	my ($devices, %switches) = @_;

	($node, $main) = sliced_server($SETUP, $devices, $LIMIT, %switches);
	sql(q{select hashgraph_resident_add(t::regclass, keys => '{k}') from unnest(array['a', 'b', 'c']) t});
	return;
}

# Where the last joins ran, and why not elsewhere.
sub joined_at { return sql(q{select coalesce(string_agg(distinct backend || ' on ' || coalesce(device, '') || ' ' || coalesce(fallback, ''), ', '), '') from hashgraph_last_joins()}); }

# Tests: a query gives what PostgreSQL gives each time, and within a while the devices answer together, with that done now and then.
# What a device has had no room for is offered to it again after a minute.
sub is_sliced
{
	my ($what, $select, $devices, $now_and_then) = @_;

	return is_right($what, $select, look => \&joined_at, like => qr/^cuda on $devices x /, between => $now_and_then, seconds => 90);
}

my $refresh = q{vacuum a; vacuum b; select hashgraph_resident_refresh('a'), hashgraph_resident_refresh('b')};

my @queries = (
	[ 'a count', 'select count(*) from a join b using (k)' ],
	[ 'sums of both sides', 'select sum(a.v), sum(b.w), min(a.v), max(b.h), count(b.h), avg(a.v) from a join b using (k)' ],
	[ 'groups by codes', 'select a.g, count(*), sum(b.w), sum(a.m) from a join b using (k) group by a.g' ],
	[ 'groups by numbers that may be NULL', 'select b.h, count(*), sum(a.v), sum(a.m) from a join b using (k) group by b.h' ],
	[ 'groups by columns of both sides', 'select a.g, b.h, count(*), max(a.v) from a join b using (k) group by a.g, b.h' ],
	[ 'what is computed', 'select b.h, sum(a.v * 3 - a.v), sum(a.m * (1 - a.m)) from a join b using (k) group by b.h' ],
	[ 'filters', 'select a.g, count(*), sum(b.w) from a join b using (k) where a.v < 400 and b.w between 20 and 250 group by a.g' ],
	[ 'a filter that leaves nothing', 'select count(*), sum(b.w) from a join b using (k) where a.v < 0' ],
	[ 'a semi join', 'select count(*), sum(v) from a where exists (select from b where a.k = b.k and b.w > 100)' ],
	[ 'one side whole', 'select count(*), sum(a.v), sum(c.x) from a join c using (k)' ],
	[ 'the other side whole', 'select b.h, count(*), sum(c.x) from c join b using (k) group by b.h' ]);

# Under HG_QUICK what does not depend on the number of devices runs with three of them only.
sub is_thorough { return !$ENV{HG_QUICK} || $_[0] == 3; }

sub all_are_right
{
	my ($when, $devices) = @_;

	# columns can be asked for as soon as devices have the graphs
	is_sliced("$when: $queries[0][0]", $queries[0][1], $devices);
	ask(map { $_->[1] } @queries);
	is_sliced("$when: $_->[0]", $_->[1], $devices) foreach @queries[ 1 .. $#queries ];
	return unless is_thorough($devices);
	is_right("$when: rows", 'select a.id, b.id from a join b using (k) where a.id < 100');
	is_right("$when: an outer join", 'select count(*), count(b.id), sum(a.v) from a left join b using (k)');
	is_right("$when: an anti join", 'select count(*), sum(v) from a where not exists (select from b where a.k = b.k)');
	is_right("$when: a star", 'select count(*), sum(c.x) from a join b using (k) join c on a.id = c.id');
	sql('set max_parallel_workers_per_gather = 2');
	is_right("$when, in parallel: $_->[0]", $_->[1]) foreach @queries;
	sql('set max_parallel_workers_per_gather = 0');
	return;
}

# Tests: no device keeps more than it may.
sub is_within_limits { return keeps_at_most($node, $LIMIT, "$_[0]: no device keeps more than it may"); }

foreach my $devices (2, 8, 3)
{
	begin($devices);
	all_are_right("$devices devices", $devices);
	is_within_limits("$devices devices");
	is($node->safe_psql('postgres', q{select string_agg(location, ' ') from hashgraph_resident where kind = 'graph' and relation::text in ('a', 'b')}), 'both both', "$devices devices: both graphs are told to be there");

	# rows that have changed are not the devices'; and then they are again
	sql('update a set v = v + 1, k = k + 1 where id % 5000 = 3; delete from b where id % 9000 = 5; insert into a select 200000 + i, i, i, 0.5, null from generate_series(1, 20) i');
	all_are_right("$devices devices, rows have changed", $devices);
	sql($refresh);
	all_are_right("$devices devices, in step", $devices) if $devices == 2;
}

# ------------------------------------------------------------------ devices that fail

{
	my $when = 'a device is lost';
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	my $core = core_of($queries[2][1]);
	my $wrong = 0;

	foreach my $pid (device_children($worker))
	{
		kill 'KILL', $pid;
		$wrong += rows($queries[2][1]) ne $core foreach 1 .. 3;
	}
	is($wrong, 0, "$when: no query is wrong, or fails");
	is_sliced("$when: and it has its slices again", $queries[2][1], 3);
}

# one that is not to be used any more is not waited for: the tables are cut anew over the others
$node->safe_psql('postgres', q{alter system set hashgraph.gpu_device = '0,1'});
$node->safe_psql('postgres', 'select pg_reload_conf()');
is_sliced("with a device less: $_->[0]", $_->[1], 2) foreach @queries;
is_within_limits('with a device less');
# ... and anew, as often as that may be
foreach my $others ('1,2', '0,2', '0,1')
{
	$node->safe_psql('postgres', "alter system set hashgraph.gpu_device = '$others'");
	$node->safe_psql('postgres', 'select pg_reload_conf()');
	is_sliced("with devices $others: $_->[0]", $_->[1], 2) foreach @queries[0, 2];
}
is_within_limits('with other devices');
$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_device');
$node->safe_psql('postgres', 'select pg_reload_conf()');
# one that comes has its part after a minute; at once of tables that have changed
is_sliced('with all of them again', $queries[0][1], 3) unless $ENV{HG_QUICK};
sql('update a set v = 1 where id % 3 = 0; update b set w = 1 where id % 3 = 0');
is_sliced('with all of them again, and new versions of the tables', $queries[0][1], 3, $refresh);

# ------------------------------------------------------------------ skew

# of all rows with one key one device has all, and the others have empty slices
sql(q{select hashgraph_resident_drop('b'), hashgraph_resident_add('one', keys => '{k}')});
is_sliced('one key', 'select count(*), sum(one.v), sum(a.v) from one join a using (k)', 3);
is_within_limits('one key');
sql(q{select hashgraph_resident_drop('one'), hashgraph_resident_add('b', keys => '{k}')});

# ------------------------------------------------------------------ random joins, and writers

{
	my @where = ('', 'where a.v < 500', 'where b.w > 40 and a.id % 2 = 0', 'where a.g <> \'group 3\'', 'where b.h is null', 'where a.k between 100 and 20000');
	my @columns = ('count(*)', 'sum(a.v)', 'sum(b.w)', 'min(b.h)', 'max(a.v)', 'sum(a.m)', 'sum(a.v * 2)', 'count(b.h)', 'avg(b.w)');
	my @groups = ('a.g', 'b.h', 'b.w', 'a.v');

	my $random = sub {
		my $group = rand() < 0.6 ? $groups[ rand @groups ] : undef;

		sql('update a set v = v + 1 where id % 9973 = ' . int(rand 9973)) if rand() < 0.3;
		sql('delete from b where id % 9973 = ' . int(rand 9973)) if rand() < 0.1;
		sql(q{vacuum a; vacuum b}) if rand() < 0.1;
		return 'select ' . join(', ', (defined $group ? $group : ()), map { $columns[ rand @columns ] } 1 .. 1 + int rand 3) . ' from a join b using (k) ' . $where[ rand @where ] . (defined $group ? " group by $group" : '');
	};

	none_is_wrong('joins', $random, look => sub { joined_at() =~ /^cuda on 3 x / });
}
is_within_limits('at the end');

# ------------------------------------------------------------------ a device that is late

begin(3, HG_STANDIN_FAULTY => 2, HG_STANDIN_START_DELAY_MS => 6000);
is_sliced('a device is late: it is waited for', $queries[2][1], 3);

# those that rest have no slices, and are woken by who would have them answer
$node->safe_psql('postgres', q{alter system set hashgraph.gpu_idle_timeout = '8s'});
$node->safe_psql('postgres', 'select pg_reload_conf()');
ok(wait_for(sub { $node->safe_psql('postgres', q{select count(*) > 1 from hashgraph_devices() where state = 'resting'}) eq 't' }, 40), 'devices rest');
is_sliced('devices that have rested', $queries[2][1], 3);
$node->stop;

done_testing();
