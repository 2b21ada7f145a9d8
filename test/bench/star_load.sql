-- star_load.sql
--     Five tables of a star schema, at scale :scale (0.01 or more), in schema star.
--
-- The fact table order_line has 6 million rows at scale 1; an order has one to seven.  Each row refers to one of 30,000
-- customers, 2,000 suppliers, 200,000 parts and 2,556 days.  The days are seven years at all scales.  Above scale 1 the
-- number of parts grows with the logarithm of the scale only, as in the star schema benchmark.
-- Values are hashes of the row's number, so that every run makes the same rows.  Amounts of money are in cents.
--
-- Most columns are uniform and independent.  Three are not: a fifth of the lines comes from a supplier in the
-- customer's nation, an eighth of the orders is moved to a December, and the first cities of a nation are the largest.

-- Customers and suppliers are of one of 25 nations, five a region.
create function nation_of(i bigint) returns bigint language sql immutable
return (i - 1) % 25;

create function region(nation bigint) returns text language sql immutable
return (array['Africa', 'America', 'Asia', 'Europe', 'Oceania'])[1 + nation / 5];

create function nation(nation bigint) returns text language sql immutable
return (array['Egypt', 'Ghana', 'Kenya', 'Morocco', 'Senegal', 'Brazil', 'Canada', 'Chile', 'Mexico', 'United States', 'India',
  'Indonesia', 'Japan', 'Korea', 'Vietnam', 'France', 'Germany', 'Italy', 'Poland', 'Spain', 'Australia', 'Fiji',
  'New Zealand', 'Samoa', 'Tonga'])[1 + nation];

-- One of the ten cities of the nation of number i.  The first customer and supplier of a nation are in its first city.
create function city(i bigint, seed int) returns text language sql immutable
return (array['Port', 'Fort', 'Lake', 'Mount', 'Old', 'New', 'Upper', 'Lower', 'East', 'West'])
    [1 + case when i > 25 then least(draw(i, seed, 10), draw(i, seed + 1, 10)) else 0 end]
  || ' ' || nation(nation_of(i));

create function street(i bigint, seed int) returns text language sql immutable
return 1 + draw(i, seed, 300) || ' ' || (array['Mill', 'Church', 'Station', 'Harbour', 'Market', 'School', 'Bridge', 'Park',
  'Castle', 'Garden'])[1 + draw(i, seed + 1, 10)] || ' ' || (array['Street', 'Road', 'Lane', 'Square'])[1 + draw(i, seed + 2, 4)];

create function phone(i bigint, seed int) returns text language sql immutable
return '+' || 20 + nation_of(i) || ' ' || 100 + draw(i, seed, 900) || ' ' || 100000 + draw(i, seed + 1, 900000);

create function unit_price(part bigint) returns bigint language sql immutable
return 500 + draw(part, 30, 99500);

select (80 * :scale)::bigint * 25 as suppliers, (1200 * :scale)::bigint * 25 as customers,
  (200000 * case when :scale > 1 then floor(1 + log(2, :scale)) else :scale end)::bigint as parts,
  (1500000 * :scale)::bigint as orders \gset

create table calendar (id int not null, day date not null, weekday text not null, month text not null, year int not null,
  month_number int not null, day_of_year int not null, week_of_year int not null, season text not null, working boolean not null);
insert into calendar
  select to_char(day, 'YYYYMMDD')::int, day, to_char(day, 'FMDay'), to_char(day, 'Mon YYYY'), extract(year from day),
    to_char(day, 'YYYYMM')::int, extract(doy from day), (extract(doy from day)::int + 6) / 7,
    (array['winter', 'spring', 'summer', 'autumn'])[1 + extract(month from day)::int % 12 / 3], extract(isodow from day) < 6
  from generate_series(0, 2555) n, lateral (select date '2013-01-01' + n) days (day);

create table customer (id int not null, name text not null, address text not null, city text not null, nation text not null,
  region text not null, phone text not null, segment text not null);
