--
-- Key types: every type with a default hash operator class is joined as PostgreSQL
-- joins it, whether its values travel exact or as hashes.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all
set client_min_messages = warning;
create schema key_types;
set search_path = key_types, public;

-- Join values of one type with values of another in every way, with duplicates and NULLs,
-- the left side larger than the right one and smaller.  keys tells how they travelled, rows
-- how many the inner join has; result is "same" or the queries that are not.
create function check_types(type_l text, values_l text[], type_r text, values_r text[])
returns table (keys text, rows bigint, result text) language plpgsql as $$
declare
  fill constant text := 'create temp table %I as select v::%s as k, n + m * 1000 as n
    from unnest($1 || null::text) with ordinality s (v, n), generate_series(1, $2) m';
  query text;
  found text;
begin
  result := 'same';
  for copies in 1 .. 2 loop
    execute format(fill, 'l', type_l) using values_l, 1 + copies % 2 * 2;
    execute format(fill, 'r', type_r) using values_r, 1 + (copies + 1) % 2 * 2;
    analyze l;
    analyze r;
    select count(*) into rows from l join r on l.k = r.k;
    foreach query in array array[
      'select l.k, r.k, l.n, r.n from l join r on l.k = r.k',
      'select l.k, r.k, l.n, r.n from r join l on r.k = l.k',
      'select l.k, r.k, l.n, r.n from l left join r on l.k = r.k',
      'select l.k, r.k, l.n, r.n from l right join r on l.k = r.k',
      'select l.k, r.k, l.n, r.n from l full join r on l.k = r.k',
      'select count(*) from l join r on l.k = r.k',
      'select * from l where exists (select from r where l.k = r.k)',
      'select * from r where not exists (select from l where l.k = r.k and l.n < r.n)']
    loop
      found := join_check(query);
      if found !~ '^same, \d+ rows, by HashGraphJoin$' then
        result := concat_ws('; ', nullif(result, 'same'), query || ': ' || found);
      end if;
    end loop;
    drop table l, r;
  end loop;
  -- the list of joins has an end
  select case when join_number = 1000 then 'unknown' when recheck then 'hash' else 'exact' end into keys
    from hashgraph_last_joins() order by join_number desc limit 1;
  if rows = 0 then
    result := concat_ws('; ', nullif(result, 'same'), 'nothing matches: not a test');
  end if;
  return next;
end
$$;

create type mood as enum ('sad', 'ok', 'happy');
create type pair as (a int, b text);
create type floats as (a float8, b numeric);

