# Memory and temporary files of a join stay within their bounds, and nothing is left.
#
# Devices: keys and matches go through staging memory.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

my $node = new_server('memory', conf => "hash_mem_multiplier = 1\n");

$node->safe_psql('postgres', <<'SQL');
create table l as select i % 1000000 as k, i as v, repeat('l', 20) as pad from generate_series(1, 1000000) i;
create table r as select i % 1000000 as k, i as w, repeat('r', 20) as pad from generate_series(1, 1000000) i;
create table skew as select case when i % 10 > 0 then 7 else i end as k, i as z, repeat('s', 20) as pad
  from generate_series(1, 300000) i;
-- a table, because a function's rows would be kept in work_mem too
create table series as select i from generate_series(1, 2200000) i;
-- rows that are narrow as they lie in the table, and wide once something is made of them
create table keys as select i as k, i % 3 as g from generate_series(1, 120) i;
create table arrays as select k, array_fill(repeat('x', 100) || k, array[8000]) as p from keys;
create table fan as select i % 3 as g, i as n from generate_series(1, 120) i;
create table later as select i as k, i % 3 as g from generate_series(1, 120) i;
create table digits as select i as k, (repeat('7', 100000) || i)::numeric as x from generate_series(1, 120) i;
create table part as select * from l where v <= 35000;
create table others as select * from r where w <= 60000;
analyze;
alter table later add column pad text default repeat('d', 500000);
create table wider as select i as k from generate_series(1, 240) i;
SQL
my @added = map { "d$_" } 1 .. 20;
$node->safe_psql('postgres', 'alter table wider ' . join(', ', map { "add column $_ text default repeat('d', 7000)" } @added));

my %joins = (
	inner => 'select count(*), sum(v), sum(w), count(l.pad || r.pad) from l join r using (k)',
	semi => 'select count(*), sum(v), max(pad) from l where exists (select from r where r.k = l.k and r.w % 2 = 0 and r.w <> l.v - 1)', # rows are looked at: keys alone might be bits
	anti => 'select count(*), sum(v), max(pad) from l where not exists (select from r where r.k = l.k and r.w % 2 = 0)');
