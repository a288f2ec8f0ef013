-- A store in a PostgreSQL database. Every table but `models` has the space of its rows as the first part of its key, so that it can be
-- distributed by it; keys and ids are numbers of the whole database. Times are microseconds since 1970 in UTC. Texts
-- compare byte by byte ("C"), as in SQLite: a server's own order may put them differently.

create sequence jupyter_memory.memory_keys;
create sequence jupyter_memory.chunk_ids;
create sequence jupyter_memory.numbers;      -- of searches, runs and whatever else has an order

create table jupyter_memory.memories (
  space text collate "C" not null,
  key bigint not null,
  id text collate "C" not null,
  kind text collate "C" not null,
  tier text collate "C" not null,            -- as stored; a pinned memory shows as core
  pinned boolean not null default false,
  source text collate "C" not null default '',
  location text collate "C" not null default '',
  lang text collate "C" not null default '',
  title text collate "C" not null default '',
  severity text collate "C",
  domain text collate "C",
  session text collate "C",
  event_at bigint not null,
  indexed_at bigint not null,
  valid_from bigint,
  valid_until bigint,
  content_hash text collate "C" not null,
  accessed bigint not null default 0,
  metadata text not null default '{}',
  -- A path may be longer than an entry of an index.
  identity text not null generated always as (
    md5(source || chr(31) || kind || chr(31) || location || chr(31) || content_hash)
  ) stored,
  primary key (space, key),
  unique (space, id),
  unique (space, identity),
  -- Statements are about keys of several spaces: nobody may take that of a memory elsewhere. Dropped where the table is
  -- distributed, which allows no such constraint.
  constraint memories_key unique (key)
);
create index memories_event on jupyter_memory.memories (space, event_at);
-- A path may be longer than an entry of an index, and what has none would fill one place of this one.
create index memories_source on jupyter_memory.memories using hash (source) where kind in ('file', 'cell');
create index memories_content on jupyter_memory.memories (space, content_hash);

create table jupyter_memory.texts (
  space text collate "C" not null,
  memory bigint not null,
  text text collate "C" not null,
  primary key (space, memory),
  foreign key (space, memory) references jupyter_memory.memories on delete cascade
);

create table jupyter_memory.tags (
  space text collate "C" not null,
  memory bigint not null,
  tag text collate "C" not null,
  foreign key (space, memory) references jupyter_memory.memories on delete cascade
);
create unique index tags_of on jupyter_memory.tags (space, memory, md5(tag));
create index tags_by_tag on jupyter_memory.tags (space, left(tag, 200));

create table jupyter_memory.chunks (
  space text collate "C" not null,
  id bigint not null,
  memory bigint not null,
  start integer not null,
  stop integer not null,
  line integer,
  text text collate "C",                     -- of a part; null where the chunk is the whole text of its memory
  context text collate "C" not null default '',
  ident text collate "C" not null default '',
  words integer not null default 0,          -- that the keyword index holds of it
  primary key (space, id),
  constraint chunks_id unique (id),          -- as for the keys of memories
  foreign key (space, memory) references jupyter_memory.memories on delete cascade
);
create index chunks_by_memory on jupyter_memory.chunks (space, memory, id);

create view jupyter_memory.chunk_texts with (security_invoker = true) as
  select
    chunks.space,
    chunks.id,
    chunks.memory,
    memories.kind,
    memories.title,
    chunks.context,
    coalesce(chunks.text, texts.text) as text,
    coalesce(
      (
        select string_agg(tag, ' ' order by tag) from jupyter_memory.tags
        where tags.space = chunks.space and tags.memory = chunks.memory
      ),
      ''
    ) as tags,
    chunks.ident
  from jupyter_memory.chunks
  join jupyter_memory.memories on memories.space = chunks.space and memories.key = chunks.memory
  join jupyter_memory.texts on texts.space = chunks.space and texts.memory = chunks.memory;

-- The keyword index: a row for each word of each chunk, with how often each column holds it and where. A place is
-- 2^24 times the number of its column, plus the number of words before it there. `size` are the chunk's words.
create table jupyter_memory.postings (
  space text collate "C" not null,
  term text collate "C" not null,
  chunk bigint not null,
  in_title integer not null,
  in_context integer not null,
  in_text integer not null,
  in_tags integer not null,
  in_ident integer not null,
  size integer not null,
  places integer[] not null,
  primary key (space, term, chunk)
    include (in_title, in_context, in_text, in_tags, in_ident, size)
  -- No foreign key: it would be looked up for each row, and whoever removes a chunk takes its words out first, since the
  -- counts below follow from them.
);
create index postings_by_chunk on jupyter_memory.postings (space, chunk);
-- The server knows how frequent the 1,000 most frequent words are, instead of 100: it joins the places of frequent words
-- in one go, and looks those of rare ones up. It counts them when it analyzes the table the next time.
alter table jupyter_memory.postings alter column term set statistics 1000;

-- How many chunks hold a word, by the set of columns that do (a bit for each, title the lowest). A writer appends what
-- it changed, so that none waits for another; the sum counts, and upkeep folds many rows into one.
create table jupyter_memory.frequencies (
  space text collate "C" not null,
  term text collate "C" not null,
  number bigint not null default nextval('jupyter_memory.numbers'),
  columns smallint not null,
  chunks bigint not null,
  primary key (space, term, number)
    include (columns, chunks)
);

