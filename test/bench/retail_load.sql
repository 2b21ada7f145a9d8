-- retail_load.sql
--     Twenty-four tables of a retailer with three channels, at scale :scale (0.01 or more), in schema retail.
--
-- The tables have the shape that the public decision-support specification TPC-DS describes: store, catalog and web
-- sales, their returns, inventory, and dimensions.  Names, columns and values are our own.  At scale 1 there are 2.9
-- million lines of store tickets, 1.4 million of catalog orders and 0.7 million of web orders; a tenth of them come back.
-- Dimensions grow with a root of the scale, and the calendar has two hundred years at any scale.
--
-- Values are hashes of the row's number, so that every run makes the same rows.  They have what makes estimates go wrong.
-- All sales are in five years of the calendar, 40 % of them in the last quarter of a year.  A few items and customers have
-- many rows.  Brand, class and category depend on each other, and so do zip, county and state.  A quarter of the catalog
-- and web orders repeats the customer and the items of a store ticket.  3 % of most dimension keys of a fact are NULL.

select 16 * round(1125 * sqrt(:scale))::bigint as items, round(100000 * :scale ^ 0.75)::bigint as customers,
  round(50000 * :scale ^ 0.75)::bigint as addresses, 96040 * least(20, ceil(20 * sqrt(:scale)))::bigint as demographics,
  greatest(6, round(12 * sqrt(:scale)))::bigint as stores, greatest(3, round(6 * sqrt(:scale)))::bigint as call_centers,
  greatest(1000, round(11718 * sqrt(:scale)))::bigint as catalog_pages, greatest(6, round(30 * sqrt(:scale)))::bigint as web_sites,
  greatest(12, round(60 * sqrt(:scale)))::bigint as web_pages, greatest(2, round(5 * sqrt(:scale)))::bigint as warehouses,
  greatest(60, round(300 * sqrt(:scale)))::bigint as promotions, (240000 * :scale)::bigint as tickets,
  (160000 * :scale)::bigint as catalog_orders, (60000 * :scale)::bigint as web_orders \gset
select (45000 * :scale / :warehouses)::bigint as stocked, date '2019-01-01' - date '1900-01-01' + 1 as first_day \gset

-- A draw from 0 to below - 1, low numbers more often: the first has a share of (1 / below) ^ (1 / power).
create function rank_of(i bigint, seed int, below bigint, power float8) returns bigint language sql immutable
return floor(below * (draw(i, seed, 1 << 30) / (1 << 30)::float8) ^ power)::bigint;

-- A key, or NULL where five bits of the row's hash are zero; n says which five, another for each key of a row.
create function given(h bigint, n int, key bigint) returns int language sql immutable
return case when h >> 5 * n & 31 > 0 then key end;

create function dollars(cents bigint) returns numeric language sql immutable
return cents * 0.01;

-- The code of an item, which its versions share: of three codes one has a single version, one has two and one three.
create function code_of(item bigint) returns bigint language sql immutable
return (item - 1) / 6 * 3 + (array[0, 1, 1, 2, 2, 2])[1 + (item - 1) % 6];

create function category_of(item bigint) returns bigint language sql immutable
return rank_of(code_of(item), 1, 10, 1.2);

create function cost_of(item bigint) returns bigint language sql immutable
return 50 + rank_of(code_of(item), 2, 4000, 2) * (1 + category_of(item) / 3);

create function customer_of(key bigint) returns bigint language sql immutable
return 1 + rank_of(key, 3, :customers, 1.3);

create function address_of(customer bigint) returns bigint language sql immutable
return 1 + draw(customer, 4, :addresses);

-- There are 3000 places in 750 counties and 50 states.
create function city(place bigint) returns text language sql immutable
return (array['Green', 'Oak', 'Fair', 'Spring', 'River', 'Mill', 'Clear', 'Union', 'Cedar', 'Pleasant', 'Clin', 'Frank', 'Bridge',
    'Wood', 'Center', 'Salem'])[1 + place % 16]
  || (array['ton', 'ville', 'field', 'wood', 'port', 'dale', 'burg', 'view'])[1 + place / 16 % 8];

create function county(place bigint) returns text language sql immutable
return (array['Adams', 'Baker', 'Carter', 'Dawson', 'Ellis', 'Franklin', 'Grant', 'Harding', 'Irving', 'Jackson', 'King', 'Lincoln',
  'Monroe', 'Nelson', 'Otter', 'Perry', 'Quinn', 'Rich', 'Sheridan', 'Taylor', 'Upton', 'Vernon', 'Walker', 'Young',
  'Zeeland'])[1 + place / 4 % 25] || ' County';

