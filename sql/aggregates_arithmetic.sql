--
-- Arguments of aggregates that are computed column by column: PostgreSQL's own results to the
-- digit, and its errors.
--
create function arithmetic_result(query text) returns text language plpgsql as $$
declare
  result text;
begin
  execute format('select string_agg(r::text, '' '' order by r::text collate "C") from (%s) r', query) into result;
  return result;
exception when others then
  return format('%s: %s', sqlstate, sqlerrm);
end
$$;
-- What a query over both columns' tables returns, where PostgreSQL returns the same.
create function arithmetic(query text) returns text language plpgsql as $$
declare
  ours text;
  theirs text;
  plan json;
begin
  perform set_config('hashgraph.force', 'on', true), set_config('hashgraph.enabled', 'on', true);
  execute 'explain (format json) ' || query into plan;
  ours := arithmetic_result(query);
  perform set_config('hashgraph.enabled', 'off', true);
  theirs := arithmetic_result(query);
  if plan::text not like '%HashGraphAggregate%' then
    return 'aggregated by core';
  elsif ours is distinct from theirs then
    return format('DIFFERENT: %s instead of %s', left(ours, 500), left(theirs, 500));
  end if;
  return coalesce(left(ours, 150), 'null');
end
$$;

create table ar (k int, g int, i2 int2, i4 int4, i8 int8, n numeric(15, 2), m numeric(10, 4), f numeric, x numeric, h numeric, s text);
insert into ar select i % 700, i % 4, case when i % 7 > 0 then i % 300 - 150 end, case when i % 11 > 0 then i * 7919 % 100003 - 50000 end,
  case when i % 5 > 0 then (i - 1000)::int8 << 20 end, case when i % 13 > 0 then (i * 7919 % 10000019) * 0.01 end, (i - 900) * 0.0007,
  -- decimals and sizes that differ from row to row, NULLs, and values that 64 bits do not hold
  case i % 4 when 0 then i when 1 then i * 0.1 when 2 then i * 1.000 end, i / 7.0, (i - 1000) * 1e15 + 0.5, 'text ' || i
  from generate_series(1, 2100) i;
create table br (k int, w int, p numeric(4, 2), t numeric);
insert into br select i, i % 17, case when i % 9 > 0 then i % 11 * 0.01 end, i % 5 from generate_series(1, 690) i;
analyze ar, br;

