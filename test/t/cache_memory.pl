# The memory of resident columns is bounded, and goes to what is used: a hundred tables and less memory than they
# need, columns that are evicted and come back, pins that are counted.
#
# Needs a server with a build of HG_DEBUG=1 in PATH, as cache_faults.pl does: there is a setting for how long
# what was taken in is not evicted, and a place where a process can be held that has pinned what it is served.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use FaultPlaces;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'needs a build of HG_DEBUG=1' unless $ENV{HG_DEBUG_BUILD};

use constant TABLES => 100;

my $node = new_server('resident_memory', conf => "hashgraph.resident_memory = '8MB'\nwal_level = replica\n", init => [ no_data_checksums => 1 ]);
my $main = RawSession->new($node);

sub sql
{
	return $main->run_each(shift);
}

# Have what was taken in stay for so long, in ms.
sub set_rest
{
	my ($rest) = @_;

	sql("alter system set hashgraph.fault_eviction_rest = $rest; select pg_reload_conf()");
	wait_for(sub { sql('show hashgraph.fault_eviction_rest') eq ($rest ? '1min' : '0') }, 10);
	# workers read it when they look at interrupts next
	witness_rounds($node, 1);
	return;
}

# Wait until no loader has anything to do.
sub wait_for_loaders
{
	ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where state in ('queued', 'loading')}) eq '0' }, 30), 'all that is wanted was tried');
	return;
}

# How many tables are in a state.
sub tables
{
	my ($state) = @_;
	return sql("select count(distinct relation) from hashgraph_resident where state = '$state'");
}

sub memory_used { return sql('select memory_used from hashgraph_stat_resident'); }

# ---------------------------------------------------------------- a hundred tables

my $empty = memory_used();
sql(join ';', map { "create table t$_ as select i as k, i::int8 as v from generate_series(1, 10000) i" } 1 .. TABLES);
sql(join ';', map { "vacuum t$_" } 1 .. TABLES);
sql(join ';', map { "select hashgraph_resident_add('t$_')" } 1 .. TABLES);
wait_for_loaders();
my ($ready, $declined) = (tables('ready'), tables('declined'));
is($ready + $declined, TABLES, 'each table is there, or declined');
cmp_ok($ready, '>', 40, '... and many are there');
cmp_ok($declined, '>', 10, '... and not all: what has just been taken in is not evicted');
is(sql(q{select string_agg(distinct reason, ', ') from hashgraph_resident where state = 'declined'}), 'hashgraph.resident_memory is used up', '... with the reason');
cmp_ok(memory_used(), '<=', 8 * 1024 * 1024, 'no more memory is used than there is');
cmp_ok(sql('select sum(host_bytes) from hashgraph_resident'), '<=', memory_used(), '... and columns have a part of it');
is(sql('select evictions from hashgraph_stat_resident'), '0', 'nothing was evicted');
cmp_ok(sql('select declines from hashgraph_stat_resident'), '>=', $declined, 'declines are counted');
like(sql('select declined_for from hashgraph_stat_resident'), qr/^hashgraph\.resident_memory is used up: \d+$/, '... by reason');

sql(join ';', map { "create table late$_ (k int); select hashgraph_resident_add('late$_')" } 1 .. 20);
is(sql(q{select count(distinct relation) from hashgraph_resident where relation::text like 'late%'}), '20', 'tables can be asked for where the memory is full');
sql(join ';', map { "drop table late$_" } 1 .. 20);
wait_for(sub { sql(q{select count(distinct relation_id) from hashgraph_resident}) eq TABLES }, 10);

# ---------------------------------------------------------------- eviction

