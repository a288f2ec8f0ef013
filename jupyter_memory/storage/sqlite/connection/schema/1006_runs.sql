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
  unique (session, number, started)
);
create index runs_by_memory on runs (memory, started);
create index runs_by_start on runs (started);
create index runs_by_error on runs (error, started) where error is not null;

-- Finds the memory of a text that runs again, whatever notebook it ran in before.
create index memories_run on memories (content_hash, space) where kind = 'history';
