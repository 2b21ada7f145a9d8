#!/usr/bin/perl
#
# hg_lint_selftest.pl
#     Break each rule of hg_lint.pl on purpose, and see that it notices.
#
# A small tree that keeps every rule is written to a temporary directory.  Each
# case changes one file of it and names the rule that must fail, and what the
# diagnostics must mention; no other rule may fail.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);

my $lint = dirname(__FILE__) . '/hg_lint.pl';

sub source
{
	my ($name, @body) = @_;
	return join "\n", "/*" . '-' x 20, " *", " * $name", " *\t  A file.", " *", " */", @body, '';
}

sub include
{
	return '#include ' . shift;
}

# A META.json, with some of its lines replaced.
sub meta
{
	my %changed = @_;
	my %lines = (
		name        => '"hashgraph"',
		abstract    => '"joins"',
		version     => '"0.1.0"',
		maintainer  => '["somebody"]',
		license     => '"postgresql"',
		provides    => '{"hashgraph": {"file": "sql/hashgraph--0.1.0.sql", "version": "0.1.0"}}',
		prereqs     => '{"runtime": {"requires": {"PostgreSQL": ">= 15.0.0, < 20.0.0", "plpgsql": 0}}}',
		'meta-spec' => '{"version": "1.0.0"}',
		%changed);
	return "{\n" . join(",\n", map { qq("$_": $lines{$_}) } grep { defined $lines{$_} } sort keys %lines) . "\n}\n";
}

sub control
{
	my ($major, $maintainer) = @_;
	$maintainer //= 'somebody <x@it.invalid>';
	return "Source: hashgraph\nMaintainer: $maintainer\n\nPackage: postgresql-$major-hashgraph\nDescription: joins\n";
}

my %clean = (
	'src/hashgraph.c'           => source('hashgraph.c', include('"planner/hg_plan.h"')),
	'src/hg_guc.c'              => source('hg_guc.c', include('"hg_guc.h"'),
		'DefineCustomBoolVariable("hashgraph.enabled", "A", NULL, &hg_enabled, true, 0);'),
	'src/hg_guc.h'              => source('hg_guc.h'),
	'src/hg_compat.h'           => source('hg_compat.h', '#if PG_VERSION_' . 'NUM >= 170000', '#endif'),
	'src/planner/hg_plan.h'     => source('hg_plan.h', include('"executor/join/hg_node.h"')),
	'src/executor/join/hg_node.h' => source('hg_node.h', include('"hg_compat.h"')),
	'src/loader/hg_loader.h'    => source('hg_loader.h'),
	'src/backend/matcher/hg_matcher.h'  => source('hg_matcher.h', include('"engine/hg_engine.h"')),
	'src/engine/hg_engine.h'    => source('hg_engine.h', include('<stdint.h>')),
	'src/engine/cpu/hg_cpu.h'   => source('hg_cpu.h', include('"../hg_engine.h"')),
	'src/engine/wire/hg_wire.h' => source('hg_wire.h', include('"../hg_engine.h"')),
	'cuda/kernels/hg_build.cu'          => source('hg_build.cu', include('"engine/hg_engine.h"'),
		include('<cub/cub.cuh>'), 'hg_cuda_launch<hg_build_kernel>();'),
	'cuda/device/hg_cuda_launch.h'     => source('hg_cuda_launch.h', 'cudaLaunchKernel(kernel);'),
	'sql/hashgraph--0.1.0.sql' => "SELECT hashgraph_check_library('0.1.0');\nCREATE FUNCTION hashgraph_version()\n",
	'sql/topic.sql'            => "select 1;\n",
	'expected/topic.out'       => "select 1;\n",
	'hashgraph.control'        => "comment = 'joins'\ndefault_version = '0.1.0'\n",
	'META.json'                => meta(),
	'CHANGELOG.md'             => "## 0.1.0\n",
	'README.md'                => "# It\n\n[changes](CHANGELOG.md#010) [here](#it) [settings](docs/reference/settings.md)\n",
	'debian/changelog'         => "hashgraph (0.1.0~dev-1) UNRELEASED; urgency=medium\n -- somebody <x\@it.invalid>  now\n",
	'debian/control.in'        => control('PGVERSION'),
	'debian/control'           => control('18'),
	'docs/reference/settings.md' => "| `hashgraph.enabled` | on | |\n",
	'docs/reference/functions.md' => "hashgraph_version\n",
	'docs/reference/reasons.md' => "`device N is gone`\n",
	'src/backend/hg_memory.h'  => source('hg_memory.h', 'hg_error_set(error, HG_DEVICE_FAILED, NULL, "device %d is gone", 1);'),);

