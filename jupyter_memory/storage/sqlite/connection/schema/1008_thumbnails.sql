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

-- Whether the pictures in a file were read. An older package, which may still write here, does not read them.
alter table files add column pictures integer not null default 0;