create function state(place bigint) returns text language sql immutable
return (array['TX', 'OH', 'IL', 'GA', 'KY', 'MO', 'NC', 'VA', 'KS', 'IA', 'TN', 'MN', 'NE', 'IN', 'MI', 'NY', 'CA', 'FL', 'PA', 'WI',
  'MS', 'OK', 'AR', 'AL', 'LA', 'SD', 'ND', 'MT', 'CO', 'WV', 'SC', 'WA', 'OR', 'ID', 'NM', 'UT', 'WY', 'MD', 'NJ', 'ME', 'VT', 'NH',
  'AZ', 'MA', 'CT', 'NV', 'DE', 'RI', 'AK', 'HI'])[1 + place / 60];

create function zip(place bigint) returns text language sql immutable
return 10000 + place * 7919 % 3000 * 29;

create function surname(i bigint, seed int) returns text language sql immutable
return (array['Al', 'Bar', 'Cor', 'Dal', 'El', 'Far', 'Gren', 'Hal', 'Is', 'Jor', 'Kel', 'Lin', 'Mor', 'Nor', 'Os', 'Per'])
    [1 + draw(i, seed, 16)]
  || (array['a', 'e', 'in', 'o', 'ber', 'den'])[1 + draw(i, seed + 1, 6)]
  || (array['ford', 'gren', 'ham', 'lund', 'man', 'ner', 'rez', 'son', 'ti', 'witz'])[1 + draw(i, seed + 2, 10)];

-- The day that an order is made on: in five years, the later ones with more.
create function sale_day(number bigint) returns bigint language sql immutable
return :first_day + 365 * (array[0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4])[1 + draw(number, 5, 20)]
  + case when draw(number, 6, 10) < 4 then draw(number, 7, 212) when draw(number, 6, 10) < 6 then 212 + draw(number, 7, 61)
    else 273 + draw(number, 7, 92) end;

create function sale_moment(number bigint) returns bigint language sql immutable
return 3600 * (8 + draw(number, 8, 8) + draw(number, 9, 7)) + draw(number, 10, 3600);

-- The lines of a channel's orders, between fewest and most an order, each with another item.  Money is in cents.  Customer
-- and items follow from the key; a catalog or web order that repeats a store ticket has the ticket's number as its key.
create function lines(channel bigint, orders bigint, fewest int, most int)
  returns table (number bigint, key bigint, day bigint, moment bigint, customer bigint, i bigint, h bigint, item bigint, quantity bigint,
    cost bigint, list bigint, price bigint)
language sql stable begin atomic
  select number, key, day, moment, customer, i, hashint8extended(i, 11), item, 1 + draw(i, 12, 100), cost, list,
    list * (30 + draw(i, 13, 71)) / 100
  from (
    select *, cost_of(item) as cost, cost_of(item) * (110 + draw(i, 14, 90)) / 100 as list
    from (
      select number, key, sale_day(own) as day, sale_moment(own) as moment, customer_of(key) as customer, own * 16 + n as i,
        1 + (key + n) % 16 + 16 * rank_of(key * 16 + n, 15, :items / 16, 2) as item
      from (
        select number, channel * 1000000000 + number as own,
          number + case when channel > 0 and draw(number, 16, 4) > 0 then channel * 1000000000 else 0 end as key
        from generate_series(1, orders) number
        offset 0) keys, generate_series(0, fewest - 1 + draw(own, 17, most - fewest + 1)) n
      offset 0) items
    offset 0) prices;
end;

create table day (id int not null, on_date date not null, year int not null, quarter int not null, month int not null,
  day_of_month int not null, weekday int not null, weekday_name text not null, week_no int not null, month_no int not null,
  quarter_no int not null, quarter_name char(6) not null, holiday boolean not null, weekend boolean not null);
insert into day
  select 1 + n, at, y, q, m, date_part('day', at), (n + 1) % 7,
    (array['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'])[1 + (n + 1) % 7],
    (n + 1) / 7, (y - 1900) * 12 + m - 1, (y - 1900) * 4 + q - 1, y || 'Q' || q, draw(date_part('doy', at)::int, 20, 30) = 0,
    (n + 1) % 7 in (0, 6)
  from (
    select n, date '1900-01-01' + n as at, date_part('year', date '1900-01-01' + n)::int as y,
      date_part('quarter', date '1900-01-01' + n)::int as q, date_part('month', date '1900-01-01' + n)::int as m
    from generate_series(0, 73048) n
    offset 0) days;

