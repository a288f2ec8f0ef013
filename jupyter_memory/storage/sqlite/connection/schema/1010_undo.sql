-- What was forgotten and can be taken back for a while: as a changeset of SQLite, which restores the rows just as they
-- were. Nothing else reads it. Without the setting `undo_minutes` the table stays empty.

create table forgotten (
  number integer primary key autoincrement,  -- the highest is the last
  space text not null,                       -- of the store that forgot; empty: all of them
  memories integer not null,
  at integer not null,
  until integer not null,
  changes blob not null
);
