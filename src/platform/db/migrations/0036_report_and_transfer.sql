-- Reports of users about nodes, for platform admins, and nodes that are handed to another publisher.

create table node_report (
  id uuid primary key default gen_random_uuid(),
  node_id text collate "C" not null references node (id),
  reported_by text collate "C" not null references app_user (id),
  reason text not null
    check (reason in ('malware', 'spam', 'name', 'licence', 'broken', 'other')),
  text text not null,
  created_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  decided_by text,
  -- for whoever reported it
  decision text
);
create unique index node_report_open on node_report (node_id, reported_by) where closed_at is null;
create index node_report_queue on node_report (created_at, id) where closed_at is null;
create index node_report_by_node on node_report (node_id, created_at);

create table node_transfer (
  id uuid primary key default gen_random_uuid(),
  node_id text collate "C" not null references node (id),
  from_publisher text collate "C" not null references publisher (id),
  to_publisher text collate "C" not null references publisher (id),
  asked_by text collate "C" not null,
  asked_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  ended_by text collate "C",
  accepted boolean
);
create unique index node_transfer_open on node_transfer (node_id) where ended_at is null;
create index node_transfer_from on node_transfer (from_publisher);
create index node_transfer_to on node_transfer (to_publisher);
-- Whoever has the address of an archive of before still gets it.
create index node_transfer_accepted on node_transfer (node_id, from_publisher) where accepted;

-- step alone
create index concurrently personal_access_token_by_node on personal_access_token (node_id)
  where node_id is not null;
