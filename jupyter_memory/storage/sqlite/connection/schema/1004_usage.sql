-- What a person did with the store: the folders that were indexed, the last searches, what was said of hits.

create table folders (
  path text not null,
  space text not null default '',
  watched integer not null default 0,
  indexed_at integer,
  primary key (path, space)
);

create table searches (
  number integer primary key autoincrement,
  query_id text not null,
  query text not null,
  profile text not null,
  origin text not null,
  at integer not null,
  hits text not null                      -- ids of the memories that were shown, as JSON
);

create table feedback (
  memory text not null,                   -- id: a memory that is indexed anew keeps its own
  query text not null,
  query_id text not null,
  profile text not null,
  rank integer,
  accepted integer not null,
  at integer not null,
  primary key (memory, query)
);
