-- Tasks whose owners want their content gone, now or once they have ended.

alter table task add column delete_requested_at timestamptz;

-- step alone
create index concurrently task_to_delete on task (delete_requested_at)
  where delete_requested_at is not null and purged_at is null;
