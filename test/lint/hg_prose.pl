#!/usr/bin/perl
#
# hg_prose.pl
#     Can the documents be read?  Measures README.md and every page below docs/.
#
#   hg_prose.pl [-v] [FILE...]      (default: README.md and docs/ of the checkout that this file is in)
#
# Prints TAP: one test a bar, for all pages together.  -v prints the figures of each page; with files it also
# lists their long paragraphs and sentences.
#
# A paragraph is what stands between blank lines, or an item of a list.  Code blocks, tables, headings, comments
# and the targets of links are no paragraphs.  A word is what stands between spaces.  A sentence ends with its
# paragraph, or with a full stop, question mark or exclamation mark that a space follows.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Find qw(find);
use List::Util qw(max);

my %bar = (
	paragraph_median => 25,
	paragraph_90     => 60,
	sentence_90      => 25,
	code_percent     => 14,
	cell             => 160,
	line             => 120);

my $verbose = @ARGV && $ARGV[0] eq '-v' ? shift @ARGV : undef;
my @pages   = @ARGV;

if (!@pages)
{
	chdir abs_path(dirname(__FILE__) . '/../..') or die "chdir: $!";
	@pages = all_pages();
}

my @measured = map { measure($_) } @pages;
my $all = {
	name => 'all',
	map {
		my $kind = $_;
		$kind => [ map { @{ $_->{$kind} } } @measured ]
	} qw(paragraphs sentences cells lines code)
};

print_figures() if $verbose;
print_long(@measured) if $verbose && @ARGV;

my @tests = (
	[ "half of the paragraphs have at most $bar{paragraph_median} words", at_most(percentile(50, $all->{paragraphs}), $bar{paragraph_median}) ],
	[ "nine of ten paragraphs have at most $bar{paragraph_90} words", at_most(percentile(90, $all->{paragraphs}), $bar{paragraph_90}) ],
	[ "nine of ten sentences have at most $bar{sentence_90} words", at_most(percentile(90, $all->{sentences}), $bar{sentence_90}) ],
	[
		"at least $bar{code_percent} % of the lines are code or output",
		code_percent($all) < $bar{code_percent} ? sprintf('%.1f %%', code_percent($all)) : ()
	],
	[ "no cell of a table has more than $bar{cell} characters", too_long('cells', $bar{cell}) ],
	[ "no line has more than $bar{line} characters, but rows of tables", too_long('lines', $bar{line}) ],);

my $failed = 0;
print '1..', scalar(@tests), "\n";
for my $number (1 .. @tests)
{
	my ($name, @violations) = @{ $tests[ $number - 1 ] };
	$failed++ if @violations;
	print @violations ? 'not ok' : 'ok', " $number - $name\n";
	print "# $_\n" for @violations;
}
exit($failed ? 1 : 0);

# README.md and the pages below docs/.
sub all_pages
{
	my @found;
	find({ no_chdir => 1, wanted => sub { push @found, $_ if /\.md$/ && -f } }, 'docs') if -d 'docs';
	return ('README.md', sort @found);
}

