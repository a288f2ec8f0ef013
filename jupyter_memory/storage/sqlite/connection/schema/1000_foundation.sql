-- The foundation: memories and their chunks, the keyword index, the models whose vectors are kept, the indexed files.
-- Times are microseconds since 1970 in UTC. Vectors live in one pair of tables a model (see vectors.py).

create table memories (
  key integer primary key autoincrement,  -- joins; people see the id
  id text not null unique,
  kind text not null,
  tier text not null,                     -- as stored; a pinned memory shows as core
  pinned integer not null default 0,
  space text not null default '',
  source text not null default '',
  location text not null default '',
  lang text not null default '',
  title text not null default '',
  severity text,
  domain text,
  session text,
  event_at integer not null,
  indexed_at integer not null,
  valid_from integer,
  valid_until integer,
  content_hash text not null,
  accessed integer not null default 0,
  metadata text not null default '{}'
);
create unique index memories_identity on memories (source, kind, space, location, content_hash);
create index memories_event on memories (event_at);

-- Apart from the rows above, so that a filter reads narrow rows only.
create table texts (
  memory integer primary key references memories on delete cascade,
  text text not null
);

create table tags (
  memory integer not null references memories on delete cascade,
  tag text not null,
  primary key (memory, tag)
) without rowid;
create index tags_by_tag on tags (tag, memory);

-- Ids are never used twice: a reader that knows the ids it has seen can read only what is new.
create table chunks (
  id integer primary key autoincrement,
  memory integer not null references memories on delete cascade,
  start integer not null,
  stop integer not null,
  line integer,
  text text,                              -- of a part; null where the chunk is the whole text of its memory
  context text not null default '',
  ident text not null default ''
);
create index chunks_by_memory on chunks (memory);

create view chunk_texts as
  select
    chunks.id,
    memories.title,
    chunks.context,
    coalesce(chunks.text, texts.text) as text,
    coalesce((select group_concat(tag, ' ' order by tag) from tags where tags.memory = chunks.memory), '') as tags,
    chunks.ident
  from chunks
  join memories on memories.key = chunks.memory
  join texts on texts.memory = chunks.memory;

create virtual table keyword using fts5 (
  title, context, text, tags, ident,
  content = 'chunk_texts', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
-- A deleted row leaves its words in the index until segments merge, unless this is set.
insert into keyword (keyword, rank) values ('secure-delete', 1);

create table models (
  id integer primary key autoincrement,
  fingerprint text not null unique,
  name text not null,
  dimensions integer not null,
  active integer not null default 0
);

create table files (
  path text not null,
  space text not null default '',
  mtime_ns integer not null,
  size integer not null,
  content_hash text not null,
  indexed_at integer not null,
  primary key (path, space)
);

-- Counters that tell other processes what changed.
create table counters (
  name text primary key,
  value integer not null
) without rowid;
insert into counters values ('removals', 0);
