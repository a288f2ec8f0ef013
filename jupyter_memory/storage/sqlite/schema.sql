-- A store in a SQLite file. Times are microseconds since 1970 in UTC. Vectors live in one pair of tables a model (see
-- vectors.py).

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
  stored_at integer not null,             -- when the text that it has now came
  valid_from integer,
  valid_until integer,
  content_hash text not null,
  accessed integer not null default 0,
  metadata text not null default '{}'
);
create unique index memories_identity on memories (source, kind, space, location, content_hash);
create index memories_event on memories (event_at);
-- Finds the memory of a text that runs again, whatever notebook it ran in before.
create index memories_run on memories (content_hash, space) where kind = 'history';

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
    coalesce(
      -- An `order by` among the arguments is beyond SQLite 3.40, which other programs open the file with.
      (select group_concat(tag, ' ') from (select tag from tags where tags.memory = chunks.memory order by tag)), ''
    ) as tags,
    chunks.ident,
    memories.space,
    chunks.memory,
    memories.kind
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

-- Which chunk holds a word, and how often in each column: the same words as in the index above (see postings.py).
create table word_segments (
  id integer primary key autoincrement,
  block integer not null,                 -- of 32,768 chunk ids
  chunks blob not null,                   -- their places in the block
  lengths blob not null,                  -- how many words each has
  memories blob not null                  -- the key of each one's memory
);
create table word_pages (
  id integer primary key,
  segment integer not null references word_segments on delete cascade,
  first text not null,                    -- the first of its words, and the place of the first chunk that holds it
  place integer not null,
  body blob not null,                     -- first of these: what was removed is looked for in it alone
  terms blob not null,
  bounds blob not null,                   -- the place of the first posting of each word, and behind the last
  kinds blob not null
);
create unique index word_pages_by_word on word_pages (segment, first, place);

create table models (
  id integer primary key autoincrement,
  fingerprint text not null unique,
  name text not null,
  dimensions integer not null,
  active integer not null default 0
);

-- The vectors of questions asked before, so that a model of many layers is not asked twice. Of the question itself only
-- a digest is kept, made with a key of this store.
create table query_vectors (
  number integer primary key,              -- counts up with every use, so the lowest was not asked for longest
  model integer not null references models on delete cascade,
  digest blob not null,
  embedding blob not null,
  unique (model, digest)
);

create table query_keys (
  key blob not null
);
insert into query_keys values (randomblob(32));

-- How far meaning can be trusted in this store, by model, and how many chunks there were when it was measured.
create table trust (
  model integer primary key references models on delete cascade,
  chunks integer not null,
  value real not null
);

-- The different tokens of what is embedded of each chunk, ascending, as uint16 of the bundled static model's vocabulary,
-- so that comparing a question with a text token by token needs no tokenizer. A chunk may lack them.
create table chunk_tokens (
  chunk integer primary key references chunks on delete cascade,
  ids blob not null
);

-- The names that memories in Python define, separated by blanks: the classes and functions of their top level, its
-- variables, and the classes and functions within others. A memory may lack them.
create table definitions (
  memory integer primary key references memories on delete cascade,
  defined text not null,
  assigned text not null,
  nested text not null
);

-- Whatever changes a text or its language without them, such as a package of another version, leaves none behind.
create trigger definitions_of_text after update of text on texts begin
  delete from definitions where memory = old.memory;
end;
create trigger definitions_of_lang after update of lang on memories when old.lang <> new.lang begin
  delete from definitions where memory = old.key;
end;

-- The pictures that a memory shows, scaled down to some kilobytes each.
create table thumbnails (
  memory integer not null references memories on delete cascade,
  place integer not null,                 -- among the pictures of its memory, from 0
  media_type text not null,
  width integer not null,
  height integer not null,
  image blob not null,
  origin text not null,                   -- a digest of the picture that it was made from
  primary key (memory, place)
);

create table files (
  path text not null,
  space text not null default '',
  mtime_ns integer not null,
  size integer not null,
  content_hash text not null,
  indexed_at integer not null,
  pictures integer not null default 0,    -- whether the pictures in it were read
  dated integer not null default 0,       -- whether its memories have the date that its document or last commit states
  primary key (path, space)
);

-- What a person did with the store: the folders that were indexed, the last searches, what was said of hits.
create table folders (
  path text not null,
  space text not null default '',
  watched integer not null default 0,
  indexed_at integer,                     -- null: only described or hidden, within one that was indexed
  description text not null default '',
  hidden integer not null default 0,      -- left out of searches that do not name it
  primary key (path, space)
);

create table searches (
  number integer primary key autoincrement,
  query_id text not null,
  query text not null,
  profile text not null,
  origin text not null,
  at integer not null,
  hits text not null,                     -- ids of the memories that were shown, as JSON
  -- The program that asked, by the name that it gives itself, and which of its tools; empty for a person's search.
  client text not null default '',
  tool text not null default ''
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

-- What a person ran: a row for each execution of a cell. What it ran is the text of a memory of kind history, which it
-- goes with.
create table runs (
  key integer primary key autoincrement,
  memory integer not null references memories on delete cascade,
  session text not null,                  -- of the kernel, which counts its runs by number
  number integer not null,
  started integer not null,
  seconds real,
  outcome text not null,
  error text,                             -- the name of the exception
  message text,
  traceback text,
  notebook text not null default '',
  cell text not null default '',
  language text not null default '',
  environment text not null default '',
  packages text not null default '',
  result text not null default '',
  unique (session, number, started)
);
create index runs_by_memory on runs (memory, started);
create index runs_by_start on runs (started);
create index runs_by_cell on runs (cell, notebook, started);
create index runs_by_error on runs (error, started) where error is not null;

-- What was forgotten and can be taken back for a while: as a changeset of SQLite, which restores the rows just as they
-- were. Nothing else reads it. Without the setting `undo_minutes` the table stays empty.
create table forgotten (
  number integer primary key autoincrement,  -- the highest is the last
  space text not null,                       -- of the store that forgot; empty: all of them
  memories integer not null,
  at integer not null,
  until integer not null,
  moved text not null,                       -- where to, as JSON: the store, and the ids that it did not have before
  changes blob not null
);

-- What was done once in the store.
create table done (
  what text primary key
) without rowid;

-- Counters that tell other processes what changed.
create table counters (
  name text primary key,
  value integer not null
) without rowid;
insert into counters values ('removals', 0);
