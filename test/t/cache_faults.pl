# What resident columns are proved by (src/resident/hg_resident_validity.c) is needed: each interleaving that a rule
# is for is made, and serves no row that is not the table's; with the rule broken on purpose it does.
#
# Needs a server with a build of HG_DEBUG=1 in PATH, as join_faults.pl does; that has places where processes can be
# held, by advisory locks, and the setting that breaks rules (test/fault/hg_fault_resident.c).

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

my $node = new_server('resident_faults', conf => "hashgraph.resident_memory = '8MB'\n", init => [ allows_streaming => 1 ]);
my $holder = RawSession->new($node);
my $next = RawSession->new($node);
my $writer = RawSession->new($node);
my $reader = RawSession->new($node);

sub sql
{
	return $node->safe_psql('postgres', shift);
}

# Break a rule, in every process.
sub plant
{
	my ($fault, $where) = @_;
	$where //= $node;
	$where->safe_psql('postgres', "alter system set hashgraph.plant_fault = '$fault'");
	$where->reload;
	wait_for(sub { $where->safe_psql('postgres', 'show hashgraph.plant_fault') eq $fault });
	# workers read it when they look at interrupts next
	witness_rounds($where, 1);
	return;
}

# What a session finds: rows that would be served, and those of them that are not the table's.
sub check
{
	return split /\|/, $reader->query(q{select * from hashgraph_resident_check('t')});
}

# All of the table resident again, all of its blocks all-visible.
sub restore
{
	wait_for(sub { (check())[0] == sql('select count(*) from t') }, 20, every => 0.05, between => sub { sql('vacuum t') })
	  or die 'the table is not taken in: ' . sql('select json_agg(r) from hashgraph_resident r');
	return;
}

# Set the all-visible bits of changed blocks, as VACUUM does, and since PostgreSQL 19 scans.
my @ways = ('vacuum t');
push @ways, 'set hashgraph.enabled = off; select count(*) from t' if major_version($node) >= 19;
my $way;

sub set_bits
{
	sql($way);
	return;
}

# The first row's block is changed and committed.
sub change
{
	$writer->query('update t set v = v + 1 where k = 1');
	return;
}

# A test: an interleaving serves wrong rows with a rule broken, and none without.  On a machine that is slow the chain may break
# by itself meanwhile, and hide them: then again.  So too where the interleaving says that it did not come about: with undef.
my $TRIES = 25;
sub holds_against
{
	my ($fault, $name, $interleave) = @_;

	foreach my $case (map { [ $_, $fault ], [ $_, 'none' ] } @ways)
	{
		my $planted;
		my $different = 0;

		($way, $planted) = @$case;
		plant($planted);
		foreach my $try (1 .. $TRIES)
		{
			restore();
			$different = $interleave->($planted);
			last if defined $different && ($different > 0 || $planted eq 'none');
		}
		if ($planted eq 'none') { is($different, 0, "$name ($way)"); }
		else { cmp_ok($different, '>', 0, "... with $planted it is ($way)"); }
		plant('none');
		sql(q{select hashgraph_resident_drop('t')});
		sql(q{select hashgraph_resident_add('t')});
	}
	restore();
	return;
}

sql(<<'SQL');
create table t (k int, v int) with (fillfactor = 50);
insert into t select i, i from generate_series(1, 5000) i;
select hashgraph_resident_add('t');
SQL
restore();

# ---------------------------------------------------------------- a change between the capture and the publication

# Hold a loader that has read the table.
sub hold_loader
{
	sql(q{select hashgraph_resident_drop('t')});
	hold($holder, JOIN);
	sql(q{select hashgraph_resident_add('t')});
	wait_at($holder, JOIN);
	return;
}

