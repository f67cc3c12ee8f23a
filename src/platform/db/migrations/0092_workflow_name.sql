-- Names in workflows that no host node of a version has: nodes of the editor alone, which its scripts register, and host nodes
-- that it has replaced.
create table workflow_name (
  version_id uuid not null references version (id),
  name text not null,
  -- the host node that takes its place, with its inputs; null of a node of the editor alone
  replaced_by jsonb,
  primary key (version_id, name)
);
create index workflow_name_name on workflow_name (name);
-- step
-- As a reading found them, until they are with the version.
alter table extraction add column workflow_names jsonb;
