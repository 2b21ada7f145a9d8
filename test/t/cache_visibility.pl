# What a join has found in changed blocks is used again by whoever joins next, as long as the page stays what it was and for
# snapshots alone to which that says the same: blocks are looked at once, and every session sees its own rows.
#
# Versions: which rows of a page a snapshot sees.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $settings = <<'CONF';
hashgraph.resident_memory = '48MB'
hashgraph.resident_auto = off
hashgraph.force = on
hashgraph.backend = 'cpu'
max_prepared_transactions = 2
max_standby_streaming_delay = -1
CONF
my $node = new_server('looks', init => [ allows_streaming => 1 ], conf => $settings);

sub sql
{
	return $node->safe_psql('postgres', shift);
}

# Some two hundred rows a block, with room for other versions of some.
sql(<<'SQL');
create table r (k int, v int) with (fillfactor = 85, autovacuum_enabled = off);
insert into r select (i * 7919) % 30011, i from generate_series(1, 30000) i;
create table s (k int, w int) with (autovacuum_enabled = off);
insert into s select i, i % 100 from generate_series(1, 31000) i;
vacuum (freeze, analyze) r, s;
select hashgraph_resident_add('r', keys => array['k']), hashgraph_resident_add('s', keys => array['k']);
-- the row of a block of r that stands first
create function first_of(block int) returns tid stable language sql as $$ select ctid from r where ctid >= format('(%s,1)', block)::tid and ctid < format('(%s,0)', block + 1)::tid order by ctid limit 1 $$;
SQL

my $join = 'select count(*), sum(v), sum(w), sum(v::int8 * w) from r join s using (k)';

# A test: all of both tables is served, and in their graphs.  What is resident is told as the witnesses saw it last; a join knows better.
sub settle
{
	my ($when) = @_;
	my $looks = 'select blocks_looked_at + looks_recalled from hashgraph_stat_resident';

	ok(wait_for(sub {
		my ($before, undef, $after, $all) = split /\n/, sql("$looks; $join; $looks; select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) and count(*) = 6 from hashgraph_resident");
		($all eq 't' && $before == $after) }, 30, every => 0.1, between => sub { sql(q{vacuum r, s}); sql(q{select hashgraph_resident_refresh('r'), hashgraph_resident_refresh('s')}) }), $when)
	  or diag(sql('select json_agg(r) from hashgraph_resident r'));
	return;
}

# A test: a session's join sees what PostgreSQL's own sees in the same transaction, and blocks of r that have changed are looked at
# and have their looks recalled so many times.  Whether a block is served waits for the witnesses, who never see it change sooner than
# the session that changes it does; so that what has not changed is served, it is asked again until it is.
sub looks
{
	my ($session, $looked_at, $recalled, $name) = @_;
	my ($found, $expected, $counts);

	wait_for(sub {
		my @before = split /\|/, $session->run_each('select blocks_looked_at, looks_recalled from hashgraph_stat_resident');
		$found = $session->run_each($join);
		my @after = split /\|/, $session->run_each('select blocks_looked_at, looks_recalled from hashgraph_stat_resident');
		$expected = $session->run_each("set hashgraph.enabled = off; $join");
		$session->run_each('set hashgraph.enabled = on');
		$counts = join(' ', map { $after[$_] - $before[$_] } 0, 1);
		$found ne $expected or $counts eq "$looked_at $recalled" }, 10, every => 0.2);
	is($found, $expected, "$name: the rows are right");
	return is($counts, "$looked_at $recalled", "$name: $looked_at looked at, $recalled recalled");
}

my $main = RawSession->new($node);
my $other = RawSession->new($node);

# Change rows, one a block, of so many blocks.
sub change
{
	my ($session, $blocks) = @_;

	$session->run_each("update r set v = v + 100000 where ctid = any(array(select first_of(i * 3) from generate_series(1, $blocks) i))");
	return;
}

settle('the tables are resident, and in graphs');
looks($main, 0, 0, 'nothing has changed');
ok(sql($join) =~ /^\d+\|/, 'there are rows');

# A count that differs is asked again: what is looked at once can't be seen a second time.
sub looks_once
{
	my ($session, $blocks, $name) = @_;
	my $before = $session->run_each('select blocks_looked_at from hashgraph_stat_resident');

	looks($session, 0, $blocks, $name);
	my $after = $session->run_each('select blocks_looked_at from hashgraph_stat_resident');
	return is($after - $before, $blocks, "$name: ... once");
}

