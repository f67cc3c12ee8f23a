-- What the reading of an archive found: verdict, host nodes, findings.

alter table archive add column entries integer;

-- One reading of an archive's host nodes by one version of the extractor. The digest fixes what was read.
create table extraction (
  version_id uuid not null references version (id),
  sha256 text not null,
  extractor_version integer not null,
  status text not null check (status in ('success', 'failed')),
  reason text,
  how text not null check (how in ('v1', 'v3', 'node_list', 'literal_scan', 'none')),
  partial boolean not null,
  reasons text[] not null,
  dropped integer not null,
  node_count integer not null,
  -- the host nodes until they are settled in host_node, where alone they can be read
  nodes json,
  stats json not null,
  -- of a reading anew: whether its host nodes replaced the earlier ones, and by which names they differ
  outcome text check (outcome in ('replaced', 'kept')),
  gained text[] not null default '{}',
  lost text[] not null default '{}',
  read_at timestamptz not null default clock_timestamp(),
  primary key (version_id, sha256, extractor_version)
);

alter table host_node add column dynamic text[] not null default '{}';

create index version_extracting on version (last_moved_at) where host_node_extract_status = 'pending';

-- One scan of an archive; each scanner has one, with its findings, which are replaced as a whole.
create table scan (
  version_id uuid not null references version (id),
  scanner text not null,
  scanner_version integer not null,
  sha256 text not null,
  -- it came to its end: unseen code does not become active
  complete boolean not null,
  high integer not null,
  medium integer not null,
  info integer not null,
  scanned_at timestamptz not null default clock_timestamp(),
  primary key (version_id, scanner)
);

create table finding (
  id uuid primary key default gen_random_uuid(),
  version_id uuid not null references version (id),
  scanner text not null,
  -- the worst first
  position integer not null,
  issue_type text not null,
  severity text not null check (severity in ('high', 'medium', 'info')),
  file_path text,
  line_number integer,
  code_snippet text,
  message text not null,
  unique (version_id, scanner, position)
);