# Wait until the loader that was held has published.
sub wait_published
{
	my ($session, $place) = @_;

	let_go($session // $holder, $place // JOIN);
	wait_for(sub { sql(q{select bool_and(state = 'ready') from hashgraph_resident}) eq 't' }, 20);
	return;
}

holds_against('loader_snapshot', 'a block that is changed and vacuumed between its capture and the publication is not served', sub {
	hold_loader();
	change();
	witness_rounds($node, 3);
	set_bits();
	wait_published();
	return (check())[1];
});

holds_against('joins_early', '... nor one that is vacuumed between the publication and the next observation', sub {
	hold_loader();
	change();
	witness_rounds($node, 3);
	hold($holder, END_ROUND);
	wait_at($holder, END_ROUND);
	wait_published();
	set_bits();
	my ($served, $different) = check();
	let_go($holder, END_ROUND);
	return $different;
});

holds_against('joins_late', '... nor one that is changed and observed between the second copy of the bits and the publication', sub {
	sql(q{select hashgraph_resident_drop('t')});
	hold($holder, RECORD);
	sql(q{select hashgraph_resident_add('t')});
	wait_at($holder, RECORD);
	change();
	witness_rounds($node, 3);
	# no round observes what is published, before the bit is set again
	hold($holder, END_ROUND);
	wait_at($holder, END_ROUND);
	wait_published($holder, RECORD);
	set_bits();
	my ($served, $different) = check();
	let_go($holder, END_ROUND);
	return $different;
});

holds_against('joins_observed', '... nor one that is changed behind that copy, observed, and published before the round ends', sub {
	my $different;

	sql(q{select hashgraph_resident_drop('t')});
	hold($holder, RECORD);
	sql(q{select hashgraph_resident_add('t')});
	wait_at($holder, RECORD);
	# those bits are too old when it goes on, and it comes again with the bits of a round that is about to end
	witness_rounds($node, 2);
	hold($holder, END_ROUND);
	wait_at($holder, END_ROUND);
	let_one_go($holder, $next, RECORD);
	if (comes_to($holder, RECORD, 2))
	{
		change();
		# the next round, which is the first that sees the change, observes the table and does not end
		let_one_go($holder, $next, END_ROUND);
		if (comes_to($holder, END_ROUND, 2))
		{
			wait_published($next, RECORD);
			# the snapshots from before the change go, and nobody takes from the records before the bit is set again
			hold($holder, OBSERVE);
			let_go($next, END_ROUND);
			if (comes_to($holder, OBSERVE, 2))
			{
				set_bits();
				$different = (check())[1];
			}
		}
	}
	# where one did not come a chain has broken
	$_->query('select pg_advisory_unlock_all()') foreach $holder, $next;
	return $different;
});

# ---------------------------------------------------------------- pages of the map that are not looked into

holds_against('full_map', 'a block that is changed and vacuumed after it was published is not served', sub {
	change();
	witness_rounds($node, 3);
	set_bits();
	return (check())[1];
});

# A page of the map whose bits are all set: of 32,672 blocks, here with a row each.
sql(<<'SQL');
create table large (k int, filler text);
alter table large alter filler set storage plain;
insert into large select i, repeat('x', 5000) from generate_series(1, 32672 + 10) i;
SQL
# the witnesses' snapshots go first
witness_rounds($node, 3);
sql(q{vacuum large});
sql(q{select hashgraph_resident_add('large', '{k}', wait => true)});
my $left = 0;
my $taken_in = 1;
# where a chain breaks by itself meanwhile, all segments are lost with it, which tells nothing: then again
foreach my $try (1 .. $TRIES)
{
	$taken_in &&= wait_for(sub { sql(q{select blocks_resident = 32682 and blocks_stale = 0 from hashgraph_resident where relation = 'large'::regclass}) eq 't' }, 20, every => 0.05, between => sub { sql('vacuum large') });
	# it rests: observations have nothing to note
	witness_rounds($node, 4);
	$writer->query('update large set k = 0 where k = 77');
	witness_rounds($node, 3);
	$left = sql(q{select blocks_resident from hashgraph_resident where relation = 'large'::regclass});
	last if !$taken_in || $left >= 32682 - 32672 / 32;
	$writer->query('update large set k = 77 where k = 0');
}
ok($taken_in, 'a table with a page of the map of which all bits are set is taken in') or diag(sql('select * from hashgraph_resident'));
cmp_ok($left, '<', 32682, '... and loses a block that is changed when nothing has changed for some rounds');
cmp_ok($left, '>', 32682 - 32672 / 32, '... and no other segment');
sql('vacuum large');
is(sql(q{select rows_different from hashgraph_resident_check('large')}), '0', '... so that the former row is not served when it is vacuumed');
ok(wait_for(sub { sql(q{select blocks_resident = blocks_visible and blocks_visible > 32670 from hashgraph_resident where relation = 'large'::regclass}) eq 't' }, 20, every => 0.05, between => sub { sql('vacuum large') }),
	'... and it is taken in again, as it is then');
sql(q{select hashgraph_resident_drop('large'); drop table large});

# ---------------------------------------------------------------- bits first, then records

holds_against('record_first', 'a reader that is held between the bits and the records is served no changed block', sub {
	hold($holder, END_ROUND);
	wait_at($holder, END_ROUND);
	hold($holder, SERVE);
	# committed before the reader's snapshot, and after the round's observation
	change();
	$reader->send(q{select * from hashgraph_resident_check('t')});
	# nobody decides anything where the chain is broken
	my $decides = comes_to($holder, SERVE, 5);
	let_go($holder, END_ROUND);
	if (!$decides)
	{
		let_go($holder, SERVE);
		$reader->finish;
		return undef;
	}
	# the record loses the block, the snapshots go, and the bit is set again
	witness_rounds($node, 5);
	set_bits();
	let_go($holder, SERVE);
	$reader->finish;
	return (split /\|/, $reader->{rows}[0])[1];
});

# ---------------------------------------------------------------- a chain is broken before its snapshot goes

holds_against('late_break', 'a witness that ends breaks the chain before its snapshot goes', sub {
	# held between its observation and the end of the round: both have snapshots then
	hold($holder, END_ROUND);
	wait_at($holder, END_ROUND);
	change();
	sql(q{select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph witness'});
	wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph witness' and backend_xmin is not null}) eq '0' }, 20);
	set_bits();
	my ($served, $different) = check();
	let_go($holder, END_ROUND);
	return $different;
});

# ---------------------------------------------------------------- a round that has not observed a table

holds_against('missed_round', 'what a round has not observed is not served', sub {
	my $locker = RawSession->new($node);

	$writer->query('begin');
	change();
	# in the queue, so that it has the lock as soon as the change is committed, and no witness in between
	$locker->send('begin; lock table t in access exclusive mode');
	wait_for(sub { sql("select count(*) from pg_locks where relation = 't'::regclass and not granted") eq '1' }, 20);
	$writer->query('commit');
	$locker->finish;
	witness_rounds($node, 5);
	# the vacuum comes first when the lock goes, and nobody observes before it has set the bit
	hold($holder, END_ROUND);
	wait_at($holder, END_ROUND);
	$locker->query('commit');
	set_bits();
	my ($served, $different) = check();
	let_go($holder, END_ROUND);
	return $different;
});

# ---------------------------------------------------------------- interleavings without a broken rule

# a change between the look at the map and the page
sql(q{select hashgraph_resident_drop('t')});
hold($holder, CAPTURE);
sql(q{select hashgraph_resident_add('t')});
wait_at($holder, CAPTURE);
$writer->query('begin');
$writer->query('insert into t select 1000000 + i, 0 from generate_series(1, 500) i');
let_go($holder, CAPTURE);
wait_for(sub { sql("select bool_and(state = 'ready') from hashgraph_resident") eq 't' }, 20);
$writer->query('rollback');
is((check())[1], 0, 'rows of an insert that is aborted after they might have been captured are not served');
restore();
is((check())[1], 0, '... nor after a vacuum');

# a change between a witness's copy of the bits and the records
hold($holder, OBSERVE);
wait_at($holder, OBSERVE);
change();
sql('vacuum t');
my ($observed) = check();
is((check())[1], 0, 'a block that is changed while a witness observes it is not served');
let_go($holder, OBSERVE);
witness_rounds($node, 1);
is((check())[1], 0, '... nor when it has been observed');
cmp_ok($observed, '<', 5000, '... which was seen in time');
restore();

# the loader ends between the capture and the publication
sql(q{select hashgraph_resident_drop('t')});
hold($holder, JOIN);
sql(q{select hashgraph_resident_add('t')});
wait_at($holder, JOIN);
sql(q{select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph loader'});
wait_for(sub { sql(q{select count(*) from pg_locks where locktype = 'advisory' and not granted}) eq '0' }, 20);
let_go($holder, JOIN);
restore();
is((check())[1], 0, 'a loader that is terminated before it publishes is replaced');

# ... and gives back what it has allocated: a quarter of the memory each time
sql('create table large as select i as k, i::int8 as v from generate_series(1, 180000) i');
witness_rounds($node, 5);
sql('vacuum large');
hold($holder, JOIN);
sql(q{select hashgraph_resident_add('large')});
foreach my $ends ('pg_terminate_backend', 'pg_cancel_backend', ('pg_terminate_backend') x 3)
{
	wait_at($holder, JOIN);
	sql(qq{select $ends(pid) from pg_stat_activity where backend_type = 'hashgraph loader'});
	wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph loader'}) eq '0' }, 20);
}
let_go($holder, JOIN);
ok(wait_for(sub { sql(q{select rows_compared from hashgraph_resident_check('large')}) eq '180000' }, 30), '... and what it has allocated is given back');
sql(q{select hashgraph_resident_drop('large')});

# the table goes between the capture and the publication
sql('create table gone as select i as k from generate_series(1, 1000) i');
witness_rounds($node, 5);
sql('vacuum gone');
hold($holder, JOIN);
sql(q{select hashgraph_resident_add('gone')});
wait_at($holder, JOIN);
$writer->send('drop table gone');
wait_for(sub { sql("select count(*) from pg_locks where locktype = 'relation' and not granted") eq '1' }, 20);
let_go($holder, JOIN);
$writer->finish;
is($writer->{error}, undef, 'DROP TABLE waits for the loader of one segment at most');
ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation_id not in (select oid from pg_class)}) eq '0' }, 20), '... and the table is forgotten');

