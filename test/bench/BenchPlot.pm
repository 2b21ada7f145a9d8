# BenchPlot.pm
#
# Plots as SVG: lines, points and columns over two axes (plot), and stacked bars, row by row (bars).
#
# What is said of every plot: title and subtitle.  An axis is a hash: label, with its unit; log, for powers of base, which
# is 10 unless it is said, else from 0; fit, for no more than there are values; least, where it begins; whole, where they are
# whole numbers, of which 0 has a place of its own beside a logarithmic axis.
#
# plot: x and y, axes; series, a list of hashes: name, points => [ [ x, y ], ... ], lines => 0 for points alone, dashed for a
# line without points, columns for one that stands on the axis, as wide as the number that it is about.
#
# bars: x, an axis, with share where bars show parts of 100 %; parts, the names of what bars consist of; rows, a list of
# hashes: name, detail, marks => { series => value } and bars, a list of hashes: name, parts => { part => value }, note, what
# stands behind it, series, whose mark is on its height.  beside, an axis, is that of the marks; series are theirs.
#
# Colours are those of Okabe and Ito, which colour-blind people can tell apart, and points have shapes too.  The page is light
# or dark, as a reader's is.

package BenchPlot;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(any max min sum0 uniq);
use POSIX qw(ceil floor);

our @EXPORT_OK = qw(bars plot short);

my ($width, $height) = (860, 470);
my ($left, $bottom) = (78, 406);
my %colour = (
	'PostgreSQL' => '#0072b2',
	'HashGraph, CPU' => '#d55e00',
	'HashGraph, GPU' => '#009e73',
	'DuckDB' => '#cc79a7');
my @colours = ('#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#f0e442', '#d0d0d0');
my @shapes = qw(circle square triangle diamond);

# What is drawn in colours of the page is of a class, which a dark page has in others.
my %ink = (
	page => [ fill => '#fff', '#0d1117' ],
	strong => [ fill => '#111', '#f4f6f8' ],
	ink => [ fill => '#333', '#dde2e7' ],
	dim => [ fill => '#5c5c5c', '#a4adb6' ],
	grid => [ stroke => '#e3e3e3', '#2b323a' ],
	axis => [ stroke => '#888', '#808a94' ],
	edge => [ stroke => '#333', '#dde2e7' ],
	gap => [ stroke => '#fff', '#0d1117' ]);

