-- film_queries.sql
--     Forty questions of 4 to 12 joins to the tables of film_load.sql.  Each begins with a line that holds its
--     number.
--
-- Some begin at a handful of rows, from which lookups in indexes lead to the answer; others go over whole tables;
-- and in some the planner can't see which it is: the rows of a name in a small table are estimated by an average.

-- F1 features about revenge
select count(*), min(t.name), max(t.made)
from title t, kind k, title_keyword tw, keyword w, title_company tc
where t.kind_id = k.id and tw.title_id = t.id and tw.keyword_id = w.id and tc.title_id = t.id
  and k.name = 'feature' and w.word = 'revenge' and t.made between 1990 and 2015;

-- F2 films of a rare keyword, and who distributes them
select count(*), min(t.name), min(c.name)
from title t, title_keyword tw, keyword w, title_company tc, company c, company_role r
where tw.title_id = t.id and tw.keyword_id = w.id and tc.title_id = t.id and tc.company_id = c.id and tc.role_id = r.id
  and w.word = 'witch' and r.name = 'distribution';

-- F3 French companies and their French-speaking titles
select count(*), min(t.made), max(c.name)
from title t, kind k, title_company tc, company c, company_role r
where t.kind_id = k.id and tc.title_id = t.id and tc.company_id = c.id and tc.role_id = r.id
  and c.country = 'FR' and t.language = 'French' and r.name = 'production' and k.name in ('feature', 'television film');

-- F4 directors of westerns
select count(*), min(p.name), min(t.name)
from title t, credit cr, person p, job j, title_fact x, fact_type y
where cr.title_id = t.id and cr.person_id = p.id and cr.job_id = j.id and x.title_id = t.id and x.type_id = y.id
  and j.name = 'director' and y.name = 'genre' and x.value = 'western' and t.made < 1960;

-- F5 who plays a police officer
select count(*), min(p.name), max(t.made)
from figure f, credit cr, person p, title t, kind k
where cr.figure_id = f.id and cr.person_id = p.id and cr.title_id = t.id and t.kind_id = k.id
  and f.name = 'police officer' and p.gender = 'f' and k.name = 'episode';

-- F6 voices of games
select count(*), min(p.name), min(f.name)
from credit cr, person p, figure f, title t, kind k
where cr.person_id = p.id and cr.figure_id = f.id and cr.title_id = t.id and t.kind_id = k.id
  and cr.note = '(voice)' and k.name = 'game' and t.made >= 2010;

-- F7 highly rated films from Nordic countries
select count(*), max(x.value), min(t.name)
from title t, kind k, title_fact x, fact_type y, title_company tc, company c
where t.kind_id = k.id and x.title_id = t.id and x.type_id = y.id and tc.title_id = t.id and tc.company_id = c.id
  and k.name = 'feature' and y.name = 'rating' and x.value >= '7.0' and c.country in ('SE', 'DK', 'FI');

-- F8 remakes, and what they are remakes of
select count(*), min(t.name), min(o.name)
from title_link l, link_type lt, title t, title o, kind k, kind ok
where l.type_id = lt.id and l.title_id = t.id and l.linked_id = o.id and t.kind_id = k.id and o.kind_id = ok.id
  and lt.name = 'remake of' and k.name = 'feature' and ok.name = 'feature' and t.made > o.made;

-- F9 the cast of what the famous ones refer to
select count(*), min(p.name), min(o.name)
from title_link l, link_type lt, title o, credit cr, person p, job j
where l.type_id = lt.id and l.linked_id = o.id and cr.title_id = o.id and cr.person_id = p.id and cr.job_id = j.id
  and lt.name in ('spoofs', 'remake of') and j.name in ('actor', 'actress') and p.name like 'Bar%';

-- F10 people with a prize in titles about a robbery
select count(*), min(p.name), max(pf.value)
from person p, person_fact pf, fact_type y, credit cr, title_keyword tw, keyword w
where pf.person_id = p.id and pf.type_id = y.id and cr.person_id = p.id and tw.title_id = cr.title_id and tw.keyword_id = w.id
  and y.name = 'prize' and pf.value like 'grand prize%' and w.word = 'robbery';

-- F11 one person's figures
select count(*), min(f.name), max(t.name), max(t.made)
from person p, credit cr, figure f, title t, kind k
where cr.person_id = p.id and cr.figure_id = f.id and cr.title_id = t.id and t.kind_id = k.id
  and p.id = 25 and k.name <> 'episode';

-- F12 episodes of the longest series by genre
select count(*), min(e.name), max(e.season)
from title s, title e, kind k, title_fact x, fact_type y
where e.series_id = s.id and s.kind_id = k.id and x.title_id = s.id and x.type_id = y.id
  and k.name = 'series' and s.made < 1990 and y.name = 'genre' and x.value in ('crime', 'drama');

