# Joins of rows that resident HashGraphs have give the rows that PostgreSQL's own joins give: of every type, with graphs of both sides
# or of one, with filters, NULL keys, keys that come again, and rows that have changed since the graphs were made.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use GraphJoins;
use HashGraphTest;
use PostgreSQL::Test::Utils;
use RawSession;
use Test::More;

plan skip_all => 'runs with backend cpu' unless HashGraphTest::covers('cpu');

my $node = graph_server('graph_joins', <<'CONF');
hashgraph.resident_memory = '56MB'
max_parallel_workers_per_gather = 0
max_worker_processes = 20
CONF
sql('create collation if not exists any_case (provider = icu, locale = \'und-u-ks-level2\', deterministic = false)');
sql(q{select hashgraph_resident_add('a', array['id'], keys => '{tk,nk,bk,fk}'), hashgraph_resident_add('a', array['id'], keys => '{{v,k2,NULL},{tk,k2,v}}'), hashgraph_resident_add('a', array['id'], keys => '{{k2,k4}}')});
sql(q{select hashgraph_resident_add('b', array['id'], keys => '{tk,nk,bk,fk}'), hashgraph_resident_add('b', array['id'], keys => '{{w,k2,NULL},{tk,k2,w}}'), hashgraph_resident_add('b', array['id'], keys => '{{k4,k2}}')});
settle('a', 'b');

my @filters = (
	[ 'no filter', '', '' ],
	[ 'an outer filter', 'where v < 30', '' ],
	[ 'an inner filter', '', 'where w between 10 and 20 or u is null' ],
	[ 'both filters', 'where v <> 3 and n is not null', 'where w > 5' ],
	[ 'filters that leave segments out', 'where id > 9000', 'where id < 1000' ],
	[ 'filters that leave nothing', 'where v < 0', 'where w > 1000' ]);

# Keys that are hashes or are packed: what the tables are joined by.
my @keys = (
	[ 'text', 'a.tk = b.tk' ],
	[ 'numeric', 'a.nk = b.nk' ],
	[ 'char(n)', 'a.bk = b.bk' ],
	[ 'float8', 'a.fk = b.fk' ],
	[ 'two columns in a word', 'a.k2 = b.k2 and a.v = b.w' ],
	[ 'three columns', 'b.w = a.v and a.tk = b.tk and a.k2 = b.k2' ]);

sub key_joins
{
	my ($graphs, $when) = @_;

	foreach my $key (@keys)
	{
		my ($what, $on) = @$key;

		foreach my $type (@types)
		{
			same_is("select a.id, a.n, b.id as i, b.u from a $type b on $on", $graphs, "$when: $type, $what");
			same_is("select a.v, b.w from a $type b on $on and a.id < b.id * 2", $graphs, "$when: $type, $what, with another clause");
			same_is("select a.id, b.m from (select * from a where v between 10 and 60) a $type (select * from b where w <> 7) b on $on", $graphs, "$when: $type, $what, with filters");
		}
		same_is("select count(*) from a join b on $on", $graphs, "$when: a count, $what");
		same_is("select id, n from a where $_ exists (select from b where $on)", $graphs, "$when: $_ exists, $what") foreach '', 'not';
		same_is("select count(*) from b where $_ exists (select from a where $on and a.id < b.id)", $graphs, "$when: $_ exists, $what, with another clause") foreach '', 'not';
	}
	same_is('select a.id, b.id as i from a join b on a.k4 = b.k4 and a.k2 = b.k2', '[oi]', "$when: two columns, which graphs have in orders that differ");
	same_is('select a.id from a join b on b.w = a.v and a.k2 + 0 = b.k2', '[oi]?', "$when: two columns, one of which is an expression");
	same_is('select a.id from a join b on a.tk = b.u', '[oi]', "$when: a text column with a graph, and one without");
	same_is('select a.id from a join b on a.tk = b.tk collate "C"', $graphs, "$when: another collation whose equality is that of bytes");
	same_is('select count(*) from a join b on a.tk = b.tk collate any_case', '', "$when: a collation whose equality is not");
	same_is('select count(*) from a join b on a.k2 = b.k2 and a.v = b.k8', '[oi]?', "$when: a pair that is wider on one side");
	same_is('select count(*) from a join b on a.k2 = b.k2 and a.v = b.w and a.k4 = b.k4', '', "$when: more columns than a graph has");
	return;
}

