# Measured.pm
#
# A row of the table that test/perf/run prints: what was measured, beside its bar.

package Measured;

use strict;
use warnings;

use Exporter 'import';
use Test::More;

our @EXPORT = qw(measured);

# A machine that has other things to do as well misses a bar now and then.  What is so much above it is a failure.
use constant WIDE => 3;

# A test, and a row: a value in this unit, and the bar that it is to be below.
sub measured
{
	my ($name, $value, $bar, $unit) = @_;
	my $verdict = $value <= $bar ? 'holds' : $value <= WIDE * $bar ? 'above' : 'far above';

	return ok($value <= WIDE * $bar, sprintf('%s | %.1f %s | %.0f %s | %s', $name, $value, $unit, $bar, $unit, $verdict));
}

1;
