-- The different tokens of what is embedded of each chunk, ascending, as uint16 of the bundled static model's vocabulary,
-- so that comparing a question with a text token by token needs no tokenizer. A chunk may lack them.

create table chunk_tokens (
  chunk integer primary key references chunks on delete cascade,
  ids blob not null
);
