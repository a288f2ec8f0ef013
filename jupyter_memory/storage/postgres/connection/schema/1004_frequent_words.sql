-- The server knows how frequent the 1,000 most frequent words are, instead of 100: it joins the places of frequent words
-- in one go, and looks those of rare ones up. It counts them when it analyzes the table the next time.
alter table jupyter_memory.postings alter column term set statistics 1000;
