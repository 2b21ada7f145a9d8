# How long statements wait for those who keep a table resident.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use HashGraphTest;
use Measured;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;
use Time::HiRes qw(time);

my $node = new_server('resident_waits', conf => "hashgraph.resident_memory = '4MB'\nwal_level = replica\n");
my $session = RawSession->new($node);

# How long a statement took that was run so many times, at most, in seconds.
sub longest
{
	my ($times, $statement) = @_;
	my $longest = 0;

	for (1 .. $times)
	{
		my $start = time;

		$session->query($statement);
		die "$statement: $session->{error}" if defined $session->{error};
		$longest = time - $start if time - $start > $longest;
	}
	return $longest;
}

my $lock = 'begin; lock table large in access exclusive mode; commit';

$session->run_each(q{create table large as select i as k, i as v from generate_series(1, 100000) i; vacuum large; select hashgraph_resident_add('large')});
measured('waits: a lock on a table that is taken in', 1000 * longest(40, $lock), 250, 'ms');
become_resident($node, 'large');
measured('waits: a lock on a table that is resident', 1000 * longest(20, $lock), 250, 'ms');
measured('waits: CREATE INDEX CONCURRENTLY', longest(2, 'create index concurrently on large (k)'), 6, 's');
my $held = $session->query(q{select extract(epoch from now() - min(xact_start)) from pg_stat_activity where backend_type = 'hashgraph witness'});
measured('waits: the age of the oldest snapshot of a witness', $held, 4, 's');

# each of these fails where somebody is connected, so that whoever keeps residents is sent away
$node->safe_psql('postgres', 'create database other');
$node->safe_psql('other', 'create extension hashgraph; create table o as select i as k from generate_series(1, 1000) i');
$node->safe_psql('other', q{select hashgraph_resident_add('o', wait => true)});
my $workers = q{select count(*) from pg_stat_activity where backend_type ~ 'hashgraph' and datname = };
ok(wait_for(sub { $session->query("$workers 'other'") eq '2' }, 10), 'a database with residents has workers');
measured('waits: copying and renaming a database', longest(1, 'create database copied template other') + longest(1, 'alter database other rename to another'), 3, 's');
ok(wait_for(sub { $session->query("$workers 'another'") eq '2' }, 20), '... and its workers come back');
measured('waits: dropping a database', longest(1, 'drop database another'), 2, 's');
$node->stop;

done_testing();
