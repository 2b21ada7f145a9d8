#!/usr/bin/perl
#
# hg_build_check.pl
#     What the build has nvcc make, for devices that this machine need not have: with a compiler that only says its name.
#
# Prints TAP.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $home = tempdir(CLEANUP => 1);

mkdir "$home/bin" or die "$home/bin: $!";
open my $nvcc, '>', "$home/bin/nvcc" or die "$home/bin/nvcc: $!";
print $nvcc "#!/bin/sh\necho sm_52 sm_75 sm_90 sm_100\n";
close $nvcc;
chmod 0755, "$home/bin/nvcc";
delete @ENV{qw(MAKEFLAGS MAKELEVEL CUDA_ARCH CUDA_HOME WITH_CUDA)};

# What is chosen, and the code that it is to mean.
my @cases = (
	[ '', 'sm_75 sm_90 sm_100 compute_100' ],
	[ 'CUDA_ARCH=sm_90', 'sm_90 compute_90' ],
	[ 'CUDA_ARCH=90', 'sm_90 compute_90' ],
	[ 'CUDA_ARCH="sm_100 sm_80"', 'sm_80 sm_100 compute_100' ],
	[ 'CUDA_ARCH=sm_90a', 'sm_90a compute_90' ],
	[ 'CUDA_ARCH="sm_90a 100f"', 'sm_90a sm_100f compute_100' ],);

my $failed = 0;
print "1..", scalar(@cases), "\n";
foreach my $number (1 .. @cases)
{
	my ($choice, $wanted) = @{ $cases[ $number - 1 ] };
	my $commands = `cd '$root' && make -n -B -f cuda/cuda.mk CUDA_HOME='$home' $choice cuda/device/hg_cuda_launch.o 2>&1`;
	my $found = join ' ', $commands =~ /-gencode \S*code=(\w+)/g;
	my $good = $found eq $wanted;

	print $good ? 'ok' : 'not ok', " $number - code for ", $choice || 'what nvcc knows', "\n";
	print "# $found, not $wanted\n" unless $good;
	$failed++ unless $good;
}
exit($failed ? 1 : 0);