# name, file, what is added to it (or its new contents as a reference; or object files to be
# compiled from what a hash holds), rule, diagnostic, another rule that breaks with it
my @cases = (
	[ 'an include that points up', 'src/executor/join/hg_node.h', include('"planner/hg_plan.h"'),
		'includes point down', 'executor/join must not include planner' ],
	[ 'the engine including the CPU backend', 'src/engine/hg_engine.h', include('"cpu/hg_cpu.h"'),
		'includes point down', 'engine must not include engine/cpu' ],
	[ 'the CPU backend including the wire', 'src/engine/cpu/hg_cpu.h', include('"../wire/hg_wire.h"'),
		'includes point down', 'engine/cpu must not include engine/wire' ],
	[ 'settings including a room', 'src/hg_guc.h', include('"planner/hg_plan.h"'),
		'includes point down', 'common must not include planner' ],
	[ 'postgres.h in the engine', 'src/engine/hg_engine.h', include('"postgres.h"'),
		'the engine includes', 'postgres.h' ],
	[ 'a PostgreSQL header in cuda/', 'cuda/kernels/hg_build.cu', include('"utils/memutils.h"'),
		'cuda/ includes', 'memutils.h' ],
	[ 'cuda/ including the backend', 'cuda/kernels/hg_build.cu', include('"backend/matcher/hg_matcher.h"'),
		'cuda/ includes', 'hg_matcher.h' ],
	[ 'a kernel launch in src/', 'src/backend/matcher/hg_matcher.h', 'f<<' . '<1, 1>>>();',
		'CUDA stays', 'hg_matcher.h:' ],
	[ 'a kernel launch beside the helper', 'cuda/kernels/hg_build.cu', 'hg_build_kernel<<' . '<1, 1>>>();',
		'kernels are launched', 'hg_build.cu:' ],
	[ 'shared memory for one launch', 'cuda/kernels/hg_build.cu', 'cudaFuncSet' . 'Attribute(kernel, 8, 65536);',
		'kernels are launched', 'hg_build.cu:' ],
	[ 'a CUDA header in src/', 'src/backend/matcher/hg_matcher.h', include('<cuda_runtime.h>'),
		'CUDA stays', 'cuda_runtime' ],
	[ 'a version test outside hg_compat.h', 'src/executor/join/hg_node.h', '#if PG_VERSION_' . 'NUM < 160000',
		'PostgreSQL versions', 'hg_node.h:' ],
	[ 'a scan of a heap that is looked into elsewhere', 'src/batch/hg_scan.c',
		\source('hg_scan.c', 'scan->rs_cindex++;'), "the state of core's heap scans", 'src/batch/hg_scan.c:' ],
	[ 'a look at the visibility map elsewhere', 'src/batch/hg_scan.c',
		\source('hg_scan.c', include('"access/visibilitymap.h"')), 'the visibility map', 'src/batch/hg_scan.c:' ],
	[ 'an extension of the visibility map', 'src/resident/hg_resident_map.c',
		\source('hg_resident_map.c', include('"access/visibilitymap.h"'), "\tvisibilitymap_pin(rel, block, &map);"),
		'the visibility map', 'src/resident/hg_resident_map.c:8: ' ],
	[ 'memory of residents allocated elsewhere', 'src/loader/hg_loader.c',
		\source('hg_loader.c', "\tdsa_allocate0(area, 8);"), 'the area of residents', 'src/loader/hg_loader.c:' ],
	[ 'the room of residents including the scans', 'src/resident/hg_resident.h',
		\source('hg_resident.h', include('"loader/hg_loader.h"')), 'includes point down', 'resident must not include loader' ],
	[ 'a cost outside the table', 'src/loader/hg_loader.h', "#define HG_LOADED_ROW_NS (4.0)", 'costs stand', 'hg_loader.h:' ],
	[ 'a misnamed file', 'src/batch/scan.c', \source('scan.c'), 'files are named', 'src/batch/scan.c' ],
	[ 'a file outside the rooms', 'src/misc/hg_misc.c', \source('hg_misc.c'),
		'files are named', 'src/misc/hg_misc.c' ],
	[ 'a file with another name in its header', 'src/batch/hg_scan.c', \source('hg_copy.c'),
		'files of C and CUDA', 'src/batch/hg_scan.c' ],
	[ 'a function that is too long', 'src/batch/hg_scan.c', \source('hg_scan.c', 'static void', 'hg_scan(void)', '{', ("\thg_scan_more();") x 90, '}'),
		'functions are short', 'src/batch/hg_scan.c:' ],
	[ 'something left to be done', 'src/executor/join/hg_node.h', '/* TO' . 'DO: more */',
		'nothing is left', 'hg_node.h:' ],
	[ 'a test that sleeps', 'test/t/join_slow.pl', 'us' . 'leep(300_000);', 'tests wait for states', 'join_slow.pl:' ],
	[ 'a test that looks at a clock', 'test/t/join_slow.pl', 'use Time::Hi' . 'Res;', 'tests wait for states', 'join_slow.pl:' ],
	[ 'a torn comment', 'src/executor/join/hg_node.h', " * This goes on\n *below, where it was broken.", 'comments are in one', 'hg_node.h:' ],
	[ 'a contract that asks', 'src/executor/join/hg_node.h', "/*\n * Is the node\n * ready?\n */", 'comments of headers', 'hg_node.h:' ],
	[ 'a comment that continues another', 'src/executor/join/hg_node.h', '/* ... and of its children */', 'comments of headers', 'hg_node.h:' ],
	[ 'a name with a retired word', 'src/executor/join/hg_node.h', 'extern int hg_node_patience(void);', 'no name of src/', 'hg_node_patience' ],
	[ 'a type with a retired word', 'src/executor/join/hg_node.h', 'typedef struct HgTeam HgTeam;', 'no name of src/', 'HgTeam' ],
	[ 'code switched off', 'src/executor/join/hg_node.h', '#' . 'if 0', 'nothing is left', 'hg_node.h:' ],
	[ 'a setting that is not documented', 'src/hg_guc.c', 'DefineCustomIntVariable("hashgraph.bins", "B", NULL, &hg_bins, 0, 0);',
		'the settings', 'hashgraph.bins is declared' ],
	[ 'a setting that is documented only', 'docs/reference/settings.md', '| `hashgraph.force` | off | |',
		'the settings', 'hashgraph.force is in docs/reference/settings.md' ],
	[ 'a setting with another default', 'docs/reference/settings.md',
		\"| `hashgraph.enabled` | off | |\n", 'the settings', 'has default on' ],
	[ 'a reason that nobody explains', 'src/executor/join/hg_node.h',
		'hg_error_set(error, HG_UNAVAILABLE, why(detail, 7), "the device is " "away", 1);',
		'every reason', 'src/executor/join/hg_node.h: the device is away' ],
	[ 'another one', 'src/executor/join/hg_node.h', 'why_not = "it is full";', 'every reason', 'it is full' ],
	[ 'a third one', 'src/executor/join/hg_node.c',
		\source('hg_node.c', 'const char *', 'hg_resident_reason_text(int reason)', '{', "\treturn \"it is new\";", '}'),
		'every reason', 'src/executor/join/hg_node.c: it is new' ],
	[ 'a README that takes longer', 'README.md', "\n" x 250, 'README.md is read', 'README.md: 254 lines' ],
	[ 'a function that is not documented', 'sql/hashgraph--0.1.0.sql', 'CREATE FUNCTION hashgraph_more()',
		'every SQL object', 'hashgraph_more' ],
	[ 'a topic without expected output', 'sql/other.sql', \"select 2;\n",
		'every regression topic', 'sql/other.sql' ],
	[ 'expected output without a topic', 'expected/other.out', \"select 2;\n",
		'every regression topic', 'expected/other.out' ],
	[ 'another version', 'META.json', \meta(version => '"0.2.0"'), 'the version', 'META.json' ],
	[ 'a script for any library', 'sql/hashgraph--0.0.1--0.1.0.sql', "SELECT hashgraph_check_library('0.0.1');",
		'the version', 'sql/hashgraph--0.0.1--0.1.0.sql: does not look' ],
	[ 'a META.json that is none', 'META.json', ',', 'META.json is', 'META.json: no JSON' ],
	[ 'a field that is missing', 'META.json', \meta(license => undef), 'META.json is', 'META.json: license: missing' ],
	[ 'a field that is nobody\'s', 'META.json', \meta(licence => '"x"'), 'META.json is', 'META.json: licence: no such field' ],
	[ 'a licence that is none', 'META.json', \meta(license => '"mine"'), 'META.json is', 'META.json: license: "mine"' ],
	[ 'a version that is none', 'META.json', \meta(provides => '{"hashgraph": {"file": "README.md", "version": "0.1"}}'),
		'META.json is', 'META.json: provides/hashgraph/version: "0.1"', 'the version' ],
	[ 'a prerequisite of no version', 'META.json', \meta(prereqs => '{"runtime": {"requires": {"PostgreSQL": "15"}}}'),
		'META.json is', 'META.json: prereqs/runtime/requires/PostgreSQL: "15"' ],
	[ 'a prerequisite of no phase', 'META.json', \meta(prereqs => '{"later": {"requires": {"PostgreSQL": 0}}}'),
		'META.json is', 'META.json: prereqs/later: "later"' ],
	[ 'a release of no status', 'META.json', \meta(release_status => '"good"'), 'META.json is', 'META.json: release_status: "good"' ],
	[ 'a script that is not there', 'META.json', \meta(provides => '{"hashgraph": {"file": "sql/it.sql", "version": "0.1.0"}}'),
		'META.json is', 'META.json: provides/hashgraph/file: there is no sql/it.sql' ],
	[ 'packages of another version', 'debian/changelog',
		\"hashgraph (0.2.0-1) unstable; urgency=medium\n -- somebody <x\@it.invalid>  now\n",
		'the version', 'debian/changelog: version 0.2.0-1' ],
	[ 'packages that their template does not know', 'debian/control', 'Package: hashgraph-more',
		'debian/control follows', 'debian/control: ' ],
	[ 'another description', 'META.json', \meta(abstract => '"Joins"'), 'the name, description',
		'debian/control: description "joins", in META.json "Joins"' ],
	[ 'another maintainer', 'META.json', \meta(maintainer => '["nobody"]'), 'the name, description',
		'debian/changelog: maintainer "somebody", in META.json "nobody"' ],
	[ 'an address of nobody', 'debian/changelog',
		\"hashgraph (0.1.0-1) unstable; urgency=medium\n -- somebody <x\@example.org>  now\n", 'the name, description',
		'debian/changelog:2' ],
	[ 'a link to nowhere', 'README.md', '[more](docs/more.md)', 'links between', 'docs/more.md' ],
	[ 'a link to a heading that is not there', 'README.md', '[more](CHANGELOG.md#020)', 'links between', 'CHANGELOG.md#020' ],
	[ 'a link to no heading of the page', 'README.md', '[more](#more)', 'links between', '#more' ],
	[ 'two object files that call each other', 'src/executor/join/hg_above.o',
		{
			'src/executor/join/hg_above' => source('hg_above.c', 'void hg_below(void);', 'void hg_above(void) { hg_below(); }'),
			'src/executor/join/hg_below' => source('hg_below.c', 'void hg_above(void);', 'void hg_below(void) { hg_above(); }'),
		},
		'no object files', 'src/executor/join/hg_below.o: calls src/executor/join/hg_above.o: hg_above' ],
	[ 'a library that needs more than the C library', 'hashgraph.so', undef,
		'hashgraph.so needs', 'hashgraph.so: ' ],
	[ 'a library with faults to be injected', 'faults.so', 'hashgraph.inject_fault',
		'hashgraph.so holds', 'hashgraph.so: inject_fault' ],);

