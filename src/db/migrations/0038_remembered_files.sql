-- When the host nodes of a version, or their policies, last changed after they were read; null: never.
alter table version add column host_nodes_at timestamptz;
