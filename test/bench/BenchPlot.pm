# BenchPlot.pm
#
# Plots as SVG: lines or points over logarithmic axes, in colours that differ in brightness too.
#
# A plot is a hash: title, subtitle, x and y (label; log, for powers of base, which is 10 unless it is said, else from 0),
# series, a list of hashes: name, points => [ [ x, y ], ... ], lines => 0 for points alone.

package BenchPlot;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(max min);
use POSIX qw(ceil floor);

our @EXPORT_OK = qw(plot);

my ($width, $height) = (800, 460);
my ($left, $right, $top, $bottom) = (78, 640, 74, 396);
my %colour = (
	'PostgreSQL' => '#31577a',
	'HashGraph, CPU' => '#d9480f',
	'HashGraph, GPU' => '#2f9e44',
	'DuckDB' => '#c99700');
my @other_colours = ('#31577a', '#d9480f', '#2f9e44', '#c99700', '#7048a8');

# The text of an SVG file.
sub plot
{
	my ($plot) = @_;
	my @series = grep { @{ $_->{points} } } @{ $plot->{series} };
	my @points = map { @{ $_->{points} } } @series;
	my $x = scale($plot->{x}, $left, $right, map { $_->[0] } @points);
	my $y = scale($plot->{y}, $bottom, $top, map { $_->[1] } @points);
	my @svg = (
		qq{<?xml version="1.0" encoding="UTF-8"?>},
		qq{<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height"}
		  . qq{ font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13" fill="#333">},
		qq{<rect width="$width" height="$height" fill="#fff"/>},
		text($left, 28, $plot->{title}, 'font-size' => 18, 'font-weight' => 'bold', fill => '#111'),
		text($left, 50, $plot->{subtitle} // '', fill => '#666'));

	foreach my $tick (@{ $y->{ticks} })
	{
		my $at = $y->{place}->($tick->[0]);
		push @svg, line($left, $at, $right, $at, stroke => '#e3e3e3'),
		  text($left - 8, $at + 4, $tick->[1], 'text-anchor' => 'end');
	}
	foreach my $tick (@{ $x->{ticks} })
	{
		my $at = $x->{place}->($tick->[0]);
		push @svg, line($at, $top, $at, $bottom, stroke => '#f0f0f0'), line($at, $bottom, $at, $bottom + 5, stroke => '#888'),
		  text($at, $bottom + 20, $tick->[1], 'text-anchor' => 'middle');
	}
	push @svg, line($left, $bottom, $right, $bottom, stroke => '#888'),
	  text(($left + $right) / 2, $bottom + 46, $plot->{x}{label}, 'text-anchor' => 'middle'),
	  text(0, 0, $plot->{y}{label}, 'text-anchor' => 'middle',
		transform => sprintf('translate(18 %.1f) rotate(-90)', ($top + $bottom) / 2));

	my @labels;
	foreach my $index (0 .. $#series)
	{
		my $series = $series[$index];
		my $colour = $colour{ $series->{name} } // $other_colours[ $index % @other_colours ];
		my @places = map { [ $x->{place}->($_->[0]), $y->{place}->($_->[1]) ] } @{ $series->{points} };
		my $lines = $series->{lines} // 1;

		push @svg, sprintf '<polyline points="%s" fill="none" stroke="%s" stroke-width="2.5" stroke-linejoin="round"/>',
		  join(' ', map { sprintf '%.1f,%.1f', @$_ } @places), $colour
		  if $lines;
		push @svg, map {
			sprintf '<circle cx="%.1f" cy="%.1f" r="%s" fill="%s"%s/>', @$_, $lines ? 4 : 3, $colour,
			  $lines ? ' stroke="#fff" stroke-width="1.5"' : ' fill-opacity="0.6"'
		} @places;
		push @labels, { at => $lines ? $places[-1][1] : $top + 22 * $index, name => $series->{name}, colour => $colour };
	}

	# Names stand at the end of their lines, as close as room allows.
	@labels = sort { $a->{at} <=> $b->{at} } @labels;
	foreach my $index (1 .. $#labels)
	{
		$labels[$index]{at} = max($labels[$index]{at}, $labels[ $index - 1 ]{at} + 18);
	}
	my $over = @labels ? max(0, $labels[-1]{at} - $bottom) : 0;
	push @svg, map { text($right + 14, $_->{at} - $over + 4, $_->{name}, fill => $_->{colour}, 'font-weight' => 'bold') } @labels;
	return join("\n", grep { $_ ne '' } @svg, '</svg>') . "\n";
}

# How values of an axis are placed between two coordinates, and its ticks: [ value, label ], ...
sub scale
{
	my ($axis, $from, $to, @values) = @_;

	if (!$axis->{log})
	{
		my $step = nice_step(max(@values, 1e-9) / 5);
		my $end = $step * ceil(max(@values, 1e-9) / $step);
		return {
			place => sub { $from + ($to - $from) * $_[0] / $end },
			ticks => [ map { [ $_ * $step, short($_ * $step) ] } 0 .. int($end / $step + 0.5) ] };
	}

	my $base = $axis->{base} // 10;
	my ($low, $high) = (log(min(@values)) / log($base), log(max(@values)) / log($base));
	# to whole powers, unless they are a long way off
	$low = floor($low + 1e-9) if $base == 10;
	$high = ceil($high - 1e-9) if $base == 10;
	$high = $low + 1 if $high - $low < 1e-9;
	my $every = ceil(($high - $low) / 10);
	my @powers = grep { ($_ - ceil($low - 1e-9)) % $every == 0 } ceil($low - 1e-9) .. floor($high + 1e-9);
	my $margin = ($to - $from) * 0.02;
	return {
		place => sub {
			$from + $margin + ($to - $from - 2 * $margin) * (log($_[0]) / log($base) - $low) / ($high - $low);
		},
		ticks => [ map { [ $base**$_, short($base**$_) ] } @powers ] };
}

# 1, 2 or 5 times a power of ten, not below a value.
sub nice_step
{
	my ($least) = @_;
	my $power = 10**floor(log($least) / log(10));

	foreach my $factor (1, 2, 5)
	{
		return $factor * $power if $factor * $power >= $least * 0.999;
	}
	return 10 * $power;
}

# A number as people write it on axes: 500, 10k, 2.5M.
sub short
{
	my ($value) = @_;

	return $value >= 1e9 ? sprintf('%.3gG', $value / 1e9)
	  : $value >= 1e6 ? sprintf('%.3gM', $value / 1e6)
	  : $value >= 1e4 ? sprintf('%.3gk', $value / 1e3)
	  : sprintf('%.4g', $value);
}

sub attributes
{
	my (%attributes) = @_;

	return join '', map { qq{ $_="$attributes{$_}"} } sort keys %attributes;
}

sub text
{
	my ($x, $y, $text, %attributes) = @_;

	return '' if $text eq '';
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	return sprintf '<text x="%.1f" y="%.1f"%s>%s</text>', $x, $y, attributes(%attributes), $text;
}

sub line
{
	my ($x1, $y1, $x2, $y2, %attributes) = @_;

	return sprintf '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"%s/>', $x1, $y1, $x2, $y2, attributes(%attributes);
}

1;
