-- retail_queries1.sql
--     The first 50 of 99 questions to the tables of retail_load.sql.  Each begins with a line that holds its number.
--
-- The questions have the shapes of decision support: stars, channels side by side, growth from year to year, subtotals.
-- "[whole query]" marks queries with grouping sets, correlated or DISTINCT aggregates, set operations or window functions.

-- R1 customers whose returns are above 1.2 times the average of their store [whole query]
with returned as (
  select sr.customer_id, sr.store_id, sum(sr.amount) as amount
  from store_return sr, day d where sr.day_id = d.id and d.year = 2021 group by 1, 2)
select c.code
from returned r, store s, customer c
where r.amount > (select avg(o.amount) * 1.2 from returned o where o.store_id = r.store_id)
  and s.id = r.store_id and s.state = 'TX' and c.id = r.customer_id
order by 1 limit 100;

-- R2 sales of two channels by weekday, each week over the same one a year later
with lines as (
  select day_id, total from web_sale union all select day_id, total from catalog_sale),
weeks as (
  select d.week_no, sum(case when d.weekday = 0 then l.total end) as sun, sum(case when d.weekday = 1 then l.total end) as mon,
    sum(case when d.weekday = 3 then l.total end) as wed, sum(case when d.weekday = 6 then l.total end) as sat
  from lines l, day d where l.day_id = d.id group by 1)
select y.week_no, round(y.sun / z.sun, 2) as sun, round(y.mon / z.mon, 2) as mon, round(y.wed / z.wed, 2) as wed,
  round(y.sat / z.sat, 2) as sat
from (select distinct w.* from weeks w, day d where w.week_no = d.week_no and d.year = 2020) y,
  (select distinct w.* from weeks w, day d where w.week_no = d.week_no and d.year = 2021) z
where y.week_no = z.week_no - 52 order by 1;

-- R3 brands of a maker in Novembers
select d.year, i.brand_id, i.brand, sum(ss.discount) as discount
from day d, store_sale ss, item i
where d.id = ss.day_id and ss.item_id = i.id and i.maker_id = 38 and d.month = 11
group by 1, 2, 3 order by 1, 4 desc, 2, 3 limit 100;

-- R4 customers who spend more by catalog from year to year, and by more than in stores and on the web
with years as (
  select c.id, c.code, c.first_name, c.last_name, d.year, 's' as channel, sum(ss.list_total - ss.cost_total - ss.discount) as spent
  from customer c, store_sale ss, day d where ss.customer_id = c.id and ss.day_id = d.id group by 1, 2, 3, 4, 5
  union all
  select c.id, c.code, c.first_name, c.last_name, d.year, 'c', sum(cs.list_total - cs.cost_total - cs.discount)
  from customer c, catalog_sale cs, day d where cs.customer_id = c.id and cs.day_id = d.id group by 1, 2, 3, 4, 5
  union all
  select c.id, c.code, c.first_name, c.last_name, d.year, 'w', sum(ws.list_total - ws.cost_total - ws.discount)
  from customer c, web_sale ws, day d where ws.customer_id = c.id and ws.day_id = d.id group by 1, 2, 3, 4, 5)
select s2.code, s2.first_name, s2.last_name
from years s1, years s2, years c1, years c2, years w1, years w2
where s2.id = s1.id and c1.id = s1.id and c2.id = s1.id and w1.id = s1.id and w2.id = s1.id
  and s1.channel = 's' and s1.year = 2021 and s1.spent > 0 and s2.channel = 's' and s2.year = 2022
  and c1.channel = 'c' and c1.year = 2021 and c1.spent > 0 and c2.channel = 'c' and c2.year = 2022
  and w1.channel = 'w' and w1.year = 2021 and w1.spent > 0 and w2.channel = 'w' and w2.year = 2022
  and c2.spent / c1.spent > s2.spent / s1.spent and c2.spent / c1.spent > w2.spent / w1.spent
order by 1, 2, 3 limit 100;

-- R5 sales, returns and profit of two weeks by channel and place, with subtotals [whole query]
with sold as (
  select 'store' as channel, 's' || ss.store_id as place, ss.day_id, ss.total, ss.profit, 0 as back, 0 as loss from store_sale ss
  union all
  select 'store', 's' || sr.store_id, sr.day_id, 0, 0, sr.amount, sr.loss from store_return sr
  union all
  select 'catalog', 'p' || cs.page_id, cs.day_id, cs.total, cs.profit, 0, 0 from catalog_sale cs
  union all
  select 'catalog', 'p' || cr.page_id, cr.day_id, 0, 0, cr.amount, cr.loss from catalog_return cr
  union all
  select 'web', 'w' || ws.web_site_id, ws.day_id, ws.total, ws.profit, 0, 0 from web_sale ws
  union all
  select 'web', 'w' || ws.web_site_id, wr.day_id, 0, 0, wr.amount, wr.loss
  from web_return wr left join web_sale ws on wr.item_id = ws.item_id and wr.order_no = ws.order_no)
select channel, place, sum(total) as total, sum(back) as back, sum(profit - loss) as profit
from sold, day d
where day_id = d.id and d.on_date between '2021-10-23' and '2021-11-06'
group by rollup (channel, place) order by 1, 2, 3, 4, 5 limit 100;

-- R6 states of customers who buy items at 1.2 times the price of their category [whole query]
select a.state, count(*) as lines
from address a, customer c, store_sale ss, day d, item i
where a.id = c.address_id and c.id = ss.customer_id and ss.day_id = d.id and ss.item_id = i.id
  and d.month_no = (select distinct m.month_no from day m where m.year = 2022 and m.month = 1)
  and i.price > 1.2 * (select avg(j.price) from item j where j.category = i.category)
