--
-- Join keys: equality is the operator's own, for every type.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

-- Join a list of values with itself, NULLs and duplicates among them, in every way.
create function key_check(type_l text, values_l text[], type_r text default null, values_r text[] default null)
returns table (kind text, result text) language plpgsql as $$
begin
  execute format('create temp table l as select v::%s as k, n from unnest($1 || null::text) with ordinality s (v, n)',
                 type_l) using values_l;
  execute format('create temp table r as select v::%s as k, n + m * 1000 as n
                    from unnest($1 || null::text) with ordinality s (v, n), generate_series(1, 2) m',
                 coalesce(type_r, type_l)) using coalesce(values_r, values_l);
  analyze l;
  analyze r;
  return query values
    ('inner', join_check('select l.k, r.k, l.n, r.n from l join r on l.k = r.k')),
    ('count', join_check('select count(*) from l join r on l.k = r.k')),
    ('left', join_check('select l.k, r.k, l.n, r.n from r left join l on l.k = r.k')),
    ('semi', join_check('select * from r where exists (select from l where l.k = r.k)')),
    ('anti', join_check('select * from l where not exists (select from r where l.k = r.k and r.n % 1000 > l.n)'));
  drop table l, r;
end
$$;

create type mood as enum ('sad', 'ok', 'happy');
create type pair as (a int, b text);
create domain positive as int check (value > 0);
create domain label as text;

-- integers, alike and mixed, negative and extreme ones
select * from key_check('int2', '{0,-1,1,-32768,32767,0,7}');
select * from key_check('int4', '{0,-1,1,-2147483648,2147483647,0,65536,65537}');
select * from key_check('int8', '{0,-1,1,-9223372036854775808,9223372036854775807,4294967296,4294967295,0}');
select * from key_check('int2', '{0,-1,1,-32768,32767}', 'int4', '{0,-1,65535,-32768,32768,2147483647}');
select * from key_check('int4', '{0,-1,1,-2147483648}', 'int2', '{0,-1,1,-32768}');
select * from key_check('int2', '{0,-1,1}', 'int8', '{0,-1,65535,4294967296,4294967295,18446744073709}');
select * from key_check('int8', '{0,-1,4294967295,-2147483648,4294967296}', 'int4', '{0,-1,2147483647,-2147483648}');
select * from key_check('int4', '{0,-1,-2147483648}', 'int8', '{0,-1,4294967295,-2147483648,2147483648}');
select * from key_check('oid', '{0,1,4294967295,2147483648}');
select * from key_check('"char"', '{a,b,"",a,z}');
select * from key_check('bool', '{t,f,f}');
select * from key_check('xid', '{0,1,4294967295}');
select * from key_check('tid', '{"(0,1)","(0,2)","(7,1)","(0,1)"}');
select * from key_check('pg_lsn', '{0/0,0/1,FFFFFFFF/FFFFFFFF}');

-- floating point: -0.0 = 0.0, NaN = NaN
select * from key_check('float8', '{0,-0.0,NaN,NaN,Infinity,-Infinity,1.5,1e-300}');
select * from key_check('float4', '{0,-0.0,NaN,Infinity,-Infinity,1.5,0.1}');
select * from key_check('float4', '{0,-0.0,NaN,Infinity,1.5,0.1,0.25}', 'float8', '{-0.0,NaN,Infinity,1.5,0.1,0.25}');
-- 1.0 = 1.00
select * from key_check('numeric', '{1.0,1.00,1,0,-0.0,NaN,Infinity,-Infinity,1e100,0.10,0.1,12345678901234567890.123}');

-- dates and times; '1 day' = '24 hours'
select * from key_check('date', '{2000-01-01,1999-12-31,infinity,-infinity,4713-01-01 BC}');
select * from key_check('time', '{00:00,24:00,12:34:56.789}');
select * from key_check('timetz', '{12:00+00,13:00+01,12:00+01}');
select * from key_check('timestamp', '{2000-01-01,infinity,-infinity,2000-01-01 00:00:00.000001}');
select * from key_check('timestamptz', '{2000-01-01 00:00+00,2000-01-01 01:00+01,infinity}');
select * from key_check('interval', '{1 day,24 hours,1 mon,30 days,720 hours,-1 day,0}');