create table moment (id int not null, hour int not null, minute int not null, second int not null, half char(2) not null,
  shift text not null, meal text);
insert into moment
  select n, n / 3600, n / 60 % 60, n % 60, case when n < 43200 then 'AM' else 'PM' end,
    (array['third', 'first', 'second'])[1 + n / 28800],
    case n / 3600 when 6 then 'breakfast' when 7 then 'breakfast' when 8 then 'breakfast' when 11 then 'lunch' when 12 then 'lunch'
      when 13 then 'lunch' when 17 then 'dinner' when 18 then 'dinner' when 19 then 'dinner' end
  from generate_series(0, 86399) n;

create table income_band (id int not null, low int not null, high int not null);
insert into income_band select n, (n - 1) * 10000 + case when n > 1 then 1 else 0 end, n * 10000 from generate_series(1, 20) n;

create table household (id int not null, income_band_id int not null, buy_potential text not null, dependents int not null,
  vehicles int not null);
insert into household
  select n, 1 + n % 20, (array['unknown', '0-500', '501-1000', '1001-5000', '5001-10000', 'above 10000'])[1 + n / 20 % 6],
    n / 120 % 10, n / 1200 % 6 - 1
  from generate_series(1, 7200) n;

create table demographic (id int not null, gender char(1) not null, marital char(1) not null, education text not null,
  credit text not null, dependents int not null, employed int not null, college int not null, purchase_estimate int not null);
insert into demographic
  select n, (array['M', 'F'])[1 + n % 2], (array['M', 'S', 'D', 'W', 'U'])[1 + n / 2 % 5],
    (array['primary', 'secondary', 'some college', 'college', 'two years', 'advanced', 'unknown'])[1 + n / 10 % 7],
    (array['low', 'good', 'high', 'unknown'])[1 + n / 70 % 4], n / 280 % 7, n / 1960 % 7, n / 13720 % 7, 500 * (1 + n / 96040 % 20)
  from generate_series(1, :demographics) n;

create table address (id int not null, street_number int, street text, suite text, city text, county text, state char(2), zip char(5),
  country text, offset_hours int, kind text);
insert into address
  select i, given(h, 0, 1 + draw(i, 30, 1000)), (array['First', 'Second', 'Main', 'Lake', 'Hill', 'Park', 'Maple', 'Pine', 'Elm',
      'Church', 'Mill', 'Ridge'])[1 + draw(i, 31, 12)] || ' ' || (array['Street', 'Avenue', 'Road', 'Lane', 'Court'])[1 + draw(i, 32, 5)],
    'Suite ' || draw(i, 33, 90), city(place), case when h & 31 > 0 then county(place) end, case when h >> 10 & 31 > 0 then state(place) end,
    case when h >> 15 & 31 > 0 then zip(place) end, 'United States', given(h, 4, -5 - place / 60 % 4),
    (array['house', 'apartment', 'condominium'])[1 + rank_of(i, 34, 3, 1.5)]
  from (select i, hashint8extended(i, 35) as h, rank_of(i, 36, 3000, 2) as place from generate_series(1, :addresses) i offset 0) places;

create table customer (id int not null, code text not null, demographic_id int, household_id int, address_id int, first_day_id int,
  first_shipped_day_id int, title text, first_name text, last_name text, preferred char(1), birth_day int, birth_month int,
  birth_year int, birth_country text, email text);
