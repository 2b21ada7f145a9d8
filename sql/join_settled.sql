--
-- A clause beside the keys decides which one match of a row counts: rows of a frequent key.
--
\getenv abs_srcdir PG_ABS_SRCDIR
\set join_check :abs_srcdir '/sql/include/join_check.sql'
\set ECHO none
\i :join_check
\set ECHO all

-- half of the rows of each side have one key; keys that are dense, keys that are not, and hashed ones
create table s_a as
  select case when i % 2 = 0 then 7 when i % 31 = 0 then null else i end as k, i as v from generate_series(1, 3000) i;
create table s_b as
  select case when i % 2 = 1 then 7 when i % 31 = 0 then null else i end as k, i as w from generate_series(1, 3000) i;
create table s_far as select k::int8 * 1000003 as k, w from s_b;
create table s_text as select k::text as k, w from s_b;
analyze s_a, s_b, s_far, s_text;

select join_check('select v from s_a a where exists (select from s_b b where a.k = b.k and a.v < b.w)');
select join_check('select v from s_a a where not exists (select from s_b b where a.k = b.k and a.v < b.w)');
select join_check('select v from s_a a where exists (select from s_b b where a.k = b.k and a.v + b.w < 0)');
select join_check('select v from s_a a where exists (select from s_b b where a.k = b.k and a.v % 50 = b.w % 50)');
select join_check('select v from s_a a where not exists (select from s_b b where a.k = b.k and a.v % 50 <> b.w % 50)');
select join_check('select v from s_a a where exists (select from s_far b where a.k::int8 * 1000003 = b.k and a.v < b.w)');
select join_check('select v from s_a a where not exists (select from s_far b where a.k::int8 * 1000003 = b.k and a.v < b.w)');
select join_check('select v from s_a a where exists (select from s_text b where a.k::text = b.k)');
select join_check('select v from s_a a where not exists (select from s_text b where a.k::text = b.k and a.v < b.w)');
-- of which PostgreSQL may make mirror images, and those that look at all matches
select join_check('select v from s_a a where a.v < 20 and exists (select from s_b b where a.k = b.k and a.v < b.w)');
select join_check('select w from s_b b where not exists (select from s_a a where a.v < 20 and a.k = b.k and a.v < b.w)');
select join_check('select count(*), sum(v), sum(w) from s_a a left join s_b b on a.k = b.k and a.v < b.w');

-- inner rows that are unique with the clause
create table s_unique as select 7 as k, i as w from generate_series(1, 3000) i;
create unique index on s_unique (k, w);
analyze s_unique;
select join_check('select v, w from s_a a join s_unique b on a.k = b.k and a.v = b.w');
select join_check('select v, w from s_a a left join s_unique b on a.k = b.k and a.v = b.w + 1');

-- chunks, partitions on disk, and processes together
set work_mem = '64kB';
select join_check('select v from s_a a where exists (select from s_far b where a.k::int8 * 1000003 = b.k and a.v < b.w)');
select join_check('select v from s_a a where not exists (select from s_text b where a.k::text = b.k and a.v < b.w)');
reset work_mem;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
select join_check('select v from s_a a where exists (select from s_b b where a.k = b.k and a.v < b.w)');
select join_check('select v from s_a a where not exists (select from s_far b where a.k::int8 * 1000003 = b.k and a.v < b.w)');
reset parallel_setup_cost;
reset parallel_tuple_cost;
reset min_parallel_table_scan_size;

-- matches of a row end soon after the one that counts, where the CPU finds them: no more than a few of 1500 each
set hashgraph.force = on;
set hashgraph.backend = cpu;
set max_parallel_workers_per_gather = 0;
-- their mirror images, which later versions have, go through all matches
select count(*) from s_a a where exists (select from s_b b where a.k = b.k and a.v + b.w > 0);
select replace(join_type, 'Right ', '') as join_type, join_type like 'Right%' or matches < 40 * 3000 as few from hashgraph_last_joins();
select count(*) from s_a a where exists (select from s_far b where a.k::int8 * 1000003 = b.k and a.v + b.w > 0);
select replace(join_type, 'Right ', '') as join_type, join_type like 'Right%' or matches < 40 * 3000 as few from hashgraph_last_joins();
select count(*) from s_a a where not exists (select from s_text b where a.k::text = b.k and a.v + b.w > 0);
select replace(join_type, 'Right ', '') as join_type, join_type like 'Right%' or matches < 40 * 3000 as few from hashgraph_last_joins();
-- where none counts, all are looked at
select count(*) from s_a a where exists (select from s_b b where a.k = b.k and a.v + b.w < 0);
select join_type, matches >= 1500 * 1500 as all_pairs from hashgraph_last_joins();

drop table s_a, s_b, s_far, s_text, s_unique;
