-- A run may make several videos, sounds and texts; and a task keeps with which version of its template it was rendered.

-- what is heard or read has no size
alter table task_result alter column width drop not null, alter column height drop not null;

-- Versions of the workflows that workers have seen, of the service's own kinds and of others.
create table template_version (
  id integer generated always as identity primary key,
  -- below the folder, without the ending
  name text not null,
  -- SHA-256 of the file, followed by its map where there is one
  digest text not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  unique (name, digest)
);

-- step
-- The version that it was last given to a machine with. No foreign key: each insert of any task would pay for it.
alter table task add column template_version_id integer;

-- step
-- file of the video among the results of its task
alter table creation add column name text not null default 'video.mp4';

-- step alone
create unique index concurrently creation_of_task on creation (task_id, name);

-- step
alter table creation drop constraint creation_task_id_key;
