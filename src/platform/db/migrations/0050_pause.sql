-- What admins have paused, and breakers: engines that are paused because they fail.

create table pause (
  -- `all`, or `engine:`, `kind:`, `owner:` or `host:` with a name
  scope text primary key,
  reason text,
  paused_by text not null,
  paused_at timestamptz not null default clock_timestamp(),
  -- null: until somebody resumes it. A pause that has ended stays until those that waited have been woken
  until timestamptz
);

create table breaker (
  -- `engine:` with its name, and the family where each has a server of its own
  scope text primary key,
  -- in a row
  failures integer not null default 0,
  -- null: closed
  opened_at timestamptz,
  -- from then on it is half-open
  retry_at timestamptz,
  -- the one task that may try, and until when nobody else may
  probe_id uuid,
  probe_until timestamptz
);

-- step
-- Since when a pause holds the task: its deadline stands still.
alter table task add column held_at timestamptz;
