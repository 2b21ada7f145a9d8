# Columns that are resident are, block by block, what the table has, or not served: whatever is written, vacuumed,
# altered, locked, cancelled or killed meanwhile; and their memory is bounded and given back.  That nothing waits for the
# workers that keep them so cache_waits.pl holds.
#
# Takes long: it begins before others.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = new_server('resident', conf => "hashgraph.resident_memory = '4MB'\nmax_prepared_transactions = 2\nwal_level = replica\n");
my $main = RawSession->new($node);

sub sql
{
	return $main->run_each(shift);
}

# Rows that would be served of a table, and those of them that are not the table's.
sub check
{
	my ($table) = @_;
	my ($served, $different) = split /\|/, sql("select * from hashgraph_resident_check('$table')");
	return ($served, $different);
}

# A test: what would be served of a table is right, and as much of it as that.
sub check_is
{
	my ($table, $expected, $name) = @_;
	my ($served, $different) = check($table);

	return is("$served served, $different different", "$expected served, 0 different", $name);
}

# Tests, one for each table: the same after some time, and vacuums.  One that comes within two periods of the witnesses
# after a change leaves its blocks as they are.
sub all_become
{
	my ($expected, $name) = @_;
	my %found;
	my @waiting = sort keys %$expected;

	wait_for(sub {
		foreach my $table (@waiting)
		{
			sql("vacuum $table");
			my ($served, $different) = check($table);
			$found{$table} = "$served served, $different different";
		}
		@waiting = grep { $found{$_} =~ / 0 different/ && $found{$_} !~ /^$expected->{$_} / } @waiting;
		return !@waiting }, 15, every => 0.05);
	is($found{$_}, "$expected->{$_} served, 0 different", $name) foreach sort keys %$expected;
	return;
}

sub check_becomes
{
	my ($table, $rows, $name) = @_;
	return all_become({ $table => $rows }, $name);
}

# Every row of a table.
sub all_rows
{
	my ($table) = @_;
	return sql("select count(*) from $table");
}

# ---------------------------------------------------------------- values

# what is written long before it is vacuumed is all-visible then: nobody's snapshot is that old
sql('create table large as select i as k, i as v from generate_series(1, 100000) i');
sql('create table huge as select i as a, i::int8 as b, i::int8 as c from generate_series(1, 300000) i');
# PostgreSQL 19rc1 itself reads wrong values behind a string that a zero byte ends
my $string = major_version($node) < 19 ? q{repeat('w', i % 50)::zero} : 'null';
sql(<<'SQL' =~ s/STRING/$string/r);
create type zero;
create function zero_in(cstring) returns zero language internal immutable strict as 'cstring_in';
create function zero_out(zero) returns cstring language internal immutable strict as 'cstring_out';
create type zero (input = zero_in, output = zero_out, like = cstring);
create table kinds (a int, b int2, c int8, d bool, e "char", f float4, g float8, h uuid, i date, j timestamptz, k interval, l oid, gone int8,
  w zero, m macaddr, o timetz) with (fillfactor = 30);
alter table kinds drop column gone;
insert into kinds select case when i % 3 > 0 then i end, i % 300, case when i % 5 > 0 then -i::int8 << 20 end, i % 2 = 0, chr(65 + i % 20)::"char",
  i / 7.0, case when i % 11 > 0 then -i / 3.0 end, md5(i::text)::uuid, date '2020-01-01' + i % 1000, timestamptz '2020-01-01' + i * interval '1 s',
  i * interval '1 month 2 s', i, STRING, '08:00:2b:01:02:03', case when i % 7 > 0 then '10:00+02'::timetz end
  from generate_series(1, 20000) i;
alter table kinds add column q int8 default 42;
vacuum kinds;
select hashgraph_resident_add('kinds', wait => true);
SQL
check_is('kinds', 20000, 'values of every fixed width, NULLs and the default of a column that was added later');
is(sql("select string_agg(\"column\"::text || ' ' || state, ', ' order by column_number) from hashgraph_resident where relation = 'kinds'::regclass"),
	join(', ', map { "$_ ready" } qw(a b c d e f g h i j k l m o q)), 'all columns that can be resident are taken in by default');