group by 1 having count(*) >= 3 order by 2, 1 limit 100;

-- R7 what a kind of customer buys at promotions
select i.code, avg(ss.quantity) as quantity, avg(ss.list_price) as list, avg(ss.coupon) as coupon, avg(ss.price) as price
from store_sale ss, demographic m, day d, item i, promotion p
where ss.day_id = d.id and ss.item_id = i.id and ss.demographic_id = m.id and ss.promotion_id = p.id
  and m.gender = 'F' and m.marital = 'W' and m.education = 'primary' and (not p.by_email or not p.by_event) and d.year = 2021
group by 1 order by 1, 2, 3, 4, 5 limit 100;

-- R8 stores near zips where preferred customers live [whole query]
with zips as (
  select substr(zip, 1, 5) as zip from address where substr(zip, 1, 2) in ('10', '21', '24', '36', '45', '53', '60', '67', '78', '82')
  intersect
  select zip from (
    select substr(a.zip, 1, 5) as zip, count(*) as customers from address a, customer c
    where a.id = c.address_id and c.preferred = 'Y' group by 1 having count(*) > 2) preferred)
select s.name, s.id, sum(ss.profit) as profit
from store_sale ss, day d, store s, (select distinct substr(zip, 1, 1) as zip from zips) z
where ss.store_id = s.id and ss.day_id = d.id and d.quarter = 2 and d.year = 2020 and substr(s.zip, 1, 1) = z.zip
group by 1, 2 order by 1, 2 limit 100;

-- R9 a figure for each of five ranges of quantity, what it is depending on how many lines are in it
select
  case when (select count(*) from store_sale where quantity between 1 and 20) > 25000 * :scale
    then (select avg(discount) from store_sale where quantity between 1 and 20)
    else (select avg(paid) from store_sale where quantity between 1 and 20) end as bucket1,
  case when (select count(*) from store_sale where quantity between 21 and 40) > 2000000 * :scale
    then (select avg(discount) from store_sale where quantity between 21 and 40)
    else (select avg(paid) from store_sale where quantity between 21 and 40) end as bucket2,
  case when (select count(*) from store_sale where quantity between 41 and 60) > 25000 * :scale
    then (select avg(discount) from store_sale where quantity between 41 and 60)
    else (select avg(paid) from store_sale where quantity between 41 and 60) end as bucket3,
  case when (select count(*) from store_sale where quantity between 61 and 80) > 2000000 * :scale
    then (select avg(discount) from store_sale where quantity between 61 and 80)
    else (select avg(paid) from store_sale where quantity between 61 and 80) end as bucket4
from reason where id = 1;

-- R10 who lives in some counties, buys in stores, and on the web or by catalog as well
select m.gender, m.marital, m.education, m.purchase_estimate, m.credit, count(*) as customers
from customer c, address a, demographic m
where c.address_id = a.id and c.demographic_id = m.id and a.county in ('Adams County', 'Carter County', 'King County', 'Perry County')
  and exists (select 1 from store_sale ss, day d
    where ss.customer_id = c.id and ss.day_id = d.id and d.year = 2020 and d.month between 2 and 5)
  and (exists (select 1 from web_sale ws, day d
      where ws.customer_id = c.id and ws.day_id = d.id and d.year = 2020 and d.month between 2 and 5)
    or exists (select 1 from catalog_sale cs, day d
      where cs.to_customer_id = c.id and cs.day_id = d.id and d.year = 2020 and d.month between 2 and 5))
group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5 limit 100;

-- R11 preferred customers whose web orders grow faster than their store tickets
with years as (
  select c.id, c.code, c.preferred, d.year, 's' as channel, sum(ss.list_total - ss.discount) as spent
  from customer c join store_sale ss on ss.customer_id = c.id join day d on ss.day_id = d.id group by c.id, c.code, c.preferred, d.year
  union all
  select c.id, c.code, c.preferred, d.year, 'w', sum(ws.list_total - ws.discount)
  from customer c join web_sale ws on ws.customer_id = c.id join day d on ws.day_id = d.id group by c.id, c.code, c.preferred, d.year)
select s2.code, s2.preferred
from years s1 join years s2 on s2.id = s1.id join years w1 on w1.id = s1.id join years w2 on w2.id = s1.id
where s1.channel = 's' and w1.channel = 'w' and s2.channel = 's' and w2.channel = 'w'
  and s1.year = 2019 and s2.year = 2020 and w1.year = 2019 and w2.year = 2020 and s1.spent > 0 and w1.spent > 0
  and w2.spent / w1.spent > s2.spent / s1.spent
order by 1, 2 limit 100;

-- R12 web revenue of items, and their share in their class [whole query]
select i.code, i.category, i.class, i.price, sum(ws.total) as revenue,
  sum(ws.total) * 100 / sum(sum(ws.total)) over (partition by i.class) as share
from web_sale ws, item i, day d
where ws.item_id = i.id and i.category in ('Sports', 'Books', 'Pets') and ws.day_id = d.id
  and d.on_date between '2022-02-22' and '2022-03-24'
group by i.id, i.code, i.category, i.class, i.price order by 2, 3, 1, 6, 4, 5 limit 100;

