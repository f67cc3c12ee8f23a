-- Video tasks: credits, slots, progress, and the video that a task makes.

alter table task
  drop constraint task_family_check,
  add constraint task_family_check check (family in ('image', 'video')),
  drop constraint task_check,
  add constraint task_ended_with_code
    check ((status in ('FAILED', 'failed')) = (error_code is not null)),
  -- the receiver of notifications of either family
  add column payload text,
  -- what was charged; 0 for images
  add column credits integer not null default 0 check (credits >= 0),
  -- whether the task waits after those that are not
  add column off_peak boolean not null default false,
  -- when it was given one of its owner's slots; held until the task ends
  add column admitted_at timestamptz,
  -- per cent rendered, by the attempt that holds the fence
  add column progress integer not null default 0 check (progress between 0 and 100);

comment on column task.payload is 'given back to the caller untouched, and shown nowhere else';

-- Slots are counted, not stored: those of a task that has ended are free without another write.
create index task_open_video on task (owner, off_peak, created_at, id)
  where family = 'video' and ended_at is null;
create index task_video_by_owner on task (owner, created_at desc, id desc) where family = 'video';

-- The video of a task in success. Either id names it as the source of another.
create table creation (
  id uuid primary key default gen_random_uuid(),
  task_id uuid not null unique references task (id) on delete cascade,
  seconds double precision not null check (seconds > 0),
  fps integer not null,
  width integer not null,
  height integer not null
);

-- One row for each owner of video tasks: the lock under which slots are given away, and the sum of the ledger.
create table owner (
  id text primary key check (length(id) between 1 and 255),
  credits_used bigint not null default 0 check (credits_used >= 0)
);

create table ledger (
  task_id uuid not null references task (id),
  kind text not null check (kind in ('charge', 'refund')),
  owner text not null references owner (id),
  credits integer not null check (credits >= 0),
  created_at timestamptz not null default clock_timestamp(),
  primary key (task_id, kind)
);
