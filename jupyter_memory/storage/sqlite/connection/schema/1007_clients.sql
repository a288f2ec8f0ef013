-- Which program asked, by the name that it gives itself, and by which of its tools; both empty for a person's search.

alter table searches add column client text not null default '';
alter table searches add column tool text not null default '';
