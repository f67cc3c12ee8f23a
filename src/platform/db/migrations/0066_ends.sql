-- Whoever waits gets a signal: a batch at the end of its last task, an upload when its wait changes or ends.

alter table task
  -- the batch that has made it
  add column batch_id uuid;

alter table bulk
  -- of a batch whose tasks are all made: the last of them that is open
  add column watched_task uuid;

-- Nothing reads it: a probe ends with its task, or when that waits.
alter table breaker drop column probe_until;

-- step alone
create index concurrently bulk_watched on bulk (watched_task) where watched_task is not null;

-- step
-- Sends a signal at once. The notification reaches the relays with the commit; these are rare.
create function send_signal(to_workflow text, name text) returns void language sql as $$
  insert into outbox (kind, workflow_id, signal_name, next_try_at)
  values ('signal', to_workflow, name, clock_timestamp());
  select pg_notify('kiln_news', 'outbox');
$$;

create function signal_batch() returns trigger language plpgsql as $$
begin
  perform send_signal('run-batch/' || id, 'taskEnded') from bulk where watched_task = new.id;
  return null;
end
$$;

-- `transitionTask` ends tasks. `watchLastTask` locks the task that it is about to watch.
create trigger watched_task_ended after update of ended_at on task
for each row when (old.ended_at is null and new.ended_at is not null) execute function signal_batch();

create function signal_upload() returns trigger language plpgsql as $$
begin
  perform send_signal('receive-archive/' || new.id, 'archiveUploaded');
  return null;
end
$$;

-- `transitionVersion` deletes versions, `setPublished` gives another deadline. An upload that is overdue waits no longer.
create trigger upload_wait_changed after update of status, upload_expires_at on version
for each row when (
  old.archive_state = 'awaiting' and old.upload_expires_at > clock_timestamp()
  and (new.upload_expires_at <> old.upload_expires_at
    or new.status = 'NodeVersionStatusDeleted' and old.status <> 'NodeVersionStatusDeleted')
) execute function signal_upload();