insert into customer
  select i, 'C' || lpad(i::text, 10, '0'), given(h, 0, 1 + draw(i, 40, :demographics)), given(h, 1, 1 + draw(i, 41, 7200)), address_of(i),
    given(h, 2, :first_day - draw(i, 42, 1500)), given(h, 2, :first_day - draw(i, 42, 1500) + 30),
    (array['Mr', 'Mrs', 'Ms', 'Dr', 'Sir'])[1 + rank_of(i, 43, 5, 1.3)],
    (array['Ada', 'Boris', 'Clara', 'David', 'Emma', 'Frank', 'Greta', 'Hugo', 'Irma', 'Jack', 'Karin', 'Leo', 'Mara', 'Nils', 'Olga',
      'Peter', 'Rosa', 'Simon', 'Tina', 'Victor'])[1 + draw(i, 44, 20)], surname(i, 45),
    case when h >> 20 & 31 > 0 then (array['N', 'Y'])[1 + draw(i, 48, 2)] end, given(h, 5, 1 + draw(i, 49, 28)),
    given(h, 6, 1 + draw(i, 50, 12)), given(h, 7, 1940 + draw(i, 51, 65)),
    (array['United States', 'Canada', 'Mexico', 'France', 'Germany', 'Japan', 'India', 'Italy', 'Peru', 'Kenya', 'Norway', 'Chile'])
      [1 + rank_of(i, 52, 12, 2)], lower(surname(i, 45)) || i || '@example.org'
  from (select i, hashint8extended(i, 53) as h from generate_series(1, :customers) i offset 0) hashes;

create table item (id int not null, code text not null, valid_from date not null, valid_to date, description text, price numeric(7, 2),
  cost numeric(7, 2), brand_id int not null, brand text not null, class_id int not null, class text not null, category_id int not null,
  category text not null, maker_id int, maker text, size text, colour text, unit text, manager_id int, name text);
insert into item
  select i, 'I' || lpad(code_of(i)::text, 8, '0'), (array[date '2015-01-01', '2015-01-01', '2020-07-01', '2015-01-01', '2019-10-01',
      '2021-10-01'])[1 + (i - 1) % 6], (array[null, date '2020-06-30', null, '2019-09-30', '2021-09-30', null])[1 + (i - 1) % 6],
    'a ' || (array['strong', 'light', 'soft', 'plain', 'fine', 'heavy', 'new', 'famous'])[1 + draw(i, 60, 8)] || ' thing for '
      || (array['friends', 'old people', 'every day', 'the garden', 'children', 'winter'])[1 + draw(i, 61, 6)] || ' ' || i,
    dollars(cost_of(i) * (130 + draw(i, 62, 50)) / 100), dollars(cost_of(i)), 10000 * (1 + category) + 100 * class + brand,
    (array['Arbor', 'Brio', 'Cresta', 'Dorado', 'Elan', 'Fable', 'Gala', 'Halo', 'Ideal', 'Juno'])[1 + (category * 3 + class) % 10]
      || ' ' || 1 + brand, 1 + class, (array['basic', 'classic', 'compact', 'deluxe', 'family', 'junior', 'light', 'luxury', 'outdoor',
      'travel'])[1 + class], 1 + category, (array['Kitchen', 'Garden', 'Toys', 'Tools', 'Books', 'Music', 'Clothes', 'Shoes', 'Sports',
      'Pets'])[1 + category], 1 + maker, 'maker ' || 1 + maker,
    (array['medium', 'large', 'small', 'extra large', 'petite', 'economy', 'none'])[1 + draw(code_of(i), 63, 7)],
    (array['red', 'blue', 'green', 'white', 'black', 'yellow', 'brown', 'orange', 'pink', 'grey', 'violet', 'cream', 'olive', 'navy',
      'silver', 'gold', 'salmon', 'lime', 'teal', 'plum'])[1 + draw(i, 64, 20)],
    (array['each', 'dozen', 'box', 'case', 'pound', 'ounce', 'pallet', 'gram'])[1 + draw(i, 65, 8)], 1 + draw(code_of(i), 66, 100),
    (array['able', 'bar', 'call', 'ese', 'anti', 'ought', 'pri', 'eing'])[1 + i % 8] || i
  from (
    select *, (category * 11 + class * 7 + brand * 3 + rank_of(i, 67, 10, 2)) % 100 as maker
    from (
      select i, category_of(i) as category, rank_of(code_of(i), 68, 10, 1.2) as class, draw(code_of(i), 69, 8) as brand
      from generate_series(1, :items) i
      offset 0) brands
    offset 0) makers;

-- Stores, call centers and web sites come in pairs: two versions with the same code.
create table store (id int not null, code text not null, valid_from date not null, valid_to date, name text, employees int,
  floor_space int, hours text, manager text, market_id int, company_id int, city text, county text, state char(2), zip char(5),
  offset_hours int, tax numeric(5, 2));
