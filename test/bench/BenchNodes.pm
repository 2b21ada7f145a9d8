# BenchNodes.pm
#
# Servers of a benchmark's own beside the one that it measures on: private clusters in a temporary directory, each with its
# own processes and buffers, which listen on a Unix socket there and preload hashgraph.
#
# They are made by the programs of the PostgreSQL that is first in the PATH, else of pg_config's, and run as the user that
# runs the benchmark, who alone can reach them: the server that is to must run as the same.  They do not outlive the object.

package BenchNodes;

use strict;
use warnings;

use File::Temp ();
use IPC::Open3 qw(open3);

use BenchServer qw(write_file);

# So many servers that run; conf is a list of lines for their postgresql.conf, user their superuser's name.
sub new
{
	my ($class, $count, %options) = @_;
	my $self = bless {
		directory => File::Temp->newdir('hashgraph-nodes-XXXX', TMPDIR => 1),
		user => $options{user},
		bin => program_directory(),
		started => 0,
		pid => $$ }, $class;

	foreach my $node (1 .. $count)
	{
		my $data = $self->host($node);

		run("$self->{bin}/initdb", '-D', "$data/data", '-U', $self->{user}, '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync');
		write_file(
			"$data/data/postgresql.auto.conf",
			join("\n",
				"shared_preload_libraries = 'hashgraph'",
				"listen_addresses = ''",
				'port = 5432',
				"unix_socket_directories = '$data'",
				'unix_socket_permissions = 0700',
				@{ $options{conf} },
				''));
		run("$self->{bin}/pg_ctl", '-D', "$data/data", '-l', "$data/log", '-w', 'start');
		$self->{started} = $node;
		$self->query($node, 'create extension hashgraph');
	}
	return $self;
}

# Where the programs of a server are.
sub program_directory
{
	my ($found) = grep { -x "$_/initdb" } split(/:/, $ENV{PATH}), map { chomp; $_ } `pg_config --bindir 2>/dev/null`;

	return $found // die "there is no initdb in the PATH, nor where pg_config has PostgreSQL's programs\n";
}

# Run a program that must succeed; returns what it prints.
sub run
{
	my (@command) = @_;
	# a server that is started keeps what it was given as its output
	my $out = File::Temp->new;
	my $pid = open3(my $in, '>&' . fileno($out), undef, @command);

	close $in;
	waitpid $pid, 0;
	my $printed = BenchServer::read_file($out->filename);
	die "$command[0] fails:\n$printed" if $? != 0;
	return $printed;
}

# The directory of a node's socket, which libpq takes for a host; its port is the usual one.
sub host
{
	my ($self, $node) = @_;
	my $directory = "$self->{directory}/$node";

	mkdir $directory;
	return $directory;
}

# What psql says to SQL that a node is given; dies where it fails.
sub query
{
	my ($self, $node, $sql) = @_;
	local $ENV{PGOPTIONS} = '';
	local $ENV{PGPORT} = 5432;

	chomp(my $answer = run('psql', qw(-XqtA -v ON_ERROR_STOP=1), '-h', $self->host($node), '-U', $self->{user}, '-d', 'postgres', '-c', $sql));
	return $answer;
}

sub finish
{
	my ($self) = @_;

	foreach my $node (1 .. $self->{started})
	{
		eval { run("$self->{bin}/pg_ctl", '-D', $self->host($node) . '/data', '-m', 'immediate', '-w', 'stop'); 1 } or warn $@;
	}
	$self->{started} = 0;
	return;
}

# A process that was forked has no part in them.
sub DESTROY
{
	my ($self) = @_;
	local ($@, $?);

	$self->finish if $self->{pid} == $$;
	return;
}

1;
