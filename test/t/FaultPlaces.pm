# FaultPlaces.pm
#
# The places where processes can be held in a build of HG_DEBUG=1 (test/fault/hg_fault_resident.c): whoever comes by one
# waits for an advisory lock, which a session of a test has or has not.

package FaultPlaces;

use strict;
use warnings;

use Exporter 'import';
use HashGraphTest qw(wait_for);

use constant { CAPTURE => 1, JOIN => 2, SERVE => 3, END_ROUND => 4, GIVE_WAY => 5, RECORD => 6, OBSERVE => 7, EVICT => 8, GRAPH => 9, TAKE => 10, ALONE => 11, ATTACH => 12 };

our @EXPORT = qw(CAPTURE JOIN SERVE END_ROUND GIVE_WAY RECORD OBSERVE EVICT GRAPH TAKE ALONE ATTACH hold let_go let_one_go held_at comes_to wait_at);

# Have whoever comes by a place wait there, until the same RawSession lets it go.
sub hold
{
	my ($session, $place) = @_;

	$session->run_each("select pg_advisory_lock(26727, $place)");
	return;
}

sub let_go
{
	my ($session, $place) = @_;

	$session->run_each("select pg_advisory_unlock(26727, $place)");
	return;
}

# Let the process go that stands at a place, and have whoever comes by next wait there until another RawSession lets it go.
sub let_one_go
{
	my ($session, $next, $place) = @_;

	$next->send("select pg_advisory_lock(26727, $place)");
	# the lock goes round in the order in which it was asked for
	wait_for(sub { held_at($session, $place) > 1 }, 20) or die "nobody stands at place $place";
	let_go($session, $place);
	$next->finish(20) or die "place $place is not left";
	return;
}

# The processes that stand at a place of a session's server.
sub held_at
{
	my ($session, $place) = @_;

	return split /\n/, $session->run_each("select pid from pg_locks where locktype = 'advisory' and classid = 26727 and objid = $place and not granted order by pid");
}

# Does a process come to a place within so many seconds?
sub comes_to
{
	my ($session, $place, $seconds) = @_;

	return wait_for(sub { held_at($session, $place) > 0 }, $seconds);
}

# Wait until a process stands at a place, and return its id.
sub wait_at
{
	my ($session, $place) = @_;

	comes_to($session, $place, 20) or die "nobody has come to place $place";
	return (held_at($session, $place))[0];
}

1;
