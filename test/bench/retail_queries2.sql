-- retail_queries2.sql
--     The other 49 questions to the tables of retail_load.sql.

-- R51 days on which an item's web sales have added up to more than those of stores [whole query]
with web as (
  select ws.item_id, d.on_date, sum(sum(ws.price)) over (partition by ws.item_id order by d.on_date) as running
  from web_sale ws, day d where ws.day_id = d.id and d.month_no between 1440 and 1451 and ws.item_id is not null group by 1, 2),
store as (
  select ss.item_id, d.on_date, sum(sum(ss.price)) over (partition by ss.item_id order by d.on_date) as running
  from store_sale ss, day d where ss.day_id = d.id and d.month_no between 1440 and 1451 and ss.item_id is not null group by 1, 2)
select *
from (
  select item_id, on_date, web, store, max(web) over (partition by item_id order by on_date) as most_web,
    max(store) over (partition by item_id order by on_date) as most_store
  from (
    select coalesce(w.item_id, s.item_id) as item_id, coalesce(w.on_date, s.on_date) as on_date, w.running as web, s.running as store
    from web w full join store s on w.item_id = s.item_id and w.on_date = s.on_date) x) y
where most_web > most_store order by 1, 2, 3, 4, 5, 6 limit 100;

-- R52 sales by brand, by category and size, and in all, in a month [whole query]
select d.year, i.brand, i.category, i.size, grouping(i.brand, i.category, i.size) as level, sum(ss.total) as total, count(*) as lines
from day d, store_sale ss, item i
where d.id = ss.day_id and ss.item_id = i.id and i.manager_id <= 20 and d.month = 11 and d.year = 2022
group by d.year, grouping sets ((i.brand), (i.category, i.size), ()) order by 1, 5, 6 desc, 2, 3, 4, 7 limit 100;

-- R53 quarters in which a maker's sales deviate from its average quarter [whole query]
select maker_id, total, mean
from (
  select i.maker_id, d.quarter_no, sum(ss.price) as total, avg(sum(ss.price)) over (partition by i.maker_id) as mean
  from item i, store_sale ss, day d, store s
  where ss.item_id = i.id and ss.day_id = d.id and ss.store_id = s.id and d.month_no between 1440 and 1451
    and (i.category in ('Books', 'Toys', 'Music') and i.class in ('compact', 'junior', 'basic', 'family')
      or i.category in ('Clothes', 'Shoes', 'Pets') and i.class in ('luxury', 'travel', 'classic', 'outdoor'))
  group by 1, 2) x
where case when mean > 0 then abs(total - mean) / mean end > 0.1
order by 3, 2, 1 limit 100;

-- R54 what customers who order something of a class spend in the stores of their county and state in the next quarter
with chosen as (
  select distinct c.id, c.address_id
  from (
    select day_id, customer_id, item_id from catalog_sale union all select day_id, customer_id, item_id from web_sale) x,
    item i, day d, customer c
  where x.day_id = d.id and x.item_id = i.id and i.category = 'Garden' and i.class in ('deluxe', 'basic') and c.id = x.customer_id
    and d.month = 10 and d.year = 2020),
spent as (
  select o.id, sum(ss.total) as total
  from chosen o, store_sale ss, address a, store s, day d
  where o.address_id = a.id and a.state = s.state and ss.day_id = d.id and o.id = ss.customer_id and ss.store_id = s.id
    and d.month_no between (select distinct month_no + 1 from day where year = 2020 and month = 10)
      and (select distinct month_no + 3 from day where year = 2020 and month = 10)
  group by 1)
select (total / 5000)::int as segment, count(*) as customers, (total / 5000)::int * 5000 as base
from spent group by 1, 3 order by 1, 2, 3 limit 100;

-- R55 sessions of customers, in which no week passes without a purchase in some channel: the longest [whole query]
with days as (
  select distinct x.customer_id, x.day_id
  from (
    select customer_id, day_id from store_sale union all select customer_id, day_id from catalog_sale
    union all select customer_id, day_id from web_sale) x
  where x.customer_id is not null and x.day_id is not null),
begun as (
  select *, case when day_id - lag(day_id) over (partition by customer_id order by day_id) <= 7 then 0 else 1 end as begins from days),
sessions as (
  select customer_id, session, count(*) as days, min(day_id) as first, max(day_id) - min(day_id) as length
  from (select *, sum(begins) over (partition by customer_id order by day_id) as session from begun) x
  group by 1, 2 having count(*) >= 3)
select c.code, d.on_date, s.days, s.length
from sessions s, customer c, day d
where s.customer_id = c.id and s.first = d.id order by 3 desc, 4 desc, 1, 2 limit 100;

-- R56 items of some colours in a month and time zone, all channels
select code, sum(total) as total
from (
  select i.code, sum(x.total) as total from store_sale x, item i, day d, address a
  where i.code in (select code from item where colour in ('salmon', 'lime', 'gold')) and x.item_id = i.id and x.day_id = d.id
    and d.year = 2021 and d.month = 2 and x.address_id = a.id and a.offset_hours = -6 group by 1
  union all
  select i.code, sum(x.total) from catalog_sale x, item i, day d, address a
  where i.code in (select code from item where colour in ('salmon', 'lime', 'gold')) and x.item_id = i.id and x.day_id = d.id
    and d.year = 2021 and d.month = 2 and x.address_id = a.id and a.offset_hours = -6 group by 1
  union all
  select i.code, sum(x.total) from web_sale x, item i, day d, address a
  where i.code in (select code from item where colour in ('salmon', 'lime', 'gold')) and x.item_id = i.id and x.day_id = d.id
    and d.year = 2021 and d.month = 2 and x.address_id = a.id and a.offset_hours = -6 group by 1) x
group by 1 order by 2, 1 limit 100;

