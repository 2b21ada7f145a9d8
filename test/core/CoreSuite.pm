# CoreSuite.pm
#
# PostgreSQL's own regression suite: its source, what it loads, its statements, passes of it in servers of
# their own, and what differs between two passes.
#
# A pass runs the suite in a private server as pg_regress would run it, but tests of a parallel group
# one after another.  What each statement printed in a pass is compared with what it printed in
# another (PsqlOutput.pm): rows as multisets unless the outermost query orders
# them; of statements that print plans only whether they failed.  What is left aside beyond EXPLAIN, and
# what SQL leaves open, is named with its reason in reviewed.list.

package CoreSuite;

use strict;
use warnings;

use File::Basename qw(basename dirname);
use File::Path qw(make_path);

use PrivateServer qw(run_logged read_file write_file);
use PsqlOutput;
use PsqlScript;
use TapTalk;

# seconds that one file of the suite may take
my $limit = 900;
# differences shown of one file; all are written to the logs
my $most_shown = 3;

# The suite of a server that is built.  Options: server, a PrivateServer; source, that of PostgreSQL, a tarball
# or a directory (default: the distribution's source package, which is fetched); only, a list of tests in no order
# (test_setup is always run); logs, a directory to write differences to.
#
# names are those of its tests, in order.
sub new
{
	my ($class, %options) = @_;
	my $self = bless {%options}, $class;

	$self->read_reviewed;
	$self->find_source;
	$self->build;
	$self->read_schedule;
	return $self;
}

# Find the suite's source.
sub find_source
{
	my ($self) = @_;
	my $server = $self->{server};
	my $source = $self->{source} // $self->source_package;
	my $to = "$server->{work}/postgresql";

	if (-d $source)
	{
		$to = $source;
	}
	else
	{
		make_path($to);
		run_logged("$server->{work}/unpack.log",
			"tar -C '$to' --strip-components=1 --wildcards -xf '$source' '*/configure' '*/src/test/regress/*'");
	}
	my ($version) = read_file("$to/configure") =~ /^PACKAGE_VERSION='(.*)'/m;
	die "$source is the source of PostgreSQL $version, the server is $server->{version}\n"
	  if $version !~ /^\Q$server->{major}\E(?!\d)/;
	note("the suite is that of PostgreSQL $version, the server is $server->{version}")
	  if $version ne $server->{version};
	$self->{regress} = "$to/src/test/regress";
	return;
}

# The tarball of the distribution's source package of the server, or of another minor version of it where that
# one is not to be had.  Uses lists of its own: the system's know nothing of sources.
sub source_package
{
	my ($self) = @_;
	my $server = $self->{server};
	my $apt = "$server->{work}/apt";
	my $package = "postgresql-$server->{major}";
	my $options = "-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts='$apt/sources' "
	  . "-o Dir::State::lists='$apt/lists' -o Dir::Cache='$apt/cache' -o Debug::NoLocking=1 -o APT::Sandbox::User=''";
	my @found = glob("'$apt'/*.orig.tar.*");

	return $found[0] if @found;
	make_path("$apt/sources", "$apt/lists/partial", "$apt/cache/archives/partial");
	foreach my $file (grep { -e } '/etc/apt/sources.list', glob('/etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources'))
	{
		my $text = read_file($file);
		$text =~ s/^Types:.*$/Types: deb-src/mg;
		$text = join '', map { s/^\s*deb(?:-src)?\s/deb-src /r } grep { /^\s*deb\s/ } split /^/, $text if $file =~ /list$/;
		write_file("$apt/sources/" . basename($file), $text);
	}
	run_logged("$apt/update.log", "apt-get -q $options update");
	my %versions = map { /^Version: (\S+)/ ? ($1 => 1) : () } `apt-cache $options showsrc $package 2>/dev/null`;
	# the server's own first, then the newest
	my @versions = sort {
		($b =~ /^\Q$server->{version}\E/) <=> ($a =~ /^\Q$server->{version}\E/) || $b cmp $a
	} keys %versions;
	die "no source package $package was found: say --source\n" unless @versions;
	foreach my $version (@versions)
	{
		run_logged("$apt/source.log", "cd '$apt' && apt-get -q $options source --download-only $package=$version", may_fail => 1);
		@found = glob("'$apt'/*.orig.tar.*");
		return $found[0] if @found;
	}
	die "the source package $package could not be fetched: say --source\n";
}