sql(q{delete from kinds where l::int8 % 4 = 1 or l::int8 % 1000 < 500; vacuum kinds});
sql(q{insert into kinds (a, l) select i, i from generate_series(200001, 205000) i; vacuum kinds});
check_becomes('kinds', all_rows('kinds'), 'line pointers with gaps, and pages with rows of several times');
my ($code, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('kinds', array['w'])});
like($error, qr/column "w" of relation "kinds" cannot be resident.*zero byte ends/s, 'a column that cannot be is declined');
sql(q{alter table kinds drop column a, alter column c type int4 using 1});
check_is('kinds', 0, 'a rewrite is another file');
sql('vacuum kinds');
check_becomes('kinds', all_rows('kinds'), '... that is taken in when it is vacuumed');
is(sql(q{select count(*) from hashgraph_resident where relation = 'kinds'::regclass and reason like 'it was dropped'}), '1', '... without the dropped column');
sql(q{select hashgraph_resident_drop('kinds', array['b', 'd'])});
ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation = 'kinds'::regclass and state = 'ready'}) eq '12' }, 10), 'columns are dropped alone, where there is no room for new versions beside the old ones');
check_becomes('kinds', all_rows('kinds'), '... and the others stay');
is(sql(q{select string_agg("column"::text || ' ' || reason, ', ') from hashgraph_resident_advise('kinds') where reason is not null}), 'w values of its type are strings that a zero byte ends', 'advice names what cannot be resident');
my ($advised, $taken) = split /\|/, sql(q{select sum(host_bytes), (select memory_used from hashgraph_stat_resident) from hashgraph_resident_advise('kinds') where "column" is null or "column" not in ('b', 'd')});
cmp_ok(abs($advised - $taken), '<', 0.2 * $taken, "... and tells of the memory: $advised bytes, $taken are used");
like(sql(q{select string_agg(distinct reason, ',') from hashgraph_resident_advise('pg_class')}), qr/belongs to the system$/, '... and why a table can not be');
# what is waited for here is that the loader has done all that it was asked for
sql(q{select hashgraph_resident_add('kinds', array['c'], wait => true)});
my $loads = sql('select loads from hashgraph_stat_resident');
sql(q{select hashgraph_resident_refresh('kinds'); select hashgraph_resident_add('kinds', array['c'], wait => true)});
check_becomes('kinds', all_rows('kinds'), 'a refresh of what is fresh');
is(sql('select loads from hashgraph_stat_resident'), $loads, '... loads nothing');
sql(q{select hashgraph_resident_drop('kinds')});
is(sql(q{select count(*) from hashgraph_resident}), '0', 'a table is dropped from the residents');
check_is('kinds', 0, '... and nothing of it is served');
($code, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_refresh('kinds')});
like($error, qr/"kinds" is not resident/, '... nor refreshed');

# values of any length: with short headers and long ones, compressed, out of line, NULL, wide ones of fixed width, and defaults of columns that were added later
sql(<<'SQL');
create table strings (k int, t text, v varchar(20), c char(10), b bytea, n numeric, m numeric(12,2), j jsonb, a int8[], s name, p text, x text, e text);
alter table strings alter x set storage external, alter p set storage plain;
insert into strings select i, case when i % 3 > 0 then repeat('t', i % 200) end, 'v' || i % 7, 'c' || i % 300, decode(md5(i::text), 'hex'), i / 7.0, case when i % 5 > 0 then i / 100.0 end,
  jsonb_build_object('a', i, 'b', repeat('x', i % 300)), array[i, i + 1, null], 'name ' || i, case when i % 100 = 0 then repeat('p', 3000) else 'p' end,
  case when i % 50 = 0 then repeat(md5(i::text), 200) end, case when i % 40 = 0 then repeat('e', 50000) else '' end from generate_series(1, 3000) i;
