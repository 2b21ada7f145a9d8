# WrongEstimates.pm
#
# Queries under wrong row estimates, for join_estimates.pl and test/perf/estimates.pl.
#
#	estimates_server($name, $conf)	A server that preloads hashgraph and test/estimates, with tables of sales.
#	estimates_tables($sales)		SQL that creates the tables; so many rows in the largest one.
#	estimates_factor($factor)		SQL that makes the estimates of filters wrong by a factor.
#	estimates_shapes()				The queries: hashes of name and query.
#
# The tables are those of a shop.  Filters use the columns in FILTERED, whose estimates test/estimates makes wrong.
# Joins use other columns, so that joins of filtered rows are wrong by the same factor.

package WrongEstimates;

use strict;
use warnings;

use Exporter 'import';
use HashGraphTest;

our @EXPORT = qw(estimates_server estimates_tables estimates_factor estimates_shapes);

use constant FILTERED => 'kind, qty, region, y, sex, status, edu';

sub estimates_server
{
	my ($name, $conf) = @_;

	return new_server($name, preload => 'hashgraph, ' . build_module('estimates/wrong_estimates.c'),
		conf => "wrong_estimates.columns = '" . FILTERED . "'\nfsync = off\n$conf");
}

sub estimates_factor
{
	my ($factor) = @_;

	return "set wrong_estimates.factor = $factor;";
}

# A fifth of the sales is of each kind from 0 to 4; kind 77 and region 77 are rare.  No table is in the order of the rows that it refers to.
sub estimates_tables
{
	my ($sales) = @_;
	my ($persons, $addresses, $demos, $items, $counties) = map { int($sales / $_) } 6, 24, 3, 60, 333;

	return <<"SQL";
create table day (d int primary key, y int, q int, label date);
insert into day select i, 2000 + i / 366, 1 + (i % 366) / 92, date '2000-01-01' + i from generate_series(0, 3653) i;
create table address (a int primary key, county text, zip text);
insert into address select i, 'county ' || i % $counties, lpad((i * 37 % 99999)::text, 5, '0') from generate_series(1, $addresses) i;
create table demo (c int primary key, sex char(1), status char(1), edu text);
insert into demo select i, chr(77 - 7 * (i % 2)), chr(65 + i % 5), 'level ' || i % 7 from generate_series(1, $demos) i;
create table item (item int primary key, label text);
insert into item select i, 'item ' || i from generate_series(1, $items) i;
create table person (p int primary key, a int, c int, region int, name text, note text);
insert into person select i, 1 + (i * 7907::int8 % $addresses)::int, 1 + (i * 7919::int8 % $demos)::int,
  case when i % 2000 = 0 then 77 else i % 50 end, 'person ' || i,
  repeat('note ', 30 + i % 20)
  from generate_series(1, $persons) i;
create table sale (id int primary key, ticket int, item int, d int, p int, kind int, qty int, price numeric(7,2));
insert into sale select i, i / 12, 1 + (i * 6007::int8 % $items)::int, (i * 104729::int8 % 3654)::int,
  1 + (i * 7919::int8 % $persons)::int,
  case when i % 10000 = 0 then 77 else (i / 7) % 5 end, 1 + (i / 3) % 100, (i % 20000) / 100.0
  from generate_series(1, $sales) i;
create index on sale (p);
create table returned (ticket int, item int, reason text);
insert into returned select ticket, item, 'reason ' || id % 30 from sale where id % 4 = 1 order by item, ticket;
create index on returned (ticket);
vacuum (freeze, analyze);
SQL
}

