-- Tasks of every family, what they read and made, their log, and the tables that make a creation durable.
-- Times are the database's clock; process clocks decide nothing that is stored.

create table task (
  id uuid primary key,
  family text not null check (family in ('image')),
  kind text not null,
  -- path segment the creation was made under; lists are by it
  segment text not null,
  owner text not null check (length(owner) between 1 and 255),
  status text not null,
  -- settings with defaults applied; never media, which task_input names
  settings jsonb not null,
  webhook_url text,
  error_code text,
  error_message text,
  -- the current attempt to render; an attempt with a lower fence can change neither row nor files
  fence integer not null default 0,
  claimed_at timestamptz,
  failures integer not null default 0,
  -- grows with everything a reader can see
  rev integer not null default 1,
  last_sequence integer not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  last_moved_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  -- set when inputs and results were removed by age
  purged_at timestamptz,
  check ((status = 'FAILED') = (error_code is not null))
);

create index task_by_owner on task (owner, segment, created_at desc, id desc);
create index task_open on task (last_moved_at) where ended_at is null;
create index task_to_purge on task (ended_at) where ended_at is not null and purged_at is null;

-- One row for each image of a request: inline ones name a file in the store, the others an address.
create table task_input (
  task_id uuid not null references task (id) on delete cascade,
  field text not null,
  -- the name it is served under, `input-<field>.<ext>`; absent for an address
  name text,
  storage_key text,
  url text,
  content_type text,
  bytes bigint,
  sha256 text,
  width integer,
  height integer,
  primary key (task_id, field),
  check (storage_key is not null or url is not null)
);

create unique index task_input_by_name on task_input (task_id, name) where name is not null;

create table task_result (
  task_id uuid not null references task (id) on delete cascade,
  position integer not null,
  name text not null,
  storage_key text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 text not null,
  width integer not null,
  height integer not null,
  primary key (task_id, position),
  unique (task_id, name)
);

-- Every move of every task, in the move's own transaction.
create table event (
  id uuid primary key default gen_random_uuid(),
  task_id uuid not null references task (id),
  sequence integer not null check (sequence >= 1),
  status text not null,
  -- whether a receiver is told
  deliver boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (task_id, sequence)
);

-- What must be told to Temporal, written with the fact that makes it necessary.
create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('start', 'restart', 'signal')),
  workflow_type text,
  workflow_id text not null,
  task_queue text,
  signal_name text,
  args jsonb not null default '[]' check (octet_length(args::text) <= 1024),
  options jsonb not null default '{}' check (octet_length(options::text) <= 4096),
  created_at timestamptz not null default clock_timestamp(),
  dispatched_at timestamptz,
  tries integer not null default 0,
  -- two seconds ahead, so that the fast path of the process that wrote the row comes first
  next_try_at timestamptz not null default clock_timestamp() + interval '2 seconds',
  last_error text,
  check ((kind = 'signal') = (signal_name is not null)),
  check ((kind = 'signal') = (workflow_type is null))
);

create index outbox_due on outbox (id) where dispatched_at is null;
create index outbox_by_workflow on outbox (workflow_id);
create index outbox_dispatched on outbox (dispatched_at) where dispatched_at is not null;

create table idempotency (
  principal text not null,
  method text not null,
  path text not null,
  key text not null,
  claim uuid not null,
  lease_until timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  fingerprint text,
  status integer,
  headers jsonb,
  -- the answer's text; encrypted when it holds a secret
  body text,
  encrypted boolean not null default false,
  primary key (principal, method, path, key)
);

create index idempotency_by_age on idempotency (created_at);

create table api_key (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  name text not null,
  sha256 text not null unique,
  last4 text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create index api_key_by_owner on api_key (owner, created_at desc);

-- Files a caller put here to use as an input: 24 hours each, longer while an open task needs one.
create table upload (
  id uuid primary key,
  owner text not null,
  file_name text not null,
  declared_type text,
  storage_key text,
  content_type text,
  bytes bigint,
  sha256 text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  received_at timestamptz,
  purged_at timestamptz
);

create index upload_by_digest on upload (owner, sha256) where sha256 is not null;
create index upload_by_expiry on upload (expires_at) where purged_at is null;

create index task_input_by_key on task_input (storage_key text_pattern_ops) where storage_key is not null;