-- strings
select * from key_check('text', '{a,A,"a ",ab,"","a\u0308",ä}');
select * from key_check('varchar(10)', '{a,A,"a ",ab,""}');
select * from key_check('char(5)', '{a,"a ","a   ",ab,""}');
select * from key_check('name', '{a,A,"a ",ab,""}');
select * from key_check('varchar', '{a,"a ",b}', 'text', '{a,"a ",c}');
select * from key_check('name', '{a,"a ",b}', 'text', '{a,"a ",c}');
select * from key_check('char(5)', '{a,"a ",b}', 'text', '{a,"a ",c}');
select * from key_check('bytea', '{\\\\x,\\\\x00,\\\\x0000,\\\\xdeadbeef}');

-- others
select * from key_check('uuid', '{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001,A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}');
select * from key_check('inet', '{10.0.0.1,10.0.0.1/32,10.0.0.1/8,::1}');
select * from key_check('macaddr', '{08:00:2b:01:02:03,08-00-2b-01-02-03,08:00:2b:01:02:04}');
select * from key_check('jsonb', '{"1","1.0","\"a\"","{\"a\": 1, \"b\": 2}","{\"b\":2,\"a\":1}","[]","null"}');
select * from key_check('int4[]', '{"{1,2}","{2,1}","{}","{NULL}","{{1,2}}","[0:1]={1,2}"}');
select * from key_check('numeric[]', '{"{1.0}","{1.00}","{1,NULL}"}');
select * from key_check('text[]', '{"{a}","{\"a \"}","{}"}');
select * from key_check('int4range', '{"[1,3)","[1,2]","empty","[1,1)","(,)"}');
select * from key_check('int4multirange', '{"{[1,3)}","{[1,2],[2,2]}","{}"}');
select * from key_check('mood', '{sad,ok,happy,ok}');
select * from key_check('pair', '{"(1,a)","(1,b)","(1,)","(,)","(1,a)"}');
select * from key_check('positive', '{1,2,2147483647}');
select * from key_check('positive', '{1,2,3}', 'int8', '{1,2,4294967297}');
select * from key_check('label', '{a,b,"a "}', 'text', '{a,"a "}');
-- no hash operator class: core's
select * from key_check('money', '{1,1.00,2}');
select * from key_check('bit(3)', '{101,111}');

-- collations: C, and a nondeterministic one
select join_check('select * from (values (''a''), (''A''), (''b'')) l (k) join (values (''a''), (''B'')) r (k) on l.k = r.k collate "C"');
create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table names_l (k text collate nocase, n int);
create table names_r (k text collate nocase, n int);
insert into names_l values ('a', 1), ('A', 2), ('b', 3), ('ä', 4), ('Ä', 5), (null, 6), ('', 7);
insert into names_r values ('A', 1), ('B', 2), ('Ä', 3), ('c', 4), (null, 5), ('', 6);
select join_check('select * from names_l l join names_r r on l.k = r.k');
select join_check('select * from names_l l left join names_r r on l.k = r.k');
select join_check('select * from names_l l where not exists (select from names_r r where l.k = r.k)');
select join_check('select * from names_l l join names_r r on l.k collate "C" = r.k');
select join_check('select * from names_l l join names_r r on l.k collate nocase = r.k and l.n < r.n');
drop table names_l, names_r;

-- several keys: packed into a word, hashed together, more than fits
create table many as
  select i % 7 as a, (i % 5)::int2 as b, (i % 3)::int8 as c, 'text ' || i % 4 as d,
         (i % 6)::numeric as e, case when i % 4 > 0 then i % 2 end as f, i as n
  from generate_series(1, 400) i;