print "1..", @cases + 1, "\n";
my $number = 0;
my $bad    = 0;

sub report
{
	my ($good, $name, @notes) = @_;
	$number++;
	$bad++ unless $good;
	print $good ? 'ok' : 'not ok', " $number - $name\n";
	print "# $_\n" for $good ? () : @notes;
}

sub write_tree
{
	my ($change, $contents) = @_;
	my $root = tempdir(CLEANUP => 1);
	my %tree = (%clean);
	if (ref $contents eq 'HASH') { compile($root, $contents); }
	elsif (ref $contents) { $tree{$change} = $$contents; }
	elsif (defined $contents) { $tree{$change} .= "$contents\n"; }
	for my $file (keys %tree)
	{
		make_path(dirname("$root/$file"));
		open my $out, '>', "$root/$file" or die "$root/$file: $!";
		print $out $tree{$file};
		close $out;
	}
	return $root;
}

# Write sources of C, by their names without ending, and the object files of them.
sub compile
{
	my ($root, $sources) = @_;

	for my $name (keys %$sources)
	{
		make_path(dirname("$root/$name"));
		open my $out, '>', "$root/$name.c" or die "$root/$name.c: $!";
		print $out $sources->{$name};
		close $out;
		system('cc', '-c', '-o', "$root/$name.o", "$root/$name.c") == 0 or die "cc failed";
	}
	return;
}

