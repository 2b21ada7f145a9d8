#!/usr/bin/perl
#
# hg_prose_selftest.pl
#     Break each bar of hg_prose.pl on purpose, and see that it notices.
#
# Each case is a page that keeps every bar, with something added to it, and the bar that it breaks: none where what is
# added is no prose.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Temp qw(tempdir);

my $prose = dirname(__FILE__) . '/hg_prose.pl';
my $page = tempdir(CLEANUP => 1) . '/page.md';

my $clean = "# It\n\nIt joins.\n\n```sql\nselect 1;\n" . "select 2;\n" x 40 . "```\n";

# A line of so many words, and so many of them below each other.
sub words { return join(' ', ('word') x shift) . "\n" }
sub sentences { my ($count, $words) = @_; return join('', map { words($words) =~ s/\n/.\n/r } 1 .. $count) }

sub repeat { my ($count, $text) = @_; return $text x $count }

my @cases = (
	[ 'a clean page', '', undef ],
	[ 'paragraphs of 30 words', repeat(9, "\n" . sentences(3, 10)), 'half of the paragraphs' ],
	[ 'items of 30 words', repeat(9, '- ' . sentences(3, 10)), 'half of the paragraphs' ],
	[ 'long paragraphs among short ones', repeat(5, "\nIt is.\n") . repeat(3, "\n" . sentences(7, 10)), 'nine of ten paragraphs' ],
	[ 'long sentences among short ones', repeat(12, "\nIt is.\n") . repeat(3, "\n" . words(15) . words(15)), 'nine of ten sentences' ],
	[ 'a full stop between back quotes', repeat(12, "\nIt is.\n") . repeat(3, "\n" . words(15) . '`a. b` ' . words(15)), 'nine of ten sentences' ],
	[ 'a page without code', repeat(200, "\nIt is.\n"), 'at least' ],
	[ 'a long cell', "\n| " . 'a' x 200 . " |\n", 'no cell' ],
	[ 'a long row of short cells', "\n|" . ' a |' x 60 . "\n", undef ],
	[ 'a long target of a link', "\n| [a](" . 'a' x 200 . ") |\n", undef ],
	[ 'a long line', "\n```text\n" . 'a' x 130 . "\n```\n", 'no line' ],
	[ 'words in code', "\n```text\n" . repeat(9, words(20)) . "```\n", undef ],
	[ 'words in comments', "\n<!-- sql:\n" . repeat(9, words(20)) . "-->\n", undef ],
	[ 'words in tables', "\n" . repeat(9, '| ' . words(20) =~ s/\n/ |\n/r), undef ],);

my ($number, $bad) = (0, 0);
print '1..', scalar(@cases), "\n";
for my $case (@cases)
{
	my ($name, $added, $bar) = @$case;

	open my $out, '>', $page or die "$page: $!";
	print $out $clean . $added;
	close $out;
	my @output = qx{$^X '$prose' '$page' 2>&1};
	my @broken = grep { /^not ok/ } @output;
	my $good = defined $bar ? $? != 0 && @broken == 1 && $broken[0] =~ /- \Q$bar\E/ : $? == 0 && !@broken;

	$number++;
	$bad++ unless $good;
	print $good ? 'ok' : 'not ok', " $number - $name ", defined $bar ? 'is noticed' : 'keeps every bar', "\n";
	print $good ? () : map { "# $_" } @output;
}
exit($bad ? 1 : 0);
