-- The name that its caller gave a request of a batch.
alter table bulk_item add column custom_id text;