-- Values of a type for each operator class, by the type it is declared for: some that are
-- equal without looking so, extreme ones, and such as differ in one bit.
create table samples (class regtype, type text, "values" text[]);
insert into samples values
  ('bool', 'bool', '{t,f,true}'),
  ('bytea', 'bytea', '{\\x,\\x00,\\x0000,\\xdeadbeef}'),
  ('"char"', '"char"', '{a,A,"",~}'),
  ('name', 'name', '{a,A,"a ",""}'),
  ('int8', 'int8', '{0,-1,1,4294967296,4294967295,-9223372036854775808,9223372036854775807}'),
  ('int2', 'int2', '{0,-1,1,-32768,32767}'),
  ('int4', 'int4', '{0,-1,1,65536,-2147483648,2147483647}'),
  ('text', 'text', '{a,A,"a ","","a\u0308",ä}'),
  ('oid', 'oid', '{0,1,4294967295,2147483648}'),
  ('tid', 'tid', '{"(0,1)","(0,2)","(1,0)","(4294967295,65535)","(65536,1)"}'),
  ('xid', 'xid', '{0,3,4294967295}'),
  ('cid', 'cid', '{0,1,4294967295}'),
  ('oidvector', 'oidvector', '{"",1,"1 2","2 1",4294967295}'),
  ('float4', 'float4', '{0,-0,NaN,Infinity,-Infinity,1.5,0.1,1e-45,-1e-45,3.4e38}'),
  ('float8', 'float8', '{0,-0,NaN,Infinity,-Infinity,1.5,0.1,5e-324,-5e-324,1.7e308}'),
  ('macaddr8', 'macaddr8', '{08:00:2b:01:02:03:04:05,08:00:2b:01:02:03:04:06,09:00:2b:01:02:03:04:05,08002b:0102030405}'),
  ('macaddr', 'macaddr', '{08:00:2b:01:02:03,08:00:2b:01:02:04,09:00:2b:01:02:03,0800.2b01.0203}'),
  ('inet', 'inet', '{10.0.0.1,10.0.0.1/32,10.0.0.1/8,10.0.0.0/8,::1,::ffff:10.0.0.1}'),
  ('aclitem', 'aclitem', array(select format(a, quote_ident(current_user))
    from unnest('{=r/%s,=rw/%s,=wr/%s,=r*/%s,%1$s=r/%1$s,=/%s}'::text[]) a)),
  ('bpchar', 'char(5)', '{a,"a ","a    ",A,""}'),
  ('bpchar', 'bpchar', '{a,"a ","a    ",A,""}'),
  ('date', 'date', '{2000-01-01,1999-12-31,infinity,-infinity,4713-01-01 BC}'),
  ('time', 'time', '{00:00,24:00,12:34:56.789,12:34:56.789001}'),
  ('timestamp', 'timestamp', '{2000-01-01,infinity,-infinity,2000-01-01 00:00:00.000001}'),
  ('timestamptz', 'timestamptz', '{2000-01-01 00:00+00,2000-01-01 01:00+01,infinity,-infinity}'),
  ('interval', 'interval', '{1 day,24 hours,1 mon,30 days,720 hours,-1 day,0,1 day -1 microsecond}'),
  ('timetz', 'timetz', '{12:00+00,13:00+01,12:00+01,12:00-00}'),
  ('numeric', 'numeric', '{1,1.0,1.00,0,-0.0,NaN,Infinity,-Infinity,1e100,0.1,0.10,12345678901234567890.123}'),
  ('record', 'pair', '{"(1,a)","(1,b)","(1,)","(,)","(2,a)"}'),
  ('record', 'floats', '{"(0,1.0)","(-0,1.00)","(NaN,NaN)","(,1)"}'),
  ('anyarray', 'int4[]', '{"{1,2}","{2,1}","{}","{NULL}","{{1,2}}","[0:1]={1,2}"}'),
  ('anyarray', 'float8[]', '{"{0}","{-0}","{NaN}","{NULL,1}"}'),
  ('anyarray', 'numeric[]', '{"{1.0}","{1.00}","{1,NULL}"}'),
  ('anyarray', 'text[]', '{"{a}","{\"a \"}","{}"}'),
  ('anyarray', 'pair[]', '{"{\"(1,a)\",\"(1,b)\"}","{NULL}","{}"}'),
  ('anyarray', 'mood[]', '{"{sad,ok}","{ok,sad}"}'),
  ('uuid', 'uuid', '{00000000-0000-0000-0000-000000000000,A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11,a0eebc999c0b4ef8bb6d6bb9bd380a11}'),
  ('pg_lsn', 'pg_lsn', '{0/0,0/1,1/0,FFFFFFFF/FFFFFFFF}'),
  ('anyenum', 'mood', '{sad,ok,happy}'),
  ('jsonb', 'jsonb', '{1,1.0,"\"a\"","{\"a\": 1, \"b\": 2}","{\"b\":2,\"a\":1}","[]",null}'),
  ('anyrange', 'int4range', '{"[1,3)","[1,2]","empty","[1,1)","(,)"}'),
  ('anyrange', 'numrange', '{"[1.0,2)","[1,2.00)","[1,2]","(,2)"}'),
  ('anyrange', 'tstzrange', '{"[2000-01-01 00:00+00,)","[2000-01-01 01:00+01,)","empty"}'),
  ('anymultirange', 'int4multirange', '{"{[1,3)}","{[1,2],[2,2]}","{}"}'),
  ('anymultirange', 'nummultirange', '{"{[1.0,2)}","{[1,2.00)}","{}"}'),
  ('xid8', 'xid8', '{0,3,4294967299,18446744073709551615}');