-- R13 averages over customers of one of three kinds who live in one of three groups of states
select avg(ss.quantity) as quantity, avg(ss.total) as total, avg(ss.cost_total) as cost, sum(ss.cost_total) as costs
from store_sale ss, store s, demographic m, household h, address a, day d
where s.id = ss.store_id and ss.day_id = d.id and d.year = 2021 and ss.household_id = h.id and ss.demographic_id = m.id
  and ss.address_id = a.id
  and (m.marital = 'M' and m.education = 'advanced' and ss.price between 20 and 90 and h.dependents = 3
    or m.marital = 'S' and m.education = 'college' and ss.price between 5 and 50 and h.dependents = 1
    or m.marital = 'W' and m.education = 'two years' and ss.price between 40 and 120 and h.dependents = 1)
  and (a.state in ('TX', 'OH', 'IL') and ss.profit between 100 and 20000 or a.state in ('GA', 'KY', 'MO') and ss.profit > -500
    or a.state in ('VA', 'KS', 'IA') and ss.profit between -250 and 25000);

-- R14 brands that all channels sell, where a channel sells more than the average line [whole query]
with shared as (
  select i.id from item i, (
    select j.brand_id, j.class_id, j.category_id from store_sale x, item j, day d
    where x.item_id = j.id and x.day_id = d.id and d.year between 2020 and 2022
    intersect
    select j.brand_id, j.class_id, j.category_id from catalog_sale x, item j, day d
    where x.item_id = j.id and x.day_id = d.id and d.year between 2020 and 2022
    intersect
    select j.brand_id, j.class_id, j.category_id from web_sale x, item j, day d
    where x.item_id = j.id and x.day_id = d.id and d.year between 2020 and 2022) b
  where i.brand_id = b.brand_id and i.class_id = b.class_id and i.category_id = b.category_id),
typical as (
  select avg(list_total) as total from (
    select list_total, day_id from store_sale union all select list_total, day_id from catalog_sale
    union all select list_total, day_id from web_sale) x, day d where x.day_id = d.id and d.year between 2020 and 2022)
select channel, brand_id, class_id, category_id, sum(total) as total, sum(lines) as lines
from (
  select 'store' as channel, i.brand_id, i.class_id, i.category_id, sum(x.list_total) as total, count(*) as lines
  from store_sale x, item i, day d where x.item_id in (select id from shared) and x.item_id = i.id and x.day_id = d.id
    and d.year = 2022 and d.month = 11 group by 1, 2, 3, 4 having sum(x.list_total) > (select total from typical)
  union all
  select 'catalog', i.brand_id, i.class_id, i.category_id, sum(x.list_total), count(*)
  from catalog_sale x, item i, day d where x.item_id in (select id from shared) and x.item_id = i.id and x.day_id = d.id
    and d.year = 2022 and d.month = 11 group by 1, 2, 3, 4 having sum(x.list_total) > (select total from typical)
  union all
  select 'web', i.brand_id, i.class_id, i.category_id, sum(x.list_total), count(*)
  from web_sale x, item i, day d where x.item_id in (select id from shared) and x.item_id = i.id and x.day_id = d.id
    and d.year = 2022 and d.month = 11 group by 1, 2, 3, 4 having sum(x.list_total) > (select total from typical)) channels
group by rollup (channel, brand_id, class_id, category_id) order by 1, 2, 3, 4, 5, 6 limit 100;

-- R15 catalog revenue by zip: of some zips, of some states, or of dear lines
select a.zip, sum(cs.price) as price
from catalog_sale cs, customer c, address a, day d
where cs.customer_id = c.id and c.address_id = a.id and cs.day_id = d.id and d.quarter = 2 and d.year = 2021
  and (substr(a.zip, 1, 5) in ('10000', '37883', '48766', '62649', '76532', '90415') or a.state in ('CA', 'WA', 'GA') or cs.price > 199)
group by 1 order by 1, 2 limit 100;

-- R16 catalog orders that several warehouses ship and of which nothing comes back [whole query]
select count(distinct cs.order_no) as orders, sum(cs.shipping) as shipping, sum(cs.profit) as profit
from catalog_sale cs, day d, address a, call_center t
where d.on_date between '2022-02-01' and '2022-04-02' and cs.ship_day_id = d.id and cs.to_address_id = a.id and a.state = 'GA'
  and cs.call_center_id = t.id and t.class in ('small', 'medium', 'large')
  and exists (select 1 from catalog_sale o where o.order_no = cs.order_no and o.warehouse_id <> cs.warehouse_id)
  and not exists (select 1 from catalog_return cr where cr.order_no = cs.order_no);

-- R17 what is bought in stores, returned, and bought by catalog: statistics of quantities
select i.code, i.description, s.state, count(ss.quantity) as n, avg(ss.quantity) as sold, stddev_samp(ss.quantity) as sold_deviation,
  avg(sr.quantity) as back, stddev_samp(sr.quantity) as back_deviation, count(cs.quantity) as ordered, avg(cs.quantity) as again
from store_sale ss, store_return sr, catalog_sale cs, day d1, day d2, day d3, store s, item i
where d1.quarter_no = 483 and d1.id = ss.day_id and i.id = ss.item_id and s.id = ss.store_id
  and ss.customer_id = sr.customer_id and ss.item_id = sr.item_id and ss.ticket = sr.ticket
  and sr.day_id = d2.id and d2.quarter_no between 483 and 485
  and sr.customer_id = cs.customer_id and sr.item_id = cs.item_id and cs.day_id = d3.id and d3.year between 2019 and 2023
group by 1, 2, 3 order by 1, 2, 3 limit 100;

-- R18 averages of catalog lines by item and place of some customers, with subtotals [whole query]
select i.code, a.country, a.state, a.county, avg(cs.quantity) as quantity, avg(cs.list_price) as list, avg(cs.coupon) as coupon,
  avg(cs.profit) as profit, avg(c.birth_year) as born, avg(m1.dependents) as dependents