-- R57 months in which a brand's orders at a call center are far from its year, beside their neighbours [whole query]
with months as (
  select i.category, i.brand, t.name, d.year, d.month, sum(cs.price) as price,
    avg(sum(cs.price)) over (partition by i.category, i.brand, t.name, d.year) as mean,
    lag(sum(cs.price)) over w as before, lead(sum(cs.price)) over w as after
  from item i, catalog_sale cs, day d, call_center t
  where cs.item_id = i.id and cs.day_id = d.id and cs.call_center_id = t.id
    and (d.year = 2020 or d.year = 2019 and d.month = 12 or d.year = 2021 and d.month = 1)
  group by 1, 2, 3, 4, 5 window w as (partition by i.category, i.brand, t.name order by d.year, d.month))
select category, brand, name, year, month, mean, price, before, after
from months
where year = 2020 and mean > 0 and abs(price - mean) / mean > 0.1 and before is not null and after is not null
order by price - mean, 1, 2, 3, 4, 5, 6, 7, 8, 9 limit 100;

-- R58 items that earn about the same in all channels in a month
with store_items as (
  select i.code, sum(x.total) as total from store_sale x, item i, day d
  where x.item_id = i.id and x.day_id = d.id
    and d.month_no in (select m.month_no from day m where m.on_date = '2022-11-20') group by 1),
catalog_items as (
  select i.code, sum(x.total) as total from catalog_sale x, item i, day d
  where x.item_id = i.id and x.day_id = d.id
    and d.month_no in (select m.month_no from day m where m.on_date = '2022-11-20') group by 1),
web_items as (
  select i.code, sum(x.total) as total from web_sale x, item i, day d
  where x.item_id = i.id and x.day_id = d.id
    and d.month_no in (select m.month_no from day m where m.on_date = '2022-11-20') group by 1)
select s.code, s.total as store, s.total * 100 / (s.total + c.total + w.total) as store_part, c.total as catalog, w.total as web,
  (s.total + c.total + w.total) / 3 as mean
from store_items s, catalog_items c, web_items w
where s.code = c.code and s.code = w.code and s.total between 0.5 * c.total and 2 * c.total and s.total between 0.5 * w.total
  and 2 * w.total and c.total between 0.5 * w.total and 2 * w.total
order by 1, 2, 3, 4, 5, 6 limit 100;

-- R59 store sales by weekday, each week over the same one a year later
with weeks as (
  select d.week_no, ss.store_id, sum(case when d.weekday = 0 then ss.price end) as sun,
    sum(case when d.weekday = 2 then ss.price end) as tue,
    sum(case when d.weekday = 4 then ss.price end) as thu, sum(case when d.weekday = 5 then ss.price end) as fri
  from store_sale ss, day d where d.id = ss.day_id group by 1, 2)
select y.name, y.code, y.week_no, y.sun / z.sun as sun, y.tue / z.tue as tue, y.thu / z.thu as thu, y.fri / z.fri as fri
from (select distinct w.*, s.name, s.code from weeks w, store s, day d
    where d.week_no = w.week_no and w.store_id = s.id and d.month_no between 1440 and 1451) y,
  (select distinct w.*, s.code from weeks w, store s, day d
    where d.week_no = w.week_no and w.store_id = s.id and d.month_no between 1452 and 1463) z
where y.code = z.code and y.store_id = z.store_id and y.week_no = z.week_no - 52
order by 1, 2, 3, 4, 5, 6, 7 limit 100;

-- R60 items of a category that stores sell in autumn, and that neither the catalog nor the web do [whole query]
select i.category, i.class, count(*) as items, min(i.code) as first
from item i, (
  select x.item_id from store_sale x, day d where x.day_id = d.id and d.year = 2023 and d.month = 9
  except
  (select x.item_id from catalog_sale x, day d where x.day_id = d.id and d.year = 2023 and d.month between 8 and 10
    union all
    select x.item_id from web_sale x, day d where x.day_id = d.id and d.year = 2023 and d.month between 8 and 10)) x
where i.id = x.item_id group by 1, 2 order by 3 desc, 1, 2, 4 limit 100;

-- R61 what part of a category's sales in a month is on promotion
select promoted, total, promoted / total * 100 as percent
from (
  select sum(ss.total) as promoted
  from store_sale ss, store s, promotion p, day d, customer c, address a, item i
  where ss.day_id = d.id and ss.store_id = s.id and ss.promotion_id = p.id and ss.customer_id = c.id and a.id = c.address_id
    and ss.item_id = i.id and a.offset_hours = -5 and i.category = 'Music' and (p.by_mail or p.by_email or p.by_tv)
    and s.offset_hours = -5 and d.year = 2019 and d.month = 11) x, (
  select sum(ss.total) as total
  from store_sale ss, store s, day d, customer c, address a, item i
  where ss.day_id = d.id and ss.store_id = s.id and ss.customer_id = c.id and a.id = c.address_id and ss.item_id = i.id
    and a.offset_hours = -5 and i.category = 'Music' and s.offset_hours = -5 and d.year = 2019 and d.month = 11) y
order by 1, 2;

-- R62 how many days web orders wait for a ship
select substr(w.name, 1, 12) as warehouse, m.kind, s.name, count(*) filter (where ws.ship_day_id - ws.day_id <= 30) as "30",
  count(*) filter (where ws.ship_day_id - ws.day_id > 30 and ws.ship_day_id - ws.day_id <= 60) as "60",
  count(*) filter (where ws.ship_day_id - ws.day_id > 60 and ws.ship_day_id - ws.day_id <= 90) as "90",
  count(*) filter (where ws.ship_day_id - ws.day_id > 90) as more
from web_sale ws, warehouse w, ship_mode m, web_site s, day d
where d.month_no between 1452 and 1463 and ws.ship_day_id = d.id and ws.warehouse_id = w.id and ws.ship_mode_id = m.id
  and ws.web_site_id = s.id
group by 1, 2, 3 order by 1, 2, 3, 4, 5, 6, 7 limit 100;

-- R63 moving averages of three months of the categories of some managers [whole query]
select category, month_no, price, mean
from (
  select i.category, d.month_no, sum(ss.price) as price,
    avg(sum(ss.price)) over (partition by i.category order by d.month_no rows between 1 preceding and 1 following) as mean
  from item i, store_sale ss, day d, store s
  where ss.item_id = i.id and ss.day_id = d.id and ss.store_id = s.id and d.month_no between 1428 and 1475
    and i.manager_id between 11 and 50
  group by 1, 2) x