-- later versions have more types than 15: these are tested by themselves
insert into samples select s.class, s.type, s."values"
  from (values (to_regtype('oid8'), 'oid8', '{0,1,4294967295,4294967297,18446744073709551615}'::text[])) s (class, type, "values")
  where s.class is not null;
create view later_types as select unnest(array[to_regtype('oid8')]) as type;

-- every operator class there is, those that have no sample too
select format_type(opcintype, null) as class, coalesce(s.type, 'NO SAMPLE') as type, c.*
from pg_opclass o
  join pg_am a on a.oid = o.opcmethod and a.amname = 'hash'
  left join samples s on s.class = o.opcintype
  left join lateral check_types(s.type, s."values", s.type, s."values") c on s.type is not null
where o.opcdefault and o.opcintype not in (select l.type from later_types l where l.type is not null)
order by format_type(opcintype, null) collate "C", s.type collate "C";
select s.type, c.*
from later_types l
  join samples s on s.class = l.type
  cross join lateral check_types(s.type, s."values", s.type, s."values") c
where c.keys <> 'exact' or c.result <> 'same';

-- types that use another's operator class, and domains
create domain label as text;
create domain positive as int4 check (value > 0);
create domain measure as float8;
create domain amounts as numeric[];
create domain partner as pair;
create domain narrow as positive;
select t.type, c.*
from (values ('varchar', '{a,"a ",A}'), ('varchar(3)', '{a,"a ",A}'), ('cidr', '{10.0.0.0/8,10/8,::1}'),
    ('regclass', '{pg_class,pg_proc}'), ('regtype', '{int4,int,text}'),
    ('label', '{a,"a ",A}'), ('positive', '{1,2,2147483647}'), ('measure', '{0,-0,NaN,1.5}'),
    ('amounts', '{"{1.0}","{1.00}"}'), ('partner', '{"(1,a)","(1,)"}'), ('narrow', '{1,2}')) as t (type, "values"),
  check_types(t.type, t."values"::text[], t.type, t."values"::text[]) c;

-- operators between types
select t.type_l, t.type_r, c.*
from (values ('int2', '{0,-1,1,-32768,32767}', 'int4', '{0,-1,65535,-32768,32768,2147483647}'),
    ('int4', '{0,-1,65536,-32768}', 'int2', '{0,-1,-32768}'),
    ('int2', '{0,-1,-32768}', 'int8', '{0,-1,65535,-32768,4294967296,-4294967297}'),
    ('int8', '{0,-1,-32768,65535}', 'int2', '{0,-1,-32768}'),
    ('int4', '{0,-1,-2147483648}', 'int8', '{0,-1,4294967295,-2147483648,2147483648}'),
    ('int8', '{0,-1,4294967295,-2147483648}', 'int4', '{0,-1,2147483647,-2147483648}'),
    ('float4', '{0,-0,NaN,Infinity,0.1,0.25,1e-45}', 'float8', '{-0,NaN,Infinity,0.1,0.25,1e-45}'),
    ('float8', '{0,-0,NaN,-Infinity,0.1,0.25}', 'float4', '{0,-0,NaN,-Infinity,0.1,0.25}'),
    ('name', '{a,"a ",b}', 'text', '{a,"a "}'), ('text', '{a,"a ",b}', 'name', '{a,"a "}'),
    ('varchar', '{a,"a ",b}', 'text', '{a,"a "}'), ('char(5)', '{a,"a ",b}', 'text', '{a,"a "}'),
    ('positive', '{1,2,3}', 'int8', '{1,2,4294967297}'), ('int2', '{1,2,3}', 'narrow', '{1,2,65537}'),
    ('measure', '{0,-0,NaN}', 'float4', '{0,-0,NaN}'), ('label', '{a,"a "}', 'varchar', '{a,"a "}'),
    ('inet', '{10.0.0.0/8,::1}', 'cidr', '{10.0.0.0/8,::1}'), ('regclass', '{pg_class}', 'oid', '{1259,1}'),
    ('partner', '{"(1,a)","(1,)"}', 'pair', '{"(1,a)","(1,)"}')
  ) as t (type_l, values_l, type_r, values_r),
  check_types(t.type_l, t.values_l::text[], t.type_r, t.values_r::text[]) c;

