# BenchDuckDB.pm
#
# An in-memory DuckDB beside the server, with the same tables: node runs it (duckdb.js), and the npm package
# @duckdb/node-api carries it.  Nothing is installed from here.

package BenchDuckDB;

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use File::Temp ();
use IPC::Open2 qw(open2);
use JSON::PP ();

use BenchServer qw(directory);

my $json = JSON::PP->new->canonical;

# What to do where it is absent.
sub advice
{
	return 'npm install --prefix DIRECTORY @duckdb/node-api, then NODE_PATH=DIRECTORY/node_modules';
}

# A DuckDB, or undef where node or the package cannot be found.
sub new
{
	my ($class) = @_;
	my $self = bless { tables => {} }, $class;

	return undef unless grep { -x "$_/node" } split /:/, $ENV{PATH};
	$self->{pid} = open2($self->{out}, $self->{in}, 'node', directory() . '/duckdb.js');
	my $answer = eval { $self->ask({ version => JSON::PP::true }) };
	if (!defined $answer)
	{
		my $why = $@;
		$self->finish;
		die "DuckDB: $why" unless $why =~ /^absent/;
		return undef;
	}
	$self->{version} = $answer->{version};
	return $self;
}

sub version
{
	my ($self) = @_;

	return $self->{version};
}

# One request and its answer; dies where it fails.
sub ask
{
	my ($self, $request) = @_;
	local $SIG{PIPE} = 'IGNORE';

	my $line = readline_after($self, $json->encode($request));
	die "absent\n" unless defined $line;
	my $answer = $json->decode($line);
	die "$answer->{error}\n" if defined $answer->{error};
	return $answer;
}

sub readline_after
{
	my ($self, $line) = @_;
	my ($in, $out) = @$self{qw(in out)};

	print $in $line, "\n";
	$in->flush;
	return scalar <$out>;
}

sub run
{
	my ($self, $sql) = @_;

	return $self->ask({ sql => $sql });
}

# Have a table of the server, copied as it is; columns: (name, type), ...
sub load
{
	my ($self, $server, $name, @columns) = @_;
	my $file = File::Temp->new(TEMPLATE => 'hashgraph-bench.XXXXXX', TMPDIR => 1, SUFFIX => '.csv');
	my @definitions;

	$server->query("\\copy $name to '$file' with (format csv)");
	push @definitions, sprintf "'%s': '%s'", splice @columns, 0, 2 while @columns;
	$self->run("create or replace table $name as select * from read_csv('$file', header = false, auto_detect = false, columns = {"
		  . join(', ', @definitions) . '})');
	$self->{tables}{$name} = 1;
	return;
}

sub has
{
	my ($self, $name) = @_;

	return $self->{tables}{$name};
}

sub drop
{
	my ($self, $name) = @_;

	$self->run("drop table if exists $name");
	delete $self->{tables}{$name};
	return;
}

# Run a query so many times, each as often as makes at_least_ms: (times in ms, as a list; the result, as race.sql gives it).
sub time
{
	my ($self, $sql, $runs, %options) = @_;
	my (@times, $result);

	$self->run("set threads = $options{threads}");
	foreach (1 .. $runs)
	{
		my ($ms, $repeats) = (0, 0);
		do
		{
			my $answer = $self->ask({ sql => $sql, rows => JSON::PP::true });
			$ms += $answer->{ms};
			$repeats++;
			$result = $answer->{result};
		} while ($ms < ($options{at_least_ms} // 0));
		push @times, $ms / $repeats;
	}
	return (\@times, length $result > 200 ? md5_hex($result) : $result);
}

sub finish
{
	my ($self) = @_;

	close $self->{in};
	close $self->{out};
	waitpid $self->{pid}, 0;
	return;
}

1;
