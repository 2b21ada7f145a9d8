# The benchmarks run, on few rows: results agree, what they write can be read, pictures show what is in it, and a race
# that somebody cheats in is called off.
#
# Takes long: it begins before others.
# Nightly: it tests the benchmarks, which no user of the extension needs.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use JSON::PP ();
use List::Util qw(min sum);
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $bench = "$FindBin::Bin/../bench";
my $node = new_server('bench', conf => "fsync = off\nhashgraph.resident_memory = 64MB\n");
my $out = PostgreSQL::Test::Utils::tempdir();

local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
delete local @ENV{qw(PGDATABASE PGOPTIONS NODE_PATH)};

# Run a benchmark: what it printed.
sub bench_ok
{
	my ($name, @command) = @_;
	my ($stdout, $stderr) = run_command([@command]);

	is($stderr, '', "$name complains of nothing");
	return $stdout;
}

sub json_of
{
	my ($file) = @_;

	return eval { JSON::PP->new->decode(slurp_file($file)) };
}

# Is this text one well-formed element, as far as our SVG goes: no comments, no CDATA?
sub well_formed
{
	my ($text) = @_;
	my @open;
	my $roots = 0;

	$text =~ s/\A<\?xml [^?]*\?>\s*// or return 0;
	while ($text =~ /\G(?:<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<&]*")*)(\/?)>|([^<&>]|&(?:amp|lt|gt|quot);)+)/gc)
	{
		my ($close, $name, undef, $empty) = ($1, $2, $3, $4);
		next unless defined $name;
		$roots++ if !$close && !@open;
		if ($close) { return 0 unless @open && pop(@open) eq $name; }
		elsif (!$empty) { push @open, $name; }
	}
	return (pos($text) // 0) == length $text && !@open && $roots == 1;
}

# The texts of an SVG of ours: [ text, left, right, top, bottom ], as wide as they are in the narrower of its fonts, but for
# those that are turned.
sub texts_of
{
	my ($svg) = @_;
	my @texts;

	while ($svg =~ /<text x="([\d.-]+)" y="([\d.-]+)"([^>]*)>([^<]*)</g)
	{
		my ($x, $y, $style, $text) = ($1, $2, $3, $4);
		$text =~ s/&\w+;/x/g;
		my $size = $style =~ /font-size="(\d+)"/ ? $1 : 13;
		my $wide = 0.5 * $size * length $text;
		my $left = $style =~ /anchor="end"/ ? $x - $wide : $style =~ /anchor="middle"/ ? $x - $wide / 2 : $x;
		push @texts, [ $text, $left, $left + $wide, $y - 0.7 * $size, $y ] unless $style =~ /rotate/;
	}
	return @texts;
}

# A picture is one if it can be read as XML, asks for nothing from elsewhere, and its texts lie beside each other and on the page.
sub picture_ok
{
	my ($svg, $name) = @_;
	my @texts = texts_of($svg);
	my ($wide, $high) = $svg =~ /viewBox="0 0 (\d+) (\d+)"/;
	my @wrong = map { "$_->[0] is not on the page" } grep { $_->[1] < 0 || $_->[2] > $wide || $_->[3] < 0 || $_->[4] > $high } @texts;

	foreach my $i (0 .. $#texts)
	{
		foreach my $j (0 .. $i - 1)
		{
			my ($one, $other) = @texts[ $i, $j ];
			push @wrong, "$one->[0] and $other->[0] overlap"
			  if $one->[1] < $other->[2] && $other->[1] < $one->[2] && $one->[3] < $other->[4] && $other->[3] < $one->[4];
		}
	}
	ok(well_formed($svg) && $svg !~ /<script|href|url\(|\@import|\@font-face/, "$name is an SVG that needs nothing else");
	is_deeply(\@wrong, [], '... whose texts can be read');
	return;
}

sub plot_fails
{
	my ($like, $name, @arguments) = @_;
	my ($stdout, $stderr) = run_command([ "$bench/plot", @arguments ]);

	is($stdout, '', "$name: nothing is drawn");
	like($stderr, qr/\Aplot: $like.*^HINT:  ./ms, '... and it is said why, and what to do');
	return;
}

ok(well_formed('<?xml version="1.0"?><a b="c"><d/>x &amp; y</a>'), 'well-formed XML is told');
ok(!well_formed($_), "... from $_")
  foreach '<?xml version="1.0"?><a><b></a></b>', '<?xml version="1.0"?><a>', '<?xml version="1.0"?><a>x & y</a>';

# ------------------------------------------------------------------ joins and TPC-H's queries

my $printed = bench_ok('run', "$bench/run", qw(--rows 10000 --runs 1 --duckdb no --tpch 0.01 --check),
	'--json', "$out/run.json", '--svg', $out);
like($printed, qr/^count +\d+ +\d+ +[\d.]+x/m, 'figures are printed');
my $report = json_of("$out/run.json");
ok($report, 'the figures are JSON');
my @names = map { $_->{name} } @{ $report->{queries} };
cmp_ok(scalar @names, '>=', 18, 'there are all queries of the catalogue');
is_deeply([ grep { !defined $_->{result} || $_->{result} eq '' } @{ $report->{queries} } ], [], '... with results');
is_deeply(
	[ grep { my $times = $_->{times}; grep { !($times->{$_}{median_ms} > 0) } qw(postgresql cpu) } @{ $report->{queries} } ],
	[], '... and times of both');
my ($count) = grep { $_->{name} eq 'count' } @{ $report->{queries} };
is($count->{result}, '(10000)', '... which are right');
is(scalar @{ $report->{tpch}{queries} }, 22, 'there are 22 queries like TPC-H\'s');
is_deeply([ map { $_->{name} } grep { !defined $_->{result} } @{ $report->{tpch}{queries} } ],
	[], '... none of which finds nothing');
ok($report->{machine}{cpu} && $report->{machine}{cores} && $report->{machine}{memory_kb} && $report->{versions}{postgresql}
	  && $report->{settings}{work_mem} eq '2GB', 'machine, versions and settings are told');
my @some = (qw(--rows 2000 --runs 1 --duckdb no --residents), '--json', "$out/some.json");
my $some = bench_ok('run', "$bench/run", @some, qw(--phases --query count@1 --query dimension@0));
plot_phases();
my $phases = qr/ +cpu .* scan [\d.]+, .* match [\d.]+, rest .*\n/;
like($some, qr/^count\@1 .*\n$phases${phases}dimension\@0 .*\n$phases$phases/m, 'chosen queries show phases');
my @chosen = @{ json_of("$out/some.json")->{queries} };
is(join(' ', map { "$_->{name} $_->{workers}" } @chosen), 'count@1 1 dimension@0 0', '... with the workers asked for');
is_deeply([ map { map { $_ // 'none' } map { $_->{served} } @{ $_->{times} }{qw(postgresql cpu cpu_resident)} } @chosen ],
	[ ('none', 'none', 1) x 2 ], '... from tables, and from resident columns');
unlike($some, qr/served/, '... all of whose blocks are served');
$some = bench_ok('run as PostgreSQL comes', "$bench/run", @some, qw(--stock --query count --settings hashgraph.min_rows=0;enable_mergejoin=off));
like($some, qr/^count +\d+ +\d+ +[\d.]+x +[\d.]+\* +\d+ +[\d.]+x +[\d.]+\*$/m, '... takes what the planner chooses');
is(json_of("$out/some.json")->{settings}{work_mem}, '4MB', '... with the server\'s own settings');
$some = bench_ok('run, keys far apart', "$bench/run", @some, '--query', 'far keys, count', '--query', 'far keys, 1 %');
like($some, qr/^far keys, count +[^(\n]*\nfar keys, 1 % new .* \(\d+ % served\)/m, '... from HashGraphs that stay, and beside rows that are changed then');
SKIP:
{
	# a device is given copies, if only a stand-in
	my $standin = standin_program() // skip('the stand-in was not built', 5);
	my $kept = new_server('kept', conf => <<CONF);
fsync = off
hashgraph.resident_memory = 64MB
hashgraph.backend = 'auto'
hashgraph.device_program = '$standin'
CONF
	local @ENV{qw(PGHOST PGPORT)} = ($kept->host, $kept->port);

	$some = bench_ok('run, with copies on a device', "$bench/run", @some, qw(--rows 30000 --keep --backends auto), '--query', 'far keys, groups', '--query', 'far keys, 0.01');
	like($some, qr/^far keys, 0\.01 % new .* \(\d+ % served\)/m, '... beside rows far from each other that are changed');
	is(join(' ', sort keys %{ json_of("$out/some.json")->{queries}[0]{times} }), 'auto auto_resident postgresql', '... measures all');
	is($kept->safe_psql('hashgraph_bench', "select string_agg(distinct location, ' ') from hashgraph_resident where kind = 'graph'"), 'both',
		'... when the device has the graphs');
	cmp_ok($kept->safe_psql('hashgraph_bench', 'select sum(kept_graphs) from hashgraph_devices()'), '>', 4,
		'... and columns that are asked for beside these four');
	$kept->stop;
}
my (undef, $unknown) = run_command([ "$bench/run", qw(--query cuont) ]);
like($unknown, qr/there is no query named cuont/, 'a query that there is not is an error');
picture_ok(slurp_file("$out/$_.svg"), $_) foreach 'rows-over-size', 'rows-over-multiplicity';
plot_fails(qr/\S+ has no phases$/m, 'a run without --phases', 'phases', "$out/run.json");
bench_ok('plot times', "$bench/plot", 'times', "$out/some.json", "$out/times.svg");
picture_ok(slurp_file("$out/times.svg"), 'the plot of times');
is($node->safe_psql('postgres', q{select count(*) from pg_database where datname = 'hashgraph_bench'}),
	'0', 'the database is gone');

# ------------------------------------------------------------------ the cost model

$printed = bench_ok('grid', "$bench/grid", qw(--max-rows 1000 --runs 1 --bound 100000 --residents), '--json', "$out/grid.json", '--svg', "$out/grid.svg");
my $grid = json_of("$out/grid.json");
ok($grid, 'the grid is JSON');
is_deeply(
	[ grep { my $point = $_; grep { !($point->{$_}{median_ms} > 0 && $point->{$_}{cost} > 0) } qw(off pages node auto) } @{ $grid->{points} } ],
	[], 'each point has times and costs');
is_deeply([ grep { defined $_->{pages}{served} || $_->{node}{served} != 1 } @{ $grid->{points} } ], [], '... from tables and from resident columns');
cmp_ok($grid->{summary}{points}, '>=', 8, '... and there are some');
picture_ok(slurp_file("$out/grid.svg"), 'its plot');
plot_fails(qr/\S+ is not of a benchmark that tells phases$/m, 'what has no phases', 'phases', "$out/grid.json");
plot_fails(qr/\S+ is not of hg_tables$/m, 'what has no tables', 'tables', "$out/grid.json");
plot_fails(qr/\S+ has no times of queries$/m, 'what has no times', 'times', "$out/grid.json");

$printed = bench_ok('regret', "$bench/regret", qw(--scale 0.01 --runs 1 --query Q3,Q6 --under stock,alone --bound 100000 --residents),
	'--json', "$out/regret.json");
my $regret = json_of("$out/regret.json");
like($printed, qr/^Q3( +[\d.]+){4}  \w+ .*\nQ6( +[\d.]+){4}  \w+ .*\nsum /m, 'choices are printed');
$printed = bench_ok('regret from pages', "$bench/regret", qw(--scale 0.01 --runs 1 --query Q6 --under stock --bound 100000));
like($printed, qr/^Q6( +[\d.]+){2} +-  off .*\nsum /m, '... and that a query without a join has none from pages');
foreach my $under (map { $regret->{under}{$_} } qw(stock alone))
{
	my ($joins) = @{ $under->{queries} };

	cmp_ok($joins->{best_ms}, '==', (sort { $a <=> $b } @{ $joins->{ms} }{qw(off pages on forced)})[0], 'the best of them is told');
	cmp_ok(abs($joins->{regret} - $joins->{ms}{on} / $joins->{best_ms}), '<', 1e-6, '... and the regret');
}
is($regret->{under}{stock}{settings}{work_mem}, '4MB', '... and the settings');
bench_ok('regret of films', "$bench/regret", qw(--workload film --scale 0.01 --runs 1 --under stock --bound 100000),
	'--json', "$out/film.json");
my @films = @{ json_of("$out/film.json")->{under}{stock}{queries} };
is(scalar @films, 40, 'the same 40 joins of films give the same rows off, on and forced');
is_deeply([ map { $_->{name} } grep { !defined $_->{ms}{forced} } @films ], [], '... all of which can be forced');
is_deeply([ map { $_->{name} } grep { $_->{result} =~ /^\(0,/ } @films ], [], '... and none of which finds nothing');
bench_ok('regret of a star schema', "$bench/regret", qw(--workload star --scale 0.01 --runs 1 --under stock --bound 100000),
	'--json', "$out/star.json");
my @stars = @{ json_of("$out/star.json")->{under}{stock}{queries} };
is(scalar @stars, 13, 'the same 13 queries of a star schema give the same rows off, on and forced');
is_deeply([ map { $_->{name} } grep { !defined $_->{ms}{forced} } @stars ], [], '... all of which can be forced');
is_deeply([ map { $_->{name} } grep { ($_->{result} // '(0,') =~ /^\(0,/ } @stars ], [], '... and none of which finds nothing');
$printed = bench_ok('regret of three sales channels', "$bench/regret",
	qw(--workload retail --scale 0.01 --runs 1 --under stock --bound 100000 --limit 1), '--json', "$out/retail.json");
my @retail = @{ json_of("$out/retail.json")->{under}{stock}{queries} };
is(scalar @retail, 99, '99 queries over three sales channels give the same rows off, on and forced');
like($printed, qr/^sum .*\nwhole .*\nrest .*\nbest of each/m, '... and the sums of both kinds of them are printed');
(undef, $unknown) = run_command([ "$bench/regret", qw(--query Q23) ]);
like($unknown, qr/there is no query named Q23/, 'a query that there is not is an error');
(undef, $unknown) = run_command([ "$bench/regret", qw(--workload film --query Q3) ]);
like($unknown, qr/there is no query named Q3/, '... in another workload too');
(undef, $unknown) = run_command([ "$bench/regret", qw(--workload music) ]);
like($unknown, qr/^usage: /, '... and so is such a workload');

# ------------------------------------------------------------------ first joins, and many sessions

$printed = bench_ok('first_join', "$bench/first_join", qw(--rows 2000 --sessions 3 --backends auto,cpu --bar 1000), '--json', "$out/first.json");
like($printed, qr/^PostgreSQL +[\d.]+ +[\d.]+ +-?[\d.]+ *\nauto .* cpu.* 3\ncpu .* -?[\d.]+ +cpu 3\nbar: 1000 ms .* held$/m, 'first and second joins are printed');
my $first = json_of("$out/first.json");
ok($first && @{ $first->{sessions}{cpu} } == 3 && exists $first->{beyond_ms}{cpu}, 'first joins are JSON');
my ($joined, $why) = run_command([ "$bench/first_join", qw(--rows 2000 --sessions 1 --backends cuda) ]);
like("$joined$why", qr/ERROR: .*HINT:  [^\n]*hashgraph\.backend|^cuda .* cuda 1$/ms, 'first joins run on a device, or say that there is none');

my @few = qw(--sessions 3 --rows 3000 --seconds 1 --backends off,cpu,auto --settings hashgraph.force=on --ratio 0 --keep);
$printed = bench_ok('load', "$bench/load", @few, '--json', "$out/load.json");
like($printed, qr/^$_ +[1-9]\d* .* \| +0 +0 +0  /m, "sessions join under $_") foreach qw(off cpu auto);
like($printed, qr/^all as it should be$/m, '... as they should');
my $load = json_of("$out/load.json");
ok($load && @{ $load->{backends}{cpu}{ms} } == $load->{backends}{cpu}{joins}, 'what they did is JSON');
is($load->{backends}{cpu}{ran}{cpu}, $load->{backends}{cpu}{joins}, '... which tells where they ran');
$node->safe_psql('hashgraph_bench', 'update load_b2 set k = -1 where k = 2000');
($printed) = run_command([ "$bench/load", @few ]);
like($printed, qr/^FAILED: $_: \d+ wrong results: session 2: /m, "a wrong result is seen under $_") foreach qw(off cpu auto);
$node->safe_psql('postgres', 'drop database hashgraph_bench');

# ------------------------------------------------------------------ a resident table that changes

$printed = bench_ok('trickle', "$bench/trickle", qw(--rows 20000 --seconds 2 --every 1), '--json', "$out/trickle.json");
like($printed, qr/^2 joins while 2 rows were inserted into 20000: [1-9]\d* blocks served by each at least, [1-9]\d* read from the table at most/,
	'joins are served while rows are inserted');
is_deeply([ map { $_->{right} } @{ json_of("$out/trickle.json")->{joins} } ], [ 1, 1 ], '... and right');

# ------------------------------------------------------------------ several servers

SKIP:
{
	skip('postgres_fdw is not installed', 9) if $node->safe_psql('postgres', q{select count(*) from pg_available_extensions where name = 'postgres_fdw'}) eq '0';
	$printed = bench_ok('shards', "$bench/shards", qw(--rows 128000 --nodes 1,2 --runs 2 --bar 0), '--json', "$out/shards.json");
	like($printed, qr/^$_ +1( +\d+ +\d+ +[\d.]+x){2}\n(?:.*\n)*$_ +2( +\d+ +\d+ +[\d.]+x){2}$/m, "... prints times of $_ on one server and on several") foreach qw(groups rows);
	my @shards = @{ json_of("$out/shards.json")->{runs} };
	is(join(' ', map { "$_->{query} $_->{nodes}" } @shards), 'groups 1 rows 1 groups 2 rows 2', '... and JSON');
	is($shards[1]{result}, $shards[3]{result}, '... with the same results, however many servers');
	is_deeply([ grep { my $run = $_; grep { @{ $run->{times}{$_} } != 2 } qw(postgresql_one postgresql_nodes hashgraph_one hashgraph_nodes) } @shards ], [], '... and all times');
	like($shards[2]{plans}{hashgraph_nodes}, qr/Async Foreign Scan.*Async Foreign Scan/s, '... of servers that join at the same time');
	is_deeply([ glob "$ENV{TMPDIR}/hashgraph-nodes-*" ], [], 'its servers are gone');
	(undef, $why) = run_command([ "$bench/shards", qw(--rows 6400 --nodes 2 --runs 1 --bar 0) ]);
	like($why, qr/joined groups by HashGraph joins in 0 of 1 runs/, 'joins that are not ours on the other servers are an error');
}

# ------------------------------------------------------------------ sessions that join nothing

(undef, $why) = run_command([ "$bench/bystander", qw(--scale 1 --turns 1 --seconds 1) ]);
like($why, qr/the server preloads hashgraph itself/, 'a server without the library is wanted to compare with');
my $bare = new_server('bare', preload => '', conf => "fsync = off\n");
{
	local @ENV{qw(PGHOST PGPORT)} = ($bare->host, $bare->port);
	local $ENV{PGOPTIONS} = '-c session_preload_libraries=hashgraph';
	(undef, $why) = run_command([ "$bench/run", qw(--residents --rows 1000 --query count) ]);
	like($why, qr/the server has no memory for resident columns: /, 'memory for residents is wanted to measure them');
}
{
	local @ENV{qw(PGHOST PGPORT)} = ($bare->host, $bare->port);
	$printed = bench_ok('bystander', "$bench/bystander", qw(--scale 1 --turns 1 --seconds 1 --scripts select-only --clients 2 --bar 99),
		'--json', "$out/bystander.json");
}
like($printed, qr/^select-only +2 +[1-9]\d* +([\d.]+) \(\1\.\.\1\) +([\d.]+) \(\2\.\.\2\)$/m, 'throughput with the library and without is printed');
my $bystander = json_of("$out/bystander.json");
ok($bystander && @{ $bystander->{runs} } == 1, '... and JSON');
my %tps = %{ $bystander->{runs}[0]{tps} };
cmp_ok(abs($bystander->{runs}[0]{ratios}{with}{median} - $tps{with}[0] / $tps{without}[0]), '<', 1e-6, '... the ratio that of a turn');
$bare->stop;

# ------------------------------------------------------------------ tables, without a server

my ($made, $unmade) = run_command([ 'make', '-s', '-C', $bench, 'WITH_CUDA=no', "BUILD=$out/build", "$out/build/hg_tables", "$out/build/hg_bench" ]);
is("$made$unmade", '', 'the benchmarks of the engine and of tables are built');
$printed = bench_ok('hg_tables', "$out/build/hg_tables", qw(--quick --size 12), '--json', "$out/tables.json");
like($printed, qr/^unique +$_ +map +find +4096 .* yes$/m, "lookups in $_ are right") foreach qw(csr ellpack sliced_ellpack dynamic cuckoo dycuckoo);
like($printed, qr/^$_ .* yes$/m, "$_ are right") foreach 'small', 'functions +4, 4N', 'duplicates +x512', 'draws', 'batches';
unlike($printed, qr/FAILED|\bNO$/m, '... and nothing else is wrong');
my $tables = json_of("$out/tables.json");
is(scalar(grep { $_->{workload} eq 'batches' && @{ $_->{filled} } > 16 } @{ $tables->{courses} }), 6, 'how full tables were is JSON');
bench_ok('plot tables', "$bench/plot", 'tables', "$out/tables.json", $out);
picture_ok(slurp_file("$out/tables-cpu-$_.svg"), $_) foreach qw(batches duplicates);
is(scalar(() = slurp_file("$out/tables-cpu-batches.svg") =~ /<polyline/g), 6, '... with a line for each kind');
(undef, $unknown) = run_command([ "$out/build/hg_tables", qw(--kind quadratic) ]);
like($unknown, qr/unknown kind "quadratic"/, 'a kind that there is not is said');

$printed = bench_ok('hg_bench', "$out/build/hg_bench", qw(--scale 12 --repeat 1 --backend cpu --workload U25,H22), '--json', "$out/engine.json");
my @runs = @{ json_of("$out/engine.json")->{courses} };
is(join(' ', map { "$_->{workload} $_->{pairs} " . ($_->{verified} ? 'yes' : 'no') } @runs),
	join(' ', map { /^(U25|H22) +cpu +\d+ +\d+ +(\d+) .* (yes) / ? "$1 $2 $3" : () } split /\n/, $printed), 'what it prints is JSON');
bench_ok('plot phases of the engine', "$bench/plot", 'phases', "$out/engine.json", "$out/engine.svg");
picture_ok(slurp_file("$out/engine.svg"), 'the plot');
is_deeply([ parts_of(slurp_file("$out/engine.svg")) ], [ 100, 100 ], '... has a bar for each workload, of all that it took');

# what GPUs do together, as hg_bench --gpus writes it
my @scaling = map { my $gpus = $_; map { { what => $_, gpus => $gpus, order => 'random', duplicates => 1, rows => 1000 * $gpus,
	total_ms => $gpus == 1 ? 10 : 12, verified => JSON::PP::true, steps_ms => {} } } qw(build join) } 1, 2;
append_to_file("$out/gpus.json", JSON::PP::encode_json({ benchmark => 'hashgraph engine', runs => 1, courses => \@scaling }));
bench_ok('plot gpus', "$bench/plot", 'gpus', "$out/gpus.json", "$out/gpus.svg");
picture_ok(slurp_file("$out/gpus.svg"), 'of GPUs that work together');
is(scalar(() = slurp_file("$out/gpus.svg") =~ /<polyline/g), 3, '... a line for builds, one for joins, and what would be linear');
plot_fails(qr/\S+ has nothing that GPUs did together$/m, 'what one GPU did', 'gpus', "$out/engine.json");

# ------------------------------------------------------------------ pictures

# What the parts of each bar of a plot add up to, in percent, with one decimal of each.
sub parts_of
{
	my ($svg) = @_;
	my %bars;

	push @{ $bars{$1} }, $2 while $svg =~ /<rect class="part edge"[^>]* y="([\d.]+)"><title>[^<]* ([\d.]+) %</g;
	return map { my $sum = sum(@{ $bars{$_} }); abs($sum - 100) < 1 ? 100 : $sum } sort { $a <=> $b } keys %bars;
}

sub as_drawn
{
	my ($ms) = @_;

	return sprintf $ms >= 100 ? '%.0f' : '%.3g', $ms;
}

# After test/bench/run --phases, of two queries by two contestants.
sub plot_phases
{
	bench_ok('plot phases', "$bench/plot", 'phases', "$out/some.json", "$out/phases.svg");
	my $svg = slurp_file("$out/phases.svg");
	my @texts = map { $_->[0] } texts_of($svg);

	picture_ok($svg, 'the plot of phases');
	is_deeply([ parts_of($svg) ], [ (100) x 4 ], '... has a bar for each run, of all that it took');
	foreach my $query (@{ json_of("$out/some.json")->{queries} })
	{
		my ($reference, @ours) = map { $query->{times}{$_}{median_ms} } qw(postgresql cpu cpu_resident);

		is(scalar(grep { $_ eq $query->{name} } @texts), 1, "... names $query->{name}");
		like($svg, qr/<circle [^>]*><title>PostgreSQL: @{[ as_drawn($reference) ]}</, '... has PostgreSQL\'s time');
		is(scalar(grep { my $ms = as_drawn($_); grep { /^\Q$ms\E ms, [\d.]+x$/ } @texts } @ours), 2, '... and ours');
	}
	my $some = slurp_file("$out/some.json");
	append_to_file("$out/wrong.json", $some =~ s/"scan_ms" : [\d.e-]+/"scan_ms" : "<script>"/r);
	plot_fails(qr/\S+ has "<script>" where a time/, 'a time that is none', 'phases', "$out/wrong.json");
	append_to_file("$out/odd.json", $some =~ s/"cores" : \d+/"cores" : "many"/r);
	plot_fails(qr/\S+ is not as a benchmark writes it: /, 'a machine of many cores', 'phases', "$out/odd.json");
	append_to_file("$out/cut.json", substr $some, 0, length($some) / 2);
	plot_fails(qr/\S+ is not the JSON of a benchmark$/m, 'half a file', 'phases', "$out/cut.json");
	return;
}

local $ENV{PGDATABASE} = 'postgres';
plot_fails(qr/there is no kind of plot "skew"$/m, 'no kind of plot', 'skew', 'a', 'b');
plot_fails(qr/plot lists takes 2 arguments/, 'a table without a column', 'lists', 'a');
(undef, $unknown) = run_command([ "$bench/plot", 'phases', "$out/nowhere.json" ]);
like($unknown, qr/^plot: cannot read /, 'a file that there is not is said');

my $odd = q{"sk<e&w""d"};
$node->safe_psql('postgres', <<SQL);
create table $odd as select case when i <= 3000 then 7 else i end as k from generate_series(1, 6000) i;
create table differ as select i as k, null::int as nothing from generate_series(1, 20000) i;
create function many_joins() returns void language plpgsql set hashgraph.force = on as
  'begin for i in 1 .. 45 loop perform count(*) from differ a join differ b using (k) where a.k < 10; end loop; end'
SQL
bench_ok('plot lists', "$bench/plot", 'lists', $odd, 'k', "$out/lists.svg");
my $lists = slurp_file("$out/lists.svg");
picture_ok($lists, 'the plot of lists');
my @lengths = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', "select * from hashgraph_list_lengths('$odd', 'k') order by 1");
my ($columns) = $lists =~ /<g class="columns"[^>]*>(.*?)<\/g>/s;
my @columns = map { [/ height="([\d.]+)".*<title>(\d+): (\d+)</] } split /\n/, $columns =~ s/^\n//r;
is_deeply([ map { "$_->[1] $_->[2]" } @columns ], [ map { "$_->[0] $_->[1]" } @lengths ], '... has a column for each length');
my ($lowest) = map { $_->[0] } grep { $_->[2] == 1 } @columns;
my ($tallest) = sort { $b->[2] <=> $a->[2] } @columns;
my $decade = ($tallest->[0] - $lowest) / log($tallest->[2]);
is_deeply([ grep { abs($_->[0] - $lowest - $decade * log($_->[2])) > 0.2 } @columns ], [], '... as high as it has vertices, on a logarithmic axis');
my ($points) = $lists =~ /<g fill="[^"]*" fill-opacity="0.6">(.*?)<\/g>/s;
is(scalar(() = $points =~ /<circle/g), scalar(grep { $_->[2] > 0 } @lengths), '... and a point for its rows');
like($lists, qr/>Adjacency lists of &quot;sk&lt;e&amp;w&quot;&quot;d&quot;\.k</, '... under the table\'s name');
like($lists, qr/>6000 rows in .* the longest list has 300\d rows</, '... and says how long the longest is');

bench_ok('plot lists of keys that differ', "$bench/plot", qw(lists differ k), "$out/differ.svg");
my $differ = slurp_file("$out/differ.svg");
my %tops = map { /y="([\d.]+)"><title>(\d+):/ ? ($2 => $1) : () } split /\n/, $differ;
my @curve = map { (split /,/)[1] } split / /, ($differ =~ /<polyline points="([^"]*)"[^>]*dasharray/)[0];
cmp_ok(abs($tops{$_} - $curve[ $_ - 1 ]), '<', 5, "lists of $_ rows are as many as a hash makes of them") foreach 1 .. 4;
plot_fails(qr/no row of differ has a value in nothing$/m, 'a column of NULLs', qw(lists differ nothing));
plot_fails(qr/psql: ERROR:  column nix of relation \S+ does not exist/, 'no such column', qw(lists differ nix));
{
	local $ENV{PGDATABASE} = 'template1';
	plot_fails(qr/database "template1" does not have the extension$/m, 'a database without the extension', qw(lists differ k));
	local $ENV{PGHOST} = $out;
	plot_fails(qr/psql: error: connection to server/, 'no server', 'joins', 'select 1');
}

my $two_joins = "set hashgraph.force = on; select count(*) from differ a join differ b using (k) join $odd c using (k)";
bench_ok('plot joins', "$bench/plot", 'joins', $two_joins, "$out/joins.svg");
my $joins = slurp_file("$out/joins.svg");
picture_ok($joins, 'the plot of joins');
is_deeply([ parts_of($joins) ], [ 100, 100 ], '... has a bar for each join, of all that it took');
is_deeply([ map { $_->[0] =~ /^(\d+: .*, .*| *\S+ x \S+ rows, .* out)$/ ? $1 : () } texts_of($joins) ],
	[ split /\n/, $node->safe_psql('postgres', "$two_joins \\g /dev/null\n" . <<'SQL') ], '... and says which, of how many rows');
select format(E'%s: %s, %s%s\n%s x %s rows, %s out', join_number, join_type, backend, case when fallback <> '' then ', fell back' end,
  regexp_replace(outer_rows::text, '^20000$', '20k'), regexp_replace(inner_rows::text, '^20000$', '20k'),
  regexp_replace(rows_out::text, '^20000$', '20k')) from hashgraph_last_joins() order by join_number
SQL
bench_ok('plot many joins', "$bench/plot", 'joins', 'select many_joins()', "$out/joins.svg");
is(scalar(parts_of(slurp_file("$out/joins.svg"))), 40, 'of many joins those are drawn that took longest');
like(slurp_file("$out/joins.svg"), qr/>The 40 longest of its 45 joins\./, '... which is said');
plot_fails(qr/the query had no HashGraph join$/m, 'no join', 'joins', 'select 1');
(undef, $why) = run_command([ "$bench/plot", qw(joins selec) ]);
like($why, qr/^plot: psql: ERROR:  syntax error/, 'a query that is none is said');

# Lines that end in one place, and names that want to be markup.
{
	use lib "$FindBin::Bin/../bench";
	require BenchPlot;
	my @series = map { { name => "<line $_> & \"more\"", points => [ [ 1, 1 ], [ 2, 5 ] ] } } 1 .. 8;
	my $svg = BenchPlot::plot({ title => '<b>', x => { label => 'x' }, y => { label => 'y' }, series => \@series });

	picture_ok($svg, 'a plot of eight lines');
	my @colours = $svg =~ /<polyline [^>]*stroke="(#\w+)"/g;
	is(scalar @colours, 8, '... has them all');
	foreach my $eyes (['ordinary'], [ 'protan', 0.152, 1.053, -0.205, 0.115, 0.786, 0.099, -0.004, -0.048, 1.052 ],
		[ 'deutan', 0.367, 0.861, -0.228, 0.280, 0.673, 0.047, -0.012, 0.043, 0.969 ])
	{
		my @seen = map { [ lab_of($_, @$eyes[ 1 .. $#$eyes ]) ] } @colours;
		my @apart = map { my $i = $_; map { my $j = $_; sqrt(sum(map { ($seen[$i][$_] - $seen[$j][$_])**2 } 0 .. 2)) } 0 .. $i - 1 } 1 .. $#seen;

		cmp_ok(min(@apart), '>', 15, "... in colours that differ to $eyes->[0] eyes");
	}
}

# Lightness and colour of a colour, as eyes see it whose matrix (Machado, Oliveira and Fernandes, 2009) is given.
sub lab_of
{
	my ($colour, @matrix) = @_;
	my @rgb = map { my $part = hex($_) / 255; $part <= 0.04045 ? $part / 12.92 : (($part + 0.055) / 1.055)**2.4 } $colour =~ /(\w\w)/g;

	@rgb = map { my $row = $_; my $sum = sum(map { $matrix[ 3 * $row + $_ ] * $rgb[$_] } 0 .. 2); $sum < 0 ? 0 : $sum } 0 .. 2 if @matrix;
	my ($x, $y, $z) = map { $_ > 0.008856 ? $_**(1 / 3) : 7.787 * $_ + 16 / 116 } (
		(0.4124 * $rgb[0] + 0.3576 * $rgb[1] + 0.1805 * $rgb[2]) / 0.9505,
		0.2126 * $rgb[0] + 0.7152 * $rgb[1] + 0.0722 * $rgb[2],
		(0.0193 * $rgb[0] + 0.1192 * $rgb[1] + 0.9505 * $rgb[2]) / 1.089);
	return (116 * $y - 16, 500 * ($x - $y), 200 * ($y - $z));
}

# ------------------------------------------------------------------ cheating

$node->safe_psql('postgres', slurp_file("$bench/race.sql"));
$node->safe_psql('postgres', 'create table r as select i as k from generate_series(1, 1000) i; analyze r');

sub race_fails
{
	my ($query, $variants, $like, $name) = @_;
	my ($rc, $stdout, $stderr) = $node->psql('postgres', "select race(\$\$$query\$\$, '$variants', 2)");

	isnt($rc, 0, $name);
	like($stderr, $like, '... and says why');
	return;
}

my $join = 'select count(*) from r a join r b using (k)';
race_fails('select random()', '{jit=off}', qr/variant jit=off returns/, 'a result that changes is an error');
race_fails($join, '{work_mem=1MB,hashgraph.force=on;hashgraph.enabled=off}', qr/does not have a HashGraph node/,
	'so is a forced join that is not ours');
race_fails($join, '{hashgraph.enabled=on;hashgraph.force=on;application_name=hashgraph.enabled=off}',
	qr/has a HashGraph node/, 'and one of ours where it is switched off');
is($node->safe_psql('postgres', "select nodes, result from race('$join', '{hashgraph.enabled=off,hashgraph.force=on}', 1)"),
	'{f,t}|(1000)', 'a fair race is none');

done_testing();