# The same of integers, with all that a serial plan can do.
sub all_joins
{
	my ($graphs, $when) = @_;

	joins($graphs, '[oi]', $when);
	foreach my $filter (@filters)
	{
		my ($what, $outer, $inner) = @$filter;
		same_is("select a.id, a.t, b.id as i, b.m from (select * from a $outer) a $_ (select * from b $inner) b on a.k4 = b.k4", $what =~ /nothing/ ? '(oi|io|i|)' : $graphs, "$when: $_, $what") foreach @types;
	}
	foreach my $not ('', 'not')
	{
		same_is("select b.id, m from b where w < 40 and $not exists (select from a where a.k8 = b.k8 and v > 50)", $graphs, "$when: $not exists with filters");
	}
	foreach my $pair ([ 2, 2 ], [ 2, 4 ], [ 2, 8 ], [ 4, 2 ], [ 4, 8 ], [ 8, 2 ], [ 8, 4 ])
	{
		my ($left, $right) = @$pair;
		same_is("select count(*), sum(a.v), sum(b.w) from a join b on a.k$left = b.k$right where a.id < 3000", $graphs, "$when: int$left = int$right");
	}
	same_is('select x.id, y.id as i from a x join a y on x.k8 = y.k8', $graphs, "$when: a table with itself");
	same_is("select c.k, b.m from c $_ b on b.k2 = c.k", '[oi]', "$when: $_ to a table without a graph") foreach @types;
	same_is("select a.id, c.x from a join c on a.k4 = c.k join b on b.k8 = a.id", '[oi]+', "$when: a join of a join");
	return;
}
all_joins('(oi|io)', 'all in step');