change($other, 10);
looks_once($main, 10, 'after a change');
looks($other, 0, 10, 'who has made it');
looks(RawSession->new($node), 0, 10, 'a session that has just begun');

# ---------------------------------------------------------------- snapshots that see something else

{
	my $old = RawSession->new($node);

	$old->run_each("begin isolation level repeatable read; $join");
	change($other, 10);
	looks($old, 10, 0, 'an older snapshot') for 1, 2;
	looks($main, 0, 10, 'a newer one');
	looks($old, 10, 0, 'the older one behind it');
	looks($main, 0, 10, 'the newer one behind that');
	$old->run_each('commit');
	looks($old, 0, 10, '... which sees the same in the end');
}
{
	# a transaction that is older runs still: its id keeps snapshots from taking younger ones for past
	my $runs = RawSession->new($node);

	$runs->run_each('begin; select txid_current()');
	change($other, 10);
	looks($main, 10, 0, 'beside an older transaction') for 1, 2;
	$runs->run_each('rollback');
	looks($main, 0, 10, '... that has ended');
}

# ---------------------------------------------------------------- transactions that have not ended, or in another way

$other->run_each('begin');
change($other, 10);
looks($main, 10, 0, 'beside a change that is not committed') for 1, 2;
looks($other, 10, 0, 'own changes') for 1, 2;
$other->run_each('savepoint one; delete from r where ctid = first_of(3)');
looks($other, 10, 0, 'those of a subtransaction');
$other->run_each('rollback to one');
looks($other, 10, 0, 'which is taken back') for 1, 2;
looks($main, 10, 0, '... not to be seen');
$other->run_each('rollback');
looks($main, 0, 10, 'a change that was taken back');
looks($other, 0, 10, '... by who has made it');

$other->run_each('begin');
change($other, 10);
$other->run_each(q{prepare transaction 'looks'});
looks($main, 10, 0, 'a change that is prepared') for 1, 2;
$main->run_each(q{commit prepared 'looks'});
looks($main, 0, 10, '... and committed');

# ---------------------------------------------------------------- locks

{
	my @lockers = map { RawSession->new($node) } 1, 2;
	# one row a block of four
	my $rows = q{ctid = any(array(select min(ctid) from r where v > 100000 group by (ctid::text::point)[0] order by 1 limit 4))};
	my $lock = "select count(*) from (select from r where $rows";

	$_->run_each("begin; $lock for key share) x") foreach @lockers;
	looks($main, 0, 10, 'rows that several have locked');
	$other->run_each("begin; update r set v = v + 1 where $rows");
	looks($main, 4, 6, '... and one is changing') for 1, 2;
	$other->run_each('commit');
	looks($main, 4, 6, '... and has changed: who of several it was has to be asked') for 1, 2;
	$_->run_each('commit') foreach @lockers;
	looks($main, 4, 6, '... whose ids stay');
	# rewritten, by one alone
	sql('vacuum (freeze, disable_page_skipping) r');
}

# ---------------------------------------------------------------- more, and all, rows of a block

settle('all is in step again');
sql(q{update r set v = -v where ctid >= '(30,1)' and ctid <= '(30,10)'});
looks_once($main, 1, 'ten rows of a block and their other versions');
sql(q{delete from r where ctid >= '(31,1)' and ctid <= '(31,50)'});
looks($main, 1, 1, 'more than a look can name') for 1, 2;
settle('they are in step');
sql(q{delete from r where ctid >= '(40,1)' and ctid < '(41,0)'});
looks_once($main, 1, 'no row of a block is left');
sql(q{delete from r where ctid >= '(42,4)' and ctid < '(43,0)'});
looks($main, 0, 2, 'few rows of a block are left');

# ---------------------------------------------------------------- pages that vacuum changes