insert into store
  select i, 'S' || lpad(((i + 1) / 2)::text, 5, '0'), case when i % 2 = 1 then date '2015-01-01' else '2021-01-01' end,
    case when i % 2 = 1 then date '2020-12-31' end, (array['ought', 'able', 'pri', 'ese', 'anti', 'call'])[1 + i % 6],
    200 + draw(i, 70, 100), 5000000 + draw(i, 71, 5000000), (array['8-16', '8-20', '8-24'])[1 + draw(i, 72, 3)], surname(i, 73),
    1 + draw(i, 76, 10), 1, city(place), county(place), state(place), zip(place), -5 - place / 60 % 4, draw(i, 77, 12) * 0.01
  from (select i, (i - 1) / 2 * 13 as place from generate_series(1, :stores) i offset 0) places;

create table call_center (id int not null, code text not null, name text, class text, employees int, hours text, manager text,
  market_id int, county text, state char(2), tax numeric(5, 2));
insert into call_center
  select i, 'T' || lpad(((i + 1) / 2)::text, 5, '0'), (array['North', 'Mid', 'South', 'West', 'East'])[1 + i % 5] || ' center '
    || (i + 1) / 2, (array['small', 'medium', 'large'])[1 + draw(i, 80, 3)], 100 + draw(i, 81, 600), '8-20', surname(i, 82),
    1 + draw(i, 85, 6), county(i * 9), state(i * 9), draw(i, 86, 12) * 0.01
  from generate_series(1, :call_centers) i;

create table catalog_page (id int not null, code text not null, catalog_no int not null, page_no int not null, department text, kind text);
insert into catalog_page
  select i, 'P' || lpad(i::text, 7, '0'), 1 + (i - 1) / 108, 1 + (i - 1) % 108, 'department ' || 1 + draw(i, 90, 5),
    (array['monthly', 'quarterly', 'half-yearly'])[1 + (i - 1) / 108 % 3]
  from generate_series(1, :catalog_pages) i;

create table web_site (id int not null, code text not null, name text, manager text, market_id int, company_id int, company text,
  tax numeric(5, 2));
insert into web_site
  select i, 'W' || lpad(((i + 1) / 2)::text, 5, '0'), 'site ' || (i - 1) / 6, surname(i, 91), 1 + draw(i, 94, 6), 1 + i % 6,
    (array['pri', 'able', 'ought', 'ese', 'anti', 'call'])[1 + i % 6], draw(i, 95, 12) * 0.01
  from generate_series(1, :web_sites) i;

create table web_page (id int not null, code text not null, url text, kind text, characters int, links int, images int);
insert into web_page
  select i, 'V' || lpad(i::text, 6, '0'), 'http://www.example.org/' || i,
    (array['order', 'general', 'welcome', 'review', 'feedback', 'protected'])[1 + draw(i, 96, 6)], 1000 + draw(i, 97, 6000),
    2 + draw(i, 98, 24), 1 + draw(i, 99, 7)
  from generate_series(1, :web_pages) i;

create table warehouse (id int not null, name text, floor_space int, city text, county text, state char(2), country text);
insert into warehouse
  select i, 'Warehouse ' || i || ' of ' || city(i * 17), 50000 + draw(i, 100, 900000), city(i * 17), county(i * 17), state(i * 17),
    'United States'
  from generate_series(1, :warehouses) i;

create table promotion (id int not null, code text not null, item_id int, start_day_id int, end_day_id int, cost numeric(9, 2), name text,
  by_mail boolean, by_email boolean, by_tv boolean, by_radio boolean, by_event boolean, purpose text);
insert into promotion
  select i, 'O' || lpad(i::text, 6, '0'), 1 + draw(i, 101, :items), :first_day + draw(i, 102, 1700),
    :first_day + draw(i, 102, 1700) + 10 + draw(i, 103, 50), 1000, (array['able', 'pri', 'ought', 'ese', 'anti'])[1 + i % 5],
    draw(i, 104, 2) = 0, draw(i, 105, 10) = 0, draw(i, 106, 2) = 0, draw(i, 107, 10) = 0, draw(i, 108, 10) = 0, 'unknown'
  from generate_series(1, :promotions) i;

create table reason (id int not null, description text not null);
insert into reason
  select n, (array['did not fit', 'came late', 'was broken', 'wrong colour', 'found a better price', 'gift not wanted', 'parts missing'])
    [1 + (n - 1) % 7] || case when n > 7 then ', case ' || (n - 1) / 7 else '' end
  from generate_series(1, 35) n;

