-- Instances of ComfyUI, and the attempts of tasks on them. Workers find by themselves who responds; what they must agree on is here.

create table instance (
  name text primary key,
  -- as the last worker that saw a change saw it
  state text not null default 'doubtful',
  state_at timestamptz not null default clock_timestamp(),
  -- a temporary file there, which is gone after a restart; null: not left yet
  marker uuid,
  -- only a restart ends it
  quarantined_at timestamptz,
  rests_until timestamptz,
  drained_at timestamptz,
  reason text,
  -- template of the last placement: its models are loaded
  template text
);

create table placement (
  -- id of the prompt, and name of its folders there
  id uuid primary key,
  task_id uuid not null references task,
  instance text not null,
  template text not null,
  -- names of the files that it uploads
  inputs text[] not null,
  -- `open` until the task ends, or the reason for which it went elsewhere
  state text not null default 'open',
  detail text,
  at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  -- who cleans up on the instance; taken over after this time
  leased_until timestamptz,
  cleaned_at timestamptz
);
create index placement_of_task on placement (task_id);
create index placement_left on placement (instance) where cleaned_at is null;