-- F13 black and white films about the war
select count(*), min(t.name), max(t.made)
from title t, title_fact x, fact_type y, title_fact g, fact_type gy, title_company tc, company c
where x.title_id = t.id and x.type_id = y.id and g.title_id = t.id and g.type_id = gy.id and tc.title_id = t.id
  and tc.company_id = c.id and y.name = 'colour' and x.value = 'black and white' and gy.name = 'genre' and g.value = 'war'
  and c.country <> t.country;

-- F14 costs and ratings of features
select count(*), max(b.value), min(r.value)
from title t, kind k, title_fact b, fact_type bt, title_fact r, fact_type rt
where t.kind_id = k.id and b.title_id = t.id and b.type_id = bt.id and r.title_id = t.id and r.type_id = rt.id
  and k.name = 'feature' and bt.name = 'budget' and rt.name = 'rating' and b.value like 'USD%' and t.made > 2000;

-- F15 everything about one title
select count(*), min(p.name), min(c.name), min(w.word), min(x.value)
from title t, credit cr, person p, title_company tc, company c, title_keyword tw, keyword w, title_fact x
where cr.title_id = t.id and cr.person_id = p.id and tc.title_id = t.id and tc.company_id = c.id and tw.title_id = t.id
  and tw.keyword_id = w.id and x.title_id = t.id and t.id = 214 and cr.job_id = 3;

-- F16 actresses in American crime series
select count(*), min(p.name), min(s.name)
from title s, title e, credit cr, person p, job j, title_fact x, fact_type y
where e.series_id = s.id and cr.title_id = e.id and cr.person_id = p.id and cr.job_id = j.id and x.title_id = s.id
  and x.type_id = y.id and s.country = 'US' and j.name = 'actress' and y.name = 'genre' and x.value = 'crime'
  and p.country = 'US';

-- F17 who directs and writes the same title
select count(*), min(p.name), max(t.made)
from title t, kind k, credit d, job dj, credit w, job wj, person p
where t.kind_id = k.id and d.title_id = t.id and d.job_id = dj.id and w.title_id = t.id and w.job_id = wj.id
  and d.person_id = p.id and w.person_id = p.id and dj.name = 'director' and wj.name = 'writer' and k.name = 'feature';

-- F18 compositions for titles about dance and the circus
select count(*), min(p.name), min(t.name)
from keyword w, title_keyword tw, title t, credit cr, job j, person p
where tw.keyword_id = w.id and tw.title_id = t.id and cr.title_id = t.id and cr.job_id = j.id and cr.person_id = p.id
  and w.word in ('dance', 'circus', 'violin', 'carnival') and j.name = 'composer';

-- F19 titles with two keywords
select count(*), min(t.name), max(t.made)
from title t, kind k, title_keyword tw1, keyword w1, title_keyword tw2, keyword w2
where t.kind_id = k.id and tw1.title_id = t.id and tw1.keyword_id = w1.id and tw2.title_id = t.id and tw2.keyword_id = w2.id
  and w1.word = 'revenge' and w2.word = 'betrayal' and k.name in ('feature', 'short', 'television film');

-- F20 what is released in Japan, filmed in Japan, and old
select count(*), min(t.name), min(p.value)
from title t, title_fact r, fact_type rt, title_fact p, fact_type pt
where r.title_id = t.id and r.type_id = rt.id and p.title_id = t.id and p.type_id = pt.id
  and rt.name = 'release' and r.value like 'JP: %' and pt.name = 'place' and p.value like '%, JP' and t.made < 2000;

-- F21 long credits of short films
select count(*), max(cr.place), min(p.name)
from title t, kind k, credit cr, person p, job j, title_fact x, fact_type y
where t.kind_id = k.id and cr.title_id = t.id and cr.person_id = p.id and cr.job_id = j.id and x.title_id = t.id
  and x.type_id = y.id and k.name = 'short' and cr.place > 20 and j.name in ('camera', 'editor') and y.name = 'runtime';

-- F22 companies that work with tall people
select count(*), min(c.name), max(pf.value)
from company c, title_company tc, company_role r, credit cr, person p, person_fact pf, fact_type y
where tc.company_id = c.id and tc.role_id = r.id and cr.title_id = tc.title_id and cr.person_id = p.id and pf.person_id = p.id
  and pf.type_id = y.id and c.name like 'Lighthouse%' and r.name = 'production' and y.name = 'height'
  and pf.value > '190 cm';

