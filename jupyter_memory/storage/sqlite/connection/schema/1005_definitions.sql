-- The names that memories in Python define, separated by blanks: the classes and functions of their top level, its
-- variables, and the classes and functions within others. A memory may lack them.

create table definitions (
  memory integer primary key references memories on delete cascade,
  defined text not null,
  assigned text not null,
  nested text not null
);

-- An older package, which may still write here, changes a text or its language without them.
create trigger definitions_of_text after update of text on texts begin
  delete from definitions where memory = old.memory;
end;
create trigger definitions_of_lang after update of lang on memories when old.lang <> new.lang begin
  delete from definitions where memory = old.key;
end;