from catalog_sale cs, demographic m1, demographic m2, customer c, address a, day d, item i
where cs.day_id = d.id and cs.item_id = i.id and cs.demographic_id = m1.id and cs.customer_id = c.id
  and m1.gender = 'F' and m1.education = 'unknown' and c.demographic_id = m2.id and c.address_id = a.id
  and c.birth_month in (1, 6, 8, 9, 12, 2) and d.year = 2021 and a.state in ('TX', 'OH', 'IL', 'IN', 'VA', 'MS', 'NC')
group by rollup (i.code, a.country, a.state, a.county) order by 2, 3, 4, 1, 5, 6, 7, 8, 9, 10 limit 100;

-- R19 brands that customers buy far from their homes
select i.brand_id, i.brand, i.maker_id, i.maker, sum(ss.total) as total
from day d, store_sale ss, item i, customer c, address a, store s
where d.id = ss.day_id and ss.item_id = i.id and i.manager_id between 7 and 9 and d.month = 11 and d.year = 2020
  and ss.customer_id = c.id and c.address_id = a.id and substr(a.zip, 1, 5) <> substr(s.zip, 1, 5) and ss.store_id = s.id
group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4 limit 100;

-- R20 the five items of each class that the catalog sells most of [whole query]
select category, class, place, code, revenue
from (
  select i.category, i.class, i.code, sum(cs.total) as revenue,
    rank() over (partition by i.category, i.class order by sum(cs.total) desc) as place
  from catalog_sale cs, item i, day d
  where cs.item_id = i.id and i.category in ('Shoes', 'Toys', 'Kitchen') and cs.day_id = d.id
    and d.on_date between date '2021-01-26' and date '2021-01-26' + 60
  group by 1, 2, 3) ranked
where place <= 5 order by 1, 2, 3, 4, 5 limit 100;

-- R21 inventory of cheap items in the months before and after a date
select warehouse, code, before, after
from (
  select w.name as warehouse, i.code, sum(case when d.on_date < '2021-03-11' then v.quantity else 0 end) as before,
    sum(case when d.on_date >= '2021-03-11' then v.quantity else 0 end) as after
  from inventory v, warehouse w, item i, day d
  where i.price between 0.99 and 5.49 and i.id = v.item_id and v.warehouse_id = w.id and v.day_id = d.id
    and d.on_date between date '2021-03-11' - 30 and date '2021-03-11' + 30
  group by 1, 2) x
where case when before > 0 then after * 1.0 / before end between 2.0 / 3 and 3.0 / 2
order by 1, 2, 3, 4 limit 100;

-- R22 average inventory of a year by name, brand, class and category, with subtotals [whole query]
select i.name, i.brand, i.class, i.category, avg(v.quantity) as quantity
from inventory v, day d, item i
where v.day_id = d.id and v.item_id = i.id and d.month_no between 1440 and 1451
group by rollup (i.name, i.brand, i.class, i.category) order by 5, 1, 2, 3, 4 limit 100;

-- R23 what the best customers pay by catalog and on the web for what sells often in stores
with often as (
  select i.id, d.on_date, count(*) as lines from store_sale ss, day d, item i
  where ss.day_id = d.id and ss.item_id = i.id and d.year between 2020 and 2023 group by 1, 2 having count(*) > 2),
most as (
  select max(spent) as spent from (
    select ss.customer_id, sum(ss.quantity * ss.price) as spent from store_sale ss, customer c, day d
    where ss.customer_id = c.id and ss.day_id = d.id and d.year between 2020 and 2023 group by 1) x),
best as (
  select c.id from store_sale ss, customer c where ss.customer_id = c.id
  group by 1 having sum(ss.quantity * ss.price) > 0.2 * (select spent from most))
select sum(paid) as paid
from (
  select cs.quantity * cs.list_price as paid from catalog_sale cs, day d
  where d.year = 2022 and d.month = 11 and cs.day_id = d.id and cs.item_id in (select id from often)
    and cs.customer_id in (select id from best)
  union all
  select ws.quantity * ws.list_price from web_sale ws, day d
  where d.year = 2022 and d.month = 11 and ws.day_id = d.id and ws.item_id in (select id from often)
    and ws.customer_id in (select id from best)) x;

-- R24 customers who pay more than a part of the average for what they take back of a colour
with taken as (
  select c.last_name, c.first_name, s.name, a.state, i.colour, i.price, i.size, sum(ss.paid) as paid
  from store_sale ss, store_return sr, store s, item i, customer c, address a
  where ss.ticket = sr.ticket and ss.item_id = sr.item_id and ss.customer_id = c.id and ss.item_id = i.id and ss.store_id = s.id
    and c.address_id = a.id and c.birth_country = 'United States' and a.state = s.state
  group by 1, 2, 3, 4, 5, 6, 7)
select last_name, first_name, name, sum(paid) as paid
from taken where colour = 'olive'
group by 1, 2, 3 having sum(paid) > (select 0.05 * avg(paid) from taken) order by 1, 2, 3, 4;

-- R25 profit of what is bought in stores, returned, and bought by catalog later
select i.code, i.description, s.code as store, s.name, sum(ss.profit) as sold, sum(sr.loss) as back, sum(cs.profit) as again
from store_sale ss, store_return sr, catalog_sale cs, day d1, day d2, day d3, store s, item i
where d1.month between 4 and 12 and d1.year = 2021 and d1.id = ss.day_id and i.id = ss.item_id and s.id = ss.store_id
  and ss.customer_id = sr.customer_id and ss.item_id = sr.item_id and ss.ticket = sr.ticket
  and sr.day_id = d2.id and d2.on_date between '2021-04-01' and '2022-03-31'
  and sr.customer_id = cs.customer_id and sr.item_id = cs.item_id and cs.day_id = d3.id and d3.on_date >= '2021-04-01'
