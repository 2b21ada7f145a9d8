# HashGraphs of key columns that are resident: made, kept in step with what changes, told of, and given back.
#
# What they have is compared with the columns, and these with the table, by hashgraph_resident_check(), which cache_trouble.pl has
# find what is wrong.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('graphs', conf => <<'CONF');
hashgraph.resident_memory = '24MB'
hashgraph.resident_auto = off
max_worker_processes = 20
wal_level = replica
CONF
my $main;

sub sql
{
	$main //= RawSession->new($node);
	return $main->run_each(shift);
}

# What a statement fails with.
sub error_of
{
	my (undef, undef, $error) = $node->psql('postgres', shift);
	return $error;
}

# What the view tells of the graphs of a table: column, state, and how many blocks of all are in it and in step.
sub graphs
{
	my ($table) = @_;

	return sql(qq{select string_agg(format('%s %s %s of %s, %s stale', array_to_string(key, '+'), state, blocks_resident, blocks_total, blocks_stale), ' / ' order by column_number, key)
		from hashgraph_resident where relation = '$table'::regclass and kind = 'graph'}) // '';
}

# Have all of a table be all-visible, and served.
sub settle
{
	my ($table) = @_;

	my $rows = sql("select count(*) from $table");
	wait_for(sub { sql("select * from hashgraph_resident_check('$table')") eq "$rows|0" }, 30, every => 0.2, between => sub { sql("vacuum $table; select hashgraph_resident_refresh('$table')") })
	  or diag("$table: " . sql("select json_agg(r) from hashgraph_resident r where relation = '$table'::regclass"));
	return;
}

# A test: all of a table is in its graphs, and these are right.  A table that was
# filled by CREATE TABLE AS can end in pages that no row was put into (from PostgreSQL 16 on), which
# are in none; vacuum takes them away where they are a sixteenth of it or more.
sub in_step
{
	my ($table, $columns, $name) = @_;

	my $rows = sql("select count(*) from $table");
	my $blocks = sql("select pg_relation_size('$table') / 8192");
	my $expected = join ' / ', map { "$_ ready $blocks of $blocks, 0 stale" } @$columns;
	ok(wait_for(sub { graphs($table) eq $expected && sql("select * from hashgraph_resident_check('$table')") eq "$rows|0" }, 20), $name)
	  or diag(graphs($table) . "\nand not $expected; check: " . sql("select * from hashgraph_resident_check('$table')"));
	return;
}

# The most memory that a session has had mapped, in kB.
sub peak_of
{
	my ($session) = @_;

	slurp_file('/proc/' . $session->pid . '/status') =~ /^VmPeak:\s+(\d+) kB/m or die 'no VmPeak';
	return $1;
}

sub memory_used { return sql('select memory_used from hashgraph_stat_resident'); }
sub made { return sql('select graphs_made from hashgraph_stat_resident'); }
sub merged { return sql('select graphs_merged from hashgraph_stat_resident'); }

my $rows = 200_000;
sql(<<"SQL");
create table t (k int, b bigint, s smallint, c "char", f boolean, d float8, x text, w numeric, y int[]) with (fillfactor = 90);
insert into t select i, -i::bigint << 20, case when i % 5 > 0 then i % 1000 - 500 end, (i % 120)::int::"char", i % 7 = 0, i / 3.0, i, i from generate_series(1, $rows) i;
create table one as select 7 as k, i as v from generate_series(1, 20000) i;
create table none (k int, v int);
create table nulls as select null::int as k, i as v from generate_series(1, 1000) i;
SQL
my $nothing = memory_used();

# ---------------------------------------------------------------- making

