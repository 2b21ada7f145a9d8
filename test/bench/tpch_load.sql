-- tpch_load.sql
--     Eight tables like TPC-H's, at scale factor :scale (0.01 or more), in schema tpch.
--
-- Columns, types, keys, numbers of rows and the distributions that the queries select by are those of
-- the public specification; values are hashes of the row's number, so that every run makes the same
-- rows.  Texts are shorter in vocabulary, and as long.

-- Two or three words of about 13 letters together.
create function phrase(i bigint, seed int) returns text language sql immutable
return (array['quickly ironic', 'final deposits', 'express pinto', 'furiously even', 'bold accounts',
  'silent foxes', 'regular ideas', 'pending theory', 'carefully thin', 'blithely busy', 'idle platelets',
  'slyly unusual', 'daring asymptote', 'fluffy dolphin', 'sleep among', 'haggle above', 'wake after the',
  'nag along', 'cajole quietly', 'boost across', 'detect below', 'integrate', 'doze under', 'use ruthlessly',
  'affix beneath', 'grow slowly', 'engage within', 'print sauternes', 'dazzle warhorse', 'x-ray sentiment',
  'hang stealthily', 'solve courts'])[1 + draw(i, seed, 32)];

create function phone(i bigint, nation bigint) returns text language sql immutable
return (nation + 10) || '-' || (100 + draw(i, 1, 900)) || '-' || (100 + draw(i, 2, 900)) || '-' || (1000 + draw(i, 3, 9000));

create function retail_cents(partkey bigint) returns bigint language sql immutable
return 90000 + partkey / 10 % 20001 + 100 * (partkey % 1000);

-- The n-th, from 0 to 3, of a part's suppliers.
create function supplier_of(partkey bigint, n bigint, suppliers bigint) returns bigint language sql immutable
return (partkey + n * (suppliers / 4 + (partkey - 1) / suppliers)) % suppliers + 1;

create table region (r_regionkey int not null, r_name char(25) not null, r_comment varchar(152));
insert into region select n - 1, name, phrase(n, 10) || ' ' || phrase(n, 11)
  from unnest(array['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST']) with ordinality u (name, n);

create table nation (n_nationkey int not null, n_name char(25) not null, n_regionkey int not null,
  n_comment varchar(152));
insert into nation select n - 1, name, region, phrase(n, 12) || ' ' || phrase(n, 13)
  from unnest(
    array['ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA',
      'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA',
      'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES'],
    array[0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1])
    with ordinality u (name, region, n);

select (10000 * :scale)::bigint as suppliers, (150000 * :scale)::bigint as customers,
  (200000 * :scale)::bigint as parts, (1500000 * :scale)::bigint as orders,
  greatest((1000 * :scale)::bigint, 1) as clerks \gset

create table supplier (s_suppkey int not null, s_name char(25) not null, s_address varchar(40) not null,
  s_nationkey int not null, s_phone char(15) not null, s_acctbal numeric(15, 2) not null, s_comment varchar(101) not null);
insert into supplier
  select i, 'Supplier#' || lpad(i::text, 9, '0'), phrase(i, 20) || draw(i, 21, 1000), draw(i, 22, 25),
    phone(i, draw(i, 22, 25)), (draw(i, 23, 1099999) - 99999) * 0.01,
    phrase(i, 24) || case draw(i, 25, 2000) when 0 then ' Customer slyly Complaints ' when 1 then ' Customer Recommends '
      else ' ' end || phrase(i, 26) || ' ' || phrase(i, 27)
  from generate_series(1, :suppliers) i;

create table customer (c_custkey int not null, c_name varchar(25) not null, c_address varchar(40) not null,
  c_nationkey int not null, c_phone char(15) not null, c_acctbal numeric(15, 2) not null,
  c_mktsegment char(10) not null, c_comment varchar(117) not null);
insert into customer
  select i, 'Customer#' || lpad(i::text, 9, '0'), phrase(i, 30) || draw(i, 31, 1000), draw(i, 32, 25),
    phone(i, draw(i, 32, 25)), (draw(i, 33, 1099999) - 99999) * 0.01,
    (array['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD'])[1 + draw(i, 34, 5)],
    phrase(i, 35) || ' ' || phrase(i, 36) || ' ' || phrase(i, 37) || ' ' || phrase(i, 38) || ' ' || phrase(i, 39)
  from generate_series(1, :customers) i;

create table part (p_partkey int not null, p_name varchar(55) not null, p_mfgr char(25) not null,
  p_brand char(10) not null, p_type varchar(25) not null, p_size int not null, p_container char(10) not null,
  p_retailprice numeric(15, 2) not null, p_comment varchar(23) not null);
insert into part
  select i, colours[1 + draw(i, 40, 92)] || ' ' || colours[1 + draw(i, 41, 92)] || ' ' || colours[1 + draw(i, 42, 92)]
      || ' ' || colours[1 + draw(i, 43, 92)] || ' ' || colours[1 + draw(i, 44, 92)],
    'Manufacturer#' || 1 + draw(i, 45, 5), 'Brand#' || 1 + draw(i, 45, 5) || 1 + draw(i, 46, 5),
    (array['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'])[1 + draw(i, 47, 6)] || ' '
      || (array['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'])[1 + draw(i, 48, 5)] || ' '
      || (array['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'])[1 + draw(i, 49, 5)],
    1 + draw(i, 50, 50),
    (array['SM', 'LG', 'MED', 'JUMBO', 'WRAP'])[1 + draw(i, 51, 5)] || ' '
      || (array['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'])[1 + draw(i, 52, 8)],
    retail_cents(i) * 0.01, phrase(i, 53)
  from generate_series(1, :parts) i,
    string_to_array('almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood '
      'burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab '
      'firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace '
      'lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy '
      'olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon '
      'sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white '
      'yellow', ' ') colours;