-- integers: sums of what is computed in 32 bits, and in 64
select arithmetic('select sum(i4 + w), sum(i4 - w), sum(i4 * 2), sum(-i4), sum(i4 + i2), sum(i2 * w), count(i4 * w), min(i4 - w), max(w - i4) from ar join br using (k)');
select arithmetic('select sum(i8 + w), sum(w - i8), sum(i8 * w), avg(-i8), avg(i8 * 2 - i4), min(i8 * w), max(i8 + i2), sum(i2::int8 * i4 * w) from ar join br using (k)');
select arithmetic('select avg(i4 + w), avg(i2 - 1::int2), sum(i2 * 2::int2), pg_typeof(sum(i8 * w)), pg_typeof(sum(i4 * w)), min(i2::int4), max(i4::int8 + 1), sum((i4 % 7)::int2) from ar join br using (k)');
select arithmetic('select g, sum(i4 % 7), min(i8 % (-1000)::int8), max(i2 % 3::int2 * 5), sum(i4 % (-1)), count(*) filter (where i4 % 5 = 2), sum(n * p) filter (where n - p * 2 > 100.25 or i4 + i2 < 7) from ar join br using (k) group by g');
select arithmetic('select sum(i4 % 0) from ar join br using (k)');
select arithmetic('select count(*) filter (where i4 * i4 * i4 > 5) from ar join br using (k)');
select arithmetic('select g, sum(i4 + w), avg(i8 * w), count(i2 + i4), min(i4 * i2), max(-i8) from ar join br using (k) group by g');
select arithmetic('select sum(1), sum(2 + w), sum(1.50), count(null::int + w), avg(w * 1::int8) from ar join br using (k)');
-- numerics: sums, differences and products of columns and constants, with the display scale that PostgreSQL has
select arithmetic('select sum(n), avg(n), sum(n * (1 - p)), sum(n * (1 - p) * (1 + t)), avg(n * p), sum(-n), count(n * p) from ar join br using (k)');
select arithmetic('select sum(n + 1), sum(n - 0.125), sum(n * 2.50), avg(m * n), sum(m - n), sum(n + w), sum(n * i8), avg(i4 * 1.5), sum(i2::numeric * m) from ar join br using (k)');
select arithmetic('select g, sum(n), sum(n * (1 - p)), avg(n), avg(p), sum(m * m), count(*) from ar join br using (k) group by g');
select arithmetic('select w, g, sum(n * p), avg(-m), sum(n - n), sum(p + t) from ar join br using (k) where w < 3 group by w, g');
select arithmetic('select min(n), max(n), min(m - n), max(n * p), max(-m), min(f), max(x), max(f * 3 + w), min(h) from ar join br using (k)');
select arithmetic('select g, w, min(n), max(m * n), max(-p), min(f), max(h * 2), min(x) filter (where i4 > 0) from ar join br using (k) where w < 2 group by g, w');
-- decimals that differ from row to row
select arithmetic('select sum(f), avg(f), sum(f * 2), sum(f + n), avg(f * p), sum(x), avg(x * n), sum(-f) from ar join br using (k)');
select arithmetic('select w, sum(f), avg(x), sum(f - x), sum(f + 1) from ar join br using (k) group by w');
select arithmetic('select sum(f) filter (where g = 0), sum(f) filter (where g = 3), sum(f + 1) filter (where g = 0), avg(n * p) filter (where i4 > 0), sum(f) filter (where k < 0) from ar join br using (k)');
-- more than 64 bits hold, and more than 128
select arithmetic('select sum(h), avg(h), sum(h * h), avg(h * 1000), sum(h * h * h * h), sum(h + x) from ar join br using (k)');
select arithmetic('select g, sum(h), sum(h * h), sum(h * h * h * h), avg(h - n), sum(i8::numeric * i8 * i8 * i8) from ar join br using (k) group by g');
select arithmetic('select sum(n * 1e30), sum(n * 1e-30), sum(n * 0.00000000000000001), sum(m * m * m * m * m), avg(m * 0.000000000000000000001) from ar join br using (k)');
-- decimals that rows have which are left out are not shown: batches without a row that counts, and groups that see no other
create table ur as select i as k, i / 1000 as g, case when i <= 3000 then 1 else 1.00000 end as f from generate_series(1, 6000) i;
analyze ur;
select arithmetic('select q.s, q.t, q.u from (select count(*) as c, sum(f) filter (where k <= 3000) as s, avg(f * 2) filter (where k < 100) as t, sum(f + 1) as u from ur) q join br on br.k = q.c - 5900');
select arithmetic('select q.* from (select g, sum(f) as s, sum(f * 2) filter (where k < 3500) as t from ur group by g) q join br on br.k = q.g + 1');
-- NaN and infinities in some rows
insert into ar (k, g, n, f, x) values (3, 1, 'NaN', 1, 2), (4, 2, 7, 'Infinity', 3), (5, 3, 7, 1, '-Infinity');
select arithmetic('select g, sum(n), avg(n * p), sum(n - n), sum(f), avg(f + 1), sum(x), sum(-x), sum(f + x), sum(x * 0) from ar join br using (k) group by g');
select arithmetic('select sum(n), sum(f), sum(x), sum(f * x), avg(n * f) from ar join br using (k)');
-- no rows, and nothing but NULLs
select arithmetic('select sum(n), avg(n * p), sum(i4 + w), min(-i4), count(n * p) from ar join br using (k) where w > 100');
select arithmetic('select sum(n), avg(n * p), sum(i8 * w), count(n * p), sum(f + n) from ar join br using (k) where n is null');
-- expressions that are not computed so, beside those that are
select arithmetic('select sum(n / 3), sum(n * (1 - p)), sum(abs(i4)), sum(round(n * p, 1)), sum(n::numeric(6, 1) * 2), sum(i8 / 7 + w), max(s || w) from ar join br using (k) where g = 1 and n <> ''NaN''');
-- filters that are decided over columns, and rows of which they are not
select arithmetic('select count(*) filter (where i4 > 0), sum(i4) filter (where i2 between -50 and 50 and w < 9), avg(n) filter (where p = 0.05), sum(n) filter (where p <> 0.05 or p is null), count(*) filter (where not (i8 > 0)), max(w) filter (where g in (1, 3)) from ar join br using (k)');
select arithmetic('select g, count(*) filter (where s like ''text 1%''), sum(n * p) filter (where n > 50000.125), count(*) filter (where f > 100), count(*) filter (where x <= 2), sum(i8) filter (where i4 is null), count(*) filter (where h < 1e17), min(s collate "C") filter (where s >= ''text 5'' collate "C" and p is not null) from ar join br using (k) group by g');
select arithmetic('select w, count(*) filter (where i4 > w), sum(n) filter (where i4 > 1000 and i2 % 2 = 0), count(*) filter (where null), sum(i4 + 1) filter (where true) from ar join br using (k) group by w');
update ar set s = repeat(s, 2000) where k % 50 = 7;
select arithmetic('select count(*) filter (where s like ''text 1%''), count(*) filter (where s > ''text 5'' collate "C"), count(*) filter (where s = ''text 9'' or i4 > 0) from ar join br using (k)');
-- HAVING, and groups by columns that are summed too
select arithmetic('select g, min(n), max(n * 2), min(x), max(f) from ar join br using (k) group by g');
select arithmetic('select n, sum(n), sum(n * 2), count(*) from ar join br using (k) where w = 1 and g = 1 group by n having sum(n * 2) > 190000');
-- a subquery's aggregates that are joined
select arithmetic('select count(*), sum(s), sum(c) from (select k, sum(n * (1 - m)) as s, count(i4 + 1) as c from ar group by k) a join br using (k)');

