-- Lists of tasks of every kind, and what a task keeps of its life.
-- earlier: c5c75d111e438eb4b24fb88d969326f51e6f9efe043a584813327612fb8c9b43

-- step alone
-- of all owners; that of one owner is merged from its lists by segment
create index concurrently task_by_age on task (created_at desc, id desc);

-- step
alter table task
  -- storage key of a small picture of the result; removed with the results
  add column thumbnail text,
  -- tries at rendering, the first fifty: fence, beginning, and the end and code of one that failed
  add column tries jsonb not null default '[]';

-- The state that lists of both families share.
create function task_state(status text, error_code text) returns text
language sql immutable parallel safe
return case
  when status in ('CREATED', 'created') then 'waiting'
  when status = 'queueing' then 'queued'
  when status in ('IN_PROGRESS', 'processing') then 'running'
  when status in ('COMPLETED', 'success') then 'done'
  when error_code in ('cancelled', 'UserCancelled') then 'cancelled'
  else 'failed'
end;