where abs(price - mean) > 0.3 * mean order by 1, 2, 3, 4 limit 100;

-- R64 items that the same customers buy in the same store in two years and take back, in a star of eighteen tables
with refunds as (
  select cs.item_id, sum(cs.list_total) as sold, sum(cr.cash + cr.charge + cr.credit) as back
  from catalog_sale cs, catalog_return cr where cs.item_id = cr.item_id and cs.order_no = cr.order_no
  group by 1 having sum(cs.list_total) > 2 * sum(cr.cash + cr.charge + cr.credit)),
pairs as (
  select i.name, i.id, s.name as store, s.zip, a1.city as bought_city, a2.city as lives_city, d1.year, d2.year as first_year, count(*) as n,
    sum(ss.cost) as cost, sum(ss.list_price) as list, sum(ss.coupon) as coupon
  from store_sale ss, store_return sr, refunds r, day d1, day d2, day d3, store s, customer c, demographic m1, demographic m2, promotion p,
    household h1, household h2, address a1, address a2, income_band b1, income_band b2, item i
  where ss.store_id = s.id and ss.day_id = d1.id and ss.customer_id = c.id and ss.demographic_id = m1.id and ss.household_id = h1.id
    and ss.address_id = a1.id and ss.item_id = i.id and ss.item_id = sr.item_id and ss.ticket = sr.ticket and ss.item_id = r.item_id
    and c.demographic_id = m2.id and c.household_id = h2.id and c.address_id = a2.id and c.first_day_id = d2.id
    and c.first_shipped_day_id = d3.id and ss.promotion_id = p.id and h1.income_band_id = b1.id and h2.income_band_id = b2.id
    and m1.marital <> m2.marital and i.price between 5 and 150
    and i.colour in ('red', 'blue', 'olive', 'navy', 'gold', 'plum', 'teal', 'white')
  group by 1, 2, 3, 4, 5, 6, 7, 8)
select x.name, x.id, x.store, x.zip, x.bought_city, x.year, x.n, x.cost, x.list, x.coupon, y.cost as next_cost,
  y.list as next_list, y.n as next_n
from pairs x, pairs y
where x.id = y.id and x.year = 2021 and y.year = 2022 and y.n <= x.n and x.store = y.store and x.zip = y.zip
order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;

-- R65 items that earn a tenth or less of what an item of their store does
select s.name, i.description, x.revenue, i.price, i.cost, i.brand
from store s, item i, (
    select store_id, avg(revenue) as mean from (
      select ss.store_id, ss.item_id, sum(ss.price) as revenue from store_sale ss, day d
      where ss.day_id = d.id and d.month_no between 1440 and 1451 group by 1, 2) z group by 1) y, (
    select ss.store_id, ss.item_id, sum(ss.price) as revenue from store_sale ss, day d
    where ss.day_id = d.id and d.month_no between 1440 and 1451 group by 1, 2) x
where y.store_id = x.store_id and x.revenue <= 0.1 * y.mean and s.id = x.store_id and i.id = x.item_id
order by 1, 2, 3, 4, 5, 6 limit 100;

-- R66 what warehouses ship by some carriers in some hours, month by month, on the web and by catalog
select name, floor_space, city, year, sum(jan) as jan, sum(feb) as feb, sum(mar) as mar, sum(oct) as oct, sum(nov) as nov,
  sum(december) as december, sum(december / floor_space) as by_space
from (
  select w.name, w.floor_space, w.city, d.year, sum(case when d.month = 1 then x.price * x.quantity else 0 end) as jan,
    sum(case when d.month = 2 then x.price * x.quantity else 0 end) as feb,
    sum(case when d.month = 3 then x.price * x.quantity else 0 end) as mar,
    sum(case when d.month = 10 then x.paid else 0 end) as oct, sum(case when d.month = 11 then x.paid else 0 end) as nov,
    sum(case when d.month = 12 then x.paid else 0 end) as december
  from web_sale x, warehouse w, day d, moment o, ship_mode m
  where x.warehouse_id = w.id and x.day_id = d.id and x.moment_id = o.id and x.ship_mode_id = m.id and d.year = 2020
    and o.id between 30838 and 59638 and m.carrier in ('Comet', 'Globe') group by 1, 2, 3, 4
  union all
  select w.name, w.floor_space, w.city, d.year, sum(case when d.month = 1 then x.price * x.quantity else 0 end),
    sum(case when d.month = 2 then x.price * x.quantity else 0 end), sum(case when d.month = 3 then x.price * x.quantity else 0 end),
    sum(case when d.month = 10 then x.paid else 0 end), sum(case when d.month = 11 then x.paid else 0 end),
    sum(case when d.month = 12 then x.paid else 0 end)
  from catalog_sale x, warehouse w, day d, moment o, ship_mode m
  where x.warehouse_id = w.id and x.day_id = d.id and x.moment_id = o.id and x.ship_mode_id = m.id and d.year = 2020
    and o.id between 30838 and 59638 and m.carrier in ('Comet', 'Globe') group by 1, 2, 3, 4) x
group by 1, 2, 3, 4 order by 1, 2, 3, 4 limit 100;

-- R67 the highest sales of each category on eight levels of detail [whole query]
select *
from (
  select *, rank() over (partition by category order by total desc) as place
  from (
    select i.category, i.class, i.brand, i.name, d.year, d.quarter, d.month, s.code, sum(coalesce(ss.price * ss.quantity, 0)) as total
    from store_sale ss, day d, store s, item i
    where ss.day_id = d.id and ss.item_id = i.id and ss.store_id = s.id and d.month_no between 1441 and 1452
    group by rollup (i.category, i.class, i.brand, i.name, d.year, d.quarter, d.month, s.code)) x) y
where place <= 100 order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 limit 100;

