# Stars and snowflakes whose facts, or what these are joined with, are too large for one GPU: each device joins its slice of them with all that it looks up, with what PostgreSQL's own joins give, whatever changes, and
# whichever device fails.
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

# What a device may keep, in kB: the facts by customer take 1,250, and so are cut, as the visits by customer are; all else that is given to devices, of which most rows are NULL, fits beside what two have of that.
my $LIMIT = 2300;

my ($node, $main);

# Facts are in several segments, as their rows are wide.
my $SETUP = <<'SQL';
create table sales (id int, customer int8, item int4, day int4, shop int2, amount int2, total numeric(10, 2), note text, wide text);
create table customers (id int8, nation int4, age int2, name text);
create table items (id int4, price numeric(8, 2), kind text, weight int8);
create table days (id int8, month int, holiday bool);
create table shops (id int4, region int8, size int);
create table nations (id int4, region int4, name text);
create table visits (customer int8, shop int4, minutes int2, how text);
create table profiles (customer int8, nation int4, points int2);
create table twice (id int4, worth int);
alter table sales alter wide set storage plain;
insert into sales select i, case when i % 97 > 0 then (i * 7919::int8) % 2200 end, case when i % 10 in (3, 7) then (i * 31::int8) % 320 end, case when i % 10 = 3 then i % 400 end, case when i % 10 = 3 then (i * 17::int8) % 50 end, i % 100, i % 1000 * 0.25, 'note ' || i % 7, repeat('x', 250) from generate_series(1, 105000) i;
insert into customers select i, case when i % 11 > 0 then i % 30 end, i % 90, 'customer ' || i % 40 from generate_series(1, 2000) i;
insert into items select i, i * 1.25, 'kind ' || i % 9, i * 10000000000 from generate_series(1, 300) i;
insert into days select i, i / 30, i % 7 = 0 from generate_series(0, 365) i;
insert into shops select i, i % 6, i * 3 from generate_series(0, 45) i;
insert into nations select i, i % 5, 'nation ' || i from generate_series(0, 24) i;
insert into visits select i % 30000, case when i % 10 = 1 then i % 60 end, i % 50, 'how ' || i % 3 from generate_series(1, 100000) i;
insert into profiles select i, case when i % 10 = 2 then i % 25 end, i % 100 from generate_series(1, 100000) i;
insert into twice select i / 2, i from generate_series(0, 4000) i;
do $$ declare t text; begin foreach t in array array['sales', 'customers', 'items', 'days', 'shops', 'nations', 'visits', 'profiles', 'twice'] loop execute format('alter table %I set (autovacuum_enabled = off)', t); end loop; end $$;
vacuum analyze;
SQL

# Starts a server with so many devices, on which each may keep so much and in which statements have run, and its session.
sub begin_server
{
	my ($devices, $limit, $setup, %switches) = @_;

	return ($node, $main) = sliced_server($setup, $devices, $limit, %switches);
}

# Starts a server with the tables of stars.
sub begin
{
	my ($devices, %switches) = @_;

	begin_server($devices, $LIMIT, $SETUP, %switches);
	$node->safe_psql('postgres', <<'SQL');
select hashgraph_resident_add('sales', '{id,customer,item,day,shop,amount,total,note}', keys => '{customer,item,day,shop}');
select hashgraph_resident_add('customers', '{id,nation,age,name}', keys => '{id,nation}');
select hashgraph_resident_add(t::regclass, keys => '{id}') from unnest(array['items', 'days', 'shops', 'nations', 'twice']) t;
SQL
	return;
}