sql(q{select hashgraph_resident_add('t', array['k', 'b'])});
settle('t');
my $advised = sql(q{select sum(graph_bytes) from hashgraph_resident_advise('t') where "column" in ('k', 'b')});
my $before = memory_used();
sql(q{select hashgraph_resident_add('t', array['k'], keys => array['k', 'b'], wait => true)});
in_step('t', [ 'k', 'b' ], 'graphs of two keys are there when they are waited for');
is(made(), '2', '... and counted');
my $bytes = sql(q{select sum(host_bytes) from hashgraph_resident where kind = 'graph'});
my $used = memory_used() - $before;
cmp_ok(abs($used - $bytes), '<', 64 * 1024, "... with their memory: $bytes bytes, $used are used");
cmp_ok(abs($advised - $bytes), '<', 0.1 * $bytes, "... as was advised: $advised");
cmp_ok(sql(q{select max(host_bytes) from hashgraph_resident where kind = 'graph' and "column" = 'k'}), '<', 1.3 * 12 * $rows, '... which is little');
is(sql(q{select count(*) from hashgraph_resident where kind = 'graph' and last_loaded is not null and location = 'host' and last_used is null}), '2', '... and the view tells the rest of them');
is(sql(q{select string_agg("column", ',' order by column_number) from hashgraph_resident where kind = 'column'}), 'k,b', 'a key is a column too');
sql(q{select hashgraph_resident_add('t', array['k'], keys => '{s,c,f,d}', wait => true)});
in_step('t', [qw(k b s c f d)], 'keys of each width, with NULLs and negative ones, are taken in with their columns');
is(made(), '6', '... and none is made twice');
my $counts = made() . ', ' . merged();
sql(q{select hashgraph_resident_add('t', array['k'], keys => '{k}', wait => true)});
is(made() . ', ' . merged(), $counts, '... nor one that is in step');
sql("select hashgraph_resident_add('$_', keys => '{k}', wait => true)") foreach 'one', 'none', 'nulls';
settle($_) foreach 'one', 'none', 'nulls';
in_step('one', ['k'], 'one key has 20000 rows');
in_step('none', ['k'], '... a table has no rows');
in_step('nulls', ['k'], '... or all keys are NULL');

# what a loader collects of a bin is bounded
sql(q{create table frequent (k int); insert into frequent select 7 from generate_series(1, 200000); select hashgraph_resident_add('frequent')});
settle('frequent');
sql(q{alter system set maintenance_work_mem = '1MB'; select pg_reload_conf()});
wait_for(sub { sql('show maintenance_work_mem') eq '1MB' }, 10);
like(error_of(q{select hashgraph_resident_add('frequent', keys => '{k}', wait => true)}), qr/a HashGraph of "frequent" could not be taken in.*rows of one key do not fit in maintenance_work_mem/s, 'a key that has too many rows for the loader has no graph');
sql(q{alter system reset maintenance_work_mem; select pg_reload_conf()});
wait_for(sub { sql('show maintenance_work_mem') eq '64MB' }, 10);
sql(q{select hashgraph_resident_refresh('frequent')});
in_step('frequent', ['k'], '... until there is memory for them, and it is asked for again');
sql('drop table frequent');