alter table strings add column q text default repeat('q', 300000), add column r int default 5, add column o name default 'o';
insert into strings (k, q, o) select i, nullif('q' || i % 9, 'q0'), 'o' || i from generate_series(3001, 4000) i;
insert into strings (k) select i from generate_series(4001, 4002) i;
SQL
sql(q{vacuum strings; select hashgraph_resident_add('strings', wait => true)});
check_becomes('strings', 4002, 'values of variable length, NULLs, values that are compressed and out of line, and large defaults');
is(sql(q{select count(*) filter (where state <> 'ready') from hashgraph_resident where relation = 'strings'::regclass}), '0', '... in columns that are all there');
cmp_ok(sql(q{select sum(host_bytes) from hashgraph_resident where relation = 'strings'::regclass and "column" = 'q'}), '<', 700_000, '... of which each segment keeps a default once');
# numerics of each scale, as wide as their integers are: at the ends of what has 64 bits, with zeroes at both ends, and signs; and those that are no such integers
{
	my @scales = (0 .. 16);
	my @ends = map { ($_, "-$_") } qw(0 1 9 10 99 100 999 1000 9999 10000 10001 99990000 100000000 1230000 12345678901234567 1844674407370955161 18446744073709551 18446744073709552 9223372036854775807 9223372036854770000 1000000000000000000);
	my $columns = join ', ', map { "n$_ numeric(40, $_)" } @scales;
	my $values = join ', ', map { 'v * ' . ($_ > 0 ? '0.' . '0' x ($_ - 1) : '') . '1' } @scales;
	my $list = join ', ', @ends;

	sql(qq{create table integers (k int, $columns, narrow numeric(6, 2), byte numeric, none numeric, mixed numeric, fine numeric, large numeric, special numeric, added numeric)});
	sql(qq{insert into integers select row_number() over (), $values, v % 1000 / 100, v % 100, null, v % 1000 + case when v > 0 then 0.5 else 0 end, 1e-17 * v, v * 10, case when v > 0 then 'NaN' else v end, null from unnest(array[$list]::numeric[]) v, generate_series(1, 20)});
	sql(qq{insert into integers (k, n2, added) values (-1, -7.00, 1.5)});
	sql(qq{alter table integers add column later numeric(6, 2) default 7.50});
	sql(qq{insert into integers (k, later) values (-2, 8.25)});
	sql(q{vacuum integers; select hashgraph_resident_add('integers', wait => true)});
	check_becomes('integers', all_rows('integers'), 'numerics');
	my $rows = all_rows('integers');
	is(sql(qq{select string_agg(format('%s %s', "column", host_bytes / $rows), ' ' order by column_number) from hashgraph_resident where relation = 'integers'::regclass and "column" ~ '^n[0-9]|narrow|byte'}),
		join(' ', (map { "n$_ 8" } @scales), 'narrow 2', 'byte 1'), '... are integers as wide as they need, and a bit');
	sql(q{select hashgraph_resident_drop('integers'); drop table integers});
}
# of the advice a table without wide values, which are no column's own
sql(q{create table words as select 'v' || i % 7 as v, 'c' || i % 300 as c, 'word ' || i as w, case when i % 4 = 0 then 'n' || i end as n from generate_series(1, 20000) i; vacuum analyze words; select hashgraph_resident_add('words', wait => true)});
check_becomes('words', 20000, 'few values that differ');
is(sql(q{select string_agg(format('%s %s', "column", case when host_bytes < 20000 * 1.1 then 1 when host_bytes < 20000 * 2.5 then 2 when host_bytes < 20000 * 5 then 4 else 11 end), ', ' order by "column") from hashgraph_resident where relation = 'words'::regclass}),
	'c 2, n 2, v 1, w 11', '... take one byte a row, or two');
is(sql(q{select count(*) from hashgraph_resident r, hashgraph_resident_advise('words') a where r.relation = 'words'::regclass and a."column" = r."column" and a.host_bytes between 0.8 * r.host_bytes and 1.2 * r.host_bytes + 3000}), '4', '... as the advice tells');
sql(q{select hashgraph_resident_drop('words'); drop table words});
sql(q{update strings set t = t || 'y', x = 'short', n = null where k % 100 = 7; delete from strings where k % 100 = 8; vacuum strings});
check_becomes('strings', all_rows('strings'), '... after changes');
sql(q{alter table strings drop column c, alter column v type text});
check_becomes('strings', all_rows('strings'), '... without a column, and with one under another type that changes no byte');
sql(q{select hashgraph_resident_drop('strings'); drop table strings});

