# What is to be resident outlives the server, on a primary and on a standby, whatever the server's end was; a
# partitioned table stands for its partitions; and what is dropped is forgotten.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('list', conf => "hashgraph.resident_memory = '4MB'\n", init => [ allows_streaming => 1 ]);
my $file = $node->data_dir . '/hashgraph_resident.list';
my $main;

sub sql
{
	$main //= RawSession->new($node);
	return $main->run_each(shift);
}

# What the view tells of all tables: name, state, pinned, each as often as it has columns.
my $all = q{select string_agg(distinct relation::text || ' ' || state || case when pinned then ' pinned' else '' end, ', '
	order by relation::text || ' ' || state || case when pinned then ' pinned' else '' end) from hashgraph_resident};

# A test: after some time that is what there is.
sub becomes
{
	my ($expected, $name) = @_;
	my $found = '';

	wait_for(sub { ($found = sql($all) // '') eq $expected }, 20);
	return is($found, $expected, $name);
}

# Stop the server in a way, do something to the list, and start it again.
sub restart
{
	my ($mode, $change) = @_;

	$node->stop($mode);
	$change->() if defined $change;
	$node->start;
	$main = undef;
	return;
}

# ---------------------------------------------------------------- partitions

sql(<<'SQL');
create table a as select i as k, i as v from generate_series(1, 5000) i;
create table b as select i as k, i as v from generate_series(1, 5000) i;
create table p (gone int, k int, v int) partition by range (k);
alter table p drop column gone;
create table p1 partition of p for values from (0) to (5000);
create table p2 (v int, k int);
insert into p2 select i, i from generate_series(5000, 9999) i;
alter table p attach partition p2 for values from (5000) to (10000);
insert into p select i, i from generate_series(1, 4999) i;
vacuum a; vacuum b; vacuum p1; vacuum p2;
select hashgraph_resident_add('a', array['k'], pinned => true, wait => true);
select hashgraph_resident_add('p', array['v'], wait => true);
SQL
is(sql($all), 'a ready pinned, p ready, p1 ready, p2 ready', 'a partitioned table stands for its partitions');
is(sql(q{select string_agg(distinct "column", ',') from hashgraph_resident where relation in ('p1'::regclass, 'p2'::regclass)}), 'v', '... and their columns of these names');
is(sql(q{select * from hashgraph_resident_check('p2')}), '5000|0', '... which are there');
is(sql(q{select * from hashgraph_resident_check('p')}), '9999|0', '... and are checked with it');
my (undef, undef, $notice) = $node->psql('postgres', q{create view seen as select k from a; select hashgraph_resident_check('seen')});
like($notice, qr/NOTICE: .*nothing of "seen" would be served.*DETAIL: .*The reason is that it is not a table that may be resident\./s, 'what would not be served is told, with the reason');
sql('create table p3 partition of p for values from (10000) to (20000); insert into p select i, i from generate_series(10000, 14999) i');
becomes('a ready pinned, p ready, p1 ready, p2 ready, p3 ready', 'a partition that comes is resident');
sql('alter table p detach partition p1');
becomes('a ready pinned, p ready, p2 ready, p3 ready', '... one that is detached is not any more');
sql('drop table p3');
becomes('a ready pinned, p ready, p2 ready', '... nor one that is dropped');
my (undef, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_drop('p2')});
like($error, qr/"p2" is resident as a partition.*HINT/s, 'a partition is not dropped alone');

# ---------------------------------------------------------------- restarts

sql(q{select hashgraph_resident_add('b', wait => true)});
restart('immediate');
becomes('a ready pinned, b ready, p ready, p2 ready', 'after an immediate shutdown what was resident is taken in again');
is(sql(q{select * from hashgraph_resident_check('a')}), '5000|0', '... as it was');
is(sql(q{select (select min(last_loaded) from hashgraph_resident where relation = 'b'::regclass) < (select min(last_loaded) from hashgraph_resident where relation = 'a'::regclass)}), 't', '... what was asked for last first');
restart('fast');
becomes('a ready pinned, b ready, p ready, p2 ready', '... and after one in good order');
sql('alter table b rename to c');
my $before = slurp_file($file);
becomes('a ready pinned, c ready, p ready, p2 ready', 'a table is renamed');
ok(wait_for(sub { slurp_file($file) ne $before }, 10), '... which the list is told');
restart('immediate');
becomes('a ready pinned, c ready, p ready, p2 ready', '... and it is taken in again');
sql('drop table c');
becomes('a ready pinned, p ready, p2 ready', 'a table that is dropped is forgotten');
restart('immediate', sub {
	open my $out, '>:raw', $file or die $!;
	print $out $before;
	close $out;
});
becomes('a ready pinned, p ready, p2 ready', 'what the list names and is not there is forgotten');
sql('alter table a rename to z');
restart('fast', sub {
	open my $out, '>:raw', $file or die $!;
	print $out $before;
	close $out;
});
becomes('p ready, p2 ready', '... and so is a number that is of a table of another name');
sql('alter table z set unlogged');
restart('fast', sub {
	open my $out, '>:raw', $file or die $!;
	print $out $before;
	close $out;
});
becomes('p ready, p2 ready', '... even one that could not be resident');
sql('alter table z set logged');
# as soon as no witness holds it back
wait_for(sub { sql('vacuum z'); sql(q{select relallvisible = relpages from pg_class where oid = 'z'::regclass}) eq 't' }, 20);
sql(q{select hashgraph_resident_drop('p')});
becomes('', 'a partitioned table is dropped with all that it stands for');
sql(q{alter table z rename to a; select hashgraph_resident_add('a')});

# ---------------------------------------------------------------- damage

my $good = slurp_file($file);
my %damaged = (
	'a byte that has changed' => substr($good, 0, 40) . chr(ord(substr($good, 40, 1)) ^ 1) . substr($good, 41),
	'a list that is cut off' => substr($good, 0, length($good) - 1),
	'an empty list' => '');
foreach my $what (sort keys %damaged)
{
	my $offset = -s $node->logfile;

	restart('immediate', sub {
		open my $out, '>:raw', $file or die $!;
		print $out $damaged{$what};
		close $out;
	});
	is(sql('select count(*) from hashgraph_resident'), '0', "$what: nothing is resident");
	like(slurp_file($node->logfile, $offset), qr/list of resident tables "hashgraph_resident.list" is damaged, and ignored.*HINT: .*hashgraph_resident_add/s, '... and that is reported');
}
sql(q{select hashgraph_resident_add('a', wait => true)});
restart('immediate');
becomes('a ready', 'what is added then is in the list');

# a list that can't be read is not replaced
my $offset = -s $node->logfile;
restart('fast', sub { chmod 0, $file or die $! });
is(sql('select count(*) from hashgraph_resident'), '0', 'a list that cannot be read: nothing is resident');
like(slurp_file($node->logfile, $offset), qr/could not open file "hashgraph_resident.list"/, '... and that is reported');
restart('fast', sub { chmod 0600, $file or die $! });
becomes('a ready', '... and it is there when it can be read again');

# ---------------------------------------------------------------- limits of time

# are for sessions: a transaction of a witness lasts two seconds
if (major_version($node) >= 17)
{
	sql(q{alter database postgres set transaction_timeout = '500ms'});
	restart('fast');
	sql('set transaction_timeout = 0');
	ok(wait_for(sub { sql(q{select * from hashgraph_resident_check('a')}) eq '5000|0' }, 20), 'transaction_timeout: residents are served');
	witness_rounds($node, 2);
	is(sql(q{select c.*, s.chains_broken from hashgraph_resident_check('a') c, hashgraph_stat_resident s}), '5000|0|0', '... and witnesses go on');
	sql('alter database postgres reset transaction_timeout');
}

# ---------------------------------------------------------------- what can't be read

# a page of a table, the last one that was added, which is the first to be taken in again
sql('create table broken as select i as k from generate_series(1, 5000) i');
wait_for(sub { sql(q{vacuum broken; select relallvisible = relpages from pg_class where relname = 'broken'}) eq 't' }, 20, every => 0.1);
sql(q{select hashgraph_resident_add('broken', wait => true)});
my $path = $node->data_dir . '/' . sql(q{select pg_relation_filepath('broken')});
my $before_damage = -s $node->logfile;
restart('fast', sub {
	open my $out, '+<:raw', $path or die $!;
	seek $out, 3 * 8192, 0;
	print $out 'x' x 8192;
	close $out;
});
becomes('a ready, broken declined', 'a table that cannot be read is declined, and others are taken in');
is(sql(q{select string_agg(distinct reason, ',') from hashgraph_resident where relation = 'broken'::regclass}), "it could not be read, as the server's log tells", '... with the reason');
witness_rounds($node, 2);
my $errors = () = slurp_file($node->logfile, $before_damage) =~ /ERROR: .*invalid page in block 3/g;
is($errors, 1, '... and not tried again and again');
(undef, undef, $error) = $node->psql('postgres', q{set statement_timeout = '20s'; select hashgraph_resident_add('broken', wait => true)});
like($error, qr/"broken" could not be taken in.*could not be read/s, '... which who waits for it is told');
sql('truncate broken; insert into broken select i from generate_series(1, 5000) i');
becomes('a ready, broken ready', '... and is taken in when it is another file');
sql('drop table broken');
becomes('a ready', '... or forgotten');

# ---------------------------------------------------------------- a standby

sql(q{select hashgraph_resident_add('a', keys => '{k}', wait => true)});
my $standby = PostgreSQL::Test::Cluster->new('standby');
$node->backup('copy');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
my $other = RawSession->new($standby);
ok(wait_for(sub { $other->query($all) eq 'a ready' }, 20), 'a standby takes in what its copy of the list names');
is($other->query(q{select * from hashgraph_resident_check('a')}), '5000|0', '... as it is');
ok(wait_for(sub { $other->query('set hashgraph.force = on'); $other->query('explain (analyze, costs off) select count(*) from a x join a y using (k)') =~ /Build: resident.*Outer HashGraph: resident/s }, 20), '... and joins from its HashGraph')
  or diag($other->query('select json_agg(r) from hashgraph_resident r'));
is($other->query('select count(*), sum(x.v + y.v) from a x join a y using (k)'), '5000|25005000', '... its rows');
$other->query(q{select hashgraph_resident_drop('a')});
$other->query(q{select hashgraph_resident_add('p')});
$standby->stop('immediate');
$standby->start;
$other = RawSession->new($standby);
ok(wait_for(sub { $other->query($all) eq 'p ready, p2 ready' }, 20), '... and has a list of its own');
is(sql($all), 'a ready', '... which is none of the primary\'s');

# ---------------------------------------------------------------- what is dropped

sql('drop extension hashgraph');
ok(wait_for(sub { -s $file == 16 }, 10), 'with the extension what was resident goes, and is taken from the list');
$standby->stop;
$node->stop;
done_testing();
