# PgxnMeta.pm
#
# Is a META.json what version 1.0.0 of PGXN's meta specification (pgxn.org/spec) asks for?  What is not said of a
# field there is not looked at: x_ and X_ begin names of one's own.

package PgxnMeta;

use strict;
use warnings;

use Exporter 'import';
use JSON::PP ();

our @EXPORT_OK = qw(meta_violations);

my $number = qr/(?:0|[1-9][0-9]*)/;
my $semver = qr/$number\.$number\.$number(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?/;

my %license = map { $_ => 1 }
  qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit
  mozilla_1_0 mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib open_source restricted unrestricted unknown);

# What a value may be.  Each is asked for its violations, given the value and the words that name its place.
my %provided = (
	file     => [ required => \&file ],
	version  => [ required => \&version ],
	abstract => [ optional => \&text ],
	docfile  => [ optional => \&file ]);
my %fields = (
	name        => [ required => \&term ],
	version     => [ required => \&version ],
	abstract    => [ required => \&text ],
	maintainer  => [ required => sub { one_or_more(\&text, @_) } ],
	license     => [ required => \&licenses ],
	provides    => [ required => sub { map_of(\&term, sub { fields(\%provided, @_) }, @_) } ],
	'meta-spec' => [
		required => sub {
			fields({ version => [ required => \&spec_version ], url => [ optional => \&url ] }, @_);
		}
	],
	description    => [ optional => \&text ],
	generated_by   => [ optional => \&text ],
	release_status => [ optional => sub { one_of([qw(stable testing unstable)], @_) } ],
	tags           => [ optional => sub { one_or_more(\&tag, @_) } ],
	no_index       => [
		optional => sub {
			fields({ map { $_ => [ optional => sub { one_or_more(\&text, @_) } ] } qw(file directory) }, @_);
		}
	],
	prereqs => [
		optional => sub {
			map_of(
				sub { one_of([qw(configure build test runtime develop)], @_) },
				sub {
					map_of(
						sub { one_of([qw(requires recommends suggests conflicts)], @_) },
						sub { map_of(\&term, \&version_range, @_) }, @_);
				},
				@_);
		}
	],
	resources => [
		optional => sub {
			fields(
				{
					homepage   => [ optional => \&url ],
					bugtracker => [
						optional => sub { fields({ web => [ optional => \&url ], mailto => [ optional => \&mail ] }, @_) }
					],
					repository => [
						optional => sub {
							fields(
								{
									url  => [ optional => \&url ],
									web  => [ optional => \&url ],
									type => [ optional => \&lower_case ]
								},
								@_);
						}
					]
				},
				@_);
		}
	]);

# What a META.json's text has that the specification forbids, and lacks that it asks for, as lines.  exists() is
# asked for files that it names, relative to the distribution.
sub meta_violations
{
	my ($text, $exists) = @_;
	my $meta = eval { JSON::PP->new->utf8->decode($text) };

	return ("no JSON: " . $@ =~ s/ at \S+ line \d+\.?\n\z//r) unless defined $meta;
	my @violations = fields(\%fields, $meta, 'the whole');
	return @violations if @violations;
	foreach my $name (sort keys %{ $meta->{provides} })
	{
		foreach my $field ('file', 'docfile')
		{
			my $file = $meta->{provides}{$name}{$field};

			push @violations, "provides/$name/$field: there is no $file" if defined $file && !$exists->($file);
		}
	}
	return @violations;
}

sub fields
{
	my ($known, $value, $place) = @_;
	my $prefix = $place eq 'the whole' ? '' : "$place/";

	return "$place: not an object" unless ref $value eq 'HASH';
	return (
		(map { "$prefix$_: missing" } grep { $known->{$_}[0] eq 'required' && !defined $value->{$_} } sort keys %$known),
		map {
			    $known->{$_} ? (defined $value->{$_} ? $known->{$_}[1]->($value->{$_}, "$prefix$_") : ())
			  : /^x_/i       ? ()
			  : "$prefix$_: no such field, and no name that begins with x_"
		} sort keys %$value);
}

sub map_of
{
	my ($is_key, $is_value, $value, $place) = @_;

	return "$place: not an object" unless ref $value eq 'HASH';
	return "$place: empty" unless %$value;
	return map { /^x_/i ? () : ($is_key->($_, "$place/$_"), $is_value->($value->{$_}, "$place/$_")) } sort keys %$value;
}

sub one_or_more
{
	my ($is_one, $value, $place) = @_;

	return $is_one->($value, $place) unless ref $value;
	return "$place: neither a string nor a list" unless ref $value eq 'ARRAY';
	return "$place: empty" unless @$value;
	return map { $is_one->($value->[$_], "$place\[$_]") } 0 .. $#$value;
}

sub matches
{
	my ($like, $what, $value, $place) = @_;

	return "$place: not a string" if !defined $value || ref $value;
	return $value =~ $like ? () : "$place: \"$value\" is not $what";
}

sub one_of
{
	my ($words, @of) = @_;
	my $like = join '|', @$words;

	return matches(qr/\A(?:$like)\z/, 'one of ' . join(', ', @$words), @of);
}

sub text       { return matches(qr/\S/,                                    'a text',                        @_) }
sub file       { return matches(qr{\A(?!/)(?!.*(?:\A|/)\.\.(?:/|\z)).+\z}, 'a file of the distribution',    @_) }
sub term       { return matches(qr{\A[^\s[:cntrl:]/\\]{2,}\z},             'a name of two characters or more', @_) }
sub tag        { return matches(qr{\A[^[:cntrl:]/\\]{1,256}\z},            'a tag',                         @_) }
sub url        { return matches(qr{\A[A-Za-z][A-Za-z0-9+.-]*://[^/\s]+\S*\z}, 'a URL',                      @_) }
sub mail       { return matches(qr/\A\S+\@\S+\z/,                          'an address',                    @_) }
sub lower_case { return matches(qr/\A[^\p{Upper}]+\z/,                     'in lower case',                 @_) }
sub version    { return matches(qr/\A$semver\z/,                           'a semantic version',            @_) }
sub spec_version { return matches(qr/\A1\.0\.[0-9]+\z/,                    'the version of a specification that this is', @_) }

sub version_range
{
	my $one = qr/(?:(?:[<>]=?|==|!=)\s*)?$semver|0/;

	return matches(qr/\A$one(?:\s*,\s*$one)*\z/, 'a range of semantic versions', @_);
}

sub licenses
{
	my ($value, $place) = @_;
	my $is_known = sub {
		my ($name, $where) = @_;

		return "$where: not a string" if !defined $name || ref $name;
		return $license{$name} ? () : "$where: \"$name\" is not a licence that the specification names";
	};

	return ref $value eq 'HASH' ? map_of(\&text, \&url, $value, $place) : one_or_more($is_known, $value, $place);
}

1;
