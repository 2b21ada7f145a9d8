# PsqlOutput.pm
#
# Are two outputs of a statement the same result?
#
# An output is a sequence of tables, as psql aligns them, and of other lines.  Other lines
# must be the same; where all that was printed are rows without a frame, they count as a table.  So must tables, but for the order of their rows where the outermost
# query leaves it open; where it orders them, rows may change places that are equal in all
# that it orders by, if that can be seen in the columns of the table.

package PsqlOutput;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(compare);

# How the second output gives the result of the first: 'same', 'rows' (the same rows in another
# order, which was open), 'ties' (... among rows that the order does not tell apart), or '' where it
# does not.  The ordering is a list of ORDER BY, or ''; undef where the order was asked
# for in a way that can't be seen.  bare: the output is rows without a frame.
sub compare
{
	my ($first, $second, $ordering, $bare) = @_;
	my $how = 'same';

	return 'same' if $first eq $second;
	my @first = $bare ? bare_rows($first) : parts($first);
	my @second = $bare ? bare_rows($second) : parts($second);
	return '' if @first != @second;
	foreach my $i (0 .. $#first)
	{
		my ($f, $s) = ($first[$i], $second[$i]);
		return '' if $f->{text} ne $s->{text};
		next if join("\n", @{ $f->{rows} }) eq join("\n", @{ $s->{rows} });
		return '' if join("\n", sort @{ $f->{rows} }) ne join("\n", sort @{ $s->{rows} });
		return '' unless defined $ordering;
		if ($ordering ne '')
		{
			my @keys = key_columns($f, $ordering);
			return '' if @keys == 0 || keys_of($f, @keys) ne keys_of($s, @keys);
			$how = 'ties';
		}
		elsif ($how eq 'same')
		{
			$how = 'rows';
		}
	}
	return $how;
}

# An output as parts: a table, { text => its header, rows => [ ... ] }, or lines, { text, rows => [] }.
sub parts
{
	my ($output) = @_;
	my (@parts, $table);
	my @lines = split /\n/, $output;
	my $other = { text => '', rows => [] };

	for (my $i = 0; $i <= $#lines; $i++)
	{
		if ($i < $#lines && $lines[$i] =~ /^ / && $lines[ $i + 1 ] =~ /^-+(?:\+-+)*$/)
		{
			push @parts, $other;
			$table = { text => "$lines[$i]\n$lines[$i + 1]", rows => [], rule => $lines[ $i + 1 ] };
			push @parts, $table;
			$other = { text => '', rows => [] };
			my $continues = 0;
			for ($i += 2; $i <= $#lines && $lines[$i] !~ /^\(\d+ rows?\)$/; $i++)
			{
				if ($continues)
				{
					$table->{rows}[-1] .= "\n$lines[$i]";
				}
				else
				{
					push @{ $table->{rows} }, $lines[$i];
				}
				$continues = continues($table->{rule}, $lines[$i]);
			}
		}
		$other->{text} .= "$lines[$i]\n" if $i <= $#lines;
	}
	return (@parts, $other);
}

# Rows without a frame as a table.
sub bare_rows
{
	my ($output) = @_;

	return ({ text => "\n", rows => [ split /\n/, $output ] });
}

# Does a line of a table end in the middle of a value?  psql then puts a + after it.
sub continues
{
	my ($rule, $line) = @_;
	my $end = -1;

	foreach my $column (split /\+/, $rule, -1)
	{
		$end += 1 + length $column;
		return 1 if length($line) >= $end && substr($line, $end - 1, 1) eq '+';
	}
	return 0;
}

# Numbers of the columns of a table that an ORDER BY list names, or nothing where one of
# them is not there to see.
sub key_columns
{
	my ($table, $ordering) = @_;
	my ($header) = $table->{text} =~ /^(.*)\n/;
	my @names = map { s/^\s+|\s+$//gr } split /\|/, $header;
	my @columns;

	foreach my $key (split /,/, $ordering)
	{
		$key =~ s/^\s+|\s+$//g;
		$key =~ s/\s+nulls (?:first|last)$//i;
		$key =~ s/\s+(?:asc|desc|using \S+)$//i;
		$key =~ s/\s+collate \S+$//i;
		if ($key =~ /^\d+$/ && $key >= 1 && $key <= @names)
		{
			push @columns, $key - 1;
			next;
		}
		$key =~ s/^\w+\.//;
		$key =~ s/^"(.*)"$/$1/;
		my @found = grep { $names[$_] eq $key } 0 .. $#names;
		return () if @found != 1;
		push @columns, $found[0];
	}
	return @columns;
}

# The values of some columns, row by row.
sub keys_of
{
	my ($table, @columns) = @_;

	return join "\n", map { my @values = split /\|/; join '|', map { $_ // '' } @values[@columns] } @{ $table->{rows} };
}

1;