# The text of an SVG file.
sub plot
{
	my ($plot) = @_;
	my @series = grep { @{ $_->{points} } } @{ $plot->{series} };
	my $right = $width - 44 - max(0, map { text_width($_->{name}, 1) } @series);
	my $top = head_ends($plot, $left, $width);
	my $x = scale($plot->{x}, $left, $right, map { extent($_) } @series);
	my $y = scale($plot->{y}, $bottom, $top, map { map { $_->[1] } @{ $_->{points} } } @series);
	my @svg = head($plot, $left, $width, $height);

	foreach my $tick (@{ $y->{ticks} })
	{
		my $at = $y->{place}->($tick->[0]);
		push @svg, line($left, $at, $right, $at, ink('grid')),
		  text($left - 8, $at + 4, $tick->[1], 'text-anchor' => 'end');
	}
	push @svg, under($x, $plot->{x}, $left, $right, $top, $bottom),
	  text(0, 0, $plot->{y}{label}, 'text-anchor' => 'middle',
		transform => sprintf('translate(18 %.1f) rotate(-90)', ($top + $bottom) / 2));

	my @colours = colours(map { $_->{name} } @series);
	my ($shaped, @labels) = (0);
	foreach my $index (0 .. $#series)
	{
		my $series = $series[$index];
		my @places = map { [ $x->{place}->($_->[0]), $y->{place}->($_->[1]) ] } @{ $series->{points} };
		my $how = $series->{columns} ? 'columns' : $series->{dashed} ? 'dashed' : $series->{lines} // 1 ? 'lines' : 'points';
		my $colour = $colours[$index];
		my $shape = $how eq 'columns' ? 'bar' : $how eq 'dashed' ? 'line' : $shapes[ $shaped++ % @shapes ];

		if ($how eq 'columns')
		{
			push @svg, group([ class => 'columns', fill => $colour ], columns($x, $y, $series->{points}));
		}
		elsif ($how ne 'points')
		{
			push @svg, sprintf '<polyline points="%s" fill="none"%s stroke-linejoin="round"/>',
			  join(' ', map { sprintf '%.1f,%.1f', @$_ } @places), attributes(stroke($how, $colour));
		}
		if ($how eq 'lines' || $how eq 'points')
		{
			my @style = $how eq 'lines' ? (ink('gap'), 'stroke-width' => 1.5) : ('fill-opacity' => 0.6);
			push @svg, group([ fill => $colour, @style ], uniq map { mark($shape, @$_, $how eq 'lines' ? 4 : 3) } @places);
		}
		push @labels, { at => $how eq 'lines' ? $places[-1][1] : $top + 22 * $index, name => $series->{name},
			key => [ $shape, $how eq 'dashed' ? stroke($how) : (fill => $colour) ], on => $how eq 'lines' ? $colour : undef };
	}

	# Names stand at the end of their lines, as close as room allows.
	@labels = sort { $a->{at} <=> $b->{at} } @labels;
	foreach my $index (1 .. $#labels)
	{
		$labels[$index]{at} = max($labels[$index]{at}, $labels[ $index - 1 ]{at} + 18);
	}
	my $over = @labels ? max(0, $labels[-1]{at} - $bottom) : 0;
	push @svg, map { key($right + 14, $_->{at} - $over, @$_{qw(key name on)}) } @labels;
	return file(@svg);
}

# Where the points of a series lie on the x axis, with the width of columns.
sub extent
{
	my ($series) = @_;
	my $half = $series->{columns} ? 0.4 : 0;

	return map { $_->[0] == 0 ? 0 : ($_->[0] - $half, $_->[0] + $half) } @{ $series->{points} };
}

# Columns of points.  Of those that would stand on the same spot the tallest is all that can be seen.
sub columns
{
	my ($x, $y, $points) = @_;
	my $foot = $y->{from};
	my (%tallest, @order);

	foreach my $point (@$points)
	{
		my $at = $x->{place}->($point->[0]);
		my ($from, $to) = $point->[0] == 0 ? ($at - 7, $at + 7) : map { $x->{place}->($point->[0] + $_) } -0.4, 0.4;
		($from, $to) = ($at - 1, $at + 1) if $to - $from < 2;
		my $spot = sprintf '%.0f', $from;

		push @order, $spot unless defined $tallest{$spot};
		$tallest{$spot} = [ $from, $to - $from, $point ] if !defined $tallest{$spot} || $tallest{$spot}[2][1] < $point->[1];
	}
	return map {
		my ($from, $wide, $point) = @{ $tallest{$_} };
		my $top = $y->{place}->($point->[1]);
		rect($from, $top, $wide, $foot - $top, join(': ', map { number($_) } @$point))
	} @order;
}

# Stacked bars.
sub bars
{
	my ($chart) = @_;
	my @rows = @{ $chart->{rows} };
	my @bars = map { @{ $_->{bars} } } @rows;
	my ($wide, $margin, $thick, $longest) = (900, 16, 18, 34);
	# columns of text, as wide as what is in them
	my $names = max(map { text_width(clipped($_->{name}, $longest)), text_width(clipped($_->{detail}, $longest)) } @rows);
	my $whose = max(map { text_width($_->{name}) } @bars);
	my $notes = max(map { text_width($_->{note}) } @bars);
	my $from = $margin + $names + 12 + ($whose ? $whose + 8 : 0);
	my $end = $wide - $margin - ($notes ? $notes + 10 : 0);
	my $to = $chart->{beside} ? $from + 0.62 * ($end - $from) : $end;

	my %part = map { $chart->{parts}[$_] => $colours[ $_ % @colours ] } 0 .. $#{ $chart->{parts} };
	my @part = grep { my $part = $_; any { ($_->{parts}{$part} // 0) > 0.002 * sum0(values %{ $_->{parts} }) } @bars } @{ $chart->{parts} };
	my @series = @{ $chart->{beside} ? $chart->{series} : [] };
	my %mark;
	@mark{@series} = map { [ $shapes[ $_ % @shapes ], $_ == 0 ? (ink('edge'), fill => 'none', 'stroke-width' => 1.8) : ink('ink') ] } 0 .. $#series;

	my ($legend, $below) = legend($margin, head_ends($chart, $margin, $wide) + 2, $wide - $margin,
		(map { [ [ 'bar', fill => $part{$_}, ink('edge') ], $_ ] } @part), (map { [ $mark{$_}, $_ ] } @series));
	my $first = $below + 12;
	my $at = $first;
	my @places = map {
		my $high = max(scalar(@{ $_->{bars} }) * $thick, 16 * grep { ($_ // '') ne '' } @$_{qw(name detail)});
		my $place = [ $at + 6, $high ];
		$at += $high + 12;
		$place
	} @rows;
	my $floor = $at;
	my $high = $floor + 60;
	my @svg = (head($chart, $margin, $wide, $high), @$legend);

	my $x = scale($chart->{x}, $from, $to, $chart->{x}{share} ? 100 : map { sum0(values %{ $_->{parts} }) } @bars);
	push @svg, under($x, $chart->{x}, $from, $to, $first, $floor);
	my $beside;
	if ($chart->{beside})
	{
		$beside = scale($chart->{beside}, $to + 34, $end, map { values %{ $_->{marks} } } @rows);
		push @svg, under($beside, $chart->{beside}, $to + 34, $end, $first, $floor);
	}
	foreach my $index (0 .. $#rows)
	{
		my ($row, $begins, $rows_high) = ($rows[$index], @{ $places[$index] });
		my @lines = grep { $_->[0] ne '' } [ clipped($row->{name}, $longest), 'strong' ], [ clipped($row->{detail}, $longest), 'dim' ];
		my $line = $begins + $rows_high / 2 - 8 * @lines + 12;
		my $bar_at = $begins + ($rows_high - $thick * @{ $row->{bars} }) / 2;
		my %height;

		push @svg, line($margin, $begins - 6, $wide - $margin, $begins - 6, ink('grid')) if $index > 0;
		foreach my $of (@lines)
		{
			push @svg, text($margin, $line, $of->[0], ink($of->[1]));
			$line += 16;
		}
		foreach my $bar (@{ $row->{bars} })
		{
			push @svg, text($from - 8, $bar_at + 13, $bar->{name} // '', 'text-anchor' => 'end'),
			  text($end + 10, $bar_at + 13, $bar->{note} // ''),
			  stack($bar, \@part, \%part, $x, $chart->{x}{share}, $from, $bar_at + 2, $thick - 4);
			$height{ $bar->{series} } = $bar_at + $thick / 2 if defined $bar->{series};
			$bar_at += $thick;
		}
		push @svg, marks($row, \%mark, \@series, \%height, $beside, $begins + $rows_high / 2) if $beside;
	}
	return file(@svg);
}

# One bar: its parts side by side, with their values where there is room.
sub stack
{
	my ($bar, $parts, $colours, $x, $share, $from, $at, $high) = @_;
	my $all = sum0(values %{ $bar->{parts} });
	my $sum = 0;
	my @svg;

	foreach my $part (grep { ($bar->{parts}{$_} // 0) > 0 } @$parts)
	{
		my $value = $bar->{parts}{$part};
		my ($begin, $end) = map { $x->{place}->($share ? 100 * $_ / $all : $_) } $sum, $sum + $value;
		my $text = number($value);

		$sum += $value;
		next if $end - $begin < 0.3;
		push @svg, rect($begin, $at, $end - $begin, $high, sprintf('%s: %s ms, %.1f %%', $part, $text, 100 * $value / $all),
			class => 'part edge', fill => $colours->{$part}, stroke => $ink{edge}[1], 'stroke-width' => 0.7);
		push @svg, text(($begin + $end) / 2, $at + $high - 3, $text, 'text-anchor' => 'middle', 'font-size' => 11,
			class => 'on', fill => brightness($colours->{$part}) > 0.2 ? '#000' : '#fff')
		  if $end - $begin > text_width($text) + 2;
	}
	return @svg;
}

# The marks of a row: each on the height of its bar, the first one's in the middle, and lines between that and them.
sub marks
{
	my ($row, $how, $series, $heights, $scale, $middle) = @_;
	my @all = map { [ $_, $scale->{place}->($row->{marks}{$_}), $heights->{$_} // $middle ] }
	  grep { defined $row->{marks}{$_} } @$series;
	my ($reference, @others) = $all[0][0] eq $series->[0] ? @all : (undef, @all);
	my @svg;

	push @svg, line(@$reference[ 1, 2 ], @$_[ 1, 2 ], ink('axis')) foreach $reference ? @others : ();
	foreach my $mark (grep { defined } $reference, @others)
	{
		my ($shape, %style) = @{ $how->{ $mark->[0] } };
		push @svg, mark($shape, @$mark[ 1, 2 ], 5, "$mark->[0]: " . number($row->{marks}{ $mark->[0] }), %style);
	}
	return @svg;
}

# What a plot begins with: its page, title and subtitle.
sub head
{
	my ($plot, $from, $wide, $high) = @_;
	my @lines = subtitle($plot, $from, $wide);

	return (
		qq{<?xml version="1.0" encoding="UTF-8"?>},
		sprintf('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$.0f" width="%1$d" height="%2$.0f" role="img"', $wide, $high)
		  . qq{ font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="13">},
		'<title>' . escaped($plot->{title}) . '</title>',
		'<style>@media (prefers-color-scheme: dark) { '
		  . join(' ', map { ".$_ { $ink{$_}[0]: $ink{$_}[2] }" } sort keys %ink) . ' }</style>',
		rect(0, 0, $wide, $high, undef, ink('page')),
		text($from, 28, $plot->{title}, 'font-size' => 18, 'font-weight' => 'bold', ink('strong')),
		map { text($from, 50 + 17 * $_, $lines[$_], ink('dim')) } 0 .. $#lines);
}

# Where it ends.
sub head_ends
{
	return 57 + 17 * subtitle(@_);
}

# The lines of a plot's subtitle, one at least.
sub subtitle
{
	my ($plot, $from, $wide) = @_;

	return wrapped($plot->{subtitle} // '', ($wide - $from - 16) / text_width('x'));
}

# The x axis below a field, its lines and its label.
sub under
{
	my ($scale, $axis, $from, $to, $top, $floor) = @_;
	my @svg;

	foreach my $tick (@{ $scale->{ticks} })
	{
		my $at = $scale->{place}->($tick->[0]);
		push @svg, line($at, $top, $at, $floor, ink('grid')), line($at, $floor, $at, $floor + 5, ink('axis')),
		  text($at, $floor + 20, $tick->[1], 'text-anchor' => 'middle');
	}
	return (@svg, line($from, $floor, $to, $floor, ink('axis')),
		text(($from + $to) / 2, $floor + 44, $axis->{label}, 'text-anchor' => 'middle'));
}

# What colours and shapes stand for, in as many lines as it takes; and where it ends.
sub legend
{
	my ($from, $at, $to, @entries) = @_;
	my ($x, $y) = ($from, $at + 8);
	my @svg;

	foreach my $entry (@entries)
	{
		my $takes = 22 + text_width($entry->[1], 1) + 14;
		($x, $y) = ($from, $y + 20) if $x > $from && $x + $takes > $to;
		push @svg, key($x, $y, @$entry);
		$x += $takes;
	}
	return (\@svg, $y + 8);
}

# A sample of something, on a line of a colour where it stands on one, and its name.
sub key
{
	my ($x, $y, $key, $name, $on) = @_;
	my ($shape, %style) = @$key;

	return (
		defined $on ? line($x - 1, $y, $x + 15, $y, stroke('lines', $on)) : (),
		$shape eq 'bar' ? rect($x, $y - 5, 14, 10, undef, %style)
		: $shape eq 'line' ? line($x, $y, $x + 16, $y, %style) : mark($shape, $x + 7, $y, 4, undef, %style),
		text($x + 22, $y + 4, $name, 'font-weight' => 'bold', ink('ink')));
}

# How values of an axis are placed between two coordinates, and its ticks: [ value, label ], ...
sub scale
{
	my ($axis, $from, $to, @values) = @_;

	if (!$axis->{log})
	{
		my $step = $axis->{share} ? 20 : nice_step(max(@values, 1e-9) / 5);
		my $end = $axis->{share} ? 100 : $step * ceil(max(@values, 1e-9) / $step);
		return {
			from => $from,
			place => sub { $from + ($to - $from) * $_[0] / $end },
			ticks => [ map { [ $_ * $step, short($_ * $step) ] } 0 .. int($end / $step + 0.5) ] };
	}

	my $base = $axis->{base} // 10;
	my @positive = grep { $_ > 0 } @values;
	@positive = (1) unless @positive;
	my ($low, $high) = (log($axis->{least} // min(@positive)) / log($base), log(max(@positive)) / log($base));
	# to whole powers, unless they are a long way off
	$low = floor($low + 1e-9) if $base == 10 && !$axis->{fit} && !defined $axis->{least};
	$high = ceil($high - 1e-9) if $base == 10 && !$axis->{fit};
	($low, $high) = ($low - 0.15, $low + 0.15) if $high - $low < 0.3 && $axis->{fit};
	$high = $low + 1 if $high - $low < 1e-9;
	my $margin = ($to - $from) * 0.02;
	my $nothing = $axis->{whole} && any { $_ == 0 } @values;
	my $start = $from + $margin + ($nothing ? 36 : 0);
	return {
		from => $from,
		place => sub {
			return $from + 14 if $_[0] <= 0;
			return $start + ($to - $margin - $start) * (log($_[0]) / log($base) - $low) / ($high - $low);
		},
		ticks => [ ($nothing ? [ 0, '0' ] : ()), map { [ $_, short($_) ] } log_ticks($axis, $base, $low, $high, abs($to - $from)) ] };
}

# Where a logarithmic axis has ticks: at powers of the base, and, where it fits few of them, between them as far as labels have room.
sub log_ticks
{
	my ($axis, $base, $low, $high, $room) = @_;
	my $every = ceil(($high - $low) / 10) || 1;

	foreach my $factors ($base == 10 && $axis->{fit} ? ([ 1 .. 9 ], [ 1, 2, 5 ]) : ())
	{
		my @ticks = grep { my $at = log($_) / log(10); $at >= $low - 1e-9 && $at <= $high + 1e-9 && (!$axis->{whole} || $_ >= 1) }
		  map { my $power = $_; map { $_ * 10**$power } @$factors } floor($low) .. ceil($high);
		return @ticks unless any { log($ticks[$_] / $ticks[ $_ - 1 ]) / log(10) * $room / ($high - $low) < text_width(short($ticks[$_])) + 5 } 1 .. $#ticks;
	}
	return map { $base**$_ }
	  grep { ($_ - ceil($low - 1e-9)) % $every == 0 } ceil($low - 1e-9) .. floor($high + 1e-9);
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

# A number as it is: all digits before the point, three at least.
sub number
{
	my ($value) = @_;

	return $value >= 100 || $value == int($value) ? sprintf('%.0f', $value) : sprintf('%.3g', $value);
}

# A colour for each name: its own, or one that nobody else has, as long as there are some.
sub colours
{
	my (@names) = @_;
	my %taken = map { $colour{$_} => 1 } grep { $colour{$_} } @names;
	my @free = grep { !$taken{$_} } @colours;
	my $next = 0;

	return map { $colour{$_} // $free[ $next++ % @free ] } @names;
}

# How bright a colour looks, between 0 and 1.
sub brightness
{
	my ($colour) = @_;
	my @linear = map { (hex($_) / 255)**2.2 } $colour =~ /^#(..)(..)(..)$/;

	return 0.2126 * $linear[0] + 0.7152 * $linear[1] + 0.0722 * $linear[2];
}

# About how wide a text is, in the widest of the fonts that may be there.
sub text_width
{
	my ($text, $bold) = @_;

	return length($text // '') * ($bold ? 8.2 : 7.4);
}

# A text that is no longer than this.
sub clipped
{
	my ($text, $longest) = @_;
	$text //= '';

	return length $text > $longest ? substr($text, 0, $longest - 1) . "\x{2026}" : $text;
}

# Words in lines of at most so many characters.
sub wrapped
{
	my ($text, $longest) = @_;
	my @lines = ('');

	foreach my $word (split ' ', $text)
	{
		push @lines, '' if $lines[-1] ne '' && length("$lines[-1] $word") > $longest;
		$lines[-1] .= ($lines[-1] eq '' ? '' : ' ') . $word;
	}
	return @lines;
}

# The attributes of something in a colour of the page.
sub ink
{
	my ($class) = @_;

	return (class => $class, $ink{$class}[0] => $ink{$class}[1]);
}

# Those of a line of a series.
sub stroke
{
	my ($how, $colour) = @_;

	return $how eq 'dashed'
	  ? (ink('edge'), 'stroke-width' => 1.5, 'stroke-dasharray' => '5 4')
	  : (stroke => $colour, 'stroke-width' => 2.5);
}

sub attributes
{
	my (%attributes) = @_;

	return join '', map { sprintf ' %s="%s"', $_, escaped($attributes{$_}) } sort keys %attributes;
}

# Text as XML has it, where what XML can't have is a question mark.
sub escaped
{
	my ($text) = @_;
	my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');

	$text =~ s/[^\t\n\r\x20-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]/?/g;
	$text =~ s/([&<>"])/$entity{$1}/g;
	return $text;
}

sub text
{
	my ($x, $y, $text, %attributes) = @_;

	return '' if $text eq '';
	%attributes = (ink('ink'), %attributes);
	return sprintf '<text x="%.1f" y="%.1f"%s>%s</text>', $x, $y, attributes(%attributes), escaped($text);
}

sub line
{
	my ($x1, $y1, $x2, $y2, %attributes) = @_;

	return sprintf '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"%s/>', $x1, $y1, $x2, $y2, attributes(%attributes);
}

# A rectangle; here and below with what is said where somebody points at it.
sub rect
{
	my ($x, $y, $wide, $high, $said, %attributes) = @_;

	return element('rect', $said, x => rounded($x), y => rounded($y), width => rounded($wide), height => rounded($high), %attributes);
}

# A point of a shape.
sub mark
{
	my ($shape, $x, $y, $size, $said, %attributes) = @_;

	return element('circle', $said, cx => rounded($x), cy => rounded($y), r => $size, %attributes) if $shape eq 'circle';
	my @corners = $shape eq 'square' ? ([ -0.9, -0.9 ], [ 0.9, -0.9 ], [ 0.9, 0.9 ], [ -0.9, 0.9 ])
	  : $shape eq 'triangle' ? ([ 0, -1.2 ], [ 1.1, 0.9 ], [ -1.1, 0.9 ])
	  : ([ 0, -1.3 ], [ 1.3, 0 ], [ 0, 1.3 ], [ -1.3, 0 ]);
	return element('polygon', $said,
		points => join(' ', map { rounded($x + $size * $_->[0]) . ',' . rounded($y + $size * $_->[1]) } @corners), %attributes);
}

# Elements with attributes that all of them have.
sub group
{
	my ($attributes, @elements) = @_;

	return ('<g' . attributes(@$attributes) . '>', @elements, '</g>');
}

sub element
{
	my ($name, $said, %attributes) = @_;
	my $open = "<$name" . attributes(%attributes);

	return defined $said ? "$open><title>" . escaped($said) . "</title></$name>" : "$open/>";
}

sub rounded
{
	my ($coordinate) = @_;

	return sprintf '%.1f', $coordinate;
}

# The bytes of a file.
sub file
{
	my $text = join("\n", (grep { $_ ne '' } @_), '</svg>') . "\n";

	utf8::encode($text);
	return $text;
}

1;