create table partsupp (ps_partkey int not null, ps_suppkey int not null, ps_availqty int not null,
  ps_supplycost numeric(15, 2) not null, ps_comment varchar(199) not null);
insert into partsupp
  select i, supplier_of(i, n, :suppliers), 1 + draw(i * 4 + n, 60, 9999), (100 + draw(i * 4 + n, 61, 99901)) * 0.01,
    repeat(phrase(i * 4 + n, 62) || ' ', 4 + draw(i * 4 + n, 63, 8)::int)
  from generate_series(1, :parts) i, generate_series(0, 3) n;

-- Orders have 1 to 7 lines; eight of 32 keys are used.  What an order sums up comes from its lines.
create table lineitem (l_orderkey bigint not null, l_partkey int not null, l_suppkey int not null,
  l_linenumber int not null, l_quantity numeric(15, 2) not null, l_extendedprice numeric(15, 2) not null,
  l_discount numeric(15, 2) not null, l_tax numeric(15, 2) not null, l_returnflag char(1) not null,
  l_linestatus char(1) not null, l_shipdate date not null, l_commitdate date not null, l_receiptdate date not null,
  l_shipinstruct char(25) not null, l_shipmode char(10) not null, l_comment varchar(44) not null);
insert into lineitem
  select orderkey, partkey, supplier_of(partkey, draw(id, 71, 4), :suppliers), line, quantity,
    quantity * retail_cents(partkey) * 0.01, draw(id, 73, 11) * 0.01, draw(id, 74, 9) * 0.01,
    case when received > '1995-06-17' then 'N' when draw(id, 75, 2) = 0 then 'R' else 'A' end,
    case when shipped > '1995-06-17' then 'O' else 'F' end,
    shipped, ordered + 30 + draw(id, 76, 61)::int, received,
    (array['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'])[1 + draw(id, 77, 4)],
    (array['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'])[1 + draw(id, 78, 7)],
    phrase(id, 79) || ' ' || phrase(id, 80)
  from (
    select *, shipped + 1 + draw(id, 81, 30)::int as received
    from (
      select *, 1 + draw(id, 70, :parts) as partkey, 1 + draw(id, 72, 50) as quantity,
        ordered + 1 + draw(id, 82, 121)::int as shipped
      from (
        select (i - 1) / 8 * 32 + (i - 1) % 8 + 1 as orderkey, line, i * 8 + line as id,
          date '1992-01-01' + draw(i, 90, 2406)::int as ordered
        from generate_series(1, :orders) i, generate_series(1, 1 + draw(i, 91, 7)) line
        offset 0) lines
      offset 0) shipments
    offset 0) receipts;
analyze lineitem;

create table orders (o_orderkey bigint not null, o_custkey int not null, o_orderstatus char(1) not null,
  o_totalprice numeric(15, 2) not null, o_orderdate date not null, o_orderpriority char(15) not null,
  o_clerk char(15) not null, o_shippriority int not null, o_comment varchar(79) not null);
insert into orders
  select l_orderkey, customer / 2 * 3 + customer % 2 + 1, status, total, date '1992-01-01' + draw(i, 90, 2406)::int,
    (array['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'])[1 + draw(i, 93, 5)],
    'Clerk#' || lpad((1 + draw(i, 94, :clerks))::text, 9, '0'), 0,
    phrase(i, 95) || ' ' || phrase(i, 96)
      || case when draw(i, 97, 80) = 0 then ' special packages requests ' else ' ' end || phrase(i, 98)
  from (
    select *, (l_orderkey - 1) / 32 * 8 + (l_orderkey - 1) % 32 + 1 as i,
      -- a third of the customers has no orders
      draw((l_orderkey - 1) / 32 * 8 + (l_orderkey - 1) % 32 + 1, 92, :customers - :customers / 3) as customer
    from (
      select l_orderkey, sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) as total,
        case when bool_and(l_linestatus = 'F') then 'F' when bool_and(l_linestatus = 'O') then 'O' else 'P' end as status
      from lineitem group by l_orderkey) sums
    offset 0) numbered;

alter table region add primary key (r_regionkey);
alter table nation add primary key (n_nationkey);
alter table supplier add primary key (s_suppkey);
alter table customer add primary key (c_custkey);
alter table part add primary key (p_partkey);
alter table partsupp add primary key (ps_partkey, ps_suppkey);
alter table orders add primary key (o_orderkey);
alter table lineitem add primary key (l_orderkey, l_linenumber);
create index on supplier (s_nationkey);
create index on customer (c_nationkey);
create index on partsupp (ps_suppkey);
create index on orders (o_custkey);
create index on orders (o_orderdate);
create index on lineitem (l_partkey, l_suppkey);
create index on lineitem (l_shipdate);
vacuum (analyze) region, nation, supplier, customer, part, partsupp, orders, lineitem;
alter table nation add foreign key (n_regionkey) references region;
alter table supplier add foreign key (s_nationkey) references nation;
alter table customer add foreign key (c_nationkey) references nation;
alter table partsupp add foreign key (ps_partkey) references part;
alter table partsupp add foreign key (ps_suppkey) references supplier;
alter table orders add foreign key (o_custkey) references customer;
alter table lineitem add foreign key (l_orderkey) references orders;
alter table lineitem add foreign key (l_partkey, l_suppkey) references partsupp;