set_rest(0);
my $one = sql(q{select relation from hashgraph_resident where state = 'declined' limit 1});
my $oldest = sql(q{select relation from hashgraph_resident where state = 'ready' limit 1});
# all others have been asked for later than this one
sql("select hashgraph_resident_add(relation) from (select distinct relation from hashgraph_resident where state = 'ready' and relation <> '$oldest'::regclass) r");
wait_for_loaders();
sql("select hashgraph_resident_add('$one', pinned => true, wait => true)");
is(sql("select * from hashgraph_resident_check('$one')"), '10000|0', 'a table that was declined is taken in when there is something to evict');
is(sql("select string_agg(distinct state, ', ') from hashgraph_resident where relation = '$oldest'::regclass"), 'evicted', '... in place of what has not been used for the longest time');
cmp_ok(sql('select evictions from hashgraph_stat_resident'), '>', 0, '... which is counted');
cmp_ok(sql("select sum(host_bytes) from hashgraph_resident where relation = '$oldest'::regclass"), '==', 0, '... and has no bytes any more');
sql("select hashgraph_resident_add('$oldest', wait => true)");
is(sql("select * from hashgraph_resident_check('$oldest')"), '10000|0', 'what was evicted is taken in again when it is asked for');
my $evicted = sql("select relation from hashgraph_resident where state = 'evicted' limit 1");
sql("select hashgraph_resident_refresh('$evicted')");
ok(wait_for(sub { sql("select * from hashgraph_resident_check('$evicted')") eq '10000|0' }, 10), '... or refreshed');
my ($different, $served) = (0, 0);
foreach my $i (1 .. TABLES)
{
	my ($rows, $wrong) = split /\|/, sql("select * from hashgraph_resident_check('t$i')");
	$served += $rows > 0;
	$different += $wrong;
}
is($different, 0, 'what is served of all of them is right');
cmp_ok($served, '>', 40, '... and many are');

# what is pinned stays, whatever else is taken in
sql('select hashgraph_resident_add(relation) from (select distinct relation from hashgraph_resident where relation <> ' . "'$one'::regclass" . ') r');
wait_for_loaders();
is(sql("select string_agg(distinct state || pinned, ', ') from hashgraph_resident where relation = '$one'::regclass"), 'readytrue', 'a pinned table is not evicted');
is(sql("select * from hashgraph_resident_check('$one')"), '10000|0', '... and served');
cmp_ok(memory_used(), '<=', 8 * 1024 * 1024, 'no more memory is used than there is');
sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident) r');
cmp_ok(memory_used(), '<', $empty + 64 * 1024, 'all of it is given back');

# ---------------------------------------------------------------- HashGraphs

# one of 1.7 MB, of a column of 800 kB, and tables of 120 kB each, until something has to go
sql('create table g as select i as k from generate_series(1, 200000) i');
wait_for(sub { sql(q{vacuum g; select relallvisible = relpages from pg_class where relname = 'g'}) eq 't' }, 20, every => 0.05);
my $g = q{select string_agg(kind || ' ' || state, ', ' order by kind) from hashgraph_resident where relation = 'g'::regclass};
sub fill_up
{
	my ($until) = @_;

	foreach my $i (1 .. TABLES)
	{
		my (undef, undef, $error) = $node->psql('postgres', "select hashgraph_resident_add('t$i', wait => true)");
		return $error if $until->($error);
	}
	return '';
}
sql(q{select hashgraph_resident_add('g', keys => '{k}', wait => true)});
fill_up(sub { sql($g) ne 'column ready, graph ready' });
is(sql($g), 'column ready, graph evicted', 'a HashGraph is evicted before its column');
is(sql(q{select * from hashgraph_resident_check('g')}), '200000|0', '... which is served');
sql(q{select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident where relation <> 'g'::regclass) r});
witness_rounds($node, 1);
is(sql($g), 'column ready, graph evicted', '... and is not made again for nobody');
sql('set hashgraph.fault_note_scan = on');
sql(q{select hashgraph_resident_check('g')});
ok(wait_for(sub { sql($g) eq 'column ready, graph ready' }, 10), '... but when a join asks for it') or diag(sql($g));
sql(q{select hashgraph_resident_check('g')});
sql('reset hashgraph.fault_note_scan');
is(sql(q{select last_used > now() - interval '10 s' from hashgraph_resident where relation = 'g'::regclass and kind = 'graph'}), 't', '... which counts as a use');
sql(q{select hashgraph_resident_add('g', keys => '{k}', pinned => true, wait => true)});
set_rest(60_000);
like(fill_up(sub { shift ne '' }), qr/could not be taken in/, 'a pinned HashGraph is not evicted');
is(sql($g), 'column ready, graph ready', '... and is there');
is(sql(q{select rows_different from hashgraph_resident_check('g')}), '0', '... and right');
sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident) r');
cmp_ok(memory_used(), '<', $empty + 64 * 1024, 'all of it is given back');

