--
-- Filters that are decided over columns: the rows that PostgreSQL's own scan leaves, over NULLs and the ends of types.
--
set hashgraph.force = on;
set enable_nestloop = off;
set enable_mergejoin = off;

-- without regard to case, where this server and the database's encoding have ICU
do $$
begin
  create collation f_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  execute 'select ''a'' < ''b'' collate f_ci';
exception when others then
  create collation f_ci from "C";
end
$$;

-- A column of each type, and values that rows and filters have of it, as literals.
create table f_pools (col name primary key, type text, pool text[], likes bool default false);
insert into f_pools (col, type, pool) values
  ('i2', 'int2', array['-32768', '-7', '0', '3', '4', '5', '32767']),
  ('i4', 'int4', array['-2147483648', '-7', '0', '3', '4', '5', '2147483647']),
  ('i8', 'int8', array['-9223372036854775808', '-4294967296', '0', '3', '4', '5', '9223372036854775807']),
  ('da', 'date', array['-infinity', '4713-01-01 BC', '1999-12-31', '2000-01-01', '2000-01-02', '5874897-12-31', 'infinity']),
  ('ts', 'timestamp', array['-infinity', '4713-01-01 BC', '1999-12-31 12:00', '2000-01-01', '2000-01-01 00:00:00.000001', '294276-12-31', 'infinity']),
  ('tz', 'timestamptz', array['-infinity', '1999-12-31 12:00+00', '2000-01-01+00', '2000-01-01 00:00:00.000001+00', 'infinity']),
  ('ti', 'time', array['00:00', '00:00:00.000001', '12:00', '24:00']),
  ('mo', 'money', array['-92233720368547758.08', '-1', '0', '0.01', '92233720368547758.07']),
  ('oi', 'oid', array['0', '7', '2147483647', '2147483648', '4294967295']),
  ('ch', '"char"', array['', 'A', 'z', '\200', '\377']),
  ('bo', 'bool', array['t', 'f']),
  ('f4', 'float4', array['-infinity', '-1e-45', '-0', '0', '0.1', '3', 'infinity', 'nan']),
  ('f8', 'float8', array['-infinity', '-4.9e-324', '-0', '0', '0.1', '3', 'infinity', 'nan']),
  ('uu', 'uuid', array['00000000-0000-0000-0000-000000000000', '7fffffff-0000-0000-0000-000000000000', '80000000-0000-0000-0000-000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff']),
  ('nu', 'numeric', array['-infinity', '-1e40', '-7.5', '-0.0000000000000000000001', '0.00', '3', '3.0000', '3.000000000000001', '4', '123456789012345.678', '1e-20', 'infinity', 'nan']),
  ('n2', 'numeric(12,2)', array['-9999999999.99', '-0.01', '0', '2.99', '3', '3.01', '9999999999.99']),
  ('tx', 'text', array['', ' ', 'a', 'A', 'a ', 'ab', 'äb', 'ä', 'a%', 'a_', 'b\', repeat('long ', 1000)]),
  ('te', 'text', array['', 'a', (select string_agg(md5(i::text), '') from generate_series(1, 100) i), (select string_agg(md5(i::text), '') || 'b' from generate_series(1, 100) i)]),
  ('be', 'bytea', array['', (select string_agg(md5(i::text), '') from generate_series(1, 100) i), (select string_agg(md5(i::text), '') || 'b' from generate_series(1, 100) i)]),
  ('tc', 'text collate "C"', array['', ' ', 'a', 'A', 'a ', 'ab', 'äb', 'ä', 'a%', 'a_', repeat('ab', 2000)]),
  ('vc', 'varchar(20)', array['', 'a', 'A', 'a ', 'ab', 'äb']),
  ('bp', 'char(5)', array['', 'a', 'A', 'a  ', 'ab', 'ä']),
  ('bc', 'char(5) collate "C"', array['', 'a', 'A', 'a  ', 'ab', 'ä']),
  ('by', 'bytea', array['', '\x00', '\x0001', '\x61', '\xff', repeat('\xfe', 1)]),
  ('ci', 'text collate f_ci', array['', 'a', 'A', 'ab', 'AB', 'ä']);
update f_pools set likes = true where col in ('tx', 'te', 'tc', 'vc', 'bp', 'bc');

-- Which of n, by a number and a text.
create function f_pick(n int, seed int, what text) returns int language sql immutable as
  $$ select (hashtextextended(what, seed) & 1048575)::int % n $$;

-- Rows: a value of each pool, or NULL.
do $$
declare
  p record;
  definitions text := 'k int';
  vals text := 'i';
begin
  for p in select * from f_pools order by col loop
    definitions := definitions || format(', %I %s', p.col, p.type);
    vals := vals || format(', case when f_pick(6, i, %L) = 0 then null else (%L::text[])[1 + f_pick(%s, i, %L)]::%s end', p.col || 'null', p.pool, cardinality(p.pool), p.col, p.type);
  end loop;
  execute format('create table f_rows (%s)', definitions);
  execute format('insert into f_rows select %s from generate_series(1, 400) i', vals);
end
$$;
create table f_keys as select generate_series(1, 400) as k;
select pg_relation_size(reltoastrelid) > 200000 as "out of line" from pg_class where oid = 'f_rows'::regclass;
analyze f_rows, f_keys;

-- A comparison with constants.
create function f_leaf(seed int) returns text language plpgsql as $$
declare
  p record;
  op text := (array['=', '<>', '<', '<=', '>', '>='])[1 + f_pick(6, seed, 'op')];
  kind int := f_pick(16, seed, 'kind');
  c text[];
  t text;
begin
  select * into p from f_pools order by hashtextextended(col, seed) limit 1;
  t := regexp_replace(p.type, ' collate.*|\(.*', '');
  -- types that are compared with others, of which not all are equal
  if p.col = 'i2' then t := (array['int2', 'int4', 'int8'])[1 + f_pick(3, seed, 'cross')]; end if;
  if p.col in ('i4', 'i8') and f_pick(2, seed, 'cross') = 0 then select pool into p.pool from f_pools where col = 'i2'; t := 'int2'; end if;
  if p.col = 'f8' and f_pick(2, seed, 'cross') = 0 then t := 'float4'; p.pool := array_remove(p.pool, '-4.9e-324'); end if;
  if p.col in ('da', 'ts') and f_pick(2, seed, 'cross') = 0 then
    select pool, type into p.pool, t from f_pools where col = case when p.col = 'da' then 'ts' else 'da' end;
  end if;
  if p.col = 'n2' and f_pick(2, seed, 'cross') = 0 then select pool into p.pool from f_pools where col = 'nu'; end if;
  for i in 1 .. 5 loop
    c := c || format('%L::%s', p.pool[1 + f_pick(cardinality(p.pool), seed, 'c' || i)], case t when 'char' then 'bpchar' else t end);
  end loop;
  if p.likes and f_pick(3, seed, 'like') = 0 then
    return format('%I %slike %L', p.col, (array['', 'not '])[1 + f_pick(2, seed, 'not')],
                  (array['', '', '%', '%%'])[1 + f_pick(4, seed, 'ahead')] || p.pool[1 + f_pick(cardinality(p.pool), seed, 'prefix')]
                  || (array['', '%', '%', '%%'])[1 + f_pick(4, seed, '%')]
                  || case when f_pick(3, seed, 'suffix') = 0 then p.pool[1 + f_pick(cardinality(p.pool), seed, 'behind')] || (array['', '%'])[1 + f_pick(2, seed, '%%')] else '' end);
  end if;
  return case
    when kind <= 3 then format('%I %s %s', p.col, op, c[1])
    when kind <= 4 then format('%s %s %I', c[1], op, p.col)
    when kind <= 6 then format('%I %sbetween %s and %s', p.col, (array['', '', 'not '])[1 + f_pick(3, seed, 'not')], c[1], c[2])
    when kind <= 8 then format('%I %sin (%s, %s, %s)', p.col, (array['', 'not '])[1 + f_pick(2, seed, 'not')], c[1], c[2], case when f_pick(3, seed, 'null') = 0 then 'null' else c[3] end)
    when kind <= 10 then format('%I %s %s (array[%s, %s]%s)', p.col, op, (array['any', 'all'])[1 + f_pick(2, seed, 'all')], c[1], c[2],
                                case when f_pick(4, seed, 'null') = 0 then ' || null' end)
    when kind = 11 then format('%I %s %s ((array[%s])[2:1])', p.col, op, (array['any', 'all'])[1 + f_pick(2, seed, 'all')], c[1])
    when kind = 12 then format('%I is %snull', p.col, (array['', 'not '])[1 + f_pick(2, seed, 'not')])
    when kind = 13 then format('%I is %sdistinct from %s', p.col, (array['', 'not '])[1 + f_pick(2, seed, 'not')], c[1])
    when kind = 14 then (array['bo', 'not bo', 'bo is unknown', 'bo is not true', 'bo is false'])[1 + f_pick(5, seed, 'bool')]
    else (array['i2 < i4', 'i4 <> i8', 'f4 = f8', 'f8 < f4', 'i8 >= i2', 'tx = vc', 'oi = oi', 'da < ts', 'bo <> bo'])[1 + f_pick(9, seed, 'pair')]
  end;
end
$$;

-- A tree of them.
create function f_filter(seed int, depth int) returns text language plpgsql as $$
declare
  kind int := f_pick(6, seed, 'node');
begin
  if depth = 0 or kind = 0 then
    return f_leaf(seed);
  end if;
  return case kind
    when 1 then format('(%s or %s)', f_filter(seed * 3 + 1, depth - 1), f_filter(seed * 5 + 2, depth - 1))
    when 2 then format('(%s and %s)', f_filter(seed * 3 + 1, depth - 1), f_filter(seed * 5 + 2, depth - 1))
    when 3 then format('not (%s)', f_filter(seed * 7 + 3, depth - 1))
    when 4 then format('(%s) is %s%s', f_filter(seed * 7 + 3, depth - 1), (array['', 'not '])[1 + f_pick(2, seed, 'not')], (array['true', 'false', 'unknown', 'null'])[1 + f_pick(4, seed, 'is')])
    else format('(%s or %s or %s)', f_leaf(seed * 3 + 1), f_leaf(seed * 5 + 2), f_leaf(seed * 7 + 3))
  end;
end
$$;

-- The rows of a filter by a join of ours and by a scan, in one word each; the filters for which these differ.
create function f_rows_of(filter text, enabled text) returns text language plpgsql as $$
declare
  result text;
begin
  perform set_config('hashgraph.enabled', enabled, true);
  execute format('select string_agg(k::text, '' '' order by k) from f_rows join f_keys using (k) where %s', filter) into result;
  return result;
exception when others then
  return sqlerrm;
end
$$;
create function f_differ(filters text[], out different text[], out empty bigint, out failed bigint) language plpgsql as $$
declare
  filter text;
  ours text;
  theirs text;
begin
  empty := 0;
  failed := 0;
  foreach filter in array filters loop
    ours := f_rows_of(filter, 'on');
    theirs := f_rows_of(filter, 'off');
    if ours is distinct from theirs then
      different := different || format('%s: %s INSTEAD OF %s', filter, ours, theirs);
    end if;
    empty := empty + (theirs is null)::int;
    failed := failed + coalesce(theirs !~ '^\d', false)::int;
  end loop;
end
$$;

explain (costs off) select k from f_rows join f_keys using (k) where i4 between 3 and 5 or tx like 'a%';
select different, empty < 500 as "some rows", failed < 10 as "few errors" from f_differ(array(select f_leaf(seed) from generate_series(1, 900) seed));
select different, empty < 300 as "some rows", failed < 10 as "few errors" from f_differ(array(select f_filter(seed, 3) from generate_series(1, 700) seed));

-- numbers that are computed of columns, over the ends of types, NaN and infinity: the same rows, or the same error
create function f_number(seed int, depth int) returns text language plpgsql as $$
declare
  columns text[] := case f_pick(3, seed, 'numeric') when 0 then array['n2', 'nu', 'n2', 'i4::numeric', '1.5', '0.001'] else array['i2', 'i4', 'i8', 'i4', '3', '-7', '2147483647', '4::int2', 'i8::int4', 'i2::int8'] end;
begin
  if depth = 0 or f_pick(6, seed, 'number') = 0 then
    return columns[1 + f_pick(cardinality(columns), seed, 'column')];
  end if;
  return case f_pick(6, seed, 'operator')
    when 0 then format('(- %s)', f_number(seed * 3 + 1, depth - 1))
    when 1 then format('(%s %% %s)', (array['i2', 'i4', 'i8', 'i4 + i2', '- i8'])[1 + f_pick(5, seed, 'of')], (array['1', '(-1)', '3', '1000', '(-5)', '2147483647'])[1 + f_pick(6, seed, 'by')])
    else format('(%s %s %s)', f_number(seed * 3 + 1, depth - 1), (array['+', '-', '*'])[1 + f_pick(3, seed, 'arithmetic')], f_number(seed * 5 + 2, depth - 1))
  end;
end
$$;
create function f_computed(seed int) returns text language sql as $$
  select format((array['%1$s %2$s %3$s', '%1$s %2$s %4$s', '%4$s %2$s %1$s', '%1$s between %4$s and %5$s', '%1$s in (%4$s, %5$s, null)', '%1$s %2$s any (array[%4$s, %5$s])', '%1$s %2$s all (array[%4$s, %5$s])',
                       '(%1$s %2$s %3$s) is not true', 'not (%1$s %2$s %4$s or i2 > 3)', 'i4 between -10 and 10 and %1$s %2$s %3$s', '(%1$s %2$s %4$s) is unknown', '%1$s is distinct from %4$s'])[1 + f_pick(12, seed, 'form')],
                f_number(seed, 2), (array['=', '<>', '<', '<=', '>', '>='])[1 + f_pick(6, seed, 'op')], f_number(seed * 7 + 3, 1), f_pick(20, seed, 'c1') - 10, f_pick(100, seed, 'c2')) $$;
select different, empty < 200 as "some rows", failed between 50 and 600 as "some errors" from f_differ(array(select f_computed(seed) from generate_series(1, 700) seed));
-- ... of a long expression, and of many
select different, empty, failed from f_differ(array[(select string_agg('i2', ' + ') || ' > 3' from generate_series(1, 2000)), (select string_agg(format('i2 + %s::int8 = %s', i, i + 3), ' or ') from generate_series(1, 1000) i)]);
drop function f_number, f_computed;

-- parts of patterns anywhere in texts of few letters, where much begins like them
create table f_texts as
  select i as k, (select coalesce(string_agg((array['a', 'b', 'ä'])[1 + f_pick(3, i * 100 + j, 'letter')], ''), '') from generate_series(1, i / 5) j) as t
  from generate_series(1, 400) i;
create function f_likes(seed int) returns text language sql as
  $$ select format('t %slike %L', (array['', 'not '])[1 + f_pick(2, seed, 'not')],
                   (select string_agg((array['a', 'b', 'ä', 'ab', 'ba', '%', '%'])[1 + f_pick(7, seed * 100 + i, 'part')], '') from generate_series(1, 1 + seed % 9) i)) $$;
create function f_likes_of(filter text, enabled text) returns text language plpgsql as $$
declare
  result text;
begin
  perform set_config('hashgraph.enabled', enabled, true);
  execute format('select string_agg(k::text, '' '' order by k) from f_texts join f_keys using (k) where %s', filter) into result;
  return result;
end
$$;
select count(*) filter (where f_likes_of(filter, 'on') is distinct from f_likes_of(filter, 'off')) as different,
       count(*) filter (where length(f_likes_of(filter, 'off')) between 1 and 1500) > 100 as "some rows"
from (select distinct f_likes(seed) as filter from generate_series(1, 300) seed) f;
drop table f_texts;
drop function f_likes, f_likes_of;

-- one clause that is a condition for each of many columns
do $$
begin
  execute (select format('create table f_wide as select k, %s from f_keys', string_agg(format('k as w%s', i), ', ')) from generate_series(1, 300) i);
end
$$;
do $$
declare
  n int;
begin
  execute (select format('select count(*) from f_wide join f_keys using (k) where (%s) is true', string_agg(format('w%s > 397', i), ' and ')) from generate_series(1, 300) i) into n;
  assert n = 3;
end
$$;
drop table f_wide;

-- tests for NULL inside of one another, and comparisons of bytes with many constants: as soon as core has them
set statement_timeout = '4s';
do $$
declare
  filter text := 'i4 > 3';
begin
  for i in 1 .. 18 loop
    filter := format('((%s) is unknown)', filter);
  end loop;
  assert f_rows_of(filter, 'on') is not distinct from f_rows_of(filter, 'off');
end
$$;
do $$
declare
  filter text := (select format('tc <> any (array[%s])', string_agg(quote_literal(i), ',')) from generate_series(1, 40000) i);
begin
  assert f_rows_of(filter, 'on') = f_rows_of(filter, 'off');
end
$$;
reset statement_timeout;

-- what an initial plan has computed, of all types, and of NULL
select count(*) as filters, count(*) filter (where f_rows_of(filter, 'on') is distinct from f_rows_of(filter, 'off')) as different
from (select format('%I %s (select %L::%s)', col, op, value, type) as filter
      from f_pools, unnest(pool || null::text) value, unnest(array['<', '>=', '=', '<>']) op
      where f_pick(3, 1, col || coalesce(value, '') || op) = 0) f;
-- ... which changes from one scan to the next, as what rows of other tables give does
create function f_rescans(enabled text) returns text language plpgsql as $$
declare
  result text;
begin
  perform set_config('hashgraph.enabled', enabled, true);
  select string_agg(format('%s %s', g, s), ',') into result
    from generate_series(-8, 8) g, lateral
      (select count(*) || ' ' || coalesce(sum(k), 0) as s from f_rows join f_keys using (k)
       where i4 >= (select max(x) from generate_series(-7, 4) x where x < g) and nu <> (select g + 0.0) and i2 <= g) s;
  return result || (select string_agg(format('%s %s', (select sum(k) from f_rows join f_keys using (k) where i8 = g or tx > (select g::text)),
                                      (select sum(k) from f_rows join f_keys using (k) where i4 < g)), ',')
                    from generate_series(-1, 6) g);
end
$$;
select f_rescans('on') = f_rescans('off') as same;
drop function f_rescans;

-- three values, in each combination, and all that can be asked of them
create table f_three as
  select row_number() over () ::int as k, x, y, z from unnest(array[true, false, null]) x, unnest(array[true, false, null]) y, unnest(array[true, false, null]) z;
create function f_asked() returns text[] language sql as
  $$ select array['%s', 'not (%s)', '(%s) is true', '(%s) is not true', '(%s) is false', '(%s) is not false', '(%s) is unknown', '(%s) is not null'] $$;
create function f_three_of(filter text, enabled text) returns int[] language plpgsql as $$
declare
  result int[];
begin
  perform set_config('hashgraph.enabled', enabled, true);
  execute format('select array_agg(k order by k) from f_three join f_keys using (k) where %s', filter) into result;
  return result;
end
$$;
select count(*) as filters, count(*) filter (where f_three_of(filter, 'on') is distinct from f_three_of(filter, 'off')) as different
from (select format(whole, format('%s %s %s', format(l, 'x'), op, format(r, format('%s %s z', 'y', op2)))) as filter
      from unnest(f_asked()) whole, unnest(f_asked()) l, unnest(f_asked()) r, unnest(array['and', 'or', '=']) op, unnest(array['and', 'or']) op2
      where f_pick(4, 1, whole || l || r || op || op2) = 0) f;

drop table f_rows, f_keys, f_pools, f_three;
drop function f_pick, f_leaf, f_filter, f_rows_of, f_differ, f_asked, f_three_of;
drop collation f_ci;