-- R68 tickets at the begin of months that are bought in another city than the customer lives in
select c.last_name, c.first_name, a.city, t.bought_city, t.ticket, t.total, t.tax, t.list
from (
  select ss.ticket, ss.customer_id, b.city as bought_city, sum(ss.total) as total, sum(ss.list_total) as list, sum(ss.tax) as tax
  from store_sale ss, day d, store s, household h, address b
  where ss.day_id = d.id and ss.store_id = s.id and ss.household_id = h.id and ss.address_id = b.id and d.day_of_month between 1 and 2
    and (h.dependents = 4 or h.vehicles = 3) and d.year in (2019, 2020, 2021) and s.city in ('Greenton', 'Unionfield', 'Clinwood')
  group by 1, 2, 3) t, customer c, address a
where t.customer_id = c.id and c.address_id = a.id and a.city <> t.bought_city
order by 1, 5, 2, 3, 4, 6, 7, 8 limit 100;

-- R69 who buys in stores only
select m.gender, m.marital, m.education, count(*) as customers, m.purchase_estimate, m.credit
from customer c, address a, demographic m
where c.address_id = a.id and a.state in ('OH', 'IL', 'GA', 'KY') and m.id = c.demographic_id
  and exists (select 1 from store_sale ss, day d
    where c.id = ss.customer_id and ss.day_id = d.id and d.year = 2021 and d.month between 4 and 10)
  and not exists (select 1 from web_sale ws, day d
    where c.id = ws.customer_id and ws.day_id = d.id and d.year = 2021 and d.month between 4 and 10)
  and not exists (select 1 from catalog_sale cs, day d
    where c.id = cs.to_customer_id and cs.day_id = d.id and d.year = 2021 and d.month between 4 and 10)
group by 1, 2, 3, 5, 6 order by 1, 2, 3, 5, 6, 4 limit 100;

-- R70 profit by state and county of the states with the highest, with subtotals and ranks [whole query]
select sum(ss.profit) as profit, s.state, s.county, grouping(s.state) + grouping(s.county) as level,
  rank() over (partition by grouping(s.state) + grouping(s.county), case when grouping(s.county) = 0 then s.state end
    order by sum(ss.profit) desc) as place
from store_sale ss, day d, store s
where d.month_no between 1452 and 1463 and d.id = ss.day_id and s.id = ss.store_id
  and s.state in (
    select state from (
      select t.state, rank() over (order by sum(x.profit) desc) as place from store_sale x, store t, day e
      where e.month_no between 1452 and 1463 and e.id = x.day_id and t.id = x.store_id group by 1) x where place <= 5)
group by rollup (s.state, s.county) order by 4 desc, 2, 5, 3, 1 limit 100;

-- R71 brands of a manager by minute at breakfast and dinner, all channels
select i.brand_id, i.brand, o.hour, o.minute, sum(x.total) as total
from item i, (
    select total, item_id, moment_id from web_sale x, day d where d.id = x.day_id and d.month = 11 and d.year = 2021
    union all
    select total, item_id, moment_id from catalog_sale x, day d where d.id = x.day_id and d.month = 11 and d.year = 2021
    union all
    select total, item_id, moment_id from store_sale x, day d where d.id = x.day_id and d.month = 11 and d.year = 2021) x, moment o
where x.item_id = i.id and i.manager_id = 1 and x.moment_id = o.id and o.meal in ('breakfast', 'dinner')
group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4;

-- R72 catalog lines of items that are short in a warehouse in the week of the order, with and without promotion
select i.description, w.name, d1.week_no, sum(case when p.id is null then 1 else 0 end) as plain,
  sum(case when p.id is not null then 1 else 0 end) as promoted, count(*) as lines
from catalog_sale cs join inventory v on cs.item_id = v.item_id join warehouse w on w.id = v.warehouse_id join item i on i.id = cs.item_id
  join demographic m on cs.demographic_id = m.id join household h on cs.household_id = h.id join day d1 on cs.day_id = d1.id
  join day d2 on v.day_id = d2.id join day d3 on cs.ship_day_id = d3.id left join promotion p on cs.promotion_id = p.id
  left join catalog_return cr on cr.item_id = cs.item_id and cr.order_no = cs.order_no
where d1.week_no = d2.week_no and v.quantity < 5 * cs.quantity and d3.on_date > d1.on_date + 5 and h.buy_potential = '1001-5000'
  and d1.year = 2021 and m.marital = 'D'
group by 1, 2, 3 order by 6 desc, 1, 2, 3, 4, 5 limit 100;

-- R73 who has small tickets at the begin of months
select c.last_name, c.first_name, c.title, c.preferred, t.ticket, t.lines
from (
  select ss.ticket, ss.customer_id, count(*) as lines
  from store_sale ss, day d, store s, household h
  where ss.day_id = d.id and ss.store_id = s.id and ss.household_id = h.id and d.day_of_month between 1 and 2
    and h.buy_potential in ('5001-10000', '501-1000') and h.vehicles > 0
    and case when h.vehicles > 0 then h.dependents * 1.0 / h.vehicles end > 1 and d.year in (2021, 2022, 2023)
    and s.county in ('Adams County', 'Dawson County', 'Grant County', 'Rich County')
  group by 1, 2) t, customer c
where t.customer_id = c.id and t.lines between 1 and 8
order by 6 desc, 1, 2, 3, 4, 5;

-- R74 customers whose dearest web line grows faster than their dearest store line, by name
with years as (
  select c.code, c.first_name, c.last_name, d.year, 's' as channel, max(ss.paid) as most from customer c, store_sale ss, day d
  where c.id = ss.customer_id and ss.day_id = d.id and d.year in (2021, 2022) group by 1, 2, 3, 4
  union all
  select c.code, c.first_name, c.last_name, d.year, 'w', max(ws.paid) from customer c, web_sale ws, day d
  where c.id = ws.customer_id and ws.day_id = d.id and d.year in (2021, 2022) group by 1, 2, 3, 4)
select s2.code, s2.first_name, s2.last_name
from years s1, years s2, years w1, years w2
where s2.code = s1.code and w1.code = s1.code and w2.code = s1.code and s1.channel = 's' and w1.channel = 'w' and s2.channel = 's'
  and w2.channel = 'w' and s1.year = 2021 and s2.year = 2022 and w1.year = 2021 and w2.year = 2022
  and case when w1.most > 0 then w2.most / w1.most end > case when s1.most > 0 then s2.most / s1.most end
order by 2, 1, 3 limit 100;