# Compile what the suite loads into the server.
sub build
{
	my ($self) = @_;
	my ($server, $regress) = @$self{qw(server regress)};
	my $lib = "$server->{work}/lib";

	make_path($lib);
	write_file("$lib/regress.c", read_file("$regress/regress.c"));
	write_file("$lib/Makefile", "MODULES = regress\noverride with_llvm = no\nPGXS := $server->{pgxs}\ninclude \$(PGXS)\n");
	run_logged("$server->{work}/regress.log", "make -s -C '$lib' PG_CONFIG='$server->{pg_config}'");
	foreach my $library (qw(autoinc refint))
	{
		my $file = "$server->{pkglibdir}/$library.so";
		symlink $file, "$lib/$library.so" if -e $file && !-e "$lib/$library.so";
	}
	return;
}

# The tests of the suite, in order, with their units and scripts.
sub read_schedule
{
	my ($self) = @_;
	my (@names, %scripts);
	my %only = map { $_ => 1 } 'test_setup', @{ $self->{only} // [] };

	foreach my $line (split /\n/, read_file("$self->{regress}/parallel_schedule"))
	{
		push @names, split ' ', $1 if $line =~ /^test: *(.*)/;
	}
	@names = grep { $only{$_} } @names if defined $self->{only};
	foreach my $name (@names)
	{
		my $text = read_file("$self->{regress}/sql/$name.sql");
		$scripts{$name} = { text => $text, units => [ PsqlScript::units($text) ] };
	}
	@$self{qw(names scripts)} = (\@names, \%scripts);
	return;
}

# ---------------------------------------------------------------- the reviewed list

# An entry is three lines: kind and file ('*' for any); '  ' and a pattern for the statement; '  ' and the reason.
sub read_reviewed
{
	my ($self) = @_;
	my ($entry, @reviewed);

	foreach my $line (split /\n/, read_file(dirname(__FILE__) . '/reviewed.list'))
	{
		next if $line =~ /^#/ || $line eq '';
		if ($line =~ /^(plan|open|server) (\S+)$/)
		{
			$entry = { kind => $1, file => $2, used => 0 };
			push @reviewed, $entry;
		}
		elsif ($line =~ /^  (.*)/ && !defined $entry->{pattern})
		{
			$entry->{pattern} = qr/$1/i;
		}
		elsif ($line =~ /^  (.*)/)
		{
			$entry->{reason} = defined $entry->{reason} ? "$entry->{reason} $1" : $1;
		}
		else
		{
			die "reviewed.list: not understood: $line\n";
		}
	}
	foreach my $each (@reviewed)
	{
		die "reviewed.list: an entry for $each->{file} has no reason\n" unless defined $each->{reason};
	}
	$self->{reviewed} = \@reviewed;
	return;
}

# The entry for a statement, or undef.
sub reviewed
{
	my ($self, $kind, $file, $statement) = @_;

	foreach my $entry (@{ $self->{reviewed} })
	{
		next unless $entry->{kind} eq $kind && ($entry->{file} eq '*' || $entry->{file} eq $file);
		return $entry if $statement =~ $entry->{pattern};
	}
	return undef;
}

# ---------------------------------------------------------------- a pass

# Run the suite in a cluster of its own with these lines of postgresql.conf; returns { name, output, log }: what each
# unit printed, by test and number, and the server's log.  The whole output is left in the pass's results.  Options:
# begin and end, called before the first test, when there is the database 'regression', and after the last.
sub run_pass
{
	my ($self, $pass, $conf, %options) = @_;
	my ($server, $regress) = @$self{qw(server regress)};
	my $folder = "$server->{work}/" . ($pass =~ s/\W+/-/gr);
	my %output;

	run_logged("$server->{work}/clean.log", "rm -rf '$folder'");
	make_path("$folder/sql", "$folder/build/results");
	my $log = $server->start(basename($folder), $conf);
	$server->query('postgres', 'create database regression template template0');
	$server->query('postgres', map { "alter database regression set $_" } "lc_messages to 'C'",
		"lc_monetary to 'C'", "lc_numeric to 'C'", "lc_time to 'C'", "bytea_output to 'hex'",
		"timezone_abbreviations to 'Default'");
	$options{begin}->() if defined $options{begin};

	# each version of the suite has a time zone of its own
	my ($time_zone) = read_file("$regress/pg_regress.c") =~ /setenv\("PGTZ", "(.*?)"/;
	local @ENV{qw(PGTZ PGDATESTYLE PGOPTIONS PG_ABS_SRCDIR PG_ABS_BUILDDIR PG_LIBDIR PG_DLSUFFIX)} = (
		$time_zone // 'PST8PDT', 'Postgres, MDY', '-c intervalstyle=postgres_verbose',
		$regress, "$folder/build", "$server->{work}/lib", '.so');
	foreach my $name (@{ $self->{names} })
	{
		my $script = $self->{scripts}{$name};
		my $file = "$folder/sql/$name.sql";
		my $result = "$folder/build/results/$name.out";

		local $ENV{PGAPPNAME} = "pg_regress/$name";
		write_file($file, PsqlScript::with_markers($script->{text}, @{ $script->{units} }));
		my $status = run_logged($result,
			"'$server->{bin}/psql' -X -a -q -d regression -v HIDE_TABLEAM=on -v HIDE_TOAST_COMPRESSION=on <'$file'",
			may_fail => 1, limit => $limit);
		$output{$name} = { PsqlScript::output_of_units(read_file($result)), status => $status };
		$self->wait_for_server if $status != 0;
	}

	$options{end}->() if defined $options{end};
	PrivateServer::stop();
	my @crashes = grep { /terminated by signal|^TRAP:|PANIC:/ } split /^/, read_file($log);
	ok(@crashes == 0, "$pass: no process of the server died");
	note(join '', @crashes[ 0 .. ($#crashes < 5 ? $#crashes : 5) ]) if @crashes;
	return { name => $pass, output => \%output, log => $log };
}

# After a crash a server needs a while.
sub wait_for_server
{
	my ($self) = @_;

	foreach my $try (1 .. 60)
	{
		return if system("'$self->{server}{bin}/pg_isready' -q") == 0;
		sleep 1;
	}
	return;
}

# ---------------------------------------------------------------- comparing passes

# Compare two passes, statement by statement; returns counts and the differences as
# [ test, unit, statements, before, after ].
sub compare_passes
{
	my ($self, $first, $second) = @_;
	my (%count, @differences);

	foreach my $name (@{ $self->{names} })
	{
		my ($one, $two) = ($first->{output}{$name}, $second->{output}{$name});
		my %named;
		my @own;

		foreach my $unit (@{ $self->{scripts}{$name}{units} }, { number => -1, statements => [], line => 0 })
		{
			my ($before, $after) = ($one->{ $unit->{number} }, $two->{ $unit->{number} });
			my $text = join ' ', map { PsqlScript::squeeze($_) } @{ $unit->{statements} };
			my $statements = @{ $unit->{statements} };

			# an order that the last of several asks for is asked for by one of them at least
			my $ordering = '';
			foreach my $statement (@{ $unit->{statements} })
			{
				my $order = PsqlScript::ordering($statement, \%named);
				$ordering = $order if $order ne '';
			}
			# COPY has its query in parentheses, and prints rows as they are
			my $bare = $text =~ /^copy\s*\((.*)\)\s*to stdout/i;
			$ordering = PsqlScript::ordering($1, \%named) if $bare;
			$count{statements} += $statements;
			next if !defined $before && !defined $after;
			if ($text =~ /^explain\b/i || defined $self->reviewed('plan', $name, $text))
			{
				$count{aside} += $statements;
				my $entry = $self->reviewed('plan', $name, $text);
				$entry->{used}++ if defined $entry;
				push @own, [ $name, $unit, $text, $before, $after ]
				  if errors_of($before // '') ne errors_of($after // '');
				next;
			}
			$count{compared} += $statements;
			my $how = defined $before && defined $after ? PsqlOutput::compare($before, $after, $ordering, $bare) : '';
			if ($how ne '')
			{
				$count{$how} += $statements;
				next;
			}
			my $entry = $self->reviewed('open', $name, $text);
			if (defined $entry)
			{
				$entry->{used}++;
				$count{open} += $statements;
				next;
			}
			push @own, [ $name, $unit, $text, $before, $after ];
		}
		push @differences, @own;
	}
	$count{$_} //= 0 foreach qw(statements compared aside same rows ties open);
	return (\%count, @differences);
}

# The errors in an output.
sub errors_of
{
	my ($output) = @_;

	return join '', grep { /^(?:ERROR|FATAL|PANIC|server closed)/ } split /^/, $output;
}

# Report differences: a test for each file that has some, and one for all others.
sub report_differences
{
	my ($self, $pass, @differences) = @_;
	my ($server, $logs) = @$self{qw(server logs)};
	my %of;

	push @{ $of{ $_->[0] } }, $_ foreach @differences;
	foreach my $name (sort keys %of)
	{
		my @lines;
		my $shown = 0;
		foreach my $difference (@{ $of{$name} })
		{
			my (undef, $unit, $text, $before, $after) = @$difference;
			write_file("$server->{work}/before", $before // "(nothing)\n");
			write_file("$server->{work}/after", $after // "(nothing)\n");
			my $diff = `cd '$server->{work}' && diff -U1 before after | tail -n +3`;
			my $entry = "$name.sql:$unit->{line}: " . substr($text, 0, 2000) . "\n$diff";
			push @lines, $entry;
			note(first_lines($entry, 15)) if $shown++ < $most_shown;
		}
		write_file("$logs/" . ($pass =~ s/\W+/-/gr) . "-$name.diff", join "\n", @lines);
		ok(0, "$pass: $name: " . scalar(@lines) . " statements give another result");
	}
	return;
}

1;