# A library of this system that links against more than libc: Perl's interpreter or its
# own program will do.
sub other_library
{
	return $^X;
}

{
	my $root   = write_tree();
	my @output = qx{$^X '$lint' '$root' 2>&1};
	report($? == 0 && !scalar(grep { /^not ok/ } @output), 'a clean tree keeps every rule', @output);
}

for my $case (@cases)
{
	my ($name, $file, $contents, $rule, $note, $also) = @$case;
	my $root = write_tree($file, $contents);
	local $ENV{HG_LINT_LIBRARY} =
	  $file eq 'hashgraph.so' ? other_library() : $file =~ /\.so$/ ? "$root/$file" : "$root/none.so";
	local $ENV{HG_DEBUG};
	my @output = qx{$^X '$lint' '$root' 2>&1};
	my @broken = grep { /^not ok/ } @output;
	report(
		$? != 0
		  && @broken == (defined $also ? 2 : 1)
		  && scalar(grep { /^not ok \d+ - \Q$rule\E/ } @broken)
		  && (!defined $also || scalar(grep { /^not ok \d+ - \Q$also\E/ } @broken))
		  && scalar(grep { /^# .*\Q$note\E/ } @output),
		"$name is noticed",
		map { s/\n//r } @output);
}
exit($bad ? 1 : 0);
