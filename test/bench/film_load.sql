-- film_load.sql
--     Sixteen tables about films, at scale :scale (0.01 or more), in schema film.
--
-- At scale 1 there are 300,000 titles with 2.5 million credits, 1.6 million facts and a million keywords.
-- Values are hashes of the row's number, so that every run makes the same rows.  What makes estimates go
-- wrong is in them: a few titles have many rows in every table that refers to them (fame), some people,
-- companies, figures and keywords are everywhere (rank_of), and columns depend on each other: a title's
-- language, companies and people on its country, its year and genre on its kind, a credit's job on the
-- person's gender.  Credits and companies lie in the order of titles, facts and keywords do not.

-- A draw from 0 to 1, exclusive.
create function unit(i bigint, seed int) returns float8 language sql immutable
return draw(i, seed, 1 << 30) / (1 << 30)::float8;

-- A draw from 0 to below - 1, low numbers more often: the first has a share of (1 / below) ^ (1 / power).
create function rank_of(i bigint, seed int, below bigint, power float8) returns bigint language sql immutable
return floor(below * unit(i, seed) ^ power)::bigint;

-- How famous a title is, from 0 to 1: most are not at all, episodes still less; one of 100 is, a feature.
create function fame(i bigint) returns float8 language sql immutable
return case when i % 100 = 14 then 0.3 + 0.7 * unit(i, 1) when i % 20 between 1 and 9 then unit(i, 1) ^ 6 / 3
  else unit(i, 1) ^ 6 end;

-- Titles, people and companies are of one of 24 countries; the first has a fifth of the titles.
create function country_of_title(i bigint) returns bigint language sql immutable
return rank_of(i, 2, 24, 2);

-- A person or company, of so many: nine of ten from the title's country.
create function member(i bigint, seed int, country bigint, members bigint) returns bigint language sql immutable
return 1 + case when draw(i, seed, 10) = 0 then draw(i, seed + 1, members)
  else country + 24 * rank_of(i, seed + 1, members / 24, 2) end;

create function country(n bigint) returns text language sql immutable
return (array['US', 'GB', 'FR', 'IN', 'DE', 'JP', 'IT', 'ES', 'CA', 'BR', 'MX', 'SE', 'DK', 'PL', 'KR', 'CN', 'AR', 'AU',
  'NL', 'FI', 'AT', 'BE', 'TR', 'EG'])[1 + n];

create function language(n bigint) returns text language sql immutable
return (array['English', 'English', 'French', 'Hindi', 'German', 'Japanese', 'Italian', 'Spanish', 'English', 'Portuguese',
  'Spanish', 'Swedish', 'Danish', 'Polish', 'Korean', 'Mandarin', 'Spanish', 'English', 'Dutch', 'Finnish', 'German',
  'French', 'Turkish', 'Arabic'])[1 + n];

create function city(i bigint, seed int, country bigint) returns text language sql immutable
return (array['North', 'South', 'East', 'West', 'Old', 'New', 'Upper', 'Lower'])[1 + rank_of(i, seed, 8, 2)]
  || (array['port', 'bridge', 'field', 'haven', 'wood'])[1 + rank_of(i, seed + 1, 5, 2)] || ', ' || country(country);

create function adjective(i bigint, seed int) returns text language sql immutable
return (array['silent', 'last', 'golden', 'broken', 'distant', 'hidden', 'second', 'northern', 'wild', 'little', 'burning',
  'frozen', 'secret', 'endless', 'empty', 'crooked', 'blue', 'ancient', 'lucky', 'restless', 'hollow', 'bitter', 'invisible',
  'patient'])[1 + draw(i, seed, 24)];

create function noun(i bigint, seed int) returns text language sql immutable
return (array['harbour', 'winter', 'stranger', 'garden', 'promise', 'river', 'letter', 'summer', 'castle', 'shadow', 'train',
  'mirror', 'island', 'daughter', 'road', 'storm', 'kingdom', 'secret', 'night', 'machine', 'circus', 'orchard', 'detective',
  'lighthouse', 'wolf', 'soldier', 'dream', 'market', 'violin', 'moon', 'teacher', 'bridge'])[1 + draw(i, seed, 32)];

create function surname(i bigint, seed int) returns text language sql immutable
return (array['Al', 'Bar', 'Cor', 'Dal', 'El', 'Far', 'Gren', 'Hal', 'Is', 'Jor', 'Kel', 'Lin', 'Mor', 'Nor', 'Os', 'Per',
    'Ros', 'San', 'Tor', 'Ver'])[1 + draw(i, seed, 20)]
  || (array['a', 'e', 'in', 'o', 'ber', 'den', 'ga', 'li', 'mo', 'sti'])[1 + draw(i, seed + 1, 10)]
  || (array['bach', 'dal', 'ford', 'gren', 'ham', 'ic', 'kov', 'lund', 'man', 'ner', 'ni', 'rez', 'son', 'ti', 'va',
    'witz'])[1 + draw(i, seed + 2, 16)];

