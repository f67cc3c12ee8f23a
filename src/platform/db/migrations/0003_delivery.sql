-- Delivery of events to the address that a task names: its state, the log of attempts, redeliveries, and signing secrets.

alter table event
  -- what has become of its delivery; unsent: it is not for a receiver, or the task names none
  add column state text not null default 'unsent'
    check (state in ('pending', 'delivered', 'superseded', 'exhausted', 'stopped', 'unsent')),
  -- tries of the schedule that failed
  add column failures integer not null default 0,
  -- when the next try is due; null: at once, or never
  add column next_attempt_at timestamptz;

-- Events of tasks made before there was any delivery stay unsent.
create index event_pending on event (task_id, sequence) where state = 'pending';
create index event_exhausted on event (created_at) where state = 'exhausted';

alter table task
  -- the receiver has answered 410: nothing more is sent
  add column receiver_gone_at timestamptz;

-- One more schedule for an event whose own has ended, asked for by its owner.
create table redelivery (
  id uuid primary key default gen_random_uuid(),
  event_id uuid not null references event (id) on delete cascade,
  state text not null default 'pending'
    check (state in ('pending', 'delivered', 'exhausted', 'stopped')),
  failures integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);

create unique index redelivery_open on redelivery (event_id) where state = 'pending';

-- One row for each request that was sent, written before it is and completed after.
create table attempt (
  event_id uuid not null references event (id) on delete cascade,
  number integer not null check (number >= 1),
  redelivery_id uuid references redelivery (id) on delete cascade,
  -- without its query, which may be a secret
  url text not null,
  -- for operators: what the name stood for
  address text,
  started_at timestamptz not null default clock_timestamp(),
  -- null while it is under way, and for ever when its worker was killed
  duration_ms integer,
  status integer,
  -- null: a success, or under way
  error_class text,
  -- first 1 KiB of the answer
  answer text,
  next_due_at timestamptz,
  primary key (event_id, number)
);

create index attempt_by_age on attempt (started_at);

create table webhook_secret (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  -- encrypted with SECRETS_KEYS
  secret text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- the older one while a rotation is under way
  expires_at timestamptz
);

create unique index webhook_secret_current on webhook_secret (owner) where expires_at is null;
create index webhook_secret_by_owner on webhook_secret (owner, created_at desc);