# What a page consists of.  Each element is [length, line number, text].
sub measure
{
	my ($name) = @_;
	my %page = (name => $name, map { $_ => [] } qw(paragraphs sentences cells lines code));
	my ($fence, $in_comment, $begin, @words);
	my $end_paragraph = sub {
		push_paragraph(\%page, $begin, join ' ', @words) if @words;
		@words = ();
	};

	open my $in, '<:encoding(UTF-8)', $name or die "$name: $!";
	while (my $text = <$in>)
	{
		my $number = $.;
		$text =~ s/\s+$//;
		my $is_row = !$fence && $text =~ /^\s*\|/;
		push @{ $page{lines} }, [ $is_row ? 0 : length $text, $number, $text ];

		if (!$fence && $text =~ /^\s*(```+|~~~+)/)
		{
			$end_paragraph->();
			$fence = $1;
		}
		elsif ($fence)
		{
			if ($text =~ /^\s*\Q$fence\E/) { $fence = undef; }
			else { push @{ $page{code} }, [ 1, $number, $text ]; }
		}
		elsif ($in_comment || $text =~ /^\s*<!--/)
		{
			$end_paragraph->();
			$in_comment = $text !~ /-->/;
		}
		elsif ($text eq '' || $text =~ /^\s*(?:#{1,6}\s|[-=*_]{3,}$)/)
		{
			$end_paragraph->();
		}
		elsif ($is_row)
		{
			$end_paragraph->();
			push @{ $page{cells} }, map { [ length, $number, $_ ] } cells($text);
		}
		else
		{
			$end_paragraph->() if $text =~ s/^\s*(?:[-*+]|\d+[.)])\s+//;
			$text =~ s/^\s*(?:>\s*)+//;
			$begin = $number unless @words;
			push @words, $text;
		}
	}
	$end_paragraph->();
	return \%page;
}

# What a reader sees of a text.
sub visible
{
	my ($text) = @_;
	$text =~ s/!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)/$1/g for 1 .. 2;
	$text =~ s/<[^>`]*>//g;
	return $text;
}

sub cells
{
	my ($row) = @_;
	$row =~ s/^\s*\||\|\s*$//g;
	return map { s/^\s+|\s+$//gr } split /(?<!\\)\|/, visible($row);
}

sub push_paragraph
{
	my ($page, $line, $text) = @_;
	$text = visible($text);
	my @words = split ' ', $text;
	return unless @words;
	push @{ $page->{paragraphs} }, [ scalar @words, $line, $text ];
	# what is between back quotes ends no sentence
	$text =~ s/`([^`]*)`/'`' . ($1 =~ tr{.!?}{_}r) . '`'/ge;
	for my $sentence (split /(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<=[.!?])["')\]*_]*\s+/, $text)
	{
		my $count = () = $sentence =~ /\S+/g;
		push @{ $page->{sentences} }, [ $count, $line, $sentence ] if $count;
	}
	return;
}

# The least length that so many percent of the elements do not exceed.
sub percentile
{
	my ($percent, $elements) = @_;
	my @sorted = sort { $a <=> $b } map { $_->[0] } @$elements;
	return 0 unless @sorted;
	my $rank = int((@sorted * $percent + 99) / 100);
	return $sorted[ max($rank, 1) - 1 ];
}

sub code_percent
{
	my ($page) = @_;
	return @{ $page->{lines} } ? 100 * @{ $page->{code} } / @{ $page->{lines} } : 0;
}

sub at_most
{
	my ($value, $most) = @_;
	return $value > $most ? "$value words" : ();
}

sub too_long
{
	my ($kind, $most) = @_;
	return map {
		my $page = $_;
		map { "$page->{name}:$_->[1]: $_->[0] characters" } grep { $_->[0] > $most } @{ $page->{$kind} }
	} @measured;
}

sub print_figures
{
	printf "# %-40s %6s %11s %11s %10s %6s %6s %6s\n", 'page', 'lines', 'paragraphs', 'paragraphs', 'sentences', 'code', 'cells', 'lines';
	printf "# %-40s %6s %11s %11s %10s %6s %6s %6s\n", '', '', 'median', '90 %', '90 %', '%', 'most', 'most';
	for my $page ($all, @measured)
	{
		printf "# %-40s %6d %11d %11d %10d %6.1f %6d %6d\n", $page->{name}, scalar @{ $page->{lines} },
		  percentile(50, $page->{paragraphs}), percentile(90, $page->{paragraphs}), percentile(90, $page->{sentences}),
		  code_percent($page), map { max(0, map { $_->[0] } @{ $page->{$_} }) } qw(cells lines);
	}
	return;
}

sub print_long
{
	for my $page (@_)
	{
		for my $pair ([ 'paragraphs', $bar{paragraph_90} ], [ 'sentences', $bar{sentence_90} ])
		{
			my ($kind, $most) = @$pair;
			print "# $page->{name}:$_->[1]: $kind of $_->[0] words: ", substr($_->[2], 0, 70), "\n"
			  for grep { $_->[0] > $most } @{ $page->{$kind} };
		}
	}
	return;
}