like(error_of(q{select hashgraph_resident_add('t', keys => '{x,y}')}), qr/column "y" of relation "t" cannot have a HashGraph.*no hash function of PostgreSQL's own/s, 'arrays can have none');
like(error_of(q{select hashgraph_resident_add('t', keys => '{{x,y}}')}), qr/columns "x", "y" of relation "t" cannot have a HashGraph/, '... nor with another column');
like(error_of(q{select hashgraph_resident_add('t', keys => '{nothing}')}), qr/column "nothing" of relation "t" does not exist/, '... nor what is not there');
like(error_of(q{select hashgraph_resident_add('t', keys => '{{k,x,k}}')}), qr/column "k" appears twice in a key/, '... nor a column with itself');
like(error_of(q{select hashgraph_resident_add('t', keys => '{{NULL,k}}')}), qr/column "NULL" of relation "t" does not exist/, '... nor what begins with NULL');
like(error_of(q{select hashgraph_resident_add('t', keys => '{{{k}}}')}), qr/"keys" has more than two dimensions/, '... nor arrays of arrays of keys');
like(error_of(q{select hashgraph_resident_add('t', keys => '{{k,b,s,c,f,d,x,w,y}}')}), qr/a HashGraph has at most 8 columns/, '... nor too many columns');
is(sql(q{select count(*) from hashgraph_resident where "column" in ('x', 'w')}), '0', '... and nothing is taken in then');

# keys of other types, and of several columns
sql(<<'SQL');
create table mixed (x text, w numeric, u uuid, d float8, i int, j int2, z bpchar(9) collate "C", n inet, b bytea, e bigint);
insert into mixed select case when i % 7 > 0 then 'text ' || i % 900 end, case when i % 9 > 0 then (i % 300) / 4.0 end, md5(i::text)::uuid, case i % 50 when 0 then 'nan' when 1 then '-0' else i::float8 end, i, i % 99, i % 77, '10.0.0.1'::inet + i % 500, decode(md5(i::text), 'hex'), i
  from generate_series(1, 4000) i;
SQL
sql(q{select hashgraph_resident_add('mixed', array['x'], keys => '{x,w,u,d,z,n,b}', wait => true)});
sql(q{select hashgraph_resident_add('mixed', array['x'], keys => '{{i,j,NULL},{j,i,NULL},{x,w,i},{i,e,NULL}}', wait => true)});
settle('mixed');
my @mixed = qw(x x+w+i w u d i+e i+j j+i z n b);
in_step('mixed', \@mixed, 'keys of all kinds, alone and together');
sql('update mixed set w = w + 1, i = i + 1 where i % 500 < 40; delete from mixed where i % 90 = 3');
settle('mixed');
in_step('mixed', \@mixed, '... follow changes');
sql(q{select hashgraph_resident_drop('mixed', array['i'])});
@mixed = grep { !/i/ } @mixed;
in_step('mixed', \@mixed, '... and go with any of their columns');
sql('alter table mixed alter x type varchar(50); alter table mixed alter w type numeric(12,3)');
settle('mixed');
in_step('mixed', \@mixed, '... and follow other types');
sql(q{select hashgraph_resident_add('mixed', keys => '{{x,e}}', wait => true)});
my $before_collation = made();
sql('alter table mixed alter x type text collate "C"');
settle('mixed');
ok(wait_for(sub { made() >= $before_collation + 2 }, 20), '... are made anew under another collation');
@mixed = qw(x x+e w u d z n b);
in_step('mixed', \@mixed, '... and are in step then');

# ---------------------------------------------------------------- in step

# a segment is 1021 blocks
sql(q{select hashgraph_resident_drop('t', array['s', 'c', 'f', 'd'])});
in_step('t', [ 'k', 'b' ], 'graphs go with their columns');
my ($made, $merged) = (made(), merged());
sql('update t set k = -k, b = b + 1 where k between 1000 and 100000');
settle('t');
in_step('t', [ 'k', 'b' ], 'after updates graphs are in step');
is(made(), $made, '... made of the older ones');
cmp_ok(merged(), '>', $merged, '... and of what has changed');
sql('delete from t where k % 3 = 0; insert into t (k, b) select i, i from generate_series(1, 1000) i');
settle('t');
in_step('t', [ 'k', 'b' ], '... after deletes and inserts');
sql('update t set b = 0 where b % 11 = 0 or k between 0 and 400');
settle('t');
in_step('t', [ 'k', 'b' ], '... also of one key');
$merged = merged();
witness_rounds($node, 4);
is(merged(), $merged, 'what is in step is left alone');

# few segments of many: not before a rest, unless somebody asks
sql('create table wide (k int, pad text) with (fillfactor = 10); alter table wide alter pad set storage plain');
sql(q{insert into wide select i, repeat('x', 700) from generate_series(1, 18000) i});
sql(q{select hashgraph_resident_add('wide', array['k'], keys => '{k}', wait => true)});
settle('wide');
in_step('wide', ['k'], 'a table of many segments');
cmp_ok(sql(q{select pg_relation_size('wide') / 8192 / 1021}), '>=', 17, '... more than of which one matters');
$merged = merged();
sql('update wide set k = -k where k < 300');
settle('wide') foreach 1 .. 2;
in_step('wide', ['k'], 'a segment that has changed comes to the graph');
cmp_ok(merged(), '>', $merged, '... by a merge');

# ---------------------------------------------------------------- what happens to tables

sql('truncate nulls; insert into nulls select i, i from generate_series(1, 2000) i');
settle('nulls');
in_step('nulls', ['k'], 'a graph follows TRUNCATE');
sql('vacuum full one');
settle('one');
in_step('one', ['k'], '... VACUUM (FULL)');
sql('alter table one alter k type bigint');
settle('one');
in_step('one', ['k'], '... another type with another file');
sql('alter table nulls alter k type oid');
settle('nulls');
in_step('nulls', ['k'], '... another type in the same file');
sql('alter table one alter k type text');
settle('one');
in_step('one', ['k'], '... whatever it is');
sql('alter table one alter k type text[] using array[k]');
settle('one');
ok(wait_for(sub { graphs('one') =~ /^k declined 0 of/ }, 10), '... and has to go where the type can have none') or diag(graphs('one'));
is(sql(q{select reason from hashgraph_resident where relation = 'one'::regclass and kind = 'graph'}), q{a type of its key has no hash function of PostgreSQL's own, or has values of other types in it}, '... with the reason');
is(error_of(q{select hashgraph_resident_add('one', array['v'], keys => '{v}', wait => true)}), '', '... which is not what one of another column is waited for with');
sql(q{select hashgraph_resident_drop('one', array['v'])});
sql('alter table one alter k type int using k[1]::int');
settle('one');
in_step('one', ['k'], '... until that changes again');
sql('alter table nulls drop k');
ok(wait_for(sub { sql(q{select state || ' ' || reason || ' ' || host_bytes from hashgraph_resident where relation = 'nulls'::regclass and column_number = 1 and kind = 'graph'}) eq 'declined it was dropped 0' }, 10), 'a graph goes with a column that is dropped')
  or diag(sql('select json_agg(r) from hashgraph_resident r'));
sql('drop table nulls');
ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation_id not in (select oid from pg_class)}) eq '0' }, 10), '... and with its table');

