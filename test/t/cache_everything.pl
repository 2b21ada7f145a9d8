# Everything resident: our own regression topics print what they are expected to where each table that a query scans is taken in
# when the query begins, but for the lines of plans that tell of it.
#
# Needs a server with a build of HG_DEBUG=1 in PATH, as cache_faults.pl does: that has the setting
# (test/fault/hg_fault_at_once.c).  It takes minutes, and runs with test/nightly.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'needs a build of HG_DEBUG=1' unless $ENV{HG_DEBUG_BUILD};

my $root = "$FindBin::Bin/../..";
my $out = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('resident_everything', init => [ extra => ['--locale=C.UTF-8'] ], conf => <<'CONF');
hashgraph.resident_memory = '64MB'
hashgraph.fault_resident_at_once = on
hashgraph.backend = cpu
wal_level = replica
log_statement = none
CONF

# What a topic prints, without what plans say of residents: how wide a plan is, and how many lines it has, follows.  So do whether
# the plan is worth a Gather, which processes and scans read what, whether the aggregate node takes a table or a join without columns,
# whether an adaptive join looks up or hashes and how much it reads for that, and whether inner keys are kept as bits.
sub printed
{
	my $text = slurp_file(shift);

	$text =~ s/^ *((Outer|Inner) )?(Resident|Heap) Blocks: \d+ *\n//mg;
	$text =~ s/(Outer|Inner) (Resident|Heap) Blocks(, )?//g;
	$text =~ s/, aggregated by \w+//g;
	$text =~ s/^( *)QUERY PLAN *\n-+$/QUERY PLAN/mg;
	$text =~ s/^\(\d+ rows?\)$/(rows)/mg;
	$text =~ s/[ \t]+/ /g;
	$text =~ s/-{3,}/---/g;
	$text =~ s/^ (gathers|few|up \| down) \n ?[-+]+\n \K[tf |]+$/?/mg;
	$text =~ s/Finalize over Append of \K\d+ by HashGraphAggregate, \d+ partial and \d+ whole/?/g;
	$text =~ s/\d+ parallel joins, \d+ parallel scans(, \d+ read once)?/?/g;
	$text =~ s/^ (?:.*\| )?\K[\w, ]*: (?=\d+ rows, same$)/?: /mg;
	$text =~ s/^ \d+ \| \d+ \| (?=same, )/? | ? | /mg;
	return $text;
}

# settings scans nothing, and lists those of this build
my @topics = grep { $_ ne 'settings' } map { m{([^/]+)\.sql$} } grep { !/hashgraph--/ } glob "$root/sql/*.sql";
run_log([ $ENV{PG_REGRESS}, "--inputdir=$root", "--outputdir=$out", '--bindir=', '--host=' . $node->host, '--port=' . $node->port,
		'--load-extension=hashgraph', '--dbname=regress_resident', '--encoding=UTF8', @topics ]);
foreach my $topic (@topics)
{
	append_to_file("$out/$topic.$_->[0]", printed($_->[1]))
	  foreach [ expected => "$root/expected/$topic.out" ], [ printed => "$out/results/$topic.out" ];
	my $diff = `diff -U2 '$out/$topic.expected' '$out/$topic.printed'`;
	is($diff, '', $topic);
}
my ($scans, $rows) = split /\|/, $node->safe_psql('postgres', 'select scans, rows_served from hashgraph_stat_resident');
cmp_ok($scans, '>', 1000, "many scans were served: $scans, with $rows rows");
unlike(slurp_file($node->logfile), qr/was not taken in|TRAP|PANIC|was terminated by signal|leak/, 'all that was waited for was taken in, and nothing has failed');
$node->stop;
done_testing();