-- F23 two people in one title
select count(*), min(t.name), max(t.made)
from person a, credit ca, title t, credit cb, person b, kind k
where ca.person_id = a.id and ca.title_id = t.id and cb.title_id = t.id and cb.person_id = b.id and t.kind_id = k.id
  and a.id = 1 and b.name like 'Mor%' and b.gender = 'm' and k.name in ('feature', 'episode');

-- F24 keywords of the famous features of each kind of company
select count(*), min(w.word), max(c.name)
from title t, kind k, title_keyword tw, keyword w, title_company tc, company c, company_role r, title_fact x, fact_type y
where t.kind_id = k.id and tw.title_id = t.id and tw.keyword_id = w.id and tc.title_id = t.id and tc.company_id = c.id
  and tc.role_id = r.id and x.title_id = t.id and x.type_id = y.id
  and k.name = 'feature' and r.name = 'effects' and y.name = 'rating' and x.value > '8.0' and w.word like 'h%';

-- F25 born as somebody else
select count(*), min(p.name), min(pf.value), min(t.name)
from person p, person_fact pf, fact_type y, credit cr, job j, title t, kind k
where pf.person_id = p.id and pf.type_id = y.id and cr.person_id = p.id and cr.job_id = j.id and cr.title_id = t.id
  and t.kind_id = k.id and y.name = 'born as' and pf.value like 'Mor%' and j.name = 'actress'
  and k.name = 'feature' and p.born > 1950;

-- F26 sequels of features by the same company
select count(*), min(t.name), min(c.name)
from title_link l, link_type lt, title t, title o, title_company tc, title_company oc, company c, company_role r
where l.type_id = lt.id and l.title_id = t.id and l.linked_id = o.id and tc.title_id = t.id and oc.title_id = o.id
  and tc.company_id = c.id and oc.company_id = c.id and tc.role_id = r.id and lt.name = 'follows' and r.name = 'production';

-- F27 documentaries of the sea, and their narrators
select count(*), min(t.name), min(p.name)
from title t, kind k, credit cr, figure f, person p, title_keyword tw, keyword w
where t.kind_id = k.id and cr.title_id = t.id and cr.figure_id = f.id and cr.person_id = p.id and tw.title_id = t.id
  and tw.keyword_id = w.id and k.name = 'documentary' and f.name in ('narrator', 'himself', 'herself')
  and w.word in ('harbour', 'island', 'lighthouse', 'storm', 'pirate');

-- F28 the whole cast of the new century
select count(*), min(p.born), max(t.made)
from title t, kind k, credit cr, person p, job j
where t.kind_id = k.id and cr.title_id = t.id and cr.person_id = p.id and cr.job_id = j.id
  and t.made >= 2000 and k.name <> 'game' and j.name <> 'stunts';

-- F29 all facts of all features
select count(*), min(x.value), max(c.name)
from title t, kind k, title_fact x, fact_type y, title_company tc, company c
where t.kind_id = k.id and x.title_id = t.id and x.type_id = y.id and tc.title_id = t.id and tc.company_id = c.id
  and k.name = 'feature' and y.name in ('release', 'genre', 'runtime');

-- F30 keywords that people with a prize share
select count(*), min(w.word), max(p.name)
from person p, credit cr, title t, title_keyword tw, keyword w
where cr.person_id = p.id and cr.title_id = t.id and tw.title_id = t.id and tw.keyword_id = w.id
  and t.made between 1970 and 1989 and w.id > 100
  and exists (select * from person_fact pf where pf.person_id = p.id and pf.type_id = 12);

-- F31 titles without a distributor
select count(*), min(t.name), max(x.value)
from title t, kind k, title_fact x, fact_type y, title_company pc, company c
where t.kind_id = k.id and x.title_id = t.id and x.type_id = y.id and pc.title_id = t.id and pc.company_id = c.id
  and k.name in ('feature', 'documentary') and y.name = 'rating' and c.country in ('US', 'GB') and pc.role_id = 1
  and not exists (select * from title_company dc where dc.title_id = t.id and dc.role_id = 2);

-- F32 other versions of what titles about time travel are versions of
select count(*), min(a.name), min(b.name)
from title a, title_link l1, title b, title_link l2, title d, link_type lt, title_keyword tw, keyword w
where l1.title_id = a.id and l1.linked_id = b.id and l2.title_id = d.id and l2.linked_id = b.id and l1.type_id = lt.id
  and tw.title_id = d.id and tw.keyword_id = w.id and lt.name = 'version of' and w.word = 'time travel' and a.id <> d.id;

-- F33 the makers of American thrillers
select count(*), min(p.name), min(c.name), min(w.word)
from title t, kind k, credit cr, person p, job j, title_company tc, company c, company_role r, title_keyword tw, keyword w,
  title_fact x, fact_type y
