-- How far meaning can be trusted in this store, by model, and how many chunks there were when it was measured.

create table trust (
  model integer primary key references models on delete cascade,
  chunks integer not null,
  value real not null
);
