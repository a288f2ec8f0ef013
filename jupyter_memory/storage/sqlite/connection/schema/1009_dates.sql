-- Whether the memories of a file have the date that its document or its last commit states. An older package, which may
-- still write here, gives them the time of the file.
alter table files add column dated integer not null default 0;