create function is_woman(person bigint) returns boolean language sql immutable
return draw(person, 60, 5) < 2;

select (15000 * :scale)::bigint * 20 as titles, (10000 * :scale)::bigint * 24 as people,
  (900 * :scale)::bigint * 24 as companies, (350000 * :scale)::bigint as figures, (12000 * :scale)::bigint as keywords \gset

create table kind (id int not null, name text not null);
insert into kind select n, name
  from unnest(array['feature', 'short', 'series', 'episode', 'documentary', 'television film', 'game'])
    with ordinality u (name, n);

create table job (id int not null, name text not null);
insert into job select n, name
  from unnest(array['actor', 'actress', 'director', 'writer', 'producer', 'composer', 'camera', 'editor', 'costumes', 'stunts'])
    with ordinality u (name, n);

create table company_role (id int not null, name text not null);
insert into company_role select n, name
  from unnest(array['production', 'distribution', 'effects', 'funding']) with ordinality u (name, n);

create table link_type (id int not null, name text not null);
insert into link_type select n, name
  from unnest(array['refers to', 'follows', 'version of', 'spoofs', 'remake of', 'edited into']) with ordinality u (name, n);

create table fact_type (id int not null, name text not null);
insert into fact_type select n, name
  from unnest(array['genre', 'runtime', 'colour', 'release', 'rating', 'budget', 'place', 'tagline', 'birthplace', 'height',
      'born as', 'prize']) with ordinality u (name, n);

-- Five of 100 titles are series, 45 their episodes; the first series have most of them.
create table title (id int not null, name text not null, kind_id int not null, made int not null,
  country text not null, language text not null, series_id int, season int, episode int);
insert into title
  select i,
    case draw(i, 10, 4) when 0 then 'The ' || adjective(i, 11) || ' ' || noun(i, 12)
      when 1 then initcap(noun(i, 11)) || ' of the ' || noun(i, 12)
      when 2 then initcap(adjective(i, 11)) || ' ' || noun(i, 12) || 's'
      else 'A ' || noun(i, 11) || ' and a ' || noun(i, 12) end
    || case draw(i, 13, 12) when 0 then ' II' when 1 then ' returns' else '' end,
    kind, 2024 - rank_of(i, 14, (array[110, 125, 70, 65, 115, 60, 38])[kind], 2),
    country(country_of_title(i)),
    language(case when draw(i, 15, 10) = 0 then rank_of(i, 16, 24, 3) else country_of_title(i) end),
    case when kind = 4 then 20 * (1 + rank_of(i, 17, :titles / 20, 1.5)) end,
    case when kind = 4 then 1 + rank_of(i, 18, 12, 2) end, case when kind = 4 then 1 + draw(i, 19, 24) end
  from (
    select i, (array[3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1, 1, 1, 1, 1, 2, 2, 5, 6, 7])[1 + i % 20] as kind
    from generate_series(1, :titles) i
    offset 0) kinds;
alter table title add primary key (id);

create table company (id int not null, name text not null, country text not null);
insert into company
  select i, initcap(noun(i, 20)) || ' ' || (array['Pictures', 'Film', 'Studios', 'Television', 'Media',
      'Brothers', 'Distribution', 'Works'])[1 + draw(i, 21, 8)] || ' ' || i / 200, country((i - 1) % 24)
  from generate_series(1, :companies) i;

create table title_company (title_id int not null, company_id int not null, role_id int not null, note text);
insert into title_company
  select id, company, role, (array['television', 'cinema', 'disc', 'all media'])[1 + draw(id, 25 + role, 12)]
  from (
    select distinct id,
      member(id * 16 + n, 30, case when n = 1 or draw(id * 16 + n, 32, 2) = 0 then country_of_title(id)
          else rank_of(id * 16 + n, 33, 24, 2) end, :companies) as company,
      case when n = 1 then 1 else (array[1, 2, 2, 2, 2, 3, 4])[1 + draw(id * 16 + n, 34, 7)] end as role
    from title, generate_series(1, 1 + floor(12 * fame(id))::int) n) companies
  order by id, company, role;