# How a plan tells of it.
my $plan = sql('explain (analyze, costs off, timing off, summary off) select a.id, b.id as i from a join b on a.k4 = b.k4');
like($plan, qr/^ *Build: resident$/m, 'EXPLAIN tells that no HashGraph was built');
like($plan, qr/^ *Null Keys: 0$/m, '... counts those NULL keys that were read');
foreach my $side ([ 'Outer', 'a' ], [ 'Inner', 'b' ])
{
	my ($name, $table) = $plan =~ /Hash Cond: \(b\./ ? ($side->[0], $side->[1] eq 'a' ? 'b' : 'a') : @$side;
	my $blocks = sql("select pg_relation_size('$table') / 8192");
	my $rows = sql("select count(*) from $table");

	like($plan, qr/^ *$name HashGraph: resident$/m, "... which side is covered: $name");
	like($plan, qr/^ *$name Resident Blocks: $blocks$/m, '... with the blocks of covered rows');
	like($plan, qr/^ *$name Heap Blocks: 0$/m, '... and no others');
	like($plan, qr/Seq Scan on $table \(actual rows=$rows(?:\.00)? loops=1\)/, '... and their number');
}
key_joins('(oi|io)', 'all in step');

# Columns of one side alone, whose rows are tallied: some match once and some thirty times
sub tallies
{
	my $when = shift;

	foreach my $key (qw(k2 k4))
	{
		same_is("select sum(a.v) from a join b using ($key) where a.id <> 7 or b.id <> 9", '(oi|io)', "$when: a sum by $key, with a clause of both sides");
		same_is("select $_ from a join b using ($key)", '(oi|io)', "$when: $_ by $key")
		  foreach 'sum(a.v), count(a.n), max(a.n)', 'sum(b.w), min(b.m), sum(b.m)', 'sum(a.v + b.w)';
		same_is("select $_", '(oi|io)', "$when: $_")
		  foreach "v, count(*), sum(a.id) from a join b using ($key) where w < 40 and v > 20 group by v", "sum(v) from a where v > 20 and exists (select from b where a.$key = b.$key)";
	}
	return;
}
tallies('all in step');

# Filters whose bits are made of the arrays, in segments of any number of rows
sql('create table pairs as ' . pairs_rows(9001) . '; delete from pairs where k % 10 = 3; vacuum analyze pairs');
sql(q{select hashgraph_resident_add('pairs', keys => '{a,b,e}')});
settle('pairs');
same_is("select p.k, p.n, p.w, c.x from (select * from pairs where $_) p join c on c.k = p.a", /length/ ? '' : '[oi]', "filter $_") foreach pairs_filters();
sql('drop table pairs');

# Keys that are frequent on the side that is read, of which the graph has rows that do not count: those of other keys count all the same
sql(q{create function frequent() returns setof int rows 100 volatile language sql as 'select i / 300 from generate_series(1, 30000) i'});
same_is("select f, id from frequent() f join a on f = a.k4 where v < 5", 'o', 'a frequent key whose covered rows are left out');
same_is("select f, id from frequent() f left join a on f = a.k8 and v between 20 and 22", '(o|i)', 'the same of a key of 8 bytes');

# ---------------------------------------------------------------- rows that are in no graph

sql('update b set w = w + 1 where id % 70 = 3; delete from b where id between 2000 and 2100; insert into b select id + 10000, k2, k4, k8, w, m, u, wide from b where id < 60');
all_joins('(oi|io)', 'inner rows have changed');
sql("update a set v = v + 1, k4 = k4 + 1 where id % 90 = 3; delete from a where id between 5000 and 5200; insert into a select id + 20000, k2, k4, k8, v, n, t, wide from a where id < 80");
all_joins('(oi|io)', 'rows of both sides have changed');
tallies('rows of both sides have changed');
sql("update a set tk = 'key ' || id % 300, nk = nk + 1 where id % 80 = 5; update b set tk = null, k2 = k2 + 1, w = 3 where id % 60 = 7");
key_joins('(oi|io)', 'rows of both sides have changed');
sql("begin; update a set k8 = k8 + 3 where id % 100 = 0; delete from b where id % 100 = 0");
same_is("select a.id, a.v, b.id as i from a $_ b on a.k8 = b.k8", '(oi|io)', "own changes: $_") foreach @types;
sql('rollback');
same_is("select a.id, a.v, b.id as i from a $_ b on a.k8 = b.k8", '(oi|io)', "... taken back: $_") foreach @types;

# ---------------------------------------------------------------- rows of changed blocks that are the graph's still

# others have taken the line pointers of rows that are gone; rows that are locked, or were deleted by who took it back, are what they were
settle('a', 'b');
sql('create temp table gone as select ctid as place from a where id % 400 = 7; delete from a where id % 400 = 7');
# the rows go when no witness's snapshot is older
ok(wait_for(sub { sql('select count(*) from a join gone on a.ctid = place') > 0 }, 30, every => 0.5, between => sub { sql("vacuum a; insert into a select i + 40000, i, i, i, i, i, 'new', repeat('x', 700) from generate_series(1, 20) i") }), 'line pointers are used again');
sql('begin; delete from a where id % 300 = 5; savepoint s; update a set k8 = 1 where id % 300 = 6; rollback to s; update a set v = v where id % 300 = 8; rollback');
sql('begin; select count(*) from (select from a where id % 500 = 9 for update) s; savepoint s; select count(*) from (select from a where id % 500 = 9 for share) s; commit');
all_joins('(oi|io)', 'rows of changed blocks');
sql('drop table gone');

# ---------------------------------------------------------------- memory

# more outer rows have changed than fit, of which the first chunk alone is joined with those of the graph, too
sql('update a set v = v + 1 where id between 3000 and 9000');
foreach my $limit ('64kB', '256kB')
{
	sql("set work_mem = '$limit'");
	same_is("select a.id, a.t, b.u from a $_ b on a.k4 = b.k4", '(oi|io|o|i|)', "$limit of memory: $_") foreach @types;
	same_is("select id from a where $_ exists (select from b where a.k4 = b.k4)", '(oi|io|o|i|)', "$limit of memory: $_ exists") foreach '', 'not';
	same_is("select c.k, a.id from c $_ a on a.k4 = c.k", '(o|i|)', "$limit of memory: $_ to a table without a graph") foreach @types;
}
# a bit for each covered row takes more than that
sql('create table h (k int, v int); insert into h select (i * 7919::int8) % 900000, i from generate_series(1, 900000) i; vacuum analyze h');
sql(q{select hashgraph_resident_add('h', keys => array['k'])});
ok(wait_for(sub { sql(q{select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192) and count(*) = 3 from hashgraph_resident where relation = 'h'::regclass}) eq 't' }, 30, every => 0.2, between => sub { sql('vacuum h') }), 'a table of many rows is resident');
sql("set work_mem = '64kB'; set hash_mem_multiplier = 1");
sql('update h set v = v + 1 where v between 1000 and 9000');
same_is("select sum(h.v), count(c.x) from h $_ c on h.k = c.k where h.k > 5", '[oi]', "delta rows beside many covered ones: $_") foreach 'join', 'left join';
# inner keys that are kept as bits: outer rows are read
sql('create table bits as select i as k from generate_series(-3000, 17000) i; analyze bits; set enable_mergejoin = off');
same_is('select count(*) from h join bits using (k)', '', 'inner keys that are bits, counted');
same_is('select h.k from h join bits using (k)', '', '... and with columns of the outer rows');
same_is('select count(*) from h where exists (select from bits where bits.k = h.k)', '', '... and asked for once');
sql('drop table bits; reset enable_mergejoin');
sql('drop table h; reset work_mem; reset hash_mem_multiplier');

