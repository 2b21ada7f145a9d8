# Which devices there are is said by CUDA_VISIBLE_DEVICES in the environment of the server: it gets to
# every device process, and where it leaves no device there is none, with a reason.
#
# The stand-in shows what a process is given.  What CUDA makes of it is seen with the real program:
# that there is none left on any machine, and the rest of it where there is a GPU.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'runs with backend cuda' unless HashGraphTest::covers('cuda');

my $standin = standin_program();
my $program = HashGraphTest::installed_program();
my $device = HashGraphTest::device_program();

plan skip_all => 'neither a device program nor the stand-in was built: make unit' unless defined $standin || defined $program;

# what the run itself may see
my $given = $ENV{CUDA_VISIBLE_DEVICES};

my $join = 'select count(*) from generate_series(1, 400000) a join generate_series(1, 400000) b on a = b';
my $where = q{select distinct backend, coalesce(fallback, '') from hashgraph_last_joins()};
my $node;

# Have the server begin anew with a value of the variable, or without it.
sub begin_with
{
	my ($visible) = @_;

	local %ENV = %ENV;
	delete $ENV{CUDA_VISIBLE_DEVICES};
	$ENV{CUDA_VISIBLE_DEVICES} = $visible if defined $visible;
	$node->restart;
	return;
}

# A session's result of a join and where it ran, under a backend; and its errors.
sub join_under
{
	my ($backend) = @_;
	my ($code, $stdout, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\n"
		  . "set hashgraph.force = on; set hashgraph.backend = $backend; do 'begin perform hashgraph_devices(); end'; $join; $where");

	return ($stdout, $stderr);
}

# The names of the devices that there are, with their numbers.
sub devices
{
	return $node->safe_psql('postgres', q{select ordinal, name, state from hashgraph_devices() order by 1});
}

# ------------------------------------------------------------------ what a process is given

sub test_given
{
	my ($visible, $name) = @_;
	my $is_it = defined $visible ? "it is '$visible'" : 'it is not set';
	my ($session, $pid);

	begin_with($visible);
	if ($name eq 'server')
	{
		ok(wait_for(sub { defined($pid = device_process($node)) }), "$name: a process, where $is_it");
	}
	else
	{
		$session = $node->background_psql('postgres');
		my $of = $session->query('select count(*) from hashgraph_devices(); select pg_backend_pid()');
		($pid) = device_children(($of =~ /(\d+)$/)[0]);
		ok(defined $pid, "$name: a process, where $is_it");
	}
	# before it is another program it has its parent's
	wait_for(sub { ({ environment_of($pid) }->{CUDA_VISIBLE_DEVICES} // "\0") eq ($visible // "\0") }, 5);
	is({ environment_of($pid) }->{CUDA_VISIBLE_DEVICES}, $visible, "$name: ... has it from the server");
	$session->quit if defined $session;
	return;
}

# ------------------------------------------------------------------ what CUDA makes of it

# No device: auto joins on the CPU and tells why, cuda fails, and neither waits.
sub test_none
{
	my ($visible, $name) = @_;
	my $why = qr/no CUDA device was found|no usable NVIDIA driver was found|CUDA could not be initialised/;

	begin_with($visible);
	is(devices(), '', "$name, '$visible': no device is listed");
	my ($result, $stderr) = join_under('auto');
	like($result, qr/^400000\ncpu\|$why$/m, "$name, '$visible': auto joins on the CPU, and tells why") or diag($stderr);
	($result, $stderr) = join_under('cuda');
	like($stderr, qr/ERROR: .*$why/, "$name, '$visible': cuda is an error");
	like($stderr, qr/DETAIL: .*CUDA_VISIBLE_DEVICES is "\Q$visible\E" in the server's environment/, "$name, '$visible': ... which names it")
	  if defined $device;
	return;
}

# The devices that nvidia-smi knows: for each its UUID, or those of its MIG slices.
sub known_uuids
{
	my $list = qx(nvidia-smi -L 2>/dev/null) // '';
	my @slices = $list =~ /\(UUID: (MIG-[^)]+)\)/g;

	return @slices > 0 ? @slices : $list =~ /\(UUID: (GPU-[^)]+)\)/g;
}

sub test_one
{
	my ($visible, $name) = @_;

	begin_with($visible);
	like(devices(), qr/^0\|\S[^|\n]*\|ready$/, "$name, '$visible': one device, whose number is 0");
	my ($result, $stderr) = join_under('cuda');
	is($result, "400000\ncuda|", "$name, '$visible': joins run on it") or diag($stderr);
	# what else there is can't be had by its number
	$node->append_conf('postgresql.conf', "hashgraph.gpu_device = 1\n");
	begin_with($visible);
	($result, $stderr) = join_under('cuda');
	like($stderr, qr/ERROR: .*there is no device 1/, "$name, '$visible': there is no other");
	$node->append_conf('postgresql.conf', "hashgraph.gpu_device = -1\n");
	return;
}

foreach my $name ('server', 'session')
{
	$node = new_server("visible_$name", $name eq 'server' ? () : (preload => 'session'),
		conf => "work_mem = '256MB'\nhashgraph.gpu_wait_limit = '5min'\n");
	if (defined $standin)
	{
		$node->append_conf('postgresql.conf', "hashgraph.device_program = '$standin'\n");
		test_given($_, $name) foreach ('MIG-00000000-0000-0000-0000-000000000000', '1,0', '', undef);
	}
	if (defined $program)
	{
		$node->append_conf('postgresql.conf', "hashgraph.device_program = '$program'\n");
		test_none($_, $name) foreach ('', '-1', 'GPU-00000000-0000-0000-0000-000000000000');
	}
	if (defined $device)
	{
		# where the run may not see all, what it may see is one of them
		test_one($_, $name) foreach (defined $given ? (split /,/, $given)[0] : (known_uuids())[0] // '0');
	}
	begin_with($given);
	session_ok($node, "$name: it joins on");
	unlike(slurp_file($node->logfile), qr/server process .* was terminated|PANIC/, "$name: no process of the server crashed");
	$node->stop;
}

done_testing();