insert into customer
  select i, 'Customer ' || lpad(i::text, 8, '0'), street(i, 1), city(i, 4), nation(nation_of(i)), region(nation_of(i)), phone(i, 6),
    (array['hotels', 'schools', 'shops', 'builders', 'offices'])[1 + draw(i, 8, 5)]
  from generate_series(1, :customers) i;

create table supplier (id int not null, name text not null, address text not null, city text not null, nation text not null,
  region text not null, phone text not null);
insert into supplier
  select i, 'Supplier ' || lpad(i::text, 8, '0'), street(i, 11), city(i, 14), nation(nation_of(i)), region(nation_of(i)), phone(i, 16)
  from generate_series(1, :suppliers) i;

-- A maker has five categories, and a category 40 brands.
create table part (id int not null, name text not null, maker text not null, category text not null, brand text not null,
  colour text not null, size int not null, packaging text not null);
insert into part
  select i, colour || ' ' || (array['bolt', 'valve', 'hinge', 'lamp', 'cable', 'filter', 'pump', 'gasket'])[1 + draw(i, 23, 8)],
    maker, category, category || '-' || lpad((1 + draw(i, 22, 40))::text, 2, '0'), colour, 1 + draw(i, 24, 50),
    (array['box', 'bag', 'crate', 'roll', 'pallet'])[1 + draw(i, 25, 5)]
  from (
    select i, maker, maker || ' ' || 1 + draw(i, 21, 5) as category,
      (array['red', 'blue', 'green', 'black', 'white', 'grey', 'yellow', 'brown'])[1 + draw(i, 26, 8)] as colour
    from generate_series(1, :parts) i,
      lateral (select (array['Alder', 'Birch', 'Cedar', 'Elm', 'Fir'])[1 + draw(i, 20, 5)]) makers (maker)
    offset 0) parts;

-- discount and tax are percentages of price.
create table order_line (order_id bigint not null, line int not null, customer_id int not null, part_id int not null,
  supplier_id int not null, day_id int not null, due date not null, priority text not null, shipping text not null,
  quantity int not null, price int not null, discount int not null, revenue int not null, cost int not null, tax int not null);
insert into order_line
  select order_id, line, customer, part, supplier, day_id, day + 14 + draw(i, 40, 60)::int, priority,
    (array['air', 'courier', 'rail', 'road', 'ship'])[1 + draw(i, 41, 5)], quantity, price, discount, price * (100 - discount) / 100,
    price * (50 + draw(i, 42, 20)) / 100, draw(i, 43, 9)
  from (
    select *, quantity * unit_price(part) as price
    from (
      select *, 1 + draw(i, 44, :parts) as part, 1 + draw(i, 45, 50) as quantity, draw(i, 46, 11) as discount,
        1 + case when draw(i, 47, 5) = 0 then nation_of(customer) + 25 * draw(i, 48, :suppliers / 25)
          else draw(i, 48, :suppliers) end as supplier
      from (
        select *, to_char(day, 'YYYYMMDD')::int as day_id
        from (
          select order_id, 1 + draw(order_id, 50, :customers) as customer,
            case when draw(order_id, 51, 8) = 0
              then make_date(2013 + draw(order_id, 52, 7)::int, 12, 1 + draw(order_id, 53, 31)::int)
              else date '2013-01-01' + draw(order_id, 54, 2556)::int end as day,
            (array['urgent', 'high', 'normal', 'low', 'none'])[1 + draw(order_id, 55, 5)] as priority
          from generate_series(1, :orders) order_id
          offset 0) days
        offset 0) orders,
        generate_series(1, 1 + draw(order_id, 56, 7)::int) line, lateral (select order_id::bigint * 8 + line) numbered (i)
      offset 0) drawn
    offset 0) priced;

alter table calendar add primary key (id);
alter table customer add primary key (id);
alter table supplier add primary key (id);
alter table part add primary key (id);
alter table order_line add primary key (order_id, line);
vacuum (freeze, analyze) calendar, customer, supplier, part, order_line;