-- The people of a country are 24 numbers apart, and so the first of each country are the busy ones.
create table person (id int not null, name text not null, gender char(1) not null, country text not null, born int);
insert into person
  select i, surname(i, 61) || ', ' || case when is_woman(i)
      then (array['Ada', 'Bea', 'Clara', 'Dora', 'Emma', 'Freya', 'Greta', 'Hanna', 'Irma', 'Julia', 'Karin', 'Lena',
        'Mara', 'Nina', 'Olga', 'Paula'])[1 + draw(i, 64, 16)]
      else (array['Adam', 'Boris', 'Carl', 'David', 'Emil', 'Frank', 'Georg', 'Hugo', 'Ivan', 'Jack', 'Kurt', 'Leo', 'Max',
        'Nils', 'Oscar', 'Peter'])[1 + draw(i, 64, 16)] end,
    case when is_woman(i) then 'f' else 'm' end, country((i - 1) % 24),
    case when draw(i, 65, 10) < 7 then 2002 - rank_of(i, 66, 120, 1.3) end
  from generate_series(1, :people) i;

create table figure (id int not null, name text not null);
insert into figure
  select i, case when i <= 12 then (array['herself', 'himself', 'narrator', 'police officer', 'doctor', 'nurse', 'waiter',
      'student', 'reporter', 'soldier', 'mother', 'priest'])[i]
    else (array['Captain', 'Doctor', 'Old', 'Young', 'Sister', 'Uncle', 'Mrs', 'Mr'])[1 + draw(i, 70, 8)]
      || ' ' || surname(i, 71) end
  from generate_series(1, :figures) i;

-- The first three of a title are its director, writer and producer, and most of the others play a figure.
create table credit (id int not null, title_id int not null, person_id int not null, job_id int not null,
  figure_id int, place int not null, note text);
insert into credit
  select row_number() over (), title, person, job, case when job <= 2 and draw(i, 83, 5) > 0 then 1 + rank_of(i, 84, :figures, 3) end,
    n, case when job <= 2 then
      case when draw(i, 85, 10) < case kind_id when 7 then 7 else 1 end then '(voice)'
        when draw(i, 86, 20) = 0 then '(uncredited)' when draw(i, 86, 20) = 1 then '(archive footage)' end end
  from (
    select *, case when n <= 3 then 2 + n when draw(i, 82, 4) = 0 then 6 + rank_of(i, 87, 5, 1.5)
      when is_woman(person) then 2 else 1 end as job
    from (
      select id as title, kind_id, n, i, member(i, 80, country_of_title(id), :people) as person
      from title, generate_series(1, 4 + floor(45 * fame(id))::int) n, lateral (select id::bigint * 64 + n) numbered (i)
      offset 0) people
    offset 0) jobs;

create table keyword (id int not null, word text not null);
insert into keyword
  select i, coalesce((array['revenge', 'friendship', 'wedding', 'harbour', 'orphan', 'train', 'winter', 'betrayal', 'island',
      'detective', 'school', 'ghost', 'lighthouse', 'robbery', 'circus', 'dance', 'robot', 'forest', 'letter', 'king', 'prison',
      'desert', 'twins', 'time travel', 'doctor', 'storm', 'chess', 'secret', 'village', 'river', 'dragon', 'bridge',
      'journalist', 'spy', 'inheritance', 'violin', 'mountain', 'hotel', 'carnival', 'mirror', 'pirate', 'strike', 'exile',
      'hostage', 'moon', 'witch'])[i], adjective(i, 90) || ' ' || noun(i, 91) || ' ' || i)
  from generate_series(1, :keywords) i;

-- A fifth of the keywords depends on the title's kind.
create table title_keyword (title_id int not null, keyword_id int not null);
insert into title_keyword
  select distinct id, 1 + (rank_of(i, 92, :keywords, 3) + case when draw(i, 93, 5) = 0 then 6 * kind_id else 0 end) % :keywords
    as keyword
  from title, generate_series(1, floor(36 * fame(id))::int) n, lateral (select id::bigint * 64 + n) numbered (i)
  order by keyword, id;

create table title_fact (id int not null, title_id int not null, type_id int not null, value text not null);
insert into title_fact
  select row_number() over (order by type, title, n), title, type, value
  from (
    select id as title, 1 as type, n, (array['drama', 'comedy', 'thriller', 'romance', 'crime', 'adventure', 'family',
        'horror', 'history', 'music', 'war', 'fantasy', 'science fiction', 'animation', 'western', 'sport'])
        [1 + (rank_of(id, 100, 16, 2) + 5 * n + case kind_id when 5 then 8 when 7 then 5 else 0 end) % 16] as value
    from title, generate_series(0, draw(id, 101, 2)::int) n
    union all
    select id, 2, 0, (array[80, 5, 25, 20, 40, 75, 5])[kind_id] + rank_of(id, 102, 60, 1.5) || ' min'
    from title where draw(id, 103, 10) < 7
    union all
    select id, 3, 0, case when draw(id, 104, 10) < case when made < 1955 then 9 else 1 end then 'black and white' else 'colour' end
    from title where draw(id, 105, 10) < 6
    union all
    select id, 4, n, country(case when n = 0 then country_of_title(id) else rank_of(id * 16 + n, 106, 24, 1.5) end)
      || ': ' || made + n / 3 || '-' || lpad((1 + draw(id, 107, 12))::text, 2, '0')
    from title, generate_series(0, floor(6 * fame(id))::int) n
    union all
    select id, 5, 0, to_char(3 + 5 * fame(id) + 1.9 * unit(id, 108), 'FM0.0')
    from title where fame(id) > 0.1 or draw(id, 109, 10) < 3
    union all
    select id, 6, 0, case country_of_title(id) when 0 then 'USD ' when 1 then 'GBP ' else 'EUR ' end
      || (1 + rank_of(id, 110, 300, 4)) * 100000
    from title where kind_id = 1 and draw(id, 111, 10) < 3
    union all
    select id, 7, n, city(id * 16 + n, 112, country_of_title(id)) from title, generate_series(1, floor(8 * fame(id))::int) n
    union all
    select id, 8, 0, 'no ' || noun(id, 114) || ' is ' || adjective(id, 115) from title where fame(id) > 0.4) facts;

