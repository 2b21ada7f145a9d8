# PsqlScript.pm
#
# A script for psql as its statements: where each ends, what it is, and whether the
# outermost query orders its rows.
#
# A script is cut into units.  A unit is a run of lines after which psql has nothing
# pending: mostly one statement, several where they share a line.  with_markers() gives
# the script with a line after each unit that makes psql print a marker, so that what
# a unit printed can be told from the output; output_of_units() does that.
#
# The rules of where a statement ends are psql's (src/fe_utils/psqlscan.l): quotes, dollar
# quotes, comments, parentheses, bodies of SQL functions between BEGIN ATOMIC and END, and
# commands with a backslash.  Branches of \if that psql would skip are cut like any other:
# no marker is printed there, and what they print belongs to the next unit that has one.

package PsqlScript;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(units with_markers output_of_units without_markers ordering top_level squeeze);

my $marker = '@unit@';

# commands after which psql has sent, or thrown away, what it had pending
my $sends = qr/^(?:g|gx|gset|gexec|gdesc|crosstabview|watch|r|reset|parse|sendpipeline)$/;

# The units of a script, in order: { number, line, last_line, text, statements => [ text, ... ] }.
# Statements with a backslash begin with it.
sub units
{
	my ($script) = @_;
	my (@units, @statements, @identifiers);
	my ($pending, $parens, $begins, $from, $backslash_quotes) = ('', 0, 0, 0, 0);

	my $end_statement = sub {
		my ($text) = @_;
		push @statements, $text;
		$backslash_quotes = lc($1) =~ /^(?:off|false|no|0)$/
		  if $text =~ /\bstandard_conforming_strings\s*(?:=|to)\s*'?(\w+)/i;
		($pending, $parens, $begins, @identifiers) = ('', 0, 0);
	};
	my $end_line = sub {
		return if @statements == 0 || $pending =~ /\S/;
		my $to = pos $script;
		push @units,
		  { number => scalar(@units), text => substr($script, $from, $to - $from),
			statements => [@statements], end => $to };
		($from, @statements) = ($to);
	};

	pos($script) = 0;
	while (pos($script) < length $script)
	{
		if ($script =~ /\G\n/gc)
		{
			$pending .= "\n" if $pending ne '';
			$end_line->();
		}
		elsif ($script =~ /\G[^\S\n]+/gc)
		{
			$pending .= ' ' if $pending ne '';
		}
		elsif ($script =~ /\G--[^\n]*/gc)
		{
		}
		elsif ($script =~ m{\G(/\*(?:[^/*]|/(?!\*)|\*(?!/)|(?1))*\*/)}gc)
		{
			$pending .= ' ' if $pending ne '';
		}
		elsif ($script =~ /\G([eE]'(?:[^'\\]|\\.|'')*')/gcs
			|| ($backslash_quotes && $script =~ /\G('(?:[^'\\]|\\.|'')*')/gcs)
			|| $script =~ /\G('(?:[^']|'')*')/gc
			|| $script =~ /\G("(?:[^"]|"")*")/gc
			|| $script =~ /\G(\$([A-Za-z_\x80-\xff][A-Za-z_0-9\x80-\xff]*)?\$.*?\$\2\$)/gcs
			|| $script =~ /\G(\$\$.*?\$\$)/gcs)
		{
			$pending .= $1;
		}
		elsif ($script =~ /\G([A-Za-z_\x80-\xff][A-Za-z_0-9\$\x80-\xff]*)/gc)
		{
			my $word = $1;
			$pending .= $word;
			push @identifiers, lc $word if @identifiers < 4;
			if ("@identifiers" =~ /^create (?:or replace )?(?:function|procedure)\b/)
			{
				$begins++ if lc $word eq 'begin' || ($begins > 0 && lc $word eq 'case');
				$begins-- if lc $word eq 'end' && $begins > 0;
			}
		}
		elsif ($script =~ /\G;/gc)
		{
			$pending .= ';';
			if ($parens == 0 && $begins == 0)
			{
				my $text = $pending;
				$end_statement->($text);
				skip_copy_data(\$script) foreach $text =~ /\bcopy\b[^;]*?\bfrom\s+std(?:in|out)\b/gi;
			}
		}
		elsif ($script =~ /\G\\;/gc)
		{
			$pending .= ' \; ';
		}
		elsif ($script =~ /\G\\(\S+)([^\n]*)/gc)
		{
			my ($name, $rest) = ($1, $2);
			my $command = "\\$name$rest";
			if ($pending =~ /\S/ && $name =~ /^(?:el)?if$|^else$|^endif$|^bind/)
			{
				next;
			}
			if ($name =~ $sends && $pending =~ /\S/)
			{
				$end_statement->($pending . $command);
			}
			elsif ($pending =~ /\S/)
			{
				push @statements, $command;
			}
			else
			{
				$end_statement->($command);
			}
			skip_copy_data(\$script) if $command =~ /^\\copy\b.*\bfrom\s+p?std(?:in|out)\b/i;
		}
		elsif ($script =~ /\G(.)/gcs)
		{
			$pending .= $1;
			$parens++ if $1 eq '(';
			$parens-- if $1 eq ')' && $parens > 0;
		}
	}

	my $line = 1;
	foreach my $unit (@units)
	{
		my ($before) = $unit->{text} =~ /\A((?:[^\S\n]*(?:--[^\n]*)?\n)*)/;
		$unit->{line} = $line + ($before =~ tr/\n//);
		$line += ($unit->{text} =~ tr/\n//);
	}
	return @units;
}

# Go past the data of a COPY FROM STDIN.  A COPY that is to fail has none: its data would
# end before the next COPY begins.
sub skip_copy_data
{
	my ($script) = @_;

	if ($$script =~ /\G([^\n]*\n(?:.*?\n)??)\\\.(?=\n)/gcs)
	{
		my ($data, $end) = ($1, pos $$script);
		pos($$script) = $end;
		if ($data =~ /\bcopy\b[^;\n]*\bfrom\s+std(?:in|out)\b/i)
		{
			pos($$script) = $end - length($data) - 2;
		}
	}
	return;
}

# The script with a marker after every unit.
sub with_markers
{
	my ($script, @units) = @_;
	my ($result, $from) = ('', 0);

	foreach my $unit (@units)
	{
		$result .= substr($script, $from, $unit->{end} - $from) . "\\echo $marker $unit->{number}\n";
		$from = $unit->{end};
	}
	return $result . substr($script, $from);
}

# What psql printed for each unit, by number; -1 is what came after the last marker.
sub output_of_units
{
	my ($output) = @_;

	$output =~ s/\\echo \Q$marker\E \d+\n//g;
	my (@pieces) = split /\Q$marker\E (\d+)\n/, $output, -1;
	return (-1 => pop @pieces, reverse @pieces);
}

# An output as it is without markers.
sub without_markers
{
	my ($output) = @_;

	$output =~ s/(?:\\echo )?\Q$marker\E \d+\n//g;
	return $output;
}

# A statement in one line, with single spaces and no comment before it.
sub squeeze
{
	my ($statement) = @_;

	$statement =~ s/\s+/ /g;
	$statement =~ s/^ | $//g;
	return $statement;
}

# A statement with what is in quotes or in parentheses left out.
sub top_level
{
	my ($statement) = @_;

	$statement =~ s/\$(\w*)\$.*?\$\1\$/''/gs;
	$statement =~ s/'(?:[^']|'')*'/''/g;
	1 while $statement =~ s/\([^()]*\)/ \x01 /g;
	$statement =~ s/\x01/()/g;
	return squeeze($statement);
}

# The ORDER BY list of the outermost query of a statement, '' where it has none.  $named
# holds those of prepared statements and cursors, by name, and gains those that the
# statement makes.
sub ordering
{
	my ($statement, $named) = @_;
	my $top = top_level($statement);
	my $order = '';

	$order = $1
	  if $top =~ /\border by (.*?)(?:\b(?:limit|offset|fetch first|fetch next|for (?:update|share|no key|key share))\b.*|\\\w.*|;.*|$)/i;
	$order =~ s/^\s+|\s+$//g;
	$named->{ lc $1 } = $order if $top =~ /^(?:prepare|declare) "?(\w+)/i;
	return $named->{ lc $1 } // '' if $top =~ /^execute "?(\w+)/i;
	return $named->{ lc $1 } // '' if $top =~ /^fetch (?:.*[ ;])??(?:(?:from|in) )?"?(\w+)"?;?$/i;
	return $order;
}

1;