my @shapes = (
	[ 'index lookups', 'select s.id, p.name from sale s join person p using (p) where s.kind = 3' ],
	[ 'rare rows', 'select s.id, p.name from sale s join person p using (p) where s.kind = 77' ],
	[ 'small inner table', 'select s.id, i.label from sale s join item i using (item) where s.kind = 3' ],
	[ 'several matches', 'select p.name, s.id, s.price from person p join sale s using (p) where p.region between 5 and 14' ],
	[ 'filters of both sides', 'select s.id, p.name from sale s join person p using (p) where s.kind = 3 and p.region < 25' ],
	[ 'chain of four', <<'SQL' ],
select item, avg(qty), avg(price) from sale join day using (d) join person using (p) join demo using (c)
  where sex = 'F' and status = 'B' and edu = 'level 3' and y = 2003 group by item order by item limit 100
SQL
	[ 'semi join', <<'SQL' ],
select s.id, s.price from sale s
  where s.kind = 3 and exists (select from returned r where r.ticket = s.ticket and r.item = s.item)
SQL
	[ 'anti join', <<'SQL' ],
select s.id, s.price from sale s
  where s.kind = 3 and not exists (select from returned r where r.ticket = s.ticket and r.item = s.item)
SQL
	[ 'subquery of IN', 'select name from person where p in (select p from sale where kind = 3 and qty > 90)' ],
	[ 'left join', 'select s.id, p.name from sale s left join person p on p.p = s.p and p.region < 25 where s.kind = 3' ],
	[ 'left joins', <<'SQL' ],
select s.id, p.name, a.zip from sale s left join person p using (p) left join address a using (a) where s.kind = 3
SQL
	[ 'CTE joined with itself', <<'SQL' ],
with s as (select county, q, y, sum(price) v from sale join day using (d) join person using (p) join address using (a)
  where qty <= 20 group by county, q, y)
select s1.county, s2.v / s1.v as a, s3.v / s2.v as b
  from s s1 join s s2 on s1.county = s2.county join s s3 on s1.county = s3.county
  where s1.q = 1 and s1.y = 2003 and s2.q = 2 and s2.y = 2003 and s3.q = 3 and s3.y = 2003 and s2.v > s1.v order by 1
SQL
	[ 'groups', <<'SQL' ],
select p.region, count(*), sum(s.price), min(p.name) from sale s join person p using (p) where s.kind = 3 group by p.region
SQL
	[ 'star', <<'SQL' ],
select i.label, count(*), sum(s.price) from sale s join person p using (p) join day using (d) join item i using (item)
  where s.kind = 3 and p.region < 10 and y between 2002 and 2005 group by i.label
SQL
	[ 'few rows with many matches', 'select a.zip, s.id from address a join person p using (a) join sale s using (p) where p.region = 77' ],
	[ 'no index', <<'SQL' ],
select s.id, r.reason from sale s join returned r on r.item = s.item and r.reason = 'reason ' || s.qty where s.kind = 3 and s.qty < 10
SQL
	[ 'text keys', q{select s.id, i.item from sale s join item i on i.label = 'item ' || s.item where s.kind = 3} ],
	[ 'correlated aggregate', <<'SQL' ],
select s.id, s.price from sale s join person p using (p)
  where s.kind = 3 and p.region = 7 and s.price > (select 1.5 * avg(t.price) from sale t where t.p = s.p)
SQL
	[ 'LATERAL', <<'SQL' ],
select p.name, t.sales, t.most from person p,
  lateral (select count(*) as sales, max(r.reason) as most from sale s join returned r using (ticket, item) where s.p = p.p) t
  where p.region = 7
SQL
	[ 'EXISTS of a join', <<'SQL' ],
select 1 where exists (select from sale s join person p using (p) where s.kind = 3 and p.region = 7)
SQL
	[ 'ORDER BY and LIMIT', <<'SQL' ],
select s.id, p.name, s.price from sale s join person p using (p) where s.kind = 3 order by s.price desc, s.id limit 10
SQL
	[ 'index order and LIMIT', <<'SQL' ],
select s.id, p.name from sale s join person p using (p) where s.kind = 3 order by s.id limit 20
SQL
	[ 'LIMIT', "select s.id >= 0 and p.name > '' from sale s join person p using (p) where s.kind = 3 limit 100" ]);

sub estimates_shapes
{
	return map { { name => $_->[0], query => $_->[1] } } @shapes;
}

1;