create table person_fact (id int not null, person_id int not null, type_id int not null, value text not null);
insert into person_fact
  select row_number() over (order by type, person, n), person, type, value
  from (
    select id as person, 9 as type, 0 as n, city(id, 120, (id - 1) % 24) as value from person where draw(id, 122, 10) < 6
    union all
    select id, 10, 0, 150 + draw(id, 123, 40) + case gender when 'm' then 10 else 0 end || ' cm'
    from person where draw(id, 124, 4) = 0
    union all
    select id, 11, 0, surname(id, 125) from person where draw(id, 128, 10) < case gender when 'f' then 3 else 1 end
    union all
    select id, 12, n, (array['audience', 'critics', 'jury', 'grand'])[1 + rank_of(id * 8 + n, 129, 4, 2)] || ' prize '
      || 2024 - draw(id * 8 + n, 130, 60)
    from person, generate_series(1, 1 + draw(id, 131, 5)::int) n where id <= :people / 20) facts;

-- What is referred to is famous more often than not.
create table title_link (id int not null, title_id int not null, linked_id int not null, type_id int not null);
insert into title_link
  select row_number() over (), id, case when draw(i, 140, 5) < 3 then 100 * rank_of(i, 141, :titles / 100, 2) + 14
      else 1 + draw(i, 142, :titles) end, 1 + rank_of(i, 143, 6, 2)
  from title, generate_series(1, floor(4 * fame(id))::int) n, lateral (select id::bigint * 8 + n) numbered (i);

alter table kind add primary key (id);
alter table job add primary key (id);
alter table company_role add primary key (id);
alter table link_type add primary key (id);
alter table fact_type add primary key (id);
alter table company add primary key (id);
alter table title_company add primary key (title_id, company_id, role_id);
alter table person add primary key (id);
alter table figure add primary key (id);
alter table credit add primary key (id);
alter table keyword add primary key (id);
alter table title_keyword add primary key (title_id, keyword_id);
alter table title_fact add primary key (id);
alter table person_fact add primary key (id);
alter table title_link add primary key (id);
create index on title (kind_id);
create index on title (series_id);
create index on title_company (company_id);
create index on title_company (role_id);
create index on credit (title_id);
create index on credit (person_id);
create index on credit (job_id);
create index on credit (figure_id);
create index on title_keyword (keyword_id);
create index on title_fact (title_id);
create index on title_fact (type_id);
create index on person_fact (person_id);
create index on person_fact (type_id);
create index on title_link (title_id);
create index on title_link (linked_id);
create index on title_link (type_id);
vacuum (analyze) kind, job, company_role, link_type, fact_type, title, company, title_company, person, figure, credit, keyword,
  title_keyword, title_fact, person_fact, title_link;
alter table title add foreign key (kind_id) references kind;
alter table title add foreign key (series_id) references title;
alter table title_company add foreign key (title_id) references title;
alter table title_company add foreign key (company_id) references company;
alter table title_company add foreign key (role_id) references company_role;
alter table credit add foreign key (title_id) references title;
alter table credit add foreign key (person_id) references person;
alter table credit add foreign key (job_id) references job;
alter table credit add foreign key (figure_id) references figure;
alter table title_keyword add foreign key (title_id) references title;
alter table title_keyword add foreign key (keyword_id) references keyword;
alter table title_fact add foreign key (title_id) references title;
alter table title_fact add foreign key (type_id) references fact_type;
alter table person_fact add foreign key (person_id) references person;
alter table person_fact add foreign key (type_id) references fact_type;
alter table title_link add foreign key (title_id) references title;
alter table title_link add foreign key (linked_id) references title;
alter table title_link add foreign key (type_id) references link_type;