-- NaNs of other bits than what 'NaN' is read as
create table nans as
  select 'NaN'::float8 as f8, 'NaN'::float4 as f4
  union all select 'Infinity'::float8 - 'Infinity'::float8, 'Infinity'::float4 - 'Infinity'::float4
  union all select - 'NaN'::float8, - 'NaN'::float4
  union all select 1, 1;
analyze nans;
select count(distinct float8send(f8)) > 2 as f8, count(distinct float4send(f4)) > 2 as f4 from nans;
select join_check('select float8send(l.f8), float8send(r.f8) from nans l join nans r on l.f8 = r.f8');
select join_check('select float4send(l.f4), float4send(r.f4) from nans l join nans r on l.f4 = r.f4');
select join_check('select float4send(l.f4), float8send(r.f8) from nans l join nans r on l.f4 = r.f8');

-- types without a hash operator class are core's
create type purse as (a int, b money);
select t.type, join_check(format('select * from (values (%1$L::%3$s), (%2$L), (null)) l (k) join (values (%1$L::%3$s), (%1$L)) r (k) on l.k = r.k', a, b, type))
from (values ('money', '1', '2'), ('bit(3)', '101', '111'), ('varbit', '101', '1010'), ('tsvector', 'a b', 'a'),
    ('tsquery', 'a & b', 'a'), ('money[]', '{1}', '{2}'), ('purse', '(1,1)', '(1,2)')) as t (type, a, b);

-- ... unless somebody makes one: equality is what the operator's function says
create function money_hash(money) returns int immutable strict language plpgsql as 'begin return hashint4(cash_cmp($1, 0::money)); end';
create operator @= (leftarg = money, rightarg = money, function = cash_eq, commutator = @=, hashes);
create operator class money_ops for type money using hash as operator 1 @=, function 1 money_hash(money);
create table purses as select * from unnest('{1,1.00,2,-92233720368547758.08,0,NULL}'::money[]) k;
analyze purses;
select join_check('select * from purses l join purses r on l.k @= r.k');
select join_check('select * from purses l left join purses r on l.k @= r.k and r.k @= 1::money');
set hashgraph.force = on;
select count(*) from purses l join purses r on l.k @= r.k;
reset hashgraph.force;
select recheck from hashgraph_last_joins();

-- several keys in a word, as long as they fit
create table many as
  select (i % 7 - 3)::int2 as i2, (i % 5 - 2)::int2 as j2, i % 3 - 1 as i4, (i % 4 - 2)::int8 as i8,
         i % 2 = 0 as b, chr(65 + i % 3)::"char" as c, date '2000-01-01' + i % 3 - 1 as d,
         (enum_range(null::mood))[1 + i % 3] as m, (i % 4)::oid as o,
         case i % 4 when 0 then '-0' when 1 then '0' when 2 then 'NaN' else '1.5' end::float4 as f4,
         case i % 4 when 0 then '0' when 1 then '-0' when 2 then 'NaN' else '1.5' end::float8 as f8,
         format('(%s,%s)', i % 2, 1 + i % 3)::tid as t, ('08:00:2b:01:02:0' || i % 5)::macaddr as mac,
         case when i % 6 > 0 then i % 4 end as n4, 'text ' || i % 4 as s, i as n
  from generate_series(1, 300) i;
analyze many;
create function check_keys(condition text) returns table (keys text, result text) language plpgsql as $$
declare
  queries constant text[] := array['select l.n, r.n from many l join many r on ', 'select l.n, r.n from many l left join many r on r.n < 100 and '];
