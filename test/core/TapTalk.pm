# TapTalk.pm
#
# What the programs of this folder print: tests in TAP, and notes between them.

package TapTalk;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(ok note skip first_lines finish);

my $tests = 0;
my $failed = 0;

# A test that has passed or not; returns whether it has.
sub ok
{
	my ($passed, $name) = @_;

	$tests++;
	$failed++ unless $passed;
	print $passed ? '' : 'not ', "ok $tests - $name\n";
	return $passed;
}

# A test that can't be run here.
sub skip
{
	my ($name, $why) = @_;

	$tests++;
	print "ok $tests - $name # SKIP $why\n";
	return;
}

sub note
{
	my ($text) = @_;

	print map { "# $_\n" } split /\n/, $text;
	return;
}

sub first_lines
{
	my ($text, $count) = @_;
	my @lines = split /^/, $text;

	splice @lines, $count if @lines > $count;
	return join '', @lines;
}

# The end of the tests, if all that were to run have; returns the exit status.
sub finish
{
	my ($done) = @_;

	print "1..$tests\n" if $done;
	return $done && $failed == 0 ? 0 : 1;
}

1;