analyze many;
select join_check('select l.n, r.n from many l join many r on l.a = r.a and l.b = r.b');
select join_check('select l.n, r.n from many l join many r on l.a = r.b and l.b = r.a');
select join_check('select l.n, r.n from many l join many r on l.a = r.a and l.f = r.f');
select join_check('select l.n, r.n from many l join many r on l.a = r.a and l.c = r.c');
select join_check('select l.n, r.n from many l join many r on l.a = r.c and l.c = r.a');
select join_check('select l.n, r.n from many l join many r on l.a = r.a and l.d = r.d');
select join_check('select l.n, r.n from many l join many r on l.c = r.c and l.n::int8 = r.n::int8 and l.a::int8 = r.a::int8');
select join_check('select l.n, r.n from many l left join many r on l.a = r.a and l.b = r.b and l.d = r.d and l.e = r.e and l.f = r.f');
select join_check('select n from many l where not exists (select from many r where l.a = r.a and l.e = r.c and l.n <> r.n)');
select join_check('select l.n, r.n from many l join many r on (l.a, l.b, l.d) = (r.a, r.b, r.d)');
select join_check('select l.n, r.n from many l join many r on row(l.a, l.d) = row(r.a, r.d) and l.n < 50');
-- values that meet when they are packed carelessly
select join_check('select * from (values (-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1)) l (a, b)
                   join (values (-1, 0), (0, -1), (1, 0), (0, 1), (0, 0)) r (a, b) on l.a = r.a and l.b = r.b');
select join_check('select * from (values (-1::int2, 0, 1::int2), (0::int2, -1, 0::int2)) l (a, b, c)
                   join (values (-1::int2, 0::int8, 1::int2), (0::int2, 4294967295::int8, 0::int2), (0, -1, 0)) r (a, b, c)
                     on l.a = r.a and l.b = r.b and l.c = r.c');

-- expressions
select join_check('select l.n, r.n from many l join many r on l.a + 1 = r.b');
select join_check('select l.n, r.n from many l join many r on l.a % 3 = r.a % 4');
select join_check('select l.n, r.n from many l join many r on upper(l.d) = upper(r.d) and l.n < 20');
select join_check('select l.n, r.n from many l join many r on abs(l.n - 200) = r.n');
select join_check('select l.n, r.n from many l join many r on case when l.n > 390 then l.n end = r.n');
select join_check('select l.n, r.n from many l join many r on coalesce(l.f, -1) = coalesce(r.f, -1) and l.n = r.n');
select join_check('select l.n, r.n from many l join many r on l.d || l.a = r.d || r.b and l.n < 100');
select join_check('select l.n, r.n from many l join many r on array[l.a, l.b] = array[r.b::int, r.a] and l.n < 50');
select join_check('select l.n, r.n from many l left join many r on (l.n, l.d) = (r.n + 1, r.d)');

-- values that a subplan returns by reference are gone with its next one
select join_check('select l.n, r.n from many l join many r on r.n::numeric = (select max(n)::numeric from many s where s.n < l.n)');
select join_check('select l.n, r.n from many l left join many r on r.n::text = (select max(n)::text from many s where s.n < l.n)');

-- operators of one's own: a hash function of 32 bits, and equality that is not int4's
create function mod10_eq(int, int) returns bool immutable strict language plpgsql as 'begin return $1 % 10 = $2 % 10; end';
create function mod10_hash(int) returns int immutable strict language plpgsql as 'begin return hashint4($1 % 10); end';
create operator === (leftarg = int, rightarg = int, procedure = mod10_eq, commutator = ===, hashes);
create operator class mod10_ops for type int using hash as operator 1 ===, function 1 mod10_hash(int);
select join_check('select l.n, r.n from many l join many r on l.n === r.n');
select join_check('select l.n, r.n from many l left join many r on l.n === r.a and l.n < 100');
select join_check('select n from many l where not exists (select from many r where l.n === r.a)');
select join_check('select l.n, r.n from many l join many r on l.n === r.n and l.a = r.a');

-- ... and one that is strict, and then is not: NULL equals NULL
create function same_eq(int, int) returns bool immutable strict language plpgsql as 'begin return $1 is not distinct from $2; end';
create operator =~= (leftarg = int, rightarg = int, procedure = same_eq, commutator = =~=, hashes);
create operator class same_ops for type int using hash as operator 1 =~=, function 1 hashint4(int);
select join_check('select l.n, r.n from many l join many r on l.f =~= r.f and l.n < 30');
alter function same_eq called on null input;
select join_check('select l.n, r.n from many l join many r on l.f =~= r.f and l.n < 30');
select join_check('select l.n, r.n from many l join many r on l.f =~= r.f and l.a = r.a');
select join_check('select l.n, r.n from many l left join many r on l.f =~= r.f and l.n = r.n');
select join_check('select n from many l where not exists (select from many r where l.f =~= r.f and r.n % 4 > 0)');
select join_check('select l.n, r.n from many l join many r on l.f =~= r.f and nullif(l.a, 3) = r.a');

-- computed keys: each is evaluated once a row of its table, whatever it matches
create sequence evaluated;
create function counted(text) returns text immutable strict language plpgsql as
  'begin perform nextval(''evaluated''); return upper($1); end';
create function counted_array(int, int) returns int[] immutable strict language plpgsql as
  'declare a int[]; begin perform nextval(''evaluated''); a[1] := $1; a[2] := $2; return a; end';
create function evaluations(query text) returns text language plpgsql as $$
declare
  found_rows bigint;
begin
  perform setval('evaluated', 1, false), set_config('hashgraph.force', 'on', true);
  if join_nodes(query) = 0 then
    raise exception 'the plan has no node';
  end if;
  execute format('select count(*) from (%s) q', query) into found_rows;
  return format('%s rows, %s evaluations', found_rows,
                (select case when is_called then last_value else 0 end from evaluated));
end
$$;
-- 400 rows a side, 100 of each value
select evaluations('select l.n, r.n from many l join many r on counted(l.d) = counted(r.d)');
select evaluations('select l.n, r.n from many l join many r on counted(l.d) = counted(r.d) and l.n < r.n');
select evaluations('select l.n, r.n from many l left join many r on counted(l.d) = counted(r.d) and l.n > r.n + 300');
select evaluations('select l.n, r.n from many l full join many r on l.a = r.b and counted(l.d) = counted(r.d)');
select evaluations('select l.n from many l where exists (select from many r where counted(l.d) = counted(r.d) and l.n < r.n)');
select evaluations('select l.n from many l where not exists (select from many r where counted(l.d) = counted(r.d) and l.n > r.n)');
select evaluations('select l.n, r.n from many l join many r on counted(l.d) = upper(r.d)');
select evaluations('select l.n, r.n from many l join many r on counted_array(l.a, l.b) = counted_array(r.a, r.b)');
-- a node above reads rows of a node below
select evaluations('select l.n from many l join many r on counted(l.d) = upper(r.d) join many m on counted(l.d) = upper(m.d) and m.n < 5');
-- partitions on disk have the values too
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select evaluations('select l.n, r.n from (select d || n % 50 d, n from many, generate_series(1, 20) offset 0) l
                      join (select d || n % 50 d, n from many, generate_series(1, 20) offset 0) r on counted(l.d) = counted(r.d)');
reset work_mem;
reset hash_mem_multiplier;
drop function evaluations, counted, counted_array;
drop sequence evaluated;

-- a value is its row's: null extension does not reach it
select join_check('select l.n, r.n, coalesce(r.d, ''none'') from many l left join many r on l.d || l.n = coalesce(r.d, ''none'') || r.a');
select join_check('select l.n, upper(l.d), upper(r.d) from many l full join many r on upper(l.d) = upper(r.d) and l.n = r.n + 390');
select join_check('select upper(l.d), r.n from many l join many r on upper(l.d) = upper(r.d) where l.n < 30 and r.n < 30');
-- of a nondeterministic collation, more than a batch may have, out of line, NULL
select join_check('select l.n, r.n from many l join many r on (case l.n % 2 when 0 then upper(l.d) else l.d end) collate nocase = trim(r.d) collate nocase and l.n < 20');
select join_check('select l.n, r.n from many l join many r on repeat(l.d, 2000) = repeat(r.d, 2000) and l.n < 50 and r.n < 50');
create table far (n int, d text);
alter table far alter d set storage external;
insert into far select n, repeat(d, 1000) from many where n < 50;
analyze far;
select join_check('select l.n, r.n from far l join far r on coalesce(l.d, '''') = nullif(r.d, repeat(''text 1'', 1000))');
select join_check('select l.n, r.n from far l full join far r on nullif(l.d, repeat(''text 2'', 1000)) = nullif(r.d, repeat(''text 1'', 1000))');
set work_mem = '64kB';
select join_check('select l.n, r.n from far l full join far r on nullif(l.d, repeat(''text 2'', 1000)) = nullif(r.d, repeat(''text 1'', 1000))');
select join_check('select l.n, r.n from many l full join many r on repeat(l.d || l.n % 20, 2000) = repeat(r.d || r.n % 30, 2000) and l.n < 50 and r.n < 50');
reset work_mem;
drop table far;
-- processes share the values
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select join_check('select l.n, r.n from many l full join many r on upper(l.d) = upper(r.d) and l.n = r.n + 390');
select join_check('select l.n, r.n from many l join many r on repeat(l.d, 200) = repeat(r.d, 200) and l.n < r.n');
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
-- of subplans and parameters, which change between rescans
select join_check('select l.n, r.n from many l join many r on (select max(d || m.a) from many m where m.n = l.n) = r.d || r.a and l.n < 30');
select join_check('select s.n, j.* from many s, lateral (select l.n x, r.n y from many l join many r on l.d || s.n = r.d || (s.n % 3) and l.n < r.n offset 0) j where s.n < 6');

-- extensions' types
create extension if not exists citext;
select * from key_check('citext', '{a,A,b,Ä,ä}');

drop extension citext;
drop table many;
drop operator class same_ops using hash;
drop operator class mod10_ops using hash;
drop operator family same_ops using hash;
drop operator family mod10_ops using hash;
drop operator =~= (int, int);
drop operator === (int, int);
drop function same_eq, mod10_eq, mod10_hash;
drop collation nocase;
drop function key_check;
drop type mood, pair, positive, label;