# ---------------------------------------------------------------- restarts, partitions, databases

sql(<<'SQL');
create table p (k int, v int) partition by range (k);
create table p1 (v int, k int);
insert into p1 select i, i from generate_series(0, 4999) i;
alter table p attach partition p1 for values from (0) to (5000);
select hashgraph_resident_add('p', keys => '{k}', wait => true);
select hashgraph_resident_add('p', keys => '{{k,v}}', wait => true);
create table p2 partition of p for values from (5000) to (10000);
insert into p select i, i from generate_series(5000, 9999) i;
SQL
wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation = 'p2'::regclass}) eq '4' }, 10);
settle($_) foreach 'p1', 'p2';
in_step('p1', [ 'k', 'k+v' ], 'a partition has graphs');
in_step('p2', [ 'k', 'k+v' ], '... one that came later too');
my $database = 'other one';
sql(qq{create database "$database"});
$node->safe_psql($database, 'create extension hashgraph; create table t as select i as k from generate_series(1, 5000) i');
$node->safe_psql($database, q{vacuum t; select hashgraph_resident_add('t', keys => '{k}', wait => true)});
is(sql(qq{select count(*) from hashgraph_resident where database = '$database' and kind = 'graph'}), '1', 'another database has graphs too');
$node->restart;
$main = undef;
in_step('t', [ 'k', 'b' ], 'after a restart graphs are made again');
in_step('p2', [ 'k', 'k+v' ], '... of partitions too');
in_step('mixed', \@mixed, '... of all types, and of several columns');
ok(wait_for(sub { $node->safe_psql($database, q{select state from hashgraph_resident where relation = 't'::regclass and kind = 'graph'}) eq 'ready' }, 20), '... and in the other database');
sql(qq{drop database "$database"});
is(sql(qq{select count(*) from hashgraph_resident where database is null or database <> 'postgres'}), '0', '... which they go with');