# what joins hash twice gets one without being asked for, where the table has 8 MB
sql('create table h as select i as k, i::money as n from generate_series(1, 240000) i; create table i as select * from g');
wait_for(sub { sql(q{vacuum h; vacuum i; select bool_and(relallvisible = relpages) from pg_class where relname in ('h', 'i')}) eq 't' }, 20, every => 0.05);
sql('set hashgraph.fault_note_scan = on');
sql("select hashgraph_resident_check('$_')") foreach qw(h i);
# a loader that takes in another table would have come to theirs before
sql(q{select hashgraph_resident_add('t1', wait => true)});
is(sql(q{select count(*) from hashgraph_resident where relation <> 't1'::regclass}), '0', 'what joins have hashed once is left alone');
sql(q{select hashgraph_resident_drop('t1')});
sql("select hashgraph_resident_check('$_')") foreach qw(h i);
sql('reset hashgraph.fault_note_scan');
my $kinds = q{select string_agg(relation || '.' || "column" || ' ' || kind || ' ' || state, ', ' order by relation::text, column_number, kind) from hashgraph_resident};
ok(wait_for(sub { sql($kinds) eq 'h.k column ready, h.k graph ready, h.n column ready, i.k column ready' }, 10), '... and twice gets a HashGraph, where that pays') or diag(sql($kinds));
set_rest(0);
sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident) r');

# ---------------------------------------------------------------- blocks without a position in the WAL

# wal_level = minimal leaves the WAL out for what is written into a new file, from wal_skip_threshold on
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0\n");
$node->restart;
$main = RawSession->new($node);
sql('create table skipped as select i as k from generate_series(1, 1000) i; vacuum skipped');
sql(q{select hashgraph_resident_add('skipped', wait => true)});
is(sql(q{select * from hashgraph_resident_check('skipped')}), '0|0', 'blocks that were written without WAL are not served');
like(sql(q{select reason from hashgraph_resident}), qr/written without WAL: VACUUM \(FREEZE\)/, '... and the view tells what cures that');
my $loads = sql('select loads from hashgraph_stat_resident');
witness_rounds($node, 2);
is(sql('select loads from hashgraph_stat_resident'), $loads, '... and they are not read again and again');
wait_for(sub { sql(q{vacuum (freeze) skipped; select hashgraph_resident_refresh('skipped'); select * from hashgraph_resident_check('skipped')}) eq '1000|0' }, 10, every => 0.1);
is(sql(q{select * from hashgraph_resident_check('skipped')}), '1000|0', '... which it does');
sql('drop table skipped');
$node->append_conf('postgresql.conf', "wal_level = replica\n");
$node->restart;
$main = RawSession->new($node);

# ---------------------------------------------------------------- pins

