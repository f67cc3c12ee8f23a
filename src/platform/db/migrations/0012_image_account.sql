-- An image task is charged to its account by its COMMIT itself. So the row of the account, which all of an owner's creations
-- need, is locked while PostgreSQL writes and not while an api works.
-- earlier: ac957380f41a3b1fd9e2492da7a5e66e5f89e70e41d8b0c7dcd0e71053910d28

create function charge_image_account() returns trigger language plpgsql as $$
declare
  most_tasks bigint := nullif(current_setting('kiln.most_tasks', true), '');
  most_bytes bigint := nullif(current_setting('kiln.most_bytes', true), '');
  used bigint;
begin
  insert into owner as o (id, stored_bytes) values (new.account, new.stored_bytes)
  on conflict (id) do update set stored_bytes = o.stored_bytes + excluded.stored_bytes
  returning stored_bytes into used;
  -- Begins once the row is locked, so it sees the tasks of those who held the lock before.
  if most_tasks < (
    select count(*) from (
      select from task where account = new.account and ended_at is null limit most_tasks + 1
    ) open
  ) then
    raise exception 'the quota of open tasks' using errcode = 'KQ001';
  end if;
  if new.stored_bytes > 0 and used > most_bytes then
    raise exception 'the quota of stored bytes' using errcode = 'KQ002';
  end if;
  return null;
end
$$;

-- `insertImageTask` inserts the task and sets the quota; `toQuotaError` reads KQ001 and KQ002.
create constraint trigger image_task_charged after insert on task
deferrable initially deferred
for each row when (new.family = 'image' and new.account is not null)
execute function charge_image_account();