# ---------------------------------------------------------------- a graph of segments that were there before

sql(q{select hashgraph_resident_add('e', array['id'], keys => array['k2', 'k4', 'k8'])});
settle('e');
my $stale = q{select bool_and(blocks_resident = pg_relation_size(relation_id) / 8192 and blocks_stale = 0) filter (where kind = 'column') and bool_or(blocks_stale > 0) filter (where kind = 'graph')
	from hashgraph_resident where relation = 'e'::regclass};
sql('delete from e where id between 100 and 700 and id % 3 > 0');
# HashGraphs are merged some seconds later where a segment of twelve is another one, and nobody asks for a refresh
ok(wait_for(sub { sql($stale) eq 't' }, 30, every => 0.1, between => sub { sql('vacuum e') }), 'a segment has been replaced, and is not in the graphs')
  or diag(sql(q{select json_agg(r) from hashgraph_resident r where relation = 'e'::regclass}));
same_is("select b.id, e.id as i from b $_ e on b.k4 = e.k4", '(oi|io)', "... $_") foreach @types;
same_is("select id from e where $_ exists (select from b where e.k8 = b.k8)", '(oi|io)', "... $_ exists") foreach '', 'not';
same_is('select count(*) from b join e on b.k2 = e.k2', '(oi|io)', '... a count');
sql('drop table e');

# ---------------------------------------------------------------- rescans, cursors, scans without covered rows

