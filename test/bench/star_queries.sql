-- star_queries.sql
--     Thirteen questions to the star schema of star_load.sql, in the shapes of the star schema benchmark's four flights.
--     Each begins with a line that holds its number.
--
-- S1 to S3 filter lines by date and discount.  S4 to S6 sum up revenue by brand, for a region's suppliers.  S7 to S10 sum
-- up revenue by customers and suppliers of a region, a nation or two cities.  S11 to S13 join all tables and sum up
-- profits.  Within each of these flights a query selects fewer lines than the one before.

-- S1 discounts on small lines in a year
select count(*), sum(l.price * l.discount) as discounts
from order_line l, calendar d
where l.day_id = d.id and d.year = 2014 and l.discount between 1 and 3 and l.quantity < 25;

-- S2 discounts on middling lines in a month
select count(*), sum(l.price * l.discount) as discounts
from order_line l, calendar d
where l.day_id = d.id and d.month_number = 201501 and l.discount between 4 and 6 and l.quantity between 26 and 35;

-- S3 discounts on middling lines in a week
select count(*), sum(l.price * l.discount) as discounts
from order_line l, calendar d
where l.day_id = d.id and d.week_of_year = 6 and d.year = 2015 and l.discount between 5 and 7 and l.quantity between 26 and 35;

-- S4 revenue of a category's brands from American suppliers, by year
select d.year, p.brand, sum(l.revenue) as revenue
from order_line l, calendar d, part p, supplier s
where l.day_id = d.id and l.part_id = p.id and l.supplier_id = s.id
  and p.category = 'Alder 2' and s.region = 'America'
group by d.year, p.brand order by d.year, p.brand;

-- S5 revenue of eight brands from Asian suppliers, by year
select d.year, p.brand, sum(l.revenue) as revenue
from order_line l, calendar d, part p, supplier s
where l.day_id = d.id and l.part_id = p.id and l.supplier_id = s.id
  and p.brand between 'Birch 2-21' and 'Birch 2-28' and s.region = 'Asia'
group by d.year, p.brand order by d.year, p.brand;

-- S6 revenue of a brand from European suppliers, by year
select d.year, p.brand, sum(l.revenue) as revenue
from order_line l, calendar d, part p, supplier s
where l.day_id = d.id and l.part_id = p.id and l.supplier_id = s.id
  and p.brand = 'Birch 2-39' and s.region = 'Europe'
group by d.year, p.brand order by d.year, p.brand;

-- S7 trade within Asia by nations in six years
select c.nation as customers, s.nation as suppliers, d.year, sum(l.revenue) as revenue
from order_line l, customer c, supplier s, calendar d
where l.customer_id = c.id and l.supplier_id = s.id and l.day_id = d.id
  and c.region = 'Asia' and s.region = 'Asia' and d.year between 2013 and 2018
group by c.nation, s.nation, d.year order by d.year, revenue desc;

-- S8 trade within a nation by cities in six years
select c.city as customers, s.city as suppliers, d.year, sum(l.revenue) as revenue
from order_line l, customer c, supplier s, calendar d
where l.customer_id = c.id and l.supplier_id = s.id and l.day_id = d.id
  and c.nation = 'United States' and s.nation = 'United States' and d.year between 2013 and 2018
group by c.city, s.city, d.year order by d.year, revenue desc;

-- S9 trade between two cities in six years
select c.city as customers, s.city as suppliers, d.year, sum(l.revenue) as revenue
from order_line l, customer c, supplier s, calendar d
where l.customer_id = c.id and l.supplier_id = s.id and l.day_id = d.id
  and c.city in ('Port Kenya', 'Lake Kenya') and s.city in ('Port Kenya', 'Lake Kenya') and d.year between 2013 and 2018
group by c.city, s.city, d.year order by d.year, revenue desc;

-- S10 trade between two cities in a month
select c.city as customers, s.city as suppliers, d.year, sum(l.revenue) as revenue
from order_line l, customer c, supplier s, calendar d
where l.customer_id = c.id and l.supplier_id = s.id and l.day_id = d.id
  and c.city in ('Port Kenya', 'Lake Kenya') and s.city in ('Port Kenya', 'Lake Kenya') and d.month = 'Dec 2018'
group by c.city, s.city, d.year order by d.year, revenue desc;

-- S11 profit of two makers within America, by year and nation
select d.year, c.nation, sum(l.revenue - l.cost) as profit
from order_line l, calendar d, customer c, supplier s, part p
where l.day_id = d.id and l.customer_id = c.id and l.supplier_id = s.id and l.part_id = p.id
  and c.region = 'America' and s.region = 'America' and p.maker in ('Alder', 'Birch')
group by d.year, c.nation order by d.year, c.nation;

-- S12 profit of two makers within America in two years, by nation and category
select d.year, s.nation, p.category, sum(l.revenue - l.cost) as profit
from order_line l, calendar d, customer c, supplier s, part p
where l.day_id = d.id and l.customer_id = c.id and l.supplier_id = s.id and l.part_id = p.id
  and c.region = 'America' and s.region = 'America' and d.year in (2018, 2019) and p.maker in ('Alder', 'Birch')
group by d.year, s.nation, p.category order by d.year, s.nation, p.category;

-- S13 profit of a category from a nation in two years, by city and brand
select d.year, s.city, p.brand, sum(l.revenue - l.cost) as profit
from order_line l, calendar d, customer c, supplier s, part p
where l.day_id = d.id and l.customer_id = c.id and l.supplier_id = s.id and l.part_id = p.id
  and c.region = 'America' and s.nation = 'United States' and d.year in (2018, 2019) and p.category = 'Alder 4'
group by d.year, s.city, p.brand order by d.year, s.city, p.brand;