where t.kind_id = k.id and cr.title_id = t.id and cr.person_id = p.id and cr.job_id = j.id and tc.title_id = t.id
  and tc.company_id = c.id and tc.role_id = r.id and tw.title_id = t.id and tw.keyword_id = w.id and x.title_id = t.id
  and x.type_id = y.id and k.name = 'feature' and t.country = 'US' and j.name in ('director', 'producer')
  and r.name = 'production' and w.word = 'detective' and y.name = 'genre' and x.value = 'thriller';

-- F34 prizes, birthplaces and companies of a family
select count(*), min(p.name), min(b.value), min(c.name)
from person p, person_fact b, fact_type bt, person_fact z, fact_type zt, credit cr, job j, title t, kind k, title_company tc,
  company c
where b.person_id = p.id and b.type_id = bt.id and z.person_id = p.id and z.type_id = zt.id and cr.person_id = p.id
  and cr.job_id = j.id and cr.title_id = t.id and t.kind_id = k.id and tc.title_id = t.id and tc.company_id = c.id
  and p.name like 'Ros%' and bt.name = 'birthplace' and zt.name = 'prize' and j.name in ('actor', 'actress', 'director')
  and k.name in ('feature', 'series');

-- F35 sequels that keep their actors
select count(*), min(p.name), min(t.name), min(w.word)
from title_link l, link_type lt, title t, title o, kind k, credit ct, credit co, person p, job j, title_keyword tw, keyword w
where l.type_id = lt.id and l.title_id = t.id and l.linked_id = o.id and t.kind_id = k.id and ct.title_id = t.id
  and co.title_id = o.id and ct.person_id = p.id and co.person_id = p.id and co.job_id = j.id and tw.title_id = t.id
  and tw.keyword_id = w.id and lt.name in ('follows', 'remake of') and k.name = 'feature' and j.name = 'actor'
  and w.word in ('train', 'winter', 'school');

-- F36 figures that a title and its model share
select count(*), min(f.name), min(t.name)
from title_link l, link_type lt, title t, title o, credit ct, credit co, figure f
where l.type_id = lt.id and l.title_id = t.id and l.linked_id = o.id and ct.title_id = t.id and co.title_id = o.id
  and ct.figure_id = f.id and co.figure_id = f.id and lt.name = 'version of' and f.id > 12;

-- F37 episodes with guests from abroad
select count(*), min(p.name), max(e.made)
from title s, title e, kind k, credit cr, person p, job j
where e.series_id = s.id and e.kind_id = k.id and cr.title_id = e.id and cr.person_id = p.id and cr.job_id = j.id
  and k.name = 'episode' and s.language = 'English' and p.country in ('TR', 'EG', 'AR') and j.name in ('actor', 'actress');

-- F38 Italian comedies in colour, by length
select count(*), min(u.value), max(u.value), min(c.name)
from title t, title_fact g, fact_type gt, title_fact h, fact_type ht, title_fact u, fact_type ut, title_company tc, company c
where g.title_id = t.id and g.type_id = gt.id and h.title_id = t.id and h.type_id = ht.id and u.title_id = t.id
  and u.type_id = ut.id and tc.title_id = t.id and tc.company_id = c.id and t.language = 'Italian' and t.country = 'IT'
  and gt.name = 'genre' and g.value in ('comedy', 'romance') and ht.name = 'colour' and h.value = 'colour'
  and ut.name = 'runtime' and tc.role_id = 1;

-- F39 captains, and keywords of their titles
select count(*), min(t.made), max(p.born), min(f.name)
from figure f, credit cr, person p, title t, title_keyword tw
where cr.figure_id = f.id and cr.person_id = p.id and cr.title_id = t.id and tw.title_id = t.id
  and f.name like 'Captain %' and t.made > 1950;

-- F40 the busiest people of famous titles of one kind
select count(*), min(p.name), max(x.value), min(c.name), min(w.word)
from person p, credit cr, job j, title t, kind k, title_fact x, fact_type y, title_company tc, company c, company_role r,
  title_keyword tw, keyword w, title_link l
where cr.person_id = p.id and cr.job_id = j.id and cr.title_id = t.id and t.kind_id = k.id and x.title_id = t.id
  and x.type_id = y.id and tc.title_id = t.id and tc.company_id = c.id and tc.role_id = r.id and tw.title_id = t.id
  and tw.keyword_id = w.id and l.linked_id = t.id and k.name = 'feature' and y.name = 'rating' and x.value >= '7.5'
  and r.name = 'distribution' and j.name = 'director' and w.word = 'friendship';
