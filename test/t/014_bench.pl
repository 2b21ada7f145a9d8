# The benchmarks run, on few rows: results agree, what they write can be read, and a race that
# somebody cheats in is called off.
#
# Once: what is tested are programs and their harness, which ask any PostgreSQL the same.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use JSON::PP ();
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
	while ($text =~ /\G(?:<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<&]*")*)(\/?)>|([^<&>]|&(?:amp|lt|gt);)+)/gc)
	{
		my ($close, $name, undef, $empty) = ($1, $2, $3, $4);
		next unless defined $name;
		$roots++ if !$close && !@open;
		if ($close) { return 0 unless @open && pop(@open) eq $name; }
		elsif (!$empty) { push @open, $name; }
	}
	return (pos($text) // 0) == length $text && !@open && $roots == 1;
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
ok(well_formed(slurp_file($_)), "$_ is well-formed") foreach "$out/rows-over-size.svg", "$out/rows-over-multiplicity.svg";
is($node->safe_psql('postgres', q{select count(*) from pg_database where datname = 'hashgraph_bench'}),
	'0', 'the database is gone');

# ------------------------------------------------------------------ the cost model

$printed = bench_ok('grid', "$bench/grid", qw(--max-rows 100 --runs 1 --bound 100000 --residents), '--json', "$out/grid.json", '--svg', "$out/grid.svg");
my $grid = json_of("$out/grid.json");
ok($grid, 'the grid is JSON');
is_deeply(
	[ grep { my $point = $_; grep { !($point->{$_}{median_ms} > 0 && $point->{$_}{cost} > 0) } qw(off pages node auto) } @{ $grid->{points} } ],
	[], 'each point has times and costs');
is_deeply([ grep { defined $_->{pages}{served} || $_->{node}{served} != 1 } @{ $grid->{points} } ], [], '... from tables and from resident columns');
cmp_ok($grid->{summary}{points}, '>=', 8, '... and there are some');
ok(well_formed(slurp_file("$out/grid.svg")), 'its plot is well-formed');

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

my ($made, $unmade) = run_command([ 'make', '-s', '-C', $bench, 'WITH_CUDA=no', "BUILD=$out/build", "$out/build/hg_tables" ]);
is("$made$unmade", '', 'the benchmark of tables is built');
$printed = bench_ok('hg_tables', "$out/build/hg_tables", qw(--quick --size 12), '--json', "$out/tables.json");
like($printed, qr/^unique +$_ +map +find +4096 .* yes$/m, "lookups in $_ are right") foreach qw(csr ellpack sliced_ellpack dynamic cuckoo dycuckoo);
like($printed, qr/^$_ .* yes$/m, "$_ are right") foreach 'small', 'functions +4, 4N', 'duplicates +x512', 'draws', 'batches';
unlike($printed, qr/FAILED|\bNO$/m, '... and nothing else is wrong');
my $tables = json_of("$out/tables.json");
is(scalar(grep { $_->{workload} eq 'batches' && @{ $_->{filled} } > 16 } @{ $tables->{courses} }), 6, 'how full tables were is JSON');
bench_ok('plot_tables', "$bench/plot_tables", "$out/tables.json", $out);
ok(well_formed(slurp_file("$out/tables-cpu-$_.svg")), "$_ are plotted") foreach qw(batches duplicates);
(undef, $unknown) = run_command([ "$out/build/hg_tables", qw(--kind quadratic) ]);
like($unknown, qr/unknown kind "quadratic"/, 'a kind that there is not is said');

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
