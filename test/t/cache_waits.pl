# Nobody waits for those who keep a table resident: for its locks, for indexes on it, and for what becomes of its database.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless covers('cpu');

my $node = new_server('resident_waits', conf => "hashgraph.resident_memory = '4MB'\nwal_level = replica\n");
my $session = RawSession->new($node);

# A test: a statement that is run so many times never takes more seconds than that, ten times what it takes on a machine
# that has nothing else to do.  What it takes is measured by test/perf.
sub waits_at_most
{
	my ($seconds, $times, $statement, $name) = @_;
	my $error;

	$session->run_each("set statement_timeout = '${seconds}s'");
	for (1 .. $times)
	{
		$session->query($statement);
		$error //= $session->{error};
		$session->query('rollback') if defined $session->{error};
	}
	$session->run_each('reset statement_timeout');
	return is($error, undef, $name);
}

my $lock = 'begin; lock table large in access exclusive mode; commit';

$session->run_each(q{create table large as select i as k, i as v from generate_series(1, 100000) i; vacuum large; select hashgraph_resident_add('large')});
waits_at_most(2.5, 40, $lock, 'a lock on a table is had while it is taken in');
become_resident($node, 'large');
waits_at_most(2.5, 20, $lock, '... and while it is resident');
waits_at_most(60, 2, 'create index concurrently on large (k)', 'CREATE INDEX CONCURRENTLY waits for a while at most');
my $held = $session->query(q{select extract(epoch from now() - min(xact_start)) from pg_stat_activity where backend_type = 'hashgraph witness'});
like($held, qr/^\d/, 'witnesses have snapshots');
cmp_ok($held, '<', 40, '... none of which is old');

# each of these fails where somebody is connected, so that whoever keeps residents is sent away
$node->safe_psql('postgres', 'create database other');
$node->safe_psql('other', 'create extension hashgraph; create table o as select i as k from generate_series(1, 1000) i');
$node->safe_psql('other', q{select hashgraph_resident_add('o', wait => true)});
my $workers = q{select count(*) from pg_stat_activity where backend_type ~ 'hashgraph' and datname = };
ok(wait_for(sub { $session->query("$workers 'other'") eq '2' }, 10), 'a database with residents has workers');
waits_at_most(30, 1, 'create database copied template other', '... and can be a template');
# whoever may create databases may copy a template, although it is not his
$session->run_each('alter database other is_template true; create role copier createdb; set role copier');
waits_at_most(30, 1, 'create database copied_too template other', '... also where it belongs to somebody else');
$session->run_each('reset role; alter database other is_template false');
{
	# what has failed for another reason keeps nobody away when it is rolled back
	my $guest = RawSession->new($node, 'other');

	ok(wait_for(sub { $session->query("$workers 'other'") eq '2' }, 20), 'its workers come back');
	$session->run_each('begin; savepoint s');
	$session->query('alter database other rename to another');
	like($session->{error}, qr/being accessed by other users/, 'a database that somebody is connected to is not renamed');
	$session->run_each('rollback to s');
	ok(wait_for(sub { $guest->query("$workers 'other'") eq '2' }, 20), '... and its workers come back, although the transaction goes on');
	$session->run_each('rollback');
}
# its owner may not rename it where he may not create databases, and sends nobody away
ok(wait_for(sub { $session->query("$workers 'other'") eq '2' }, 20), 'its workers are there');
$session->run_each('create role keeper; alter database other owner to keeper; set role keeper');
$session->query('alter database other rename to another');
like($session->{error}, qr/permission denied to rename database/, 'a rename that is not allowed is refused');
$session->run_each('reset role');
is($session->query("$workers 'other'"), '2', '... and its workers stay');
$session->run_each('alter database other owner to current_user');
waits_at_most(30, 1, 'alter database other rename to another', '... and be renamed, without waiting for anybody');
ok(wait_for(sub { $session->query("$workers 'another'") eq '2' }, 20), '... and its workers come back');
waits_at_most(20, 1, 'drop database another', '... and is dropped without waiting for anybody');
$node->stop;

done_testing();
