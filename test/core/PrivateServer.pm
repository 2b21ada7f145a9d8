# PrivateServer.pm
#
# Servers of a test's own: PostgreSQL's programs copied below a work directory, this checkout's extension
# built and installed there, and clusters that listen on a Unix socket only.
#
# Nothing outside the work directory is written.  Called as root, everything runs as the user postgres, or nobody
# where there is none: PostgreSQL does not run as root.

package PrivateServer;

use strict;
use warnings;

use Cwd qw(abs_path getcwd);
use Exporter 'import';
use Fcntl qw(LOCK_EX LOCK_NB);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use File::Temp qw(tempdir);
use POSIX qw(_exit setsid WNOHANG);

our @EXPORT_OK = qw(run_logged write_file read_file);

my @running;

# A work directory with the programs and the extension in it.  Options: pg_config; work, a directory to
# use and leave (default: a temporary one); root, the checkout;
# port; logs, a directory to write to.
sub new
{
	my ($class, %options) = @_;
	my $self = bless {%options}, $class;
	my $pg_config = $self->{pg_config};

	my ($version) = `'$pg_config' --version` =~ /(\d+(?:\.\d+)?\S*)/
	  or die "$pg_config does not answer: is PostgreSQL's server development package installed?\n";
	$self->{version} = $version;
	($self->{major}) = $version =~ /^(\d+)/;
	chomp($self->{$_} = `'$pg_config' --$_`) foreach qw(bindir pkglibdir sharedir includedir-server pgxs);
	die "there is no $self->{bindir}/postgres\n" unless -x "$self->{bindir}/postgres";

	$self->{port} //= 54343;
	$self->{kept} = defined $self->{work};
	$self->{work} //= tempdir('hashgraph-core.XXXXXX', TMPDIR => 1);
	make_path($self->{work});
	$self->{work} = abs_path($self->{work});
	chmod 0755, $self->{work};
	open $self->{lock}, '>>', "$self->{work}/lock" or die "cannot write in $self->{work}: $!\n";
	flock $self->{lock}, LOCK_EX | LOCK_NB or die "$self->{work} is in use\n";
	$self->{tree} = "$self->{work}/pg";
	$self->{bin} = "$self->{tree}$self->{bindir}";
	$self->{source} = "$self->{work}/src";
	# a Unix socket's name has room for 107 characters
	$self->{socket} = length($self->{work}) <= 85 ? $self->{work} : die "$self->{work} is too long for a socket in it\n";

	remove_tree($self->{source});
	make_path($self->{source});
	run_logged("$self->{work}/copy.log", "tar -C '$self->{root}' -c --exclude=./.git --exclude='*.o' --exclude='*.so' "
		  . "--exclude='*.d' --exclude=./hashgraph_device --exclude=build --exclude=results --exclude='tmp_check*' . "
		  . "| tar -C '$self->{source}' -x --no-same-owner");
	$self->become_user;
	chdir $self->{work};
	@ENV{qw(HOME LC_ALL PGUSER PGDATABASE PGHOST PGPORT)} =
	  ($self->{work}, 'C', 'postgres', 'postgres', $self->{socket}, $self->{port});
	delete @ENV{qw(LANG LANGUAGE LC_MESSAGES PGOPTIONS PGSERVICE PGDATA)};
	return $self;
}

# As root: give the work directory and that of the logs to a user who may run servers, and become that user.
sub become_user
{
	my ($self) = @_;

	return if $> != 0;
	my ($name, $uid, $gid) = (getpwnam('postgres'))[ 0, 2, 3 ];
	($name, $uid, $gid) = (getpwnam('nobody'))[ 0, 2, 3 ] unless defined $uid;
	foreach my $directory (grep { defined } @$self{qw(work logs)})
	{
		system('chown', '-R', "$uid:$gid", $directory) == 0 or die "cannot give $directory away\n";
	}
	$( = $gid;
	$) = "$gid $gid";
	$< = $uid;
	$> = $uid;
	die "cannot become $name\n" if $> != $uid || $< != $uid;
	die "$name cannot enter $self->{work}\n" unless -x $self->{work};
	return;
}

# Copy PostgreSQL's programs, and build and install the extension beside them.
sub build
{
	my ($self, %options) = @_;
	my ($tree, $extension) = ($self->{tree}, "$self->{sharedir}/extension");

	remove_tree($tree);
	make_path("$tree$self->{bindir}", "$tree$self->{pkglibdir}", "$tree$extension");
	run_logged("$self->{work}/copy.log", "cp -a '$self->{bindir}/.' '$tree$self->{bindir}/'");
	unlink "$tree$self->{bindir}/hashgraph_device";
	foreach my $file (glob("'$self->{pkglibdir}'/* '$self->{sharedir}'/* '$extension'/*"))
	{
		next if $file =~ m{/hashgraph[^/]*$|/bitcode$} || $file eq $extension;
		symlink $file, "$tree$file" or die "cannot link $tree$file: $!\n";
	}
	run_logged("$self->{work}/build.log",
		"make -s -C '$self->{source}' PG_CONFIG='$self->{pg_config}' $options{make} all "
		  . "&& make -s -C '$self->{source}' PG_CONFIG='$self->{pg_config}' $options{make} install DESTDIR='$tree'");
	return;
}

