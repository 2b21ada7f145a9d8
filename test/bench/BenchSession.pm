# BenchSession.pm
#
# A session that lasts: psql at the other end of two pipes, so that many of them can be at work at once.
#
# What is sent to it is for psql, backslash commands too; what it prints comes by lines, when it comes.  Its errors go
# nowhere: a script tells of them by psql's variables (SQLSTATE, LAST_ERROR_MESSAGE).

package BenchSession;

use strict;
use warnings;

use IPC::Open3 qw(open3);

# A session in the bench's database, with more settings than the server's.
sub new
{
	my ($class, $server, %settings) = @_;
	my $self = bless { text => '' }, $class;
	local $ENV{PGOPTIONS} = $server->options_of(\%settings);

	open my $nowhere, '>', '/dev/null' or die "cannot open /dev/null: $!\n";
	$self->{pid} = open3($self->{in}, $self->{out}, '>&' . fileno($nowhere), 'psql', '-XqtA', '-d', $server->database, '-f', '-');
	$self->{in}->autoflush(1);
	return $self;
}

# The handle that can be read when something has come.
sub handle
{
	my ($self) = @_;

	return $self->{out};
}

sub send
{
	my ($self, $text) = @_;
	local $SIG{PIPE} = 'IGNORE';

	print { $self->{in} } $text;
	return;
}

# The lines that have come, after the handle could be read; undef at the end of the session.
sub lines
{
	my ($self) = @_;
	my $read = sysread $self->{out}, $self->{text}, 65536, length $self->{text};

	return undef unless $read;
	my @lines = split /\n/, $self->{text}, -1;
	$self->{text} = pop @lines;
	return \@lines;
}

# End it: with what it does now, or at once.
sub finish
{
	my ($self, $at_once) = @_;

	return unless defined $self->{pid};
	close $self->{in};
	kill 'KILL', $self->{pid} if $at_once;
	waitpid $self->{pid}, 0;
	delete $self->{pid};
	close $self->{out};
	return;
}

1;