# ---------------------------------------------------------------- as many as a table can have

sql('create table many (' . join(', ', map { "c$_ int" } 1 .. 40) . ')');
like(error_of(q{select hashgraph_resident_add('many', keys => (select array_agg(array['c' || i, 'c' || j]::name[]) from generate_series(1, 40) i, generate_series(1, 40) j where i <> j))}),
	qr/"many" could not be taken in.*it has as many HashGraphs as a table can have/s, 'too many HashGraphs are refused, and not for want of memory');
ok(wait_for(sub { sql(q{select string_agg(distinct state, ',') || count(*) from hashgraph_resident where relation = 'many'::regclass and kind = 'graph'}) eq 'ready1024' }, 60), '... and the others made');

# ---------------------------------------------------------------- memory

sql(q{select hashgraph_resident_drop(relation) from (select distinct relation from hashgraph_resident where relation not in ('p1'::regclass, 'p2'::regclass)) r});
cmp_ok(memory_used(), '<=', $nothing + 64 * 1024, 'what is dropped gives its memory back');
sql('create table large as select i as k, -i::bigint as b, i::bigint as c from generate_series(1, 800000) i');
sql(q{select hashgraph_resident_add('large', wait => true)});
settle('large');
like(error_of(q{select hashgraph_resident_add('large', array['k'], keys => '{b,c}', wait => true)}), qr/a HashGraph of "large" could not be taken in.*hashgraph\.resident_memory is used up/s, 'a graph that there is no room for is declined');
is(sql(q{select string_agg(distinct state, ',') from hashgraph_resident where relation = 'large'::regclass and kind = 'column'}), 'ready', '... and the columns stay');
is(sql(q{select rows_different from hashgraph_resident_check('large')}), '0', '... and are right');
cmp_ok(memory_used(), '<=', 24 * 1024 * 1024, 'no more memory is used than there is');
sql(q{select hashgraph_resident_drop('large', array['c'])});
# memory is short, so that segments may be loaded again: a HashGraph follows when a tenth of its rows is out of step
ok(wait_for(sub { graphs('large') =~ /^b ready (\d+) of (\d+), 0 stale$/ && $1 >= 0.9 * $2 && sql(q{select * from hashgraph_resident_check('large')}) eq '800000|0' }, 20),
	'with room it is made, without being asked for again')
  or diag(graphs('large'));
# keys are compared segment by segment where there is memory for one alone
my $checking = RawSession->new($node);
$checking->run_each(q{set work_mem = '64kB'; set maintenance_work_mem = '1MB'; select hashgraph_resident_check('p1')});
my $peak = peak_of($checking);
is($checking->run_each(q{select * from hashgraph_resident_check('large')}), '800000|0', 'a HashGraph is compared in little memory');
cmp_ok(peak_of($checking) - $peak, '<', 3000, '... which it keeps within: kB');
is($checking->run_each(q{set maintenance_work_mem = '64MB'; select * from hashgraph_resident_check('large')}), '800000|0', '... as in more');
cmp_ok(peak_of($checking) - $peak, '>', 5000, '... which it takes then: kB');
# not for two of them: the older one goes first
$made = made();
sql('update large set b = b + 1 where k < 200000');
settle('large');
in_step('large', ['b'], '... and again where there is no room for two of them');
cmp_ok(made(), '>', $made, '... of columns alone, since the older one had to go first');
cmp_ok(memory_used(), '<=', 24 * 1024 * 1024, 'no more memory is used than there is');
is(sql(q{select rows_different from hashgraph_resident_check('large')}), '0', 'a graph that takes the place of one is right');
sql('drop table large');
ok(wait_for(sub { memory_used() <= $nothing + 64 * 1024 }, 10), 'a table that is dropped gives all of it back') or diag(memory_used());
is(sql('select memory_pinned from hashgraph_stat_resident'), '0', 'nothing is pinned');

my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP:|reference leak|resource was not closed|AbortTransaction while|terminated by signal/, 'the server has nothing to complain of');
$node->stop;
done_testing();