group by 1, 2, 3, 4 order by 1, 2, 3, 4 limit 100;

-- R26 items of which a kind of customer orders more than the average line by catalog
select i.code, avg(cs.quantity) as quantity, avg(cs.list_price) as list, avg(cs.coupon) as coupon, avg(cs.price) as price
from catalog_sale cs, demographic m, day d, item i, promotion p
where cs.day_id = d.id and cs.item_id = i.id and cs.demographic_id = m.id and cs.promotion_id = p.id and m.gender = 'M'
  and m.marital in ('S', 'D') and m.education like '%college' and (not p.by_mail or not p.by_tv) and d.year = 2022
group by 1 having avg(cs.quantity) > (select avg(quantity) from catalog_sale) order by 1, 2, 3, 4, 5 limit 100;

-- R27 averages of store lines by item and state, with subtotals [whole query]
select i.code, s.state, grouping(s.state) as all_states, avg(ss.quantity) as quantity, avg(ss.list_price) as list,
  avg(ss.coupon) as coupon, avg(ss.price) as price
from store_sale ss, demographic m, day d, store s, item i
where ss.day_id = d.id and ss.item_id = i.id and ss.store_id = s.id and ss.demographic_id = m.id
  and m.gender = 'M' and m.marital = 'U' and m.education = 'secondary' and d.year = 2019 and s.state in ('TX', 'OH', 'IL')
group by rollup (i.code, s.state) order by 1, 2, 3, 4, 5, 6, 7 limit 100;

-- R28 list prices in six ranges of quantity: average, how many, and how many different [whole query]
select *
from (select avg(list_price) as a1, count(list_price) as n1, count(distinct list_price) as u1 from store_sale
    where quantity between 0 and 5 and (list_price between 8 and 18 or coupon between 459 and 1459 or cost between 57 and 77)) b1,
  (select avg(list_price) as a2, count(list_price) as n2, count(distinct list_price) as u2 from store_sale
    where quantity between 6 and 10 and (list_price between 90 and 100 or coupon between 323 and 1323 or cost between 31 and 51)) b2,
  (select avg(list_price) as a3, count(list_price) as n3, count(distinct list_price) as u3 from store_sale
    where quantity between 11 and 15 and (list_price between 42 and 52 or coupon between 214 and 1214 or cost between 79 and 99)) b3,
  (select avg(list_price) as a4, count(list_price) as n4, count(distinct list_price) as u4 from store_sale
    where quantity between 16 and 20 and (list_price between 35 and 45 or coupon between 60 and 1060 or cost between 38 and 58)) b4,
  (select avg(list_price) as a5, count(list_price) as n5, count(distinct list_price) as u5 from store_sale
    where quantity between 21 and 25 and (list_price between 22 and 32 or coupon between 85 and 1085 or cost between 17 and 37)) b5,
  (select avg(list_price) as a6, count(list_price) as n6, count(distinct list_price) as u6 from store_sale
    where quantity between 26 and 30 and (list_price between 13 and 23 or coupon between 26 and 1026 or cost between 70 and 90)) b6;

-- R29 quantities that stores sell, get back, and that may be ordered by catalog afterwards
select i.code, s.code as store, sum(ss.quantity) as sold, max(sr.quantity) as back, count(cs.order_no) as orders,
  sum(cs.quantity) as again
from store_sale ss join day d1 on d1.id = ss.day_id join item i on i.id = ss.item_id join store s on s.id = ss.store_id
  join store_return sr on ss.customer_id = sr.customer_id and ss.item_id = sr.item_id and ss.ticket = sr.ticket
  join day d2 on sr.day_id = d2.id
  left join (catalog_sale cs join day d3 on cs.day_id = d3.id and d3.year in (2021, 2022, 2023))
    on sr.customer_id = cs.customer_id and sr.item_id = cs.item_id
where d1.month = 9 and d1.year = 2021 and d2.month between 9 and 12 and d2.year = 2021
group by 1, 2 order by 5 desc, 1, 2, 3, 4, 6 limit 100;

-- R30 customers whose web returns are above 1.2 times the average of their state [whole query]
with returned as (
  select wr.to_customer_id as customer_id, a.state, sum(wr.amount) as amount
  from web_return wr, day d, address a where wr.day_id = d.id and d.year = 2022 and wr.to_address_id = a.id group by 1, 2)
select c.code, c.title, c.first_name, c.last_name, c.preferred, c.birth_year, r.amount
from returned r, address a, customer c
where r.amount > (select avg(o.amount) * 1.2 from returned o where o.state = r.state)
  and a.id = c.address_id and a.state = 'OH' and c.id = r.customer_id
order by 1, 2, 3, 4, 5, 6, 7 limit 100;

-- R31 counties where the web grows faster than stores from quarter to quarter
with store_sales as (
  select a.county, d.quarter, d.year, sum(ss.total) as total from store_sale ss, day d, address a
  where ss.day_id = d.id and ss.address_id = a.id group by 1, 2, 3),
web_sales as (
  select a.county, d.quarter, d.year, sum(ws.total) as total from web_sale ws, day d, address a
  where ws.day_id = d.id and ws.address_id = a.id group by 1, 2, 3)
select s1.county, s1.year, w2.total / w1.total as web12, s2.total / s1.total as store12, w3.total / w2.total as web23,
  s3.total / s2.total as store23
