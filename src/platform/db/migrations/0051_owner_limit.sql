-- Limits of single owners in place of the settings, and API keys that may do less than their owner.

alter table owner
  add column slots integer check (slots >= 0),
  add column credit_limit bigint check (credit_limit >= 0),
  add column task_limit integer check (task_limit >= 0),
  add column byte_limit bigint check (byte_limit >= 0),
  add column rate_factor double precision check (rate_factor > 0),
  add column engine text,
  add column note text,
  -- id of the admin who set them; null: none are set
  add column limited_by text,
  add column limited_at timestamptz;

-- step alone
create index concurrently owner_limited on owner (id) where limited_by is not null;

-- step
-- null: all. `credits_used` counts only what a key with a cap was charged for, minus refunds
alter table api_key
  add column scopes text[],
  add column credit_cap bigint check (credit_cap >= 0),
  add column credits_used bigint not null default 0 check (credits_used >= 0);

-- step
-- key with a cap that was charged, too
alter table ledger add column api_key_id uuid;

-- step
-- The limit that is passed stands in the detail: it may be the owner's own.
create or replace function charge_image_account() returns trigger language plpgsql as $$
declare
  most_tasks bigint := nullif(current_setting('kiln.most_tasks', true), '');
  most_bytes bigint := nullif(current_setting('kiln.most_bytes', true), '');
  own owner;
begin
  insert into owner as o (id, stored_bytes) values (new.account, new.stored_bytes)
  on conflict (id) do update set stored_bytes = o.stored_bytes + excluded.stored_bytes
  returning * into own;
  most_tasks := coalesce(own.task_limit, most_tasks);
  most_bytes := coalesce(own.byte_limit, most_bytes);
  -- Begins once the row is locked, so it sees the tasks of those who held the lock before.
  if most_tasks < (
    select count(*) from (
      select from task where account = new.account and ended_at is null limit most_tasks + 1
    ) open
  ) then
    raise exception 'the quota of open tasks' using errcode = 'KQ001', detail = most_tasks;
  end if;
  if new.stored_bytes > 0 and own.stored_bytes > most_bytes then
    raise exception 'the quota of stored bytes' using errcode = 'KQ002', detail = most_bytes;
  end if;
  return null;
end
$$;