{
	my $before = $main->run_each('select blocks_looked_at from hashgraph_stat_resident');

	# the rows go when no witness's snapshot is older
	ok(wait_for(sub {
		sql('vacuum r');
		$main->run_each($join);
		$main->run_each('select blocks_looked_at from hashgraph_stat_resident') > $before }, 20, every => 0.3), 'a page that vacuum has changed is looked at again');
	is($main->run_each($join), sql("set hashgraph.enabled = off; $join"), '... and has the rows that it had');
}
# blocks that were cut off and filled again
settle('all is in step, once more');
{
	my $blocks = sql(q{select pg_relation_size('r') / 8192});

	sql(qq{delete from r where ctid >= '(@{[ $blocks - 3 ]},1)'});
	looks_once($main, 3, 'rows at the end are gone');
	ok(wait_for(sub { sql('vacuum r'); sql(q{select pg_relation_size('r') / 8192}) < $blocks }, 20, every => 0.3), 'blocks are cut off');
	sql('insert into r select i, i from generate_series(1, 500) i');
	is($main->run_each($join), sql("set hashgraph.enabled = off; $join"), '... and filled with others');
	is($main->run_each($join), sql("set hashgraph.enabled = off; $join"), '... which are there the next time, too');
}

# ---------------------------------------------------------------- scans that set bits

# Since PostgreSQL 19 a scan sets the all-visible bits of pages that it prunes, and so does the join's own. As for
# VACUUM, the snapshots of the witnesses have to be younger than the rows.
SKIP:
{
	skip 'scans set bits since PostgreSQL 19', 3 if major_version($node) < 19;

	foreach my $enabled ('off', 'on')
	{
		sql(<<'SQL');
drop table if exists filled;
create table filled (k int, v int) with (autovacuum_enabled = off);
insert into filled select i, i from generate_series(1, 50000) i;
select hashgraph_resident_add('filled');
SQL
		witness_rounds($node, 3);
		sql("set hashgraph.enabled = $enabled; select count(*) from filled join s using (k)") foreach 1 .. 3;
		ok(wait_for(sub { sql(q{select min(blocks_resident) >= 0.95 * min(pg_relation_size(relation_id) / 8192) from hashgraph_resident where relation = 'filled'::regclass}) eq 't' }, 30, every => 0.1),
			"a table that is filled by INSERT and read three times is resident without VACUUM (enabled = $enabled)")
		  or diag(sql(q{select json_agg(r) from hashgraph_resident r}));
	}
	sql('insert into filled select i, i from generate_series(1, 100) i');
	is(sql($_ = 'select count(*), sum(v) from filled join s using (k)'), sql("set hashgraph.enabled = off; $_"), '... and joins find its rows');
	sql('drop table filled');
}