from store_sales s1, store_sales s2, store_sales s3, web_sales w1, web_sales w2, web_sales w3
where s1.quarter = 1 and s1.year = 2021 and s2.county = s1.county and s2.quarter = 2 and s2.year = 2021 and s3.county = s1.county
  and s3.quarter = 3 and s3.year = 2021 and w1.county = s1.county and w1.quarter = 1 and w1.year = 2021 and w2.county = s1.county
  and w2.quarter = 2 and w2.year = 2021 and w3.county = s1.county and w3.quarter = 3 and w3.year = 2021
  and w1.total > 0 and w2.total > 0 and w2.total / w1.total > s2.total / s1.total and w3.total / w2.total > s3.total / s2.total
order by 1, 2, 3, 4, 5, 6;

-- R32 catalog discounts above 1.3 times the average of their item in a quarter [whole query]
select sum(cs.discount) as discount
from catalog_sale cs, item i, day d
where i.maker_id between 20 and 29 and i.id = cs.item_id and d.on_date between date '2021-01-27' and date '2021-01-27' + 90
  and d.id = cs.day_id
  and cs.discount > (select 1.3 * avg(o.discount) from catalog_sale o, day e
    where o.item_id = i.id and e.on_date between date '2021-01-27' and date '2021-01-27' + 90 and e.id = o.day_id);

-- R33 makers of a category in a month and time zone, all channels
with store_part as (
  select i.maker_id, sum(x.total) as total from store_sale x, day d, address a, item i
  where i.maker_id in (select maker_id from item where category = 'Books') and x.item_id = i.id and x.day_id = d.id
    and d.year = 2019 and d.month = 5 and x.address_id = a.id and a.offset_hours = -5 group by 1),
catalog_part as (
  select i.maker_id, sum(x.total) as total from catalog_sale x, day d, address a, item i
  where i.maker_id in (select maker_id from item where category = 'Books') and x.item_id = i.id and x.day_id = d.id
    and d.year = 2019 and d.month = 5 and x.address_id = a.id and a.offset_hours = -5 group by 1),
web_part as (
  select i.maker_id, sum(x.total) as total from web_sale x, day d, address a, item i
  where i.maker_id in (select maker_id from item where category = 'Books') and x.item_id = i.id and x.day_id = d.id
    and d.year = 2019 and d.month = 5 and x.address_id = a.id and a.offset_hours = -5 group by 1)
select maker_id, sum(total) as total
from (select * from store_part union all select * from catalog_part union all select * from web_part) x
group by 1 order by 2, 1 limit 100;

-- R34 tickets of many items at the begin and end of months, and who has them
select c.last_name, c.first_name, c.title, c.preferred, t.ticket, t.lines
from (
  select ss.ticket, ss.customer_id, count(*) as lines
  from store_sale ss, day d, store s, household h
  where ss.day_id = d.id and ss.store_id = s.id and ss.household_id = h.id
    and (d.day_of_month between 1 and 3 or d.day_of_month between 25 and 28) and h.buy_potential in ('above 10000', 'unknown')
    and h.vehicles > 0 and case when h.vehicles > 0 then h.dependents * 1.0 / h.vehicles end > 1.2 and d.year in (2020, 2021, 2022)
    and s.county in ('Adams County', 'Dawson County', 'Grant County', 'King County')
  group by 1, 2) t, customer c
where t.customer_id = c.id and t.lines between 13 and 16
order by 1, 2, 3, 4 desc, 5, 6;

-- R35 the families of customers who buy in stores, and on the web or by catalog
select a.state, m.gender, m.marital, m.dependents, count(*) as customers, min(m.employed) as least, max(m.employed) as most,
  avg(m.college) as college
from customer c, address a, demographic m
where c.address_id = a.id and m.id = c.demographic_id
  and exists (select 1 from store_sale ss, day d
    where ss.customer_id = c.id and ss.day_id = d.id and d.year = 2022 and d.quarter < 4)
  and (exists (select 1 from web_sale ws, day d
      where ws.customer_id = c.id and ws.day_id = d.id and d.year = 2022 and d.quarter < 4)
    or exists (select 1 from catalog_sale cs, day d
      where cs.to_customer_id = c.id and cs.day_id = d.id and d.year = 2022 and d.quarter < 4))
group by 1, 2, 3, 4 order by 1, 2, 3, 4, 5, 6, 7, 8 limit 100;

-- R36 profit margins of categories and classes, ranked on each level [whole query]
select sum(ss.profit) / sum(ss.total) as margin, i.category, i.class, grouping(i.category) + grouping(i.class) as level,
  rank() over (partition by grouping(i.category) + grouping(i.class), case when grouping(i.class) = 0 then i.category end
    order by sum(ss.profit) / sum(ss.total)) as place
from store_sale ss, day d, item i, store s
where d.year = 2020 and d.id = ss.day_id and i.id = ss.item_id and s.id = ss.store_id and s.state in ('TX', 'OH')
group by rollup (i.category, i.class) order by 4 desc, case when grouping(i.category) + grouping(i.class) = 0 then i.category end,
  5, 2, 3, 1 limit 100;

-- R37 items in stock within a range that the catalog sells
select i.code, i.description, i.price
from item i, inventory v, day d, catalog_sale cs
where i.price between 20 and 50 and v.item_id = i.id and d.id = v.day_id
  and d.on_date between date '2020-02-01' and date '2020-02-01' + 60 and i.maker_id in (10, 23, 38, 41, 56, 77)
  and v.quantity between 100 and 500 and cs.item_id = i.id
group by 1, 2, 3 order by 1, 2, 3 limit 100;