same_is('select c.k, s.n from c, lateral (select count(*) as n from a join b on a.k4 = b.k4 where a.v = c.x offset 0) s where c.k < 40', '.*', 'rescans with a parameter');
same_is('select c.k, s.n from c, lateral (select count(*) + c.x as n from (select from a join b on a.k4 = b.k4 offset 0) j) s where c.k < 40', '.*', 'rescans without one');
same_is('select c.k, (select sum(b.w) from a join b on a.k4 = b.k4 and a.k2 < c.x) from c where c.k < 40', '.*', 'rescans with a clause that has one');
same_is('select a.id from a join b on a.k4 = b.k4 and a.id = b.id', '', 'keys of two columns that have no graph');
same_is('select a.id from a join b on a.k4 + 0 = b.k4', '[oi]', 'a key that is an expression');
same_is('select a.id from a join b on a.k4 = b.k4 where length(a.t) = 7', '[oi]', 'a filter that is not decided over columns');
same_is('select a.id from a join b on a.k4 = b.k4 where a.v = (select max(x) from c)', '[oi]', 'a filter with a parameter');
same_is('select a.id, a.wide from a join b on a.k4 = b.k4', '[oi]', 'a column that is not resident');
same_is('select x.id from (select id, k4 from a union all select id, k4 from a) x join b on x.k4 = b.k4', '[oi]', 'a side below an Append');
same_is('select a.id from a tablesample system (50) repeatable (1) join b on a.k4 = b.k4', '[oi]', 'a sample');
sql("set hashgraph.$_"), same_is('select a.id from a join b on a.k4 = b.k4', '', $_), sql('reset ' . "hashgraph.$_" =~ s/ =.*//r) foreach 'resident = off', 'build = v1', 'probe = standard', 'bins = 1';

my $session = RawSession->new($node);
# The result of a statement in the session, which is to have no error.
sub in_session
{
	my $result = $session->query(shift);

	BAIL_OUT($session->{error}) if defined $session->{error};
	return $result;
}
in_session('set hashgraph.force = on');
foreach my $how ('', 'with hold')
{
	my $query = 'select a.id, a.v, b.id as i, b.m from a left join b on a.k8 = b.k8';
	my $take = sub { return "do \$\$ declare r record; x refcursor := 'x'; begin $_[0] loop fetch x into r; exit when not found; insert into got values (r.id, r.v, r.i, r.m); end loop; end \$\$"; };

	same_is($query, '(oi|io)', "what a cursor $how is to read");
	in_session('begin');
	in_session("create temp table whole as $query");
	in_session('create temp table got (like whole)');
	in_session("declare x cursor $how for $query");
	in_session($take->('for i in 1 .. 3000'));
	in_session('commit') if $how ne '';
	sql("update a set v = v + 1 where id % 10 = 0; delete from b where id % 50 = 0; vacuum a; vacuum b; select hashgraph_resident_refresh('a'), hashgraph_resident_refresh('b')");
	in_session($take->(''));
	is(in_session('select count(*) from got') . ' ' . in_session('select count(*) from ((table got except all table whole) union all (table whole except all table got)) s'),
		in_session('select count(*) from whole') . ' 0', "a cursor $how over changes");
	in_session('close x');
	in_session('commit') if $how eq '';
	in_session('drop table whole, got');
}
sql('begin isolation level serializable');
same_is('select a.id from a join b on a.k4 = b.k4', '', 'a serializable transaction');
sql('commit');

# ---------------------------------------------------------------- graphs that have been merged

settle('a', 'b');
all_joins('(oi|io)', 'merged');
key_joins('(oi|io)', 'merged');
is(sql("select rows_different from hashgraph_resident_check('$_')"), '0', "graphs of $_ have what the columns have") foreach 'a', 'b';

# ---------------------------------------------------------------- values of a key out of line, and others

sql(<<'SQL');
create table o (id int, tk text, wide text) with (fillfactor = 30);
alter table o alter wide set storage plain;
alter table o alter tk set storage external;
insert into o select i, case when i < 400 then repeat('long ', 1000) || i % 60 else 'key ' || i % 700 end, repeat('o', 2500) from generate_series(1, 3000) i;
SQL
sql(q{vacuum analyze o; select hashgraph_resident_add('o', array['id'], keys => '{tk}', wait => true)});
ok(wait_for(sub { sql(q{select state || ' ' || (blocks_stale between 1 and 1021) || ' ' || (blocks_resident + blocks_stale = blocks_total) from hashgraph_resident where relation = 'o'::regclass and kind = 'graph'}) eq 'ready true true' }, 30, every => 0.2, between => sub { sql('vacuum o') }), 'a segment with keys out of line is passed over')
  or diag(sql(q{select json_agg(r) from hashgraph_resident r where relation = 'o'::regclass}));
my $made = sql('select graphs_made + graphs_merged from hashgraph_stat_resident');
same_is("select o.id, b.id as i from o $_ b on o.tk = b.tk", '(oi|io)', "... and its rows are read: $_") foreach @types;
same_is("select x.id, y.id as i from o x join o y on x.tk = y.tk", '(oi|io)', '... on both sides');
sql(q{select hashgraph_resident_refresh('o')});
witness_rounds($node, 2);
is(sql('select graphs_made + graphs_merged from hashgraph_stat_resident'), $made, '... once, and not again');
is(sql(q{select rows_different from hashgraph_resident_check('o')}), '0', '... while all others are in the graph');
sql('drop table o');
# equality that is not of bytes: hashed as the collation says
sql(<<'SQL');
create table i1 as select i as id, (case when i % 2 = 0 then 'Key ' else 'KEY ' end || i % 100) collate any_case as k from generate_series(1, 2000) i;
create table i2 as select i as id, ('key ' || i % 150) collate any_case as k from generate_series(1, 1000) i;
SQL
sql(qq{analyze $_; select hashgraph_resident_add('$_', keys => '{k}')}) foreach 'i1', 'i2';
foreach my $table ('i1', 'i2')
{
	ok(wait_for(sub { sql("select blocks_resident = blocks_total from hashgraph_resident where relation = '$table'::regclass and kind = 'graph' and state = 'ready'") eq 't' }, 30, every => 0.2, between => sub { sql("vacuum $table") }), "all of $table is in its graph");
}
same_is("select i1.id, i2.id as i from i1 $_ i2 on i1.k = i2.k", '(oi|io)', "a collation that does not tell cases apart: $_") foreach @types;
same_is('select count(*) from i1 join i2 on i1.k = i2.k collate "C"', '', '... under one that does');
sql('alter table i2 alter k type text collate "C"; analyze i2');
same_is('select i1.id, i2.id as i from i1 join i2 on i1.k = i2.k collate "C"', '[oi]?', '... when the column has that');
sql('drop table i1, i2');

# ---------------------------------------------------------------- whether without force, and unasked

sql(q{create table g (k int, s int, wide text) with (fillfactor = 30); alter table g alter wide set storage plain});
sql(q{insert into g select i, i % 10, repeat('g', 2500) from generate_series(1, 2000) i; vacuum analyze g});
sql('alter system set hashgraph.resident_auto = on; select pg_reload_conf()');
ok(wait_for(sub { sql(q{select count(*) from hashgraph_resident where relation = 'g'::regclass and kind = 'graph' and state = 'ready' and "column" = 'k' and blocks_resident = pg_relation_size(relation_id) / 8192}) eq '1' }, 30, every => 0.2, between => sub { sql('select count(*) from g join c using (k); select sum(s) from c join g using (k); vacuum g') }), 'a column that joins hash gets a HashGraph')
  or diag(sql(q{select json_agg(r) from hashgraph_resident r where relation = 'g'::regclass}));
sql('set hashgraph.force = off; set enable_nestloop = off; set hashgraph.min_rows = 0');
like(sql('explain select count(*) from g join c using (k) where c.x = 3'), qr/(Outer|Inner) HashGraph: resident/, 'EXPLAIN tells that few rows would be looked up');
same_is('select count(*) from g join c using (k) where c.x = 3', '[oi]', '... as they are');
unlike(sql('explain select g.s, x.s as t from g join (select * from g) x using (s)'), qr/HashGraph: resident/, '... but not in a column without one');
sql('reset hashgraph.force; reset enable_nestloop; reset hashgraph.min_rows');
sql('drop table g; create table g (k text, s int, wide text) with (fillfactor = 30); alter table g alter wide set storage plain');
sql(q{insert into g select 'k' || i, i % 10, repeat('g', 2500) from generate_series(1, 2000) i; create table gc as select 'k' || k as k, x from c; vacuum analyze g; analyze gc});
ok(wait_for(sub { sql(q{select string_agg(array_to_string(key, '+'), ' ' order by key) from hashgraph_resident where relation = 'g'::regclass and kind = 'graph' and state = 'ready' and blocks_resident = blocks_total}) eq 'k k+s' }, 30, every => 0.2, between => sub { sql('select count(*) from g join gc using (k); select count(*) from gc join g on g.k = gc.k and g.s = gc.x; vacuum g') }), 'so do text columns, and several columns')
  or diag(sql(q{select json_agg(r) from hashgraph_resident r where relation = 'g'::regclass}));
sql('set hashgraph.force = off; set enable_nestloop = off; set hashgraph.min_rows = 0');
foreach my $on ('g.k = gc.k', 'g.k = gc.k and g.s = gc.x')
{
	like(sql("explain select count(*) from g join gc on $on where gc.x = 3 and gc.k < 'k2'"), qr/(Outer|Inner) HashGraph: resident/, "EXPLAIN tells of $on");
	same_is("select count(*) from g join gc on $on where gc.x = 3 and gc.k < 'k2'", '[oi]', '... as it is');
}
sql('reset hashgraph.force; reset enable_nestloop; reset hashgraph.min_rows');

# A graph of a fact's key is taken where few keys are looked up in it, and left where most rows have a partner: streaming the column
# past the few rows of the other table is faster then.
sql(q{select hashgraph_resident_drop('a'), hashgraph_resident_drop('b')});
sql(q{create table fact (k int, v int); insert into fact select i % 3000, i from generate_series(1, 300000) i; create table dim as select i as k, i as x from generate_series(0, 2999) i; create table large (k int, x int); insert into large select i, i from generate_series(0, 199999) i; vacuum analyze fact; vacuum analyze dim; vacuum analyze large});
sql(qq{select hashgraph_resident_add('$_', keys => '{k}')}) foreach 'fact', 'dim', 'large';
foreach my $table ('fact', 'dim', 'large')
{
	ok(wait_for(sub { sql("select bool_and(blocks_resident = blocks_total and state = 'ready') and count(*) >= 3 from hashgraph_resident where relation = '$table'::regclass") eq 't' }, 30, every => 0.2, between => sub { sql("vacuum $table") }), "all of $table is resident")
	  or diag(sql(q{select json_agg(r) from hashgraph_resident r}));
}
sql('set hashgraph.force = off');
foreach my $query ('select count(*) from fact join dim using (k)', 'select sum(v) from fact join dim using (k)')
{
	my $plan;

	ok(wait_for(sub { ($plan = sql("explain (analyze, costs off, timing off) $query where x < 3")) =~ /Outer HashGraph: resident/ }, 30, every => 0.1), "few keys of a fact are looked up: $query")
	  or diag($plan);
	$plan = sql("explain (analyze, costs off, timing off) $query");
	like($plan, qr/Outer Heap Blocks: 0$/m, '... all of its rows come from memory');
	unlike($plan, qr/HashGraph: resident/, '... but are streamed') or diag($plan);
	foreach my $where ('', ' where x < 3')
	{
		my $ours = sql("$query$where");

		sql('set hashgraph.enabled = off');
		is($ours, sql("$query$where"), "... as PostgreSQL has them$where");
		sql('set hashgraph.enabled = on');
	}
}
# Past dense keys rows are streamed too, however many those are.
sql(q{set work_mem = '64MB'});
unlike(sql('explain (analyze, costs off, timing off) select sum(v) from fact join large using (k)'), qr/HashGraph: resident/, 'all rows of a fact are streamed past many dense keys');
sql('reset work_mem');
# Workers would be started for what takes a few milliseconds if it had another price.
my ($counted, $summed) = map { sql("explain select $_ from fact join dim using (k)") =~ /cost=[\d.]+\.\.([\d.]+)/ } 'count(*)', 'sum(v)';
cmp_ok($counted, '<', $summed / 2, 'rows that are only counted cost less than half of those that are summed');
# A Gather of a scan that leaves few rows costs less than the scan by one process, which is cheaper all the same where it reads columns.
sql('set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0');
unlike(sql("explain (costs off) $_"), qr/Gather/, "few rows of cached columns start no workers: $_")
	foreach 'select sum(large.x) from fact join large on fact.v = large.x where fact.k = 5', 'select v, large.x from large left join fact on fact.v = large.x and fact.k = 5', 'select sum(v) from fact where k = 5';
sql('reset max_parallel_workers_per_gather; reset min_parallel_table_scan_size');
sql('reset hashgraph.force; drop table fact, dim, large');

# An error in the middle of a join leaves nothing behind.
my (undef, undef, $error) = $node->psql('postgres', 'set hashgraph.force = on; select count(1 / (b.w - 33)) from a join b on a.k4 = b.k4');
like($error, qr/division by zero/, 'an error in the middle');
sql('create extension if not exists hashgraph');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|was terminated by signal|leak/, 'nothing has failed or leaked');
$node->stop;
done_testing();