my %expected = map { $_ => $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; $joins{$_}") } keys %joins;

# Joins of more than work_mem, for each of three sizes of it (the first alone with HG_QUICK): a side has so many rows (in
# thousands) that it is larger by far, or wider ones where one key is to have them all.
my @sizes = $ENV{HG_QUICK} ? (4) : (4, 16, 64);
my $key = 'select i % 1000000 as k, i as v, i % 10 as s';
my %large = (
	'int keys' => [ 'select count(*), sum(a.v), sum(b.v) from (%s) a join (%s) b using (k)', $key, 300, 800, 2200 ],
	'left join' => [ 'select count(*), sum(a.v), sum(b.v) from (%s) a left join (%s) b on a.k = b.k + 1000', $key, 300, 800, 2200 ],
	'right join' => [ 'select count(*), sum(a.v), sum(b.v) from (%s) a right join (%s) b on a.k = b.k + 1000', $key, 300, 800, 2200 ],
	'full join' => [ 'select count(*), sum(a.v), sum(b.v) from (%s) a full join (%s) b on a.k = b.k + 1000', $key, 300, 800, 2200 ],
	'groups' => [ 'select count(*), sum(n), sum(x) from (select a.v, b.k, count(*) as n, sum(a.v + b.v) as x from (%s) a join (%s) b using (k) group by a.v, b.k) g', $key, 300, 800, 2200 ],
	'distinct values' => [ 'select count(distinct a.v), count(distinct a.k), count(distinct b.v) filter (where b.s > 2), sum(a.v) from (%s) a join (%s) b using (k)', $key, 300, 800, 2200 ],
	'wide rows' => [ 'select count(*), sum(octet_length(a.pad || b.pad)) from (%s) a join (%s) b on a.t = b.t',
		'select \'key\' || i % 1000000 as t, repeat(\'x\', i % 700) as pad', 50, 150, 500 ],
	'NULL keys' => [ 'select count(*), sum(a.v), sum(b.v), max(a.pad || b.pad) from (%s) a full join (%s) b using (k)',
		'select case when i % 10 = 0 then i end as k, i as v, repeat(\'n\', 40) as pad', 150, 500, 1500 ],
	'one key' => [ 'select count(*), sum(octet_length(a.pad) - octet_length(b.pad)) from (%s) a join (%s) b using (k)',
		'select 1 as k, repeat(\'x\', %s * 1000) as pad', 3, 3, 3 ],
	'one key, full' => [ 'select count(*), sum(octet_length(a.pad) - octet_length(b.pad)) from (%s) a full join (%s) b on a.k = b.k and a.v = b.v',
		'select case when i % 3 > 0 then 1 else i end as k, i as v, repeat(\'x\', %s * 1000) as pad', 3, 3, 3 ]);

# Queries that compute, or have above one row of a table, values of more than all of their columns: kept for a batch of
# rows they would take more than any of these may.
my %values = (
	'argument of an aggregate' => q(select md5(max(repeat('x', 1000000) || k)), min(repeat('y', 1000000) || k) from keys a join keys b using (k)),
	'argument of an aggregate by groups' => q(select count(*), sum(length(m)), md5(min(m)) from (select k, max(repeat('x', 1000000) || k) as m from keys a join keys b using (k) group by k) g),
	'argument whose computation takes more than it' => q(select count(*), sum(length(m)), min(m) from (select k, max((array_append(p, repeat('t', k)))[8001]) as m from arrays a join keys b using (k) group by k) g),
	'argument that is counted' => q(select count(repeat('x', 1000000) || k), count(nullif(k, 7)), sum(k) from keys a join keys b using (k)),
	'argument of numerics' => q(select md5(sum((repeat('7', 100000) || a.k)::numeric)::text), md5(min((repeat('7', 100000) || a.k)::numeric)::text) from keys a join keys b using (g) where b.k <= 15),
	'column that is an argument by groups' => q(select count(*), sum(length(m)), sum(n), md5(min(m)) from (select n, max(p) as m from (select g, repeat('w', 500000) || k as p from keys where k <= 3 offset 0) k join fan f using (g) group by n) g),
	'long numerics by groups' => q(select count(*), md5(sum(s)::text), md5(min(a)::text) from (select k, sum(x) as s, avg(x) as a from digits join keys using (k) group by k) g),
	'column that groups are made by' => q(select count(*), sum(length(p)), sum(c) from (select p, n, count(*) as c from (select g, repeat('w', 500000) || k as p from keys where k <= 3 offset 0) k join fan f using (g) group by p, n) g),
	'value of many rows' => q(select count(*), sum(length(p)), sum(n) from (select g, repeat('w', 500000) || k as p from keys where k <= 3 offset 0) k join fan f using (g) join keys on keys.k = n),
	'value of rows without a match' => q(select count(*), sum(length(p)), sum(n) from (fan f left join (select g, repeat('w', 500000) || k as p from keys where k <= 3 offset 0) k using (g)) full join keys on keys.k = n + 100),
	'default of a new column' => q(select count(*), sum(length(pad)), sum(a.k) from later a join keys b using (k)),
	'defaults of many new columns' => 'select count(*), sum(a.k), sum(length(concat(' . join(', ', map { "a.$_" } @added) . '))) from wider a join wider b using (k)',
	'wide keys' => q(select count(*), min(length(a.t)) from (select repeat('t', 500000) || k as t from keys offset 0) a join (select repeat('t', 500000) || k as t from keys offset 0) b using (t)),
);

# Joins whose outer side stays the same in each of several executions, and is kept where half of work memory holds it,
# beside inner rows that are few, and many.
my %rescans = (
	'fit' => [ 'select count(*), sum(length(pad)), sum(w) from generate_series(1, 12) g, lateral (select pad, w from part join (select k, w from others where w <= 60000 / g offset 0) o using (k) offset 0) s', 'part' ],
	'do not fit' => [ 'select count(*), sum(length(pad)), sum(w) from generate_series(1, 3) g, lateral (select l.pad, w from l join (select k, w from r where w <= g * 1000 offset 0) r using (k) offset 0) s', 'l' ]);

# Queries of more than work_mem by other nodes, or by processes together: what their plans are to say, and the query.  Lookups
# in r would take PostgreSQL minutes: another query says what they find.
my %others = (
	'groups of a table' => [ 'HashGraphAggregate', 'select count(*), sum(n), max(x) from (select k, count(*) as n, max(pad) as x from l group by k) g' ],
	'groups that processes share' => [ 'Parallel Custom Scan \(HashGraphAggregate\).*Processes: 3',
		'select count(*), sum(n), max(x) from (select k, count(*) as n, max(l.pad) as x from l join r using (k) group by k having max(v) % 1000 = 7) g' ],
	'grouping sets' => [ 'HashGraphAggregate\)[^\n]*\n *Group Key: l.k, l.pad\n *Group Key: l.k\n', 'select count(*), sum(n), max(x) from (select k, pad, count(*) as n, max(v) as x from l group by rollup (k, pad)) g' ],
	'grouping sets that processes share' => [ 'Parallel Custom Scan \(HashGraphAggregate\)[^\n]*\n *Group Key: l.k, l.pad\n *Group Key: l.k\n.*Processes: 3',
		'select count(*), sum(n), max(x) from (select k, l.pad, count(*) as n, max(v) as x from l join r using (k) group by rollup (k, l.pad)) g' ],
	'distinct rows' => [ 'HashGraphAggregate', 'select count(*), sum(k), max(pad) from (select distinct k, pad from l) d' ],
	'distinct values of groups' => [ 'HashGraphAggregate', 'select count(*), sum(n), sum(m) from (select k % 1000, count(distinct v) as n, count(distinct pad || v) as m from l group by 1) g' ],
	'rows of two queries' => [ 'Set Operation', 'select count(*), sum(k) from (select k, pad from l intersect all select k, pad from l where v % 3 > 0) x' ],
	'lookups' => [ 'HashGraphLookup', 'select sum((select max(w) from r where r.k = l.k)) from l where v <= 300', 'select sum(w) from l join r using (k) where v <= 300' ]);

# The query of a large join for a size of work_mem.  What the sides compute is computed
# before the join.
sub large_query
{
	my ($join, $size) = @_;
	my ($query, $side, @thousands) = @{ $large{$join} };
	my ($rows) = map { 1000 * $thousands[$_] } grep { $sizes[$_] == $size } 0 .. $#sizes;

	# rows of one key are that many kilobytes wide
	$side = sprintf($side, $size) if $side =~ /%s/;
	return sprintf($query, ("$side from series where i <= $rows offset 0") x 2);
}

# Private memory of a process, and what it shares with a device process, in kB.
sub held
{
	my ($pid, $on_device) = @_;
	my ($private) = slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m or die 'no RssAnon';
	my $shared = 0;

	($shared) = slurp_file("/proc/$pid/smaps") =~ /hashgraph staging.*?^Rss:\s+(\d+) kB/ms if $on_device;
	return $private + ($shared // 0);
}

# What the parallel workers of a session hold, the most of one, in kB.  A worker may be gone meanwhile.
sub held_by_workers
{
	my ($pid) = @_;
	my @workers = split /\n/, $node->safe_psql('postgres', "select pid from pg_stat_activity where leader_pid = $pid");

	return max(0, map { eval { held($_, 0) } // 0 } @workers);
}

# Run a query with so many MB of work memory and look at its memory every 10 ms, and with at_workers at that of its
# workers, too.  Returns its result, by how many kB it grew at most, and what is said of it.
sub watch
{
	my ($backend, $size, $query, $at_workers) = @_;
	my $session = RawSession->new($node);
	my $on_device = $backend eq 'cuda';
	my $peak = 0;

	# what a session keeps from one join to the next does not count
	$session->query("set hashgraph.backend = $backend; set hashgraph.force = on; set work_mem = '256kB';"
		  . 'select count(v), count(w) from (select * from l limit 1000) l full join (select * from r limit 1000) r using (k)');
	my $before = held($session->pid, 0);
	$session->query("set work_mem = '${size}MB'");
	$session->send($query);
	do
	{
		$peak = max($peak, held($session->pid, $on_device), $at_workers ? held_by_workers($session->pid) : 0);
	} until ($session->finish(0.01));
	diag($session->{error}) if $session->{error};
	my $result = join "\n", @{ $session->{rows} };
	my $last = $session->query('select count(*) filter (where spilled_bytes > 0), max(partitions) > 1, max(memory_bytes) from hashgraph_last_joins()');
	return ($result, $peak - $before, split(/\|/, $last));
}

foreach my $backend (backends())
{
	my $label = $backend->{label};

	$node->safe_psql('postgres', "alter system set hashgraph.device_program = '$backend->{program}'");
	$node->reload;

	foreach my $join (sort keys %large)
	{
		foreach my $size (@sizes)
		{
			my $query = large_query($join, $size);
			my ($result, $grown, $spilled, $partitioned, $bytes) = watch($backend->{backend}, $size, $query);
			# that of the groups comes to that of the join below
			my $nodes = $join eq 'groups' || $join eq 'distinct values' ? 2 : 1;
			my $bound = $nodes * 1.5 * 1024 * $size + 16 * 1024;
			my $name = "$label: $join, work_mem of $size MB";

			is($result, $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; set enable_nestloop = off; $query"), $name);
			is($spilled, '1', '... went to disk');
			cmp_ok($grown, '<', $bound, "... took $grown kB at most");
			cmp_ok($bytes, '<', 1.5 * 1024 * 1024 * $size, "... the node says $bytes bytes");
		}
	}
	foreach my $value (sort keys %values)
	{
		my ($result, $grown) = watch($backend->{backend}, 4, $values{$value});

		is($result, $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; $values{$value}"), "$label: $value");
		cmp_ok($grown, '<', 1.5 * 1024 * 4 + 16 * 1024, "... took $grown kB at most");
	}
	foreach my $other (sort keys %others)
	{
		my ($plan, $query, $same) = @{ $others{$other} };
		my $processes = $other =~ /share/;
		my $parallel = $processes ? 'set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0; set parallel_tuple_cost = 0;' : '';

		$node->safe_psql('postgres', "alter database postgres set $_") foreach $parallel =~ /set ([^;]+)/g;
		my ($result, $grown) = watch($backend->{backend}, 4, $query, $processes);
		like(explain_analyze($node, "set hashgraph.backend = $backend->{backend}; set hashgraph.force = on; set work_mem = '4MB';", $query), qr/$plan/s, "$label: $other");
		$node->safe_psql('postgres', 'alter database postgres reset all');
		is($result, $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; " . ($same // $query)), '... with the right result');
		cmp_ok($grown, '<', 1.5 * 1024 * 4 + 16 * 1024, "... took $grown kB at most");
	}
	foreach my $rescan (sort keys %rescans)
	{
		my ($query, $outer) = @{ $rescans{$rescan} };
		my ($result, $grown, undef, undef, $bytes) = watch($backend->{backend}, 4, $query);
		my $again = explain_analyze($node, "set hashgraph.backend = $backend->{backend}; set hashgraph.force = on; set work_mem = '4MB';", $query);
		my ($times) = $query =~ /generate_series\(1, (\d+)\)/;
		my ($loops) = $again =~ /HashGraphJoin\).*?Seq Scan on $outer\b.*? loops=(\d+).*?Scan on (?:r|o)\b/s or die "another plan:\n$again";

		is($result, $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; $query"), "$label: outer rows of many executions that $rescan");
		cmp_ok($grown, '<', 1.5 * 1024 * 4 + 16 * 1024, "... took $grown kB at most");
		cmp_ok($bytes, '<', 1.5 * 1024 * 1024 * 4, "... the node says $bytes bytes");
		cmp_ok($loops, $rescan eq 'fit' ? '<' : '==', $times, '... are read as often as they must be');
	}

	# what EXPLAIN shows is the peak of the node's budget, which ends where it goes to disk
	my $explained = explain_analyze($node, "set hashgraph.backend = $backend->{backend}; set hashgraph.force = on; set work_mem = '4MB';",
		$values{'argument of an aggregate by groups'});
	my ($shown) = $explained =~ /HashGraphAggregate.*?Memory Usage: (\d+) ?kB/s;
	cmp_ok($shown, '>', 4 * 1024, "$label: the groups' memory is shown");
	cmp_ok($shown, '<', 1.5 * 4 * 1024, '... and is work memory and a row');

	# the states of ten groups grow with the last rows
	$explained = explain_analyze($node, "set hashgraph.backend = $backend->{backend}; set hashgraph.force = on; set work_mem = '64MB';",
		q(select i % 10, max(repeat('s', case when i <= 700 then 1 else 1000000 end) || i) from series a join series b using (i) where i <= 1000 group by 1));
	($shown) = $explained =~ /HashGraphAggregate.*?Memory Usage: (\d+) ?kB/s;
	cmp_ok($shown, '>', 9 * 1024, "$label: the memory of states that have grown is shown");

	# one that has to hold both sides, whatever their keys are
	my $full = $joins{inner} =~ s/ join / full join /r;
	my ($result, $grown, $spilled) = watch($backend->{backend}, 1024, $full);
	is($result, $node->safe_psql('postgres', "set work_mem = '1GB'; set hashgraph.enabled = off; $full"), "$label: a join in memory");
	is($spilled, '0', "$label: ... did not go to disk");
	cmp_ok($grown, '>', 64 * 1024, "$label: ... took $grown kB: the measure measures");

	is(scalar(temp_files($node)), 0, "$label: no temporary files are left");

	# one key that no partition can part: in memory at whatever size, and right
	my $query = 'select count(*), sum(a.z) from (select * from skew where z <= 30) b left join skew a using (k)';
	is( $node->safe_psql('postgres', "set hashgraph.force = on; set hashgraph.backend = $backend->{backend}; set work_mem = '256kB'; $query"),
		$node->safe_psql('postgres', "set hashgraph.enabled = off; set work_mem = '64MB'; $query"),
		"$label: one key in most rows");

	# temp_file_limit
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query("set hashgraph.backend = $backend->{backend}; set hashgraph.force = on; set work_mem = '1MB'; set temp_file_limit = '4MB';");
	foreach my $join (sort keys %joins)
	{
		$session->{stderr} = '';
		$session->query($joins{$join});
		like($session->{stderr}, qr/ERROR: +temporary file size exceeds "?temp_file_limit"?/, "$label: $join join honours temp_file_limit");
	}
	is(scalar(temp_files($node)), 0, "$label: no temporary files are left after the error");
	is($session->query("set temp_file_limit = -1; $joins{semi}"), $expected{semi}, "$label: the session joins on");

	# in the middle: files while it runs, none after a cursor is closed, a savepoint is
	# rolled back, a statement is cancelled, a session is terminated
	my $cursor = 'declare c cursor for select v, w, l.pad, r.pad from l join r using (k)';
	$session->query("begin; $cursor; move 10 in c;");
	cmp_ok(scalar(temp_files($node)), '>', 0, "$label: a cursor in the middle of a join on disk has files");
	$session->query('close c');
	is(scalar(temp_files($node)), 0, "$label: ... and none when it is closed");
	$session->query("savepoint s; $cursor; move 10 in c; rollback to s;");
	is(scalar(temp_files($node)), 0, "$label: ... and none when its savepoint is rolled back");
	$session->query("savepoint s; $cursor; move 10 in c; release s; move 10 in c; commit;");
	is(scalar(temp_files($node)), 0, "$label: ... and none at commit");
	$session->query("begin; $cursor; move 10 in c; select 1 / 0; rollback;");
	is(scalar(temp_files($node)), 0, "$label: ... and none after an error");
	$session->query("set statement_timeout = 300; $joins{inner};");
	$session->query('reset statement_timeout');
	is(scalar(temp_files($node)), 0, "$label: ... and none after a cancel");
	$session->query("begin; $cursor; move 10 in c");
	cmp_ok(scalar(temp_files($node)), '>', 0, "$label: a session with files");
	my $pid = $session->query('select pg_backend_pid()');
	$node->safe_psql('postgres', "select pg_terminate_backend($pid)");
	ok(wait_for(sub { !temp_files($node) }, 20), "$label: ... has none after pg_terminate_backend");
	$session->{run}->finish;
}

# temporary tablespaces
my $location = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', "create tablespace elsewhere location '$location'");
my $session = $node->background_psql('postgres');
$session->query("set temp_tablespaces = 'elsewhere'; set hashgraph.backend = cpu; set hashgraph.force = on; set work_mem = '1MB';"
	  . 'begin; declare c cursor for select v, w from l join r using (k); move 10 in c;');
my @elsewhere = glob("$location/*/pgsql_tmp/*");
cmp_ok(scalar(@elsewhere), '>', 0, 'files are in temp_tablespaces');
is(scalar(temp_files($node)), 0, '... and nowhere else');
$session->quit;
ok( wait_for(
		sub {
			@elsewhere = glob("$location/*/pgsql_tmp/*");
			return !@elsewhere;
		},
		20),
	'... and gone with the session');
cmp_ok($node->safe_psql('postgres', 'select temp_bytes from pg_stat_database where datname = \'postgres\''), '>', 0,
	'temporary files are counted in pg_stat_database');

# ------------------------------------------------------------------ memory that is kept for the next join

{
	my $count = 'select count(*) from l join r using (k)';
	# of HashGraphs: keys that are dense take little where they are vertices themselves
	my $cpu = "set hashgraph.backend = cpu; set hashgraph.force = on; set max_parallel_workers_per_gather = 0; set work_mem = '128MB'; set hashgraph.build = v2;";
	my $blocks = q{select coalesce((select total_bytes from pg_backend_memory_contexts where name = 'HashGraph blocks'), 0)};
	my $MB = 1024 * 1024;
	my $kept = sub { return split /\n/, $node->safe_psql('postgres', "$cpu " . join('; ', @_)) };

	# pages that the kernel may take without saving them, and those of a join that is at work there
	my $lazy = q{select 1024 * substring(pg_read_file('/proc/self/smaps_rollup', 0, 10000, true) from 'LazyFree: +(\d+)')::int8};
	my (undef, $bytes, $idle, $used, undef, $less, $none) = $kept->($count, $blocks, $lazy,
		"begin; declare c cursor for select l.v, r.w from l join r using (k); move 1 in c", $lazy, 'commit',
		"set work_mem = '16MB'", $count, $blocks, 'discard all', $blocks);
	cmp_ok($bytes, '>', 4 * $MB, 'what is kept for the next join shows in pg_backend_memory_contexts');
	cmp_ok($bytes, '<', 130 * $MB, '... and is no more than a join may use');
	cmp_ok($idle, '>', $bytes / 2, '... which the kernel may take without saving it');
	cmp_ok($used, '<', $idle / 2, '... until the next join uses it');
	cmp_ok($less, '<', 32 * $MB, 'a smaller work_mem: less is kept from the next join on');
	cmp_ok($none, '<', $MB, 'DISCARD ALL frees it');

	# ... which may have no block so large that it could be kept
	my $small = 'select count(*) from (select * from l limit 10) a join (select * from r limit 10) b using (k)';
	(undef, undef, $less, undef, undef, $none) =
	  $kept->($count, "set work_mem = '4MB'", $small, $blocks, "set work_mem = '128MB'", $count, 'set hashgraph.keep_memory = 0', $small, $blocks);
	cmp_ok($less, '<', 8 * $MB, '... as it is from a small join on');
	cmp_ok($none, '<', $MB, 'nothing is kept from a small join on where nothing may be');
	(undef, $none, undef, $used) = $kept->('set hashgraph.keep_memory = 0', $count, $blocks, $count, $lazy);
	cmp_ok($none + $used, '<', $MB, 'hashgraph.keep_memory = 0: nothing is kept');
	# partitions of a join on disk use the memory of the one before
	($bytes) = (undef, $kept->("set work_mem = '512kB'", $count, $blocks))[2];
	cmp_ok($bytes, '>', $MB / 4, 'blocks of less than 1 MB are kept, too');
	cmp_ok($bytes, '<', 2 * $MB, '... and are no more than a join may use');
}

# What filters are made of while a query is planned and begun: constants are many, each in a set of its own, and paths of joins are.
{
	my $list = join ', ', map { 3 * $_ } 1 .. 10000;
	my $tables = join ' ', 'keys k0', map { "join keys k$_ using (k)" } 1 .. 6;
	my %filters = (
		'OR' => 'select count(*) from keys a join keys b using (k) where ' . join(' or ', map { 'b.g = ' . 3 * $_ } 1 .. 4000),
		'tests for NULL' => 'select count(*) from keys a join keys b using (k) where ' . '(' x 18 . 'b.g > 1' . ') is unknown' x 18,
		'IN, of a join of many tables' => "explain select count(*) from $tables where k0.g in ($list)");

	foreach my $filter (sort keys %filters)
	{
		my ($peak) = $node->safe_psql('postgres', "set hashgraph.force = on; $filters{$filter}; select pg_read_file('/proc/self/status')") =~ /^VmHWM:\s+(\d+) kB/m;
		cmp_ok($peak, '<', 100_000, "a filter of many constants, or tests: $filter");
	}
}

session_ok($node, 'the server joins on');
$node->stop;
done_testing();