# VACUUM cuts off all-visible blocks that are still to be read
sql('create table cut as select i as k from generate_series(1, 20000) i; delete from cut where k > 5000');
my $blocks = sql(q{select pg_relation_size('cut') / 8192});
wait_for(sub { sql('vacuum (truncate off) cut'); sql(q{select relallvisible = relpages from pg_class where relname = 'cut'}) eq 't' }, 20);
my $offset = -s $node->logfile;
hold($holder, GIVE_WAY);
sql(q{select hashgraph_resident_add('cut')});
wait_at($holder, GIVE_WAY);
wait_for(sub { sql('vacuum cut'); sql(q{select pg_relation_size('cut') / 8192}) < $blocks }, 20);
let_go($holder, GIVE_WAY);
ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('cut')}) eq '5000|0' }, 20), 'a table is cut off while it is taken in');
unlike(slurp_file($node->logfile, $offset), qr/could not read block/, '... and nothing is read beyond its end');
sql(q{select hashgraph_resident_drop('cut')});

# ---------------------------------------------------------------- a standby

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('resident_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\n");
$standby->start;

# What the standby finds.
sub standby_check
{
	return split /\|/, $standby->safe_psql('postgres', q{select * from hashgraph_resident_check('t')});
}

sub catch_up
{
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	return;
}

# Have the standby serve all of the table, which the primary vacuums.
sub restore_standby
{
	wait_for(sub { (standby_check())[0] == sql('select count(*) from t') }, 20, every => 0.05, between => sub { sql('vacuum t') })
	  or die 'the standby does not take the table in: ' . $standby->safe_psql('postgres', 'select json_agg(r) from hashgraph_resident r');
	return;
}

$standby->safe_psql('postgres', q{select hashgraph_resident_add('t')});
restore_standby();
is((standby_check())[1], 0, 'a standby has residents of its own');

my $standby_holder = RawSession->new($standby);

# an insert that is replayed between the look at the map and the page, and has ended and been vacuumed when the version is
# published
sub served_while_replayed
{
	my ($end) = @_;

	$standby->safe_psql('postgres', q{select hashgraph_resident_drop('t')});
	hold($standby_holder, CAPTURE);
	hold($standby_holder, JOIN);
	$standby->safe_psql('postgres', q{select hashgraph_resident_add('t')});
	wait_at($standby_holder, CAPTURE);
	$writer->query('begin');
	$writer->query('insert into t select 2000000 + i, 0 from generate_series(1, 500) i');
	$writer->query('update t set v = v + 1 where k between 100 and 200');
	catch_up();
	let_go($standby_holder, CAPTURE);
	wait_at($standby_holder, JOIN);
	$writer->query($end);
	# not with the lock that cutting off the end takes, which the loader that is held has a part of
	sql('vacuum (truncate off) t');
	catch_up() if $end eq 'rollback';
	# what is published is checked before a loader takes the table in again, for the blocks that have got their bit since
	hold($standby_holder, CAPTURE);
	let_go($standby_holder, JOIN);
	wait_for(sub { $standby->safe_psql('postgres', q{select bool_and(blocks_resident > 0) from hashgraph_resident}) eq 't' }, 20);
	my ($served, $different) = standby_check();
	let_go($standby_holder, CAPTURE);
	return $different;
}

foreach my $case ([ 'rollback', 'no_peek' ], [ 'rollback', 'none' ], [ 'commit', 'none' ])
{
	my ($end, $fault) = @$case;
	my $different = 0;

	plant($fault, $standby);
	foreach my $try (1 .. ($fault eq 'none' ? 1 : $TRIES))
	{
		$different = served_while_replayed($end);
		last if $different > 0;
	}
	if ($fault eq 'none') { is($different, 0, "a standby serves no row that was replayed while it was taken in ($end)"); }
	else { cmp_ok($different, '>', 0, "... with $fault it does"); }
	plant('none', $standby);
	$standby->safe_psql('postgres', q{select hashgraph_resident_drop('t'); select hashgraph_resident_add('t')});
	restore_standby();
	is((standby_check())[1], 0, '... and all rows in the end');
}

# a database that is dropped on the primary
sql('create database other');
$node->safe_psql('other', 'create extension hashgraph; create table o as select i as k from generate_series(1, 1000) i');
catch_up();
$standby->safe_psql('other', q{select hashgraph_resident_add('o')});
wait_for(sub { $standby->safe_psql('postgres', q{select count(*) from pg_stat_activity where datname = 'other' and backend_type = 'hashgraph witness'}) eq '2' }, 20);
sql('drop database other');
catch_up();
pass('replay of DROP DATABASE gets its way');
ok(wait_for(sub { $standby->safe_psql('postgres', q{select count(*) from hashgraph_resident where database is distinct from 'postgres'}) eq '0' }, 20), '... and what was resident of it is forgotten');

# with a standby that waits for its snapshots for ever, replay goes on
sql('update t set v = v + 1 where k % 7 = 0');
sql('vacuum (freeze) t');
catch_up();
pass('replay that conflicts with the witnesses waits for their timeout at most');
restore_standby();

# promotion
$standby->promote;
is((standby_check())[1], 0, 'what a promoted standby serves is right');
$standby->safe_psql('postgres', 'update t set v = -v where k % 11 = 0');
is((standby_check())[1], 0, '... and when it writes itself');
ok(wait_for(sub { (standby_check())[0] == $standby->safe_psql('postgres', 'select count(*) from t') }, 20, every => 0.05, between => sub { $standby->safe_psql('postgres', 'vacuum t') }), '... and takes in what it has changed');
is((standby_check())[1], 0, '... rightly');
unlike(slurp_file($standby->logfile), qr/TRAP|PANIC|was terminated by signal/, 'no process of it has failed');
$standby->stop('fast');

my $log = slurp_file($node->logfile);
unlike($log, qr/TRAP|PANIC|was terminated by signal/, 'no process has failed');
$node->stop('fast');

done_testing();
