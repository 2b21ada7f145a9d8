# Many sessions that share a device, as test/bench/load and first_join measure it: here on few rows, for their
# results, for what becomes of a device process that is killed meanwhile, and for what is left of it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use JSON::PP ();
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cuda' unless HashGraphTest::covers('cuda');

my ($device) = grep { $_->{backend} eq 'cuda' } backends();

plan skip_all => 'neither a device nor the stand-in was built: make unit' unless defined $device;

my $bench = "$FindBin::Bin/../bench";
my $node = new_server('load', conf => "fsync = off\nhashgraph.staging_size = '16MB'\n");
my $out = PostgreSQL::Test::Utils::tempdir();
my $standin = $device->{label} eq 'stand-in';

local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
delete local @ENV{qw(PGDATABASE PGOPTIONS)};

# auto is to want the device for these few rows too
use_program($node, $device->{program}, $standin ? (HG_STANDIN_FAST => 1) : ());

# Run a benchmark: what it printed, and its figures.
sub bench_ok
{
	my ($name, @command) = @_;
	my ($stdout, $stderr) = run_command([ "$bench/$command[0]", @command[ 1 .. $#command ], '--json', "$out/$name.json" ]);

	is($stderr, '', "$name complains of nothing");
	unlike($stdout, qr/FAILED|MISSES|ELSEWHERE/, '... and nothing fails') or diag($stdout);
	return ($stdout, eval { JSON::PP->new->decode(slurp_file("$out/$name.json")) } // {});
}

my ($printed, $report) = bench_ok('first_join', 'first_join', qw(--rows 5000 --sessions 3 --bar 2000));
like($printed, qr/^cuda .* cuda 3$/m, 'first joins run on the device');

my @few = qw(--sessions 6 --rows 20000 --settings hashgraph.force=on;hashgraph.gpu_wait_limit=30s --ratio 0 --slowdown 0 --keep);
($printed, $report) = bench_ok('load', 'load', @few, qw(--seconds 2));
is_deeply($report->{backends}{cuda}{ran}, { cuda => $report->{backends}{cuda}{joins} }, 'all joins under cuda run on the device');
ok($report->{backends}{auto}{ran}{cuda}, '... and joins under auto too') if $standin;
like($printed, qr/^device memory, free: .* after \([\d.]+ s\); .* processes lost: 0$/m, 'device memory is given back');

# joins of which no two are alike
($printed, $report) = bench_ok('mix', 'load', @few, qw(--mix --seconds 3));
cmp_ok($report->{backends}{$_}{joins}, '>', 0, "a mix of joins, $_: they are right") foreach qw(off auto cuda);
is_deeply($report->{backends}{cuda}{ran}, { cuda => $report->{backends}{cuda}{joins} }, '... under cuda all on the device');
like($printed, qr/processes lost: 0$/m, '... which is not lost');

# STOP costs the ten seconds after which a process that says nothing is replaced
my @signals = $ENV{HG_QUICK} ? qw(KILL SEGV) : qw(KILL SEGV STOP);
($printed, $report) = bench_ok('kill', 'load', @few, qw(--mix --seconds 4 --kill), join(',', @signals, 0.6));
foreach my $backend (qw(auto cuda))
{
	my $result = $report->{backends}{$backend};

	cmp_ok($result->{joins}, '>', 0, "killed meanwhile, $backend: joins are right");
	ok($result->{signals}{$_}, "... with SIG$_") foreach @signals;
}
is_deeply($report->{backends}{auto}{errors}, {}, 'killed meanwhile, auto: there are no errors');
like($printed, qr/^the next join on the device: after /m, 'the device is used again afterwards');
like($printed, qr/processes lost: [1-9]/, '... which had been lost');

session_ok($node, 'the server joins on');
$node->stop;
done_testing();