-- R75 brands of a category that sell less, net of returns, than in the year before [whole query]
with lines as (
  select d.year, i.brand_id, i.class_id, i.category_id, i.maker_id, x.quantity - coalesce(r.quantity, 0) as quantity,
    x.total - coalesce(r.amount, 0.0) as total
  from catalog_sale x join item i on i.id = x.item_id join day d on d.id = x.day_id
    left join catalog_return r on x.order_no = r.order_no and x.item_id = r.item_id where i.category = 'Tools'
  union
  select d.year, i.brand_id, i.class_id, i.category_id, i.maker_id, x.quantity - coalesce(r.quantity, 0), x.total - coalesce(r.amount, 0.0)
  from store_sale x join item i on i.id = x.item_id join day d on d.id = x.day_id
    left join store_return r on x.ticket = r.ticket and x.item_id = r.item_id where i.category = 'Tools'
  union
  select d.year, i.brand_id, i.class_id, i.category_id, i.maker_id, x.quantity - coalesce(r.quantity, 0), x.total - coalesce(r.amount, 0.0)
  from web_sale x join item i on i.id = x.item_id join day d on d.id = x.day_id
    left join web_return r on x.order_no = r.order_no and x.item_id = r.item_id where i.category = 'Tools'),
years as (
  select year, brand_id, class_id, category_id, maker_id, sum(quantity) as quantity, sum(total) as total from lines group by 1, 2, 3, 4, 5)
select p.year as last_year, y.year, y.brand_id, y.class_id, y.category_id, y.maker_id, p.quantity as last_quantity, y.quantity,
  y.quantity - p.quantity as less, y.total - p.total as less_total
from years y, years p
where y.brand_id = p.brand_id and y.class_id = p.class_id and y.category_id = p.category_id and y.maker_id = p.maker_id
  and y.year = 2022 and p.year = 2021 and y.quantity * 1.0 / p.quantity < 0.9
order by 9, 10, 3, 4, 5, 6, 7, 8 limit 100;

-- R76 lines that lack a key, by channel and quarter
select channel, missing, year, quarter, category, count(*) as lines, sum(total) as total
from (
  select 'store' as channel, 'store_id' as missing, d.year, d.quarter, i.category, x.total from store_sale x, item i, day d
  where x.store_id is null and x.day_id = d.id and x.item_id = i.id
  union all
  select 'web', 'to_customer_id', d.year, d.quarter, i.category, x.total from web_sale x, item i, day d
  where x.to_customer_id is null and x.day_id = d.id and x.item_id = i.id
  union all
  select 'catalog', 'to_address_id', d.year, d.quarter, i.category, x.total from catalog_sale x, item i, day d
  where x.to_address_id is null and x.day_id = d.id and x.item_id = i.id) x
group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5, 6, 7 limit 100;

-- R77 sales and returns of a month by channel and place, joined after grouping, with subtotals [whole query]
with ss as (select s.id, sum(x.total) as total, sum(x.profit) as profit from store_sale x, day d, store s
    where x.day_id = d.id and d.on_date between '2022-08-03' and '2022-09-02' and x.store_id = s.id group by 1),
sr as (select s.id, sum(x.amount) as amount, sum(x.loss) as loss from store_return x, day d, store s
    where x.day_id = d.id and d.on_date between '2022-08-03' and '2022-09-02' and x.store_id = s.id group by 1),
cs as (select call_center_id as id, sum(x.total) as total, sum(x.profit) as profit from catalog_sale x, day d
    where x.day_id = d.id and d.on_date between '2022-08-03' and '2022-09-02' group by 1),
cr as (select sum(x.amount) as amount, sum(x.loss) as loss from catalog_return x, day d
    where x.day_id = d.id and d.on_date between '2022-08-03' and '2022-09-02' group by x.call_center_id),
ws as (select p.id, sum(x.total) as total, sum(x.profit) as profit from web_sale x, day d, web_page p
    where x.day_id = d.id and d.on_date between '2022-08-03' and '2022-09-02' and x.web_page_id = p.id group by 1),
wr as (select p.id, sum(x.amount) as amount, sum(x.loss) as loss from web_return x, day d, web_page p
    where x.day_id = d.id and d.on_date between '2022-08-03' and '2022-09-02' and x.web_page_id = p.id group by 1)
select channel, id, sum(total) as total, sum(amount) as amount, sum(profit) as profit
from (
  select 'store' as channel, ss.id, total, coalesce(amount, 0) as amount, profit - coalesce(loss, 0) as profit
  from ss left join sr on ss.id = sr.id
  union all
  select 'catalog', cs.id, total, amount, profit - loss from cs, cr
  union all
  select 'web', ws.id, total, coalesce(amount, 0), profit - coalesce(loss, 0) from ws left join wr on ws.id = wr.id) x
group by rollup (channel, id) order by 1, 2, 3, 4, 5 limit 100;

-- R78 customers and items that are not returned: what stores sell over what the other channels do
with ws as (
  select d.year, x.item_id, x.customer_id, sum(x.quantity) as quantity, sum(x.cost) as cost, sum(x.price) as price
  from web_sale x left join web_return r on r.order_no = x.order_no and x.item_id = r.item_id join day d on x.day_id = d.id
  where r.order_no is null group by 1, 2, 3),
cs as (
  select d.year, x.item_id, x.customer_id, sum(x.quantity) as quantity, sum(x.cost) as cost, sum(x.price) as price
  from catalog_sale x left join catalog_return r on r.order_no = x.order_no and x.item_id = r.item_id join day d on x.day_id = d.id
  where r.order_no is null group by 1, 2, 3),
ss as (
  select d.year, x.item_id, x.customer_id, sum(x.quantity) as quantity, sum(x.cost) as cost, sum(x.price) as price
  from store_sale x left join store_return r on r.ticket = x.ticket and x.item_id = r.item_id join day d on x.day_id = d.id
  where r.ticket is null group by 1, 2, 3)
select ss.item_id, round(ss.quantity * 1.0 / (coalesce(ws.quantity, 0) + coalesce(cs.quantity, 0)), 2) as ratio, ss.quantity, ss.cost,
  ss.price,
  coalesce(ws.quantity, 0) + coalesce(cs.quantity, 0) as other_quantity, coalesce(ws.price, 0) + coalesce(cs.price, 0) as other_price
