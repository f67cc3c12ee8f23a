-- Searches read node_host_names since 0011. With this index the decision on a version of 5,000 long names took longer than
-- a statement may, and was tried for ever.

-- step alone
drop index concurrently if exists current_host_node_part;
