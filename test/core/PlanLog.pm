# PlanLog.pm
#
# The plans that auto_explain left in a server's log, and the joins in them.
#
# settings() says what the server needs for it.

package PlanLog;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(settings read_plans joins);

# What postgresql.conf needs.  Plans are logged at debug2: at the level of log they would reach
# clients that ask for such messages.
sub settings
{
	return <<'CONF';
log_line_prefix = '@%a@ '
log_min_messages = debug2
auto_explain.log_min_duration = 0
auto_explain.log_level = debug2
auto_explain.log_nested_statements = on
auto_explain.log_timing = off
CONF
}

# Call a function for every plan of a log, with the application name, the query and the lines of the plan.
sub read_plans
{
	my ($file, $each) = @_;
	my $plan;

	my $done = sub {
		$each->($plan->{application}, $plan->{query}, @{ $plan->{lines} })
		  if defined $plan && @{ $plan->{lines} };
		undef $plan;
	};

	open my $log, '<', $file or die "cannot read $file: $!\n";
	my $into = '';
	while (my $line = <$log>)
	{
		if ($line =~ /^\@([^@]*)\@ \w+:  (.*)/s)
		{
			my ($application, $message) = ($1, $2);
			$done->();
			$into = '';
			if ($message =~ /^duration: [\d.]+ ms  plan:$/)
			{
				$plan = { application => $application, query => '', lines => [] };
				$into = 'query';
			}
		}
		elsif ($into eq 'query')
		{
			if ($line =~ /^\t\S.*  \(cost=[\d.]+\.\.[\d.]+ rows=\d+ width=\d+\)$/)
			{
				$into = 'plan';
				push @{ $plan->{lines} }, $line =~ s/^\t|\n//gr;
			}
			else
			{
				$line =~ s/^\t(?:Query Text: )?//;
				$plan->{query} .= $line;
			}
		}
		elsif ($into eq 'plan')
		{
			push @{ $plan->{lines} }, $line =~ s/^\t|\n//gr;
		}
	}
	$done->();
	close $log;
	return;
}

# The equi-joins of a plan: { node, taken, equality, lateral }.  node is how EXPLAIN names it.  taken is true for a
# join of ours.  Of nested loops those count that compare a value of one side with one of the other for equality.
sub joins
{
	my (@lines) = @_;
	my (@stack, @nodes, @joins);

	foreach my $line (@lines)
	{
		if ($line =~ /^(\s*)(->  )?(\S.*?)  \(cost=/ || $line =~ /^(\s*)()((?:SubPlan|InitPlan|CTE) .*)$/)
		{
			my ($indent, $label) = (length($1) + length($2 // ''), $3);
			my $node = { indent => $indent, label => $label, children => [], conditions => [] };
			pop @stack while @stack && $stack[-1]{indent} >= $indent;
			push @{ $stack[-1]{children} }, $node if @stack;
			push @stack, $node;
			push @nodes, $node;
		}
		elsif (@stack && $line =~ /^(\s*)((?:Hash|Merge|Join|Index|Recheck|TID) (?:Cond|Filter)|Filter|Join Type): (.*)$/)
		{
			my ($indent, @condition) = (length $1, $2, $3);
			# it belongs to the node whose line is indented less
			pop @stack while @stack > 1 && $stack[-1]{indent} >= $indent;
			push @{ $stack[-1]{conditions} }, \@condition;
		}
	}
	foreach my $node (@nodes)
	{
		if ($node->{label} =~ /^(?:Parallel )?Custom Scan \(HashGraphJoin\)/)
		{
			my ($type) = map { $_->[1] } grep { $_->[0] eq 'Join Type' } @{ $node->{conditions} };
			push @joins, { node => 'HashGraphJoin ' . ($type // ''), taken => 1 };
		}
		elsif ($node->{label} =~ /^(?:Parallel )?(?:Hash|Merge)(?: \w+| Right \w+)? Join/)
		{
			push @joins, { node => $node->{label} =~ s/^Parallel //r, taken => 0 }
			  if grep { $_->[0] =~ /^(?:Hash|Merge) Cond$/ } @{ $node->{conditions} };
		}
		elsif ($node->{label} =~ /^Nested Loop/)
		{
			my ($outer, $inner) = grep { $_->{label} !~ /^(?:SubPlan|InitPlan|CTE) / } @{ $node->{children} };
			next unless defined $inner;
			my %outer = map { $_ => 1 } aliases($outer);
			my %inner = map { $_ => 1 } aliases($inner);
			my ($equality) = grep { compares($_->[1], \%outer, \%inner) }
			  grep { $_->[0] eq 'Join Filter' } @{ $node->{conditions} };
			# a scan's own columns have no name of a relation before them
			($equality) = grep { compares($_->[1], \%outer, { %inner, '' => 1 }) } conditions($inner)
			  unless defined $equality;
			push @joins,
			  { node => $node->{label} . ($equality->[0] eq 'Join Filter' ? '' : ", rows of the outer side in $equality->[0]"),
				taken => 0, equality => $equality->[1] }
			  if defined $equality;
		}
	}
	return @joins;
}

# The names that the relations below a node have.
sub aliases
{
	my ($node) = @_;
	my @found;

	push @found, $1 =~ s/^"|"$//gr
	  if $node->{label} =~ /\bon (?:.* )?("[^"]+"|\S+)$/ && $node->{label} !~ /^Bitmap Index/;
	return (@found, map { aliases($_) } @{ $node->{children} });
}

# All conditions at and below a node.
sub conditions
{
	my ($node) = @_;

	return (@{ $node->{conditions} }, map { conditions($_) } @{ $node->{children} });
}

# Is one of the terms of a condition an equality of a value of one side and one of the other?
sub compares
{
	my ($condition, $outer, $inner) = @_;
	my $operand = '(?:(?&parens)(?:::"?\w+"?(?:\[\])?)?+|[\w."*]++)';

	# one term alone stands in its own parentheses, several in one more
	$condition =~ s/^\((.*)\)$/$1/;
	foreach my $term ("($condition)", split / AND /, $condition)
	{
		next unless $term =~ /^\(($operand) = ($operand)\)$(?(DEFINE)(?<parens>\((?:[^()]++|(?&parens))*+\)))/;
		my ($left, $right) = map { side($_, $outer, $inner) } $1, $2;
		return 1 if "$left$right" eq 'oi' || "$left$right" eq 'io';
	}
	return 0;
}

# Which side an operand is of: o, i, or something else.  Of relation '' are columns without one.
sub side
{
	my ($operand, $outer, $inner) = @_;
	my %sides;

	$sides{i} = 1 if $inner->{''} && $operand !~ /['.]/ && $operand =~ s/::\w+//gr =~ /[a-z_]/i;
	while ($operand =~ /("[^"]+"|\w+)\./g)
	{
		my $alias = $1 =~ s/^"|"$//gr;
		$sides{ $outer->{$alias} ? 'o' : $inner->{$alias} ? 'i' : '?' } = 1;
	}
	return join '', sort keys %sides;
}

1;