from ss left join ws on ws.year = ss.year and ws.item_id = ss.item_id and ws.customer_id = ss.customer_id
  left join cs on cs.year = ss.year and cs.item_id = ss.item_id and cs.customer_id = ss.customer_id
where (coalesce(ws.quantity, 0) > 0 or coalesce(cs.quantity, 0) > 0) and ss.year = 2022
order by 1, 3 desc, 4 desc, 5 desc, 6, 7, 2 limit 100;

-- R79 tickets of Mondays in stores with many employees
select c.last_name, c.first_name, substr(t.city, 1, 30) as city, t.ticket, t.coupon, t.profit
from (
  select ss.ticket, ss.customer_id, s.city, sum(ss.coupon) as coupon, sum(ss.profit) as profit
  from store_sale ss, day d, store s, household h
  where ss.day_id = d.id and ss.store_id = s.id and ss.household_id = h.id and (h.dependents = 6 or h.vehicles > 2)
    and d.weekday = 1 and d.year in (2020, 2021, 2022) and s.employees between 200 and 295
  group by ss.ticket, ss.customer_id, ss.address_id, s.city) t, customer c
where t.customer_id = c.id order by 1, 2, 3, 6, 4, 5 limit 100;

-- R80 sales less returns of dear items without television promotion, by channel and place, with subtotals [whole query]
with ss as (
  select s.code, sum(x.total) as total, sum(coalesce(r.amount, 0)) as back, sum(x.profit - coalesce(r.loss, 0)) as profit
  from store_sale x left join store_return r on x.item_id = r.item_id and x.ticket = r.ticket, day d, store s, item i, promotion p
  where x.day_id = d.id and d.on_date between '2020-08-23' and '2020-09-22' and x.store_id = s.id and x.item_id = i.id and i.price > 50
    and x.promotion_id = p.id and not p.by_tv group by 1),
cs as (
  select g.code, sum(x.total) as total, sum(coalesce(r.amount, 0)) as back, sum(x.profit - coalesce(r.loss, 0)) as profit
  from catalog_sale x left join catalog_return r on x.item_id = r.item_id and x.order_no = r.order_no, day d, catalog_page g,
    item i, promotion p
  where x.day_id = d.id and d.on_date between '2020-08-23' and '2020-09-22' and x.page_id = g.id and x.item_id = i.id and i.price > 50
    and x.promotion_id = p.id and not p.by_tv group by 1),
ws as (
  select w.code, sum(x.total) as total, sum(coalesce(r.amount, 0)) as back, sum(x.profit - coalesce(r.loss, 0)) as profit
  from web_sale x left join web_return r on x.item_id = r.item_id and x.order_no = r.order_no, day d, web_site w, item i, promotion p
  where x.day_id = d.id and d.on_date between '2020-08-23' and '2020-09-22' and x.web_site_id = w.id and x.item_id = i.id and i.price > 50
    and x.promotion_id = p.id and not p.by_tv group by 1)
select channel, code, sum(total) as total, sum(back) as back, sum(profit) as profit
from (select 'store' as channel, * from ss union all select 'catalog', * from cs union all select 'web', * from ws) x
group by rollup (channel, code) order by 1, 2, 3, 4, 5 limit 100;

-- R81 customers whose catalog returns are above 1.2 times the average of their state [whole query]
with returned as (
  select cr.to_customer_id as customer_id, a.state, sum(cr.amount + cr.tax) as amount
  from catalog_return cr, day d, address a where cr.day_id = d.id and d.year = 2020 and cr.to_address_id = a.id group by 1, 2)
select c.code, c.title, c.first_name, c.last_name, a.street_number, a.street, a.city, a.county, a.zip, a.kind, r.amount
from returned r, address a, customer c
where r.amount > (select avg(o.amount) * 1.2 from returned o where o.state = r.state)
  and a.id = c.address_id and a.state = 'IL' and c.id = r.customer_id
order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 limit 100;

-- R82 makers by how many of their items in stock within a range stores sell, beside all that they make [whole query]
select i.maker, count(distinct i.id) as items, count(*) as lines, max(i.price) as dearest,
  (select count(*) from item j where j.maker = i.maker) as made
from item i, inventory v, day d, store_sale ss
where i.price between 30 and 90 and v.item_id = i.id and d.id = v.day_id and d.on_date between date '2022-05-25' and date '2022-05-25' + 30
  and i.maker_id between 10 and 40 and v.quantity between 100 and 300 and ss.item_id = i.id
group by 1 order by 2 desc, 1, 3, 4, 5 limit 100;

-- R83 items that come back in some months in all channels, and their parts
with sr as (
  select i.code, sum(x.quantity) as quantity from store_return x, item i, day d
  where x.item_id = i.id and x.day_id = d.id and d.on_date in (
    select on_date from day where month_no in (select month_no from day where on_date in ('2021-06-30', '2021-10-27', '2022-01-17')))
  group by 1),
cr as (
  select i.code, sum(x.quantity) as quantity from catalog_return x, item i, day d
  where x.item_id = i.id and x.day_id = d.id and d.on_date in (
    select on_date from day where month_no in (select month_no from day where on_date in ('2021-06-30', '2021-10-27', '2022-01-17')))
  group by 1),
wr as (
  select i.code, sum(x.quantity) as quantity from web_return x, item i, day d
  where x.item_id = i.id and x.day_id = d.id and d.on_date in (
    select on_date from day where month_no in (select month_no from day where on_date in ('2021-06-30', '2021-10-27', '2022-01-17')))
  group by 1)
select sr.code, sr.quantity as store, sr.quantity * 100.0 / (sr.quantity + cr.quantity + wr.quantity) / 3 as store_part,
  cr.quantity as catalog, wr.quantity as web, (sr.quantity + cr.quantity + wr.quantity) / 3.0 as mean
from sr, cr, wr where sr.code = cr.code and sr.code = wr.code order by 1, 2, 3, 4, 5, 6 limit 100;