# ---------------------------------------------------------------- changes

sql(<<'SQL');
create table t (k int primary key, v int) with (fillfactor = 90);
insert into t select i, i from generate_series(1, 20000) i;
vacuum t;
select hashgraph_resident_add('t', wait => true);
SQL
check_is('t', 20000, 'all of a table');

# statement, whether blocks are unserved after it
my @changes = (
	[ 'a row lock', 'begin; select from t where k = 5 for update; commit', 0 ],
	[ 'an update in the page', 'update t set v = v + 1 where k = 2000', 1 ],
	[ 'an update of a key', 'update t set k = k + 100000 where k = 5000', 1 ],
	[ 'a delete', 'delete from t where k = 10000', 1 ],
	[ 'an insert into free space', 'insert into t values (100001, 1)', 0 ],
	[ 'an aborted update', 'begin; update t set v = 0 where k = 7000; rollback', 1 ],
	[ 'an aborted insert', 'begin; insert into t values (100002, 1); rollback', 0 ],
	[ 'a subtransaction that is rolled back', 'begin; savepoint s; update t set v = 0 where k = 8500; rollback to s; update t set v = 1 where k = 12000; commit', 1 ],
	[ 'a speculative insertion that finds its key', 'insert into t values (17000, 1) on conflict (k) do update set v = 17', 1 ],
	[ 'a transaction that is prepared and committed', q{begin; update t set v = 3 where k = 15000; prepare transaction 'p'; commit prepared 'p'}, 1 ],
	[ 'VACUUM (FREEZE)', 'vacuum (freeze) t', 0 ]);
foreach my $change (@changes)
{
	my ($what, $statement, $unserved) = @$change;
	my ($before) = check('t');

	sql($statement);
	my ($served, $different) = check('t');
	is($different, 0, "$what: what is served is right");
	cmp_ok($served, '<', $before, '... and does not have its block') if $unserved;
	sql('vacuum t');
	($served, $different) = check('t');
	is($different, 0, '... and after a vacuum');
}
# own changes, and cursors, in one transaction
my $session = RawSession->new($node);
$session->query('begin isolation level repeatable read');
$session->query('update t set v = -1 where k between 100 and 110');
is((split /\|/, $session->query(q{select * from hashgraph_resident_check('t')}))[1], 0, 'changes of the own transaction are not served');
$session->query('rollback');

# an older snapshot
$session->query('begin isolation level repeatable read; select count(*) from t');
sql('update t set v = v + 1 where k % 1000 = 1; vacuum t');
is((split /\|/, $session->query(q{select * from hashgraph_resident_check('t')}))[1], 0, 'a snapshot gets what it saw');
$session->query('commit');
$session->query('begin isolation level serializable');
is($session->query(q{select * from hashgraph_resident_check('t')}), '0|0', 'a serializable transaction is not served');
$session->query('commit');
sql('vacuum t');

# a table that VACUUM could not mark, because of an older snapshot, is ready without a page, and the view says so
$session->query('begin isolation level repeatable read; select count(*) from t');
sql(q{create table unmarked as select i as k from generate_series(1, 1000) i; vacuum unmarked; select hashgraph_resident_add('unmarked', wait => true)});
my $state_of = sub { sql(q{select state, blocks_visible > 0, reason like 'none of its pages is marked%' from hashgraph_resident where relation = 'unmarked'::regclass}) };
is($state_of->(), 'ready|f|t', 'a table without a page that is visible to all is ready with a reason');
$session->query('commit');
ok(wait_for(sub { sql(q{vacuum unmarked; select hashgraph_resident_refresh('unmarked')}); $state_of->() eq 'ready|t|' }, 30), '... and without it once VACUUM has marked them');
sql('drop table unmarked');

