# CancelledJoins.pm
#
# Joins that are cancelled at random moments, and how long each cancel takes.

package CancelledJoins;

use strict;
use warnings;

use Exporter 'import';
use HashGraphTest;
use List::Util qw(max);
use RawSession;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw(%joins $CORE cancel_server cancel_at_random);

# What has PostgreSQL take its own hash joins.
our $CORE = 'set hashgraph.enabled = off; set enable_mergejoin = off; set enable_nestloop = off;';

# Joins of half a second or so, to be cancelled at random moments.
our %joins = (
	'inner join' => 'select sum(v), sum(w) from l join r using (k)',
	'left join with a residual' => 'select count(*) from l left join r on l.k = r.k and (v + w) % 3 = 0',
	'text keys' => 'select sum(v), sum(w) from l join r using (t) where v < 400000',
	'one key' => 'select sum(a.z + b.z) from few a join few b using (k)',
	'on disk' => 'set work_mem = \'4MB\'; select sum(v), sum(w) from l join r using (k) where v < 500000',
	'full join on disk' => 'set work_mem = \'2MB\'; select count(l.t), count(r.t) from l full join r using (k) where coalesce(v, 1) < 400000',
	'groups' => 'select count(*), sum(s) from (select k, sum(v + w) as s from l join r using (k) group by k) g',
	'groups on disk' => 'set work_mem = \'4MB\'; select count(*), max(t) from (select l.t, sum(v) from l join r using (k) where w < 400000 group by l.t) g',
	'count' => 'select count(*) from (select k from l union all select k from l) l join r using (k)');

# A server with the tables of these joins.
sub cancel_server
{
	my $node = new_server('cancel', conf => "shared_buffers = 512MB\nwork_mem = '1GB'\nhash_mem_multiplier = 1\n");

	$node->safe_psql('postgres', <<'SQL');
create table l as select i % 400000 as k, 'key' || i % 400000 as t, i as v from generate_series(1, 600000) i;
create table r as select i % 400000 as k, 'key' || i % 400000 as t, i as w from generate_series(1, 600000) i;
create table same as select 1 as k, i as z from generate_series(1, 200000) i;
create table few as select 1 as k, i as z from generate_series(1, 2500) i;
analyze;
SQL
	return $node;
}

# Cancel a query at random moments of a run of it; returns how long each cancel took.  The
# ways are a signal, as pg_cancel_backend sends it, statement_timeout, and a signal as of
# pg_terminate_backend, which costs a session.
sub cancel_at_random
{
	my ($node, $settings, $query, $samples, @ways) = @_;
	my $session = RawSession->new($node);
	my @took;
	my $lasts;

	$session->query("$settings $query");
	for (1 .. 2)
	{
		my $start = time;
		$session->query("$settings $query");
		die $session->{error} if $session->{error};
		$lasts = time - $start;
	}
	for my $sample (1 .. $samples)
	{
		my $way = $ways[ $sample % @ways ];
		# a sample for each part of the run
		my $after = max(0.002, $lasts * ($sample - rand) / $samples);
		my $sent;

		if ($way eq 'timeout')
		{
			$session->query("set statement_timeout = " . int(1000 * $after + 1));
			$sent = time + int(1000 * $after + 1) / 1000;
			$session->send($query);
			$session->finish;
			my ($answered, $sqlstate) = @{$session}{qw(answered sqlstate)};
			push @took, $answered - $sent if ($sqlstate // '') eq '57014';
			$session->end_timeout;
			next;
		}
		$session->send($query);
		# over before its time
		next if $session->finish($after);
		$sent = time;
		kill($way eq 'cancel' ? 'INT' : 'TERM', $session->pid);
		$session->finish;
		push @took, $session->{answered} - $sent if ($session->{sqlstate} // '') =~ /^57/;
		if ($way eq 'terminate')
		{
			$session->finish until $session->{closed};
			$session = RawSession->new($node);
			$session->query("$settings");
		}
	}
	$session->query($query);
	is($session->{error}, undef, '... and the session goes on');
	return @took;
}

1;
