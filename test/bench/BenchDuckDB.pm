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

# A DuckDB as the option --duckdb says (auto, no or yes), or undef.  With yes it is an error if there is none.
sub start
{
	my ($class, $when) = @_;
	my $advice = 'npm install --prefix DIRECTORY @duckdb/node-api, then NODE_PATH=DIRECTORY/node_modules';

	return undef if $when eq 'no';
	my $self = $class->new;
	die "there is no DuckDB: $advice\n" if !$self && $when eq 'yes';
	print "without DuckDB (to have it: $advice)\n" unless $self;
	return $self;
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
		die $why unless $why =~ /: absent$/;
		return undef;
	}
	$self->{version} = $answer->{version};
	# LIMIT returns the same rows as PostgreSQL's
	$self->run("set default_null_order = 'postgres'");
	return $self;
}

sub version
{
	my ($self) = @_;

	return $self->{version};
}

# One request and its answer; dies with "DuckDB: ..." where it fails.
sub ask
{
	my ($self, $request) = @_;
	local $SIG{PIPE} = 'IGNORE';

	my $line = readline_after($self, $json->encode($request));
	my $answer = defined $line ? $json->decode($line) : { error => 'absent' };
	die "DuckDB: $answer->{error}\n" if defined $answer->{error};
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

# Have a table of the server, with its columns' types.  DuckDB's char(n) is text: it gets values without trailing blanks.
sub load
{
	my ($self, $server, $name) = @_;
	my $file = File::Temp->new(TEMPLATE => 'hashgraph-bench.XXXXXX', TMPDIR => 1, SUFFIX => '.csv');
	my @columns = map { [ split /\|/ ] } split /\n/, $server->query('select attname, format_type(atttypid, atttypmod) from pg_attribute '
		  . "where attrelid = '$name'::regclass and attnum > 0 and not attisdropped order by attnum");
	my $values = join ', ', map { qq{"$_->[0]"} . ($_->[1] =~ /^character\(/ ? '::text' : '') } @columns;
	my $definitions = join ', ', map { "'$_->[0]': '$_->[1]'" } @columns;

	$server->query("\\copy (select $values from $name) to '$file' with (format csv)");
	$self->run("create or replace table $name as select * from read_csv('$file', header = false, auto_detect = false, "
		  . "allow_quoted_nulls = false, columns = {$definitions})");
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

# True if DuckDB writes a query's result as the server does: all columns are integers, texts or dates, and the database's
# collation is that of bytes.
sub writes_alike
{
	my ($self, $server, $sql, $settings) = @_;
	my @types = map { /\|(.+)/ } split /\n/, $server->query("$sql \\gdesc", settings => $settings);

	return 0 if grep { !/^(?:integer|bigint|text|character varying\b.*|date)$/ } @types;
	return $server->query("select datcollate ~ '^(C|POSIX)' from pg_database where datname = current_database()") eq 't';
}

# Run a query so many times, each as often as makes at_least_ms.  Returns the list of times in ms.  It is an error if a run
# takes longer than limit_ms, or if the result is not the expected one, as race.sql gives it.  Either may be absent.
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
			my $answer = $self->ask({ sql => $sql, rows => JSON::PP::true, limit_ms => $options{limit_ms} });
			$ms += $answer->{ms};
			$repeats++;
			$result = $answer->{result};
		} while ($ms < ($options{at_least_ms} // 0));
		push @times, $ms / $repeats;
	}
	$result = md5_hex($result) if length $result > 200;
	die "DuckDB returns $result, not $options{expected}, for: $sql\n" if defined $options{expected} && $result ne $options{expected};
	return \@times;
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
