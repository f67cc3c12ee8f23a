-- What operators see of a fleet of ComfyUI, and by which old rows of it are removed.

alter table instance
  add column version text,
  -- models and issues of each template there, by its name; null: not read yet
  add column abilities jsonb,
  -- its last response, at most half a minute before the true one
  add column seen_at timestamptz not null default now();
create index instance_seen on instance (seen_at);

-- step alone
create index concurrently placement_at on placement (at);
