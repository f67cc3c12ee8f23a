-- A task of either family is charged by its COMMIT itself: to its account, and to its API key with a cap. So these rows,
-- which all of an owner's creations need, are locked while PostgreSQL writes and not while an api works.

create function charge_task() returns trigger language plpgsql as $$
declare
  most_credits bigint := nullif(current_setting('kiln.most_credits', true), '');
  most_tasks bigint := nullif(current_setting('kiln.most_tasks', true), '');
  most_bytes bigint := nullif(current_setting('kiln.most_bytes', true), '');
  key_id uuid := nullif(current_setting('kiln.api_key_id', true), '');
  is_video boolean := new.family = 'video';
  own owner;
  of_key api_key;
begin
  -- The transaction itself has charged it: that of a release before this one.
  if is_video and exists (select from ledger where task_id = new.id and kind = 'charge') then
    return null;
  end if;
  insert into owner as o (id, credits_used, stored_bytes)
  values (new.account, new.credits, new.stored_bytes)
  on conflict (id) do update set credits_used = o.credits_used + excluded.credits_used,
    stored_bytes = o.stored_bytes + excluded.stored_bytes
  returning * into own;
  most_credits := coalesce(own.credit_limit, most_credits);
  most_tasks := coalesce(own.task_limit, most_tasks);
  most_bytes := coalesce(own.byte_limit, most_bytes);
  if is_video and own.credits_used > most_credits then
    raise exception 'the limit of credits' using errcode = 'KQ003',
      detail = greatest(0, most_credits - own.credits_used + new.credits);
  end if;
  -- Begins once the row is locked, so it sees the tasks of those who held the lock before.
  if most_tasks < (
    select count(*) from (
      select from task where account = new.account and ended_at is null limit most_tasks + 1
    ) open
  ) then
    raise exception 'the quota of open tasks' using errcode = 'KQ001', detail = most_tasks;
  end if;
  -- Results are never rejected, so the account may be over it already.
  if (is_video or new.stored_bytes > 0) and own.stored_bytes > most_bytes then
    raise exception 'the quota of stored bytes' using errcode = 'KQ002', detail = most_bytes;
  end if;
  if is_video then
    insert into ledger (task_id, kind, owner, credits, api_key_id)
    values (new.id, 'charge', new.account, new.credits, key_id);
  end if;
  -- Behind the row of the account, as a refund has them.
  if is_video and key_id is not null then
    update api_key set credits_used = credits_used + new.credits where id = key_id
    returning * into of_key;
    if of_key.credits_used > of_key.credit_cap then
      raise exception 'the cap of an API key' using errcode = 'KQ004',
        detail = json_build_object('used', of_key.credits_used, 'cap', of_key.credit_cap);
    end if;
  end if;
  return null;
end
$$;

-- `insertImageTask` and `insertVideoTask` insert the task and set the limits; `toLimitError` reads KQ001 to KQ004.
drop trigger image_task_charged on task;
drop function charge_image_account();
create constraint trigger task_charged after insert on task
deferrable initially deferred
for each row when (new.account is not null)
execute function charge_task();
