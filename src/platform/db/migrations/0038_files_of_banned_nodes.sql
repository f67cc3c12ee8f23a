-- Files of code by which the versions of banned nodes and publishers are found, and since when copies of the lists must read
-- host nodes again.

-- When the host nodes of a version, or their policies, last changed after they were read; null: never.
alter table version add column host_nodes_at timestamptz;

-- Hashes of the files that are long enough not to be alike by chance, by the rule of `note_content_decision` (0033). To write
-- them into a table at the ban took 3 s for 1,000 versions of 300 files, twice as long as an api waits.
create function code_keys(files json) returns bigint[]
language sql immutable strict parallel safe
return (
  select coalesce(array_agg(distinct hashtextextended(sha256, 0)), '{}')
  from json_to_recordset(files) as f (path text, bytes bigint, sha256 text)
  where bytes >= 200
    and path ~* '\.(py[cdw]?|[cm]?js|tsx?|sh|bash|ps1|bat|cmd|so|dll|dylib|exe)$'
);

-- step alone
create index concurrently archive_by_code on archive using gin (code_keys(files));

-- step alone
create index concurrently node_host_policy_banned on node_host_policy (host_node_name)
  where policy = 'HostNodePolicyBanned';