-- R84 customers of a city and of some income who bring things back
select c.code, coalesce(c.last_name, '') || ', ' || coalesce(c.first_name, '') as name
from customer c, address a, demographic m, household h, income_band b, store_return sr
where a.city like 'Green%' and c.address_id = a.id and b.low >= 38128 and b.high <= 88128 and b.id = h.income_band_id
  and m.id = c.demographic_id and h.id = c.household_id and sr.customer_id = c.id
order by 1, 2 limit 100;

-- R85 why web orders come back, by pairs of like demographics or kinds of place
select substr(r.description, 1, 20) as reason, avg(ws.quantity) as quantity, avg(wr.cash) as cash, avg(wr.fee) as fee
from web_sale ws, web_return wr, web_page p, demographic m1, demographic m2, address a, day d, reason r
where ws.web_page_id = p.id and ws.item_id = wr.item_id and ws.order_no = wr.order_no and ws.day_id = d.id and d.year = 2022
  and m1.id = wr.demographic_id and m2.id = wr.to_demographic_id and a.id = wr.address_id and r.id = wr.reason_id
  and (m1.marital = 'M' and m1.marital = m2.marital and m1.education = 'advanced' and m1.education = m2.education
      and ws.price between 10 and 150
    or m1.marital = 'S' and m1.marital = m2.marital and m1.education in ('college', 'unknown') and m1.education = m2.education
    or m1.marital = 'W' and m1.marital = m2.marital and m1.education = 'primary' and m1.education = m2.education and ws.price > 5)
  and (a.state in ('TX', 'IL', 'NC') and ws.profit between 0 and 20000 or a.state in ('OH', 'GA', 'VA') or ws.profit > 300)
group by r.description order by 1, 2, 3, 4 limit 100;

-- R86 web revenue of categories and classes with ranks on each level [whole query]
select sum(ws.paid) as paid, i.category, i.class, grouping(i.category) + grouping(i.class) as level,
  rank() over (partition by grouping(i.category) + grouping(i.class), case when grouping(i.class) = 0 then i.category end
    order by sum(ws.paid) desc) as place
from web_sale ws, day d, item i
where d.month_no between 1452 and 1463 and d.id = ws.day_id and i.id = ws.item_id
group by cube (i.category, i.class) order by 4 desc, 2, 5, 3, 1 limit 100;

-- R87 how many customers buy in stores in a month, and not by catalog nor on the web [whole query]
select count(*) as customers
from (
  select distinct c.last_name, c.first_name, d.month_no from store_sale x, day d, customer c
  where x.day_id = d.id and x.customer_id = c.id and d.month_no between 1452 and 1463
  except
  select distinct c.last_name, c.first_name, d.month_no from catalog_sale x, day d, customer c
  where x.day_id = d.id and x.customer_id = c.id and d.month_no between 1452 and 1463
  except
  select distinct c.last_name, c.first_name, d.month_no from web_sale x, day d, customer c
  where x.day_id = d.id and x.customer_id = c.id and d.month_no between 1452 and 1463) x;

-- R88 how many lines a store has in each of four half hours
select *
from (select count(*) as h8 from store_sale x, household h, moment o, store s
    where x.moment_id = o.id and x.household_id = h.id and x.store_id = s.id and o.hour = 8 and o.minute >= 30
      and (h.dependents = 4 and h.vehicles <= 6 or h.dependents = 2 and h.vehicles <= 4 or h.dependents = 0 and h.vehicles <= 2)
      and s.name = 'ese') h1,
  (select count(*) as h9 from store_sale x, household h, moment o, store s
    where x.moment_id = o.id and x.household_id = h.id and x.store_id = s.id and o.hour = 9 and o.minute < 30
      and (h.dependents = 4 and h.vehicles <= 6 or h.dependents = 2 and h.vehicles <= 4 or h.dependents = 0 and h.vehicles <= 2)
      and s.name = 'ese') h2,
  (select count(*) as h10 from store_sale x, household h, moment o, store s
    where x.moment_id = o.id and x.household_id = h.id and x.store_id = s.id and o.hour = 10 and o.minute < 30
      and (h.dependents = 4 and h.vehicles <= 6 or h.dependents = 2 and h.vehicles <= 4 or h.dependents = 0 and h.vehicles <= 2)
      and s.name = 'ese') h3,
  (select count(*) as h12 from store_sale x, household h, moment o, store s
    where x.moment_id = o.id and x.household_id = h.id and x.store_id = s.id and o.hour = 12 and o.minute >= 30
      and (h.dependents = 4 and h.vehicles <= 6 or h.dependents = 2 and h.vehicles <= 4 or h.dependents = 0 and h.vehicles <= 2)
      and s.name = 'ese') h4;

-- R89 months in which a class sells less in a store than a part of its average month [whole query]
select *
from (
  select i.category, i.class, i.brand, s.name, s.market_id, d.month, sum(ss.price) as price,
    avg(sum(ss.price)) over (partition by i.category, i.brand, s.name, s.market_id) as mean
  from item i, store_sale ss, day d, store s
  where ss.item_id = i.id and ss.day_id = d.id and ss.store_id = s.id and d.year = 2020
    and (i.category in ('Kitchen', 'Books', 'Music') and i.class in ('family', 'basic', 'classic')
      or i.category in ('Clothes', 'Sports', 'Garden') and i.class in ('luxury', 'deluxe', 'outdoor'))
  group by 1, 2, 3, 4, 5, 6) x
where case when mean <> 0 then abs(price - mean) / mean end > 0.1
order by price - mean, 1, 2, 3, 4, 5, 6, 7, 8 limit 100;

-- R90 web lines of the morning over those of the evening
select morning * 1.0 / nullif(evening, 0) as ratio
from (select count(*) as morning from web_sale ws, household h, moment o, web_page p
    where ws.moment_id = o.id and ws.to_household_id = h.id and ws.web_page_id = p.id and o.hour between 8 and 9 and h.dependents = 6
      and p.characters between 2000 and 6000) x,
  (select count(*) as evening from web_sale ws, household h, moment o, web_page p
    where ws.moment_id = o.id and ws.to_household_id = h.id and ws.web_page_id = p.id and o.hour between 19 and 20 and h.dependents = 6
      and p.characters between 2000 and 6000) y;