create table ship_mode (id int not null, kind text not null, way text not null, carrier text not null);
insert into ship_mode
  select n, (array['express', 'overnight', 'regular', 'two days', 'slow'])[1 + n % 5], (array['air', 'ground', 'sea'])[1 + n % 3],
    (array['Swift', 'Arrow', 'Comet', 'Delta Cargo', 'Eagle', 'Falcon', 'Globe', 'Harbor', 'Inter', 'Jet', 'Kite', 'Lark', 'Metro',
      'Nova', 'Orbit', 'Pony', 'Quick', 'Rocket', 'Star', 'Tiger'])[n]
  from generate_series(1, 20) n;

-- Of sales, cost, list_price and price are of a single unit; all other amounts are of the line.
create table store_sale (day_id int, moment_id int, item_id int not null, customer_id int, demographic_id int, household_id int,
  address_id int, store_id int, promotion_id int, ticket int not null, quantity int, cost numeric(7, 2), list_price numeric(7, 2),
  price numeric(7, 2), discount numeric(9, 2), total numeric(9, 2), cost_total numeric(9, 2), list_total numeric(9, 2),
  tax numeric(9, 2), coupon numeric(9, 2), paid numeric(9, 2), profit numeric(9, 2));
insert into store_sale
  select given(h, 0, day), given(h, 1, moment), item, given(h, 2, customer), given(h, 3, 1 + draw(key, 110, :demographics)),
    given(h, 4, 1 + draw(key, 111, 7200)), given(h, 5, case when draw(key, 112, 5) > 0 then address_of(customer)
        else 1 + draw(key, 113, :addresses) end), given(h, 6, 1 + draw(key, 114, :stores)), given(h, 7, 1 + draw(i, 115, :promotions)),
    number, quantity, dollars(cost), dollars(list), dollars(price), dollars(quantity * (list - price)), dollars(quantity * price),
    dollars(quantity * cost), dollars(quantity * list), dollars((quantity * price - coupon) * draw(number, 116, 10) / 100), dollars(coupon),
    dollars(quantity * price - coupon), dollars(quantity * (price - cost) - coupon)
  from (select *, case when draw(i, 117, 5) = 0 then quantity * price * draw(i, 118, 90) / 100 else 0 end as coupon
    from lines(0, :tickets, 8, 16) offset 0) lines;

create table catalog_sale (day_id int, moment_id int, ship_day_id int, item_id int not null, customer_id int, demographic_id int,
  household_id int, address_id int, to_customer_id int, to_address_id int, call_center_id int, page_id int, ship_mode_id int,
  warehouse_id int, promotion_id int, order_no int not null, quantity int, cost numeric(7, 2), list_price numeric(7, 2),
  price numeric(7, 2), discount numeric(9, 2), total numeric(9, 2), cost_total numeric(9, 2), list_total numeric(9, 2),
  tax numeric(9, 2), coupon numeric(9, 2), shipping numeric(9, 2), paid numeric(9, 2), profit numeric(9, 2));
insert into catalog_sale
  select given(h, 0, day), given(h, 1, moment), given(h, 2, day + 2 + draw(i, 120, 89)), item, given(h, 3, customer),
    given(h, 4, 1 + draw(key, 121, :demographics)), given(h, 5, 1 + draw(key, 122, 7200)), given(h, 6, address_of(customer)),
    given(h, 7, recipient), given(h, 8, address_of(recipient)), given(h, 9, 1 + draw(key, 123, :call_centers)),
    given(h, 10, 1 + draw(i, 124, :catalog_pages)), 1 + draw(i, 125, 20), 1 + draw(i, 126, :warehouses),
    case when draw(i, 127, 32) > 0 then 1 + draw(i, 128, :promotions) end, number, quantity, dollars(cost), dollars(list), dollars(price),
    dollars(quantity * (list - price)), dollars(quantity * price), dollars(quantity * cost), dollars(quantity * list),
    dollars((quantity * price - coupon) * draw(number, 129, 10) / 100), dollars(coupon), dollars(quantity * list * draw(i, 130, 50) / 100),
    dollars(quantity * price - coupon), dollars(quantity * (price - cost) - coupon)
  from (select *, case when draw(i, 131, 5) = 0 then quantity * price * draw(i, 132, 90) / 100 else 0 end as coupon,
      case when draw(key, 133, 10) > 0 then customer else 1 + draw(key, 134, :customers) end as recipient
    from lines(1, :catalog_orders, 4, 14) offset 0) lines;

