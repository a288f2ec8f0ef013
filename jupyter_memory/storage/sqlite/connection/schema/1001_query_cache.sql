-- The vectors of questions asked before, so that a model of many layers is not asked twice. Of the question itself only
-- a digest is kept, made with a key of this store.

create table query_vectors (
  used integer primary key autoincrement,  -- counts up with every use, so the lowest was not asked for longest
  model integer not null references models on delete cascade,
  digest blob not null,
  embedding blob not null,
  unique (model, digest)
);

create table query_key (
  key blob not null
);
insert into query_key values (randomblob(32));
