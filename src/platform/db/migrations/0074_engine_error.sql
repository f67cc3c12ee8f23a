-- Tasks that an upstream has forgotten are sent there again; and the last error of an engine is kept for those who mend it.

alter table task
  -- submissions to an upstream after the first; each has an Idempotency-Key of its own
  add column resubmissions integer not null default 0,
  -- cut and cleaned: no text of a caller, address, path or key
  add column engine_error text,
  -- the caller may read it, too
  add column engine_error_shown boolean not null default false;
