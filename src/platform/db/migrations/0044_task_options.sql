-- What a caller may say of a task beside its settings: labels, deadlines, its order, and for how long files stay.

alter table task
  -- by key, and the owner under the empty one, so that one index finds an owner's; null without any
  add column labels jsonb,
  -- order among the tasks of its account that wait: 3 goes first, -3 last
  add column priority smallint not null default 0,
  -- seconds from the creation until it fails, unless it has begun or has ended
  add column start_within integer,
  add column end_within integer,
  -- for which it was held, and which count to neither
  add column held_seconds integer not null default 0,
  -- seconds from the end until its files are removed, and when that is; null: as the service does
  add column retention_seconds integer,
  add column purge_at timestamptz;

-- step alone
create index concurrently task_by_label on task using gin (labels jsonb_path_ops)
  where labels is not null;

-- step alone
create index concurrently task_to_purge_early on task (purge_at)
  where purge_at is not null and purged_at is null;

-- step alone
-- each first claim of an image asks whether one of its account is to go ahead
create index concurrently task_ahead on task (account, priority)
  where family = 'image' and claimed_at is null and ended_at is null;