# ---------------------------------------------------------------- a standby

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('looks_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
# nothing writes buffers, so that no row has a hint of what is committed from now on
$standby->append_conf('postgresql.conf', "shared_buffers = '64MB'\nbgwriter_lru_maxpages = 0\ncheckpoint_timeout = '1h'");
$standby->start;
$standby->safe_psql('postgres', q{select hashgraph_resident_add('r', keys => array['k']), hashgraph_resident_add('s', keys => array['k'])});
{
	my $caught_up = sub { $node->wait_for_catchup($standby, 'replay', $node->lsn('insert')) };

	ok(wait_for(sub {
		sql('vacuum r, s');
		$caught_up->();
		$standby->safe_psql('postgres', q{select coalesce(bool_and(blocks_resident = pg_relation_size(relation_id) / 8192), false) and count(*) = 6 from hashgraph_resident}) eq 't' }, 40, every => 0.2), 'a standby has them, too')
	  or diag($standby->safe_psql('postgres', 'select json_agg(r) from hashgraph_resident r'));
	my $new = RawSession->new($standby);
	my $old = RawSession->new($standby);

	$old->run_each("begin isolation level repeatable read; $join");
	change($other, 10);
	$caught_up->();
	looks($new, 0, 10, 'on a standby');
	looks($old, 10, 0, '... for an older snapshot') for 1, 2;
	$old->run_each('commit');
	$other->run_each('begin');
	change($other, 10);
	$caught_up->();
	looks($new, 10, 0, '... where a transaction runs') for 1, 2;
	$other->run_each('rollback');
	$caught_up->();
	looks($new, 0, 10, '... that is taken back');
	change($other, 10);
	$caught_up->();
	looks($new, 0, 10, '... and made again');
	$standby->promote;
	looks(RawSession->new($standby), 0, 10, '... when it is promoted');
	$standby->safe_psql('postgres', 'update r set v = v + 1 where ctid = first_of(3)');
	looks(RawSession->new($standby), 0, 10, '... and changes rows itself');
	$standby->stop('fast');
}
session_ok($node, 'the server joins on');
$node->stop;

# ---------------------------------------------------------------- memory

# A row a block: the looks of a segment take more than its columns.
my $small = new_server('looks_memory', conf => $settings . "hashgraph.resident_memory = '4MB'\nshared_buffers = '2MB'\n");
$small->safe_psql('postgres', <<'SQL');
create table w (k int, pad text) with (autovacuum_enabled = off);
alter table w alter pad set storage plain;
insert into w select i, repeat('x', 7500) from generate_series(1, 1021 * 16) i;
create table s (k int, w int) with (autovacuum_enabled = off);
insert into s select i, i % 100 from generate_series(1, 50000) i;
do $$ begin for i in 1 .. 8 loop execute format('create table small%s as select i from generate_series(1, 10000) i', i); end loop; end $$;
do $$ begin for i in 1 .. 20 loop execute format('create table later%s with (autovacuum_enabled = off) as select generate_series(1, 45000) as k', i); end loop; end $$;
vacuum (freeze, analyze);
select hashgraph_resident_add('w', array['k'], keys => array['k'], wait => true);
SQL
{
	my $session = RawSession->new($small);
	my $used = sub { $session->run_each('select memory_used from hashgraph_stat_resident') };
	my $looked_at = sub { $session->run_each('select blocks_looked_at from hashgraph_stat_resident') };
	my $sum = 'select count(*), sum(w.k::int8 * s.w) from w join s using (k)';
	my $expected = $session->run_each("update w set pad = pad where k % 1021 = 0; set hashgraph.enabled = off; $sum");
	my $later = 'from hashgraph_resident where relation::text like $$later%$$';
	my $drop = "select hashgraph_resident_drop(relation) from (select distinct relation $later) r";
	# Add tables until there is no memory: how many there are then.
	my $fill_up = sub {
		for my $i (1 .. 20)
		{
			my (undef, undef, $error) = $small->psql('postgres', "select hashgraph_resident_add('later$i', keys => array['k'], wait => true)");
			last if $error =~ /hashgraph\.resident_memory is used up/;
		}
		return $session->run_each("select count(*) $later and state = 'ready'");
	};
	my $room = $fill_up->();
	$session->run_each($drop);
	my $before = $used->();

	cmp_ok($room, '<', 20, 'there is no memory for all tables');
	is($session->run_each("set hashgraph.enabled = on; $sum"), $expected, 'changed blocks of each segment: the rows are right');
	my $looks = $used->() - $before;
	cmp_ok($looks, '>=', 16 * 64 * 1000, '... and looks at each are kept');
	# where they lay may be cut up
	cmp_ok($fill_up->(), '>=', $room - 1, 'they give way to tables');
	is($session->run_each('select evictions from hashgraph_stat_resident'), '0', '... and nothing else does');
	my $looked_before = $looked_at->();
	my $used_before = $used->();
	is($session->run_each($sum), $expected, '... for joins that look again');
	cmp_ok($looked_at->(), '>=', $looked_before + 16, '... which is counted');
	cmp_ok($used->(), '<=', List::Util::max($used_before, 4 * 1024 * 1024 * 15 / 16), '... and leave others a sixteenth of the memory');
	$session->run_each($drop);
	is($session->run_each($sum), $expected, 'where there is room again they are right');
	cmp_ok($used->(), '>=', $before + $looks, '... and kept again');

	# Pages that have left the buffers that looks tell of, and which other pages have now.
	my $read = sub { ($session->run_each("explain (analyze, buffers, costs off) $sum") =~ /Seq Scan on w .*\n *Buffers: shared(?: hit=\d+)?(?: read=(\d+))?/)[0] // 0 };
	my $read_others = 'set hashgraph.enabled = off; ' . join('', map { "select count(*) from small$_;" } (1 .. 8) x 8) . 'set hashgraph.enabled = on';
	$looked_before = $looked_at->();
	$session->run_each($read_others);
	is($session->run_each($sum), $expected, 'where pages are in other buffers than when they were looked at the rows are right');
	$session->run_each($read_others);
	cmp_ok($read->(), '>=', 16, '... and they had gone');
	is($session->run_each($sum), $expected, '... and come back');
	is($looked_at->(), $looked_before, '... and were not looked at again');
	$small->safe_psql('postgres', q{select hashgraph_resident_drop('w')});
	cmp_ok($used->(), '<', 128 * 1024, 'with the table all of it is given back');
}
session_ok($small, 'that server joins on');
$small->stop;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|was terminated by signal|leak/, 'nothing has failed or leaked') foreach $node, $standby, $small;
done_testing();
