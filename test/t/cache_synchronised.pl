# Scans that begin in the middle of a table, where another scan of it is (synchronize_seqscans), and go on at its beginning: each row comes
# once, whether it is read from the cache, covered or read from the heap.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

# a table is scanned so where it has more than a quarter of as many blocks
my $node = new_server('synchronised', conf => <<'CONF');
hashgraph.resident_memory = '64MB'
hashgraph.resident_auto = off
hashgraph.force = on
shared_buffers = '4MB'
CONF

sub sql { return $node->safe_psql('postgres', shift); }

# two segments and a part of another one
sql('create table a (k int, v int, w text); create table b (k int, v int, w text)');
sql(q{insert into a select i, i % 100, repeat('x', 900) from generate_series(1, 20000) i});
sql(q{insert into b select i, i % 70, repeat('y', 900) from generate_series(1, 20000) i order by i desc});
become_resident($node, 'a', 'b');
sql("select hashgraph_resident_add('$_', keys => '{k}', wait => true)") foreach qw(a b);

# Another session's scan of a table, which has come so far and stays there, and where the next one begins.
my $other = RawSession->new($node);
my $table;

sub stand_at
{
	my ($rows) = @_;

	$other->run_each("begin; set local hashgraph.enabled = off; declare c cursor for select k from $table; move $rows in c");
	return;
}

sub begins_at { return sql("set hashgraph.enabled = off; select ctid from $table limit 1") =~ /^\((\d+),/ ? $1 : -1; }

my @queries = (
	'select count(*) from a join b using (k)',
	'select count(*), sum(a.v), sum(b.v) from a join b using (k)',
	'select count(*), sum(v), min(k), max(k) from a',
	'select count(*), sum(a.v) from a left join b on a.k = b.k + 5',
	'select sum(a.v), count(b.k) from a full join b on a.k = b.k + 19990');

# Tests: queries give what PostgreSQL's own joins do with scans of either table in the middle of it.
sub same
{
	my ($when) = @_;

	foreach my $at ([ 'a', 700 ], [ 'a', 9000 ], [ 'a', 19900 ], [ 'b', 8200 ], [ 'b', 17000 ])
	{
		$table = $at->[0];
		stand_at($at->[1]);
		cmp_ok(begins_at(), '>', 0, "$when: a scan of $table begins in the middle, $at->[1] rows behind its beginning");
		foreach my $query (@queries)
		{
			foreach my $resident ('on', 'off')
			{
				is(sql("set hashgraph.resident = $resident; $query"), sql("set hashgraph.enabled = off; $query"), "$when: $at->[0], $at->[1]: $query, residents $resident");
			}
		}
		$other->run_each('commit');
	}
	return;
}

like(explain_analyze($node, '', $queries[0]), qr/Outer HashGraph: resident\n.*Inner HashGraph: resident/s, 'rows are covered');
like(explain_analyze($node, '', $queries[2]), qr/Resident Blocks: [1-9].*Heap Blocks: 0/s, 'and served');
same('all blocks are served');

# blocks that have changed, at both ends of segments and of the table, and between them
sql('update a set v = v + 1 where k % 1500 < 3 or k > 19990; update b set v = v - 1 where k % 700 = 1; insert into a select i, 1 from generate_series(20001, 20100) i');
like(explain_analyze($node, '', $queries[0]), qr/Outer Heap Blocks: [1-9]/, 'rows are read of blocks that have changed');
same('some blocks have changed');

session_ok($node, 'the server still joins');
$node->stop;
done_testing();
