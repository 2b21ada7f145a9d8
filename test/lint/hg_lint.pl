#!/usr/bin/perl
#
# hg_lint.pl
#     Rules of the source tree that no compiler checks.
#
#   hg_lint.pl [ROOT]      (default: the checkout that this file is in)
#
# Prints TAP: one test a rule, with every violation as a diagnostic line
# "file:line: what".  hg_lint_selftest.pl breaks each rule on purpose.
#
# The rooms of src/ form layers, and includes point down:
#
#   hashgraph.c > sql > planner > executor/sort > executor/{aggregate,lookup} > executor/join > loader
#     > batch > resident > backend/matcher > backend/device > backend > {tables,engine/{cpu,wire}} > engine
#
# (engine/cpu, tables and engine/wire implement the interfaces in engine/ and do not know
# each other.)  hg_guc.h and hg_compat.h belong to no room: every room above the
# engine may include them, and they include nothing above the engine.  cuda/ sees
# the engine's headers and its own, whose layers are
#
#   cuda/server/hg_device_main.c > cuda/{server,engine}; cuda/engine > cuda/tables > cuda/kernels
#     > cuda/device

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Find qw(find);

use lib dirname(__FILE__);
use PgxnMeta qw(meta_violations);

my $root = abs_path($ARGV[0] // dirname(__FILE__) . '/../..');

my %layer = (
	'hashgraph'          => 0,
	'sql'                => 1,
	'planner'            => 2,
	'executor/sort'      => 3,
	'executor/aggregate' => 4,
	'executor/lookup'    => 4,
	'executor/join'      => 5,
	'loader'             => 6,
	'batch'              => 7,
	'resident'           => 8,
	'backend/matcher'    => 9,
	'backend/device'     => 10,
	'backend'            => 11,
	'common'             => 12,
	'cuda'               => 0,
	'cuda/server'        => 1,
	'cuda/engine'        => 1,
	'cuda/tables'        => 2,
	'cuda/kernels'       => 3,
	'cuda/device'        => 4,
	'engine/cpu'         => 13,
	'tables'             => 13,
	'engine/wire'        => 13,
	'engine'             => 14,);

# TAP tests that look at a clock or sleep, and why they may.
my %timed = (
	'HashGraphTest.pm'  => 'has what others wait with',
	'RawSession.pm'     => 'waits for a server so long',
	'CancelledJoins.pm' => 'cancels at a part of the time that a join takes',
	'join_parallel.pl'  => 'does so, too',
	'device_trouble.pl' => 'breaks a device for parts of a second');

my @rules = (
	[ 'includes point down the layers' => \&check_layers ],
	[ 'the engine includes the C library and itself, and so do its tables' => \&check_engine_headers ],
	[ 'cuda/ includes CUDA, the C library, the engine and itself' => \&check_cuda_headers ],
	[ 'CUDA stays in cuda/ and test/' => \&check_cuda_elsewhere ],
	[ 'kernels are launched by hg_cuda_launch.h' => \&check_launches ],
	[ 'PostgreSQL versions are tested in hg_compat.h alone' => \&check_versions ],
	[ "the state of core's heap scans is hg_heap_page.c's alone" => \&check_heap_scans ],
	[ "the visibility map is hg_resident_map.c's alone" => \&check_visibility_map ],
	[ "the area of residents is hg_resident_memory.c's alone" => \&check_resident_area ],
	[ 'costs stand in hg_cost_table.h alone' => \&check_costs ],
	[ 'files are named for their room' => \&check_file_names ],
	[ 'files of C and CUDA start with their name and purpose' => \&check_file_headers ],
	[ 'functions are short, or say why not' => \&check_function_sizes ],
	[ 'nothing is left to be done' => \&check_leftovers ],
	[ 'tests wait for states, and time is measured in test/perf' => \&check_waits ],
	[ 'comments are in one piece' => \&check_comments ],
	[ 'comments of headers are statements' => \&check_contracts ],
	[ 'no name of src/ and cuda/ has a retired word' => \&check_retired_words ],
	[ 'the settings in docs/reference/settings.md are those of hg_guc.c' => \&check_settings ],
	[ 'every SQL object is in docs/reference/' => \&check_sql_objects ],
	[ 'every reason that users are told is in docs/reference/reasons.md' => \&check_reasons ],
	[ 'README.md is read in five minutes' => \&check_readme ],
	[ 'every regression topic has its expected output' => \&check_regress ],
	[ 'the version is the same everywhere' => \&check_release ],
	[ "META.json is what PGXN's specification asks for" => \&check_meta ],
	[ 'debian/control follows its template' => \&check_packages ],
	[ 'the name, description and maintainer are the same everywhere' => \&check_metadata ],
	[ 'links between pages lead somewhere' => \&check_links ],
	[ 'no object files call each other in a circle' => \&check_circles ],
	[ 'hashgraph.so needs the C library alone' => \&check_libraries ],
	[ 'hashgraph.so holds no faults to be injected' => \&check_faults ],);

my @files = list_files();
my %lines = map { $_ => read_lines($_) } @files;

my $failed = 0;
print "1..", scalar(@rules), "\n";
for my $number (1 .. @rules)
{
	my ($name, $check) = @{ $rules[ $number - 1 ] };
	my ($skip, @violations) = $check->();
	if (@violations)
	{
		$failed++;
		print "not ok $number - $name\n";
		print "# $_\n" for @violations;
	}
	else
	{
		print "ok $number - $name", (defined $skip ? " # SKIP $skip" : ''), "\n";
	}
}
exit($failed ? 1 : 0);

# The files of the project, relative to the root.
sub list_files
{
	my @found;
	find(
		{
			no_chdir => 1,
			wanted   => sub {
				return if $File::Find::name eq $root;
				my $name = substr($File::Find::name, length($root) + 1);
				if (-d $_ && $name =~ m{^(?:\.git|\.device|results|.*/build|.*tmp_check.*)$})
				{
					$File::Find::prune = 1;
				}
				elsif (-f $_
					&& ($name =~ /\.(?:c|h|cu|cuh|mk|sql|out|spec|pl|pm|md|json|js|control|sh)$/
						|| $name =~ m{(?:^|/)(?:Makefile|quickstart|run|demo|grid)$}
						|| $name =~ m{^debian/(?:changelog|rules|(?:tests/)?control(?:\.in)?)$}))
				{
					push @found, $name;
				}
			},
		},
		$root);
	return sort @found;
}

sub read_lines
{
	my ($name) = @_;
	open my $in, '<', "$root/$name" or die "$name: $!";
	my @read = <$in>;
	chomp @read;
	return \@read;
}

# Every line of the files that match, as [file, line number, text].
sub matching_lines
{
	my ($files_like, $line_like) = @_;
	my @found;
	for my $file (grep { $_ =~ $files_like } @files)
	{
		my $number = 0;
		for my $text (@{ $lines{$file} })
		{
			$number++;
			push @found, [ $file, $number, $text ] if $text =~ $line_like;
		}
	}
	return @found;
}

# The same outside the one file that may have such lines, as a diagnostic each.
sub lines_elsewhere
{
	my ($file, @like) = @_;
	return map { "$_->[0]:$_->[1]: $_->[2]" } grep { $_->[0] ne $file } matching_lines(@like);
}

# Every include of the files that match, as [file, line number, text, style, name,
# path of the project's file or undef].
sub includes
{
	my ($files_like) = @_;
	my @found;
	for my $line (matching_lines($files_like, qr/^\s*#\s*include\b/))
	{
		my ($file, $number, $text) = @$line;
		my ($style, $name) = $text =~ /include\s*([<"])([^>"]+)/ or next;
		my $path;
		for my $base (dirname($file), 'src', 'src/engine', 'cuda', '.')
		{
			my $try = normalise("$base/$name");
			next unless -f "$root/$try";
			$path = $try;
			last;
		}
		push @found, [ $file, $number, $text, $style, $name, $style eq '"' ? $path : undef ];
	}
	return @found;
}

sub normalise
{
	my @parts;
	for my $part (split m{/}, shift)
	{
		next if $part eq '.' || $part eq '';
		if   ($part eq '..' && @parts && $parts[-1] ne '..') { pop @parts; }
		else                                                 { push @parts, $part; }
	}
	return join '/', @parts;
}

# The room of a file of src/ or cuda/, or undef.
sub room
{
	my ($file) = @_;
	return 'hashgraph' if $file =~ m{^src/hashgraph\.[ch]$};
	return 'common'    if $file =~ m{^src/[^/]+$};
	# the main program is above the server and the engine, which do not know each other
	return 'cuda'      if $file eq 'cuda/server/hg_device_main.c';
	return $1          if $file =~ m{^(cuda/(?:server|engine|tables|kernels|device))/[^/]+$};
	return $1          if $file =~ m{^src/(engine/(?:cpu|wire)|executor/(?:aggregate|join|lookup|sort)|backend/(?:matcher|device))/};
	return $1          if $file =~ m{^src/(sql|planner|loader|batch|resident|backend|tables|engine)/};
	return undef;
}

sub c_library
{
	my ($name) = @_;
	return $name =~ m{^(?:sys|linux|netinet|arpa)/\w+\.h$}
	  || $name =~ m{^(?:assert|ctype|dirent|dlfcn|errno|fcntl|float|getopt|inttypes|limits|locale
		|math|poll|pthread|sched|signal|spawn|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio
		|stdlib|string|strings|threads|time|unistd|immintrin|x86intrin|emmintrin|arm_neon|arm_acle)\.h$}x;
}

sub check_layers
{
	my @violations;
	for my $include (includes(qr{^(?:src|cuda)/.*\.(?:c|h|cu)$}))
	{
		my ($file, $number, $text, undef, undef, $path) = @$include;
		next unless defined $path;
		my $from = room($file);
		my $to   = room($path);
		if (!defined $from || !defined $to)
		{
			push @violations, "$file:$number: outside the rooms: $text";
		}
		elsif ($from ne $to && $layer{$to} <= $layer{$from})
		{
			push @violations, "$file:$number: $from must not include $to: $text";
		}
		elsif ($to eq 'common' && $layer{$from} > $layer{'common'})
		{
			push @violations, "$file:$number: $from must not include $path";
		}
	}
	return (undef, @violations);
}

sub check_engine_headers
{
	my @violations;
	for my $include (includes(qr{^src/(?:engine|tables)/.*\.[ch]$}))
	{
		my ($file, $number, $text, $style, $name, $path) = @$include;
		next if $style eq '"' ? defined $path && $path =~ m{^src/(?:engine|tables)/} : c_library($name);
		push @violations, "$file:$number: $text";
	}
	return (undef, @violations);
}

sub check_cuda_headers
{
	my @violations;
	for my $include (includes(qr{^cuda/}))
	{
		my ($file, $number, $text, $style, $name, $path) = @$include;
		next
		  if $style eq '"'
		  ? defined $path && $path =~ m{^(?:cuda|src/engine)/}
		  : c_library($name)
		  || $name =~ m{^(?:cuda\w*\.h|cuda_runtime\w*\.h|cub/.*|cuda/.*|cooperative_groups.*)$}
		  || $name =~ m{^(?:c?(?:std\w+|limits|string|math|assert|time|errno|inttypes)|new|mutex|algorithm|utility|type_traits)$};
		push @violations, "$file:$number: $text";
	}
	return (undef, @violations);
}

sub check_cuda_elsewhere
{
	# The hash function is the one thing that host and device share as source.
	return (
		undef,
		map { "$_->[0]:$_->[1]: $_->[2]" }
		  grep { !($_->[0] eq 'src/engine/hg_hash.h' && $_->[2] =~ /^#define HG_HOST_DEVICE\b/) }
		  matching_lines(
			qr{^src/.*\.[ch]$},
			qr{<<<|__global__|__device__\s+\w|\bcuda[A-Z]\w*\s*\(|
			   ^\s*\#\s*include\s*[<"](?:cuda|cub/|cooperative_groups|nv)}x));
}

# What a kernel is allowed of shared memory is every thread's: set once, never for one launch.
sub check_launches
{
	return (
		undef,
		map { "$_->[0]:$_->[1]: $_->[2]" }
		  grep { $_->[0] !~ m{/hg_cuda_launch\.(?:h|cu)$} }
		  matching_lines(qr{^(?:cuda|test/bench)/.*\.(?:h|cu)$}, qr{<<<|\bcudaLaunch\w*\s*\(|\bcudaFuncSetAttribute\b}));
}

sub check_versions
{
	return (undef, lines_elsewhere('src/hg_compat.h', qr{\.(?:c|h|cu|cuh)$}, qr{\bPG_VERSION_NUM\b|\bPG_MAJORVERSION_NUM\b}));
}

sub check_heap_scans
{
	# hg_heap_vis.c asks core which rows are visible, by functions of that header
	return (
		undef,
		map { "$_->[0]:$_->[1]: $_->[2]" }
		  grep { $_->[0] ne 'src/batch/hg_heap_page.c' && !($_->[0] eq 'src/batch/hg_heap_vis.c' && $_->[2] =~ m{access/heapam\.h}) }
		  matching_lines(qr{^src/.*\.(?:c|h)$},
			qr{access/heapam\.h|\bHeapScanDesc|\brs_(?:c(?:buf|block|index|tup)|ntuples|nblocks|vistuples)\b}));
}

# visibilitymap_pin() extends the map, which readers may not, and PageGetLSN() reads a position that a hint may
# be writing.
sub check_visibility_map
{
	return (
		undef,
		lines_elsewhere('src/resident/hg_resident_map.c', qr{^src/.*\.(?:c|h)$}, qr{access/visibilitymap\.h}),
		lines_elsewhere('', qr{^src/.*\.(?:c|h)$}, qr{^(?! \*).*\b(?:visibilitymap_pin|PageGetLSN)\s*\(}));
}

sub check_resident_area
{
	return (undef,
		lines_elsewhere('src/resident/hg_resident_memory.c', qr{^src/(?:resident|loader)/.*\.(?:c|h)$}, qr{^(?! \*).*\bdsa_(?!pointer\b)\w+\s*\(}));
}

sub check_costs
{
	return (undef, lines_elsewhere('src/engine/hg_cost_table.h', qr{^src/.*\.(?:c|h)$}, qr{^\s*#\s*define\s+\w+_(?:NS|COST)\s+\(*\d}));
}

sub check_file_names
{
	my @violations;
	for my $file (@files)
	{
		my $base = basename($file);
		if ($file =~ m{^src/} && $file ne 'src/hashgraph.c' && $file ne 'src/README.md')
		{
			push @violations, $file unless $base =~ /^hg_[a-z0-9_]+\.[ch]$/ && defined room($file);
		}
		elsif ($file =~ m{^cuda/})
		{
			push @violations, $file
			  unless $base =~ /^hg_[a-z0-9_]+\.(?:c|h|cu)$/ && defined room($file) || $base eq 'cuda.mk' || $base =~ /\.md$/;
		}
		elsif ($file =~ m{^test/(?:unit|bench)/.*\.(?:c|h|cu)$})
		{
			push @violations, $file unless $base =~ /^(?:hg|test)_[a-z0-9_]+\.(?:c|h|cu)$/;
		}
		elsif ($file =~ m{^test/t/} && $file =~ /\.pl$/)
		{
			push @violations, $file unless $base =~ /^(?:join|cache|device|server)_[a-z0-9_]+\.pl$/;
		}
		elsif ($file =~ m{^sql/})
		{
			push @violations, $file
			  unless $base =~ /^hashgraph--\d+\.\d+\.\d+(?:--\d+\.\d+\.\d+)?\.sql$|^[a-z0-9_]+\.sql$/;
		}
	}
	return (undef, @violations);
}

sub check_file_headers
{
	my @violations;
	for my $file (grep { m{^(?:src|cuda|test)/.*\.(?:c|h|cu|cuh)$} } @files)
	{
		my $base  = basename($file);
		my @start = @{ $lines{$file} }[ 0 .. 5 ];
		my $start = join "\n", map { $_ // '' } @start;
		push @violations, $file unless $start =~ m{\A/\*-{10,}\n \*\n \* \Q$base\E\n \*\s+\S};
	}
	return (undef, @violations);
}

# A function of more than 80 lines says "In one piece:" and the reason, in the comment above it or in front of its body.
sub check_function_sizes
{
	my @violations;

	foreach my $file (grep { m{^(?:src|cuda)/.*\.(?:c|h|cu|cuh)$} } @files)
	{
		my $code = $lines{$file};
		my ($begin, $comment) = (undef, 0);

		foreach my $i (0 .. $#$code)
		{
			# the last comment that begins a line is that of the function below it
			$comment = $i if $code->[$i] =~ m{^/\*};
			$begin = $i if $code->[$i] eq '{';
			next unless defined $begin && $code->[$i] eq '}';
			push @violations, "$file:" . ($begin + 1) . ': ' . ($i - $begin + 1) . ' lines'
			  if $i - $begin >= 80 && $code->[ $begin - 1 ] !~ /^extern "C"/ && !grep { /In one piece: / } @$code[ $comment .. $begin ];
			$begin = undef;
		}
	}
	return (undef, @violations);
}

sub check_leftovers
{
	# Written so that this file does not find itself.
	my $words = join '|', map { "\\b$_\\b" } 'TO' . 'DO', 'FIX' . 'ME', 'X' . 'XX', 'HA' . 'CK';
	return (undef, lines_elsewhere('', qr{.}, qr{$words|^\s*\#\s*if\s+0\b}));
}

# A test waits for a state with what HashGraphTest.pm has, and a time is measured in test/perf.
sub check_waits
{
	return (undef, map { "$_->[0]:$_->[1]: $_->[2]" }
		  grep { $_->[0] !~ m{([^/]+)$} || !exists $timed{$1} }
		  matching_lines(qr{^test/t/.*\.p[lm]$}, qr{^[^#]*(?:\bu?sleep\s*[(\d]|\bsleep\s+\S|\bselect\s*\(\s*undef|\bTime::HiRes\b)}));
}

# Private words for what docs/developer/glossary.md has a term for; SQL names and their counters are users'.
sub check_retired_words
{
	my $word = qr{(?<![A-Za-z])(?i:lent|lends?|undecided|teams?|keepers?|patience|alike_groups|kept_(?:graph|column)s?|(?<!in_)places?|offers?|offered|told|untold|tells?|settled|settles|touched|facts|borrows?)(?![A-Za-z])|\bHg[A-Za-z]*(?:Lent|Lend|Undecided|Team|Keeper|Patience|Place|Offer|Sender|Told|Delivered|Settled|Needs|Wanted)s?(?![a-z])};

	my @found;

	foreach my $line (matching_lines(qr{^(?:src|cuda)/.*\.(?:c|h|cu|cuh)$}, $word))
	{
		my $code = $line->[2] =~ s{"(?:[^"\\]|\\.)*"|/\*.*?(?:\*/|$)|^\s*\*.*}{}gr;

		push @found, "$line->[0]:$line->[1]: $_" foreach grep { $_ =~ $word } $code =~ /\b([A-Za-z_]\w*)\b/g;
	}
	return (undef, @found);
}

# clang-format tears a comment where it breaks a long line: the rest begins at its star.
sub check_comments
{
	return (undef, lines_elsewhere('', qr{\.(?:c|h|cu)$}, qr{^\t* \*[A-Za-z(]}));
}

# A contract is no question, and a comment does not continue the one above it.
sub check_contracts
{
	my @found;

	foreach my $file (grep { /^(?:src|cuda)\/.*\.(?:h|cuh)$/ } @files)
	{
		my $code = join "\n", @{ $lines{$file} };

		while ($code =~ m{(/\*.*?\*/)}gs)
		{
			my $comment = $1;
			my $number = 1 + (substr($code, 0, pos($code) - length $comment) =~ tr/\n//);

			push @found, "$file:$number: the comment ends with a question mark" if $comment =~ m{\?\s*\*/$};
			push @found, "$file:$number: the comment begins with \"...\"" if $comment =~ m{^/\*[\s*]*\.\.\.};
		}
	}
	return (undef, @found);
}

# hashgraph.<name> => default as text, of the tables in docs/reference/settings.md.
sub documented_settings
{
	my %found;
	for my $line (matching_lines(qr{^docs/reference/settings\.md$}, qr{^\|\s*`hashgraph\.}))
	{
		my ($name, $rest) = $line->[2] =~ /^\|\s*`(hashgraph\.\w+)`\s*\|(.*)/ or next;
		my ($default) = split /\s*\|/, $rest;
		$default =~ s/^\s+|`//g;
		$found{$name} = $default;
	}
	return %found;
}

# hashgraph.<name> => default as docs/reference/settings.md would say it, of hg_guc.c.
sub declared_settings
{
	my $code = join "\n", @{ $lines{'src/hg_guc.c'} // [] };
	my %found;
	while ($code =~ /DefineCustom\w+Variable\(\s*"(hashgraph\.\w+)"(.*?)\)\s*;/gs)
	{
		my ($name,  $arguments) = ($1, $2);
		my ($value) = $arguments =~ /&hg_\w+,\s*([^,]+),/;
		next unless defined $value;
		$value =~ s/\s+$//;
		$value = 'on' if $value eq 'true';
		$value = 'off' if $value eq 'false';
		$value = '(empty)' if $value eq '""';
		$value = $1 if $value =~ /^"(.+)"$/;
		$value = lc $1 if $value =~ /^HG_\w*_([A-Z]+)$/;
		$value = $1 * $2 if $value =~ /^(\d+) \* (\d+)$/;
		$value += 0 if $value =~ /^-?[\d.]+$/;
		$value = $value / 1024 . 'MB' if $arguments =~ /GUC_UNIT_KB/ && $value && $value % 1024 == 0;
		$found{$name} = $value;
	}
	return %found;
}

sub check_settings
{
	my %documented = documented_settings();
	my %declared   = declared_settings();
	my @violations;
	push @violations, "src/hg_guc.c: declares nothing" unless %declared;
	for my $name (sort keys %declared)
	{
		if (!exists $documented{$name})
		{
			push @violations, "$name is declared, but not in docs/reference/settings.md";
		}
		elsif ($documented{$name} ne $declared{$name})
		{
			push @violations,
			  "$name has default $declared{$name}, in docs/reference/settings.md \"$documented{$name}\"";
		}
	}
	push @violations, map { "$_ is in docs/reference/settings.md, but not declared" }
	  grep { !exists $declared{$_} } sort keys %documented;
	return (undef, @violations);
}

sub check_sql_objects
{
	my $page = join "\n", map { @{ $lines{"docs/reference/$_.md"} // [] } } qw(functions views);
	my %objects;
	for my $line (matching_lines(qr{^sql/hashgraph--[\d.]+\.sql$},
			qr{^\s*create\s+(?:or\s+replace\s+)?(?:function|view)\s+\w}i))
	{
		my ($name) = $line->[2] =~ /(?:function|view)\s+(\w+)/i;
		$objects{$name} = "$line->[0]:$line->[1]";
	}
	# What the script drops again is its own.
	for my $line (matching_lines(qr{^sql/hashgraph--[\d.]+\.sql$}, qr{^\s*drop\s+function\s}i))
	{
		my ($name) = $line->[2] =~ /function\s+(\w+)/i;
		delete $objects{$name};
	}
	my @violations = map { "$objects{$_}: $_" }
	  grep { $page !~ /\b\Q$_\E\b/ } sort keys %objects;
	push @violations, 'sql/: creates nothing' unless %objects;
	return (undef, @violations);
}

# Why there is no device for a join, or it has failed it; why a table is not served; why it can't be resident.
sub check_reasons
{
	my $page = join "\n", @{ $lines{'docs/reference/reasons.md'} // [] };
	my $statuses = 'UNAVAILABLE|CONNECTION_LOST|DEVICE_OUT_OF_MEMORY|DEVICE_FAILED|EVICTED';
	my $string = qr/"(?:[^"\\]|\\.)*"/;
	# an argument that is no string may be a call with strings of its own
	my $argument = qr/(?:$string|\((?:[^()"]|$string)*\)|[^,()"])+/;
	my %reasons;
	for my $file (grep { m{^(?:src|cuda)/.*\.(?:c|h|cu)$} } @files)
	{
		my $code = join "\n", @{ $lines{$file} };
		while ($code =~ /\bhg_error_set\($argument,\s*HG_(?:$statuses)\s*,$argument,\s*((?:$string\s*)+)/g)
		{
			$reasons{$1} //= $file;
		}
		while ($code =~ /\bhg_\w*set_unusable\(\s*HG_\w+\s*,\s*((?:$string\s*)+)/g) { $reasons{$1} //= $file; }
		while ($code =~ /\bwhy_not\s*=\s*((?:$string\s*)+);/g) { $reasons{$1} //= $file; }
		my ($texts) = $code =~ /\nhg_resident_reason_text\(.*?\n\{\n(.*?)\n\}/s or next;
		while ($texts =~ /\breturn\s+((?:$string\s*)+);/g) { $reasons{$1} //= $file; }
	}
	my @violations;
	for my $literals (sort keys %reasons)
	{
		my $text = join '', $literals =~ /"((?:[^"\\]|\\.)*)"/g;
		next if $text eq '%s';
		my $like = join '\S+', map { quotemeta } split /%[-.0-9]*[a-z]+/, $text, -1;
		push @violations, "$reasons{$literals}: $text" unless $page =~ /`$like`/;
	}
	return (undef, @violations);
}

# Who wants to try it has five minutes: what is longer belongs into docs/.
sub check_readme
{
	my $count = @{ $lines{'README.md'} // [] };
	return (undef, $count == 0 ? 'README.md: not there' : $count > 160 ? "README.md: $count lines" : ());
}

sub check_regress
{
	my %topics = map { basename($_, '.sql') => 1 } grep { m{^sql/(?!hashgraph--)[^/]+\.sql$} } @files;
	my %expected = map { basename($_, '.out') => 1 } grep { m{^expected/[^/]+\.out$} } @files;
	return (
		undef,
		(map { "sql/$_.sql has no expected/$_.out" } grep { !$expected{$_} } sort keys %topics),
		(map { "expected/$_.out has no sql/$_.sql" }
			  grep { !$topics{$_} && !(/^(.*)_\d$/ && $topics{$1}) } sort keys %expected));
}

sub check_release
{
	my ($control) = map { /default_version\s*=\s*'([^']+)'/ ? $1 : () }
	  @{ $lines{'hashgraph.control'} // [] };
	return (undef, 'hashgraph.control: no default_version') unless defined $control;
	my @violations;
	push @violations, "sql/hashgraph--$control.sql: not there"
	  unless -f "$root/sql/hashgraph--$control.sql";
	# what a script makes calls what the library of its version has
	for my $script (grep { m{^sql/hashgraph--(?:.*--)?\Q$control\E\.sql$} } @files)
	{
		push @violations, "$script: does not look for the library of $control"
		  unless grep { $_ eq "SELECT hashgraph_check_library('$control');" } @{ $lines{$script} };
	}
	push @violations, "CHANGELOG.md: no heading for $control"
	  unless grep { /^## \Q$control\E\b/ } @{ $lines{'CHANGELOG.md'} // [] };
	my @meta = map { /"version"\s*:\s*"([^"]+)"/ ? $1 : () } @{ $lines{'META.json'} // [] };
	push @violations, "META.json: versions @meta, not $control"
	  if !@meta || grep { $_ ne $control && $_ ne '1.0.0' } @meta;
	# 0.4.0-1, and 0.4.0~dev-1 before it is released
	my ($package) = ($lines{'debian/changelog'}[0] // '') =~ /^hashgraph \(([^)]*)\)/;
	$package //= 'none';
	push @violations, "debian/changelog: version $package, not $control"
	  unless $package =~ /^\Q$control\E(?:~\w+)?-\d+$/;
	for my $line (matching_lines(qr{^(?:src|cuda)/}, qr{^\s*#\s*define\s+HG_VERSION\s}))
	{
		push @violations, "$line->[0]:$line->[1]: not $control"
		  if $line->[2] =~ /"\d/ && $line->[2] !~ /"\Q$control\E"/;
	}
	return (undef, @violations);
}

sub check_meta
{
	my $text = join "\n", @{ $lines{'META.json'} // [] };
	return (undef, map { "META.json: $_" } meta_violations($text, sub { -f "$root/$_[0]" }));
}

# As pg_buildext makes it for one version of PostgreSQL, that of its packages' names.
sub check_packages
{
	my ($major) = map { /^Package: postgresql-(\d+)-hashgraph$/ ? $1 : () } @{ $lines{'debian/control'} // [] };
	return (undef, 'debian/control: no package of the extension') unless defined $major;
	my @violations;
	for my $made (grep { exists $lines{"$_.in"} } 'debian/control', 'debian/tests/control')
	{
		my $wanted = join "\n", map { s/PGVERSION/$major/gr } @{ $lines{"$made.in"} };
		push @violations, "$made: not what pg_buildext makes of $made.in"
		  unless $wanted eq join "\n", @{ $lines{$made} // [] };
	}
	return (undef, @violations);
}

# Addresses of documentation's domains are nobody's; one that ends in .invalid says that there is none.
sub check_metadata
{
	my @violations;
	my $first = sub {
		my ($file, $like) = @_;
		my ($found) = map { $_ =~ $like ? $1 : () } @{ $lines{$file} // [] };
		push @violations, "$file: nothing like $like" unless defined $found;
		return $found // '';
	};
	my %said = (
		name => {
			'META.json'      => $first->('META.json',      qr/^\s*"name":\s*"([^"]*)"/),
			'debian/control' => $first->('debian/control', qr/^Source: (.*)/),
		},
		description => {
			'META.json'         => $first->('META.json',         qr/^\s*"abstract":\s*"([^"]*)"/),
			'debian/control'    => $first->('debian/control',    qr/^Description: (.*)/),
			'hashgraph.control' => $first->('hashgraph.control', qr/^comment\s*=\s*'([^']*)'/),
		},
		maintainer => {
			'META.json'        => $first->('META.json',        qr/^\s*"maintainer":\s*\[?\s*"([^"<]*?)\s*(?:<[^">]*>)?"/),
			'debian/control'   => $first->('debian/control',   qr/^Maintainer: (.*?) </),
			'debian/changelog' => $first->('debian/changelog', qr/^ -- (.*?) </),
		});
	for my $what (sort keys %said)
	{
		my %of = %{ $said{$what} };
		push @violations, map { "$_: $what \"$of{$_}\", in META.json \"$of{'META.json'}\"" }
		  grep { $of{$_} ne $of{'META.json'} } sort keys %of;
	}
	push @violations, map { "$_->[0]:$_->[1]: $_->[2]" }
	  matching_lines(qr{^(?:META\.json|hashgraph\.control|debian/(?:control(?:\.in)?|changelog))$}, qr{\bexample\.(?:org|com|net)\b|\@localhost\b});
	return (undef, @violations);
}

sub check_links
{
	my @violations;
	my %anchors;
	for my $line (matching_lines(qr{\.md$}, qr{\]\(}))
	{
		my ($file, $number, $text) = @$line;
		while ($text =~ /\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)
		{
			my ($target, $anchor) = ($1, $2);
			next if $target =~ m{^[a-z]+:};
			my $path = $target eq '' ? $file : normalise(dirname($file) . "/$target");
			if (!-e "$root/$path")
			{
				push @violations, "$file:$number: $target";
			}
			elsif (defined $anchor && $lines{$path})
			{
				$anchors{$path} //= { map { $_ => 1 } anchors($path) };
				push @violations, "$file:$number: $target#$anchor" unless $anchors{$path}{$anchor};
			}
		}
	}
	return (undef, @violations);
}

# What headings of a page are called in links, as hosts of repositories do it: the text in lower case, without
# punctuation, and a number behind the ones that come again.
sub anchors
{
	my ($file) = @_;
	my ($in_code, %seen, @found);
	for my $text (@{ $lines{$file} })
	{
		$in_code = !$in_code if $text =~ /^```/;
		next unless !$in_code && $text =~ /^#{1,6}\s+(.*?)\s*$/;
		my $name = lc($1 =~ s/\[([^\]]*)\]\([^)]*\)/$1/gr);
		$name =~ s/[^\w\s-]//g;
		$name =~ s/\s/-/g;
		push @found, $seen{$name}++ ? "$name-" . ($seen{$name} - 1) : $name;
	}
	return @found;
}

# Of two files that are linked into one program, one stands above the other: calls (and uses of data)
# run down.  What the objects say counts, and not the includes.
sub check_circles
{
	my @violations;
	my $built = 0;
	for my $folder ('src', 'cuda')
	{
		# an object without its source is of a file that is gone
		my @objects = grep { -e } map { "$root/" . s/\.cu?$/.o/r } grep { m{^$folder/.*\.cu?$} } @files;
		$built += @objects;
		push @violations, circles(called_objects(@objects));
	}
	return ($built ? undef : 'nothing is built', @violations);
}

# object => { object that it calls => a symbol that it takes from there }
sub called_objects
{
	my @objects = @_;
	my (%defined_in, %wanted_by, %called);
	for my $object (@objects)
	{
		$called{$object} = {};
		open my $nm, '-|', 'nm', $object or die "nm: $!";
		while (my $line = <$nm>)
		{
			if ($line =~ /\s[TDBRVWC]\s(\S+)$/) { $defined_in{$1} //= $object; }
			elsif ($line =~ /\sU\s(\S+)$/) { push @{ $wanted_by{$1} }, $object; }
		}
		close $nm;
	}
	for my $symbol (sort keys %wanted_by)
	{
		my $to = $defined_in{$symbol} // next;
		$called{$_}{$to} //= $symbol for grep { $_ ne $to } @{ $wanted_by{$symbol} };
	}
	return \%called;
}

# A line for each circle: strongly connected objects (Tarjan's algorithm), and what ties them.
sub circles
{
	my ($called) = @_;
	my (%index, %low, %on_stack, @stack, @found);
	my $visit;
	$visit = sub {
		my ($object) = @_;
		$index{$object} = $low{$object} = keys %index;
		$on_stack{$object} = 1;
		push @stack, $object;
		for my $next (sort keys %{ $called->{$object} })
		{
			$visit->($next) unless exists $index{$next};
			$low{$object} = $low{$next} if $on_stack{$next} && $low{$next} < $low{$object};
		}
		return if $low{$object} != $index{$object};
		my @circle;
		do
		{
			push @circle, pop @stack;
			delete $on_stack{ $circle[-1] };
		} while ($circle[-1] ne $object);
		push @found, [ sort @circle ] if @circle > 1;
	};
	exists $index{$_} or $visit->($_) for sort keys %$called;

	return map {
		my %in = map { $_ => 1 } @$_;
		map {
			my $from = $_;
			map { substr($from, length($root) + 1) . ": calls " . substr($_, length($root) + 1) . ": $called->{$from}{$_}" }
			  grep { $in{$_} } sort keys %{ $called->{$from} }
		} @$_
	} @found;
}

sub check_libraries
{
	my $library = $ENV{HG_LINT_LIBRARY} // "$root/hashgraph.so";
	return ("$library is not built") unless -e $library;
	open my $ldd, '-|', 'ldd', $library or return ('no ldd here');
	my @violations;
	while (my $line = <$ldd>)
	{
		next if $line =~ m{linux-vdso\.so|\blibc\.so\.6\b|/ld-linux|\bstatically linked\b};
		chomp $line;
		$line =~ s/^\s+|\s+\(0x.*//g;
		push @violations, "hashgraph.so: $line";
	}
	close $ldd;
	return (undef, @violations);
}

# What HG_DEBUG=1 links in (test/fault) must not be in a build for users.
sub check_faults
{
	my $library = $ENV{HG_LINT_LIBRARY} // "$root/hashgraph.so";
	open my $in, '<:raw', $library or return ("$library is not built");
	local $/;
	my $contents = <$in>;
	return ('built with HG_DEBUG=1') if $ENV{HG_DEBUG};
	return (undef, map { "hashgraph.so: $_" } grep { index($contents, $_) >= 0 } qw(inject_fault hg_fault watch_interrupts));
}