create table web_sale (day_id int, moment_id int, ship_day_id int, item_id int not null, customer_id int, demographic_id int,
  household_id int, address_id int, to_customer_id int, to_household_id int, to_address_id int, web_page_id int, web_site_id int,
  ship_mode_id int, warehouse_id int, promotion_id int, order_no int not null, quantity int, cost numeric(7, 2),
  list_price numeric(7, 2), price numeric(7, 2), discount numeric(9, 2), total numeric(9, 2), cost_total numeric(9, 2),
  list_total numeric(9, 2), tax numeric(9, 2), coupon numeric(9, 2), shipping numeric(9, 2), paid numeric(9, 2), profit numeric(9, 2));
insert into web_sale
  select given(h, 0, day), given(h, 1, moment), given(h, 2, day + 1 + draw(i, 140, 120)), item, given(h, 3, customer),
    given(h, 4, 1 + draw(key, 141, :demographics)), given(h, 5, 1 + draw(key, 142, 7200)), given(h, 6, address_of(customer)),
    given(h, 7, recipient), given(h, 8, 1 + draw(key, 143, 7200)), given(h, 9, address_of(recipient)),
    given(h, 10, 1 + draw(i, 144, :web_pages)), given(h, 11, 1 + draw(number, 145, :web_sites)), 1 + draw(i, 146, 20),
    1 + draw(i, 147, :warehouses), case when draw(i, 148, 32) > 0 then 1 + draw(i, 149, :promotions) end, number, quantity, dollars(cost),
    dollars(list), dollars(price), dollars(quantity * (list - price)), dollars(quantity * price), dollars(quantity * cost),
    dollars(quantity * list),
    dollars((quantity * price - coupon) * draw(number, 150, 10) / 100), dollars(coupon), dollars(quantity * list * draw(i, 151, 50) / 100),
    dollars(quantity * price - coupon), dollars(quantity * (price - cost) - coupon)
  from (select *, case when draw(i, 152, 5) = 0 then quantity * price * draw(i, 153, 90) / 100 else 0 end as coupon,
      case when draw(key, 154, 10) > 0 then customer else 1 + draw(key, 155, :customers) end as recipient
    from lines(2, :web_orders, 8, 16) offset 0) lines;

-- 6 to 14 % of an item's lines come back.  The amount returned is the sum of cash, charge and credit.
create table store_return (day_id int, moment_id int, item_id int not null, customer_id int, demographic_id int, household_id int,
  address_id int, store_id int, reason_id int, ticket int not null, quantity int, amount numeric(9, 2), tax numeric(9, 2),
  fee numeric(7, 2), cash numeric(9, 2), charge numeric(9, 2), credit numeric(9, 2), loss numeric(9, 2));
insert into store_return
  select day_id + 1 + draw(i, 160, 90), 28800 + draw(i, 161, 46800), item_id, customer_id, demographic_id, household_id, address_id,
    store_id, case when draw(i, 162, 32) > 0 then 1 + rank_of(i, 163, 35, 1.3) end, ticket, back, back * price, back * price * 0.06,
    fee, back * price * part / 100, back * price * (100 - part) / 200, back * price - back * price * part / 100
      - back * price * (100 - part) / 200, fee + back * price * 0.06 + shipping
  from (
    select s.*, i, 1 + draw(i, 164, quantity) as back, dollars(50 + draw(i, 165, 9950)) as fee, draw(i, 166, 101) as part,
      dollars(draw(i, 167, 20000)) as shipping
    from store_sale s, lateral (select ticket::bigint * 16 + item_id % 16) numbered (i)
    where draw(i, 168, 100) < 6 + 2 * (item_id % 5)
    offset 0) returned;

create table catalog_return (day_id int, moment_id int, item_id int not null, customer_id int, household_id int, address_id int,
  to_customer_id int, to_demographic_id int, to_address_id int, call_center_id int, page_id int, ship_mode_id int, warehouse_id int,
  reason_id int, order_no int not null, quantity int, amount numeric(9, 2), tax numeric(9, 2), fee numeric(7, 2), cash numeric(9, 2),
  charge numeric(9, 2), credit numeric(9, 2), loss numeric(9, 2));