begin
  select string_agg(distinct regexp_replace(join_check(q || condition), ' \d+ rows,', ''), '; ') into result from unnest(queries) q;
  select case when recheck then 'hash' else 'exact' end into keys
    from hashgraph_last_joins() order by join_number desc limit 1;
  return next;
end
$$;
select condition, c.*
from unnest(array[
    'l.i2 = r.i2 and l.j2 = r.j2 and l.i4 = r.i4',
    'l.i2 = r.j2 and l.j2 = r.i2 and l.i4 = r.i2',
    'l.i2 = r.i4 and l.i4 = r.i2',
    'l.b = r.b and l.d = r.d',
    'l.m = r.m and l.o = r.o',
    'l.b = r.b and l.c = r.c and l.i2 = r.i2 and l.i4 = r.i4',
    'l.c = r.c and l.b = r.b and l.m = r.m and l.j2 = r.j2',
    'l.f4 = r.f4 and l.i4 = r.i4',
    'l.f4 = r.f4 and l.n4 = r.n4',
    'l.f4 = r.f8',
    'l.f8 = r.f4',
    'l.t = r.t',
    'l.t = r.t and l.i2 = r.i2',
    'l.mac = r.mac and l.i2 = r.j2',
    'l.mac = r.mac and l.b = r.b and l.c = r.c',
    -- one bit too many
    'l.mac = r.mac and l.i2 = r.j2 and l.b = r.b',
    'l.i4 = r.i4 and l.n4 = r.n4 and l.b = r.b',
    'l.i8 = r.i8 and l.b = r.b',
    'l.i2 = r.i8 and l.b = r.b',
    'l.f8 = r.f8 and l.b = r.b',
    'l.f4 = r.f8 and l.c = r.c',
    'l.i4 = r.i4 and l.s = r.s',
    'l.i4 = r.i4 and l.j2 = r.j2 and l.f4 = r.f4 and l.t = r.t and l.s = r.s and l.mac = r.mac']) condition,
  check_keys(condition) c;

-- expressions as keys
select condition, c.*
from unnest(array[
    'l.i2 + 1 = r.j2',
    'l.i4::float8 = r.f8',
    'l.f4 * 0 = r.f8',
    'l.f4 + r.f4 * 0 = r.f4 and l.i4 = r.i4',
    'l.d + 1 = r.d',
    '- l.f8 = r.f8 and l.b = not r.b',
    'trunc(l.mac) = trunc(r.mac) and l.i2 = r.i2',
    'l.o::int8 = r.i8',
    'l.m::text = r.m::text',
    'l.n4 + r.i4 = r.n4 and l.i2 = r.i2',
    'coalesce(l.n4, -1) = coalesce(r.n4, -1)',
    '(l.i2, l.s) = (r.i2, r.s)',
    'l.s || l.i4 = r.s || r.i4']) condition, check_keys(condition) c;

-- texts that differ in one byte, of all lengths around a word's, and the same values stored in different ways
create table stored_l (t text, v varchar, p char(40), y bytea, n int);
create table stored_r (like stored_l);
alter table stored_l alter t set storage plain, alter v set storage main, alter y set storage external;
alter table stored_r alter v set storage external, alter y set storage plain;
insert into stored_l
  select w, w, left(w, 40), w::bytea, row_number() over ()
  from (select overlay(repeat('a', length) placing 'b' from at for 1) w
        from generate_series(0, 33) length, generate_series(1, length + 1) at
        union all select repeat('long', 1000) || i from generate_series(1, 3) i) s;
insert into stored_r select t, t, p, y, n from stored_l where n % 3 > 0 or n < 30;
analyze stored_l, stored_r;
select condition, join_check('select l.n, r.n from stored_l l join stored_r r on ' || condition)
from unnest(array['l.t = r.t', 'l.t = r.v', 'l.v = r.t', 'l.v = r.v', 'l.p = r.p', 'l.y = r.y', 'l.p::text = r.t', 'l.t = r.t and l.y = r.y',
    'l.t = r.t and l.n <> r.n', 'l.t || l.n % 2 = r.v || r.n % 2']) condition;