set_rest(60_000);
sql('create table large as select i as k, i::int8 as v from generate_series(1, 400000) i');
sql('create table other as select i as k, i::int8 as v from generate_series(1, 350000) i');
sql('create table small as select i as k, i::int8 as v from generate_series(1, 10000) i');
wait_for(sub { sql('vacuum large; vacuum other; vacuum small; select bool_and(relallvisible = relpages) from pg_class where relname in (\'large\', \'other\', \'small\')') eq 't' }, 10);
sql(q{select hashgraph_resident_add('large', wait => true); select hashgraph_resident_add('small', pinned => true, wait => true)});
is(sql(q{select * from hashgraph_resident_check('large')}), '400000|0', 'a table of more than half of the memory is served');
is(sql('select memory_pinned from hashgraph_stat_resident'), '0', '... and not pinned any more');
my $reader = RawSession->new($node);
$reader->query('set hashgraph.fault_keep_served = on');
$reader->query('begin');
is($reader->query(q{select * from hashgraph_resident_check('large')}), '400000|0', 'a transaction is served it, and keeps it');
# what waits for its client is idle
sub wait_until_idle
{
	wait_for(sub { (sql('select wait_event from pg_stat_activity where pid = ' . $reader->pid) // '') eq 'ClientRead' }, 10);
	return;
}
wait_until_idle();
cmp_ok(sql('select memory_pinned from hashgraph_stat_resident'), '>', 4 * 1024 * 1024, '... pinned, which is counted');
is(sql(q{select * from hashgraph_resident_check('small')}), '0|0', 'where that is more than half of the memory, and idle, nothing more is pinned');
is(sql(q{select * from hashgraph_resident_check('large')}), '400000|0', '... but what is so already');
$reader->send('select pg_sleep(60)');
wait_for(sub { sql(q{select count(*) from pg_stat_activity where wait_event = 'PgSleep'}) > 0 }, 10);
is(sql(q{select * from hashgraph_resident_check('small')}), '10000|0', '... and as long as it is not idle, more is');
sql('select pg_cancel_backend(' . $reader->pid . ')');
$reader->finish;
$reader->query('rollback');
is(sql('select memory_pinned from hashgraph_stat_resident'), '0', 'what an aborted transaction has pinned is given back');
$reader->query('begin');
$reader->query(q{select * from hashgraph_resident_check('large')});
set_rest(0);
is(sql(q{select count(*) from hashgraph_resident where relation = 'large'::regclass and state = 'ready'}), '2', 'what is pinned by a process is there');
my (undef, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('other', wait => true)});
like($error, qr/used up/, '... and not evicted');
sql('select hashgraph_resident_drop(\'other\')');
$reader->query('commit');
is(sql('select memory_pinned from hashgraph_stat_resident'), '0', 'it is given back when the transaction ends');
is(sql(q{select * from hashgraph_resident_check('small')}), '10000|0', '... and others are served again');

# ---------------------------------------------------------------- what scans ask for

sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident) r');
sql(q{set hashgraph.fault_note_scan = on; select * from hashgraph_resident_check('small')});
is(sql('select count(*) from hashgraph_resident'), '0', 'a scan does not have columns be taken in');
sql(q{select * from hashgraph_resident_check('small')});
ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation = 'small'::regclass and state = 'ready'}) eq '2' }, 10), '... and a second one does');
is(sql(q{select * from hashgraph_resident_check('small')}), '10000|0', '... which are served then');
is(sql('select bool_and(last_used > last_loaded) from hashgraph_resident'), 't', '... and used');
sql('begin');
sql('create table own (k int)');
sql(q{select * from hashgraph_resident_check('own')}) for 1 .. 3;
sql('rollback');
sql(q{create temp table own (k int)});
sql(q{select * from hashgraph_resident_check('own')}) for 1 .. 3;
is(sql('select count(distinct relation_id) from hashgraph_resident'), '1', 'tables that cannot be resident are not asked for by scans');
sql('alter system set hashgraph.resident_auto = off; select pg_reload_conf()');
wait_for(sub { sql('show hashgraph.resident_auto') eq 'off' }, 10);
sql(q{select * from hashgraph_resident_check('other')}) for 1 .. 3;
is(sql('select count(distinct relation_id) from hashgraph_resident'), '1', '... nor any where hashgraph.resident_auto is off');

# what was evicted and is missed comes back
set_rest(0);
sql(q{select hashgraph_resident_add('large', wait => true)});
(undef, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('other', wait => true)});
is(sql(q{select string_agg(distinct state, ',') from hashgraph_resident where relation = 'small'::regclass}), 'evicted', 'what scans have used before others were asked for is evicted');
ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('small')}) eq '10000|0' }, 10), '... and comes back when a scan misses it');

# ... and does not where the last scan that missed it came before it was there
sql(q{select hashgraph_resident_drop('small')});
hold($main, JOIN);
sql(q{select hashgraph_resident_add('small')});
wait_at($main, JOIN);
is(sql(q{select * from hashgraph_resident_check('small')}), '0|0', 'a scan comes before a table is there');
let_go($main, JOIN);
wait_for_loaders();
sql(q{select hashgraph_resident_add('large', wait => true)});
(undef, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('other', wait => true)});
witness_rounds($node, 2);
is(sql(q{select string_agg(distinct state, ',') from hashgraph_resident where relation = 'small'::regclass}), 'evicted', '... and does not bring it back when it has been evicted');