-- R38 how many customers buy in all channels in a quarter [whole query]
select count(*) as customers
from (
  select distinct c.last_name, c.first_name, d.quarter_no from store_sale x, day d, customer c
  where x.day_id = d.id and x.customer_id = c.id and d.year between 2020 and 2022
  intersect
  select distinct c.last_name, c.first_name, d.quarter_no from catalog_sale x, day d, customer c
  where x.day_id = d.id and x.customer_id = c.id and d.year between 2020 and 2022
  intersect
  select distinct c.last_name, c.first_name, d.quarter_no from web_sale x, day d, customer c
  where x.day_id = d.id and x.customer_id = c.id and d.year between 2020 and 2022) x;

-- R39 items whose stock varies much in two months in a row
with stocks as (
  select w.id as warehouse_id, i.id as item_id, d.month, stddev_samp(v.quantity) as deviation, avg(v.quantity) as mean
  from inventory v, item i, warehouse w, day d
  where v.item_id = i.id and v.warehouse_id = w.id and v.day_id = d.id and d.year = 2021 group by 1, 2, 3),
varying as (select *, case when mean > 0 then deviation / mean end as variation from stocks where deviation / nullif(mean, 0) > 1)
select a.warehouse_id, a.item_id, a.month, a.mean, a.variation, b.month as next_month, b.mean as next_mean, b.variation as next_variation
from varying a, varying b
where a.item_id = b.item_id and a.warehouse_id = b.warehouse_id and a.month + 1 = b.month and a.variation > 1.05
order by 1, 2, 3, 4, 5, 6, 7, 8;

-- R40 catalog revenue less returns before and after a date, by the warehouse's state
select w.state, i.code, sum(case when d.on_date < '2022-03-11' then cs.price - coalesce(cr.cash, 0) else 0 end) as before,
  sum(case when d.on_date >= '2022-03-11' then cs.price - coalesce(cr.cash, 0) else 0 end) as after
from catalog_sale cs left join catalog_return cr on cs.order_no = cr.order_no and cs.item_id = cr.item_id, warehouse w, item i, day d
where i.price between 5.99 and 25.49 and i.id = cs.item_id and cs.warehouse_id = w.id and cs.day_id = d.id
  and d.on_date between date '2022-03-11' - 30 and date '2022-03-11' + 30
group by 1, 2 order by 1, 2, 3, 4 limit 100;

-- R41 items of makers who have something of certain colours and sizes [whole query]
select distinct i.name
from item i
where i.maker_id between 30 and 60
  and (select count(*) from item j
    where j.maker = i.maker and (j.category = 'Clothes' and j.colour in ('olive', 'gold') and j.unit in ('box', 'gram')
        and j.size in ('medium', 'petite')
      or j.category = 'Shoes' and j.colour in ('lime', 'teal') and j.unit in ('each', 'dozen') and j.size in ('small', 'large')
      or j.category = 'Sports' and j.colour in ('navy', 'plum') and j.unit in ('case', 'pound') and j.size = 'extra large')) > 0
order by 1 limit 100;

-- R42 categories of some managers in a month
select d.year, i.category_id, i.category, sum(ss.total) as total
from day d, store_sale ss, item i
where d.id = ss.day_id and ss.item_id = i.id and i.manager_id <= 10 and d.month = 12 and d.year = 2021
group by 1, 2, 3 order by 4 desc, 1, 2, 3 limit 100;

-- R43 store sales of a year by weekday
select s.name, s.code, sum(case when d.weekday_name = 'Sunday' then ss.price end) as sun,
  sum(case when d.weekday_name = 'Monday' then ss.price end) as mon, sum(case when d.weekday_name = 'Tuesday' then ss.price end) as tue,
  sum(case when d.weekday_name = 'Wednesday' then ss.price end) as wed, sum(case when d.weekday_name = 'Friday' then ss.price end) as fri,
  count(*) filter (where d.holiday) as on_holidays
from day d, store_sale ss, store s
where d.id = ss.day_id and s.id = ss.store_id and s.offset_hours = -5 and d.year = 2022
group by 1, 2 order by 1, 2, 3, 4, 5, 6, 7, 8 limit 100;

-- R44 the best and the worst items of a store by average profit, side by side [whole query]
with means as (
  select item_id, avg(profit) as mean from store_sale where store_id = 4 group by 1
  having avg(profit) > 0.9 * (select avg(profit) from store_sale where store_id = 4 and address_id is null group by store_id))
select up.place, i.name as best, j.name as worst
from (select item_id, rank() over (order by mean desc, item_id) as place from means) up,
  (select item_id, rank() over (order by mean, item_id) as place from means) down, item i, item j
where up.place = down.place and up.place < 11 and i.id = up.item_id and j.id = down.item_id order by 1;

-- R45 web revenue by zip and city: of some zips, or of items with some codes
select a.zip, a.city, sum(ws.price) as price
from web_sale ws, customer c, address a, day d, item i
where ws.customer_id = c.id and c.address_id = a.id and ws.item_id = i.id and ws.day_id = d.id and d.quarter = 2 and d.year = 2021
  and (substr(a.zip, 1, 5) in ('10000', '37883', '48766', '62649', '76532', '90415')
    or i.code in (select j.code from item j where j.id in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)))
group by 1, 2 order by 1, 2, 3 limit 100;

-- R46 weekend tickets that are bought in another city than the customer lives in now
select c.last_name, c.first_name, a.city, t.bought_city, t.ticket, t.coupon, t.profit
from (
  select ss.ticket, ss.customer_id, b.city as bought_city, sum(ss.coupon) as coupon, sum(ss.profit) as profit
  from store_sale ss, day d, store s, household h, address b
  where ss.day_id = d.id and ss.store_id = s.id and ss.household_id = h.id and ss.address_id = b.id
    and (h.dependents = 5 or h.vehicles = 3) and d.weekend and d.year in (2019, 2020, 2021)
    and s.city in ('Greenton', 'Unionfield', 'Oakville', 'Cedarton', 'Franktown', 'Clinwood')
  group by 1, 2, 3) t, customer c, address a