insert into catalog_return
  select ship_day_id + 1 + draw(i, 170, 60), draw(i, 171, 86400), item_id, customer_id, household_id, address_id, to_customer_id,
    case when draw(i, 172, 2) = 0 then demographic_id else 1 + draw(i, 173, :demographics) end, to_address_id, call_center_id, page_id,
    ship_mode_id, warehouse_id, case when draw(i, 174, 32) > 0 then 1 + rank_of(i, 175, 35, 1.3) end, order_no, back, back * price,
    back * price * 0.06, fee, back * price * part / 100, back * price * (100 - part) / 200, back * price - back * price * part / 100
      - back * price * (100 - part) / 200, fee + back * price * 0.06 + freight
  from (
    select s.*, i, 1 + draw(i, 176, quantity) as back, dollars(50 + draw(i, 177, 9950)) as fee, draw(i, 178, 101) as part,
      dollars(draw(i, 179, 20000)) as freight
    from catalog_sale s, lateral (select order_no::bigint * 16 + item_id % 16) numbered (i)
    where draw(i, 180, 100) < 6 + 2 * (item_id % 5)
    offset 0) returned;

create table web_return (day_id int, moment_id int, item_id int not null, customer_id int, demographic_id int, address_id int,
  to_customer_id int, to_demographic_id int, to_address_id int, web_page_id int, reason_id int, order_no int not null, quantity int,
  amount numeric(9, 2), tax numeric(9, 2), fee numeric(7, 2), cash numeric(9, 2), charge numeric(9, 2), credit numeric(9, 2),
  loss numeric(9, 2));
insert into web_return
  select ship_day_id + 1 + draw(i, 190, 60), draw(i, 191, 86400), item_id, customer_id, demographic_id, address_id, to_customer_id,
    case when draw(i, 192, 3) > 0 then demographic_id else 1 + draw(i, 193, :demographics) end, to_address_id, web_page_id,
    case when draw(i, 194, 32) > 0 then 1 + rank_of(i, 195, 35, 1.3) end, order_no, back, back * price, back * price * 0.06, fee,
    back * price * part / 100, back * price * (100 - part) / 200, back * price - back * price * part / 100
      - back * price * (100 - part) / 200, fee + back * price * 0.06 + freight
  from (
    select s.*, i, 1 + draw(i, 196, quantity) as back, dollars(50 + draw(i, 197, 9950)) as fee, draw(i, 198, 101) as part,
      dollars(draw(i, 199, 20000)) as freight
    from web_sale s, lateral (select order_no::bigint * 16 + item_id % 16) numbered (i)
    where draw(i, 200, 100) < 6 + 2 * (item_id % 5)
    offset 0) returned;

-- The stock of each warehouse, week by week, of some of the items.
create table inventory (day_id int not null, item_id int not null, warehouse_id int not null, quantity int);
insert into inventory
  select :first_day + 7 * week, item, warehouse, given(h, 0, h >> 8 & 1023)
  from (
    select week, item, warehouse, hashint8extended((week * 100000 + item) * 32 + warehouse, 210) as h
    from generate_series(0::bigint, 260) week, (select 1 + n * :items / :stocked from generate_series(0, :stocked - 1) n) stock (item),
      generate_series(1, :warehouses) warehouse
    offset 0) stocks;

alter table day add primary key (id);
alter table moment add primary key (id);
alter table income_band add primary key (id);
alter table household add primary key (id);
alter table demographic add primary key (id);
alter table address add primary key (id);
alter table customer add primary key (id);
alter table item add primary key (id);
alter table store add primary key (id);
alter table call_center add primary key (id);
alter table catalog_page add primary key (id);
alter table web_site add primary key (id);
alter table web_page add primary key (id);
alter table warehouse add primary key (id);
alter table promotion add primary key (id);
alter table reason add primary key (id);
alter table ship_mode add primary key (id);
alter table store_sale add primary key (item_id, ticket);
alter table store_return add primary key (item_id, ticket);
alter table catalog_sale add primary key (item_id, order_no);
alter table catalog_return add primary key (item_id, order_no);
alter table web_sale add primary key (item_id, order_no);
alter table web_return add primary key (item_id, order_no);
alter table inventory add primary key (day_id, item_id, warehouse_id);
vacuum (freeze, analyze) day, moment, income_band, household, demographic, address, customer, item, store, call_center, catalog_page,
  web_site, web_page, warehouse, promotion, reason, ship_mode, store_sale, store_return, catalog_sale, catalog_return, web_sale,
  web_return, inventory;