# Where a star was joined, as EXPLAIN tells.
sub ran_at
{
	my ($select) = @_;
	my $plan = $main->run_each("explain (analyze, costs off, timing off) $select");
	my ($tables) = $plan =~ /Tables Joined at Once: (\d+)/;
	my ($devices) = $plan =~ /Device: (\d+) x /;

	return ($tables // 'no') . ' tables on ' . ($devices // 1) . ($plan =~ /(Fallback: .*)/ ? " $1" : '');
}

# Tests: a star gives what PostgreSQL gives each time, and within a while the devices answer together, with that done now and then.
sub is_star
{
	my ($when, $star, $devices, $now_and_then) = @_;
	my ($tables, $what, $select) = @$star;

	return is_right("$when: $what", $select, look => \&ran_at, like => qr/^$tables tables on $devices\b/, between => $now_and_then, seconds => 90);
}

# Tables have changed: all blocks are known again.
my $refresh = join '; ', map { "vacuum $_; select hashgraph_resident_refresh('$_')" } qw(sales customers items days shops nations);

my @stars = (
	[ 3, 'a count', 'select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id' ],
	[ 3, 'a count with filters', 'select count(*) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where s.amount < 40 and c.age between 20 and 60 and i.weight > 500000000000' ],
	[ 3, 'a filter that leaves nothing', 'select count(*), sum(s.amount) from sales s join customers c on s.customer = c.id join items i on s.item = i.id where c.age < 0' ],
	[ 5, 'groups of a star', 'select i.kind, d.month, sum(s.amount), avg(h.size), min(c.age), max(i.weight), count(c.nation) from sales s join customers c on s.customer = c.id join items i on s.item = i.id join days d on s.day = d.id join shops h on s.shop = h.id where not d.holiday group by i.kind, d.month' ],
	[ 3, 'a chain', 'select n.name, count(*), sum(s.total) from sales s join customers c on s.customer = c.id join nations n on c.nation = n.id group by n.name' ],
	[ 4, 'a snowflake', 'select n.region, i.kind, sum(s.amount), sum(i.price), count(c.age) from sales s join customers c on s.customer = c.id join nations n on c.nation = n.id join items i on s.item = i.id where s.amount > 10 and n.region <> 2 group by n.region, i.kind' ],
	[ 3, 'groups by text of the facts', 'select s.note, c.name, count(*) from sales s join customers c on s.customer = c.id join shops h on s.shop = h.id group by s.note, c.name' ],
	[ 3, 'what is computed', 'select h.region, sum(s.amount * 3 - s.amount), sum(s.total * (1 - s.total)), count(*) from sales s join customers c on s.customer = c.id join shops h on s.shop = h.id group by h.region' ],
	[ 3, 'what is computed across tables', 'select h.region, sum(s.amount * c.age), sum(s.total - h.size), sum(c.age + h.size), count(*) from sales s join customers c on s.customer = c.id join shops h on s.shop = h.id group by h.region' ],
	[ 4, 'what is computed across a snowflake', 'select n.region, sum(s.amount * n.region), sum(i.price * s.amount), sum(c.age * s.amount) from sales s join customers c on s.customer = c.id join nations n on c.nation = n.id left join items i on s.item = i.id where s.amount > 10 and n.region <> 2 group by n.region' ],
	[ 2, 'what is computed across two tables', 'select c.age, sum(s.amount * c.age), count(*) from sales s join customers c on s.customer = c.id where c.age > 7 group by c.age' ],
	[ 3, 'a left join', 'select count(*), count(i.id), sum(i.price), sum(s.amount) from sales s join customers c on s.customer = c.id left join items i on s.item = i.id and i.id > 100' ],
	[ 4, 'a chain of left joins', 'select n.name, count(*), count(c.id), sum(s.amount), avg(c.age) from sales s join customers b on s.customer = b.id left join customers c on s.day = c.id and c.age <> 7 left join nations n on c.nation = n.id group by n.name' ],
	[ 3, 'left joins alone', 'select c.age, count(*), sum(s.amount), count(i.id), sum(i.price) from sales s left join customers c on s.customer = c.id left join items i on s.item = i.id where s.customer between 1 and 2000 group by c.age' ],
	[ 3, 'left joins alone, and what is computed across', 'select count(*), sum(s.amount * c.age), min(s.amount - c.age) from sales s left join items i on s.item = i.id left join customers c on s.customer = c.id where s.customer between 1 and 2000' ],
	[ 3, 'a table twice, by the column of the cut too', 'select count(*), sum(a.age), sum(b.age) from sales s join customers a on s.customer = a.id join customers b on s.customer = b.id' ]);

# What can't be joined so gives no less right rows.
my @others = (
	[ 'a table whose rows come twice', 'select count(*), sum(t.worth) from sales s join customers c on s.customer = c.id join twice t on s.day = t.id' ],
	[ 'left joins alone', 'select count(*), sum(c.age), sum(i.price) from sales s left join customers c on s.customer = c.id left join items i on s.item = i.id' ],
	[ 'rows', 'select s.id, i.kind, c.name from sales s join customers c on s.customer = c.id join items i on s.item = i.id where s.id % 1000 = 7' ],
	[ 'a semi join among them', 'select count(*) from sales s join items i on s.item = i.id where exists (select from customers c where s.customer = c.id and c.age > 30)' ],
	[ 'one join', 'select count(*), sum(s.amount), sum(c.age) from sales s join customers c on s.customer = c.id' ]);

# Under HG_QUICK what does not depend on the number of devices runs with three of them only.
sub is_thorough { return !$ENV{HG_QUICK} || $_[0] == 3; }

sub all_are_right
{
	my ($when, $devices) = @_;

	# columns can be asked for as soon as devices have the graphs
	is_star($when, $stars[0], $devices);
	ask(map { $_->[2] } @stars);
	is_star($when, $_, $devices) foreach @stars[ 1 .. $#stars ];
	return unless is_thorough($devices);
	is_right("$when: $_->[0]", $_->[1]) foreach @others;
	sql('set max_parallel_workers_per_gather = 2');
	is_right("$when, in parallel: $_->[1]", $_->[2]) foreach @stars;
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

	# facts that have changed are joined here, and so are those that find what has changed
	sql('update sales set amount = amount + 1, customer = customer + 1 where id % 5000 = 3; delete from sales where id % 9000 = 5; insert into sales select 200000 + i, i, i, i, i % 40, i, 0.5, null, \'\' from generate_series(1, 20) i');
	all_are_right("$devices devices, facts have changed", $devices);
	sql('insert into items values (301, 7, \'new\', 5); update customers set age = age + 1 where id = 33; update shops set size = size + 1 where id = 5');
	is_right("$devices devices, what they look up has changed: $_->[1]", $_->[2]) foreach is_thorough($devices) ? @stars : $stars[3];
	sql($refresh);
	is_star("$devices devices, in step", $_, $devices, $refresh) foreach @stars[ 0, 3 ];
}

# ------------------------------------------------------------------ what facts are joined with is cut, too

# its rows look others up as well, by a graph that is cut along with it
sql(q{select hashgraph_resident_add('visits', keys => '{customer,shop}')});
my @cut = (
	[ 3, 'both sides cut', 'select v.how, count(*), sum(s.amount), sum(v.minutes), sum(i.price) from sales s join visits v on s.customer = v.customer join items i on s.item = i.id group by v.how' ],
	[ 3, 'rows of the other side look up', 'select h.region, count(*), sum(s.amount), sum(v.minutes) from sales s join visits v on s.customer = v.customer join shops h on v.shop = h.id where v.minutes > 5 group by h.region' ],
	[ 4, 'rows of both sides look up', 'select h.region, count(*), sum(s.amount), sum(i.price) from sales s join visits v on s.customer = v.customer join shops h on v.shop = h.id left join items i on s.item = i.id and i.id > 9 group by h.region' ]);
ask(map { $_->[2] } @cut);
is_star('visits', $_, 3) foreach @cut;
sql('update visits set minutes = minutes + 1 where minutes = 7; update sales set item = item + 1 where id % 777 = 0');
is_right("visits have changed: $_->[1]", $_->[2]) foreach @cut;
is_star('visits in step', $_, 3, "$refresh; vacuum visits; select hashgraph_resident_refresh('visits')") foreach @cut;
is_within_limits('visits');
sql(q{select hashgraph_resident_drop('visits')});

# ------------------------------------------------------------------ rows that come more than once

{
	my $select = $others[0]->[1];

	is_star('before', $stars[3], 3);
	ok(wait_for(sub { ran_at($select) =~ /more than one/ }, 60), 'the devices are asked about rows that come twice');
	unlike(ran_at($select), qr/more than one/, '... and not again');
}

# ------------------------------------------------------------------ devices that fail

{
	my $when = 'a device is lost';
	my $worker = $node->safe_psql('postgres', q{select pid from pg_stat_activity where backend_type = 'hashgraph device'});
	my $core = core_of($stars[3][2]);
	my $wrong = 0;

	foreach my $pid (device_children($worker))
	{
		kill 'KILL', $pid;
		$wrong += rows($stars[3][2]) ne $core foreach 1 .. 3;
	}
	is($wrong, 0, "$when: no star is wrong, or fails");
	is_star("$when: and it has its slices again", $stars[3], 3);
}

# one that is not to be used any more is not waited for: the tables are cut anew over the others
foreach my $others ('0,1', '1,2')
{
	$node->safe_psql('postgres', "alter system set hashgraph.gpu_device = '$others'");
	$node->safe_psql('postgres', 'select pg_reload_conf()');
	is_star("with devices $others", $_, 2) foreach @stars[ 0, 3, 4 ];
	is_within_limits("with devices $others");
}
$node->safe_psql('postgres', 'alter system reset hashgraph.gpu_device');
$node->safe_psql('postgres', 'select pg_reload_conf()');
sql('update sales set amount = 1 where id % 3 = 0');
is_star('with all of them again, and new versions of the facts', $stars[3], 3, $refresh);

# ------------------------------------------------------------------ random stars, and writers

{
	my @joins = ([ 'items i', 's.item = i.id', 'sum(i.price)', 'i.kind' ], [ 'days d', 's.day = d.id', 'max(d.month)', 'd.month' ], [ 'shops h', 's.shop = h.id', 'avg(h.size)', 'h.region' ], [ 'nations n', 'c.nation = n.id', 'count(n.region)', 'n.name' ]);
	my @where = ('', 'where s.amount < 50', 'where c.age > 40 and s.id % 2 = 0', 'where s.note <> \'note 3\'', 'where c.nation is null');

	my $random = sub {
		my $from = 'sales s join customers c on s.customer = c.id';
		my @columns = ('count(*)', 'sum(s.amount)', rand() < 0.5 ? 'sum(s.total)' : 'sum(s.total * c.age)');
		my @groups = ('s.note', 'c.age');

		foreach my $join (grep { rand() < 0.5 } @joins)
		{
			$from .= (rand() < 0.3 ? ' left' : '') . " join $join->[0] on $join->[1]";
			push @columns, $join->[2];
			push @groups, $join->[3];
		}
		my $group = rand() < 0.7 ? $groups[ rand @groups ] : undef;

		sql('update sales set amount = amount + 1, item = item + 1 where id % 9973 = ' . int(rand 9973)) if rand() < 0.3;
		sql('delete from sales where id % 9973 = ' . int(rand 9973)) if rand() < 0.1;
		sql('update customers set nation = nation + 1 where id = ' . int(rand 2000)) if rand() < 0.1;
		sql('vacuum sales; vacuum customers') if rand() < 0.1;
		return 'select ' . join(', ', (defined $group ? $group : ()), @columns) . " from $from " . $where[ rand @where ] . (defined $group ? " group by $group" : '');
	};

	none_is_wrong('stars', $random, look => sub { sql(q{select coalesce(string_agg(device, ' '), '') from hashgraph_last_joins()}) =~ /\b3 x / });
}
is_within_limits('at the end');

# ------------------------------------------------------------------ what was given is forgotten

begin(3, HG_STANDIN_FORGETS => 1);
my $missed = sql('select graphs_missed from hashgraph_stat_resident');
ok(wait_for(sub { sql($stars[0][2]); sql('select graphs_missed from hashgraph_stat_resident') > $missed }, 60), 'a star misses what was forgotten');
is_right("what was given is forgotten: $_->[1]", $_->[2]) foreach @stars;

# ------------------------------------------------------------------ two tables beside the facts are cut

# two tables that no device has room for, joined with the facts by the same column: what rows of a slice find in the second one is in a slice, too, and looks up others
begin(8);
sql(q{select hashgraph_resident_add('visits', keys => '{customer}'), hashgraph_resident_add('profiles', keys => '{customer,nation}')});
my @two = (
	[ 3, 'a side and what is looked up are cut', 'select v.how, count(*), sum(s.amount), sum(v.minutes), sum(p.points) from sales s join visits v on s.customer = v.customer join profiles p on s.customer = p.customer where p.points < 90 group by v.how' ],
	[ 4, 'what is found in slices looks up', 'select n.name, count(*), sum(s.amount), max(v.minutes), sum(p.points) from sales s join visits v on s.customer = v.customer join profiles p on s.customer = p.customer left join nations n on p.nation = n.id group by n.name' ]);
ask(map { $_->[2] } @two);
is_star('profiles', $_, 8) foreach @two;
sql('update profiles set points = points + 1 where customer = 77; delete from profiles where customer = 78');
is_right("profiles have changed: $_->[1]", $_->[2]) foreach @two;
is_star('profiles in step', $_, 8, "$refresh; vacuum visits; vacuum profiles; select hashgraph_resident_refresh('profiles')") foreach @two;
is_within_limits('profiles');

# ------------------------------------------------------------------ devices that rest

# they have no slices then, and are woken by who would have them answer
begin(3);
is_star('before devices rest', $stars[3], 3);
$node->safe_psql('postgres', q{alter system set hashgraph.gpu_idle_timeout = '2s'});
$node->safe_psql('postgres', 'select pg_reload_conf()');
ok(wait_for(sub { $node->safe_psql('postgres', q{select count(*) > 1 from hashgraph_devices() where state = 'resting'}) eq 't' }, 40), 'devices rest');
is_star('devices that have rested', $stars[3], 3);

# ------------------------------------------------------------------ what is looked up has more than a million rows

# it comes to all devices that have slices of the facts when a star asks for it; and is cut as the facts are where it is a side
begin_server(3, 34 * 1024, <<'SQL');
create table facts as select (i * 7919::int8) % 1100000 as d, case when i % 3 = 0 then i % 300 end as e, (i % 100)::int2 as v from generate_series(1, 1600000) i;
create table many as select i as id, (i % 50)::int2 as w from generate_series(0, 1099999) i;
create table few as select i::int8 as id, i % 9 as h from generate_series(0, 999) i;
create table fewer as select i as id, i % 7 as g from generate_series(0, 299) i;
vacuum analyze;
SQL
$node->safe_psql('postgres', <<'SQL');
select hashgraph_resident_add('facts', keys => '{d,e}');
select hashgraph_resident_add(t::regclass, keys => '{id}') from unnest(array['many', 'few', 'fewer']) t;
SQL
my $vacuum = 'vacuum facts; vacuum many; vacuum few; vacuum fewer';
my $given = q{select sum(device_bytes) from hashgraph_resident where relation = 'many'::regclass and kind = 'graph'};
is_star('many rows', [ 3, 'are a side', 'select w.g, count(*), sum(f.v), sum(m.w) from facts f join many m on f.d = m.id join fewer w on f.e = w.id group by w.g' ], 3, $vacuum);
# which facts look up again in the slices that are there: no device is given all of it for that
my $bytes = sql($given);
is_star('many rows', [ 3, 'are a side of what is computed across tables', 'select w.g, count(*), sum(f.v * m.w), sum(m.w - w.g) from facts f join many m on f.d = m.id join fewer w on f.e = w.id group by w.g' ], 3, $vacuum);
is(sql($given), $bytes, 'many rows: nothing else of them is given to devices');
is_star('many rows', $_, 3, $vacuum) foreach (
	[ 3, 'are looked up', 'select w.h, count(*), sum(f.v), sum(m.w) from facts f join few w on f.d = w.id join many m on f.e = m.id group by w.h' ],
	[ 3, 'are looked up by some', 'select w.h, count(*), sum(f.v), sum(m.w) from facts f join few w on f.d = w.id join many m on f.e = m.id where f.v < 50 group by w.h' ]);
# a bit for each row of the facts, by the slices that they are in
my ($kilobytes) = $main->run_each('explain (analyze, costs off, timing off) select w.h, count(*), sum(f.v), sum(m.w) from facts f join few w on f.d = w.id join many m on f.e = m.id where f.v < 50 group by w.h') =~ /Tables Joined at Once.*?Memory Usage: (\d+) kB/s;
cmp_ok($kilobytes // 0, '>=', 1600 / 8, 'what tells which facts count is told');

# ------------------------------------------------------------------ together they are too large

# no graph or column takes more than half of what a device may keep, and no device has room for all that a join needs
begin_server(2, 4000, <<'SQL');
create table facts as select (i * 7919::int8 % 1000)::int as a, (i * 104729::int8 % 2000)::int as b, (i * 15485863::int8 % 5000)::int as c, i % 100 as v from generate_series(1, 200000) i;
create table others as select i % 1000 as a, i % 77 as w from generate_series(1, 190000) i;
create table d1 as select i as id, i % 10 as g from generate_series(0, 999) i;
create table d2 as select i as id, i % 7 as g from generate_series(0, 1999) i;
create table d3 as select i as id, i % 5 as g from generate_series(0, 4999) i;
vacuum analyze;
SQL
$node->safe_psql('postgres', <<'SQL');
select hashgraph_resident_add('facts', keys => '{a,b,c}');
select hashgraph_resident_add(t::regclass, keys => '{id}') from unnest(array['d1', 'd2', 'd3']) t;
SQL
my @together = (
	[ 4, 'a star', 'select d1.g, count(*), sum(f.v), sum(d3.g) from facts f join d1 on f.a = d1.id join d2 on f.b = d2.id join d3 on f.c = d3.id group by d1.g' ],
	[ 3, 'without a table', 'select count(*), sum(f.v) from facts f join d1 on f.a = d1.id join d3 on f.c = d3.id' ]);
ask(map { $_->[2] } @together);
is_star('too large together', $_, 2) foreach @together;
is(sql(q{select count(*) from hashgraph_resident where relation = 'facts'::regclass and kind = 'graph' and location <> 'host'}), 3, '... and it is told where all of them are');
sql('update facts set v = v + 1 where a = 7; delete from facts where b = 8');
is_right("too large together, changed: $_->[1]", $_->[2]) foreach @together;
is_star('too large together, in step', $_, 2, "vacuum facts; select hashgraph_resident_refresh('facts')") foreach @together;
sql(q{select hashgraph_resident_drop('facts'); vacuum facts; select hashgraph_resident_add('facts', keys => '{a}'), hashgraph_resident_add('others', keys => '{a}')});
my $sums = 'select count(*), sum(f.v), sum(o.w) from facts f join others o using (a) where f.a < 20';
my $sliced;
# a vacuum that comes too soon after a change does not help, so that there are more of them
ok(wait_for(sub {
	sql($sums);
	$sliced = $main->run_each("explain (analyze, costs off, timing off) $sums");
	$sliced =~ /Device: 2 x / or not defined sql('vacuum facts') }, 90), 'two tables too large together are joined in slices') or diag($sliced);
is(rows($sums), core_of($sums), '... and rightly');
$node->stop;

done_testing();