# what only scans have asked for is forgotten when it has long been evicted, and nothing else is
sql(q{select hashgraph_resident_drop('small')});
sql('alter system set hashgraph.resident_auto = on; select pg_reload_conf()');
wait_for(sub { sql('show hashgraph.resident_auto') eq 'on' }, 10);
sql(q{set hashgraph.fault_note_scan = on; select * from hashgraph_resident_check('small'); select * from hashgraph_resident_check('small')});
wait_for_loaders();
sql('create table named as select i as k from generate_series(1, 10000) i');
wait_for(sub { sql(q{vacuum named; select hashgraph_resident_add('named', wait => true); select * from hashgraph_resident_check('named')}) eq '10000|0' }, 10);
sql('alter system set hashgraph.resident_auto = off; select pg_reload_conf()');
sql(q{select hashgraph_resident_add('large', wait => true)});
(undef, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('other', wait => true)});
my $evicted_tables = q{select string_agg(distinct relation::text, ',') from hashgraph_resident where relation in ('small'::regclass, 'named'::regclass) and state = 'evicted'};
ok(wait_for(sub { (sql($evicted_tables) // '') eq 'named,small' }, 10), 'what a user has named and what scans have asked for are evicted');
sql('alter system set hashgraph.fault_forget = 0; select pg_reload_conf()');
ok(wait_for(sub { (sql($evicted_tables) // '') eq 'named' }, 10), '... and that is forgotten after some time, which nobody has named');
sql(q{select hashgraph_resident_drop('named')});

# ---------------------------------------------------------------- what other files bring back

# Wait until all columns of a table are in a state; a test.
sub state_becomes
{
	my ($table, $expected, $name) = @_;
	my $state = "select string_agg(distinct state, ',') from hashgraph_resident where relation = '$table'::regclass";

	wait_for(sub { sql($state) eq $expected }, 20);
	return is(sql($state), $expected, $name);
}

# no scan asks for any of it
sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident) r');
sql('create table idle as select i as k, i::int8 as v from generate_series(1, 10000) i');
wait_for(sub { sql('vacuum idle; select relallvisible = relpages from pg_class where relname = \'idle\'') eq 't' }, 10);
sql(q{select hashgraph_resident_add('idle', wait => true); select hashgraph_resident_add('large', pinned => true, wait => true)});
(undef, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('other', wait => true)});
state_becomes('other', 'declined', 'a table that finds no room is declined');
state_becomes('idle', 'evicted', '... when it has had all of another one evicted');
sql('truncate other; insert into other select i, i from generate_series(1, 1000) i');
state_becomes('other', 'ready', 'what was declined is tried again when it is another file');
sql('vacuum full idle');
state_becomes('idle', 'ready', '... and so is what was evicted');
ok(wait_for(sub { sql(q{vacuum idle; select * from hashgraph_resident_check('idle')}) eq '10000|0' }, 10), '... all of it');
sql('alter table other set unlogged');
state_becomes('other', 'declined', 'a table that becomes unlogged is declined');
like(sql(q{select string_agg(distinct reason, ',') from hashgraph_resident where relation = 'other'::regclass}), qr/^it is temporary, unlogged/, '... which the view tells');
is(sql(q{select sum(host_bytes) from hashgraph_resident where relation = 'other'::regclass}), '0', '... with nothing of it in memory');
sql('alter table other set logged');
state_becomes('other', 'ready', '... and taken in again when it is logged');
ok(wait_for(sub { sql(q{vacuum other; select * from hashgraph_resident_check('other')}) eq '1000|0' }, 10), '... all of it');

# ---------------------------------------------------------------- loaders at a time

sql('create database elsewhere');
$node->safe_psql('elsewhere', 'create extension hashgraph; create table e as select i as k from generate_series(1, 1000) i; vacuum e');
hold($main, JOIN);
sql(q{select hashgraph_resident_drop('small'); select hashgraph_resident_add('small')});
wait_at($main, JOIN);
$node->safe_psql('elsewhere', q{select hashgraph_resident_add('e')});
wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph witness' and datname = 'elsewhere'}) eq '2' }, 10);
witness_rounds($node, 1);
is(sql(q{select string_agg(datname, ',') from pg_stat_activity where backend_type = 'hashgraph loader'}), 'postgres', 'as many loaders as hashgraph.resident_workers says');
let_go($main, JOIN);
ok(wait_for(sub { sql(q{select state from hashgraph_resident where database = 'elsewhere'}) eq 'ready' }, 10), '... of one database after the other');

# several tables of a database at a time, each by one of them
$node->append_conf('postgresql.conf', "hashgraph.resident_workers = 2\nmax_worker_processes = 12\n");
$node->restart;
$main = RawSession->new($node);
wait_for_loaders();
sql('select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident where relation is not null) r');
hold($main, JOIN);
sql(join ';', map { "select hashgraph_resident_add('t$_')" } 1 .. 5);
ok(wait_for(sub { held_at($main, JOIN) == 2 }, 10), 'two loaders take in tables of a database');
witness_rounds($node, 1);
is(scalar held_at($main, JOIN), 2, '... and not more');
let_go($main, JOIN);
wait_for_loaders();
is(sql('select sum(rows_compared), sum(rows_different) from (select distinct relation from hashgraph_resident where relation is not null) r, hashgraph_resident_check(relation)'), '50000|0', '... all of them');

$node->stop;
done_testing();
