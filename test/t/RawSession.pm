# RawSession.pm
#
# A session that is spoken to directly, where a test measures times of milliseconds that
# psql and its pipes would blur: the frontend's side of the protocol, as far as simple
# queries, and a portal that is bound and executed later, over a Unix socket under trust
# authentication go.

package RawSession;

use strict;
use warnings;

use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(time);

# Connect to a node of PostgreSQL::Test::Cluster, or die.
sub new
{
	my ($class, $node, $database) = @_;
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path) or die "$path: $!";
	my $self = bless { socket => $socket, buffer => '' }, $class;
	my $user = $ENV{PGUSER} // getpwuid($<);
	my $startup = pack('N', 196608)
	  . join('', map { "$_\0" } 'user', $user, 'database', $database // 'postgres') . "\0";

	syswrite($socket, pack('N', length($startup) + 4) . $startup);
	$self->finish;
	die "no session: $self->{error}" unless $self->{pid};
	return $self;
}

sub pid { return $_[0]{pid}; }

# Send a query; finish() takes its answer in.
sub send
{
	my ($self, $sql) = @_;

	$self->{$_} = undef foreach qw(error sqlstate answered);
	$self->{rows} = [];
	syswrite($self->{socket}, 'Q' . pack('N', length($sql) + 5) . "$sql\0");
	return;
}

# Take in what arrives until the query is over, or so many seconds have passed: true when it
# is over.  {rows}, {sqlstate}, {error} and {answered}, the time when the error or the last
# result came, are then set; {closed} when the server has hung up.
sub finish
{
	my ($self, $seconds) = @_;
	my $end = defined $seconds ? time + $seconds : undef;

	while (1)
	{
		while (length($self->{buffer}) >= 5)
		{
			my ($type, $length) = unpack('aN', $self->{buffer});
			last if length($self->{buffer}) < $length + 1;
			my $body = substr($self->{buffer}, 5, $length - 4);
			substr($self->{buffer}, 0, $length + 1) = '';

			if ($type eq 'E')
			{
				my %fields = map { (substr($_, 0, 1) => substr($_, 1)) } grep { length } split /\0/, $body;
				$self->{sqlstate} //= $fields{C};
				$self->{error} //= $fields{M};
				$self->{answered} = time;
			}
			elsif ($type eq 'C') { $self->{answered} = time; }
			elsif ($type eq 'K') { ($self->{pid}) = unpack('N', $body); }
			elsif ($type eq 'D')
			{
				my ($count, @fields) = unpack('n', $body);
				my $at = 2;

				for (1 .. $count)
				{
					my $size = unpack('N', substr($body, $at, 4));
					my $null = $size == 0xFFFFFFFF;
					push @fields, $null ? undef : substr($body, $at + 4, $size);
					$at += 4 + ($null ? 0 : $size);
				}
				push @{ $self->{rows} }, join('|', map { $_ // '' } @fields);
			}
			elsif ($type eq 'Z') { return 1; }
		}
		my $left = defined $end ? $end - time : undef;
		return 0 if defined $left && $left <= 0;
		next unless IO::Select->new($self->{socket})->can_read($left);
		if (!sysread($self->{socket}, $self->{buffer}, 65536, length($self->{buffer})))
		{
			$self->{closed} = 1;
			return 1;
		}
	}
}

# Run a query: its rows as psql -A prints them.  An error is in {error}.
sub query
{
	my ($self, $sql) = @_;

	$self->send($sql);
	$self->finish;
	return join("\n", @{ $self->{rows} });
}

# Make a plan ready to run, in a transaction, as a portal: it has begun with the settings that there are now.
sub bind
{
	my ($self, $sql) = @_;

	$self->{error} = undef;
	syswrite($self->{socket}, join('', map { $_->[0] . pack('N', length($_->[1]) + 4) . $_->[1] } [ 'P', "\0$sql\0" . pack('n', 0) ],
			[ 'B', "portal\0\0" . pack('nnn', 0, 0, 0) ], [ 'S', '' ]));
	$self->finish;
	die "$sql: $self->{error}" if defined $self->{error};
	return;
}

# Run it; finish() takes its answer in.
sub send_execute
{
	my ($self) = @_;

	$self->{$_} = undef foreach qw(error sqlstate answered);
	$self->{rows} = [];
	syswrite($self->{socket}, 'E' . pack('N', 15) . "portal\0" . pack('N', 0) . 'S' . pack('N', 4));
	return;
}

# Run statements, each by itself, which must succeed; what the last one returns.
sub run_each
{
	my ($self, $statements) = @_;
	my $result;

	foreach my $statement (grep { /\S/ } split /;/, $statements)
	{
		$result = $self->query($statement);
		die "$statement: $self->{error}" if defined $self->{error};
	}
	return $result;
}

# Have no statement_timeout any more.  A short one may hit the statement that resets it, too.
sub end_timeout
{
	my ($self) = @_;

	do { $self->query('reset statement_timeout') } while defined $self->{error} && !$self->{closed};
	return;
}

1;