-- The same for the number of chunks and of their words, and for the number of changes: the version of a space.
create table jupyter_memory.totals (
  space text collate "C" not null,
  number bigint not null default nextval('jupyter_memory.numbers'),
  changes bigint not null,
  chunks bigint not null,
  words bigint not null,
  primary key (space, number)
);

-- The models are those of the whole store: which one is in use tells nothing of anybody's memories.
create table jupyter_memory.models (
  id integer generated by default as identity primary key,
  fingerprint text collate "C" not null unique,
  name text collate "C" not null,
  dimensions integer not null,
  active boolean not null default false
);
create unique index models_active on jupyter_memory.models (active) where active;

create table jupyter_memory.vectors (
  space text collate "C" not null,
  model integer not null references jupyter_memory.models on delete cascade,
  chunk bigint not null,
  embedding vector not null,
  primary key (space, model, chunk),
  foreign key (space, chunk) references jupyter_memory.chunks on delete cascade
);
-- A search reads all of them, and must not look each up elsewhere.
alter table jupyter_memory.vectors alter column embedding set storage main;
create index vectors_by_chunk on jupyter_memory.vectors (space, chunk);

-- How far a model can be trusted, as measured over a space, or over all of them ('').
create table jupyter_memory.trust (
  space text collate "C" not null,
  model integer not null references jupyter_memory.models on delete cascade,
  chunks bigint not null,
  value double precision not null,
  primary key (space, model)
);

create table jupyter_memory.chunk_tokens (
  space text collate "C" not null,
  chunk bigint not null,
  ids bytea not null,
  primary key (space, chunk),
  foreign key (space, chunk) references jupyter_memory.chunks on delete cascade
);

create table jupyter_memory.definitions (
  space text collate "C" not null,
  memory bigint not null,
  defined text collate "C" not null,
  assigned text collate "C" not null,
  nested text collate "C" not null,
  primary key (space, memory),
  foreign key (space, memory) references jupyter_memory.memories on delete cascade
);

create table jupyter_memory.thumbnails (
  space text collate "C" not null,
  memory bigint not null,
  place integer not null,
  media_type text not null,
  width integer not null,
  height integer not null,
  image bytea not null,
  origin text not null,
  primary key (space, memory, place),
  foreign key (space, memory) references jupyter_memory.memories on delete cascade
);

create table jupyter_memory.files (
  space text collate "C" not null,
  path text collate "C" not null,
  mtime_ns bigint not null,
  size bigint not null,
  content_hash text not null,
  indexed_at bigint not null,
  pictures boolean not null default false,
  dated boolean not null default false
);
-- A path may be longer than an entry of an index.
create unique index files_path on jupyter_memory.files (space, md5(path));
create index files_by_path on jupyter_memory.files using hash (path);

create table jupyter_memory.folders (
  space text collate "C" not null,
  path text collate "C" not null,
  watched boolean not null default false,
  indexed_at bigint
);
create unique index folders_path on jupyter_memory.folders (space, md5(path));

-- What a person ran: a row for each execution of a cell, which goes with the memory of its text.
create table jupyter_memory.runs (
  space text collate "C" not null,
  key bigint not null default nextval('jupyter_memory.numbers'),
  memory bigint not null,
  session text collate "C" not null,
  number bigint not null,
  started bigint not null,
  seconds double precision,
  outcome text not null,
  error text collate "C",
  message text,
  traceback text,
  notebook text collate "C" not null default '',
  cell text not null default '',
  language text not null default '',
  environment text not null default '',
  primary key (space, key),
  unique (space, session, number, started),
  foreign key (space, memory) references jupyter_memory.memories on delete cascade
);
create index runs_by_memory on jupyter_memory.runs (space, memory, started);
create index runs_by_start on jupyter_memory.runs (space, started);

-- What a person did: their searches and what they said of hits are their own (`who` is their role), and go with the
-- memories that were shown. The space is that of the store as it was opened, '' for all spaces.
create table jupyter_memory.searches (
  space text collate "C" not null,
  number bigint not null default nextval('jupyter_memory.numbers'),
  who name not null default current_user,
  query_id text collate "C" not null,
  query text not null,
  profile text not null,
  origin text not null,
  at bigint not null,
  hits text not null,                        -- ids of the memories that were shown, as JSON
  client text not null default '',
  tool text not null default '',
  primary key (space, number)
);
create index searches_of on jupyter_memory.searches (space, who, number);
create index searches_hits on jupyter_memory.searches using gin ((hits::jsonb));

create table jupyter_memory.feedback (
  space text collate "C" not null,
  number bigint not null default nextval('jupyter_memory.numbers'),
  who name not null default current_user,
  memory text collate "C" not null,
  query text not null,
  query_id text not null,
  profile text not null,
  rank integer,
  accepted boolean not null,
  at bigint not null,
  primary key (space, number)
);
create unique index feedback_of on jupyter_memory.feedback (space, memory, who, md5(query));

create table jupyter_memory.query_vectors (
  space text collate "C" not null,
  who name not null default current_user,
  number bigint not null,                    -- counts up with every use, so the lowest was not asked for longest
  model integer not null references jupyter_memory.models on delete cascade,
  digest bytea not null,
  embedding bytea not null,
  primary key (space, who, model, digest)
);
create index query_vectors_of on jupyter_memory.query_vectors (space, who, number);

-- A key of each person, with which the digests of their questions are made.
create table jupyter_memory.query_keys (
  space text collate "C" not null,
  who name not null default current_user,
  key bytea not null,
  primary key (space, who)
);

-- What was done once in a store.
create table jupyter_memory.done (
  space text collate "C" not null,
  what text not null,
  primary key (space, what)
);
