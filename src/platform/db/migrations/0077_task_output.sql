-- How the pictures of a task are encoded, as its request said: format, and quality from 1 to 100.
alter table task add column output jsonb;