where t.customer_id = c.id and c.address_id = a.id and a.city <> t.bought_city
order by 1, 2, 3, 4, 5, 6, 7 limit 100;

-- R47 months in which a brand's sales in a store deviate from its year, with the months before and after [whole query]
with months as (
  select i.category, i.brand, s.name, s.code, d.year, d.month, sum(ss.price) as price,
    avg(sum(ss.price)) over (partition by i.category, i.brand, s.name, s.code, d.year) as mean,
    rank() over (partition by i.category, i.brand, s.name, s.code order by d.year, d.month) as number
  from item i, store_sale ss, day d, store s
  where ss.item_id = i.id and ss.day_id = d.id and ss.store_id = s.id
    and (d.year = 2021 or d.year = 2020 and d.month = 12 or d.year = 2022 and d.month = 1)
  group by 1, 2, 3, 4, 5, 6)
select m.category, m.brand, m.name, m.code, m.year, m.month, m.mean, m.price, b.price as before, a.price as after
from months m, months b, months a
where m.category = b.category and m.category = a.category and m.brand = b.brand and m.brand = a.brand and m.code = b.code
  and m.code = a.code and m.name = b.name and m.name = a.name and m.number = b.number + 1 and m.number = a.number - 1
  and m.year = 2021 and m.mean > 0 and abs(m.price - m.mean) / m.mean > 0.1
order by m.price - m.mean, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 limit 100;

-- R48 quantities that one of several kinds of customer buys at some price in some states
select sum(ss.quantity) as quantity
from store_sale ss, store s, demographic m, address a, day d
where s.id = ss.store_id and ss.day_id = d.id and d.year = 2020
  and (m.id = ss.demographic_id and m.marital = 'W' and m.education = 'secondary' and ss.price between 10 and 150
    or m.id = ss.demographic_id and m.marital = 'M' and m.education = 'college' and ss.price between 50 and 100
    or m.id = ss.demographic_id and m.marital = 'D' and m.education = 'advanced' and ss.price between 15 and 200)
  and (ss.address_id = a.id and a.state in ('TX', 'KY', 'MI') and ss.profit between 0 and 2000
    or ss.address_id = a.id and a.state in ('OH', 'GA', 'NC') and ss.profit between 150 and 3000
    or ss.address_id = a.id and a.state in ('IL', 'MO', 'CA') and ss.profit between 50 and 25000);

-- R49 items with the highest part returned, by number and by money, in each channel [whole query]
select channel, item_id, by_quantity, by_money, place, money_place
from (
  select *, rank() over (partition by channel order by by_quantity, item_id) as place,
    rank() over (partition by channel order by by_money, item_id) as money_place
  from (
    select 'web' as channel, s.item_id, sum(coalesce(r.quantity, 0)) * 1.0 / sum(s.quantity) as by_quantity,
      sum(coalesce(r.amount, 0)) / sum(s.paid) as by_money
    from web_sale s left join web_return r on s.order_no = r.order_no and s.item_id = r.item_id, day d
    where r.amount > 1000 and s.profit > 1 and s.paid > 0 and s.quantity > 0 and s.day_id = d.id and d.year = 2021 and d.month > 9
    group by 2
    union all
    select 'catalog', s.item_id, sum(coalesce(r.quantity, 0)) * 1.0 / sum(s.quantity), sum(coalesce(r.amount, 0)) / sum(s.paid)
    from catalog_sale s left join catalog_return r on s.order_no = r.order_no and s.item_id = r.item_id, day d
    where r.amount > 1000 and s.profit > 1 and s.paid > 0 and s.quantity > 0 and s.day_id = d.id and d.year = 2021 and d.month > 9
    group by 2
    union all
    select 'store', s.item_id, sum(coalesce(r.quantity, 0)) * 1.0 / sum(s.quantity), sum(coalesce(r.amount, 0)) / sum(s.paid)
    from store_sale s left join store_return r on s.ticket = r.ticket and s.item_id = r.item_id, day d
    where r.amount > 1000 and s.profit > 1 and s.paid > 0 and s.quantity > 0 and s.day_id = d.id and d.year = 2021 and d.month > 9
    group by 2) parts) ranked
where place <= 10 or money_place <= 10 order by 1, 5, 6, 2, 3, 4 limit 100;

-- R50 how many days pass until items come back to a store
select s.name, s.code, s.market_id, s.city, sum(case when sr.day_id - ss.day_id <= 30 then 1 else 0 end) as "30",
  sum(case when sr.day_id - ss.day_id > 30 and sr.day_id - ss.day_id <= 60 then 1 else 0 end) as "60",
  sum(case when sr.day_id - ss.day_id > 60 and sr.day_id - ss.day_id <= 90 then 1 else 0 end) as "90",
  sum(case when sr.day_id - ss.day_id > 90 then 1 else 0 end) as more
from store_sale ss, store_return sr, store s, day d1, day d2
where d2.year = 2021 and d2.month = 8 and ss.ticket = sr.ticket and ss.item_id = sr.item_id and ss.day_id = d1.id
  and sr.day_id = d2.id and ss.customer_id = sr.customer_id and ss.store_id = s.id
group by 1, 2, 3, 4 order by 1, 2, 3, 4, 5, 6, 7, 8 limit 100;
