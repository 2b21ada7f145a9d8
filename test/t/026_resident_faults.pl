# What resident columns are proved by (src/resident/hg_resident_validity.c) is needed: each interleaving that a rule
# is for is made, and serves no row that is not the table's; with the rule broken on purpose it does.
#
# Needs a server with a build of HG_DEBUG=1 in PATH, as 008_faults.pl does; that has places where processes can be
# held, by advisory locks, and the setting that breaks rules (test/fault/hg_fault_resident.c).

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'needs a build of HG_DEBUG=1' unless $ENV{HG_DEBUG_BUILD};

# The places.
use constant { CAPTURE => 1, JOIN => 2, SERVE => 3, END_ROUND => 4 };

my $node = new_server('resident_faults', conf => "hashgraph.resident_memory = '16MB'\n");
my $holder = RawSession->new($node);
my $writer = RawSession->new($node);
my $reader = RawSession->new($node);

sub sql
{
	return $node->safe_psql('postgres', shift);
}

# Have whoever comes by a place wait there, until it is let_go.
sub hold
{
	my ($place) = @_;
	$holder->query("select pg_advisory_lock(26727, $place)");
	return;
}

sub let_go
{
	my ($place) = @_;
	$holder->query("select pg_advisory_unlock(26727, $place)");
	return;
}

# Wait until a process stands at a place.
sub wait_at
{
	my ($place) = @_;
	wait_for(sub { sql("select count(*) from pg_locks where locktype = 'advisory' and classid = 26727 and objid = $place and not granted") > 0 }, 20)
	  or die "nobody has come to place $place";
	return;
}

# Wait until so many rounds have begun.
sub wait_for_rounds
{
	my ($rounds) = @_;
	my $last = '';

	while ($rounds > 0)
	{
		my $now = sql("select max(xact_start) from pg_stat_activity where backend_type = 'hashgraph witness'");
		$rounds-- if $now ne $last;
		$last = $now;
		usleep(10_000);
	}
	return;
}

# Break a rule, in every process.
sub plant
{
	my ($fault) = @_;
	sql("alter system set hashgraph.plant_fault = '$fault'");
	$node->reload;
	wait_for(sub { sql('show hashgraph.plant_fault') eq $fault });
	# workers read it when they look at interrupts next
	usleep(300_000);
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
	wait_for(sub { (check())[0] == sql('select count(*) from t') or not sql('vacuum t') and not usleep(50_000) }, 20)
	  or die 'the table is not taken in: ' . sql('select json_agg(r) from hashgraph_resident r');
	return;
}

# The first row's block is changed and committed.
sub change
{
	$writer->query('update t set v = v + 1 where k = 1');
	return;
}

# A test: an interleaving serves wrong rows with a rule broken, and none without.
sub holds_against
{
	my ($fault, $name, $interleave) = @_;

	foreach my $planted ($fault, 'none')
	{
		plant($planted);
		restore();
		my $different = $interleave->($planted);
		if ($planted eq 'none') { is($different, 0, $name); }
		else { cmp_ok($different, '>', 0, "... with $planted it does not"); }
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
	hold(JOIN);
	sql(q{select hashgraph_resident_add('t')});
	wait_at(JOIN);
	return;
}

# Wait until the loader that was held has published.
sub wait_published
{
	let_go(JOIN);
	wait_for(sub { sql(q{select bool_and(state = 'ready') from hashgraph_resident}) eq 't' }, 20);
	return;
}

holds_against('loader_snapshot', 'a block that is changed and vacuumed between its capture and the publication is not served', sub {
	hold_loader();
	change();
	wait_for_rounds(4);
	sql('vacuum t');
	wait_published();
	return (check())[1];
});

holds_against('joins_early', '... nor one that is vacuumed between the publication and the next observation', sub {
	hold_loader();
	change();
	wait_for_rounds(4);
	hold(END_ROUND);
	wait_at(END_ROUND);
	wait_published();
	sql('vacuum t');
	my ($served, $different) = check();
	let_go(END_ROUND);
	return $different;
});

# ---------------------------------------------------------------- bits first, then records

holds_against('record_first', 'a reader that is held between the bits and the records is served no changed block', sub {
	hold(END_ROUND);
	wait_at(END_ROUND);
	hold(SERVE);
	# committed before the reader's snapshot, and after the round's observation
	change();
	$reader->send(q{select * from hashgraph_resident_check('t')});
	wait_at(SERVE);
	let_go(END_ROUND);
	# the record loses the block, the snapshots go, and the bit is set again
	wait_for_rounds(6);
	sql('vacuum t');
	let_go(SERVE);
	$reader->finish;
	return (split /\|/, $reader->{rows}[0])[1];
});

# ---------------------------------------------------------------- a chain is broken before its snapshot goes

holds_against('late_break', 'a witness that ends breaks the chain before its snapshot goes', sub {
	# held between its observation and the end of the round: both have snapshots then
	hold(END_ROUND);
	wait_at(END_ROUND);
	change();
	sql(q{select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph witness'});
	wait_for(sub { sql(q{select count(*) from pg_stat_activity where backend_type = 'hashgraph witness' and backend_xmin is not null}) eq '0' }, 20);
	sql('vacuum t');
	my ($served, $different) = check();
	let_go(END_ROUND);
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
	wait_for_rounds(6);
	# the vacuum comes first when the lock goes, and nobody observes before it has set the bit
	hold(END_ROUND);
	wait_at(END_ROUND);
	$locker->query('commit');
	sql('vacuum t');
	my ($served, $different) = check();
	let_go(END_ROUND);
	return $different;
});

# ---------------------------------------------------------------- interleavings without a broken rule

# a change between the look at the map and the page
sql(q{select hashgraph_resident_drop('t')});
hold(CAPTURE);
sql(q{select hashgraph_resident_add('t')});
wait_at(CAPTURE);
$writer->query('begin');
$writer->query('insert into t select 1000000 + i, 0 from generate_series(1, 500) i');
let_go(CAPTURE);
wait_for(sub { sql("select bool_and(state = 'ready') from hashgraph_resident") eq 't' }, 20);
$writer->query('rollback');
is((check())[1], 0, 'rows of an insert that is aborted after they might have been captured are not served');
restore();
is((check())[1], 0, '... nor after a vacuum');

# the loader ends between the capture and the publication
sql(q{select hashgraph_resident_drop('t')});
hold(JOIN);
sql(q{select hashgraph_resident_add('t')});
wait_at(JOIN);
sql(q{select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph loader'});
wait_for(sub { sql(q{select count(*) from pg_locks where locktype = 'advisory' and not granted}) eq '0' }, 20);
let_go(JOIN);
restore();
is((check())[1], 0, 'a loader that is terminated before it publishes is replaced');

# the table goes between the capture and the publication
sql('create table gone as select i as k from generate_series(1, 1000) i');
wait_for_rounds(6);
sql('vacuum gone');
hold(JOIN);
sql(q{select hashgraph_resident_add('gone')});
wait_at(JOIN);
$writer->send('drop table gone');
wait_for(sub { sql("select count(*) from pg_locks where locktype = 'relation' and not granted") eq '1' }, 20);
let_go(JOIN);
$writer->finish;
is($writer->{error}, undef, 'DROP TABLE waits for the loader of one segment at most');
ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation_id not in (select oid from pg_class)}) eq '0' }, 20), '... and the table is forgotten');

my $log = slurp_file($node->logfile);
unlike($log, qr/TRAP|PANIC|was terminated by signal/, 'no process has failed');
$node->stop('fast');

done_testing();