-- errors are PostgreSQL's, where a row that counts has them
insert into ar (k, g, i2, i4, i8) values (100, 9, 32767, 2147483647, 9223372036854775807), (100, 10, -32768, -2147483648, -9223372036854775808);
select arithmetic('select sum(i4 + 1) from ar join br using (k)');
select arithmetic('select sum(-i4) from ar join br using (k)');
select arithmetic('select count(i4 * 2) from ar join br using (k) where g > 8');
select arithmetic('select sum(i2 + 1::int2) from ar join br using (k)');
select arithmetic('select sum(-i2) from ar join br using (k)');
select arithmetic('select sum(i8 * 3) from ar join br using (k)');
select arithmetic('select sum(-i8), sum(i4 + 1) from ar join br using (k)');
select arithmetic('select sum((i8 - 1)::int4) from ar join br using (k)');
select arithmetic('select sum(i4::int2) from ar join br using (k) where i4 > 40000');
select arithmetic('select g, sum(i8 + 1) from ar join br using (k) group by g');
-- ... and others have none
select arithmetic('select sum(i4 + 1) filter (where g < 9), sum(i8 - 1) filter (where g <> 10), sum(i4::numeric + i8), sum(i2 + 1) from ar join br using (k)');
select arithmetic('select sum(i4 + 1) from ar join br using (k) where g < 9');

-- groups that go to disk, with what is computed of them, by processes that are each given a part
set work_mem = '64kB';
set hash_mem_multiplier = 1;
select arithmetic('select count(*), sum(a), sum(b), sum(c), sum(d) from (select ar.n, i4, s, sum(m * p) as a, avg(n * (1 - p)) as b, sum(i4 + w) as c, sum(f) as d from ar join br using (k) where f < ''Infinity'' group by ar.n, i4, s) q');
reset work_mem;
reset hash_mem_multiplier;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
delete from ar where g > 8;
select arithmetic('select sum(n), avg(n), sum(n * (1 - p)), avg(n * p), sum(i8 * w), avg(i8), sum(f), avg(x), sum(h), avg(h * h) from ar join br using (k) where g = 0');
select arithmetic('select g, sum(n), avg(n), sum(n * (1 - p)), avg(n * p), sum(i8 * w), avg(i8), sum(f), avg(x), sum(h), avg(h * h) from ar join br using (k) group by g');
select arithmetic('select k, w, sum(n), avg(m), sum(i8), avg(f) from ar join br using (k) group by k, w having sum(i8) > 1040000000');
select arithmetic('select sum(n), avg(n), sum(i8), avg(i8 + w) from ar join br using (k) where w > 100');
select arithmetic('select g, min(n), max(n * 2), min(h), max(m) from ar join br using (k) group by g');
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;
reset max_parallel_workers_per_gather;

drop table ar, br, ur;
drop function arithmetic(text), arithmetic_result(text);
