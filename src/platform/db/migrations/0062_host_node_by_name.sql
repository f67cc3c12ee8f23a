-- Versions that have a host node: a name that no latest version has is shown with the last one that had it.

-- step alone
create index concurrently host_node_by_name on host_node (host_node_name, version_id);