drop table stored_l, stored_r;
-- ... and serial numbers as texts, whose hashes are those of no others: as many matches are rechecked as there are
create table numbered as
  select 'k' || lpad(i::text, 11 + i % 9, '0') as t from generate_series(1, 150000) i
  union all select i::text from generate_series(1, 150000) i union all select chr(i) from generate_series(200, 500) i;
analyze numbered;
set hashgraph.force = on;
select count(*) from numbered l join numbered r using (t);
select matches = rows_out as no_others, rows_out from hashgraph_last_joins();
drop table numbered;
-- ... nor are they of values that make a factor of its product 0 with the published constants of wyhash
create table chosen as
  select i, '\x2f64bd78641d76a0'::bytea || int8send(i) as first, '\x2f64bd78641d76a0'::bytea || int8send(i) || int8send(i) as long,
    int8send(i) || decode('50c1a7f4979b77e3', 'hex') as last
  from generate_series(1, 3000) i;
analyze chosen;
select count(*) from chosen l join chosen r using (first);
select matches from hashgraph_last_joins();
select count(*) from chosen l join chosen r using (long);
select matches from hashgraph_last_joins();
select count(*) from chosen l join chosen r using (last);
select matches from hashgraph_last_joins();
reset hashgraph.force;
drop table chosen;

-- collations: two that disagree, and equality that is not that of bytes
create collation anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table folded_l as
  select w collate anycase as t, w::varchar(9) collate anycase as v, w::char(9) collate anycase as p,
         array[w, 'Z'] collate anycase as a, w collate "C" as c, w as d, n
  from unnest('{a,A,b,B,ä,Ä,"a ","",c,NULL}'::text[]) with ordinality s (w, n);
create table folded_r as
  select upper(t) as t, upper(v)::varchar(9) as v, upper(p)::char(9) as p, array[upper(t), 'z'] as a,
         c collate "POSIX" as c, d, n from folded_l where n % 2 = 0 or n < 4;
analyze folded_l, folded_r;
select condition, join_check('select l.n, r.n from folded_l l join folded_r r on ' || condition) as "inner",
  join_check('select l.n, r.n from folded_r r left join folded_l l on ' || condition) as "left"
from unnest(array['l.t = r.t', 'l.v = r.v', 'l.p = r.p', 'l.a = r.a', 'l.t = r.v', 'l.t = r.d', 'l.d = r.t',
    'l.d = r.d', 'l.t collate "C" = r.t', 'l.c = r.c collate anycase', 'l.t = r.t and l.d = r.d',
    'lower(l.t) = r.t', 'l.t || ''x'' = r.t || ''X''', 'l.p::char(7) = r.p']) condition;
\set VERBOSITY terse
set hashgraph.force = on;
select count(*) from folded_l l join folded_r r on l.c = r.c;
set hashgraph.enabled = off;
select count(*) from folded_l l join folded_r r on l.c = r.c;
reset hashgraph.enabled;
reset hashgraph.force;
\set VERBOSITY default

-- extensions' types, where the server has them
create function check_extension(extension text, type text, "values" text[]) returns text language plpgsql as $$
declare
  found record;
begin
  if not exists (select from pg_available_extensions where name = extension) then
    return 'hash, same';
  end if;
  execute format('create extension if not exists %I schema key_types', extension);
  select * into found from check_types(type, "values", type, "values");
  execute format('drop extension %I', extension);
  return found.keys || ', ' || found.result;
end
$$;
select type, check_extension(extension, type, "values"::text[])
from (values ('citext', 'citext', '{a,A,b,Ä,ä}'), ('hstore', 'hstore', '{"a=>1, b=>2","b=>2, a=>1","",a=>NULL}'),
    ('isn', 'ean13', '{978-0-393-04002-9,978-0-11-000533-1}')) as t (extension, type, "values");

drop schema key_types cascade;