# A cluster of that name, made where there is none yet, started with more lines for its configuration.
# Its log is started anew.
sub start
{
	my ($self, $name, $conf) = @_;
	my $data = "$self->{work}/$name/data";
	my $log = "$self->{work}/$name/server.log";

	make_path("$self->{work}/$name");
	if (!-e "$data/PG_VERSION")
	{
		# made once, and copied
		my $template = "$self->{work}/template";
		run_logged("$self->{work}/initdb.log",
			"'$self->{bin}/initdb' -D '$template' -U postgres -A trust -E UTF8 --no-locale --no-sync")
		  unless -e "$template/PG_VERSION";
		run_logged("$self->{work}/copy.log", "cp -a '$template' '$data'");
		write_file("$data/postgresql.conf", read_file("$data/postgresql.conf") . "include 'test.conf'\n");
	}
	write_file("$data/test.conf", <<CONF . $conf);
listen_addresses = ''
unix_socket_directories = '$self->{socket}'
unix_socket_permissions = 0700
port = $self->{port}
fsync = off
max_prepared_transactions = 2
CONF
	unlink $log;
	push @running, [ $$, "$self->{bin}/pg_ctl", $data ];
	run_logged("$self->{work}/$name/start.log",
		"'$self->{bin}/pg_ctl' -D '$data' -l '$log' -w -t 120 start || { tail -n 20 '$log'; false; }");
	return $log;
}

# Stop every server that this process has started.
sub stop
{
	foreach my $server (splice @running)
	{
		my ($owner, $pg_ctl, $data) = @$server;
		system("'$pg_ctl' -D '$data' -m fast -w stop >/dev/null 2>&1 || '$pg_ctl' -D '$data' -m immediate -w stop >/dev/null 2>&1")
		  if $owner == $$;
	}
	return;
}

# The answer of psql to a query; dies where it fails.
sub query
{
	my ($self, $database, @commands) = @_;
	my @command = ("$self->{bin}/psql", qw(-XqtA -v ON_ERROR_STOP=1 -d), $database, map { ('-c', $_) } @commands);

	open my $pipe, '-|', @command or die "cannot run psql: $!\n";
	my $answer = do { local $/; <$pipe> // '' };
	close $pipe or die "psql failed: @commands\n";
	chomp $answer;
	return $answer;
}

# Run a shell command with its output in a file and a limit in seconds; dies with the end of the output where it fails,
# unless 'may_fail' asks for its wait status.
sub run_logged
{
	my ($log, $command, %options) = @_;
	my $pid = fork // die "cannot fork: $!\n";

	if ($pid == 0)
	{
		setsid();
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $log or _exit(127);
		open STDERR, '>&', \*STDOUT;
		exec '/bin/sh', '-c', $command or _exit(127);
	}
	local $SIG{ALRM} = sub { kill 'KILL', -$pid };
	alarm($options{limit} // 1200);
	waitpid $pid, 0;
	alarm 0;
	my $status = $?;
	if ($status != 0 && !$options{may_fail})
	{
		my @lines = split /^/, read_file($log);
		splice @lines, 0, @lines - 20 if @lines > 20;
		die "failed: $command\n" . join('', map { "    $_" } @lines);
	}
	return $status;
}

sub read_file
{
	my ($name) = @_;

	open my $file, '<:raw', $name or die "cannot read $name: $!\n";
	local $/;
	return <$file> // '';
}

sub write_file
{
	my ($name, $text) = @_;

	open my $file, '>:raw', $name or die "cannot write $name: $!\n";
	print $file $text;
	close $file or die "cannot write $name: $!\n";
	return;
}

# Stop what was started, and remove a temporary work directory.
sub clean_up
{
	my ($self) = @_;

	# asked twice to stop is asked once
	local @SIG{qw(INT TERM HUP)} = ('IGNORE') x 3;
	stop();
	chdir '/';
	return if $self->{kept};
	# a test that was ended leaves its servers
	foreach my $file (`find '$self->{work}' -name postmaster.pid`)
	{
		chomp $file;
		my ($pid) = eval { read_file($file) =~ /^(\d+)\n/ } or next;
		kill 'QUIT', $pid;
		for (my $wait = 0; $wait < 100 && kill(0, $pid); $wait++)
		{
			select undef, undef, undef, 0.1;
		}
	}
	remove_tree($self->{work});
	return;
}

1;
