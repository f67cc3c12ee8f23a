-- The filter `host_version` reads each text once, however many nodes have it.
-- step alone
create index concurrently node_supported_host_version on node (supported_host_version)
  where supported_host_version is not null;
