-- Tokens that read one task, for an hour at most.
create table task_token (
  -- of its text, which is not stored
  sha256 text primary key,
  task_id uuid not null references task (id) on delete cascade,
  -- user who made it
  maker text not null,
  -- the credential that it was made with, and ends with: an API key, or a session of AUTH=builtin; both null: another token
  api_key_id uuid,
  session_uid text,
  created_at timestamptz not null default clock_timestamp(),
  -- never after that credential
  expires_at timestamptz not null
);

create index task_token_task on task_token (task_id);
create index task_token_maker on task_token (maker);
create index task_token_expiry on task_token (expires_at);
