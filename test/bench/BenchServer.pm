# BenchServer.pm
#
# What the benchmarks share: the database of a server to measure on, races in it (race.sql), and
# what there is to say of the machine, so that figures can be compared.
#
# The server is the one that PGHOST, PGPORT and PGUSER name.  Each command is a session of its own.

package BenchServer;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use IPC::Open3 qw(open3);
use JSON::PP ();
use POSIX qw(strftime uname);
use Time::HiRes qw(sleep);

our @EXPORT_OK = qw(contestant_names directory literal median psql read_file write_json write_file);

my %contestant_names = (
	postgresql => 'PostgreSQL', duckdb => 'DuckDB',
	cpu => 'HashGraph, CPU', cuda => 'HashGraph, GPU',
	auto => 'HashGraph, auto', auto_resident => 'HashGraph, auto, cached',
	cpu_resident => 'HashGraph, CPU, cached', cuda_resident => 'HashGraph, GPU, cached');
my $json = JSON::PP->new->canonical->pretty->allow_nonref;
my $database = 'hashgraph_bench';

# How contestants are called in pictures, by how they are in reports.
sub contestant_names
{
	return {%contestant_names};
}

# The directory of the benchmarks.
sub directory
{
	return dirname(abs_path(__FILE__));
}

# The bench's database on the server; made where it is not there yet.  Options: settings for every
# session, as a hash; keep, to leave the database; residents, to have joins served from resident columns, which the
# server must have memory for.  Without that they read tables, whatever else the server has been told.
sub new
{
	my ($class, %options) = @_;
	my $self = bless {%options}, $class;

	# VACUUM can do nothing yet with rows whose commit is not flushed
	$self->{settings} = { 'client_min_messages' => 'error', 'jit' => 'off', 'synchronize_seqscans' => 'off', 'synchronous_commit' => 'on',
		'hashgraph.resident' => $options{residents} ? 'on' : 'off', %{ $options{settings} // {} } };
	$self->{made} = 0;
	if ($self->query("select 1 from pg_database where datname = '$database'", on => 'postgres') eq '')
	{
		$self->query("create database $database", on => 'postgres');
	}
	$self->{made} = 1;
	$self->query('create extension if not exists hashgraph; '
		  . 'drop function if exists race; ');
	$self->query(read_file(directory() . '/race.sql'));
	die "the server does not preload hashgraph: put shared_preload_libraries = 'hashgraph' into postgresql.conf, or set "
	  . "PGOPTIONS='-c session_preload_libraries=hashgraph'\n"
	  if $self->query("select count(*) from pg_settings where name = 'hashgraph.enabled'") eq '0';
	die "the server has no memory for resident columns: put hashgraph.resident_memory into postgresql.conf, beside "
	  . "shared_preload_libraries = 'hashgraph'\n"
	  if $options{residents} && $self->query('select memory from hashgraph_stat_resident') eq '0';
	return $self;
}

# Have all columns of tables be resident that can be, in all their blocks, and wait for it.  VACUUM must have been there, and
# can't have been while a witness's snapshot was older than the rows.  A table may be [ name, key... ]: columns whose
# HashGraph is to be resident too.
sub make_resident
{
	my ($self, @tables) = @_;

	foreach my $named (@tables)
	{
		my ($name, @keys) = ref $named ? @$named : $named;
		my $table = literal($name);
		my $keys = @keys ? ', keys => array[' . join(', ', map { literal($_) } @keys) . ']' : '';
		$self->wait_until("vacuum of $table", "select relallvisible = relpages from pg_class where oid = $table\::regclass",
			"select format('vacuum %s', $table\::regclass) \\gexec\n");
		$self->query("select hashgraph_resident_add($table$keys, wait => true)");
		$self->wait_until("residents of $table", 'select bool_and(blocks_resident = blocks_total) from hashgraph_resident '
			  . "where relation = $table\::regclass and database = current_database()");
	}
	return;
}

# Have a device be given copies of what a query asks of it: of HashGraphs as soon as they are there, of columns when joins have
# asked for them.  It is done when no copies come any more, and done at once where there is no device.
sub give_copies
{
	my ($self, $query, $settings) = @_;
	my $bytes = q{select coalesce(sum(device_bytes), 0) from hashgraph_resident};
	my ($last, $same) = (-1, 0);

	return if $self->query('select count(*) from hashgraph_devices()') eq '0';
	for (my $tries = 0; $tries < 30 && $same < 2; $tries++)
	{
		$self->query("\\o /dev/null\n$query;", settings => $settings);
		sleep 1.5;
		my $now = $self->query($bytes);
		$same = $now eq $last ? $same + 1 : 0;
		$last = $now;
	}
	return;
}

# Try something until a query says that it is so; an error after half a minute.
sub wait_until
{
	my ($self, $what, $query, $try) = @_;

	foreach (1 .. 100)
	{
		return if $self->query($query) eq 't';
		$self->query($try) if defined $try;
		sleep 0.3;
	}
	die "$what does not come to an end\n";
}

# Drop the database, unless it is to be kept.
sub finish
{
	my ($self) = @_;

	return if $self->{keep} || !$self->{made};
	$self->query("drop database $database with (force)", on => 'postgres');
	$self->{made} = 0;
	return;
}

# The answer to SQL in a session with the settings; dies where it fails.  Options: on, another database; settings, more of them.
sub query
{
	my ($self, $sql, %options) = @_;
	local $ENV{PGOPTIONS} = $self->options_of($options{settings});

	return psql($sql, $options{on} // $database);
}

# The answer of psql to SQL, in the database that the environment says where none is named; dies where it fails.
sub psql
{
	my ($sql, $on) = @_;

	my $pid = open3(my $in, my $out, undef, 'psql', qw(-XqtA -v ON_ERROR_STOP=1), (defined $on ? ('-d', $on) : ()), '-f', '-');
	# psql reads all of a script before long answers are written, but for races, which are short
	{
		local $SIG{PIPE} = 'IGNORE';
		print $in $sql, "\n";
		close $in;
	}
	my $answer = do { local $/; <$out> // '' };
	waitpid $pid, 0;
	chomp $answer;
	if ($? != 0)
	{
		$answer =~ s/^psql:(?:<stdin>:\d+:)? //;
		die "psql: $answer\n";
	}
	return $answer;
}

# PGOPTIONS of a session with the server's settings and more of them.
sub options_of
{
	my ($self, $more) = @_;
	my %settings = (%{ $self->{settings} }, %{ $more // {} });

	return join ' ', ($ENV{PGOPTIONS} // ()), map { "-c $_=" . escaped($settings{$_}) } sort keys %settings;
}

# The name of the database.
sub database
{
	return $database;
}

# A value as libpq's options want it.
sub escaped
{
	my ($value) = @_;

	$value =~ s/([\\ ])/\\$1/g;
	return $value;
}

# A query in variants, each a list of settings, one against the other (see race.sql).  Returns a hash: ms, costs, nodes,
# served (a list each, by variant), times (a list of lists, by variant), result.
sub race
{
	my ($self, $query, $variants, $runs, %options) = @_;
	my $call = sprintf "select row_to_json(r) from race(%s, array[%s], %d, %g) r", literal($query),
	  join(', ', map { literal($_) } @$variants), $runs, $options{at_least_ms} // 0;
	my $answer = $json->decode($self->query($call, settings => $options{settings}));
	my @times = map { [] } @$variants;

	push @{ $times[ $_ % @$variants ] }, $answer->{times}[$_] foreach 0 .. $#{ $answer->{times} };
	$answer->{times} = \@times;
	$answer->{nodes} = [ map { $_ ? 1 : 0 } @{ $answer->{nodes} } ];
	return $answer;
}

# The same with variants in sessions of their own: all turns of a variant in one, or where fresh is said each turn.
sub race_in_sessions
{
	my ($self, $query, $variants, $runs, %options) = @_;
	my ($turns, $of_turn) = $options{fresh} ? ($runs, 1) : (1, $runs);
	my %all = map { $_ => [] } qw(costs nodes served times);

	foreach (1 .. $turns)
	{
		foreach my $index (0 .. $#$variants)
		{
			my $race = $self->race($query, [ $variants->[$index] ], $of_turn, %options);

			$all{result} //= $race->{result};
			die "variant $variants->[$index] returns $race->{result}, not $all{result}, for: $query\n" if $race->{result} ne $all{result};
			push @{ $all{times}[$index] }, @{ $race->{times}[0] };
			$all{$_}[$index] = $race->{$_}[0] foreach qw(costs nodes served);
		}
	}
	$all{ms} = [ map { median(@$_) } @{ $all{times} } ];
	return \%all;
}

# Text as an SQL literal.
sub literal
{
	my ($text) = @_;

	$text =~ s/'/''/g;
	return "'$text'";
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;

	return @sorted % 2 ? $sorted[ @sorted / 2 ] : ($sorted[ @sorted / 2 - 1 ] + $sorted[ @sorted / 2 ]) / 2;
}

# What figures depend on: machine, versions and settings.
sub machine
{
	my ($self) = @_;
	my $cpuinfo = read_file('/proc/cpuinfo');
	my ($model) = $cpuinfo =~ /^model name\s*:\s*(.+)$/m;
	my $cores = () = $cpuinfo =~ /^processor\s*:/mg;
	my ($memory) = read_file('/proc/meminfo') =~ /^MemTotal:\s*(\d+) kB/m;
	my %settings = map { split /\|/, $_, 2 } split /\n/, $self->query(
		"select name, current_setting(name) from pg_settings where name ~ '^hashgraph\\.' or name in ("
		  . join(', ', map { "'$_'" } qw(shared_buffers work_mem hash_mem_multiplier effective_cache_size
			  max_parallel_workers_per_gather max_parallel_workers min_dynamic_shared_memory
			  enable_hashjoin enable_mergejoin enable_nestloop huge_pages random_page_cost jit)) . ')');
	my @devices = map { { name => $_ } } split /\n/, $self->query('select name from hashgraph_devices()');

	return {
		time => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
		machine => {
			cpu => $model // 'unknown', cores => $cores, memory_kb => $memory + 0,
			kernel => join(' ', (uname())[ 0, 2, 4 ]), gpus => \@devices, load => load_average() },
		versions => {
			postgresql => $self->query('show server_version'),
			hashgraph => $self->query("select extversion from pg_extension where extname = 'hashgraph'") },
		settings => { %settings, map { $_ => $self->{settings}{$_} } keys %{ $self->{settings} } } };
}

# The load averages of the last 1, 5 and 15 minutes.
sub load_average
{
	return [ map { $_ + 0 } (split ' ', read_file('/proc/loadavg'))[ 0 .. 2 ] ];
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

# Write data as JSON.
sub write_json
{
	my ($name, $data) = @_;

	write_file($name, $json->encode($data));
	return;
}

1;