# files that come and go, each way with a table of its own: what is done to it, and its rows then
my $rows = all_rows('t');
my %files = (
	same => [ q{begin; truncate %s; select hashgraph_resident_check('%s'); rollback}, $rows ],
	vacuumed => [ 'vacuum full %s', $rows ],
	cluster => [ 'create unique index on %s (k); cluster %s using cluster_k_idx', $rows ],
	wide => [ 'alter table %s alter v type int8', $rows ],
	cut => [ 'delete from %s where k > 5000; vacuum %s; insert into %s select i, i from generate_series(5001, 20000) i', undef ],
	other => [ 'truncate %s; insert into %s select i, -i from generate_series(1, 20000) i', 20000 ]);
if (major_version($node) >= 19)
{
	$files{repacked} = [ 'repack %s', $rows ];
	$files{repacked_beside} = [ 'alter table %s add primary key (k); repack (concurrently) %s', $rows ];
}
foreach my $table (sort keys %files)
{
	sql("create table $table (k int, v int) with (fillfactor = 90); insert into $table select * from t; vacuum $table; select hashgraph_resident_add('$table')");
}
all_become({ map { $_ => $rows } keys %files }, 'all of each table');
foreach my $table (sort keys %files)
{
	my $change = $files{$table}[0] =~ s/%s/$table/gr;
	# REPACK (CONCURRENTLY) may not stand beside another command in one message
	sql($_) foreach $change =~ /repack/ ? split(/; /, $change) : $change;
	is((check($table))[1], 0, "$change: what is served is right");
	sql("vacuum $table");
}
all_become({ map { $_ => $files{$_}[1] // all_rows($_) } keys %files }, 'each is taken in again');
sql('drop table ' . join ', ', sort keys %files);
sql('truncate t; insert into t select i, i from generate_series(1, 20000) i; vacuum t');
check_becomes('t', 20000, 'TRUNCATE, and other rows');

# ---------------------------------------------------------------- locks

sql(q{vacuum large});
sql(q{select hashgraph_resident_add('large')});
$session->query('begin; lock table large in access exclusive mode; commit') for 1 .. 40;
check_becomes('large', 100000, 'a table that is locked while it is taken in');
$session->query('begin; lock table large in access exclusive mode');
ok(wait_for(sub { sql('select sum(blocks_resident) from hashgraph_resident where column_number = 1 and relation = ' . "'large'::regclass") eq '0' }, 10), 'what the witnesses could not observe is not served');
$session->query('commit');
check_becomes('large', 100000, '... until it can be observed again');

# ---------------------------------------------------------------- workers that end

# The processes that are witnesses now.
sub witnesses
{
	return sql("select string_agg(pid::text, ',' order by pid) from pg_stat_activity where backend_type = 'hashgraph witness'");
}

sql("select pg_cancel_backend(pid) from pg_stat_activity where backend_type = 'hashgraph witness'");
is((check('t'))[1], 0, 'the witnesses are cancelled: what is served is right');
check_becomes('t', 20000, '... and all is served again');

# a loader that waits for a lock is there to be ended
sql(q{select hashgraph_resident_drop('large')});
$session->query('begin');
$session->query(q{select hashgraph_resident_add('large')});
$session->query('lock table large in access exclusive mode');
ok(wait_for(sub { sql("select count(pg_terminate_backend(pid)) from pg_stat_activity where backend_type = 'hashgraph loader'") > 0 }, 10), 'a loader that waits for a lock is terminated');
$session->query('commit');
check_becomes('large', 100000, '... and another one is started');

# under settings of the database that would keep witnesses from moving on the workers do what they do without
foreach my $settings ([ 'default_transaction_isolation = serializable', 'default_transaction_deferrable = on', 'default_transaction_read_only = on' ],
	[ q{default_transaction_isolation = 'repeatable read'} ])
{
	sql(join ';', map { "alter database postgres set $_" } @$settings);
	my $workers = witnesses();
	sql("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'hashgraph witness'");
	is((check('t'))[1], 0, 'the witnesses are terminated: what is served is right');
	ok(wait_for(sub { (witnesses() // '') =~ /,/ && witnesses() ne $workers }, 30), '... they are started again');
	sql('update t set v = v + 1 where k = 77');
	check_becomes('t', 20000, join(', ', @$settings) . ': blocks are taken in');
	sql('alter database postgres reset all');
}

# ---------------------------------------------------------------- memory

# 4 MB hold 100,000 rows of two columns, and not five times
sql(q{select hashgraph_resident_drop('large'); select hashgraph_resident_drop('t')});
sql('vacuum huge');
($code, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('huge', wait => true)});
like($error, qr/"huge" could not be taken in.*hashgraph\.resident_memory is used up/s, 'a table that does not fit is declined');
is((check('huge'))[1], 0, '... and what is served of it is right');
sql(q{drop table huge; select hashgraph_resident_add('t', wait => true)});
ok(wait_for(sub { sql("select count(*) from hashgraph_resident where relation_id not in (select oid from pg_class)") eq '0' }, 10), 'a table that is dropped is forgotten');
for (1 .. 8)
{
	sql(q{select hashgraph_resident_add('large', wait => true); select hashgraph_resident_drop('large')});
}
sql(q{select hashgraph_resident_add('large', wait => true)});
check_is('large', 100000, 'memory is given back: taken in again and again');

# ---------------------------------------------------------------- privileges

sql('create role stranger; create role reader; grant select on t to reader');
($code, undef, $error) = $node->psql('postgres', q{set role stranger; select hashgraph_resident_add('t')});
like($error, qr/must be owner of table t/, 'who does not own a table does not add it');
($code, undef, $error) = $node->psql('postgres', q{set role stranger; select hashgraph_resident_drop('t')});
like($error, qr/must be owner of table t/, '... nor drops it');
($code, undef, $error) = $node->psql('postgres', q{set role stranger; select hashgraph_resident_check('t')});
like($error, qr/must be owner of table t/, '... nor checks it');
($code, undef, $error) = $node->psql('postgres', q{set role stranger; select hashgraph_resident_refresh('t')});
like($error, qr/must be owner of table t/, '... nor refreshes it');
($code, undef, $error) = $node->psql('postgres', q{set role stranger; select hashgraph_resident_advise('t')});
like($error, qr/permission denied for table t/, '... nor is told what it would need');
sql(q{create table hidden (w text); alter table hidden enable row level security; insert into hidden select repeat('w', 900) from generate_series(1, 100); analyze hidden; grant select on hidden to reader});
cmp_ok(sql(q{select host_bytes from hashgraph_resident_advise('hidden') where "column" = 'w'}), '<', 2000, 'advice makes use of what ANALYZE has found: one value');
cmp_ok($node->safe_psql('postgres', q{set role reader; select host_bytes from hashgraph_resident_advise('hidden') where "column" = 'w'}), '>=', 3200, '... and tells nothing of rows that the user may not see');
sql(q{select hashgraph_resident_add('hidden')});
is(sql(q{select count(*) from hashgraph_resident where relation = 'hidden'::regclass}), '1', '... nor does the view, which tells the owner');
is($node->safe_psql('postgres', q{set role reader; select count(*) from hashgraph_resident where relation_id = 'hidden'::regclass}), '0', '... and nobody for whom policies hold');
sql('drop table hidden');
if (major_version($node) >= 17)
{
	sql('create role maintainer; grant pg_maintain to maintainer; grant maintain on t to reader');
	foreach my $role ('maintainer', 'reader')
	{
		is($node->safe_psql('postgres', "set role $role; select hashgraph_resident_add('t', wait => true)"), '', "who may maintain a table adds it: $role");
	}
	sql('revoke maintain on t from reader');
}
is($node->safe_psql('postgres', 'set role stranger; select count(*) from hashgraph_resident'), '0', '... nor sees it');
is($node->safe_psql('postgres', 'set role reader; select string_agg(distinct relation::text, \',\') from hashgraph_resident'), 't', 'who may read a table sees what is resident of it');

my %refused = (
	'a temporary table' => 'create temp table x (k int)',
	'an unlogged table' => 'create unlogged table x (k int)',
	'a view' => 'create view x as select 1 as k',
	'a table of this transaction' => "begin;\ncreate table x (k int)");
foreach my $what (sort keys %refused)
{
	($code, undef, $error) = $node->psql('postgres', "$refused{$what};\nselect hashgraph_resident_add('x')");
	like($error, qr/"x" cannot be resident/, "$what is refused");
	$node->psql('postgres', $what eq 'a view' ? 'drop view x' : 'drop table if exists x');
}
($code, undef, $error) = $node->psql('postgres', q{select hashgraph_resident_add('pg_class')});
like($error, qr/"pg_class" cannot be resident/, 'a catalog is refused');

# ---------------------------------------------------------------- what is no table

# SQLSTATE and message of a statement that fails; else an empty string
sub failure
{
	my ($session, $statement) = @_;
	$session->query($statement);
	return defined $session->{error} ? "$session->{sqlstate}: $session->{error}" : '';
}

my %functions = map { $_ => "select count(*) from hashgraph_resident_$_" } qw(add drop refresh check advise);
my $neighbour = RawSession->new($node);
$neighbour->run_each('create temporary table others (k int)');
$main->run_each(q{create table kinds_of (k int primary key); create view kind_view as select 1 as k; create sequence kind_sequence;
  create type kind_type as (k int); create table kind_parent (k int) partition by range (k); create index kind_index on kind_parent (k)});
my @kinds = split /\n/, sql(q{select oid from pg_class where relname in ('kinds_of_pkey', 'kind_view', 'kind_sequence', 'kind_type', 'kind_index', 'others')});
is(scalar @kinds, 6, 'there are relations of other kinds');
my %refuses = (add => '42809: .* cannot be resident', refresh => '55000: .* is not resident');
foreach my $function (sort keys %functions)
{
	foreach my $oid (0, 1, 4294967295)
	{
		like(failure($main, "$functions{$function}('$oid'::oid)"), qr/^42P01: relation with OID $oid does not exist/, "$function: no relation has the OID $oid");
	}
	my $refused = $refuses{$function} // '$';
	is(join(',', grep { failure($main, "$functions{$function}('$_'::oid)") !~ /^$refused/ } @kinds), '',
		"$function: a relation of another kind is " . ($refuses{$function} ? 'refused' : 'let pass, and nothing is done'));

	# one that is dropped while its lock is awaited
	$main->run_each('create table passing (k int)');
	$neighbour->run_each('begin; drop table passing');
	$main->send("$functions{$function}('passing')");
	ok(wait_for(sub { $neighbour->query("select count(*) from pg_locks where not granted and pid = $main->{pid}") eq '1' }, 10), "$function: a table's lock is awaited");
	$neighbour->run_each('commit');
	$main->finish;
	like("$main->{sqlstate}: $main->{error}", qr/^42P01: relation with OID \d+ does not exist/, '... and it has gone then');
}
$main->run_each('drop table kinds_of, kind_parent; drop view kind_view; drop sequence kind_sequence; drop type kind_type');

# ---------------------------------------------------------------- databases

# each of these fails where somebody is connected
sql('create database other');
$node->safe_psql('other', 'create extension hashgraph; create table o as select i as k from generate_series(1, 1000) i');
$node->safe_psql('other', q{select hashgraph_resident_add('o', wait => true)});
sub workers_of
{
	my ($database) = @_;
	return sql("select count(*) from pg_stat_activity where datname = '$database' and backend_type ~ 'hashgraph'");
}
ok(wait_for(sub { workers_of('other') eq '2' }, 10), 'a database with residents has workers, and no loader when all is there');
sql('create role nobody_in_particular');
(undef, undef, $error) = $node->psql('postgres', "set role nobody_in_particular;\ndrop database other");
like($error, qr/must be owner of database other/, 'who does not own a database cannot drop it');
is(workers_of('other'), '2', '... nor send its workers away');
sql('create database copied template other');
sql('alter database other rename to another');
ok(wait_for(sub { workers_of('another') eq '2' }, 20), 'a database with residents can be a template, and be renamed, and its workers come back');
# Workers stay away until the transaction has ended: none waits for the database's lock.
{
	my $renaming = RawSession->new($node);
	my ($oid) = sql(q{select oid from pg_database where datname = 'another'});

	$renaming->run_each('begin; alter database another rename to other; alter database other rename to another; savepoint s; alter database another rename to other; release s');
	# the launcher looks at all databases when it has somebody take this in
	sql(q{create table meanwhile as select i as k from generate_series(1, 1000) i; select hashgraph_resident_add('meanwhile', wait => true); drop table meanwhile});
	is(sql("select count(*) from pg_locks where not granted and locktype = 'object' and classid = 'pg_database'::regclass and objid = $oid"), '0',
		'no worker comes to a database that is being renamed');
	$renaming->run_each('rollback');
	ok(wait_for(sub { workers_of('another') eq '2' }, 20), '... until that is taken back');
}
# Whatever wakes a session that waits for them, it waits for its time.  The worker does not go before it is let.
{
	my $dropping = RawSession->new($node);
	my ($witness) = split /\n/, sql(q{select pid from pg_stat_activity where datname = 'another' and backend_type = 'hashgraph witness'});
	my $waits = "select wait_event_type from pg_stat_activity where pid = $dropping->{pid}";
	my ($wakes, $start, $waiting) = (0, time, 1);

	kill 'STOP', $witness;
	$dropping->send('drop database another');
	ok(wait_for(sub { sql($waits) eq 'Extension' }, 10), 'DROP DATABASE waits for a worker');
	# it would take five seconds
	while ($waiting && $wakes < 1500 && time - $start < 4)
	{
		kill 'USR1', $dropping->{pid};
		$wakes++;
		$waiting = wait_for(sub { sql($waits) eq 'Extension' }, 2);
	}
	ok($waiting, "... however often it is woken: $wakes times");
	kill 'CONT', $witness;
	$dropping->finish;
	is($dropping->{error}, undef, '... and drops it then');
}
is(sql(q{select count(*) from hashgraph_resident where database is distinct from 'postgres'}), '0', 'a database is dropped, and with it what was resident of it');

# ---------------------------------------------------------------- the server's end

$node->stop('immediate');
$node->start;
$main = RawSession->new($node);
check_becomes('t', 20000, 'after a crash what was resident is taken in again');

# ---------------------------------------------------------------- a database that nobody can connect to

sql('create database closed');
$node->safe_psql('closed', 'create extension hashgraph; create table c as select i as k from generate_series(1, 1000) i');
$node->safe_psql('closed', q{select hashgraph_resident_add('c', wait => true)});
sql('alter database closed allow_connections false');
my $closed_from = -s $node->logfile;
$node->restart;
$main = RawSession->new($node);

# How often a worker has tried to connect.
sub refusals
{
	my $refused = () = slurp_file($node->logfile, $closed_from) =~ /FATAL: .*"closed" is not currently accepting connections/g;
	return $refused;
}
# two witnesses, and a loader
ok(wait_for(sub { refusals() == 3 }, 10), 'workers find out that nobody can connect to a database');
witness_rounds($node, 2);
is(refusals(), 3, '... and do not try again');
sql('alter database closed allow_connections true');
ok(wait_for(sub { sql(q{select string_agg(distinct state, ',') from hashgraph_resident where database = 'closed'}) eq 'ready' }, 20), '... until it is open again');
sql('drop database closed');

# ---------------------------------------------------------------- no workers

$node->append_conf('postgresql.conf', "max_worker_processes = 2\n");
$node->restart;
$main = RawSession->new($node);
sql(q{select hashgraph_resident_add('t')});
ok(wait_for(sub { sql('select string_agg(distinct reason, \',\') from hashgraph_resident') =~ /max_worker_processes is used up/ }, 10), 'where no worker can be started the view tells so');
is(sql('select string_agg(distinct state, \',\') from hashgraph_resident'), 'queued', '... and the table stays queued');
my $offset = -s $node->logfile;
$node->stop('fast');
unlike(slurp_file($node->logfile, $offset), qr/PANIC|TRAP|was terminated by signal/, 'the server ends in good order');

done_testing();