-- R91 losses of call centers by returns of some customers
select t.code, t.name, t.manager, m.marital, m.education, sum(cr.loss) as loss
from call_center t, catalog_return cr, day d, customer c, address a, demographic m, household h
where cr.call_center_id = t.id and cr.day_id = d.id and cr.to_customer_id = c.id and m.id = c.demographic_id and h.id = c.household_id
  and a.id = c.address_id and d.year = 2021 and d.month in (11, 12)
  and (m.marital = 'M' and m.education = 'unknown' or m.marital = 'W' and m.education = 'advanced') and h.buy_potential like '%0'
  and a.offset_hours in (-5, -6)
group by 1, 2, 3, 4, 5 order by 6 desc, 1, 2, 3, 4, 5;

-- R92 web discounts of a line, ranked in its item, where they are above 1.3 times the average of the item [whole query]
select code, order_no, discount, place, mean
from (
  select i.code, ws.order_no, ws.discount, rank() over (partition by ws.item_id order by ws.discount desc) as place,
    avg(ws.discount) over (partition by ws.item_id) as mean
  from web_sale ws, item i, day d
  where ws.item_id = i.id and i.maker_id between 40 and 59 and d.id = ws.day_id and d.on_date between date '2022-10-27' and '2023-01-25') x
where discount > 1.3 * mean and place <= 3 order by 1, 4, 2, 3, 5 limit 100;

-- R93 what customers have really paid where things come back for a reason
select customer_id, sum(paid) as paid
from (
  select ss.customer_id,
    case when sr.quantity is not null then (ss.quantity - sr.quantity) * ss.price else ss.quantity * ss.price end as paid
  from store_sale ss left join store_return sr on sr.item_id = ss.item_id and sr.ticket = ss.ticket, reason r
  where sr.reason_id = r.id and r.description like 'did not fit%') x
group by 1 order by 2, 1 limit 100;

-- R94 web orders that several warehouses ship and of which nothing comes back [whole query]
select count(distinct ws.order_no) as orders, sum(ws.shipping) as shipping, sum(ws.profit) as profit
from web_sale ws, day d, address a, web_site s
where d.on_date between '2021-11-01' and '2021-12-31' and ws.ship_day_id = d.id and ws.to_address_id = a.id and a.state in ('OH', 'IL')
  and ws.web_site_id = s.id and s.company in ('pri', 'able', 'ought')
  and exists (select 1 from web_sale o where ws.order_no = o.order_no and ws.warehouse_id <> o.warehouse_id)
  and not exists (select 1 from web_return wr where ws.order_no = wr.order_no);

-- R95 web orders that several warehouses ship and of which something comes back [whole query]
with several as (
  select x.order_no, x.warehouse_id as one, y.warehouse_id as other from web_sale x, web_sale y
  where x.order_no = y.order_no and x.warehouse_id <> y.warehouse_id)
select count(distinct ws.order_no) as orders, sum(ws.shipping) as shipping, sum(ws.profit) as profit
from web_sale ws, day d, address a, web_site s
where d.on_date between '2020-11-01' and '2020-12-31' and ws.ship_day_id = d.id and ws.to_address_id = a.id and a.state = 'TX'
  and ws.web_site_id = s.id and s.company in ('pri', 'able') and ws.order_no in (select order_no from several)
  and ws.order_no in (select wr.order_no from web_return wr, several v where wr.order_no = v.order_no);

-- R96 how many lines a store has in half an hour
select count(*) as lines
from store_sale ss, household h, moment o, store s
where ss.moment_id = o.id and ss.household_id = h.id and ss.store_id = s.id and o.hour = 20 and o.minute >= 30 and h.dependents = 7
  and s.name = 'ese';

-- R97 pairs of customers and items in stores alone, by catalog alone, and in both
with ss as (
  select x.customer_id, x.item_id from store_sale x, day d where x.day_id = d.id and d.month_no between 1452 and 1463 group by 1, 2),
cs as (
  select x.customer_id, x.item_id from catalog_sale x, day d where x.day_id = d.id and d.month_no between 1452 and 1463 group by 1, 2)
select sum(case when ss.customer_id is not null and cs.customer_id is null then 1 else 0 end) as store,
  sum(case when ss.customer_id is null and cs.customer_id is not null then 1 else 0 end) as catalog,
  sum(case when ss.customer_id is not null and cs.customer_id is not null then 1 else 0 end) as both
from ss full join cs on ss.customer_id = cs.customer_id and ss.item_id = cs.item_id;

-- R98 store revenue of items, and their share in their class, for all versions of an item [whole query]
select code, category, class, versions, revenue, revenue * 100 / sum(revenue) over (partition by class) as share
from (
  select i.code, i.category, i.class, count(distinct i.id) as versions, sum(ss.total) as revenue
  from store_sale ss, item i, day d
  where ss.item_id = i.id and i.category in ('Garden', 'Music', 'Clothes') and ss.day_id = d.id
    and d.on_date between '2020-02-22' and '2020-03-23'
  group by 1, 2, 3) x
order by 2, 3, 1, 4, 5, 6;

-- R99 how many days catalog orders wait for a ship
select substr(w.name, 1, 12) as warehouse, m.kind, t.name, sum(case when cs.ship_day_id - cs.day_id <= 30 then 1 else 0 end) as "30",
  sum(case when cs.ship_day_id - cs.day_id > 30 and cs.ship_day_id - cs.day_id <= 60 then 1 else 0 end) as "60",
  sum(case when cs.ship_day_id - cs.day_id > 60 and cs.ship_day_id - cs.day_id <= 90 then 1 else 0 end) as "90",
  sum(case when cs.ship_day_id - cs.day_id > 90 then 1 else 0 end) as more
from catalog_sale cs, warehouse w, ship_mode m, call_center t, day d
where d.month_no between 1440 and 1451 and cs.ship_day_id = d.id and cs.warehouse_id = w.id and cs.ship_mode_id = m.id
  and cs.call_center_id = t.id
group by 1, 2, 3 order by 1, 2, 3, 4, 5, 6, 7 limit 100;
